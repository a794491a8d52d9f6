// What parts triangles of two meshes before they are looked at closely, against distances of all pairs one by one.
#include <string.h>

#include "bodies.h"
#include "collision/distance.h"
#include "geometry/leaf.h"
#include "geometry/tree_pair.h"
#include "meshes.h"

static double distance_of(const kk_vec3 a[3], const kk_vec3 b[3]) {
    const kki_core p = kki_core_triangle(a, 0), q = kki_core_triangle(b, 0);
    const kk_transform I = kk_transform_identity();
    kki_pair_memory memory = {0};
    kki_separation r;
    kki_core_separation_between(&p, &I, &q, &I, &memory, &r);
    return r.distance;
}

// ---- leaves

static void draw_triangle(kk_random *r, kk_vec3 o, double size, double thin, kk_vec3 v[3]) {
    for (int k = 0; k < 3; k++) {
        v[k] = kk_vec3_add(o, kk_vec3_scale(shapes_point(r), size));
    }
    v[2] = kk_vec3_add(kk_vec3_scale(v[2], thin), kk_vec3_scale(v[1], 1 - thin));
}

// A leaf of 1 to 4 triangles.
typedef struct drawn {
    kk_vec3 corner[KKI_LEAF][3];
    int count;
    kki_leaf leaf;
} drawn;

static void draw_leaf(kk_random *r, kk_vec3 o, double size, double thin, drawn *d) {
    d->count = 1 + (int)kk_random_next_below(r, KKI_LEAF);
    for (int i = 0; i < d->count; i++) {
        draw_triangle(r, o, size, i % 2 ? thin : 1, d->corner[i]);
    }
    kki_leaf_set(&d->leaf, (const kk_vec3(*)[3])d->corner, 0, d->count);
}

// "apart" is true, at any size and place, of slivers too, and lanes without a triangle meet nothing; most of those that are
// apart are told
KK_TEST(triangles_of_leaves_that_are_parted_are_apart) {
    kk_random r = {31, 0, 0};
    int apart = 0, told = 0;
    for (int i = 0; i < 6000; i++) {
        const double size = i % 3 == 0 ? 1 : i % 3 == 1 ? 1e-3 : 1e3, thin = i % 5 ? 1 : 1e-7;
        const kk_vec3 o = kk_vec3_scale(shapes_point(&r), (i % 7 ? 10 : 1e6) * size);
        const double limit = i % 2 ? 0 : 0.1 * size * kk_random_next_uniform(&r);
        const kk_transform X = meshes_random_pose(&r, size);
        drawn a, b;
        draw_leaf(&r, o, size, thin, &a);
        draw_leaf(&r, kk_transform_point(kk_transform_inverse(X), o), size, thin, &b);
        kki_leaf_frames frames;
        kki_leaf_frames_set(&frames, &X, limit);
        unsigned met = kki_leaves_meet(&a.leaf, &b.leaf, &frames);
        for (int j = 0; j < b.count; j++) {
            kk_vec3 q[3];
            for (int k = 0; k < 3; k++) {
                q[k] = kk_transform_point(X, b.corner[j][k]);
            }
            for (int k = 0; k < a.count; k++) {
                const double distance = distance_of(a.corner[k], q);
                const bool is_parted = !(met >> (4 * j + k) & 1);
                KK_CHECK(!is_parted || distance > limit);
                apart += distance > limit + 1e-3 * size;
                told += is_parted && distance > limit + 1e-3 * size;
                met &= ~(1u << (4 * j + k));
            }
        }
        KK_CHECK(met == 0);
    }
    KK_CHECK(apart > 8000 && told > apart - apart / 8);
}

static unsigned meet_one(const kk_vec3 a[3], const kk_vec3 b[3]) {
    const kk_transform I = kk_transform_identity();
    kki_leaf p, q;
    kki_leaf_frames frames;
    kki_leaf_set(&p, (const kk_vec3(*)[3])a, 0, 1);
    kki_leaf_set(&q, (const kk_vec3(*)[3])b, 0, 1);
    kki_leaf_frames_set(&frames, &I, 0);
    return kki_leaves_meet(&p, &q, &frames);
}

// corners at one place, edges along one line, no size at all: where they touch they meet
KK_TEST(degenerate_triangles_that_touch_are_not_parted) {
    const kk_vec3 point[3] = {{1, 2, 0}, {1, 2, 0}, {1, 2, 0}}, line[3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}};
    const kk_vec3 flat[3] = {{0, 0, 0}, {3, 0, 0}, {0, 9, 0}}, same[3] = {{0, 0, 0}, {3, 0, 0}, {0, 9, 0}};
    KK_CHECK(meet_one(point, flat) == 1 && meet_one(flat, point) == 1 && meet_one(point, point) == 1);
    KK_CHECK(meet_one(line, line) == 1 && meet_one(flat, same) == 1 && meet_one(line, flat) == 1);
}

// ---- trees

typedef struct visits {
    const kki_surface *a, *b;
    uint8_t *seen; // [faces of a × faces of b]
    long count;
} visits;

static void note_leaves(void *user, const kki_leaf *a, const kki_leaf *b) {
    visits *v = user;
    for (int k = 0; k < KKI_LEAF * KKI_LEAF; k++) {
        const int i = k % KKI_LEAF, j = k / KKI_LEAF;
        if (a->v[0][0][i] == a->v[0][0][i] && b->v[0][0][j] == b->v[0][0][j]) { // triangles, not empty lanes
            v->seen[(a->first + i) * v->b->face_count + b->first + j]++;
            v->count++;
        }
    }
}

// every pair that is near is met once, and few that are not; returns how many of all are met
static double check_pairs(const kki_surface *a, const kki_surface *b, kk_transform X, double limit) {
    visits v = {a, b, calloc((size_t)a->face_count * (size_t)b->face_count, 1), 0};
    kki_tree_pairs(&a->pairs, &b->pairs, &X, limit, note_leaves, &v);
    for (int32_t j = 0; j < b->face_count; j++) {
        kk_vec3 q[3];
        for (int k = 0; k < 3; k++) {
            q[k] = kk_transform_point(X, b->corner[j][k]);
        }
        for (int32_t i = 0; i < a->face_count; i++) {
            const int seen = v.seen[i * b->face_count + j];
            KK_CHECK(seen <= 1 && (seen == 1 || distance_of(a->corner[i], q) > limit));
        }
    }
    free(v.seen);
    return (double)v.count / ((double)a->face_count * b->face_count);
}

static double meshes_steep(double x, double y) {
    return 2 * x + y + 0.05 * sin(7 * x);
}

KK_TEST(two_trees_meet_all_that_is_near) {
    kki_surface *s[4] = {
        meshes_surface(meshes_sheet(8, 2, meshes_hills)), meshes_surface(meshes_ball(12, 9, 0.7)),
        meshes_surface(shapes_box(0.4, 0.5, 0.6, kk_transform_identity())), // one node
        meshes_surface(meshes_sheet(1, 1, meshes_flat)),                    // one leaf
    };
    kk_random r = {32, 0, 0};
    double met = 0;
    const int rounds = kk_test_is_quick() ? 3 : 12;
    for (int i = 0; i < 16 * rounds; i++) {
        kk_transform X = meshes_random_pose(&r, 1.2);
        met += check_pairs(s[i % 4], s[i / 4 % 4], X, i % 3 == 0 ? 0 : 0.1 * kk_random_next_uniform(&r));
    }
    KK_CHECK(met < 0.25 * 16 * rounds);
    for (int i = 0; i < 4; i++) {
        kki_surface_free(s[i]);
    }
}

// slabs: two slanted sheets, one above the other, whose boxes are all through each other
KK_TEST(slabs_part_slanted_sheets) {
    kki_surface *s = meshes_surface(meshes_sheet(16, 2, meshes_steep));
    const kk_transform X = kk_transform_translation(0, 0, 0.4);
    KK_CHECK(check_pairs(s, s, X, 0) < 0.002);
    KK_CHECK(check_pairs(s, s, X, 0.5) > 0.01);
    kki_surface_free(s);
}

// ---- climbs

// of convex surfaces the farthest vertices, whichever the start, and both at once as each alone
KK_TEST(climbs_end_at_the_farthest_vertex) {
    kki_surface *a = meshes_surface(meshes_ball(14, 11, 0.7)), *b = meshes_surface(meshes_ball(9, 6, 1.3));
    kk_random r = {33, 0, 0};
    for (int i = 0; i < 500; i++) {
        const kk_vec3 d = bodies_unit(&r), e = bodies_unit(&r);
        int32_t at[2] = {(int32_t)kk_random_next_below(&r, (uint32_t)a->vertex_count),
                         (int32_t)kk_random_next_below(&r, (uint32_t)b->vertex_count)};
        kki_surface_climb(a, d, b, e, 100, INFINITY, at);
        for (int32_t v = 0; v < a->vertex_count; v++) {
            KK_CHECK(kk_vec3_dot(d, a->vertex[v]) <= kk_vec3_dot(d, a->vertex[at[0]]));
        }
        for (int32_t v = 0; v < b->vertex_count; v++) {
            KK_CHECK(kk_vec3_dot(e, b->vertex[v]) <= kk_vec3_dot(e, b->vertex[at[1]]));
        }
    }
    int32_t start[2] = {0, 0}; // the lowest; one step at most
    kki_surface_climb(a, kk_vec3_make(0, 0, 1), b, kk_vec3_make(0, 0, -1), 1, INFINITY, start);
    KK_CHECK(a->vertex[start[0]].z > a->vertex[0].z && a->vertex[start[0]].z < 0);
    KK_CHECK_EQ_INT(start[1], 0);
    kki_surface_free(a);
    kki_surface_free(b);
}
