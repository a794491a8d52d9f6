// S0, OpenHRP: boxes on a slope, a closed link, the time of a step.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reproduce.h"

/// A model of ours, its state and simulator.
typedef struct setup {
    cli_model m;
    kk_state *state;
    kk_simulator *simulator;
} setup;

/// @param servo  factor for the gains of all servos
static bool begin_with(study *s, const char *file, double servo, setup *t) {
    kk_error error = {0};
    *t = (setup){0};
    if (!study_load(s, file, &t->m)) {
        return false;
    }
    kk_status status = KK_OK;
    if (servo != 1) {
        for (int i = 0; i < kk_spec_actuator_count(t->m.spec); i++) {
            kk_actuator_def *a = kk_spec_actuator(t->m.spec, i);
            a->gain *= servo;
            a->bias[1] *= servo;
            a->bias[2] *= servo;
        }
        kk_data_free(t->m.data);
        kk_model_free(t->m.model);
        t->m.data = NULL;
        t->m.model = NULL;
        status = kk_model_compile(t->m.spec, NULL, &t->m.model, &error);
        status = status ? status : kk_data_create(t->m.model, NULL, &t->m.data);
    }
    status = status ? status : kk_state_create(t->m.model, NULL, &t->state);
    status = status ? status : kk_simulator_create(t->m.model, NULL, NULL, &t->simulator, &error);
    return study_ok(s, status, &error);
}

static bool begin(study *s, const char *file, setup *t) {
    return begin_with(s, file, 1, t);
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

static void run_boxes(study *s) {
    setup t;
    double residual = 0, deepest = 0;
    int contacts = 0;
    const int panel = exam_plot(&s->exam, "24 boxes", "time / s", "kinetic energy / J", false);
    const bool good = begin(s, "boxes_on_slope/boxes_on_slope.xml", &t);
    for (int i = 0; good && i < 6000; i++) {
        if (i == 400) {
            draw_boxes(s, &t, "s0_boxes_falling", "after 0.4 s");
        }
        if (!step(s, &t, NULL)) {
            break;
        }
        const kk_report r = *kk_simulator_report(t.simulator);
        residual = exam_max(residual, r.residual);
        deepest = exam_max(deepest, overlap_of(&t));
        contacts = r.contacts > contacts ? r.contacts : contacts;
        if (i % 10 == 0) {
            exam_point(&s->exam, panel, "all boxes", kk_state_time(t.state), kinetic(&t));
        }
    }
    if (good) {
        draw_boxes(s, &t, "s0_boxes_resting", "after 6 s");
        double fastest = 0;
        for (int k = 0; k < kk_model_nv(t.m.model); k++) {
            fastest = exam_max(fastest, exam_abs(kk_state_v_const(t.state)[k]));
        }
        study_at_most(s, "fastest box after 6 s", "comes to rest", fastest, "m/s, rad/s", 1e-6);
        study_at_most(s, "worst residual of a step", "", residual, "m/s", 1e-9);
        study_at_most(s, "deepest overlap after any step", "", 1e3 * deepest, "mm", 1);
        study_note(s, "At most %d contact points at once.", contacts);
    }
    end(&t);
}

// ---- Fig. 3: a closed link

static double opening(setup *t) {
    const kk_model *m = t->m.model;
    kk_kinematics(m, t->m.data, kk_state_q_const(t->state));
    return kk_vec3_norm(kk_vec3_sub(kk_frame_pose(m, t->m.data, kk_model_find_frame(m, "red_tip")).p,
                                    kk_frame_pose(m, t->m.data, kk_model_find_frame(m, "blue_tip")).p));
}

static void run_closed_link(study *s) {
    setup t;
    double open = 0, off = 0, most = 0, start = 0;
    const int ways = exam_plot(&s->exam, "joints of the closed link", "time / s", "angle / rad", false);
    const int gaps = exam_plot(&s->exam, "opening between the red and the blue bar", "time / s", "distance / m", true);
    const bool good = begin(s, "closed_link/closed_link.xml", &t);
    if (good) {
        start = kinetic(&t) + potential(&t);
    }
    for (int i = 0; good && i < 10000 && step(s, &t, NULL); i++) {
        const double gap = opening(&t), time = kk_state_time(t.state);
        open = exam_max(open, gap);
        most = exam_max(most, kinetic(&t));
        off = exam_max(off, exam_abs(kinetic(&t) + potential(&t) - start));
        if (i % 20 == 0) {
            exam_point(&s->exam, ways, "left shoulder", time, kk_state_q_const(t.state)[0]);
            exam_point(&s->exam, ways, "right shoulder", time, kk_state_q_const(t.state)[2]);
            exam_point(&s->exam, gaps, "opening", time, exam_max(gap, 1e-18));
        }
    }
    if (good) {
        study_at_most(s, "largest opening in 10 s", "closed by connection constraints", open, "m", 1e-9);
        study_at_most(s, "energy gained or lost in 10 s, against the largest kinetic energy", "", off / most, "", 1e-6);
        study_note(s, "Nothing takes energy out of this mechanism, and nothing does here: the step is of second order, "
                      "and what it is off by is balanced.");
    }
    end(&t);
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

/// The humanoid falls on its face or back and lies: from no contact to dozens.
static void run_step_time(study *s) {
    setup t;
    samples *taken = cli_allocate(MOST_POINTS, sizeof *taken);
    double worst = 0;
    int most = 0;
    const int panel = exam_plot(&s->exam, "36 joints and a base", "contact points", "time of a step / µs", false);
    const bool good = begin_with(s, "hrp2/hrp2_bush.xml", 1e-3, &t);
    double *control = good ? cli_allocate((size_t)kk_model_nactuator(t.m.model) + 1, sizeof *control) : NULL;
    for (int run = 0; good && run < (s->quick ? 2 : 5); run++) {
        // stretched out, face down or up, a little above the floor; its servos are weak
        double *q = kk_state_q(t.state);
        kk_model_neutral(t.m.model, q);
        memset(kk_state_v(t.state), 0, (size_t)kk_model_nv(t.m.model) * sizeof(double));
        const kk_quat tip = kk_quat_exp(kk_vec3_make(0.02 * run, run % 2 ? -1.5 : 1.5, 0));
        q[0] = tip.w, q[1] = tip.x, q[2] = tip.y, q[3] = tip.z;
        q[6] = -0.4;
        const kk_input input = {.control = control};
        for (int i = 0; i < 2500; i++) {
            const clock_t start = clock();
            if (!step(s, &t, &input)) {
                break;
            }
            const double us = 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC;
            const int n = kk_simulator_report(t.simulator)->contacts;
            if (n < MOST_POINTS && taken[n].count < SAMPLES) {
                taken[n].us[taken[n].count++] = us;
                most = n > most ? n : most;
            }
        }
    }
    for (int n = 0; good && n <= most; n++) {
        if (taken[n].count >=
            10) { // the middle one: of the least the robot lies still, and the longest are the machine's
            const double us = median(&taken[n]);
            exam_point(&s->exam, panel, "median of the steps with so many points", n, us);
            worst = exam_max(worst, us);
        }
    }
    if (good) {
        study_at_most(s, "slowest of the numbers of contact points", "about 1 ms for a few dozen points", worst, "µs",
                      1000);
        study_at_least(s, "most contact points", "a few dozen", most, "", 24);
        study_note(s, "The paper's figure is for a Pentium D of 3.2 GHz and leaves out finding the contacts; ours is "
                      "the whole step, in processor time. Where the robot lies still the forces of the step before "
                      "hold, which costs least.");
    }
    free(taken);
    free(control);
    end(&t);
}

const study_def studies_s0[] = {
    {"s0", "s0_boxes", "S0 Fig. 2: boxes fall on a slope",
     "Many boxes fall on a slope, touch at many points at once, and come to rest (Fig. 2).", false, run_boxes},
    {"s0", "s0_closed_link", "S0 Fig. 3: a closed link",
     "An open mechanism is closed by a connection constraint between its red and its blue part (Fig. 3).", true,
     run_closed_link},
    {"s0", "s0_step_time", "S0 Fig. 7: time of a step against contact points",
     "36 degrees of freedom with bush joints: about real time at 1 ms up to a few dozen points on a 3.2 GHz Pentium D "
     "(Fig. 7).",
     false, run_step_time},
    {NULL, NULL, NULL, NULL, false, NULL},
};
