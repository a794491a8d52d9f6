/// Forms: triangles with normals, as they are drawn. Made from shapes of a model, and a few signs.
#ifndef KARAKURI_CLI_RENDER_FORM_H
#define KARAKURI_CLI_RENDER_FORM_H

#include <karakuri/karakuri.h>
#include <stdbool.h>
#include <stdint.h>

#include "vector.h"

typedef struct form {
    v3 *position, *normal; ///< [vertex_count]
    int32_t (*face)[3];    ///< [face_count]
    v3 *color;             ///< [face_count] NULL: that of the thing
    int vertex_count, face_count, vertex_room, face_room;
    v3 low, high; ///< bounds
} form;

void form_free(form *f);
int form_add_vertex(form *f, v3 position, v3 normal);
void form_add_face(form *f, int a, int b, int c);
/// Settles the bounds; to be called when all is added.
void form_finish(form *f);

/// In their shape's frame, sizes as in kk_shape_def.
/// @param n  corners around
void form_sphere(form *f, v3 radii, int n);
void form_capsule(form *f, float radius, float length);
/// From radius `low` at −length/2 to radius `high` at +length/2.
void form_cone(form *f, float low, float high, float length);
/// Edges are rounded a little, so that they catch the light.
void form_box(form *f, v3 size);
void form_mesh(form *f, const kk_mesh_def *mesh);
void form_height_field(form *f, const kk_height_field_def *h);
/// A flat polygon, seen from both sides. @param point [count] in order
void form_polygon(form *f, const v3 *point, int count);
/// The sign of a center of mass: a ball of quarters, black and yellow.
void form_balance(form *f, float radius);
/// A flat ring in the plane z = 0.
void form_ring(form *f, float inner, float outer);

/// Any shape but a plane; false where there is nothing to draw.
bool form_of_shape(form *f, const kk_model *model, const kk_shape_def *shape);

#endif
