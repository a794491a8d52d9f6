// A half space against every convex shape: the corners of the patch that faces it.
#include "collision/pairs.h"
#include "collision/patch.h"

// A ball has one point, below its center.
static int ball_over_plane(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, kk_vec3 center,
                           double reach, kki_contact_point *p) {
    const kk_vec3 up = kk_mat3_column(X_WA->R, 2);
    const double height = kk_vec3_dot(up, kk_vec3_sub(center, X_WA->p)) - a->margin;
    p->position = kk_vec3_sub(center, kk_vec3_scale(up, height));
    p->gap = height - (b->margin + b->half[0]);
    p->feature = ~(uint64_t)0;
    return !(p->gap > reach);
}

// A capsule's line, as the plane sees it.
typedef struct line {
    kk_vec3 axis, middle;
    double radius;
} line;

static line line_over(const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB) {
    return (line){kk_mat3_tmul_vec(X_WA->R, kk_mat3_column(X_WB->R, 2)),
                  kk_vec3_sub(kk_mat3_tmul_vec(X_WA->R, X_WB->p), kk_mat3_tmul_vec(X_WA->R, X_WA->p)),
                  b->margin + b->half[0]};
}

static kk_vec3 end_of(const line *l, double at) {
    return kk_vec3_add(l->middle, kk_vec3_scale(l->axis, at));
}

// A line has its ends, or the lower one where it stands: no patch, and nothing that depends on the kind of shape.
static int capsule_over_plane(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                              const kk_transform *X_WB, double reach, kki_pair_memory *memory, kki_contact_point *p) {
    const line l = line_over(X_WA, b, X_WB);
    const int goes_up = l.axis.z > 0, lies = __builtin_fabs(l.axis.z) < KKI_PATCH_TILT;
    const double at = goes_up ? -b->half[1] : b->half[1], most = reach + a->margin + l.radius;
    const kk_vec3 low = end_of(&l, at);
    if (low.z - (a->margin + l.radius) > reach || low.z > most) {
        return 0;
    }
    if (lies && l.middle.z - l.axis.z * at <= most) {
        return -1;
    }
    const double *m = X_WA->R.m, h = a->margin;
    memory->reference = lies ? KKI_ON_FLOOR : 0;
    p->position = kk_vec3_make(X_WA->p.x + m[0] * low.x + m[1] * low.y + m[2] * h,
                               X_WA->p.y + m[3] * low.x + m[4] * low.y + m[5] * h,
                               X_WA->p.z + m[6] * low.x + m[7] * low.y + m[8] * h);
    p->gap = low.z - (a->margin + l.radius);
    p->feature = lies ? kki_floor_feature(!goes_up) : ~(uint64_t)0;
    return 1;
}

int kki_round_over_plane(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                         double reach, kki_pair_memory *memory, kki_contact_point *point) {
    memory->reference = 0;
    return b->type == KK_SHAPE_SPHERE ? ball_over_plane(a, X_WA, b, X_WB->p, reach, point)
                                      : capsule_over_plane(a, X_WA, b, X_WB, reach, memory, point);
}

static int collide_round(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                         double reach, kki_pair_memory *memory, kki_manifold *manifold) {
    manifold->normal = kk_mat3_column(X_WA->R, 2);
    manifold->count = kki_round_over_plane(a, X_WA, b, X_WB, reach, memory, &manifold->point[0]);
    if (manifold->count < 0) {
        const line l = line_over(X_WA, b, X_WB);
        const double half = b->half[1];
        const kk_vec3 end[2] = {end_of(&l, -half), end_of(&l, half)};
        const kki_floor_meeting m = {end[!(l.axis.z > 0)], a->margin, l.radius, reach};
        kki_line_meets_floor(&m, end, half, X_WA, memory, manifold);
    }
    return manifold->count > 0;
}

int kki_collide_plane_convex(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    (void)room;
    if (b->type <= KK_SHAPE_CAPSULE) {
        return collide_round(a, X_WA, b, X_WB, reach, memory, manifold);
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
