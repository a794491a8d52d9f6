/// Identification: parameters in a spec, checks, smoothing, normal equations; see identify.h.
///
/// Smoothing: at a row a cubic in time is laid through the rows of the window by least squares (Savitzky and Golay 1964, for any spacing). Its value, slope and
/// second derivative are q, v and a; where velocities were measured, a is the slope of a cubic through them. Configurations are taken as differences
/// from the row's own, so that quaternions need no care.
#include "motion/identify.h"

#include <karakuri/dynamics.h>
#include <karakuri/elementary.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"
#include "math/dense.h"

enum { WINDOW_ROWS = 15, CUBIC = 4, MOST_DOFS = 256 };

const char *kk_parameter_type_name(kk_parameter_type type) {
    static const char *const names[] = {"mass", "damping", "friction", "stiffness", "armature", "gain"};
    return (unsigned)type < KK_PARAMETER_TYPES ? names[type] : "";
}

// ---- parameters in a spec

static int is_of_joint(kk_parameter_type type) {
    return type != KK_PARAMETER_MASS && type != KK_PARAMETER_GAIN;
}

static double *number_of(kk_dof_def *dof, kk_parameter_type type) {
    switch (type) {
    case KK_PARAMETER_DAMPING: return &dof->damping;
    case KK_PARAMETER_FRICTION: return &dof->friction;
    case KK_PARAMETER_STIFFNESS: return &dof->stiffness;
    default: return &dof->armature;
    }
}

static kk_status unknown(const kk_parameter *p, const char *what, kk_error *error) {
    return kki_error_set(error, KK_NOT_FOUND, "identify: there is no %s '%s'", what, p->name ? p->name : "");
}

/// Body of a mass or a joint, or actuator; −1 after an error.
static int find(const kk_model *model, const kk_parameter *p, kk_error *error) {
    if ((unsigned)p->type >= KK_PARAMETER_TYPES) {
        kki_error_set(error, KK_INVALID_ARGUMENT, "identify: %d is no kind of parameter", (int)p->type);
        return -1;
    }
    const char *name = p->name ? p->name : "";
    const char *what = p->type == KK_PARAMETER_MASS ? "body" : p->type == KK_PARAMETER_GAIN ? "actuator" : "joint";
    const int id = p->type == KK_PARAMETER_MASS   ? kk_model_find_body(model, name)
                   : p->type == KK_PARAMETER_GAIN ? kk_model_find_actuator(model, name)
                                                  : kk_model_find_joint(model, name);
    if (id < 0 || (p->type == KK_PARAMETER_MASS && id == KK_WORLD)) {
        unknown(p, what, error);
        return -1;
    }
    if (is_of_joint(p->type) && (p->dof < 0 || p->dof >= kk_model_joint(model, id).nv)) {
        kki_error_set(error, KK_NOT_FOUND, "identify: joint '%s' has no degree of freedom %d", name, p->dof);
        return -1;
    }
    return id;
}

static double read_one(const kk_spec *spec, const kk_parameter *p, int id) {
    if (p->type == KK_PARAMETER_MASS) {
        return kk_spec_body_const(spec, id)->inertia.mass;
    }
    if (p->type == KK_PARAMETER_GAIN) {
        return kk_spec_actuator_const(spec, id)->gain;
    }
    kk_dof_def dof = kk_spec_body_const(spec, id)->joint.dof[p->dof];
    return *number_of(&dof, p->type);
}

static void write_mass(kk_inertia *I, double mass) {
    const double factor = mass / I->mass;
    kk_sym3 *J = &I->moment;
    double *const moment[6] = {&J->xx, &J->yy, &J->zz, &J->xy, &J->xz, &J->yz};
    I->mass = mass;
    for (int i = 0; i < 6; i++) {
        *moment[i] *= factor;
    }
}

static void write_gain(kk_actuator_def *a, double gain) {
    const double factor = gain / a->gain;
    a->gain = gain;
    for (int i = 0; i < 3; i++) {
        a->bias[i] *= factor;
    }
}

static void write_one(kk_spec *spec, const kk_parameter *p, int id) {
    if (p->type == KK_PARAMETER_MASS) {
        write_mass(&kk_spec_body(spec, id)->inertia, p->value);
    } else if (p->type == KK_PARAMETER_GAIN) {
        write_gain(kk_spec_actuator(spec, id), p->value);
    } else {
        *number_of(&kk_spec_body(spec, id)->joint.dof[p->dof], p->type) = p->value;
    }
}

/// What is scaled must not be zero.
static kk_status check_scaled(const kk_spec *spec, const kk_parameter *p, int id, kk_error *error) {
    if (!is_of_joint(p->type) && !(read_one(spec, p, id) > 0)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "identify: the %s of '%s' is not positive in the model",
                             kk_parameter_type_name(p->type), p->name);
    }
    return KK_OK;
}

static kk_status visit(kk_spec *spec, const kk_spec *from, kk_parameter *p, int count, kk_error *error) {
    kk_model *model = NULL;
    kk_status status = kk_model_compile(from, NULL, &model, error);
    for (int i = 0; i < count && !status; i++) {
        const int id = find(model, &p[i], error);
        status = id < 0 ? KK_NOT_FOUND : check_scaled(from, &p[i], id, error);
        if (!status && spec) {
            write_one(spec, &p[i], id);
        } else if (!status) {
            p[i].value = read_one(from, &p[i], id);
        }
    }
    kk_model_free(model);
    return status;
}

kk_status kk_parameters_read(const kk_spec *spec, kk_parameter *parameter, int count, kk_error *error) {
    if (kki_is_missing(parameter)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    return visit(NULL, spec, parameter, count, error);
}

kk_status kk_parameters_write(kk_spec *spec, const kk_parameter *parameter, int count, kk_error *error) {
    if (kki_is_missing(parameter)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    return visit(spec, spec, (kk_parameter *)parameter, count, error); // NOLINT: only read where a spec is written
}

// ---- beginning

static kk_status check_log(const kk_model *m, const kk_measurement *log, kk_error *error) {
    if (log->coordinates != kk_model_nq(m) || log->velocities != kk_model_nv(m) ||
        (log->control && log->controls != kk_model_nactuator(m))) {
        return kki_error_set(error, KK_SIZE_MISMATCH,
                             "identify: the log has %d coordinates, %d velocities and %d controls; the model %d, %d "
                             "and %d",
                             log->coordinates, log->velocities, log->controls, kk_model_nq(m), kk_model_nv(m),
                             kk_model_nactuator(m));
    }
    if (log->count < CUBIC + 1 || kk_model_nv(m) > MOST_DOFS) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "identify: %d rows, %d degrees of freedom; it takes 5 rows, and at most %d", log->count,
                             kk_model_nv(m), MOST_DOFS);
    }
    for (int i = 1; i < log->count; i++) {
        if (!(log->time[i] > log->time[i - 1])) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "identify: time does not rise at row %d", i);
        }
    }
    return KK_OK;
}

static kk_status find_all(kki_identifier *x, const kk_spec *spec, kk_error *error) {
    for (int i = 0; i < x->count; i++) {
        const kk_parameter *p = &x->parameter[i];
        const int id = find(x->model, p, error);
        const kk_status status = id < 0 ? KK_NOT_FOUND : check_scaled(spec, p, id, error);
        if (status) {
            return status;
        }
        x->id[i] = is_of_joint(p->type) ? kk_model_joint(x->model, id).v_index + p->dof : id;
    }
    return KK_OK;
}

kk_status kki_identifier_begin(kki_identifier *x, const kk_spec *spec, const kk_measurement *log,
                               const kk_identify_options *options, const kk_parameter *parameter, int count,
                               kk_error *error) {
    *x = (kki_identifier){
        .allocator = kki_allocator_or_default(NULL), .log = log, .parameter = parameter, .count = count};
    x->options = options ? *options : (kk_identify_options){0};
    if (count < 1 || count > KKI_PARAMETERS) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "identify: %d parameters; 1 … %d", count, KKI_PARAMETERS);
    }
    kk_status status = kk_model_compile(spec, NULL, &x->model, error);
    status = status ? status : check_log(x->model, log, error);
    return status ? status : find_all(x, spec, error);
}

void kki_identifier_end(kki_identifier *x) {
    kk_model_free(x->model);
    x->model = NULL;
}

// ---- smoothing

/// Rows of the window around a row: as many on both sides where there are, more on one side at the ends.
static void window_of(const kki_identifier *x, int row, int *first, int *last) {
    const kk_measurement *log = x->log;
    const double mean = (log->time[log->count - 1] - log->time[0]) / (log->count - 1);
    const double wanted = x->options.window > 0 ? x->options.window / mean : WINDOW_ROWS;
    const int rows = wanted < CUBIC + 1 ? CUBIC + 1 : wanted > log->count ? log->count : (int)wanted;
    *first = row - rows / 2 < 0 ? 0 : row - rows / 2 + rows > log->count ? log->count - rows : row - rows / 2;
    *last = *first + rows;
}

/// A cubic by least squares: its weights of rows at times t from the normal equations of 1, t, t², t³.
typedef struct cubic {
    double unit; ///< s, the window's half: times count in it
    double inverse[CUBIC][CUBIC];
} cubic;

static cubic cubic_over(const double *time, double at, int first, int last) {
    cubic f = {.unit = 0.5 * (time[last - 1] - time[first])};
    double N[CUBIC * CUBIC] = {0};
    for (int i = first; i < last; i++) {
        const double t = (time[i] - at) / f.unit, power[CUBIC] = {1, t, t * t, t * t * t};
        for (int j = 0; j < CUBIC; j++) {
            for (int k = 0; k <= j; k++) {
                N[j * CUBIC + k] += power[j] * power[k];
            }
        }
    }
    kki_ldl_factor(CUBIC, N, 0); // positive definite: four rows or more at different times
    for (int k = 0; k < CUBIC; k++) {
        f.inverse[k][k] = 1;
        kki_ldl_solve(CUBIC, N, f.inverse[k]);
    }
    return f;
}

/// Weight of a row for the value, the slope, the second derivative at time 0.
static double weight_of(const cubic *f, double t, int derivative) {
    const double *c = f->inverse[derivative], s = t / f->unit, unit = f->unit;
    const double scale = derivative == 0 ? 1 : derivative == 1 ? 1 / unit : 2 / (unit * unit);
    return scale * (c[0] + (c[1] + (c[2] + c[3] * s) * s) * s);
}

static void smooth(const double *rows, int width, const double *time, int row, int first, int last, int derivative,
                   double *result) {
    const cubic f = cubic_over(time, time[row], first, last);
    memset(result, 0, (size_t)width * sizeof *result);
    for (int i = first; i < last; i++) {
        const double w = weight_of(&f, time[i] - time[row], derivative);
        for (int k = 0; k < width; k++) {
            result[k] += w * rows[(size_t)i * (size_t)width + (size_t)k];
        }
    }
}

void kki_smooth_row(const kki_identifier *x, int row, double *q, double *v, double *a) {
    const kk_measurement *log = x->log;
    const int nq = log->coordinates, nv = log->velocities;
    int first, last;
    window_of(x, row, &first, &last);
    const cubic f = cubic_over(log->time, log->time[row], first, last);
    const double *own = log->q + (size_t)row * (size_t)nq;
    double off[MOST_DOFS], at[MOST_DOFS] = {0};
    memset(v, 0, (size_t)nv * sizeof *v);
    memset(a, 0, (size_t)nv * sizeof *a);
    for (int i = first; i < last; i++) {
        const double t = log->time[i] - log->time[row];
        kk_difference(x->model, own, log->q + (size_t)i * (size_t)nq, off);
        for (int k = 0; k < nv; k++) {
            at[k] += weight_of(&f, t, 0) * off[k];
            v[k] += weight_of(&f, t, 1) * off[k];
            a[k] += weight_of(&f, t, 2) * off[k];
        }
    }
    kk_integrate(x->model, own, at, q);
    if (log->v) {
        smooth(log->v, nv, log->time, row, first, last, 0, v);
        smooth(log->v, nv, log->time, row, first, last, 1, a);
    }
}

void kki_smooth_forces(const kki_identifier *x, int row, double *tau) {
    int first, last;
    window_of(x, row, &first, &last);
    smooth(x->log->tau, x->log->velocities, x->log->time, row, first, last, 0, tau);
}

void kki_smooth_controls(const kki_identifier *x, int row, double *control) {
    int first, last;
    window_of(x, row, &first, &last);
    memset(control, 0, (size_t)kk_model_nactuator(x->model) * sizeof *control);
    if (x->log->control) {
        smooth(x->log->control, x->log->controls, x->log->time, row, first, last, 0, control);
    }
}

// ---- normal equations

/// N becomes N scaled to ones on its diagonal; KK_SINGULAR where a parameter has no effect.
static kk_status scale_normal(const kki_identifier *x, double *N, double *scale, kk_error *error) {
    const int n = x->count;
    for (int i = 0; i < n; i++) {
        if (!(N[i * n + i] > 0)) {
            return kki_error_set(error, KK_SINGULAR, "identify: the motion does not depend on the %s of '%s'",
                                 kk_parameter_type_name(x->parameter[i].type), x->parameter[i].name);
        }
        scale[i] = 1 / kk_sqrt(N[i * n + i]);
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            N[i * n + k] *= scale[i] * scale[k];
        }
    }
    return KK_OK;
}

kk_status kki_solve_normal(const kki_identifier *x, double *N, double *y, double *diagonal, kk_error *error) {
    const int n = x->count;
    double scale[KKI_PARAMETERS], column[KKI_PARAMETERS];
    const kk_status status = scale_normal(x, N, scale, error);
    if (status) {
        return status;
    }
    if (kki_ldl_factor(n, N, 1e-12)) {
        return kki_error_set(error, KK_SINGULAR,
                             "identify: the motion does not tell the parameters apart; move more joints, or leave one "
                             "of them as it is");
    }
    for (int i = 0; i < n; i++) {
        y[i] *= scale[i];
    }
    kki_ldl_solve(n, N, y);
    for (int i = 0; i < n; i++) {
        y[i] *= scale[i];
        memset(column, 0, sizeof column);
        column[i] = 1;
        kki_ldl_solve(n, N, column);
        diagonal[i] = column[i] * scale[i] * scale[i];
    }
    return KK_OK;
}
