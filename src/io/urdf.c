/// URDF, as a story: find links and joints, put them in order, read what shapes refer to, make a body of every link, then
/// what names bodies and joints: mimics, transmissions, our own <karakuri>.
///
/// The root becomes a free body, or the world itself where it is called "world". Bodies stand in the order of the file
/// wherever a link comes after its parent.
///
/// Reference: the URDF XML specification of ROS, and what its parser (urdfdom) accepts.
#include "io/urdf.h"

#include <stdarg.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/print.h"
#include "io/text.h"

enum { MESSAGE_SIZE = 400 };

// ---- findings

kk_status kki_urdf_report(kki_urdf *u, kki_severity severity, kk_status status, int32_t node, const char *remedy,
                          const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    kki_report_node(&u->reader, severity, status, node, text, remedy);
    return KK_OK;
}

kk_status kki_urdf_report_value(kki_urdf *u, kki_severity severity, kk_status status, int32_t attribute,
                                const char *remedy, const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    kki_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    kki_report_attribute(&u->reader, severity, status, attribute, text, remedy);
    return KK_OK;
}

void kki_urdf_note_once(kki_urdf *u, int32_t node, const char *what, const char *remedy) {
    const kk_origin at = kki_origin_of_node(u->xml, node);
    kki_diagnostics_add(u->loader->diagnostics, &(kki_finding){.severity = KKI_NOTE,
                                                               .file = at.file,
                                                               .line = at.line,
                                                               .column = at.column,
                                                               .text = what,
                                                               .remedy = remedy,
                                                               .key = kki_diagnostics_key("urdf", what, "")});
}

kk_status kki_urdf_keep(kki_urdf *u, int32_t node, kk_status status, const kk_error *error) {
    if (status != KK_OK) {
        kki_report_node(&u->reader, KKI_ERROR, status, node, error->text, "");
    }
    return status;
}

kk_status kki_urdf_no_memory(kki_urdf *u) {
    return kki_report_node(&u->reader, KKI_ERROR, KK_OUT_OF_MEMORY, KKI_XML_ROOT, "no memory to read the robot", "");
}

// ---- bodies

/// What the root's free joint is called: a name that no joint has.
static const char *root_joint_name(const kki_urdf *u, const char *root, char *name, size_t size) {
    const int length = kki_whole_length(root, KKI_MOST_NAME);
    kki_print(name, size, "%.*s_joint", length, root);
    for (int n = 2; kki_name_table_find(&u->joints, name) >= 0; n++) {
        kki_print(name, size, "%.*s_joint_%d", length, root, n);
    }
    return name;
}

/// The world's own body has the name "world" already, so a link of that name elsewhere gets another.
static const char *body_name(kki_urdf *u, const kki_urdf_link *link, char *name, size_t size) {
    if (strcmp(link->name, "world") != 0) {
        return link->name;
    }
    kki_print(name, size, "world_link");
    for (int n = 2; kki_name_table_find(&u->links, name) >= 0; n++) {
        kki_print(name, size, "world_link_%d", n);
    }
    kki_urdf_report(u, KKI_WARNING, KK_OK, link->node, "rename the link",
                    "link 'world' is not the root, so its body is called '%s'", name);
    return name;
}

static bool moves(const kk_joint_def *joint) {
    return joint->type != KK_JOINT_FIXED;
}

/// The joint between a link and its parent, or the root's own.
static void fill_joint(kki_urdf *u, kki_urdf_link *link, kk_body_def *body, char *root_name, size_t size) {
    if (link->parent_joint < 0) {
        const bool is_root = link == &u->link[u->root];
        body->joint.type = is_root ? KK_JOINT_FREE : KK_JOINT_FIXED; // a second root only where it is to be repaired
        body->joint.name = root_joint_name(u, link->name, root_name, size);
        body->parent = is_root ? body->parent : u->link[u->root].body;
        return;
    }
    kki_urdf_joint *joint = &u->joint[link->parent_joint];
    kki_urdf_joint_read(u, joint, &body->joint);
    kki_urdf_karakuri_joint(u, joint->node, &body->joint, &body->offset);
    // what comes later is remembered: another walk over all joints would find nothing in the cache
    joint->mimic = kki_xml_first(u->xml, joint->node, "mimic");
    joint->has_karakuri = kki_xml_first(u->xml, joint->node, "karakuri") != KKI_XML_NONE;
    body->parent = u->link[joint->parent].body;
    link->is_static = u->link[joint->parent].is_static && !moves(&body->joint);
}

static kk_status add_body(kki_urdf *u, kki_urdf_link *link) {
    enum { ROOM = 64 };
    char name[ROOM], root_name[KKI_NAME_SIZE];
    kk_error error = {.status = KK_OK};
    kk_body_def body = kk_body_def_default();
    body.inertia = kki_urdf_inertial(u, link->node);
    if (link->parent_joint < 0 && strcmp(link->name, "world") == 0) {
        link->body = KK_WORLD;
        link->is_static = true;
        u->spec->body[KK_WORLD].inertia = body.inertia;
        return KK_OK;
    }
    body.origin = kki_origin_of_node(u->xml, link->node);
    body.name = body_name(u, link, name, sizeof name);
    fill_joint(u, link, &body, root_name, sizeof root_name);
    const kk_status status = kk_spec_add_body(u->spec, &body, &link->body, &error);
    if (link->parent_joint >= 0) {
        u->joint[link->parent_joint].body = link->body;
    }
    return kki_urdf_keep(u, link->node, status, &error);
}

static kk_status add_link(kki_urdf *u, kki_urdf_link *link) {
    static const char *const known[] = {"inertial",
                                        "visual",
                                        "collision",
                                        "karakuri",
                                        "contact",
                                        "sensor",
                                        "verbose",
                                        "self_collision_checking",
                                        "self_collision_group",
                                        NULL};
    kki_report_unknown_elements(&u->reader, link->node, known);
    const kk_status status = add_body(u, link);
    if (status != KK_OK) {
        return status;
    }
    link->has_karakuri = kki_xml_first(u->xml, link->node, "karakuri") != KKI_XML_NONE;
    const kki_karakuri_link said =
        kki_urdf_karakuri_link(u, link->node, (kki_karakuri_link){.material = link->material});
    link->material = said.material;
    u->spec->body[link->body].gravity_compensation = said.gravity_compensation;
    return kki_urdf_shapes(u, link);
}

// ---- bodies whose frame is not the joint's

/// Everything was read in the frame of the joint, which is a URDF link's; now it is told in the body's.
static void apply_offsets(kki_urdf *u) {
    kk_spec *s = u->spec;
    for (int i = 1; i < s->nbody; i++) {
        s->body[i].inertia = kk_inertia_to(kk_transform_inverse(s->body[i].offset), s->body[i].inertia);
        const int parent = s->body[i].parent;
        if (parent != KK_WORLD) {
            s->body[i].joint.placement =
                kk_transform_mul(kk_transform_inverse(s->body[parent].offset), s->body[i].joint.placement);
        }
    }
    for (int i = 0; i < s->nshape; i++) {
        s->shape[i].placement =
            kk_transform_mul(kk_transform_inverse(s->body[s->shape[i].body].offset), s->shape[i].placement);
    }
}

static bool has_offset(const kk_spec *spec) {
    const kk_transform I = kk_transform_identity();
    for (int i = 1; i < spec->nbody; i++) {
        if (memcmp(&spec->body[i].offset, &I, sizeof I) != 0) {
            return true;
        }
    }
    return false;
}

// ---- the story

static void note_unused(kki_urdf *u) {
    static const char *const known[] = {"link",   "joint",      "material", "transmission", "gazebo",
                                        "mujoco", "karakuri",   "sensor",   "ros2_control", "group",
                                        "plugin", "xacro_live", NULL};
    for (int i = 0; i < u->other_count; i++) {
        kki_report_unknown_element(&u->reader, u->other[i], known);
    }
    static const struct {
        const char *element, *text;
    } unused[] = {{"mujoco", "<mujoco> is not used: options for MuJoCo"},
                  {"sensor", "<sensor> is not used; <karakuri><sensor/></karakuri> is"},
                  {"ros2_control", "<ros2_control> is not used; transmissions and <karakuri><actuator/> are"},
                  {"group", "<group> is not used"},
                  {"plugin", "<plugin> is not used"}};
    for (size_t i = 0; i < sizeof unused / sizeof unused[0]; i++) {
        const int first = kki_urdf_other(u, unused[i].element, 0);
        if (first < u->other_count) {
            kki_urdf_note_once(u, u->other[first], unused[i].text, "");
        }
    }
}

static kk_status add_bodies(kki_urdf *u) {
    kk_status status = kki_spec_reserve(u->spec, u->link_count + 1, 0) ? kki_urdf_no_memory(u) : KK_OK;
    for (int i = 0; i < u->link_count && status == KK_OK; i++) {
        status = add_link(u, &u->link[u->order[i]]);
    }
    if (status == KK_OK && has_offset(u->spec)) {
        apply_offsets(u);
    }
    return status;
}

static kk_status read_name(kki_urdf *u) {
    const char *name = "";
    kk_error error = {.status = KK_OK};
    kki_read_string(&u->reader, KKI_XML_ROOT, "name", KKI_OPTIONAL, &name);
    return kki_urdf_keep(u, KKI_XML_ROOT, kk_spec_set_name(u->spec, name, &error), &error);
}

static kk_status read_robot(kki_urdf *u) {
    kk_status status = kki_urdf_survey(u);
    if (status != KK_OK) {
        return status;
    }
    note_unused(u);
    status = read_name(u);
    status = status ? status : kki_urdf_tree(u);
    if (status != KK_OK || u->loader->diagnostics->has_error) {
        return status;
    }
    status = kki_urdf_visuals(u);
    status = status ? status : kki_urdf_karakuri_first(u);
    status = status ? status : kki_urdf_gazebo(u);
    status = status ? status : add_bodies(u);
    status = status ? status : kki_urdf_mimics(u);
    status = status ? status : kki_urdf_transmissions(u);
    status = status ? status : kki_urdf_karakuri_rest(u);
    return status ? status : kki_urdf_repair(u);
}

typedef void each_table(kki_urdf *u, kki_name_table *table);

static void create_table(kki_urdf *u, kki_name_table *table) {
    kki_name_table_create(table, &u->loader->allocator);
}

static void destroy_table(kki_urdf *u, kki_name_table *table) {
    (void)u;
    kki_name_table_destroy(table);
}

static void for_tables(kki_urdf *u, each_table *call) {
    kki_name_table *const tables[] = {&u->links,     &u->joints,          &u->looks,
                                      &u->materials, &u->shapes,          &u->height_fields,
                                      &u->actuators, &u->surface_numbers, &u->actuator_numbers};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        call(u, tables[i]);
    }
}

static void end(kki_urdf *u) {
    for_tables(u, destroy_table);
    const kk_allocator *a = &u->loader->allocator;
    kki_release_array(a, u->other, (size_t)u->other_count, sizeof *u->other);
    kki_release_array(a, u->link, (size_t)u->link_count, sizeof *u->link);
    kki_release_array(a, u->joint, (size_t)u->joint_count, sizeof *u->joint);
    kki_release_array(a, u->order, (size_t)u->link_count, sizeof *u->order);
    kki_release_array(a, u->chain, (size_t)u->link_count + (size_t)u->joint_count, sizeof *u->chain);
}

kk_status kki_urdf_load(kki_loader *loader, const kki_xml *xml) {
    kki_urdf u = {.loader = loader, .spec = loader->spec, .xml = xml, .reader = {xml, loader->diagnostics}};
    for_tables(&u, create_table);
    const kk_status status = read_robot(&u);
    end(&u);
    return status;
}
