// Every shape against meshes, height fields and planes, through the table of pairs. A closed convex mesh is its hull: the
// signed distance of hulls, found by other means, judges all contacts of shallow depth.
#include <stdio.h>
#include <stdlib.h>

#include "bodies.h"
#include "collision/distance.h"
#include "meshes.h"

enum { ROOM = 64 };

typedef struct result {
    int count;
    kki_manifold m[ROOM];
} result;

static result collide(const kki_shape *a, kk_transform X_WA, const kki_shape *b, kk_transform X_WB, double reach) {
    result r = {0};
    kki_pair_memory memory = {0};
    r.count = kki_collide(a, &X_WA, b, &X_WB, reach, &memory, r.m, ROOM);
    KK_CHECK(r.count >= 0);
    r.count = r.count < 0 ? ROOM : r.count;
    return r;
}

static double least_gap(const result *r) {
    double least = INFINITY;
    for (int i = 0; i < r->count; i++) {
        for (int k = 0; k < r->m[i].count; k++) {
            least = fmin(least, r->m[i].point[k].gap);
        }
    }
    return least;
}

static kki_convex *hull_of(const kki_surface *s) {
    kki_mesh *mesh = NULL;
    kki_convex *convex = NULL;
    kk_error error = {0};
    if (kki_hull_of_points(s->vertex, s->vertex_count, NULL, NULL, &mesh, &error) != KK_OK ||
        kki_convex_create(mesh, NULL, &convex, &error) != KK_OK) {
        KK_FAIL("hull: %s", error.text);
    }
    kki_mesh_free(mesh);
    return convex;
}

// ---- flat ground

typedef struct ground {
    kki_surface *surface;
    kki_height_field *field;
    kki_shape shape[2];
} ground;

static ground make_ground(int n, double size) {
    ground g = {meshes_surface(meshes_sheet(n, size, meshes_flat)), meshes_field(n, size, -1, meshes_flat), {{0}}};
    g.shape[0] = (kki_shape){.type = KK_SHAPE_MESH, .surface = g.surface};
    g.shape[1] = (kki_shape){.type = KK_SHAPE_HEIGHT_FIELD, .field = g.field};
    return g;
}

static void free_ground(ground *g) {
    kki_surface_free(g->surface);
    kki_height_field_free(g->field);
}

static bool all_are(const result *r, kk_vec3 n) {
    bool good = r->count > 0;
    for (int i = 0; i < r->count; i++) {
        good = good && r->m[i].normal.x == n.x && r->m[i].normal.y == n.y && r->m[i].normal.z == n.z;
    }
    return good;
}

// one normal, exactly the ground's; the least gap is the plane's
static void check_on_ground(const ground *g, const kki_shape *s, kk_transform X, double gap) {
    const kki_shape plane = {.type = KK_SHAPE_PLANE};
    const kk_transform I = kk_transform_identity();
    kki_separation d;
    KK_CHECK(kki_distance(&plane, &I, s, &X, NULL, &d));
    X.p.z += gap - d.distance;
    for (int k = 0; k < 2; k++) {
        const result q = collide(&g->shape[k], I, s, X, 2e-3), turned = collide(s, X, &g->shape[k], I, 2e-3);
        KK_CHECK(all_are(&q, kk_vec3_make(0, 0, 1)) && all_are(&turned, kk_vec3_make(0, 0, -1)));
        KK_CHECK_EQ_INT(q.count, 1);
        KK_CHECK_NEAR(least_gap(&q), gap, 1e-12);
        KK_CHECK_NEAR(least_gap(&turned), gap, 1e-12);
    }
}

KK_TEST(every_shape_on_flat_ground) {
    ground g = make_ground(60, 12);
    kk_random r = {21, 0, 0};
    kki_convex *few = bodies_hull(&r, 12), *many = bodies_hull(&r, 100), *hull[2] = {few, many};
    for (int i = 0; i < 600; i++) {
        const int type = 1 + i % KK_SHAPE_HULL;
        kki_shape s = bodies_shape(&r, type, hull[i / 10 % 2]);
        kk_transform X = {.R = bodies_rotation(&r)};
        X.p.x = 3 * shapes_uniform(&r);
        X.p.y = 3 * shapes_uniform(&r);
        if (i % 3 == 0) { // standing and lying
            X.R = kk_mat3_from_rpy(i % 2 ? KK_HALF_PI : 0, 0, 3 * shapes_uniform(&r));
        }
        check_on_ground(&g, &s, X, 1e-3 * shapes_uniform(&r));
    }
    kki_convex_free(hull[0]);
    kki_convex_free(hull[1]);
    free_ground(&g);
}

// a cylinder on its base has its rim's points, on its side the line's two ends, whatever the triangles are
KK_TEST(cylinder_stands_and_lies_on_flat_ground) {
    ground g = make_ground(60, 6);
    const kki_shape c = {.type = KK_SHAPE_CYLINDER, .half = {0.3, 0.4}};
    for (int k = 0; k < 2; k++) {
        const kk_transform I = kk_transform_identity();
        for (int i = 0; i < 20; i++) {
            const double x = 0.07 * i - 0.5;
            const result up = collide(&g.shape[k], I, &c, kk_transform_translation(x, 0.3, 0.4 - 1e-5), 1e-4);
            KK_CHECK(up.count == 1 && up.m[0].count == 8);
            const kk_mat3 R = kk_mat3_from_rpy(KK_HALF_PI, 0, 0.3);
            const result side = collide(&g.shape[k], I, &c, (kk_transform){R, {x, 0.3, 0.3 - 1e-5}}, 1e-4);
            KK_CHECK(side.count == 1 && side.m[0].count == 2);
            KK_CHECK_NEAR(kk_vec3_norm(kk_vec3_sub(side.m[0].point[0].position, side.m[0].point[1].position)), 0.8,
                          1e-6);
        }
    }
    free_ground(&g);
}

// ---- a convex mesh is its hull

static void random_places(kk_random *r, kk_transform *X, kk_transform *Y) {
    *X = bodies_pose(r, 0.5);
    *Y = bodies_pose(r, 0);
    Y->p = kk_vec3_add(X->p, bodies_offset(r, 1, 2.2));
}

// moves b along the normal to about a distance
static void bring_near(const kki_shape *a, kk_transform X, const kki_shape *b, kk_transform *Y, double distance) {
    kki_separation d;
    KK_CHECK(kki_distance(a, &X, b, Y, NULL, &d));
    Y->p = kk_vec3_add(Y->p, kk_vec3_scale(d.normal, distance - d.distance));
}

typedef struct tally {
    int apart, overlapping;
    double nearest; // how much nearer points were than bodies that are apart
} tally;

// a at X, b at Y touch as their hulls do, bodies of about one meter
static void check_against_hulls(const kki_shape *a, const kki_shape *a_hull, kk_transform X, const kki_shape *b,
                                const kki_shape *b_hull, kk_transform Y, tally *t) {
    const double reach = 0.05;
    kki_separation d;
    KK_CHECK(kki_distance(a_hull, &X, b_hull, &Y, NULL, &d));
    if (d.distance < -0.03) {
        return;
    }
    const result c = collide(a, X, b, Y, reach);
    if (d.distance > reach) {
        KK_CHECK_EQ_INT(c.count, 0);
        return;
    }
    t->apart += d.distance > 0;
    t->overlapping += d.distance <= 0;
    if (KK_CHECK(c.count > 0) && d.distance <= 0) {
        KK_CHECK_NEAR(least_gap(&c), d.distance, 1e-9);
    } else if (c.count > 0) {
        // apart, points lie over each other along the normals: never nearer than the bodies, but for those past the end of
        // a flat edge, where a plane reaches beyond its rim by the flat angle
        t->nearest = fmax(t->nearest, d.distance - least_gap(&c));
    }
}

// A convex mesh and the shapes that are thrown at it; the same numbers for the same seed and index.
typedef struct hull_case {
    kki_surface *surface;
    kki_convex *convex, *hull[2];
    kk_random random;
} hull_case;

static hull_case open_hulls(uint64_t seed) {
    hull_case c = {.surface = meshes_surface(meshes_ball(10, 7, 1)), .random = {seed, 0, 0}};
    c.convex = hull_of(c.surface);
    c.hull[0] = bodies_hull(&c.random, 16);
    c.hull[1] = bodies_hull(&c.random, 100);
    return c;
}

static void close_hulls(hull_case *c) {
    kki_convex_free(c->convex);
    kki_convex_free(c->hull[0]);
    kki_convex_free(c->hull[1]);
    kki_surface_free(c->surface);
}

static void try_hull_case(hull_case *c, int i, bool is_asked, tally t[KK_SHAPE_TYPE_COUNT]) {
    const int type = 1 + i % KK_SHAPE_HULL;
    kki_shape x = bodies_shape(&c->random, type, c->hull[i / 10 % 2]);
    kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = c->surface};
    kki_shape same = {.type = KK_SHAPE_HULL, .convex = c->convex};
    mesh.margin = same.margin = i % 5 == 0 ? 0.03 : 0;
    kk_transform X, Y;
    random_places(&c->random, &X, &Y);
    const double distance = bodies_between(&c->random, -0.03, 0.06);
    if (!is_asked) {
        return;
    }
    bring_near(&same, X, &x, &Y, distance);
    if (i % 2) {
        check_against_hulls(&mesh, &same, X, &x, &x, Y, &t[type]);
    } else {
        check_against_hulls(&x, &x, Y, &mesh, &same, X, &t[type]);
    }
}

KK_TEST(convex_meshes_are_their_hulls) {
    hull_case c = open_hulls(22);
    tally t[KK_SHAPE_TYPE_COUNT] = {{0}};
    for (int i = 0; i < (kk_test_is_quick() ? 1400 : 7000); i++) {
        try_hull_case(&c, i, true, t);
    }
    for (int type = 1; type <= KK_SHAPE_HULL; type++) {
        KK_CHECK(t[type].apart > (kk_test_is_quick() ? 10 : 100) &&
                 t[type].overlapping > (kk_test_is_quick() ? 1 : 10));
        KK_CHECK(t[type].nearest < 1e-9);
    }
    close_hulls(&c);
}

// Overlaps that once had no contact at all, or one too deep or too shallow, among a million: rims and corners over the
// edge between two triangles, and tips that came in past an edge and lie behind a triangle they are clear of. Of a hull
// whose frame was inside the mesh, but itself was not, a contact was told where there is none. The distance of two
// cylinders from the hulls was a nanometer short, of slivers of the simplex that the nearest point was not over.
KK_TEST(hulls_that_were_once_missed) {
    static const struct {
        uint64_t seed;
        int index;
    } CASE[] = {{22, 3736},         {22, 5644},        {62, 4497},         {62, 6457},         {152, 4217},
                {152, 5683},        {202, 6303},       {232, 6106},        {262, 818},         {262, 1973},
                {282, 4713},        {302, 1724},       {302, 31},          {42, 2698},         {1042, 4952},
                {1062, 52},         {1152, 3142},      {1606000051, 2862}, {1606000051, 5389}, {1606000051, 5529},
                {3102000078, 5385}, {3103000026, 1129}};
    tally t[KK_SHAPE_TYPE_COUNT] = {{0}};
    for (size_t k = 0; k < sizeof CASE / sizeof CASE[0]; k++) {
        hull_case c = open_hulls(CASE[k].seed);
        for (int i = 0; i <= CASE[k].index; i++) {
            try_hull_case(&c, i, i == CASE[k].index, t);
        }
        close_hulls(&c);
    }
}

// A flat height field is a box: top, walls and base, their edges and corners.
typedef struct flat_case {
    kki_height_field *field;
    kki_convex *convex;
} flat_case;

static flat_case open_flat(void) {
    flat_case c = {meshes_field(4, 2, -1.5, meshes_flat), NULL};
    kki_mesh *box = shapes_box(2, 2, 1.5, kk_transform_translation(0, 0, -0.75));
    KK_CHECK_EQ_INT(kki_convex_create(box, NULL, &c.convex, NULL), KK_OK);
    kki_mesh_free(box);
    return c;
}

static void close_flat(flat_case *c) {
    kki_convex_free(c->convex);
    kki_height_field_free(c->field);
}

// X, at a random place near the field, touches it as its hull touches the box
static void try_flat_case(const flat_case *c, long i, const kki_shape *x, const kki_shape *x_hull, kk_random *r,
                          tally *t) {
    const double margin = i % 5 == 0 ? 0.03 : 0;
    const kki_shape flat = {.type = KK_SHAPE_HEIGHT_FIELD, .field = c->field, .margin = margin};
    const kki_shape same = {.type = KK_SHAPE_HULL, .convex = c->convex, .margin = margin};
    kk_transform X, Y;
    random_places(r, &X, &Y);
    bring_near(&same, X, x_hull, &Y, bodies_between(r, -0.03, 0.06));
    if (i % 2) {
        check_against_hulls(&flat, &same, X, x, x_hull, Y, t);
    } else {
        check_against_hulls(x, x_hull, Y, &flat, &same, X, t);
    }
}

KK_TEST(flat_height_fields_are_boxes) {
    flat_case c = open_flat();
    kk_random r = {29, 0, 0};
    kki_convex *few = bodies_hull(&r, 16), *many = bodies_hull(&r, 100), *hull[2] = {few, many};
    tally t = {0};
    for (int i = 0; i < (kk_test_is_quick() ? 1400 : 14000); i++) {
        const kki_shape x = bodies_shape(&r, 1 + i % KK_SHAPE_HULL, hull[i / 10 % 2]);
        try_flat_case(&c, i, &x, &x, &r, &t);
    }
    KK_CHECK(t.apart > 100 && t.overlapping > 100 && t.nearest < 1e-9);
    kki_convex_free(hull[0]);
    kki_convex_free(hull[1]);
    close_flat(&c);
}

// and so it is to other meshes, at its rims too
static long compare_fields(uint64_t seed, long count) {
    flat_case c = open_flat();
    kki_surface *surface[2] = {meshes_surface(meshes_ball(6, 3, 0.6)),
                               meshes_surface(shapes_box(1, 0.8, 0.6, kk_transform_identity()))};
    kki_convex *hull[2] = {hull_of(surface[0]), hull_of(surface[1])};
    kk_random r = {seed, 0, 0};
    tally t = {0};
    for (long i = 0; i < count; i++) {
        const kki_shape x = {.type = KK_SHAPE_MESH, .surface = surface[i / 2 % 2]};
        const kki_shape x_hull = {.type = KK_SHAPE_HULL, .convex = hull[i / 2 % 2]};
        try_flat_case(&c, i, &x, &x_hull, &r, &t);
    }
    KK_CHECK(t.nearest < 1e-9);
    for (int k = 0; k < 2; k++) {
        kki_surface_free(surface[k]);
        kki_convex_free(hull[k]);
    }
    close_flat(&c);
    return t.overlapping;
}

KK_TEST(meshes_meet_flat_height_fields_as_boxes) {
    KK_CHECK(compare_fields(31, kk_test_is_quick() ? 900 : 9000) > 100);
}

// as many as KK_EXACT_PAIRS says, from KK_EXACT_SEED on (`make exact`)
KK_TEST(exact_depths_on_height_fields) {
    const char *count = getenv("KK_EXACT_PAIRS"), *seed = getenv("KK_EXACT_SEED");
    const long all = count ? strtol(count, NULL, 10) : 500;
    const long overlapping = compare_fields(1000 + (uint64_t)(seed ? strtol(seed, NULL, 10) : 1), all);
    if (all >= 100000) {
        printf("  %ld meshes near height fields: %ld overlapping\n", all, overlapping);
    }
    KK_CHECK(overlapping > all / 10);
}

// The same on other meshes and bodies: as many as KK_EXACT_PAIRS says, from KK_EXACT_SEED on (`make exact`).
KK_TEST(exact_depths_in_meshes) {
    enum { SLICE = 7000 };
    const char *count = getenv("KK_EXACT_PAIRS"), *seed = getenv("KK_EXACT_SEED");
    const long all = count ? strtol(count, NULL, 10) : kk_test_is_quick() ? 500 : 2000;
    tally t[KK_SHAPE_TYPE_COUNT] = {{0}};
    for (long done = 0; done < all; done += SLICE) {
        hull_case c = open_hulls(1000000 * (uint64_t)(seed ? strtol(seed, NULL, 10) : 1) + (uint64_t)(done / SLICE));
        for (int i = 0; i < SLICE && done + i < all; i++) {
            try_hull_case(&c, i, true, t);
        }
        close_hulls(&c);
    }
    long apart = 0, overlapping = 0;
    for (int type = 1; type <= KK_SHAPE_HULL; type++) {
        KK_CHECK(t[type].nearest < 1e-9);
        apart += t[type].apart;
        overlapping += t[type].overlapping;
    }
    if (all >= 100000) {
        printf("  %ld convex bodies near meshes: %ld apart, %ld overlapping\n", all, apart, overlapping);
    }
    KK_CHECK(apart > all / 5 && overlapping > all / 5);
}

// ---- two meshes, the first with a dent or without: where it is met elsewhere, they touch as hulls do

typedef struct mesh_case {
    kki_surface *surface[2];
    kki_convex *convex[2]; // without the dent
    kk_vec3 dent;
    kk_random random;
} mesh_case;

static mesh_case open_meshes(uint64_t seed, bool is_dented) {
    kki_mesh *ball = meshes_ball(10, 7, 1);
    mesh_case c = {.surface = {meshes_surface(ball), meshes_surface(meshes_ball(6, 3, 0.6))}, .random = {seed, 0, 0}};
    for (int k = 0; k < 2; k++) {
        c.convex[k] = hull_of(c.surface[k]);
    }
    if (is_dented) {
        kki_mesh *dented = meshes_ball(10, 7, 1);
        c.dent = c.surface[0]->vertex[25];
        dented->vertex[25] = kk_vec3_scale(c.dent, 0.2);
        kki_surface_free(c.surface[0]);
        c.surface[0] = meshes_surface(dented);
    }
    return c;
}

static void close_meshes(mesh_case *c) {
    for (int k = 0; k < 2; k++) {
        kki_convex_free(c->convex[k]);
        kki_surface_free(c->surface[k]);
    }
}

// not within 45° of the dent
static bool is_beside_dent(const mesh_case *c, kk_transform X, kk_vec3 p) {
    return kk_vec3_dot(kk_mat3_tmul_vec(X.R, kk_vec3_sub(p, X.p)), c->dent) < 0.7;
}

static void try_mesh_case(mesh_case *c, int i, bool is_asked, tally *t) {
    const int first = i % 2;
    kki_shape mesh[2], hull[2];
    for (int k = 0; k < 2; k++) {
        mesh[k] = (kki_shape){.type = KK_SHAPE_MESH, .surface = c->surface[k]};
        hull[k] = (kki_shape){.type = KK_SHAPE_HULL, .convex = c->convex[k]};
        mesh[k].margin = hull[k].margin = i % 5 == 0 ? 0.03 : 0;
    }
    kk_transform X, Y;
    kki_separation d;
    random_places(&c->random, &X, &Y);
    const double distance = bodies_between(&c->random, -0.03, 0.06);
    if (!is_asked) {
        return;
    }
    bring_near(&hull[first], X, &hull[1 - first], &Y, distance);
    KK_CHECK(kki_distance(&hull[first], &X, &hull[1 - first], &Y, NULL, &d));
    if (first ? is_beside_dent(c, Y, d.on_b) : is_beside_dent(c, X, d.on_a)) {
        check_against_hulls(&mesh[first], &hull[first], X, &mesh[1 - first], &hull[1 - first], Y, t);
    }
}

KK_TEST(two_convex_meshes_are_their_hulls) {
    for (int is_dented = 0; is_dented < 2; is_dented++) {
        mesh_case c = open_meshes(23, is_dented);
        tally t = {0};
        for (int i = 0; i < (kk_test_is_quick() ? 200 : 2000); i++) {
            try_mesh_case(&c, i, true, &t);
        }
        KK_CHECK(t.apart > (kk_test_is_quick() ? 20 : 200) && t.overlapping > (kk_test_is_quick() ? 20 : 200));
        KK_CHECK(t.nearest < 1e-9);
        close_meshes(&c);
    }
}

// corners behind faces that their triangles are clear of: once off by 0.3 to 45 %
KK_TEST(two_meshes_that_were_once_wrong) {
    static const int CASE[] = {651,   1813,  8157,  12501, 16031, 16297, 16737, 19619, 22059,
                               25194, 25949, 27573, 29687, 30317, 32517, 35387, 36173};
    mesh_case c = open_meshes(23, false);
    tally t = {0};
    for (int i = 0, k = 0; k < (int)(sizeof CASE / sizeof CASE[0]); i++) {
        try_mesh_case(&c, i, i == CASE[k], &t);
        k += i == CASE[k];
    }
    KK_CHECK_EQ_INT(t.overlapping, (long long)(sizeof CASE / sizeof CASE[0]));
    close_meshes(&c);
}

// a ball with bumps
static kki_surface *bumpy_ball(int n, int m, double radius) {
    kki_mesh *ball = meshes_ball(n, m, radius);
    for (int i = 0; i < ball->vertex_count; i++) {
        const kk_vec3 p = ball->vertex[i];
        const double a = atan2(p.y, p.x), b = acos(-p.z / radius);
        ball->vertex[i] = kk_vec3_scale(p, 1 + 0.05 * sin(9 * a) * sin(7 * b) * sin(b));
    }
    return meshes_surface(ball);
}

// Moved by its deepest contact a body is free, as far as that contact goes: a way out of one of two bumps. Climbs that went on
// to other bumps lost some of them, and what was left was the triangles' own and too short.
KK_TEST(bumps_find_their_way_out) {
    kki_shape a = {.type = KK_SHAPE_MESH, .surface = bumpy_ball(100, 50, 1)};
    kki_shape b = {.type = KK_SHAPE_MESH, .surface = bumpy_ball(100, 50, 0.5)};
    const kk_transform I = kk_transform_identity();
    kk_random r = {77, 0, 0};
    int overlaps = 0, parted = 0;
    for (int i = 0; i < 600; i++) {
        const kk_vec3 d = bodies_unit(&r);
        kk_transform X = meshes_random_pose(&r, 1);
        X.p = kk_vec3_scale(d, bodies_between(&r, 1.46, 1.56));
        result c;
        kki_pair_memory memory = {0};
        c.count = kki_collide(&a, &I, &b, &X, 0, &memory, c.m, ROOM);
        c.count = c.count < 0 ? ROOM : c.count; // more than there is room for
        const double depth = -least_gap(&c);
        if (c.count > 0 && depth > 0) {
            const kk_vec3 n = c.m[0].normal; // the deepest stands first
            X.p = kk_vec3_add(X.p, kk_vec3_scale(n, 1.001 * depth));
            overlaps++;
            parted += kki_overlap(&a, &I, &b, &X, 0, NULL) == 0;
        }
    }
    KK_CHECK(overlaps > 300 && parted > 45); // 32 before, 52 now
    kki_surface_free((kki_surface *)a.surface);
    kki_surface_free((kki_surface *)b.surface);
}

// two boxes beside each other as one mesh
static kki_surface *two_pieces(void) {
    kki_mesh *m = shapes_box(1, 1, 1, kk_transform_identity());
    kk_vec3 v[16];
    kki_face f[24];
    for (int i = 0; i < 8; i++) {
        v[i] = m->vertex[i];
        v[8 + i] = kk_vec3_add(m->vertex[i], kk_vec3_make(3, 0, 0));
    }
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 3; k++) {
            f[i].vertex[k] = m->face[i].vertex[k];
            f[12 + i].vertex[k] = m->face[i].vertex[k] + 8;
        }
    }
    kki_mesh_free(m);
    return meshes_surface(shapes_mesh(v, 16, f, 24));
}

// Of loose pieces each is asked whether it is inside: the second one alone, and the second while the first touches.
KK_TEST(loose_pieces_inside_a_mesh_are_pushed_out) {
    kki_surface *pieces = two_pieces(), *box = meshes_surface(shapes_box(5, 4, 4, kk_transform_identity()));
    kki_shape a = {.type = KK_SHAPE_MESH, .surface = box}, b = {.type = KK_SHAPE_MESH, .surface = pieces};
    const kk_transform I = kk_transform_identity();
    for (int is_touching = 0; is_touching < 2; is_touching++) {
        // the second piece is 3 to the right of the first, which is outside or half way through the wall at x = −2.5; it goes
        // out by the way of its lowest corner, to the left or down
        kk_transform X = I;
        X.p = kk_vec3_make(is_touching ? -2.6 : -3.6, 0.1, 0);
        const result r = collide(&a, I, &b, X, 0), s = collide(&b, X, &a, I, 0);
        const double depth = is_touching ? 2.5 : 2.4;
        KK_CHECK_NEAR(-least_gap(&r), depth, 1e-12);
        KK_CHECK_NEAR(-least_gap(&s), depth, 1e-12);
        kki_separation d;
        KK_CHECK(kki_distance(&a, &I, &b, &X, NULL, &d) && kki_overlap(&a, &I, &b, &X, 0, NULL));
        KK_CHECK_NEAR(d.distance, -depth, 1e-12);
    }
    kki_surface_free(pieces);
    kki_surface_free(box);
}

KK_TEST(meshes_know_whether_they_are_convex) {
    mesh_case whole = open_meshes(1, false), dented = open_meshes(1, true);
    kki_surface *pieces = two_pieces(), *sheet = meshes_surface(meshes_sheet(2, 1, meshes_flat));
    KK_CHECK(whole.surface[0]->is_convex && whole.surface[1]->is_convex);
    KK_CHECK(!dented.surface[0]->is_convex && dented.surface[0]->is_solid);
    KK_CHECK(!pieces->is_convex && pieces->is_solid);
    KK_CHECK(!sheet->is_convex);
    kki_surface_free(pieces);
    kki_surface_free(sheet);
    close_meshes(&whole);
    close_meshes(&dented);
}

// as deep as bodies at one place are
KK_TEST(convex_meshes_deep_in_each_other_are_their_hulls) {
    kki_surface *s[2] = {meshes_surface(shapes_box(1, 1, 1, kk_transform_identity())),
                         meshes_surface(meshes_ball(6, 3, 0.6))};
    kki_convex *c[2] = {hull_of(s[0]), hull_of(s[1])};
    kk_random r = {27, 0, 0};
    for (int i = 0; i < (kk_test_is_quick() ? 400 : 4000); i++) {
        const int k = i % 2, l = i / 2 % 2;
        const kki_shape a = {.type = KK_SHAPE_MESH, .surface = s[k]}, b = {.type = KK_SHAPE_MESH, .surface = s[l]};
        const kki_shape a_hull = {.type = KK_SHAPE_HULL, .convex = c[k]},
                        b_hull = {.type = KK_SHAPE_HULL, .convex = c[l]};
        const kk_transform X = bodies_pose(&r, 0.1), Y = bodies_pose(&r, 0.5);
        kki_separation d, e;
        if (KK_CHECK(kki_distance(&a, &X, &b, &Y, NULL, &d) && kki_distance(&a_hull, &X, &b_hull, &Y, NULL, &e))) {
            KK_CHECK_NEAR(d.distance, e.distance, 1e-9);
        }
    }
    for (int k = 0; k < 2; k++) {
        kki_convex_free(c[k]);
        kki_surface_free(s[k]);
    }
}

// corners just past the end of a flat edge, over nothing: once nearer by 1e-7 to 7e-7
KK_TEST(two_meshes_that_were_once_nearer) {
    static const struct { int seed, index; } CASE[] = {{2107, 38434}, {2109, 36847}, {2203, 41652}, {2204, 49158}};
    tally t = {0};
    for (size_t k = 0; k < sizeof CASE / sizeof CASE[0]; k++) {
        mesh_case c = open_meshes((uint64_t)CASE[k].seed, false);
        for (int i = 0; i <= CASE[k].index; i++) {
            try_mesh_case(&c, i, i == CASE[k].index, &t);
        }
        close_meshes(&c);
    }
    KK_CHECK_EQ_INT(t.apart, (long long)(sizeof CASE / sizeof CASE[0]));
    KK_CHECK(t.nearest < 1e-9);
}

// As many as KK_EXACT_PAIRS says, from KK_EXACT_SEED on (`make exact`).
KK_TEST(exact_depths_of_two_meshes) {
    const char *count = getenv("KK_EXACT_PAIRS"), *seed = getenv("KK_EXACT_SEED");
    const long all = count ? strtol(count, NULL, 10) : kk_test_is_quick() ? 200 : 1000;
    tally t = {0};
    for (int is_dented = 0; is_dented < 2; is_dented++) {
        mesh_case c = open_meshes(1000 + (uint64_t)(seed ? strtol(seed, NULL, 10) : 1), is_dented);
        for (int i = 0; i < all / 2; i++) {
            try_mesh_case(&c, i, true, &t);
        }
        close_meshes(&c);
    }
    if (all >= 100000) {
        printf("  %ld pairs of meshes: %d apart, nearer than that by %.1e at most, %d overlapping\n", all, t.apart,
               t.nearest, t.overlapping);
    }
    KK_CHECK(t.apart > all / 5 && t.overlapping > all / 5 && t.nearest < 1e-9);
}

// ---- planes

KK_TEST(mesh_on_a_plane_is_its_hull) {
    kki_surface *s = meshes_surface(meshes_ball(10, 7, 1)),
                *cube = meshes_surface(shapes_box(1, 1, 1, kk_transform_identity()));
    kki_convex *convex = hull_of(s);
    kk_random r = {24, 0, 0};
    for (int i = 0; i < 500; i++) {
        const kki_shape plane = {.type = KK_SHAPE_PLANE, .margin = i % 3 ? 0 : 0.1};
        const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s, .margin = i % 2 ? 0 : 0.02};
        const kki_shape same = {.type = KK_SHAPE_HULL, .convex = convex, .margin = mesh.margin};
        const kk_transform X = bodies_pose(&r, 1);
        kk_transform Y = bodies_pose(&r, 1);
        kki_separation d;
        KK_CHECK(kki_distance(&plane, &X, &same, &Y, NULL, &d));
        Y.p = kk_vec3_add(Y.p, kk_vec3_scale(d.normal, 0.02 * shapes_uniform(&r) - d.distance));
        KK_CHECK(kki_distance(&plane, &X, &same, &Y, NULL, &d));
        const result c = collide(&plane, X, &mesh, Y, 0.01);
        KK_CHECK_EQ_INT(c.count, d.distance <= 0.01);
        if (c.count) {
            KK_CHECK_NEAR(least_gap(&c), d.distance, 1e-13);
            KK_CHECK_NEAR(kk_vec3_dot(kk_vec3_sub(c.m[0].point[0].position, X.p), d.normal), plane.margin, 1e-13);
        }
    }
    const kki_shape plane = {.type = KK_SHAPE_PLANE}, box = {.type = KK_SHAPE_MESH, .surface = cube};
    const result c = collide(&plane, kk_transform_identity(), &box, kk_transform_translation(3, 4, 0.4999), 1e-3);
    KK_CHECK(c.count == 1 && c.m[0].count == 4);
    kki_convex_free(convex);
    kki_surface_free(s);
    kki_surface_free(cube);
}

// a field turned over on a plane touches it with its hills
KK_TEST(height_field_meets_a_plane_and_a_mesh) {
    kki_height_field *f = meshes_field(20, 4, -1, meshes_hills);
    kki_surface *s = meshes_surface(shapes_box(1, 1, 1, kk_transform_identity()));
    const kki_shape field = {.type = KK_SHAPE_HEIGHT_FIELD, .field = f}, plane = {.type = KK_SHAPE_PLANE};
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s}, box = {.type = KK_SHAPE_BOX, .half = {0.5, 0.5, 0.5}};
    const kk_transform over = {kk_mat3_from_rpy(2 * KK_HALF_PI, 0, 0), {0, 0, f->greatest - 1e-3}};
    const result c = collide(&plane, kk_transform_identity(), &field, over, 1e-4);
    KK_CHECK_EQ_INT(c.count, 1);
    KK_CHECK_NEAR(least_gap(&c), -1e-3, 1e-12);
    kk_random r = {25, 0, 0};
    for (int i = 0; i < 100; i++) {
        const kk_mat3 R = bodies_rotation(&r);
        const kk_vec3 p = shapes_point(&r);
        const kk_transform X = {R, {p.x, p.y, 0.9 + 0.1 * p.z}};
        const result as_mesh = collide(&mesh, X, &field, kk_transform_identity(), 0.01);
        const result as_box = collide(&field, kk_transform_identity(), &box, X, 0.01);
        KK_CHECK_EQ_INT(as_mesh.count > 0, as_box.count > 0);
        if (as_box.count && least_gap(&as_box) > -0.05) {
            KK_CHECK_NEAR(least_gap(&as_mesh), least_gap(&as_box), 0.02 * fabs(least_gap(&as_box)) + 1e-9);
        }
    }
    kki_height_field_free(f);
    kki_surface_free(s);
}

// ---- a large flat mesh and a large field: whatever slides over them meets one plane

KK_TEST(nothing_stumbles_on_a_large_flat_mesh) {
    const int n = kk_test_is_quick() ? 100 : 708; // a million triangles
    ground g = make_ground(n, 0.1 * n);
    const kki_shape body[3] = {{.type = KK_SHAPE_SPHERE, .half = {0.13}},
                               {.type = KK_SHAPE_BOX, .half = {0.21, 0.17, 0.11}},
                               {.type = KK_SHAPE_CAPSULE, .half = {0.07, 0.23}}};
    const double height[3] = {0.13, 0.11, 0.07};
    const kk_transform I = kk_transform_identity();
    int met = 0;
    for (int i = 0; i < 3000; i++) {
        const int k = i % 3;
        const kk_vec3 p = {0.04 * n * (i / 1500.0 - 1), 0.013 * (i / 1500.0 - 1) * n, height[k] - 1e-6};
        const kk_transform X = {kk_mat3_from_rpy(k == 2 ? KK_HALF_PI : 0, 0, 1e-3 * i), p};
        for (int j = 0; j < 2; j++) {
            const result c = collide(&g.shape[j], I, &body[k], X, 1e-4);
            KK_CHECK(c.count == 1 && all_are(&c, kk_vec3_make(0, 0, 1)));
            KK_CHECK_EQ_INT(c.m[0].count, k == 0 ? 1 : k == 1 ? 4 : 2);
            met++;
        }
    }
    KK_CHECK_EQ_INT(met, 6000);
    free_ground(&g);
}

// The faces of a roof so flat that it is one plane turn by 9e-7 from each other, and what is over its ridge is over neither.
static double roof(double x, double y) {
    (void)y;
    return -4.5e-7 * fabs(x);
}

KK_TEST(nothing_is_lost_over_a_flat_edge) {
    kki_surface *s = meshes_surface(meshes_sheet(2, 2, roof));
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = s};
    const kki_shape box = {.type = KK_SHAPE_BOX, .half = {0.1, 0.1, 0.1}};
    const kk_transform I = kk_transform_identity();
    kk_random r = {26, 0, 0};
    for (int i = 0; i < 200; i++) {
        const kk_mat3 R = bodies_rotation(&r);
        kk_vec3 low = {0, 0, 1};
        for (int k = 0; k < 8; k++) {
            const kk_vec3 corner =
                kk_mat3_mul_vec(R, kk_vec3_make(k & 1 ? 0.1 : -0.1, k & 2 ? 0.1 : -0.1, k & 4 ? 0.1 : -0.1));
            low = corner.z < low.z ? corner : low;
        }
        // that corner over the ridge, 0.5 above it
        const kk_transform X = {R, {-low.x, 0.3 - low.y, 0.5 - low.z}};
        const result c = collide(&mesh, I, &box, X, 0.501);
        KK_CHECK(c.count >= 1);
        KK_CHECK_NEAR(least_gap(&c), 0.5, 1e-9);
    }
    kki_surface_free(s);
}

// ---- signed distance

static void check_distance(const kki_shape *a, const kki_shape *a_hull, kk_transform X, const kki_shape *b,
                           const kki_shape *b_hull, kk_transform Y) {
    kki_separation d, e;
    if (!KK_CHECK(kki_distance(a, &X, b, &Y, NULL, &d) && kki_distance(a_hull, &X, b_hull, &Y, NULL, &e))) {
        return;
    }
    if (e.distance > 0) {
        const kk_vec3 off = kk_vec3_sub(d.on_b, d.on_a);
        KK_CHECK_NEAR(d.distance, e.distance, 1e-9);
        KK_CHECK_NEAR(kk_vec3_norm(off), d.distance, 1e-9);
        KK_CHECK_NEAR(kk_vec3_dot(off, d.normal), d.distance, 1e-9);
        KK_CHECK_NEAR(kk_vec3_dot(d.normal, e.normal), 1, 1e-6);
    } else {
        KK_CHECK(d.distance <= 1e-9);
    }
}

KK_TEST(distance_of_a_convex_mesh_is_its_hulls) {
    kki_surface *s[2] = {meshes_surface(meshes_ball(10, 7, 1)), meshes_surface(meshes_ball(6, 3, 0.6))};
    kki_convex *convex[2] = {hull_of(s[0]), hull_of(s[1])};
    kk_random r = {26, 0, 0};
    kki_shape mesh[2], hull[2];
    for (int i = 0; i < 2; i++) {
        mesh[i] = (kki_shape){.type = KK_SHAPE_MESH, .surface = s[i], .margin = 0.02 * i};
        hull[i] = (kki_shape){.type = KK_SHAPE_HULL, .convex = convex[i], .margin = 0.02 * i};
    }
    for (int i = 0; i < 400; i++) {
        const int type = i % 9;
        kk_transform X, Y;
        random_places(&r, &X, &Y);
        Y.p = kk_vec3_scale(Y.p, i % 3 ? 1 : 2);
        if (type == 8) {
            check_distance(&mesh[i % 2], &hull[i % 2], X, &mesh[1 - i % 2], &hull[1 - i % 2], Y);
        } else {
            const kki_shape x = bodies_shape(&r, type, convex[1]);
            check_distance(i & 1 ? &x : &mesh[0], i & 1 ? &x : &hull[0], X, i & 1 ? &mesh[0] : &x,
                           i & 1 ? &hull[0] : &x, Y);
        }
    }
    const kki_shape dot = {.type = KK_SHAPE_SPHERE, .half = {0.01}};
    const kk_transform I = kk_transform_identity();
    kki_separation d;
    KK_CHECK(kki_distance(&mesh[0], &I, &dot, &I, NULL, &d) && d.distance < -0.9); // wholly inside
    for (int i = 0; i < 2; i++) {
        kki_surface_free(s[i]);
        kki_convex_free(convex[i]);
    }
}

// ---- sliding over very many triangles

static void check_slide(const ground *g, const kki_shape *s, kk_random *r, double width) {
    const kk_transform X_WG = {bodies_rotation(r), bodies_offset(r, 0, 3)};
    const kk_vec3 n = kk_mat3_mul_vec(X_WG.R, kk_vec3_make(0, 0, 1));
    const kki_shape plane = {.type = KK_SHAPE_PLANE};
    const bool stands = kk_random_next_below(r, 2);
    kk_transform X_GS = {.R = stands ? kk_mat3_from_rpy(0, 0, 3 * shapes_uniform(r)) : bodies_rotation(r)};
    const kk_vec3 step = {width * shapes_uniform(r), width * shapes_uniform(r), 0};
    X_GS.p = kk_vec3_make(width * shapes_uniform(r), width * shapes_uniform(r), 0);
    for (int i = 0; i < 20; i++) {
        const kk_transform I = kk_transform_identity();
        const double gap = 1e-5 * shapes_uniform(r);
        kki_separation d;
        X_GS.p = kk_vec3_add(X_GS.p, kk_vec3_scale(step, 0.02));
        X_GS.p.z = 5;
        KK_CHECK(kki_distance(&plane, &I, s, &X_GS, NULL, &d));
        X_GS.p.z += gap - d.distance;
        const kk_transform X_WS = kk_transform_mul(X_WG, X_GS);
        for (int k = 0; k < 2; k++) {
            const result q = collide(&g->shape[k], X_WG, s, X_WS, 2e-5);
            KK_CHECK(all_are(&q, n) && q.count == 1);
            KK_CHECK_NEAR(least_gap(&q), gap, 1e-12);
        }
    }
}

// Sphere, box, capsule and a box of triangles: whatever edges are below, normals are the ground's to the last bit. A
// million triangles of each ground where `make exact` asks.
KK_TEST(exact_normals_of_what_slides) {
    const bool is_long = getenv("KK_EXACT_PAIRS") != NULL;
    const int cells = is_long ? 707 : kk_test_is_quick() ? 40 : 100, slides = is_long ? 400 : 60;
    ground g = make_ground(cells, 10);
    kki_surface *block = meshes_surface(shapes_box(0.3, 0.4, 0.5, kk_transform_identity()));
    const kki_shape s[4] = {{.type = KK_SHAPE_SPHERE, .half = {0.2}},
                            {.type = KK_SHAPE_BOX, .half = {0.2, 0.15, 0.1}},
                            {.type = KK_SHAPE_CAPSULE, .half = {0.1, 0.2}},
                            {.type = KK_SHAPE_MESH, .surface = block}};
    kk_random r = {55, 0, 0};
    for (int i = 0; i < slides; i++) {
        check_slide(&g, &s[i % 4], &r, 3);
    }
    kki_surface_free(block);
    free_ground(&g);
}
