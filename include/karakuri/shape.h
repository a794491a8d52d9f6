/// Shapes: what bodies touch with and what they look like, and the meshes and grids they refer to.
#ifndef KARAKURI_SHAPE_H
#define KARAKURI_SHAPE_H

#include <karakuri/math.h>
#include <karakuri/status.h>

KK_BEGIN_DECLS

/// Shapes in their own frame S; z is the axis of all that have one. A compound is several shapes on one body.
///
/// | type         | size               | where it lies                                                     |
/// |--------------|--------------------|-------------------------------------------------------------------|
/// | plane        |                    | the half space z ≤ 0                                              |
/// | sphere       | radius             | centered                                                           |
/// | capsule      | radius, length     | centered; length is that between the centers of the half spheres   |
/// | cylinder     | radius, length     | centered                                                           |
/// | cone         | radius, length     | base at z = −length/2, tip at +length/2                           |
/// | ellipsoid    | three radii        | centered                                                           |
/// | box          | three edge lengths | centered                                                           |
/// | hull         |                    | the convex hull of a mesh                                         |
/// | mesh         |                    | the triangles themselves: a closed solid, or an open sheet        |
/// | height field |                    | a grid of heights, see kk_height_field_def                        |
typedef enum kk_shape_type {
    KK_SHAPE_PLANE,
    KK_SHAPE_SPHERE,
    KK_SHAPE_CAPSULE,
    KK_SHAPE_CYLINDER,
    KK_SHAPE_CONE,
    KK_SHAPE_ELLIPSOID,
    KK_SHAPE_BOX,
    KK_SHAPE_HULL,
    KK_SHAPE_MESH,
    KK_SHAPE_HEIGHT_FIELD,
} kk_shape_type;

enum { KK_SHAPE_TYPE_COUNT = KK_SHAPE_HEIGHT_FIELD + 1 };

/// What a shape is for.
enum {
    KK_SHAPE_COLLIDES = 1, ///< touches others
    KK_SHAPE_VISIBLE = 2,  ///< is drawn
};

/// One shape on a body, or in the world.
typedef struct kk_shape_def {
    const char *name; ///< NULL or "": none; otherwise unique among shapes
    int body;
    kk_shape_type type;
    kk_transform placement; ///< X_BS
    double size[3];         ///< by type, see above; m
    int mesh;               ///< hull, mesh: id of a mesh; −1 otherwise
    int height_field;       ///< height field: id; −1 otherwise
    int purpose;            ///< KK_SHAPE_COLLIDES | KK_SHAPE_VISIBLE
    double margin;          ///< ≥ 0: the shape is thickened by this much all round
    int material;           ///< id of a contact material, 0 the default one
    uint32_t group, mask;   ///< two shapes may touch where (a.group & b.mask) | (b.group & a.mask) is not 0
    kk_motion surface;      ///< velocity of the surface against the body, in S: conveyors, crawlers
    int visual;             ///< id of a visual; −1: none
    kk_origin origin;
} kk_shape_def;

/// A range of a mesh's faces and how it looks.
typedef struct kk_mesh_part {
    const char *name;
    const char *texture; ///< path as its file has it; "": none
    float color[4];      ///< red, green, blue, alpha in [0, 1]
    int has_color;
    int first_face, face_count;
} kk_mesh_part;

/// Triangles, counter-clockwise seen from outside.
typedef struct kk_mesh_def {
    const char *name;         ///< unique among meshes, not empty
    const char *file;         ///< it was read from; NULL or "": none
    const char *reference;    ///< to it as the model file has it, package://…; NULL or "": none
    kk_vec3 scale;            ///< that the file's coordinates were multiplied by
    const kk_vec3 *vertex;    ///< [vertex_count] scale applied
    const int32_t (*face)[3]; ///< [face_count]
    const kk_mesh_part *part; ///< [part_count] or NULL
    int vertex_count, face_count, part_count;
    kk_origin origin;
} kk_mesh_def;

/// Heights over a grid in the shape's xy plane: column c at x = (2c/(columns − 1) − 1) · half_x, row r at
/// y = (2r/(rows − 1) − 1) · half_y. Solid from the surface down to z = −base.
typedef struct kk_height_field_def {
    const char *name; ///< unique among height fields, not empty
    const char *file; ///< NULL or "": none
    int rows, columns;
    double half_x, half_y, base;
    const double *height; ///< [rows × columns] m
    kk_origin origin;
} kk_height_field_def;

/// What is drawn where a texture has no file.
typedef enum kk_pattern { KK_PATTERN_NONE, KK_PATTERN_FLAT, KK_PATTERN_GRADIENT, KK_PATTERN_CHECKER } kk_pattern;

/// How something looks. A texture's colors are multiplied by `color`.
typedef struct kk_visual_def {
    const char *name; ///< NULL or "": none
    float color[4];
    const char *texture; ///< path as the model file has it; NULL or "": none
    kk_pattern pattern;
    float pattern_color[2][3]; ///< a flat pattern has the first alone; a gradient goes from the first to the second
    float repeat[2];           ///< how often the texture lies on the surface, along x and y; 1
    int repeats_by_size;       ///< 1: how often on a meter
    kk_origin origin;
} kk_visual_def;

KK_END_DECLS
#endif
