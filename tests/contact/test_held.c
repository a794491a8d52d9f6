// Rows that are known to rest, and the kernels behind: against plain loops.
#include <math.h>

#include "contact/dense_kernels.h"
#include "problems.h"

/// Every fifth contact is open, every third slides; the others hold.
static int list_held(contact_case *c, kki_held *held) {
    int count = 0;
    for (int b = 0; b < c->p.nblock; b++) {
        const int row = c->block[b].row;
        const double mu = c->block[b].friction, d[2] = {mu * cos(b), mu * sin(b)};
        c->lambda[row] = b % 5 == 4 ? 0 : 0.1;
        c->lambda[row + 1] = b % 3 == 2 ? d[0] * c->lambda[row] : 0;
        c->lambda[row + 2] = b % 3 == 2 ? d[1] * c->lambda[row] : 0;
        for (int k = 0; k < 3 && b % 5 != 4; k++) {
            if (k == 0 || b % 3 != 2) {
                held[count++] = (kki_held){row + k, {b % 3 == 2 ? d[0] : 0, b % 3 == 2 ? d[1] : 0}};
            }
        }
    }
    return count;
}

/// u of row i, by G = Yᵀ Y.
static double velocity(const contact_case *c, int i) {
    double u = c->p.g[i];
    for (int t = 0; t < c->p.nv; t++) {
        for (int j = 0; j < c->p.nrow; j++) {
            u += c->p.Y[t * c->p.stride + i] * c->p.Y[t * c->p.stride + j] * c->lambda[j];
        }
    }
    return u;
}

// few rows with a matrix, and many without; what is listed rests, what slides has its friction, what is open stays so
KK_TEST(held_rows_rest) {
    contact_case *c = case_create();
    static kki_held held[CASE_ROWS];
    for (int boxes = 1; boxes <= 10; boxes += 3) {
        case_stack(c, boxes, 3, 0.6, 0.5, true);
        const int n = list_held(c, held);
        KK_CHECK(kki_contact_hold(&c->p, &c->work, 1e-13, n, held, c->lambda));
        for (int k = 0; k < n; k++) {
            KK_CHECK_NEAR(velocity(c, held[k].row), 0, 1e-9);
        }
        for (int b = 0; b < c->p.nblock; b++) {
            const double *l = c->lambda + c->block[b].row, mu = c->block[b].friction;
            if (b % 5 == 4) {
                KK_CHECK(l[0] == 0);
            } else if (b % 3 == 2) {
                KK_CHECK_NEAR(l[1], mu * cos(b) * l[0], 1e-12 * (1 + fabs(l[0])));
                KK_CHECK_NEAR(l[2], mu * sin(b) * l[0], 1e-12 * (1 + fabs(l[0])));
            }
        }
    }
    case_free(c);
}

enum { DOFS = 14, ROWS = 23, STRIDE = 24, WIDTH = 16 };

typedef struct made {
    _Alignas(32) double near[3 * STRIDE], W[DOFS * WIDTH], columns[ROWS * WIDTH], v[STRIDE], r[DOFS * WIDTH],
        blended[DOFS * STRIDE], line[STRIDE];
} made;

static void run_kernels(const kki_dense_kernels *k, const int32_t *span, const double *Y, const double *weight,
                        made *m) {
    memset(m, 0, sizeof *m);
    k->near_products(DOFS, STRIDE, span, Y, m->near);
    k->weigh(DOFS, STRIDE, span, Y, weight, WIDTH, m->line, m->W);
    k->transpose(DOFS, ROWS, STRIDE, Y, WIDTH, m->columns);
    memset(m->line, 0, sizeof m->line);
    k->blend(5, STRIDE, Y + 8, STRIDE / 4, STRIDE, Y + 6 * STRIDE, m->blended);
}

static double product(const double *Y, const double *weight, int s, int t) {
    double sum = s == t;
    for (int i = 0; i < STRIDE; i++) {
        sum += Y[s * STRIDE + i] * weight[i] * Y[t * STRIDE + i];
    }
    return sum;
}

static void check_kernels(const double *Y, const double *weight, const made *m) {
    for (int d = 0; d < 3; d++) {
        for (int i = 0; i + d < ROWS; i++) {
            double sum = 0;
            for (int t = 0; t < DOFS; t++) {
                sum += Y[t * STRIDE + i] * Y[t * STRIDE + i + d];
            }
            KK_CHECK_NEAR(m->near[d * STRIDE + i], sum, 1e-14);
        }
    }
    for (int s = 0; s < DOFS; s++) {
        for (int t = s; t < DOFS; t++) {
            KK_CHECK_NEAR(m->W[s * WIDTH + t], product(Y, weight, s, t), 1e-13);
        }
        for (int i = 0; i < ROWS; i++) {
            KK_CHECK(m->columns[i * WIDTH + s] == Y[s * STRIDE + i]);
        }
    }
    for (int s = 0; s < 5; s++) {
        for (int i = 0; i < STRIDE; i++) {
            double sum = 0;
            for (int x = 0; x < 6; x++) {
                sum += Y[s * STRIDE + 8 + x] * Y[(6 + x) * STRIDE + i];
            }
            KK_CHECK_NEAR(m->blended[s * STRIDE + i], sum, 1e-14);
        }
    }
}

KK_TEST(held_kernels) {
    static _Alignas(32) double Y[DOFS * STRIDE], weight[STRIDE];
    static made m[2];
    int32_t span[2 * DOFS];
    kk_random r = {5, 9, 0};
    for (int t = 0; t < DOFS; t++) {
        span[2 * t] = t % 4;
        span[2 * t + 1] = t % 3 == 0 ? 4 : STRIDE / 4;
        for (int i = 4 * span[2 * t]; i < 4 * span[2 * t + 1] && i < ROWS; i++) {
            Y[t * STRIDE + i] = kk_random_next_normal(&r) / 4;
        }
    }
    for (int i = 0; i < ROWS; i++) {
        weight[i] = 1 + i;
    }
    for (int v = 0; v < 2 && kki_dense_kernels_at(v); v++) {
        run_kernels(kki_dense_kernels_at(v), span, Y, weight, &m[v]);
        check_kernels(Y, weight, &m[v]);
        KK_CHECK(memcmp(&m[v], &m[0], sizeof m[0]) == 0);
    }
}

// nearly parallel columns come out orthogonal, and the parts add up to what there was
KK_TEST(held_kernels_orthogonalize) {
    for (int v = 0; v < 2 && kki_dense_kernels_at(v); v++) {
        const kki_dense_kernels *k = kki_dense_kernels_at(v);
        static _Alignas(32) double Q[5 * WIDTH], before[WIDTH];
        kk_random r = {6, 9, 0};
        for (int c = 0; c < 5; c++) {
            double along[5] = {0}, *q = Q + c * WIDTH;
            for (int i = 0; i < WIDTH; i++) {
                before[i] = q[i] = 1 + 1e-7 * kk_random_next_normal(&r);
            }
            const double size = sqrt(k->orthogonalize(c, WIDTH, Q, q, 1, along, 0.01));
            for (int i = 0; i < WIDTH; i++) {
                double sum = q[i];
                for (int j = 0; j < c; j++) {
                    sum += along[j] * Q[j * WIDTH + i];
                }
                KK_CHECK_NEAR(sum, before[i], 1e-14);
                q[i] /= size;
            }
            for (int j = 0; j < c; j++) {
                KK_CHECK_NEAR(k->dot(WIDTH, q, Q + j * WIDTH), 0, 1e-14);
            }
        }
    }
}
