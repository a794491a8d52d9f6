/// A walk is made: plan, preview control, joints, correction; see karakuri/walk.h.
#include "motion/walk.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"
#include "motion/preview.h"

enum { CORRECTIONS = 5, MOST_FRAMES = 10000000 };

// ---- making room

static void place(kki_layout *layout, kk_walk *w) {
    const size_t n = (size_t)w->count, nq = (size_t)w->nq, nv = (size_t)w->nv;
    KKI_LAYOUT_ARRAY(layout, w->step, (size_t)w->steps + 1);
    KKI_LAYOUT_ARRAY(layout, w->q, n * nq);
    for (int k = 0; k < 2; k++) {
        KKI_LAYOUT_ARRAY(layout, w->zmp[k], n);
        KKI_LAYOUT_ARRAY(layout, w->com[k], n);
        KKI_LAYOUT_ARRAY(layout, w->whole[k], n);
    }
    KKI_LAYOUT_ARRAY(layout, w->gain, (size_t)(w->options.preview / w->options.timestep) + 1);
    KKI_LAYOUT_ARRAY(layout, w->work, n);
    KKI_LAYOUT_ARRAY(layout, w->work2, n);
    KKI_LAYOUT_ARRAY(layout, w->center, n);
    KKI_LAYOUT_ARRAY(layout, w->q_middle, nq);
    KKI_LAYOUT_ARRAY(layout, w->difference, nv);
    KKI_LAYOUT_ARRAY(layout, w->fixed, nv);
}

static void set_default(double *x, double value) {
    *x = *x > 0 ? *x : value;
}

static void fill_options(kk_walk_options *o) {
    set_default(&o->timestep, 0.005);
    set_default(&o->step_time, 0.9);
    set_default(&o->double_support, 0.2);
    set_default(&o->lift, 0.05);
    set_default(&o->start, 1);
    set_default(&o->end, 1);
    set_default(&o->preview, 1.6);
    o->corrections = o->corrections == 0 ? CORRECTIONS : o->corrections < 0 ? 0 : o->corrections;
}

static kk_status check(const kk_model *m, const kk_walk_options *o, const kk_footstep *steps, int count,
                       kk_error *error) {
    if (kk_model_nbody(m) < 2 || kk_model_joint(m, 1).type != KK_JOINT_FREE) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "the first body has no free joint; a walk needs a robot that can move");
    }
    for (int i = 0; i < 2; i++) {
        if (o->sole[i] < 0 || o->sole[i] >= kk_model_nframe(m) || o->sole[0] == o->sole[1]) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "frame %d is no sole; name one frame for each foot",
                                 o->sole[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        const double duration = steps[i].duration > 0 ? steps[i].duration : o->step_time;
        if (steps[i].foot != KK_LEFT && steps[i].foot != KK_RIGHT) {
            return kki_error_set(error, KK_INVALID_ARGUMENT, "footstep %d: foot %d is neither left (0) nor right (1)",
                                 i, steps[i].foot);
        }
        if (i > 0 && steps[i].foot == steps[i - 1].foot) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "footstep %d: the same foot twice; let the other step between", i);
        }
        if (!(duration > 1.2 * o->double_support && duration < 1e3)) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "footstep %d: it must take more than 1.2 times the double support", i);
        }
        if (!(steps[i].x * 0 + steps[i].y * 0 + steps[i].yaw * 0 == 0)) {
            return kki_error_set(error, KK_NOT_FINITE, "footstep %d: a number is NaN or infinite", i);
        }
    }
    return KK_OK;
}

// ---- the start

/// Degrees of freedom of the legs: those on the way from a sole to the root, without joints that only have springs.
static void find_legs(kk_walk *w) {
    const kk_model *m = w->model;
    memset(w->fixed, 1, (size_t)w->nv);
    for (int side = 0; side < 2; side++) {
        for (int b = kk_model_frame_body(m, w->options.sole[side]); b > 0; b = kk_model_body_parent(m, b)) {
            const kk_joint_info j = kk_model_joint(m, b);
            for (int k = j.v_index; k < j.v_index + j.nv; k++) {
                w->fixed[k] = kk_model_dof(m, k).stiffness > 0;
            }
        }
    }
    for (int i = 0; i < kk_model_nactuator(m); i++) {
        const kk_actuator_info a = kk_model_actuator(m, i);
        if (a.transmission == KK_TRANSMISSION_JOINT && w->fixed[a.v_index]) {
            // a driven joint with a spring is none of those
            for (int side = 0; side < 2; side++) {
                for (int b = kk_model_frame_body(m, w->options.sole[side]); b > 0; b = kk_model_body_parent(m, b)) {
                    w->fixed[a.v_index] = w->fixed[a.v_index] && b != a.joint;
                }
            }
        }
    }
}

/// Where the soles are in the posture, brought flat on the floor and to the width asked for.
static void find_stance(kk_walk *w) {
    kk_kinematics(w->model, w->data, w->q);
    for (int i = 0; i < 2; i++) {
        const kk_transform X = kk_frame_pose(w->model, w->data, w->options.sole[i]);
        w->start[i] = (kki_foothold){X.p.x, X.p.y, kk_atan2(X.R.m[3], X.R.m[0])};
        w->height -= 0.5 * X.p.z;
    }
    w->height += kk_center_of_mass(w->model, w->data, w->q).z;
    w->height = w->options.height > 0 ? w->options.height : w->height;
    if (w->options.width > 0) {
        const double dx = w->start[0].x - w->start[1].x, dy = w->start[0].y - w->start[1].y;
        const double more = 0.5 * (w->options.width / kk_sqrt(dx * dx + dy * dy) - 1);
        w->start[0].x += more * dx, w->start[0].y += more * dy;
        w->start[1].x -= more * dx, w->start[1].y -= more * dy;
    }
}

// ---- the way of the center of mass

static void preview(kk_walk *w) {
    const double g = -kk_model_gravity(w->model).z;
    kki_preview p = {.dt = w->options.timestep, .ratio = w->height / g, .gain = w->gain};
    p.count = (int)(w->options.preview / w->options.timestep);
    kki_preview_design(&p);
    for (int i = 0; i < w->count; i++) {
        const kk_vec3 zmp = kki_walk_zmp(w, i * w->options.timestep);
        w->zmp[0][i] = zmp.x;
        w->zmp[1][i] = zmp.y;
    }
    for (int k = 0; k < 2; k++) {
        kki_preview_follow(&p, w->zmp[k], w->count, w->com[k]);
    }
}

/// What the whole body's ZMP misses, the center of mass makes good (Kajita's second preview; here solved at once).
static void correct(kk_walk *w) {
    const double ratio = w->height / -kk_model_gravity(w->model).z;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < w->count; i++) {
            w->work[i] = w->zmp[k][i] - w->whole[k][i];
        }
        kki_zmp_invert(ratio, w->options.timestep, w->count, w->work, w->work2);
        for (int i = 0; i < w->count; i++) {
            w->com[k][i] += w->work[i];
        }
    }
}

static kk_status work_out(kk_walk *w, kk_error *error) {
    preview(w);
    kk_status status = kki_walk_solve(w, error);
    for (int i = 0; i < w->options.corrections && status == KK_OK; i++) {
        kki_walk_measure(w);
        correct(w);
        status = kki_walk_solve(w, error);
    }
    kki_walk_measure(w);
    return status;
}

// ---- making

static kk_status allocate(kk_walk *w) {
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, w);
    w->block_size = layout.size;
    w->block = kki_allocate_zeroed(&w->allocator, layout.size);
    if (!w->block) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(w->block);
    place(&layout, w);
    const kk_status status = kk_data_create(w->model, &w->allocator, &w->data);
    return status ? status : kk_ik_create(w->model, 4, &w->allocator, &w->ik);
}

static double duration_of(const kk_walk_options *o, const kk_footstep *steps, int count) {
    double sum = o->start + o->end;
    for (int i = 0; i < count; i++) {
        sum += steps[i].duration > 0 ? steps[i].duration : o->step_time;
    }
    return sum;
}

kk_status kk_walk_create(const kk_model *model, const kk_walk_options *options, const kk_footstep *steps, int count,
                         const kk_allocator *allocator, kk_walk **walk, kk_error *error) {
    if (kki_is_missing(model, options, walk)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_walk_options o = *options;
    *walk = NULL;
    fill_options(&o);
    kk_status status = check(model, &o, steps, count, error);
    if (status != KK_OK) {
        return status;
    }
    const double frames = kk_round(duration_of(&o, steps, count) / o.timestep) + 1;
    if (!(frames < MOST_FRAMES)) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED, "the walk has more than %d frames; take a longer time step",
                             MOST_FRAMES);
    }
    const kk_allocator chosen = kki_allocator_or_default(allocator);
    kk_walk *w = kki_allocate_zeroed(&chosen, sizeof *w);
    if (!w) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "the walk does not fit into memory");
    }
    *w = (kk_walk){.allocator = chosen, .model = model, .options = o, .count = (int)frames, .steps = count};
    w->nq = kk_model_nq(model);
    w->nv = kk_model_nv(model);
    status = allocate(w) ? kki_error_set(error, KK_OUT_OF_MEMORY, "the walk does not fit into memory") : KK_OK;
    if (status == KK_OK) {
        kk_model_neutral(model, w->q);
        if (o.posture) {
            memcpy(w->q, o.posture, (size_t)w->nq * sizeof *w->q);
        }
        w->options.posture = NULL; // the caller's
        find_legs(w);
        find_stance(w);
        kki_walk_schedule(w, steps);
        status = work_out(w, error);
    }
    if (status != KK_OK) {
        kk_walk_free(w);
        return status;
    }
    *walk = w;
    return KK_OK;
}

void kk_walk_free(kk_walk *walk) {
    if (walk) {
        const kk_allocator allocator = walk->allocator;
        kk_ik_free(walk->ik);
        kk_data_free(walk->data);
        kki_release(&allocator, walk->block, walk->block_size);
        kki_release(&allocator, walk, sizeof *walk);
    }
}

// ---- reading

int kk_walk_frame_count(const kk_walk *walk) {
    return walk->count;
}

double kk_walk_timestep(const kk_walk *walk) {
    return walk->options.timestep;
}

double kk_walk_zmp_error(const kk_walk *walk) {
    return walk->zmp_error;
}

kk_walk_frame kk_walk_frame_at(const kk_walk *w, int frame) {
    const int i = frame < 0 ? 0 : frame < w->count ? frame : w->count - 1;
    const int before = i > 0 ? i - 1 : i, behind = i + 1 < w->count ? i + 1 : i;
    const double dt = w->options.timestep;
    kk_walk_frame f = {.time = i * dt, .q = w->q + (size_t)i * (size_t)w->nq, .com = w->center[i]};
    f.zmp = kk_vec3_make(w->zmp[0][i], w->zmp[1][i], 0);
    f.com_rate = kk_vec3_scale(kk_vec3_sub(w->center[behind], w->center[before]), 1 / (dt * (behind - before)));
    for (int foot = 0; foot < 2; foot++) {
        f.sole[foot] = kki_walk_sole(w, foot, f.time, &f.load[foot]);
    }
    return f;
}

void kk_walk_sample(const kk_walk *w, double time, double *q, double *v) {
    const double at = time / w->options.timestep;
    const int last = w->count - 1, i = !(at >= 0) ? 0 : at >= last ? last : (int)at;
    const double *from = w->q + (size_t)i * (size_t)w->nq;
    if (!(at >= 0) || i == last) {
        memcpy(q, from, (size_t)w->nq * sizeof *q);
        memset(v, 0, (size_t)w->nv * sizeof *v);
        return;
    }
    kk_difference(w->model, from, from + w->nq, v);
    for (int k = 0; k < w->nv; k++) {
        v[k] *= at - i;
    }
    kk_integrate(w->model, from, v, q);
    kk_difference(w->model, from, from + w->nq, v);
    for (int k = 0; k < w->nv; k++) {
        v[k] /= w->options.timestep;
    }
}
