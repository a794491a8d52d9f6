/// Tendons in a step (tendons.c).
#ifndef KKI_SIMULATE_TENDONS_H
#define KKI_SIMULATE_TENDONS_H

#include "dynamics/tendon.h"
#include "simulate/simulator.h"

/// Mobility and actuators of all tendons, when the simulator is made; and which of them are too stiff for explicit forces at the options' time step.
void kki_tendons_fill(const kk_model *model, kk_simulator *s);
void kki_tendons_choose(const kk_model *model, kk_simulator *s);
/// Lengths and rates of the middle, springs and dampers; s->readout.view holds poses and rates where there are spatial tendons.
void kki_tendon_begin(const kk_model *model, kk_simulator *s);
/// Behind the actuators: all forces that no row stands for.
void kki_tendon_drive(const kk_model *model, kk_simulator *s);
/// Of a row for armature and implicit forces: λ = impulse − mass · (change of the rate). Mass 0: it does nothing.
double kki_tendon_drive_mass(const kk_model *model, const kk_simulator *s, int tendon);
double kki_tendon_drive_impulse(const kk_model *model, const kk_simulator *s, int tendon);
/// Forces by source and kinetic energy behind the step.
void kki_tendon_finish(const kk_model *model, kk_simulator *s, int tendon, double lambda);
/// A force along a fixed tendon among those of a source.
void kki_tendon_book(const kk_model *m, kk_simulator *s, int tendon, double force, kk_force_source source);
/// Of all springs.
double kki_tendon_energy(const kk_model *model, const kk_data *poses, const double *q);
/// Whether a constraint's forces are to be found on nodes.
int kki_is_spatial_row(const kk_model *m, const kki_constraint *c);
int kki_tendon_has_limits(const kki_model_tendon *t);
/// Whether armature or implicit forces act along it by a row.
int kki_tendon_is_driven(const kk_model *m, const kk_simulator *s, int tendon);
/// Ends of the branches that a tendon moves, −1: none. False where there are more than two.
int kki_tendon_branches(const kk_model *m, const kki_model_tendon *t, int32_t branch[2]);
int kki_tendon_more_branches(const kk_model *m, const kki_model_tendon *t, int32_t branch[2]);
/// Whether a step can hold all limits.
kk_status kki_check_tendons(const kk_model *model, kk_error *error);
/// Most parts of rows that limits need.
int kki_tendon_part_count(const kk_model *model);

// ---- of forces.c

/// A wrench in world axes about a point of a node.
void kki_push(kk_simulator *s, int node, kk_vec3 point, kk_force f);

#endif
