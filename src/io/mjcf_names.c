/// Names of MJCF, in one hash table, and what refers to them.
#include <string.h>

#include "base/allocator.h"
#include "base/print.h"
#include "base/sort.h"
#include "io/mjcf.h"
#include "io/text.h"

static const char *const kind_texts[KKI_MJCF_KINDS] = {
    [KKI_MJCF_BODY] = "body",        [KKI_MJCF_JOINT] = "joint",       [KKI_MJCF_GEOM] = "geom",
    [KKI_MJCF_SITE] = "site",        [KKI_MJCF_CLASS] = "class",       [KKI_MJCF_MESH] = "mesh",
    [KKI_MJCF_HFIELD] = "hfield",    [KKI_MJCF_TEXTURE] = "texture",   [KKI_MJCF_VISUAL] = "material",
    [KKI_MJCF_TENDON] = "tendon",    [KKI_MJCF_ACTUATOR] = "actuator", [KKI_MJCF_SENSOR] = "sensor",
    [KKI_MJCF_KEY] = "key",          [KKI_MJCF_LOOP] = "equality",     [KKI_MJCF_MATERIAL] = "material",
    [KKI_MJCF_FRAME_NAME] = "frame", [KKI_MJCF_JOINT_NAME] = "joint",  [KKI_MJCF_MESH_NAME] = "mesh",
};

// ---- the table

static uint64_t hash_first(int kind) {
    return 0xcbf29ce484222325u ^ (uint64_t)kind;
}

static uint64_t hash_next(uint64_t h, char c) {
    return (h ^ (uint8_t)c) * 0x100000001b3u; // FNV-1a
}

static uint32_t hash_last(uint64_t h) {
    return (uint32_t)(h ^ (h >> 29));
}

static uint32_t hash_of(int kind, const char *text) {
    uint64_t h = hash_first(kind);
    for (; *text; text++) {
        h = hash_next(h, *text);
    }
    return hash_last(h);
}

static bool is_text(const char *text, const char *start, size_t length) {
    return strncmp(text, start, length) == 0 && text[length] == 0;
}

/// The hash is compared first: a name is looked at only where it is the one.
static kki_mjcf_name *slot_of(const kki_mjcf_names *names, int kind, const char *text, size_t length, uint32_t hash) {
    size_t i = hash & (names->room - 1);
    for (const kki_mjcf_name *s = &names->slot[i]; s->text; s = &names->slot[i]) {
        if (s->hash == hash && s->kind == kind && is_text(s->text, text, length)) {
            break;
        }
        i = (i + 1) & (names->room - 1);
    }
    return &names->slot[i];
}

static bool grow(kki_mjcf *m) {
    enum { FIRST_ROOM = 256 };
    kki_mjcf_names *old = &m->names;
    if (4 * old->count < 3 * old->room) {
        return true;
    }
    kki_mjcf_names larger = {.count = old->count, .room = old->room ? 2 * old->room : FIRST_ROOM};
    larger.slot = kki_allocate_array_zeroed(&m->loader->allocator, larger.room, sizeof *larger.slot);
    if (!larger.slot) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return false;
    }
    for (size_t i = 0; i < old->room; i++) {
        if (old->slot[i].text) {
            size_t at = old->slot[i].hash & (larger.room - 1);
            while (larger.slot[at].text) {
                at = (at + 1) & (larger.room - 1);
            }
            larger.slot[at] = old->slot[i];
        }
    }
    kki_release_array(&m->loader->allocator, old->slot, old->room, sizeof *old->slot);
    *old = larger;
    return true;
}

int kki_mjcf_name_get(const kki_mjcf *m, int kind, const char *name) {
    const kki_mjcf_name *slot =
        name && m->names.room ? slot_of(&m->names, kind, name, strlen(name), hash_of(kind, name)) : NULL;
    return slot && slot->text ? slot->value : -1;
}

void kki_mjcf_name_set(kki_mjcf *m, int kind, const char *name, int value) {
    if (grow(m)) {
        const uint32_t hash = hash_of(kind, name);
        kki_mjcf_name *slot = slot_of(&m->names, kind, name, strlen(name), hash);
        m->names.count += slot->text ? 0 : 1;
        *slot = (kki_mjcf_name){name, hash, kind, value};
    }
}

void kki_mjcf_name_put(kki_mjcf *m, kki_mjcf_kind kind, const char *name, int value, int32_t node) {
    if (!name) {
        return;
    }
    if (kki_mjcf_name_get(m, (int)kind, name) >= 0) {
        kki_mjcf_report(m, kki_fault(m->loader), KK_DUPLICATE_NAME, node, "name",
                        "a second %s has the name '%s'; rename one", kind_texts[kind], kki_shorten_string(name).text);
        return;
    }
    kki_mjcf_name_set(m, (int)kind, name, value);
}

const char *kki_mjcf_free_name(kki_mjcf *m, kki_mjcf_kind kind, const char *wish) {
    char number[16];
    const char *name = wish;
    // numbers go on from the last one given for this wish, so that many equal wishes stay cheap
    int n = kki_mjcf_name_get(m, (int)kind + KKI_MJCF_NUMBERED, wish);
    n = n < 2 ? 2 : n;
    while (m->status == KK_OK && kki_mjcf_name_get(m, (int)kind, name) >= 0) {
        kki_print(number, sizeof number, "_%d", n++);
        name = kki_mjcf_join(m, wish, number);
    }
    if (n > 2) {
        kki_mjcf_name_set(m, (int)kind + KKI_MJCF_NUMBERED, wish, n);
    }
    kki_mjcf_name_set(m, (int)kind, name, 0);
    return name;
}

// ---- references

/// Whether an ending is that of a copy: separators and numbers, the innermost first. What was not left out has one number.
static bool is_in_series(const kki_mjcf_series *s, const char *ending) {
    for (; s; s = s->outer) {
        const size_t length = strlen(s->sep);
        if (strncmp(ending, s->sep, length) != 0) {
            return false;
        }
        ending += length;
        int64_t number = 0;
        for (int i = 0; i < s->digits; i++, ending++) {
            if (*ending < '0' || *ending > '9') {
                return false;
            }
            number = 10 * number + (*ending - '0');
        }
        if (s->is_left_out ? number >= s->count : number != s->index) {
            return false;
        }
    }
    return *ending == 0;
}

bool kki_mjcf_is_left_out(const kki_mjcf *m, kki_mjcf_kind kind, const char *name) {
    const int copied = (int)kind + KKI_MJCF_COPIED;
    uint64_t hash = hash_first(copied);
    bool is_found = false;
    for (size_t i = 0; m->is_short && name[i] && !is_found; i++) { // any start may be a copied name
        hash = hash_next(hash, name[i]);
        const kki_mjcf_name *slot = slot_of(&m->names, copied, name, i + 1, hash_last(hash));
        for (int c = slot->text ? slot->value : -1; c >= 0 && !is_found; c = m->copy[c].next) {
            is_found = is_in_series(m->copy[c].series, name + i + 1);
        }
    }
    return is_found;
}

/// What has a name; −1: nothing, or a copy that was left out, which is noted.
static int find_name(kki_mjcf *m, kki_mjcf_kind kind, const char *name) {
    const int found = kki_mjcf_name_get(m, (int)kind, name);
    if (found < 0 && kki_mjcf_is_left_out(m, kind, name)) {
        m->is_lost = m->has_lost = true;
    }
    return found;
}

int kki_mjcf_refer_name(kki_mjcf *m, int32_t node, const char *attribute, kki_mjcf_kind kind, const char *name) {
    const bool was_lost = m->is_lost;
    m->is_lost = false;
    int found = m->suffix[0] ? find_name(m, kind, kki_mjcf_join(m, name, m->suffix)) : -1;
    found = found < 0 && !m->is_lost ? find_name(m, kind, name) : found;
    if (found < 0 && !m->is_lost && m->status == KK_OK) { // without memory nothing is found
        kki_mjcf_report(m, kki_fault(m->loader), KK_NOT_FOUND, node, attribute,
                        "<%s> refers to %s '%s', and there is none of that name; check its spelling",
                        kki_xml_name(m->xml, node), kind_texts[kind], kki_shorten_string(name).text);
    }
    m->is_lost = m->is_lost || was_lost;
    return found;
}

int kki_mjcf_refer(const kki_mjcf_at *at, const char *attribute, kki_mjcf_kind kind) {
    const char *name = kki_mjcf_text(at, attribute);
    if (!name) {
        kki_mjcf_report(at->m, KKI_ERROR, KK_NOT_FOUND, at->node, NULL, "<%s> has no attribute '%s'; add it",
                        kki_xml_name(at->m->xml, at->node), attribute);
        return -1;
    }
    return kki_mjcf_refer_name(at->m, at->node, attribute, kind, name);
}

const char *kki_mjcf_own_name(kki_mjcf *m, int32_t node) {
    const char *name = kki_xml_value(m->xml, node, "name");
    if (!name || !name[0]) {
        return NULL;
    }
    return m->suffix[0] ? kki_mjcf_copy_name(m, node, name, m->suffix, m->series) : name;
}

// ---- copies

const char *kki_mjcf_copy_name(kki_mjcf *m, int32_t node, const char *name, const char *suffix,
                               const kki_mjcf_series *series) {
    enum { MOST_BYTES = 1 << 27 };
    const int64_t before = m->copied_bytes;
    m->copied_bytes += (series ? series->copies : 1) * (int64_t)(strlen(name) + strlen(suffix));
    if (before <= MOST_BYTES && m->copied_bytes > MOST_BYTES) {
        kki_mjcf_report(m, KKI_ERROR, KK_LIMIT_EXCEEDED, node, "name",
                        "the names of all copies would be more than %d bytes; shorten this one", MOST_BYTES);
    }
    return kki_mjcf_join(m, name, suffix);
}

void kki_mjcf_add_copy(kki_mjcf *m, kki_mjcf_kind kind, const char *name, const char *suffix,
                       const kki_mjcf_series *series, int instance) {
    const int last = kki_mjcf_name_get(m, (int)kind + KKI_MJCF_COPIED, name);
    kki_mjcf_copy *copy = KKI_MJCF_PUSH(m, copy);
    if (copy) {
        *copy = (kki_mjcf_copy){suffix, series, last, instance};
        kki_mjcf_name_set(m, (int)kind + KKI_MJCF_COPIED, name, m->copy_count - 1);
    }
}

static int kind_of_attribute(const char *name) {
    static const kki_keyword words[] = {{"joint", KKI_MJCF_JOINT},
                                        {"jointinparent", KKI_MJCF_JOINT},
                                        {"body", KKI_MJCF_BODY},
                                        {"subtree", KKI_MJCF_BODY},
                                        {"geom", KKI_MJCF_GEOM},
                                        {"site", KKI_MJCF_SITE},
                                        {"refsite", KKI_MJCF_SITE},
                                        {"sidesite", KKI_MJCF_SITE},
                                        {"cranksite", KKI_MJCF_SITE},
                                        {"slidersite", KKI_MJCF_SITE},
                                        {"tendon", KKI_MJCF_TENDON},
                                        {"actuator", KKI_MJCF_ACTUATOR},
                                        {NULL, 0}};
    size_t length = strlen(name);
    length -= length > 1 && (name[length - 1] == '1' || name[length - 1] == '2') ? 1 : 0;
    for (int i = 0; words[i].word; i++) {
        if (strlen(words[i].word) == length && memcmp(words[i].word, name, length) == 0) {
            return words[i].value;
        }
    }
    return -1;
}

/// The last copy of the first name in an element's attributes that stands for copies; −1: none.
static int copies_in(const kki_mjcf *m, int32_t node) {
    const kki_xml_node *n = &m->xml->node[node];
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        const kki_xml_attribute *a = &m->xml->attribute[i];
        const char *name = kki_xml_string(m->xml, a->name), *value = kki_xml_string(m->xml, a->value);
        const int kind = kind_of_attribute(name);
        const bool is_object = strcmp(name, "objname") == 0;
        for (int k = is_object ? KKI_MJCF_BODY : kind; k >= 0 && k <= (is_object ? KKI_MJCF_SITE : kind); k++) {
            const int last = kki_mjcf_name_get(m, k + KKI_MJCF_COPIED, value);
            if (last >= 0 && kki_mjcf_name_get(m, k, value) < 0 && !kki_mjcf_is_left_out(m, (kki_mjcf_kind)k, value)) {
                return last;
            }
        }
    }
    return -1;
}

static int copies_below(const kki_mjcf *m, int32_t node) {
    int found = copies_in(m, node);
    for (int32_t c = kki_xml_first(m->xml, node, NULL); c != KKI_XML_NONE && found < 0;
         c = kki_xml_next(m->xml, c, NULL)) {
        found = copies_in(m, c);
    }
    return found;
}

/// What nothing can refer to.
static void forget_made(kk_spec *spec) {
    spec->npair = spec->nexclude = spec->nloop = spec->ncoupling = spec->nsensor = 0;
    while (spec->nactuator > 0 && !spec->actuator[spec->nactuator - 1].name) {
        spec->nactuator--;
    }
}

static void read_one(kki_mjcf *m, int32_t node, kki_mjcf_reader *read, const kki_mjcf_copy *copy) {
    m->suffix = copy ? copy->suffix : "";
    m->series = copy ? copy->series : NULL;
    m->instance = copy ? copy->instance : 0;
    read(m, node);
    m->suffix = "";
    m->series = NULL;
    m->is_lost = false;
    if (m->is_check) {
        forget_made(m->loader->spec);
    }
}

/// Notes the copies of an element; false: it has none.
static bool postpone(kki_mjcf *m, int32_t node, kki_mjcf_reader *read) {
    const int last = m->copy_count > 0 ? copies_below(m, node) : -1;
    for (int i = last; i >= 0; i = m->copy[i].next) {
        kki_mjcf_pending *pending = KKI_MJCF_PUSH(m, pending);
        if (!pending) {
            break;
        }
        *pending = (kki_mjcf_pending){node, i, read};
    }
    return last >= 0;
}

/// In MuJoCo's order: copy after copy, each with all that refers to it.
static void read_postponed(kki_mjcf *m) {
    const size_t count = (size_t)m->pending_count;
    kki_sort_item *order = kki_allocate_array(&m->loader->allocator, 2 * count, sizeof *order);
    if (!order) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = (kki_sort_item){(uint64_t)m->copy[m->pending[i].copy].instance, i};
    }
    kki_sort(order, count, order + count);
    for (size_t i = 0; i < count && m->status == KK_OK; i++) {
        const kki_mjcf_pending p = m->pending[order[i].payload];
        const kki_mjcf_copy copy = m->copy[p.copy]; // reading may add some
        read_one(m, p.node, p.read, &copy);
    }
    kki_release_array(&m->loader->allocator, order, 2 * count, sizeof *order);
}

void kki_mjcf_each(kki_mjcf *m, int32_t section, kki_mjcf_chooser *choose) {
    m->pending_count = 0;
    for (int32_t c = kki_xml_first(m->xml, section, NULL); c != KKI_XML_NONE && m->status == KK_OK;
         c = kki_xml_next(m->xml, c, NULL)) {
        kki_mjcf_reader *read = choose(m, c);
        if (read && !postpone(m, c, read)) {
            read_one(m, c, read, NULL);
        }
    }
    if (m->pending_count > 0 && m->status == KK_OK) {
        read_postponed(m);
    }
}
