/// MJCF's <include>: the children of the included file's root take the element's place.
///
/// The file is looked for from the main file first and then from the including one, as MuJoCo does. A file may be included
/// several times, never in itself; depth, number of files and size of the result are bounded. No recursion.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "io/loader.h"
#include "io/mjcf.h"
#include "io/xml_build.h"

enum { MOST_DEPTH = 64, MOST_DOCUMENTS = 1000, MOST_BYTES = 256 << 20, MOST_STRINGS = 1 << 29, MOST_NODES = 32 << 20 };

typedef struct document {
    kki_xml *owned; ///< NULL for the main file, which the caller owns
    const kki_xml *xml;
    char path[KKI_PATH_SIZE];
    uint32_t base; ///< of its places in the result
} document;

/// Children that are being copied: of an element of the result, or of an included root.
typedef struct level {
    int document;
    int32_t next;     ///< node to copy
    bool is_included; ///< the end of it closes no element
} level;

typedef struct includer {
    kki_loader *loader;
    kki_xml *result;
    kk_error *error;
    document *document;
    int document_count, document_room;
    level *level;
    int level_count, level_room, include_depth;
} includer;

static kk_status no_memory(const includer *x, kk_status status) {
    return kki_error_set(x->error, status,
                         status == KK_OUT_OF_MEMORY ? "no memory to include files"
                                                    : "the file with its includes is too large; include less");
}

static kk_status fail(const includer *x, const level *at, int32_t node, kk_status status, const char *text,
                      const char *name) {
    const kki_xml *xml = x->document[at->document].xml;
    const int32_t a = kki_xml_find(xml, node, "file");
    const uint32_t place = a == KKI_XML_NONE ? xml->node[node].place : xml->attribute[a].value_place;
    return kki_xml_error(xml, place, x->error, status, "%s%s", text, name);
}

static bool make_room(const includer *x, void **array, int count, int *room, size_t size) {
    if (count < *room) {
        return true;
    }
    const int larger = *room ? 2 * *room : 16;
    void *moved = kki_allocate_array(&x->loader->allocator, (size_t)larger, size);
    if (!moved) {
        return false;
    }
    if (*array) {
        memcpy(moved, *array, (size_t)count * size);
        kki_release_array(&x->loader->allocator, *array, (size_t)*room, size);
    }
    *array = moved;
    *room = larger;
    return true;
}

static kk_status push_level(includer *x, int doc, int32_t first, bool is_included) {
    if (!make_room(x, (void **)&x->level, x->level_count, &x->level_room, sizeof *x->level)) {
        return no_memory(x, KK_OUT_OF_MEMORY);
    }
    x->level[x->level_count++] = (level){doc, first, is_included};
    x->include_depth += is_included ? 1 : 0;
    return KK_OK;
}

/// Takes a tree in; its text becomes a source of the result.
static kk_status add_document(includer *x, const kki_xml *xml, kki_xml *owned, const char *path, int *id) {
    if (!make_room(x, (void **)&x->document, x->document_count, &x->document_room, sizeof *x->document)) {
        return no_memory(x, KK_OUT_OF_MEMORY);
    }
    int32_t base_source = -1;
    for (int32_t i = 0; i < xml->source_count; i++) { // several where xacro has been at work
        int32_t source;
        const kki_xml_source *s = &xml->source[i];
        const kk_status status = kki_xml_add_source(x->result, s->file, s->text, s->length, &source);
        if (status != KK_OK) {
            return no_memory(x, status);
        }
        base_source = i == 0 ? source : base_source;
    }
    document *d = &x->document[x->document_count];
    *d = (document){.owned = owned, .xml = xml};
    d->base = base_source < 0 ? 0 : x->result->source[base_source].base - xml->source[0].base;
    strncpy(d->path, path, sizeof d->path - 1);
    *id = x->document_count++;
    return KK_OK;
}

/// The element that includes, in the error's trail.
static void tell_origin(const includer *x, const level *at, int32_t node) {
    const document *d = &x->document[at->document];
    const kk_origin o = kki_origin_of_node(d->xml, node);
    kki_error_trail(x->error, "included from %s:%d:%d", d->path, o.line, o.column);
}

static kk_status read_document(includer *x, const level *at, int32_t node, const char *path, int *id) {
    if (x->document_count == MOST_DOCUMENTS) {
        return fail(x, at, node, KK_LIMIT_EXCEEDED, "too many included files; join some of them", "");
    }
    const kki_file_source *source = &x->loader->resolver.source;
    kki_file_data data = {0};
    kki_xml *xml = NULL;
    kk_status status = source->read(source->user, path, MOST_BYTES, &x->loader->allocator, &data, x->error);
    if (status != KK_OK) {
        return fail(x, at, node, status, "the included file cannot be read: ", path);
    }
    status = kki_loader_parse(x->loader, path, &data, &xml, x->error);
    kki_file_release(&data, &x->loader->allocator);
    if (status != KK_OK) {
        tell_origin(x, at, node);
    }
    status = status ? status : add_document(x, xml, xml, path, id);
    if (status != KK_OK) {
        kki_xml_free(xml);
    }
    return status;
}

static bool is_open(const includer *x, const char *path) {
    for (int i = 0; i < x->level_count; i++) {
        if ((i == 0 || x->level[i].is_included) && strcmp(x->document[x->level[i].document].path, path) == 0) {
            return true;
        }
    }
    return false;
}

static int find_document(const includer *x, const char *path) {
    for (int i = 0; i < x->document_count; i++) {
        if (strcmp(x->document[i].path, path) == 0) {
            return i;
        }
    }
    return -1;
}

static kk_status open_include(includer *x, const level at, int32_t node) {
    char path[KKI_PATH_SIZE];
    const kki_xml *xml = x->document[at.document].xml;
    const char *reference = kki_xml_value(xml, node, "file");
    if (!reference || !reference[0]) {
        return fail(x, &at, node, KK_NOT_FOUND, "<include> names no file; add file=\"...\"", "");
    }
    kk_error ignored;
    if (kki_resolve(&x->loader->resolver, x->document[0].path, reference, path, &ignored) != KK_OK) {
        const kk_status status =
            kki_resolve(&x->loader->resolver, x->document[at.document].path, reference, path, x->error);
        if (status != KK_OK) {
            return fail(x, &at, node, status,
                        x->error ? x->error->text : "the included file is not there: ", x->error ? "" : reference);
        }
    }
    if (is_open(x, path)) {
        return fail(x, &at, node, KK_INVALID_ARGUMENT, "the file includes itself; remove one of the includes: ", path);
    }
    if (x->include_depth == MOST_DEPTH) {
        return fail(x, &at, node, KK_LIMIT_EXCEEDED, "includes are nested too deep; join some of the files", "");
    }
    int id = find_document(x, path);
    const kk_status status = id < 0 ? read_document(x, &at, node, path, &id) : KK_OK;
    return status ? status : push_level(x, id, x->document[id].xml->node[KKI_XML_ROOT].first_child, true);
}

static kk_status copy_attributes(const includer *x, const document *d, const kki_xml_node *n) {
    kk_status status = KK_OK;
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count && status == KK_OK; i++) {
        const kki_xml_attribute *a = &d->xml->attribute[i];
        kki_xml_attribute to = {
            .place = a->place + d->base, .value_place = a->value_place + d->base, .value_length = a->value_length};
        const char *name = kki_xml_string(d->xml, a->name);
        status = kki_xml_add_string(x->result, name, strlen(name), &to.name);
        status = status ? status
                        : kki_xml_add_string(x->result, kki_xml_string(d->xml, a->value), a->value_length, &to.value);
        status = status ? status : kki_xml_add_attribute(x->result, &to);
    }
    return status;
}

static kk_status copy_node(includer *x, const level *at, int32_t node) {
    const document *d = &x->document[at->document];
    const kki_xml_node *n = &d->xml->node[node];
    uint32_t text;
    if (x->result->node_count >= MOST_NODES || x->result->string_size >= MOST_STRINGS) {
        return no_memory(x, KK_LIMIT_EXCEEDED);
    }
    kk_status status = kki_xml_add_string(x->result, kki_xml_string(d->xml, n->text), n->length, &text);
    if (status == KK_OK && !kki_xml_is_element(d->xml, node)) {
        status = kki_xml_add_text(x->result, n->place + d->base, text, n->length);
        return status ? no_memory(x, status) : KK_OK;
    }
    status = status ? status : kki_xml_open_element(x->result, n->place + d->base, text, n->length);
    status = status ? status : copy_attributes(x, d, n);
    return status ? no_memory(x, status) : push_level(x, at->document, n->first_child, false);
}

static kk_status copy_all(includer *x) {
    kk_status status = KK_OK;
    while (x->level_count > 0 && status == KK_OK) {
        level *top = &x->level[x->level_count - 1];
        const int32_t node = top->next;
        if (node == KKI_XML_NONE) {
            x->include_depth -= top->is_included ? 1 : 0;
            if (!top->is_included) {
                kki_xml_close_element(x->result);
            }
            x->level_count--;
            continue;
        }
        const level at = *top;
        const kki_xml *xml = x->document[at.document].xml;
        top->next = xml->node[node].next;
        status = kki_xml_is(xml, node, "include") ? open_include(x, at, node) : copy_node(x, &at, node);
    }
    return status;
}

static bool has_include(const kki_xml *xml) {
    for (int32_t i = 0; i < xml->node_count; i++) {
        if (kki_xml_is(xml, i, "include")) {
            return true;
        }
    }
    return false;
}

static kk_status run(includer *x, const kki_xml *xml) {
    int id;
    char path[KKI_PATH_SIZE] = "";
    const kki_file_source *source = &x->loader->resolver.source;
    if (source->canonical(source->user, x->loader->path, path) != KK_OK) {
        strncpy(path, x->loader->path, sizeof path - 1);
    }
    kk_status status = add_document(x, xml, NULL, path, &id);
    if (status == KK_OK) {
        const level whole = {0, KKI_XML_ROOT, false};
        status = copy_node(x, &whole, KKI_XML_ROOT);
    }
    return status ? status : copy_all(x);
}

kk_status kki_mjcf_include(kki_loader *loader, const kki_xml *xml, kki_xml **result, kk_error *error) {
    *result = NULL;
    if (!has_include(xml)) {
        return KK_OK;
    }
    includer x = {.loader = loader, .error = error};
    kk_status status = kki_xml_create(&loader->allocator, &x.result);
    status = status ? no_memory(&x, status) : run(&x, xml);
    for (int i = 0; i < x.document_count; i++) {
        kki_xml_free(x.document[i].owned);
    }
    kki_release_array(&loader->allocator, x.document, (size_t)x.document_room, sizeof *x.document);
    kki_release_array(&loader->allocator, x.level, (size_t)x.level_room, sizeof *x.level);
    if (status == KK_OK) {
        *result = x.result;
    } else {
        kki_xml_free(x.result);
    }
    return status;
}
