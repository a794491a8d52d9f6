// Hits of triangles that others explain are dropped: moving X out along a shallower one's direction parts it from their triangles
// as well. What remains becomes points.
#include <string.h>

#include "collision/gjk.h"
#include "collision/mesh_work.h"

enum { WEAK_HITS = 16 };

// Moving X by `depth` along d parts it from the hit's triangle too.
static bool is_parted_by(const kki_facet *f, const kki_probe *x, kk_vec3 d, double depth) {
    double low, high, x_low, x_high;
    kki_facet_range(f, d, &low, &high);
    kki_probe_range(x, d, &x_low, &x_high);
    return x_low - x->radius - high >= -depth - 1e-9 * (f->size + x->size);
}

// The way that explains a hit; -1 where there is none.
static int explanation(const kki_facet *f, const kki_probe *x, const kki_hit *hit, const kki_mesh_way *way, int ways) {
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
static int way_along(kk_vec3 d, const kki_mesh_way *way, int ways) {
    for (int i = 0; i < ways; i++) {
        const kk_vec3 r = kk_vec3_sub(way[i].d, d);
        if (kk_vec3_dot(r, r) <= KKI_FLAT_SINE * KKI_FLAT_SINE) {
            return i;
        }
    }
    return -1;
}

// Of columns of a height field an overlap is not proved by the axes that are tried: X is to meet the top itself.
static bool is_proved(const kki_facet *f, const kki_probe *x) {
    if (!f->is_prism) {
        return true;
    }
    const kki_core triangle = kki_core_triangle(f->v, 0), core = kki_probe_core(x);
    const kki_core_pair pair = kki_core_pair_make(&triangle, &core, &x->X_MX);
    kki_simplex s;
    kki_core_distance r;
    s.count = 0;
    return kki_gjk(&pair, x->radius, f->n, &s, &r) == KKI_GJK_TOGETHER || r.distance <= x->radius;
}

// The shallowest overlap: it counts where no point that overlaps is found, as where X's outline has nothing over the
// triangle.
static void note_overlap(kki_mesh_work *c, const kki_hit *hit) {
    if (!c->has_witness || c->witness.sep < hit->sep) {
        c->has_witness = true;
        c->witness = *hit;
    }
}

static void add_witness(kki_mesh_work *c) {
    const kki_hit *hit = &c->witness;
    kki_facet f;
    kki_facet_load(&c->source, hit->place, &f);
    if (c->x.facet) {
        kki_mesh_set_triangle(c, hit->x_place);
    }
    const kk_vec3 l = kk_vec3_neg(kk_mat3_tmul_vec(c->x.X_MX.R, hit->d));
    const kk_vec3 lowest = kk_transform_point(c->x.X_MX, kki_probe_farthest(&c->x, l));
    const kki_cluster_point p = {kki_triangle_closest(f.v, lowest).p,
                                 hit->sep - c->x.radius,
                                 {kki_feature(KKI_FEATURE_FACE, f.region), kki_feature(KKI_FEATURE_FACE, -1)}};
    kki_clusters_add_point(&c->clusters, hit->d, hit->kind == KKI_HIT_FACE, p);
}

bool kki_mesh_has_overlap(kki_mesh_work *c) {
    kki_clusters *all = &c->clusters;
    for (int i = 0; i < all->count; i++) {
        for (int k = 0; k < all->cluster[i].count; k++) {
            if (kki_cluster_point_at(all, &all->cluster[i], k)->gap <= 0) {
                return true;
            }
        }
    }
    return false;
}

static void add_under(kki_mesh_work *c, const kki_hit *hit) {
    kki_facet f;
    kki_facet_load(&c->source, hit->place, &f);
    note_overlap(c, hit);
    kki_clusters_add(&c->clusters, &f, &c->x, hit);
}

// The triangle that X is clear of counts: a deeper hit is explained by it, or another triangle has the same way out.
static void take_way(kki_mesh_work *c, kki_mesh_way *way) {
    if (way->under) {
        add_under(c, way->under);
        way->under = NULL;
    }
}

static void add_way(kki_mesh_work *c, const kki_hit *hit) {
    kki_mesh_way *way = c->way_out;
    const int same = way_along(hit->d, way, c->ways);
    const double depth = c->x.radius - hit->sep;
    if (same < 0 && c->ways < KKI_MESH_WAYS) {
        way[c->ways++] = (kki_mesh_way){hit->d, depth, hit->is_under ? hit : NULL};
    } else if (same >= 0 && hit->is_under && !way[same].under) {
        add_under(c, hit);
    } else if (same >= 0 && !hit->is_under) {
        take_way(c, &way[same]);
        way[same].depth = kki_greater(way[same].depth, depth); // of the whole body, not of one triangle
    }
}

// Ways that count stay for the hits that follow; the others' hits are gone.
static void keep_ways(kki_mesh_work *c) {
    int count = 0;
    for (int i = 0; i < c->ways; i++) {
        if (!c->way_out[i].under) {
            c->way_out[count++] = c->way_out[i];
        }
    }
    c->ways = count;
}

// by halving, then moving the rest up: hits are few, and among equals the first stays first
static void sort_hits(kki_mesh_work *c) {
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
static void find_way(kki_mesh_work *c, bool of_weak) {
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
        c->way_out[c->ways++] = (kki_mesh_way){c->way.d, c->x.radius - c->way.sep, NULL};
    }
}

// The point of that way, where no triangle has it.
static void add_way_point(kki_mesh_work *c) {
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
static void note_if_missed(kki_mesh_work *c, const kki_facet *f, const kki_hit *hit) {
    if (!hit->only_above && hit->sep <= c->x.radius && !kki_mesh_has_overlap(c) && is_proved(f, &c->x)) {
        note_overlap(c, hit);
    }
}

static void take_hit(kki_mesh_work *c, const kki_hit *hit) {
    kki_facet f;
    kki_facet_load(&c->source, hit->place, &f);
    if (c->x.facet) {
        kki_mesh_set_triangle(c, hit->x_place);
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
static void take_hits(kki_mesh_work *c, bool is_weak) {
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

void kki_mesh_flush(kki_mesh_work *c) {
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
void kki_mesh_keep_hit(kki_mesh_work *c) {
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

void kki_mesh_take_all(kki_mesh_work *c) {
    kki_mesh_flush(c);
    take_hits(c, true);
    add_way_point(c);
    if (c->has_witness && !kki_mesh_has_overlap(c)) {
        add_witness(c);
    }
}
