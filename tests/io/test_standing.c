// Standing at once: what the load options add to a bare robot file.
#include "urdf_support.h"

#define BALL(name, mass, inertia, x, z)                                                                           \
    "<link name='" name "'><inertial><origin xyz='" x " 0 " z "'/><mass value='" mass "'/><inertia ixx='" inertia \
    "' iyy='" inertia "' izz='" inertia "'/></inertial><collision><origin xyz='" x " 0 " z                        \
    "'/><geometry><sphere radius='0.1'/></geometry></collision></link>"
#define JOINT(name, type, parent, child, xyz)                                                             \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/><origin " \
    "xyz='" xyz "'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='50'/></joint>"

static const double W = 2 * 3.14159265358979323846 * 4;

// on a fixed base a servo carries what hangs on it: J = 0.2 + 2 · 0.5²
KK_TEST(standing_servo_on_a_fixed_base) {
    const kk_load_options o = {.base = KK_BASE_FIXED, .add_actuators = 1};
    robot r = robot_from_text("<robot>" BALL("base", "9", "1", "0", "0") BALL("arm", "2", "0.2", "0", "0.5")
                                  JOINT("j", "revolute", "base", "arm", "0 0 1") "</robot>",
                              &o);
    if (robot_is_good(&r, "arm") && KK_CHECK_EQ_INT(kk_spec_actuator_count(r.spec), 1)) {
        const kk_actuator_def *a = kk_spec_actuator_const(r.spec, 0);
        KK_CHECK_STR(a->name, "j_servo");
        KK_CHECK_REL(a->gain, 0.7 * W * W, 1e-14);
        KK_CHECK_REL(a->bias[1], -0.7 * W * W, 1e-14);
        KK_CHECK_REL(a->bias[2], -2 * 0.7 * W, 1e-14);
        KK_CHECK(a->force_upper == 50 && a->control_lower == -1);
        KK_CHECK_EQ_INT(kk_model_nq(r.model), 1);
    }
    robot_free(&r);
}

// on a free base it carries the heavier side: the base, 1 + 9 · 1²
KK_TEST(standing_servo_on_a_free_base) {
    const kk_load_options o = {.add_actuators = 1};
    robot r = robot_from_text("<robot>" BALL("base", "9", "1", "0", "0") BALL("arm", "2", "0.2", "0", "0.5")
                                  JOINT("j", "revolute", "base", "arm", "0 0 1") "</robot>",
                              &o);
    if (KK_CHECK_EQ_INT(kk_spec_actuator_count(r.spec), 1)) {
        KK_CHECK_REL(kk_spec_actuator_const(r.spec, 0)->gain, 10 * W * W, 1e-13);
    }
    robot_free(&r);
}

// a slide moves masses; followers and driven joints get no servo
KK_TEST(standing_servos_only_where_nothing_drives) {
    const kk_load_options o = {.base = KK_BASE_FIXED, .add_actuators = 1};
    robot r = robot_from_text(
        "<robot>" BALL("base", "9", "1", "0", "0") BALL("a", "2", "0.2", "0", "0") BALL("b", "3", "0.2", "0", "0")
            BALL("c", "4", "0.2", "0", "0") JOINT("j", "prismatic", "base", "a", "0 0 1") JOINT(
                "k", "revolute", "a", "b", "0 0 1") "<joint name='m' type='continuous'><parent link='b'/><child "
                                                    "link='c'/><mimic joint='k'/></joint>"
                                                    "<transmission name='t'><joint name='k'/></transmission></robot>",
        &o);
    if (KK_CHECK_EQ_INT(kk_spec_actuator_count(r.spec), 2)) {
        KK_CHECK_STR(kk_spec_actuator_const(r.spec, 1)->target, "j");
        KK_CHECK_REL(kk_spec_actuator_const(r.spec, 1)->gain, 9 * W * W, 1e-14);
    }
    robot_free(&r);
}

KK_TEST(standing_base) {
    static const char text[] = "<robot><link name='world'/>" BALL("base", "9", "1", "0", "0")
        JOINT("mount", "fixed", "world", "base", "1 2 3") "</robot>";
    const kk_load_options fixed = {.base = KK_BASE_FIXED}, freed = {.base = KK_BASE_FREE};
    robot r = robot_from_text(text, NULL);
    KK_CHECK_EQ_INT(kk_model_nv(r.model), 0);
    robot_free(&r);
    r = robot_from_text(text, &freed);
    KK_CHECK_EQ_INT(kk_model_nv(r.model), 6);
    robot_free(&r);
    r = robot_from_text("<robot>" BALL("base", "9", "1", "0", "0") "</robot>", &fixed);
    KK_CHECK_EQ_INT(kk_model_nv(r.model), 0);
    robot_free(&r);
}

// servos that are added hold the pose of a keyframe that knows nothing of them
KK_TEST(standing_servos_of_keyframes) {
    static const char text[] =
        "<mujoco><worldbody><body><joint name='a' range='-3 3'/><geom size='0.1' pos='1 0 0'/>"
        "<body><joint name='b'/><geom size='0.1' pos='1 0 0'/>"
        "<body><joint name='c'/><geom size='0.1' pos='1 0 0'/></body></body></body></worldbody>"
        "<actuator><motor joint='b'/></actuator>"
        "<keyframe><key name='home' qpos='0.25 0.5 0.75' ctrl='7'/><key name='bare' qpos='1 2 3'/></keyframe></mujoco>";
    const kk_file file = {"robot.xml", text, sizeof text - 1};
    const kk_load_options o = {.file = &file, .file_count = 1, .add_actuators = 1};
    robot r = {.status = KK_OK};
    r.status = kk_load_file("robot.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    if (robot_is_good(&r, "robot.xml") && KK_CHECK_EQ_INT(kk_model_nactuator(r.model), 3)) {
        const kk_keyframe_def key = kk_model_keyframe(r.model, 0), bare = kk_model_keyframe(r.model, 1);
        KK_CHECK(key.control[0] == 7 && key.control[1] == 0.25 && key.control[2] == 0.75);
        KK_CHECK(bare.control[0] == 0 && bare.control[1] == 1 && bare.control[2] == 3);
    }
    robot_free(&r);
}

// a base that is held fast leaves the keyframes, wherever it stands among the bodies
KK_TEST(standing_base_of_keyframes) {
    static const char text[] =
        "<mujoco><worldbody><body><joint type='hinge' axis='0 1 0'/><geom type='sphere' size='0.1'/></body>"
        "<body><freejoint/><geom type='sphere' size='0.1'/><body pos='1 0 0'><joint name='elbow' type='hinge'/>"
        "<geom type='sphere' size='0.1'/></body></body></worldbody>"
        "<keyframe><key name='home' qpos='0.25 1 2 3 1 0 0 0 0.5' qvel='4 0 0 0 0 0 0 5'/></keyframe></mujoco>";
    const kk_file file = {"model.xml", text, sizeof text - 1};
    const kk_load_options o = {.file = &file, .file_count = 1, .base = KK_BASE_FIXED};
    robot r = {.status = KK_OK};
    r.status = kk_load_file("model.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    if (KK_CHECK_EQ_INT(r.status, KK_OK) && KK_CHECK_EQ_INT(kk_model_nq(r.model), 2)) {
        const kk_keyframe_def key = kk_model_keyframe(r.model, 0);
        KK_CHECK(key.q[0] == 0.25 && key.q[1] == 0.5 && key.v[0] == 4 && key.v[1] == 5);
    }
    robot_free(&r);
}

// the ball of the foot hangs 0.7 + 0.1 below the base
KK_TEST(standing_on_the_floor) {
    const kk_load_options o = {.add_floor = 1, .place_on_floor = 1};
    robot r = robot_from_text("<robot>" BALL("base", "9", "1", "0", "0") BALL("foot", "2", "0.2", "0", "-0.2")
                                  JOINT("j", "revolute", "base", "foot", "0 0 -0.5") "</robot>",
                              &o);
    KK_CHECK_NEAR(kk_spec_body_const(r.spec, 1)->joint.placement.p.z, 0.8, 1e-15);
    const kk_shape_def *floor = kk_spec_shape_const(r.spec, kk_spec_shape_count(r.spec) - 1);
    KK_CHECK(floor->type == KK_SHAPE_PLANE && floor->body == KK_WORLD);
    KK_CHECK_STR(floor->name, "floor");
    robot_free(&r);
    // a file with a floor keeps it
    r = robot_from_text("<robot><link name='world'><collision><geometry><plane/></geometry></collision></link></robot>",
                        &o);
    KK_CHECK_EQ_INT(kk_spec_shape_count(r.spec), 1);
    robot_free(&r);
}

/// Support of each kind of shape in −z against the support of many points on it.
static double placed(const char *geometry, const char *karakuri) {
    char text[1024];
    snprintf(text, sizeof text,
             "<robot><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial><collision>"
             "<origin rpy='0.5 0 0'/><geometry>%s</geometry>%s</collision></link></robot>",
             geometry, karakuri);
    const kk_load_options o = {.place_on_floor = 1};
    robot r = robot_from_text(text, &o);
    const double z = r.spec ? kk_spec_body_const(r.spec, 1)->joint.placement.p.z : 0;
    robot_free(&r);
    return z;
}

KK_TEST(standing_lowest_points) {
    const double s = kk_sin(0.5), c = kk_cos(0.5);
    KK_CHECK_NEAR(placed("<box size='1 2 3'/>", ""), s + 1.5 * c, 1e-15);
    KK_CHECK_NEAR(placed("<cylinder radius='0.3' length='2'/>", ""), 0.3 * s + c, 1e-15);
    KK_CHECK_NEAR(placed("<capsule radius='0.3' length='2'/>", ""), 0.3 + c, 1e-15);
    KK_CHECK_NEAR(placed("<sphere radius='0.3'/>", "<karakuri margin='0.01'/>"), 0.31, 1e-15);
    KK_CHECK_NEAR(placed("<sphere radius='1'/>", "<karakuri type='ellipsoid' size='1 2 3'/>"),
                  kk_sqrt(4 * s * s + 9 * c * c), 1e-15);
    // the base of the cone is below, its rim the lowest
    KK_CHECK_NEAR(placed("<sphere radius='1'/>", "<karakuri type='cone' size='0.3 2'/>"), 0.3 * s + c, 1e-15);
}

// three balls on a rod: the first and the last never meet; a ball inside the first always does
KK_TEST(standing_clean_collisions) {
    const kk_load_options o = {.clean_collisions = 1};
    robot r = robot_from_text(
        "<robot>" BALL("a", "1", "1", "0", "0") BALL("b", "1", "1", "0", "0") BALL("c", "1", "1", "0", "0")
            BALL("d", "1", "1", "0", "0") BALL("e", "1", "1", "0", "0") JOINT("j", "revolute", "a", "b", "0 0 1")
                JOINT("k", "fixed", "b", "c", "0 0 1") JOINT("m", "revolute", "a", "d", "0.01 0 0")
                    JOINT("n", "revolute", "d", "e", "0.01 0 0") "</robot>",
        &o);
    int never = 0, always = 0, joined = 0;
    for (int i = 0; r.spec && i < kk_spec_exclude_count(r.spec); i++) {
        const kk_exclude_def *e = kk_spec_exclude_const(r.spec, i);
        never += e->body[0] == 1 && e->body[1] == 3;
        always += e->body[0] == 1 && e->body[1] == 5;
        joined += e->body[0] == 1 && e->body[1] == 2;
    }
    KK_CHECK_EQ_INT(never, 1);
    KK_CHECK_EQ_INT(always, 1);
    KK_CHECK_EQ_INT(joined, 0);
    robot_free(&r);
    // two pendulums side by side meet in some poses, so they stay
    r = robot_from_text("<robot>" BALL("a", "1", "1", "0", "5") BALL("b", "1", "1", "0", "1")
                            BALL("c", "1", "1", "0", "1") JOINT("j", "revolute", "a", "b", "0 0 0")
                                JOINT("k", "revolute", "a", "c", "0.5 0 0") "</robot>",
                        &o);
    KK_CHECK_EQ_INT(r.spec ? kk_spec_exclude_count(r.spec) : -1, 0);
    robot_free(&r);
}
