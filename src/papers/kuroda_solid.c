/// S1 5.1, 5.3.2 and 7.2: polyhedra with their boundary representation, shrunken by half of the depth that springs may give, and a tree of
/// boxes over their vertices, edges and faces.
///
/// The boundary representation is the surface of src/geometry (S1 5.1.1). A box becomes twelve triangles, a plane a block of two kilometers. The
/// thesis does not say how a polyhedron is shrunk: here each vertex moves so that the faces around it move in by s, in the least-squares
/// sense where they are more than three, which is exact for boxes.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "geometry/convex.h"
#include "papers/kuroda.h"

// ---- surfaces

static kk_status surface_of(kuroda *K, const kk_vec3 *vertex, int vertices, const kki_face *face, int faces,
                            kuroda_solid *solid, kk_error *error) {
    kki_mesh *mesh = NULL;
    kk_status status = kki_mesh_create(vertex, vertices, face, faces, &K->s->allocator, &mesh, error);
    if (status == KK_OK) {
        status = kki_surface_create(mesh, &K->s->allocator, &solid->surface, error);
        kki_mesh_free(mesh);
    }
    solid->is_own = status == KK_OK;
    return status;
}

static kk_status surface_of_box(kuroda *K, kk_vec3 low, kk_vec3 high, kuroda_solid *solid, kk_error *error) {
    static const kki_face face[12] = {{{0, 2, 3}}, {{0, 3, 1}}, {{4, 5, 7}}, {{4, 7, 6}}, {{0, 1, 5}}, {{0, 5, 4}},
                                      {{2, 6, 7}}, {{2, 7, 3}}, {{0, 4, 6}}, {{0, 6, 2}}, {{1, 3, 7}}, {{1, 7, 5}}};
    kk_vec3 vertex[8];
    for (int i = 0; i < 8; i++) {
        vertex[i] = kk_vec3_make(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
    }
    return surface_of(K, vertex, 8, face, 12, solid, error);
}

static kk_status surface_of_hull(kuroda *K, const kki_convex *hull, kuroda_solid *solid, kk_error *error) {
    int faces = 0;
    for (int i = 0; i < hull->face_count; i++) {
        faces += hull->face[i].count - 2;
    }
    kki_face *face = kki_allocate_array(&K->s->allocator, (size_t)faces, sizeof *face);
    if (!face) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the triangles of a hull");
    }
    int n = 0;
    for (int i = 0; i < hull->face_count; i++) {
        const int32_t *loop = hull->loop + hull->face[i].first;
        for (int k = 2; k < hull->face[i].count; k++) {
            face[n++] = (kki_face){{loop[0], loop[k - 1], loop[k]}};
        }
    }
    const kk_status status = surface_of(K, hull->vertex, hull->vertex_count, face, faces, solid, error);
    kki_release_array(&K->s->allocator, face, (size_t)faces, sizeof *face);
    return status;
}

static kk_status refuse(const kuroda *K, int shape, const char *what, kk_error *error) {
    return kki_error_set(
        error, KK_UNSUPPORTED,
        "the solver \"kuroda\" knows closed polyhedra: a shape of body \"%s\" %s; use boxes, hulls, closed "
        "meshes or planes, or another solver",
        kk_model_body_name(K->model, K->model->shape[shape].body), what);
}

/// Whether a shape's surface stands still against its body.
static int is_still(const kki_model_shape *x) {
    const kk_motion *V = &x->surface;
    return V->linear.x == 0 && V->linear.y == 0 && V->linear.z == 0 && V->angular.x == 0 && V->angular.y == 0 &&
           V->angular.z == 0;
}

static kk_status find_surface(kuroda *K, int shape, kuroda_solid *solid, kk_error *error) {
    const kki_model_shape *x = &K->model->shape[shape];
    const double *h = x->shape.half;
    if (x->shape.margin > 0 || !is_still(x)) {
        return refuse(K, shape, x->shape.margin > 0 ? "has a margin" : "has a moving surface", error);
    }
    switch (x->shape.type) {
    case KK_SHAPE_BOX:
        return surface_of_box(K, kk_vec3_make(-h[0], -h[1], -h[2]), kk_vec3_make(h[0], h[1], h[2]), solid, error);
    case KK_SHAPE_PLANE: // its diagonal does not run under what stands at the origin
        return surface_of_box(K, kk_vec3_make(-1000, -900, -1000), kk_vec3_make(1100, 1000, 0), solid, error);
    case KK_SHAPE_HULL: return surface_of_hull(K, x->shape.convex, solid, error);
    case KK_SHAPE_MESH:
        solid->surface = (kki_surface *)x->shape.surface;
        return solid->surface->is_solid ? KK_OK : refuse(K, shape, "is an open mesh", error);
    default: return refuse(K, shape, "is round, or a height field", error);
    }
}

// ---- the shrunken polyhedron

/// Σ n nᵀ d = −s Σ n over the faces around a vertex; a trace on the diagonal picks the shortest where faces are few.
static kk_vec3 inwards(const kki_surface *f, int vertex, double s) {
    kk_sym3 N = {0, 0, 0, 0, 0, 0};
    kk_vec3 sum = kk_vec3_make(0, 0, 0);
    for (int i = f->vertex_first[vertex]; i < f->vertex_first[vertex + 1]; i++) {
        for (int side = 0; side < 2; side++) {
            const int face = f->edge[f->vertex_edge[i]].face[side];
            const kk_vec3 n = f->normal[face < 0 ? 0 : face];
            N = kk_sym3_add(N, (kk_sym3){n.x * n.x, n.y * n.y, n.z * n.z, n.x * n.y, n.x * n.z, n.y * n.z});
            sum = kk_vec3_add(sum, n);
        }
    }
    const double trace = 1e-9 * (N.xx + N.yy + N.zz);
    const kk_sym3 a = {N.xx + trace, N.yy + trace, N.zz + trace, N.xy, N.xz, N.yz};
    const double xx = a.yy * a.zz - a.yz * a.yz, xy = a.xz * a.yz - a.xy * a.zz, xz = a.xy * a.yz - a.xz * a.yy;
    const double i = 1 / (a.xx * xx + a.xy * xy + a.xz * xz);
    const kk_sym3 inverse = {xx * i, (a.xx * a.zz - a.xz * a.xz) * i, (a.xx * a.yy - a.xy * a.xy) * i, xy * i,
                             xz * i, (a.xy * a.xz - a.xx * a.yz) * i};
    const kk_vec3 d = kk_sym3_mul_vec(inverse, kk_vec3_scale(sum, -s));
    const double length = kk_vec3_norm(d), most = 4 * s; // needles
    return length > most ? kk_vec3_scale(d, most / length) : d;
}

kk_status kki_kuroda_shrink(kuroda *K, kuroda_solid *solid, kk_error *error) {
    const kki_surface *f = solid->surface;
    const kk_vec3 size = kk_vec3_sub(f->box.upper, f->box.lower);
    const double least = size.x < size.y ? (size.x < size.z ? size.x : size.z) : (size.y < size.z ? size.y : size.z);
    if (least <= 1.5 * K->depth) {
        return refuse(K, solid->shape, "is thinner than the depth that springs may give (spring_depth)", error);
    }
    for (int i = 0; i < f->vertex_count; i++) {
        solid->shrunk[i] = kk_vec3_add(f->vertex[i], inwards(f, i, 0.5 * K->depth));
    }
    return KK_OK;
}

// ---- trees of boxes (7.2)

static kki_aabb none(void) {
    const double inf = __builtin_inf();
    return (kki_aabb){{inf, inf, inf}, {-inf, -inf, -inf}};
}

static void enclose(kki_aabb *box, kk_vec3 p) {
    box->lower = kk_vec3_make(p.x < box->lower.x ? p.x : box->lower.x, p.y < box->lower.y ? p.y : box->lower.y,
                              p.z < box->lower.z ? p.z : box->lower.z);
    box->upper = kk_vec3_make(p.x > box->upper.x ? p.x : box->upper.x, p.y > box->upper.y ? p.y : box->upper.y,
                              p.z > box->upper.z ? p.z : box->upper.z);
}

static int corners_of(const kki_surface *f, kuroda_leaf l, int32_t corner[3]) {
    if (l.kind == KURODA_VERTEX) {
        corner[0] = l.item;
        return 1;
    }
    if (l.kind == KURODA_EDGE) {
        memcpy(corner, f->edge[l.item].vertex, 2 * sizeof *corner);
        return 2;
    }
    memcpy(corner, f->face[l.item].vertex, 3 * sizeof *corner);
    return 3;
}

static kki_aabb box_of_leaf(const kki_surface *f, const kk_vec3 *from, const kk_vec3 *to, kuroda_leaf l) {
    int32_t corner[3];
    const int count = corners_of(f, l, corner);
    kki_aabb box = none();
    for (int i = 0; i < count; i++) {
        enclose(&box, from[corner[i]]);
        enclose(&box, to[corner[i]]);
    }
    return box;
}

static double center_of(const kki_surface *f, kuroda_leaf l, int axis) {
    const kki_aabb box = box_of_leaf(f, f->vertex, f->vertex, l);
    return 0.5 * (kk_vec3_get(box.lower, axis) + kk_vec3_get(box.upper, axis));
}

/// Splits leaves first … end − 1 at the mean of their boxes' centers; gives where.
static int split(const kki_surface *f, kuroda_leaf *leaf, int first, int end, int axis) {
    double mean = 0;
    for (int i = first; i < end; i++) {
        mean += center_of(f, leaf[i], axis) / (end - first);
    }
    int middle = first;
    for (int i = first; i < end; i++) {
        if (center_of(f, leaf[i], axis) < mean) {
            const kuroda_leaf l = leaf[middle];
            leaf[middle++] = leaf[i];
            leaf[i] = l;
        }
    }
    return middle == first || middle == end ? (first + end) / 2 : middle;
}

typedef struct task {
    int32_t node, first, end, level;
} task;

enum { STACK = 256, DEEP = 60 };

/// Top down; the axes take turns. Halving below a level bounds the stacks.
static void build(kuroda_solid *solid, int leaves) {
    task stack[STACK];
    int depth = 0, next = 1;
    stack[depth++] = (task){0, 0, leaves, 0};
    while (depth > 0) {
        const task t = stack[--depth];
        kuroda_node *n = &solid->node[t.node];
        if (t.end - t.first == 1) {
            *n = (kuroda_node){-1, -1, t.first};
            continue;
        }
        const int middle =
            t.level < DEEP ? split(solid->surface, solid->leaf, t.first, t.end, t.level % 3) : (t.first + t.end) / 2;
        *n = (kuroda_node){next, next + 1, -1};
        stack[depth++] = (task){next, t.first, middle, t.level + 1};
        stack[depth++] = (task){next + 1, middle, t.end, t.level + 1};
        next += 2;
    }
}

static kki_aabb both(kki_aabb a, kki_aabb b) {
    enclose(&a, b.lower);
    enclose(&a, b.upper);
    return a;
}

static kki_aabb wider(kki_aabb a, double by) {
    const kk_vec3 d = kk_vec3_make(by, by, by);
    return (kki_aabb){kk_vec3_sub(a.lower, d), kk_vec3_add(a.upper, d)};
}

void kki_kuroda_refit(kuroda_solid *solid, double margin) {
    const kki_surface *f = solid->surface;
    const int leaves = f->vertex_count + f->edge_count + f->face_count;
    for (int i = 2 * leaves - 2; i >= 0; i--) {
        const kuroda_node *n = &solid->node[i];
        solid->box[i] = n->left < 0 ? wider(box_of_leaf(f, solid->from, solid->to, solid->leaf[n->leaf]), margin)
                                    : both(solid->box[n->left], solid->box[n->right]);
    }
}

/// (7.1)
static int meet(const kki_aabb *a, const kki_aabb *b) {
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static double size_of(const kki_aabb *a) {
    return a->upper.x - a->lower.x + a->upper.y - a->lower.y + a->upper.z - a->lower.z;
}

/// 7.3: a leaf that is large beside a subtree is seen as a slab along its face's normal, (7.3) to (7.12).
static int slab_meets(const kuroda_solid *solid, int node, const kki_aabb *box) {
    const kuroda_leaf l = solid->leaf[solid->node[node].leaf];
    if (l.kind != KURODA_FACE) {
        return 1;
    }
    const int32_t *v = solid->surface->face[l.item].vertex;
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(solid->from[v[1]], solid->from[v[0]]),
                                    kk_vec3_sub(solid->from[v[2]], solid->from[v[0]]));
    double low = __builtin_inf(), high = -__builtin_inf();
    for (int i = 0; i < 6; i++) {
        const double x = kk_vec3_dot(n, (i < 3 ? solid->from : solid->to)[v[i % 3]]);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    const kk_vec3 near = kk_vec3_make(n.x > 0 ? box->lower.x : box->upper.x, n.y > 0 ? box->lower.y : box->upper.y,
                                      n.z > 0 ? box->lower.z : box->upper.z);
    const kk_vec3 far = kk_vec3_make(n.x > 0 ? box->upper.x : box->lower.x, n.y > 0 ? box->upper.y : box->lower.y,
                                     n.z > 0 ? box->upper.z : box->lower.z);
    return kk_vec3_dot(n, near) <= high && kk_vec3_dot(n, far) >= low; // the box is wide enough for both
}

/// Of two nodes whose boxes meet: a leaf waits, of two inner nodes the smaller one waits for the other's children.
static int descends_first(const kuroda_solid *a, int i, const kuroda_solid *b, int j) {
    if (a->node[i].left < 0 || b->node[j].left < 0) {
        return b->node[j].left < 0;
    }
    return size_of(&a->box[i]) > size_of(&b->box[j]);
}

void kki_kuroda_pairs(kuroda *K, kuroda_solid *a, kuroda_solid *b, kki_kuroda_visit *visit) {
    int32_t stack[2 * STACK][2];
    int depth = 0;
    stack[depth][0] = stack[depth][1] = 0;
    depth++;
    while (depth > 0) {
        const int i = stack[--depth][0], j = stack[depth][1];
        const kuroda_node *x = &a->node[i], *y = &b->node[j];
        if (!meet(&a->box[i], &b->box[j]) || (x->left < 0 && y->left >= 0 && !slab_meets(a, i, &b->box[j])) ||
            (y->left < 0 && x->left >= 0 && !slab_meets(b, j, &a->box[i]))) {
            continue;
        }
        if (x->left < 0 && y->left < 0) {
            visit(K, a, b, a->leaf[x->leaf], b->leaf[y->leaf]);
            continue;
        }
        const int first = descends_first(a, i, b, j);
        stack[depth][0] = first ? x->right : i;
        stack[depth++][1] = first ? j : y->right;
        stack[depth][0] = first ? x->left : i;
        stack[depth++][1] = first ? j : y->left;
    }
}

// ---- making one

static void place(kki_layout *layout, kuroda_solid *solid) {
    const size_t vertices = (size_t)solid->surface->vertex_count;
    const size_t leaves = vertices + (size_t)solid->surface->edge_count + (size_t)solid->surface->face_count;
    KKI_LAYOUT_ARRAY(layout, solid->shrunk, vertices);
    KKI_LAYOUT_ARRAY(layout, solid->from, vertices);
    KKI_LAYOUT_ARRAY(layout, solid->to, vertices);
    KKI_LAYOUT_ARRAY(layout, solid->full, vertices);
    KKI_LAYOUT_ARRAY(layout, solid->leaf, leaves);
    KKI_LAYOUT_ARRAY(layout, solid->node, 2 * leaves - 1);
    KKI_LAYOUT_ARRAY(layout, solid->box, 2 * leaves - 1);
}

static void list_leaves(kuroda_solid *solid) {
    const int count[3] = {solid->surface->vertex_count, solid->surface->edge_count, solid->surface->face_count};
    int n = 0;
    for (int kind = KURODA_VERTEX; kind <= KURODA_FACE; kind++) {
        for (int i = 0; i < count[kind]; i++) {
            solid->leaf[n++] = (kuroda_leaf){kind, i};
        }
    }
    build(solid, n);
}

kk_status kki_kuroda_make_solid(kuroda *K, int shape, kuroda_solid *solid, kk_error *error) {
    const kki_model_shape *x = &K->model->shape[shape];
    *solid = (kuroda_solid){.shape = shape, .body = x->node};
    kk_status status = find_surface(K, shape, solid, error);
    if (status != KK_OK) {
        return status;
    }
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, solid);
    void *block = kki_allocate_zeroed(&K->s->allocator, layout.size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the polyhedra of the solver \"kuroda\"");
    }
    layout = kki_layout_over(block);
    place(&layout, solid);
    const kk_vec3 com = K->body[x->node].com;
    solid->X_CS = kk_transform_make(x->X_NS.R, kk_vec3_sub(x->X_NS.p, com));
    list_leaves(solid);
    return kki_kuroda_shrink(K, solid, error);
}

void kki_kuroda_free_solid(kuroda *K, kuroda_solid *solid) {
    if (solid->surface && solid->shrunk) {
        kki_layout layout = kki_layout_over(NULL);
        kuroda_solid sizes = *solid;
        place(&layout, &sizes);
        kki_release(&K->s->allocator, solid->shrunk, layout.size); // the first of the block
    }
    if (solid->is_own) {
        kki_surface_free(solid->surface);
    }
}
