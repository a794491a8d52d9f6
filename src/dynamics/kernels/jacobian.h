/// Motion axes of every degree of freedom in world axes about the root's origin, and their rates. One robot only.
///
/// An axis is fixed in its node, so its rate is the node's spatial velocity crossed with it: Ṡ = V × S, both about the point of space
/// where the root's origin is now.
#ifndef KKI_DYNAMICS_KERNELS_JACOBIAN_H
#define KKI_DYNAMICS_KERNELS_JACOBIAN_H

#include "kinematics.h"

/// Axis k of a node, world axes about the node's own origin.
KKI_INLINE spatial node_axis(const knode *b, const world_node *x, int k) {
    if (b->type == KKI_NODE_HINGE) {
        return (spatial){x->R.c[2], v_zero()};
    }
    if (b->type == KKI_NODE_SLIDE) {
        return (spatial){v_zero(), x->R.c[2]};
    }
    if (b->type == KKI_NODE_SCREW) {
        return (spatial){x->R.c[2], v_scale(x->R.c[2], b->pitch)};
    }
    return k < 3 ? (spatial){x->R.c[k], v_zero()} : (spatial){v_zero(), x->R.c[k - 3]};
}

KKI_INLINE void jacobian_axes(const kk_model *m, kki_scratch *S) {
    const world_node *x = S->pose;
    spatial *axis = S->axis;
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        for (int k = 0; k < m->node_nv[i]; k++) {
            axis[b->v_index + k] = motion_at(node_axis(b, &x[i], k), x[i].o);
        }
    }
}

KKI_INLINE void jacobian_rates(const kk_model *m, kki_scratch *S) {
    const world_node *x = S->pose;
    const world_rates *r = S->rates;
    spatial *rate = S->axis_rate;
    for (int i = 1; i < m->nnode; i++) {
        const knode *b = node_of(m, S, i);
        const spatial v = {r[i].w, r[i].u};
        for (int k = 0; k < m->node_nv[i]; k++) {
            rate[b->v_index + k] = motion_at(motion_cross(v, node_axis(b, &x[i], k)), x[i].o);
        }
    }
}

#endif
