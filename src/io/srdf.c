/// SRDF, MoveIt's companion of a URDF file: which pairs of links are not to be tested.
///
///     <robot><disable_collisions link1="a" link2="b" reason="Adjacent"/>
///            <disable_default_collisions link="c"/> <enable_collisions link1="c" link2="d"/></robot>
/// Each pair becomes an exclude of the spec, as <exclude> of MJCF and of <karakuri>. Groups, states and end effectors say
/// nothing of dynamics. The file may have xacro in it, with the robot's arguments.
#include <string.h>

#include "io/loader.h"
#include "io/name_table.h"
#include "io/text.h"
#include "io/xacro.h"

enum { MOST_FILE_BYTES = 64 << 20, MOST_PAIRS = 1000000 };

typedef struct srdf {
    kki_loader *loader;
    kki_xml *xml;
    kki_reader reader;
    kki_name_table bodies; ///< of the spec, by name
    int pairs;
} srdf;

// ---- the file

/// Where it was named, or else where the robot file would find it.
static kk_status find_file(kki_loader *l, char path[KKI_PATH_SIZE], kk_error *error) {
    const kki_file_source *s = &l->resolver.source;
    const char *name = l->options->srdf;
    if (strlen(name) < KKI_PATH_SIZE && s->kind(s->user, name) == KKI_FILE_REGULAR) {
        memcpy(path, name, strlen(name) + 1);
        return KK_OK;
    }
    return kki_resolve(&l->resolver, l->path, name, path, error);
}

static kk_status expand(srdf *d, const char *path, kk_error *error) {
    kki_loader *l = d->loader;
    kki_xml *expanded = NULL;
    if (!kki_xacro_is_used(d->xml)) {
        return KK_OK;
    }
    const kki_xacro_options options = {.argument = (const kki_xacro_argument *)l->options->argument,
                                       .argument_count = l->options->argument_count};
    const kk_status status = kki_xacro_expand(d->xml, path, &l->resolver, &options, &l->allocator, &expanded, error);
    if (status == KK_OK) {
        kki_xml_free(d->xml);
        d->xml = expanded;
    }
    return status;
}

static kk_status read_file(srdf *d, kk_error *error) {
    kki_loader *l = d->loader;
    const kki_file_source *s = &l->resolver.source;
    char path[KKI_PATH_SIZE];
    kki_file_data data;
    kk_status status = find_file(l, path, error);
    status = status ? status : s->read(s->user, path, MOST_FILE_BYTES, &l->allocator, &data, error);
    if (status != KK_OK) {
        return status;
    }
    kki_loader_allow(l, data.size);
    status = kki_xml_parse(path, data.bytes, data.size, NULL, &l->allocator, &d->xml, error);
    kki_file_release(&data, &l->allocator);
    status = status ? status : expand(d, path, error);
    return status || kki_xml_is(d->xml, KKI_XML_ROOT, "robot")
               ? status
               : kki_xml_error(d->xml, d->xml->node[KKI_XML_ROOT].place, error, KK_UNSUPPORTED,
                               "an SRDF file starts with <robot>, this one with <%s>; name the SRDF file",
                               kki_shorten_string(kki_xml_name(d->xml, KKI_XML_ROOT)).text);
}

// ---- pairs

static kk_status list_bodies(srdf *d) {
    kk_status status = KK_OK;
    for (int i = 0; i < d->loader->spec->nbody && status == KK_OK; i++) {
        status = kki_name_table_set(&d->bodies, i == KK_WORLD ? "world" : d->loader->spec->body[i].name, i);
    }
    return status;
}

/// The body of a link that an attribute names; -1 and a finding where there is none.
static int link_of(srdf *d, int32_t node, const char *attribute) {
    const char *name = kki_xml_value(d->xml, node, attribute);
    const int32_t body = name ? kki_name_table_find(&d->bodies, name) : -1;
    if (!name) {
        kki_report_node(&d->reader, KKI_WARNING, KK_OK, node, "the pair of links lacks a name and is left out",
                        "name both links");
    } else if (body < 0) {
        kki_report_attribute(&d->reader, KKI_NOTE, KK_OK, kki_xml_find(d->xml, node, attribute),
                             "the robot has no link of this name; the pair is left out", "");
    }
    return body;
}

static kk_status exclude(srdf *d, int32_t node, int a, int b, kk_error *error) {
    kk_exclude_def def = kk_exclude_def_default();
    def.body[0] = a;
    def.body[1] = b;
    def.origin = kki_origin_of_node(d->xml, node);
    if (a == b) {
        return KK_OK;
    }
    return d->pairs++ < MOST_PAIRS ? kk_spec_add_exclude(d->loader->spec, &def, NULL, error)
                                   : kki_xml_error(d->xml, d->xml->node[node].place, error, KK_LIMIT_EXCEEDED,
                                                   "more than a million pairs that do not collide; give fewer links");
}

static kk_status read_pairs(srdf *d, kk_error *error) {
    kk_status status = KK_OK;
    for (int32_t n = kki_xml_first(d->xml, KKI_XML_ROOT, "disable_collisions"); n != KKI_XML_NONE && !status;
         n = kki_xml_next(d->xml, n, "disable_collisions")) {
        const int a = link_of(d, n, "link1"), b = a < 0 ? -1 : link_of(d, n, "link2");
        status = b < 0 ? KK_OK : exclude(d, n, a, b, error);
    }
    return status;
}

static bool is_enabled(const srdf *d, int a, int b) {
    for (int32_t n = kki_xml_first(d->xml, KKI_XML_ROOT, "enable_collisions"); n != KKI_XML_NONE;
         n = kki_xml_next(d->xml, n, "enable_collisions")) {
        const char *x = kki_xml_value(d->xml, n, "link1"), *y = kki_xml_value(d->xml, n, "link2");
        const int p = x ? kki_name_table_find(&d->bodies, x) : -1, q = y ? kki_name_table_find(&d->bodies, y) : -1;
        if ((p == a && q == b) || (p == b && q == a)) {
            return true;
        }
    }
    return false;
}

/// Links that collide with nothing but what is enabled again.
static kk_status read_defaults(srdf *d, kk_error *error) {
    kk_status status = KK_OK;
    for (int32_t n = kki_xml_first(d->xml, KKI_XML_ROOT, "disable_default_collisions"); n != KKI_XML_NONE && !status;
         n = kki_xml_next(d->xml, n, "disable_default_collisions")) {
        const int a = link_of(d, n, "link");
        for (int b = 1; a >= 0 && b < d->loader->spec->nbody && status == KK_OK; b++) {
            status = is_enabled(d, a, b) ? KK_OK : exclude(d, n, a, b, error);
        }
    }
    return status;
}

kk_status kki_srdf_load(kki_loader *loader, kk_error *error) {
    if (!loader->options->srdf) {
        return KK_OK;
    }
    srdf d = {.loader = loader};
    kki_name_table_create(&d.bodies, &loader->allocator);
    kk_status status = read_file(&d, error);
    if (status == KK_OK) {
        d.reader = (kki_reader){d.xml, loader->diagnostics};
        status = list_bodies(&d);
        status = status ? status : read_pairs(&d, error);
        status = status ? status : read_defaults(&d, error);
    }
    kki_name_table_destroy(&d.bodies);
    kki_xml_free(d.xml);
    return status;
}
