// Many simulations of one model: each is what kk_step makes of it alone, to the last bit, whoever steps it and
// whatever becomes of the others.
#include <string.h>

#include "../simulate/stage.h"
#include "robots.h"
#include "support/allocations.h"

enum { MANY = 13 };

/// A cart of a box on the ground with an arm of two hinges on it, driven through a filter; a ball beside it; a noisy
/// sensor.
static stage yard(void) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.6, 0.2);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const int cart = stage_box(&s, 2, 0.3, 0.2, 0.1, material);
    stage_ball(&s, 0.5, 0.06, material);
    const kk_inertia rod = kk_inertia_solid_box(0.3, 0.02, 0.02, 0.2);
    const int upper = stage_hinge(&s, "upper", cart, kk_vec3_make(0, 0, 0.1), kk_vec3_make(0, 1, 0), rod);
    stage_hinge(&s, "lower", upper, kk_vec3_make(0, 0, 0.2), kk_vec3_make(0, 1, 0), rod);
    kk_actuator_def motor = kk_actuator_def_default();
    motor.name = "motor";
    motor.target = "upper_joint";
    motor.activation = KK_ACTIVATION_FILTER;
    motor.time_constant = 0.02;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(s.spec, &motor, NULL, &s.error), KK_OK);
    kk_sensor_def sensor = kk_sensor_def_default();
    sensor.target = "upper_joint";
    sensor.noise = 0.01;
    KK_CHECK_EQ_INT(kk_spec_add_sensor(s.spec, &sensor, NULL, &s.error), KK_OK);
    kk_spec_options(s.spec)->timestep = 0.005;
    stage_ready(&s, NULL);
    return s;
}

/// Where simulation i starts: above the ground, the higher the later, and turning.
static void place(const kk_model *m, int i, double *q, double *v) {
    kk_model_start(m, q);
    double *cart = q + kk_model_joint(m, 1).q_index, *ball = q + kk_model_joint(m, 2).q_index;
    cart[6] = 0.06 + 0.01 * i;
    ball[4] = 1;
    ball[6] = 0.07 + 0.02 * i;
    for (int k = 0; k < kk_model_nv(m); k++) {
        v[k] = 0.4 * kk_random_uniform_at(7, (uint64_t)i, (uint64_t)k) - 0.2;
    }
}

static double control_of(int i, int round) {
    return 4 * kk_random_uniform_at(8, (uint64_t)i, (uint64_t)round) - 2;
}

static kk_simulations *simulations_of(stage *s, int count, const kk_simulations_def *def) {
    kk_simulations *many = NULL;
    KK_CHECK_EQ_INT(kk_simulations_create(s->model, count, def, NULL, &many, &s->error), KK_OK);
    const int nq = kk_model_nq(s->model), nv = kk_model_nv(s->model);
    for (int i = 0; i < count && many; i++) {
        place(s->model, i, kk_simulations_q(many) + i * nq, kk_simulations_v(many) + i * nv);
    }
    return many;
}

static void drive(kk_simulations *many, int count, int round) {
    for (int i = 0; i < count; i++) {
        kk_simulations_control(many)[i] = control_of(i, round);
    }
}

/// The hash of a simulation's whole state.
static uint64_t hash_of(stage *s, const kk_simulations *many, int i) {
    KK_CHECK_EQ_INT(kk_simulations_get_state(many, i, s->state), KK_OK);
    return kk_state_hash(s->state);
}

/// Simulation i by itself: so many rounds of so many steps. @param reading  [1] result
static uint64_t alone(stage *s, int i, int rounds, int substeps, uint64_t seed, double *reading) {
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    KK_CHECK_EQ_INT(kk_state_create(s->model, NULL, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(s->model, NULL, NULL, &simulator, &s->error), KK_OK);
    place(s->model, i, kk_state_q(state), kk_state_v(state));
    for (int round = 0; round < rounds; round++) {
        const double control = control_of(i, round);
        for (int k = 0; k < substeps; k++) {
            KK_CHECK_EQ_INT(kk_step(s->model, state, simulator, &(kk_input){.control = &control}, &s->error), KK_OK);
        }
    }
    KK_CHECK_EQ_INT(kk_simulator_read_sensors(simulator, state, seed + (uint64_t)i, reading, &s->error), KK_OK);
    const uint64_t hash = kk_state_hash(state);
    kk_simulator_free(simulator);
    kk_state_free(state);
    return hash;
}

KK_TEST(simulations_are_steps_of_each_alone) {
    stage s = yard();
    kk_simulations *many = simulations_of(&s, MANY, &(kk_simulations_def){.sensors = 1, .seed = 5});
    const int rounds = 30, substeps = 4;
    for (int round = 0; round < rounds && many; round++) {
        drive(many, MANY, round);
        KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, substeps, &s.error), KK_OK);
    }
    for (int i = 0; i < MANY && many; i++) {
        double reading = 0;
        const uint64_t expected = alone(&s, i, rounds, substeps, 5, &reading);
        KK_CHECK(hash_of(&s, many, i) == expected);
        KK_CHECK_BITS(kk_simulations_sensor_data(many)[i], reading);
        KK_CHECK_BITS(kk_simulations_time(many)[i], kk_state_time(s.state));
        KK_CHECK_EQ_INT(kk_simulations_results(many)[i].substeps, substeps);
    }
    kk_simulations_free(many);
    stage_end(&s);
}

// forces that are zero are no forces, to the last bit
KK_TEST(zero_forces_are_none) {
    const robots_forest_def def = robots_forest_def_default();
    for (uint64_t seed = 0; seed < 40; seed++) {
        stage s = stage_begin(9.81);
        KK_CHECK_EQ_INT(robots_random_forest(s.spec, seed, &def, &s.error), KK_OK);
        stage_ready(&s, NULL);
        kk_model_random_q(s.model, seed, 0, kk_state_q(s.state));
        static const double tau[256] = {0};
        static const kk_force wrench[64] = {{{0, 0, 0}, {0, 0, 0}}};
        uint64_t hash[2] = {0, 0};
        kk_state *start = NULL;
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &start), KK_OK);
        KK_CHECK_EQ_INT(kk_state_copy(start, s.state), KK_OK);
        for (int k = 0; k < 2; k++) {
            const kk_input zeros = {.tau = tau, .wrench = wrench};
            KK_CHECK_EQ_INT(kk_state_copy(s.state, start), KK_OK);
            for (int i = 0; i < 5; i++) {
                KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, k ? &zeros : NULL, &s.error), KK_OK);
            }
            hash[k] = kk_state_hash(s.state);
        }
        KK_CHECK(hash[0] == hash[1]);
        kk_state_free(start);
        stage_end(&s);
    }
}

// ---- threads

typedef struct backwards {
    int workers, calls;
} backwards;

/// Pieces from the last to the first, each by the next worker.
static void run_backwards(void *user, kk_task *task, void *context, int count) {
    backwards *b = user;
    b->calls++;
    for (int i = count - 1; i >= 0; i--) {
        task(context, i, (i + b->calls) % b->workers);
    }
}

static uint64_t run_by(int workers, uint64_t hash[MANY]) {
    backwards order = {.workers = workers};
    stage s = yard();
    const kk_simulations_def def = {
        .step.workers = {.count = workers, .run = run_backwards, .user = &order}, .sensors = 1, .poses = 1};
    kk_simulations *many = simulations_of(&s, MANY, &def);
    for (int round = 0; round < 20 && many; round++) {
        drive(many, MANY, round);
        KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, 3, &s.error), KK_OK);
    }
    KK_CHECK_EQ_INT(order.calls > 0, workers > 1);
    uint64_t shown = 0;
    for (int i = 0; i < MANY && many; i++) {
        hash[i] = hash_of(&s, many, i);
    }
    if (many) {
        const size_t nbody = (size_t)kk_model_nbody(s.model);
        shown = kk_hash_doubles(kk_simulations_poses(many), MANY * nbody * 7, 0);
        shown = kk_hash_doubles(kk_simulations_velocities(many), MANY * nbody * 6, shown);
        shown = kk_hash_doubles(kk_simulations_sensor_data(many), MANY, shown);
    }
    kk_simulations_free(many);
    stage_end(&s);
    return shown;
}

KK_TEST(simulations_have_the_same_bits_for_any_number_of_workers) {
    uint64_t one[MANY], others[MANY];
    const uint64_t shown = run_by(1, one);
    for (int workers = 2; workers <= 4; workers++) {
        KK_CHECK(run_by(workers, others) == shown);
        KK_CHECK(memcmp(one, others, sizeof one) == 0);
    }
}

// ---- rollouts

enum { ROUNDS = 12, SUBSTEPS = 3, SOME = 5 };

/// A rollout of some simulations against as many steps by hand; the same bits in every row.
static void check_rollout(int workers, int fails) {
    static const int32_t index[SOME] = {7, 0, 12, 3, 4};
    backwards order = {.workers = workers};
    const kk_simulations_def def = {.step.workers = {.count = workers, .run = run_backwards, .user = &order},
                                    .seed = 2};
    const kk_simulations_def by_hand = {.sensors = 1, .seed = 2};
    stage s = yard();
    kk_simulations *a = simulations_of(&s, MANY, &def), *b = simulations_of(&s, MANY, &by_hand);
    enum { MOST = 32 };
    const int nq = kk_model_nq(s.model), nv = kk_model_nv(s.model);
    static double control[SOME * ROUNDS], q[SOME * ROUNDS * MOST], v[SOME * ROUNDS * MOST], sensor_data[SOME * ROUNDS];
    for (int k = 0; k < SOME * ROUNDS; k++) {
        control[k] = control_of(k / ROUNDS, k % ROUNDS);
    }
    control[3 * ROUNDS + 5] = fails ? __builtin_nan("") : control[3 * ROUNDS + 5];
    const kk_status status =
        kk_simulations_rollout(a, index, SOME, ROUNDS, SUBSTEPS, control, q, v, sensor_data, &s.error);
    KK_CHECK_EQ_INT(status, fails ? KK_NOT_FINITE : KK_OK);
    KK_CHECK(!fails || strncmp(s.error.text, "simulation 3: ", 14) == 0);
    for (int t = 0; t < ROUNDS; t++) {
        for (int k = 0; k < SOME; k++) {
            kk_simulations_control(b)[index[k]] = control[k * ROUNDS + t];
        }
        kk_simulations_step(b, index, SOME, SUBSTEPS, NULL);
        for (int k = 0; k < SOME && !(fails && t >= 5); k++) {
            const int at = k * ROUNDS + t, i = index[k];
            KK_CHECK_BYTES(q + at * nq, kk_simulations_q(b) + i * nq, (size_t)nq * sizeof *q);
            KK_CHECK_BYTES(v + at * nv, kk_simulations_v(b) + i * nv, (size_t)nv * sizeof *v);
            KK_CHECK_BITS(sensor_data[at], kk_simulations_sensor_data(b)[i]);
        }
    }
    KK_CHECK_EQ_INT(kk_simulations_results(a)[3].substeps, fails ? 5 * SUBSTEPS : ROUNDS * SUBSTEPS);
    KK_CHECK_BITS(q[(3 * ROUNDS + 5) * nq], fails ? q[(3 * ROUNDS + 4) * nq] : q[(3 * ROUNDS + 5) * nq]);
    KK_CHECK(hash_of(&s, a, 12) == hash_of(&s, b, 12));
    KK_CHECK_BITS(kk_simulations_time(a)[1], 0); // not named
    kk_simulations_free(a);
    kk_simulations_free(b);
    stage_end(&s);
}

KK_TEST(simulations_roll_out_as_they_step) {
    for (int workers = 1; workers <= 3; workers++) {
        check_rollout(workers, 0);
        check_rollout(workers, 1);
    }
    stage s = yard();
    kk_simulations *many = simulations_of(&s, 2, NULL);
    const double control[4] = {0};
    KK_CHECK_EQ_INT(kk_simulations_rollout(many, NULL, 2, 2, 1, control, NULL, NULL, NULL, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulations_rollout(many, NULL, 2, 2, 1, NULL, NULL, NULL, NULL, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_simulations_rollout(many, NULL, 2, -1, 1, control, NULL, NULL, NULL, &s.error),
                    KK_INVALID_ARGUMENT);
    kk_simulations_free(many);
    stage_end(&s);
}

// ---- some of them

KK_TEST(simulations_step_by_index) {
    stage s = yard();
    kk_simulations *all = simulations_of(&s, MANY, NULL), *some = simulations_of(&s, MANY, NULL);
    const int32_t index[] = {9, 2, 5};
    uint64_t before[MANY];
    for (int i = 0; i < MANY; i++) {
        before[i] = hash_of(&s, some, i);
    }
    KK_CHECK_EQ_INT(kk_simulations_step(all, NULL, MANY, 7, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulations_step(some, index, 3, 7, &s.error), KK_OK);
    for (int i = 0; i < MANY; i++) {
        const int moved = i == 9 || i == 2 || i == 5;
        KK_CHECK(hash_of(&s, some, i) == (moved ? hash_of(&s, all, i) : before[i]));
    }
    KK_CHECK_EQ_INT(kk_simulations_step(some, index, 0, 7, &s.error), KK_OK);
    kk_simulations_free(all);
    kk_simulations_free(some);
    stage_end(&s);
}

KK_TEST(simulations_refuse_numbers_that_are_none) {
    stage s = yard();
    kk_simulations *many = simulations_of(&s, 3, NULL);
    const uint64_t before = hash_of(&s, many, 0);
    const int32_t beyond[] = {0, 3}, negative[] = {0, -1}, twice[] = {0, 1, 0}, good[] = {2, 0};
    KK_CHECK_EQ_INT(kk_simulations_step(many, beyond, 2, 1, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK_STR(s.error.text, "index[1] is 3; simulations have numbers from 0 to 2");
    KK_CHECK_EQ_INT(kk_simulations_reset(many, negative, 2, NULL, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_simulations_forward(many, twice, 3, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK_STR(s.error.text, "index[2] is 0, which stands there twice");
    KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, 4, 1, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, 3, -1, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK(hash_of(&s, many, 0) == before);
    KK_CHECK_EQ_INT(kk_simulations_step(many, good, 2, 1, &s.error), KK_OK); // marks of refused calls are gone
    KK_CHECK_EQ_INT(kk_simulations_get_state(many, 3, s.state), KK_NOT_FOUND);
    kk_simulations_free(many);
    many = NULL;
    KK_CHECK_EQ_INT(kk_simulations_create(s.model, 0, NULL, NULL, &many, &s.error), KK_INVALID_ARGUMENT);
    const kk_simulations_def bad = {.step.timestep = -1};
    KK_CHECK_EQ_INT(kk_simulations_create(s.model, 3, &bad, NULL, &many, &s.error), KK_INVALID_ARGUMENT);
    KK_CHECK(!many && strstr(s.error.text, "timestep"));
    stage_end(&s);
}

// ---- what goes wrong

KK_TEST(simulations_that_fail_leave_the_others_whole) {
    for (int workers = 1; workers <= 3; workers++) {
        backwards order = {.workers = workers};
        const kk_simulations_def def = {.step.workers = {.count = workers, .run = run_backwards, .user = &order}};
        stage s = yard();
        kk_simulations *good = simulations_of(&s, MANY, NULL), *bad = simulations_of(&s, MANY, &def);
        drive(good, MANY, 0);
        drive(bad, MANY, 0);
        const uint64_t before = hash_of(&s, bad, 4);
        kk_simulations_control(bad)[11] = kk_simulations_control(bad)[4] = __builtin_nan("");
        KK_CHECK_EQ_INT(kk_simulations_step(good, NULL, MANY, 5, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_simulations_step(bad, NULL, MANY, 5, &s.error), KK_NOT_FINITE);
        KK_CHECK(strncmp(s.error.text, "simulation 4: ", 14) == 0); // not 11, whatever the order
        KK_CHECK(strstr(s.error.text, "motor") != NULL);
        for (int i = 0; i < MANY; i++) {
            const int fails = i == 4 || i == 11;
            const kk_simulation_result r = kk_simulations_results(bad)[i];
            KK_CHECK_EQ_INT(r.status, fails ? KK_NOT_FINITE : KK_OK);
            KK_CHECK_EQ_INT(r.substeps, fails ? 0 : 5);
            KK_CHECK(fails || hash_of(&s, bad, i) == hash_of(&s, good, i));
        }
        KK_CHECK(hash_of(&s, bad, 4) == before);
        kk_simulations_control(bad)[4] = kk_simulations_control(bad)[11] = 0; // and it goes on
        KK_CHECK_EQ_INT(kk_simulations_step(bad, NULL, MANY, 5, &s.error), KK_OK);
        kk_simulations_free(good);
        kk_simulations_free(bad);
        stage_end(&s);
    }
}

// an arm that an enormous torque whirls about is taken as well as it can be, and the result says so
KK_TEST(simulations_tell_of_degraded_steps) {
    stage s = yard();
    kk_simulations *many = simulations_of(&s, 3, NULL);
    kk_simulations_control(many)[1] = 1e7;
    KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, 3, 40, &s.error), KK_OK);
    const kk_simulation_result *r = kk_simulations_results(many);
    KK_CHECK(r[1].degraded > 0 && r[1].quality != KK_STEP_CERTIFIED && r[1].flaw != KK_FLAW_NONE);
    KK_CHECK_EQ_INT(r[0].degraded + r[2].degraded, 0);
    KK_CHECK(r[0].quality == KK_STEP_CERTIFIED && r[0].flaw_body[0] == -1);
    kk_simulations_free(many);
    stage_end(&s);
}

// ---- reset and forward

KK_TEST(simulations_start_again_with_the_same_bits) {
    stage s = yard();
    kk_simulations *many = simulations_of(&s, MANY, NULL);
    kk_state *start = NULL;
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &start), KK_OK);
    place(s.model, 3, kk_state_q(start), kk_state_v(start));
    kk_state_set_time(start, 2);
    uint64_t first = 0;
    for (int round = 0; round < 2; round++) {
        const int32_t index[] = {6};
        KK_CHECK_EQ_INT(kk_simulations_reset(many, index, 1, start, &s.error), KK_OK);
        KK_CHECK(hash_of(&s, many, 6) == kk_state_hash(start));
        KK_CHECK_BITS(kk_simulations_time(many)[6], 2);
        KK_CHECK_BITS(kk_simulations_control(many)[6], 0);
        drive(many, MANY, 3);
        KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, 50, &s.error), KK_OK);
        first = round ? first : hash_of(&s, many, 6);
        KK_CHECK(hash_of(&s, many, 6) == first);
    }
    kk_state_q(start)[0] = __builtin_nan("");
    KK_CHECK_EQ_INT(kk_simulations_reset(many, NULL, MANY, start, &s.error), KK_NOT_FINITE);
    KK_CHECK(hash_of(&s, many, 6) == first);
    kk_state_free(start);
    kk_simulations_free(many);
    stage_end(&s);
}

KK_TEST(simulations_show_poses_without_a_step) {
    stage s = yard();
    kk_simulations *many = simulations_of(&s, MANY, NULL);
    KK_CHECK_EQ_INT(kk_simulations_forward(many, NULL, MANY, &s.error), KK_OK);
    kk_data *data = NULL;
    KK_CHECK_EQ_INT(kk_data_create(s.model, NULL, &data), KK_OK);
    const int nq = kk_model_nq(s.model), nv = kk_model_nv(s.model), nbody = kk_model_nbody(s.model);
    for (int i = 0; i < MANY; i++) {
        kk_kinematics_velocity(s.model, data, kk_simulations_q(many) + i * nq, kk_simulations_v(many) + i * nv);
        for (int b = 0; b < nbody; b++) {
            const kk_transform X = kk_body_pose(s.model, data, b);
            const kk_quat turn = kk_quat_from_mat3(X.R);
            const kk_motion V = kk_body_velocity(s.model, data, b, KK_WORLD_ALIGNED);
            const double *pose = kk_simulations_poses(many) + 7 * (i * nbody + b);
            const double *velocity = kk_simulations_velocities(many) + 6 * (i * nbody + b);
            KK_CHECK_BITS(pose[0], turn.w);
            KK_CHECK_BITS(pose[3], turn.z);
            KK_CHECK_BITS(pose[4], X.p.x);
            KK_CHECK_BITS(pose[6], X.p.z);
            KK_CHECK_BITS(velocity[1], V.angular.y);
            KK_CHECK_BITS(velocity[5], V.linear.z);
        }
    }
    kk_simulations_q(many)[2 * nq] = 3; // no unit quaternion
    KK_CHECK(kk_simulations_forward(many, NULL, MANY, &s.error) != KK_OK);
    KK_CHECK(strncmp(s.error.text, "simulation 2: ", 14) == 0);
    kk_data_free(data);
    kk_simulations_free(many);
    stage_end(&s);
}

// ---- memory

KK_TEST(simulations_with_room_step_without_allocating) {
    if (allocations_so_far() < 0) {
        KK_SKIP("allocations are not counted here");
    }
    stage s = yard();
    const kk_simulations_def def = {.room = {.contacts = 64}, .sensors = 1, .poses = 1};
    kk_simulations *many = simulations_of(&s, MANY, &def);
    const long before = allocations_so_far();
    KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, 20, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulations_reset(many, NULL, MANY, NULL, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulations_forward(many, NULL, MANY, &s.error), KK_OK);
    KK_CHECK_EQ_INT(allocations_so_far() - before, 0);
    kk_simulations_free(many);
    stage_end(&s);
}

KK_TEST(simulations_allocate_nothing_once_there_is_room) {
    if (allocations_so_far() < 0) {
        KK_SKIP("allocations are not counted here");
    }
    stage s = yard();
    kk_simulations *many = simulations_of(&s, MANY, &(kk_simulations_def){.sensors = 1, .poses = 1});
    long before = 0;
    for (int k = 0; k < 3; k++) { // room grows by itself, from where they were put first and from the start
        before = allocations_so_far();
        KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, 20, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_simulations_reset(many, NULL, MANY, NULL, &s.error), KK_OK);
    }
    KK_CHECK_EQ_INT(allocations_so_far() - before, 0);
    kk_simulations_free(many);
    stage_end(&s);
}

KK_TEST(simulations_survive_every_failed_allocation) {
    stage s = yard();
    backwards order = {.workers = 2};
    const kk_simulations_def def = {.step.workers = {.count = 2, .run = run_backwards, .user = &order}};
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    kk_simulations *many = NULL;
    KK_CHECK_EQ_INT(kk_simulations_create(s.model, 2, &def, &allocator, &many, &s.error), KK_OK);
    kk_simulations_free(many);
    const int calls = f.calls;
    for (int k = 0; k < calls; k++) {
        f = (faulty){.fail_at = k};
        KK_CHECK_EQ_INT(kk_simulations_create(s.model, 2, &def, &allocator, &many, &s.error), KK_OUT_OF_MEMORY);
        KK_CHECK(many == NULL);
        KK_CHECK_EQ_INT(f.blocks, 0);
    }
    stage_end(&s);
}

// ---- what a step ends with beside the state

static const kk_body_ray eyes[] = {
    {.body = 1, .axes = KK_RAY_YAW, .origin = {0, 0, 1}, .direction = {0, 0, -1}, .limit = 5},
    {.body = 1, .axes = KK_RAY_YAW, .origin = {0, 0, 1}, .direction = {0, 0, -1}, .limit = 5, .sees_all = 1},
    {.body = 1, .axes = KK_RAY_BODY, .direction = {0, 0, 1}, .limit = 0.5},
    {.body = 1, .axes = KK_RAY_WORLD, .origin = {0, 0, 1}, .direction = {0, 0, -2}, .limit = 5},
};
enum { EYES = sizeof eyes / sizeof *eyes };

// heights over flat ground are the body's; who sees robots meets the arm first; what meets nothing measures its limit
KK_TEST(simulations_cast_rays_with_their_bodies) {
    stage s = yard();
    kk_simulations *many = simulations_of(&s, MANY, &(kk_simulations_def){.ray = eyes, .ray_count = EYES, .poses = 1});
    KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, 4, &s.error), KK_OK);
    for (int i = 0; i < MANY; i++) {
        const double *d = kk_simulations_distances(many) + i * EYES;
        const double z = kk_simulations_poses(many)[(i * kk_model_nbody(s.model) + 1) * 7 + 6];
        KK_CHECK_NEAR(d[0], z + 1, 1e-12);
        KK_CHECK(d[1] < d[0] - 0.1);
        KK_CHECK_NEAR(d[2], 0.5, 0);
        KK_CHECK_NEAR(d[3], 0.5 * (z + 1), 1e-12);
    }
    kk_simulations_free(many);
    const kk_body_ray blind = {.body = 1, .limit = 0}, nobody = {.body = 99, .limit = 1};
    KK_CHECK_EQ_INT(
        kk_simulations_create(s.model, 1, &(kk_simulations_def){.ray = &blind, .ray_count = 1}, NULL, &many, &s.error),
        KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(
        kk_simulations_create(s.model, 1, &(kk_simulations_def){.ray = &nobody, .ray_count = 1}, NULL, &many, &s.error),
        KK_INVALID_ARGUMENT);
    stage_end(&s);
}

// the contacts of each are those of a simulator of its own
KK_TEST(simulations_tell_of_contacts) {
    stage s = yard();
    enum { TOLD = 3 };
    kk_simulations *many = simulations_of(&s, MANY, &(kk_simulations_def){.contacts = TOLD});
    KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, 60, &s.error), KK_OK);
    int all = 0;
    for (int i = 0; i < MANY; i++) {
        const int n = kk_simulations_ncontact(many)[i];
        const kk_contact *row = kk_simulations_contacts(many) + i * TOLD;
        all += n;
        for (int k = 0; k < n && k < TOLD; k++) {
            KK_CHECK(row[k].shape[0] != row[k].shape[1] && row[k].gap < 0.01);
        }
        for (int k = n; k < TOLD; k++) {
            KK_CHECK(row[k].force.z == 0 && row[k].gap == 0);
        }
    }
    KK_CHECK(all > MANY);
    KK_CHECK_EQ_INT(kk_simulations_reset(many, NULL, MANY, NULL, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulations_ncontact(many)[0], 0);
    kk_simulations_free(many);
    stage_end(&s);
}

static kk_status swing(void *user, const kk_moment *now) {
    now->control[0] = control_of(now->simulation, (int)(now->time / 0.005 + 0.5));
    return now->simulation == *(const int *)user && now->substep == 3 ? KK_UNSUPPORTED : KK_OK;
}

// a controller between substeps is the same as controls from outside, one step at a time; where it gives up, that simulation ends alone
KK_TEST(simulations_ask_a_controller_before_every_substep) {
    stage s = yard();
    int quits = -1;
    const kk_simulations_def def = {.controller = swing, .controller_user = &quits};
    kk_simulations *asked = simulations_of(&s, MANY, &def), *told = simulations_of(&s, MANY, NULL);
    KK_CHECK_EQ_INT(kk_simulations_step(asked, NULL, MANY, 12, &s.error), KK_OK);
    for (int k = 0; k < 12; k++) {
        drive(told, MANY, k);
        KK_CHECK_EQ_INT(kk_simulations_step(told, NULL, MANY, 1, &s.error), KK_OK);
    }
    for (int i = 0; i < MANY; i++) {
        const uint64_t one = hash_of(&s, asked, i);
        KK_CHECK(one == hash_of(&s, told, i));
    }
    quits = 5;
    KK_CHECK_EQ_INT(kk_simulations_step(asked, NULL, MANY, 12, &s.error), KK_UNSUPPORTED);
    KK_CHECK(strstr(s.error.text, "simulation 5") != NULL);
    KK_CHECK_EQ_INT(kk_simulations_results(asked)[5].substeps, 3);
    KK_CHECK_EQ_INT(kk_simulations_results(asked)[6].substeps, 12);
    kk_simulations_free(asked);
    kk_simulations_free(told);
    stage_end(&s);
}
