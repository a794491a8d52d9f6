/// Where shapes are and how far they get in half a step: what both ways of looking for pairs share.
#ifndef KKI_SIMULATE_NEAR_SHAPES_H
#define KKI_SIMULATE_NEAR_SHAPES_H

#include "simulate/near.h"
#include "simulate/simulator.h"

/// All pairs are to be looked at.
void kki_near_forget(kki_near *n);

/// Near pairs by groups, for few shapes; returns how many.
int kki_near_by_groups(const kk_model *m, kk_simulator *s);

/// Poses, balls and reaches of shapes.
void kki_near_place(kk_simulator *s, const int32_t *shape, int count);

/// Puts a shape behind `count` others that are to be placed, where it is not yet; gives how many there are then. Shapes of the world stay where they are.
static inline int kki_near_add(kk_simulator *s, int32_t i, int32_t *list, int count) {
    const int is_new =
        (s->shapes.placed[i] != s->shapes.stamp) & ((s->near.owner[i].node != 0) | (s->shapes.placed[i] == 0));
    list[count] = i;
    s->shapes.placed[i] = s->shapes.stamp;
    return count + is_new;
}

static inline void kki_near_want(kk_simulator *s, int i) {
    int32_t one;
    if (kki_near_add(s, i, &one, 0)) {
        kki_near_place(s, &one, 1);
    }
}

/// Half steps in which gaps may close: two where a link comes down on the world. Links among themselves are as fast as their robot, though not against each other: they are
/// looked at within half a step.
static inline double kki_near_halves(int node_a, int is_link_a, int node_b, int is_link_b) {
    return 1 + (((node_a == 0) & is_link_b) | ((node_b == 0) & is_link_a)); // no branches
}

/// How far apart two shapes that are placed may be and still meet before contacts are looked at next, m.
static inline double kki_near_reach(const kk_simulator *s, int a, int b) {
    const kki_owner *A = &s->near.owner[a], *B = &s->near.owner[b];
    return kki_near_halves(A->node, A->is_link, B->node, B->is_link) * (s->shapes.reach[a] + s->shapes.reach[b]);
}

/// Time in which gaps may close, s, or half of it.
static inline double kki_near_half(const kk_simulator *s) {
    return kki_is_overlapping_only(s) ? 0 : 0.5 * s->h;
}

/// Gap below which a pair always counts, m: contacts at rest must not come and go with rounding.
static inline double kki_near_always(const kk_model *m, const kk_simulator *s) {
    const double kept = 1e-4, *g = m->gravity;
    return kki_is_overlapping_only(s) ? kept : kept + s->h * s->h * kk_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

#endif
