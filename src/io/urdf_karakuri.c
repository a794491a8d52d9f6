/// Reading <karakuri>: generic over the tables of karakuri_fields.c, with a few lines for each kind of element.
#include <string.h>

#include "base/allocator.h"
#include "io/karakuri_fields.h"
#include "io/text.h"
#include "io/urdf.h"

// ---- fields

/// The id of a name of another item.
static void read_id(kki_urdf *u, int32_t node, const kki_field *f, const kki_name_table *table, const char *what,
                    void *field) {
    const char *name = NULL;
    if (kki_read_string(&u->reader, node, f->name, f->is_required ? KKI_REQUIRED : KKI_OPTIONAL, &name) != KK_OK ||
        !name) {
        return;
    }
    const int32_t id = kki_name_table_find(table, name);
    if (id < 0) {
        kki_urdf_report_value(u, KKI_ERROR, KK_NOT_FOUND, kki_xml_find(u->xml, node, f->name),
                              "correct the name, or define it", "there is no %s '%s'", what,
                              kki_shorten_string(name).text);
        return;
    }
    const int value = id;
    memcpy(field, &value, sizeof value);
}

/// A link's body; "world" is the world even where no link has that name.
static void read_body(kki_urdf *u, int32_t node, const kki_field *f, void *field) {
    const char *name = kki_xml_value(u->xml, node, f->name);
    int body = KK_WORLD;
    if (!name || strcmp(name, "world") != 0 || kki_name_table_find(&u->links, name) >= 0) {
        int32_t link = -1;
        memcpy(field, &link, sizeof link);
        read_id(u, node, f, &u->links, "link", &link);
        if (link < 0) {
            return;
        }
        body = u->link[link].body;
    }
    memcpy(field, &body, sizeof body);
}

static void read_whole(kki_urdf *u, int32_t node, const kki_field *f, int64_t most, void *field) {
    int64_t value = -1;
    const kki_need need = f->is_required ? KKI_REQUIRED : KKI_OPTIONAL;
    if (kki_read_int(&u->reader, node, f->name, need, 0, most, &value) == KK_OK && value >= 0) {
        const uint32_t kept = (uint32_t)value;
        memcpy(field, &kept, sizeof kept);
    }
}

static void read_numbers(kki_urdf *u, int32_t node, const kki_field *f, int least, int most, double *values) {
    double found[6];
    int count = 0;
    if (kki_read_numbers(&u->reader, node, f->name, KKI_OPTIONAL, least, most, found, &count) == KK_OK) {
        memcpy(values, found, (size_t)count * sizeof *found);
    }
}

static void read_rotation(kki_urdf *u, int32_t node, const kki_field *f, kk_transform *X) {
    double rpy[3];
    if (kki_xml_find(u->xml, node, f->name) != KKI_XML_NONE &&
        kki_read_vector(&u->reader, node, f->name, KKI_OPTIONAL, 3, rpy) == KK_OK) {
        X->R = kk_mat3_from_rpy(rpy[0], rpy[1], rpy[2]);
    }
}

static void read_sensor_type(kki_urdf *u, int32_t node, const kki_field *f, void *field) {
    const char *word = NULL;
    if (kki_read_string(&u->reader, node, f->name, KKI_REQUIRED, &word) != KK_OK) {
        return;
    }
    const int type = kki_sensor_of_word(word);
    if (type < 0) {
        kki_urdf_report_value(u, KKI_ERROR, KK_SYNTAX, kki_xml_find(u->xml, node, f->name),
                              "write joint_position, gyro, accelerometer or another of docs/guide/karakuri-element.md",
                              "there is no sensor '%s'", kki_shorten_string(word).text);
        return;
    }
    memcpy(field, &type, sizeof type);
}

static void read_word(kki_urdf *u, int32_t node, const kki_field *f, void *field) {
    int value;
    memcpy(&value, field, sizeof value);
    kki_read_keyword(&u->reader, node, f->name, f->is_required ? KKI_REQUIRED : KKI_OPTIONAL, f->words, &value);
    memcpy(field, &value, sizeof value);
}

static void read_flag(kki_urdf *u, int32_t node, const kki_field *f, void *field) {
    int number;
    memcpy(&number, field, sizeof number);
    bool value = number != 0;
    kki_read_bool(&u->reader, node, f->name, KKI_OPTIONAL, &value);
    number = value;
    memcpy(field, &number, sizeof number);
}

static void read_field(kki_urdf *u, int32_t node, const kki_field *f, void *def) {
    char *field = (char *)def + f->offset;
    const kki_need need = f->is_required ? KKI_REQUIRED : KKI_OPTIONAL;
    switch (f->kind) {
    case KKI_FIELD_NUMBER: kki_read_double(&u->reader, node, f->name, need, (double *)(void *)field); break;
    case KKI_FIELD_TEXT: kki_read_string(&u->reader, node, f->name, need, (const char **)(void *)field); break;
    case KKI_FIELD_WORD: read_word(u, node, f, field); break;
    case KKI_FIELD_FLAG: read_flag(u, node, f, field); break;
    case KKI_FIELD_COUNT: read_whole(u, node, f, INT32_MAX, field); break;
    case KKI_FIELD_MASK: read_whole(u, node, f, UINT32_MAX, field); break;
    case KKI_FIELD_VEC3: read_numbers(u, node, f, 3, 3, (double *)(void *)field); break;
    case KKI_FIELD_NUMBERS3: read_numbers(u, node, f, 1, 3, (double *)(void *)field); break;
    case KKI_FIELD_SIX: read_numbers(u, node, f, 6, 6, (double *)(void *)field); break;
    case KKI_FIELD_XYZ: read_numbers(u, node, f, 3, 3, &((kk_transform *)(void *)field)->p.x); break;
    case KKI_FIELD_RPY: read_rotation(u, node, f, (kk_transform *)(void *)field); break;
    case KKI_FIELD_BODY: read_body(u, node, f, field); break;
    case KKI_FIELD_MATERIAL: read_id(u, node, f, &u->materials, "contact material", field); break;
    case KKI_FIELD_SHAPE: read_id(u, node, f, &u->shapes, "shape", field); break;
    case KKI_FIELD_HEIGHT_FIELD: read_id(u, node, f, &u->height_fields, "height field", field); break;
    case KKI_FIELD_SENSOR: read_sensor_type(u, node, f, field); break;
    }
}

/// @param more  names of attributes beyond the table, or NULL
static void read_fields(kki_urdf *u, int32_t node, kki_karakuri_element element, const char *const *more, void *def) {
    const char *known[KKI_MOST_FIELDS + 4] = {NULL};
    int count = 0;
    for (const kki_field *f = kki_fields_of(element)->field; f->name; f++) {
        known[count++] = f->name;
        read_field(u, node, f, def);
    }
    for (int i = 0; more && more[i]; i++) {
        known[count++] = more[i];
    }
    kki_report_unknown_attributes(&u->reader, node, known);
}

// ---- elements, each into the spec

/// What the element stands in, so that it need not name it.
typedef struct owner {
    const char *joint; ///< NULL: none
    int link;          ///< −1: none
} owner;

typedef kk_status add_element(kki_urdf *u, int32_t node, const owner *o);

#define ADD(kind, def) kki_urdf_keep(u, node, kk_spec_add_##kind(u->spec, (def), NULL, &error), &error)

static kk_status add_option(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    read_fields(u, node, KKI_ELEMENT_OPTION, NULL, &u->spec->options);
    return KK_OK;
}

static kk_status add_frame(kki_urdf *u, int32_t node, const owner *o) {
    kk_error error = {.status = KK_OK};
    kk_frame_def def = kk_frame_def_default();
    def.origin = kki_origin_of_node(u->xml, node);
    // the attribute is optional inside a link, so it is put in only where it is there
    read_fields(u, node, KKI_ELEMENT_FRAME, NULL, &def);
    if (!kki_xml_value(u->xml, node, "link")) {
        def.body = o->link >= 0 ? u->link[o->link].body : KK_WORLD;
    }
    if (!def.name || def.body < 0) {
        return KK_OK;
    }
    def.placement = kk_transform_mul(kk_transform_inverse(u->spec->body[def.body].offset), def.placement);
    return ADD(frame, &def);
}

static kk_status add_material_pair(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_material_pair_def def = kk_material_pair_def_default();
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_MATERIAL_PAIR, NULL, &def);
    return ADD(material_pair, &def);
}

static kk_status add_pair(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_pair_def def = kk_pair_def_default();
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_PAIR, NULL, &def);
    return ADD(pair, &def);
}

static kk_status add_exclude(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_exclude_def def = kk_exclude_def_default();
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_EXCLUDE, NULL, &def);
    return def.body[0] < 0 || def.body[1] < 0 ? KK_OK : ADD(exclude, &def);
}

static kk_status add_loop(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_loop_def def = kk_loop_def_default();
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_LOOP, NULL, &def);
    for (int i = 0; i < 2; i++) {
        if (def.body[i] < 0) {
            return KK_OK;
        }
        def.placement[i] = kk_transform_mul(kk_transform_inverse(u->spec->body[def.body[i]].offset), def.placement[i]);
    }
    return ADD(loop, &def);
}

/// A joint that is named must be there; the finding says where it is named.
static bool joint_exists(kki_urdf *u, int32_t node, const char *attribute, const char *name) {
    if (!name || kki_name_table_find(&u->joints, name) >= 0) {
        return name != NULL;
    }
    // the free joint of the root has a name of its own
    for (int i = 1; i < u->spec->nbody; i++) {
        const char *own = u->spec->body[i].joint.name;
        if (u->spec->body[i].parent == KK_WORLD && own && strcmp(own, name) == 0) {
            return true;
        }
    }
    const int32_t found = kki_xml_find(u->xml, node, attribute);
    if (found != KKI_XML_NONE) {
        kki_urdf_report_value(u, KKI_ERROR, KK_NOT_FOUND, found, "name a joint of this file", "there is no joint '%s'",
                              kki_shorten_string(name).text);
    }
    return false;
}

static kk_status add_coupling(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_coupling_def def = kk_coupling_def_default();
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_COUPLING, NULL, &def);
    const bool is_good = joint_exists(u, node, "follower", def.follower) && joint_exists(u, node, "leader", def.leader);
    return is_good ? ADD(coupling, &def) : KK_OK;
}

static kk_status add_tendon(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_tendon_def def = kk_tendon_def_default();
    int count = 0;
    read_fields(u, node, KKI_ELEMENT_TENDON, NULL, &def);
    def.origin = kki_origin_of_node(u->xml, node);
    for (int32_t n = kki_xml_first(u->xml, node, "item"); n != KKI_XML_NONE; n = kki_xml_next(u->xml, n, "item")) {
        count++;
    }
    kk_tendon_item *item = kki_allocate_array_zeroed(&u->loader->allocator, (size_t)count, sizeof *item);
    if (!item) {
        return kki_urdf_no_memory(u);
    }
    int i = 0;
    for (int32_t n = kki_xml_first(u->xml, node, "item"); n != KKI_XML_NONE; n = kki_xml_next(u->xml, n, "item"), i++) {
        item[i].coefficient = 1;
        read_fields(u, n, KKI_ELEMENT_ITEM, NULL, &item[i]);
    }
    def.item = item;
    def.item_count = count;
    const kk_status status = def.name ? ADD(tendon, &def) : KK_OK;
    kki_release_array(&u->loader->allocator, item, (size_t)count, sizeof *item);
    return status;
}

/// kp, kd and kv, instead of gain and bias.
static void read_servo(kki_urdf *u, int32_t node, kk_actuator_def *def) {
    double kp = -1, kd = 0, kv = -1;
    kki_read_double(&u->reader, node, "kp", KKI_OPTIONAL, &kp);
    kki_read_double(&u->reader, node, "kd", KKI_OPTIONAL, &kd);
    kki_read_double(&u->reader, node, "kv", KKI_OPTIONAL, &kv);
    if (def->type == KK_ACTUATOR_POSITION && kp >= 0) {
        def->gain = kp;
        def->bias[1] = -kp;
        def->bias[2] = -kd;
    } else if (def->type == KK_ACTUATOR_VELOCITY && kv >= 0) {
        def->gain = kv;
        def->bias[2] = -kv;
    } else if (kki_xml_value(u->xml, node, "gain") == NULL && def->type != KK_ACTUATOR_FORCE &&
               def->type != KK_ACTUATOR_GENERAL && def->type != KK_ACTUATOR_DAMPER) {
        def->gain = 0; // standing.c gives it
    }
}

static kk_status add_actuator(kki_urdf *u, int32_t node, const owner *o) {
    static const char *const more[] = {"kp", "kd", "kv", NULL};
    kk_error error = {.status = KK_OK};
    kk_actuator_def def = kk_actuator_def_default();
    def.target = o->joint;
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_ACTUATOR, more, &def);
    read_servo(u, node, &def);
    if (!def.target) {
        return kki_urdf_report(u, KKI_ERROR, KK_NOT_FOUND, node, "add target=\"...\", or put it into a joint",
                               "<actuator> has no target");
    }
    if (def.transmission == KK_TRANSMISSION_JOINT && !joint_exists(u, node, "target", def.target)) {
        return KK_OK;
    }
    return ADD(actuator, &def);
}

static kk_status add_sensor(kki_urdf *u, int32_t node, const owner *o) {
    kk_error error = {.status = KK_OK};
    kk_sensor_def def = kk_sensor_def_default();
    def.target = o->joint ? o->joint : o->link >= 0 ? u->spec->body[u->link[o->link].body].name : NULL;
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_SENSOR, NULL, &def);
    return ADD(sensor, &def);
}

/// All the numbers of an element's text in a block; NULL where there are none.
static kk_status read_block(kki_urdf *u, int32_t node, double **numbers, int *count, size_t *room) {
    size_t found = 0;
    *numbers = NULL;
    *count = 0;
    if (node == KKI_XML_NONE) {
        return KK_OK;
    }
    // a number takes at least a digit and a blank
    *room = strlen(kki_xml_text(u->xml, node)) / 2 + 1;
    *numbers = kki_allocate_array(&u->loader->allocator, *room, sizeof **numbers);
    if (!*numbers) {
        return kki_urdf_no_memory(u);
    }
    kki_read_text_numbers(&u->reader, node, *room, *numbers, &found);
    *count = (int)found;
    return KK_OK;
}

static kk_status add_keyframe(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    static const char *const parts[] = {"q", "v", "control", NULL};
    kk_error error = {.status = KK_OK};
    kk_keyframe_def def = kk_keyframe_def_default();
    double *block[3] = {NULL};
    int count[3] = {0};
    size_t room[3] = {0};
    kk_status status = KK_OK;
    kki_report_unknown_elements(&u->reader, node, parts);
    read_fields(u, node, KKI_ELEMENT_KEYFRAME, NULL, &def);
    for (int i = 0; i < 3 && status == KK_OK; i++) {
        status = read_block(u, kki_xml_first(u->xml, node, parts[i]), &block[i], &count[i], &room[i]);
    }
    def.q = block[0], def.v = block[1], def.control = block[2];
    def.q_count = count[0], def.v_count = count[1], def.control_count = count[2];
    def.origin = kki_origin_of_node(u->xml, node);
    status = status ? status : ADD(keyframe, &def);
    for (int i = 0; i < 3; i++) {
        kki_release_array(&u->loader->allocator, block[i], room[i], sizeof(double));
    }
    return status;
}

static kk_status add_script(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_script_def def = kk_script_def_default();
    read_fields(u, node, KKI_ELEMENT_SCRIPT, NULL, &def);
    def.text = kki_xml_text(u->xml, node);
    def.origin = kki_origin_of_node(u->xml, node);
    return ADD(script, &def);
}

static kk_status add_parameter(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_parameter_def def = kk_parameter_def_default();
    read_fields(u, node, KKI_ELEMENT_PARAMETER, NULL, &def);
    def.origin = kki_origin_of_node(u->xml, node);
    return def.name ? ADD(parameter, &def) : KK_OK;
}

// ---- what shapes refer to

static kk_status name_item(kki_urdf *u, kki_name_table *table, int32_t node, const char *name, int id) {
    if (kki_name_table_find(table, name) >= 0) {
        return kki_urdf_report_value(u, KKI_ERROR, KK_DUPLICATE_NAME, kki_xml_find(u->xml, node, "name"),
                                     "rename one of them", "a second <%s> is called '%s'", kki_xml_name(u->xml, node),
                                     kki_shorten_string(name).text);
    }
    return kki_name_table_set(table, name, id) == KK_OK ? KK_OK : kki_urdf_no_memory(u);
}

static kk_status add_material(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_material_def def = kk_material_def_default();
    int id = -1;
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_MATERIAL, NULL, &def);
    if (!def.name) {
        return KK_OK;
    }
    if (strcmp(def.name, "default") == 0) {
        def.name = u->spec->material[0].name;
        u->spec->material[0] = def;
        u->spec->material[0].origin.file = NULL; // the tree's text does not outlive the load
        return KK_OK;
    }
    const kk_status status = kk_spec_add_material(u->spec, &def, &id, &error);
    return status ? kki_urdf_keep(u, node, status, &error) : name_item(u, &u->materials, node, def.name, id);
}

static kk_status add_height_field(kki_urdf *u, int32_t node, const owner *o) {
    (void)o;
    kk_error error = {.status = KK_OK};
    kk_height_field_def def = kk_height_field_def_default();
    double *block = NULL;
    int count = 0, id = -1;
    size_t room = 0;
    def.origin = kki_origin_of_node(u->xml, node);
    read_fields(u, node, KKI_ELEMENT_HEIGHT_FIELD, NULL, &def);
    kk_status status = read_block(u, node, &block, &count, &room);
    if (status == KK_OK && (int64_t)def.rows * def.columns != count) {
        status = kki_urdf_report(u, KKI_ERROR, KK_SIZE_MISMATCH, node, "correct rows and columns, or the numbers",
                                 "a height field of %d × %d has %d heights", def.rows, def.columns, count);
    } else if (status == KK_OK && def.name) {
        def.height = block;
        status = kk_spec_add_height_field(u->spec, &def, &id, &error);
        status = status ? kki_urdf_keep(u, node, status, &error) : name_item(u, &u->height_fields, node, def.name, id);
    }
    kki_release_array(&u->loader->allocator, block, room, sizeof *block);
    return status;
}

// ---- walking

typedef enum { PASS_FIRST = 1, IN_ROBOT = 2, IN_LINK = 4, IN_JOINT = 8 } place;

static const struct {
    const char *name;
    int places;
    add_element *add;
} handlers[] = {{"material", PASS_FIRST | IN_ROBOT, add_material},
                {"height_field", PASS_FIRST | IN_ROBOT, add_height_field},
                {"option", IN_ROBOT, add_option},
                {"frame", IN_ROBOT | IN_LINK, add_frame},
                {"material_pair", IN_ROBOT, add_material_pair},
                {"pair", IN_ROBOT, add_pair},
                {"exclude", IN_ROBOT, add_exclude},
                {"loop", IN_ROBOT, add_loop},
                {"coupling", IN_ROBOT, add_coupling},
                {"tendon", IN_ROBOT, add_tendon},
                {"actuator", IN_ROBOT | IN_JOINT, add_actuator},
                {"sensor", IN_ROBOT | IN_LINK | IN_JOINT, add_sensor},
                {"keyframe", IN_ROBOT, add_keyframe},
                {"script", IN_ROBOT, add_script},
                {"parameter", IN_ROBOT, add_parameter},
                {"dof", IN_JOINT, NULL}};

static void warn_unknown(kki_urdf *u, int32_t node) {
    kki_urdf_report(u, KKI_WARNING, KK_OK, node, "see docs/guide/karakuri-element.md",
                    "<%s> in <karakuri> has no meaning here, it is ignored",
                    kki_shorten_string(kki_xml_name(u->xml, node)).text);
}

static kk_status read_child(kki_urdf *u, int32_t node, bool is_first, int where, const owner *o) {
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
        if (kki_xml_is(u->xml, node, handlers[i].name) && handlers[i].places & where) {
            const bool is_now = ((handlers[i].places & PASS_FIRST) != 0) == is_first;
            return is_now && handlers[i].add ? handlers[i].add(u, node, o) : KK_OK;
        }
    }
    if (!is_first) {
        warn_unknown(u, node);
    }
    return KK_OK;
}

static kk_status read_children(kki_urdf *u, int32_t karakuri, bool is_first, int where, const owner *o) {
    kk_status status = KK_OK;
    for (int32_t n = kki_xml_first(u->xml, karakuri, NULL); n != KKI_XML_NONE && status == KK_OK;
         n = kki_xml_next(u->xml, n, NULL)) {
        status = read_child(u, n, is_first, where, o);
    }
    return status;
}

/// Every <karakuri> in a link or joint.
static kk_status read_in(kki_urdf *u, int32_t holder, int where, const owner *o) {
    kk_status status = KK_OK;
    for (int32_t k = kki_xml_first(u->xml, holder, "karakuri"); k != KKI_XML_NONE && status == KK_OK;
         k = kki_xml_next(u->xml, k, "karakuri")) {
        status = read_children(u, k, false, where, o);
    }
    return status;
}

/// Every <karakuri> in the robot itself.
static kk_status read_in_robot(kki_urdf *u, bool is_first) {
    const owner nobody = {NULL, -1};
    kk_status status = KK_OK;
    for (int i = kki_urdf_other(u, "karakuri", 0); i < u->other_count && status == KK_OK;
         i = kki_urdf_other(u, "karakuri", i + 1)) {
        status = read_children(u, u->other[i], is_first, IN_ROBOT, &nobody);
    }
    return status;
}

kk_status kki_urdf_karakuri_first(kki_urdf *u) {
    if (kki_name_table_set(&u->materials, "default", 0) != KK_OK) {
        return kki_urdf_no_memory(u);
    }
    return read_in_robot(u, true);
}

kk_status kki_urdf_karakuri_rest(kki_urdf *u) {
    kk_status status = KK_OK;
    for (int i = 0; i < u->link_count && status == KK_OK; i++) {
        const kki_urdf_link *link = &u->link[i];
        status = link->has_karakuri ? read_in(u, link->node, IN_LINK, &(owner){NULL, i}) : KK_OK;
    }
    for (int i = 0; i < u->joint_count && status == KK_OK; i++) {
        const kki_urdf_joint *joint = &u->joint[i];
        status = joint->has_karakuri ? read_in(u, joint->node, IN_JOINT, &(owner){joint->name, -1}) : KK_OK;
    }
    return status ? status : read_in_robot(u, false);
}

// ---- inside joints, links and shapes

static void read_dof(kki_urdf *u, int32_t node, kk_joint_def *def) {
    kki_karakuri_dof read = {.index = 0};
    read_field(u, node, kki_fields_of(KKI_ELEMENT_DOF)->field, &read);
    if (read.index >= KK_MAX_JOINT_DOFS) {
        kki_urdf_report(u, KKI_ERROR, KK_INVALID_MODEL, node, "count from 0", "a joint has no degree of freedom %d",
                        read.index);
        return;
    }
    read.dof = def->dof[read.index];
    read_fields(u, node, KKI_ELEMENT_DOF, NULL, &read);
    def->dof[read.index] = read.dof;
}

void kki_urdf_karakuri_joint(kki_urdf *u, int32_t joint_node, kk_joint_def *def, kk_transform *offset) {
    for (int32_t k = kki_xml_first(u->xml, joint_node, "karakuri"); k != KKI_XML_NONE;
         k = kki_xml_next(u->xml, k, "karakuri")) {
        kki_karakuri_joint read = {def->type, def->axis2, def->pitch, *offset};
        read_fields(u, k, KKI_ELEMENT_JOINT, NULL, &read);
        def->type = read.type;
        def->axis2 = read.axis2;
        def->pitch = read.pitch;
        *offset = read.offset;
        for (int32_t n = kki_xml_first(u->xml, k, "dof"); n != KKI_XML_NONE; n = kki_xml_next(u->xml, n, "dof")) {
            read_dof(u, n, def);
        }
    }
}

kki_karakuri_link kki_urdf_karakuri_link(kki_urdf *u, int32_t link_node, kki_karakuri_link read) {
    for (int32_t k = kki_xml_first(u->xml, link_node, "karakuri"); k != KKI_XML_NONE;
         k = kki_xml_next(u->xml, k, "karakuri")) {
        read_fields(u, k, KKI_ELEMENT_LINK, NULL, &read);
    }
    return read;
}

void kki_urdf_karakuri_shape(kki_urdf *u, int32_t node, kk_shape_def *def) {
    const int32_t k = kki_xml_first(u->xml, node, "karakuri");
    if (k == KKI_XML_NONE) {
        return;
    }
    read_fields(u, k, KKI_ELEMENT_SHAPE, NULL, def);
    const bool needs_mesh = def->type == KK_SHAPE_HULL || def->type == KK_SHAPE_MESH;
    if ((needs_mesh && def->mesh < 0) || (def->type == KK_SHAPE_HEIGHT_FIELD && def->height_field < 0)) {
        kki_urdf_report(u, KKI_ERROR, KK_INVALID_MODEL, k, "give it a <mesh>, or name a height_field",
                        "the shape's type needs a mesh or a height field, and it has none");
    }
    def->mesh = needs_mesh ? def->mesh : -1;
}
