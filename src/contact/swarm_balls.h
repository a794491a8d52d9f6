/// Kernels of bundles of balls (swarm.h), in line in those of all bundles (swarm_kernels.c).
#ifndef KKI_CONTACT_SWARM_BALLS_H
#define KKI_CONTACT_SWARM_BALLS_H

#include "contact/swarm_lanes.h"

/// B's velocity against A's at the points, g left out. Across n the arms do: (ω_B × b n) − (ω_A × a n) = (b ω_B − a ω_A) × n.
BODY vec ball_velocity(const kki_swarm_ball *p, vec n, const twist *A, const twist *B) {
    const quad *arm = (const quad *)p->arm;
    return add(sub(B->v, A->v), cross(sub(scale(B->w, arm[1]), scale(A->w, arm[0])), n));
}

/// As step_of for points (swarm_kernels.c); λ whole, not what is added.
BODY vec ball_step(const kki_swarm_ball *p, vec n, vec u, vec l) {
    const quad along_n = dot(n, u), was = dot(n, l), zero = spread(0);
    const quad wanted = was - (along_n + *(const quad *)p->g) * *(const quad *)p->inverse_n;
    const quad x = pick(wanted > zero, wanted, zero), rim = *(const quad *)p->friction * x, area = rim * rim;
    const vec slip = sub(u, scale(n, along_n)), held = sub(l, scale(n, was));
    const vec a = sub(held, scale(slip, *(const quad *)p->inverse_t));
    const quad t = dot(a, a);
    if (is_everywhere(t <= area)) {
        return add(scale(n, x), a);
    }
    return add(scale(n, x), scale(a, pick(t > area, rim / root(t), spread(1))));
}

BODY void sweep_ball(const kki_swarm *s, kki_swarm_ball *p) {
    const int32_t none = none_of(s);
    const quad *arm = (const quad *)p->arm;
    const vec n = vec_load(p->normal), l = vec_load(p->lambda);
    twist A = twist_load(s->velocity, p->at[0]), B = twist_load(s->velocity, p->at[1]);
    const vec x = ball_step(p, n, ball_velocity(p, n, &A, &B), l), F = sub(x, l), turns = cross(n, F);
    vec_store(x, p->lambda);
    vec_store(add(vec_load(p->total), x), p->total);
    A.v = sub(A.v, scale(F, A.m));
    B.v = add(B.v, scale(F, B.m));
    A.w = sub(A.w, scale(turns, A.J * arm[0]));
    B.w = add(B.w, scale(turns, B.J * arm[1]));
    twist_store(A, p->at[0], none, s->velocity);
    twist_store(B, p->at[1], none, s->velocity);
}

BODY void push_ball(const kki_swarm *s, const kki_swarm_ball *p, bool total) {
    const int32_t none = none_of(s);
    const quad *arm = (const quad *)p->arm;
    const vec F = vec_load(total ? p->total : p->lambda), turns = cross(vec_load(p->normal), F);
    twist A = twist_load(s->wrench, p->at[0]), B = twist_load(s->wrench, p->at[1]);
    A.v = sub(A.v, F);
    B.v = add(B.v, F);
    A.w = sub(A.w, scale(turns, arm[0]));
    B.w = add(B.w, scale(turns, arm[1]));
    twist_store(A, p->at[0], none, s->wrench);
    twist_store(B, p->at[1], none, s->wrench);
}

/// Some axes across n, of length 1 (Duff et al., Building an Orthonormal Basis, Revisited, 2017); none for the zeros of an empty lane, which nothing asks.
BODY void ball_axes(vec n, vec *t1, vec *t2) {
    const quad sign = pick(n.z < spread(0), spread(-1), spread(1)), a = spread(-1) / (sign + n.z), b = n.x * n.y * a;
    *t1 = (vec){spread(1) + sign * n.x * n.x * a, sign * b, spread(0) - sign * n.x};
    *t2 = (vec){b, sign + n.y * n.y * a, spread(0) - n.y};
}

BODY void prepare_ball(const kki_swarm *s, int bundle) {
    kki_swarm_ball *p = &s->ball[bundle];
    const int32_t *have = s->bundle[bundle].count;
    const mask exists = {-(have[0] > 0), -(have[1] > 0), -(have[2] > 0), -(have[3] > 0)};
    const vec n = vec_load(p->normal);
    const twist A = twist_load(s->free, p->at[0]), B = twist_load(s->free, p->at[1]);
    const response a = response_load(s->inverse, p->at[0]), c = response_load(s->inverse, p->at[1]);
    const quad *arm = (const quad *)p->arm, zero = spread(0), nn = a.m + c.m;
    const quad tt = nn + ((arm[0] * arm[0]) * a.xx + (arm[1] * arm[1]) * c.xx);
    const mask good = exists & (nn > zero);
    *(quad *)p->inverse_n = pick(good, spread(1) / nn, zero);
    *(quad *)p->inverse_t = pick(good, spread(1) / tt, zero);
    *(quad *)s->end[s->bundle[bundle].first].scale = pick(good, tt, spread(1));
    const vec u = add(ball_velocity(p, n, &A, &B), scale(n, *(const quad *)p->g));
    const quad fastest = larger(larger(size_of(u.x), size_of(u.y)), size_of(u.z));
    s->proof[bundle].fastest = largest(pick(exists, fastest, zero));
}

BODY void judge_ball(const kki_swarm *s, int bundle) {
    const kki_swarm_ball *p = &s->ball[bundle];
    kki_swarm_end *e = &s->end[s->bundle[bundle].first];
    const vec n = vec_load(p->normal);
    const twist A = twist_load(s->velocity, p->at[0]), B = twist_load(s->velocity, p->at[1]);
    const vec v = ball_velocity(p, n, &A, &B);
    vec t1, t2;
    ball_axes(n, &t1, &t2);
    vec u = along(n, t1, t2, v);
    u.x += *(const quad *)p->g;
    vec_store(v, e->u);
    verdict x = {spread(0), spread(0), spread(0), spread(0)};
    *(quad *)e->residual = judge_point(&x, *(const quad *)p->friction, *(const quad *)e->scale,
                                       *(const quad *)p->inverse_n, along(n, t1, t2, vec_load(p->total)), u);
    verdict_store(&x, &s->proof[bundle]);
}

#endif
