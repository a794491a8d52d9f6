// Every mesh of the robots in ../shared/models is read, and its hull holds it.
#include <dirent.h>

#include "geometry/hull.h"
#include "mesh_files.h"

enum { MOST_FOLDERS = 64, PATH_SIZE = 500 };

typedef struct summary {
    int files, vertices, faces, closed, hulls;
    double bytes;
} summary;

static int is_mesh(const char *name) {
    static const char *const ENDS[] = {".stl", ".STL", ".obj", ".dae", ".ply", ".msh", ".glb"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        if (length > 4 && strcmp(name + length - 4, ENDS[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static void check_file(const char *path, summary *s) {
    size_t size = 0;
    unsigned char *data = load_file(path, &size);
    kki_mesh *mesh = data ? read_with(data, size, path, NULL) : NULL, *hull = NULL;
    kki_topology *t = NULL;
    if (mesh && KK_CHECK_EQ_INT(kki_topology_create(mesh, NULL, &t), KK_OK)) {
        kk_error error = {0};
        const kk_status status = kki_hull_of_points(mesh->vertex, mesh->vertex_count, NULL, NULL, &hull, &error);
        KK_CHECK(status == KK_OK || status == KK_SINGULAR);
        s->files++;
        s->bytes += (double)size;
        s->vertices += mesh->vertex_count;
        s->faces += mesh->face_count;
        s->closed += t->check.is_closed && t->check.is_oriented;
        s->hulls += status == KK_OK;
    }
    kki_topology_free(t);
    kki_mesh_free(hull);
    kki_mesh_free(mesh);
    free(data);
}

// a folder and those in it, in a list of paths
static summary check_robot(const char *root) {
    static char folder[MOST_FOLDERS][PATH_SIZE];
    summary s = {0};
    int count = 1;
    snprintf(folder[0], PATH_SIZE, "%s", root);
    for (int i = 0; i < count; i++) {
        DIR *d = opendir(folder[i]);
        for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
            char path[2 * PATH_SIZE];
            if (strlen(entry->d_name) >= PATH_SIZE) {
                continue;
            }
            snprintf(path, sizeof path, "%.*s/%.*s", PATH_SIZE, folder[i], PATH_SIZE - 2, entry->d_name);
            if (is_mesh(entry->d_name)) {
                check_file(path, &s);
            } else if (!strchr(entry->d_name, '.') && count < MOST_FOLDERS && strlen(path) < PATH_SIZE) {
                memcpy(folder[count++], path, strlen(path) + 1); // a file is a folder that cannot be opened
            }
        }
        if (d) {
            closedir(d);
        }
    }
    return s;
}

KK_TEST(meshes_of_the_shared_robots_are_read) {
    static const char *const ROBOTS[] = {"agility_cassie", "anybotics_anymal_c", "franka_emika_panda", "jvrc1",
                                         "robotiq_2f85",   "shadow_hand",        "unitree_h1"};
    DIR *d = opendir("../shared/models");
    if (!d) {
        KK_SKIP("no ../shared/models here");
    }
    closedir(d);
    for (int i = 0; i < 7; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "../shared/models/%s", ROBOTS[i]);
        const summary s = check_robot(path);
        printf("  %-20s %3d meshes, %5.1f MB, %6d vertices, %6d faces, %d closed, %d with a hull\n", ROBOTS[i], s.files,
               s.bytes * 1e-6, s.vertices, s.faces, s.closed, s.hulls);
        KK_CHECK(s.files > 0);
    }
}
