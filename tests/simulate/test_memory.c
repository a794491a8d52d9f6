// Memory follows what is there, and not what could be: bytes of states and simulators, in use and saved, as an allocator counts them.
#include <karakuri/load.h>
#include <stdlib.h>

#include "model/warm.h"
#include "stage.h"
#include "support/allocations.h"

enum { MB = 1000000 };

/// Steps of a robot that falls on its floor: the state stays below 8 kB and 200 B a contact, delay buffers apart.
static void check_robot(const char *path, int dofs) {
    kk_spec *spec = NULL;
    kk_model *m = NULL;
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    kk_error error = {.status = KK_OK};
    faulty of_state = {.fail_at = -1}, of_simulator = {.fail_at = -1};
    const kk_allocator a = {faulty_allocate, faulty_release, &of_state};
    const kk_allocator b = {faulty_allocate, faulty_release, &of_simulator};
    KK_CHECK_EQ_INT(kk_load_file(path, NULL, NULL, &spec, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &m, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_model_nv(m), dofs);
    KK_CHECK_EQ_INT(kk_state_create(m, &a, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(m, NULL, &b, &simulator, &error), KK_OK);
    int most = 0;
    for (int i = 0; i < 600; i++) {
        KK_CHECK_EQ_INT(kk_step(m, state, simulator, NULL, &error), KK_OK);
        const int contacts = kk_simulator_ncontact(simulator);
        most = contacts > most ? contacts : most;
        KK_CHECK(of_state.bytes <= 8000 + 200 * (size_t)most);
        KK_CHECK(kk_state_saved_size(state) <= 8000 + 200 * (size_t)contacts);
    }
    KK_CHECK(most >= 4);
    KK_CHECK(of_simulator.bytes < 2 * MB);
    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(m);
    kk_spec_free(spec);
}

KK_TEST(memory_of_the_state_of_a_robot) {
    static const char H1[] = KK_SOURCE_DIR "/../shared/models/unitree_h1/scene.xml";
    FILE *f = fopen(H1, "r");
    if (!f) {
        KK_SKIP("no ../shared/models here");
        return;
    }
    fclose(f);
    check_robot(H1, 25);
    check_robot(KK_SOURCE_DIR "/../shared/models/anybotics_anymal_c/scene.xml", 18);
}

/// Bytes of a simulator of the stage's model before its first step, and the most behind so many.
static void measure(stage *s, int steps, size_t *before, size_t *behind) {
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    kk_simulator *simulator = NULL;
    const kk_step_options options = {.timestep = 1e-3, .effort = KK_EFFORT_SWEEPS, .iterations = 10};
    KK_CHECK_EQ_INT(kk_simulator_create(s->model, &options, &allocator, &simulator, &s->error), KK_OK);
    *before = f.bytes;
    for (int i = 0; i < steps; i++) {
        KK_CHECK_EQ_INT(kk_step(s->model, s->state, simulator, NULL, &s->error), KK_OK);
    }
    *behind = f.bytes;
    kk_simulator_free(simulator);
    KK_CHECK_EQ_INT(f.bytes, 0);
}

/// The model and a state alone.
static int compile(stage *s) {
    KK_CHECK_EQ_INT(kk_model_compile(s->spec, NULL, &s->model, &s->error), KK_OK);
    return KK_CHECK_EQ_INT(kk_state_create(s->model, NULL, &s->state), KK_OK);
}

KK_TEST(memory_of_fixed_shapes) {
    enum { SHAPES = 100000, ROW = 316 };
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    for (int i = 0; i < SHAPES; i++) {
        const int id = stage_shape(&s, KK_SHAPE_BOX, KK_WORLD, 0.1, 0.1, 0.1, material);
        kk_spec_shape(s.spec, id)->placement.p = kk_vec3_make(0.2 * (i % ROW), 0.2 * (i / ROW), -0.05);
    }
    const int ball = stage_ball(&s, 1, 0.1, material);
    if (compile(&s)) {
        size_t before, behind;
        stage_place(&s, ball, 1, 1, 0.1);
        measure(&s, 3, &before, &behind);
        KK_CHECK(before <= 100 * (size_t)MB); // 4.4 GB, when there was room for all that could be; the bar is 200 MB
        KK_CHECK(behind <= 100 * (size_t)MB);
    }
    stage_end(&s);
}

// in the air, and in a heap in which each touches six
KK_TEST(memory_of_free_bodies) {
    enum { BODIES = 20000, SIDE = 28 };
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < BODIES; i++) {
        stage_ball(&s, 1, 0.1, material);
    }
    if (compile(&s)) {
        size_t before, behind;
        for (int i = 0; i < BODIES; i++) {
            stage_place(&s, 1 + i, 0.2 * (i % SIDE), 0.2 * (i / SIDE % SIDE), 0.1 + 0.1999 * (i / SIDE / SIDE));
        }
        measure(&s, 2, &before, &behind);
        const kki_warm_list list = kki_state_list(s.state);
        KK_CHECK(list.contacts > 2 * BODIES);
        KK_CHECK(before <= 200 * (size_t)MB); // 2.6 GB, when there was room for all that could be
        KK_CHECK(behind <= before + 2500 * (size_t)list.contacts);
        KK_CHECK(kk_state_saved_size(s.state) <= 136 * (size_t)BODIES + 105 * (size_t)list.contacts);
    }
    stage_end(&s);
}
