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

/// A node's motion and load in its own frame, as local_node.
typedef struct kki_local {
    double w[4], al[4];
    double a[4]; ///< classical acceleration of the origin, minus gravity
    double spin[3][4];
    double f[4], n[4]; ///< what the parent puts in, about the origin
} kki_local;

struct kk_data {
    kk_allocator allocator;
    size_t size;
    const kki_kernels *kernels;
    kki_scratch scratch;
    double *zero;   ///< [nv] zeros, for inverse dynamics without velocity or acceleration
    double *vector; ///< [nv padded] scratch
    double *neutral;    ///< [nq] every joint at zero
    kk_force *external; ///< [nbody] forces of the last inverse dynamics, if it had any
    int has_external;
};

static inline kk_vec3 kki_vec3(const double a[4]) { return kk_vec3_make(a[0], a[1], a[2]); }
static inline kk_mat3 kki_mat3(const double c[3][4]) {
    return kk_mat3_from_columns(kki_vec3(c[0]), kki_vec3(c[1]), kki_vec3(c[2]));
}
static inline const kki_pose *kki_pose_of(const kk_data *d, int node) { return (const kki_pose *)d->scratch.pose + node; }
static inline const kki_rates *kki_rates_of(const kk_data *d, int node) { return (const kki_rates *)d->scratch.rates + node; }
static inline kki_local *kki_local_of(const kk_data *d, int node) { return (kki_local *)d->scratch.local + node; }
static inline kk_transform kki_node_transform(const kk_data *d, int node) {
    const kki_pose *x = kki_pose_of(d, node);
    return kk_transform_make(kki_mat3(x->R), kki_vec3(x->p));
}

#endif
