// Motion sequences: making, sampling, states of a model. The splines are laid in spline.c, times are moved in retime.c.
//
// Every row keeps position, velocity and acceleration of each number; a piece between two rows is the polynomial of fifth (third, first) degree
// that meets them, so sampling needs no other memory and no search but that of the row.
#include "motion/sequence.h"

#include <karakuri/elementary.h>
#include <string.h>

#include "base/error.h"
#include "base/missing.h"

// ---- making

static int is_turn(kk_joint_type type) {
    return type == KK_JOINT_BALL || type == KK_JOINT_FREE;
}

static int count_turns(const kk_model *model) {
    int n = 0;
    for (int b = 1; model && b < kk_model_nbody(model); b++) {
        n += is_turn(kk_model_joint(model, b).type);
    }
    return n;
}

static void map_coordinates(kk_sequence *s) {
    s->turn_count = 0;
    for (int k = 0; k < s->width; k++) {
        s->dof[k] = s->model ? -1 : k;
    }
    for (int b = 1; s->model && b < kk_model_nbody(s->model); b++) {
        const kk_joint_info j = kk_model_joint(s->model, b);
        if (is_turn(j.type)) {
            s->turn[s->turn_count++] = (kki_turn){j.q_index, j.v_index, j.type == KK_JOINT_FREE};
        }
        for (int k = 0; k < j.nq && !is_turn(j.type); k++) {
            s->dof[j.q_index + k] = j.v_index + k;
        }
    }
}

/// A quaternion and its negative are the same turn: each row takes the one nearer to the row before.
static void align_turns(kk_sequence *s) {
    for (int i = 1; i < s->count; i++) {
        for (int t = 0; t < s->turn_count; t++) {
            double *now = s->p + (size_t)i * (size_t)s->width + s->turn[t].q_index;
            const double *last = now - s->width;
            const double side = now[0] * last[0] + now[1] * last[1] + now[2] * last[2] + now[3] * last[3];
            for (int k = 0; k < 4 && side < 0; k++) {
                now[k] = -now[k];
            }
        }
    }
}

static kk_status check_numbers(const kk_sequence_def *def, kk_error *error) {
    for (int i = 0; i < def->count; i++) {
        if (!__builtin_isfinite(def->time[i]) || (i > 0 && !(def->time[i] > def->time[i - 1]))) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "sequence: time does not rise at row %d; sort the rows by time", i);
        }
        for (int k = 0; k < def->width; k++) {
            if (!__builtin_isfinite(def->value[(size_t)i * (size_t)def->width + (size_t)k])) {
                return kki_error_set(error, KK_NOT_FINITE, "sequence: number %d of row %d is not finite", k, i);
            }
        }
    }
    return KK_OK;
}

static kk_status check(const kk_sequence_def *def, kk_error *error) {
    if (def->count < 1 || def->width < 1 || !def->time || !def->value) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "sequence: there are no rows or no numbers in them; give at least one of each");
    }
    if (def->model && def->width != kk_model_nq(def->model)) {
        return kki_error_set(error, KK_SIZE_MISMATCH, "sequence: rows have %d numbers, the model has %d coordinates",
                             def->width, kk_model_nq(def->model));
    }
    kk_status status = check_numbers(def, error);
    for (int i = 0; def->model && i < def->count && !status; i++) {
        status = kk_model_check_q(def->model, def->value + (size_t)i * (size_t)def->width, error);
    }
    return status;
}

static void place(kki_layout *layout, kk_sequence *s) {
    const size_t numbers = (size_t)s->count * (size_t)s->width;
    kki_layout_take(layout, 1, sizeof *s);
    KKI_LAYOUT_ARRAY(layout, s->time, (size_t)s->count);
    KKI_LAYOUT_ARRAY(layout, s->p, numbers);
    KKI_LAYOUT_ARRAY(layout, s->v, numbers);
    KKI_LAYOUT_ARRAY(layout, s->a, numbers);
    KKI_LAYOUT_ARRAY(layout, s->dof, (size_t)s->width);
    KKI_LAYOUT_ARRAY(layout, s->turn, (size_t)count_turns(s->model) + 1);
}

kk_status kk_sequence_create(const kk_sequence_def *def, const kk_allocator *allocator, kk_sequence **sequence,
                             kk_error *error) {
    if (kki_is_missing(def, sequence)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    *sequence = NULL;
    kk_status status = check(def, error);
    if (status) {
        return status;
    }
    kk_sequence plan = {.allocator = kki_allocator_or_default(allocator),
                        .model = def->model,
                        .interpolation = def->interpolation,
                        .ends = def->ends,
                        .count = def->count,
                        .width = def->width};
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, &plan);
    plan.size = layout.size;
    void *block = kki_allocate_zeroed(&plan.allocator, layout.size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "sequence: no memory for %d rows", def->count);
    }
    layout = kki_layout_over(block);
    place(&layout, &plan);
    kk_sequence *s = block;
    *s = plan;
    memcpy(s->time, def->time, (size_t)s->count * sizeof *s->time);
    memcpy(s->p, def->value, (size_t)s->count * (size_t)s->width * sizeof *s->p);
    map_coordinates(s);
    align_turns(s);
    status = kki_sequence_fit(s);
    if (status) {
        kk_sequence_free(s);
        return kki_error_set(error, status, "sequence: no memory to lay splines through %d rows", def->count);
    }
    *sequence = s;
    return KK_OK;
}

void kk_sequence_free(kk_sequence *sequence) {
    if (sequence) {
        const kk_allocator allocator = sequence->allocator;
        kki_release(&allocator, sequence, sequence->size);
    }
}

int kk_sequence_count(const kk_sequence *sequence) {
    return sequence->count;
}
int kk_sequence_width(const kk_sequence *sequence) {
    return sequence->width;
}
double kk_sequence_start(const kk_sequence *sequence) {
    return sequence->time[0];
}
double kk_sequence_end(const kk_sequence *sequence) {
    return sequence->time[sequence->count - 1];
}

// ---- sampling

/// The last row that is not behind the time, 0 … count − 2.
static int find_row(const kk_sequence *s, double time) {
    int low = 0, high = s->count - 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        *(s->time[middle] <= time ? &low : &high) = middle;
    }
    return low;
}

/// How much of p, v, a at both ends stands in the number, by the place s in the piece: Hermite's functions.
typedef struct blend {
    double p[2], v[2], a[2];
} blend;

static void blend_quintic(double s, double h, blend out[3]) {
    const double s2 = s * s, s3 = s2 * s, s4 = s3 * s, s5 = s4 * s;
    const double rise = 10 * s3 - 15 * s4 + 6 * s5, rise1 = (30 * s2 - 60 * s3 + 30 * s4) / h;
    const double rise2 = (60 * s - 180 * s2 + 120 * s3) / (h * h);
    out[0] = (blend){{1 - rise, rise},
                     {h * (s - 6 * s3 + 8 * s4 - 3 * s5), h * (-4 * s3 + 7 * s4 - 3 * s5)},
                     {h * h * (0.5 * s2 - 1.5 * s3 + 1.5 * s4 - 0.5 * s5), h * h * (0.5 * s3 - s4 + 0.5 * s5)}};
    out[1] = (blend){{-rise1, rise1},
                     {1 - 18 * s2 + 32 * s3 - 15 * s4, -12 * s2 + 28 * s3 - 15 * s4},
                     {h * (s - 4.5 * s2 + 6 * s3 - 2.5 * s4), h * (1.5 * s2 - 4 * s3 + 2.5 * s4)}};
    out[2] = (blend){{-rise2, rise2},
                     {(-36 * s + 96 * s2 - 60 * s3) / h, (-24 * s + 84 * s2 - 60 * s3) / h},
                     {1 - 9 * s + 18 * s2 - 10 * s3, 3 * s - 12 * s2 + 10 * s3}};
}

static void blend_cubic(double s, double h, blend out[3]) {
    const double s2 = s * s, s3 = s2 * s, rise = 3 * s2 - 2 * s3, rise1 = 6 * (s - s2) / h;
    const double rise2 = (6 - 12 * s) / (h * h);
    out[0] = (blend){{1 - rise, rise}, {h * (s - 2 * s2 + s3), h * (s3 - s2)}, {0, 0}};
    out[1] = (blend){{-rise1, rise1}, {1 - 4 * s + 3 * s2, 3 * s2 - 2 * s}, {0, 0}};
    out[2] = (blend){{-rise2, rise2}, {(6 * s - 4) / h, (6 * s - 2) / h}, {0, 0}};
}

static void blend_linear(double s, double h, blend out[3]) {
    out[0] = (blend){{1 - s, s}, {0, 0}, {0, 0}};
    out[1] = (blend){{-1 / h, 1 / h}, {0, 0}, {0, 0}};
    out[2] = (blend){{0, 0}, {0, 0}, {0, 0}};
}

static void mix(const kk_sequence *s, int row, const blend *b, double *out) {
    const size_t w = (size_t)s->width, at = (size_t)row * w,
                 n = s->count > 1 ? w : 0; // one row: both ends are that row
    const double *p = s->p + at, *v = s->v + at, *a = s->a + at;
    for (size_t k = 0; k < w; k++) {
        out[k] = b->p[0] * p[k] + b->p[1] * p[n + k] + (b->v[0] * v[k] + b->v[1] * v[n + k]) +
                 (b->a[0] * a[k] + b->a[1] * a[n + k]);
    }
}

/// Row and functions for a time; outside of the rows at rest on the nearest.
static int blend_at(const kk_sequence *s, double time, blend b[3]) {
    const double first = s->time[0], last = s->time[s->count - 1];
    if (s->count < 2 || !(time >= first) || time > last) {
        const int is_behind = s->count > 1 && time > last;
        blend_linear(is_behind, 1, b);
        b[1] = b[2];
        return is_behind ? s->count - 2 : 0;
    }
    const int row = find_row(s, time);
    const double h = s->time[row + 1] - s->time[row], part = (time - s->time[row]) / h;
    (s->interpolation == KK_INTERPOLATE_LINEAR  ? blend_linear
     : s->interpolation == KK_INTERPOLATE_CUBIC ? blend_cubic
                                                : blend_quintic)(part, h, b);
    return row;
}

void kk_sequence_sample(const kk_sequence *sequence, double time, double *value, double *rate, double *second) {
    blend b[3];
    const int row = blend_at(sequence, time, b);
    mix(sequence, row, &b[0], value);
    if (rate) {
        mix(sequence, row, &b[1], rate);
    }
    if (second) {
        mix(sequence, row, &b[2], second);
    }
}

// ---- states

/// A few numbers with their rates: a quaternion's do not fit into the caller's v and a.
static void sample_some(const kk_sequence *s, int row, const blend b[3], int first, int n, double out[3][8]) {
    const size_t w = s->count > 1 ? (size_t)s->width : 0, at = (size_t)row * (size_t)s->width + (size_t)first;
    for (int d = 0; d < 3; d++) {
        for (int k = 0; k < n; k++) {
            const size_t i = at + (size_t)k;
            out[d][k] = b[d].p[0] * s->p[i] + b[d].p[1] * s->p[i + w] +
                        (b[d].v[0] * s->v[i] + b[d].v[1] * s->v[i + w]) +
                        (b[d].a[0] * s->a[i] + b[d].a[1] * s->a[i + w]);
        }
    }
}

static double dot4(const double *x, const double *y) {
    return x[0] * y[0] + x[1] * y[1] + (x[2] * y[2] + x[3] * y[3]);
}

/// Vector part of 2 conj(q) x.
static kk_vec3 twice_turned_back(const double *q, const double *x) {
    const kk_quat r =
        kk_quat_mul(kk_quat_conjugate((kk_quat){q[0], q[1], q[2], q[3]}), (kk_quat){x[0], x[1], x[2], x[3]});
    return kk_vec3_make(2 * r.x, 2 * r.y, 2 * r.z);
}

/// u = x/|x| with its rates: ω = 2 conj(u) u̇, ω̇ = 2 conj(u) ü, vector parts.
static void turn_state(double x[3][8], double *q, kk_vec3 *w, kk_vec3 *dw) {
    const double n = kk_sqrt(dot4(x[0], x[0]));
    double u[3][4];
    for (int k = 0; k < 4; k++) {
        u[0][k] = x[0][k] / n;
    }
    const double rise = dot4(u[0], x[1]) / n; // ṅ/n
    for (int k = 0; k < 4; k++) {
        u[1][k] = x[1][k] / n - rise * u[0][k];
    }
    // what lies along u does not turn, so n̈ is not needed
    for (int k = 0; k < 4; k++) {
        u[2][k] = x[2][k] / n - 2 * rise * u[1][k];
    }
    memcpy(q, u[0], sizeof u[0]);
    *w = twice_turned_back(u[0], u[1]);
    *dw = twice_turned_back(u[0], u[2]);
}

static void store(double *out, kk_vec3 x) {
    out[0] = x.x;
    out[1] = x.y;
    out[2] = x.z;
}

static void sample_turn(const kki_turn *t, double x[3][8], double *q, double *v, double *a) {
    kk_vec3 w, dw;
    turn_state(x, q + t->q_index, &w, &dw);
    if (v) {
        store(v + t->v_index, w);
    }
    if (a) {
        store(a + t->v_index, dw);
    }
    if (t->is_free) {
        const double *u = q + t->q_index;
        const kk_mat3 R = kk_quat_to_mat3((kk_quat){u[0], u[1], u[2], u[3]});
        const kk_vec3 own = kk_mat3_tmul_vec(R, kk_vec3_make(x[1][4], x[1][5], x[1][6]));
        const kk_vec3 rate = kk_mat3_tmul_vec(R, kk_vec3_make(x[2][4], x[2][5], x[2][6]));
        memcpy(q + t->q_index + 4, x[0] + 4, 3 * sizeof *q);
        if (v) {
            store(v + t->v_index + 3, own);
        }
        if (a) {
            store(a + t->v_index + 3,
                  kk_vec3_sub(rate, kk_vec3_cross(w, own))); // rate of the velocity in the body's own axes
        }
    }
}

kk_status kk_sequence_state(const kk_sequence *sequence, double time, double *q, double *v, double *a) {
    if (kki_is_missing(sequence)) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_sequence *s = sequence;
    if (!s->model) {
        return KK_INVALID_ARGUMENT;
    }
    blend b[3];
    double x[3][8];
    const int row = blend_at(s, time, b);
    for (int k = 0; k < s->width; k++) {
        if (s->dof[k] >= 0) {
            sample_some(s, row, b, k, 1, x);
            q[k] = x[0][0];
            if (v) {
                v[s->dof[k]] = x[1][0];
            }
            if (a) {
                a[s->dof[k]] = x[2][0];
            }
        }
    }
    for (int t = 0; t < s->turn_count; t++) {
        sample_some(s, row, b, s->turn[t].q_index, s->turn[t].is_free ? 7 : 4, x);
        sample_turn(&s->turn[t], x, q, v, a);
    }
    return KK_OK;
}
