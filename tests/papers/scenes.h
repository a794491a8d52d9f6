/// Scenes that several papers' tests use, over the stage of the step's tests.
#ifndef KK_TESTS_PAPERS_SCENES_H
#define KK_TESTS_PAPERS_SCENES_H

#include "../simulate/stage.h"

/// Steps of a paper's method: nothing is certified. False after a failed one.
static inline int paper_run(stage *s, int steps, const kk_input *input) {
    for (int i = 0; i < steps; i++) {
        const kk_status status = kk_step(s->model, s->state, s->simulator, input, &s->error);
        if (status != KK_OK) {
            KK_FAIL("step %d: %s", i, s->error.text);
            return 0;
        }
    }
    return 1;
}

static inline kk_report paper_report(const stage *s) {
    return *kk_simulator_report(s->simulator);
}

/// A rod of 1 kg and 1 m along x from its origin.
static inline kk_inertia paper_rod(void) {
    kk_inertia rod = kk_inertia_solid_box(1, 1, 0.05, 0.05);
    rod.com = kk_vec3_make(0.5, 0, 0);
    return rod;
}

/// A body on a hinge about y, at `at` in its parent.
static inline int paper_hinge(stage *s, int parent, kk_vec3 at, kk_inertia inertia, const char *name) {
    kk_body_def def = kk_body_def_default();
    def.name = name;
    def.parent = parent;
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = kk_vec3_make(0, 1, 0);
    def.joint.placement.p = at;
    def.inertia = inertia;
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

/// A floor and a box on it whose gravity is tilted: a slope of `angle`.
static inline int paper_slope(stage *s, double angle, double friction, double g) {
    const int material = stage_material(s, friction, 0);
    kk_spec_set_gravity(s->spec, kk_vec3_make(g * kk_sin(angle), 0, -g * kk_cos(angle)));
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    return stage_box(s, 1, 1, 1, 1, material);
}

#endif
