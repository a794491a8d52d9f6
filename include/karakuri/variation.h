/// Variations: a model with other numbers and the same structure, for the parameters that differ from simulation to
/// simulation.
///
/// A variation is a model: states, data, recordings and every other call take it as one. It has the hash and gives the
/// bits of a model that is compiled with its numbers, so what is saved of it cannot be restored with another. Of memory it takes
/// what differs; all the rest is the model's. A simulator that was made for the model steps its variations as well, one after
/// another, and kk_simulations_vary gives each simulation its own.
///
///     kk_spec_clone(spec, NULL, &edited, &error);
///     kk_spec_body(edited, trunk)->inertia.mass = 7.2;
///     kk_model_vary(model, edited, NULL, &variation, &error);
///     kk_step(variation, state, simulator, &input, &error);
#ifndef KARAKURI_VARIATION_H
#define KARAKURI_VARIATION_H

#include <karakuri/simulate.h>

KK_BEGIN_DECLS

/// The variation that an edited copy of the model's spec describes. Any number may differ: masses, inertias, centers of
/// mass, placements, sizes, friction, stiffness, damping, armature, limits, gains, gravity. Structure may not: bodies, the
/// types of their joints, which shapes may touch, meshes, what actuators and sensors are on, keyframes, and the time step,
/// which is an option of steps. KK_INVALID_MODEL names what differs so.
/// @param model  must outlive the variation; a variation stands for the model that it is one of
KK_API kk_status kk_model_vary(const kk_model *model, const kk_spec *spec, const kk_allocator *allocator,
                               kk_model **variation, kk_error *error);
/// The model that it is a variation of; of a model that is none, itself.
KK_API const kk_model *kk_model_base(const kk_model *model);

KK_END_DECLS
#endif
