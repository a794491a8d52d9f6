/// Motion axes of every degree of freedom in world axes about the root's origin, and their rates. One robot only.
///
/// An axis is fixed in its node, so its rate is the node's spatial velocity crossed with it: Ṡ = V × S, both about the point of space
/// where the root's origin is now.
#ifndef KKI_DYNAMICS_KERNELS_JACOBIAN_H
#define KKI_DYNAMICS_KERNELS_JACOBIAN_H

#include "kinematics.h"

typedef struct {
    vec3 a, l; ///< angular, linear
} spatial;

/// Axis k of a node, world axes about the node's own origin.
KKI_INLINE spatial node_axis(const kki_node *b, const world_node *x, int k) {
    if (b->type == KKI_NODE_HINGE) {
        return (spatial){x->R.c[2], v_zero()};
    }
    if (b->type == KKI_NODE_SLIDE) {
        return (spatial){v_zero(), x->R.c[2]};
    }
    if (b->type == KKI_NODE_SCREW) {
        return (spatial){x->R.c[2], v_scale(x->R.c[2], r_const(b->pitch))};
    }
    return k < 3 ? (spatial){x->R.c[k], v_zero()} : (spatial){v_zero(), x->R.c[k - 3]};
}

/// A motion about the point o away, and a force likewise.
KKI_INLINE spatial motion_at(spatial s, vec3 o) { return (spatial){s.a, v_add(s.l, v_cross(o, s.a))}; }
KKI_INLINE spatial force_at(spatial s, vec3 o) { return (spatial){v_add(s.a, v_cross(o, s.l)), s.l}; }

KKI_INLINE spatial motion_cross(spatial v, spatial s) {
    return (spatial){v_cross(v.a, s.a), v_add(v_cross(v.a, s.l), v_cross(v.l, s.a))};
}

KKI_INLINE void jacobian_axes(const kk_model *m, kki_scratch *S) {
    const size_t padded = kki_padded(m->nv);
    const world_node *x = S->pose;
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *b = &m->node[i];
        for (int k = 0; k < m->node_nv[i]; k++) {
            const spatial s = motion_at(node_axis(b, &x[i], k), x[i].o);
            put_column(S->axis, padded, (size_t)(b->v_index + k), s.a, s.l);
        }
    }
}

KKI_INLINE void jacobian_rates(const kk_model *m, kki_scratch *S) {
    const size_t padded = kki_padded(m->nv);
    const world_node *x = S->pose;
    const world_rates *r = S->rates;
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *b = &m->node[i];
        const spatial v = {r[i].w, r[i].u};
        for (int k = 0; k < m->node_nv[i]; k++) {
            const spatial s = motion_at(motion_cross(v, node_axis(b, &x[i], k)), x[i].o);
            put_column(S->axis_rate, padded, (size_t)(b->v_index + k), s.a, s.l);
        }
    }
}

#endif
