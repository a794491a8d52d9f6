/// Leaves of two trees whose boxes are near each other, one tree turned and moved against the other.
#ifndef KKI_GEOMETRY_TREE_PAIR_H
#define KKI_GEOMETRY_TREE_PAIR_H

#include "geometry/leaf.h"

/// Four boxes as in kki_tree_node, and for each lane two planes across a direction between which all of it lies: what boxes of
/// slanted surfaces are too thick for. Three lines of a cache.
typedef struct kki_pair_node {
    kki_float4 lower[3], upper[3];
    kki_float4 n[3];         ///< about unit
    kki_float4 middle, half; ///< |n · x − middle| ≤ half; infinite where there is no good direction
    int32_t child[4];        ///< a node; −1 − number of a leaf; KKI_PAIR_NONE
} __attribute__((aligned(64))) kki_pair_node;

enum { KKI_PAIR_NONE = INT32_MIN };

/// A tree of triangles for pairs of meshes; its nodes are those of a kki_tree, its leaves in the order of its items.
typedef struct kki_pair_tree {
    int32_t node_count, leaf_count;
    kki_pair_node *node; ///< [node_count], the root first
    kki_leaf *leaf;      ///< [leaf_count]
} kki_pair_tree;

/// Two leaves.
typedef void kki_leaf_pair(void *user, const kki_leaf *a, const kki_leaf *b);

/// Calls `visit` for pairs of leaves unless their boxes, B's placed by X_AB, are apart by more than `limit` along an axis of
/// either frame, or their slabs part them. Both trees are gone down together, the larger box first.
void kki_tree_pairs(const kki_pair_tree *a, const kki_pair_tree *b, const kk_transform *X_AB, double limit,
                    kki_leaf_pair *visit, void *user);

#endif
