/// Value types, the part that does not fit a header: rotations from and to their other forms, two bodies welded.
///
/// Rotation vector r = θ u, quaternion (cos θ/2, u sin θ/2). Both maps are written in the half angle, where nothing
/// cancels, so that they keep full relative precision from θ = 0 to θ = π. Where θ² would underflow the first term of
/// the series is exact.
/// Reference: S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1(3), 1978.
#include <karakuri/elementary.h>
#include <karakuri/math.h>

/// Below this square the first term of either series is exact to rounding; above it squares are far from underflow.
static const double TINY_SQUARE = 0x1p-120;

// each of 4 w², 4 x², 4 y², 4 z² from the diagonal; the largest is at least 1, so dividing by its root is safe
static kk_quat quat_from_largest(kk_mat3 R, int largest, double four_square) {
    const double *m = R.m;
    const double root = kk_sqrt(four_square), s = 0.5 / root, half = 0.5 * root;
    switch (largest) {
    case 0: return (kk_quat){half, (m[7] - m[5]) * s, (m[2] - m[6]) * s, (m[3] - m[1]) * s};
    case 1: return (kk_quat){(m[7] - m[5]) * s, half, (m[1] + m[3]) * s, (m[2] + m[6]) * s};
    case 2: return (kk_quat){(m[2] - m[6]) * s, (m[1] + m[3]) * s, half, (m[5] + m[7]) * s};
    default: return (kk_quat){(m[3] - m[1]) * s, (m[2] + m[6]) * s, (m[5] + m[7]) * s, half};
    }
}

kk_quat kk_quat_from_mat3(kk_mat3 R) {
    const double x = R.m[0], y = R.m[4], z = R.m[8];
    const double four_square[4] = {1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z};
    int largest = 0;
    for (int i = 1; i < 4; i++) {
        if (four_square[i] > four_square[largest]) {
            largest = i;
        }
    }
    const kk_quat q = kk_quat_normalize(quat_from_largest(R, largest, four_square[largest]));
    return q.w < 0 ? (kk_quat){-q.w, -q.x, -q.y, -q.z} : q;
}

kk_quat kk_quat_exp(kk_vec3 r) {
    const double square = kk_vec3_dot(r, r);
    if (square < TINY_SQUARE) {
        return (kk_quat){1, 0.5 * r.x, 0.5 * r.y, 0.5 * r.z};
    }
    const double angle = kk_sqrt(square);
    double sine, cosine;
    kk_sincos(0.5 * angle, &sine, &cosine);
    const double s = sine / angle;
    return (kk_quat){cosine, s * r.x, s * r.y, s * r.z};
}

kk_vec3 kk_quat_log(kk_quat q) {
    // q and −q are one rotation; the one with w ≥ 0 is the short way round
    const double sign = q.w < 0 ? -1.0 : 1.0, w = sign * q.w;
    const kk_vec3 u = kk_vec3_make(sign * q.x, sign * q.y, sign * q.z);
    const double square = kk_vec3_dot(u, u);
    if (square < TINY_SQUARE) {
        return kk_vec3_scale(u, 2.0 / w);
    }
    const double sine = kk_sqrt(square);
    return kk_vec3_scale(u, 2.0 * kk_atan2(sine, w) / sine);
}

kk_mat3 kk_mat3_from_axis_angle(kk_vec3 axis, double angle) {
    double s, c;
    kk_sincos(angle, &s, &c);
    const double x = axis.x, y = axis.y, z = axis.z, d = 1 - c;
    return (kk_mat3){{c + d * x * x, d * x * y - s * z, d * x * z + s * y,   //
                      d * x * y + s * z, c + d * y * y, d * y * z - s * x,   //
                      d * x * z - s * y, d * y * z + s * x, c + d * z * z}}; //
}

kk_mat3 kk_mat3_from_rpy(double roll, double pitch, double yaw) {
    double sr, cr, sp, cp, sy, cy;
    kk_sincos(roll, &sr, &cr);
    kk_sincos(pitch, &sp, &cp);
    kk_sincos(yaw, &sy, &cy);
    return (kk_mat3){{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, //
                      sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr, //
                      -sp, cp * sr, cp * cr}};                                 //
}

kk_inertia kk_inertia_add(kk_inertia a, kk_inertia b) {
    const double mass = a.mass + b.mass;
    kk_inertia r = {mass, {0, 0, 0}, kk_sym3_add(a.moment, b.moment)};
    if (mass == 0) {
        return r;
    }
    // the two masses circle their common center like one reduced mass at their distance
    const kk_vec3 apart = kk_vec3_sub(b.com, a.com);
    const double share = b.mass / mass;
    r.com = kk_vec3_add(a.com, kk_vec3_scale(apart, share));
    r.moment = kk_sym3_add(r.moment, kk_sym3_point_mass(a.mass * share, apart));
    return r;
}
