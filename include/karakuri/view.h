/// What a viewer needs: a model as JSON, its meshes and the moving picture as compact bytes, and a session, which is a
/// simulation under way that takes commands, keeps what happened, goes back and forks.
///
/// The same bytes and texts go to a page whether the engine runs beside it (WebAssembly) or elsewhere (a WebSocket), or
/// stand in a file. Everything read here is taken to come from a stranger: commands are parsed strictly and bounded in size.
#ifndef KARAKURI_VIEW_H
#define KARAKURI_VIEW_H

#include <karakuri/load.h>
#include <karakuri/simulate.h>

KK_BEGIN_DECLS

// ---- what does not move

/// The model as one JSON object: name, options, bodies with joints, frames, shapes, meshes (sizes only), height fields (sizes
/// only), materials, actuators, sensors, loops, tendons, keyframes. Poses are [w, x, y, z, px, py, pz]; what is infinite is null.
/// docs/guide/view-protocol.md lists every member.
/// @param spec   that the model was compiled from    @param options  of the step; NULL: the defaults
/// @param text   [out] zero-terminated, for kk_text_free    @param size  [out] bytes without the terminating zero
KK_API kk_status kk_view_describe(const kk_spec *spec, const kk_model *model, const kk_step_options *options,
                                  const kk_allocator *allocator, char **text, size_t *size, kk_error *error);

/// Bytes of a mesh: float32 vertices [vertex_count × 3], then uint32 faces [face_count × 3]; 0 for one that does not exist.
KK_API size_t kk_view_mesh_size(const kk_model *model, int mesh);
/// KK_SIZE_MISMATCH where `size` is not what kk_view_mesh_size says.
KK_API kk_status kk_view_mesh(const kk_model *model, int mesh, void *bytes, size_t size);
/// The same for a height field: float32 heights [rows × columns].
KK_API size_t kk_view_height_field_size(const kk_model *model, int field);
KK_API kk_status kk_view_height_field(const kk_model *model, int field, void *bytes, size_t size);

// ---- what moves

enum {
    KK_VIEW_FRAME_HEADER = 160,  ///< bytes
    KK_VIEW_CONTACT_NUMBERS = 16 ///< float32 a contact
};

/// A frame, little endian: a header of KK_VIEW_FRAME_HEADER bytes, then float32 arrays without padding.
///
///       0 uint32 magic 'KKF1'          4 uint32 size of all           8 float64 time, s         16 float64 steps so far
///      24 uint32 generation           28 uint32 notice               32 uint32 flags            36 uint32 nbody
///      40 uint32 ncontact             44 uint32 nq                   48 uint32 nv               52 uint32 nactuator
///      56 uint32 nsensordata             60 uint32 0                    64 float64 oldest step to go back to
///      72 float64 newest step         80 uint64 hash of the state    88 float32 residual, m/s   92 float32 penetration, m
///      96 float32 kinetic energy, J  100 float32 potential energy   104 uint32 sweeps          108 uint32 Newton iterations
///     112 float32 worst cone error   116 float32 worst Signorini    120 float32 center of mass [3]
///     132 float32 ZMP [3], NaN: none 144 float32 timestep, s        148 float32 speed          152 uint64 hash of the model
///
///     poses     [nbody × 7]      w, x, y, z, px, py, pz
///     contacts  [ncontact × 16]  position 3, normal 3, force on the second 3, gap, friction, bodies 2, shapes 2, sliding speed
///     q [nq], v [nv], actuator force [nv], control [nactuator], sensor data [nsensordata]
///     wrenches  [nbody × 6]      moment and force of the joint on the body, in the body's frame
enum {
    KK_VIEW_PAUSED = 1,
    KK_VIEW_FAILED = 2,   ///< the last step failed; the notice says why
    KK_VIEW_REPLAYS = 4,  ///< what is shown was simulated before, with the inputs that were kept
    KK_VIEW_DIFFERS = 8,  ///< a replay did not give the hash that was kept
    KK_VIEW_NO_STEP = 16, ///< no step led here: contacts, forces and sensor data are empty
};

/// What a frame shows. Zero-initialized members are left out of it.
typedef struct kk_view_source {
    const kk_model *model;
    kk_data *data; ///< scratch
    double time, steps, oldest, newest, timestep, speed;
    const double *q, *v;       ///< v may be NULL
    const double *control;     ///< [nactuator]; NULL: zeros
    const double *sensor_data; ///< [nsensordata]; NULL: zeros
    kk_simulator *simulator;   ///< of the step that led here; NULL: no contacts, no forces
    uint64_t state_hash;
    uint32_t generation, notice, flags;
    kk_report report; ///< where there is no simulator: of a recording
} kk_view_source;

/// Bytes of a frame with that many contacts.
KK_API size_t kk_view_frame_size(const kk_model *model, int ncontact);
/// Most contacts that are written: the strongest are not chosen, the first are.
/// @param room  of bytes    @param size  [out] bytes written
/// KK_SIZE_MISMATCH where not even a frame without contacts fits; contacts that do not fit are left out.
KK_API kk_status kk_view_frame(const kk_view_source *source, void *bytes, size_t room, size_t *size);

// ---- a session

typedef struct kk_session kk_session;

enum { KK_SESSION_COMMAND_SIZE = 65536, KK_SESSION_SLOTS = 8 };

/// Zero-initialized means: the defaults.
typedef struct kk_session_def {
    size_t history_bytes; ///< memory for going back; 0: 64 MB
    int keyframe;         ///< to start from, counted from 1; 0: the model's first, or zero position where it has none
    int paused;           ///< 1: starts paused
} kk_session_def;

/// Takes the spec over where it succeeds. @param def  may be NULL
KK_API kk_status kk_session_create(kk_spec *spec, const kk_session_def *def, const kk_allocator *allocator,
                                   kk_session **session, kk_error *error);
KK_API void kk_session_free(kk_session *session);

/// What the session stands on now; a command may replace them (see kk_session_generation).
KK_API const kk_spec *kk_session_spec(const kk_session *session);
KK_API const kk_model *kk_session_model(const kk_session *session);
KK_API const kk_state *kk_session_state(const kk_session *session);
KK_API kk_simulator *kk_session_simulator(kk_session *session);
/// [nactuator] what the next step gets; may be written, which is the same as the command "control".
KK_API double *kk_session_control(kk_session *session);
/// [nsensordata] sensors behind the last step, zeros before the first.
KK_API const double *kk_session_sensor_data(kk_session *session);
/// Changes whenever the model was replaced: descriptions of an older generation do not hold any more.
KK_API uint32_t kk_session_generation(const kk_session *session);
/// The newest message for a person, "" at first; the frame's `notice` counts them.
KK_API const char *kk_session_notice(const kk_session *session);
KK_API int kk_session_is_paused(const kk_session *session);

/// One command, a JSON object, or several in an array, which are done all or, where one is wrong, up to the one before it:
///
///     {"do": "control", "actuator": 0, "value": 0.5}          {"do": "controls", "values": [...]}
///     {"do": "edit", "item": "actuator", "id": 0, "field": "kp", "value": 200}   items: body, dof, actuator, material, tendon, loop,
///                                                              option, step; a dof's id is [body, index]
///     {"do": "drag", "body": 3, "point": [in the body], "target": [in the world], "stiffness": 500, "damping": 30}, {"do": "release"}
///     {"do": "push", "body": 3, "force": [3], "moment": [3], "steps": 100}       world axes, at the center of mass
///     {"do": "pause"}, {"do": "play"}, {"do": "speed", "value": 0.1}, {"do": "step", "count": 1}
///     {"do": "reset", "keyframe": 0}, {"do": "pose", "q": [...], "v": [...], "time": 1.5}
///     {"do": "rewind", "step": 1200}, {"do": "fork"}          playing from the past replays; anything that acts forks
///     {"do": "save", "slot": 0}, {"do": "restore", "slot": 0}
///
/// @param text  [length], at most KK_SESSION_COMMAND_SIZE bytes
KK_API kk_status kk_session_command(kk_session *session, const char *text, size_t length, kk_error *error);

/// Takes steps: as many as `seconds` of wall-clock time are worth at the session's speed, at most `most`; none while paused.
/// A step that fails pauses the session and leaves a notice. @return how many were taken
KK_API int kk_session_advance(kk_session *session, double seconds, int most);
/// Takes steps whether paused or not. KK_… of the step that failed.
KK_API kk_status kk_session_step(kk_session *session, int count, kk_error *error);

/// The description, in the session's memory until the next call.
KK_API kk_status kk_session_describe(kk_session *session, const char **text, size_t *size, kk_error *error);
/// A frame of now, in the session's memory until the next call; allocates only after a change of the model.
KK_API kk_status kk_session_frame(kk_session *session, const void **bytes, size_t *size, kk_error *error);

KK_END_DECLS
#endif
