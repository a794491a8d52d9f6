// Meshes and height fields against everything: finds the triangles near X, drops what others explain, writes manifolds.
#include <string.h>

#include "collision/distance.h"
#include "collision/facet_side.h"
#include "collision/gjk.h"
#include "collision/mesh_contact.h"
#include "geometry/tree_pair.h"

enum { PIECES = 256 };

// Loose pieces of a mesh that some triangle of the other touches; beyond so many, two share a bit.
typedef struct pieces {
    uint64_t bits[PIECES / 64];
} pieces;

enum { HITS = 80, WEAK_HITS = 16, GENERAL_FROM = 24, WAITING = 16 };

// Two leaves, and which of their triangles may meet (kki_leaves_meet).
typedef struct two_leaves {
    const kki_leaf *a, *b;
    unsigned pairs;
} two_leaves;

typedef struct way_out {
    kk_vec3 d;
    double depth;
    const kki_hit *under; // of a triangle that X is clear of: it counts once it explains a hit
} way_out;

enum { WAYS = 32 };

typedef struct contact {
    kki_facets source;   // the mesh, frame M
    kki_facets x_source; // the other mesh
    kki_probe x;
    kki_facet x_facet;
    kki_convex_face x_face;
    double reach;
    int waiting;
    two_leaves leaves[WAITING]; // while their triangles are fetched from memory
    kki_leaf_frames frames;
    pieces touched, x_touched;
    bool has_met; // triangles of two meshes are not proved to be farther apart than the reach
    bool is_over; // X reaches beyond a wall of the height field, and is not clear of its columns: it may lean over
    bool has_witness;
    kki_hit witness; // the shallowest overlap
    bool is_looked_for, has_way;
    kki_way_out way; // of two solids, as convex bodies
    int count, weak;
    kki_hit hit[HITS];   // the weak ones stay until the end
    uint8_t order[HITS]; // the shallowest first
    int ways;
    way_out way_out[WAYS];
    kki_clusters clusters;
} contact;

// ---- X

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

// the convex core of a shape; false for shapes this file does not know. `room` holds up to eight corners
static bool probe_of_shape(const kki_shape *s, kk_vec3 room[8], kki_probe *x) {
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

static kki_aabb box_of_probe(const kki_probe *x) {
    kki_aabb box;
    kki_probe_range(x, kk_vec3_make(1, 0, 0), &box.lower.x, &box.upper.x);
    kki_probe_range(x, kk_vec3_make(0, 1, 0), &box.lower.y, &box.upper.y);
    kki_probe_range(x, kk_vec3_make(0, 0, 1), &box.lower.z, &box.upper.z);
    return kki_aabb_grow(box, x->radius);
}

// X becomes a triangle of the other mesh
static bool set_triangle(contact *c, int32_t place) {
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

// ---- hits that others explain

// Moving X by `depth` along d parts it from the hit's triangle too.
static bool is_parted_by(const kki_facet *f, const kki_probe *x, kk_vec3 d, double depth) {
    double low, high, x_low, x_high;
    kki_facet_range(f, d, &low, &high);
    kki_probe_range(x, d, &x_low, &x_high);
    return x_low - x->radius - high >= -depth - 1e-9 * (f->size + x->size);
}

// The way that explains a hit; -1 where there is none.
static int explanation(const kki_facet *f, const kki_probe *x, const kki_hit *hit, const way_out *way, int ways) {
    const double depth = hit->is_weak ? __builtin_inf() : x->radius - hit->sep;
    for (int i = 0; i < ways; i++) {
        const kk_vec3 r = kk_vec3_sub(way[i].d, hit->d);
        const bool is_other = kk_vec3_dot(r, r) > KKI_FLAT_SINE * KKI_FLAT_SINE;
        if (is_other && way[i].depth < depth && is_parted_by(f, x, way[i].d, kki_greater(way[i].depth, 0))) {
            return i;
        }
    }
    return -1;
}

// The way along a direction; -1 where there is none.
static int way_along(kk_vec3 d, const way_out *way, int ways) {
    for (int i = 0; i < ways; i++) {
        const kk_vec3 r = kk_vec3_sub(way[i].d, d);
        if (kk_vec3_dot(r, r) <= KKI_FLAT_SINE * KKI_FLAT_SINE) {
            return i;
        }
    }
    return -1;
}

static kki_core core_of(const kki_probe *x) {
    return x->facet ? kki_core_triangle(x->shape.vertex, 0) : x->core;
}

// Of columns of a height field an overlap is not proved by the axes that are tried: X is to meet the top itself.
static bool is_proved(const kki_facet *f, const kki_probe *x) {
    if (!f->is_prism) {
        return true;
    }
    const kki_core triangle = kki_core_triangle(f->v, 0), core = core_of(x);
    const kki_core_pair pair = kki_core_pair_make(&triangle, &core, &x->X_MX);
    kki_simplex s;
    kki_core_distance r;
    s.count = 0;
    return kki_gjk(&pair, x->radius, f->n, &s, &r) == KKI_GJK_TOGETHER || r.distance <= x->radius;
}

// The shallowest overlap: it counts where no point that overlaps is found, as where X's outline has nothing over the
// triangle.
static void note_overlap(contact *c, const kki_hit *hit) {
    if (!c->has_witness || c->witness.sep < hit->sep) {
        c->has_witness = true;
        c->witness = *hit;
    }
}

static void add_witness(contact *c) {
    const kki_hit *hit = &c->witness;
    kki_facet f;
    kki_facet_load(&c->source, hit->place, &f);
    if (c->x.facet) {
        set_triangle(c, hit->x_place);
    }
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(c->x.X_MX.R, hit->d));
    const kk_vec3 lowest = kk_transform_point(c->x.X_MX, kki_probe_farthest(&c->x, l));
    const kki_cluster_point p = {kki_triangle_closest(f.v, lowest).p,
                                 hit->sep - c->x.radius,
                                 {kki_feature(KKI_FEATURE_FACE, f.region), kki_feature(KKI_FEATURE_FACE, -1)}};
    kki_clusters_add_point(&c->clusters, hit->d, hit->kind == KKI_HIT_FACE, p);
}

static bool has_overlap(kki_clusters *all) {
    for (int i = 0; i < all->count; i++) {
        for (int k = 0; k < all->cluster[i].count; k++) {
            if (kki_cluster_point_at(all, &all->cluster[i], k)->gap <= 0) {
                return true;
            }
        }
    }
    return false;
}

static void add_under(contact *c, const kki_hit *hit) {
    kki_facet f;
    kki_facet_load(&c->source, hit->place, &f);
    note_overlap(c, hit);
    kki_clusters_add(&c->clusters, &f, &c->x, hit);
}

// The triangle that X is clear of counts: a deeper hit is explained by it, or another triangle has the same way out.
static void take_way(contact *c, way_out *way) {
    if (way->under) {
        add_under(c, way->under);
        way->under = NULL;
    }
}

static void add_way(contact *c, const kki_hit *hit) {
    way_out *way = c->way_out;
    const int same = way_along(hit->d, way, c->ways);
    const double depth = c->x.radius - hit->sep;
    if (same < 0 && c->ways < WAYS) {
        way[c->ways++] = (way_out){hit->d, depth, hit->is_under ? hit : NULL};
    } else if (same >= 0 && hit->is_under && !way[same].under) {
        add_under(c, hit);
    } else if (same >= 0 && !hit->is_under) {
        take_way(c, &way[same]);
        way[same].depth = kki_greater(way[same].depth, depth); // of the whole body, not of one triangle
    }
}

// Ways that count stay for the hits that follow; the others' hits are gone.
static void keep_ways(contact *c) {
    int count = 0;
    for (int i = 0; i < c->ways; i++) {
        if (!c->way_out[i].under) {
            c->way_out[count++] = c->way_out[i];
        }
    }
    c->ways = count;
}

// by halving, then moving the rest up: hits are few, and among equals the first stays first
static void sort_hits(contact *c) {
    for (int i = 0; i < c->count; i++) {
        int low = 0, high = i;
        while (low < high) {
            const int middle = (low + high) / 2;
            const bool is_behind = c->hit[c->order[middle]].sep >= c->hit[i].sep;
            low = is_behind ? middle + 1 : low;
            high = is_behind ? high : middle;
        }
        memmove(&c->order[low + 1], &c->order[low], (size_t)(i - low));
        c->order[low] = (uint8_t)i;
    }
}

static int32_t top_vertex(const kki_surface *s, int32_t place, kk_vec3 d) {
    const kk_vec3 *p = s->corner[place];
    const double h[3] = {kk_vec3_dot(d, p[0]), kk_vec3_dot(d, p[1]), kk_vec3_dot(d, p[2])};
    return s->facet[place].vertex[h[0] >= h[1] ? (h[0] >= h[2] ? 0 : 2) : (h[1] >= h[2] ? 1 : 2)];
}

// A vertex of the solid beside a triangle, to climb from.
static int32_t vertex_beside(const kki_facets *source, int32_t place, kk_vec3 d) {
    if (source->surface) {
        return top_vertex(source->surface, place, d);
    }
    kki_facet f;
    kki_facet_load(source, place, &f);
    return kki_height_field_nearest(source->field, f.v[0]);
}

static bool is_overlap(const kki_hit *hit) {
    return hit->sep < 0 && !hit->only_above && !hit->is_under;
}

// Of two solids: the way out of the bodies, from where their triangles overlap least. Of bodies that are not convex one that
// is much longer than what any of them says leads out of hollows.
static void find_way(contact *c, bool of_weak) {
    const kki_surface *m = c->source.surface, *x = c->x_source.surface;
    const bool is_solid = x && x->is_solid && (!m || m->is_solid); // height fields are
    const kki_hit *first = NULL, *last = NULL;
    for (int i = 0; i < c->count; i++) {
        const kki_hit *hit = &c->hit[c->order[i]];
        last = hit->is_weak == of_weak && is_overlap(hit) ? hit : last;
        first = first ? first : last;
    }
    if (c->is_looked_for || !first || !is_solid) {
        return;
    }
    c->is_looked_for = true;
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(c->x.X_MX.R, first->d));
    const double most = m && m->is_convex && x->is_convex ? __builtin_inf() : -2 * last->sep;
    c->has_way = kki_mesh_way_out(&c->source, vertex_beside(&c->source, first->place, first->d), x,
                                  top_vertex(x, first->x_place, l), &c->x.X_MX, first->d, most, &c->way);
    if (c->has_way) {
        c->way_out[c->ways++] = (way_out){c->way.d, c->x.radius - c->way.sep, NULL};
    }
}

// The point of that way, where no triangle has it.
static void add_way_point(contact *c) {
    if (!c->has_way) {
        return;
    }
    const kki_cluster_point p = {c->way.on_mesh,
                                 c->way.sep - c->x.radius,
                                 {kki_feature(KKI_FEATURE_FACE, -1), kki_feature(KKI_FEATURE_FACE, -1)}};
    for (int i = 0; i < c->clusters.count; i++) {
        const kki_cluster *k = &c->clusters.cluster[i];
        const kk_vec3 r = kk_vec3_sub(k->d, c->way.d);
        for (int j = 0; j < k->count && kk_vec3_dot(r, r) < KKI_FLAT_SINE * KKI_FLAT_SINE; j++) {
            if (kki_cluster_point_at(&c->clusters, k, j)->gap < p.gap + 1e-9 * c->x.size) {
                return;
            }
        }
    }
    kki_clusters_add_point(&c->clusters, c->way.d, false, p);
}

// Hits come by depth, so the first that is proved is the shallowest.
static void note_if_missed(contact *c, const kki_facet *f, const kki_hit *hit) {
    if (!hit->only_above && hit->sep <= c->x.radius && !has_overlap(&c->clusters) && is_proved(f, &c->x)) {
        note_overlap(c, hit);
    }
}

static void take_hit(contact *c, const kki_hit *hit) {
    kki_facet f;
    kki_facet_load(&c->source, hit->place, &f);
    if (c->x.facet) {
        set_triangle(c, hit->x_place);
    }
    if (hit->is_under) {
        add_way(c, hit);
        return;
    }
    const bool is_deep = hit->sep < c->x.radius && !hit->only_above;
    const int by = is_deep ? explanation(&f, &c->x, hit, c->way_out, c->ways) : -1;
    if (by >= 0) {
        take_way(c, &c->way_out[by]);
        if (c->source.field && !c->has_witness) { // what explains it may be no overlap itself
            note_if_missed(c, &f, hit);
        }
        return;
    }
    if (!hit->only_above) {
        add_way(c, hit);
    }
    // faces that lie beside each other: corners and edges may be near. Of round bodies this has been looked at
    kki_hit nearest;
    if (!kki_clusters_add(&c->clusters, &f, &c->x, hit) && (hit->only_above || hit->sep > 0) && c->x.radius == 0 &&
        !c->x.is_general && kki_mesh_nearest(&c->source, &f, &c->x, c->reach, &nearest)) {
        kki_clusters_add(&c->clusters, &f, &c->x, &nearest);
    }
    note_if_missed(c, &f, hit);
}

// shallow hits first: they are the ways out
static void take_hits(contact *c, bool is_weak) {
    sort_hits(c);
    find_way(c, is_weak);
    for (int i = 0; i < c->count; i++) {
        const kki_hit *hit = &c->hit[c->order[i]];
        if (hit->is_weak == is_weak) {
            take_hit(c, hit);
        }
    }
    keep_ways(c);
}

static void flush(contact *c) {
    take_hits(c, false);
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        if (c->hit[i].is_weak) {
            c->hit[count++] = c->hit[i];
        }
    }
    c->count = count;
}

// The last of the hits at its place among those before it: of weak ones the deepest stay.
static void keep_hit(contact *c) {
    const kki_hit *hit = &c->hit[c->count];
    if (!hit->is_weak || c->weak < WEAK_HITS) {
        c->weak += hit->is_weak;
        c->count++;
        return;
    }
    kki_hit *shallowest = NULL;
    for (int i = 0; i < c->count; i++) {
        kki_hit *other = &c->hit[i];
        shallowest = other->is_weak && (!shallowest || other->sep > shallowest->sep) ? other : shallowest;
    }
    if (shallowest && hit->sep < shallowest->sep) {
        *shallowest = *hit;
    }
}

// ---- triangles near X

static void touch_piece(const kki_surface *s, const kki_facet *f, pieces *p) {
    if (s && s->piece_count > 1) {
        const int32_t piece = s->piece[f->vertex[0]] % PIECES;
        p->bits[piece / 64] |= (uint64_t)1 << piece % 64;
    }
}

static bool is_touched(const pieces *p, int32_t piece) {
    return p->bits[piece % PIECES / 64] >> piece % 64 & 1;
}

static void try_face(contact *c, int32_t place) {
    kki_facet f;
    const int32_t x_place = c->x.facet ? c->x_facet.place : -1;
    const int count = kki_facet_load(&c->source, place, &f)
                          ? kki_mesh_examine(&c->source, &f, &c->x, c->reach, &c->hit[c->count])
                          : 0;
    if (count > 0) {
        touch_piece(c->source.surface, &f, &c->touched);
        touch_piece(c->x_source.surface, &c->x_facet, &c->x_touched);
    }
    for (int i = 0; i < count; i++) { // a weak hit is alone
        c->hit[c->count].x_place = x_place;
        keep_hit(c);
    }
    if (c->count > HITS - 2) {
        flush(c);
        if (x_place >= 0) {
            set_triangle(c, x_place);
        }
    }
}

static kki_aabb box_of_corners(const kk_vec3 corner[3]) {
    return kki_aabb_join(kki_aabb_of_point(corner[0]),
                         kki_aabb_join(kki_aabb_of_point(corner[1]), kki_aabb_of_point(corner[2])));
}

// A cheap look before the facet is loaded: along X's own axes for a box, by the distance of the plane for all.
static bool is_clear(const contact *c, const kk_vec3 corner[3], kk_vec3 n) {
    const kk_vec3 p = c->x.X_MX.p;
    const kk_vec3 r[3] = {kk_vec3_sub(corner[0], p), kk_vec3_sub(corner[1], p), kk_vec3_sub(corner[2], p)};
    const double limit = c->reach + c->x.radius, far = limit + c->x.size, height = kk_vec3_dot(n, r[0]);
    if (!c->x.facet && (height > far || height < -far)) {
        return true;
    }
    for (int k = 0; k < 3 && c->x.is_box; k++) {
        const kk_vec3 d = kk_mat3_column(c->x.X_MX.R, k);
        const double s[3] = {kk_vec3_dot(d, r[0]), kk_vec3_dot(d, r[1]), kk_vec3_dot(d, r[2])};
        const double half = c->x.half[k] + limit;
        if ((s[0] > half && s[1] > half && s[2] > half) || (s[0] < -half && s[1] < -half && s[2] < -half)) {
            return true;
        }
    }
    return false;
}

static void try_leaf(contact *c, const kki_aabb *box, int32_t first, int32_t count) {
    const kki_surface *s = c->source.surface;
    for (int32_t i = first; i < first + count; i++) {
        const kki_aabb b = box_of_corners(s->corner[i]);
        if (kki_aabb_touch(&b, box) && !is_clear(c, s->corner[i], s->leaf_normal[i])) {
            try_face(c, i);
        }
    }
}

// not inlined, as the next: of their stacks only one is to lie below a search
__attribute__((noinline)) static void try_ball(contact *c, const kki_aabb *box) {
    kki_ball_walk walk;
    int32_t first, count;
    kki_ball_walk_begin(&walk, &c->source.surface->tree, kki_probe_vertex(&c->x, 0), c->x.radius + c->reach);
    while (kki_ball_walk_next(&walk, &first, &count)) {
        try_leaf(c, box, first, count);
    }
}

__attribute__((noinline)) static void try_box(contact *c, const kki_aabb *box) {
    kki_tree_walk walk;
    int32_t first, count;
    kki_tree_walk_begin(&walk, &c->source.surface->tree, box);
    while (kki_tree_walk_next(&walk, &first, &count)) {
        try_leaf(c, box, first, count);
    }
}

static void try_surface(contact *c, const kki_aabb *box) {
    if (c->x.shape.vertex_count == 1) {
        try_ball(c, box);
    } else {
        try_box(c, box);
    }
}

static void try_two(contact *c, int32_t place) {
    try_face(c, place);
    try_face(c, place + 1);
}

// Walls and base that X reaches beyond, within `box`; what is all inside goes out through the top. Returns whether there
// are any.
static bool try_sides(contact *c, const kki_aabb *box, const int32_t row[2], const int32_t column[2]) {
    const kki_height_field *f = c->source.field;
    const double x = 0.5 * f->size[0], y = 0.5 * f->size[1];
    const bool is_beyond[4] = {box->lower.y <= -y, box->upper.x >= x, box->upper.y >= y, box->lower.x <= -x};
    const bool is_below = box->lower.z <= f->base;
    for (int side = 0; side < 4; side++) {
        const int32_t *range = side % 2 ? row : column;
        for (int32_t i = range[0]; is_beyond[side] && i <= range[1]; i++) {
            try_two(c, kki_facet_wall_place(f, side, i));
        }
    }
    if (is_below) {
        try_two(c, kki_facet_base_place(f));
    }
    return is_below || is_beyond[0] || is_beyond[1] || is_beyond[2] || is_beyond[3];
}

// How far X's core is beside or below the columns of the field, whatever their heights; nothing where it is not.
static double clear_of_columns(const contact *c, const kki_aabb *box) {
    const kki_height_field *f = c->source.field;
    const double top = kki_greater(f->greatest, box->upper.z) + c->x.size, half = 0.5 * (top - f->base);
    const kki_core columns = {.type = KKI_CORE_BOX,
                              .half = {0.5 * f->size[0], 0.5 * f->size[1], half},
                              .extent = 0.5 * (f->size[0] + f->size[1]) + half};
    const kki_core x = core_of(&c->x);
    kk_transform X = c->x.X_MX;
    X.p.z -= f->base + half;
    const kki_core_pair pair = kki_core_pair_make(&columns, &x, &X);
    kki_simplex s;
    kki_core_distance r;
    s.count = 0;
    return kki_gjk(&pair, KKI_ANY_DISTANCE, X.p, &s, &r) == KKI_GJK_APART ? r.lower : -__builtin_inf();
}

static void try_field(contact *c, const kki_aabb *box) {
    const kki_height_field *f = c->source.field;
    int32_t row[2], column[2];
    if (!kki_height_field_cells(f, box, row, column)) {
        return;
    }
    const bool is_beyond = try_sides(c, box, row, column);
    c->x.clear = is_beyond ? clear_of_columns(c, box) : -__builtin_inf();
    c->is_over = is_beyond && !(c->x.clear > c->x.radius);
    for (int32_t r = row[0]; r <= row[1]; r++) {
        for (int32_t k = column[0]; k <= column[1]; k++) {
            try_two(c, 2 * (r * (f->columns - 1) + k));
        }
    }
}

static void try_near(contact *c) {
    const kki_aabb box = kki_aabb_grow(box_of_probe(&c->x), c->reach);
    if (c->source.surface) {
        try_surface(c, &box);
    } else {
        try_field(c, &box);
    }
}

// ---- bodies wholly inside a solid

// The shortest way out of a solid for a point inside.
typedef struct way_from {
    double length;
    kk_vec3 p, d; // where it ends, and along which unit direction
    int32_t region;
} way_from;

static bool find_way_from_surface(const kki_surface *s, kk_vec3 point, way_from *way) {
    kki_surface_point q;
    if (!kki_surface_holds(s, point, &q)) {
        return false;
    }
    const kk_vec3 d = kk_vec3_scale(kk_vec3_sub(q.p, point), 1 / q.distance);
    *way = (way_from){q.distance, q.p, q.feature == 6 ? s->normal[q.face] : d, s->region[q.face]};
    return true;
}

static void try_way_through(const kki_facets *source, int32_t face, kk_vec3 point, way_from *way) {
    kki_facet f;
    kki_facet_load(source, face, &f);
    const kki_triangle_point q = kki_triangle_closest(f.v, point);
    const kk_vec3 r = kk_vec3_sub(q.p, point);
    const double length = kk_vec3_norm(r);
    if (length < way->length) {
        *way = (way_from){length, q.p, q.feature == 6 ? f.n : kk_vec3_scale(r, 1 / length), f.region};
    }
}

// Through the top: what is right above the point says how far to look.
static bool find_way_from_field(const kki_facets *source, kk_vec3 point, way_from *way) {
    const kki_height_field *f = source->field;
    const double above = kki_height_field_at(f, point.x, point.y) - point.z;
    const kki_aabb box = kki_aabb_grow(kki_aabb_of_point(point), above);
    int32_t row[2], column[2];
    if (!kki_height_field_holds(f, point) || !kki_height_field_cells(f, &box, row, column)) {
        return false;
    }
    way->length = __builtin_inf();
    for (int32_t r = row[0]; r <= row[1]; r++) {
        for (int32_t k = column[0]; k <= column[1]; k++) {
            const int32_t cell = r * (f->columns - 1) + k;
            try_way_through(source, 2 * cell, point, way);
            try_way_through(source, 2 * cell + 1, point, way);
        }
    }
    return true;
}

// What lies in the surface, as far as can be told, is not inside: its direction is rounding.
static bool find_way_from(const contact *c, const kki_facets *source, kk_vec3 point, way_from *way) {
    return (source->surface ? find_way_from_surface(source->surface, point, way)
                            : find_way_from_field(source, point, way)) &&
           way->length > 1e-9 * c->x.size;
}

// The vertex of a piece that is lowest along d.
static kk_vec3 lowest_vertex(const kki_surface *s, int32_t piece, kk_vec3 d) {
    int32_t lowest = s->piece_vertex[piece];
    for (int32_t i = 0; i < s->vertex_count; i++) {
        const bool is_lower = s->piece[i] == piece && kk_vec3_dot(d, s->vertex[i]) < kk_vec3_dot(d, s->vertex[lowest]);
        lowest = is_lower ? i : lowest;
    }
    return s->vertex[lowest];
}

// X, or of another mesh a piece, is inside the mesh: its lowest point is to come out.
static void push_out_of_mesh(contact *c, int32_t piece, const way_from *way) {
    const kk_vec3 l = kk_mat3_tmul_vec(c->x.X_MX.R, way->d);
    const kki_surface *x = c->x_source.surface;
    const kk_vec3 lowest =
        kk_transform_point(c->x.X_MX, x ? lowest_vertex(x, piece, l) : kki_probe_farthest(&c->x, kk_vec3_neg(l)));
    const kki_cluster_point p = {way->p,
                                 kk_vec3_dot(way->d, kk_vec3_sub(lowest, way->p)) - c->x.radius,
                                 {kki_feature(KKI_FEATURE_FACE, way->region), kki_feature(KKI_FEATURE_FACE, -1)}};
    kki_clusters_add_point(&c->clusters, way->d, false, p);
}

// A piece of the mesh is inside X, another mesh, whose frame the way is in.
static void push_mesh_out(contact *c, int32_t piece, const way_from *way) {
    const kk_vec3 d = kk_mat3_mul_vec(c->x.X_MX.R, way->d), lowest = lowest_vertex(c->source.surface, piece, d);
    const kki_cluster_point p = {lowest,
                                 kk_vec3_dot(d, kk_vec3_sub(lowest, kk_transform_point(c->x.X_MX, way->p))) -
                                     c->x.radius,
                                 {kki_feature(KKI_FEATURE_FACE, -1), kki_feature(KKI_FEATURE_FACE, way->region)}};
    kki_clusters_add_point(&c->clusters, kk_vec3_neg(d), false, p);
}

// Whether a piece may be wholly inside the other body: nothing touches it. A mesh of one piece is asked as a whole.
static bool is_asked(const kki_surface *s, const pieces *touched, int32_t piece, bool is_free) {
    return is_free || (s->piece_count > 1 && !is_touched(touched, piece));
}

// Where no triangle has a say and a point of one body is inside the other, all of it is, or all of its piece: out by the
// point's shortest way.
static void push_out(contact *c, bool is_free) {
    const kki_surface *m = c->source.surface, *x = c->x_source.surface;
    const kk_transform X_XM = kk_transform_inverse(c->x.X_MX);
    way_from way;
    if (!x && is_free && !(m && m->vertex_count == 0) &&
        find_way_from(c, &c->source, kk_transform_point(c->x.X_MX, c->x.middle), &way)) {
        push_out_of_mesh(c, 0, &way);
    }
    for (int32_t i = 0; x && i < x->piece_count; i++) {
        const kk_vec3 p = kk_transform_point(c->x.X_MX, x->vertex[x->piece_vertex[i]]);
        if (is_asked(x, &c->x_touched, i, is_free) && find_way_from(c, &c->source, p, &way)) {
            push_out_of_mesh(c, i, &way);
        }
    }
    for (int32_t i = 0; x && m && i < m->piece_count; i++) {
        const kk_vec3 p = kk_transform_point(X_XM, m->vertex[m->piece_vertex[i]]);
        if (is_asked(m, &c->touched, i, is_free) && find_way_from(c, &c->x_source, p, &way)) {
            push_mesh_out(c, i, &way);
        }
    }
}

// ---- entries

static bool facets_of(const kki_shape *s, kki_facets *source) {
    *source =
        (kki_facets){s->type == KK_SHAPE_MESH ? s->surface : NULL, s->type == KK_SHAPE_HEIGHT_FIELD ? s->field : NULL};
    return source->surface || source->field;
}

static kk_transform relative(const kk_transform *X_WA, const kk_transform *X_WB) {
    return (kk_transform){kk_mat3_mul(kk_mat3_transpose(X_WA->R), X_WB->R),
                          kk_mat3_tmul_vec(X_WA->R, kk_vec3_sub(X_WB->p, X_WA->p))};
}

// both margins are one radius, since the sum of balls is a ball
static void begin(contact *c, const kki_shape *mesh, double reach) {
    c->count = c->weak = c->waiting = c->ways = 0;
    c->has_witness = c->has_way = c->is_looked_for = c->has_met = c->is_over = false;
    memset(&c->touched, 0, sizeof c->touched);
    memset(&c->x_touched, 0, sizeof c->x_touched);
    c->x.radius += mesh->margin;
    c->reach = reach;
    kki_clusters_begin(&c->clusters, reach);
}

// a mesh's margin thickens it: points move out on to its surface
static void add_mesh_margin(contact *c, double margin) {
    for (int i = 0; i < c->clusters.count && margin > 0; i++) {
        const kki_cluster *p = &c->clusters.cluster[i];
        for (int k = 0; k < p->count; k++) {
            kki_cluster_point *q = kki_cluster_point_at(&c->clusters, p, k);
            q->on_mesh = kk_vec3_add(q->on_mesh, kk_vec3_scale(p->d, margin));
        }
    }
}

static int finish(contact *c, const kki_shape *mesh, const kk_transform *X_WM, bool is_swapped, kki_manifold *manifold,
                  int room) {
    flush(c);
    take_hits(c, true);
    add_way_point(c);
    if (c->has_witness && !has_overlap(&c->clusters)) {
        add_witness(c);
    }
    // deep below a valley of a height field no face may be right above, and one beside may be near
    push_out(c, c->clusters.count == 0 || (c->source.field && !has_overlap(&c->clusters)));
    add_mesh_margin(c, mesh->margin);
    return kki_clusters_write(&c->clusters, X_WM, is_swapped, manifold, room);
}

// not inlined: of the two only one is to lie on the stack
__attribute__((noinline)) static int collide_core(const kki_shape *mesh, const kk_transform *X_WM, const kki_probe *x,
                                                  const kk_transform *X_WX, bool is_swapped, double reach,
                                                  kki_manifold *manifold, int room, bool *is_over) {
    contact c;
    c.x_source = (kki_facets){0};
    if (!facets_of(mesh, &c.source)) {
        return 0;
    }
    c.x = *x;
    c.x.X_MX = relative(X_WM, X_WX);
    begin(&c, mesh, reach);
    try_near(&c);
    *is_over = c.is_over;
    return finish(&c, mesh, X_WM, is_swapped, manifold, room);
}

// ---- two meshes

static void fetch(const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch((const char *)from + i);
    }
}

static void fetch_triangle(const kki_surface *s, int32_t place) {
    fetch(s->corner[place], sizeof s->corner[place]);
    fetch(&s->leaf_normal[place], sizeof s->leaf_normal[place]);
    fetch(&s->facet[place], sizeof s->facet[place]);
}

// Which triangles are to be looked at; memory for them is asked for.
static void find_pairs(contact *c, two_leaves *l) {
    l->pairs = kki_leaves_meet(l->a, l->b, &c->frames);
    c->has_met = c->has_met || l->pairs;
    for (unsigned left = l->pairs; left; left &= left - 1) {
        const int bit = __builtin_ctz(left);
        fetch_triangle(c->source.surface, l->a->first + (bit & 3));
        fetch_triangle(c->x_source.surface, l->b->first + (bit >> 2));
    }
}

static void try_pairs(contact *c, const two_leaves *l) {
    int last = -1;
    bool is_set = false;
    for (unsigned left = l->pairs; left; left &= left - 1) {
        const int bit = __builtin_ctz(left), j = bit >> 2;
        is_set = j == last ? is_set : set_triangle(c, l->b->first + j);
        last = j;
        if (is_set) {
            try_face(c, l->a->first + (bit & 3));
        }
    }
}

static void try_waiting(contact *c) {
    for (int i = 0; i < c->waiting; i++) {
        find_pairs(c, &c->leaves[i]);
    }
    for (int i = 0; i < c->waiting; i++) {
        try_pairs(c, &c->leaves[i]);
    }
    c->waiting = 0;
}

// Leaves wait until some are together, so that memory is fetched while others are looked at.
static void add_leaves(void *user, const kki_leaf *a, const kki_leaf *b) {
    contact *c = user;
    fetch(a, sizeof *a);
    fetch(b, sizeof *b);
    c->leaves[c->waiting++] = (two_leaves){a, b, 0};
    if (c->waiting == WAITING) {
        try_waiting(c);
    }
}

// X runs over the other mesh's triangles near this height field.
static void try_over_field(contact *c, const kk_transform *X_XM) {
    const kki_surface *s = c->x_source.surface;
    const kki_height_field *h = c->source.field;
    const kki_aabb whole = {{-0.5 * h->size[0], -0.5 * h->size[1], h->base},
                            {0.5 * h->size[0], 0.5 * h->size[1], h->greatest}};
    const kki_aabb box = kki_aabb_grow(kki_aabb_transform(*X_XM, &whole), c->reach + c->x.radius);
    kki_tree_walk walk;
    int32_t first, count;
    kki_tree_walk_begin(&walk, &s->tree, &box);
    while (kki_tree_walk_next(&walk, &first, &count)) {
        for (int32_t i = first; i < first + count; i++) {
            if (set_triangle(c, i)) {
                try_near(c);
            }
        }
    }
}

__attribute__((noinline)) static int collide_meshes(const kki_shape *mesh, const kk_transform *X_WM,
                                                    const kki_shape *other, const kk_transform *X_WX, bool is_swapped,
                                                    double reach, kki_manifold *manifold, int room, bool *is_near) {
    contact c;
    facets_of(mesh, &c.source);
    facets_of(other, &c.x_source);
    c.x = (kki_probe){.X_MX = relative(X_WM, X_WX), .radius = other->margin};
    begin(&c, mesh, reach);
    if (c.source.surface) {
        kki_leaf_frames_set(&c.frames, &c.x.X_MX, c.reach + c.x.radius);
        kki_tree_pairs(&c.source.surface->pairs, &c.x_source.surface->pairs, &c.x.X_MX, c.reach + c.x.radius,
                       add_leaves, &c);
        try_waiting(&c);
    } else {
        const kk_transform X_XM = relative(X_WX, X_WM);
        try_over_field(&c, &X_XM);
    }
    *is_near = c.has_met;
    return finish(&c, mesh, X_WM, is_swapped, manifold, room);
}

// The nearest points of bodies that are apart, as their contact.
static int write_nearest(const kki_separation *s, double reach, kki_manifold *manifold) {
    if (s->distance > reach) {
        return 0;
    }
    memset(manifold, 0, sizeof *manifold);
    manifold->normal = s->normal;
    manifold->count = 1;
    manifold->point[0] = (kki_contact_point){s->on_a, s->distance, ~(uint64_t)0};
    return 1;
}

static bool are_apart(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                      kki_separation *s) {
    return kki_distance(a, X_WA, b, X_WB, NULL, s) && s->distance > 0;
}

// Where no triangle has a direction that its neighbourhood allows, as of rims that pass beside each other, the nearest points
// are the contact.
static int collide_two(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                       bool is_swapped, double reach, kki_manifold *manifold, int room) {
    bool is_near = false;
    kki_separation d;
    const int found = is_swapped ? collide_meshes(b, X_WB, a, X_WA, true, reach, manifold, room, &is_near)
                                 : collide_meshes(a, X_WA, b, X_WB, false, reach, manifold, room, &is_near);
    // a distance asks for contacts at no reach, and gets no further
    const bool is_missed = found == 0 && is_near && reach > 0 && room > 0 && are_apart(a, X_WA, b, X_WB, &d);
    return is_missed ? write_nearest(&d, reach, manifold) : found;
}

static bool any_overlaps(const kki_manifold *manifold, int count) {
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < manifold[i].count; k++) {
            if (manifold[i].point[k].gap < 0) {
                return true;
            }
        }
    }
    return false;
}

// What leans over the rim of a height field is behind the planes of its triangles beside the wall, and beyond the field there: whether
// they overlap the distance has to say.
static int collide_convex(const kki_shape *mesh, const kk_transform *X_WM, const kki_shape *other,
                          const kk_transform *X_WX, const kki_probe *x, bool is_swapped, double reach,
                          kki_manifold *manifold, int room) {
    bool is_over = false;
    kki_separation d;
    const int found = collide_core(mesh, X_WM, x, X_WX, is_swapped, reach, manifold, room, &is_over);
    const kki_shape *a = is_swapped ? other : mesh, *b = is_swapped ? mesh : other;
    const kk_transform *X_WA = is_swapped ? X_WX : X_WM, *X_WB = is_swapped ? X_WM : X_WX;
    // a distance asks for contacts at no reach, and gets no further
    const bool is_false = is_over && reach > 0 && room > 0 && any_overlaps(manifold, found < 0 ? room : found) &&
                          are_apart(a, X_WA, b, X_WB, &d);
    return is_false ? write_nearest(&d, reach, manifold) : found;
}

int kki_collide_mesh(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                     double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    (void)memory; // answers depend on the poses alone
    kki_facets a_facets, b_facets;
    const bool a_is = facets_of(a, &a_facets), b_is = facets_of(b, &b_facets);
    if (a_is && b_facets.surface) {
        return collide_two(a, X_WA, b, X_WB, false, reach, manifold, room);
    }
    if (b_is && a_facets.surface) {
        return collide_two(a, X_WA, b, X_WB, true, reach, manifold, room);
    }
    kk_vec3 corner[8];
    kki_probe x = {0};
    if (a_is && probe_of_shape(b, corner, &x)) {
        return collide_convex(a, X_WA, b, X_WB, &x, false, reach, manifold, room);
    }
    if (b_is && probe_of_shape(a, corner, &x)) {
        return collide_convex(b, X_WB, a, X_WA, &x, true, reach, manifold, room);
    }
    return 0;
}
