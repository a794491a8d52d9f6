#include "directions.h"

#include <math.h>

#include "geometry/convex.h"

enum { STACK = 4096, MOST_TRIANGLES = 4000000 };

// ---- farthest points, written anew

static kk_vec3 farthest_corner(const kki_convex *c, kk_vec3 d) {
    int best = 0;
    for (int i = 1; i < c->vertex_count; i++) {
        if (kk_vec3_dot(c->vertex[i], d) > kk_vec3_dot(c->vertex[best], d)) {
            best = i;
        }
    }
    return c->vertex[best];
}

static kk_vec3 farthest_round(const kki_shape *s, kk_vec3 d) {
    const double across = sqrt(d.x * d.x + d.y * d.y), r = s->half[0], h = s->half[1];
    const double cx = across > 0 ? d.x / across : 0, cy = across > 0 ? d.y / across : 0;
    const kk_vec3 low = {r * cx, r * cy, -h}, high = {r * cx, r * cy, h}, tip = {0, 0, h};
    if (s->type == KK_SHAPE_CYLINDER) {
        return kk_vec3_dot(high, d) > kk_vec3_dot(low, d) ? high : low;
    }
    return kk_vec3_dot(tip, d) > kk_vec3_dot(low, d) ? tip : low;
}

static kk_vec3 farthest_core(const kki_shape *s, kk_vec3 d) {
    const double *h = s->half;
    switch (s->type) {
    case KK_SHAPE_CAPSULE: return kk_vec3_make(0, 0, copysign(h[1], d.z));
    case KK_SHAPE_BOX: return kk_vec3_make(copysign(h[0], d.x), copysign(h[1], d.y), copysign(h[2], d.z));
    case KK_SHAPE_ELLIPSOID: {
        const double k = sqrt(h[0] * h[0] * d.x * d.x + h[1] * h[1] * d.y * d.y + h[2] * h[2] * d.z * d.z);
        return k > 0 ? kk_vec3_make(h[0] * h[0] * d.x / k, h[1] * h[1] * d.y / k, h[2] * h[2] * d.z / k)
                     : kk_vec3_make(0, 0, 0);
    }
    case KK_SHAPE_CYLINDER:
    case KK_SHAPE_CONE: return farthest_round(s, d);
    case KK_SHAPE_HULL: return farthest_corner(s->convex, d);
    default: return kk_vec3_make(0, 0, 0);
    }
}

static double ball(const kki_shape *s) {
    return s->margin + (s->type == KK_SHAPE_SPHERE || s->type == KK_SHAPE_CAPSULE ? s->half[0] : 0);
}

typedef struct problem {
    const kki_shape *a, *b;
    const kk_transform *X_WA, *X_WB;
    const kk_vec3 *triangle; // in the world, instead of A
} problem;

static kk_vec3 farthest_of_triangle(const kk_vec3 corner[3], kk_vec3 n) {
    const double h[3] = {kk_vec3_dot(n, corner[0]), kk_vec3_dot(n, corner[1]), kk_vec3_dot(n, corner[2])};
    return corner[h[0] >= h[1] ? (h[0] >= h[2] ? 0 : 2) : (h[1] >= h[2] ? 1 : 2)];
}

static kk_vec3 farthest_of_core(const kki_shape *s, const kk_transform *X, kk_vec3 n) {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a problem without a triangle has A and its pose
    return kk_transform_point(*X, farthest_core(s, kk_mat3_tmul_vec(X->R, n)));
}

static kk_vec3 farthest(const problem *p, kk_vec3 n) {
    const kk_vec3 a = p->triangle ? farthest_of_triangle(p->triangle, n) : farthest_of_core(p->a, p->X_WA, n);
    return kk_vec3_sub(a, farthest_of_core(p->b, p->X_WB, kk_vec3_neg(n)));
}

static double balls(const problem *p) {
    return (p->triangle ? 0 : ball(p->a)) + ball(p->b);
}

double directions_separation(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             kk_vec3 n) {
    const problem p = {a, b, X_WA, X_WB, NULL};
    return -kk_vec3_dot(farthest(&p, n), n) - balls(&p);
}

double directions_lowest(const kki_shape *s, const kk_transform *X, kk_vec3 n) {
    return kk_vec3_dot(n, farthest_of_core(s, X, kk_vec3_neg(n))) - ball(s);
}

// ---- the search, depth first; triangles that cannot hold a better direction are dropped

typedef struct node {
    kk_vec3 corner[3], w[3]; // with the farthest points along the corners
} node;

typedef struct search {
    problem p;
    node stack[STACK];
    int count;
    double lower, upper, tolerance;
    kk_vec3 normal;
} search;

static kk_vec3 unit(kk_vec3 v) {
    return kk_vec3_scale(v, 1 / kk_vec3_norm(v));
}

static kk_vec3 look(search *s, kk_vec3 n) {
    const kk_vec3 w = farthest(&s->p, n);
    const double value = -kk_vec3_dot(w, n);
    if (value > s->lower) {
        s->lower = value;
        s->normal = n;
    }
    return w;
}

static double greatest(const double v[3]) {
    return fmax(v[0], fmax(v[1], v[2]));
}

// The least over λ in [0, 1] of the greatest of u + λ (v − u): reached at an end or where two of the three are equal.
static double least_greatest(const double u[3], const double v[3]) {
    double best = fmin(greatest(u), greatest(v));
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3;
        const double at = u[k] - u[l], by = (v[l] - u[l]) - (v[k] - u[k]), t = by != 0 ? at / by : -1;
        if (t > 0 && t < 1) {
            const double m[3] = {u[0] + t * (v[0] - u[0]), u[1] + t * (v[1] - u[1]), u[2] + t * (v[2] - u[2])};
            best = fmin(best, greatest(m));
        }
    }
    return best;
}

static double upper_bound(const node *n, kk_vec3 middle_w) {
    double v[4][3];
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            v[i][k] = -kk_vec3_dot(i < 3 ? n->w[i] : middle_w, n->corner[k]);
        }
    }
    double upper = INFINITY;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            upper = fmin(upper, least_greatest(v[i], v[j]));
        }
    }
    if (upper > 0) {
        const kk_vec3 *c = n->corner;
        upper /= fabs(kk_vec3_dot(unit(kk_vec3_cross(kk_vec3_sub(c[1], c[0]), kk_vec3_sub(c[2], c[0]))), c[0]));
    }
    return upper;
}

static void push(search *s, node n) {
    const kk_vec3 w = look(s, unit(kk_vec3_add(n.corner[0], kk_vec3_add(n.corner[1], n.corner[2]))));
    const double upper = upper_bound(&n, w);
    if (upper <= s->lower + s->tolerance) {
        return;
    }
    if (s->count < STACK) {
        s->stack[s->count++] = n;
    } else {
        s->upper = fmax(s->upper, upper);
    }
}

static void split(search *s, const node *n) {
    const kk_vec3 *c = n->corner, *w = n->w;
    const kk_vec3 d = unit(kk_vec3_add(c[0], c[1])), e = unit(kk_vec3_add(c[1], c[2])),
                  f = unit(kk_vec3_add(c[2], c[0]));
    const kk_vec3 wd = look(s, d), we = look(s, e), wf = look(s, f);
    push(s, (node){{c[0], d, f}, {w[0], wd, wf}});
    push(s, (node){{d, c[1], e}, {wd, w[1], we}});
    push(s, (node){{f, e, c[2]}, {wf, we, w[2]}});
    push(s, (node){{d, e, f}, {wd, we, wf}});
}

static directions_answer find(const problem *p, kk_vec3 guess, double tolerance) {
    search s;
    s.p = *p;
    s.count = 0;
    s.lower = s.upper = -INFINITY;
    s.tolerance = tolerance;
    look(&s, guess);
    for (int k = 0; k < 8; k++) {
        const kk_vec3 x = {k & 1 ? -1 : 1, 0, 0}, y = {0, k & 2 ? -1 : 1, 0}, z = {0, 0, k & 4 ? -1 : 1};
        const kk_vec3 wx = look(&s, x), wy = look(&s, y);
        push(&s, (node){{x, y, z}, {wx, wy, look(&s, z)}});
    }
    for (int i = 0; s.count > 0; i++) {
        const node top = s.stack[--s.count];
        if (i == MOST_TRIANGLES) {
            s.upper = INFINITY;
            break;
        }
        split(&s, &top);
    }
    const double radii = balls(p);
    return (directions_answer){s.lower - radii, fmax(s.upper, s.lower + tolerance) - radii, s.normal};
}

directions_answer directions_search(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                                    const kk_transform *X_WB, kk_vec3 guess, double tolerance) {
    const problem p = {a, b, X_WA, X_WB, NULL};
    return find(&p, guess, tolerance);
}

directions_answer directions_search_triangle(const kk_vec3 corner[3], const kki_shape *b, const kk_transform *X_WB,
                                             kk_vec3 guess, double tolerance) {
    const problem p = {NULL, b, NULL, X_WB, corner};
    return find(&p, guess, tolerance);
}
