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
/// Limits that the rest of the step could reach.
void kki_constrain_tendons(const kk_model *model, kk_simulator *s);
/// Whether a step can hold all limits.
kk_status kki_check_tendons(const kk_model *model, kk_error *error);
/// Most parts of rows that limits need.
int kki_tendon_part_count(const kk_model *model);

// ---- of forces.c and constrain.c

/// A wrench in world axes about a point of a node.
void kki_push(kk_simulator *s, int node, kk_vec3 point, kk_force f);
kki_constraint *kki_begin_constraint(kk_simulator *s, int kind, int item);
void kki_end_constraint(kk_simulator *s, kki_constraint *c);
/// Parts of row 0: `scale` times a unit force on a degree of freedom; a force at the second point, its opposite at the first.
void kki_add_dof_part(const kk_model *m, kk_simulator *s, int dof, double scale);
void kki_add_line_part(kk_simulator *s, const int node[2], const kk_vec3 at[2], kk_vec3 force);

#endif
