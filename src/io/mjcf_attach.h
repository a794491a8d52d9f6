/// Models in a model: what <attach> leaves for the reader.
///
/// The result is one tree. Nodes that came from another model belong to a scope of their own, which says what file they are
/// from, what its default class is called and, once read, how its <compiler> wants them read. Scope 0 is the main model.
#ifndef KKI_IO_MJCF_ATTACH_H
#define KKI_IO_MJCF_ATTACH_H

#include "io/loader.h"
#include "io/pool.h"
#include "io/xml.h"

typedef struct kki_mjcf_scope {
    const char *path;       ///< of the model's own file
    const char *main_class; ///< what its outermost default class is called
    const char *model;      ///< for messages: as the parent calls it; "" of the main model
    int outer;              ///< scope that it is attached to; −1: this is the main one
} kki_mjcf_scope;

/// A keyframe of an attached model: its numbers are for that model alone.
typedef struct kki_mjcf_key_layout {
    int32_t key, first, end; ///< node of <key>; the nodes that were attached
    const char *joints;      ///< of the whole model: f, b, h for free, ball, hinge or slide; upper case: attached
    const char *controls;    ///< of the whole model: 'y' for an actuator that came along, 'n' for one that did not
} kki_mjcf_key_layout;

typedef struct kki_mjcf_tree {
    const kki_xml *xml;
    kki_xml *owned; ///< NULL where nothing is attached
    int32_t *of;    ///< [xml->node_count] scope of each node; NULL: all 0
    kki_mjcf_scope *scope;
    kki_mjcf_key_layout *layout;
    int of_room, scope_count, scope_room, layout_count, layout_room;
    kki_pool pool; ///< texts of the above
} kki_mjcf_tree;

/// @param xml  with includes in place; it must outlive the tree
kk_status kki_mjcf_attach(kki_loader *loader, const kki_xml *xml, kki_mjcf_tree *tree, kk_error *error);
void kki_mjcf_tree_release(kki_mjcf_tree *tree, const kk_allocator *allocator);

/// The joints of a model in MuJoCo's order, see kki_mjcf_key_layout; those of nodes first … end − 1 are upper case. mjcf.c
kk_status kki_mjcf_joint_layout(kki_loader *loader, const kki_mjcf_tree *tree, int32_t first, int32_t end,
                                kki_pool *pool, const char **joints);

#endif
