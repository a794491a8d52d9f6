// S0, OpenHRP: a humanoid with rubber bushes steps in place, and walks with and without them, with and without stabilizer.
#include <stdlib.h>
#include <string.h>

#include "../walker.h"
#include "reproduce.h"

static const double WIDTH = 0.19;

static walker_options options_of(bool is_stabilized) {
    walker_options o = {.is_stabilized = is_stabilized};
    o.walk.width = WIDTH;
    o.walk.timestep = 0.001;
    o.walk.start = o.walk.end = 1.45; // with 19 steps of 0.9 s: 20 s
    return o;
}

// ---- Fig. 4: floor reaction while stepping in place

typedef struct reaction {
    double *force;
    bool *is_footfall; ///< a foot begins or ends to bear here
    bool bore[2];
    int count, capacity;
} reaction;

static void keep_force(void *user, const walker_moment *m) {
    reaction *r = user;
    if (r->count == r->capacity) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        const bool bears = m->force[i] > 0;
        r->is_footfall[r->count] = r->is_footfall[r->count] || bears != r->bore[i];
        r->bore[i] = bears;
    }
    r->force[r->count++] = m->force[KK_LEFT];
}

/// How far sample i is from the parabola through the eleven around it (Savitzky and Golay 1964).
static double spike_at(const double *f, int i) {
    static const double weight[6] = {89, 84, 69, 44, 9, -36};
    double sum = weight[0] * f[i];
    for (int k = 1; k <= 5; k++) {
        sum += weight[k] * (f[i - k] + f[i + k]);
    }
    return exam_abs(f[i] - sum / 429);
}

enum { NEAR = 20 }; ///< ms around a footfall

static bool is_near_footfall(const reaction *f, int i) {
    bool is_near = false;
    for (int k = i > NEAR ? i - NEAR : 0; k <= i + NEAR && k < f->count; k++) {
        is_near = is_near || f->is_footfall[k];
    }
    return is_near;
}

enum { STEPS_IN_PLACE = 8 };

static void run_stepping(study *s) {
    cli_model m;
    kk_error error = {0};
    walker_result *r = cli_allocate(1, sizeof *r);
    kk_stride strides[STEPS_IN_PLACE] = {{0, 0, 0}};
    kk_footstep steps[STEPS_IN_PLACE];
    reaction f = {.capacity = 20000};
    f.force = cli_allocate((size_t)f.capacity, sizeof *f.force);
    f.is_footfall = cli_allocate((size_t)f.capacity, sizeof *f.is_footfall);
    walker_options o = options_of(true);
    o.walk.end = 1;
    o.watch = keep_force;
    o.user = &f;
    kk_footsteps_from_strides(strides, STEPS_IN_PLACE, KK_LEFT, WIDTH, steps);
    if (study_load(s, "hrp2/hrp2_bush.xml", &m)) {
        const int panel =
            exam_plot(&s->exam, "floor reaction under the left foot", "time / s", "vertical force / N", false);
        const double weight = 9.81 * kk_model_mass(m.model);
        if (study_ok(s, walker_run(s->c, m.model, &o, steps, STEPS_IN_PLACE, r, &error), &error)) {
            double worst = 0, away = 0;
            for (int i = 5; i + 5 < f.count; i++) {
                const double spike = spike_at(f.force, i) / weight;
                worst = exam_max(worst, spike);
                away = is_near_footfall(&f, i) ? away : exam_max(away, spike);
                if (i % 4 == 0) {
                    exam_point(&s->exam, panel, "left foot", i * 1e-3, f.force[i]);
                }
            }
            study_fact(s, "stepping in place with the bush joints", "steps", r->fell ? "fell" : "stays up", "stays up",
                       !r->fell);
            study_at_most(s, "largest spike more than 20 ms from a footfall, of the weight", "hardly any noise",
                          100 * away, "%", 1);
            study_at_most(s, "ZMP of contact forces against ZMP of inverse dynamics", "", r->zmp_gap, "m", 1e-6);
            study_note(s,
                       "A spike is the distance of a sample from the parabola through the eleven samples of 1 ms "
                       "around it. At the "
                       "footfalls themselves, where the contact changes, the largest is %.1f %% of the weight.",
                       100 * worst);
        }
        unload_model(&m);
    }
    free(f.force);
    free(f.is_footfall);
    free(r);
}

// ---- Fig. 6 and the walk of 20 s

enum { NINETEEN = 19 };

typedef struct trace {
    exam *e;
    int zmp_x, zmp_y, tilt, path; ///< panels; −1: not drawn
    const char *name;
    int count;
} trace;

static void draw_moment(void *user, const walker_moment *m) {
    trace *t = user;
    if (t->count++ % 20) {
        return;
    }
    exam_point(t->e, t->tilt, t->name, m->time, 180 / KK_PI * m->tilt);
    exam_point(t->e, t->path, t->name, m->com.x, m->com.y);
    if (t->zmp_x >= 0 && m->zmp.x == m->zmp.x) {
        exam_point(t->e, t->zmp_x, "measured", m->time, m->zmp.x);
        exam_point(t->e, t->zmp_x, "reference (plan)", m->time, m->plan.zmp.x);
        exam_point(t->e, t->zmp_y, "measured", m->time, m->zmp.y);
        exam_point(t->e, t->zmp_y, "reference (plan)", m->time, m->plan.zmp.y);
    }
}

/// One walk; what happened in words, "completes" or "falls after 5.2 s".
static bool walk_once(study *s, const char *file, bool is_stabilized, trace *t, walker_result *r, char *words,
                      size_t size) {
    cli_model m;
    kk_error error = {0};
    kk_footstep steps[NINETEEN];
    walker_options o = options_of(is_stabilized);
    o.watch = draw_moment;
    o.user = t;
    o.shows_progress = true;
    t->count = 0;
    walker_nineteen(WIDTH, steps);
    if (!study_load(s, file, &m)) {
        return false;
    }
    const bool good = study_ok(s, walker_run(s->c, m.model, &o, steps, NINETEEN, r, &error), &error);
    if (r->fell) {
        snprintf(words, size, "falls after %.1f s", r->fall_time);
    } else {
        snprintf(words, size, "completes, %.1f cm from where it should be", 100 * r->place_error);
    }
    unload_model(&m);
    return good;
}

static void run_walk(study *s) {
    walker_result *r = cli_allocate(1, sizeof *r);
    char words[80];
    double gap = 0, residual = 0, wall = 0, simulated = 0;
    trace t = {.e = &s->exam};
    t.path = exam_plot(&s->exam, "way of the center of mass", "x / m", "y / m", false);
    t.tilt = exam_plot(&s->exam, "inclination of the body", "time / s", "angle / °", false);
    t.zmp_x = exam_plot(&s->exam, "ZMP, with bushes and stabilizer", "time / s", "x / m", false);
    t.zmp_y = exam_plot(&s->exam, "ZMP, with bushes and stabilizer", "time / s", "y / m", false);
    static const struct {
        const char *file, *name, *what, *paper;
        bool is_stabilized, falls;
    } runs[] = {
        {"hrp2/hrp2.xml", "rigid, no stabilizer", "without bushes, without stabilizer", "completes", false, false},
        {"hrp2/hrp2_bush.xml", "bushes, no stabilizer", "with bushes, without stabilizer", "falls", false, true},
        {"hrp2/hrp2_bush.xml", "bushes, stabilizer", "with bushes, with stabilizer", "completes", true, false},
    };
    const int x = t.zmp_x;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        t.name = runs[i].name;
        t.zmp_x = runs[i].is_stabilized ? x : -1;
        if (!walk_once(s, runs[i].file, runs[i].is_stabilized, &t, r, words, sizeof words)) {
            break;
        }
        study_fact(s, runs[i].what, runs[i].paper, words, runs[i].falls ? "falls" : "completes",
                   r->fell == runs[i].falls);
        gap = exam_max(gap, r->zmp_gap);
        residual = exam_max(residual, r->residual);
        wall += r->wall;
        simulated += r->duration;
        study_note(
            s, "%s: ZMP %.1f mm from the plan in the mean, within the soles by at least 5 mm in %.1f %% of the time.",
            runs[i].what, 1e3 * r->zmp_error, 100 * r->share_within);
        if (i == 0) {
            study_at_most(s, "ZMP of the whole body against the plan, in the pattern", "within the support",
                          r->planned_error, "m", 1e-3);
            study_at_least(s, "least margin of that plan in the support polygon", "within the support",
                           r->planned_margin, "m", 0.01);
        }
    }
    study_at_most(s, "ZMP of contact forces against ZMP of inverse dynamics, all walks", "", gap, "m", 1e-6);
    study_at_most(s, "worst residual of a step", "", residual, "m/s", 1e-9);
    study_note(s,
               "19 steps in 20 s: forward, to the left, backward, to the right. Servos: f = kp (q_d − q) + kd (q̇_d − "
               "q̇), implicit. "
               "Simulation and control ran at %.0f times real time.",
               simulated / wall);
    free(r);
}

const study_def studies_s0_walk[] = {
    {"s0", "s0_stepping", "S0 Fig. 4: stepping in place on rubber bushes",
     "Vertical floor reaction under one foot of HRP-2 while it steps: simulation and robot agree, and there is hardly "
     "any noise (Fig. 4).",
     false, run_stepping},
    {"s0", "s0_walk", "S0 Fig. 6: 19 steps in 20 s with turns and backward steps",
     "Played back with PD control: without bushes it completes without stabilizer; with bushes it falls without and "
     "completes with it (Fig. 6).",
     false, run_walk},
    {NULL, NULL, NULL, NULL, false, NULL},
};
