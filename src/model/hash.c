/// The model's hash: structure and numbers, not names or looks, in a fixed order and as little-endian values.
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
    if (b->gravity_compensation != 0) { // models without keep the hash they had
        kk_hash_update_doubles(hash, &b->gravity_compensation, 1);
    }
}

static void add_dof(kk_hash *hash, const kk_dof_def *d) {
    const double numbers[] = {d->lower,      d->upper,          d->stiffness,   d->rest,
                              d->damping,    d->friction,       d->armature,    d->rotor_inertia,
                              d->gear_ratio, d->velocity_limit, d->effort_limit};
    kk_hash_update_doubles(hash, numbers, 11);
    if (d->start != 0) { // models that start at zero keep the hash they had
        kk_hash_update_doubles(hash, &d->start, 1);
    }
    if (d->restitution != 0) {
        kk_hash_update_doubles(hash, &d->restitution, 1);
    }
}

static void add_coupling(kk_hash *hash, const kki_coupling *c) {
    const int32_t ints[] = {c->follower_v, c->leader_v};
    const double numbers[] = {c->ratio, c->offset};
    add_ints(hash, ints, 2);
    kk_hash_update_doubles(hash, numbers, 2);
}

static void add_tree(kk_hash *hash, const kk_model *m) {
    const int32_t counts[] = {m->nq, m->nv, m->nbody, m->nnode, m->nframe, m->ncoupling};
    add_ints(hash, counts, 6);
    kk_hash_update_doubles(hash, m->gravity, 3);
    for (int i = 0; i < m->nnode; i++) {
        add_node(hash, &m->node[i]);
        kk_hash_update_uint64(hash, (uint64_t)m->turn_quarters[i]);
    }
    kk_hash_update_doubles(hash, m->turn_rest, (size_t)m->nnode);
    for (int i = 0; i < m->nbody; i++) {
        add_body(hash, &m->body[i]);
    }
    for (int i = 0; i < m->nframe; i++) {
        add_ints(hash, &m->frame[i].body, 1);
        add_transform(hash, &m->frame[i].X_BF);
    }
    for (int i = 0; i < m->nv; i++) {
        add_dof(hash, &m->dof[i]);
    }
    for (int i = 0; i < m->ncoupling; i++) {
        add_coupling(hash, &m->coupling[i]);
    }
}

// ---- the scene: what collides, constrains, drives and measures. What is only seen, names and the numbers of shapes that
// are only seen do not count, so that a model with and one without them have states in common.

static void add_options(kk_hash *hash, const kk_options *o) {
    const int32_t ints[] = {(int32_t)o->integrator, o->adjacent_collide != 0, o->max_contacts};
    kk_hash_update_doubles(hash, &o->timestep, 1);
    add_ints(hash, ints, 3);
}

static void add_mesh(kk_hash *hash, const kki_model_mesh *mesh) {
    const int32_t counts[] = {mesh->vertex_count, mesh->face_count};
    add_ints(hash, counts, 2);
    for (int i = 0; i < mesh->vertex_count; i++) {
        add_vec(hash, mesh->vertex[i]);
    }
    for (int i = 0; i < mesh->face_count; i++) {
        add_ints(hash, mesh->face[i], 3);
    }
}

static void add_field(kk_hash *hash, const kk_height_field_def *f) {
    const int32_t counts[] = {f->rows, f->columns};
    const double numbers[] = {f->half_x, f->half_y, f->base};
    add_ints(hash, counts, 2);
    kk_hash_update_doubles(hash, numbers, 3);
    kk_hash_update_doubles(hash, f->height, (size_t)f->rows * (size_t)f->columns);
}

/// A mesh counts once, with the first shape that collides as it.
static void add_geometry(kk_hash *hash, const kk_model *m, int32_t collider) {
    const kki_model_shape *s = &m->shape[m->collider[collider]];
    int32_t before = -1;
    for (int32_t i = 0; i < collider && (s->mesh >= 0 || s->field >= 0) && before < 0; i++) {
        const kki_model_shape *t = &m->shape[m->collider[i]];
        before = t->mesh == s->mesh && t->field == s->field ? i : -1;
    }
    add_ints(hash, &before, 1);
    if (before < 0 && s->mesh >= 0) {
        add_mesh(hash, &m->mesh[s->mesh]);
    } else if (before < 0 && s->field >= 0) {
        add_field(hash, &m->field[s->field].def);
    }
}

static void add_shape(kk_hash *hash, const kk_model *m, int32_t collider) {
    const kki_model_shape *s = &m->shape[m->collider[collider]];
    const int32_t ints[] = {s->shape.type, s->body, m->material_class[s->material], (int32_t)s->group,
                            (int32_t)s->mask};
    const double numbers[] = {s->shape.half[0], s->shape.half[1], s->shape.half[2], s->shape.margin};
    add_ints(hash, ints, 5);
    kk_hash_update_doubles(hash, numbers, 4);
    add_transform(hash, &s->X_BS);
    add_vec(hash, s->surface.angular);
    add_vec(hash, s->surface.linear);
    add_geometry(hash, m, collider);
    const int32_t parent = m->body[s->rigid].parent;
    if (s->mount >= 0 && s->mount != m->body[parent].rigid) { // beyond a chain of joints
        add_ints(hash, &s->mount, 1);
    }
}

static void add_law(kk_hash *hash, const kki_contact_law *l) {
    const double numbers[] = {l->friction,    l->static_friction, l->ratio,   l->torsion, l->rolling,
                              l->restitution, l->stiffness,       l->damping, l->adhesion};
    kk_hash_update_doubles(hash, numbers, 9);
    add_ints(hash, &l->axes, 1);
    if (l->slip > 0) {
        kk_hash_update_doubles(hash, &l->slip, 1);
    }
}

static void add_contacts(kk_hash *hash, const kk_model *m) {
    const int32_t counts[] = {m->ncollider, m->nlaw, m->nexplicit, m->nexclude};
    add_ints(hash, counts, 4);
    for (int32_t i = 0; i < m->ncollider; i++) {
        add_shape(hash, m, i);
    }
    for (int i = 0; i < m->nlaw; i++) {
        add_law(hash, &m->law[i]);
    }
    for (int i = 0; i < m->nexplicit; i++) {
        const kki_explicit_pair *p = &m->explicit_pair[i];
        const int32_t ints[] = {m->shape[p->key >> 32].collider, m->shape[p->key & UINT32_MAX].collider, p->law};
        add_ints(hash, ints, 3);
        kk_hash_update_doubles(hash, &p->margin, 1);
    }
    for (int i = 0; i < m->nexclude; i++) {
        kk_hash_update_uint64(hash, m->exclude[i]);
    }
}

static void add_loop(kk_hash *hash, const kki_model_loop *l) {
    const int32_t ints[] = {(int32_t)l->type, l->body[0], l->body[1], l->is_active};
    const double numbers[] = {l->distance,        l->stiffness,   l->damping,     l->angular_stiffness,
                              l->angular_damping, l->break_force, l->break_moment};
    add_ints(hash, ints, 4);
    add_transform(hash, &l->X_NA);
    add_transform(hash, &l->X_NB);
    kk_hash_update_doubles(hash, numbers, 7);
}

static void add_tendon(kk_hash *hash, const kk_model *m, const kki_model_tendon *t) {
    const int32_t ints[] = {(int32_t)t->type, t->term_count};
    const double numbers[] = {t->lower, t->upper, t->stiffness, t->damping, t->rest_lower, t->rest_upper, t->friction};
    const double more[] = {t->armature, t->pull_lower, t->pull_upper};
    add_ints(hash, ints, 2);
    kk_hash_update_doubles(hash, numbers, 7);
    if (t->armature != 0 || t->pull_lower > -__builtin_inf() || t->pull_upper < __builtin_inf()) {
        kk_hash_update_doubles(hash, more, 3);
    }
    if (t->restitution != 0) {
        kk_hash_update_doubles(hash, &t->restitution, 1);
    }
    if (t->is_held) {
        add_ints(hash, &t->leader, 1);
        kk_hash_update_doubles(hash, t->held, 5);
    }
    for (int i = t->first_term; i < t->first_term + t->term_count; i++) {
        const kki_tendon_term *term = &m->tendon_term[i];
        const int32_t where[] = {term->v_index, term->frame}, wrap[] = {term->kind, term->shape};
        add_ints(hash, where, 2);
        kk_hash_update_doubles(hash, &term->coefficient, 1);
        add_ints(hash, wrap, term->kind == KKI_TERM_WRAP ? 2 : 0);
    }
}

static void add_muscle(kk_hash *hash, const kk_muscle_def *x) {
    const double numbers[] = {
        x->force, x->length_lower, x->length_upper, x->range[0],         x->range[1],         x->lmin,     x->lmax,
        x->vmax,  x->fpmax,        x->fvmax,        x->time_constant[0], x->time_constant[1], x->smoothing};
    kk_hash_update_doubles(hash, numbers, sizeof numbers / sizeof *numbers);
}

static void add_actuator(kk_hash *hash, const kki_model_actuator *a) {
    const int32_t ints[] = {(int32_t)a->type, (int32_t)a->transmission, a->v_index, a->tendon, a->frame,
                            a->reference,     (int32_t)a->activation};
    const double numbers[] = {a->gear,        a->gain,          a->bias[0],          a->bias[1],
                              a->bias[2],     a->control_lower, a->control_upper,    a->force_lower,
                              a->force_upper, a->time_constant, a->activation_lower, a->activation_upper};
    add_ints(hash, ints, 7);
    add_vec(hash, a->direction.angular);
    add_vec(hash, a->direction.linear);
    kk_hash_update_doubles(hash, numbers, 12);
    if (a->type == KK_ACTUATOR_MUSCLE || a->activation == KK_ACTIVATION_MUSCLE) {
        add_muscle(hash, &a->muscle);
    }
    if (a->transmission == KK_TRANSMISSION_BODY) {
        add_ints(hash, &a->body, 1);
    }
    if (a->transmission == KK_TRANSMISSION_CRANK) {
        kk_hash_update_doubles(hash, &a->rod_length, 1);
    }
    if (a->delay_samples > 0) {
        const int32_t how[] = {a->delay_samples, a->delay_interpolation};
        add_ints(hash, how, 2);
        kk_hash_update_doubles(hash, &a->delay, 1);
    }
}

static void add_sensor(kk_hash *hash, const kki_model_sensor *s, const kk_options *options) {
    const int32_t ints[] = {(int32_t)s->type,     s->target, s->reference, s->target_is_body,
                            s->reference_is_body, s->dof,    s->rays};
    const double numbers[] = {s->noise, s->cutoff, s->field};
    add_ints(hash, ints, 7);
    kk_hash_update_doubles(hash, numbers, 3);
    if (s->zone >= 0 || s->type > KK_SENSOR_CLOCK) {
        const int32_t more[] = {s->zone, s->zone_frame, s->side[0], s->side[1], s->slots, s->tell, s->choice};
        add_ints(hash, more, 7);
        kk_hash_update_doubles(hash, s->zone_half, 3);
        kk_hash_update_doubles(hash, &options->magnetic.x, 3);
    }
}

static void add_keyframe(kk_hash *hash, const kk_model *m, const kki_model_keyframe *k) {
    kk_hash_update_doubles(hash, &k->time, 1);
    kk_hash_update_doubles(hash, k->q, (size_t)m->nq);
    kk_hash_update_doubles(hash, k->v, (size_t)m->nv);
    kk_hash_update_doubles(hash, k->control, (size_t)m->nactuator);
}

static void add_control(kk_hash *hash, const kk_model *m) {
    const int32_t counts[] = {m->nloop, m->ntendon, m->nactuator, m->nsensor, m->nkeyframe};
    add_ints(hash, counts, 5);
    for (int i = 0; i < m->nloop; i++) {
        add_loop(hash, &m->loop[i]);
    }
    for (int i = 0; i < m->ntendon; i++) {
        add_tendon(hash, m, &m->tendon[i]);
    }
    for (int i = 0; i < m->nactuator; i++) {
        add_actuator(hash, &m->actuator[i]);
    }
    for (int i = 0; i < m->nsensor; i++) {
        add_sensor(hash, &m->sensor[i], &m->options);
    }
    for (int i = 0; i < m->nkeyframe; i++) {
        add_keyframe(hash, m, &m->keyframe[i]);
    }
}

uint64_t kki_model_hash(const kk_model *m) {
    kk_hash hash = kk_hash_begin(0);
    add_tree(&hash, m);
    add_options(&hash, &m->options);
    add_contacts(&hash, m);
    add_control(&hash, m);
    return kk_hash_finish(&hash);
}
