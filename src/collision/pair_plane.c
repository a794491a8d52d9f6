// A half space against every convex shape: the corners of the patch that faces it.
#include "collision/pairs.h"
#include "collision/patch.h"

// A ball has one point, below its centre.
static int collide_ball(const kk_transform *X_WA, double margin, double radius, kk_vec3 below, double height,
                        kki_pair_memory *memory, kki_manifold *manifold) {
    memory->reference = 0;
    manifold->normal = kk_mat3_column(X_WA->R, 2);
    manifold->count = 1;
    manifold->point[0] =
        (kki_contact_point){kk_transform_point(*X_WA, below), height - (margin + radius), ~(uint64_t)0};
    return 1;
}

// A box as large as needed does for the plane: its upper face.
int kki_collide_plane_convex(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    (void)room;
    const kki_core cb = kki_core_of(b);
    const kk_transform X_AB = kk_transform_mul(kk_transform_inverse(*X_WA), *X_WB);
    const kk_vec3 down = {-X_AB.R.m[6], -X_AB.R.m[7], -X_AB.R.m[8]};
    int id = -1;
    const kk_vec3 low = kk_transform_point(X_AB, kki_core_support(&cb, down, &id));
    if (low.z - (a->margin + cb.radius) > reach) {
        return 0;
    }
    if (cb.type == KKI_CORE_POINT) {
        return collide_ball(X_WA, a->margin, cb.radius, kk_vec3_make(low.x, low.y, a->margin), low.z, memory, manifold);
    }
    // wide enough to hold the whole body
    const double far = 2 * (cb.extent + kk_vec3_norm(X_AB.p)) + 1;
    const kki_core ground = {.type = KKI_CORE_BOX, .half = {far, far, 0}, .radius = a->margin};
    const kki_core_pair pair = {ground, cb, X_AB, NULL, far};
    const kki_meeting m = {.pair = &pair,
                           .normal = {0, 0, 1},
                           .distance = low.z,
                           .on_a = {low.x, low.y, 0},
                           .reach = reach,
                           .radius = kki_core_outer(&cb)};
    memory->reference = 0;
    kki_patches_meet(&m, X_WA, memory, manifold);
    return manifold->count > 0;
}
