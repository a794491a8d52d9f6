/// The proof of a solution: a function of the problem and λ alone, by loops that no method uses.
///
/// Written once and inlined into a function for every instruction set, as the solver's kernels are.
#include <string.h>

#include "contact/cones.h"
#include "contact/quads.h"
#include "contact/solver.h"
#include "contact/sparse.h"
#include "dynamics/kernels/choose.h"

#define ABS(x) __builtin_fabs(x)

// a NaN counts as the largest; nobody could foretell which it is, and nothing is to branch upon it
BODY double larger(double a, double b) {
    const double most = a > b ? a : b; // one instruction; b where one is a NaN
    return a == a ? most : a;
}

BODY double compliance(const kki_problem *p, int row) {
    return p->compliance ? p->compliance[row] : 0;
}

/// Σ of a row of Y times λ; four sums, because one would wait for itself.
BODY double moved(const double *row, const double *lambda, int first, int end) {
    loose_quad f = {0, 0, 0, 0};
    int j = first;
    for (; j + 4 <= end; j += 4) {
        f += *(const loose_quad *)(row + j) * *(const loose_quad *)(lambda + j);
    }
    for (; j < end; j++) {
        f[j & 3] += row[j] * lambda[j];
    }
    return (f[0] + f[1]) + (f[2] + f[3]);
}

/// Back again: what load_some has loaded.
BODY void store_some(double *x, int count, loose_quad a) {
    if (count >= 4) {
        *(loose_quad *)x = a;
        return;
    }
    x[0] = a[0];
    if (count > 1) {
        x[1] = a[1];
    }
    if (count > 2) {
        x[2] = a[2];
    }
}

/// Vectors at once: they stay in registers, and several do not wait for each other.
enum { STRIP = 6 };

/// So many vectors of u = G λ + g + r λ, from row i on. Rows of G and g are padded, λ and u need not be.
BODY void multiply_strip(const kki_problem *p, int i, int vectors, const double *lambda, double *restrict u) {
    const int rest = p->nrow - i - 4 * (vectors - 1), count = rest < 4 ? rest : 4; // of the last vector
    const double *const G = p->G + i;
    const int n = p->nrow, stride = p->stride;
    loose_quad sum[STRIP];
    for (int k = 0; k < vectors; k++) {
        const int there = k + 1 < vectors ? 4 : count;
        sum[k] = *(const loose_quad *)(p->g + i + 4 * k);
        if (p->compliance) {
            sum[k] += *(const loose_quad *)(p->compliance + i + 4 * k) * load_some(lambda + i + 4 * k, there);
        }
    }
    for (int j = 0; j < n; j++) {
        const loose_quad *row = (const loose_quad *)(G + j * stride);
        for (int k = 0; k < vectors; k++) {
            sum[k] += row[k] * lambda[j];
        }
    }
    for (int k = 0; k < vectors; k++) {
        store_some(u + i + 4 * k, k + 1 < vectors ? 4 : count, sum[k]);
    }
}

/// u = G λ + g + r λ.
BODY void multiply(const kki_problem *p, const double *lambda, double *restrict u) {
    const int vectors = (p->nrow + 3) / 4;
    for (int k = 0, w = 0; k < vectors; k += w) {
        const int left = vectors - k;
        w = left > 9 ? 6 : left > 6 ? (left + 1) / 2 : left;
        switch (w) {
        case 1: multiply_strip(p, 4 * k, 1, lambda, u); break;
        case 2: multiply_strip(p, 4 * k, 2, lambda, u); break;
        case 3: multiply_strip(p, 4 * k, 3, lambda, u); break;
        case 4: multiply_strip(p, 4 * k, 4, lambda, u); break;
        case 5: multiply_strip(p, 4 * k, 5, lambda, u); break;
        default: multiply_strip(p, 4 * k, 6, lambda, u); break;
        }
    }
}

/// The same, from Y where there is no G.
BODY void velocities(const kki_problem *p, const double *lambda, double *restrict u) {
    if (p->G) {
        multiply(p, lambda, u);
        return;
    }
    for (int i = 0; i < p->nrow; i++) {
        u[i] = p->g[i] + compliance(p, i) * lambda[i];
    }
    for (int t = 0; t < p->nv; t++) {
        const double *restrict row = p->Y + t * p->stride;
        const int first = p->span ? 4 * p->span[2 * t] : 0, last = p->span ? 4 * p->span[2 * t + 1] : p->nrow;
        const int end = last < p->nrow ? last : p->nrow;
        const double sum = moved(row, lambda, first, end);
        for (int i = first; i < end; i++) {
            u[i] += sum * row[i];
        }
    }
}

/// Diagonal of G and compliance for rows first … end − 1, from Y.
BODY void diagonal(const kki_problem *p, int first, int end, double *restrict own) {
    for (int i = first; i < end; i++) {
        own[i - first] = compliance(p, i);
    }
    for (int t = 0; t < p->nv; t++) {
        const double *restrict row = p->Y + t * p->stride;
        const int from = p->span && 4 * p->span[2 * t] > first ? 4 * p->span[2 * t] : first;
        const int to = p->span && 4 * p->span[2 * t + 1] < end ? 4 * p->span[2 * t + 1] : end;
        for (int i = from; i < to; i++) {
            own[i - first] += row[i] * row[i];
        }
    }
}

/// Diagonals of a few rows at a time, where there is no G.
enum { WINDOW = 96 };
typedef struct window {
    int first, end;
    double own[WINDOW];
} window;

/// The largest of the block's diagonal: the natural map grows with its scale, so this is the strictest.
BODY double scale_of(const kki_problem *p, const kki_block *block, window *w) {
    const int n = kki_law_rows(block->law);
    if (!p->G && block->row + n > w->end) {
        w->first = block->row;
        w->end = p->nrow - w->first < WINDOW ? p->nrow : w->first + WINDOW;
        diagonal(p, w->first, w->end, w->own);
    }
    double scale = 0;
    for (int i = block->row; i < block->row + n; i++) {
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the window holds all rows of the block, as w->end ≥ row + n
        const double own = p->G ? compliance(p, i) + p->G[i * (p->stride + 1)] : w->own[i - w->first];
        scale = larger(scale, own);
    }
    return scale > 0 ? scale : 1;
}

/// An angle from 0 to π, by numbers in proportion to its sine and cosine: the worst of many takes one arctangent, at the end.
typedef struct angle {
    double sine, cosine;
} angle;

/// Angle between λt and −ut of a contact that slides by more than rounding, if it is the largest so far. @param r2  its residual, squared
BODY void note_slip(const double *lambda, const double *u, double r2, angle *worst) {
    if (u[1] * u[1] + u[2] * u[2] <= 1e-18 || kki_norm2(u[1], u[2]) <= 1e-9 + 10 * __builtin_sqrt(r2)) {
        return;
    }
    const double cross = lambda[1] * u[2] - lambda[2] * u[1], dot = -(lambda[1] * u[1] + lambda[2] * u[2]);
    if (ABS(cross) * worst->cosine > worst->sine * dot) {
        *worst = (angle){ABS(cross), dot};
    }
}

BODY double angle_of(const angle *a) {
    return a->sine > 0 ? kk_atan2(a->sine, a->cosine) : 0;
}

/// λn of the contact that turning is part of, with the cone's tip at zero.
BODY double normal_of(const kki_problem *p, const kki_block *block, const double *lambda) {
    if (block->law != KKI_LAW_TORSION && block->law != KKI_LAW_ROLLING) {
        return 0;
    }
    const kki_block *contact = &p->block[block->contact];
    return lambda[contact->row] + contact->adhesion;
}

BODY double interval_distance(double x, double lower, double upper) {
    return x < lower ? lower - x : x > upper ? x - upper : x != x ? x : 0;
}

/// How far λ is from its set: a contact's, with the cone's tip at zero, and any other's.
BODY double distance_to_cone(double mu, const double *x) {
    const double rim = mu * x[0], t2 = x[1] * x[1] + x[2] * x[2];
    if (x[0] >= 0 && t2 <= rim * rim) {
        return 0;
    }
    const double t = __builtin_sqrt(t2), off = t - rim;
    return mu * t <= -x[0] ? __builtin_sqrt(x[0] * x[0] + t2) : off <= 0 ? 0 : off / __builtin_sqrt(1 + mu * mu);
}

BODY double distance_to_set(const kki_block *block, double normal, const double *x) {
    const double bound = block->friction * (normal > 0 ? normal : 0);
    switch (block->law) {
    case KKI_LAW_ROLLING: return interval_distance(kki_norm2(x[0], x[1]), 0, bound);
    case KKI_LAW_LIMIT: return interval_distance(x[0], 0, __builtin_inf());
    case KKI_LAW_BOX: return interval_distance(x[0], block->lower, block->upper);
    case KKI_LAW_TORSION: return interval_distance(x[0], -bound, bound);
    default: return 0;
    }
}

/// A block's residual, squared.
BODY void note_residual(int b, double r2, kki_certificate *c) {
    if (c->worst < 0 || (!(r2 <= c->residual) && c->residual == c->residual)) { // a NaN stays
        c->residual = r2;
        c->worst = b;
    }
}

BODY void judge_contact(const kki_block *block, int b, double scale, const double *l, const double *u,
                        kki_certificate *c, angle *slip) {
    const double x[3] = {l[0] + block->adhesion, l[1], l[2]}, mu = block->friction;
    const double r2 = kki_contact_map_squared(mu, scale, x, u);
    note_residual(b, r2, c);
    c->cone = larger(c->cone, scale * distance_to_cone(mu, x));
    c->signorini = larger(c->signorini, ABS(x[0] * u[0]));
    note_slip(x, u, r2, slip);
    c->creep = larger(c->creep, kki_creep(mu, x, u));
}

/// One block: its share of the certificate; of the residual, its square. @param scale  the largest of its diagonal
BODY void judge(const kki_problem *p, int b, double scale, const double *lambda, const double *u, kki_certificate *c,
                angle *slip) {
    const kki_block *block = &p->block[b];
    const double *x = lambda + block->row, *ub = u + block->row;
    if (block->law == KKI_LAW_CONTACT) {
        judge_contact(block, b, scale, x, ub, c, slip);
        return;
    }
    const double normal = normal_of(p, block, lambda);
    note_residual(b, kki_map_squared(block, scale, normal, x, ub), c);
    c->cone = larger(c->cone, scale * distance_to_set(block, normal, x));
    if (block->law == KKI_LAW_LIMIT) {
        c->signorini = larger(c->signorini, ABS(x[0] * ub[0]));
    }
}

BODY void certify_body(const kki_problem *p, const double *lambda, double *u, kki_certificate *proof) {
    kki_certificate own = {.worst = -1}, *c = &own; // in registers: nobody else sees it until it is done
    window w;
    angle slip = {0, 1};
    w.first = w.end = 0;
    velocities(p, lambda, u);
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *block = &p->block[b];
        if (block->law == KKI_LAW_EQUALITY) { // whatever it bears, and at any scale
            note_residual(b, u[block->row] * u[block->row], c);
        } else {
            judge(p, b, scale_of(p, block, &w), lambda, u, c, &slip);
        }
    }
    own.residual = __builtin_sqrt(own.residual);
    own.dissipation = angle_of(&slip);
    *proof = own;
}

// ---- rows stored tie by tie

enum { CHUNK = KKI_BODY_PAD };
/// Share of a bound, squared, that rounding does not make up for.
static const double WELL_INSIDE = 0.98;

/// Σ a b over padded bodies, lane by lane.
BODY loose_quad row_products(const double *a, const double *b, int width) {
    loose_quad sum = {0, 0, 0, 0};
    for (int k = 0; k < width; k += CHUNK) {
        const loose_quad *x = (const loose_quad *)(a + k), *y = (const loose_quad *)(b + k);
        sum += x[0] * y[0] + x[1] * y[1];
    }
    return sum;
}

BODY double row_product(const double *a, const double *b, int width) {
    const loose_quad sum = row_products(a, b, width);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

BODY int width_of(const kki_sparse_problem *p, int body) {
    return p->first[body + 1] - p->first[body];
}

/// Whether a tie is a contact's three rows on lone bodies, as almost all are: their sizes are constants to the compiler.
BODY bool is_plain(const kki_sparse_problem *p, const kki_tie *t) {
    return t->nrow == 3 && t->nblock == 1 && width_of(p, t->body[0]) == CHUNK &&
           (t->body[1] < 0 || width_of(p, t->body[1]) == CHUNK);
}

/// z += Y f of `rows` rows and one body.
BODY void add_motion(const double *Y, const double *f, int rows, int width, double *restrict z) {
    for (int k = 0; k < width; k += CHUNK) {
        loose_quad *x = (loose_quad *)(z + k), x0 = x[0], x1 = x[1];
        for (int r = 0; r < rows; r++) {
            const loose_quad *y = (const loose_quad *)(Y + r * width + k);
            x0 += f[r] * y[0];
            x1 += f[r] * y[1];
        }
        x[0] = x0;
        x[1] = x1;
    }
}

/// z = Y λ.
BODY void sparse_motion(const kki_sparse_problem *p, const double *lambda, double *restrict z) {
    memset(z, 0, sizeof *z * (size_t)p->first[p->nbody]);
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        const bool plain = is_plain(p, t);
        for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
            double *x = z + p->first[t->body[side]];
            if (plain) {
                add_motion(p->Y + t->side[side], lambda + t->row, 3, CHUNK, x);
            } else {
                add_motion(p->Y + t->side[side], lambda + t->row, t->nrow, width_of(p, t->body[side]), x);
            }
        }
    }
}

/// Rows of one tie: u = Yᵀ z + g + r λ.
BODY void sparse_rows(const kki_sparse_problem *p, const kki_tie *t, const double *lambda, const double *z, double *u) {
    for (int r = t->row; r < t->row + t->nrow; r++) {
        u[r] = p->rows.g[r] + compliance(&p->rows, r) * lambda[r];
    }
    for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
        const int w = width_of(p, t->body[side]);
        const double *x = z + p->first[t->body[side]];
        for (int r = 0; r < t->nrow; r++) {
            u[t->row + r] += row_product(p->Y + t->side[side] + r * w, x, w);
        }
    }
}

/// The same of a plain one: the sums over lanes of its three rows are taken side by side, in the order of row_product.
BODY void plain_rows(const kki_sparse_problem *p, const kki_tie *t, const double *lambda, const double *z, double *u) {
    const int row = t->row;
    for (int r = row; r < row + 3; r++) {
        u[r] = p->rows.g[r] + compliance(&p->rows, r) * lambda[r];
    }
    for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
        const double *Y = p->Y + t->side[side], *x = z + p->first[t->body[side]];
        const loose_quad a = row_products(Y, x, CHUNK), b = row_products(Y + CHUNK, x, CHUNK);
        const loose_quad c = row_products(Y + 2 * CHUNK, x, CHUNK);
        const loose_quad ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
        u[row] += ab[0] + ab[2];
        u[row + 1] += ab[1] + ab[3];
        u[row + 2] += (c[0] + c[1]) + (c[2] + c[3]);
    }
}

/// Diagonal of G and compliance. @param width  of both bodies; 0: whatever it is
BODY double sparse_diagonal(const kki_sparse_problem *p, const kki_tie *t, int r, int width) {
    double own = compliance(&p->rows, t->row + r);
    for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
        const int w = width > 0 ? width : width_of(p, t->body[side]);
        const double *y = p->Y + t->side[side] + r * w;
        own += row_product(y, y, w);
    }
    return own;
}

/// Whether a contact's residual is the same for this scale and all larger ones: λ and s λ − ũ both lie well inside the cone, and with them
/// every S λ − ũ = (S − s) λ + (s λ − ũ), S ≥ s. The residual is |ũ| then. @param shifted  ũn
BODY bool holds_inside(const kki_block *block, double scale, const double *l, const double *v, double shifted) {
    const double mu = block->friction, n = scale * l[0] - shifted, rim = mu * l[0], bound = mu * n;
    const double x = scale * l[1] - v[1], y = scale * l[2] - v[2];
    return block->law == KKI_LAW_CONTACT && block->adhesion == 0 && scale > 0 && l[0] > 0 && n > 0 &&
           l[1] * l[1] + l[2] * l[2] <= WELL_INSIDE * (rim * rim) && x * x + y * y <= WELL_INSIDE * (bound * bound);
}

/// What `judge` says of a contact that holds inside: neither λ nor its residual leave the cone, and slip is never above the residual.
BODY void judge_inside(int b, const double *l, const double *v, double shifted, kki_certificate *c) {
    note_residual(b, shifted * shifted + v[1] * v[1] + v[2] * v[2], c);
    c->signorini = larger(c->signorini, ABS(l[0] * v[0]));
}

/// One block; its scale is the largest of the block's diagonal, or as much of it as decides.
BODY void sparse_judge(const kki_sparse_problem *p, const kki_tie *t, int b, int width, const double *lambda,
                       const double *u, kki_certificate *c, angle *slip) {
    const kki_block *block = &p->rows.block[b];
    double scale = sparse_diagonal(p, t, block->row - t->row, width);
    if (block->law == KKI_LAW_CONTACT) {
        const double *l = lambda + block->row, *v = u + block->row;
        const double shifted = v[0] + block->friction * kki_norm2(v[1], v[2]);
        if (holds_inside(block, scale, l, v, shifted)) {
            judge_inside(b, l, v, shifted, c);
            return;
        }
    }
    scale = larger(0, scale);
    for (int r = block->row + 1; r < block->row + kki_law_rows(block->law); r++) {
        scale = larger(scale, sparse_diagonal(p, t, r - t->row, width));
    }
    judge(&p->rows, b, scale > 0 ? scale : 1, lambda, u, c, slip);
}

BODY void sparse_certify_body(const kki_sparse_problem *p, const double *lambda, double *z, double *u,
                              kki_certificate *c) {
    angle slip = {0, 1};
    *c = (kki_certificate){.worst = -1};
    sparse_motion(p, lambda, z);
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        if (is_plain(p, t)) {
            plain_rows(p, t, lambda, z, u);
            sparse_judge(p, t, t->block, CHUNK, lambda, u, c, &slip);
            continue;
        }
        sparse_rows(p, t, lambda, z, u);
        for (int b = t->block; b < t->block + t->nblock; b++) {
            sparse_judge(p, t, b, 0, lambda, u, c, &slip);
        }
    }
    c->residual = __builtin_sqrt(c->residual);
    c->dissipation = angle_of(&slip);
}

// ---- for every instruction set

#define DEFINE(suffix, attribute)                                                                                    \
    attribute void kki_certify_##suffix(const kki_problem *p, const double *lambda, double *u, kki_certificate *c) { \
        certify_body(p, lambda, u, c);                                                                               \
    }                                                                                                                \
    attribute void kki_sparse_certify_##suffix(const kki_sparse_problem *p, const double *lambda, double *z,         \
                                               double *u, kki_certificate *c) {                                      \
        sparse_certify_body(p, lambda, z, u, c);                                                                     \
    }

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif
#ifdef KKI_HAVE_AVX512
DEFINE(avx512, KKI_TARGET_AVX512)
#endif
