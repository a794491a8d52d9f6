// glTF 2.0 binary (Khronos, glTF 2.0 specification, section 4.4): triangles, placed by the nodes of the scene.
//
// A GLB file is a header, a chunk of JSON and a chunk of bytes. Accessors name arrays in these bytes; every one is checked
// against the chunk before it is read. The nodes are walked with a stack; each may be reached once, as glTF demands, so
// neither cycles nor bombs of references are possible. glTF's y is up and becomes z unless the axes are to be kept.
#include "base/allocator.h"
#include "io/json.h"
#include "io/mesh_input.h"
#include "io/text.h"
#include <karakuri/number.h>

enum { TRIANGLES = 4, STRIP = 5, FAN = 6, UBYTE = 5121, USHORT = 5123, UINT = 5125, FLOAT = 5126 };
#define MAGIC 0x46546c67u
#define CHUNK_JSON 0x4e4f534au
#define CHUNK_BYTES 0x004e4942u

// an array of the file, each value the token of its item
typedef struct table {
    int32_t *item;
    int32_t count;
} table;

enum { ACCESSORS, VIEWS, MESHES, NODES, MATERIALS, TABLES };
static const char *const TABLE_NAME[TABLES] = {[ACCESSORS] = "accessors",
                                               [VIEWS] = "bufferViews",
                                               [MESHES] = "meshes",
                                               [NODES] = "nodes",
                                               [MATERIALS] = "materials"};

typedef struct visit {
    int32_t node;
    kki_affine X_WN;
} visit;

typedef struct glb {
    kki_mesh_input *in;
    kki_json json;
    size_t json_at;             // where the JSON chunk stands in the file
    const unsigned char *bytes; // of the binary chunk
    size_t size;
    table table[TABLES];
    int32_t *material; // [materials] id in the builder
    bool *is_reached;  // [nodes]
    visit *stack;      // [nodes]
    int32_t stack_size;
} glb;

// an accessor, checked
typedef struct array {
    const unsigned char *start;
    size_t stride, count;
    int component;
} array;

static bool is_certain(const unsigned char *bytes, size_t size) {
    return size >= 12 && kki_little32(bytes) == MAGIC;
}

// ---- errors

static kk_status fail(const glb *g, int32_t token, kk_status status, const char *text) {
    return kki_mesh_error_in_binary(g->in, g->json_at + kki_json_place(&g->json, token), status, "%s", text);
}

static kk_status builder_status(const glb *g, int32_t token, kk_status status) {
    return kki_mesh_builder_error(g->in, g->json_at + kki_json_place(&g->json, token), false, status);
}

// ---- chunks

static kk_status find_chunks(glb *g) {
    const kki_mesh_input *in = g->in;
    if (in->size < 20 || kki_little32(in->bytes) != MAGIC || kki_little32(in->bytes + 4) != 2) {
        return kki_mesh_error_in_binary(in, 4, KK_UNSUPPORTED,
                                        "this is no glTF 2 binary file — export the mesh as GLB, version 2");
    }
    const uint64_t length = kki_little32(in->bytes + 8), json = kki_little32(in->bytes + 12);
    if (length > in->size || length < 20 || json > length - 20 || kki_little32(in->bytes + 16) != CHUNK_JSON) {
        return kki_mesh_error_in_binary(in, 8, KK_SYNTAX,
                                        "the lengths at the start do not fit the file — it is cut off or damaged");
    }
    g->json_at = 20;
    g->json.length = (size_t)json;
    const size_t next = 20 + (size_t)json;
    if (length - next >= 8 && kki_little32(in->bytes + next + 4) == CHUNK_BYTES) {
        g->bytes = in->bytes + next + 8;
        g->size = kki_little32(in->bytes + next);
        if (g->size > length - next - 8) {
            return kki_mesh_error_in_binary(in, next, KK_SYNTAX,
                                            "the chunk of bytes is longer than the file — it is cut off");
        }
    }
    return KK_OK;
}

// the JSON's own errors have line and column in its chunk; the byte of the file helps more
static kk_status parse_json(glb *g) {
    const size_t length = g->json.length;
    kk_error problem = {0};
    const kk_status status =
        kki_json_parse((const char *)g->in->bytes + g->json_at, length, NULL, &g->in->allocator, &g->json, &problem);
    if (status == KK_OK) {
        return KK_OK;
    }
    g->json.token = NULL;
    return kki_mesh_error_in_binary(g->in, g->json_at, status, "%s (line %d, column %d of the JSON chunk)",
                                    problem.text, problem.line, problem.column);
}

// ---- tables

static kk_status make_table(glb *g, int which) {
    table *t = &g->table[which];
    const int32_t list = kki_json_member(&g->json, 0, TABLE_NAME[which]);
    const int32_t count = kki_json_is(&g->json, list, KKI_JSON_ARRAY) ? kki_json_size(&g->json, list) : 0;
    t->item = kki_allocate_array(&g->in->allocator, (size_t)count, sizeof *t->item);
    if (!t->item) {
        return builder_status(g, list, KK_OUT_OF_MEMORY);
    }
    for (int32_t item = kki_json_first(&g->json, list); count > 0 && item >= 0;
         item = kki_json_after(&g->json, list, item)) {
        t->item[t->count++] = item;
    }
    t->count = count;
    return KK_OK;
}

static kk_status make_tables(glb *g) {
    kk_status status = KK_OK;
    for (int i = 0; i < TABLES && status == KK_OK; i++) {
        status = make_table(g, i);
    }
    if (status != KK_OK) {
        return status;
    }
    const kk_allocator *a = &g->in->allocator;
    const size_t nodes = (size_t)g->table[NODES].count;
    g->material = kki_allocate_array(a, (size_t)g->table[MATERIALS].count, sizeof *g->material);
    g->is_reached = kki_allocate_array_zeroed(a, nodes, sizeof *g->is_reached);
    g->stack = kki_allocate_array(a, nodes, sizeof *g->stack);
    return g->material && g->is_reached && g->stack ? KK_OK : builder_status(g, 0, KK_OUT_OF_MEMORY);
}

static void free_tables(glb *g) {
    const kk_allocator *a = &g->in->allocator;
    const size_t nodes = (size_t)g->table[NODES].count;
    kki_release_array(a, g->material, (size_t)g->table[MATERIALS].count, sizeof *g->material);
    kki_release_array(a, g->is_reached, nodes, sizeof *g->is_reached);
    kki_release_array(a, g->stack, nodes, sizeof *g->stack);
    for (int i = 0; i < TABLES; i++) {
        kki_release_array(a, g->table[i].item, (size_t)g->table[i].count, sizeof *g->table[i].item);
    }
    kki_json_free(&g->json);
}

// the item of a table that a token names; KKI_JSON_NONE where there is none
static int32_t item_of(const glb *g, int which, int32_t token) {
    int64_t index;
    return kki_json_index(&g->json, token, g->table[which].count - 1, &index) ? g->table[which].item[index]
                                                                              : KKI_JSON_NONE;
}

// ---- materials

static bool read_numbers(const glb *g, int32_t list, int count, double *value) {
    if (!kki_json_is(&g->json, list, KKI_JSON_ARRAY) || kki_json_size(&g->json, list) != count) {
        return false;
    }
    int32_t item = kki_json_first(&g->json, list);
    for (int i = 0; i < count; i++) {
        if (!kki_json_number(&g->json, item, &value[i])) {
            return false;
        }
        item = kki_json_after(&g->json, list, item);
    }
    return true;
}

static kki_word name_of(const glb *g, int32_t item) {
    kki_word name;
    name.start = kki_json_string(&g->json, kki_json_member(&g->json, item, "name"), &name.length);
    return name;
}

static kk_status read_material(glb *g, int32_t i) {
    const int32_t item = g->table[MATERIALS].item[i];
    const kki_word name = name_of(g, item);
    double color[4] = {1, 1, 1, 1};
    const kk_status status = kki_mesh_builder_add_material(g->in->builder, name.start, name.length, &g->material[i]);
    const int32_t factor =
        kki_json_member(&g->json, kki_json_member(&g->json, item, "pbrMetallicRoughness"), "baseColorFactor");
    if (status != KK_OK) {
        return builder_status(g, item, status);
    }
    if (factor >= 0 && !read_numbers(g, factor, 4, color)) {
        return fail(g, factor, KK_SYNTAX, "baseColorFactor is not four numbers — export the mesh again");
    }
    kki_mesh_builder_set_color(g->in->builder, g->material[i], color);
    return KK_OK;
}

// ---- accessors

static bool read_size(const glb *g, int32_t object, const char *name, size_t *value) {
    int64_t whole = (int64_t)*value;
    const int32_t token = kki_json_member(&g->json, object, name);
    if (token >= 0 && !kki_json_index(&g->json, token, UINT32_MAX, &whole)) {
        return false;
    }
    *value = (size_t)whole;
    return true;
}

static size_t component_size(size_t component) {
    return component == UBYTE ? 1 : component == USHORT ? 2 : component == UINT || component == FLOAT ? 4 : 0;
}

static bool is_text(const glb *g, int32_t token, const char *text) {
    kki_word w;
    w.start = kki_json_string(&g->json, token, &w.length);
    return kki_word_is(w, text);
}

// bytes of the bufferView of an accessor
static kk_status find_view(const glb *g, int32_t accessor, const unsigned char **start, size_t *size, size_t *stride) {
    const int32_t view = item_of(g, VIEWS, kki_json_member(&g->json, accessor, "bufferView"));
    size_t buffer = 0, offset = 0;
    if (view < 0 || kki_json_member(&g->json, accessor, "sparse") >= 0) {
        return fail(g, accessor, KK_UNSUPPORTED,
                    "an accessor without a bufferView, or a sparse one — export plain arrays");
    }
    *size = *stride = 0;
    const bool is_good = read_size(g, view, "buffer", &buffer) && read_size(g, view, "byteOffset", &offset) &&
                         read_size(g, view, "byteLength", size) && read_size(g, view, "byteStride", stride);
    if (!is_good || buffer != 0 || offset > g->size || *size > g->size - offset) {
        return fail(
            g, view, KK_SYNTAX,
            "a bufferView outside of the binary chunk — the file is cut off, or its data are apart; export as one GLB");
    }
    *start = g->bytes + offset;
    return KK_OK;
}

static kk_status find_array(const glb *g, int32_t token, size_t width, array *a) {
    const int32_t accessor = item_of(g, ACCESSORS, token);
    const unsigned char *start = NULL;
    size_t size = 0, offset = 0, component = 0;
    if (accessor < 0) {
        return fail(g, token, KK_SYNTAX, "there is no such accessor — the file is damaged");
    }
    kk_status status = find_view(g, accessor, &start, &size, &a->stride);
    if (status != KK_OK) {
        return status;
    }
    a->count = 0;
    const bool is_good = read_size(g, accessor, "byteOffset", &offset) && read_size(g, accessor, "count", &a->count) &&
                         read_size(g, accessor, "componentType", &component);
    const size_t element = component_size(component) * width;
    a->stride = a->stride ? a->stride : element;
    if (!is_good || !start || element == 0 || a->stride < element || a->count == 0 || offset > size ||
        element > size - offset || (size - offset - element) / a->stride < a->count - 1) {
        return fail(g, accessor, KK_SYNTAX,
                    "an accessor outside of its bufferView, or of a type that does not fit — the file is damaged");
    }
    a->start = start + offset;
    a->component = (int)component;
    return KK_OK;
}

// ---- primitives

static kk_status read_positions(const glb *g, int32_t token, const kki_affine *X, size_t *count) {
    array a = {0};
    kk_status status = find_array(g, token, 3, &a);
    if (status != KK_OK) {
        return status;
    }
    if (a.component != FLOAT || !is_text(g, kki_json_member(&g->json, item_of(g, ACCESSORS, token), "type"), "VEC3")) {
        return fail(g, token, KK_UNSUPPORTED, "positions that are no three floats — export without quantization");
    }
    status = kki_mesh_builder_reserve_about(g->in->builder, a.count, 0);
    for (size_t i = 0; i < a.count && status == KK_OK; i++) {
        status =
            kki_mesh_builder_add_vertex(g->in->builder, kki_affine_point(X, kki_little_point(a.start + i * a.stride)));
    }
    *count = a.count;
    return builder_status(g, token, status);
}

// without an array of indices every vertex follows the one before
static uint32_t index_at(const array *a, size_t i) {
    if (!a->start) {
        return (uint32_t)i;
    }
    const unsigned char *p = a->start + i * a->stride;
    return a->component == UBYTE ? *p : a->component == USHORT ? kki_little16(p) : kki_little32(p);
}

// corners of triangle t in the sequence of indices
static void corners_of(int mode, size_t t, size_t corner[3]) {
    corner[0] = mode == TRIANGLES ? 3 * t : mode == FAN ? 0 : t + (t & 1);
    corner[1] = mode == TRIANGLES ? 3 * t + 1 : mode == FAN ? t + 1 : t + 1 - (t & 1);
    corner[2] = mode == TRIANGLES ? 3 * t + 2 : t + 2;
}

static kk_status add_triangles(const glb *g, int32_t token, const array *a, int mode, bool mirror, int32_t first,
                               size_t vertices) {
    const size_t triangles = mode == TRIANGLES ? a->count / 3 : a->count < 2 ? 0 : a->count - 2;
    kk_status status = kki_mesh_builder_reserve_about(g->in->builder, 0, triangles);
    for (size_t t = 0; t < triangles && status == KK_OK; t++) {
        size_t corner[3];
        int32_t v[3];
        corners_of(mode, t, corner);
        for (int k = 0; k < 3; k++) {
            const uint32_t index = index_at(a, corner[k]);
            if (index >= vertices) {
                return fail(g, token, KK_SYNTAX, "an index names a vertex that is not there — the file is damaged");
            }
            v[k] = first + (int32_t)index;
        }
        status = kki_mesh_builder_add_face(g->in->builder, v[0], v[mirror ? 2 : 1], v[mirror ? 1 : 2]);
    }
    return builder_status(g, token, status);
}

static kk_status read_indices(const glb *g, int32_t primitive, size_t vertices, array *a) {
    const int32_t token = kki_json_member(&g->json, primitive, "indices");
    if (token < 0) {
        *a = (array){.count = vertices};
        return KK_OK;
    }
    const kk_status status = find_array(g, token, 1, a);
    return status == KK_OK && a->component == FLOAT
               ? fail(g, token, KK_SYNTAX, "indices that are no whole numbers — the file is damaged")
               : status;
}

static kk_status start_part(glb *g, int32_t primitive, kki_word name) {
    int64_t material = -1;
    const int32_t token = kki_json_member(&g->json, primitive, "material");
    if (token >= 0 && !kki_json_index(&g->json, token, g->table[MATERIALS].count - 1, &material)) {
        return fail(g, token, KK_SYNTAX, "there is no such material — the file is damaged");
    }
    const kk_status status =
        kki_mesh_builder_set_part(g->in->builder, name.start, name.length, material < 0 ? -1 : g->material[material]);
    return builder_status(g, primitive, status);
}

static kk_status read_primitive(glb *g, int32_t primitive, kki_word name, const kki_affine *X) {
    size_t mode = TRIANGLES, vertices = 0;
    array indices = {0};
    if (!read_size(g, primitive, "mode", &mode) || mode > FAN) {
        return fail(g, primitive, KK_SYNTAX, "a primitive of no known mode — the file is damaged");
    }
    if (mode < TRIANGLES) {
        return KK_OK; // points and lines
    }
    const int32_t position = kki_json_member(&g->json, kki_json_member(&g->json, primitive, "attributes"), "POSITION");
    const int32_t first = g->in->builder->vertex_count;
    const bool mirror = kki_affine_mirrors(X);
    kk_status status = start_part(g, primitive, name);
    status = status         ? status
             : position < 0 ? fail(g, primitive, KK_SYNTAX, "a primitive without POSITION — export the mesh again")
                            : read_positions(g, position, X, &vertices);
    status = status ? status : read_indices(g, primitive, vertices, &indices);
    status = status ? status : add_triangles(g, primitive, &indices, (int)mode, mirror, first, vertices);
    g->in->builder->tidying.mirrored_parts += mirror;
    return status;
}

static kk_status read_mesh(glb *g, int32_t mesh, const kki_affine *X) {
    const int32_t list = kki_json_member(&g->json, mesh, "primitives");
    const kki_word name = name_of(g, mesh);
    kk_status status = KK_OK;
    for (int32_t i = kki_json_first(&g->json, list); i >= 0 && status == KK_OK; i = kki_json_after(&g->json, list, i)) {
        status = read_primitive(g, i, name, X);
    }
    return status;
}

// ---- nodes

static bool read_matrix(const glb *g, int32_t token, kki_affine *X) {
    double m[16]; // by columns
    if (!read_numbers(g, token, 16, m)) {
        return false;
    }
    *X = (kki_affine){{{m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]}}, {m[12], m[13], m[14]}};
    return true;
}

static bool read_optional(const glb *g, int32_t node, const char *name, int count, double *value) {
    const int32_t token = kki_json_member(&g->json, node, name);
    return token < 0 || read_numbers(g, token, count, value);
}

static bool read_parts(const glb *g, int32_t node, kki_affine *X) {
    double t[3] = {0, 0, 0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    if (!read_optional(g, node, "translation", 3, t) || !read_optional(g, node, "rotation", 4, r) ||
        !read_optional(g, node, "scale", 3, s)) {
        return false;
    }
    const kk_quat q = {r[3], r[0], r[1], r[2]};
    if (!(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] > 1e-12)) {
        return false;
    }
    const kk_mat3 R = kk_quat_to_mat3(kk_quat_normalize(q));
    X->A = kk_mat3_from_columns(kk_vec3_scale(kk_mat3_column(R, 0), s[0]), kk_vec3_scale(kk_mat3_column(R, 1), s[1]),
                                kk_vec3_scale(kk_mat3_column(R, 2), s[2]));
    X->p = kk_vec3_make(t[0], t[1], t[2]);
    return true;
}

static kk_status node_transform(const glb *g, int32_t node, kki_affine *X) {
    const int32_t matrix = kki_json_member(&g->json, node, "matrix");
    const bool is_good = matrix >= 0 ? read_matrix(g, matrix, X) : read_parts(g, node, X);
    return is_good ? KK_OK
                   : fail(g, node, KK_SYNTAX,
                          "the node's matrix, translation, rotation or scale is no list of its length — export again");
}

static kk_status push_nodes(glb *g, int32_t list, const kki_affine *X) {
    for (int32_t i = kki_json_first(&g->json, list); i >= 0; i = kki_json_after(&g->json, list, i)) {
        int64_t node;
        if (!kki_json_index(&g->json, i, g->table[NODES].count - 1, &node)) {
            return fail(g, i, KK_SYNTAX, "there is no such node — the file is damaged");
        }
        if (g->is_reached[node]) {
            return fail(g, i, KK_SYNTAX, "a node is reached twice — nodes must form a tree; export the mesh again");
        }
        g->is_reached[node] = true;
        g->stack[g->stack_size++] = (visit){(int32_t)node, *X};
    }
    return KK_OK;
}

static kk_status visit_node(glb *g, visit v) {
    const int32_t node = g->table[NODES].item[v.node], mesh = kki_json_member(&g->json, node, "mesh");
    kki_affine X_PN = {kk_mat3_identity(), {0, 0, 0}};
    kk_status status = node_transform(g, node, &X_PN);
    if (status != KK_OK) {
        return status;
    }
    const kki_affine X = kki_affine_mul(&v.X_WN, &X_PN);
    if (mesh >= 0) {
        const int32_t item = item_of(g, MESHES, mesh);
        status =
            item < 0 ? fail(g, mesh, KK_SYNTAX, "there is no such mesh — the file is damaged") : read_mesh(g, item, &X);
    }
    return status ? status : push_nodes(g, kki_json_member(&g->json, node, "children"), &X);
}

static kk_status visit_all(glb *g) {
    kk_status status = KK_OK;
    while (g->stack_size > 0 && status == KK_OK) {
        status = visit_node(g, g->stack[--g->stack_size]);
    }
    return status;
}

// ---- the scene

static void mark_children(glb *g) {
    for (int32_t n = 0; n < g->table[NODES].count; n++) {
        const int32_t list = kki_json_member(&g->json, g->table[NODES].item[n], "children");
        for (int32_t i = kki_json_first(&g->json, list); i >= 0; i = kki_json_after(&g->json, list, i)) {
            int64_t node;
            if (kki_json_index(&g->json, i, g->table[NODES].count - 1, &node)) {
                g->is_reached[node] = true;
            }
        }
    }
}

// without a scene, all nodes that are no other's child
static void push_roots(glb *g, const kki_affine *X) {
    mark_children(g);
    for (int32_t n = 0; n < g->table[NODES].count; n++) {
        if (!g->is_reached[n]) {
            g->stack[g->stack_size++] = (visit){n, *X};
        }
    }
    memset(g->is_reached, 0, (size_t)g->table[NODES].count * sizeof *g->is_reached);
    for (int32_t i = 0; i < g->stack_size; i++) {
        g->is_reached[g->stack[i].node] = true;
    }
}

static kk_status push_scene(glb *g, const kki_affine *X) {
    const int32_t scenes = kki_json_member(&g->json, 0, "scenes");
    int64_t wanted = 0;
    const int32_t token = kki_json_member(&g->json, 0, "scene");
    if (token >= 0 && !kki_json_index(&g->json, token, kki_json_size(&g->json, scenes) - 1, &wanted)) {
        return fail(g, token, KK_SYNTAX, "there is no such scene — the file is damaged");
    }
    int32_t scene = kki_json_first(&g->json, scenes);
    for (int64_t i = 0; i < wanted; i++) {
        scene = kki_json_after(&g->json, scenes, scene);
    }
    if (scene < 0) {
        push_roots(g, X);
        return KK_OK;
    }
    return push_nodes(g, kki_json_member(&g->json, scene, "nodes"), X);
}

static kk_status read_scene(glb *g) {
    const kki_affine as_is = {kk_mat3_identity(), {0, 0, 0}};
    const kki_affine X = g->in->options->keep_axes ? as_is : kki_affine_y_to_z();
    kk_status status = KK_OK;
    if (g->table[NODES].count == 0) { // a library of meshes
        for (int32_t i = 0; i < g->table[MESHES].count && status == KK_OK; i++) {
            status = read_mesh(g, g->table[MESHES].item[i], &X);
        }
        return status;
    }
    status = push_scene(g, &X);
    return status ? status : visit_all(g);
}

static kk_status check_extensions(const glb *g) {
    const int32_t list = kki_json_member(&g->json, 0, "extensionsRequired");
    for (int32_t i = kki_json_first(&g->json, list); i >= 0; i = kki_json_after(&g->json, list, i)) {
        size_t length;
        const char *name = kki_json_string(&g->json, i, &length);
        const bool is_harmless = length > 14 && memcmp(name, "KHR_materials_", 14) == 0;
        if (!is_harmless && !is_text(g, i, "KHR_texture_transform")) {
            return kki_mesh_error_in_binary(g->in, g->json_at + kki_json_place(&g->json, i), KK_UNSUPPORTED,
                                            "the file requires %s, which is not supported — export without it",
                                            kki_shorten(name, length).text);
        }
    }
    return KK_OK;
}

static kk_status read_content(glb *g) {
    kk_status status = parse_json(g);
    status = status ? status : check_extensions(g);
    status = status ? status : make_tables(g);
    for (int32_t i = 0; i < g->table[MATERIALS].count && status == KK_OK; i++) {
        status = read_material(g, i);
    }
    return status ? status : read_scene(g);
}

static kk_status read(kki_mesh_input *in) {
    glb g = {.in = in, .bytes = in->bytes}; // of size 0 where there is no such chunk
    kk_status status = find_chunks(&g);
    status = status ? status : read_content(&g);
    free_tables(&g);
    return status;
}

const kki_mesh_format kki_mesh_format_glb = {.name = "glb", .extension = "glb", .is_certain = is_certain, .read = read};
