// Distance of two convex cores by GJK.
//
// The step "closest point of the simplex" is taken over all its parts that hold the newest point, each computed apart:
// a part counts where its closest point lies inside it, and the nearest part wins. That cannot take a wrong turn: every
// candidate is a point of the simplex. Parts that cannot win are left out, but not of slivers, whose signs are rounding.
// As in the signed volumes method (Montanari, Petrinic, Barbieri 2017) a triangle's closest point is taken along its
// normal, which keeps the direction exact while the distance becomes small. The end is proved by the gap between |v| and sep(n); where
// rounding stops progress before, the best so far is the answer.
#include "collision/gjk.h"

#include <stdbool.h>

double kki_core_separation(const kki_core_pair *pair, kk_vec3 n) {
    kki_difference w = {.id = {-1, -1}};
    kki_core_pair_support(pair, n, &w);
    return -kk_vec3_dot(w.w, n);
}

// ---- the closest point of a simplex to the origin

// What of a simplex is nearest: its newest point alone, or with one or two more, or all of it.
typedef struct part {
    double square; // |v|²
    kk_vec3 v;
    unsigned points; // bit i: point i belongs to it
} part;

// A simplex seen from its newest point.
typedef struct view {
    kk_vec3 p, e[3];     // the newest point, and from there to the others
    double ee[3], ep[3]; // e · e, −e · p
    int newest;
} view;

// All by address: a struct of this size handed over by value is written by halves and read as a whole, which waits. For the
// same reason what follows is inlined for each count of points: then it stays in registers.
#define INLINE __attribute__((always_inline)) static inline

INLINE void look_at(const kki_simplex *s, int count, view *l) {
    l->newest = count - 1;
    l->p = s->point[l->newest].w;
    for (int i = 0; i < l->newest; i++) {
        l->e[i] = kk_vec3_sub(s->point[i].w, l->p);
        l->ee[i] = kk_vec3_dot(l->e[i], l->e[i]);
        l->ep[i] = -kk_vec3_dot(l->e[i], l->p);
    }
}

INLINE void try_edge(const view *l, int i, part *best) {
    if (l->ep[i] > 0 && l->ep[i] < l->ee[i]) {
        const kk_vec3 v = kk_vec3_add(l->p, kk_vec3_scale(l->e[i], l->ep[i] / l->ee[i]));
        const double square = kk_vec3_dot(v, v);
        if (square < best->square) {
            best->square = square;
            best->v = v;
            best->points = 1u << i | 1u << l->newest;
        }
    }
}

// −p = α e + β f + γ n, times n · n; whether α and β are those of an inner point of the triangle
INLINE bool is_over(const view *l, int i, int j, kk_vec3 n, double nn, double *alpha, double *beta) {
    *alpha = kk_vec3_dot(kk_vec3_cross(l->e[j], l->p), n);
    *beta = kk_vec3_dot(kk_vec3_cross(l->p, l->e[i]), n);
    return *alpha > 0 && *beta > 0 && *alpha + *beta < nn;
}

#define SLIVER 1e-12 // square of the sine of its angle

// The normal of a sliver is known to few digits, and so is whether the point below the origin is an inner one: it is where
// the point with those weights is as far away.
INLINE bool is_met(const view *l, int i, int j, double s, double t, double square) {
    const kk_vec3 v = kk_vec3_add(kk_vec3_add(l->p, kk_vec3_scale(l->e[i], s)), kk_vec3_scale(l->e[j], t));
    const double other = kk_vec3_dot(v, v), off = other - square;
    return off <= 0 || off * off <= 4e-22 * other * (l->ee[i] + l->ee[j]);
}

// Along n = e_i × e_j; one whose points are on a line, as far as can be told, has no part in it.
INLINE bool try_triangle(const view *l, int i, int j, kk_vec3 n, part *best) {
    const double nn = kk_vec3_dot(n, n);
    double alpha, beta;
    if (!(nn > 1e-22 * l->ee[i] * l->ee[j]) || !is_over(l, i, j, n, nn, &alpha, &beta)) {
        return false;
    }
    const double h = kk_vec3_dot(n, l->p), k = h / nn;
    if (__builtin_expect(!(nn > SLIVER * l->ee[i] * l->ee[j]), 0) && !is_met(l, i, j, alpha / nn, beta / nn, h * k)) {
        return false;
    }
    if (h * k < best->square) {
        best->square = h * k;
        best->v = kk_vec3_scale(n, k);
        best->points = 1u << i | 1u << j | 1u << l->newest;
    }
    return true;
}

INLINE void try_edges(const view *l, part *best) {
    for (int i = 0; i < l->newest; i++) {
        try_edge(l, i, best);
    }
}

INLINE void try_parts_of_triangle(const view *l, part *best) {
    const kk_vec3 n = kk_vec3_cross(l->e[0], l->e[1]);
    const bool is_inner = try_triangle(l, 0, 1, n, best);
    // where it is no sliver nothing of its rim can be nearer
    if (!is_inner || !(kk_vec3_dot(n, n) > SLIVER * l->ee[0] * l->ee[1])) {
        try_edges(l, best);
    }
}

INLINE void try_parts_of_tetrahedron(const view *l, part *best) {
    const kk_vec3 n0 = kk_vec3_cross(l->e[1], l->e[2]), n1 = kk_vec3_cross(l->e[0], l->e[2]),
                  n2 = kk_vec3_cross(l->e[0], l->e[1]);
    const double volume = kk_vec3_dot(l->e[0], n0), sign = volume < 0 ? -1 : 1;
    const double k0 = -sign * kk_vec3_dot(l->p, n0), k1 = sign * kk_vec3_dot(l->p, n1),
                 k2 = -sign * kk_vec3_dot(l->p, n2);
    const bool is_below = k0 > 0 && k1 > 0 && k2 > 0;
    if (is_below && k0 + k1 + k2 < sign * volume) {
        best->square = 0;
        best->v = kk_vec3_make(0, 0, 0);
        best->points = 15;
        return;
    }
    // the nearest point is on a face that the origin sees; of a sliver, that cannot be told
    const bool is_sliver = is_below || !(volume * volume > 1e-16 * l->ee[0] * l->ee[1] * l->ee[2]);
    if (((is_sliver || !(k0 > 0)) && try_triangle(l, 1, 2, n0, best) && !is_sliver) ||
        ((is_sliver || !(k1 > 0)) && try_triangle(l, 0, 2, n1, best) && !is_sliver) ||
        ((is_sliver || !(k2 > 0)) && try_triangle(l, 0, 1, n2, best) && !is_sliver)) {
        return;
    }
    try_edges(l, best);
}

INLINE void closest_of(const kki_simplex *s, int count, part *best) {
    view l;
    look_at(s, count, &l);
    best->square = kk_vec3_dot(l.p, l.p);
    best->v = l.p;
    best->points = 1u << l.newest;
    if (count == 2) {
        try_edge(&l, 0, best);
    } else if (count == 3) {
        try_parts_of_triangle(&l, best);
    } else if (count == 4) {
        try_parts_of_tetrahedron(&l, best);
    }
}

INLINE void closest(const kki_simplex *s, part *best) {
    switch (s->count) {
    case 1: closest_of(s, 1, best); break;
    case 2: closest_of(s, 2, best); break;
    case 3: closest_of(s, 3, best); break;
    default: closest_of(s, 4, best);
    }
}

// Throws the other points away.
static inline void keep(kki_simplex *s, unsigned points) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        if (points >> i & 1) {
            if (count != i) {
                s->point[count] = s->point[i];
            }
            count++;
        }
    }
    s->count = count;
}

// The closest point as Σ weight · point, of a simplex that holds no more than it takes.
static void weigh(kki_simplex *s) {
    view l;
    look_at(s, s->count, &l);
    double *w = s->weight, sum = 0;
    if (s->count == 2) {
        w[0] = l.ep[0] / l.ee[0];
    } else if (s->count == 3) {
        const kk_vec3 n = kk_vec3_cross(l.e[0], l.e[1]);
        const double nn = kk_vec3_dot(n, n);
        (void)is_over(&l, 0, 1, n, nn, &w[0], &w[1]);
        w[0] /= nn, w[1] /= nn;
    } else if (s->count == 4) {
        const kk_vec3 n = kk_vec3_cross(l.e[1], l.e[2]);
        const double volume = kk_vec3_dot(l.e[0], n);
        w[0] = -kk_vec3_dot(l.p, n) / volume;
        w[1] = -kk_vec3_dot(l.p, kk_vec3_cross(l.e[2], l.e[0])) / volume;
        w[2] = -kk_vec3_dot(l.p, kk_vec3_cross(l.e[0], l.e[1])) / volume;
    }
    for (int i = 0; i < l.newest; i++) {
        sum += w[i];
    }
    w[l.newest] = 1 - sum;
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

static bool is_known(const kki_simplex *s, const kki_difference *w) {
    for (int i = 0; i < s->count; i++) {
        const kk_vec3 q = s->point[i].w;
        if (q.x == w->w.x && q.y == w->w.y && q.z == w->w.z) {
            return true;
        }
    }
    return false;
}

// An old simplex is a set of points as good as any; its newest point has no special part, so all are tried for it.
static void start_again(kki_simplex *s, part *best) {
    const unsigned all = (1u << s->count) - 1;
    closest(s, best);
    for (int turn = 1; turn < s->count && best->points != all; turn++) {
        kki_simplex t = *s;
        t.point[turn - 1] = s->point[s->count - 1];
        t.point[s->count - 1] = s->point[turn - 1];
        part other;
        closest(&t, &other);
        if (other.square < best->square) {
            *best = other;
            *s = t;
        }
    }
    keep(s, best->points);
}

INLINE void start(const kki_core_pair *pair, kk_vec3 direction, kki_simplex *s, part *best) {
    if (s->count > 1) {
        start_again(s, best);
        return;
    }
    if (s->count == 0) {
        s->point[0].id[0] = s->point[0].id[1] = -1;
        kki_core_pair_support(pair, direction, &s->point[0]);
        s->count = 1;
    }
    closest_of(s, 1, best);
}

typedef struct progress {
    kk_vec3 v; // the nearest point so far
    double square;
    double reach; // |v| times what is proved of the distance
    int iterations;
} progress;

// reach / |v| > far, without the root
static inline bool is_beyond(double reach, double far, double square) {
    return far >= 0 ? reach > 0 && reach * reach > far * far * square
                    : reach >= 0 || reach * reach < far * far * square;
}

// |v| − reach / |v| is rounding; |v| is at most the size, so the root is seldom needed
static inline bool is_proved(double rest, double square, double noise, double size) {
    return rest <= 1e-14 * square + noise * size && rest <= 1e-14 * square + noise * kk_sqrt(square);
}

// Along an edge the closest point is a difference of far larger numbers, and as the distance becomes small its direction
// loses their digits. What matters of them is that it stands upright on the edge: then both ends say the same of it.
static void stand_upright(const kki_simplex *s, part *at) {
    const kk_vec3 e = kk_vec3_sub(s->point[1].w, s->point[0].w);
    at->v = kk_vec3_sub(at->v, kk_vec3_scale(e, kk_vec3_dot(e, at->v) / kk_vec3_dot(e, e)));
    at->square = kk_vec3_dot(at->v, at->v);
}

// from the part `at` of a simplex that holds no more than it takes
INLINE kki_gjk_end improve(const kki_core_pair *pair, double far, kki_simplex *s, part *at, progress *g) {
    const double touching = 1e-12 * pair->size, noise = 4e-16 * pair->size, small = 1e-4 * pair->size;
    g->reach = 0;
    for (g->iterations = 1; g->iterations < KKI_GJK_ITERATIONS; g->iterations++) {
        if (at->points == 15 || at->square <= touching * touching) {
            return KKI_GJK_TOGETHER;
        }
        if (__builtin_expect(at->square <= small * small, 0) && s->count == 2) {
            stand_upright(s, at);
        }
        kki_difference *w = &s->point[s->count];
        w->id[0] = s->point[0].id[0], w->id[1] = s->point[0].id[1];
        kki_core_pair_support(pair, kk_vec3_neg(at->v), w);
        const double reach = g->reach = kk_vec3_dot(at->v, w->w);
        if (is_beyond(reach, far, at->square)) {
            return KKI_GJK_FAR;
        }
        if (is_proved(at->square - reach, at->square, noise, pair->size) || is_known(s, w)) {
            break;
        }
        part better;
        s->count++;
        closest(s, &better);
        if (!(better.square < at->square)) {
            s->count--;
            break;
        }
        keep(s, better.points);
        *at = better;
    }
    return KKI_GJK_APART;
}

static kki_gjk_end search(const kki_core_pair *pair, double far, kk_vec3 direction, kki_simplex *s, progress *g) {
    part at;
    start(pair, direction, s, &at);
    const kki_gjk_end end = improve(pair, far, s, &at, g);
    g->v = at.v;
    g->square = at.square;
    return end;
}

kki_gjk_end kki_gjk(const kki_core_pair *pair, double far, kk_vec3 direction, kki_simplex *s,
                    kki_core_distance *result) {
    progress g;
    const kki_gjk_end end = search(pair, far, direction, s, &g);
    result->iterations = g.iterations;
    weigh(s);
    if (end != KKI_GJK_TOGETHER) {
        const double norm = kk_sqrt(g.square);
        result->lower = g.reach / norm;
        write_result(s, g.v, end == KKI_GJK_FAR ? result->lower : norm, result);
    }
    return end;
}

// ---- memory

static kk_vec3 middle_of(const kki_core *core) {
    return core->type == KKI_CORE_HULL ? core->convex->centroid : kk_vec3_make(0, 0, 0);
}

static kk_vec3 last_direction(const kki_pair_memory *m) {
    return kk_vec3_make((double)m->direction[0], (double)m->direction[1], (double)m->direction[2]);
}

// the last one that parted them, or else from middle to middle
static kk_vec3 first_direction(const kki_core_pair *pair, const kki_pair_memory *memory) {
    const kk_vec3 last = memory ? last_direction(memory) : kk_vec3_make(0, 0, 0);
    if (kk_vec3_dot(last, last) > 0.5) {
        return last;
    }
    const kk_vec3 d = kk_vec3_sub(kk_transform_point(pair->X_AB, middle_of(&pair->b)), middle_of(&pair->a));
    return kk_vec3_dot(d, d) > 0 ? d : kk_vec3_make(0, 0, 1);
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
// A normal is taken only where its separation is no worse, so this cannot harm; the first may be worse by rounding's
// share, for with it come witness points that belong to their normal, which those of EPA's last face do to half the digits.

enum { SHARPENINGS = 24, SHARP_ENOUGH = 360, NEWTON_STEPS = 8 }; // steps, iterations of all of them

// how far two points are from being as far apart along the normal as the bodies
static double mismatch(const kki_core_distance *result, const kki_core_distance *of) {
    return __builtin_fabs(kk_vec3_dot(kk_vec3_sub(of->on_b, of->on_a), result->normal) - result->distance);
}

static int sharpen_once(const kki_core_pair *pair, bool is_first, kki_core_distance *result) {
    const double shift = -1.25 * result->distance + 1e-6 * pair->size;
    kki_core_pair moved = *pair;
    moved.small = NULL;
    moved.X_AB.p = kk_vec3_add(pair->X_AB.p, kk_vec3_scale(result->normal, shift));
    kki_simplex s;
    s.count = 0;
    kki_core_distance d;
    if (kki_gjk(&moved, KKI_ANY_DISTANCE, result->normal, &s, &d) != KKI_GJK_APART) {
        return 0;
    }
    const double distance = kki_core_separation(pair, d.normal),
                 turn = kk_vec3_norm(kk_vec3_sub(d.normal, result->normal));
    d.on_b = kk_vec3_sub(d.on_b, kk_vec3_scale(result->normal, shift));
    const bool is_worse = distance < result->distance - (is_first ? 1e-11 : 1e-14) * pair->size;
    // its points may still be those of the better normal, where EPA's last face was not that of its best plane
    if (is_worse && !(mismatch(result, &d) < mismatch(result, result))) {
        return 0;
    }
    result->iterations += d.iterations;
    result->on_a = d.on_a;
    result->on_b = d.on_b;
    if (is_worse) {
        return 0;
    }
    const double gain = distance - result->distance;
    result->normal = d.normal;
    result->distance = distance;
    return turn > 1e-8 && (gain > 0 || is_first); // what gains nothing wanders about the best in its rounding
}

// Where d is almost r the steps shrink slowly, each by the same part q: what all of them would come to is guessed.
static bool guess_limit(const kki_core_pair *pair, kk_vec3 turn, kk_vec3 last, kki_core_distance *result) {
    const double before = kk_vec3_dot(last, last), along = kk_vec3_dot(turn, last);
    if (!(along > 0.25 * before) || !(along < 0.9999 * before)) {
        return false;
    }
    const kk_vec3 n = kk_vec3_add(result->normal, kk_vec3_scale(turn, along / (before - along)));
    const kk_vec3 guess = kk_vec3_scale(n, 1 / kk_vec3_norm(n));
    const double distance = kki_core_separation(pair, guess);
    if (!(distance > result->distance)) {
        return false;
    }
    result->normal = guess;
    result->distance = distance; // the witness points follow with the next step
    return true;
}

// The farthest point w of A − B along n + su + tv; at the best normal w is along it: w·u = h s, w·v = h t with h = w·n.
static kk_vec3 farthest(const kki_core_pair *pair, kk_vec3 n) {
    kki_difference w = {.id = {-1, -1}};
    kki_core_pair_support(pair, n, &w);
    return w.w;
}

static bool solve_newton(const kki_core_pair *pair, kk_vec3 n, kk_vec3 u, kk_vec3 v, double x[2]) {
    const double step = 1e-5;
    const kk_vec3 w = farthest(pair, n);
    const kk_vec3 du = kk_vec3_sub(farthest(pair, kk_vec3_add(n, kk_vec3_scale(u, step))), w);
    const kk_vec3 dv = kk_vec3_sub(farthest(pair, kk_vec3_add(n, kk_vec3_scale(v, step))), w);
    const double h = kk_vec3_dot(w, n), gu = kk_vec3_dot(w, u), gv = kk_vec3_dot(w, v);
    const double a = kk_vec3_dot(du, u) / step - h, c = kk_vec3_dot(dv, v) / step - h;
    const double b = 0.5 * (kk_vec3_dot(du, v) + kk_vec3_dot(dv, u)) / step, det = a * c - b * b;
    if (!(a > 0) || !(det > 0)) {
        return false;
    }
    x[0] = (b * gv - c * gu) / det;
    x[1] = (b * gu - a * gv) / det;
    return x[0] * x[0] + x[1] * x[1] < 0.01;
}

// Newton's step where the difference is smooth about the normal, its curvature from two farthest points beside it.
static bool step_newton(const kki_core_pair *pair, kki_core_distance *result) {
    const kk_vec3 n = result->normal;
    const kk_vec3 across = n.x * n.x < 0.5 ? kk_vec3_make(0, -n.z, n.y) : kk_vec3_make(n.z, 0, -n.x);
    const kk_vec3 u = kk_vec3_scale(across, 1 / kk_vec3_norm(across)), v = kk_vec3_cross(n, u);
    double x[2];
    if (!solve_newton(pair, n, u, v, x)) {
        return false;
    }
    const kk_vec3 turn = kk_vec3_add(kk_vec3_scale(u, x[0]), kk_vec3_scale(v, x[1]));
    double share = 1;
    for (int i = 0; i < 4; i++) { // less of it where the valley bends
        const kk_vec3 g = kk_vec3_add(n, kk_vec3_scale(turn, share)), guess = kk_vec3_scale(g, 1 / kk_vec3_norm(g));
        const double distance = kki_core_separation(pair, guess);
        if (distance > result->distance) {
            result->normal = guess;
            result->distance = distance; // the witness points follow with the next step
            return true;
        }
        share *= 0.5;
    }
    return false;
}

// whether there was any step
static bool run_newton(const kki_core_pair *pair, kki_core_distance *result) {
    int i = 0;
    while (i < NEWTON_STEPS && step_newton(pair, result)) {
        i++;
    }
    return i > 0;
}

static bool is_turned(const kki_core *core) { // on a lathe, with edges
    return core->type == KKI_CORE_CYLINDER || core->type == KKI_CORE_CONE;
}

// A normal of a cone's side has two farthest points, tip and rim: an edge of the difference, along which EPA's steps become
// short where the other body curves little, and which Newton's step does not see. Turned about the body's axis the normal
// stays one of the side, and the body's own farthest points add nothing to the slope w · (axis × n), which is smooth.
static bool turn_about(const kki_core_pair *pair, kk_vec3 axis, kki_core_distance *result) {
    const double step = 1e-5;
    const kk_vec3 n = result->normal, t = kk_vec3_cross(axis, n), m = kk_vec3_add(n, kk_vec3_scale(t, step));
    const double slope = kk_vec3_dot(farthest(pair, n), t);
    const double curvature = (kk_vec3_dot(farthest(pair, m), kk_vec3_cross(axis, m)) - slope) / step;
    const double least = 1e-14 * pair->size, far = 0.5; // of what there is to gain; of a turn
    if (!(__builtin_fabs(slope) * far > least) || slope * slope <= least * curvature) {
        return false;
    }
    const double angle = __builtin_fabs(slope) < far * curvature ? -slope / curvature : slope < 0 ? far : -far;
    const kk_mat3 R = kk_quat_to_mat3(kk_quat_exp(kk_vec3_scale(axis, angle)));
    const kk_vec3 guess = kk_mat3_mul_vec(R, n);
    const double distance = kki_core_separation(pair, guess);
    if (!(distance > result->distance)) {
        return false;
    }
    result->normal = guess;
    result->distance = distance;
    return true;
}

static bool turn_about_axes(const kki_core_pair *pair, kki_core_distance *result) {
    bool any = false;
    for (int k = 0; k < 2; k++) {
        const kk_vec3 axis = k ? kk_mat3_column(pair->X_AB.R, 2) : kk_vec3_make(0, 0, 1);
        for (int i = 0; is_turned(k ? &pair->b : &pair->a) && i < NEWTON_STEPS; i++) {
            if (!turn_about(pair, axis, result)) {
                break;
            }
            any = true;
        }
    }
    return any;
}

static void sharpen(const kki_core_pair *pair, kki_core_distance *result) {
    kk_vec3 last = {0, 0, 0};
    for (int i = 0; i < SHARPENINGS && result->iterations < SHARP_ENOUGH; i++) {
        const kk_vec3 before = result->normal;
        if (!sharpen_once(pair, i == 0, result)) {
            break;
        }
        const kk_vec3 turn = kk_vec3_sub(result->normal, before);
        last = run_newton(pair, result) || guess_limit(pair, turn, last, result) ? kk_vec3_make(0, 0, 0) : turn;
    }
    if (turn_about_axes(pair, result)) {
        (void)sharpen_once(pair, false, result); // witness points
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

// Where rounding in a sliver has ended the search short of its proof: once more, from the direction it got to.
static void search_again(const kki_core_pair *pair, double far, kki_simplex *s, kki_core_distance *result) {
    const int spent = result->iterations;
    kki_simplex fresh;
    kki_core_distance again;
    fresh.count = 0;
    if (kki_gjk(pair, far, result->normal, &fresh, &again) == KKI_GJK_APART &&
        again.distance - again.lower < result->distance - result->lower) {
        *s = fresh;
        *result = again;
    }
    result->iterations += spent;
}

int kki_core_distance_find(const kki_core_pair *pair, double far, kki_pair_memory *memory, kki_core_distance *result) {
    kki_simplex s;
    s.count = 0;
    if (memory && has_corners(pair)) {
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
        search_again(pair, far, &s, result);
    }
    if (end == KKI_GJK_APART && result->distance - result->lower > 1e-9 * pair->size) {
        result->distance = result->lower;
        try_axes(pair, result);
    }
    if (memory) {
        remember(pair, &s, result->normal, memory);
    }
    return end != KKI_GJK_FAR;
}

// Most pairs that a broad phase lets through end with the first farthest points, and no root.
static bool is_parted_along(kk_vec3 d, const kki_difference *w, double most) {
    const double sep = -kk_vec3_dot(d, w->w);
    return sep > 0 && sep * sep > most * most * (1 + 1e-12) * kk_vec3_dot(d, d);
}

// the search itself, from a point
static bool is_within_from(const kki_core_pair *pair, double most, kk_vec3 d, kki_simplex *s, kki_pair_memory *memory) {
    if (memory && memory->feature[0] && has_corners(pair)) {
        recall(pair, memory, s);
    }
    progress g;
    const kki_gjk_end end = search(pair, most, d, s, &g);
    if (memory && end != KKI_GJK_TOGETHER) {
        remember(pair, s, kk_vec3_scale(g.v, -1 / kk_sqrt(g.square)), memory);
    }
    return end == KKI_GJK_TOGETHER || (end == KKI_GJK_APART && kk_sqrt(g.square) <= most);
}

// A direction that does not part them turned towards one that may: away from the farthest point it has (Chung and Wang
// 1996), without root or division.
static kk_vec3 turned_away(kk_vec3 d, kk_vec3 w) {
    return kk_vec3_sub(kk_vec3_scale(d, kk_vec3_dot(w, w)), kk_vec3_scale(w, 2 * kk_vec3_dot(w, d)));
}

enum { TURNS = 3 };

static bool is_within(const kki_core_pair *pair, double most, kki_pair_memory *memory) {
    kk_vec3 d = first_direction(pair, memory);
    kki_simplex s;
    s.count = 1;
    s.point[0].id[0] = s.point[0].id[1] = -1;
    kki_core_pair_support(pair, d, &s.point[0]);
    for (int turn = 0; !is_parted_along(d, &s.point[0], most); turn++) {
        if (turn == TURNS) {
            return is_within_from(pair, most, d, &s, memory);
        }
        d = turned_away(d, s.point[0].w);
        kki_core_pair_support(pair, d, &s.point[0]);
    }
    return false;
}

int kki_core_within(const kki_core_pair *pair, double most, kki_pair_memory *memory) {
    kki_core_distance d;
    if (most < 0) { // less than touching: the depth is asked for
        return kki_core_distance_find(pair, most, memory, &d) && d.distance <= most;
    }
    return is_within(pair, most, memory);
}
