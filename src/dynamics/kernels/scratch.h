/// Scratch of the kernels: what one data holds for one robot, or a batch for a laneful of robots.
#ifndef KKI_DYNAMICS_KERNELS_SCRATCH_H
#define KKI_DYNAMICS_KERNELS_SCRATCH_H

#include "algebra.h"

typedef struct {
    vec3 a, l; ///< angular, linear
} spatial;

/// A node's motion and load in its own frame (inverse dynamics).
typedef struct {
    vec3 w, al; ///< angular velocity and acceleration
    vec3 a;     ///< classical acceleration of the origin, minus gravity
    mat3 spin;  ///< m_spin(w, al)
    vec3 f, n;  ///< force and moment that the parent puts in, about the origin
} local_node;

#if KKI_LANES == 1
/// A node's motion and gravity in its own frame (energies).
typedef struct {
    vec3 w, u; ///< angular velocity, velocity of the origin
    vec3 g;    ///< gravity
    real fall; ///< g · p of the origin
} swing;
#endif

/// Pose of nodes that are not plain hinges, in the parent's frame (inverse dynamics).
typedef struct {
    mat3 R, Rt; ///< R_PN and its transpose
    vec3 p;     ///< p_PN
} local_pose;

/// A node in world axes about its own origin (everything but inverse dynamics).
typedef struct {
    mat3 R; ///< R_WN
    vec3 r; ///< from the parent's origin to this one
    vec3 o; ///< from the origin of the tree's root node to this one
    vec3 p; ///< p_WN
} world_node;

/// Velocity and acceleration of a node in world axes.
typedef struct {
    vec3 w, u;  ///< angular velocity, velocity of the origin
    vec3 al, a; ///< angular acceleration, classical acceleration of the origin
} world_rates;

/// Velocity and bias acceleration of a node in world axes (q̈ = 0, gravity subtracted).
typedef struct {
    vec3 w, al, a;
    vec3 h; ///< mass × center of mass from the origin
    mat3 spin;
} world_motion;

/// Articulated inertia [J Gᵀ; G M] and force [n; f] of a node in world axes about its own origin; deviation acceleration (al, a).
typedef struct {
    sym3 J, M;
    mat3 G;
    vec3 n, f;
    vec3 al, a;
} articulated;

/// Inertia [J Gᵀ; G M] of a node in its own frame: its own or articulated.
typedef struct {
    sym3 J, M;
    mat3 G;
} link_inertia;

/// Deviation from the bias acceleration, in the node's frame.
typedef struct {
    vec3 al, a;
} link_motion;

/// Composite inertia of the subtree behind a node.
typedef struct {
    sym3 J;
    vec3 h;
    real m;
} composite;

/// A degree of freedom eliminated from the articulated inertia: U = Iᴬ S, 1/D with D = SᵀU + armature, e = τ − S·p.
typedef struct {
    vec3 Sa, Sl; ///< axis, angular and linear part, world axes about the node's origin
    vec3 Ua, Ul;
    real inverse_D;
    real e;
#if KKI_LANES == 1
    real unused[2]; // so that it lies the same in both shapes, and kki_pivot reads it
#endif
} pivot;

#endif
