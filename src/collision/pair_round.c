// A sphere against the shapes with a closed form: one point.
#include "collision/gjk.h"
#include "collision/pairs.h"

/// Two balls. False where their centers are one, which has no direction.
static int collide_balls(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                         double reach, kki_manifold *manifold, int *count) {
    const kk_vec3 d = kk_vec3_sub(X_WB->p, X_WA->p);
    const double square = kk_vec3_dot(d, d), distance = __builtin_sqrt(square);
    const double radius = a->margin + a->half[0], gap = distance - (radius + (b->margin + b->half[0]));
    *count = !(gap > reach);
    if (!(square > 1e-200)) {
        return 0;
    }
    if (*count) {
        manifold->normal = kk_vec3_scale(d, 1 / distance);
        manifold->count = 1;
        manifold->point[0].position = kk_vec3_add(X_WA->p, kk_vec3_scale(manifold->normal, radius));
        manifold->point[0].gap = gap;
        manifold->point[0].feature = 0;
    }
    return 1;
}

int kki_collide_round(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                      double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    int count = 0;
    if (a->type == KK_SHAPE_SPHERE && b->type == KK_SHAPE_SPHERE &&
        collide_balls(a, X_WA, b, X_WB, reach, manifold, &count)) {
        return count;
    }
    const kki_core ca = kki_core_of(a), cb = kki_core_of(b);
    const kk_transform X_AB = kk_transform_mul(kk_transform_inverse(*X_WA), *X_WB);
    kki_core_distance d;
    if (!kki_core_closed_form(&ca, &cb, &X_AB, &d)) { // flat ellipsoids have none
        return kki_collide_convex(a, X_WA, b, X_WB, reach, memory, manifold, room);
    }
    const double gap = d.distance - (ca.radius + cb.radius);
    if (gap > reach) {
        return 0;
    }
    manifold->normal = kk_mat3_mul_vec(X_WA->R, d.normal);
    manifold->count = 1;
    manifold->point[0].position =
        kk_vec3_add(kk_transform_point(*X_WA, d.on_a), kk_vec3_scale(manifold->normal, ca.radius));
    manifold->point[0].gap = gap;
    manifold->point[0].feature = 0;
    return 1;
}
