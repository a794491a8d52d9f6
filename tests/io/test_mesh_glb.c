// glTF binary: chunks, accessors, nodes, materials.
#include "mesh_files.h"

// positions at byte 0, 16-bit indices at 48
#define DATA                                                                                                 \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"                \
    "{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}],"                           \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,\"byteLength\":24}]," \
    "\"buffers\":[{\"byteLength\":72}]"
#define MESH                                                                                                           \
    "\"meshes\":[{\"name\":\"tetra\",\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0}]}" \
    "],"
#define MATERIALS "\"materials\":[{\"name\":\"red\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0,0.25,0.5]}}],"

static bytes glb(const char *json) {
    bytes b = {{0}, 0};
    const size_t length = (strlen(json) + 3) / 4 * 4;
    put_text(&b, "glTF");
    put32(&b, 2);
    put32(&b, (uint32_t)(12 + 8 + length + 8 + 72));
    put32(&b, (uint32_t)length);
    put_text(&b, "JSON");
    put_text(&b, json);
    while (b.size < 20 + length) {
        put_text(&b, " ");
    }
    put32(&b, 72);
    put(&b, "BIN\0", 4);
    for (int i = 0; i < 12; i++) {
        put_float(&b, TETRA[i / 3][i % 3]);
    }
    for (int i = 0; i < 12; i++) {
        put_number(&b, (uint64_t)TETRA_FACE[i / 3][i % 3], 2, 0);
    }
    return b;
}

static void glb_refused(const char *json, kk_status status, const char *words) {
    const bytes b = glb(json);
    refused(b.data, b.size, "a.glb", status, 0, 0, words);
}

KK_TEST(glb_scene) {
    bytes b = glb("{\"asset\":{\"version\":\"2.0\"},\"scene\":1,\"scenes\":[{\"nodes\":[2]},{\"nodes\":[0]}],"
                  "\"nodes\":[{\"children\":[1,2],\"translation\":[0,0,10]},"
                  "{\"mesh\":0,\"rotation\":[0,0,0.7071067811865475,0.7071067811865475],\"scale\":[2,2,2]},"
                  "{\"mesh\":0,\"matrix\":[-1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]}]," MESH MATERIALS DATA "}");
    kki_mesh *mesh = read_bytes(&b, "a.glb");
    KK_CHECK_EQ_INT(mesh->part_count, 2);
    KK_CHECK_STR(mesh->part[0].name, "tetra");
    KK_CHECK_STR(mesh->material[0].name, "red");
    KK_CHECK(mesh->material[0].has_color && mesh->material[0].color[2] == 0.25F && mesh->material[0].color[3] == 0.5F);
    KK_CHECK_EQ_INT(mesh->tidying.mirrored_parts, 1);
    kki_mass shell = {0};
    kki_mass_of_mesh(mesh, KKI_MASS_SHELL, NULL, &shell, NULL, NULL);
    KK_CHECK(shell.center.y < -9);     // glTF's z is our -y
    check_volume(mesh, 8, 8, 9.0 / 6); // 2^3 + 1, the mirrored one is turned
    const kki_mesh_read_options options = {.keep_axes = true};
    mesh = read_with(b.data, b.size, "a.glb", &options);
    kki_mass_of_mesh(mesh, KKI_MASS_SHELL, NULL, &shell, NULL, NULL);
    KK_CHECK(shell.center.z > 10);
    kki_mesh_free(mesh);
}

KK_TEST(glb_without_scene) {
    // roots are the nodes that are no one's child; without nodes all meshes
    bytes b = glb("{\"nodes\":[{\"mesh\":0},{\"children\":[0],\"scale\":[1,1,2]}]," MESH MATERIALS DATA "}");
    check_volume(read_bytes(&b, "x"), 4, 4, 2.0 / 6);
    b = glb("{" MESH MATERIALS DATA "}");
    check_volume(read_bytes(&b, "x"), 4, 4, 1.0 / 6);
}

KK_TEST(glb_modes) {
    const bytes b = glb("{\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5},{\"attributes\":{"
                        "\"POSITION\":0},\"mode\":6},"
                        "{\"attributes\":{\"POSITION\":0},\"mode\":0}]}]," DATA "}");
    kki_mesh *mesh = read_bytes(&b, "a.glb");
    const int32_t expected[4][3] = {{0, 1, 2}, {2, 1, 3}, {0, 1, 2}, {0, 2, 3}};
    KK_CHECK_EQ_INT(mesh->face_count, 4);
    KK_CHECK_BYTES(mesh->face, expected, sizeof expected);
    kki_mesh_free(mesh);
}

KK_TEST(glb_faults) {
    bytes b = glb("{" MESH MATERIALS DATA "}");
    for (size_t size = 12; size < b.size; size++) {
        kki_mesh *mesh = NULL;
        kk_error error = {0};
        KK_CHECK(kki_mesh_read(b.data, size, "a.glb", NULL, NULL, &mesh, &error) != KK_OK);
        KK_CHECK(strstr(error.text, "byte ") && strstr(error.text, "—"));
    }
    b.data[4] = 1;
    refused(b.data, b.size, "a.glb", KK_UNSUPPORTED, 0, 0, "version 2");
    b = glb("{" MESH MATERIALS DATA "}");
    memset(b.data + b.size - 72, 0xff, 4);
    refused(b.data, b.size, "a.glb", KK_NOT_FINITE, 0, 0, "NaN");
    b = glb("{" MESH MATERIALS DATA "}");
    b.data[b.size - 2] = 4;
    refused(b.data, b.size, "a.glb", KK_SYNTAX, 0, 0, "an index names a vertex");
    glb_refused("{" MESH MATERIALS DATA "", KK_SYNTAX, "ends too early");
    glb_refused("{\"nodes\":[{\"children\":[0]}],\"scenes\":[{\"nodes\":[0]}]," MESH MATERIALS DATA "}", KK_SYNTAX,
                "reached twice");
    glb_refused("{\"nodes\":[{\"children\":[1,1]},{}],\"scenes\":[{\"nodes\":[0]}]," MESH MATERIALS DATA "}", KK_SYNTAX,
                "reached twice");
    glb_refused("{\"nodes\":[{\"mesh\":1}]," MESH MATERIALS DATA "}", KK_SYNTAX, "no such mesh");
    glb_refused("{\"nodes\":[{\"mesh\":0,\"matrix\":[1]}]," MESH MATERIALS DATA "}", KK_SYNTAX, "matrix");
    glb_refused("{\"nodes\":[{\"mesh\":0,\"rotation\":[0,0,0,0]}]," MESH MATERIALS DATA "}", KK_SYNTAX, "rotation");
    glb_refused("{\"nodes\":[{\"mesh\":0,\"scale\":[1e999,1,1]}]," MESH MATERIALS DATA "}", KK_SYNTAX, "scale");
    glb_refused(
        "{\"nodes\":[{\"mesh\":0,\"scale\":[1e308,1e308,1e308],\"children\":[]}],\"scenes\":[{\"nodes\":[7]}]," MESH
            MATERIALS DATA "}",
        KK_SYNTAX, "no such node");
    glb_refused("{\"nodes\":[{}],\"scene\":3,\"scenes\":[{\"nodes\":[0]}]," MESH MATERIALS DATA "}", KK_SYNTAX,
                "no such scene");
    glb_refused("{" MESH DATA "}", KK_SYNTAX, "no such material");
    glb_refused("{\"meshes\":[{\"primitives\":[{\"attributes\":{}}]}]," DATA "}", KK_SYNTAX, "without POSITION");
    glb_refused("{\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":9}}]}]," DATA "}", KK_SYNTAX,
                "no such accessor");
    glb_refused("{\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":1}}]}]," DATA "}", KK_SYNTAX,
                "accessor outside");
    glb_refused("{\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":9}]}]," DATA "}", KK_SYNTAX,
                "no known mode");
    glb_refused("{\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":0}]}]," DATA "}", KK_SYNTAX,
                "indices that are no whole numbers");
    glb_refused("{\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]," MESH MATERIALS DATA "}", KK_UNSUPPORTED,
                "KHR_draco_mesh_compression");
    glb_refused("{\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[1]}}]," MESH DATA "}", KK_SYNTAX,
                "four numbers");
    const char *views[] = {"\"byteLength\":73", "\"byteLength\":4294967295", "\"byteOffset\":72,\"byteLength\":1",
                           "\"buffer\":1,\"byteLength\":1", "\"byteLength\":-1"};
    for (int i = 0; i < 5; i++) {
        char json[500];
        snprintf(json, sizeof json,
                 "{\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,"
                 "\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}],\"bufferViews\":[{%s}]}",
                 views[i]);
        glb_refused(json, KK_SYNTAX, "outside of the binary chunk");
    }
    const char *counts[] = {"\"count\":5", "\"count\":4294967295", "\"count\":0", "\"count\":4,\"byteOffset\":4",
                            "\"count\":1.5"};
    for (int i = 0; i < 5; i++) {
        char json[500];
        snprintf(json, sizeof json,
                 "{\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,"
                 "\"componentType\":5126,%s,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}]}",
                 counts[i]);
        glb_refused(json, KK_SYNTAX, "accessor outside");
    }
}
