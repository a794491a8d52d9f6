// Signed distance of two shapes: closed forms where there are, else GJK and EPA on their cores.
#include "collision/distance.h"

#include <stdbool.h>

#include "collision/gjk.h"
#include "collision/point.h"
#include "collision/segment.h"

static int is_convex(const kki_shape *s) {
    return s->type != KK_SHAPE_PLANE && s->type != KK_SHAPE_MESH && s->type != KK_SHAPE_HEIGHT_FIELD;
}

// From A's frame to the world, both radii added.
static void to_world(const kk_transform *X_WA, const kki_core_distance *d, double ra, double rb, kki_separation *r) {
    r->normal = kk_mat3_mul_vec(X_WA->R, d->normal);
    r->distance = d->distance - (ra + rb);
    r->on_a = kk_vec3_add(kk_transform_point(*X_WA, d->on_a), kk_vec3_scale(r->normal, ra));
    r->on_b = kk_vec3_sub(kk_transform_point(*X_WA, d->on_b), kk_vec3_scale(r->normal, rb));
    r->iterations = d->iterations;
}

void kki_separation_turn(kki_separation *r) {
    const kk_vec3 a = r->on_a;
    r->on_a = r->on_b;
    r->on_b = a;
    r->normal = kk_vec3_neg(r->normal);
}

// Core A is a point; the result is B's, seen the other way round.
static int distance_of_point(const kki_core *b, const kk_transform *X_AB, kki_core_distance *d) {
    kki_point_distance p;
    if (!kki_core_point_distance(b, kk_vec3_neg(kk_mat3_tmul_vec(X_AB->R, X_AB->p)), &p)) {
        return 0;
    }
    d->distance = p.distance;
    d->normal = kk_vec3_neg(kk_mat3_mul_vec(X_AB->R, p.normal));
    d->on_a = kk_vec3_make(0, 0, 0);
    d->on_b = kk_transform_point(*X_AB, p.nearest);
    d->iterations = 0;
    return 1;
}

static void distance_of_segments(const kki_core *a, const kki_core *b, const kk_transform *X_AB, kki_core_distance *d) {
    const kk_vec3 h1 = {0, 0, a->half[2]}, h2 = kk_vec3_scale(kk_mat3_column(X_AB->R, 2), b->half[2]);
    double s1, s2;
    kki_segments_closest(kk_vec3_make(0, 0, 0), h1, X_AB->p, h2, &s1, &s2);
    d->on_a = kk_vec3_scale(h1, s1);
    d->on_b = kk_vec3_add(X_AB->p, kk_vec3_scale(h2, s2));
    kk_vec3 off = kk_vec3_sub(d->on_b, d->on_a);
    d->distance = kk_vec3_norm(off);
    d->iterations = 0;
    double norm = d->distance;
    if (!(norm > 1e-14 * (a->half[2] + b->half[2]))) { // they cross: out along the common perpendicular
        off = kk_vec3_cross(h1, h2);
        off = kk_vec3_dot(off, X_AB->p) < 0 ? kk_vec3_neg(off) : off;
        norm = kk_vec3_norm(off);
    }
    d->normal = norm > 0 ? kk_vec3_scale(off, 1 / norm) : kk_vec3_make(1, 0, 0);
}

static int swapped_point(const kki_core *a, const kk_transform *X_AB, kki_core_distance *d) {
    const kk_transform X_BA = kk_transform_inverse(*X_AB);
    if (!distance_of_point(a, &X_BA, d)) {
        return 0;
    }
    const kk_vec3 on_a = kk_transform_point(*X_AB, d->on_b);
    d->on_b = X_AB->p;
    d->on_a = on_a;
    d->normal = kk_vec3_neg(kk_mat3_mul_vec(X_AB->R, d->normal));
    return 1;
}

int kki_core_closed_form(const kki_core *a, const kki_core *b, const kk_transform *X_AB, kki_core_distance *d) {
    if (a->type == KKI_CORE_POINT && distance_of_point(b, X_AB, d)) {
        return 1;
    }
    if (b->type == KKI_CORE_POINT && swapped_point(a, X_AB, d)) {
        return 1;
    }
    if (a->type == KKI_CORE_SEGMENT && b->type == KKI_CORE_SEGMENT) {
        distance_of_segments(a, b, X_AB, d);
        return 1;
    }
    return 0;
}

// `far` is a distance of the cores
static int separation_of_pair(const kki_core_pair *pair, const kk_transform *X_WA, double far, kki_pair_memory *memory,
                              kki_separation *r) {
    kki_core_distance d;
    if (!kki_core_closed_form(&pair->a, &pair->b, &pair->X_AB, &d) && !kki_core_distance_find(pair, far, memory, &d)) {
        return 0;
    }
    to_world(X_WA, &d, pair->a.radius, pair->b.radius, r);
    return 1;
}

void kki_core_separation_between(const kki_core *a, const kk_transform *X_WA, const kki_core *b,
                                 const kk_transform *X_WB, kki_pair_memory *memory, kki_separation *r) {
    kki_core_pair pair = {.a = *a, .b = *b};
    kki_core_pair_place(&pair, X_WA, X_WB);
    (void)separation_of_pair(&pair, X_WA, KKI_ANY_DISTANCE, memory, r);
}

int kki_core_separation_within(const kki_core *a, const kk_transform *X_WA, const kki_core *b, const kk_transform *X_WB,
                               double most, kki_pair_memory *memory, kki_separation *r) {
    kki_core_pair pair = {.a = *a, .b = *b};
    kki_core_pair_place(&pair, X_WA, X_WB);
    return separation_of_pair(&pair, X_WA, most + a->radius + b->radius, memory, r);
}

void kki_plane_separation(const kk_transform *X_WA, double margin, const kki_core *b, const kk_transform *X_WB,
                          kki_separation *r) {
    const kk_vec3 n = kk_mat3_column(X_WA->R, 2);
    int id = -1;
    const kk_vec3 low = kki_core_support(b, kk_vec3_neg(kk_mat3_tmul_vec(X_WB->R, n)), &id);
    r->normal = n;
    r->on_b = kk_vec3_sub(kk_transform_point(*X_WB, low), kk_vec3_scale(n, b->radius));
    r->distance = kk_vec3_dot(n, kk_vec3_sub(r->on_b, X_WA->p)) - margin;
    r->on_a = kk_vec3_sub(r->on_b, kk_vec3_scale(n, r->distance));
    r->iterations = 0;
}

static void distance_of_convex(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                               const kk_transform *X_WB, kki_pair_memory *memory, kki_separation *r) {
    kki_core_pair pair;
    kki_small_hull small;
    kki_core_pair_of(a, X_WA, b, X_WB, &pair);
    kki_core_pair_turn_corners(&pair, &small);
    (void)separation_of_pair(&pair, X_WA, KKI_ANY_DISTANCE, memory, r);
}

// A is the half space z ≤ 0 of its frame, thickened by its margin.
static void distance_of_plane(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                              const kk_transform *X_WB, kki_separation *r) {
    const kki_core cb = kki_core_of(b);
    kki_plane_separation(X_WA, a->margin, &cb, X_WB, r);
}

int kki_distance(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                 kki_pair_memory *memory, kki_separation *result) {
    if (is_convex(a) && is_convex(b)) {
        distance_of_convex(a, X_WA, b, X_WB, memory, result);
    } else if (a->type == KK_SHAPE_PLANE && is_convex(b)) {
        distance_of_plane(a, X_WA, b, X_WB, result);
    } else if (is_convex(a) && b->type == KK_SHAPE_PLANE) {
        distance_of_plane(b, X_WB, a, X_WA, result);
        kki_separation_turn(result);
    } else {
        return kki_distance_of_triangles(a, X_WA, b, X_WB, result);
    }
    return 1;
}

double kki_distance_at_least(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             double enough, kki_pair_memory *memory) {
    if (a->type == KK_SHAPE_PLANE || b->type == KK_SHAPE_PLANE) {
        kki_separation r;
        (void)kki_distance(a, X_WA, b, X_WB, NULL, &r);
        return r.distance;
    }
    kki_core_pair pair;
    kki_small_hull small;
    kki_core_distance d;
    kki_core_pair_of(a, X_WA, b, X_WB, &pair);
    kki_core_pair_turn_corners(&pair, &small);
    const double radii = pair.a.radius + pair.b.radius;
    if (!kki_core_closed_form(&pair.a, &pair.b, &pair.X_AB, &d)) {
        (void)kki_core_distance_find(&pair, enough + radii, memory, &d);
    }
    return d.distance - radii;
}

static kk_vec3 middle_of(const kki_core *core, const kk_transform *X) {
    return core->type == KKI_CORE_HULL ? kk_transform_point(*X, core->convex->centroid) : X->p;
}

// Whether balls around both are apart.
static int balls_are_apart(const kki_core *a, const kk_transform *X_WA, const kki_core *b, const kk_transform *X_WB,
                           double most) {
    const double ra = a->type == KKI_CORE_HULL ? a->convex->outer : a->extent;
    const double rb = b->type == KKI_CORE_HULL ? b->convex->outer : b->extent;
    const kk_vec3 d = kk_vec3_sub(middle_of(b, X_WB), middle_of(a, X_WA));
    const double far = (ra + rb + most) * (1 + 1e-12);
    return kk_vec3_dot(d, d) > far * far;
}

int kki_overlap(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                double reach, kki_pair_memory *memory) {
    if (!is_convex(a) || !is_convex(b)) {
        kki_separation r;
        return kki_distance(a, X_WA, b, X_WB, memory, &r) && r.distance <= reach;
    }
    kki_core_pair pair;
    kki_core_set(&pair.a, a);
    kki_core_set(&pair.b, b);
    const double most = reach + pair.a.radius + pair.b.radius;
    if (most >= 0 && balls_are_apart(&pair.a, X_WA, &pair.b, X_WB, most)) {
        return 0;
    }
    kki_core_pair_place(&pair, X_WA, X_WB);
    kki_core_distance d;
    if (kki_core_closed_form(&pair.a, &pair.b, &pair.X_AB, &d)) {
        return d.distance <= most;
    }
    kki_small_hull small;
    kki_core_pair_turn_corners(&pair, &small);
    return kki_core_within(&pair, most, memory);
}
