// Depth of the origin inside A − B by an expanding polytope.
//
// The polytope is the hull of some points of A − B and holds the origin. Its face nearest to the origin bounds the depth
// from below; the support plane along any face's normal bounds it from above. The nearest face is pushed out to its
// support point until both bounds meet, which for polyhedra is after finitely many steps. Whatever rounding does to the
// polytope, the answer is the best support plane seen, hence always a true separating move.
//
// Faces in the plane of the new point count as visible: then no new face can be a sliver on the line of an old edge. But a
// disc's cap would be made anew for each point of its rim; of curved bodies only those count that would get a thin neighbor.
#include <stdbool.h>

#include "collision/gjk.h"
#include "geometry/lanes.h"

#define DEAD __builtin_inf()

// What is dead of it is used again, so that the whole stays within a small stack.
enum {
    MAX_POINTS = KKI_EPA_ITERATIONS + 4,
    MAX_HORIZON = 96,
    MAX_FACES = 2 * MAX_POINTS + MAX_HORIZON // as many as a polytope of so many corners has, and those in exchange
};
_Static_assert(MAX_FACES % 4 == 0, "faces are made and searched four at a time");

// Faces made, ten a step: of 60 000 random pairs none made more; where rounding goes round in circles it is the end.
enum { FACES_ENOUGH = 10 * KKI_EPA_ITERATIONS };

// sin² of the angle at a thin face's corner
static const double THIN = 1e-4;

// Of the depth of curved bodies. Faces shrink with the root of it, so less would leave them slivers.
static const double CURVED = 1e-10;

typedef struct epa_point {
    kk_vec3 w, a; // the point of A − B, that of A
    int32_t id[2];
} epa_point;

// Edge i of face f has the number 4 f + i and goes from corner 4 f + i to corner 4 f + i + 1: a face's fourth corner is its
// first again.
typedef struct epa_edge {
    int16_t corner;
    int16_t twin; // the same edge as the face beside has it, the other way round
} epa_edge;

typedef struct polytope {
    const kki_core_pair *pair;
    double flat;                                                         // lengths below are rounding
    int point_count, face_count, spare_count, seen_count, horizon_count; // faces: a multiple of four
    int made;                                                            // faces so far, dead ones too
    bool is_broken, is_sharp;
    epa_point point[MAX_POINTS];
    _Alignas(16) double offset[MAX_FACES]; // of a face from the origin; infinite where it is dead
    kk_vec3 normal[MAX_FACES];
    epa_edge edge[4 * MAX_FACES];
    int16_t spare[MAX_FACES];     // dead faces, then those seen from the newest point
    int16_t horizon[MAX_HORIZON]; // edges of faces that stay
} polytope;

static bool is_alive(const polytope *p, int f) {
    return p->offset[f] < DEAD;
}

// ---- faces

// Dead ones first, then the next; room for four at a time is made, so that all of them can be searched four at a time.
static int take_face(polytope *p) {
    if (p->spare_count == 0) {
        if (p->face_count == MAX_FACES) {
            return -1;
        }
        for (int i = 3; i >= 0; i--) {
            p->offset[p->face_count + i] = DEAD;
            p->spare[p->spare_count++] = (int16_t)(p->face_count + i);
        }
        p->face_count += 4;
    }
    return p->spare[--p->spare_count];
}

static int add_face(polytope *p, int a, int b, int c) {
    const kk_vec3 o = p->point[a].w, e = kk_vec3_sub(p->point[b].w, o), g = kk_vec3_sub(p->point[c].w, o);
    const kk_vec3 n = kk_vec3_cross(e, g);
    const double square = kk_vec3_dot(n, n);
    const int f = take_face(p);
    p->made++;
    if (f < 0 || !(square > 1e-26 * kk_vec3_dot(e, e) * kk_vec3_dot(g, g))) {
        p->is_broken = true;
        return 0;
    }
    const kk_vec3 unit = kk_vec3_scale(n, 1 / kk_sqrt(square));
    p->normal[f] = unit;
    p->offset[f] = kk_vec3_dot(unit, o);
    epa_edge *edge = &p->edge[4 * f];
    edge[0].corner = edge[3].corner = (int16_t)a, edge[1].corner = (int16_t)b, edge[2].corner = (int16_t)c;
    return f;
}

static void join(polytope *p, int edge, int twin) {
    p->edge[edge].twin = (int16_t)twin;
    p->edge[twin].twin = (int16_t)edge;
}

// ---- the first tetrahedron

static void put_point(polytope *p, const kki_difference *w) {
    epa_point *q = &p->point[p->point_count];
    q->w = w->w;
    q->a = w->a;
    q->id[0] = w->id[0], q->id[1] = w->id[1];
}

// behind the last point, where the caller may keep it
static int add_support(polytope *p, kk_vec3 d) {
    kki_difference w = {.id = {-1, -1}};
    kki_core_pair_support(p->pair, d, &w);
    put_point(p, &w);
    return p->point_count;
}

// Takes the candidate if it lies off the first point by more than rounding.
static int grow_from_point(polytope *p) {
    for (int k = 0; k < 6; k++) {
        const double s = k & 1 ? -1 : 1;
        const int i = add_support(p, kk_vec3_make(k / 2 == 0 ? s : 0, k / 2 == 1 ? s : 0, k / 2 == 2 ? s : 0));
        if (kk_vec3_norm(kk_vec3_sub(p->point[i].w, p->point[0].w)) > p->flat) {
            p->point_count++;
            return 1;
        }
    }
    return 0;
}

static kk_vec3 any_across(kk_vec3 e) {
    const double x = e.x < 0 ? -e.x : e.x, y = e.y < 0 ? -e.y : e.y, z = e.z < 0 ? -e.z : e.z;
    const kk_vec3 axis = x <= y && x <= z ? kk_vec3_make(1, 0, 0)
                         : y <= z         ? kk_vec3_make(0, 1, 0)
                                          : kk_vec3_make(0, 0, 1);
    const kk_vec3 u = kk_vec3_cross(e, axis);
    const double norm = kk_vec3_norm(u);
    return norm > 0 ? kk_vec3_scale(u, 1 / norm) : kk_vec3_make(1, 0, 0);
}

static int grow_from_edge(polytope *p) {
    const kk_vec3 e = kk_vec3_sub(p->point[1].w, p->point[0].w), axis = kk_vec3_scale(e, 1 / kk_vec3_norm(e));
    const kk_vec3 u = any_across(axis), v = kk_vec3_cross(axis, u);
    const double c = 0.5, s = 0.86602540378443864676;
    for (int k = 0; k < 6; k++) { // six directions around the edge
        const double ck = k % 3 == 0 ? 1 : (k % 3 == 1 ? c : -c), sk = k % 3 == 0 ? 0 : s, sign = k < 3 ? 1 : -1;
        const kk_vec3 d = kk_vec3_add(kk_vec3_scale(u, sign * ck), kk_vec3_scale(v, sign * sk));
        const int i = add_support(p, d);
        const kk_vec3 off = kk_vec3_sub(p->point[i].w, p->point[0].w);
        if (kk_vec3_norm(kk_vec3_cross(axis, off)) > p->flat) {
            p->point_count++;
            return 1;
        }
    }
    return 0;
}

static kk_vec3 triangle_normal(const polytope *p) {
    const kk_vec3 o = p->point[0].w;
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(p->point[1].w, o), kk_vec3_sub(p->point[2].w, o));
    const double norm = kk_vec3_norm(n);
    return norm > 0 ? kk_vec3_scale(n, 1 / norm) : kk_vec3_make(0, 0, 1);
}

static int grow_from_triangle(polytope *p) {
    const kk_vec3 n = triangle_normal(p);
    for (int k = 0; k < 2; k++) {
        const int i = add_support(p, k ? kk_vec3_neg(n) : n);
        const double h = kk_vec3_dot(n, kk_vec3_sub(p->point[i].w, p->point[0].w));
        if (h > p->flat || -h > p->flat) {
            p->point_count++;
            return 1;
        }
    }
    return 0;
}

static void make_tetrahedron(polytope *p) {
    const kk_vec3 n = triangle_normal(p);
    int a = 0, b = 1;
    if (kk_vec3_dot(n, kk_vec3_sub(p->point[3].w, p->point[0].w)) > 0) { // the fourth point below (a, b, 2)
        a = 1, b = 0;
    }
    const int f0 = add_face(p, a, b, 2), f1 = add_face(p, b, a, 3), f2 = add_face(p, 2, b, 3),
              f3 = add_face(p, a, 2, 3);
    if (!p->is_broken) {
        join(p, 4 * f0, 4 * f1);
        join(p, 4 * f0 + 1, 4 * f2);
        join(p, 4 * f0 + 2, 4 * f3);
        join(p, 4 * f1 + 1, 4 * f3 + 2);
        join(p, 4 * f1 + 2, 4 * f2 + 1);
        join(p, 4 * f2 + 2, 4 * f3 + 1);
    }
}

// ---- growing

static void bury(polytope *p, int f) {
    p->offset[f] = DEAD;
    p->spare[MAX_FACES - 1 - p->seen_count++] = (int16_t)f;
}

// the face from an edge to w
static bool would_be_thin(const polytope *p, const epa_edge *edge, kk_vec3 w) {
    const kk_vec3 o = p->point[edge[0].corner].w, e = kk_vec3_sub(p->point[edge[1].corner].w, o);
    const kk_vec3 g = kk_vec3_sub(w, o), n = kk_vec3_cross(e, g);
    return !(kk_vec3_dot(n, n) > THIN * kk_vec3_dot(e, e) * kk_vec3_dot(g, g));
}

static bool is_seen(const polytope *p, int f, const epa_edge *entry, kk_vec3 w) {
    const double height = kk_vec3_dot(p->normal[f], w) - p->offset[f];
    return height > -p->flat && (p->is_sharp || height > p->flat || would_be_thin(p, entry, w));
}

// the edge after this one around its face
static int next_edge(int edge) {
    return edge + ((edge & 3) == 2 ? -2 : 1);
}

// Marks all faces seen from w, depth first with a stack of edges to be gone over, and lists the horizon in order. What is
// seen is kept until the exchange is done.
static void see(polytope *p, int first, kk_vec3 w) {
    int16_t stack[MAX_HORIZON + 2];
    int left = 3;
    stack[0] = (int16_t)(4 * first + 2), stack[1] = (int16_t)(4 * first + 1), stack[2] = (int16_t)(4 * first);
    p->horizon_count = p->seen_count = 0;
    bury(p, first);
    while (left > 0) {
        const epa_edge *edge = &p->edge[stack[--left]];
        const int twin = edge->twin, f = twin / 4;
        if (!is_alive(p, f)) {
            continue;
        }
        if (left >= MAX_HORIZON || p->horizon_count >= MAX_HORIZON) {
            p->is_broken = true;
            return;
        }
        if (is_seen(p, f, edge, w)) {
            const int next = next_edge(twin);
            bury(p, f);
            stack[left++] = (int16_t)next_edge(next);
            stack[left++] = (int16_t)next;
        } else {
            p->horizon[p->horizon_count++] = (int16_t)twin;
        }
    }
}

// New faces between the horizon and the new point.
static void close_horizon(polytope *p, int w) {
    const int n = p->horizon_count;
    int first = -1, last = -1;
    p->is_broken = p->is_broken || n < 3;
    for (int i = 0; i < n && !p->is_broken; i++) {
        const int behind = p->horizon[i], after = p->horizon[i + 1 < n ? i + 1 : 0];
        const int from = p->edge[behind + 1].corner, to = p->edge[behind].corner;
        if (to != p->edge[after + 1].corner) { // two loops: rounding has folded the polytope
            p->is_broken = true;
            return;
        }
        const int f = add_face(p, from, to, w);
        if (!p->is_broken) {
            join(p, 4 * f, behind);
            if (last >= 0) {
                join(p, 4 * last + 1, 4 * f + 2);
            }
            first = first < 0 ? f : first;
            last = f;
        }
    }
    if (!p->is_broken) {
        join(p, 4 * last + 1, 4 * first + 2);
        for (int i = 0; i < p->seen_count; i++) {
            p->spare[p->spare_count++] = p->spare[MAX_FACES - 1 - i];
        }
    }
}

// ---- the answer

// Barycentric coordinates of the origin's projection on a face; the smallest says how far inside it is.
static double project(const polytope *p, int f, double weight[3]) {
    const epa_edge *edge = &p->edge[4 * f];
    const kk_vec3 a = p->point[edge[0].corner].w;
    const kk_vec3 e = kk_vec3_sub(p->point[edge[1].corner].w, a), g = kk_vec3_sub(p->point[edge[2].corner].w, a);
    const kk_vec3 n = kk_vec3_cross(e, g);
    const double nn = kk_vec3_dot(n, n);
    weight[1] = kk_vec3_dot(kk_vec3_cross(g, a), n) / nn;
    weight[2] = kk_vec3_dot(kk_vec3_cross(a, e), n) / nn;
    weight[0] = 1 - (weight[1] + weight[2]);
    const double least = weight[0] < weight[1] ? weight[0] : weight[1];
    return least < weight[2] ? least : weight[2];
}

static void write_witness(const polytope *p, int f, const double weight[3], kki_core_distance *result) {
    double w[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        w[i] = weight[i] > 0 ? weight[i] : 0;
        sum += w[i];
    }
    kk_vec3 on_a = {0, 0, 0}, off = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        const epa_point *q = &p->point[p->edge[4 * f + i].corner];
        on_a = kk_vec3_add(on_a, kk_vec3_scale(q->a, w[i] / sum));
        off = kk_vec3_add(off, kk_vec3_scale(q->w, w[i] / sum));
    }
    result->on_a = on_a;
    result->on_b = kk_vec3_sub(on_a, off);
}

// Bodies with several ways out of one length have faces in other planes, too.
static bool looks_along(const polytope *p, int f, kk_vec3 n) {
    return kk_vec3_dot(p->normal[f], n) > 0.999;
}

// Several triangles may lie in the plane of the way out, of that offset; one of them holds the origin's projection.
static void find_witness(const polytope *p, int nearest, double offset, kki_core_distance *result) {
    double weight[3], best_weight[3];
    int best = nearest;
    double inside = project(p, nearest, best_weight);
    inside = looks_along(p, nearest, result->normal) ? inside : -DEAD;
    for (int i = 0; i < p->face_count && inside < 0; i++) {
        if (i != nearest && p->offset[i] <= offset && looks_along(p, i, result->normal)) {
            const double value = project(p, i, weight);
            if (value > inside) {
                inside = value;
                best = i;
                best_weight[0] = weight[0], best_weight[1] = weight[1], best_weight[2] = weight[2];
            }
        }
    }
    write_witness(p, best, best_weight, result);
}

// A − B is flat or less: nothing is inside it, and the way out is across it.
static void write_flat(const polytope *p, const kki_simplex *s, kki_core_distance *result) {
    kk_vec3 n = {0, 0, 1};
    if (p->point_count == 2) {
        n = any_across(kk_vec3_sub(p->point[1].w, p->point[0].w));
    } else if (p->point_count >= 3) {
        n = triangle_normal(p);
    }
    const kk_vec3 center = p->pair->X_AB.p;
    result->normal = kk_vec3_dot(n, center) < 0 ? kk_vec3_neg(n) : n;
    result->distance = kki_core_separation(p->pair, result->normal);
    result->on_a = result->on_b = kk_vec3_make(0, 0, 0);
    for (int i = 0; i < s->count; i++) {
        result->on_a = kk_vec3_add(result->on_a, kk_vec3_scale(s->point[i].a, s->weight[i]));
        result->on_b = kk_vec3_add(result->on_b, kk_vec3_scale(s->point[i].b, s->weight[i]));
    }
}

static bool begin(polytope *p, const kki_simplex *s) {
    for (int i = 0; i < s->count; i++) {
        put_point(p, &s->point[i]);
        p->point_count++;
    }
    if (p->point_count == 1 && !grow_from_point(p)) {
        return 0;
    }
    if (p->point_count == 2 && !grow_from_edge(p)) {
        return 0;
    }
    if (p->point_count == 3 && !grow_from_triangle(p)) {
        return 0;
    }
    make_tetrahedron(p);
    return !p->is_broken;
}

// The first of the least offset. Four minima side by side, for each waits for the one before it; faces are made up to a
// multiple of four, so that it never reads what was not written.
static int nearest_face(const polytope *p) {
    const kki_lanes *offset = (const kki_lanes *)(const void *)p->offset;
    kki_lanes least = offset[0], least1 = offset[1];
    for (int i = 2; i < p->face_count / 2; i += 2) {
        least = kki_lanes_lesser(offset[i], least);
        least1 = kki_lanes_lesser(offset[i + 1], least1);
    }
    least = kki_lanes_bottom(kki_lanes_lesser(least, least1));
    int best = 0;
    while (p->offset[best] > least[0]) { // ends, for one of them is it
        best++;
    }
    return best;
}

// The support plane along a face's normal; the new point is left behind the last.
static double plane_of(polytope *p, int f) {
    const epa_point *near = &p->point[p->edge[4 * f].corner];
    kki_difference w;
    w.id[0] = near->id[0], w.id[1] = near->id[1];
    kki_core_pair_support(p->pair, p->normal[f], &w);
    put_point(p, &w);
    return kk_vec3_dot(w.w, p->normal[f]);
}

// Whether the depth was proved.
static bool expand(polytope *p, kki_core_distance *result) {
    const kki_core_pair *pair = p->pair;
    const double relative = p->is_sharp ? 1e-12 : CURVED, level = 1e-9 * pair->size;
    double depth = -1, tolerance = p->flat;
    for (int i = 0; i < KKI_EPA_ITERATIONS; i++) {
        const int nearest = nearest_face(p);
        const double offset = p->offset[nearest];
        const bool is_last = i == KKI_EPA_ITERATIONS - 1 || p->made > FACES_ENOUGH;
        if (depth >= 0 && (offset >= depth - tolerance || is_last)) {
            find_witness(p, nearest, offset + level, result); // no face could be nearer than the best plane
            return !is_last;
        }
        const double plane = plane_of(p, nearest);
        result->iterations++;
        if (depth < 0 || plane < depth) {
            depth = plane > 0 ? plane : 0;
            tolerance = relative * depth + p->flat;
            result->normal = p->normal[nearest];
            result->distance = -plane;
        }
        if (plane - offset <= tolerance) {
            find_witness(p, nearest, offset + level, result);
            return true;
        }
        see(p, nearest, p->point[p->point_count++].w);
        close_horizon(p, p->point_count - 1);
        if (p->is_broken) { // the best plane so far; the face that was nearest is still there to read
            find_witness(p, nearest, -1, result);
            return false;
        }
    }
    return false;
}

int kki_epa(const kki_core_pair *pair, const kki_simplex *s, kki_core_distance *result) {
    polytope p;
    p.pair = pair;
    p.flat = 1e-14 * pair->size;
    p.point_count = p.face_count = p.spare_count = p.seen_count = p.horizon_count = p.made = 0;
    p.is_broken = false;
    p.is_sharp = kki_core_is_polyhedral(&pair->a) && kki_core_is_polyhedral(&pair->b);
    if (!begin(&p, s)) {
        write_flat(&p, s, result);
        return 0;
    }
    return expand(&p, result);
}
