/// What may touch what, and by which law: excluded bodies and explicit pairs sorted for bisection, the table of laws, and
/// for small models the list of all pairs.
#include "base/allocator.h"
#include "model/compile.h"

size_t kki_contacts_scratch(const kk_model *m) {
    const int32_t most = m->nexplicit > m->nexclude ? m->nexplicit : m->nexclude;
    return 2 * (size_t)most;
}

static void sort_excludes(const kk_spec *spec, kk_model *m, kki_sort_item *scratch) {
    const size_t count = (size_t)m->nexclude;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = (kki_sort_item){kki_pair_key(spec->exclude[i].body[0], spec->exclude[i].body[1]), i};
    }
    kki_sort(scratch, count, scratch + count);
    for (size_t i = 0; i < count; i++) {
        m->exclude[i] = scratch[i].key;
    }
}

static const char *shape_name(const kk_spec *spec, int shape) {
    return spec->shape[shape].name ? spec->shape[shape].name : "";
}

static kk_status sort_pairs(const kk_spec *spec, kk_model *m, kki_sort_item *scratch, kk_error *error) {
    const size_t count = (size_t)m->nexplicit;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = (kki_sort_item){kki_pair_key(spec->pair[i].shape[0], spec->pair[i].shape[1]), i};
    }
    kki_sort(scratch, count, scratch + count);
    for (size_t i = 0; i < count; i++) {
        const int32_t source = (int32_t)scratch[i].payload;
        m->explicit_pair[i] = (kki_explicit_pair){scratch[i].key, spec->pair[source].margin, -1, source};
        if (i > 0 && scratch[i].key == scratch[i - 1].key) {
            return kki_item_error(
                error, KK_INVALID_MODEL, kki_item_make("pair", source, NULL, &spec->pair[source].origin),
                "an earlier pair names shapes \"%s\" and \"%s\" already; take one away",
                shape_name(spec, spec->pair[source].shape[0]), shape_name(spec, spec->pair[source].shape[1]));
        }
    }
    return KK_OK;
}

/// Pairs with a material of their own have a law of their own behind the table.
static int32_t count_own_laws(const kk_spec *spec) {
    int32_t count = 0;
    for (int i = 0; i < spec->npair; i++) {
        count += spec->pair[i].material >= 0;
    }
    return count;
}

/// Counts pairs that may touch, or writes them; gives up beyond what is listed.
static int32_t list_pairs(const kk_model *m, kki_shape_pair *pair) {
    int32_t count = 0;
    for (int32_t i = 0; i < m->ncollider; i++) {
        for (int32_t k = i + 1; k < m->ncollider && count <= KKI_MODEL_LISTED_PAIRS; k++) {
            int law;
            if (!kki_model_pair_may_touch(m, m->collider[i], m->collider[k], &law)) {
                continue;
            }
            if (pair) {
                pair[count] = (kki_shape_pair){m->collider[i], m->collider[k], law};
            }
            count++;
        }
    }
    return count;
}

static kk_status allocate_contacts(kk_model *m, kk_error *error) {
    kki_layout layout = kki_layout_over(NULL);
    KKI_LAYOUT_ARRAY(&layout, m->law, (size_t)m->nlaw);
    KKI_LAYOUT_ARRAY(&layout, m->pair, (size_t)m->npair);
    if (layout.size == 0) {
        return KK_OK;
    }
    m->contact = kki_allocate_zeroed(&m->allocator, layout.size);
    if (!m->contact) {
        return kki_item_error(error, KK_OUT_OF_MEMORY, (kki_item){.kind = "model", .name = "", .suffix = "", .id = -1},
                              "no memory for %d contact laws and %d pairs of shapes", (int)m->nlaw, (int)m->npair);
    }
    m->contact_size = layout.size;
    layout = kki_layout_over(m->contact);
    KKI_LAYOUT_ARRAY(&layout, m->law, (size_t)m->nlaw);
    KKI_LAYOUT_ARRAY(&layout, m->pair, (size_t)m->npair);
    return KK_OK;
}

/// Pairs without a material of their own take the law of their shapes' materials.
static void fill_explicit_laws(const kk_spec *spec, kk_model *m) {
    for (int i = 0, own = m->nmaterial_class * m->nmaterial_class; i < m->nexplicit; i++) {
        const kk_pair_def *def = &spec->pair[m->explicit_pair[i].source];
        if (def->material >= 0) {
            m->explicit_pair[i].law = own;
            m->law[own++] = kki_law_of_material(&m->material[def->material]);
        }
    }
}

kk_status kki_compile_contacts(const kk_spec *spec, kk_model *m, kki_sort_item *scratch, kk_error *error) {
    sort_excludes(spec, m, scratch);
    kk_status status = sort_pairs(spec, m, scratch, error);
    status = status ? status : kki_classify_materials(spec, m, error);
    if (status != KK_OK) {
        return status;
    }
    m->nlaw = m->nmaterial_class * m->nmaterial_class + count_own_laws(spec);
    m->npair = m->ncollider <= KKI_MODEL_LISTED_COLLIDERS ? list_pairs(m, NULL) : KKI_MODEL_LISTED_PAIRS + 1;
    m->has_pairs = m->npair <= KKI_MODEL_LISTED_PAIRS;
    m->npair = m->has_pairs ? m->npair : 0;
    status = allocate_contacts(m, error);
    if (status == KK_OK) {
        kki_fill_laws(spec, m);
        fill_explicit_laws(spec, m);
        if (m->has_pairs) {
            list_pairs(m, m->pair);
        }
    }
    return status;
}
