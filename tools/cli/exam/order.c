// Row 31: order of accuracy. Errors of (q, v) at one time, for steps from 8 to 0.5 ms, against solutions that nothing of the step is in.
#include <string.h>

#include "motion.h"
#include "rows.h"
#include "truth.h"

static const kk_vec3 origin = {0, 0, 0}, along_x = {1, 0, 0}, along_y = {0, 1, 0}, along_z = {0, 0, 1};
static const double TIME = 0.48;
enum { STEPS = 5 };
static const double lengths[STEPS] = {8e-3, 4e-3, 2e-3, 1e-3, 5e-4};

/// Slope of log error over log step by least squares. What is exact to rounding is of any order.
static double order_of(const double *error) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    if (error[0] < 1e-10) {
        return 9;
    }
    for (int i = 0; i < STEPS; i++) {
        const double x = kk_log(lengths[i]), y = kk_log(error[i] + 1e-14);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (STEPS * sxy - sx * sy) / (STEPS * sxx - sx * sx);
}

/// The error of a case at a step, and at the same time a scene under way.
typedef struct trial {
    exam *e;
    long *uncertified;
} trial;

static void judge(exam *e, int panel, const char *name, const double *error, double bar) {
    char text[EXAM_TEXT];
    for (int i = 0; i < STEPS; i++) {
        exam_point(e, panel, name, lengths[i], exam_max(error[i], 1e-14));
    }
    snprintf(text, sizeof text, "%s: order", name);
    exam_at_least(e, text, order_of(error), bar);
}

// ---- trees

typedef struct tree_case {
    const char *name;
    bool is_free;
    double stiffness, damping, kp, kd, armature, tendon, ratio;
} tree_case;

static const tree_case trees[] = {
    {.name = "fixed arm"},
    {.name = "free arm", .is_free = true},
    {.name = "with springs", .stiffness = 3},
    {.name = "with dampers", .damping = 0.02},
    {.name = "with servos", .kp = 3, .kd = 0.02},
    {.name = "with armature", .armature = 0.05},
    {.name = "with a tendon's spring", .tendon = 3},
    {.name = "with a coupling", .ratio = -0.5},
};

enum { FIRST_HINGE = 2 }; // bodies 2, 3, 4: hinges behind a base; 1: the base

/// Forces of the three hinges; their numbers in q and v are behind those of the base.
typedef struct hinges {
    const tree_case *c;
    int q, v;
} hinges;

static void add_hinge_forces(const void *system, const double *q, const double *v, double *tau) {
    const hinges *x = system;
    const tree_case *c = x->c;
    const double length = q[x->q] - 0.7 * q[x->q + 1] + 0.4 * q[x->q + 2], pull = -c->tendon * length;
    const double share[3] = {pull, -0.7 * pull, 0.4 * pull};
    for (int k = 0; k < 3; k++) {
        tau[x->v + k] += share[k] - (c->stiffness + c->kp) * q[x->q + k] - (c->damping + c->kd) * v[x->v + k];
    }
}

static int add_link(scene *s, const tree_case *c, int parent, int number) {
    static const char *const names[] = {"first", "second", "third"};
    const kk_vec3 axes[] = {along_y, along_x, along_y}, down = {0, 0, -0.3};
    const int body = motion_bar(s, parent, KK_JOINT_HINGE, axes[number], number ? down : origin, down, 1, 0.04);
    kk_error error = {0};
    if (s->is_broken || kk_spec_rename_joint(s->spec, body, names[number], &error) != KK_OK) {
        scene_break(s, error.text);
        return body;
    }
    kk_dof_def *dof = &kk_spec_body(s->spec, body)->joint.dof[0];
    dof->stiffness = c->stiffness;
    dof->damping = c->damping;
    dof->armature = c->armature;
    if (c->kp > 0) {
        kk_actuator_def servo = kk_actuator_def_default();
        servo.type = KK_ACTUATOR_POSITION;
        servo.target = names[number];
        servo.gain = c->kp;
        servo.bias[1] = -c->kp;
        servo.bias[2] = -c->kd;
        scene_actuator(s, &servo);
    }
    return body;
}

static void add_tendon(scene *s, double stiffness) {
    static const kk_tendon_item items[] = {{.name = "first", .coefficient = 1},
                                           {.name = "second", .coefficient = -0.7},
                                           {.name = "third", .coefficient = 0.4}};
    kk_tendon_def tendon = kk_tendon_def_default();
    tendon.name = "tendon";
    tendon.item = items;
    tendon.item_count = 3;
    tendon.stiffness = stiffness;
    scene_tendon(s, &tendon);
}

static void add_coupling(scene *s, double ratio) {
    kk_coupling_def coupling = kk_coupling_def_default();
    kk_error error = {0};
    coupling.follower = "third";
    coupling.leader = "second";
    coupling.ratio = ratio;
    if (!s->is_broken && kk_spec_add_coupling(s->spec, &coupling, NULL, &error) != KK_OK) {
        scene_break(s, error.text);
    }
}

static void build_tree(scene *s, const tree_case *c) {
    int last = scene_jointed(s, KK_WORLD, c->is_free ? KK_JOINT_FREE : KK_JOINT_BALL, along_z, origin,
                             kk_inertia_solid_box(3, 0.2, 0.3, 0.4));
    for (int i = 0; i < 3; i++) {
        last = add_link(s, c, last, i);
    }
    if (c->tendon > 0) {
        add_tendon(s, c->tendon);
    }
    if (c->ratio != 0) {
        add_coupling(s, c->ratio);
    }
}

static void start_tree(scene *s, const tree_case *c) {
    static const double angle[] = {0.6, -0.4, 0.5}, rate[] = {3, -2, 4};
    for (int k = 0; k < 3; k++) {
        scene_v(s, 1)[k] = 1 + k;
        scene_q(s, FIRST_HINGE + k)[0] = angle[k];
        scene_v(s, FIRST_HINGE + k)[0] = rate[k];
    }
    if (c->ratio != 0) {
        scene_q(s, 4)[0] = c->ratio * angle[1];
        scene_v(s, 4)[0] = c->ratio * rate[1];
    }
}

/// |q ⊖ q*| + |v − v*|
static double apart(const scene *s, const double *q, const double *v) {
    double sum = 0, way[TRUTH_MOST];
    kk_difference(s->model, q, kk_state_q_const(s->state), way);
    for (int k = 0; k < motion_nv(s); k++) {
        const double off = kk_state_v_const(s->state)[k] - v[k];
        sum += way[k] * way[k] + off * off;
    }
    return kk_sqrt(sum);
}

static double tree_error(const trial *t, const tree_case *c, double dt) {
    scene s;
    double y[TRUTH_MOST], error = 1;
    motion_begin(&s, t->e, 9.81);
    build_tree(&s, c);
    scene_ready_dt(&s, dt);
    start_tree(&s, c);
    if (!s.is_broken) {
        const int nq = kk_model_nq(s.model), nv = kk_model_nv(s.model);
        const hinges forces = {c, kk_model_joint(s.model, FIRST_HINGE).q_index,
                               kk_model_joint(s.model, FIRST_HINGE).v_index};
        const truth_tree tree = {s.model, s.data, c->ratio != 0, &forces, add_hinge_forces};
        memcpy(y, kk_state_q(s.state), (size_t)nq * sizeof *y);
        memcpy(y + nq, kk_state_v(s.state), (size_t)nv * sizeof *y);
        for (int i = 0; i < 2400; i++) {
            truth_step(truth_tree_rate, &tree, nq + nv, TIME / 2400, y);
        }
        kk_normalize(s.model, y);
        error = scene_run_until(&s, TIME) ? apart(&s, y, y + nq) : 1;
    }
    motion_end(&s, t->uncertified);
    return error;
}

static void judge_trees(const trial *t, int panel) {
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        double error[STEPS];
        for (int k = 0; k < STEPS; k++) {
            error[k] = tree_error(t, &trees[i], lengths[k]);
        }
        judge(t->e, panel, trees[i].name, error, 1.9);
    }
}

// ---- a loop: the four-bar as one degree of freedom, M(θ) θ̈ + ½ M'(θ) θ̇² + V'(θ) = 0

static const double GROUND = 1, CRANK = 0.3, COUPLER = 0.9, ROCKER = 0.7, WIDTH = 0.04;

typedef struct four_bar {
    double coupler, rocker;             ///< angles against the ground
    double coupler_ratio, rocker_ratio; ///< of their rates to the crank's
} four_bar;

static four_bar close_up(double crank) {
    const double x = CRANK * kk_cos(crank), z = CRANK * kk_sin(crank), dx = GROUND - x, d = kk_hypot(dx, z);
    const double along = (COUPLER * COUPLER - ROCKER * ROCKER + d * d) / (2 * d),
                 across = kk_sqrt(COUPLER * COUPLER - along * along);
    const double cx = x + (along * dx + across * z) / d, cz = z + (-along * z + across * dx) / d;
    four_bar f = {kk_atan2(cz - z, cx - x), kk_atan2(cz, cx - GROUND), 0, 0};
    f.coupler_ratio = -CRANK * kk_sin(f.rocker - crank) / (COUPLER * kk_sin(f.rocker - f.coupler));
    f.rocker_ratio = CRANK * kk_sin(f.coupler - crank) / (ROCKER * kk_sin(f.coupler - f.rocker));
    return f;
}

/// Bars of 1 kg/m.
static double moment_of(double length) { // about the middle
    return length * (length * length + WIDTH * WIDTH) / 12;
}

static double inertia_at(double crank) {
    const four_bar f = close_up(crank);
    const double w = f.coupler_ratio, turn = kk_cos(f.coupler - crank);
    const double middle = CRANK * CRANK + 0.25 * COUPLER * COUPLER * w * w + CRANK * COUPLER * w * turn;
    return moment_of(CRANK) + 0.25 * CRANK * CRANK * CRANK + COUPLER * middle + moment_of(COUPLER) * w * w +
           (moment_of(ROCKER) + 0.25 * ROCKER * ROCKER * ROCKER) * f.rocker_ratio * f.rocker_ratio;
}

static double height_at(double crank) {
    const four_bar f = close_up(crank);
    return 9.81 * (0.5 * CRANK * CRANK * kk_sin(crank) +
                   COUPLER * (CRANK * kk_sin(crank) + 0.5 * COUPLER * kk_sin(f.coupler)) +
                   0.5 * ROCKER * ROCKER * kk_sin(f.rocker));
}

static double slope_of(double (*f)(double), double x) {
    const double d = 1e-3;
    return (8 * (f(x + d) - f(x - d)) - (f(x + 2 * d) - f(x - 2 * d))) / (12 * d);
}

static void four_bar_rate(const void *system, const double *y, double *rate) {
    (void)system;
    rate[0] = y[1];
    rate[1] = -(0.5 * slope_of(inertia_at, y[0]) * y[1] * y[1] + slope_of(height_at, y[0])) / inertia_at(y[0]);
}

static int add_bar(scene *s, int parent, double at, double length) {
    return motion_bar(s, parent, KK_JOINT_HINGE, kk_vec3_make(0, -1, 0), kk_vec3_make(at, 0, 0),
                      kk_vec3_make(length, 0, 0), length, WIDTH);
}

static double loop_error(const trial *t, double dt) {
    const double start = 0.7, speed = 6;
    scene s;
    motion_begin(&s, t->e, 9.81);
    const int crank = add_bar(&s, KK_WORLD, 0, CRANK), coupler = add_bar(&s, crank, CRANK, COUPLER);
    const int rocker = add_bar(&s, KK_WORLD, GROUND, ROCKER);
    scene_loop(&s, KK_LOOP_POINT, coupler, kk_vec3_make(COUPLER, 0, 0), rocker, kk_vec3_make(ROCKER, 0, 0));
    scene_ready_dt(&s, dt);
    const four_bar f = close_up(start);
    scene_q(&s, crank)[0] = start;
    scene_q(&s, coupler)[0] = f.coupler - start;
    scene_q(&s, rocker)[0] = f.rocker;
    scene_v(&s, crank)[0] = speed;
    scene_v(&s, coupler)[0] = (f.coupler_ratio - 1) * speed;
    scene_v(&s, rocker)[0] = f.rocker_ratio * speed;
    double y[2] = {start, speed};
    for (int i = 0; i < 2400; i++) {
        truth_step(four_bar_rate, NULL, 2, TIME / 2400, y);
    }
    const bool ran = scene_run_until(&s, TIME);
    const double error = kk_hypot(scene_q(&s, crank)[0] - y[0], scene_v(&s, crank)[0] - y[1]);
    motion_end(&s, t->uncertified);
    return ran ? error : 1;
}

// ---- a contact that slides and spins

static double slide_error(const trial *t, double dt) {
    const truth_top top = {1, 0.1, 0.02, 0.0035, 0.004, 0.1, 9.81};
    scene s;
    motion_begin(&s, t->e, top.gravity);
    scene_floor(&s, scene_material(&s, top.friction, 0));
    const kk_inertia inertia = {top.mass, {0, 0, -top.below}, {top.across, top.across, top.along, 0, 0, 0}};
    const int ball = scene_jointed(&s, KK_WORLD, KK_JOINT_FREE, along_z, origin, inertia);
    const kk_shape_def round = scene_shape_def(KK_SHAPE_SPHERE, ball, top.radius, 0, 0, 0);
    scene_shape(&s, &round);
    scene_ready_dt(&s, dt);
    scene_turn(&s, ball, kk_vec3_make(0.3, 0, 0));
    scene_place(&s, ball, 0, 0, top.radius);
    // the center stays at its height: the spin is about z, and about the axis
    const kk_vec3 axis = kk_vec3_make(0, -kk_sin(0.3), kk_cos(0.3)),
                  w = kk_vec3_add(kk_vec3_make(0, 0, 5), kk_vec3_scale(axis, 25));
    const kk_vec3 u = kk_vec3_make(2, 1, 0), own = kk_vec3_make(0, 5 * kk_sin(0.3), 5 * kk_cos(0.3) + 25);
    const kk_vec3 turned = kk_vec3_make(u.x, u.y * kk_cos(0.3), -u.y * kk_sin(0.3)); // in its axes
    double *v = scene_v(&s, ball);
    for (int k = 0; k < 3; k++) {
        v[k] = kk_vec3_get(own, k);
        v[3 + k] = kk_vec3_get(turned, k);
    }
    const kk_vec3 center = kk_vec3_scale(axis, top.below), c = kk_vec3_sub(u, kk_vec3_cross(w, center));
    double y[10] = {-center.x, -center.y, c.x, c.y, axis.x, axis.y, axis.z, w.x, w.y, w.z};
    for (int i = 0; i < 4800; i++) {
        truth_step(truth_top_rate, &top, 10, TIME / 4800, y);
    }
    const bool ran = scene_run_until(&s, TIME);
    const double *q = scene_q(&s, ball);
    const kk_mat3 R = kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]});
    const kk_vec3 a = kk_mat3_column(R, 2), spin = kk_mat3_mul_vec(R, kk_vec3_make(v[0], v[1], v[2]));
    const kk_vec3 off = kk_vec3_sub(a, kk_vec3_make(y[4], y[5], y[6])),
                  spun = kk_vec3_sub(spin, kk_vec3_make(y[7], y[8], y[9]));
    const double dx = q[4] - top.below * a.x - y[0], dy = q[5] - top.below * a.y - y[1];
    const double error = kk_hypot(dx, dy) + kk_vec3_norm(off) + kk_vec3_norm(spun);
    motion_end(&s, t->uncertified);
    return ran ? error : 1;
}

// ---- across stick and slip: a load with dry friction, drawn by a spring by a second one that swings

static const double LOAD = 1, DRIVER = 3, HARD = 200, SWING = 600, DRY = 4;

typedef struct drawn {
    double sign; ///< of the load's speed; 0: it sticks
} drawn;

/// y: place and speed of the load, of the driver.
static void drawn_rate(const void *system, const double *y, double *rate) {
    const drawn *x = system;
    const double pull = HARD * (y[2] - y[0]);
    rate[0] = x->sign != 0 ? y[1] : 0;
    rate[1] = x->sign != 0 ? (pull - x->sign * DRY) / LOAD : 0;
    rate[2] = y[3];
    rate[3] = (-pull - SWING * y[2]) / DRIVER;
}

/// Positive as long as what it does goes on.
static double goes_on(const drawn *x, const double *y) {
    const double pull = HARD * (y[2] - y[0]);
    return x->sign != 0 ? y[1] * x->sign : DRY - exam_abs(pull);
}

static void turn_over(drawn *x, double *y) {
    const double pull = HARD * (y[2] - y[0]);
    if (x->sign != 0) {
        y[1] = 0;
        x->sign = exam_abs(pull) <= DRY ? 0 : pull > 0 ? 1 : -1;
    } else {
        x->sign = pull > 0 ? 1 : -1;
    }
}

static void fine_drawn(drawn *x, double h, double *y) {
    double whole[4], low = 0, high = h;
    memcpy(whole, y, sizeof whole);
    truth_step(drawn_rate, x, 4, h, whole);
    if (goes_on(x, whole) >= 0) {
        memcpy(y, whole, sizeof whole);
        return;
    }
    for (int i = 0; i < 50; i++) {
        const double middle = 0.5 * (low + high);
        memcpy(whole, y, sizeof whole);
        truth_step(drawn_rate, x, 4, middle, whole);
        *(goes_on(x, whole) < 0 ? &high : &low) = middle;
    }
    truth_step(drawn_rate, x, 4, low, y);
    turn_over(x, y);
    truth_step(drawn_rate, x, 4, h - low, y);
}

static int add_slide(scene *s, const char *name, double mass, double stiffness, double friction) {
    kk_body_def def = kk_body_def_default();
    def.joint.name = name;
    def.joint.type = KK_JOINT_SLIDE;
    def.joint.axis = along_x;
    def.joint.dof[0].stiffness = stiffness;
    def.joint.dof[0].friction = friction;
    def.inertia = kk_inertia_solid_sphere(mass, 0.1);
    return scene_body(s, &def);
}

static double stick_error(const trial *t, double dt) {
    static const kk_tendon_item items[] = {{.name = "driver", .coefficient = 1}, {.name = "load", .coefficient = -1}};
    scene s;
    motion_begin(&s, t->e, 0);
    const int load = add_slide(&s, "load", LOAD, 0, DRY), driver = add_slide(&s, "driver", DRIVER, SWING, 0);
    kk_tendon_def spring = kk_tendon_def_default();
    spring.name = "spring";
    spring.item = items;
    spring.item_count = 2;
    spring.stiffness = HARD;
    scene_tendon(&s, &spring);
    scene_ready_dt(&s, dt);
    double y[4] = {0, 0, 0, 1};
    drawn x = {0};
    scene_v(&s, driver)[0] = y[3];
    for (int i = 0; i < 9600; i++) {
        fine_drawn(&x, 2 * TIME / 9600, y);
    }
    const bool ran = scene_run_until(&s, 2 * TIME);
    const double off[4] = {scene_q(&s, load)[0] - y[0], scene_v(&s, load)[0] - y[1], scene_q(&s, driver)[0] - y[2],
                           scene_v(&s, driver)[0] - y[3]};
    motion_end(&s, t->uncertified);
    return ran ? exam_abs(off[0]) + exam_abs(off[1]) + exam_abs(off[2]) + exam_abs(off[3]) : 1;
}

// ---- across an impact: a ball at the end of a pendulum bounces off the floor

static const double LENGTH = 0.5, HIGH = 0.35, BALL = 0.05, BOUNCE = 0.8;

static void pendulum_rate(const void *system, const double *y, double *rate) {
    (void)system;
    const double m = 1, I = m * LENGTH * LENGTH + 0.4 * m * BALL * BALL;
    rate[0] = y[1];
    rate[1] = -m * 9.81 * LENGTH * kk_sin(y[0]) / I;
}

static double gap_of(double angle) {
    return HIGH - LENGTH * kk_cos(angle) - BALL;
}

static void fine_pendulum(double h, double *y) {
    double whole[2] = {y[0], y[1]}, low = 0, high = h;
    truth_step(pendulum_rate, NULL, 2, h, whole);
    if (gap_of(whole[0]) < 0) {
        for (int i = 0; i < 50; i++) {
            const double middle = 0.5 * (low + high);
            memcpy(whole, y, sizeof whole);
            truth_step(pendulum_rate, NULL, 2, middle, whole);
            *(gap_of(whole[0]) < 0 ? &high : &low) = middle;
        }
        truth_step(pendulum_rate, NULL, 2, low, y);
        y[1] *= -BOUNCE;
        memcpy(whole, y, sizeof whole);
        truth_step(pendulum_rate, NULL, 2, h - low, whole);
    }
    memcpy(y, whole, sizeof whole);
}

static double impact_error(const trial *t, double dt) {
    scene s;
    motion_begin(&s, t->e, 9.81);
    scene_floor(&s, scene_material(&s, 0, BOUNCE));
    kk_inertia bob = kk_inertia_solid_sphere(1, BALL);
    bob.com = kk_vec3_make(0, 0, -LENGTH);
    const int body = scene_jointed(&s, KK_WORLD, KK_JOINT_HINGE, along_y, kk_vec3_make(0, 0, HIGH), bob);
    kk_shape_def ball = scene_shape_def(KK_SHAPE_SPHERE, body, BALL, 0, 0, 0);
    ball.placement = kk_transform_translation(0, 0, -LENGTH);
    scene_shape(&s, &ball);
    scene_ready_dt(&s, dt);
    double y[2] = {1.6, 0};
    scene_q(&s, body)[0] = y[0];
    for (int i = 0; i < 9600; i++) {
        fine_pendulum(TIME / 9600, y);
    }
    const bool ran = scene_run_until(&s, TIME);
    const double error = exam_abs(scene_q(&s, body)[0] - y[0]) + exam_abs(scene_v(&s, body)[0] - y[1]);
    motion_end(&s, t->uncertified);
    return ran ? error : 1;
}

static void run_order(exam *e) {
    static const struct {
        const char *name;
        double (*error)(const trial *t, double dt);
        double bar;
    } others[] = {{"loop: four-bar", loop_error, 1.9},
                  {"contact that slides and spins", slide_error, 1.9},
                  {"across stick and slip", stick_error, 0.9},
                  {"across an impact", impact_error, 0.9}};
    long uncertified = 0;
    const trial t = {e, &uncertified};
    judge_trees(&t, exam_plot(e, "trees", "time step [s]", "error of (q, v) after 0.48 s", true));
    const int panel = exam_plot(e, "loop, contact, stick, slip, impact", "time step [s]", "error of (q, v)", true);
    for (int i = 0; i < 4; i++) {
        double error[STEPS];
        for (int k = 0; k < STEPS; k++) {
            error[k] = others[i].error(&t, lengths[k]);
        }
        judge(e, panel, others[i].name, error, others[i].bar);
    }
    motion_note_steps(e, uncertified);
}

const exam_row exam_rows_order[] = {
    {31,
     "arms, springs, dampers, servos, armature, tendon, coupling, loop, sliding contact; stick, slip, impact, 8 ... "
     "0.5 ms",
     "order 2; 1 across events", "1; RK4 4", true, run_order},
    {0, NULL, NULL, NULL, false, NULL},
};
