// Islands of many trees: the sparse way against the dense one, towers that stand, states that are taken up again.
#include "simulate/simulator.h"
#include "stage.h"

#include <math.h>
#include <string.h>

enum { PLANKS = 18 };

/// Layers of three planks, crosswise, each layer a little off; `speed` pushes the uppermost.
static stage tower(double speed) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.6, 0);
    int plank[PLANKS];
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < PLANKS; i++) {
        plank[i] =
            i / 3 % 2 ? stage_box(&s, 0.2, 0.06, 0.24, 0.04, material) : stage_box(&s, 0.2, 0.24, 0.06, 0.04, material);
    }
    kk_spec_options(s.spec)->timestep = 0.005;
    if (stage_ready(&s, NULL)) {
        for (int i = 0; i < PLANKS; i++) {
            const int layer = i / 3;
            const double across = 0.09 * (i % 3 - 1) + 0.003 * layer;
            stage_place(&s, plank[i], layer % 2 ? across : 0, layer % 2 ? 0 : across, 0.02 + 0.04 * layer);
        }
        stage_v(&s, plank[PLANKS - 1])[3] = speed;
    }
    return s;
}

/// From now on islands of this simulator are dense, however many trees they have.
static void make_dense(stage *s) {
    kki_solver_work *solver = &s->simulator->workers.scratch->solver;
    s->simulator->islands.padded_width = 0;
    kki_solver_work_destroy(solver);
    KK_CHECK_EQ_INT(
        kki_solver_work_create(solver, &s->simulator->allocator, kki_simulator_dense_size(s->model, s->simulator)),
        KK_OK);
}

KK_TEST(wide_tower_stands) {
    stage s = tower(0);
    double start[7 * PLANKS];
    memcpy(start, kk_state_q(s.state), sizeof start);
    stage_run(&s, kk_test_is_quick() ? 50 : 400, NULL);
    KK_CHECK(s.simulator->islands.list[0].is_sparse);
    for (int i = 0; i < 7 * PLANKS; i++) {
        KK_CHECK_NEAR(kk_state_q(s.state)[i], start[i], 1e-9);
    }
    stage_end(&s);
}

// the uppermost plank slides, the others do not: velocities behind one step are unique
KK_TEST(wide_moves_as_dense) {
    stage wide = tower(0.4), dense = tower(0.4);
    make_dense(&dense);
    stage_run(&wide, 1, NULL);
    stage_run(&dense, 1, NULL);
    KK_CHECK(wide.simulator->islands.count > 0 && wide.simulator->islands.list[0].is_sparse);
    KK_CHECK(!dense.simulator->islands.list[0].is_sparse);
    for (int i = 0; i < 6 * PLANKS; i++) {
        KK_CHECK_NEAR(kk_state_v(wide.state)[i], kk_state_v(dense.state)[i], 1e-7);
    }
    KK_CHECK_NEAR(stage_v(&wide, PLANKS)[3], 0.4 - 0.6 * 9.81 * 0.005, 1e-7);
    stage_end(&wide);
    stage_end(&dense);
}

/// An arm of two hinges with its hand on a stack of boxes.
static stage arm_on_stack(void) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.7, 0);
    int body = KK_WORLD, box[11];
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < 11; i++) {
        box[i] = stage_box(&s, 1, 0.2, 0.2, 0.1, material);
    }
    for (int i = 0; i < 2; i++) {
        kk_body_def def = kk_body_def_default();
        char name[16];
        snprintf(name, sizeof name, "arm%d", i);
        def.name = name;
        def.parent = body;
        def.joint.type = KK_JOINT_HINGE;
        def.joint.axis = kk_vec3_make(0, 1, 0);
        def.joint.placement.p = i ? kk_vec3_make(0.5, 0, 0) : kk_vec3_make(-0.9, 0, 1.12);
        def.joint.dof[0].damping = 0.5;
        def.inertia = kk_inertia_solid_box(0.5, 0.5, 0.05, 0.05);
        def.inertia.com = kk_vec3_make(0.25, 0, 0);
        KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &def, &body, &s.error), KK_OK);
    }
    kk_shape_def hand = kk_shape_def_default();
    hand.type = KK_SHAPE_SPHERE;
    hand.body = body;
    hand.size[0] = 0.02;
    hand.material = material;
    hand.placement.p.x = 0.4;
    KK_CHECK_EQ_INT(kk_spec_add_shape(s.spec, &hand, &body, &s.error), KK_OK);
    kk_spec_options(s.spec)->timestep = 0.002;
    if (stage_ready(&s, NULL)) {
        for (int i = 0; i < 11; i++) {
            stage_place(&s, box[i], 0, 0, 0.05 + 0.1 * i);
        }
    }
    return s;
}

// a robot in a pile is one block of it
KK_TEST(wide_islands_hold_robots) {
    stage wide = arm_on_stack(), dense = arm_on_stack();
    make_dense(&dense);
    for (int k = 0; k < 20; k++) {
        stage_run(&wide, 1, NULL);
        stage_run(&dense, 1, NULL);
        for (int i = 0; i < kk_model_nq(wide.model); i++) {
            KK_CHECK_NEAR(kk_state_q(wide.state)[i], kk_state_q(dense.state)[i], 1e-7);
        }
    }
    KK_CHECK_EQ_INT(wide.simulator->islands.count, 1);
    KK_CHECK(wide.simulator->islands.list[0].is_sparse);
    KK_CHECK_EQ_INT(wide.simulator->workers.scratch->sparse.nv[11], 2);
    stage_end(&wide);
    stage_end(&dense);
}

// whatever the simulator has kept of the steps before, a state goes on with the same bits in a new one
KK_TEST(wide_state_is_taken_up_bit_by_bit) {
    stage s = tower(0.02);
    kk_state *copy = NULL;
    kk_simulator *fresh = NULL;
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &copy), KK_OK);
    for (int cut = 1; cut <= 3; cut++) {
        stage_run(&s, 5, NULL);
        KK_CHECK_EQ_INT(kk_state_copy(copy, s.state), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &fresh, &s.error), KK_OK);
        for (int k = 0; k < 5; k++) {
            KK_CHECK_EQ_INT(kk_step(s.model, copy, fresh, NULL, &s.error), KK_OK);
        }
        stage_run(&s, 5, NULL);
        KK_CHECK(memcmp(kk_state_q(copy), kk_state_q(s.state), sizeof(double) * 7 * PLANKS) == 0);
        KK_CHECK(memcmp(kk_state_v(copy), kk_state_v(s.state), sizeof(double) * 6 * PLANKS) == 0);
        kk_simulator_free(fresh);
    }
    kk_state_free(copy);
    stage_end(&s);
}

// a budget of sweeps: no failure, and what rests from the start hardly moves
KK_TEST(wide_budget_steps) {
    stage s = tower(0);
    kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10};
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &options, &s.error), KK_OK);
    const double top = stage_q(&s, PLANKS)[6];
    for (int k = 0; k < 100; k++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->factorizations, 0);
    }
    KK_CHECK_NEAR(stage_q(&s, PLANKS)[6], top, 2e-3);
    stage_end(&s);
}

// who asks for few digits gets them, the same motion within them, and pays for no more
KK_TEST(wide_few_digits_cost_less) {
    stage fine = tower(0.02), coarse = tower(0.02);
    const kk_step_options options = {.tolerance = 1e-6};
    KK_CHECK_EQ_INT(kk_simulator_set_options(coarse.simulator, &options, &coarse.error), KK_OK);
    int factors[2] = {0, 0};
    for (int k = 0; k < 40; k++) {
        stage_run(&fine, 1, NULL);
        KK_CHECK_EQ_INT(kk_step(coarse.model, coarse.state, coarse.simulator, NULL, &coarse.error), KK_OK);
        const kk_report f = *kk_simulator_report(fine.simulator), c = *kk_simulator_report(coarse.simulator);
        KK_CHECK(f.residual <= 1e-9 && c.residual <= 1e-6);
        factors[0] += f.factorizations;
        factors[1] += c.factorizations;
    }
    KK_CHECK(factors[1] <= factors[0]);
    for (int i = 0; i < 7 * PLANKS; i++) {
        KK_CHECK_NEAR(kk_state_q(coarse.state)[i], kk_state_q(fine.state)[i], 1e-6);
    }
    stage_end(&fine);
    stage_end(&coarse);
}

/// Layers of balls in a pyramid, just apart, each with a spin of its own.
static stage balls(int wide) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.6, 0);
    int ball[64], count = 0;
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int n = wide; n > 0; n--) {
        for (int i = 0; i < n * n; i++) {
            ball[count++] = stage_ball(&s, 1, 0.1, material);
        }
    }
    kk_spec_options(s.spec)->timestep = 0.002;
    if (stage_ready(&s, NULL)) {
        for (int n = wide, k = 0; n > 0; n--) {
            for (int i = 0; i < n * n; i++, k++) {
                const int row = i / n;
                const double off = 0.1 * (1 - n);
                stage_place(&s, ball[k], off + 0.2 * (i % n), off + 0.2 * row, 0.1 + 0.1415 * (wide - n));
                stage_v(&s, ball[k])[0] = 5 * (k % 3 - 1);
                stage_v(&s, ball[k])[1] = 4 * (k % 2);
            }
        }
    }
    return s;
}

// max_newton bounds what an island costs in a step, however often it is solved again because friction did work on what turns
KK_TEST(wide_factors_are_bounded) {
    enum { MOST = 6 };
    stage s = balls(5);
    const kk_step_options options = {.tolerance = 1e-6, .effort = KK_EFFORT_NEWTON, .iterations = MOST};
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &options, &s.error), KK_OK);
    int most = 0;
    for (int k = 0; k < 30; k++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        const int factors = kk_simulator_report(s.simulator)->factorizations;
        most = s.simulator->islands.count == 1 && factors > most ? factors : most;
    }
    KK_CHECK(most > 0 && most <= MOST);
    stage_end(&s);
}

/// A bin with SIDE³ balls in columns that are not quite straight.
enum { SIDE = 5 };

static void add_wall(stage *s, double x, double y, int material) {
    kk_shape_def def = kk_shape_def_default();
    def.type = KK_SHAPE_BOX;
    def.body = KK_WORLD;
    def.size[0] = x == 0 ? 2 : 0.2;
    def.size[1] = y == 0 ? 2 : 0.2;
    def.size[2] = 3;
    def.placement.p = kk_vec3_make(x, y, 1.5);
    def.material = material;
    KK_CHECK_EQ_INT(kk_spec_add_shape(s->spec, &def, NULL, &s->error), KK_OK);
}

static double shake(uint32_t *seed) {
    *seed = 1664525 * *seed + 1013904223;
    return 1e-3 * ((*seed >> 8) / 8388608.0 - 1);
}

static stage bin(uint32_t seed) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    int ball[SIDE * SIDE * SIDE];
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int k = -1; k <= 1; k += 2) {
        add_wall(&s, 0.745 * k, 0, material);
        add_wall(&s, 0, 0.745 * k, material);
    }
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        ball[i] = stage_ball(&s, 10, 0.1, material);
    }
    kk_spec_options(s.spec)->timestep = 0.002;
    if (stage_ready(&s, NULL)) {
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
            const int slice = i / (SIDE * SIDE);
            const double x = shake(&seed), y = shake(&seed);
            stage_place(&s, ball[i], 0.21 * (i / SIDE % SIDE - 2) + x, 0.21 * (slice - 2) + y,
                        0.101 + 0.21 * (i % SIDE));
        }
    }
    return s;
}

// a pile that ten sweeps a step held up gives way to Coulomb's law: dozens of contacts slip at once, the walks' path folds, and the flow behind them
// solves the step as a whole
KK_TEST(wide_piles_give_way_in_whole_steps) {
    stage s = bin(2);
    const kk_step_options sweeps = {.effort = KK_EFFORT_SWEEPS, .iterations = 10, .detection = KK_DETECTION_DISCRETE},
                          proved = {.tolerance = 1e-6};
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &sweeps, &s.error), KK_OK);
    for (int k = 0; k < 900; k++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &proved, &s.error), KK_OK);
    int parts = 0;
    for (int k = 0; k < 30; k++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        parts += kk_simulator_report(s.simulator)->substeps;
    }
    KK_CHECK(parts <= 32);
    stage_end(&s);
}

/// Boxes of all sizes, turned any way, above each other in a narrow bin.
enum { BOXES = 54 };

static double any(uint32_t *seed) {
    return 1e3 * shake(seed);
}

static void throw_in(stage *s, int box, int number, uint32_t *seed) {
    double *q = stage_q(s, box);
    const double x = any(seed), y = any(seed), z = any(seed), f = 1 / kk_sqrt(1 + x * x + y * y + z * z);
    q[0] = f;
    q[1] = f * x;
    q[2] = f * y;
    q[3] = f * z;
    const int layer = number / 9;
    q[4] = 0.16 * (number % 3 - 1);
    q[5] = 0.16 * (number / 3 % 3 - 1);
    q[6] = 0.12 + 0.17 * layer;
}

static stage crate(uint32_t seed) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    int box[BOXES];
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int k = -1; k <= 1; k += 2) {
        add_wall(&s, 0.4 * k, 0, material);
        add_wall(&s, 0, 0.4 * k, material);
    }
    for (int i = 0; i < BOXES; i++) {
        const double x = 0.1 + 0.03 * any(&seed), y = 0.1 + 0.03 * any(&seed), z = 0.1 + 0.03 * any(&seed);
        box[i] = stage_box(&s, 1, x, y, z, material);
    }
    kk_spec_options(s.spec)->timestep = 0.002;
    if (stage_ready(&s, NULL)) {
        for (int i = 0; i < BOXES; i++) {
            throw_in(&s, box[i], i, &seed);
        }
    }
    return s;
}

// faces that close the last micrometers of the dead band would contradict others by nanometers a second, and no step would be solved to 1e-9 as a whole
KK_TEST(wide_piles_fall_to_many_digits) {
    stage s = crate(2);
    const kk_step_options sweeps = {.effort = KK_EFFORT_SWEEPS, .iterations = 10, .detection = KK_DETECTION_DISCRETE},
                          proved = {0};
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &sweeps, &s.error), KK_OK);
    for (int k = 0; k < 200; k++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &proved, &s.error), KK_OK);
    for (int k = 0; k < 40; k++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        const kk_report r = *kk_simulator_report(s.simulator);
        KK_CHECK_EQ_INT(r.substeps, 1);
        KK_CHECK(r.largest_island > 128);
    }
    stage_end(&s);
}

static void count_begins(kk_simulator *s, kk_stage behind, void *user) {
    (void)s;
    *(int *)user += behind == KK_STAGE_BEGIN;
}

/// A ball comes down on a block, fast enough to be followed; how often its next step begins, and its parts.
static int begins(double along, double down, int *parts) {
    stage s = stage_begin(0);
    const int material = stage_material(&s, 0, 0), block = stage_shape(&s, KK_SHAPE_BOX, KK_WORLD, 2, 2, 2, material),
              ball = stage_ball(&s, 1, 0.1, material);
    int count = 0;
    (void)block;
    kk_spec_options(s.spec)->timestep = 0.001;
    if (stage_ready(&s, NULL)) {
        stage_place(&s, ball, 0, 0, 1.11);
        stage_v(&s, ball)[3] = along;
        stage_v(&s, ball)[5] = -down;
        s.simulator->hooks.probe = count_begins;
        s.simulator->hooks.probe_user = &count;
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        *parts = kk_simulator_report(s.simulator)->substeps;
        KK_CHECK(stage_q(&s, ball)[6] > 1.09);
    }
    stage_end(&s);
    return count;
}

// what glances off is seen in the whole step, which is begun once; what comes head-on is looked for once and met in parts, of which only the last needs no look of its own
KK_TEST(fast_pairs_are_looked_for_once) {
    int parts = 0;
    KK_CHECK_EQ_INT(begins(100, 30, &parts), 1);
    KK_CHECK_EQ_INT(parts, 1);
    const int count = begins(0, 300, &parts);
    KK_CHECK(parts > 1);
    KK_CHECK_EQ_INT(count, 2 * parts - 1);
}

/// A plate of one centimeter, ten meters aside.
static void add_plate(stage *s, int material) {
    kk_shape_def def = kk_shape_def_default();
    def.type = KK_SHAPE_BOX;
    def.body = KK_WORLD;
    def.size[0] = def.size[1] = 2;
    def.size[2] = 0.01;
    def.placement.p = kk_vec3_make(10, 0, 0);
    def.material = material;
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_shape(s->spec, &def, &id, &s->error), KK_OK);
}

// a ball that touches a block, glancing or head-on, takes longer to be seen than a bullet takes to its plate
KK_TEST(a_fast_pair_does_not_hide_another) {
    for (int down = 0; down <= 80; down += 10) {
        stage s = stage_begin(0);
        const int material = stage_material(&s, 0, 0);
        stage_shape(&s, KK_SHAPE_BOX, KK_WORLD, 2, 2, 2, material);
        add_plate(&s, material);
        const int ball = stage_ball(&s, 1, 0.1, material), bullet = stage_ball(&s, 1, 0.01, material);
        kk_spec_options(s.spec)->timestep = 0.001;
        if (stage_ready(&s, NULL)) {
            stage_place(&s, ball, 0, 0, 1.1001);
            stage_place(&s, bullet, 10, 0, down < 50 ? 0.3 : 0.2);
            stage_v(&s, ball)[3] = 100;
            stage_v(&s, ball)[5] = -down;
            stage_v(&s, bullet)[5] = -400;
            KK_CHECK(stage_run(&s, 3, NULL));
            KK_CHECK(stage_q(&s, bullet)[6] > 0.01);
        }
        stage_end(&s);
    }
}
