/// The shortest way round a sphere or a cylinder.
///
/// A sphere is passed in the plane of its center and both ends, a cylinder in its cross-section: there the way is a tangent, an arc of radius r,
/// and a tangent. Seen from the center the way turns by Φ; of that a tangent from a distance d takes α, cos α = r/d, and the arc what is left,
///     arc = r (|Φ| − α₀ − α₁).
/// Without rest the straight line passes by. With a side s, Φ is the turn of the broken line a → s → b, which may be more than half a turn;
/// without, that of the straight line. Along a cylinder the way is a helix: its height grows evenly with the length in the cross-section.
///
/// A side inside the obstacle keeps the tendon inside: the way touches the wall from within at one point, where it is reflected (Fermat). With
/// x the angle between the way and the wall's normal, γ the angle between both ends, A = r/d₀ and B = r/d₁, that is
///     asin(A sin x) + asin(B sin x) − 2 x + γ = 0.
#include "dynamics/wrap.h"

#include <karakuri/elementary.h>

/// Lengths below this are none, m.
static const double NOTHING = 1e-15;

/// What the search for the point of reflection may leave of its equation, rad: MuJoCo's number, so that the same model has the same moment arms. The length is off
/// by the square of that.
static const double REFLECTED = 1e-6;
enum { MOST_REFLECTIONS = 20 };

typedef struct flat {
    double x, y;
} flat;

static double dot(flat a, flat b) {
    return a.x * b.x + a.y * b.y;
}

static double cross(flat a, flat b) {
    return a.x * b.y - a.y * b.x;
}

static flat scaled(flat a, double s) {
    return (flat){s * a.x, s * a.y};
}

static double length_of(flat a) {
    return kk_sqrt(dot(a, a));
}

/// Turn from a to b, between −π and π; half a turn counts as positive.
static double turn_between(flat a, flat b) {
    return kk_atan2(cross(a, b) + 0.0, dot(a, b));
}

static flat turned(flat a, double cosine, double sine) {
    return (flat){cosine * a.x - sine * a.y, sine * a.x + cosine * a.y};
}

/// In the cross-section: places relative to the center.
typedef struct section {
    flat end[2], touch[2];
    double radius, arc;
    double straight[2]; ///< lengths of both tangents
} section;

// ---- round the outside

/// @param turn  of the way about the center
static int wrap_outside(section *x, double turn) {
    const double r = x->radius, way = turn < 0 ? -1 : 1;
    double rest = __builtin_fabs(turn);
    for (int k = 0; k < 2; k++) {
        const double square = dot(x->end[k], x->end[k]), left = square - r * r;
        if (left < 0) {
            return 0; // an end inside
        }
        x->straight[k] = kk_sqrt(left);
        rest -= kk_atan2(x->straight[k], r);
        const double side = k == 0 ? way : -way;
        x->touch[k] = scaled(turned(x->end[k], r, side * x->straight[k]), r / square);
    }
    x->arc = r * rest;
    return rest >= 0;
}

// ---- through the inside

static int passes_inside(const section *x) {
    const flat a = x->end[0], d = {x->end[1].x - a.x, x->end[1].y - a.y};
    const double square = dot(d, d), at = square > NOTHING ? -dot(d, a) / square : 0;
    const flat nearest = {a.x + at * d.x, a.y + at * d.y};
    return at > 0 && at < 1 && length_of(nearest) <= x->radius;
}

/// asin(A sin x), and its slope.
static double refracted(double A, double x, double *slope) {
    const double sine = A * kk_sin(x);
    *slope = A * kk_cos(x) / kk_sqrt(1 - sine * sine);
    return kk_asin(sine);
}

/// The angle x by Newton's method from a grazing way on, from where it falls without overshooting; −1 where there is none.
static double find_reflection(double A, double B, double gamma) {
    double x = KK_PI / 2;
    for (int i = 0; i < MOST_REFLECTIONS; i++) {
        double slope[2];
        const double f = refracted(A, x, &slope[0]) + refracted(B, x, &slope[1]) - 2 * x + gamma;
        if (f > (i == 0 ? 0 : REFLECTED)) {
            return -1; // the wall turns away from both ends
        }
        if (f >= -REFLECTED) {
            return x;
        }
        x -= f / (slope[0] + slope[1] - 2);
    }
    return -1;
}

static int wrap_inside(section *x) {
    const double r = x->radius, d[2] = {length_of(x->end[0]), length_of(x->end[1])};
    if (d[0] <= r || d[1] <= r || passes_inside(x)) {
        return 0;
    }
    const double gamma = __builtin_fabs(turn_between(x->end[0], x->end[1]));
    const flat sum = {x->end[0].x + x->end[1].x, x->end[0].y + x->end[1].y};
    const double size = length_of(sum);
    x->touch[0] = size > NOTHING ? scaled(sum, r / size) : (flat){r, 0}; // between both, where nothing better is found
    const double incidence = find_reflection(r / d[0], r / d[1], gamma);
    if (incidence >= 0) {
        const int from = cross(x->end[0], x->end[1]) > 0 ? 0 : 1; // the end from which the other is to the left
        const double angle = incidence - kk_asin(r / d[from] * kk_sin(incidence));
        x->touch[0] = scaled(turned(x->end[from], kk_cos(angle), kk_sin(angle)), r / d[from]);
    }
    x->touch[1] = x->touch[0];
    x->arc = 0;
    for (int k = 0; k < 2; k++) {
        const flat way = {x->end[k].x - x->touch[k].x, x->end[k].y - x->touch[k].y};
        x->straight[k] = length_of(way);
    }
    return 1;
}

// ---- in space

/// Two axes of the plane through the center and both ends.
static void plane_of(const kk_vec3 p[2], kk_vec3 axis[2]) {
    axis[0] = kk_vec3_scale(p[0], 1 / kk_vec3_norm(p[0]));
    kk_vec3 normal = kk_vec3_cross(p[0], p[1]);
    if (kk_vec3_norm(normal) < NOTHING) { // in line: any plane; the same one as MuJoCo's
        const double x = __builtin_fabs(axis[0].x), y = __builtin_fabs(axis[0].y), z = __builtin_fabs(axis[0].z);
        const int largest = z > x && z > y ? 2 : y > x && y > z ? 1 : 0;
        normal = kk_vec3_cross(axis[0], kk_vec3_make(largest != 0, largest != 1, largest != 2));
    }
    normal = kk_vec3_scale(normal, 1 / kk_vec3_norm(normal));
    axis[1] = kk_vec3_cross(normal, axis[0]);
}

static flat projected(kk_vec3 p, const kk_vec3 axis[2]) {
    return (flat){kk_vec3_dot(p, axis[0]), kk_vec3_dot(p, axis[1])};
}

static int wrap_section(section *x, const kki_obstacle *o, const kk_vec3 axis[2]) {
    if (!o->has_side) {
        return wrap_outside(x, turn_between(x->end[0], x->end[1]));
    }
    const flat side = projected(kk_transform_point(kk_transform_inverse(o->X_WS), o->side), axis);
    if (length_of(side) < x->radius) {
        return wrap_inside(x);
    }
    return wrap_outside(x, turn_between(x->end[0], side) + turn_between(side, x->end[1]));
}

/// Heights along a cylinder grow evenly.
static double climb(const section *x, const kk_vec3 p[2], double z[2]) {
    const double whole = x->straight[0] + x->arc + x->straight[1], rise = p[1].z - p[0].z;
    const double rate = whole > 0 ? rise / whole : 0;
    z[0] = p[0].z + rate * x->straight[0];
    z[1] = p[0].z + rate * (x->straight[0] + x->arc);
    return kk_sqrt(x->arc * x->arc + (z[1] - z[0]) * (z[1] - z[0]));
}

int kki_wrap(const kki_obstacle *obstacle, kk_vec3 a, kk_vec3 b, kk_vec3 touch[2], double *arc) {
    const kk_transform X_SW = kk_transform_inverse(obstacle->X_WS);
    const kk_vec3 p[2] = {kk_transform_point(X_SW, a), kk_transform_point(X_SW, b)};
    kk_vec3 axis[2] = {{1, 0, 0}, {0, 1, 0}};
    section x = {.radius = obstacle->radius};
    double z[2] = {0, 0};
    if (kk_vec3_norm(p[0]) < NOTHING || kk_vec3_norm(p[1]) < NOTHING) {
        return 0;
    }
    if (!obstacle->is_cylinder) {
        plane_of(p, axis);
    }
    x.end[0] = projected(p[0], axis);
    x.end[1] = projected(p[1], axis);
    if (!wrap_section(&x, obstacle, axis)) {
        return 0;
    }
    *arc = obstacle->is_cylinder ? climb(&x, p, z) : x.arc;
    for (int k = 0; k < 2; k++) {
        kk_vec3 t = kk_vec3_add(kk_vec3_scale(axis[0], x.touch[k].x), kk_vec3_scale(axis[1], x.touch[k].y));
        t.z += z[k];
        touch[k] = kk_transform_point(obstacle->X_WS, t);
    }
    return 1;
}
