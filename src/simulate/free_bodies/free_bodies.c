/// Loose bodies with a budget: which bodies are loose, and the story of their step. Which contacts go to the swarm: free_bodies/sets.c; what it starts from:
/// free_bodies/begin.c; what comes of it: free_bodies/end.c.
#include "simulate/free_bodies/free_bodies.h"

#include <string.h>

#include "simulate/free_bodies/parts.h"

/// Of the budget's sweeps, one in so many repairs overlap.
enum { REPAIRS = 5 };

// ---- what does not change

/// The factor of the kick (kernels/kick.h, own_turns) without impedance, as y = B v.
static void factor_turns(const kki_node *n, double B[6]) {
    const double xx = n->inertia[0][0], xy = n->inertia[0][1], xz = n->inertia[0][2];
    const double yy = n->inertia[1][1], yz = n->inertia[1][2], zz = n->inertia[2][2];
    const double i = 1 / zz, ax = xx - xz * xz * i, axy = xy - xz * yz * i, ay = yy - yz * yz * i;
    const double j = 1 / ay, x = ax - axy * axy * j;
    B[0] = kk_sqrt(x);
    B[2] = kk_sqrt(ay);
    B[1] = axy / B[2];
    B[5] = kk_sqrt(zz);
    B[3] = xz / B[5];
    B[4] = yz / B[5];
}

static kki_free_body own_of(const kki_node *n) {
    kki_free_body b = {.root = kk_sqrt(n->mass)};
    const kk_mat3 I = kki_mat3(n->inertia);
    const double *m = I.m, xx = m[0], xy = m[1], xz = m[2], yy = m[4], yz = m[5], zz = m[8];
    const double a = yy * zz - yz * yz, c = xz * yz - xy * zz, d = xy * yz - xz * yy;
    const double f = 1 / (xx * a + xy * c + xz * d);
    const double inverse[7] = {1 / n->mass, f * a, f * (xx * zz - xz * xz), f * (xx * yy - xy * xy),
                               f * c,       f * d, f * (xy * xz - xx * yz)};
    memcpy(b.inverse, inverse, sizeof inverse);
    factor_turns(n, b.turn);
    return b;
}

static int has_nothing_else(const kk_model *m, const kki_node *n) {
    int none = 1;
    for (int k = n->v_index; k < n->v_index + 6; k++) {
        const kk_dof_def *d = &m->dof[k];
        none &= m->dof_armature[k] == 0 && d->stiffness == 0 && d->damping == 0 && d->friction == 0;
    }
    return none;
}

/// A body alone on a free joint, its origin its center of mass, that no spring, motor or loop knows of.
static void find_loose(const kk_model *m, kki_free_bodies *x) {
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        const int central = n->h[0] == 0 && n->h[1] == 0 && n->h[2] == 0 && n->mass > 0;
        x->is_loose[i] = (int8_t)(kki_is_lone(m, i) && central && has_nothing_else(m, n));
    }
    for (int i = 0; i < m->nloop; i++) {
        x->is_loose[m->loop[i].node[0]] = x->is_loose[m->loop[i].node[1]] = 0;
    }
    for (int i = 0; i < m->nactuator; i++) {
        if (m->actuator[i].transmission == KK_TRANSMISSION_JOINT) {
            x->is_loose[m->dof_node[m->actuator[i].v_index]] = 0;
        }
    }
    for (int i = 1; i < m->nnode; i++) {
        if (x->is_loose[i]) {
            x->own[i] = own_of(&m->node[i]);
            const double *k = x->own[i].inverse;
            // moments too small for their inverse to be a number
            x->is_loose[i] = (int8_t)(k[1] - k[1] != 0 ? 0 : kki_is_round(k) ? 2 : 1);
        }
    }
}

void kki_free_bodies_place(kki_layout *layout, const kk_model *m, kk_simulator *s) {
    kki_free_bodies *x = &s->free_bodies;
    const size_t trees = s->islands.padded_width > 0 ? (size_t)m->ntree : 0, nodes = trees ? (size_t)m->nnode : 0;
    const size_t numbers = trees ? KKI_SWARM_BODY * (trees + 1) : 0;
    KKI_LAYOUT_ARRAY(layout, x->is_loose, nodes);
    KKI_LAYOUT_ARRAY(layout, x->own, nodes);
    KKI_LAYOUT_ARRAY(layout, x->parent, trees);
    KKI_LAYOUT_ARRAY(layout, x->rows, trees);
    KKI_LAYOUT_ARRAY(layout, x->is_held, trees);
    KKI_LAYOUT_ARRAY(layout, x->taken, trees);
    KKI_LAYOUT_ARRAY(layout, x->body, trees);
    KKI_LAYOUT_ARRAY(layout, x->node, trees);
    KKI_LAYOUT_ARRAY(layout, x->dof, trees);
    KKI_LAYOUT_ARRAY(layout, x->work, trees);
    KKI_LAYOUT_ARRAY(layout, x->place, trees);
    KKI_LAYOUT_ARRAY(layout, x->batch, trees);
    KKI_LAYOUT_ARRAY(layout, x->chunk, trees);
    KKI_LAYOUT_ARRAY(layout, x->swarm.velocity, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.wrench, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.before, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.free, numbers);
    KKI_LAYOUT_ARRAY(layout, x->swarm.inverse, numbers);
}

void kki_free_bodies_place_room(kki_layout *layout, kk_simulator *s) {
    kki_free_bodies *x = &s->free_bodies;
    const size_t contacts = (size_t)x->room, blocks = (size_t)x->block_room, bundles = (size_t)x->bundle_room;
    KKI_LAYOUT_ARRAY(layout, x->face, contacts);
    KKI_LAYOUT_ARRAY(layout, x->is_taken, contacts);
    KKI_LAYOUT_ARRAY(layout, x->order, contacts);
    KKI_LAYOUT_ARRAY(layout, x->swarm.batch, x->room ? kki_swarm_batches(x->room) : 0);
    KKI_LAYOUT_ARRAY(layout, x->swarm.chunk, x->room ? kki_swarm_chunks(x->room) : 0);
    KKI_LAYOUT_ARRAY(layout, x->swarm.bundle, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.is_ball, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.ball, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.proof, bundles);
    KKI_LAYOUT_ARRAY(layout, x->swarm.point, blocks);
    KKI_LAYOUT_ARRAY(layout, x->swarm.end, blocks);
}

void kki_free_bodies_fill(const kk_model *m, kk_simulator *s) {
    if (s->free_bodies.room) {
        find_loose(m, &s->free_bodies);
        s->free_bodies.is_everything = 1;
        for (int i = 1; i < m->nnode; i++) {
            s->free_bodies.is_everything &= s->free_bodies.is_loose[i] != 0;
        }
        s->forces.only_touches = s->free_bodies.is_everything && m->options.integrator != KK_INTEGRATOR_RK4 &&
                                 m->nloop + m->ncoupling + m->ntendon + m->nactuator == 0;
        s->free_bodies.swarm.kernels = kki_swarm_kernels_best();
    }
}

// ---- the story

/// A batch from its contacts to its forces, while its numbers are near the processor.
static void resolve_batch(void *context, const kki_swarm_batch *b, const kk_workers *workers) {
    static const kki_swarm_visits visits = {.begin_bodies = kki_free_bodies_begin_bodies,
                                            .begin = kki_free_bodies_begin_bundle,
                                            .finish = kki_free_bodies_finish_bundle,
                                            .finish_bodies = kki_free_bodies_finish_bodies};
    const kki_free_pass *p = context;
    kki_swarm *w = &p->s->free_bodies.swarm;
    const int sweeps = p->s->effort.sweeps, repairs = (sweeps + REPAIRS - 1) / REPAIRS;
    kki_swarm_run(w, b, workers, sweeps, &visits, context);
    if (kki_swarm_repair(w, b, workers, repairs)) {
        kki_swarm_visit_bodies(w, b, workers, kki_free_bodies_drift_bodies, context);
    }
}

kk_status kki_free_bodies_resolve(const kk_model *m, kk_simulator *s, kk_error *error) {
    kki_free_bodies *x = &s->free_bodies;
    if (x->npoint == 0) {
        return KK_OK;
    }
    kki_free_pass p = {m, s};
    x->swarm.workers = kki_workers_of(s);
    x->swarm.may_bounce = kki_is_overlapping_only(s);
    kki_swarm_each(&x->swarm, resolve_batch, &p);
    return kki_free_bodies_report(m, s, error);
}
