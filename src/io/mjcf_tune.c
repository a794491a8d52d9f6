/// What MuJoCo computes from the inertia at the reference pose: damping ratios of servos, springdamper of joints.
#include "base/allocator.h"
#include "dynamics/data.h"
#include "dynamics/diagonals.h"
#include "io/mjcf.h"
#include <karakuri/dynamics.h>
#include <karakuri/model.h>

typedef struct tuner {
    kki_mjcf *m;
    kk_model *model;
    kk_data *data;
    double *q, *inertia, *compliance; ///< [nq], and [nv] the diagonals of M and of its inverse
    int nq, nv;
} tuner;

static bool has_spring(const kki_mjcf_joint *joint) {
    return joint->spring[0] > 0 && joint->spring[1] > 0;
}

static bool is_needed(const kki_mjcf *m) {
    bool needed = m->servo_count + m->natural_count + m->held_count + m->muscle_count > 0;
    for (int i = 0; i < m->joint_count; i++) {
        needed = needed || has_spring(&m->joint[i]);
    }
    return needed;
}

static kk_status prepare(tuner *t, kk_error *error) {
    const kk_allocator *a = &t->m->loader->allocator;
    kk_status status = kk_model_compile(t->m->loader->spec, a, &t->model, error);
    status = status                   ? status
             : t->m->muscle_count > 0 ? kki_data_create_without(t->model, 0, a, &t->data)
                                      : kki_data_create_for_poses(t->model, a, &t->data);
    if (status != KK_OK) {
        return status;
    }
    t->nq = kk_model_nq(t->model);
    t->nv = kk_model_nv(t->model);
    t->q = kki_allocate_array(a, (size_t)t->nq, sizeof *t->q);
    t->inertia = kki_allocate_array(a, (size_t)t->nv, sizeof *t->inertia);
    t->compliance = kki_allocate_array(a, (size_t)t->nv, sizeof *t->compliance);
    if (!t->q || !t->inertia || !t->compliance) {
        return KK_OUT_OF_MEMORY;
    }
    kk_model_start(t->model, t->q);
    return kki_inertia_diagonals(t->model, t->data, t->q, a, t->inertia, t->compliance);
}

/// The inertia that a transmission feels: the inverses of its joints' add up, times the squares of their leverage.
static double reflected(const tuner *t, const kk_actuator_def *def) {
    const double gear = def->gear * def->gear;
    if (def->transmission == KK_TRANSMISSION_JOINT) {
        const int body = kk_model_find_joint(t->model, def->target);
        return t->inertia[kk_model_joint(t->model, body).v_index + def->dof] / gear;
    }
    double sum = 0;
    const kk_spec *spec = t->m->loader->spec;
    const int id = kki_mjcf_name_get(t->m, KKI_MJCF_TENDON, def->target);
    const kk_tendon_def *tendon = id < 0 ? NULL : kk_spec_tendon_const(spec, id);
    for (int i = 0; tendon && tendon->type == KK_TENDON_FIXED && i < tendon->item_count; i++) {
        const int body = kk_model_find_joint(t->model, tendon->item[i].name);
        const double c = tendon->item[i].coefficient;
        sum += gear * c * c / t->inertia[kk_model_joint(t->model, body).v_index];
    }
    return sum > 0 ? 1 / sum : 0;
}

static void tune_servos(const tuner *t) {
    for (int i = 0; i < t->m->servo_count; i++) {
        const kki_mjcf_servo *servo = &t->m->servo[i];
        kk_actuator_def *def = kk_spec_actuator(t->m->loader->spec, servo->actuator);
        if (def->transmission == KK_TRANSMISSION_FRAME || def->gear == 0) {
            kki_mjcf_report(t->m, KKI_WARNING, KK_OK, servo->node, "dampratio",
                            "dampratio has no effect with a site; write kv");
            continue;
        }
        def->bias[2] = -servo->ratio * 2 * kk_sqrt(def->gain * reflected(t, def));
    }
}

/// c₀ + c₁ (x − x₀) + … as a polynomial of x, by Horner's scheme from the highest on.
static void shift_polynomial(const double c[5], double x0, double shifted[5]) {
    for (int k = 0; k < 5; k++) {
        shifted[k] = 0;
    }
    for (int i = 4; i >= 0; i--) {
        for (int k = 4; k >= 0; k--) {
            shifted[k] = (k > 0 ? shifted[k - 1] : 0) - x0 * shifted[k] + (k == 0 ? c[i] : 0);
        }
    }
}

/// Held lengths: from those of the reference pose on.
static void tune_held(const tuner *t) {
    if (t->m->held_count == 0) {
        return;
    }
    kk_kinematics(t->model, t->data, t->q);
    for (int i = 0; i < t->m->held_count; i++) {
        const kki_mjcf_held *held = &t->m->held[i];
        kk_tendon_def *def = kk_spec_tendon(t->m->loader->spec, held->tendon);
        const double own = kk_tendon_length(t->model, t->data, held->tendon, t->q);
        const double led = held->leader < 0 ? 0 : kk_tendon_length(t->model, t->data, held->leader, t->q);
        const double constant[5] = {held->c[0]};
        shift_polynomial(held->leader < 0 ? constant : held->c, led, def->held);
        def->held[0] += own;
    }
}

/// Springs of tendons that have no length of their own are at rest where joints' springs are.
static void tune_tendons(const tuner *t) {
    if (t->m->natural_count == 0) {
        return;
    }
    kk_spec *spec = t->m->loader->spec;
    for (int i = 0; i < t->m->joint_count; i++) {
        const kki_mjcf_joint *joint = &t->m->joint[i];
        if (joint->type == KK_JOINT_HINGE || joint->type == KK_JOINT_SLIDE) {
            const kk_body_def *body = kk_spec_body_const(spec, joint->body);
            t->q[kk_model_joint(t->model, joint->body).q_index] = body->joint.dof[0].rest;
        }
    }
    kk_kinematics(t->model, t->data, t->q);
    for (int i = 0; i < t->m->natural_count; i++) {
        kk_tendon_def *def = kk_spec_tendon(spec, t->m->natural[i]);
        def->rest_lower = def->rest_upper = kk_tendon_length(t->model, t->data, t->m->natural[i], t->q);
    }
}

static void tune_joints(const tuner *t) {
    for (int i = 0; i < t->m->joint_count; i++) {
        const kki_mjcf_joint *joint = &t->m->joint[i];
        if (!has_spring(joint)) {
            continue;
        }
        const kk_joint_info info = kk_model_joint(t->model, joint->body);
        double weight = 0;
        for (int k = 0; k < info.nv; k++) {
            weight += t->compliance[info.v_index + k];
        }
        const double inertia = weight > 0 ? info.nv / weight : 0, tau = joint->spring[0], zeta = joint->spring[1];
        kk_joint_def *def = &kk_spec_body(t->m->loader->spec, joint->body)->joint;
        for (int k = 0; k < info.nv; k++) {
            def->dof[k].stiffness = inertia / (tau * tau * zeta * zeta);
            def->dof[k].damping = 2 * inertia / tau;
        }
    }
}

void kki_mjcf_tune(kki_mjcf *m) {
    if (!is_needed(m) || m->status != KK_OK || m->loader->diagnostics->has_error) {
        return;
    }
    tuner t = {.m = m};
    const kk_allocator *a = &m->loader->allocator;
    kk_error error = {.status = KK_OK};
    const kk_status status = prepare(&t, &error);
    if (status == KK_OK) {
        tune_servos(&t);
        tune_joints(&t);
        tune_held(&t);
        kki_mjcf_tune_muscles(m, t.model, t.data, t.q);
        tune_tendons(&t);
    } else if (status == KK_OUT_OF_MEMORY) {
        kki_mjcf_stop(m, status);
    } else {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, KKI_XML_ROOT, NULL,
                        "dampratio, springdamper, springs of tendons without springlength, held tendons and muscles "
                        "have no effect or a wrong one, because the "
                        "model cannot be compiled: %s",
                        error.text);
    }
    kki_release_array(a, t.compliance, (size_t)t.nv, sizeof *t.compliance);
    kki_release_array(a, t.inertia, (size_t)t.nv, sizeof *t.inertia);
    kki_release_array(a, t.q, (size_t)t.nq, sizeof *t.q);
    kk_data_free(t.data);
    kk_model_free(t.model);
}
