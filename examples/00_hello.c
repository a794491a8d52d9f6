// The README's first program: a humanoid is let go in a half sitting posture, on servos, and stands.
#include <karakuri/karakuri.h>
#include <stdio.h>

int main(int count, char **arguments) {
    kk_error error = {0};
    kk_model *model = NULL;         // never changes, shared by all threads
    kk_state *state = NULL;         // all you must save
    kk_simulator *simulator = NULL; // scratch, one a thread

    if (kk_load_model(count > 1 ? arguments[1] : "models/hrp2/hrp2.xml", NULL, &model, &error) ||
        kk_simulation_begin(model, NULL, NULL, &state, &simulator, &error) ||
        kk_state_set_keyframe(model, state, kk_model_find_keyframe(model, "half_sitting"))) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const kk_input input = {.control = kk_model_keyframe(model, 0).control}; // servos hold the posture
    for (int i = 0; i < 1000; i++) {
        if (kk_step(model, state, simulator, &input, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
    }
    const kk_transform pelvis = kk_simulator_body_pose(simulator, state, kk_model_find_body(model, "pelvis"));
    printf("after %g s the pelvis is at %.3f m on %d contacts, proved to %.0e m/s\n", kk_state_time(state), pelvis.p.z,
           kk_simulator_ncontact(simulator), kk_simulator_report(simulator)->residual);

    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(model);
    return pelvis.p.z > 0.5 ? 0 : 1;
}
