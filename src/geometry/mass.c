// Mass properties by polynomial integrals.
//
// By Gauss' theorem the integral of a polynomial over the inside of a closed surface is the sum over its triangles of the
// integrals over the tetrahedra (o, a, b, c), signed by d = a . (b x c), whatever the common point o. On the tetrahedron
// x = s a + t b + u c with s, t, u >= 0, s + t + u <= 1, the volume element is |d| ds dt du, and
//     integral of s^i t^j u^k = i! j! k! / (i + j + k + 3)!
// gives, with x the coordinate along one axis and y along the same or another,
//     volume        d / 6
//     integral x    d / 24 (xa + xb + xc)
//     integral x y  d / 120 (sx sy + xa ya + xb yb + xc yc),   sx = xa + xb + xc, sy likewise.
// (The form of Mirtich 1996 and Eberly 2002 without their case by axis.) For a surface the same with the triangle's
// integrals i! j! k! / (i + j + k + 2)!: area A, A / 3 sx, A / 12 (sx sy + xa ya + xb yb + xc yc).
//
// o is the middle of the bounding box and lengths are scaled by a power of two to about 1, so that nothing overflows or
// cancels without need; sums are compensated (Neumaier 1974), so the order of the faces hardly matters.
#include "mass.h"

#include <string.h>

#include "base/error.h"
#include "base/float_bits.h"
#include "hull.h"
#include <karakuri/elementary.h>

kk_inertia kki_mass_with_density(kki_mass mass, double density) {
    const kk_sym3 J = mass.moment;
    return (kk_inertia){
        density * mass.volume,
        mass.center,
        {density * J.xx, density * J.yy, density * J.zz, density * J.xy, density * J.xz, density * J.yz}};
}

kk_inertia kki_mass_with_mass(kki_mass mass, double kilograms) {
    kk_inertia inertia = kki_mass_with_density(mass, kilograms / mass.volume);
    inertia.mass = kilograms;
    return inertia;
}

// ---- primitives

static kki_mass centered(double volume, double xx, double yy, double zz) {
    return (kki_mass){volume, {0, 0, 0}, {volume * xx, volume * yy, volume * zz, 0, 0, 0}};
}

kki_mass kki_mass_box(double size_x, double size_y, double size_z) {
    const double xx = size_x * size_x / 12, yy = size_y * size_y / 12, zz = size_z * size_z / 12;
    return centered(size_x * size_y * size_z, yy + zz, xx + zz, xx + yy);
}

kki_mass kki_mass_ellipsoid(double radius_x, double radius_y, double radius_z) {
    const double xx = radius_x * radius_x / 5, yy = radius_y * radius_y / 5, zz = radius_z * radius_z / 5;
    return centered(4 * KK_PI / 3 * (radius_x * radius_y * radius_z), yy + zz, xx + zz, xx + yy);
}

kki_mass kki_mass_sphere(double radius) {
    return kki_mass_ellipsoid(radius, radius, radius);
}

kki_mass kki_mass_cylinder(double radius, double length) {
    const double rr = radius * radius, side = rr / 4 + length * length / 12;
    return centered(KK_PI * rr * length, side, side, rr / 2);
}

// a half sphere's center is 3/8 r from its base, and its second moment along the axis about the base's center r^2 / 5
kki_mass kki_mass_capsule(double radius, double length) {
    const double rr = radius * radius, half = length / 2;
    const double tube = KK_PI * rr * length, ball = 4 * KK_PI / 3 * (rr * radius);
    const double along = tube * (length * length / 12) + ball * (rr / 5 + 0.75 * radius * half + half * half);
    const double across = tube * (rr / 4) + ball * (rr / 5);
    return (kki_mass){tube + ball, {0, 0, 0}, {along + across, along + across, 2 * across, 0, 0, 0}};
}

kki_mass kki_mass_cone(double radius, double length) {
    const double rr = radius * radius, side = 3.0 / 20 * rr + 3.0 / 80 * (length * length);
    kki_mass mass = centered(KK_PI / 3 * rr * length, side, side, 0.3 * rr);
    mass.center.z = -length / 4;
    return mass;
}

// ---- sums over faces

typedef struct sum {
    double value, lost;
} sum;

static void add(sum *s, double x) {
    const double total = s->value + x;
    s->lost += kki_abs(s->value) >= kki_abs(x) ? (s->value - total) + x : (x - total) + s->value;
    s->value = total;
}

static double total_of(sum s) {
    return s.value + s.lost;
}

enum { X, Y, Z, XX, YY, ZZ, XY, XZ, YZ, MOMENTS };

typedef struct integrals {
    sum weight;          // volume or area
    sum moment[MOMENTS]; // first and second moments
} integrals;

// sx sy + xa ya + xb yb + xc yc
static double second(const double *x, const double *y) {
    return (x[0] + x[1] + x[2]) * (y[0] + y[1] + y[2]) + (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]);
}

// adds the integrals of one simplex: of weight w, first moments w / m1 sx, second moments w / m2 (...)
static void add_simplex(integrals *s, const kk_vec3 p[3], double w, double m1, double m2) {
    const double x[3] = {p[0].x, p[1].x, p[2].x}, y[3] = {p[0].y, p[1].y, p[2].y}, z[3] = {p[0].z, p[1].z, p[2].z};
    const double first = w / m1, other = w / m2;
    add(&s->weight, w);
    add(&s->moment[X], first * (x[0] + x[1] + x[2]));
    add(&s->moment[Y], first * (y[0] + y[1] + y[2]));
    add(&s->moment[Z], first * (z[0] + z[1] + z[2]));
    add(&s->moment[XX], other * second(x, x));
    add(&s->moment[YY], other * second(y, y));
    add(&s->moment[ZZ], other * second(z, z));
    add(&s->moment[XY], other * second(x, y));
    add(&s->moment[XZ], other * second(x, z));
    add(&s->moment[YZ], other * second(y, z));
}

// ---- the mesh in coordinates about 1

typedef struct view {
    const kki_mesh *mesh;
    kk_vec3 origin;
    double scale; // a power of two; p = (vertex - origin) * scale
} view;

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

static void bounds(const kki_mesh *mesh, kk_vec3 *low, kk_vec3 *high) {
    *low = *high = mesh->vertex[0];
    for (int32_t i = 1; i < mesh->vertex_count; i++) {
        const kk_vec3 p = mesh->vertex[i];
        *low = kk_vec3_make(smaller(low->x, p.x), smaller(low->y, p.y), smaller(low->z, p.z));
        *high = kk_vec3_make(larger(high->x, p.x), larger(high->y, p.y), larger(high->z, p.z));
    }
}

static view view_of(const kki_mesh *mesh) {
    kk_vec3 low, high;
    bounds(mesh, &low, &high);
    const kk_vec3 middle = {0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y, 0.5 * low.z + 0.5 * high.z};
    const kk_vec3 half = {0.5 * high.x - 0.5 * low.x, 0.5 * high.y - 0.5 * low.y, 0.5 * high.z - 0.5 * low.z};
    int exponent = kki_exponent(larger(half.x, larger(half.y, half.z)));
    exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
    return (view){mesh, middle, kki_power_of_two(-exponent)};
}

static kk_vec3 seen(const view *v, int32_t vertex) {
    return kk_vec3_scale(kk_vec3_sub(v->mesh->vertex[vertex], v->origin), v->scale);
}

static void corners(const view *v, int32_t face, kk_vec3 p[3]) {
    for (int k = 0; k < 3; k++) {
        p[k] = seen(v, v->mesh->face[face].vertex[k]);
    }
}

static integrals integrate_volume(const view *v) {
    integrals s;
    memset(&s, 0, sizeof s);
    for (int32_t f = 0; f < v->mesh->face_count; f++) {
        kk_vec3 p[3];
        corners(v, f, p);
        add_simplex(&s, p, kk_vec3_dot(p[0], kk_vec3_cross(p[1], p[2])) / 6, 4, 20);
    }
    return s;
}

static double area_of(const kk_vec3 p[3]) {
    return 0.5 * kk_vec3_norm(kk_vec3_cross(kk_vec3_sub(p[1], p[0]), kk_vec3_sub(p[2], p[0])));
}

static integrals integrate_area(const view *v) {
    integrals s;
    memset(&s, 0, sizeof s);
    for (int32_t f = 0; f < v->mesh->face_count; f++) {
        kk_vec3 p[3];
        corners(v, f, p);
        add_simplex(&s, p, area_of(p), 3, 12);
    }
    return s;
}

// pyramids from `tip`, which becomes the view's origin, all of positive volume
static integrals integrate_cones(const view *v) {
    integrals s;
    memset(&s, 0, sizeof s);
    for (int32_t f = 0; f < v->mesh->face_count; f++) {
        kk_vec3 p[3];
        corners(v, f, p);
        add_simplex(&s, p, kki_abs(kk_vec3_dot(p[0], kk_vec3_cross(p[1], p[2]))) / 6, 4, 20);
    }
    return s;
}

// ---- from integrals to mass properties

// moments about the center, in the view's units
static kk_sym3 central_moment(const integrals *s, double w, kk_vec3 c) {
    const double xx = total_of(s->moment[XX]) - w * c.x * c.x, yy = total_of(s->moment[YY]) - w * c.y * c.y;
    const double zz = total_of(s->moment[ZZ]) - w * c.z * c.z;
    const double xy = total_of(s->moment[XY]) - w * c.x * c.y, xz = total_of(s->moment[XZ]) - w * c.x * c.z;
    return (kk_sym3){yy + zz, xx + zz, xx + yy, -xy, -xz, -(total_of(s->moment[YZ]) - w * c.y * c.z)};
}

static kk_sym3 scaled(kk_sym3 J, double f) {
    return (kk_sym3){J.xx * f, J.yy * f, J.zz * f, J.xy * f, J.xz * f, J.yz * f};
}

static bool is_finite_mass(const kki_mass *m) {
    const double sum_of_all = m->volume + m->center.x + m->center.y + m->center.z + m->moment.xx + m->moment.yy +
                              m->moment.zz + m->moment.xy + m->moment.xz + m->moment.yz;
    return kki_is_finite(sum_of_all);
}

// `dimension` is 3 for volumes and 2 for areas
static kk_status conclude(const view *v, const integrals *s, int dimension, kki_mass *mass, kk_error *error) {
    const double w = total_of(s->weight), unit = 1 / v->scale;
    const double measure = dimension == 3 ? unit * unit * unit : unit * unit;
    if (!(w > 0)) {
        return kki_error_set(error, KK_SINGULAR, "the mesh has no %s — give it thickness, or the mass by hand",
                             dimension == 3 ? "volume" : "area");
    }
    const kk_vec3 c = {total_of(s->moment[X]) / w, total_of(s->moment[Y]) / w, total_of(s->moment[Z]) / w};
    mass->volume = w * measure;
    mass->center = kk_vec3_add(v->origin, kk_vec3_scale(c, unit));
    mass->moment = scaled(central_moment(s, w, c), measure * unit * unit);
    if (!is_finite_mass(mass) || !(mass->volume > 0)) {
        return kki_error_set(
            error, KK_NOT_FINITE,
            "the mesh is so large or so small that its mass properties leave the doubles — check its unit");
    }
    return KK_OK;
}

static void turn_over(integrals *s) {
    s->weight = (sum){-s->weight.value, -s->weight.lost};
    for (int i = 0; i < MOMENTS; i++) {
        s->moment[i] = (sum){-s->moment[i].value, -s->moment[i].lost};
    }
}

static kk_status check_solid(const kki_mesh *mesh, const kk_allocator *allocator, kk_error *error) {
    kki_topology *t = NULL;
    if (kki_topology_create(mesh, allocator, &t) != KK_OK) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the edges of a mesh of %d faces",
                             mesh->face_count);
    }
    const kki_mesh_check check = t->check;
    kki_topology_free(t);
    if (check.is_closed && check.is_oriented) {
        return KK_OK;
    }
    return kki_error_set(
        error, KK_INVALID_MODEL,
        "the mesh is no solid: %d edges with one face, %d with faces that disagree on the outside — close "
        "it, or take its shell or convex hull",
        check.boundary_edges, check.misoriented_edges);
}

static kk_status solid(const kki_mesh *mesh, const kk_allocator *allocator, kki_mass *mass, bool *inside_out,
                       kk_error *error) {
    const kk_status status = check_solid(mesh, allocator, error);
    if (status != KK_OK) {
        return status;
    }
    const view v = view_of(mesh);
    integrals s = integrate_volume(&v);
    *inside_out = total_of(s.weight) < 0;
    if (*inside_out) {
        turn_over(&s);
    }
    return conclude(&v, &s, 3, mass, error);
}

static kk_status shell(const kki_mesh *mesh, kki_mass *mass, kk_error *error) {
    const view v = view_of(mesh);
    const integrals s = integrate_area(&v);
    return conclude(&v, &s, 2, mass, error);
}

static kk_status cones(const kki_mesh *mesh, kki_mass *mass, kk_error *error) {
    kki_mass surface;
    kk_status status = shell(mesh, &surface, error);
    if (status != KK_OK) {
        return status;
    }
    view v = view_of(mesh);
    kki_mass found = {0};
    v.origin = surface.center;
    const integrals first = integrate_cones(&v);
    status = conclude(&v, &first, 3, &found, error);
    if (status != KK_OK) {
        return status;
    }
    // as MuJoCo has it: that is the center, and volume and moments are those of the pyramids from there, about there
    mass->center = v.origin = found.center;
    const integrals second_time = integrate_cones(&v);
    status = conclude(&v, &second_time, 3, &found, error);
    if (status != KK_OK) {
        return status;
    }
    mass->volume = found.volume;
    mass->moment = kk_sym3_add(found.moment, kk_sym3_point_mass(found.volume, kk_vec3_sub(found.center, mass->center)));
    return KK_OK;
}

static kk_status hull(const kki_mesh *mesh, const kk_allocator *allocator, kki_mass *mass, kk_error *error) {
    kki_mesh *hull_mesh = NULL;
    kk_status status = kki_hull_of_points(mesh->vertex, mesh->vertex_count, NULL, allocator, &hull_mesh, error);
    if (status == KK_OK) {
        const view v = view_of(hull_mesh);
        const integrals s = integrate_volume(&v);
        status = conclude(&v, &s, 3, mass, error);
    }
    kki_mesh_free(hull_mesh);
    return status;
}

kk_status kki_mass_of_mesh(const kki_mesh *mesh, kki_mass_mode mode, const kk_allocator *allocator, kki_mass *mass,
                           bool *inside_out, kk_error *error) {
    bool ignored;
    inside_out = inside_out ? inside_out : &ignored;
    *inside_out = false;
    memset(mass, 0, sizeof *mass);
    if (mesh->vertex_count == 0 || (mesh->face_count == 0 && mode != KKI_MASS_HULL)) {
        return kki_error_set(error, KK_SINGULAR, "the mesh has no faces — check the file it came from");
    }
    switch (mode) {
    case KKI_MASS_SOLID: return solid(mesh, allocator, mass, inside_out, error);
    case KKI_MASS_SHELL: return shell(mesh, mass, error);
    case KKI_MASS_HULL: return hull(mesh, allocator, mass, error);
    case KKI_MASS_CONES: return cones(mesh, mass, error);
    }
    return kki_error_set(error, KK_INVALID_ARGUMENT, "there is no such mass mode");
}
