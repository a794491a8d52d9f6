/// The loops in which the sparse solver spends its time; see sparse_scratch.h.
///
/// Each body is written once over vectors of four and inlined into a function for every instruction set; sums over lanes are taken in
/// one order, so all give the same bits. Almost everything is a lone body of six degrees in two vectors: widths and heights of that case are
/// constants to the compiler.
///
/// References: George & Liu, Computer Solution of Large Sparse Positive Definite Systems (1981); block elimination with pivoting
/// inside diagonal blocks only: H = 1 + Y R Yᵀ has 1 on its diagonal whatever R is.
#include <string.h>

#include "contact/cones.h"
#include "contact/one_contact.h"
#include "contact/quads.h"
#include "contact/sparse_scratch.h"
#include "dynamics/kernels/choose.h"

/// A lone body's padded column, for processors that have such registers. Number by number the same operations in the same order.
typedef double oct __attribute__((vector_size(64), aligned(32), may_alias));
typedef int64_t oct_mask __attribute__((vector_size(64), aligned(32), may_alias));

/// Loops of constant length over arrays that are to be registers.
#define KKI_UNROLL _Pragma("GCC unroll 8")

/// How a column of a lone body is held; constants to the compiler.
enum { ANY_WIDTH, TWO_QUADS, ONE_OCT };

BODY double sum4(quad a) {
    return (a[0] + a[2]) + (a[1] + a[3]);
}

// ---- products

/// Rows of one tie times z. @param wa, wb  vectors of its two bodies; wb 0: one only
BODY void rows_velocity(const quad *A, int wa, const quad *x, const quad *B, int wb, const quad *y, int n, double *u) {
    for (int r = 0; r < n; r++) {
        quad sum = A[r * wa] * x[0];
        for (int k = 1; k < wa; k++) {
            sum += A[r * wa + k] * x[k];
        }
        for (int k = 0; k < wb; k++) {
            sum += B[r * wb + k] * y[k];
        }
        u[r] = sum4(sum);
    }
}

BODY void tie_velocity(const kki_sparse_problem *p, const kki_tie *t, const double *z, double *u) {
    const int two = t->body[1] >= 0, a = p->first[t->body[0]], b = two ? p->first[t->body[1]] : 0;
    const int wa = (p->first[t->body[0] + 1] - a) / 4, wb = two ? (p->first[t->body[1] + 1] - b) / 4 : 0;
    const quad *A = (const quad *)(p->Y + t->side[0]), *B = (const quad *)(p->Y + t->side[1]);
    const quad *x = (const quad *)(z + a), *y = (const quad *)(z + b);
    if (wa == 2 && wb == 2 && t->nrow == 3) {
        rows_velocity(A, 2, x, B, 2, y, 3, u);
    } else {
        rows_velocity(A, wa, x, B, wb, y, t->nrow, u);
    }
}

/// x += Y f, `count` rows of w vectors.
BODY void rows_push(const quad *Y, int w, int count, const double *f, quad *x) {
    for (int k = 0; k < w; k++) {
        quad sum = x[k];
        for (int r = 0; r < count; r++) {
            sum += f[r] * Y[r * w + k];
        }
        x[k] = sum;
    }
}

/// The same of three rows of a lone body.
BODY void rows_push_oct(const oct *Y, const double *f, oct *x) {
    *x = ((*x + f[0] * Y[0]) + f[1] * Y[1]) + f[2] * Y[2];
}

/// z of both sides += Y f for rows `from` … `from + count − 1` of the tie.
BODY void tie_push(const kki_sparse_problem *p, const kki_tie *t, int from, int count, const double *f, double *z) {
    for (int side = 0; side < 2; side++) {
        const int body = t->body[side];
        if (body < 0) {
            continue;
        }
        const int w = (p->first[body + 1] - p->first[body]) / 4;
        const quad *Y = (const quad *)(p->Y + t->side[side]) + from * w;
        quad *x = (quad *)(z + p->first[body]);
        if (w == 2) {
            rows_push(Y, 2, count, f, x);
        } else {
            rows_push(Y, w, count, f, x);
        }
    }
}

/// Whether what a tie moves is lone bodies, by their width.
BODY bool are_lone(const kki_sparse_problem *p, const kki_tie *t) {
    return p->first[t->body[0] + 1] - p->first[t->body[0]] == 8 &&
           (t->body[1] < 0 || p->first[t->body[1] + 1] - p->first[t->body[1]] == 8);
}

BODY void velocity_body(const kki_sparse_problem *p, const double *z, double *u) {
    for (int i = 0; i < p->ntie; i++) {
        tie_velocity(p, &p->tie[i], z, u + p->tie[i].row);
    }
}

BODY void motion_body(const kki_sparse_problem *p, const double *lambda, double *z, int form) {
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        if (form == ONE_OCT && t->nrow == 3 && are_lone(p, t)) {
            for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
                rows_push_oct((const oct *)(p->Y + t->side[side]), lambda + t->row,
                              (oct *)(z + p->first[t->body[side]]));
            }
        } else if (t->nrow == 3) {
            tie_push(p, t, 0, 3, lambda + t->row, z);
        } else {
            tie_push(p, t, 0, t->nrow, lambda + t->row, z);
        }
    }
}

/// x += |Y| f, as rows_push.
BODY void rows_sizes(const quad *Y, int w, int count, const double *f, quad *x) {
    const mask magnitude = (mask){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    for (int k = 0; k < w; k++) {
        quad sum = x[k];
        for (int r = 0; r < count; r++) {
            sum += f[r] * (quad)((mask)Y[r * w + k] & magnitude);
        }
        x[k] = sum;
    }
}

/// The same of three rows of a lone body.
BODY void rows_sizes_oct(const oct *Y, const double *f, oct *x) {
    const oct_mask magnitude = ~(oct_mask){0} ^ ((oct_mask){1, 1, 1, 1, 1, 1, 1, 1} << 63);
    oct sum = *x;
    for (int r = 0; r < 3; r++) {
        sum += f[r] * (oct)((oct_mask)Y[r] & magnitude);
    }
    *x = sum;
}

BODY void sizes_body(const kki_sparse_problem *p, const double *size, int first, int end, double *z, double *terms,
                     int form) {
    for (int i = 0; i < 2 * p->ntie; i++) {
        const kki_tie *t = &p->tie[i >> 1];
        const int body = t->body[i & 1], at = body < 0 ? -1 : p->first[body];
        if (at < first || at >= end) {
            continue;
        }
        const int w = (p->first[body + 1] - at) / 4;
        const quad *Y = (const quad *)(p->Y + t->side[i & 1]);
        if (form == ONE_OCT && w == 2 && t->nrow == 3) {
            rows_sizes_oct((const oct *)Y, size + t->row, (oct *)(z + at));
        } else if (w == 2 && t->nrow == 3) {
            rows_sizes(Y, 2, 3, size + t->row, (quad *)(z + at));
        } else {
            rows_sizes(Y, w, t->nrow, size + t->row, (quad *)(z + at));
        }
        terms[at] += t->nrow;
    }
}

/// Rows of six numbers times six registers; the result may take their place.
BODY void combine_oct(const oct *T, const double *w, size_t stride, int rows, oct *Y) {
    const oct t0 = T[0], t1 = T[1], t2 = T[2], t3 = T[3], t4 = T[4], t5 = T[5];
    for (int r = 0; r < rows; r++, w += stride) {
        oct sum = w[0] * t0;
        sum += w[1] * t1;
        sum += w[2] * t2;
        sum += w[3] * t3;
        sum += w[4] * t4;
        sum += w[5] * t5;
        Y[r] = sum;
    }
}

BODY void combine_body(const double *T, const double *w, size_t stride, int rows, double *Y, int form) {
    if (form == ONE_OCT) {
        combine_oct((const oct *)T, w, stride, rows, (oct *)Y);
        return;
    }
    const quad *t = (const quad *)T;
    for (int r = 0; r < rows; r++, w += stride) {
        quad a = w[0] * t[0], b = w[0] * t[1];
        for (int c = 1; c < 6; c++) {
            a += w[c] * t[2 * c];
            b += w[c] * t[2 * c + 1];
        }
        ((quad *)Y)[2 * r] = a;
        ((quad *)Y)[2 * r + 1] = b;
    }
}

// ---- sweeps

/// The impulses of one block with all others held. @param u  of its rows
BODY void solve_block(const kki_sparse_system *s, const kki_block *block, int index, const double *lambda,
                      const double *u, double *x) {
    const double *B = s->own + 6 * index, *l = lambda + block->row;
    if (block->law == KKI_LAW_CONTACT) {
        const double b[3] = {u[0] - B[0] * l[0] - B[1] * l[1] - B[2] * l[2],
                             u[1] - B[1] * l[0] - B[3] * l[1] - B[4] * l[2],
                             u[2] - B[2] * l[0] - B[4] * l[1] - B[5] * l[2]};
        kki_solve_contact(B, b, block->friction, x);
        return;
    }
    const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
    const double normal = rides ? lambda[s->problem->rows.block[block->contact].row] : 0;
    if (block->law == KKI_LAW_ROLLING) {
        const double b[2] = {u[0] - B[0] * l[0] - B[1] * l[1], u[1] - B[1] * l[0] - B[2] * l[1]};
        kki_solve_disc(B, b, block->friction * normal, x);
        return;
    }
    x[0] = l[0] - (B[0] > 0 ? u[0] / B[0] : 0);
    kki_project_block(block, 1, normal, x);
}

/// One cheap step to the contact's law instead of its solution: the normal, then friction with it, within the disc. Outside the disc the step is
/// a number, because projecting B⁻¹ u has a wrong fixed point.
BODY void step_contact(const double *B, double mu, const double *l, const double *u, double *x) {
    const double n = l[0] - u[0] / B[0];
    x[0] = n > 0 ? n : 0;
    const double dn = x[0] - l[0], u1 = u[1] + B[1] * dn, u2 = u[2] + B[2] * dn, f = 1 / (B[3] * B[5] - B[4] * B[4]);
    const double rim = mu * x[0];
    x[1] = l[1] - f * (B[5] * u1 - B[4] * u2);
    x[2] = l[2] - f * (B[3] * u2 - B[4] * u1);
    if (!(x[1] * x[1] + x[2] * x[2] <= rim * rim)) {
        const double half = 0.5 * (B[3] - B[5]);
        const double g = 0.5 * (B[3] + B[5]) + __builtin_sqrt(half * half + B[4] * B[4]), h = 1 / g;
        x[1] = l[1] - h * u1;
        x[2] = l[2] - h * u2;
        const double t = x[1] * x[1] + x[2] * x[2], s = t > rim * rim ? rim / __builtin_sqrt(t) : 1;
        x[1] *= s;
        x[2] *= s;
    }
}

BODY void sweep_tie(const kki_sparse_system *s, const kki_tie *t, bool is_cheap, double *lambda, double *z) {
    for (int k = 0; k < t->nblock; k++) {
        const kki_block *block = &s->problem->rows.block[t->block + k];
        double u[KKI_TIE_ROWS], x[3], change[3];
        const int from = block->row - t->row, n = kki_law_rows(block->law);
        tie_velocity(s->problem, t, z, u);
        for (int r = 0; r < t->nrow; r++) {
            u[r] += s->g[t->row + r] + s->soft[t->row + r] * lambda[t->row + r];
        }
        const double *B = s->own + 6 * (t->block + k);
        if (is_cheap && block->law == KKI_LAW_CONTACT && B[0] > 0 && B[3] * B[5] > B[4] * B[4]) {
            step_contact(B, block->friction, lambda + block->row, u + from, x);
        } else {
            solve_block(s, block, t->block + k, lambda, u + from, x);
        }
        bool moved = false;
        for (int r = 0; r < n; r++) {
            change[r] = x[r] - lambda[block->row + r];
            moved = moved || change[r] != 0;
            lambda[block->row + r] = x[r];
        }
        if (moved && n == 3) {
            tie_push(s->problem, t, from, 3, change, z);
        } else if (moved) {
            tie_push(s->problem, t, from, n, change, z);
        }
    }
}

BODY void sweep_body(const kki_sparse_system *s, double *lambda, double *z) {
    for (int i = 0; i < s->problem->ntie; i++) {
        sweep_tie(s, &s->problem->tie[i], false, lambda, z);
    }
}

BODY void sweep_listed_body(const kki_sparse_system *s, const int32_t *tie, int count, double *lambda, double *z) {
    for (int i = 0; i < count; i++) {
        sweep_tie(s, &s->problem->tie[tie[i]], true, lambda, z);
    }
}

// ---- H

/// Σ R(d, e) Y(e): what a tie's rows answer. @param n  rows    @param w  vectors a row
BODY void answer(const double *R, const quad *Y, int n, int w, quad *out) {
    for (int d = 0; d < n; d++) {
        for (int k = 0; k < w; k++) {
            quad sum = {0, 0, 0, 0};
            for (int e = 0; e < n; e++) {
                sum += R[6 * d + e] * Y[e * w + k];
            }
            out[d * w + k] = sum;
        }
    }
}

/// block(i, j) += Σ A(d, i) B(d, j), columns j < nb of `wa` vectors each.
BODY void add_outer(const quad *A, int wa, const double *B, int wb, int nb, int n, quad *block) {
    for (int j = 0; j < nb; j++) {
        for (int k = 0; k < wa; k += 2) {
            quad s0 = block[j * wa + k], s1 = block[j * wa + k + 1];
            for (int d = 0; d < n; d++) {
                const double f = B[4 * d * wb + j];
                s0 += f * A[d * wa + k];
                s1 += f * A[d * wa + k + 1];
            }
            block[j * wa + k] = s0;
            block[j * wa + k + 1] = s1;
        }
    }
}

enum { MOST_VECTORS = 6 }; // of a tie between lone bodies

/// `answer` and `add_outer` for three rows of lone bodies.
BODY void answer_oct(const double *R, const oct *Y, oct *out) {
    const oct zero = {0};
    for (int d = 0; d < 3; d++) {
        out[d] = ((zero + R[6 * d] * Y[0]) + R[6 * d + 1] * Y[1]) + R[6 * d + 2] * Y[2];
    }
}

BODY void add_outer_oct(const oct *A, const double *B, oct *block) {
    const oct a0 = A[0], a1 = A[1], a2 = A[2];
    for (int j = 0; j < 6; j++) {
        block[j] = ((block[j] + B[j] * a0) + B[8 + j] * a1) + B[16 + j] * a2;
    }
}

BODY bool is_idle(const double *R, int n) {
    for (int d = 0; d < n; d++) {
        for (int e = 0; e < n; e++) {
            if (R[6 * d + e] != 0) {
                return false;
            }
        }
    }
    return true;
}

/// One tie's share of H. @param n  rows    @param wa, wb  vectors of its bodies    @param na, nb  degrees of freedom
BODY void assemble_tie(const kki_sparse_problem *p, const kki_tie *t, int spot, const double *R, int n, int wa, int na,
                       int wb, int nb, quad *ra, quad *rb, kki_sparse_factor *f) {
    const kki_sparse_pattern *s = f->pattern;
    const int a = s->place[t->body[0]];
    const quad *A = (const quad *)(p->Y + t->side[0]), *B = (const quad *)(p->Y + t->side[1]);
    answer(R, A, n, wa, ra);
    add_outer(A, wa, (const double *)ra, wa, na, n, (quad *)f->D + 2 * s->own[a]);
    if (spot < 0) {
        return;
    }
    const int b = s->place[t->body[1]];
    answer(R, B, n, wb, rb);
    add_outer(B, wb, (const double *)rb, wb, nb, n, (quad *)f->D + 2 * s->own[b]);
    quad *L = (quad *)f->L + 2 * s->at[spot], *U = (quad *)f->U + 2 * s->at[spot];
    if (a > b) { // L(a, b) = Aᵀ R B, U(a, b) = (Bᵀ R A)ᵀ
        add_outer(A, wa, (const double *)rb, wb, nb, n, L);
        if (!f->symmetric) {
            add_outer(ra, wa, (const double *)B, wb, nb, n, U);
        }
    } else {
        add_outer(B, wb, (const double *)ra, wa, na, n, L);
        if (!f->symmetric) {
            add_outer(rb, wb, (const double *)A, wa, na, n, U);
        }
    }
}

/// assemble_tie for three rows of lone bodies.
BODY void assemble_tie_oct(const kki_sparse_problem *p, const kki_tie *t, int spot, const double *R,
                           kki_sparse_factor *f) {
    const kki_sparse_pattern *s = f->pattern;
    const int a = s->place[t->body[0]];
    const oct *A = (const oct *)(p->Y + t->side[0]), *B = (const oct *)(p->Y + t->side[1]);
    oct ra[3], rb[3];
    answer_oct(R, A, ra);
    add_outer_oct(A, (const double *)ra, (oct *)f->D + s->own[a]);
    if (spot < 0) {
        return;
    }
    const int b = s->place[t->body[1]];
    answer_oct(R, B, rb);
    add_outer_oct(B, (const double *)rb, (oct *)f->D + s->own[b]);
    oct *L = (oct *)f->L + s->at[spot], *U = (oct *)f->U + s->at[spot];
    if (a > b) {
        add_outer_oct(A, (const double *)rb, L);
        if (!f->symmetric) {
            add_outer_oct(ra, (const double *)B, U);
        }
    } else {
        add_outer_oct(B, (const double *)ra, L);
        if (!f->symmetric) {
            add_outer_oct(rb, (const double *)A, U);
        }
    }
}

BODY void assemble_body(const kki_sparse_problem *p, const double *R, kki_sparse_factor *f, int form) {
    const kki_sparse_pattern *s = f->pattern;
    const int n = s->nbody;
    const size_t room = (size_t)s->at[s->column[n]] * 8 * sizeof(double);
    memset(f->L, 0, room);
    if (!f->symmetric) {
        memset(f->U, 0, room);
    }
    memset(f->D, 0, (size_t)s->own[n] * 8 * sizeof(double));
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < s->nv[k]; i++) {
            f->D[8 * (size_t)s->own[k] + (size_t)(i * s->width[k] + i)] = 1;
        }
    }
    for (int i = 0; i < p->ntie; i++) {
        const kki_tie *t = &p->tie[i];
        const double *own = R + 6 * (size_t)t->row;
        if (is_idle(own, t->nrow)) {
            continue;
        }
        const int two = t->body[1] >= 0, na = p->nv[t->body[0]], nb = two ? p->nv[t->body[1]] : 6;
        const int wa = kki_round8(na) / 4, wb = kki_round8(nb) / 4;
        quad ra[MOST_VECTORS], rb[MOST_VECTORS];
        if (form == ONE_OCT && t->nrow == 3 && na == 6 && nb == 6) {
            assemble_tie_oct(p, t, f->spot[i], own, f);
        } else if (t->nrow == 3 && na == 6 && nb == 6) {
            assemble_tie(p, t, f->spot[i], own, 3, 2, 6, 2, 6, ra, rb, f);
        } else {
            quad *spare = (quad *)f->spare;
            assemble_tie(p, t, f->spot[i], own, t->nrow, wa, na, wb, nb, spare, spare + t->nrow * wa, f);
        }
    }
}

// ---- the factor

/// That lane alone; none where there is no such lane.
BODY mask lane(int k) {
    return (mask){k == 0, k == 1, k == 2, k == 3} != 0;
}

/// Inverse of an n × n block by columns; with pivoting, for it need not be symmetric. Columns are treated as the rows of its transpose.
/// @param order [n] scratch
BODY bool invert(const quad *A, double *out, int n, int w, int32_t *order) {
    quad *a = (quad *)out;
    for (int c = 0; c < w; c++) {
        for (int i = 0; i < n; i++) {
            a[i * w + c] = A[i * w + c];
        }
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = __builtin_fabs(out[4 * i * w + k]) > __builtin_fabs(out[4 * best * w + k]) ? i : best;
        }
        order[k] = best;
        for (int c = 0; best != k && c < w; c++) {
            const quad t = a[k * w + c];
            a[k * w + c] = a[best * w + c];
            a[best * w + c] = t;
        }
        const double pivot = out[4 * k * w + k];
        if (!(__builtin_fabs(pivot) > 1e-300)) {
            return false;
        }
        // the column that is done with makes room for one of the inverse
        const double f = 1 / pivot;
        for (int c = 0; c < w; c++) {
            a[k * w + c] = f * pick(lane(k - 4 * c), spread(1), a[k * w + c]);
        }
        for (int i = 0; i < n; i++) {
            const double g = out[4 * i * w + k];
            for (int c = 0; i != k && c < w; c++) {
                a[i * w + c] = pick(lane(k - 4 * c), spread(0), a[i * w + c]) - g * a[k * w + c];
            }
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int i = 0; order[k] != k && i < n; i++) {
            const double t = out[4 * i * w + k];
            out[4 * i * w + k] = out[4 * i * w + order[k]];
            out[4 * i * w + order[k]] = t;
        }
    }
    return true;
}

/// `count` columns of A, which stay in registers, taken off all of C.
BODY void subtract_columns(const quad *A, int wa, const double *B, int wb, int n, int count, quad *C) {
    for (int k = 0; k < wa; k += 2) {
        quad a[3][2];
        for (int c = 0; c < count; c++) {
            a[c][0] = A[c * wa + k];
            a[c][1] = A[c * wa + k + 1];
        }
        for (int j = 0; j < n; j++) {
            quad s0 = C[j * wa + k], s1 = C[j * wa + k + 1];
            for (int c = 0; c < count; c++) {
                const double f = B[4 * c * wb + j];
                s0 -= f * a[c][0];
                s1 -= f * a[c][1];
            }
            C[j * wa + k] = s0;
            C[j * wa + k + 1] = s1;
        }
    }
}

/// C −= A Bᵀ: A has m columns of wa vectors, B m columns of wb vectors, C n columns of wa vectors.
BODY void subtract_product(const quad *A, int wa, const double *B, int wb, int n, int m, quad *C) {
    int c = 0;
    for (; c + 3 <= m; c += 3) {
        subtract_columns(A + c * wa, wa, B + 4 * c * wb, wb, n, 3, C);
    }
    for (; c < m; c++) {
        subtract_columns(A + c * wa, wa, B + 4 * c * wb, wb, n, 1, C);
    }
}

/// A ← A X, m columns of wa vectors; X m × m. @param spare [m] where m is more than six
BODY void multiply_right(quad *A, int wa, const double *X, int wx, int m, quad *spare) {
    for (int k = 0; k < wa; k++) {
        quad few[6], *old = m <= 6 ? few : spare;
        for (int c = 0; c < m; c++) {
            old[c] = A[c * wa + k];
        }
        for (int j = 0; j < m; j++) {
            quad sum = X[4 * j * wx] * old[0];
            for (int c = 1; c < m; c++) {
                sum += X[4 * j * wx + c] * old[c];
            }
            A[j * wa + k] = sum;
        }
    }
}

// ---- the same for blocks of six columns, each in one register

BODY oct_mask lane_oct(int k) {
    return (oct_mask){k == 0, k == 1, k == 2, k == 3, k == 4, k == 5, k == 6, k == 7} != 0;
}

BODY oct pick_oct(oct_mask m, oct a, oct b) {
    return (oct)(((oct_mask)a & m) | ((oct_mask)b & ~m));
}

/// Entry k of the largest pivot in column k from row k on; rows stay in registers, so that nothing waits for memory.
BODY int best_pivot(const oct *a, int k) {
    double most = __builtin_fabs(a[k][k]);
    int best = k;
    KKI_UNROLL for (int i = k + 1; i < 6; i++) {
        const double size = __builtin_fabs(a[i][k]);
        best = size > most ? i : best;
        most = size > most ? size : most;
    }
    return best;
}

BODY bool invert_oct(const oct *A, double *out, int32_t *order) {
    const oct zero = {0}, one = {1, 1, 1, 1, 1, 1, 1, 1};
    oct a[6];
    bool swapped = false;
    KKI_UNROLL for (int i = 0; i < 6; i++) {
        a[i] = A[i];
    }
    KKI_UNROLL for (int k = 0; k < 6; k++) {
        const int best = best_pivot(a, k);
        order[k] = best;
        if (best != k) {
            swapped = true;
            const oct t = a[k];
            KKI_UNROLL for (int i = k + 1; i < 6; i++) {
                a[k] = i == best ? a[i] : a[k];
                a[i] = i == best ? t : a[i];
            }
        }
        const double pivot = a[k][k];
        if (!(__builtin_fabs(pivot) > 1e-300)) {
            return false;
        }
        a[k] = (1 / pivot) * pick_oct(lane_oct(k), one, a[k]);
        KKI_UNROLL for (int i = 0; i < 6; i++) {
            if (i != k) {
                a[i] = pick_oct(lane_oct(k), zero, a[i]) - a[i][k] * a[k];
            }
        }
    }
    KKI_UNROLL for (int i = 0; i < 6; i++) {
        ((oct *)out)[i] = a[i];
    }
    for (int k = 5; k >= 0 && swapped; k--) {
        for (int i = 0; order[k] != k && i < 6; i++) {
            const double t = out[8 * i + k];
            out[8 * i + k] = out[8 * i + order[k]];
            out[8 * i + order[k]] = t;
        }
    }
    return true;
}

BODY void subtract_product_oct(const oct *A, const double *B, oct *C) {
    const oct a0 = A[0], a1 = A[1], a2 = A[2], a3 = A[3], a4 = A[4], a5 = A[5];
    for (int j = 0; j < 6; j++) {
        oct s = C[j];
        s -= B[j] * a0;
        s -= B[8 + j] * a1;
        s -= B[16 + j] * a2;
        s -= B[24 + j] * a3;
        s -= B[32 + j] * a4;
        s -= B[40 + j] * a5;
        C[j] = s;
    }
}

BODY void multiply_right_oct(oct *A, const double *X) {
    combine_oct(A, X, 8, 6, A);
}

// ---- columns

BODY bool invert_block(const quad *A, double *out, int n, int w, int32_t *order, int form) {
    return form == ONE_OCT ? invert_oct((const oct *)A, out, order) : invert(A, out, n, w, order);
}

BODY void subtract_block(const quad *A, int wa, const quad *B, int wb, int n, int m, quad *C, int form) {
    if (form == ONE_OCT) {
        subtract_product_oct((const oct *)A, (const double *)B, (oct *)C);
    } else {
        subtract_product(A, wa, (const double *)B, wb, n, m, C);
    }
}

BODY void multiply_block(quad *A, int wa, const double *X, int wx, int m, quad *spare, int form) {
    if (form == ONE_OCT) {
        multiply_right_oct((oct *)A, X);
    } else {
        multiply_right(A, wa, X, wx, m, spare);
    }
}

/// Column k of the factor, and what it takes off the columns behind it.
BODY bool eliminate(kki_sparse_factor *f, int k, int form) {
    const kki_sparse_pattern *s = f->pattern;
    const bool all_six = form != ANY_WIDTH;
    const int m = all_six ? 6 : s->nv[k], wk = all_six ? 2 : s->width[k] / 4, from = s->column[k],
              end = s->column[k + 1];
    double *inverse = f->inverse + 8 * (size_t)s->own[k];
    if (!invert_block((const quad *)f->D + 2 * (size_t)s->own[k], inverse, m, wk, (int32_t *)f->spare, form)) {
        return false;
    }
    for (int q = from; q < end; q++) {
        const int w = all_six ? 2 : s->width[s->row[q]] / 4;
        quad *L = (quad *)f->L + 2 * s->at[q];
        if (f->symmetric) {
            memcpy((quad *)f->U + 2 * s->at[q], L, sizeof(quad) * (size_t)(m * w));
        }
        multiply_block(L, w, inverse, wk, m, (quad *)f->spare, form);
    }
    for (int q = from; q < end; q++) {
        const int j = s->row[q], wj = all_six ? 2 : s->width[j] / 4, nj = all_six ? 6 : s->nv[j];
        const quad *Lj = (const quad *)f->L + 2 * s->at[q], *Uj = (const quad *)f->U + 2 * s->at[q];
        subtract_block(Lj, wj, Uj, wj, nj, m, (quad *)f->D + 2 * s->own[j], form);
        int spot = s->column[j];
        for (int t = q + 1; t < end; t++) {
            const int i = s->row[t], wi = all_six ? 2 : s->width[i] / 4;
            while (s->row[spot] < i) {
                spot++;
            }
            const quad *Li = (const quad *)f->L + 2 * s->at[t], *Ui = (const quad *)f->U + 2 * s->at[t];
            subtract_block(Li, wi, Uj, wj, nj, m, (quad *)f->L + 2 * s->at[spot], form);
            if (!f->symmetric) {
                subtract_block(Ui, wi, Lj, wj, nj, m, (quad *)f->U + 2 * s->at[spot], form);
            }
        }
    }
    return true;
}

BODY bool is_all_six(const kki_sparse_pattern *s) {
    bool six = true;
    for (int k = 0; k < s->nbody; k++) {
        six = six && s->nv[k] == 6;
    }
    return six;
}

/// @param form  of lone bodies' columns
BODY bool factor_body(kki_sparse_factor *f, int form) {
    const bool six = is_all_six(f->pattern);
    bool good = true;
    for (int k = 0; k < f->pattern->nbody && good; k++) {
        good = six ? eliminate(f, k, form) : eliminate(f, k, ANY_WIDTH);
    }
    return good;
}

BODY void forward(const kki_sparse_factor *f, const int *start, int k, int form) {
    const kki_sparse_pattern *s = f->pattern;
    const bool all_six = form != ANY_WIDTH;
    const int m = all_six ? 6 : s->nv[k];
    const double *b = f->x + start[k];
    for (int q = s->column[k]; q < s->column[k + 1] && form == ONE_OCT; q++) {
        const oct *L = (const oct *)f->L + s->at[q];
        oct *y = (oct *)(f->x + start[s->row[q]]), sum = *y;
        for (int e = 0; e < 6; e++) {
            sum -= b[e] * L[e];
        }
        *y = sum;
    }
    for (int q = s->column[k]; q < s->column[k + 1] && form != ONE_OCT; q++) {
        const int i = s->row[q], w = all_six ? 2 : s->width[i] / 4;
        quad *y = (quad *)(f->x + start[i]);
        const quad *L = (const quad *)f->L + 2 * s->at[q];
        for (int c = 0; c < w; c++) {
            quad sum = y[c];
            for (int e = 0; e < m; e++) {
                sum -= b[e] * L[e * w + c];
            }
            y[c] = sum;
        }
    }
}

/// Column e of a block times x, before the sum over lanes.
BODY quad column_product(const quad *U, int e, const quad *x) {
    return U[2 * e] * x[0] + U[2 * e + 1] * x[1];
}

/// `backward` of a lone body among lone bodies: four sums over lanes side by side, each in the order of sum4.
BODY void backward_six(const kki_sparse_factor *f, const int *start, int k) {
    const kki_sparse_pattern *s = f->pattern;
    quad *y = (quad *)(f->x + start[k]), t0 = y[0], t1 = y[1], c[4];
    for (int q = s->column[k]; q < s->column[k + 1]; q++) {
        const quad *x = (const quad *)(f->x + start[s->row[q]]), *U = (const quad *)f->U + 2 * s->at[q];
        transpose(column_product(U, 0, x), column_product(U, 1, x), column_product(U, 2, x), column_product(U, 3, x),
                  c);
        t0 -= (c[0] + c[2]) + (c[1] + c[3]);
        transpose(column_product(U, 4, x), column_product(U, 5, x), spread(0), spread(0), c);
        t1 -= (c[0] + c[2]) + (c[1] + c[3]);
    }
    const quad *inverse = (const quad *)f->inverse + 2 * s->own[k];
    for (int i = 0; i < 2; i++) {
        quad sum = {0, 0, 0, 0};
        for (int e = 0; e < 4; e++) {
            sum += t0[e] * inverse[2 * e + i];
        }
        sum += t1[0] * inverse[8 + i];
        sum += t1[1] * inverse[10 + i];
        y[i] = sum;
    }
}

BODY void backward(const kki_sparse_factor *f, const int *start, int k) {
    const kki_sparse_pattern *s = f->pattern;
    const int m = s->nv[k], wk = s->width[k] / 4;
    double *y = f->x + start[k], *t = f->spare;
    memcpy(t, y, sizeof(double) * (size_t)(4 * wk));
    for (int q = s->column[k]; q < s->column[k + 1]; q++) {
        const int i = s->row[q], w = s->width[i] / 4;
        const quad *x = (const quad *)(f->x + start[i]), *U = (const quad *)f->U + 2 * s->at[q];
        for (int e = 0; e < m; e++) {
            quad sum = U[e * w] * x[0];
            for (int c = 1; c < w; c++) {
                sum += U[e * w + c] * x[c];
            }
            t[e] -= sum4(sum);
        }
    }
    const quad *inverse = (const quad *)f->inverse + 2 * s->own[k];
    for (int c = 0; c < wk; c++) {
        quad sum = {0, 0, 0, 0};
        for (int e = 0; e < m; e++) {
            sum += t[e] * inverse[e * wk + c];
        }
        ((quad *)y)[c] = sum;
    }
}

BODY void solve_body(const kki_sparse_problem *p, kki_sparse_factor *f, double *x, int form) {
    const kki_sparse_pattern *s = f->pattern;
    const int n = s->nbody;
    const bool six = is_all_six(s);
    int32_t *start = f->start;
    for (int k = 0, at = 0; k < n; k++) {
        start[k] = at;
        memcpy(f->x + at, x + p->first[s->order[k]], sizeof(double) * (size_t)s->width[k]);
        at += s->width[k];
    }
    for (int k = 0; k < n; k++) {
        if (six) {
            forward(f, start, k, form);
        } else {
            forward(f, start, k, ANY_WIDTH);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        if (six) {
            backward_six(f, start, k);
        } else {
            backward(f, start, k);
        }
        memcpy(x + p->first[s->order[k]], f->x + start[k], sizeof(double) * (size_t)s->width[k]);
    }
}

// ---- histories: some rows at a time, because a sum waits for its last addition

/// @param count  a constant
BODY void dot_rows(int n, int count, double *const *rows, const double *x, double *out) {
    quad sum[4];
    for (int j = 0; j < count; j++) {
        sum[j] = spread(0);
    }
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int j = 0; j < count; j++) {
            sum[j] += *(const quad *)(rows[j] + i) * *(const quad *)(x + i);
        }
    }
    for (int j = 0; j < count; j++) {
        for (int k = i; k < n; k++) {
            sum[j][k & 3] += rows[j][k] * x[k];
        }
        out[j] = (sum[j][0] + sum[j][1]) + (sum[j][2] + sum[j][3]);
    }
}

BODY void dots_body(int n, int count, double *const *rows, const double *x, double *out) {
    int j = 0;
    for (; j + 4 <= count; j += 4) {
        dot_rows(n, 4, rows + j, x, out + j);
    }
    for (; j < count; j++) {
        dot_rows(n, 1, rows + j, x, out + j);
    }
}

/// @param count  a constant
BODY void subtract_rows(int n, int count, double *const *rows, const double *f, double *x) {
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        quad sum = *(const quad *)(x + i);
        for (int j = 0; j < count; j++) {
            sum -= f[j] * *(const quad *)(rows[j] + i);
        }
        *(quad *)(x + i) = sum;
    }
    for (; i < n; i++) {
        for (int j = 0; j < count; j++) {
            x[i] -= f[j] * rows[j][i];
        }
    }
}

BODY void subtract_body(int n, int count, double *const *rows, const double *f, double *x) {
    int j = 0;
    for (; j + 4 <= count; j += 4) {
        subtract_rows(n, 4, rows + j, f + j, x);
    }
    for (; j < count; j++) {
        subtract_rows(n, 1, rows + j, f + j, x);
    }
}

// ---- for every instruction set

#define DEFINE(suffix, attribute, form)                                                                            \
    attribute static void velocity_##suffix(const kki_sparse_problem *p, const double *z, double *u) {             \
        velocity_body(p, z, u);                                                                                    \
    }                                                                                                              \
    attribute static void motion_##suffix(const kki_sparse_problem *p, const double *l, double *z) {               \
        motion_body(p, l, z, form);                                                                                \
    }                                                                                                              \
    attribute static void sizes_##suffix(const kki_sparse_problem *p, const double *size, int first, int end,      \
                                         double *z, double *terms) {                                               \
        sizes_body(p, size, first, end, z, terms, form);                                                           \
    }                                                                                                              \
    attribute static void sweep_##suffix(const kki_sparse_system *s, double *lambda, double *z) {                  \
        sweep_body(s, lambda, z);                                                                                  \
    }                                                                                                              \
    attribute static void sweep_listed_##suffix(const kki_sparse_system *s, const int32_t *tie, int count,         \
                                                double *lambda, double *z) {                                       \
        sweep_listed_body(s, tie, count, lambda, z);                                                               \
    }                                                                                                              \
    attribute static void assemble_##suffix(const kki_sparse_problem *p, const double *R, kki_sparse_factor *f) {  \
        assemble_body(p, R, f, form);                                                                              \
    }                                                                                                              \
    attribute static bool factor_##suffix(kki_sparse_factor *f) {                                                  \
        return factor_body(f, form);                                                                               \
    }                                                                                                              \
    attribute static void solve_##suffix(const kki_sparse_problem *p, kki_sparse_factor *f, double *x) {           \
        solve_body(p, f, x, form);                                                                                 \
    }                                                                                                              \
    attribute static void combine_##suffix(const double *T, const double *w, size_t stride, int rows, double *Y) { \
        combine_body(T, w, stride, rows, Y, form);                                                                 \
    }                                                                                                              \
    attribute static void dots_##suffix(int n, int count, double *const *rows, const double *x, double *out) {     \
        dots_body(n, count, rows, x, out);                                                                         \
    }                                                                                                              \
    attribute static void subtract_##suffix(int n, int count, double *const *rows, const double *f, double *x) {   \
        subtract_body(n, count, rows, f, x);                                                                       \
    }                                                                                                              \
    static const kki_sparse_kernels table_##suffix = {                                                             \
        .velocity = velocity_##suffix,                                                                             \
        .motion = motion_##suffix,                                                                                 \
        .sizes = sizes_##suffix,                                                                                   \
        .combine = combine_##suffix,                                                                               \
        .sweep_listed = sweep_listed_##suffix,                                                                     \
        .sweep = sweep_##suffix,                                                                                   \
        .assemble = assemble_##suffix,                                                                             \
        .factor = factor_##suffix,                                                                                 \
        .solve = solve_##suffix,                                                                                   \
        .dots = dots_##suffix,                                                                                     \
        .subtract = subtract_##suffix,                                                                             \
        .certify = kki_sparse_certify_##suffix,                                                                    \
    };

DEFINE(baseline, , TWO_QUADS)
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2, TWO_QUADS)
#endif
#ifdef KKI_HAVE_AVX512
DEFINE(avx512, KKI_TARGET_AVX512, ONE_OCT)
#endif

KKI_CHOOSE_KERNELS(kki_sparse_kernels, KKI_TABLE_AVX512)
