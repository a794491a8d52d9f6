// Short words for building specs in tests.
#ifndef KK_TESTS_MODEL_FIXTURE_H
#define KK_TESTS_MODEL_FIXTURE_H

#include <karakuri/elementary.h>
#include <karakuri/model.h>
#include <karakuri/random.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static inline kk_spec *fixture_spec(void) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    return spec;
}

/// A half-meter box of 2 kg behind a joint half a meter along its parent's x.
static inline kk_body_def fixture_box(const char *name, int parent, kk_joint_type type) {
    kk_body_def body = kk_body_def_default();
    body.name = name;
    body.parent = parent;
    body.joint.type = type;
    body.joint.placement = kk_transform_translation(0.5, 0, 0);
    body.inertia = kk_inertia_solid_box(2, 0.5, 0.2, 0.3);
    body.inertia.com = kk_vec3_make(0.25, 0.1, 0);
    return body;
}

static inline int fixture_add(kk_spec *spec, kk_body_def body) {
    int id = -1;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &id, NULL), KK_OK);
    return id;
}

static inline int fixture_add_box(kk_spec *spec, const char *name, int parent, kk_joint_type type) {
    return fixture_add(spec, fixture_box(name, parent, type));
}

static inline void fixture_couple(kk_spec *spec, const char *follower, const char *leader, double ratio,
                                  double offset) {
    kk_coupling_def coupling = kk_coupling_def_default();
    coupling.follower = follower;
    coupling.leader = leader;
    coupling.ratio = ratio;
    coupling.offset = offset;
    KK_CHECK_EQ_INT(kk_spec_add_coupling(spec, &coupling, NULL, NULL), KK_OK);
}

/// Compiles, or fails the test with the message. Frees the spec.
static inline kk_model *fixture_compile(kk_spec *spec) {
    kk_model *model = NULL;
    kk_error error = {0};
    if (kk_model_compile(spec, NULL, &model, &error) != KK_OK) {
        KK_FAIL("compile: %s", error.text);
    }
    kk_spec_free(spec);
    return model;
}

/// Compiling must fail with this status and a text that contains each of the words. Frees the spec.
static inline void fixture_refused(kk_spec *spec, kk_status status, const char *item, const char *words) {
    kk_model *model = (kk_model *)spec;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, &error), status);
    KK_CHECK(model == NULL);
    KK_CHECK_EQ_INT(error.status, status);
    if (strncmp(error.text, item, strlen(item)) != 0 || !strstr(error.text, words)) {
        KK_FAIL("message is: %s\n  it should start with: %s\n  and contain: %s", error.text, item, words);
    }
    kk_spec_free(spec);
}

static inline double fixture_uniform(kk_random *random) {
    return kk_random_next_between(random, -1, 1);
}

static inline kk_vec3 fixture_vec(kk_random *random) {
    const double x = fixture_uniform(random), y = fixture_uniform(random), z = fixture_uniform(random);
    return kk_vec3_make(x, y, z);
}

static inline kk_transform fixture_transform(kk_random *random) {
    const kk_vec3 r = fixture_vec(random);
    return kk_transform_make(kk_quat_to_mat3(kk_quat_exp(kk_vec3_scale(r, 3))), fixture_vec(random));
}

/// A body with everything random but sound, behind a joint of the given type.
static inline kk_body_def fixture_random_body(kk_random *random, const char *name, int parent, kk_joint_type type) {
    kk_body_def body = fixture_box(name, parent, type);
    body.joint.placement = fixture_transform(random);
    body.joint.axis = fixture_vec(random);
    body.joint.axis2 = fixture_vec(random);
    body.joint.pitch = fixture_uniform(random);
    body.offset = fixture_transform(random);
    body.inertia = kk_inertia_to(fixture_transform(random), body.inertia);
    return body;
}

/// A forest of n bodies with random joints of all types, names b1, b2, …
static inline kk_spec *fixture_random_spec(uint64_t seed, int n) {
    kk_spec *spec = fixture_spec();
    kk_random random = {seed, 17, 0};
    for (int i = 1; i <= n; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        const int parent = (int)kk_random_next_below(&random, (uint64_t)i);
        const kk_joint_type type = (kk_joint_type)kk_random_next_below(&random, KK_JOINT_FREE + 1);
        fixture_add(spec, fixture_random_body(&random, name, parent, type));
    }
    return spec;
}

#endif
