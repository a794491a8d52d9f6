// A half space against meshes and height fields: the vertices near it or below it.
//
// Where a solid or sheet is deepest below a plane it is so at a vertex, and the lowest vertices span what it stands on;
// vertices inside a flat region lie between others and are left out.
#include "collision/mesh_contact.h"
#include "collision/pairs.h"

typedef struct floor_search {
    kk_transform X_AB; // from the mesh's frame to the plane's
    kk_vec3 n;         // the plane's normal in the mesh's frame
    double most;       // height of the farthest vertex that counts
    double thick;      // both margins
    kki_clusters clusters;
} floor_search;

static void try_vertex(floor_search *s, kk_vec3 p, int32_t id) {
    const kk_vec3 q = kk_transform_point(s->X_AB, p);
    if (q.z <= s->most) {
        kki_clusters_add_point(
            &s->clusters, kk_vec3_make(0, 0, 1), true,
            (kki_cluster_point){{q.x, q.y, 0},
                                q.z - s->thick,
                                {kki_feature(KKI_FEATURE_FACE, 0), kki_feature(KKI_FEATURE_VERTEX, id)}});
    }
}

// lowest height of a lane's box
static double lane_height(const floor_search *s, const kki_tree_node *node, int lane) {
    const double n[3] = {s->n.x, s->n.y, s->n.z};
    double h = s->X_AB.p.z;
    for (int k = 0; k < 3; k++) {
        h += n[k] * (double)(n[k] >= 0 ? node->lower[k][lane] : node->upper[k][lane]);
    }
    return h;
}

static void try_faces(floor_search *s, const kki_surface *m, int32_t first, int32_t count) {
    for (int32_t i = first; i < first + count; i++) {
        const int32_t *v = m->face[m->tree.item[i]].vertex;
        for (int k = 0; k < 3; k++) {
            if (!m->vertex_is_flat[v[k]]) {
                try_vertex(s, m->corner[i][k], v[k]);
            }
        }
    }
}

static void search_surface(floor_search *s, const kki_surface *m) {
    kki_tree_entry stack[KKI_TREE_STACK];
    int depth = m->tree.item_count > 0;
    stack[0] = (kki_tree_entry){0, 0};
    while (depth > 0) {
        const kki_tree_entry top = stack[--depth];
        if (top.count > 0) {
            try_faces(s, m, top.child, top.count);
            continue;
        }
        const kki_tree_node *node = &m->tree.node[top.child];
        for (int lane = 0; lane < 4; lane++) {
            if (node->child[lane] >= 0 && lane_height(s, node, lane) <= s->most + 1e-12 * __builtin_fabs(s->most)) {
                stack[depth++] = (kki_tree_entry){node->child[lane], node->count[lane]};
            }
        }
    }
}

// A grid has no tree: all samples, and the four feet of the solid.
static void search_field(floor_search *s, const kki_height_field *f) {
    for (int32_t r = 0; r < f->rows; r++) {
        for (int32_t c = 0; c < f->columns; c++) {
            try_vertex(s, kki_height_field_vertex(f, r, c), r * f->columns + c);
        }
    }
    for (int i = 0; i < 4; i++) {
        const kk_vec3 foot = {(i & 1 ? 0.5 : -0.5) * f->size[0], (i & 2 ? 0.5 : -0.5) * f->size[1], f->base};
        try_vertex(s, foot, f->rows * f->columns + i);
    }
}

int kki_collide_plane_mesh(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                           double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    (void)memory;
    floor_search s;
    s.X_AB = kk_transform_mul(kk_transform_inverse(*X_WA), *X_WB);
    s.n = kk_vec3_make(s.X_AB.R.m[6], s.X_AB.R.m[7], s.X_AB.R.m[8]);
    s.thick = a->margin + b->margin;
    s.most = reach + s.thick;
    kki_clusters_begin(&s.clusters, reach);
    if (b->type == KK_SHAPE_MESH) {
        search_surface(&s, b->surface);
    } else {
        search_field(&s, b->field);
    }
    const int found = kki_clusters_write(&s.clusters, X_WA, false, manifold, room);
    for (int i = 0; found == 1 && i < manifold->count && a->margin > 0; i++) {
        kk_vec3 *p = &manifold->point[i].position;
        *p = kk_vec3_add(*p, kk_vec3_scale(manifold->normal, a->margin));
    }
    return found;
}
