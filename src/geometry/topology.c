// Edges of a mesh (S1 5.1.1) and the checks on its surface.
//
// Every face gives three half-edges. Sorted by their two vertices, those of one edge stand together, in the order of
// the faces, since the sort is stable. A group of two that run against each other is the clean case; of a larger group
// the halves that run against each other are paired in order. Ids follow from the vertices and faces alone.
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/sets.h"
#include "base/sort.h"
#include "geometry/mesh.h"

typedef struct half_edges {
    kki_sort_item *item; // key: lower vertex, higher vertex; payload: 2 (3 face + corner) + runs from lower to higher
    kki_sort_item *scratch;
    size_t count;
} half_edges;

void kki_topology_free(kki_topology *topology) {
    if (topology) {
        const kk_allocator allocator = topology->allocator;
        kki_release(&allocator, topology, topology->block_size);
    }
}

static kki_sort_item half_edge(const kki_mesh *mesh, int32_t face, int corner) {
    const int32_t a = mesh->face[face].vertex[corner], b = mesh->face[face].vertex[(corner + 1) % 3];
    const uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    return (kki_sort_item){low << 32 | high, 2 * (3 * (uint64_t)face + (uint64_t)corner) + (a < b)};
}

static bool make_half_edges(half_edges *h, const kki_mesh *mesh, const kk_allocator *allocator) {
    h->count = 3 * (size_t)mesh->face_count;
    h->item = kki_allocate_array(allocator, h->count, sizeof *h->item);
    h->scratch = kki_allocate_array(allocator, h->count, sizeof *h->scratch);
    if (!h->item || !h->scratch) {
        return false;
    }
    size_t n = 0;
    for (int32_t f = 0; f < mesh->face_count; f++) {
        for (int k = 0; k < 3; k++) {
            h->item[n++] = half_edge(mesh, f, k);
        }
    }
    kki_sort(h->item, h->count, h->scratch);
    return true;
}

static void free_half_edges(half_edges *h, const kk_allocator *allocator) {
    kki_release_array(allocator, h->item, h->count, sizeof *h->item);
    kki_release_array(allocator, h->scratch, h->count, sizeof *h->scratch);
}

// ---- from half-edges to edges

static size_t group_end(const half_edges *h, size_t start) {
    size_t end = start + 1;
    while (end < h->count && h->item[end].key == h->item[start].key) {
        end++;
    }
    return end;
}

// The next half of the group that runs forwards (or backwards), from `at` on; `end` where there is none.
static size_t next_half(const half_edges *h, size_t at, size_t end, bool forward) {
    while (at < end && (h->item[at].payload & 1) != forward) {
        at++;
    }
    return at;
}

// A group has max(forward, backward) edges if the halves that run against each other are paired; two that run the same
// way are one misoriented edge if they are alone.
static size_t edges_of_group(const half_edges *h, size_t start, size_t end) {
    size_t forward = 0;
    for (size_t i = start; i < end; i++) {
        forward += h->item[i].payload & 1;
    }
    const size_t backward = end - start - forward;
    if (end - start == 2) {
        return 1;
    }
    return forward > backward ? forward : backward;
}

static size_t count_edges(const half_edges *h) {
    size_t count = 0;
    for (size_t i = 0; i < h->count;) {
        const size_t end = group_end(h, i);
        count += edges_of_group(h, i, end);
        i = end;
    }
    return count;
}

static int32_t face_of(kki_sort_item half) {
    return (int32_t)(half.payload / 6);
}

static void set_half(kki_topology *t, int32_t edge, int side, kki_sort_item half) {
    t->edge[edge].face[side] = face_of(half);
    t->face_edge[half.payload / 6][half.payload / 2 % 3] = edge;
}

static int32_t new_edge(kki_topology *t, kki_sort_item half) {
    t->edge[t->edge_count] = (kki_edge){{(int32_t)(half.key >> 32), (int32_t)(half.key & 0xffffffffu)}, {-1, -1}};
    return t->edge_count++;
}

// two halves that run the same way, alone at their edge
static void add_misoriented(kki_topology *t, const half_edges *h, size_t start) {
    const int32_t edge = new_edge(t, h->item[start]);
    set_half(t, edge, 0, h->item[start]);
    set_half(t, edge, 1, h->item[start + 1]);
    t->check.misoriented_edges++;
}

static void add_pairs(kki_topology *t, const half_edges *h, size_t start, size_t end) {
    size_t f = next_half(h, start, end, true), b = next_half(h, start, end, false);
    while (f < end || b < end) {
        const int32_t edge = new_edge(t, h->item[start]);
        t->check.boundary_edges += f == end || b == end;
        if (f < end) {
            set_half(t, edge, 0, h->item[f]);
            f = next_half(h, f + 1, end, true);
        }
        if (b < end) {
            set_half(t, edge, 1, h->item[b]);
            b = next_half(h, b + 1, end, false);
        }
    }
}

static void add_group(kki_topology *t, const half_edges *h, size_t start, size_t end) {
    const size_t size = end - start;
    t->check.nonmanifold_edges += size > 2;
    if (size == 2 && ((h->item[start].payload ^ h->item[start + 1].payload) & 1) == 0) {
        add_misoriented(t, h, start);
    } else {
        add_pairs(t, h, start, end);
    }
}

static void fill_edges(kki_topology *t, const half_edges *h) {
    for (size_t i = 0; i < h->count;) {
        const size_t end = group_end(h, i);
        add_group(t, h, i, end);
        i = end;
    }
}

// each vertex's edges by counting: rising, because edges are visited in order
static void fill_vertex_edges(kki_topology *t) {
    int32_t *first = t->vertex_first;
    memset(first, 0, ((size_t)t->vertex_count + 1) * sizeof *first);
    for (int32_t e = 0; e < t->edge_count; e++) {
        first[t->edge[e].vertex[0]]++;
        first[t->edge[e].vertex[1]]++;
    }
    int32_t sum = 0;
    for (int32_t v = 0; v <= t->vertex_count; v++) {
        sum += first[v];
        first[v] = sum; // end of v's edges, which the loop below counts back to their start
    }
    for (int32_t e = t->edge_count - 1; e >= 0; e--) {
        t->vertex_edge[--first[t->edge[e].vertex[1]]] = e;
        t->vertex_edge[--first[t->edge[e].vertex[0]]] = e;
    }
}

// ---- checks

static void count_components(kki_topology *t) {
    int32_t *parent = t->component;
    for (int32_t f = 0; f < t->face_count; f++) {
        parent[f] = f;
    }
    for (int32_t e = 0; e < t->edge_count; e++) {
        // edges of one group share their vertices: a non-manifold edge connects all its faces
        const bool same = e > 0 && memcmp(t->edge[e].vertex, t->edge[e - 1].vertex, sizeof t->edge[e].vertex) == 0;
        const int32_t *face = t->edge[e].face, one = face[0] >= 0 ? face[0] : face[1];
        if (face[0] >= 0 && face[1] >= 0) {
            kki_sets_unite(parent, face[0], face[1]);
        }
        if (same) {
            const int32_t *before = t->edge[e - 1].face;
            kki_sets_unite(parent, one, before[0] >= 0 ? before[0] : before[1]);
        }
    }
    // number the pieces by their first face; a root is the smallest id of its piece
    for (int32_t f = 0; f < t->face_count; f++) {
        parent[f] = parent[f] == f ? -1 - t->check.components++ : parent[f];
    }
    for (int32_t f = 0; f < t->face_count; f++) {
        parent[f] = parent[f] < 0 ? -1 - parent[f] : parent[parent[f]];
    }
}

static int corner_at(const kki_mesh *mesh, int32_t face, int32_t vertex) {
    const int32_t *v = mesh->face[face].vertex;
    return v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
}

// Corners of neighboring faces at one vertex are united; a clean vertex ends with one class of corners.
static void unite_corners(const kki_topology *t, const kki_mesh *mesh, int32_t *parent) {
    for (int32_t i = 0; i < 3 * t->face_count; i++) {
        parent[i] = i;
    }
    for (int32_t e = 0; e < t->edge_count; e++) {
        const int32_t a = t->edge[e].face[0], b = t->edge[e].face[1];
        for (int k = 0; k < 2 && a >= 0 && b >= 0; k++) {
            const int32_t v = t->edge[e].vertex[k];
            kki_sets_unite(parent, 3 * a + corner_at(mesh, a, v), 3 * b + corner_at(mesh, b, v));
        }
    }
}

// `fans` is scratch [vertex_count]
static void check_vertices(kki_topology *t, const kki_mesh *mesh, const int32_t *parent, int32_t *fans) {
    memset(fans, 0, (size_t)t->vertex_count * sizeof *fans);
    for (int32_t i = 0; i < 3 * t->face_count; i++) {
        fans[mesh->face[i / 3].vertex[i % 3]] += parent[i] == i;
    }
    for (int32_t v = 0; v < t->vertex_count; v++) {
        t->check.isolated_vertices += fans[v] == 0;
        t->check.nonmanifold_vertices += fans[v] > 1;
    }
}

static kki_sort_item sorted_corners(const int32_t *v, uint64_t *third) {
    uint64_t a = (uint64_t)v[0], b = (uint64_t)v[1], c = (uint64_t)v[2], swap;
    if (a > b) {
        swap = a, a = b, b = swap;
    }
    if (b > c) {
        swap = b, b = c, c = swap;
    }
    if (a > b) {
        swap = a, a = b, b = swap;
    }
    *third = c;
    return (kki_sort_item){a << 32 | b, c};
}

// Equal faces stand together once sorted by the third vertex and then, stably, by the first two.
static void count_duplicates(kki_topology *t, const kki_mesh *mesh, half_edges *h) {
    const size_t count = (size_t)mesh->face_count;
    for (size_t i = 0; i < count; i++) {
        uint64_t third;
        const kki_sort_item item = sorted_corners(mesh->face[i].vertex, &third);
        h->item[i] = (kki_sort_item){third, item.key};
    }
    kki_sort(h->item, count, h->scratch);
    for (size_t i = 0; i < count; i++) {
        h->item[i] = (kki_sort_item){h->item[i].payload, h->item[i].key};
    }
    kki_sort(h->item, count, h->scratch);
    for (size_t i = 1; i < count; i++) {
        t->check.duplicate_faces +=
            h->item[i].key == h->item[i - 1].key && h->item[i].payload == h->item[i - 1].payload;
    }
}

static void summarize(kki_topology *t) {
    kki_mesh_check *c = &t->check;
    c->is_closed = t->face_count > 0 && c->boundary_edges == 0;
    c->is_oriented = c->misoriented_edges == 0;
    c->is_manifold = c->nonmanifold_edges == 0 && c->nonmanifold_vertices == 0;
}

// half-edges are no longer needed: their memory serves as scratch
static void check_surface(kki_topology *t, const kki_mesh *mesh, half_edges *h) {
    int32_t *parent = (int32_t *)(void *)h->item, *fans = t->vertex_first;
    count_components(t);
    unite_corners(t, mesh, parent);
    check_vertices(t, mesh, parent, fans); // vertex_first is filled afterwards
    count_duplicates(t, mesh, h);
    summarize(t);
}

// ---- the object

static void place_arrays(kki_layout *layout, kki_topology *t, size_t edges) {
    KKI_LAYOUT_ARRAY(layout, t->edge, edges);
    KKI_LAYOUT_ARRAY(layout, t->face_edge, (size_t)t->face_count);
    KKI_LAYOUT_ARRAY(layout, t->vertex_first, (size_t)t->vertex_count + 1);
    KKI_LAYOUT_ARRAY(layout, t->vertex_edge, 2 * edges);
    KKI_LAYOUT_ARRAY(layout, t->component, (size_t)t->face_count);
}

static kki_topology *make_topology(const kki_mesh *mesh, size_t edges, const kk_allocator *allocator) {
    kki_topology shape = {.allocator = kki_allocator_or_default(allocator),
                          .vertex_count = mesh->vertex_count,
                          .face_count = mesh->face_count};
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof shape);
    place_arrays(&layout, &shape, edges);
    shape.block_size = layout.size;
    void *block = kki_allocate(allocator, layout.size);
    if (!block) {
        return NULL;
    }
    layout = kki_layout_over(block);
    kki_layout_take(&layout, 1, sizeof shape);
    place_arrays(&layout, &shape, edges);
    return memcpy(block, &shape, sizeof shape);
}

kk_status kki_topology_create(const kki_mesh *mesh, const kk_allocator *allocator, kki_topology **topology) {
    half_edges h = {0};
    kki_topology *t = NULL;
    if (make_half_edges(&h, mesh, allocator)) {
        t = make_topology(mesh, count_edges(&h), allocator);
    }
    if (t) {
        fill_edges(t, &h);
        check_surface(t, mesh, &h);
        fill_vertex_edges(t);
    }
    free_half_edges(&h, allocator);
    *topology = t;
    return t ? KK_OK : KK_OUT_OF_MEMORY;
}
