/// Where a state is: poses, velocities and Jacobians in the simulator's own data, which a step overwrites and needs no more when it is done. Worked out once for
/// as long as the state's numbers stay.
#include <string.h>

#include "base/error.h"
#include "base/missing.h"
#include "simulate/simulator.h"

static int is_of_model(const kk_simulator *s, const kk_state *state) {
    return kki_state_model_hash(state) == s->model_hash;
}

static int is_seen(const kk_simulator *s, const kk_state *state) {
    const kki_observed *seen = &s->readout.seen;
    return seen->has && memcmp(seen->q, kk_state_q_const(state), (size_t)s->model->nq * sizeof *seen->q) == 0 &&
           memcmp(seen->v, kk_state_v_const(state), (size_t)s->model->nv * sizeof *seen->v) == 0;
}

void kki_simulator_see(kk_simulator *s, const kk_state *state) {
    const kk_model *m = s->model;
    const double *q = kk_state_q_const(state), *v = kk_state_v_const(state);
    if (is_seen(s, state)) {
        return;
    }
    kki_settle_energies(s);
    kki_settle_outside(s);
    kk_kinematics_velocity(m, s->data, q, v);
    memcpy(s->readout.seen.q, q, (size_t)m->nq * sizeof *q);
    memcpy(s->readout.seen.v, v, (size_t)m->nv * sizeof *v);
    s->readout.seen.has = 1;
    s->readout.seen.has_axes = 0;
}

/// NULL for a state of another model.
static const kk_data *place(kk_simulator *simulator, const kk_state *state) {
    if (kki_is_missing(simulator, state) || !is_of_model(simulator, state)) {
        return NULL;
    }
    kki_simulator_see(simulator, state);
    return simulator->data;
}

static kk_transform no_pose(void) {
    const double nan = __builtin_nan("");
    return (kk_transform){kk_mat3_identity(), {nan, nan, nan}};
}

static kk_motion no_motion(void) {
    const double nan = __builtin_nan("");
    return (kk_motion){{nan, nan, nan}, {nan, nan, nan}};
}

kk_transform kk_simulator_body_pose(kk_simulator *simulator, const kk_state *state, int body) {
    const kk_data *d = place(simulator, state);
    return d ? kk_body_pose(simulator->model, d, body) : no_pose();
}

kk_transform kk_simulator_frame_pose(kk_simulator *simulator, const kk_state *state, int frame) {
    const kk_data *d = place(simulator, state);
    return d ? kk_frame_pose(simulator->model, d, frame) : no_pose();
}

kk_motion kk_simulator_body_velocity(kk_simulator *simulator, const kk_state *state, int body, kk_reference reference) {
    const kk_data *d = place(simulator, state);
    return d ? kk_body_velocity(simulator->model, d, body, reference) : no_motion();
}

kk_motion kk_simulator_frame_velocity(kk_simulator *simulator, const kk_state *state, int frame,
                                      kk_reference reference) {
    const kk_data *d = place(simulator, state);
    return d ? kk_frame_velocity(simulator->model, d, frame, reference) : no_motion();
}

/// The motion axes of where the state is. Few ask for Jacobians, so their memory is taken when the first does.
static kk_status find_axes(kk_simulator *s, const kk_state *state) {
    if (kki_is_missing(s, state)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!is_of_model(s, state)) {
        return KK_SIZE_MISMATCH;
    }
    kk_status status = KK_OK;
    if (!s->readout.axes) {
        status = kki_data_create_without(s->variation.made_for, KKI_LACKS_WORLD | KKI_LACKS_LINKS, &s->allocator,
                                         &s->readout.axes);
    }
    if (status != KK_OK) {
        return status;
    }
    kki_simulator_see(s, state);
    if (!s->readout.seen.has_axes) {
        s->readout.axes->model_hash = s->model_hash;
        status = kk_jacobians(s->model, s->readout.axes, kk_state_q_const(state));
        s->readout.seen.has_axes = status == KK_OK;
    }
    return status;
}

kk_status kk_simulator_body_jacobian(kk_simulator *simulator, const kk_state *state, int body, kk_reference reference,
                                     double *J) {
    const kk_status status = J ? find_axes(simulator, state) : KK_INVALID_ARGUMENT;
    if (status == KK_OK) {
        kk_body_jacobian(simulator->model, simulator->readout.axes, body, reference, J);
    }
    return status;
}

kk_status kk_simulator_frame_jacobian(kk_simulator *simulator, const kk_state *state, int frame, kk_reference reference,
                                      double *J) {
    const kk_status status = J ? find_axes(simulator, state) : KK_INVALID_ARGUMENT;
    if (status == KK_OK) {
        kk_frame_jacobian(simulator->model, simulator->readout.axes, frame, reference, J);
    }
    return status;
}
