// COLLADA: inputs with offsets, all primitives, nodes, units and axes, materials.
#include "mesh_files.h"

#define START "<?xml version=\"1.0\"?>\n<COLLADA version=\"1.4.1\">\n"
#define SOURCE                                                                                          \
    "<source id=\"p\"><float_array id=\"pa\" count=\"12\">0 0 0 1 0 0  0 1 0\t0 0 1</float_array>"      \
    "<technique_common><accessor source=\"#pa\" count=\"4\" stride=\"3\"/></technique_common></source>" \
    "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
#define VERTEX0 "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>"
#define TRIANGLES "<triangles count=\"4\" material=\"sym\">" VERTEX0 "<p>0 2 1 0 1 3 1 2 3 2 0 3</p></triangles>"
#define GEOMETRY(primitives)                                                         \
    "<library_geometries><geometry id=\"g\" name=\"tetra\"><mesh>" SOURCE primitives \
    "</mesh></geometry></library_geometries>\n"
#define SCENE(nodes)                                       \
    "<library_visual_scenes><visual_scene id=\"s\">" nodes \
    "</visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene>"
#define END "</COLLADA>\n"
#define Z_UP "<asset><up_axis>Z_UP</up_axis></asset>"
#define INSTANCE "<instance_geometry url=\"#g\"/>"

static kk_vec3 center_of(const char *text, const kki_mesh_read_options *options) {
    kki_mesh *mesh = read_with(text, strlen(text), "a.dae", options);
    kki_mass mass = {0};
    bool inside_out = true;
    KK_CHECK_EQ_INT(kki_mass_of_mesh(mesh, KKI_MASS_SOLID, NULL, &mass, &inside_out, NULL), KK_OK);
    KK_CHECK(!inside_out);
    kki_mesh_free(mesh);
    return mass.center;
}

static void check_point(kk_vec3 a, double x, double y, double z) {
    KK_CHECK_NEAR(a.x, x, 1e-14);
    KK_CHECK_NEAR(a.y, y, 1e-14);
    KK_CHECK_NEAR(a.z, z, 1e-14);
}

KK_TEST(dae_primitives) {
    check_volume(read_text(START Z_UP GEOMETRY(TRIANGLES) END, "a.dae"), 4, 4, 1.0 / 6);
    check_volume(
        read_text(START Z_UP GEOMETRY(
                      "<triangles><input semantic=\"NORMAL\" source=\"#p\" offset=\"0\"/>"
                      "<input semantic=\"VERTEX\" source=\"#v\" offset=\"1\"/><input semantic=\"TEXCOORD\" "
                      "source=\"#p\" offset=\"2\"/>"
                      "<p>9 0 9 9 2 9 9 1 9 9 0 9 9 1 9 9 3 9 9 1 9 9 2 9 9 3 9 9 2 9 9 0 9 9 3 9</p></triangles>") END,
                  "a.dae"),
        4, 4, 1.0 / 6);
    check_volume(read_text(START Z_UP GEOMETRY("<polylist count=\"4\">" VERTEX0
                                               "<vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 1 2 3 2 0 3</p></polylist>") END,
                           "a.dae"),
                 4, 4, 1.0 / 6);
    check_volume(read_text(START Z_UP GEOMETRY("<polygons count=\"4\">" VERTEX0
                                               "<p>0 2 1</p><p>0 1 3</p><p>1 2 3</p><p>2 0 3</p></polygons>") END,
                           "a.dae"),
                 4, 4, 1.0 / 6);
    // strip 0 2 1 3 gives (0 2 1) and (1 2 3); fan 0 1 3 2 gives (0 1 3) and (0 3 2)
    check_volume(read_text(START Z_UP GEOMETRY("<tristrips>" VERTEX0 "<p>0 2 1 3</p></tristrips><trifans>" VERTEX0
                                               "<p>0 1 3 2</p></trifans><lines>" VERTEX0 "<p>0 1</p></lines>") END,
                           "a.dae"),
                 4, 4, 1.0 / 6);
    check_volume(read_text(START Z_UP GEOMETRY("<polylist>" VERTEX0
                                               "<vcount>4 3 3</vcount><p>0 1 3 2 0 2 1 1 2 3</p></polylist>") END,
                           "a.dae"),
                 4, 4, 1.0 / 6);
}

KK_TEST(dae_nodes) {
    // translate, then turn by a quarter about z, then scale: innermost first
    check_point(center_of(START Z_UP GEOMETRY(TRIANGLES) SCENE(
                              "<node><translate>1 2 3</translate><rotate>0 0 2 90</rotate><scale>4 4 4</scale>" INSTANCE
                              "</node>") END,
                          NULL),
                0, 3, 4);
    check_point(center_of(START Z_UP GEOMETRY(TRIANGLES)
                              SCENE("<node><matrix>1 0 0 10 0 1 0 20 0 0 1 30 0 0 0 1</matrix><node><matrix>0 -1 0 0 1 "
                                    "0 0 0 0 0 1 0 0 0 0 1</matrix>" INSTANCE "</node></node>") END,
                          NULL),
                9.75, 20.25, 30.25);
    // a node of the library, twice, one of them mirrored
    kki_mesh *mesh = read_text(
        START Z_UP GEOMETRY(TRIANGLES) "<library_nodes><node id=\"n\">" INSTANCE "</node></library_nodes>" SCENE(
            "<node><scale>-2 1 1</scale><instance_node url=\"#n\"/></node><node><translate>5 0 "
            "0</translate><instance_node url=\"#n\"/></node>") END,
        "a.dae");
    KK_CHECK_EQ_INT(mesh->part_count, 2);
    KK_CHECK_STR(mesh->part[0].name, "tetra");
    KK_CHECK_EQ_INT(mesh->tidying.mirrored_parts, 1);
    check_volume(mesh, 8, 8, 3.0 / 6);
    // a skinned mesh in its bind pose
    check_point(center_of(START Z_UP GEOMETRY(
                              TRIANGLES) "<library_controllers><controller id=\"c\"><skin "
                                         "source=\"#g\"><bind_shape_matrix>1 0 0 1 0 1 0 1 0 0 1 1 0 0 0 "
                                         "1</bind_shape_matrix></skin></controller></library_controllers>" SCENE(
                                             "<node><instance_controller url=\"#c\"/></node>") END,
                          NULL),
                1.25, 1.25, 1.25);
}

KK_TEST(dae_units_and_axes) {
    const char *scene = GEOMETRY(TRIANGLES) SCENE("<node><translate>1 2 3</translate>" INSTANCE "</node>") END;
    char text[4000];
    const struct {
        const char *asset;
        double x, y, z;
    } rows[] = {{"", 1.25, -3.25, 2.25}, // y is up where nothing is said
                {"<asset><up_axis>Y_UP</up_axis></asset>", 1.25, -3.25, 2.25},
                {"<asset><up_axis> Z_UP </up_axis></asset>", 1.25, 2.25, 3.25},
                {"<asset><up_axis>X_UP</up_axis></asset>", -2.25, -3.25, 1.25},
                {"<asset><unit name=\"cm\" meter=\"0.5\"/><up_axis>Z_UP</up_axis></asset>", 0.625, 1.125, 1.625}};
    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof text, START "%s%s", rows[i].asset, scene);
        check_point(center_of(text, NULL), rows[i].x, rows[i].y, rows[i].z);
        const kki_mesh_read_options as_is = {.keep_axes = true, .keep_unit = true};
        check_point(center_of(text, &as_is), 1.25, 2.25, 3.25);
    }
}

KK_TEST(dae_materials) {
    kki_mesh *mesh = read_text(
        START Z_UP
        "<library_effects><effect id=\"e\"><profile_COMMON><technique sid=\"t\"><lambert><diffuse><color sid=\"d\">1 "
        "0.5 0.25 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>"
        "<library_materials><material id=\"m\"><instance_effect url=\"#e\"/></material></library_materials>" GEOMETRY(
            TRIANGLES) SCENE("<node><instance_geometry url=\"#g\"><bind_material><technique_common><instance_material "
                             "symbol=\"other\" target=\"#x\"/><instance_material symbol=\"sym\" "
                             "target=\"#m\"/></technique_common></bind_material></instance_geometry></node>") END,
        "a.dae");
    KK_CHECK_EQ_INT(mesh->material_count, 1);
    KK_CHECK_STR(mesh->material[0].name, "m");
    KK_CHECK(mesh->material[0].has_color && mesh->material[0].color[1] == 0.5F);
    KK_CHECK_EQ_INT(mesh->part[0].material, 0);
    kki_mesh_free(mesh);
}

KK_TEST(dae_faults) {
    refused_text("<COLLADA>", "a.dae", KK_SYNTAX, 0, 0, "");
    refused_text("<robot/>", "a.dae", KK_SYNTAX, 1, 1, "should be <COLLADA>");
    refused_text(START END, "a.dae", KK_SYNTAX, 0, 0, "no vertices");
    refused_text(START Z_UP GEOMETRY("<triangles>" VERTEX0 "<p>0 1 4</p></triangles>") END, "a.dae", KK_SYNTAX, 3, 0,
                 "index 4 names a vertex, and there are 4");
    refused_text(START Z_UP GEOMETRY("<triangles>" VERTEX0 "<p>0 1 -1</p></triangles>") END, "a.dae", KK_SYNTAX, 3, 0,
                 "found '-1'");
    refused_text(START Z_UP GEOMETRY("<triangles>" VERTEX0 "<p>0 1 2.5</p></triangles>") END, "a.dae", KK_SYNTAX, 3, 0,
                 "found '2.5'");
    refused_text(START Z_UP GEOMETRY(
                     "<triangles><input semantic=\"VERTEX\" source=\"#x\" offset=\"0\"/><p>0 1 2</p></triangles>") END,
                 "a.dae", KK_SYNTAX, 3, 0, "leads to no source of positions");
    refused_text(START Z_UP GEOMETRY(
                     "<triangles><input semantic=\"VERTEX\" source=\"#v\" offset=\"x\"/><p>0 1 2</p></triangles>") END,
                 "a.dae", KK_SYNTAX, 3, 0, "offset should be a whole number");
    refused_text(START Z_UP GEOMETRY(
                     "<triangles><input semantic=\"VERTEX\" source=\"#v\" offset=\"999\"/><p>0 1 2</p></triangles>")
                     END,
                 "a.dae", KK_LIMIT_EXCEEDED, 3, 0, "offset 999");
    refused_text(START Z_UP GEOMETRY("<polylist>" VERTEX0 "<vcount>4</vcount><p>0 1 2</p></polylist>") END, "a.dae",
                 KK_SYNTAX, 3, 0, "ends before the polygons");
    refused_text(START Z_UP GEOMETRY("<polylist>" VERTEX0 "<p>0 1 2</p></polylist>") END, "a.dae", KK_SYNTAX, 3, 0,
                 "leads to no vcount");
    refused_text(START Z_UP GEOMETRY("<polygons>" VERTEX0 "<ph><p>0 1 2</p><h>1 2 3</h></ph></polygons>") END, "a.dae",
                 KK_UNSUPPORTED, 3, 0, "holes");
    refused_text(START "<asset><unit meter=\"0\"/></asset>" GEOMETRY(TRIANGLES) END, "a.dae", KK_SYNTAX, 3, 0,
                 "positive number");
    refused_text(START "<asset><unit meter=\"nan\"/></asset>" GEOMETRY(TRIANGLES) END, "a.dae", KK_SYNTAX, 3, 0,
                 "positive number");
    refused_text(START GEOMETRY(TRIANGLES) SCENE("<node><instance_geometry url=\"#h\"/></node>") END, "a.dae",
                 KK_NOT_FOUND, 4, 0, "no <geometry> '#h'");
    refused_text(START GEOMETRY(TRIANGLES) SCENE("<node><matrix>1 2 3</matrix>" INSTANCE "</node>") END, "a.dae",
                 KK_SYNTAX, 4, 0, "a matrix should be");
    refused_text(START GEOMETRY(TRIANGLES) SCENE("<node><translate>1 2 inf</translate>" INSTANCE "</node>") END,
                 "a.dae", KK_NOT_FINITE, 4, 0, "found 'inf'");
    refused_text(START GEOMETRY(TRIANGLES) SCENE("<node><skew>1 2 3</skew>" INSTANCE "</node>") END, "a.dae",
                 KK_UNSUPPORTED, 4, 0, "<skew> is not supported");
    refused_text(
        START GEOMETRY(TRIANGLES)
            SCENE("<node id=\"a\"><instance_node url=\"#b\"/></node><node id=\"b\"><instance_node url=\"#a\"/></node>")
                END,
        "a.dae", KK_LIMIT_EXCEEDED, 4, 0, "in a cycle");
    refused_text(START "<library_geometries><geometry id=\"g\"><mesh><source id=\"p\"><float_array id=\"pa\">0 0 0 "
                       "1</float_array><technique_common><accessor source=\"#pa\" count=\"99999999\" "
                       "stride=\"3\"/></technique_common></source>"
                       "<triangles><input semantic=\"POSITION\" source=\"#p\"/><p>0 1 "
                       "2</p></triangles></mesh></geometry></library_geometries>" END,
                 "a.dae", KK_SYNTAX, 3, 0, "shorter than the 99999999 vertices");
}

// a bomb of references: each node names the one before twice
KK_TEST(dae_bomb_is_defused) {
    static char text[20000];
    size_t n = (size_t)snprintf(text, sizeof text,
                                START GEOMETRY(TRIANGLES) "<library_nodes><node id=\"n0\">" INSTANCE "</node>");
    for (int i = 1; i < 60; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "<node id=\"n%d\"><instance_node url=\"#n%d\"/><instance_node url=\"#n%d\"/></node>", i,
                              i - 1, i - 1);
    }
    snprintf(text + n, sizeof text - n, "</library_nodes>" SCENE("<node><instance_node url=\"#n59\"/></node>") END);
    refused_text(text, "a.dae", KK_LIMIT_EXCEEDED, 0, 0, "too often");
}
