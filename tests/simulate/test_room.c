// Room grows by itself: no result depends on it, memory that is not there is a clean status, and what is there is as much as is needed.
#include <karakuri/hash.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"
#include "support/allocations.h"
#include "support/rooms.h"

static void build_chain(stage *s, int material) {
    int parent = KK_WORLD;
    for (int i = 0; i < 4; i++) {
        char name[16];
        kk_body_def link = kk_body_def_default();
        snprintf(name, sizeof name, "link%d", i);
        link.name = name;
        link.parent = parent;
        link.joint.axis = kk_vec3_make(0, 1, 0);
        link.joint.placement.p = kk_vec3_make(i ? 0.3 : 2, 0, i ? 0 : 0.3);
        link.joint.dof[0].upper = 0.8;
        link.joint.dof[0].friction = 0.05;
        link.inertia = kk_inertia_solid_box(1, 0.3, 0.05, 0.05);
        link.inertia.com.x = 0.15;
        KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &link, &parent, &s->error), KK_OK);
        stage_shape(s, KK_SHAPE_SPHERE, parent, 0.05, 0, 0, material);
    }
}

/// Boxes and balls on a floor, in heaps, and a chain with limits and dry friction. Plain: boxes that do not bounce alone.
static void build_heaps(stage *s, int boxes, int plain) {
    *s = stage_begin(9.81);
    const int material = stage_material(s, 0.4, plain ? 0 : 0.2);
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < boxes; i++) {
        if (i % 3 || plain) {
            stage_box(s, 1, 0.2, 0.3, 0.1, material);
        } else {
            stage_ball(s, 1, 0.08, material);
        }
    }
    if (!plain) {
        build_chain(s, material);
    }
}
static void place_heaps(stage *s, int boxes) {
    for (int i = 0; i < boxes; i++) {
        stage_place(s, 1 + i, 0.21 * (i % 4), 0.31 * (i / 4 % 3), 0.06 + 0.15 * (i / 12));
        stage_v(s, 1 + i)[1] = 0.3 * (i % 5);
    }
}

/// Both with the same steps; one of them begins with no room.
static void check_same_bits(int boxes, const kk_step_options *options, int steps) {
    stage s;
    build_heaps(&s, boxes, options->solver != KK_SOLVER_EXACT);
    if (stage_ready(&s, options)) {
        kk_simulator *other = NULL;
        kk_state *state = NULL;
        place_heaps(&s, boxes);
        KK_CHECK_EQ_INT(kk_simulator_create(s.model, options, NULL, &other, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &state), KK_OK);
        KK_CHECK_EQ_INT(kk_state_copy(state, s.state), KK_OK);
        KK_CHECK_EQ_INT(rooms_take_away(other), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_reserve(s.simulator, (kk_room){4000, 4000}, &s.error), KK_OK);
        for (int i = 0; i < steps; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            KK_CHECK_EQ_INT(kk_step(s.model, state, other, NULL, &s.error), KK_OK);
            if (!KK_CHECK(kk_state_equal(state, s.state))) {
                break;
            }
        }
        KK_CHECK(kk_simulator_room(other).contacts < kk_simulator_room(s.simulator).contacts);
        const kk_report a = *kk_simulator_report(s.simulator), b = *kk_simulator_report(other);
        KK_CHECK(a.contacts > boxes);
        KK_CHECK_BITS(a.residual, b.residual);
        KK_CHECK_BITS(a.kinetic_after, b.kinetic_after);
        KK_CHECK_EQ_INT(a.sweeps, b.sweeps);
        kk_state_free(state);
        kk_simulator_free(other);
    }
    stage_end(&s);
}

KK_TEST(room_changes_no_bit) {
    check_same_bits(6, &(kk_step_options){.timestep = 2e-3}, 120);
    check_same_bits(24, &(kk_step_options){.timestep = 2e-3}, kk_test_is_quick() ? 30 : 40);
    check_same_bits(
        120,
        &(kk_step_options){
            .timestep = 5e-3, .effort = KK_EFFORT_SWEEPS, .iterations = 10, .detection = KK_DETECTION_OVERLAP},
        60); // loose bodies, by the broad phase
}

KK_TEST(room_changes_no_bit_of_papers) {
    check_same_bits(6, &(kk_step_options){.timestep = 1e-3, .solver = KK_SOLVER_OPENHRP}, 60);
    check_same_bits(6, &(kk_step_options){.timestep = 1e-3, .solver = KK_SOLVER_SPRINGHEAD}, 60);
    check_same_bits(3, &(kk_step_options){.timestep = 1e-2, .solver = KK_SOLVER_KURODA}, 60);
}

/// Steps from a start to an end, with no room at first and one allocation that fails, number k. Gives whether it was asked for at all.
static int step_without_memory(stage *s, const kk_step_options *options, const kk_state *start, int steps, int k) {
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    kk_simulator *simulator = NULL;
    kk_state *state = NULL, *before = NULL;
    KK_CHECK_EQ_INT(kk_simulator_create(s->model, options, &allocator, &simulator, &s->error), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(s->model, &allocator, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(s->model, NULL, &before), KK_OK);
    KK_CHECK_EQ_INT(kk_state_copy(state, start), KK_OK);
    KK_CHECK_EQ_INT(rooms_take_away(simulator), KK_OK);
    f.fail_at = f.calls + k;
    int failed = 0;
    for (int i = 0; i < steps; i++) {
        s->error = (kk_error){.status = KK_OK};
        KK_CHECK_EQ_INT(kk_state_copy(before, state), KK_OK);
        const kk_status status = kk_step(s->model, state, simulator, NULL, &s->error);
        if (status != KK_OK) {
            KK_CHECK_EQ_INT(status, KK_OUT_OF_MEMORY);
            KK_CHECK(s->error.text[0] != 0);
            KK_CHECK(kk_state_equal(before, state));
            KK_CHECK_EQ_INT(failed, 0); // one call fails, and so does one step
            failed = 1;
            i--;
        }
    }
    KK_CHECK(kk_state_equal(state, s->state));
    kk_state_free(before);
    kk_state_free(state);
    kk_simulator_free(simulator);
    KK_CHECK_EQ_INT(f.blocks, 0);
    KK_CHECK_EQ_INT(f.bytes, 0);
    return failed;
}

static void check_every_allocation(int boxes, const kk_step_options *options, int steps) {
    stage s;
    build_heaps(&s, boxes, options->solver != KK_SOLVER_EXACT);
    if (stage_ready(&s, options)) {
        place_heaps(&s, boxes);
        kk_state *start = NULL;
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &start), KK_OK);
        KK_CHECK_EQ_INT(kk_state_copy(start, s.state), KK_OK);
        for (int i = 0; i < steps; i++) { // papers do not keep to our tolerance
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        }
        int count = 0;
        while (step_without_memory(&s, options, start, steps, count)) {
            count++;
        }
        KK_CHECK(count > 0);
        kk_state_free(start);
    }
    stage_end(&s);
}

// every allocation of a step made to fail in turn: the status says so, the state is as it was, and the next step goes on with the same bits
KK_TEST(room_that_is_not_there_is_a_clean_status) {
    check_every_allocation(12, &(kk_step_options){.timestep = 2e-3}, 6);
    check_every_allocation(
        100,
        &(kk_step_options){
            .timestep = 2e-3, .effort = KK_EFFORT_SWEEPS, .iterations = 8, .detection = KK_DETECTION_OVERLAP},
        6);
    check_every_allocation(3, &(kk_step_options){.timestep = 2e-3, .solver = KK_SOLVER_OPENHRP}, 60);
    check_every_allocation(3, &(kk_step_options){.timestep = 1e-2, .solver = KK_SOLVER_KURODA}, 30);
}

// for those who forbid allocation: what is reserved is enough, and what is not is refused by name, without a trace
KK_TEST(room_that_is_fixed) {
    enum { BOXES = 24 };
    stage s;
    build_heaps(&s, BOXES, 0);
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3, .fixed_room = 1})) {
        place_heaps(&s, BOXES);
        kk_state *before = NULL;
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &before), KK_OK);
        KK_CHECK_EQ_INT(rooms_take_away(s.simulator), KK_OK);
        KK_CHECK_EQ_INT(kk_state_copy(before, s.state), KK_OK);
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_LIMIT_EXCEEDED);
        KK_CHECK(strstr(s.error.text, "kk_simulator_reserve") != NULL);
        KK_CHECK(kk_state_equal(before, s.state));
        KK_CHECK_EQ_INT(kk_simulator_reserve(s.simulator, (kk_room){600, 600}, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_state_reserve(s.state, 600), KK_OK);
        const long allocations = allocations_so_far();
        stage_run(&s, 60, NULL);
        KK_CHECK_EQ_INT(allocations_so_far(), allocations);
        KK_CHECK(kk_simulator_ncontact(s.simulator) > BOXES);
        KK_CHECK_EQ_INT(kk_simulator_reserve(s.simulator, (kk_room){-1, 0}, &s.error), KK_INVALID_ARGUMENT);
        kk_state_free(before);
    }
    stage_end(&s);
}

// ---- saved by version 2, with contacts

static void put(unsigned char *at, uint64_t word) {
    for (int i = 0; i < 8; i++) {
        at[i] = (unsigned char)(word >> (8 * i));
    }
}

// what version 2 saved in the middle of a motion is read bit for bit, with its contacts, and goes on
KK_TEST(state_of_version_2_goes_on) {
    static const struct {
        int at;
        uint64_t word;
    } saved[] = {
#include "saved_state_2.inc"
    };
    enum { WORDS = 3272 / 8 };
    unsigned char bytes[8 * WORDS] = {0};
    stage s = stage_begin(9.81);
    const int floor = stage_material(&s, 0.5, 0);
    kk_spec_options(s.spec)->max_contacts = 16;
    kk_spec_material(s.spec, floor)->torsion = 0.01;
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, floor);
    stage_box(&s, 0.4, 0.4, 0.2, 1, floor);
    stage_box(&s, 0.2, 0.2, 0.2, 1, floor);
    if (stage_ready(&s, NULL)) {
        for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
            put(bytes + 8 * saved[i].at, saved[i].word);
        }
        put(bytes + 16, kk_model_hash(s.model)); // other versions of the library may hash models otherwise
        put(bytes + sizeof bytes - 8, kk_hash_bytes(bytes, sizeof bytes - 8, 0));
        KK_CHECK_EQ_INT(kk_state_restore(s.state, bytes, sizeof bytes, &s.error), KK_OK);
        const kki_warm_list list = kki_state_list(s.state);
        KK_CHECK_EQ_INT(list.contacts, 12);
        const uint64_t q = kk_hash_doubles(kk_state_q_const(s.state), 14, 0);
        KK_CHECK(kk_hash_doubles(kk_state_v_const(s.state), 12, q) == 0xe84219e8e7f0f6a7u);
        stage_run(&s, 30, NULL);
        KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->quality, KK_STEP_CERTIFIED);
        // numbers of contacts that cannot be
        static const double bad[] = {17, 1e300, -1e300, 3.5e9};
        for (int i = 0; i < 4; i++) {
            kk_state *before = NULL;
            KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &before), KK_OK);
            KK_CHECK_EQ_INT(kk_state_copy(before, s.state), KK_OK);
            uint64_t word;
            memcpy(&word, &bad[i], sizeof word);
            put(bytes + 40 + 8 * 27, word); // behind time, q and v
            put(bytes + sizeof bytes - 8, kk_hash_bytes(bytes, sizeof bytes - 8, 0));
            KK_CHECK_EQ_INT(kk_state_restore(s.state, bytes, sizeof bytes, &s.error), KK_CORRUPT);
            KK_CHECK(kk_state_equal(before, s.state));
            kk_state_free(before);
        }
    }
    stage_end(&s);
}
