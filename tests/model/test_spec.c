// The editable spec, names, accessors and the model's hash.
#include "fixture.h"

KK_TEST(spec_starts_with_the_world) {
    kk_spec *spec = fixture_spec();
    KK_CHECK_EQ_INT(kk_spec_body_count(spec), 1);
    KK_CHECK_EQ_INT(kk_spec_frame_count(spec), 0);
    KK_CHECK_EQ_INT(kk_spec_coupling_count(spec), 0);
    KK_CHECK_STR(kk_spec_body(spec, KK_WORLD)->name, "world");
    KK_CHECK(kk_spec_body(spec, 1) == NULL && kk_spec_body(spec, -1) == NULL);
    KK_CHECK(kk_spec_frame(spec, 0) == NULL && kk_spec_coupling(spec, 0) == NULL);
    kk_spec_free(spec);
}

KK_TEST(strings_are_copied) {
    kk_spec *spec = fixture_spec();
    char name[] = "arm", joint[] = "elbow";
    kk_body_def body = fixture_box(name, KK_WORLD, KK_JOINT_HINGE);
    body.joint.name = joint;
    fixture_add(spec, body);
    name[0] = joint[0] = '!';
    KK_CHECK_STR(kk_spec_body(spec, 1)->name, "arm");
    KK_CHECK_STR(kk_spec_body(spec, 1)->joint.name, "elbow");
    kk_spec_free(spec);
}

KK_TEST(names_longer_than_a_chunk_and_too_long) {
    static char text[70000];
    memset(text, 'x', sizeof text);
    kk_spec *spec = fixture_spec();
    kk_body_def body = fixture_box(text, KK_WORLD, KK_JOINT_HINGE);
    kk_error error = {0};
    text[69999] = 0;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_spec_body_count(spec), 1);
    text[60000] = 0;
    fixture_add(spec, body);
    text[5000] = 0;
    fixture_add(spec, body);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(kk_model_find_body(m, text), 2);
    KK_CHECK_EQ_INT(strlen(kk_model_body_name(m, 1)), 60000);
    kk_model_free(m);
}

KK_TEST(renaming) {
    kk_spec *spec = fixture_spec();
    kk_error error = {0};
    fixture_add_box(spec, "a", KK_WORLD, KK_JOINT_HINGE);
    kk_frame_def frame = kk_frame_def_default();
    frame.name = "f";
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_rename_body(spec, 1, "arm", NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_rename_joint(spec, 1, "shoulder", NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_rename_frame(spec, 0, "tip", NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_rename_body(spec, 7, "ghost", &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "ghost") != NULL);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(kk_model_find_body(m, "arm"), 1);
    KK_CHECK_EQ_INT(kk_model_find_joint(m, "shoulder"), 1);
    KK_CHECK_EQ_INT(kk_model_find_frame(m, "tip"), 0);
    KK_CHECK_EQ_INT(kk_model_find_body(m, "a"), -1);
    kk_model_free(m);
}

// a body may be added from a pointer into the spec itself, which moves as it grows
KK_TEST(adding_a_copy_of_an_earlier_body) {
    kk_spec *spec = fixture_spec();
    fixture_add_box(spec, "b", KK_WORLD, KK_JOINT_HINGE);
    for (int i = 0; i < 100; i++) {
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, kk_spec_body(spec, 1), NULL, NULL), KK_OK);
    }
    KK_CHECK_STR(kk_spec_body(spec, 101)->name, "b");
    kk_spec_free(spec);
}

// ids are kept, every name is found, no other is
KK_TEST(names_are_found_in_a_large_model) {
    enum { COUNT = 999 };
    kk_spec *spec = fixture_spec();
    char name[32];
    for (int i = 1; i <= COUNT; i++) {
        snprintf(name, sizeof name, "b%d", (i * 7919) % 1000);
        kk_body_def body = fixture_box(name, i / 2, KK_JOINT_HINGE);
        fixture_add(spec, body);
        kk_frame_def frame = kk_frame_def_default();
        snprintf(name, sizeof name, "f%d", (i * 7919) % 1000);
        frame.name = name;
        frame.body = i;
        KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
    }
    kk_model *m = fixture_compile(spec);
    for (int i = 1; i <= COUNT; i++) {
        snprintf(name, sizeof name, "b%d", (i * 7919) % 1000);
        KK_CHECK_EQ_INT(kk_model_find_body(m, name), i);
        KK_CHECK_STR(kk_model_body_name(m, i), name);
        KK_CHECK_EQ_INT(kk_model_body_parent(m, i), i / 2);
        snprintf(name, sizeof name, "b%d_joint", (i * 7919) % 1000);
        KK_CHECK_EQ_INT(kk_model_find_joint(m, name), i);
        snprintf(name, sizeof name, "f%d", (i * 7919) % 1000);
        KK_CHECK_EQ_INT(kk_model_find_frame(m, name), i - 1);
        KK_CHECK_EQ_INT(kk_model_frame_body(m, i - 1), i);
    }
    KK_CHECK_EQ_INT(kk_model_find_body(m, "b1000"), -1);
    KK_CHECK_EQ_INT(kk_model_find_frame(m, ""), -1);
    KK_CHECK_EQ_INT(kk_model_find_joint(m, NULL), -1);
    kk_model_free(m);
}

KK_TEST(accessors_survive_ids_that_do_not_exist) {
    kk_spec *spec = fixture_spec();
    fixture_add_box(spec, "a", KK_WORLD, KK_JOINT_HINGE);
    kk_model *m = fixture_compile(spec);
    static const int bad[] = {-1, 2, 1000000};
    for (int i = 0; i < 3; i++) {
        KK_CHECK(kk_model_body_name(m, bad[i]) == NULL);
        KK_CHECK(kk_model_frame_name(m, bad[i]) == NULL);
        KK_CHECK_EQ_INT(kk_model_body_parent(m, bad[i]), -1);
        KK_CHECK_EQ_INT(kk_model_joint(m, bad[i]).nv, 0);
        KK_CHECK_NEAR(kk_model_body_inertia(m, bad[i]).mass, 0, 0);
        KK_CHECK_NEAR(kk_model_dof(m, bad[i]).damping, 0, 0);
        KK_CHECK_EQ_INT(kk_model_frame_body(m, bad[i]), -1);
        KK_CHECK_NEAR(kk_model_frame_placement(m, bad[i]).R.m[0], 1, 0);
    }
    KK_CHECK_STR(kk_model_joint(m, KK_WORLD).name, "");
    KK_CHECK_NEAR(kk_model_gravity(m).z, -9.81, 0);
    kk_model_free(m);
}

// ---- hash

static uint64_t hash_with(void (*change)(kk_spec *)) {
    kk_spec *spec = fixture_random_spec(3, 8);
    kk_frame_def frame = kk_frame_def_default();
    frame.name = "tip";
    frame.body = 4;
    KK_CHECK_EQ_INT(kk_spec_add_frame(spec, &frame, NULL, NULL), KK_OK);
    fixture_add_box(spec, "x", KK_WORLD, KK_JOINT_HINGE);
    fixture_add_box(spec, "y", KK_WORLD, KK_JOINT_HINGE);
    fixture_couple(spec, "x_joint", "y_joint", 2, 0);
    if (change) {
        change(spec);
    }
    kk_model *m = fixture_compile(spec);
    const uint64_t hash = kk_model_hash(m);
    kk_model_free(m);
    return hash;
}

static void rename_all(kk_spec *spec) {
    KK_CHECK_EQ_INT(kk_spec_rename_body(spec, 3, "other", NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_rename_frame(spec, 0, "another", NULL), KK_OK);
}
static void change_mass(kk_spec *spec) {
    kk_spec_body(spec, 5)->inertia.mass *= 1 + 3e-16;
}
static void change_damping(kk_spec *spec) {
    kk_spec_body(spec, 9)->joint.dof[0].damping = 1e-300;
}
static void change_frame(kk_spec *spec) {
    kk_spec_frame(spec, 0)->placement.p.z = 1e-9;
}
static void change_ratio(kk_spec *spec) {
    kk_spec_coupling(spec, 0)->ratio = -2;
}
static void change_gravity(kk_spec *spec) {
    kk_spec_set_gravity(spec, kk_vec3_make(0, 0, -9.8));
}
static void change_limit(kk_spec *spec) {
    kk_spec_body(spec, 10)->joint.dof[0].upper = 100;
}

KK_TEST(hash_sees_numbers_and_not_names) {
    const uint64_t hash = hash_with(NULL);
    KK_CHECK(hash_with(NULL) == hash);
    KK_CHECK(hash_with(rename_all) == hash);
    KK_CHECK(hash_with(change_mass) != hash);
    KK_CHECK(hash_with(change_damping) != hash);
    KK_CHECK(hash_with(change_frame) != hash);
    KK_CHECK(hash_with(change_ratio) != hash);
    KK_CHECK(hash_with(change_gravity) != hash);
    KK_CHECK(hash_with(change_limit) != hash);
}

// the same on every machine and compiler
KK_TEST(hash_is_pinned) {
    KK_CHECK_EQ_INT((long long)hash_with(NULL), 4272905410472413481);
}
