// Optimizers: making, bounds, ranking. The searches are in cma_es.c and genetic.c.
//
// A search works in units of the first step around the start, without bounds; a candidate that leaves them is folded back at the border, like a
// ray at a mirror, so that the search sees a continuous cost everywhere.
#include "motion/optimizer.h"

#include <karakuri/elementary.h>
#include <string.h>

#include "base/error.h"
#include "base/missing.h"

static int is_finite(double x) {
    return __builtin_isfinite(x);
}

// ---- making

static kk_status check(const kk_optimizer_def *def, kk_error *error) {
    if (def->n < 1 || def->n > 1000 || def->population < 0 || def->population == 1 || def->population > 100000) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "optimizer: %d parameters and a population of %d; give 1 … 1000, and 0 or 2 … 100000",
                             def->n, def->population);
    }
    if ((unsigned)def->type > KK_OPTIMIZE_GENETIC) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "optimizer: type %d is none of kk_optimizer_type",
                             (int)def->type);
    }
    for (int k = 0; k < def->n; k++) {
        const int is_bounded = def->lower && def->upper;
        if ((is_bounded && !(def->lower[k] < def->upper[k])) || (def->step && !(def->step[k] > 0)) ||
            (def->start && !is_finite(def->start[k]))) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "optimizer: parameter %d: bounds must rise, steps be positive, starts finite", k);
        }
    }
    return KK_OK;
}

static int population_of(const kk_optimizer_def *def) {
    const int genetic = 20 + 4 * def->n, cma = 4 + (int)(3 * kk_log(def->n));
    return def->population ? def->population : def->type == KK_OPTIMIZE_GENETIC ? genetic : cma;
}

static void place(kki_layout *layout, kk_optimizer *o) {
    const size_t n = (size_t)o->n, p = (size_t)o->population;
    kki_layout_take(layout, 1, sizeof *o);
    double **const small[] = {&o->lower, &o->upper, &o->start, &o->step, &o->best};
    double **const large[] = {&o->asked, &o->own, &o->parent};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        KKI_LAYOUT_ARRAY(layout, *small[i], n);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        KKI_LAYOUT_ARRAY(layout, *large[i], p * n);
    }
    KKI_LAYOUT_ARRAY(layout, o->cost, p);
    KKI_LAYOUT_ARRAY(layout, o->parent_cost, p);
    KKI_LAYOUT_ARRAY(layout, o->order, p);
    if (o->type == KK_OPTIMIZE_CMA_ES) {
        kki_cma_place(layout, o);
    }
}

static void fill(kk_optimizer *o, const kk_optimizer_def *def) {
    for (int k = 0; k < o->n; k++) {
        o->lower[k] = def->lower ? def->lower[k] : -__builtin_inf();
        o->upper[k] = def->upper ? def->upper[k] : __builtin_inf();
        const int is_bounded = is_finite(o->lower[k]) && is_finite(o->upper[k]);
        o->start[k] = def->start ? def->start[k] : is_bounded ? 0.5 * (o->lower[k] + o->upper[k]) : 0;
        o->step[k] = def->step ? def->step[k] : is_bounded ? 0.3 * (o->upper[k] - o->lower[k]) : 1;
    }
    o->best_cost = __builtin_inf();
    memcpy(o->best, o->start, (size_t)o->n * sizeof *o->best);
}

kk_status kk_optimizer_create(const kk_optimizer_def *def, const kk_allocator *allocator, kk_optimizer **optimizer,
                              kk_error *error) {
    if (kki_is_missing(def, optimizer)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_status status = check(def, error);
    *optimizer = NULL;
    if (status) {
        return status;
    }
    kk_optimizer plan = {.allocator = kki_allocator_or_default(allocator),
                         .type = def->type,
                         .n = def->n,
                         .population = population_of(def),
                         .seed = def->seed};
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, &plan);
    plan.size = layout.size;
    kk_optimizer *o = kki_allocate_zeroed(&plan.allocator, layout.size);
    if (!o) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "optimizer: no memory for %d candidates", plan.population);
    }
    layout = kki_layout_over(o);
    place(&layout, &plan);
    *o = plan;
    fill(o, def);
    if (o->type == KK_OPTIMIZE_CMA_ES) {
        kki_cma_start(o);
    }
    *optimizer = o;
    return KK_OK;
}

void kk_optimizer_free(kk_optimizer *optimizer) {
    if (optimizer) {
        const kk_allocator allocator = optimizer->allocator;
        kki_release(&allocator, optimizer, optimizer->size);
    }
}

int kk_optimizer_population(const kk_optimizer *optimizer) {
    return optimizer->population;
}
int kk_optimizer_generation(const kk_optimizer *optimizer) {
    return optimizer->generation;
}

// ---- asking

/// Back into the bounds, mirrored at them.
static double fold(double x, double lower, double upper) {
    if (is_finite(lower) && is_finite(upper)) {
        const double width = upper - lower;
        double way = kk_fmod(x - lower, 2 * width);
        way = way < 0 ? way + 2 * width : way;
        x = lower + (way > width ? 2 * width - way : way);
        return x < lower ? lower : x > upper ? upper : x;
    }
    x = x < lower ? 2 * lower - x : x;
    return x > upper ? 2 * upper - x : x;
}

void kk_optimizer_ask(kk_optimizer *optimizer, double *candidates) {
    kk_optimizer *o = optimizer;
    const size_t n = (size_t)o->n, all = (size_t)o->population * n;
    if (!o->is_asked) {
        (o->type == KK_OPTIMIZE_GENETIC ? kki_genetic_ask : kki_cma_ask)(o);
        for (size_t i = 0; i < all; i++) {
            const size_t k = i % n;
            o->asked[i] = fold(o->start[k] + o->step[k] * o->own[i], o->lower[k], o->upper[k]);
        }
        o->is_asked = 1;
    }
    if (candidates != o->asked) { // kk_optimizer_run works on them in place
        memcpy(candidates, o->asked, all * sizeof *candidates);
    }
}

// ---- telling

/// By rising cost; equals keep their order.
static void rank(kk_optimizer *o) {
    for (int i = 0; i < o->population; i++) {
        int k = i;
        for (; k > 0 && o->cost[o->order[k - 1]] > o->cost[i]; k--) {
            o->order[k] = o->order[k - 1];
        }
        o->order[k] = i;
    }
}

void kk_optimizer_tell(kk_optimizer *optimizer, const double *cost) {
    kk_optimizer *o = optimizer;
    if (!o->is_asked) {
        return; // there is nothing that these costs could be of
    }
    for (int i = 0; i < o->population; i++) {
        o->cost[i] = cost[i] == cost[i] ? cost[i] : __builtin_inf();
    }
    rank(o);
    const int first = o->order[0];
    if (o->cost[first] < o->best_cost) {
        o->best_cost = o->cost[first];
        memcpy(o->best, o->asked + (size_t)first * (size_t)o->n, (size_t)o->n * sizeof *o->best);
    }
    (o->type == KK_OPTIMIZE_GENETIC ? kki_genetic_tell : kki_cma_tell)(o);
    o->is_asked = 0;
    o->generation++;
}

double kk_optimizer_best(const kk_optimizer *optimizer, double *x) {
    if (x) {
        memcpy(x, optimizer->best, (size_t)optimizer->n * sizeof *x);
    }
    return optimizer->best_cost;
}

/// Root mean square of the last candidates around their mean.
double kk_optimizer_spread(const kk_optimizer *optimizer) {
    const kk_optimizer *o = optimizer;
    const size_t n = (size_t)o->n, p = (size_t)o->population;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        double mean = 0;
        for (size_t i = 0; i < p; i++) {
            mean += o->own[i * n + k] / (double)p;
        }
        for (size_t i = 0; i < p; i++) {
            sum += (o->own[i * n + k] - mean) * (o->own[i * n + k] - mean);
        }
    }
    return kk_sqrt(sum / (double)(n * p));
}

kk_status kk_optimizer_run(kk_optimizer *optimizer, kk_cost *cost, void *user, int generations, kk_error *error) {
    if (kki_is_missing(optimizer, cost)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_optimizer *o = optimizer;
    const size_t n = (size_t)o->n;
    kk_status status = KK_OK;
    for (int g = 0; g < generations && !status; g++) {
        kk_optimizer_ask(o, o->asked);
        for (int i = 0; i < o->population && !status; i++) {
            status = cost(user, o->asked + (size_t)i * n, &o->cost[i], error);
        }
        if (!status) {
            kk_optimizer_tell(o, o->cost);
        }
    }
    return status;
}
