/// Rows of wide islands: each constraint climbs the trees it touches, and keeps what they answer.
#include "simulate/rows_sparse.h"

#include <string.h>

#include "contact/sparse_scratch.h"
#include "simulate/island.h"

static int tree_of(const kk_model *m, int dof) {
    return dof < 0 ? -1 : m->node_tree[m->dof_node[dof]];
}

/// The tie of a constraint, with room for its rows in Y from *used on.
static void make_tie(const kk_model *m, const kki_island *I, const kki_constraint *c, kki_tie *t, size_t *used) {
    const int a = tree_of(m, c->dof[0]), b = tree_of(m, c->dof[1]), one = a >= 0 ? a : b;
    *t = (kki_tie){.row = c->row - I->first_row,
                   .nrow = c->nrow,
                   .block = c->block - I->first_block,
                   .nblock = c->nblock,
                   .body = {I->scratch->sparse.body_of_tree[one],
                            a >= 0 && b >= 0 && a != b ? I->scratch->sparse.body_of_tree[b] : -1}};
    for (int side = 0; side < 2; side++) {
        t->side[side] = (int32_t)*used;
        const int body = t->body[side];
        *used +=
            body < 0 ? 0 : (size_t)(c->nrow * (I->scratch->sparse.first[body + 1] - I->scratch->sparse.first[body]));
    }
}

// ---- lone bodies: what a unit wrench about the body's origin becomes is found once, and rows are sums of it

static int is_lone(const kk_model *m, int node) {
    const kki_node *n = &m->node[node];
    return node > 0 && n->is_leaf && n->type == KKI_NODE_FREE && n->parent == 0;
}

/// T [6 × 8]: column by column the answer to a unit of each wrench component.
static void answer_units(const kk_model *m, kk_simulator *s, int tree, double *T) {
    // constants: written here and read as vectors at once, they would be waited for
    static const _Alignas(32) double none[6][4] = {{0}}, unit[2][6][4] = {{{1}, {0, 1}, {0, 0, 1}, {0}, {0}, {0}},
                                                                          {{0}, {0}, {0}, {1}, {0, 1}, {0, 0, 1}}};
    const int node = m->dof_node[m->tree_first_dof[tree]];
    for (int half = 0; half < 2; half++) {
        _Alignas(32) double out[6][4] = {{0}};
        s->data->kernels->delassus_climb(m, &s->data->scratch, node, unit[half], 0, none, m->tree_first_dof[tree],
                                         &out[0][0], 4);
        for (int lane = 0; lane < 3; lane++) {
            double *column = T + 8 * (3 * half + lane);
            for (int k = 0; k < 6; k++) {
                column[k] = out[k][lane];
            }
            column[6] = column[7] = 0;
        }
    }
}

/// Parts of a constraint between lone bodies, or of one with the world.
static int build_lone(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *k,
                      const kki_tie *t) {
    const kki_row_part *p = &s->constraints.part[k->first_part];
    const int i = p->i, j = p->j;
    if ((i > 0 && !is_lone(m, i)) || (j > 0 && !is_lone(m, j)) || i == j) {
        return 0;
    }
    for (int n = 0; n < k->nparts && k->kind != KKI_ON_CONTACT; n++) { // a contact's are all between the same two
        if (p[n].i != i || p[n].j != j || p[n].row != n) {
            return 0;
        }
    }
    const kki_sparse_kernels *kernels = I->scratch->sparse.solver.kernels;
    for (int side = 0; side < 2; side++) {
        const int node = side ? j : i;
        if (node > 0) {
            const int body = I->scratch->sparse.body_of_tree[m->node_tree[node]], at = t->body[1] == body;
            kernels->combine(I->scratch->sparse.unit + 48 * (size_t)body, side ? p->wj : p->wi,
                             sizeof *p / sizeof(double), k->nparts, I->scratch->sparse.Y + t->side[at]);
        }
    }
    return 1;
}

// ---- robots

/// Four rows between the same nodes climb together.
typedef struct climb {
    _Alignas(32) double wi[6][4], wj[6][4];
    int i, j, row, lanes; ///< row: of lane 0
} climb;

static void climb_tree(const kk_model *m, kk_simulator *s, const kki_island *I, const climb *c, int tree, int i,
                       const double wi[6][4], int j, const double wj[6][4], const kki_tie *t) {
    kki_sparse_rows *w = &I->scratch->sparse;
    const int body = w->body_of_tree[tree], side = t->body[1] == body, width = w->first[body + 1] - w->first[body];
    const int nv = w->nv[body];
    memset(w->climbed, 0, sizeof(double) * 4 * (size_t)nv);
    s->data->kernels->delassus_climb(m, &s->data->scratch, i, wi, j, wj, m->tree_first_dof[tree], w->climbed, 4);
    for (int lane = 0; lane < 4; lane++) {
        double *Y = w->Y + t->side[side] + (c->row + lane) * width;
        for (int k = 0; c->lanes >> lane & 1 && k < nv; k++) {
            Y[k] += w->climbed[4 * k + lane];
        }
    }
}

static void flush(const kk_model *m, kk_simulator *s, const kki_island *I, climb *c, const kki_tie *t) {
    static const _Alignas(32) double none[6][4] = {{0}};
    if (c->lanes == 0) {
        return;
    }
    const int ti = m->node_tree[c->i], tj = m->node_tree[c->j];
    if (ti == tj) {
        climb_tree(m, s, I, c, ti, c->i, (const double(*)[4])c->wi, c->j, (const double(*)[4])c->wj, t);
    } else {
        if (ti >= 0) {
            climb_tree(m, s, I, c, ti, c->i, (const double(*)[4])c->wi, 0, none, t);
        }
        if (tj >= 0) {
            climb_tree(m, s, I, c, tj, c->j, (const double(*)[4])c->wj, 0, none, t);
        }
    }
    c->lanes = 0;
}

static void build_tie(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *k,
                      const kki_tie *t) {
    climb c = {.lanes = 0};
    for (int n = 0; n < k->nparts; n++) {
        const kki_row_part *p = &s->constraints.part[k->first_part + n];
        const int lane = p->row & 3;
        if (c.lanes == 0 || c.i != p->i || c.j != p->j || c.row != (p->row & ~3) || c.lanes >> lane & 1) {
            flush(m, s, I, &c, t);
            memset(&c, 0, sizeof c);
            c.i = p->i;
            c.j = p->j;
            c.row = p->row & ~3;
        }
        for (int e = 0; e < 6; e++) {
            c.wi[e][lane] = p->wi[e];
            c.wj[e][lane] = p->wj[e];
        }
        c.lanes |= 1 << lane;
    }
    flush(m, s, I, &c, t);
}

typedef struct building {
    const kk_model *m;
    kk_simulator *s;
    const kki_island *I;
} building;

static void answer_some(void *context, int first, int end, int worker) {
    const building *x = context;
    (void)worker;
    for (int t = first; t < end; t++) {
        const int tree = x->s->islands.tree_order[x->I->first_tree + t];
        if (is_lone(x->m, x->m->dof_node[x->m->tree_first_dof[tree]])) {
            answer_units(x->m, x->s, tree, x->I->scratch->sparse.unit + 48 * (size_t)t);
        }
    }
}

/// Rows of lone bodies; those of robots share scratch and wait.
static void build_some(void *context, int first, int end, int worker) {
    const building *x = context;
    kk_simulator *s = x->s;
    (void)worker;
    for (int i = first; i < end; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[x->I->first_constraint + i]];
        const kki_sparse_rows *w = &x->I->scratch->sparse;
        w->is_built[i] = (int8_t)build_lone(x->m, s, x->I, c, &w->tie[i]);
    }
}

static void list_bodies(const kk_model *m, kk_simulator *s, const kki_island *I) {
    kki_sparse_rows *w = &I->scratch->sparse;
    for (int t = 0; t < I->ntree; t++) {
        const int tree = s->islands.tree_order[I->first_tree + t];
        w->first[t] = s->islands.tree_local[tree];
        w->nv[t] = m->tree_first_dof[tree + 1] - m->tree_first_dof[tree];
        w->body_of_tree[tree] = t;
    }
    w->first[I->ntree] = I->nv;
}

void kki_sparse_rows_build(const kk_model *m, kk_simulator *s, const kki_island *I) {
    size_t used = 0;
    I->scratch->sparse.stamp++;
    list_bodies(m, s, I);
    for (int i = 0; i < I->nconstraint; i++) {
        make_tie(m, I, &s->constraints.list[s->constraints.order[I->first_constraint + i]], &I->scratch->sparse.tie[i],
                 &used);
    }
    enum { GRAIN = 64 };
    building x = {m, s, I};
    kki_workers_share(I->scratch->helpers, I->ntree, GRAIN, answer_some, &x);
    kki_workers_share(I->scratch->helpers, I->nconstraint, GRAIN, build_some, &x);
    for (int i = 0; i < I->nconstraint; i++) {
        if (!I->scratch->sparse.is_built[i]) {
            const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
            const kki_tie *t = &I->scratch->sparse.tie[i];
            for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
                const int width = I->scratch->sparse.first[t->body[side] + 1] - I->scratch->sparse.first[t->body[side]];
                memset(I->scratch->sparse.Y + t->side[side], 0,
                       sizeof *I->scratch->sparse.Y * (size_t)(t->nrow * width));
            }
            build_tie(m, s, I, c, t);
        }
    }
}

kki_sparse_problem kki_sparse_rows_problem(const kk_simulator *s, const kki_island *I) {
    const kki_sparse_rows *w = &I->scratch->sparse;
    kki_problem rows = kki_island_problem(s, I, 0);
    rows.Y = NULL;
    rows.span = NULL;
    return (kki_sparse_problem){.rows = rows,
                                .nbody = I->ntree,
                                .ntie = I->nconstraint,
                                .first = w->first,
                                .nv = w->nv,
                                .tie = w->tie,
                                .Y = w->Y,
                                .stamp = w->stamp,
                                .workers = I->scratch->helpers};
}

void kki_sparse_rows_velocity(const kk_simulator *s, const kki_island *I, const double *y, double *r) {
    const kki_sparse_problem p = kki_sparse_rows_problem(s, I);
    kki_sparse_velocity(&p, &I->scratch->sparse.solver, y, r);
    for (int i = I->nrow; i < I->stride; i++) {
        r[i] = 0;
    }
}

void kki_sparse_rows_add(const kk_simulator *s, const kki_island *I, const double *lambda, double *y) {
    const kki_sparse_problem p = kki_sparse_rows_problem(s, I);
    kki_sparse_motion(&p, &I->scratch->sparse.solver, lambda, y);
}

void kki_sparse_rows_add_contact(const kki_island *I, int i, const double l[3], double *y) {
    const kki_sparse_rows *w = &I->scratch->sparse;
    const kki_tie *t = &w->tie[i];
    for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
        const int first = w->first[t->body[side]], width = w->first[t->body[side] + 1] - first;
        const double *Y = w->Y + t->side[side];
        for (int k = 0; k < width; k++) {
            y[first + k] += (Y[k] * l[0] + Y[width + k] * l[1]) + Y[2 * width + k] * l[2];
        }
    }
}

void kki_sparse_rows_velocity_contact(const kki_island *I, int i, const double *y, double u[3]) {
    const kki_sparse_rows *w = &I->scratch->sparse;
    const kki_tie *t = &w->tie[i];
    for (int side = 0; side < 2 && t->body[side] >= 0; side++) {
        const int first = w->first[t->body[side]], width = w->first[t->body[side] + 1] - first;
        const double *Y = w->Y + t->side[side];
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < width; k++) {
                u[r] += Y[r * width + k] * y[first + k];
            }
        }
    }
}

void kki_sparse_rows_own(const kk_simulator *s, const kki_island *I, int row, int rows, double *own) {
    const kki_sparse_problem p = kki_sparse_rows_problem(s, I);
    int low = 0, high = I->nconstraint - 1;
    while (low < high) { // the last tie that begins at or before the row
        const int middle = (low + high + 1) / 2;
        low = p.tie[middle].row <= row ? middle : low;
        high = p.tie[middle].row <= row ? high : middle - 1;
    }
    kki_sparse_own(&p, &p.tie[low], row - p.tie[low].row, rows, own);
}
