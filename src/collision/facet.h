// One triangle of a mesh or height field with what contact needs to know of its neighborhood.
//
// Which directions may a contact at a triangle have? Those along which the feature that touches is a local summit of the
// surface: the face along its normal, an edge or a vertex along d where nothing next to it reaches farther along d. This
// is Kuroda's choice by the neighboring faces (S1 5.4.2, his q0 and q1) in a form that serves faces, edges and vertices,
// solids and sheets alike. A flat inner edge is a summit along the normal only, so nothing can stumble over it.
#ifndef KKI_COLLISION_FACET_H
#define KKI_COLLISION_FACET_H

#include "geometry/height_field.h"
#include "geometry/surface.h"

/// A mesh, or a height field, or (X a triangle of a mesh) neither.
typedef struct kki_facets {
    const kki_surface *surface;
    const kki_height_field *field;
} kki_facets;

typedef struct kki_facet {
    const kki_surface *surface; ///< where it comes from a mesh; its neighbors are then looked up when needed
    kk_vec3 v[3], n;
    int32_t place; ///< by which it was loaded
    int32_t face, region;
    int32_t vertex[3], edge[3];
    uint8_t edge_kind[3]; ///< kki_edge_kind
    bool vertex_is_flat[3];
    bool has_neighbor[3]; ///< of a height field, as the next two
    kk_vec3 opposite[3];  ///< the neighbor's corner across edge k
    kk_vec3 n_neighbor[3];
    bool is_solid; ///< touched from outside only
    bool is_prism; ///< solid down to `base`, as columns of a height field are
    double base;
    double size; ///< longest edge
} kki_facet;

/// Fills the facet of a face of a height field or of a wall or the base below it (facet_side.h), or of a mesh's face by its place in the order of the tree's leaves; false
/// for a face without area, which touches nothing that its neighbors do not.
bool kki_facet_load(const kki_facets *source, int32_t place, kki_facet *facet);

/// Largest and smallest d · x over the facet, columns down to the base included.
static inline void kki_facet_range(const kki_facet *f, kk_vec3 d, double *low, double *high) {
    const double a = kk_vec3_dot(d, f->v[0]), b = kk_vec3_dot(d, f->v[1]), c = kk_vec3_dot(d, f->v[2]);
    *low = kki_lesser(a, kki_lesser(b, c));
    *high = kki_greater(a, kki_greater(b, c));
    for (int k = 0; k < 3 && f->is_prism; k++) {
        const double foot = kk_vec3_dot(d, kk_vec3_make(f->v[k].x, f->v[k].y, f->base));
        *low = kki_lesser(*low, foot);
        *high = kki_greater(*high, foot);
    }
}

/// Normal of the face across edge k; false where there is none.
bool kki_facet_normal_beside(const kki_facet *f, int k, kk_vec3 *n);
/// Whether edge k is a summit along unit d; flat edges and vertices leave that to their faces' normals.
bool kki_facet_edge_is_summit(const kki_facet *f, int k, kk_vec3 d);
/// The feature of the facet farthest along unit d, as in kki_triangle_point: several corners that are level to the flat
/// angle make an edge or the face.
int kki_facet_top(const kki_facet *f, kk_vec3 d);
/// Whether the feature of the facet farthest along unit d is a summit along d, other than the face along its normal.
bool kki_facet_is_summit(const kki_facets *source, const kki_facet *f, kk_vec3 d);

#endif
