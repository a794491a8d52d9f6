/// Slider-cranks as transmissions (crank.c).
#ifndef KKI_SIMULATE_CRANK_H
#define KKI_SIMULATE_CRANK_H

#include "simulate/simulator.h"

/// What a unit of force along the slider puts on the two nodes, and its length and rate.
typedef struct kki_crank {
    double length, rate;
    int node[2]; ///< of the crank's pin, of the slider's line
    kk_vec3 at[2];
    kk_force unit[2]; ///< about at[]
} kki_crank;

/// @param d  poses and rates
kki_crank kki_crank_measure(const kk_model *m, const kk_data *d, const kki_model_actuator *a);

#endif
