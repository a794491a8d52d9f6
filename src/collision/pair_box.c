// Two boxes.
#include "collision/pairs.h"

int kki_collide_box_box(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                        double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    return kki_collide_convex(a, X_WA, b, X_WB, reach, memory, manifold, room);
}
