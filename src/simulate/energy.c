/// Energies of a step, for its report and for what is kept by projection.
#include "simulate/simulator.h"

void kki_fill_konig(const kk_model *m, kki_koenig *koenig) {
    for (int i = 0; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        const double im = n->mass > 0 ? 1 / n->mass : 0;
        const kk_sym3 shift = kk_sym3_point_mass(n->mass, kk_vec3_scale(kki_vec3(n->h), im));
        const kk_sym3 J = {n->inertia[0][0] - shift.xx, n->inertia[1][1] - shift.yy, n->inertia[2][2] - shift.zz,
                           n->inertia[1][0] - shift.xy, n->inertia[2][0] - shift.xz, n->inertia[2][1] - shift.yz};
        koenig[i] = (kki_koenig){im, J};
    }
}

/// Twice the kinetic energy of a node, by König's theorem: nothing cancels. @param h  its first moment in world axes
static double twice_kinetic(const kki_node *n, const kki_koenig *k, kk_mat3 R, kk_vec3 h, const kki_rates *V) {
    const kk_vec3 W = kki_vec3(V->w), w = kk_mat3_tmul_vec(R, W);
    const kk_vec3 v = kk_vec3_add(kki_vec3(V->u), kk_vec3_scale(kk_vec3_cross(W, h), k->inverse_mass));
    return n->mass * kk_vec3_dot(v, v) + kk_vec3_dot(w, kk_sym3_mul_vec(k->J, w));
}

static double height_energy(const kk_model *m, const kki_node *n, const kki_pose *x, kk_vec3 h) {
    return -kk_vec3_dot(kki_vec3(m->gravity), kk_vec3_add(kk_vec3_scale(kki_vec3(x->p), n->mass), h));
}

/// Energy of the spring of degree of freedom k. @param way  how far the joint is from its neutral place
static double spring_energy(const kk_model *m, int k, const double *way) {
    const double stretch = way[k] - m->dof[k].rest;
    return 0.5 * m->dof[k].stiffness * (stretch * stretch);
}

void kki_tree_energies(const kk_model *model, kk_simulator *s, const kk_data *at, const double *q, const double *v,
                       kki_energy *energy) {
    double *way = s->kick.dv; // free until a kick is applied
    for (int t = 0; t < model->ntree; t++) {
        energy[t] = (kki_energy){0, 0};
    }
    for (int i = 1; i < model->nnode; i++) {
        if (model->node_tree[i] >= 0) {
            const kki_node *n = &model->node[i];
            const kki_pose *x = kki_pose_of(at, i);
            const kk_mat3 R = kki_mat3(x->R);
            const kk_vec3 h = kk_mat3_mul_vec(R, kki_vec3(n->h));
            kki_energy *e = &energy[model->node_tree[i]];
            e->kinetic += 0.5 * twice_kinetic(n, &s->energy.koenig[i], R, h, kki_rates_of(at, i));
            e->potential += height_energy(model, n, x, h);
        }
    }
    if (s->traits.has_springs) {
        kk_difference(model, s->data->neutral, q, way);
    }
    for (int k = 0; k < model->nv; k++) {
        kki_energy *e = &energy[model->node_tree[model->dof_node[k]]];
        e->kinetic += 0.5 * model->dof_armature[k] * (v[k] * v[k]);
        e->potential += s->traits.has_springs ? spring_energy(model, k, way) : 0;
    }
}

double kki_fall_of(const kk_model *model, const kk_simulator *s, int node) {
    const kki_node *n = &model->node[node];
    const int is_central = n->h[0] == 0 && n->h[1] == 0 && n->h[2] == 0; // of these the kick keeps no first moment
    const kk_vec3 p = kk_vec3_scale(kki_vec3(kki_pose_of(s->data, node)->p), n->mass);
    return kk_vec3_dot(kki_vec3(model->gravity),
                       is_central ? p : kk_vec3_add(p, kki_vec3(kki_bias_of(s->data, node)->h)));
}

double kki_potential(const kk_model *model, const kk_simulator *s) {
    double sum = 0;
    for (int i = 1; i < model->nnode; i++) {
        sum += s->traits.has_only_free_bodies ? s->only_free.fall[i] : kki_fall_of(model, s, i);
    }
    return s->forces.spring_energy + s->forces.tendon_energy - sum;
}
