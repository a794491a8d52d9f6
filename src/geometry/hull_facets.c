// From the triangles of the hull to its facets.
//
// Neighbors in one plane (exactly, on the grid) form a facet, a convex polygon. A point is a corner of the hull if three
// facets or more meet in it; with two it lies on an edge, with one inside a facet, and is left out. What remains of each
// facet's rim becomes a fan.
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "hull_build.h"

typedef struct facets {
    const kk_vec3 *grid;
    const kki_hull_face *face;
    int32_t face_count, point_count;
    int32_t *facet; // [face_count] root of the face's facet
    int32_t *queue; // [queue_size] faces, those of one facet together
    int32_t queue_size;
    int32_t *meeting; // [point_count] facets that meet in a point; later its index in the mesh
    int32_t *after;   // [point_count] next point on the rim of the facet at hand
    int32_t *label;   // [face_count] facet of each triangle of the mesh
    void *block;
    size_t block_size;
} facets;

static void place_arrays(kki_layout *layout, facets *s) {
    KKI_LAYOUT_ARRAY(layout, s->facet, (size_t)s->face_count);
    KKI_LAYOUT_ARRAY(layout, s->queue, (size_t)s->face_count);
    KKI_LAYOUT_ARRAY(layout, s->meeting, (size_t)s->point_count);
    KKI_LAYOUT_ARRAY(layout, s->after, (size_t)s->point_count);
    KKI_LAYOUT_ARRAY(layout, s->label, (size_t)s->face_count);
}

static kk_status make_arrays(facets *s, const kk_allocator *allocator) {
    kki_layout layout = kki_layout_over(NULL);
    place_arrays(&layout, s);
    s->block_size = layout.size;
    s->block = kki_allocate(allocator, layout.size);
    if (!s->block) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(s->block);
    place_arrays(&layout, s);
    memset(s->facet, 0xff, (size_t)s->face_count * sizeof *s->facet);
    memset(s->meeting, 0, (size_t)s->point_count * sizeof *s->meeting);
    return KK_OK;
}

static bool is_alive(const facets *s, int32_t f) {
    return s->face[f].mark >= 0;
}

// the corner of the neighbor beyond edge k that is not on the edge
static int32_t opposite(const facets *s, int32_t f, int k) {
    const kki_hull_face *a = &s->face[f], *b = &s->face[a->neighbor[k]];
    for (int i = 0; i < 3; i++) {
        const int32_t v = b->vertex[i];
        if (v != a->vertex[k] && v != a->vertex[(k + 1) % 3]) {
            return v;
        }
    }
    return a->vertex[k];
}

// appends all faces of the plane of face `root` to the queue, which so holds facet after facet
static int32_t flood(facets *s, int32_t root, int32_t start) {
    int32_t end = start;
    s->facet[root] = root;
    s->queue[end++] = root;
    for (int32_t i = start; i < end; i++) {
        const int32_t f = s->queue[i];
        for (int k = 0; k < 3; k++) {
            const int32_t g = s->face[f].neighbor[k];
            if (s->facet[g] < 0 && kki_hull_side(s->grid, &s->face[root], opposite(s, f, k)) == 0) {
                s->facet[g] = root;
                s->queue[end++] = g;
            }
        }
    }
    return end;
}

static bool is_rim(const facets *s, int32_t f, int k) {
    return s->facet[f] != s->facet[s->face[f].neighbor[k]];
}

static void find_facets(facets *s) {
    for (int32_t f = 0; f < s->face_count; f++) {
        if (is_alive(s, f) && s->facet[f] < 0) {
            s->queue_size = flood(s, f, s->queue_size);
        }
    }
    for (int32_t f = 0; f < s->face_count; f++) {
        for (int k = 0; is_alive(s, f) && k < 3; k++) {
            s->meeting[s->face[f].vertex[k]] += is_rim(s, f, k);
        }
    }
}

// corners get their index in the mesh, in the order of points; all others -1
static kk_status add_corners(facets *s, const kk_vec3 *point, kki_mesh_builder *builder) {
    kk_status status = KK_OK;
    for (int32_t i = 0; i < s->point_count && status == KK_OK; i++) {
        const bool is_corner = s->meeting[i] >= 3;
        s->meeting[i] = is_corner ? builder->vertex_count : -1;
        if (is_corner) {
            status = kki_mesh_builder_add_vertex(builder, point[i]);
        }
    }
    return status;
}

static int32_t facet_end(const facets *s, int32_t start) {
    int32_t end = start + 1;
    while (end < s->queue_size && s->facet[s->queue[end]] == s->facet[s->queue[start]]) {
        end++;
    }
    return end;
}

// links the rim of the facet queue[start..end); gives its first corner
static int32_t link_rim(facets *s, int32_t start, int32_t end) {
    int32_t first = -1;
    for (int32_t i = start; i < end; i++) {
        const int32_t f = s->queue[i];
        for (int k = 0; k < 3; k++) {
            const int32_t v = s->face[f].vertex[k];
            if (is_rim(s, f, k)) {
                s->after[v] = s->face[f].vertex[(k + 1) % 3];
                first = s->meeting[v] >= 0 && (first < 0 || v < first) ? v : first;
            }
        }
    }
    return first;
}

static kk_status add_facet(facets *s, int32_t id, int32_t first, kki_mesh_builder *builder) {
    kk_status status = KK_OK;
    int32_t before = -1;
    for (int32_t v = s->after[first]; v != first && status == KK_OK; v = s->after[v]) {
        if (s->meeting[v] >= 0) {
            if (before >= 0) {
                s->label[builder->face_count] = id;
                status = kki_mesh_builder_add_face(builder, s->meeting[first], before, s->meeting[v]);
            }
            before = s->meeting[v];
        }
    }
    return status;
}

static kk_status fill_builder(facets *s, const kk_vec3 *point, kki_mesh_builder *builder) {
    find_facets(s);
    kk_status status = kki_mesh_builder_reserve(builder, 0, (size_t)s->queue_size);
    status = status ? status : add_corners(s, point, builder);
    int32_t id = 0;
    for (int32_t i = 0; i < s->queue_size && status == KK_OK;) {
        const int32_t end = facet_end(s, i), first = link_rim(s, i, end);
        status = add_facet(s, id++, first, builder);
        i = end;
    }
    return status;
}

kk_status kki_hull_finish(const kk_vec3 *point, int32_t count, const kk_vec3 *grid, const kki_hull_face *face,
                          int32_t face_count, const kk_allocator *allocator, kki_mesh **mesh, kk_error *error) {
    const kki_mesh_tidy_options as_given = {.weld_tolerance = -1, .keep_degenerate = true, .keep_unused = true};
    facets s = {.grid = grid, .face = face, .face_count = face_count, .point_count = count};
    kki_mesh_builder builder;
    kki_mesh_builder_begin(&builder, allocator);
    kk_status status = make_arrays(&s, allocator);
    status = status ? status : fill_builder(&s, point, &builder);
    if (status == KK_OK) {
        builder.facet = s.label;
        status = kki_mesh_builder_end(&builder, &as_given, allocator, mesh, error);
    } else {
        kki_error_set(error, status, "convex hull of %d points: %s", count, kk_status_text(status));
    }
    kki_mesh_builder_free(&builder);
    kki_release(allocator, s.block, s.block_size);
    return status;
}
