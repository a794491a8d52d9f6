// Analysis of a motion, frame by frame; see analysis.h. The base and the forces come from kk_pinned_inverse_dynamics (S2, equations 5-9).
#include <karakuri/analysis.h>
#include <karakuri/elementary.h>
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"

enum { POINTS = 256 };

struct kk_analysis {
    kk_allocator allocator;
    size_t size;
    const kk_model *model;
    kk_data *data;
    int nq, nv, support_count;
    double floor, sole;
    kk_support *support; ///< [support_count]
    kk_pin start, pin;
    int has_start;
    int now; ///< number in the schedule; −1 before the first frame
    int frames;
    double last_time, span;
    double *q, *v, *a, *tau, *power; ///< of the last frame
    double *square;                  ///< [nv] ∫ tau² dt
    double *last_tau;                ///< [nv]
    double *last_power;              ///< [nv]
    kk_joint_effort *effort;         ///< [nv]
    kk_vec3 polygon[POINTS];
    int polygon_count;
};

// ---- making

static kk_status check(const kk_model *model, const kk_analysis_def *def, kk_error *error) {
    for (int i = 0; i < def->support_count; i++) {
        const kk_support *s = &def->support[i];
        if (s->body >= kk_model_nbody(model) || s->body == KK_WORLD || s->other >= kk_model_nbody(model)) {
            return kki_error_set(error, KK_NOT_FOUND, "analysis: support %d names a body that the model has not", i);
        }
        if (i > 0 && !(s->time > s[-1].time)) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "analysis: the times of the support schedule do not rise at %d; sort it", i);
        }
    }
    if (!__builtin_isfinite(def->floor) || !(def->sole >= 0)) {
        return kki_error_set(error, KK_NOT_FINITE,
                             "analysis: the height of the floor or the reach of the sole is no number");
    }
    return KK_OK;
}

static void place(kki_layout *layout, kk_analysis *x) {
    const size_t nq = (size_t)x->nq, nv = (size_t)x->nv;
    kki_layout_take(layout, 1, sizeof *x);
    KKI_LAYOUT_ARRAY(layout, x->support, (size_t)x->support_count + 1);
    KKI_LAYOUT_ARRAY(layout, x->q, nq);
    double **const arrays[] = {&x->v, &x->a, &x->tau, &x->power, &x->square, &x->last_tau, &x->last_power};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        KKI_LAYOUT_ARRAY(layout, *arrays[i], nv);
    }
    KKI_LAYOUT_ARRAY(layout, x->effort, nv);
}

static kk_analysis plan_of(const kk_model *model, const kk_analysis_def *def, const kk_allocator *allocator) {
    kk_analysis x = {.allocator = kki_allocator_or_default(allocator),
                     .model = model,
                     .nq = kk_model_nq(model),
                     .nv = kk_model_nv(model),
                     .support_count = def->support_count,
                     .floor = def->floor,
                     .sole = def->sole > 0 ? def->sole : 0.005,
                     .has_start = def->start != NULL};
    if (def->start) {
        x.start = *def->start;
    }
    return x;
}

kk_status kk_analysis_create(const kk_model *model, const kk_analysis_def *def, const kk_allocator *allocator,
                             kk_analysis **analysis, kk_error *error) {
    if (kki_is_missing(model, analysis)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    static const kk_analysis_def defaults = {0};
    def = def ? def : &defaults;
    *analysis = NULL;
    kk_status status = check(model, def, error);
    if (status) {
        return status;
    }
    kk_analysis plan = plan_of(model, def, allocator);
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, &plan);
    plan.size = layout.size;
    kk_analysis *x = kki_allocate_zeroed(&plan.allocator, layout.size);
    status = x ? kk_data_create(model, allocator, &plan.data) : KK_OUT_OF_MEMORY;
    if (status) {
        kki_release(&plan.allocator, x, layout.size);
        return kki_error_set(error, status, "analysis: no memory");
    }
    layout = kki_layout_over(x);
    place(&layout, &plan);
    *x = plan;
    for (int i = 0; i < def->support_count; i++) {
        x->support[i] = def->support[i];
    }
    kk_analysis_reset(x);
    *analysis = x;
    return KK_OK;
}

void kk_analysis_free(kk_analysis *analysis) {
    if (analysis) {
        const kk_allocator allocator = analysis->allocator;
        kk_data_free(analysis->data);
        kki_release(&allocator, analysis, analysis->size);
    }
}

void kk_analysis_reset(kk_analysis *analysis) {
    analysis->now = -1;
    analysis->frames = analysis->polygon_count = 0;
    analysis->span = 0;
    memset(analysis->square, 0, (size_t)analysis->nv * sizeof *analysis->square);
    memset(analysis->effort, 0, (size_t)analysis->nv * sizeof *analysis->effort);
}

// ---- support

static kk_status pin_now(kk_analysis *x, kk_pinned_result *result, kk_error *error) {
    return kk_pinned_inverse_dynamics(x->model, x->data, &x->pin, x->floor, x->q, x->v, x->a, x->tau, result, error);
}

/// The next link of the schedule is pinned where it is now: as the link before it says, or as the motion is given.
static kk_status hand_over(kk_analysis *x, kk_error *error) {
    const kk_support *next = &x->support[x->now + 1];
    kk_status status = KK_OK;
    if (x->now >= 0 && x->pin.body >= 0) {
        status = pin_now(x, NULL, error);
    } else {
        kk_kinematics(x->model, x->data, x->q);
    }
    x->pin.body = next->body;
    if (!status && next->body >= 0) {
        x->pin.pose = kk_body_pose(x->model, x->data, next->body);
    }
    x->now++;
    return status;
}

static kk_status find_support(kk_analysis *x, double time, kk_error *error) {
    kk_status status = KK_OK;
    while (!status && x->now + 1 < x->support_count && (x->now < 0 || x->support[x->now + 1].time <= time)) {
        status = hand_over(x, error);
        if (!status && x->now == 0 && x->has_start) {
            x->pin = x->start;
        }
    }
    return status;
}

static void find_polygon(kk_analysis *x) {
    x->polygon_count = 0;
    if (x->now < 0) {
        return;
    }
    const int body[2] = {x->support[x->now].body, x->support[x->now].other};
    for (int i = 0; i < 2; i++) {
        if (body[i] > 0) {
            x->polygon_count += kk_support_points(x->model, x->data, body[i], x->floor, x->sole,
                                                  x->polygon + x->polygon_count, POINTS - x->polygon_count);
        }
    }
    x->polygon_count = kk_polygon_hull(x->polygon, x->polygon_count);
}

// ---- frames

static kk_status find_forces(kk_analysis *x, kk_pinned_result *r, kk_error *error) {
    if (x->now >= 0 && x->pin.body >= 0) {
        return pin_now(x, r, error);
    }
    kk_inverse_dynamics(x->model, x->data, x->q, x->v, x->a, x->tau);
    r->floor = kk_floor_wrench(x->model, x->data);
    r->zmp = kk_zero_moment_point(r->floor, x->floor);
    r->com = kk_center_of_mass(x->model, x->data, x->q);
    kk_kinematics(x->model, x->data, x->q);
    return KK_OK;
}

static double absolute(double x) {
    return x < 0 ? -x : x;
}

static double larger(double a, double b) {
    return a >= b ? a : b;
}

/// Peaks, and work and mean square by trapezoids.
static void add_effort(kk_analysis *x, int k, double dt) {
    kk_joint_effort *e = &x->effort[k];
    const double tau = x->tau[k], power = x->power[k];
    e->peak_torque = larger(e->peak_torque, absolute(tau));
    e->peak_power = larger(e->peak_power, absolute(power));
    e->peak_speed = larger(e->peak_speed, absolute(x->v[k]));
    if (x->frames > 0) {
        const double a = x->last_power[k], b = power;
        e->positive_work += 0.5 * dt * (larger(a, 0) + larger(b, 0));
        e->negative_work -= 0.5 * dt * (larger(-a, 0) + larger(-b, 0));
        x->square[k] += 0.5 * dt * (x->last_tau[k] * x->last_tau[k] + tau * tau);
    }
    x->last_power[k] = power;
    x->last_tau[k] = tau;
}

/// Degrees of the base are no joints: while a link is pinned they have no torque, and otherwise no motor.
static double add_power(kk_analysis *x, double dt) {
    double sum = 0;
    for (int k = 0; k < x->nv; k++) {
        x->power[k] = x->tau[k] * x->v[k];
        sum += x->power[k];
        add_effort(x, k, dt);
    }
    return sum;
}

static kk_status take_frame(kk_analysis *x, double time, kk_analysis_frame *frame, kk_error *error) {
    kk_pinned_result r = {0};
    kk_status status = find_support(x, time, error);
    status = status ? status : find_forces(x, &r, error);
    if (status) {
        return status;
    }
    const double dt = x->frames > 0 ? time - x->last_time : 0;
    find_polygon(x);
    const double power = add_power(x, dt);
    x->span += dt;
    x->last_time = time;
    x->frames++;
    if (frame) {
        *frame = (kk_analysis_frame){
            .time = time,
            .support = x->now,
            .floor = r.floor,
            .com = r.com,
            .zmp = r.zmp,
            .margin = x->polygon_count > 0 ? kk_polygon_margin(x->polygon, x->polygon_count, r.zmp) : __builtin_nan(""),
            .power = power,
            .q = x->q,
            .v = x->v,
            .a = x->a,
            .tau = x->tau,
            .joint_power = x->power};
    }
    return KK_OK;
}

static kk_status check_time(const kk_analysis *x, double time, kk_error *error) {
    const int is_good = __builtin_isfinite(time) && (x->frames == 0 || time > x->last_time);
    return is_good ? KK_OK
                   : kki_error_set(error, KK_INVALID_ARGUMENT, "analysis: time does not rise at frame %d", x->frames);
}

kk_status kk_analysis_add(kk_analysis *analysis, double time, const double *q, const double *v, const double *a,
                          kk_analysis_frame *frame, kk_error *error) {
    if (kki_is_missing(analysis, q, v, a)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_status status = check_time(analysis, time, error);
    if (status) {
        return status;
    }
    memcpy(analysis->q, q, (size_t)analysis->nq * sizeof *q);
    memcpy(analysis->v, v, (size_t)analysis->nv * sizeof *v);
    memcpy(analysis->a, a, (size_t)analysis->nv * sizeof *a);
    return take_frame(analysis, time, frame, error);
}

kk_status kk_analysis_add_sequence(kk_analysis *analysis, const kk_sequence *sequence, double time,
                                   kk_analysis_frame *frame, kk_error *error) {
    if (kki_is_missing(analysis, sequence)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_status status = check_time(analysis, time, error);
    if (!status && kk_sequence_width(sequence) != analysis->nq) {
        status = kki_error_set(error, KK_SIZE_MISMATCH, "analysis: the sequence is of another model");
    }
    status = status ? status : kk_sequence_state(sequence, time, analysis->q, analysis->v, analysis->a);
    return status ? status : take_frame(analysis, time, frame, error);
}

// ---- results

kk_joint_effort kk_analysis_effort(const kk_analysis *analysis, int dof) {
    static const kk_joint_effort none = {0};
    if (dof < 0 || dof >= analysis->nv) {
        return none;
    }
    kk_joint_effort e = analysis->effort[dof];
    e.rms_torque = analysis->span > 0 ? kk_sqrt(analysis->square[dof] / analysis->span) : e.peak_torque;
    return e;
}

const kk_data *kk_analysis_data(const kk_analysis *analysis) {
    return analysis->data;
}

const kk_vec3 *kk_analysis_polygon(const kk_analysis *analysis, int *count) {
    *count = analysis->polygon_count;
    return analysis->polygon;
}
