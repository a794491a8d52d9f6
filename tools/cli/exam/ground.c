// Row 21: things that move over a flat floor made of many triangles must not feel the edges between them.
#include <stdlib.h>

#include "rows.h"
#include "scene.h"

enum { COLUMNS = 1000, ROWS = 500 }; // two triangles a cell

/// A flat sheet at z = 0 from the origin on, `cell` wide and deep a cell.
static int add_sheet(scene *s, double cell, int material) {
    const int across = COLUMNS + 1;
    kk_vec3 *vertex = cli_allocate((size_t)across * (ROWS + 1), sizeof *vertex);
    int32_t(*face)[3] = cli_allocate((size_t)2 * COLUMNS * ROWS, sizeof *face);
    for (int i = 0; i < across * (ROWS + 1); i++) {
        const int row = i / across;
        vertex[i] = kk_vec3_make(cell * (i % across), cell * row, 0);
    }
    for (int i = 0; i < COLUMNS * ROWS; i++) {
        const int32_t a = (i / COLUMNS) * across + i % COLUMNS, b = a + 1, c = a + across, d = c + 1;
        int32_t *low = face[2 * i], *high = face[2 * i + 1];
        low[0] = a;
        low[1] = b;
        low[2] = d;
        high[0] = a;
        high[1] = d;
        high[2] = c;
    }
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "sheet";
    mesh.vertex = vertex;
    mesh.vertex_count = across * (ROWS + 1);
    mesh.face = (const int32_t(*)[3])face;
    mesh.face_count = 2 * COLUMNS * ROWS;
    kk_shape_def def = scene_shape_def(KK_SHAPE_MESH, KK_WORLD, 0, 0, 0, material);
    kk_error error = {0};
    if (!s->is_broken && kk_spec_add_mesh(s->spec, &mesh, &def.mesh, &error) != KK_OK) {
        scene_break(s, error.text);
    }
    free(vertex);
    free(face);
    return scene_shape(s, &def);
}

static int add_capsule(scene *s, int material) {
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                   kk_inertia_solid_box(1, 0.4, 0.1, 0.1));
    kk_shape_def def = scene_shape_def(KK_SHAPE_CAPSULE, body, 0.05, 0.3, 0, material);
    def.placement.R = kk_mat3_from_rpy(0, 1.57079632679489661923, 0);
    scene_shape(s, &def);
    return body;
}

static void run_sheet(exam *e) {
    enum { THINGS = 4 };
    static const char *const names[] = {"sphere sliding", "sphere rolling", "box sliding", "capsule sliding"};
    scene s;
    scene_begin(&s, e, 9.81);
    const int smooth = scene_material(&s, 0, 0), rough = scene_material(&s, 0.5, 0);
    add_sheet(&s, 0.02, 0);
    const int thing[] = {scene_ball(&s, 1, 0.1, smooth), scene_ball(&s, 1, 0.1, rough),
                         scene_box(&s, 1, 0.3, 0.2, 0.1, smooth), add_capsule(&s, smooth)};
    scene_ready_dt(&s, 1e-3);
    static const double heights[] = {0.1, 0.1, 0.05, 0.05};
    // askew, so that edges of all three directions are crossed
    const double vx = 5 * kk_cos(0.2), vy = 5 * kk_sin(0.2);
    for (int i = 0; i < THINGS; i++) {
        double *v = scene_v(&s, thing[i]);
        scene_place(&s, thing[i], 1.003, 1.001 + 1.5 * i, heights[i]);
        v[3] = vx;
        v[4] = vy;
        v[0] = i == 1 ? -vy / 0.1 : 0;
        v[1] = i == 1 ? vx / 0.1 : 0;
    }
    const int panel = exam_plot(e, "vertical speed", "time [s]", "|vz| [m/s]", true);
    double worst[THINGS] = {0};
    while (scene_time(&s) < 3 && scene_step(&s)) {
        for (int i = 0; i < THINGS; i++) {
            const double vz = exam_abs(scene_velocity(&s, thing[i]).z);
            worst[i] = exam_max(worst[i], vz);
            exam_point(e, panel, names[i], scene_time(&s), vz);
        }
    }
    for (int i = 0; i < THINGS; i++) {
        char name[EXAM_TEXT];
        snprintf(name, sizeof name, "%s: vertical speed, m/s", names[i]);
        exam_at_most(e, name, s.is_broken ? 1 : worst[i], 1e-9);
    }
    scene_end(&s);
}

const exam_row exam_rows_ground[] = {
    {21, "sphere, box, capsule at 5 m/s over a flat mesh of a million triangles", "flat", "ghost edges", false,
     run_sheet},
    {0, NULL, NULL, NULL, false, NULL},
};
