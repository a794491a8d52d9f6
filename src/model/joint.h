/// Joint types as data: how many coordinates, and which chain of nodes each becomes.
#ifndef KKI_MODEL_JOINT_H
#define KKI_MODEL_JOINT_H

#include "model/model.h"

enum { KKI_MAX_JOINT_NODES = 3 };

/// Which direction of the joint's frame becomes a node's z.
typedef enum kki_joint_axis {
    KKI_AXIS_NONE,   ///< the node keeps the joint's axes
    KKI_AXIS_FIRST,  ///< the joint's axis
    KKI_AXIS_SECOND, ///< the joint's axis2
    KKI_AXIS_CROSS,  ///< axis × axis2
} kki_joint_axis;

typedef struct kki_joint_type {
    const char *name;
    int nq, nv, nnode;
    struct {
        kki_node_type type;
        kki_joint_axis axis;
    } node[KKI_MAX_JOINT_NODES];
} kki_joint_type;

/// NULL for a number that is no type.
const kki_joint_type *kki_joint_type_of(kk_joint_type type);

/// Coordinates and degrees of freedom of a node.
static inline int kki_node_type_nq(kki_node_type type) {
    return type == KKI_NODE_FREE ? 7 : type == KKI_NODE_BALL ? 4 : type == KKI_NODE_WORLD ? 0 : 1;
}
static inline int kki_node_type_nv(kki_node_type type) {
    return type == KKI_NODE_FREE ? 6 : type == KKI_NODE_BALL ? 3 : type == KKI_NODE_WORLD ? 0 : 1;
}

/// The unit directions of a joint's frame, by kki_joint_axis. Axes must have been checked.
typedef struct kki_joint_axes {
    kk_vec3 unit[4];
} kki_joint_axes;
kki_joint_axes kki_joint_axes_of(const kk_joint_def *joint);

/// A vector of length 1, exact along coordinate axes; (0, 0, 0) for a zero vector. No overflow, no underflow.
kk_vec3 kki_unit(kk_vec3 a);
/// R with column z = the given unit vector. A signed permutation, so exact, if z is a coordinate axis or its opposite.
kk_mat3 kki_rotation_with_z(kk_vec3 z);

#endif
