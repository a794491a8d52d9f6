/// Our own robots, built into a spec by API calls from readable tables.
///
/// Used by tests, benchmarks, examples and the cross-check with other engines. Only the public API is used, so this
/// file also shows how a robot is described by hand. Every builder adds to the spec it is given: several robots may
/// share one spec as long as their names differ.
#ifndef KARAKURI_MODELS_ROBOTS_H
#define KARAKURI_MODELS_ROBOTS_H

#include <karakuri/spec.h>

KK_BEGIN_DECLS

/// Seven-axis arm, 7 DoF, fixed base: the published kinematics of the Franka Panda, solids for its links.
kk_status robots_arm7(kk_spec *spec, kk_error *error);
/// Quadruped, 18 DoF: the ANYmal of SimBenchmark (33.9 kg), free base and 12 hinges; the feet are fixed bodies.
kk_status robots_quadruped(kk_spec *spec, kk_error *error);
/// Humanoid, 36 DoF, 58 kg, 1.54 m, like HRP-2: free base, legs 6 + 6, waist 2, neck 2, arms 7 + 7.
kk_status robots_humanoid36(kk_spec *spec, kk_error *error);
/// Humanoid, 38 DoF, 95 kg, 1.75 m, like TALOS: as above, larger, with a one-axis gripper on each hand.
kk_status robots_humanoid38(kk_spec *spec, kk_error *error);
/// Chain of n hinged rods of 0.1 m, axes x, y, z, x, … in turn, fixed at its upper end.
kk_status robots_chain(kk_spec *spec, int n, kk_error *error);

/// What a random forest is made of.
typedef struct robots_forest_def {
    int bodies;           ///< without the world, ≥ 1
    int roots;            ///< how many of them hang on the world, 1 … bodies
    unsigned joint_types; ///< mask of 1u << KK_JOINT_…
    int aligned_axes;     ///< nonzero: axes along ±x, ±y, ±z; zero: anywhere
    int turned;           ///< nonzero: joint placements are turned as well as moved
    int offsets;          ///< nonzero: the body's frame does not coincide with the joint's
    int armature;         ///< nonzero: every degree of freedom has some
    int frames;           ///< named frames on random bodies
} robots_forest_def;

enum { ROBOTS_EVERY_JOINT = (1u << (KK_JOINT_FREE + 1)) - 1u };

/// 12 bodies, 2 roots, every joint type, everything switched on, 4 frames.
robots_forest_def robots_forest_def_default(void);
/// A random forest: the same seed gives the same forest on every machine.
kk_status robots_random_forest(kk_spec *spec, uint64_t seed, const robots_forest_def *def, kk_error *error);

typedef struct robots_entry {
    const char *name;
    kk_status (*build)(kk_spec *spec, kk_error *error);
    const char *about;
} robots_entry;

/// The robots above that need no parameters, by name; ends with a NULL name.
extern const robots_entry robots_table[];
/// NULL if there is none of that name.
const robots_entry *robots_find(const char *name);

KK_END_DECLS
#endif
