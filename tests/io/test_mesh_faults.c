// Over all formats: failing allocations, bounded memory, cut and damaged files, and the corpus of the fuzzers.
#include <dirent.h>

#include "../faults/faulty.h"
#include "../fuzz/fuzz_mesh.h"
#include "geometry/hull.h"
#include "mesh_files.h"
#include <karakuri/random.h>

#ifdef KK_SOURCE_DIR
#define CORPUS KK_SOURCE_DIR "/tests/fuzz/corpus/"
#else
#define CORPUS "tests/fuzz/corpus/"
#endif

typedef void visit_file(const unsigned char *data, size_t size, const char *name);

static int visit_folder(const char *folder, visit_file *visit) {
    char path[2000];
    int count = 0;
    snprintf(path, sizeof path, CORPUS "%s", folder);
    DIR *d = opendir(path);
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        size_t size = 0;
        snprintf(path, sizeof path, CORPUS "%s/%.500s", folder, entry->d_name);
        unsigned char *data = entry->d_name[0] == '.' ? NULL : load_file(path, &size);
        if (data) {
            visit(data, size, entry->d_name);
            count++;
        }
        free(data);
    }
    if (d) {
        closedir(d);
    }
    return count;
}

// calls for each file of the corpora; the number of files
static int for_each_file(visit_file *visit) {
    static const char *const FOLDERS[] = {"stl", "obj", "ply", "msh", "gltf", "dae"};
    int count = 0;
    for (int i = 0; i < 6; i++) {
        count += visit_folder(FOLDERS[i], visit);
    }
    return count;
}

static void replay(const unsigned char *data, size_t size, const char *name) {
    fuzz_mesh(data, size, name);
}

KK_TEST(mesh_corpus_is_replayed) {
    if (for_each_file(replay) == 0) {
        KK_SKIP("no folder to read the corpora from");
    }
}

// every allocation made to fail: a clean status, nothing left behind
static void sweep(const unsigned char *data, size_t size, const char *name) {
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = faulty_allocator(&f);
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    const kk_status expected = kki_mesh_read(data, size, name, NULL, &allocator, &mesh, &error);
    kki_mesh_free(mesh);
    KK_CHECK_EQ_INT(f.blocks, 0);
    const int calls = f.calls;
    for (int k = 0; k < calls; k++) {
        f = (faulty){.fail_at = k};
        error = (kk_error){0};
        const kk_status status = kki_mesh_read(data, size, name, NULL, &allocator, &mesh, &error);
        KK_CHECK(status == KK_OUT_OF_MEMORY || (expected != KK_OK && status == expected));
        KK_CHECK(mesh == NULL && error.text[0]);
        KK_CHECK_EQ_INT(f.blocks, 0);
        KK_CHECK_EQ_INT(f.bytes, 0);
    }
    f = (faulty){.fail_at = -1};
    KK_CHECK_EQ_INT(kki_mesh_read(data, size, name, NULL, &allocator, &mesh, &error), expected);
    kki_mesh_free(mesh);
}

KK_TEST(mesh_readers_survive_failed_allocations) {
    if (for_each_file(sweep) == 0) {
        KK_SKIP("no folder to read the corpora from");
    }
}

// every prefix of a file ends well, and so do files with bytes changed
static void damage(const unsigned char *data, size_t size, const char *name) {
    unsigned char *copy = malloc(size + 1);
    kk_random random = {size, 1, 0};
    for (size_t cut = 0; cut < size; cut += kk_test_is_quick() ? 7 : 1) {
        unsigned char *exact = malloc(cut + 1); // so that sanitizers see the end
        memcpy(exact, data, cut);
        fuzz_mesh(exact, cut, name);
        free(exact);
    }
    for (int round = 0; round < (kk_test_is_quick() ? 50 : 500); round++) {
        memcpy(copy, data, size);
        for (int i = 0; i < 1 + round % 4; i++) {
            const size_t at = (size_t)kk_random_next_below(&random, size);
            copy[at] = round % 2 ? (unsigned char)kk_random_next_below(&random, 256)
                                 : data[kk_random_next_below(&random, size)];
        }
        fuzz_mesh(copy, size, name);
    }
    free(copy);
}

KK_TEST(damaged_meshes_end_well) {
    if (for_each_file(damage) == 0) {
        KK_SKIP("no folder to read the corpora from");
    }
}

// ---- memory

// memory in use at once while reading; files large enough that the floor of the limit does not matter
static double times_file(const void *data, size_t size, const char *name) {
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = faulty_allocator(&f);
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    const kk_status status = kki_mesh_read(data, size, name, NULL, &allocator, &mesh, &error);
    KK_CHECK(status == KK_OK || status == KK_LIMIT_EXCEEDED || strstr(error.text, "no vertices"));
    kki_mesh_free(mesh);
    KK_CHECK_EQ_INT(f.blocks, 0);
    return (double)f.most / (double)size;
}

static size_t repeat(char *text, size_t start, const char *line, int count) {
    const size_t length = strlen(line);
    for (int i = 0; i < count; i++) {
        memcpy(text + start, line, length);
        start += length;
    }
    text[start] = 0;
    return start;
}

KK_TEST(mesh_readers_take_at_most_32_times_the_file) {
    static char text[4000000];
    // the densest of each format: shortest vertices, shortest faces, one large polygon, new materials
    size_t size = repeat(text, 0, "v 0 0 0\n", 200000);
    KK_CHECK(times_file(text, size, "a.obj") <= 32);
    size = repeat(text, repeat(text, 0, "v 0 0 0\n", 3), "f 1 2 3\n", 200000);
    KK_CHECK(times_file(text, size, "a.obj") <= 32);
    size = repeat(text, repeat(text, repeat(text, 0, "v 0 0 0\n", 3), "f ", 1), "1 ", 900000);
    KK_CHECK(times_file(text, size, "a.obj") <= 32);
    size = repeat(text, 0, "v 0 0 0\n", 3);
    for (int i = 0; i < 60000; i++) {
        size += (size_t)snprintf(text + size, 40, "usemtl %x\nf 1 2 3\n", (unsigned)i);
    }
    KK_CHECK(times_file(text, size, "a.obj") <= 32);
    size = repeat(text, 0,
                  "ply\nformat ascii 1.0\nelement vertex 400000\nproperty float x\nproperty float y\nproperty float "
                  "z\nend_header\n",
                  1);
    size = repeat(text, size, "0 0 0\n", 400000);
    KK_CHECK(times_file(text, size, "a.ply") <= 32);
    // one byte a triangle
    size = repeat(
        text, 0,
        "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty uchar x\nproperty uchar y\nproperty uchar z\n"
        "element face 1\nproperty list uint uchar vertex_indices\nend_header\n",
        1);
    memset(text + size, 0, 2100000);
    const uint32_t corners = 2000000;
    memcpy(text + size + 9, &corners, 4);
    KK_CHECK(times_file(text, size + 13 + corners, "a.ply") <= 32);
    size = repeat(text, 0, "solid\n", 1);
    size = repeat(text, size, "facet outer loop vertex 0 0 0 vertex 0 0 0 vertex 0 0 0 endloop endfacet\n", 20000);
    size = repeat(text, size, "endsolid\n", 1);
    KK_CHECK(times_file(text, size, "a.stl") <= 32);
    size = repeat(text, 0, "<COLLADA>", 1);
    size = repeat(text, repeat(text, size, "<a/>", 200000), "</COLLADA>", 1);
    KK_CHECK(times_file(text, size, "a.dae") <= 32);
}

// a limit of one's own is kept
KK_TEST(mesh_memory_limit_is_named) {
    static char text[100000];
    const size_t size = repeat(text, 0, "v 0 0 0\n", 10000);
    const kki_mesh_read_options options = {.memory_limit = 10000};
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kki_mesh_read(text, size, "a.obj", &options, NULL, &mesh, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK(strstr(error.text, "limit of 9 kB") && mesh == NULL);
}

// ---- geometry

KK_TEST(geometry_survives_failed_allocations) {
    kk_vec3 p[60];
    kk_random random = {6, 6, 0};
    for (int i = 0; i < 60; i++) {
        const double x = kk_random_next_uniform(&random), y = kk_random_next_uniform(&random);
        p[i] = kk_vec3_make(x, y, kk_random_next_uniform(&random));
    }
    int calls = 1;
    for (int k = -1; k < calls; k++) {
        faulty f = {.fail_at = k};
        const kk_allocator allocator = faulty_allocator(&f);
        kki_mesh *hull = NULL;
        kki_topology *t = NULL;
        kki_mass mass;
        kk_error error = {0};
        kk_status status = kki_hull_of_points(p, 60, NULL, &allocator, &hull, &error);
        status = status ? status : kki_topology_create(hull, &allocator, &t);
        status = status ? status : kki_mass_of_mesh(hull, KKI_MASS_SOLID, &allocator, &mass, NULL, &error);
        status = status ? status : kki_mass_of_mesh(hull, KKI_MASS_HULL, &allocator, &mass, NULL, &error);
        KK_CHECK_EQ_INT(status, k < 0 ? KK_OK : KK_OUT_OF_MEMORY);
        calls = k < 0 ? f.calls : calls;
        kki_topology_free(t);
        kki_mesh_free(hull);
        KK_CHECK_EQ_INT(f.blocks, 0);
        KK_CHECK_EQ_INT(f.bytes, 0);
    }
    KK_CHECK(calls > 15);
}
