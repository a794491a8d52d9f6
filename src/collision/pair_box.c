// Two boxes: the fifteen separating axes (Gottschalk, Lin, Manocha 1996), then the common part of two faces.
//
// Of overlapping boxes the best of the fifteen is the signed distance. Apart, it is where the bodies really meet along
// it; else they meet corner to corner or corner to edge, and the general search takes over. A face is preferred to a pair
// of edges, and the last face to a new one, by a hair (see pair_convex.c).
#include <stdbool.h>

#include "collision/pairs.h"
#include "collision/patch.h"
#include "collision/segment.h"

static const double KEEP = 2e-4, TAKE = 1e-5, SURE = 1e-9;

typedef struct boxes {
    const double *a, *b; // halves
    kk_mat3 R, Q;        // R_AB and its absolute values
    double t[3], s[3];   // B's middle from A's, in A and in B
} boxes;

typedef struct axis {
    double distance;
    int id; // 0-2 faces of A, 3-5 faces of B, 6 + 3 i + j edges
    double sign;
} axis;

static double absolute(double x) {
    return x < 0 ? -x : x;
}

static void boxes_fill(const kki_core *a, const kki_core *b, const kk_transform *X_AB, boxes *p) {
    const kk_vec3 s = kk_mat3_tmul_vec(X_AB->R, X_AB->p);
    p->a = a->half, p->b = b->half;
    p->R = X_AB->R;
    for (int i = 0; i < 9; i++) {
        p->Q.m[i] = absolute(X_AB->R.m[i]);
    }
    p->t[0] = X_AB->p.x, p->t[1] = X_AB->p.y, p->t[2] = X_AB->p.z;
    p->s[0] = s.x, p->s[1] = s.y, p->s[2] = s.z;
}

static double face_of_a(const boxes *p, int i) {
    const double *q = &p->Q.m[3 * i];
    return absolute(p->t[i]) - (p->a[i] + (p->b[0] * q[0] + p->b[1] * q[1] + p->b[2] * q[2]));
}

static double face_of_b(const boxes *p, int j) {
    return absolute(p->s[j]) - (p->b[j] + (p->a[0] * p->Q.m[j] + p->a[1] * p->Q.m[3 + j] + p->a[2] * p->Q.m[6 + j]));
}

// The best of the six faces; the last one keeps its part unless another is clearly better.
static axis best_face(const boxes *p, uint32_t reference, double keep) {
    axis best = {face_of_a(p, 0), 0, 0};
    double value[6] = {best.distance};
    for (int k = 1; k < 6; k++) {
        value[k] = k < 3 ? face_of_a(p, k) : face_of_b(p, k - 3);
        if (value[k] > best.distance) {
            best.distance = value[k];
            best.id = k;
        }
    }
    if (reference) {
        const int last = (int)((reference & 0x7fffffff) - 1) / 2 + (reference >> 31 ? 3 : 0);
        if (last < 6 && value[last] >= best.distance - keep) {
            best.distance = value[last];
            best.id = last;
        }
    }
    best.sign = (best.id < 3 ? p->t[best.id] : p->s[best.id - 3]) < 0 ? -1 : 1;
    return best;
}

// Edges i of A and j of B: the axis A_i × B_j, of length √(1 − R_ij²); almost parallel edges have none of their own.
static void try_edges(const boxes *p, int i, int j, double favor, axis *best) {
    static const int8_t NEXT[4] = {1, 2, 0, 1};
    const int i1 = NEXT[i], i2 = NEXT[i + 1], j1 = NEXT[j], j2 = NEXT[j + 1];
    const double *R = p->R.m, *Q = p->Q.m;
    const double square = R[3 * i1 + j] * R[3 * i1 + j] + R[3 * i2 + j] * R[3 * i2 + j];
    if (square < 1e-8) {
        return;
    }
    const double t = p->t[i2] * R[3 * i1 + j] - p->t[i1] * R[3 * i2 + j];
    const double ra = p->a[i1] * Q[3 * i2 + j] + p->a[i2] * Q[3 * i1 + j];
    const double rb = p->b[j1] * Q[3 * i + j2] + p->b[j2] * Q[3 * i + j1];
    const double over = absolute(t) - (ra + rb), least = best->distance + favor;
    // compare before the root: over / √square > least
    if (over >= 0 ? least >= 0 && over * over <= least * least * square
                  : least >= 0 || over * over >= least * least * square) {
        return;
    }
    *best = (axis){over / kk_sqrt(square), 6 + 3 * i + j, t < 0 ? -1 : 1};
}

// Where an axis of A lies along one of B, up to an angle ε, all products of edges lie along faces' normals, up to ε. What
// they separate differs by at most ε times what the boxes measure: no product can be better than a face by a hair.
static bool edges_are_faces(const boxes *p, double size, double hair) {
    const double *R = p->R.m;
    double least = 1; // squared sine
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double u = R[3 * i + (j + 1) % 3], v = R[3 * i + (j + 2) % 3], square = u * u + v * v;
            least = square < least ? square : least;
        }
    }
    return least * (size * size) <= hair * hair;
}

static kk_vec3 axis_direction(const boxes *p, const axis *x) {
    if (x->id < 3) {
        return kk_vec3_make(x->id == 0 ? x->sign : 0, x->id == 1 ? x->sign : 0, x->id == 2 ? x->sign : 0);
    }
    if (x->id < 6) {
        return kk_vec3_scale(kk_mat3_column(p->R, x->id - 3), x->sign);
    }
    const int i = (x->id - 6) / 3, j = (x->id - 6) % 3;
    const kk_vec3 e = {i == 0, i == 1, i == 2};
    const kk_vec3 n = kk_vec3_cross(e, kk_mat3_column(p->R, j));
    return kk_vec3_scale(n, x->sign / kk_vec3_norm(n));
}

// The two edges that meet along n; their closest points.
static bool edges_meet(const kki_core_pair *pair, const axis *x, kki_meeting *m) {
    const int i = (x->id - 6) / 3, j = (x->id - 6) % 3;
    int id = -1;
    kk_vec3 a = kki_core_support(&pair->a, m->normal, &id);
    kk_vec3 b = kki_core_support(&pair->b, kk_vec3_neg(kk_mat3_tmul_vec(pair->X_AB.R, m->normal)), &id);
    *(i == 0 ? &a.x : (i == 1 ? &a.y : &a.z)) = 0;
    *(j == 0 ? &b.x : (j == 1 ? &b.y : &b.z)) = 0;
    const kk_vec3 ha = {i == 0 ? pair->a.half[0] : 0, i == 1 ? pair->a.half[1] : 0, i == 2 ? pair->a.half[2] : 0};
    const kk_vec3 hb = kk_vec3_scale(kk_mat3_column(pair->X_AB.R, j), pair->b.half[j]);
    double s1, s2;
    b = kk_transform_point(pair->X_AB, b);
    kki_segments_closest(a, ha, b, hb, &s1, &s2);
    m->on_a = kk_vec3_add(a, kk_vec3_scale(ha, s1));
    const kk_vec3 off = kk_vec3_sub(kk_vec3_add(b, kk_vec3_scale(hb, s2)), m->on_a);
    const double d = absolute(m->distance), square = kk_vec3_dot(off, off);
    return square <= (d + SURE * m->radius) * (d + SURE * m->radius);
}

static void corner_meets(const kki_core_pair *pair, bool is_b, kki_meeting *m) {
    int id = -1;
    if (is_b) {
        m->on_a = kki_core_support(&pair->a, m->normal, &id);
        return;
    }
    const kk_vec3 d = kk_vec3_neg(kk_mat3_tmul_vec(pair->X_AB.R, m->normal));
    const kk_vec3 b = kk_transform_point(pair->X_AB, kki_core_support(&pair->b, d, &id));
    m->on_a = kk_vec3_sub(b, kk_vec3_scale(m->normal, m->distance));
}

// Whether a point was cut out of the faces that is as near as the axis says.
static bool reaches(const kki_manifold *manifold, double gap) {
    for (int i = 0; i < manifold->count; i++) {
        if (manifold->point[i].feature != ~(uint64_t)0 && manifold->point[i].gap <= gap) {
            return true;
        }
    }
    return false;
}

int kki_collide_box_box(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                        double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    kki_core_pair pair;
    kki_core_pair_of(a, X_WA, b, X_WB, &pair);
    const double ea = kki_core_outer(&pair.a), eb = kki_core_outer(&pair.b), radii = pair.a.radius + pair.b.radius;
    kki_meeting m = {.pair = &pair, .reach = reach, .radius = ea < eb ? ea : eb};
    boxes p;
    boxes_fill(&pair.a, &pair.b, &pair.X_AB, &p);
    axis best = best_face(&p, memory->reference, KEEP * m.radius);
    const bool has_edges = !edges_are_faces(&p, 4 * (ea + eb + reach), TAKE * m.radius);
    for (int i = 0; i < 3 && has_edges && best.distance <= reach + radii; i++) {
        for (int j = 0; j < 3; j++) {
            try_edges(&p, i, j, best.id < 6 ? TAKE * m.radius : 0, &best);
        }
    }
    if (best.distance > reach + radii) {
        return 0;
    }
    m.normal = axis_direction(&p, &best);
    m.distance = best.distance;
    bool is_sure = true;
    if (best.id < 6) {
        corner_meets(&pair, best.id >= 3, &m);
    } else {
        is_sure = edges_meet(&pair, &best, &m) || best.distance <= 0;
    }
    if (is_sure) {
        kki_patches_meet(&m, X_WA, memory, manifold);
        is_sure = best.distance <= 0 || best.id >= 6 || reaches(manifold, best.distance - radii + SURE * m.radius);
    }
    if (!is_sure) {
        return kki_collide_convex(a, X_WA, b, X_WB, reach, memory, manifold, room);
    }
    return manifold->count > 0;
}
