// A point against point, segment, box, cylinder, cone and ellipsoid.
//
// Bodies of revolution are dealt with in the half plane (ρ, z), ρ ≥ 0. The ellipsoid's nearest point is x_i = e_i² p_i /
// (e_i² + t), where t is the largest root of Σ (e_i p_i / (e_i² + t))² = 1 (Eberly 2013, "Distance from a point to an
// ellipse, an ellipsoid"): a strictly convex falling function of t, so Newton from the left end never overshoots.
#include "collision/point.h"

#include <stdbool.h>

static double absolute(double x) {
    return x < 0 ? -x : x;
}

static kk_vec3 unit_or(kk_vec3 v, double norm, kk_vec3 otherwise) {
    return norm > 0 ? kk_vec3_scale(v, 1 / norm) : otherwise;
}

static void from_nearest(kk_vec3 p, kk_vec3 nearest, kk_vec3 otherwise, kki_point_distance *r) {
    const kk_vec3 off = kk_vec3_sub(p, nearest);
    r->distance = kk_vec3_norm(off);
    r->normal = unit_or(off, r->distance, otherwise);
    r->nearest = nearest;
}

static double clamped(double x, double half) {
    return x < -half ? -half : (x > half ? half : x);
}

static void point_segment(const kki_core *core, kk_vec3 p, kki_point_distance *r) {
    from_nearest(p, kk_vec3_make(0, 0, clamped(p.z, core->half[2])), kk_vec3_make(1, 0, 0), r);
}

static void point_box(const kki_core *core, kk_vec3 p, kki_point_distance *r) {
    const double h[3] = {core->half[0], core->half[1], core->half[2]}, q[3] = {p.x, p.y, p.z};
    int axis = 0;
    bool inside = true;
    double room = h[0] - absolute(q[0]);
    for (int i = 0; i < 3; i++) {
        const double left = h[i] - absolute(q[i]);
        inside &= left >= 0;
        if (left < room) {
            room = left;
            axis = i;
        }
    }
    const double s = q[axis] < 0 ? -1 : 1;
    const kk_vec3 n = {axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0};
    if (!inside) {
        from_nearest(p, kk_vec3_make(clamped(p.x, h[0]), clamped(p.y, h[1]), clamped(p.z, h[2])), n, r);
        return;
    }
    *r = (kki_point_distance){-room, n, kk_vec3_add(p, kk_vec3_scale(n, room))};
}

// A point (ρ, z) of the half plane back to space, along p's own meridian.
static kk_vec3 turned(kk_vec3 p, double rho, double u, double z) {
    return rho > 0 ? kk_vec3_make(p.x / rho * u, p.y / rho * u, z) : kk_vec3_make(u, 0, z);
}

static void point_cylinder(const kki_core *core, kk_vec3 p, kki_point_distance *r) {
    const double rho = kk_hypot(p.x, p.y), radius = core->half[0], h = core->half[2];
    const double side = rho - radius, cap = absolute(p.z) - h, s = p.z < 0 ? -1 : 1;
    if (side <= 0 && cap <= 0) {
        if (side >= cap) {
            *r = (kki_point_distance){side, turned(p, rho, 1, 0), turned(p, rho, radius, p.z)};
        } else {
            *r = (kki_point_distance){cap, {0, 0, s}, {p.x, p.y, s * h}};
        }
        return;
    }
    const kk_vec3 nearest = {side > 0 ? p.x * (radius / rho) : p.x, side > 0 ? p.y * (radius / rho) : p.y,
                             clamped(p.z, h)};
    from_nearest(p, nearest, cap > side ? kk_vec3_make(0, 0, s) : turned(p, rho, 1, 0), r);
}

// The slant from the rim (radius, −h) to the tip (0, h), with outward normal (2h, radius) / length in (ρ, z).
static void point_cone(const kki_core *core, kk_vec3 p, kki_point_distance *r) {
    const double rho = kk_hypot(p.x, p.y), radius = core->half[0], h = core->half[2];
    const double length = kk_hypot(radius, 2 * h);
    const double nu = length > 0 ? 2 * h / length : 0, nz = length > 0 ? radius / length : 1;
    const double slant = nu * rho + nz * (p.z - h), base = -h - p.z;
    if (slant <= 0 && base <= 0) {
        if (slant >= base) {
            const double u = rho - slant * nu;
            *r = (kki_point_distance){slant, turned(p, rho, nu, nz), turned(p, rho, u, p.z - slant * nz)};
        } else {
            *r = (kki_point_distance){base, {0, 0, -1}, {p.x, p.y, -h}};
        }
        return;
    }
    if (p.z <= -h && rho <= radius) {
        *r = (kki_point_distance){base, {0, 0, -1}, {p.x, p.y, -h}};
        return;
    }
    // along the slant: 0 at the rim, length at the tip
    const double along = length > 0 ? ((radius - rho) * radius + (p.z + h) * (2 * h)) / length : 0;
    const double t = along < 0 ? 0 : (along > length ? length : along);
    const double k = length > 0 ? t / length : 0;
    const kk_vec3 normal = turned(p, rho, nu, nz);
    if (along > 0 && along < length) {
        *r = (kki_point_distance){slant, normal, turned(p, rho, radius * (1 - k), -h + 2 * h * k)};
    } else {
        from_nearest(p, turned(p, rho, radius * (1 - k), -h + 2 * h * k), normal, r);
    }
}

// ---- ellipsoid

static double ellipsoid_excess(const double above[3], const double ep[3], double t, double *slope) {
    double sum = -1;
    *slope = 0;
    for (int i = 0; i < 3; i++) {
        const double d = above[i] + t, q = d > 0 ? ep[i] / d : 0;
        sum += q * q;
        *slope -= d > 0 ? 2 * q * q / d : 0;
    }
    return sum;
}

// On the middle plane of the shortest axis, near the center, the largest root is the pole t = −e² itself: the nearest
// point leaves the plane of symmetry and is found from the equation of the surface.
static void ellipsoid_at_pole(const double half[3], const double p[3], int shortest, double x[3]) {
    double rest = 1;
    const double m2 = half[shortest] * half[shortest];
    for (int i = 0; i < 3; i++) {
        const double d = half[i] * half[i] - m2;
        x[i] = 0;
        if (i != shortest && d > 0) {
            const double s = half[i] * p[i] / d; // x_i / e_i
            x[i] = half[i] * s;
            rest -= s * s;
        }
    }
    x[shortest] = half[shortest] * kk_sqrt(rest > 0 ? rest : 0) * (p[shortest] < 0 ? -1 : 1);
}

// The unknown is counted from the last pole, t + e_min², so that points near the center keep their digits.
static void ellipsoid_nearest(const double half[3], const double p[3], double x[3]) {
    double above[3], ep[3], slope, t = 0;
    int shortest = half[1] < half[0];
    shortest = half[2] < half[shortest] ? 2 : shortest;
    for (int i = 0; i < 3; i++) {
        above[i] = (half[i] - half[shortest]) * (half[i] + half[shortest]);
        ep[i] = half[i] * p[i];
        const double left = absolute(ep[i]) - above[i]; // each term alone is 1 there: the root is to the right of all
        t = left > t ? left : t;
    }
    if (!(t > 0) && ellipsoid_excess(above, ep, 0, &slope) <= 0) {
        ellipsoid_at_pole(half, p, shortest, x);
        return;
    }
    for (int i = 0; i < 64; i++) {
        const double g = ellipsoid_excess(above, ep, t, &slope);
        const double next = slope < 0 ? t - g / slope : t;
        if (!(next > t)) {
            break;
        }
        t = next;
    }
    for (int i = 0; i < 3; i++) {
        x[i] = above[i] + t > 0 ? half[i] * (ep[i] / (above[i] + t)) : 0;
    }
}

static int point_ellipsoid(const kki_core *core, kk_vec3 p, kki_point_distance *r) {
    const double *e = core->half, q[3] = {p.x, p.y, p.z};
    if (!(e[0] > 0 && e[1] > 0 && e[2] > 0)) {
        return 0;
    }
    double x[3];
    ellipsoid_nearest(e, q, x);
    const double inside = (q[0] / e[0]) * (q[0] / e[0]) + (q[1] / e[1]) * (q[1] / e[1]) + (q[2] / e[2]) * (q[2] / e[2]);
    const kk_vec3 gradient = {x[0] / (e[0] * e[0]), x[1] / (e[1] * e[1]), x[2] / (e[2] * e[2])};
    const double norm = kk_vec3_norm(gradient);
    r->normal = unit_or(gradient, norm, kk_vec3_make(0, 0, 1));
    r->nearest = kk_vec3_make(x[0], x[1], x[2]);
    const double d = kk_vec3_norm(kk_vec3_sub(p, r->nearest));
    r->distance = inside < 1 ? -d : d;
    return 1;
}

int kki_core_point_distance(const kki_core *core, kk_vec3 p, kki_point_distance *result) {
    switch (core->type) {
    case KKI_CORE_POINT: from_nearest(p, kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 1), result); return 1;
    case KKI_CORE_SEGMENT: point_segment(core, p, result); return 1;
    case KKI_CORE_BOX: point_box(core, p, result); return 1;
    case KKI_CORE_CYLINDER: point_cylinder(core, p, result); return 1;
    case KKI_CORE_CONE: point_cone(core, p, result); return 1;
    case KKI_CORE_ELLIPSOID: return point_ellipsoid(core, p, result);
    default: return 0;
    }
}
