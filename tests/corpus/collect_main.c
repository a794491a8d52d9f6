// karakuri_collect: runs a verb of the tool, unit tests or a thrown model, and keeps contact problems of their steps (see collect.h).
//
//     karakuri_collect FILE FAMILY SOURCE cli run robot.xml --time 2
//     karakuri_collect FILE FAMILY SOURCE test wedged
//     karakuri_collect FILE FAMILY SOURCE throw robot.xml 0.003 7 400
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <karakuri/karakuri.h>
#include <karakuri/load.h>
#include <karakuri/random.h>
#include <karakuri/simulate.h>

#include "collect.h"
#include "harness.h"

/// main() of tools/cli/main.c, compiled under this name.
int karakuri_tool_main(int argc, char **argv);

/// A model above a floor, whirled through the air, with noise in its joints and actuators.
typedef struct thrown {
    kk_spec *spec;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_random random;
    double *control, *tau;
} thrown;

static double draw(thrown *t, double reach) {
    return kk_random_next_between(&t->random, -reach, reach);
}

/// Free bases are lifted and whirled; joints get a share of what a second turns.
static void whirl(thrown *t) {
    double *q = kk_state_q(t->state), *v = kk_state_v(t->state);
    const int nv = kk_model_nv(t->model), nq = kk_model_nq(t->model);
    const double reach = kk_random_next_between(&t->random, 0, 4);
    // a first joint that is free: a quaternion, then the place
    const bool is_free = nq > nv && nq >= 7 && fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < 1e-9;
    for (int i = 0; i < nv; i++) {
        v[i] = draw(t, is_free && i < 3 ? 2 * reach : reach);
    }
    if (is_free) {
        double size = 0, turn[4];
        for (int i = 0; i < 4; i++) {
            turn[i] = draw(t, 1);
            size += turn[i] * turn[i];
        }
        for (int i = 0; i < 4; i++) {
            q[i] = turn[i] / sqrt(size);
        }
        q[6] += kk_random_next_between(&t->random, 0.02, 0.4);
    }
}

static int throw_model(thrown *t, const char *path, double dt, uint64_t seed, int steps) {
    kk_error error = {0};
    const kk_load_options load = {.add_floor = 1, .place_on_floor = 1, .clean_collisions = 1};
    const kk_step_options options = {.timestep = dt};
    t->random = (kk_random){.seed = seed, .stream = 1};
    kk_status status = kk_load_file(path, &load, NULL, &t->spec, NULL, &error);
    status = status != KK_OK ? status : kk_model_compile(t->spec, NULL, &t->model, &error);
    status = status != KK_OK ? status : kk_state_create(t->model, NULL, &t->state);
    status = status != KK_OK ? status : kk_simulator_create(t->model, &options, NULL, &t->simulator, &error);
    if (status != KK_OK) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return 1;
    }
    const int nu = kk_model_nactuator(t->model), nv = kk_model_nv(t->model);
    t->control = calloc((size_t)nu + 1, sizeof *t->control);
    t->tau = calloc((size_t)nv + 1, sizeof *t->tau);
    whirl(t);
    for (int k = 0; k < steps && t->control && t->tau; k++) {
        for (int i = 0; i < nu && k % 20 == 0; i++) {
            t->control[i] = draw(t, 1);
        }
        const kk_input input = {.control = t->control};
        if (kk_step(t->model, t->state, t->simulator, &input, &error) != KK_OK) {
            fprintf(stderr, "%s, step %d: %s\n", path, k, error.text);
            return 0;
        }
    }
    return 0;
}

static int run_throw(int argc, char **argv) {
    thrown t = {0};
    if (argc < 4) {
        return 2;
    }
    const int code =
        throw_model(&t, argv[0], strtod(argv[1], NULL), strtoull(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10));
    kk_simulator_free(t.simulator);
    kk_state_free(t.state);
    kk_model_free(t.model);
    kk_spec_free(t.spec);
    free(t.control);
    free(t.tau);
    return code;
}

int main(int argc, char **argv) {
    if (argc < 5 || !collect_begin(argv[1], argv[2], argv[3])) {
        fprintf(stderr, "karakuri_collect FILE FAMILY SOURCE cli|test|throw WORDS\n");
        return 2;
    }
    int code = 2;
    if (strcmp(argv[4], "cli") == 0) {
        code = karakuri_tool_main(argc - 4, argv + 4);
    } else if (strcmp(argv[4], "test") == 0) {
        code = kk_test_main(argc - 4, argv + 4);
    } else if (strcmp(argv[4], "throw") == 0) {
        code = run_throw(argc - 5, argv + 5);
    }
    collect_end();
    return code;
}
