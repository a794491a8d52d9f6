// S4, ODE judged on TITAN-VIII: joint forces while it stands, torque and power while it crawls, servos.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runner.h"

enum { LEGS = 4, LEG_JOINTS = 4, MOTORS = LEGS * LEG_JOINTS };
static const char *const leg_names[LEGS] = {"left_fore", "right_fore", "left_hind", "right_hind"};
#define FRICTION 0.5 // of the model's feet
static const double WEIGHT = 22 * 9.81, KNEE = (22.0 - 2.0) / 4 * 9.81;

/// Numbers of bodies, degrees of freedom, coordinates and actuators by leg and joint.
typedef struct titan {
    runner r;
    int body[LEGS][LEG_JOINTS], dof[LEGS][LEG_JOINTS], q[LEGS][LEG_JOINTS], motor[LEGS][LEG_JOINTS], toe[LEGS];
    double kv[LEGS][LEG_JOINTS]; ///< N m s/rad, of velocity servos
} titan;

/// Velocity servos of a drive that gives way: 4/s of 250 N m s/rad are 1000 N m/rad.
static void soften(kk_spec *spec) {
    for (int i = 0; i < kk_spec_actuator_count(spec); i++) {
        kk_actuator_def *a = kk_spec_actuator(spec, i);
        if (a->type == KK_ACTUATOR_VELOCITY) {
            a->gain = a->force_upper > 1 ? 250 : 50; // ankles bear 1 N m
            a->bias[2] = -a->gain;
        }
    }
}

static bool begin_titan(titan *t, study *s, const char *file, const kk_step_options *options) {
    static const char *const parts[LEG_JOINTS] = {"hip", "thigh", "shin", "foot"};
    kk_spec *spec = NULL;
    t->r = (runner){.s = s};
    if (!study_load_spec(s, file, &spec)) {
        return false;
    }
    soften(spec);
    if (!runner_take(&t->r, s, spec, NULL, options)) {
        return false;
    }
    for (int leg = 0; leg < LEGS; leg++) {
        char name[64];
        for (int k = 0; k < LEG_JOINTS; k++) {
            snprintf(name, sizeof name, "%s_%s", leg_names[leg], parts[k]);
            t->body[leg][k] = runner_body(&t->r, name);
            const kk_joint_info j = kk_model_joint(t->r.m.model, t->body[leg][k]);
            t->dof[leg][k] = j.v_index;
            t->q[leg][k] = j.q_index;
            snprintf(name, sizeof name, "%s_j%d", leg_names[leg], k + 1);
            t->motor[leg][k] = runner_actuator(&t->r, name);
            t->kv[leg][k] = kk_model_actuator(t->r.m.model, t->motor[leg][k]).gain;
        }
        snprintf(name, sizeof name, "%s_toe", leg_names[leg]);
        t->toe[leg] = kk_model_find_frame(t->r.m.model, name);
    }
    return t->r.is_good;
}

// ---- standing

/// Torques that hold the posture with a quarter of the weight on each foot, straight up.
static void hold_torques(titan *t, double *tau) {
    const kk_model *m = t->r.m.model;
    kk_force *floor = cli_allocate((size_t)kk_model_nbody(m), sizeof *floor);
    double *rest = cli_allocate((size_t)kk_model_nv(m), sizeof *rest);
    for (int leg = 0; leg < LEGS; leg++) {
        floor[t->body[leg][3]].linear = kk_vec3_make(0, 0, WEIGHT / 4);
    }
    kk_inverse_dynamics_external(m, t->r.m.data, kk_state_q(t->r.state), rest, rest, floor, tau);
    free(floor);
    free(rest);
}

/// The holding torques and a soft spring and damper round the posture.
static void stand_still(titan *t, const double *hold) {
    for (int leg = 0; leg < LEGS; leg++) {
        for (int k = 0; k < LEG_JOINTS; k++) {
            const double q = kk_state_q(t->r.state)[t->q[leg][k]], v = kk_state_v(t->r.state)[t->dof[leg][k]];
            t->r.control[t->motor[leg][k]] = hold[t->dof[leg][k]] - (k < 3 ? 300 : 0.05) * q - (k < 3 ? 10 : 0.005) * v;
        }
    }
}

/// What the parent does to a body, in the world about its origin; after kinematics.
static kk_force joint_wrench(titan *t, int body) {
    return kk_force_to(kk_body_pose(t->r.m.model, t->r.m.data, body),
                       kk_simulator_joint_wrenches(t->r.simulator)[body]);
}

static kk_force weight_of(titan *t, int body) {
    const kk_inertia I = kk_model_body_inertia(t->r.m.model, body);
    const kk_vec3 c = kk_transform_point(kk_body_pose(t->r.m.model, t->r.m.data, body), I.com),
                  f = {0, 0, -9.81 * I.mass};
    return kk_force_make(kk_vec3_cross(c, f), f);
}

/// Rate of a body's momentum, which is nearly at rest, about the world's origin; after kinematics with accelerations.
static kk_force rate_of_momentum(titan *t, int body) {
    const kk_motion a = kk_body_acceleration(t->r.m.model, t->r.m.data, body, KK_LOCAL);
    return kk_force_to(kk_body_pose(t->r.m.model, t->r.m.data, body),
                       kk_inertia_mul(kk_model_body_inertia(t->r.m.model, body), a));
}

static double size_of(kk_force f) {
    return exam_max(kk_vec3_norm(f.angular), kk_vec3_norm(f.linear));
}

/// The knee's force on the thigh as the thigh's balance has it, plus its force on the shin: zero by Newton's third law.
static double reaction_error(titan *t, int leg) {
    const kk_force on_thigh = joint_wrench(t, t->body[leg][1]), on_shin = joint_wrench(t, t->body[leg][2]);
    const kk_force by_balance = kk_force_add(on_thigh, weight_of(t, t->body[leg][1])); // what the thigh hands on
    return size_of(kk_force_sub(kk_force_sub(by_balance, on_shin), rate_of_momentum(t, t->body[leg][1])));
}

/// The same from below: weight of shin and foot and the floor's force.
static double reaction_error_below(titan *t, int leg) {
    kk_force sum = kk_force_add(weight_of(t, t->body[leg][2]), weight_of(t, t->body[leg][3]));
    sum = kk_force_add(sum, kk_simulator_contact_wrench(t->r.simulator, t->body[leg][3], -1));
    sum = kk_force_add(sum, joint_wrench(t, t->body[leg][2]));
    return size_of(
        kk_force_sub(sum, kk_force_add(rate_of_momentum(t, t->body[leg][2]), rate_of_momentum(t, t->body[leg][3]))));
}

/// Torque of joint k by the force of the next joint and the link's own weight (the paper's equation 5, with weights).
static double torque_by_forces(titan *t, int leg, int k) {
    const kk_model *m = t->r.m.model;
    const kk_transform X = kk_body_pose(m, t->r.m.data, t->body[leg][k]);
    kk_force beyond = weight_of(t, t->body[leg][k]);
    if (k + 1 < LEG_JOINTS) {
        beyond = kk_force_sub(beyond, joint_wrench(t, t->body[leg][k + 1]));
    } else {
        beyond = kk_force_add(beyond, kk_simulator_contact_wrench(t->r.simulator, t->body[leg][k], -1));
    }
    const kk_vec3 moment = kk_vec3_sub(beyond.angular, kk_vec3_cross(X.p, beyond.linear));
    double *J = cli_allocate(6 * (size_t)kk_model_nv(m), sizeof *J);
    kk_jacobians(m, t->r.m.data, kk_state_q(t->r.state));
    kk_body_jacobian(m, t->r.m.data, t->body[leg][k], KK_WORLD_ALIGNED, J);
    const int nv = kk_model_nv(m), at = t->dof[leg][k];
    const kk_vec3 axis = {J[at], J[nv + at], J[2 * nv + at]};
    free(J);
    return -kk_vec3_dot(axis, moment);
}

/// Torques by weights and Jᵀ F of the floor's forces (equation 6).
static void torques_by_jacobian(titan *t, double *tau) {
    const kk_model *m = t->r.m.model;
    const int nv = kk_model_nv(m);
    double *J = cli_allocate(6 * (size_t)nv, sizeof *J);
    kk_gravity_force(m, t->r.m.data, kk_state_q(t->r.state), tau);
    kk_jacobians(m, t->r.m.data, kk_state_q(t->r.state));
    for (int leg = 0; leg < LEGS; leg++) {
        const kk_force F = kk_simulator_contact_wrench(t->r.simulator, t->body[leg][3], -1);
        const double f[6] = {F.angular.x, F.angular.y, F.angular.z, F.linear.x, F.linear.y, F.linear.z};
        kk_body_jacobian(m, t->r.m.data, t->body[leg][3], KK_WORLD_ORIGIN, J);
        for (int k = 0; k < nv; k++) {
            for (int i = 0; i < 6; i++) {
                tau[k] -= J[i * nv + k] * f[i];
            }
        }
    }
    free(J);
}

static void torques_by_dynamics(titan *t, double *tau) {
    const kk_model *m = t->r.m.model;
    kk_force *floor = cli_allocate((size_t)kk_model_nbody(m), sizeof *floor);
    kk_kinematics(m, t->r.m.data, kk_state_q(t->r.state));
    for (int leg = 0; leg < LEGS; leg++) {
        const int foot = t->body[leg][3];
        floor[foot] =
            kk_force_from(kk_body_pose(m, t->r.m.data, foot), kk_simulator_contact_wrench(t->r.simulator, foot, -1));
    }
    kk_inverse_dynamics_external(m, t->r.m.data, kk_state_q(t->r.state), kk_state_v(t->r.state),
                                 kk_simulator_acceleration(t->r.simulator), floor, tau);
    free(floor);
}

static void compare_torques(titan *t) {
    const int nv = kk_model_nv(t->r.m.model);
    double *jacobian = cli_allocate((size_t)nv, sizeof *jacobian),
           *dynamics = cli_allocate((size_t)nv, sizeof *dynamics), worst = 0;
    torques_by_jacobian(t, jacobian);
    torques_by_dynamics(t, dynamics);
    for (int leg = 0; leg < LEGS; leg++) {
        for (int k = 0; k < LEG_JOINTS; k++) {
            const int at = t->dof[leg][k];
            const double forces = torque_by_forces(t, leg, k);
            worst = exam_max(worst, exam_max(fabs(forces - jacobian[at]), fabs(forces - dynamics[at])));
            worst = exam_max(worst, fabs(forces - kk_simulator_force(t->r.simulator, KK_FORCE_ACTUATOR)[at]));
        }
    }
    study_at_most(t->r.s, "torque by joint forces = by Jᵀ F = by inverse dynamics = as given, worst joint",
                  "used one for the other", worst, "N m", 1e-9);
    free(jacobian);
    free(dynamics);
}

static void run_stand(study *s) {
    titan t;
    double *hold = NULL;
    const int panel = exam_plot(&s->exam, "force of the left fore knee on the shin", "time / s", "force / N", false);
    const int moments = exam_plot(&s->exam, "its moment", "time / s", "moment / N m", false);
    if (begin_titan(&t, s, "titan8/titan8_torque.xml", NULL)) {
        hold = cli_allocate((size_t)kk_model_nv(t.r.m.model), sizeof *hold);
        hold_torques(&t, hold);
        double force = 0, across = 0, moment = 0, reaction = 0, below = 0;
        for (int i = 0; i < 1000 && t.r.is_good; i++) {
            stand_still(&t, hold);
            runner_step(&t.r);
            kk_kinematics_acceleration(t.r.m.model, t.r.m.data, kk_state_q(t.r.state), kk_state_v(t.r.state),
                                       kk_simulator_acceleration(t.r.simulator));
            for (int leg = 0; leg < LEGS; leg++) {
                const kk_force F = kk_simulator_joint_wrenches(t.r.simulator)[t.body[leg][2]];
                const kk_mat3 R = kk_body_pose(t.r.m.model, t.r.m.data, t.body[leg][2]).R;
                const kk_vec3 f = kk_mat3_mul_vec(R, F.linear), n = kk_mat3_mul_vec(R, F.angular);
                force = exam_max(force, fabs(-f.z - KNEE));
                across = exam_max(across, exam_max(fabs(f.x), fabs(f.y)));
                moment = exam_max(moment, kk_vec3_norm(n));
                reaction = exam_max(reaction, reaction_error(&t, leg));
                below = exam_max(below, reaction_error_below(&t, leg));
                if (leg == 0 && i % 10 == 0) {
                    exam_point(&s->exam, panel, "x", i * 1e-3, f.x);
                    exam_point(&s->exam, panel, "y", i * 1e-3, f.y);
                    exam_point(&s->exam, panel, "z", i * 1e-3, f.z);
                    exam_point(&s->exam, moments, "x", i * 1e-3, n.x);
                    exam_point(&s->exam, moments, "y", i * 1e-3, n.y);
                    exam_point(&s->exam, moments, "z", i * 1e-3, n.z);
                }
            }
        }
        if (t.r.is_good) {
            study_at_most(s, "vertical force of every knee against (22 − 2)/4 · 9.81 = 49.05 N", "converges to 49.05 N",
                          force, "N", 1e-9);
            study_at_most(s, "horizontal force of a knee", "zero", across, "N", 1e-9);
            study_at_most(s, "moment of a knee", "4 N m, in one of two readings", moment, "N m", 1e-9);
            study_at_most(s, "action and reaction in the knee, force and moment, from above", "moments differ by 4 N m",
                          reaction, "N, N m", 1e-12);
            study_at_most(s, "and from below, with the floor's force", "", below, "N, N m", 1e-11);
            compare_torques(&t);
        }
    }
    free(hold);
    runner_end(&t.r);
}

// ---- crawling

enum { TABLE = 480 }; // targets of a period, every 10 ms

/// A: feet below the knees, the shins upright while the leg points sideways. The paper shows the others in a picture only; ours have them farther
/// out (B), farther in (C), farther out and apart fore and aft (D), so that shins lean.
static kk_crawl posture_of(char name) {
    static const double side[4] = {0.33, 0.44, 0.26, 0.42}, apart[4] = {0, 0, 0, 0.08};
    kk_crawl c = kk_crawl_titan8('A');
    const int k = name - 'A';
    for (int i = 0; i < LEGS; i++) {
        c.home[i].x = (i < 2 ? 1 : -1) * (0.2 + apart[k]);
        c.home[i].y = (i % 2 ? -1 : 1) * side[k];
    }
    return c;
}

/// Targets of all joints over a period.
static kk_sequence *make_gait(titan *t, const kk_crawl *crawl) {
    const kk_model *m = t->r.m.model;
    const int nq = kk_model_nq(m), rows = 3 * TABLE + 1;
    double *time = cli_allocate((size_t)rows, sizeof *time),
           *value = cli_allocate((size_t)rows * (size_t)nq, sizeof *value);
    double *q = cli_allocate((size_t)nq, sizeof *q);
    kk_ik *ik = NULL;
    kk_sequence *gait = NULL;
    kk_error error = {0};
    kk_model_neutral(m, q);
    bool is_good = study_ok(t->r.s, kk_ik_create(m, LEGS, NULL, &ik), &error);
    for (int i = 0; i < rows && is_good; i++) {
        time[i] = i * crawl->period / TABLE;
        is_good = study_ok(t->r.s, kk_crawl_pose(m, ik, crawl, t->toe, time[i], q, &error), &error);
        memcpy(value + (size_t)i * (size_t)nq, q, (size_t)nq * sizeof *q);
    }
    const kk_sequence_def def = {
        .model = m, .interpolation = KK_INTERPOLATE_CUBIC, .count = rows, .width = nq, .time = time, .value = value};
    if (is_good) {
        study_ok(t->r.s, kk_sequence_create(&def, NULL, &gait, &error), &error);
    }
    kk_ik_free(ik);
    free(time);
    free(value);
    free(q);
    return gait;
}

/// Vertical forces under the three feet that bear: their sum is the weight and their moments are those of the centre of mass.
static void share_weight(const kk_vec3 *foot, const int *is_bearing, kk_vec3 com, double *force) {
    kk_vec3 from[3];
    int leg[3], n = 0;
    for (int i = 0; i < LEGS; i++) {
        force[i] = 0;
        if (is_bearing[i] && n < 3) {
            from[n] = kk_vec3_sub(foot[i], com);
            leg[n++] = i;
        }
    }
    double area[3], whole = 0;
    for (int k = 0; k < 3; k++) {
        const kk_vec3 a = from[(k + 1) % 3], b = from[(k + 2) % 3];
        area[k] = a.x * b.y - a.y * b.x; // of the triangle without k, twice
        whole += area[k];
    }
    for (int k = 0; k < 3; k++) {
        force[leg[k]] = exam_max(0, WEIGHT * area[k] / whole);
    }
}

/// What the joints bear in the plan, over the same times as the gait: weights, and floor forces that lean by so much a newton.
static kk_sequence *make_load(titan *t, const kk_crawl *crawl, const kk_sequence *gait, const double lean[2]) {
    const kk_model *m = t->r.m.model;
    const int nv = kk_model_nv(m), rows = 3 * TABLE + 1;
    double *time = cli_allocate((size_t)rows, sizeof *time),
           *tau = cli_allocate((size_t)rows * (size_t)nv, sizeof *tau);
    double *q = cli_allocate((size_t)kk_model_nq(m), sizeof *q), *rest = cli_allocate((size_t)nv, sizeof *rest);
    kk_force *floor = cli_allocate((size_t)kk_model_nbody(m), sizeof *floor);
    kk_sequence *load = NULL;
    kk_error error = {0};
    for (int i = 0; i < rows; i++) {
        kk_vec3 foot[LEGS];
        int is_bearing[LEGS];
        double force[LEGS];
        time[i] = i * crawl->period / TABLE;
        kk_crawl_feet(crawl, time[i], foot, is_bearing);
        kk_sequence_state(gait, time[i], q, NULL, NULL);
        kk_kinematics(m, t->r.m.data, q);
        for (int leg = 0; leg < LEGS; leg++) {
            foot[leg] = kk_frame_pose(m, t->r.m.data, t->toe[leg]).p;
        }
        share_weight(foot, is_bearing, kk_center_of_mass(m, t->r.m.data, q), force);
        for (int leg = 0; leg < LEGS; leg++) {
            floor[t->body[leg][3]].linear =
                kk_vec3_make(lean[0] * force[leg], lean[1] * force[leg], force[leg]); // feet are level
        }
        kk_inverse_dynamics_external(m, t->r.m.data, q, rest, rest, floor, tau + i * nv);
    }
    const kk_sequence_def def = {
        .interpolation = KK_INTERPOLATE_LINEAR, .count = rows, .width = nv, .time = time, .value = tau};
    study_ok(t->r.s, kk_sequence_create(&def, NULL, &load, &error), &error);
    free(time);
    free(tau);
    free(q);
    free(rest);
    free(floor);
    return load;
}

static void stand_at_start(titan *t, const kk_sequence *gait) {
    kk_sequence_state(gait, 0, kk_state_q(t->r.state), NULL, NULL);
}

/// The paper's servo, velocity −k (θ − θ_d) with a torque limit, ahead by the target's own velocity: behind it by 1/k = 0.25 s a foot lands only
/// after the next one has left the floor, and with a duty of 3/4 there is no margin for that. It knows what it will bear, so it does not sag.
static void servo(titan *t, const double *target, const double *rate, const double *load) {
    for (int leg = 0; leg < LEGS; leg++) {
        for (int k = 0; k < LEG_JOINTS; k++) {
            const int at = t->q[leg][k];
            t->r.control[t->motor[leg][k]] = rate[t->dof[leg][k]] +
                                             (k < 3 ? 4.0 : 1.0) * (target[at] - kk_state_q(t->r.state)[at]) +
                                             load[t->dof[leg][k]] / t->kv[leg][k];
        }
    }
}

/// Torque and speed of the wire-parallel leg: its knee motor turns the shin against the body, and so on (equations 1 and 2).
static void parallel(const titan *t, int leg, double *torque, double *speed) {
    const double *tau = kk_simulator_force(t->r.simulator, KK_FORCE_ACTUATOR), *v = kk_state_v(t->r.state);
    double turned = 0;
    torque[0] = tau[t->dof[leg][0]];
    speed[0] = v[t->dof[leg][0]];
    for (int k = 1; k < 3; k++) {
        turned += v[t->dof[leg][k]];
        speed[k] = turned;
        torque[k] = tau[t->dof[leg][k]] - tau[t->dof[leg][k + 1]];
    }
}

typedef struct crawl_figures {
    double thigh, knee, sum;   ///< mean |power| in stance, W, and of their sum
    double planned;            ///< that of the thigh by the plan's upright forces
    double torque[3], forward; ///< largest |torque| in the period, N m; way of the body in it, m
    double seconds, walked;    ///< of computing, for so much time
    double lowest;
    int samples; ///< of the stance
} crawl_figures;

/// A period to settle, and one to look at.
/// Torques and powers of the left fore leg in the second period; sums over its stance.
static void watch_crawl(study *s, titan *t, const double *rate, const double *bear, const int panels[2], int step,
                        double phase, crawl_figures *x) {
    double torque[3], speed[3];
    parallel(t, 0, torque, speed);
    for (int k = 0; k < 3; k++) {
        x->torque[k] = exam_max(x->torque[k], fabs(torque[k]));
        if (step % 10 == 0) {
            char name[16];
            snprintf(name, sizeof name, "J%d", k + 1);
            exam_point(&s->exam, panels[0], name, phase, torque[k]);
            exam_point(&s->exam, panels[1], name, phase, torque[k] * speed[k]);
        }
    }
    if (phase >= 2.4) {
        x->thigh += fabs(torque[1] * speed[1]);
        x->knee += fabs(torque[2] * speed[2]);
        x->sum += fabs(torque[1] * speed[1] + torque[2] * speed[2]);
        x->planned += fabs((bear[t->dof[0][1]] - bear[t->dof[0][2]]) * rate[t->dof[0][1]]);
        x->samples++;
    }
}

/// Two periods of the gait. @param target, rate, bear  room for one moment of it
static void walk_crawl(study *s, titan *t, const kk_crawl *c, const kk_sequence *gait, const kk_sequence *load,
                       double *target, double *rate, double *bear, const int panels[2], crawl_figures *x) {
    const int steps = (int)(2 * c->period * 1000 + 0.5), base = kk_model_joint(t->r.m.model, 1).q_index;
    const double *q = kk_state_q(t->r.state), begun = cli_now();
    double start_x = 0, drawing = 0;
    for (int i = 0; i < steps && t->r.is_good; i++) {
        const double time = i * 1e-3;
        kk_sequence_state(gait, time + 1e-3, target, rate, NULL);
        kk_sequence_sample(load, time + 1e-3, bear, NULL, NULL);
        servo(t, target, rate, bear);
        runner_step(&t->r);
        const double before = cli_now();
        start_x = i == steps / 2 ? q[base + 4] : start_x;
        x->lowest = q[base + 6] < x->lowest ? q[base + 6] : x->lowest;
        if (time >= c->period && t->r.is_good) {
            watch_crawl(s, t, rate, bear, panels, i, time - c->period, x);
        }
        drawing += cli_now() - before;
    }
    x->seconds = cli_now() - begun - drawing;
    x->walked = steps * 1e-3;
    x->forward = q[base + 4] - start_x;
    x->thigh /= x->samples;
    x->knee /= x->samples;
    x->sum /= x->samples;
    x->planned /= x->samples;
}

static crawl_figures crawl(study *s, char posture, int panels[2]) {
    titan t;
    crawl_figures x = {.lowest = INFINITY};
    const kk_crawl c = posture_of(posture);
    const double upright[2] = {0, 0};
    kk_sequence *gait = begin_titan(&t, s, "titan8/titan8.xml", NULL) ? make_gait(&t, &c) : NULL;
    double *target = gait ? cli_allocate((size_t)kk_model_nq(t.r.m.model), sizeof *target) : NULL;
    double *rate = gait ? cli_allocate((size_t)kk_model_nv(t.r.m.model), sizeof *rate) : NULL;
    double *bear = gait ? cli_allocate((size_t)kk_model_nv(t.r.m.model), sizeof *bear) : NULL;
    kk_sequence *load = gait ? make_load(&t, &c, gait, upright) : NULL;
    if (load) {
        stand_at_start(&t, gait);
        walk_crawl(s, &t, &c, gait, load, target, rate, bear, panels, &x);
    }
    free(target);
    free(rate);
    free(bear);
    kk_sequence_free(load);
    kk_sequence_free(gait);
    runner_end(&t.r);
    return x;
}

/// Seconds of the processor to compute 10 s of crawling with steps of 1 ms, targets and servos included; the least of several.
static double time_crawl(study *s, double *way) {
    const kk_step_options options = {.timestep = 1e-3};
    const kk_crawl c = posture_of('A');
    double least = INFINITY;
    titan t;
    kk_sequence *gait = begin_titan(&t, s, "titan8/titan8.xml", &options) ? make_gait(&t, &c) : NULL;
    kk_player *player = NULL;
    kk_command *command = NULL;
    kk_error error = {0};
    bool is_good = gait && study_ok(s, kk_player_create(t.r.m.model, gait, NULL, &player, &error), &error) &&
                   study_ok(s, kk_command_create(t.r.m.model, NULL, &command), &error);
    for (int round = 0; round < 10 && is_good; round++) {
        stand_at_start(&t, gait);
        memset(kk_state_v(t.r.state), 0, (size_t)kk_model_nv(t.r.m.model) * sizeof(double));
        kk_state_set_time(t.r.state, 0);
        player->velocity_gain = 4;
        const clock_t start = clock();
        is_good = study_ok(
            s, kk_run(t.r.m.model, t.r.state, t.r.simulator, command, kk_player_control, player, 10000, &error),
            &error);
        const double taken = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = taken < least ? taken : least;
        *way = kk_state_q(t.r.state)[kk_model_joint(t.r.m.model, 1).q_index + 4];
    }
    kk_command_free(command);
    kk_player_free(player);
    kk_sequence_free(gait);
    runner_end(&t.r);
    return is_good ? least : INFINITY;
}

/// W; what the paper calls almost zero. Upright floor forces give and take exactly nothing; a horizontal force F does F · 0.05 m/s. The paper's feet creep
/// by 0.001 m/s a newton, so a foot that keeps to its way within 1 mm/s, a fiftieth of the walking speed, feels at most 1 N.
static const double ALMOST_ZERO = 1.0 * 0.05;

static void run_crawl(study *s) {
    crawl_figures x[4];
    double walked = INFINITY, lowest = INFINITY, most = 0;
    for (int p = 0; p < 4; p++) {
        char title[80];
        int panels[2];
        snprintf(title, sizeof title, "posture %c: torque of the left fore leg", 'A' + p);
        panels[0] = exam_plot(&s->exam, title, "time / s", "torque / N m", false);
        snprintf(title, sizeof title, "posture %c: power", 'A' + p);
        panels[1] = exam_plot(&s->exam, title, "time / s", "power / W", false);
        x[p] = crawl(s, (char)('A' + p), panels);
        walked = x[p].forward < walked ? x[p].forward : walked;
        lowest = x[p].lowest < lowest ? x[p].lowest : lowest;
        for (int k = 0; k < 3; k++) {
            most = exam_max(most, x[p].torque[k] / (k == 0 ? 32.3 : k == 1 ? 40.2 + 25.7 : 25.7 + 1));
        }
    }
    study_at_least(s, "way in a period of 4.8 s, slowest posture", "0.05 m/s: 0.24 m", walked, "m", 0.235);
    study_at_least(s, "the body does not sink: lowest height above the start", "", lowest, "m", -1e-4);
    study_at_most(s, "A, stance: mean |power| of the thigh", "almost zero", x[0].thigh, "W", ALMOST_ZERO);
    study_at_most(s, "A, stance: mean |power| of the knee", "almost zero", x[0].knee, "W", ALMOST_ZERO);
    for (int p = 1; p < 4; p++) {
        char name[120];
        snprintf(name, sizeof name, "%c, stance: mean |power| of thigh and knee together", 'A' + p);
        study_at_most(s, name, "the knee's negative power eats the thigh's", x[p].sum, "W", ALMOST_ZERO);
        snprintf(name, sizeof name, "%c, stance: the thigh's power differs from that of upright forces by", 'A' + p);
        study_at_most(s, name, "", fabs(x[p].thigh - x[p].planned), "W", ALMOST_ZERO);
        snprintf(name, sizeof name, "%c, stance: the thigh's power", 'A' + p);
        study_at_least(s, name, "large", x[p].thigh, "W", 5 * ALMOST_ZERO);
    }
    double way = 0;
    study_at_most(s, "computing 10 s of walking, steps of 1 ms", "60 s (Core 2 Quad, 3 GHz, steps of 1 ms)",
                  time_crawl(s, &way), "s", 0.1);
    study_at_least(s, "and its way", "0.05 m/s: 0.5 m", way, "m", 0.45);
    study_note(s,
               "Power and torque are those of the wire-parallel leg, by θ'p = Jp⁻¹ Js θ's and τp = Jpᵀ (Jsᵀ)⁻¹ τs: its "
               "knee motor turns the shin against "
               "the body. Steps of 1 ms; with these, 9.6 s of walking with all readings took %.2f s.",
               x[0].seconds);
    study_note(s,
               "Why equal and opposite: the leg gives the power −F·v to the floor, F being the floor's force and v = "
               "(−0.05, 0, 0) m/s the foot's "
               "velocity against the body. An upright F gives none, and has no moment about the upright hip, so "
               "P₁ = 0 and P₂ + P₃ = 0. What is "
               "left comes from horizontal forces between feet: 1 N of them makes 0.05 W, the bar here. The paper lets "
               "feet creep by 0.001 m/s a newton (slip1), which "
               "lets such forces go: a foot within 1 mm/s of its way feels no more than that. Here feet stick, so "
               "servos are told the torque that the plan's upright forces "
               "need and have the stiffness of a "
               "real drive (4/s × 250 N m s/rad); without it they sag by 15 mrad and press the feet apart.");
}

// ---- a servo at the level of torques

/// Gains by joint.
static const kk_pid joint_pid[LEG_JOINTS] = {{.kp = 1000, .ki = 5000, .kd = 6, .limit = 32.3},
                                             {.kp = 2000, .ki = 20000, .kd = 7, .limit = 40.2},
                                             {.kp = 400, .ki = 4000, .kd = 1.5, .limit = 25.7},
                                             {.kp = 0.1, .kd = 0.004, .limit = 1}};

enum { PID_PERIODS = 3 };

/// h times the largest eigenvalue of M⁻¹ D, D the gains of the dampers: what explicit dampers multiply a velocity by in a step is one less it, so they are
/// stable below 2. By von Mises' iteration in the air, where legs are lightest.
static double damper_factor(titan *t) {
    const kk_model *m = t->r.m.model;
    const int nv = kk_model_nv(m);
    double *x = cli_allocate((size_t)nv, sizeof *x), largest = 0;
    kk_crba(m, t->r.m.data, kk_state_q(t->r.state));
    kk_inertia_matrix_factor(m, t->r.m.data);
    for (int k = 0; k < nv; k++) {
        x[k] = 1 + 0.1 * k;
    }
    for (int i = 0; i < 200; i++) {
        double *y = x, size = 0;
        for (int k = 0; k < 6; k++) {
            y[k] = 0;
        }
        for (int leg = 0; leg < LEGS; leg++) {
            for (int k = 0; k < LEG_JOINTS; k++) {
                y[t->dof[leg][k]] *= joint_pid[k].kd;
            }
        }
        kk_inertia_matrix_solve(m, t->r.m.data, y);
        for (int k = 6; k < nv; k++) {
            size = exam_max(size, fabs(y[k]));
        }
        for (int k = 0; k < nv; k++) {
            x[k] /= size;
        }
        largest = size;
    }
    free(x);
    return 1e-3 * largest;
}

/// What springs of kp give at most, rad: the plan's forces under the feet, upright or leaning as far as friction lets them, load a joint between τ_min and
/// τ_max. The integral holds the middle, so half the range comes and goes, and a load that comes at once stretches a spring twice as far as it does
/// at rest: 2 · (τ_max − τ_min)/2 / kp.
static void spring_gives(titan *t, const kk_crawl *c, const kk_sequence *gait, double *give) {
    static const double lean[5][2] = {{0, 0}, {FRICTION, 0}, {-FRICTION, 0}, {0, FRICTION}, {0, -FRICTION}};
    double low[LEG_JOINTS] = {0}, high[LEG_JOINTS] = {0};
    double *tau = cli_allocate((size_t)kk_model_nv(t->r.m.model), sizeof *tau);
    for (int way = 0; way < 5; way++) {
        kk_sequence *load = make_load(t, c, gait, lean[way]);
        for (int i = 0; i < LEGS * TABLE * LEG_JOINTS && load; i++) {
            const int k = i % LEG_JOINTS, at = i / LEG_JOINTS;
            kk_sequence_sample(load, c->period + at % TABLE * c->period / TABLE, tau, NULL, NULL);
            const double torque = tau[t->dof[at / TABLE][k]];
            const bool is_first = way == 0 && at == 0;
            low[k] = is_first || torque < low[k] ? torque : low[k];
            high[k] = is_first || torque > high[k] ? torque : high[k];
        }
        kk_sequence_free(load);
    }
    for (int k = 0; k < LEG_JOINTS; k++) {
        give[k] = (high[k] - low[k]) / joint_pid[k].kp;
    }
    free(tau);
}

/// What the walk by torques shows.
typedef struct pid_figures {
    double worst[PID_PERIODS]; ///< error of any joint, by period
    double far;                ///< from the second period on, as a share of what the joint's spring gives
    double share;              ///< largest torque as a share of its limit
    double lowest, start_x;    ///< height of the base, and where it was after the first period
    double factor;             ///< of explicit dampers, at the start
} pid_figures;

/// One step's figures; every tenth of the second period is drawn.
static void watch_pid(study *s, const titan *t, const kk_player *player, const double *give, const int panels[2],
                      int step, pid_figures *x) {
    const double *q = kk_state_q(t->r.state), *given = kk_simulator_force(t->r.simulator, KK_FORCE_ACTUATOR);
    const int period = step / 4800, base = kk_model_joint(t->r.m.model, 1).q_index;
    x->start_x = step == 4800 ? q[base + 4] : x->start_x;
    x->lowest = q[base + 6] < x->lowest ? q[base + 6] : x->lowest;
    for (int k = 0; k < 3; k++) { // what the ankle does is of no weight
        for (int leg = 0; leg < LEGS; leg++) {
            const double off = fabs(q[t->q[leg][k]] - player->q[t->q[leg][k]]);
            x->worst[period] = exam_max(x->worst[period], off);
            x->far = exam_max(x->far, period > 0 ? off / give[k] : 0);
            x->share = exam_max(x->share, fabs(given[t->dof[leg][k]]) / joint_pid[k].limit);
        }
        if (period == 1 && step % 10 == 0) {
            char name[16];
            snprintf(name, sizeof name, "J%d", k + 1);
            exam_point(&s->exam, panels[0], name, step * 1e-3 - 4.8, q[t->q[0][k]] - player->q[t->q[0][k]]);
            exam_point(&s->exam, panels[1], name, step * 1e-3 - 4.8, given[t->dof[0][k]]);
        }
    }
}

static void report_pid(study *s, const titan *t, const double *give, const pid_figures *x, bool is_good) {
    const int base = kk_model_joint(t->r.m.model, 1).q_index;
    const double way = (kk_state_q(t->r.state)[base + 4] - x->start_x) / (PID_PERIODS - 1);
    study_at_most(
        s, "PID by torques: largest error of a joint from the second period on, as a share of what its spring gives",
        "unstable on ODE, given up", is_good ? x->far : INFINITY, "", 1);
    study_at_most(s, "stable: that of the last period as a share of the second's", "grows", x->worst[2] / x->worst[1],
                  "", 1.01);
    study_at_most(s, "largest torque as a share of its limit", "", x->share, "", 0.9);
    study_at_most(s, "explicit dampers: h times the largest eigenvalue of M⁻¹ D", "not looked at; stable below 2",
                  x->factor, "", 2);
    study_at_least(s, "way in a period", "0.24 m", way, "m", 0.235);
    study_at_least(s, "lowest height above the start", "", x->lowest, "m", -0.002);
    study_note(s,
               "Largest error %.4f rad. The bar: the plan's forces under the feet, leaning as far as friction of "
               "0.5 lets them, load a joint within a range; the "
               "integral holds its middle, so half of it comes and goes, which is %.1f, %.1f and %.1f mrad of the "
               "springs by joint. One that comes "
               "at once stretches a spring twice as far as it does at rest.",
               exam_max(x->worst[1], x->worst[2]), 500 * give[0], 500 * give[1], 500 * give[2]);
    study_note(s, "Why it is stable: torques come from the velocities of the step's start, so dampers D make of "
                  "the velocities (1 − h M⁻¹ D) v, which shrinks "
                  "while h λ(M⁻¹ D) < 2. It is the lightest joint that counts, with the ones beyond it free: the "
                  "ankle moves 4e-5 kg m². Integrals "
                  "stop where a torque is at its limit.");
}

static void run_pid(study *s) {
    titan t;
    const kk_crawl c = posture_of('A');
    const int panels[2] = {exam_plot(&s->exam, "left fore leg: error of its joints", "time / s", "error / rad", false),
                           exam_plot(&s->exam, "left fore leg: torque", "time / s", "torque / N m", false)};
    kk_sequence *gait = begin_titan(&t, s, "titan8/titan8_torque.xml", NULL) ? make_gait(&t, &c) : NULL;
    kk_player *player = NULL;
    kk_command *command = NULL;
    kk_error error = {0};
    kk_pid pid[MOTORS] = {{.kp = 0}};
    pid_figures x = {.lowest = INFINITY};
    bool is_good = gait && study_ok(s, kk_player_create(t.r.m.model, gait, NULL, &player, &error), &error) &&
                   study_ok(s, kk_command_create(t.r.m.model, NULL, &command), &error);
    if (is_good) {
        for (int i = 0; i < LEGS * LEG_JOINTS; i++) {
            pid[t.motor[i / LEG_JOINTS][i % LEG_JOINTS]] = joint_pid[i % LEG_JOINTS];
        }
        player->pid = pid;
        double give[LEG_JOINTS];
        stand_at_start(&t, gait);
        spring_gives(&t, &c, gait, give);
        x.factor = damper_factor(&t);
        for (int i = 0; i < 4800 * PID_PERIODS && is_good; i++) {
            const kk_status status =
                kk_run(t.r.m.model, t.r.state, t.r.simulator, command, kk_player_control, player, 1, &error);
            is_good = study_ok(s, status, &error);
            if (is_good) {
                watch_pid(s, &t, player, give, panels, i, &x);
            }
        }
        report_pid(s, &t, give, &x, is_good);
    }
    kk_command_free(command);
    kk_player_free(player);
    kk_sequence_free(gait);
    runner_end(&t.r);
}

const study_def studies_s4[] = {
    {.seed = "s4",
     .name = "s4_stand",
     .title = "S4 3: six-axis joint forces while TITAN-VIII stands",
     .paper = "The knee must carry (22.0 − 2.0)/4 · 9.81 = 49.05 N upright and nothing else. ODE's joint feedback has "
              "the force, but breaks action = reaction in the moment by 4 N m.",
     .is_quick = true,
     .run = run_stand},
    {.seed = "s4",
     .name = "s4_crawl",
     .title = "S4 5: torque and power of a crawl in four postures",
     .paper = "Left fore leg over a period of 4.8 s: in posture A thigh and knee have almost no power in stance "
              "(2.4-4.8 s); in B, C and D the thigh's positive power is eaten by the knee's negative power. 10 s took "
              "60 s to compute.",
     .run = run_crawl},
    {.seed = "s4",
     .name = "s4_pid",
     .title = "S4 2.3: a PID servo at the level of torques",
     .paper = "Torques by PID on ODE made the robot unstable; legs could not follow, for reasons not known, and "
              "velocity servos were used instead.",
     .is_quick = true,
     .run = run_pid},
    {.name = NULL},
};
