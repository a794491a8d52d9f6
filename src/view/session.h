/// The session's inside.
#ifndef KKI_VIEW_SESSION_H
#define KKI_VIEW_SESSION_H

#include <karakuri/view.h>

#include "view/edit.h"

/// A spring from a point of a body to a point in the world. As doubles, because it is kept with each step.
typedef struct kki_drag {
    double body; ///< 0: none
    double point[3], target[3], stiffness, damping;
} kki_drag;

/// A force and a moment at a body's center of mass, world axes.
typedef struct kki_push {
    double body; ///< 0: none
    double force[3], moment[3];
} kki_push;

/// What a step is given, besides the controls that stand behind it in memory.
typedef struct kki_given {
    double version; ///< edits that are in force
    kki_drag drag;
    kki_push push;
} kki_given;

enum { KKI_GIVEN_NUMBERS = sizeof(kki_given) / sizeof(double) };

/// The past: a ring of records, each a whole state (a key) and what the steps from it to the next key were given.
///
/// A record is: hash of the key's state, the state's numbers, room for words of what touches, then for each step kki_given and the controls. Where a key has
/// more words than there is room for, all records get more, and there are fewer of them.
typedef struct kki_history {
    double *number; ///< [room × record]
    size_t record, step_numbers, state_numbers, words;
    int room, first, count; ///< records: in all, the oldest, in use
    int every;              ///< steps from key to key
    int64_t oldest, newest; ///< step of the oldest key; steps that have been taken
} kki_history;

typedef struct kki_slot {
    double *number; ///< [nactuator + state_numbers + words]; NULL: empty
    size_t size;
    int version;
    int64_t steps;
} kki_slot;

struct kk_session {
    kk_allocator allocator;
    kk_session_def def;
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
    kk_step_options options;
    double *control;     ///< [nactuator]
    double *sensor_data; ///< [nsensordata]
    kk_force *wrench;    ///< [nbody]
    int nactuator, nsensordata, nbody;
    kki_drag drag;
    kki_push push;
    int push_steps; ///< that are left
    double speed, owed;
    int paused, failed, differs;
    int has_step;        ///< the simulator holds the step that led to the state
    int has_sensor_data; ///< they are of the state
    int64_t steps;
    uint32_t generation, notices;
    char notice[KK_ERROR_TEXT_SIZE];
    kki_edit *edit; ///< [edit_room]
    int version;    ///< edits that are in force, the first of the list
    int edit_count, edit_room;
    int staged;        ///< edits behind those, done to the spec, for which there is no model yet
    int64_t edit_step; ///< step before which the last ones were made,
    int first_of_step; ///< and the first of them
    kki_history history;
    kki_slot slot[KK_SESSION_SLOTS];
    char *text; ///< the description
    size_t text_size;
    void *frame;
    size_t frame_room;
};

// session.c
void kki_session_tell(kk_session *s, const char *text);
/// Compiles the spec as it is now and carries the state over; on failure nothing has changed.
kk_status kki_session_rebuild(kk_session *s, kk_error *error);
/// To the start: a keyframe, counted from 0, or −1 for zero positions.
kk_status kki_session_reset(kk_session *s, int keyframe, kk_error *error);
/// Before anything that acts: what was simulated behind now is given up.
void kki_session_fork(kk_session *s);
/// Does an edit to the spec; several may follow each other before the new model is made.
kk_status kki_session_stage_edit(kk_session *s, const kki_edit *edit, kk_error *error);
/// Makes the new model; on failure all that was staged is undone.
kk_status kki_session_commit_edits(kk_session *s, kk_error *error);
/// Undoes or does edits again until `version` are in force.
kk_status kki_session_go_to_version(kk_session *s, int version, kk_error *error);
/// Mass of the tree a body belongs to.
double kki_session_tree_mass(const kk_session *s, int body);

// history.c
kk_status kki_history_create(kk_session *s);
void kki_history_free(kk_session *s);
void kki_history_clear(kk_session *s);
/// Before a step: keeps what it is given, and every so many steps the state.
kk_status kki_history_add(kk_session *s, const kki_given *given, kk_error *error);
/// What step `step` was given. @param control  [out] in the history
const kki_given *kki_history_given(const kk_session *s, int64_t step, const double **control);
/// At a key: whether the state is the one that was kept; 1 between keys.
int kki_history_agrees(const kk_session *s);
/// Forgets what lies behind now.
void kki_history_cut(kk_session *s);
/// Goes to the newest key from which `step` is reached by steps, if possible by at least one.
kk_status kki_history_go_before(kk_session *s, int64_t step, kk_error *error);

/// Numbers that any state of the model has, and words of what touches now.
size_t kki_state_numbers(const kk_session *s);
size_t kki_state_words(const kk_session *s);
/// @param numbers  [kki_state_numbers + kki_state_words]
void kki_state_keep(const kk_session *s, double *numbers);
kk_status kki_state_put_back(kk_session *s, const double *numbers, kk_error *error);

#endif
