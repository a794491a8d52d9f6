// Distances and times of impact of very many random pairs, each proved by slow means of its own.
//
// A distance is proved from both sides. Below: some direction separates the bodies by so much, told by farthest points
// written anew. Above: no direction separates them by more (directions.h), or, where a mesh takes part, the two witness
// points are so far apart and lie in their bodies. Meshes are all their triangles, one by one.
//
// A time of impact is proved by advancing step by step, each no longer than distance / greatest speed of any point: what
// is passed over is free. As long as convex bodies around the two are apart, theirs is asked for: it is cheap, and only the
// speed across the plane between them counts.
//
// `make exact` asks for a million of each; KK_EXACT_PAIRS, KK_EXACT_SHOTS and KK_EXACT_SEED say how many and which.
#include <stdio.h>
#include <string.h>

#include "../support/directions.h"
#include "bodies.h"
#include "collision/gjk.h"
#include "collision/impact.h"
#include "geometry/hull.h"
#include "meshes.h"

static long asked_for(const char *name, long quick, long usual) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : kk_test_is_quick() ? quick : usual;
}

static uint64_t seed_of(void) {
    return (uint64_t)asked_for("KK_EXACT_SEED", 1, 1);
}

static void report_progress(const char *what, long done, long all) {
    if (all >= 100000 && done % (all / 20) == 0) {
        fprintf(stderr, "%s: %ld of %ld\n", what, done, all);
    }
}

// ---- bodies

enum { HULLS = 6, TYPES = KK_SHAPE_HEIGHT_FIELD + 1, MOST_TRIANGLES = 512 };

typedef struct soup {
    int count;
    kk_vec3 corner[MOST_TRIANGLES][3];
} soup;

typedef struct zoo {
    kki_convex *hull[HULLS];
    kki_surface *surface[3]; // a hilly sheet, a ball, a ball with a dent
    kki_convex *around[3];   // their hulls
    kki_height_field *field;
    soup surface_soup[3], field_soup;
} zoo;

static void add_triangle(soup *s, kk_vec3 a, kk_vec3 b, kk_vec3 c) {
    s->corner[s->count][0] = a, s->corner[s->count][1] = b, s->corner[s->count][2] = c;
    s->count++;
}

static void fill_from_surface(soup *s, const kki_surface *from) {
    s->count = 0;
    for (int i = 0; i < from->face_count; i++) {
        const int32_t *v = from->face[i].vertex;
        add_triangle(s, from->vertex[v[0]], from->vertex[v[1]], from->vertex[v[2]]);
    }
}

static void add_wall(soup *s, const kki_height_field *f, int r0, int c0, int r1, int c1) {
    const kk_vec3 p = kki_height_field_vertex(f, r0, c0), q = kki_height_field_vertex(f, r1, c1);
    const kk_vec3 p0 = {p.x, p.y, f->base}, q0 = {q.x, q.y, f->base};
    add_triangle(s, p, q, q0);
    add_triangle(s, p, q0, p0);
}

static void fill_from_field(soup *s, const kki_height_field *f) {
    s->count = 0;
    for (int32_t face = 0; face < kki_height_field_faces(f); face++) {
        int32_t r[3], c[3];
        kki_height_field_corners(f, face, r, c);
        add_triangle(s, kki_height_field_vertex(f, r[0], c[0]), kki_height_field_vertex(f, r[1], c[1]),
                     kki_height_field_vertex(f, r[2], c[2]));
    }
    for (int i = 0; i + 1 < f->columns; i++) {
        add_wall(s, f, 0, i, 0, i + 1);
        add_wall(s, f, f->rows - 1, i, f->rows - 1, i + 1);
    }
    for (int i = 0; i + 1 < f->rows; i++) {
        add_wall(s, f, i, 0, i + 1, 0);
        add_wall(s, f, i, f->columns - 1, i + 1, f->columns - 1);
    }
    const double x = 0.5 * f->size[0], y = 0.5 * f->size[1], z = f->base;
    const kk_vec3 a = {-x, -y, z}, b = {x, -y, z}, c = {x, y, z}, d = {-x, y, z};
    add_triangle(s, a, b, c);
    add_triangle(s, a, c, d);
}

static kki_mesh *dented_ball(void) {
    kki_mesh *mesh = meshes_ball(10, 7, 0.8);
    mesh->vertex[1] = kk_vec3_scale(mesh->vertex[1], 0.2);
    return mesh;
}

static kki_convex *hull_around(const kki_surface *s) {
    kki_mesh *mesh = NULL;
    kki_convex *convex = NULL;
    KK_CHECK(kki_hull_of_points(s->vertex, s->vertex_count, NULL, NULL, &mesh, NULL) == KK_OK &&
             kki_convex_create(mesh, NULL, &convex, NULL) == KK_OK);
    kki_mesh_free(mesh);
    return convex;
}

/// The same shapes every time.
static void zoo_open(zoo *z) {
    kk_random shapes = {4, 1, 0}, *r = &shapes;
    for (int i = 0; i < HULLS; i++) {
        z->hull[i] = bodies_hull(r, 4 << i);
    }
    z->surface[0] = meshes_surface(meshes_sheet(6, 2, meshes_hills));
    z->surface[1] = meshes_surface(meshes_ball(8, 5, 0.7));
    z->surface[2] = meshes_surface(dented_ball());
    z->field = meshes_field(5, 2, -0.8, meshes_hills);
    for (int i = 0; i < 3; i++) {
        fill_from_surface(&z->surface_soup[i], z->surface[i]);
        z->around[i] = hull_around(z->surface[i]);
    }
    fill_from_field(&z->field_soup, z->field);
}

static void zoo_close(zoo *z) {
    for (int i = 0; i < HULLS; i++) {
        kki_convex_free(z->hull[i]);
    }
    for (int i = 0; i < 3; i++) {
        kki_surface_free(z->surface[i]);
        kki_convex_free(z->around[i]);
    }
    kki_height_field_free(z->field);
}

typedef struct body {
    kki_shape shape;
    kk_transform X;
    const soup *soup; // of meshes and height fields
    bool is_solid;
} body;

static body draw_body(const zoo *z, kk_random *r, int type, double reach) {
    body b = {.shape = bodies_shape(r, type, z->hull[kk_random_next_below(r, HULLS)])};
    b.X = bodies_pose(r, reach);
    if (type == KK_SHAPE_MESH) {
        const int k = (int)kk_random_next_below(r, 3);
        b.shape.surface = z->surface[k];
        b.soup = &z->surface_soup[k];
        b.is_solid = k > 0;
    } else if (type == KK_SHAPE_HEIGHT_FIELD) {
        b.shape.field = z->field;
        b.soup = &z->field_soup;
        b.is_solid = true;
    }
    return b;
}

// ---- points of bodies

static double excess_of_round(const kki_shape *s, kk_vec3 p) {
    const double across = sqrt(p.x * p.x + p.y * p.y), r = s->half[0], h = s->half[1];
    if (s->type == KK_SHAPE_CYLINDER) {
        return fmax(across - r, fabs(p.z) - h);
    }
    return fmax(-p.z - h, across - r * (h - p.z) / (2 * h));
}

// how far outside the core a point is at least; ≤ 0 inside
static double excess_of_core(const kki_shape *s, kk_vec3 p) {
    const double *h = s->half;
    double most = -INFINITY;
    switch (s->type) {
    case KK_SHAPE_CAPSULE: return fmax(sqrt(p.x * p.x + p.y * p.y), fabs(p.z) - h[1]);
    case KK_SHAPE_BOX: return fmax(fabs(p.x) - h[0], fmax(fabs(p.y) - h[1], fabs(p.z) - h[2]));
    case KK_SHAPE_ELLIPSOID: return kk_vec3_norm(kk_vec3_make(p.x / h[0], p.y / h[1], p.z / h[2])) - 1;
    case KK_SHAPE_CYLINDER:
    case KK_SHAPE_CONE: return excess_of_round(s, p);
    case KK_SHAPE_HULL:
        for (int i = 0; i < s->convex->face_count; i++) {
            most = fmax(most, kk_vec3_dot(s->convex->face[i].normal, p) - s->convex->face[i].offset);
        }
        return most;
    default: return kk_vec3_norm(p);
    }
}

static double radius_of(const kki_shape *s) {
    return s->margin + (s->type == KK_SHAPE_SPHERE || s->type == KK_SHAPE_CAPSULE ? s->half[0] : 0);
}

static double distance_to_soup(const soup *s, kk_vec3 p) {
    double least = INFINITY;
    for (int i = 0; i < s->count; i++) {
        least = fmin(least, kk_vec3_norm(kk_vec3_sub(kki_triangle_closest(s->corner[i], p).p, p)));
    }
    return least;
}

// The point is in the body: the point of its core below it, along the normal that looks out of it, is in the core.
static bool is_point_of(const body *b, kk_vec3 p, kk_vec3 out, double tolerance) {
    const double r = radius_of(&b->shape);
    const kk_transform X_BW = kk_transform_inverse(b->X);
    const kk_vec3 q = kk_transform_point(X_BW, kk_vec3_sub(p, kk_vec3_scale(out, r)));
    if (b->shape.type == KK_SHAPE_PLANE) {
        return fabs(q.z) <= 1e-9;
    }
    return (b->soup ? distance_to_soup(b->soup, q) : excess_of_core(&b->shape, q)) <= tolerance;
}

// ---- distances

static double size_of(const body *b) {
    const kki_shape *s = &b->shape;
    return b->soup || s->type == KK_SHAPE_PLANE ? 2
           : s->type == KK_SHAPE_HULL           ? 1
                                                : s->half[0] + s->half[1] + s->half[2];
}

typedef struct tally {
    long apart, overlapping, mesh_overlaps, unproved;
    double worst; // |ours − exact| / size
} tally;

static void note_error(tally *t, double error) {
    t->worst = fmax(t->worst, error);
}

static bool check_convex(const body *a, const body *b, const kki_separation *d, double size, tally *t) {
    const directions_answer e = directions_search(&a->shape, &a->X, &b->shape, &b->X, d->normal, 2e-10 * size);
    if (!(e.upper < INFINITY)) {
        t->unproved++;
        return false;
    }
    const double error = fmax(0, fmax(e.lower - d->distance, d->distance - e.upper));
    note_error(t, error / size);
    return error <= 1e-9 * size;
}

static bool check_plane(const body *a, const body *b, const kki_separation *d, tally *t) {
    const kk_vec3 n = kk_mat3_column(a->X.R, 2);
    double low = INFINITY;
    if (b->soup) {
        for (int i = 0; i < 3 * b->soup->count; i++) {
            low = fmin(low, kk_vec3_dot(n, kk_transform_point(b->X, b->soup->corner[i / 3][i % 3])));
        }
        low -= b->shape.margin;
    } else {
        low = directions_lowest(&b->shape, &b->X, n);
    }
    const double error = fabs(d->distance - (low - kk_vec3_dot(n, a->X.p) - a->shape.margin));
    note_error(t, error);
    return error <= 1e-9;
}

static void place_triangle(const body *m, int i, kk_vec3 corner[3]) {
    for (int k = 0; k < 3; k++) {
        corner[k] = kk_transform_point(m->X, m->soup->corner[i][k]);
    }
}

typedef struct round_triangle {
    kk_vec3 corner[3], middle;
    double radius;
} round_triangle;

static round_triangle enclose(const body *m, int i) {
    round_triangle t;
    place_triangle(m, i, t.corner);
    t.middle = kk_vec3_scale(kk_vec3_add(t.corner[0], kk_vec3_add(t.corner[1], t.corner[2])), 1.0 / 3);
    t.radius = 0;
    for (int k = 0; k < 3; k++) {
        t.radius = fmax(t.radius, kk_vec3_norm(kk_vec3_sub(t.corner[k], t.middle)));
    }
    return t;
}

static double lowest_of_triangle(const kk_vec3 c[3], kk_vec3 n) {
    return fmin(kk_vec3_dot(n, c[0]), fmin(kk_vec3_dot(n, c[1]), kk_vec3_dot(n, c[2])));
}

// How far a direction that the library found, right or wrong, parts a triangle from a shape.
static double proved_from_shape(const round_triangle *t, const body *x, kk_vec3 *n) {
    const kki_core core = kki_core_of(&x->shape), triangle = kki_core_triangle(t->corner, 0);
    const kk_transform I = kk_transform_identity();
    kki_pair_memory memory = {0};
    kki_separation r;
    kki_core_separation_between(&triangle, &I, &core, &x->X, &memory, &r);
    *n = r.normal;
    return directions_lowest(&x->shape, &x->X, r.normal) + lowest_of_triangle(t->corner, kk_vec3_neg(r.normal));
}

static double proved_from_triangle(const round_triangle *t, const round_triangle *u) {
    const kki_core a = kki_core_triangle(t->corner, 0), b = kki_core_triangle(u->corner, 0);
    const kk_transform I = kk_transform_identity();
    kki_pair_memory memory = {0};
    kki_separation r;
    kki_core_separation_between(&a, &I, &b, &I, &memory, &r);
    return lowest_of_triangle(u->corner, r.normal) + lowest_of_triangle(t->corner, kk_vec3_neg(r.normal));
}

// The least of what is proved between the triangles of m and x; those farther than `enough` are not looked at closely.
static double proved_between(const body *m, const body *x, double enough, int *nearest, kk_vec3 *normal) {
    static round_triangle other[MOST_TRIANGLES];
    double least = INFINITY;
    for (int j = 0; x->soup && j < x->soup->count; j++) {
        other[j] = enclose(x, j);
    }
    for (int i = 0; i < m->soup->count; i++) {
        const round_triangle t = enclose(m, i);
        if (!x->soup) {
            kk_vec3 n;
            const double d = proved_from_shape(&t, x, &n);
            *nearest = d < least ? i : *nearest;
            *normal = d < least ? n : *normal;
            least = fmin(least, d);
        }
        for (int j = 0; x->soup && j < x->soup->count; j++) {
            const round_triangle *u = &other[j];
            const double far = kk_vec3_norm(kk_vec3_sub(u->middle, t.middle)) - t.radius - u->radius;
            least = fmin(least, far > enough + 1 ? far : far > enough ? enough : proved_from_triangle(&t, u));
        }
    }
    return least - m->shape.margin - (x->soup ? x->shape.margin : 0);
}

// Whether a ray from p to anywhere leaves the solid: it crosses an odd number of triangles.
static bool is_inside(const body *m, kk_vec3 p) {
    const kk_vec3 o = kk_transform_point(kk_transform_inverse(m->X), p), d = {0.3197, 0.5483, 0.7727};
    bool is_odd = false;
    for (int i = 0; m->is_solid && i < m->soup->count; i++) {
        const kk_vec3 *c = m->soup->corner[i];
        const kk_vec3 r[3] = {kk_vec3_sub(c[0], o), kk_vec3_sub(c[1], o), kk_vec3_sub(c[2], o)};
        const double side[3] = {kk_vec3_dot(d, kk_vec3_cross(r[0], r[1])), kk_vec3_dot(d, kk_vec3_cross(r[1], r[2])),
                                kk_vec3_dot(d, kk_vec3_cross(r[2], r[0]))};
        const bool is_met = (side[0] < 0) == (side[1] < 0) && (side[1] < 0) == (side[2] < 0);
        const double volume = kk_vec3_dot(r[0], kk_vec3_cross(r[1], r[2])); // its sign is that of n · r
        is_odd ^= is_met && (volume < 0) == (side[0] < 0);
    }
    return is_odd;
}

// Apart: both bounds meet, and neither is inside the other. Together: some triangle meets the shape, or its middle is inside the solid.
static bool check_mesh(const body *m, const body *x, const kki_separation *d, bool is_swapped, tally *t) {
    const double margins = m->shape.margin + (x->soup ? x->shape.margin : 0);
    int nearest = 0;
    kk_vec3 normal = {0, 0, 1};
    if (d->distance > 0) {
        const double low = proved_between(m, x, d->distance + margins, &nearest, &normal);
        const kk_vec3 on_m = is_swapped ? d->on_b : d->on_a, on_x = is_swapped ? d->on_a : d->on_b;
        const kk_vec3 n = is_swapped ? kk_vec3_neg(d->normal) : d->normal;
        const double high = kk_vec3_norm(kk_vec3_sub(on_x, on_m));
        const double error = fmax(fmax(0, d->distance - low), fabs(high - d->distance));
        note_error(t, error);
        return error <= 2e-9 && is_point_of(m, on_m, n, 2e-9) && is_point_of(x, on_x, kk_vec3_neg(n), 2e-9) &&
               !is_inside(m, on_x) && !(x->soup && is_inside(x, on_m));
    }
    t->mesh_overlaps++;
    if (x->soup) {
        return proved_between(m, x, 0, &nearest, &normal) <= 1e-9 || m->is_solid || x->is_solid;
    }
    kk_vec3 corner[3];
    if (proved_between(m, x, 0, &nearest, &normal) > 1e-9) {
        return m->is_solid; // wholly inside
    }
    place_triangle(m, nearest, corner);
    return directions_search_triangle(corner, &x->shape, &x->X, normal, 1e-9).upper <= m->shape.margin + 2e-9;
}

// identities of the answer; where meshes overlap the depth is that of the deepest contact point, seen from either side
static bool is_consistent(const body *a, const body *b, const kki_separation *d, const kki_separation *e, double size) {
    const kk_vec3 off = kk_vec3_sub(d->on_b, d->on_a);
    const bool is_same = fabs(d->distance - e->distance) <= 1e-9 * size;
    const bool is_mesh_overlap = (a->soup || b->soup) && d->distance <= 0 && e->distance <= 0;
    return fabs(kk_vec3_dot(off, d->normal) - d->distance) <= 1e-9 * size &&
           fabs(kk_vec3_norm(d->normal) - 1) <= 1e-12 && (is_same || is_mesh_overlap);
}

static bool check_pair(const body *a, const body *b, tally *t) {
    kki_separation d, e;
    const double size = size_of(a) + size_of(b) + kk_vec3_norm(kk_vec3_sub(a->X.p, b->X.p));
    if (!kki_distance(&a->shape, &a->X, &b->shape, &b->X, NULL, &d) ||
        !kki_distance(&b->shape, &b->X, &a->shape, &a->X, NULL, &e) || !is_consistent(a, b, &d, &e, size)) {
        return false;
    }
    t->apart += d.distance > 0;
    t->overlapping += d.distance <= 0;
    if (a->shape.type == KK_SHAPE_PLANE) {
        return check_plane(a, b, &d, t);
    }
    if (a->soup || b->soup) {
        return a->soup ? check_mesh(a, b, &d, false, t) : check_mesh(b, a, &d, true, t);
    }
    // a depth is flat about its direction, so the points of curved bodies are known to half its digits
    const double near = d.distance > 0 ? 2e-9 : 1e-7;
    return is_point_of(a, d.on_a, d.normal, near) && is_point_of(b, d.on_b, kk_vec3_neg(d.normal), near) &&
           check_convex(a, b, &d, size, t);
}

static bool is_asked(int a, int b) {
    const bool is_odd = a == KK_SHAPE_PLANE || a == KK_SHAPE_HEIGHT_FIELD;
    return a <= b && !(is_odd && a == b) && !(a == KK_SHAPE_PLANE && b == KK_SHAPE_HEIGHT_FIELD);
}

// a small mesh in a large one or in a height field, either way round
KK_TEST(exact_pairs_of_nested_meshes) {
    static soup inner, outer[2];
    kki_surface *s[2] = {meshes_surface(meshes_ball(6, 3, 0.1)), meshes_surface(dented_ball())};
    kki_height_field *field = meshes_field(8, 4, -0.8, meshes_hills);
    const kki_shape shape[2] = {{.type = KK_SHAPE_MESH, .surface = s[1]},
                                {.type = KK_SHAPE_HEIGHT_FIELD, .field = field}};
    kk_random r = {72, 0, 0};
    fill_from_surface(&inner, s[0]);
    fill_from_surface(&outer[0], s[1]);
    fill_from_field(&outer[1], field);
    tally t = {0};
    for (int i = 0; i < 400; i++) {
        const body b = {shape[i / 2 % 2], bodies_pose(&r, 0.3), &outer[i / 2 % 2], true};
        const kk_vec3 p = kk_vec3_add(b.X.p, bodies_offset(&r, 0, 1.2));
        const body a = {{.type = KK_SHAPE_MESH, .surface = s[0]}, {bodies_rotation(&r), p}, &inner, true};
        KK_CHECK(i % 2 ? check_pair(&a, &b, &t) : check_pair(&b, &a, &t));
    }
    KK_CHECK(t.apart > 50 && t.overlapping > 150);
    kki_surface_free(s[0]);
    kki_surface_free(s[1]);
    kki_height_field_free(field);
}

// deep overlaps of curved bodies whose witness points did not belong to their normal, a search that a sliver ended, and bodies wholly below the valleys
// of a height field that were told to be apart from it
KK_TEST(exact_pairs_that_were_once_wrong) {
    static const struct {
        uint64_t seed, counter;
        int a, b;
    } CASE[] = {{101, 183299, KK_SHAPE_CYLINDER, KK_SHAPE_CYLINDER},
                {101, 851006, KK_SHAPE_CYLINDER, KK_SHAPE_HULL},
                {503, 1824045, KK_SHAPE_CONE, KK_SHAPE_CONE},
                {1613, 1864612, KK_SHAPE_ELLIPSOID, KK_SHAPE_HULL},
                {2001, 446665, KK_SHAPE_SPHERE, KK_SHAPE_HEIGHT_FIELD},
                {2001, 629502, KK_SHAPE_SPHERE, KK_SHAPE_HEIGHT_FIELD},
                {2001, 6236972, KK_SHAPE_ELLIPSOID, KK_SHAPE_HEIGHT_FIELD}};
    static zoo z;
    zoo_open(&z);
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        kk_random r = {CASE[i].seed, 41, CASE[i].counter};
        tally t = {0};
        const body a = draw_body(&z, &r, CASE[i].a, 0.5), b = draw_body(&z, &r, CASE[i].b, 2);
        KK_CHECK(check_pair(&a, &b, &t));
    }
    zoo_close(&z);
}

KK_TEST(exact_distances_of_all_pairs) {
    static zoo z;
    zoo_open(&z);
    const long pairs = asked_for("KK_EXACT_PAIRS", 500, 5000);
    kk_random r = {seed_of(), 41, 0};
    tally t = {0};
    int ta = 0, tb = 0;
    for (long i = 0; i < pairs; i++) {
        do {
            tb = (tb + 1) % TYPES;
            ta = (ta + (tb == 0)) % TYPES;
        } while (!is_asked(ta, tb));
        const uint64_t at = r.counter;
        const body a = draw_body(&z, &r, ta, 0.5), b = draw_body(&z, &r, tb, 2);
        if (!KK_CHECK(check_pair(&a, &b, &t))) {
            printf("  pair %ld: types %d %d, counter %llu\n", i, ta, tb, (unsigned long long)at);
        }
        report_progress("pairs", i + 1, pairs);
    }
    if (pairs >= 100000) {
        printf("  %ld pairs: %ld apart, %ld overlapping (%ld with meshes, told apart only), %ld unproved; worst error "
               "%.1e\n",
               pairs, t.apart, t.overlapping, t.mesh_overlaps, t.unproved, t.worst);
    }
    KK_CHECK(t.apart > pairs / 5 && t.overlapping > pairs / 5);
    zoo_close(&z);
}

// ---- contacts of meshes and height fields: what the distance says of touching they say too

// about a reach apart or deep in each other
static kki_separation bring_near(const body *a, body *b, double distance) {
    kki_separation d;
    KK_CHECK(kki_distance(&a->shape, &a->X, &b->shape, &b->X, NULL, &d));
    if (d.distance > 0) {
        b->X.p = kk_vec3_add(b->X.p, kk_vec3_scale(d.normal, distance - d.distance));
        KK_CHECK(kki_distance(&a->shape, &a->X, &b->shape, &b->X, NULL, &d));
    }
    return d;
}

// Together, some point overlaps. Apart, none is nearer than the bodies and none is told beyond the reach; within it there is
// one.
static bool check_contacts(const body *a, const body *b, double distance) {
    enum { ROOM = 64 };
    const double reach = 0.05;
    kki_manifold m[ROOM];
    kki_pair_memory memory = {0};
    const int found = kki_collide(&a->shape, &a->X, &b->shape, &b->X, reach, &memory, m, ROOM);
    double least = INFINITY;
    for (int i = 0; i < (found < 0 ? ROOM : found); i++) {
        for (int k = 0; k < m[i].count; k++) {
            least = fmin(least, m[i].point[k].gap);
        }
    }
    if (distance < -1e-9) {
        return least < 0;
    }
    return distance > reach + 1e-9 ? found == 0 : least > distance - 1e-9 && (found != 0 || distance > reach - 1e-9);
}

// The rim of a sheet beside another mesh, within the reach, had no contact; nor had a cone in the wall of a height field, each of
// whose triangles was explained by a way out that had no points. A cone that leaned over a rim from outside had a false one.
KK_TEST(contacts_that_were_once_missing) {
    static const struct {
        uint64_t seed, counter;
        int a, b;
    } CASE[] = {{13, 320044, KK_SHAPE_MESH, KK_SHAPE_MESH},
                {5101, 503034, KK_SHAPE_CONE, KK_SHAPE_HEIGHT_FIELD},
                {1802, 1378014, KK_SHAPE_CONE, KK_SHAPE_HEIGHT_FIELD}};
    static zoo z;
    zoo_open(&z);
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        kk_random r = {CASE[i].seed, 43, CASE[i].counter};
        body a = draw_body(&z, &r, CASE[i].a, 0.5), b = draw_body(&z, &r, CASE[i].b, 2);
        const kki_separation d = bring_near(&a, &b, bodies_between(&r, -0.1, 0.1));
        KK_CHECK(d.distance < 0.1 && check_contacts(&a, &b, d.distance) && check_contacts(&b, &a, d.distance));
    }
    zoo_close(&z);
}

KK_TEST(exact_contacts_say_what_distances_do) {
    static zoo z;
    zoo_open(&z);
    const long pairs = asked_for("KK_EXACT_PAIRS", 400, 4000);
    kk_random r = {seed_of(), 43, 0};
    long apart = 0;
    for (long i = 0; i < pairs; i++) {
        const uint64_t at = r.counter;
        const int ta = 1 + (int)(i % KK_SHAPE_MESH), tb = i / KK_SHAPE_MESH % 2 ? KK_SHAPE_MESH : KK_SHAPE_HEIGHT_FIELD;
        body a = draw_body(&z, &r, ta, 0.5), b = draw_body(&z, &r, tb, 2);
        const kki_separation d = bring_near(&a, &b, bodies_between(&r, -0.1, 0.1));
        apart += d.distance > 0;
        if (!KK_CHECK(i % 3 ? check_contacts(&a, &b, d.distance) : check_contacts(&b, &a, d.distance))) {
            printf("  pair %ld: types %d %d, counter %llu\n", i, ta, tb, (unsigned long long)at);
        }
        report_progress("contacts", i + 1, pairs);
    }
    KK_CHECK(apart > pairs / 10 && apart < pairs / 2);
    zoo_close(&z);
}

// ---- shots

typedef struct shot {
    kki_shape shape[2];
    kki_shape around[2]; // convex, with all of the shape in it
    kki_moving body[2];
    double duration;
} shot;

static double reach_of(const kki_shape *s) {
    if (s->type == KK_SHAPE_MESH) {
        double most = 0;
        for (int i = 0; i < s->surface->vertex_count; i++) {
            most = fmax(most, kk_vec3_norm(s->surface->vertex[i]));
        }
        return most + s->margin;
    }
    const kki_core core = kki_core_of(s);
    return core.extent + core.radius;
}

// no point of one comes nearer to the other faster than this
static double greatest_speed(const shot *s) {
    double speed = kk_vec3_norm(kk_vec3_sub(s->body[1].velocity.linear, s->body[0].velocity.linear));
    for (int k = 0; k < 2; k++) {
        speed += kk_vec3_norm(s->body[k].velocity.angular) * reach_of(&s->shape[k]);
    }
    return speed;
}

static kki_separation separation_at(const shot *s, const kki_shape shape[2], double t) {
    const kk_transform A = kki_moving_pose(&s->body[0], t), B = kki_moving_pose(&s->body[1], t);
    kki_separation r = {0};
    KK_CHECK(kki_distance(&shape[0], &A, &shape[1], &B, NULL, &r));
    return r;
}

static double gap_at(const shot *s, double t) {
    return separation_at(s, s->shape, t).distance;
}

// How fast the gap along n can close. A point of a body at r from its origin gets along n by n · v τ + n · (turned r − r),
// and turning back, n instead of r, the second is at most |ω × n| |r| τ: however long it takes.
static double speed_along(const shot *s, kk_vec3 n, const double reach[2]) {
    double speed = kk_vec3_dot(n, kk_vec3_sub(s->body[0].velocity.linear, s->body[1].velocity.linear));
    for (int k = 0; k < 2; k++) {
        speed += kk_vec3_norm(kk_vec3_cross(s->body[k].velocity.angular, n)) * reach[k];
    }
    return speed;
}

typedef struct shot_tally {
    long hits, misses, late, early, unsure, unproved;
    double worst; // seconds between the time given and the proved one, in parts of the duration
} shot_tally;

enum { MOST_STEPS = 20000 };

// Up to which time the bodies around stay apart, found step by step; they are convex, so the plane between them may be used.
static double free_around(const shot *s, double until) {
    const double reach[2] = {reach_of(&s->shape[0]), reach_of(&s->shape[1])};
    double time = 0;
    for (int i = 0; i < MOST_STEPS && time < until; i++) {
        const kki_separation r = separation_at(s, s->around, time);
        const double speed = speed_along(s, r.normal, reach);
        if (r.distance <= 1e-9) {
            break;
        }
        time = r.distance < speed * (until - time) ? time + (r.distance - 1e-12) / speed : until;
    }
    return time;
}

// Up to which time nothing touches, found step by step; stops where the gap is nothing or `until` is reached.
static double free_until(const shot *s, double until, double speed, shot_tally *t) {
    double time = free_around(s, until);
    for (int i = 0; i < MOST_STEPS; i++) {
        const double gap = gap_at(s, time);
        if (gap <= 1e-12 || time >= until) {
            return fmin(time, until);
        }
        time += gap / speed;
    }
    t->unproved++;
    return until;
}

static bool check_shot(const shot *s, shot_tally *t) {
    const double speed = greatest_speed(s), allowed = 1e-6 * s->duration;
    kki_impact r;
    if (!kki_impact_find(&s->body[0], &s->body[1], s->duration, 0, &r) || r.kind == KKI_IMPACT_UNSURE) {
        t->unsure++;
        return false;
    }
    const double until = r.kind == KKI_IMPACT_HIT ? fmax(0, r.time - allowed) : s->duration;
    const double proved = free_until(s, until, speed, t);
    if (proved < until) {
        t->misses += r.kind == KKI_IMPACT_NONE;
        t->late += r.kind == KKI_IMPACT_HIT;
        t->worst = fmax(t->worst, (r.time - proved) / s->duration);
        return false;
    }
    // a hit is one: the gap is nothing then, or will be before a part of the time has gone
    if (r.kind == KKI_IMPACT_HIT) {
        t->hits++;
        const double gap = gap_at(s, r.time);
        t->early += gap > 1e-9;
        t->worst = fmax(t->worst, fmax(0, gap) / speed / s->duration);
        return gap <= 1e-9;
    }
    return true;
}

static void draw_plate(kk_random *r, shot *s) {
    s->shape[0] = (kki_shape){.type = KK_SHAPE_BOX, .half = {1, 1, 0.0005}};
    s->shape[1] = (kki_shape){.type = KK_SHAPE_BOX, .half = {0.005, 0.005, 0.005}};
    s->duration = 1.0 / 60;
    s->body[1].X_WS.R = bodies_rotation(r);
    s->body[1].X_WS.p = kk_vec3_make(0, 0, bodies_between(r, 2, 12));
    s->body[1].velocity.linear = kk_vec3_add(kk_vec3_make(0, 0, -1000), bodies_offset(r, 0, 50));
    s->body[1].velocity.angular = bodies_offset(r, 0, 100);
    s->body[0].velocity.linear = bodies_offset(r, 0, 10);
}

static void draw_rod(kk_random *r, shot *s) {
    s->shape[0] = (kki_shape){.type = KK_SHAPE_CAPSULE, .half = {0.01, 0.5}};
    s->shape[1] = kk_random_next_below(r, 2) ? (kki_shape){.type = KK_SHAPE_SPHERE, .half = {0.05}}
                                             : (kki_shape){.type = KK_SHAPE_BOX, .half = {0.03, 0.05, 0.08}};
    s->duration = 0.005;
    s->body[0].X_WS.R = bodies_rotation(r);
    s->body[0].velocity.angular = kk_vec3_scale(bodies_unit(r), 1000);
    s->body[1].X_WS = bodies_pose(r, 0.6);
    s->body[1].velocity.linear = bodies_offset(r, 0, 20);
    s->body[1].velocity.angular = bodies_offset(r, 0, 50);
}

static void throw_at_each_other(kk_random *r, shot *s) {
    s->duration = 2;
    const kk_vec3 p = bodies_offset(r, 2.5, 5);
    s->body[0].X_WS = bodies_pose(r, 0.3);
    s->body[1].X_WS = (kk_transform){bodies_rotation(r), p};
    s->body[0].velocity.linear = bodies_offset(r, 0, 1);
    s->body[1].velocity.linear = kk_vec3_add(kk_vec3_scale(p, -0.8), bodies_offset(r, 0, 1));
    s->body[0].velocity.angular = bodies_offset(r, 0, 6);
    s->body[1].velocity.angular = bodies_offset(r, 0, 10);
}

static void draw_shot(const zoo *z, kk_random *r, long i, shot *s) {
    memset(s, 0, sizeof *s);
    s->body[0].X_WS = s->body[1].X_WS = kk_transform_identity();
    if (i % 4 == 0) {
        draw_plate(r, s);
    } else if (i % 4 == 1) {
        draw_rod(r, s);
    } else {
        for (int k = 0; k < 2; k++) {
            const int type =
                i % 4 == 2 && (k || i % 8 == 2) ? KK_SHAPE_MESH : 1 + (int)kk_random_next_below(r, KK_SHAPE_HULL);
            s->shape[k] = draw_body(z, r, type, 1).shape;
        }
        throw_at_each_other(r, s);
    }
    for (int k = 0; k < 2; k++) {
        s->body[k].shape = &s->shape[k];
        s->around[k] = s->shape[k];
        for (int j = 0; j < 3 && s->shape[k].type == KK_SHAPE_MESH; j++) {
            if (s->shape[k].surface == z->surface[j]) {
                s->around[k] = (kki_shape){.type = KK_SHAPE_HULL, .convex = z->around[j], .margin = s->shape[k].margin};
            }
        }
    }
}

// cones that were stopped a few nanometers before they touched, and two boxes whose edges came so slowly together that the
// search was given up; then cones whose distance from a triangle, searched along the line of the middles, was nanometers
// off, and one whose side's normal at a corner was known to half its digits only
KK_TEST(exact_shots_that_were_once_wrong) {
    static const struct {
        uint64_t seed, counter;
        long index;
    } CASE[] = {{201, 144497, 2566},   {201, 159745, 2835},   {201, 171550, 3046},   {603, 3897622, 69343},
                {801, 3014187, 53574}, {802, 93538, 1662},    {802, 3930583, 69934}, {803, 242238, 4310},
                {803, 5145908, 91558}, {804, 1454785, 25886}, {804, 5073994, 90302}, {1509, 5167235, 91942}};
    static zoo z;
    zoo_open(&z);
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        kk_random r = {CASE[i].seed, 42, CASE[i].counter};
        shot_tally t = {0};
        shot s;
        draw_shot(&z, &r, CASE[i].index, &s);
        KK_CHECK(check_shot(&s, &t));
    }
    zoo_close(&z);
}

KK_TEST(exact_times_of_impact) {
    static zoo z;
    zoo_open(&z);
    const long shots = asked_for("KK_EXACT_SHOTS", 80, 800);
    kk_random r = {seed_of(), 42, 0};
    shot_tally t = {0};
    for (long i = 0; i < shots; i++) {
        const uint64_t at = r.counter;
        shot s;
        draw_shot(&z, &r, i, &s);
        if (!KK_CHECK(check_shot(&s, &t))) {
            printf("  shot %ld: types %d %d, counter %llu\n", i, s.shape[0].type, s.shape[1].type,
                   (unsigned long long)at);
        }
        report_progress("shots", i + 1, shots);
    }
    if (shots >= 100000) {
        printf("  %ld shots: %ld hits, %ld misses, %ld late, %ld early, %ld unsure, %ld unproved; worst %.1e of the "
               "time\n",
               shots, t.hits, t.misses, t.late, t.early, t.unsure, t.unproved, t.worst);
    }
    KK_CHECK(t.hits > shots / 4);
    zoo_close(&z);
}
