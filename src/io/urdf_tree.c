/// Links and joints of a URDF file by name, and the order in which bodies are made.
///
/// The order is that of the file wherever a link stands behind its parent. Otherwise the walk climbs from a link to the
/// nearest ancestor that has its place already, and comes down again; each link is climbed over once, so the whole is
/// linear, and a climb that meets itself is a cycle.
#include <string.h>

#include "base/allocator.h"
#include "io/text.h"
#include "io/urdf.h"

enum { STATE_NEW, STATE_CLIMBED, STATE_PLACED };

// ---- collecting

/// Counts what the robot consists of, or enters the others, for which there is room.
static void look_through(kki_urdf *u, bool enters) {
    u->link_count = u->joint_count = u->other_count = 0;
    for (int32_t n = kki_xml_first(u->xml, KKI_XML_ROOT, NULL); n != KKI_XML_NONE; n = kki_xml_next(u->xml, n, NULL)) {
        if (kki_xml_is(u->xml, n, "link")) {
            u->link_count++;
        } else if (kki_xml_is(u->xml, n, "joint")) {
            u->joint_count++;
        } else {
            if (enters) {
                u->other[u->other_count] = n;
            }
            u->other_count++;
        }
    }
}

kk_status kki_urdf_survey(kki_urdf *u) {
    look_through(u, false);
    if (u->other_count == 0) {
        return KK_OK;
    }
    u->other = kki_allocate_array(&u->loader->allocator, (size_t)u->other_count, sizeof *u->other);
    if (!u->other) {
        u->other_count = 0;
        return kki_urdf_no_memory(u);
    }
    look_through(u, true);
    return KK_OK;
}

int kki_urdf_other(const kki_urdf *u, const char *name, int i) {
    while (i < u->other_count && !kki_xml_is(u->xml, u->other[i], name)) {
        i++;
    }
    return i;
}

static kk_status allocate(kki_urdf *u) {
    const kk_allocator *a = &u->loader->allocator;
    u->link = kki_allocate_array_zeroed(a, (size_t)u->link_count, sizeof *u->link);
    u->joint = kki_allocate_array_zeroed(a, (size_t)u->joint_count, sizeof *u->joint);
    u->order = kki_allocate_array_zeroed(a, (size_t)u->link_count, sizeof *u->order);
    u->chain = kki_allocate_array_zeroed(a, (size_t)u->link_count + (size_t)u->joint_count, sizeof *u->chain);
    return u->link && u->joint && u->order && u->chain ? KK_OK : kki_urdf_no_memory(u);
}

/// The element's name attribute, "" where it has none, which is a finding.
static const char *name_of(kki_urdf *u, int32_t node) {
    const char *name = "";
    if (kki_read_string(&u->reader, node, "name", KKI_REQUIRED, &name) == KK_OK && name[0] == 0) {
        kki_urdf_report_value(u, KKI_ERROR, KK_SYNTAX, kki_xml_find(u->xml, node, "name"), "give it a name",
                              "the name of this <%s> is empty", kki_xml_name(u->xml, node));
    }
    return name;
}

/// Puts a name into its table; a name that is there already is a finding.
static kk_status enter(kki_urdf *u, kki_name_table *table, int32_t node, int32_t first, const char *name, int32_t id) {
    if (name[0] == 0) {
        return KK_OK;
    }
    if (kki_name_table_find(table, name) >= 0) {
        const kki_xml_position p = kki_xml_locate(u->xml, u->xml->node[first].place);
        return kki_urdf_report_value(u, kki_fault(u->loader), KK_DUPLICATE_NAME, kki_xml_find(u->xml, node, "name"),
                                     "rename one of them", "a second <%s> is called '%s'; the first is in line %d",
                                     kki_xml_name(u->xml, node), kki_shorten_string(name).text, p.line);
    }
    return kki_name_table_set(table, name, id) == KK_OK ? KK_OK : kki_urdf_no_memory(u);
}

static kk_status collect_links(kki_urdf *u) {
    kk_status status = KK_OK;
    int i = 0;
    for (int32_t n = kki_xml_first(u->xml, KKI_XML_ROOT, "link"); n != KKI_XML_NONE && status == KK_OK;
         n = kki_xml_next(u->xml, n, "link"), i++) {
        const char *name = name_of(u, n);
        u->link[i] = (kki_urdf_link){.node = n, .name = name, .parent_joint = -1, .body = -1, .has_karakuri = true};
        const int32_t first = kki_name_table_find(&u->links, name);
        status = enter(u, &u->links, n, first >= 0 ? u->link[first].node : n, name, i);
    }
    return status;
}

/// The link that <parent link=...> or <child link=...> of a joint names; −1 and a finding where there is none.
static int32_t end_of(kki_urdf *u, const kki_urdf_joint *joint, const char *which) {
    const int32_t n = kki_xml_first(u->xml, joint->node, which);
    const char *name = NULL;
    if (n == KKI_XML_NONE) {
        kki_urdf_report(u, kki_fault(u->loader), KK_NOT_FOUND, joint->node, "name the links that it joins",
                        "joint '%s' has no <%s link=\"...\"/>", kki_shorten_string(joint->name).text, which);
        return -1;
    }
    if (kki_read_string(&u->reader, n, "link", KKI_REQUIRED, &name) != KK_OK) {
        return -1;
    }
    const int32_t link = kki_name_table_find(&u->links, name);
    if (link < 0) {
        kki_urdf_report_value(u, kki_fault(u->loader), KK_NOT_FOUND, kki_xml_find(u->xml, n, "link"),
                              "correct the name, or add the link", "joint '%s': there is no link '%s'",
                              kki_shorten_string(joint->name).text, kki_shorten_string(name).text);
    }
    return link;
}

/// A joint that holds nothing, where a load goes on all the same: nobody finds it by its name any more.
static void drop(kki_urdf *u, int j) {
    if (kki_name_table_find(&u->joints, u->joint[j].name) == j) {
        kki_name_table_set(&u->joints, u->joint[j].name, -1); // the name is there, so this needs no memory
    }
}

/// A link hangs from one joint only.
static void hang(kki_urdf *u, int j) {
    const kki_urdf_joint *joint = &u->joint[j];
    if (joint->child < 0 || joint->parent < 0) {
        drop(u, j);
        return;
    }
    kki_urdf_link *child = &u->link[joint->child];
    if (child->parent_joint >= 0) {
        kki_urdf_report(u, kki_fault(u->loader), KK_INVALID_MODEL, joint->node,
                        "keep one of them; <karakuri><loop/></karakuri> closes a loop",
                        "link '%s' is the child of two joints, '%s' and '%s', but a URDF file is a tree",
                        kki_shorten_string(child->name).text,
                        kki_shorten_string(u->joint[child->parent_joint].name).text,
                        kki_shorten_string(joint->name).text);
        drop(u, j);
        return;
    }
    child->parent_joint = j;
}

static kk_status collect_joints(kki_urdf *u) {
    kk_status status = KK_OK;
    int i = 0;
    for (int32_t n = kki_xml_first(u->xml, KKI_XML_ROOT, "joint"); n != KKI_XML_NONE && status == KK_OK;
         n = kki_xml_next(u->xml, n, "joint"), i++) {
        kki_urdf_joint *joint = &u->joint[i];
        *joint = (kki_urdf_joint){
            .node = n, .name = name_of(u, n), .body = -1, .leader = -1, .mimic = KKI_XML_NONE, .has_karakuri = true};
        const int32_t first = kki_name_table_find(&u->joints, joint->name);
        status = enter(u, &u->joints, n, first >= 0 ? u->joint[first].node : n, joint->name, i);
        joint->parent = end_of(u, joint, "parent");
        joint->child = end_of(u, joint, "child");
        hang(u, i);
    }
    return status;
}

// ---- ordering

/// The parent link, −1 for a root.
static int32_t parent_of(const kki_urdf *u, int32_t link) {
    const int32_t j = u->link[link].parent_joint;
    return j < 0 ? -1 : u->joint[j].parent;
}

static void report_cycle(kki_urdf *u, int32_t link) {
    kki_urdf_report(u, KKI_ERROR, KK_INVALID_MODEL, u->link[link].node,
                    "turn one of the joints round, or close the loop by <karakuri><loop/></karakuri>",
                    "link '%s' hangs from itself: its joints go round in a circle",
                    kki_shorten_string(u->link[link].name).text);
}

/// Places a link and those above it that have no place yet.
static void place(kki_urdf *u, int32_t link, int *count) {
    int depth = 0;
    for (int32_t at = link; at >= 0 && u->link[at].state != STATE_PLACED; at = parent_of(u, at)) {
        if (u->link[at].state == STATE_CLIMBED) {
            report_cycle(u, at);
            break;
        }
        u->link[at].state = STATE_CLIMBED;
        u->chain[depth++] = at;
    }
    while (depth > 0) {
        u->link[u->chain[--depth]].state = STATE_PLACED;
        u->order[(*count)++] = u->chain[depth];
    }
}

/// The one link without a parent.
static void find_root(kki_urdf *u) {
    u->root = -1;
    for (int i = 0; i < u->link_count; i++) {
        if (u->link[i].parent_joint >= 0) {
            continue;
        }
        if (u->root < 0) {
            u->root = i;
            continue;
        }
        kki_urdf_report(u, kki_fault(u->loader), KK_INVALID_MODEL, u->link[i].node,
                        "connect it by a joint of type fixed or floating, or delete it",
                        "link '%s' is not connected: like '%s' it is the child of no joint, and a robot has one root",
                        kki_shorten_string(u->link[i].name).text, kki_shorten_string(u->link[u->root].name).text);
    }
}

kk_status kki_urdf_tree(kki_urdf *u) {
    kk_status status = allocate(u);
    status = status ? status : collect_links(u);
    status = status ? status : collect_joints(u);
    if (status != KK_OK) {
        return status;
    }
    if (u->link_count == 0) {
        return kki_urdf_report(u, KKI_ERROR, KK_INVALID_MODEL, KKI_XML_ROOT, "add <link name=\"base\"/>",
                               "the robot has no links");
    }
    find_root(u);
    int count = 0;
    if (u->loader->options->repair && u->root >= 0) {
        place(u, u->root, &count); // other roots will hang on it
    }
    for (int i = 0; i < u->link_count; i++) {
        place(u, i, &count);
    }
    return KK_OK;
}
