// The convex hull: properties that every hull has, volumes by brute force, and a battery of degenerate sets.
#include "geometry/hull.h"

#include <karakuri/hash.h>
#include <math.h>
#include <string.h>

#include "geometry/exact.h"
#include "geometry/mass.h"
#include "shapes.h"

static kk_vec3 normal_of(const kki_mesh *m, int f) {
    const kk_vec3 a = m->vertex[m->face[f].vertex[0]], b = m->vertex[m->face[f].vertex[1]];
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(b, a), kk_vec3_sub(m->vertex[m->face[f].vertex[2]], a));
    return kk_vec3_scale(n, 1 / kk_vec3_norm(n));
}

// the farthest any point lies outside of any face
static double worst_outside(const kki_mesh *m, const kk_vec3 *p, int count) {
    double worst = 0;
    for (int f = 0; f < m->face_count; f++) {
        const kk_vec3 n = normal_of(m, f), a = m->vertex[m->face[f].vertex[0]];
        for (int i = 0; i < count; i++) {
            const double d = kk_vec3_dot(n, kk_vec3_sub(p[i], a));
            worst = d > worst ? d : worst;
        }
    }
    return worst;
}

static int is_point_of(const kk_vec3 *p, int count, kk_vec3 v) {
    for (int i = 0; i < count; i++) {
        if (p[i].x == v.x && p[i].y == v.y && p[i].z == v.z) {
            return 1;
        }
    }
    return 0;
}

// Closed, oriented, manifold, one piece, V - E + F = 2, and its vertices are points of the set.
static void check_topology(const kki_mesh *m, const kk_vec3 *p, int count) {
    kki_topology *t = shapes_topology(m);
    KK_CHECK(t->check.is_closed && t->check.is_oriented && t->check.is_manifold);
    KK_CHECK_EQ_INT(t->check.components, 1);
    KK_CHECK_EQ_INT(t->check.isolated_vertices, 0);
    KK_CHECK_EQ_INT(m->vertex_count - t->edge_count + m->face_count, 2);
    kki_topology_free(t);
    for (int i = 0; i < m->vertex_count; i += 1 + m->vertex_count / 50) {
        KK_CHECK(is_point_of(p, count, m->vertex[i]));
    }
}

static kki_mesh *hull_of(const kk_vec3 *p, int count) {
    kki_mesh *mesh = NULL;
    kk_error error = {0};
    if (kki_hull_of_points(p, count, NULL, NULL, &mesh, &error) != KK_OK) {
        KK_FAIL("hull: %s", error.text);
    }
    return mesh;
}

static double volume_of(const kki_mesh *mesh) {
    kki_mass m = {0};
    KK_CHECK_EQ_INT(kki_mass_of_mesh(mesh, KKI_MASS_SOLID, NULL, &m, NULL, NULL), KK_OK);
    return m.volume;
}

// ---- exact signs

#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
// against 128-bit numbers where these are enough
KK_TEST(exact_signs_agree_with_wide_integers) {
    kk_random random = {11, 1, 0};
    for (int round = 0; round < 20000; round++) {
        const double size = ldexp(1, 1 + round % 38);
        double x[9];
        for (int i = 0; i < 9; i++) {
            x[i] = floor(size * shapes_uniform(&random));
        }
        const kk_vec3 u = {x[0], x[1], x[2]}, v = {x[3], x[4], x[5]}, w = {x[6], x[7], x[8]};
        const kki_exact_cross n = kki_exact_cross_of(u, v);
        __extension__ typedef __int128 wide;
        const wide a = (wide)u.y * (wide)v.z - (wide)u.z * (wide)v.y, b = (wide)u.z * (wide)v.x - (wide)u.x * (wide)v.z;
        const wide c = (wide)u.x * (wide)v.y - (wide)u.y * (wide)v.x;
        const wide dot = a * (wide)w.x + b * (wide)w.y + c * (wide)w.z;
        KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, w), dot > 0 ? 1 : dot < 0 ? -1 : 0);
        KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, u), 0);
        KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, v), 0);
        const kk_vec3 r = kki_rounded_cross(&n);
        KK_CHECK_REL(r.x, (double)a, 1e-15);
    }
}
#endif

// the largest numbers of the grid: a plane through them, and points one unit off it
KK_TEST(exact_signs_at_the_end_of_the_grid) {
    const double big = 2251799813685248.0; // 2^51
    const kk_vec3 u = {big, -big, 0}, v = {big, 0, -big};
    const kki_exact_cross n = kki_exact_cross_of(u, v);
    KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, (kk_vec3){big, 0, -big}), 0);
    KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, (kk_vec3){big, 1, -big}), 1);
    KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, (kk_vec3){big, -1, -big}), -1);
    KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, (kk_vec3){big, big, big}), 1);
    KK_CHECK_EQ_INT(kki_exact_dot_sign(&n, (kk_vec3){-big, -big, -big}), -1);
}

// ---- known hulls

KK_TEST(hull_of_a_grid_is_a_box) {
    static kk_vec3 p[1000];
    for (int i = 0; i < 1000; i++) {
        const int x = i % 10, y = i / 10 % 10, z = i / 100;
        p[i] = kk_vec3_make(0.1 * x, 0.3 * y, z);
    }
    kki_mesh *m = hull_of(p, 1000);
    KK_CHECK_EQ_INT(m->vertex_count, 8);
    KK_CHECK_EQ_INT(m->face_count, 12);
    KK_CHECK_EQ_INT(m->facet[11], 5);
    KK_CHECK_REL(volume_of(m), 0.9 * (0.3 * 9) * 9, 1e-14);
    check_topology(m, p, 1000);
    kki_mesh_free(m);
}

KK_TEST(hull_of_random_points_holds_them) {
    static kk_vec3 p[3000];
    kk_random random = {5, 2, 0};
    for (int shape = 0; shape < 3; shape++) {
        for (int count = 4; count <= 3000; count = count * 3 + 1) {
            for (int i = 0; i < count; i++) {
                p[i] = shapes_point(&random);
                p[i] = shape == 1 ? kk_vec3_scale(p[i], 1 / kk_vec3_norm(p[i])) : p[i];
                p[i] = shape == 2 ? kk_vec3_make(round(3 * p[i].x), round(3 * p[i].y), round(3 * p[i].z)) : p[i];
            }
            kki_mesh *m = NULL;
            if (kki_hull_of_points(p, count, NULL, NULL, &m, NULL) == KK_OK) {
                KK_CHECK(worst_outside(m, p, count) < 1e-11);
                check_topology(m, p, count);
            } else {
                KK_CHECK(count == 4 || shape == 2);
            }
            kki_mesh_free(m);
        }
    }
}

// a triple of points is a face of the hull where all others lie below it
static int is_face(const kk_vec3 *p, int count, int i, int j, int k) {
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(p[j], p[i]), kk_vec3_sub(p[k], p[i]));
    for (int q = 0; q < count; q++) {
        if (q != i && q != j && q != k && kk_vec3_dot(n, kk_vec3_sub(p[q], p[i])) >= 0) {
            return 0;
        }
    }
    return 1;
}

// volume over all triples, the first point the least, for points in general position
static double brute_volume(const kk_vec3 *p, int count, int *faces) {
    double volume = 0;
    *faces = 0;
    for (int n = 0; n < count * count * count; n++) {
        const int i = n / count / count, j = n / count % count, k = n % count;
        if (j > i && k > i && j != k && is_face(p, count, i, j, k)) {
            volume += kk_vec3_dot(p[i], kk_vec3_cross(p[j], p[k])) / 6;
            ++*faces;
        }
    }
    return volume;
}

KK_TEST(hull_volume_by_brute_force) {
    kk_random random = {9, 4, 0};
    for (int round = 0; round < 60; round++) {
        kk_vec3 p[24];
        int faces = 0;
        const int count = 5 + round % 20;
        for (int i = 0; i < count; i++) {
            p[i] = shapes_point(&random);
        }
        const double volume = brute_volume(p, count, &faces);
        kki_mesh *m = hull_of(p, count);
        KK_CHECK_EQ_INT(m->face_count, faces);
        KK_CHECK_REL(volume_of(m), volume, 1e-12);
        kki_mesh_free(m);
    }
}

// the axes may be scaled by anything
KK_TEST(hull_of_extreme_aspects) {
    const double scale[] = {1e-9, 1, 1e9, 1e-150, 1e150, 1e-300};
    kk_vec3 p[300];
    for (int sx = 0; sx < 6; sx++) {
        for (int sz = 0; sz < 3; sz++) {
            kk_random random = {4, 4, 0};
            for (int i = 0; i < 300; i++) {
                const kk_vec3 q = shapes_point(&random);
                const double n = 1 / kk_vec3_norm(q), s = scale[sx];
                p[i] = kk_vec3_make(q.x * n * s, q.y * n * s, q.z * n * s * scale[sz]);
            }
            kki_mesh *m = hull_of(p, 300);
            KK_CHECK(m->vertex_count > 290);
            check_topology(m, p, 300);
            kki_mesh_free(m);
        }
    }
}

// rounding of rotated coordinates must not turn flat faces into thousands of slivers
KK_TEST(hull_of_a_rotated_box_stays_small) {
    static kk_vec3 p[5000];
    kk_random random = {8, 8, 0};
    const kk_mat3 R = kk_mat3_from_rpy(0.4, 1.1, -0.3);
    for (int i = 0; i < 5000; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = shapes_uniform(&random);
        }
        x[i % 3] = x[i % 3] < 0 ? -1 : 1;
        p[i] = kk_mat3_mul_vec(R, i < 8 ? kk_vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)
                                        : kk_vec3_make(x[0], x[1], x[2]));
    }
    kki_mesh *m = hull_of(p, 5000);
    KK_CHECK_EQ_INT(m->vertex_count, 8);
    KK_CHECK_REL(volume_of(m), 8, 1e-12);
    KK_CHECK(worst_outside(m, p, 5000) < 1e-12);
    kki_mesh_free(m);
}

KK_TEST(flat_sets_are_named) {
    kk_vec3 p[100];
    kki_mesh *m = NULL;
    kk_error error = {0};
    for (int kind = 0; kind < 6; kind++) {
        const char *words[] = {"at one place", "on a line", "in a plane", "on a line", "in a plane", "4"};
        const kk_mat3 R = kk_mat3_from_rpy(0.1 * kind, 0.2, 0.3);
        for (int i = 0; i < 100; i++) {
            const double x = kind == 0 ? 0 : i / 7.0, y = kind == 2 || kind == 4 ? (i * i) % 17 : 0;
            const kk_vec3 q = kk_vec3_make(x, y, 0);
            p[i] = kind < 3 ? q : kk_vec3_add(kk_mat3_mul_vec(R, q), kk_vec3_make(0.3, 100, -7));
        }
        KK_CHECK_EQ_INT(kki_hull_of_points(p, kind == 5 ? 3 : 100, NULL, NULL, &m, &error), KK_SINGULAR);
        KK_CHECK(m == NULL);
        if (!strstr(error.text, words[kind])) {
            KK_FAIL("%d: %s", kind, error.text);
        }
    }
    p[7].y = (double)INFINITY;
    KK_CHECK_EQ_INT(kki_hull_of_points(p, 100, NULL, NULL, &m, &error), KK_NOT_FINITE);
}

// ---- degenerate battery

// one coordinate of a random degenerate kind
static double odd_number(kk_random *random, int kind) {
    double x;
    static const double SPECIAL[] = {
        0, -0.0, 1, -1, 0.5, 1e-300, 5e-324, -5e-324, 1e300, -1e300, 1e-9, 1e9, 1 + 2.220446049250313e-16};
    switch (kind) {
    case 0: return (double)kk_random_next_below(random, 3) - 1;
    case 1: return SPECIAL[kk_random_next_below(random, 13)];
    case 2: x = shapes_uniform(random); return ldexp(x, (int)kk_random_next_below(random, 100) - 50);
    case 3: return 1 + 2.220446049250313e-16 * (double)kk_random_next_below(random, 4);
    case 4: x = 1e-12 * shapes_uniform(random); return x + (double)kk_random_next_below(random, 2);
    default: return shapes_uniform(random);
    }
}

static int fill_odd_set(kk_random *random, kk_vec3 *p) {
    const int count = 4 + (int)kk_random_next_below(random, 40);
    int kind[3];
    for (int k = 0; k < 3; k++) {
        kind[k] = (int)kk_random_next_below(random, 6);
    }
    const int copies = (int)kk_random_next_below(random, 3), is_combined = (int)kk_random_next_below(random, 2);
    for (int i = 0; i < count; i++) {
        const double x = odd_number(random, kind[0]), y = odd_number(random, kind[1]), z = odd_number(random, kind[2]);
        p[i] = copies && i > 4 && i % 3 == 0 ? p[i / 2]
                                             : kk_vec3_make(x, y, is_combined && kind[2] != 1 ? 0.5 * x + 0.5 * y : z);
    }
    return count;
}

static double largest(kk_vec3 v) {
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
}

// normalized by the extent along each axis, as the hull's tolerance is; by no less than the rounding allows
static double worst_relative(const kki_mesh *m, const kk_vec3 *p, int count) {
    kk_vec3 low = p[0], high = p[0], q[64], v[64];
    for (int i = 1; i < count; i++) {
        low = kk_vec3_make(fmin(low.x, p[i].x), fmin(low.y, p[i].y), fmin(low.z, p[i].z));
        high = kk_vec3_make(fmax(high.x, p[i].x), fmax(high.y, p[i].y), fmax(high.z, p[i].z));
    }
    const double least = ldexp(fmax(largest(low), largest(high)), -31);
    const kk_vec3 size = {fmax(high.x / 2 - low.x / 2, least), fmax(high.y / 2 - low.y / 2, least),
                          fmax(high.z / 2 - low.z / 2, least)};
    for (int i = 0; i < count; i++) {
        q[i] = kk_vec3_make((p[i].x / 2 - low.x / 2) / size.x, (p[i].y / 2 - low.y / 2) / size.y,
                            (p[i].z / 2 - low.z / 2) / size.z);
    }
    for (int i = 0; i < m->vertex_count; i++) {
        const kk_vec3 w = m->vertex[i];
        v[i] = kk_vec3_make((w.x / 2 - low.x / 2) / size.x, (w.y / 2 - low.y / 2) / size.y,
                            (w.z / 2 - low.z / 2) / size.z);
    }
    double worst = 0;
    for (int f = 0; f < m->face_count; f++) {
        const kk_vec3 a = v[m->face[f].vertex[0]];
        const kk_vec3 n =
            kk_vec3_cross(kk_vec3_sub(v[m->face[f].vertex[1]], a), kk_vec3_sub(v[m->face[f].vertex[2]], a));
        const double norm = kk_vec3_norm(n);
        for (int i = 0; i < count && norm > 1e-9; i++) { // slivers have no normal in doubles
            const double d = kk_vec3_dot(n, kk_vec3_sub(q[i], a)) / norm;
            worst = d > worst ? d : worst;
        }
    }
    return worst;
}

KK_TEST(ten_thousand_degenerate_hulls) {
    kk_random random = {2024, 6, 0};
    int solid = 0, flat = 0;
    const int rounds = kk_test_is_quick() ? 1000 : 10000;
    for (int round = 0; round < rounds; round++) {
        kk_vec3 p[64];
        const int count = fill_odd_set(&random, p);
        kki_mesh *m = NULL;
        kk_error error = {0};
        const kk_status status = kki_hull_of_points(p, count, NULL, NULL, &m, &error);
        if (status == KK_OK) {
            solid++;
            check_topology(m, p, count);
            const double worst = worst_relative(m, p, count);
            if (!(worst < 1e-5)) {
                KK_FAIL("round %d: %d points, outside by %g of the extent", round, count, worst);
            }
        } else {
            flat++;
            KK_CHECK_EQ_INT(status, KK_SINGULAR);
            KK_CHECK(error.text[0] && !m);
        }
        kki_mesh_free(m);
    }
    if (solid < rounds / 8 || flat < rounds / 20) {
        KK_FAIL("%d solid and %d flat sets: the battery tests one kind only", solid, flat);
    }
}

// A coarse tolerance leaves points out, but none farther than it: also those that seem near from the face they were given
// to and lie far out of another.
KK_TEST(no_point_is_farther_out_than_the_tolerance) {
    kk_random random = {31, 5, 0};
    for (int round = 0; round < (kk_test_is_quick() ? 300 : 3000); round++) {
        kk_vec3 p[60];
        const kki_hull_options options = {.tolerance = 0.3 * kk_random_next_uniform(&random)};
        for (int i = 0; i < 60; i++) {
            p[i] = shapes_point(&random);
            p[i] = round % 2 ? p[i] : kk_vec3_scale(p[i], 1 / kk_vec3_norm(p[i]));
        }
        kki_mesh *m = NULL;
        if (kki_hull_of_points(p, 60, &options, NULL, &m, NULL) == KK_OK) {
            check_topology(m, p, 60);
            KK_CHECK(worst_relative(m, p, 60) <= options.tolerance * (1 + 1e-12));
        }
        kki_mesh_free(m);
    }
}

// ---- same bits

// One number for hull, edges and mass properties; every compiler, level and machine must come to it.
KK_TEST(hull_and_mass_have_the_same_bits_everywhere) {
    static kk_vec3 p[2000];
    kk_random random = {77, 3, 0};
    kk_hash hash = kk_hash_begin(0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2000; i++) {
            p[i] = shapes_point(&random);
            p[i] = round == 1 ? kk_vec3_scale(p[i], 1 / kk_vec3_norm(p[i])) : p[i];
            p[i].z *= round == 2 ? 1e-9 : 1;
        }
        kki_mesh *m = hull_of(p, 2000);
        kki_topology *t = shapes_topology(m);
        kk_hash_update_doubles(&hash, &m->vertex[0].x, 3 * (size_t)m->vertex_count);
        for (int e = 0; e < t->edge_count; e++) {
            kk_hash_update_uint64(&hash, (uint64_t)t->edge[e].vertex[0] << 32 | (uint64_t)t->edge[e].vertex[1]);
            kk_hash_update_uint64(&hash, (uint64_t)t->edge[e].face[0] << 32 | (uint64_t)t->edge[e].face[1]);
        }
        for (int mode = KKI_MASS_SOLID; mode <= KKI_MASS_CONES; mode++) {
            kki_mass mass;
            KK_CHECK_EQ_INT(kki_mass_of_mesh(m, (kki_mass_mode)mode, NULL, &mass, NULL, NULL), KK_OK);
            kk_hash_update_doubles(&hash, &mass.volume, sizeof mass / sizeof mass.volume);
        }
        kki_topology_free(t);
        kki_mesh_free(m);
    }
    KK_CHECK_EQ_INT(kk_hash_finish(&hash), 0xbc31e9d2224e10eeu);
}
