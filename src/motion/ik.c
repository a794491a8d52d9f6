/// Inverse kinematics: the object, and the iteration with its restarts; see karakuri/ik.h.
///
/// T. Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27, 2011. The damping
/// λ = ν E + w follows the error; ν rises where a step makes the error larger, and falls again.
#include "motion/ik.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"

enum { MAX_ITERATIONS = 100, PATIENCE = 10 };
static const double TOLERANCE = 1e-10, LEAST_STEP = 1e-14;

// ---- making

kk_ik_task kk_ik_task_default(void) {
    return (kk_ik_task){
        .type = KK_IK_FRAME, .frame = -1, .goal = kk_transform_identity(), .weight = {1, 1, 1, 1, 1, 1}};
}

static void place(kki_layout *layout, kk_ik *ik) {
    const size_t nv = (size_t)kk_model_nv(ik->model), nq = (size_t)kk_model_nq(ik->model), rows = (size_t)ik->max_rows;
    KKI_LAYOUT_ARRAY(layout, ik->J, rows * nv);
    KKI_LAYOUT_ARRAY(layout, ik->e, rows);
    KKI_LAYOUT_ARRAY(layout, ik->weight, rows);
    KKI_LAYOUT_ARRAY(layout, ik->lower, nv);
    KKI_LAYOUT_ARRAY(layout, ik->upper, nv);
    KKI_LAYOUT_ARRAY(layout, ik->coordinate, nv);
    KKI_LAYOUT_ARRAY(layout, ik->held, nv);
    KKI_LAYOUT_ARRAY(layout, ik->task_J, 6 * nv);
    KKI_LAYOUT_ARRAY(layout, ik->other_J, 6 * nv);
    KKI_LAYOUT_ARRAY(layout, ik->Z, nv * nv);
    KKI_LAYOUT_ARRAY(layout, ik->A, rows * nv);
    KKI_LAYOUT_ARRAY(layout, ik->H, nv * nv);
    KKI_LAYOUT_ARRAY(layout, ik->g, nv);
    KKI_LAYOUT_ARRAY(layout, ik->b, rows);
    KKI_LAYOUT_ARRAY(layout, ik->step, nv);
    KKI_LAYOUT_ARRAY(layout, ik->scratch, nv);
    KKI_LAYOUT_ARRAY(layout, ik->q_start, nq);
    KKI_LAYOUT_ARRAY(layout, ik->q_now, nq);
    KKI_LAYOUT_ARRAY(layout, ik->q_try, nq);
    KKI_LAYOUT_ARRAY(layout, ik->q_best, nq);
}

/// Limits of the degrees of freedom that are coordinates themselves.
static void find_limits(kk_ik *ik) {
    for (int k = 0; k < kk_model_nv(ik->model); k++) {
        ik->coordinate[k] = -1;
    }
    for (int body = 1; body < kk_model_nbody(ik->model); body++) {
        const kk_joint_info joint = kk_model_joint(ik->model, body);
        for (int i = 0; i < joint.nv && joint.nq == joint.nv; i++) {
            const kk_dof_def dof = kk_model_dof(ik->model, joint.v_index + i);
            ik->coordinate[joint.v_index + i] = joint.q_index + i;
            ik->lower[joint.v_index + i] = dof.lower;
            ik->upper[joint.v_index + i] = dof.upper;
        }
    }
}

kk_status kk_ik_create(const kk_model *model, int max_tasks, const kk_allocator *allocator, kk_ik **ik) {
    if (!model || !ik || max_tasks < 1) {
        return KK_INVALID_ARGUMENT;
    }
    *ik = NULL;
    const kk_allocator chosen = kki_allocator_or_default(allocator);
    kk_ik *made = kki_allocate_zeroed(&chosen, sizeof *made);
    if (!made) {
        return KK_OUT_OF_MEMORY;
    }
    made->allocator = chosen;
    made->model = model;
    made->max_tasks = max_tasks;
    made->max_rows = 6 * max_tasks + kk_model_nv(model) + kki_ik_mechanism_rows(model);
    made->mechanism = kki_ik_mechanism_rows(model) > 0;
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, made);
    made->block_size = layout.size;
    made->block = kki_allocate_zeroed(&chosen, layout.size);
    const kk_status status = made->block ? kk_data_create(model, allocator, &made->data) : KK_OUT_OF_MEMORY;
    if (status != KK_OK) {
        kk_ik_free(made);
        return status;
    }
    layout = kki_layout_over(made->block);
    place(&layout, made);
    find_limits(made);
    *ik = made;
    return KK_OK;
}

void kk_ik_free(kk_ik *ik) {
    if (ik) {
        const kk_allocator allocator = ik->allocator;
        kk_data_free(ik->data);
        kki_release(&allocator, ik->block, ik->block_size);
        kki_release(&allocator, ik, sizeof *ik);
    }
}

// ---- checking

static kk_status check_task(const kk_model *m, const kk_ik_task *t, int index, kk_error *error) {
    if (t->priority < 0 || t->priority >= KK_IK_MAX_LEVELS) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "task %d: priority %d is not in 0 … %d", index, t->priority,
                             KK_IK_MAX_LEVELS - 1);
    }
    const int has_place = t->frame >= 0 ? t->frame < kk_model_nframe(m) : t->body > 0 && t->body < kk_model_nbody(m);
    if (t->type == KK_IK_FRAME && !has_place) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "task %d: there is no frame %d and no body %d to move; take ids from kk_model_find_frame "
                             "or kk_model_find_body",
                             index, t->frame, t->body);
    }
    if (t->type == KK_IK_POSTURE && !t->posture) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "task %d: the posture is missing", index);
    }
    return KK_OK;
}

static kk_status check_tasks(const kk_model *m, kk_ik *ik, const kk_ik_task *tasks, int count, kk_error *error) {
    int postures = 0;
    ik->levels = 1 + ik->mechanism;
    for (int i = 0; i < count; i++) {
        const kk_status status = check_task(m, &tasks[i], i, error);
        if (status != KK_OK) {
            return status;
        }
        postures += tasks[i].type == KK_IK_POSTURE;
        const int level = tasks[i].priority + ik->mechanism;
        ik->levels = level + 1 > ik->levels ? level + 1 : ik->levels;
    }
    if (count - postures > ik->max_tasks || postures > 1) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "%d tasks and %d postures are more than the %d tasks and one posture there is room for",
                             count - postures, postures, ik->max_tasks);
    }
    return m == ik->model ? KK_OK : kki_error_set(error, KK_INVALID_ARGUMENT, "the scratch belongs to another model");
}

// ---- iterating

/// What a posture is worth: errors, each level counting a hundredth of the one before.
static double merit(const kk_ik *ik) {
    double sum = 0, share = 1;
    for (int level = 0; level < ik->levels; level++) {
        for (int i = ik->first[level]; i < ik->first[level + 1]; i++) {
            sum += 0.5 * share * ik->weight[i] * ik->e[i] * ik->e[i];
        }
        share *= 1e-2;
    }
    return sum;
}

static double largest(const kk_ik *ik, int level) {
    double most = 0;
    for (int i = ik->first[level]; level < ik->levels && i < ik->first[level + 1]; i++) {
        const double e = ik->e[i] < 0 ? -ik->e[i] : ik->e[i];
        most = e > most ? e : most;
    }
    return most;
}

/// What the mechanism itself lacks counts as the first priority's.
static void take_errors(const kk_ik *ik, double tolerance, kk_ik_report *r) {
    r->is_reached = 1;
    for (int level = 0; level < KK_IK_MAX_LEVELS; level++) {
        const double own = largest(ik, level + ik->mechanism), open = level == 0 && ik->mechanism ? largest(ik, 0) : 0;
        r->error[level] = own > open ? own : open;
        r->is_reached = r->is_reached && r->error[level] <= tolerance;
    }
}

static int is_standing(const kk_ik *ik) {
    double most = 0;
    for (int k = 0; k < kk_model_nv(ik->model); k++) {
        most = ik->step[k] > most ? ik->step[k] : -ik->step[k] > most ? -ik->step[k] : most;
    }
    return most < LEAST_STEP;
}

/// From q_now to where no step helps any more. Leaves the errors of q_now in the rows.
static void descend(const kk_model *m, kk_ik *ik, const kk_ik_task *tasks, int count, const kk_ik_options *o,
                    kk_ik_report *r) {
    const int most = o->max_iterations > 0 ? o->max_iterations : MAX_ITERATIONS;
    double damping = 1, before = __builtin_inf();
    kki_ik_evaluate(m, ik, tasks, count, ik->q_now);
    double now = merit(ik);
    take_errors(ik, o->tolerance, r);
    for (int i = 0; i < most && !r->is_reached && damping < 1e12; i++) {
        r->iterations++;
        // where other starts are to come, one that hardly gets better is left
        if (i % PATIENCE == PATIENCE - 1) {
            if (o->max_tries > 1 && now > 0.9 * before) {
                break;
            }
            before = now;
        }
        kki_ik_step(ik, damping, ik->q_now);
        if (is_standing(ik)) {
            break;
        }
        kk_integrate(m, ik->q_now, ik->step, ik->q_try);
        kki_ik_evaluate(m, ik, tasks, count, ik->q_try);
        const double next = merit(ik);
        if (next < now) {
            memcpy(ik->q_now, ik->q_try, (size_t)kk_model_nq(m) * sizeof *ik->q_now);
            take_errors(ik, o->tolerance, r);
            damping = damping > 1e-6 ? damping / 4 : damping;
            now = next;
        } else {
            damping = damping < 1e-3 ? 1 : damping * 8;
            kki_ik_evaluate(m, ik, tasks, count, ik->q_now);
        }
    }
}

/// Where the last priorities cannot be had, the others are brought home without them.
static void settle(const kk_model *m, kk_ik *ik, const kk_ik_task *tasks, int count, const kk_ik_options *o,
                   kk_ik_report *r) {
    const int levels = ik->levels;
    while (!r->is_reached && ik->levels > 1 + ik->mechanism) {
        ik->levels--;
        descend(m, ik, tasks, count, o, r);
    }
    ik->levels = levels;
    kki_ik_evaluate(m, ik, tasks, count, ik->q_now);
    take_errors(ik, o->tolerance, r);
}

/// Whether a degree of freedom changes anything that is asked for, at the posture that was evaluated.
static int matters(const kk_model *m, const kk_ik *ik, int dof) {
    const size_t nv = (size_t)kk_model_nv(m);
    for (int r = 0; r < ik->rows; r++) {
        if (ik->J[(size_t)r * nv + (size_t)dof] != 0) {
            return 1;
        }
    }
    return 0;
}

/// Another start: a random posture, but for what is fixed, for bases and for joints that move nothing asked for (at a random posture a column
/// of zeros is no accident), which stay as they were.
static void start_anywhere(const kk_model *m, kk_ik *ik, const kk_ik_task *tasks, int count, const kk_ik_options *o,
                           int attempt) {
    kk_model_random_q(m, o->seed + 1, (uint64_t)attempt, ik->q_try);
    kki_ik_evaluate(m, ik, tasks, count, ik->q_try);
    memcpy(ik->q_now, ik->q_start, (size_t)kk_model_nq(m) * sizeof *ik->q_now);
    for (int k = 0; k < kk_model_nv(m); k++) {
        if (ik->coordinate[k] >= 0 && !(o->fixed && o->fixed[k]) && matters(m, ik, k)) {
            ik->q_now[ik->coordinate[k]] = ik->q_try[ik->coordinate[k]];
        }
    }
    if (!o->fixed) {
        kk_couplings_apply(m, ik->q_now, NULL);
    }
}

static void clamp_start(const kk_model *m, kk_ik *ik, const kk_ik_options *o) {
    for (int k = 0; k < kk_model_nv(m); k++) {
        const int i = ik->coordinate[k];
        ik->held[k] = o->fixed && o->fixed[k];
        if (i >= 0 && !ik->held[k]) {
            ik->q_now[i] = ik->q_now[i] > ik->upper[k] ? ik->upper[k]
                                                       : (ik->q_now[i] < ik->lower[k] ? ik->lower[k] : ik->q_now[i]);
        }
    }
}

kk_status kk_ik_solve(const kk_model *model, kk_ik *ik, const kk_ik_task *tasks, int count,
                      const kk_ik_options *options, double *q, kk_ik_report *report, kk_error *error) {
    if (kki_is_missing(model, ik, q) || (count > 0 && !tasks)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const size_t size = (size_t)kk_model_nq(model) * sizeof *q;
    const kk_status status = check_tasks(model, ik, tasks, count, error);
    if (status != KK_OK) {
        return status;
    }
    kk_ik_options o = options ? *options : (kk_ik_options){0};
    o.tolerance = o.tolerance > 0 ? o.tolerance : TOLERANCE;
    kk_ik_report best = {0}, r = {0};
    double least = 0;
    memcpy(ik->q_start, q, size);
    memcpy(ik->q_now, q, size);
    for (int attempt = 0; attempt == 0 || (attempt < o.max_tries && !best.is_reached); attempt++) {
        if (attempt > 0) {
            start_anywhere(model, ik, tasks, count, &o, attempt);
        }
        clamp_start(model, ik, &o);
        r.tries++;
        descend(model, ik, tasks, count, &o, &r);
        settle(model, ik, tasks, count, &o, &r);
        if (attempt == 0 || r.is_reached || merit(ik) < least) {
            least = merit(ik);
            best = r;
            memcpy(ik->q_best, ik->q_now, size);
        }
    }
    best.iterations = r.iterations;
    best.tries = r.tries;
    memcpy(q, ik->q_best, size);
    if (report) {
        *report = best;
    }
    return best.error[0] <= o.tolerance
               ? KK_OK
               : kki_error_set(error, KK_NOT_CONVERGED,
                               ik->mechanism
                                   ? "no posture within the joint limits was found that reaches the goal, with "
                                     "couplings kept and loops closed"
                                   : "no posture within the joint limits was found that reaches the goal");
}
