/// Places of links and shapes, and ways of links, in vectors of four: (x, y, z, unused), or one number of four links.
#include "simulate/near_kernels.h"

#include "contact/quads.h"
#include "dynamics/kernels/choose.h"
#include "geometry/lanes.h"

/// In memory of any alignment.
typedef double loose_quad __attribute__((vector_size(32), aligned(8), may_alias));

BODY quad load(const double *x) {
    return *(const loose_quad *)x;
}

BODY void store(double *x, quad a) {
    *(loose_quad *)x = a;
}

/// x + y + z of four vectors.
LONG_BODY quad fold(const quad v[4]) {
    quad t[4];
    transpose(v[0], v[1], v[2], v[3], t);
    return t[0] + t[1] + t[2];
}

BODY quad cross(quad a, quad b) {
    const quad ay = __builtin_shufflevector(a, a, 1, 2, 0, 3), az = __builtin_shufflevector(a, a, 2, 0, 1, 3);
    const quad by = __builtin_shufflevector(b, b, 1, 2, 0, 3), bz = __builtin_shufflevector(b, b, 2, 0, 1, 3);
    return ay * bz - az * by;
}

/// A vector from its parts along three columns.
BODY quad combine(const quad c[3], double x, double y, double z) {
    return c[0] * x + c[1] * y + c[2] * z;
}

typedef struct axes {
    quad c[3];
} axes;

BODY axes axes_of(const double R[3][4]) {
    return (axes){{*(const quad *)R[0], *(const quad *)R[1], *(const quad *)R[2]}};
}

// ---- ways of links

/// Goes to where the root of a tree is now; gives a measure of how far from the origin that is.
BODY double look_from(kki_view *v, const kk_data *d) {
    const kki_pose *X = kki_pose_of(d, v->node);
    const axes R = axes_of(X->R);
    quad Q[3];
    for (int k = 0; k < 3; k++) {
        *(quad *)v->Q[k] = Q[k] = combine(R.c, v->R[0][k], v->R[1][k], v->R[2][k]);
    }
    *(quad *)v->from = *(const quad *)X->p - combine(Q, v->p[0], v->p[1], v->p[2]);
    *(quad *)v->R[0] = R.c[0], *(quad *)v->R[1] = R.c[1], *(quad *)v->R[2] = R.c[2];
    *(quad *)v->p = *(const quad *)X->p;
    return __builtin_fabs(v->p[0]) + __builtin_fabs(v->p[1]) + __builtin_fabs(v->p[2]);
}

/// Squares of what four links have moved since they were last looked at, by parts: their balls' centres, and their axes, whose sum is |ΔR|².
typedef struct squares {
    quad way[4], turn[4];
} squares;

/// Seen from the world, and from the root of its tree: against where it would be had it gone with that. @param c  the ball
BODY void compare(const kki_view *v, const axes *R, quad c, kki_seen *old, squares s[2], int l) {
    const axes Q = axes_of(v->Q);
    const quad a = c - *(const quad *)old->c;
    const quad b = c - (combine(Q.c, old->c[0], old->c[1], old->c[2]) + *(const quad *)v->from);
    quad turn[2] = {spread(0), spread(0)};
    for (int k = 0; k < 3; k++) {
        const quad x = R->c[k] - *(const quad *)old->R[k];
        const quad y = R->c[k] - combine(Q.c, old->R[k][0], old->R[k][1], old->R[k][2]);
        turn[0] += x * x;
        turn[1] += y * y;
        *(quad *)old->R[k] = R->c[k];
    }
    *(quad *)old->c = c;
    s[0].way[l] = a * a, s[0].turn[l] = turn[0];
    s[1].way[l] = b * b, s[1].turn[l] = turn[1];
}

/// Squares of a ball's angular velocity and of its centre's velocity, by parts.
BODY void speeds(const kk_data *d, int node, quad arm, quad *u, quad *w) {
    const kki_rates *V = kki_rates_of(d, node);
    const quad turn = *(const quad *)V->w, way = *(const quad *)V->u + cross(turn, arm);
    *w = turn * turn;
    *u = way * way;
}

/// Adds how far points of four groups may have got since they were last looked at: their balls' centres by Δc, and those round them by |ΔR| r, where of two
/// rotations |ΔR| = 2 sin(θ/2) is the root of half the sum of squares.
LONG_BODY quad add_ways(const squares *s, quad radius, double *moved) {
    const quad way = (root(fold(s->way)) + root(0.5 * fold(s->turn)) * radius) * (1 + 1e-12);
    store(moved, load(moved) + way);
    return way;
}

/// Groups `first` to `first` + 3; behind the last of all there are none, which do not move: they go into the arrays' padding.
BODY quad track_four(kki_near *n, const kk_data *d, double half, int first) {
    const quad none = spread(0);
    squares s[2] = {{{none, none, none, none}, {none, none, none, none}},
                    {{none, none, none, none}, {none, none, none, none}}};
    quad u[4] = {none, none, none, none}, w[4] = {none, none, none, none};
    for (int l = 0; l < 4 && first + l < n->ngroup; l++) {
        const int i = first + l;
        const kki_group *g = &n->group[i];
        const kki_pose *X = kki_pose_of(d, g->node);
        const axes R = axes_of(X->R);
        const quad arm = combine(R.c, g->centre.x, g->centre.y, g->centre.z), c = arm + *(const quad *)X->p;
        compare(&n->view[g->view], &R, (quad){c[0], c[1], c[2], g->radius}, &n->seen[i], s, l);
        if (half > 0) {
            speeds(d, g->node, arm, &u[l], &w[l]);
        }
    }
    const quad radius = load(n->radius + first),
               reach = (half + 1e-12 * half) * (root(fold(u)) + root(fold(w)) * radius);
    store(n->reach + first, reach);
    return reach + add_ways(&s[0], radius, n->moved + first) + add_ways(&s[1], radius, n->moved + n->stride + first);
}

/// What rounding of places that are far away takes from ways counts with the sum of all ways: it is to stay far below what is taken off distances.
BODY void track_body(kki_near *n, const kk_data *d, double half) {
    quad sum = spread(0);
    for (int i = 0; i < n->nview; i++) {
        n->sum += 0.02 * look_from(&n->view[i], d);
    }
    for (int i = n->nfixed; i < n->ngroup; i += 4) {
        sum += track_four(n, d, half, i);
    }
    n->sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// ---- which may be near

/// A bit for each of four.
BODY unsigned bits_of(mask m) {
    return (unsigned)(kki_lanes_bits(__builtin_shufflevector(m, m, 0, 1)) |
                      kki_lanes_bits(__builtin_shufflevector(m, m, 2, 3)) << 2);
}

BODY unsigned near_of_four(const kki_near *n, int i, double least) {
    const kki_group_four *x = &n->four[i];
    const quad reach = spread(n->reach[x->a]) + load(n->reach + x->b);
    const quad way = spread(n->moved[x->way[0]]) + load(n->moved + x->way[1]);
    const mask is_far =
        (load(n->key + 4 * (size_t)i) - way > x->halves * reach + least) & (reach <= load(n->limit + 4 * (size_t)i));
    return bits_of(~is_far);
}

/// Sixteen fours at a time, so that the processor need not guess where the few are that count.
BODY int ask_body(const kki_near *n, double least) {
    int count = 0;
    for (int first = 0; first < n->nfour; first += 16) {
        uint64_t bits = 0;
        for (int i = first; i < first + 16 && i < n->nfour; i++) {
            bits |= (uint64_t)near_of_four(n, i, least) << 4 * (i - first);
        }
        for (; bits; bits &= bits - 1) {
            n->asked[count++] = 4 * first + __builtin_ctzll(bits);
        }
    }
    return count;
}

// ---- places of shapes

/// Rows of a matrix and a vector behind it: no more is written than belongs to it, and what a row writes too much the next one puts right.
BODY void store_transform(const axes *R, quad p, kk_transform *X) {
    quad row[4];
    transpose(R->c[0], R->c[1], R->c[2], p, row);
    store(X->R.m, row[0]);
    store(X->R.m + 3, row[1]);
    store(X->R.m + 5, __builtin_shufflevector(row[1], row[2], 2, 4, 5, 6));
    X->p = kk_vec3_make(p[0], p[1], p[2]);
}

BODY double length(quad a) {
    const quad s = a * a;
    return __builtin_sqrt(s[0] + s[1] + s[2]);
}

BODY void place_body(const kki_near *n, const kk_data *d, int shape, double half, const kki_shape_place *to) {
    const int node = n->owner[shape].node;
    const kki_pose *X = kki_pose_of(d, node);
    const kki_rates *V = kki_rates_of(d, node);
    const kk_transform *own = &n->X_NS[shape];
    const kki_outline *o = &n->outline[shape];
    const double *m = own->R.m;
    const axes N = axes_of(X->R);
    const axes R = {{combine(N.c, m[0], m[3], m[6]), combine(N.c, m[1], m[4], m[7]), combine(N.c, m[2], m[5], m[8])}};
    const quad at = *(const quad *)X->p, p = combine(N.c, own->p.x, own->p.y, own->p.z) + at;
    const quad c = combine(R.c, o->centre.x, o->centre.y, o->centre.z) + p;
    store_transform(&R, p, to->X_WS);
    *(quad *)to->ball = (quad){c[0], c[1], c[2], o->radius};
    *to->reach = 0;
    if (node && half > 0) {
        const quad w = *(const quad *)V->w, u = *(const quad *)V->u + cross(w, c - at);
        *to->reach = half * (length(u) + length(w) * o->radius);
    }
}

// ---- for every instruction set

#define DEFINE(suffix, attribute)                                                                     \
    attribute static void track_##suffix(kki_near *n, const kk_data *d, double half) {                \
        track_body(n, d, half);                                                                       \
    }                                                                                                 \
    attribute static void place_##suffix(const kki_near *n, const kk_data *d, int shape, double half, \
                                         const kki_shape_place *to) {                                 \
        place_body(n, d, shape, half, to);                                                            \
    }                                                                                                 \
    attribute static int ask_##suffix(const kki_near *n, double least) {                              \
        return ask_body(n, least);                                                                    \
    }                                                                                                 \
    static const kki_near_kernels table_##suffix = {                                                  \
        .track = track_##suffix, .ask = ask_##suffix, .place = place_##suffix};

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif
#ifdef KKI_HAVE_AVX512
DEFINE(avx512, KKI_TARGET_AVX512)
#endif

KKI_CHOOSE_KERNELS(kki_near_kernels, KKI_TABLE_AVX512)
