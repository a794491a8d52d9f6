// The floor's wrench of a simulation: apart from the rest of the analysis, which needs no simulator.
#include <karakuri/analysis.h>

kk_force kk_simulator_floor_wrench(const kk_simulator *simulator, const kk_model *model) {
    (void)model;
    const kk_force f = kk_simulator_contact_wrench(simulator, KK_WORLD, -1);
    return kk_force_make(kk_vec3_neg(f.angular), kk_vec3_neg(f.linear));
}
