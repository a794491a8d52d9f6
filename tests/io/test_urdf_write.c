// URDF → spec → URDF → spec keeps everything: the corpus, a robot of others, and a spec with a bit of all.
#define _DEFAULT_SOURCE // opendir, readdir
#include "urdf_support.h"

#include <karakuri/save.h>

#include "io/karakuri_write.h"

#ifdef KK_SOURCE_DIR
#define FOLDER KK_SOURCE_DIR "/tests/io/urdf"
#else
#define FOLDER "tests/io/urdf"
#endif

enum { MOST_Q = 200, MOST_V = 160 };

/// Meshes of the corpus, in memory beside the text.
static robot again(const char *text) {
    static const char *const names[] = {"meshes/tetra.stl", "meshes/tetra.obj", "meshes/tetra.dae"};
    static char bytes[3][4096];
    kk_file file[4] = {{"robot.urdf", text, strlen(text)}};
    for (int i = 0; i < 3; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", FOLDER, names[i]);
        FILE *f = fopen(path, "rb");
        file[i + 1] = (kk_file){names[i], bytes[i], f ? fread(bytes[i], 1, sizeof bytes[i], f) : 0};
        if (f) {
            fclose(f);
        }
    }
    const kk_load_options o = {.file = file, .file_count = 4};
    return robot_from_text(text, &o);
}

static double distance(kk_transform a, kk_transform b) {
    double worst = kk_vec3_norm(kk_vec3_sub(a.p, b.p));
    for (int i = 0; i < 9; i++) {
        const double e = __builtin_fabs(a.R.m[i] - b.R.m[i]);
        worst = e > worst ? e : worst;
    }
    return worst;
}

static void compare_motion(const robot *a, const robot *b, const char *name) {
    static double q[MOST_Q], Ma[MOST_V * MOST_V], Mb[MOST_V * MOST_V];
    const int nv = kk_model_nv(a->model);
    for (uint64_t k = 0; k < 3; k++) {
        double pose = 0, mass = 0, scale = 0;
        kk_model_random_q(a->model, 7, k, q);
        kk_kinematics(a->model, a->data, q);
        kk_kinematics(b->model, b->data, q);
        for (int i = 0; i < kk_model_nbody(a->model); i++) {
            const double d = distance(kk_body_pose(a->model, a->data, i), kk_body_pose(b->model, b->data, i));
            pose = d > pose ? d : pose;
        }
        kk_inertia_matrix(a->model, a->data, q, Ma);
        kk_inertia_matrix(b->model, b->data, q, Mb);
        for (int i = 0; i < nv * nv; i++) {
            const double e = __builtin_fabs(Ma[i] - Mb[i]), size = __builtin_fabs(Ma[i]);
            mass = e > mass ? e : mass;
            scale = size > scale ? size : scale;
        }
        if (!(pose <= 1e-12) || !(mass <= 1e-12 * (scale + 1e-3))) {
            KK_FAIL("%s: poses differ by %g, the inertia matrix by %g of %g", name, pose, mass, scale);
        }
    }
}

static void compare_specs(const robot *a, const robot *b, const char *name) {
#define COUNT(kind, text)                                                                     \
    if (!KK_CHECK_EQ_INT(kk_spec_##kind##_count(a->spec), kk_spec_##kind##_count(b->spec))) { \
        KK_FAIL("%s: " text, name);                                                           \
    }
    KK_SPEC_KINDS(COUNT)
#undef COUNT
    for (int i = 0; i < kk_spec_body_count(a->spec); i++) {
        KK_CHECK_STR(kk_spec_body_const(a->spec, i)->name, kk_spec_body_const(b->spec, i)->name);
    }
    for (int i = 0; i < kk_spec_shape_count(a->spec); i++) {
        const kk_shape_def *s = kk_spec_shape_const(a->spec, i), *t = kk_spec_shape_const(b->spec, i);
        KK_CHECK(s->type == t->type && s->material == t->material && s->body == t->body && s->purpose == t->purpose);
        KK_CHECK(s->margin == t->margin && s->group == t->group && s->mask == t->mask && s->mesh == t->mesh);
        KK_CHECK_BYTES(s->size, t->size, sizeof s->size);
        KK_CHECK(distance(s->placement, t->placement) < 1e-12);
    }
    for (int i = 0; i < kk_spec_actuator_count(a->spec); i++) {
        const kk_actuator_def *s = kk_spec_actuator_const(a->spec, i), *t = kk_spec_actuator_const(b->spec, i);
        KK_CHECK(s->gain == t->gain && s->type == t->type && s->force_upper == t->force_upper && s->gear == t->gear);
    }
}

/// Loads, writes, loads, compares; writes again, which gives the same text but for the last digit of an angle.
__attribute__((unused)) // without folders to read nobody calls it
static void
round_trip(const char *path, const kk_load_options *options) {
    char *text = NULL, *text2 = NULL;
    size_t size = 0, size2 = 0;
    kk_error error = {0};
    robot a = robot_from_file(path, options);
    if (!robot_is_good(&a, path) ||
        !KK_CHECK_EQ_INT(kk_spec_write_urdf(a.spec, NULL, NULL, &text, &size, &error), KK_OK)) {
        KK_FAIL("%s: %s", path, error.text);
        robot_free(&a);
        return;
    }
    robot b = again(text);
    if (robot_is_good(&b, path) && KK_CHECK_EQ_INT(kk_model_nq(a.model), kk_model_nq(b.model))) {
        if (kk_messages_count_of(b.messages, KK_SEVERITY_WARNING) > 1) {
            KK_FAIL("%s: %s", path, kk_messages_get(b.messages, 0).text);
        }
        compare_specs(&a, &b, path);
        compare_motion(&a, &b, path);
        KK_CHECK_EQ_INT(kk_spec_write_urdf(b.spec, NULL, NULL, &text2, &size2, &error), KK_OK);
        if (size2 > size + 32 || size > size2 + 32) {
            KK_FAIL("%s: the second text is another", path);
        }
        kk_text_free(NULL, text2, size2);
    }
    kk_text_free(NULL, text, size);
    robot_free(&b);
    robot_free(&a);
}

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(urdf_round_trip) {
    KK_SKIP("no folder to read robots from");
}
#else
#include <dirent.h>

KK_TEST(urdf_round_trip) {
    DIR *d = opendir(FOLDER);
    char path[600];
    int count = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        const size_t length = strlen(e->d_name);
        if (length > 5 && strcmp(e->d_name + length - 5, ".urdf") == 0) {
            snprintf(path, sizeof path, FOLDER "/%.80s", e->d_name);
            round_trip(path, NULL);
            count++;
        }
    }
    if (d) {
        closedir(d);
    }
    KK_CHECK(count >= 60);
}

KK_TEST(urdf_round_trip_of_jvrc1) {
    const char *path = KK_SOURCE_DIR "/../shared/models/jvrc1/urdf/jvrc1.urdf";
    const kk_load_options o = {.meshes = KK_MESH_LOAD_NONE};
    FILE *file = fopen(path, "rb");
    if (!file) {
        KK_SKIP("../shared/models is not there");
    }
    fclose(file);
    round_trip(path, &o);
}
#endif

// also where roll and yaw are one, and near there; the rotations come from quaternions, with their rounding
KK_TEST(urdf_write_angles_of_any_rotation) {
    static const double tilt[] = {0, 1e-16, 1e-12, 1e-9, 1e-5, 0.1};
    double worst = 0;
    for (int i = 0; i < 6 * 8 * 8 * 2; i++) {
        const double pitch = (i % 2 ? 1 : -1) * (1.5707963267948966 - tilt[i / 2 % 6]);
        const int yaw = i / 96;
        const kk_quat x = kk_quat_exp(kk_vec3_make(0.9 * (i / 12 % 8) - 3, 0, 0));
        const kk_quat y = kk_quat_exp(kk_vec3_make(0, pitch, 0));
        const kk_quat z = kk_quat_exp(kk_vec3_make(0, 0, 0.7 * yaw - 2));
        const kk_transform X = {kk_quat_to_mat3(kk_quat_mul(z, kk_quat_mul(y, x))), {0, 0, 0}};
        const kk_vec3 a = kki_rpy_of(X.R);
        const double d = distance(X, kk_transform_make(kk_mat3_from_rpy(a.x, a.y, a.z), X.p));
        worst = d > worst ? d : worst;
    }
    KK_CHECK_NEAR(worst, 0, 2e-15);
}

// what URDF has no words for, made by calls: an odd rotation at 90° of pitch, a body off its joint, shapes of all kinds
static kk_spec *odd_spec(void) {
    kk_spec *spec = NULL;
    kk_error error = {0};
    kk_spec_create(NULL, &spec);
    kk_body_def b = kk_body_def_default();
    b.name = "cart";
    b.joint.type = KK_JOINT_SLIDE;
    b.joint.axis = kk_vec3_make(1, 2, 3);
    b.joint.placement = kk_transform_make(kk_mat3_from_rpy(0.3, 1.5707963267948966, -0.4), kk_vec3_make(1, 2, 3));
    b.offset = kk_transform_make(kk_mat3_from_rpy(0.1, 0.2, 0.3), kk_vec3_make(0.1, 0, 0.2));
    b.inertia = kk_inertia_solid_box(2, 0.3, 0.4, 0.5);
    b.joint.dof[0].stiffness = 12;
    b.joint.dof[0].lower = -0.5;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &b, NULL, &error), KK_OK);
    b.name = "ball";
    b.parent = 1;
    b.joint.type = KK_JOINT_BALL;
    b.joint.dof[2].damping = 0.7;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &b, NULL, &error), KK_OK);
    static const kk_shape_type types[] = {KK_SHAPE_PLANE, KK_SHAPE_SPHERE, KK_SHAPE_CAPSULE,  KK_SHAPE_CYLINDER,
                                          KK_SHAPE_CONE,  KK_SHAPE_BOX,    KK_SHAPE_ELLIPSOID};
    for (int i = 0; i < 7; i++) {
        kk_shape_def s = kk_shape_def_default();
        s.body = i / 3; // shapes are written body by body
        s.type = types[i];
        s.purpose = i == 3 ? KK_SHAPE_VISIBLE : KK_SHAPE_COLLIDES;
        s.size[0] = i > 0 ? 0.1 : 0;
        s.size[1] = i > 1 ? 0.3 : 0;
        s.size[2] = i > 4 ? 0.7 : 0;
        s.placement = b.offset;
        KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &s, NULL, &error), KK_OK);
    }
    kk_frame_def f = kk_frame_def_default();
    f.name = "site";
    f.body = 2;
    f.placement = b.offset;
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &f, NULL, &error), KK_OK);
    return spec;
}

KK_TEST(urdf_writes_what_urdf_has_no_words_for) {
    robot a = {.spec = odd_spec()};
    robot_compile(&a);
    char *text = NULL;
    size_t size = 0;
    KK_CHECK_EQ_INT(kk_spec_write_urdf(a.spec, NULL, NULL, &text, &size, &a.error), KK_OK);
    robot b = robot_from_text(text ? text : "", NULL);
    if (robot_is_good(&a, "made") && robot_is_good(&b, "read")) {
        compare_specs(&a, &b, "odd");
        compare_motion(&a, &b, "odd");
        const kk_dof_def *d = kk_spec_body_const(b.spec, 1)->joint.dof;
        KK_CHECK(d[0].stiffness == 12 && d[0].lower == -0.5 && d[0].upper == __builtin_inf());
        KK_CHECK(kk_spec_body_const(b.spec, 2)->joint.dof[2].damping == 0.7);
        KK_CHECK(distance(kk_spec_frame_const(a.spec, 0)->placement, kk_spec_frame_const(b.spec, 0)->placement) <
                 1e-14);
        KK_CHECK_EQ_INT(kk_messages_count(b.messages), 0);
    }
    kk_text_free(NULL, text, size);
    robot_free(&a);
    robot_free(&b);
}

KK_TEST(urdf_write_names_meshes_from_a_directory) {
    static const struct {
        const char *directory, *file, *expected;
    } cases[] = {{"/a/b", "/a/b/c.stl", "filename=\"c.stl\""},
                 {"/a/b/urdf", "/a/b/meshes/c.stl", "filename=\"../meshes/c.stl\""},
                 {"/a/bc", "/a/b/c.stl", "filename=\"../b/c.stl\""},
                 {NULL, "/a/b/c.stl", "filename=\"package://x/c.stl\""}};
    for (int i = 0; i < 4; i++) {
        static const kk_vec3 vertex[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        static const int32_t face[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
        kk_spec *spec = odd_spec();
        kk_mesh_def m = kk_mesh_def_default();
        kk_shape_def s = kk_shape_def_default();
        m.name = "c", m.file = cases[i].file, m.reference = "package://x/c.stl";
        m.vertex = vertex, m.vertex_count = 4, m.face = face, m.face_count = 4;
        s.type = KK_SHAPE_HULL, s.body = 1;
        kk_spec_add_mesh(spec, &m, &s.mesh, NULL);
        kk_spec_add_shape(spec, &s, NULL, NULL);
        char *text = NULL;
        size_t size = 0;
        const kk_save_options o = {.directory = cases[i].directory};
        KK_CHECK_EQ_INT(kk_spec_write_urdf(spec, &o, NULL, &text, &size, NULL), KK_OK);
        if (!text || !strstr(text, cases[i].expected)) {
            KK_FAIL("case %d: %s", i, text ? text : "");
        }
        kk_text_free(NULL, text, size);
        kk_spec_free(spec);
    }
}

// names that are made of names are cut between characters, so what is written stays UTF-8
KK_TEST(urdf_write_long_names_of_two_bytes_a_character) {
    for (int length = 496; length < 505; length++) {
        builder b = {0};
        build(&b, "<robot name='r'><link name='a");
        build_times(&b, "\xc3\xa4", length);
        build(&b, "'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
                  "izz='1'/></inertial></link></robot>");
        robot r = robot_from_text(b.text, NULL);
        char *text = NULL;
        size_t size = 0;
        if (robot_is_good(&r, "long name")) {
            KK_CHECK_EQ_INT(kk_spec_write_urdf(r.spec, NULL, NULL, &text, &size, &r.error), KK_OK);
            robot again = robot_from_text(text ? text : "", NULL);
            robot_is_good(&again, "long name, written");
            robot_free(&again);
        }
        kk_text_free(NULL, text, size);
        robot_free(&r);
        free(b.text);
    }
}

KK_TEST(urdf_write_refuses) {
    kk_spec *spec = odd_spec();
    kk_error error = {0};
    char *text = NULL;
    size_t size = 0;
    KK_CHECK_EQ_INT(kk_spec_write_urdf(NULL, NULL, NULL, &text, &size, &error), KK_INVALID_ARGUMENT);
    kk_shape_def s = kk_shape_def_default();
    s.type = KK_SHAPE_HULL;
    s.mesh = 5;
    int id = 0;
    kk_spec_add_shape(spec, &s, &id, NULL);
    KK_CHECK_EQ_INT(kk_spec_write_urdf(spec, NULL, NULL, &text, &size, &error), KK_INVALID_MODEL);
    const kk_mesh_def m = {.name = "nameless", .scale = {1, 1, 1}};
    kk_spec_add_mesh(spec, &m, &kk_spec_shape(spec, id)->mesh, NULL);
    KK_CHECK_EQ_INT(kk_spec_write_urdf(spec, NULL, NULL, &text, &size, &error), KK_NOT_FOUND);
    KK_CHECK(strstr(error.text, "nameless") != NULL && text == NULL);
    kk_spec_free(spec);
}

KK_TEST(urdf_write_survives_failing_allocations) {
    kk_spec *spec = odd_spec();
    for (int i = 0; i < 100; i++) {
        counter c = {.fail_at = i};
        const kk_allocator allocator = counter_allocator(&c);
        char *text = NULL;
        size_t size = 0;
        kk_error error = {0};
        const kk_status status = kk_spec_write_urdf(spec, NULL, &allocator, &text, &size, &error);
        KK_CHECK_EQ_INT(status, c.calls > i ? KK_OUT_OF_MEMORY : KK_OK);
        kk_text_free(&allocator, text, size);
        KK_CHECK_EQ_INT(c.blocks, 0);
        KK_CHECK_EQ_INT(c.bytes, 0);
        if (status == KK_OK) {
            KK_CHECK(i > 4);
            break;
        }
    }
    kk_spec_free(spec);
}
