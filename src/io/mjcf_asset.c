/// <asset>: meshes, height fields, and textures and materials as looks.
#include <string.h>

#include "base/allocator.h"
#include "base/float_bits.h"
#include "geometry/hull.h"
#include "io/mjcf.h"
#include "io/path.h"
#include "io/png.h"
#include "io/text.h"

enum { MOST_FIELD_BYTES = 256 << 20, MOST_FIELD_SIDE = 20000 };

// ---- files

/// directory/file, or the file's last part where paths are stripped.
static const char *reference_of(kki_mjcf *m, const char *directory, const char *file) {
    const char *name = m->set.strip_path ? kki_path_last(file) : file;
    if (!directory[0] || kki_path_is_absolute(name)) {
        return name;
    }
    const size_t length = strlen(directory);
    return kki_mjcf_join(m, directory[length - 1] == '/' ? directory : kki_mjcf_join(m, directory, "/"), name);
}

/// From which file a reference leads somewhere: the model's own, or the one that it stands in.
static const char *base_of(kki_mjcf *m, int32_t node, const char *reference) {
    char path[KKI_PATH_SIZE];
    kk_error ignored;
    const char *own = m->scope == 0 ? m->loader->path : m->tree->scope[m->scope].path;
    const bool from_own = kki_resolve(&m->loader->resolver, own, reference, path, &ignored) == KK_OK;
    return from_own ? own : kki_origin_of_node(m->xml, node).file;
}

/// The name of an asset: its own, or its file's without directory and extension.
static const char *asset_name(kki_mjcf *m, int32_t node) {
    const char *name = kki_xml_value(m->xml, node, "name"), *file = kki_xml_value(m->xml, node, "file");
    if ((name && name[0]) || !file || !file[0]) {
        return name && name[0] ? name : NULL;
    }
    const char *last = kki_path_last(file), *dot = strrchr(last, '.');
    char *copy = kki_pool_copy(&m->pool, last, dot && dot != last ? (size_t)(dot - last) : strlen(last));
    if (!copy) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
    }
    return copy && copy[0] ? copy : NULL;
}

// ---- meshes

typedef struct mesh_shift {
    kk_vec3 scale, position;
    kk_mat3 rotation;
    bool is_needed;
} mesh_shift;

static mesh_shift read_shift(const kki_mjcf_at *at) {
    double q[4] = {1, 0, 0, 0};
    kki_mjcf_numbers(at, "refquat", 4, 4, q);
    const double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    mesh_shift s = {.scale = kki_mjcf_vector(at, "scale", kk_vec3_make(1, 1, 1)),
                    .position = kki_mjcf_vector(at, "refpos", kk_vec3_make(0, 0, 0)),
                    .rotation = kk_mat3_identity()};
    if (n > 0) {
        s.rotation = kk_quat_to_mat3(kk_quat_normalize((kk_quat){q[0], q[1], q[2], q[3]}));
    }
    s.is_needed = kki_mjcf_has(at, "refpos") || kki_mjcf_has(at, "refquat");
    return s;
}

/// scale · Rᵀ (v − refpos), and faces turned where the scale mirrors.
static void shift_mesh(const mesh_shift *s, kk_vec3 *vertex, int vertices, int32_t (*face)[3], int faces) {
    for (int i = 0; i < vertices; i++) {
        const kk_vec3 p = kk_mat3_tmul_vec(s->rotation, kk_vec3_sub(vertex[i], s->position));
        vertex[i] = kk_vec3_make(p.x * s->scale.x, p.y * s->scale.y, p.z * s->scale.z);
    }
    const bool is_mirrored = (s->scale.x < 0) != ((s->scale.y < 0) != (s->scale.z < 0));
    for (int i = 0; i < faces && is_mirrored; i++) {
        const int32_t kept = face[i][1];
        face[i][1] = face[i][2];
        face[i][2] = kept;
    }
}

static bool load_file(kki_mjcf *m, kki_mjcf_mesh *mesh, const kki_mjcf_at *at, const char *file, const char *name) {
    mesh_shift shift = read_shift(at);
    const char *reference = reference_of(m, m->set.mesh_directory, file);
    const int32_t attribute = kki_mjcf_find(at, "file"); // the element's or its class's
    const kki_mesh_request request = {.name = name,
                                      .reference = reference,
                                      .from = base_of(m, mesh->node, reference),
                                      .scale = shift.is_needed ? kk_vec3_make(1, 1, 1) : shift.scale,
                                      .keep_axes = false,
                                      .single_precision = true,
                                      .origin = kki_origin_of_attribute(m->xml, attribute)};
    const kk_status status = kki_loader_mesh(m->loader, &request, &mesh->id);
    if (status != KK_OK) {
        mesh->id = -1;
        kki_mjcf_stop(m, status == KK_OUT_OF_MEMORY ? status : KK_OK);
        return false;
    }
    if (shift.is_needed) {
        // the spec owns these arrays, and nobody else has seen them yet
        kk_mesh_def *def = kk_spec_mesh(m->loader->spec, mesh->id);
        shift_mesh(&shift, (kk_vec3 *)def->vertex, def->vertex_count, (int32_t(*)[3])def->face, def->face_count);
        def->scale = shift.scale;
        def->file = def->reference = NULL; // the file alone does not tell these vertices any more
    }
    return true;
}

static kk_status adopt(kki_mjcf *m, kki_mjcf_mesh *mesh, const char *name, kki_mesh *made, kk_vec3 scale,
                       kk_error *error) {
    const kk_mesh_def def = {.name = name, .scale = scale, .origin = kki_origin_of_node(m->xml, mesh->node)};
    const kk_status status = kki_spec_adopt_mesh(m->loader->spec, &def, made, &mesh->id, error);
    if (status != KK_OK) {
        kki_mesh_free(made);
    }
    return status;
}

static void load_builtin(kki_mjcf *m, kki_mjcf_mesh *mesh, const kki_mjcf_at *at, const char *name) {
    kki_mesh *made;
    if (kki_mjcf_builtin(at, &made)) {
        const mesh_shift shift = read_shift(at);
        shift_mesh(&shift, made->vertex, made->vertex_count, (int32_t(*)[3])made->face, made->face_count);
        kki_mjcf_stop(m, adopt(m, mesh, name, made, shift.scale, &m->error));
    }
}

static kk_status add_inline(kki_mjcf *m, kki_mjcf_mesh *mesh, const char *name, kk_vec3 *vertex, int vertices,
                            kki_face *face, int faces, const mesh_shift *shift, kk_error *error) {
    kki_mesh *made = NULL;
    shift_mesh(shift, vertex, vertices, (int32_t(*)[3])face, faces);
    kk_status status = faces > 0 ? kki_mesh_create(vertex, vertices, face, faces, &m->loader->allocator, &made, error)
                                 : kki_hull_of_points(vertex, vertices, NULL, &m->loader->allocator, &made, error);
    if (status != KK_OK) {
        return status;
    }
    return adopt(m, mesh, name, made, shift->scale, error);
}

static int32_t index_of(double number) {
    return number >= 0 && number < KKI_MESH_MAX_ITEMS ? (int32_t)number : -1;
}

static void load_inline(kki_mjcf *m, kki_mjcf_mesh *mesh, const kki_mjcf_at *at, const char *name) {
    const int32_t vertex_at = kki_mjcf_find(at, "vertex"), face_at = kki_mjcf_find(at, "face");
    const kk_allocator *a = &m->loader->allocator;
    size_t nv = 0, nf = 0;
    double *v = kki_mjcf_all_numbers(m, mesh->node, vertex_at, &nv);
    double *f = v && face_at != KKI_XML_NONE ? kki_mjcf_all_numbers(m, mesh->node, face_at, &nf) : NULL;
    kk_vec3 *vertex = v ? kki_allocate_array(a, nv / 3 + 1, sizeof *vertex) : NULL;
    kki_face *face = v ? kki_allocate_array(a, nf / 3 + 1, sizeof *face) : NULL;
    kk_error error = {.status = KK_OK};
    if (vertex && face && (face_at == KKI_XML_NONE || f)) {
        const mesh_shift shift = read_shift(at);
        for (size_t i = 0; i < nv / 3; i++) {
            vertex[i] = kk_vec3_make(kki_single(v[3 * i]), kki_single(v[3 * i + 1]), kki_single(v[3 * i + 2]));
        }
        for (size_t i = 0; i < nf / 3; i++) {
            face[i] = (kki_face){{index_of(f[3 * i]), index_of(f[3 * i + 1]), index_of(f[3 * i + 2])}};
        }
        const kk_status status =
            nv % 3 || nf % 3 || nv == 0 || nv / 3 > KKI_MESH_MAX_ITEMS
                ? KK_SIZE_MISMATCH
                : add_inline(m, mesh, name, vertex, (int)(nv / 3), face, (int)(nf / 3), &shift, &error);
        if (status == KK_OUT_OF_MEMORY) {
            kki_mjcf_stop(m, status);
        } else if (status != KK_OK) {
            kki_mjcf_report(m, KKI_ERROR, status, mesh->node, "vertex", "mesh '%s': %s", name,
                            error.text[0] ? error.text
                                          : "vertices and faces come as triples; the count is no multiple of three");
        }
    } else if (v && (!vertex || !face)) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
    }
    kki_release_array(a, face, nf / 3 + 1, sizeof *face);
    kki_release_array(a, vertex, nv / 3 + 1, sizeof *vertex);
    kki_release_array(a, f, nf, sizeof *f);
    kki_release_array(a, v, nv, sizeof *v);
}

static void load_mesh(kki_mjcf *m, kki_mjcf_mesh *mesh) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, mesh->node, KKI_MJCF_OF_MESH, 0);
    const char *name = asset_name(m, mesh->node), *file = kki_mjcf_text(&at, "file");
    if (file) {
        load_file(m, mesh, &at, file, name);
    } else if (kki_mjcf_has(&at, "vertex")) {
        load_inline(m, mesh, &at, name);
    } else if (kki_mjcf_has(&at, "builtin")) {
        load_builtin(m, mesh, &at, name);
    } else {
        kki_mjcf_report(m, KKI_ERROR, KK_NOT_FOUND, mesh->node, NULL,
                        "<mesh> has neither a file nor vertices; add file=\"...\"");
    }
}

bool kki_mjcf_mesh_load(kki_mjcf *m, kki_mjcf_mesh *mesh) {
    if (mesh->is_tried || m->status != KK_OK) {
        return mesh->id >= 0;
    }
    const int scope = m->scope; // a geom may be of another model than its mesh
    mesh->is_tried = true;
    kki_mjcf_enter(m, mesh->node);
    load_mesh(m, mesh);
    kki_mjcf_enter_scope(m, scope);
    return mesh->id >= 0;
}

static void read_mesh(kki_mjcf *m, int32_t node) {
    static const kki_keyword modes[] = {{"convex", KKI_MASS_HULL},
                                        {"exact", KKI_MASS_SOLID},
                                        {"legacy", KKI_MASS_CONES},
                                        {"shell", KKI_MASS_SHELL},
                                        {NULL, 0}};
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_MESH, 0);
    const char *name = asset_name(m, node);
    if (!name) {
        kki_mjcf_report(m, KKI_ERROR, KK_NOT_FOUND, node, NULL, "<mesh> has neither a name nor a file; add a name");
        return;
    }
    kki_mjcf_mesh *mesh = KKI_MJCF_PUSH(m, mesh);
    if (!mesh) {
        return;
    }
    *mesh = (kki_mjcf_mesh){.id = -1, .node = node, .mode = kki_mjcf_word(&at, "inertia", modes, KKI_MASS_CONES)};
    kki_mjcf_name_put(m, KKI_MJCF_MESH, name, m->mesh_count - 1, node);
    if (m->loader->options->meshes == KK_MESH_LOAD_ALL) {
        kki_mjcf_mesh_load(m, mesh);
    }
}

bool kki_mjcf_mesh_mass(kki_mjcf *m, kki_mjcf_mesh *mesh, int32_t node, kki_mass *mass) {
    if (!kki_mjcf_mesh_load(m, mesh)) {
        return false;
    }
    if (!mesh->has_mass) {
        const kk_mesh_def *def = kk_spec_mesh_const(m->loader->spec, mesh->id);
        const kki_mesh view = {.allocator = m->loader->allocator,
                               .vertex_count = def->vertex_count,
                               .face_count = def->face_count,
                               .vertex = (kk_vec3 *)def->vertex,
                               .face = (kki_face *)def->face};
        kk_error error = {.status = KK_OK};
        const kk_status status =
            kki_mass_of_mesh(&view, (kki_mass_mode)mesh->mode, &m->loader->allocator, &mesh->mass, NULL, &error);
        if (status != KK_OK) {
            kki_mjcf_stop(m, status == KK_OUT_OF_MEMORY ? status : KK_OK);
            kki_mjcf_report(
                m, KKI_ERROR, status, node, "mesh",
                "mesh '%s' has no inertia: %s; give the body an <inertial>, the geom mass=\"0\", or the mesh "
                "inertia=\"shell\"",
                def->name, error.text);
            return false;
        }
        mesh->has_mass = true;
    }
    *mass = mesh->mass;
    return true;
}

// ---- height fields

static void normalize(double *height, size_t count, double top) {
    double lower = height[0], upper = height[0];
    for (size_t i = 1; i < count; i++) {
        lower = height[i] < lower ? height[i] : lower;
        upper = height[i] > upper ? height[i] : upper;
    }
    for (size_t i = 0; i < count; i++) {
        height[i] = upper > lower ? (height[i] - lower) / (upper - lower) * top : 0;
    }
}

static void add_field(kki_mjcf *m, int32_t node, kk_height_field_def *def, double *height, double top) {
    int id;
    normalize(height, (size_t)def->rows * (size_t)def->columns, top);
    def->height = height;
    def->origin = kki_origin_of_node(m->xml, node);
    const kk_status status = kk_spec_add_height_field(m->loader->spec, def, &id, &m->error);
    if (kki_mjcf_stop(m, status) == KK_OK) {
        kki_mjcf_name_put(m, KKI_MJCF_HFIELD, def->name, id, node);
    }
}

/// Rows of a text and of a picture run from the far edge to the near one.
static void turn_rows(double *v, size_t rows, size_t columns) {
    for (size_t r = 0; r < rows / 2; r++) {
        for (size_t c = 0; c < columns; c++) {
            const double kept = v[r * columns + c];
            v[r * columns + c] = v[(rows - 1 - r) * columns + c];
            v[(rows - 1 - r) * columns + c] = kept;
        }
    }
}

static void read_elevation(kki_mjcf *m, int32_t node, int32_t attribute, kk_height_field_def *def, double top) {
    size_t count = 0;
    const size_t rows = (size_t)def->rows, columns = (size_t)def->columns;
    double *v = kki_mjcf_all_numbers(m, node, attribute, &count);
    if (!v) {
        return;
    }
    if (count != rows * columns) {
        kki_mjcf_report(m, KKI_ERROR, KK_SIZE_MISMATCH, node, "elevation",
                        "elevation must have nrow times ncol numbers; correct nrow and ncol");
    } else {
        turn_rows(v, rows, columns);
        add_field(m, node, def, v, top);
    }
    kki_release_array(&m->loader->allocator, v, count, sizeof *v);
}

static void add_picture(kki_mjcf *m, int32_t node, const kki_picture *picture, kk_height_field_def *def, double top) {
    const size_t count = (size_t)picture->height * (size_t)picture->width;
    double *height = kki_allocate_array(&m->loader->allocator, count, sizeof *height);
    if (!height) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        height[i] = picture->value[i];
    }
    def->rows = picture->height;
    def->columns = picture->width;
    turn_rows(height, (size_t)def->rows, (size_t)def->columns);
    add_field(m, node, def, height, top);
    kki_release_array(&m->loader->allocator, height, count, sizeof *height);
}

/// Bright is high. MuJoCo's rule, but for pictures of 16 bits, of which it reads the upper 8.
static void read_picture(kki_mjcf *m, int32_t node, const kki_file_data *data, kk_height_field_def *def, double top) {
    kki_picture picture;
    kk_error error = {.status = KK_OK};
    const kk_status status = kki_png_read(data->bytes, data->size, &m->loader->allocator, &picture, &error);
    if (status == KK_OUT_OF_MEMORY) {
        kki_mjcf_stop(m, status);
    } else if (status != KK_OK) {
        kki_mjcf_report(m, KKI_ERROR, status, node, "file", "%s: %s", kki_shorten_string(def->file).text, error.text);
    } else if (picture.width < 2 || picture.height < 2) {
        kki_mjcf_report(m, KKI_ERROR, KK_SYNTAX, node, "file",
                        "the picture of a height field must have at least 2 by 2 pixels; make a larger one");
    } else {
        add_picture(m, node, &picture, def, top);
    }
    kki_picture_release(&picture);
}

static uint32_t little_endian(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/// MuJoCo's own format: two 32-bit counts, rows and columns, and floats.
static const char *decode_field(kki_mjcf *m, int32_t node, const kki_file_data *data, kk_height_field_def *def,
                                double top) {
    const unsigned char *b = (const unsigned char *)data->bytes;
    const uint32_t rows = data->size >= 8 ? little_endian(b) : 0, columns = data->size >= 8 ? little_endian(b + 4) : 0;
    if (rows < 2 || columns < 2 || rows > MOST_FIELD_SIDE || columns > MOST_FIELD_SIDE ||
        data->size != 8 + 4 * (size_t)rows * columns) {
        return "the file is no height field; it starts with rows and columns and has a float for each point";
    }
    const size_t count = (size_t)rows * columns;
    double *height = kki_allocate_array(&m->loader->allocator, count, sizeof *height);
    if (!height) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return NULL;
    }
    bool is_finite = true;
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = little_endian(b + 8 + 4 * i);
        float value;
        memcpy(&value, &bits, sizeof value);
        height[i] = value;
        is_finite = is_finite && value - value == 0;
    }
    def->rows = (int)rows;
    def->columns = (int)columns;
    if (is_finite) {
        add_field(m, node, def, height, top);
    }
    kki_release_array(&m->loader->allocator, height, count, sizeof *height);
    return is_finite ? NULL : "a height is not a finite number; make the file again";
}

static void read_field_file(kki_mjcf *m, int32_t node, const char *file, kk_height_field_def *def, double top) {
    char path[KKI_PATH_SIZE];
    kk_error error = {.status = KK_OK};
    kki_file_data data = {0};
    const kki_file_source *source = &m->loader->resolver.source;
    const char *reference = reference_of(m, m->set.mesh_directory, file);
    kk_status status = kki_resolve(&m->loader->resolver, base_of(m, node, reference), reference, path, &error);
    status = status ? status : source->read(source->user, path, MOST_FIELD_BYTES, &m->loader->allocator, &data, &error);
    if (status != KK_OK) {
        kki_mjcf_stop(m, status == KK_OUT_OF_MEMORY ? status : KK_OK);
        kki_mjcf_report(m, KKI_ERROR, status, node, "file", "%s", error.text);
        return;
    }
    kki_loader_allow(m->loader, data.size);
    def->file = path;
    const char *fault = NULL;
    if (kki_png_is(data.bytes, data.size)) {
        read_picture(m, node, &data, def, top);
    } else {
        fault = decode_field(m, node, &data, def, top);
    }
    kki_file_release(&data, &m->loader->allocator);
    if (fault) {
        kki_mjcf_report(m, KKI_ERROR, KK_SYNTAX, node, "file", "%s", fault);
    }
}

static void read_field(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_here(m, node);
    double size[4] = {1, 1, 1, 1};
    if (kki_mjcf_numbers(&at, "size", 4, 4, size) != 4 || !(size[0] > 0 && size[1] > 0 && size[2] > 0 && size[3] > 0)) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_ARGUMENT, node, "size",
                        "<hfield> needs a size of four positive numbers; half x, half y, height, base");
        return;
    }
    kk_height_field_def def = kk_height_field_def_default();
    def.name = asset_name(m, node);
    def.half_x = size[0];
    def.half_y = size[1];
    def.base = size[3];
    def.rows = (int)kki_mjcf_whole(&at, "nrow", 0, MOST_FIELD_SIDE, 0);
    def.columns = (int)kki_mjcf_whole(&at, "ncol", 0, MOST_FIELD_SIDE, 0);
    const char *file = kki_mjcf_text(&at, "file");
    const int32_t elevation = kki_mjcf_find(&at, "elevation");
    if (!def.name) {
        kki_mjcf_report(m, KKI_ERROR, KK_NOT_FOUND, node, NULL, "<hfield> has neither a name nor a file; add a name");
    } else if (file) {
        read_field_file(m, node, file, &def, size[2]);
    } else if (def.rows < 2 || def.columns < 2) {
        kki_mjcf_report(m, KKI_ERROR, KK_INVALID_ARGUMENT, node, "nrow",
                        "<hfield> needs a file, or nrow and ncol of at least 2; add them");
    } else if (elevation != KKI_XML_NONE) {
        read_elevation(m, node, elevation, &def, size[2]);
    } else {
        const size_t count = (size_t)def.rows * (size_t)def.columns;
        double *flat = kki_allocate_array_zeroed(&m->loader->allocator, count, sizeof *flat);
        if (flat) {
            add_field(m, node, &def, flat, size[2]);
        } else {
            kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        }
        kki_release_array(&m->loader->allocator, flat, count, sizeof *flat);
    }
}

// ---- looks

static void read_texture(kki_mjcf *m, int32_t node) {
    const char *name = asset_name(m, node);
    kki_mjcf_name_put(m, KKI_MJCF_TEXTURE, name, (int)node, node);
}

static void read_color(const kki_mjcf_at *at, const char *name, double otherwise, float color[3]) {
    double c[3] = {otherwise, otherwise, otherwise};
    kki_mjcf_numbers(at, name, 3, 3, c);
    for (int i = 0; i < 3; i++) {
        color[i] = (float)(c[i] < 0 ? 0 : c[i] > 1 ? 1 : c[i]);
    }
}

/// A texture by its name: its file as the model file has it, or its pattern.
static void take_texture(kki_mjcf *m, const kki_mjcf_at *at, kk_visual_def *visual) {
    static const kki_keyword patterns[] = {{"none", KK_PATTERN_NONE},
                                           {"flat", KK_PATTERN_FLAT},
                                           {"gradient", KK_PATTERN_GRADIENT},
                                           {"checker", KK_PATTERN_CHECKER},
                                           {NULL, 0}};
    const int node = kki_mjcf_refer(at, "texture", KKI_MJCF_TEXTURE);
    if (node < 0) {
        return;
    }
    const kki_mjcf_at texture = kki_mjcf_element_of_class(m, (int32_t)node, KKI_MJCF_OF_TEXTURE, 0);
    const char *file = kki_mjcf_text(&texture, "file");
    visual->texture = file ? reference_of(m, m->set.texture_directory, file) : NULL;
    visual->pattern =
        file ? KK_PATTERN_NONE : (kk_pattern)kki_mjcf_word(&texture, "builtin", patterns, KK_PATTERN_NONE);
    read_color(&texture, "rgb1", 0.8, visual->pattern_color[0]);
    read_color(&texture, "rgb2", 0.5, visual->pattern_color[1]);
}

/// Of the layers the one with the colors counts.
static void read_layers(kki_mjcf *m, int32_t material, kk_visual_def *visual) {
    for (int32_t c = kki_xml_first(m->xml, material, NULL); c != KKI_XML_NONE; c = kki_xml_next(m->xml, c, NULL)) {
        const char *role = kki_mjcf_is_read(m, "asset/material", c) ? kki_xml_value(m->xml, c, "role") : NULL;
        if (role && (strcmp(role, "rgb") == 0 || strcmp(role, "rgba") == 0)) {
            const kki_mjcf_at layer = kki_mjcf_element_here(m, c);
            take_texture(m, &layer, visual);
        }
    }
}

static void read_material(kki_mjcf *m, int32_t node) {
    const kki_mjcf_at at = kki_mjcf_element_of_class(m, node, KKI_MJCF_OF_MATERIAL, 0);
    const char *name = asset_name(m, node);
    double color[4] = {1, 1, 1, 1};
    kki_mjcf_numbers(&at, "rgba", 4, 4, color);
    kk_visual_def visual = kk_visual_def_default();
    visual.name = name;
    if (kki_mjcf_text(&at, "texture")) {
        take_texture(m, &at, &visual);
    }
    read_layers(m, node, &visual);
    double repeat[2] = {1, 1};
    kki_mjcf_numbers(&at, "texrepeat", 1, 2, repeat);
    visual.repeat[0] = (float)repeat[0];
    visual.repeat[1] = (float)repeat[1];
    visual.repeats_by_size = kki_mjcf_truth(&at, "texuniform", false);
    visual.origin = kki_origin_of_node(m->xml, node);
    for (int i = 0; i < 4; i++) {
        visual.color[i] = (float)(color[i] < 0 ? 0 : color[i] > 1 ? 1 : color[i]);
    }
    int id;
    if (kki_mjcf_stop(m, kk_spec_add_visual(m->loader->spec, &visual, &id, &m->error)) == KK_OK) {
        kki_mjcf_name_put(m, KKI_MJCF_VISUAL, name, id, node);
    }
}

// textures in the first pass, in all sections: materials name them
void kki_mjcf_asset(kki_mjcf *m, int32_t section) {
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, NULL)) {
        const bool is_texture = kki_xml_is(m->xml, c, "texture");
        if (is_texture != (m->pass == 0) || !kki_mjcf_is_read(m, "asset", c)) {
            continue;
        }
        if (is_texture) {
            read_texture(m, c);
        } else if (kki_xml_is(m->xml, c, "mesh")) {
            read_mesh(m, c);
        } else if (kki_xml_is(m->xml, c, "hfield")) {
            read_field(m, c);
        } else {
            read_material(m, c);
        }
    }
}
