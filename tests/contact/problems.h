// Contact problems for tests: scenes of free bodies with G = J M⁻¹ Jᵀ by plain loops, random problems of every law, and robots.
#ifndef KK_TESTS_CONTACT_PROBLEMS_H
#define KK_TESTS_CONTACT_PROBLEMS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <karakuri/random.h>

#include "contact/cones.h"
#include "contact/solver.h"
#include "harness.h"

enum { CASE_ROWS = 400, CASE_BLOCKS = 400, CASE_BODIES = 64 };

/// A problem with its memory, and what the solver gave.
typedef struct contact_case {
    kki_problem p;
    kki_block block[CASE_BLOCKS];
    double *G, *Y, *g, *compliance;           // as the problem wants them
    double *J, inverse_mass[6 * CASE_BODIES]; // rows over bodies: [row][6 nbody], linear first
    double v[6 * CASE_BODIES], position[3 * CASE_BODIES];
    int nbody;
    double lambda[CASE_ROWS], u[CASE_ROWS];
    kki_certificate certificate;
    kki_solver_stats stats;
    kki_solver_options options;
    kki_solver_work work;
} contact_case;

static inline void *case_zeros(size_t count) {
    void *p = aligned_alloc(64, (count * sizeof(double) + 63) & ~(size_t)63);
    memset(p, 0, (count * sizeof(double) + 63) & ~(size_t)63);
    return p;
}

static inline contact_case *case_create(void) {
    contact_case *c = case_zeros(sizeof *c / sizeof(double) + 8);
    c->G = case_zeros(CASE_ROWS * CASE_ROWS);
    c->Y = case_zeros(6 * CASE_BODIES * CASE_ROWS);
    c->J = case_zeros(6 * CASE_BODIES * CASE_ROWS);
    c->g = case_zeros(CASE_ROWS);
    c->compliance = case_zeros(CASE_ROWS);
    c->options = kki_solver_options_default();
    KK_CHECK_EQ_INT(
        kki_solver_work_create(&c->work, NULL, (kki_solver_size){CASE_ROWS, CASE_BLOCKS, 6 * CASE_BODIES, 0}), KK_OK);
    return c;
}

/// Empty again; options and work stay.
static inline void case_clear(contact_case *c) {
    memset(&c->p, 0, sizeof c->p);
    memset(c->G, 0, sizeof(double) * CASE_ROWS * CASE_ROWS);
    memset(c->Y, 0, sizeof(double) * 6 * CASE_BODIES * CASE_ROWS);
    memset(c->J, 0, sizeof(double) * 6 * CASE_BODIES * CASE_ROWS);
    memset(c->g, 0, sizeof(double) * CASE_ROWS);
    memset(c->compliance, 0, sizeof(double) * CASE_ROWS);
    memset(c->lambda, 0, sizeof c->lambda);
    c->nbody = 0;
}

static inline void case_free(contact_case *c) {
    kki_solver_work_destroy(&c->work);
    free(c->G);
    free(c->Y);
    free(c->J);
    free(c->g);
    free(c->compliance);
    free(c);
}

static inline kki_block *case_block(contact_case *c, int law) {
    kki_block *b = &c->block[c->p.nblock++];
    *b = (kki_block){.law = law, .row = c->p.nrow, .contact = c->p.nblock - 2};
    c->p.nrow += kki_law_rows(law);
    return b;
}

static inline int case_body(contact_case *c, double mass, double ix, double iy, double iz, const double *position) {
    const int b = c->nbody++;
    const double m[6] = {mass, mass, mass, ix, iy, iz};
    for (int k = 0; k < 6; k++) {
        c->inverse_mass[6 * b + k] = 1 / m[k];
        c->v[6 * b + k] = 0;
    }
    memcpy(c->position + 3 * b, position, 3 * sizeof(double));
    return b;
}

static inline void case_cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/// Row: velocity of body a at a point along a direction, minus that of body b (−1: the world).
static inline void case_point_row(contact_case *c, int row, int a, int b, const double *point,
                                  const double *direction) {
    for (int side = 0; side < 2; side++) {
        const int body = side ? b : a;
        if (body < 0) {
            continue;
        }
        double r[3], moment[3], *J = c->J + row * 6 * CASE_BODIES + 6 * body;
        for (int k = 0; k < 3; k++) {
            r[k] = point[k] - c->position[3 * body + k];
        }
        case_cross(r, direction, moment);
        for (int k = 0; k < 3; k++) {
            J[k] += side ? -direction[k] : direction[k];
            J[3 + k] += side ? -moment[k] : moment[k];
        }
    }
}

/// Row: relative angular velocity about an axis.
static inline void case_spin_row(contact_case *c, int row, int a, int b, const double *axis) {
    for (int k = 0; k < 3; k++) {
        c->J[row * 6 * CASE_BODIES + 6 * a + 3 + k] += axis[k];
        if (b >= 0) {
            c->J[row * 6 * CASE_BODIES + 6 * b + 3 + k] -= axis[k];
        }
    }
}

static inline void case_tangents(const double *n, double *t1, double *t2) {
    const double pick[3] = {fabs(n[0]) < 0.6, fabs(n[0]) >= 0.6, 0};
    case_cross(n, pick, t2);
    const double f = 1 / sqrt(t2[0] * t2[0] + t2[1] * t2[1] + t2[2] * t2[2]);
    for (int k = 0; k < 3; k++) {
        t2[k] *= f;
    }
    case_cross(t2, n, t1);
}

static inline kki_block *case_contact(contact_case *c, int a, int b, const double *point, const double *n, double mu) {
    kki_block *block = case_block(c, KKI_LAW_CONTACT);
    double t1[3], t2[3];
    block->friction = mu;
    case_tangents(n, t1, t2);
    case_point_row(c, block->row, a, b, point, n);
    case_point_row(c, block->row + 1, a, b, point, t1);
    case_point_row(c, block->row + 2, a, b, point, t2);
    return block;
}

/// Y = M^-1/2 Jᵀ, G = Yᵀ Y, g = J v; more is added to g by whoever wants a bias. low_rank: G is not handed over.
static inline void case_finish(contact_case *c, bool low_rank) {
    const int nv = 6 * c->nbody, stride = (c->p.nrow + 3) & ~3;
    c->p.stride = stride;
    c->p.nv = nv;
    for (int i = 0; i < c->p.nrow; i++) {
        const double *J = c->J + i * 6 * CASE_BODIES;
        for (int t = 0; t < nv; t++) {
            c->Y[t * stride + i] = J[t] * sqrt(c->inverse_mass[t]);
            c->g[i] += J[t] * c->v[t];
        }
    }
    for (int t = 0; t < nv; t++) {
        for (int i = 0; i < c->p.nrow; i++) {
            for (int j = 0; j < c->p.nrow; j++) {
                c->G[i * stride + j] += c->Y[t * stride + i] * c->Y[t * stride + j];
            }
        }
    }
    c->p.block = c->block;
    c->p.G = low_rank ? NULL : c->G;
    c->p.Y = c->Y;
    c->p.g = c->g;
}

static inline bool case_solve(contact_case *c) {
    const kk_status status =
        kki_contact_solve(&c->p, &c->options, &c->work, c->lambda, c->u, &c->certificate, &c->stats);
    return status == KK_OK && c->stats.solved;
}

/// Velocity of body b with the impulses found.
static inline double case_velocity(const contact_case *c, int component) {
    double v = c->v[component];
    for (int i = 0; i < c->p.nrow; i++) {
        v += c->inverse_mass[component] * c->J[i * 6 * CASE_BODIES + component] * c->lambda[i];
    }
    return v;
}

// ---- scenes

/// A slab of half sizes (x, y, z) on its lower corners; returns its number. below −1: the world.
static inline int case_slab(contact_case *c, double mass, const double half[3], double height, int below, double mu) {
    const double p[3] = {0, 0, height + half[2]}, n[3] = {0, 0, 1}, f = mass / 3;
    const int b =
        case_body(c, mass, f * (half[1] * half[1] + half[2] * half[2]), f * (half[0] * half[0] + half[2] * half[2]),
                  f * (half[0] * half[0] + half[1] * half[1]), p);
    for (int k = 0; k < 4; k++) {
        const double corner[3] = {k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], height};
        case_contact(c, b, below, corner, n, mu);
    }
    return b;
}

/// n slabs, the top one `ratio` times as heavy, gravity tilted by the angle.
static inline void case_stack(contact_case *c, int n, double ratio, double tilt, double mu, bool low_rank) {
    const double half[3] = {1, 1, 0.05}, dt = 1e-3;
    case_clear(c);
    for (int b = 0; b < n; b++) {
        case_slab(c, b == n - 1 ? ratio : 1, half, 0.1 * b, b - 1, mu);
        c->v[6 * b] = dt * 9.81 * sin(tilt);
        c->v[6 * b + 2] = -dt * 9.81 * cos(tilt);
    }
    case_finish(c, low_rank);
}

static inline void case_random_direction(kk_random *r, double *n) {
    double length = 0;
    for (int k = 0; k < 3; k++) {
        n[k] = kk_random_next_normal(r);
        length += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] /= sqrt(length);
    }
}

static inline double case_log_uniform(kk_random *r, double low, double high) {
    return low * exp(kk_random_next_uniform(r) * log(high / low));
}

/// Rows of every law between random bodies at random points: physical, but no scene anyone would build.
static inline void case_random_block(contact_case *c, kk_random *r) {
    const int a = (int)kk_random_next_below(r, (uint64_t)c->nbody), law = (int)kk_random_next_below(r, 10);
    int b = (int)kk_random_next_below(r, (uint64_t)c->nbody + 2) - 2;
    double point[3], n[3];
    b = b == a || b < 0 ? -1 : b;
    for (int k = 0; k < 3; k++) {
        point[k] = c->position[3 * a + k] + kk_random_next_between(r, -0.5, 0.5);
    }
    case_random_direction(r, n);
    if (law < 7) {
        case_contact(c, a, b, point, n, kk_random_next_below(r, 8) ? kk_random_next_between(r, 0.1, 1.2) : 0);
        if (law == 5) {
            kki_block *t = case_block(c, KKI_LAW_TORSION);
            t->friction = kk_random_next_between(r, 0, 0.1);
            case_spin_row(c, t->row, a, b, n);
        }
        if (law >= 5) {
            kki_block *t = case_block(c, KKI_LAW_ROLLING);
            double t1[3], t2[3];
            t->contact -= law == 5;
            t->friction = kk_random_next_between(r, 0, 0.1);
            case_tangents(n, t1, t2);
            case_spin_row(c, t->row, a, b, t1);
            case_spin_row(c, t->row + 1, a, b, t2);
        }
        return;
    }
    kki_block *x = case_block(c, law == 7 ? KKI_LAW_EQUALITY : law == 8 ? KKI_LAW_LIMIT : KKI_LAW_BOX);
    x->lower = -kk_random_next_between(r, 0, 2);
    x->upper = kk_random_next_between(r, 0, 2);
    case_point_row(c, x->row, a, b, point, n);
}

/// 1 … 6 bodies, mass ratio up to 100, up to `most` blocks; g from velocities, so equalities never contradict each other.
static inline void case_random(contact_case *c, uint64_t seed, int most) {
    kk_random r = {seed, 77, 0};
    case_clear(c);
    const int nbody = 1 + (int)kk_random_next_below(&r, 6), count = 1 + (int)kk_random_next_below(&r, (uint64_t)most);
    for (int b = 0; b < nbody; b++) {
        const double m = case_log_uniform(&r, 0.1, 10), p[3] = {kk_random_next_between(&r, -1, 1), 0.3 * b, 0};
        case_body(c, m, 0.1 * m, 0.15 * m, 0.2 * m, p);
        for (int k = 0; k < 6; k++) {
            c->v[6 * b + k] = kk_random_next_normal(&r);
        }
    }
    for (int k = 0; k < count; k++) {
        case_random_block(c, &r);
    }
    case_finish(c, seed % 5 == 0);
}

#endif
