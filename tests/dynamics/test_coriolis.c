// The Coriolis matrix: C v + gravity = bias, and Ṁ = C + Cᵀ, so that C v does no work of its own.
#include "support/scene.h"

#include <math.h>

KK_TEST(coriolis_times_velocity_and_gravity_is_the_bias) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *C = scene_take(&s, nv * nv), *bias = scene_take(&s, nv), *sum = scene_take(&s, nv);
        kk_bias_force(s.model, s.data, s.q, s.v, bias);
        kk_gravity_force(s.model, s.data, s.q, sum);
        kk_coriolis_matrix(s.model, s.data, s.q, s.v, C);
        for (size_t k = 0; k < nv; k++) {
            sum[k] += dot(C + k * nv, s.v, nv);
        }
        worst_compare(&w, &s, sum, bias, nv, 1);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

static void inertia(const scene *s, const double *q, const double *v, double *out) {
    (void)v;
    kk_inertia_matrix(s->model, s->data, q, out);
}

// scale: the largest entry of M, a second
KK_TEST(rate_of_the_inertia_is_twice_the_symmetric_part) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *C = scene_take(&s, nv * nv), *rate = scene_take(&s, nv * nv), *sum = scene_take(&s, nv * nv);
        double *M = scene_take(&s, nv * nv);
        scene_rate(&s, 0x1p-7, inertia, nv * nv, rate);
        kk_coriolis_matrix(s.model, s.data, s.q, s.v, C);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        for (size_t k = 0; k < nv * nv; k++) {
            sum[k] = C[k] + C[k % nv * nv + k / nv];
        }
        worst_compare(&w, &s, sum, rate, nv * nv, largest(M, nv * nv));
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}
