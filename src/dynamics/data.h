/// The data: scratch of the algorithms for one robot, and what their readers may look at.
///
/// Nothing in it needs saving. The kernels' element types (kernels/scratch.h) differ by instruction set, but for one robot a 3-vector
/// is always four doubles and a 3 × 3 matrix three such columns, so the structs below describe the same bytes in plain C.
#ifndef KKI_DYNAMICS_DATA_H
#define KKI_DYNAMICS_DATA_H

#include <karakuri/dynamics.h>

#include "dynamics/kernels/kernels.h"

/// A motion or force, as spatial.
typedef struct kki_spatial {
    double a[4], l[4]; ///< angular, linear
} kki_spatial;

/// A degree of freedom behind the kick's factor, as pivot.
typedef struct kki_pivot {
    double Sa[4], Sl[4]; ///< axis, angular and linear
    double Ua[4], Ul[4]; ///< U/D; of a joint's first about the parent's origin
    double inverse_D, e; ///< e: 1/√D
    double unused[2];
} kki_pivot;

/// A node's pose, as world_node.
typedef struct kki_pose {
    double R[3][4]; ///< columns of R_WN
    double r[4];    ///< from the parent's origin, world axes
    double o[4];    ///< from the origin of the tree's root node, world axes
    double p[4];    ///< p_WN
} kki_pose;

/// A node's motion in world axes, as world_rates.
typedef struct kki_rates {
    double w[4], u[4];  ///< angular velocity, velocity of the origin
    double al[4], a[4]; ///< angular acceleration, classical acceleration of the origin
} kki_rates;

/// A node's velocity and bias acceleration in world axes, joints that keep their speed, gravity subtracted; as world_motion.
typedef struct kki_bias {
    double w[4], al[4], a[4];
    double h[4];       ///< mass × center of mass from the origin
    double spin[3][4]; ///< columns of what turns an arm into its acceleration
} kki_bias;

/// A node's motion and load in its own frame, as local_node.
typedef struct kki_local {
    double w[4], al[4];
    double a[4]; ///< classical acceleration of the origin, minus gravity
    double spin[3][4];
    double f[4], n[4]; ///< what the parent puts in, about the origin
} kki_local;

/// Where a node that is not a plain hinge stands in its parent, as local_pose.
typedef struct kki_local_pose {
    double R[3][4], Rt[3][4];
    double p[4];
} kki_local_pose;

/// Everything behind a node about its root's origin: inertia, momentum, and half of Θ (coriolis.c).
typedef struct kki_gathered {
    double mass;
    kk_vec3 h, p;
    kk_sym3 J;
    kk_mat3 half;
} kki_gathered;

/// An axis about its root's origin and its rate (coriolis.c).
typedef struct kki_moving_axis {
    kk_motion S, rate;
} kki_moving_axis;

/// Room for constraint rows that climb the articulated-body factor (delassus.c).
typedef struct kki_rows {
    size_t capacity;  ///< rows; a multiple of 8
    double *Y;        ///< [nv][capacity] what every degree of freedom feels of every row
    double *product;  ///< [capacity] a row of Yᵀ Y
    int32_t *support; ///< [nv] degrees of freedom that feel a row
} kki_rows;

struct kk_data {
    kk_allocator allocator;
    size_t size;
    uint64_t model_hash; ///< of the model that it was made for
    const kki_kernels *kernels;
    kki_scratch scratch;
    kki_factor factor; ///< with the matrices
    double *tangent;   ///< [nv][2 nv padded] ∂τ/∂q beside ∂τ/∂v; with the matrices
    kki_rows rows;
    kki_gathered *gathered;       ///< [nnode] with the matrices
    kki_moving_axis *moving_axis; ///< [nv] with the matrices
    double *coupling_matrix;      ///< [ncoupling²]; NULL where couplings are too many
    double *coupling_force;       ///< [2 ncoupling] and scratch
    double *zero;                 ///< [nv] zeros, for inverse dynamics without velocity or acceleration
    double *vector;               ///< [nv padded] scratch
    double *neutral;              ///< [nq] every joint at zero
    kk_force *external;           ///< [nbody] forces of the last inverse dynamics, if it had any
    int has_external;
};

/// A data without matrices that lacks what its owner never calls. @param lacks  KKI_LACKS_… of kernels.h
kk_status kki_data_create_without(const kk_model *model, unsigned lacks, const kk_allocator *allocator, kk_data **data);

/// From now on it is a data of `model`, a variation of the one that it was made for, or that itself.
void kki_data_turn_to(kk_data *data, const kk_model *model);

static inline kk_vec3 kki_vec3(const double a[4]) {
    return kk_vec3_make(a[0], a[1], a[2]);
}
static inline kk_mat3 kki_mat3(const double c[3][4]) {
    return kk_mat3_from_columns(kki_vec3(c[0]), kki_vec3(c[1]), kki_vec3(c[2]));
}
static inline const kki_pose *kki_pose_of(const kk_data *d, int node) {
    return (const kki_pose *)d->scratch.pose + node;
}
static inline const kki_pivot *kki_pivot_of(const kk_data *d, int dof) {
    return (const kki_pivot *)d->scratch.pivot + dof;
}
static inline const kki_rates *kki_rates_of(const kk_data *d, int node) {
    return (const kki_rates *)d->scratch.rates + node;
}
static inline const kki_bias *kki_bias_of(const kk_data *d, int node) {
    return (const kki_bias *)d->scratch.motion + node;
}
static inline kki_local *kki_local_of(const kk_data *d, int node) {
    return (kki_local *)d->scratch.local + node;
}
/// What the parent puts into a node, in the node's frame about its origin, after inverse dynamics.
static inline kk_force kki_node_load(const kk_data *d, int node) {
    const kki_local *s = (const kki_local *)d->scratch.local + node;
    return kk_force_make(kki_vec3(s->n), kki_vec3(s->f));
}
static inline kk_transform kki_node_transform(const kk_data *d, int node) {
    const kki_pose *x = kki_pose_of(d, node);
    return kk_transform_make(kki_mat3(x->R), kki_vec3(x->p));
}

/// For those who call kk_kinematics and read poses, lengths of tendons and diagonals, and nothing else: a tenth of the memory.
kk_status kki_data_create_for_poses(const kk_model *model, const kk_allocator *allocator, kk_data **data);

/// Whether the data was made for this model, or for one that is the same in every number.
static inline int kki_fits(const kk_model *model, const kk_data *data) {
    return data->model_hash == model->hash;
}

/// kk_joint_wrench of all bodies at once, O(nbody). @param wrench [nbody] result
void kki_joint_wrenches(const kk_model *model, const kk_data *data, kk_force *wrench);
/// X_PN of a node in its parent, after inverse dynamics.
kk_transform kki_node_in_parent(const kk_model *model, const kk_data *data, int node);

/// Axis of a degree of freedom in world axes about its node's origin, after kk_kinematics.
kk_motion kki_axis_of(const kk_model *model, const kk_data *data, int dof);

/// Constraint rows, however they are written down. Wrenches are in world axes.
typedef struct kki_row_source {
    const void *rows;
    /// Lets rows first … first + count − 1 climb into as many columns of Y, which are zero.
    void (*climb)(const kk_model *model, const kk_data *data, const void *rows, int first, int count, double *Y);
    /// Lists the degrees of freedom that feel a row; gives how many.
    int (*support)(const kk_model *model, const void *rows, int row, int32_t *list);
} kki_row_source;

/// G = Yᵀ Y of n rows, after delassus_prepare. @param G [n × n] result, both triangles
void kki_delassus(const kk_model *model, const kk_data *data, const kki_row_source *source, int n, double *G);
/// The degrees of freedom before either of two, each once and itself included, from the largest down; −1 is the world.
int kki_union_of_branches(const kk_model *model, int dof, int other, int32_t *list);

/// X ← M⁻¹ X with the factor, whole rows at a time: the fast way to many right-hand sides.
/// @param X  [nv × stride] row-major, 32-byte aligned; stride a multiple of 4 not below `columns`, padding is written
void kki_inertia_solve_rows(const kk_model *model, const kk_data *data, double *X, size_t columns, size_t stride);

/// What a reader gives for an id that does not exist: nothing that could pass for a result.
static inline kk_vec3 kki_nowhere(void) {
    return kk_vec3_make(__builtin_nan(""), __builtin_nan(""), __builtin_nan(""));
}
static inline int kki_has_body(const kk_model *m, int body) {
    return body >= 0 && body < m->nbody;
}
static inline int kki_has_frame(const kk_model *m, int frame) {
    return frame >= 0 && frame < m->nframe;
}

#endif
