/// MJCF, as a story: put includes in place, read how to read, then section after section in the order of references.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "io/mjcf.h"
#include "model/compile.h"
#include <karakuri/model.h>

static const size_t MOST_POOL_BYTES = (size_t)3 << 30;

/// Bodies that are not read are told by a warning; where they were all there is, there is no model.
static void check_lost(kki_mjcf *m) {
    if (m->lost_body != KKI_XML_ROOT && m->body_count + m->bodies_left_out == 1) {
        kki_mjcf_report(m, KKI_ERROR, KK_UNSUPPORTED, m->lost_body, NULL,
                        "nothing of the model is left without its <%s>; write bodies, joints and geoms instead",
                        kki_xml_name(m->xml, m->lost_body));
    }
}

static void make_bodies(kki_mjcf *m) {
    kki_mjcf_check_left_out(m);
    check_lost(m);
    if (m->is_check) {
        kki_mjcf_stand_in(m);
        return;
    }
    kki_mjcf_bodies(m);
    kki_mjcf_materials(m);
}

/// A section's name and its reader, in the order of reading; a pass is a reading of all sections of the name.
typedef struct section {
    const char *name;
    kki_mjcf_reader *read;
    int pass;
    void (*finish)(kki_mjcf *m); ///< instead of `read`: once, where all sections before it have been read
} section;

static const section sections[] = {
    {"compiler", kki_mjcf_compiler, 0, NULL},
    {"option", kki_mjcf_option, 0, NULL},
    {"option", NULL, 0, kki_mjcf_share_options},
    {"default", kki_mjcf_default, 0, NULL},
    {"asset", kki_mjcf_asset, 0, NULL},
    {"asset", kki_mjcf_asset, 1, NULL},
    {"worldbody", kki_mjcf_walk, 0, NULL},
    {"worldbody", NULL, 0, make_bodies},
    {"contact", kki_mjcf_contact_section, 0, NULL},
    {"tendon", kki_mjcf_tendon, 0, NULL},
    {"equality", kki_mjcf_equality, 0, NULL},
    {"actuator", kki_mjcf_actuator, 0, NULL},
    {"sensor", kki_mjcf_sensor, 0, NULL},
    {"keyframe", kki_mjcf_keyframe, 0, NULL},
    {"size", kki_mjcf_size, 0, NULL},
};

// ---- scopes

int kki_mjcf_scope_of(const kki_mjcf *m, int32_t node) {
    return m->tree->of ? m->tree->of[node] : 0;
}

void kki_mjcf_enter(kki_mjcf *m, int32_t node) {
    kki_mjcf_enter_scope(m, kki_mjcf_scope_of(m, node));
}

void kki_mjcf_enter_scope(kki_mjcf *m, int scope) {
    if (scope != m->scope) {
        m->scope = scope;
        m->set = m->scope_set[scope];
    }
}

/// Each model starts from MuJoCo's defaults, with a class of its own.
static void begin_scopes(kki_mjcf *m) {
    const kk_allocator *a = &m->loader->allocator;
    const int count = m->tree->scope_count;
    m->scope_set = kki_allocate_array(a, (size_t)count, sizeof *m->scope_set);
    m->scope_class = kki_allocate_array_zeroed(a, (size_t)count, sizeof *m->scope_class);
    if (!m->scope_set || !m->scope_class) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return;
    }
    kki_mjcf_default(m, KKI_XML_NONE);
    for (int i = 0; i < count; i++) {
        m->scope_set[i] = m->set;
    }
}

// ---- sections

static void read_sections(kki_mjcf *m, const section *s) {
    m->pass = s->pass;
    for (int32_t c = kki_xml_first(m->xml, KKI_XML_ROOT, s->name); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, s->name)) {
        kki_mjcf_enter(m, c);
        s->read(m, c);
        m->scope_set[m->scope] = m->set;
    }
    kki_mjcf_enter(m, KKI_XML_ROOT);
}

static void begin_world(kki_mjcf *m) {
    kki_mjcf_body *world = KKI_MJCF_PUSH(m, body);
    if (!world) {
        return;
    }
    *world = (kki_mjcf_body){
        .node = KKI_XML_ROOT, .parent = -1, .name = "world", .first = {-1, -1, -1}, .inertial = KKI_XML_NONE};
    world->free_joint = KKI_XML_NONE;
    world->place = &m->still;
    kki_mjcf_name_set(m, KKI_MJCF_BODY, "world", 0);
    kki_mjcf_name_set(m, KKI_MJCF_FRAME_NAME, "world", 0);
}

static void begin(kki_mjcf *m) {
    kk_options *options = kk_spec_options(m->loader->spec);
    options->timestep = 0.002;
    options->magnetic = kk_vec3_make(0, -0.5, 0);
    m->suffix = "";
    m->still.X_PB = m->still.X_WB = kk_transform_identity();
    m->set = (kki_mjcf_settings){.angle = KK_PI / 180,
                                 .euler = {'x', 'y', 'z'},
                                 .mesh_directory = "",
                                 .texture_directory = "",
                                 .auto_limits = true,
                                 .inertia = KKI_MJCF_INERTIA_AUTO,
                                 .group_upper = 5,
                                 .total_mass = -1};
    begin_scopes(m);
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
    if (m->loader->meter) {
        m->loader->meter->limit = SIZE_MAX; // nothing can be wrong with the file any more
    }
    kki_mjcf_tune(m);
}

static bool has_status(const kki_diagnostics *list, kk_status status) {
    bool has = list->dropped > 0;
    for (int i = 0; i < list->count && !has; i++) {
        has = list->item[i].status == status;
    }
    return has;
}

/// Its readers do not know of what was left out: where they miss something, nothing of it counts.
static void try_karakuri(kki_mjcf *m) {
    kki_diagnostics *list = m->loader->diagnostics, findings;
    if (kki_mjcf_stop(m, kki_diagnostics_create(&findings, &m->loader->allocator, 0)) != KK_OK) {
        return;
    }
    m->loader->diagnostics = m->reader.diagnostics = &findings;
    kki_mjcf_karakuri(m);
    m->loader->diagnostics = m->reader.diagnostics = list;
    if (has_status(&findings, KK_NOT_FOUND)) {
        m->has_lost = true;
    } else if (findings.has_error) {
        kki_diagnostics_add_error(list, &findings.first);
    }
    kki_diagnostics_destroy(&findings);
}

static bool has_idle_joint(const kk_spec *spec, const double *mass) {
    bool has = false;
    for (int i = 1; i < spec->nbody; i++) {
        has = has || kki_moves_nothing(&spec->body[i].joint, mass[i]);
    }
    return has;
}

/// What is wrong with one copy is wrong with all of them: an item by itself, and a joint that moves nothing.
static bool will_compile(kki_mjcf *m) {
    const kk_spec *spec = m->loader->spec;
    const size_t count = (size_t)spec->nbody;
    double *mass = kki_allocate_array(&m->loader->allocator, count, sizeof *mass);
    if (!mass) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return true;
    }
    kki_mass_behind(spec, mass);
    const bool will = !has_idle_joint(spec, mass) && kki_check_spec(spec, NULL) == KK_OK;
    kki_release_array(&m->loader->allocator, mass, count, sizeof *mass);
    return will;
}

/// The end of a trial that has left copies out.
static void try_finish(kki_mjcf *m) {
    const kki_loader *l = m->loader;
    kk_model *model = NULL;
    kk_error error = {.status = KK_OK};
    try_karakuri(m);
    const bool is_to_change = m->has_lost || l->options->repair || l->options->base;
    if (m->status != KK_OK || l->diagnostics->has_error || is_to_change || will_compile(m)) {
        return;
    }
    const kk_status status = kk_model_compile(l->spec, &l->allocator, &model, &error);
    kk_model_free(model);
    if (status == KK_OUT_OF_MEMORY) {
        kki_mjcf_stop(m, status);
    } else if (status != KK_OK) {
        kki_diagnostics_add_error(l->diagnostics, &error);
    }
}

static void read_all(kki_mjcf *m) {
    const char *name = kki_xml_value(m->xml, KKI_XML_ROOT, "model");
    if (name) {
        kki_mjcf_stop(m, kk_spec_set_name(m->loader->spec, name, &m->error));
    }
    check_sections(m);
    for (size_t i = 0; i < sizeof sections / sizeof *sections && m->status == KK_OK; i++) {
        if (sections[i].read) {
            read_sections(m, &sections[i]);
        } else {
            sections[i].finish(m);
        }
    }
    if (m->status == KK_OK) {
        (m->is_check ? try_karakuri : m->is_short ? try_finish : finish)(m);
    }
}

typedef enum { THE_WHOLE, A_TRIAL, A_CHECK } reading;

/// @param is_short  whether a trial has left copies out
static kk_status load_tree(kki_loader *loader, const kki_mjcf_tree *tree, reading what, bool *is_short) {
    kki_mjcf m = {.loader = loader, .tree = tree, .xml = tree->xml, .reader = {tree->xml, loader->diagnostics}};
    m.is_trial = what != THE_WHOLE;
    m.is_check = what == A_CHECK;
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
    *is_short = m.is_short;
    kki_mjcf_release(&m);
    return m.status;
}

/// Without what it finds: the model itself is not what is being loaded.
static kk_status lay_out(kki_loader *loader, const kki_mjcf_tree *tree, int32_t first, int32_t end, kki_pool *pool,
                         const char **joints) {
    kki_mjcf m = {.loader = loader, .tree = tree, .xml = tree->xml, .reader = {tree->xml, loader->diagnostics}};
    kki_pool_create(&m.pool, &loader->allocator, MOST_POOL_BYTES);
    begin(&m);
    for (size_t i = 0; sections[i].finish != make_bodies && m.status == KK_OK; i++) {
        const bool is_needed = sections[i].read == kki_mjcf_compiler || sections[i].read == kki_mjcf_default ||
                               sections[i].read == kki_mjcf_walk;
        if (is_needed) {
            read_sections(&m, &sections[i]);
        }
    }
    *joints = m.status ? NULL : kki_mjcf_joint_letters(&m, first, end, pool);
    kki_mjcf_stop(&m, *joints ? KK_OK : KK_OUT_OF_MEMORY);
    kki_mjcf_release(&m);
    return m.status;
}

kk_status kki_mjcf_joint_layout(kki_loader *loader, const kki_mjcf_tree *tree, int32_t first, int32_t end,
                                kki_pool *pool, const char **joints) {
    kki_loader quiet = *loader;
    kki_diagnostics findings;
    kk_status status = kki_diagnostics_create(&findings, &loader->allocator, 0);
    if (status != KK_OK) {
        return status;
    }
    quiet.diagnostics = &findings;
    quiet.spec = NULL;
    status = kk_spec_create(&loader->allocator, &quiet.spec);
    status = status ? status : lay_out(&quiet, tree, first, end, pool, joints);
    kk_spec_free(quiet.spec);
    kki_diagnostics_destroy(&findings);
    return status;
}

/// Forgets a trial: its spec and what it has found, which will be found again.
static kk_status forget(kki_loader *loader) {
    kk_spec *fresh = NULL;
    const kk_status status = kk_spec_create(&loader->allocator, &fresh);
    if (status == KK_OK) {
        kk_spec_free(loader->spec);
        loader->spec = fresh;
        kki_diagnostics_cut(loader->diagnostics, loader->found);
    }
    return status;
}

/// A file of this length less is not looked at in this way.
enum { FREE_BYTES = 1 << 14 };

/// A trial in memory in proportion to the file. @param held  bytes that are used already
/// @param is_over  whether that was not enough, before an error was found
static kk_status try_tree(kki_loader *loader, const kki_mjcf_tree *tree, size_t held, bool *is_short, bool *is_over) {
    kki_meter meter;
    const kk_allocator whole = loader->allocator;
    const kki_diagnostics *found = loader->diagnostics;
    loader->allocator = kki_meter_begin(&meter, &whole, 0);
    loader->meter = &meter;
    kki_loader_allow(loader, FREE_BYTES);
    for (int32_t i = 0; i < tree->xml->source_count; i++) {
        kki_loader_allow(loader, tree->xml->source[i].length);
    }
    meter.limit -= held < meter.limit ? held : meter.limit;
    kk_status status = forget(loader);
    status = status ? status : load_tree(loader, tree, A_TRIAL, is_short);
    kki_spec_set_allocator(loader->spec, &whole);
    loader->allocator = whole;
    loader->meter = NULL;
    *is_over = meter.has_refused && (!found->has_error || found->first.status == KK_OUT_OF_MEMORY);
    return status;
}

static kk_status check_tree(kki_loader *loader, const kki_mjcf_tree *tree) {
    bool is_short = false;
    kk_status status = forget(loader);
    status = status ? status : load_tree(loader, tree, A_CHECK, &is_short);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    // what a check finds the whole must have
    if (status != KK_OUT_OF_MEMORY && loader->diagnostics->has_error) {
        status = forget(loader);
        status = status ? status : load_tree(loader, tree, THE_WHOLE, &is_short);
        if (status != KK_OUT_OF_MEMORY && !loader->diagnostics->has_error) {
            __builtin_trap();
        }
    }
#endif
    return status;
}

/// The first reading leaves out what would be many copies, and ends where the model gets large beside the file; then a check
/// follows, which builds nothing. Where either finds an error, that was all.
static kk_status load_whole(kki_loader *loader, const kki_mjcf_tree *tree, size_t held) {
    bool is_short = false, is_over = false;
    kk_status status = try_tree(loader, tree, held, &is_short, &is_over);
    if (is_over) {
        status = check_tree(loader, tree);
    }
    if (status != KK_OK || loader->diagnostics->has_error || !(is_short || is_over)) {
        return status;
    }
    status = forget(loader);
    return status ? status : load_tree(loader, tree, THE_WHOLE, &is_short);
}

static size_t bytes_of(const kki_xml *xml) {
    return xml ? kki_xml_bytes(xml) : 0;
}

kk_status kki_mjcf_load(kki_loader *loader, const kki_xml *xml) {
    kki_xml *whole = NULL;
    kki_mjcf_tree tree = {.xml = NULL};
    kk_error error = {.status = KK_OK};
    kk_status status = kki_mjcf_include(loader, xml, &whole, &error);
    status = status ? status : kki_mjcf_attach(loader, whole ? whole : xml, &tree, &error);
    loader->found = loader->diagnostics->count;
    if (status != KK_OK) {
        kki_diagnostics_add_error(loader->diagnostics, &error);
    } else {
        status = load_whole(loader, &tree, bytes_of(xml) + bytes_of(whole) + bytes_of(tree.owned));
    }
    kki_mjcf_tree_release(&tree, &loader->allocator);
    kki_xml_free(whole);
    return status;
}
