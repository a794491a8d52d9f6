// S0, OpenHRP: boxes that come to rest on a slope, a closed link, the time of a step against the number of contact points.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

// ---- 1: boxes on a slope

static double fastest(const runner *r) {
    double most = 0;
    for (int k = 0; k < kk_model_nv(r->m.model); k++) {
        most = exam_max(most, fabs(kk_state_v_const(r->state)[k]));
    }
    return most;
}

static void run_boxes(study *s) {
    runner r;
    int contacts = 0;
    const double end = s->quick ? 1 : 6;
    const int panel = exam_plot(&s->exam, "24 boxes on a slope of 15 degrees, μ = 0.6", "time / s",
                                "fastest velocity / m/s or rad/s", true);
    const int count = exam_plot(&s->exam, "contact points", "time / s", "points", false);
    if (runner_load(&r, s, "boxes_on_slope/boxes_on_slope.xml", NULL, NULL)) {
        while (kk_state_time(r.state) < end && runner_step(&r)) {
            const int now = kk_simulator_contact_count(r.simulator);
            contacts = now > contacts ? now : contacts;
            if (r.steps % 10 == 0) {
                exam_point(&s->exam, panel, "fastest", kk_state_time(r.state), exam_max(fastest(&r), 1e-16));
                exam_point(&s->exam, count, "points", kk_state_time(r.state), now);
            }
        }
        const double still = r.is_good ? fastest(&r) : INFINITY;
        study_at_most(s, s->quick ? "fastest velocity at the end of a short run" : "fastest velocity after 6 s",
                      "come to rest, stable", still, "m/s or rad/s", s->quick ? 10 : 1e-6);
        study_at_most(s, "worst residual of a step", "", r.residual, "m/s", 1e-9);
        study_note(
            s,
            "At most %d contact points at once, in %d steps of 1 ms; the deepest overlap, at an impact, was %.2g mm.",
            contacts, r.steps, 1e3 * r.penetration);
    }
    runner_end(&r);
}

// ---- 2: a closed link from an open tree

static void run_closed_link(study *s) {
    runner r;
    double gap = 0, first = 0, drift = 0;
    const int panel = exam_plot(&s->exam, "distance of the two tips", "time / s", "gap / m", true);
    const int way = exam_plot(&s->exam, "the tips' way while the link swings", "time / s", "position / m", false);
    if (runner_load(&r, s, "closed_link/closed_link.xml", NULL, NULL)) {
        const int red = runner_body(&r, "red"), blue = runner_body(&r, "blue");
        *runner_v(&r, "left_shoulder") = 0;
        for (int i = 0; i < 10000 && r.is_good; i++) {
            r.control[0] = i < 500 ? 6 : 0; // set it swinging
            runner_step(&r);
            const kk_vec3 a = runner_point(&r, red, kk_vec3_make(0.5, 0, -0.4)),
                          b = runner_point(&r, blue, kk_vec3_make(-0.35, 0, -0.25));
            const double open = kk_vec3_norm(kk_vec3_sub(a, b));
            const double *q = kk_state_q(r.state), *v = kk_state_v(r.state);
            const double energy =
                kk_kinetic_energy(r.m.model, r.m.data, q, v) + kk_potential_energy(r.m.model, r.m.data, q);
            first = i == 500 ? energy : first;
            drift = i > 500 ? exam_max(drift, fabs(energy - first)) : 0;
            gap = exam_max(gap, open);
            if (i % 20 == 0) {
                exam_point(&s->exam, panel, "gap", i * 1e-3, exam_max(open, 1e-18));
                exam_point(&s->exam, way, "x", i * 1e-3, a.x);
                exam_point(&s->exam, way, "z", i * 1e-3, a.z);
            }
        }
        study_at_most(s, "largest gap where the loop closes, 10 s", "closed by one two-axis constraint",
                      r.is_good ? gap : INFINITY, "m", 1e-9);
        study_note(s, "The energy stayed within %.2g J while it swung freely for 9.5 s.", drift);
    }
    runner_end(&r);
}

// ---- 6: time of a step against contact points

/// The humanoid with `points` small balls under its soles instead of plates.
static bool add_points(study *s, kk_spec *spec, int points) {
    static const char *const plates[] = {"left_sole_plate", "right_sole_plate"};
    kk_error error = {0};
    bool is_good = true;
    for (int foot = 0; foot < 2; foot++) {
        int plate = -1;
        for (int i = 0; i < kk_spec_shape_count(spec); i++) {
            const char *name = kk_spec_shape(spec, i)->name;
            plate = name && strcmp(name, plates[foot]) == 0 ? i : plate;
        }
        if (plate < 0) {
            exam_trouble(&s->exam, "the humanoid has no sole plates");
            return false;
        }
        kk_shape_def def = *kk_spec_shape(spec, plate);
        const double *size = kk_spec_shape(spec, plate)->size;
        const double x = size[0], y = size[1], z = size[2];
        kk_spec_shape(spec, plate)->purpose &= ~KK_SHAPE_COLLIDES;
        const int across = points >= 16 ? 4 : 2, along = points / 2 / across;
        for (int i = 0; i < along * across && is_good; i++) {
            const int column = i % across, row = i / across;
            kk_shape_def ball = def;
            ball.name = NULL;
            ball.type = KK_SHAPE_SPHERE;
            ball.size[0] = 0.002;
            ball.purpose = KK_SHAPE_COLLIDES;
            const kk_vec3 at = {(along > 1 ? (double)row / (along - 1) - 0.5 : 0) * x,
                                ((double)column / (across - 1) - 0.5) * y, 0.002 - 0.5 * z};
            ball.placement.p = kk_transform_point(def.placement, at);
            is_good = study_ok(s, kk_spec_add_shape(spec, &ball, NULL, &error), &error);
        }
    }
    return is_good;
}

/// Mean µs of a step while it stands, the least of several tenths of a second.
static double time_standing(study *s, int points, int *contacts) {
    kk_spec *spec = NULL;
    runner r = {.s = s};
    double best = INFINITY;
    if (study_load_spec(s, "hrp2/hrp2_bush.xml", &spec) && add_points(s, spec, points) &&
        runner_take(&r, s, spec, "half_sitting", NULL)) {
        const kk_keyframe_def key = kk_model_keyframe(r.m.model, kk_model_find_keyframe(r.m.model, "half_sitting"));
        for (int i = 0; i < kk_model_nactuator(r.m.model); i++) {
            r.control[i] = key.control[i];
        }
        const int rounds = s->quick ? 3 : 6;
        for (int round = 0; round < rounds && r.is_good; round++) {
            const double start = cli_now();
            for (int i = 0; i < 100; i++) {
                runner_step(&r);
            }
            const double taken = (cli_now() - start) / 100 * 1e6;
            best = round > 0 && taken < best ? taken : best; // the first one settles
        }
        *contacts = kk_simulator_contact_count(r.simulator);
    }
    runner_end(&r);
    return best;
}

static void run_step_time(study *s) {
    static const int counts[] = {8, 16, 32, 48, 64, 96};
    const int rows = s->quick ? 2 : 6;
    const int panel = exam_plot(&s->exam, "36 degrees of freedom standing on small balls, steps of 1 ms",
                                "contact points", "time a step / µs", false);
    double largest = 0;
    int most = 0;
    for (int i = 0; i < rows; i++) {
        int contacts = 0;
        const double taken = time_standing(s, counts[i], &contacts);
        exam_point(&s->exam, panel, "ours", contacts, taken);
        exam_point(&s->exam, panel, "reference: real time", contacts, 1000);
        largest = exam_max(largest, taken);
        most = contacts > most ? contacts : most;
    }
    study_at_most(s, "time of a step of 1 ms, slowest of all",
                  "about 1 ms with a few dozen points (Pentium D, 3.2 GHz)", largest, "µs", 1000);
    study_at_least(s, "contact points at once", "a few dozen", most, "", s->quick ? 16 : 64);
}

const study_def studies_s0[] = {
    {.seed = "s0",
     .name = "s0_boxes",
     .title = "S0 1: boxes fall on a slope and come to rest",
     .paper = "Many boxes fall on a slope; several simultaneous contacts are solved stably and the boxes come to rest.",
     .run = run_boxes},
    {.seed = "s0",
     .name = "s0_closed_link",
     .title = "S0 2: a closed link from an open tree",
     .paper = "A closed link mechanism is made from an open tree and one connection constraint of two axes.",
     .is_quick = true,
     .run = run_closed_link},
    {.seed = "s0",
     .name = "s0_step_time",
     .title = "S0 6: time of a step against contact points",
     .paper = "36 degrees of freedom with a few dozen contact points run at about real time with steps of 1 ms on a "
              "3.2 GHz Pentium D.",
     .run = run_step_time},
    {.name = NULL},
};
