// Depth of the origin inside A − B by an expanding polytope.
//
// The polytope is the hull of some points of A − B and holds the origin. Its face nearest to the origin bounds the depth
// from below; the support plane along any face's normal bounds it from above. The nearest face is pushed out to its
// support point until both bounds meet, which for polyhedra is after finitely many steps. Whatever rounding does to the
// polytope, the answer is the best support plane seen, hence always a true separating move.
//
// Faces in the plane of the new point count as visible: then no new face can be a sliver on the line of an old edge.
#include "collision/gjk.h"

enum { MAX_POINTS = KKI_EPA_ITERATIONS + 4, MAX_FACES = 4 * KKI_EPA_ITERATIONS + 16, MAX_HORIZON = 256 };

// Of the depth of curved bodies. Faces shrink with the root of it, so less would leave them slivers.
static const double CURVED = 1e-10;

typedef struct epa_face {
    kk_vec3 normal;
    double offset;
    int16_t vertex[3];
    int16_t beside[3]; // over the edge from vertex[i] to vertex[i + 1]
    int8_t is_alive;
} epa_face;

typedef struct horizon_edge {
    int16_t from, to; // as the visible face has it
    int16_t face;     // the face behind, that stays
    int16_t slot;     // which of its edges
} horizon_edge;

typedef struct polytope {
    const kki_core_pair *pair;
    double flat; // lengths below are rounding
    int point_count, face_count, horizon_count, heap_count, is_broken;
    kki_difference point[MAX_POINTS];
    epa_face face[MAX_FACES];
    horizon_edge horizon[MAX_HORIZON];
    int16_t heap[MAX_FACES];
} polytope;

// ---- a heap of faces by offset, ids as tie-break; dead ones are thrown away when they come up

static int is_nearer(const polytope *p, int f, int g) {
    return p->face[f].offset < p->face[g].offset || (p->face[f].offset == p->face[g].offset && f < g);
}

static void heap_push(polytope *p, int f) {
    int at = p->heap_count++;
    while (at > 0 && is_nearer(p, f, p->heap[(at - 1) / 2])) {
        p->heap[at] = p->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    p->heap[at] = (int16_t)f;
}

static void heap_pop(polytope *p) {
    const int f = p->heap[--p->heap_count];
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= p->heap_count) {
            break;
        }
        child += child + 1 < p->heap_count && is_nearer(p, p->heap[child + 1], p->heap[child]);
        if (!is_nearer(p, p->heap[child], f)) {
            break;
        }
        p->heap[at] = p->heap[child];
        at = child;
    }
    p->heap[at] = (int16_t)f;
}

// ---- faces

static int add_face(polytope *p, int a, int b, int c) {
    if (p->face_count >= MAX_FACES) {
        p->is_broken = 1;
        return 0;
    }
    epa_face *f = &p->face[p->face_count];
    const kk_vec3 o = p->point[a].w, e = kk_vec3_sub(p->point[b].w, o), g = kk_vec3_sub(p->point[c].w, o);
    const kk_vec3 n = kk_vec3_cross(e, g);
    const double square = kk_vec3_dot(n, n);
    if (!(square > 1e-26 * kk_vec3_dot(e, e) * kk_vec3_dot(g, g))) {
        p->is_broken = 1;
        return 0;
    }
    const double norm = kk_sqrt(square);
    f->normal = kk_vec3_scale(n, 1 / norm);
    f->offset = kk_vec3_dot(f->normal, o);
    f->vertex[0] = (int16_t)a, f->vertex[1] = (int16_t)b, f->vertex[2] = (int16_t)c;
    f->is_alive = 1;
    heap_push(p, p->face_count);
    return p->face_count++;
}

static void join(polytope *p, int f, int i, int g, int j) {
    p->face[f].beside[i] = (int16_t)g;
    p->face[g].beside[j] = (int16_t)f;
}

// ---- the first tetrahedron

static int add_support(polytope *p, kk_vec3 d) {
    kki_difference *w = &p->point[p->point_count];
    w->id[0] = w->id[1] = -1;
    kki_core_pair_support(p->pair, d, w);
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
        join(p, f0, 0, f1, 0);
        join(p, f0, 1, f2, 0);
        join(p, f0, 2, f3, 0);
        join(p, f1, 1, f3, 2);
        join(p, f1, 2, f2, 1);
        join(p, f2, 2, f3, 1);
    }
}

// ---- growing

// Marks all faces seen from w, depth first with a stack, and lists the horizon in order.
static void see(polytope *p, int first, kk_vec3 w) {
    struct {
        int16_t face, entry;
        int8_t step;
    } stack[MAX_HORIZON];
    int depth = 0;
    stack[0].face = (int16_t)first, stack[0].entry = 0, stack[0].step = 0;
    p->face[first].is_alive = 0;
    p->horizon_count = 0;
    while (depth >= 0) {
        const int steps = depth == 0 ? 3 : 2; // the edge it was entered by is done
        if (stack[depth].step == steps) {
            depth--;
            continue;
        }
        const int i = (stack[depth].entry + stack[depth].step++ + (depth > 0)) % 3;
        const epa_face *f = &p->face[stack[depth].face];
        const int g = f->beside[i];
        epa_face *other = &p->face[g];
        if (!other->is_alive) {
            continue;
        }
        int slot = 0;
        while (slot < 2 && other->beside[slot] != stack[depth].face) {
            slot++;
        }
        if (kk_vec3_dot(other->normal, w) - other->offset > -p->flat) {
            if (depth + 1 >= MAX_HORIZON) {
                p->is_broken = 1;
                return;
            }
            other->is_alive = 0;
            depth++;
            stack[depth].face = (int16_t)g, stack[depth].entry = (int16_t)slot, stack[depth].step = 0;
        } else {
            if (p->horizon_count >= MAX_HORIZON) {
                p->is_broken = 1;
                return;
            }
            p->horizon[p->horizon_count++] =
                (horizon_edge){f->vertex[i], f->vertex[(i + 1) % 3], (int16_t)g, (int16_t)slot};
        }
    }
}

// New faces between the horizon and the new point.
static void close_horizon(polytope *p, int w) {
    const int n = p->horizon_count;
    if (n < 3) {
        p->is_broken = 1;
        return;
    }
    const int first = p->face_count;
    for (int i = 0; i < n; i++) {
        const horizon_edge *e = &p->horizon[i];
        if (e->to != p->horizon[(i + 1) % n].from) { // two loops: rounding has folded the polytope
            p->is_broken = 1;
            return;
        }
        const int f = add_face(p, e->from, e->to, w);
        if (p->is_broken) {
            return;
        }
        join(p, f, 0, e->face, e->slot);
    }
    for (int i = 0; i < n; i++) {
        join(p, first + i, 1, first + (i + 1) % n, 2);
    }
}

// ---- the answer

// Barycentric coordinates of the origin's projection on a face; the smallest says how far inside it is.
static double project(const polytope *p, const epa_face *f, double weight[3]) {
    const kk_vec3 a = p->point[f->vertex[0]].w;
    const kk_vec3 e = kk_vec3_sub(p->point[f->vertex[1]].w, a), g = kk_vec3_sub(p->point[f->vertex[2]].w, a);
    const kk_vec3 n = kk_vec3_cross(e, g);
    const double nn = kk_vec3_dot(n, n);
    weight[1] = kk_vec3_dot(kk_vec3_cross(g, a), n) / nn;
    weight[2] = kk_vec3_dot(kk_vec3_cross(a, e), n) / nn;
    weight[0] = 1 - (weight[1] + weight[2]);
    const double least = weight[0] < weight[1] ? weight[0] : weight[1];
    return least < weight[2] ? least : weight[2];
}

static void write_witness(const polytope *p, const epa_face *f, const double weight[3], kki_core_distance *result) {
    double w[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        w[i] = weight[i] > 0 ? weight[i] : 0;
        sum += w[i];
    }
    result->on_a = result->on_b = kk_vec3_make(0, 0, 0);
    for (int i = 0; i < 3; i++) {
        const kki_difference *q = &p->point[f->vertex[i]];
        result->on_a = kk_vec3_add(result->on_a, kk_vec3_scale(q->a, w[i] / sum));
        result->on_b = kk_vec3_add(result->on_b, kk_vec3_scale(q->b, w[i] / sum));
    }
}

// Several triangles may lie in the nearest plane; one of them holds the origin's projection.
static void find_witness(const polytope *p, int nearest, double tolerance, kki_core_distance *result) {
    double weight[3], best_weight[3];
    int best = nearest;
    double inside = project(p, &p->face[nearest], best_weight);
    for (int i = 0; i < p->face_count && inside < 0; i++) {
        const epa_face *f = &p->face[i];
        if (f->is_alive && i != nearest && f->offset <= p->face[nearest].offset + tolerance) {
            const double value = project(p, f, weight);
            if (value > inside) {
                inside = value;
                best = i;
                best_weight[0] = weight[0], best_weight[1] = weight[1], best_weight[2] = weight[2];
            }
        }
    }
    write_witness(p, &p->face[best], best_weight, result);
}

// A − B is flat or less: nothing is inside it, and the way out is across it.
static void write_flat(const polytope *p, const kki_simplex *s, kki_core_distance *result) {
    kk_vec3 n = {0, 0, 1};
    if (p->point_count == 2) {
        n = any_across(kk_vec3_sub(p->point[1].w, p->point[0].w));
    } else if (p->point_count >= 3) {
        n = triangle_normal(p);
    }
    const kk_vec3 centre = p->pair->X_AB.p;
    result->normal = kk_vec3_dot(n, centre) < 0 ? kk_vec3_neg(n) : n;
    result->distance = kki_core_separation(p->pair, result->normal);
    result->on_a = result->on_b = kk_vec3_make(0, 0, 0);
    for (int i = 0; i < s->count; i++) {
        result->on_a = kk_vec3_add(result->on_a, kk_vec3_scale(s->point[i].a, s->weight[i]));
        result->on_b = kk_vec3_add(result->on_b, kk_vec3_scale(s->point[i].b, s->weight[i]));
    }
}

static int begin(polytope *p, const kki_simplex *s) {
    for (int i = 0; i < s->count; i++) {
        p->point[p->point_count++] = s->point[i];
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

static int nearest_face(polytope *p) {
    while (p->heap_count > 0 && !p->face[p->heap[0]].is_alive) {
        heap_pop(p);
    }
    return p->heap_count > 0 ? p->heap[0] : -1;
}

// The support plane along a face's normal; the new point is left behind the last.
static double plane_of(polytope *p, const epa_face *f) {
    kki_difference *w = &p->point[p->point_count];
    w->id[0] = p->point[f->vertex[0]].id[0], w->id[1] = p->point[f->vertex[0]].id[1];
    kki_core_pair_support(p->pair, f->normal, w);
    return kk_vec3_dot(w->w, f->normal);
}

int kki_epa(const kki_core_pair *pair, const kki_simplex *s, kki_core_distance *result) {
    polytope p;
    p.pair = pair;
    p.flat = 1e-14 * pair->size;
    p.point_count = p.face_count = p.heap_count = p.horizon_count = p.is_broken = 0;
    if (!begin(&p, s)) {
        write_flat(&p, s, result);
        return 0;
    }
    const int is_sharp = kki_core_is_polyhedral(&pair->a) && kki_core_is_polyhedral(&pair->b);
    const double relative = is_sharp ? 1e-12 : CURVED;
    double depth = -1, tolerance = p.flat;
    for (int i = 0; i < KKI_EPA_ITERATIONS; i++) {
        const int nearest = nearest_face(&p);
        if (nearest < 0) {
            return 0;
        }
        if (depth >= 0 && (p.face[nearest].offset >= depth - tolerance || i == KKI_EPA_ITERATIONS - 1)) {
            find_witness(&p, nearest, 1e-9 * pair->size, result); // no face could be nearer than the best plane
            return i < KKI_EPA_ITERATIONS - 1;
        }
        const double plane = plane_of(&p, &p.face[nearest]);
        result->iterations++;
        if (depth < 0 || plane < depth) {
            depth = plane > 0 ? plane : 0;
            tolerance = relative * depth + p.flat;
            result->normal = p.face[nearest].normal;
            result->distance = -plane;
        }
        if (plane - p.face[nearest].offset <= tolerance) {
            find_witness(&p, nearest, 1e-9 * pair->size, result);
            return 1;
        }
        const int count = p.face_count;
        see(&p, nearest, p.point[p.point_count++].w);
        if (!p.is_broken) {
            close_horizon(&p, p.point_count - 1);
        }
        if (p.is_broken) { // the best plane so far; of the last whole polytope the nearest face is still there to read
            p.face_count = count;
            find_witness(&p, nearest, 0, result);
            return 0;
        }
    }
    return 0;
}
