// PLY in its three encodings, and MuJoCo's .msh.
#include "mesh_files.h"

#define HEADER(format)    \
    "ply\nformat " format \
    " 1.0\ncomment made by hand\nobj_info x\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
#define FACES "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
#define ROWS "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n"

KK_TEST(ply_ascii) {
    check_volume(read_text(HEADER("ascii") FACES ROWS, "a.ply"), 4, 4, 1.0 / 6);
    // other elements and properties, in any order; names of types as others write them
    check_volume(
        read_text(
            "ply\r\nformat ascii 1.0\r\nelement camera 1\r\nproperty float32 view\r\nproperty list uint8 float64 "
            "more\r\n"
            "element vertex 4\r\nproperty uint8 red\r\nproperty float64 z\r\nproperty int16 x\r\nproperty float y\r\n"
            "element face 4\r\nproperty int8 flag\r\nproperty list int32 uint16 vertex_index\r\nproperty list uchar "
            "float texcoord\r\n"
            "element nothing 7\r\nend_header\r\n"
            "nan 2 1 inf\r\n255 0 0 0\r\n255 0 1 0\r\n255 0 0 1\r\n255 1.0 0 0\r\n"
            "1 3 0 2 1 0\r\n1 3 0 1 3 2 0 0\r\n1 3 1 2 3 0\r\n1 3 2 0 3 0\r\n",
            "a.ply"),
        4, 4, 1.0 / 6);
}

static bytes binary(int is_big) {
    bytes b = {{0}, 0};
    put_text(&b, is_big ? "ply\nformat binary_big_endian 1.0\n" : "ply\nformat binary_little_endian 1.0\n");
    put_text(&b, "element vertex 4\nproperty double x\nproperty float y\nproperty short z\nproperty uchar red\n"
                 "element face 4\nproperty list ushort uint vertex_indices\nproperty char flag\nend_header\n");
    for (int i = 0; i < 4; i++) {
        const double x = TETRA[i][0];
        uint64_t bits;
        uint32_t half;
        memcpy(&bits, &x, 8);
        memcpy(&half, &TETRA[i][1], 4);
        put_number(&b, bits, 8, is_big);
        put_number(&b, half, 4, is_big);
        put_number(&b, (uint64_t)TETRA[i][2], 2, is_big);
        put_number(&b, 200, 1, is_big);
    }
    for (int f = 0; f < 4; f++) {
        put_number(&b, 3, 2, is_big);
        for (int k = 0; k < 3; k++) {
            put_number(&b, (uint64_t)TETRA_FACE[f][k], 4, is_big);
        }
        put_number(&b, 255, 1, is_big);
    }
    return b;
}

KK_TEST(ply_binary) {
    for (int is_big = 0; is_big < 2; is_big++) {
        const bytes b = binary(is_big);
        check_volume(read_bytes(&b, "a.ply"), 4, 4, 1.0 / 6);
        // one byte less, anywhere in the data, is an error and not a crash
        for (size_t cut = 1; cut < 100; cut++) {
            refused(b.data, b.size - cut, "a.ply", KK_SYNTAX, 0, 0, "the file");
        }
    }
}

KK_TEST(ply_strips_and_polygons) {
    kki_mesh *mesh =
        read_text("ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
                  "element tristrips 1\nproperty list int int vertex_indices\nelement face 2\nproperty list uchar int "
                  "vertex_indices\nend_header\n"
                  "0 0 0\n1 0 0\n0 1 0\n1 1 0\n5 5 5\n9 0 1 2 3 -1 0 1 2 -1\n4 0 1 3 2\n2 0 1\n",
                  "a.ply");
    KK_CHECK_EQ_INT(mesh->face_count, 5);
    KK_CHECK_EQ_INT(mesh->vertex_count, 4);
    KK_CHECK_EQ_INT(mesh->tidying.unused_vertices, 1);
    kki_mass mass = {0};
    KK_CHECK_EQ_INT(kki_mass_of_mesh(mesh, KKI_MASS_SHELL, NULL, &mass, NULL, NULL), KK_OK);
    KK_CHECK_REL(mass.volume, 2.5, 1e-15);
    // all look the same way
    for (int f = 0; f < 5; f++) {
        const int32_t *v = mesh->face[f].vertex;
        const kk_vec3 a = mesh->vertex[v[0]];
        KK_CHECK(kk_vec3_cross(kk_vec3_sub(mesh->vertex[v[1]], a), kk_vec3_sub(mesh->vertex[v[2]], a)).z > 0);
    }
    kki_mesh_free(mesh);
    // points without faces are kept, for their hull
    mesh = read_text(HEADER("ascii") "end_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n", "a.ply");
    KK_CHECK_EQ_INT(mesh->vertex_count, 4);
    KK_CHECK_EQ_INT(mesh->face_count, 0);
    kki_mesh_free(mesh);
}

KK_TEST(ply_faults) {
    refused_text("plx\n", "a.ply", KK_SYNTAX, 1, 1, "starts with a line 'ply'");
    refused_text("ply\nformat binary 1.0\n", "a.ply", KK_SYNTAX, 2, 8, "the format is not");
    refused_text("ply\nelement vertex 1\nend_header\n", "a.ply", KK_SYNTAX, 3, 1, "no format line");
    refused_text("ply\nformat ascii 1.0\nelement vertex 3\n", "a.ply", KK_SYNTAX, 4, 1, "no end_header");
    refused_text("ply\nformat ascii 1.0\nelement vertex 99999999\nend_header\n", "a.ply", KK_SYNTAX, 3, 16,
                 "too short");
    refused_text("ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", "a.ply", KK_SYNTAX, 3, 16, "too short");
    refused_text("ply\nformat ascii 1.0\nelement vertex x\nend_header\n", "a.ply", KK_SYNTAX, 3, 16, "found 'x'");
    refused_text("ply\nformat ascii 1.0\nproperty float x\nend_header\n", "a.ply", KK_SYNTAX, 3, 0,
                 "without a name or an element");
    refused_text("ply\nformat ascii 1.0\nelement vertex 1\nproperty real x\nend_header\n", "a.ply", KK_SYNTAX, 4, 10,
                 "no type of PLY");
    refused_text("ply\nformat ascii 1.0\nelement face 1\nproperty list float int x\nend_header\n", "a.ply", KK_SYNTAX,
                 4, 15, "a whole type");
    refused_text("ply\nformat ascii 1.0\nwords\nend_header\n", "a.ply", KK_SYNTAX, 3, 1, "expected format");
    refused_text("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n1 1\n",
                 "a.ply", KK_SYNTAX, 3, 9, "no x, y and z");
    refused_text(HEADER("ascii") FACES "0 0 0\n1 0 nan\n", "a.ply", KK_NOT_FINITE, 13, 5, "'nan'");
    refused_text(HEADER("ascii") FACES "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 1.5\n3 0 1 2\n3 0 1 2\n3 0 1 2\n", "a.ply",
                 KK_SYNTAX, 16, 7, "no whole number");
    refused_text(HEADER("ascii") FACES "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 -2\n3 0 1 2\n3 0 1 2\n3 0 1 2\n", "a.ply",
                 KK_SYNTAX, 16, 7, "no whole number");
    refused_text(HEADER("ascii") FACES "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 4\n3 0 1 2\n3 0 1 2\n3 0 1 2\n", "a.ply",
                 KK_INVALID_ARGUMENT, 0, 0, "names vertex 4");
    refused_text(HEADER("ascii") FACES "0 0 0\n1 0 0\n0 1 0\n0 0 1\n999 0 1 4\n", "a.ply", KK_SYNTAX, 16, 1,
                 "longer than the file");
    refused_text(HEADER("ascii") FACES "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 2\n3 0 1 2\n", "a.ply", KK_SYNTAX,
                 19, 1, "cut off");
}

// ---- .msh

static bytes msh(void) {
    bytes b = {{0}, 0};
    put32(&b, 4);
    put32(&b, 1);
    put32(&b, 2);
    put32(&b, 4);
    for (int i = 0; i < 12; i++) {
        put_float(&b, TETRA[i / 3][i % 3]);
    }
    for (int i = 0; i < 3 + 4; i++) {
        put_float(&b, 0.5F);
    }
    for (int i = 0; i < 12; i++) {
        put32(&b, (uint32_t)TETRA_FACE[i / 3][i % 3]);
    }
    return b;
}

KK_TEST(msh_of_mujoco) {
    bytes b = msh();
    check_volume(read_bytes(&b, "a.msh"), 4, 4, 1.0 / 6);
    KK_CHECK_STR(kki_mesh_format_name(b.data, b.size, NULL), "msh");
    refused(b.data, b.size - 1, "a.msh", KK_SYNTAX, 0, 0, "byte 0: the four counts");
    refused(b.data, 12, "a.msh", KK_SYNTAX, 0, 0, "four counts");
    b.data[b.size - 4] = 9;
    refused(b.data, b.size, "a.msh", KK_SYNTAX, 0, 0, "byte 136: a face names vertex 9, and there are 4");
    b = msh();
    memset(b.data + 16, 0xff, 4);
    refused(b.data, b.size, "a.msh", KK_NOT_FINITE, 0, 0, "byte 16");
}
