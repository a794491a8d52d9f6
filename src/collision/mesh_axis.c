// The direction of contact of one triangle and a convex core: separating axes, restricted to summits (facet.h).
//
// Axes are the triangle's normal, X's face normals, and cross products of edges; of two polytopes' edges only those
// whose arcs on the sphere of normals cross can be axes (Gregorius 2013). Round cores (points, segments, anything with a
// radius) have the directions between nearest points besides. Every axis is judged by its real separation, so that a
// wrong candidate can never be mistaken for a better one.
//
// Bodies known by their support function alone have one candidate, the direction that GJK and EPA find for triangle and
// body, and the normal of the flat face they turn to the triangle.
#include <string.h>

#include "collision/gjk.h"
#include "collision/mesh_contact.h"
#include "collision/patch.h"
#include "collision/point.h"

static inline void range_of_corners(const kk_vec3 corner[3], kk_vec3 d, double *low, double *high) {
    const double a = kk_vec3_dot(d, corner[0]), b = kk_vec3_dot(d, corner[1]), c = kk_vec3_dot(d, corner[2]);
    *low = kki_lesser(a, kki_lesser(b, c));
    *high = kki_greater(a, kki_greater(b, c));
}

// of triangles at once: there are many
static inline void range_of(const kki_probe *x, kk_vec3 d, double *low, double *high) {
    if (x->facet) {
        range_of_corners(x->corner, d, low, high);
    } else {
        kki_probe_range(x, d, low, high);
    }
}

void kki_probe_range(const kki_probe *x, kk_vec3 d, double *low, double *high) {
    if (x->facet) {
        range_of_corners(x->corner, d, low, high);
        return;
    }
    const kk_vec3 l = kk_mat3_tmul_vec(x->X_MX.R, d);
    const double offset = kk_vec3_dot(d, x->X_MX.p);
    if (x->is_box) {
        const double h =
            __builtin_fabs(l.x) * x->half[0] + __builtin_fabs(l.y) * x->half[1] + __builtin_fabs(l.z) * x->half[2];
        *low = offset - h;
        *high = offset + h;
        return;
    }
    if (x->is_general) {
        int id = -1, other = -1;
        *high = offset + kk_vec3_dot(l, kki_core_support(&x->core, l, &id));
        *low = offset + kk_vec3_dot(l, kki_core_support(&x->core, kk_vec3_neg(l), &other));
        return;
    }
    double least = __builtin_inf(), most = -__builtin_inf();
    for (int32_t i = 0; i < x->shape.vertex_count; i++) {
        const double s = kk_vec3_dot(l, x->shape.vertex[i]);
        least = kki_lesser(least, s);
        most = kki_greater(most, s);
    }
    *low = offset + least;
    *high = offset + most;
}

kk_vec3 kki_probe_farthest(const kki_probe *x, kk_vec3 l) {
    int id = -1;
    if (x->is_general) {
        return kki_core_support(&x->core, l, &id);
    }
    int32_t best = 0;
    for (int32_t i = 1; i < x->shape.vertex_count; i++) {
        best = kk_vec3_dot(l, x->shape.vertex[i]) > kk_vec3_dot(l, x->shape.vertex[best]) ? i : best;
    }
    return x->shape.vertex[best];
}

uint32_t kki_probe_vertex_feature(const kki_probe *x, int32_t i) {
    return kki_feature(KKI_FEATURE_VERTEX, x->facet ? x->facet->vertex[i] : i);
}

uint32_t kki_probe_edge_feature(const kki_probe *x, int32_t a, int32_t b) {
    if (x->facet) {
        return kki_feature(KKI_FEATURE_EDGE, x->facet->edge[(a + 1) % 3 == b ? a : b]);
    }
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return kki_feature(KKI_FEATURE_EDGE, low * 16384 + high);
}

typedef struct search {
    const kki_facets *source;
    const kki_facet *f;
    const kki_probe *x;
    double limit; // separation beyond which nothing is near
    double tiny;  // lengths below this are rounding
    double any;   // greatest separation along any axis: a lower bound of the distance
    kki_hit face; // along the triangle's normal
    kki_hit best;
    bool is_found;
} search;

static kk_vec3 unit(kk_vec3 v, double size) {
    return kk_vec3_make(v.x / size, v.y / size, v.z / size);
}

static double separation(const search *s, kk_vec3 d) {
    double low, high, x_low, x_high;
    kki_facet_range(s->f, d, &low, &high);
    range_of(s->x, d, &x_low, &x_high);
    return x_low - high;
}

// How much an axis must have: more than the best, whatever kind that is. Faces of X may turn by very little from one to
// the next, so nothing beyond rounding is asked for.
static double required(const search *s) {
    return s->is_found ? s->best.sep + s->tiny : -__builtin_inf();
}

// ---- the triangle's normal

static void try_normal(search *s) {
    double low, high;
    const double plane = kk_vec3_dot(s->f->n, s->f->v[0]);
    range_of(s->x, s->f->n, &low, &high);
    const double front = low - plane, back = plane - high;
    const bool is_back = !s->f->is_solid && back > front;
    s->any = kki_greater(front, s->f->is_prism ? s->x->clear : back);
    s->face = (kki_hit){.kind = KKI_HIT_FACE,
                        .d = is_back ? kk_vec3_neg(s->f->n) : s->f->n,
                        .sep = is_back ? back : front,
                        .place = s->f->place};
    s->best = s->face;
    s->is_found = true;
}

// ---- faces of X

static void try_x_face(search *s, int32_t i, kk_vec3 d, double sep) {
    if (sep > required(s) && kki_facet_is_summit(s->source, s->f, d)) {
        s->best = (kki_hit){.kind = KKI_HIT_X_FACE, .d = d, .sep = sep, .place = s->f->place, .index = i};
    }
}

static void try_x_faces(search *s) {
    const kki_polytope *p = &s->x->shape;
    for (int32_t i = 0; i < p->face_count && s->any <= s->limit; i++) {
        const kk_vec3 d = kk_vec3_neg(kk_mat3_mul_vec(s->x->X_MX.R, p->face[i].normal));
        const double plane = kk_vec3_dot(d, kki_probe_vertex(s->x, p->loop[p->face[i].first]));
        double low, high;
        kki_facet_range(s->f, d, &low, &high);
        s->any = kki_greater(s->any, plane - high);
        try_x_face(s, i, d, plane - high);
        if (s->x->facet) { // a triangle of a mesh has two sides, and of a sheet both are touched
            s->any = kki_greater(s->any, low - plane);
            if (!s->x->facet->is_solid) {
                try_x_face(s, i, kk_vec3_neg(d), low - plane);
            }
        }
    }
}

// the same for a box, two opposite faces at a time: faces −x, +x, −y, … in this order
static void try_box_faces(search *s) {
    const kki_probe *x = s->x;
    for (int k = 0; k < 3 && s->any <= s->limit; k++) {
        const kk_vec3 axis = kk_mat3_column(x->X_MX.R, k);
        const double middle = kk_vec3_dot(axis, x->X_MX.p);
        double low, high;
        kki_facet_range(s->f, axis, &low, &high);
        const double sep[2] = {middle - x->half[k] - high, low - middle - x->half[k]};
        s->any = kki_greater(s->any, kki_greater(sep[0], sep[1]));
        for (int side = 0; side < 2; side++) {
            try_x_face(s, 2 * k + side, side ? kk_vec3_neg(axis) : axis, sep[side]);
        }
    }
}

// ---- edges against edges

typedef struct segment {
    kk_vec3 p, u;
} segment;

// parameters of the nearest points of two lines; false where they are parallel
static bool nearest_on_lines(segment a, segment b, double *s, double *t) {
    const kk_vec3 w = kk_vec3_sub(b.p, a.p);
    const double aa = kk_vec3_dot(a.u, a.u), bb = kk_vec3_dot(b.u, b.u), ab = kk_vec3_dot(a.u, b.u);
    const double det = aa * bb - ab * ab;
    if (!(det > 1e-14 * aa * bb)) {
        return false;
    }
    const double wa = kk_vec3_dot(w, a.u), wb = kk_vec3_dot(w, b.u);
    *s = (wa * bb - wb * ab) / det;
    *t = (wa * ab - wb * aa) / det;
    return true;
}

static bool is_within(double t) {
    return t >= -1e-9 && t <= 1 + 1e-9;
}

// the edge of X is a summit too where X is a triangle of a mesh; edges of convex bodies always are
static bool x_edge_is_summit(const kki_probe *x, int32_t a, int32_t b, kk_vec3 d) {
    if (!x->facet) {
        return true;
    }
    const int k = (a + 1) % 3 == b ? a : b;
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(x->X_MX.R, d));
    return x->facet->edge_kind[k] != KKI_EDGE_FLAT && kki_facet_edge_is_summit(x->facet, k, l);
}

static void try_edge_axis(search *s, int k, int32_t a, int32_t b, kk_vec3 d) {
    const double sep = separation(s, d);
    s->any = kki_greater(s->any, sep);
    if (s->f->edge_kind[k] == KKI_EDGE_FLAT || !(sep > required(s))) {
        return;
    }
    const segment t = {s->f->v[k], kk_vec3_sub(s->f->v[(k + 1) % 3], s->f->v[k])};
    const kk_vec3 p = kki_probe_vertex(s->x, a);
    const segment x = {p, kk_vec3_sub(kki_probe_vertex(s->x, b), p)};
    double along_t, along_x;
    if (!nearest_on_lines(t, x, &along_t, &along_x) || !is_within(along_t) || !is_within(along_x) ||
        !kki_facet_edge_is_summit(s->f, k, d) || !x_edge_is_summit(s->x, a, b, d)) {
        return;
    }
    // the two edges must be what separates, not another part of the bodies
    const double between = kk_vec3_dot(d, kk_vec3_sub(x.p, t.p));
    if (__builtin_fabs(between - sep) > 8 * s->tiny) {
        return;
    }
    s->best = (kki_hit){.kind = KKI_HIT_POINT,
                        .d = d,
                        .sep = sep,
                        .place = s->f->place,
                        .on_mesh = kk_vec3_add(t.p, kk_vec3_scale(t.u, along_t)),
                        .feature = {kki_feature(KKI_FEATURE_EDGE, s->f->edge[k]), kki_probe_edge_feature(s->x, a, b)}};
}

// Whether an axis of squared length size2 with separation sep · size is worth a closer look: better than the best, or
// proof that the bodies are apart. Without roots and divisions, since most are not.
static bool is_worth_it(const search *s, double sep, double size2, bool is_flat) {
    const double apart = kki_greater(s->any, s->x->radius), least = is_flat ? apart : kki_lesser(apart, required(s));
    const double square = least * least * size2;
    return least < 0 ? sep >= 0 || sep * sep < square : sep > 0 && sep * sep > square;
}

static void try_edge_pair(search *s, int k, int32_t a, int32_t b, kk_vec3 e, int sides) {
    const kki_probe *p = s->x;
    const kk_vec3 u = p->facet ? kk_vec3_sub(p->corner[b], p->corner[a])
                               : kk_mat3_mul_vec(p->X_MX.R, kk_vec3_sub(p->shape.vertex[b], p->shape.vertex[a]));
    const kk_vec3 c = kk_vec3_cross(u, e);
    const double size2 = kk_vec3_dot(c, c);
    if (!(size2 > 1e-16 * kk_vec3_dot(u, u) * kk_vec3_dot(e, e))) {
        return;
    }
    const bool is_flat = s->f->edge_kind[k] == KKI_EDGE_FLAT;
    double low, high, x_low, x_high;
    kki_facet_range(s->f, c, &low, &high);
    range_of(s->x, c, &x_low, &x_high);
    if ((sides & 1) && is_worth_it(s, x_low - high, size2, is_flat)) {
        try_edge_axis(s, k, a, b, unit(c, kk_sqrt(size2)));
    }
    if ((sides & 2) && is_worth_it(s, low - x_high, size2, is_flat)) {
        try_edge_axis(s, k, a, b, kk_vec3_neg(unit(c, kk_sqrt(size2))));
    }
}

// Bit 0: u × e may separate, bit 1: its negative. X's edge is farthest along −d where −d lies between its two normals.
static int sides_of_edge(const kki_probe *x, int32_t i, kk_vec3 e) {
    const kki_convex_edge *edge = &x->shape.edge[i];
    if (x->facet || x->shape.face_count == 0) {
        return 3;
    }
    const kk_vec3 n0 = x->shape.face[edge->face[0]].normal, n1 = x->shape.face[edge->face[1]].normal;
    const double s0 = kk_vec3_dot(n0, e), s1 = kk_vec3_dot(n1, e);
    if (!(s0 * s1 < 0)) {
        return 0;
    }
    const kk_vec3 u = kk_vec3_sub(x->shape.vertex[edge->vertex[1]], x->shape.vertex[edge->vertex[0]]);
    return kk_vec3_dot(kk_vec3_cross(u, e), kk_vec3_add(n0, n1)) < 0 ? 1 : 2;
}

// Of a box's four edges along one axis, the one farthest along −d; corners are numbered by bits.
static void try_box_axis(search *s, int k, int axis, kk_vec3 d) {
    const kk_vec3 l = kk_mat3_tmul_vec(s->x->X_MX.R, d);
    const int corner = ((l.x < 0) | (l.y < 0) << 1 | (l.z < 0) << 2) & ~(1 << axis);
    try_edge_axis(s, k, corner, corner | 1 << axis, d);
}

// three directions of edges, each with both signs
static void try_box_edges(search *s) {
    for (int i = 0; i < 9 && s->any <= s->limit; i++) {
        const int k = i / 3, axis = i % 3;
        const kk_vec3 e = kk_vec3_sub(s->f->v[(k + 1) % 3], s->f->v[k]);
        const kk_vec3 c = kk_vec3_cross(kk_mat3_column(s->x->X_MX.R, axis), e);
        const double size2 = kk_vec3_dot(c, c);
        if (!(size2 > 1e-16 * kk_vec3_dot(e, e))) {
            continue;
        }
        const bool is_flat = s->f->edge_kind[k] == KKI_EDGE_FLAT;
        double low, high, x_low, x_high;
        kki_facet_range(s->f, c, &low, &high);
        range_of(s->x, c, &x_low, &x_high);
        if (is_worth_it(s, x_low - high, size2, is_flat)) {
            try_box_axis(s, k, axis, unit(c, kk_sqrt(size2)));
        }
        if (is_worth_it(s, low - x_high, size2, is_flat)) {
            try_box_axis(s, k, axis, kk_vec3_neg(unit(c, kk_sqrt(size2))));
        }
    }
}

static void try_edges(search *s) {
    for (int k = 0; k < 3; k++) {
        const kk_vec3 e = kk_vec3_sub(s->f->v[(k + 1) % 3], s->f->v[k]);
        const kk_vec3 l = kk_mat3_tmul_vec(s->x->X_MX.R, e);
        for (int32_t i = 0; i < s->x->shape.edge_count && s->any <= s->limit; i++) {
            const int sides = sides_of_edge(s->x, i, l);
            if (sides) {
                try_edge_pair(s, k, s->x->shape.edge[i].vertex[0], s->x->shape.edge[i].vertex[1], e, sides);
            }
        }
    }
}

// Of two triangles in one plane, products of edges say nothing: what parts them lies in the plane, across an edge.
static void try_in_plane(search *s) {
    const kki_probe *x = s->x;
    const kk_vec3 sine = kk_vec3_cross(s->f->n, kk_mat3_mul_vec(x->X_MX.R, x->facet->n));
    for (int k = 0; k < 3 && kk_vec3_dot(sine, sine) < KKI_FLAT_SINE * KKI_FLAT_SINE; k++) {
        const int next = (k + 1) % 3;
        const kk_vec3 a = kk_vec3_cross(kk_vec3_sub(s->f->v[next], s->f->v[k]), s->f->n);
        const kk_vec3 e = kk_vec3_sub(x->corner[next], x->corner[k]);
        const kk_vec3 b = kk_vec3_cross(kk_mat3_mul_vec(x->X_MX.R, x->facet->n), e);
        s->any = kki_greater(s->any, separation(s, unit(a, kk_vec3_norm(a))));
        s->any = kki_greater(s->any, separation(s, unit(b, kk_vec3_norm(b))));
    }
}

// ---- nearest points of round cores

typedef struct nearest {
    double distance2;
    kk_vec3 on_mesh, on_x;
    int feature; // of the triangle, kki_triangle_point
    uint32_t x_feature;
} nearest;

static void keep_nearer(nearest *best, kk_vec3 on_mesh, kk_vec3 on_x, int feature, uint32_t x_feature) {
    const kk_vec3 r = kk_vec3_sub(on_x, on_mesh);
    const double d2 = kk_vec3_dot(r, r);
    if (d2 < best->distance2) {
        *best = (nearest){d2, on_mesh, on_x, feature, x_feature};
    }
}

static void nearest_of_vertices(const search *s, nearest *best) {
    for (int32_t i = 0; i < s->x->shape.vertex_count; i++) {
        const kk_vec3 p = kki_probe_vertex(s->x, i);
        const kki_triangle_point q = kki_triangle_closest(s->f->v, p);
        keep_nearer(best, q.p, p, q.feature, kki_probe_vertex_feature(s->x, i));
    }
}

static double clamped(double t) {
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

// a corner of the triangle against an edge of X
static void nearest_of_corner(const search *s, int k, segment x, uint32_t x_feature, nearest *best) {
    const double uu = kk_vec3_dot(x.u, x.u);
    const double t = uu > 0 ? clamped(kk_vec3_dot(kk_vec3_sub(s->f->v[k], x.p), x.u) / uu) : 0;
    if (t > 0 && t < 1) {
        keep_nearer(best, s->f->v[k], kk_vec3_add(x.p, kk_vec3_scale(x.u, t)), k, x_feature);
    }
}

static void nearest_of_edges(const search *s, nearest *best) {
    for (int32_t i = 0; i < s->x->shape.edge_count; i++) {
        const int32_t a = s->x->shape.edge[i].vertex[0], b = s->x->shape.edge[i].vertex[1];
        const kk_vec3 p = kki_probe_vertex(s->x, a);
        const segment x = {p, kk_vec3_sub(kki_probe_vertex(s->x, b), p)};
        const uint32_t id = kki_probe_edge_feature(s->x, a, b);
        for (int k = 0; k < 3; k++) {
            const segment t = {s->f->v[k], kk_vec3_sub(s->f->v[(k + 1) % 3], s->f->v[k])};
            double along_t, along_x;
            if (nearest_on_lines(t, x, &along_t, &along_x) && along_t > 0 && along_t < 1 && along_x > 0 &&
                along_x < 1) {
                keep_nearer(best, kk_vec3_add(t.p, kk_vec3_scale(t.u, along_t)),
                            kk_vec3_add(x.p, kk_vec3_scale(x.u, along_x)), 3 + k, id);
            }
            nearest_of_corner(s, k, x, id, best);
        }
    }
}

static bool nearest_is_summit(const search *s, const nearest *best, kk_vec3 d) {
    return best->feature >= 3 ? kki_facet_edge_is_summit(s->f, best->feature - 3, d)
                              : kki_facet_is_summit(s->source, s->f, d);
}

// a triangle of a mesh stands for its neighborhood too
static bool x_is_summit(const kki_probe *x, kk_vec3 d) {
    const kki_facets source = {x->facet ? x->facet->surface : NULL, NULL};
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(x->X_MX.R, d));
    return !x->facet || (kki_facet_top(x->facet, l) < 6 && kki_facet_is_summit(&source, x->facet, l));
}

static void try_nearest(search *s) {
    nearest best = {.distance2 = __builtin_inf()};
    nearest_of_vertices(s, &best);
    nearest_of_edges(s, &best);
    const double distance = kk_sqrt(best.distance2);
    // where the nearest feature is the face, its normal has been tried; where they meet there is no direction
    if (best.feature == 6 || !(distance > s->tiny)) {
        return;
    }
    const kk_vec3 d = unit(kk_vec3_sub(best.on_x, best.on_mesh), distance);
    const double sep = separation(s, d);
    s->any = kki_greater(s->any, sep);
    if (!(sep > required(s)) || !(distance - sep < 8 * s->tiny) || !nearest_is_summit(s, &best, d) ||
        !x_is_summit(s->x, d)) {
        return;
    }
    const uint32_t id = best.feature >= 3 ? kki_feature(KKI_FEATURE_EDGE, s->f->edge[best.feature - 3])
                                          : kki_feature(KKI_FEATURE_VERTEX, s->f->vertex[best.feature]);
    s->best = (kki_hit){.kind = KKI_HIT_POINT,
                        .d = d,
                        .sep = sep,
                        .place = s->f->place,
                        .on_mesh = best.on_mesh,
                        .feature = {id, best.x_feature}};
}

// ---- bodies known by their support function

static uint32_t top_feature(const kki_facet *f, int top) {
    return top == 6   ? kki_feature(KKI_FEATURE_FACE, f->region)
           : top >= 3 ? kki_feature(KKI_FEATURE_EDGE, f->edge[top - 3])
                      : kki_feature(KKI_FEATURE_VERTEX, f->vertex[top]);
}

// The point of the triangle's top that is nearest to X's middle.
static kk_vec3 top_point(const search *s, int top) {
    if (top < 3) {
        return s->f->v[top];
    }
    const kk_vec3 p = s->f->v[top % 3];
    const kk_vec3 corner[3] = {p, s->f->v[(top + 1) % 3], top == 6 ? s->f->v[2] : p};
    return kki_triangle_closest(corner, s->x->X_MX.p).p;
}

// `on_mesh` is where GJK and EPA found the nearest point of the triangle.
static void try_direction(search *s, kki_hit_kind kind, kk_vec3 d, kk_vec3 on_mesh) {
    const double sep = separation(s, d);
    s->any = kki_greater(s->any, sep);
    const int top = kki_facet_top(s->f, d);
    // along the face's own normal it has been tried
    if (!(sep > required(s)) || (kind == KKI_HIT_POINT && top == 6) || !kki_facet_is_summit(s->source, s->f, d)) {
        return;
    }
    s->best = (kki_hit){.kind = (uint8_t)kind,
                        .d = d,
                        .sep = sep,
                        .place = s->f->place,
                        .index = -1,
                        .on_mesh = kind == KKI_HIT_X_FACE ? top_point(s, top) : on_mesh,
                        .feature = {top_feature(s->f, top), kki_feature(KKI_FEATURE_FACE, -1)}};
}

// ---- a sharp edge against such a body
//
// It may touch along any direction d between its faces' normals, and the way out of a single triangle that GJK and EPA
// find may lead past its rim, where the neighbor is. Seen along the edge, X is a convex region of the plane and the
// separation along d is that of its point q farthest towards the mesh: between two directions it is at most what both
// points say where they say the same, across the line from one to the other. The best direction is found by cutting the
// arc there until nothing is to be gained, as an expanding polygon does: a proof that none was overlooked, as golden
// section is not, and exact where X has corners.

enum { ARC_LOOKS = 96, ARC_DEPTH = 48 };

typedef struct arc_look {
    kk_vec3 d, q; // direction, and from the edge's first corner to the point of X that is lowest along it
    double sep;
} arc_look;

typedef struct arc {
    const search *s;
    kk_vec3 p, u;       // the edge: a corner, unit direction
    arc_look low, high; // the best place between them
    kk_vec3 d;
    double sep;
    bool is_inner; // the best is not an end
    int looks;
} arc;

static arc_look look_along(arc *a, kk_vec3 d) {
    const kki_probe *x = a->s->x;
    int id = -1;
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(x->X_MX.R, d));
    const kk_vec3 q = kk_vec3_sub(kk_transform_point(x->X_MX, kki_core_support(&x->core, l, &id)), a->p);
    a->looks++;
    return (arc_look){d, q, kk_vec3_dot(d, q)};
}

// Where both ends say the same; false where no direction between them can be better than the best so far.
static bool middle_of_arc(const arc *a, const arc_look *i, const arc_look *j, kk_vec3 *d) {
    const kk_vec3 c = kk_vec3_cross(a->u, kk_vec3_sub(j->q, i->q));
    const double size = kk_vec3_norm(c), side = kk_vec3_dot(c, kk_vec3_add(i->d, j->d));
    if (!(size > a->s->tiny)) {
        return false;
    }
    *d = kk_vec3_scale(c, side < 0 ? -1 / size : 1 / size);
    const double most = kki_lesser(kk_vec3_dot(*d, i->q), kk_vec3_dot(*d, j->q));
    const double turn = kk_vec3_dot(a->u, kk_vec3_cross(i->d, j->d));
    return most > a->sep + 0.25 * a->s->tiny && turn * kk_vec3_dot(a->u, kk_vec3_cross(i->d, *d)) > 0 &&
           turn * kk_vec3_dot(a->u, kk_vec3_cross(*d, j->d)) > 0;
}

static void search_arc(arc *a, arc_look first, arc_look last) {
    arc_look stack[ARC_DEPTH];
    int depth = 0;
    stack[0] = last;
    for (arc_look at = first; depth >= 0 && a->looks < ARC_LOOKS;) {
        kk_vec3 d;
        if (depth + 1 == ARC_DEPTH || !middle_of_arc(a, &at, &stack[depth], &d)) {
            at = stack[depth--];
            continue;
        }
        const arc_look middle = look_along(a, d);
        if (middle.sep > a->sep) {
            a->sep = middle.sep, a->d = d, a->is_inner = true;
            a->low = at, a->high = stack[depth];
        }
        stack[++depth] = middle;
    }
}

// Where on the edge: X's points at both ends of the last cut, weighed so that the place lies along d over the edge.
static double place_on_edge(const arc *a) {
    const kk_vec3 side = kk_vec3_cross(a->u, a->d);
    const double i = kk_vec3_dot(side, a->low.q), j = kk_vec3_dot(side, a->high.q);
    const double t = i != j ? clamped(i / (i - j)) : 0;
    return (1 - t) * kk_vec3_dot(a->u, a->low.q) + t * kk_vec3_dot(a->u, a->high.q);
}

// not inlined: its stack is not to lie below the search of overlapping bodies
__attribute__((noinline)) static void try_arc(search *s, int k) {
    kk_vec3 m;
    if (s->f->edge_kind[k] != KKI_EDGE_CONVEX || !kki_facet_normal_beside(s->f, k, &m) ||
        !(kk_vec3_dot(s->f->n, m) > -0.99)) {
        return;
    }
    const kk_vec3 e = kk_vec3_sub(s->f->v[(k + 1) % 3], s->f->v[k]);
    const double length = kk_vec3_norm(e);
    arc a = {.s = s, .p = s->f->v[k], .u = unit(e, length)};
    const arc_look first = look_along(&a, s->f->n), last = look_along(&a, m);
    a.sep = kki_greater(s->best.sep, kki_greater(first.sep, last.sep));
    search_arc(&a, first, last);
    const double t = a.is_inner ? place_on_edge(&a) / length : -1;
    if (is_within(t)) {
        try_direction(s, KKI_HIT_POINT, a.d, kk_vec3_add(a.p, kk_vec3_scale(e, clamped(t))));
    }
}

// ---- corners of the triangle inside such a body: out through its faces, flat or round

// the flat faces of a hull, seen from its frame
static void try_hull_faces(search *s, kk_vec3 on_mesh) {
    const kki_probe *x = s->x;
    kk_vec3 v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = kk_mat3_tmul_vec(x->X_MX.R, kk_vec3_sub(s->f->v[k], x->X_MX.p));
    }
    for (int32_t i = 0; i < x->shape.face_count; i++) {
        const kki_convex_face *face = &x->shape.face[i];
        const kk_vec3 n = face->normal;
        const double sep = kki_lesser(kk_vec3_dot(n, v[0]), kki_lesser(kk_vec3_dot(n, v[1]), kk_vec3_dot(n, v[2])));
        if (sep - face->offset > required(s)) {
            try_direction(s, KKI_HIT_X_FACE, kk_vec3_neg(kk_mat3_mul_vec(x->X_MX.R, n)), on_mesh);
        }
    }
}

static void try_out_of_corner(search *s, int k, kk_vec3 outward) {
    const kk_vec3 d = kk_vec3_neg(kk_mat3_mul_vec(s->x->X_MX.R, outward));
    if (kki_facet_top(s->f, d) == k) {
        try_direction(s, KKI_HIT_POINT, d, s->f->v[k]);
    }
}

// a round side at the corner's place around the axis
static void try_side(search *s, int k, kk_vec3 p) {
    const kki_core *core = &s->x->core;
    const double across = kk_sqrt(p.x * p.x + p.y * p.y);
    const double z = core->type == KKI_CORE_CONE ? 0.5 * core->half[0] / core->half[2] : 0, size = kk_sqrt(1 + z * z);
    if (across > 0) {
        try_out_of_corner(s, k, kk_vec3_make(p.x / (across * size), p.y / (across * size), z / size));
    }
}

static void try_round_faces(search *s, kk_vec3 on_mesh) {
    const kki_probe *x = s->x;
    const bool has_caps = x->core.type != KKI_CORE_ELLIPSOID;
    for (int end = -1; end <= 1 && has_caps; end += 2) {
        if (end < 0 || x->core.type == KKI_CORE_CYLINDER) {
            const kk_vec3 axis = kk_mat3_column(x->X_MX.R, 2);
            try_direction(s, KKI_HIT_X_FACE, kk_vec3_scale(axis, -end), on_mesh);
        }
    }
    for (int k = 0; k < 3; k++) {
        const kk_vec3 p = kk_mat3_tmul_vec(x->X_MX.R, kk_vec3_sub(s->f->v[k], x->X_MX.p));
        kki_point_distance r;
        if (has_caps) {
            try_side(s, k, p);
        } else if (kki_core_point_distance(&x->core, p, &r)) {
            try_out_of_corner(s, k, r.normal);
        }
    }
}

static void try_faces_of_core(search *s, kk_vec3 on_mesh) {
    if (s->x->core.type == KKI_CORE_HULL) {
        try_hull_faces(s, on_mesh);
    } else {
        try_round_faces(s, on_mesh);
    }
}

/// The newest takes the place of the one that has not served for longest.
static void keep_way(kki_clear_ways *w, kk_vec3 d, double low) {
    const int last = w->count < KKI_CLEAR_WAYS ? w->count++ : KKI_CLEAR_WAYS - 1;
    memmove(w->d + 1, w->d, (size_t)last * sizeof *w->d);
    memmove(w->low + 1, w->low, (size_t)last * sizeof *w->low);
    w->d[0] = d;
    w->low[0] = low;
}

static void try_clear(search *s, kk_vec3 d) {
    double low, high, x_low, x_high;
    kki_facet_range(s->f, d, &low, &high);
    range_of(s->x, d, &x_low, &x_high);
    s->any = kki_greater(s->any, x_low - high);
    if (s->x->ways && x_low - high > s->limit) {
        keep_way(s->x->ways, d, x_low);
    }
}

static void try_general(search *s) {
    const kk_vec3 o = s->f->v[0]; // near the triangle, so that rounding is measured by the bodies and not by the place
    const kk_vec3 corner[3] = {{0, 0, 0}, kk_vec3_sub(s->f->v[1], o), kk_vec3_sub(s->f->v[2], o)};
    const kki_core triangle = kki_core_triangle(corner, 0);
    const kk_transform X = {s->x->X_MX.R, kk_vec3_sub(s->x->X_MX.p, o)};
    const kki_core_pair pair = kki_core_pair_make(&triangle, &s->x->core, &X);
    kki_core_distance r;
    if (!kki_core_distance_find(&pair, s->limit, NULL, &r)) {
        try_clear(s, r.normal);
        return;
    }
    const kk_vec3 on_mesh = kk_vec3_add(o, r.on_a);
    kki_patch patch;
    kki_core_patch(&s->x->core, kk_vec3_neg(kk_mat3_tmul_vec(X.R, r.normal)), &patch);
    if (patch.count >= 3) {
        try_direction(s, KKI_HIT_X_FACE, kk_vec3_neg(kk_mat3_mul_vec(X.R, patch.normal)), on_mesh);
    }
    try_direction(s, KKI_HIT_POINT, r.normal, on_mesh);
    if (r.distance < 0) {
        try_faces_of_core(s, on_mesh);
    }
    for (int k = 0; k < 3 && (r.distance < 0 || (s->f->is_solid && s->face.sep < 0)); k++) {
        try_arc(s, k);
    }
    // the search ends a little before a curved body's normal: what its points are apart is nearer to the truth
    if (s->best.kind == KKI_HIT_POINT && s->best.sep > 0) {
        s->best.sep = kki_greater(s->best.sep, kk_vec3_dot(kk_vec3_sub(r.on_b, r.on_a), r.normal));
    }
}

// ---- all together

// X has come in past a sharp edge and lies behind a triangle that it is clear of, so near that the way out may be shorter
// here than back through the one it came by: its lowest point is over the face, or an edge is over X's. One triangle of
// another mesh does not say that much of the whole.
static bool is_under(const search *s) {
    const kki_probe *x = s->x;
    if (x->facet || !s->f->is_solid || s->f->is_prism || !(s->best.sep < 0) || !(s->any <= -s->best.sep) ||
        s->best.kind == KKI_HIT_X_FACE) {
        return false;
    }
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(x->X_MX.R, s->best.d));
    return s->best.kind == KKI_HIT_POINT ||
           kki_triangle_closest(s->f->v, kk_transform_point(x->X_MX, kki_probe_farthest(x, l))).feature == 6;
}

// The triangle of a solid X looks along d as the mesh's own does: X's body is below it, and what it says of the gap is not
// the body's. Side walls in one plane, one body upon the other, are such.
static bool looks_away(const kki_probe *x, kk_vec3 d, double least) {
    return x->facet && x->facet->is_solid && kk_vec3_dot(kk_mat3_mul_vec(x->X_MX.R, x->facet->n), d) > least;
}

// Points in front of the triangle where X's reaches behind its plane beside it: corners of a face that is tilted a little,
// not of a wall that stands out by a hair.
static const double STEEP = -0.5;

// The triangle is clear of X along a direction it may not have: its plane may still be near in front of it.
static int judge(const search *s, kki_hit hit[2]) {
    const double r = s->x->radius;
    if (s->any > s->limit || s->best.sep > s->limit) {
        return 0;
    }
    if (!(s->any - r > s->tiny && s->best.sep - r < (s->x->facet ? s->tiny : 0))) {
        hit[0] = s->best;
        hit[0].is_weak = s->best.kind == KKI_HIT_FACE && looks_away(s->x, s->best.d, KKI_FLAT_SINE);
        return !hit[0].is_weak || s->best.sep < -s->tiny;
    }
    if (looks_away(s->x, s->face.d, STEEP)) {
        return 0;
    }
    hit[0] = s->face;
    hit[0].only_above = true;
    if (!is_under(s)) {
        return 1;
    }
    hit[1] = s->best;
    hit[1].is_under = true;
    return 2;
}

static void begin(search *s, const kki_facets *source, const kki_facet *f, const kki_probe *x, double reach) {
    *s = (search){.source = source, .f = f, .x = x, .limit = x->radius + reach};
    const double far = __builtin_fabs(x->X_MX.p.x) + __builtin_fabs(x->X_MX.p.y) + __builtin_fabs(x->X_MX.p.z);
    s->tiny = 1e-12 * (f->size + x->size + far);
}

bool kki_mesh_nearest(const kki_facets *source, const kki_facet *f, const kki_probe *x, double reach, kki_hit *hit) {
    search s;
    begin(&s, source, f, x, reach);
    try_nearest(&s);
    *hit = s.best;
    return s.best.kind == KKI_HIT_POINT && s.best.sep > 0 && s.best.sep <= s.limit;
}

int kki_mesh_examine(const kki_facets *source, const kki_facet *f, const kki_probe *x, double reach, kki_hit hit[2]) {
    search s;
    begin(&s, source, f, x, reach);
    try_normal(&s);
    if (s.any > s.limit) {
        return 0;
    }
    if (x->is_general) {
        try_general(&s);
        return judge(&s, hit);
    }
    if (x->is_box) {
        try_box_faces(&s);
        try_box_edges(&s);
    } else {
        try_x_faces(&s);
        try_edges(&s);
    }
    if (x->facet && s.any <= s.limit) {
        try_in_plane(&s);
    }
    if (s.any <= s.limit && (x->radius > 0 || x->shape.face_count == 0)) {
        try_nearest(&s);
    }
    return judge(&s, hit);
}
