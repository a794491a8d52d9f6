/// Where shapes are, how far they get in half a step, and how far they are from planes: what both ways of looking for pairs share.
#ifndef KKI_SIMULATE_NEAR_SHAPES_H
#define KKI_SIMULATE_NEAR_SHAPES_H

#include "simulate/near.h"
#include "simulate/simulator.h"

/// Whether a group is a plane of the world.
static inline int kki_near_is_plane(const kki_near *n, int group) {
    return n->group[group].shape >= 0 && n->outline[n->group[group].shape].is_plane;
}

/// All pairs are to be looked at.
void kki_near_forget(kki_near *n);

/// Near pairs by groups, for few shapes; returns how many.
int kki_near_by_groups(const kk_model *m, kk_simulator *s);

/// Pose, ball and reach of a shape.
void kki_near_place(kk_simulator *s, int i);

/// Shapes of the world stay where they are.
static inline void kki_near_want(kk_simulator *s, int i) {
    if (s->placed[i] != s->stamp && (s->near.owner[i].node || s->placed[i] == 0)) {
        kki_near_place(s, i);
    }
}

/// Half steps in which gaps may close: two where a link comes down on the world. Links among themselves are as fast as their robot, though not against each other: they are
/// looked at within half a step.
static inline double kki_near_halves(int node_a, int is_link_a, int node_b, int is_link_b) {
    return (node_a == 0 && is_link_b) || (node_b == 0 && is_link_a) ? 2 : 1;
}

/// How far apart two shapes that are placed may be and still meet before contacts are looked at next, m.
static inline double kki_near_reach(const kk_simulator *s, int a, int b) {
    const kki_owner *A = &s->near.owner[a], *B = &s->near.owner[b];
    return kki_near_halves(A->node, A->is_link, B->node, B->is_link) * (s->reach[a] + s->reach[b]);
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

/// Of a ball's centre over a plane.
static inline double kki_near_height(const kk_transform *plane, const double *ball) {
    const kk_vec3 n = kk_mat3_column(plane->R, 2), c = kk_vec3_make(ball[0], ball[1], ball[2]);
    return kk_vec3_dot(n, kk_vec3_sub(c, plane->p));
}

/// Half the width of a shape's box along a direction of the world.
static inline double kki_near_half_width(const kk_simulator *s, int shape, kk_vec3 d) {
    const kk_vec3 t = kk_mat3_tmul_vec(s->X_WS[shape].R, d);
    const double *h = s->near.outline[shape].half;
    return __builtin_fabs(t.x) * h[0] + __builtin_fabs(t.y) * h[1] + __builtin_fabs(t.z) * h[2];
}

/// How far a shape is over a plane at least; not above `reach` where they may meet.
static inline double kki_near_over_plane(const kk_simulator *s, int plane, int shape, double reach) {
    const double *ball = s->ball + 4 * (size_t)shape;
    const double height = kki_near_height(&s->X_WS[plane], ball);
    if (height > ball[3] + reach || s->near.outline[shape].is_ball || height <= reach) {
        return height - ball[3];
    }
    return height - kki_near_half_width(s, shape, kk_mat3_column(s->X_WS[plane].R, 2));
}

#endif
