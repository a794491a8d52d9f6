// Bad use: every fault of a spec is refused with a message that names the item and the fix.
#include <string.h>

#include "fixture.h"

static const double NaN = __builtin_nan(""), inf = __builtin_inf();

/// World, "upper" on it and "fore" on that, both on hinges.
static kk_spec *arm(void) {
    kk_spec *spec = fixture_spec();
    const int upper = fixture_add_box(spec, "upper", KK_WORLD, KK_JOINT_HINGE);
    fixture_add_box(spec, "fore", upper, KK_JOINT_HINGE);
    return spec;
}

static void expect_number_refused(size_t offset, double value, kk_status status, const char *item, const char *words) {
    kk_spec *spec = arm();
    memcpy((char *)kk_spec_body(spec, 2) + offset, &value, sizeof value);
    fixture_refused(spec, status, item, words);
}

#define REFUSED_NUMBER(field, value, status, item, words) \
    expect_number_refused(offsetof(kk_body_def, field), value, status, item, words)

KK_TEST(sound_arm_compiles) {
    kk_model *model = fixture_compile(arm());
    KK_CHECK(model != NULL);
    kk_model_free(model);
}

KK_TEST(inertia_that_no_body_has_is_refused) {
    REFUSED_NUMBER(inertia.mass, -1, KK_INVALID_MODEL,
                   "body \"fore\":", "mass is -1; a mass must be positive, or zero for a body without inertia");
    REFUSED_NUMBER(inertia.mass, NaN, KK_NOT_FINITE, "body \"fore\":", "mass of the inertia is nan");
    REFUSED_NUMBER(inertia.mass, inf, KK_NOT_FINITE, "body \"fore\":", "mass of the inertia is inf");
    REFUSED_NUMBER(inertia.mass, 0, KK_INVALID_MODEL, "body \"fore\":", "mass is 0, yet");
    REFUSED_NUMBER(inertia.com.y, NaN, KK_NOT_FINITE, "body \"fore\":", "com.y of the inertia is nan");
    REFUSED_NUMBER(inertia.moment.yz, NaN, KK_NOT_FINITE, "body \"fore\":", "moment.yz of the inertia is nan");
    REFUSED_NUMBER(inertia.moment.xx, -1, KK_INVALID_MODEL, "body \"fore\":", "principal moment of inertia is -1");
    REFUSED_NUMBER(inertia.moment.xy, 1, KK_INVALID_MODEL, "body \"fore\":", "none may be negative");
    REFUSED_NUMBER(inertia.moment.zz, 0.09, KK_INVALID_MODEL, "body \"fore\":", "triangle inequality");
    REFUSED_NUMBER(inertia.moment.xx, 7, KK_INVALID_MODEL, "body \"fore\":", "break the triangle inequality");
}

// a thin plate sits on the edge of the triangle inequality, a rod on that of positive moments; both are real bodies
KK_TEST(flat_and_thin_bodies_are_sound) {
    for (int i = 0; i < 40; i++) {
        kk_spec *spec = arm();
        kk_inertia *inertia = &kk_spec_body(spec, 2)->inertia;
        *inertia = i % 2 ? kk_inertia_solid_box(3, 0.7, 0.3, 0) : kk_inertia_solid_box(3, 0.7, 0, 0);
        const kk_mat3 R = kk_mat3_from_rpy(0.3 * i, 0.1 * i, -0.2 * i);
        *inertia = kk_inertia_to(kk_transform_make(R, kk_vec3_make(0.1, 0.3, 0)), *inertia);
        kk_model_free(fixture_compile(spec));
    }
}

KK_TEST(upside_down_and_broken_limits_are_refused) {
    kk_spec *spec = arm();
    kk_dof_def *dof = kk_spec_body(spec, 2)->joint.dof;
    dof->lower = 1;
    dof->upper = 0.5;
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", "lower limit 1 of degree of freedom 0 is above");
    REFUSED_NUMBER(joint.dof[0].lower, NaN, KK_NOT_FINITE, "joint \"fore_joint\":", "limits of degree of freedom 0");
    REFUSED_NUMBER(joint.dof[0].lower, inf, KK_NOT_FINITE, "joint \"fore_joint\":", "limits of degree of freedom 0");
    REFUSED_NUMBER(joint.dof[0].upper, -inf, KK_NOT_FINITE, "joint \"fore_joint\":", "limits of degree of freedom 0");
    spec = arm();
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_BALL;
    kk_spec_body(spec, 2)->joint.dof[0].upper = -0.1;
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", "bounds the angle of a ball joint");
}

KK_TEST(broken_joint_parameters_are_refused) {
    static const struct {
        size_t offset;
        const char *name;
    } not_negative[] = {
        {offsetof(kk_body_def, joint.dof[0].stiffness), "stiffness is "},
        {offsetof(kk_body_def, joint.dof[0].damping), "damping is "},
        {offsetof(kk_body_def, joint.dof[0].friction), "friction is "},
        {offsetof(kk_body_def, joint.dof[0].armature), "armature is "},
        {offsetof(kk_body_def, joint.dof[0].rotor_inertia), "rotor_inertia is "},
        {offsetof(kk_body_def, joint.dof[0].velocity_limit), "velocity_limit is "},
        {offsetof(kk_body_def, joint.dof[0].effort_limit), "effort_limit is "},
    };
    for (int i = 0; i < 7; i++) {
        const char *item = "joint \"fore_joint\":", *name = not_negative[i].name;
        expect_number_refused(not_negative[i].offset, -2, KK_INVALID_MODEL, item, name);
        expect_number_refused(not_negative[i].offset, NaN, KK_NOT_FINITE, item, name);
        if (i < 5) {
            expect_number_refused(not_negative[i].offset, inf, KK_NOT_FINITE, item, name);
        }
    }
    REFUSED_NUMBER(joint.dof[0].rest, inf, KK_NOT_FINITE, "joint \"fore_joint\":", "rest is inf");
    REFUSED_NUMBER(joint.dof[0].gear_ratio, NaN, KK_NOT_FINITE, "joint \"fore_joint\":", "gear_ratio is nan");
}

// only the degrees of freedom that the joint has count
KK_TEST(unused_degrees_of_freedom_are_not_read) {
    kk_spec *spec = arm();
    kk_spec_body(spec, 2)->joint.dof[1].damping = -1;
    kk_spec_body(spec, 2)->joint.pitch = NaN;
    kk_spec_body(spec, 2)->joint.axis2 = kk_vec3_make(0, 0, 0);
    kk_model_free(fixture_compile(spec));
}

KK_TEST(axes_without_direction_are_refused) {
    kk_spec *spec = arm();
    kk_spec_body(spec, 2)->joint.axis = kk_vec3_make(0, 0, 0);
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", "axis is zero");
    REFUSED_NUMBER(joint.axis.y, NaN, KK_NOT_FINITE, "joint \"fore_joint\":", "axis is nan");
    static const kk_joint_type two_axes[] = {KK_JOINT_UNIVERSAL, KK_JOINT_PLANAR};
    for (int i = 0; i < 2; i++) {
        spec = arm();
        kk_spec_body(spec, 2)->joint.type = two_axes[i];
        kk_spec_body(spec, 2)->joint.axis2 = kk_vec3_make(0, 0, 0);
        fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", "axis2 is zero");
        spec = arm();
        kk_spec_body(spec, 2)->joint.type = two_axes[i];
        kk_spec_body(spec, 2)->joint.axis2 = kk_vec3_make(0, 0, -1e-200);
        fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", "axis2 is parallel to axis");
    }
    spec = arm();
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_SCREW;
    kk_spec_body(spec, 2)->joint.pitch = NaN;
    fixture_refused(spec, KK_NOT_FINITE, "joint \"fore_joint\":", "pitch is nan");
}

KK_TEST(rotations_that_are_none_are_refused) {
    REFUSED_NUMBER(joint.placement.R.m[0], 1.00001, KK_INVALID_MODEL, "joint \"fore_joint\":", "not orthonormal");
    REFUSED_NUMBER(joint.placement.R.m[0], -1, KK_INVALID_MODEL, "joint \"fore_joint\":", "mirrors");
    REFUSED_NUMBER(joint.placement.R.m[1], NaN, KK_NOT_FINITE, "joint \"fore_joint\":", "the placement is nan");
    REFUSED_NUMBER(joint.placement.p.x, inf, KK_NOT_FINITE, "joint \"fore_joint\":", "the placement is inf");
    REFUSED_NUMBER(offset.R.m[4], 0, KK_INVALID_MODEL, "body \"fore\":", "the offset is not orthonormal");
}

// six digits are enough: the rotation is made orthonormal, not kept crooked
KK_TEST(rotations_printed_with_few_digits_are_cleaned) {
    kk_spec *spec = arm();
    kk_mat3 *R = &kk_spec_body(spec, 2)->offset.R;
    *R = kk_mat3_from_rpy(0.1, 0.2, 0.3);
    for (int i = 0; i < 9; i++) {
        R->m[i] = kk_round(R->m[i] * 1e7) / 1e7;
    }
    kk_frame_def frame = kk_frame_def_default();
    frame.name = "tip";
    frame.placement.R = *R;
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
    kk_model *model = fixture_compile(spec);
    const kk_mat3 clean = kk_model_frame_placement(model, 0).R;
    const kk_mat3 product = kk_mat3_mul(clean, kk_mat3_transpose(clean));
    for (int i = 0; i < 9; i++) {
        KK_CHECK_NEAR(product.m[i], i % 4 == 0, 4e-16);
        KK_CHECK_NEAR(clean.m[i], frame.placement.R.m[i], 2e-7);
    }
    kk_model_free(model);
}

KK_TEST(parents_that_do_not_exist_or_close_a_cycle_are_refused) {
    static const struct {
        int parent;
        const char *words;
    } cases[] = {{-1, "parent -1 does not exist"},
                 {99, "parent 99 does not exist"},
                 {2, "\"fore\" is not an earlier body, which could close a cycle"}};
    for (int i = 0; i < 3; i++) {
        kk_spec *spec = arm();
        kk_spec_body(spec, 2)->parent = cases[i].parent;
        fixture_refused(spec, KK_INVALID_MODEL, "body \"fore\":", cases[i].words);
    }
    kk_spec *spec = arm();
    kk_spec_body(spec, 1)->parent = 2;
    fixture_refused(spec, KK_INVALID_MODEL, "body \"upper\":", "\"fore\" is not an earlier body");
}

KK_TEST(missing_and_duplicate_names_are_refused) {
    kk_spec *spec = arm();
    fixture_add_box(spec, NULL, KK_WORLD, KK_JOINT_FREE);
    fixture_refused(spec, KK_INVALID_MODEL, "body 3 has no name", "every body needs one");
    spec = arm();
    fixture_add_box(spec, "", KK_WORLD, KK_JOINT_FREE);
    fixture_refused(spec, KK_INVALID_MODEL, "body 3 has no name", "");
    spec = arm();
    fixture_add_box(spec, "upper", KK_WORLD, KK_JOINT_FREE);
    fixture_refused(spec, KK_DUPLICATE_NAME, "body \"upper\":", "number 1 and 3");
    spec = arm();
    fixture_add_box(spec, "world", KK_WORLD, KK_JOINT_FREE);
    fixture_refused(spec, KK_DUPLICATE_NAME, "body \"world\":", "rename one");
    spec = arm();
    KK_CHECK_EQ_INT(kk_spec_rename_joint(spec, 1, "fore_joint", NULL), KK_OK);
    fixture_refused(spec, KK_DUPLICATE_NAME, "joint \"fore_joint\":", "number 1 and 2");
}

static kk_spec *arm_with_frames(const char *first, const char *second, int body) {
    kk_spec *spec = arm();
    kk_frame_def frame = kk_frame_def_default();
    frame.name = first;
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
    frame.name = second;
    frame.body = body;
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
    return spec;
}

KK_TEST(broken_frames_are_refused) {
    fixture_refused(arm_with_frames("tip", "tip", 1), KK_DUPLICATE_NAME, "frame \"tip\":", "number 0 and 1");
    fixture_refused(arm_with_frames("tip", "fore", 1), KK_DUPLICATE_NAME, "frame \"fore\":", "a body has this name");
    fixture_refused(arm_with_frames("tip", "", 1), KK_INVALID_MODEL, "frame 1 has no name", "");
    fixture_refused(arm_with_frames("tip", "toe", 3), KK_INVALID_MODEL, "frame \"toe\":", "body 3 does not exist");
    fixture_refused(arm_with_frames("tip", "toe", -1), KK_INVALID_MODEL, "frame \"toe\":", "body -1 does not exist");
    kk_spec *spec = arm_with_frames("tip", "toe", 1);
    kk_spec_frame(spec, 1)->placement.R.m[8] = 0.9;
    fixture_refused(spec, KK_INVALID_MODEL, "frame \"toe\":", "not orthonormal");
}

KK_TEST(unknown_joint_type_and_gravity_are_refused) {
    kk_spec *spec = arm();
    kk_spec_body(spec, 2)->joint.type = (kk_joint_type)77;
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", "no joint type 77");
    spec = arm();
    kk_spec_set_gravity(spec, kk_vec3_make(0, NaN, 0));
    fixture_refused(spec, KK_NOT_FINITE, "spec", "gravity is nan");
}

KK_TEST(joints_that_move_nothing_are_refused) {
    const char *nothing = "nothing behind it has mass", *no_moment = "no moment of inertia about it";
    kk_spec *spec = arm();
    kk_spec_body(spec, 2)->inertia = (kk_inertia){0};
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", nothing);
    // a point mass on the axis of the last hinge
    spec = arm();
    kk_spec_body(spec, 2)->inertia = (kk_inertia){.mass = 1, .com = {0, 0, 3}};
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", no_moment);
    // a free point mass cannot be turned, nor a rod on a ball joint about itself
    spec = arm();
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_FREE;
    kk_spec_body(spec, 2)->inertia = (kk_inertia){.mass = 1, .com = {1, 2, 3}};
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", no_moment);
    // a free rod, also beside its frame's origin
    spec = arm();
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_FREE;
    kk_spec_body(spec, 2)->inertia = kk_inertia_solid_box(1, 1, 0, 0);
    kk_spec_body(spec, 2)->inertia.com = kk_vec3_make(0, 1, 0);
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", no_moment);
    spec = arm();
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_BALL;
    kk_spec_body(spec, 2)->inertia = kk_inertia_solid_box(1, 1, 0, 0);
    fixture_refused(spec, KK_INVALID_MODEL, "joint \"fore_joint\":", no_moment);
}

KK_TEST(joints_that_move_something_are_accepted) {
    // armature alone
    kk_spec *spec = arm();
    kk_spec_body(spec, 2)->inertia = (kk_inertia){0};
    kk_spec_body(spec, 2)->joint.dof[0].rotor_inertia = 1e-5;
    kk_model_free(fixture_compile(spec));
    // mass further out, through a welded body
    spec = arm();
    kk_spec_body(spec, 2)->inertia = (kk_inertia){0};
    fixture_add_box(spec, "hand", 2, KK_JOINT_FIXED);
    kk_model_free(fixture_compile(spec));
    // a point mass on a slide, and one on a screw's axis, which must travel to turn
    spec = arm();
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_SLIDE;
    kk_spec_body(spec, 2)->inertia = (kk_inertia){.mass = 1};
    kk_model_free(fixture_compile(spec));
    spec = arm();
    kk_spec_body(spec, 2)->joint.type = KK_JOINT_SCREW;
    kk_spec_body(spec, 2)->joint.pitch = 0.01;
    kk_spec_body(spec, 2)->inertia = (kk_inertia){.mass = 1};
    kk_model_free(fixture_compile(spec));
}

KK_TEST(overflow_of_folded_numbers_is_refused) {
    kk_spec *spec = arm();
    kk_spec_body(spec, 2)->inertia = (kk_inertia){.mass = 1e300, .com = {1e9, 0, 0}};
    fixture_refused(spec, KK_NOT_FINITE, "body \"fore\":", "check the units");
}

KK_TEST(null_arguments_are_refused) {
    kk_model *model = NULL;
    kk_error error;
    KK_CHECK_EQ_INT(kk_model_compile(NULL, NULL, &model, &error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_spec_create(NULL, NULL), KK_INVALID_ARGUMENT);
    kk_spec *spec = fixture_spec();
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, NULL, NULL), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, NULL, NULL, &error), KK_INVALID_ARGUMENT);
    kk_spec_free(spec);
    kk_spec_free(NULL);
    kk_model_free(NULL);
}

// ---- inertia that is there, but not for every joint

/// A chain of joints whose last body alone has mass; what compiling it says.
static kk_status compile_chain(const kk_joint_type *types, const kk_vec3 *axes, int count, kk_vec3 com, double moment,
                               kk_error *error) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    for (int i = 0; i < count; i++) {
        kk_body_def body = kk_body_def_default();
        const char name[2] = {(char)('a' + i), 0};
        body.name = name;
        body.parent = i;
        body.joint.type = types[i];
        body.joint.axis = axes[i];
        body.joint.axis2 = kk_vec3_make(axes[i].y, axes[i].z, axes[i].x);
        if (i == count - 1) {
            body.inertia = (kk_inertia){1, com, {moment, moment, moment, 0, 0, 0}};
        }
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, NULL), KK_OK);
    }
    const kk_status status = kk_model_compile(spec, NULL, &model, error);
    kk_model_free(model);
    kk_spec_free(spec);
    return status;
}

static const kk_vec3 X = {1, 0, 0}, Z = {0, 0, 1};

// two hinges about one line: the massless one between them turns for nothing
KK_TEST(massless_middle_of_coaxial_hinges_is_refused) {
    const kk_joint_type hinges[] = {KK_JOINT_HINGE, KK_JOINT_HINGE};
    const kk_vec3 slanted = {0.3, -0.5, 0.7}, axes[] = {slanted, slanted}, crossed[] = {X, Z};
    kk_error error = {0};
    KK_CHECK_EQ_INT(compile_chain(hinges, axes, 2, kk_vec3_make(1, 2, 3), 0.1, &error), KK_INVALID_MODEL);
    KK_CHECK(strstr(error.text, "joint \"a_joint\"") != NULL);
    KK_CHECK_EQ_INT(compile_chain(hinges, crossed, 2, kk_vec3_make(1, 2, 3), 0.1, &error), KK_OK);
}

// a massless ball before a hinge through its center: one of the ball's turns is the hinge's
KK_TEST(massless_ball_before_a_hinge_is_refused) {
    const kk_joint_type types[] = {KK_JOINT_BALL, KK_JOINT_HINGE};
    const kk_vec3 axes[] = {Z, Z};
    kk_error error = {0};
    KK_CHECK_EQ_INT(compile_chain(types, axes, 2, kk_vec3_make(1, 0, 0), 1.0 / 6, &error), KK_INVALID_MODEL);
    KK_CHECK(strstr(error.text, "joint \"a_joint\"") != NULL);
}

// a point mass on a slide across a hinge resists the hinge in every pose but one, and that one is q = 0
KK_TEST(singular_pose_alone_is_no_reason_to_refuse) {
    const kk_joint_type types[] = {KK_JOINT_HINGE, KK_JOINT_SLIDE};
    const kk_vec3 axes[] = {Z, X};
    kk_error error = {0};
    KK_CHECK_EQ_INT(compile_chain(types, axes, 2, kk_vec3_make(0, 0, 0), 0, &error), KK_OK);
}
