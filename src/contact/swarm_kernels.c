/// Passes over bundles of faces; see swarm.h. Written once over vectors of four and inlined for every instruction set; lanes do not meet, so all
/// give the same bits.
#include "base/fetch.h"
#include "contact/swarm_balls.h"
#include "dynamics/kernels/choose.h"

// ---- the sweep

/// What a point's step adds to its impulses. A sweep waits for one point's before the next one's can begin, so what the first needs of a sum comes last:
/// friction is ready for any normal impulse before that is known, F = −(T u + T G dn), and nobody waits for the disc where all are within it.
/// Outside the disc the step is a number, because projecting Gtt⁻¹ u has a wrong fixed point. @param in_row  a point waits for this one
BODY vec step_of(const kki_swarm_point *p, quad friction, vec u, vec l, bool in_row) {
    const quad *T = (const quad *)p->inverse_t, *follow = (const quad *)p->follow, zero = spread(0);
    const quad opens = zero - l.x, moves = zero - u.x * *(const quad *)p->inverse_n;
    const quad dn = pick(moves > opens, moves, opens), x = l.x + dn, rim = friction * x, area = rim * rim;
    const quad d1 = zero - ((T[0] * u.y + T[1] * u.z) + follow[0] * dn), a1 = l.y + d1;
    const quad d2 = zero - ((T[1] * u.y + T[2] * u.z) + follow[1] * dn), a2 = l.z + d2;
    const mask inside = a1 * a1 + a2 * a2 <= area;
    if (in_row && is_everywhere(inside)) {
        return (vec){dn, d1, d2};
    }
    const mask closed = inside | ~(rim > zero);
    const vec held = {dn, pick(inside, d1, zero - l.y), pick(inside, d2, zero - l.z)}; // as where all are inside
    if (is_everywhere(closed)) {
        return held; // a root and a division less
    }
    const quad *across = (const quad *)p->across, h = *(const quad *)p->step;
    const quad b1 = l.y - h * (u.y + across[0] * dn), b2 = l.z - h * (u.z + across[1] * dn), t = b1 * b1 + b2 * b2;
    const quad f = pick(t > area, rim / root(t), spread(1));
    return (vec){dn, pick(closed, held.y, f * b1 - l.y), pick(closed, held.z, f * b2 - l.z)};
}

BODY vec point_velocity(const kki_swarm_point *p, const twist *a, const twist *b) {
    const vec va = add(a->v, cross(a->w, vec_load(p->arm[0]))), vb = add(b->v, cross(b->w, vec_load(p->arm[1])));
    return sub(vb, va);
}

/// J n of one side. Bodies that answer alike in all directions need one number for it: balls, cubes, and the world.
BODY vec turn_by(const kki_swarm_bundle *b, int side, vec n) {
    const quad *J = (const quad *)b->answer, *rest = J + 4 + 5 * side;
    if (b->is_round) {
        return scale(n, J[2 + side]);
    }
    const response k = {spread(0), J[2 + side], rest[0], rest[1], rest[2], rest[3], rest[4], spread(0)};
    return turn(&k, n);
}

/// Several points in a row: in the face's axes, so that none of them has to turn anything. Of A's and B's own velocities points feel the difference
/// only.
typedef struct {
    vec v, wa, wb; ///< of B against A, and turning
    vec v0;        ///< v at the beginning
} face;

BODY face face_begin(const kki_swarm *s, const kki_swarm_bundle *b) {
    const vec n = vec_load(b->axis[0]), t1 = vec_load(b->axis[1]), t2 = vec_load(b->axis[2]);
    const twist A = twist_load(s->velocity, b->at[0]), B = twist_load(s->velocity, b->at[1]);
    const vec v = along(n, t1, t2, sub(B.v, A.v));
    return (face){v, along(n, t1, t2, A.w), along(n, t1, t2, B.w), v};
}

/// A point's new impulses, and their sum over sweeps.
BODY void take_over(kki_swarm_point *p, vec l, vec F) {
    const vec x = add(l, F);
    quad *lambda = (quad *)p->lambda, *total = (quad *)p->total;
    lambda[0] = x.x;
    lambda[1] = x.y;
    lambda[2] = x.z;
    total[0] += x.x;
    total[1] += x.y;
    total[2] += x.z;
}

BODY void face_step(const kki_swarm *s, const kki_swarm_bundle *b, int number, face *f) {
    kki_swarm_point *p = &s->point[b->first + number];
    const quad *m = (const quad *)b->answer;
    const vec l = vec_load(p->lambda), ra = vec_load(p->arm[0]), rb = vec_load(p->arm[1]);
    const vec u = add(add(f->v, vec_load(p->g)), sub(cross(f->wb, rb), cross(f->wa, ra)));
    const vec F = step_of(p, *(const quad *)b->friction, u, l, true);
    take_over(p, l, F);
    f->v = add(f->v, scale(F, m[0] + m[1]));
    f->wa = sub(f->wa, turn_by(b, 0, cross(ra, F)));
    f->wb = add(f->wb, turn_by(b, 1, cross(rb, F)));
}

BODY void face_end(const kki_swarm *s, const kki_swarm_bundle *b, const face *f) {
    const int32_t none = none_of(s);
    const vec n = vec_load(b->axis[0]), t1 = vec_load(b->axis[1]), t2 = vec_load(b->axis[2]);
    const quad *m = (const quad *)b->answer;
    twist A = twist_load(s->velocity, b->at[0]), B = twist_load(s->velocity, b->at[1]);
    const vec dv = across(n, t1, t2, sub(f->v, f->v0));
    const quad sum = m[0] + m[1], whole = pick(sum > spread(0), spread(1) / sum, spread(0));
    A.v = sub(A.v, scale(dv, m[0] * whole));
    B.v = add(B.v, scale(dv, m[1] * whole));
    A.w = across(n, t1, t2, f->wa);
    B.w = across(n, t1, t2, f->wb);
    twist_store(A, b->at[0], none, s->velocity);
    twist_store(B, b->at[1], none, s->velocity);
}

BODY void sweep_face(const kki_swarm *s, const kki_swarm_bundle *b, bool backwards) {
    face f = face_begin(s, b);
    for (int k = 0; k < b->points; k++) {
        face_step(s, b, backwards ? b->points - 1 - k : k, &f);
    }
    face_end(s, b, &f);
}

/// Two bundles of a color in turn: what one waits for the other does not.
BODY void sweep_faces(const kki_swarm *s, const kki_swarm_bundle *b, bool backwards) {
    face f = face_begin(s, b), g = face_begin(s, b + 1);
    for (int k = 0; k < b->points; k++) {
        const int number = backwards ? b->points - 1 - k : k;
        face_step(s, b, number, &f);
        face_step(s, b + 1, number, &g);
    }
    face_end(s, b, &f);
    face_end(s, b + 1, &g);
}

BODY void sweep_point(const kki_swarm *s, const kki_swarm_bundle *b) {
    const int32_t none = none_of(s);
    const vec n = vec_load(b->axis[0]), t1 = vec_load(b->axis[1]), t2 = vec_load(b->axis[2]);
    const quad friction = *(const quad *)b->friction;
    twist A = twist_load(s->velocity, b->at[0]), B = twist_load(s->velocity, b->at[1]);
    const quad *m = (const quad *)b->answer;
    kki_swarm_point *p = &s->point[b->first];
    const vec l = vec_load(p->lambda);
    const vec u = add(along(n, t1, t2, point_velocity(p, &A, &B)), vec_load(p->g));
    const vec d = step_of(p, friction, u, l, false), F = across(n, t1, t2, d);
    take_over(p, l, d);
    A.v = sub(A.v, scale(F, m[0]));
    B.v = add(B.v, scale(F, m[1]));
    A.w = sub(A.w, turn_by(b, 0, cross(vec_load(p->arm[0]), F)));
    B.w = add(B.w, turn_by(b, 1, cross(vec_load(p->arm[1]), F)));
    twist_store(A, b->at[0], none, s->velocity);
    twist_store(B, b->at[1], none, s->velocity);
}

/// Balls further on, and a little nearer than that their bodies: they have so little to do that a large island of them waits for memory.
BODY void fetch_balls(const kki_swarm *s, int i) {
    enum { BODIES_AHEAD = 4, AHEAD = 12 };
    const kki_swarm_ball *p = &s->ball[i + BODIES_AHEAD < s->count ? i + BODIES_AHEAD : i];
    for (int lane = 0; lane < LANES; lane++) {
        kki_fetch(s->velocity + p->at[0][lane], KKI_LINE);
        kki_fetch(s->velocity + p->at[1][lane], KKI_LINE);
    }
    kki_fetch(&s->ball[i + AHEAD], sizeof *p);
}

/// @param in_pairs  where there are registers for it
BODY void sweep_body(const kki_swarm *s, int first, int end, bool backwards, bool in_pairs) {
    for (int i = first; i < end; i++) {
        const kki_swarm_bundle *b = &s->bundle[i];
        if (s->is_ball[i]) {
            fetch_balls(s, i);
            sweep_ball(s, &s->ball[i]);
        } else if (b->points == 1) {
            sweep_point(s, b);
        } else if (in_pairs && i + 1 < end && b[1].points == b->points) { // balls have one
            sweep_faces(s, b, backwards);
            i++;
        } else {
            sweep_face(s, b, backwards);
        }
    }
}

// ---- before and behind it

/// G of one point. What does not exist, or has a singular G, is moved by nothing.
BODY void prepare_point(kki_swarm_point *p, kki_swarm_end *e, mask exists, vec n, vec t1, vec t2, const response *a,
                        const response *c, bool is_round) {
    quad nn = a->m + c->m, t11 = nn, t22 = nn, n1 = spread(0), n2 = n1, t12 = n1;
    const quad zero = spread(0), one = spread(1);
    for (int side = 0; side < 2; side++) {
        const vec r = vec_load(p->arm[side]), x = cross(r, n), y = cross(r, t1), z = cross(r, t2);
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
    const quad D = t11 * t22 - t12 * t12, apart = spread(0.5) * (t11 - t22);
    const quad most = spread(0.5) * (t11 + t22) + root(apart * apart + t12 * t12);
    const mask good = exists & (nn > zero) & (D > zero);
    const quad f = pick(good, one / D, zero);
    *(quad *)p->inverse_n = pick(good, one / nn, zero);
    ((quad *)p->across)[0] = n1;
    ((quad *)p->across)[1] = n2;
    const quad T11 = f * t22, T12 = zero - f * t12, T22 = f * t11;
    ((quad *)p->inverse_t)[0] = T11;
    ((quad *)p->inverse_t)[1] = T12;
    ((quad *)p->inverse_t)[2] = T22;
    ((quad *)p->follow)[0] = T11 * n1 + T12 * n2;
    ((quad *)p->follow)[1] = T12 * n1 + T22 * n2;
    *(quad *)p->step = pick(good, one / most, zero);
    *(quad *)e->scale = pick(good, larger(nn, larger(t11, t22)), one);
}

/// Dᵀ J D.
BODY response turn_response(vec n, vec t1, vec t2, const response *k) {
    const vec x = turn(k, n), y = turn(k, t1), z = turn(k, t2);
    return (response){k->m, dot(n, x), dot(t1, y), dot(t2, z), dot(n, y), dot(n, z), dot(t1, z), k->is_round};
}

BODY void keep_answer(kki_swarm_bundle *b, int side, const response *k) {
    quad *to = (quad *)b->answer, *rest = to + 4 + 5 * side;
    to[side] = k->m;
    to[2 + side] = k->xx;
    if (b->is_round) {
        return;
    }
    rest[0] = k->yy;
    rest[1] = k->zz;
    rest[2] = k->xy;
    rest[3] = k->xz;
    rest[4] = k->yz;
}

/// Faces of several points go on in their own axes.
BODY void turn_face(const kki_swarm *s, kki_swarm_bundle *b, response *a, response *c) {
    const vec n = vec_load(b->axis[0]), t1 = vec_load(b->axis[1]), t2 = vec_load(b->axis[2]);
    if (!b->is_round) {
        *a = turn_response(n, t1, t2, a);
        *c = turn_response(n, t1, t2, c);
    }
    for (int k = b->first; k < b->first + b->points; k++) {
        kki_swarm_point *p = &s->point[k];
        vec_store(along(n, t1, t2, vec_load(p->arm[0])), p->arm[0]);
        vec_store(along(n, t1, t2, vec_load(p->arm[1])), p->arm[1]);
    }
}

BODY void prepare_body(const kki_swarm *s, int bundle) {
    if (s->is_ball[bundle]) {
        prepare_ball(s, bundle);
        return;
    }
    kki_swarm_bundle *b = &s->bundle[bundle];
    const vec n = vec_load(b->axis[0]), t1 = vec_load(b->axis[1]), t2 = vec_load(b->axis[2]);
    const twist A = twist_load(s->free, b->at[0]), B = twist_load(s->free, b->at[1]);
    response a = response_load(s->inverse, b->at[0]), c = response_load(s->inverse, b->at[1]);
    quad fastest = spread(0);
    b->is_round = is_all(a.is_round) && is_all(c.is_round);
    for (int k = b->first; k < b->first + b->points; k++) {
        kki_swarm_point *p = &s->point[k];
        const int32_t *have = b->count, number = k - b->first; // lanes with fewer points have empty ones
        const mask exists = {-(have[0] > number), -(have[1] > number), -(have[2] > number), -(have[3] > number)};
        if (b->is_round) {
            prepare_point(p, &s->end[k], exists, n, t1, t2, &a, &c, true);
        } else {
            prepare_point(p, &s->end[k], exists, n, t1, t2, &a, &c, false);
        }
        const vec u = add(along(n, t1, t2, point_velocity(p, &A, &B)), vec_load(p->g));
        const quad most = larger(larger(size_of(u.x), size_of(u.y)), size_of(u.z));
        fastest = larger(pick(exists, most, spread(0)), fastest);
    }
    s->proof[bundle].fastest = largest(fastest);
    if (b->points > 1) {
        turn_face(s, b, &a, &c);
    }
    keep_answer(b, 0, &a);
    keep_answer(b, 1, &c);
}

BODY void push_body(const kki_swarm *s, int bundle, bool total) {
    if (s->is_ball[bundle]) {
        push_ball(s, &s->ball[bundle], total);
        return;
    }
    const kki_swarm_bundle *b = &s->bundle[bundle];
    const vec n = vec_load(b->axis[0]), t1 = vec_load(b->axis[1]), t2 = vec_load(b->axis[2]);
    twist A = twist_load(s->wrench, b->at[0]), B = twist_load(s->wrench, b->at[1]);
    vec force = {spread(0), spread(0), spread(0)}, ma = force, mb = force;
    for (int k = b->first; k < b->first + b->points; k++) {
        const kki_swarm_point *p = &s->point[k];
        const vec l = vec_load(total ? p->total : p->lambda), F = b->points > 1 ? l : across(n, t1, t2, l);
        force = add(force, F);
        ma = add(ma, cross(vec_load(p->arm[0]), F));
        mb = add(mb, cross(vec_load(p->arm[1]), F));
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
    twist_store(A, b->at[0], none_of(s), s->wrench);
    twist_store(B, b->at[1], none_of(s), s->wrench);
}

// ---- the proof

BODY void judge_body(const kki_swarm *s, int bundle) {
    if (s->is_ball[bundle]) {
        judge_ball(s, bundle);
        return;
    }
    const kki_swarm_bundle *b = &s->bundle[bundle];
    const vec n = vec_load(b->axis[0]), t1 = vec_load(b->axis[1]), t2 = vec_load(b->axis[2]);
    twist A = twist_load(s->velocity, b->at[0]), B = twist_load(s->velocity, b->at[1]);
    if (b->points > 1) {
        A = (twist){along(n, t1, t2, A.v), along(n, t1, t2, A.w), A.m, A.J};
        B = (twist){along(n, t1, t2, B.v), along(n, t1, t2, B.w), B.m, B.J};
    }
    verdict x = {spread(0), spread(0), spread(0), spread(0)};
    for (int k = b->first; k < b->first + b->points; k++) {
        const kki_swarm_point *p = &s->point[k];
        kki_swarm_end *e = &s->end[k];
        const vec world = point_velocity(p, &A, &B), v = b->points > 1 ? world : along(n, t1, t2, world);
        const vec u = add(v, vec_load(p->g)), l = vec_load(p->total);
        vec_store(v, e->u);
        *(quad *)e->residual =
            judge_point(&x, *(const quad *)b->friction, *(const quad *)e->scale, *(const quad *)p->inverse_n, l, u);
    }
    verdict_store(&x, &s->proof[bundle]);
}

// ---- positions

BODY void repose_body(const kki_swarm *s, int bundle, double most) {
    const kki_swarm_bundle *b = &s->bundle[bundle];
    const quad zero = spread(0);
    quad depth = zero;
    for (int k = b->first; k < b->first + b->points; k++) {
        const quad rate = *(const quad *)s->end[k].rate, g = pick(rate < spread(-most), spread(-most), rate);
        depth = larger(zero - g, depth);
        if (s->is_ball[bundle]) {
            *(quad *)s->ball[bundle].g = g;
            vec_store((vec){zero, zero, zero}, s->ball[bundle].lambda);
        } else {
            vec_store((vec){g, zero, zero}, s->point[k].g);
            vec_store((vec){zero, zero, zero}, s->point[k].lambda);
        }
    }
    s->proof[bundle].deepest = -largest(depth);
}

// ---- bodies, one after the other

BODY void answer_body(const kki_swarm *s, double share, int first, int end) {
    const bool is_end = share == 1; // where the velocities before it do not count
    const double *start = is_end ? s->free : s->before;
    for (size_t i = KKI_SWARM_BODY * (size_t)first; i < KKI_SWARM_BODY * (size_t)end; i += KKI_SWARM_BODY) {
        const double *W = s->wrench + i, *k = s->inverse + i, *to = s->free + i, *from = start + i;
        double *z = s->velocity + i;
        const double w[3] = {(k[1] * W[4] + k[4] * W[5]) + k[5] * W[6], (k[4] * W[4] + k[2] * W[5]) + k[6] * W[6],
                             (k[5] * W[4] + k[6] * W[5]) + k[3] * W[6]};
        for (int c = 0; c < 3; c++) {
            z[c] = (from[c] + share * (to[c] - from[c])) + k[0] * W[c];
            z[4 + c] = (from[4 + c] + share * (to[4 + c] - from[4 + c])) + w[c];
        }
        z[3] = k[0]; // what answers stands behind velocities, and coasting leaves it alone
        z[7] = k[1];
        if (!is_end) {
            s->before[i + 3] = k[0];
            s->before[i + 7] = k[1];
        }
    }
}

BODY void coast_body(const kki_swarm *s, int first, int end) {
    quad *v = (quad *)s->velocity, *before = (quad *)s->before;
    for (int i = 2 * first; i < 2 * end; i++) {
        const quad x = v[i];
        v[i] = x + (x - before[i]);
        before[i] = x;
    }
}

// ---- for every instruction set

#define DEFINE(suffix, attribute, in_pairs)                                                        \
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
    static const kki_swarm_kernels table_##suffix = {.prepare = prepare_##suffix,                  \
                                                     .push = push_##suffix,                        \
                                                     .sweep = sweep_##suffix,                      \
                                                     .judge = judge_##suffix,                      \
                                                     .repose = repose_##suffix,                    \
                                                     .answer = answer_##suffix,                    \
                                                     .coast = coast_##suffix};

DEFINE(baseline, , false)
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2, true)
#endif

KKI_CHOOSE_KERNELS(kki_swarm_kernels, NULL)
