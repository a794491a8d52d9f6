/// Kernels of bundles of balls (swarm.h), in line in those of all bundles (swarm_kernels.h).
#ifndef KKI_CONTACT_SWARM_BALLS_H
#define KKI_CONTACT_SWARM_BALLS_H

#include "contact/swarm_lanes.h"

/// B's velocity against A's at the points, g left out. Across n the arms do: (ω_B × b n) − (ω_A × a n) = (b ω_B − a ω_A) × n.
BODY vec ball_velocity(const kki_swarm_ball *p, vec n, const twist *A, const twist *B, int o) {
    return add(sub(B->v, A->v), cross(sub(scale(B->w, take(p->arm[1], o)), scale(A->w, take(p->arm[0], o))), n));
}

/// As step_of for points (swarm_kernels.h); λ whole, not what is added.
BODY vec ball_step(const kki_swarm_ball *p, vec n, vec u, vec l, int o) {
    const wide along_n = dot(n, u), was = dot(n, l), zero = spread(0);
    const wide wanted = was - (along_n + take(p->g, o)) * take(p->inverse_n, o);
    const wide x = pick(wanted > zero, wanted, zero), rim = take(p->friction, o) * x, area = rim * rim;
    const vec slip = sub(u, scale(n, along_n)), held = sub(l, scale(n, was));
    const vec a = sub(held, scale(slip, take(p->inverse_t, o)));
    const wide t = dot(a, a);
    if (is_everywhere(t <= area)) {
        return add(scale(n, x), a);
    }
    return add(scale(n, x), scale(a, pick(t > area, rim / root(t), spread(1))));
}

BODY void sweep_ball(const kki_swarm *s, kki_swarm_ball *p, int o) {
    const int32_t none = none_of(s);
    const vec n = vec_load(p->normal, o), l = vec_load(p->lambda, o);
    twist A = twist_load(s->velocity, p->at[0] + o), B = twist_load(s->velocity, p->at[1] + o);
    const vec x = ball_step(p, n, ball_velocity(p, n, &A, &B, o), l, o), F = sub(x, l), turns = cross(n, F);
    vec_store(x, p->lambda, o);
    vec_store(add(vec_load(p->total, o), x), p->total, o);
    A.v = sub(A.v, scale(F, A.m));
    B.v = add(B.v, scale(F, B.m));
    A.w = sub(A.w, scale(turns, A.J * take(p->arm[0], o)));
    B.w = add(B.w, scale(turns, B.J * take(p->arm[1], o)));
    twist_store(A, p->at[0] + o, none, s->velocity);
    twist_store(B, p->at[1] + o, none, s->velocity);
}

BODY void push_ball(const kki_swarm *s, const kki_swarm_ball *p, bool total, int o) {
    const int32_t none = none_of(s);
    const vec F = vec_load(total ? p->total : p->lambda, o), turns = cross(vec_load(p->normal, o), F);
    twist A = twist_load(s->wrench, p->at[0] + o), B = twist_load(s->wrench, p->at[1] + o);
    A.v = sub(A.v, F);
    B.v = add(B.v, F);
    A.w = sub(A.w, scale(turns, take(p->arm[0], o)));
    B.w = add(B.w, scale(turns, take(p->arm[1], o)));
    twist_store(A, p->at[0] + o, none, s->wrench);
    twist_store(B, p->at[1] + o, none, s->wrench);
}

/// Some axes across n, of length 1 (Duff et al., Building an Orthonormal Basis, Revisited, 2017); none for the zeros of an empty lane, which nothing asks.
BODY void ball_axes(vec n, vec *t1, vec *t2) {
    const wide sign = pick(n.z < spread(0), spread(-1), spread(1)), a = spread(-1) / (sign + n.z), b = n.x * n.y * a;
    *t1 = (vec){spread(1) + sign * n.x * n.x * a, sign * b, spread(0) - sign * n.x};
    *t2 = (vec){b, sign + n.y * n.y * a, spread(0) - n.y};
}

BODY void prepare_ball(const kki_swarm *s, int bundle, int o) {
    kki_swarm_ball *p = &s->ball[bundle];
    const mask exists = have_point(&s->bundle[bundle], 0, o);
    const vec n = vec_load(p->normal, o);
    const twist A = twist_load(s->free, p->at[0] + o), B = twist_load(s->free, p->at[1] + o);
    const response a = response_load(s->inverse, p->at[0] + o), c = response_load(s->inverse, p->at[1] + o);
    const wide zero = spread(0), nn = a.m + c.m;
    const wide tt =
        nn + ((take(p->arm[0], o) * take(p->arm[0], o)) * a.xx + (take(p->arm[1], o) * take(p->arm[1], o)) * c.xx);
    const mask good = exists & (nn > zero);
    give(pick(good, spread(1) / nn, zero), p->inverse_n, o);
    give(pick(good, spread(1) / tt, zero), p->inverse_t, o);
    give(pick(good, tt, spread(1)), s->end[s->bundle[bundle].first].scale, o);
    const vec u = add(ball_velocity(p, n, &A, &B, o), scale(n, take(p->g, o)));
    const wide fastest = larger(larger(size_of(u.x), size_of(u.y)), size_of(u.z));
    raise_to(&s->proof[bundle].fastest, largest(pick(exists, fastest, zero)), o);
}

BODY void judge_ball(const kki_swarm *s, int bundle, int o) {
    const kki_swarm_ball *p = &s->ball[bundle];
    kki_swarm_end *e = &s->end[s->bundle[bundle].first];
    const vec n = vec_load(p->normal, o);
    const twist A = twist_load(s->velocity, p->at[0] + o), B = twist_load(s->velocity, p->at[1] + o);
    const vec v = ball_velocity(p, n, &A, &B, o);
    vec t1, t2;
    ball_axes(n, &t1, &t2);
    vec u = along(n, t1, t2, v);
    u.x += take(p->g, o);
    vec_store(v, e->u, o);
    verdict x = {spread(0), spread(0), spread(0), spread(0)};
    give(judge_point(&x, take(p->friction, o), take(e->scale, o), take(p->inverse_n, o),
                     along(n, t1, t2, vec_load(p->total, o)), u),
         e->residual, o);
    verdict_store(&x, &s->proof[bundle], o);
}

#endif
