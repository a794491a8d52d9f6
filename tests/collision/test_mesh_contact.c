// Contacts of meshes and height fields: flat ones against closed forms, closed ones against separating axes of the same
// boxes, round bodies against the distance from all triangles.
#include <string.h>

#include "collision/distance.h"
#include "collision/mesh_contact.h"
#include "geometry/hull.h"
#include "meshes.h"

enum { ROOM = 64 };

typedef struct result {
    int count;
    kki_manifold m[ROOM];
} result;

static result collide(const kki_shape *a, kk_transform X_WA, const kki_shape *b, kk_transform X_WB, double reach) {
    result r = {0};
    kki_pair_memory memory = {0};
    r.count = kki_collide_mesh(a, &X_WA, b, &X_WB, reach, &memory, r.m, ROOM);
    KK_CHECK(r.count >= 0);
    return r;
}

static double least_gap(const result *r) {
    double least = INFINITY;
    for (int i = 0; i < r->count; i++) {
        for (int k = 0; k < r->m[i].count; k++) {
            least = fmin(least, r->m[i].point[k].gap);
        }
    }
    return least;
}

static bool is_up(kk_vec3 n) {
    return n.x == 0 && n.y == 0 && n.z == 1;
}

static kki_shape sphere(double r) {
    return (kki_shape){.type = KK_SHAPE_SPHERE, .half = {r}};
}
static kki_shape capsule(double r, double half) {
    return (kki_shape){.type = KK_SHAPE_CAPSULE, .half = {r, half}};
}
static kki_shape box(double x, double y, double z) {
    return (kki_shape){.type = KK_SHAPE_BOX, .half = {x, y, z}};
}

// ---- flat

typedef struct flat {
    kki_surface *surface;
    kki_height_field *field;
    kki_shape shape[2];
} flat;

static flat make_flat(int n, double size) {
    flat f = {meshes_surface(meshes_sheet(n, size, meshes_flat)), meshes_field(n, size, -1, meshes_flat), {{0}}};
    f.shape[0] = (kki_shape){.type = KK_SHAPE_MESH, .surface = f.surface};
    f.shape[1] = (kki_shape){.type = KK_SHAPE_HEIGHT_FIELD, .field = f.field};
    return f;
}

static void free_flat(flat *f) {
    kki_surface_free(f->surface);
    kki_height_field_free(f->field);
}

static kk_transform tilted(double x, double y, double z, double tilt_x, double tilt_y, double yaw) {
    return kk_transform_make(kk_mat3_from_rpy(tilt_x, tilt_y, yaw), kk_vec3_make(x, y, z));
}

// a sphere anywhere, over vertices and edges too: one point, straight up
KK_TEST(sphere_on_a_flat_mesh) {
    flat f = make_flat(40, 4);
    const kki_shape s = sphere(0.25);
    kk_random r = {1, 0, 0};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 300; i++) {
            const double x = i % 3 == 0 ? 0.1 * (i % 19 - 9) : 1.5 * shapes_uniform(&r);
            const double y = i % 2 == 0 ? 0.1 * (i % 17 - 8) : 1.5 * shapes_uniform(&r);
            const double z = 0.25 + 0.01 * shapes_uniform(&r);
            const result c = collide(&f.shape[k], kk_transform_identity(), &s, kk_transform_translation(x, y, z), 0.02);
            KK_CHECK_EQ_INT(c.count, 1);
            KK_CHECK_EQ_INT(c.m[0].count, 1);
            KK_CHECK(is_up(c.m[0].normal));
            KK_CHECK_NEAR(c.m[0].point[0].gap, z - 0.25, 1e-15);
            KK_CHECK_NEAR(c.m[0].point[0].position.x, x, 1e-15);
            KK_CHECK_NEAR(c.m[0].point[0].position.z, 0, 1e-15);
        }
    }
    free_flat(&f);
}

// the lowest corner or end of a box or capsule, tilted a little or much, has the gap of the plane; all normals are the
// face's; ids do not change while it slides from triangle to triangle
KK_TEST(box_and_capsule_on_a_flat_mesh) {
    flat f = make_flat(60, 6);
    const kki_shape b = box(0.3, 0.2, 0.1), c = capsule(0.1, 0.3);
    kk_random r = {2, 0, 0};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 400; i++) {
            const bool is_box = i & 1;
            const double tilt = i % 5 == 0 ? 0 : i % 5 == 1 ? 1e-7 : i % 5 == 2 ? 1e-3 : 0.5;
            const kk_vec3 turn = shapes_point(&r);
            const double x = 2 * shapes_uniform(&r), y = 2 * shapes_uniform(&r);
            const kk_mat3 R = kk_mat3_from_rpy(tilt * turn.x + (is_box ? 0 : acos(0.0)), tilt * turn.y, 3 * turn.z);
            kk_transform X = kk_transform_make(R, kk_vec3_make(x, y, 0));
            const double down =
                is_box ? 0.3 * fabs(R.m[6]) + 0.2 * fabs(R.m[7]) + 0.1 * fabs(R.m[8]) : 0.3 * fabs(R.m[8]) + 0.1;
            const double gap = 1e-3 * shapes_uniform(&r);
            X.p.z = down + gap;
            const result q = collide(&f.shape[k], kk_transform_identity(), is_box ? &b : &c, X, 2e-3);
            KK_CHECK_EQ_INT(q.count, 1);
            KK_CHECK(is_up(q.m[0].normal));
            KK_CHECK_NEAR(least_gap(&q), gap, 1e-14);
            KK_CHECK(tilt > 1e-4 || q.m[0].count == (is_box ? 4 : 2));
        }
    }
    free_flat(&f);
}

KK_TEST(ids_persist_while_a_box_slides) {
    flat f = make_flat(60, 6);
    const kki_shape b = box(0.3, 0.2, 0.1);
    for (int k = 0; k < 2; k++) {
        uint64_t id[4] = {0};
        for (int i = 0; i < 200; i++) {
            const kk_transform X = tilted(-1 + 0.01 * i, 0.003 * i, 0.1 - 1e-6, 0, 0, 0.3);
            const result c = collide(&f.shape[k], kk_transform_identity(), &b, X, 0);
            KK_CHECK(c.count == 1 && c.m[0].count == 4);
            uint64_t sum[4] = {0};
            for (int p = 0; p < 4; p++) {
                sum[c.m[0].point[p].feature & 3] = c.m[0].point[p].feature;
            }
            KK_CHECK(i == 0 || memcmp(id, sum, sizeof id) == 0);
            memcpy(id, sum, sizeof id);
        }
    }
    free_flat(&f);
}

// an open sheet is touched from both sides
KK_TEST(sheet_is_two_sided) {
    flat f = make_flat(20, 4);
    const kki_shape s[3] = {sphere(0.1), box(0.1, 0.1, 0.1), capsule(0.1, 0.2)};
    for (int k = 0; k < 3; k++) {
        const kk_mat3 R = k == 2 ? kk_mat3_from_rpy(acos(0.0), 0, 0) : kk_mat3_identity();
        const kk_transform X = kk_transform_make(R, kk_vec3_make(0.33, 0.21, -0.09));
        const result c = collide(&f.shape[0], kk_transform_identity(), &s[k], X, 0);
        KK_CHECK(c.count == 1 && c.m[0].normal.z == -1);
        KK_CHECK_NEAR(least_gap(&c), -0.01, 1e-14);
        // a height field is solid below: the same place is deep inside
        const result h = collide(&f.shape[1], kk_transform_identity(), &s[k], X, 0);
        KK_CHECK(h.count == 1 && h.m[0].normal.z == 1);
        KK_CHECK_NEAR(least_gap(&h), -0.19, 1e-14);
    }
    free_flat(&f);
}

// ---- round bodies against all triangles

static double distance_from_all(const kki_surface *s, kk_vec3 p) {
    double least = INFINITY;
    for (int f = 0; f < s->face_count; f++) {
        const kk_vec3 c[3] = {s->vertex[s->face[f].vertex[0]], s->vertex[s->face[f].vertex[1]],
                              s->vertex[s->face[f].vertex[2]]};
        least = fmin(least, kk_vec3_norm(kk_vec3_sub(kki_triangle_closest(c, p).p, p)));
    }
    return least;
}

// a blade with a sharp edge: below its top a body may be close to the side without touching either
static kki_mesh *blade(void) {
    const kk_vec3 v[6] = {{0, -1, 0}, {-1, -1, 0}, {-1, -1, -0.4}, {0, 1, 0}, {-1, 1, 0}, {-1, 1, -0.4}};
    const kki_face f[8] = {{{0, 1, 2}}, {{3, 5, 4}}, {{0, 3, 4}}, {{0, 4, 1}},
                           {{1, 4, 5}}, {{1, 5, 2}}, {{2, 5, 3}}, {{2, 3, 0}}};
    return shapes_mesh(v, 6, f, 8);
}

// outside: the deepest point has the distance from the mesh, whatever feature it is; inside: the way out
KK_TEST(sphere_against_hills_and_ball) {
    kki_surface *surface[3] = {meshes_surface(meshes_sheet(24, 4, meshes_hills)), meshes_surface(meshes_ball(12, 8, 1)),
                               meshes_surface(blade())};
    kk_random r = {3, 0, 0};
    int touching = 0, inside = 0;
    for (int i = 0; i < 1500; i++) {
        const kki_surface *s = surface[i % 3];
        const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, ball = sphere(0.3);
        const kk_transform X_WM = meshes_random_pose(&r, 1);
        const kk_vec3 p = kk_vec3_scale(shapes_point(&r), i % 3 ? 1.3 : 1);
        const kk_transform X_WB = kk_transform_make(kk_mat3_identity(), kk_transform_point(X_WM, p));
        const bool is_inside = kki_surface_closest(s, p, 10).is_inside;
        const double distance = distance_from_all(s, p), expected = (is_inside ? -distance : distance) - 0.3;
        const result c = collide(&mesh, X_WM, &ball, X_WB, 0.05);
        if (expected > 0.05) {
            KK_CHECK_EQ_INT(c.count, 0);
            continue;
        }
        touching++;
        inside += is_inside;
        KK_CHECK(c.count > 0);
        KK_CHECK_NEAR(least_gap(&c), expected, 1e-12);
    }
    KK_CHECK(touching > 500 && inside > 50);
    kki_surface_free(surface[0]);
    kki_surface_free(surface[1]);
    kki_surface_free(surface[2]);
}

static double segment_distance(kk_vec3 a, kk_vec3 b, kk_vec3 c, kk_vec3 d) {
    // by alternating projections: slow, simple, exact to rounding after a few hundred
    double t = 0.5, s = 0.5;
    const kk_vec3 u = kk_vec3_sub(b, a), v = kk_vec3_sub(d, c);
    for (int i = 0; i < 300; i++) {
        const kk_vec3 p = kk_vec3_add(a, kk_vec3_scale(u, s));
        t = fmin(1, fmax(0, kk_vec3_dot(kk_vec3_sub(p, c), v) / kk_vec3_dot(v, v)));
        const kk_vec3 q = kk_vec3_add(c, kk_vec3_scale(v, t));
        s = fmin(1, fmax(0, kk_vec3_dot(kk_vec3_sub(q, a), u) / kk_vec3_dot(u, u)));
    }
    return kk_vec3_norm(kk_vec3_sub(kk_vec3_add(a, kk_vec3_scale(u, s)), kk_vec3_add(c, kk_vec3_scale(v, t))));
}

static double capsule_distance(const kki_surface *s, kk_vec3 a, kk_vec3 b) {
    double least = fmin(distance_from_all(s, a), distance_from_all(s, b));
    for (int e = 0; e < s->edge_count; e++) {
        least = fmin(least, segment_distance(a, b, s->vertex[s->edge[e].vertex[0]], s->vertex[s->edge[e].vertex[1]]));
    }
    return least;
}

KK_TEST(capsule_against_a_ball_of_triangles) {
    kki_surface *s = meshes_surface(meshes_ball(9, 6, 1));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, c = capsule(0.2, 0.5);
    kk_random r = {4, 0, 0};
    int touching = 0;
    for (int i = 0; i < 150; i++) {
        kk_transform X = meshes_random_pose(&r, 1);
        X.p = kk_vec3_scale(X.p, (1.1 + 0.2 * kk_random_next_uniform(&r)) / kk_vec3_norm(X.p));
        const kk_vec3 a = kk_transform_point(X, kk_vec3_make(0, 0, -0.5));
        const kk_vec3 b = kk_transform_point(X, kk_vec3_make(0, 0, 0.5));
        const double distance = capsule_distance(s, a, b);
        // where the axis enters the mesh there is no distance to compare with
        if (distance < 0.02 || kki_surface_closest(s, a, 10).is_inside || kki_surface_closest(s, b, 10).is_inside) {
            continue;
        }
        const result q = collide(&mesh, kk_transform_identity(), &c, X, 0.05);
        if (distance - 0.2 <= 0.05) {
            touching++;
            KK_CHECK_NEAR(least_gap(&q), distance - 0.2, 1e-9);
        } else {
            KK_CHECK_EQ_INT(q.count, 0);
        }
    }
    KK_CHECK(touching > 30);
    kki_surface_free(s);
}

// ---- boxes against box meshes

static double range_along(kk_transform X, const double half[3], kk_vec3 d) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += half[k] * fabs(kk_vec3_dot(d, kk_mat3_column(X.R, k)));
    }
    return sum;
}

// the greatest separation over the fifteen axes of two boxes
static double box_separation(kk_transform X, const double a[3], kk_transform Y, const double b[3]) {
    double best = -INFINITY;
    for (int i = 0; i < 15; i++) {
        kk_vec3 d = i < 3   ? kk_mat3_column(X.R, i)
                    : i < 6 ? kk_mat3_column(Y.R, i - 3)
                            : kk_vec3_cross(kk_mat3_column(X.R, (i - 6) / 3), kk_mat3_column(Y.R, (i - 6) % 3));
        const double size = kk_vec3_norm(d);
        if (size < 1e-6) {
            continue;
        }
        d = kk_vec3_scale(d, 1 / size);
        best = fmax(best, fabs(kk_vec3_dot(d, kk_vec3_sub(Y.p, X.p))) - range_along(X, a, d) - range_along(Y, b, d));
    }
    return best;
}

// Overlapping a little, a box and a box of triangles are two boxes: the greatest depth found lies at the least depth of
// the axes, and no manifold is deeper (1 % is the preference for the mesh's own faces).
static void check_boxes(bool as_mesh) {
    const double a[3] = {0.5, 0.6, 0.7}, b[3] = {0.4, 0.3, 0.5};
    kki_surface *s = meshes_surface(shapes_box(1, 1.2, 1.4, kk_transform_identity()));
    kki_surface *t = meshes_surface(shapes_box(0.8, 0.6, 1, kk_transform_identity()));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, other = {.type = KK_SHAPE_MESH, .surface = t};
    const kki_shape solid = box(b[0], b[1], b[2]);
    kk_random r = {5, 0, 0};
    int tested = 0;
    for (int i = 0; i < 40000 && tested < 400; i++) {
        const kk_transform X = meshes_random_pose(&r, 1);
        kk_transform Y = meshes_random_pose(&r, 1);
        Y.p = kk_vec3_add(X.p, kk_vec3_scale(shapes_point(&r), 1.5));
        const double sep = box_separation(X, a, Y, b);
        if (sep > 0 || sep < -0.05) {
            continue;
        }
        tested++;
        const result c = collide(&mesh, X, as_mesh ? &other : &solid, Y, 0);
        KK_CHECK(c.count > 0);
        if (c.count > 0) {
            KK_CHECK_NEAR(least_gap(&c), sep, 0.011 * fabs(sep) + 1e-9);
        }
        // moving out along the deepest normal parts them
        kk_transform Z = Y;
        Z.p = kk_vec3_add(Y.p, kk_vec3_scale(c.m[0].normal, 1e-9 - least_gap(&c)));
        KK_CHECK(box_separation(X, a, Z, b) >= -1e-9 - 0.02 * fabs(sep));
    }
    KK_CHECK(tested == 400);
    kki_surface_free(s);
    kki_surface_free(t);
}

KK_TEST(box_against_a_box_of_triangles) {
    check_boxes(false);
}

KK_TEST(box_of_triangles_against_a_box_of_triangles) {
    check_boxes(true);
}

// apart, nothing is reported as deep
KK_TEST(boxes_apart_do_not_touch) {
    const double a[3] = {0.5, 0.6, 0.7}, b[3] = {0.4, 0.3, 0.5};
    kki_surface *s = meshes_surface(shapes_box(1, 1.2, 1.4, kk_transform_identity()));
    kki_surface *t = meshes_surface(shapes_box(0.8, 0.6, 1, kk_transform_identity()));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, other = {.type = KK_SHAPE_MESH, .surface = t};
    const kki_shape solid = box(b[0], b[1], b[2]);
    kk_random r = {6, 0, 0};
    for (int i = 0; i < 2000; i++) {
        const kk_transform X = meshes_random_pose(&r, 1);
        kk_transform Y = meshes_random_pose(&r, 1);
        Y.p = kk_vec3_add(X.p, kk_vec3_scale(shapes_point(&r), 1.5));
        const double sep = box_separation(X, a, Y, b);
        if (sep <= 0) {
            continue;
        }
        const result c = collide(&mesh, X, i & 1 ? &other : &solid, Y, 0.05);
        KK_CHECK(c.count == 0 || least_gap(&c) > -1e-9);
    }
    kki_surface_free(s);
    kki_surface_free(t);
}

// A small box below the blade's top, clear of its side by a hair, is not inside the top.
KK_TEST(box_beside_a_sharp_edge_does_not_touch_the_top) {
    kki_surface *s = meshes_surface(blade());
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, b = box(0.05, 0.05, 0.05);
    const kk_vec3 n = kk_vec3_scale(kk_vec3_make(0.4, 0, -1), 1 / sqrt(1.16)); // of the blade's lower side
    KK_CHECK(s->is_solid);
    for (int i = 0; i < 20; i++) {
        const double along = -0.1 - 0.04 * i, gap = 1e-3;
        const double out = 0.05 * (fabs(n.x) + fabs(n.z)) + gap;
        const kk_transform X = kk_transform_translation(along + out * n.x, 0.03 * i - 0.3, 0.4 * along + out * n.z);
        const result c = collide(&mesh, kk_transform_identity(), &b, X, 2e-3);
        KK_CHECK_EQ_INT(c.count, 1);
        KK_CHECK_NEAR(least_gap(&c), gap, 1e-12);
        KK_CHECK_NEAR(kk_vec3_dot(c.m[0].normal, n), 1, 1e-12);
    }
    kki_surface_free(s);
}

// A box mesh of many triangles: a block that overlaps its side by a hair, deep below the top, is pushed sideways.
KK_TEST(block_beside_a_step_is_pushed_sideways) {
    kk_vec3 v[8];
    kki_face f[12];
    shapes_box_corners(2, 2, 2, v);
    memcpy(f, SHAPES_BOX_FACES, sizeof f);
    kki_surface *s = meshes_surface(shapes_mesh(v, 8, f, 12));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, b = box(0.3, 0.3, 0.3);
    for (int i = 0; i < 20; i++) {
        const kk_transform X = kk_transform_translation(1.3 - 1e-3, 0.05 * i - 0.5, 0.9 - 0.03 * i);
        const result c = collide(&mesh, kk_transform_identity(), &b, X, 1e-3);
        KK_CHECK_EQ_INT(c.count, 1);
        KK_CHECK(c.m[0].normal.x == 1);
        KK_CHECK_NEAR(least_gap(&c), -1e-3, 1e-12);
        const result d = collide(&b, X, &mesh, kk_transform_identity(), 1e-3);
        KK_CHECK(d.count == 1 && d.m[0].normal.x == -1);
        KK_CHECK_NEAR(d.m[0].point[0].position.x, 1 - 1e-3, 1e-12);
    }
    kki_surface_free(s);
}

// in a corner of two walls there are two directions
KK_TEST(sphere_in_a_valley_touches_both_sides) {
    const kk_vec3 v[6] = {{-1, -1, 1}, {-1, 1, 1}, {0, -1, 0}, {0, 1, 0}, {1, -1, 1}, {1, 1, 1}};
    const kki_face f[4] = {{{0, 2, 3}}, {{0, 3, 1}}, {{2, 4, 5}}, {{2, 5, 3}}};
    kki_surface *s = meshes_surface(shapes_mesh(v, 6, f, 4));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, b = sphere(0.2);
    const result c =
        collide(&mesh, kk_transform_identity(), &b, kk_transform_translation(0, 0.1, 0.2 * sqrt(2) - 1e-4), 1e-3);
    KK_CHECK_EQ_INT(c.count, 2);
    for (int i = 0; i < c.count; i++) {
        KK_CHECK_NEAR(fabs(c.m[i].normal.x), sqrt(0.5), 1e-15);
        KK_CHECK_NEAR(c.m[i].point[0].gap, -1e-4 * sqrt(0.5), 1e-14);
    }
    kki_surface_free(s);
}

// wholly inside a solid, far from all triangles, a body finds the nearest way out
KK_TEST(body_inside_a_solid_is_pushed_out) {
    kki_surface *s = meshes_surface(shapes_box(4, 6, 8, kk_transform_identity()));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, b = box(0.1, 0.1, 0.1);
    const result c = collide(&mesh, kk_transform_identity(), &b, kk_transform_translation(0.5, 0, 0), 0);
    KK_CHECK(c.count == 1 && c.m[0].count == 1 && c.m[0].normal.x == 1);
    KK_CHECK_NEAR(least_gap(&c), -1.6, 1e-14);
    kki_surface_free(s);
}

// the same of a hull and of a mesh whose frames are elsewhere, and of what is the inner one
KK_TEST(frames_beside_their_bodies_do_not_count) {
    const kk_transform I = kk_transform_identity(), X = kk_transform_translation(0.5, 9, 0);
    kki_mesh *aside = shapes_box(0.2, 0.2, 0.2, kk_transform_translation(0, -9, 0));
    kki_surface *s[2] = {meshes_surface(shapes_box(4, 6, 8, I)), NULL};
    kki_convex *hull = NULL;
    KK_CHECK_EQ_INT(kki_convex_create(aside, NULL, &hull, NULL), KK_OK);
    s[1] = meshes_surface(aside);
    const kki_shape outer = {.type = KK_SHAPE_MESH, .surface = s[0]};
    const kki_shape inner[2] = {{.type = KK_SHAPE_HULL, .convex = hull}, {.type = KK_SHAPE_MESH, .surface = s[1]}};
    for (int k = 0; k < 2; k++) {
        const result c = collide(&outer, I, &inner[k], X, 0), turned = collide(&inner[k], X, &outer, I, 0);
        KK_CHECK(c.count == 1 && c.m[0].count == 1 && c.m[0].normal.x == 1);
        KK_CHECK(turned.count == 1 && turned.m[0].count == 1 && turned.m[0].normal.x == -1);
        KK_CHECK_NEAR(least_gap(&c), -1.6, 1e-14);
        KK_CHECK_NEAR(least_gap(&turned), -1.6, 1e-14);
        KK_CHECK_NEAR(c.m[0].point[0].position.x, 2, 1e-14);
        KK_CHECK_NEAR(turned.m[0].point[0].position.x, 0.4, 1e-14);
        kki_separation d;
        KK_CHECK(kki_distance(&outer, &I, &inner[k], &X, NULL, &d) && fabs(d.distance + 1.6) < 1e-14);
        // the frame is inside, the body is not
        KK_CHECK_EQ_INT(collide(&outer, I, &inner[k], I, 0.1).count, 0);
    }
    kki_surface_free(s[0]);
    kki_surface_free(s[1]);
    kki_convex_free(hull);
}

// a hull of a box's corners is the box
KK_TEST(hull_equals_box) {
    kki_surface *s = meshes_surface(meshes_ball(12, 8, 1));
    kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, b = box(0.3, 0.3, 0.3);
    kki_mesh *corners = shapes_box(0.6, 0.6, 0.6, kk_transform_identity()), *hull = NULL;
    kki_convex *convex = NULL;
    KK_CHECK_EQ_INT(kki_hull_of_points(corners->vertex, corners->vertex_count, NULL, NULL, &hull, NULL), KK_OK);
    KK_CHECK_EQ_INT(kki_convex_create(hull, NULL, &convex, NULL), KK_OK);
    kki_shape same = {.type = KK_SHAPE_HULL, .convex = convex};
    kk_random r = {7, 0, 0};
    for (int i = 0; i < 200; i++) {
        const kk_transform X = meshes_random_pose(&r, 1.2), I = kk_transform_identity();
        b.margin = same.margin = i % 2 ? 0.05 : 0;
        const result c = collide(&mesh, I, &b, X, 0.01), d = collide(&mesh, I, &same, X, 0.01);
        KK_CHECK_EQ_INT(c.count, d.count);
        KK_CHECK(c.count == 0 || fabs(least_gap(&c) - least_gap(&d)) < 1e-12);
    }
    kki_mesh_free(corners);
    kki_mesh_free(hull);
    kki_convex_free(convex);
    kki_surface_free(s);
}

// an L of twenty triangles: closed, with one concave edge
static kki_surface *angle_iron(void) {
    static const double xz[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    static const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    kk_vec3 v[12];
    kki_face f[20];
    int n = 0;
    for (int i = 0; i < 12; i++) {
        v[i] = kk_vec3_make(xz[i % 6][0], i < 6 ? 0 : 1, xz[i % 6][1]);
    }
    for (int i = 0; i < 4; i++) {
        f[n++] = (kki_face){{cap[i][0], cap[i][1], cap[i][2]}};
        f[n++] = (kki_face){{cap[i][0] + 6, cap[i][2] + 6, cap[i][1] + 6}};
    }
    for (int i = 0; i < 6; i++) {
        const int32_t a = i, b = (i + 1) % 6;
        f[n++] = (kki_face){{a, a + 6, b + 6}};
        f[n++] = (kki_face){{a, b + 6, b}};
    }
    return meshes_surface(shapes_mesh(v, 12, f, n));
}

// shallow contacts of a solid that is not convex: normals lead out of it, never into it
KK_TEST(normals_lead_out_of_a_solid) {
    kki_surface *s = angle_iron();
    int concave = 0, contacts = 0;
    for (int e = 0; e < s->edge_count; e++) {
        concave += s->edge_kind[e] == KKI_EDGE_CONCAVE;
    }
    KK_CHECK(s->is_solid && concave == 1);
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s};
    const kki_shape other[3] = {box(0.3, 0.2, 0.15), capsule(0.1, 0.3), sphere(0.2)};
    kk_random r = {9, 0, 0};
    for (int i = 0; i < 3000; i++) {
        kk_transform X = meshes_random_pose(&r, 1);
        X.p = kk_vec3_make(1 + 1.5 * X.p.x, 0.5 + X.p.y, 1 + 1.5 * X.p.z);
        if (kki_surface_closest(s, X.p, 10).is_inside) {
            continue;
        }
        const result c = collide(&mesh, kk_transform_identity(), &other[i % 3], X, 0.01);
        for (int k = 0; k < c.count; k++) {
            for (int p = 0; p < c.m[k].count; p++) {
                const kk_vec3 ahead = kk_vec3_add(c.m[k].point[p].position, kk_vec3_scale(c.m[k].normal, 1e-6));
                const kki_surface_point near = kki_surface_closest(s, ahead, 10);
                // in the valley the floor's normal runs along the wall
                KK_CHECK(!near.is_inside || near.distance < 1e-8);
                contacts++;
            }
        }
    }
    KK_CHECK(contacts > 1000);
    kki_surface_free(s);
}

// ---- broken meshes

static bool is_finite_manifold(const kki_manifold *m) {
    bool ok = m->count > 0 && m->count <= KKI_MANIFOLD_POINTS && fabs(kk_vec3_norm(m->normal) - 1) < 1e-9;
    for (int i = 0; i < m->count; i++) {
        const kk_vec3 p = m->point[i].position;
        ok = ok && isfinite(p.x) && isfinite(p.y) && isfinite(p.z) && isfinite(m->point[i].gap);
    }
    return ok;
}

static double pick(kk_random *r) {
    static const double VALUES[] = {0, 0, 1, -1, 1, 1e-9, -1e-9, 1e9, 0.5, 1e-160};
    return VALUES[kk_random_next_below(r, 10)];
}

static kk_vec3 pick_point(kk_random *r) {
    const double x = pick(r), y = pick(r), z = pick(r);
    return kk_vec3_make(x, y, z);
}

// triangles without area, twice the same, crossing each other, of all sizes: answers stay finite, and are the same again
KK_TEST(broken_meshes_give_finite_answers) {
    kk_random r = {8, 0, 0};
    const int rounds = kk_test_is_quick() ? 30 : 300;
    for (int i = 0; i < rounds; i++) {
        kk_vec3 v[12];
        kki_face f[20];
        for (int k = 0; k < 12; k++) {
            v[k] = pick_point(&r);
        }
        for (int k = 0; k < 20; k++) {
            for (int c = 0; c < 3; c++) {
                f[k].vertex[c] = (int32_t)kk_random_next_below(&r, 12);
            }
        }
        kki_surface *s = meshes_surface(shapes_mesh(v, 12, f, 20));
        const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s};
        const kki_shape other[4] = {sphere(0.5), capsule(0.5, 1), box(0.5, 1, 1e-9), mesh};
        for (int k = 0; k < 12; k++) {
            const kk_transform X =
                k < 8 ? (kk_transform){kk_mat3_identity(), pick_point(&r)} : meshes_random_pose(&r, 1);
            kki_manifold m[ROOM], again[ROOM];
            const kk_transform I = kk_transform_identity();
            const int n = kki_collide_mesh(&mesh, &I, &other[k % 4], &X, 0.1, NULL, m, ROOM);
            const int written = n < 0 ? ROOM : n;
            KK_CHECK_EQ_INT(kki_collide_mesh(&mesh, &I, &other[k % 4], &X, 0.1, NULL, again, ROOM), n);
            for (int j = 0; j < written; j++) {
                KK_CHECK(is_finite_manifold(&m[j]));
            }
            KK_CHECK_BYTES(m, again, (size_t)written * sizeof *m);
        }
        kki_surface_free(s);
    }
}

// ---- bodies of triangles, one exactly upon the other

// a unit cube of n × n squares a side
static kki_mesh *fine_cube(int n) {
    const int side = n + 1, all = side * side * side;
    kk_vec3 *v = malloc(sizeof *v * (size_t)all);
    int32_t *number = malloc(sizeof *number * (size_t)all);
    kki_face *f = malloc(sizeof *f * (size_t)(12 * n * n));
    int vertices = 0, faces = 0;
    for (int i = 0; i < all; i++) {
        const int at[3] = {i % side, i / side % side, i / side / side};
        bool is_rim = false;
        for (int k = 0; k < 3; k++) {
            is_rim = is_rim || at[k] == 0 || at[k] == n;
        }
        number[i] = is_rim ? vertices : -1;
        if (is_rim) {
            v[vertices++] = kk_vec3_make(at[0] / (double)n - 0.5, at[1] / (double)n - 0.5, at[2] / (double)n - 0.5);
        }
    }
    const int step[3] = {1, side, side * side};
    for (int k = 0; k < 6 * n * n; k++) {
        const int axis = k % 3, end = k / 3 % 2, a = k / 6 % n, b = k / 6 / n;
        const int u = step[(axis + 1) % 3], w = step[(axis + 2) % 3], o = end * n * step[axis] + a * u + b * w;
        const int32_t p = number[o], q = number[o + u], r = number[o + u + w], s = number[o + w];
        f[faces++] = end ? (kki_face){{p, q, r}} : (kki_face){{p, r, q}};
        f[faces++] = end ? (kki_face){{p, r, s}} : (kki_face){{p, s, r}};
    }
    kki_mesh *mesh = shapes_mesh(v, vertices, f, faces);
    free(v);
    free(number);
    free(f);
    return mesh;
}

static double span_of(const kki_manifold *m, kk_vec3 u) {
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < m->count; k++) {
        low = fmin(low, kk_vec3_dot(u, m->point[k].position));
        high = fmax(high, kk_vec3_dot(u, m->point[k].position));
    }
    return high - low;
}

static bool has_twins(const kki_manifold *m) {
    for (int i = 0; i < m->count; i++) {
        for (int k = 0; k < i; k++) {
            if (kk_vec3_norm(kk_vec3_sub(m->point[i].position, m->point[k].position)) < 1e-7) {
                return true;
            }
        }
    }
    return false;
}

static void check_stack(const kki_shape *a, const kki_shape *b, double gap, double shift, double yaw) {
    const kk_transform X = tilted(shift, -2 * shift, 1 + gap, 0, 0, yaw);
    const result r = collide(a, kk_transform_identity(), b, X, 1e-3);
    KK_CHECK_EQ_INT(r.count, 1);
    KK_CHECK(is_up(r.m[0].normal));
    KK_CHECK_NEAR(least_gap(&r), gap, 1e-12);
    KK_CHECK(span_of(&r.m[0], kk_vec3_make(1, 0, 0)) > 0.99 && span_of(&r.m[0], kk_vec3_make(0, 1, 0)) > 0.99);
    KK_CHECK(r.m[0].count >= 4 && !has_twins(&r.m[0]));
}

// Their walls lie in one plane, or cross by a hair: they look the same way and hold nothing, whatever the triangles are.
KK_TEST(walls_in_one_plane_do_not_touch) {
    const double gaps[] = {-1e-3, -1e-5, 0, 5e-4}, shifts[] = {0, 1e-6, -1e-6}, yaws[] = {0, 1e-7, 1e-4, 2e-3};
    kki_surface *coarse = meshes_surface(shapes_box(1, 1, 1, kk_transform_identity()));
    kki_surface *fine = meshes_surface(fine_cube(9));
    const kki_shape s[3] = {
        {.type = KK_SHAPE_MESH, .surface = coarse}, {.type = KK_SHAPE_MESH, .surface = fine}, box(0.5, 0.5, 0.5)};
    for (int i = 0; i < 4 * 3 * 4; i++) {
        for (int k = 0; k < 6; k++) {
            check_stack(&s[k % 2], &s[k / 2], gaps[i % 4], shifts[i / 4 % 3], yaws[i / 12]);
        }
    }
    kki_surface_free(coarse);
    kki_surface_free(fine);
}

// in one plane and beside each other: the gap is that of the edges
KK_TEST(faces_in_one_plane_are_apart) {
    kki_surface *cube = meshes_surface(shapes_box(1, 1, 1, kk_transform_identity()));
    kki_surface *sheet = meshes_surface(meshes_sheet(1, 1, meshes_flat));
    const kki_shape s[2] = {{.type = KK_SHAPE_MESH, .surface = cube}, {.type = KK_SHAPE_MESH, .surface = sheet}};
    for (int k = 0; k < 2; k++) {
        const kk_transform beside = kk_transform_translation(k == 0, 1.0005, 0),
                           away = kk_transform_translation(k == 0, 1.01, 0);
        const result r = collide(&s[k], kk_transform_identity(), &s[k], beside, 1e-3);
        KK_CHECK(r.count > 0);
        KK_CHECK_NEAR(least_gap(&r), 5e-4, 1e-12);
        KK_CHECK_EQ_INT(collide(&s[k], kk_transform_identity(), &s[k], away, 1e-3).count, 0);
    }
    kki_surface_free(cube);
    kki_surface_free(sheet);
}

// the tip of a solid against a sheet, from either side, whichever comes first
KK_TEST(sheet_is_touched_by_a_tip_from_both_sides) {
    kki_surface *s[2] = {meshes_surface(meshes_ball(7, 5, 0.5)), meshes_surface(meshes_sheet(1, 4, meshes_flat))};
    const kki_shape tip = {.type = KK_SHAPE_MESH, .surface = s[0]}, sheet = {.type = KK_SHAPE_MESH, .surface = s[1]};
    const double gaps[4] = {-1e-3, -1e-9, 1e-6, 1e-3};
    for (int i = 0; i < 8; i++) {
        const double gap = gaps[i / 2], side = i % 2 ? -1 : 1;
        const kk_transform X = kk_transform_translation(0.7, 0.2, side * (0.5 + gap)), I = kk_transform_identity();
        const result r = collide(&sheet, I, &tip, X, 2e-3), turned = collide(&tip, X, &sheet, I, 2e-3);
        KK_CHECK(r.count > 0 && turned.count > 0);
        KK_CHECK_NEAR(least_gap(&r), gap, 1e-12);
        KK_CHECK_NEAR(least_gap(&turned), gap, 1e-12);
        KK_CHECK_NEAR(r.m[0].normal.z, side, 1e-12);
        KK_CHECK_NEAR(turned.m[0].normal.z, -side, 1e-12);
    }
    kki_surface_free(s[0]);
    kki_surface_free(s[1]);
}

// two balls almost the same: all their triangles that cross look the same way, and yet they overlap
KK_TEST(bodies_one_in_the_other_overlap) {
    kki_surface *ball = meshes_surface(meshes_ball(24, 17, 0.7));
    const kki_shape s = {.type = KK_SHAPE_MESH, .surface = ball};
    kk_random random = {44, 0, 0};
    for (int i = 0; i < 40; i++) {
        kk_transform X = meshes_random_pose(&random, i % 2 ? 1e-3 : 0.1);
        const result r = collide(&s, kk_transform_identity(), &s, X, 0);
        KK_CHECK(r.count > 0 && least_gap(&r) < -1e-6);
    }
    kki_surface_free(ball);
}
