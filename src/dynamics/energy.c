/// Kinetic and potential energy.
///
/// Kinetic, by König's theorem body by body: T = ½ Σ (m |v_c|² + ω · I_c ω) + ½ Σ armature v², a sum without a negative
/// term, so nothing cancels wherever a body's origin lies. Potential: U = −g · Σ (m p_WN + R_WN h), node by node.
#include "dynamics/data.h"

/// Twice the kinetic energy of one body.
static double twice_kinetic(const kk_model *m, const kk_data *d, int body) {
    const kki_body *b = &m->body[body];
    const kki_rates *s = kki_rates_of(d, b->node);
    const kk_mat3 R_WN = kki_mat3(kki_pose_of(d, b->node)->R);
    const kk_vec3 w = kki_vec3(s->w), c = kk_mat3_mul_vec(R_WN, kk_transform_point(b->X_NB, b->inertia.com));
    const kk_vec3 v = kk_vec3_add(kki_vec3(s->u), kk_vec3_cross(w, c));
    const kk_vec3 w_B = kk_mat3_tmul_vec(b->X_NB.R, kk_mat3_tmul_vec(R_WN, w));
    return b->inertia.mass * kk_vec3_dot(v, v) + kk_vec3_dot(w_B, kk_sym3_mul_vec(b->inertia.moment, w_B));
}

double kk_kinetic_energy(const kk_model *model, kk_data *data, const double *q, const double *v) {
    double twice = 0;
    if (kk_kinematics_velocity(model, data, q, v) != KK_OK) {
        return __builtin_nan("");
    }
    for (int b = 1; b < model->nbody; b++) {
        twice += twice_kinetic(model, data, b);
    }
    for (int k = 0; k < model->nv; k++) {
        twice += model->dof_armature[k] * (v[k] * v[k]);
    }
    return 0.5 * twice;
}

double kk_potential_energy(const kk_model *model, kk_data *data, const double *q) {
    kk_vec3 moment = kk_vec3_make(0, 0, 0);
    if (kk_kinematics(model, data, q) != KK_OK) {
        return __builtin_nan("");
    }
    for (int i = 0; i < model->nnode; i++) {
        const kki_node *b = &model->node[i];
        const kki_pose *x = kki_pose_of(data, i);
        const kk_vec3 h = kk_mat3_mul_vec(kki_mat3(x->R), kki_vec3(b->h));
        moment = kk_vec3_add(moment, kk_vec3_add(kk_vec3_scale(kki_vec3(x->p), b->mass), h));
    }
    return -kk_vec3_dot(kki_vec3(model->gravity), moment);
}
