/// Variations in a simulator: what it has of its model's numbers, made once with each variation, so that turning to another one is a few pointers.
///
/// The scratch of a simulator is laid out by the model's structure, which all variations share. What it has of numbers are kki_constants, and what else is
/// copied from shapes and lone bodies; the latter is copied again where a variation has other ones.
#include <karakuri/variation.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "model/compile.h"
#include "model/variation.h"
#include "model/warm.h"
#include "simulate/near_shapes.h"
#include "simulate/simulator.h"
#include "simulate/tendons.h"

// ---- constants of a variation

static void take(kki_layout *layout, void **pointer, size_t count, size_t size) {
    const void *from = *pointer;
    void *own = kki_layout_take(layout, count, size);
    if (own && count > 0) {
        memcpy(own, from, count * size);
    }
    *pointer = own ? own : *pointer;
}

/// Into the layout's block, with what the pointers lead to.
static void place(kki_layout *layout, const kk_model *m, kki_constants *c) {
    const size_t nv = (size_t)m->nv, motors = (size_t)c->motors.count;
    double **const dofs[] = {&c->stiffness, &c->damping, &c->rest, &c->mobility};
    double **const numbers[] = {&c->motors.gear,          &c->motors.gain,        &c->motors.control_lower,
                                &c->motors.control_upper, &c->motors.force_lower, &c->motors.force_upper};
    for (size_t i = 0; i < sizeof dofs / sizeof *dofs; i++) {
        take(layout, (void **)(void *)dofs[i], nv, sizeof(double));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        take(layout, (void **)(void *)numbers[i], motors, sizeof(double));
    }
    take(layout, (void **)(void *)&c->motors.dof, motors, sizeof *c->motors.dof);
    take(layout, (void **)(void *)&c->limited, (size_t)c->nlimited, sizeof *c->limited);
    take(layout, (void **)(void *)&c->koenig, (size_t)m->nnode, sizeof *c->koenig);
    take(layout, (void **)(void *)&c->tendon, (size_t)m->ntendon, sizeof *c->tendon);
}

static kk_status keep_constants(const kk_simulator *s, kk_model *variation) {
    kki_constants header = kki_simulator_constants(s);
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, variation, &header);
    kki_constants *own = kki_allocate_zeroed(&variation->allocator, layout.size);
    if (!own) {
        return KK_OUT_OF_MEMORY;
    }
    variation->constants = own;
    variation->constants_size = layout.size;
    layout = kki_layout_over(own);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, variation, &header);
    *own = header;
    return KK_OK;
}

// ---- making one

static kk_status check_crowd(const kk_model *base, const kk_simulator *s, kk_error *error) {
    int rubs = 0;
    for (int k = 0; k < base->nv; k++) {
        rubs |= base->dof[k].friction > 0;
    }
    if (s->traits.has_only_free_bodies ==
        (kki_has_only_free_bodies(base) && base->nactuator == 0 && !s->traits.has_compensation && !rubs)) {
        return KK_OK;
    }
    return kki_error_set(error, KK_INVALID_MODEL,
                         "lone bodies have dry friction or other numbers of joints in the variation alone; let the "
                         "model have them, too");
}

/// @param full  the edited spec, compiled
static kk_status vary(const kk_model *base, kk_model *full, const kk_allocator *allocator, kk_model **variation,
                      kk_error *error) {
    kk_simulator *s = NULL;
    kk_status status = kki_model_check_variation(base, full, error);
    status = status ? status : kk_simulator_create(full, NULL, &full->allocator, &s, error);
    status = status ? status : check_crowd(base, s, error);
    if (status == KK_OK) {
        status = kki_model_overlay(base, full, allocator, variation);
        status = status ? status : keep_constants(s, *variation);
        if (status != KK_OK) {
            kk_model_free(*variation);
            *variation = NULL;
            kki_error_set(error, status, "no memory for a variation of a model of %d bodies", (int)base->nbody);
        }
    }
    kk_simulator_free(s);
    return status;
}

kk_status kk_model_vary(const kk_model *model, const kk_spec *spec, const kk_allocator *allocator, kk_model **variation,
                        kk_error *error) {
    if (!model || !spec || !variation) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "kk_model_vary: the model, the spec or the place for the variation is NULL");
    }
    *variation = NULL;
    const kk_model *base = kk_model_base(model);
    kk_model *full = NULL;
    kk_status status = kki_model_recompile(spec, base, allocator, &full, error);
    status = status ? status : vary(base, full, allocator, variation, error);
    if (full) {
        kki_model_let_go(full, base);
        kk_model_free(full);
    }
    return status;
}

// ---- stepping one

static void use(kk_simulator *s, const kk_model *m, const kki_constants *c) {
    s->traits = c->traits;
    s->constraints.nlimited = c->nlimited;
    s->constraints.limited = c->limited;
    s->forces.motors = c->motors;
    s->forces.stiffness = c->stiffness;
    s->forces.damping = c->damping;
    s->forces.rest = c->rest;
    s->forces.mobility = c->mobility;
    s->energy.koenig = c->koenig;
    if (m->ntendon > 0) {
        memcpy(s->forces.tendon, c->tendon, (size_t)m->ntendon * sizeof *s->forces.tendon);
        kki_tendons_choose(m, s);
    }
}

/// As in a new simulator: a step leaves alone what its model has no use for.
static void begin_anew(const kk_model *m, kk_simulator *s) {
    const size_t bytes = (size_t)m->nv * sizeof(double), actuators = (size_t)m->nactuator;
    kki_forces *f = &s->forces;
    double *const zero[] = {f->passive_slope, f->servo_slope, s->rk4.slip, f->saturated, f->tau};
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        memset(zero[i], 0, bytes);
    }
    for (int i = 0; i < KK_FORCE_SOURCE_COUNT; i++) {
        memset(f->by_source[i], 0, bytes);
    }
    memset(f->wanted, 0, actuators * sizeof *f->wanted);
    memset(f->drive, 0, actuators * sizeof *f->drive);
    memcpy(f->diagonal, m->dof_armature, bytes);
    f->spring_energy = f->tendon_energy = 0;
    f->no_tau = f->has_applied = 0;
    s->cached.is_known = s->energy.audited.is_known = s->readout.has_view = s->readout.seen.has = 0;
}

static void turn_data(const kk_model *m, int has_other_nodes, kk_data *d) {
    if (has_other_nodes) {
        kki_data_turn_to(d, m);
    }
    d->model_hash = m->hash;
}

/// What is copied from the model itself, where the last one or this one has its own.
static void copy_again(const kk_model *m, kk_simulator *s) {
    const kk_model *base = s->variation.made_for;
    const int has_nodes = m->node != base->node, has_shapes = m->shape != base->shape;
    turn_data(m, (has_nodes || s->variation.has_own_nodes) && m->ntendon > 0,
              s->data); // who alone asks for forward dynamics in link frames
    turn_data(m, 0, s->readout.view);
    if (has_shapes || s->variation.has_own_shapes) {
        kki_near_resize(&s->near, m);
        memset(s->shapes.placed, 0, (size_t)m->nshape * sizeof *s->shapes.placed);
    }
    if (has_nodes || s->variation.has_own_nodes) {
        kki_free_bodies_fill(m, s);
        kki_only_free_fill(m, s);
    }
    s->variation.has_own_nodes = has_nodes;
    s->variation.has_own_shapes = has_shapes;
}

kk_status kki_simulator_turn_to(kk_simulator *s, const kk_model *m, kk_error *error) {
    const kk_model *base = kk_model_base(m);
    if (base != s->variation.made_for || base->hash != s->variation.made_for_hash || s->paper) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             s->paper
                                 ? "begin: the method of a paper keeps its model; make a simulator for the variation"
                                 : "begin: the simulator was made for another model");
    }
    const kki_constants *c = m == base ? &s->variation.own : m->constants;
    s->model = base; // the last one may be gone
    s->model_hash = 0;
    if (c->single > s->variation.most_single) {
        const kk_status status = kki_room_for_single(s, c->single, error);
        if (status != KK_OK) {
            return status;
        }
    }
    copy_again(m, s);
    use(s, m, c);
    kki_state_belong_to(m, s->trial);
    s->near.model = s->model = m;
    s->model_hash = m->hash;
    begin_anew(m, s);
    return KK_OK;
}
