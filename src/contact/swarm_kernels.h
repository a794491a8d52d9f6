/// Passes over bundles of faces; see swarm.h. Written once over vectors of KKI_SWARM_WIDTH lanes (swarm_lanes.h) and inlined for every instruction set;
/// lanes do not meet, so all give the same bits.
#ifndef KKI_CONTACT_SWARM_KERNELS_H
#define KKI_CONTACT_SWARM_KERNELS_H

#include "contact/swarm_balls.h"

// ---- the sweep

/// What a point's step adds to its impulses. A sweep waits for one point's before the next one's can begin, so what the first needs of a sum comes last:
/// friction is ready for any normal impulse before that is known, F = −(T u + T G dn), and nobody waits for the disc where all are within it.
/// Outside the disc the step is a number, because projecting Gtt⁻¹ u has a wrong fixed point. @param in_row  a point waits for this one
BODY vec step_of(const kki_swarm_point *p, wide friction, vec u, vec l, bool in_row, int o) {
    const vec T = vec_load(p->inverse_t, o);
    const wide zero = spread(0);
    const wide opens = zero - l.x, moves = zero - u.x * take(p->inverse_n, o);
    const wide dn = pick(moves > opens, moves, opens), x = l.x + dn, rim = friction * x, area = rim * rim;
    const wide d1 = zero - ((T.x * u.y + T.y * u.z) + take(p->follow[0], o) * dn), a1 = l.y + d1;
    const wide d2 = zero - ((T.y * u.y + T.z * u.z) + take(p->follow[1], o) * dn), a2 = l.z + d2;
    const mask inside = a1 * a1 + a2 * a2 <= area;
    if (in_row && is_everywhere(inside)) {
        return (vec){dn, d1, d2};
    }
    const mask closed = inside | ~(rim > zero);
    const vec held = {dn, pick(inside, d1, zero - l.y), pick(inside, d2, zero - l.z)}; // to the bit as if all were
    if (is_everywhere(closed)) {
        return held; // a root and a division less
    }
    const wide h = take(p->step, o), n1 = take(p->across[0], o), n2 = take(p->across[1], o);
    const wide b1 = l.y - h * (u.y + n1 * dn), b2 = l.z - h * (u.z + n2 * dn), t = b1 * b1 + b2 * b2;
    const wide f = pick(t > area, rim / root(t), spread(1));
    return (vec){dn, pick(closed, held.y, f * b1 - l.y), pick(closed, held.z, f * b2 - l.z)};
}

BODY vec point_velocity(const kki_swarm_point *p, const twist *a, const twist *b, int o) {
    const vec va = add(a->v, cross(a->w, vec_load(p->arm[0], o))), vb = add(b->v, cross(b->w, vec_load(p->arm[1], o)));
    return sub(vb, va);
}

/// J n of one side. Bodies that answer alike in all directions need one number for it: balls, cubes, and the world.
BODY vec turn_by(const kki_swarm_bundle *b, int side, vec n, int o) {
    const wide xx = take(b->answer[2 + side], o);
    const double(*rest)[LANES] = b->answer + 4 + 5 * side;
    if (b->is_round) {
        return scale(n, xx);
    }
    const response k = {
        spread(0),        xx,       take(rest[0], o), take(rest[1], o), take(rest[2], o), take(rest[3], o),
        take(rest[4], o), spread(0)};
    return turn(&k, n);
}

/// Several points in a row: in the face's axes, so that none of them has to turn anything. Of A's and B's own velocities points feel the difference
/// only.
typedef struct {
    vec v, wa, wb; ///< of B against A, and turning
    vec v0;        ///< v at the beginning
} face;

BODY face face_begin(const kki_swarm *s, const kki_swarm_bundle *b, int o) {
    const vec n = vec_load(b->axis[0], o), t1 = vec_load(b->axis[1], o), t2 = vec_load(b->axis[2], o);
    const twist A = twist_load(s->velocity, b->at[0] + o), B = twist_load(s->velocity, b->at[1] + o);
    const vec v = along(n, t1, t2, sub(B.v, A.v));
    return (face){v, along(n, t1, t2, A.w), along(n, t1, t2, B.w), v};
}

/// A point's new impulses, and their sum over sweeps.
BODY void take_over(kki_swarm_point *p, vec l, vec F, int o) {
    const vec x = add(l, F);
    vec_store(x, p->lambda, o);
    vec_store(add(vec_load(p->total, o), x), p->total, o);
}

BODY void face_step(const kki_swarm *s, const kki_swarm_bundle *b, int number, face *f, int o) {
    kki_swarm_point *p = &s->point[b->first + number];
    const wide ma = take(b->answer[0], o), mb = take(b->answer[1], o);
    const vec l = vec_load(p->lambda, o), ra = vec_load(p->arm[0], o), rb = vec_load(p->arm[1], o);
    const vec u = add(add(f->v, vec_load(p->g, o)), sub(cross(f->wb, rb), cross(f->wa, ra)));
    const vec F = step_of(p, take(b->friction, o), u, l, true, o);
    take_over(p, l, F, o);
    f->v = add(f->v, scale(F, ma + mb));
    f->wa = sub(f->wa, turn_by(b, 0, cross(ra, F), o));
    f->wb = add(f->wb, turn_by(b, 1, cross(rb, F), o));
}

BODY void face_end(const kki_swarm *s, const kki_swarm_bundle *b, const face *f, int o) {
    const int32_t none = none_of(s);
    const vec n = vec_load(b->axis[0], o), t1 = vec_load(b->axis[1], o), t2 = vec_load(b->axis[2], o);
    const wide ma = take(b->answer[0], o), mb = take(b->answer[1], o);
    twist A = twist_load(s->velocity, b->at[0] + o), B = twist_load(s->velocity, b->at[1] + o);
    const vec dv = across(n, t1, t2, sub(f->v, f->v0));
    const wide sum = ma + mb, whole = pick(sum > spread(0), spread(1) / sum, spread(0));
    A.v = sub(A.v, scale(dv, ma * whole));
    B.v = add(B.v, scale(dv, mb * whole));
    A.w = across(n, t1, t2, f->wa);
    B.w = across(n, t1, t2, f->wb);
    twist_store(A, b->at[0] + o, none, s->velocity);
    twist_store(B, b->at[1] + o, none, s->velocity);
}

BODY void sweep_face(const kki_swarm *s, const kki_swarm_bundle *b, bool backwards, int o) {
    face f = face_begin(s, b, o);
    for (int k = 0; k < b->points; k++) {
        face_step(s, b, backwards ? b->points - 1 - k : k, &f, o);
    }
    face_end(s, b, &f, o);
}

/// Two of a colour in turn, bundles or parts of one: what one waits for the other does not.
BODY void sweep_faces(const kki_swarm *s, const kki_swarm_bundle *b, int o, const kki_swarm_bundle *c, int p,
                      bool backwards) {
    face f = face_begin(s, b, o), g = face_begin(s, c, p);
    for (int k = 0; k < b->points; k++) {
        const int number = backwards ? b->points - 1 - k : k;
        face_step(s, b, number, &f, o);
        face_step(s, c, number, &g, p);
    }
    face_end(s, b, &f, o);
    face_end(s, c, &g, p);
}

BODY void sweep_point(const kki_swarm *s, const kki_swarm_bundle *b, int o) {
    const int32_t none = none_of(s);
    const vec n = vec_load(b->axis[0], o), t1 = vec_load(b->axis[1], o), t2 = vec_load(b->axis[2], o);
    const wide friction = take(b->friction, o);
    twist A = twist_load(s->velocity, b->at[0] + o), B = twist_load(s->velocity, b->at[1] + o);
    const wide ma = take(b->answer[0], o), mb = take(b->answer[1], o);
    kki_swarm_point *p = &s->point[b->first];
    const vec l = vec_load(p->lambda, o);
    const vec u = add(along(n, t1, t2, point_velocity(p, &A, &B, o)), vec_load(p->g, o));
    const vec d = step_of(p, friction, u, l, false, o), F = across(n, t1, t2, d);
    take_over(p, l, d, o);
    A.v = sub(A.v, scale(F, ma));
    B.v = add(B.v, scale(F, mb));
    A.w = sub(A.w, turn_by(b, 0, cross(vec_load(p->arm[0], o), F), o));
    B.w = add(B.w, turn_by(b, 1, cross(vec_load(p->arm[1], o), F), o));
    twist_store(A, b->at[0] + o, none, s->velocity);
    twist_store(B, b->at[1] + o, none, s->velocity);
}

/// Single points, or a bundle that has no other to go in turn with.
BODY void sweep_bundle(const kki_swarm *s, int bundle, bool backwards, int o) {
    const kki_swarm_bundle *b = &s->bundle[bundle];
    if (s->is_ball[bundle]) {
        sweep_ball(s, &s->ball[bundle], o);
    } else if (b->points == 1) {
        sweep_point(s, b, o);
    } else {
        sweep_face(s, b, backwards, o);
    }
}

/// @param in_pairs  where there are registers for it
BODY void sweep_body(const kki_swarm *s, int first, int end, bool backwards, bool in_pairs) {
    for (int i = first; i < end; i++) {
        const kki_swarm_bundle *b = &s->bundle[i];
        const bool is_face = in_pairs && b->points > 1; // balls have one
        if (WIDTH == LANES && is_face && i + 1 < end && b[1].points == b->points) {
            sweep_faces(s, b, 0, b + 1, 0, backwards);
            i++;
        } else if (WIDTH < LANES && is_face && !is_over(b, WIDTH)) {
            sweep_faces(s, b, 0, b, WIDTH, backwards);
        } else {
            for (int o = 0; o < LANES && !is_over(b, o); o += WIDTH) {
                sweep_bundle(s, i, backwards, o);
            }
        }
    }
}

// ---- before and behind it

/// G of one point. What does not exist, or has a singular G, is moved by nothing.
BODY void prepare_point(kki_swarm_point *p, kki_swarm_end *e, mask exists, vec n, vec t1, vec t2, const response *a,
                        const response *c, bool is_round, int o) {
    wide nn = a->m + c->m, t11 = nn, t22 = nn, n1 = spread(0), n2 = n1, t12 = n1;
    const wide zero = spread(0), one = spread(1);
    for (int side = 0; side < 2; side++) {
        const vec r = vec_load(p->arm[side], o), x = cross(r, n), y = cross(r, t1), z = cross(r, t2);
        const response *k = side ? c : a;
        const vec Jx = is_round ? scale(x, k->xx) : turn(k, x), Jy = is_round ? scale(y, k->xx) : turn(k, y);
        const vec Jz = is_round ? scale(z, k->xx) : turn(k, z);
        nn += dot(x, Jx);
        n1 += dot(x, Jy);
        n2 += dot(x, Jz);
        t11 += dot(y, Jy);
        t12 += dot(y, Jz);
        t22 += dot(z, Jz);
    }
    const wide D = t11 * t22 - t12 * t12, apart = spread(0.5) * (t11 - t22);
    const wide most = spread(0.5) * (t11 + t22) + root(apart * apart + t12 * t12);
    const mask good = exists & (nn > zero) & (D > zero);
    const wide f = pick(good, one / D, zero);
    const wide T11 = f * t22, T12 = zero - f * t12, T22 = f * t11;
    give(pick(good, one / nn, zero), p->inverse_n, o);
    give(n1, p->across[0], o);
    give(n2, p->across[1], o);
    vec_store((vec){T11, T12, T22}, p->inverse_t, o);
    give(T11 * n1 + T12 * n2, p->follow[0], o);
    give(T12 * n1 + T22 * n2, p->follow[1], o);
    give(pick(good, one / most, zero), p->step, o);
    give(pick(good, larger(nn, larger(t11, t22)), one), e->scale, o);
}

/// Dᵀ J D.
BODY response turn_response(vec n, vec t1, vec t2, const response *k) {
    const vec x = turn(k, n), y = turn(k, t1), z = turn(k, t2);
    return (response){k->m, dot(n, x), dot(t1, y), dot(t2, z), dot(n, y), dot(n, z), dot(t1, z), k->is_round};
}

BODY void keep_answer(kki_swarm_bundle *b, int side, const response *k, int o) {
    double(*rest)[LANES] = b->answer + 4 + 5 * side;
    give(k->m, b->answer[side], o);
    give(k->xx, b->answer[2 + side], o);
    if (b->is_round) {
        return;
    }
    give(k->yy, rest[0], o);
    give(k->zz, rest[1], o);
    give(k->xy, rest[2], o);
    give(k->xz, rest[3], o);
    give(k->yz, rest[4], o);
}

/// Faces of several points go on in their own axes.
BODY void turn_face(const kki_swarm *s, kki_swarm_bundle *b, response *a, response *c, int o) {
    const vec n = vec_load(b->axis[0], o), t1 = vec_load(b->axis[1], o), t2 = vec_load(b->axis[2], o);
    if (!b->is_round) {
        *a = turn_response(n, t1, t2, a);
        *c = turn_response(n, t1, t2, c);
    }
    for (int k = b->first; k < b->first + b->points; k++) {
        kki_swarm_point *p = &s->point[k];
        vec_store(along(n, t1, t2, vec_load(p->arm[0], o)), p->arm[0], o);
        vec_store(along(n, t1, t2, vec_load(p->arm[1], o)), p->arm[1], o);
    }
}

/// Whether all bodies of a bundle do, or nobody is there.
BODY bool answers_alike(const kki_swarm *s, const kki_swarm_bundle *b) {
    bool all = true;
    for (int l = 0; l < 2 * LANES; l++) {
        all &= s->inverse[b->at[l / LANES][l % LANES] + KKI_SWARM_BODY - 1] != 0;
    }
    return all;
}

BODY void prepare_lanes(const kki_swarm *s, int bundle, int o) {
    kki_swarm_bundle *b = &s->bundle[bundle];
    const vec n = vec_load(b->axis[0], o), t1 = vec_load(b->axis[1], o), t2 = vec_load(b->axis[2], o);
    const twist A = twist_load(s->free, b->at[0] + o), B = twist_load(s->free, b->at[1] + o);
    response a = response_load(s->inverse, b->at[0] + o), c = response_load(s->inverse, b->at[1] + o);
    wide fastest = spread(0);
    for (int k = b->first; k < b->first + b->points; k++) {
        kki_swarm_point *p = &s->point[k];
        const mask exists = have_point(b, k - b->first, o);
        if (b->is_round) {
            prepare_point(p, &s->end[k], exists, n, t1, t2, &a, &c, true, o);
        } else {
            prepare_point(p, &s->end[k], exists, n, t1, t2, &a, &c, false, o);
        }
        const vec u = add(along(n, t1, t2, point_velocity(p, &A, &B, o)), vec_load(p->g, o));
        const wide most = larger(larger(size_of(u.x), size_of(u.y)), size_of(u.z));
        fastest = larger(pick(exists, most, spread(0)), fastest);
    }
    raise_to(&s->proof[bundle].fastest, largest(fastest), o);
    if (b->points > 1) {
        turn_face(s, b, &a, &c, o);
    }
    keep_answer(b, 0, &a, o);
    keep_answer(b, 1, &c, o);
}

BODY void prepare_body(const kki_swarm *s, int bundle) {
    kki_swarm_bundle *b = &s->bundle[bundle];
    b->is_round = answers_alike(s, b);
    for (int o = 0; o < LANES && !is_over(b, o); o += WIDTH) {
        if (s->is_ball[bundle]) {
            prepare_ball(s, bundle, o);
        } else {
            prepare_lanes(s, bundle, o);
        }
    }
}

BODY void push_lanes(const kki_swarm *s, int bundle, bool total, int o) {
    const kki_swarm_bundle *b = &s->bundle[bundle];
    const vec n = vec_load(b->axis[0], o), t1 = vec_load(b->axis[1], o), t2 = vec_load(b->axis[2], o);
    twist A = twist_load(s->wrench, b->at[0] + o), B = twist_load(s->wrench, b->at[1] + o);
    vec force = {spread(0), spread(0), spread(0)}, ma = force, mb = force;
    for (int k = b->first; k < b->first + b->points; k++) {
        const kki_swarm_point *p = &s->point[k];
        const vec l = vec_load(total ? p->total : p->lambda, o), F = b->points > 1 ? l : across(n, t1, t2, l);
        force = add(force, F);
        ma = add(ma, cross(vec_load(p->arm[0], o), F));
        mb = add(mb, cross(vec_load(p->arm[1], o), F));
    }
    if (b->points > 1) {
        force = across(n, t1, t2, force);
        ma = across(n, t1, t2, ma);
        mb = across(n, t1, t2, mb);
    }
    A.v = sub(A.v, force);
    B.v = add(B.v, force);
    A.w = sub(A.w, ma);
    B.w = add(B.w, mb);
    twist_store(A, b->at[0] + o, none_of(s), s->wrench);
    twist_store(B, b->at[1] + o, none_of(s), s->wrench);
}

BODY void push_body(const kki_swarm *s, int bundle, bool total) {
    for (int o = 0; o < LANES && !is_over(&s->bundle[bundle], o); o += WIDTH) {
        if (s->is_ball[bundle]) {
            push_ball(s, &s->ball[bundle], total, o);
        } else {
            push_lanes(s, bundle, total, o);
        }
    }
}

// ---- the proof

BODY void judge_lanes(const kki_swarm *s, int bundle, int o) {
    const kki_swarm_bundle *b = &s->bundle[bundle];
    const vec n = vec_load(b->axis[0], o), t1 = vec_load(b->axis[1], o), t2 = vec_load(b->axis[2], o);
    twist A = twist_load(s->velocity, b->at[0] + o), B = twist_load(s->velocity, b->at[1] + o);
    if (b->points > 1) {
        A = (twist){along(n, t1, t2, A.v), along(n, t1, t2, A.w), A.m, A.J};
        B = (twist){along(n, t1, t2, B.v), along(n, t1, t2, B.w), B.m, B.J};
    }
    verdict x = {spread(0), spread(0), spread(0), spread(0)};
    for (int k = b->first; k < b->first + b->points; k++) {
        const kki_swarm_point *p = &s->point[k];
        kki_swarm_end *e = &s->end[k];
        const vec world = point_velocity(p, &A, &B, o), v = b->points > 1 ? world : along(n, t1, t2, world);
        const vec u = add(v, vec_load(p->g, o)), l = vec_load(p->total, o);
        vec_store(v, e->u, o);
        give(judge_point(&x, take(b->friction, o), take(e->scale, o), take(p->inverse_n, o), l, u), e->residual, o);
    }
    verdict_store(&x, &s->proof[bundle], o);
}

BODY void judge_body(const kki_swarm *s, int bundle) {
    for (int o = 0; o < LANES && !is_over(&s->bundle[bundle], o); o += WIDTH) {
        if (s->is_ball[bundle]) {
            judge_ball(s, bundle, o);
        } else {
            judge_lanes(s, bundle, o);
        }
    }
}

// ---- positions

BODY void repose_lanes(const kki_swarm *s, int bundle, double most, int o) {
    const kki_swarm_bundle *b = &s->bundle[bundle];
    const wide zero = spread(0);
    const vec none = {zero, zero, zero};
    wide depth = zero;
    for (int k = b->first; k < b->first + b->points; k++) {
        const wide rate = take(s->end[k].rate, o), g = pick(rate < spread(-most), spread(-most), rate);
        depth = larger(zero - g, depth);
        if (s->is_ball[bundle]) {
            give(g, s->ball[bundle].g, o);
            vec_store(none, s->ball[bundle].lambda, o);
        } else {
            vec_store((vec){g, zero, zero}, s->point[k].g, o);
            vec_store(none, s->point[k].lambda, o);
        }
    }
    const double deepest = largest(depth); // as any largest, and then its negative
    double *to = &s->proof[bundle].deepest;
    *to = o == 0 || -deepest < *to ? -deepest : *to;
}

BODY void repose_body(const kki_swarm *s, int bundle, double most) {
    for (int o = 0; o < LANES && !is_over(&s->bundle[bundle], o); o += WIDTH) {
        repose_lanes(s, bundle, most, o);
    }
}

// ---- bodies, one after the other

BODY void answer_body(const kki_swarm *s, double share, int first, int end) {
    for (size_t i = KKI_SWARM_BODY * (size_t)first; i < KKI_SWARM_BODY * (size_t)end; i += KKI_SWARM_BODY) {
        const double *W = s->wrench + i, *k = s->inverse + i, *to = s->free + i;
        double *z = s->velocity + i, *from = s->before + i;
        const double w[3] = {(k[1] * W[4] + k[4] * W[5]) + k[5] * W[6], (k[4] * W[4] + k[2] * W[5]) + k[6] * W[6],
                             (k[5] * W[4] + k[6] * W[5]) + k[3] * W[6]};
        for (int c = 0; c < 3; c++) {
            z[c] = (from[c] + share * (to[c] - from[c])) + k[0] * W[c];
            z[4 + c] = (from[4 + c] + share * (to[4 + c] - from[4 + c])) + w[c];
        }
        z[3] = from[3] = k[0]; // what answers stands behind velocities, and coasting leaves it alone
        z[7] = from[7] = k[1];
    }
}

BODY void coast_body(const kki_swarm *s, int first, int end) {
    enum { PARTS = KKI_SWARM_BODY / WIDTH };
    wide *v = (wide *)s->velocity, *before = (wide *)s->before;
    for (int i = PARTS * first; i < PARTS * end; i++) {
        const wide x = v[i];
        v[i] = x + (x - before[i]);
        before[i] = x;
    }
}

// ---- for every instruction set

/// The table kki_swarm_kernels_suffix. @param storage  static, or nothing
#define KKI_SWARM_DEFINE(suffix, storage, attribute, in_pairs)                                     \
    attribute static void prepare_##suffix(const kki_swarm *s, int bundle) {                       \
        prepare_body(s, bundle);                                                                   \
    }                                                                                              \
    attribute static void push_##suffix(const kki_swarm *s, int bundle, bool total) {              \
        push_body(s, bundle, total);                                                               \
    }                                                                                              \
    attribute static void sweep_##suffix(const kki_swarm *s, int first, int end, bool backwards) { \
        sweep_body(s, first, end, backwards, in_pairs);                                            \
    }                                                                                              \
    attribute static void judge_##suffix(const kki_swarm *s, int bundle) {                         \
        judge_body(s, bundle);                                                                     \
    }                                                                                              \
    attribute static void repose_##suffix(const kki_swarm *s, int bundle, double most) {           \
        repose_body(s, bundle, most);                                                              \
    }                                                                                              \
    attribute static void answer_##suffix(const kki_swarm *s, double share, int first, int end) {  \
        answer_body(s, share, first, end);                                                         \
    }                                                                                              \
    attribute static void coast_##suffix(const kki_swarm *s, int first, int end) {                 \
        coast_body(s, first, end);                                                                 \
    }                                                                                              \
    storage const kki_swarm_kernels kki_swarm_kernels_##suffix = {.prepare = prepare_##suffix,     \
                                                                  .push = push_##suffix,           \
                                                                  .sweep = sweep_##suffix,         \
                                                                  .judge = judge_##suffix,         \
                                                                  .repose = repose_##suffix,       \
                                                                  .answer = answer_##suffix,       \
                                                                  .coast = coast_##suffix};

#endif
