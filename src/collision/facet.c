// Triangles with their neighborhood; see facet.h.
#include "collision/facet.h"

#include "collision/facet_side.h"

static double longest_edge(const kki_facet *f) {
    double size2 = 0;
    for (int k = 0; k < 3; k++) {
        const kk_vec3 e = kk_vec3_sub(f->v[(k + 1) % 3], f->v[k]);
        size2 = kki_greater(size2, kk_vec3_dot(e, e));
    }
    return kk_sqrt(size2);
}

// ---- from a mesh

typedef struct neighbor {
    bool is_there;
    kk_vec3 opposite, n;
} neighbor;

static neighbor neighbor_in_mesh(const kki_surface *s, const kki_facet *f, int k) {
    const int32_t other = s->facet[f->place].beside[k];
    neighbor r = {.is_there = other >= 0, .opposite = f->v[k]};
    if (!r.is_there) {
        return r;
    }
    r.n = s->leaf_normal[other];
    for (int i = 0; i < 3; i++) {
        const int32_t v = s->facet[other].vertex[i];
        if (v != f->vertex[k] && v != f->vertex[(k + 1) % 3]) {
            r.opposite = s->corner[other][i];
        }
    }
    return r;
}

static neighbor neighbor_of(const kki_facet *f, int k) {
    if (f->surface) {
        return neighbor_in_mesh(f->surface, f, k);
    }
    return (neighbor){f->has_neighbor[k], f->opposite[k], f->n_neighbor[k]};
}

bool kki_facet_normal_beside(const kki_facet *f, int k, kk_vec3 *n) {
    const neighbor other = neighbor_of(f, k);
    *n = other.n;
    return other.is_there;
}

// fields of height fields stay unset: a facet is large and loaded often
static bool load_from_surface(const kki_surface *s, int32_t place, kki_facet *f) {
    const kki_surface_facet *from = &s->facet[place];
    f->surface = s;
    f->place = place;
    f->face = from->face;
    f->n = s->leaf_normal[place];
    f->region = from->region;
    f->is_solid = s->is_solid;
    f->is_prism = false;
    f->base = 0;
    f->size = from->size;
    for (int k = 0; k < 3; k++) {
        f->v[k] = s->corner[place][k];
        f->vertex[k] = from->vertex[k];
        f->vertex_is_flat[k] = from->vertex_is_flat[k];
        f->edge[k] = from->edge[k];
        f->edge_kind[k] = from->edge_kind[k];
    }
    return kk_vec3_dot(f->n, f->n) > 0;
}

// ---- from a height field

static bool is_flat_between(kk_vec3 a, kk_vec3 b) {
    const kk_vec3 sine = kk_vec3_cross(a, b);
    return kk_vec3_dot(sine, sine) < KKI_FLAT_SINE * KKI_FLAT_SINE;
}

// lower sample of an edge, and its direction: along x, along y, diagonal
static int32_t field_edge(const kki_height_field *h, const int32_t row[3], const int32_t column[3], int k) {
    const int a = k, b = (k + 1) % 3;
    const int32_t r = row[a] < row[b] ? row[a] : row[b], c = column[a] < column[b] ? column[a] : column[b];
    const int kind = row[a] == row[b] ? 0 : column[a] == column[b] ? 1 : 2;
    return 3 * (r * h->columns + c) + kind;
}

static void load_field_edge(const kki_height_field *h, kki_facet *f, int k, const int32_t row[3],
                            const int32_t column[3]) {
    const int32_t other = kki_height_field_neighbor(h, f->face, k);
    f->edge[k] = field_edge(h, row, column, k);
    f->has_neighbor[k] = other >= 0;
    f->edge_kind[k] = KKI_EDGE_BORDER;
    if (other < 0) {
        return;
    }
    int32_t r[3], c[3];
    kki_height_field_corners(h, other, r, c);
    for (int i = 0; i < 3; i++) {
        const bool is_shared =
            (r[i] == row[k] && c[i] == column[k]) || (r[i] == row[(k + 1) % 3] && c[i] == column[(k + 1) % 3]);
        if (!is_shared) {
            f->opposite[k] = kki_height_field_vertex(h, r[i], c[i]);
        }
    }
    f->n_neighbor[k] = kki_height_field_normal(h, other);
    const double rise = kk_vec3_dot(f->n, kk_vec3_sub(f->opposite[k], f->v[k]));
    f->edge_kind[k] = is_flat_between(f->n, f->n_neighbor[k]) ? KKI_EDGE_FLAT
                      : rise < 0                              ? KKI_EDGE_CONVEX
                                                              : KKI_EDGE_CONCAVE;
}

// The samples around a sample in the triangulation, up to six.
static int field_neighbors(const kki_height_field *h, int32_t vertex, kk_vec3 p[6]) {
    static const int8_t AROUND[6][2] = {{0, 1}, {1, 1}, {1, 0}, {0, -1}, {-1, -1}, {-1, 0}};
    const int32_t row = vertex / h->columns, column = vertex % h->columns;
    int count = 0;
    for (int k = 0; k < 6; k++) {
        const int32_t r = row + AROUND[k][0], c = column + AROUND[k][1];
        if (r >= 0 && r < h->rows && c >= 0 && c < h->columns) {
            p[count++] = kki_height_field_vertex(h, r, c);
        }
    }
    return count;
}

// inner, and all around in the plane of one face
static bool field_vertex_is_flat(const kki_height_field *h, int32_t vertex, kk_vec3 p, kk_vec3 n) {
    kk_vec3 around[6];
    const int count = field_neighbors(h, vertex, around);
    for (int i = 0; i < count; i++) {
        const kk_vec3 e = kk_vec3_sub(around[i], p);
        const double rise = kk_vec3_dot(n, e);
        if (rise * rise > KKI_FLAT_SINE * KKI_FLAT_SINE * kk_vec3_dot(e, e)) {
            return false;
        }
    }
    return count == 6;
}

static void load_from_field(const kki_height_field *h, int32_t face, kki_facet *f) {
    int32_t row[3], column[3];
    kki_height_field_corners(h, face, row, column);
    *f = (kki_facet){.place = face,
                     .face = face,
                     .n = kki_height_field_normal(h, face),
                     .region = h->region[face],
                     .is_solid = true,
                     .is_prism = true,
                     .base = h->base};
    for (int k = 0; k < 3; k++) {
        f->vertex[k] = row[k] * h->columns + column[k];
        f->v[k] = kki_height_field_vertex(h, row[k], column[k]);
        f->opposite[k] = f->v[k];
    }
    for (int k = 0; k < 3; k++) {
        load_field_edge(h, f, k, row, column);
        f->vertex_is_flat[k] = field_vertex_is_flat(h, f->vertex[k], f->v[k], f->n);
    }
    f->size = longest_edge(f);
}

bool kki_facet_load(const kki_facets *source, int32_t place, kki_facet *facet) {
    if (source->surface) {
        return load_from_surface(source->surface, place, facet);
    }
    if (place < kki_height_field_faces(source->field)) {
        load_from_field(source->field, place, facet);
    } else {
        kki_facet_load_side(source->field, place, facet);
    }
    return true;
}

// ---- summits

// q does not reach beyond p along d
static bool stays_below(kk_vec3 p, kk_vec3 q, kk_vec3 d) {
    const kk_vec3 e = kk_vec3_sub(q, p);
    const double rise = kk_vec3_dot(d, e);
    return rise <= 0 || rise * rise <= KKI_FLAT_SINE * KKI_FLAT_SINE * kk_vec3_dot(e, e);
}

bool kki_facet_edge_is_summit(const kki_facet *f, int k, kk_vec3 d) {
    if (f->edge_kind[k] == KKI_EDGE_FLAT || !stays_below(f->v[k], f->v[(k + 2) % 3], d)) {
        return false;
    }
    const neighbor other = neighbor_of(f, k);
    return !other.is_there || (stays_below(f->v[k], other.opposite, d) &&
                               (!f->is_solid || kk_vec3_dot(d, kk_vec3_add(f->n, other.n)) > 0));
}

static bool field_vertex_is_summit(const kki_height_field *h, const kki_facet *f, int k, kk_vec3 d) {
    kk_vec3 around[6];
    const bool is_foot = kki_facet_is_foot(h, f->vertex[k]);
    const int count = is_foot ? kki_facet_around_foot(h, f->v[k], around) : field_neighbors(h, f->vertex[k], around);
    for (int i = 0; i < count; i++) {
        if (!stays_below(f->v[k], around[i], d)) {
            return false;
        }
    }
    return is_foot || d.z >= 0;
}

static bool vertex_is_summit(const kki_facets *source, const kki_facet *f, int k, kk_vec3 d) {
    if (f->vertex_is_flat[k]) {
        return false;
    }
    if (source->field) {
        return field_vertex_is_summit(source->field, f, k, d);
    }
    const kki_surface *s = source->surface;
    const int32_t v = f->vertex[k];
    if (f->is_solid && !(kk_vec3_dot(d, s->vertex_normal[v]) > 0)) {
        return false;
    }
    for (int32_t i = s->vertex_first[v]; i < s->vertex_first[v + 1]; i++) {
        if (!stays_below(f->v[k], s->star[i].p, d)) {
            return false;
        }
    }
    return true;
}

int kki_facet_top(const kki_facet *f, kk_vec3 d) {
    const double h[3] = {kk_vec3_dot(d, f->v[0]), kk_vec3_dot(d, f->v[1]), kk_vec3_dot(d, f->v[2])};
    const double top = kki_greater(h[0], kki_greater(h[1], h[2])) - KKI_FLAT_SINE * f->size;
    static const int8_t FEATURE[8] = {6, 0, 1, 3, 2, 5, 4, 6};
    return FEATURE[(h[0] >= top) | (h[1] >= top) << 1 | (h[2] >= top) << 2];
}

// the normal itself, up to the flat angle: the face is a summit along that alone
static bool is_near_normal(const kki_facet *f, kk_vec3 d) {
    const kk_vec3 sine = kk_vec3_cross(f->n, d);
    return kk_vec3_dot(sine, sine) < 16 * KKI_FLAT_SINE * KKI_FLAT_SINE;
}

bool kki_facet_is_summit(const kki_facets *source, const kki_facet *f, kk_vec3 d) {
    const int top = kki_facet_top(f, d);
    if (f->is_prism && d.z < 0) {
        return false;
    }
    if (top == 6) {
        return (!f->is_solid || kk_vec3_dot(d, f->n) > 0) && !is_near_normal(f, d);
    }
    return top >= 3 ? kki_facet_edge_is_summit(f, top - 3, d) : vertex_is_summit(source, f, top, d);
}
