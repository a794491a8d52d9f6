/// Default classes: for each class and kind of element the attributes that it gives, those of the class above included.
///
/// A class starts with its parent's lists and gets its own the first time that it adds to one. All kinds of actuators
/// share one list, as in MuJoCo.
#include <string.h>

#include "io/mjcf.h"

static int template_of(const char *name) {
    static const kki_keyword words[] = {{"mesh", KKI_MJCF_OF_MESH},         {"texture", KKI_MJCF_OF_TEXTURE},
                                        {"material", KKI_MJCF_OF_MATERIAL}, {"joint", KKI_MJCF_OF_JOINT},
                                        {"geom", KKI_MJCF_OF_GEOM},         {"site", KKI_MJCF_OF_SITE},
                                        {"pair", KKI_MJCF_OF_PAIR},         {"equality", KKI_MJCF_OF_EQUALITY},
                                        {"tendon", KKI_MJCF_OF_TENDON},     {NULL, 0}};
    for (int i = 0; words[i].word; i++) {
        if (strcmp(words[i].word, name) == 0) {
            return words[i].value;
        }
    }
    return kki_mjcf_element_find("actuator", name) ? KKI_MJCF_OF_ACTUATOR : -1;
}

/// The section whose table has the element's attributes.
static const char *section_of(int what) {
    switch (what) {
    case KKI_MJCF_OF_MESH:
    case KKI_MJCF_OF_TEXTURE:
    case KKI_MJCF_OF_MATERIAL: return "asset";
    case KKI_MJCF_OF_PAIR: return "contact";
    case KKI_MJCF_OF_ACTUATOR: return "actuator";
    default: return "body";
    }
}

static const char *name_of(const kki_xml *xml, int32_t attribute) {
    return kki_xml_string(xml, xml->attribute[attribute].name);
}

/// A list of its own with room for `more`. It doubles, as a class may be written in many elements.
static bool own_list(kki_mjcf *m, kki_mjcf_list *list, int more) {
    if (list->room - list->count >= more) {
        return true;
    }
    const int room = 2 * list->count + more;
    int32_t *copy = kki_pool_take(&m->pool, (size_t)room * sizeof *copy);
    if (!copy) {
        kki_mjcf_stop(m, KK_OUT_OF_MEMORY);
        return false;
    }
    if (list->count > 0) {
        memcpy(copy, list->attribute, (size_t)list->count * sizeof *copy);
    }
    *list = (kki_mjcf_list){copy, list->count, room};
    return true;
}

/// Lists of numbers that may be shorter than the class above has them: all of these are kept.
static bool may_be_shorter(const char *name) {
    static const char *const names[] = {"size",    "friction", "solref", "solimp",       "gear",
                                        "gainprm", "biasprm",  "dynprm", "springlength", "bias"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/// Whether nothing is left of an attribute behind another of its name.
static bool is_covered(const kki_mjcf *m, int32_t older, int32_t newer) {
    if (kki_mjcf_is_blank(m->xml, newer)) {
        return false; // no number takes the place of another
    }
    return !may_be_shorter(name_of(m->xml, newer)) ||
           kki_count_numbers(&m->reader, newer) >= kki_count_numbers(&m->reader, older);
}

/// The newest of a name stands last.
static void put_attribute(const kki_mjcf *m, kki_mjcf_list *list, int32_t attribute) {
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        const bool is_same = strcmp(name_of(m->xml, list->attribute[i]), name_of(m->xml, attribute)) == 0;
        if (!is_same || !is_covered(m, list->attribute[i], attribute)) {
            list->attribute[kept++] = list->attribute[i];
        }
    }
    list->attribute[kept] = attribute;
    list->count = kept + 1;
}

static const kki_mjcf_element *table_of(int what, const char *name) {
    if (what == KKI_MJCF_OF_EQUALITY) {
        return kki_mjcf_element_of("equality/weld");
    }
    return what == KKI_MJCF_OF_TENDON ? kki_mjcf_element_of("tendon/spatial")
                                      : kki_mjcf_element_find(section_of(what), name);
}

static void read_template(kki_mjcf *m, int class, int32_t node) {
    const char *name = kki_xml_name(m->xml, node);
    const int what = template_of(name);
    const kki_xml_node *n = &m->xml->node[node];
    if (what < 0) {
        kki_mjcf_is_read(m, "body", node); // cameras and lights, or unknown
        return;
    }
    const kki_mjcf_element *table = table_of(what, name);
    if (table && table->level == KKI_MJCF_UNSUPPORTED) {
        kki_mjcf_is_read(m, section_of(what), node);
        return;
    }
    kki_mjcf_check_attributes(m, table, node);
    if (n->attribute_count <= 0 || !own_list(m, &m->class[class].list[what], n->attribute_count)) {
        return;
    }
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        if (kki_mjcf_row_find(table, name_of(m->xml, i))) {
            put_attribute(m, &m->class[class].list[what], i);
        }
    }
}

static int open_class(kki_mjcf *m, int32_t node, int parent) {
    const char *name = kki_xml_value(m->xml, node, "class");
    const int outermost = m->scope_class[m->scope];
    if (parent < 0 && (!name || !name[0] || strcmp(name, m->tree->scope[m->scope].main_class) == 0)) {
        return outermost;
    }
    if (!name || !name[0]) {
        kki_mjcf_report(m, KKI_ERROR, KK_NOT_FOUND, node, NULL, "<default> inside another has no class; name it");
        return parent;
    }
    const int known = kki_mjcf_name_get(m, KKI_MJCF_CLASS, name);
    if (known >= 0) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, node, "class", "class '%s' is defined twice, and both hold; rename one",
                        name);
        return known;
    }
    kki_mjcf_class *made = KKI_MJCF_PUSH(m, class);
    if (!made) {
        return 0;
    }
    kki_mjcf_class *above = &m->class[parent < 0 ? outermost : parent];
    for (int i = 0; i < KKI_MJCF_TEMPLATES; i++) {
        above->list[i].room = 0; // two have it now
    }
    *made = *above;
    made->name = name;
    kki_mjcf_name_set(m, KKI_MJCF_CLASS, name, m->class_count - 1);
    return m->class_count - 1;
}

/// The elements of a class first, wherever they stand, then the classes inside it.
static void read_templates(kki_mjcf *m, int32_t node, int class) {
    for (int32_t c = kki_xml_first(m->xml, node, NULL); c != KKI_XML_NONE; c = kki_xml_next(m->xml, c, NULL)) {
        if (!kki_xml_is(m->xml, c, "default")) {
            read_template(m, class, c);
        }
    }
}

/// The next <default> of the section in document order, without recursion; its parent's class is in `class_at`.
static int32_t next_default(const kki_xml *xml, int32_t section, int32_t node) {
    int32_t found = kki_xml_first(xml, node, "default");
    while (found == KKI_XML_NONE && node != section) {
        found = kki_xml_next(xml, node, "default");
        node = xml->node[node].parent;
    }
    return found;
}

/// Each scope has an outermost class, which inherits nothing.
static void add_outermost(kki_mjcf *m) {
    for (int i = 0; i < m->tree->scope_count; i++) {
        kki_mjcf_class *made = KKI_MJCF_PUSH(m, class);
        if (made) {
            made->name = m->tree->scope[i].main_class;
            m->scope_class[i] = i;
            kki_mjcf_name_set(m, KKI_MJCF_CLASS, made->name, i);
        }
    }
}

void kki_mjcf_default(kki_mjcf *m, int32_t section) {
    if (m->class_count == 0) {
        add_outermost(m);
    }
    if (section == KKI_XML_NONE || m->status != KK_OK) {
        return;
    }
    int outer = open_class(m, section, -1);
    read_templates(m, section, outer);
    for (int32_t d = next_default(m->xml, section, section); d != KKI_XML_NONE && m->status == KK_OK;
         d = next_default(m->xml, section, d)) {
        const int32_t parent = m->xml->node[d].parent;
        const char *above = kki_xml_value(m->xml, parent, "class");
        const int found = kki_mjcf_name_get(m, KKI_MJCF_CLASS, above);
        kki_mjcf_check_attributes(m, kki_mjcf_element_of("mujoco/default"), d);
        read_templates(m, d, open_class(m, d, parent == section || found < 0 ? outer : found));
    }
}

int kki_mjcf_class_of(kki_mjcf *m, int32_t node, const char *attribute, int otherwise) {
    const char *name = kki_xml_value(m->xml, node, attribute);
    if (!name || !name[0]) {
        return otherwise;
    }
    const int found = kki_mjcf_name_get(m, KKI_MJCF_CLASS, name);
    if (found < 0) {
        kki_mjcf_report(m, kki_fault(m->loader), KK_NOT_FOUND, node, attribute,
                        "there is no default class '%s'; check its spelling", name);
    }
    return found < 0 ? otherwise : found;
}

kki_mjcf_at kki_mjcf_element_of_class(kki_mjcf *m, int32_t node, kki_mjcf_template what, int class) {
    const int chosen = kki_mjcf_class_of(m, node, "class", class ? class : m->scope_class[m->scope]);
    return (kki_mjcf_at){m, node, &m->class[chosen].list[what]};
}
