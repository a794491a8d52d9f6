/// Many points between few bodies, as under a robot's feet: all their rows are combinations of the six wrenches between each pair.
///
/// With W = Xᵀ Jwᵀ the six unit wrenches of every pair that touches, six columns each, and P what the rows make of them, Y = W P. W = Q R with Q orthonormal
/// gives G = Yᵀ Y = (R P)ᵀ (R P): the island's coordinates are z = Qᵀ y, six a pair however many degrees of freedom the robot has,
/// and its rows R P. Six climbs a pair take the place of one a row, and all products are shorter.
#include <string.h>

#include "contact/dense_kernels.h"
#include "simulate/island.h"

/// Pairs at most, and wrenches of each.
enum { MOST_PAIRS = KKI_WRENCH_PAIRS, UNITS = 6 };
/// What is left of a column that depends on those before it; and of one that loses more than a digit in being made orthogonal, and needs a second
/// round (Kahan: twice is enough).
static const double DEPENDENT = 1e-14, MUCH = 0.1;

static const kki_row_part *part_of(const kk_simulator *s, const kki_island *I, int i) {
    return &s->constraints.part[s->constraints.list[s->constraints.order[I->first_constraint + i]].first_part];
}

/// Points between the same bodies follow one another: the first constraint behind those like i.
static int end_of_run(const kk_simulator *s, const kki_island *I, int i) {
    const kki_row_part *part = part_of(s, I, i);
    int end = i + 1;
    while (end < I->nconstraint && part_of(s, I, end)->i == part->i && part_of(s, I, end)->j == part->j) {
        end++;
    }
    return end;
}

static int pair_of(const kki_wrench_basis *n, const kki_row_part *part) {
    for (int p = 0; p < n->npair; p++) {
        if (n->pair[p][0] == part->i && n->pair[p][1] == part->j) {
            return p;
        }
    }
    return -1;
}

/// The pairs that touch, in the order of their rows. False where something else holds, or there are more than `most`.
static int find_pairs(const kk_simulator *s, const kki_island *I, int most, kki_wrench_basis *n) {
    n->npair = 0;
    for (int i = 0; i < I->nconstraint; i++) {
        if (s->constraints.list[s->constraints.order[I->first_constraint + i]].kind != KKI_ON_CONTACT) {
            return 0;
        }
    }
    for (int i = 0; i < I->nconstraint; i = end_of_run(s, I, i)) {
        const kki_row_part *part = part_of(s, I, i);
        if (pair_of(n, part) >= 0) {
            continue;
        }
        if (n->npair == most) {
            return 0;
        }
        n->pair[n->npair][0] = part->i;
        n->pair[n->npair++][1] = part->j;
    }
    return 1;
}

void kki_wrench_basis_choose(kk_simulator *s, kki_island *I) {
    kki_wrench_basis n;
    // with more of them it gains nothing
    const int by_rows = I->nrow / (3 * UNITS), by_dofs = 7 * I->nv / (10 * UNITS);
    const int few = by_rows < by_dofs ? by_rows : by_dofs, most = few < MOST_PAIRS ? few : MOST_PAIRS;
    if (I->nv <= KKI_WRENCH_DOFS && most > 0 && find_pairs(s, I, most, &n)) {
        I->full = I->nv;
        I->nv = UNITS * n.npair;
        I->has_wrench_basis = 1;
    }
}

// ---- the basis

/// Wrench k of a pair: on its first body about that one's origin, the opposite on the other; for lanes 0 … 3.
static void unit_wrench(const kk_simulator *s, const int32_t pair[2], int k, int lane, double wi[6][4],
                        double wj[6][4]) {
    const double *oi = kki_pose_of(s->data, pair[0])->p, *oj = kki_pose_of(s->data, pair[1])->p;
    double w[6] = {0};
    w[k] = 1;
    const double d[3] = {oi[0] - oj[0], oi[1] - oj[1], oi[2] - oj[2]}, *f = w + 3;
    const double moment[3] = {d[1] * f[2] - d[2] * f[1], d[2] * f[0] - d[0] * f[2], d[0] * f[1] - d[1] * f[0]};
    for (int x = 0; x < 6; x++) {
        const double there = pair[0] == 0 ? w[x] : x < 3 ? w[x] + moment[x] : w[x];
        wi[x][lane] = w[x];
        wj[x][lane] = -there;
    }
}

/// W, [full × units].
static void climb_units(const kk_model *m, kk_simulator *s, const kki_island *I, int stride) {
    const kki_wrench_basis *n = &I->scratch->wrench_basis;
    memset(I->scratch->Y, 0, (size_t)I->full * (size_t)stride * sizeof *I->scratch->Y);
    for (int p = 0; p < n->npair; p++) {
        for (int first = UNITS * p; first < UNITS * (p + 1);) {
            const int quad = first / 4, end = 4 * quad + 4 < UNITS * (p + 1) ? 4 * quad + 4 : UNITS * (p + 1);
            _Alignas(32) double w[2][6][4] = {{{0}}};
            for (int c = first; c < end; c++) {
                unit_wrench(s, n->pair[p], c - UNITS * p, c & 3, w[0], w[1]);
            }
            kki_rows_climb(m, s, I, n->pair[p], w, 4 * quad, stride);
            first = end;
        }
    }
}

/// Gram and Schmidt: column c of W leaves row c of Q, and R.
static void orthogonalize(const kki_island *I, kki_wrench_basis *n, int c) {
    const kki_dense_kernels *kernels = I->scratch->solver.kernels;
    double *v = n->Q + c * n->width;
    const double before = kernels->dot(n->width, v, v);
    const double after = kernels->orthogonalize(c, n->width, n->Q, v, n->stride, n->R + c, MUCH * MUCH);
    const int depends = !(after > DEPENDENT * DEPENDENT * before);
    const double size = depends ? 0 : kk_sqrt(after), f = depends ? 0 : 1 / size;
    n->R[c * n->stride + c] = size;
    for (int t = 0; t < n->width; t++) {
        v[t] *= f;
    }
}

static void make_basis(const kk_model *m, kk_simulator *s, const kki_island *I) {
    kki_wrench_basis *n = &I->scratch->wrench_basis;
    find_pairs(s, I, MOST_PAIRS, n); // as when it was chosen
    n->stride = kki_round4(I->nv);
    n->width = kki_round4(I->full);
    climb_units(m, s, I, n->stride);
    memset(n->R, 0, (size_t)I->nv * (size_t)n->stride * sizeof *n->R);
    I->scratch->solver.kernels->transpose(I->full, I->nv, n->stride, I->scratch->Y, n->width, n->Q);
    for (int c = 0; c < I->nv; c++) {
        orthogonalize(I, n, c);
    }
}

// ---- rows

/// Vectors of four between a run's first row and its last.
static void range_of(const kk_simulator *s, const kki_island *I, int first, int end, int32_t range[2]) {
    const kki_constraint *a = &s->constraints.list[s->constraints.order[I->first_constraint + first]],
                         *b = &s->constraints.list[s->constraints.order[I->first_constraint + end - 1]];
    range[0] = (a->row - I->first_row) / 4;
    range[1] = (b->row - I->first_row + b->nrow + 3) / 4;
}

/// Coordinates of z that pair p and those before it make are felt by p's rows: from the first row of a pair, or of a later one.
static void widen(const kki_island *I, int pair, const int32_t range[2]) {
    for (int k = 0; k < UNITS * (pair + 1); k++) {
        int32_t *span = I->scratch->span + 2 * k;
        span[0] = range[0] < span[0] ? range[0] : span[0];
        span[1] = range[1] > span[1] ? range[1] : span[1];
    }
}

/// The rows of a run as wrenches, [UNITS × stride] in `wrench`; what else is in its vectors is zero.
static void list_wrenches(const kk_simulator *s, const kki_island *I, int first, int end, const int32_t range[2],
                          double *wrench) {
    for (int x = 0; x < UNITS; x++) {
        memset(wrench + x * I->stride + 4 * range[0], 0, (size_t)(4 * (range[1] - range[0])) * sizeof *wrench);
    }
    for (int i = first; i < end; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        for (int k = 0; k < c->nparts; k++) {
            const kki_row_part *part = &s->constraints.part[c->first_part + k];
            const double sign = part->i == 0 ? -1 : 1, *w = part->i == 0 ? part->wj : part->wi;
            double *to = wrench + (c->row - I->first_row) + part->row;
            for (int x = 0; x < UNITS; x++) {
                to[x * I->stride] = sign * w[x];
            }
        }
    }
}

/// Y = R P, run by run.
void kki_wrench_basis_build(const kk_model *m, kk_simulator *s, const kki_island *I) {
    const kki_wrench_basis *n = &I->scratch->wrench_basis;
    make_basis(m, s, I);
    for (int k = 0; k < I->nv; k++) {
        I->scratch->span[2 * k] = I->stride / 4;
        I->scratch->span[2 * k + 1] = 0;
    }
    memset(I->scratch->Y, 0, (size_t)I->nv * (size_t)I->stride * sizeof *I->scratch->Y);
    for (int first = 0, end; first < I->nconstraint; first = end) {
        const int p = pair_of(n, part_of(s, I, first));
        int32_t range[2];
        end = end_of_run(s, I, first);
        range_of(s, I, first, end, range);
        widen(I, p, range);
        list_wrenches(s, I, first, end, range, n->wrench);
        I->scratch->solver.kernels->blend(UNITS * (p + 1), n->stride, n->R + UNITS * p, range[1] - range[0], I->stride,
                                          n->wrench + 4 * range[0], I->scratch->Y + 4 * range[0]);
    }
}

void kki_wrench_basis_project(const kki_island *I, const double *y, double *z) {
    const kki_wrench_basis *n = &I->scratch->wrench_basis;
    for (int k = 0; k < I->nv; k++) {
        z[k] = I->scratch->solver.kernels->dot(n->width, n->Q + k * n->width, y);
    }
}

void kki_wrench_basis_spread(const kki_island *I, const double *z, double *y) {
    const kki_wrench_basis *n = &I->scratch->wrench_basis;
    for (int k = 0; k < I->nv; k++) {
        I->scratch->solver.kernels->add(n->width, z[k], n->Q + k * n->width, y);
    }
}
