/// Muscles: their numbers, and what MuJoCo's compiler finds for them.
///
/// The peak force of a muscle that gives none is scale/|M⁻¹ J|, with the inertia and the moment arms of the reference pose. The length range of one that gives
/// none is what its transmission can reach: MuJoCo lets a damped simulation be drawn to both ends; here the length follows its gradient from the reference
/// pose, within the limits of joints, until nothing moves any more. (MuJoCo's own result is good to some 5 %, see tolrange.)
#include <string.h>

#include "base/allocator.h"
#include "io/mjcf.h"
#include "model/item.h"

// ---- numbers

void kki_mjcf_muscle_dynamics(const kki_mjcf_at *at, const char *attribute, kk_actuator_def *def) {
    double v[10] = {def->muscle.time_constant[0], def->muscle.time_constant[1], 0};
    kki_mjcf_numbers(at, attribute, 1, 10, v);
    def->activation = KK_ACTIVATION_MUSCLE;
    def->muscle.time_constant[0] = v[0];
    def->muscle.time_constant[1] = v[1];
    def->muscle.smoothing = v[2];
}

/// As MuJoCo packs them: range, force, scale, lmin, lmax, vmax, fpmax, fvmax.
static void unpack(const double v[9], kk_muscle_def *m) {
    m->range[0] = v[0];
    m->range[1] = v[1];
    m->force = v[2] < 0 ? 1 : v[2];
    m->lmin = v[4];
    m->lmax = v[5];
    m->vmax = v[6];
    m->fpmax = v[7];
    m->fvmax = v[8];
}

void kki_mjcf_set_muscle(const kki_mjcf_at *at, kk_actuator_def *def) {
    const kk_muscle_def base = def->muscle;
    double range[2] = {base.range[0], base.range[1]}, time[2] = {base.time_constant[0], base.time_constant[1]};
    kki_mjcf_numbers(at, "range", 2, 2, range);
    kki_mjcf_numbers(at, "timeconst", 1, 2, time);
    const double v[9] = {range[0],
                         range[1],
                         kki_mjcf_number(at, "force", -1),
                         0,
                         kki_mjcf_number(at, "lmin", base.lmin),
                         kki_mjcf_number(at, "lmax", base.lmax),
                         kki_mjcf_number(at, "vmax", base.vmax),
                         kki_mjcf_number(at, "fpmax", base.fpmax),
                         kki_mjcf_number(at, "fvmax", base.fvmax)};
    unpack(v, &def->muscle);
    def->type = KK_ACTUATOR_MUSCLE;
    def->activation = KK_ACTIVATION_MUSCLE;
    def->muscle.time_constant[0] = time[0];
    def->muscle.time_constant[1] = time[1];
    def->muscle.smoothing = kki_mjcf_number(at, "tausmooth", 0);
}

static const double DEFAULTS[10] = {0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};

static void read_packed(const kki_mjcf_at *at, const char *attribute, double v[10]) {
    for (int i = 0; i < 10; i++) {
        v[i] = DEFAULTS[i];
    }
    kki_mjcf_numbers(at, attribute, 1, 10, v);
}

bool kki_mjcf_general_muscle(const kki_mjcf_at *at, int dynamics, bool has_bias, kk_actuator_def *def) {
    double gain[10], bias[10];
    read_packed(at, "gainprm", gain);
    read_packed(at, has_bias ? "biasprm" : "gainprm", bias);
    for (int i = 0; i < 6 && has_bias; i++) {
        if (gain[i] != bias[i] && i != 4) {
            kki_mjcf_report(at->m, KKI_WARNING, KK_OK, at->node, "biasprm",
                            "the muscle is left out; its biasprm must be its gainprm");
            return false;
        }
    }
    unpack(gain, &def->muscle);
    def->muscle.fpmax = has_bias ? bias[7] : 0;
    def->type = KK_ACTUATOR_MUSCLE;
    def->activation = (kk_activation)dynamics;
    if (dynamics == KK_ACTIVATION_MUSCLE) {
        kki_mjcf_muscle_dynamics(at, "dynprm", def);
    } else if (dynamics == KK_ACTIVATION_FILTER) {
        def->time_constant = kki_mjcf_number(at, "dynprm", 1);
    }
    return true;
}

void kki_mjcf_note_muscle(const kki_mjcf_at *at, int actuator) {
    kki_mjcf *m = at->m;
    const bool is_general = kki_xml_is(m->xml, at->node, "general");
    kk_muscle_def *def = &kk_spec_actuator(m->loader->spec, actuator)->muscle;
    double packed[10], range[2] = {0, 0};
    read_packed(at, "gainprm", packed);
    const double force = is_general ? packed[2] : kki_mjcf_number(at, "force", -1);
    const double scale = is_general ? packed[3] : kki_mjcf_number(at, "scale", 200);
    kki_mjcf_numbers(at, "lengthrange", 2, 2, range);
    const bool has_range = range[0] < range[1] && !m->set.uses_no_range;
    if (has_range) {
        def->length_lower = range[0];
        def->length_upper = range[1];
    }
    if (has_range && force >= 0) {
        return;
    }
    kki_mjcf_muscle *muscle = KKI_MJCF_PUSH(m, muscle);
    if (muscle) {
        *muscle = (kki_mjcf_muscle){actuator, force < 0 ? scale : 0, has_range, at->node};
    }
}

// ---- lengths that can be reached

/// A transmission of a muscle, and scratch.
typedef struct reach {
    const kk_model *model;
    kk_data *data;
    const kk_actuator_def *def;
    int tendon, v_index, q_index; ///< −1: it is not one
    int nq, nv;
    double *q, *trial, *moment, *step;
    double *still, *rest, *acceleration; ///< [nv] zeros; accelerations without and with the muscle, from rest
} reach;

/// Length at a pose, and its gradient.
static double length_at(const reach *r, const double *q, double *moment) {
    kk_kinematics(r->model, r->data, q);
    if (r->tendon < 0) {
        for (int k = 0; k < r->nv; k++) {
            moment[k] = k == r->v_index ? r->def->gear : 0;
        }
        return r->def->gear * q[r->q_index];
    }
    kk_tendon_moment(r->model, r->data, r->tendon, moment);
    for (int k = 0; k < r->nv; k++) {
        moment[k] *= r->def->gear;
    }
    return r->def->gear * kk_tendon_length(r->model, r->data, r->tendon, q);
}

/// Brings hinges and slides back within their limits.
static void keep_within_limits(const kk_model *m, double *q) {
    for (int i = 1; i < kk_model_nbody(m); i++) {
        const kk_joint_info joint = kk_model_joint(m, i);
        if (joint.nq == 1) {
            const kk_dof_def dof = kk_model_dof(m, joint.v_index);
            double *x = &q[joint.q_index];
            *x = *x < dof.lower ? dof.lower : *x > dof.upper ? dof.upper : *x;
        }
    }
}

/// A step along sign · ∇L of a size, to r->trial; the length there.
static double try_step(const reach *r, double sign, double size) {
    double norm = 0;
    for (int k = 0; k < r->nv; k++) {
        norm += r->moment[k] * r->moment[k];
    }
    for (int k = 0; k < r->nv; k++) {
        r->step[k] = norm > 0 ? sign * size * r->moment[k] / kk_sqrt(norm) : 0;
    }
    kk_integrate(r->model, r->q, r->step, r->trial);
    keep_within_limits(r->model, r->trial);
    return length_at(r, r->trial, r->step);
}

/// What of the gradient limits leave.
static void project_gradient(const reach *r, double sign) {
    for (int i = 1; i < kk_model_nbody(r->model); i++) {
        const kk_joint_info joint = kk_model_joint(r->model, i);
        if (joint.nq != 1) {
            continue;
        }
        const kk_dof_def dof = kk_model_dof(r->model, joint.v_index);
        const double x = r->q[joint.q_index];
        double *g = &r->moment[joint.v_index];
        *g = (x >= dof.upper && sign * *g > 0) || (x <= dof.lower && sign * *g < 0) ? 0 : *g;
    }
}

enum { MOST_STEPS = 1000 };
static const double FIRST_STEP = 0.2, LAST_STEP = 1e-7, FARTHEST = 1e6;

/// The longest or shortest that can be reached; false where there is no end.
static bool find_end(reach *r, const double *from, double sign, double *end) {
    double size = FIRST_STEP, best = length_at(r, from, r->moment);
    for (int k = 0; k < r->nq; k++) {
        r->q[k] = from[k];
    }
    keep_within_limits(r->model, r->q);
    best = length_at(r, r->q, r->moment);
    for (int i = 0; i < MOST_STEPS && size > LAST_STEP; i++) {
        project_gradient(r, sign);
        const double length = try_step(r, sign, size);
        if (sign * length > sign * best) {
            for (int k = 0; k < r->nq; k++) {
                r->q[k] = r->trial[k];
            }
            best = length_at(r, r->q, r->moment);
            size *= 2;
        } else {
            size *= 0.5;
            best = length_at(r, r->q, r->moment);
        }
    }
    *end = best;
    return best == best && __builtin_fabs(best) < FARTHEST;
}

/// Both ends; of a joint they are those of its limits, whatever the others do.
static bool find_ends(reach *r, const double *q, double range[2]) {
    if (r->tendon >= 0) {
        return find_end(r, q, -1, &range[0]) && find_end(r, q, 1, &range[1]) && range[0] < range[1];
    }
    const kk_dof_def dof = kk_model_dof(r->model, r->v_index);
    const double a = r->def->gear * dof.lower, b = r->def->gear * dof.upper;
    range[0] = a < b ? a : b;
    range[1] = a < b ? b : a;
    return range[0] > -FARTHEST && range[1] < FARTHEST && range[0] < range[1];
}

static bool limits_of(const kki_mjcf *m, const reach *r, double range[2]) {
    if (r->tendon >= 0) {
        const kk_tendon_def *t = kk_spec_tendon_const(m->loader->spec, r->tendon);
        range[0] = t->lower;
        range[1] = t->upper;
    } else {
        const kk_dof_def dof = kk_model_dof(r->model, r->v_index);
        range[0] = dof.lower;
        range[1] = dof.upper;
    }
    return range[0] > -__builtin_inf() && range[1] < __builtin_inf() && range[0] < range[1];
}

static void find_range(kki_mjcf *m, reach *r, const double *q, const kki_mjcf_muscle *muscle) {
    kk_muscle_def *def = &kk_spec_actuator(m->loader->spec, muscle->actuator)->muscle;
    double range[2];
    kki_mjcf_enter(m, muscle->node);
    const bool is_limit = m->set.uses_limits && limits_of(m, r, range);
    if (!is_limit && !find_ends(r, q, range)) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, muscle->node, NULL,
                        "the length of the muscle's transmission has no range; give its joints limits, or write "
                        "lengthrange=\"...\" (0 1 is used)");
        return;
    }
    def->length_lower = range[0];
    def->length_upper = range[1];
    kki_mjcf_report(m, KKI_NOTE, KK_OK, muscle->node, NULL, "no lengthrange is given; %s give %s to %s",
                    is_limit ? "the limits" : "joints within their limits", KKI_NUMBER(range[0]), KKI_NUMBER(range[1]));
}

// ---- forces

static void find_force(kki_mjcf *m, reach *r, const double *q, const kki_mjcf_muscle *muscle) {
    kk_muscle_def *def = &kk_spec_actuator(m->loader->spec, muscle->actuator)->muscle;
    double square = 0;
    length_at(r, q, r->moment);
    kk_forward_dynamics(r->model, r->data, q, r->still, r->moment, r->acceleration);
    for (int i = 0; i < r->nv; i++) {
        const double own = r->acceleration[i] - r->rest[i];
        square += own * own;
    }
    const double acceleration = kk_sqrt(square);
    def->force = muscle->scale / (acceleration > 1e-15 ? acceleration : 1e-15);
}

static bool begin_reach(const kki_mjcf *m, const kki_mjcf_muscle *muscle, reach *r) {
    r->def = kk_spec_actuator_const(m->loader->spec, muscle->actuator);
    r->tendon = r->v_index = r->q_index = -1;
    if (r->def->transmission == KK_TRANSMISSION_TENDON) {
        r->tendon = kki_mjcf_name_get(m, KKI_MJCF_TENDON, r->def->target);
    } else if (r->def->transmission == KK_TRANSMISSION_JOINT) {
        const kk_joint_info joint = kk_model_joint(r->model, kk_model_find_joint(r->model, r->def->target));
        r->v_index = joint.v_index + r->def->dof;
        r->q_index = joint.q_index + r->def->dof;
    }
    return r->tendon >= 0 || r->v_index >= 0;
}

void kki_mjcf_tune_muscles(kki_mjcf *m, const kk_model *model, kk_data *data, const double *q) {
    const kk_allocator *a = &m->loader->allocator;
    const size_t nq = (size_t)kk_model_nq(model), nv = (size_t)kk_model_nv(model), room = 2 * nq + 5 * nv;
    double *scratch = m->muscle_count > 0 ? kki_allocate_array(a, room, sizeof *scratch) : NULL;
    if (!scratch) {
        kki_mjcf_stop(m, m->muscle_count > 0 ? KK_OUT_OF_MEMORY : KK_OK);
        return;
    }
    reach r = {.model = model, .data = data, .nq = (int)nq, .nv = (int)nv};
    r.q = scratch;
    r.trial = r.q + nq;
    r.moment = r.trial + nq;
    r.step = r.moment + nv;
    r.still = r.step + nv;
    r.rest = r.still + nv;
    r.acceleration = r.rest + nv;
    memset(r.still, 0, nv * sizeof *r.still);
    kk_forward_dynamics(model, data, q, r.still, r.still, r.rest);
    for (int i = 0; i < m->muscle_count; i++) {
        const kki_mjcf_muscle *muscle = &m->muscle[i];
        if (!begin_reach(m, muscle, &r)) {
            continue;
        }
        if (!muscle->has_range) {
            find_range(m, &r, q, muscle);
        }
        if (muscle->scale > 0) {
            find_force(m, &r, q, muscle);
        }
    }
    kki_release_array(a, scratch, room, sizeof *scratch);
}
