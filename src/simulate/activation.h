/// What becomes of controls before they act (activation.c).
#ifndef KKI_SIMULATE_ACTIVATION_H
#define KKI_SIMULATE_ACTIVATION_H

#include "simulate/simulator.h"

/// A control as it comes after its delay, from the state that the step starts from.
double kki_delayed_control(const kk_simulator *s, const kki_model_actuator *a, double control);
/// The control within its limits and behind its activation, which moves on in s->motion.activation.
double kki_activate(kk_simulator *s, const kki_model_actuator *a, double control);
/// Adds the step's controls to the histories in s->motion.activation. @param control  NULL: all zero
void kki_remember_controls(const kk_model *m, kk_simulator *s, const double *control);

#endif
