// Rows 12, 13, 19: joints and loops.
#include "rows.h"
#include "scene.h"

static const double PI = 3.14159265358979323846;

// ---- 12

/// Kuroda's double pendulum: links of 5 kg, 2 × 2 × 6 m, hinged 1 m from their ends; dry friction 0.3 N m (S1 8.3). The moment about
/// the hinge is that of the geometry, 110/3 kg m²; the thesis prints 100/3.
enum { FIRST, SECOND };
static const double LINK = 4, ARM = 2, MASS = 5, MOMENT = 110.0 / 3, DRY = 0.3, G = 9.8;

typedef struct swing {
    double angle[2], rate[2]; ///< of the first link from the vertical, of the second against the first
} swing;

/// Lagrange's equations with friction of the given signs.
static void lagrange(const swing *x, const double sign[2], double a[2]) {
    const double c = kk_cos(x->angle[1]), s = kk_sin(x->angle[1]), couple = MASS * LINK * ARM;
    const double m11 = MOMENT + MASS * LINK * LINK + MOMENT + 2 * couple * c, m12 = MOMENT + couple * c, m22 = MOMENT;
    const double both = x->angle[0] + x->angle[1], w1 = x->rate[0], w2 = x->rate[1];
    const double f1 = couple * s * (2 * w1 + w2) * w2 - MASS * G * (ARM + LINK) * kk_sin(x->angle[0]) -
                      MASS * G * ARM * kk_sin(both) - DRY * sign[0];
    const double f2 = -couple * s * w1 * w1 - MASS * G * ARM * kk_sin(both) - DRY * sign[1];
    const double det = m11 * m22 - m12 * m12;
    a[0] = (m22 * f1 - m12 * f2) / det;
    a[1] = (m11 * f2 - m12 * f1) / det;
}

static swing moved(const swing *x, const double rate[2], const double a[2], double h) {
    swing y = *x;
    for (int i = 0; i < 2; i++) {
        y.angle[i] += h * rate[i];
        y.rate[i] += h * a[i];
    }
    return y;
}

static swing runge_kutta(const swing *x, const double sign[2], double h) {
    double a[4][2], rate[2], acceleration[2];
    lagrange(x, sign, a[0]);
    const swing x1 = moved(x, x->rate, a[0], 0.5 * h);
    lagrange(&x1, sign, a[1]);
    const swing x2 = moved(x, x1.rate, a[1], 0.5 * h);
    lagrange(&x2, sign, a[2]);
    const swing x3 = moved(x, x2.rate, a[2], h);
    lagrange(&x3, sign, a[3]);
    for (int i = 0; i < 2; i++) {
        rate[i] = (x->rate[i] + 2 * x1.rate[i] + 2 * x2.rate[i] + x3.rate[i]) / 6;
        acceleration[i] = (a[0][i] + 2 * a[1][i] + 2 * a[2][i] + a[3][i]) / 6;
    }
    return moved(x, rate, acceleration, h);
}

static bool reverses(const swing *x, const double sign[2]) {
    return x->rate[0] * sign[0] < 0 || x->rate[1] * sign[1] < 0;
}

/// A fine step; where a joint reverses in it, friction turns at that instant.
static void fine_step(swing *x, double sign[2], double h) {
    const swing whole = runge_kutta(x, sign, h);
    if (!reverses(&whole, sign)) {
        *x = whole;
        return;
    }
    double low = 0, high = h;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        const swing y = runge_kutta(x, sign, middle);
        *(reverses(&y, sign) ? &high : &low) = middle;
    }
    *x = runge_kutta(x, sign, high);
    for (int i = 0; i < 2; i++) {
        sign[i] = x->rate[i] * sign[i] < 0 ? -sign[i] : sign[i];
    }
    *x = runge_kutta(x, sign, h - high);
}

static int pendulum_link(scene *s, int parent, double at) {
    kk_body_def def = kk_body_def_default();
    def.parent = parent;
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = kk_vec3_make(0, -1, 0);
    def.joint.placement.p = kk_vec3_make(0, 0, -at);
    def.joint.dof[0].friction = DRY;
    def.inertia = kk_inertia_solid_box(MASS, 2, 2, 6);
    def.inertia.com = kk_vec3_make(0, 0, -ARM);
    return scene_body(s, &def);
}

static void run_pendulum(exam *e) {
    scene s;
    scene_begin(&s, e, G);
    if (!s.is_broken) {
        kk_spec_options(s.spec)->integrator = KK_INTEGRATOR_RK4;
    }
    const int first = pendulum_link(&s, KK_WORLD, 0), second = pendulum_link(&s, first, LINK);
    scene_ready_dt(&s, 1e-3);
    swing exact = {{PI / 4, 0}, {0, 0}};
    double sign[2] = {-1, 1}, a[2];
    // at rest the pull decides
    lagrange(&exact, (double[2]){0, 0}, a);
    sign[0] = a[0] < 0 ? -1 : 1;
    sign[1] = a[1] < 0 ? -1 : 1;
    scene_q(&s, first)[0] = PI / 4;
    const int panel = exam_plot(e, "angles", "time [s]", "angle [rad]", false);
    const int errors = exam_plot(e, "error", "time [s]", "angle [rad]", true);
    double worst = 0;
    while (scene_time(&s) < 10 - 5e-4 && scene_step(&s)) {
        for (int i = 0; i < 20; i++) {
            fine_step(&exact, sign, 5e-5);
        }
        const double error = exam_max(exam_abs(scene_q(&s, first)[0] - exact.angle[0]),
                                      exam_abs(scene_q(&s, second)[0] - exact.angle[1]));
        worst = exam_max(worst, error);
        exam_point(e, panel, "first", scene_time(&s), scene_q(&s, first)[0]);
        exam_point(e, panel, "second", scene_time(&s), scene_q(&s, second)[0]);
        exam_point(e, errors, "error", scene_time(&s), error);
    }
    exam_at_most(e, "worst angle in 10 s, rad", worst, 1e-6);
    scene_end(&s);
}

// ---- 13

/// K sag = m g l cos(sag).
static double sag_of(double K) {
    double sag = 0;
    for (int i = 0; i < 100; i++) {
        sag -= (K * sag - 4.9 * kk_cos(sag)) / (K + 4.9 * kk_sin(sag));
    }
    return sag;
}

/// A pendulum of 0.5 m and 1 kg that a servo holds horizontally, from hanging (S3, experiment 1).
static void servo(exam *e, double K, int panel) {
    scene s;
    char name[EXAM_TEXT];
    scene_begin(&s, e, 9.8);
    kk_body_def body = kk_body_def_default();
    body.joint.type = KK_JOINT_HINGE;
    body.joint.name = "hinge";
    body.joint.axis = kk_vec3_make(0, 1, 0);
    body.inertia = (kk_inertia){.mass = 1, .com = {0.5, 0, 0}};
    const int arm = scene_body(&s, &body);
    kk_actuator_def actuator = kk_actuator_def_default();
    actuator.type = KK_ACTUATOR_POSITION;
    actuator.target = "hinge";
    actuator.gain = K;
    actuator.bias[1] = -K;
    actuator.bias[2] = -0.5 * K;
    kk_error error = {0};
    if (!s.is_broken && kk_spec_add_actuator(s.spec, &actuator, NULL, &error) != KK_OK) {
        scene_break(&s, error.text);
    }
    scene_ready_dt(&s, 0.1);
    scene_q(&s, arm)[0] = PI / 2;
    snprintf(name, sizeof name, "K %g", K);
    double most = 0;
    while (scene_time(&s) < 100 && scene_step(&s)) {
        most = exam_max(most, exam_abs(scene_q(&s, arm)[0]));
        if (scene_time(&s) < 10) {
            exam_point(e, panel, name, scene_time(&s), scene_q(&s, arm)[0]);
        }
    }
    snprintf(name, sizeof name, "K %g: sag - %.9f rad", K, sag_of(K));
    exam_at_most(e, name, exam_abs(scene_q(&s, arm)[0] - sag_of(K)), 1e-9);
    snprintf(name, sizeof name, "K %g: largest angle on the way, rad", K);
    exam_at_most(e, name, most, PI / 2);
    scene_end(&s);
}

static void run_servo(exam *e) {
    const int panel =
        exam_plot(e, "a servo lifts a pendulum, dt 0.1 s", "time [s]", "angle below the target [rad]", false);
    double K = 2;
    for (int power = 0; power <= 6; power++) {
        servo(e, K, panel);
        K *= 10;
    }
}

// ---- 19

typedef struct point {
    double x, z;
} point;

/// Where circles about P and Q meet, on the left of the way from P to Q for side 1.
static point meet(point P, double p, point Q, double q, double side) {
    const double dx = Q.x - P.x, dz = Q.z - P.z, d = kk_hypot(dx, dz);
    const double along = (p * p - q * q + d * d) / (2 * d), across = side * kk_sqrt(p * p - along * along);
    return (point){P.x + (along * dx - across * dz) / d, P.z + (along * dz + across * dx) / d};
}

static double angle_of(point from, point to) {
    return kk_atan2(to.z - from.z, to.x - from.x);
}

static double difference(double a, double b) {
    double d = a - b;
    while (d > PI) {
        d -= 2 * PI;
    }
    while (d < -PI) {
        d += 2 * PI;
    }
    return exam_abs(d);
}

static kk_vec3 along_x(double x) {
    return kk_vec3_make(x, 0, 0);
}

/// A rod along x from its hinge, turning from x to z.
static int rod(scene *s, int parent, kk_vec3 at, double length) {
    kk_inertia inertia = kk_inertia_solid_box(length, length, 0.02, 0.02);
    inertia.com = along_x(0.5 * length);
    return scene_jointed(s, parent, KK_JOINT_HINGE, kk_vec3_make(0, -1, 0), at, inertia);
}

typedef struct linkage {
    const char *name;
    double ground, crank, coupler, follower, side;
    kk_loop_type type;
    bool
        has_third; ///< one more crank, parallel to the first but off the line of the others, so that no position is singular
} linkage;

/// Distance of a point of one body from a point of another.
static double distance(scene *s, int a, kk_vec3 on_a, int b, kk_vec3 on_b) {
    const kk_vec3 p = kk_transform_point(kk_body_pose(s->model, s->data, a), on_a);
    return kk_vec3_norm(kk_vec3_sub(p, kk_transform_point(kk_body_pose(s->model, s->data, b), on_b)));
}

/// @param turns  of the crank: what jams closes well, too
static void note_loop(exam *e, const char *what, double closure, double angle, double turns) {
    char name[EXAM_TEXT];
    snprintf(name, sizeof name, "%s: closure, m", what);
    exam_at_most(e, name, closure, 1e-9);
    snprintf(name, sizeof name, "%s: angle, rad", what);
    exam_at_most(e, name, angle, 1e-7);
    snprintf(name, sizeof name, "%s: turns of the crank", what);
    exam_at_least(e, name, turns, 20);
}

static void turn_linkage(exam *e, const linkage *l, int panel) {
    scene s;
    const point D = {l->ground, 0};
    const double start = 0.7;
    scene_begin(&s, e, 0);
    const int crank = rod(&s, KK_WORLD, along_x(0), l->crank), coupler = rod(&s, crank, along_x(l->crank), l->coupler);
    const int follower = rod(&s, KK_WORLD, along_x(l->ground), l->follower);
    scene_loop(&s, l->type, coupler, along_x(l->coupler), follower, along_x(l->follower));
    const kk_vec3 aside = kk_vec3_make(0.5 * l->ground, 0, 0.3);
    const int third = l->has_third ? rod(&s, KK_WORLD, aside, l->crank) : 0;
    if (third) {
        scene_loop(&s, l->type, coupler, aside, third, along_x(l->crank));
    }
    scene_ready_dt(&s, 1e-3);
    const point P = {l->crank * kk_cos(start), l->crank * kk_sin(start)};
    const point C = meet(P, l->coupler, D, l->follower, l->side);
    scene_q(&s, crank)[0] = start;
    scene_q(&s, coupler)[0] = angle_of(P, C) - start;
    scene_q(&s, follower)[0] = angle_of(D, C);
    if (third) {
        scene_q(&s, third)[0] = start;
    }
    scene_v(&s, crank)[0] = 2 * PI;
    double closure = 0, angle = 0;
    while (s.steps < 100000 && scene_step(&s)) {
        kk_kinematics(s.model, s.data, kk_state_q(s.state));
        closure = exam_max(closure, distance(&s, coupler, along_x(l->coupler), follower, along_x(l->follower)));
        const double q = scene_q(&s, crank)[0];
        const point tip = {l->crank * kk_cos(q), l->crank * kk_sin(q)};
        // a parallelogram's branch is that of its crank
        const double wanted = third ? q : angle_of(D, meet(tip, l->coupler, D, l->follower, l->side));
        angle = exam_max(angle, difference(scene_q(&s, follower)[0], wanted));
        if (s.steps < 3000) {
            exam_point(e, panel, l->name, scene_time(&s), scene_q(&s, follower)[0]);
        }
    }
    const double turns = exam_abs(scene_q(&s, crank)[0] - start) / (2 * PI);
    note_loop(e, l->name, s.is_broken ? 1 : closure, s.is_broken ? 1 : angle, turns);
    scene_end(&s);
}

static void slider_crank(exam *e, int panel) {
    scene s;
    const double crank_length = 0.3, rod_length = 1, start = 0.7;
    scene_begin(&s, e, 0);
    const int crank = rod(&s, KK_WORLD, along_x(0), crank_length),
              link = rod(&s, crank, along_x(crank_length), rod_length);
    const int slider =
        scene_jointed(&s, KK_WORLD, KK_JOINT_SLIDE, along_x(1), along_x(0), kk_inertia_solid_box(0.5, 0.1, 0.1, 0.1));
    scene_loop(&s, KK_LOOP_POINT, link, along_x(rod_length), slider, along_x(0));
    scene_ready_dt(&s, 1e-3);
    const double lift = crank_length * kk_sin(start), lean = -kk_asin(lift / rod_length);
    scene_q(&s, crank)[0] = start;
    scene_q(&s, link)[0] = lean - start;
    scene_q(&s, slider)[0] = crank_length * kk_cos(start) + rod_length * kk_cos(lean);
    scene_v(&s, crank)[0] = 2 * PI;
    double closure = 0, angle = 0, way = 0;
    while (s.steps < 100000 && scene_step(&s)) {
        kk_kinematics(s.model, s.data, kk_state_q(s.state));
        closure = exam_max(closure, distance(&s, link, along_x(rod_length), slider, along_x(0)));
        const double q = scene_q(&s, crank)[0], turned = -kk_asin(crank_length * kk_sin(q) / rod_length);
        angle = exam_max(angle, difference(scene_q(&s, link)[0] + q, turned));
        way = exam_max(way, exam_abs(scene_q(&s, slider)[0] - crank_length * kk_cos(q) - rod_length * kk_cos(turned)));
        if (s.steps < 3000) {
            exam_point(e, panel, "slider-crank", scene_time(&s), scene_q(&s, slider)[0]);
        }
    }
    const double turns = exam_abs(scene_q(&s, crank)[0] - start) / (2 * PI);
    note_loop(e, "slider-crank", s.is_broken ? 1 : exam_max(closure, way), s.is_broken ? 1 : angle, turns);
    scene_end(&s);
}

static void run_loops(exam *e) {
    static const linkage linkages[] = {
        {"four-bar", 1, 0.3, 0.9, 0.7, -1, KK_LOOP_POINT, false},
        {"Chebyshev", 0.8, 0.4, 1, 1, 1, KK_LOOP_POINT, false},
        {"parallelogram with a third crank", 1, 0.4, 1, 0.4, 1, KK_LOOP_AXIS, true},
    };
    const int panel = exam_plot(e, "followers", "time [s]", "angle [rad], way [m]", false);
    for (int i = 0; i < 3; i++) {
        turn_linkage(e, &linkages[i], panel);
    }
    slider_crank(e, panel);
}

const exam_row exam_rows_joints[] = {
    {12, "double pendulum of Kuroda, RK4", "fine Lagrange solution", "visibly off", true, run_pendulum},
    {13, "implicit PD of Springhead, dt 0.1 s, K 2 ... 2e6", "sag 1.103550701, 0.238088679, 0.024492652 rad ...", "",
     true, run_servo},
    {19, "four-bar, Chebyshev, slider-crank, one redundant loop, 1e5 steps", "closed form", "1 mm, 0.1 deg", false,
     run_loops},
    {0, NULL, NULL, NULL, false, NULL},
};
