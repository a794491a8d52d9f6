// The mean velocity of a step is predicted from accelerations that say something about a whole step.
#include "simulate/predict.h"

#include <math.h>

#include "model/warm.h"
#include "simulate/simulator.h"
#include "stage.h"

/// Two links on hinges, which have Coriolis forces, let go out of the horizontal.
static stage double_pendulum(void) {
    stage s = stage_begin(9.81);
    const kk_vec3 axis = kk_vec3_make(0, 1, 0), tip = kk_vec3_make(0.5, 0, 0);
    const int upper =
        stage_hinge(&s, "upper", KK_WORLD, kk_vec3_make(0, 0, 0), axis, kk_inertia_solid_box(1, 0.5, 0.1, 0.1));
    stage_hinge(&s, "lower", upper, tip, axis, kk_inertia_solid_box(1, 0.5, 0.1, 0.1));
    KK_CHECK(stage_ready(&s, NULL));
    return s;
}

/// Largest acceleration that the next step would go on with.
static double largest_remembered(const stage *s) {
    const double *a = s->simulator->warm_start.value + s->simulator->warm_start.layout.first_change;
    double most = 0;
    for (int k = 0; k < KKI_WARM_CHANGES * kk_model_nv(s->model); k++) {
        most = fmax(most, fabs(a[k]));
    }
    return most;
}

// A step that is cut where something meets may leave a substep of a microsecond. What velocities were corrected by in it is a trace; as an acceleration it is without
// measure, and extrapolated over the step behind it, it made Coriolis forces of 1e12 J.
KK_TEST(accelerations_of_short_substeps_are_not_extrapolated) {
    stage s = double_pendulum();
    kk_simulator *simulator = s.simulator;
    KK_CHECK(stage_run(&s, 5, NULL));
    const double before = largest_remembered(&s);
    KK_CHECK(before > 1 && before < 100);
    simulator->h = 1e-4 * simulator->options.timestep;
    simulator->motion.is_predicted = 1;
    for (int k = 0; k < kk_model_nv(s.model); k++) {
        simulator->motion.acceleration[k] = 0.1 / simulator->h;
    }
    kki_remember_acceleration(s.model, simulator);
    KK_CHECK_BITS(largest_remembered(&s), before);
    stage_end(&s);
}
