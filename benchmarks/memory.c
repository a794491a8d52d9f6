/// Bytes that a state and a simulator of a model take, as their allocators count them: memory FILE STEPS [BUDGET]
#include <karakuri/karakuri.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct counted {
    size_t now, most;
} counted;

static void *count_allocation(void *user, size_t size, size_t alignment) {
    counted *c = user;
    void *block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    c->now += block ? size : 0;
    c->most = c->now > c->most ? c->now : c->most;
    return block;
}

static void count_release(void *user, void *block, size_t size) {
    counted *c = user;
    c->now -= size;
    free(block);
}

int main(int count, char **words) {
    counted of_state = {0}, of_simulator = {0};
    const kk_allocator a = {count_allocation, count_release, &of_state};
    const kk_allocator b = {count_allocation, count_release, &of_simulator};
    const int steps = count > 2 ? atoi(words[2]) : 0;
    const kk_step_options options = {.budget = count > 3 ? atoi(words[3]) : 0};
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
        const int contacts = i > 0 ? kk_simulator_contact_count(simulator) : 0;
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
           kk_model_nv(model), most, in_use, saved, bar, of_simulator.most);
    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(model);
    kk_spec_free(spec);
    return 0;
}
