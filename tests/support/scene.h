// Scenes for tests of the dynamics: a model, its data, a state and random inputs; and how errors are gathered over many of them.
//
// Errors are relative to the natural magnitude of what is compared: the largest component of either side, or a scale that the test
// names where both sides are small differences of large terms.
#ifndef KK_TESTS_SUPPORT_SCENE_H
#define KK_TESTS_SUPPORT_SCENE_H

#include <karakuri/dynamics.h>
#include <karakuri/random.h>

#include "harness.h"
#include "robots.h"

typedef struct scene {
    uint64_t seed;
    kk_spec *spec;
    kk_model *model;
    kk_data *data;
    int nq, nv, nbody;
    double *q, *v, *a, *tau;
    kk_force *external; // [nbody] in the bodies' frames
    struct scene_block *blocks;
} scene;

/// Compiles the spec, which the scene then owns, and draws a state and inputs from the seed.
scene scene_of(kk_spec *spec, uint64_t seed);
/// A random forest: 1 to 20 bodies, up to 3 roots, all joint types or, in every third, one alone; gravity in any direction.
scene scene_forest(uint64_t seed);
/// A robot of models/robots.h by name.
scene scene_robot(const char *name, uint64_t seed);
/// Limbs whose links are placed by every kind of turn of model/align.c, with and without arms and armature.
scene scene_alignments(uint64_t seed);
void scene_free(scene *s);
/// A new data that runs on the given one-robot variant of the kernels (dynamics/kernels/kernels.h).
struct kki_kernels;
void scene_use_kernels(scene *s, const struct kki_kernels *kernels);
/// Other q, v, a, tau and external forces.
void scene_draw(scene *s, uint64_t stream);
/// [n] zeros that live as long as the scene.
double *scene_take(scene *s, size_t n);
kk_force *scene_take_forces(scene *s, size_t n);
/// [n] random numbers in (−reach, reach).
double *scene_take_random(scene *s, size_t n, double reach, uint64_t stream);
/// How many random forests a test of identities goes through: 1000, or 100 in a quick run.
int scene_count(void);

/// Velocity of every body with only degree of freedom `dof` moving, at unit speed: [nbody], world axes about the world's origin.
/// A column of every body's Jacobian at once, by kinematics alone.
void scene_unit_velocities(scene *s, const double *q, int dof, kk_motion *V);

/// Rate of change of out = f(q, v) while q moves along v and v along a, by central differences of eighth order.
typedef void (*scene_function)(const scene *s, const double *q, const double *v, double *out);
void scene_rate(scene *s, double step, scene_function f, size_t n, double *out);

/// d/dt of a body's momentum minus its weight, world axes about the world's origin; after kk_kinematics_acceleration.
kk_force scene_body_load(const scene *s, int body);
/// The body's momentum, likewise; after kk_kinematics_velocity.
kk_force scene_body_momentum(const scene *s, int body);
/// The body's external force, likewise.
kk_force scene_body_external(const scene *s, int body);

/// What torques are made of: |M| |a| + |bias| + |tau of external forces|, the largest over the degrees of freedom. The torque itself may
/// be a small difference of these.
double scene_torque_scale(scene *s, const double *a, int with_external);
/// The same for accelerations: |M⁻¹| (|M| |a| + …). Rounding of torques alone changes accelerations by this much times 2⁻⁵³, whoever
/// computes them; with light links at the ends of heavy chains it is 10⁵ times the acceleration itself.
double scene_acceleration_scale(scene *s, const double *a, int with_external);
/// M⁻¹ by Cholesky's factorization of kk_inertia_matrix, both [nv × nv].
void scene_inverse_inertia(scene *s, const double *q, double *Minv);

/// The worst error met and the scene it was met in.
typedef struct worst {
    double error;
    uint64_t seed;
} worst;

/// The same bits: −0 is not 0.
int same_bits(double x, double y);
double largest(const double *x, size_t n);
/// Σ x y.
double dot(const double *x, const double *y, size_t n);
/// Largest |x − y| relative to the largest |x|, |y| or to `scale` if that is more; infinite if a NaN is there.
double relative_error(const double *x, const double *y, size_t n, double scale);
void worst_note(worst *w, const scene *s, double error);
void worst_compare(worst *w, const scene *s, const double *x, const double *y, size_t n, double scale);
void worst_compare_motion(worst *w, const scene *s, kk_motion x, kk_motion y, double scale);
void worst_compare_force(worst *w, const scene *s, kk_force x, kk_force y, double scale);
/// Fails with the error and the seed where the bar is exceeded.
#define WORST_CHECK(w, bar) worst_check(__FILE__, __LINE__, #w, (w), (bar))
void worst_check(const char *file, int line, const char *text, worst w, double bar);

/// Component 0 … 5 of a wrench, the moment first.
static inline double scene_component(kk_force f, int k) {
    return k < 3 ? kk_vec3_get(f.angular, k) : kk_vec3_get(f.linear, k - 3);
}

#endif
