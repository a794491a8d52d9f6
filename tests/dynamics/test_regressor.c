// The torque regressor: linear in the masses, and exactly inverse dynamics.
#include "support/scene.h"

static void parameters(const scene *s, double *pi) {
    for (int b = 1; b < s->nbody; b++, pi += 10) {
        const kk_inertia I = kk_model_body_inertia(s->model, b);
        const kk_sym3 O = kk_sym3_add(I.moment, kk_sym3_point_mass(I.mass, I.com));
        const double row[10] = {
            I.mass, I.mass * I.com.x, I.mass * I.com.y, I.mass * I.com.z, O.xx, O.xy, O.yy, O.xz, O.yz, O.zz};
        for (int k = 0; k < 10; k++) {
            pi[k] = row[k];
        }
    }
}

// scale: the largest torque
KK_TEST(regressor_times_parameters_is_the_torque) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv, n = 10 * (size_t)(s.nbody - 1);
        double *Y = scene_take(&s, nv * n), *pi = scene_take(&s, n), *tau = scene_take(&s, nv),
               *product = scene_take(&s, nv);
        parameters(&s, pi);
        kk_torque_regressor(s.model, s.data, s.q, s.v, s.a, Y);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, s.a, tau);
        for (size_t k = 0; k < nv; k++) {
            product[k] = dot(Y + k * n, pi, n) + kk_model_dof(s.model, (int)k).armature * s.a[k];
        }
        worst_compare(&w, &s, product, tau, nv, 0);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

// each column by itself: change one parameter of one body and see the torque change as it says
KK_TEST(columns_answer_to_their_own_parameter) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 10; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv, n = 10 * (size_t)(s.nbody - 1);
        double *Y = scene_take(&s, nv * n), *base = scene_take(&s, nv), *more = scene_take(&s, nv),
               *step = scene_take(&s, nv);
        kk_torque_regressor(s.model, s.data, s.q, s.v, s.a, Y);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, s.a, base);
        const int b = 1 + i % (s.nbody - 1), k = i % 6;
        // moments about the center of mass move those about the origin alone: columns 4 … 9
        kk_sym3 *moment = &kk_spec_body(s.spec, b)->inertia.moment;
        double *const entry[6] = {&moment->xx, &moment->xy, &moment->yy, &moment->xz, &moment->yz, &moment->zz};
        const double change = 0.25 * (moment->xx + moment->yy + moment->zz) * (k == 1 || k == 3 || k == 4 ? 0.01 : 0.1);
        *entry[k] += change;
        scene t = scene_of(s.spec, s.seed);
        kk_inverse_dynamics(t.model, t.data, s.q, s.v, s.a, more);
        for (size_t j = 0; j < nv; j++) {
            more[j] -= base[j];
            step[j] = change * Y[j * n + 10 * (size_t)(b - 1) + 4 + (size_t)k];
        }
        worst_compare(&w, &s, more, step, nv, largest(base, nv));
        s.spec = NULL; // t's now
        scene_free(&s);
        scene_free(&t);
    }
    WORST_CHECK(w, 1e-12);
}
