/// Meshes of robot files: found, read, scaled and kept in the spec, each once.
#include <string.h>

#include "base/error.h"
#include "base/float_bits.h"
#include "base/print.h"
#include "io/loader.h"
#include "io/path.h"
#include "io/text.h"

enum { MOST_MESH_BYTES = 1 << 30, MOST_NAME = 200 };

static bool same_vec(kk_vec3 a, kk_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// The mesh of an earlier request for the same file and scale; −1: none.
static int find_read(const kk_spec *spec, const char *path, kk_vec3 scale) {
    for (int i = 0; i < spec->nmesh; i++) {
        const kk_mesh_def *m = &spec->mesh[i];
        if (m->file && strcmp(m->file, path) == 0 && same_vec(m->scale, scale)) {
            return i;
        }
    }
    return -1;
}

static bool is_taken(const kk_spec *spec, const char *name) {
    for (int i = 0; i < spec->nmesh; i++) {
        if (strcmp(spec->mesh[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/// The file's name without directories and extension, with a number behind it where that is taken.
static void choose_name(const kk_spec *spec, const char *path, char name[MOST_NAME + 16]) {
    const char *last = kki_path_last(path), *dot = strrchr(last, '.');
    size_t length = dot && dot != last ? (size_t)(dot - last) : strlen(last);
    length = length > MOST_NAME ? (size_t)kki_whole_length(last, MOST_NAME) : length;
    memcpy(name, last, length);
    name[length] = 0;
    for (int n = 2; is_taken(spec, name); n++) {
        kki_print(name + length, 16, "_%d", n);
    }
}

static void scale_mesh(kki_mesh *mesh, kk_vec3 s, bool single_precision) {
    for (int i = 0; i < mesh->vertex_count; i++) {
        kk_vec3 *p = &mesh->vertex[i];
        if (single_precision) {
            *p = kk_vec3_make(kki_single(p->x), kki_single(p->y), kki_single(p->z));
        }
        *p = kk_vec3_make(p->x * s.x, p->y * s.y, p->z * s.z);
    }
    const bool mirrored = (s.x < 0) != ((s.y < 0) != (s.z < 0));
    for (int i = 0; i < mesh->face_count && mirrored; i++) {
        kki_face *f = &mesh->face[i];
        const int32_t kept = f->vertex[1];
        f->vertex[1] = f->vertex[2];
        f->vertex[2] = kept;
    }
}

static kk_status read_mesh(kki_loader *l, const kki_mesh_request *r, const char *path, kki_mesh **mesh,
                           kk_error *error) {
    kki_file_data data = {0};
    const kki_file_source *source = &l->resolver.source;
    kk_status status = source->read(source->user, path, MOST_MESH_BYTES, &l->allocator, &data, error);
    if (status == KK_OK) {
        kki_loader_allow(l, data.size);
        const kki_mesh_read_options options = {.keep_axes = r->keep_axes, .keep_unit = r->keep_unit};
        status = kki_mesh_read(data.bytes, data.size, path, &options, &l->allocator, mesh, error);
        kki_file_release(&data, &l->allocator);
    }
    return status;
}

static kk_status read_into_spec(kki_loader *l, const kki_mesh_request *r, const char *path, int *id, kk_error *error) {
    char name[MOST_NAME + 16];
    kki_mesh *mesh = NULL;
    kk_status status = read_mesh(l, r, path, &mesh, error);
    if (status != KK_OK) {
        return status;
    }
    scale_mesh(mesh, r->scale, r->single_precision);
    choose_name(l->spec, path, name);
    const kk_mesh_def def = {.name = r->name ? r->name : name,
                             .file = path,
                             .reference = r->reference,
                             .scale = r->scale,
                             .origin = r->origin};
    status = kki_spec_adopt_mesh(l->spec, &def, mesh, id, error);
    if (status != KK_OK) {
        kki_mesh_free(mesh);
    }
    return status;
}

/// An error of the mesh's own file keeps its place there; one without a place gets that of the reference.
static kk_status report(kki_loader *l, const kki_mesh_request *r, const kk_error *error) {
    const bool has_place = error->file[0] != 0, is_warning = r->is_optional && error->status != KK_OUT_OF_MEMORY;
    const kki_severity severity = error->status == KK_OUT_OF_MEMORY ? KKI_ERROR : kki_fault(l);
    char text[KK_ERROR_TEXT_SIZE + 40];
    kki_print(text, sizeof text, "%s%s", is_warning ? "a shape is left out: " : "", error->text);
    const kki_finding finding = {.severity = !is_warning          ? severity
                                             : l->options->repair ? KKI_REPAIRED_ERROR
                                                                  : KKI_WARNING,
                                 .status = is_warning && !l->options->repair ? KK_OK : error->status,
                                 .file = has_place ? error->file : r->origin.file,
                                 .line = has_place ? error->line : r->origin.line,
                                 .column = has_place ? error->column : r->origin.column,
                                 .text = text};
    kki_diagnostics_add(l->diagnostics, &finding);
    return error->status;
}

kk_status kki_loader_mesh(kki_loader *loader, const kki_mesh_request *request, int *id) {
    char path[KKI_PATH_SIZE];
    kk_error error = {.status = KK_OK};
    kk_status status = kki_resolve(&loader->resolver, request->from, request->reference, path, &error);
    if (status == KK_OK && !request->name) {
        *id = find_read(loader->spec, path, request->scale);
        if (*id >= 0) {
            return KK_OK;
        }
    }
    status = status ? status : read_into_spec(loader, request, path, id, &error);
    return status ? report(loader, request, &error) : KK_OK;
}

kk_status kk_spec_add_mesh_file(kk_spec *spec, const char *path, kk_vec3 scale, int *id, kk_error *error) {
    if (!spec || !path || !id) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_spec_add_mesh_file: an argument is NULL");
    }
    // no resolver is needed: the caller names the file itself
    kki_loader loader = {.allocator = spec->allocator, .spec = spec, .path = path};
    loader.resolver.source = kki_file_source_system();
    const kki_mesh_request request = {.reference = path, .from = path, .scale = scale};
    return read_into_spec(&loader, &request, path, id, error);
}
