/// Places of links and shapes, and ways of links, in vectors of four: (x, y, z, unused), or one number of four links.
#include "simulate/near_kernels.h"

#include <stddef.h>

#include "contact/quads.h"
#include "dynamics/kernels/choose.h"

BODY quad load(const double *x) {
    return *(const loose_quad *)x;
}

BODY void store(double *x, quad a) {
    *(loose_quad *)x = a;
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
    *(quad *)v->Q[3] = *(const quad *)X->p - combine(Q, v->p[0], v->p[1], v->p[2]);
    *(quad *)v->R[0] = R.c[0], *(quad *)v->R[1] = R.c[1], *(quad *)v->R[2] = R.c[2];
    *(quad *)v->p = *(const quad *)X->p;
    return __builtin_fabs(v->p[0]) + __builtin_fabs(v->p[1]) + __builtin_fabs(v->p[2]);
}

/// A vector of each of four, component by component.
typedef struct vectors {
    quad c[3];
} vectors;

/// From where they stand in memory.
BODY vectors side_by_side(const double *const at[4], size_t offset) {
    quad t[4];
    transpose(*(const quad *)(at[0] + offset), *(const quad *)(at[1] + offset), *(const quad *)(at[2] + offset),
              *(const quad *)(at[3] + offset), t);
    return (vectors){{t[0], t[1], t[2]}};
}

BODY vectors load_vectors(const double x[3][4]) {
    return (vectors){{*(const quad *)x[0], *(const quad *)x[1], *(const quad *)x[2]}};
}

BODY void store_vectors(vectors a, double x[3][4]) {
    *(quad *)x[0] = a.c[0], *(quad *)x[1] = a.c[1], *(quad *)x[2] = a.c[2];
}

BODY vectors plus(vectors a, vectors b) {
    return (vectors){{a.c[0] + b.c[0], a.c[1] + b.c[1], a.c[2] + b.c[2]}};
}

BODY vectors minus(vectors a, vectors b) {
    return (vectors){{a.c[0] - b.c[0], a.c[1] - b.c[1], a.c[2] - b.c[2]}};
}

/// By matrices of which columns are given.
BODY vectors turned(const vectors R[3], vectors a) {
    vectors x;
    for (int k = 0; k < 3; k++) {
        x.c[k] = R[0].c[k] * a.c[0] + R[1].c[k] * a.c[1] + R[2].c[k] * a.c[2];
    }
    return x;
}

BODY vectors crossed(vectors a, vectors b) {
    return (vectors){
        {a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2], a.c[0] * b.c[1] - a.c[1] * b.c[0]}};
}

BODY quad squares(vectors a) {
    return a.c[0] * a.c[0] + a.c[1] * a.c[1] + a.c[2] * a.c[2];
}

/// Adds how far points of four groups may have got since they were last looked at: their balls' centers by Δc, and those round them by 2 sin(θ/2) r, which two
/// perpendicular axes together move at least when turned by θ. @param way  of c, x and z: how far each is from where it would be had it gone with the view
BODY quad add_ways(const vectors way[3], quad radius, double *moved) {
    const quad all = (root(squares(way[0])) + root(squares(way[1]) + squares(way[2])) * radius) * (1 + 1e-12);
    store(moved, load(moved) + all);
    return all;
}

/// Views of four groups: Q by columns, and what is added.
BODY void load_views(const kki_near *n, const int32_t view[4], vectors Q[4]) {
    const double *at[4];
    for (int l = 0; l < 4; l++) {
        at[l] = n->view[view[l]].Q[0];
    }
    for (int k = 0; k < 4; k++) {
        Q[k] = side_by_side(at, 4 * (size_t)k);
    }
}

/// Ways of four groups seen from the world, and from the roots of their trees. @param now  c, x and z
BODY quad compare(kki_near *n, const vectors Q[4], const vectors now[3], kki_seen *old, int first, quad radius) {
    quad sum = spread(0);
    for (int v = 0; v < 2; v++) {
        if (!n->has_ways[v]) {
            continue;
        }
        vectors way[3];
        for (int k = 0; k < 3; k++) {
            const vectors was = load_vectors(old->at[k]), gone = v ? turned(Q, was) : was;
            way[k] = minus(now[k], v && k == 0 ? plus(gone, Q[3]) : gone);
        }
        sum += add_ways(way, radius, n->moved + v * n->stride + first);
    }
    for (int k = 0; k < 3; k++) {
        store_vectors(now[k], old->at[k]);
    }
    return sum;
}

/// How far the balls of four groups get.
BODY quad reaches(const kk_data *d, const int32_t node[4], vectors arm, double half, quad radius) {
    const double *at[4];
    if (!(half > 0)) {
        return spread(0);
    }
    for (int l = 0; l < 4; l++) {
        at[l] = kki_rates_of(d, node[l])->w;
    }
    const vectors w = side_by_side(at, 0), u = plus(side_by_side(at, 4), crossed(w, arm));
    return (half + 1e-12 * half) * (root(squares(u)) + root(squares(w)) * radius);
}

/// The four that begins with group `first`.
BODY quad track_four(kki_near *n, const kk_data *d, double half, kki_seen *x, int first, const vectors Q[4]) {
    const double *at[4];
    for (int l = 0; l < 4; l++) {
        at[l] = kki_pose_of(d, x->node[l])->R[0];
    }
    enum { PLACE = offsetof(kki_pose, p) / sizeof(double) };
    const vectors R[3] = {side_by_side(at, 0), side_by_side(at, 4), side_by_side(at, 8)};
    const vectors arm = turned(R, load_vectors(x->center)), c = plus(arm, side_by_side(at, PLACE));
    const quad radius = load(n->radius + first), reach = reaches(d, x->node, arm, half, radius);
    store(n->reach + first, reach);
    for (int i = 0; i < n->nlevel; i++) {
        const kk_transform *X = &n->X_NS[n->group[i].shape];
        const double *m = X->R.m;
        const quad height = (c.c[0] - X->p.x) * m[2] + (c.c[1] - X->p.y) * m[5] + (c.c[2] - X->p.z) * m[8];
        store(n->over_by + i * n->stride + first, height - radius - 2 * reach);
    }
    return reach + compare(n, Q, (const vectors[3]){c, R[0], R[2]}, x, first, radius);
}

/// What rounding of places that are far away takes from ways counts with the sum of all ways: it is to stay far below what is taken off distances.
BODY void track_body(kki_near *n, const kk_data *d, double half) {
    quad sum = spread(0);
    vectors Q[4];
    for (int i = 0; i < n->nview; i++) {
        n->sum += 0.02 * look_from(&n->view[i], d);
    }
    for (int i = n->nfixed, k = 0; i < n->ngroup;) {
        load_views(n, n->seen[k].view, Q);
        do {
            sum += track_four(n, d, half, &n->seen[k++], i, Q);
            i += 4;
        } while (i < n->ngroup && n->seen[k].goes_on);
    }
    n->sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// ---- which may be near

BODY mask is_far(const kki_near *n, int i, double least) {
    const kki_group_four *x = &n->four[i];
    const quad reach = spread(n->reach[x->a]) + load(n->reach + x->b);
    const quad way = spread(n->moved[x->way[0]]) + load(n->moved + x->way[1]);
    return (load(n->key + 4 * (size_t)i) - way > x->halves * reach + least) & (reach <= load(n->limit + 4 * (size_t)i));
}

/// Without signs.
typedef uint64_t bits_of_four __attribute__((vector_size(32), may_alias));

/// Up to 64 fours at a time, a bit of each in every lane, so that the processor need not guess where the few are that count.
BODY int ask_body(const kki_near *n, double least) {
    int count = 0;
    for (int first = 0; first < n->nfour; first += 64) {
        const int end = first + 64 < n->nfour ? first + 64 : n->nfour;
        bits_of_four near = {0, 0, 0, 0}, bit = {1, 1, 1, 1};
        for (int i = first; i < end; i++, bit += bit) {
            near |= bit & ~(bits_of_four)is_far(n, i, least);
        }
        for (int l = 0; l < 4; l++) {
            for (uint64_t bits = near[l]; bits; bits &= bits - 1) {
                n->asked[count++] = 4 * (first + __builtin_ctzll(bits)) + l;
            }
        }
    }
    return count;
}

// ---- how far apart

BODY double dot(quad a, quad b) {
    const quad s = a * b;
    return s[0] + s[1] + s[2];
}

BODY double larger(double a, double b) {
    return a > b ? a : b;
}

/// Without a branch.
BODY double within(double x, double most) {
    const double low = larger(x, -most);
    return low < most ? low : most;
}

/// A rod in the world.
typedef struct rod {
    quad center, axis;
    double half, radius;
    double core; ///< half of the axis as far as it is radius away from the ends
} rod;

BODY rod place_rod(const kki_rod *r, const kki_pose *X) {
    const axes N = axes_of(X->R);
    const double core = r->half - r->radius;
    return (rod){combine(N.c, r->center[0], r->center[1], r->center[2]) + *(const quad *)X->p,
                 combine(N.c, r->axis[0], r->axis[1], r->axis[2]), r->half, r->radius, core > 0 ? core : 0};
}

/// Half the width of a rod along a vector: the parts of that along its axis and across.
BODY double width(const rod *r, double along, double across) {
    return r->half * __builtin_fabs(along) + r->radius * across;
}

/// Whatever direction one looks along, bodies are apart at least as far as they are seen to be. Looked along are the shortest line between the axes, shortened
/// where rods are thick, and both axes: one of them nearly always tells the whole distance.
BODY double rods_apart(const rod *a, const rod *b) {
    const quad d = b->center - a->center;
    const double c = dot(a->axis, b->axis), u = dot(a->axis, d), v = dot(b->axis, d), sine = 1 + 1e-13 - c * c;
    // nearest points of both lines, then of what there is of them
    const double first = within((u - c * v) / sine, a->core);
    const double t = within(first * c - v, b->core), s = within(t * c + u, a->core);
    const quad w = d + b->axis * t - a->axis * s;
    const double square = dot(w, w), more = square + 1e-13 * square, x = dot(w, a->axis), y = dot(w, b->axis);
    const quad across = root((quad){more - x * x, more - y * y, sine, larger(square, 1e-12)}); // all at once
    const double by_w = (dot(w, d) - width(a, x, across[0]) - width(b, y, across[1])) / across[3];
    const double by_a = __builtin_fabs(u) - a->half - width(b, c, across[2]);
    const double by_b = __builtin_fabs(v) - b->half - width(a, c, across[2]);
    return larger(larger(by_a, by_b), by_w);
}

BODY void part_body(const kki_near *n, const kk_data *d, const int32_t *pair, int count, double *apart) {
    for (int i = 0; i < count; i++) {
        const kki_known *k = &n->known[pair[i]];
        if (!(k->round < __builtin_inf())) {
            apart[i] = -__builtin_inf();
            continue;
        }
        const rod a = place_rod(&n->rod[k->first], kki_pose_of(d, k->node[0]));
        const rod b = place_rod(&n->rod[k->second], kki_pose_of(d, k->node[1]));
        apart[i] = rods_apart(&a, &b) - k->round;
    }
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

BODY void place_one(const kki_near *n, const kk_data *d, int shape, double half, const kki_shape_place *to) {
    const int node = n->owner[shape].node;
    const kki_pose *X = kki_pose_of(d, node);
    const kki_rates *V = kki_rates_of(d, node);
    const kk_transform *own = &n->X_NS[shape];
    const kki_outline *o = &n->outline[shape];
    const double *m = own->R.m;
    const axes N = axes_of(X->R);
    const axes R = {{combine(N.c, m[0], m[3], m[6]), combine(N.c, m[1], m[4], m[7]), combine(N.c, m[2], m[5], m[8])}};
    const quad at = *(const quad *)X->p, p = combine(N.c, own->p.x, own->p.y, own->p.z) + at;
    const quad c = combine(R.c, o->center.x, o->center.y, o->center.z) + p;
    double reach = 0;
    store_transform(&R, p, &to->X_WS[shape]);
    *(quad *)(to->ball + 4 * (size_t)shape) = (quad){c[0], c[1], c[2], o->radius};
    if (node && half > 0) {
        const quad w = *(const quad *)V->w, u = *(const quad *)V->u + cross(w, c - at);
        reach = half * (length(u) + length(w) * o->radius);
    }
    to->reach[shape] = reach;
}

BODY void place_body(const kki_near *n, const kk_data *d, const int32_t *shape, int count, double half,
                     const kki_shape_place *to) {
    for (int i = 0; i < count; i++) {
        place_one(n, d, shape[i], half, to);
    }
}

// ---- for every instruction set

#define DEFINE(suffix, attribute)                                                                              \
    attribute static void track_##suffix(kki_near *n, const kk_data *d, double half) {                         \
        track_body(n, d, half);                                                                                \
    }                                                                                                          \
    attribute static void place_##suffix(const kki_near *n, const kk_data *d, const int32_t *shape, int count, \
                                         double half, const kki_shape_place *to) {                             \
        place_body(n, d, shape, count, half, to);                                                              \
    }                                                                                                          \
    attribute static int ask_##suffix(const kki_near *n, double least) {                                       \
        return ask_body(n, least);                                                                             \
    }                                                                                                          \
    attribute static void part_##suffix(const kki_near *n, const kk_data *d, const int32_t *pair, int count,   \
                                        double *apart) {                                                       \
        part_body(n, d, pair, count, apart);                                                                   \
    }                                                                                                          \
    static const kki_near_kernels table_##suffix = {                                                           \
        .track = track_##suffix, .ask = ask_##suffix, .part = part_##suffix, .place = place_##suffix};

DEFINE(baseline, )
#ifdef KKI_HAVE_AVX2
DEFINE(avx2, KKI_TARGET_AVX2)
#endif
#ifdef KKI_HAVE_AVX512
DEFINE(avx512, KKI_TARGET_AVX512)
#endif

KKI_CHOOSE_KERNELS(kki_near_kernels, KKI_TABLE_AVX512)
