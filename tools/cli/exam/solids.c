// Meshes of the second exam.
#include "solids.h"

#include <stdlib.h>

static const double PI = 3.14159265358979323846;

static int add_mesh(scene *s, const kk_vec3 *vertex, int vertices, const int32_t *face, int faces) {
    char name[32];
    int id = -1;
    kk_error error = {0};
    if (s->is_broken) {
        return -1;
    }
    snprintf(name, sizeof name, "mesh%d", kk_spec_mesh_count(s->spec));
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = name;
    mesh.vertex = vertex;
    mesh.vertex_count = vertices;
    mesh.face = (const int32_t(*)[3])face;
    mesh.face_count = faces;
    if (kk_spec_add_mesh(s->spec, &mesh, &id, &error) != KK_OK) {
        scene_break(s, error.text);
    }
    return id;
}

static void add_square(int32_t **face, int a, int b, int c, int d) {
    const int32_t six[6] = {a, b, c, a, c, d};
    for (int i = 0; i < 6; i++) {
        *(*face)++ = six[i];
    }
}

int exam_ring(scene *s, double radius, double tube, int around, int sides) {
    kk_vec3 *vertex = cli_allocate((size_t)(around * sides), sizeof *vertex);
    int32_t *faces = cli_allocate((size_t)(6 * around * sides), sizeof *faces), *face = faces;
    for (int i = 0; i < around; i++) {
        for (int k = 0; k < sides; k++) {
            const double turn = 2 * PI * i / around, lean = 2 * PI * k / sides, r = radius + tube * kk_cos(lean);
            vertex[i * sides + k] = kk_vec3_make(r * kk_cos(turn), r * kk_sin(turn), tube * kk_sin(lean));
            const int next = (i + 1) % around * sides, other = (k + 1) % sides;
            add_square(&face, i * sides + k, next + k, next + other, i * sides + other);
        }
    }
    const int id = add_mesh(s, vertex, around * sides, faces, 2 * around * sides);
    free(vertex);
    free(faces);
    return id;
}

int exam_sheet(scene *s, double half, int cells) {
    const int across = cells + 1;
    kk_vec3 *vertex = cli_allocate((size_t)(across * across), sizeof *vertex);
    int32_t *faces = cli_allocate((size_t)(6 * cells * cells), sizeof *faces), *face = faces;
    for (int i = 0; i < across * across; i++) {
        const int row = i / across, column = i % across;
        vertex[i] = kk_vec3_make(half * (2.0 * column / cells - 1), half * (2.0 * row / cells - 1), 0);
        if (row < cells && column < cells) {
            add_square(&face, i, i + 1, i + 1 + across, i + across);
        }
    }
    const int id = add_mesh(s, vertex, across * across, faces, 2 * cells * cells);
    free(vertex);
    free(faces);
    return id;
}

int exam_stone(scene *s, double radius, kk_random *random) {
    enum { CORNERS = 12 };
    kk_vec3 vertex[CORNERS];
    int32_t face[3 * (CORNERS - 2)];
    for (int i = 0; i < CORNERS; i++) {
        const kk_vec3 x =
            kk_vec3_make(kk_random_next_normal(random), kk_random_next_normal(random), kk_random_next_normal(random));
        vertex[i] = kk_vec3_scale(x, radius / kk_vec3_norm(x));
    }
    for (int i = 0; i + 2 < CORNERS; i++) { // any faces: a hull is that of the corners
        face[3 * i] = i;
        face[3 * i + 1] = i + 1;
        face[3 * i + 2] = i + 2;
    }
    return add_mesh(s, vertex, CORNERS, face, CORNERS - 2);
}

int exam_add_mesh_body(scene *s, int mesh, kk_shape_type type, double mass, double size) {
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                   kk_inertia_solid_sphere(mass, 0.5 * size));
    kk_shape_def def = scene_shape_def(type, body, 0, 0, 0, 0);
    def.mesh = mesh;
    scene_shape(s, &def);
    return body;
}
