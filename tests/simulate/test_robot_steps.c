// Steps of small robots: friction that stops and turns round inside a step, feet that stand with torsion and rolling, loops in a plane.
#include <karakuri/karakuri.h>
#include <math.h>
#include <stdio.h>

#include "harness.h"
#include "model/warm.h"

typedef struct world {
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
} world;

static world begin(void) {
    world w = {0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &w.spec), KK_OK);
    return w;
}

static void finish(world *w, double timestep) {
    const kk_step_options options = {.timestep = timestep};
    KK_CHECK_EQ_INT(kk_model_compile(w->spec, NULL, &w->model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(w->model, NULL, &w->state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(w->model, &options, NULL, &w->simulator, NULL), KK_OK);
}

static void end(world *w) {
    kk_simulator_free(w->simulator);
    kk_state_free(w->state);
    kk_model_free(w->model);
    kk_spec_free(w->spec);
}

static int add_link(world *w, const char *name, int parent, kk_joint_type type, kk_vec3 place, kk_vec3 axis,
                    double mass) {
    kk_body_def b = kk_body_def_default();
    int id = -1;
    b.name = name;
    b.parent = parent;
    b.joint.type = type;
    b.joint.axis = axis;
    b.joint.placement.p = place;
    b.inertia = kk_inertia_solid_box(mass, 0.1, 0.1, 0.1);
    KK_CHECK_EQ_INT(kk_spec_add_body(w->spec, &b, &id, NULL), KK_OK);
    return id;
}

// thrown up along a guide with dry friction: rises with g + f/m, turns round inside a step, falls with g − f/m
KK_TEST(friction_turns_round_inside_a_step) {
    const double dt[4] = {0.02, 0.0123, 1 / 70.3, 0.05}, m = 2, f = 6, v0 = 3, g = 9.81;
    for (int k = 0; k < 4; k++) {
        world w = begin();
        const int id = add_link(&w, "block", 0, KK_JOINT_SLIDE, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1), m);
        kk_spec_set_gravity(w.spec, kk_vec3_make(0, 0, -g));
        kk_spec_body(w.spec, id)->joint.dof[0].friction = f;
        finish(&w, dt[k]);
        kk_state_v(w.state)[0] = v0;
        while (kk_state_time(w.state) < 0.6) {
            KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, NULL, NULL), KK_OK);
        }
        const double up = g + f / m, down = g - f / m, turn = v0 / up, t = kk_state_time(w.state) - turn;
        KK_CHECK_NEAR(kk_state_v(w.state)[0], -down * t, 1e-10);
        KK_CHECK_NEAR(kk_state_q(w.state)[0], v0 * v0 / (2 * up) - 0.5 * down * t * t, 1e-10);
        end(&w);
    }
}

static void add_sphere(world *w, int body, double radius, int material) {
    kk_shape_def s = kk_shape_def_default();
    s.type = KK_SHAPE_SPHERE;
    s.body = body;
    s.size[0] = radius;
    s.material = material;
    KK_CHECK_EQ_INT(kk_spec_add_shape(w->spec, &s, NULL, NULL), KK_OK);
}

static void spring(world *w, int body, double stiffness, double damping, double friction, double rest) {
    kk_dof_def *d = &kk_spec_body(w->spec, body)->joint.dof[0];
    d->stiffness = stiffness;
    d->damping = damping;
    d->friction = friction;
    d->rest = rest;
}

/// Four legs of two hinges with round feet, springs and dry friction in all joints; feet bear torsion and rolling.
static void build_quadruped(world *w) {
    static const char *const names[] = {"a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "d1", "d2", "d3"};
    kk_material_def soft = kk_material_def_default();
    int material = 0;
    soft.name = "foot";
    soft.friction = 0.8;
    soft.torsion = 0.02;
    soft.rolling = 0.01;
    KK_CHECK_EQ_INT(kk_spec_add_material(w->spec, &soft, &material, NULL), KK_OK);
    kk_shape_def plane = kk_shape_def_default();
    plane.type = KK_SHAPE_PLANE;
    plane.material = material;
    KK_CHECK_EQ_INT(kk_spec_add_shape(w->spec, &plane, NULL, NULL), KK_OK);
    const int base = add_link(w, "base", 0, KK_JOINT_FREE, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1), 20);
    for (int i = 0; i < 4; i++) {
        const double x = i & 1 ? 0.3 : -0.3, y = i & 2 ? 0.15 : -0.15;
        const kk_vec3 X = kk_vec3_make(1, 0, 0), Y = kk_vec3_make(0, 1, 0);
        const int hip = add_link(w, names[3 * i], base, KK_JOINT_HINGE, kk_vec3_make(x, y, 0), X, 1);
        const int thigh = add_link(w, names[3 * i + 1], hip, KK_JOINT_HINGE, kk_vec3_make(0, 0.02, 0), Y, 1);
        const int shank = add_link(w, names[3 * i + 2], thigh, KK_JOINT_HINGE, kk_vec3_make(0.1, 0, -0.25), Y, 0.4);
        kk_spec_body(w->spec, shank)->offset.p = kk_vec3_make(-0.1, 0, -0.25);
        spring(w, hip, 150, 3, 0.1, 0);
        spring(w, thigh, 150, 3, 0.1, 0);
        spring(w, shank, 150, 3, 0.1, 0);
        add_sphere(w, shank, 0.03, material);
    }
}

// it settles, and stands: hardly an iteration a step, no stops where nothing slides, every step certified
KK_TEST(standing_quadruped_costs_little) {
    world w = begin();
    build_quadruped(&w);
    finish(&w, 0.002);
    kk_state_q(w.state)[6] = 0.53;
    int newton = 0, events = 0, first = 300, steps = kk_test_is_quick() ? 600 : 1000; // it has landed by then
    for (int i = 0; i < steps; i++) {
        KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, NULL, NULL), KK_OK);
        const kk_report r = *kk_simulator_report(w.simulator);
        KK_CHECK(r.residual <= 1e-9);
        newton += i >= first ? r.newton : 0;
        events += i >= first ? r.events : 0;
    }
    KK_CHECK_EQ_INT(kk_simulator_ncontact(w.simulator), 4);
    KK_CHECK(newton <= 3 * (steps - first));
    KK_CHECK(events <= (steps - first) / 10);
    double weight = 0;
    for (int i = 0; i < 4; i++) {
        weight += kk_simulator_contacts(w.simulator)[i].force.z;
    }
    KK_CHECK_REL(fabs(weight), 9.81 * kk_model_mass(w.model), 1e-2);
    end(&w);
}

/// A box on an arm, between two walls that it overlaps by 2 mm each.
static void build_wedge(world *w) {
    const int upper = add_link(w, "upper", 0, KK_JOINT_HINGE, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 1, 0), 1);
    const int hand = add_link(w, "hand", upper, KK_JOINT_SLIDE, kk_vec3_make(0.3, 0, 0), kk_vec3_make(1, 0, 0), 1);
    for (int i = 0; i < 3; i++) {
        kk_shape_def s = kk_shape_def_default();
        s.type = KK_SHAPE_BOX;
        s.body = i < 2 ? KK_WORLD : hand;
        s.size[0] = s.size[1] = 0.2;
        s.size[2] = 0.1;
        s.placement.p = i < 2 ? kk_vec3_make(0.3, 0, i ? 0.098 : -0.098) : kk_vec3_make(0, 0, 0);
        KK_CHECK_EQ_INT(kk_spec_add_shape(w->spec, &s, NULL, NULL), KK_OK);
    }
}

// what overlaps on both sides cannot be put right, and is not tried for long
KK_TEST(wedged_hand_costs_little) {
    world w = begin();
    build_wedge(&w);
    finish(&w, 0.002);
    int most = 0;
    for (int i = 0; i < 20; i++) {
        KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, NULL, NULL), KK_OK);
        const kk_report r = *kk_simulator_report(w.simulator);
        KK_CHECK(r.residual <= 1e-9);
        most = r.factorizations > most ? r.factorizations : most;
    }
    KK_CHECK(kk_simulator_ncontact(w.simulator) >= 8);
    KK_CHECK(most <= 20); // 3682 by all rungs
    end(&w);
}

static double noise(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

/// Every hinge by a servo of 100 N m/rad that gives 20 N m.
static void add_weak_servos(world *w) {
    for (int body = 2; body < kk_spec_body_count(w->spec); body++) {
        kk_actuator_def a = kk_actuator_def_default();
        char joint[32];
        snprintf(joint, sizeof joint, "%s_joint", kk_spec_body(w->spec, body)->name);
        a.type = KK_ACTUATOR_POSITION;
        a.target = joint;
        a.gain = 100;
        a.bias[1] = -100;
        a.force_lower = -20;
        a.force_upper = 20;
        KK_CHECK_EQ_INT(kk_spec_add_actuator(w->spec, &a, NULL, NULL), KK_OK);
    }
}

// what servos beyond their limits would have asked for is no speed of anything: contacts beside them are as exact as ever
KK_TEST(thrown_quadruped_with_servos_at_their_limits) {
    for (unsigned k = 0; k < 6; k++) {
        unsigned seed = k;
        double target[12], fastest = 0, worst = 0;
        world w = begin();
        build_quadruped(&w);
        add_weak_servos(&w);
        finish(&w, 0.002);
        kk_state_q(w.state)[6] = 0.6;
        for (int i = 0; i < 18; i++) {
            kk_state_v(w.state)[i] = 3 * noise(&seed);
        }
        for (int i = 0; i < 12; i++) {
            target[i] = 2 * noise(&seed);
        }
        const kk_input input = {.control = target};
        for (int i = 0; i < 500; i++) {
            KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, &input, NULL), KK_OK);
            const double r = kk_simulator_report(w.simulator)->residual;
            worst = r > worst ? r : worst;
            for (int j = 0; j < 18; j++) {
                fastest = fmax(fastest, fabs(kk_state_v(w.state)[j]));
            }
        }
        KK_CHECK(fastest < 100);
        KK_CHECK(worst <= 1e-9 * fastest);
        end(&w);
    }
}

// legs turn about their feet and the body bobs: feet do not rise with every drift, to be put down again with a knock
KK_TEST(feet_of_a_bobbing_quadruped_stay_down) {
    world w = begin();
    build_quadruped(&w);
    finish(&w, 0.002);
    kk_state_q(w.state)[6] = 0.53;
    double tau[18] = {0}, highest = 0;
    for (int i = 0; i < 700; i++) {
        const double push = i >= 300 ? 15 * sin(0.03 * (i - 300)) : 0;
        for (int leg = 0; leg < 4; leg++) {
            tau[6 + 3 * leg + 1] = push;
            tau[6 + 3 * leg + 2] = -push;
        }
        const kk_input input = {.tau = tau};
        KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, &input, NULL), KK_OK);
        for (int k = 0; k < 4 && i >= 300 && KK_CHECK(kk_simulator_ncontact(w.simulator) == 4); k++) {
            highest = fmax(highest, kk_simulator_contacts(w.simulator)[k].gap);
        }
    }
    KK_CHECK(highest < 3e-6);
    end(&w);
}

// a parallelogram of hinges on a tumbling base, closed by a ball joint: nothing in it moves across its plane, so that row's operator is
// rounding, and a force that answered it would have no limit
KK_TEST(loop_in_a_plane_bears_no_force_across_it) {
    world w = begin();
    const kk_vec3 Y = kk_vec3_make(0, 1, 0);
    const int base = add_link(&w, "base", 0, KK_JOINT_FREE, kk_vec3_make(0, 0, 0), Y, 10);
    const int left = add_link(&w, "left", base, KK_JOINT_HINGE, kk_vec3_make(0, 0.3, 1), Y, 1);
    const int rod = add_link(&w, "rod", left, KK_JOINT_HINGE, kk_vec3_make(0.1, 0, -0.4), Y, 1);
    const int right = add_link(&w, "right", base, KK_JOINT_HINGE, kk_vec3_make(0.7, 0.3, 1), Y, 1);
    kk_loop_def loop = kk_loop_def_default();
    loop.type = KK_LOOP_POINT;
    loop.body[0] = rod;
    loop.body[1] = right;
    loop.placement[0].p = kk_vec3_make(0.7, 0, 0);
    loop.placement[1].p = kk_vec3_make(0.1, 0, -0.4);
    KK_CHECK_EQ_INT(kk_spec_add_loop(w.spec, &loop, NULL, NULL), KK_OK);
    finish(&w, 0.002);
    const double v[9] = {0.3, 0.7, -0.4, 0, 0, 0, 3, -3, 3};
    for (int k = 0; k < 9; k++) {
        kk_state_v(w.state)[k] = v[k];
    }
    const kki_warm_layout layout = kki_warm_layout_of(w.model);
    double most = 0;
    for (int i = 0; i < 500; i++) {
        KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, NULL, NULL), KK_OK);
        KK_CHECK(kk_simulator_report(w.simulator)->residual <= 1e-9);
        for (int r = 0; r < 3; r++) {
            most = fmax(most, fabs(kki_state_warm_const(w.state)[layout.first_loop + r]));
        }
    }
    KK_CHECK(most > 0.1);
    KK_CHECK(most < 1000);
    end(&w);
}

/// A limp leg under a trunk, its knee bent, on a flat sole; planar joints in a world of three dimensions.
static void build_leg(world *w) {
    const kk_vec3 Y = kk_vec3_make(0, 1, 0);
    kk_shape_def plane = kk_shape_def_default(), sole = kk_shape_def_default();
    plane.type = KK_SHAPE_PLANE;
    KK_CHECK_EQ_INT(kk_spec_add_shape(w->spec, &plane, NULL, NULL), KK_OK);
    const int trunk = add_link(w, "trunk", 0, KK_JOINT_FREE, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1), 20);
    const int thigh = add_link(w, "thigh", trunk, KK_JOINT_HINGE, kk_vec3_make(0, 0, 0), Y, 4);
    const int shin = add_link(w, "shin", thigh, KK_JOINT_HINGE, kk_vec3_make(0, 0, -0.4), Y, 3);
    const int foot = add_link(w, "foot", shin, KK_JOINT_HINGE, kk_vec3_make(0, 0, -0.4), Y, 1);
    sole.type = KK_SHAPE_BOX;
    sole.body = foot;
    sole.placement.p = kk_vec3_make(0.03, 0, -0.05);
    sole.size[0] = 0.24;
    sole.size[1] = 0.1;
    sole.size[2] = 0.02;
    KK_CHECK_EQ_INT(kk_spec_add_shape(w->spec, &sole, NULL, NULL), KK_OK);
}

// a leg that folds turns about its flat foot: the sole neither rises with every drift nor comes down again with a knock, and its force runs smoothly, by a
// few per cent from step to step
KK_TEST(flat_foot_of_a_folding_leg_stays_down) {
    world w = begin();
    build_leg(&w);
    finish(&w, 0.002);
    double *q = kk_state_q(w.state);
    q[7] = -0.5;
    q[8] = 1;
    q[9] = -0.5;
    q[6] = 0.06 + 0.8 * cos(0.5);
    double last = 0, jump = 0, highest = 0;
    for (int i = 0; i < 60; i++) {
        KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, NULL, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_ncontact(w.simulator), 4);
        double force = 0;
        for (int k = 0; k < kk_simulator_ncontact(w.simulator); k++) {
            const kk_contact c = kk_simulator_contacts(w.simulator)[k];
            force += fabs(c.force.z);
            highest = fmax(highest, fabs(c.gap));
            KK_CHECK(fabs(c.velocity.z) < 1e-4);
        }
        jump = i > 5 ? fmax(jump, fabs(force - last) / last) : 0;
        last = force;
    }
    KK_CHECK(fabs(kk_state_v(w.state)[7]) > 2); // it does fold
    KK_CHECK(jump < 0.1);
    KK_CHECK(highest < 1e-5);
    end(&w);
}

// a robot that comes down at 2.4 m/s lands when contacts are looked at, wherever in its step that is: half a step later its sole would be 2.4 mm deep
KK_TEST(flat_foot_lands_without_digging_in) {
    for (int k = 0; k < 10; k++) {
        world w = begin();
        build_leg(&w);
        finish(&w, 0.002);
        double *q = kk_state_q(w.state), deepest = 0;
        int lands = 0;
        q[6] = 0.06 + 0.8 + 0.3 + 0.0005 * k;
        for (int i = 0; i < 140; i++) {
            KK_CHECK_EQ_INT(kk_step(w.model, w.state, w.simulator, NULL, NULL), KK_OK);
            deepest = fmax(deepest, kk_simulator_report(w.simulator)->penetration);
            for (int c = 0; c < 4 && kk_simulator_ncontact(w.simulator) == 4; c++) { // three points can bear it
                lands |= kk_simulator_contacts(w.simulator)[c].force.z != 0;
            }
        }
        KK_CHECK(lands);
        KK_CHECK(deepest < 2e-5); // g h²/2
        end(&w);
    }
}
