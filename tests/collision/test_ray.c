// Rays: hits lie on the surface and nothing lies before them, by each shape's own equation; meshes against all triangles.
#include "collision/ray.h"

#include "bodies.h"
#include "collision/distance.h"
#include "meshes.h"

// ---- convex shapes by their equations: negative inside

typedef struct solid {
    kki_shape shape;
    double (*inside)(const kki_shape *s, kk_vec3 p);
} solid;

static double in_plane(const kki_shape *s, kk_vec3 p) {
    return p.z - s->margin;
}
static double in_sphere(const kki_shape *s, kk_vec3 p) {
    return kk_vec3_norm(p) - s->half[0] - s->margin;
}
static double in_capsule(const kki_shape *s, kk_vec3 p) {
    const double z = fmax(-s->half[1], fmin(s->half[1], p.z));
    return kk_vec3_norm(kk_vec3_make(p.x, p.y, p.z - z)) - s->half[0] - s->margin;
}
static double in_cylinder(const kki_shape *s, kk_vec3 p) {
    const double x = hypot(p.x, p.y) - s->half[0], z = fabs(p.z) - s->half[1];
    return hypot(fmax(x, 0), fmax(z, 0)) + fmin(0, fmax(x, z)) - s->margin;
}
static double in_cone(const kki_shape *s, kk_vec3 p) {
    const double k = s->half[0] / (2 * s->half[1]);
    return fmax(hypot(p.x, p.y) - k * (s->half[1] - p.z), fabs(p.z) - s->half[1]);
}
static double in_ellipsoid(const kki_shape *s, kk_vec3 p) {
    return kk_vec3_norm(kk_vec3_make(p.x / s->half[0], p.y / s->half[1], p.z / s->half[2])) - 1;
}
static double in_box(const kki_shape *s, kk_vec3 p) {
    const double x = fabs(p.x) - s->half[0], y = fabs(p.y) - s->half[1], z = fabs(p.z) - s->half[2];
    const double out = kk_vec3_norm(kk_vec3_make(fmax(x, 0), fmax(y, 0), fmax(z, 0)));
    return out + fmin(0, fmax(x, fmax(y, z))) - s->margin;
}

static const solid SOLIDS[] = {
    {{.type = KK_SHAPE_PLANE}, in_plane},
    {{.type = KK_SHAPE_PLANE, .margin = 0.2}, in_plane},
    {{.type = KK_SHAPE_SPHERE, .half = {0.7}}, in_sphere},
    {{.type = KK_SHAPE_CAPSULE, .half = {0.3, 0.8}}, in_capsule},
    {{.type = KK_SHAPE_CAPSULE, .half = {0.3, 0}, .margin = 0.1}, in_capsule},
    {{.type = KK_SHAPE_CYLINDER, .half = {0.6, 0.4}}, in_cylinder},
    {{.type = KK_SHAPE_CYLINDER, .half = {0.6, 0.4}, .margin = 0.15}, in_cylinder},
    {{.type = KK_SHAPE_CONE, .half = {0.8, 0.5}}, in_cone},
    {{.type = KK_SHAPE_CONE, .half = {0.2, 0.9}}, in_cone},
    {{.type = KK_SHAPE_ELLIPSOID, .half = {0.3, 0.6, 0.9}}, in_ellipsoid},
    {{.type = KK_SHAPE_BOX, .half = {0.3, 0.6, 0.9}}, in_box},
    {{.type = KK_SHAPE_BOX, .half = {0.3, 0.6, 0.5}, .margin = 0.2}, in_box},
};
enum { SOLID_COUNT = sizeof SOLIDS / sizeof SOLIDS[0] };

static kk_vec3 at(const kki_ray *ray, double t) {
    return kk_vec3_add(ray->origin, kk_vec3_scale(ray->direction, t));
}

// the gradient of the equation by differences has the direction of the normal, except at kinks
static void check_normal(const solid *s, const kki_ray_hit *hit, kk_vec3 p) {
    const double h = 1e-6;
    const kk_vec3 n = hit->normal;
    KK_CHECK_NEAR(kk_vec3_norm(n), 1, 1e-12);
    const double ahead = s->inside(&s->shape, kk_vec3_add(p, kk_vec3_scale(n, h)));
    const double behind = s->inside(&s->shape, kk_vec3_sub(p, kk_vec3_scale(n, h)));
    KK_CHECK(ahead > 0 && behind < 0);
}

static void check_ray(const solid *s, const kki_ray *ray) {
    kki_ray_hit hit;
    const kki_placed_shape placed = {.shape = &s->shape, .X_WS = kk_transform_identity()};
    const bool is_hit = kki_ray_cast_placed(&placed, ray, &hit);
    const bool starts_inside = s->inside(&s->shape, ray->origin) < 0;
    const double end = is_hit ? hit.t : ray->limit;
    // no crossing before: the sign stays that of the start
    for (int i = 0; i <= 50; i++) {
        const double value = s->inside(&s->shape, at(ray, end * i / 50));
        KK_CHECK(starts_inside ? value < 1e-9 : value > -1e-9);
    }
    if (is_hit) {
        KK_CHECK_NEAR(s->inside(&s->shape, at(ray, hit.t)), 0, 1e-12 * (1 + hit.t));
        KK_CHECK(hit.is_inside == starts_inside);
        check_normal(s, &hit, at(ray, hit.t));
    }
}

static kki_ray random_ray(kk_random *r, double far, double longest) {
    const kk_vec3 p = kk_vec3_scale(shapes_point(r), far);
    return (kki_ray){p, shapes_point(r), longest};
}

KK_TEST(rays_hit_convex_shapes_on_their_surface) {
    kk_random r = {4, 0, 0};
    int hits = 0;
    for (int k = 0; k < SOLID_COUNT; k++) {
        for (int i = 0; i < 400; i++) {
            const kk_vec3 p = kk_vec3_scale(shapes_point(&r), 2), q = shapes_point(&r);
            kki_ray ray = {p, kk_vec3_sub(q, p), 3};
            if (i % 8 == 0) {
                ray.direction = kk_vec3_make(i % 24 == 0, i % 24 == 8, i % 24 == 16);
            }
            check_ray(&SOLIDS[k], &ray);
            kki_ray_hit hit;
            const kki_placed_shape placed = {.shape = &SOLIDS[k].shape, .X_WS = kk_transform_identity()};
            hits += kki_ray_cast_placed(&placed, &ray, &hit);
        }
    }
    KK_CHECK(hits > SOLID_COUNT * 100);
}

// a far origin does not spoil the hit: the discriminant is taken near the shape
// the first point of a ray whose distance from the shape is nothing
static void check_round_hit(const kki_shape *s, const kki_ray *ray, int *hits) {
    const kki_placed_shape placed = {.shape = s, .X_WS = kk_transform_identity()};
    const kki_shape dot = {.type = KK_SHAPE_SPHERE};
    const kk_transform I = kk_transform_identity();
    kki_ray_hit hit = {.t = ray->limit};
    const bool is_hit = kki_ray_cast_placed(&placed, ray, &hit);
    kki_separation d;
    for (int k = 0; k <= 40; k++) {
        const kk_vec3 p = at(ray, hit.t * k / 40);
        const kk_transform X = kk_transform_translation(p.x, p.y, p.z);
        KK_CHECK(kki_distance(s, &I, &dot, &X, NULL, &d));
        KK_CHECK(hit.is_inside ? d.distance < 1e-12 : d.distance > -1e-12);
    }
    if (is_hit) {
        ++*hits;
        KK_CHECK_NEAR(d.distance, 0, 1e-12);
        KK_CHECK_NEAR(kk_vec3_dot(d.normal, hit.normal), 1, 1e-9);
    }
}

KK_TEST(rays_hit_shapes_with_margins) {
    kk_random r = {52, 0, 0};
    kki_convex *hull = bodies_hull(&r, 20);
    int hits = 0;
    for (int i = 0; i < 2000; i++) {
        static const int TYPE[] = {KK_SHAPE_CYLINDER, KK_SHAPE_CONE, KK_SHAPE_ELLIPSOID, KK_SHAPE_HULL};
        kki_shape s = bodies_shape(&r, TYPE[i % 4], hull);
        s.margin = bodies_between(&r, 0.01, 0.3);
        kki_ray ray = {.origin = bodies_offset(&r, i % 8 < 4 ? 2 : 0, i % 8 < 4 ? 6 : 0.3), .limit = 10};
        const kk_vec3 aim = bodies_offset(&r, 0, 1);
        ray.direction = kk_vec3_scale(kk_vec3_sub(aim, ray.origin), bodies_between(&r, 0.2, 3));
        check_round_hit(&s, &ray, &hits);
    }
    KK_CHECK(hits > 1200);
    kki_convex_free(hull);
}

// ---- meshes with a margin

// how far a place is from the thick mesh, minus inside
static double out_of_thick(const kki_surface *s, double margin, kk_vec3 p) {
    const kki_surface_point q = kki_surface_closest(s, p, 1e6);
    return (s->is_solid && q.is_inside ? -q.distance : q.distance) - margin;
}

// on the surface, and on the way there never across it; the shape is the mesh s or has the same faces
static void check_thick_hit(const kki_shape *shape, const kki_surface *s, const kki_ray *ray, int *hits) {
    const double margin = shape->margin;
    const kki_placed_shape placed = {.shape = shape, .X_WS = kk_transform_identity()};
    kki_ray_hit hit = {.t = ray->limit};
    const bool is_inside = out_of_thick(s, margin, ray->origin) < 0, is_hit = kki_ray_cast_placed(&placed, ray, &hit);
    for (int i = 1; i < 50; i++) {
        const kk_vec3 p = kk_vec3_add(ray->origin, kk_vec3_scale(ray->direction, hit.t * i / 50));
        const double out = out_of_thick(s, margin, p);
        KK_CHECK(is_inside ? out < 1e-12 : out > -1e-12);
    }
    if (is_hit) {
        const kk_vec3 p = kk_vec3_add(ray->origin, kk_vec3_scale(ray->direction, hit.t));
        ++*hits;
        KK_CHECK_EQ_INT(hit.is_inside, is_inside);
        KK_CHECK_NEAR(out_of_thick(s, margin, p), 0, 1e-12);
        KK_CHECK_NEAR(kk_vec3_norm(hit.normal), 1, 1e-12);
        KK_CHECK((kk_vec3_dot(hit.normal, ray->direction) > 0) == is_inside);
        // along the normal the distance grows as fast as it can
        KK_CHECK_NEAR(out_of_thick(s, margin, kk_vec3_sub(p, kk_vec3_scale(hit.normal, 0.5 * margin))), -0.5 * margin,
                      1e-9);
    }
}

KK_TEST(rays_hit_meshes_with_margins) {
    kki_mesh *dented = meshes_ball(10, 7, 0.8);
    dented->vertex[1] = kk_vec3_scale(dented->vertex[1], 0.2);
    kki_surface *s[3] = {meshes_surface(meshes_ball(10, 7, 1)), meshes_surface(dented),
                         meshes_surface(meshes_sheet(6, 2, meshes_hills))};
    kk_random r = {53, 0, 0};
    int hits[3] = {0};
    for (int i = 0; i < 900; i++) {
        const double margin = bodies_between(&r, 0.01, 0.2);
        kki_ray ray = {.origin = bodies_offset(&r, i % 6 < 3 ? 2 : 0, i % 6 < 3 ? 6 : 0.5), .limit = 30};
        const kk_vec3 aim = bodies_offset(&r, 0, 1);
        ray.direction = kk_vec3_scale(kk_vec3_sub(aim, ray.origin), bodies_between(&r, 0.2, 3));
        const kki_shape shape = {.type = KK_SHAPE_MESH, .surface = s[i % 3], .margin = margin};
        check_thick_hit(&shape, s[i % 3], &ray, &hits[i % 3]);
    }
    for (int k = 0; k < 3; k++) {
        KK_CHECK(hits[k] > 100);
        kki_surface_free(s[k]);
    }
}

// The solid of a height field of n × n cells over a square: the sheet, its walls, its base about a middle.
static kki_mesh *mesh_of_field(const kki_height_field *f) {
    const int n = f->rows - 1, top = (n + 1) * (n + 1), rim = 4 * n;
    kk_vec3 *v = malloc(sizeof *v * (size_t)(top + rim + 1));
    kki_face *face = malloc(sizeof *face * (size_t)(2 * n * n + 3 * rim));
    int faces = 0;
    for (int i = 0; i < top; i++) {
        v[i] = kki_height_field_vertex(f, i / (n + 1), i % (n + 1));
    }
    for (int i = 0; i < n * n; i++) {
        const int32_t a = i / n * (n + 1) + i % n, b = a + 1, c = b + n + 1, d = a + n + 1;
        face[faces++] = (kki_face){{a, b, c}};
        face[faces++] = (kki_face){{a, c, d}};
    }
    v[top + rim] = kk_vec3_make(0, 0, f->base);
    for (int k = 0; k < rim; k++) { // counter-clockwise from above
        int32_t at[2];
        for (int end = 0; end < 2; end++) {
            const int j = (k + end) % rim, side = j / n, step = j % n;
            at[end] = side == 0   ? step
                      : side == 1 ? step * (n + 1) + n
                      : side == 2 ? top - 1 - step
                                  : (n - step) * (n + 1);
        }
        const int32_t p = top + k, q = top + (k + 1) % rim;
        v[p] = kk_vec3_make(v[at[0]].x, v[at[0]].y, f->base);
        face[faces++] = (kki_face){{at[1], at[0], p}};
        face[faces++] = (kki_face){{at[1], p, q}};
        face[faces++] = (kki_face){{q, p, top + rim}};
    }
    kki_mesh *mesh = shapes_mesh(v, top + rim + 1, face, faces);
    free(v);
    free(face);
    return mesh;
}

KK_TEST(rays_hit_height_fields_with_margins) {
    kki_height_field *f = meshes_field(7, 2, -0.8, meshes_hills);
    kki_surface *s = meshes_surface(mesh_of_field(f));
    KK_CHECK(s->is_solid);
    kk_random r = {54, 0, 0};
    int hits[2] = {0};
    for (int i = 0; i < 900; i++) {
        const kki_shape shape = {.type = KK_SHAPE_HEIGHT_FIELD, .field = f, .margin = bodies_between(&r, 0.01, 0.2)};
        kki_ray ray = {.origin = bodies_offset(&r, i % 2 ? 2 : 0, i % 2 ? 6 : 1), .limit = 30};
        const kk_vec3 aim = bodies_offset(&r, 0, 1.2);
        ray.direction = kk_vec3_scale(kk_vec3_sub(aim, ray.origin), bodies_between(&r, 0.2, 3));
        if (i % 9 == 0) {
            ray.direction = kk_vec3_make(i % 27 == 0, i % 27 == 9, -(i % 27 == 18));
        }
        check_thick_hit(&shape, s, &ray, &hits[i % 2]);
    }
    KK_CHECK(hits[0] > 300 && hits[1] > 250);
    kki_surface_free(s);
    kki_height_field_free(f);
}

KK_TEST(rays_from_afar_are_exact) {
    const kki_ray ray = {{-1e6, 0.3, 0.1}, {1, 0, 0}, 1e9};
    kki_ray_hit hit;
    KK_CHECK(kki_ray_cast_sphere(0.5, &ray, &hit));
    KK_CHECK_NEAR(hit.t, 1e6 - sqrt(0.25 - 0.09 - 0.01), 1e-9);
    KK_CHECK(kki_ray_cast_cylinder(0.5, 1, &ray, &hit));
    KK_CHECK_NEAR(hit.t, 1e6 - 0.4, 1e-9);
    KK_CHECK(kki_ray_cast_cone(1, 0.5, &ray, &hit));
    KK_CHECK_NEAR(hit.t, 1e6 - sqrt(0.16 - 0.09), 1e-9);
}

// the height of the place hit is rounding there; the normal once pointed down
KK_TEST(rays_hit_a_flat_cone_from_above) {
    kk_random r = {18, 0, 0};
    for (int i = 0; i < 500; i++) {
        const kk_vec3 to = kk_vec3_make(0.6 * shapes_uniform(&r), 0.6 * shapes_uniform(&r), 0);
        const kk_vec3 from = kk_vec3_make(shapes_uniform(&r), shapes_uniform(&r), 2);
        const kki_ray ray = {from, kk_vec3_sub(to, from), 2};
        kki_ray_hit hit;
        KK_CHECK(kki_ray_cast_cone(1, 3e-10, &ray, &hit) && !hit.is_inside);
        KK_CHECK_NEAR(hit.normal.z, 1, 1e-12);
    }
}

// planes of a box are the box
KK_TEST(ray_against_planes_equals_box) {
    const double half[3] = {0.5, 0.7, 0.9};
    const kki_plane plane[6] = {{{1, 0, 0}, 0.5},  {{-1, 0, 0}, 0.5}, {{0, 1, 0}, 0.7},
                                {{0, -1, 0}, 0.7}, {{0, 0, 1}, 0.9},  {{0, 0, -1}, 0.9}};
    kk_random r = {8, 0, 0};
    for (int i = 0; i < 500; i++) {
        const kki_ray ray = random_ray(&r, 2, 5);
        kki_ray_hit a = {0}, b = {0};
        KK_CHECK_EQ_INT(kki_ray_cast_planes(plane, 6, &ray, &a), kki_ray_cast_box(half, 0, &ray, &b));
        KK_CHECK_BITS(a.t, b.t);
        KK_CHECK(a.t == 0 || kk_vec3_dot(plane[a.feature].normal, b.normal) == 1);
    }
}

// ---- meshes

// Möller and Trumbore's test, another formula than the library's
static double cross_one(const kki_surface *s, int f, const kki_ray *ray) {
    const kk_vec3 a = s->vertex[s->face[f].vertex[0]];
    const kk_vec3 e = kk_vec3_sub(s->vertex[s->face[f].vertex[1]], a),
                  g = kk_vec3_sub(s->vertex[s->face[f].vertex[2]], a);
    const kk_vec3 h = kk_vec3_cross(ray->direction, g), w = kk_vec3_sub(ray->origin, a), q = kk_vec3_cross(w, e);
    const double det = kk_vec3_dot(e, h);
    const double u = kk_vec3_dot(w, h) / det, v = kk_vec3_dot(ray->direction, q) / det, t = kk_vec3_dot(g, q) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && t >= 0 ? t : INFINITY;
}

KK_TEST(rays_against_a_mesh_equal_all_triangles) {
    kki_surface *s = meshes_surface(meshes_sheet(30, 4, meshes_hills));
    kki_surface *ball = meshes_surface(meshes_ball(30, 20, 1));
    kk_random r = {14, 0, 0};
    for (int i = 0; i < 600; i++) {
        const kki_surface *m = i % 2 ? s : ball;
        const kki_ray ray = random_ray(&r, 2, 4);
        double least = INFINITY;
        for (int f = 0; f < m->face_count; f++) {
            least = fmin(least, cross_one(m, f, &ray));
        }
        kki_ray_hit hit;
        const bool is_hit = kki_ray_cast_surface(m, &ray, &hit);
        if (KK_CHECK_EQ_INT(is_hit, least <= 4) && is_hit) {
            KK_CHECK_NEAR(hit.t, least, 1e-12);
            KK_CHECK(m->is_solid || kk_vec3_dot(hit.normal, ray.direction) <= 0);
        }
    }
    kki_surface_free(s);
    kki_surface_free(ball);
}

// rays at vertices and edges of a closed mesh, from inside, never slip through
KK_TEST(rays_do_not_slip_between_triangles) {
    kki_surface *s = meshes_surface(meshes_ball(37, 31, 1));
    kk_random r = {2, 0, 0};
    for (int e = 0; e < s->edge_count; e++) {
        for (int i = 0; i < 8; i++) {
            const double t = i < 5 ? i & 1 : kk_random_next_uniform(&r);
            const kk_vec3 o = kk_vec3_scale(shapes_point(&r), 0.3);
            const kk_vec3 a = s->vertex[s->edge[e].vertex[0]], b = s->vertex[s->edge[e].vertex[1]];
            const kk_vec3 p = kk_vec3_add(a, kk_vec3_scale(kk_vec3_sub(b, a), t));
            const kki_ray ray = {o, kk_vec3_sub(p, o), 2};
            kki_ray_hit hit;
            KK_CHECK(kki_ray_cast_surface(s, &ray, &hit) && fabs(hit.t - 1) < 1e-12 && hit.is_inside);
        }
    }
    kki_surface_free(s);
}

// the top of a height field is the sheet over the same samples; below it lie walls and the base
KK_TEST(rays_against_a_height_field_equal_its_mesh) {
    kki_surface *s = meshes_surface(meshes_sheet(20, 4, meshes_hills));
    kki_height_field *f = meshes_field(20, 4, -1, meshes_hills);
    kk_random r = {15, 0, 0};
    int hits = 0;
    for (int i = 0; i < 2000; i++) {
        const double x = 3 * shapes_uniform(&r), y = 3 * shapes_uniform(&r);
        kki_ray ray = {{x, y, 1}, shapes_point(&r), 9};
        if (i % 10 == 0) {
            ray.direction = kk_vec3_make(0, 0, -1);
        } else if (i % 10 == 1) {
            ray.direction = kk_vec3_make(i % 20 == 1, i % 20 == 11, -0.3);
        }
        kki_ray_hit a = {0}, b = {0};
        const bool on_top = kki_ray_cast_surface(s, &ray, &a), is_hit = kki_ray_cast_height_field(f, &ray, &b);
        // the solid is met at its top or earlier at a wall
        KK_CHECK(!on_top || is_hit);
        if (is_hit && b.feature >= 0) {
            KK_CHECK(on_top && fabs(a.t - b.t) < 1e-12 && !b.is_inside);
            hits++;
        } else if (is_hit) {
            const kk_vec3 p = at(&ray, b.t);
            KK_CHECK(!on_top || b.t <= a.t);
            KK_CHECK(fabs(fabs(p.x) - 2) < 1e-12 || fabs(fabs(p.y) - 2) < 1e-12 || fabs(p.z + 1) < 1e-12);
        }
    }
    KK_CHECK(hits > 300);
    kki_surface_free(s);
    kki_height_field_free(f);
}

// ---- scenes

KK_TEST(rays_against_a_scene_equal_all_shapes) {
    kki_surface *ball = meshes_surface(meshes_ball(12, 8, 0.5));
    kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = ball};
    kki_placed_shape placed[60];
    kki_aabb box[60];
    kk_random r = {16, 0, 0};
    for (int i = 0; i < 60; i++) {
        placed[i] = (kki_placed_shape){.shape = i % 6 == 0 ? &mesh : &SOLIDS[2 + i % 9].shape,
                                       .X_WS = meshes_random_pose(&r, 5)};
        const kk_vec3 p = placed[i].X_WS.p;
        box[i] = kki_aabb_grow(kki_aabb_of_point(p), 1.3);
    }
    kki_ray_scene *scene = NULL;
    KK_CHECK_EQ_INT(kki_ray_scene_create(placed, box, 60, NULL, &scene, NULL), KK_OK);
    enum { RAYS = 300 };
    kki_ray ray[RAYS];
    kki_ray_hit hit[RAYS];
    int32_t shape[RAYS];
    for (int i = 0; i < RAYS; i++) {
        ray[i] = random_ray(&r, 6, 20);
    }
    kki_ray_scene_cast(scene, ray, RAYS, hit, shape);
    for (int i = 0; i < RAYS; i++) {
        int32_t best = -1;
        double least = INFINITY;
        for (int k = 0; k < 60; k++) {
            kki_ray_hit h;
            if (kki_ray_cast_placed(&placed[k], &ray[i], &h) && h.t < least) {
                least = h.t;
                best = k;
            }
        }
        KK_CHECK_EQ_INT(shape[i], best);
        KK_CHECK(best < 0 || hit[i].t == least);
    }
    kki_ray_scene_free(scene);
    kki_surface_free(ball);
}

// nothing hangs, traps or leaves the range for rays that are no rays
KK_TEST(broken_rays_are_harmless) {
    kki_surface *ball = meshes_surface(meshes_ball(12, 8, 0.5));
    kki_height_field *field = meshes_field(8, 4, -1, meshes_hills);
    const kki_shape mesh = {.type = KK_SHAPE_MESH, .surface = ball};
    const kki_shape hills = {.type = KK_SHAPE_HEIGHT_FIELD, .field = field};
    const double bad[] = {0, NAN, INFINITY, -INFINITY, 1e300, 1e-300};
    for (int k = 0; k < SOLID_COUNT + 2; k++) {
        const kki_shape *s = k < SOLID_COUNT ? &SOLIDS[k].shape : k == SOLID_COUNT ? &mesh : &hills;
        const kki_placed_shape placed = {.shape = s, .X_WS = kk_transform_identity()};
        for (int i = 0; i < 216; i++) {
            const kki_ray ray = {{bad[i % 6], 0.1, bad[i / 36]}, {0, bad[i / 6 % 6], bad[i % 6]}, bad[i % 5]};
            kki_ray_hit hit = {0};
            if (kki_ray_cast_placed(&placed, &ray, &hit)) {
                KK_CHECK(hit.t >= 0 && hit.t <= ray.limit);
            }
        }
    }
    kki_surface_free(ball);
    kki_height_field_free(field);
}
