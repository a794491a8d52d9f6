// The mesh object: builder, welding, parts and materials, polygons, edges and checks.
#include <math.h>
#include <string.h>

#include "shapes.h"

// ---- edges

// V - E + F = 2, every edge with two faces that run against each other, all references mutual
KK_TEST(box_has_eighteen_edges) {
    kki_mesh *mesh = shapes_box(1, 2, 3, kk_transform_identity());
    kki_topology *t = shapes_topology(mesh);
    KK_CHECK_EQ_INT(t->edge_count, 18);
    KK_CHECK(t->check.is_closed && t->check.is_oriented && t->check.is_manifold);
    KK_CHECK_EQ_INT(t->check.components, 1);
    for (int e = 0; e < t->edge_count; e++) {
        for (int side = 0; side < 2; side++) {
            const int32_t f = t->edge[e].face[side];
            const int32_t from = t->edge[e].vertex[side], to = t->edge[e].vertex[1 - side];
            int found = 0;
            for (int k = 0; k < 3; k++) {
                found += t->face_edge[f][k] == e && mesh->face[f].vertex[k] == from &&
                         mesh->face[f].vertex[(k + 1) % 3] == to;
            }
            KK_CHECK_EQ_INT(found, 1);
        }
    }
    int listed = 0;
    for (int v = 0; v < t->vertex_count; v++) {
        for (int i = t->vertex_first[v]; i < t->vertex_first[v + 1]; i++) {
            const kki_edge *e = &t->edge[t->vertex_edge[i]];
            KK_CHECK(e->vertex[0] == v || e->vertex[1] == v);
            KK_CHECK(i == t->vertex_first[v] || t->vertex_edge[i - 1] < t->vertex_edge[i]);
            listed++;
        }
    }
    KK_CHECK_EQ_INT(listed, 36);
    kki_topology_free(t);
    kki_mesh_free(mesh);
}

static kki_mesh_check check_of(const kk_vec3 *vertex, int vertices, const kki_face *face, int faces) {
    kki_mesh *mesh = shapes_mesh(vertex, vertices, face, faces);
    kki_topology *t = shapes_topology(mesh);
    const kki_mesh_check check = t->check;
    for (int f = 0; f < faces; f++) {
        for (int k = 0; k < 3; k++) {
            KK_CHECK(t->face_edge[f][k] >= 0 && t->face_edge[f][k] < t->edge_count);
        }
    }
    kki_topology_free(t);
    kki_mesh_free(mesh);
    return check;
}

KK_TEST(faults_of_a_surface_are_counted) {
    kk_vec3 p[16];
    kki_face f[32];
    shapes_box_corners(1, 1, 1, p);
    memcpy(f, SHAPES_BOX_FACES, sizeof SHAPES_BOX_FACES);
    // a missing face
    kki_mesh_check c = check_of(p, 8, f, 11);
    KK_CHECK(!c.is_closed && c.is_oriented && c.is_manifold);
    KK_CHECK_EQ_INT(c.boundary_edges, 3);
    // a turned face
    f[0] = (kki_face){{0, 3, 2}};
    c = check_of(p, 8, f, 12);
    KK_CHECK(c.is_closed && !c.is_oriented);
    KK_CHECK_EQ_INT(c.misoriented_edges, 3);
    // a face twice: its edges have three faces
    memcpy(f, SHAPES_BOX_FACES, sizeof SHAPES_BOX_FACES);
    f[12] = (kki_face){{3, 0, 2}};
    c = check_of(p, 8, f, 13);
    KK_CHECK(!c.is_manifold && !c.is_closed);
    KK_CHECK_EQ_INT(c.nonmanifold_edges, 3);
    KK_CHECK_EQ_INT(c.duplicate_faces, 1);
    KK_CHECK_EQ_INT(c.boundary_edges, 3);
}

// two tetrahedra that share one vertex, or one edge
KK_TEST(touching_solids_are_not_manifold) {
    const kki_face tetra[4] = {{{0, 2, 1}}, {{0, 1, 3}}, {{1, 2, 3}}, {{2, 0, 3}}};
    const int32_t at_vertex[4] = {0, 4, 5, 6}, at_edge[4] = {0, 1, 4, 5};
    kk_vec3 p[7] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {0, 0, -1}, {-1, 0, 0}};
    kki_face f[8];
    for (int i = 0; i < 4; i++) {
        f[i] = tetra[i];
        for (int k = 0; k < 3; k++) {
            f[4 + i].vertex[k] = at_vertex[tetra[i].vertex[k]];
        }
    }
    kki_mesh_check c = check_of(p, 7, f, 8);
    KK_CHECK(c.is_closed && c.is_oriented && !c.is_manifold);
    KK_CHECK_EQ_INT(c.nonmanifold_vertices, 1);
    KK_CHECK_EQ_INT(c.components, 2);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            f[4 + i].vertex[k] = at_edge[tetra[i].vertex[k]];
        }
    }
    c = check_of(p, 6, f, 8);
    KK_CHECK(c.is_closed && !c.is_manifold);
    KK_CHECK_EQ_INT(c.nonmanifold_edges, 1);
    KK_CHECK_EQ_INT(c.components, 1);
    c = check_of(p, 7, f, 8);
    KK_CHECK_EQ_INT(c.isolated_vertices, 1);
}

// a strip of quadrilaterals in disguise, in pieces: components numbered by their first face
KK_TEST(components_are_numbered_by_first_face) {
    enum { N = 50 };
    kk_vec3 p[3 * N];
    kki_face f[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++) {
            p[3 * i + k] = kk_vec3_make(i, k == 1, k == 2);
        }
        // faces of even number share the vertices 0 and 1
        f[i] = i % 2 ? (kki_face){{3 * i, 3 * i + 1, 3 * i + 2}} : (kki_face){{0, 1, 3 * i + 2}};
    }
    kki_mesh *mesh = shapes_mesh(p, 3 * N, f, N);
    kki_topology *t = shapes_topology(mesh);
    KK_CHECK_EQ_INT(t->check.components, 1 + N / 2);
    for (int i = 0; i < N; i++) {
        KK_CHECK_EQ_INT(t->component[i], i % 2 ? 1 + i / 2 : 0);
    }
    kki_topology_free(t);
    kki_mesh_free(mesh);
}

// ---- welding

KK_TEST(equal_vertices_are_welded) {
    kk_vec3 p[6] = {{0, 1, 2}, {3, 4, 5}, {-0.0, 1, 2}, {0, 1, 2}, {3, 4, 5.000000000000001}, {3, 4, 5}};
    int32_t remap[6], count = 0;
    KK_CHECK_EQ_INT(kki_weld(p, 6, 0, NULL, remap, &count), KK_OK);
    const int32_t expected[6] = {0, 1, 0, 0, 2, 1};
    KK_CHECK_EQ_INT(count, 3);
    KK_CHECK_BYTES(remap, expected, sizeof expected);
    KK_CHECK_BITS(p[2].z, 5.000000000000001);
}

// against the slow definition: the earliest kept vertex within the tolerance
KK_TEST(near_vertices_are_welded_to_the_earliest) {
    enum { N = 2000 };
    static kk_vec3 p[N], kept[N];
    static int32_t remap[N];
    kk_random random = {3, 1, 0};
    const double tolerance = 0.1;
    for (int i = 0; i < N; i++) {
        p[i] = shapes_point(&random);
    }
    static kk_vec3 q[N];
    memcpy(q, p, sizeof p);
    int32_t count = 0, slow = 0;
    KK_CHECK_EQ_INT(kki_weld(p, N, tolerance, NULL, remap, &count), KK_OK);
    for (int i = 0; i < N; i++) {
        int32_t k = 0;
        while (k < slow && kk_vec3_norm(kk_vec3_sub(kept[k], q[i])) > tolerance) {
            k++;
        }
        if (k == slow) {
            kept[slow++] = q[i];
        }
        KK_CHECK_EQ_INT(remap[i], k);
    }
    KK_CHECK_EQ_INT(count, slow);
    KK_CHECK(count < N && count > 100);
}

// ---- builder

KK_TEST(builder_tidies) {
    kki_mesh_builder b;
    kki_mesh *mesh = NULL;
    kki_mesh_builder_begin(&b, NULL);
    const kk_vec3 p[7] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {9, 9, 9}, {2, 0, 0}, {0, 0, 1}};
    for (int i = 0; i < 7; i++) {
        KK_CHECK_EQ_INT(kki_mesh_builder_add_vertex(&b, p[i]), KK_OK);
    }
    kki_mesh_builder_add_face(&b, 0, 1, 2);
    kki_mesh_builder_set_part(&b, "two", 3, -1);
    kki_mesh_builder_add_face(&b, 1, 3, 2); // degenerate once 3 is welded to 1
    kki_mesh_builder_set_part(&b, "three", 5, -1);
    kki_mesh_builder_add_face(&b, 0, 1, 5); // on a line
    kki_mesh_builder_add_face(&b, 3, 6, 2);
    const kki_mesh_tidy_options options = {0};
    KK_CHECK_EQ_INT(kki_mesh_builder_end(&b, &options, NULL, &mesh, NULL), KK_OK);
    kki_mesh_builder_free(&b);
    KK_CHECK_EQ_INT(mesh->vertex_count, 5);
    KK_CHECK_EQ_INT(mesh->face_count, 3);
    KK_CHECK_EQ_INT(mesh->tidying.welded_vertices, 1);
    KK_CHECK_EQ_INT(mesh->tidying.degenerate_faces, 1);
    KK_CHECK_EQ_INT(mesh->tidying.zero_area_faces, 1);
    KK_CHECK_EQ_INT(mesh->tidying.unused_vertices, 1);
    KK_CHECK_EQ_INT(mesh->part_count, 3);
    KK_CHECK_STR(mesh->part[0].name, "");
    KK_CHECK_STR(mesh->part[1].name, "two");
    KK_CHECK_EQ_INT(mesh->part[1].face_count, 0);
    KK_CHECK_STR(mesh->part[2].name, "three");
    KK_CHECK_EQ_INT(mesh->part[2].first_face, 1);
    KK_CHECK_EQ_INT(mesh->part[2].face_count, 2);
    KK_CHECK_EQ_INT(kki_mesh_part_of_face(mesh, 0), 0);
    KK_CHECK_EQ_INT(kki_mesh_part_of_face(mesh, 2), 2);
    kki_mesh_free(mesh);
}

KK_TEST(builder_refuses_what_is_no_mesh) {
    const kk_vec3 p[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, bad[1] = {{0, (double)NAN, 0}};
    const kki_face f[1] = {{{0, 1, 3}}}, negative[1] = {{{0, -1, 2}}};
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kki_mesh_create(p, 3, f, 1, NULL, &mesh, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "vertex 3") != NULL);
    KK_CHECK_EQ_INT(kki_mesh_create(p, 3, negative, 1, NULL, &mesh, &error), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kki_mesh_create(bad, 1, NULL, 0, NULL, &mesh, &error), KK_NOT_FINITE);
    KK_CHECK_EQ_INT(kki_mesh_create(p, -1, f, 1, NULL, &mesh, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(mesh == NULL);
}

// many names: the table grows and each is found again
KK_TEST(materials_are_found_by_name) {
    enum { N = 1000 };
    kki_mesh_builder b;
    kki_mesh_builder_begin(&b, NULL);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) {
            char name[3] = {(char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676)};
            int32_t id = -1;
            KK_CHECK_EQ_INT(kki_mesh_builder_material(&b, name, 3, &id), KK_OK);
            KK_CHECK_EQ_INT(id, i);
        }
    }
    int32_t empty = -1, again = -2;
    kki_mesh_builder_material(&b, "", 0, &empty);
    kki_mesh_builder_material(&b, "", 0, &again);
    KK_CHECK_EQ_INT(empty, N);
    KK_CHECK_EQ_INT(again, N);
    KK_CHECK_EQ_INT(b.material_count, N + 1);
    kki_mesh_builder_free(&b);
}

// ---- polygons

static double area_of(const kk_vec3 *p, kki_face t) {
    const kk_vec3 n =
        kk_vec3_cross(kk_vec3_sub(p[t.vertex[1]], p[t.vertex[0]]), kk_vec3_sub(p[t.vertex[2]], p[t.vertex[0]]));
    return 0.5 * n.z;
}

// The triangles of a simple polygon all look up, and their areas sum up to its own (shoelace).
static void check_polygon(const kk_vec3 *p, int count) {
    int32_t corner[64], left[64];
    kki_face triangle[64];
    double shoelace = 0, sum = 0;
    for (int i = 0; i < count; i++) {
        const kk_vec3 a = p[i], b = p[(i + 1) % count];
        corner[i] = i;
        shoelace += 0.5 * (a.x * b.y - a.y * b.x);
    }
    kki_triangulate(p, corner, count, left, triangle);
    for (int i = 0; i < count - 2; i++) {
        const double area = area_of(p, triangle[i]);
        KK_CHECK(area >= -1e-12);
        sum += area;
    }
    KK_CHECK_NEAR(sum, shoelace, 1e-12);
}

KK_TEST(polygons_are_cut_into_triangles) {
    const kk_vec3 arrow[4] = {{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {1, 1, 0}};
    const kk_vec3 comb[8] = {{0, 0, 0}, {5, 0, 0}, {5, 3, 0}, {4, 1, 0}, {3, 3, 0}, {2, 1, 0}, {1, 3, 0}, {0, 1, 0}};
    check_polygon(arrow, 4);
    check_polygon(comb, 8);
    kk_random random = {7, 7, 0};
    for (int round = 0; round < 500; round++) { // stars: simple, mostly not convex
        kk_vec3 p[40];
        const int count = 4 + round % 36;
        for (int i = 0; i < count; i++) {
            const double a = 6.283185307179586 * i / count, r = kk_random_next_between(&random, 0.2, 1);
            p[i] = kk_vec3_make(r * cos(a), r * sin(a), 0);
        }
        check_polygon(p, count);
    }
}
