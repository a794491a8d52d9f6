/// S1 5.2 and 5.3: crossings of trajectories.
///
///     L0  the shrunken polyhedra from t to t + Δt: deeper than allowed        → constraint forces (kuroda_descent.c)
///     L1  at t from the shrunken polyhedra to the whole ones: touching        → penalty springs (kuroda_contact.c)
///
/// A vertex crosses a face where its signed distance changes from outside to inside and the place at the crossing lies within the face's prism; edges
/// cross where the signed distance of their lines (5.1) changes sign and the nearest points at the crossing lie within both (5.2).
/// Distances and places are interpolated linearly.
#include "base/error.h"
#include "papers/kuroda.h"

/// Share of the shrinkage by which shrunken polyhedra may overlap and still count as apart: what the descent leaves.
static const double SLACK = 0.5;

static kk_vec3 between(kk_vec3 a, kk_vec3 b, double t) {
    return kk_vec3_add(a, kk_vec3_scale(kk_vec3_sub(b, a), t));
}

// ---- vertices and faces (5.2.1)

static kk_vec3 normal_of(const kk_vec3 *p, const int32_t v[3]) {
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(p[v[1]], p[v[0]]), kk_vec3_sub(p[v[2]], p[v[0]]));
    const double length = kk_vec3_norm(n);
    return length > 0 ? kk_vec3_scale(n, 1 / length) : n;
}

/// Whether p lies in the prism over a triangle.
static int in_prism(const kk_vec3 c[3], kk_vec3 p) {
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(c[1], c[0]), kk_vec3_sub(c[2], c[0]));
    for (int i = 0; i < 3; i++) {
        const kk_vec3 a = c[i], b = c[(i + 1) % 3];
        if (kk_vec3_dot(n, kk_vec3_cross(kk_vec3_sub(b, a), kk_vec3_sub(p, a))) < 0) {
            return 0;
        }
    }
    return 1;
}

static int vertex_crosses(const kuroda *K, const kuroda_solid *A, int vertex, const kuroda_solid *B, int face) {
    const int32_t *v = B->surface->face[face].vertex;
    const double d0 = kk_vec3_dot(normal_of(B->from, v), kk_vec3_sub(A->from[vertex], B->from[v[0]]));
    const double d1 = kk_vec3_dot(normal_of(B->to, v), kk_vec3_sub(A->to[vertex], B->to[v[0]]));
    if (!(d0 > -SLACK * 0.5 * K->depth && d1 < 0 && d1 < d0)) {
        return 0;
    }
    const double t = d0 > 0 ? d0 / (d0 - d1) : 0;
    kk_vec3 corner[3];
    for (int i = 0; i < 3; i++) {
        corner[i] = between(B->from[v[i]], B->to[v[i]], t);
    }
    return in_prism(corner, between(A->from[vertex], A->to[vertex], t));
}

// ---- edges (5.2.2)

/// (5.1); 0 where the edges are parallel.
static double line_distance(kk_vec3 a0, kk_vec3 b0, kk_vec3 a1, kk_vec3 b1) {
    const kk_vec3 cross = kk_vec3_cross(kk_vec3_sub(b0, a0), kk_vec3_sub(b1, a1));
    const double length = kk_vec3_norm(cross);
    const double least = 1e-9 * kk_vec3_norm(kk_vec3_sub(b0, a0)) * kk_vec3_norm(kk_vec3_sub(b1, a1));
    return length > least ? kk_vec3_dot(cross, kk_vec3_sub(a0, a1)) / length : 0;
}

/// Whether the nearest points of two lines lie within both segments.
static int within(kk_vec3 a0, kk_vec3 b0, kk_vec3 a1, kk_vec3 b1) {
    const kk_vec3 u = kk_vec3_sub(b0, a0), v = kk_vec3_sub(b1, a1), w = kk_vec3_sub(a1, a0);
    const double uu = kk_vec3_dot(u, u), vv = kk_vec3_dot(v, v), uv = kk_vec3_dot(u, v), det = uu * vv - uv * uv;
    const double s = (kk_vec3_dot(u, w) * vv - kk_vec3_dot(v, w) * uv) / det;
    const double t = (kk_vec3_dot(u, w) * uv - kk_vec3_dot(v, w) * uu) / det;
    return s >= 0 && s <= 1 && t >= 0 && t <= 1;
}

static int edges_cross(const kuroda_solid *A, int e0, const kuroda_solid *B, int e1) {
    const int32_t *i = A->surface->edge[e0].vertex, *j = B->surface->edge[e1].vertex;
    const double d0 = line_distance(A->from[i[0]], A->from[i[1]], B->from[j[0]], B->from[j[1]]);
    const double d1 = line_distance(A->to[i[0]], A->to[i[1]], B->to[j[0]], B->to[j[1]]);
    if (!(d0 * d1 < 0)) {
        return 0;
    }
    const double t = d0 / (d0 - d1); // (5.2)
    return within(between(A->from[i[0]], A->to[i[0]], t), between(A->from[i[1]], A->to[i[1]], t),
                  between(B->from[j[0]], B->to[j[0]], t), between(B->from[j[1]], B->to[j[1]], t));
}

// ---- trajectories

static void carry(const kuroda_solid *solid, kk_vec3 x, kk_mat3 turn, const kk_vec3 *local, kk_vec3 *world) {
    const kk_mat3 R = kk_mat3_mul(turn, solid->X_CS.R);
    const kk_vec3 p = kk_vec3_add(x, kk_mat3_mul_vec(turn, solid->X_CS.p));
    for (int i = 0; i < solid->surface->vertex_count; i++) {
        world[i] = kk_vec3_add(p, kk_mat3_mul_vec(R, local[i]));
    }
}

static void each_pair(kuroda *K, kki_kuroda_visit *visit) {
    for (int i = 0; i < K->nsolid; i++) {
        for (int j = i + 1; j < K->nsolid; j++) {
            kuroda_solid *a = &K->solid[i], *b = &K->solid[j];
            if (a->body != b->body && kki_model_pair_may_touch(K->model, a->shape, b->shape, NULL)) {
                kki_kuroda_pairs(K, a, b, visit);
            }
        }
    }
}

static void touch(kuroda *K, kuroda_solid *a, kuroda_solid *b, kuroda_leaf x, kuroda_leaf y) {
    if (x.kind == KURODA_VERTEX && y.kind == KURODA_FACE && vertex_crosses(K, a, x.item, b, y.item)) {
        kki_kuroda_touch_vertex(K, a, x.item, b, y.item);
    } else if (x.kind == KURODA_FACE && y.kind == KURODA_VERTEX && vertex_crosses(K, b, y.item, a, x.item)) {
        kki_kuroda_touch_vertex(K, b, y.item, a, x.item);
    } else if (x.kind == KURODA_EDGE && y.kind == KURODA_EDGE && edges_cross(a, x.item, b, y.item)) {
        kki_kuroda_touch_edges(K, a, x.item, b, y.item);
    }
}

kk_status kki_kuroda_touch(kuroda *K) {
    for (int i = 0; i < K->nsolid; i++) {
        kuroda_solid *x = &K->solid[i];
        const kuroda_body *b = &K->body[x->body];
        carry(x, b->x, b->turn, x->shrunk, x->from);
        carry(x, b->x, b->turn, x->surface->vertex, x->to);
        carry(x, b->x, b->turn, x->surface->vertex, x->full);
        kki_kuroda_refit(x, 0.5 * SLACK * K->depth);
    }
    K->nspring = K->first_contact;
    each_pair(K, touch);
    if (K->nspring > K->most_touching) {
        kki_room_ask(K->nspring - K->most_touching + K->s->contacts.max, K->s->contacts.max,
                     &K->s->lacking.room.contacts);
    }
    return kki_room_status(K->s);
}

static void deepen(kuroda *K, kuroda_solid *a, kuroda_solid *b, kuroda_leaf x, kuroda_leaf y) {
    if (x.kind == KURODA_VERTEX && y.kind == KURODA_FACE && vertex_crosses(K, a, x.item, b, y.item)) {
        kki_kuroda_bound_vertex(K, a, x.item, b, y.item);
    } else if (x.kind == KURODA_FACE && y.kind == KURODA_VERTEX && vertex_crosses(K, b, y.item, a, x.item)) {
        kki_kuroda_bound_vertex(K, b, y.item, a, x.item);
    } else if (x.kind == KURODA_EDGE && y.kind == KURODA_EDGE && edges_cross(a, x.item, b, y.item)) {
        kki_kuroda_bound_edges(K, a, x.item, b, y.item);
    }
}

int kki_kuroda_foresee_depth(kuroda *K) {
    const int before = K->nspring;
    for (int i = 0; i < K->nsolid; i++) {
        kuroda_solid *x = &K->solid[i];
        const kuroda_body *b = &K->body[x->body];
        carry(x, b->x, b->turn, x->shrunk, x->from);
        carry(x, b->x_next, b->turn_next, x->shrunk, x->to);
        kki_kuroda_refit(x, 0.5 * SLACK * K->depth);
    }
    each_pair(K, deepen);
    return K->nspring - before;
}
