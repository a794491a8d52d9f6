/// Walls and base of a height field as facets, by places beyond those of its faces.
#ifndef KKI_COLLISION_FACET_SIDE_H
#define KKI_COLLISION_FACET_SIDE_H

#include "collision/facet.h"

/// The first of the two triangles of the wall below a border cell: sides −y, +x, +y, −x, the cell's column or row.
int32_t kki_facet_wall_place(const kki_height_field *h, int side, int32_t cell);
/// The first of the base's two triangles.
int32_t kki_facet_base_place(const kki_height_field *h);
void kki_facet_load_side(const kki_height_field *h, int32_t place, kki_facet *facet);

/// Whether a vertex of such a facet is at the base; the places of a corner's neighbors there.
bool kki_facet_is_foot(const kki_height_field *h, int32_t vertex);
int kki_facet_around_foot(const kki_height_field *h, kk_vec3 v, kk_vec3 around[3]);

#endif
