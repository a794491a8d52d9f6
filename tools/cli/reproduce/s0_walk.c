// S0, OpenHRP: a humanoid with rubber bushes steps in place, and walks with and without them, with and without stabilizer; by the exact solver and by S0's own.
#include <stdlib.h>
#include <string.h>

#include "../walker.h"
#include "reproduce.h"

static const double WIDTH = 0.19;

enum { EXACT, PAPER, METHODS };
static const kk_solver solvers[METHODS] = {KK_SOLVER_EXACT, KK_SOLVER_OPENHRP};
static const char *const method_names[METHODS] = {"exact solver", "S0's solver"};

static walker_options options_of(bool is_stabilized, int method) {
    walker_options o = {.is_stabilized = is_stabilized, .solver = solvers[method]};
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

typedef struct stepping {
    double worst, away; ///< largest spikes, all and more than NEAR ms from a footfall, as shares of the weight
    double zmp_gap;
    bool is_good, fell;
} stepping;

static stepping look_at(study *s, const reaction *f, double weight, int panel, int method) {
    stepping x = {0};
    for (int i = 5; i + 5 < f->count; i++) {
        const double spike = spike_at(f->force, i) / weight;
        x.worst = exam_max(x.worst, spike);
        x.away = is_near_footfall(f, i) ? x.away : exam_max(x.away, spike);
        if (i % 4 == 0) {
            exam_point(&s->exam, panel, method_names[method], i * 1e-3, f->force[i]);
        }
    }
    return x;
}

static stepping step_in_place(study *s, int method, int panel) {
    cli_model m;
    kk_error error = {0};
    walker_result *r = cli_allocate(1, sizeof *r);
    kk_stride strides[STEPS_IN_PLACE] = {{0, 0, 0}};
    kk_footstep steps[STEPS_IN_PLACE];
    const int count = s->quick ? 3 : STEPS_IN_PLACE;
    reaction f = {.capacity = 20000};
    f.force = cli_allocate((size_t)f.capacity, sizeof *f.force);
    f.is_footfall = cli_allocate((size_t)f.capacity, sizeof *f.is_footfall);
    walker_options o = options_of(true, method);
    stepping x = {0};
    o.walk.end = 1;
    o.watch = keep_force;
    o.user = &f;
    kk_footsteps_from_strides(strides, count, KK_LEFT, WIDTH, steps);
    if (study_load(s, "hrp2/hrp2_bush.xml", &m)) {
        const bool good = study_ok(s, walker_run(s->c, m.model, &o, steps, count, r, &error), &error);
        x = look_at(s, &f, 9.81 * kk_model_mass(m.model), panel, method);
        x.is_good = good;
        x.fell = r->fell;
        x.zmp_gap = r->zmp_gap;
        unload_model(&m);
    }
    free(f.force);
    free(f.is_footfall);
    free(r);
    return x;
}

static void run_stepping(study *s) {
    const int panel =
        exam_plot(&s->exam, "floor reaction under the left foot", "time / s", "vertical force / N", false);
    const stepping ours = step_in_place(s, EXACT, panel), paper = step_in_place(s, PAPER, panel);
    const bool stays = ours.is_good && paper.is_good && !ours.fell && !paper.fell;
    study_fact(s, "stepping in place with the bush joints, both solvers", "steps", stays ? "stays up" : "fell",
               "stays up", stays);
    study_at_most(s, "largest spike more than 20 ms from a footfall, of the weight", "hardly any noise",
                  100 * ours.away, "%", 1);
    study_at_most(s, "and by S0's solver", "hardly any noise", 100 * paper.away, "%", 2);
    study_at_most(s, "ZMP of contact forces against ZMP of inverse dynamics", "", ours.zmp_gap, "m", 1e-6);
    study_note(
        s,
        "A spike is the distance of a sample from the parabola through the eleven samples of 1 ms around it. At "
        "the footfalls themselves, where the contact changes, the largest is %.1f %% of the weight, by S0's solver "
        "%.1f %%.",
        100 * ours.worst, 100 * paper.worst);
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

/// One walk of the 19 steps.
typedef struct walk_def {
    const char *file;
    bool is_stabilized;
    int method, steps;
    double bush, timestep; ///< factor of the bushes' springs and dampers; s
} walk_def;

/// Springs and dampers of the bushes, as a factor of what they are.
static kk_status change_bushes(cli_model *m, double factor, kk_error *error) {
    for (int b = 1; b < kk_spec_body_count(m->spec); b++) {
        kk_joint_def *joint = &kk_spec_body(m->spec, b)->joint;
        if (joint->name && strstr(joint->name, "_bush_")) {
            joint->dof[0].stiffness *= factor;
            joint->dof[0].damping *= factor;
        }
    }
    kk_data_free(m->data);
    kk_model_free(m->model);
    m->data = NULL;
    m->model = NULL;
    const kk_status status = kk_model_compile(m->spec, NULL, &m->model, error);
    return status ? status : kk_data_create(m->model, NULL, &m->data);
}

/// One walk; what happened in words, "completes" or "falls after 5.2 s".
static kk_status walk_once(study *s, const walk_def *def, trace *t, walker_result *r, char *words, size_t size) {
    cli_model m;
    kk_error error = {0};
    kk_footstep steps[NINETEEN];
    walker_options o = options_of(def->is_stabilized, def->method);
    if (t) {
        o.watch = draw_moment;
        o.user = t;
        t->count = 0;
    }
    o.timestep = def->timestep;
    o.shows_progress = true;
    walker_nineteen(WIDTH, steps);
    if (!study_load(s, def->file, &m)) {
        return KK_IO;
    }
    const kk_status changed = def->bush != 1 ? change_bushes(&m, def->bush, &error) : KK_OK;
    const kk_status status = changed ? changed : walker_run(s->c, m.model, &o, steps, def->steps, r, &error);
    if (status) {
        snprintf(words, size, "runs away");
    } else if (r->fell) {
        snprintf(words, size, "falls after %.1f s", r->fall_time);
    } else {
        snprintf(words, size, "completes, %.1f cm off", 100 * r->place_error);
    }
    unload_model(&m);
    return status;
}

/// The paper's three walks.
enum { WALKS = 3 };
static const struct {
    const char *file, *name, *what, *paper;
    bool is_stabilized, falls;
} walks[WALKS] = {
    {"hrp2/hrp2.xml", "rigid, no stabilizer", "without bushes, without stabilizer", "completes", false, false},
    {"hrp2/hrp2_bush.xml", "bushes, no stabilizer", "with bushes, without stabilizer", "falls", false, true},
    {"hrp2/hrp2_bush.xml", "bushes, stabilizer", "with bushes, with stabilizer", "completes", true, false},
};

/// How many of the 19 steps are taken: without stabilizer it falls in the sixth.
static int steps_of(const study *s) {
    return s->quick ? 6 : NINETEEN; // with bushes of twice the stiffness after 5.8 s
}

static walk_def walk_of(const study *s, int i, int method) {
    return (walk_def){walks[i].file, walks[i].is_stabilized, method, steps_of(s), 1, 0.001};
}

static void run_walk(study *s) {
    walker_result *r = cli_allocate(1, sizeof *r);
    char words[80], what[160];
    double gap = 0, residual = 0, wall = 0, simulated = 0;
    trace t = {.e = &s->exam};
    t.path = exam_plot(&s->exam, "way of the center of mass", "x / m", "y / m", false);
    t.tilt = exam_plot(&s->exam, "inclination of the body", "time / s", "angle / °", false);
    t.zmp_x = exam_plot(&s->exam, "ZMP, with bushes and stabilizer", "time / s", "x / m", false);
    t.zmp_y = exam_plot(&s->exam, "ZMP, with bushes and stabilizer", "time / s", "y / m", false);
    const int x = t.zmp_x;
    for (int i = 0; i < WALKS; i++) {
        const walk_def def = walk_of(s, i, EXACT);
        t.name = walks[i].name;
        t.zmp_x = walks[i].is_stabilized ? x : -1;
        if (!study_ok(s, walk_once(s, &def, &t, r, words, sizeof words), NULL)) {
            break;
        }
        study_fact(s, walks[i].what, walks[i].paper, words, walks[i].falls ? "falls" : "completes",
                   r->fell == walks[i].falls);
        gap = exam_max(gap, r->zmp_gap);
        residual = exam_max(residual, r->residual);
        wall += r->wall;
        simulated += r->duration;
        study_note(
            s, "%s: ZMP %.1f mm from the plan in the mean, within the soles by at least 5 mm in %.1f %% of the time.",
            walks[i].what, 1e3 * r->zmp_error, 100 * r->share_within);
        if (i == 0) {
            study_at_most(s, "ZMP of the whole body against the plan, in the pattern", "within the support",
                          r->planned_error, "m", 1e-3);
            study_at_least(s, "least margin of that plan in the support polygon", "within the support",
                           r->planned_margin, "m", 0.01);
        }
    }
    for (int i = s->quick ? 1 : 0; i < WALKS; i++) {
        const walk_def def = walk_of(s, i, PAPER);
        if (!study_ok(s, walk_once(s, &def, NULL, r, words, sizeof words), NULL)) {
            break;
        }
        snprintf(what, sizeof what, "by S0's solver: %s", walks[i].what);
        study_fact(s, what, walks[i].paper, words, walks[i].falls ? "falls" : "completes", r->fell == walks[i].falls);
    }
    study_at_most(s, "ZMP of contact forces against ZMP of inverse dynamics, all walks", "", gap, "m", 1e-6);
    study_at_most(s, "worst residual of a step", "", residual, "m/s", 1e-9);
    study_note(
        s,
        "19 steps in 20 s: forward, to the left, backward, to the right. Servos: f = kp (q_d − q) + kd (q̇_d − "
        "q̇), implicit; by S0's solver they are forces of the moment, which the rotors' inertia bears (0.1 kg m² in "
        "the legs, 0.02 in the bushes; without it the explicit servos run away in 6 ms). "
        "Simulation and control ran at %.0f times real time.",
        simulated / wall);
    free(r);
}

// ---- how far the three outcomes hold

enum { FACTORS = 5, STEPSIZES = 3 };
static const double factors[FACTORS] = {0.67, 1, 2, 5, 10}, step_sizes[STEPSIZES] = {0.0005, 0.001, 0.002};

/// A walk's outcome in few words; true where it went as the paper's.
static bool short_outcome(study *s, const walk_def *def, bool falls, walker_result *r, char *cell, size_t size) {
    char words[80];
    const kk_status status = walk_once(s, def, NULL, r, words, sizeof words);
    if (status || !r->fell) {
        snprintf(cell, size, "%s", status ? "runs away" : "completes");
    } else {
        snprintf(cell, size, "falls, %.1f s", r->fall_time);
    }
    return !status && r->fell == falls;
}

/// Three walks by one method; a row of the table. Gives how many went as the paper's.
static int tabulate_walks(study *s, const char *name, int method, double bush, double timestep) {
    walker_result *r = cli_allocate(1, sizeof *r);
    char cell[WALKS][TABLE_CELL] = {{0}};
    int as_paper = 0;
    for (int i = 0; i < WALKS; i++) {
        walk_def def = walk_of(s, i, method);
        def.bush = i > 0 ? bush : 1;
        def.timestep = timestep;
        if (i == 0 && bush != 1) {
            continue; // it has none
        }
        as_paper += short_outcome(s, &def, walks[i].falls, r, cell[i], sizeof cell[i]);
    }
    study_row(s, "%s|%s|%s|%s|%s", name, method_names[method], cell[0], cell[1], cell[2]);
    free(r);
    return as_paper;
}

static void run_robustness(study *s) {
    char name[40];
    int as_paper[METHODS] = {0};
    study_tabulate(s, "The three walks: without bushes, with bushes, with bushes and stabilizer");
    study_row(s, "what is changed|method|rigid|bushes|bushes, stabilizer");
    if (s->quick) { // a row is enough
        study_at_least(s, "outcomes as the paper's at steps of 1 ms, S0's solver, bushes twice as stiff", "2",
                       tabulate_walks(s, "bushes 2 times as stiff", PAPER, 2, 0.001), "", 2);
        return;
    }
    for (int method = 0; method < METHODS; method++) {
        for (int i = 0; i < STEPSIZES; i++) {
            snprintf(name, sizeof name, "step of %g ms", 1e3 * step_sizes[i]);
            const int right = tabulate_walks(s, name, method, 1, step_sizes[i]);
            as_paper[method] += step_sizes[i] <= 0.001 ? right : 0;
        }
        for (int i = 0; i < FACTORS; i++) {
            snprintf(name, sizeof name, "bushes %g times as stiff", factors[i]);
            if (factors[i] != 1) {
                tabulate_walks(s, name, method, factors[i], 0.001);
            }
        }
    }
    study_at_least(s, "outcomes as the paper's at steps of 0.5 and 1 ms, exact solver", "3 at 1 ms", as_paper[EXACT],
                   "", 6);
    study_at_least(s, "and by S0's solver", "3 at 1 ms", as_paper[PAPER], "", 6);
    study_note(s, "Bushes that are five times as stiff sway too little to throw the robot: then it completes without "
                  "stabilizer as well. S0's explicit springs and dampers run away where a bush's damper would turn the "
                  "sole's velocity round in a step, h d/m > 2.");
}

const study_def studies_s0_walk[] = {
    {"s0", "s0_stepping", "S0 Fig. 4: stepping in place on rubber bushes",
     "Vertical floor reaction under one foot of HRP-2 while it steps: simulation and robot agree, and there is hardly "
     "any noise (Fig. 4).",
     true, run_stepping},
    {"s0", "s0_walk", "S0 Fig. 6: 19 steps in 20 s with turns and backward steps",
     "Played back with PD control: without bushes it completes without stabilizer; with bushes it falls without and "
     "completes with it (Fig. 6).",
     true, run_walk},
    {"s0", "s0_robustness", "S0 Fig. 6: how far the three outcomes hold",
     "The constants of the bushes are not given. Steps are of 1 ms.", true, run_robustness},
    {NULL, NULL, NULL, NULL, false, NULL},
};
