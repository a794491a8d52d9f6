// S4 3: forces in the joints of TITAN-VIII while it stands, and what ODE tells of them.
#include <math.h>
#include <stdlib.h>

#include "s4_titan.h"

// ---- standing

/// Torques that hold the posture with a quarter of the weight on each foot, straight up.
static void hold_torques(titan *t, double *tau) {
    const kk_model *m = t->r.m.model;
    kk_force *floor = cli_allocate((size_t)kk_model_nbody(m), sizeof *floor);
    double *rest = cli_allocate((size_t)kk_model_nv(m), sizeof *rest);
    for (int leg = 0; leg < LEGS; leg++) {
        floor[t->body[leg][3]].linear = kk_vec3_make(0, 0, TITAN_WEIGHT / 4);
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

/// Sum of the moments that a knee gives the thigh and the shin, each about its own body's center of mass: what dJointGetFeedback tells as t1 and t2.
/// @param about_joint  how far the same sum about the joint is from zero
static double moments_about_centers(titan *t, int leg, double *about_joint) {
    kk_force on[2]; // thigh, shin
    kk_vec3 sum = {0, 0, 0}, joint = kk_body_pose(t->r.m.model, t->r.m.data, t->body[leg][2]).p, moved = {0, 0, 0};
    on[1] = joint_wrench(t, t->body[leg][2]);
    // what the thigh feels, from its own balance
    on[0] = kk_force_sub(rate_of_momentum(t, t->body[leg][1]),
                         kk_force_add(joint_wrench(t, t->body[leg][1]), weight_of(t, t->body[leg][1])));
    for (int i = 0; i < 2; i++) {
        const int body = t->body[leg][1 + i];
        const kk_vec3 center = kk_transform_point(kk_body_pose(t->r.m.model, t->r.m.data, body),
                                                  kk_model_body_inertia(t->r.m.model, body).com);
        sum = kk_vec3_add(sum, kk_vec3_sub(on[i].angular, kk_vec3_cross(center, on[i].linear)));
        moved = kk_vec3_add(moved, kk_vec3_sub(on[i].angular, kk_vec3_cross(joint, on[i].linear)));
    }
    *about_joint = kk_vec3_norm(moved);
    return kk_vec3_norm(sum);
}

static void explain_feedback(titan *t) {
    double about_joint;
    const double about_centers = moments_about_centers(t, 0, &about_joint);
    study_near(t->r.s, "t1 + t2 of the knee, each about its own body's center of mass, as ODE tells them", "4 N m",
               about_centers, "N m", TITAN_KNEE * 0.0775, 1e-6);
    study_at_most(t->r.s, "the same two moments about the joint", "expected to be zero", about_joint, "N m", 1e-9);
    study_note(t->r.s,
               "The 4 N m are no fault of ODE: dJointGetFeedback gives t1 and t2 about each body's center of mass, and "
               "two centers that are 0.0775 m apart across a force of 49.05 N make 3.801 N m of it. About one point, "
               "the joint, they cancel. The same robot in ODE 0.16.2 gives 3.801 N m and less than 1e-11 N m "
               "(tests/crosscheck/titan_ode.cpp).");
}

static void run_stand(study *s) {
    titan t;
    double *hold = NULL;
    const int panel = exam_plot(&s->exam, "force of the left fore knee on the shin", "time / s", "force / N", false);
    const int moments = exam_plot(&s->exam, "its moment", "time / s", "moment / N m", false);
    if (titan_begin(&t, s, &(titan_def){.file = "titan8/titan8_torque.xml"})) {
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
                force = exam_max(force, fabs(-f.z - TITAN_KNEE));
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
            study_at_most(s, "moment of a knee", "zero in one reading, 4 N m in the other", moment, "N m", 1e-9);
            study_at_most(s, "action and reaction in the knee, force and moment, from above",
                          "forces cancel, moments do not", reaction, "N, N m", 1e-12);
            study_at_most(s, "and from below, with the floor's force", "", below, "N, N m", 1e-11);
            explain_feedback(&t);
            compare_torques(&t);
        }
    }
    free(hold);
    runner_end(&t.r);
}

const study_def studies_s4[] = {
    {.seed = "s4",
     .name = "s4_equilibrium",
     .title = "S4 3: six-axis joint forces of TITAN-VIII in equilibrium",
     .paper = "The knee must carry (22.0 − 2.0)/4 · 9.81 = 49.05 N upright and nothing else. ODE's joint feedback has "
              "the force; its two moments t1 and t2 of the knee, which the authors expected to cancel, differ by "
              "4 N m.",
     .is_quick = true,
     .run = run_stand},
    {.name = NULL},
};
