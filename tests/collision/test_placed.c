// Public queries: closed forms for loose shapes; a model's shapes against the same questions asked shape by shape.
#include <karakuri/collision.h>
#include <karakuri/random.h>
#include <karakuri/spec.h>

#include <math.h>

#include "harness.h"

static kk_geometry *geometry(kk_shape_type type, double x, double y, double z) {
    kk_shape_def def = kk_shape_def_default();
    def.type = type;
    def.size[0] = x, def.size[1] = y, def.size[2] = z;
    kk_geometry *g = NULL;
    kk_error error = {0};
    if (kk_geometry_create(&def, NULL, NULL, NULL, &g, &error) != KK_OK) {
        KK_FAIL("geometry: %s", error.text);
    }
    return g;
}

// a closed box of triangles, 2 × 2 × 2
static kk_geometry *mesh_box(void) {
    static const kk_vec3 v[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                 {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
    static const int32_t f[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "box";
    mesh.vertex = v, mesh.vertex_count = 8;
    mesh.face = f, mesh.face_count = 12;
    kk_shape_def def = kk_shape_def_default();
    def.type = KK_SHAPE_MESH;
    kk_geometry *g = NULL;
    kk_error error = {0};
    if (kk_geometry_create(&def, &mesh, NULL, NULL, &g, &error) != KK_OK) {
        KK_FAIL("geometry: %s", error.text);
    }
    return g;
}

static kk_placed at(const kk_geometry *g, double x, double y, double z) {
    return (kk_placed){g, kk_transform_translation(x, y, z), {{0, 0, 0}, {0, 0, 0}}};
}

KK_TEST(two_loose_shapes) {
    kk_geometry *ball = geometry(KK_SHAPE_SPHERE, 0.5, 0, 0), *solid[2] = {geometry(KK_SHAPE_BOX, 2, 2, 2), mesh_box()};
    for (int i = 0; i < 2; i++) {
        const kk_placed box = at(solid[i], 1, 0, 0);
        kk_placed b = at(ball, 4, 0, 0);
        kk_separation s;
        KK_CHECK_EQ_INT(kk_placed_separation(&box, &b, &s), KK_OK);
        KK_CHECK_NEAR(s.distance, 1.5, 1e-14);
        KK_CHECK_NEAR(s.on_a.x, 2, 1e-14);
        KK_CHECK_NEAR(s.on_b.x, 3.5, 1e-14);
        KK_CHECK(kk_placed_overlap(&box, &b, 1.6) && !kk_placed_overlap(&box, &b, 1.4));
        b.velocity.linear = kk_vec3_make(-3, 0, 0);
        kk_impact hit;
        KK_CHECK_EQ_INT(kk_placed_impact(&box, &b, 1, &hit), KK_OK);
        KK_CHECK_EQ_INT(hit.kind, KK_IMPACT_HIT);
        KK_CHECK_NEAR(hit.time, 0.5, 1e-9);
        KK_CHECK_NEAR(hit.at.normal.x, 1, 1e-9);
        KK_CHECK(kk_placed_impact(&box, &b, 0.4, &hit) == KK_OK && hit.kind == KK_IMPACT_NONE);
        kk_manifold m[4];
        const kk_placed near = at(ball, 2.4, 0.1, 0.2);
        KK_CHECK_EQ_INT(kk_placed_manifolds(&box, &near, 0, m, 4), 1);
        KK_CHECK_NEAR(m[0].point[0].gap, -0.1, 1e-14);
        KK_CHECK_NEAR(m[0].normal.x, 1, 1e-14);
        const kk_ray ray = {{1.3, 0.2, 9}, {0, 0, -2}, 100};
        const kk_ray_hit r = kk_placed_ray(&box, &ray);
        KK_CHECK(r.shape == 0 && !r.is_inside);
        KK_CHECK_NEAR(r.distance, 4, 1e-14);
        KK_CHECK_NEAR(r.position.z, 1, 1e-14);
        KK_CHECK_NEAR(r.normal.z, 1, 1e-14);
        KK_CHECK_EQ_INT(kk_placed_point(&box, kk_vec3_make(1.9, 0.2, 0.1), &s), KK_OK);
        KK_CHECK_NEAR(s.distance, -0.1, 1e-14);
        KK_CHECK_NEAR(s.normal.x, 1, 1e-14);
        KK_CHECK_EQ_INT(kk_placed_point(&box, kk_vec3_make(2.3, 0, 1.4), &s), KK_OK);
        KK_CHECK_NEAR(s.distance, 0.5, 1e-14);
        kk_geometry_free(solid[i]);
    }
    kk_geometry_free(ball);
}

// No pose that is no number, or from which squares overflow, is answered as if it were one: above all «none» is a proof.
KK_TEST(absurd_places_are_told) {
    const double odd[] = {NAN, INFINITY, -INFINITY, 1e160, -1e300};
    kk_geometry *g[3] = {geometry(KK_SHAPE_SPHERE, 0.5, 0, 0), geometry(KK_SHAPE_BOX, 1, 1, 1), mesh_box()};
    for (int i = 0; i < 9 * 5; i++) {
        const kk_placed a = at(g[i % 3], 0, 0, 0);
        kk_placed b = at(g[i / 3 % 3], 0, 0, 2.5), mover = b, spinner = b, turned = b;
        b.pose.p.x = mover.velocity.linear.z = spinner.velocity.angular.y = turned.pose.R.m[4] = odd[i / 9];
        kk_separation s;
        kk_impact hit;
        kk_manifold m[2];
        KK_CHECK_EQ_INT(kk_placed_separation(&a, &b, &s), KK_INVALID_ARGUMENT);
        KK_CHECK_EQ_INT(kk_placed_separation(&turned, &a, &s), KK_INVALID_ARGUMENT);
        KK_CHECK_EQ_INT(kk_placed_point(&a, b.pose.p, &s), KK_INVALID_ARGUMENT);
        KK_CHECK(!kk_placed_overlap(&a, &b, 1) && kk_placed_manifolds(&a, &b, 1, m, 2) == 0);
        const kk_placed *moving[3] = {&b, &mover, &spinner};
        for (int k = 0; k < 3; k++) {
            KK_CHECK(kk_placed_impact(&a, moving[k], 1, &hit) == KK_OK && hit.kind == KK_IMPACT_UNSURE &&
                     hit.time == 0);
        }
    }
    const kk_placed a = at(g[2], 0, 0, 0), b = at(g[2], 0, 0, 1.9);
    KK_CHECK(kk_placed_manifolds(&a, &b, 0, NULL, 0) == 0 && kk_placed_manifolds(&a, &b, 0, NULL, -3) == 0);
    for (int i = 0; i < 3; i++) {
        kk_geometry_free(g[i]);
    }
}

KK_TEST(common_part_of_two_boxes) {
    kk_geometry *cube = geometry(KK_SHAPE_BOX, 1, 1, 1), *ball = geometry(KK_SHAPE_SPHERE, 1, 0, 0);
    const kk_placed a = at(cube, 0, 0, 0), b = at(cube, 0.25, 0, 0.9), c = at(ball, 0, 0, 0);
    kk_overlap_region r;
    KK_CHECK_EQ_INT(kk_placed_overlap_region(&a, &b, &r), KK_OK);
    KK_CHECK_NEAR(r.volume, 0.075, 1e-15);
    KK_CHECK_NEAR(r.area, 0.75, 1e-15);
    KK_CHECK_NEAR(r.centroid.z, 0.45, 1e-15);
    KK_CHECK_EQ_INT(kk_placed_overlap_region(&a, &c, &r), KK_UNSUPPORTED);
    kk_geometry_free(cube);
    kk_geometry_free(ball);
}

KK_TEST(geometry_says_what_it_lacks) {
    kk_shape_def def = kk_shape_def_default();
    kk_geometry *g = NULL;
    kk_error error = {0};
    def.type = KK_SHAPE_HULL;
    KK_CHECK_EQ_INT(kk_geometry_create(&def, NULL, NULL, NULL, &g, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(g == NULL && error.text[0]);
    def.type = KK_SHAPE_SPHERE;
    def.size[0] = -1;
    KK_CHECK(kk_geometry_create(&def, NULL, NULL, NULL, &g, &error) != KK_OK && g == NULL);
    kk_geometry *plane = geometry(KK_SHAPE_PLANE, 0, 0, 0);
    const kk_placed p = at(plane, 0, 0, 0);
    kk_separation s;
    kk_impact impact;
    KK_CHECK_EQ_INT(kk_placed_separation(&p, &p, &s), KK_UNSUPPORTED);
    KK_CHECK_EQ_INT(kk_placed_impact(&p, &p, 1, &impact), KK_UNSUPPORTED);
    kk_geometry_free(plane);
}

// ---- a model

enum { BALLS = 40 };

typedef struct world {
    kk_model *model;
    kk_data *data;
    kk_scene *scene;
    kk_vec3 center[BALLS];
    double radius[BALLS];
} world;

// spheres at rest on hinges about the world's origin, and a plane far below; shape 0 is for show only
static world make_world(kk_random *r) {
    world w = {0};
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_shape_def floor = kk_shape_def_default();
    floor.type = KK_SHAPE_PLANE;
    floor.purpose = KK_SHAPE_VISIBLE;
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &floor, NULL, NULL), KK_OK);
    floor.purpose = KK_SHAPE_COLLIDES;
    floor.placement.p.z = -20;
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &floor, NULL, NULL), KK_OK);
    for (int i = 0; i < BALLS; i++) {
        static char name[BALLS][8];
        kk_body_def body = kk_body_def_default();
        name[i][0] = (char)('a' + i / 10), name[i][1] = (char)('0' + i % 10), name[i][2] = 0;
        body.name = name[i];
        body.joint.type = KK_JOINT_HINGE;
        body.joint.axis = kk_vec3_make(0, 0, 1);
        body.inertia = kk_inertia_solid_sphere(1, 1);
        kk_shape_def ball = kk_shape_def_default();
        ball.type = KK_SHAPE_SPHERE;
        w.radius[i] = ball.size[0] = kk_random_next_between(r, 0.2, 0.8);
        const double x = kk_random_next_between(r, -5, 5), y = kk_random_next_between(r, -5, 5);
        ball.placement.p = kk_vec3_make(x, y, kk_random_next_between(r, -5, 5));
        w.center[i] = kk_vec3_make(-y, x, ball.placement.p.z); // after a quarter turn
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &ball.body, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &ball, NULL, NULL), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &w.model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create(w.model, NULL, &w.data), KK_OK);
    KK_CHECK_EQ_INT(kk_scene_create(w.model, NULL, &w.scene, NULL), KK_OK);
    kk_spec_free(spec);
    double q[BALLS];
    for (int i = 0; i < BALLS; i++) {
        q[i] = KK_HALF_PI;
    }
    kk_kinematics(w.model, w.data, q);
    kk_scene_place(w.scene, w.data);
    return w;
}

static void free_world(world *w) {
    kk_scene_free(w->scene);
    kk_data_free(w->data);
    kk_model_free(w->model);
}

// the nearest of all spheres and the plane, by the quadratic equation
static double ray_by_hand(const world *w, const kk_ray *ray, int *shape) {
    double best = ray->limit;
    *shape = -1;
    const double a = kk_vec3_dot(ray->direction, ray->direction);
    if (ray->direction.z != 0) {
        const double t = (-20 - ray->origin.z) / ray->direction.z;
        if (t >= 0 && t <= best) {
            best = t;
            *shape = 1;
        }
    }
    for (int i = 0; i < BALLS; i++) {
        const kk_vec3 m = kk_vec3_sub(ray->origin, w->center[i]);
        const double b = kk_vec3_dot(m, ray->direction), c = kk_vec3_dot(m, m) - w->radius[i] * w->radius[i];
        const double root = b * b - a * c, near = (-b - sqrt(fmax(root, 0))) / a, far = (-b + sqrt(fmax(root, 0))) / a;
        const double t = near >= 0 ? near : far;
        if (root >= 0 && t >= 0 && t < best) {
            best = t;
            *shape = i + 2;
        }
    }
    return best;
}

KK_TEST(rays_against_a_model) {
    kk_random r = {41, 0, 0};
    world w = make_world(&r);
    enum { RAYS = 500 };
    kk_ray ray[RAYS];
    kk_ray_hit hit[RAYS];
    int hits = 0;
    for (int i = 0; i < RAYS; i++) {
        double x[6];
        for (int k = 0; k < 6; k++) {
            x[k] = kk_random_next_between(&r, -6, 6);
        }
        ray[i] = (kk_ray){{x[0], x[1], x[2]}, {x[3], x[4], x[5]}, 3};
    }
    kk_scene_rays(w.scene, ray, RAYS, hit);
    for (int i = 0; i < RAYS; i++) {
        int shape;
        const double t = ray_by_hand(&w, &ray[i], &shape);
        KK_CHECK_EQ_INT(hit[i].shape, shape);
        KK_CHECK_NEAR(shape < 0 ? ray[i].limit : hit[i].distance, t, 1e-10);
        hits += shape >= 2;
    }
    KK_CHECK(hits > 50);
    free_world(&w);
}

KK_TEST(loose_sphere_against_a_model) {
    kk_random r = {42, 0, 0};
    world w = make_world(&r);
    kk_geometry *ball = geometry(KK_SHAPE_SPHERE, 0.3, 0, 0);
    int touched = 0;
    for (int k = 0; k < 200; k++) {
        const double x = kk_random_next_between(&r, -5, 5), y = kk_random_next_between(&r, -5, 5);
        kk_placed p = at(ball, x, y, kk_random_next_between(&r, -5, 5));
        int expected = 0, nearest = 0, found[BALLS];
        double least = INFINITY;
        for (int i = 0; i < BALLS; i++) {
            const double d = kk_vec3_norm(kk_vec3_sub(w.center[i], p.pose.p)) - w.radius[i] - 0.3;
            expected += d <= 0.5;
            nearest = d < least ? i : nearest;
            least = fmin(d, least);
        }
        kk_separation s;
        KK_CHECK_EQ_INT(kk_scene_nearest(w.scene, &p, &s), nearest + 2);
        KK_CHECK_NEAR(s.distance, least, 1e-12);
        KK_CHECK_EQ_INT(kk_scene_overlap(w.scene, &p, 0.5, found, BALLS), expected);
        for (int i = 1; i < expected; i++) {
            KK_CHECK(found[i - 1] < found[i]);
        }
        // a sphere cast is a ray against larger spheres
        p.velocity.linear = kk_vec3_make(3, -2, 1);
        p.velocity.angular = kk_vec3_make(1, 2, 3);
        world larger = w;
        for (int i = 0; i < BALLS; i++) {
            larger.radius[i] += 0.3;
        }
        const kk_ray ray = {p.pose.p, p.velocity.linear, 2};
        int shape;
        const double t = ray_by_hand(&larger, &ray, &shape);
        kk_impact impact;
        const int first = kk_scene_cast(w.scene, &p, 2, &impact);
        if (least > 0) {
            KK_CHECK_EQ_INT(first, shape);
            KK_CHECK_NEAR(impact.time, t, 1e-9);
            touched += first >= 0;
        } else {
            KK_CHECK(first >= 0 && impact.time == 0);
        }
    }
    KK_CHECK(touched > 20);
    kk_geometry_free(ball);
    free_world(&w);
}
