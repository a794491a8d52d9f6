/// The models the golden results of articulated dynamics belong to: shared by their maker and by the test.
#ifndef KARAKURI_TESTS_GOLDEN_DYNAMICS_MODELS_H
#define KARAKURI_TESTS_GOLDEN_DYNAMICS_MODELS_H

#include "../../models/robots.h"

typedef struct golden_model {
    const char *name;
    kk_status (*build)(kk_spec *spec, kk_error *error);
    int in_mujoco;
} golden_model;

/// Every joint type, armature and all. The seed is one that has each type and welds nothing to the world.
static inline kk_status golden_forest(kk_spec *spec, kk_error *error) {
    robots_forest_def def = robots_forest_def_default();
    def.bodies = 10;
    return robots_random_forest(spec, 768, &def, error);
}

/// What MuJoCo can hold as well: no screws, no free joints, no armature. The seed as above.
static inline kk_status golden_forest_common(kk_spec *spec, kk_error *error) {
    robots_forest_def def = robots_forest_def_default();
    def.bodies = 8;
    def.joint_types &= ~(1u << KK_JOINT_SCREW | 1u << KK_JOINT_FREE);
    def.armature = 0;
    return robots_random_forest(spec, 205, &def, error);
}

static const golden_model golden_models[] = {
    {"arm7", robots_arm7, 1},     {"quadruped", robots_quadruped, 1},         {"humanoid36", robots_humanoid36, 1},
    {"forest", golden_forest, 0}, {"forest_common", golden_forest_common, 1},
};
enum { golden_model_count = sizeof golden_models / sizeof golden_models[0] };

#endif
