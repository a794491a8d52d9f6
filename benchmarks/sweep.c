// The loop in C that a sweep is measured against: every point of a table, one after the other, on one thread: vary, step, write a row.
//
//     sweep MODEL TABLE STEPS OUT     TABLE: doubles, two a point: mass of the first body behind the world, start of the first coordinate
//
// Prints the seconds that the loop took, of the wall and of the processor, and writes the hash of every last state.
#define _XOPEN_SOURCE 700
#include <karakuri/karakuri.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(kk_status status, const kk_error *error) {
    if (status != KK_OK) {
        fprintf(stderr, "sweep: %s\n", error->text);
        exit(1);
    }
}

static double *read_table(const char *path, long *count) {
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *count = ftell(file) / (long)sizeof(double) / 2;
    rewind(file);
    double *table = malloc((size_t)*count * 2 * sizeof *table);
    if (fread(table, 2 * sizeof *table, (size_t)*count, file) != (size_t)*count) {
        exit(1);
    }
    fclose(file);
    return table;
}

typedef struct bench {
    kk_spec *spec;
    kk_model *model;
    kk_simulator *simulator;
    double mass;
    kk_error error;
} bench;

/// Another mass, and moments in proportion.
static kk_model *vary(bench *b, double mass) {
    kk_inertia *inertia = &kk_spec_body(b->spec, 1)->inertia;
    const kk_inertia before = *inertia;
    double *moment = (double *)&inertia->moment;
    kk_model *variation = NULL;
    for (size_t k = 0; k < sizeof inertia->moment / sizeof(double); k++) {
        moment[k] *= mass / before.mass;
    }
    inertia->mass = mass;
    must(kk_model_vary(b->model, b->spec, NULL, &variation, &b->error), &b->error);
    *inertia = before;
    return variation;
}

static uint64_t run_point(bench *b, const double *x, long steps) {
    kk_model *variation = vary(b, x[0]);
    kk_state *state = NULL;
    must(kk_state_create(variation, NULL, &state), &b->error);
    kk_state_q(state)[0] = x[1];
    for (long i = 0; i < steps; i++) {
        must(kk_step(variation, state, b->simulator, NULL, &b->error), &b->error);
    }
    const uint64_t hash = kk_state_hash(state);
    kk_state_free(state);
    kk_model_free(variation);
    return hash;
}

int main(int argc, char **argv) {
    bench b = {0};
    long count;
    if (argc != 5) {
        return 2;
    }
    double *table = read_table(argv[2], &count);
    must(kk_load_file(argv[1], NULL, NULL, &b.spec, NULL, &b.error), &b.error);
    must(kk_model_compile(b.spec, NULL, &b.model, &b.error), &b.error);
    must(kk_simulator_create(b.model, NULL, NULL, &b.simulator, &b.error), &b.error);
    FILE *out = fopen(argv[4], "wb");
    const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < count; i++) {
        const uint64_t hash = run_point(&b, table + 2 * i, atol(argv[3]));
        fwrite(&hash, sizeof hash, 1, out);
    }
    fclose(out);
    printf("%.6f %.6f\n", now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    kk_simulator_free(b.simulator);
    kk_model_free(b.model);
    kk_spec_free(b.spec);
    free(table);
    return 0;
}
