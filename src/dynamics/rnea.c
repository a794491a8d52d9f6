/// Inverse dynamics: the public calls around the Newton-Euler kernel, and the forces one can read after them.
#include "base/missing.h"
#include "dynamics/data.h"

kk_status kk_inverse_dynamics(const kk_model *model, kk_data *data, const double *q, const double *v, const double *a,
                              double *tau) {
    if (kki_is_missing(model, data, q, v, a, tau)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->has_external = 0;
    data->kernels->rnea(model, &data->scratch, q, v, a, tau, 1);
    return KK_OK;
}

kk_status kk_bias_force(const kk_model *model, kk_data *data, const double *q, const double *v, double *tau) {
    if (kki_is_missing(model, data, q, v, tau)) {
        return KK_INVALID_ARGUMENT;
    }
    return kk_inverse_dynamics(model, data, q, v, data->zero, tau);
}

kk_status kk_gravity_force(const kk_model *model, kk_data *data, const double *q, double *tau) {
    if (kki_is_missing(model, data, q, tau)) {
        return KK_INVALID_ARGUMENT;
    }
    return kk_inverse_dynamics(model, data, q, data->zero, data->zero, tau);
}

static void add_to(double out[4], kk_vec3 a, double sign) {
    out[0] += sign * a.x;
    out[1] += sign * a.y;
    out[2] += sign * a.z;
}

kk_status kk_inverse_dynamics_external(const kk_model *model, kk_data *data, const double *q, const double *v,
                                       const double *a, const kk_force *external, double *tau) {
    if (kki_is_missing(model, data, q, v, a, external, tau)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_fits(model, data)) {
        return KK_INVALID_ARGUMENT;
    }
    data->kernels->rnea_outward(model, &data->scratch, q, v, a);
    data->has_external = 1;
    // what acts from outside need not come through the joint
    for (int b = 0; b < model->nbody; b++) {
        data->external[b] = external[b];
        const kk_force F_N = kk_force_to(model->body[b].X_NB, external[b]);
        kki_local *s = kki_local_of(data, model->body[b].node);
        add_to(s->n, F_N.angular, -1);
        add_to(s->f, F_N.linear, -1);
    }
    data->kernels->rnea_inward(model, &data->scratch, a, tau);
    return KK_OK;
}
