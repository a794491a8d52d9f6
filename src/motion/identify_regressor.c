/// Identification by the regressor. Every smoothed row of the log gives an equation a degree of freedom,
///     actuators  =  inverse dynamics + damping v + friction sign v + stiffness (q − rest) + armature a,
/// linear in the parameters: those of masses are columns of kk_torque_regressor times the body's (m, m c, J) per unit of mass. The actuators' forces are those
/// measured, and law = force is then the equation of a gain; where none were measured the laws stand in their place. Controls go through the same smoothing as
/// what they are held against. Rows next to a turning point do not tell which way dry friction acts, and are left out of their joint.
#include <karakuri/dynamics.h>
#include <karakuri/elementary.h>
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"
#include "motion/identify.h"

enum { INERTIAL = 10 };
static const double TURNING = 0.05; ///< of a joint's largest speed: slower, it may turn round

/// Room for one row.
typedef struct regressor {
    kki_identifier id;
    kk_data *data;
    double *q, *v, *a, *tau, *passive, *Y;
    double *control;          ///< [actuators] smoothed
    double *column;           ///< [count × nv] what the parameters' units do
    double *rest;             ///< [nv] what everything else does: forces minus motion
    double *fastest, *spread; ///< [nv] largest speed; squares of what is left
    double N[KKI_PARAMETERS * KKI_PARAMETERS], y[KKI_PARAMETERS], yy;
    int rows;
    size_t size;
} regressor;

static void place(kki_layout *layout, regressor *r) {
    const size_t nq = (size_t)kk_model_nq(r->id.model), nv = (size_t)kk_model_nv(r->id.model);
    KKI_LAYOUT_ARRAY(layout, r->q, nq + 1);
    double **const small[] = {&r->v, &r->a, &r->tau, &r->passive, &r->rest, &r->fastest, &r->spread};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        KKI_LAYOUT_ARRAY(layout, *small[i], nv + 1);
    }
    KKI_LAYOUT_ARRAY(layout, r->control, (size_t)kk_model_nactuator(r->id.model) + 1);
    KKI_LAYOUT_ARRAY(layout, r->column, nv * (size_t)r->id.count);
    KKI_LAYOUT_ARRAY(layout, r->Y, nv * INERTIAL * (size_t)kk_model_nbody(r->id.model));
}

// ---- columns

/// A body's (m, m c, J about its origin) per unit of mass, in the regressor's order.
static void inertial_per_mass(kk_inertia I, double *p) {
    const kk_vec3 c = I.com;
    const double m = I.mass;
    const double about[INERTIAL] = {1,
                                    c.x,
                                    c.y,
                                    c.z,
                                    I.moment.xx / m + c.y * c.y + c.z * c.z,
                                    I.moment.xy / m - c.x * c.y,
                                    I.moment.yy / m + c.x * c.x + c.z * c.z,
                                    I.moment.xz / m - c.x * c.z,
                                    I.moment.yz / m - c.y * c.z,
                                    I.moment.zz / m + c.x * c.x + c.y * c.y};
    memcpy(p, about, sizeof about);
}

static void put_mass(regressor *r, int body, double *column) {
    const int nv = kk_model_nv(r->id.model);
    const size_t stride = (size_t)INERTIAL * (size_t)(kk_model_nbody(r->id.model) - 1);
    double p[INERTIAL];
    inertial_per_mass(kk_model_body_inertia(r->id.model, body), p);
    for (int k = 0; k < nv; k++) {
        const double *y = r->Y + (size_t)k * stride + (size_t)INERTIAL * (size_t)(body - 1);
        for (int i = 0; i < INERTIAL; i++) {
            column[k] += y[i] * p[i];
        }
    }
}

static double sign_of(double x) {
    return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/// An actuator's force in its joint by its law.
static double law_of(const regressor *r, int actuator) {
    const kk_actuator_info a = kk_model_actuator(r->id.model, actuator);
    const kk_joint_info j = kk_model_joint(r->id.model, a.joint);
    const double u = r->control[actuator];
    const double length = a.gear * r->q[j.q_index + a.v_index - j.v_index], rate = a.gear * r->v[a.v_index];
    double f = a.gain * u + a.bias[0] + a.bias[1] * length + a.bias[2] * rate;
    f = f < a.force_lower ? a.force_lower : f > a.force_upper ? a.force_upper : f;
    return a.gear * f;
}

/// What a unit of a joint's number asks of the actuators.
static double unit_of(const regressor *r, kk_parameter_type type, int dof) {
    switch (type) {
    case KK_PARAMETER_DAMPING: return r->v[dof];
    case KK_PARAMETER_FRICTION: return sign_of(r->v[dof]);
    case KK_PARAMETER_ARMATURE: return r->a[dof];
    default: break;
    }
    // stiffness: the model's own spring tells where it is slack
    kk_dof_def d = kk_model_dof(r->id.model, dof);
    return d.stiffness > 0 ? -(r->passive[dof] + d.damping * r->v[dof]) / d.stiffness : r->q[dof] - d.rest;
}

static void put_columns(regressor *r, int by_laws) {
    const int nv = kk_model_nv(r->id.model);
    memset(r->column, 0, (size_t)nv * (size_t)r->id.count * sizeof *r->column);
    for (int i = 0; i < r->id.count; i++) {
        const kk_parameter *p = &r->id.parameter[i];
        double *column = r->column + (size_t)i * (size_t)nv;
        if (p->type == KK_PARAMETER_MASS) {
            put_mass(r, r->id.id[i], column);
        } else if (p->type == KK_PARAMETER_GAIN) {
            const kk_actuator_info a = kk_model_actuator(r->id.model, r->id.id[i]);
            column[a.v_index] = by_laws ? -law_of(r, r->id.id[i]) / a.gain : 0;
        } else {
            column[r->id.id[i]] = unit_of(r, p->type, r->id.id[i]);
        }
    }
}

// ---- what is known

/// Forces of the actuators: measured, or by their laws.
static void take_forces(regressor *r, int row, int by_laws) {
    if (!by_laws) {
        kki_smooth_forces(&r->id, row, r->tau);
        return;
    }
    memset(r->tau, 0, (size_t)kk_model_nv(r->id.model) * sizeof *r->tau);
    for (int i = 0; i < kk_model_nactuator(r->id.model); i++) {
        const kk_actuator_info a = kk_model_actuator(r->id.model, i);
        if (a.transmission == KK_TRANSMISSION_JOINT) {
            r->tau[a.v_index] += law_of(r, i);
        }
    }
}

/// The model's own numbers for what is looked for are taken out of what is known: rest = forces − motion + Σ column · number.
static void put_rest(regressor *r, int by_laws) {
    const int nv = kk_model_nv(r->id.model);
    kk_inverse_dynamics(r->id.model, r->data, r->q, r->v, r->a, r->rest);
    for (int k = 0; k < nv; k++) {
        const double friction = kk_model_dof(r->id.model, k).friction;
        r->rest[k] = r->tau[k] + r->passive[k] - friction * sign_of(r->v[k]) - r->rest[k];
    }
    for (int i = 0; i < r->id.count; i++) {
        const kk_parameter *p = &r->id.parameter[i];
        const int id = r->id.id[i];
        const kk_dof_def d = p->type == KK_PARAMETER_MASS || p->type == KK_PARAMETER_GAIN
                                 ? (kk_dof_def){0}
                                 : kk_model_dof(r->id.model, id);
        const double own = p->type == KK_PARAMETER_MASS        ? kk_model_body_inertia(r->id.model, id).mass
                           : p->type == KK_PARAMETER_GAIN      ? by_laws * kk_model_actuator(r->id.model, id).gain
                           : p->type == KK_PARAMETER_DAMPING   ? d.damping
                           : p->type == KK_PARAMETER_FRICTION  ? d.friction
                           : p->type == KK_PARAMETER_STIFFNESS ? d.stiffness
                                                               : d.armature;
        for (int k = 0; k < nv; k++) {
            r->rest[k] += own * r->column[(size_t)i * (size_t)nv + (size_t)k];
        }
    }
}

// ---- equations

static void add_equation(regressor *r, const double *column, int stride, double rest) {
    const int n = r->id.count;
    for (int i = 0; i < n; i++) {
        const double c = column[i * stride];
        for (int j = 0; j < n; j++) {
            r->N[i * n + j] += c * column[j * stride];
        }
        r->y[i] += c * rest;
    }
    r->yy += rest * rest;
    r->rows++;
}

/// Whether a degree of freedom's equation can be used: actuated or passive, and not about to turn round.
static int is_telling(const regressor *r, int dof) {
    return dof >= 0 && (r->v[dof] > TURNING * r->fastest[dof] || -r->v[dof] > TURNING * r->fastest[dof]);
}

/// law = measured force of every actuator whose gain is looked for.
static void add_laws(regressor *r) {
    double column[KKI_PARAMETERS];
    for (int i = 0; i < r->id.count; i++) {
        if (r->id.parameter[i].type == KK_PARAMETER_GAIN) {
            const kk_actuator_info a = kk_model_actuator(r->id.model, r->id.id[i]);
            memset(column, 0, sizeof column);
            column[i] = law_of(r, r->id.id[i]) / a.gain;
            add_equation(r, column, 1, r->tau[a.v_index]);
        }
    }
}

static void add_row(regressor *r, int row, int by_laws) {
    const int nv = kk_model_nv(r->id.model);
    kki_smooth_row(&r->id, row, r->q, r->v, r->a);
    kki_smooth_controls(&r->id, row, r->control);
    kk_passive_force(r->id.model, r->data, r->q, r->v, r->passive);
    kk_torque_regressor(r->id.model, r->data, r->q, r->v, r->a, r->Y);
    take_forces(r, row, by_laws);
    put_columns(r, by_laws);
    put_rest(r, by_laws);
    for (int k = 0; k < nv; k++) {
        if (is_telling(r, k)) {
            add_equation(r, r->column + k, nv, r->rest[k]);
        }
    }
    if (!by_laws) {
        add_laws(r);
    }
}

static void find_fastest(regressor *r) {
    const int nv = kk_model_nv(r->id.model);
    for (int row = 0; row < r->id.log->count; row++) {
        kki_smooth_row(&r->id, row, r->q, r->v, r->a);
        for (int k = 0; k < nv; k++) {
            const double speed = __builtin_fabs(r->v[k]);
            r->fastest[k] = speed > r->fastest[k] ? speed : r->fastest[k];
        }
    }
}

/// What is left, y² − x · y, gives the deviation of the equations, and with it the parameters'.
static kk_status finish(regressor *r, kk_parameter *parameter, kk_identification *result, kk_error *error) {
    const int n = r->id.count;
    double diagonal[KKI_PARAMETERS], y[KKI_PARAMETERS], left = r->yy;
    memcpy(y, r->y, sizeof y);
    const kk_status status = kki_solve_normal(&r->id, r->N, r->y, diagonal, error);
    for (int i = 0; i < n && !status; i++) {
        left -= r->y[i] * y[i];
    }
    left = left > 0 && r->rows > n ? left / (r->rows - n) : 0;
    for (int i = 0; i < n && !status; i++) {
        parameter[i].value = r->y[i];
        parameter[i].deviation = kk_sqrt(left * diagonal[i]);
    }
    if (!status && result) {
        *result = (kk_identification){.residual = r->yy > 0 ? kk_sqrt(left * r->rows / r->yy) : 0, .rows = r->rows};
    }
    return status;
}

static kk_status run(regressor *r, kk_error *error) {
    kk_status status = kk_data_create(r->id.model, NULL, &r->data);
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, r);
    void *block = status ? NULL : kki_allocate_zeroed(&r->id.allocator, layout.size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "identify: no memory for the regressor");
    }
    r->size = layout.size;
    layout = kki_layout_over(block);
    place(&layout, r);
    const int by_laws = !r->id.log->tau;
    find_fastest(r);
    for (int row = 0; row < r->id.log->count; row++) {
        add_row(r, row, by_laws);
    }
    kki_release(&r->id.allocator, block, r->size);
    return KK_OK;
}

kk_status kk_identify_by_regressor(const kk_spec *spec, const kk_measurement *log, const kk_identify_options *options,
                                   kk_parameter *parameter, int count, kk_identification *result, kk_error *error) {
    if (kki_is_missing(log)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_allocator allocator = kki_allocator_or_default(NULL);
    regressor *r = kki_allocate_zeroed(&allocator, sizeof *r);
    if (!r) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "identify: no memory");
    }
    kk_status status = kki_identifier_begin(&r->id, spec, log, options, parameter, count, error);
    status = status ? status : run(r, error);
    status = status ? status : finish(r, parameter, result, error);
    kk_data_free(r->data);
    kki_identifier_end(&r->id);
    kki_release(&allocator, r, sizeof *r);
    return status;
}
