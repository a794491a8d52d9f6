// OBJ: indices of all kinds, polygons, names, continued lines.
#include "io/mesh_write.h"
#include "mesh_files.h"

#define CORNERS "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"

KK_TEST(obj_indices) {
    check_volume(read_text(CORNERS "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", "a.obj"), 4, 4, 1.0 / 6);
    check_volume(read_text("vt 0 0\nvn 0 0 1\n" CORNERS
                           "f 1/1 3/1 2/1\nf 1//1 2//1 4//1\nf 2/1/1 3/1/1 4/1/1\nf 3/ 1/ 4/\n",
                           "a.obj"),
                 4, 4, 1.0 / 6);
    // negative ones count back from the line they stand on
    check_volume(
        read_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -1 -2\nv 0 0 1\nf -4 -3 -1\nf -3 -2 -1\nf -2 -4 -1\n", "a.obj"), 4,
        4, 1.0 / 6);
    // faces before vertices, CR LF, tabs, comments, a vertex with color or weight, continued lines
    check_volume(read_text("f 1 3 2\r\nf 1 2 4\r\n# v 9 9 9\r\n\tv 0 0 0 1 1 1\r\nv 1\t0 0 1.0\r\n  v 0 1 0\r\nv 0 "
                           "\\\r\n0 1\r\nf 2 3 \\\n4\nf 3 1 4",
                           "a.obj"),
                 4, 4, 1.0 / 6);
}

KK_TEST(obj_names) {
    kki_mesh *mesh = read_text(
        "mtllib my materials.mtl\n" CORNERS
        "f 1 3 2\ng left hand\nusemtl red\nf 1 2 4\nusemtl blue\nf 2 3 4\no other\nusemtl red\nf 3 1 4\ng unused\n",
        "a.obj");
    KK_CHECK_STR(mesh->library, "my materials.mtl");
    KK_CHECK_EQ_INT(mesh->material_count, 2);
    KK_CHECK_STR(mesh->material[0].name, "red");
    KK_CHECK_STR(mesh->material[1].name, "blue");
    KK_CHECK(!mesh->material[0].has_color);
    KK_CHECK_EQ_INT(mesh->part_count, 4);
    const char *names[4] = {"", "left hand", "left hand", "other"};
    const int materials[4] = {-1, 0, 1, 0};
    for (int i = 0; i < 4 && i < mesh->part_count; i++) {
        KK_CHECK_STR(mesh->part[i].name, names[i]);
        KK_CHECK_EQ_INT(mesh->part[i].material, materials[i]);
        KK_CHECK_EQ_INT(mesh->part[i].first_face, i);
        KK_CHECK_EQ_INT(mesh->part[i].face_count, 1);
        KK_CHECK_EQ_INT(kki_mesh_part_of_face(mesh, i), i);
    }
    kki_mesh_free(mesh);
}

// a concave polygon keeps its area; a fan from its first corner would not
KK_TEST(obj_polygons) {
    kki_mesh *mesh = read_text("v 1 1 0\nv 0 4 0\nv 0 0 0\nv 4 0 0\nv 4 4 0\nf 2 3 4 5 1\n", "a.obj");
    kki_mass mass = {0};
    KK_CHECK_EQ_INT(mesh->face_count, 3);
    KK_CHECK_EQ_INT(kki_mass_of_mesh(mesh, KKI_MASS_SHELL, NULL, &mass, NULL, NULL), KK_OK);
    KK_CHECK_REL(mass.volume, 10, 1e-15);
    kki_mesh_free(mesh);
}

KK_TEST(obj_faults) {
    refused_text("v 0 0\n", "a.obj", KK_SYNTAX, 1, 6, "should be a number");
    refused_text("v 0 0 0x\n", "a.obj", KK_SYNTAX, 1, 7, "found '0x'");
    refused_text("# c\nv 0 inf 0\n", "a.obj", KK_NOT_FINITE, 2, 5, "not a finite number");
    refused_text(CORNERS "f 1 2 5\n", "a.obj", KK_SYNTAX, 5, 7, "names vertex 5, and there are 4");
    refused_text(CORNERS "f 1 2 0\n", "a.obj", KK_SYNTAX, 5, 7, "names vertex 0");
    refused_text(CORNERS "f 1 2 -5\n", "a.obj", KK_SYNTAX, 5, 7, "names vertex -5");
    refused_text(CORNERS "f 1 2 99999999999999999999\n", "a.obj", KK_SYNTAX, 5, 7, "no corner");
    refused_text(CORNERS "f 1 2 3/1/1/1\n", "a.obj", KK_SYNTAX, 5, 7, "no corner");
    refused_text(CORNERS "f 1 2 3/a\n", "a.obj", KK_SYNTAX, 5, 7, "no corner");
    refused_text(CORNERS "f 1 2\n", "a.obj", KK_SYNTAX, 5, 0, "2 corners");
    refused_text("nothing here\n", "a.obj", KK_SYNTAX, 0, 0, "no vertices");
    refused_text("nothing here\n", "a.txt", KK_UNSUPPORTED, 0, 0, "not a mesh");
    KK_CHECK_STR(kki_mesh_format_name(CORNERS, strlen(CORNERS), "a.txt"), "obj");
    KK_CHECK(kki_mesh_format_name("", 0, NULL) == NULL);
}

KK_TEST(obj_round_trip) {
    kki_mesh *mesh = read_text("mtllib m\nv 0.1 -2e-300 1e17\nv 1 0 0\nv 0 0.3333333333333333 0\nv 0 0 1\ng p "
                               "q\nusemtl a\nf 1 2 3\nusemtl b\nf 1 2 4\n",
                               "a.obj");
    size_t size = 0;
    char text[400];
    KK_CHECK_EQ_INT(kki_mesh_write_obj(mesh, text, sizeof text, &size), KK_OK);
    kki_mesh *again = read_with(text, size, "b.obj", NULL);
    KK_CHECK_BYTES(again->vertex, mesh->vertex, 4 * sizeof *mesh->vertex);
    KK_CHECK_BYTES(again->face, mesh->face, 2 * sizeof *mesh->face);
    KK_CHECK_EQ_INT(again->part_count, 2);
    KK_CHECK_STR(again->part[1].name, "p q");
    KK_CHECK_STR(again->material[again->part[1].material].name, "b");
    KK_CHECK_STR(again->library, "m");
    kki_mesh_free(mesh);
    kki_mesh_free(again);
}
