// Feed-forward by rewinding (S3 3.3): save the state, hold the driven joints to their velocities, step with contacts off, read the forces, go back.
//
// The twin has no contacts and no actuators but one velocity servo a driven joint, which the step solves implicitly: v' = w − τ/k with k far above
// the joint's inertia over the step. What is missing, τ/k, is made good by stepping again with τ given beforehand, so the servo has only the rest to
// do; each pass takes off a factor STIFF. The whole state of the caller is copied in (loops that are switched off or
// broken, lags, what steps leave for the next one), so going back costs nothing.
#include <karakuri/control.h>
#include <karakuri/elementary.h>
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"
#include "model/warm.h"

enum { PASSES = 3 };
static const double STIFF = 1e5; // servo's gain over inertia / step

struct kk_feedforward {
    kk_allocator allocator;
    size_t size;
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    int driven, first; ///< how many servos; number of the first among the actuators
    int *dof;          ///< [driven]
    double *control;   ///< [actuators]
};

// ---- the twin

/// No shape touches another: not by groups, and not by pairs that were named.
static kk_status stop_contacts(kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < kk_spec_shape_count(spec); i++) {
        kk_spec_shape(spec, i)->group = kk_spec_shape(spec, i)->mask = 0;
    }
    for (int i = 0; i < kk_spec_pair_count(spec) && !status; i++) {
        kk_exclude_def exclude = kk_exclude_def_default();
        for (int k = 0; k < 2; k++) {
            exclude.body[k] = kk_spec_shape(spec, kk_spec_pair(spec, i)->shape[k])->body;
        }
        status = kk_spec_add_exclude(spec, &exclude, NULL, error);
    }
    return status;
}

static void stop_actuators(kk_spec *spec) {
    for (int i = 0; i < kk_spec_actuator_count(spec); i++) {
        kk_actuator_def *a = kk_spec_actuator(spec, i);
        a->type = KK_ACTUATOR_GENERAL;
        a->gain = a->bias[0] = a->bias[1] = a->bias[2] = 0;
    }
}

static kk_status add_servo(kk_spec *spec, const char *joint, double gain, kk_error *error) {
    kk_actuator_def servo = kk_actuator_def_default();
    servo.type = KK_ACTUATOR_VELOCITY;
    servo.target = joint;
    servo.gain = gain;
    servo.bias[2] = -gain;
    return kk_spec_add_actuator(spec, &servo, NULL, error);
}

/// Inertia that a joint feels at zero, others free to move with it.
static kk_status inertias(const kk_model *model, const kk_allocator *allocator, double *M) {
    kk_data *data = NULL;
    const size_t nq = (size_t)kk_model_nq(model);
    double *q = kki_allocate_array(allocator, nq + 1, sizeof *q);
    kk_status status = q ? kk_data_create_with_matrices(model, allocator, &data) : KK_OUT_OF_MEMORY;
    if (!status) {
        kk_model_neutral(model, q);
        status = kk_inertia_matrix(model, data, q, M);
    }
    kk_data_free(data);
    kki_release_array(allocator, q, nq + 1, sizeof *q);
    return status;
}

static int is_driven(const kk_joint_info *j, const char *const *joints, int count) {
    for (int i = 0; joints && i < count; i++) {
        if (strcmp(joints[i], j->name) == 0) {
            return 1;
        }
    }
    return !joints && j->nv == 1;
}

static kk_status check_joints(const kk_model *model, const char *const *joints, int count, kk_error *error) {
    for (int i = 0; joints && i < count; i++) {
        const int body = kk_model_find_joint(model, joints[i]);
        if (body < 0 || kk_model_joint(model, body).nv != 1) {
            return kki_error_set(
                error, body < 0 ? KK_NOT_FOUND : KK_INVALID_ARGUMENT,
                body < 0 ? "feed-forward: there is no joint '%s'"
                         : "feed-forward: joint '%s' has more than one degree of freedom; drive hinges and slides",
                joints[i]);
        }
    }
    return KK_OK;
}

static kk_status add_servos(kk_spec *spec, const kk_model *plain, const char *const *joints, int count, double dt,
                            const double *M, kk_error *error) {
    const size_t nv = (size_t)kk_model_nv(plain);
    kk_status status = KK_OK;
    for (int b = 1; b < kk_model_nbody(plain) && !status; b++) {
        const kk_joint_info j = kk_model_joint(plain, b);
        if (is_driven(&j, joints, count)) {
            status = add_servo(spec, j.name, STIFF * M[(nv + 1) * (size_t)j.v_index] / dt, error);
        }
    }
    return status;
}

/// Gains follow from the inertias of the plain twin.
static kk_status arm(kk_spec *spec, const char *const *joints, int count, double dt, const kk_allocator *allocator,
                     kk_error *error) {
    kk_model *plain = NULL;
    kk_status status = kk_model_compile(spec, allocator, &plain, error);
    status = status ? status : check_joints(plain, joints, count, error);
    if (!status) {
        const size_t nv = (size_t)kk_model_nv(plain);
        double *M = kki_allocate_array(allocator, nv * nv + 1, sizeof *M);
        status = M ? inertias(plain, allocator, M) : KK_OUT_OF_MEMORY;
        status = status ? kki_error_set(error, status, "feed-forward: no memory for the inertia matrix")
                        : add_servos(spec, plain, joints, count, dt, M, error);
        kki_release_array(allocator, M, nv * nv + 1, sizeof *M);
    }
    kk_model_free(plain);
    return status;
}

static kk_status make_twin(kk_feedforward *f, const kk_spec *spec, const char *const *joints, int count,
                           double timestep, kk_error *error) {
    kk_status status = kk_spec_clone(spec, &f->allocator, &f->spec, error);
    if (status) {
        return status;
    }
    const double dt = timestep > 0 ? timestep : kk_spec_options(f->spec)->timestep;
    const kk_step_options options = {.timestep = dt};
    f->first = kk_spec_actuator_count(f->spec);
    stop_actuators(f->spec);
    status = stop_contacts(f->spec, error);
    status = status ? status : arm(f->spec, joints, count, dt, &f->allocator, error);
    f->driven = kk_spec_actuator_count(f->spec) - f->first;
    status = status ? status : kk_model_compile(f->spec, &f->allocator, &f->model, error);
    status = status ? status : kk_state_create(f->model, &f->allocator, &f->state);
    return status ? status : kk_simulator_create(f->model, &options, &f->allocator, &f->simulator, error);
}

static void place(kki_layout *layout, kk_feedforward *f) {
    kki_layout_take(layout, 1, sizeof *f);
    KKI_LAYOUT_ARRAY(layout, f->dof, (size_t)f->driven + 1);
    KKI_LAYOUT_ARRAY(layout, f->control, (size_t)(f->first + f->driven) + 1);
}

static void free_twin(kk_feedforward *f) {
    kk_simulator_free(f->simulator);
    kk_state_free(f->state);
    kk_model_free(f->model);
    kk_spec_free(f->spec);
}

kk_status kk_feedforward_create(const kk_spec *spec, const char *const *joints, int count, double timestep,
                                const kk_allocator *allocator, kk_feedforward **feedforward, kk_error *error) {
    if (kki_is_missing(feedforward)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_feedforward plan = {.allocator = kki_allocator_or_default(allocator)};
    *feedforward = NULL;
    kk_status status = make_twin(&plan, spec, joints, count, timestep, error);
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, &plan);
    plan.size = layout.size;
    kk_feedforward *f = status ? NULL : kki_allocate_zeroed(&plan.allocator, layout.size);
    if (!f) {
        free_twin(&plan);
        return status ? status : kki_error_set(error, KK_OUT_OF_MEMORY, "feed-forward: no memory");
    }
    layout = kki_layout_over(f);
    place(&layout, &plan);
    *f = plan;
    for (int i = 0; i < f->driven; i++) {
        f->dof[i] = kk_model_actuator(f->model, f->first + i).v_index;
    }
    *feedforward = f;
    return KK_OK;
}

void kk_feedforward_free(kk_feedforward *feedforward) {
    if (feedforward) {
        const kk_allocator allocator = feedforward->allocator;
        free_twin(feedforward);
        kki_release(&allocator, feedforward, feedforward->size);
    }
}

// ---- torques

/// The whole of it: switches of loops, what broke, lags, and what steps leave for the next one.
static kk_status copy_state(const kk_feedforward *f, const kk_state *from, kk_error *error) {
    const kk_status status = kki_state_copy_to_twin(f->state, from);
    return status ? kki_error_set(error, status, "feed-forward: the state is of another model") : KK_OK;
}

kk_status kk_feedforward_torque(kk_feedforward *feedforward, const kk_state *state, const double *change, double *tau,
                                kk_error *error) {
    if (kki_is_missing(feedforward, state, change, tau)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_feedforward *f = feedforward;
    const kk_input input = {.control = f->control, .tau = tau};
    kk_status status = KK_OK;
    memset(tau, 0, (size_t)kk_model_nv(f->model) * sizeof *tau);
    for (int i = 0; i < f->driven; i++) {
        f->control[f->first + i] = kk_state_v_const(state)[f->dof[i]] + change[f->dof[i]];
    }
    for (int pass = 0; pass < PASSES && !status; pass++) {
        status = copy_state(f, state, error);
        status = status ? status : kk_step(f->model, f->state, f->simulator, &input, error);
        const double *held = status ? NULL : kk_simulator_force(f->simulator, KK_FORCE_ACTUATOR);
        for (int i = 0; i < f->driven && held; i++) {
            tau[f->dof[i]] += held[f->dof[i]];
        }
    }
    return status;
}
