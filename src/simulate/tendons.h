/// Tendons in a step (tendons.c).
#ifndef KKI_SIMULATE_TENDONS_H
#define KKI_SIMULATE_TENDONS_H

#include "simulate/simulator.h"

typedef struct kki_tendon_motion {
    double length, rate;
} kki_tendon_motion;

/// @param data  poses and rates of (q, v)
kki_tendon_motion kki_tendon_measure(const kk_model *model, const kk_data *data, int tendon, const double *q,
                                     const double *v);
/// A force along the tendon, positive where it lengthens it, on the joints or bodies it runs over.
void kki_tendon_pull(const kk_model *model, kk_simulator *s, int tendon, double force, kk_force_source source);
/// Springs and dampers of all tendons; s->view holds poses and rates where there are spatial ones.
void kki_tendon_springs(const kk_model *model, kk_simulator *s);
int kki_has_spatial_tendons(const kk_model *model);
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
