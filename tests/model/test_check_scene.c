// Bad use of shapes, materials, constraints, actuators, sensors and keyframes: refused, with the item and the fix.
#include "scene_fixture.h"

static const double NaN = __builtin_nan(""), inf = __builtin_inf();

/// One number of one item of the scene is changed, and compiling must fail with these words.
#define REFUSED(kind, id, field, value, status, item, words) \
    do {                                                     \
        kk_spec *scene_ = scene_spec();                      \
        kk_spec_##kind(scene_, id)->field = (value);         \
        fixture_refused(scene_, status, item, words);        \
    } while (0)

KK_TEST(sound_scene_compiles) {
    kk_model_free(fixture_compile(scene_spec()));
}

KK_TEST(shapes_without_size_or_place_are_refused) {
    REFUSED(shape, 4, size[0], 0, KK_INVALID_MODEL,
            "shape \"ball\":", "the radius (size[0]) is 0; it must be positive");
    REFUSED(shape, 4, size[0], NaN, KK_NOT_FINITE, "shape \"ball\":", "finite");
    REFUSED(shape, 4, size[0], 1e16, KK_LIMIT_EXCEEDED, "shape \"ball\":", "check the units");
    REFUSED(shape, 1, size[1], -1, KK_INVALID_MODEL, "shape \"upper\":", "the length (size[1]) is -1");
    REFUSED(shape, 2, size[2], 0, KK_INVALID_MODEL, "shape \"fore\":", "the edge size[2]");
    REFUSED(shape, 5, size[1], 0, KK_INVALID_MODEL, "shape \"eye\":", "the radius size[1]");
    REFUSED(shape, 4, margin, -1e-3, KK_INVALID_MODEL, "shape \"ball\":", "the margin is -0.001");
    REFUSED(shape, 4, margin, inf, KK_NOT_FINITE, "shape \"ball\":", "the margin");
    REFUSED(shape, 4, body, 6, KK_INVALID_MODEL, "shape \"ball\":", "its body 6 does not exist");
    REFUSED(shape, 4, body, -1, KK_INVALID_MODEL, "shape \"ball\":", "its body -1 does not exist");
    REFUSED(shape, 3, mesh, 1, KK_INVALID_MODEL, "shape \"hand\":", "its mesh 1 does not exist");
    REFUSED(shape, 7, mesh, -1, KK_INVALID_MODEL, "shape \"sheet\":", "its mesh -1 does not exist");
    REFUSED(shape, 6, height_field, 1, KK_INVALID_MODEL, "shape \"hill\":", "its height field 1 does not exist");
    REFUSED(shape, 4, material, 2, KK_INVALID_MODEL, "shape \"ball\":", "its material 2 does not exist");
    REFUSED(shape, 4, visual, 1, KK_INVALID_MODEL, "shape \"ball\":", "its look 1 does not exist");
    REFUSED(shape, 4, purpose, 4, KK_INVALID_MODEL, "shape \"ball\":", "purpose is 4");
    REFUSED(shape, 4, type, (kk_shape_type)10, KK_INVALID_MODEL, "shape \"ball\":", "no shape type 10");
    REFUSED(shape, 4, placement.R.m[0], 2, KK_INVALID_MODEL, "shape \"ball\":", "not orthonormal");
    REFUSED(shape, 4, placement.p.x, NaN, KK_NOT_FINITE, "shape \"ball\":", "the placement");
    REFUSED(shape, 4, surface.linear.y, NaN, KK_NOT_FINITE, "shape \"ball\":", "surface's linear velocity");
    kk_spec *spec = scene_spec();
    kk_spec_shape(spec, 4)->name = NULL;
    kk_spec_shape(spec, 4)->size[0] = -1;
    fixture_refused(spec, KK_INVALID_MODEL, "shape 4:", "the radius");
}

KK_TEST(broken_meshes_and_grids_are_refused) {
    static const int32_t bad[1][3] = {{0, 1, 4}};
    static const kk_mesh_part part = {.first_face = 1, .face_count = 4};
    static const double low[6] = {0.1, 0.2, 0, 0.4, 0.5, 0.6};
    static const kk_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
    REFUSED(mesh, 0, name, "", KK_INVALID_MODEL, "mesh 0 has no name", "");
    REFUSED(mesh, 0, vertex_count, 3, KK_INVALID_MODEL, "mesh \"tetrahedron\":", "names vertex 3, but there are 3");
    REFUSED(mesh, 0, vertex_count, 0, KK_INVALID_MODEL, "mesh \"tetrahedron\":", "no vertices");
    REFUSED(mesh, 0, face, NULL, KK_INVALID_MODEL, "mesh \"tetrahedron\":", "faces are missing");
    REFUSED(mesh, 0, face_count, 0, KK_INVALID_MODEL, "mesh \"tetrahedron\":", "part 0 covers faces 0 to 3");
    REFUSED(mesh, 0, part, &part, KK_INVALID_MODEL, "mesh \"tetrahedron\":", "part 0 covers faces 1 to 4");
    REFUSED(mesh, 0, vertex, flat, KK_SINGULAR, "shape \"hand\": its mesh \"tetrahedron\":", "a hull needs volume");
    kk_spec *spec = scene_spec();
    kk_spec_mesh(spec, 0)->face = bad;
    kk_spec_mesh(spec, 0)->face_count = 1;
    fixture_refused(spec, KK_INVALID_MODEL, "mesh \"tetrahedron\":", "face 0 names vertex 4");
    spec = scene_spec();
    kk_spec_mesh(spec, 0)->face_count = kk_spec_mesh(spec, 0)->part_count = 0;
    fixture_refused(spec, KK_INVALID_MODEL, "shape \"sheet\":", "has no faces");
    REFUSED(height_field, 0, rows, 1, KK_INVALID_MODEL, "height field \"hill\":", "1 rows and 3 columns");
    REFUSED(height_field, 0, height, NULL, KK_INVALID_MODEL, "height field \"hill\":", "heights are missing");
    REFUSED(height_field, 0, half_x, 0, KK_INVALID_MODEL, "height field \"hill\":", "half_x is 0");
    REFUSED(height_field, 0, base, -0.1, KK_INVALID_MODEL, "height field \"hill\":", "base is -0.1");
    REFUSED(height_field, 0, height, low, KK_INVALID_MODEL, "height field \"hill\":", "row 0, column 2 is not above");
    REFUSED(visual, 0, color[2], (float)NaN, KK_NOT_FINITE, "look \"grey\":", "color");
}

KK_TEST(broken_materials_are_refused) {
    const char *item = "material \"rubber\":";
    REFUSED(material, 1, friction, -0.1, KK_INVALID_MODEL, item, "friction is -0.1");
    REFUSED(material, 1, friction, inf, KK_NOT_FINITE, item, "friction is inf");
    REFUSED(material, 1, static_friction, 1.1, KK_INVALID_MODEL, item, "static_friction 1.1 is less than friction 1.2");
    REFUSED(material, 1, torsion, -1, KK_INVALID_MODEL, item, "torsion");
    REFUSED(material, 1, rolling, -1, KK_INVALID_MODEL, item, "rolling");
    REFUSED(material, 1, restitution, 1.01, KK_INVALID_MODEL, item, "restitution is 1.01");
    REFUSED(material, 1, restitution, -0.01, KK_INVALID_MODEL, item, "restitution is -0.01");
    REFUSED(material, 1, stiffness, 0, KK_INVALID_MODEL, item, "stiffness is 0");
    REFUSED(material, 1, stiffness, NaN, KK_NOT_FINITE, item, "stiffness is nan");
    REFUSED(material, 1, damping, -1, KK_INVALID_MODEL, item, "damping");
    REFUSED(material, 1, adhesion, -1, KK_INVALID_MODEL, item, "adhesion");
    REFUSED(material, 1, slip, -1, KK_INVALID_MODEL, item, "slip");
    REFUSED(material, 1, combine, 3, KK_INVALID_MODEL, item, "no combine rule 3");
    kk_spec *spec = scene_spec();
    kk_spec_material(spec, 1)->friction = 0;
    kk_spec_material(spec, 1)->friction_across = 0.5;
    fixture_refused(spec, KK_INVALID_MODEL, item, "turn the shape");
}

static kk_spec *with_pair(int a, int b, int material, double margin) {
    kk_spec *spec = scene_spec();
    kk_pair_def pair = {{a, b}, material, margin, {0}};
    KK_CHECK_EQ_INT(kk_spec_add_pair(spec, &pair, NULL, NULL), KK_OK);
    return spec;
}

KK_TEST(broken_pairs_are_refused) {
    fixture_refused(with_pair(0, 9, -1, 0), KK_INVALID_MODEL, "pair 0:", "its shape 9 does not exist");
    fixture_refused(with_pair(0, 8, -1, 0), KK_INVALID_MODEL, "pair 0:", "does not collide");
    fixture_refused(with_pair(4, 4, -1, 0), KK_INVALID_MODEL, "pair 0:", "paired with itself");
    fixture_refused(with_pair(0, 4, 2, 0), KK_INVALID_MODEL, "pair 0:", "its material 2 does not exist");
    fixture_refused(with_pair(0, 4, -1, -1), KK_INVALID_MODEL, "pair 0:", "the margin is -1");
    kk_spec *spec = with_pair(0, 4, -1, 0);
    const kk_pair_def again = {{4, 0}, 1, 0, {0}};
    KK_CHECK_EQ_INT(kk_spec_add_pair(spec, &again, NULL, NULL), KK_OK);
    fixture_refused(spec, KK_INVALID_MODEL, "pair 1:", "an earlier pair names shapes \"ball\" and \"floor\" already");
    spec = scene_spec();
    const kk_exclude_def exclude = {{0, 6}, {0}};
    KK_CHECK_EQ_INT(kk_spec_add_exclude(spec, &exclude, NULL, NULL), KK_OK);
    fixture_refused(spec, KK_INVALID_MODEL, "exclude 0:", "its body 6 does not exist");
    spec = scene_spec();
    kk_material_pair_def pair = kk_material_pair_def_default();
    pair.material[1] = 2;
    KK_CHECK_EQ_INT(kk_spec_add_material_pair(spec, &pair, NULL, NULL), KK_OK);
    fixture_refused(spec, KK_INVALID_MODEL, "material pair 0:", "its material 2 does not exist");
    spec = scene_spec();
    pair.material[1] = 1;
    pair.together.restitution = 2;
    KK_CHECK_EQ_INT(kk_spec_add_material_pair(spec, &pair, NULL, NULL), KK_OK);
    fixture_refused(spec, KK_INVALID_MODEL, "material pair 0:", "restitution is 2");
}

KK_TEST(broken_loops_and_tendons_are_refused) {
    REFUSED(loop, 0, type, (kk_loop_type)4, KK_INVALID_MODEL, "loop \"rod\":", "no loop type 4");
    REFUSED(loop, 0, body[1], 7, KK_INVALID_MODEL, "loop \"rod\":", "its body 7 does not exist");
    REFUSED(loop, 0, body[1], 2, KK_INVALID_MODEL, "loop \"rod\":", "\"hand\" and \"fore\" are fixed together");
    REFUSED(loop, 0, distance, 0, KK_INVALID_MODEL, "loop \"rod\":", "distance is 0");
    REFUSED(loop, 0, stiffness, -1, KK_INVALID_MODEL, "loop \"rod\":", "stiffness is -1");
    REFUSED(loop, 0, angular_stiffness, NaN, KK_NOT_FINITE, "loop \"rod\":", "angular_stiffness is nan");
    REFUSED(loop, 0, damping, inf, KK_NOT_FINITE, "loop \"rod\":", "damping is inf");
    REFUSED(loop, 0, break_force, -1, KK_INVALID_MODEL, "loop \"rod\":", "break_force is -1");
    REFUSED(loop, 0, placement[1].R.m[4], -1, KK_INVALID_MODEL, "loop \"rod\":", "frame B mirrors");
    static const kk_tendon_item joint[] = {{.name = "elbow", .coefficient = 1}},
                                ball[] = {{.name = "eye_joint", .coefficient = 1}},
                                dof[] = {{.name = "fore_joint", .dof = 1, .coefficient = 1}},
                                fixed[] = {{.name = "hand_joint", .coefficient = 1}}, none[] = {{.coefficient = 1}},
                                frame[] = {{.name = "tip", .coefficient = 0}, {.name = "top", .coefficient = 0}},
                                end[] = {{.name = "tip", .coefficient = 0},
                                         {.name = "anchor", .coefficient = 0},
                                         {.coefficient = 1}},
                                pulley[] = {{.name = "tip", .coefficient = 0},
                                            {.name = "anchor", .coefficient = 0},
                                            {.coefficient = 0},
                                            {.name = "tip", .coefficient = 0},
                                            {.name = "anchor", .coefficient = 0}};
    static const struct {
        int tendon, count;
        const kk_tendon_item *item;
        kk_status status;
        const char *words;
    } paths[] = {{0, 1, joint, KK_NOT_FOUND, "there is no joint \"elbow\""},
                 {0, 1, ball, KK_INVALID_MODEL, "no angle or travel"},
                 {0, 1, dof, KK_INVALID_MODEL, "no degree of freedom 1; it has 1"},
                 {0, 1, fixed, KK_INVALID_MODEL, "is fixed"},
                 {0, 1, none, KK_INVALID_MODEL, "names no joint"},
                 {0, 0, NULL, KK_INVALID_MODEL, "path is empty"},
                 {1, 2, frame, KK_NOT_FOUND, "there is no frame \"top\""},
                 {1, 1, frame, KK_INVALID_MODEL, "has 1 points"},
                 {1, 3, end, KK_INVALID_MODEL, "has 0 points"},
                 {1, 5, pulley, KK_INVALID_MODEL, "pulley's coefficient is 0"}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        kk_spec *spec = scene_spec();
        kk_spec_tendon(spec, paths[i].tendon)->item = paths[i].item;
        kk_spec_tendon(spec, paths[i].tendon)->item_count = paths[i].count;
        fixture_refused(spec, paths[i].status,
                        paths[i].tendon ? "tendon \"rope\":" : "tendon \"sum\":", paths[i].words);
    }
    REFUSED(tendon, 0, name, NULL, KK_INVALID_MODEL, "tendon 0 has no name", "");
    REFUSED(tendon, 0, lower, inf, KK_NOT_FINITE, "tendon \"sum\":", "limits of the length");
    REFUSED(tendon, 0, rest_lower, 1, KK_INVALID_MODEL, "tendon \"sum\":", "lower limit 1 of the rest");
    REFUSED(tendon, 0, stiffness, -1, KK_INVALID_MODEL, "tendon \"sum\":", "stiffness");
    REFUSED(tendon, 0, damping, -1, KK_INVALID_MODEL, "tendon \"sum\":", "damping");
    REFUSED(tendon, 0, friction, -1, KK_INVALID_MODEL, "tendon \"sum\":", "friction");
    REFUSED(tendon, 0, type, (kk_tendon_type)2, KK_INVALID_MODEL, "tendon \"sum\":", "no tendon type 2");
}

KK_TEST(broken_actuators_are_refused) {
    const char *item = "actuator \"servo\":";
    REFUSED(actuator, 0, type, (kk_actuator_type)6, KK_INVALID_MODEL, item, "no actuator type 6");
    REFUSED(actuator, 0, transmission, (kk_transmission)5, KK_INVALID_MODEL, item, "no transmission 5");
    REFUSED(actuator, 0, activation, (kk_activation)4, KK_INVALID_MODEL, item, "no lag 4");
    REFUSED(actuator, 0, target, NULL, KK_INVALID_MODEL, item, "name the joint");
    REFUSED(actuator, 0, target, "elbow", KK_NOT_FOUND, item, "there is no joint \"elbow\"; check the spelling");
    REFUSED(actuator, 0, dof, 1, KK_INVALID_MODEL, item, "no degree of freedom 1");
    REFUSED(actuator, 0, gear, NaN, KK_NOT_FINITE, item, "gear");
    REFUSED(actuator, 0, gain, inf, KK_NOT_FINITE, item, "gain");
    REFUSED(actuator, 0, bias[2], NaN, KK_NOT_FINITE, item, "bias");
    REFUSED(actuator, 0, direction.angular.x, NaN, KK_NOT_FINITE, item, "direction");
    REFUSED(actuator, 0, control_lower, inf, KK_NOT_FINITE, item, "limits of the control");
    REFUSED(actuator, 0, force_upper, NaN, KK_NOT_FINITE, item, "limits of the force");
    REFUSED(actuator, 0, activation_upper, -inf, KK_NOT_FINITE, item, "limits of the lag");
    REFUSED(actuator, 0, time_constant, 0, KK_INVALID_MODEL, item, "time_constant is 0");
    REFUSED(actuator, 0, delay, -1, KK_INVALID_MODEL, item, "delay is -1");
    REFUSED(actuator, 0, delay, 0.1, KK_INVALID_MODEL, item, "remembers 0 controls");
    REFUSED(actuator, 0, delay_samples, -1, KK_INVALID_MODEL, item, "remembers -1 controls");
    REFUSED(actuator, 1, target, "thread", KK_NOT_FOUND, "actuator \"winch\":", "there is no tendon \"thread\"");
    REFUSED(actuator, 2, target, "hand", KK_NOT_FOUND, "actuator \"jet\":", "there is no frame \"hand\"");
    REFUSED(actuator, 2, reference, "top", KK_NOT_FOUND, "actuator \"jet\":", "there is no frame \"top\"");
    REFUSED(actuator, 2, bias[1], -1, KK_INVALID_MODEL, "actuator \"jet\":", "no length that a servo could hold");
    kk_spec *spec = scene_spec();
    kk_spec_actuator(spec, 0)->control_lower = 1;
    kk_spec_actuator(spec, 0)->control_upper = -1;
    fixture_refused(spec, KK_INVALID_MODEL, item, "lower limit 1 of the control is above the upper limit -1");
    spec = scene_spec();
    kk_spec_actuator(spec, 0)->target = "eye_joint";
    kk_spec_actuator(spec, 0)->type = KK_ACTUATOR_POSITION;
    fixture_refused(spec, KK_INVALID_MODEL, item, "joint \"eye_joint\" is ball");
}

KK_TEST(broken_sensors_are_refused) {
    REFUSED(sensor, 0, type, (kk_sensor_type)99, KK_INVALID_MODEL, "sensor \"angle\":", "no sensor type 99");
    REFUSED(sensor, 0, target, "", KK_INVALID_MODEL, "sensor \"angle\":", "it has no target");
    REFUSED(sensor, 0, target, "elbow", KK_NOT_FOUND, "sensor \"angle\":", "there is no joint \"elbow\"");
    REFUSED(sensor, 0, target, "eye_joint", KK_INVALID_MODEL, "sensor \"angle\":", "no angle or travel");
    REFUSED(sensor, 1, target, "fore_joint", KK_INVALID_MODEL, "sensor \"gaze\":", "name a ball or a free joint");
    REFUSED(sensor, 2, target, "top", KK_NOT_FOUND, "sensor \"where\":", "there is no frame and no body \"top\"");
    REFUSED(sensor, 2, reference, "top", KK_NOT_FOUND, "sensor \"where\":", "there is no frame and no body \"top\"");
    REFUSED(sensor, 3, target, "tip", KK_NOT_FOUND, "sensor \"mass\":", "there is no body \"tip\"");
    REFUSED(sensor, 4, target, "tip", KK_NOT_FOUND, "sensor \"pull\":", "there is no actuator \"tip\"");
    REFUSED(sensor, 5, target, "tip", KK_NOT_FOUND, "sensor \"length\":", "there is no tendon \"tip\"");
    REFUSED(sensor, 0, noise, -1, KK_INVALID_MODEL, "sensor \"angle\":", "noise is -1");
    REFUSED(sensor, 0, cutoff, NaN, KK_NOT_FINITE, "sensor \"angle\":", "cutoff is nan");
    kk_spec *spec = scene_spec();
    kk_spec_sensor(spec, 2)->type = KK_SENSOR_RANGE;
    kk_spec_sensor(spec, 2)->rays = 0;
    fixture_refused(spec, KK_INVALID_MODEL, "sensor \"where\":", "it has 0 rays");
    spec = scene_spec();
    kk_spec_sensor(spec, 2)->type = KK_SENSOR_RANGE;
    kk_spec_sensor(spec, 2)->field = 4;
    fixture_refused(spec, KK_INVALID_MODEL, "sensor \"where\":", "field is 4 rad");
}

KK_TEST(broken_keyframes_and_options_are_refused) {
    static const double turned[13] = {0.1, 0.2, 3, 4, 5, 1, 0, 0, 0, 0, 0.6, 0.8, 0};
    static const double broken[13] = {0.1, 0.2, 1, 0, 0, 0, 3, 4, __builtin_nan(""), 0, 0.6, 0.8, 0};
    REFUSED(keyframe, 0, time, NaN, KK_NOT_FINITE, "keyframe \"home\":", "time is nan");
    REFUSED(keyframe, 0, q_count, 12, KK_SIZE_MISMATCH,
            "keyframe \"home\":", "12 numbers for the coordinates (q); the model has 13");
    REFUSED(keyframe, 0, v_count, 10, KK_SIZE_MISMATCH, "keyframe \"home\":", "the model has 11");
    REFUSED(keyframe, 0, control_count, 2, KK_SIZE_MISMATCH, "keyframe \"home\":", "the model has 3");
    REFUSED(keyframe, 0, q, turned, KK_INVALID_MODEL, "keyframe \"home\":", "\"ball_joint\" has length 7.14");
    REFUSED(keyframe, 0, q, broken, KK_NOT_FINITE, "keyframe \"home\":", "a coordinate (q) is nan");
    kk_spec *spec = scene_spec();
    kk_spec_options(spec)->timestep = 0;
    fixture_refused(spec, KK_INVALID_MODEL, "spec", "the timestep is 0");
    spec = scene_spec();
    kk_spec_options(spec)->integrator = (kk_integrator)2;
    fixture_refused(spec, KK_INVALID_MODEL, "spec", "no integrator 2");
    spec = scene_spec();
    kk_spec_options(spec)->max_contacts = -1;
    fixture_refused(spec, KK_INVALID_MODEL, "spec", "max_contacts is -1");
}

KK_TEST(one_name_for_two_of_a_kind_is_refused) {
    REFUSED(shape, 4, name, "floor", KK_DUPLICATE_NAME, "shape \"floor\":", "number 0 and 4");
    REFUSED(material, 1, name, "default", KK_DUPLICATE_NAME, "material \"default\":", "number 0 and 1");
    REFUSED(tendon, 1, name, "sum", KK_DUPLICATE_NAME, "tendon \"sum\":", "number 0 and 1");
    REFUSED(actuator, 2, name, "servo", KK_DUPLICATE_NAME, "actuator \"servo\":", "number 0 and 2");
    REFUSED(sensor, 6, name, "mass", KK_DUPLICATE_NAME, "sensor \"mass\":", "number 3 and 6");
    kk_spec *spec = scene_spec();
    scene_geometry(spec);
    fixture_refused(spec, KK_DUPLICATE_NAME, "mesh \"tetrahedron\":", "number 0 and 1");
    spec = scene_spec();
    KK_CHECK_EQ_INT(kk_spec_add_loop(spec, kk_spec_loop(spec, 0), NULL, NULL), KK_OK);
    fixture_refused(spec, KK_DUPLICATE_NAME, "loop \"rod\":", "number 0 and 1");
    spec = scene_spec();
    KK_CHECK_EQ_INT(kk_spec_add_keyframe(spec, kk_spec_keyframe(spec, 0), NULL, NULL), KK_OK);
    fixture_refused(spec, KK_DUPLICATE_NAME, "keyframe \"home\":", "number 0 and 1");
}

static void expect_place(kk_spec *spec, int line) {
    kk_model *model = NULL;
    kk_error error = {0};
    KK_CHECK(kk_model_compile(spec, NULL, &model, &error) != KK_OK);
    KK_CHECK_STR(error.file, "robot.xml");
    KK_CHECK_EQ_INT(error.line, line);
    KK_CHECK_EQ_INT(error.column, 7);
    kk_spec_free(spec);
}

/// Item `id` of a kind comes from a line of a file and is broken in one field.
#define PLACED(kind, id, line, field, value)                                    \
    do {                                                                        \
        kk_spec *scene_ = scene_spec();                                         \
        kk_spec_##kind(scene_, id)->origin = (kk_origin){"robot.xml", line, 7}; \
        kk_spec_##kind(scene_, id)->field = (value);                            \
        expect_place(scene_, line);                                             \
    } while (0)

KK_TEST(errors_say_where_the_item_was_written) {
    PLACED(body, 2, 11, inertia.mass, -1);
    PLACED(body, 2, 12, joint.axis, kk_vec3_make(0, 0, 0)); // a joint without a place has its body's
    PLACED(body, 2, 13, name, "upper");
    PLACED(body, 2, 14, name, "");
    PLACED(frame, 0, 15, body, 9);
    PLACED(frame, 0, 16, name, "hand");
    PLACED(shape, 4, 17, size[0], 0);
    PLACED(mesh, 0, 18, vertex_count, 1);
    PLACED(height_field, 0, 19, rows, 0);
    PLACED(material, 1, 20, friction, -1);
    PLACED(loop, 0, 21, body[0], 4);
    PLACED(tendon, 1, 22, item_count, 1);
    PLACED(actuator, 0, 23, target, "elbow");
    PLACED(sensor, 0, 24, target, "elbow");
    PLACED(keyframe, 0, 25, q_count, 3);
    kk_spec *spec = scene_spec();
    kk_spec_body(spec, 2)->joint.origin = (kk_origin){"robot.xml", 30, 7};
    kk_spec_body(spec, 2)->joint.axis = kk_vec3_make(0, 0, 0);
    expect_place(spec, 30);
    spec = scene_spec();
    fixture_couple(spec, "fore_joint", "elbow", 1, 0);
    kk_spec_coupling(spec, 0)->origin = (kk_origin){"robot.xml", 31, 7};
    expect_place(spec, 31);
    spec = scene_spec();
    kk_spec_body(spec, 5)->origin = (kk_origin){"robot.xml", 32, 7};
    kk_spec_body(spec, 5)->inertia = (kk_inertia){0};
    expect_place(spec, 32);
}
