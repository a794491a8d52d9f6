// A pendulum whose motor is too weak to lift it: CMA-ES finds the torques that swing it up, the same on every machine.
#include <karakuri/karakuri.h>

#include <stdio.h>

enum { KNOTS = 10, STEPS = 500 };
static const double LENGTH = 0.5, MOTOR = 1.5; // m, N m; its weight needs up to 4.9 N m

typedef struct task {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
} task;

// how far below the top it ends, and how fast: zero where it stands
static kk_status fall_short(void *user, const double *x, double *cost, kk_error *error) {
    task *t = user;
    double *q = kk_state_q(t->state), *v = kk_state_v(t->state);
    q[0] = v[0] = 0;
    for (int i = 0; i < STEPS; i++) {
        const double tau = x[i * KNOTS / STEPS];
        const kk_input input = {.tau = &tau};
        const kk_status status = kk_step(t->model, t->state, t->simulator, &input, error);
        if (status) {
            return status;
        }
    }
    *cost = 1 + kk_cos(q[0]) + 0.01 * v[0] * v[0];
    return KK_OK;
}

static kk_status prepare(task *t, kk_spec **spec, kk_error *error) {
    const kk_step_options options = {.timestep = 0.01};
    kk_body_def bob = kk_body_def_default();
    bob.name = "bob";
    bob.joint.axis = kk_vec3_make(0, 1, 0);
    bob.inertia.mass = 1;
    bob.inertia.com = kk_vec3_make(0, 0, -LENGTH);
    kk_status status = kk_spec_create(NULL, spec);
    status = status ? status : kk_spec_add_body(*spec, &bob, NULL, error);
    status = status ? status : kk_model_compile(*spec, NULL, &t->model, error);
    status = status ? status : kk_state_create(t->model, NULL, &t->state);
    return status ? status : kk_simulator_create(t->model, &options, NULL, &t->simulator, error);
}

int main(void) {
    double lower[KNOTS], upper[KNOTS];
    for (int k = 0; k < KNOTS; k++) {
        lower[k] = -MOTOR;
        upper[k] = MOTOR;
    }
    const kk_optimizer_def def = {.n = KNOTS, .lower = lower, .upper = upper, .population = 20, .seed = 1};
    task t = {0};
    kk_spec *spec = NULL;
    kk_optimizer *optimizer = NULL;
    kk_error error = {0};
    if (prepare(&t, &spec, &error) || kk_optimizer_create(&def, NULL, &optimizer, &error) ||
        kk_optimizer_run(optimizer, fall_short, &t, 120, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    const double cost = kk_optimizer_best(optimizer, NULL);
    printf("after %d generations it ends %.4f m below the top\n", kk_optimizer_generation(optimizer), LENGTH * cost);
    kk_optimizer_free(optimizer);
    kk_simulator_free(t.simulator);
    kk_state_free(t.state);
    kk_model_free(t.model);
    kk_spec_free(spec);
    return cost < 0.01 ? 0 : 1;
}
