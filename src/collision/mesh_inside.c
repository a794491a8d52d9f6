// Bodies, and loose pieces of them, that are wholly inside a solid: no triangle touches them.
#include "collision/mesh_work.h"

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
    return way->length < __builtin_inf();
}

// What lies in the surface, as far as can be told, is not inside: its direction is rounding.
static bool find_way_from(const kki_mesh_work *c, const kki_facets *source, kk_vec3 point, way_from *way) {
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
static void push_out_of_mesh(kki_mesh_work *c, int32_t piece, const way_from *way) {
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
static void push_mesh_out(kki_mesh_work *c, int32_t piece, const way_from *way) {
    const kk_vec3 d = kk_mat3_mul_vec(c->x.X_MX.R, way->d), lowest = lowest_vertex(c->source.surface, piece, d);
    const kki_cluster_point p = {lowest,
                                 kk_vec3_dot(d, kk_vec3_sub(lowest, kk_transform_point(c->x.X_MX, way->p))) -
                                     c->x.radius,
                                 {kki_feature(KKI_FEATURE_FACE, -1), kki_feature(KKI_FEATURE_FACE, way->region)}};
    kki_clusters_add_point(&c->clusters, kk_vec3_neg(d), false, p);
}

static bool is_touched(const kki_pieces *p, int32_t piece) {
    return p->bits[piece % KKI_MESH_PIECES / 64] >> piece % 64 & 1;
}

// Whether a piece may be wholly inside the other body: nothing touches it. A mesh of one piece is asked as a whole.
static bool is_asked(const kki_surface *s, const kki_pieces *touched, int32_t piece, bool is_free) {
    return is_free || (s->piece_count > 1 && !is_touched(touched, piece));
}

void kki_mesh_push_out(kki_mesh_work *c, bool is_free) {
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
