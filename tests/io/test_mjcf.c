/// MJCF: every file of the corpus has what it should, by closed form; `make crosscheck` compares the same files with MuJoCo.
#define _DEFAULT_SOURCE // opendir, readdir
#include <dirent.h>
#include <karakuri/state.h>

#include "geometry/mass.h"
#include "mjcf_support.h"

/// What a file of the corpus gives.
typedef struct expectation {
    const char *file;
    int bodies; ///< without the world
    int nq, nv;
    double mass;
    int shapes, frames, loops, couplings, tendons, actuators, sensors, keyframes, pairs, excludes;
    double center[3]; ///< of mass, hinges and slides at 0.3, the others at rest
    double inertia;   ///< sum of the inertia matrix's diagonal over hinges and slides, there
} expectation;

static const expectation expected[] = {
#include "mjcf_expected.inc"
};
enum { EXPECTED_COUNT = sizeof expected / sizeof *expected };

static const expectation *find_expectation(const char *name) {
    for (int i = 0; i < EXPECTED_COUNT; i++) {
        if (strcmp(expected[i].file, name) == 0) {
            return &expected[i];
        }
    }
    return NULL;
}

static void check_counts(const expectation *e, const robot *r) {
    const kk_spec *s = r->spec;
    const int counts[] = {kk_spec_body_count(s) - 1, kk_model_nq(r->model),     kk_model_nv(r->model),
                          kk_spec_shape_count(s),    kk_spec_frame_count(s),    kk_spec_loop_count(s),
                          kk_spec_coupling_count(s), kk_spec_tendon_count(s),   kk_spec_actuator_count(s),
                          kk_spec_sensor_count(s),   kk_spec_keyframe_count(s), kk_spec_pair_count(s),
                          kk_spec_exclude_count(s)};
    const int wanted[] = {e->bodies,  e->nq,        e->nv,      e->shapes,    e->frames, e->loops,   e->couplings,
                          e->tendons, e->actuators, e->sensors, e->keyframes, e->pairs,  e->excludes};
    static const char *const names[] = {"bodies",    "nq",        "nv",      "shapes",    "frames",
                                        "loops",     "couplings", "tendons", "actuators", "sensors",
                                        "keyframes", "pairs",     "excludes"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i] != wanted[i]) {
            KK_FAIL("%s: %s %d, not %d", e->file, names[i], counts[i], wanted[i]);
        }
    }
    const double mass = kk_model_mass(r->model);
    if (!(__builtin_fabs(mass - e->mass) <= 1e-9 * e->mass)) {
        KK_FAIL("%s: mass %.12g, not %.12g", e->file, mass, e->mass);
    }
}

static void check_motion(const expectation *e, const robot *r) {
    static double q[200], M[200 * 200];
    const int nv = kk_model_nv(r->model);
    double sum = 0;
    kk_model_neutral(r->model, q);
    for (int i = 1; i < kk_spec_body_count(r->spec); i++) {
        const kk_joint_info joint = kk_model_joint(r->model, i);
        if (joint.nv == 1) {
            q[joint.q_index] = 0.3;
        }
    }
    const kk_vec3 c = kk_center_of_mass(r->model, r->data, q);
    kk_inertia_matrix(r->model, r->data, q, M);
    for (int i = 1; i < kk_spec_body_count(r->spec); i++) {
        const kk_joint_info joint = kk_model_joint(r->model, i);
        sum += joint.nv == 1 ? M[joint.v_index * nv + joint.v_index] : 0;
    }
    const double far =
        __builtin_fabs(c.x - e->center[0]) + __builtin_fabs(c.y - e->center[1]) + __builtin_fabs(c.z - e->center[2]);
    if (!(far <= 1e-9) || !(__builtin_fabs(sum - e->inertia) <= 1e-9 * (1 + e->inertia))) {
        KK_FAIL("%s: the center of mass is %.1e away, the inertia is %.12g, not %.12g", e->file, far, sum, e->inertia);
    }
}

#ifdef __wasm__
#define SKIP_WITHOUT_FOLDER() KK_SKIP("no folder to read the corpus from")
#else
#define SKIP_WITHOUT_FOLDER() (void)0
#endif

KK_TEST(mjcf_corpus_has_what_it_should) {
    DIR *folder = opendir(MJCF_FOLDER);
    int count = 0;
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        char name[300];
        snprintf(name, sizeof name, "%s", entry->d_name);
        char *dot = strstr(name, ".xml");
        if (!dot) {
            continue;
        }
        *dot = 0;
        robot r = mjcf_from_corpus(name);
        const expectation *e = find_expectation(name);
        if (robot_is_good(&r, name) && KK_CHECK(e != NULL)) {
            check_counts(e, &r);
            check_motion(e, &r);
        }
        robot_free(&r);
        count++;
    }
    if (!folder) {
        KK_SKIP("no folder to read the corpus from");
    }
    closedir(folder);
    KK_CHECK_EQ_INT(count, EXPECTED_COUNT);
}

// ---- by closed form

static kk_transform pose_at(robot *r, const char *body, const double *q) {
    kk_kinematics(r->model, r->data, q);
    return kk_body_pose(r->model, r->data, robot_body(r, body));
}

// a hinge with ref: coordinate 30° is the pose in the file, and 0° is turned back from it about the anchor
KK_TEST(mjcf_reference_angle_shifts_the_coordinate) {
    robot r = mjcf_from_text("<mujoco><worldbody><body name='b' pos='1 0 0'><joint axis='0 0 1' pos='0 1 0' ref='30'/>"
                             "<geom size='0.1'/></body></worldbody></mujoco>");
    if (robot_is_good(&r, "ref")) {
        const double at_ref = KK_PI / 6, zero = 0;
        const kk_transform a = pose_at(&r, "b", &at_ref), b = pose_at(&r, "b", &zero);
        KK_CHECK_NEAR(a.p.x, 1, 1e-15);
        KK_CHECK_NEAR(a.p.y, 0, 1e-15);
        KK_CHECK_NEAR(b.p.x, 1 - 0.5, 1e-15); // (1, 1) + R(−30°) (0, −1)
        KK_CHECK_NEAR(b.p.y, 1 - kk_sqrt(3) / 2, 1e-15);
    }
    robot_free(&r);
}

KK_TEST(mjcf_several_joints_make_a_chain) {
    SKIP_WITHOUT_FOLDER();
    robot r = mjcf_from_corpus("joint_several");
    if (robot_is_good(&r, "joint_several")) {
        KK_CHECK(robot_body(&r, "eye/1") > 0 && robot_body(&r, "eye/2") > 0 && robot_body(&r, "eye/3") < 0);
        KK_CHECK_EQ_INT(kk_model_find_joint(r.model, "x"), robot_body(&r, "eye/1"));
        KK_CHECK_EQ_INT(kk_model_find_joint(r.model, "z"), robot_body(&r, "eye"));
        KK_CHECK_NEAR(kk_model_body_inertia(r.model, robot_body(&r, "eye/1")).mass, 0, 0);
    }
    robot_free(&r);
}

// MuJoCo starts at qpos0, where a coordinate is its ref; hopper and walker stand a meter in the floor elsewhere
KK_TEST(mjcf_a_state_starts_at_ref) {
    robot r = mjcf_from_text("<mujoco><worldbody><body name='b'><joint name='z' type='slide' ref='1.25'/>"
                             "<joint axis='0 1 0' ref='30'/><geom size='0.1'/></body></worldbody></mujoco>");
    kk_state *state = NULL;
    if (robot_is_good(&r, "ref") && kk_state_create(r.model, NULL, &state) == KK_OK) {
        KK_CHECK_NEAR(kk_state_q(state)[0], 1.25, 0);
        KK_CHECK_NEAR(kk_state_q(state)[1], KK_PI / 6, 1e-15);
    }
    KK_CHECK(state != NULL);
    kk_state_free(state);
    robot_free(&r);
}

// links on the two sides of three hinges are neighbors, as on the two sides of one; a real link between them without shapes is none
KK_TEST(mjcf_links_beside_a_chain_of_joints_are_neighbors) {
    robot r =
        mjcf_from_text("<mujoco><worldbody><body name='pelvis'><freejoint/><geom size='0.1'/>"
                       "<body name='thigh'><joint axis='1 0 0'/><joint axis='0 1 0'/><joint axis='0 0 1'/>"
                       "<geom size='0.1'/><body name='bare'><joint/><inertial mass='1' pos='0 0 0' "
                       "diaginertia='1 1 1'/><body name='shin'><joint axis='1 0 0'/><geom size='0.1'/></body></body>"
                       "</body></body></worldbody></mujoco>");
    if (robot_is_good(&r, "neighbors")) {
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 0, 1, NULL), 0); // pelvis and thigh
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 1, 2, NULL), 1); // thigh and shin
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 0, 2, NULL), 1);
    }
    robot_free(&r);
}

// the suite's fish and acrobot have no constraints at all: fins pass through the tail, which is not to be jammed against it
KK_TEST(mjcf_flag_constraint_takes_contacts_limits_friction_and_equalities) {
    robot r = mjcf_from_text(
        "<mujoco><option><flag constraint='disable'/></option><worldbody>"
        "<body name='a'><joint name='a' range='-1 1' limited='true' frictionloss='1'/><geom size='0.1'/></body>"
        "<body name='b'><joint name='b'/><geom size='0.1'/></body></worldbody>"
        "<equality><joint joint1='a' joint2='b'/></equality></mujoco>");
    if (robot_is_good(&r, "constraint='disable'")) {
        const kk_dof_def dof = kk_model_dof(r.model, 0);
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 0, 1, NULL), 0);
        KK_CHECK(dof.lower < -1e300 && dof.upper > 1e300);
        KK_CHECK_NEAR(dof.friction, 0, 0);
        KK_CHECK_EQ_INT(kk_model_ncoupling(r.model), 0);
    }
    robot_free(&r);
}

// MuJoCo's filter of parents leaves out the world and what is fixed to it, not a body that the user moves
KK_TEST(mjcf_bodies_fixed_to_the_world_are_no_neighbors) {
    robot r = mjcf_from_text(
        "<mujoco><worldbody><body name='mount'><geom size='0.1'/><body name='base'><geom size='0.1'/>"
        "<body name='driver'><joint/><geom size='0.1'/></body></body></body>"
        "<body name='hand' mocap='true'><geom size='0.1'/><body name='finger'><joint/><geom size='0.1'/></body></body>"
        "</worldbody></mujoco>");
    if (robot_is_good(&r, "a mount")) {
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 0, 2, NULL), 1);
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 1, 2, NULL), 1);
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 3, 4, NULL), 0);
    }
    robot_free(&r);
}

// half sizes there, whole ones here
KK_TEST(mjcf_sizes_are_doubled) {
    SKIP_WITHOUT_FOLDER();
    robot r = mjcf_from_corpus("geom_box");
    if (robot_is_good(&r, "geom_box")) {
        KK_CHECK_NEAR(kk_spec_shape(r.spec, 0)->size[1], 0.4, 1e-16);
        const kk_inertia I = kk_spec_body(r.spec, 1)->inertia;
        KK_CHECK_NEAR(I.mass, 1000 * 0.2 * 0.4 * 0.6, 1e-12);
        KK_CHECK_NEAR(I.com.y, 0.2, 1e-16);
    }
    robot_free(&r);
}

// shells of thickness t → 0: the difference of two solids, over the difference of their volumes
KK_TEST(mjcf_shells_are_thin_layers) {
    SKIP_WITHOUT_FOLDER();
    const double t = 1e-5;
    const kki_mass outer = kki_mass_cylinder(0.1 + t, 0.6 + 2 * t), inner = kki_mass_cylinder(0.1 - t, 0.6 - 2 * t);
    robot r = mjcf_from_corpus("shell_cylinder");
    if (robot_is_good(&r, "shell_cylinder")) {
        const kk_inertia I = kk_spec_body(r.spec, 1)->inertia;
        const double area = (outer.volume - inner.volume) / (2 * t);
        KK_CHECK_REL(I.mass, 3 * area, 1e-7);
        KK_CHECK_REL(I.moment.xx, 3 * (outer.moment.xx - inner.moment.xx) / (2 * t), 1e-7);
        KK_CHECK_REL(I.moment.zz, 3 * (outer.moment.zz - inner.moment.zz) / (2 * t), 1e-7);
    }
    robot_free(&r);
}

// ---- contact

static const kk_material_def *material_of(const robot *r, int shape) {
    return kk_spec_material_const(r->spec, kk_spec_shape_const(r->spec, shape)->material);
}

KK_TEST(mjcf_contact_parameters_become_physical) {
    SKIP_WITHOUT_FOLDER();
    robot r = mjcf_from_corpus("geom_solref");
    if (robot_is_good(&r, "geom_solref")) {
        KK_CHECK(__builtin_isinf(material_of(&r, 0)->stiffness)); // the default is rigid
        const kk_material_def *soft = material_of(&r, 1);         // τ = 0.1, ζ = 0.5, d = 0.95, 3 kg
        KK_CHECK_REL(soft->stiffness, 3 * 0.95 / 0.05 / (0.095 * 0.095 * 0.25), 1e-12);
        KK_CHECK_REL(soft->damping, 3 * 0.95 / 0.05 * 2 / 0.095, 1e-12);
        const kk_material_def *hard = material_of(&r, 3); // ζ = 0.2 rings
        KK_CHECK(__builtin_isinf(hard->stiffness));
        KK_CHECK_REL(hard->restitution, kk_exp(-KK_PI * 0.2 / kk_sqrt(0.96)), 1e-12);
    }
    robot_free(&r);
}

KK_TEST(mjcf_friction_follows_condim_and_priority) {
    SKIP_WITHOUT_FOLDER();
    robot r = mjcf_from_corpus("geom_friction");
    if (robot_is_good(&r, "geom_friction")) {
        KK_CHECK_NEAR(material_of(&r, 0)->rolling, 0.001, 0);
        KK_CHECK_NEAR(material_of(&r, 1)->torsion, 0.005, 0);
        KK_CHECK_NEAR(material_of(&r, 1)->rolling, 0, 0);
        KK_CHECK_NEAR(material_of(&r, 2)->friction, 0, 0);
        KK_CHECK_EQ_INT(kk_spec_material_pair_count(r.spec), 2); // the one of priority 2 with each of the others
        KK_CHECK_NEAR(kk_spec_material_pair(r.spec, 0)->together.friction, 0.7, 0);
    }
    robot_free(&r);
}

// ---- references

KK_TEST(mjcf_equality_joint_counts_from_the_references) {
    SKIP_WITHOUT_FOLDER();
    robot r = mjcf_from_corpus("equality_joint");
    if (robot_is_good(&r, "equality_joint")) {
        const kk_coupling_def *c = kk_spec_coupling(r.spec, 0);
        KK_CHECK_STR(c->follower, "ja");
        KK_CHECK_NEAR(c->ratio, -2, 0);
        KK_CHECK_NEAR(c->offset, 10 * KK_PI / 180 + 0.1 + 2 * -20 * KK_PI / 180, 1e-15);
    }
    robot_free(&r);
}

KK_TEST(mjcf_copies_take_their_references_along) {
    SKIP_WITHOUT_FOLDER();
    robot r = mjcf_from_corpus("replicate");
    if (robot_is_good(&r, "replicate")) {
        KK_CHECK_STR(kk_spec_actuator(r.spec, 2)->target, "hip2");
        KK_CHECK_STR(kk_spec_actuator(r.spec, 2)->name, "drive2");
        KK_CHECK_STR(kk_spec_sensor(r.spec, 3)->target, "tip1"); // copy after copy, each with both sensors
        KK_CHECK_NEAR(kk_spec_keyframe(r.spec, 0)->control[1], 5, 0);
    }
    robot_free(&r);
}

KK_TEST(mjcf_keyframe_of_a_free_body) {
    robot r = mjcf_from_text("<mujoco><worldbody><body pos='1 2 3'><freejoint/><geom size='0.1'/></body></worldbody>"
                             "<keyframe><key qpos='4 4 4 2 0 0 0' qvel='1 2 3 4 5 6'/></keyframe></mujoco>");
    if (robot_is_good(&r, "key")) {
        const kk_keyframe_def *k = kk_spec_keyframe(r.spec, 0);
        static const double q[7] = {1, 0, 0, 0, 3, 2, 1}, v[6] = {4, 5, 6, 1, 2, 3};
        for (int i = 0; i < 7; i++) {
            KK_CHECK_NEAR(k->q[i], q[i], 1e-15);
        }
        for (int i = 0; i < 6; i++) {
            KK_CHECK_NEAR(k->v[i], v[i], 1e-15);
        }
    }
    robot_free(&r);
}

// MuJoCo has both, of which the second adds nothing to a rigid contact but its friction
KK_TEST(mjcf_second_pair_of_two_geoms_is_left_out) {
    robot r = mjcf_from_text("<mujoco><worldbody><geom name='f' type='plane' size='1 1 1'/><body><freejoint/>"
                             "<geom name='a' size='0.1'/><geom name='b' size='0.2'/></body></worldbody><contact>"
                             "<pair geom1='f' geom2='a' friction='0.5'/><pair geom1='f' geom2='b'/>"
                             "<pair geom1='a' geom2='f'/></contact></mujoco>");
    kk_contact_law law;
    if (robot_is_good(&r, "pairs")) {
        KK_CHECK_EQ_INT(kk_spec_pair_count(r.spec), 2);
        KK_CHECK_EQ_INT(kk_messages_count_of(r.messages, KK_SEVERITY_WARNING), 1);
        KK_CHECK_EQ_INT(kk_model_may_touch(r.model, 0, 1, &law), 1);
        KK_CHECK_NEAR(law.friction, 0.5, 0);
    }
    robot_free(&r);
}

// TinyXML, which MuJoCo reads with, ends with the root's end tag; other parsers refuse
KK_TEST(mjcf_end_tag_behind_the_root_is_told) {
    static const char TEXT[] =
        "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>\n </mujoco>\n";
    robot r = mjcf_from_text(TEXT);
    kki_xml *xml = NULL;
    if (robot_is_good(&r, "end tag") && KK_CHECK_EQ_INT(kk_messages_count(r.messages), 1)) {
        const kk_message message = kk_messages_get(r.messages, 0);
        KK_CHECK_EQ_INT(message.severity, KK_SEVERITY_WARNING);
        KK_CHECK_EQ_INT(message.line, 2);
        KK_CHECK_EQ_INT(message.column, 2);
    }
    robot_free(&r);
    KK_CHECK_EQ_INT(kki_xml_parse("x", TEXT, sizeof TEXT - 1, NULL, NULL, &xml, NULL), KK_SYNTAX);
    robot inner = mjcf_from_text("<mujoco><worldbody><body></geom></body></worldbody></mujoco>");
    KK_CHECK_EQ_INT(inner.status, KK_SYNTAX);
    robot_free(&inner);
}

// a model that lost all its bodies is none
KK_TEST(mjcf_model_without_what_it_consists_of_is_an_error) {
    robot none = mjcf_from_text("<mujoco><worldbody>\n<geom size='1'/><flexcomp name='c'/></worldbody></mujoco>");
    KK_CHECK_EQ_INT(none.status, KK_UNSUPPORTED);
    KK_CHECK_EQ_INT(none.error.line, 2);
    KK_CHECK_EQ_INT(none.error.column, 17);
    robot some =
        mjcf_from_text("<mujoco><worldbody><body><joint/><geom size='1'/></body><composite/></worldbody></mujoco>");
    KK_CHECK_EQ_INT(some.status, KK_OK);
    robot_free(&none);
    robot_free(&some);
}

// 1e308 was accepted and ended in NaN
KK_TEST(mjcf_refuses_what_is_too_far_away) {
    static const char *const far[] = {
        "<body pos='1e308 0 0'><freejoint/><geom size='1'/></body>",
        "<body><freejoint/><geom size='1' pos='0 -1e11 0'/></body>",
        "<body><freejoint/><inertial pos='0 0 1e11' mass='1' diaginertia='1 1 1'/></body>",
        "<body><joint pos='1e11 0 0'/><geom size='1'/></body>",
        "<body><joint type='slide' ref='1e11'/><geom size='1'/></body>",
        "<body><freejoint/><geom size='1'/><site pos='1e300 0 0'/></body>",
        ("<body><freejoint/><geom size='1'/></body></worldbody><keyframe><key qpos='1e308 0 0 1 0 0 "
         "0'/></keyframe><worldbody>"),
    };
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        char text[500];
        snprintf(text, sizeof text, "<mujoco>\n<worldbody>\n%s</worldbody></mujoco>", far[i]);
        robot r = mjcf_from_text(text);
        if (r.error.status != KK_LIMIT_EXCEEDED || r.error.line != 3 || r.error.column < 1) {
            KK_FAIL("%s: %s %d:%d %s", far[i], kk_status_name(r.status), r.error.line, r.error.column, r.error.text);
        }
        robot_free(&r);
    }
}

// an empty rgba is none, so each geom has that of its own class
KK_TEST(mjcf_empty_colors_are_those_of_the_class) {
    robot r = mjcf_from_text("<mujoco><default><default class='r'><geom rgba='1 0 0 1'/></default><default class='b'>"
                             "<geom rgba='0 0 1 1'/></default></default><worldbody><geom class='r' rgba='' size='1'/>"
                             "<geom class='b' rgba=' ' size='1'/></worldbody></mujoco>");
    if (robot_is_good(&r, "colors") && KK_CHECK_EQ_INT(kk_model_nvisual(r.model), 2)) {
        KK_CHECK(kk_model_visual(r.model, kk_model_shape(r.model, 0).visual).color[0] == 1);
        KK_CHECK(kk_model_visual(r.model, kk_model_shape(r.model, 1).visual).color[2] == 1);
    }
    robot_free(&r);
}

// what the eye needs: files and patterns of textures, their repeats, and the layer that has the colors
KK_TEST(mjcf_visuals_have_textures) {
    robot r = mjcf_from_text(
        "<mujoco><compiler texturedir='t'/><default><texture rgb1='1 0 0'/></default><asset>"
        "<texture name='c' type='2d' builtin='checker' rgb2='0 0 1' width='8' height='8'/>"
        "<texture name='f' type='2d' file='f.png'/>"
        "<material name='a' texture='c' texrepeat='2 3' texuniform='true'/>"
        "<material name='b'><layer texture='f' role='rgb'/><layer texture='c' role='normal'/></material></asset>"
        "<worldbody><geom size='1' material='a'/><geom size='1' material='b'/></worldbody></mujoco>");
    if (robot_is_good(&r, "textures") && KK_CHECK_EQ_INT(kk_model_nvisual(r.model), 2)) {
        const kk_visual_def a = kk_model_visual(r.model, 0), b = kk_model_visual(r.model, 1);
        KK_CHECK_EQ_INT(a.pattern, KK_PATTERN_CHECKER);
        KK_CHECK(a.pattern_color[0][0] == 1 && a.pattern_color[0][1] == 0 && a.pattern_color[1][2] == 1);
        KK_CHECK(a.repeat[0] == 2 && a.repeat[1] == 3 && a.repeats_by_size == 1);
        KK_CHECK_EQ_INT(b.pattern, KK_PATTERN_NONE);
        KK_CHECK_STR(b.texture, "t/f.png");
        KK_CHECK(b.repeat[0] == 1 && b.repeats_by_size == 0);
    }
    robot_free(&r);
}

// ---- reports

KK_TEST(mjcf_reports_what_it_does_not_read_once) {
    robot r = mjcf_from_text(
        "<mujoco><worldbody><body><joint axis='1 0 0'/><geom size='0.1' pos='0 1 0' fluidshape='ellipsoid'/>"
        "<composite/><body color='red'><geom size='0.1' fluidshape='ellipsoid'/></body></body></worldbody>"
        "<sensor><tactile site='x'/><tactile site='y'/></sensor></mujoco>");
    if (robot_is_good(&r, "reports")) {
        KK_CHECK(robot_says(&r, KK_SEVERITY_WARNING, "fluidshape"));
        KK_CHECK(robot_says(&r, KK_SEVERITY_WARNING, "composite"));
        KK_CHECK(robot_says(&r, KK_SEVERITY_WARNING, "tactile"));
        KK_CHECK(robot_says(&r, KK_SEVERITY_WARNING, "color"));
        KK_CHECK_EQ_INT(kk_messages_count(r.messages), 4);
    }
    robot_free(&r);
}

KK_TEST(mjcf_has_our_extension) {
    robot r = mjcf_from_text(
        "<mujoco><worldbody><body name='a'><joint name='j'/><geom name='g' size='0.1'/></body><body "
        "name='b'><joint/><geom size='0.1'/></body></worldbody><karakuri><loop type='axis' link1='a' "
        "xyz1='1 0 0' link2='b'/><sensor name='s' type='joint_position' target='j'/></karakuri></mujoco>");
    if (robot_is_good(&r, "karakuri") && KK_CHECK_EQ_INT(kk_spec_loop_count(r.spec), 1)) {
        KK_CHECK_EQ_INT(kk_spec_loop(r.spec, 0)->type, KK_LOOP_AXIS);
        KK_CHECK_EQ_INT(kk_spec_loop(r.spec, 0)->body[1], 2);
        KK_CHECK_EQ_INT(kk_spec_sensor_count(r.spec), 1);
    }
    robot_free(&r);
}

// materials that MuJoCo has no word for, of all geoms of a body
KK_TEST(mjcf_bodies_have_our_materials) {
    robot r = mjcf_from_text("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='a'><joint name='j'/>"
                             "<geom name='g' size='0.1'/><geom name='h' size='0.2'/><karakuri material='creeps'/>"
                             "</body></worldbody><karakuri><material name='creeps' friction='0.5' slip='0.001'/>"
                             "</karakuri></mujoco>");
    if (robot_is_good(&r, "materials") && KK_CHECK_EQ_INT(kk_spec_shape_count(r.spec), 3)) {
        for (int i = 0; i < 3; i++) {
            const kk_material_def *m = kk_spec_material(r.spec, kk_spec_shape(r.spec, i)->material);
            KK_CHECK_NEAR(m->slip, i > 0 ? 0.001 : 0, 0);
        }
    }
    robot_free(&r);
}

// ---- robots of others

KK_TEST(mjcf_robots_of_others_load) {
    static const char *const names[] = {
        "agility_cassie/scene", "anybotics_anymal_c/scene", "franka_emika_panda/mjx_scene",
        "robotiq_2f85/scene",   "shadow_hand/scene_left",   "shadow_hand/keyframes",
        "unitree_h1/scene"};
    const char *folder = getenv("KK_MODELS");
#ifdef KK_SOURCE_DIR
    folder = folder ? folder : KK_SOURCE_DIR "/../shared/models";
#endif
    if (!folder) {
        KK_SKIP("the robots are not here");
    }
    for (int i = 0; i < 7; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s.xml", folder, names[i]);
        FILE *there = fopen(path, "rb");
        if (!there) {
            KK_SKIP("the robots are not here");
        }
        fclose(there);
        robot r = robot_from_file(path, NULL);
        robot_is_good(&r, names[i]);
        robot_free(&r);
    }
}

// ---- bounds

KK_TEST(mjcf_many_bodies) {
    const int count = kk_test_is_quick() ? 5000 : 50000;
    builder b = {0};
    build(&b, "<mujoco><worldbody>");
    build_times(&b, "<body pos='0 0 1'><freejoint/><geom size='0.1'/><site/></body>", count);
    build(&b, "</worldbody></mujoco>");
    robot r = {0};
    const kk_file file = {"model.xml", b.text, b.size};
    const kk_load_options o = {.file = &file, .file_count = 1};
    r.status = kk_load_file("model.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    if (KK_CHECK_EQ_INT(r.status, KK_OK)) {
        KK_CHECK_EQ_INT(kk_spec_body_count(r.spec), count + 1);
    }
    robot_free(&r);
    free(b.text);
}

// copies beside each other, each few enough: the bound is on all of them
KK_TEST(mjcf_copies_are_bounded_over_the_whole_file) {
    builder b = {0};
    build(&b, "<mujoco><worldbody>");
    build_times(&b, "<replicate count='50000'/>", 40);
    build(&b, "</worldbody></mujoco>");
    robot r = mjcf_from_text(b.text);
    KK_CHECK_EQ_INT(r.status, KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_messages_count_of(r.messages, KK_SEVERITY_ERROR), 1);
    KK_CHECK(r.error.line == 1 && r.error.column > 0);
    robot_free(&r);
    free(b.text);
}

// a first reading leaves many copies out and must not miss them: names, numbers and messages are those of all copies
static robot copies_with(const char *joint, const char *more) {
    builder b = {0};
    build(&b, "<mujoco><worldbody><replicate count='2000' sep='-'><body name='b'><joint name='j' range='0 0'/>"
              "<geom size='1' fluidcoef='1 1 1 1 1'/></body></replicate></worldbody><equality><joint joint1='j-0003' "
              "joint2='j-1999'/></equality><tendon><fixed><joint joint='j-0000' coef='1'/></fixed></tendon><actuator>"
              "<motor joint='");
    build(&b, joint);
    build(&b, "'/></actuator>");
    build(&b, more);
    build(&b, "</mujoco>");
    robot r = mjcf_from_text(b.text);
    free(b.text);
    return r;
}

KK_TEST(mjcf_many_copies_can_be_referred_to) {
    robot all = copies_with("j", ""), last = copies_with("j-1999", "");
    if (KK_CHECK_EQ_INT(all.status, KK_OK) && KK_CHECK_EQ_INT(last.status, KK_OK)) {
        KK_CHECK_EQ_INT(kk_spec_body_count(last.spec), 2001);
        KK_CHECK_EQ_INT(kk_spec_actuator_count(last.spec), 1);
        KK_CHECK_EQ_INT(kk_spec_actuator_count(all.spec), 2000);
        KK_CHECK_EQ_INT(kk_messages_count(last.messages), 1);
    }
    robot_free(&all);
    robot_free(&last);
    static const char *const WRONG[] = {"j-2000", "j1999", "j-199", "j-19990", "j-", "j--0001", "b-0001", "i-0001"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        robot r = copies_with(WRONG[i], "");
        KK_CHECK_EQ_INT(r.status, KK_NOT_FOUND);
        KK_CHECK_EQ_INT(kk_messages_count_of(r.messages, KK_SEVERITY_ERROR), 1);
        robot_free(&r);
    }
}

KK_TEST(mjcf_keyframes_have_numbers_for_many_copies) {
    builder b = {0};
    build(&b, "<keyframe><key qpos='");
    build_times(&b, "1 ", 2000);
    build(&b, "' ctrl='");
    build_times(&b, "2 ", 2000);
    build(&b, "'/></keyframe>");
    robot right = copies_with("j", b.text), wrong = copies_with("j-0000", b.text);
    KK_CHECK_EQ_INT(right.status, KK_OK);
    KK_CHECK_EQ_INT(right.spec ? kk_spec_keyframe_count(right.spec) : 0, 1);
    KK_CHECK_EQ_INT(wrong.status, KK_SIZE_MISMATCH);
    KK_CHECK(strstr(wrong.error.text, "2000 numbers where the model has 1;") != NULL);
    robot_free(&right);
    robot_free(&wrong);
    free(b.text);
}

// nested, of which some are few enough to be made at once, beside each other, and named like each other's copies
KK_TEST(mjcf_copies_of_copies_can_be_referred_to) {
#define COPIES(joint)                                                                                       \
    "<mujoco><worldbody><replicate count='11' sep='_'><replicate count='200'><replicate count='3' sep='x'>" \
    "<body name='a'><joint name='j'/><geom size='1'/></body></replicate></replicate></replicate>"           \
    "<replicate count='2'><body><joint name='k'/><geom size='1'/></body></replicate>"                       \
    "<body><joint name='jx2'/><geom size='1'/></body></worldbody><actuator><motor joint='" joint            \
    "'/></actuator></mujoco>"
    static const char *const RIGHT[] = {COPIES("jx2199_10"), COPIES("jx0000_00"), COPIES("k1"), COPIES("jx2")};
    static const char *const WRONG[] = {COPIES("jx3199_10"), COPIES("jx2200_10"), COPIES("jx2199_11"), COPIES("k2")};
#undef COPIES
    for (int i = 0; i < 4; i++) {
        robot right = mjcf_from_text(RIGHT[i]), wrong = mjcf_from_text(WRONG[i]);
        KK_CHECK_EQ_INT(right.status, KK_OK);
        KK_CHECK_EQ_INT(wrong.status, KK_NOT_FOUND);
        robot_free(&right);
        robot_free(&wrong);
    }
}

// a name as long as the file is looked up by all its beginnings
KK_TEST(mjcf_long_names_beside_many_copies_are_cheap) {
    builder b = {0};
    build_times(&b, "j", kk_test_is_quick() ? 20000 : 1000000);
    const double start = kk_test_seconds();
    robot r = copies_with(b.text, "");
    KK_CHECK_EQ_INT(r.status, KK_NOT_FOUND);
    KK_CHECK(kk_test_seconds() - start < 5);
    robot_free(&r);
    free(b.text);
}

// the file's place is then in the class
KK_TEST(mjcf_mesh_with_the_file_of_its_class) {
    static const char text[] =
        "<mujoco><default><mesh file='t.obj'/></default><asset><mesh name='t'/></asset><worldbody><geom "
        "type='mesh' mesh='t'/></worldbody></mujoco>";
    static const char mesh[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    const kk_file file[] = {{"model.xml", text, sizeof text - 1}, {"t.obj", mesh, sizeof mesh - 1}};
    const kk_load_options o = {.file = file, .file_count = 2};
    robot r = {0};
    r.status = kk_load_file("model.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    if (KK_CHECK_EQ_INT(r.status, KK_OK) && KK_CHECK_EQ_INT(kk_spec_mesh_count(r.spec), 1)) {
        const kk_mesh_def *m = kk_spec_mesh_const(r.spec, 0);
        KK_CHECK_EQ_INT(m->face_count, 4);
        KK_CHECK(m->origin.line == 1 && m->origin.column == 30);
    }
    robot_free(&r);
}

KK_TEST(mjcf_deep_chains) {
    builder b = {0};
    build(&b, "<mujoco><worldbody>");
    build_times(&b, "<body><joint/><geom size='0.1' pos='0 1 0'/>", 900);
    build_times(&b, "</body>", 900);
    build(&b, "</worldbody></mujoco>");
    robot r = mjcf_from_text(b.text);
    robot_is_good(&r, "deep");
    robot_free(&r);
    free(b.text);
}

// a chain of bodies, each in the one before
KK_TEST(mjcf_reads_ten_thousand_bodies_in_bodies) {
    enum { DEPTH = 10000 };
    static const char open[] = "<body pos='0 0 0.1'><joint axis='0 1 0'/><geom size='0.05'/>", close[] = "</body>";
    const size_t most = DEPTH * (sizeof open + sizeof close) + 100;
    char *text = malloc(most);
    if (!KK_CHECK(text != NULL)) {
        return;
    }
    size_t size = (size_t)snprintf(text, most, "<mujoco><worldbody>");
    for (int i = 0; i < DEPTH; i++) {
        memcpy(text + size, open, sizeof open - 1);
        size += sizeof open - 1;
    }
    for (int i = 0; i < DEPTH; i++) {
        memcpy(text + size, close, sizeof close - 1);
        size += sizeof close - 1;
    }
    snprintf(text + size, most - size, "</worldbody></mujoco>");
    robot r = mjcf_from_text(text);
    if (robot_is_good(&r, "a long chain")) {
        KK_CHECK_EQ_INT(kk_model_nv(r.model), DEPTH);
    }
    robot_free(&r);
    free(text);
}
