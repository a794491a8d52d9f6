// S0, OpenHRP: boxes on a slope, a closed link, the time of a step; by the exact solver and by S0's own.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reproduce.h"

/// By whose method.
enum { EXACT, PAPER, METHODS };
static const kk_solver solvers[METHODS] = {KK_SOLVER_EXACT, KK_SOLVER_OPENHRP};
static const char *const method_names[METHODS] = {"exact solver", "S0's solver"};

/// A model of ours, its state and simulator.
typedef struct setup {
    cli_model m;
    kk_state *state;
    kk_simulator *simulator;
} setup;

typedef void change_spec(kk_spec *spec, int count);

/// @param change  what is made of the file with `count`; NULL: it is taken as it is
static bool begin_with(study *s, const char *file, int method, change_spec *change, int count, setup *t) {
    kk_error error = {0};
    const kk_step_options options = {.solver = solvers[method]};
    *t = (setup){0};
    if (!study_load(s, file, &t->m)) {
        return false;
    }
    kk_status status = KK_OK;
    if (change) {
        change(t->m.spec, count);
        kk_data_free(t->m.data);
        kk_model_free(t->m.model);
        t->m.data = NULL;
        t->m.model = NULL;
        status = kk_model_compile(t->m.spec, NULL, &t->m.model, &error);
        status = status ? status : kk_data_create(t->m.model, NULL, &t->m.data);
    }
    status = status ? status : kk_state_create(t->m.model, NULL, &t->state);
    status = status ? status : kk_simulator_create(t->m.model, &options, NULL, &t->simulator, &error);
    return study_ok(s, status, &error);
}

static bool begin(study *s, const char *file, int method, setup *t) {
    return begin_with(s, file, method, NULL, 0, t);
}

static void end(setup *t) {
    kk_simulator_free(t->simulator);
    kk_state_free(t->state);
    unload_model(&t->m);
}

static bool step(study *s, setup *t, const kk_input *input) {
    kk_error error = {0};
    return !cli_is_interrupted() && study_ok(s, kk_step(t->m.model, t->state, t->simulator, input, &error), &error);
}

static double kinetic(setup *t) {
    return kk_kinetic_energy(t->m.model, t->m.data, kk_state_q_const(t->state), kk_state_v_const(t->state));
}

static double potential(setup *t) {
    return kk_potential_energy(t->m.model, t->m.data, kk_state_q_const(t->state));
}

// ---- Fig. 2: boxes on a slope

static void draw_boxes(study *s, setup *t, const char *name, const char *caption) {
    cli_text *svg = study_draw(s, name, caption);
    const kk_model *m = t->m.model;
    text_format(svg, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='-200 -220 400 230'><style>svg{background:#fff}"
                     "polygon{stroke:#0006;stroke-width:.6}@media(prefers-color-scheme:dark){svg{background:#111}}"
                     "</style>\n");
    kk_kinematics(m, t->m.data, kk_state_q_const(t->state));
    for (int i = 0; i < kk_model_nshape(m); i++) {
        const kk_shape_def shape = kk_model_shape(m, i);
        if (shape.type != KK_SHAPE_BOX) {
            continue;
        }
        const kk_transform X = kk_transform_mul(kk_body_pose(m, t->m.data, shape.body), shape.placement);
        kk_vec3 corner[8];
        for (int k = 0; k < 8; k++) {
            const kk_vec3 p = kk_vec3_make((k & 1 ? 0.5 : -0.5) * shape.size[0], (k & 2 ? 0.5 : -0.5) * shape.size[1],
                                           (k & 4 ? 0.5 : -0.5) * shape.size[2]);
            const kk_vec3 q = kk_transform_point(X, p);
            corner[k] = kk_vec3_make(q.x + 0.35 * q.y, q.z + 0.2 * q.y, 0); // seen obliquely
        }
        const int n = kk_polygon_hull(corner, 8);
        text_format(svg, "<polygon fill='hsl(%d 55%% 55%% / .85)' points='",
                    shape.body == KK_WORLD ? 140 : 47 * i % 360);
        for (int k = 0; k < n; k++) {
            text_format(svg, "%.1f,%.1f ", 120 * corner[k].x, -120 * corner[k].y);
        }
        text_format(svg, "'/>\n");
    }
    text_format(svg, "</svg>\n");
}

/// How deep shapes lie in each other now.
static double overlap_of(setup *t) {
    enum { ROOM = 256 };
    kk_overlap found[ROOM];
    double deepest = 0;
    kk_kinematics(t->m.model, t->m.data, kk_state_q_const(t->state));
    const int n = kk_model_overlaps(t->m.model, t->m.data, -1e-9, found, ROOM);
    for (int i = 0; i < n && i < ROOM; i++) {
        deepest = exam_max(deepest, -found[i].at.distance);
    }
    return deepest;
}

typedef struct box_figures {
    double residual, deepest, fastest, moved;
    int contacts;
} box_figures;

static double fastest_of(const setup *t) {
    double fastest = 0;
    for (int k = 0; k < kk_model_nv(t->m.model); k++) {
        fastest = exam_max(fastest, exam_abs(kk_state_v_const(t->state)[k]));
    }
    return fastest;
}

/// 24 boxes for 6 s.
static box_figures drop_boxes(study *s, int method, int panel) {
    setup t;
    box_figures x = {0};
    const int steps = s->quick ? 800 : 6000;
    const bool good = begin(s, "boxes_on_slope/boxes_on_slope.xml", method, &t);
    for (int i = 0; good && i < steps; i++) {
        if (i == 400 && method == EXACT) {
            draw_boxes(s, &t, "s0_boxes_falling", "after 0.4 s");
        }
        if (!step(s, &t, NULL)) {
            break;
        }
        const kk_report r = *kk_simulator_report(t.simulator);
        x.residual = exam_max(x.residual, r.residual);
        x.deepest = exam_max(x.deepest, overlap_of(&t));
        x.contacts = r.contacts > x.contacts ? r.contacts : x.contacts;
        if (i % 10 == 0) {
            exam_point(&s->exam, panel, method_names[method], kk_state_time(t.state), kinetic(&t));
        }
    }
    if (good && method == EXACT) {
        draw_boxes(s, &t, "s0_boxes_resting", "at the end");
    }
    x.fastest = good ? fastest_of(&t) : INFINITY;
    end(&t);
    return x;
}

static void run_boxes(study *s) {
    const int panel = exam_plot(&s->exam, "24 boxes", "time / s", "kinetic energy / J", false);
    const box_figures ours = drop_boxes(s, EXACT, panel), paper = drop_boxes(s, PAPER, panel);
    if (!s->quick) {
        study_at_most(s, "fastest box after 6 s", "comes to rest", ours.fastest, "m/s, rad/s", 1e-6);
        study_at_most(s, "and by S0's solver", "comes to rest", paper.fastest, "m/s, rad/s", 1e-3);
    }
    study_at_most(s, "worst residual of a step", "", ours.residual, "m/s", 1e-9);
    study_at_most(s, "deepest overlap after any step", "", 1e3 * ours.deepest, "mm", 1);
    study_at_most(s, "and by S0's solver, which does nothing about it", "", 1e3 * paper.deepest, "mm", 20);
    study_note(
        s,
        "At most %d contact points at once; by S0's solver %d, and a residual of up to %.2g m/s by the exact law, "
        "because 120 sweeps end before hundreds of rows agree.",
        ours.contacts, paper.contacts, paper.residual);
}

// ---- Fig. 3: a closed link

static double opening(setup *t) {
    const kk_model *m = t->m.model;
    kk_kinematics(m, t->m.data, kk_state_q_const(t->state));
    return kk_vec3_norm(kk_vec3_sub(kk_frame_pose(m, t->m.data, kk_model_find_frame(m, "red_tip")).p,
                                    kk_frame_pose(m, t->m.data, kk_model_find_frame(m, "blue_tip")).p));
}

typedef struct link_figures {
    double open, off;
} link_figures;

/// 10 s of the closed link.
static link_figures swing_link(study *s, int method, const int panels[2]) {
    setup t;
    link_figures x = {0};
    double off = 0, most = 0, start = 0;
    const bool good = begin(s, "closed_link/closed_link.xml", method, &t);
    if (good) {
        start = kinetic(&t) + potential(&t);
    }
    for (int i = 0; good && i < 10000 && step(s, &t, NULL); i++) {
        const double gap = opening(&t), time = kk_state_time(t.state);
        x.open = exam_max(x.open, gap);
        most = exam_max(most, kinetic(&t));
        off = exam_max(off, exam_abs(kinetic(&t) + potential(&t) - start));
        if (i % 20 == 0 && method == EXACT) {
            exam_point(&s->exam, panels[0], "left shoulder", time, kk_state_q_const(t.state)[0]);
            exam_point(&s->exam, panels[0], "right shoulder", time, kk_state_q_const(t.state)[2]);
        }
        if (i % 20 == 0) {
            exam_point(&s->exam, panels[1], method_names[method], time, exam_max(gap, 1e-18));
        }
    }
    x.off = good ? off / most : INFINITY;
    end(&t);
    return x;
}

static void run_closed_link(study *s) {
    const int panels[2] = {
        exam_plot(&s->exam, "joints of the closed link", "time / s", "angle / rad", false),
        exam_plot(&s->exam, "opening between the red and the blue bar", "time / s", "distance / m", true)};
    const link_figures ours = swing_link(s, EXACT, panels), paper = swing_link(s, PAPER, panels);
    study_at_most(s, "largest opening in 10 s", "closed by connection constraints", ours.open, "m", 1e-9);
    study_at_most(s, "and by S0's solver, which closes velocities and not ways", "closed", paper.open, "m", 1e-3);
    study_at_most(s, "energy gained or lost in 10 s, against the largest kinetic energy", "", ours.off, "", 1e-6);
    study_note(
        s,
        "Nothing takes energy out of this mechanism, and nothing does here: the step is of second order, "
        "and what it is off by is balanced. By S0's solver it gains or loses up to %.0f %% of the largest kinetic "
        "energy: constraint forces are found by Euler's rule (4) and held over the step.",
        100 * paper.off);
}

// ---- Fig. 7: time of a step against contact points

enum { MOST_POINTS = 64, SAMPLES = 1000 };

/// Times of steps with so many points, µs: as many as there is room for.
typedef struct samples {
    double us[SAMPLES];
    int count;
} samples;

static int in_order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(samples *t) {
    qsort(t->us, (size_t)t->count, sizeof *t->us, in_order);
    return t->us[t->count / 2];
}

/// A step, and its time in processor time.
static bool timed_step(study *s, setup *t, const kk_input *input, samples *taken) {
    const clock_t start = clock();
    const bool good = step(s, t, input);
    if (good && taken->count < SAMPLES) {
        taken->us[taken->count++] = 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    return good;
}

/// Servos with a thousandth of their gains.
static void weaken(kk_spec *spec, int unused) {
    (void)unused;
    for (int i = 0; i < kk_spec_actuator_count(spec); i++) {
        kk_actuator_def *a = kk_spec_actuator(spec, i);
        a->gain *= 1e-3;
        a->bias[1] *= 1e-3;
        a->bias[2] *= 1e-3;
    }
}

/// Stretched out, face down or up, a little above the floor.
static void lay(setup *t, int run) {
    double *q = kk_state_q(t->state);
    kk_model_neutral(t->m.model, q);
    memset(kk_state_v(t->state), 0, (size_t)kk_model_nv(t->m.model) * sizeof(double));
    const kk_quat tip = kk_quat_exp(kk_vec3_make(0.02 * run, run % 2 ? -1.5 : 1.5, 0));
    q[0] = tip.w, q[1] = tip.x, q[2] = tip.y, q[3] = tip.z;
    q[6] = -0.4;
}

/// The humanoid falls on its face or back and lies: from no contact to dozens. Gives the slowest number of points, µs.
static double time_fall(study *s, int method, int panel, int *most) {
    setup t;
    samples *taken = cli_allocate(MOST_POINTS, sizeof *taken), one;
    double worst = 0;
    const bool good = begin_with(s, "hrp2/hrp2_bush.xml", method, weaken, 0, &t);
    double *control = good ? cli_allocate((size_t)kk_model_nactuator(t.m.model) + 1, sizeof *control) : NULL;
    *most = 0;
    for (int run = 0; good && run < (s->quick ? 1 : 5); run++) {
        const kk_input input = {.control = control};
        lay(&t, run);
        for (int i = 0; i < 2500; i++) {
            one.count = 0;
            if (!timed_step(s, &t, &input, &one)) {
                break;
            }
            const int n = kk_simulator_report(t.simulator)->contacts;
            if (n < MOST_POINTS && taken[n].count < SAMPLES) {
                taken[n].us[taken[n].count++] = one.us[0];
                *most = n > *most ? n : *most;
            }
        }
    }
    for (int n = 0; good && n <= *most; n++) {
        // the middle one: of the least the robot lies still, and the longest are the machine's
        if (taken[n].count >= 10) {
            const double us = median(&taken[n]);
            exam_point(&s->exam, panel, method_names[method], n, us);
            worst = exam_max(worst, us);
        }
    }
    free(taken);
    free(control);
    end(&t);
    return good ? worst : INFINITY;
}

// ---- the same, points given

enum { COUNTS = 5 };
static const int points_asked[COUNTS] = {8, 20, 40, 64, 100};

/// Instead of its box each sole has half of `count` studs in rows, each of which touches the floor in one point.
static void stud_soles(kk_spec *spec, int count) {
    const int half = count / 2, rows = half <= 4 ? 2 : half <= 20 ? 4 : 5, columns = (half + rows - 1) / rows;
    const int shapes = kk_spec_shape_count(spec);
    for (int i = 0; i < shapes; i++) {
        const kk_shape_def sole = *kk_spec_shape(spec, i);
        if (!sole.name || !strstr(sole.name, "sole_plate")) {
            continue;
        }
        kk_spec_shape(spec, i)->purpose = KK_SHAPE_VISIBLE;
        for (int k = 0; k < half; k++) {
            kk_shape_def stud = sole;
            kk_error error = {0};
            const double x = columns > 1 ? (k / rows) / (columns - 1.0) - 0.5 : 0, y = (k % rows) / (rows - 1.0) - 0.5;
            stud.name = NULL;
            stud.type = KK_SHAPE_SPHERE;
            stud.purpose = KK_SHAPE_COLLIDES;
            stud.size[0] = 0.005;
            stud.placement.p =
                kk_vec3_add(sole.placement.p,
                            kk_vec3_make(0.9 * sole.size[0] * x, 0.9 * sole.size[1] * y, 0.005 - 0.5 * sole.size[2]));
            kk_spec_add_shape(spec, &stud, NULL, &error);
        }
    }
}

/// Median time of a step while it bends its knees a little, µs. @param points  contacts that it had
static double time_standing(study *s, int method, int count, int *points) {
    setup t;
    samples *taken = cli_allocate(1, sizeof *taken);
    double us = INFINITY;
    *points = 0;
    if (begin_with(s, "hrp2/hrp2_bush.xml", method, stud_soles, count, &t)) {
        double *control = cli_allocate((size_t)kk_model_nactuator(t.m.model) + 1, sizeof *control);
        const kk_keyframe_def key = kk_model_keyframe(t.m.model, kk_model_find_keyframe(t.m.model, "half_sitting"));
        memcpy(kk_state_q(t.state), key.q, (size_t)kk_model_nq(t.m.model) * sizeof(double));
        kk_state_q(t.state)[6] -= 1e-4; // S0's contacts are what overlaps
        for (int i = 0; i < (s->quick ? 150 : 500); i++) {
            for (int k = 0; k < kk_model_nactuator(t.m.model); k++) {
                const kk_actuator_info a = kk_model_actuator(t.m.model, k);
                control[k] = key.q[kk_model_joint(t.m.model, a.joint).q_index] + 0.01 * kk_sin(0.02 * i + k);
            }
            taken->count = i < 50 ? 0 : taken->count;
            if (!timed_step(s, &t, &(kk_input){.control = control}, taken)) {
                break;
            }
            const int n = kk_simulator_report(t.simulator)->contacts;
            *points = n > *points ? n : *points;
        }
        us = taken->count > 0 ? median(taken) : INFINITY;
        free(control);
    }
    free(taken);
    end(&t);
    return us;
}

/// Slope of a straight line through log t over log n.
static double exponent(const double *us, const int *points, int from) {
    double x = 0, y = 0, xx = 0, xy = 0;
    const double n = COUNTS - from;
    for (int i = from; i < COUNTS; i++) {
        const double a = kk_log(points[i]), b = kk_log(us[i]);
        x += a / n;
        y += b / n;
        xx += a * a / n;
        xy += a * b / n;
    }
    return (xy - x * y) / (xx - x * x);
}

static void run_step_time(study *s) {
    double us[METHODS][COUNTS], fall[METHODS];
    int points[METHODS][COUNTS], most[METHODS];
    const int panel =
        exam_plot(&s->exam, "36 joints and a base, falling and lying: median of the steps with so many points",
                  "contact points", "time of a step / µs", false);
    const int stood =
        exam_plot(&s->exam, "standing on so many studs, knees bending", "contact points", "time of a step / µs", true);
    study_tabulate(s,
                   "Standing on so many points while it bends its knees: median time of a step, µs of the processor");
    study_row(s, "points|exact solver|S0's solver");
    for (int method = 0; method < METHODS; method++) {
        fall[method] = time_fall(s, method, panel, &most[method]);
        for (int i = 0; i < COUNTS; i++) {
            us[method][i] = time_standing(s, method, points_asked[i], &points[method][i]);
            exam_point(&s->exam, stood, method_names[method], points[method][i], us[method][i]);
        }
    }
    int least = points_asked[COUNTS - 1];
    for (int i = 0; i < COUNTS; i++) {
        study_row(s, "%d|%.0f|%.0f", points[PAPER][i], us[EXACT][i], us[PAPER][i]);
        least = points[EXACT][i] == points_asked[i] && points[PAPER][i] == points_asked[i] ? least : 0;
    }
    study_row(s, "exponent, 20-100|%.2f|%.2f", exponent(us[EXACT], points[EXACT], 1),
              exponent(us[PAPER], points[PAPER], 1));
    study_at_most(s, "slowest of the numbers of contact points, falling and lying", "about 1 ms for a few dozen points",
                  fall[EXACT], "µs", 1000);
    study_fact(s, "points that the studs make", "", least > 0 ? "8, 20, 40, 64, 100" : "others", "8, 20, 40, 64, 100",
               least > 0);
    study_at_most(s, "exponent of the time from 20 to 100 points, exact solver", "",
                  exponent(us[EXACT], points[EXACT], 1), "", 2);
    study_at_most(s, "and S0's solver, whose matrix and sweeps are of second order", "O(n m + m²)",
                  exponent(us[PAPER], points[PAPER], 1), "", 2.5);
    study_note(s,
               "The paper's figure is for a Pentium D of 3.2 GHz and leaves out finding the contacts; ours is "
               "the whole step, in processor time. Where the robot lies still the forces of the step before "
               "hold, which costs least. Falling, it had at most %d points.",
               most[EXACT]);
}

const study_def studies_s0[] = {
    {"s0", "s0_boxes", "S0 Fig. 2: boxes fall on a slope",
     "Many boxes fall on a slope, touch at many points at once, and come to rest (Fig. 2).", true, run_boxes},
    {"s0", "s0_closed_link", "S0 Fig. 3: a closed link",
     "An open mechanism is closed by a connection constraint between its red and its blue part (Fig. 3).", true,
     run_closed_link},
    {"s0", "s0_step_time", "S0 Fig. 7: time of a step against contact points",
     "36 degrees of freedom with bush joints: about real time at 1 ms up to a few dozen points on a 3.2 GHz Pentium D "
     "(Fig. 7).",
     true, run_step_time},
    {NULL, NULL, NULL, NULL, false, NULL},
};
