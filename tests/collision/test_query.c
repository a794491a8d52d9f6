// Public questions about shapes against closed forms: a floor, a ball, a box and the hull of a box.
#include <karakuri/collision.h>
#include <math.h>
#include <string.h>

#include "harness.h"

enum { FLOOR, BALL, BOX, HULL, SEEN };

typedef struct scene {
    kk_spec *spec;
    kk_model *model;
    kk_data *data;
} scene;

static int add_free_body(kk_spec *spec, const char *name, double x, double z) {
    kk_body_def def = kk_body_def_default();
    int id = -1;
    def.name = name;
    def.joint.type = KK_JOINT_FREE;
    def.joint.placement.p = kk_vec3_make(x, 0, z);
    def.inertia = kk_inertia_solid_sphere(1, 0.5);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &def, &id, NULL), KK_OK);
    return id;
}

static void add_shape(kk_spec *spec, int body, kk_shape_type type, double size, int mesh, int purpose) {
    kk_shape_def def = kk_shape_def_default();
    def.body = body;
    def.type = type;
    def.mesh = mesh;
    def.purpose = purpose;
    for (int i = 0; i < 3 && type != KK_SHAPE_PLANE && mesh < 0; i++) {
        def.size[i] = type == KK_SHAPE_SPHERE && i > 0 ? 0 : size;
    }
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &def, NULL, NULL), KK_OK);
}

/// A unit cube about the origin.
static int add_cube(kk_spec *spec) {
    kk_vec3 corner[8];
    for (int i = 0; i < 8; i++) {
        corner[i] = kk_vec3_make((i & 1) - 0.5, (i >> 1 & 1) - 0.5, (i >> 2 & 1) - 0.5);
    }
    static const int32_t face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    kk_mesh_def def = kk_mesh_def_default();
    int id = -1;
    def.name = "cube";
    def.vertex = corner;
    def.vertex_count = 8;
    def.face = face;
    def.face_count = 12;
    KK_CHECK_EQ_INT(kk_spec_add_mesh(spec, &def, &id, NULL), KK_OK);
    return id;
}

static scene scene_make(void) {
    scene s = {0};
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &s.spec), KK_OK);
    const int cube = add_cube(s.spec);
    add_shape(s.spec, KK_WORLD, KK_SHAPE_PLANE, 0, -1, KK_SHAPE_COLLIDES);
    add_shape(s.spec, add_free_body(s.spec, "ball", 0, 2), KK_SHAPE_SPHERE, 0.5, -1, KK_SHAPE_COLLIDES);
    add_shape(s.spec, add_free_body(s.spec, "box", 0, 0.5), KK_SHAPE_BOX, 1, -1, KK_SHAPE_COLLIDES);
    add_shape(s.spec, add_free_body(s.spec, "hull", 0.9, 0.5), KK_SHAPE_HULL, 0, cube, KK_SHAPE_COLLIDES);
    add_shape(s.spec, KK_WORLD, KK_SHAPE_SPHERE, 1, -1, KK_SHAPE_VISIBLE);
    if (!KK_CHECK_EQ_INT(kk_model_compile(s.spec, NULL, &s.model, &error), KK_OK)) {
        KK_FAIL("%s", error.text);
    }
    double q[32];
    KK_CHECK_EQ_INT(kk_data_create(s.model, NULL, &s.data), KK_OK);
    kk_model_neutral(s.model, q);
    kk_kinematics(s.model, s.data, q);
    return s;
}

static void scene_free(scene *s) {
    kk_data_free(s->data);
    kk_model_free(s->model);
    kk_spec_free(s->spec);
}

static kk_separation separation(const scene *s, int a, int b) {
    kk_separation result = {0};
    KK_CHECK_EQ_INT(kk_shape_separation(s->model, a, kk_shape_pose(s->model, s->data, a), b,
                                        kk_shape_pose(s->model, s->data, b), &result),
                    KK_OK);
    return result;
}

KK_TEST(query_distances_of_balls_boxes_and_hulls) {
    scene s = scene_make();
    const kk_separation ball = separation(&s, BOX, BALL), floor = separation(&s, FLOOR, BALL);
    KK_CHECK_NEAR(ball.distance, 0.5, 1e-12); // from the box's top at 1 to the ball's bottom at 1.5
    KK_CHECK_NEAR(ball.normal.z, 1, 1e-12);
    KK_CHECK_NEAR(floor.distance, 1.5, 1e-12);
    KK_CHECK_NEAR(floor.on_b.z, 1.5, 1e-12);
    const kk_separation deep = separation(&s, BOX, HULL);
    KK_CHECK_NEAR(deep.distance, -0.1, 1e-12);
    KK_CHECK_NEAR(deep.normal.x, 1, 1e-9);
    const kk_separation back = separation(&s, HULL, BOX);
    KK_CHECK_NEAR(back.normal.x, -1, 1e-9);
    kk_separation none;
    const kk_transform here = kk_transform_identity();
    KK_CHECK_EQ_INT(kk_shape_separation(s.model, SEEN, here, BOX, here, &none), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_shape_separation(s.model, 99, here, BOX, here, &none), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_shape_separation(s.model, FLOOR, here, FLOOR, here, &none), KK_UNSUPPORTED);
    scene_free(&s);
}

enum { RINGS = 24 };

/// A ball of radius 0.5 of many faces.
static int add_ball_mesh(kk_spec *spec) {
    enum { AROUND = 2 * RINGS, VERTICES = (RINGS - 1) * AROUND + 2, FACES = 2 * AROUND * (RINGS - 1) };
    static kk_vec3 vertex[VERTICES];
    static int32_t face[FACES][3];
    const double pi = 3.14159265358979323846;
    int faces = 0;
    vertex[0] = kk_vec3_make(0, 0, 0.5);
    vertex[VERTICES - 1] = kk_vec3_make(0, 0, -0.5);
    for (int i = 1; i < RINGS; i++) {
        for (int k = 0; k < AROUND; k++) {
            const double t = pi * i / RINGS, p = 2 * pi * k / AROUND;
            vertex[1 + (i - 1) * AROUND + k] = kk_vec3_make(0.5 * sin(t) * cos(p), 0.5 * sin(t) * sin(p), 0.5 * cos(t));
        }
    }
    for (int k = 0; k < AROUND; k++) {
        const int next = (k + 1) % AROUND;
        for (int i = 1; i < RINGS - 1; i++) {
            const int a = 1 + (i - 1) * AROUND + k, b = 1 + (i - 1) * AROUND + next;
            memcpy(face[faces++], (int32_t[3]){a, a + AROUND, b}, sizeof *face);
            memcpy(face[faces++], (int32_t[3]){b, a + AROUND, b + AROUND}, sizeof *face);
        }
        memcpy(face[faces++], (int32_t[3]){0, 1 + k, 1 + next}, sizeof *face);
        memcpy(face[faces++], (int32_t[3]){VERTICES - 1, 1 + (RINGS - 2) * AROUND + next, 1 + (RINGS - 2) * AROUND + k},
               sizeof *face);
    }
    kk_mesh_def def = kk_mesh_def_default();
    int id = -1;
    def.name = "ball";
    def.vertex = vertex;
    def.vertex_count = VERTICES;
    def.face = (const int32_t(*)[3])face;
    def.face_count = faces;
    KK_CHECK_EQ_INT(kk_spec_add_mesh(spec, &def, &id, NULL), KK_OK);
    return id;
}

// a mesh of more directions than are kept: the nearest is found from any distance
KK_TEST(query_distance_of_a_mesh_with_many_faces) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_error error = {0};
    kk_spec_create(NULL, &spec);
    add_shape(spec, KK_WORLD, KK_SHAPE_MESH, 0, add_ball_mesh(spec), KK_SHAPE_COLLIDES);
    add_shape(spec, KK_WORLD, KK_SHAPE_SPHERE, 0.1, -1, KK_SHAPE_COLLIDES);
    if (KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, &error), KK_OK)) {
        const kk_transform here = kk_transform_identity();
        for (int i = 0; i < 40; i++) {
            const double gap = 0.001 * (i + 1) * (i + 1);
            const kk_transform above = kk_transform_translation(0, 0, 0.6 + gap);
            kk_separation s;
            KK_CHECK_EQ_INT(kk_shape_separation(model, 0, here, 1, above, &s), KK_OK);
            KK_CHECK_NEAR(s.distance, gap, 1e-9);
            KK_CHECK_NEAR(s.normal.z, 1, 1e-6);
            KK_CHECK_EQ_INT(kk_shape_separation(model, 1, above, 0, here, &s), KK_OK);
            KK_CHECK_NEAR(s.distance, gap, 1e-9);
            KK_CHECK_NEAR(s.normal.z, -1, 1e-6);
        }
    }
    kk_model_free(model);
    kk_spec_free(spec);
}

KK_TEST(query_manifold_of_a_box_on_a_floor) {
    scene s = scene_make();
    kk_manifold m[4];
    const kk_transform floor = kk_shape_pose(s.model, s.data, FLOOR), box = kk_shape_pose(s.model, s.data, BOX);
    KK_CHECK_EQ_INT(kk_shape_manifolds(s.model, FLOOR, floor, BOX, box, 1e-3, m, 4), 1);
    KK_CHECK_EQ_INT(m[0].count, 4);
    for (int i = 0; i < m[0].count; i++) {
        KK_CHECK_NEAR(m[0].point[i].gap, 0, 1e-12);
        KK_CHECK_NEAR(m[0].point[i].position.x * m[0].point[i].position.x, 0.25, 1e-12);
    }
    KK_CHECK_EQ_INT(kk_shape_manifolds(s.model, SEEN, floor, BOX, box, 1e-3, m, 4), 0);
    scene_free(&s);
}

// a ball that starts 1.5 m above the floor and sinks at 2 m/s touches after 0.75 s
KK_TEST(query_impact_of_a_sinking_ball) {
    scene s = scene_make();
    const kk_transform floor = kk_shape_pose(s.model, s.data, FLOOR), ball = kk_shape_pose(s.model, s.data, BALL);
    const kk_motion rest = {{0, 0, 0}, {0, 0, 0}}, down = {{0, 0, 0}, {0, 0, -2}};
    kk_impact hit, miss;
    KK_CHECK_EQ_INT(kk_shape_impact(s.model, FLOOR, floor, rest, BALL, ball, down, 1, 0, &hit), KK_OK);
    KK_CHECK_EQ_INT(hit.kind, KK_IMPACT_HIT);
    KK_CHECK_NEAR(hit.time, 0.75, 1e-9);
    KK_CHECK_EQ_INT(kk_shape_impact(s.model, FLOOR, floor, rest, BALL, ball, down, 0.7, 0, &miss), KK_OK);
    KK_CHECK_EQ_INT(miss.kind, KK_IMPACT_NONE);
    scene_free(&s);
}

KK_TEST(query_overlaps_of_the_model) {
    scene s = scene_make();
    kk_overlap found[4];
    KK_CHECK_EQ_INT(kk_model_overlaps(s.model, s.data, -1e-6, found, 4),
                    1); // box and hull; those on the floor only touch
    KK_CHECK_EQ_INT(found[0].shape[0], BOX);
    KK_CHECK_EQ_INT(found[0].shape[1], HULL);
    KK_CHECK_NEAR(found[0].at.distance, -0.1, 1e-12);
    KK_CHECK_EQ_INT(kk_model_overlaps(s.model, s.data, 1e-6, NULL, 0), 3);
    KK_CHECK_EQ_INT(kk_model_overlaps(s.model, s.data, 10, found, 2), 6);
    scene_free(&s);
}

KK_TEST(query_rays_meet_the_nearest_shape) {
    scene s = scene_make();
    const kk_vec3 down = kk_vec3_make(0, 0, -2);
    const kk_ray_hit ball = kk_model_ray(s.model, s.data, kk_vec3_make(0, 0, 5), down, 100);
    KK_CHECK_EQ_INT(ball.shape, BALL);
    KK_CHECK_NEAR(ball.distance, 1.25, 1e-12);
    KK_CHECK_NEAR(ball.position.z, 2.5, 1e-12);
    const kk_ray_hit hull = kk_model_ray(s.model, s.data, kk_vec3_make(1.2, 0.1, 5), down, 100);
    KK_CHECK_EQ_INT(hull.shape, HULL);
    KK_CHECK_NEAR(hull.distance, 2, 1e-12);
    KK_CHECK_NEAR(hull.normal.z, 1, 1e-12);
    const kk_ray_hit within = kk_model_ray(s.model, s.data, kk_vec3_make(1.3, 0, 0.5), kk_vec3_make(1, 0, 0), 100);
    KK_CHECK_EQ_INT(within.shape, HULL);
    KK_CHECK_EQ_INT(within.is_inside, 1);
    KK_CHECK_NEAR(within.distance, 0.1, 1e-12);
    KK_CHECK_EQ_INT(kk_model_ray(s.model, s.data, kk_vec3_make(5, 5, 5), down, 100).shape, FLOOR);
    KK_CHECK_EQ_INT(kk_model_ray(s.model, s.data, kk_vec3_make(5, 5, 5), down, 2).shape, -1);
    KK_CHECK_EQ_INT(kk_model_ray(s.model, s.data, kk_vec3_make(5, 5, 5), kk_vec3_make(0, 0, 1), 100).shape, -1);
    scene_free(&s);
}
