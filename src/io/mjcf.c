/// MJCF, as a story: put includes in place, read how to read, then section after section in the order of references.
#include <string.h>

#include "base/error.h"
#include "io/mjcf.h"

enum { MOST_POOL_BYTES = 1 << 30 };

/// A section's name and its reader, in the order of reading; a pass is a reading of all sections of the name.
typedef struct section {
    const char *name;
    kki_mjcf_reader *read;
    int pass;
} section;

static const section sections[] = {
    {"compiler", kki_mjcf_compiler, 0},
    {"option", kki_mjcf_option, 0},
    {"default", kki_mjcf_default, 0},
    {"asset", kki_mjcf_asset, 0},
    {"asset", kki_mjcf_asset, 1},
    {"worldbody", kki_mjcf_walk, 0},
    {NULL, NULL, 0}, // the bodies are made
    {"contact", kki_mjcf_contact_section, 0},
    {"equality", kki_mjcf_equality, 0},
    {"tendon", kki_mjcf_tendon, 0},
    {"actuator", kki_mjcf_actuator, 0},
    {"sensor", kki_mjcf_sensor, 0},
    {"keyframe", kki_mjcf_keyframe, 0}, // has numbers for all copies: not tried
};
enum { SECTIONS = sizeof sections / sizeof *sections, TRIED_SECTIONS = SECTIONS - 1 };

static void read_sections(kki_mjcf *m, const section *s) {
    m->pass = s->pass;
    for (int32_t c = kki_xml_first(m->xml, KKI_XML_ROOT, s->name); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, s->name)) {
        s->read(m, c);
    }
}

static void begin_world(kki_mjcf *m) {
    kki_mjcf_body *world = KKI_MJCF_PUSH(m, body);
    if (!world) {
        return;
    }
    *world = (kki_mjcf_body){
        .node = KKI_XML_ROOT, .parent = -1, .name = "world", .first = {-1, -1, -1}, .inertial = KKI_XML_NONE};
    world->X_PB = world->X_WB = kk_transform_identity();
    kki_mjcf_name_set(m, KKI_MJCF_BODY, "world", 0);
    kki_mjcf_name_set(m, KKI_MJCF_FRAME_NAME, "world", 0);
}

static void begin(kki_mjcf *m) {
    kk_options *options = kk_spec_options(m->loader->spec);
    options->timestep = 0.002;
    m->suffix = "";
    m->set = (kki_mjcf_settings){.angle = KK_PI / 180,
                                 .euler = {'x', 'y', 'z'},
                                 .mesh_directory = "",
                                 .texture_directory = "",
                                 .auto_limits = true,
                                 .inertia = KKI_MJCF_INERTIA_AUTO,
                                 .group_upper = 5,
                                 .total_mass = -1};
    kki_mjcf_default(m, KKI_XML_NONE);
    begin_world(m);
}

/// Names the sections that are not read, once.
static void check_sections(kki_mjcf *m) {
    kki_mjcf_check_attributes(m, kki_mjcf_element_of("mujoco"), KKI_XML_ROOT);
    for (int32_t c = kki_xml_first(m->xml, KKI_XML_ROOT, NULL); c != KKI_XML_NONE; c = kki_xml_next(m->xml, c, NULL)) {
        kki_mjcf_is_read(m, "mujoco", c);
    }
}

static void finish(kki_mjcf *m) {
    if (m->set.no_gravity) {
        kk_spec_set_gravity(m->loader->spec, kk_vec3_make(0, 0, 0));
    }
    kki_mjcf_karakuri(m);
    kki_mjcf_tune(m);
}

static void read_all(kki_mjcf *m) {
    const char *name = kki_xml_value(m->xml, KKI_XML_ROOT, "model");
    if (name) {
        kki_mjcf_stop(m, kk_spec_set_name(m->loader->spec, name, &m->error));
    }
    check_sections(m);
    const int count = m->trial == KKI_MJCF_TRIES ? TRIED_SECTIONS : SECTIONS;
    for (int i = 0; i < count && m->status == KK_OK; i++) {
        if (sections[i].name) {
            read_sections(m, &sections[i]);
        } else {
            kki_mjcf_bodies(m);
            kki_mjcf_materials(m);
        }
    }
    if (m->status == KK_OK && m->trial != KKI_MJCF_TRIES) {
        finish(m);
    }
}

static kk_status load_tree(kki_loader *loader, const kki_xml *xml, kki_mjcf_trial trial, int64_t *copied) {
    kki_mjcf m = {.loader = loader, .xml = xml, .reader = {xml, loader->diagnostics}, .trial = trial};
    kki_pool_create(&m.pool, &loader->allocator, MOST_POOL_BYTES);
    begin(&m);
    if (m.status == KK_OK) {
        read_all(&m);
    }
    if (m.status != KK_OK && !loader->diagnostics->has_error) {
        kki_mjcf_report(&m, KKI_ERROR, m.status, KKI_XML_ROOT, NULL, "%s",
                        m.error.text[0]                ? m.error.text
                        : m.status == KK_OUT_OF_MEMORY ? "there is not enough memory for the model"
                                                       : "the model is too large; make it smaller");
    }
    if (m.trial == KKI_MJCF_BAD && !loader->diagnostics->has_error) { // with the copies left out it must not pass
        m.status = kki_diagnostics_add_error(loader->diagnostics, &m.fault);
    }
    *copied = m.copied;
    kki_mjcf_release(&m);
    return m.status;
}

void kki_mjcf_try(kki_mjcf *m) {
    kki_loader loader = *m->loader;
    kki_diagnostics findings;
    m->trial = KKI_MJCF_BAD;
    if (kki_mjcf_stop(m, kki_diagnostics_create(&findings, &loader.allocator, 1)) != KK_OK) {
        return;
    }
    loader.diagnostics = &findings;
    if (kki_mjcf_stop(m, kk_spec_create(&loader.allocator, &loader.spec)) == KK_OK) {
        const kk_status status = load_tree(&loader, m->xml, KKI_MJCF_TRIES, &m->copied);
        m->trial = status == KK_OK && !findings.has_error ? KKI_MJCF_GOOD : KKI_MJCF_BAD;
        m->fault = findings.first;
        kk_spec_free(loader.spec);
    }
    kki_diagnostics_destroy(&findings);
}

kk_status kki_mjcf_load(kki_loader *loader, const kki_xml *xml) {
    kki_xml *whole = NULL;
    int64_t copied;
    kk_error error = {.status = KK_OK};
    kk_status status = kki_mjcf_include(loader, xml, &whole, &error);
    if (status != KK_OK) {
        return kki_diagnostics_add_error(loader->diagnostics, &error);
    }
    status = load_tree(loader, whole ? whole : xml, KKI_MJCF_UNTRIED, &copied);
    kki_xml_free(whole);
    return status;
}
