// Volume, centroid and areas of the intersection of two convex polyhedra.
//
// Its surface consists of A's faces cut by B's planes and of B's cut by A's (faces that lie on each other count once). With
// each piece split into triangles (p, q, r) about a point o, Gauss gives
//     V = Σ det(p, q, r) / 6,     ∫ x dV = Σ det(p, q, r) (p + q + r) / 24,
// and half of the sum of |n · area| is the area of the shadow along n, since the body is convex.
#include "collision/region.h"

#include <stdbool.h>

#include "geometry/convex.h"

enum { CORNERS = 128 };

// A polyhedron seen from the point o: planes and polygons of the intersection are made in this frame, W − o.
typedef struct solid {
    const kki_shape *shape;
    kk_transform X;
    int faces;
} solid;

typedef struct polygon {
    int count;
    kk_vec3 p[CORNERS];
} polygon;

typedef struct plane {
    kk_vec3 n;
    double offset;
} plane;

static solid solid_of(const kki_shape *shape, const kk_transform *X_WS, kk_vec3 o) {
    return (solid){shape, kk_transform_make(X_WS->R, kk_vec3_sub(X_WS->p, o)),
                   shape->type == KK_SHAPE_BOX ? 6 : shape->convex->face_count};
}

static plane plane_of(const solid *s, int face) {
    kk_vec3 n;
    double offset;
    if (s->shape->type == KK_SHAPE_BOX) {
        const double sign = face & 1 ? 1 : -1;
        n = kk_vec3_scale(kk_mat3_column(s->X.R, face / 2), sign);
        offset = s->shape->half[face / 2];
    } else {
        n = kk_mat3_mul_vec(s->X.R, s->shape->convex->face[face].normal);
        offset = s->shape->convex->face[face].offset;
    }
    return (plane){n, offset + kk_vec3_dot(n, s->X.p)};
}

static void box_polygon(const solid *s, int face, polygon *poly) {
    static const int8_t LOOP[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    const double *h = s->shape->half;
    poly->count = 4;
    for (int i = 0; i < 4; i++) {
        const int k = LOOP[face][i];
        const kk_vec3 p = {k & 1 ? h[0] : -h[0], k & 2 ? h[1] : -h[1], k & 4 ? h[2] : -h[2]};
        poly->p[i] = kk_transform_point(s->X, p);
    }
}

static bool polygon_of(const solid *s, int face, polygon *poly) {
    if (s->shape->type == KK_SHAPE_BOX) {
        box_polygon(s, face, poly);
        return true;
    }
    const kki_convex *c = s->shape->convex;
    const kki_convex_face *f = &c->face[face];
    poly->count = f->count;
    for (int i = 0; i < f->count && i < CORNERS; i++) {
        poly->p[i] = kk_transform_point(s->X, c->vertex[c->loop[f->first + i]]);
    }
    return f->count <= CORNERS - 8;
}

// Keeps n · x ≤ offset; a polygon that lies in the plane stays.
static bool cut(polygon *poly, plane w) {
    polygon out;
    out.count = 0;
    for (int i = 0; i < poly->count; i++) {
        const kk_vec3 p = poly->p[i], q = poly->p[i + 1 < poly->count ? i + 1 : 0];
        const double hp = kk_vec3_dot(w.n, p) - w.offset, hq = kk_vec3_dot(w.n, q) - w.offset;
        if (out.count + 2 > CORNERS) {
            return false;
        }
        if (hp <= 0) {
            out.p[out.count++] = p;
        }
        if ((hp < 0 && hq > 0) || (hp > 0 && hq < 0)) {
            out.p[out.count++] = kk_vec3_add(p, kk_vec3_scale(kk_vec3_sub(q, p), hp / (hp - hq)));
        }
    }
    poly->count = out.count;
    for (int i = 0; i < out.count; i++) {
        poly->p[i] = out.p[i];
    }
    return true;
}

// Faces of A and B that lie on each other, looking the same way: B's is left out.
static bool is_doubled(const solid *other, plane w, double tiny) {
    for (int i = 0; i < other->faces; i++) {
        const plane v = plane_of(other, i);
        const kk_vec3 d = kk_vec3_sub(v.n, w.n);
        if (kk_vec3_dot(d, d) < 1e-24 && __builtin_fabs(v.offset - w.offset) <= tiny) {
            return true;
        }
    }
    return false;
}

static void add(const polygon *poly, kk_vec3 normal, kki_region *r) {
    kk_vec3 area = {0, 0, 0};
    for (int i = 1; i + 1 < poly->count; i++) {
        const kk_vec3 p = poly->p[0], q = poly->p[i], s = poly->p[i + 1];
        const double det = kk_vec3_dot(p, kk_vec3_cross(q, s));
        r->volume += det / 6;
        r->centroid = kk_vec3_add(r->centroid, kk_vec3_scale(kk_vec3_add(p, kk_vec3_add(q, s)), det / 24));
        area = kk_vec3_add(area, kk_vec3_cross(kk_vec3_sub(q, p), kk_vec3_sub(s, p)));
    }
    r->surface += 0.5 * kk_vec3_norm(area);
    r->area += 0.25 * __builtin_fabs(kk_vec3_dot(area, normal));
}

// The faces of one solid inside the other.
static bool add_faces(const solid *s, const solid *other, bool skips_doubled, double tiny, kk_vec3 normal,
                      kki_region *r) {
    for (int i = 0; i < s->faces; i++) {
        polygon poly;
        if (skips_doubled && is_doubled(other, plane_of(s, i), tiny)) {
            continue;
        }
        if (!polygon_of(s, i, &poly)) {
            return false;
        }
        for (int k = 0; k < other->faces && poly.count > 0; k++) {
            if (!cut(&poly, plane_of(other, k))) {
                return false;
            }
        }
        add(&poly, normal, r);
    }
    return true;
}

static bool is_known(const kki_shape *s) {
    return (s->type == KK_SHAPE_BOX || s->type == KK_SHAPE_HULL) && s->margin == 0;
}

static double size_of(const kki_shape *s) {
    return s->type == KK_SHAPE_BOX ? s->half[0] + s->half[1] + s->half[2] : s->convex->extent;
}

int kki_region_find(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                    kk_vec3 normal, kki_region *region) {
    *region = (kki_region){0};
    if (!is_known(a) || !is_known(b)) {
        return 0;
    }
    const kk_vec3 o = X_WA->p; // near both, so that little cancels
    const solid sa = solid_of(a, X_WA, o), sb = solid_of(b, X_WB, o);
    const double tiny = 1e-12 * (size_of(a) + size_of(b));
    if (!add_faces(&sa, &sb, false, tiny, normal, region) || !add_faces(&sb, &sa, true, tiny, normal, region)) {
        return 0;
    }
    if (!(region->volume > 0)) {
        *region = (kki_region){0};
        return 1;
    }
    region->centroid = kk_vec3_add(o, kk_vec3_scale(region->centroid, 1 / region->volume));
    return 1;
}
