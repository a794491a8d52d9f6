// Meshes and height fields against everything: the steps of mesh_contact.h in their order (mesh_near.c, mesh_hits.c,
// mesh_inside.c), pairs of triangles of two meshes, and what a distance has to decide.
#include <string.h>

#include "collision/distance.h"
#include "collision/mesh_work.h"
#include "geometry/tree_pair.h"

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
static void begin(kki_mesh_work *c, const kki_shape *mesh, double reach) {
    c->count = c->weak = c->ways = 0;
    c->has_witness = c->has_way = c->is_looked_for = c->is_over = false;
    memset(&c->touched, 0, sizeof c->touched);
    memset(&c->x_touched, 0, sizeof c->x_touched);
    c->x.radius += mesh->margin;
    c->reach = reach;
    kki_clusters_begin(&c->clusters, reach);
}

// a mesh's margin thickens it: points move out on to its surface
static void add_mesh_margin(kki_mesh_work *c, double margin) {
    for (int i = 0; i < c->clusters.count && margin > 0; i++) {
        const kki_cluster *p = &c->clusters.cluster[i];
        for (int k = 0; k < p->count; k++) {
            kki_cluster_point *q = kki_cluster_point_at(&c->clusters, p, k);
            q->on_mesh = kk_vec3_add(q->on_mesh, kk_vec3_scale(p->d, margin));
        }
    }
}

static int finish(kki_mesh_work *c, const kki_shape *mesh, const kk_transform *X_WM, bool is_swapped,
                  kki_manifold *manifold, int room) {
    kki_mesh_take_all(c);
    // deep below a valley of a height field no face may be right above, and one beside may be near
    kki_mesh_push_out(c, c->clusters.count == 0 || (c->source.field && !kki_mesh_has_overlap(c)));
    add_mesh_margin(c, mesh->margin);
    return kki_clusters_write(&c->clusters, X_WM, is_swapped, manifold, room);
}

// not inlined: of the two only one is to lie on the stack
__attribute__((noinline)) static int collide_core(const kki_shape *mesh, const kk_transform *X_WM, const kki_probe *x,
                                                  const kk_transform *X_WX, bool is_swapped, double reach,
                                                  kki_manifold *manifold, int room, bool *is_over) {
    kki_mesh_work c;
    kki_clear_ways ways;
    c.x_source = (kki_facets){0};
    if (!facets_of(mesh, &c.source)) {
        return 0;
    }
    c.x = *x;
    ways.count = 0;
    c.x.ways = x->is_general && c.source.surface ? &ways : NULL;
    c.x.X_MX = relative(X_WM, X_WX);
    begin(&c, mesh, reach);
    kki_mesh_try_near(&c);
    *is_over = c.is_over;
    return finish(&c, mesh, X_WM, is_swapped, manifold, room);
}

// ---- two meshes

enum { WAITING = 16 };

// Two leaves, and which of their triangles may meet (kki_leaves_meet).
typedef struct two_leaves {
    const kki_leaf *a, *b;
    unsigned pairs;
} two_leaves;

typedef struct two_meshes {
    kki_mesh_work work;
    bool has_met; // triangles are not proved to be farther apart than the reach
    kki_leaf_frames frames;
    int waiting;
    two_leaves leaves[WAITING]; // while their triangles are fetched from memory
} two_meshes;

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
static void find_pairs(two_meshes *t, two_leaves *l) {
    l->pairs = kki_leaves_meet(l->a, l->b, &t->frames);
    t->has_met = t->has_met || l->pairs;
    for (unsigned left = l->pairs; left; left &= left - 1) {
        const int bit = __builtin_ctz(left);
        fetch_triangle(t->work.source.surface, l->a->first + (bit & 3));
        fetch_triangle(t->work.x_source.surface, l->b->first + (bit >> 2));
    }
}

static void try_pairs(kki_mesh_work *c, const two_leaves *l) {
    int last = -1;
    bool is_set = false;
    for (unsigned left = l->pairs; left; left &= left - 1) {
        const int bit = __builtin_ctz(left), j = bit >> 2;
        is_set = j == last ? is_set : kki_mesh_set_triangle(c, l->b->first + j);
        last = j;
        if (is_set) {
            kki_mesh_try_face(c, l->a->first + (bit & 3));
        }
    }
}

static void try_waiting(two_meshes *t) {
    for (int i = 0; i < t->waiting; i++) {
        find_pairs(t, &t->leaves[i]);
    }
    for (int i = 0; i < t->waiting; i++) {
        try_pairs(&t->work, &t->leaves[i]);
    }
    t->waiting = 0;
}

// Leaves wait until some are together, so that memory is fetched while others are looked at.
static void add_leaves(void *user, const kki_leaf *a, const kki_leaf *b) {
    two_meshes *t = user;
    fetch(a, sizeof *a);
    fetch(b, sizeof *b);
    t->leaves[t->waiting++] = (two_leaves){a, b, 0};
    if (t->waiting == WAITING) {
        try_waiting(t);
    }
}

static void try_surfaces(two_meshes *t) {
    kki_mesh_work *c = &t->work;
    const double limit = c->reach + c->x.radius;
    kki_leaf_frames_set(&t->frames, &c->x.X_MX, limit);
    kki_tree_pairs(&c->source.surface->pairs, &c->x_source.surface->pairs, &c->x.X_MX, limit, add_leaves, t);
    try_waiting(t);
}

// X runs over the other mesh's triangles near this height field.
static void try_over_field(kki_mesh_work *c, const kk_transform *X_XM) {
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
            if (kki_mesh_set_triangle(c, i)) {
                kki_mesh_try_near(c);
            }
        }
    }
}

__attribute__((noinline)) static int collide_meshes(const kki_shape *mesh, const kk_transform *X_WM,
                                                    const kki_shape *other, const kk_transform *X_WX, bool is_swapped,
                                                    double reach, kki_manifold *manifold, int room, bool *is_near) {
    two_meshes t;
    kki_mesh_work *c = &t.work;
    facets_of(mesh, &c->source);
    facets_of(other, &c->x_source);
    c->x = (kki_probe){.X_MX = relative(X_WM, X_WX), .radius = other->margin};
    t.waiting = 0;
    t.has_met = false;
    begin(c, mesh, reach);
    if (c->source.surface) {
        try_surfaces(&t);
    } else {
        const kk_transform X_XM = relative(X_WX, X_WM);
        try_over_field(c, &X_XM);
    }
    *is_near = t.has_met;
    return finish(c, mesh, X_WM, is_swapped, manifold, room);
}

// ---- entries

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

// Where no triangle has a direction that its neighborhood allows, as of rims that pass beside each other, the nearest points
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
    if (a_is && kki_probe_of_shape(b, corner, &x)) {
        return collide_convex(a, X_WA, b, X_WB, &x, false, reach, manifold, room);
    }
    if (b_is && kki_probe_of_shape(a, corner, &x)) {
        return collide_convex(b, X_WB, a, X_WA, &x, true, reach, manifold, room);
    }
    return 0;
}
