// A small genetic algorithm on real numbers: the best live on, the others are children of two winners of tournaments, blended (BLX-α, Eshelman
// and Schaffer 1993) and mutated by steps that shrink with the generations.
#include <karakuri/elementary.h>
#include <karakuri/random.h>
#include <string.h>

#include "motion/optimizer.h"

enum { CONTENDERS = 3, ELITE = 2 };
static const double BLEND = 0.4;

/// The first generation: the start itself, and others around it.
static void settle(kk_optimizer *o) {
    const size_t n = (size_t)o->n;
    for (size_t i = 0; i < (size_t)o->population; i++) {
        for (size_t k = 0; k < n; k++) {
            o->own[i * n + k] = i == 0 ? 0 : kk_random_normal_at(o->seed, 0, i * n + k);
        }
    }
}

/// The best of a few drawn at random.
static size_t winner(const kk_optimizer *o, kk_random *random) {
    size_t best = 0;
    for (int i = 0; i < CONTENDERS; i++) {
        const size_t one = (size_t)kk_random_next_below(random, (uint64_t)o->population);
        best = i == 0 || o->parent_cost[one] < o->parent_cost[best] ? one : best;
    }
    return best;
}

static void breed(kk_optimizer *o, size_t child) {
    const size_t n = (size_t)o->n;
    kk_random random = {o->seed, ((uint64_t)o->generation << 20) + child + 1, 0};
    const double *a = o->parent + winner(o, &random) * n, *b = o->parent + winner(o, &random) * n;
    const double reach = 0.1 / (1 + 0.02 * o->generation), often = 1 / (double)n;
    for (size_t k = 0; k < n; k++) {
        const double mixed = a[k] + (b[k] - a[k]) * ((1 + 2 * BLEND) * kk_random_next_uniform(&random) - BLEND);
        const int mutates = kk_random_next_uniform(&random) < often;
        // mostly small, now and then across a valley: the tails of Cauchy's distribution, cut off
        const double jump = kk_random_next_normal(&random) / (0.05 + kk_random_next_uniform(&random));
        o->own[child * n + k] = mixed + (mutates ? reach * jump : 0);
    }
}

void kki_genetic_ask(kk_optimizer *o) {
    if (o->generation == 0) {
        settle(o);
        return;
    }
    const size_t n = (size_t)o->n;
    // the last generation stands in `parent`, ordered by cost
    memcpy(o->own, o->parent, ELITE * n * sizeof *o->own);
    for (size_t i = ELITE; i < (size_t)o->population; i++) {
        breed(o, i);
    }
}

void kki_genetic_tell(kk_optimizer *o) {
    const size_t n = (size_t)o->n;
    for (int i = 0; i < o->population; i++) {
        memcpy(o->parent + (size_t)i * n, o->own + (size_t)o->order[i] * n, n * sizeof *o->own);
        o->parent_cost[i] = o->cost[o->order[i]];
    }
}
