/// Rows of constraints in scaled coordinates: Y = Xᵀ Jᵀ by climbing the factor, G = Yᵀ Y, and products with Y.
#include <string.h>

#include "contact/dense_kernels.h"
#include "simulate/constraint.h"
#include "simulate/island.h"

// ---- products with Y

/// r = Yᵀ y, [stride].
void kki_rows_velocity(const kk_simulator *s, const kki_island *I, const double *y, double *r) {
    if (I->is_sparse) {
        kki_sparse_rows_velocity(s, I, y, r);
        return;
    }
    I->scratch->solver.kernels->project(I->nv, I->stride, I->scratch->span, I->scratch->Y, y, r);
}

/// y += Y λ; λ's padding is zero.
void kki_rows_add(const kk_simulator *s, const kki_island *I, const double *lambda, double *y) {
    if (I->is_sparse) {
        kki_sparse_rows_add(s, I, lambda, y);
        return;
    }
    I->scratch->solver.kernels->spread(I->nv, I->stride, I->scratch->span, I->scratch->Y, lambda, y);
}

void kki_rows_add_contact(const kki_island *I, int i, int row, const double l[3], double *y) {
    if (I->is_sparse) {
        kki_sparse_rows_add_contact(I, i, l, y);
        return;
    }
    for (int k = 0; k < I->nv; k++) {
        const double *Y = I->scratch->Y + (size_t)k * (size_t)I->stride + row;
        y[k] += (Y[0] * l[0] + Y[1] * l[1]) + Y[2] * l[2];
    }
}

void kki_rows_velocity_contact(const kki_island *I, int i, int row, const double *y, double u[3]) {
    u[0] = u[1] = u[2] = 0;
    if (I->is_sparse) {
        kki_sparse_rows_velocity_contact(I, i, y, u);
        return;
    }
    for (int k = 0; k < I->nv; k++) {
        const double *Y = I->scratch->Y + (size_t)k * (size_t)I->stride + row;
        u[0] += Y[0] * y[k];
        u[1] += Y[1] * y[k];
        u[2] += Y[2] * y[k];
    }
}

// ---- which part of each row of Y is not zero

/// Vectors of four in Y that are few.
enum { FEW_VECTORS = 32 };

static void widen(int32_t *span, int first, int end) {
    span[0] = first < span[0] ? first : span[0];
    span[1] = end > span[1] ? end : span[1];
}

/// Where a degree of freedom stands in its island.
static int local_dof(const kk_model *m, const kk_simulator *s, int dof) {
    const int tree = m->node_tree[m->dof_node[dof]];
    return dof + s->islands.tree_local[tree] - m->tree_first_dof[tree];
}

static void widen_at(const kk_model *m, const kk_simulator *s, const kki_island *I, int dof, int first, int end) {
    if (dof >= 0) {
        widen(I->scratch->span + 2 * local_dof(m, s, dof), first, end);
    }
}

/// What a row pushes on, all feel from there to the root. Degrees of freedom are numbered depth first, so most follow their parent, which need not wait for
/// what its child has stored. An empty span ends where it begins.
static void widen_towards_root(const kk_model *m, const kk_simulator *s, const kki_island *I, int tree) {
    const int first = m->tree_first_dof[tree], none = INT32_MAX;
    const int32_t *const above = m->dof_parent;
    int32_t *const span = I->scratch->span + 2 * (s->islands.tree_local[tree] - first);
    int32_t own[2] = {none, 0};
    for (int d = m->tree_first_dof[tree + 1] - 1; d >= first; d--) {
        widen(own, span[2 * d], span[2 * d + 1]);
        span[2 * d] = own[1] > 0 ? own[0] : 0;
        span[2 * d + 1] = own[1];
        const int parent = above[d];
        if (parent != d - 1) {
            if (parent >= 0) {
                widen(span + 2 * parent, own[0], own[1]);
            }
            own[0] = none;
            own[1] = 0;
        }
    }
}

/// Constraints from the i-th on between the same bodies, as points of a face are, which follow one another. Gives the next one, and the vectors of their rows.
static int end_of_run(const kk_simulator *s, const kki_island *I, int i, int32_t vectors[2]) {
    const int32_t *const order = s->constraints.order + I->first_constraint;
    const kki_constraint *c = &s->constraints.list[order[i]], *last = c;
    int next = i + 1;
    for (; next < I->nconstraint; next++) {
        const kki_constraint *d = &s->constraints.list[order[next]];
        if (d->dof[0] != c->dof[0] || d->dof[1] != c->dof[1] || d->kind != KKI_ON_CONTACT) {
            break;
        }
        last = d;
    }
    vectors[0] = (c->row - I->first_row) / 4;
    vectors[1] = (last->row - I->first_row + last->nrow + 3) / 4;
    return next;
}

/// Whether a row may go over joints of several branches, of which the constraint's own degrees of freedom tell no more than the trees: tendons.
static int is_spread(const kki_constraint *c) {
    return kki_type_of(c)->is_spread;
}

/// A degree of freedom of the island and all between it and the root, a bit each.
static uint64_t branch_of(const kk_model *m, const kk_simulator *s, int dof) {
    return dof < 0 ? 0 : s->constraints.branch[dof] << s->islands.tree_local[m->node_tree[m->dof_node[dof]]];
}

/// From the first vector that a degree of freedom is touched in to the last.
static void span_touched(const kki_island *I, int vectors) {
    const int nv = I->nv;
    int32_t *const span = I->scratch->span;
    const uint64_t *const touch = I->scratch->touch;
    uint64_t seen = 0;
    for (int k = 0; k < 2 * nv; k++) {
        span[k] = 0;
    }
    for (int c = 0; c < vectors; seen |= touch[c++]) {
        for (uint64_t left = touch[c] & ~seen; left; left &= left - 1) {
            span[2 * __builtin_ctzll(left)] = c;
        }
    }
    for (int c = vectors - 1; c >= 0; seen &= ~touch[c--]) {
        for (uint64_t left = touch[c] & seen; left; left &= left - 1) {
            span[2 * __builtin_ctzll(left) + 1] = c + 1;
        }
    }
}

/// Which degrees of freedom feel the rows of each vector, where a number has bits for all. Of short rows spans wait until somebody asks for them.
static void find_touched(const kk_model *m, kk_simulator *s, const kki_island *I) {
    const int vectors = I->stride / 4;
    uint64_t *const touch = I->scratch->touch;
    for (int c = 0; c < vectors; c++) {
        touch[c] = 0;
    }
    for (int i = 0, next; i < I->nconstraint; i = next) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        uint64_t all = branch_of(m, s, c->dof[0]) | branch_of(m, s, c->dof[1]);
        int32_t run[2];
        next = end_of_run(s, I, i, run);
        for (int p = 0; is_spread(c) && p < c->nparts; p++) {
            const kki_row_part *part = &s->constraints.part[c->first_part + p];
            all |= branch_of(m, s, kki_last_dof(m, part->i)) | branch_of(m, s, kki_last_dof(m, part->j));
        }
        for (int v = run[0]; v < run[1]; v++) {
            touch[v] |= all;
        }
    }
    if (vectors > KKI_SHORT) {
        span_touched(I, vectors);
    }
}

void kki_rows_spans(const kki_island *I) {
    if (I->scratch->touches && I->stride / 4 <= KKI_SHORT) {
        span_touched(I, I->stride / 4);
    }
}

/// Vectors of four between a degree of freedom's first and last constraint. Where all of them are few, looking takes longer than multiplying by zeros.
static void find_spans(const kk_model *m, kk_simulator *s, const kki_island *I) {
    const int vectors = I->stride / 4, all = I->has_loops && I->nv * vectors <= FEW_VECTORS, nv = I->nv;
    int32_t *const span = I->scratch->span;
    I->scratch->touches = !all && nv <= KKI_GRAM_DOFS && I->stride <= KKI_GRAM_ROWS;
    if (I->scratch->touches) {
        find_touched(m, s, I);
        return;
    }
    for (int k = 0; k < nv; k++) {
        span[2 * k] = all ? 0 : vectors;
        span[2 * k + 1] = all ? vectors : 0;
    }
    for (int i = 0, next; i < I->nconstraint && !all; i = next) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        int32_t run[2];
        next = end_of_run(s, I, i, run);
        widen_at(m, s, I, c->dof[0], run[0], run[1]);
        widen_at(m, s, I, c->dof[1], run[0], run[1]);
        for (int p = 0; is_spread(c) && p < c->nparts; p++) {
            widen_at(m, s, I, kki_last_dof(m, s->constraints.part[c->first_part + p].i), run[0], run[1]);
            widen_at(m, s, I, kki_last_dof(m, s->constraints.part[c->first_part + p].j), run[0], run[1]);
        }
    }
    for (int t = 0; t < I->ntree && !all; t++) {
        widen_towards_root(m, s, I, s->islands.tree_order[I->first_tree + t]);
    }
}

// ---- Y

/// Four columns of Y, from any of them on, climb together: the wrenches of their rows, node by node.
enum { MOST_NODES = 16, LANES = 4 };
typedef struct climb {
    _Alignas(32) double w[MOST_NODES][6][LANES];
    int32_t node[MOST_NODES];
    int count, first; ///< row of the first lane
} climb;

/// Those of a tree that follow one another at once. Lanes are those of `row` and what follows from now on.
static void flush(const kk_model *m, kk_simulator *s, const kki_island *I, climb *c, int row, int stride) {
    double *const Y = I->scratch->Y + c->first;
    for (int first = 0, end; first < c->count; first = end) {
        const int tree = m->node_tree[c->node[first]], base = m->tree_first_dof[tree] - s->islands.tree_local[tree];
        end = first + 1;
        while (end < c->count && m->node_tree[c->node[end]] == tree) {
            end++;
        }
        s->data->kernels->delassus_climb_set(m, &s->data->scratch, end - first, c->node + first, c->w + first, base, Y,
                                             (size_t)stride);
    }
    c->count = 0;
    c->first = row + LANES <= stride ? row : stride - LANES;
}

void kki_rows_climb(const kk_model *m, kk_simulator *s, const kki_island *I, const int32_t node[2], double w[2][6][4],
                    int column, int stride) {
    climb c;
    c.count = 0;
    c.first = column;
    for (int side = 0; side < 2; side++) {
        if (node[side] > 0) {
            c.node[c.count] = node[side];
            memcpy(c.w[c.count++], w[side], sizeof c.w[0]);
        }
    }
    flush(m, s, I, &c, 0, stride);
}

/// The node's place in the list; behind its end where it is not in it.
static int place_of(const climb *c, int node) {
    int e = 0;
    while (e < c->count && c->node[e] != node) {
        e++;
    }
    return e;
}

/// One side of `count` parts, whose rows follow one another from lane `lane` on. @param w  of the first; the others' are a part further each
static void add_wrenches(const kk_simulator *s, climb *c, int node, const double *w, int count, int lane) {
    enum { NEXT = sizeof(kki_row_part) / sizeof(double) };
    static const double none[6] = {0};
    const double *row[LANES];
    const int e = place_of(c, node), is_new = e == c->count;
    for (int k = 0, r = -lane; k < LANES; k++, r++) {
        row[k] = (unsigned)r < (unsigned)count ? w + r * NEXT : none; // from zero on
    }
    if (is_new) {
        c->node[e] = node;
        c->count++;
    }
    s->data->kernels->delassus_lay(row, is_new, c->w[e]);
}

/// A force along the joint between two nodes: the joint takes all of it but what its pivot hands on to the parent. @param row  in the island
static void add_joint(const kk_model *m, kk_simulator *s, const kki_island *I, climb *c, const kki_row_part *p, int row,
                      int stride) {
    const kki_pivot *k = kki_pivot_of(s->data, p->dof);
    const int local = local_dof(m, s, p->dof);
    const double *S[2] = {k->Sa, k->Sl}, *U[2] = {k->Ua, k->Ul};
    double along = 0, w[6];
    for (int x = 0; x < 6; x++) {
        along += S[x / 3][x % 3] * p->wi[x];
    }
    for (int x = 0; x < 6; x++) {
        w[x] = -along * U[x / 3][x % 3];
    }
    I->scratch->Y[(size_t)local * (size_t)stride + (size_t)row] += along * k->e;
    if (p->j > 0) {
        add_wrenches(s, c, p->j, w, 1, row - c->first);
    }
}

/// Parts between the same two nodes whose rows follow one another, as many as there are and lanes are left: all of a contact are such.
static int run_of(const kki_row_part *p, int is_contact, int count, int lanes) {
    const int most = count < lanes ? count : lanes;
    int n = is_contact ? most : 1;
    while (n < most && p[n].i == p->i && p[n].j == p->j && p[n].row == p[n - 1].row + 1) {
        n++;
    }
    return n;
}

/// Rows that do not all fit into the lanes that are left begin anew, unless they act on nodes that climb anyway.
static int begins_anew(const climb *c, const kki_constraint *k, const kki_row_part *p, int row) {
    return row + k->nrow > c->first + LANES &&
           ((p->i > 0 && p->dof < 0 && place_of(c, p->i) == c->count) || (p->j > 0 && place_of(c, p->j) == c->count));
}

static void add_constraint(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *k, int row,
                           climb *c, int stride) {
    const kki_row_part *part = &s->constraints.part[k->first_part];
    if (begins_anew(c, k, part, row)) {
        flush(m, s, I, c, row, stride);
    }
    for (int p = 0, run; p < k->nparts; p += run) {
        const int at = row + part[p].row;
        if (at >= c->first + LANES || c->count + 2 > MOST_NODES) {
            flush(m, s, I, c, at, stride);
        }
        if (part[p].dof >= 0) {
            add_joint(m, s, I, c, &part[p], at, stride);
            run = 1;
            continue;
        }
        run = run_of(part + p, k->kind == KKI_ON_CONTACT, k->nparts - p, c->first + LANES - at);
        if (part[p].i > 0) {
            add_wrenches(s, c, part[p].i, part[p].wi, run, at - c->first);
        }
        if (part[p].j > 0) {
            add_wrenches(s, c, part[p].j, part[p].wj, run, at - c->first);
        }
    }
}

/// In pieces: beyond 2 kB memset takes a string instruction, which is slow to begin.
static void clear(double *Y, size_t count) {
    enum { PIECE = 240 };
    for (size_t i = 0; i < count; i += PIECE) {
        memset(Y + i, 0, (count - i < PIECE ? count - i : PIECE) * sizeof *Y);
    }
}

static void build(const kk_model *m, kk_simulator *s, const kki_island *I) {
    climb c;
    c.count = c.first = 0;
    I->scratch->touches = 0;
    if (I->is_sparse) {
        kki_sparse_rows_build(m, s, I);
        return;
    }
    if (I->has_wrench_basis) {
        kki_wrench_basis_build(m, s, I);
        return;
    }
    find_spans(m, s, I);
    clear(I->scratch->Y, (size_t)I->nv * (size_t)I->stride);
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *k = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        add_constraint(m, s, I, k, k->row - I->first_row, &c, I->stride);
    }
    flush(m, s, I, &c, 0, I->stride);
}

void kki_rows_build(const kk_model *m, kk_simulator *s, const kki_island *I) {
    I->scratch->Y = I->scratch->rows.Y;
    I->scratch->rows.is_lost = 1;
    build(m, s, I);
}

void kki_rows_build_kept(const kk_model *m, kk_simulator *s, kki_island *I) {
    const size_t own = (size_t)I->nv * (size_t)I->stride;
    const size_t size = own + (I->has_loops && I->nrow <= KKI_FEW_ROWS ? (size_t)(I->stride * I->stride) : 0);
    const int fits = !I->is_sparse && !I->has_wrench_basis && !kki_workers_of(s) &&
                     I->scratch->rows.used + size <= I->scratch->Y_room;
    I->scratch->Y = I->scratch->rows.Y + (fits ? I->scratch->rows.used : 0);
    I->scratch->rows.used += fits ? size : 0;
    I->scratch->rows.is_lost |= !fits;
    I->Y = I->scratch->Y;
    I->factor = fits && size > own ? I->scratch->Y + own : I->scratch->A;
    build(m, s, I);
}

void kki_rows_recall(const kk_model *m, kk_simulator *s, const kki_island *I) {
    if (I->scratch->rows.is_lost) {
        kki_rows_build(m, s, I);
        return;
    }
    I->scratch->Y = I->Y;
    find_spans(m, s, I);
}

// ---- G

/// All degrees of freedom of the trees of two of them, from the largest down; −1 is the world.
static int all_of_trees(const kk_model *m, const int32_t dof[2], int32_t *list) {
    int count = 0;
    for (int side = 0; side < 2; side++) {
        const int tree = dof[side] < 0 ? -1 : m->node_tree[m->dof_node[dof[side]]];
        const int is_new = tree >= 0 && (side == 0 || dof[0] < 0 || tree != m->node_tree[m->dof_node[dof[0]]]);
        for (int k = is_new ? m->tree_first_dof[tree + 1] - 1 : -1; k >= 0 && k >= m->tree_first_dof[tree]; k--) {
            list[count++] = k;
        }
    }
    return count;
}

/// Degrees of freedom, numbered in the island, that feel a constraint.
static int support_of(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *c) {
    const int count = is_spread(c) ? all_of_trees(m, c->dof, I->scratch->support)
                                   : kki_union_of_branches(m, c->dof[0], c->dof[1], I->scratch->support);
    for (int i = 0; i < count; i++) {
        I->scratch->support[i] = local_dof(m, s, I->scratch->support[i]);
    }
    return count;
}

/// Upper triangle row by row, then mirrored: exactly symmetric.
void kki_rows_matrix(const kk_model *m, kk_simulator *s, kki_island *I) {
    const size_t stride = (size_t)I->stride;
    if (I->has_matrix) {
        return;
    }
    I->has_matrix = 1;
    if (I->nv <= KKI_GRAM_DOFS && I->stride <= KKI_GRAM_ROWS) {
        I->scratch->solver.kernels->gram(I->nv, I->nrow, I->stride, I->scratch->span,
                                         I->scratch->touches ? I->scratch->touch : NULL, I->scratch->Y, I->scratch->G);
        return;
    }
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        const int count = support_of(m, s, I, c);
        for (int r = c->row - I->first_row; r < c->row - I->first_row + c->nrow; r++) {
            const size_t skip = (size_t)(r & ~3);
            s->data->kernels->delassus_row(I->scratch->Y + r, I->scratch->Y + skip, stride, I->scratch->support, count,
                                           (stride - skip) / 4, I->scratch->G + (size_t)r * stride + skip);
        }
    }
    for (size_t r = 0; r < (size_t)I->nrow; r++) {
        for (size_t c = 0; c < r; c++) {
            I->scratch->G[r * stride + c] = I->scratch->G[c * stride + r];
        }
    }
}

void kki_rows_own(const kk_simulator *s, const kki_island *I, int row, int rows, double *own) {
    if (I->is_sparse) {
        kki_sparse_rows_own(s, I, row, rows, own);
        return;
    }
    double sum[6] = {0};
    for (size_t t = 0; t < (size_t)I->nv; t++) { // side by side: one sum would wait for itself
        const double *y = I->scratch->Y + t * (size_t)I->stride + row;
        const double a = y[0], b = rows > 1 ? y[1] : 0, c = rows > 1 ? y[2] : 0;
        sum[0] += a * a;
        sum[1] += a * b;
        sum[2] += a * c;
        sum[3] += b * b;
        sum[4] += b * c;
        sum[5] += c * c;
    }
    memcpy(own, sum, (rows > 1 ? 6 : 1) * sizeof *own);
}

// ---- y of an island

/// The degrees of freedom of its trees, behind each other.
static void gather_trees(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *from,
                         double *local) {
    for (int t = 0; t < I->ntree; t++) {
        const int tree = s->islands.tree_order[I->first_tree + t], first = m->tree_first_dof[tree];
        const int count = m->tree_first_dof[tree + 1] - first, end = I->is_sparse ? kki_round8(count) : count;
        memcpy(local + s->islands.tree_local[tree], from + first, (size_t)count * sizeof *local);
        for (int k = count; k < end; k++) {
            local[s->islands.tree_local[tree] + k] = 0;
        }
    }
}

static void scatter_trees(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *local,
                          double *to) {
    for (int t = 0; t < I->ntree; t++) {
        const int tree = s->islands.tree_order[I->first_tree + t], first = m->tree_first_dof[tree];
        memcpy(to + first, local + s->islands.tree_local[tree],
               (size_t)(m->tree_first_dof[tree + 1] - first) * sizeof *local);
    }
}

void kki_island_copy(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *from, double *to) {
    for (int t = 0; t < I->ntree; t++) {
        const int tree = s->islands.tree_order[I->first_tree + t], first = m->tree_first_dof[tree];
        memcpy(to + first, from + first, (size_t)(m->tree_first_dof[tree + 1] - first) * sizeof *to);
    }
}

/// y of a narrow island's trees, padded.
static void gather_padded(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *from,
                          double y[KKI_WRENCH_DOFS]) {
    gather_trees(m, s, I, from, y);
    for (int k = I->full; k < ((I->full + 3) & ~3); k++) {
        y[k] = 0;
    }
}

void kki_island_gather(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *from,
                       double *local) {
    if (I->has_wrench_basis) {
        _Alignas(32) double y[KKI_WRENCH_DOFS];
        gather_padded(m, s, I, from, y);
        kki_wrench_basis_project(I, y, local);
        return;
    }
    gather_trees(m, s, I, from, local);
}

void kki_island_scatter(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *local,
                        double *to) {
    if (I->has_wrench_basis) {
        _Alignas(32) double y[KKI_WRENCH_DOFS], z[KKI_WRENCH_DOFS];
        gather_padded(m, s, I, to, y);
        kki_wrench_basis_project(I, y, z);
        for (int k = 0; k < I->nv; k++) { // what the island does not reach keeps its bits
            z[k] = local[k] - z[k];
        }
        kki_wrench_basis_spread(I, z, y);
        scatter_trees(m, s, I, y, to);
        return;
    }
    scatter_trees(m, s, I, local, to);
}
