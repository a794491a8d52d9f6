// S4 3: TITAN-VIII is dropped and stands by the paper's velocity servo (3), on feet that creep, and on feet that do not.
#include <math.h>
#include <stdlib.h>

#include "s4_titan.h"

static const double STEP = 1e-3, SLIP = TITAN_SLIP, HEIGHT = 0.005;
enum { RUN = 6000, SAMPLED = 10 };

// ---- the law of servo and creep

/// A leg whose foot stays on the floor while the body stands. With w the velocity that servo (3) asks for, loads borne,
///     q̇ = w + Kv⁻¹ Jᵀ F,    J q̇ = −slip F,    ẇ = −k_d q̇,
/// where J is the foot's way along the floor by joint and Kv the servos' gain. So F = −(slip + J Kv⁻¹ Jᵀ)⁻¹ J w, and all of it dies away with k_d.
typedef struct creeping_leg {
    double J[2][LEG_JOINTS], w[LEG_JOINTS], give[LEG_JOINTS]; ///< 1/Kv
} creeping_leg;

/// F of w, N.
static void side_force(const creeping_leg *x, double F[2]) {
    double S[2][2] = {{SLIP, 0}, {0, SLIP}}, b[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < LEG_JOINTS; k++) {
            b[i] -= x->J[i][k] * x->w[k];
            S[i][0] += x->J[i][k] * x->give[k] * x->J[0][k];
            S[i][1] += x->J[i][k] * x->give[k] * x->J[1][k];
        }
    }
    const double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    F[0] = (S[1][1] * b[0] - S[0][1] * b[1]) / det;
    F[1] = (S[0][0] * b[1] - S[1][0] * b[0]) / det;
}

/// One step of the servo, which reads its angles once in each.
static void go_on(creeping_leg *x) {
    double F[2];
    side_force(x, F);
    for (int k = 0; k < LEG_JOINTS; k++) {
        const double rate = x->w[k] + x->give[k] * (x->J[0][k] * F[0] + x->J[1][k] * F[1]);
        x->w[k] -= STEP * titan_gain[k] * rate;
    }
}

/// From joint velocities alone: what they move the foot by tells F, and F what was asked for.
static void begin_law(titan *t, int leg, creeping_leg *x) {
    const kk_model *m = t->r.m.model;
    const int nv = kk_model_nv(m);
    double *J = cli_allocate(6 * (size_t)nv, sizeof *J), F[2] = {0, 0};
    kk_jacobians(m, t->r.m.data, kk_state_q(t->r.state));
    kk_frame_jacobian(m, t->r.m.data, t->toe[leg], KK_WORLD_ALIGNED, J);
    const double radius = kk_frame_pose(m, t->r.m.data, t->toe[leg]).p.z; // of the ball: it rolls
    for (int k = 0; k < LEG_JOINTS; k++) {
        const int at = t->dof[leg][k];
        x->J[0][k] = J[3 * nv + at] - radius * J[nv + at];
        x->J[1][k] = J[4 * nv + at] + radius * J[at];
        x->give[k] = 1 / t->kv[leg][k];
        for (int i = 0; i < 2; i++) {
            F[i] -= x->J[i][k] * kk_state_v(t->r.state)[at] / SLIP;
        }
    }
    for (int k = 0; k < LEG_JOINTS; k++) {
        const double pushed = x->give[k] * (x->J[0][k] * F[0] + x->J[1][k] * F[1]);
        x->w[k] = kk_state_v(t->r.state)[t->dof[leg][k]] - pushed;
    }
    free(J);
}

// ---- the drop

/// What the left fore knee gives the shin, in the world: f about the knee.
static kk_force knee_force(titan *t) {
    const kk_force F = kk_simulator_joint_wrenches(t->r.simulator)[t->body[0][2]];
    kk_kinematics(t->r.m.model, t->r.m.data, kk_state_q(t->r.state));
    const kk_mat3 R = kk_body_pose(t->r.m.model, t->r.m.data, t->body[0][2]).R;
    return kk_force_make(kk_mat3_mul_vec(R, F.angular), kk_mat3_mul_vec(R, F.linear));
}

/// Moment of the knee on the shin that holds floor force and weights below it in balance.
static kk_vec3 moment_by_statics(titan *t, kk_vec3 floor) {
    const kk_model *m = t->r.m.model;
    const kk_vec3 knee = kk_body_pose(m, t->r.m.data, t->body[0][2]).p;
    kk_vec3 sole = kk_body_pose(m, t->r.m.data, t->body[0][3]).p;
    sole.z = 0;
    kk_vec3 sum = kk_vec3_cross(kk_vec3_sub(sole, knee), floor);
    for (int k = 2; k < 4; k++) {
        const kk_inertia I = kk_model_body_inertia(m, t->body[0][k]);
        const kk_vec3 c = kk_transform_point(kk_body_pose(m, t->r.m.data, t->body[0][k]), I.com);
        sum = kk_vec3_add(sum, kk_vec3_cross(kk_vec3_sub(c, knee), kk_vec3_make(0, 0, -9.81 * I.mass)));
    }
    return kk_vec3_scale(sum, -1);
}

typedef struct drop_figures {
    double landing;          ///< s
    kk_vec3 force, moment;   ///< of the knee on the shin, a second later
    double floor;            ///< upward force under the foot then, N
    double late;             ///< worst difference of the vertical force from (22 − 2)/4 g from then on, N
    double force_off;        ///< largest difference of the side force from the law, as a share of it
    double moment_off;       ///< and of the moment, as a share of the law's largest
    double small_by, was_by; ///< s after landing from which the side force is below 0.1 N: by the law, and as it is
    double last;             ///< largest side force in the last second, N
    double residual;
} drop_figures;

enum { LAW_FROM = 500 }; ///< ms after landing: what bounced has settled

static double size_of(const double F[2]) {
    return kk_sqrt(F[0] * F[0] + F[1] * F[1]);
}

/// Beside the law, from half a second after landing on.
static void compare(titan *t, creeping_leg *law, double since, const kk_force *f, drop_figures *x) {
    double F[2];
    side_force(law, F);
    const double size = size_of(F), side[2] = {-f->linear.x, -f->linear.y};
    const double off[2] = {side[0] - F[0], side[1] - F[1]};
    if (size > 0.1) {
        x->force_off = exam_max(x->force_off, size_of(off) / size);
        x->small_by = since;
        const kk_vec3 M = moment_by_statics(t, kk_vec3_make(F[0], F[1], TITAN_WEIGHT / 4));
        x->moment_off =
            exam_max(x->moment_off, kk_vec3_norm(kk_vec3_sub(M, f->angular)) / exam_max(kk_vec3_norm(M), 0.01));
    }
    x->was_by = size_of(side) > 0.1 ? since : x->was_by;
    go_on(law);
}

static void draw(study *s, const int panels[2], double since, const kk_force *f) {
    exam_point(&s->exam, panels[0], "x", since, f->linear.x);
    exam_point(&s->exam, panels[0], "y", since, f->linear.y);
    exam_point(&s->exam, panels[0], "z", since, f->linear.z);
    exam_point(&s->exam, panels[1], "x", since, f->angular.x);
    exam_point(&s->exam, panels[1], "y", since, f->angular.y);
    exam_point(&s->exam, panels[1], "z", since, f->angular.z);
}

/// @param factor  of k_d
static drop_figures drop(study *s, bool creeps, double factor, const int panels[2]) {
    titan t;
    creeping_leg law = {.J = {{0}}};
    drop_figures x = {.landing = -1};
    const titan_def def = {.file = "titan8/titan8.xml", .creeps = creeps};
    double *target = NULL;
    if (titan_begin(&t, s, &def)) {
        target = cli_allocate((size_t)kk_model_nq(t.r.m.model), sizeof *target);
        kk_state_q(t.r.state)[kk_model_joint(t.r.m.model, 1).q_index + 6] += HEIGHT;
    }
    int landed = -1;
    for (int i = 0; i < RUN && target && t.r.is_good; i++) {
        titan_servo(&t, target, factor);
        if (!runner_step(&t.r)) {
            break;
        }
        const kk_force floor = kk_simulator_contact_wrench(t.r.simulator, t.body[0][3], -1);
        landed = landed < 0 && floor.linear.z > 0 ? i : landed;
        const int since = i - landed;
        const kk_force f = knee_force(&t);
        if (since == 1000) {
            x.force = f.linear;
            x.moment = f.angular;
            x.floor = floor.linear.z;
        }
        x.late = since >= 1000 ? exam_max(x.late, fabs(-f.linear.z - TITAN_KNEE)) : 0;
        if (since == LAW_FROM && creeps) {
            begin_law(&t, 0, &law);
        } else if (since > LAW_FROM && creeps && factor == 1) {
            compare(&t, &law, since * STEP, &f, &x);
        }
        x.last = i >= RUN - 1000 ? exam_max(x.last, fabs(f.linear.x) + fabs(f.linear.y)) : 0;
        if (landed >= 0 && panels && since % SAMPLED == 0) {
            draw(s, panels, since * STEP - 1, &f);
        }
    }
    x.landing = landed * STEP;
    x.residual = t.r.residual;
    free(target);
    runner_end(&t.r);
    return x;
}

static void row(study *s, const char *name, const drop_figures *x) {
    study_row(s, "%s|%.3f|%.3f|%.3f|%.3f|%.3f|%.3f|%.4f", name, x->force.x, x->force.y, x->force.z, x->moment.x,
              x->moment.y, x->moment.z, x->last);
}

static void run_drop(study *s) {
    int panels[2][2];
    panels[0][0] = exam_plot(&s->exam, "creep of 0.001 m/s a newton: force of the left fore knee on the shin",
                             "time from a second after landing / s", "force / N", false);
    panels[0][1] = exam_plot(&s->exam, "its moment", "time from a second after landing / s", "moment / N m", false);
    panels[1][0] =
        exam_plot(&s->exam, "no creep: the same force", "time from a second after landing / s", "force / N", false);
    panels[1][1] =
        exam_plot(&s->exam, "its moment, no creep", "time from a second after landing / s", "moment / N m", false);
    const drop_figures creep = drop(s, true, 1, panels[0]), rigid = drop(s, false, 1, panels[1]);
    const drop_figures doubled = drop(s, true, 2, NULL);
    study_tabulate(
        s, "Knee on shin a second after landing, in the world's axes; the last column is |Fx| + |Fy| from 5 to 6 s");
    study_row(s, "feet|Fx [N]|Fy [N]|Fz [N]|Mx [N m]|My [N m]|Mz [N m]|side force later [N]");
    row(s, "creep 0.001 m/s/N", &creep);
    row(s, "the same, k_d doubled", &doubled);
    row(s, "no creep", &rigid);
    study_near(s, "vertical force of the knee a second after landing", "converges to 49.05 N", -creep.force.z, "N",
               TITAN_KNEE, 0.01);
    study_at_most(s, "and its worst difference from 49.05 N from then on", "", creep.late, "N", 0.01);
    study_at_most(s, "side force against the law of servo and creep, from 0.5 s after landing down to 0.1 N, worst", "",
                  100 * creep.force_off, "%", 1);
    study_at_most(s, "moment of the knee against the same law", "", 100 * creep.moment_off, "%", 1);
    study_near(s, "time after landing from which the side force is below 0.1 N, against the law's", "converge to zero",
               creep.was_by, "s", creep.small_by, 0.02 * creep.small_by);
    study_at_most(s, "side force from 5 to 6 s", "zero", creep.last, "N", 0.1);
    const double side = kk_sqrt(rigid.force.x * rigid.force.x + rigid.force.y * rigid.force.y);
    study_near(s, "without creep: side force of a foot a second after landing, over μ N", "",
               side / (TITAN_FRICTION * rigid.floor), "", 1, 0.01);
    study_at_most(s, "worst residual of a step, with creep and without", "", exam_max(creep.residual, rigid.residual),
                  "m/s", 1e-9);
    study_note(
        s,
        "Dropped by 5 mm, landing after %.3f s. While the feet land, the servos' torque limits let the joints "
        "give way, and friction holds the feet where they came down. Servo (3) then turns each joint back with "
        "k_d = 4/s, against feet that cannot go: without creep the drive presses them apart with all the "
        "friction there is, %.1f N, for good. With a creep of 0.001 m/s a newton they go home at k_d times what is "
        "left, and the side force k_d x/slip with them: it dies away as e^(-4 t), and the ankle's part, k_d = 1/s, "
        "as e^(-t).",
        creep.landing, side);
    study_note(s, "Doubling k_d changes which rate the side force dies away with, and neither the vertical force nor "
                  "the posture (the paper's footnote 5: the behavior hardly changes).");
}

const study_def studies_s4_drop[] = {
    {.seed = "s4",
     .name = "s4_stand",
     .title = "S4 3: TITAN-VIII is dropped, and stands by servo (3) on feet that creep",
     .paper = "Dropped from a little above the floor; one second after landing the knee's force goes to zero along x "
              "and y and to (22.0 − 2.0)/4 · 9.81 = 49.05 N upwards. mu 0.5, slip 0.001.",
     .is_quick = true,
     .run = run_drop},
    {.name = NULL},
};
