// Mass properties against closed forms and identities.
#include "geometry/mass.h"

#include <karakuri/elementary.h>
#include <math.h>
#include <string.h>

#include "shapes.h"

static void check_mass(kki_mass a, kki_mass b, double tolerance) {
    const double moment = b.moment.xx + b.moment.yy + b.moment.zz, length = sqrt(moment / b.volume);
    KK_CHECK_REL(a.volume, b.volume, tolerance);
    KK_CHECK_NEAR(a.center.x, b.center.x, tolerance * length);
    KK_CHECK_NEAR(a.center.y, b.center.y, tolerance * length);
    KK_CHECK_NEAR(a.center.z, b.center.z, tolerance * length);
    KK_CHECK_NEAR(a.moment.xx, b.moment.xx, tolerance * moment);
    KK_CHECK_NEAR(a.moment.yy, b.moment.yy, tolerance * moment);
    KK_CHECK_NEAR(a.moment.zz, b.moment.zz, tolerance * moment);
    KK_CHECK_NEAR(a.moment.xy, b.moment.xy, tolerance * moment);
    KK_CHECK_NEAR(a.moment.xz, b.moment.xz, tolerance * moment);
    KK_CHECK_NEAR(a.moment.yz, b.moment.yz, tolerance * moment);
}

static kki_mass mass_of(const kki_mesh *mesh, kki_mass_mode mode) {
    kki_mass mass;
    kk_error error = {0};
    if (kki_mass_of_mesh(mesh, mode, NULL, &mass, NULL, &error) != KK_OK) {
        KK_FAIL("mass: %s", error.text);
    }
    return mass;
}

static kki_mass placed(kki_mass m, kk_transform X) {
    return (kki_mass){m.volume, kk_transform_point(X, m.center), kk_sym3_rotate(X.R, m.moment)};
}

KK_TEST(mass_of_a_box_mesh) {
    const kk_transform X = {kk_mat3_from_rpy(0.3, -0.7, 1.9), {3, -2, 5}};
    kki_mesh *mesh = shapes_box(0.2, 0.5, 1.3, X);
    const kki_mass box = kki_mass_box(0.2, 0.5, 1.3);
    check_mass(mass_of(mesh, KKI_MASS_SOLID), placed(box, X), 1e-14);
    check_mass(mass_of(mesh, KKI_MASS_HULL), placed(box, X), 1e-14);
    check_mass(mass_of(mesh, KKI_MASS_CONES), placed(box, X), 1e-14);
    kki_mesh_free(mesh);
    mesh = shapes_box(0.2, 0.5, 1.3, kk_transform_identity());
    check_mass(mass_of(mesh, KKI_MASS_SOLID), box, 1e-15);
    kki_mesh_free(mesh);
}

// a shell of six plates
KK_TEST(mass_of_a_box_shell) {
    const double x = 0.2, y = 0.5, z = 1.3;
    kki_mesh *mesh = shapes_box(x, y, z, kk_transform_identity());
    const double xy = 2 * x * y, xz = 2 * x * z, yz = 2 * y * z;
    const double xx = (xy + xz) * x * x / 12 + yz * x * x / 4, yy = (xy + yz) * y * y / 12 + xz * y * y / 4;
    const double zz = (xz + yz) * z * z / 12 + xy * z * z / 4;
    const kki_mass shell = {xy + xz + yz, {0, 0, 0}, {yy + zz, xx + zz, xx + yy, 0, 0, 0}};
    check_mass(mass_of(mesh, KKI_MASS_SHELL), shell, 1e-14);
    kki_mesh_free(mesh);
}

// the example of Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor", 2004; it prints its numbers rounded
KK_TEST(mass_of_a_tetrahedron) {
    const kk_vec3 p[4] = {
        {8.33220, -11.86875, 0.93355}, {0.75523, 5.0, 16.37072}, {52.61236, 5.0, -5.38580}, {2.0, 5.0, 3.0}};
    const kki_face f[4] = {{{0, 1, 2}}, {{0, 3, 1}}, {{0, 2, 3}}, {{1, 3, 2}}};
    kki_mesh *mesh = shapes_mesh(p, 4, f, 4);
    bool inside_out = false;
    kki_mass m;
    KK_CHECK_EQ_INT(kki_mass_of_mesh(mesh, KKI_MASS_SOLID, NULL, &m, &inside_out, NULL), KK_OK);
    KK_CHECK_NEAR(m.center.x, 15.92492, 3e-5);
    KK_CHECK_NEAR(m.center.y, 0.78281, 3e-5);
    KK_CHECK_NEAR(m.center.z, 3.72962, 3e-5);
    KK_CHECK_REL(m.moment.xx, 43520.33257, 1e-7);
    KK_CHECK_REL(m.moment.yy, 194711.28938, 1e-7);
    KK_CHECK_REL(m.moment.zz, 191168.76173, 1e-7);
    KK_CHECK_REL(m.moment.yz, -4417.66150, 1e-7);
    KK_CHECK_REL(m.moment.xz, 46343.16662, 1e-7); // the paper's b' and c' are exchanged
    KK_CHECK_REL(m.moment.xy, -11996.20119, 1e-7);
    kki_mesh_free(mesh);
}

// products of inertia are minus the integrals of x y: two point-like boxes on the diagonal
KK_TEST(products_of_inertia_have_their_sign) {
    const kk_transform X = {kk_mat3_from_rpy(0, 0, KK_PI / 4), {0, 0, 0}};
    kki_mesh *mesh = shapes_box(2, 0.1, 0.1, X); // long along x = y
    const kki_mass m = mass_of(mesh, KKI_MASS_SOLID);
    KK_CHECK(m.moment.xy < 0);
    KK_CHECK_REL(m.moment.xy, -m.volume * (4 - 0.01) / 24, 1e-13);
    kki_mesh_free(mesh);
}

// a sphere of latitude rings comes near the closed form, second order in their number
static kki_mesh *lathe(double (*radius)(double), double (*height)(double), int rings, int sides) {
    enum { MOST = 20000 };
    static kk_vec3 p[MOST];
    static kki_face f[2 * MOST];
    int faces = 0;
    for (int i = 0; i <= rings; i++) {
        for (int k = 0; k < sides; k++) {
            const double t = (double)i / rings, a = 2 * KK_PI * k / sides;
            p[i * sides + k] = kk_vec3_make(radius(t) * cos(a), radius(t) * sin(a), height(t));
            const int n = i * sides + k, right = i * sides + (k + 1) % sides;
            if (i < rings) {
                f[faces++] = (kki_face){{n, right, right + sides}};
                f[faces++] = (kki_face){{n, right + sides, n + sides}};
            }
        }
    }
    kki_mesh_builder b;
    kki_mesh *mesh = NULL;
    const kki_mesh_tidy_options options = {0};
    kki_mesh_builder_begin(&b, NULL);
    for (int i = 0; i < (rings + 1) * sides; i++) {
        kki_mesh_builder_add_vertex(&b, p[i]);
    }
    for (int i = 0; i < faces; i++) {
        kki_mesh_builder_add_face(&b, f[i].vertex[0], f[i].vertex[1], f[i].vertex[2]);
    }
    KK_CHECK_EQ_INT(kki_mesh_builder_end(&b, &options, NULL, &mesh, NULL), KK_OK);
    kki_mesh_builder_free(&b);
    return mesh;
}

static double sphere_radius(double t) {
    return t <= 0 || t >= 1 ? 0 : sin(KK_PI * t);
}
static double sphere_height(double t) {
    return -cos(KK_PI * t);
}
// a capsule of radius 1 and length 2: half spheres in the first and last quarter
static double capsule_radius(double t) {
    return t <= 0 || t >= 1 ? 0
           : t < 0.5        ? sin(2 * KK_PI * (t < 0.25 ? t : 0.25))
                            : sin(2 * KK_PI * (t > 0.75 ? 1 - t : 0.25));
}
static double capsule_height(double t) {
    return t < 0.25 ? -1 - cos(2 * KK_PI * t) : t > 0.75 ? 1 + cos(2 * KK_PI * (1 - t)) : 4 * (t - 0.5);
}
static double cone_radius(double t) {
    return t < 0.5 ? (t <= 0 ? 0 : 2 * t) : 2 * (1 - t);
}
static double cone_height(double t) {
    return t < 0.5 ? -1 : -1 + 4 * (t - 0.5);
}
static double cylinder_radius(double t) {
    return t <= 0 || t >= 1 ? 0 : t < 0.25 ? 4 * t : t > 0.75 ? 4 * (1 - t) : 1;
}
static double cylinder_height(double t) {
    return t <= 0.25 ? -1 : t >= 0.75 ? 1 : 4 * (t - 0.5);
}

KK_TEST(primitives_agree_with_fine_meshes) {
    const struct {
        double (*radius)(double), (*height)(double);
        kki_mass mass;
    } rows[] = {{sphere_radius, sphere_height, kki_mass_sphere(1)},
                {capsule_radius, capsule_height, kki_mass_capsule(1, 2)},
                {cone_radius, cone_height, kki_mass_cone(1, 2)},
                {cylinder_radius, cylinder_height, kki_mass_cylinder(1, 2)}};
    for (int i = 0; i < 4; i++) {
        kki_mesh *mesh = lathe(rows[i].radius, rows[i].height, 80, 200);
        const kki_mass m = mass_of(mesh, KKI_MASS_SOLID);
        KK_CHECK_REL(m.volume, rows[i].mass.volume, 2e-3);
        KK_CHECK_NEAR(m.center.z, rows[i].mass.center.z, 1e-3);
        KK_CHECK_REL(m.moment.xx, rows[i].mass.moment.xx, 4e-3);
        KK_CHECK_REL(m.moment.yy, rows[i].mass.moment.yy, 4e-3);
        KK_CHECK_REL(m.moment.zz, rows[i].mass.moment.zz, 4e-3);
        kki_mesh_free(mesh);
    }
    // an ellipsoid is a scaled sphere
    const kki_mass e = kki_mass_ellipsoid(1, 2, 3), s = kki_mass_ellipsoid(2, 2, 2);
    KK_CHECK_REL(e.volume, 8 * KK_PI, 1e-15);
    KK_CHECK_REL(e.moment.xx, e.volume * 13 / 5, 1e-15);
    check_mass(s, kki_mass_sphere(2), 1e-15);
    const kk_inertia I = kki_mass_with_mass(s, 3);
    KK_CHECK_REL(I.moment.yy, 0.4 * 3 * 4, 1e-15);
    KK_CHECK_REL(kki_mass_with_density(s, 2).mass, 2 * s.volume, 1e-15);
}

// the result does not depend on where the mesh is, on its size, or on which way its faces look
KK_TEST(mass_is_scaled_and_turned) {
    for (int power = -90; power <= 90; power += 30) {
        const double s = ldexp(1, power);
        kki_mesh *mesh = shapes_box(s, 2 * s, 3 * s, kk_transform_translation(5 * s, 0, 0));
        const kki_mass m = mass_of(mesh, KKI_MASS_SOLID);
        KK_CHECK_REL(m.volume, 6 * s * s * s, 1e-15);
        KK_CHECK_REL(m.moment.zz, 6 * s * s * s * (5 * s * s / 12), 1e-14);
        KK_CHECK_REL(m.center.x, 5 * s, 1e-15);
        for (int i = 0; i < mesh->face_count; i++) {
            const int32_t swap = mesh->face[i].vertex[1];
            mesh->face[i].vertex[1] = mesh->face[i].vertex[2];
            mesh->face[i].vertex[2] = swap;
        }
        kki_mass turned;
        bool inside_out = false;
        KK_CHECK_EQ_INT(kki_mass_of_mesh(mesh, KKI_MASS_SOLID, NULL, &turned, &inside_out, NULL), KK_OK);
        KK_CHECK(inside_out);
        check_mass(turned, m, 1e-15);
        kki_mesh_free(mesh);
    }
}

KK_TEST(open_and_flat_meshes_are_refused) {
    kk_vec3 p[8];
    kki_mass m;
    kk_error error = {0};
    shapes_box_corners(1, 1, 1, p);
    kki_mesh *open = shapes_mesh(p, 8, SHAPES_BOX_FACES, 11);
    KK_CHECK_EQ_INT(kki_mass_of_mesh(open, KKI_MASS_SOLID, NULL, &m, NULL, &error), KK_INVALID_MODEL);
    KK_CHECK(strstr(error.text, "3 edges with one face") != NULL);
    KK_CHECK_EQ_INT(kki_mass_of_mesh(open, KKI_MASS_HULL, NULL, &m, NULL, &error), KK_OK);
    KK_CHECK_REL(m.volume, 1, 1e-15);
    kki_mesh_free(open);
    const kki_face two[2] = {{{0, 1, 2}}, {{0, 2, 1}}};
    kki_mesh *flat = shapes_mesh(p, 3, two, 2);
    KK_CHECK_EQ_INT(kki_mass_of_mesh(flat, KKI_MASS_SOLID, NULL, &m, NULL, &error), KK_SINGULAR);
    KK_CHECK_EQ_INT(kki_mass_of_mesh(flat, KKI_MASS_HULL, NULL, &m, NULL, &error), KK_SINGULAR);
    KK_CHECK_EQ_INT(kki_mass_of_mesh(flat, KKI_MASS_SHELL, NULL, &m, NULL, &error), KK_OK);
    KK_CHECK_REL(m.volume, 1, 1e-15);
    kki_mesh_free(flat);
    kki_mesh *empty = shapes_mesh(p, 0, two, 0);
    KK_CHECK_EQ_INT(kki_mass_of_mesh(empty, KKI_MASS_HULL, NULL, &m, NULL, &error), KK_SINGULAR);
    kki_mesh_free(empty);
    kki_mesh *huge = shapes_box(1e200, 1e200, 1e200, kk_transform_identity());
    KK_CHECK_EQ_INT(kki_mass_of_mesh(huge, KKI_MASS_SOLID, NULL, &m, NULL, &error), KK_NOT_FINITE);
    kki_mesh_free(huge);
}
