// Walls and base of a height field as facets.
//
// Every piece of the border, between two samples that follow one another, has a wall of two triangles below it, and the base
// has two. Pieces run round the field counter-clockwise, seen from above, from the corner of least x and y: along −y, +x, +y,
// −x. All pieces of one side are one plane piece, so the edges between them are flat, and so are the feet of inner samples.
#include "collision/facet_side.h"

static const kk_vec3 OUT[4] = {{0, -1, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}};
static const kk_vec3 DOWN = {0, 0, -1};

// A sample of the border, and the piece that begins there.
typedef struct post {
    int side;
    bool is_corner;
    int32_t at; // its number round the field
    int32_t row, column;
} post;

static int32_t pieces_of(const kki_height_field *h) {
    return 2 * (h->columns - 1) + 2 * (h->rows - 1);
}

static post post_at(const kki_height_field *h, int32_t at) {
    const int32_t length[4] = {h->columns - 1, h->rows - 1, h->columns - 1, h->rows - 1};
    const int32_t pieces = pieces_of(h);
    post p = {.at = (at + pieces) % pieces};
    int32_t i = p.at;
    for (; i >= length[p.side]; p.side++) {
        i -= length[p.side];
    }
    p.is_corner = i == 0;
    p.row = p.side == 0 ? 0 : p.side == 1 ? i : p.side == 2 ? h->rows - 1 : h->rows - 1 - i;
    p.column = p.side == 0 ? i : p.side == 1 ? h->columns - 1 : p.side == 2 ? h->columns - 1 - i : 0;
    return p;
}

static kk_vec3 top_of(const kki_height_field *h, const post *p) {
    return kki_height_field_vertex(h, p->row, p->column);
}

static kk_vec3 foot_of(const kki_height_field *h, const post *p) {
    const kk_vec3 v = top_of(h, p);
    return kk_vec3_make(v.x, v.y, h->base);
}

static double width_of(const kki_height_field *h) {
    return h->size[0] + h->size[1];
}

int32_t kki_facet_wall_place(const kki_height_field *h, int side, int32_t cell) {
    const int32_t x = h->columns - 1, y = h->rows - 1;
    const int32_t piece = side == 0   ? cell
                          : side == 1 ? x + cell
                          : side == 2 ? x + y + (x - 1 - cell)
                                      : x + y + x + (y - 1 - cell);
    return kki_height_field_faces(h) + 2 * piece;
}

int32_t kki_facet_base_place(const kki_height_field *h) {
    return kki_height_field_faces(h) + 2 * pieces_of(h);
}

// ---- corners

static void set_foot(const kki_height_field *h, kki_facet *f, int k, const post *p) {
    f->v[k] = foot_of(h, p);
    f->vertex[k] = h->rows * h->columns + (p->is_corner ? p->side : 4 + p->at);
    f->vertex_is_flat[k] = !p->is_corner;
}

// flat where the rim goes straight on: then what is seen of it from the side is seen of the edges
static void set_top(const kki_height_field *h, kki_facet *f, int k, const post *p) {
    const post before = post_at(h, p->at - 1), after = post_at(h, p->at + 1);
    const kk_vec3 v = top_of(h, p), a = top_of(h, &before), b = top_of(h, &after);
    const double step = kk_vec3_norm(kk_vec3_sub(b, a));
    f->v[k] = v;
    f->vertex[k] = p->row * h->columns + p->column;
    f->vertex_is_flat[k] = !p->is_corner && __builtin_fabs(a.z - 2 * v.z + b.z) < KKI_FLAT_SINE * step;
}

// ---- edges

static void set_flat(kki_facet *f, int k, int32_t id) {
    f->edge[k] = id;
    f->edge_kind[k] = KKI_EDGE_FLAT;
    f->has_neighbor[k] = true;
    f->n_neighbor[k] = f->n;
    f->opposite[k] = f->v[k];
}

static void set_sharp(kki_facet *f, int k, int32_t id, kk_vec3 n, kk_vec3 opposite) {
    f->edge[k] = id;
    f->edge_kind[k] = KKI_EDGE_CONVEX;
    f->has_neighbor[k] = true;
    f->n_neighbor[k] = n;
    f->opposite[k] = opposite;
}

// to a point of what lies beyond the edge
static kk_vec3 inwards(const kki_height_field *h, kk_vec3 v, kk_vec3 out) {
    return kk_vec3_sub(v, kk_vec3_scale(out, width_of(h)));
}

static int32_t first_edge(const kki_height_field *h) {
    return 3 * h->rows * h->columns; // those of the samples are below
}

// The edge below a post, where the side begins or, seen from the one before, ends.
static void set_upright(const kki_height_field *h, kki_facet *f, int k, const post *p, int beyond) {
    const int32_t id = first_edge(h) + 3 * p->at;
    if (p->is_corner) {
        set_sharp(f, k, id, OUT[beyond], inwards(h, f->v[k], f->n));
    } else {
        set_flat(f, k, id);
    }
}

// The edge that a wall shares with the top.
static void set_rim(const kki_height_field *h, kki_facet *f, int k, const post *p, const post *q) {
    const int32_t row = p->row < q->row ? p->row : q->row, column = p->column < q->column ? p->column : q->column;
    const bool is_upper = p->side >= 2; // of the two faces of a cell, where the cell is the last of its row or column
    const int32_t r = p->side == 2 ? row - 1 : row, c = p->side == 1 ? column - 1 : column;
    const int32_t face = 2 * (r * (h->columns - 1) + c) + is_upper;
    const bool is_far = p->side == 0 || p->side == 3;
    set_sharp(f, k, 3 * (row * h->columns + column) + (p->row == q->row ? 0 : 1), kki_height_field_normal(h, face),
              kki_height_field_vertex(h, is_far ? r + 1 : r, is_far ? c + 1 : c));
}

// ---- facets

static void load_wall(const kki_height_field *h, int32_t piece, bool is_upper, kki_facet *f) {
    const post p = post_at(h, piece), q = post_at(h, piece + 1);
    const int32_t id = first_edge(h) + 3 * piece;
    f->n = OUT[p.side];
    f->region = kki_height_field_faces(h) + p.side;
    set_foot(h, f, 0, &p);
    if (is_upper) {
        set_top(h, f, 1, &q);
        set_top(h, f, 2, &p);
        set_flat(f, 0, id + 1);
        set_rim(h, f, 1, &p, &q);
        set_upright(h, f, 2, &p, (p.side + 3) % 4);
    } else {
        set_foot(h, f, 1, &q);
        set_top(h, f, 2, &q);
        set_sharp(f, 0, id + 2, DOWN, inwards(h, f->v[0], f->n));
        set_upright(h, f, 1, &q, (p.side + 1) % 4);
        set_flat(f, 2, id + 1);
    }
}

// corners 0, 3, 2 and 0, 2, 1 of the rectangle
static void load_base(const kki_height_field *h, bool is_second, kki_facet *f) {
    const int32_t x = h->columns - 1, y = h->rows - 1, corner[4] = {0, x, x + y, x + y + x};
    const int order[3] = {0, is_second ? 2 : 3, is_second ? 1 : 2};
    const int32_t id = first_edge(h) + 3 * pieces_of(h);
    f->n = DOWN;
    f->region = kki_height_field_faces(h) + 4;
    for (int k = 0; k < 3; k++) {
        const post p = post_at(h, corner[order[k]]);
        set_foot(h, f, k, &p);
    }
    for (int k = 0; k < 3; k++) {
        const int a = order[k], b = order[(k + 1) % 3];
        if (a + b == 2) {
            set_flat(f, k, id + 4);
        } else { // from b to a the side of b runs
            set_sharp(f, k, id + b, OUT[b], inwards(h, f->v[k], DOWN));
        }
    }
}

void kki_facet_load_side(const kki_height_field *h, int32_t place, kki_facet *f) {
    const int32_t i = place - kki_height_field_faces(h);
    *f = (kki_facet){.place = place, .face = place, .is_solid = true, .base = h->base};
    if (i < 2 * pieces_of(h)) {
        load_wall(h, i / 2, i % 2, f);
    } else {
        load_base(h, i % 2, f);
    }
    for (int k = 0; k < 3; k++) {
        f->size = kki_greater(f->size, kk_vec3_norm(kk_vec3_sub(f->v[(k + 1) % 3], f->v[k])));
    }
}

bool kki_facet_is_foot(const kki_height_field *h, int32_t vertex) {
    return vertex >= h->rows * h->columns;
}

int kki_facet_around_foot(const kki_height_field *h, kk_vec3 v, kk_vec3 around[3]) {
    const double width = width_of(h);
    around[0] = kk_vec3_make(v.x, v.y, v.z + width);
    around[1] = kk_vec3_make(v.x < 0 ? v.x + width : v.x - width, v.y, v.z);
    around[2] = kk_vec3_make(v.x, v.y < 0 ? v.y + width : v.y - width, v.z);
    return 3;
}
