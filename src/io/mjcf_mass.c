/// Mass properties of MJCF's primitives, solid and as shells, by MuJoCo's sizes (half lengths).
///
/// The shell of an ellipsoid is what MuJoCo takes for it: a layer that is EPSILON thick along the axes, with Thomsen's
/// formula for the area. The differences are written out, since subtracting the two solids would lose digits.
#include "io/mjcf.h"

static const double EPSILON = 1e-6, THOMSEN = 1.6075;

static kki_mass of_moments(double volume, double xx, double yy, double zz) {
    return (kki_mass){.volume = volume, .moment = {xx, yy, zz, 0, 0, 0}};
}

static kki_mass solid(kk_shape_type type, const double s[3]) {
    switch (type) {
    case KK_SHAPE_SPHERE: return kki_mass_sphere(s[0]);
    case KK_SHAPE_CAPSULE: return kki_mass_capsule(s[0], 2 * s[1]);
    case KK_SHAPE_CYLINDER: return kki_mass_cylinder(s[0], 2 * s[1]);
    case KK_SHAPE_ELLIPSOID: return kki_mass_ellipsoid(s[0], s[1], s[2]);
    case KK_SHAPE_BOX:
    case KK_SHAPE_HEIGHT_FIELD: return kki_mass_box(2 * s[0], 2 * s[1], 2 * s[2]);
    default: return (kki_mass){0};
    }
}

static kki_mass sphere_shell(double r) {
    const double area = 4 * KK_PI * r * r, i = area * 2 * r * r / 3;
    return of_moments(area, i, i, i);
}

/// Side and two half spheres, whose centers of mass are half a radius above their rims.
static kki_mass capsule_shell(double r, double half) {
    const double side = 4 * KK_PI * r * half, caps = 4 * KK_PI * r * r, h = 2 * half;
    const double across = side * (6 * r * r + h * h) / 12 + caps * (2 * r * r / 3 + half * half + half * r);
    return of_moments(side + caps, across, across, side * r * r + caps * 2 * r * r / 3);
}

static kki_mass cylinder_shell(double r, double half) {
    const double side = 4 * KK_PI * r * half, discs = 2 * KK_PI * r * r, h = 2 * half;
    const double across = side * (6 * r * r + h * h) / 12 + discs * (r * r / 4 + half * half);
    return of_moments(side + discs, across, across, side * r * r + discs * r * r / 2);
}

/// Of a face pair at ±z with half sides x, y: its share of the moments about x, y, z.
static kki_mass face_pair(double x, double y, double z) {
    const double area = 8 * x * y;
    return of_moments(area, area * (y * y / 3 + z * z), area * (x * x / 3 + z * z), area * (x * x + y * y) / 3);
}

static kki_mass box_shell(double x, double y, double z) {
    const kki_mass a = face_pair(x, y, z), b = face_pair(y, z, x), c = face_pair(z, x, y);
    return of_moments(a.volume + b.volume + c.volume, a.moment.xx + b.moment.zz + c.moment.yy,
                      a.moment.yy + b.moment.xx + c.moment.zz, a.moment.zz + b.moment.yy + c.moment.xx);
}

/// V(a + ε) f(a + ε) − V(a) f(a) with f = p² + q², of unit density, over the difference of volumes.
static double layer_moment(double p, double q, double volume_ratio) {
    const double pe = p + EPSILON, qe = q + EPSILON;
    return (pe * pe + qe * qe + volume_ratio * EPSILON * (2 * (p + q) + 2 * EPSILON)) / 5;
}

static kki_mass ellipsoid_shell(double a, double b, double c) {
    const double sum = kk_pow(a * b, THOMSEN) + kk_pow(b * c, THOMSEN) + kk_pow(c * a, THOMSEN);
    const double area = 4 * KK_PI * kk_pow(sum / 3, 1 / THOMSEN);
    const double layer = EPSILON * (a * b + b * c + c * a + EPSILON * (a + b + c + EPSILON));
    const double ratio = a * b * c / layer;
    return of_moments(area, area * layer_moment(b, c, ratio), area * layer_moment(a, c, ratio),
                      area * layer_moment(a, b, ratio));
}

static kki_mass shell(kk_shape_type type, const double s[3]) {
    switch (type) {
    case KK_SHAPE_SPHERE: return sphere_shell(s[0]);
    case KK_SHAPE_CAPSULE: return capsule_shell(s[0], s[1]);
    case KK_SHAPE_CYLINDER: return cylinder_shell(s[0], s[1]);
    case KK_SHAPE_ELLIPSOID: return ellipsoid_shell(s[0], s[1], s[2]);
    case KK_SHAPE_BOX:
    case KK_SHAPE_HEIGHT_FIELD: return box_shell(s[0], s[1], s[2]);
    default: return (kki_mass){0};
    }
}

kki_mass kki_mjcf_primitive_mass(kk_shape_type type, const double size[3], bool is_shell) {
    return is_shell ? shell(type, size) : solid(type, size);
}

// ---- principal axes

/// One of Jacobi's rotations: makes element (p, q) of A zero.
static void rotate(double A[3][3], double V[3][3], int p, int q) {
    if (A[p][q] == 0) {
        return;
    }
    const double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    const double t = (theta >= 0 ? 1 : -1) / ((theta >= 0 ? theta : -theta) + kk_sqrt(theta * theta + 1));
    const double c = 1 / kk_sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double x = A[k][p], y = A[k][q];
        A[k][p] = c * x - s * y;
        A[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        const double x = A[p][k], y = A[q][k], u = V[k][p], v = V[k][q];
        A[p][k] = c * x - s * y;
        A[q][k] = s * x + c * y;
        V[k][p] = c * u - s * v;
        V[k][q] = s * u + c * v;
    }
}

static kk_vec3 column(double V[3][3], int j) {
    return kk_vec3_make(V[0][j], V[1][j], V[2][j]);
}

kk_mat3 kki_mjcf_principal(kk_sym3 s, double values[3]) {
    enum { SWEEPS = 12 }; // quadratic convergence: five are enough
    double A[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
    double V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < SWEEPS; i++) {
        rotate(A, V, 0, 1);
        rotate(A, V, 0, 2);
        rotate(A, V, 1, 2);
    }
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) { // largest first
        for (int j = i + 1; j < 3; j++) {
            if (A[order[j]][order[j]] > A[order[i]][order[i]]) {
                const int kept = order[i];
                order[i] = order[j];
                order[j] = kept;
            }
        }
        values[i] = A[order[i]][order[i]];
    }
    const kk_vec3 x = column(V, order[0]), y = column(V, order[1]);
    return kk_mat3_from_columns(x, y, kk_vec3_cross(x, y));
}
