// Making the surface of a mesh, and nearest points on it; see surface.h.
#include "geometry/surface.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"

void kki_surface_free(kki_surface *surface) {
    if (surface) {
        const kk_allocator allocator = surface->allocator;
        kki_release(&allocator, surface, surface->block_size);
    }
}

// ---- normals and kinds

static kk_vec3 unit_or_zero(kk_vec3 v) {
    const double size = kk_vec3_norm(v);
    return size > 1e-150 ? kk_vec3_scale(v, 1 / size) : kk_vec3_make(0, 0, 0);
}

// dividing by the longest edge first keeps tiny and huge triangles from under- and overflowing
static kk_vec3 face_normal(const kki_surface *s, int32_t f) {
    const int32_t *v = s->face[f].vertex;
    const kk_vec3 a = kk_vec3_sub(s->vertex[v[1]], s->vertex[v[0]]), b = kk_vec3_sub(s->vertex[v[2]], s->vertex[v[0]]);
    const kk_vec3 n = kk_vec3_cross(a, b);
    const double size = kk_vec3_norm(n);
    const double scale = kk_vec3_dot(a, a) + kk_vec3_dot(b, b);
    if (!(size > 1e-14 * scale)) {
        return kk_vec3_make(0, 0, 0);
    }
    // division, not a product with the inverse: a normal along an axis comes out exact
    return kk_vec3_make(n.x / size, n.y / size, n.z / size);
}

static double six_volumes(const kki_surface *s) {
    double sum = 0;
    const kk_vec3 o = s->vertex_count > 0 ? s->vertex[0] : kk_vec3_make(0, 0, 0);
    for (int32_t f = 0; f < s->face_count; f++) {
        const int32_t *v = s->face[f].vertex;
        const kk_vec3 a = kk_vec3_sub(s->vertex[v[0]], o), b = kk_vec3_sub(s->vertex[v[1]], o);
        sum += kk_vec3_dot(a, kk_vec3_cross(b, kk_vec3_sub(s->vertex[v[2]], o)));
    }
    return sum;
}

static kki_edge_kind kind_of_edge(const kki_surface *s, const kki_edge *e) {
    if (e->face[0] < 0 || e->face[1] < 0) {
        return KKI_EDGE_BORDER;
    }
    const kk_vec3 along = unit_or_zero(kk_vec3_sub(s->vertex[e->vertex[1]], s->vertex[e->vertex[0]]));
    const kk_vec3 n0 = s->normal[e->face[0]], n1 = s->normal[e->face[1]];
    // face 0 lies to the left of the edge: the fold is convex where n0 × n1 runs along it
    const double sine = kk_vec3_dot(kk_vec3_cross(n0, n1), along), cosine = kk_vec3_dot(n0, n1);
    if (cosine > 0 && sine < KKI_FLAT_SINE && sine > -KKI_FLAT_SINE) {
        return KKI_EDGE_FLAT;
    }
    return sine >= 0 ? KKI_EDGE_CONVEX : KKI_EDGE_CONCAVE;
}

static void add_corner_normals(kki_surface *s, int32_t f) {
    for (int k = 0; k < 3; k++) {
        const int32_t *v = s->face[f].vertex;
        const kk_vec3 p = s->vertex[v[k]];
        const kk_vec3 a = kk_vec3_sub(s->vertex[v[(k + 1) % 3]], p), b = kk_vec3_sub(s->vertex[v[(k + 2) % 3]], p);
        const double angle = kk_atan2(kk_vec3_norm(kk_vec3_cross(a, b)), kk_vec3_dot(a, b));
        s->vertex_normal[v[k]] = kk_vec3_add(s->vertex_normal[v[k]], kk_vec3_scale(s->normal[f], angle));
    }
}

// A misoriented edge has face 1 running the same way: its face is turned over, so the edge counts as a border.
static bool runs_along(const kki_surface *s, int32_t f, int32_t from, int32_t to) {
    const int32_t *v = s->face[f].vertex;
    return (v[0] == from && v[1] == to) || (v[1] == from && v[2] == to) || (v[2] == from && v[0] == to);
}

static void find_kinds(kki_surface *s) {
    memset(s->vertex_is_flat, 1, (size_t)s->vertex_count);
    for (int32_t i = 0; i < s->edge_count; i++) {
        const kki_edge *e = &s->edge[i];
        kki_edge_kind kind = kind_of_edge(s, e);
        if (kind != KKI_EDGE_BORDER && !runs_along(s, e->face[1], e->vertex[1], e->vertex[0])) {
            kind = KKI_EDGE_BORDER;
        }
        s->edge_kind[i] = (uint8_t)kind;
        if (kind != KKI_EDGE_FLAT) {
            s->vertex_is_flat[e->vertex[0]] = s->vertex_is_flat[e->vertex[1]] = 0;
        }
    }
}

// No edge is a valley, and it is one piece: a closed surface that is convex everywhere bounds a convex body (Tietze and
// Nakajima 1928). Pieces without valleys are balls, each of Euler characteristic 2.
static bool find_convexity(const kki_surface *s) {
    int32_t used = 0;
    for (int32_t i = 0; i < s->vertex_count; i++) {
        used += s->vertex_first[i + 1] > s->vertex_first[i];
    }
    for (int32_t i = 0; i < s->edge_count; i++) {
        if (s->edge_kind[i] != KKI_EDGE_CONVEX && s->edge_kind[i] != KKI_EDGE_FLAT) {
            return false;
        }
    }
    return s->is_solid && used - s->edge_count + s->face_count == 2;
}

static int32_t root_of(int32_t *region, int32_t f) {
    while (region[f] != f) {
        region[f] = region[region[f]];
        f = region[f];
    }
    return f;
}

// the lower root stays, so that a region is named by its lowest face
static void find_regions(kki_surface *s) {
    for (int32_t f = 0; f < s->face_count; f++) {
        s->region[f] = f;
    }
    for (int32_t i = 0; i < s->edge_count; i++) {
        if (s->edge_kind[i] == KKI_EDGE_FLAT) {
            const int32_t a = root_of(s->region, s->edge[i].face[0]), b = root_of(s->region, s->edge[i].face[1]);
            s->region[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int32_t f = 0; f < s->face_count; f++) {
        s->region[f] = root_of(s->region, f);
    }
}

// turned over: corners 1 and 2 change places, so edges 0 and 2 do; each edge's faces change sides
static void turn_over(kki_surface *s) {
    for (int32_t f = 0; f < s->face_count; f++) {
        int32_t *v = s->face[f].vertex, *e = s->face_edge[f];
        int32_t swap = v[1];
        v[1] = v[2], v[2] = swap;
        swap = e[0];
        e[0] = e[2], e[2] = swap;
    }
    for (int32_t i = 0; i < s->edge_count; i++) {
        const int32_t swap = s->edge[i].face[0];
        s->edge[i].face[0] = s->edge[i].face[1];
        s->edge[i].face[1] = swap;
    }
}

static void find_normals(kki_surface *s) {
    for (int32_t v = 0; v < s->vertex_count; v++) {
        s->vertex_normal[v] = kk_vec3_make(0, 0, 0);
    }
    for (int32_t f = 0; f < s->face_count; f++) {
        s->normal[f] = face_normal(s, f);
        add_corner_normals(s, f);
    }
}

// ---- the object

static void place_arrays(kki_layout *l, kki_surface *s) {
    const size_t vertices = (size_t)s->vertex_count, faces = (size_t)s->face_count, edges = (size_t)s->edge_count;
    KKI_LAYOUT_ARRAY(l, s->vertex, vertices);
    KKI_LAYOUT_ARRAY(l, s->face, faces);
    KKI_LAYOUT_ARRAY(l, s->edge, edges);
    KKI_LAYOUT_ARRAY(l, s->face_edge, faces);
    KKI_LAYOUT_ARRAY(l, s->vertex_first, vertices + 1);
    KKI_LAYOUT_ARRAY(l, s->vertex_edge, 2 * edges);
    KKI_LAYOUT_ARRAY(l, s->star, 2 * edges);
    KKI_LAYOUT_ARRAY(l, s->normal, faces);
    KKI_LAYOUT_ARRAY(l, s->vertex_normal, vertices);
    KKI_LAYOUT_ARRAY(l, s->edge_kind, edges);
    KKI_LAYOUT_ARRAY(l, s->vertex_is_flat, vertices);
    KKI_LAYOUT_ARRAY(l, s->region, faces);
    KKI_LAYOUT_ARRAY(l, s->piece, vertices);
    KKI_LAYOUT_ARRAY(l, s->piece_vertex, (size_t)s->piece_count);
    KKI_LAYOUT_ARRAY(l, s->place, faces);
    KKI_LAYOUT_ARRAY(l, s->corner, faces);
    KKI_LAYOUT_ARRAY(l, s->leaf_normal, faces);
    KKI_LAYOUT_ARRAY(l, s->facet, faces);
    KKI_LAYOUT_ARRAY(l, s->tree.item, faces);
    KKI_LAYOUT_ARRAY(l, s->tree.node, (size_t)s->tree.node_count);
    KKI_LAYOUT_ARRAY(l, s->pairs.node, (size_t)s->pairs.node_count);
    KKI_LAYOUT_ARRAY(l, s->pairs.leaf, (size_t)s->pairs.leaf_count);
}

static kki_surface *make_block(const kki_surface *shape, const kk_allocator *allocator) {
    kki_surface s = *shape;
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof s);
    place_arrays(&layout, &s);
    s.block_size = layout.size;
    void *block = kki_allocate(allocator, layout.size);
    if (!block) {
        return NULL;
    }
    layout = kki_layout_over(block);
    kki_layout_take(&layout, 1, sizeof s);
    place_arrays(&layout, &s);
    return memcpy(block, &s, sizeof s);
}

static void copy_arrays(kki_surface *s, const kki_mesh *mesh, const kki_topology *t, const kki_tree *tree) {
    const size_t vertices = (size_t)s->vertex_count, faces = (size_t)s->face_count, edges = (size_t)s->edge_count;
    memcpy(s->vertex, mesh->vertex, vertices * sizeof *s->vertex);
    memcpy(s->face, mesh->face, faces * sizeof *s->face);
    memcpy(s->edge, t->edge, edges * sizeof *s->edge);
    memcpy(s->face_edge, t->face_edge, faces * sizeof *s->face_edge);
    memcpy(s->vertex_first, t->vertex_first, (vertices + 1) * sizeof *s->vertex_first);
    memcpy(s->vertex_edge, t->vertex_edge, 2 * edges * sizeof *s->vertex_edge);
    memcpy(s->tree.item, tree->item, faces * sizeof *s->tree.item);
    memcpy(s->tree.node, tree->node, (size_t)tree->node_count * sizeof *s->tree.node);
}

static void find_stars(kki_surface *s) {
    for (int32_t v = 0; v < s->vertex_count; v++) {
        for (int32_t i = s->vertex_first[v]; i < s->vertex_first[v + 1]; i++) {
            const kki_edge *e = &s->edge[s->vertex_edge[i]];
            const int32_t other = e->vertex[e->vertex[0] == v];
            s->star[i] = (kki_surface_star){s->vertex[other], other, s->vertex_first[other]};
        }
    }
}

static void find_pieces(kki_surface *s, const kki_topology *t) {
    for (int32_t v = 0; v < s->vertex_count; v++) {
        s->piece[v] = -1;
    }
    for (int32_t f = s->face_count - 1; f >= 0; f--) { // so the first face has the last word
        for (int k = 0; k < 3; k++) {
            s->piece[s->face[f].vertex[k]] = t->component[f];
        }
        s->piece_vertex[t->component[f]] = s->face[f].vertex[0];
    }
}

static double longest_edge(const kk_vec3 corner[3]) {
    double size2 = 0;
    for (int k = 0; k < 3; k++) {
        const kk_vec3 e = kk_vec3_sub(corner[(k + 1) % 3], corner[k]);
        size2 = kki_greater(size2, kk_vec3_dot(e, e));
    }
    return kk_sqrt(size2);
}

static int32_t place_beside(const kki_surface *s, int32_t face, int32_t edge) {
    const kki_edge *e = &s->edge[edge];
    const int32_t other = e->face[0] == face ? e->face[1] : e->face[0];
    return other >= 0 && other != face ? s->place[other] : -1;
}

static void fill_facet(const kki_surface *s, int32_t place, kki_surface_facet *f) {
    f->face = s->tree.item[place];
    f->region = s->region[f->face];
    f->size = longest_edge(s->corner[place]);
    for (int k = 0; k < 3; k++) {
        f->vertex[k] = s->face[f->face].vertex[k];
        f->vertex_is_flat[k] = s->vertex_is_flat[f->vertex[k]];
        f->edge[k] = s->face_edge[f->face][k];
        f->edge_kind[k] = s->edge_kind[f->edge[k]];
        f->beside[k] = place_beside(s, f->face, f->edge[k]);
    }
}

// ---- slabs

enum { SLAB_FACES = 1024 }; // of more a slab is as thick as a box

// across the mean of the normals, weighed by area
static kk_vec3 mean_normal(const kki_surface *s, int32_t first, int32_t count) {
    kk_vec3 sum = {0, 0, 0};
    for (int32_t i = first; i < first + count; i++) {
        const kk_vec3 *c = s->corner[i];
        sum = kk_vec3_add(sum, kk_vec3_cross(kk_vec3_sub(c[1], c[0]), kk_vec3_sub(c[2], c[0])));
    }
    const double norm = kk_vec3_norm(sum);
    return norm > 0 ? kk_vec3_scale(sum, 1 / norm) : sum;
}

static void set_slab(kki_pair_node *slabs, int lane, const float n[3], float middle, float half) {
    for (int k = 0; k < 3; k++) {
        slabs->n[k][lane] = n[k];
    }
    slabs->middle[lane] = middle;
    slabs->half[lane] = half;
}

static void fill_slab(const kki_surface *s, int32_t first, int32_t count, kki_pair_node *slabs, int lane) {
    set_slab(slabs, lane, (const float[3]){0, 0, 0}, 0, __builtin_inff());
    if (count > SLAB_FACES || count == 0) {
        return;
    }
    const kk_vec3 mean = mean_normal(s, first, count);
    const float n[3] = {(float)mean.x, (float)mean.y, (float)mean.z};
    const kk_vec3 m = {(double)n[0], (double)n[1], (double)n[2]}; // as rounded, so that the bounds are its own
    double low = __builtin_inf(), high = -__builtin_inf();
    for (int32_t i = 3 * first; i < 3 * (first + count); i++) {
        const double h = kk_vec3_dot(m, s->corner[i / 3][i % 3]);
        low = kki_lesser(low, h);
        high = kki_greater(high, h);
    }
    const float middle = (float)(0.5 * (low + high));
    if (kk_vec3_dot(m, m) > 0.5) {
        set_slab(slabs, lane, n, middle, kki_float_above(kki_greater(high - (double)middle, (double)middle - low)));
    }
}

// Items below a node are neighbors in the tree's order, and children stand behind their parents: from the last node on,
// each lane's range is known when it is asked for.
static void fill_slabs(kki_surface *s, int32_t *first_of, int32_t *count_of) {
    for (int32_t i = s->tree.node_count - 1; i >= 0; i--) {
        const kki_tree_node *n = &s->tree.node[i];
        int32_t low = INT32_MAX, sum = 0;
        for (int k = 0; k < 4; k++) {
            const bool is_leaf = n->count[k] > 0;
            const int32_t c = n->child[k], first = c < 0 ? 0 : is_leaf ? c : first_of[c];
            const int32_t count = c < 0 ? 0 : is_leaf ? n->count[k] : count_of[c];
            fill_slab(s, first, count, &s->pairs.node[i], k);
            low = count > 0 && first < low ? first : low;
            sum += count;
        }
        first_of[i] = low;
        count_of[i] = sum;
    }
}

// ---- leaves

static int32_t count_leaves(const kki_tree *t) {
    int32_t count = 0;
    for (int32_t at = 0; at < 4 * t->node_count; at++) {
        count += kki_tree_lane(t, at).count > 0;
    }
    return count;
}

// Leaves are numbered in the order of their items: neighbors in space are so in memory.
static void fill_leaves(kki_surface *s, int32_t *count_at) {
    memset(count_at, 0, (size_t)s->face_count * sizeof *count_at);
    for (int32_t at = 0; at < 4 * s->tree.node_count; at++) {
        const kki_tree_entry e = kki_tree_lane(&s->tree, at);
        if (e.count > 0) {
            count_at[e.child] = e.count;
        }
    }
    int32_t number = 0;
    for (int32_t i = 0; i < s->face_count; i++) {
        const int32_t count = count_at[i];
        if (count > 0) {
            kki_leaf_set(&s->pairs.leaf[number], (const kk_vec3(*)[3]) & s->corner[i], i, count);
            count_at[i] = number++;
        }
    }
    for (int32_t at = 0; at < 4 * s->tree.node_count; at++) {
        const kki_tree_entry e = kki_tree_lane(&s->tree, at);
        s->pairs.node[at >> 2].child[at & 3] = e.count > 0    ? -1 - count_at[e.child]
                                               : e.child >= 0 ? e.child
                                                              : KKI_PAIR_NONE;
    }
}

static void fill_boxes(kki_surface *s) {
    for (int32_t i = 0; i < s->tree.node_count; i++) {
        memcpy(s->pairs.node[i].lower, s->tree.node[i].lower, sizeof s->tree.node[i].lower);
        memcpy(s->pairs.node[i].upper, s->tree.node[i].upper, sizeof s->tree.node[i].upper);
    }
}

static void fill(kki_surface *s, const kki_mesh *mesh, const kki_topology *t, const kki_tree *tree) {
    copy_arrays(s, mesh, t, tree);
    find_pieces(s, t);
    find_stars(s);
    s->is_solid = t->check.is_closed && t->check.is_oriented;
    if (s->is_solid && six_volumes(s) < 0) {
        turn_over(s);
    }
    find_normals(s);
    find_kinds(s);
    s->is_convex = find_convexity(s);
    find_regions(s);
    s->box = kki_aabb_empty();
    for (int32_t i = 0; i < s->face_count; i++) {
        for (int k = 0; k < 3; k++) {
            s->corner[i][k] = s->vertex[s->face[s->tree.item[i]].vertex[k]];
            s->box = kki_aabb_join(s->box, kki_aabb_of_point(s->corner[i][k]));
        }
        s->leaf_normal[i] = s->normal[s->tree.item[i]];
        s->place[s->tree.item[i]] = i;
    }
    for (int32_t i = 0; i < s->face_count; i++) {
        fill_facet(s, i, &s->facet[i]);
    }
}

static kk_status check_range(const kki_mesh *mesh, kk_error *error) {
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const kk_vec3 p = mesh->vertex[v];
        const double size = kki_greater(__builtin_fabs(p.x), kki_greater(__builtin_fabs(p.y), __builtin_fabs(p.z)));
        if (!(size <= KKI_SURFACE_FAR)) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "mesh vertex %d lies farther than 1e15 m from the origin; scale the mesh", (int)v);
        }
    }
    return KK_OK;
}

static void boxes_of_faces(const kki_mesh *mesh, kki_aabb *box) {
    for (int32_t f = 0; f < mesh->face_count; f++) {
        box[f] = kki_aabb_empty();
        for (int k = 0; k < 3; k++) {
            box[f] = kki_aabb_join(box[f], kki_aabb_of_point(mesh->vertex[mesh->face[f].vertex[k]]));
        }
    }
}

// what is needed while the surface is made
typedef struct making {
    kki_topology *topology;
    kki_aabb *box;
    kki_tree tree;
    int32_t *range; // [2 nodes]
} making;

static kk_status begin_making(making *m, const kki_mesh *mesh, const kk_allocator *allocator) {
    const size_t faces = (size_t)mesh->face_count, nodes = (size_t)kki_tree_most_nodes(mesh->face_count);
    m->box = kki_allocate_array(allocator, faces, sizeof *m->box);
    m->tree.item = kki_allocate_array(allocator, faces, sizeof *m->tree.item);
    m->tree.node = kki_allocate_array(allocator, nodes, sizeof *m->tree.node);
    m->range = kki_allocate_array(allocator, 2 * nodes, sizeof *m->range);
    if (!m->box || !m->tree.item || !m->tree.node || !m->range) {
        return KK_OUT_OF_MEMORY;
    }
    boxes_of_faces(mesh, m->box);
    kki_tree_build(&m->tree, m->box, mesh->face_count, KKI_LEAF);
    return kki_topology_create(mesh, allocator, &m->topology);
}

static void end_making(making *m, const kki_mesh *mesh, const kk_allocator *allocator) {
    const size_t faces = (size_t)mesh->face_count, nodes = (size_t)kki_tree_most_nodes(mesh->face_count);
    kki_release_array(allocator, m->box, faces, sizeof *m->box);
    kki_release_array(allocator, m->tree.item, faces, sizeof *m->tree.item);
    kki_release_array(allocator, m->tree.node, nodes, sizeof *m->tree.node);
    kki_release_array(allocator, m->range, 2 * nodes, sizeof *m->range);
    kki_topology_free(m->topology);
}

kk_status kki_surface_create(const kki_mesh *mesh, const kk_allocator *allocator, kki_surface **surface,
                             kk_error *error) {
    *surface = NULL;
    kk_status status = check_range(mesh, error);
    if (status != KK_OK) {
        return status;
    }
    const kk_allocator owner = kki_allocator_or_default(allocator);
    making m = {0};
    status = begin_making(&m, mesh, &owner);
    if (status == KK_OK) {
        const kki_surface shape = {.allocator = owner,
                                   .vertex_count = mesh->vertex_count,
                                   .face_count = mesh->face_count,
                                   .edge_count = m.topology->edge_count,
                                   .piece_count = m.topology->check.components,
                                   .pairs = {m.tree.node_count, count_leaves(&m.tree), NULL, NULL},
                                   .tree = {.node_count = m.tree.node_count, .item_count = m.tree.item_count}};
        *surface = make_block(&shape, &owner);
        status = *surface ? KK_OK : KK_OUT_OF_MEMORY;
    }
    if (*surface) {
        fill(*surface, mesh, m.topology, &m.tree);
        fill_slabs(*surface, m.range, m.range + m.tree.node_count);
        fill_leaves(*surface, m.range);
        fill_boxes(*surface);
    }
    end_making(&m, mesh, &owner);
    return status == KK_OK ? KK_OK : kki_error_set(error, status, "surface of a mesh: out of memory");
}

// ---- nearest points

static kki_triangle_point on_edge(const kk_vec3 corner[3], int k, double t) {
    const kk_vec3 a = corner[k], b = corner[(k + 1) % 3];
    return (kki_triangle_point){kk_vec3_add(a, kk_vec3_scale(kk_vec3_sub(b, a), t)), 3 + k};
}

// nearest point of a segment from a to b as a fraction, clamped
static double fraction_along(kk_vec3 a, kk_vec3 b, kk_vec3 p) {
    const kk_vec3 u = kk_vec3_sub(b, a);
    const double size2 = kk_vec3_dot(u, u), t = kk_vec3_dot(kk_vec3_sub(p, a), u);
    return !(t > 0) ? 0 : !(t < size2) ? 1 : t / size2;
}

static kki_triangle_point closest_on_edges(const kk_vec3 corner[3], kk_vec3 p) {
    kki_triangle_point best = {corner[0], 0};
    double least = __builtin_inf();
    for (int k = 0; k < 3; k++) {
        const double t = fraction_along(corner[k], corner[(k + 1) % 3], p);
        kki_triangle_point q = on_edge(corner, k, t);
        if (t <= 0 || t >= 1) {
            q.feature = t <= 0 ? k : (k + 1) % 3;
            q.p = corner[q.feature];
        }
        const kk_vec3 r = kk_vec3_sub(p, q.p);
        if (kk_vec3_dot(r, r) < least) {
            least = kk_vec3_dot(r, r);
            best = q;
        }
    }
    return best;
}

kki_triangle_point kki_triangle_closest(const kk_vec3 corner[3], kk_vec3 p) {
    const kk_vec3 u = kk_vec3_sub(corner[1], corner[0]), v = kk_vec3_sub(corner[2], corner[0]);
    const kk_vec3 n = kk_vec3_cross(u, v), r = kk_vec3_sub(p, corner[0]);
    const double size2 = kk_vec3_dot(n, n);
    // barycentric coordinates of the projection, times size2
    const double b = kk_vec3_dot(kk_vec3_cross(r, v), n), c = kk_vec3_dot(kk_vec3_cross(u, r), n);
    if (size2 > 0 && b >= 0 && c >= 0 && b + c <= size2) {
        const kk_vec3 q = kk_vec3_add(corner[0], kk_vec3_add(kk_vec3_scale(u, b / size2), kk_vec3_scale(v, c / size2)));
        return (kki_triangle_point){q, 6};
    }
    return closest_on_edges(corner, p);
}

// steepest first
typedef struct climb {
    const kki_surface *s;
    kk_vec3 d;
    double best;
    int32_t at, first; // and where its star begins
} climb;

static climb begin_climb(const kki_surface *s, kk_vec3 d, int32_t from) {
    return (climb){s, d, kk_vec3_dot(d, s->vertex[from]), from, s->vertex_first[from]};
}

// To the highest neighbor; false where there is none higher.
static inline bool step_up(climb *c) {
    const int32_t from = c->at;
    for (const kki_surface_star *q = &c->s->star[c->first], *end = &c->s->star[c->s->vertex_first[from + 1]]; q < end;
         q++) {
        const double height = kk_vec3_dot(c->d, q->p);
        c->at = height > c->best ? q->vertex : c->at;
        c->first = height > c->best ? q->first : c->first;
        c->best = height > c->best ? height : c->best;
    }
    return c->at != from;
}

void kki_surface_climb(const kki_surface *a, kk_vec3 a_d, const kki_surface *b, kk_vec3 b_d, int most, double enough,
                       int32_t at[2]) {
    climb p = begin_climb(a, a_d, at[0]), q = begin_climb(b, b_d, at[1]);
    bool goes_on[2] = {true, true};
    for (int step = 0; step < most && (goes_on[0] || goes_on[1]) && p.best + q.best <= enough; step++) {
        goes_on[0] = goes_on[0] && step_up(&p);
        goes_on[1] = goes_on[1] && step_up(&q);
    }
    at[0] = p.at;
    at[1] = q.at;
}

int32_t kki_surface_climb_one(const kki_surface *s, kk_vec3 d, int32_t from, int most) {
    climb p = begin_climb(s, d, from);
    for (int step = 0; step < most && step_up(&p); step++) {
    }
    return p.at;
}

kk_vec3 kki_surface_pseudo_normal(const kki_surface *s, int32_t face, int feature) {
    if (feature < 3) {
        return s->vertex_normal[s->face[face].vertex[feature]];
    }
    if (feature == 6) {
        return s->normal[face];
    }
    const kki_edge *e = &s->edge[s->face_edge[face][feature - 3]];
    const int32_t other = e->face[0] == face ? e->face[1] : e->face[0];
    return other < 0 ? s->normal[face] : kk_vec3_add(s->normal[face], s->normal[other]);
}

static void try_face(const kki_surface *s, int32_t place, kk_vec3 p, double *least, kki_surface_point *best) {
    const kki_triangle_point q = kki_triangle_closest(s->corner[place], p);
    const kk_vec3 r = kk_vec3_sub(p, q.p);
    const double d2 = kk_vec3_dot(r, r);
    const int32_t face = s->tree.item[place];
    if (d2 < *least || (d2 == *least && (best->face < 0 || face < best->face))) {
        *least = d2;
        *best = (kki_surface_point){.p = q.p, .face = face, .feature = q.feature};
    }
}

// lanes nearer than the best so far, the nearest on top
static int push_nearer(const kki_tree_node *n, const kki_float4 p[3], float least, kki_ray_entry *stack, int depth) {
    const kki_float4 d2 = kki_tree_distance2(n, p);
    const int bottom = depth;
    for (int lane = 0; lane < 4; lane++) {
        if (n->child[lane] < 0 || d2[lane] > least) {
            continue;
        }
        int at = depth++;
        for (; at > bottom && stack[at - 1].near < d2[lane]; at--) {
            stack[at] = stack[at - 1];
        }
        stack[at] = (kki_ray_entry){n->child[lane], n->count[lane], d2[lane]};
    }
    return depth;
}

static void search_tree(const kki_surface *s, kk_vec3 p, double *least, kki_surface_point *best) {
    const kki_float4 q[3] = {kki_float4_all((float)p.x), kki_float4_all((float)p.y), kki_float4_all((float)p.z)};
    kki_ray_entry stack[KKI_TREE_STACK];
    int depth = s->tree.item_count > 0;
    stack[0] = (kki_ray_entry){0, 0, 0};
    while (depth > 0) {
        const kki_ray_entry top = stack[--depth];
        const float most = kki_tree_widened2(p, kk_sqrt(*least));
        if (top.near > most) {
            continue;
        }
        if (top.count == 0) {
            depth = push_nearer(&s->tree.node[top.child], q, most, stack, depth);
        }
        for (int32_t i = 0; i < top.count; i++) {
            try_face(s, top.child + i, p, least, best);
        }
    }
}

kki_surface_point kki_surface_closest(const kki_surface *s, kk_vec3 p, double limit) {
    kki_surface_point best = {.face = -1};
    double least = limit * limit;
    search_tree(s, p, &least, &best);
    if (best.face >= 0) {
        const kk_vec3 n = kki_surface_pseudo_normal(s, best.face, best.feature);
        best.distance = kk_sqrt(least);
        best.is_inside = s->is_solid && kk_vec3_dot(kk_vec3_sub(p, best.p), n) < 0;
    }
    return best;
}

bool kki_surface_holds(const kki_surface *s, kk_vec3 p, kki_surface_point *at) {
    const kki_aabb point = kki_aabb_of_point(p);
    if (!s->is_solid || !kki_aabb_contains(&s->box, &point)) {
        return false;
    }
    *at = kki_surface_closest(s, p, 2 * KKI_SURFACE_FAR);
    return at->face >= 0 && at->is_inside;
}
