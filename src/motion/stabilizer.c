/// The stabilizer of position-controlled bipeds; see karakuri/stabilizer.h.
///
/// With ω = √(g/z) the divergent component ξ = c + ċ/ω of the pendulum obeys ξ̇ = ω (ξ − p): only it can run away. p = p_d + k (ξ − ξ_d) with
/// k > 1 brings it back. The wanted ZMP is shared between the feet: by its place on the line between the soles their forces, by its
/// distance from that line the moments.
#include <karakuri/stabilizer.h>

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/missing.h"
#include "motion/walk.h"

struct kk_stabilizer {
    kk_allocator allocator;
    const kk_model *model;
    const kk_walk *walk;
    kk_stabilizer_options options; ///< filled in
    kk_ik *ik;
    kk_data *data;
    double omega;
    // what is kept from period to period
    kk_vec3 sum; ///< of the error of ξ, m s
    double turn[2][2], length;
    kk_force floor[2]; ///< felt, filtered
    double *q;         ///< [nq] the last command
    double *q_next;    ///< [nq]
    int has_q;
    void *block;
    size_t block_size;
};

static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// ---- making

static void set_default(double *x, double value) {
    *x = *x > 0 ? *x : value;
}

static void fill_options(kk_stabilizer_options *o) {
    set_default(&o->period, 0.001);
    set_default(&o->gain, 3);
    set_default(&o->integral, 1);
    set_default(&o->sole_length, 0.24);
    set_default(&o->sole_width, 0.14);
    set_default(&o->ankle_damping, 80);
    set_default(&o->ankle_return, 2);
    set_default(&o->leg_damping, 8000);
    set_default(&o->leg_return, 1);
    set_default(&o->filter, 0.005);
    set_default(&o->most_turn, 0.2);
    set_default(&o->most_length, 0.03);
}

static void place(kki_layout *layout, kk_stabilizer *s) {
    KKI_LAYOUT_ARRAY(layout, s->q, (size_t)kk_model_nq(s->model));
    KKI_LAYOUT_ARRAY(layout, s->q_next, (size_t)kk_model_nq(s->model));
}

kk_status kk_stabilizer_create(const kk_model *model, const kk_walk *walk, const kk_stabilizer_options *options,
                               const kk_allocator *allocator, kk_stabilizer **stabilizer) {
    if (kki_is_missing(model, walk, stabilizer)) {
        return KK_INVALID_ARGUMENT;
    }
    *stabilizer = NULL;
    if (walk->model != model) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_allocator chosen = kki_allocator_or_default(allocator);
    kk_stabilizer *s = kki_allocate_zeroed(&chosen, sizeof *s);
    if (!s) {
        return KK_OUT_OF_MEMORY;
    }
    *s = (kk_stabilizer){.allocator = chosen, .model = model, .walk = walk};
    s->options = options ? *options : (kk_stabilizer_options){0};
    fill_options(&s->options);
    s->omega = kk_sqrt(-kk_model_gravity(model).z / walk->height);
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, s);
    s->block_size = layout.size;
    s->block = kki_allocate_zeroed(&chosen, layout.size);
    kk_status status = s->block ? kk_ik_create(model, 4, allocator, &s->ik) : KK_OUT_OF_MEMORY;
    status = status ? status : kk_data_create(model, allocator, &s->data);
    if (status != KK_OK) {
        kk_stabilizer_free(s);
        return status;
    }
    layout = kki_layout_over(s->block);
    place(&layout, s);
    *stabilizer = s;
    return KK_OK;
}

void kk_stabilizer_free(kk_stabilizer *s) {
    if (s) {
        const kk_allocator allocator = s->allocator;
        kk_ik_free(s->ik);
        kk_data_free(s->data);
        kki_release(&allocator, s->block, s->block_size);
        kki_release(&allocator, s, sizeof *s);
    }
}

// ---- the ZMP that is wanted

/// Feet ring when they hit the floor; what is answered is the slower part.
static void feel(kk_stabilizer *s, const kk_stabilizer_input *in) {
    const double share = s->has_q ? s->options.period / (s->options.period + s->options.filter) : 1;
    for (int i = 0; i < 2; i++) {
        const kk_force d = kk_force_sub(in->floor[i], s->floor[i]);
        s->floor[i] =
            kk_force_add(s->floor[i], kk_force_make(kk_vec3_scale(d.angular, share), kk_vec3_scale(d.linear, share)));
    }
}

static kk_vec3 measured_zmp(const kk_stabilizer_input *in) {
    const kk_force f = kk_force_add(in->floor[0], in->floor[1]);
    if (!(f.linear.z > 1)) {
        return kk_vec3_make(__builtin_nan(""), __builtin_nan(""), 0);
    }
    return kk_vec3_make(-f.angular.y / f.linear.z, f.angular.x / f.linear.z, 0);
}

/// Error of ξ in the plane, summed as well.
static kk_vec3 wanted_zmp(kk_stabilizer *s, const kk_walk_frame *plan, const kk_stabilizer_input *in,
                          kk_stabilizer_output *out) {
    const double mass = kk_model_mass(s->model);
    const kk_vec3 c = kk_center_of_mass(s->model, s->data, in->q);
    const kk_vec3 rate = kk_vec3_scale(kk_centroidal_momentum(s->model, s->data, in->q, in->v).linear, 1 / mass);
    out->com_error = kk_vec3_sub(c, plan->com);
    kk_vec3 e = kk_vec3_add(out->com_error, kk_vec3_scale(kk_vec3_sub(rate, plan->com_rate), 1 / s->omega));
    e.z = 0;
    const double most = 0.05 / s->options.integral;
    s->sum = kk_vec3_add(s->sum, kk_vec3_scale(e, s->options.period));
    s->sum.x = clamp(s->sum.x, -most, most);
    s->sum.y = clamp(s->sum.y, -most, most);
    return kk_vec3_add(plan->zmp,
                       kk_vec3_add(kk_vec3_scale(e, s->options.gain), kk_vec3_scale(s->sum, s->options.integral)));
}

// ---- shared between the feet

typedef struct share {
    double force;     ///< N
    double moment[2]; ///< about the sole's middle, its x and y
} share;

/// How much of the way from the left to the right sole the ZMP is: what the right foot bears.
static double right_part(const kk_walk_frame *plan, kk_vec3 zmp) {
    if (plan->load[0] <= 0 || plan->load[1] <= 0) {
        return plan->load[0] <= 0 ? 1 : 0;
    }
    const kk_vec3 d = kk_vec3_sub(plan->sole[1].p, plan->sole[0].p), r = kk_vec3_sub(zmp, plan->sole[0].p);
    return clamp((d.x * r.x + d.y * r.y) / (d.x * d.x + d.y * d.y), 0, 1);
}

static void share_between_feet(const kk_stabilizer *s, const kk_walk_frame *plan, kk_vec3 zmp, share *feet) {
    const double weight = -kk_model_gravity(s->model).z * kk_model_mass(s->model), right = right_part(plan, zmp);
    const kk_vec3 line = kk_vec3_add(kk_vec3_scale(plan->sole[0].p, 1 - right), kk_vec3_scale(plan->sole[1].p, right));
    const kk_vec3 off = kk_vec3_sub(zmp, line);
    for (int i = 0; i < 2; i++) {
        const kk_vec3 in_sole = kk_mat3_tmul_vec(plan->sole[i].R, off);
        const double x = 0.4 * s->options.sole_length, y = 0.4 * s->options.sole_width;
        feet[i].force = weight * (i ? right : 1 - right);
        feet[i].moment[0] = feet[i].force * clamp(in_sole.y, -y, y);
        feet[i].moment[1] = -feet[i].force * clamp(in_sole.x, -x, x);
    }
}

// ---- soles and legs

/// Soles turn until the floor gives the moments; in the air they turn back.
static void turn_soles(kk_stabilizer *s, const kk_walk_frame *plan, const share *feet) {
    const double dt = s->options.period;
    for (int i = 0; i < 2; i++) {
        const kk_force at_sole = kk_force_from(plan->sole[i], s->floor[i]);
        const double moment[2] = {at_sole.angular.x, at_sole.angular.y};
        const int bears = plan->load[i] > 0;
        for (int k = 0; k < 2; k++) {
            double *turn = &s->turn[i][k];
            const double rate = bears ? (moment[k] - feet[i].moment[k]) / s->options.ankle_damping : 0;
            *turn += dt * (rate - *turn / (bears ? s->options.ankle_return : 0.1));
            *turn = clamp(*turn, -s->options.most_turn, s->options.most_turn);
        }
    }
}

/// The leg that bears too little grows.
static void share_force(kk_stabilizer *s, const share *feet) {
    const double missing = feet[0].force - feet[1].force - s->floor[0].linear.z + s->floor[1].linear.z;
    s->length += s->options.period * (missing / s->options.leg_damping - s->length / s->options.leg_return);
    s->length = clamp(s->length, -s->options.most_length, s->options.most_length);
}

static void set_tasks(const kk_stabilizer *s, const kk_walk_frame *plan, kk_ik_task *task) {
    for (int i = 0; i < 4; i++) {
        task[i] = kk_ik_task_default();
    }
    for (int i = 0; i < 2; i++) {
        const kk_mat3 turn = kk_mat3_from_rpy(s->turn[i][0], s->turn[i][1], 0);
        task[i].frame = s->walk->options.sole[i];
        task[i].goal = plan->sole[i];
        task[i].goal.R = kk_mat3_mul(plan->sole[i].R, turn);
        task[i].goal.p.z += (i ? 0.5 : -0.5) * s->length;
    }
    task[2].type = KK_IK_COM;
    task[2].goal.p = plan->com;
    task[3].body = 1;
    task[3].goal.R = kk_mat3_from_rpy(0, 0, kki_walk_yaw(s->walk, plan->time));
    task[3].weight[3] = task[3].weight[4] = task[3].weight[5] = 0;
}

static kk_status find_posture(kk_stabilizer *s, const kk_walk_frame *plan, double *q, double *v) {
    const size_t size = (size_t)kk_model_nq(s->model) * sizeof *q;
    const kk_ik_options o = {.tolerance = 1e-9, .max_iterations = 10, .fixed = s->walk->fixed};
    kk_ik_task task[4];
    kk_ik_report report;
    if (!s->has_q) {
        memcpy(s->q, plan->q, size);
    }
    set_tasks(s, plan, task);
    memcpy(s->q_next, s->q, size);
    const kk_status status = kk_ik_solve(s->model, s->ik, task, 4, &o, s->q_next, &report, NULL);
    kk_difference(s->model, s->q, s->q_next, v);
    for (int k = 0; k < kk_model_nv(s->model); k++) {
        v[k] = s->has_q ? v[k] / s->options.period : 0;
    }
    memcpy(s->q, s->q_next, size);
    memcpy(q, s->q_next, size);
    s->has_q = 1;
    return status == KK_OK || report.error[0] < 1e-3 ? KK_OK : status;
}

kk_status kk_stabilizer_step(kk_stabilizer *s, double time, const kk_stabilizer_input *input, double *q, double *v,
                             kk_stabilizer_output *output) {
    if (kki_is_missing(s, input, q, v)) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_walk_frame plan = kk_walk_frame_at(s->walk, (int)kk_round(time / s->walk->options.timestep));
    kk_stabilizer_output out = {.zmp = measured_zmp(input)};
    share feet[2];
    out.zmp_wanted = wanted_zmp(s, &plan, input, &out);
    share_between_feet(s, &plan, out.zmp_wanted, feet);
    feel(s, input);
    turn_soles(s, &plan, feet);
    share_force(s, feet);
    memcpy(out.turn, s->turn, sizeof out.turn);
    out.length = s->length;
    if (output) {
        *output = out;
    }
    return find_posture(s, &plan, q, v);
}
