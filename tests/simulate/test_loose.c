// Loose bodies with a budget of sweeps: columns stand, weights are borne, momentum stays, and what is not loose goes another way.
#include <string.h>

#include "simulate/simulator.h"
#include "stage.h"

enum { HIGH = 10 };

static stage column(const kk_step_options *options, double friction, double restitution) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, friction, restitution);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    int body[HIGH];
    for (int i = 0; i < HIGH; i++) {
        body[i] = stage_box(&s, 1, 0.1, 0.1, 0.1, material);
    }
    kk_spec_options(s.spec)->timestep = 0.01;
    if (stage_ready(&s, options)) {
        for (int i = 0; i < HIGH; i++) {
            stage_place(&s, body[i], 0, 0, 0.05 + 0.1 * i);
        }
    }
    return s;
}

/// stage_run asks for what a budget does not promise.
static void run(stage *s, int steps) {
    for (int i = 0; i < steps && s->simulator; i++) {
        if (!KK_CHECK_EQ_INT(kk_step(s->model, s->state, s->simulator, NULL, &s->error), KK_OK)) {
            return;
        }
    }
}

static double ground_force(const stage *s) {
    double sum = 0;
    for (int i = 0; i < kk_simulator_ncontact(s->simulator); i++) {
        const kk_contact c = kk_simulator_contacts(s->simulator)[i];
        sum += c.body[0] == KK_WORLD ? c.force.z : 0;
    }
    return sum;
}

// ten sweeps over the whole step would let it buckle within two seconds
KK_TEST(loose_column_stands_on_ten_sweeps) {
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10};
    stage s = column(&options, 1, 0);
    run(&s, kk_test_is_quick() ? 300 : 600);
    const kk_report r = *kk_simulator_report(s.simulator);
    KK_CHECK_EQ_INT(s.simulator->free_bodies.npoint, 4 * HIGH);
    KK_CHECK_EQ_INT(s.simulator->constraints.count, 0);
    KK_CHECK_EQ_INT(r.islands, 1);
    KK_CHECK_EQ_INT(r.rows, 12 * HIGH);
    KK_CHECK_EQ_INT(r.sweeps, 10);
    KK_CHECK(r.residual > 0 && r.residual < 2e-3);
    KK_CHECK(r.penetration < 3e-4);
    KK_CHECK_NEAR(ground_force(&s), HIGH * 9.81, 0.1);
    for (int i = 0; i < HIGH; i++) {
        const double *q = stage_q(&s, i + 1);
        KK_CHECK_NEAR(q[4], 0, 3e-3);
        KK_CHECK_NEAR(q[5], 0, 3e-3);
        KK_CHECK_NEAR(q[6], 0.05 + 0.1 * i, 2e-3);
    }
    stage_end(&s);
}

// the work of impulses is what the kinetic energy does not get of gravity
KK_TEST(loose_bodies_keep_the_books_of_energy) {
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10};
    stage s = column(&options, 0.5, 0);
    for (int i = 0; i < HIGH; i++) {
        stage_v(&s, i + 1)[3] = 0.2 * (i % 3);
    }
    for (int i = 0; i < 30; i++) {
        double fall = 0;
        run(&s, 1);
        const kk_report r = *kk_simulator_report(s.simulator);
        for (int b = 0; b < HIGH; b++) { // of gravity: weight times the mean velocity
            const int dof = s.model->node[1 + b].v_index;
            const kk_mat3 R = kki_mat3(kki_pose_of(s.simulator->data, 1 + b)->R);
            for (int k = 0; k < 3; k++) {
                fall -= 9.81 * 0.01 * 0.5 * R.m[6 + k] *
                        (s.simulator->motion.v_before[dof + 3 + k] + s.simulator->motion.v_after[dof + 3 + k]);
            }
        }
        KK_CHECK_NEAR(r.kinetic_after - r.kinetic_before, r.constraint_work + fall, 1e-12);
    }
    stage_end(&s);
}

// What a step leaves in the simulator must not be felt by the next: forces along joints, wrenches, and what readers make of them. Beside it a simulator that is new
// in every step.
KK_TEST(loose_bodies_forget_the_forces_of_the_last_step) {
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10};
    stage s = column(&options, 0.5, 0), fresh = column(&options, 0.5, 0);
    double tau[6 * HIGH] = {0};
    kk_force wrench[HIGH + 1] = {0};
    tau[6 * (HIGH - 1) + 3] = 3;
    wrench[HIGH].linear.x = -2;
    wrench[2].angular.z = 0.1;
    for (int i = 0; i < 24; i++) {
        const kk_input input = {.tau = i & 1 ? tau : NULL, .wrench = i & 2 ? wrench : NULL};
        if (i == 12) { // the upper half flies from here on
            for (int k = HIGH / 2; k < HIGH; k++) {
                stage_q(&s, k + 1)[6] += 0.5;
                stage_q(&fresh, k + 1)[6] += 0.5;
            }
        }
        kk_simulator_free(fresh.simulator);
        KK_CHECK_EQ_INT(kk_simulator_create(fresh.model, &options, NULL, &fresh.simulator, &fresh.error), KK_OK);
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_step(fresh.model, fresh.state, fresh.simulator, &input, &fresh.error), KK_OK);
        KK_CHECK(kk_state_hash(s.state) == kk_state_hash(fresh.state));
        if (i % 3 == 0) {
            const double *a = kk_simulator_force(s.simulator, KK_FORCE_CONTACT),
                         *b = kk_simulator_force(fresh.simulator, KK_FORCE_CONTACT);
            KK_CHECK(memcmp(a, b, 6 * HIGH * sizeof *a) == 0);
        }
    }
    stage_end(&s);
    stage_end(&fresh);
}

// accelerations of crowds are made when somebody asks
KK_TEST(loose_bodies_have_accelerations) {
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10};
    stage s = column(&options, 0.5, 0);
    for (int i = 0; i < HIGH; i++) {
        stage_q(&s, i + 1)[6] += 1;
    }
    KK_CHECK_BITS(kk_simulator_acceleration(s.simulator)[5], 0);
    run(&s, 3);
    for (int i = 0; i < HIGH; i++) {
        KK_CHECK_NEAR(kk_simulator_acceleration(s.simulator)[6 * i + 5], -9.81, 1e-12);
    }
    stage_end(&s);
}

KK_TEST(loose_bodies_that_collide_in_flight_keep_their_momentum) {
    stage s = stage_begin(0);
    const int material = stage_material(&s, 0.5, 0);
    int body[4];
    for (int i = 0; i < 4; i++) {
        body[i] = i % 2 ? stage_ball(&s, 1 + i, 0.05, material) : stage_box(&s, 1 + i, 0.1, 0.08, 0.06, material);
    }
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10};
    kk_vec3 p = {0, 0, 0};
    int met = 0;
    if (stage_ready(&s, &options)) {
        for (int i = 0; i < 4; i++) {
            stage_place(&s, body[i], 0.12 * i, 0.01 * i, 0);
            stage_v(&s, body[i])[3] = 1.0 - 0.6 * i;
            p.x += (1 + i) * (1.0 - 0.6 * i);
        }
        for (int i = 0; i < 200; i++) {
            run(&s, 1);
            met |= s.simulator->free_bodies.npoint > 0;
        }
        const double *v = kk_state_v_const(s.state), *q = kk_state_q_const(s.state);
        for (int i = 0; i < 4; i++) {
            const kk_mat3 R = kk_quat_to_mat3((kk_quat){q[7 * i], q[7 * i + 1], q[7 * i + 2], q[7 * i + 3]});
            const kk_vec3 u = kk_mat3_mul_vec(R, kk_vec3_make(v[6 * i + 3], v[6 * i + 4], v[6 * i + 5]));
            p = kk_vec3_sub(p, kk_vec3_scale(u, 1 + i));
        }
        KK_CHECK(met);
        KK_CHECK_NEAR(kk_vec3_norm(p), 0, 1e-12);
    }
    stage_end(&s);
}

// what bounces is left to the islands, and so is everything without a budget
KK_TEST(loose_is_what_a_sweep_can_do) {
    const kk_step_options budget = {.effort = KK_EFFORT_SWEEPS, .iterations = 10}, none = {.tolerance = 1e-6};
    stage bouncing = column(&budget, 0.5, 0.3), exact = column(&none, 0.5, 0);
    run(&bouncing, 2);
    run(&exact, 2);
    KK_CHECK_EQ_INT(bouncing.simulator->free_bodies.npoint, 0);
    KK_CHECK_EQ_INT(exact.simulator->free_bodies.npoint, 0);
    KK_CHECK(bouncing.simulator->constraints.count > 0);
    KK_CHECK(exact.simulator->constraints.count > 0);
    stage_end(&bouncing);
    stage_end(&exact);
}

// ---- only what overlaps

/// Two balls on a line towards each other, 1 and 3 kg, at 1 and −2 m/s; and enough others far away to make it a swarm.
static stage balls_that_meet(double restitution, const kk_step_options *options, int body[2]) {
    stage s = stage_begin(0);
    const int material = stage_material(&s, 0, restitution);
    body[0] = stage_ball(&s, 1, 0.05, material);
    body[1] = stage_ball(&s, 3, 0.05, material);
    const int other[2] = {stage_ball(&s, 1, 0.05, material), stage_ball(&s, 1, 0.05, material)};
    kk_spec_options(s.spec)->timestep = 0.01;
    if (stage_ready(&s, options)) {
        stage_place(&s, body[1], 0.25, 0, 0);
        stage_place(&s, other[0], 10, 10, 0);
        stage_place(&s, other[1], 10, -10, 0);
        stage_v(&s, body[0])[3] = 1;
        stage_v(&s, body[1])[3] = -2;
    }
    return s;
}

// Newton's law in closed form: v' = (p ∓ m e Δv)/(m₁ + m₂)
KK_TEST(loose_balls_bounce_by_newtons_law) {
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10, .detection = KK_DETECTION_OVERLAP};
    for (int i = 0; i <= 4; i++) {
        const double e = 0.25 * i;
        int body[2];
        stage s = balls_that_meet(e, &options, body);
        int met = 0;
        for (int k = 0; k < 12; k++) {
            run(&s, 1);
            met += s.simulator->free_bodies.npoint;
            KK_CHECK_EQ_INT(s.simulator->constraints.count, 0);
        }
        KK_CHECK(met > 0);
        KK_CHECK_NEAR(stage_v(&s, body[0])[3], (-5 - 3 * e * 3) / 4, 1e-12);
        KK_CHECK_NEAR(stage_v(&s, body[1])[3], (-5 + 1 * e * 3) / 4, 1e-12);
        stage_end(&s);
    }
}

// what will close in the step does not count yet, and what is fast is not followed
KK_TEST(loose_bodies_do_not_touch_before_they_overlap) {
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10, .detection = KK_DETECTION_OVERLAP};
    int body[2];
    stage s = balls_that_meet(0, &options, body);
    stage_v(&s, body[0])[3] = 100; // through the other within a step
    run(&s, 1);
    KK_CHECK_EQ_INT(kk_simulator_ncontact(s.simulator), 0);
    KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->substeps, 1);
    KK_CHECK_NEAR(stage_q(&s, body[0])[4], 1, 1e-12);
    stage_end(&s);
}

// a column with restitution comes to rest on the floor: slow contacts go on with the sweeps' shares
KK_TEST(loose_column_that_could_bounce_stands) {
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = 10, .detection = KK_DETECTION_OVERLAP};
    stage s = column(&options, 1, 0.3);
    run(&s, 200);
    KK_CHECK_EQ_INT(s.simulator->constraints.count, 0);
    KK_CHECK_NEAR(ground_force(&s), HIGH * 9.81, 0.5);
    KK_CHECK_NEAR(stage_q(&s, HIGH)[6], 0.05 + 0.1 * (HIGH - 1), 4e-3);
    stage_end(&s);
}
