// Row 5: grips. Two fingers press from both sides, friction alone holds the load.
#include "rows.h"
#include "scene.h"

static const double GRIP_TIME = 600;

typedef struct grip {
    const char *name;
    double load, finger, force;
    bool is_capsule;
} grip;

static int finger(scene *s, double mass, double at, int material) {
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_SLIDE, kk_vec3_make(1, 0, 0), kk_vec3_make(at, 0, 0),
                                   kk_inertia_solid_box(mass, 0.01, 0.02, 0.02));
    const kk_shape_def def = scene_shape_def(KK_SHAPE_BOX, body, 0.01, 0.04, 0.04, material);
    scene_shape(s, &def);
    return body;
}

/// The capsule lies along y, so that each finger holds it along a line.
static int load_of(scene *s, const grip *g, int material) {
    if (!g->is_capsule) {
        return scene_box(s, g->load, 0.1, 0.1, 0.1, material);
    }
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                   kk_inertia_solid_box(g->load, 0.007, 0.03, 0.007));
    kk_shape_def def = scene_shape_def(KK_SHAPE_CAPSULE, body, 0.004, 0.02, 0, material);
    def.placement.R = kk_mat3_from_rpy(1.57079632679489661923, 0, 0);
    scene_shape(s, &def);
    return body;
}

static void hold(exam *e, const grip *g, int panel) {
    scene s;
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.7, 0);
    const double half = (g->is_capsule ? 0.004 : 0.05) + 0.005;
    const int left = finger(&s, g->finger, -half, material), right = finger(&s, g->finger, half, material);
    const int load = load_of(&s, g, material);
    scene_ready_dt(&s, 1e-3);
    if (!s.is_broken) {
        s.tau[kk_model_joint(s.model, left).v_index] = g->force;
        s.tau[kk_model_joint(s.model, right).v_index] = -g->force;
        s.is_pushed = true;
    }
    double fastest = 0;
    const double start = scene_q(&s, load)[6];
    while (scene_time(&s) < GRIP_TIME && scene_step(&s)) {
        fastest = exam_max(fastest, kk_vec3_norm(scene_velocity(&s, load)));
        if (s.steps % 1000 == 0) {
            exam_point(e, panel, g->name, scene_time(&s), start - scene_q(&s, load)[6]);
        }
    }
    char name[EXAM_TEXT];
    snprintf(name, sizeof name, "%s: fastest in 10 min, m/s", g->name);
    exam_at_most(e, name, s.is_broken ? 1 : fastest, 1e-9);
    snprintf(name, sizeof name, "%s: slip by the end, m/s", g->name);
    exam_at_most(e, name, exam_abs(scene_q(&s, load)[6] - start) / GRIP_TIME, 1e-9);
    scene_end(&s);
}

static void run_grip(exam *e) {
    static const grip grips[] = {
        {"45 g capsule, 12 N", 0.045, 0.2, 12, true},
        {"45 g capsule, 30 N", 0.045, 0.2, 30, true},
        {"45 g capsule, 60 N", 0.045, 0.2, 60, true},
        {"10 kg box between 50 g fingers, 100 N", 10, 0.05, 100, false},
    };
    const int panel = exam_plot(e, "how far the load has come down", "time [s]", "way [m]", false);
    for (int i = 0; i < 4; i++) {
        hold(e, &grips[i], panel);
    }
}

const exam_row exam_rows_grip[] = {
    {5, "grip: 45 g capsule r 4 mm, 12-60 N; 10 kg between 50 g fingers; mu 0.7, 10 min", "no slip",
     "155 um/s; 1.4 um/s with a pass against slip", false, run_grip},
    {0, NULL, NULL, NULL, false, NULL},
};
