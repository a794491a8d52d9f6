/// Visuals, collisions and materials of URDF links.
///
/// Meshes: COLLADA's unit is honored and its up axis is not, because that is what RViz and Gazebo show, so it is what
/// robot files are written for. A mesh that is missing or broken is a warning, and its shape is left out.
#include <string.h>

#include "io/text.h"
#include "io/urdf.h"

// ---- materials

/// Fills color and texture; false where the element only names a material.
static bool read_visual(kki_urdf *u, int32_t node, kk_visual_def *visual) {
    static const char *const known[] = {"color", "colour", "texture", NULL};
    const int32_t color = kki_xml_first(u->xml, node, "color"), texture = kki_xml_first(u->xml, node, "texture");
    double rgba[4] = {0, 0, 0, 1};
    int count = 0;
    *visual = kk_visual_def_default();
    kki_report_unknown_elements(&u->reader, node, known);
    kki_read_string(&u->reader, node, "name", KKI_OPTIONAL, &visual->name);
    visual->origin = kki_origin_of_node(u->xml, node);
    if (color != KKI_XML_NONE &&
        kki_read_numbers(&u->reader, color, "rgba", KKI_REQUIRED, 3, 4, rgba, &count) == KK_OK) {
        for (int i = 0; i < 4; i++) {
            visual->color[i] = (float)(rgba[i] < 0 ? 0 : rgba[i] > 1 ? 1 : rgba[i]);
        }
    }
    const bool has_file = texture != KKI_XML_NONE && kki_xml_value(u->xml, texture, "filename");
    if (has_file) {
        kki_read_string(&u->reader, texture, "filename", KKI_REQUIRED, &visual->texture);
    } else if (texture != KKI_XML_NONE) {
        kki_urdf_note_once(u, texture, "<texture> has no attribute 'filename', and is left out",
                           "add filename=\"...\", or remove it");
    }
    return color != KKI_XML_NONE || has_file;
}

static kk_status add_visual(kki_urdf *u, int32_t node, const kk_visual_def *visual, int *id) {
    kk_error error = {.status = KK_OK};
    return kki_urdf_keep(u, node, kk_spec_add_visual(u->spec, visual, id, &error), &error);
}

/// A definition with a name; the first of a name is the one that others mean.
static kk_status define_visual(kki_urdf *u, int32_t node) {
    kk_visual_def visual;
    int id = -1;
    const char *name = kki_xml_value(u->xml, node, "name");
    if (!name || name[0] == 0 || kki_name_table_find(&u->looks, name) >= 0 || !read_visual(u, node, &visual)) {
        return KK_OK;
    }
    const kk_status status = add_visual(u, node, &visual, &id);
    return status ? status : kki_name_table_set(&u->looks, name, id) == KK_OK ? KK_OK : kki_urdf_no_memory(u);
}

static kk_status define_visuals_of_shapes(kki_urdf *u, int32_t link) {
    kk_status status = KK_OK;
    for (int32_t v = kki_xml_first(u->xml, link, "visual"); v != KKI_XML_NONE && status == KK_OK;
         v = kki_xml_next(u->xml, v, "visual")) {
        const int32_t m = kki_xml_first(u->xml, v, "material");
        status = m == KKI_XML_NONE ? KK_OK : define_visual(u, m);
    }
    return status;
}

kk_status kki_urdf_visuals(kki_urdf *u) {
    kk_status status = KK_OK;
    for (int i = kki_urdf_other(u, "material", 0); i < u->other_count && status == KK_OK;
         i = kki_urdf_other(u, "material", i + 1)) {
        status = define_visual(u, u->other[i]);
    }
    for (int i = 0; i < u->link_count && status == KK_OK; i++) {
        status = define_visuals_of_shapes(u, u->link[i].node);
    }
    return status;
}

static bool same_visual(const kk_visual_def *a, const kk_visual_def *b) {
    const char *ta = a->texture ? a->texture : "", *tb = b->texture ? b->texture : "";
    return memcmp(a->color, b->color, sizeof a->color) == 0 && strcmp(ta, tb) == 0;
}

/// The look of a visual; −1: none. A definition that differs from the one of that name is one of its own.
static kk_status find_visual(kki_urdf *u, int32_t visual, int *id) {
    const int32_t m = kki_xml_first(u->xml, visual, "material");
    *id = -1;
    if (m == KKI_XML_NONE) {
        return KK_OK;
    }
    kk_visual_def def;
    const bool is_definition = read_visual(u, m, &def);
    const int32_t named = def.name && def.name[0] ? kki_name_table_find(&u->looks, def.name) : -1;
    if (named >= 0 && (!is_definition || same_visual(&def, &u->spec->visual[named]))) {
        *id = named;
        return KK_OK;
    }
    if (is_definition) {
        return add_visual(u, m, &def, id);
    }
    return kki_urdf_report(u, KKI_WARNING, KK_OK, m, "give it a <color> or <texture>, here or at the top of the robot",
                           "material '%s' is not defined", kki_shorten_string(def.name ? def.name : "").text);
}

// ---- geometries

typedef struct geometry {
    const char *element;
    kk_shape_type type;
    int count;                ///< of numbers of an attribute
    const char *attribute[2]; ///< in order
} geometry;

static const geometry geometries[] = {
    {"box", KK_SHAPE_BOX, 3, {"size", NULL}},         {"cylinder", KK_SHAPE_CYLINDER, 1, {"radius", "length"}},
    {"sphere", KK_SHAPE_SPHERE, 1, {"radius", NULL}}, {"capsule", KK_SHAPE_CAPSULE, 1, {"radius", "length"}},
    {"cone", KK_SHAPE_CONE, 1, {"radius", "length"}}, {"ellipsoid", KK_SHAPE_ELLIPSOID, 3, {"radii", NULL}}};

/// A shape that is being read, and whether it is to be kept.
typedef struct reading {
    int32_t node;
    const kki_urdf_link *link;
    kk_shape_def def;
    bool is_good;
} reading;

/// A size of nothing is a shape of nothing.
static void check_size(kki_urdf *u, reading *r, int32_t attribute, double *size, int count) {
    for (int i = 0; i < count; i++) {
        if (size[i] < 0) {
            kki_urdf_report_value(u, kki_fault(u->loader), KK_INVALID_MODEL, attribute, "write a positive size in m",
                                  "link '%s': a size is negative", kki_shorten_string(r->link->name).text);
            size[i] = -size[i];
        } else if (size[i] == 0 && r->is_good) {
            kki_urdf_report_value(
                u, kki_left_out(u->loader), KK_OK, attribute, "write a positive size in m, or remove the shape",
                "link '%s': a size is 0, the shape is left out", kki_shorten_string(r->link->name).text);
            r->is_good = false;
        }
    }
}

static void read_size(kki_urdf *u, reading *r, int32_t node, const geometry *g) {
    double *to = r->def.size;
    for (int i = 0; i < 2 && g->attribute[i]; i++, to++) {
        if (kki_read_vector(&u->reader, node, g->attribute[i], KKI_REQUIRED, g->count, to) != KK_OK) {
            r->is_good = false;
            return;
        }
        check_size(u, r, kki_xml_find(u->xml, node, g->attribute[i]), to, g->count);
    }
    r->def.type = g->type;
}

static void read_plane(kki_urdf *u, reading *r, int32_t node) {
    double n[3] = {0, 0, 1};
    r->def.type = KK_SHAPE_PLANE;
    if (kki_read_vector(&u->reader, node, "normal", KKI_OPTIONAL, 3, n) != KK_OK || (n[0] == 0 && n[1] == 0)) {
        return;
    }
    // turns z to the normal, about the axis that is perpendicular to both
    const double length = kk_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), across = kk_hypot(n[0], n[1]);
    const kk_mat3 R = kk_mat3_from_axis_angle(kk_vec3_make(-n[1] / across, n[0] / across, 0),
                                              kk_atan2(across / length, n[2] / length));
    r->def.placement.R = kk_mat3_mul(r->def.placement.R, R);
}

// ---- meshes

static bool is_wanted(const kki_urdf *u, const reading *r) {
    const kk_mesh_load meshes = u->loader->options->meshes;
    return meshes == KK_MESH_LOAD_ALL || (meshes == KK_MESH_LOAD_COLLISION && (r->def.purpose & KK_SHAPE_COLLIDES));
}

static kk_shape_type mesh_type(const kki_urdf *u, const reading *r) {
    const kk_mesh_use use = u->loader->options->mesh_use;
    const bool is_exact = use == KK_MESH_EXACT || (use == KK_MESH_AUTO && r->link->is_static);
    return is_exact || !(r->def.purpose & KK_SHAPE_COLLIDES) ? KK_SHAPE_MESH : KK_SHAPE_HULL;
}

static bool read_scale(kki_urdf *u, int32_t node, kk_vec3 *scale) {
    double s[3] = {1, 1, 1};
    int count = 0;
    if (kki_read_numbers(&u->reader, node, "scale", KKI_OPTIONAL, 1, 3, s, &count) != KK_OK) {
        return false;
    }
    if (count == 1) {
        s[1] = s[2] = s[0];
    }
    if (s[0] == 0 || s[1] == 0 || s[2] == 0 || count == 2) {
        kki_urdf_report_value(u, kki_fault(u->loader), KK_INVALID_MODEL, kki_xml_find(u->xml, node, "scale"),
                              "write three numbers that are not 0", "the scale of a mesh has a zero, or two numbers");
        return false;
    }
    *scale = kk_vec3_make(s[0], s[1], s[2]);
    return true;
}

static kk_status read_mesh(kki_urdf *u, reading *r, int32_t node) {
    kki_mesh_request request = {.keep_axes = true, .is_optional = true};
    r->is_good = false;
    if (!is_wanted(u, r) || !read_scale(u, node, &request.scale) ||
        kki_read_string(&u->reader, node, "filename", KKI_REQUIRED, &request.reference) != KK_OK) {
        return KK_OK;
    }
    request.origin = kki_origin_of_attribute(u->xml, kki_xml_find(u->xml, node, "filename"));
    request.from = request.origin.file;
    const kk_status status = kki_loader_mesh(u->loader, &request, &r->def.mesh);
    r->is_good = status == KK_OK;
    r->def.type = mesh_type(u, r);
    return status == KK_OUT_OF_MEMORY ? status : KK_OK;
}

// ---- shapes

static kk_status read_geometry(kki_urdf *u, reading *r) {
    const int32_t holder = kki_xml_first(u->xml, r->node, "geometry");
    const int32_t node = holder == KKI_XML_NONE ? KKI_XML_NONE : kki_xml_first(u->xml, holder, NULL);
    r->is_good = true;
    if (node == KKI_XML_NONE) {
        r->is_good = false;
        return kki_urdf_report(u, kki_left_out(u->loader), KK_OK, r->node,
                               "add <geometry> with a box, cylinder, sphere or mesh in it",
                               "a <%s> of link '%s' has no geometry, it is left out", kki_xml_name(u->xml, r->node),
                               kki_shorten_string(r->link->name).text);
    }
    for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++) {
        if (kki_xml_is(u->xml, node, geometries[i].element)) {
            read_size(u, r, node, &geometries[i]);
            return KK_OK;
        }
    }
    if (kki_xml_is(u->xml, node, "mesh")) {
        return read_mesh(u, r, node);
    }
    if (kki_xml_is(u->xml, node, "plane")) {
        read_plane(u, r, node);
        return KK_OK;
    }
    r->is_good = false;
    return kki_urdf_report(u, kki_left_out(u->loader), KK_OK, node, "use a box, cylinder, sphere, capsule or mesh",
                           "the geometry <%s> is not known, the shape is left out",
                           kki_shorten_string(kki_xml_name(u->xml, node)).text);
}

/// Names of shapes must differ; what has the name of an earlier one goes without.
static void read_shape_name(kki_urdf *u, reading *r) {
    const char *name = kki_xml_value(u->xml, r->node, "name");
    if (!name || name[0] == 0) {
        return;
    }
    if (kki_name_table_find(&u->shapes, name) >= 0) {
        kki_urdf_note_once(u, r->node, "shapes with the name of an earlier one are kept without a name", "");
        return;
    }
    r->def.name = name;
}

static kk_status add_shape(kki_urdf *u, reading *r) {
    kk_error error = {.status = KK_OK};
    int id = -1;
    read_shape_name(u, r);
    kk_status status = kk_spec_add_shape(u->spec, &r->def, &id, &error);
    if (status == KK_OK && r->def.name) {
        status = kki_name_table_set(&u->shapes, r->def.name, id);
    }
    return kki_urdf_keep(u, r->node, status, &error);
}

static kk_status read_shape(kki_urdf *u, const kki_urdf_link *link, int32_t node, int purpose) {
    static const char *const known[] = {"origin", "geometry", "material", "karakuri", "verbose", "contact_coefficients",
                                        NULL};
    reading r = {.node = node, .link = link, .def = kk_shape_def_default()};
    r.def.body = link->body;
    r.def.purpose = purpose;
    r.def.origin = kki_origin_of_node(u->xml, node);
    r.def.material = purpose & KK_SHAPE_COLLIDES ? link->material : 0;
    kki_report_unknown_elements(&u->reader, node, known);
    kki_urdf_origin(u, node, &r.def.placement);
    kk_status status = read_geometry(u, &r);
    if (status == KK_OK && purpose & KK_SHAPE_VISIBLE) {
        status = find_visual(u, node, &r.def.visual);
    }
    if (status != KK_OK || !r.is_good) {
        return status;
    }
    kki_urdf_karakuri_shape(u, node, &r.def);
    return add_shape(u, &r);
}

kk_status kki_urdf_shapes(kki_urdf *u, const kki_urdf_link *link) {
    kk_status status = KK_OK;
    for (int32_t n = kki_xml_first(u->xml, link->node, NULL); n != KKI_XML_NONE && status == KK_OK;
         n = kki_xml_next(u->xml, n, NULL)) {
        if (kki_xml_is(u->xml, n, "visual")) {
            status = read_shape(u, link, n, KK_SHAPE_VISIBLE);
        } else if (kki_xml_is(u->xml, n, "collision")) {
            status = read_shape(u, link, n, KK_SHAPE_COLLIDES);
        }
    }
    return status;
}
