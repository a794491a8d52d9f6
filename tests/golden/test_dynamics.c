/// Our articulated dynamics against stored results of Pinocchio and MuJoCo (tests/golden/dynamics, made by make_dynamics.py).
#include <karakuri/dynamics.h>

#include "dynamics_models.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// One line of a golden file.
typedef struct golden_record {
    const char *who; ///< the engine, or "input"
    const char *what;
    int state, count;
    const double *values;
} golden_record;

static const golden_record arm7[] = {
#include "dynamics/arm7.inc"
};
static const golden_record quadruped[] = {
#include "dynamics/quadruped.inc"
};
static const golden_record humanoid36[] = {
#include "dynamics/humanoid36.inc"
};
static const golden_record forest[] = {
#include "dynamics/forest.inc"
};
static const golden_record forest_common[] = {
#include "dynamics/forest_common.inc"
};

/// A model under test and one state of it.
typedef struct bench {
    kk_model *model;
    kk_data *data;
    int nq, nv, nbody, nframe;
    const double *q, *v, *a, *tau;
    const kk_force *external;
    double *scratch; ///< [3 nv nv + 12 nv]
} bench;

// ---- our answers, each to the name the golden files use

static double *put_vec3(double *to, kk_vec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    return to + 3;
}

static void our_poses(bench *b, double *result) {
    kk_kinematics(b->model, b->data, b->q);
    for (int body = 0; body < b->nbody; body++) {
        const kk_transform X = kk_body_pose(b->model, b->data, body);
        memcpy(result, X.R.m, sizeof X.R.m);
        result = put_vec3(result + 9, X.p);
    }
}

static void our_accelerations(bench *b, double *result) {
    kk_kinematics_acceleration(b->model, b->data, b->q, b->v, b->a);
    for (int body = 0; body < b->nbody; body++) {
        const kk_motion A = kk_body_acceleration(b->model, b->data, body, KK_LOCAL);
        result = put_vec3(put_vec3(result, A.angular), A.linear);
    }
}

static void our_rnea(bench *b, double *result) {
    kk_inverse_dynamics(b->model, b->data, b->q, b->v, b->a, result);
}
static void our_rnea_external(bench *b, double *result) {
    kk_inverse_dynamics_external(b->model, b->data, b->q, b->v, b->a, b->external, result);
}
static void our_aba(bench *b, double *result) {
    kk_forward_dynamics(b->model, b->data, b->q, b->v, b->tau, result);
}
static void our_aba_external(bench *b, double *result) {
    kk_forward_dynamics_external(b->model, b->data, b->q, b->v, b->tau, b->external, result);
}
static void our_crba(bench *b, double *result) {
    kk_inertia_matrix(b->model, b->data, b->q, result);
}

static void our_com(bench *b, double *result) {
    put_vec3(result, kk_center_of_mass(b->model, b->data, b->q));
}
static void our_com_jacobian(bench *b, double *result) {
    kk_center_of_mass_jacobian(b->model, b->data, b->q, result);
}
static void our_centroidal(bench *b, double *result) {
    kk_centroidal(b->model, b->data, b->q, result);
}
static void our_centroidal_rate(bench *b, double *result) {
    double *A = b->scratch, *dA = A + 6 * b->nv;
    kk_centroidal_rate(b->model, b->data, b->q, b->v, A, dA);
    for (int row = 0; row < 6; row++) {
        result[row] = 0.0;
        for (int i = 0; i < b->nv; i++) {
            result[row] += dA[row * b->nv + i] * b->v[i];
        }
    }
}
static void our_energies(bench *b, double *result) {
    result[0] = kk_kinetic_energy(b->model, b->data, b->q, b->v);
    result[1] = kk_potential_energy(b->model, b->data, b->q);
}

static void our_frame_jacobians(bench *b, double *result) {
    static const kk_reference references[] = {KK_LOCAL, KK_WORLD_ORIGIN, KK_WORLD_ALIGNED};
    kk_jacobians(b->model, b->data, b->q);
    for (int i = 0; i < 3 * b->nframe; i++) {
        kk_frame_jacobian(b->model, b->data, i / 3, references[i % 3], result + 6 * b->nv * i);
    }
}

static void our_rnea_derivatives_q(bench *b, double *result) {
    kk_inverse_dynamics_derivatives(b->model, b->data, b->q, b->v, b->a, result, b->scratch);
}
static void our_rnea_derivatives_v(bench *b, double *result) {
    kk_inverse_dynamics_derivatives(b->model, b->data, b->q, b->v, b->a, b->scratch, result);
}
static void our_aba_derivatives_q(bench *b, double *result) {
    double *second = b->scratch, *third = second + b->nv * b->nv, *a = third + b->nv * b->nv;
    kk_forward_dynamics_derivatives(b->model, b->data, b->q, b->v, b->tau, a, result, second, third);
}
static void our_aba_derivatives_v(bench *b, double *result) {
    double *first = b->scratch, *third = first + b->nv * b->nv, *a = third + b->nv * b->nv;
    kk_forward_dynamics_derivatives(b->model, b->data, b->q, b->v, b->tau, a, first, result, third);
}

static const struct {
    const char *what;
    void (*compute)(bench *b, double *result);
    double bar;
} answers[] = {
    {"poses", our_poses, 1e-12},
    {"accelerations", our_accelerations, 1e-12},
    {"rnea", our_rnea, 1e-12},
    {"rnea_external", our_rnea_external, 1e-12},
    {"aba", our_aba, 1e-12},
    {"aba_external", our_aba_external, 1e-12},
    {"crba", our_crba, 1e-12},
    {"com", our_com, 1e-12},
    {"com_jacobian", our_com_jacobian, 1e-12},
    {"centroidal", our_centroidal, 1e-12},
    {"centroidal_rate", our_centroidal_rate, 1e-12},
    {"energies", our_energies, 1e-12},
    {"frame_jacobians", our_frame_jacobians, 1e-12},
    {"rnea_derivatives_q", our_rnea_derivatives_q, 1e-10},
    {"rnea_derivatives_v", our_rnea_derivatives_v, 1e-10},
    {"aba_derivatives_q", our_aba_derivatives_q, 1e-10},
    {"aba_derivatives_v", our_aba_derivatives_v, 1e-10},
};

// ---- comparison

// largest difference over the largest magnitude, or over 1e-3 where that is larger
static double relative_error(const double *ours, const double *theirs, int count) {
    double difference = 0.0, magnitude = 1e-3;
    for (int i = 0; i < count; i++) {
        if (!isfinite(ours[i])) {
            return HUGE_VAL;
        }
        difference = fmax(difference, fabs(ours[i] - theirs[i]));
        magnitude = fmax(magnitude, fabs(theirs[i]));
    }
    return difference / magnitude;
}

static void check_record(bench *b, const golden_record *record) {
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (strcmp(answers[i].what, record->what) == 0) {
            double *result = calloc((size_t)record->count, sizeof *result);
            if (!KK_CHECK(result)) {
                return;
            }
            answers[i].compute(b, result);
            const double error = relative_error(result, record->values, record->count);
            if (!(error <= answers[i].bar)) {
                KK_FAIL("%s, %s, state %d: off by %g", record->who, record->what, record->state, error);
            }
            free(result);
            return;
        }
    }
    KK_FAIL("no answer to \"%s\"", record->what);
}

static const double *input(const golden_record *records, size_t n, const char *what, int state, int count) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(records[i].who, "input") == 0 && strcmp(records[i].what, what) == 0 && records[i].state == state) {
            KK_CHECK_EQ_INT(records[i].count, count);
            return records[i].values;
        }
    }
    KK_FAIL("no input %s of state %d", what, state);
    return NULL;
}

static int load_state(bench *b, const golden_record *records, size_t n, int state) {
    b->q = input(records, n, "q", state, b->nq);
    b->v = input(records, n, "v", state, b->nv);
    b->a = input(records, n, "a", state, b->nv);
    b->tau = input(records, n, "tau", state, b->nv);
    b->external = (const kk_force *)input(records, n, "external", state, 6 * b->nbody);
    return b->q && b->v && b->a && b->tau && b->external;
}

static void check_records(kk_model *model, const golden_record *records, size_t n) {
    bench b = {.model = model,
               .nq = kk_model_nq(model),
               .nv = kk_model_nv(model),
               .nbody = kk_model_nbody(model),
               .nframe = kk_model_nframe(model)};
    KK_CHECK(kk_data_create(model, NULL, &b.data) == KK_OK);
    b.scratch = calloc((size_t)(3 * b.nv * b.nv + 12 * b.nv), sizeof *b.scratch);
    int loaded = -1;
    for (size_t i = 0; b.data && b.scratch && i < n; i++) {
        if (strcmp(records[i].who, "input") == 0) {
            continue;
        }
        if (records[i].state != loaded && !load_state(&b, records, n, records[i].state)) {
            break;
        }
        loaded = records[i].state;
        check_record(&b, &records[i]);
    }
    free(b.scratch);
    kk_data_free(b.data);
}

static void check_model(const char *name, const golden_record *records, size_t n) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_error error = {0};
    KK_CHECK(kk_spec_create(NULL, &spec) == KK_OK);
    for (int i = 0; i < golden_model_count; i++) {
        if (strcmp(golden_models[i].name, name) == 0) {
            KK_CHECK(golden_models[i].build(spec, &error) == KK_OK);
        }
    }
    if (KK_CHECK(kk_model_compile(spec, NULL, &model, &error) == KK_OK)) {
        check_records(model, records, n);
    }
    kk_model_free(model);
    kk_spec_free(spec);
}

#define CHECK_MODEL(name) check_model(#name, name, sizeof name / sizeof *name)

KK_TEST(golden_arm7) {
    CHECK_MODEL(arm7);
}
KK_TEST(golden_quadruped) {
    CHECK_MODEL(quadruped);
}
KK_TEST(golden_humanoid36) {
    CHECK_MODEL(humanoid36);
}
KK_TEST(golden_forest_of_every_joint) {
    CHECK_MODEL(forest);
}
KK_TEST(golden_forest_in_both_engines) {
    CHECK_MODEL(forest_common);
}
