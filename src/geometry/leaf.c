// What parts triangles of two leaves before they are looked at closely: boxes, both planes and products of edges, one
// triangle of B against the four of A's leaf at a time.
//
// Floats are enough. Along any direction a gap between the corners is a gap. What must be covered, in parts of all lengths
// together: the rounding of corners in A's frame (5e-7), and that of mixed products of two edges and a length, five
// roundings each, over the sine between the edges: 3e-7 / 0.2 for each of the six ends of two spans. The slack is more.
#include "geometry/leaf.h"

static const double SLACK = 2e-5;
static const float SINE2 = 0.04f; // of the sine 0.2, squared: edges more parallel than this part nothing

static void set_lane(kki_leaf *leaf, int lane, const kk_vec3 corner[3]) {
    for (int k = 0; k < 3; k++) {
        const kk_vec3 r = kk_vec3_sub(corner[k], leaf->origin);
        leaf->v[k][0][lane] = (float)r.x;
        leaf->v[k][1][lane] = (float)r.y;
        leaf->v[k][2][lane] = (float)r.z;
        leaf->reach = kki_greater(leaf->reach, __builtin_fabs(r.x) + __builtin_fabs(r.y) + __builtin_fabs(r.z));
    }
}

void kki_leaf_set(kki_leaf *leaf, const kk_vec3 (*corner)[3], int32_t first, int count) {
    const kki_float4 none = kki_float4_all(__builtin_nanf(""));
    leaf->origin = corner[0][0];
    leaf->reach = 0;
    leaf->first = first;
    for (int k = 0; k < 3; k++) {
        leaf->v[k][0] = leaf->v[k][1] = leaf->v[k][2] = none;
    }
    for (int i = 0; i < count; i++) {
        set_lane(leaf, i, corner[i]);
    }
}

void kki_leaf_frames_set(kki_leaf_frames *frames, const kk_transform *X_AB, double limit) {
    frames->X_AB = *X_AB;
    frames->limit = limit;
    for (int i = 0; i < 9; i++) {
        frames->R[i] = kki_float4_all((float)X_AB->R.m[i]);
    }
}

// ---- four triangles

typedef struct vectors {
    kki_float4 x, y, z;
} vectors;

static inline kki_float4 dot(const vectors *a, const vectors *b) {
    return a->x * b->x + a->y * b->y + a->z * b->z;
}
static inline vectors cross(const vectors *a, const vectors *b) {
    return (vectors){a->y * b->z - a->z * b->y, a->z * b->x - a->x * b->z, a->x * b->y - a->y * b->x};
}
static inline vectors lane_of(const vectors *a, int j) {
    return (vectors){kki_float4_all(a->x[j]), kki_float4_all(a->y[j]), kki_float4_all(a->z[j])};
}

// Corners, edges, area as a vector, twice; squared lengths of edges; the plane area · x = offset, by which a point may be off
// for each unit of distance; boxes.
typedef struct triangles {
    vectors v[3], u[3], area;
    kki_float4 uu[3], offset, most, low[3], high[3];
} triangles;

static inline void set_triangles(triangles *t) {
    for (int k = 0; k < 3; k++) {
        const vectors *p = &t->v[k], *q = &t->v[k < 2 ? k + 1 : 0];
        t->u[k] = (vectors){q->x - p->x, q->y - p->y, q->z - p->z};
        t->uu[k] = dot(&t->u[k], &t->u[k]);
    }
    t->area = cross(&t->u[0], &t->u[1]);
    t->offset = dot(&t->area, &t->v[0]);
    t->most = 0.5f * (t->uu[0] + t->uu[1]); // at least |u0| |u1|, which is at least the area
    const vectors *v = t->v;
    t->low[0] = kki_float4_min(v[0].x, kki_float4_min(v[1].x, v[2].x));
    t->low[1] = kki_float4_min(v[0].y, kki_float4_min(v[1].y, v[2].y));
    t->low[2] = kki_float4_min(v[0].z, kki_float4_min(v[1].z, v[2].z));
    t->high[0] = kki_float4_max(v[0].x, kki_float4_max(v[1].x, v[2].x));
    t->high[1] = kki_float4_max(v[0].y, kki_float4_max(v[1].y, v[2].y));
    t->high[2] = kki_float4_max(v[0].z, kki_float4_max(v[1].z, v[2].z));
}

static inline void take_leaf(const kki_leaf *a, triangles *t) {
    for (int k = 0; k < 3; k++) {
        t->v[k] = (vectors){a->v[k][0], a->v[k][1], a->v[k][2]};
    }
    set_triangles(t);
}

static inline void take_leaf_at(const kki_leaf *b, const kki_float4 R[9], const float at[3], triangles *t) {
    for (int k = 0; k < 3; k++) {
        const kki_float4 x = b->v[k][0], y = b->v[k][1], z = b->v[k][2];
        t->v[k] = (vectors){R[0] * x + R[1] * y + R[2] * z + at[0], R[3] * x + R[4] * y + R[5] * z + at[1],
                            R[6] * x + R[7] * y + R[8] * z + at[2]};
    }
    set_triangles(t);
}

// ---- triangle j of B against A's

static inline kki_mask4 near_boxes(const triangles *a, const triangles *b, int j, float limit) {
    kki_mask4 near = {-1, -1, -1, -1};
    for (int i = 0; i < 3; i++) {
        near &= (a->low[i] <= b->high[i][j] + limit) & (a->high[i] >= b->low[i][j] - limit);
    }
    return near;
}

// Not all three heights beyond the limit on one side.
static inline kki_mask4 is_between(const kki_float4 h[3], kki_float4 offset, kki_float4 limit) {
    const kki_float4 low = kki_float4_min(h[0], kki_float4_min(h[1], h[2])) - offset;
    const kki_float4 high = kki_float4_max(h[0], kki_float4_max(h[1], h[2])) - offset;
    return (low <= limit) & (high >= -limit);
}

static inline kki_mask4 near_planes(const triangles *a, const triangles *b, int j, float limit) {
    const vectors area = lane_of(&b->area, j);
    kki_float4 above_a[3], above_b[3];
    for (int k = 0; k < 3; k++) {
        const vectors v = lane_of(&b->v[k], j);
        above_a[k] = dot(&a->area, &v);
        above_b[k] = dot(&a->v[k], &area);
    }
    return is_between(above_a, a->offset, limit * a->most) &
           is_between(above_b, kki_float4_all(b->offset[j]), kki_float4_all(limit * b->most[j]));
}

// Where edge k of A's and edge m of B's triangle j have a product u × e that parts the triangles. Along it an edge is level,
// so each triangle spans from its edge to its third corner: A's from 0 to `rise`, B's from `at` to at + b_rise, all times
// the product's length; the rises are mixed products of edges and areas.
static inline kki_mask4 edges_part(kki_float4 at, kki_float4 rise, kki_float4 b_rise, kki_float4 sine2,
                                   kki_float4 most2, float limit2) {
    const kki_float4 end = at + b_rise, zero = kki_float4_all(0);
    const kki_float4 above = kki_float4_min(at, end) - kki_float4_max(rise, zero);
    const kki_float4 below = kki_float4_min(rise, zero) - kki_float4_max(at, end);
    const kki_float4 apart = kki_float4_max(above, below);
    return (apart > 0.0f) & (apart * apart > limit2 * sine2) & (sine2 > SINE2 * most2);
}

static inline kki_mask4 near_edges(const triangles *a, const triangles *b, int j, kki_mask4 near, float limit2) {
    const vectors b_area = lane_of(&b->area, j);
    const kki_float4 b_rise[3] = {dot(&a->u[0], &b_area), dot(&a->u[1], &b_area), dot(&a->u[2], &b_area)};
    for (int m = 0; m < 3 && kki_mask4_bits(near); m++) {
        const vectors e = lane_of(&b->u[m], j), q = lane_of(&b->v[m], j);
        const kki_float4 rise = -dot(&e, &a->area), ee = kki_float4_all(b->uu[m][j]);
        for (int k = 0; k < 3; k++) {
            const vectors c = cross(&a->u[k], &e), w = {q.x - a->v[k].x, q.y - a->v[k].y, q.z - a->v[k].z};
            near &= ~edges_part(dot(&c, &w), rise, b_rise[k], dot(&c, &c), a->uu[k] * ee, limit2);
        }
    }
    return near;
}

// ---- two leaves

static double sum_of(kk_vec3 v) {
    return __builtin_fabs(v.x) + __builtin_fabs(v.y) + __builtin_fabs(v.z);
}

unsigned kki_leaves_meet(const kki_leaf *a, const kki_leaf *b, const kki_leaf_frames *frames) {
    const kk_vec3 t = kk_vec3_sub(kk_transform_point(frames->X_AB, b->origin), a->origin);
    const float at[3] = {(float)t.x, (float)t.y, (float)t.z};
    const float limit = (float)(frames->limit + SLACK * (a->reach + b->reach + sum_of(t)));
    triangles p, q;
    take_leaf(a, &p);
    take_leaf_at(b, frames->R, at, &q);
    unsigned met = 0;
    for (int j = 0; j < KKI_LEAF; j++) {
        kki_mask4 near = near_boxes(&p, &q, j, limit);
        near = kki_mask4_bits(near) ? near & near_planes(&p, &q, j, limit) : near;
        near = kki_mask4_bits(near) ? near_edges(&p, &q, j, near, limit * limit) : near;
        met |= (unsigned)kki_mask4_bits(near) << 4 * j;
    }
    return met;
}
