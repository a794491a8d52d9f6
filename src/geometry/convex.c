// Convex polyhedra: from the triangles of a hull to polygons, edges and neighbors; the farthest corner.
//
// The farthest corner along d is found by a search over all corners in lanes where there are few, and by climbing along
// edges where there are many: on a convex polyhedron a corner without a higher neighbor is the highest (the simplex
// method), so a climb from the corner of the last call takes few steps.
#include "geometry/convex.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "geometry/lanes.h"
#include "geometry/mass.h"

void kki_convex_free(kki_convex *convex) {
    if (convex) {
        const kk_allocator allocator = convex->allocator;
        kki_release(&allocator, convex, convex->block_size);
    }
}

// ---- making

static int32_t facet_of(const kki_mesh *hull, int32_t face) {
    return hull->facet ? hull->facet[face] : face;
}

static bool is_sharp(const kki_mesh *hull, const kki_edge *edge) {
    return facet_of(hull, edge->face[0]) != facet_of(hull, edge->face[1]);
}

static size_t place(kki_layout *layout, kki_convex *c) {
    const size_t v = (size_t)c->vertex_count, e2 = 2 * (size_t)c->edge_count, padded = (size_t)c->padded_count;
    (void)kki_layout_take(layout, 1, sizeof *c);
    KKI_LAYOUT_ARRAY(layout, c->vertex, v);
    KKI_LAYOUT_ARRAY(layout, c->x, padded);
    KKI_LAYOUT_ARRAY(layout, c->y, padded);
    KKI_LAYOUT_ARRAY(layout, c->z, padded);
    KKI_LAYOUT_ARRAY(layout, c->face, (size_t)c->face_count);
    KKI_LAYOUT_ARRAY(layout, c->loop, e2);
    KKI_LAYOUT_ARRAY(layout, c->edge, (size_t)c->edge_count);
    KKI_LAYOUT_ARRAY(layout, c->neighbor_from, v + 1);
    KKI_LAYOUT_ARRAY(layout, c->neighbor, e2);
    KKI_LAYOUT_ARRAY(layout, c->around_from, v + 1);
    KKI_LAYOUT_ARRAY(layout, c->around, e2);
    return layout->size;
}

static void copy_vertices(kki_convex *c, const kki_mesh *hull) {
    memcpy(c->vertex, hull->vertex, (size_t)c->vertex_count * sizeof *c->vertex);
    for (int32_t i = 0; i < c->padded_count; i++) {
        const kk_vec3 p = c->vertex[i < c->vertex_count ? i : 0];
        c->x[i] = p.x, c->y[i] = p.y, c->z[i] = p.z;
    }
}

static void make_edges(kki_convex *c, const kki_mesh *hull, const kki_topology *t) {
    int32_t n = 0;
    for (int32_t i = 0; i < t->edge_count; i++) {
        const kki_edge *e = &t->edge[i];
        if (is_sharp(hull, e)) {
            c->edge[n++] = (kki_convex_edge){{e->vertex[0], e->vertex[1]},
                                             {facet_of(hull, e->face[0]), facet_of(hull, e->face[1])}};
        }
    }
}

// Corners of every face in order: the edges of one face chained through next[] from its lowest corner.
static void make_loops(kki_convex *c, int32_t *next) {
    for (int32_t f = 0; f < c->face_count; f++) {
        c->face[f].count = 0;
    }
    for (int32_t i = 0; i < c->edge_count; i++) {
        c->face[c->edge[i].face[0]].count++;
        c->face[c->edge[i].face[1]].count++;
    }
    int32_t at = 0;
    for (int32_t f = 0; f < c->face_count; f++) {
        c->face[f].first = at;
        at += c->face[f].count;
        c->face[f].count = 0;
    }
    // first the half-edges of a face in any order, as pairs in loop (start) and next (end)
    for (int32_t i = 0; i < c->edge_count; i++) {
        for (int side = 0; side < 2; side++) {
            kki_convex_face *f = &c->face[c->edge[i].face[side]];
            c->loop[f->first + f->count] = c->edge[i].vertex[side];
            next[f->first + f->count++] = c->edge[i].vertex[1 - side];
        }
    }
}

static void chain_loop(kki_convex *c, kki_convex_face *f, int32_t *next) {
    int32_t *start = c->loop + f->first, *end = next + f->first;
    for (int32_t i = 1; i < f->count; i++) { // a selection: faces are small
        int32_t k = i;
        while (k < f->count - 1 && start[k] != end[i - 1]) {
            k++;
        }
        const int32_t s = start[i], e = end[i];
        start[i] = start[k], end[i] = end[k];
        start[k] = s, end[k] = e;
    }
}

static void make_plane(const kki_convex *c, kki_convex_face *f) {
    const int32_t *v = c->loop + f->first;
    kk_vec3 n = {0, 0, 0};
    for (int32_t i = 1; i + 1 < f->count; i++) {
        const kk_vec3 a = kk_vec3_sub(c->vertex[v[i]], c->vertex[v[0]]);
        n = kk_vec3_add(n, kk_vec3_cross(a, kk_vec3_sub(c->vertex[v[i + 1]], c->vertex[v[0]])));
    }
    const double length = kk_vec3_norm(n);
    f->normal = length > 0 ? kk_vec3_scale(n, 1 / length) : n;
    f->offset = kk_vec3_dot(f->normal, c->vertex[v[0]]);
    for (int32_t i = 1; i < f->count; i++) {
        const double d = kk_vec3_dot(f->normal, c->vertex[v[i]]);
        f->offset = d > f->offset ? d : f->offset;
    }
}

static void make_neighbors(kki_convex *c) {
    const size_t size = ((size_t)c->vertex_count + 1) * sizeof *c->neighbor_from;
    memset(c->neighbor_from, 0, size);
    for (int32_t i = 0; i < c->edge_count; i++) {
        c->neighbor_from[c->edge[i].vertex[0] + 1]++;
        c->neighbor_from[c->edge[i].vertex[1] + 1]++;
    }
    for (int32_t v = 0; v < c->vertex_count; v++) {
        c->neighbor_from[v + 1] += c->neighbor_from[v];
    }
    memcpy(c->around_from, c->neighbor_from, size); // as many faces as edges meet at a corner
    for (int32_t i = 0; i < c->edge_count; i++) {
        for (int side = 0; side < 2; side++) {
            c->neighbor[c->neighbor_from[c->edge[i].vertex[side]]++] = c->edge[i].vertex[1 - side];
        }
    }
    for (int32_t f = 0; f < c->face_count; f++) {
        for (int32_t i = 0; i < c->face[f].count; i++) {
            c->around[c->around_from[c->loop[c->face[f].first + i]]++] = f;
        }
    }
    for (int32_t v = c->vertex_count; v > 0; v--) { // the counters ran to the end of each; move back
        c->neighbor_from[v] = c->neighbor_from[v - 1];
        c->around_from[v] = c->around_from[v - 1];
    }
    c->neighbor_from[0] = c->around_from[0] = 0;
}

static int seed_class(kk_vec3 d) {
    const double x = d.x < 0 ? -d.x : d.x, y = d.y < 0 ? -d.y : d.y, z = d.z < 0 ? -d.z : d.z;
    const int axis = x >= y ? (x >= z ? 0 : 2) : (y >= z ? 1 : 2);
    return 8 * axis + (d.x < 0) + 2 * (d.y < 0) + 4 * (d.z < 0);
}

static int32_t highest(const kki_convex *c, kk_vec3 d) {
    int32_t best = 0;
    for (int32_t i = 1; i < c->vertex_count; i++) {
        best = kk_vec3_dot(c->vertex[i], d) > kk_vec3_dot(c->vertex[best], d) ? i : best;
    }
    return best;
}

static void make_seeds(kki_convex *c) {
    for (int k = 0; k < KKI_CONVEX_SEEDS; k++) {
        kk_vec3 d = {k & 1 ? -1 : 1, k & 2 ? -1 : 1, k & 4 ? -1 : 1};
        if (k / 8 == 0) {
            d.x *= 2;
        } else if (k / 8 == 1) {
            d.y *= 2;
        } else {
            d.z *= 2;
        }
        c->seed[k] = highest(c, d);
    }
}

static void make_radii(kki_convex *c, kk_vec3 centroid) {
    c->centroid = centroid;
    c->outer = c->extent = 0;
    for (int32_t i = 0; i < c->vertex_count; i++) {
        const double r = kk_vec3_norm(kk_vec3_sub(c->vertex[i], centroid));
        const double q = kk_vec3_norm(c->vertex[i]);
        c->outer = r > c->outer ? r : c->outer;
        c->extent = q > c->extent ? q : c->extent;
    }
    c->inner = c->outer;
    for (int32_t f = 0; f < c->face_count; f++) {
        const double r = c->face[f].offset - kk_vec3_dot(c->face[f].normal, centroid);
        c->inner = r < c->inner ? r : c->inner;
    }
    c->inner = c->inner > 0 ? c->inner : 0;
}

static void count_parts(kki_convex *c, const kki_mesh *hull, const kki_topology *t) {
    c->vertex_count = hull->vertex_count;
    c->padded_count = (hull->vertex_count + KKI_CONVEX_LANES - 1) / KKI_CONVEX_LANES * KKI_CONVEX_LANES;
    c->face_count = hull->face_count ? 1 + facet_of(hull, hull->face_count - 1) : 0;
    c->edge_count = 0;
    for (int32_t i = 0; i < t->edge_count; i++) {
        c->edge_count += is_sharp(hull, &t->edge[i]);
    }
}

static void fill(kki_convex *c, const kki_mesh *hull, const kki_topology *t, kk_vec3 centroid, int32_t *next) {
    copy_vertices(c, hull);
    make_edges(c, hull, t);
    make_loops(c, next);
    for (int32_t f = 0; f < c->face_count; f++) {
        chain_loop(c, &c->face[f], next);
        make_plane(c, &c->face[f]);
    }
    make_neighbors(c);
    make_seeds(c);
    make_radii(c, centroid);
}

static kk_status make(const kki_mesh *hull, const kki_topology *t, kk_vec3 centroid, const kk_allocator *allocator,
                      kki_convex **convex) {
    kki_convex head = {.allocator = *allocator};
    count_parts(&head, hull, t);
    kki_layout layout = kki_layout_over(NULL);
    head.block_size = place(&layout, &head);
    const size_t halves = 2 * (size_t)head.edge_count;
    unsigned char *block = kki_allocate(allocator, head.block_size);
    int32_t *next = kki_allocate_array(allocator, halves, sizeof *next);
    if (block && next) {
        layout = kki_layout_over(block);
        (void)place(&layout, &head);
        fill(&head, hull, t, centroid, next);
        memcpy(block, &head, sizeof head);
        *convex = (kki_convex *)(void *)block;
    } else {
        kki_release(allocator, block, head.block_size);
    }
    kki_release_array(allocator, next, halves, sizeof *next);
    return block && next ? KK_OK : KK_OUT_OF_MEMORY;
}

kk_status kki_convex_create(const kki_mesh *hull, const kk_allocator *allocator, kki_convex **convex, kk_error *error) {
    const kk_allocator memory = kki_allocator_or_default(allocator);
    *convex = NULL;
    kki_topology *t = NULL;
    kk_status status = kki_topology_create(hull, &memory, &t);
    if (status != KK_OK) {
        return status;
    }
    kki_mass mass = {0};
    if (!t->check.is_closed || !t->check.is_oriented || !t->check.is_manifold) {
        status = kki_error_set(error, KK_INVALID_ARGUMENT,
                               "convex: the mesh is not closed; make it by the hull of its points");
    } else {
        status = kki_mass_of_mesh(hull, KKI_MASS_SOLID, &memory, &mass, NULL, error);
    }
    if (status == KK_OK) {
        status = make(hull, t, mass.center, &memory, convex);
    }
    kki_topology_free(t);
    return status;
}

// ---- the farthest corner

static int climb(const kki_convex *c, kk_vec3 d, int at) {
    double best = kk_vec3_dot(c->vertex[at], d);
    for (int steps = 0; steps < c->vertex_count; steps++) {
        int higher = -1;
        for (int32_t i = c->neighbor_from[at]; i < c->neighbor_from[at + 1]; i++) {
            const double value = kk_vec3_dot(c->vertex[c->neighbor[i]], d);
            if (value > best) {
                best = value;
                higher = c->neighbor[i];
            }
        }
        if (higher < 0) {
            break;
        }
        at = higher;
    }
    return at;
}

int kki_convex_support(const kki_convex *c, kk_vec3 d, int hint) {
    if (c->vertex_count >= KKI_CONVEX_CLIMB_FROM) {
        return climb(c, d, hint >= 0 && hint < c->vertex_count ? hint : c->seed[seed_class(d)]);
    }
    return kki_lanes_farthest(c->x, c->y, c->z, c->padded_count, d);
}
