// Textbook mechanisms with their equations of motion written by hand, through inverse and forward dynamics.
#include "support/scene.h"

#include <math.h>

static const double G = 9.81;

static kk_spec *empty(void) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    return spec;
}

static kk_body_def link(const char *name, int parent, kk_joint_type type, kk_vec3 axis, kk_vec3 at,
                        kk_inertia inertia) {
    kk_body_def body = kk_body_def_default();
    body.name = name;
    body.parent = parent;
    body.joint.type = type;
    body.joint.axis = axis;
    body.joint.placement.p = at;
    body.inertia = inertia;
    return body;
}

static int add(kk_spec *spec, kk_body_def body) {
    int id = -1;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &id, NULL), KK_OK);
    return id;
}

static kk_inertia point_mass(double m, double x, double y, double z) {
    return (kk_inertia){m, {x, y, z}, {0, 0, 0, 0, 0, 0}};
}
static kk_inertia with_moments(double m, kk_vec3 com, double xx, double yy, double zz) {
    return (kk_inertia){m, com, {xx, yy, zz, 0, 0, 0}};
}

/// Inverse dynamics gives the expected torque, forward dynamics takes it back.
static void expect(scene *s, const double *q, const double *v, const double *a, const double *tau) {
    double found[12] = {0}, back[12] = {0};
    kk_inverse_dynamics(s->model, s->data, q, v, a, found);
    kk_forward_dynamics(s->model, s->data, q, v, tau, back);
    for (int i = 0; i < s->nv; i++) {
        KK_CHECK_NEAR(found[i], tau[i], 1e-12 * (1 + largest(tau, (size_t)s->nv))); // NOLINT: arrays are as long as nv
        KK_CHECK_NEAR(back[i], a[i], 1e-11 * (1 + largest(a, (size_t)s->nv)));
    }
}

static const kk_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1}, O = {0, 0, 0};

// m l² q̈ + m g l sin q = τ
KK_TEST(pendulum) {
    const double m = 2, l = 0.7;
    kk_spec *spec = empty();
    add(spec, link("bob", KK_WORLD, KK_JOINT_HINGE, Y, kk_vec3_make(0.3, 0.2, 5), point_mass(m, 0, 0, -l)));
    scene s = scene_of(spec, 0);
    for (int i = -8; i <= 8; i++) {
        const double q = 0.37 * i, v = 1.3, a = -0.4, tau = m * l * l * a + m * G * l * sin(q);
        expect(&s, &q, &v, &a, &tau);
    }
    scene_free(&s);
}

// Lagrange's equations with relative angles; the second link rides on a fixed bracket to see folding at work
KK_TEST(double_pendulum) {
    const double m1 = 1.5, m2 = 0.8, l1 = 0.6, l2 = 0.9;
    kk_spec *spec = empty();
    const int first = add(spec, link("first", KK_WORLD, KK_JOINT_HINGE, Y, O, point_mass(m1, 0, 0, -l1)));
    const int bracket =
        add(spec, link("bracket", first, KK_JOINT_FIXED, Y, kk_vec3_make(0, 0, -l1), point_mass(0, 0, 0, 0)));
    add(spec, link("second", bracket, KK_JOINT_HINGE, Y, O, point_mass(m2, 0, 0, -l2)));
    scene s = scene_of(spec, 0);
    for (int i = 0; i < 50; i++) {
        scene_draw(&s, (uint64_t)i);
        const double *q = s.q, *v = s.v, *a = s.a, c = cos(q[1]), w = sin(q[1]);
        const double M11 = (m1 + m2) * l1 * l1 + m2 * l2 * l2 + 2 * m2 * l1 * l2 * c,
                     M12 = m2 * l2 * l2 + m2 * l1 * l2 * c;
        const double tau[2] = {M11 * a[0] + M12 * a[1] - m2 * l1 * l2 * w * (2 * v[0] * v[1] + v[1] * v[1]) +
                                   (m1 + m2) * G * l1 * sin(q[0]) + m2 * G * l2 * sin(q[0] + q[1]),
                               M12 * a[0] + m2 * l2 * l2 * a[1] + m2 * l1 * l2 * w * v[0] * v[0] +
                                   m2 * G * l2 * sin(q[0] + q[1])};
        expect(&s, q, v, a, tau);
    }
    scene_free(&s);
}

// a mass on a slope, with the rotor of its drive
KK_TEST(slider_on_a_slope) {
    const double m = 3, slope = 0.4, rotor = 1e-4, gear = 60;
    kk_spec *spec = empty();
    kk_body_def cart = link("cart", KK_WORLD, KK_JOINT_SLIDE, kk_vec3_make(cos(slope), 0, sin(slope)), O,
                            kk_inertia_solid_box(m, 1, 1, 1));
    cart.joint.dof[0].rotor_inertia = rotor;
    cart.joint.dof[0].gear_ratio = gear;
    add(spec, cart);
    scene s = scene_of(spec, 0);
    const double q = 0.7, v = -2, a = 1.7, tau = (m + rotor * gear * gear) * a + m * G * sin(slope);
    expect(&s, &q, &v, &a, &tau);
    scene_free(&s);
}

// (I + m p²) q̈ + m g p = τ: turning about a vertical axis lifts the mass
KK_TEST(screw_jack) {
    const double m = 4, I = 0.3, pitch = 0.05;
    kk_spec *spec = empty();
    kk_body_def nut = link("nut", KK_WORLD, KK_JOINT_SCREW, Z, O, with_moments(m, O, I, I, I));
    nut.joint.pitch = pitch;
    add(spec, nut);
    scene s = scene_of(spec, 0);
    const double q = 2.1, v = 5, a = -3, tau = (I + m * pitch * pitch) * a + m * G * pitch;
    expect(&s, &q, &v, &a, &tau);
    scene_free(&s);
}

// Euler's equations in the body's axes, and Newton's for a center of mass at the origin: I ω̇ + ω × I ω = n, m (v̇ + ω × v − Rᵀ g) = f
KK_TEST(free_body) {
    const double m = 2, I[3] = {0.5, 0.8, 1.1};
    kk_spec *spec = empty();
    add(spec, link("body", KK_WORLD, KK_JOINT_FREE, Z, O, with_moments(m, O, I[0], I[1], I[2])));
    scene s = scene_of(spec, 0);
    for (int i = 0; i < 50; i++) {
        scene_draw(&s, (uint64_t)i);
        const double *w = s.v, *u = s.v + 3, *al = s.a, *du = s.a + 3;
        const kk_mat3 R = kk_quat_to_mat3((kk_quat){s.q[0], s.q[1], s.q[2], s.q[3]});
        const kk_vec3 up = kk_mat3_tmul_vec(R, kk_vec3_make(0, 0, G));
        const double tau[6] = {
            I[0] * al[0] + (I[2] - I[1]) * w[1] * w[2],     I[1] * al[1] + (I[0] - I[2]) * w[2] * w[0],
            I[2] * al[2] + (I[1] - I[0]) * w[0] * w[1],     m * (du[0] + w[1] * u[2] - w[2] * u[1] + up.x),
            m * (du[1] + w[2] * u[0] - w[0] * u[2] + up.y), m * (du[2] + w[0] * u[1] - w[1] * u[0] + up.z)};
        expect(&s, s.q, s.v, s.a, tau);
    }
    scene_free(&s);
}

// without torque: ω̇ by Euler, the center of mass falls with g
KK_TEST(torque_free_rotation) {
    const double I[3] = {0.5, 0.8, 1.1};
    kk_spec *spec = empty();
    add(spec, link("body", KK_WORLD, KK_JOINT_FREE, Z, O, with_moments(2, O, I[0], I[1], I[2])));
    scene s = scene_of(spec, 0);
    const double q[7] = {1, 0, 0, 0, 1, 2, 3}, w[6] = {3, -2, 5, 0, 0, 0}, tau[6] = {0};
    double a[6];
    kk_forward_dynamics(s.model, s.data, q, w, tau, a);
    KK_CHECK_REL(a[0], (I[1] - I[2]) * w[1] * w[2] / I[0], 1e-14);
    KK_CHECK_REL(a[1], (I[2] - I[0]) * w[2] * w[0] / I[1], 1e-14);
    KK_CHECK_REL(a[2], (I[0] - I[1]) * w[0] * w[1] / I[2], 1e-14);
    KK_CHECK_NEAR(a[3], 0, 1e-14);
    KK_CHECK_NEAR(a[4], 0, 1e-14);
    KK_CHECK_REL(a[5], -G, 1e-14);
    scene_free(&s);
}

// a top on its tip, leaning by θ, precesses steadily at Ω when m g l = (C (s + Ω cos θ) − A Ω cos θ) Ω: no torque is left over
KK_TEST(heavy_top_in_steady_precession) {
    const double m = 0.5, l = 0.2, A = 0.03, C = 0.002, theta = 0.6, precession = 1.7;
    const double about_tip = A; // transverse moment about the tip
    const double spin = (m * G * l / precession + about_tip * precession * cos(theta)) / C - precession * cos(theta);
    kk_spec *spec = empty();
    add(spec, link("top", KK_WORLD, KK_JOINT_BALL, Z, O,
                   with_moments(m, kk_vec3_make(0, 0, l), A - m * l * l, A - m * l * l, C)));
    scene s = scene_of(spec, 0);
    const kk_quat lean = kk_quat_exp(kk_vec3_make(0, theta, 0));
    const double q[4] = {lean.w, lean.x, lean.y, lean.z};
    // ω = Ω up + s axis, in the body's axes; its components turn back against the spin
    const double w[3] = {-precession * sin(theta), 0, spin + precession * cos(theta)};
    const double a[3] = {0, spin * precession * sin(theta), 0}, tau[3] = {0, 0, 0};
    expect(&s, q, w, a, tau);
    scene_free(&s);
}

// a wheel spinning at s on an axle that is turned at Ω about the vertical: the moment C s Ω stands across both
KK_TEST(gyroscopic_moment_in_gimbals) {
    const double C = 0.4, A = 0.25, W = 0.9, S = 20;
    kk_spec *spec = empty();
    const int turntable =
        add(spec, link("turntable", KK_WORLD, KK_JOINT_HINGE, Z, O, with_moments(0.1, O, 0.1, 0.1, 0.1)));
    const int gimbal = add(spec, link("gimbal", turntable, KK_JOINT_HINGE, Y, O, with_moments(0, O, 0, 0, 0)));
    add(spec, link("wheel", gimbal, KK_JOINT_HINGE, X, O, with_moments(2, O, C, A, A)));
    scene s = scene_of(spec, 0);
    const double q[3] = {0.4, 0, 1.1}, v[3] = {W, 0, S}, a[3] = {0, 0, 0}, tau[3] = {0, C * S * W, 0};
    expect(&s, q, v, a, tau);
    scene_free(&s);
}

// a point mass r from the crossing of a universal joint's axes z and y: spherical coordinates
KK_TEST(universal_joint_is_spherical_coordinates) {
    const double m = 1.2, r = 0.8;
    kk_spec *spec = empty();
    kk_body_def body = link("arm", KK_WORLD, KK_JOINT_UNIVERSAL, Z, O, point_mass(m, r, 0, 0));
    body.joint.axis2 = Y;
    body.joint.dof[0].armature = body.joint.dof[1].armature = 0.1;
    add(spec, body);
    scene s = scene_of(spec, 0);
    for (int i = 0; i < 50; i++) {
        scene_draw(&s, (uint64_t)i);
        // height −r sin p, distance from the axis r cos p
        const double p = s.q[1], *v = s.v, *a = s.a;
        const double tau[2] = {m * r * r * (cos(p) * cos(p) * a[0] - 2 * sin(p) * cos(p) * v[0] * v[1]) + 0.1 * a[0],
                               m * r * r * (a[1] + sin(p) * cos(p) * v[0] * v[0]) - m * G * r * cos(p) + 0.1 * a[1]};
        expect(&s, s.q, s.v, s.a, tau);
    }
    scene_free(&s);
}

// a mass at distance r from a horizontal axis along which it slides: the two motions do not mix
KK_TEST(cylindrical_joint) {
    const double m = 1.2, r = 0.8, I = 0.05;
    kk_spec *spec = empty();
    add(spec, link("collar", KK_WORLD, KK_JOINT_CYLINDRICAL, X, O, with_moments(m, kk_vec3_make(0, 0, -r), I, I, I)));
    scene s = scene_of(spec, 0);
    for (int i = 0; i < 20; i++) {
        scene_draw(&s, (uint64_t)i);
        const double tau[2] = {(I + m * r * r) * s.a[0] + m * G * r * sin(s.q[0]), m * s.a[1]};
        expect(&s, s.q, s.v, s.a, tau);
    }
    scene_free(&s);
}

// a plate upright in the x-z plane: normal −y, first direction x, so the second is z = −y × x; center of mass c along its own x
KK_TEST(planar_joint) {
    const double m = 1.5, I = 0.2, c = 0.3;
    kk_spec *spec = empty();
    kk_body_def plate = link("plate", KK_WORLD, KK_JOINT_PLANAR, kk_vec3_make(0, -1, 0), O,
                             with_moments(m, kk_vec3_make(c, 0, 0), I, I, I));
    plate.joint.axis2 = X;
    add(spec, plate);
    scene s = scene_of(spec, 0);
    for (int i = 0; i < 20; i++) {
        scene_draw(&s, (uint64_t)i);
        const double e = s.q[2], w = s.v[2], *a = s.a, C = c * cos(e), S = c * sin(e);
        const double ax = a[0] - S * a[2] - C * w * w, az = a[1] + C * a[2] - S * w * w + G;
        const double tau[3] = {m * ax, m * az, I * a[2] + m * (C * az - S * ax)};
        expect(&s, s.q, s.v, s.a, tau);
    }
    scene_free(&s);
}

// a chain of n rods held out horizontally: joint k carries the weight of all beyond at the mean distance, w l (n − k)² / 2
KK_TEST(weight_of_a_rod_chain) {
    enum { N = 12 };
    const double m = 0.2, l = 0.1;
    kk_spec *spec = empty();
    int parent = KK_WORLD;
    for (int i = 0; i < N; i++) {
        char name[3] = {'r', (char)('a' + i), 0};
        kk_body_def rod = link(name, parent, KK_JOINT_HINGE, Y, kk_vec3_make(i ? l : 0, 0, 0),
                               with_moments(m, kk_vec3_make(l / 2, 0, 0), 0, m * l * l / 12, m * l * l / 12));
        rod.inertia.moment.xx = 1e-6;
        parent = add(spec, rod);
    }
    scene s = scene_of(spec, 0);
    double q[N] = {0}, tau[N];
    kk_gravity_force(s.model, s.data, q, tau);
    for (int i = 0; i < N; i++) {
        KK_CHECK_REL(tau[i], -m * G * l * (N - i) * (N - i) / 2, 1e-13);
    }
    scene_free(&s);
}

// a ball joint's spherical pendulum: released from rest leaning, it swings as a plane pendulum
KK_TEST(ball_joint_released_from_rest) {
    const double m = 1, l = 0.5, I = 0.01, lean = 0.8;
    kk_spec *spec = empty();
    add(spec, link("bob", KK_WORLD, KK_JOINT_BALL, Z, O, with_moments(m, kk_vec3_make(0, 0, -l), I, I, I)));
    scene s = scene_of(spec, 0);
    const kk_quat r = kk_quat_exp(kk_vec3_make(lean, 0, 0));
    const double q[4] = {r.w, r.x, r.y, r.z}, v[3] = {0}, tau[3] = {0};
    double a[3];
    kk_forward_dynamics(s.model, s.data, q, v, tau, a);
    KK_CHECK_REL(a[0], -m * G * l * sin(lean) / (I + m * l * l), 1e-13);
    KK_CHECK_NEAR(a[1], 0, 1e-14);
    KK_CHECK_NEAR(a[2], 0, 1e-14);
    scene_free(&s);
}
