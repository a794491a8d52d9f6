// The books of a step: what its audit says adds up, and each entry is what its name says.
#include <math.h>

#include "stage.h"

/// A pendulum of two links with springs and dampers at its hinges, and a servo or a torque at the second.
static int build_pendulum(stage *s, double stiffness, double damping) {
    *s = stage_begin(9.81);
    int parent = KK_WORLD;
    for (int i = 0; i < 2; i++) {
        kk_body_def link = kk_body_def_default();
        link.name = i ? "fore" : "upper";
        link.parent = parent;
        link.joint.axis = kk_vec3_make(0, 1, 0);
        link.joint.placement.p = kk_vec3_make(i ? 0.4 : 0, 0, 0);
        link.joint.dof[0].stiffness = stiffness;
        link.joint.dof[0].damping = damping;
        link.inertia = kk_inertia_solid_box(1, 0.4, 0.05, 0.05);
        link.inertia.com.x = 0.2;
        KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &link, &parent, &s->error), KK_OK);
    }
    return stage_ready(s, &(kk_step_options){.timestep = 2e-3});
}

static double changed_by(const kk_audit *a) {
    return a->kinetic[1] + a->potential[1] - a->kinetic[0] - a->potential[0];
}

static kk_audit step_with(stage *s, double torque) {
    const double tau[2] = {0, torque};
    const kk_input input = {.tau = tau};
    KK_CHECK_EQ_INT(kk_step(s->model, s->state, s->simulator, &input, &s->error), KK_OK);
    return kk_simulator_report(s->simulator)->audit;
}

// after = before + actuators + applied + moved + correction − dissipated + error, to rounding
KK_TEST(audit_adds_up) {
    stage s;
    if (build_pendulum(&s, 30, 0.2)) {
        stage_v(&s, 1)[0] = 3;
        for (int i = 0; i < 300; i++) {
            const kk_audit a = step_with(&s, 2 * sin(0.02 * i));
            const double entries = a.actuators + a.applied + a.moved + a.correction - a.dissipated + a.error;
            KK_CHECK_NEAR(changed_by(&a), entries, 1e-12 * (1 + a.scale));
        }
    }
    stage_end(&s);
}

// a pendulum that hangs and moves slowly swings as the faster one does, in proportion: its energy is less than what its height is rounded by
KK_TEST(audit_leaves_slow_swings_alone) {
    stage s = stage_begin(9.81);
    kk_inertia bob = kk_inertia_solid_sphere(1, 0.05);
    bob.com.z = -0.7;
    const int body = stage_hinge(&s, "pendulum", KK_WORLD, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 1, 0), bob);
    if (stage_ready(&s, &(kk_step_options){.timestep = 1e-3})) {
        const double inertia = 0.7 * 0.7 + 0.4 * 0.05 * 0.05, rate = -9.81 * 0.7 / inertia * 0.5e-6;
        for (double v = 1e-3; v > 1e-9; v *= 0.1) {
            stage_q(&s, body)[0] = 0;
            stage_v(&s, body)[0] = v;
            KK_CHECK_EQ_INT(stage_run(&s, 1, NULL), 1);
            KK_CHECK_NEAR((stage_v(&s, body)[0] - v) / v, rate, 1e-3 * fabs(rate));
        }
    }
    stage_end(&s);
}

// what a simulator knows of the last state's energy is what one that never saw it finds: bits go on as they would have
KK_TEST(audit_goes_on_from_a_copied_state) {
    stage s;
    if (build_pendulum(&s, 0, 0)) {
        stage_v(&s, 1)[0] = 3;
        for (int i = 0; i < 400; i++) {
            kk_state *copy = NULL;
            kk_simulator *fresh = NULL;
            KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &copy), KK_OK);
            KK_CHECK_EQ_INT(kk_simulator_create(s.model, &(kk_step_options){.timestep = 2e-3}, NULL, &fresh, NULL),
                            KK_OK);
            KK_CHECK_EQ_INT(kk_state_copy(copy, s.state), KK_OK);
            KK_CHECK_EQ_INT(stage_run(&s, 1, NULL), 1);
            KK_CHECK_EQ_INT(kk_step(s.model, copy, fresh, NULL, NULL), KK_OK);
            KK_CHECK(kk_state_hash(copy) == kk_state_hash(s.state));
            kk_simulator_free(fresh);
            kk_state_free(copy);
        }
    }
    stage_end(&s);
}

// springs without dampers keep what they are given: nothing is dissipated but by the rule itself, and that is no larger than its error of second order
KK_TEST(audit_of_springs_dissipates_nothing) {
    stage s;
    double dissipated = 0, moved = 0;
    if (build_pendulum(&s, 30, 0)) {
        stage_v(&s, 1)[0] = 3;
        for (int i = 0; i < 500; i++) {
            const kk_audit a = step_with(&s, 0.5);
            dissipated += a.dissipated;
            moved = fmax(moved, a.kinetic[1]);
        }
        KK_CHECK(fabs(dissipated) < 0.02 * moved);
    }
    stage_end(&s);
}

// where nothing overlaps and no loop is open nothing is taken back, in either direction; a torque acts in every step, for what nothing drives is balanced
KK_TEST(audit_corrects_nothing_where_nothing_overlaps) {
    stage s;
    double error = 0;
    if (build_pendulum(&s, 30, 0.2)) {
        stage_v(&s, 1)[0] = 5;
        for (int i = 0; i < 300; i++) {
            const kk_audit a = step_with(&s, 2 * sin(0.1 + 0.02 * i));
            KK_CHECK(a.correction == 0);
            error = fmax(error, fabs(a.error));
        }
        KK_CHECK(error > 0); // the rule's own error has its own entry
    }
    stage_end(&s);
}
