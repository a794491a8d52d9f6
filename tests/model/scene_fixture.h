// A scene with one of everything, and short words for changing it.
#ifndef KK_TESTS_MODEL_SCENE_FIXTURE_H
#define KK_TESTS_MODEL_SCENE_FIXTURE_H

#include "fixture.h"

static const kk_vec3 scene_vertices[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int32_t scene_faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
static const double scene_heights[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};

static inline int scene_shape(kk_spec *spec, const char *name, int body, kk_shape_type type, double x, double y,
                              double z) {
    kk_shape_def shape = kk_shape_def_default();
    shape.name = name;
    shape.body = body;
    shape.type = type;
    shape.size[0] = x;
    shape.size[1] = y;
    shape.size[2] = z;
    shape.mesh = type == KK_SHAPE_HULL || type == KK_SHAPE_MESH ? 0 : -1;
    shape.height_field = type == KK_SHAPE_HEIGHT_FIELD ? 0 : -1;
    int id = -1;
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, &id, NULL), KK_OK);
    return id;
}

static inline int scene_material(kk_spec *spec, const char *name, double friction) {
    kk_material_def material = kk_material_def_default();
    material.name = name;
    material.friction = friction;
    int id = -1;
    KK_CHECK_EQ_INT(kk_spec_add_material(spec, &material, &id, NULL), KK_OK);
    return id;
}

static inline void scene_geometry(kk_spec *spec) {
    static const kk_mesh_part part = {.name = "skin", .texture = "skin.png", .face_count = 4};
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "tetrahedron";
    mesh.vertex = scene_vertices;
    mesh.vertex_count = 4;
    mesh.face = scene_faces;
    mesh.face_count = 4;
    mesh.part = &part;
    mesh.part_count = 1;
    KK_CHECK_EQ_INT(kk_spec_add_mesh(spec, &mesh, NULL, NULL), KK_OK);
    kk_height_field_def field = kk_height_field_def_default();
    field.name = "hill";
    field.rows = 2;
    field.columns = 3;
    field.height = scene_heights;
    KK_CHECK_EQ_INT(kk_spec_add_height_field(spec, &field, NULL, NULL), KK_OK);
    kk_visual_def visual = kk_visual_def_default();
    visual.name = "grey";
    KK_CHECK_EQ_INT(kk_spec_add_visual(spec, &visual, NULL, NULL), KK_OK);
}

/// upper (1) on the world and fore (2) on it by hinges, hand (3) fixed to fore, ball (4) free, eye (5) on a ball joint.
static inline void scene_bodies(kk_spec *spec) {
    const int upper = fixture_add_box(spec, "upper", KK_WORLD, KK_JOINT_HINGE);
    const int fore = fixture_add_box(spec, "fore", upper, KK_JOINT_HINGE);
    fixture_add_box(spec, "hand", fore, KK_JOINT_FIXED);
    fixture_add_box(spec, "ball", KK_WORLD, KK_JOINT_FREE);
    fixture_add_box(spec, "eye", upper, KK_JOINT_BALL);
    kk_frame_def frame = kk_frame_def_default();
    frame.name = "tip";
    frame.body = 3;
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
    frame.name = "anchor";
    frame.body = 0;
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
}

/// floor 0, upper 1, fore 2, hand 3, ball 4, eye 5, hill 6, sheet 7, and a sphere that is only seen 8.
static inline void scene_shapes(kk_spec *spec) {
    scene_shape(spec, "floor", KK_WORLD, KK_SHAPE_PLANE, 0, 0, 0);
    scene_shape(spec, "upper", 1, KK_SHAPE_CAPSULE, 0.1, 0.5, 0);
    scene_shape(spec, "fore", 2, KK_SHAPE_BOX, 0.1, 0.2, 0.3);
    scene_shape(spec, "hand", 3, KK_SHAPE_HULL, 0, 0, 0);
    scene_shape(spec, "ball", 4, KK_SHAPE_SPHERE, 0.2, 0, 0);
    scene_shape(spec, "eye", 5, KK_SHAPE_ELLIPSOID, 0.1, 0.2, 0.3);
    scene_shape(spec, "hill", KK_WORLD, KK_SHAPE_HEIGHT_FIELD, 0, 0, 0);
    scene_shape(spec, "sheet", KK_WORLD, KK_SHAPE_MESH, 0, 0, 0);
    const int seen = scene_shape(spec, "seen", 4, KK_SHAPE_SPHERE, 0.3, 0, 0);
    kk_spec_shape(spec, seen)->purpose = KK_SHAPE_VISIBLE;
    kk_spec_shape(spec, seen)->visual = 0;
}

static inline void scene_constraints(kk_spec *spec) {
    kk_loop_def loop = kk_loop_def_default();
    loop.name = "rod";
    loop.type = KK_LOOP_DISTANCE;
    loop.body[0] = 3;
    loop.body[1] = 4;
    loop.distance = 1.5;
    KK_CHECK_EQ_INT(kk_spec_add_loop(spec, &loop, NULL, NULL), KK_OK);
    const kk_tendon_item joints[] = {{.name = "upper_joint", .coefficient = 2},
                                     {.name = "fore_joint", .coefficient = -1}};
    kk_tendon_def tendon = kk_tendon_def_default();
    tendon.name = "sum";
    tendon.item = joints;
    tendon.item_count = 2;
    KK_CHECK_EQ_INT(kk_spec_add_tendon(spec, &tendon, NULL, NULL), KK_OK);
    const kk_tendon_item frames[] = {{.name = "tip", .coefficient = 0},
                                     {.name = "anchor", .coefficient = 0},
                                     {.coefficient = 2},
                                     {.name = "anchor", .coefficient = 0},
                                     {.name = "tip", .coefficient = 0}};
    tendon.name = "rope";
    tendon.type = KK_TENDON_SPATIAL;
    tendon.item = frames;
    tendon.item_count = 5;
    KK_CHECK_EQ_INT(kk_spec_add_tendon(spec, &tendon, NULL, NULL), KK_OK);
}

static inline void scene_actuator(kk_spec *spec, const char *name, kk_transmission transmission, const char *target,
                                  kk_activation activation) {
    kk_actuator_def actuator = kk_actuator_def_default();
    actuator.name = name;
    actuator.transmission = transmission;
    actuator.target = target;
    actuator.activation = activation;
    actuator.time_constant = 0.1;
    KK_CHECK_EQ_INT(kk_spec_add_actuator(spec, &actuator, NULL, NULL), KK_OK);
}

static inline void scene_sensor(kk_spec *spec, const char *name, kk_sensor_type type, const char *target) {
    kk_sensor_def sensor = kk_sensor_def_default();
    sensor.name = name;
    sensor.type = type;
    sensor.target = target;
    KK_CHECK_EQ_INT(kk_spec_add_sensor(spec, &sensor, NULL, NULL), KK_OK);
}

/// Coordinates in the spec's order: upper 1, fore 1, ball 7, eye 4; velocities 1, 1, 6, 3.
static inline void scene_control(kk_spec *spec) {
    scene_actuator(spec, "servo", KK_TRANSMISSION_JOINT, "fore_joint", KK_ACTIVATION_FILTER);
    scene_actuator(spec, "winch", KK_TRANSMISSION_TENDON, "rope", KK_ACTIVATION_NONE);
    scene_actuator(spec, "jet", KK_TRANSMISSION_FRAME, "tip", KK_ACTIVATION_INTEGRATE);
    scene_sensor(spec, "angle", KK_SENSOR_JOINT_POSITION, "fore_joint");
    scene_sensor(spec, "gaze", KK_SENSOR_BALL_ORIENTATION, "eye_joint");
    scene_sensor(spec, "where", KK_SENSOR_POSITION, "tip");
    scene_sensor(spec, "mass", KK_SENSOR_CENTER_OF_MASS, "upper");
    scene_sensor(spec, "pull", KK_SENSOR_ACTUATOR_FORCE, "winch");
    scene_sensor(spec, "length", KK_SENSOR_TENDON_LENGTH, "rope");
    scene_sensor(spec, "clock", KK_SENSOR_CLOCK, NULL);
    static const double q[13] = {0.1, 0.2, 1, 0, 0, 0, 3, 4, 5, 0, 0.6, 0.8, 0};
    static const double v[11] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, control[3] = {0.5, 6, 7};
    const kk_keyframe_def home = {.name = "home",
                                  .time = 2,
                                  .q = q,
                                  .v = v,
                                  .control = control,
                                  .q_count = 13,
                                  .v_count = 11,
                                  .control_count = 3};
    KK_CHECK_EQ_INT(kk_spec_add_keyframe(spec, &home, NULL, NULL), KK_OK);
}

static inline kk_spec *scene_spec(void) {
    kk_spec *spec = fixture_spec();
    KK_CHECK_EQ_INT(kk_spec_set_name(spec, "everything", NULL), KK_OK);
    scene_bodies(spec);
    scene_geometry(spec);
    scene_material(spec, "rubber", 1.2);
    scene_shapes(spec);
    kk_spec_shape(spec, 4)->material = 1;
    scene_constraints(spec);
    scene_control(spec);
    return spec;
}

#endif
