// Convex polyhedra: their parts fit together, and the farthest corner is the farthest.
#include "geometry/convex.h"

#include <math.h>

#include "../collision/bodies.h"
#include "shapes.h"

static void check_faces(const kki_convex *c) {
    for (int f = 0; f < c->face_count; f++) {
        const kki_convex_face *face = &c->face[f];
        KK_CHECK(face->count >= 3);
        KK_CHECK_NEAR(kk_vec3_norm(face->normal), 1, 1e-14);
        for (int i = 0; i < face->count; i++) {
            KK_CHECK_NEAR(kk_vec3_dot(face->normal, c->vertex[c->loop[face->first + i]]), face->offset, 1e-12);
        }
        for (int v = 0; v < c->vertex_count; v++) {
            KK_CHECK(kk_vec3_dot(face->normal, c->vertex[v]) <= face->offset + 1e-12);
        }
    }
}

// every edge stands in its two faces' loops, in opposite directions
static int loop_has(const kki_convex *c, int f, int from, int to) {
    const kki_convex_face *face = &c->face[f];
    for (int i = 0; i < face->count; i++) {
        if (c->loop[face->first + i] == from && c->loop[face->first + (i + 1) % face->count] == to) {
            return 1;
        }
    }
    return 0;
}

static void check_edges(const kki_convex *c) {
    KK_CHECK_EQ_INT(c->vertex_count - c->edge_count + c->face_count, 2);
    for (int e = 0; e < c->edge_count; e++) {
        const kki_convex_edge *edge = &c->edge[e];
        KK_CHECK(loop_has(c, edge->face[0], edge->vertex[0], edge->vertex[1]));
        KK_CHECK(loop_has(c, edge->face[1], edge->vertex[1], edge->vertex[0]));
    }
    for (int v = 0; v < c->vertex_count; v++) {
        KK_CHECK(c->neighbor_from[v + 1] - c->neighbor_from[v] >= 3);
    }
}

static void check_support(const kki_convex *c, kk_random *random) {
    int hint = -1;
    for (int k = 0; k < 300; k++) {
        const kk_vec3 d = bodies_unit(random);
        double best = -1e300;
        for (int v = 0; v < c->vertex_count; v++) {
            const double s = kk_vec3_dot(c->vertex[v], d);
            best = s > best ? s : best;
        }
        hint = kki_convex_support(c, d, k % 3 ? hint : -1);
        KK_CHECK_NEAR(kk_vec3_dot(c->vertex[hint], d), best, 1e-15);
    }
}

KK_TEST(convex_parts_fit_together) {
    kk_random random = {3, 1, 0};
    for (int n = 4; n <= 512; n *= 2) {
        kki_convex *c = bodies_hull(&random, n);
        check_faces(c);
        check_edges(c);
        check_support(c, &random);
        KK_CHECK(c->inner > 0 && c->inner <= c->outer && c->outer < 2);
        kki_convex_free(c);
    }
}

// the two triangles of a box's side are one face
KK_TEST(convex_box_has_six_faces) {
    kk_vec3 corner[8];
    kki_mesh *mesh = NULL;
    kki_convex *c = NULL;
    shapes_box_corners(2, 4, 6, corner);
    KK_CHECK_EQ_INT(kki_hull_of_points(corner, 8, NULL, NULL, &mesh, NULL), KK_OK);
    KK_CHECK_EQ_INT(kki_convex_create(mesh, NULL, &c, NULL), KK_OK);
    KK_CHECK_EQ_INT(c->face_count, 6);
    KK_CHECK_EQ_INT(c->edge_count, 12);
    KK_CHECK_NEAR(c->inner, 1, 1e-15);
    KK_CHECK_NEAR(c->outer, sqrt(14), 1e-15);
    check_faces(c);
    check_edges(c);
    kki_convex_free(c);
    kki_mesh_free(mesh);
}

// an open surface is refused, with a word about what to do
KK_TEST(convex_of_open_mesh_is_refused) {
    kk_vec3 corner[8];
    kki_convex *c = NULL;
    kk_error error = {0};
    shapes_box_corners(1, 1, 1, corner);
    kki_mesh *mesh = shapes_mesh(corner, 8, SHAPES_BOX_FACES, 11);
    KK_CHECK_EQ_INT(kki_convex_create(mesh, NULL, &c, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(c == NULL && error.text[0]);
    kki_mesh_free(mesh);
}
