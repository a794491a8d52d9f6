/// The model's hash: structure and numbers, not names, in a fixed order and as little-endian values.
#include <karakuri/hash.h>

#include "model/compile.h"

static void add_ints(kk_hash *hash, const int32_t *values, int count) {
    for (int i = 0; i < count; i++) {
        kk_hash_update_uint64(hash, (uint64_t)values[i]);
    }
}

static void add_vec(kk_hash *hash, kk_vec3 v) {
    const double numbers[] = {v.x, v.y, v.z};
    kk_hash_update_doubles(hash, numbers, 3);
}

static void add_transform(kk_hash *hash, const kk_transform *X) {
    kk_hash_update_doubles(hash, X->R.m, 9);
    add_vec(hash, X->p);
}

static void add_node(kk_hash *hash, const kki_node *n) {
    const int32_t ints[] = {n->type, n->parent, n->q_index, n->v_index};
    const double numbers[] = {n->mass, n->pitch, n->armature};
    add_ints(hash, ints, 4);
    for (int j = 0; j < 3; j++) {
        kk_hash_update_doubles(hash, n->R[j], 3);
        kk_hash_update_doubles(hash, n->inertia[j], 3);
    }
    kk_hash_update_doubles(hash, n->p, 3);
    kk_hash_update_doubles(hash, n->h, 3);
    kk_hash_update_doubles(hash, numbers, 3);
}

static void add_body(kk_hash *hash, const kki_body *b) {
    const int32_t ints[] = {b->parent, b->node, b->first_node, b->joint_type, b->q_index, b->nq, b->v_index, b->nv};
    const kk_inertia *I = &b->inertia;
    const double numbers[] = {I->mass,      I->moment.xx, I->moment.yy, I->moment.zz,
                              I->moment.xy, I->moment.xz, I->moment.yz};
    add_ints(hash, ints, 8);
    add_transform(hash, &b->X_NB);
    add_transform(hash, &b->X_PB);
    add_vec(hash, I->com);
    kk_hash_update_doubles(hash, numbers, 7);
}

static void add_dof(kk_hash *hash, const kk_dof_def *d) {
    const double numbers[] = {d->lower,      d->upper,          d->stiffness,   d->rest,
                              d->damping,    d->friction,       d->armature,    d->rotor_inertia,
                              d->gear_ratio, d->velocity_limit, d->effort_limit};
    kk_hash_update_doubles(hash, numbers, 11);
}

static void add_coupling(kk_hash *hash, const kki_coupling *c) {
    const int32_t ints[] = {c->follower_v, c->leader_v};
    const double numbers[] = {c->ratio, c->offset};
    add_ints(hash, ints, 2);
    kk_hash_update_doubles(hash, numbers, 2);
}

uint64_t kki_model_hash(const kk_model *m) {
    kk_hash hash = kk_hash_begin(0);
    const int32_t counts[] = {m->nq, m->nv, m->nbody, m->nnode, m->nframe, m->ncoupling};
    add_ints(&hash, counts, 6);
    kk_hash_update_doubles(&hash, m->gravity, 3);
    for (int i = 0; i < m->nnode; i++) {
        add_node(&hash, &m->node[i]);
        kk_hash_update_uint64(&hash, (uint64_t)m->turn_quarters[i]);
    }
    kk_hash_update_doubles(&hash, m->turn_rest, (size_t)m->nnode);
    for (int i = 0; i < m->nbody; i++) {
        add_body(&hash, &m->body[i]);
    }
    for (int i = 0; i < m->nframe; i++) {
        add_ints(&hash, &m->frame[i].body, 1);
        add_transform(&hash, &m->frame[i].X_BF);
    }
    for (int i = 0; i < m->nv; i++) {
        add_dof(&hash, &m->dof[i]);
    }
    for (int i = 0; i < m->ncoupling; i++) {
        add_coupling(&hash, &m->coupling[i]);
    }
    return kk_hash_finish(&hash);
}
