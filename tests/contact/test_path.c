// The path by itself, and the inverse that it keeps.
#include "contact/dense_kernels.h"
#include "contact/scratch.h"
#include "problems.h"

// by pairs of columns and the odd one; both instruction sets to the same bits
KK_TEST(path_inverse) {
    enum { N = 21, STRIDE = 24 };
    _Alignas(32) double A[N * STRIDE], B[N * STRIDE], C[N * STRIDE];
    kk_random r = {5, 6, 7};
    for (int n = 1; n <= N; n++) {
        int32_t pivot[N];
        memset(A, 0, sizeof A);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                A[i * STRIDE + j] = kk_random_next_normal(&r);
            }
            A[i * STRIDE + i] *= n % 3 ? 1 : 0; // a zero diagonal needs its pivots elsewhere
        }
        memcpy(B, A, sizeof A);
        memcpy(C, A, sizeof A);
        const kki_dense_kernels *plain = kki_dense_kernels_at(0);
        KK_CHECK(plain->invert(n, 0, STRIDE, B, pivot));
        KK_CHECK(kki_dense_kernels_best()->invert(n, 0, STRIDE, C, pivot));
        KK_CHECK_BYTES(B, C, sizeof B);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) {
                    sum += A[i * STRIDE + k] * B[k * STRIDE + j];
                }
                KK_CHECK_NEAR(sum, i == j, 1e-9);
            }
        }
    }
}

/// The path alone, from λ as it is. The residual it leaves. @param fine  that for which no inverse is made
static double walk(contact_case *c, double fine, double *lambda) {
    kki_solver_scratch *w = c->work.scratch;
    kki_solver_stats stats = {0};
    kki_system_make(&w->system, &c->p, w, c->work.kernels, 1e-13);
    kki_iterate *it = &w->iterate[KKI_IT_TRY];
    memset(it->lambda, 0, sizeof(double) * (size_t)c->p.stride);
    memcpy(it->lambda, lambda, sizeof(double) * (size_t)c->p.nrow);
    kki_system_judge(&w->system, it);
    const kki_path_options options = {.fine = fine, .limit = 40};
    kki_path(&w->system, w, it, &options, &stats);
    memcpy(lambda, it->lambda, sizeof(double) * (size_t)c->p.nrow);
    kki_certify_baseline(&c->p, lambda, c->u, &c->certificate);
    return c->certificate.residual;
}

static bool has_friction(const contact_case *c) {
    for (int b = 0; b < c->p.nblock; b++) {
        if (c->block[b].friction > 0) {
            return true;
        }
    }
    return false;
}

// rows between bounds, from nothing: such a path has an end, however many of them say the same
KK_TEST(path_between_bounds) {
    contact_case *c = case_create();
    for (uint64_t seed = 1; seed <= 200; seed++) {
        kk_random r = {seed, 3, 0};
        case_clear(c);
        case_body(c, 1, 0.1, 0.15, 0.2, (double[]){0, 0, 0});
        for (int k = 0; k < 6; k++) {
            c->v[k] = kk_random_next_normal(&r);
        }
        for (int k = 0; k < 14; k++) { // on six degrees of freedom
            kki_block *x = case_block(c, k % 3 ? KKI_LAW_BOX : KKI_LAW_LIMIT);
            double n[3], point[3] = {0.1 * (k % 4), 0.2 * (k % 3), 0.1};
            x->lower = -kk_random_next_between(&r, 0, 1);
            x->upper = kk_random_next_between(&r, 0, 1);
            case_random_direction(&r, n);
            case_point_row(c, x->row, 0, -1, point, k % 2 ? n : (double[]){0, 0, 1});
        }
        case_finish(c, false);
        double lambda[CASE_ROWS] = {0};
        const double nothing[CASE_ROWS] = {0};
        (void)walk(c, 1e300, lambda); // all of it is fine
        KK_CHECK_BYTES(lambda, nothing, sizeof lambda);
        KK_CHECK_NEAR(walk(c, 0, lambda), 0, 1e-12);
    }
    case_free(c);
}

// what a step of simulation asks: the answer of a problem near by, as the start
KK_TEST(path_from_a_warm_start) {
    contact_case *c = case_create();
    int arrived = 0, tried = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        double lambda[CASE_ROWS];
        case_random(c, seed, 10);
        if (!c->p.G || !case_solve(c) || !has_friction(c)) {
            continue;
        }
        memcpy(lambda, c->lambda, sizeof lambda);
        for (int i = 0; i < c->p.nrow; i++) { // of a change of velocity, so that equalities still agree
            for (int t = 0; t < c->p.nv; t++) {
                c->g[i] += 0.02 * c->J[i * 6 * CASE_BODIES + t] * kk_random_uniform_at(seed, 11, (uint64_t)t);
            }
        }
        tried++;
        arrived += walk(c, 0, lambda) <= 1e-11;
    }
    KK_CHECK(tried > 200);
    KK_CHECK(arrived >= 0.95 * tried);
    case_free(c);
}

// held more often than it can move, as feet that stick in joints that stick; then pushed until some of it gives
KK_TEST(path_of_hyperstatic_slabs) {
    contact_case *c = case_create();
    int arrived = 0;
    for (int k = 0; k < 8; k++) {
        double lambda[CASE_ROWS];
        case_stack(c, 3, k < 4 ? 1 : 10, 0.1 + 0.05 * k, 0.5, false);
        KK_CHECK(case_solve(c));
        memcpy(lambda, c->lambda, sizeof lambda);
        case_stack(c, 3, k < 4 ? 1 : 10, 0.12 + 0.05 * k, 0.5, false);
        arrived += walk(c, 0, lambda) <= 1e-11;
    }
    KK_CHECK(arrived >= 7);
    case_free(c);
}
