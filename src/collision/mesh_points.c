// Contact points of a hit, collected by direction, and the few of them that carry the wrench.
//
// A face is clipped against the other's sides (Sutherland and Hodgman 1974); every point knows the features it comes
// from. Points that a flat inner edge makes are dropped: they lie inside the union of the pieces, between the others. So
// points on a flat mesh are those on one large face, whatever its triangles are, and so are their ids.
#include "collision/mesh_contact.h"

#include <string.h>

#include "collision/patch.h"
#include "collision/point.h"

enum { CORNERS = 128 };

// Where a corner of a clipped polygon comes from: a corner of P, a corner of Q, or the crossing of two edges.
typedef enum origin { OF_P, OF_Q, CROSSING } origin;

typedef struct corner {
    kk_vec3 p;
    uint8_t from;   // origin
    bool edge_is_q; // source of the side to the next corner: edge `edge` of P, or of Q
    int16_t edge;
    int16_t i, j; // OF_P: corner i; OF_Q: corner j; CROSSING: edges i of P and j of Q
} corner;

typedef struct polygon {
    int count;
    corner c[CORNERS];
} polygon;

// the side from a to b cut at the part t of it
static corner crossing(const corner *a, const corner *b, double t, int16_t q, int q_count) {
    corner c = *a;
    c.p = kk_vec3_add(a->p, kk_vec3_scale(kk_vec3_sub(b->p, a->p), t));
    if (a->edge_is_q) {
        // edges of Q that follow one another meet in its corner
        c.from = OF_Q;
        c.j = (a->edge + 1) % q_count == q ? q : a->edge;
    } else {
        c.from = CROSSING;
        c.i = a->edge;
        c.j = q;
    }
    return c;
}

// An edge of Q: the inner side is m · (p − o) ≥ −slack − opening |n · (p − o)|.
typedef struct border {
    kk_vec3 o, m, n;
    double slack, opening;
    int16_t edge;
} border;

static double inside_of(const border *e, kk_vec3 p) {
    const kk_vec3 r = kk_vec3_sub(p, e->o);
    const double inside = kk_vec3_dot(e->m, r) + e->slack;
    return e->opening > 0 ? inside + e->opening * __builtin_fabs(kk_vec3_dot(e->n, r)) : inside;
}

// Where the side from a to b meets the border; it has a bend where the side passes through n · (p − o) = 0.
static double where_cut(const border *e, kk_vec3 a, kk_vec3 b, double ha, double hb) {
    const double za = kk_vec3_dot(e->n, kk_vec3_sub(a, e->o)), zb = kk_vec3_dot(e->n, kk_vec3_sub(b, e->o));
    if (!(e->opening > 0) || (za >= 0) == (zb >= 0)) {
        return ha / (ha - hb);
    }
    const double t = za / (za - zb), h = ha - e->opening * __builtin_fabs(za);
    const double bend = h + t * (hb - e->opening * __builtin_fabs(zb) - h);
    return (bend >= 0) == (ha >= 0) ? t + (1 - t) * (bend / (bend - hb)) : t * (ha / (ha - bend));
}

// Keeps what lies on the inner side of an edge of Q.
static void clip(polygon *poly, const border *e, int q_count) {
    polygon out; // large: only what is used is written
    out.count = 0;
    for (int i = 0; i < poly->count && out.count + 2 < CORNERS; i++) {
        const corner *a = &poly->c[i], *b = &poly->c[(i + 1) % poly->count];
        const double ha = inside_of(e, a->p), hb = inside_of(e, b->p);
        if (ha >= 0) {
            out.c[out.count++] = *a;
        }
        if ((ha >= 0) != (hb >= 0)) {
            corner c = crossing(a, b, where_cut(e, a->p, b->p, ha, hb), e->edge, q_count);
            // leaving: the next side runs along Q's edge; entering: along the old side
            c.edge_is_q = ha >= 0 ? true : a->edge_is_q;
            c.edge = ha >= 0 ? e->edge : a->edge;
            out.c[out.count++] = c;
        }
    }
    memcpy(poly->c, out.c, (size_t)out.count * sizeof out.c[0]);
    poly->count = out.count;
}

static void begin_polygon(polygon *p, int count) {
    p->count = count;
    for (int i = 0; i < count; i++) {
        p->c[i].from = OF_P;
        p->c[i].i = p->c[i].edge = (int16_t)i;
        p->c[i].j = -1;
        p->c[i].edge_is_q = false;
    }
}

// ---- clusters

static int deepest(const kki_clusters *all, const kki_cluster *p) {
    int best = 0;
    for (int i = 1; i < p->count; i++) {
        best = all->pool[p->at[i]].gap < all->pool[p->at[best]].gap ? i : best;
    }
    return best;
}

static double least_gap(const kki_clusters *all, const kki_cluster *p) {
    return all->pool[p->at[deepest(all, p)]].gap;
}

static void drop_cluster(kki_clusters *all, int i) {
    for (int k = 0; k < all->cluster[i].count; k++) {
        all->free[all->free_count++] = all->cluster[i].at[k];
    }
    all->cluster[i] = all->cluster[--all->count];
    all->lost++;
}

// Drops the shallowest cluster, where it is shallower than a point of that gap.
static bool drop_shallowest(kki_clusters *all, double gap) {
    int shallowest = 0;
    for (int i = 1; i < all->count; i++) {
        const double other = least_gap(all, &all->cluster[i]);
        shallowest = other > least_gap(all, &all->cluster[shallowest]) ? i : shallowest;
    }
    if (!(least_gap(all, &all->cluster[shallowest]) > gap)) {
        return false;
    }
    drop_cluster(all, shallowest);
    return true;
}

// The cluster of a direction; NULL where there is none.
static kki_cluster *cluster_along(kki_clusters *all, kk_vec3 d) {
    for (int i = 0; i < all->count; i++) {
        const kk_vec3 r = kk_vec3_sub(all->cluster[i].d, d);
        if (kk_vec3_dot(r, r) < KKI_FLAT_SINE * KKI_FLAT_SINE) {
            return &all->cluster[i];
        }
    }
    return NULL;
}

static void tangents(kk_vec3 n, kk_vec3 *x, kk_vec3 *y) {
    const double ax = __builtin_fabs(n.x), ay = __builtin_fabs(n.y), az = __builtin_fabs(n.z);
    const kk_vec3 e = ax <= ay && ax <= az ? kk_vec3_make(1, 0, 0)
                      : ay <= az           ? kk_vec3_make(0, 1, 0)
                                           : kk_vec3_make(0, 0, 1);
    const kk_vec3 t = kk_vec3_cross(n, e);
    *x = kk_vec3_scale(t, 1 / kk_vec3_norm(t));
    *y = kk_vec3_cross(n, *x);
}

// the point farthest along u; among equals the lowest features
static int farthest(const kki_clusters *all, const kki_cluster *p, kk_vec3 u) {
    int best = 0;
    double most = -__builtin_inf();
    for (int i = 0; i < p->count; i++) {
        const double s = kk_vec3_dot(u, all->pool[p->at[i]].on_mesh);
        if (s > most) {
            most = s;
            best = i;
        }
    }
    return best;
}

// the kept point nearest to the deepest makes room for it
static void keep_deepest(const kki_clusters *all, const kki_cluster *p, uint64_t *kept) {
    const int deep = deepest(all, p);
    if ((*kept >> deep & 1) || __builtin_popcountll(*kept) < KKI_MANIFOLD_POINTS) {
        *kept |= (uint64_t)1 << deep;
        return;
    }
    int nearest = __builtin_ctzll(*kept); // any, where no distance is a number
    double least = __builtin_inf();
    for (int i = 0; i < p->count; i++) {
        const kk_vec3 r = kk_vec3_sub(all->pool[p->at[i]].on_mesh, all->pool[p->at[deep]].on_mesh);
        if ((*kept >> i & 1) && kk_vec3_dot(r, r) < least) {
            least = kk_vec3_dot(r, r);
            nearest = i;
        }
    }
    *kept &= ~((uint64_t)1 << nearest);
    *kept |= (uint64_t)1 << deep;
}

// Eight directions around the normal: every corner of a rectangle is farthest along at least one of them.
static void reduce(kki_clusters *all, kki_cluster *p) {
    if (p->count <= KKI_MANIFOLD_POINTS) {
        return;
    }
    static const double TURN[8][2] = {
        {1, 0},  {0.70710678118654752, 0.70710678118654752},   {0, 1},  {-0.70710678118654752, 0.70710678118654752},
        {-1, 0}, {-0.70710678118654752, -0.70710678118654752}, {0, -1}, {0.70710678118654752, -0.70710678118654752}};
    kk_vec3 x, y;
    uint64_t kept = 0;
    tangents(p->d, &x, &y);
    for (int k = 0; k < 8; k++) {
        kept |=
            (uint64_t)1 << farthest(all, p, kk_vec3_add(kk_vec3_scale(x, TURN[k][0]), kk_vec3_scale(y, TURN[k][1])));
    }
    keep_deepest(all, p, &kept);
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        if (kept >> i & 1) {
            p->at[count++] = p->at[i];
        } else {
            all->free[all->free_count++] = p->at[i];
        }
    }
    p->count = count;
}

static bool has_place(const kki_clusters *all) {
    return all->free_count > 0 || all->used < KKI_POOL;
}

// Room for one more point of that gap: clusters give up what they can do without, then shallow ones go.
static bool make_place(kki_clusters *all, double gap) {
    for (int i = 0; i < all->count && !has_place(all); i++) {
        reduce(all, &all->cluster[i]);
    }
    return has_place(all) || drop_shallowest(all, gap);
}

// Another point of the same features in the cluster; NULL where there is none.
static kki_cluster_point *same_point(kki_clusters *all, const kki_cluster *p, const kki_cluster_point *point) {
    for (int i = 0; i < p->count; i++) {
        kki_cluster_point *old = &all->pool[p->at[i]];
        if (old->feature[0] == point->feature[0] && old->feature[1] == point->feature[1]) {
            return old;
        }
    }
    return NULL;
}

void kki_clusters_add_point(kki_clusters *all, kk_vec3 d, bool is_face_normal, kki_cluster_point point) {
    kki_cluster *p = cluster_along(all, d);
    kki_cluster_point *old = p ? same_point(all, p, &point) : NULL;
    // a face's own normal is exact, an axis found by products is not
    if (p && is_face_normal && !p->is_face_normal) {
        p->d = d;
        p->is_face_normal = true;
    }
    if (old) {
        *old = point.gap < old->gap ? point : *old;
        return;
    }
    if (p && p->count == KKI_CLUSTER_POINTS) {
        reduce(all, p);
    }
    if (!make_place(all, point.gap) || (!p && all->count == KKI_CLUSTERS && !drop_shallowest(all, point.gap))) {
        all->lost++;
        return;
    }
    p = cluster_along(all, d); // what was dropped may have moved it
    if (!p) {
        p = &all->cluster[all->count++];
        p->d = d;
        p->is_face_normal = is_face_normal;
        p->count = 0;
    }
    p->at[p->count] = all->free_count > 0 ? all->free[--all->free_count] : (uint8_t)all->used++;
    all->pool[p->at[p->count++]] = point;
}

// ---- points of one hit

// A face, line or point of X: corners in M with their numbers.
typedef struct outline {
    int count;
    int32_t face;
    kk_vec3 p[CORNERS / 2];
    int32_t id[CORNERS / 2];
} outline;

// features of a corner where P is X's face and Q the triangle; false for points of flat edges
static bool features_over_triangle(const kki_facet *f, const kki_probe *x, const outline *o, const corner *c,
                                   uint32_t feature[2]) {
    switch ((origin)c->from) {
    case OF_P:
        feature[0] = kki_feature(KKI_FEATURE_FACE, f->region);
        feature[1] = kki_probe_vertex_feature(x, o->id[c->i]);
        return !x->facet || !x->facet->vertex_is_flat[o->id[c->i]];
    case OF_Q:
        feature[0] = kki_feature(KKI_FEATURE_VERTEX, f->vertex[c->j]);
        feature[1] = kki_feature(KKI_FEATURE_FACE, x->facet ? x->facet->region : 0);
        return !f->vertex_is_flat[c->j];
    case CROSSING:
        feature[0] = kki_feature(KKI_FEATURE_EDGE, f->edge[c->j]);
        feature[1] = kki_probe_edge_feature(x, o->id[c->i], o->id[(c->i + 1) % o->count]);
        return f->edge_kind[c->j] != KKI_EDGE_FLAT && !(x->facet && x->facet->edge_kind[c->i] == KKI_EDGE_FLAT);
    }
    return false;
}

static int32_t lowest_vertex(const kki_polytope *p, kk_vec3 l) {
    int32_t best = 0;
    double least = __builtin_inf();
    for (int32_t i = 0; i < p->vertex_count; i++) {
        const double s = kk_vec3_dot(l, p->vertex[i]);
        if (s < least) {
            least = s;
            best = i;
        }
    }
    return best;
}

static bool has_corner(const kki_polytope *p, int32_t face, int32_t vertex) {
    const kki_convex_face *f = &p->face[face];
    bool is_there = false;
    for (int32_t i = f->first; i < f->first + f->count; i++) {
        is_there = is_there || p->loop[i] == vertex;
    }
    return is_there;
}

// X's face that looks at the mesh, of those that hold the vertex nearest to it: a face elsewhere may look at the mesh
// more squarely and yet be far from it. Of a box and of a triangle all is one
static int32_t facing(const kki_probe *x, kk_vec3 d) {
    const kk_vec3 l = kk_mat3_tmul_vec(x->X_MX.R, d);
    const bool is_simple = x->is_box || x->facet;
    const int32_t vertex = is_simple ? 0 : lowest_vertex(&x->shape, l);
    int32_t best = 0;
    double least = __builtin_inf();
    for (int32_t i = 0; i < x->shape.face_count; i++) {
        const double s = kk_vec3_dot(l, x->shape.face[i].normal);
        if (s < least && (is_simple || has_corner(&x->shape, i, vertex))) {
            least = s;
            best = i;
        }
    }
    return best;
}

static void outline_of_core(const kki_probe *x, kk_vec3 d, outline *o) {
    kki_patch patch;
    kki_core_patch(&x->core, kk_vec3_neg(kk_mat3_tmul_vec(x->X_MX.R, d)), &patch);
    o->count = patch.count;
    o->face = patch.face;
    for (int i = 0; i < patch.count; i++) {
        o->id[i] = patch.id[i] < 0 ? 0 : patch.id[i];
        o->p[i] = kk_transform_point(x->X_MX, patch.point[i]);
    }
}

// Of the face given, or where that is −1 of the one that looks at the mesh.
static void outline_of(const kki_probe *x, kk_vec3 d, int32_t face, outline *o) {
    if (x->is_general) {
        outline_of_core(x, d, o);
        return;
    }
    o->face = face;
    o->count = x->shape.vertex_count;
    const int32_t *loop = NULL;
    if (x->shape.face_count > 0) {
        o->face = face < 0 ? facing(x, d) : face;
        const kki_convex_face *f = &x->shape.face[o->face];
        loop = x->shape.loop + f->first;
        o->count = f->count < CORNERS / 2 ? f->count : CORNERS / 2;
    }
    for (int i = 0; i < o->count; i++) {
        o->id[i] = loop ? loop[i] : i;
        o->p[i] = kki_probe_vertex(x, o->id[i]);
    }
}

// Faces beside a flat edge may still turn by the flat angle: what is over the wedge between them is over both, and being
// points of one region they count once. The wedge is as wide as the point is high, no wider: past the end of a flat edge
// there may be nothing below.
static void clip_by_triangle(polygon *poly, const kki_facet *f) {
    for (int k = 0; k < 3; k++) {
        const kk_vec3 e = kk_vec3_sub(f->v[(k + 1) % 3], f->v[k]);
        const kk_vec3 m = kk_vec3_cross(f->n, e);
        const border side = {.o = f->v[k],
                             .m = kk_vec3_scale(m, 1 / kk_vec3_norm(e)),
                             .n = f->n,
                             .slack = 1e-9 * f->size,
                             .opening = f->edge_kind[k] == KKI_EDGE_FLAT ? 4 * KKI_FLAT_SINE : 0,
                             .edge = (int16_t)k};
        clip(poly, &side, 3);
    }
}

// The point of a curved X that is farthest towards the mesh, where no corner of its outline is as far.
static void add_lowest(kki_clusters *all, const kki_facet *f, const kki_probe *x, const kki_hit *hit,
                       const outline *o) {
    int id = -1;
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(x->X_MX.R, hit->d));
    polygon poly;
    begin_polygon(&poly, 1);
    poly.c[0].p = kk_transform_point(x->X_MX, kki_core_support(&x->core, l, &id));
    const double height = kk_vec3_dot(hit->d, kk_vec3_sub(poly.c[0].p, f->v[0]));
    for (int i = 0; i < o->count; i++) {
        if (kk_vec3_dot(hit->d, kk_vec3_sub(o->p[i], poly.c[0].p)) <= 1e-11 * x->size) {
            return;
        }
    }
    clip_by_triangle(&poly, f);
    const kki_cluster_point p = {kk_vec3_sub(poly.c[0].p, kk_vec3_scale(hit->d, height)),
                                 height - x->radius,
                                 {kki_feature(KKI_FEATURE_FACE, f->region), kki_feature(KKI_FEATURE_FACE, -1)}};
    if (poly.count > 0 && p.gap <= all->reach && !(hit->only_above && p.gap < 0)) {
        kki_clusters_add_point(all, hit->d, true, p);
    }
}

static bool add_face_points(kki_clusters *all, const kki_facet *f, const kki_probe *x, const kki_hit *hit) {
    polygon poly;
    outline o;
    outline_of(x, hit->d, -1, &o);
    bool is_near = false;
    begin_polygon(&poly, o.count);
    for (int i = 0; i < o.count; i++) {
        poly.c[i].p = o.p[i];
    }
    clip_by_triangle(&poly, f);
    for (int i = 0; i < poly.count; i++) {
        kki_cluster_point p;
        const double height = kk_vec3_dot(hit->d, kk_vec3_sub(poly.c[i].p, f->v[0]));
        p.gap = height - x->radius;
        is_near = is_near || p.gap <= all->reach;
        if (p.gap > all->reach || (hit->only_above && p.gap < 0) ||
            !features_over_triangle(f, x, &o, &poly.c[i], p.feature)) {
            continue;
        }
        p.on_mesh = kk_vec3_sub(poly.c[i].p, kk_vec3_scale(hit->d, height));
        kki_clusters_add_point(all, hit->d, true, p);
    }
    if (x->is_general) {
        add_lowest(all, f, x, hit, &o);
    }
    return is_near;
}

// features where P is the triangle and Q a face of X
static bool features_over_x(const kki_facet *f, const kki_probe *x, const outline *o, const corner *c,
                            uint32_t feature[2]) {
    switch ((origin)c->from) {
    case OF_P:
        feature[0] = kki_feature(KKI_FEATURE_VERTEX, f->vertex[c->i]);
        feature[1] = kki_feature(KKI_FEATURE_FACE, x->facet ? x->facet->region : o->face);
        return !f->vertex_is_flat[c->i];
    case OF_Q:
        feature[0] = kki_feature(KKI_FEATURE_FACE, f->region);
        feature[1] = kki_probe_vertex_feature(x, o->id[c->j]);
        return !x->facet || !x->facet->vertex_is_flat[o->id[c->j]];
    case CROSSING:
        feature[0] = kki_feature(KKI_FEATURE_EDGE, f->edge[c->i]);
        feature[1] = kki_probe_edge_feature(x, o->id[c->j], o->id[(c->j + 1) % o->count]);
        return f->edge_kind[c->i] != KKI_EDGE_FLAT && !(x->facet && x->facet->edge_kind[c->j] == KKI_EDGE_FLAT);
    }
    return false;
}

static void clip_by_outline(polygon *poly, const outline *o, kk_vec3 n, double slack) {
    for (int k = 0; k < o->count; k++) {
        const kk_vec3 e = kk_vec3_sub(o->p[(k + 1) % o->count], o->p[k]), m = kk_vec3_cross(n, e);
        const border side = {
            .o = o->p[k], .m = kk_vec3_scale(m, 1 / kk_vec3_norm(e)), .n = n, .slack = slack, .edge = (int16_t)k};
        clip(poly, &side, o->count);
    }
}

static bool add_x_face_points(kki_clusters *all, const kki_facet *f, const kki_probe *x, const kki_hit *hit,
                              double *least) {
    polygon poly;
    outline o;
    outline_of(x, hit->d, hit->index, &o);
    const kk_vec3 on_x = o.p[0];
    // on a face of a solid that looks away from X only its rim, the summit, can touch
    const bool is_hidden = f->is_solid && kk_vec3_dot(f->n, hit->d) <= 0;
    const double summit = hit->sep - x->radius + KKI_FLAT_SINE * f->size;
    const double most = is_hidden ? kki_lesser(all->reach, summit) : all->reach;
    bool is_near = false;
    *least = __builtin_inf();
    begin_polygon(&poly, 3);
    for (int i = 0; i < 3; i++) {
        poly.c[i].p = f->v[i];
    }
    // the outline runs the other way round where a sheet is seen from behind
    const bool is_behind = x->facet && kk_vec3_dot(kk_mat3_mul_vec(x->X_MX.R, x->facet->n), hit->d) > 0;
    clip_by_outline(&poly, &o, is_behind ? hit->d : kk_vec3_neg(hit->d), 1e-9 * x->size);
    for (int i = 0; i < poly.count; i++) {
        kki_cluster_point p;
        p.gap = kk_vec3_dot(hit->d, kk_vec3_sub(on_x, poly.c[i].p)) - x->radius;
        is_near = is_near || p.gap <= most;
        if (p.gap > most || !features_over_x(f, x, &o, &poly.c[i], p.feature)) {
            continue;
        }
        p.on_mesh = poly.c[i].p;
        *least = kki_lesser(*least, p.gap);
        kki_clusters_add_point(all, hit->d, false, p);
    }
    return is_near;
}

static void add_witness(kki_clusters *all, const kki_probe *x, const kki_hit *hit) {
    kki_clusters_add_point(all, hit->d, false,
                           (kki_cluster_point){hit->on_mesh, hit->sep - x->radius, {hit->feature[0], hit->feature[1]}});
}

// A round face's outline is a little smaller than the face: the deepest place may be beside it, over the face.
static bool is_over_round_face(const kki_probe *x, const kki_hit *hit) {
    const kk_vec3 q = kk_vec3_add(hit->on_mesh, kk_vec3_scale(hit->d, hit->sep));
    const kk_vec3 r = kk_vec3_sub(q, x->X_MX.p);
    kki_point_distance p;
    return x->is_general && !kki_core_is_polyhedral(&x->core) &&
           kki_core_point_distance(&x->core, kk_mat3_tmul_vec(x->X_MX.R, r), &p) && p.distance <= 1e-6 * x->size;
}

bool kki_clusters_add(kki_clusters *all, const kki_facet *f, const kki_probe *x, const kki_hit *hit) {
    if (hit->kind == KKI_HIT_FACE) {
        return add_face_points(all, f, x, hit);
    }
    if (hit->kind == KKI_HIT_POINT) {
        add_witness(all, x, hit);
        return true;
    }
    double least;
    const bool is_over = add_x_face_points(all, f, x, hit, &least);
    if (least > hit->sep - x->radius + 1e-11 * x->size && is_over_round_face(x, hit)) {
        add_witness(all, x, hit);
    }
    return is_over;
}

// ---- output

static double extent_of(const kki_clusters *all, const kki_cluster *p) {
    double most = 0;
    for (int i = 1; i < p->count; i++) {
        const kk_vec3 r = kk_vec3_sub(all->pool[p->at[i]].on_mesh, all->pool[p->at[0]].on_mesh);
        most = kki_greater(most, kk_vec3_dot(r, r));
    }
    return most;
}

// Corners of both bodies at one place are one point, the deeper: it carries the same.
static void join_twins(const kki_clusters *all, kki_cluster *p) {
    const double near = 1e-12 * extent_of(all, p);
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        const kki_cluster_point *q = &all->pool[p->at[i]];
        int twin = 0;
        for (; twin < count; twin++) {
            const kk_vec3 r = kk_vec3_sub(all->pool[p->at[twin]].on_mesh, q->on_mesh);
            if (kk_vec3_dot(r, r) <= near) {
                break;
            }
        }
        if (twin == count) {
            p->at[count++] = p->at[i];
        } else if (q->gap < all->pool[p->at[twin]].gap - 1e-6 * kk_sqrt(near)) {
            p->at[twin] = p->at[i];
        }
    }
    p->count = count;
}

static void write_one(const kki_clusters *all, const kki_cluster *p, const kk_transform *X_WM, bool is_swapped,
                      kki_manifold *m) {
    const kk_vec3 d = kk_mat3_mul_vec(X_WM->R, p->d);
    memset(m, 0, sizeof *m);
    m->normal = is_swapped ? kk_vec3_neg(d) : d;
    m->count = p->count;
    for (int i = 0; i < p->count; i++) {
        const kki_cluster_point *q = &all->pool[p->at[i]];
        const kk_vec3 on_mesh = kk_transform_point(*X_WM, q->on_mesh);
        const uint64_t mesh = q->feature[0], x = q->feature[1];
        // the point on A is X's where the mesh is B
        m->point[i].position = is_swapped ? kk_vec3_add(on_mesh, kk_vec3_scale(d, q->gap)) : on_mesh;
        m->point[i].gap = q->gap;
        m->point[i].feature = is_swapped ? x << 32 | mesh : mesh << 32 | x;
    }
}

int kki_clusters_write(kki_clusters *all, const kk_transform *X_WM, bool is_swapped, kki_manifold *manifold, int room) {
    uint8_t order[KKI_CLUSTERS];
    int count = 0;
    for (int i = 0; i < all->count; i++) {
        join_twins(all, &all->cluster[i]);
        reduce(all, &all->cluster[i]);
        int j = count++;
        for (; j > 0 && least_gap(all, &all->cluster[order[j - 1]]) > least_gap(all, &all->cluster[i]); j--) {
            order[j] = order[j - 1];
        }
        order[j] = (uint8_t)i;
    }
    const int written = count < room ? count : room;
    for (int i = 0; i < written; i++) {
        write_one(all, &all->cluster[order[i]], X_WM, is_swapped, &manifold[i]);
    }
    const int found = count + all->lost;
    // directions are lost before the caller's room is full where that is larger than the list
    return written == room && found > room ? -1 - found : written;
}
