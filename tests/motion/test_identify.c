// Identification: hidden numbers of a robot from a log of it, by the regressor and by search; what is refused.
#include <karakuri/identify.h>
#include <karakuri/load.h>
#include <karakuri/random.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "our_models.h"

enum { ROWS = 800, EVERY = 5, HIDDEN = 8 };

/// Eight numbers of TITAN-VIII's left fore leg, and what is hidden behind them.
static const kk_parameter hidden[HIDDEN] = {
    {KK_PARAMETER_MASS, "left_fore_thigh", 0, 1.25, 0}, {KK_PARAMETER_MASS, "left_fore_shin", 0, 0.31, 0},
    {KK_PARAMETER_FRICTION, "left_fore_j2", 0, 0.6, 0}, {KK_PARAMETER_FRICTION, "left_fore_j3", 0, 0.35, 0},
    {KK_PARAMETER_DAMPING, "left_fore_j2", 0, 0.9, 0},  {KK_PARAMETER_DAMPING, "left_fore_j3", 0, 0.5, 0},
    {KK_PARAMETER_GAIN, "left_fore_j2", 0, 130, 0},     {KK_PARAMETER_GAIN, "left_fore_j3", 0, 70, 0},
};

/// TITAN-VIII hung up by its body, its drives soft position servos; NULL after a failure.
static kk_spec *hang_up(void) {
    kk_spec *spec = NULL;
    kk_error error = {0};
    const kk_load_options options = {.base = KK_BASE_FIXED};
    if (kk_load_file(OUR_MODEL("titan8/titan8.xml"), &options, NULL, &spec, NULL, &error)) {
        KK_FAIL("%s", error.text);
        return NULL;
    }
    for (int i = 0; i < kk_spec_actuator_count(spec); i++) {
        kk_actuator_def *a = kk_spec_actuator(spec, i);
        a->type = KK_ACTUATOR_POSITION;
        a->gain = a->force_upper > 1 ? 100 : 1;
        a->bias[1] = -a->gain;
        a->bias[2] = -0.03 * a->gain;
    }
    return spec;
}

/// A log with room of its own.
typedef struct log_of {
    kk_measurement m;
    double time[ROWS], start[64];
    double *q, *v, *tau, *control;
} log_of;

static void swing(const kk_model *model, double t, double *control) {
    memset(control, 0, (size_t)kk_model_nactuator(model) * sizeof *control);
    const char *const joints[] = {"left_fore_j1", "left_fore_j2", "left_fore_j3"};
    for (int k = 0; k < 3; k++) {
        const double rate = 2.1 + 1.7 * k;
        control[kk_model_find_actuator(model, joints[k])] =
            0.3 * (1 - cos(rate * t)) * (k == 2 ? -1 : 1) + 0.25 * sin((5.3 + k) * t) * (t < 1 ? t : 1);
    }
}

static void *doubles(size_t count) {
    return calloc(count + 1, sizeof(double));
}

/// The robot with its hidden numbers swings a leg; noise is a share of what a number goes through.
static void take_log(log_of *log, double noise) {
    kk_spec *spec = hang_up();
    kk_model *model = NULL;
    kk_state *s = NULL;
    kk_simulator *simulator = NULL;
    KK_CHECK_EQ_INT(kk_parameters_write(spec, hidden, HIDDEN, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(model, NULL, &s), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(model, NULL, NULL, &simulator, NULL), KK_OK);
    double step[32];
    const int nq = kk_model_nq(model), nv = kk_model_nv(model), nu = kk_model_nactuator(model);
    *log = (log_of){.q = doubles((size_t)(ROWS * nq)),
                    .v = doubles((size_t)(ROWS * nv)),
                    .tau = doubles((size_t)(ROWS * nv)),
                    .control = doubles((size_t)(ROWS * nu))};
    log->m = (kk_measurement){.count = ROWS,
                              .coordinates = nq,
                              .velocities = nv,
                              .controls = nu,
                              .q = log->q,
                              .v = log->v,
                              .tau = log->tau,
                              .control = log->control,
                              .start_q = log->start,
                              .start_v = log->start + nq};
    kk_model_start(model, log->start);
    for (int i = 0; i < ROWS; i++) {
        double *control = log->control + i * nu;
        swing(model, i * EVERY * 1e-3, control);
        for (int k = 1; k <= EVERY && i > 0; k++) { // straight between rows
            for (int j = 0; j < nu; j++) {
                step[j] = control[j - nu] + (control[j] - control[j - nu]) * k / EVERY;
            }
            const kk_input input = {.control = step};
            KK_CHECK_EQ_INT(kk_step(model, s, simulator, &input, NULL), KK_OK);
        }
        log->time[i] = i * EVERY * 1e-3;
        memcpy(log->q + i * nq, kk_state_q(s), (size_t)nq * sizeof(double));
        memcpy(log->v + i * nv, kk_state_v(s), (size_t)nv * sizeof(double));
        if (i > 0) {
            memcpy(log->tau + i * nv, kk_simulator_force(simulator, KK_FORCE_ACTUATOR), (size_t)nv * sizeof(double));
        }
    }
    memcpy(log->tau, log->tau + nv, (size_t)nv * sizeof(double));
    double *const rows[] = {log->q, log->v, log->tau};
    for (int r = 0; r < 3; r++) {
        const int width = r == 0 ? nq : nv;
        for (int k = 0; k < width; k++) {
            double low = rows[r][k], high = low;
            for (int i = 0; i < ROWS; i++) {
                low = fmin(low, rows[r][i * width + k]);
                high = fmax(high, rows[r][i * width + k]);
            }
            for (int i = 0; i < ROWS; i++) {
                rows[r][i * width + k] +=
                    noise * (high - low) * kk_random_normal_at(7, (uint64_t)(r * 100 + k), (uint64_t)i);
            }
        }
    }
    kk_simulator_free(simulator);
    kk_state_free(s);
    kk_model_free(model);
    kk_spec_free(spec);
}

static void free_log(log_of *log) {
    free(log->q);
    free(log->v);
    free(log->tau);
    free(log->control);
}

static double worst_share(const kk_parameter *p) {
    double worst = 0;
    for (int i = 0; i < HIDDEN; i++) {
        worst = fmax(worst, fabs(p[i].value / hidden[i].value - 1));
    }
    return worst;
}

// 8 hidden numbers come back to 3 % from a log with 1 % noise, and the deviations that are told are of the errors' size
KK_TEST(identify_titan) {
    if (!HAS_OUR_MODELS) {
        return;
    }
    log_of log;
    kk_spec *spec = hang_up();
    kk_parameter p[HIDDEN];
    kk_identification found = {0};
    kk_error error = {0};
    take_log(&log, 0.01);
    log.m.time = log.time;
    memcpy(p, hidden, sizeof p);
    KK_CHECK_EQ_INT(kk_parameters_read(spec, p, HIDDEN, &error), KK_OK);
    KK_CHECK_NEAR(p[0].value, 1, 1e-12);
    KK_CHECK_NEAR(p[6].value, 100, 1e-12);
    if (kk_identify_by_regressor(spec, &log.m, NULL, p, HIDDEN, &found, &error)) {
        KK_FAIL("%s", error.text);
    }
    KK_CHECK(worst_share(p) < 0.1);
    if (kk_identify_by_search(spec, &log.m, NULL, p, HIDDEN, &found, &error)) {
        KK_FAIL("%s", error.text);
    }
    for (int i = 0; i < HIDDEN; i++) {
        const double off = fabs(p[i].value - hidden[i].value);
        if (!(off < 0.03 * hidden[i].value && off < 4 * p[i].deviation)) {
            KK_FAIL("%s of %s: %g ± %g, hidden %g", kk_parameter_type_name(p[i].type), p[i].name, p[i].value,
                    p[i].deviation, hidden[i].value);
        }
    }
    KK_CHECK(found.residual > 0.005 && found.residual < 0.02); // the noise is what is left
    free_log(&log);
    kk_spec_free(spec);
}

// without noise the search ends at the numbers themselves
KK_TEST(identify_exactly) {
    if (!HAS_OUR_MODELS) {
        return;
    }
    log_of log;
    kk_spec *spec = hang_up();
    kk_parameter p[HIDDEN];
    kk_error error = {0};
    take_log(&log, 0);
    log.m.time = log.time;
    memcpy(p, hidden, sizeof p);
    if (kk_identify_by_regressor(spec, &log.m, NULL, p, HIDDEN, NULL, &error)) {
        KK_FAIL("%s", error.text);
    }
    KK_CHECK(worst_share(p) < 0.05);
    KK_CHECK_EQ_INT(kk_identify_by_search(spec, &log.m, NULL, p, HIDDEN, NULL, &error), KK_OK);
    KK_CHECK(worst_share(p) < 1e-4);
    free_log(&log);
    kk_spec_free(spec);
}

KK_TEST(identify_refuses) {
    if (!HAS_OUR_MODELS) {
        return;
    }
    log_of log;
    kk_spec *spec = hang_up();
    kk_error error = {0};
    take_log(&log, 0);
    kk_parameter p = {.type = KK_PARAMETER_MASS, .name = "nose"};
    log.m.time = log.time;
    KK_CHECK_EQ_INT(kk_identify_by_regressor(spec, &log.m, NULL, &p, 1, NULL, &error), KK_NOT_FOUND);
    KK_CHECK(strstr(error.text, "nose"));
    p = (kk_parameter){.type = KK_PARAMETER_DAMPING, .name = "right_hind_j2", .value = 1}; // this leg hangs still
    KK_CHECK_EQ_INT(kk_identify_by_regressor(spec, &log.m, NULL, &p, 1, NULL, &error), KK_SINGULAR);
    KK_CHECK(strstr(error.text, "right_hind_j2"));
    p = (kk_parameter){.type = KK_PARAMETER_MASS, .name = "left_fore_thigh", .value = 1};
    log.time[5] = log.time[4];
    KK_CHECK_EQ_INT(kk_identify_by_search(spec, &log.m, NULL, &p, 1, NULL, &error), KK_INVALID_ARGUMENT);
    log.m.velocities--;
    KK_CHECK_EQ_INT(kk_identify_by_search(spec, &log.m, NULL, &p, 1, NULL, &error), KK_SIZE_MISMATCH);
    free_log(&log);
    kk_spec_free(spec);
}
