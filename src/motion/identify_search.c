/// Identification by output error: Gauss-Newton with Levenberg's damping on the differences between log and simulation,
///     min Σ ((measured − simulated)/σ)²,   (JᵀJ + λ diag JᵀJ) δ = Jᵀ r.
/// J is by differences, one simulation a parameter. σ of a column is the spread of what is left of it in the round before, so that columns count by their own noise
/// and units do not matter (Beck and Arnold 1977, 6.7); at first it is the column's span. Parameters stay above zero.
#include <karakuri/dynamics.h>
#include <karakuri/elementary.h>
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"
#include "motion/identify.h"

enum { ROUNDS = 30, TRIES = 12 };
static const double DIFFERENCE = 1e-4, LEAST = 1e-9;
static const double SETTLED = 1e-6; ///< largest change as a share
static const double FLAT = 1e-5;    ///< of the cost, that a round gains: there is nothing more to be had

typedef struct search {
    kki_identifier id;
    kk_spec *spec;
    int width;                ///< measured numbers of a row: nv of q, and of v and tau where they are there
    size_t numbers;           ///< of all rows
    double *left, *other, *J; ///< [numbers], [numbers], [count × numbers]
    double *sigma, *span;     ///< [width]
    double *control, *q, *v;  ///< of a step; of the first row
    kk_parameter *trial;      ///< [count]
    int simulations;
    void *block;
    size_t size;
} search;

static void place(kki_layout *layout, search *s) {
    const kk_measurement *log = s->id.log;
    const size_t n = (size_t)s->id.count;
    KKI_LAYOUT_ARRAY(layout, s->left, s->numbers);
    KKI_LAYOUT_ARRAY(layout, s->other, s->numbers);
    KKI_LAYOUT_ARRAY(layout, s->J, n * s->numbers);
    KKI_LAYOUT_ARRAY(layout, s->sigma, (size_t)s->width);
    KKI_LAYOUT_ARRAY(layout, s->span, (size_t)s->width);
    KKI_LAYOUT_ARRAY(layout, s->control, (size_t)kk_model_nactuator(s->id.model) + 1);
    KKI_LAYOUT_ARRAY(layout, s->q, (size_t)log->coordinates + 1);
    KKI_LAYOUT_ARRAY(layout, s->v, (size_t)log->velocities + 1);
    KKI_LAYOUT_ARRAY(layout, s->trial, n);
}

// ---- a simulation beside the log

/// One candidate under way.
typedef struct candidate {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
} candidate;

static void end_candidate(candidate *c) {
    kk_simulator_free(c->simulator);
    kk_state_free(c->state);
    kk_model_free(c->model);
}

static kk_status begin_candidate(search *s, candidate *c, kk_error *error) {
    const kk_step_options options = {.timestep = s->id.options.timestep};
    kk_status status = kk_parameters_write(s->spec, s->trial, s->id.count, error);
    *c = (candidate){NULL, NULL, NULL};
    status = status ? status : kk_model_compile(s->spec, NULL, &c->model, error);
    status = status ? status : kk_state_create(c->model, NULL, &c->state);
    status = status ? status : kk_simulator_create(c->model, &options, NULL, &c->simulator, error);
    if (!status) {
        memcpy(kk_state_q(c->state), s->q, (size_t)s->id.log->coordinates * sizeof *s->q);
        memcpy(kk_state_v(c->state), s->v, (size_t)s->id.log->velocities * sizeof *s->v);
        kk_state_set_time(c->state, s->id.log->time[0]);
    }
    return status;
}

/// Control of the step that ends at a time between two rows.
static void take_control(search *s, int row, double time) {
    const kk_measurement *log = s->id.log;
    const size_t n = (size_t)log->controls;
    const double *before = log->control + (size_t)row * n, *after = before + n;
    const double part = (time - log->time[row]) / (log->time[row + 1] - log->time[row]);
    for (size_t i = 0; i < n; i++) {
        s->control[i] = part >= 1 ? after[i] : before[i] + part * (after[i] - before[i]);
    }
}

/// Steps from a row to the next. The last step ends at the row to rounding.
static kk_status advance(search *s, candidate *c, int row, kk_error *error) {
    const kk_measurement *log = s->id.log;
    const double dt = s->id.options.timestep > 0 ? s->id.options.timestep : kk_model_options(c->model).timestep;
    const double span = log->time[row + 1] - log->time[row];
    const int steps = (int)(span / dt + 0.5);
    kk_status status = KK_OK;
    for (int i = 1; i <= steps && !status; i++) {
        if (log->control) {
            take_control(s, row, i == steps ? log->time[row + 1] : log->time[row] + i * span / steps);
        }
        const kk_input input = {.control = s->control};
        status = kk_step(c->model, c->state, c->simulator, &input, error);
    }
    return status;
}

/// Measured minus simulated numbers of a row, unscaled.
static void take_row(const search *s, candidate *c, int row, double *left) {
    const kk_measurement *log = s->id.log;
    const size_t nq = (size_t)log->coordinates, nv = (size_t)log->velocities, at = (size_t)row;
    kk_difference(c->model, kk_state_q_const(c->state), log->q + at * nq, left);
    left += nv;
    for (size_t k = 0; k < nv && log->v; k++) {
        left[k] = log->v[at * nv + k] - kk_state_v_const(c->state)[k];
    }
    left += log->v ? nv : 0;
    const double *force = row > 0 ? kk_simulator_force(c->simulator, KK_FORCE_ACTUATOR) : NULL;
    for (size_t k = 0; k < nv && log->tau; k++) {
        left[k] = force ? log->tau[at * nv + k] - force[k] : 0; // before the first step there is none
    }
}

/// All differences with the trial's parameters. @param left [numbers] result
static kk_status simulate(search *s, double *left, kk_error *error) {
    candidate c;
    kk_status status = begin_candidate(s, &c, error);
    s->simulations++;
    for (int row = 0; row < s->id.log->count && !status; row++) {
        status = row > 0 ? advance(s, &c, row - 1, error) : KK_OK;
        if (!status) {
            take_row(s, &c, row, left + (size_t)row * (size_t)s->width);
        }
    }
    end_candidate(&c);
    return status;
}

// ---- weights

static void find_span(const double *rows, int count, int width, double *span) {
    for (int k = 0; k < width; k++) {
        double low = rows[k], high = rows[k];
        for (int i = 1; i < count; i++) {
            const double x = rows[(size_t)i * (size_t)width + (size_t)k];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        span[k] = high - low;
    }
}

/// Spans of the measured numbers: those of configurations as differences from the first row.
static void find_spans(search *s) {
    const kk_measurement *log = s->id.log;
    const int nv = log->velocities;
    for (int i = 0; i < log->count; i++) {
        kk_difference(s->id.model, log->q, log->q + (size_t)i * (size_t)log->coordinates,
                      s->other + (size_t)i * (size_t)nv);
    }
    find_span(s->other, log->count, nv, s->span);
    if (log->v) {
        find_span(log->v, log->count, nv, s->span + nv);
    }
    if (log->tau) {
        find_span(log->tau, log->count, nv, s->span + (log->v ? 2 : 1) * nv);
    }
    memcpy(s->sigma, s->span, (size_t)s->width * sizeof *s->sigma);
}

/// Spread of what is left of every column; what did not move in the log tells nothing.
static void weigh(search *s, const double *left) {
    for (int k = 0; k < s->width; k++) {
        double sum = 0;
        for (size_t i = (size_t)k; i < s->numbers; i += (size_t)s->width) {
            sum += left[i] * left[i];
        }
        const double sigma = kk_sqrt(sum / s->id.log->count), least = LEAST * s->span[k];
        s->sigma[k] = s->span[k] > 0 ? (sigma > least ? sigma : least) : 0;
    }
}

static double weight(const search *s, size_t number) {
    const double sigma = s->sigma[number % (size_t)s->width];
    return sigma > 0 ? 1 / sigma : 0;
}

static double cost_of(const search *s, const double *left) {
    double sum = 0;
    for (size_t i = 0; i < s->numbers; i++) {
        const double x = left[i] * weight(s, i);
        sum += x * x;
    }
    return sum;
}

// ---- Gauss and Newton

static double *column_of(const search *s, int i) {
    return s->J + (size_t)i * s->numbers;
}

/// How a number's unit is judged where it is zero.
static double scale_of(const search *s, int i, double value) {
    const kk_parameter *p = &s->id.parameter[i];
    if (value > 0) {
        return value;
    }
    return p->type == KK_PARAMETER_ARMATURE ? 1e-3 : 1e-2;
}

static kk_status differentiate(search *s, const kk_parameter *at, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < s->id.count && !status; i++) {
        const double step = DIFFERENCE * scale_of(s, i, at[i].value);
        double *column = column_of(s, i);
        memcpy(s->trial, at, (size_t)s->id.count * sizeof *at);
        s->trial[i].value += step;
        status = simulate(s, column, error);
        for (size_t k = 0; k < s->numbers && !status; k++) {
            column[k] = (s->left[k] - column[k]) / step; // ∂ simulated / ∂ parameter
        }
    }
    return status;
}

static void normal_equations(const search *s, double *N, double *y) {
    const int n = s->id.count;
    memset(N, 0, (size_t)n * (size_t)n * sizeof *N);
    memset(y, 0, (size_t)n * sizeof *y);
    for (size_t k = 0; k < s->numbers; k++) {
        const double w = weight(s, k) * weight(s, k);
        for (int i = 0; i < n && w > 0; i++) {
            const double c = w * column_of(s, i)[k];
            for (int j = 0; j <= i; j++) {
                N[i * n + j] += c * column_of(s, j)[k];
            }
            y[i] += c * s->left[k];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            N[i * n + j] = N[j * n + i];
        }
    }
}

/// Values after a step, not below zero. @return the largest change as a share
static double take_step(search *s, const kk_parameter *at, const double *step) {
    double most = 0;
    memcpy(s->trial, at, (size_t)s->id.count * sizeof *at);
    for (int i = 0; i < s->id.count; i++) {
        const int is_scaled = at[i].type == KK_PARAMETER_MASS || at[i].type == KK_PARAMETER_GAIN;
        const double least = is_scaled ? 0.1 * at[i].value : 0, to = at[i].value + step[i];
        s->trial[i].value = to > least ? to : least;
        const double share = __builtin_fabs(s->trial[i].value - at[i].value) / scale_of(s, i, at[i].value);
        most = share > most ? share : most;
    }
    return most;
}

/// One round: tries steps of rising damping until one is better. @param change  the largest change as a share
static kk_status improve(search *s, kk_parameter *at, double *damping, double *change, kk_error *error) {
    const int n = s->id.count;
    double N[KKI_PARAMETERS * KKI_PARAMETERS], damped[KKI_PARAMETERS * KKI_PARAMETERS], y[KKI_PARAMETERS],
        step[KKI_PARAMETERS], diagonal[KKI_PARAMETERS];
    kk_status status = differentiate(s, at, error);
    weigh(s, s->left);
    normal_equations(s, N, y);
    const double before = cost_of(s, s->left);
    for (int tries = 0; tries < TRIES && !status; tries++, *damping *= 10) {
        memcpy(damped, N, sizeof damped);
        memcpy(step, y, sizeof step);
        for (int i = 0; i < n; i++) {
            damped[i * n + i] *= 1 + *damping;
        }
        status = kki_solve_normal(&s->id, damped, step, diagonal, error);
        *change = status ? 0 : take_step(s, at, step);
        // a candidate that cannot be simulated is worse
        const double after = !status && simulate(s, s->other, NULL) == KK_OK ? cost_of(s, s->other) : before;
        if (after < before) {
            *change = after > (1 - FLAT) * before ? 0 : *change;
            memcpy(at, s->trial, (size_t)n * sizeof *at);
            memcpy(s->left, s->other, s->numbers * sizeof *s->left);
            *damping *= 0.1;
            return KK_OK;
        }
        if (*change < SETTLED) {
            break;
        }
    }
    *change = 0; // no step is better: this is the place
    return status;
}

/// Deviations by the inverse of the normal equations, whose weights make the differences' spread one.
static kk_status judge(search *s, kk_parameter *at, kk_error *error) {
    double N[KKI_PARAMETERS * KKI_PARAMETERS], y[KKI_PARAMETERS], diagonal[KKI_PARAMETERS];
    weigh(s, s->left);
    normal_equations(s, N, y);
    const kk_status status = kki_solve_normal(&s->id, N, y, diagonal, error);
    for (int i = 0; i < s->id.count && !status; i++) {
        at[i].deviation = kk_sqrt(diagonal[i]);
    }
    return status;
}

static double share_left(const search *s) {
    double sum = 0;
    int columns = 0;
    for (int k = 0; k < s->width; k++) {
        sum += s->span[k] > 0 ? s->sigma[k] / s->span[k] : 0;
        columns += s->span[k] > 0;
    }
    return columns ? sum / columns : 0;
}

static void take_start(search *s) {
    const kk_measurement *log = s->id.log;
    kki_smooth_row(&s->id, 0, s->q, s->v, s->other);
    if (log->start_q) {
        memcpy(s->q, log->start_q, (size_t)log->coordinates * sizeof *s->q);
    }
    if (log->start_v) {
        memcpy(s->v, log->start_v, (size_t)log->velocities * sizeof *s->v);
    }
}

static kk_status run(search *s, kk_parameter *at, kk_identification *result, kk_error *error) {
    const int most = s->id.options.iterations > 0 ? s->id.options.iterations : ROUNDS;
    double damping = 1e-3, change = 1;
    kk_status status = KK_OK;
    int round = 0;
    find_spans(s);
    take_start(s);
    memcpy(s->trial, at, (size_t)s->id.count * sizeof *at);
    status = simulate(s, s->left, error);
    for (; round < most && change > SETTLED && !status; round++) {
        status = improve(s, at, &damping, &change, error);
    }
    status = status ? status : judge(s, at, error);
    if (!status && result) {
        *result = (kk_identification){
            .residual = share_left(s), .iterations = round, .simulations = s->simulations, .rows = s->id.log->count};
    }
    if (!status && change > SETTLED) {
        return kki_error_set(error, KK_NOT_CONVERGED,
                             "identify: the search has not settled after %d rounds; start nearer, or allow more",
                             round);
    }
    return status;
}

static kk_status make_room(search *s, const kk_spec *spec, kk_error *error) {
    const kk_measurement *log = s->id.log;
    s->width = log->velocities * (1 + (log->v != NULL) + (log->tau != NULL));
    s->numbers = (size_t)s->width * (size_t)log->count;
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, s);
    s->size = layout.size;
    s->block = kki_allocate_zeroed(&s->id.allocator, s->size);
    if (!s->block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "identify: no memory for %d rows", log->count);
    }
    layout = kki_layout_over(s->block);
    place(&layout, s);
    return kk_spec_clone(spec, NULL, &s->spec, error);
}

kk_status kk_identify_by_search(const kk_spec *spec, const kk_measurement *log, const kk_identify_options *options,
                                kk_parameter *parameter, int count, kk_identification *result, kk_error *error) {
    if (kki_is_missing(log)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    search s = {.block = NULL};
    kk_status status = kki_identifier_begin(&s.id, spec, log, options, parameter, count, error);
    status = status ? status : make_room(&s, spec, error);
    status = status ? status : run(&s, parameter, result, error);
    kk_spec_free(s.spec);
    kki_release(&s.id.allocator, s.block, s.size);
    kki_identifier_end(&s.id);
    return status;
}
