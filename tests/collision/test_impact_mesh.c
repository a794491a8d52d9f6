// Times of impact of meshes and height fields. A closed convex mesh moves as its hull does, whose impacts are found another
// way; meshes that are not convex are sampled finely against all their triangles.
#include "bodies.h"
#include "collision/gjk.h"
#include "collision/impact.h"
#include "meshes.h"

static kki_moving moving(const kki_shape *s, kk_vec3 p, kk_vec3 v, kk_vec3 w) {
    return (kki_moving){s, kk_transform_make(kk_mat3_identity(), p), kk_motion_make(w, v)};
}

static int rounds_of(int quick, int usual) {
    const char *asked = getenv("KK_COLLISION_ROUNDS");
    return asked ? (int)strtol(asked, NULL, 10) : kk_test_is_quick() ? quick : usual;
}

static kki_convex *hull_of(const kki_surface *s) {
    kki_mesh *mesh = NULL;
    kki_convex *convex = NULL;
    kk_error error = {0};
    if (kki_hull_of_points(s->vertex, s->vertex_count, NULL, NULL, &mesh, &error) != KK_OK ||
        kki_convex_create(mesh, NULL, &convex, &error) != KK_OK) {
        KK_FAIL("hull: %s", error.text);
    }
    kki_mesh_free(mesh);
    return convex;
}

static kk_vec3 random_vector(kk_random *random, double size) {
    return bodies_offset(random, 0, size);
}

static kk_motion random_velocity(kk_random *random, double angular, double linear) {
    const kk_vec3 w = random_vector(random, angular);
    return (kk_motion){w, random_vector(random, linear)};
}

// a cube at 1000 m/s against a plate of 1 mm and a sheet without thickness
KK_TEST(fast_cube_hits_mesh_plate_and_sheet) {
    kki_surface *s[2] = {meshes_surface(shapes_box(2, 2, 0.001, kk_transform_identity())),
                         meshes_surface(meshes_sheet(10, 2, meshes_flat))};
    kki_surface *block = meshes_surface(shapes_box(0.01, 0.01, 0.01, kk_transform_identity()));
    const kki_shape cube[2] = {{.type = KK_SHAPE_BOX, .half = {0.005, 0.005, 0.005}},
                               {.type = KK_SHAPE_MESH, .surface = block}};
    const kk_vec3 none = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const kki_shape plate = {.type = KK_SHAPE_MESH, .surface = s[i % 2]};
        const kki_moving a = moving(&plate, none, none, none);
        const double z = 5.005 + (i % 2 ? 0 : 0.0005);
        const kki_moving b = moving(&cube[i / 2], kk_vec3_make(0.013, 0.07, z), kk_vec3_make(0, 0, -1000), none);
        kki_impact r;
        KK_CHECK(kki_impact_find(&a, &b, 1.0 / 60, 0, &r));
        KK_CHECK_EQ_INT(r.kind, KKI_IMPACT_HIT);
        KK_CHECK_NEAR(r.time, 0.005, 1e-11);
        KK_CHECK_NEAR(r.at.normal.z, 1, 1e-12);
        KK_CHECK(kki_impact_find(&b, &a, 1.0 / 60, 0, &r));
        KK_CHECK(r.kind == KKI_IMPACT_HIT && r.at.normal.z < -0.999);
        KK_CHECK_NEAR(r.time, 0.005, 1e-11);
        KK_CHECK(kki_impact_find(&a, &b, 0.0049, 0, &r));
        KK_CHECK_EQ_INT(r.kind, KKI_IMPACT_NONE);
    }
    kki_surface_free(s[0]);
    kki_surface_free(s[1]);
    kki_surface_free(block);
}

// ---- convex meshes as their hulls

typedef struct body {
    kki_surface *surface;
    kki_convex *convex;
    kki_shape mesh, hull;
} body;

static body make_body(kki_mesh *mesh) {
    body b = {.surface = meshes_surface(mesh)};
    b.convex = hull_of(b.surface);
    b.mesh = (kki_shape){.type = KK_SHAPE_MESH, .surface = b.surface};
    b.hull = (kki_shape){.type = KK_SHAPE_HULL, .convex = b.convex};
    return b;
}

static void free_body(body *b) {
    kki_surface_free(b->surface);
    kki_convex_free(b->convex);
}

static void same_impact(const kki_moving *a, const kki_moving *b, const kki_moving *a_hull, const kki_moving *b_hull,
                        double duration, int *hits) {
    kki_impact r, e;
    if (!KK_CHECK(kki_impact_find(a, b, duration, 0, &r) && kki_impact_find(a_hull, b_hull, duration, 0, &e))) {
        return;
    }
    KK_CHECK(r.kind != KKI_IMPACT_UNSURE && e.kind != KKI_IMPACT_UNSURE);
    KK_CHECK_EQ_INT(r.kind, e.kind);
    KK_CHECK_NEAR(r.time, e.time, 1e-9 * duration);
    if (r.kind == KKI_IMPACT_HIT && r.time > 0) {
        KK_CHECK_NEAR(r.at.distance, 0, 1e-9);
        ++*hits;
    }
}

static kki_moving thrown(const kki_shape *s, kk_random *r, kk_vec3 p, double spin) {
    kki_moving m = {.shape = s, .X_WS = {bodies_rotation(r), p}};
    m.velocity.angular = random_vector(r, spin);
    m.velocity.linear = kk_vec3_add(kk_vec3_scale(p, -0.8), random_vector(r, 2));
    return m;
}

// every kind of body against a mesh, both turning, slow and very fast
KK_TEST(mesh_is_met_when_its_hull_is) {
    kk_random r = {31, 1, 0};
    body ball = make_body(meshes_ball(10, 7, 1)), small = make_body(meshes_ball(6, 3, 0.4));
    kki_convex *hull = bodies_hull(&r, 32);
    int hits = 0;
    const int rounds = rounds_of(90, 300);
    for (int i = 0; i < rounds; i++) {
        const int type = i % 9;
        const bool is_mesh = type == 8;
        const kki_shape x = is_mesh ? small.mesh : bodies_shape(&r, type, hull);
        kki_moving a = thrown(&ball.mesh, &r, kk_vec3_make(0, 0, 0), i % 3 ? 5 : 20);
        kki_moving b = thrown(&x, &r, kk_vec3_scale(bodies_unit(&r), 5), i % 2 ? 10 : 20);
        if (type == KK_SHAPE_PLANE) {
            b.velocity.angular = random_vector(&r, 0.5);
            b.X_WS.R = kk_mat3_transpose(b.X_WS.R);
        }
        kki_moving a_hull = a, b_hull = b;
        a_hull.shape = &ball.hull;
        b_hull.shape = is_mesh ? &small.hull : &x;
        same_impact(i & 1 ? &a : &b, i & 1 ? &b : &a, i & 1 ? &a_hull : &b_hull, i & 1 ? &b_hull : &a_hull, 2, &hits);
    }
    KK_CHECK(hits > rounds / 4);
    kki_convex_free(hull);
    free_body(&ball);
    free_body(&small);
}

// a rod at 1000 rad/s among the triangles of a ball
KK_TEST(whirling_rod_meets_mesh) {
    kk_random r = {32, 1, 0};
    body ball = make_body(meshes_ball(10, 7, 0.3));
    const kki_shape rod = {.type = KK_SHAPE_CAPSULE, .half = {0.01, 0.5}},
                    bar = {.type = KK_SHAPE_BOX, .half = {0.02, 0.01, 0.6}};
    int hits = 0;
    const int rounds = rounds_of(20, 200);
    for (int i = 0; i < rounds; i++) {
        const kk_vec3 place = bodies_offset(&r, 0.5, 1);
        kki_moving a = {.shape = &ball.mesh, .X_WS = {bodies_rotation(&r), place}};
        a.velocity = random_velocity(&r, 10, 5);
        kki_moving b = {.shape = i % 2 ? &rod : &bar, .X_WS = {bodies_rotation(&r), {0, 0, 0}}};
        b.velocity.linear = random_vector(&r, 5);
        b.velocity.angular = kk_vec3_scale(bodies_unit(&r), 1000);
        kki_moving a_hull = a;
        a_hull.shape = &ball.hull;
        same_impact(&a, &b, &a_hull, &b, 0.01, &hits);
    }
    KK_CHECK(hits > rounds / 4);
    free_body(&ball);
}

// ---- shapes that are not convex

static double distance_from_all(const kki_moving *m, const kki_moving *x, double t) {
    const kk_transform A = kki_moving_pose(m, t), B = kki_moving_pose(x, t);
    const kki_core core = kki_core_of(x->shape);
    const kki_surface *s = m->shape->surface;
    double least = INFINITY;
    for (int i = 0; i < s->face_count; i++) {
        const kki_core triangle = kki_core_triangle(s->corner[i], m->shape->margin);
        kki_pair_memory memory = {0};
        kki_separation r;
        kki_core_separation_between(&triangle, &A, &core, &B, &memory, &r);
        least = fmin(least, r.distance);
    }
    return least;
}

// nothing touches before the time given, and then it does
KK_TEST(hills_are_never_passed_through) {
    kk_random r = {33, 1, 0};
    kki_surface *s = meshes_surface(meshes_sheet(8, 3, meshes_hills));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s, .margin = 0.01};
    int hits = 0;
    for (int i = 0; i < (kk_test_is_quick() ? 14 : 70); i++) {
        kki_shape x = bodies_shape(&r, 1 + i % KK_SHAPE_BOX, NULL);
        for (int k = 0; k < 3; k++) {
            x.half[k] *= 0.3;
        }
        kki_moving a = {.shape = &mesh, .X_WS = bodies_pose(&r, 0.1)};
        a.velocity = random_velocity(&r, 2, 1);
        kki_moving b = thrown(&x, &r, kk_vec3_scale(bodies_unit(&r), 3), 10);
        kki_impact q;
        KK_CHECK(kki_impact_find(&a, &b, 2, 0, &q) && q.kind != KKI_IMPACT_UNSURE);
        for (int k = 0; k < 60; k++) {
            KK_CHECK(q.time == 0 || distance_from_all(&a, &b, q.time * k / 60) > 0);
        }
        if (q.kind == KKI_IMPACT_HIT && q.time > 0) {
            KK_CHECK_NEAR(distance_from_all(&a, &b, q.time), 0, 1e-9);
            hits++;
        }
    }
    KK_CHECK(hits > (kk_test_is_quick() ? 3 : 20));
    kki_surface_free(s);
}

// a field and a sheet of the same heights are met from above at the same times; its base and walls from elsewhere
KK_TEST(height_field_is_met_when_its_sheet_is) {
    kk_random r = {34, 1, 0};
    kki_surface *s = meshes_surface(meshes_sheet(12, 3, meshes_hills));
    kki_height_field *f = meshes_field(12, 3, -2, meshes_hills);
    body small = make_body(meshes_ball(6, 3, 0.2));
    const kki_shape sheet = {.type = KK_SHAPE_MESH, .surface = s}, field = {.type = KK_SHAPE_HEIGHT_FIELD, .field = f};
    const kki_shape ball = {.type = KK_SHAPE_SPHERE, .half = {0.15}};
    int hits = 0;
    for (int i = 0; i < 60; i++) {
        kki_moving a = {.shape = &sheet, .X_WS = bodies_pose(&r, 0.1)};
        a.velocity = random_velocity(&r, 0.3, 0.5);
        const double x = shapes_uniform(&r), y = shapes_uniform(&r);
        const kk_vec3 p = kk_transform_point(a.X_WS, kk_vec3_make(x, y, 1));
        kki_moving b = {.shape = i % 2 ? &small.mesh : &ball, .X_WS = {bodies_rotation(&r), p}};
        b.velocity.angular = random_vector(&r, 10);
        b.velocity.linear = kk_vec3_scale(kk_mat3_column(a.X_WS.R, 2), -3);
        kki_moving c = a;
        c.shape = &field;
        same_impact(&c, &b, &a, &b, 0.3, &hits);
    }
    KK_CHECK(hits > 30);
    const kk_vec3 none = {0, 0, 0};
    const kki_moving still = moving(&field, none, none, none);
    kki_moving below = moving(&ball, kk_vec3_make(0.3, 0.2, -4.15), kk_vec3_make(0, 0, 100), none);
    kki_moving beside = moving(&ball, kk_vec3_make(3.65, 0.2, -1), kk_vec3_make(-100, 0, 0), none);
    kki_impact q;
    KK_CHECK(kki_impact_find(&still, &below, 1, 0, &q) && q.kind == KKI_IMPACT_HIT);
    KK_CHECK_NEAR(q.time, 0.02, 1e-12);
    KK_CHECK(kki_impact_find(&beside, &still, 1, 0, &q) && q.kind == KKI_IMPACT_HIT);
    KK_CHECK_NEAR(q.time, 0.02, 1e-12);
    kki_surface_free(s);
    kki_height_field_free(f);
    free_body(&small);
}

KK_TEST(body_inside_a_solid_starts_as_a_hit) {
    body ball = make_body(meshes_ball(10, 7, 1));
    const kki_shape x = {.type = KK_SHAPE_BOX, .half = {0.1, 0.1, 0.1}};
    const kk_vec3 none = {0, 0, 0};
    const kki_moving a = moving(&ball.mesh, none, none, none), b = moving(&x, none, kk_vec3_make(1, 0, 0), none);
    kki_impact q;
    KK_CHECK(kki_impact_find(&a, &b, 0.1, 0, &q) && q.kind == KKI_IMPACT_HIT && q.time == 0);
    free_body(&ball);
}
