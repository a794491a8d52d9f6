/// Scenes for tests of the step: a spec, then model, state and simulator; short words for what tests say often.
#ifndef KK_TESTS_SIMULATE_STAGE_H
#define KK_TESTS_SIMULATE_STAGE_H

#include <karakuri/karakuri.h>
#include <karakuri/simulate.h>
#include <stdio.h>

#include "harness.h"

typedef struct stage {
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_error error;
} stage;

static inline stage stage_begin(double gravity) {
    stage s = {0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &s.spec), KK_OK);
    kk_spec_set_gravity(s.spec, kk_vec3_make(0, 0, -gravity));
    return s;
}

static inline void stage_end(stage *s) {
    kk_simulator_free(s->simulator);
    kk_state_free(s->state);
    kk_model_free(s->model);
    kk_spec_free(s->spec);
}

static inline int stage_material(stage *s, double friction, double restitution) {
    kk_material_def def = kk_material_def_default();
    def.friction = friction;
    def.restitution = restitution;
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_material(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

static inline int stage_shape(stage *s, kk_shape_type type, int body, double x, double y, double z, int material) {
    kk_shape_def def = kk_shape_def_default();
    def.type = type;
    def.body = body;
    def.size[0] = x;
    def.size[1] = y;
    def.size[2] = z;
    def.material = material;
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_shape(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

static inline int stage_body(stage *s, kk_inertia inertia) {
    char name[32];
    kk_body_def def = kk_body_def_default();
    snprintf(name, sizeof name, "body%d", kk_spec_body_count(s->spec));
    def.name = name;
    def.joint.type = KK_JOINT_FREE;
    def.inertia = inertia;
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

/// A link on a hinge.
static inline int stage_hinge(stage *s, const char *name, int parent, kk_vec3 place, kk_vec3 axis, kk_inertia inertia) {
    kk_body_def def = kk_body_def_default();
    def.name = name;
    def.parent = parent;
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = axis;
    def.joint.placement.p = place;
    def.inertia = inertia;
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

static inline int stage_box(stage *s, double mass, double x, double y, double z, int material) {
    const int body = stage_body(s, kk_inertia_solid_box(mass, x, y, z));
    stage_shape(s, KK_SHAPE_BOX, body, x, y, z, material);
    return body;
}

static inline int stage_ball(stage *s, double mass, double radius, int material) {
    const int body = stage_body(s, kk_inertia_solid_sphere(mass, radius));
    stage_shape(s, KK_SHAPE_SPHERE, body, radius, 0, 0, material);
    return body;
}

/// False after a failed check.
static inline int stage_ready(stage *s, const kk_step_options *options) {
    return KK_CHECK_EQ_INT(kk_model_compile(s->spec, NULL, &s->model, &s->error), KK_OK) &&
           KK_CHECK_EQ_INT(kk_state_create(s->model, NULL, &s->state), KK_OK) &&
           KK_CHECK_EQ_INT(kk_simulator_create(s->model, options, NULL, &s->simulator, &s->error), KK_OK);
}

static inline double *stage_q(stage *s, int body) {
    return kk_state_q(s->state) + kk_model_joint(s->model, body).q_index;
}

static inline double *stage_v(stage *s, int body) {
    return kk_state_v(s->state) + kk_model_joint(s->model, body).v_index;
}

static inline void stage_place(stage *s, int body, double x, double y, double z) {
    double *q = stage_q(s, body);
    q[4] = x;
    q[5] = y;
    q[6] = z;
}

/// `steps` steps; false after a failed one. Every step is certified.
static inline int stage_run(stage *s, int steps, const kk_input *input) {
    for (int i = 0; i < steps; i++) {
        const kk_status status = kk_step(s->model, s->state, s->simulator, input, &s->error);
        if (status != KK_OK) {
            KK_FAIL("step %d: %s", i, s->error.text);
            return 0;
        }
        KK_CHECK(kk_simulator_report(s->simulator)->residual <= 1e-9);
    }
    return 1;
}

#endif
