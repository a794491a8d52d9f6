// Row 11: the free spin of a body with three different moments, unstable about the middle axis (Dzhanibekov).
#include "rows.h"
#include "scene.h"

/// Complete elliptic integral of the first kind by the arithmetic-geometric mean. @param rest  1 − k²
static double elliptic_k(double rest) {
    double a = 1, b = kk_sqrt(rest);
    for (int i = 0; i < 40; i++) {
        const double mean = 0.5 * (a + b);
        b = kk_sqrt(a * b);
        a = mean;
    }
    return 1.57079632679489661923 / a;
}

/// Time between two flips of Euler's top: half a period of ω₂ (Landau and Lifshitz, Mechanics, 37.8-37.12). For L² > 2 E I₂.
static double flip_time(const double I[3], const double w[3]) {
    const double E2 = I[0] * w[0] * w[0] + I[1] * w[1] * w[1] + I[2] * w[2] * w[2];
    const double L2 = I[0] * I[0] * w[0] * w[0] + I[1] * I[1] * w[1] * w[1] + I[2] * I[2] * w[2] * w[2];
    // 1 − k², without the cancellation of the large part about the second axis:
    // (I₃ − I₂)(L² − 2E I₁) − (I₂ − I₁)(2E I₃ − L²) = (I₃ − I₁)(L² − 2E I₂)
    const double excess = I[0] * (I[0] - I[1]) * w[0] * w[0] + I[2] * (I[2] - I[1]) * w[2] * w[2];
    const double scale = (I[2] - I[1]) * (L2 - E2 * I[0]);
    return 2 * elliptic_k((I[2] - I[0]) * excess / scale) * kk_sqrt(I[0] * I[1] * I[2] / scale);
}

/// Root of the cubic through four equidistant values around a change of sign between the middle two, from the second on.
static double crossing(const double y[4]) {
    const double a = y[1], b = -y[0] / 3 - y[1] / 2 + y[2] - y[3] / 6, c = y[0] / 2 - y[1] + y[2] / 2;
    const double d = -y[0] / 6 + y[1] / 2 - y[2] / 2 + y[3] / 6;
    double t = y[1] / (y[1] - y[2]);
    for (int i = 0; i < 20; i++) {
        t -= (a + t * (b + t * (c + t * d))) / (b + t * (2 * c + t * 3 * d));
    }
    return t;
}

static kk_vec3 spin_momentum(scene *s, int body) {
    const double *q = scene_q(s, body), *v = scene_v(s, body);
    return kk_mat3_mul_vec(kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}), kk_vec3_make(v[0], 2 * v[1], 3 * v[2]));
}

static void run_spin(exam *e) {
    static const double I[3] = {1, 2, 3}, w[3] = {1e-3, 5, 1e-3};
    scene s;
    scene_begin(&s, e, 0);
    const kk_inertia inertia = {.mass = 1, .moment = {I[0], I[1], I[2], 0, 0, 0}};
    const int body = scene_jointed(&s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0), inertia);
    scene_ready_dt(&s, 1e-3);
    double *v = scene_v(&s, body);
    for (int k = 0; k < 3; k++) {
        v[k] = w[k];
    }
    const kk_vec3 L0 = spin_momentum(&s, body);
    const double E0 = scene_energy(&s);
    const int panel = exam_plot(e, "spin about the middle axis", "time [s]", "rad/s", false);
    double y[4] = {v[1], v[1], v[1], v[1]}, first = 0, last = 0, energy = 0, turned = 0;
    int flips = 0;
    while (scene_time(&s) < 1000 && scene_step(&s)) {
        for (int k = 0; k < 3; k++) {
            y[k] = y[k + 1];
        }
        y[3] = v[1];
        if (s.steps > 3 && (y[1] > 0) != (y[2] > 0)) {
            last = scene_time(&s) + (crossing(y) - 2) * 1e-3;
            first = flips++ ? first : last;
        }
        if (s.steps % 100 == 0) {
            energy = exam_max(energy, exam_abs(scene_energy(&s) / E0 - 1));
            turned = exam_max(turned, kk_vec3_norm(kk_vec3_sub(spin_momentum(&s, body), L0)) / kk_vec3_norm(L0));
            if (scene_time(&s) < 60) {
                exam_point(e, panel, "w2", scene_time(&s), v[1]);
            }
        }
    }
    exam_at_most(e, "angular momentum in 1000 s, relative", turned, 1e-12);
    exam_at_most(e, "energy in 1000 s, relative", energy, 1e-9);
    const double period = flips > 1 ? (last - first) / (flips - 1) : 0;
    exam_at_most(e, "time between flips, relative", exam_abs(period / flip_time(I, w) - 1), 1e-6);
    scene_end(&s);
}

const exam_row exam_rows_free[] = {
    {11, "Dzhanibekov: I (1, 2, 3), w (1e-3, 5, 1e-3), 1000 s", "L, E, time between flips", "5e-3", false, run_spin},
    {0, NULL, NULL, NULL, false, NULL},
};
