// S4 5: torque and power of TITAN-VIII while it crawls.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "s4_titan.h"

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
    titan_parallel(t, 0, torque, speed);
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
    const kk_crawl c = kk_crawl_titan8(posture);
    const double upright[2] = {0, 0};
    kk_sequence *gait = titan_begin(&t, s, "titan8/titan8.xml", true, NULL) ? titan_gait(&t, &c) : NULL;
    double *target = gait ? cli_allocate((size_t)kk_model_nq(t.r.m.model), sizeof *target) : NULL;
    double *rate = gait ? cli_allocate((size_t)kk_model_nv(t.r.m.model), sizeof *rate) : NULL;
    double *bear = gait ? cli_allocate((size_t)kk_model_nv(t.r.m.model), sizeof *bear) : NULL;
    kk_sequence *load = gait ? titan_load(&t, &c, gait, upright) : NULL;
    if (load) {
        titan_stand_at_start(&t, gait);
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
    const kk_crawl c = kk_crawl_titan8('A');
    double least = INFINITY;
    titan t;
    kk_sequence *gait = titan_begin(&t, s, "titan8/titan8.xml", true, &options) ? titan_gait(&t, &c) : NULL;
    kk_player *player = NULL;
    kk_command *command = NULL;
    kk_error error = {0};
    bool is_good = gait && study_ok(s, kk_player_create(t.r.m.model, gait, NULL, &player, &error), &error) &&
                   study_ok(s, kk_command_create(t.r.m.model, NULL, &command), &error);
    for (int round = 0; round < 10 && is_good; round++) {
        titan_stand_at_start(&t, gait);
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
               "the body. Steps of 1 ms; with these, 9.6 s of walking with all sensor data took %.2f s.",
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

const study_def studies_s4_crawl[] = {
    {.seed = "s4",
     .name = "s4_crawl",
     .title = "S4 5: torque and power of a crawl in four postures",
     .paper = "Left fore leg over a period of 4.8 s: in posture A thigh and knee have almost no power in stance "
              "(2.4-4.8 s); in B, C and D the thigh's positive power is eaten by the knee's negative power. 10 s took "
              "60 s to compute.",
     .run = run_crawl},
    {.name = NULL},
};
