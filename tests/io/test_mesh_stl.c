// STL: both kinds, and which is which.
#include "io/mesh_write.h"
#include "mesh_files.h"

static bytes binary_tetra(const char *header) {
    bytes b = {{0}, 0};
    char start[80] = {0};
    memcpy(start, header, strlen(header));
    put(&b, start, 80);
    put32(&b, 4);
    for (int f = 0; f < 4; f++) {
        for (int i = 0; i < 3; i++) {
            put_float(&b, 0);
        }
        for (int i = 0; i < 9; i++) {
            put_float(&b, TETRA[TETRA_FACE[f][i / 3]][i % 3]);
        }
        put(&b, "\x1f\x7c", 2);
    }
    return b;
}

KK_TEST(stl_binary) {
    bytes b = binary_tetra("made by hand");
    kki_mesh *mesh = read_bytes(&b, "a.stl");
    KK_CHECK_EQ_INT(mesh->tidying.welded_vertices, 8);
    check_volume(mesh, 4, 4, 1.0 / 6);
    // the size decides, not the word, and not the name
    b = binary_tetra("solid of an exporter that should know better");
    check_volume(read_bytes(&b, "a.obj"), 4, 4, 1.0 / 6);
    KK_CHECK_STR(kki_mesh_format_name(b.data, b.size, NULL), "stl");
    // trailing bytes are allowed where the name says what it is
    put_text(&b, "trailer");
    check_volume(read_bytes(&b, "a.STL"), 4, 4, 1.0 / 6);
}

KK_TEST(stl_binary_faults) {
    bytes b = binary_tetra("x");
    refused(b.data, 50, "a.stl", KK_SYNTAX, 0, 0, "at least 84 bytes");
    refused(b.data, b.size - 1, "a.stl", KK_SYNTAX, 0, 0, "byte 80: the file promises 4 triangles and has bytes for 3");
    memcpy(b.data + 84 + 50 + 12, "\0\0\xc0\x7f", 4);
    refused(b.data, b.size, "a.stl", KK_NOT_FINITE, 0, 0, "byte 134: a coordinate is NaN or infinite");
    memset(b.data + 80, 0xff, 4);
    refused(b.data, b.size, "a.stl", KK_SYNTAX, 0, 0, "byte 80");
}

KK_TEST(stl_ascii) {
    kki_mesh *mesh = read_text(
        "solid a name \n"
        "facet normal 0 0 -1\n outer loop\n vertex 0 0 0\r\n vertex 0 1 0\n vertex 1 0 0\n endloop\nendfacet\n"
        "facet normal 0 -1 0\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 0 0 1.0e0\n endloop\nendfacet\n"
        "endsolid a name\n"
        "solid\n"
        "FACET NORMAL nan nan nan\n OUTER LOOP\n VERTEX 1 0 0\n VERTEX 0 +1 0\n VERTEX 0 0 1\n ENDLOOP\nENDFACET\n"
        "facet normal 0 0 0\n outer loop\n vertex 0 1 0\n vertex 0 0 0\n vertex 0 0 1\n endloop\nendfacet\n"
        "endsolid",
        "a.stl");
    KK_CHECK_EQ_INT(mesh->part_count, 2);
    KK_CHECK_STR(mesh->part[0].name, "a name");
    KK_CHECK_STR(mesh->part[1].name, "");
    KK_CHECK_EQ_INT(mesh->part[1].first_face, 2);
    check_volume(mesh, 4, 4, 1.0 / 6);
    mesh = read_text("solid quad\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 1 1 0 vertex 0 1 0 "
                     "endloop endfacet\nendsolid",
                     "a.stl");
    KK_CHECK_EQ_INT(mesh->face_count, 2);
    kki_mesh_free(mesh);
}

KK_TEST(stl_ascii_faults) {
    const char *start = "solid s\nfacet normal 0 0 1\nouter loop\n";
    char text[400];
    refused_text("solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n", "a.stl", KK_SYNTAX, 4, 12,
                 "found 'zero'");
    snprintf(text, sizeof text, "%svertex 0 nan 0\n", start);
    refused_text(text, "a.stl", KK_NOT_FINITE, 4, 10, "'nan'");
    snprintf(text, sizeof text, "%svertex 0 1e999 0\n", start);
    refused_text(text, "a.stl", KK_NOT_FINITE, 4, 10, "'1e999'");
    snprintf(text, sizeof text, "%svertex 0 0 0\nvertex 0 0 1\nendloop\n", start);
    refused_text(text, "a.stl", KK_SYNTAX, 6, 1, "2 corners");
    snprintf(text, sizeof text, "%svertex 0 0 0\nvertex 0 0 1\nvertex 0 1 1\nendfacet\n", start);
    refused_text(text, "a.stl", KK_SYNTAX, 7, 1, "vertex or endloop");
    snprintf(text, sizeof text, "%svertex 0 0 0\nvertex 0 0 1\nvertex 0 1 1\nendloop\nfacet", start);
    refused_text(text, "a.stl", KK_SYNTAX, 8, 1, "expected endfacet");
    refused_text("solid s\nfacet normal 0 0 1\ninner loop\n", "a.stl", KK_SYNTAX, 0, 0, "outer loop");
    refused_text("solid s\nnonsense\n", "a.stl", KK_SYNTAX, 2, 1, "facet, solid or endsolid");
    snprintf(text, sizeof text, "%svertex 0 0 0\nvertex 0 0 1\nvertex 0 1 1\nendloop\nendfacet\n", start);
    refused_text(text, "a.stl", KK_SYNTAX, 9, 1, "endsolid at the end");
    refused_text("solid empty\nendsolid empty\n", "a.stl", KK_SYNTAX, 0, 0, "no vertices");
}

// what is written is read again, bit by bit; floats first
KK_TEST(stl_round_trip) {
    bytes b = binary_tetra("x");
    kki_mesh *mesh = read_bytes(&b, "a.stl");
    size_t size = 0;
    unsigned char out[400];
    KK_CHECK_EQ_INT(kki_mesh_write_stl(mesh, NULL, 0, &size), KK_OK);
    KK_CHECK_EQ_INT(size, 284);
    KK_CHECK_EQ_INT(kki_mesh_write_stl(mesh, out, 283, &size), KK_SIZE_MISMATCH);
    KK_CHECK_EQ_INT(kki_mesh_write_stl(mesh, out, sizeof out, &size), KK_OK);
    kki_mesh *again = read_with(out, size, "b.stl", NULL);
    KK_CHECK_BYTES(again->vertex, mesh->vertex, 4 * sizeof *mesh->vertex);
    KK_CHECK_BYTES(again->face, mesh->face, 4 * sizeof *mesh->face);
    mesh->vertex[0].x = 1e39;
    KK_CHECK_EQ_INT(kki_mesh_write_stl(mesh, out, sizeof out, &size), KK_NOT_FINITE);
    kki_mesh_free(mesh);
    kki_mesh_free(again);
}
