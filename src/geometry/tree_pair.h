/// Leaves of two trees whose boxes are near each other, one tree turned and moved against the other.
#ifndef KKI_GEOMETRY_TREE_PAIR_H
#define KKI_GEOMETRY_TREE_PAIR_H

#include "geometry/tree.h"

/// Two leaves: items child … child + count − 1 of each tree's order, and A's box.
typedef void kki_leaf_pair(void *user, kki_tree_entry a, kki_tree_entry b, const kki_aabb *a_box);

/// Calls `visit` for pairs of leaves unless their boxes, B's placed by X_AB, are apart by more than `limit` along an axis of
/// either frame, or their slabs part them. Both trees are gone down together, the larger box first.
void kki_tree_pairs(const kki_tree *a, const kki_tree *b, const kk_transform *X_AB, double limit, kki_leaf_pair *visit,
                    void *user);

#endif
