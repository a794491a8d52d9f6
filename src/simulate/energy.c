/// Energies of a step, for its report and for what is kept by projection.
#include "simulate/simulator.h"

void kki_fill_konig(const kk_model *m, kki_koenig *koenig) {
    for (int i = 0; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        const double im = n->mass > 0 ? 1 / n->mass : 0;
        const kk_vec3 c = kk_vec3_scale(kki_vec3(n->h), im);
        const kk_sym3 shift = kk_sym3_point_mass(n->mass, c);
        const double xx = n->inertia[0][0] - shift.xx, yy = n->inertia[1][1] - shift.yy,
                     zz = n->inertia[2][2] - shift.zz, xy = n->inertia[1][0] - shift.xy,
                     xz = n->inertia[2][0] - shift.xz, yz = n->inertia[2][1] - shift.yz;
        koenig[i] = (kki_koenig){.center = {c.x, c.y, c.z}, .moments = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
    }
}

/// Energy of the spring of degree of freedom k. @param way  how far the joint is from its neutral place
static double spring_energy(const kk_model *m, int k, const double *way) {
    const double stretch = way[k] - m->dof[k].rest;
    return 0.5 * m->dof[k].stiffness * (stretch * stretch);
}

double kki_tree_energies(const kk_model *model, kk_simulator *s, const double *q, const double *v, kki_energy *energy) {
    double *way = s->kick.dv; // free until a kick is applied
    kk_data *view = s->readout.view;
    const double square = view->kernels->energies(model, &view->scratch, s->energy.koenig, q, v, energy);
    if (s->traits.has_springs) {
        kk_difference(model, s->data->neutral, q, way);
    }
    for (int k = 0; k < model->nv; k++) {
        kki_energy *e = &energy[model->node_tree[model->dof_node[k]]];
        e->kinetic += 0.5 * model->dof_armature[k] * (v[k] * v[k]);
        e->potential += s->traits.has_springs ? spring_energy(model, k, way) : 0;
    }
    return kk_sqrt(square);
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
