// Variations: a model with other numbers that a simulator of the model steps as well. Whatever differs, and whoever was stepped before, bits are
// those of a model that is compiled with these numbers; what a variation cannot differ in is refused by name.
#include <string.h>

#include "stage.h"

/// A walker with all that a simulator keeps of a model: springs, dry friction, limits, motors and servos, a tendon, several materials.
#define WALKER(hip, damping, spring, tendon)                                                                           \
    "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='5 5 .1' friction='.9'/>"                    \
    "<body name='trunk' pos='0 0 .42'><freejoint/><geom name='trunk' type='box' size='.18 .1 .05' mass='6'/>"          \
    "<body name='left' pos='.1 .1 0'><joint name='left' type='hinge' axis='0 1 0' range='-60 60' " damping ""          \
    "armature='.01' frictionloss='.05'/>"                                                                              \
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03' mass='.8'/>"                                               \
    "<body pos='0 0 -.2'><joint name='left_knee' type='hinge' axis='0 1 0' " spring damping "/>"                       \
    "<geom name='left_foot' type='capsule' fromto='0 0 0 0 0 -.18' size='.025' mass='.4' "                             \
    "friction='.7'/></body></body>"                                                                                    \
    "<body name='right' pos='-.1 -.1 0' euler='0 0 20'><joint name='right' type='hinge' axis='1 .3 0' range='-60 "     \
    "60' " damping "frictionloss='.05'/>"                                                                              \
    "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.03' mass='.8'/>"                                               \
    "<body pos='0 0 -.2'><joint name='right_knee' type='hinge' axis='0 1 0' " damping "/>"                             \
    "<geom name='right_foot' type='sphere' size='.04' pos='0 0 -.15' mass='.4'/></body></body></body>"                 \
    "<body name='ball' pos='.4 0 .3'><freejoint/><geom type='sphere' size='.06' mass='.5'/></body></worldbody>" tendon \
    "<actuator><motor joint='left' gear='8' ctrlrange='-1 1'/>" hip                                                    \
    "<motor joint='left_knee' gear='5'/></actuator></mujoco>"
/// With a servo, springs and a tendon; with motors alone, which a variation has servos, dampers and springs beside.
static const char *const walkers[] = {
    WALKER("<position joint='right' kp='40' forcerange='-20 20'/>", "damping='.4' ", "stiffness='3' ",
           "<tendon><fixed name='both' limited='true' range='-.5 .9' stiffness='2'><joint joint='left' coef='1'/>"
           "<joint joint='left_knee' coef='-1'/></fixed></tendon>"),
    WALKER("<motor joint='right' gear='8' ctrlrange='-1 1'/>", "", "", "")};

typedef struct pair {
    stage s;
    kk_spec *edited;
    kk_model *variation, *compiled;
} pair;

/// @param kind  of `walkers`: with a servo, with motors alone
static void load(stage *s, int kind) {
    const kk_file file = {"walker.xml", walkers[kind], strlen(walkers[kind])};
    const kk_load_options o = {.file = &file, .file_count = 1};
    if (!KK_CHECK_EQ_INT(kk_load_file("walker.xml", &o, NULL, &s->spec, NULL, &s->error), KK_OK)) {
        KK_FAIL("%d:%d %s", s->error.line, s->error.column, s->error.text);
    }
}

typedef enum change {
    MASS = 1,
    JOINT = 2,
    DRIVE = 4,
    FRICTION = 8,
    GRAVITY = 16,
    SIZE = 32,
    PLACE = 64,
    CHANGES = 7
} change;

static double factor(uint64_t seed, uint64_t *n) {
    return 0.7 + 0.6 * kk_random_uniform_at(91, seed, (*n)++);
}

static void edit_bodies(kk_spec *spec, int what, uint64_t seed, uint64_t *n) {
    for (int b = 1; b < kk_spec_body_count(spec); b++) {
        kk_body_def *body = kk_spec_body(spec, b);
        if (what & MASS && body->inertia.mass > 0) {
            const double f = factor(seed, n);
            body->inertia.mass *= f;
            body->inertia.com.x += 0.02 * (factor(seed, n) - 1);
            double *moment = &body->inertia.moment.xx;
            for (int k = 0; k < 6; k++) {
                moment[k] *= f;
            }
        }
        if (what & JOINT && body->joint.type == KK_JOINT_HINGE) {
            kk_dof_def *dof = &body->joint.dof[0];
            dof->damping = 0.5 * factor(seed, n);
            dof->friction = 0.1 * (factor(seed, n) - 0.6);
            dof->armature = 0.02 * factor(seed, n);
            dof->stiffness = 2 * factor(seed, n);
            dof->upper = factor(seed, n);
        }
        if (what & PLACE) {
            body->joint.placement.p.x += 0.03 * (factor(seed, n) - 1);
            const kk_quat turn = kk_quat_normalize((kk_quat){1, 0, 0, 0.1 * (factor(seed, n) - 1)});
            body->joint.placement.R = kk_mat3_mul(body->joint.placement.R, kk_quat_to_mat3(turn));
        }
    }
}

static void edit_rest(kk_spec *spec, int what, uint64_t seed, uint64_t *n) {
    for (int i = 0; i < kk_spec_actuator_count(spec) && what & DRIVE; i++) {
        kk_spec_actuator(spec, i)->gain *= factor(seed, n);
        kk_spec_actuator(spec, i)->bias[2] -= 0.3 * (factor(seed, n) > 1);
        kk_spec_actuator(spec, i)->force_upper = 15 * factor(seed, n);
    }
    for (int i = 0; i < kk_spec_material_count(spec) && what & FRICTION; i++) {
        kk_spec_material(spec, i)->friction *= factor(seed, n);
    }
    for (int i = 0; i < kk_spec_shape_count(spec) && what & SIZE; i++) {
        for (int k = 0; k < 3 && kk_spec_shape(spec, i)->type != KK_SHAPE_PLANE; k++) {
            kk_spec_shape(spec, i)->size[k] *= factor(seed, n);
        }
    }
    if (what & GRAVITY) {
        kk_spec_options(spec)->gravity.z *= factor(seed, n);
        kk_spec_options(spec)->gravity.x = factor(seed, n) - 1;
    }
}

static kk_spec *edited(const stage *s, int what, uint64_t seed) {
    kk_spec *spec = NULL;
    uint64_t n = 0;
    KK_CHECK_EQ_INT(kk_spec_clone(s->spec, NULL, &spec, NULL), KK_OK);
    edit_bodies(spec, what, seed, &n);
    edit_rest(spec, what, seed, &n);
    return spec;
}

static pair pair_of(int what, uint64_t seed) {
    pair p = {0};
    load(&p.s, (int)(seed % 2));
    KK_CHECK(stage_ready(&p.s, NULL));
    p.edited = edited(&p.s, what, seed);
    if (!KK_CHECK_EQ_INT(kk_model_vary(p.s.model, p.edited, NULL, &p.variation, &p.s.error), KK_OK)) {
        KK_FAIL("%s", p.s.error.text);
    }
    KK_CHECK_EQ_INT(kk_model_compile(p.edited, NULL, &p.compiled, &p.s.error), KK_OK);
    return p;
}

static void pair_end(pair *p) {
    kk_model_free(p->compiled);
    kk_model_free(p->variation);
    kk_spec_free(p->edited);
    stage_end(&p->s);
}

static void drive(int step, double control[3]) {
    for (int k = 0; k < 3; k++) {
        control[k] = 2 * kk_random_uniform_at(17, (uint64_t)step, (uint64_t)k) - 1;
    }
}

/// So many steps of a state; between them others are stepped by the same simulator.
static void step_beside(pair *p, kk_simulator *simulator, const kk_model *model, kk_state *state, kk_state *other,
                        int steps, int from) {
    for (int i = 0; i < steps; i++) {
        double control[3];
        drive(from + i, control);
        const kk_input input = {.control = control};
        KK_CHECK_EQ_INT(kk_step(model, state, simulator, &input, &p->s.error), KK_OK);
        if (other && i % 3 == 0) {
            KK_CHECK_EQ_INT(kk_step(p->s.model, other, simulator, &input, &p->s.error), KK_OK);
        }
    }
}

static void check_same_steps(int what, uint64_t seed) {
    pair p = pair_of(what, seed);
    kk_state *a = NULL, *b = NULL;
    kk_simulator *own = NULL;
    KK_CHECK(kk_model_hash(p.variation) == kk_model_hash(p.compiled));
    KK_CHECK_EQ_INT(kk_state_create(p.variation, NULL, &a), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(p.compiled, NULL, &b), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(p.compiled, NULL, NULL, &own, &p.s.error), KK_OK);
    for (int part = 0; part < 10; part++) {
        step_beside(&p, p.s.simulator, p.variation, a, p.s.state, 15, 15 * part);
        step_beside(&p, own, p.compiled, b, NULL, 15, 15 * part);
        KK_CHECK(kk_state_hash(a) == kk_state_hash(b));
    }
    kk_simulator_free(own);
    kk_state_free(b);
    kk_state_free(a);
    pair_end(&p);
}

KK_TEST(variations_step_like_models_that_are_compiled_so) {
    for (int k = 0; k < CHANGES; k++) {
        check_same_steps(1 << k, 0);
        check_same_steps(1 << k, 1);
    }
    for (uint64_t seed = 0; seed < 10; seed++) {
        check_same_steps((1 << CHANGES) - 1, seed);
    }
}

/// Boxes and a ball on the ground, and a variation of them: other masses, centers of mass beside their origins.
static void check_lone_bodies(const kk_step_options *options, double aside) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.6, 0.1);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < 5; i++) {
        (i < 4 ? stage_box(&s, 1, 0.2, 0.2, 0.2, material) : stage_ball(&s, 1, 0.1, material));
    }
    KK_CHECK(stage_ready(&s, options));
    kk_spec *spec = edited(&s, 0, 0);
    for (int b = 1; b < kk_spec_body_count(spec); b++) {
        kk_spec_body(spec, b)->inertia.mass = 0.5 + 0.3 * b;
        kk_spec_body(spec, b)->inertia.com.x = aside;
    }
    kk_model *variation = NULL, *compiled = NULL;
    kk_state *a = NULL, *b = NULL;
    kk_simulator *own = NULL;
    KK_CHECK_EQ_INT(kk_model_vary(s.model, spec, NULL, &variation, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &compiled, &s.error), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(variation, NULL, &a), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(compiled, NULL, &b), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(compiled, options, NULL, &own, &s.error), KK_OK);
    for (int k = 1; k < 6; k++) {
        stage_place(&s, k, 0.05 * k, 0, 0.25 * k);
        memcpy(kk_state_q(a), kk_state_q(s.state), (size_t)kk_model_nq(s.model) * sizeof(double));
        memcpy(kk_state_q(b), kk_state_q(s.state), (size_t)kk_model_nq(s.model) * sizeof(double));
    }
    for (int i = 0; i < 150; i++) {
        KK_CHECK_EQ_INT(kk_step(variation, a, s.simulator, NULL, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_step(compiled, b, own, NULL, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
        KK_CHECK(kk_state_hash(a) == kk_state_hash(b));
    }
    kk_simulator_free(own);
    kk_state_free(b);
    kk_state_free(a);
    kk_model_free(compiled);
    kk_model_free(variation);
    kk_spec_free(spec);
    stage_end(&s);
}

KK_TEST(variations_of_lone_bodies) {
    check_lone_bodies(NULL, 0);
    check_lone_bodies(NULL, 0.02);
    check_lone_bodies(&(kk_step_options){.effort = KK_EFFORT_SWEEPS, .iterations = 20}, 0);
    check_lone_bodies(&(kk_step_options){.effort = KK_EFFORT_SWEEPS, .iterations = 20}, 0.02);
}

// the model between steps of its variations is what it is alone
KK_TEST(variations_leave_the_model_as_it_is) {
    pair p = pair_of((1 << CHANGES) - 1, 5);
    kk_state *a = NULL, *b = NULL;
    KK_CHECK_EQ_INT(kk_state_create(p.s.model, NULL, &a), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(p.variation, NULL, &b), KK_OK);
    kk_simulator *own = NULL;
    KK_CHECK_EQ_INT(kk_simulator_create(p.s.model, NULL, NULL, &own, &p.s.error), KK_OK);
    for (int i = 0; i < 100; i++) {
        step_beside(&p, p.s.simulator, p.s.model, p.s.state, NULL, 1, i);
        step_beside(&p, p.s.simulator, p.variation, b, NULL, 1, i);
        step_beside(&p, own, p.s.model, a, NULL, 1, i);
        KK_CHECK(kk_state_hash(a) == kk_state_hash(p.s.state));
    }
    kk_simulator_free(own);
    kk_state_free(b);
    kk_state_free(a);
    pair_end(&p);
}

// dynamics without a step take the variation as the model that it is
KK_TEST(variations_are_models) {
    pair p = pair_of((1 << CHANGES) - 1, 2);
    kk_data *a = NULL, *b = NULL;
    KK_CHECK_EQ_INT(kk_data_create(p.variation, NULL, &a), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create(p.compiled, NULL, &b), KK_OK);
    double q[32], v[32] = {0}, x[32], y[32];
    kk_model_random_q(p.variation, 3, 0, q);
    kk_bias_force(p.variation, a, q, v, x);
    kk_bias_force(p.compiled, b, q, v, y);
    for (int k = 0; k < kk_model_nv(p.variation); k++) {
        KK_CHECK_BITS(x[k], y[k]);
    }
    KK_CHECK(kk_model_base(p.variation) == p.s.model && kk_model_base(p.s.model) == p.s.model);
    kk_data_free(b);
    kk_data_free(a);
    pair_end(&p);
}

// a saved state of one cannot be restored into another
KK_TEST(variations_keep_their_states_apart) {
    pair p = pair_of(MASS, 1);
    kk_state *a = NULL;
    char saved[4096];
    KK_CHECK_EQ_INT(kk_state_create(p.variation, NULL, &a), KK_OK);
    KK_CHECK(kk_state_saved_size(p.s.state) <= sizeof saved);
    KK_CHECK_EQ_INT(kk_state_save(p.s.state, saved, kk_state_saved_size(p.s.state)), KK_OK);
    KK_CHECK(kk_state_restore(a, saved, kk_state_saved_size(p.s.state), &p.s.error) != KK_OK);
    KK_CHECK(strstr(p.s.error.text, "model") != NULL);
    KK_CHECK(kk_step(p.variation, p.s.state, p.s.simulator, NULL, &p.s.error) != KK_OK);
    KK_CHECK_EQ_INT(kk_state_copy(a, p.s.state), KK_SIZE_MISMATCH);
    kk_state_free(a);
    pair_end(&p);
}

static void check_refused(void (*edit)(kk_spec *), const char *word) {
    stage s = {0};
    load(&s, 0);
    KK_CHECK(stage_ready(&s, NULL));
    kk_spec *spec = edited(&s, 0, 0);
    kk_model *variation = NULL;
    edit(spec);
    KK_CHECK_EQ_INT(kk_model_vary(s.model, spec, NULL, &variation, &s.error), KK_INVALID_MODEL);
    if (!KK_CHECK(strstr(s.error.text, word) != NULL)) {
        KK_FAIL("%s", s.error.text);
    }
    KK_CHECK(variation == NULL);
    kk_spec_free(spec);
    stage_end(&s);
}

static void slide(kk_spec *spec) {
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_SLIDE;
}
static void add_ball(kk_spec *spec) {
    kk_shape_def def = kk_shape_def_default();
    def.size[0] = 0.1;
    def.body = 1;
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &def, NULL, NULL), KK_OK);
}
static void box(kk_spec *spec) {
    kk_spec_shape(spec, kk_spec_shape_count(spec) - 1)->type = KK_SHAPE_BOX;
    kk_spec_shape(spec, kk_spec_shape_count(spec) - 1)->size[1] =
        kk_spec_shape(spec, kk_spec_shape_count(spec) - 1)->size[2] = 0.1;
}
static void aim(kk_spec *spec) {
    kk_spec_actuator(spec, 0)->target = "right_knee";
}
static void slow(kk_spec *spec) {
    kk_spec_options(spec)->timestep = 0.001;
}
static void roll(kk_spec *spec) {
    kk_spec_material(spec, 1)->rolling = 0.01;
}
static void weigh(kk_spec *spec) {
    kk_spec_body(spec, 1)->inertia.mass = -1;
}

KK_TEST(variations_keep_the_structure) {
    check_refused(slide, "body 2");
    check_refused(add_ball, "more or fewer");
    check_refused(box, "shape");
    check_refused(aim, "actuator 0");
    check_refused(slow, "time step");
    check_refused(roll, "rolling");
    check_refused(weigh, "mass");
}

// a simulator steps its own model and variations of that, and nothing else
KK_TEST(variations_are_of_the_simulators_model) {
    pair p = pair_of(MASS, 1), other = pair_of(JOINT, 2);
    KK_CHECK_EQ_INT(kk_step(other.variation, other.s.state, p.s.simulator, NULL, &p.s.error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_step(p.compiled, p.s.state, p.s.simulator, NULL, &p.s.error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_step(p.s.model, p.s.state, p.s.simulator, NULL, &p.s.error), KK_OK);
    pair_end(&other);
    pair_end(&p);
}

enum { MANY = 6 };

// simulations of which each has numbers of its own are those that are stepped alone
KK_TEST(simulations_have_variations) {
    pair p = pair_of(MASS, 1);
    kk_simulations *many = NULL;
    kk_model *variation[MANY];
    KK_CHECK_EQ_INT(kk_simulations_create(p.s.model, MANY, NULL, NULL, &many, &p.s.error), KK_OK);
    for (int i = 0; i < MANY; i++) {
        kk_spec *spec = edited(&p.s, i % 2 ? MASS | JOINT | FRICTION : SIZE | GRAVITY, (uint64_t)i);
        KK_CHECK_EQ_INT(kk_model_vary(p.s.model, spec, NULL, &variation[i], &p.s.error), KK_OK);
        kk_spec_free(spec);
        KK_CHECK_EQ_INT(kk_simulations_vary(many, i, i == 3 ? NULL : variation[i], &p.s.error), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_simulations_reset(many, NULL, MANY, NULL, &p.s.error), KK_OK);
    for (int round = 0; round < 20; round++) {
        KK_CHECK_EQ_INT(kk_simulations_step(many, NULL, MANY, 4, &p.s.error), KK_OK);
    }
    for (int i = 0; i < MANY; i++) {
        const kk_model *m = i == 3 ? p.s.model : variation[i];
        kk_state *alone = NULL, *got = NULL;
        kk_simulator *simulator = NULL;
        KK_CHECK_EQ_INT(kk_state_create(m, NULL, &alone), KK_OK);
        KK_CHECK_EQ_INT(kk_state_create(m, NULL, &got), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_create(m, NULL, NULL, &simulator, &p.s.error), KK_OK);
        const double control[3] = {0};
        for (int k = 0; k < 80; k++) {
            KK_CHECK_EQ_INT(kk_step(m, alone, simulator, &(kk_input){.control = control}, &p.s.error), KK_OK);
        }
        KK_CHECK_EQ_INT(kk_simulations_get_state(many, i, got), KK_OK);
        KK_CHECK(kk_state_hash(got) == kk_state_hash(alone));
        kk_simulator_free(simulator);
        kk_state_free(got);
        kk_state_free(alone);
    }
    KK_CHECK_EQ_INT(kk_simulations_vary(many, MANY, NULL, &p.s.error), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_simulations_vary(many, 0, p.compiled, &p.s.error), KK_INVALID_ARGUMENT);
    kk_simulations_free(many);
    for (int i = 0; i < MANY; i++) {
        kk_model_free(variation[i]);
    }
    pair_end(&p);
}
