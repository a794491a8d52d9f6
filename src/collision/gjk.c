// Distance of two convex cores by GJK.
//
// The step "closest point of the simplex" is taken over all its parts that hold the newest point, each computed apart:
// a part counts where its closest point lies inside it, and the nearest part wins. That costs a little more than a walk
// through Voronoi regions and cannot take a wrong turn: every candidate is a point of the simplex. As in the signed
// volumes method (Montanari, Petrinic, Barbieri 2017) a triangle's closest point is taken along its normal, which keeps
// the direction exact while the distance becomes small. The end is proved by the gap between |v| and sep(n); where
// rounding stops progress before, the best so far is the answer.
#include "collision/gjk.h"

double kki_core_separation(const kki_core_pair *pair, kk_vec3 n) {
    kki_difference w = {.id = {-1, -1}};
    kki_core_pair_support(pair, n, &w);
    return -kk_vec3_dot(w.w, n);
}

// ---- the closest point of a simplex to the origin

typedef struct candidate {
    double square; // |v|²
    kk_vec3 v;
    int count, index[4];
    double weight[4];
} candidate;

static void try_edge(const kki_simplex *s, int newest, int i, candidate *best) {
    const kk_vec3 p = s->point[newest].w, e = kk_vec3_sub(s->point[i].w, p);
    const double ee = kk_vec3_dot(e, e), t = -kk_vec3_dot(e, p);
    if (t > 0 && t < ee) {
        const double k = t / ee;
        const kk_vec3 v = kk_vec3_add(p, kk_vec3_scale(e, k));
        const double square = kk_vec3_dot(v, v);
        if (square < best->square) {
            *best = (candidate){square, v, 2, {i, newest}, {k, 1 - k}};
        }
    }
}

static void try_triangle(const kki_simplex *s, int newest, int i, int j, candidate *best) {
    const kk_vec3 p = s->point[newest].w;
    const kk_vec3 e = kk_vec3_sub(s->point[i].w, p), f = kk_vec3_sub(s->point[j].w, p);
    const kk_vec3 n = kk_vec3_cross(e, f);
    const double nn = kk_vec3_dot(n, n);
    if (!(nn > 1e-22 * kk_vec3_dot(e, e) * kk_vec3_dot(f, f))) {
        return; // its three points are on a line, as far as can be told
    }
    // −p = α e + β f + γ n
    const double alpha = kk_vec3_dot(kk_vec3_cross(f, p), n), beta = kk_vec3_dot(kk_vec3_cross(p, e), n);
    if (alpha > 0 && beta > 0 && alpha + beta < nn) {
        const double h = kk_vec3_dot(n, p);
        const double square = h * h / nn;
        if (square < best->square) {
            *best = (candidate){
                square, kk_vec3_scale(n, h / nn), 3, {i, j, newest}, {alpha / nn, beta / nn, 1 - (alpha + beta) / nn}};
        }
    }
}

static int try_tetrahedron(const kki_simplex *s, int newest, candidate *best) {
    const kk_vec3 p = s->point[newest].w;
    kk_vec3 e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = kk_vec3_sub(s->point[i].w, p);
    }
    const kk_vec3 c12 = kk_vec3_cross(e[1], e[2]), c20 = kk_vec3_cross(e[2], e[0]), c01 = kk_vec3_cross(e[0], e[1]);
    const double volume = kk_vec3_dot(e[0], c12);
    double k0 = -kk_vec3_dot(p, c12), k1 = -kk_vec3_dot(p, c20), k2 = -kk_vec3_dot(p, c01), d = volume;
    if (volume < 0) {
        k0 = -k0, k1 = -k1, k2 = -k2, d = -d;
    }
    if (!(k0 > 0 && k1 > 0 && k2 > 0 && k0 + k1 + k2 < d)) {
        return 0;
    }
    *best = (candidate){0, {0, 0, 0}, 4, {0, 1, 2, 3}, {k0 / d, k1 / d, k2 / d, 1 - (k0 + k1 + k2) / d}};
    return 1;
}

static candidate closest(const kki_simplex *s) {
    const int newest = s->count - 1;
    const kk_vec3 p = s->point[newest].w;
    candidate best = {kk_vec3_dot(p, p), p, 1, {newest}, {1}};
    if (s->count == 4 && try_tetrahedron(s, newest, &best)) {
        return best;
    }
    for (int i = 0; i < newest; i++) {
        try_edge(s, newest, i, &best);
    }
    for (int i = 1; i < newest; i++) {
        for (int j = 0; j < i; j++) {
            try_triangle(s, newest, j, i, &best);
        }
    }
    return best;
}

// Throws the other points away; the indices rise, so this works in place.
static void keep(kki_simplex *s, const candidate *best) {
    s->count = best->count;
    for (int i = 0; i < best->count; i++) {
        if (best->index[i] != i) {
            s->point[i] = s->point[best->index[i]];
        }
        s->weight[i] = best->weight[i];
    }
}

// ---- the iteration

static void write_result(const kki_simplex *s, kk_vec3 v, double distance, kki_core_distance *result) {
    const double norm = kk_vec3_norm(v);
    result->distance = distance;
    result->normal = norm > 0 ? kk_vec3_scale(v, -1 / norm) : kk_vec3_make(0, 0, 1);
    result->on_a = result->on_b = kk_vec3_make(0, 0, 0);
    for (int i = 0; i < s->count; i++) {
        result->on_a = kk_vec3_add(result->on_a, kk_vec3_scale(s->point[i].a, s->weight[i]));
        result->on_b = kk_vec3_add(result->on_b, kk_vec3_scale(s->point[i].b, s->weight[i]));
    }
}

static int is_known(const kki_simplex *s, const kki_difference *w) {
    for (int i = 0; i < s->count; i++) {
        const kk_vec3 q = s->point[i].w;
        if (q.x == w->w.x && q.y == w->w.y && q.z == w->w.z) {
            return 1;
        }
    }
    return 0;
}

static candidate start(const kki_core_pair *pair, kk_vec3 direction, kki_simplex *s) {
    if (s->count == 0) {
        s->point[0].id[0] = s->point[0].id[1] = -1;
        kki_core_pair_support(pair, direction, &s->point[0]);
        s->count = 1;
    }
    // an old simplex is a set of points as good as any; its newest point has no special part, so try all
    candidate best = closest(s);
    if (best.count == s->count) {
        keep(s, &best);
        return best;
    }
    for (int turn = 1; turn < s->count; turn++) {
        kki_simplex t = *s;
        t.point[turn - 1] = s->point[s->count - 1];
        t.point[s->count - 1] = s->point[turn - 1];
        const candidate other = closest(&t);
        if (other.square < best.square) {
            best = other;
            *s = t;
        }
    }
    keep(s, &best);
    return best;
}

kki_gjk_end kki_gjk(const kki_core_pair *pair, double far, kk_vec3 direction, kki_simplex *s,
                    kki_core_distance *result) {
    const double touching = 1e-12 * pair->size, noise = 4e-16 * pair->size;
    candidate at = start(pair, direction, s);
    for (result->iterations = 1; result->iterations < KKI_GJK_ITERATIONS; result->iterations++) {
        if (at.count == 4 || at.square <= touching * touching) {
            return KKI_GJK_TOGETHER;
        }
        const double norm = kk_sqrt(at.square);
        kki_difference w = {.id = {s->point[0].id[0], s->point[0].id[1]}};
        kki_core_pair_support(pair, kk_vec3_neg(at.v), &w);
        const double lower = result->lower = kk_vec3_dot(at.v, w.w) / norm;
        if (lower > far) {
            write_result(s, at.v, lower, result);
            return KKI_GJK_FAR;
        }
        if (norm - lower <= 1e-14 * norm + noise || is_known(s, &w)) {
            break;
        }
        s->point[s->count++] = w;
        const candidate better = closest(s);
        if (!(better.square < at.square)) {
            s->count--;
            break;
        }
        keep(s, &better);
        at = better;
    }
    write_result(s, at.v, kk_sqrt(at.square), result);
    return KKI_GJK_APART;
}

// ---- memory

static kk_vec3 first_direction(const kki_core_pair *pair, const kki_pair_memory *memory) {
    const kk_vec3 p = pair->X_AB.p,
                  last = {(double)memory->direction[0], (double)memory->direction[1], (double)memory->direction[2]};
    if (kk_vec3_dot(last, last) > 0.5) {
        return last;
    }
    return kk_vec3_dot(p, p) > 0 ? p : kk_vec3_make(0, 0, 1);
}

static int has_corners(const kki_core_pair *pair) {
    const kki_core *a = &pair->a, *b = &pair->b;
    return kki_core_is_polyhedral(a) && kki_core_is_polyhedral(b) &&
           (a->type != KKI_CORE_HULL || a->convex->vertex_count < 0x7fff) &&
           (b->type != KKI_CORE_HULL || b->convex->vertex_count < 0xffff);
}

static void recall(const kki_core_pair *pair, const kki_pair_memory *memory, kki_simplex *s) {
    s->count = 0;
    for (int i = 0; i < 4 && memory->feature[i]; i++) {
        const uint32_t code = memory->feature[i] - 1;
        kki_difference *p = &s->point[s->count++];
        p->id[0] = (int32_t)(code >> 16), p->id[1] = (int32_t)(code & 0xffff);
        p->a = kki_core_corner(&pair->a, p->id[0]);
        p->b = kk_transform_point(pair->X_AB, kki_core_corner(&pair->b, p->id[1]));
        p->w = kk_vec3_sub(p->a, p->b);
    }
}

static void remember(const kki_core_pair *pair, const kki_simplex *s, kk_vec3 n, kki_pair_memory *memory) {
    const int corners = has_corners(pair);
    for (int i = 0; i < 4; i++) {
        memory->feature[i] =
            corners && i < s->count ? 1 + ((uint32_t)s->point[i].id[0] << 16 | (uint32_t)s->point[i].id[1]) : 0;
    }
    memory->direction[0] = (float)n.x, memory->direction[1] = (float)n.y, memory->direction[2] = (float)n.z;
}

// ---- curved bodies that overlap
//
// B moved out along the normal found stands apart, and the distance from there has a sharper normal: where the bodies
// overlap by d and the difference A − B has radius of curvature r at the contact, an error of the normal shrinks by d / r.
// A normal is taken only where its separation is no worse, so this cannot harm.

static int sharpen_once(const kki_core_pair *pair, kki_core_distance *result) {
    const double shift = -1.25 * result->distance + 1e-6 * pair->size;
    kki_core_pair moved = *pair;
    moved.X_AB.p = kk_vec3_add(pair->X_AB.p, kk_vec3_scale(result->normal, shift));
    kki_simplex s;
    s.count = 0;
    kki_core_distance d;
    if (kki_gjk(&moved, KKI_ANY_DISTANCE, result->normal, &s, &d) != KKI_GJK_APART) {
        return 0;
    }
    const double distance = kki_core_separation(pair, d.normal),
                 turn = kk_vec3_norm(kk_vec3_sub(d.normal, result->normal));
    if (distance < result->distance - 1e-14 * pair->size) {
        return 0;
    }
    result->iterations += d.iterations;
    result->on_a = d.on_a;
    result->on_b = kk_vec3_sub(d.on_b, kk_vec3_scale(result->normal, shift));
    result->normal = d.normal;
    result->distance = distance > result->distance ? distance : result->distance;
    return turn > 1e-8;
}

static void sharpen(const kki_core_pair *pair, kki_core_distance *result) {
    for (int i = 0; i < 4 && sharpen_once(pair, result); i++) {
    }
}

// ---- bodies so thin that rounding stops the search: the axes of both frames are the likely ways out

static void try_axis(const kki_core_pair *pair, kk_vec3 n, int is_b, kki_core_distance *result) {
    kki_difference w = {.id = {-1, -1}};
    kki_core_pair_support(pair, n, &w);
    const double distance = -kk_vec3_dot(n, w.w);
    if (distance > result->distance) {
        result->distance = distance;
        result->normal = n;
        result->on_a = is_b ? w.a : kk_vec3_sub(w.b, kk_vec3_scale(n, distance));
        result->on_b = is_b ? kk_vec3_add(w.a, kk_vec3_scale(n, distance)) : w.b;
    }
}

static void try_axes(const kki_core_pair *pair, kki_core_distance *result) {
    for (int k = 0; k < 6; k++) {
        const kk_vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
        const kk_vec3 n = k < 3 ? e : kk_mat3_column(pair->X_AB.R, k - 3);
        try_axis(pair, n, k >= 3, result);
        try_axis(pair, kk_vec3_neg(n), k >= 3, result);
    }
    for (int k = 0; k < 9; k++) {
        const kk_vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
        const kk_vec3 c = kk_vec3_cross(e, kk_mat3_column(pair->X_AB.R, k / 3));
        const double norm = kk_vec3_norm(c);
        if (norm > 1e-8) {
            try_axis(pair, kk_vec3_scale(c, 1 / norm), 0, result);
            try_axis(pair, kk_vec3_scale(c, -1 / norm), 0, result);
        }
    }
}

int kki_core_distance_find(const kki_core_pair *pair, double far, kki_pair_memory *memory, kki_core_distance *result) {
    kki_simplex s;
    s.count = 0;
    if (has_corners(pair)) {
        recall(pair, memory, &s);
    }
    const kki_gjk_end end = kki_gjk(pair, far, first_direction(pair, memory), &s, result);
    if (end == KKI_GJK_TOGETHER) {
        if (!kki_epa(pair, &s, result)) {
            try_axes(pair, result);
        }
        if (!kki_core_is_polyhedral(&pair->a) || !kki_core_is_polyhedral(&pair->b)) {
            sharpen(pair, result);
        }
        // the witness points of the last face, moved so that they are the distance apart along the normal to the last digit
        const double apart = kk_vec3_dot(kk_vec3_sub(result->on_b, result->on_a), result->normal);
        result->on_b = kk_vec3_add(result->on_b, kk_vec3_scale(result->normal, result->distance - apart));
    }
    if (end == KKI_GJK_APART && result->distance - result->lower > 1e-9 * pair->size) {
        result->distance = result->lower;
        try_axes(pair, result);
    }
    remember(pair, &s, result->normal, memory);
    return end != KKI_GJK_FAR;
}

int kki_core_within(const kki_core_pair *pair, double most, kki_pair_memory *memory) {
    kki_core_distance d;
    if (most < 0) { // less than touching: the depth is asked for
        return kki_core_distance_find(pair, most, memory, &d) && d.distance <= most;
    }
    kki_simplex s;
    s.count = 0;
    if (has_corners(pair)) {
        recall(pair, memory, &s);
    }
    const kki_gjk_end end = kki_gjk(pair, most, first_direction(pair, memory), &s, &d);
    if (end != KKI_GJK_TOGETHER) {
        remember(pair, &s, d.normal, memory);
    }
    return end == KKI_GJK_TOGETHER || (end == KKI_GJK_APART && d.distance <= most);
}
