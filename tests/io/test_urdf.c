// A corpus of small robots, one feature each, in tests/io/urdf: what each must become, by hand.
#include "urdf_support.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(urdf_corpus) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#define FOLDER KK_SOURCE_DIR "/tests/io/urdf/"

typedef struct expectation {
    const char *file;
    int nq, nv, nbody;
    double mass;
    const char *link; ///< and where it is with every joint at zero
    double x, y, z;
    int warnings, notes;
    const char *words; ///< of one of them
} expectation;

static const expectation expectations[] = {
    {"single_link", 7, 6, 2, 3, "base", 0, 0, 0, 0, 0, ""},
    {"world_root", 0, 0, 2, 5, "table", 1, 2, 3, 0, 0, ""},
    {"inertial_origin", 7, 6, 2, 2, "base", 0, 0, 0, 0, 0, ""},
    {"revolute", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"continuous", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"prismatic", 1, 1, 2, 2, "cart", 0, 0, 1, 0, 0, ""},
    {"floating", 7, 6, 2, 2, "ship", 0, 0, 1, 0, 0, ""},
    {"planar", 3, 3, 2, 2, "puck", 0, 0, 1, 0, 0, ""},
    {"planar_tilted", 3, 3, 2, 2, "puck", 0, 0, 1, 0, 0, ""},
    {"fixed", 7, 6, 3, 3, "hat", 0, 0, 0.5, 0, 0, ""},
    {"axis_default", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"axis_not_unit", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    // x of Rz(90°) Ry(0.2) Rx(0.1) is (0, cos 0.2, −sin 0.2)
    {"joint_rpy", 1, 1, 3, 3, "tip", 0, 0.98006657784124163, 1 - 0.19866933079506122, 0, 0, ""},
    {"origin_quaternion", 0, 0, 3, 2, "end", 1, 1, 0, 0, 0, ""},
    {"links_backwards", 2, 2, 4, 6, "c", 1, 1, 1, 0, 0, ""},
    {"limits_swapped", 1, 1, 2, 2, "arm", 0, 0, 0, 1, 0, "swapped"},
    {"limits_zero", 1, 1, 2, 2, "arm", 0, 0, 0, 1, 0, "cannot move"},
    {"limits_missing", 1, 1, 2, 2, "arm", 0, 0, 0, 1, 0, "no <limit>"},
    {"limits_huge", 1, 1, 2, 2, "arm", 0, 0, 0, 0, 0, ""},
    {"dynamics", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"mimic", 2, 2, 3, 3, "hand", 0, 0, 1.6, 0, 0, ""},
    {"mimic_default", 2, 2, 3, 3, "hand", 0, 0, 1.6, 0, 0, ""},
    {"mimic_chain", 3, 3, 4, 4, "finger", 0, 0, 1.8, 0, 0, ""},
    {"mimic_forward", 2, 2, 3, 2, "b", 1, 0, 0, 0, 0, ""},
    {"mimic_fixed", 1, 1, 3, 3, "hand", 0, 0, 1.6, 1, 0, "one of them is fixed"},
    {"safety_controller", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 1, "safety_controller"},
    {"calibration", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 1, "calibration"},
    {"shape_box", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"shape_cylinder", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"shape_sphere", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"shape_capsule", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"shape_plane", 0, 0, 1, 0, "world", 0, 0, 0, 0, 0, ""},
    {"shape_several", 7, 6, 2, 1, "base", 0, 0, 0, 0, 1, "without a name"},
    {"shape_zero", 7, 6, 2, 1, "base", 0, 0, 0, 1, 0, "a size is 0"},
    {"mesh_stl", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"mesh_obj", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"mesh_dae", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"mesh_scale", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"mesh_mirror", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"mesh_package", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"mesh_missing", 7, 6, 2, 1, "base", 0, 0, 0, 1, 0, "meshes/none.stl"},
    {"mesh_static", 0, 0, 1, 0, "world", 0, 0, 0, 0, 0, ""},
    {"material_global", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"material_local", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"material_forward", 7, 6, 3, 2, "hat", 0, 0, 0, 0, 0, ""},
    {"material_texture", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"material_undefined", 7, 6, 2, 1, "base", 0, 0, 0, 1, 0, "'gold' is not defined"},
    {"material_redefined", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"transmission_text", 1, 1, 2, 2, "arm", 0, 0, 1, 2, 0, "<mechanicalReduction> is no number"},
    {"xml_version", 7, 6, 2, 1, "base", 0, 0, 0, 0, 1, "read as 1.0"},
    {"texture_nameless", 7, 6, 2, 1, "base", 0, 0, 0, 1, 1, "'steel'"},
    {"pointlike_base", 8, 7, 3, 3 + 6e-6, "door", 0, 0, 1, 2, 0, "has no inertia about its joint"},
    {"transmission_effort", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"transmission_position", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"transmission_velocity", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"transmission_old", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"gazebo_surface", 7, 6, 2, 1, "base", 0, 0, 0, 0, 1, "selfCollide"},
    {"gazebo_plugin", 7, 6, 2, 1, "base", 0, 0, 0, 0, 1, "plugin"},
    {"mujoco_element", 7, 6, 2, 1, "base", 0, 0, 0, 0, 1, "mujoco"},
    {"massless_leaf", 7, 6, 3, 1, "camera", 0, 0, 0.5, 0, 0, ""},
    {"massless_moving", 2, 2, 3, 2 * (1 + 1e-6), "needle", 0, 0, 1.5, 1, 0, "'needle' moves"},
    {"massless_middle", 2, 2, 3, 2, "shaft", 0, 0, 1, 0, 0, ""},
    {"massless_root", 8, 7, 3, 2 * (1 + 1e-6), "arm", 0, 0, 1, 1, 0, "'base' moves"},
    {"massless_robot", 8, 7, 3, 2e-6, "arm", 0, 0, 1, 2, 0, "'arm' moves"},
    {"point_mass", 1, 1, 2, 1 + 1e-6, "bob", 0, 0, 1, 1, 0, "'bob' moves"},
    {"mass_zero", 1, 1, 2, 1e-9, "rotor", 0, 0, 1, 1, 0, "no mass"},
    {"inertia_impossible", 1, 1, 2, 1, "rotor", 0, 0, 1, 1, 0, "no body has these moments"},
    {"inertia_negative", 1, 1, 2, 1, "rotor", 0, 0, 1, 1, 0, "no body has these moments"},
    {"latin1", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"utf8_names", 0, 0, 2, 2, "腕", 0, 0, 1, 0, 0, ""},
    {"world_not_root", 7, 6, 3, 2, "world_link", 0, 0, 1, 1, 0, "'world' is not the root"},
    {"root_joint_taken", 7, 6, 3, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"unknown_elements", 7, 6, 2, 1, "base", 0, 0, 0, 2, 0, "banana"},
    {"xacro_macro", 7, 6, 3, 5, "top", 0, 0, 1, 0, 0, ""},
    {"xacro_include", 7, 6, 2, 4, "base", 0, 0, 0, 0, 0, ""},
    {"karakuri_loop", 3, 3, 4, 3, "rod", 0, 0, 0.4, 0, 0, ""},
    {"karakuri_rod", 3, 3, 4, 3, "rod", 0, 0, 0.4, 0, 0, ""},
    {"karakuri_bush", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_rotor", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_servo", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_material", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"karakuri_pair", 7, 6, 3, 2, "hat", 0, 0, 1, 0, 0, ""},
    {"karakuri_sensor", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_ball", 4, 3, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_universal", 2, 2, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_cylindrical", 2, 2, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_screw", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_free", 7, 6, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_frame", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"karakuri_option", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"karakuri_keyframe", 1, 1, 2, 2, "arm", 0, 0, 1, 0, 0, ""},
    {"karakuri_exact_mesh", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"karakuri_shapes", 7, 6, 2, 1, "base", 0, 0, 0, 0, 0, ""},
    {"karakuri_height_field", 0, 0, 1, 0, "world", 0, 0, 0, 0, 0, ""},
    {"karakuri_tendon", 2, 2, 3, 3, "hand", 0, 0, 1.6, 0, 0, ""},
    // the tip hangs 1 m along the joint's x, wherever the arm's own frame is
    {"karakuri_offset", 1, 1, 3, 3, "tip", 1, 0, 1, 0, 0, ""},
    {"karakuri_coupling", 2, 2, 2, 2, "arm", 0, 0, 0, 0, 0, ""},
};

static robot load(const char *name) {
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s.urdf", name);
    return robot_from_file(path, NULL);
}

static void check_messages(const robot *r, const expectation *e) {
    const int warnings = kk_messages_count_of(r->messages, KK_SEVERITY_WARNING);
    const int notes = kk_messages_count_of(r->messages, KK_SEVERITY_NOTE);
    const kk_severity severity = e->warnings ? KK_SEVERITY_WARNING : KK_SEVERITY_NOTE;
    if (warnings != e->warnings || notes != e->notes || (e->words[0] && !robot_says(r, severity, e->words))) {
        KK_FAIL("%s: %d warnings, %d notes, words: %s", e->file, warnings, notes, e->words);
        for (int i = 0; i < kk_messages_count(r->messages); i++) {
            const kk_message m = kk_messages_get(r->messages, i);
            KK_FAIL("%d:%d: %s", m.line, m.column, m.text);
        }
    }
}

static void check_pose(const robot *r, const expectation *e) {
    double q[16] = {0};
    kk_model_neutral(r->model, q);
    kk_kinematics(r->model, r->data, q);
    const int body = robot_body(r, e->link);
    if (!KK_CHECK(body >= 0)) {
        return;
    }
    const kk_transform X = kk_body_pose(r->model, r->data, body);
    KK_CHECK_NEAR(X.p.x, e->x, 1e-15);
    KK_CHECK_NEAR(X.p.y, e->y, 1e-15);
    KK_CHECK_NEAR(X.p.z, e->z, 1e-15);
}

KK_TEST(urdf_corpus) {
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const expectation *e = &expectations[i];
        robot r = load(e->file);
        if (robot_is_good(&r, e->file)) {
            if (!KK_CHECK_EQ_INT(kk_model_nq(r.model), e->nq) || !KK_CHECK_EQ_INT(kk_model_nv(r.model), e->nv) ||
                !KK_CHECK_EQ_INT(kk_model_nbody(r.model), e->nbody) ||
                !KK_CHECK_NEAR(kk_model_mass(r.model), e->mass, 1e-14)) {
                KK_FAIL("in %s", e->file);
            }
            KK_CHECK_STR(kk_spec_name(r.spec), e->file);
            check_messages(&r, e);
            check_pose(&r, e);
        }
        robot_free(&r);
    }
}

// ---- joints

static const kk_joint_def *joint_of(const robot *r, const char *name) {
    return &kk_spec_body_const(r->spec, kk_model_find_joint(r->model, name))->joint;
}

KK_TEST(urdf_limits) {
    robot r = load("revolute");
    const kk_dof_def *dof = &joint_of(&r, "hinge")->dof[0];
    KK_CHECK(dof->lower == -1 && dof->upper == 2 && dof->effort_limit == 30 && dof->velocity_limit == 4);
    robot_free(&r);
    r = load("limits_swapped");
    dof = &joint_of(&r, "hinge")->dof[0];
    KK_CHECK(dof->lower == -1 && dof->upper == 2);
    robot_free(&r);
    r = load("limits_huge");
    dof = &joint_of(&r, "hinge")->dof[0];
    const double inf = __builtin_inf();
    KK_CHECK(dof->lower == -inf && dof->upper == inf && dof->effort_limit == inf && dof->velocity_limit == inf);
    robot_free(&r);
    r = load("continuous");
    dof = &joint_of(&r, "hinge")->dof[0];
    KK_CHECK(dof->lower == -inf && dof->upper == inf);
    robot_free(&r);
    r = load("dynamics");
    dof = &joint_of(&r, "hinge")->dof[0];
    KK_CHECK(dof->damping == 0.7 && dof->friction == 0.2);
    robot_free(&r);
}

// from exactly 1e15 on a limit is none; just below it is one
KK_TEST(urdf_limit_that_is_none) {
    static const struct {
        const char *words;
        int is_limited;
    } cases[] = {{"lower='-1e15' upper='1e15' effort='1e15' velocity='1e15'", 0},
                 {"lower='-9.99e14' upper='9.99e14' effort='9.99e14' velocity='9.99e14'", 1}};
    for (int i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
                 "izz='1' ixy='0' ixz='0' "
                 "iyz='0'/></inertial></link><joint name='hinge' type='revolute'><parent link='a'/><child "
                 "link='b'/><limit %s/></joint></robot>",
                 cases[i].words);
        robot r = robot_from_text(text, NULL);
        if (KK_CHECK(r.model)) {
            const kk_dof_def *dof = &joint_of(&r, "hinge")->dof[0];
            KK_CHECK_EQ_INT(dof->lower > -__builtin_inf() && dof->upper < __builtin_inf(), cases[i].is_limited);
            KK_CHECK_EQ_INT(dof->effort_limit < __builtin_inf() && dof->velocity_limit < __builtin_inf(),
                            cases[i].is_limited);
        }
        robot_free(&r);
    }
}

KK_TEST(urdf_mimics_are_couplings) {
    robot r = load("mimic");
    const kk_coupling_def *c = kk_spec_coupling_const(r.spec, 0);
    if (KK_CHECK(c != NULL)) {
        KK_CHECK_STR(c->follower, "wrist");
        KK_CHECK_STR(c->leader, "hinge");
        KK_CHECK(c->ratio == -2 && c->offset == 0.1);
    }
    robot_free(&r);
    r = load("mimic_chain");
    double q[3] = {0.1, 0, 0};
    kk_couplings_apply(r.model, q, NULL);
    KK_CHECK_NEAR(q[2], 0.6, 1e-15);
    robot_free(&r);
    r = load("mimic_fixed");
    KK_CHECK_EQ_INT(kk_spec_coupling_count(r.spec), 0);
    robot_free(&r);
}

// x turned about (0, 3, 4)/5, and a puck that slides across its normal
KK_TEST(urdf_axes) {
    robot r = load("axis_not_unit");
    const double q = 0.7;
    kk_kinematics(r.model, r.data, &q);
    const kk_transform X = kk_body_pose(r.model, r.data, 1);
    KK_CHECK_NEAR(X.R.m[0], kk_cos(q), 1e-15);
    KK_CHECK_NEAR(X.R.m[3], 0.8 * kk_sin(q), 1e-15);
    KK_CHECK_NEAR(X.R.m[6], -0.6 * kk_sin(q), 1e-15);
    robot_free(&r);
    r = load("axis_default");
    const kk_vec3 axis = joint_of(&r, "hinge")->axis;
    KK_CHECK(axis.x == 1 && axis.y == 0 && axis.z == 0);
    robot_free(&r);
    r = load("planar_tilted");
    const double p[3] = {0.3, 0.4, 0};
    kk_kinematics(r.model, r.data, p);
    const kk_vec3 at = kk_body_pose(r.model, r.data, 1).p;
    KK_CHECK_NEAR(at.x, 0, 1e-15);
    KK_CHECK_NEAR(at.y * at.y + (at.z - 1) * (at.z - 1), 0.25, 1e-15);
    robot_free(&r);
}

// ---- inertias

// R I Rᵀ about the center of mass, by rotating three unit vectors
KK_TEST(urdf_inertia_is_turned) {
    robot r = load("inertial_origin");
    const kk_inertia I = kk_spec_body_const(r.spec, 1)->inertia;
    const kk_mat3 R = kk_mat3_from_rpy(0.3, -0.4, 0.5);
    const kk_sym3 written = {0.3, 0.4, 0.5, 0.01, -0.02, 0.03};
    for (int i = 0; i < 3; i++) {
        const kk_vec3 u = kk_mat3_column(R, i);
        const kk_vec3 a = kk_sym3_mul_vec(I.moment, u);
        const kk_vec3 b = kk_mat3_mul_vec(R, kk_sym3_mul_vec(written, kk_mat3_tmul_vec(R, u)));
        KK_CHECK_NEAR(kk_vec3_norm(kk_vec3_sub(a, b)), 0, 1e-15);
    }
    KK_CHECK(I.com.x == 0.1 && I.com.y == 0.2 && I.com.z == 0.3);
    robot_free(&r);
}

// moments 0.1, 0.1, 1 come from second moments 0.5, 0.5, −0.4; without the negative one they are 0.5, 0.5, 1
KK_TEST(urdf_impossible_inertia_becomes_the_nearest) {
    robot r = load("inertia_impossible");
    const kk_sym3 I = kk_spec_body_const(r.spec, 1)->inertia.moment;
    KK_CHECK_NEAR(I.xx, 0.5, 1e-14);
    KK_CHECK_NEAR(I.yy, 0.5, 1e-14);
    KK_CHECK_NEAR(I.zz, 1, 1e-14);
    robot_free(&r);
    // eigenvalues −0.1, 0.1, 0.3 on (1, −1, 0), z, (1, 1, 0): second moments 0.25, 0.05, −0.15
    r = load("inertia_negative");
    const kk_sym3 J = kk_spec_body_const(r.spec, 1)->inertia.moment;
    KK_CHECK_NEAR(J.xx, 0.5 * (0.05 + 0.3), 1e-14);
    KK_CHECK_NEAR(J.xy, 0.5 * (0.3 - 0.05), 1e-14);
    KK_CHECK_NEAR(J.zz, 0.25, 1e-14);
    robot_free(&r);
}

// ---- shapes

KK_TEST(urdf_shapes) {
    static const struct {
        const char *file;
        kk_shape_type type;
        double size[3];
    } shapes[] = {{"shape_box", KK_SHAPE_BOX, {0.1, 0.2, 0.3}},
                  {"shape_cylinder", KK_SHAPE_CYLINDER, {0.1, 0.4, 0}},
                  {"shape_sphere", KK_SHAPE_SPHERE, {0.2, 0, 0}},
                  {"shape_capsule", KK_SHAPE_CAPSULE, {0.1, 0.4, 0}}};
    for (int i = 0; i < 4; i++) {
        robot r = load(shapes[i].file);
        if (KK_CHECK_EQ_INT(kk_spec_shape_count(r.spec), 2)) {
            const kk_shape_def *seen = kk_spec_shape_const(r.spec, 0), *touched = kk_spec_shape_const(r.spec, 1);
            KK_CHECK_EQ_INT(seen->purpose, KK_SHAPE_VISIBLE);
            KK_CHECK_EQ_INT(touched->purpose, KK_SHAPE_COLLIDES);
            KK_CHECK(touched->type == shapes[i].type && touched->body == 1 && touched->placement.p.z == 0.1);
            for (int k = 0; k < 3; k++) {
                KK_CHECK_EQ_INT(touched->size[k] == shapes[i].size[k], 1);
            }
        }
        robot_free(&r);
    }
}

KK_TEST(urdf_plane_faces_its_normal) {
    robot r = load("shape_plane");
    const kk_shape_def *plane = kk_spec_shape_const(r.spec, 0);
    KK_CHECK_EQ_INT(plane->type, KK_SHAPE_PLANE);
    const kk_vec3 n = kk_mat3_column(plane->placement.R, 2);
    KK_CHECK_NEAR(n.x, 0, 1e-15);
    KK_CHECK_NEAR(n.y, 1, 1e-15);
    KK_CHECK_NEAR(n.z, 0, 1e-15);
    robot_free(&r);
}

/// The largest coordinates of the one mesh.
static kk_vec3 extent(const robot *r) {
    kk_vec3 most = {-1e9, -1e9, -1e9};
    const kk_mesh_def *mesh = kk_spec_mesh_const(r->spec, 0);
    for (int i = 0; mesh && i < mesh->vertex_count; i++) {
        const kk_vec3 p = mesh->vertex[i];
        most = kk_vec3_make(p.x > most.x ? p.x : most.x, p.y > most.y ? p.y : most.y, p.z > most.z ? p.z : most.z);
    }
    return most;
}

static void check_extent(const char *file, double x, double y, double z, kk_shape_type type) {
    robot r = load(file);
    const kk_vec3 e = extent(&r);
    KK_CHECK_EQ_INT(kk_spec_mesh_count(r.spec), 1);
    KK_CHECK_NEAR(e.x, x, 1e-12);
    KK_CHECK_NEAR(e.y, y, 1e-12);
    KK_CHECK_NEAR(e.z, z, 1e-12);
    const int last = kk_spec_shape_count(r.spec) - 1;
    KK_CHECK_EQ_INT(kk_spec_shape_const(r.spec, last)->type, type);
    robot_free(&r);
}

// COLLADA: 10 dm are 1 m, and y stays y although the file says it is up
KK_TEST(urdf_meshes) {
    check_extent("mesh_stl", 1, 2, 3, KK_SHAPE_HULL);
    check_extent("mesh_obj", 1, 2, 3, KK_SHAPE_HULL);
    check_extent("mesh_dae", 1, 2, 3, KK_SHAPE_HULL);
    check_extent("mesh_scale", 0.001, 0.002, 0.003, KK_SHAPE_HULL);
    check_extent("mesh_mirror", 1, 0, 3, KK_SHAPE_HULL);
    check_extent("mesh_package", 1, 2, 3, KK_SHAPE_HULL);
    check_extent("mesh_static", 1, 2, 3, KK_SHAPE_MESH);
    check_extent("karakuri_exact_mesh", 1, 2, 3, KK_SHAPE_MESH);
}

KK_TEST(urdf_meshes_are_left_out_as_asked) {
    const kk_load_options none = {.meshes = KK_MESH_LOAD_NONE}, collision = {.meshes = KK_MESH_LOAD_COLLISION};
    robot r = robot_from_file(FOLDER "mesh_stl.urdf", &none);
    KK_CHECK_EQ_INT(kk_spec_shape_count(r.spec), 0);
    robot_free(&r);
    r = robot_from_file(FOLDER "mesh_stl.urdf", &collision);
    KK_CHECK_EQ_INT(kk_spec_shape_count(r.spec), 1);
    robot_free(&r);
    r = load("mesh_missing");
    KK_CHECK_EQ_INT(kk_spec_shape_count(r.spec), 1);
    robot_free(&r);
}

KK_TEST(urdf_materials) {
    static const char *const red[] = {"material_global", "material_local", "material_forward"};
    for (int i = 0; i < 3; i++) {
        robot r = load(red[i]);
        KK_CHECK_EQ_INT(kk_spec_visual_count(r.spec), 1);
        for (int k = 0; k < kk_spec_shape_count(r.spec); k++) {
            KK_CHECK_EQ_INT(kk_spec_shape_const(r.spec, k)->visual, 0);
        }
        const kk_visual_def *visual = kk_spec_visual_const(r.spec, 0);
        KK_CHECK(visual->color[0] == 1 && visual->color[1] == 0 && visual->color[3] == 1);
        robot_free(&r);
    }
    robot r = load("material_texture");
    KK_CHECK_STR(kk_spec_visual_const(r.spec, 0)->texture, "wood.png");
    robot_free(&r);
    r = load("material_redefined");
    KK_CHECK(kk_spec_visual_const(r.spec, kk_spec_shape_const(r.spec, 0)->visual)->color[0] == 0.5F);
    robot_free(&r);
    r = load("material_undefined");
    KK_CHECK_EQ_INT(kk_spec_shape_const(r.spec, 0)->visual, -1);
    robot_free(&r);
}

// ---- actuators and surfaces

KK_TEST(urdf_transmissions_are_actuators) {
    robot r = load("transmission_effort");
    const kk_actuator_def *a = kk_spec_actuator_const(r.spec, 0);
    if (KK_CHECK(a != NULL)) {
        KK_CHECK_STR(a->name, "motor");
        KK_CHECK_STR(a->target, "hinge");
        KK_CHECK(a->type == KK_ACTUATOR_FORCE && a->gain == 1 && a->gear == 1);
        KK_CHECK(a->force_lower == -30 && a->force_upper == 30 && a->control_upper == 30);
        KK_CHECK(joint_of(&r, "hinge")->dof[0].gear_ratio == 50);
    }
    robot_free(&r);
    r = load("transmission_position");
    a = kk_spec_actuator_const(r.spec, 0);
    KK_CHECK(a && a->type == KK_ACTUATOR_POSITION && a->control_lower == -1 && a->control_upper == 2 && a->gain > 0);
    robot_free(&r);
    r = load("transmission_velocity");
    a = kk_spec_actuator_const(r.spec, 0);
    KK_CHECK(a && a->type == KK_ACTUATOR_VELOCITY && a->control_upper == 4 && a->gain > 0 && a->bias[2] == -a->gain);
    robot_free(&r);
    r = load("transmission_old");
    KK_CHECK(joint_of(&r, "hinge")->dof[0].gear_ratio == 60);
    robot_free(&r);
}

KK_TEST(urdf_gazebo_surfaces_are_materials) {
    robot r = load("gazebo_surface");
    const kk_material_def *m = kk_spec_material_const(r.spec, kk_spec_shape_const(r.spec, 0)->material);
    KK_CHECK(m->friction == 0.9 && m->friction_across == 0.6 && m->stiffness == 1e5 && m->damping == 10);
    robot_free(&r);
}

// ---- <karakuri>

KK_TEST(urdf_karakuri_loops) {
    robot r = load("karakuri_loop");
    const kk_loop_def *l = kk_spec_loop_const(r.spec, 0);
    if (KK_CHECK(l != NULL)) {
        KK_CHECK(l->type == KK_LOOP_AXIS && l->body[0] == robot_body(&r, "rod") && l->is_active);
        KK_CHECK(l->body[1] == robot_body(&r, "rocker") && l->placement[0].p.x == 0.8 && l->placement[1].p.z == 0.4);
        KK_CHECK_NEAR(l->placement[0].R.m[5], -1, 1e-15);
        KK_CHECK(l->stiffness == __builtin_inf());
    }
    robot_free(&r);
    r = load("karakuri_rod");
    l = kk_spec_loop_const(r.spec, 0);
    if (KK_CHECK(l != NULL)) {
        KK_CHECK(l->type == KK_LOOP_DISTANCE && l->body[1] == KK_WORLD && l->distance == 0.5 && !l->is_active);
        KK_CHECK(l->stiffness == 1e6 && l->damping == 100 && l->break_force == 500);
    }
    robot_free(&r);
}

KK_TEST(urdf_karakuri_joints) {
    static const struct {
        const char *file;
        kk_joint_type type;
        int dof;
    } joints[] = {{"karakuri_ball", KK_JOINT_BALL, 2},
                  {"karakuri_universal", KK_JOINT_UNIVERSAL, 1},
                  {"karakuri_cylindrical", KK_JOINT_CYLINDRICAL, 1},
                  {"karakuri_screw", KK_JOINT_SCREW, 0},
                  {"karakuri_free", KK_JOINT_FREE, 5}};
    for (int i = 0; i < 5; i++) {
        robot r = load(joints[i].file);
        const kk_joint_def *j = joint_of(&r, "odd");
        KK_CHECK(j->type == joints[i].type && j->dof[joints[i].dof].damping == 0.5);
        KK_CHECK(j->type != KK_JOINT_SCREW || j->pitch == 0.01);
        robot_free(&r);
    }
    robot r = load("karakuri_rotor");
    KK_CHECK_NEAR(kk_model_dof(r.model, 0).armature, 0.01 + 1e-5 * 1e4, 1e-15);
    robot_free(&r);
    r = load("karakuri_bush");
    const kk_dof_def *dof = &joint_of(&r, "hinge")->dof[0];
    KK_CHECK(dof->stiffness == 40 && dof->rest == 0.2 && dof->damping == 0.5 && dof->upper == 2);
    robot_free(&r);
}

KK_TEST(urdf_karakuri_actuators_and_sensors) {
    robot r = load("karakuri_servo");
    if (KK_CHECK_EQ_INT(kk_spec_actuator_count(r.spec), 3)) {
        const kk_actuator_def *p = kk_spec_actuator_const(r.spec, 0), *v = kk_spec_actuator_const(r.spec, 1);
        const kk_actuator_def *g = kk_spec_actuator_const(r.spec, 2);
        KK_CHECK(p->gain == 300 && p->bias[1] == -300 && p->bias[2] == -20);
        KK_CHECK_STR(p->target, "hinge");
        KK_CHECK(v->gain == 7 && v->bias[2] == -7 && v->bias[1] == 0);
        KK_CHECK(g->type == KK_ACTUATOR_GENERAL && g->gear == 0.1 && g->gain == 3 && g->bias[0] == 1);
        KK_CHECK(g->bias[1] == -2 && g->activation == KK_ACTIVATION_FILTER && g->time_constant == 0.05 &&
                 g->force_upper == 0);
    }
    robot_free(&r);
    r = load("karakuri_sensor");
    if (KK_CHECK_EQ_INT(kk_spec_sensor_count(r.spec), 3)) {
        KK_CHECK(kk_spec_sensor_const(r.spec, 0)->type == KK_SENSOR_GYRO);
        KK_CHECK(kk_spec_sensor_const(r.spec, 1)->type == KK_SENSOR_JOINT_POSITION);
        KK_CHECK(kk_spec_sensor_const(r.spec, 2)->type == KK_SENSOR_CENTER_OF_MASS_VELOCITY);
        KK_CHECK(kk_spec_frame_const(r.spec, 0)->placement.p.z == 0.5);
    }
    robot_free(&r);
}

KK_TEST(urdf_karakuri_contacts) {
    robot r = load("karakuri_material");
    const kk_shape_def *a = kk_spec_shape_const(r.spec, 0), *b = kk_spec_shape_const(r.spec, 1);
    const kk_material_def *m = kk_spec_material_const(r.spec, a->material);
    KK_CHECK(m->friction == 1.2 && m->restitution == 0.3 && m->slip == 0.002 && m->combine == KK_COMBINE_MAX);
    KK_CHECK(b->material == 0 && b->margin == 0.01 && b->group == 2 && b->mask == 5);
    KK_CHECK(kk_spec_material_const(r.spec, 0)->friction == 0.5);
    KK_CHECK(kk_spec_material_pair_const(r.spec, 0)->together.friction == 0.9);
    robot_free(&r);
    r = load("karakuri_pair");
    const kk_pair_def *pair = kk_spec_pair_const(r.spec, 0);
    KK_CHECK(pair && pair->shape[0] == 0 && pair->shape[1] == 1 && pair->margin == 0.02 && pair->material == -1);
    const kk_exclude_def *exclude = kk_spec_exclude_const(r.spec, 0);
    KK_CHECK(exclude && exclude->body[0] == 1 && exclude->body[1] == 2);
    robot_free(&r);
    r = load("karakuri_shapes");
    KK_CHECK(kk_spec_shape_const(r.spec, 0)->type == KK_SHAPE_CONE);
    KK_CHECK(kk_spec_shape_const(r.spec, 1)->size[1] == 0.2);
    robot_free(&r);
    r = load("karakuri_height_field");
    const kk_height_field_def *h = kk_spec_height_field_const(r.spec, 0);
    KK_CHECK(h && h->rows == 2 && h->columns == 3 && h->height[5] == 0.4 && h->half_x == 2);
    KK_CHECK(kk_spec_shape_const(r.spec, 0)->height_field == 0);
    robot_free(&r);
}

KK_TEST(urdf_karakuri_rest) {
    robot r = load("karakuri_frame");
    KK_CHECK(kk_spec_frame_const(r.spec, 0)->body == 1 && kk_spec_frame_const(r.spec, 1)->body == KK_WORLD);
    robot_free(&r);
    r = load("karakuri_option");
    const kk_options *o = kk_spec_options_const(r.spec);
    KK_CHECK(o->gravity.z == -1.62 && o->timestep == 0.002 && o->integrator == KK_INTEGRATOR_RK4);
    robot_free(&r);
    r = load("karakuri_keyframe");
    const kk_keyframe_def *k = kk_spec_keyframe_const(r.spec, 0);
    KK_CHECK(k && k->time == 1.5 && k->q_count == 1 && k->q[0] == 0.5 && k->v[0] == -1 && k->control_count == 0);
    robot_free(&r);
    r = load("karakuri_tendon");
    const kk_tendon_def *t = kk_spec_tendon_const(r.spec, 0);
    KK_CHECK(t && t->item_count == 2 && t->item[1].coefficient == -0.2 && t->lower == -1 && t->stiffness == 10);
    robot_free(&r);
    r = load("karakuri_offset");
    const kk_body_def *arm = kk_spec_body_const(r.spec, 1);
    KK_CHECK(arm->offset.p.z == 0.5);
    // the center of mass was written 0.3 above the joint, 0.2 below the body's origin
    KK_CHECK_NEAR(arm->inertia.com.z, -0.2, 1e-15);
    robot_free(&r);
    r = load("karakuri_coupling");
    KK_CHECK(kk_spec_coupling_const(r.spec, 0)->follower_dof == 1);
    robot_free(&r);
}
#endif
