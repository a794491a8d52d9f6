// Running with a controller, servo laws, playback; see control.h.
#include <karakuri/control.h>
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"
#include "simulate/simulator.h"

// ---- commands

typedef struct command {
    kk_command public;
    kk_allocator allocator;
    size_t size;
} command;

static void place_command(kki_layout *layout, const kk_model *model, command *c) {
    kki_layout_take(layout, 1, sizeof *c);
    KKI_LAYOUT_ARRAY(layout, c->public.control, (size_t)kk_model_nactuator(model) + 1);
    KKI_LAYOUT_ARRAY(layout, c->public.tau, (size_t)kk_model_nv(model) + 1);
    KKI_LAYOUT_ARRAY(layout, c->public.wrench, (size_t)kk_model_nbody(model));
}

kk_status kk_command_create(const kk_model *model, const kk_allocator *allocator, kk_command **out) {
    if (kki_is_missing(model, out)) {
        return KK_INVALID_ARGUMENT;
    }
    command plan = {.allocator = kki_allocator_or_default(allocator)};
    kki_layout layout = kki_layout_over(NULL);
    place_command(&layout, model, &plan);
    plan.size = layout.size;
    command *c = kki_allocate_zeroed(&plan.allocator, layout.size);
    *out = NULL;
    if (!c) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(c);
    place_command(&layout, model, &plan);
    *c = plan;
    *out = &c->public;
    return KK_OK;
}

void kk_command_free(kk_command *given) {
    command *c = (command *)(void *)given; // its first member
    if (c) {
        const kk_allocator allocator = c->allocator;
        kki_release(&allocator, c, c->size);
    }
}

kk_status kk_run(const kk_model *model, kk_state *state, kk_simulator *simulator, kk_command *given,
                 kk_controller *controller, void *user, int steps, kk_error *error) {
    if (kki_is_missing(simulator)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const double dt = simulator->options.timestep;
    kk_status status = KK_OK;
    for (int i = 0; i < steps && !status; i++) {
        memset(given->tau, 0, (size_t)kk_model_nv(model) * sizeof *given->tau);
        memset(given->wrench, 0, (size_t)kk_model_nbody(model) * sizeof *given->wrench);
        status = controller ? controller(user, model, state, dt, given, error) : KK_OK;
        const kk_input input = {given->control, given->tau, given->wrench};
        status = status ? status : kk_step(model, state, simulator, &input, error);
    }
    return status;
}

// ---- laws

static double clamp(double x, double limit) {
    return limit > 0 ? x > limit ? limit : x < -limit ? -limit : x : x;
}

double kk_pid_torque(kk_pid *pid, double target, double target_rate, double q, double v, double dt) {
    const double off = target - q, straight = pid->kp * off + pid->kd * (target_rate - v);
    const double grown = pid->integral + off * dt;
    const double wanted = straight + pid->ki * grown, given = clamp(wanted, pid->limit);
    // what is cut off must not be stored up
    if (given == wanted || (wanted > given) != (pid->ki * off > 0)) {
        pid->integral = grown;
    }
    return clamp(straight + pid->ki * pid->integral, pid->limit);
}

kk_status kk_computed_torque(const kk_model *model, kk_data *data, const double *q, const double *v,
                             const double *target_q, const double *target_v, const double *target_a, const double *kp,
                             const double *kd, double *tau) {
    if (kki_is_missing(model, data, q, v, target_q, target_v, target_a, kp, kd, tau)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    kk_difference(model, q, target_q, tau);
    for (int k = 0; k < kk_model_nv(model); k++) {
        tau[k] = target_a[k] + kd[k] * (target_v[k] - v[k]) + kp[k] * tau[k];
    }
    return kk_inverse_dynamics(model, data, q, v, tau, tau);
}

// ---- playback

/// What an actuator follows.
typedef struct follower {
    kk_actuator_type type;
    int q_index, v_index; ///< −1: nothing that a motion could tell, a ball's for one
    double gear;
} follower;

typedef struct player {
    kk_player public;
    kk_allocator allocator;
    size_t size;
    follower *follower; ///< [actuators]
} player;

static void place_player(kki_layout *layout, const kk_model *model, player *p) {
    kki_layout_take(layout, 1, sizeof *p);
    KKI_LAYOUT_ARRAY(layout, p->public.q, (size_t)kk_model_nq(model) + 1);
    KKI_LAYOUT_ARRAY(layout, p->public.v, (size_t)kk_model_nv(model) + 1);
    KKI_LAYOUT_ARRAY(layout, p->public.a, (size_t)kk_model_nv(model) + 1);
    KKI_LAYOUT_ARRAY(layout, p->follower, (size_t)kk_model_nactuator(model) + 1);
}

/// Coordinate of the degree of freedom that an actuator drives.
static int coordinate_of(const kk_model *model, const kk_actuator_info *a) {
    if (a->transmission != KK_TRANSMISSION_JOINT) {
        return -1;
    }
    const kk_joint_info j = kk_model_joint(model, a->joint);
    return j.nq == j.nv ? j.q_index + a->v_index - j.v_index : -1;
}

kk_status kk_player_create(const kk_model *model, const kk_sequence *sequence, const kk_allocator *allocator,
                           kk_player **out, kk_error *error) {
    if (kki_is_missing(model, sequence, out)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    player plan = {.public = {.sequence = sequence, .start = kk_sequence_start(sequence)},
                   .allocator = kki_allocator_or_default(allocator)};
    *out = NULL;
    if (kk_sequence_width(sequence) != kk_model_nq(model)) {
        return kki_error_set(error, KK_SIZE_MISMATCH,
                             "player: the sequence has %d numbers a row, the model %d coordinates",
                             kk_sequence_width(sequence), kk_model_nq(model));
    }
    kki_layout layout = kki_layout_over(NULL);
    place_player(&layout, model, &plan);
    plan.size = layout.size;
    player *p = kki_allocate_zeroed(&plan.allocator, layout.size);
    if (!p) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "player: no memory");
    }
    layout = kki_layout_over(p);
    place_player(&layout, model, &plan);
    *p = plan;
    for (int i = 0; i < kk_model_nactuator(model); i++) {
        const kk_actuator_info a = kk_model_actuator(model, i);
        p->follower[i] = (follower){a.type, coordinate_of(model, &a), a.v_index, a.gear};
    }
    *out = &p->public;
    return KK_OK;
}

void kk_player_free(kk_player *given) {
    player *p = (player *)(void *)given; // its first member
    if (p) {
        const kk_allocator allocator = p->allocator;
        kki_release(&allocator, p, p->size);
    }
}

static void control_actuator(player *p, const kk_state *state, double dt, int i, double *control) {
    const follower *a = &p->follower[i];
    const kk_player *x = &p->public;
    if (a->q_index < 0) {
        return;
    }
    const double q = kk_state_q_const(state)[a->q_index], v = kk_state_v_const(state)[a->v_index];
    const double to = x->q[a->q_index], rate = x->v[a->v_index];
    if (a->type == KK_ACTUATOR_POSITION) {
        control[i] = a->gear * to;
    } else if (a->type == KK_ACTUATOR_VELOCITY) {
        control[i] = a->gear * (rate + x->velocity_gain * (to - q));
    } else if (a->type == KK_ACTUATOR_FORCE && x->pid) {
        control[i] = kk_pid_torque(&x->pid[i], to, rate, q, v, dt) / a->gear;
    }
}

/// Targets are those of the step's end, where servos are solved.
kk_status kk_player_control(void *user, const kk_model *model, const kk_state *state, double dt, kk_command *given,
                            kk_error *error) {
    if (kki_is_missing(user, model, state, given)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    player *all = user; // its first member
    kk_player *p = &all->public;
    const double time = kk_state_time(state) + dt - p->start + kk_sequence_start(p->sequence);
    const kk_status status = kk_sequence_state(p->sequence, time, p->q, p->v, p->a);
    if (status) {
        return kki_error_set(error, status, "player: the sequence is not one of configurations; make it with a model");
    }
    for (int i = 0; i < kk_model_nactuator(model); i++) {
        control_actuator(all, state, dt, i, given->control);
    }
    return KK_OK;
}
