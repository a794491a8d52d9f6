/// Meshes of the second exam, made by calls.
#ifndef KARAKURI_CLI_EXAM_SOLIDS_H
#define KARAKURI_CLI_EXAM_SOLIDS_H

#include "scene.h"

/// A ring about z: tubes of the given radius, `around` of them, with `sides` sides. Gives the mesh.
int exam_ring(scene *s, double radius, double tube, int around, int sides);
/// A square sheet at z = 0 of cells × cells pairs of triangles.
int exam_sheet(scene *s, double half, int cells);
/// Twelve corners at random on a ball: as a hull, a stone.
int exam_stone(scene *s, double radius, kk_random *random);
/// A free body with that mesh as its one shape; its inertia is that of a ball of `size` across.
int exam_add_mesh_body(scene *s, int mesh, kk_shape_type type, double mass, double size);

#endif
