/// Bytes that a state and a simulator of a model take, as their allocators count them: memory FILE STEPS [SWEEPS]
/// Processor time and largest resident set of a program: memory --run PROGRAM [WORDS]. (A process has the resident set of its parent before it is another program;
/// this one's is small.)
#define _DEFAULT_SOURCE // wait4
#include <karakuri/karakuri.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct counted {
    size_t now;
} counted;

static void *count_allocation(void *user, size_t size, size_t alignment) {
    counted *c = user;
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    c->now += block ? size : 0;
    return block;
}

static void count_release(void *user, void *block, size_t size) {
    counted *c = user;
    c->now -= size;
    free(block);
}

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static int run(char **words) {
    struct rusage used;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        return 1;
    }
    printf("{\"seconds\": %.6f, \"resident\": %ld}\n", seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
           1024 * used.ru_maxrss);
    return 0;
}

int main(int count, char **words) {
    if (count > 2 && strcmp(words[1], "--run") == 0) {
        return run(words + 2);
    }
    counted of_state = {0}, of_simulator = {0};
    const kk_allocator a = {count_allocation, count_release, &of_state};
    const kk_allocator b = {count_allocation, count_release, &of_simulator};
    const int steps = count > 2 ? atoi(words[2]) : 0;
    const int sweeps = count > 3 ? atoi(words[3]) : 0;
    const kk_step_options options = {.effort = sweeps > 0 ? KK_EFFORT_SWEEPS : KK_EFFORT_TOLERANCE,
                                     .iterations = sweeps};
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    kk_error error = {.status = KK_OK};
    size_t in_use = 0, saved = 0, bar = 0;
    int most = 0;
    if (count < 2 || kk_load_file(words[1], NULL, NULL, &spec, NULL, &error) != KK_OK ||
        kk_model_compile(spec, NULL, &model, &error) != KK_OK || kk_state_create(model, &a, &state) != KK_OK ||
        kk_simulator_create(model, &options, &b, &simulator, &error) != KK_OK) {
        fprintf(stderr, "memory: %s\n", count < 2 ? "which file?" : error.text);
        return 1;
    }
    for (int i = 0; i <= steps; i++) {
        const int contacts = i > 0 ? kk_simulator_ncontact(simulator) : 0;
        most = contacts > most ? contacts : most;
        if (of_state.now > in_use) {
            in_use = of_state.now;
            bar = 8000 + 200 * (size_t)most;
        }
        saved = kk_state_saved_size(state) > saved ? kk_state_saved_size(state) : saved;
        if (i < steps && kk_step(model, state, simulator, NULL, &error) != KK_OK) {
            fprintf(stderr, "memory: %s\n", error.text);
            return 1;
        }
    }
    printf("{\"nv\": %d, \"contacts\": %d, \"state\": %zu, \"saved\": %zu, \"state_bar\": %zu, \"simulator\": %zu}\n",
           kk_model_nv(model), most, in_use, saved, bar, of_simulator.now);
    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(model);
    kk_spec_free(spec);
    return 0;
}
