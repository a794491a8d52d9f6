#include "directions.h"

#include <math.h>
#include <stdlib.h>

#include "geometry/convex.h"

enum { ROOM = 400000 };

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
} problem;

static kk_vec3 farthest(const problem *p, kk_vec3 n) {
    const kk_vec3 a = farthest_core(p->a, kk_mat3_tmul_vec(p->X_WA->R, n));
    const kk_vec3 b = farthest_core(p->b, kk_vec3_neg(kk_mat3_tmul_vec(p->X_WB->R, n)));
    const kk_vec3 ra = kk_mat3_mul_vec(p->X_WA->R, a), rb = kk_mat3_mul_vec(p->X_WB->R, b);
    return kk_vec3_add(kk_vec3_sub(p->X_WA->p, p->X_WB->p), kk_vec3_sub(ra, rb));
}

double directions_separation(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             kk_vec3 n) {
    const problem p = {a, b, X_WA, X_WB};
    return -kk_vec3_dot(farthest(&p, n), n) - ball(a) - ball(b);
}

// ---- best-first search; a heap by upper bound

typedef struct node {
    kk_vec3 corner[3];
    double upper;
} node;

typedef struct search {
    problem p;
    node *heap;
    int count;
    double lower;
    kk_vec3 normal;
} search;

static kk_vec3 unit(kk_vec3 v) {
    return kk_vec3_scale(v, 1 / kk_vec3_norm(v));
}

static void push(search *s, node n) {
    int at = s->count++;
    while (at > 0 && s->heap[(at - 1) / 2].upper < n.upper) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = n;
}

static node pop(search *s) {
    const node top = s->heap[0], last = s->heap[--s->count];
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= s->count) {
            break;
        }
        child += child + 1 < s->count && s->heap[child + 1].upper > s->heap[child].upper;
        if (s->heap[child].upper <= last.upper) {
            break;
        }
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

static void add(search *s, kk_vec3 a, kk_vec3 b, kk_vec3 c) {
    const kk_vec3 middle = unit(kk_vec3_add(a, kk_vec3_add(b, c)));
    const kk_vec3 w = farthest(&s->p, middle);
    const double value = -kk_vec3_dot(w, middle);
    if (value > s->lower) {
        s->lower = value;
        s->normal = middle;
    }
    double upper = fmax(-kk_vec3_dot(w, a), fmax(-kk_vec3_dot(w, b), -kk_vec3_dot(w, c)));
    if (upper > 0) {
        const kk_vec3 n = unit(kk_vec3_cross(kk_vec3_sub(b, a), kk_vec3_sub(c, a)));
        upper /= fabs(kk_vec3_dot(n, a));
    }
    push(s, (node){{a, b, c}, upper});
}

static void split(search *s, const node *n) {
    const kk_vec3 *c = n->corner;
    const kk_vec3 ab = unit(kk_vec3_add(c[0], c[1])), bc = unit(kk_vec3_add(c[1], c[2])),
                  ca = unit(kk_vec3_add(c[2], c[0]));
    add(s, c[0], ab, ca);
    add(s, ab, c[1], bc);
    add(s, ca, bc, c[2]);
    add(s, ab, bc, ca);
}

directions_answer directions_search(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                                    const kk_transform *X_WB, double tolerance) {
    search s = {{a, b, X_WA, X_WB}, malloc(ROOM * sizeof(node)), 0, -INFINITY, {0, 0, 1}};
    if (!s.heap) {
        return (directions_answer){-INFINITY, INFINITY, {0, 0, 1}};
    }
    for (int k = 0; k < 8; k++) {
        const kk_vec3 x = {k & 1 ? -1 : 1, 0, 0}, y = {0, k & 2 ? -1 : 1, 0}, z = {0, 0, k & 4 ? -1 : 1};
        add(&s, x, y, z);
    }
    while (s.heap[0].upper - s.lower > tolerance && s.count + 8 < ROOM) {
        const node top = pop(&s);
        split(&s, &top);
    }
    const double radii = ball(a) + ball(b);
    const directions_answer r = {s.lower - radii, fmax(s.heap[0].upper, s.lower) - radii, s.normal};
    free(s.heap);
    return r;
}
