/// The state: all you must save. One block of bytes that can be copied, compared, stored and carried elsewhere. Its size follows what is there: beside
/// numbers for coordinates, joints and loops it has records of the contacts that exist, so that the next step starts from their forces.
#ifndef KARAKURI_STATE_H
#define KARAKURI_STATE_H

#include <karakuri/model.h>

KK_BEGIN_DECLS

typedef struct kk_state kk_state;

/// A state at time 0, every joint at its start (kk_model_start), at rest.
KK_API kk_status kk_state_create(const kk_model *model, const kk_allocator *allocator, kk_state **state);
KK_API void kk_state_free(kk_state *state);

KK_API double kk_state_time(const kk_state *state);
KK_API void kk_state_set_time(kk_state *state, double time);
KK_API double *kk_state_q(kk_state *state); ///< [nq]
KK_API double *kk_state_v(kk_state *state); ///< [nv]
KK_API const double *kk_state_q_const(const kk_state *state);
KK_API const double *kk_state_v_const(const kk_state *state);
/// [nactivation] activations of actuators, at first the value nearest to 0 within their limits.
KK_API double *kk_state_activation(kk_state *state);
KK_API const double *kk_state_activation_const(const kk_state *state);

/// Time, coordinates and velocities of a keyframe. Filters stand where its control would settle them, integrators and
/// everything else as in a new state.
KK_API kk_status kk_state_set_keyframe(const kk_model *model, kk_state *state, int keyframe);
/// Whether a loop holds in this state: as its definition says, until it is switched or breaks. −1: there is no such loop.
KK_API int kk_state_loop(const kk_model *model, const kk_state *state, int loop);
/// Switches a loop on or off, mends a broken one. One that is open when it is switched on is closed by and by.
KK_API kk_status kk_state_set_loop(const kk_model *model, kk_state *state, int loop, int on);

/// Room for the records of so many contacts, so that no step, copy or restoration with fewer allocates. Without it room grows when it is needed.
KK_API kk_status kk_state_reserve(kk_state *state, int contacts);

/// Both states must be of one model; KK_SIZE_MISMATCH otherwise. KK_OUT_OF_MEMORY where the target would have to grow and cannot; it is as it was then.
KK_API kk_status kk_state_copy(kk_state *to, const kk_state *from);
/// 1 if every byte is the same.
KK_API int kk_state_equal(const kk_state *a, const kk_state *b);
/// Hash of the contents, −0 counted as 0; equal on every machine.
KK_API uint64_t kk_state_hash(const kk_state *state);
/// Finite everywhere and unit quaternions; names the joint that is not.
KK_API kk_status kk_state_check(const kk_model *model, const kk_state *state, kk_error *error);

/// Portable form: little endian, magic, version, model hash, checksum. The size is that of the state as it is now: it changes with its contacts.
KK_API size_t kk_state_saved_size(const kk_state *state);
KK_API kk_status kk_state_save(const kk_state *state, void *bytes, size_t size);
/// Refuses a block that is truncated, altered, or of another model; the state then stays as it was. Reads what earlier versions have saved.
KK_API kk_status kk_state_restore(kk_state *state, const void *bytes, size_t size, kk_error *error);

KK_END_DECLS
#endif
