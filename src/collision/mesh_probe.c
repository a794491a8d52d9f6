// The body X that meets a mesh, as a probe: a convex shape, or one triangle of another mesh after the other.
#include <string.h>

#include "collision/mesh_work.h"

enum { GENERAL_FROM = 24 }; // corners of a hull that its support function finds sooner than a look at all of them

static const kk_vec3 ORIGIN[1] = {{0, 0, 0}};
static const kki_convex_edge SEGMENT_EDGE[1] = {{{0, 1}, {-1, -1}}};
static const kki_convex_edge TRIANGLE_EDGES[3] = {{{0, 1}, {0, 0}}, {{1, 2}, {0, 0}}, {{2, 0}, {0, 0}}};
static const int32_t TRIANGLE_LOOP[3] = {0, 1, 2};

// Corners by bits: 1 for x, 2 for y, 4 for z. Faces −x, +x, −y, +y, −z, +z; their offsets are not asked for.
static const kki_convex_face BOX_FACES[6] = {{{-1, 0, 0}, 0, 0, 4}, {{1, 0, 0}, 0, 4, 4},   {{0, -1, 0}, 0, 8, 4},
                                             {{0, 1, 0}, 0, 12, 4}, {{0, 0, -1}, 0, 16, 4}, {{0, 0, 1}, 0, 20, 4}};
static const int32_t BOX_LOOP[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const kki_convex_edge BOX_EDGES[12] = {{{0, 1}, {2, 4}}, {{2, 3}, {3, 4}}, {{4, 5}, {2, 5}}, {{6, 7}, {3, 5}},
                                              {{0, 2}, {0, 4}}, {{1, 3}, {1, 4}}, {{4, 6}, {0, 5}}, {{5, 7}, {1, 5}},
                                              {{0, 4}, {0, 2}}, {{1, 5}, {1, 2}}, {{2, 6}, {0, 3}}, {{3, 7}, {1, 3}}};

static kki_polytope box_polytope(const double half[3], kk_vec3 corner[8]) {
    for (int i = 0; i < 8; i++) {
        corner[i] = kk_vec3_make(i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1], i & 4 ? half[2] : -half[2]);
    }
    return (kki_polytope){8, 6, 12, corner, BOX_FACES, BOX_LOOP, BOX_EDGES};
}

static kki_polytope hull_polytope(const kki_convex *c) {
    return (kki_polytope){c->vertex_count, c->face_count, c->edge_count, c->vertex, c->face, c->loop, c->edge};
}

static double size_of(const kki_polytope *p) {
    double size2 = 0;
    for (int32_t i = 0; i < p->vertex_count; i++) {
        size2 = kki_greater(size2, kk_vec3_dot(p->vertex[i], p->vertex[i]));
    }
    return kk_sqrt(size2);
}

bool kki_probe_of_shape(const kki_shape *s, kk_vec3 room[8], kki_probe *x) {
    switch ((kk_shape_type)s->type) {
    case KK_SHAPE_SPHERE:
        x->shape = (kki_polytope){.vertex_count = 1, .vertex = ORIGIN};
        x->radius = s->half[0] + s->margin;
        break;
    case KK_SHAPE_CAPSULE:
        room[0] = kk_vec3_make(0, 0, -s->half[1]);
        room[1] = kk_vec3_make(0, 0, s->half[1]);
        x->shape = (kki_polytope){.vertex_count = 2, .vertex = room, .edge_count = 1, .edge = SEGMENT_EDGE};
        x->radius = s->half[0] + s->margin;
        break;
    case KK_SHAPE_BOX:
        x->shape = box_polytope(s->half, room);
        x->is_box = true;
        memcpy(x->half, s->half, sizeof x->half);
        x->radius = s->margin;
        break;
    case KK_SHAPE_HULL:
        x->is_general = s->convex->vertex_count > GENERAL_FROM;
        x->shape = hull_polytope(s->convex);
        x->middle = s->convex->centroid;
        x->radius = s->margin;
        break;
    case KK_SHAPE_CYLINDER:
    case KK_SHAPE_CONE:
    case KK_SHAPE_ELLIPSOID: x->is_general = true; break;
    default: return false;
    }
    x->core = kki_core_of(s);
    if (x->is_general) {
        x->radius = x->core.radius;
        x->size = x->core.extent + x->radius;
        return true;
    }
    x->size = size_of(&x->shape) + x->radius;
    return true;
}

kki_aabb kki_probe_box(const kki_probe *x) {
    kki_aabb box;
    kki_probe_range(x, kk_vec3_make(1, 0, 0), &box.lower.x, &box.upper.x);
    kki_probe_range(x, kk_vec3_make(0, 1, 0), &box.lower.y, &box.upper.y);
    kki_probe_range(x, kk_vec3_make(0, 0, 1), &box.lower.z, &box.upper.z);
    return kki_aabb_grow(box, x->radius);
}

bool kki_mesh_set_triangle(kki_mesh_work *c, int32_t place) {
    if (!kki_facet_load(&c->x_source, place, &c->x_facet)) {
        return false;
    }
    c->x.facet = &c->x_facet;
    for (int k = 0; k < 3; k++) {
        c->x.corner[k] = kk_transform_point(c->x.X_MX, c->x_facet.v[k]);
    }
    c->x_face = (kki_convex_face){c->x_facet.n, 0, 0, 3};
    c->x.shape = (kki_polytope){3, 1, 3, c->x_facet.v, &c->x_face, TRIANGLE_LOOP, TRIANGLE_EDGES};
    c->x.size = c->x_facet.size;
    return true;
}

kki_core kki_probe_core(const kki_probe *x) {
    return x->facet ? kki_core_triangle(x->shape.vertex, 0) : x->core;
}
