/// Recordings of simulations: what a step was given, what came out, and its proof, for looking at, for going on from any
/// step, and for replays that compare bit by bit.
///
/// A recording holds, for every step, the control, and after it time, q, v, the hash of the whole state and the step's
/// figures; and every so many steps the whole state (a key). The file is little endian everywhere, without padding:
///
///     header   magic, version, sizes, hash of the model, options of the step, note, checksum
///     chunks   key state before the first step; frames of its steps; checksum. Each says how large it is: a key's size follows the
///              contacts there are. All but the last have the same number of steps.
///     footer   how many steps and chunks, checksum
///
/// Checksums are XXH64, those of chunks seeded with the header's, so that a chunk of another recording is not taken. A file
/// that was cut is read up to its last whole chunk. That protects against accidents, not against forgery.
#ifndef KARAKURI_RECORDING_H
#define KARAKURI_RECORDING_H

#include <karakuri/simulate.h>
#include <karakuri/table.h>

KK_BEGIN_DECLS

// ---- writing

typedef struct kk_recorder kk_recorder;

/// Zero-initialized means: the defaults.
typedef struct kk_recorder_def {
    int key_every;           ///< steps from one key to the next; 0: 256
    const char *note;        ///< any text, at most 64 KiB: which file the model came from; NULL: none
    kk_step_options options; ///< of the simulation, so that a replay can take the same
} kk_recorder_def;

/// Where bytes go. Gives 0, or anything else to stop.
typedef int kk_recorder_sink(void *user, const void *bytes, size_t size);

/// Begins a recording with the state before the first step. Memory for a chunk is taken once, and again only where a key is larger than that leaves room for.
/// @param def  may be NULL
KK_API kk_status kk_recorder_create(const kk_model *model, const kk_state *state, const kk_recorder_def *def,
                                    kk_recorder_sink *sink, void *user, const kk_allocator *allocator,
                                    kk_recorder **recorder, kk_error *error);
/// The same to a file, which is made or replaced. @param def  may be NULL
KK_API kk_status kk_recorder_open(const char *path, const kk_model *model, const kk_state *state,
                                  const kk_recorder_def *def, const kk_allocator *allocator, kk_recorder **recorder,
                                  kk_error *error);
/// Adds a step: what it was given and what came out.
/// @param control  [actuators] NULL: zeros    @param report  of the step; NULL: zeros
KK_API kk_status kk_recorder_add(kk_recorder *recorder, const kk_state *after, const double *control,
                                 const kk_report *report, kk_error *error);
/// Writes the rest and frees the recorder, whatever the outcome; KK_IO where not everything could be written.
KK_API kk_status kk_recorder_close(kk_recorder *recorder, kk_error *error);

// ---- reading

typedef struct kk_recording kk_recording;

typedef struct kk_recording_info {
    uint64_t model_hash;
    int nq, nv, ncontrol;
    int64_t steps;
    int key_every;
    int is_complete; ///< 0: the file was cut, or altered behind the last step that is told
    const char *note;
    kk_step_options options; ///< without clock
} kk_recording_info;

/// One step. Arrays are the recording's, until the next call on it.
typedef struct kk_recording_frame {
    int64_t step;                                                            ///< from 0
    double time;                                                             ///< after it
    const double *q, *v;                                                     ///< [nq], [nv] after it
    const double *control;                                                   ///< [ncontrol] given to it
    double residual, cone, signorini, penetration, kinetic, constraint_work; ///< of its report
    int contacts, sweeps, newton, hit_iteration_limit;
    uint64_t state_hash; ///< kk_state_hash after it
} kk_recording_frame;

/// Reads a whole file. Its header is checked; chunks are when they are first asked for.
KK_API kk_status kk_recording_read_file(const char *path, const kk_allocator *allocator, kk_recording **recording,
                                        kk_error *error);
/// The same from memory. @param name  for messages    @param bytes  [size], copied
KK_API kk_status kk_recording_read_bytes(const char *name, const void *bytes, size_t size,
                                         const kk_allocator *allocator, kk_recording **recording, kk_error *error);
KK_API void kk_recording_free(kk_recording *recording);
KK_API kk_recording_info kk_recording_get_info(const kk_recording *recording);
/// KK_NOT_FOUND beyond the last step, KK_CORRUPT where its chunk was altered.
KK_API kk_status kk_recording_get_frame(kk_recording *recording, int64_t step, kk_recording_frame *frame,
                                        kk_error *error);
/// The newest whole state from which a step can be reached: that before step `*key`, `*key` ≤ step.
/// @param state  of the model that was recorded
KK_API kk_status kk_recording_get_key(kk_recording *recording, int64_t step, kk_state *state, int64_t *key,
                                      kk_error *error);

// ---- logs: the same as tables

/// Columns of a step's figures, as logs have them behind time, coordinates, velocities and controls. @param count  how many
KK_API const kk_table_column *kk_log_figures(int *count);
/// Whether a column is one that a log has beside the states: a figure, or the control of an actuator of the model, NAME.u. Readers of motions
/// pass over these, so that a log is one.
KK_API int kk_log_is_aside(const kk_model *model, const char *column);

KK_END_DECLS
#endif
