/// Islands: trees tied together by constraints. What is not tied together does not wait for each other.
///
/// Islands are numbered by their first tree, constraints keep their order within one, and rows of an island begin at a
/// multiple of four; all of it depends on the list of constraints alone.
#include "base/error.h"
#include "base/sets.h"
#include "simulate/island.h"

static int tree_of_dof(const kk_model *m, int dof) {
    return dof < 0 ? -1 : m->node_tree[m->dof_node[dof]];
}

/// tree_island: the number of each tree's island, −1 where nothing holds it.
static void number_islands(const kk_model *m, kk_simulator *s) {
    int32_t *parent = s->islands.tree_order, *island = s->islands.tree_island;
    for (int t = 0; t < m->ntree; t++) {
        parent[t] = t;
        island[t] = -1;
    }
    for (int i = 0; i < s->constraints.count; i++) {
        kki_constraint *c = &s->constraints.list[i];
        if (i > 0 && c->dof[0] == c[-1].dof[0] && c->dof[1] == c[-1].dof[1]) { // points of one face follow one another
            c->island = c[-1].island;
            continue;
        }
        const int a = tree_of_dof(m, c->dof[0]), b = tree_of_dof(m, c->dof[1]);
        if (a >= 0 && b >= 0) {
            kki_sets_unite(parent, a, b);
        }
        c->island = a >= 0 ? a : b; // a tree of its, until islands have numbers
    }
    for (int i = 0; i < s->constraints.count; i++) {
        if (i == 0 || s->constraints.list[i].island != s->constraints.list[i - 1].island) {
            island[kki_sets_find(parent, s->constraints.list[i].island)] = 0; // this one counts
        }
    }
    s->islands.count = 0;
    for (int t = 0; t < m->ntree; t++) {
        const int root = kki_sets_find(parent, t);
        if (root == t && island[t] == 0) {
            s->islands.list[s->islands.count] = (kki_island){0};
            island[t] = s->islands.count++;
        } else {
            island[t] = root == t ? -1 : island[root];
        }
    }
}

/// From how many rows on an island of several trees is one of many: fewer where few digits are asked for, or where next to nothing moves,
/// so that no sliding that would have to stop inside the step is lost.
static int many_rows(const kk_simulator *s, const kki_island *I) {
    return s->options.tolerance >= KKI_SPARSE_COARSE_TOLERANCE ? KKI_SPARSE_FEW_ROWS
           : I->speed <= KKI_SPARSE_STILL                      ? KKI_SPARSE_STILL_ROWS
                                                               : KKI_SPARSE_ROWS;
}

/// Whether the sparse solver takes it: many bodies, or sweeps alone, which are cheapest where rows are short.
static int is_sparse(const kk_simulator *s, const kki_island *I) {
    const int many = I->ntree >= KKI_SPARSE_TREES && I->nrow > many_rows(s, I);
    const int sweeps = s->effort.sweeps > 0 && I->ntree > 1 && I->nrow > KKI_SPARSE_SWEPT;
    return s->islands.padded_width > 0 && !s->paper && (many || sweeps || I->nrow > KKI_SPARSE_ALWAYS);
}

/// A pile, or a robot with more rows than degrees of freedom.
static int is_jammed(const kki_island *I) {
    return I->is_sparse || (I->has_robot && I->nrow > I->nv);
}

/// What its rows make of an island.
static void judge_rows(const kk_simulator *s, kki_island *I) {
    I->stride = (I->nrow + 3) & ~3;
    I->is_sparse = is_sparse(s, I);
    I->keeps_gaps = is_jammed(I) && s->effort.sweeps == 0 && I->speed > KKI_MOVES;
}

/// A robot alone in the world: one island, in the order of its constraints.
static void take_all(const kk_model *m, kk_simulator *s) {
    const int alone = m->nv == 6 && kki_is_lone(m, m->dof_node[0]);
    kki_island *I = &s->islands.list[0];
    *I = (kki_island){.ntree = 1, .nv = m->nv, .has_robot = !alone, .speed = kki_largest(m->nv, s->motion.v)};
    int rows = 0, blocks = 0;
    for (int i = 0; i < s->constraints.count; i++) {
        kki_constraint *c = &s->constraints.list[i];
        s->constraints.order[i] = i;
        c->island = 0;
        c->row = rows;
        c->block = blocks;
        rows += c->nrow;
        blocks += c->nblock;
    }
    I->nconstraint = s->constraints.count;
    I->nrow = rows;
    I->nblock = blocks;
    judge_rows(s, I);
    I->nv = I->is_sparse ? kki_round8(m->nv) : m->nv;
    s->islands.tree_island[0] = s->islands.tree_order[0] = s->islands.tree_local[0] = 0;
    s->islands.count = 1;
}

/// Counts what each island has, then where it begins.
static void measure_islands(const kk_model *m, kk_simulator *s) {
    for (int t = 0; t < m->ntree; t++) {
        if (s->islands.tree_island[t] >= 0) {
            kki_island *I = &s->islands.list[s->islands.tree_island[t]];
            const int first = m->tree_first_dof[t], count = m->tree_first_dof[t + 1] - first;
            const double speed = kki_largest(count, s->motion.v + first);
            I->ntree++;
            I->nv += count;
            I->has_robot |= count != 6 || !kki_is_lone(m, m->dof_node[first]);
            I->speed = speed > I->speed ? speed : I->speed;
        }
    }
    for (int i = 0; i < s->constraints.count; i++) {
        kki_constraint *c = &s->constraints.list[i];
        c->island = s->islands.tree_island[c->island];
        kki_island *I = &s->islands.list[c->island];
        I->nconstraint++;
        I->nrow += c->nrow;
        I->nblock += c->nblock;
    }
    int constraints = 0, trees = 0, rows = 0, blocks = 0;
    for (int i = 0; i < s->islands.count; i++) {
        kki_island *I = &s->islands.list[i];
        judge_rows(s, I);
        I->first_constraint = constraints;
        I->first_tree = trees;
        I->first_row = rows;
        I->first_block = blocks;
        constraints += I->nconstraint;
        trees += I->ntree;
        rows += I->stride;
        blocks += I->nblock;
    }
}

/// Puts trees and constraints behind each other, island by island.
static void fill_islands(const kk_model *m, kk_simulator *s) {
    for (int i = 0; i < s->islands.count; i++) {
        s->islands.list[i].nconstraint = s->islands.list[i].ntree = s->islands.list[i].nrow =
            s->islands.list[i].nblock = 0;
        s->islands.list[i].nv = 0;
    }
    for (int t = 0; t < m->ntree; t++) {
        if (s->islands.tree_island[t] >= 0) {
            kki_island *I = &s->islands.list[s->islands.tree_island[t]];
            s->islands.tree_order[I->first_tree + I->ntree++] = t;
            const int count = m->tree_first_dof[t + 1] - m->tree_first_dof[t];
            s->islands.tree_local[t] = I->nv;
            I->nv += I->is_sparse ? kki_round8(count) : count;
        }
    }
    for (int i = 0; i < s->constraints.count; i++) {
        kki_constraint *c = &s->constraints.list[i];
        kki_island *I = &s->islands.list[c->island];
        s->constraints.order[I->first_constraint + I->nconstraint++] = i;
        c->row = I->first_row + I->nrow;
        c->block = I->first_block + I->nblock;
        I->nrow += c->nrow;
        I->nblock += c->nblock;
    }
}

/// Room in the solvers.
static void ask_for_island(kk_simulator *s, const kki_island *I) {
    const kki_room *have = &s->room;
    kki_room *lacking = &s->lacking.room;
    if (!I->is_sparse) {
        kki_room_ask(I->nrow, have->dense_rows, &lacking->dense_rows);
    }
    if (I->is_sparse) {
        kki_room_ask(I->ntree, have->sparse_bodies, &lacking->sparse_bodies);
        kki_room_ask(I->nconstraint, have->sparse_ties, &lacking->sparse_ties);
        kki_room_ask(I->stride, have->sparse_rows, &lacking->sparse_rows);
        kki_room_ask(I->nblock, have->sparse_blocks, &lacking->sparse_blocks);
        kki_room_ask(I->nv, have->sparse_coordinates, &lacking->sparse_coordinates);
    }
}

kk_status kki_find_islands(const kk_model *model, kk_simulator *s, kk_error *error) {
    s->islands.count = 0;
    if (s->constraints.count == 0) {
        return KK_OK;
    }
    const int is_one = model->ntree == 1;
    if (is_one) {
        take_all(model, s);
    } else {
        number_islands(model, s);
        measure_islands(model, s);
        fill_islands(model, s);
    }
    for (int i = 0; i < s->islands.count; i++) {
        if (!s->islands.list[i].is_sparse && !s->paper) { // papers know bodies, and no coordinates made of wrenches
            kki_wrench_basis_choose(s, &s->islands.list[i]);
        }
        s->islands.list[i].scratch = s->workers.scratch; // until others take some
        s->islands.list[i].report = &s->report;
        ask_for_island(s, &s->islands.list[i]);
    }
    const int rows = s->lacking.room.dense_rows;
    if (rows > KKI_MOST_DENSE_ROWS) {
        s->lacking.room.dense_rows = 0; // there is none to be had
        return kki_error_set(
            error, KK_LIMIT_EXCEEDED,
            "constrain: %d rows hang together, %d is the most; take apart what touches, or use fewer contact points",
            rows, (int)KKI_MOST_DENSE_ROWS);
    }
    return kki_room_status(s);
}
