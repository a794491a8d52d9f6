/// What comes of the swarm: impulses and velocities of contacts, velocities of bodies and the wrenches on them, and the report.
#include <karakuri/number.h>
#include <string.h>

#include "base/error.h"
#include "simulate/free_bodies/parts.h"

// ---- contacts and bodies

static kk_vec3 get_lane(const double from[3][KKI_SWARM_LANES], int lane) {
    return kk_vec3_make(from[0][lane], from[1][lane], from[2][lane]);
}

/// @param impulse  in world axes    @param velocity  in those of the contact
static void finish_contact(const kki_free_pass *p, kki_contact *k, double friction, kk_vec3 impulse, kk_vec3 velocity) {
    k->impulse = impulse;
    k->friction = friction;
    k->velocity = velocity;
    if (!p->s->traits.has_plain_contacts) {
        k->moment = k->kept_moment = kk_vec3_make(0, 0, 0);
    }
}

static void finish_lane(const kki_free_pass *p, const kki_swarm_bundle *b, int lane) {
    const kki_free_bodies *x = &p->s->free_bodies;
    const kk_vec3 n = get_lane(b->axis[0], lane), t1 = get_lane(b->axis[1], lane), t2 = get_lane(b->axis[2], lane);
    for (int i = 0; i < b->count[lane]; i++) {
        kki_contact *k = &p->s->contacts.list[b->contact[lane] + i];
        const kk_vec3 l = get_lane(x->swarm.point[b->first + i].total, lane);
        finish_contact(p, k, b->friction[lane],
                       kk_vec3_add(kk_vec3_scale(n, l.x), kk_vec3_add(kk_vec3_scale(t1, l.y), kk_vec3_scale(t2, l.z))),
                       get_lane(x->swarm.end[b->first + i].u, lane));
    }
}

static void finish_ball_lane(const kki_free_pass *p, const kki_swarm_bundle *b, const kki_swarm_ball *from, int lane) {
    if (b->count[lane] > 0) {
        kki_contact *k = &p->s->contacts.list[b->contact[lane]];
        const kk_vec3 v = get_lane(p->s->free_bodies.swarm.end[b->first].u, lane);
        finish_contact(
            p, k, from->friction[lane], get_lane(from->total, lane),
            kk_vec3_make(kk_vec3_dot(v, k->normal), kk_vec3_dot(v, k->tangent[0]), kk_vec3_dot(v, k->tangent[1])));
    }
}

/// The first of a bundle's contacts with its largest residual.
static int worst_of(const kki_swarm *w, int bundle) {
    const kki_swarm_bundle *b = &w->bundle[bundle];
    int worst = -1;
    for (int k = 0; k < b->points; k++) {
        const double *residual = w->end[b->first + k].residual;
        for (int lane = 0; lane < KKI_SWARM_LANES; lane++) {
            const int contact = b->contact[lane] + k;
            const int is_it = k < b->count[lane] && residual[lane] == w->proof[bundle].residual;
            worst = is_it && (worst < 0 || contact < worst) ? contact : worst;
        }
    }
    return worst;
}

void kki_free_bodies_finish_bundle(void *context, int bundle) {
    const kki_free_pass *p = context;
    const kk_simulator *s = p->s;
    kki_fetch_contacts(p, bundle + KKI_FREE_BODIES_AHEAD, offsetof(kki_contact, surface));
    for (int lane = 0; lane < KKI_SWARM_LANES; lane++) {
        const kki_swarm *w = &s->free_bodies.swarm;
        if (w->is_ball[bundle]) {
            finish_ball_lane(p, &w->bundle[bundle], &w->ball[bundle], lane);
        } else {
            finish_lane(p, &w->bundle[bundle], lane);
        }
    }
    s->free_bodies.swarm.proof[bundle].worst = worst_of(&s->free_bodies.swarm, bundle);
    s->free_bodies.swarm.kernels->repose(&s->free_bodies.swarm, bundle, s->options.correction / (0.5 * s->h));
}

/// Energies before and behind a change, of a body that the kick leaves out (free_bodies/stepper.c). @param angular, linear  the change
static kki_kinetic kinetic_of(const kki_free_body *own, const double *v, kk_vec3 angular, kk_vec3 linear) {
    double y[6], change[6];
    kki_scale_velocity(own, kki_vec_at(v), kki_vec_at(v + 3), y);
    kki_scale_velocity(own, angular, linear, change);
    const double before = kki_half_square(y);
    for (int k = 0; k < 6; k++) {
        y[k] += change[k];
    }
    return (kki_kinetic){before, kki_half_square(y)};
}

/// y += B Δ. @param angular, linear  Δ in the body's axes
static void add_scaled(const kki_free_body *own, kk_vec3 angular, kk_vec3 linear, double *y) {
    double change[6];
    kki_scale_velocity(own, angular, linear, change);
    for (int k = 0; k < 6; k++) {
        y[k] += change[k];
    }
}

static void put_sum(const double *v, kk_vec3 angular, kk_vec3 linear, double *to) {
    const double change[6] = {angular.x, angular.y, angular.z, linear.x, linear.y, linear.z};
    for (int k = 0; k < 6; k++) {
        to[k] = v[k] + change[k];
    }
}

/// What a body's velocities have become, in its own axes; and the forces from outside, and the work of impulses: wrench times the mean of the
/// velocities before and after.
void kki_free_bodies_finish_bodies(void *context, int first, int end) {
    const kki_free_pass *p = context;
    kk_simulator *s = p->s;
    kki_free_bodies *x = &s->free_bodies;
    for (int i = first; i < end; i++) {
        const int node = x->node[i], dof = x->dof[i];
        kki_fetch_body(s, node);
        const kk_mat3 R = kki_mat3(kki_pose_of(s->data, node)->R);
        const kki_rates *V = kki_rates_of(s->data, node);
        const double *v = x->swarm.velocity + KKI_SWARM_BODY * (size_t)i,
                     *W = x->swarm.wrench + KKI_SWARM_BODY * (size_t)i;
        const kk_vec3 F = kki_vec_at(W), N = kki_vec_at(W + 4), u0 = kki_vec3(V->u), w0 = kki_vec3(V->w);
        const kk_vec3 u = kki_vec_at(v), w = kki_vec_at(v + 4);
        const kk_vec3 linear = kk_mat3_tmul_vec(R, kk_vec3_sub(u, u0)),
                      angular = kk_mat3_tmul_vec(R, kk_vec3_sub(w, w0));
        if (s->traits.has_only_free_bodies) {
            s->only_free.kinetic[node] = kinetic_of(&x->own[node], s->motion.v + dof, angular, linear);
            put_sum(s->motion.v + dof, angular, linear, s->motion.v_after + dof);
            memcpy(s->motion.v_drift + dof, s->motion.v_after + dof, 6 * sizeof *s->motion.v_drift);
        } else {
            memcpy(s->kick.y_end + dof, s->kick.y + dof, 6 * sizeof *s->kick.y);
            add_scaled(&x->own[node], angular, linear, s->kick.y_end + dof);
            memcpy(s->kick.y_drift + dof, s->kick.y_end + dof, 6 * sizeof *s->kick.y);
        }
        const kk_force f = kk_force_make(kk_vec3_scale(N, 1 / s->h), kk_vec3_scale(F, 1 / s->h));
        s->readout.outside[node] = s->forces.no_pushes ? f : kk_force_add(s->readout.outside[node], f);
        x->work[i] = 0.5 * (kk_vec3_dot(F, kk_vec3_add(u, u0)) + kk_vec3_dot(N, kk_vec3_add(w, w0)));
    }
}

void kki_free_bodies_drift_bodies(void *context, int first, int end) {
    const kki_free_pass *p = context;
    kk_simulator *s = p->s;
    const kki_free_bodies *x = &s->free_bodies;
    for (int i = first; i < end; i++) {
        const int node = x->node[i], dof = x->dof[i];
        kki_fetch_body(s, node);
        const kk_mat3 R = kki_mat3(kki_pose_of(s->data, node)->R);
        const double *v = x->swarm.velocity + KKI_SWARM_BODY * (size_t)i;
        const kk_vec3 linear = kk_mat3_tmul_vec(R, kki_vec_at(v)), angular = kk_mat3_tmul_vec(R, kki_vec_at(v + 4));
        if (s->traits.has_only_free_bodies) {
            put_sum(s->motion.v_drift + dof, angular, linear, s->motion.v_drift + dof);
        } else {
            add_scaled(&x->own[node], angular, linear, s->kick.y_drift + dof);
        }
    }
}

// ---- the report

static double larger(double a, double b) {
    return a >= b || a != a ? a : b;
}

/// The first contact with the largest residual.
static int worst_contact(const kki_free_bodies *x, double residual) {
    int worst = -1;
    for (int i = 0; i < x->swarm.count; i++) {
        const kki_swarm_proof *b = &x->swarm.proof[i];
        worst = b->residual == residual && b->worst >= 0 && (worst < 0 || b->worst < worst) ? b->worst : worst;
    }
    return worst;
}

/// Angle of a share (contact/swarm.h).
static double angle_of(double turned) {
    return kk_atan2(turned <= 1 ? turned : 2 - turned, 1 - turned);
}

typedef struct summary {
    double residual, cone, signorini, turned, fastest, overlap; ///< residual: squared
} summary;

static summary sum_up(const kki_free_bodies *x) {
    summary p = {0};
    for (int i = 0; i < x->swarm.count; i++) {
        const kki_swarm_proof *b = &x->swarm.proof[i];
        p.residual = larger(p.residual, b->residual);
        p.cone = larger(p.cone, b->cone);
        p.signorini = larger(p.signorini, b->signorini);
        p.turned = larger(p.turned, b->turned);
        p.fastest = larger(p.fastest, b->fastest);
        p.overlap = larger(p.overlap, b->overlap);
    }
    return p;
}

static void report(const kk_model *m, kk_simulator *s, const summary *p) {
    kk_report *r = &s->report;
    const double residual = kk_sqrt(p->residual), angle = angle_of(p->turned), speed = p->fastest > 1 ? p->fastest : 1;
    const int worst = worst_contact(&s->free_bodies, p->residual);
    if (residual > r->residual && worst >= 0) {
        r->residual = residual;
        r->worst_body[0] = m->shape[s->contacts.list[worst].shape[0]].body;
        r->worst_body[1] = m->shape[s->contacts.list[worst].shape[1]].body;
    }
    r->penetration = p->overlap > r->penetration ? p->overlap : r->penetration;
    r->cone = p->cone > r->cone ? p->cone : r->cone;
    r->signorini = p->signorini > r->signorini ? p->signorini : r->signorini;
    r->dissipation = angle > r->dissipation ? angle : r->dissipation;
    r->sweeps += s->effort.sweeps;
    r->hit_iteration_limit |= residual > s->options.tolerance * speed;
    for (int i = 0; i < s->free_bodies.swarm.nbody; i++) {
        r->constraint_work += s->free_bodies.work[i];
    }
}

static kk_status refuse(const kk_model *m, const kk_simulator *s, kk_error *error) {
    const kki_contact *k = &s->contacts.list[0];
    for (int i = 0; i < s->contacts.count; i++) {
        const double sum =
            s->contacts.list[i].velocity.x + s->contacts.list[i].velocity.y + s->contacts.list[i].velocity.z;
        if (kki_free_bodies_have_contact(s, i) && sum - sum != 0) {
            k = &s->contacts.list[i];
            break;
        }
    }
    return kki_error_set(error, KK_NOT_FINITE, "solve: the contact between \"%s\" and \"%s\" has numbers out of range",
                         kk_model_body_name(m, m->shape[k->shape[0]].body),
                         kk_model_body_name(m, m->shape[k->shape[1]].body));
}

kk_status kki_free_bodies_report(const kk_model *m, kk_simulator *s, kk_error *error) {
    const summary proof = sum_up(&s->free_bodies);
    if ((proof.residual - proof.residual) + (proof.fastest - proof.fastest) != 0) {
        return refuse(m, s, error);
    }
    report(m, s, &proof);
    return KK_OK;
}
