// A grid of heights over a rectangle: the solid between the surface and a base below it.
//
// The rectangle is centered at the frame's origin; columns run along x, rows along y. Each cell is cut into two triangles
// along the diagonal from its lower left to its upper right sample. Ids follow from places: vertex row · columns + column,
// face 2 · cell (below the diagonal) and 2 · cell + 1, edge 3 · vertex + 0 (along x), + 1 (along y), + 2 (diagonal).
#ifndef KKI_GEOMETRY_HEIGHT_FIELD_H
#define KKI_GEOMETRY_HEIGHT_FIELD_H

#include "geometry/aabb.h"
#include <karakuri/allocator.h>
#include <karakuri/status.h>

struct kki_height_field {
    kk_allocator allocator;
    size_t block_size;
    int32_t rows, columns; ///< of samples, ≥ 2
    double size[2];        ///< edges of the rectangle along x, y
    double step[2];        ///< of a cell
    double base;           ///< z of the base, below all heights
    double least, greatest;
    double *height;  ///< [rows · columns], rows one after the other
    int32_t *region; ///< [faces] lowest face of the plane piece a face belongs to
};

/// @param height  [rows · columns], copied
/// @param base    z of the base; must lie below all heights
kk_status kki_height_field_create(int rows, int columns, double size_x, double size_y, const double *height,
                                  double base, const kk_allocator *allocator, kki_height_field **field,
                                  kk_error *error);
void kki_height_field_free(kki_height_field *field);

static inline int32_t kki_height_field_faces(const kki_height_field *f) {
    return 2 * (f->rows - 1) * (f->columns - 1);
}

static inline kk_vec3 kki_height_field_vertex(const kki_height_field *f, int32_t row, int32_t column) {
    return kk_vec3_make(-0.5 * f->size[0] + column * f->step[0], -0.5 * f->size[1] + row * f->step[1],
                        f->height[(int64_t)row * f->columns + column]);
}

/// Corners of a face, counter-clockwise from above, as rows and columns.
void kki_height_field_corners(const kki_height_field *f, int32_t face, int32_t row[3], int32_t column[3]);
/// Upward unit normal of a face.
kk_vec3 kki_height_field_normal(const kki_height_field *f, int32_t face);

/// Face across the edge from corner k to the next, −1 at the border.
int32_t kki_height_field_neighbor(const kki_height_field *f, int32_t face, int k);

/// Cells whose rectangle touches a box; false where there is none.
bool kki_height_field_cells(const kki_height_field *f, const kki_aabb *box, int32_t row[2], int32_t column[2]);
/// Height of the surface over a point of the rectangle; outside, of the nearest point of it.
double kki_height_field_at(const kki_height_field *f, double x, double y);
/// Whether a point is in the solid.
bool kki_height_field_holds(const kki_height_field *f, kk_vec3 p);
/// Whether a point lies on the surface of the solid: top, walls or base.
bool kki_height_field_is_on(const kki_height_field *f, kk_vec3 p, double tolerance);

/// Corners of the solid by number: samples of the top, then the four corners of the base.
kk_vec3 kki_height_field_corner(const kki_height_field *f, int32_t id);
/// The sample nearest to a point.
int32_t kki_height_field_nearest(const kki_height_field *f, kk_vec3 p);
/// The corner farthest along d, as far as climbing over the top from one comes in so many steps.
int32_t kki_height_field_climb(const kki_height_field *f, kk_vec3 d, int32_t from, int most);

#endif
