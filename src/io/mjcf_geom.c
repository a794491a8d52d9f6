/// Geoms: shapes, and what they weigh.
///
/// MuJoCo's sizes are halves, ours are whole. A mesh stays where its file puts it; MuJoCo moves its geom's frame to the
/// mesh's principal axes, which changes neither.
#include <string.h>

#include "io/mjcf.h"

enum { TYPE_SDF = 100 };

static const kki_keyword types[] = {{"plane", KK_SHAPE_PLANE},
                                    {"hfield", KK_SHAPE_HEIGHT_FIELD},
                                    {"sphere", KK_SHAPE_SPHERE},
                                    {"capsule", KK_SHAPE_CAPSULE},
                                    {"ellipsoid", KK_SHAPE_ELLIPSOID},
                                    {"cylinder", KK_SHAPE_CYLINDER},
                                    {"box", KK_SHAPE_BOX},
                                    {"mesh", KK_SHAPE_MESH},
                                    {"sdf", TYPE_SDF},
                                    {NULL, 0}};

typedef struct geom {
    kki_mjcf_at at;
    int type;
    double size[3];
    kk_transform pose;
    kki_mjcf_mesh *mesh;
    int field; ///< id in the spec; −1: none
    bool is_shell, collides, is_visible;
} geom;

static int sizes_of(int type) {
    switch (type) {
    case KK_SHAPE_SPHERE: return 1;
    case KK_SHAPE_CAPSULE:
    case KK_SHAPE_CYLINDER: return 2;
    case KK_SHAPE_ELLIPSOID:
    case KK_SHAPE_BOX: return 3;
    default: return 0;
    }
}

static bool is_primitive(int type) {
    return sizes_of(type) > 0;
}

// ---- size and place

static void apply_fromto(geom *g) {
    double length;
    if (!is_primitive(g->type) || g->type == KK_SHAPE_SPHERE || !kki_mjcf_fromto(&g->at, &g->pose, &length)) {
        return;
    }
    g->size[1] = length / 2;
    if (sizes_of(g->type) == 3) {
        g->size[2] = g->size[1];
        g->size[1] = g->size[0];
    }
}

static void check_size(geom *g) {
    for (int i = 0; i < sizes_of(g->type); i++) {
        if (!(g->size[i] > 0)) {
            const kki_severity severity = g->size[i] < 0 ? kki_fault(g->at.m->loader) : KKI_ERROR;
            kki_mjcf_report(g->at.m, severity, KK_INVALID_ARGUMENT, g->at.node, "size",
                            "size %d of the geom is not positive; this type has %d sizes", i + 1, sizes_of(g->type));
            g->size[i] = g->size[i] < 0 ? -g->size[i] : 1;
        }
    }
}

/// A primitive in place of a mesh: that of the same inertia, as the box of equal moments has it.
static void fit_to_mesh(geom *g) {
    kki_mjcf *m = g->at.m;
    kki_mass mass;
    double p[3], half[3];
    if (!kki_mjcf_mesh_mass(m, g->mesh, g->at.node, &mass)) {
        g->size[0] = g->size[1] = g->size[2] = 1;
        return;
    }
    const kk_mat3 axes = kki_mjcf_principal(mass.moment, p);
    for (int i = 0; i < 3; i++) {
        const double square = 6 * (p[0] + p[1] + p[2] - 2 * p[i]) / mass.volume;
        half[i] = kk_sqrt(square > 0 ? square : 0) / 2;
    }
    const double scale = kki_mjcf_number(&g->at, "fitscale", 1);
    switch (g->type) {
    case KK_SHAPE_SPHERE: g->size[0] = (half[0] + half[1] + half[2]) / 3; break;
    case KK_SHAPE_CAPSULE:
        g->size[0] = (half[0] + half[1]) / 2;
        g->size[1] = half[2] - g->size[0] / 2 > 0 ? half[2] - g->size[0] / 2 : 0;
        break;
    case KK_SHAPE_CYLINDER:
        g->size[0] = (half[0] + half[1]) / 2;
        g->size[1] = half[2];
        break;
    default: memcpy(g->size, half, sizeof half); break;
    }
    for (int i = 0; i < 3; i++) {
        g->size[i] *= scale;
    }
    g->pose = kk_transform_mul(g->pose, kk_transform_make(axes, mass.center));
}

static void read_mesh(geom *g) {
    if (!kki_mjcf_text(&g->at, "mesh")) {
        if (g->type == KK_SHAPE_MESH) {
            kki_mjcf_report(g->at.m, KKI_ERROR, KK_NOT_FOUND, g->at.node, NULL,
                            "a geom of type mesh names no mesh; add mesh=\"...\"");
        }
        return;
    }
    const int found = kki_mjcf_refer(&g->at, "mesh", KKI_MJCF_MESH);
    g->mesh = found < 0 ? NULL : &g->at.m->mesh[found];
}

static void read_field(geom *g) {
    kki_mjcf *m = g->at.m;
    g->field = kki_mjcf_refer(&g->at, "hfield", KKI_MJCF_HFIELD);
    if (g->field >= 0) {
        const kk_height_field_def *def = kk_spec_height_field_const(m->loader->spec, g->field);
        double top = 0;
        for (int i = 0; i < def->rows * def->columns; i++) {
            top = def->height[i] > top ? def->height[i] : top;
        }
        g->size[0] = def->half_x;
        g->size[1] = def->half_y;
        g->size[2] = top / 4 + def->base / 2; // what MuJoCo takes it to weigh
    }
}

static void read_form(geom *g) {
    kki_mjcf_numbers(&g->at, "size", 1, 3, g->size);
    g->pose = kki_mjcf_pose(&g->at);
    apply_fromto(g);
    read_mesh(g);
    if (g->type == KK_SHAPE_HEIGHT_FIELD) {
        read_field(g);
    } else if (g->mesh && is_primitive(g->type)) {
        fit_to_mesh(g);
    } else {
        check_size(g);
    }
}

// ---- weight

static bool mass_properties(geom *g, kki_mass *mass) {
    if (g->type == KK_SHAPE_MESH) {
        return g->mesh && kki_mjcf_mesh_mass(g->at.m, g->mesh, g->at.node, mass);
    }
    *mass = kki_mjcf_primitive_mass((kk_shape_type)g->type, g->size, g->is_shell);
    return mass->volume > 0;
}

static kk_inertia weigh(geom *g) {
    kki_mass mass;
    const kk_inertia none = {0};
    double density = kki_mjcf_number(&g->at, "density", 1000);
    double kilograms = -1;
    const bool has_mass = kki_mjcf_numbers(&g->at, "mass", 1, 1, &kilograms) == 1;
    if ((has_mass && kilograms < 0) || (!has_mass && density < 0)) {
        kki_mjcf_report(g->at.m, kki_fault(g->at.m->loader), KK_INVALID_MODEL, g->at.node,
                        has_mass ? "mass" : "density", "%s of the geom is negative; it must not be",
                        has_mass ? "mass" : "density");
        kilograms = -kilograms;
        density = -density;
    }
    if ((has_mass ? kilograms : density) == 0 || !mass_properties(g, &mass)) {
        return none;
    }
    return kk_inertia_to(g->pose,
                         has_mass ? kki_mass_with_mass(mass, kilograms) : kki_mass_with_density(mass, density));
}

// ---- the shape

static int visual_of(const kki_mjcf_at *at) {
    double color[4];
    kki_mjcf *m = at->m;
    int visual = kki_mjcf_text(at, "material") ? kki_mjcf_refer(at, "material", KKI_MJCF_VISUAL) : -1;
    if (kki_mjcf_numbers(at, "rgba", 4, 4, color) != 4) {
        return visual;
    }
    if (m->is_check) {
        return visual;
    }
    const int32_t attribute = kki_mjcf_find_number(at, "rgba");
    const char *text = kki_xml_string(m->xml, m->xml->attribute[attribute].value);
    const int known = kki_mjcf_name_get(m, KKI_MJCF_VISUAL + KKI_MJCF_NUMBERED, text); // one look for one text
    if (known >= 0) {
        return known;
    }
    kk_visual_def def = kk_visual_def_default();
    for (int i = 0; i < 4; i++) {
        def.color[i] = (float)(color[i] < 0 ? 0 : color[i] > 1 ? 1 : color[i]);
    }
    def.origin = kki_origin_of_node(m->xml, at->node);
    if (kki_mjcf_stop(m, kk_spec_add_visual(m->loader->spec, &def, &visual, &m->error)) == KK_OK) {
        kki_mjcf_name_set(m, KKI_MJCF_VISUAL + KKI_MJCF_NUMBERED, text, visual);
    }
    return visual;
}

static void set_sizes(const geom *g, kk_shape_def *def) {
    switch (g->type) {
    case KK_SHAPE_CAPSULE:
    case KK_SHAPE_CYLINDER:
        def->size[0] = g->size[0];
        def->size[1] = 2 * g->size[1];
        break;
    case KK_SHAPE_BOX:
        for (int i = 0; i < 3; i++) {
            def->size[i] = 2 * g->size[i];
        }
        break;
    case KK_SHAPE_SPHERE: def->size[0] = g->size[0]; break;
    case KK_SHAPE_ELLIPSOID: memcpy(def->size, g->size, sizeof g->size); break;
    default: break;
    }
}

/// Whether tendons may go round it; those stay whatever they are for.
static bool may_be_obstacle(const geom *g) {
    return (g->type == KK_SHAPE_SPHERE || g->type == KK_SHAPE_CYLINDER) && kki_mjcf_text(&g->at, "name") != NULL &&
           kki_xml_first(g->at.m->xml, KKI_XML_ROOT, "tendon") != KKI_XML_NONE;
}

static bool is_wanted(const geom *g) {
    const kk_mesh_load load = g->at.m->loader->options->meshes;
    if (g->at.m->set.discard_visual && !g->collides && !may_be_obstacle(g)) {
        return false;
    }
    if (g->type != KK_SHAPE_MESH) {
        return g->type != KK_SHAPE_HEIGHT_FIELD || g->field >= 0;
    }
    return g->mesh && load != KK_MESH_LOAD_NONE && (load == KK_MESH_LOAD_ALL || g->collides) &&
           kki_mjcf_mesh_load(g->at.m, g->mesh);
}

static kk_shape_def shape_of(const geom *g) {
    kk_shape_def def = kk_shape_def_default();
    const kk_mesh_use use = g->at.m->loader->options->mesh_use;
    def.type = (kk_shape_type)g->type;
    if (g->type == KK_SHAPE_MESH) {
        def.type = g->collides && use != KK_MESH_EXACT ? KK_SHAPE_HULL : KK_SHAPE_MESH;
        def.mesh = g->mesh->id;
    }
    def.height_field = g->type == KK_SHAPE_HEIGHT_FIELD ? g->field : -1;
    def.placement = g->pose;
    set_sizes(g, &def);
    def.purpose =
        (g->collides && !g->at.m->set.no_contact ? KK_SHAPE_COLLIDES : 0) | (g->is_visible ? KK_SHAPE_VISIBLE : 0);
    def.group = (uint32_t)kki_mjcf_whole(&g->at, "contype", INT32_MIN, UINT32_MAX, 1);
    def.mask = (uint32_t)kki_mjcf_whole(&g->at, "conaffinity", INT32_MIN, UINT32_MAX, 1);
    const double margin = kki_mjcf_number(&g->at, "margin", 0) - kki_mjcf_number(&g->at, "gap", 0);
    def.margin = margin > 0 ? margin / 2 : 0;
    double v[6] = {0};
    kki_mjcf_numbers(&g->at, "surfacevel", 1, 6, v);
    def.surface = kk_motion_make(kk_vec3_make(v[3], v[4], v[5]), kk_vec3_make(v[0], v[1], v[2]));
    def.visual = visual_of(&g->at);
    def.origin = kki_origin_of_node(g->at.m->xml, g->at.node);
    return def;
}

static void add_shape(geom *g, kki_mjcf_item *item, int body) {
    kki_mjcf *m = g->at.m;
    kk_shape_def def = shape_of(g);
    kki_mjcf_contact contact;
    kki_mjcf_contact_read(&g->at, 3, &contact);
    if (m->is_check) {
        item->made = 0; // of the stand-in
        return;
    }
    def.name = item->name;
    def.body = m->body[body].id;
    if (kki_mjcf_stop(m, kk_spec_add_shape(m->loader->spec, &def, &item->made, &m->error)) != KK_OK) {
        return;
    }
    kki_mjcf_geom *record = KKI_MJCF_PUSH(m, geom);
    if (record) {
        *record = (kki_mjcf_geom){item->made, body, contact};
    }
}

void kki_mjcf_geom_read(kki_mjcf *m, kki_mjcf_item *item, int body, bool needs_inertia, kk_inertia *inertia) {
    geom g = {.at = kki_mjcf_element_of_class(m, item->node, KKI_MJCF_OF_GEOM, item->class), .field = -1};
    g.type = kki_mjcf_word(&g.at, "type", types, KK_SHAPE_SPHERE);
    if (g.type == TYPE_SDF) {
        kki_mjcf_report(m, KKI_WARNING, KK_OK, item->node, "type", "geoms of type sdf are not read; use a mesh");
        return;
    }
    const int64_t group = kki_mjcf_whole(&g.at, "group", INT32_MIN, INT32_MAX, 0);
    g.is_shell = kki_mjcf_truth(&g.at, "shellinertia", false);
    g.is_visible = group < 3;
    g.collides = kki_mjcf_whole(&g.at, "contype", INT32_MIN, UINT32_MAX, 1) != 0 ||
                 kki_mjcf_whole(&g.at, "conaffinity", INT32_MIN, UINT32_MAX, 1) != 0;
    read_form(&g);
    g.pose = kk_transform_mul(*item->frame, g.pose);
    if (needs_inertia && group >= m->set.group_lower && group <= m->set.group_upper) {
        *inertia = weigh(&g);
    }
    if (m->status == KK_OK && is_wanted(&g)) {
        add_shape(&g, item, body);
    }
}
