// The tree of boxes against all boxes one by one, and surfaces against all their triangles.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/height_field.h"
#include "geometry/surface.h"
#include "shapes.h"

static const double PI = 3.14159265358979323846;

enum { BOXES = 700 };

typedef struct forest {
    kki_tree tree;
    kki_aabb box[BOXES];
    int32_t item[BOXES];
    _Alignas(64) kki_tree_node node[BOXES];
} forest;

static kki_aabb random_box(kk_random *r, double size) {
    const kk_vec3 p = shapes_point(r);
    const double x = kk_random_next_uniform(r), y = kk_random_next_uniform(r), z = kk_random_next_uniform(r);
    return (kki_aabb){p, {p.x + size * x, p.y + size * y, p.z + size * z}};
}

static forest *plant(int count, double size, int leaf, uint64_t seed) {
    forest *f = aligned_alloc(64, (sizeof *f + 63) / 64 * 64);
    kk_random r = {seed, 0, 0};
    f->tree = (kki_tree){.node = f->node, .item = f->item};
    for (int i = 0; i < count; i++) {
        f->box[i] = random_box(&r, size);
    }
    kki_tree_build(&f->tree, f->box, count, leaf);
    return f;
}

static int count_by_walk(const forest *f, const kki_aabb *query, int *seen) {
    kki_tree_walk walk;
    int32_t first, count;
    int hits = 0;
    kki_tree_walk_begin(&walk, &f->tree, query);
    while (kki_tree_walk_next(&walk, &first, &count)) {
        for (int32_t i = first; i < first + count; i++) {
            const int32_t k = f->tree.item[i];
            if (kki_aabb_touch(&f->box[k], query)) {
                seen[k]++;
                hits++;
            }
        }
    }
    return hits;
}

// every box that touches is met once, whatever the leaf's size
KK_TEST(tree_finds_all_boxes) {
    const int leaves[] = {1, 4, 7}, counts[] = {0, 1, 2, 5, 64, BOXES};
    for (int l = 0; l < 3; l++) {
        for (int c = 0; c < 6; c++) {
            forest *f = plant(counts[c], 0.2, leaves[l], 7);
            kk_random r = {3, 0, 0};
            for (int q = 0; q < 100; q++) {
                const kki_aabb query = random_box(&r, 0.5);
                int seen[BOXES] = {0}, expected = 0;
                const int hits = count_by_walk(f, &query, seen);
                for (int i = 0; i < counts[c]; i++) {
                    expected += kki_aabb_touch(&f->box[i], &query);
                    KK_CHECK(seen[i] <= 1);
                }
                KK_CHECK_EQ_INT(hits, expected);
            }
            free(f);
        }
    }
}

// floats are rounded outwards: a query that only touches a face of a box is not missed
static double distance_of_box(const kki_aabb *b, kk_vec3 p) {
    const double x = fmax(0, fmax(b->lower.x - p.x, p.x - b->upper.x)),
                 y = fmax(0, fmax(b->lower.y - p.y, p.y - b->upper.y));
    const double z = fmax(0, fmax(b->lower.z - p.z, p.z - b->upper.z));
    return sqrt(x * x + y * y + z * z);
}

// every box within a ball is met once, and none that is farther than rounding from it where leaves are single boxes
KK_TEST(ball_walk_meets_what_is_near_and_no_more) {
    for (int i = 0; i < 300; i++) {
        forest *f = plant(i % 100 ? BOXES : 0, 0.2, i % 2 ? 1 : 4, 7 + (uint64_t)i % 3);
        kk_random r = {3, 0, (uint64_t)i * 100};
        const kk_vec3 p = shapes_point(&r);
        const double radius = i % 5 ? 0.4 * kk_random_next_uniform(&r) : 0;
        int seen[BOXES] = {0};
        kki_ball_walk walk;
        int32_t first, count;
        kki_ball_walk_begin(&walk, &f->tree, p, radius);
        while (kki_ball_walk_next(&walk, &first, &count)) {
            for (int32_t k = first; k < first + count; k++) {
                seen[f->tree.item[k]]++;
            }
        }
        for (int k = 0; k < f->tree.item_count; k++) {
            const double distance = distance_of_box(&f->box[k], p);
            KK_CHECK(seen[k] <= 1 && (seen[k] == 1 || distance > radius));
            KK_CHECK(!(i % 2) || !seen[k] || distance < radius + 1e-3);
        }
        free(f);
    }
}

KK_TEST(tree_boxes_are_rounded_outwards) {
    forest *f = plant(BOXES, 0.1, 4, 11);
    for (int i = 0; i < BOXES; i++) {
        const kki_aabb b = f->box[i];
        const kki_aabb query = {{b.upper.x, b.upper.y, b.upper.z}, {b.upper.x + 1, b.upper.y + 1, b.upper.z + 1}};
        int seen[BOXES] = {0};
        count_by_walk(f, &query, seen);
        KK_CHECK_EQ_INT(seen[i], 1);
    }
    const double values[] = {0, 1e-300, -1e-300, 0.1, -0.1, 1e20, 1e300, -1e300, 1 + 1e-12};
    for (int i = 0; i < 9; i++) {
        KK_CHECK((double)kki_float_below(values[i]) <= values[i]);
        KK_CHECK((double)kki_float_above(values[i]) >= values[i]);
    }
    free(f);
}

// equal boxes cannot be separated by bins; infinite ones have no center; the depth stays bounded
KK_TEST(tree_of_degenerate_boxes) {
    forest *f = plant(BOXES, 0.1, 4, 5);
    const double inf = INFINITY;
    for (int i = 0; i < BOXES; i++) {
        f->box[i] = i % 3 == 0   ? (kki_aabb){{-inf, -inf, -inf}, {inf, inf, 0}}
                    : i % 3 == 1 ? (kki_aabb){{1, 1, 1}, {1, 1, 1}}
                                 : (kki_aabb){{1e-200 * i, 0, 0}, {1e-200 * i, 0, 0}};
    }
    kki_tree_build(&f->tree, f->box, BOXES, 1);
    int seen[BOXES] = {0};
    const kki_aabb query = {{-2, -2, -2}, {2, 2, 2}};
    KK_CHECK_EQ_INT(count_by_walk(f, &query, seen), BOXES);
    // an endless query, and one that is no box
    const kki_aabb endless = {{-inf, -inf, -inf}, {inf, inf, inf}}, nothing = {{NAN, NAN, NAN}, {NAN, NAN, NAN}};
    KK_CHECK_EQ_INT(count_by_walk(f, &endless, seen), BOXES);
    KK_CHECK_EQ_INT(count_by_walk(f, &nothing, seen), 0);
    free(f);
}

static bool ray_meets_box(const kki_aabb *b, kk_vec3 p, kk_vec3 d, double limit) {
    const double o[3] = {p.x, p.y, p.z}, v[3] = {d.x, d.y, d.z};
    const double low[3] = {b->lower.x, b->lower.y, b->lower.z}, high[3] = {b->upper.x, b->upper.y, b->upper.z};
    double in = 0, out = limit;
    for (int k = 0; k < 3; k++) {
        if (v[k] == 0) {
            if (o[k] < low[k] || o[k] > high[k]) {
                return false;
            }
            continue;
        }
        const double a = (low[k] - o[k]) / v[k], c = (high[k] - o[k]) / v[k];
        in = fmax(in, fmin(a, c));
        out = fmin(out, fmax(a, c));
    }
    return in <= out;
}

// rays meet every box they pass, those along the axes and those that start on a face included
KK_TEST(ray_walk_misses_no_box) {
    forest *f = plant(BOXES, 0.3, 4, 23);
    kk_random r = {9, 0, 0};
    for (int q = 0; q < 400; q++) {
        kk_vec3 p = kk_vec3_scale(shapes_point(&r), 2), d = shapes_point(&r);
        const kki_aabb b = f->box[q % BOXES];
        if (q % 4 == 1) {
            d = kk_vec3_make(0, q % 8 == 1 ? 1 : -1, 0);
        } else if (q % 4 == 2) {
            p = b.lower;
            d = kk_vec3_make(q % 8 == 2 ? 1e-30 : 0, 0, -1);
        }
        const double limit = q % 3 == 0 ? 1.5 : 1e9;
        kki_ray_walk walk;
        int32_t first, count;
        int seen[BOXES] = {0};
        kki_ray_walk_begin(&walk, &f->tree, p, d, limit);
        while (kki_ray_walk_next(&walk, limit, &first, &count)) {
            for (int32_t i = first; i < first + count; i++) {
                seen[f->tree.item[i]]++;
            }
        }
        for (int i = 0; i < BOXES; i++) {
            KK_CHECK(seen[i] == 1 || (seen[i] == 0 && !ray_meets_box(&f->box[i], p, d, limit)));
        }
    }
    free(f);
}

// ---- surfaces

static kki_surface *surface_of(kki_mesh *mesh) {
    kki_surface *s = NULL;
    kk_error error = {0};
    if (kki_surface_create(mesh, NULL, &s, &error) != KK_OK) {
        KK_FAIL("surface: %s", error.text);
    }
    kki_mesh_free(mesh);
    return s;
}

KK_TEST(surface_of_a_box) {
    kki_surface *s = surface_of(shapes_box(2, 4, 6, kk_transform_identity()));
    int kinds[4] = {0};
    for (int e = 0; e < s->edge_count; e++) {
        kinds[s->edge_kind[e]]++;
    }
    KK_CHECK(s->is_solid);
    KK_CHECK_EQ_INT(kinds[KKI_EDGE_CONVEX], 12);
    KK_CHECK_EQ_INT(kinds[KKI_EDGE_FLAT], 6);
    for (int v = 0; v < 8; v++) {
        const kk_vec3 n = s->vertex_normal[v], p = s->vertex[v];
        // the three right angles weigh the three faces alike
        KK_CHECK_NEAR(n.x, p.x > 0 ? PI / 2 : -PI / 2, 1e-14);
        KK_CHECK_NEAR(n.z, p.z > 0 ? PI / 2 : -PI / 2, 1e-14);
        KK_CHECK(!s->vertex_is_flat[v]);
    }
    for (int f = 0; f < 12; f++) {
        KK_CHECK_EQ_INT(s->region[f], f / 2 * 2);
        KK_CHECK_BITS(kk_vec3_norm(s->normal[f]), 1.0);
    }
    kki_surface_free(s);
}

// a closed mesh that is inside out is turned; its edges stay mutual
KK_TEST(surface_inside_out_is_turned) {
    kk_vec3 corner[8];
    kki_face face[12];
    shapes_box_corners(1, 1, 1, corner);
    for (int f = 0; f < 12; f++) {
        face[f] =
            (kki_face){{SHAPES_BOX_FACES[f].vertex[0], SHAPES_BOX_FACES[f].vertex[2], SHAPES_BOX_FACES[f].vertex[1]}};
    }
    kki_surface *s = surface_of(shapes_mesh(corner, 8, face, 12));
    for (int f = 0; f < 12; f++) {
        KK_CHECK(kk_vec3_dot(s->normal[f], s->vertex[s->face[f].vertex[0]]) > 0);
        for (int k = 0; k < 3; k++) {
            const kki_edge *e = &s->edge[s->face_edge[f][k]];
            const int32_t a = s->face[f].vertex[k], b = s->face[f].vertex[(k + 1) % 3];
            KK_CHECK(e->face[a > b] == f && e->vertex[a > b] == a && e->vertex[a < b] == b);
        }
    }
    int convex = 0;
    for (int e = 0; e < s->edge_count; e++) {
        convex += s->edge_kind[e] == KKI_EDGE_CONVEX;
    }
    KK_CHECK_EQ_INT(convex, 12);
    kki_surface_free(s);
}

// a torus of 2 · n · m triangles: closed, not convex
static kki_mesh *torus(int n, int m, double big, double small) {
    kk_vec3 *v = malloc(sizeof *v * (size_t)(n * m));
    kki_face *f = malloc(sizeof *f * (size_t)(2 * n * m));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            const double a = 2 * PI * i / n, b = 2 * PI * j / m, r = big + small * cos(b);
            v[i * m + j] = kk_vec3_make(r * cos(a), r * sin(a), small * sin(b));
            const int32_t p = i * m + j, q = (i + 1) % n * m + j, s = (i + 1) % n * m + (j + 1) % m,
                          t = i * m + (j + 1) % m;
            f[2 * (i * m + j)] = (kki_face){{p, q, s}};
            f[2 * (i * m + j) + 1] = (kki_face){{p, s, t}};
        }
    }
    kki_mesh *mesh = shapes_mesh(v, n * m, f, 2 * n * m);
    free(v);
    free(f);
    return mesh;
}

// nearest by the tree = nearest of all triangles; the side by pseudo-normals = the side by the torus' own equation
KK_TEST(surface_closest_point_and_side) {
    kki_surface *s = surface_of(torus(24, 12, 1, 0.4));
    kk_random r = {5, 0, 0};
    KK_CHECK(s->is_solid);
    for (int q = 0; q < 500; q++) {
        const kk_vec3 p = kk_vec3_scale(shapes_point(&r), 2);
        double least = INFINITY;
        for (int f = 0; f < s->face_count; f++) {
            const kk_vec3 c[3] = {s->vertex[s->face[f].vertex[0]], s->vertex[s->face[f].vertex[1]],
                                  s->vertex[s->face[f].vertex[2]]};
            least = fmin(least, kk_vec3_norm(kk_vec3_sub(kki_triangle_closest(c, p).p, p)));
        }
        const kki_surface_point near = kki_surface_closest(s, p, 10);
        KK_CHECK_BITS(near.distance, least);
        const double from_ring = hypot(hypot(p.x, p.y) - 1, p.z);
        if (from_ring > 0.41 || from_ring < 0.37) {
            KK_CHECK(near.is_inside == (from_ring < 0.38));
        }
        KK_CHECK(kki_surface_closest(s, p, least * 0.999).face < 0);
    }
    kki_surface_free(s);
}

// Beyond the tip of a long needle the nearest feature is its vertex, and the plane of the nearest face says the wrong side
// for about half of the directions; the pseudo-normal is right for all (Baerentzen and Aanaes).
KK_TEST(pseudo_normals_are_right_at_a_sharp_tip) {
    const kk_vec3 v[4] = {{0, 0, 0}, {1, 0.02, 0.3}, {1, 0.01, -0.3}, {1, -0.03, 0.1}};
    const kki_face f[4] = {{{0, 1, 2}}, {{0, 2, 3}}, {{0, 3, 1}}, {{1, 3, 2}}};
    kki_surface *s = surface_of(shapes_mesh(v, 4, f, 4));
    int wrong_by_face = 0;
    kk_random r = {17, 0, 0};
    for (int i = 0; i < 1000; i++) {
        const kk_vec3 u = shapes_point(&r), p = {-0.5 - 0.4 * u.x, 0.2 * u.y, 0.05 * u.z};
        const kki_surface_point q = kki_surface_closest(s, p, 10);
        KK_CHECK(!q.is_inside);
        wrong_by_face += kk_vec3_dot(kk_vec3_sub(p, q.p), s->normal[q.face]) < 0;
    }
    KK_CHECK(wrong_by_face > 100); // or the test tests nothing
    kki_surface_free(s);
}

// the nearest point of a triangle by sampling barycentric coordinates finely
KK_TEST(triangle_closest_is_nearest) {
    kk_random r = {6, 0, 0};
    for (int q = 0; q < 200; q++) {
        const kk_vec3 c0 = shapes_point(&r), c1 = shapes_point(&r), c2 = shapes_point(&r);
        kk_vec3 c[3] = {c0, c1, c2};
        const kk_vec3 p = kk_vec3_scale(shapes_point(&r), 2);
        if (q % 10 == 0) {
            c[2] = kk_vec3_add(c[0], kk_vec3_scale(kk_vec3_sub(c[1], c[0]), 0.3)); // no area
        }
        const kki_triangle_point t = kki_triangle_closest(c, p);
        const double d = kk_vec3_norm(kk_vec3_sub(t.p, p));
        for (int i = 0; i <= 20; i++) {
            for (int j = 0; i + j <= 20; j++) {
                const kk_vec3 x =
                    kk_vec3_add(kk_vec3_scale(c[0], i / 20.0),
                                kk_vec3_add(kk_vec3_scale(c[1], j / 20.0), kk_vec3_scale(c[2], (20 - i - j) / 20.0)));
                KK_CHECK(d <= kk_vec3_norm(kk_vec3_sub(x, p)) + 1e-14);
            }
        }
    }
}

KK_TEST(surface_refuses_far_coordinates) {
    const kk_vec3 v[3] = {{0, 0, 0}, {1e16, 0, 0}, {0, 1, 0}};
    const kki_face f[1] = {{{0, 1, 2}}};
    kki_mesh *mesh = shapes_mesh(v, 3, f, 1);
    kki_surface *s = NULL;
    kk_error error;
    KK_CHECK_EQ_INT(kki_surface_create(mesh, NULL, &s, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(s == NULL && strstr(error.text, "vertex 1"));
    kki_mesh_free(mesh);
}

// ---- height fields

// neighbors are mutual, the interpolated height lies in the plane of the face above, normals are those of the corners
KK_TEST(height_field_faces_fit_together) {
    enum { ROWS = 5, COLUMNS = 7 };
    double h[ROWS * COLUMNS];
    kk_random r = {12, 0, 0};
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        h[i] = shapes_uniform(&r);
    }
    kki_height_field *f = NULL;
    KK_CHECK_EQ_INT(kki_height_field_create(ROWS, COLUMNS, 3, 2, h, -2, NULL, &f, NULL), KK_OK);
    for (int32_t face = 0; face < kki_height_field_faces(f); face++) {
        int32_t row[3], column[3];
        kk_vec3 p[3];
        kki_height_field_corners(f, face, row, column);
        for (int k = 0; k < 3; k++) {
            p[k] = kki_height_field_vertex(f, row[k], column[k]);
            const int32_t other = kki_height_field_neighbor(f, face, k);
            int back = other < 0;
            for (int i = 0; i < 3 && other >= 0; i++) {
                back += kki_height_field_neighbor(f, other, i) == face;
            }
            KK_CHECK_EQ_INT(back, 1);
        }
        const kk_vec3 cross = kk_vec3_cross(kk_vec3_sub(p[1], p[0]), kk_vec3_sub(p[2], p[0]));
        const kk_vec3 n = kki_height_field_normal(f, face);
        KK_CHECK_NEAR(kk_vec3_dot(n, cross), kk_vec3_norm(cross), 1e-14);
        const kk_vec3 middle = kk_vec3_scale(kk_vec3_add(p[0], kk_vec3_add(p[1], p[2])), 1.0 / 3);
        KK_CHECK_NEAR(kki_height_field_at(f, middle.x, middle.y), middle.z, 1e-14);
    }
    h[3] = -2;
    kki_height_field *bad = NULL;
    kk_error error;
    KK_CHECK_EQ_INT(kki_height_field_create(ROWS, COLUMNS, 3, 2, h, -2, NULL, &bad, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "row 0, column 3"));
    kki_height_field_free(f);
}
