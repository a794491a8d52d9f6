// S3, Springhead: implicit servos, feed-forward by rewinding, a closed mechanism with large internal forces.
#include <math.h>

#include <stdlib.h>

#include "runner.h"

// ---- Fig. 6: a pendulum on a servo, explicit and implicit

static const kk_solver OURS = KK_SOLVER_EXACT, S3 = KK_SOLVER_SPRINGHEAD;
enum { GAINS = 3 };
static const double gains[GAINS][2] = {{2, 1}, {20, 10}, {200, 100}};

static void add_servo(study *s, scene *t, double stiffness, double damping) {
    kk_error error = {0};
    kk_actuator_def servo = kk_actuator_def_default();
    servo.type = KK_ACTUATOR_POSITION;
    servo.target = "body1_joint";
    servo.gain = stiffness;
    servo.bias[1] = -stiffness;
    servo.bias[2] = -damping;
    if (!t->is_broken) {
        study_ok(s, kk_spec_add_actuator(t->spec, &servo, NULL, &error), &error);
    }
}

/// 1 kg on a massless rod of 0.5 m, a servo towards the lowest point at its hinge, released at 90°. @param own  inertia of the bob itself, kg m²
static void begin_pendulum(study *s, scene *t, kk_solver by, const double gain[2], double own, double dt,
                           bool is_explicit) {
    const kk_inertia point = {.mass = 1, .com = kk_vec3_make(0, 0, -0.5), .moment = {.xx = own, .yy = own, .zz = own}};
    // an explicit servo is to be seen diverging in steps of this length: with a bound on factors steps are taken as they are and none is audited
    const kk_step_options options = {.solver = by,
                                     .timestep = dt,
                                     .explicit_servos = is_explicit,
                                     .effort = is_explicit ? KK_EFFORT_NEWTON : KK_EFFORT_TOLERANCE,
                                     .iterations = is_explicit ? 1000 : 0};
    scene_begin(t, &s->exam, 9.81);
    t->is_own_solver = true;
    scene_jointed(t, KK_WORLD, KK_JOINT_HINGE, kk_vec3_make(0, 1, 0), kk_vec3_make(0, 0, 0), point);
    add_servo(s, t, gain[0], gain[1]);
    scene_ready(t, &options);
    scene_q(t, 1)[0] = KK_HALF_PI;
}

/// What diverges leaves the picture here, rad.
static const double EDGE = 4;

/// Draws the angle, up to where it leaves the picture, and gives the largest of the last second. @param panel  −1: none
/// @param own  inertia of the bob itself
static double swing(study *s, int panel, const char *name, kk_solver by, const double gain[2], double own, double dt,
                    bool is_explicit, double until) {
    scene t;
    double last = 0, before = KK_HALF_PI;
    bool is_inside = true;
    begin_pendulum(s, &t, by, gain, own, dt, is_explicit);
    is_inside = panel >= 0;
    if (is_inside) {
        exam_point(&s->exam, panel, name, 0, KK_HALF_PI);
    }
    for (int i = 1; i * dt <= until + 0.5 * dt; i++) {
        if (!(fabs(scene_q(&t, 1)[0]) < 1e6) || !scene_step(&t)) {
            last = INFINITY;
            break;
        }
        const double angle = scene_q(&t, 1)[0];
        if (is_inside && i % (int)(0.1 / dt + 0.5) == 0) {
            const double out = angle > 0 ? EDGE : -EDGE, share = (out - before) / (angle - before);
            is_inside = fabs(angle) < EDGE;
            exam_point(&s->exam, panel, name, is_inside ? i * dt : (i - 1 + share) * dt, is_inside ? angle : out);
            before = angle;
        }
        last = i * dt > until - 1 ? exam_max(last, fabs(angle)) : last;
    }
    scene_end(&t);
    return last;
}

/// A bob's own inertia, kg m², for which the explicit rule at the middle gains neither dies down nor runs away. Near the lowest point it multiplies
/// velocities by −1 where I = (2 h D + h² (K + m g l))/4 = 0.5623 kg m², of which m l² is 0.25.
static const double STEADY = 0.312;

static void run_servo(study *s) {
    double implicit_last = 0, explicit_last[2][GAINS];
    for (int g = 0; g < GAINS; g++) {
        char title[80];
        snprintf(title, sizeof title, "K = %g N m/rad, D = %g N m s/rad, h = 0.1 s", gains[g][0], gains[g][1]);
        const int panel = exam_plot(&s->exam, title, "time / s", "angle / rad", false);
        const double ours = swing(s, panel, "implicit", OURS, gains[g], 0, 0.1, false, 10);
        const double theirs = swing(s, panel, "implicit, S3's solver", S3, gains[g], 0, 0.1, false, 10);
        implicit_last = exam_max(implicit_last, exam_max(ours, theirs));
        explicit_last[0][g] = swing(s, panel, "explicit", OURS, gains[g], 0, 0.1, true, 10);
        explicit_last[1][g] = swing(s, panel, "explicit, S3's solver", S3, gains[g], 0, 0.1, true, 10);
        swing(s, panel, "reference, h = 0.1 ms", OURS, gains[g], 0, 1e-4, false, 10);
    }
    const int steady =
        exam_plot(&s->exam, "K = 20, D = 10 on a bob with an inertia of its own", "time / s", "angle / rad", false);
    const double swings = swing(s, steady, "explicit, S3's solver", S3, gains[1], STEADY, 0.1, true, 10);
    const double swung = swing(s, -1, NULL, S3, gains[1], STEADY, 0.1, true, 5);
    const double rests = swing(s, steady, "implicit, S3's solver", S3, gains[1], STEADY, 0.1, false, 10);
    study_near(
        s,
        "explicit servo, second gain, on a bob of 0.312 kg m²: largest angle of the 10th second over that of the 5th",
        "keeps oscillating steadily", swings / swung, "", 1, 0.05);
    study_at_most(s, "and the implicit one", "settles", rests, "rad", 0.01);
    study_at_most(s, "implicit servo: largest angle in the 10th second, worst of three gains and both solvers",
                  "settles in all three", implicit_last, "rad", 0.01);
    for (int by = 0; by < 2; by++) {
        static const char *const whose[2] = {"", ", by S3's solver"};
        const double *last = explicit_last[by];
        char name[120];
        snprintf(name, sizeof name, "explicit servo, first gain%s: largest angle in the 10th second", whose[by]);
        study_at_most(s, name, "settles", last[0], "rad", 0.05);
        snprintf(name, sizeof name, "explicit servo, second gain%s", whose[by]);
        study_fact(s, name, "keeps oscillating", last[1] > 0.1 ? "does not settle" : "settles", "does not settle",
                   last[1] > 0.1);
        snprintf(name, sizeof name, "explicit servo, third gain%s", whose[by]);
        study_fact(s, name, "diverges (not drawn)", last[2] > 1e3 ? "diverges" : "stays bounded", "diverges",
                   last[2] > 1e3);
    }
    study_note(s, "The mass sits on a rod without mass, so m l² = 0.25 kg m² and an explicit damper of the second gain "
                  "multiplies the velocity "
                  "by 1 − D h/(m l²) = −3 in a step: it cannot but diverge. The steady oscillation of the paper's "
                  "figure belongs to a bob with "
                  "an inertia of its own of about the same size.");
}

// ---- 3.3: feed-forward by rewinding

enum { JOINTS = 7 };
static const double ARM_KP = 20, ARM_KD = 4, ARM_DT = 1e-3;

/// The seven-axis arm with a soft servo in every joint.
static bool begin_arm(study *s, runner *r) {
    kk_spec *spec = NULL;
    kk_error error = {0};
    if (load_robot_spec(s->c, "robot:arm7", &spec)) {
        exam_trouble(&s->exam, "the arm cannot be built");
        return false;
    }
    for (int b = 1; b < kk_spec_body_count(spec); b++) {
        const kk_joint_def *joint = &kk_spec_body(spec, b)->joint;
        if (joint->type == KK_JOINT_HINGE) {
            char name[128];
            snprintf(name, sizeof name, "%s", joint->name && joint->name[0] ? joint->name : "");
            if (!name[0]) {
                snprintf(name, sizeof name, "%s_joint", kk_spec_body(spec, b)->name);
            }
            kk_actuator_def servo = kk_actuator_def_default();
            servo.type = KK_ACTUATOR_POSITION;
            servo.target = name;
            servo.gain = ARM_KP;
            servo.bias[1] = -ARM_KP;
            servo.bias[2] = -ARM_KD;
            study_ok(s, kk_spec_add_actuator(spec, &servo, NULL, &error), &error);
        }
    }
    const kk_step_options options = {.timestep = ARM_DT};
    return runner_take(r, s, spec, NULL, &options);
}

/// Target of joint k: a swing of its own amplitude and rate, from rest.
static void arm_target(int k, double t, double *q, double *v) {
    const double amplitude = 0.5 - 0.04 * k, rate = 3 + 0.5 * k;
    double s, c;
    kk_sincos(rate * t, &s, &c);
    *q = amplitude * (1 - c) - (k == 3 ? 1 : 0);
    *v = amplitude * rate * s;
}

/// 4 s along the targets; gives the largest error of a joint. @param drawn  series of joint 2's error; NULL: none
static double follow(study *s, bool has_feedforward, double *seconds, int panel, const char *drawn) {
    runner r;
    kk_feedforward *f = NULL;
    kk_error error = {0};
    double worst = INFINITY, change[JOINTS];
    if (begin_arm(s, &r) && study_ok(s, kk_feedforward_create(r.m.spec, NULL, 0, ARM_DT, NULL, &f, &error), &error)) {
        worst = 0;
        for (int k = 0; k < JOINTS; k++) {
            double v;
            arm_target(k, 0, &kk_state_q(r.state)[k], &v);
        }
        const double start = cli_now();
        for (int i = 0; i < 4000 && r.is_good; i++) {
            for (int k = 0; k < JOINTS; k++) {
                double q0, v0, q1, v1;
                arm_target(k, i * ARM_DT, &q0, &v0);
                arm_target(k, (i + 1) * ARM_DT, &q1, &v1);
                change[k] = v1 - v0;
                // of the step's mean, as the servo takes what it holds; the damper acts against the target's velocity
                r.control[k] = 0.5 * (q0 + q1) + ARM_KD / ARM_KP * 0.5 * (v0 + v1);
            }
            r.is_good =
                !has_feedforward || study_ok(s, kk_feedforward_torque(f, r.state, change, r.tau, &error), &error);
            runner_step(&r);
            for (int k = 0; k < JOINTS; k++) {
                double q, v;
                arm_target(k, (i + 1) * ARM_DT, &q, &v);
                worst = exam_max(worst, fabs(kk_state_q(r.state)[k] - q));
                if (k == 1 && drawn && i % 10 == 0) {
                    exam_point(&s->exam, panel, drawn, (i + 1) * ARM_DT, kk_state_q(r.state)[k] - q);
                }
            }
        }
        *seconds = cli_now() - start;
        worst = r.is_good ? worst : INFINITY;
    }
    kk_feedforward_free(f);
    runner_end(&r);
    return worst;
}

/// A pendulum that follows a swing under gravity by feed-forward, or one without gravity that is held at rest, both on the same soft servo and pushed
/// by 3 N m from 1 to 1.1 s. Fills how far it is off after each step.
static void pushed(study *s, bool is_following, double *off, int steps) {
    static const double gain[2] = {5, 1}, dt = 1e-3;
    const kk_inertia point = {.mass = 1, .com = kk_vec3_make(0, 0, -0.5)};
    const kk_step_options options = {.timestep = dt};
    scene t;
    kk_feedforward *f = NULL;
    kk_error error = {0};
    scene_begin(&t, &s->exam, is_following ? 9.81 : 0);
    scene_jointed(&t, KK_WORLD, KK_JOINT_HINGE, kk_vec3_make(0, 1, 0), kk_vec3_make(0, 0, 0), point);
    add_servo(s, &t, gain[0], gain[1]);
    scene_ready(&t, &options);
    bool is_good = !t.is_broken && study_ok(s, kk_feedforward_create(t.spec, NULL, 0, dt, NULL, &f, &error), &error);
    t.is_pushed = true;
    for (int i = 0; i < steps && is_good; i++) {
        double q0 = 0, v0 = 0, q1 = 0, v1 = 0;
        if (is_following) {
            arm_target(0, i * dt, &q0, &v0);
            arm_target(0, (i + 1) * dt, &q1, &v1);
        }
        const double change = v1 - v0;
        t.control[0] = 0.5 * (q0 + q1) + gain[1] / gain[0] * 0.5 * (v0 + v1);
        is_good = study_ok(s, kk_feedforward_torque(f, t.state, &change, t.tau, &error), &error);
        t.tau[0] += i >= 1000 && i < 1100 ? 3 : 0;
        is_good = is_good && scene_step(&t);
        off[i] = scene_q(&t, 1)[0] - q1;
    }
    kk_feedforward_free(f);
    scene_end(&t);
}

/// A pendulum with a ball at its end follows a swing into a wall at 0.3 rad and out again. The twin knows no contacts: while the ball rests on the
/// wall its force is what the servo alone makes of the way that is left. Gives the largest difference of the two as a share of the largest, and how
/// far the pendulum is off when it has been free for a second.
static double press_wall(study *s, int panel, double *after) {
    static const double gain[2] = {20, 4}, dt = 1e-3, wall = 0.3, radius = 0.05, length = 0.5;
    const kk_inertia bob = kk_inertia_to(kk_transform_make(kk_mat3_identity(), kk_vec3_make(0, 0, -length)),
                                         kk_inertia_solid_sphere(1, radius));
    const kk_step_options options = {.timestep = dt};
    scene t;
    kk_feedforward *f = NULL;
    kk_error error = {0};
    double off = 0, largest = 0;
    bool rested = false;
    scene_begin(&t, &s->exam, 9.81);
    const int material = scene_material(&t, 0, 0);
    const int body = scene_jointed(&t, KK_WORLD, KK_JOINT_HINGE, kk_vec3_make(0, 1, 0), kk_vec3_make(0, 0, 0), bob);
    kk_shape_def ball = scene_shape_def(KK_SHAPE_SPHERE, body, radius, 0, 0, material);
    ball.placement.p.z = -length;
    scene_shape(&t, &ball);
    // hinges about y turn the bob towards −x; the wall's face looks along the ball's way there
    kk_shape_def plane = scene_shape_def(KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    const kk_vec3 n = kk_vec3_make(kk_cos(wall), 0, -kk_sin(wall));
    const kk_vec3 at = kk_vec3_make(-length * kk_sin(wall), 0, -length * kk_cos(wall));
    plane.placement.R = kk_quat_to_mat3(kk_quat_exp(kk_vec3_make(0, KK_HALF_PI + wall, 0)));
    plane.placement.p = kk_vec3_sub(at, kk_vec3_scale(n, radius));
    scene_shape(&t, &plane);
    add_servo(s, &t, gain[0], gain[1]);
    scene_ready(&t, &options);
    bool is_good = !t.is_broken && study_ok(s, kk_feedforward_create(t.spec, NULL, 0, dt, NULL, &f, &error), &error);
    t.is_pushed = true;
    const double inertia = length * length + 0.4 * radius * radius;
    for (int i = 0; i < 4000 && is_good; i++) {
        double q0, v0, q1, v1;
        arm_target(0, i * dt, &q0, &v0);
        arm_target(0, (i + 1) * dt, &q1, &v1);
        const double change = v1 - v0;
        t.control[0] = 0.5 * (q0 + q1) + gain[1] / gain[0] * 0.5 * (v0 + v1);
        is_good = study_ok(s, kk_feedforward_torque(f, t.state, &change, t.tau, &error), &error);
        is_good = is_good && scene_step(&t);
        const double q = scene_q(&t, 1)[0];
        const bool rests = fabs(scene_v(&t, 1)[0]) < 1e-6;
        const kk_vec3 force = kk_simulator_contact_wrench(t.simulator, body, KK_WORLD).linear;
        // the ball's own acceleration is that of the target, held back by the wall
        const double moment = kk_vec3_dot(force, n) * length;
        const double servo = gain[0] * (0.5 * (q0 + q1) - q) + gain[1] * 0.5 * (v0 + v1) + inertia * change / dt;
        if (moment > 0 && rests && rested) { // not the blow at which it lands
            off = exam_max(off, fabs(moment - servo));
            largest = exam_max(largest, moment);
        }
        if (i % 10 == 0) {
            exam_point(&s->exam, panel, "moment of the wall", (i + 1) * dt, moment);
            exam_point(&s->exam, panel, "of servo and target alone", (i + 1) * dt, q1 > wall ? servo : 0);
        }
        rested = moment > 0 && rests;
        *after = i == 2300 ? fabs(q - q1) : *after; // from 1.5 to 2.4 s it is free
    }
    kk_feedforward_free(f);
    scene_end(&t);
    return is_good && largest > 0 ? off / largest : INFINITY;
}

/// A four-bar whose crank is to rest, its loop switched off in the state: the crank's velocity after a step with the torque, rad/s.
static double crank_with_loop_off(study *s) {
    static const char *const crank[] = {"crank"};
    kk_spec *spec = NULL;
    runner r = {.s = s};
    kk_feedforward *f = NULL;
    kk_error error = {0};
    double left = INFINITY;
    if (study_load_spec(s, "four_bar/four_bar.xml", &spec)) {
        kk_spec_actuator(spec, 0)->gain = kk_spec_actuator(spec, 0)->bias[2] = 0;
        if (runner_take(&r, s, spec, NULL, NULL) &&
            study_ok(s, kk_feedforward_create(spec, crank, 1, 1e-3, NULL, &f, &error), &error)) {
            double *change = cli_allocate((size_t)kk_model_nv(r.m.model), sizeof *change);
            const bool good = study_ok(s, kk_state_set_loop(r.m.model, r.state, 0, 0), NULL) &&
                              study_ok(s, kk_feedforward_torque(f, r.state, change, r.tau, &error), &error);
            left = good && runner_step(&r) ? fabs(runner_v(&r, "crank")[0]) : INFINITY;
            free(change);
        }
    }
    kk_feedforward_free(f);
    runner_end(&r);
    return left;
}

static void run_feedforward(study *s) {
    enum { STEPS = 4000 };
    const int panel = exam_plot(&s->exam, "error of the second joint on the way", "time / s", "error / rad", false);
    const int answer =
        exam_plot(&s->exam, "answer of a pendulum to a push at 1 s", "time / s", "off the target / rad", false);
    double seconds = 0, alone_seconds = 0;
    const double error = follow(s, true, &seconds, panel, "with feed-forward");
    const double alone = follow(s, false, &alone_seconds, panel, "servo alone");
    double *following = cli_allocate(STEPS, sizeof *following), *resting = cli_allocate(STEPS, sizeof *resting);
    pushed(s, true, following, STEPS);
    pushed(s, false, resting, STEPS);
    double difference = 0, peak = 0;
    for (int i = 0; i < STEPS; i++) {
        difference = exam_max(difference, fabs(following[i] - resting[i]));
        peak = exam_max(peak, fabs(resting[i]));
        if (i % 10 == 0) {
            exam_point(&s->exam, answer, "following under gravity", (i + 1) * 1e-3, following[i]);
            exam_point(&s->exam, answer, "reference: the servo alone, weightless and at rest", (i + 1) * 1e-3,
                       resting[i]);
        }
    }
    study_at_most(s, "seven-axis arm at low gain (20 N m/rad): largest error of a joint", "follows without lag", error,
                  "rad", 1e-3);
    study_at_least(s, "the same servos without feed-forward", "lag and error", alone, "rad", 0.05);
    study_at_least(s, "the push moves the pendulum by", "", peak, "rad", 0.1);
    study_at_most(s, "its answer against that of the servo alone", "set by the PD control alone", difference, "rad",
                  1e-3);
    double after = INFINITY;
    const int wall =
        exam_plot(&s->exam, "a pendulum that follows a swing into a wall", "time / s", "moment / N m", false);
    study_at_most(s, "pressed on a wall: its moment against that of servo and target alone", "twin without contacts",
                  100 * press_wall(s, wall, &after), "%", 1e-6);
    study_at_most(s, "and 0.8 s after it has left the wall: off its target", "", after, "rad", 0.01);
    study_at_most(s, "four-bar with its loop switched off in the state: the crank, which is to rest, after a step",
                  "the whole state goes back", crank_with_loop_off(s), "rad/s", 1e-9);
    study_note(s, "A control step with its rewinding took %.1f µs, one without %.1f µs.", seconds / 4000 * 1e6,
               alone_seconds / 4000 * 1e6);
    free(following);
    free(resting);
}

// ---- a mechanism with large internal forces

static void run_chebyshev(study *s) {
    runner r;
    double gap = 0, bent = 0, force = 0, low = INFINITY, high = -INFINITY, x_low = INFINITY, x_high = -INFINITY;
    const int panel = exam_plot(&s->exam, "path of the coupler's middle", "x / m", "z / m", false);
    const int gaps =
        exam_plot(&s->exam, "how far the joint is open, pressed by 2 kN from 2 s on", "time / s", "gap / m", true);
    if (!runner_load(&r, s, "chebyshev/chebyshev.xml", NULL, NULL)) {
        runner_end(&r);
        return;
    }
    const int coupler = runner_body(&r, "coupler"), arm = runner_body(&r, "right_arm"),
              motor = runner_actuator(&r, "left_arm");
    for (int i = 0; i < 6000 && r.is_good; i++) {
        const double t = i * 1e-3;
        // the arm can rock by +0.28 and −0.84 rad from here; it goes from −0.6 to +0.2
        const double target = 0.35 * kk_sin(2 * t) - 0.2 * (1 - kk_cos(2 * t));
        const double rate = 0.7 * kk_cos(2 * t) - 0.4 * kk_sin(2 * t);
        r.control[motor] = rate + 10 * (target - runner_q(&r, "left_arm")[0]);
        // pressed down at its tracer, across the straight line: the joints carry it, the motion hardly feels it
        const kk_vec3 middle = kk_vec3_make(-0.1, 0, 0);
        runner_point(&r, coupler, middle);
        const kk_mat3 R = kk_body_pose(r.m.model, r.m.data, coupler).R;
        const kk_vec3 load = kk_mat3_tmul_vec(R, kk_vec3_make(0, 0, t > 2 ? -2000 * kk_sin(20 * t) : 0));
        r.wrench[coupler] = kk_force_make(kk_vec3_cross(middle, load), load);
        runner_step(&r);
        const kk_vec3 a = runner_point(&r, coupler, kk_vec3_make(-0.2, 0, 0)),
                      b = runner_point(&r, arm, kk_vec3_make(-0.3, 0, 0.4));
        const kk_vec3 tracer = runner_point(&r, coupler, kk_vec3_make(-0.1, 0, 0));
        const double open = kk_vec3_norm(kk_vec3_sub(a, b));
        gap = exam_max(gap, open);
        force = r.is_good ? exam_max(force, kk_vec3_norm(kk_simulator_joint_wrenches(r.simulator)[arm].linear)) : force;
        if (fabs(tracer.x) < 0.15) {
            low = tracer.z < low ? tracer.z : low;
            high = tracer.z > high ? tracer.z : high;
        }
        x_low = tracer.x < x_low ? tracer.x : x_low;
        x_high = tracer.x > x_high ? tracer.x : x_high;
        if (i % 10 == 0) {
            exam_point(&s->exam, panel, "tracer", tracer.x, tracer.z);
            exam_point(&s->exam, gaps, "gap", t, exam_max(open, 1e-18));
        }
    }
    bent = high - low;
    study_at_most(s, "largest opening of the joint that closes the loop", "the joints stay together",
                  r.is_good ? gap : INFINITY, "m", 1e-9);
    study_at_least(s, "largest force in a joint meanwhile", "large", force, "N", 1000);
    study_at_least(s, "the coupler's middle travels", "", x_high - x_low, "m", 0.25);
    study_at_most(s, "and leaves its straight line within |x| < 0.15 m by", "nearly straight", bent, "m", 2e-3);
    runner_end(&r);
}

const study_def studies_s3[] = {
    {.seed = "s3",
     .name = "s3_servo",
     .title = "S3 Fig. 6: a stiff servo at a coarse step",
     .paper = "Pendulum of 0.5 m and 1 kg at h = 0.1 s from 90°: with (K, D) = (2, 1) both kinds of servo settle, with "
              "(20, 10) the explicit "
              "one oscillates, with (200, 100) only the implicit one can be drawn. Implicit servos are stable, not "
              "more precise.",
     .is_quick = true,
     .run = run_servo},
    {.seed = "s3",
     .name = "s3_feedforward",
     .title = "S3 3.3: feed-forward by saving, stepping and going back",
     .paper = "Torques found by a step with velocity constraints and thrown back make a robot follow its trajectory "
              "without high gains; "
              "the answer to a disturbance is that of the soft PD control.",
     .is_quick = true,
     .run = run_feedforward},
    {.seed = "s3",
     .name = "s3_chebyshev",
     .title = "S3: Chebyshev's link, a loop with large internal forces",
     .paper =
         "A walking mechanism of Chebyshev links, closed by constraints, is simulated stably with its joints together.",
     .is_quick = true,
     .run = run_chebyshev},
    {.name = NULL},
};
