/// Rows of constraints as wrenches on nodes; for the files of this folder.
///
/// A row is a wrench on one node and the opposite one on another (contacts, loops), or on a node and its parent along a joint's axis (limits, dry
/// friction, couplings): a unit force on a degree of freedom is a unit wrench along its axis on its node with the opposite on the node's parent.
#ifndef KKI_SIMULATE_CONSTRAINT_WRENCH_H
#define KKI_SIMULATE_CONSTRAINT_WRENCH_H

#include <string.h>

#include "simulate/constraint.h"

/// Made anew wherever it is called.
#define QUICK static inline __attribute__((always_inline))

static inline kki_constraint *kki_constraint_begin(kk_simulator *s, kki_constraint_kind kind, int item) {
    kki_constraint *c = &s->constraints.list[s->constraints.count];
    c->kind = (int32_t)kind; // member by member: whole, it would be zeroed by a slow string instruction
    c->item = item;
    c->side = c->nrow = c->nblock = c->npositions = c->sticks = c->gives = 0;
    c->first_part = s->constraints.nparts;
    c->dof[0] = c->dof[1] = -1;
    c->gap[0] = 0;
    return c;
}

static inline void kki_constraint_end(kk_simulator *s, kki_constraint *c) {
    c->nparts = s->constraints.nparts - c->first_part;
    s->constraints.count++;
}

/// Its wrenches are the caller's to fill.
static inline kki_row_part *kki_constraint_part(kk_simulator *s, int row, int i, int j) {
    kki_row_part *p = &s->constraints.part[s->constraints.nparts++];
    p->row = row;
    p->i = i;
    p->j = j;
    p->dof = -1;
    return p;
}

static inline void put(double w[6], kk_vec3 n, kk_vec3 f, double sign) {
    w[0] = sign * n.x;
    w[1] = sign * n.y;
    w[2] = sign * n.z;
    w[3] = sign * f.x;
    w[4] = sign * f.y;
    w[5] = sign * f.z;
}

static inline kk_vec3 origin(const kk_simulator *s, int node) {
    return kki_vec3(kki_pose_of(s->data, node)->p);
}

static inline double size_of(kk_vec3 a) {
    return __builtin_fabs(a.x) + __builtin_fabs(a.y) + __builtin_fabs(a.z);
}

/// Where forces act: the point from the origins of both nodes, and what of a moment is but rounding of the point's coordinates.
typedef struct lever {
    int i, j;
    kk_vec3 arm_i, arm_j;
    double rounding;
} lever;

static inline lever lever_of(const kk_simulator *s, int i, int j, kk_vec3 point) {
    return (lever){i, j, kk_vec3_sub(point, origin(s, i)), kk_vec3_sub(point, origin(s, j)), 1e-15 * size_of(point)};
}

/// Three directions side by side, two and one of them, component by component: what acts at one point is found for all three at once.
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_bits __attribute__((vector_size(16)));
typedef struct triad {
    pair c[3][2];
} triad;

static inline triad triad_of(kk_vec3 a, kk_vec3 b, kk_vec3 c) {
    return (triad){{{{a.x, b.x}, {c.x, 0}}, {{a.y, b.y}, {c.y, 0}}, {{a.z, b.z}, {c.z, 0}}}};
}

static inline pair size_of_pair(pair a) {
    return (pair)((pair_bits)a & INT64_MAX);
}

/// One side of forces along d: arm × d, or nothing where that is rounding (a ball that is pushed at its center does not turn; what is no number stays
/// none), and d itself. What the world feels nobody asks. @param part  three of them    @param w  of the first the side's wrench
static inline void put_forces(kki_row_part *part, double *w, int node, kk_vec3 arm, const triad *d, double rounding,
                              double sign) {
    enum { NEXT = sizeof *part / sizeof *w };
    for (int r = 0; r < 3 && node == 0; r++) {
        memset(w + r * NEXT, 0, sizeof part->wi);
    }
    for (int h = 0; h < 2 && node != 0; h++) {
        const pair x = d->c[0][h], y = d->c[1][h], z = d->c[2][h];
        const pair nx = arm.y * z - arm.z * y, ny = arm.z * x - arm.x * z, nz = arm.x * y - arm.y * x;
        const pair size = size_of_pair(nx) + size_of_pair(ny) + size_of_pair(nz);
        const pair_bits felt = ~(pair_bits)(size <= rounding);
        const pair all[6] = {
            (pair)((pair_bits)nx & felt), (pair)((pair_bits)ny & felt), (pair)((pair_bits)nz & felt), x, y, z};
        for (int k = 0; k < 6; k++) {
            const pair a = all[k] * sign;
            w[2 * h * NEXT + k] = a[0];
            if (h == 0) {
                w[NEXT + k] = a[1];
            }
        }
    }
}

/// Forces along three directions: on node i, and their opposites on node j.
QUICK void force_parts(kk_simulator *s, int row, const lever *at, const triad *d) {
    kki_row_part *p = &s->constraints.part[s->constraints.nparts];
    for (int r = 0; r < 3; r++) {
        kki_constraint_part(s, row + r, at->i, at->j);
    }
    put_forces(p, p->wi, at->i, at->arm_i, d, at->rounding, 1);
    put_forces(p, p->wj, at->j, at->arm_j, d, at->rounding, -1);
}

/// A moment about d: on node i, and its opposite on node j.
static inline void moment_part(kk_simulator *s, int row, int i, int j, kk_vec3 d) {
    kki_row_part *p = kki_constraint_part(s, row, i, j);
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    put(p->wi, d, none, 1);
    put(p->wj, d, none, -1);
}

#endif
