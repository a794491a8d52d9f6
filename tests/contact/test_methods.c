// Each method and each part of one by itself, because the search would hide a broken one behind the next.
#include "contact/dense_kernels.h"
#include "contact/one_contact.h"
#include "problems.h"

static void random_matrix(kk_random *r, int n, double A[3][3]) {
    double L[3][3] = {{0}};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            L[i][j] = kk_random_next_normal(r);
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i][j] = i == j ? 0.1 : 0;
            for (int k = 0; k < n; k++) {
                A[i][j] += L[i][k] * L[j][k];
            }
        }
    }
}

// one contact alone satisfies the law for any B, also where B couples so strongly that sliding has a pole
KK_TEST(one_contact_is_exact) {
    kk_random r = {1, 2, 3};
    int open = 0, stick = 0;
    for (int k = 0; k < 20000; k++) {
        double A[3][3], b[3], lambda[3], u[3];
        const double mu = kk_random_next_between(&r, 0, k % 2 ? 3 : 0.8);
        random_matrix(&r, 3, A);
        for (int i = 0; i < 3; i++) {
            b[i] = kk_random_next_normal(&r);
        }
        const double B[6] = {A[0][0], A[0][1], A[0][2], A[1][1], A[1][2], A[2][2]};
        kki_solve_contact(B, b, mu, lambda);
        for (int i = 0; i < 3; i++) {
            u[i] = b[i] + A[i][0] * lambda[0] + A[i][1] * lambda[1] + A[i][2] * lambda[2];
        }
        const kki_block block = {.law = KKI_LAW_CONTACT, .friction = mu};
        const double scale = A[0][0] + A[1][1] + A[2][2];
        const double size = 1 + scale * (fabs(lambda[0]) + fabs(lambda[1]) + fabs(lambda[2]));
        KK_CHECK_NEAR(sqrt(kki_map_squared(&block, scale, 0, lambda, u)) / size, 0, 1e-13);
        open += lambda[0] == 0;
        stick += lambda[0] > 0 && fabs(u[1]) + fabs(u[2]) < 1e-10 * size;
    }
    KK_CHECK(open > 5000 && stick > 2000 && open + stick < 19000);
}

KK_TEST(one_disc_is_exact) {
    kk_random r = {4, 5, 6};
    for (int k = 0; k < 5000; k++) {
        double A[3][3], lambda[2];
        const double b0 = kk_random_next_normal(&r), b1 = kk_random_next_normal(&r), b[2] = {b0, b1};
        const double radius = kk_random_next_between(&r, 0, 1);
        random_matrix(&r, 2, A);
        const double B[3] = {A[0][0], A[0][1], A[1][1]};
        kki_solve_disc(B, b, radius, lambda);
        const double u[2] = {b[0] + A[0][0] * lambda[0] + A[0][1] * lambda[1],
                             b[1] + A[1][0] * lambda[0] + A[1][1] * lambda[1]};
        const kki_block block = {.law = KKI_LAW_ROLLING, .friction = radius};
        KK_CHECK_NEAR(sqrt(kki_map_squared(&block, A[0][0] + A[1][1], 1, lambda, u)), 0, 1e-12);
    }
}

/// Largest |A x − b| of a random system; zero_diagonal: only pivoting can solve it.
static double solve_error(const kki_dense_kernels *kernels, int n, bool symmetric, bool zero_diagonal, uint64_t seed) {
    enum { MOST = 32 };
    static _Alignas(64) double A[MOST * MOST], F[MOST * MOST], b[MOST], right[MOST], x[MOST], y[MOST], inverse[MOST];
    int32_t pivot[MOST];
    kk_random r = {seed, 8, 0};
    const int stride = kki_round4(n);
    memset(A, 0, sizeof A);
    memset(b, 0, sizeof b);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i * stride + j] = symmetric && j < i ? A[j * stride + i] : kk_random_next_normal(&r);
        }
        A[i * stride + i] = zero_diagonal ? 0 : symmetric ? 2 * n : A[i * stride + i];
        b[i] = right[i] = kk_random_next_normal(&r);
    }
    for (int i = n; i < stride; i++) {
        right[i] = 0;
    }
    memcpy(F, A, sizeof A);
    if (symmetric) {
        if (!KK_CHECK(kernels->ldl(n, n, stride, F, inverse))) {
            return INFINITY;
        }
        kernels->ldl_solve(n, stride, F, inverse, right, y, x);
    } else {
        if (!KK_CHECK(kernels->lu(n, stride, F, inverse, pivot))) {
            return INFINITY;
        }
        kernels->lu_solve(n, stride, F, inverse, pivot, right, y, x);
    }
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double sum = -b[i], size = 1;
        for (int j = 0; j < n; j++) {
            sum += A[i * stride + j] * x[j];
            size += fabs(A[i * stride + j] * x[j]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

KK_TEST(dense_kernels_solve) {
    for (int v = 0; v < 2 && kki_dense_kernels_at(v); v++) {
        for (int k = 0; k < 300; k++) {
            const int n = 1 + k % 30;
            KK_CHECK_NEAR(solve_error(kki_dense_kernels_at(v), n, true, false, (uint64_t)k), 0, 1e-13);
            KK_CHECK_NEAR(solve_error(kki_dense_kernels_at(v), n, false, false, (uint64_t)k), 0, 1e-12);
            KK_CHECK_NEAR(solve_error(kki_dense_kernels_at(v), n + 1, false, true, (uint64_t)k), 0, 1e-12);
        }
    }
}

/// A body on one contact off its center, with torsion and rolling that do not suffice: everything is coupled.
static void coupled_case(contact_case *c, double friction) {
    const double p[3] = {0, 0, 0}, at[3] = {0.1, -0.2, -0.3}, n[3] = {0.1, 0.2, sqrt(0.95)};
    double t1[3], t2[3];
    case_clear(c);
    case_body(c, 2, 0.5, 0.6, 0.7, p);
    for (int k = 0; k < 6; k++) {
        c->v[k] = k == 2 ? -2 : 1 + 0.4 * k;
    }
    case_contact(c, 0, -1, at, n, friction);
    kki_block *t = case_block(c, KKI_LAW_TORSION), *roll = case_block(c, KKI_LAW_ROLLING);
    roll->contact = t->contact;
    t->friction = 0.02;
    roll->friction = 0.03;
    case_tangents(n, t1, t2);
    case_spin_row(c, t->row, 0, -1, n);
    case_spin_row(c, roll->row, 0, -1, t1);
    case_spin_row(c, roll->row + 1, 0, -1, t2);
    case_finish(c, false);
}

// the columns and turns of the Newton step are the derivative: it converges within a few steps and no other method is asked
/// Y with spans that begin and end anywhere, some of them empty, and zero outside.
static void fill_spans(kk_random *r, int nv, int stride, double *Y, int32_t *span) {
    const int width = stride / 4;
    for (int k = 0; k < nv; k++) {
        const int a = (int)kk_random_next_between(r, 0, width + 0.999);
        const int b = (int)kk_random_next_between(r, 0, width + 0.999);
        span[2 * k] = a < b ? a : b;
        span[2 * k + 1] = a < b ? b : a;
        for (int i = 0; i < stride; i++) {
            const bool inside = i / 4 >= span[2 * k] && i / 4 < span[2 * k + 1];
            Y[k * stride + i] = inside ? kk_random_next_normal(r) : 0;
        }
    }
}

/// Σ a[k·step] b[k·step] from `sum` on.
static double plain_sum(int n, double sum, const double *a, int a_step, const double *b, int b_step) {
    for (int k = 0; k < n; k++) {
        sum += a[k * a_step] * b[k * b_step];
    }
    return sum;
}

// rows that end within a vector: what stands behind them is not written; products against plain sums over everything
KK_TEST(products_with_spans) {
    enum { NV = 13, STRIDE = 28, ROWS = 26 };
    static _Alignas(32) double Y[NV * STRIDE], G[(ROWS + 1) * STRIDE];
    for (int v = 0; v < 2 && kki_dense_kernels_at(v); v++) {
        const kki_dense_kernels *kernels = kki_dense_kernels_at(v);
        for (uint64_t seed = 0; seed < 50; seed++) {
            kk_random r = {seed, 77, 0};
            int32_t span[2 * NV];
            _Alignas(32) double x[STRIDE], y[NV], out[STRIDE], moved[NV];
            fill_spans(&r, NV, STRIDE, Y, span);
            for (int i = 0; i < STRIDE; i++) {
                x[i] = kk_random_next_normal(&r);
                G[ROWS * STRIDE + i] = -7;
            }
            for (int k = 0; k < NV; k++) {
                y[k] = moved[k] = kk_random_next_normal(&r);
            }
            kernels->gram(NV, ROWS, STRIDE, span, NULL, Y, G);
            kernels->project(NV, STRIDE, span, Y, y, out);
            kernels->spread(NV, STRIDE, span, Y, x, moved);
            for (int i = 0; i < ROWS; i++) {
                for (int j = 0; j < ROWS; j++) {
                    KK_CHECK_NEAR(G[i * STRIDE + j], plain_sum(NV, 0, Y + i, STRIDE, Y + j, STRIDE), 1e-13);
                    KK_CHECK(G[i * STRIDE + j] == G[j * STRIDE + i]);
                }
            }
            for (int i = 0; i < STRIDE; i++) {
                KK_CHECK_NEAR(out[i], plain_sum(NV, 0, Y + i, STRIDE, y, 1), 1e-13);
                KK_CHECK(G[ROWS * STRIDE + i] == -7);
            }
            for (int k = 0; k < NV; k++) {
                KK_CHECK_NEAR(moved[k], plain_sum(STRIDE, y[k], Y + k * STRIDE, 1, x, 1), 1e-12);
            }
        }
    }
}

/// Picks and looks at every number: padding between two parts and at the end; from the vector of the diagonal on, and nothing behind.
static void check_picked(const kki_dense_kernels *kernels, int n, int held, int first, const int32_t *row,
                         const double *G, int wide, double *A) {
    const int stride = kki_round4(n);
    int wrong = 0;
    memset(A, 0xee, sizeof(double) * (size_t)(n * stride));
    A[n * stride] = -7;
    kernels->pick(n, held, first, stride, row, G, wide, A);
    for (int i = 0; i < n; i++) {
        for (int j = i & ~3; j < stride; j++) {
            const bool pads = (i >= held && i < first) || (j >= held && j < first) || j >= n;
            wrong += A[i * stride + j] != (pads ? i == j : G[row[i] * wide + row[j]]);
        }
    }
    KK_CHECK_EQ_INT(wrong, 0);
    KK_CHECK(A[n * stride] == -7);
}

// rows one by one, and runs of them of every length
KK_TEST(rows_are_picked) {
    enum { N = 23, STRIDE = 24, MOST = 28 };
    static _Alignas(32) double G[N * STRIDE + 4], A[MOST * MOST + 4];
    for (int i = 0; i < N * STRIDE; i++) {
        G[i] = 1 + i;
    }
    for (int v = 0; v < 2 && kki_dense_kernels_at(v); v++) {
        for (int k = 0; k < 80; k++) {
            const int held = k % 10, first = kki_round4(held), n = first + 1 + held % 5, run = 1 + k / 10;
            int32_t row[MOST];
            for (int i = 0; i < n; i++) {
                row[i] = (7 * (i / run) + i % run) % N;
            }
            check_picked(kki_dense_kernels_at(v), n, held, first, row, G, STRIDE, A);
        }
        for (int n = 1; n <= N; n++) { // all of them, nothing between
            int32_t row[MOST];
            for (int i = 0; i < n; i++) {
                row[i] = N - n + i;
            }
            check_picked(kki_dense_kernels_at(v), n, n, n, row, G, STRIDE, A);
        }
    }
}

// more than are listed at once
KK_TEST(many_rows_are_picked) {
    enum { N = 2 * KKI_GRAM_ROWS, HELD = KKI_GRAM_ROWS + 2, COUNT = KKI_GRAM_ROWS + 27 };
    const int numbers = kki_round4(N * N + 4 + COUNT * (COUNT + 3) + 4); // whole vectors, as is asked for
    double *all = aligned_alloc(32, sizeof(double) * (size_t)numbers), *A = all + N * N + 4;
    int32_t row[COUNT];
    for (int i = 0; i < N * N; i++) {
        all[i] = 1 + i;
    }
    for (int i = 0; i < COUNT; i++) {
        row[i] = i + i / 3 % 400;
    }
    for (int v = 0; v < 2 && kki_dense_kernels_at(v); v++) {
        check_picked(kki_dense_kernels_at(v), COUNT, HELD, kki_round4(HELD), row, all, N, A);
    }
    free(all);
}

KK_TEST(newton_converges_quadratically) {
    contact_case *c = case_create();
    for (int k = 0; k < 2; k++) {
        coupled_case(c, k ? 0.2 : 5);
        KK_CHECK(case_solve(c));
        KK_CHECK_EQ_INT(c->stats.method, KKI_METHOD_NEWTON);
        KK_CHECK(c->stats.newton <= 4);
    }
    case_free(c);
}

// sweeps alone, long enough
KK_TEST(sweeps_converge) {
    contact_case *c = case_create();
    for (int k = 0; k < 2; k++) {
        coupled_case(c, k ? 0.2 : 5);
        c->options.fixed_sweeps = 1000;
        KK_CHECK(case_solve(c));
        KK_CHECK_EQ_INT(c->stats.method, KKI_METHOD_SWEEPS);
        KK_CHECK_EQ_INT(c->stats.newton, 0);
    }
    case_free(c);
}

static void check_alone(contact_case *c, int method, int cases) {
    c->options.methods = method;
    for (int k = 0; k < cases; k++) {
        case_stack(c, k < 2 ? 1 : 2, 1, k % 2 ? 0.6 : 0.3, 0.5, false);
        KK_CHECK(case_solve(c));
        kki_certify_baseline(&c->p, c->lambda, c->u, &c->certificate);
        KK_CHECK(c->certificate.residual <= 1e-9 && c->certificate.cone <= 1e-12);
    }
}

// every method alone solves a plain problem
KK_TEST(methods_alone) {
    contact_case *c = case_create();
    check_alone(c, KKI_METHOD_NEWTON, 4);
    check_alone(c, KKI_METHOD_CONTINUATION, 4);
    case_free(c);
}
