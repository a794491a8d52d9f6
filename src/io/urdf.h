/// What the files of the URDF reader share.
///
/// Faults go to the list of findings and reading goes on, so that one run tells all of them; functions return a status
/// other than KK_OK only where there is no going on (no memory).
#ifndef KARAKURI_IO_URDF_H
#define KARAKURI_IO_URDF_H

#include "io/karakuri_fields.h"
#include "io/loader.h"
#include "io/name_table.h"

typedef struct kki_urdf_link {
    int32_t node;
    const char *name;
    int32_t parent_joint; ///< −1: a root
    int body;             ///< in the spec; −1 before it is added
    int material;         ///< contact material of its collisions
    uint8_t state;        ///< of the walk
    bool is_static;       ///< nothing between it and the world moves
    bool has_karakuri;    ///< an element of that name in it
} kki_urdf_link;

typedef struct kki_urdf_joint {
    int32_t node;
    const char *name;
    int32_t parent, child; ///< links; −1: unknown
    int body;              ///< whose joint it is; −1 before that is added
    int32_t leader;        ///< joint that it mimics; −1: none
    int32_t mimic;         ///< element; KKI_XML_NONE: none
    bool has_karakuri;
} kki_urdf_joint;

typedef struct kki_urdf {
    kki_loader *loader;
    kk_spec *spec;
    const kki_xml *xml;
    kki_reader reader;
    kki_urdf_link *link; ///< [link_count] in the order of the file
    kki_urdf_joint *joint;
    int32_t
        *other; ///< [other_count] elements of the robot that are neither: few, so that few walks go over all of them
    int link_count, joint_count, other_count;
    int32_t *order; ///< [link_count] links, parents first
    int32_t *chain; ///< [link_count + joint_count] scratch of walks
    int root;       ///< link
    kki_name_table links, joints;
    kki_name_table looks; ///< URDF's materials
    kki_name_table materials, shapes, height_fields, actuators;
    kki_name_table surface_numbers, actuator_numbers; ///< see kki_name_table_choose
} kki_urdf;

// ---- urdf.c: findings

/// An error, a warning or a note at an element. Gives KK_OK back, as reading goes on.
__attribute__((format(printf, 6, 7))) kk_status kki_urdf_report(kki_urdf *u, kki_severity severity, kk_status status,
                                                                int32_t node, const char *remedy, const char *format,
                                                                ...);
/// The same at an attribute, which must exist.
__attribute__((format(printf, 6, 7))) kk_status kki_urdf_report_value(kki_urdf *u, kki_severity severity,
                                                                      kk_status status, int32_t attribute,
                                                                      const char *remedy, const char *format, ...);
/// Something that is not used, said once whatever the number of them.
void kki_urdf_note_once(kki_urdf *u, int32_t node, const char *what, const char *remedy);
/// The status of a call that adds to the spec; a fault joins the findings.
kk_status kki_urdf_keep(kki_urdf *u, int32_t node, kk_status status, const kk_error *error);
kk_status kki_urdf_no_memory(kki_urdf *u);

// ---- urdf_tree.c

/// Counts links and joints, and finds the robot's other elements.
kk_status kki_urdf_survey(kki_urdf *u);
/// The first of the other elements of that name from the i-th on; other_count where there is none.
int kki_urdf_other(const kki_urdf *u, const char *name, int i);
/// Finds links and joints and puts the links in an order, parents first.
kk_status kki_urdf_tree(kki_urdf *u);

// ---- urdf_link.c

/// <origin xyz rpy> of an element; unchanged where there is none.
void kki_urdf_origin(kki_urdf *u, int32_t node, kk_transform *X);
kk_inertia kki_urdf_inertial(kki_urdf *u, int32_t link_node);

// ---- urdf_shape.c

/// URDF's materials by name, from the top level and from the visuals.
kk_status kki_urdf_visuals(kki_urdf *u);
/// Visuals and collisions of a link.
kk_status kki_urdf_shapes(kki_urdf *u, const kki_urdf_link *link);

// ---- urdf_joint.c

void kki_urdf_joint_read(kki_urdf *u, const kki_urdf_joint *joint, kk_joint_def *def);
/// Mimic joints as couplings.
kk_status kki_urdf_mimics(kki_urdf *u);

// ---- urdf_extras.c

kk_status kki_urdf_transmissions(kki_urdf *u);
/// Friction and stiffness of <gazebo reference="link"> as contact materials; before the shapes.
kk_status kki_urdf_gazebo(kki_urdf *u);

// ---- urdf_repair.c

/// The physically nearest inertia to one that no body can have; false where it was good.
bool kki_inertia_repair(kk_inertia *inertia);
/// A little inertia for links that move and have none.
kk_status kki_urdf_repair(kki_urdf *u);

// ---- urdf_karakuri.c

/// Contact materials and height fields of the <karakuri> elements, which shapes refer to.
kk_status kki_urdf_karakuri_first(kki_urdf *u);
/// <karakuri> inside a joint.
void kki_urdf_karakuri_joint(kki_urdf *u, int32_t joint_node, kk_joint_def *def, kk_transform *offset);
/// <karakuri> inside a collision or visual.
void kki_urdf_karakuri_shape(kki_urdf *u, int32_t node, kk_shape_def *def);
/// What <karakuri> inside a link says; `otherwise` where nothing.
kki_karakuri_link kki_urdf_karakuri_link(kki_urdf *u, int32_t link_node, kki_karakuri_link otherwise);
/// Everything else, once bodies, joints and shapes are there.
kk_status kki_urdf_karakuri_rest(kki_urdf *u);

#endif
