// The table of mesh formats, and reading any of them.
#include "mesh_read.h"

#include "base/allocator.h"
#include "base/error.h"
#include "base/print.h"
#include "io/mesh_input.h"
#include "io/meter.h"

enum { LEAST_LIMIT = 1 << 20, TIMES_FILE = 32 };

// those with a magic first; an OBJ has none, so its content is the last to be believed
static const kki_mesh_format *const FORMATS[] = {
    &kki_mesh_format_glb, &kki_mesh_format_ply, &kki_mesh_format_dae,
    &kki_mesh_format_stl, &kki_mesh_format_msh, &kki_mesh_format_obj,
};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof FORMATS[0] };

static bool has_extension(const char *file, const char *extension) {
    const char *dot = file ? strrchr(file, '.') : NULL;
    if (!dot) {
        return false;
    }
    return kki_word_is_any_case((kki_word){dot + 1, strlen(dot + 1)}, extension);
}

static const kki_mesh_format *find_format(const unsigned char *bytes, size_t size, const char *file) {
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (FORMATS[i] != &kki_mesh_format_obj && FORMATS[i]->is_certain(bytes, size)) {
            return FORMATS[i];
        }
    }
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (has_extension(file, FORMATS[i]->extension)) {
            return FORMATS[i];
        }
    }
    return kki_mesh_format_obj.is_certain(bytes, size) ? &kki_mesh_format_obj : NULL;
}

const char *kki_mesh_format_name(const void *bytes, size_t size, const char *file) {
    const kki_mesh_format *format = find_format(bytes, size, file);
    return format ? format->name : NULL;
}

static size_t default_limit(size_t size) {
    size_t limit;
    if (!kki_size_multiply(size, TIMES_FILE, &limit)) {
        return SIZE_MAX;
    }
    return limit > LEAST_LIMIT ? limit : LEAST_LIMIT;
}

// An error of the whole file stands at its end if it is a text, at its first byte if it is not.
static kk_status error_of_file(const kki_mesh_input *in, kk_status status, const char *text) {
    const bool is_binary = in->size > 0 && memchr(in->bytes, 0, in->size) != NULL;
    return is_binary ? kki_mesh_error_in_binary(in, 0, status, "%s", text)
                     : kki_mesh_error_in_text(in, in->size, status, "%s", text);
}

static kk_status read_all(const kki_mesh_format *format, kki_mesh_input *in) {
    kki_mesh_builder_begin(in->builder, &in->allocator);
    const kk_status status = format->read(in);
    if (status == KK_OK && in->builder->vertex_count == 0) {
        char text[100];
        kki_print(text, sizeof text, "the %s file has no vertices — check that it is complete and holds a mesh",
                  format->name);
        return error_of_file(in, KK_SYNTAX, text);
    }
    return status;
}

// The mesh itself is the caller's, yet counts while the builder still lives.
static kk_status make_mesh(kki_mesh_input *in, kki_meter *meter, const kk_allocator *owner, kki_mesh **mesh) {
    kk_error problem = {0};
    // what the mesh will take at most: its arrays as they are before tidying
    const kki_mesh_builder *b = in->builder;
    const size_t needed = (size_t)b->vertex_count * sizeof *b->vertex + (size_t)b->face_count * sizeof *b->face;
    if (needed > meter->limit - meter->used) {
        meter->has_refused = true;
        return KK_OUT_OF_MEMORY;
    }
    const kk_status status = kki_mesh_builder_end(in->builder, &in->options->tidy, owner, mesh, &problem);
    return status ? error_of_file(in, status, problem.text) : KK_OK;
}

static kk_status conclude(const kki_mesh_input *in, const kki_meter *meter, kk_status status) {
    if (status == KK_OUT_OF_MEMORY && meter->has_refused) {
        char text[200];
        kki_print(text, sizeof text,
                  "reading takes more than the limit of %d kB — the file repeats its content too often; simplify "
                  "it or raise the limit",
                  (int)(meter->limit >> 10 < INT32_MAX ? meter->limit >> 10 : INT32_MAX));
        return error_of_file(in, KK_LIMIT_EXCEEDED, text);
    }
    if (status == KK_OUT_OF_MEMORY) {
        return kki_error_at(in->error, status, in->file, 0, 0,
                            "no memory for the mesh — close other programs or simplify it");
    }
    return status;
}

kk_status kki_mesh_read(const void *bytes, size_t size, const char *file, const kki_mesh_read_options *options,
                        const kk_allocator *allocator, kki_mesh **mesh, kk_error *error) {
    static const kki_mesh_read_options DEFAULTS = {0};
    kki_mesh_builder builder;
    kki_meter meter;
    *mesh = NULL;
    options = options ? options : &DEFAULTS;
    const kki_mesh_format *format = find_format(bytes, size, file);
    if (!format) {
        return kki_error_at(error, KK_UNSUPPORTED, file, 1, 1,
                            "not a mesh that can be read — convert it to STL, OBJ, PLY, COLLADA, glTF binary or MSH");
    }
    const size_t limit = options->memory_limit ? options->memory_limit : default_limit(size);
    kki_mesh_input in = {bytes, size, file, options, kki_meter_begin(&meter, allocator, limit), &builder, error};
    kk_status status = read_all(format, &in);
    status = status ? status : make_mesh(&in, &meter, allocator, mesh);
    kki_mesh_builder_free(&builder);
    return conclude(&in, &meter, status);
}
