// Forward dynamics of many robots by one kernel variant, for counting instructions: lanes VARIANT CALLS. Each call is of 64 states; lanes_end marks its end.
#include <karakuri/karakuri.h>
#include <stdio.h>
#include <stdlib.h>

#include "robots.h"

enum { STATES = 64 };

__attribute__((noinline)) void lanes_end(void) {
    __asm__ volatile("");
}

static double *fill(int rows, uint64_t stream) {
    double *x = malloc(sizeof *x * (size_t)rows * STATES);
    for (int i = 0; i < rows * STATES; i++) {
        x[i] = kk_random_uniform_at(1, stream, (uint64_t)i) - 0.5;
    }
    return x;
}

int main(int argc, char **argv) {
    kk_spec *spec = NULL;
    kk_model *m = NULL;
    kk_batch *batch = NULL;
    kk_error error = {0};
    if (argc != 3 || kk_spec_create(NULL, &spec) != KK_OK || robots_find("humanoid36")->build(spec, &error) != KK_OK ||
        kk_model_compile(spec, NULL, &m, &error) != KK_OK || kk_batch_create(m, NULL, &batch) != KK_OK ||
        kk_batch_choose(batch, argv[1]) != KK_OK) {
        fprintf(stderr, "lanes: no variant %s\n", argc > 1 ? argv[1] : "given");
        return 2;
    }
    double *q = fill(kk_model_nq(m), 1), *v = fill(kk_model_nv(m), 2), *tau = fill(kk_model_nv(m), 3),
           *a = fill(kk_model_nv(m), 4);
    for (int k = 0; k < STATES; k++) { // the root's quaternion
        for (int i = 0; i < 4; i++) {
            q[i * STATES + k] = i == 0;
        }
    }
    for (int i = 0; i < atoi(argv[2]); i++) {
        kk_batch_forward_dynamics(m, batch, KK_BY_COORDINATE, STATES, q, v, tau, a);
        lanes_end();
    }
    printf("%016llx\n", (unsigned long long)kk_hash_doubles(a, (size_t)kk_model_nv(m) * STATES, 0));
    free(q);
    free(v);
    free(tau);
    free(a);
    kk_batch_free(batch);
    kk_model_free(m);
    kk_spec_free(spec);
    return 0;
}
