/// Small value types by value: vectors, rotations, rigid transforms, spatial vectors.
///
/// Notation (docs/maths/notation.md): p_AB is the position of B's origin seen from A in A's axes; R_AB turns B's axes into A's;
/// X_AB is both. Spatial vectors are [angular; linear] everywhere: a motion is [ω; v of the point at the frame's origin], a force is
/// [moment about the frame's origin; force]. Quaternions are (w, x, y, z).
#ifndef KARAKURI_MATH_H
#define KARAKURI_MATH_H

#include <karakuri/elementary.h>

KK_BEGIN_DECLS

typedef struct kk_vec3 {
    double x, y, z;
} kk_vec3;

/// Row-major: m[3 * row + column].
typedef struct kk_mat3 {
    double m[9];
} kk_mat3;

typedef struct kk_quat {
    double w, x, y, z;
} kk_quat;

/// Pose of frame B in frame A: a point is p_A = R p_B + p.
typedef struct kk_transform {
    kk_mat3 R;
    kk_vec3 p;
} kk_transform;

/// Spatial velocity or acceleration.
typedef struct kk_motion {
    kk_vec3 angular, linear;
} kk_motion;

/// Spatial force (wrench): moment about the frame's origin, and force.
typedef struct kk_force {
    kk_vec3 angular, linear;
} kk_force;

/// Symmetric 3 × 3.
typedef struct kk_sym3 {
    double xx, yy, zz, xy, xz, yz;
} kk_sym3;

/// Rigid-body inertia in a frame: mass, center of mass, moments about the *center of mass* along the frame's axes.
typedef struct kk_inertia {
    double mass;
    kk_vec3 com;
    kk_sym3 moment;
} kk_inertia;

// ---- vec3

static inline kk_vec3 kk_vec3_make(double x, double y, double z) {
    kk_vec3 r = {x, y, z};
    return r;
}
/// Component k: 0, 1 or 2. (A pointer to x does not lead to y: compilers know that, and make rubbish of it.)
static inline double kk_vec3_get(kk_vec3 a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }
static inline kk_vec3 kk_vec3_add(kk_vec3 a, kk_vec3 b) { return kk_vec3_make(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline kk_vec3 kk_vec3_sub(kk_vec3 a, kk_vec3 b) { return kk_vec3_make(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline kk_vec3 kk_vec3_neg(kk_vec3 a) { return kk_vec3_make(-a.x, -a.y, -a.z); }
static inline kk_vec3 kk_vec3_scale(kk_vec3 a, double s) { return kk_vec3_make(a.x * s, a.y * s, a.z * s); }
static inline double kk_vec3_dot(kk_vec3 a, kk_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline kk_vec3 kk_vec3_cross(kk_vec3 a, kk_vec3 b) {
    return kk_vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double kk_vec3_norm(kk_vec3 a) { return kk_sqrt(kk_vec3_dot(a, a)); }

// ---- mat3

static inline kk_mat3 kk_mat3_identity(void) {
    kk_mat3 r = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    return r;
}
static inline kk_vec3 kk_mat3_mul_vec(kk_mat3 a, kk_vec3 b) {
    return kk_vec3_make(a.m[0] * b.x + a.m[1] * b.y + a.m[2] * b.z, a.m[3] * b.x + a.m[4] * b.y + a.m[5] * b.z,
                        a.m[6] * b.x + a.m[7] * b.y + a.m[8] * b.z);
}
/// aᵀ b, the inverse rotation.
static inline kk_vec3 kk_mat3_tmul_vec(kk_mat3 a, kk_vec3 b) {
    return kk_vec3_make(a.m[0] * b.x + a.m[3] * b.y + a.m[6] * b.z, a.m[1] * b.x + a.m[4] * b.y + a.m[7] * b.z,
                        a.m[2] * b.x + a.m[5] * b.y + a.m[8] * b.z);
}
static inline kk_mat3 kk_mat3_mul(kk_mat3 a, kk_mat3 b) {
    kk_mat3 r;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            r.m[3 * i + j] = a.m[3 * i] * b.m[j] + a.m[3 * i + 1] * b.m[3 + j] + a.m[3 * i + 2] * b.m[6 + j];
        }
    }
    return r;
}
static inline kk_mat3 kk_mat3_transpose(kk_mat3 a) {
    kk_mat3 r = {{a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8]}};
    return r;
}
static inline kk_vec3 kk_mat3_column(kk_mat3 a, int j) { return kk_vec3_make(a.m[j], a.m[3 + j], a.m[6 + j]); }
static inline kk_mat3 kk_mat3_from_columns(kk_vec3 x, kk_vec3 y, kk_vec3 z) {
    kk_mat3 r = {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
    return r;
}

// ---- sym3

static inline kk_vec3 kk_sym3_mul_vec(kk_sym3 a, kk_vec3 b) {
    return kk_vec3_make(a.xx * b.x + a.xy * b.y + a.xz * b.z, a.xy * b.x + a.yy * b.y + a.yz * b.z,
                        a.xz * b.x + a.yz * b.y + a.zz * b.z);
}
static inline kk_mat3 kk_sym3_to_mat3(kk_sym3 a) {
    kk_mat3 r = {{a.xx, a.xy, a.xz, a.xy, a.yy, a.yz, a.xz, a.yz, a.zz}};
    return r;
}
static inline kk_sym3 kk_sym3_add(kk_sym3 a, kk_sym3 b) {
    kk_sym3 r = {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
    return r;
}
/// R S Rᵀ.
static inline kk_sym3 kk_sym3_rotate(kk_mat3 R, kk_sym3 S) {
    const kk_mat3 T = kk_mat3_mul(kk_mat3_mul(R, kk_sym3_to_mat3(S)), kk_mat3_transpose(R));
    kk_sym3 r = {T.m[0], T.m[4], T.m[8], T.m[1], T.m[2], T.m[5]};
    return r;
}
/// The inertia of a point mass m at c about the origin: m (cᵀc 1 − c cᵀ).
static inline kk_sym3 kk_sym3_point_mass(double m, kk_vec3 c) {
    kk_sym3 r = {m * (c.y * c.y + c.z * c.z),
                 m * (c.x * c.x + c.z * c.z),
                 m * (c.x * c.x + c.y * c.y),
                 -m * (c.x * c.y),
                 -m * (c.x * c.z),
                 -m * (c.y * c.z)};
    return r;
}

// ---- quaternion

static inline kk_quat kk_quat_identity(void) {
    kk_quat r = {1, 0, 0, 0};
    return r;
}
static inline kk_quat kk_quat_mul(kk_quat a, kk_quat b) {
    kk_quat r = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                 a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
    return r;
}
static inline kk_quat kk_quat_conjugate(kk_quat a) {
    kk_quat r = {a.w, -a.x, -a.y, -a.z};
    return r;
}
static inline kk_quat kk_quat_normalize(kk_quat a) {
    const double s = 1.0 / kk_sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
    kk_quat r = {a.w * s, a.x * s, a.y * s, a.z * s};
    return r;
}
/// Rotation matrix of a unit quaternion.
static inline kk_mat3 kk_quat_to_mat3(kk_quat q) {
    const double x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    const double xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    const double wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    kk_mat3 r = {{1 - (yy + zz), xy - wz, xz + wy, xy + wz, 1 - (xx + zz), yz - wx, xz - wy, yz + wx, 1 - (xx + yy)}};
    return r;
}
/// Unit quaternion of a rotation matrix (Shepperd's choice of the largest component; w ≥ 0).
KK_API kk_quat kk_quat_from_mat3(kk_mat3 R);
/// exp of half the rotation vector: the quaternion that turns by |r| about r.
KK_API kk_quat kk_quat_exp(kk_vec3 r);
/// The rotation vector of a unit quaternion, of length ≤ π.
KK_API kk_vec3 kk_quat_log(kk_quat q);
/// Rotation about a unit axis.
KK_API kk_mat3 kk_mat3_from_axis_angle(kk_vec3 axis, double angle);
/// URDF's fixed-axis roll, pitch, yaw: Rz(yaw) Ry(pitch) Rx(roll).
KK_API kk_mat3 kk_mat3_from_rpy(double roll, double pitch, double yaw);

// ---- transform

static inline kk_transform kk_transform_make(kk_mat3 R, kk_vec3 p) {
    kk_transform r = {R, p};
    return r;
}
static inline kk_transform kk_transform_identity(void) {
    return kk_transform_make(kk_mat3_identity(), kk_vec3_make(0, 0, 0));
}
static inline kk_transform kk_transform_translation(double x, double y, double z) {
    return kk_transform_make(kk_mat3_identity(), kk_vec3_make(x, y, z));
}
static inline kk_vec3 kk_transform_point(kk_transform X, kk_vec3 p) {
    return kk_vec3_add(kk_mat3_mul_vec(X.R, p), X.p);
}
/// X_AC = X_AB X_BC.
static inline kk_transform kk_transform_mul(kk_transform a, kk_transform b) {
    return kk_transform_make(kk_mat3_mul(a.R, b.R), kk_transform_point(a, b.p));
}
static inline kk_transform kk_transform_inverse(kk_transform a) {
    return kk_transform_make(kk_mat3_transpose(a.R), kk_vec3_neg(kk_mat3_tmul_vec(a.R, a.p)));
}

// ---- spatial vectors

static inline kk_motion kk_motion_make(kk_vec3 angular, kk_vec3 linear) {
    kk_motion r = {angular, linear};
    return r;
}
static inline kk_force kk_force_make(kk_vec3 angular, kk_vec3 linear) {
    kk_force r = {angular, linear};
    return r;
}
static inline kk_motion kk_motion_add(kk_motion a, kk_motion b) {
    return kk_motion_make(kk_vec3_add(a.angular, b.angular), kk_vec3_add(a.linear, b.linear));
}
static inline kk_motion kk_motion_sub(kk_motion a, kk_motion b) {
    return kk_motion_make(kk_vec3_sub(a.angular, b.angular), kk_vec3_sub(a.linear, b.linear));
}
static inline kk_motion kk_motion_scale(kk_motion a, double s) {
    return kk_motion_make(kk_vec3_scale(a.angular, s), kk_vec3_scale(a.linear, s));
}
static inline kk_force kk_force_add(kk_force a, kk_force b) {
    return kk_force_make(kk_vec3_add(a.angular, b.angular), kk_vec3_add(a.linear, b.linear));
}
static inline kk_force kk_force_sub(kk_force a, kk_force b) {
    return kk_force_make(kk_vec3_sub(a.angular, b.angular), kk_vec3_sub(a.linear, b.linear));
}
/// Power: motion · force.
static inline double kk_motion_dot(kk_motion v, kk_force f) {
    return kk_vec3_dot(v.angular, f.angular) + kk_vec3_dot(v.linear, f.linear);
}
/// A motion given in B (axes and origin), seen in A.
static inline kk_motion kk_motion_to(kk_transform X_AB, kk_motion v_B) {
    const kk_vec3 w = kk_mat3_mul_vec(X_AB.R, v_B.angular);
    return kk_motion_make(w, kk_vec3_add(kk_mat3_mul_vec(X_AB.R, v_B.linear), kk_vec3_cross(X_AB.p, w)));
}
/// A motion given in A, seen in B: the inverse of kk_motion_to.
static inline kk_motion kk_motion_from(kk_transform X_AB, kk_motion v_A) {
    const kk_vec3 v = kk_vec3_sub(v_A.linear, kk_vec3_cross(X_AB.p, v_A.angular));
    return kk_motion_make(kk_mat3_tmul_vec(X_AB.R, v_A.angular), kk_mat3_tmul_vec(X_AB.R, v));
}
/// A force given in B, seen in A.
static inline kk_force kk_force_to(kk_transform X_AB, kk_force f_B) {
    const kk_vec3 f = kk_mat3_mul_vec(X_AB.R, f_B.linear);
    return kk_force_make(kk_vec3_add(kk_mat3_mul_vec(X_AB.R, f_B.angular), kk_vec3_cross(X_AB.p, f)), f);
}
/// A force given in A, seen in B.
static inline kk_force kk_force_from(kk_transform X_AB, kk_force f_A) {
    const kk_vec3 n = kk_vec3_sub(f_A.angular, kk_vec3_cross(X_AB.p, f_A.linear));
    return kk_force_make(kk_mat3_tmul_vec(X_AB.R, n), kk_mat3_tmul_vec(X_AB.R, f_A.linear));
}
/// v × m, the rate of a motion fixed in a frame that moves with v.
static inline kk_motion kk_motion_cross(kk_motion v, kk_motion m) {
    return kk_motion_make(kk_vec3_cross(v.angular, m.angular),
                          kk_vec3_add(kk_vec3_cross(v.angular, m.linear), kk_vec3_cross(v.linear, m.angular)));
}
/// v ×* f, the same for a force.
static inline kk_force kk_motion_cross_force(kk_motion v, kk_force f) {
    return kk_force_make(kk_vec3_add(kk_vec3_cross(v.angular, f.angular), kk_vec3_cross(v.linear, f.linear)),
                         kk_vec3_cross(v.angular, f.linear));
}
/// Momentum I v of a rigid body, both in the inertia's frame.
static inline kk_force kk_inertia_mul(kk_inertia I, kk_motion v) {
    // v of the center of mass, then its momentum carried back to the origin
    const kk_vec3 p = kk_vec3_scale(kk_vec3_add(v.linear, kk_vec3_cross(v.angular, I.com)), I.mass);
    return kk_force_make(kk_vec3_add(kk_sym3_mul_vec(I.moment, v.angular), kk_vec3_cross(I.com, p)), p);
}
/// An inertia given in B, seen in A.
static inline kk_inertia kk_inertia_to(kk_transform X_AB, kk_inertia I) {
    kk_inertia r = {I.mass, kk_transform_point(X_AB, I.com), kk_sym3_rotate(X_AB.R, I.moment)};
    return r;
}
/// Two bodies welded together, both inertias in one frame. Masses must not both be zero unless both moments are the answer.
KK_API kk_inertia kk_inertia_add(kk_inertia a, kk_inertia b);

KK_END_DECLS
#endif
