// Stiff servos, fast turns, light links between heavy ones; see cause.h.
#include "cause.h"

#include <stdlib.h>
#include <string.h>

/// What a degree of freedom weighs, with all that hangs on it; 0 where that is not known.
static double inertia_of(const cli_model *m, const double *q, int dof) {
    const size_t nv = (size_t)kk_model_nv(m->model);
    double *M = cli_allocate(nv * nv + 1, sizeof *M);
    const bool is_known = kk_inertia_matrix(m->model, m->data, q, M) == KK_OK;
    const double inertia = is_known ? M[(size_t)dof * nv + (size_t)dof] : 0;
    free(M);
    return inertia;
}

/// N m/rad or N/m of all servos on a degree of freedom, and of its spring.
static double stiffness_of(const cli_model *m, int dof) {
    double sum = kk_model_dof(m->model, dof).stiffness;
    for (int i = 0; i < kk_model_nactuator(m->model); i++) {
        const kk_actuator_info info = kk_model_actuator(m->model, i);
        const bool is_on_it = info.transmission == KK_TRANSMISSION_JOINT && info.v_index == dof;
        sum -= is_on_it ? info.gear * info.gear * info.bias[1] : 0;
    }
    return sum;
}

static bool describe_servo(const cli_model *m, const double *q, double dt, kk_joint_info joint, cli_text *out) {
    const double k = joint.nv == 1 ? stiffness_of(m, joint.v_index) : 0;
    const double inertia = k > 0 ? inertia_of(m, q, joint.v_index) : 0;
    const double turn = inertia > 0 ? dt * kk_sqrt(k / inertia) : 0;
    if (turn > 0.5) {
        text_format(
            out,
            "joint \"%s\" is held with %.3g N m/rad on an inertia of %.3g kg m²: ω h = %.3g — a time step below "
            "%.2g s makes it .5, or a gain below %.3g",
            joint.name, k, inertia, turn, 0.5 * dt / turn, k * 0.25 / (turn * turn));
    }
    return turn > 0.5;
}

static bool describe_speed(const cli_model *m, const kk_state *state, double dt, kk_joint_info joint, cli_text *out) {
    (void)m;
    double fastest = 0;
    for (int k = 0; k < joint.nv; k++) {
        const double v = kk_state_v_const(state)[joint.v_index + k], size = v < 0 ? -v : v;
        fastest = size > fastest && size < 1e300 ? size : fastest;
    }
    if (fastest * dt > 0.3) {
        text_format(out, "joint \"%s\" moved at %.3g rad/s or m/s, %.2g a step — a time step below %.2g s makes it .1",
                    joint.name, fastest, fastest * dt, 0.1 / fastest);
    }
    return fastest * dt > 0.3;
}

static double mass_behind(const cli_model *m, int body) {
    double sum = 0;
    for (int i = kk_model_nbody(m->model) - 1; i >= body; i--) {
        int at = i;
        while (at > body) {
            at = kk_model_body_parent(m->model, at);
        }
        sum += at == body ? kk_model_body_inertia(m->model, i).mass : 0;
    }
    return sum;
}

static bool describe_mass(const cli_model *m, int body, cli_text *out) {
    const double own = kk_model_body_inertia(m->model, body).mass, all = mass_behind(m, body);
    const double ratio = own > 0 ? all / own : 0;
    if (ratio > 1e4) {
        text_format(out, "body \"%s\" of %.3g kg carries %.3g kg, %.2g times as much — check its mass and its unit",
                    kk_model_body_name(m->model, body), own, all, ratio);
    }
    return ratio > 1e4;
}

void cause_describe(const cli_model *m, const kk_state *state, double dt, int body, cli_text *out) {
    if (body <= 0 || body >= kk_model_nbody(m->model)) {
        return;
    }
    const kk_joint_info joint = kk_model_joint(m->model, body);
    const double *q = kk_state_q_const(state);
    if (!describe_servo(m, q, dt, joint, out) && !describe_speed(m, state, dt, joint, out)) {
        describe_mass(m, body, out);
    }
}

int cause_body_of_message(const cli_model *m, const char *message) {
    const char *start = strstr(message, "joint \""), *end = start ? strchr(start + 7, '"') : NULL;
    for (int b = 1; end && b < kk_model_nbody(m->model); b++) {
        const char *name = kk_model_joint(m->model, b).name;
        if (strlen(name) == (size_t)(end - start) - 7 && strncmp(name, start + 7, strlen(name)) == 0) {
            return b;
        }
    }
    return -1;
}
