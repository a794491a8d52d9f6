/// Room that grows by itself.
///
/// A step allocates nothing. Where contacts, rows, near pairs or islands lack room it notes how much would be needed, in s->lacking, and ends with
/// KK_LIMIT_EXCEEDED before anything is written into the state. kk_step makes that room outside the step and takes the step once more, from the same state:
/// what it finds depends on the state alone, so the bits are those of a simulator that had the room from the start. New memory is there before the old is
/// released: where there is none the simulator and the state are as they were.
#include <string.h>

#include "base/error.h"
#include "simulate/paper.h"

// ---- what is lacking

static void numbers_of(const kki_room *room, int32_t number[KKI_ROOMS]) {
    memcpy(number, room, sizeof *room);
}

int kki_room_is_lacking(const kk_simulator *s) {
    int32_t number[KKI_ROOMS];
    numbers_of(&s->lacking.room, number);
    int any = s->lacking.words > 0;
    for (int i = 0; i < KKI_ROOMS; i++) {
        any |= number[i] > 0;
    }
    return any;
}

void kki_room_join(kki_room *room, const kki_room *other) {
    int32_t own[KKI_ROOMS], more[KKI_ROOMS];
    numbers_of(room, own);
    numbers_of(other, more);
    for (int i = 0; i < KKI_ROOMS; i++) {
        own[i] = own[i] > more[i] ? own[i] : more[i];
    }
    memcpy(room, own, sizeof *room);
}

/// A quarter more than is lacking: contacts come one by one.
static kki_room with_some_to_spare(const kki_room *lacking) {
    int32_t number[KKI_ROOMS];
    numbers_of(lacking, number);
    for (int i = 0; i < KKI_ROOMS; i++) {
        const int64_t more = number[i] + (int64_t)number[i] / 4;
        number[i] = more < INT32_MAX ? (int32_t)more : number[i];
    }
    kki_room room;
    memcpy(&room, number, sizeof room);
    room.dense_rows = room.dense_rows < KKI_MOST_DENSE_ROWS ? room.dense_rows : KKI_MOST_DENSE_ROWS;
    return room;
}

// ---- growing

/// What a paper has in the simulator is made anew: it counts by the same room.
static kk_status renew_paper(kk_simulator *s, kk_simulator *old, kk_error *error) {
    if (!s->paper) {
        return KK_OK;
    }
    s->paper_data = NULL;
    const kk_status status = s->paper->create(s->model, s, error);
    if (status != KK_OK) {
        s->paper->destroy(s);
    } else {
        s->paper->destroy(old);
    }
    return status;
}

/// Solvers go on with the kernels that they had.
static void keep_kernels(kk_simulator *s, const kk_simulator *old) {
    kki_island_scratch *to = s->workers.scratch;
    const kki_island_scratch *from = old->workers.scratch;
    to->solver.kernels = from->solver.kernels;
    to->sparse.solver.kernels = from->sparse.solver.kernels;
}

/// @param keeps  whether the dense solver belongs to another one
static void release(kk_simulator *s, int keeps) {
    if (keeps && s->room_block) {
        s->workers.scratch->solver = (kki_solver_work){0};
    }
    kki_simulator_release_room(s);
}

/// @param next  a copy of the simulator, with its room    @param keeps  whether the dense solver is large enough, and handed on
static kk_status make(const kk_simulator *s, int keeps, kk_simulator *next) {
    next->room_block = NULL;
    kk_status status = kki_simulator_make_room(s->model, next, keeps ? &s->workers.scratch->solver : NULL);
    if (status == KK_OK && next->room.near > s->room.near) {
        next->near.list_block = NULL;
        next->near.broad = NULL;
        status = kki_near_make_room(&next->near, next->room.near);
        if (status != KK_OK) {
            kki_near_release_room(&next->near);
        }
    }
    if (status != KK_OK) {
        release(next, keeps);
    }
    return status;
}

/// The results of the last step are gone with the memory that they stood in; their sums stay.
static void forget_results(kk_simulator *s) {
    s->contacts.count = s->contacts.ntouching = s->constraints.count = s->constraints.nparts = s->islands.count = 0;
    s->free_bodies.npoint = 0;
    s->cached.is_known = 0;
    s->readout.has_view = 0;
}

static kk_status grow_simulator(kk_simulator *s, const kki_room *room, kk_error *error) {
    kk_simulator next = *s, old = *s;
    next.room = *room;
    const int keeps = next.room.dense_rows == s->room.dense_rows;
    kk_status status = make(s, keeps, &next);
    if (status != KK_OK) {
        return kki_error_set(error, status, "no memory for a step with %d contact points and %d near pairs of shapes",
                             (int)room->contacts, (int)room->near);
    }
    keep_kernels(&next, s);
    const int has_new_list = next.near.list_block != old.near.list_block;
    *s = next;
    status = renew_paper(s, &old, error);
    if (status != KK_OK) { // back
        if (has_new_list) {
            kki_near_release_room(&next.near);
        }
        release(&next, keeps);
        *s = old;
        return status;
    }
    if (has_new_list) {
        kki_near_release_room(&old.near);
        memset(s->shapes.placed, 0,
               (size_t)s->model->nshape * sizeof *s->shapes.placed); // the new broad phase knows nobody's place
    }
    release(&old, keeps);
    forget_results(s);
    return KK_OK;
}

kk_status kki_room_for_single(kk_simulator *s, int32_t single, kk_error *error) {
    const int32_t before = s->variation.most_single;
    s->variation.most_single = single;
    const kki_room room = s->room;
    const kk_status status = grow_simulator(s, &room, error);
    s->variation.most_single = status ? before : single;
    return status;
}

static kk_status grow_states(kk_simulator *s, kk_state *state, size_t words, kk_error *error) {
    kk_status status = kki_state_make_room(state, words);
    status = status ? status : kki_state_make_room(s->trial, words);
    return status ? kki_error_set(error, status, "no memory for the contacts of the state") : KK_OK;
}

// ---- of a step

kk_status kki_room_begin(kk_simulator *s, const kk_state *state, kk_error *error) {
    const kki_warm_list list = kki_state_list(state);
    s->lacking = (kki_lacking){.words = 0};
    if (kki_state_make_room(s->trial, kki_warm_words(&list)) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the contacts of the state");
    }
    return KK_OK;
}

static kk_status refuse(const kki_lacking *l, kk_error *error) {
    return kki_error_set(
        error, KK_LIMIT_EXCEEDED,
        "the step lacks room (contacts %d, held %d, near pairs %d, rows %d) and must not grow: reserve more by "
        "kk_simulator_reserve and kk_state_reserve, or leave fixed_room 0",
        (int)l->room.contacts, (int)l->room.held, (int)l->room.near, (int)l->room.dense_rows);
}

int kki_room_grow(kk_simulator *s, kk_state *state, kk_status *status, kk_error *error) {
    if (!kki_room_is_lacking(s)) {
        return 0;
    }
    if (s->options.fixed_room) {
        *status = refuse(&s->lacking, error);
        return 0;
    }
    const kki_lacking lacking = s->lacking;
    const kki_lacking none = {.words = 0};
    kki_room room = with_some_to_spare(&lacking.room);
    kki_room_join(&room, &s->room);
    *status = lacking.words ? grow_states(s, state, lacking.words, error) : KK_OK;
    if (*status == KK_OK && memcmp(&lacking.room, &none.room, sizeof none.room) != 0) {
        *status = grow_simulator(s, &room, error);
    }
    s->lacking = none;
    return *status == KK_OK;
}

// ---- of the caller

/// Contacts between meshes come in as many manifolds as there are patches.
static int has_meshes(const kk_model *m) {
    int any = 0;
    for (int i = 0; i < m->nshape; i++) {
        any |= m->shape[i].shape.type >= KK_SHAPE_MESH;
    }
    return any;
}

/// Room for `contacts`, wherever they are: all in one island, or each in its own.
static kki_room room_for(const kk_simulator *s, int contacts, int near) {
    const kk_model *m = s->model;
    kk_simulator all = *s;
    all.room.contacts = all.room.held = contacts;
    kki_simulator_count_room(m, &all);
    const int most = s->islands.padded_width > 0 ? KKI_SPARSE_ALWAYS : KKI_MOST_DENSE_ROWS;
    kki_room room = {.near = m->has_pairs ? 0 : near,
                     .contacts = contacts,
                     .manifolds = has_meshes(m) ? contacts : 0,
                     .held = contacts,
                     .dense_rows = all.solution.max_rows < most ? all.solution.max_rows : most};
    if (s->islands.padded_width > 0) {
        const int64_t bodies = 2 * (int64_t)all.constraints.max, width = bodies * s->islands.widest_tree;
        room.swarm_bundles = (int)kki_swarm_bundles(contacts);
        room.swarm_blocks = (int)kki_swarm_blocks(contacts);
        room.sparse_bodies = bodies < m->ntree ? (int)bodies : m->ntree;
        room.sparse_ties = all.constraints.max;
        room.sparse_rows = all.solution.max_rows;
        room.sparse_blocks = all.solution.max_blocks;
        room.sparse_coordinates = width < s->islands.padded_width ? (int)width : s->islands.padded_width;
    }
    return room;
}

kk_status kk_simulator_reserve(kk_simulator *simulator, kk_room room, kk_error *error) {
    kk_simulator *s = simulator;
    if (!s || room.contacts < 0 || room.near_pairs < 0) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the simulator is NULL, or what to reserve is below zero");
    }
    kki_room more = room_for(s, kki_can_touch(s->model) ? room.contacts : 0, room.near_pairs);
    kki_room_join(&more, &s->room);
    if (kk_state_reserve(s->trial, room.contacts) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the contacts of a state");
    }
    kki_settle_energies(s);
    kki_settle_outside(s);
    return memcmp(&more, &s->room, sizeof more) != 0 ? grow_simulator(s, &more, error) : KK_OK;
}

kk_room kk_simulator_room(const kk_simulator *simulator) {
    const kki_room *room = &simulator->room;
    return (kk_room){.contacts = room->contacts, .near_pairs = room->near};
}
