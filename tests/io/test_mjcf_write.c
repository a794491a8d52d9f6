/// MJCF → spec → MJCF → spec keeps kinematics and inertia: the whole corpus, and robots of others.
#define _DEFAULT_SOURCE // opendir, readdir
#include <dirent.h>

#include <karakuri/save.h>

#include "mjcf_support.h"

enum { MOST = 200 };

static double distance(kk_transform a, kk_transform b) {
    double worst = kk_vec3_norm(kk_vec3_sub(a.p, b.p)) / (1 + kk_vec3_norm(a.p));
    for (int i = 0; i < 9; i++) {
        const double e = __builtin_fabs(a.R.m[i] - b.R.m[i]);
        worst = e > worst ? e : worst;
    }
    return worst;
}

static void compare_motion(const robot *a, const robot *b, const char *name) {
    static double q[MOST], Ma[MOST * MOST], Mb[MOST * MOST];
    const int nv = kk_model_nv(a->model);
    for (uint64_t k = 0; k < 3; k++) {
        double pose = 0, mass = 0, scale = 1e-300;
        kk_model_random_q(a->model, 7, k, q);
        kk_kinematics(a->model, a->data, q);
        kk_kinematics(b->model, b->data, q);
        for (int i = 0; i < kk_model_nbody(a->model); i++) {
            const char *body = kk_model_body_name(a->model, i);
            if (strchr(body, '/')) {
                continue; // links of chains carry nothing, and stand where the joints' references put them
            }
            const int j = kk_model_find_body(b->model, body);
            const double d = distance(kk_body_pose(a->model, a->data, i), kk_body_pose(b->model, b->data, j));
            pose = d > pose ? d : pose;
        }
        kk_inertia_matrix(a->model, a->data, q, Ma);
        kk_inertia_matrix(b->model, b->data, q, Mb);
        for (int i = 0; i < nv * nv; i++) {
            const double e = __builtin_fabs(Ma[i] - Mb[i]), s = __builtin_fabs(Ma[i]);
            mass = e > mass ? e : mass;
            scale = s > scale ? s : scale;
        }
        if (!(pose <= 1e-12) || !(mass <= 1e-12 * scale)) {
            KK_FAIL("%s: poses differ by %.1e, the inertia matrix by %.1e", name, pose, mass / scale);
        }
    }
}

static void compare_counts(const robot *a, const robot *b, const char *name) {
    const int x[] = {kk_model_nq(a->model),           kk_spec_shape_count(a->spec),    kk_spec_frame_count(a->spec),
                     kk_spec_loop_count(a->spec),     kk_spec_coupling_count(a->spec), kk_spec_tendon_count(a->spec),
                     kk_spec_actuator_count(a->spec), kk_spec_sensor_count(a->spec),   kk_spec_keyframe_count(a->spec),
                     kk_spec_pair_count(a->spec),     kk_spec_exclude_count(a->spec),  kk_spec_body_count(a->spec)};
    const int y[] = {kk_model_nq(b->model),           kk_spec_shape_count(b->spec),    kk_spec_frame_count(b->spec),
                     kk_spec_loop_count(b->spec),     kk_spec_coupling_count(b->spec), kk_spec_tendon_count(b->spec),
                     kk_spec_actuator_count(b->spec), kk_spec_sensor_count(b->spec),   kk_spec_keyframe_count(b->spec),
                     kk_spec_pair_count(b->spec),     kk_spec_exclude_count(b->spec),  kk_spec_body_count(b->spec)};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        if (x[i] != y[i]) {
            KK_FAIL("%s: count %d is %d, then %d", name, (int)i, x[i], y[i]);
        }
    }
    for (int i = 0; i < kk_spec_keyframe_count(a->spec) && i < kk_spec_keyframe_count(b->spec); i++) {
        const kk_keyframe_def *k = kk_spec_keyframe(a->spec, i), *l = kk_spec_keyframe(b->spec, i);
        for (int j = 0; j < k->q_count && j < l->q_count; j++) {
            KK_CHECK_NEAR(k->q[j], l->q[j], 1e-12);
        }
        for (int j = 0; j < k->v_count && j < l->v_count; j++) {
            KK_CHECK_NEAR(k->v[j], l->v[j], 1e-12);
        }
    }
}

/// Reads a written text, with the corpus's meshes in memory beside it.
static robot again(const char *text, size_t size) {
    static const char *const names[] = {"assets/wedge.obj", "assets/tetrahedron.stl"};
    static char bytes[2][4096];
    kk_file file[3] = {{"model.xml", text, size}};
    for (int i = 0; i < 2; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s", MJCF_FOLDER, names[i]);
        FILE *f = fopen(path, "rb");
        file[i + 1] = (kk_file){names[i], bytes[i], f ? fread(bytes[i], 1, sizeof bytes[i], f) : 0};
        if (f) {
            fclose(f);
        }
    }
    robot r = {0};
    const kk_load_options o = {.file = file, .file_count = 3};
    r.status = kk_load_file("model.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    return r;
}

static void round_trip(const char *path, const char *name) {
    robot a = robot_from_file(path, NULL), b = {0};
    char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    if (robot_is_good(&a, name) && kk_spec_write_mjcf(a.spec, NULL, NULL, &text, &size, &error) != KK_OK) {
        KK_FAIL("%s is not written: %s", name, error.text);
    }
    if (text) {
        b = again(text, size);
        if (robot_is_good(&b, name)) {
            compare_counts(&a, &b, name);
            compare_motion(&a, &b, name);
        } else {
            KK_FAIL("%s", text);
        }
        kk_text_free(NULL, text, size);
    }
    robot_free(&b);
    robot_free(&a);
}

KK_TEST(mjcf_round_trips_keep_the_model) {
    DIR *folder = opendir(MJCF_FOLDER);
    char names[300][80];
    int count = 0;
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && count < 300; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".xml")) {
            snprintf(names[count++], sizeof *names, "%.79s", entry->d_name);
        }
    }
    if (!folder) {
        KK_SKIP("no folder to read the corpus from");
    }
    closedir(folder);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%.79s", MJCF_FOLDER, names[i]);
        round_trip(path, names[i]);
    }
}

// ---- contacts and looks

static const char contacts[] =
    "<mujoco><asset><texture name='t' type='2d' file='wood.png'/><material name='m' texture='t' rgba='1 0.5 0 "
    "1'/></asset>"
    "<worldbody><geom name='floor' type='plane' size='1 1 1' friction='0.3' priority='2' solref='-300 -7' "
    "solimp='0.8 0.8 0.001 0.5 2'/><geom name='belt' type='box' size='1 1 1' surfacevel='1 2 3 4 5 6'/>"
    "<body name='a'><freejoint/><inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/>"
    "<geom name='soft' size='0.1' solref='-800 -20' solimp='0.5 0.5 0.001 0.5 2' material='m'/>"
    "<geom name='hard' size='0.1' priority='1' solref='0.02 0.1' adhesion='0.7'/>"
    "<body name='b'><joint/><inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/><geom name='tip' "
    "size='0.2'/></body></body>"
    "<body name='c' pos='0 0 3'><freejoint/><geom name='free' size='0.1' solref='0.1 1'/></body></worldbody>"
    "<contact><pair geom1='tip' geom2='free' solref='-100 -10' friction='0.1 0.2 0.3 0.4 0.4' "
    "condim='6'/></contact></mujoco>";

static void compare_materials(const kk_material_def *a, const kk_material_def *b, const char *name) {
    const double x[] = {a->friction,    a->friction_across, a->torsion, a->rolling,
                        a->restitution, a->stiffness,       a->damping, a->adhesion};
    const double y[] = {b->friction,    b->friction_across, b->torsion, b->rolling,
                        b->restitution, b->stiffness,       b->damping, b->adhesion};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        if (!(x[i] == y[i] || __builtin_fabs(x[i] - y[i]) <= 1e-12 * __builtin_fabs(x[i]))) {
            KK_FAIL("%s: number %d of its material is %.17g, then %.17g", name, (int)i, x[i], y[i]);
        }
    }
}

static const kk_shape_def *shape_named(const kk_spec *s, const char *name) {
    int i = 0;
    while (i + 1 < kk_spec_shape_count(s) && strcmp(kk_spec_shape_const(s, i)->name, name) != 0) {
        i++;
    }
    KK_CHECK_STR(kk_spec_shape_const(s, i)->name, name);
    return kk_spec_shape_const(s, i);
}

/// What holds between two shapes by a pair of materials, NULL: a combination of both.
static const kk_material_def *between(const kk_spec *s, const char *a, const char *b) {
    const int x = shape_named(s, a)->material;
    const int y = shape_named(s, b)->material;
    for (int i = 0; i < kk_spec_material_pair_count(s); i++) {
        const kk_material_pair_def *p = kk_spec_material_pair_const(s, i);
        if ((p->material[0] == x && p->material[1] == y) || (p->material[0] == y && p->material[1] == x)) {
            return &p->together;
        }
    }
    return NULL;
}

static void compare_contacts(const kk_spec *a, const kk_spec *b) {
    static const char *const names[] = {"floor", "belt", "soft", "hard", "tip", "free"};
    for (int i = 0; i < 6; i++) {
        const kk_shape_def *x = shape_named(a, names[i]);
        const kk_shape_def *y = shape_named(b, names[i]);
        compare_materials(kk_spec_material_const(a, x->material), kk_spec_material_const(b, y->material), names[i]);
        KK_CHECK(memcmp(&x->surface, &y->surface, sizeof x->surface) == 0);
        for (int k = 0; k < i; k++) {
            const kk_material_def *p = between(a, names[i], names[k]), *q = between(b, names[i], names[k]);
            if (KK_CHECK((p == NULL) == (q == NULL)) && p) {
                compare_materials(p, q, names[i]);
            }
        }
    }
    compare_materials(kk_spec_material_const(a, kk_spec_pair_const(a, 0)->material),
                      kk_spec_material_const(b, kk_spec_pair_const(b, 0)->material), "pair");
}

// stiffness, damping, adhesion, priorities, surface velocities and textures come back
KK_TEST(mjcf_keeps_contacts_and_textures) {
    robot a = mjcf_from_text(contacts), b = {0};
    char *text = NULL;
    size_t size = 0;
    if (robot_is_good(&a, "contacts") &&
        KK_CHECK_EQ_INT(kk_spec_write_mjcf(a.spec, NULL, NULL, &text, &size, NULL), 0)) {
        b = again(text, size);
        if (robot_is_good(&b, text)) {
            KK_CHECK(
                !__builtin_isinf(kk_spec_material_const(a.spec, kk_spec_shape_const(a.spec, 0)->material)->stiffness));
            KK_CHECK(kk_spec_material_pair_count(a.spec) > 0);
            compare_contacts(a.spec, b.spec);
            const int visual = shape_named(b.spec, "soft")->visual;
            KK_CHECK_STR(kk_spec_visual_const(b.spec, visual)->texture, "wood.png");
        }
    }
    kk_text_free(NULL, text, size);
    robot_free(&b);
    robot_free(&a);
}

// MuJoCo's numbers are signed ints: a shape that touches everything has -1, not 4294967295
KK_TEST(mjcf_masks_are_signed) {
    robot a = mjcf_from_text(
        "<mujoco><worldbody><geom name='g' type='sphere' size='1' contype='-1' conaffinity='2147483648'/>"
        "<geom name='h' type='sphere' size='1' contype='4294967295' conaffinity='5'/></worldbody></mujoco>");
    char *text = NULL;
    size_t size = 0;
    kk_error error = {.status = KK_OK};
    KK_CHECK_EQ_INT(kk_spec_write_mjcf(a.spec, NULL, NULL, &text, &size, &error), KK_OK);
    if (text) {
        KK_CHECK(strstr(text, "contype=\"-1\" conaffinity=\"-2147483648\"") != NULL);
        KK_CHECK(strstr(text, "contype=\"-1\" conaffinity=\"5\"") != NULL);
        robot b = again(text, size);
        KK_CHECK(b.spec && kk_spec_shape_const(b.spec, 0)->group == 0xffffffffu &&
                 kk_spec_shape_const(b.spec, 0)->mask == 0x80000000u);
        robot_free(&b);
    }
    kk_text_free(NULL, text, size);
    robot_free(&a);
}

// what MJCF has no words for is named once
KK_TEST(mjcf_tells_what_it_cannot_say) {
    static const char *const words[] = {"static friction", "friction across",     "stiffness is above",
                                        "restitution",     "the larger friction", "between the two"};
    robot a =
        mjcf_from_text("<mujoco><worldbody><body><freejoint/><geom name='g' size='1'/></body></worldbody></mujoco>");
    char *text = NULL;
    size_t size = 0;
    if (robot_is_good(&a, "a ball")) {
        kk_material_def m = kk_material_def_default();
        m.name = "rubber";
        m.static_friction = 2 * m.friction + 1;
        m.friction_across = m.friction + 0.5;
        m.stiffness = 1e12;
        m.restitution = 0.5;
        kk_material_pair_def pair = kk_material_pair_def_default();
        KK_CHECK_EQ_INT(kk_spec_add_material(a.spec, &m, &pair.material[1], NULL), KK_OK);
        pair.together.friction = 0.123;
        KK_CHECK_EQ_INT(kk_spec_add_material_pair(a.spec, &pair, NULL, NULL), KK_OK);
        kk_spec_shape(a.spec, 0)->material = pair.material[1];
        KK_CHECK_EQ_INT(kk_spec_write_mjcf(a.spec, NULL, NULL, &text, &size, NULL), KK_OK);
        for (size_t i = 0; text && i < sizeof words / sizeof *words; i++) {
            const char *at = strstr(text, words[i]);
            if (!at || strstr(at + 1, words[i])) {
                KK_FAIL("'%s' is told %s", words[i], at ? "twice" : "never");
            }
        }
    }
    kk_text_free(NULL, text, size);
    robot_free(&a);
}

static int add_shaped(kk_spec *spec, const char *name, int parent, kk_joint_type type) {
    kk_body_def body = kk_body_def_default();
    kk_shape_def shape = kk_shape_def_default();
    body.name = name;
    body.parent = parent;
    body.joint.type = type;
    body.inertia = kk_inertia_solid_sphere(1, 0.1);
    shape.type = KK_SHAPE_SPHERE;
    shape.size[0] = 0.1;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &shape.body, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, NULL, NULL), KK_OK);
    return shape.body;
}

// a pedestal is the neighbor of what stands on it, to MuJoCo a part of the world: in MJCF the pair is excluded, once
KK_TEST(mjcf_keeps_what_stands_on_a_pedestal_apart_from_it) {
    kk_spec *spec = NULL;
    char *text = NULL;
    size_t size = 0;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    const int base = add_shaped(spec, "base", KK_WORLD, KK_JOINT_FIXED);
    const int flange = add_shaped(spec, "flange", base, KK_JOINT_FIXED);
    const int link = add_shaped(spec, "link", flange, KK_JOINT_HINGE);
    const int tool = add_shaped(spec, "tool", link, KK_JOINT_FIXED);
    add_shaped(spec, "hand", tool, KK_JOINT_HINGE);
    kk_exclude_def exclude = kk_exclude_def_default();
    exclude.body[0] = link;
    exclude.body[1] = base;
    KK_CHECK_EQ_INT(kk_spec_add_exclude(spec, &exclude, NULL, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_write_mjcf(spec, NULL, NULL, &text, &size, NULL), KK_OK);
    robot a = {.spec = spec}, b = again(text ? text : "", size);
    robot_compile(&a);
    if (robot_is_good(&a, "pedestal") && robot_is_good(&b, text)) {
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < 5; k++) {
                KK_CHECK_EQ_INT(kk_model_may_touch(b.model, i, k, NULL), kk_model_may_touch(a.model, i, k, NULL));
            }
        }
        KK_CHECK_EQ_INT(kk_spec_exclude_count(b.spec), 4); // base and flange, link and tool
    }
    kk_text_free(NULL, text, size);
    robot_free(&a);
    robot_free(&b);
}
