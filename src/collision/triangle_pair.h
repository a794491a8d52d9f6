/// Two triangles seen along the products of their edges, four axes at a time.
#ifndef KKI_COLLISION_TRIANGLE_PAIR_H
#define KKI_COLLISION_TRIANGLE_PAIR_H

#include <stdbool.h>

#include <karakuri/math.h>

/// Whether the product of an edge of each proves that two triangles are farther apart than `limit`, beyond doubt of
/// floats: "no" says nothing, "yes" is what mesh_axis.c comes to for more.
bool kki_edges_part(const kk_vec3 a[3], const kk_vec3 b[3], double limit);

#endif
