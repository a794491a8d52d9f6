// The builder: arrays that grow by doubling, names in one pool, and the tidying at the end.
//
// Tidying goes in one fixed order: weld, drop faces with a vertex twice, drop vertices of no face. A face whose three
// vertices lie on a line but differ stays, because a closed surface would get a hole where it is taken out.
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "geometry/mesh.h"
#include <karakuri/hash.h>

enum { FIRST_ROOM = 64 };

void kki_mesh_builder_begin(kki_mesh_builder *builder, const kk_allocator *allocator) {
    memset(builder, 0, sizeof *builder);
    builder->allocator = kki_allocator_or_default(allocator);
    builder->next_part.material = -1;
}

void kki_mesh_builder_free(kki_mesh_builder *builder) {
    const kk_allocator *a = &builder->allocator;
    kki_release_array(a, builder->vertex, builder->vertex_room, sizeof *builder->vertex);
    kki_release_array(a, builder->face, builder->face_room, sizeof *builder->face);
    kki_release_array(a, builder->part, builder->part_room, sizeof *builder->part);
    kki_release_array(a, builder->material, builder->material_room, sizeof *builder->material);
    kki_release_array(a, builder->slot, builder->slot_room, sizeof *builder->slot);
    kki_release(a, builder->text, builder->text_room);
    kki_mesh_builder_begin(builder, a);
}

// ---- growing

// a larger copy of an array, NULL and the old one kept where there is no memory
static void *larger_copy(const kk_allocator *allocator, void *old, size_t *room, size_t new_room, size_t size) {
    void *block = kki_allocate_array(allocator, new_room, size);
    if (block) {
        if (old) {
            memcpy(block, old, *room * size);
        }
        kki_release_array(allocator, old, *room, size);
        *room = new_room;
    }
    return block;
}

// room for one more element
static kk_status grow(const kk_allocator *allocator, void **array, size_t *room, size_t count, size_t size) {
    if (count < *room) {
        return KK_OK;
    }
    if (count >= KKI_MESH_MAX_ITEMS) {
        return KK_LIMIT_EXCEEDED;
    }
    void *block = larger_copy(allocator, *array, room, *room ? 2 * *room : FIRST_ROOM, size);
    if (!block) {
        return KK_OUT_OF_MEMORY;
    }
    *array = block;
    return KK_OK;
}

static kk_status reserve(const kk_allocator *allocator, void **array, size_t *room, size_t count, size_t more,
                         size_t size) {
    if (more > KKI_MESH_MAX_ITEMS - count) {
        return KK_LIMIT_EXCEEDED;
    }
    if (count + more <= *room) {
        return KK_OK;
    }
    void *block = larger_copy(allocator, *array, room, count + more, size);
    if (!block) {
        return KK_OUT_OF_MEMORY;
    }
    *array = block;
    return KK_OK;
}

kk_status kki_mesh_builder_reserve(kki_mesh_builder *builder, size_t vertices, size_t faces) {
    void *vertex = builder->vertex, *face = builder->face;
    const kk_status vertex_status = reserve(&builder->allocator, &vertex, &builder->vertex_room,
                                            (size_t)builder->vertex_count, vertices, sizeof *builder->vertex);
    builder->vertex = vertex;
    const kk_status face_status = reserve(&builder->allocator, &face, &builder->face_room, (size_t)builder->face_count,
                                          faces, sizeof *builder->face);
    builder->face = face;
    return vertex_status ? vertex_status : face_status;
}

static size_t at_least_double(size_t more, size_t count, size_t room) {
    return more == 0 || count + more <= room || count + more >= 2 * count ? more : count;
}

kk_status kki_mesh_builder_reserve_about(kki_mesh_builder *builder, size_t vertices, size_t faces) {
    if (vertices > KKI_MESH_MAX_ITEMS || faces > KKI_MESH_MAX_ITEMS) {
        return KK_LIMIT_EXCEEDED;
    }
    return kki_mesh_builder_reserve(builder,
                                    at_least_double(vertices, (size_t)builder->vertex_count, builder->vertex_room),
                                    at_least_double(faces, (size_t)builder->face_count, builder->face_room));
}

// ---- vertices and faces

static bool is_finite_point(kk_vec3 p) {
    return kki_is_finite(p.x) && kki_is_finite(p.y) && kki_is_finite(p.z);
}

kk_status kki_mesh_builder_add_vertex(kki_mesh_builder *builder, kk_vec3 p) {
    if (!is_finite_point(p)) {
        return KK_NOT_FINITE;
    }
    void *array = builder->vertex;
    const kk_status status = grow(&builder->allocator, &array, &builder->vertex_room, (size_t)builder->vertex_count,
                                  sizeof *builder->vertex);
    builder->vertex = array;
    if (status == KK_OK) {
        builder->vertex[builder->vertex_count++] = p;
    }
    return status;
}

// the part that was announced begins with its first face, so empty parts never exist
static kk_status open_part(kki_mesh_builder *builder) {
    void *array = builder->part;
    const kk_status status =
        grow(&builder->allocator, &array, &builder->part_room, (size_t)builder->part_count, sizeof *builder->part);
    builder->part = array;
    if (status == KK_OK) {
        // faces before the first announced part get a nameless one
        builder->next_part.first_face = builder->part_count > 0 ? builder->face_count : 0;
        builder->part[builder->part_count++] = builder->next_part;
        builder->part_is_open = false;
    }
    return status;
}

static kk_status open_nameless_part(kki_mesh_builder *builder) {
    const kki_builder_part wanted = builder->next_part;
    builder->next_part = (kki_builder_part){0, -1, 0};
    const kk_status status = open_part(builder);
    builder->next_part = wanted;
    builder->part_is_open = true;
    return status;
}

static kk_status prepare_part(kki_mesh_builder *builder) {
    kk_status status = KK_OK;
    if (builder->part_count == 0 && builder->face_count > 0) {
        status = open_nameless_part(builder);
    }
    return status ? status : open_part(builder);
}

kk_status kki_mesh_builder_add_face(kki_mesh_builder *builder, int32_t a, int32_t b, int32_t c) {
    kk_status status = builder->part_is_open ? prepare_part(builder) : KK_OK;
    if (status != KK_OK) {
        return status;
    }
    void *array = builder->face;
    status = grow(&builder->allocator, &array, &builder->face_room, (size_t)builder->face_count, sizeof *builder->face);
    builder->face = array;
    if (status == KK_OK) {
        builder->face[builder->face_count++] = (kki_face){{a, b, c}};
    }
    return status;
}

static bool corners_exist(const kki_mesh_builder *builder, const int32_t *corner, int count) {
    for (int i = 0; i < count; i++) {
        if (corner[i] < 0 || corner[i] >= builder->vertex_count) {
            return false;
        }
    }
    return true;
}

static kk_status add_fan(kki_mesh_builder *builder, const int32_t *corner, int count) {
    kk_status status = KK_OK;
    for (int i = 2; i < count && status == KK_OK; i++) {
        status = kki_mesh_builder_add_face(builder, corner[0], corner[i - 1], corner[i]);
    }
    return status;
}

kk_status kki_mesh_builder_add_polygon(kki_mesh_builder *builder, int32_t *corner, int count) {
    enum { MOST = 48 }; // cutting by ears is cubic at worst; larger polygons of real files are convex caps
    int32_t left[MOST];
    kki_face triangle[MOST];
    if (count <= 3 || count > MOST || !corners_exist(builder, corner, count)) {
        return add_fan(builder, corner, count);
    }
    kki_triangulate(builder->vertex, corner, count, left, triangle);
    kk_status status = KK_OK;
    for (int i = 0; i < count - 2 && status == KK_OK; i++) {
        const int32_t *t = triangle[i].vertex;
        status = kki_mesh_builder_add_face(builder, corner[t[0]], corner[t[1]], corner[t[2]]);
    }
    return status;
}

// ---- names, parts, materials

// appends a string to the pool, offset 0 being the empty string
static kk_status add_text(kki_mesh_builder *builder, const char *text, size_t length, uint32_t *offset) {
    *offset = 0;
    if (length == 0) {
        return KK_OK;
    }
    const size_t start = builder->text_size ? builder->text_size : 1, end = start + length + 1;
    if (end > INT32_MAX) {
        return KK_LIMIT_EXCEEDED;
    }
    if (end > builder->text_room) {
        const size_t room = end > 2 * builder->text_room ? end : 2 * builder->text_room;
        char *pool = larger_copy(&builder->allocator, builder->text, &builder->text_room, room, 1);
        if (!pool) {
            return KK_OUT_OF_MEMORY;
        }
        builder->text = pool;
    }
    builder->text[0] = 0;
    memcpy(builder->text + start, text, length);
    builder->text[start + length] = 0;
    builder->text_size = end;
    *offset = (uint32_t)start;
    return KK_OK;
}

kk_status kki_mesh_builder_set_part(kki_mesh_builder *builder, const char *name, size_t length, int32_t material) {
    builder->next_part.material = material;
    builder->part_is_open = true;
    return add_text(builder, name, length, &builder->next_part.name);
}

void kki_mesh_builder_set_material(kki_mesh_builder *builder, int32_t material) {
    builder->part_is_open = builder->part_is_open || builder->next_part.material != material;
    builder->next_part.material = material;
}

static bool has_name(const kki_mesh_builder *builder, int32_t material, const char *name, size_t length) {
    const uint32_t offset = builder->material[material].name;
    if (offset == 0) {
        return length == 0;
    }
    return strlen(builder->text + offset) == length && memcmp(builder->text + offset, name, length) == 0;
}

// the slot that holds this name's material, or the empty one where it belongs
static size_t find_slot(const kki_mesh_builder *builder, const char *name, size_t length) {
    const size_t mask = builder->slot_room - 1;
    size_t s = (size_t)kk_hash_bytes(name, length, 0) & mask;
    while (builder->slot[s] >= 0 && !has_name(builder, builder->slot[s], name, length)) {
        s = (s + 1) & mask;
    }
    return s;
}

// the table is kept at most half full
static kk_status widen_slots(kki_mesh_builder *builder) {
    const size_t room = builder->slot_room ? 2 * builder->slot_room : FIRST_ROOM;
    int32_t *slot = kki_allocate_array(&builder->allocator, room, sizeof *slot);
    if (!slot) {
        return KK_OUT_OF_MEMORY;
    }
    kki_release_array(&builder->allocator, builder->slot, builder->slot_room, sizeof *slot);
    memset(slot, 0xff, room * sizeof *slot);
    builder->slot = slot;
    builder->slot_room = room;
    for (int32_t i = 0; i < builder->material_count; i++) {
        const uint32_t offset = builder->material[i].name;
        const char *name = offset ? builder->text + offset : "";
        slot[find_slot(builder, name, strlen(name))] = i;
    }
    return KK_OK;
}

kk_status kki_mesh_builder_add_material(kki_mesh_builder *builder, const char *name, size_t length, int32_t *id) {
    kki_builder_material material = {0};
    void *array = builder->material;
    kk_status status = grow(&builder->allocator, &array, &builder->material_room, (size_t)builder->material_count,
                            sizeof *builder->material);
    builder->material = array;
    status = status ? status : add_text(builder, name, length, &material.name);
    if (status == KK_OK) {
        *id = builder->material_count;
        builder->material[builder->material_count++] = material;
    }
    return status;
}

// a name ends at its first zero, as every reader of it will see it
static size_t length_before_zero(const char *text, size_t length) {
    const char *end = length ? memchr(text, 0, length) : NULL;
    return end ? (size_t)(end - text) : length;
}

kk_status kki_mesh_builder_material(kki_mesh_builder *builder, const char *name, size_t length, int32_t *id) {
    kk_status status = KK_OK;
    length = length_before_zero(name, length);
    if (2 * (size_t)builder->material_count >= builder->slot_room) {
        status = widen_slots(builder);
    }
    if (status != KK_OK) {
        return status;
    }
    const size_t s = find_slot(builder, name, length);
    if (builder->slot[s] < 0) {
        int32_t added = -1;
        status = kki_mesh_builder_add_material(builder, name, length, &added);
        if (status != KK_OK) {
            return status;
        }
        builder->slot[s] = added;
    }
    *id = builder->slot[s];
    return KK_OK;
}

kk_status kki_mesh_builder_set_texture(kki_mesh_builder *builder, int32_t material, const char *path, size_t length) {
    return add_text(builder, path, length, &builder->material[material].texture);
}

static float unit_float(double x) {
    return x > 0 ? (x < 1 ? (float)x : 1.0F) : 0.0F;
}

void kki_mesh_builder_set_color(kki_mesh_builder *builder, int32_t material, const double color[4]) {
    kki_builder_material *m = &builder->material[material];
    m->has_color = true;
    for (int i = 0; i < 4; i++) {
        m->color[i] = unit_float(color[i]);
    }
}

kk_status kki_mesh_builder_set_library(kki_mesh_builder *builder, const char *path, size_t length) {
    return add_text(builder, path, length, &builder->library);
}

// ---- tidying

static kk_status check_indices(const kki_mesh_builder *builder, kk_error *error) {
    for (int32_t i = 0; i < builder->face_count; i++) {
        for (int k = 0; k < 3; k++) {
            const int32_t v = builder->face[i].vertex[k];
            if (v < 0 || v >= builder->vertex_count) {
                return kki_error_set(error, KK_INVALID_ARGUMENT,
                                     "face %d names vertex %d, and there are %d — correct the index or add the vertex",
                                     i, v, builder->vertex_count);
            }
        }
    }
    return KK_OK;
}

static void renumber_faces(kki_mesh_builder *builder, const int32_t *remap) {
    for (int32_t i = 0; i < builder->face_count; i++) {
        int32_t *v = builder->face[i].vertex;
        for (int k = 0; k < 3; k++) {
            v[k] = remap[v[k]];
        }
    }
}

static kk_status weld(kki_mesh_builder *builder, double tolerance, int32_t *remap) {
    int32_t count = 0;
    const kk_status status =
        kki_weld(builder->vertex, builder->vertex_count, tolerance, &builder->allocator, remap, &count);
    if (status == KK_OK) {
        renumber_faces(builder, remap);
        builder->tidying.welded_vertices += builder->vertex_count - count;
        builder->vertex_count = count;
    }
    return status;
}

static bool has_vertex_twice(kki_face f) {
    return f.vertex[0] == f.vertex[1] || f.vertex[1] == f.vertex[2] || f.vertex[2] == f.vertex[0];
}

// takes the faces with a vertex twice out, and moves the starts of the parts
static void drop_degenerate(kki_mesh_builder *builder) {
    int32_t kept = 0, part = 0;
    for (int32_t i = 0; i < builder->face_count; i++) {
        while (part < builder->part_count && builder->part[part].first_face == i) {
            builder->part[part++].first_face = kept;
        }
        if (!has_vertex_twice(builder->face[i])) {
            builder->face[kept++] = builder->face[i];
        }
    }
    builder->tidying.degenerate_faces += builder->face_count - kept;
    builder->face_count = kept;
}

static void drop_unused(kki_mesh_builder *builder, int32_t *remap) {
    memset(remap, 0xff, (size_t)builder->vertex_count * sizeof *remap);
    for (int32_t i = 0; i < builder->face_count; i++) {
        for (int k = 0; k < 3; k++) {
            remap[builder->face[i].vertex[k]] = 0;
        }
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < builder->vertex_count; i++) {
        if (remap[i] == 0) {
            builder->vertex[kept] = builder->vertex[i];
            remap[i] = kept++;
        }
    }
    renumber_faces(builder, remap);
    builder->tidying.unused_vertices += builder->vertex_count - kept;
    builder->vertex_count = kept;
}

static bool has_zero_area(const kki_mesh_builder *builder, kki_face f) {
    const kk_vec3 a = builder->vertex[f.vertex[0]];
    const kk_vec3 u = kk_vec3_sub(builder->vertex[f.vertex[1]], a), v = kk_vec3_sub(builder->vertex[f.vertex[2]], a);
    const kk_vec3 n = kk_vec3_cross(u, v);
    return n.x == 0 && n.y == 0 && n.z == 0;
}

static void count_zero_area(kki_mesh_builder *builder) {
    for (int32_t i = 0; i < builder->face_count; i++) {
        builder->tidying.zero_area_faces += has_zero_area(builder, builder->face[i]);
    }
}

static kk_status tidy(kki_mesh_builder *builder, const kki_mesh_tidy_options *options) {
    const size_t room = (size_t)builder->vertex_count;
    int32_t *remap = kki_allocate_array(&builder->allocator, room, sizeof *remap);
    kk_status status = remap ? KK_OK : KK_OUT_OF_MEMORY;
    if (status == KK_OK && options->weld_tolerance >= 0) {
        status = weld(builder, options->weld_tolerance, remap);
    }
    if (status == KK_OK && !options->keep_degenerate) {
        drop_degenerate(builder);
    }
    // a cloud of points without faces is kept for its hull
    if (status == KK_OK && !options->keep_unused && builder->face_count > 0) {
        drop_unused(builder, remap);
    }
    if (status == KK_OK) {
        count_zero_area(builder);
    }
    kki_release_array(&builder->allocator, remap, room, sizeof *remap);
    return status;
}

// ---- the mesh

static void place_arrays(kki_layout *layout, kki_mesh *mesh, bool has_facets, size_t text_size, char **text) {
    KKI_LAYOUT_ARRAY(layout, mesh->vertex, (size_t)mesh->vertex_count);
    KKI_LAYOUT_ARRAY(layout, mesh->face, (size_t)mesh->face_count);
    if (has_facets) {
        KKI_LAYOUT_ARRAY(layout, mesh->facet, (size_t)mesh->face_count);
    }
    KKI_LAYOUT_ARRAY(layout, mesh->part, (size_t)mesh->part_count);
    KKI_LAYOUT_ARRAY(layout, mesh->material, (size_t)mesh->material_count);
    KKI_LAYOUT_ARRAY(layout, *text, text_size);
}

static void copy_parts(const kki_mesh_builder *builder, kki_mesh *mesh, const char *text) {
    for (int32_t i = 0; i < mesh->part_count; i++) {
        const kki_builder_part *p = &builder->part[i];
        const int32_t end = i + 1 < mesh->part_count ? builder->part[i + 1].first_face : mesh->face_count;
        mesh->part[i] = (kki_mesh_part){text + p->name, p->material, p->first_face, end - p->first_face};
    }
    for (int32_t i = 0; i < mesh->material_count; i++) {
        const kki_builder_material *m = &builder->material[i];
        mesh->material[i] = (kki_mesh_material){text + m->name, text + m->texture, m->has_color, {0}};
        memcpy(mesh->material[i].color, m->color, sizeof m->color);
    }
}

static void copy_array(void *target, const void *source, size_t size) {
    if (size > 0) {
        memcpy(target, source, size);
    }
}

static void copy_all(const kki_mesh_builder *builder, kki_mesh *mesh, char *text) {
    copy_array(mesh->vertex, builder->vertex, (size_t)mesh->vertex_count * sizeof *mesh->vertex);
    copy_array(mesh->face, builder->face, (size_t)mesh->face_count * sizeof *mesh->face);
    if (builder->facet) {
        copy_array(mesh->facet, builder->facet, (size_t)mesh->face_count * sizeof *mesh->facet);
    }
    text[0] = 0;
    copy_array(text, builder->text, builder->text_size);
    copy_parts(builder, mesh, text);
    mesh->library = text + builder->library;
    mesh->tidying = builder->tidying;
}

static kk_status make_mesh(const kki_mesh_builder *builder, const kk_allocator *owner, kki_mesh **mesh) {
    kki_mesh shape = {.allocator = kki_allocator_or_default(owner),
                      .vertex_count = builder->vertex_count,
                      .face_count = builder->face_count,
                      .part_count = builder->part_count,
                      .material_count = builder->material_count};
    const size_t text_size = builder->text_size ? builder->text_size : 1;
    char *text = NULL;
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof shape);
    place_arrays(&layout, &shape, builder->facet != NULL, text_size, &text);
    shape.block_size = layout.size;
    void *block = kki_allocate(owner, layout.size);
    if (!block) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(block);
    kki_layout_take(&layout, 1, sizeof shape);
    place_arrays(&layout, &shape, builder->facet != NULL, text_size, &text);
    copy_all(builder, &shape, text);
    *mesh = memcpy(block, &shape, sizeof shape);
    return KK_OK;
}

kk_status kki_mesh_builder_end(kki_mesh_builder *builder, const kki_mesh_tidy_options *options,
                               const kk_allocator *owner, kki_mesh **mesh, kk_error *error) {
    *mesh = NULL;
    kk_status status = check_indices(builder, error);
    if (status != KK_OK) {
        return status;
    }
    status = tidy(builder, options);
    status = status ? status : make_mesh(builder, owner, mesh);
    return status ? kki_error_set(error, status, "mesh of %d vertices and %d faces: %s", builder->vertex_count,
                                  builder->face_count, kk_status_text(status))
                  : KK_OK;
}
