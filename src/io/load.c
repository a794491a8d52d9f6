/// Loading, as a story: get the file, parse it, expand macros, let the language's own loader fill a spec, add what the
/// options ask for, hand over the findings.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "io/loader.h"
#include "io/messages.h"
#include "io/xacro.h"

enum { MOST_FILE_BYTES = 256 << 20 };

// ---- origins

static kk_origin origin_at(const kki_xml *xml, uint32_t place) {
    const kki_xml_position at = kki_xml_locate(xml, place);
    return (kk_origin){at.file, at.line, at.column};
}

kk_origin kki_origin_of_node(const kki_xml *xml, int32_t node) {
    return origin_at(xml, xml->node[node].place);
}

kk_origin kki_origin_of_attribute(const kki_xml *xml, int32_t attribute) {
    return origin_at(xml, xml->attribute[attribute].value_place);
}

// ---- memory

/// That a file may need for each of its bytes. None for fuzzing, which is after checks.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { MEMORY_TIMES = 0 };
#else
enum { MEMORY_TIMES = 32 };
#endif

void kki_loader_allow(const kki_loader *loader, size_t bytes) {
    if (loader->meter) {
        const size_t rest = SIZE_MAX - loader->meter->limit;
        loader->meter->limit += MEMORY_TIMES == 0 || bytes < rest / 32 ? MEMORY_TIMES * bytes : rest;
    }
}

// ---- the story

kk_status kki_loader_parse(kki_loader *loader, const char *path, const kki_file_data *data, kki_xml **xml,
                           kk_error *error) {
    kki_xml_limits limits = kki_xml_limits_default();
    limits.allows_end_tags = true;
    const kk_status status = kki_xml_parse(path, data->bytes, data->size, &limits, &loader->allocator, xml, error);
    if (status == KK_OK && (*xml)->has_stray_end) {
        const kk_origin at = origin_at(*xml, (*xml)->stray_end);
        const kki_finding finding = {.severity = KKI_WARNING,
                                     .file = at.file,
                                     .line = at.line,
                                     .column = at.column,
                                     .text = "an end tag behind the end of the root element is passed over",
                                     .remedy = "remove it"};
        kki_diagnostics_add(loader->diagnostics, &finding);
    }
    return status;
}

static kk_status parse_file(kki_loader *l, kki_xml **xml, kk_error *error) {
    kki_file_data data = {0};
    const kki_file_source *source = &l->resolver.source;
    kk_status status = source->read(source->user, l->path, MOST_FILE_BYTES, &l->allocator, &data, error);
    if (status == KK_OK) {
        status = kki_loader_parse(l, l->path, &data, xml, error);
        kki_file_release(&data, &l->allocator);
    }
    if (status == KK_OK && (*xml)->version > 0) {
        const kk_origin at = origin_at(*xml, (*xml)->version);
        kki_diagnostics_add(l->diagnostics, &(kki_finding){.severity = KKI_NOTE,
                                                           .file = at.file,
                                                           .line = at.line,
                                                           .column = at.column,
                                                           .text = "an XML version other than 1.0 is read as 1.0",
                                                           .remedy = "write version=\"1.0\""});
    }
    return status;
}

/// Replaces a tree with xacro in it by the expanded one.
static kk_status expand(kki_loader *l, kki_xml **xml, kk_error *error) {
    if (!kki_xacro_is_used(*xml)) {
        return KK_OK;
    }
    kki_xml *expanded = NULL;
    const kki_xacro_options options = {.argument = (const kki_xacro_argument *)l->options->argument,
                                       .argument_count = l->options->argument_count};
    const kk_status status = kki_xacro_expand(*xml, l->path, &l->resolver, &options, &l->allocator, &expanded, error);
    if (status == KK_OK) {
        kki_xml_free(*xml);
        *xml = expanded;
    }
    return status;
}

static kk_status unknown_language(const kki_xml *xml, kk_error *error) {
    const char *root = kki_xml_name(xml, KKI_XML_ROOT);
    const char *hint = strcmp(root, "sdf") == 0 ? "SDF is not read; convert it to URDF or MJCF"
                                                : "a URDF file starts with <robot>, an MJCF file with <mujoco>";
    return kki_xml_error(xml, xml->node[KKI_XML_ROOT].place, error, KK_UNSUPPORTED,
                         "the file starts with <%s>, which is no robot; %s", root, hint);
}

static kk_status fill(kki_loader *l, const kki_xml *xml, kk_error *error) {
    kk_status status = KK_OK;
    if (kki_xml_is(xml, KKI_XML_ROOT, "robot")) {
        status = kki_urdf_load(l, xml);
    } else if (kki_xml_is(xml, KKI_XML_ROOT, "mujoco") || kki_xml_is(xml, KKI_XML_ROOT, "mujocoinclude")) {
        status = kki_mjcf_load(l, xml);
    } else {
        return unknown_language(xml, error);
    }
    status = status || l->diagnostics->has_error ? status : kki_srdf_load(l, error);
    return status ? status : kki_stand(l);
}

static kk_status parse_and_fill(kki_loader *l, kk_error *error) {
    kki_xml *xml = NULL;
    kk_status status = parse_file(l, &xml, error);
    status = status ? status : expand(l, &xml, error);
    status = status ? status : fill(l, xml, error);
    kki_xml_free(xml);
    return status;
}

/// Runs the loader with its resolver made. An error that is not among the findings yet joins them.
static kk_status load_with(kki_loader *l, const kki_file_source *source, kk_error *error) {
    const kk_load_options *o = l->options;
    const kki_resolve_options reach = {.search = o->search,
                                       .search_count = o->search_count,
                                       .package_path = o->package_path,
                                       .allow_absolute = o->allow_absolute != 0};
    kk_error own = {.status = KK_OK};
    kk_status status = kki_resolver_create(&l->resolver, source, l->path, &reach, &l->allocator, &own);
    if (status == KK_OK) {
        status = parse_and_fill(l, &own);
        kki_resolver_destroy(&l->resolver);
    }
    if (status != KK_OK && own.status != KK_OK && !l->diagnostics->has_error) {
        kki_diagnostics_add_error(l->diagnostics, &own);
    }
    const kk_status outcome = kki_diagnostics_outcome(l->diagnostics, error);
    return outcome ? outcome : status;
}

static kk_status load_from(kki_loader *l, kk_error *error) {
    // kk_file and kki_memory_file differ in the type of `bytes` only, but not for the language
    const kk_load_options *o = l->options;
    if (!o->file) {
        const kki_file_source system = kki_file_source_system();
        return load_with(l, &system, error);
    }
    kki_memory_file *file = kki_allocate_array(&l->allocator, (size_t)o->file_count, sizeof *file);
    if (!file) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a list of %d files", o->file_count);
    }
    for (int i = 0; i < o->file_count; i++) {
        file[i] = (kki_memory_file){o->file[i].path, o->file[i].bytes, o->file[i].size};
    }
    kki_memory_files files = {file, o->file_count};
    const kki_file_source memory = kki_file_source_memory(&files);
    const kk_status status = load_with(l, &memory, error);
    kki_release_array(&l->allocator, file, (size_t)o->file_count, sizeof *file);
    return status;
}

static kk_status load_into(kki_loader *l, kk_spec **spec, kk_error *error) {
    kk_status status = kk_spec_create(&l->allocator, &l->spec);
    if (status != KK_OK) {
        return kki_error_set(error, status, "no memory for a spec");
    }
    status = load_from(l, error);
    if (status == KK_OK) {
        *spec = l->spec;
    } else {
        kk_spec_free(l->spec);
    }
    return status;
}

kk_status kk_load_file(const char *path, const kk_load_options *options, const kk_allocator *allocator, kk_spec **spec,
                       kk_messages **messages, kk_error *error) {
    static const kk_load_options as_the_file_says = {0};
    if (!path || !spec) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_load_file: the path or the place for the spec is NULL");
    }
    *spec = NULL;
    if (messages) {
        *messages = NULL;
    }
    kki_loader loader = {.options = options ? options : &as_the_file_says,
                         .allocator = kki_allocator_or_default(allocator),
                         .path = path};
    kk_messages *list = NULL;
    kk_status status = kk_messages_create(&loader.allocator, &list);
    if (status != KK_OK) {
        return kki_error_set(error, status, "no memory for a list of messages");
    }
    loader.diagnostics = &list->list;
    status = load_into(&loader, spec, error);
    if (messages) {
        *messages = list;
    } else {
        kk_messages_free(list);
    }
    return status;
}

kk_status kk_load_model(const char *path, const kk_load_options *options, kk_model **model, kk_error *error) {
    if (!path || !model) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "kk_load_model: the path or the place for the model is NULL");
    }
    *model = NULL;
    const kk_allocator *allocator = options ? options->allocator : NULL;
    kk_spec *spec = NULL;
    kk_status status = kk_load_file(path, options, allocator, &spec, NULL, error);
    if (status == KK_OK) {
        status = kk_model_compile(spec, allocator, model, error);
        kk_spec_free(spec);
    }
    if (status != KK_OK) {
        kki_error_trail(error, "while %s was loaded", path);
    }
    return status;
}
