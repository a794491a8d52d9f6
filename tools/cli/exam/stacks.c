// Rows 14, 15: stacks.
#include "rows.h"
#include "scene.h"

// ---- 14

static void two_boxes(exam *e) {
    static const double ratios[] = {1, 10, 100, 1000, 10000};
    double drift = 0, residual = 0, overlap = 0;
    const int panel = exam_plot(e, "heavy box on a light one", "time [s]", "sinking [m]", false);
    for (int k = 0; k < 5; k++) {
        scene s;
        char name[32];
        snprintf(name, sizeof name, "1:%g", ratios[k]);
        scene_begin(&s, e, 9.81);
        scene_floor(&s, 0);
        const int low = scene_box(&s, 1, 0.2, 0.2, 0.2, 0), high = scene_box(&s, ratios[k], 0.2, 0.2, 0.2, 0);
        scene_ready_dt(&s, 1e-3);
        scene_place(&s, low, 0, 0, 0.1);
        scene_place(&s, high, 0, 0, 0.3);
        while (scene_time(&s) < 10 && scene_step(&s)) {
            exam_point(e, panel, name, scene_time(&s), 0.3 - scene_q(&s, high)[6]);
        }
        const double *q = scene_q(&s, high);
        drift = exam_max(drift, kk_hypot(q[4], kk_hypot(q[5], q[6] - 0.3)));
        residual = exam_max(residual, s.residual);
        overlap = exam_max(overlap, s.penetration);
        scene_end(&s);
    }
    exam_at_most(e, "two boxes to 1:1e4: worst residual, m/s", residual, 1e-9);
    exam_at_most(e, "two boxes to 1:1e4: overlap, m", overlap, 1e-6);
    exam_at_most(e, "two boxes to 1:1e4: drift in 10 s, m", drift, 1e-6);
}

/// Ten slabs, the top one a thousand times as heavy; at rest, or sliding on the floor as one.
static void slabs(exam *e, double speed) {
    enum { SLABS = 10 };
    scene s;
    int slab[SLABS];
    scene_begin(&s, e, 9.81);
    const int floor = scene_material(&s, 0.09, 0), own = scene_material(&s, 1, 0); // together 0.3 on the floor
    scene_floor(&s, floor);
    for (int i = 0; i < SLABS; i++) {
        slab[i] = scene_box(&s, i == SLABS - 1 ? 1000 : 1, 2, 2, 0.1, own);
    }
    scene_ready_dt(&s, 1e-3);
    for (int i = 0; i < SLABS; i++) {
        scene_place(&s, slab[i], 0, 0, 0.05 + 0.1 * i);
        scene_v(&s, slab[i])[3] = speed;
    }
    scene_run_until(&s, 2);
    const double way = speed * speed / (2 * 0.3 * 9.81);
    double drift = 0;
    for (int i = 0; i < SLABS; i++) {
        const double *q = scene_q(&s, slab[i]);
        drift = exam_max(drift, kk_hypot(q[4] - way, kk_hypot(q[5], q[6] - (0.05 + 0.1 * i))));
    }
    const char *what = speed > 0 ? "sliding" : "standing";
    char name[EXAM_TEXT];
    snprintf(name, sizeof name, "ten slabs %s: worst residual, m/s", what);
    exam_at_most(e, name, s.is_broken ? 1 : s.residual, 1e-9);
    snprintf(name, sizeof name, "ten slabs %s: overlap, m", what);
    exam_at_most(e, name, s.penetration, 1e-6);
    snprintf(name, sizeof name, "ten slabs %s: place after 2 s, m", what);
    exam_at_most(e, name, drift, 1e-6);
    scene_end(&s);
}

static void run_ratios(exam *e) {
    two_boxes(e);
    slabs(e, 0);
    slabs(e, 2);
}

// ---- 15

/// 34 layers of three planks, crosswise.
static void run_tower(exam *e) {
    enum { LAYERS = 34, PLANKS = 3 * LAYERS };
    scene s;
    int plank[PLANKS];
    double place[PLANKS][3];
    scene_begin(&s, e, 9.81);
    scene_floor(&s, 0);
    for (int i = 0; i < PLANKS; i++) {
        plank[i] = scene_box(&s, 0.2, 0.24, 0.06, 0.04, 0);
    }
    if (!s.is_broken) {
        kk_spec_options(s.spec)->max_contacts = 2000;
    }
    scene_ready_dt(&s, 0.01);
    for (int i = 0; i < PLANKS; i++) {
        const int layer = i / 3;
        const double across = 0.09 * (i % 3 - 1);
        place[i][0] = layer % 2 ? across : 0;
        place[i][1] = layer % 2 ? 0 : across;
        place[i][2] = 0.02 + 0.04 * layer;
        scene_place(&s, plank[i], place[i][0], place[i][1], place[i][2]);
        if (layer % 2) {
            scene_turn(&s, plank[i], kk_vec3_make(0, 0, 1.57079632679489661923));
        }
    }
    const int panel = exam_plot(e, "drift", "time [s]", "drift [m]", true);
    const double start = exam_cpu();
    double drift = 0;
    while (scene_time(&s) < 600 && scene_step(&s)) {
        for (int i = 0; s.steps % 100 == 0 && i < PLANKS; i++) {
            const double *q = scene_q(&s, plank[i]);
            const double d = kk_hypot(q[4] - place[i][0], kk_hypot(q[5] - place[i][1], q[6] - place[i][2]));
            drift = exam_max(drift, d);
        }
        if (s.steps % 100 == 0) {
            exam_point(e, panel, "worst", scene_time(&s), drift);
        }
    }
    exam_at_most(e, "drift in 600 s, m", s.is_broken ? 1 : drift, 1e-6);
    exam_at_most(e, "CPU time a step, ms", 1e3 * (exam_cpu() - start) / (double)exam_max(1, (double)s.steps), 5);
    exam_at_most(e, "worst residual, m/s", s.residual, 1e-9);
    scene_end(&s);
}

const exam_row exam_rows_stacks[] = {
    {14, "two boxes 1:1 ... 1:1e4; ten slabs, the top one x 1000, standing and sliding", "static; analytic sliding",
     "sinks through at 1:1000 (MuJoCo), 100:1 (DART)", false, run_ratios},
    {15, "tower of 102 planks, dt 0.01, 600 s", "stands", "48 ms a step", false, run_tower},
    {0, NULL, NULL, NULL, false, NULL},
};
