// A step is a transaction: whatever goes wrong in whichever stage, the state stays byte for byte and the error has a name.
#include "simulate/simulator.h"

#include <karakuri/karakuri.h>
#include <string.h>

#include "harness.h"
#include "robots.h"

typedef struct scene {
    kk_model *model;
    kk_state *state, *before;
    kk_simulator *simulator;
} scene;

/// A quadruped with ball feet on a floor, servos, and a box beside it.
static scene make_scene(int strict) {
    const kk_step_options options = {.strict = strict};
    scene s = {0};
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(robots_quadruped(spec, NULL), KK_OK);
    kk_shape_def shape = kk_shape_def_default();
    shape.type = KK_SHAPE_PLANE;
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, NULL, NULL), KK_OK);
    shape.type = KK_SHAPE_SPHERE;
    shape.size[0] = 0.03;
    for (int i = 1; i < kk_spec_body_count(spec); i++) {
        if (strstr(kk_spec_body(spec, i)->name, "foot")) {
            shape.body = i;
            KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, NULL, NULL), KK_OK);
        }
    }
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &s.model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &s.state), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &s.before), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(s.model, &options, NULL, &s.simulator, NULL), KK_OK);
    kk_state_q(s.state)[6] = 0.59 + 0.0004; // legs straight, feet just above the floor
    kk_spec_free(spec);
    return s;
}

static void free_scene(scene *s) {
    kk_simulator_free(s->simulator);
    kk_state_free(s->before);
    kk_state_free(s->state);
    kk_model_free(s->model);
}

typedef struct poison {
    kk_stage stage;
    double value;
    int hits;
} poison;

/// Spoils what the stage has left for the next one.
static void spoil(kk_simulator *s, kk_stage stage, void *user) {
    poison *p = user;
    if (stage != p->stage) {
        return;
    }
    p->hits++;
    switch (stage) {
    case KK_STAGE_BEGIN:
    case KK_STAGE_KINEMATICS:
        s->motion.v[7] = p->value;
        s->motion.q[8] = p->value;
        break;
    case KK_STAGE_FORCES: s->forces.tau[7] = p->value; break;
    case KK_STAGE_FACTOR: s->kick.y_free[7] = s->kick.y_end[7] = s->kick.y_drift[7] = p->value; break;
    case KK_STAGE_DETECT: s->contacts.list[0].point.x = p->value; break;
    case KK_STAGE_CONSTRAIN: s->constraints.part[0].wi[3] = p->value; break;
    case KK_STAGE_SOLVE: s->kick.y_end[7] = s->kick.y_drift[7] = p->value; break;
    default: s->motion.v[7] = p->value; break;
    }
}

static void check_stage(kk_stage stage, double value) {
    scene s = make_scene(1);
    kk_error error = {.status = KK_OK};
    for (int i = 0; i < 40; i++) { // until it stands on something
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &error), KK_OK);
    }
    KK_CHECK(kk_simulator_ncontact(s.simulator) > 0);
    KK_CHECK_EQ_INT(kk_state_copy(s.before, s.state), KK_OK);
    poison p = {stage, value, 0};
    s.simulator->hooks.probe = spoil;
    s.simulator->hooks.probe_user = &p;
    const kk_status status = kk_step(s.model, s.state, s.simulator, NULL, &error);
    KK_CHECK_EQ_INT(p.hits, 1);
    if (status == KK_OK) {
        KK_FAIL("a number that is none, put in behind the stage %s, went unnoticed", kk_stage_name(stage));
    }
    KK_CHECK(kk_state_equal(s.state, s.before));
    KK_CHECK(strlen(error.text) > 10);
    // and the next step works as if nothing had been
    s.simulator->hooks.probe = NULL;
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &error), KK_OK);
    KK_CHECK(!kk_state_equal(s.state, s.before));
    free_scene(&s);
}

KK_TEST(a_number_that_is_none_is_stopped_behind_every_stage) {
    for (int stage = KK_STAGE_BEGIN; stage < KK_STAGE_PROVE; stage++) {
        check_stage((kk_stage)stage, __builtin_nan(""));
        check_stage((kk_stage)stage, __builtin_inf());
    }
}

/// The same without `strict`: a step is total, what is no number never gets into the state, and the report says so.
static void check_degraded(kk_stage stage, double value) {
    scene s = make_scene(0);
    kk_error error = {.status = KK_OK};
    for (int i = 0; i < 40; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &error), KK_OK);
    }
    poison p = {stage, value, 0};
    s.simulator->hooks.probe = spoil;
    s.simulator->hooks.probe_user = &p;
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &error), KK_OK);
    const kk_report r = *kk_simulator_report(s.simulator);
    KK_CHECK(p.hits > 1); // spoilt again in the second try
    KK_CHECK_EQ_INT(r.quality, KK_STEP_HELD);
    KK_CHECK_EQ_INT(r.flaw, KK_FLAW_RANGE);
    KK_CHECK(r.flaw_body[0] > 0);
    KK_CHECK_EQ_INT(kk_state_check(s.model, s.state, &error), KK_OK);
    s.simulator->hooks.probe = NULL;
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->quality, KK_STEP_CERTIFIED);
    free_scene(&s);
}

KK_TEST(without_strict_a_number_that_is_none_is_held) {
    for (int stage = KK_STAGE_BEGIN; stage < KK_STAGE_PROVE; stage++) {
        check_degraded((kk_stage)stage, __builtin_nan(""));
        check_degraded((kk_stage)stage, __builtin_inf());
    }
}

// whatever finite numbers a state holds, a step comes back and leaves finite ones
KK_TEST(a_step_is_total_for_every_finite_state) {
    const double speeds[] = {1e3, 1e8, 1e20, 1e100, 1e160, 1e300};
    for (int i = 0; i < 6; i++) {
        scene s = make_scene(0);
        kk_error error = {.status = KK_OK};
        for (int k = 0; k < kk_model_nv(s.model); k++) {
            kk_state_v(s.state)[k] = (k % 2 ? -1 : 1) * speeds[i] * (1 + 0.1 * k) / 3;
        }
        for (int k = 0; k < 3; k++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &error), KK_OK);
            KK_CHECK_EQ_INT(kk_state_check(s.model, s.state, &error), KK_OK);
        }
        free_scene(&s);
    }
}

KK_TEST(bad_input_is_refused_by_name) {
    scene s = make_scene(0);
    kk_error error = {.status = KK_OK};
    double tau[18] = {0};
    tau[9] = __builtin_nan("");
    const kk_input input = {.tau = tau};
    KK_CHECK_EQ_INT(kk_state_copy(s.before, s.state), KK_OK);
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &error), KK_NOT_FINITE);
    KK_CHECK(strstr(error.text, "joint \"") != NULL);
    KK_CHECK(kk_state_equal(s.state, s.before));
    kk_state_v(s.state)[8] = __builtin_inf();
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &error), KK_NOT_FINITE);
    KK_CHECK_EQ_INT(kk_step(s.model, s.state, NULL, NULL, &error), KK_INVALID_ARGUMENT);
    const kk_step_options bad[] = {{.timestep = -1},
                                   {.tolerance = -1},
                                   {.effort = KK_EFFORT_SWEEPS, .iterations = -1},
                                   {.timestep = __builtin_nan("")},
                                   {.restitution_law = (kk_restitution_law)3}};
    for (int i = 0; i < 5; i++) {
        KK_CHECK_EQ_INT(kk_simulator_set_options(s.simulator, &bad[i], &error), KK_INVALID_ARGUMENT);
    }
    free_scene(&s);
}

/// Two boxes on the floor, `mass[1]` on `mass[0]`, pulled aside or not: every step is certified, or refused by name and without a trace.
/// Gives the number of steps that were refused.
static int refused_steps(const double mass[2], double pull) {
    kk_spec *spec = NULL;
    scene s = {0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_shape_def shape = kk_shape_def_default();
    shape.type = KK_SHAPE_PLANE;
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, NULL, NULL), KK_OK);
    for (int i = 0; i < 2; i++) {
        kk_body_def body = kk_body_def_default();
        body.name = i ? "upper" : "lower";
        body.joint.type = KK_JOINT_FREE;
        body.inertia = kk_inertia_solid_box(mass[i], 0.4, 0.4, 0.2);
        shape.type = KK_SHAPE_BOX;
        shape.size[0] = shape.size[1] = 0.4;
        shape.size[2] = 0.2;
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &shape.body, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, NULL, NULL), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &s.model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &s.state), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &s.before), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &s.simulator, NULL), KK_OK);
    kk_state_q(s.state)[6] = 0.1 + 1e-3;
    kk_state_q(s.state)[7 + 6] = 0.3 + 2e-3;
    kk_force wrench[3];
    memset(wrench, 0, sizeof wrench);
    wrench[2].linear.x = pull * mass[1];
    const kk_input input = {.wrench = wrench};
    int refused = 0;
    for (int i = 0; i < 300 && refused == 0; i++) {
        kk_error error = {.status = KK_OK};
        KK_CHECK_EQ_INT(kk_state_copy(s.before, s.state), KK_OK);
        if (kk_step(s.model, s.state, s.simulator, &input, &error) == KK_OK) {
            const kk_report r = *kk_simulator_report(s.simulator);
            KK_CHECK(r.residual <= 1e-9);
            KK_CHECK(i < 100 || pull != 0 ||
                     r.penetration <= 1e-6); // what lands or tips overlaps at the middle of a step
        } else {
            refused++;
            KK_CHECK(strstr(error.text, "lower") && strstr(error.text, "m/s"));
            KK_CHECK(kk_state_equal(s.state, s.before));
        }
    }
    free_scene(&s);
    kk_spec_free(spec);
    return refused;
}

// heavy on light and light on heavy up to a million to one, landing, then standing or pushed: solved to the tolerance
KK_TEST(mass_ratios_to_a_million_are_solved) {
    int refused = 0;
    double ratio = 1;
    for (int power = 0; power <= 6; power++) {
        for (int k = 0; k < 4 && (power % 3 == 0 || !kk_test_is_quick()); k++) {
            const double mass[2] = {k & 1 ? ratio : 1, k & 1 ? 1 : ratio};
            refused += refused_steps(mass, k & 2 ? 12 : 0);
        }
        ratio *= 10;
    }
    KK_CHECK_EQ_INT(refused, 0);
}
