// S4 2.3: a servo at the level of torques.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "s4_titan.h"

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
    static const double lean[5][2] = {
        {0, 0}, {TITAN_FRICTION, 0}, {-TITAN_FRICTION, 0}, {0, TITAN_FRICTION}, {0, -TITAN_FRICTION}};
    double low[LEG_JOINTS] = {0}, high[LEG_JOINTS] = {0};
    double *tau = cli_allocate((size_t)kk_model_nv(t->r.m.model), sizeof *tau);
    for (int way = 0; way < 5; way++) {
        kk_sequence *load = titan_load(t, c, gait, lean[way]);
        for (int i = 0; i < LEGS * GAIT_ROWS * LEG_JOINTS && load; i++) {
            const int k = i % LEG_JOINTS, at = i / LEG_JOINTS;
            kk_sequence_sample(load, c->period + at % GAIT_ROWS * c->period / GAIT_ROWS, tau, NULL, NULL);
            const double torque = tau[t->dof[at / GAIT_ROWS][k]];
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
    const kk_crawl c = kk_crawl_titan8('A');
    const int panels[2] = {exam_plot(&s->exam, "left fore leg: error of its joints", "time / s", "error / rad", false),
                           exam_plot(&s->exam, "left fore leg: torque", "time / s", "torque / N m", false)};
    kk_sequence *gait =
        titan_begin(&t, s, &(titan_def){.file = "titan8/titan8_torque.xml"}) ? titan_gait(&t, &c) : NULL;
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
        titan_stand_at_start(&t, gait);
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

const study_def studies_s4_pid[] = {
    {.seed = "s4",
     .name = "s4_pid",
     .title = "S4 2.3: a PID servo at the level of torques",
     .paper = "Torques by PID on ODE made the robot unstable; legs could not follow, for reasons not known, and "
              "velocity servos were used instead.",
     .is_quick = true,
     .run = run_pid},
    {.name = NULL},
};
