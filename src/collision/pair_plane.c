// A half space against every convex shape: the corners of the patch that faces it.
#include "collision/pairs.h"
#include "collision/patch.h"

// A ball has one point, below its centre.
static int collide_ball(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, kk_vec3 centre, double reach,
                        kki_pair_memory *memory, kki_manifold *manifold) {
    const kk_vec3 up = kk_mat3_column(X_WA->R, 2);
    const double height = kk_vec3_dot(up, kk_vec3_sub(centre, X_WA->p)) - a->margin;
    const double gap = height - (b->margin + b->half[0]);
    if (gap > reach) {
        return 0;
    }
    memory->reference = 0;
    manifold->normal = up;
    manifold->count = 1;
    manifold->point[0].position = kk_vec3_sub(centre, kk_vec3_scale(up, height));
    manifold->point[0].gap = gap;
    manifold->point[0].feature = ~(uint64_t)0;
    return 1;
}

// A line has its ends, or the lower one where it stands: no patch, and nothing that depends on the kind of shape.
static int collide_capsule(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                           double reach, kki_pair_memory *memory, kki_manifold *manifold) {
    const double half = b->half[1], radius = b->margin + b->half[0];
    const kk_vec3 axis = kk_mat3_tmul_vec(X_WA->R, kk_mat3_column(X_WB->R, 2));
    const kk_vec3 middle = kk_vec3_sub(kk_mat3_tmul_vec(X_WA->R, X_WB->p), kk_mat3_tmul_vec(X_WA->R, X_WA->p));
    const kk_vec3 end[2] = {kk_vec3_add(middle, kk_vec3_scale(axis, -half)),
                            kk_vec3_add(middle, kk_vec3_scale(axis, half))};
    const kk_vec3 low =
        kk_vec3_add(middle, kk_vec3_scale(axis, axis.z > 0 ? -half : half)); // not from memory just written
    const kki_floor_meeting m = {low, a->margin, radius, reach};
    if (m.low.z - (a->margin + radius) > reach) {
        return 0;
    }
    kki_line_meets_floor(&m, end, half, __builtin_fabs(axis.z) < KKI_PATCH_TILT, X_WA, memory, manifold);
    return manifold->count > 0;
}

int kki_collide_plane_convex(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    (void)room;
    if (b->type == KK_SHAPE_SPHERE) {
        return collide_ball(a, X_WA, b, X_WB->p, reach, memory, manifold);
    }
    if (b->type == KK_SHAPE_CAPSULE) {
        return collide_capsule(a, X_WA, b, X_WB, reach, memory, manifold);
    }
    const kki_core cb = kki_core_of(b);
    const kk_transform X_AB = kk_transform_mul(kk_transform_inverse(*X_WA), *X_WB);
    const kk_vec3 down = {-X_AB.R.m[6], -X_AB.R.m[7], -X_AB.R.m[8]};
    int id = -1;
    const kk_vec3 low = kk_transform_point(X_AB, kki_core_support(&cb, down, &id));
    if (low.z - (a->margin + cb.radius) > reach) {
        return 0;
    }
    const kki_floor_meeting m = {low, a->margin, cb.radius, reach};
    memory->reference = 0;
    kki_patch_meets_floor(&m, &cb, &X_AB, X_WA, memory, manifold);
    return manifold->count > 0;
}
