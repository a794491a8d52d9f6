// Meshes for collision tests.
#ifndef KK_TESTS_COLLISION_MESHES_H
#define KK_TESTS_COLLISION_MESHES_H

#include <math.h>
#include <stdlib.h>

#include "../geometry/shapes.h"
#include "geometry/height_field.h"
#include "geometry/surface.h"

static inline kki_surface *meshes_surface(kki_mesh *mesh) {
    kki_surface *s = NULL;
    kk_error error = {0};
    if (kki_surface_create(mesh, NULL, &s, &error) != KK_OK) {
        KK_FAIL("surface: %s", error.text);
    }
    kki_mesh_free(mesh);
    return s;
}

/// An open sheet of n × n cells over [−size/2, size/2]², at the height given for each sample.
static inline kki_mesh *meshes_sheet(int n, double size, double (*height)(double x, double y)) {
    kk_vec3 *v = malloc(sizeof *v * (size_t)((n + 1) * (n + 1)));
    kki_face *f = malloc(sizeof *f * (size_t)(2 * n * n));
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= n; j++) {
            const double x = -0.5 * size + j * (size / n), y = -0.5 * size + i * (size / n);
            v[i * (n + 1) + j] = kk_vec3_make(x, y, height(x, y));
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const int32_t a = i * (n + 1) + j, b = a + 1, c = b + n + 1, d = a + n + 1;
            f[2 * (i * n + j)] = (kki_face){{a, b, c}};
            f[2 * (i * n + j) + 1] = (kki_face){{a, c, d}};
        }
    }
    kki_mesh *mesh = shapes_mesh(v, (n + 1) * (n + 1), f, 2 * n * n);
    free(v);
    free(f);
    return mesh;
}

static inline double meshes_flat(double x, double y) {
    (void)x, (void)y;
    return 0;
}

static inline double meshes_hills(double x, double y) {
    return 0.3 * sin(3 * x) * cos(2 * y);
}

/// A ball of triangles, closed, for n meridians and m circles of latitude.
static inline kki_mesh *meshes_ball(int n, int m, double radius) {
    const double pi = 3.14159265358979323846;
    const int count = 2 + n * m;
    kk_vec3 *v = malloc(sizeof *v * (size_t)count);
    kki_face *f = malloc(sizeof *f * (size_t)(2 * n * m));
    v[0] = kk_vec3_make(0, 0, -radius);
    v[1] = kk_vec3_make(0, 0, radius);
    int faces = 0;
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++) {
            const double a = 2 * pi * i / n, b = pi * (j + 1) / (m + 1);
            v[2 + j * n + i] = kk_vec3_make(radius * sin(b) * cos(a), radius * sin(b) * sin(a), -radius * cos(b));
            const int32_t p = 2 + j * n + i, q = 2 + j * n + (i + 1) % n;
            if (j == 0) {
                f[faces++] = (kki_face){{0, q, p}};
            }
            if (j + 1 < m) {
                f[faces++] = (kki_face){{p, q, q + n}};
                f[faces++] = (kki_face){{p, q + n, p + n}};
            } else {
                f[faces++] = (kki_face){{p, q, 1}};
            }
        }
    }
    kki_mesh *mesh = shapes_mesh(v, count, f, faces);
    free(v);
    free(f);
    return mesh;
}

static inline kki_height_field *meshes_field(int n, double size, double base, double (*height)(double x, double y)) {
    double *h = malloc(sizeof *h * (size_t)((n + 1) * (n + 1)));
    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= n; j++) {
            h[i * (n + 1) + j] = height(-0.5 * size + j * (size / n), -0.5 * size + i * (size / n));
        }
    }
    kki_height_field *f = NULL;
    KK_CHECK_EQ_INT(kki_height_field_create(n + 1, n + 1, size, size, h, base, NULL, &f, NULL), KK_OK);
    free(h);
    return f;
}

static inline kk_transform meshes_random_pose(kk_random *r, double far) {
    const kk_vec3 p = kk_vec3_scale(shapes_point(r), far);
    const kk_vec3 turn = kk_vec3_scale(shapes_point(r), 3);
    return kk_transform_make(kk_quat_to_mat3(kk_quat_exp(turn)), p);
}

#endif
