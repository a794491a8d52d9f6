// Covariance matrix adaptation (N. Hansen, "The CMA evolution strategy: a tutorial", arXiv:1604.00772, 2016): equations and constants as there.
#include <karakuri/elementary.h>
#include <karakuri/random.h>
#include <string.h>

#include "math/eigen.h"
#include "motion/optimizer.h"

void kki_cma_place(kki_layout *layout, kk_optimizer *o) {
    kki_cma *c = &o->cma;
    const size_t n = (size_t)o->n;
    double **const vectors[] = {&c->mean, &c->path_sigma, &c->path_c, &c->D};
    double **const matrices[] = {&c->C, &c->B, &c->work};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        KKI_LAYOUT_ARRAY(layout, *vectors[i], n);
    }
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        KKI_LAYOUT_ARRAY(layout, *matrices[i], n * n);
    }
    KKI_LAYOUT_ARRAY(layout, c->z, (size_t)o->population * n);
    KKI_LAYOUT_ARRAY(layout, c->weight, (size_t)o->population);
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/// Weights of the better half, equations (49)-(53); how fast paths, covariance and step size change, (54)-(58).
static void set_constants(kki_cma *c, int n, int population) {
    double sum = 0, squares = 0;
    c->parents = population / 2;
    for (int i = 0; i < c->parents; i++) {
        c->weight[i] = kk_log(0.5 * (population + 1)) - kk_log(i + 1);
        sum += c->weight[i];
    }
    for (int i = 0; i < c->parents; i++) {
        c->weight[i] /= sum;
        squares += c->weight[i] * c->weight[i];
    }
    const double mu = 1 / squares;
    c->mu_eff = mu;
    c->c_sigma = (mu + 2) / (n + mu + 5);
    c->d_sigma = 1 + 2 * larger(0, kk_sqrt((mu - 1) / (n + 1)) - 1) + c->c_sigma;
    c->c_c = (4 + mu / n) / (n + 4 + 2 * mu / n);
    c->c_1 = 2 / ((n + 1.3) * (n + 1.3) + mu);
    c->c_mu = smaller(1 - c->c_1, 2 * (mu - 2 + 1 / mu) / ((n + 2.0) * (n + 2.0) + mu));
    c->chi = kk_sqrt(n) * (1 - 1 / (4.0 * n) + 1 / (21.0 * n * n));
}

void kki_cma_start(kk_optimizer *o) {
    kki_cma *c = &o->cma;
    const size_t n = (size_t)o->n;
    set_constants(c, o->n, o->population);
    c->sigma = 1;
    for (size_t i = 0; i < n * n; i++) {
        c->C[i] = c->B[i] = i % (n + 1) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        c->D[i] = 1;
    }
}

/// y = B D x of standard normal x: distributed like C.
void kki_cma_ask(kk_optimizer *o) {
    const kki_cma *c = &o->cma;
    const size_t n = (size_t)o->n;
    for (size_t i = 0; i < (size_t)o->population; i++) {
        double *y = c->z + i * n;
        memset(y, 0, n * sizeof *y);
        for (size_t k = 0; k < n; k++) {
            const double x = c->D[k] * kk_random_normal_at(o->seed, (uint64_t)o->generation, i * n + k);
            for (size_t r = 0; r < n; r++) {
                y[r] += c->B[r * n + k] * x;
            }
        }
        for (size_t r = 0; r < n; r++) {
            o->own[i * n + r] = c->mean[r] + c->sigma * y[r];
        }
    }
}

/// The mean step of the parents into work[0 … n), C^{-1/2} of it added to the path of the step size, (42)-(43).
static double move_mean(kk_optimizer *o) {
    kki_cma *c = &o->cma;
    const size_t n = (size_t)o->n;
    double *step = c->work, norm = 0;
    memset(step, 0, n * sizeof *step);
    for (int i = 0; i < c->parents; i++) {
        for (size_t k = 0; k < n; k++) {
            step[k] += c->weight[i] * c->z[(size_t)o->order[i] * n + k];
        }
    }
    const double keep = 1 - c->c_sigma, add = kk_sqrt(c->c_sigma * (2 - c->c_sigma) * c->mu_eff);
    for (size_t k = 0; k < n; k++) {
        c->mean[k] += c->sigma * step[k];
        c->path_sigma[k] *= keep;
    }
    for (size_t k = 0; k < n; k++) {
        double along = 0;
        for (size_t r = 0; r < n; r++) {
            along += c->B[r * n + k] * step[r];
        }
        along /= larger(c->D[k], 1e-300);
        for (size_t r = 0; r < n; r++) {
            c->path_sigma[r] += add * c->B[r * n + k] * along;
        }
    }
    for (size_t k = 0; k < n; k++) {
        norm += c->path_sigma[k] * c->path_sigma[k];
    }
    return kk_sqrt(norm);
}

/// (45)-(47)
static void adapt_covariance(kk_optimizer *o, double norm) {
    kki_cma *c = &o->cma;
    const size_t n = (size_t)o->n;
    const double aged = 1 - kk_pow(1 - c->c_sigma, 2.0 * (o->generation + 1));
    const int is_steady = norm / kk_sqrt(aged) < (1.4 + 2.0 / (o->n + 1)) * c->chi;
    const double add = is_steady ? kk_sqrt(c->c_c * (2 - c->c_c) * c->mu_eff) : 0;
    for (size_t k = 0; k < n; k++) {
        c->path_c[k] = (1 - c->c_c) * c->path_c[k] + add * c->work[k];
    }
    const double lost = is_steady ? 0 : c->c_1 * c->c_c * (2 - c->c_c);
    for (size_t r = 0; r < n; r++) {
        for (size_t k = 0; k <= r; k++) {
            double sum = 0;
            for (int i = 0; i < c->parents; i++) {
                const double *y = c->z + (size_t)o->order[i] * n;
                sum += c->weight[i] * y[r] * y[k];
            }
            const double value =
                (1 + lost - c->c_1 - c->c_mu) * c->C[r * n + k] + c->c_1 * c->path_c[r] * c->path_c[k] + c->c_mu * sum;
            c->C[r * n + k] = c->C[k * n + r] = value;
        }
    }
}

static void find_axes(kk_optimizer *o) {
    kki_cma *c = &o->cma;
    const size_t n = (size_t)o->n;
    memcpy(c->work, c->C, n * n * sizeof *c->work);
    kki_symmetric_eigen(o->n, c->work, c->B, c->D);
    for (size_t k = 0; k < n; k++) {
        c->D[k] = kk_sqrt(larger(c->D[k], 0));
    }
}

void kki_cma_tell(kk_optimizer *o) {
    kki_cma *c = &o->cma;
    const double norm = move_mean(o);
    adapt_covariance(o, norm);
    c->sigma *= kk_exp(smaller(1, c->c_sigma / c->d_sigma * (norm / c->chi - 1))); // (44)
    find_axes(o);
}
