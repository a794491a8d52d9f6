// What two patches have in common: the polygon of one cut by the edges of the other, seen along the normal.
//
// Everything is done in coordinates (x, y) across the normal and z along it. The gap at a place is the height of B's
// patch minus that of A's, a linear function on each patch, so its extremes over the common part are at its corners.
//
// Three rules keep the points where they are from step to step. A corner within `slack` of a cutting edge stays a corner,
// where a crossing would wander along the edge. Points closer together than 2 % of the smaller body become one. Of more
// than four, four are kept that span the patch, the deepest among them.
#include <stdbool.h>

#include "collision/patch.h"

enum { MOST = 2 * KKI_PATCH_POINTS, KEPT = 4 };

static const double SLACK = 2e-3, MERGE = 0.02, STEEP = 0.3, PARALLEL = 0.02, MISSED = 1e-3;

// Edges are numbered by the corners they leave, those of the cutting polygon with a bit more.
enum { CUTTING = 0x8000 };

typedef struct spot {
    double x, y, z;
    uint32_t id;   // corner: its number; crossing: both edges
    uint32_t edge; // that leaves it
} spot;

typedef struct outline {
    int count;
    spot spot[MOST];
    kk_vec3 normal; // of polygons: to a factor, in the frame
    double facing;  // |cosine| between its normal and the contact's
    int32_t face;
} outline;

typedef struct frame {
    kk_vec3 u, v, n;
} frame;

// Two directions across n, the same for neighboring n but at a few seams.
static void frame_about(kk_vec3 n, frame *f) {
    const double x = n.x < 0 ? -n.x : n.x;
    const kk_vec3 t = x < 0.8 ? kk_vec3_make(1, 0, 0) : kk_vec3_make(0, 1, 0);
    const kk_vec3 v = kk_vec3_cross(n, t);
    const kk_vec3 unit = kk_vec3_scale(v, 1 / kk_vec3_norm(v));
    f->u = kk_vec3_cross(unit, n);
    f->v = unit;
    f->n = n;
}

// The frame's axes seen from a core's frame, and that one's origin in the frame.
typedef struct view {
    kk_vec3 u, v, n, origin;
} view;

static view view_of_a(const frame *f) {
    return (view){f->u, f->v, f->n, {0, 0, 0}};
}

static view view_of_b(const frame *f, const kk_transform *X) {
    return (view){kk_mat3_tmul_vec(X->R, f->u),
                  kk_mat3_tmul_vec(X->R, f->v),
                  kk_mat3_tmul_vec(X->R, f->n),
                  {kk_vec3_dot(f->u, X->p), kk_vec3_dot(f->v, X->p), kk_vec3_dot(f->n, X->p)}};
}

// The same where the frame is A's own.
static view view_over_floor(const kk_transform *X) {
    const double *m = X->R.m;
    return (view){{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, {m[6], m[7], m[8]}, X->p};
}

// The face of a box that faces best, put down directly: boxes are most of what there is.
static void outline_of_box(const kki_core *core, const view *w, bool is_b, outline *o) {
    static const int8_t CORNER[6][4] = {{0, 2, 6, 4}, {5, 7, 3, 1}, {0, 4, 5, 1},
                                        {3, 7, 6, 2}, {0, 1, 3, 2}, {6, 7, 5, 4}}; // as in patch.c
    const kk_vec3 u = w->u, v = w->v, n = w->n;
    const double ax = n.x < 0 ? -n.x : n.x, ay = n.y < 0 ? -n.y : n.y, az = n.z < 0 ? -n.z : n.z;
    const int axis = ax >= ay ? (ax >= az ? 0 : 2) : (ay >= az ? 1 : 2);
    const double nu[3] = {u.x, u.y, u.z}, nv[3] = {v.x, v.y, v.z}, nn[3] = {n.x, n.y, n.z};
    const int below = (is_b ? -nn[axis] : nn[axis]) < 0;
    // the face's middle and half edges
    const int i1 = axis == 2 ? 0 : axis + 1, i2 = axis == 0 ? 2 : axis - 1;
    const double h = below ? -core->half[axis] : core->half[axis], h1 = core->half[i1], h2 = core->half[i2];
    const kk_vec3 middle = kk_vec3_add(w->origin, kk_vec3_make(h * nu[axis], h * nv[axis], h * nn[axis]));
    const kk_vec3 e1 = {h1 * nu[i1], h1 * nv[i1], h1 * nn[i1]}, e2 = {h2 * nu[i2], h2 * nv[i2], h2 * nn[i2]};
    const kk_vec3 low = kk_vec3_sub(middle, e1), high = kk_vec3_add(middle, e1);
    o->count = 4;
    o->face = 2 * axis + below;
    for (int i = 0; i < 4; i++) {
        const int k = CORNER[o->face][is_b ? 3 - i : i];
        const kk_vec3 side = k >> i1 & 1 ? low : high, q = k >> i2 & 1 ? kk_vec3_sub(side, e2) : kk_vec3_add(side, e2);
        o->spot[i].x = q.x, o->spot[i].y = q.y, o->spot[i].z = q.z;
        o->spot[i].id = o->spot[i].edge = (uint32_t)k;
    }
    o->facing = nn[axis] < 0 ? -nn[axis] : nn[axis];
    o->normal = kk_vec3_make(nu[axis], nv[axis], nn[axis]);
}

static void make_outline(const kki_patch *p, const view *w, bool is_turned, outline *o) {
    const kk_vec3 u = w->u, v = w->v, n = w->n;
    o->count = p->count;
    o->face = p->face;
    for (int i = 0; i < p->count; i++) {
        const int k = is_turned ? p->count - 1 - i : i; // counter-clockwise seen along −n
        o->spot[i].x = w->origin.x + kk_vec3_dot(u, p->point[k]);
        o->spot[i].y = w->origin.y + kk_vec3_dot(v, p->point[k]);
        o->spot[i].z = w->origin.z + kk_vec3_dot(n, p->point[k]);
        o->spot[i].id = o->spot[i].edge = (uint32_t)p->id[k] & 0x7fff;
    }
    o->facing = 0;
    if (p->count >= 3) {
        o->normal = kk_vec3_make(kk_vec3_dot(p->normal, u), kk_vec3_dot(p->normal, v), kk_vec3_dot(p->normal, n));
        o->facing = __builtin_fabs(o->normal.z);
    }
}

static void outline_of(const kki_core *core, const view *w, bool is_b, outline *o) {
    if (core->type == KKI_CORE_BOX) {
        outline_of_box(core, w, is_b, o);
        return;
    }
    kki_patch patch;
    kki_core_patch(core, is_b ? kk_vec3_neg(w->n) : w->n, &patch);
    make_outline(&patch, w, is_b && patch.count >= 3, o);
}

// ---- cutting

static spot between(const spot *p, const spot *q, double t, uint32_t id, uint32_t edge) {
    return (spot){p->x + t * (q->x - p->x), p->y + t * (q->y - p->y), p->z + t * (q->z - p->z), id, edge};
}

// One edge; d > 0 are distances outside it. Corners within the slack stay, and no crossing is made beside one of them.
static int cut(const spot *in, const double *d, int count, bool is_open, double slack, uint32_t edge, spot *out) {
    int n = 0;
    for (int i = 0; i < count && n < MOST - 1; i++) {
        const int next = i + 1 < count ? i + 1 : 0;
        if (d[i] <= slack) {
            out[n++] = in[i];
            out[n - 1].edge = d[i] >= 0 && d[next] > slack ? edge : in[i].edge;
        }
        const bool crosses = (d[i] < 0 && d[next] > slack) || (d[i] > slack && d[next] < 0);
        if (crosses && !(is_open && next == 0)) {
            out[n++] = between(&in[i], &in[next], d[i] / (d[i] - d[next]), edge << 16 | in[i].edge,
                               d[i] < 0 ? edge : in[i].edge);
        }
    }
    return n;
}

// The part of `o` inside the polygon `by`.
static void cut_all(const outline *by, double slack, outline *o) {
    spot other[MOST];
    spot *from = o->spot, *to = other;
    const bool is_open = o->count == 2;
    int n = o->count;
    for (int i = 0; i < by->count && n > 0; i++) {
        const spot *p = &by->spot[i], *q = &by->spot[i + 1 < by->count ? i + 1 : 0];
        // distances times the edge's length, which slack needs only roughly (within an eighth)
        const double a = q->y - p->y, b = p->x - q->x, c = a * p->x + b * p->y;
        const double la = a < 0 ? -a : a, lb = b < 0 ? -b : b, most = slack * (la > lb ? la + 0.4 * lb : lb + 0.4 * la);
        double d[MOST];
        bool is_outside = false;
        for (int k = 0; k < n; k++) {
            d[k] = a * from[k].x + b * from[k].y - c;
            is_outside |= d[k] > most;
        }
        if (!is_outside) { // most edges cut nothing off
            continue;
        }
        n = cut(from, d, n, is_open, most, CUTTING | p->id, to);
        spot *t = from;
        from = to;
        to = t;
    }
    o->count = n;
    if (from != o->spot) {
        for (int i = 0; i < n; i++) {
            o->spot[i] = from[i];
        }
    }
}

// ---- points

typedef struct point_list {
    int count;
    struct {
        double x, y, z; // on A's core
        double gap;     // of the cores
        uint64_t feature;
    } point[MOST];
} point_list;

static uint64_t feature_of(bool reference_is_b, int32_t face, int32_t other, uint32_t id) {
    return (uint64_t)reference_is_b << 63 | (uint64_t)(face & 0x7fff) << 48 | (uint64_t)(other & 0xffff) << 32 | id;
}

static void list_polygon(const outline *reference, const outline *cut_one, bool reference_is_b, double most,
                         point_list *list) {
    const uint64_t faces = feature_of(reference_is_b, reference->face, cut_one->face, 0);
    const kk_vec3 n = reference->normal; // its plane: z = z0 + zx x + zy y
    const double zx = -n.x / n.z, zy = -n.y / n.z;
    const double z0 = reference->spot[0].z - zx * reference->spot[0].x - zy * reference->spot[0].y;
    for (int i = 0; i < cut_one->count; i++) {
        const spot *s = &cut_one->spot[i];
        const double z = z0 + zx * s->x + zy * s->y;
        const double gap = reference_is_b ? z - s->z : s->z - z;
        if (gap <= most) {
            list->point[list->count].x = s->x, list->point[list->count].y = s->y;
            list->point[list->count].z = reference_is_b ? s->z : z;
            list->point[list->count].gap = gap;
            list->point[list->count++].feature = faces | s->id;
        }
    }
}

// Two lines side by side: the ends of their common stretch. Lines that cross have one point, which is the witness.
static void list_lines(const outline *a, const outline *b, double most, point_list *list) {
    const double ux = a->spot[1].x - a->spot[0].x, uy = a->spot[1].y - a->spot[0].y, uu = ux * ux + uy * uy;
    const double vx = b->spot[1].x - b->spot[0].x, vy = b->spot[1].y - b->spot[0].y, vv = vx * vx + vy * vy;
    const double side = ux * vy - uy * vx;
    if (!(uu > 0 && vv > 0) || side * side > PARALLEL * PARALLEL * uu * vv) {
        return;
    }
    const double along = ux * vx + uy * vy;
    for (int end = 0; end < 2; end++) {
        // the end of the stretch: the nearer of A's end and B's end, in A's parameter
        const int k = along > 0 ? end : 1 - end;
        const double t = ((b->spot[k].x - a->spot[0].x) * ux + (b->spot[k].y - a->spot[0].y) * uy) / uu;
        const bool is_a = end ? t >= 1 : t <= 0;
        const double ta = is_a ? end : t;
        const spot p = between(&a->spot[0], &a->spot[1], ta, 0, 0);
        const double s = ((p.x - b->spot[0].x) * vx + (p.y - b->spot[0].y) * vy) / vv;
        if (ta < 0 || ta > 1 || s < -1e-9 || s > 1 + 1e-9) {
            continue;
        }
        const spot q = between(&b->spot[0], &b->spot[1], s, 0, 0);
        if (q.z - p.z <= most) {
            list->point[list->count].x = p.x, list->point[list->count].y = p.y, list->point[list->count].z = p.z;
            list->point[list->count].gap = q.z - p.z;
            list->point[list->count++].feature =
                feature_of(false, a->face, b->face, 0x4000u | (uint32_t)(is_a ? end : 2 + k));
        }
    }
}

static void merge_near(point_list *list, double near) {
    int n = 0;
    for (int i = 0; i < list->count; i++) {
        int same = -1;
        for (int j = 0; j < n && same < 0; j++) {
            const double dx = list->point[i].x - list->point[j].x, dy = list->point[i].y - list->point[j].y;
            same = dx * dx + dy * dy < near * near ? j : -1;
        }
        if (same < 0) {
            if (n != i) {
                list->point[n] = list->point[i];
            }
            n++;
        } else if (list->point[i].gap < list->point[same].gap) {
            list->point[same] = list->point[i];
        }
    }
    list->count = n;
}

static double square_apart(const point_list *l, int a, int b) {
    const double dx = l->point[a].x - l->point[b].x, dy = l->point[a].y - l->point[b].y;
    return dx * dx + dy * dy;
}

// Four points that span the patch: an extreme, the one farthest from it, and the widest on both sides of their line. The
// tiny favor for earlier points keeps the choice where symmetric patches leave it open.
static void span(const point_list *l, int kept[KEPT]) {
    const double favor = 1 + 1e-6;
    double extreme = l->point[0].x + 0.1 * l->point[0].y, farthest = 0;
    kept[0] = 0;
    for (int i = 1; i < l->count; i++) {
        const double x = l->point[i].x + 0.1 * l->point[i].y;
        kept[0] = x > extreme ? i : kept[0];
        extreme = x > extreme ? x : extreme;
    }
    kept[1] = kept[0] == 0;
    for (int i = 0; i < l->count; i++) {
        const double square = square_apart(l, i, kept[0]);
        if (square > favor * farthest) {
            farthest = square;
            kept[1] = i;
        }
    }
    double widest = 0, narrowest = 0;
    kept[2] = kept[3] = -1;
    const double x0 = l->point[kept[0]].x, y0 = l->point[kept[0]].y;
    const double dx = l->point[kept[1]].x - x0, dy = l->point[kept[1]].y - y0;
    for (int i = 0; i < l->count; i++) {
        const double t = dx * (l->point[i].y - y0) - dy * (l->point[i].x - x0);
        if (t > favor * widest) {
            widest = t;
            kept[2] = i;
        } else if (t < favor * narrowest) {
            narrowest = t;
            kept[3] = i;
        }
    }
}

static void reduce(point_list *l, double tolerance) {
    if (l->count <= KEPT) {
        return;
    }
    int kept[KEPT], deepest = 0, nearest = -1;
    span(l, kept);
    for (int i = 1; i < l->count; i++) {
        deepest = l->point[i].gap < l->point[deepest].gap ? i : deepest;
    }
    bool has_deepest = false;
    for (int k = 0; k < KEPT; k++) {
        if (kept[k] >= 0) {
            has_deepest |= l->point[kept[k]].gap <= l->point[deepest].gap + tolerance;
            nearest = nearest < 0 || square_apart(l, kept[k], deepest) < square_apart(l, kept[nearest], deepest)
                          ? k
                          : nearest;
        }
    }
    if (!has_deepest) {
        kept[nearest] = deepest;
    }
    bool is_kept[MOST] = {false};
    for (int k = 0; k < KEPT; k++) {
        if (kept[k] >= 0) {
            is_kept[kept[k]] = true;
        }
    }
    int n = 0;
    for (int i = 0; i < l->count; i++) {
        if (is_kept[i]) {
            l->point[n++] = l->point[i];
        }
    }
    l->count = n;
}

// The deepest place may be on no corner of a patch: a rim, a round body, two edges that cross.
static void add_witness(double distance, kk_vec3 on_a, double tolerance, double most, point_list *list) {
    if (distance > most) {
        return;
    }
    for (int i = 0; i < list->count; i++) {
        if (list->point[i].gap <= distance + tolerance) {
            return;
        }
    }
    list->point[list->count].x = on_a.x, list->point[list->count].y = on_a.y, list->point[list->count].z = on_a.z;
    list->point[list->count].gap = distance;
    list->point[list->count++].feature = ~(uint64_t)0;
}

// The frame comes in world axes.
static void write_manifold(const frame *f, double ra, double rb, const point_list *list, const kk_transform *X_WA,
                           kki_manifold *manifold) {
    const kk_vec3 u = f->u, v = f->v;
    manifold->normal = f->n;
    manifold->count = list->count;
    for (int i = 0; i < list->count; i++) {
        kki_contact_point *p = &manifold->point[i];
        const double z = list->point[i].z + ra;
        p->position.x = X_WA->p.x + u.x * list->point[i].x + v.x * list->point[i].y + manifold->normal.x * z;
        p->position.y = X_WA->p.y + u.y * list->point[i].x + v.y * list->point[i].y + manifold->normal.y * z;
        p->position.z = X_WA->p.z + u.z * list->point[i].x + v.z * list->point[i].y + manifold->normal.z * z;
        p->gap = list->point[i].gap - (ra + rb);
        p->feature = list->point[i].feature;
    }
}

// Whether B's face is the reference: the one that faces the normal better; the last choice holds while they are alike.
static bool choose_reference(const outline *a, const outline *b, const kki_pair_memory *memory) {
    const double favor = 1e-3;
    const bool was_b = memory->reference >> 31;
    return was_b ? b->facing + favor >= a->facing : b->facing > a->facing + favor;
}

void kki_patches_meet(const kki_meeting *m, const kk_transform *X_WA, kki_pair_memory *memory, kki_manifold *manifold) {
    frame f;
    frame_about(m->normal, &f);
    const double ra = m->pair->a.radius, rb = m->pair->b.radius, slack = SLACK * m->radius, most = m->reach + ra + rb;
    const view from_a = view_of_a(&f), from_b = view_of_b(&f, &m->pair->X_AB);
    outline a, b;
    outline_of(&m->pair->a, &from_a, false, &a);
    outline_of(&m->pair->b, &from_b, true, &b);
    point_list list;
    list.count = 0;
    const bool a_is_face = a.facing > STEEP, b_is_face = b.facing > STEEP;
    const bool a_fits = a_is_face || a.count == 2, b_fits = b_is_face || b.count == 2;
    if (a_fits && b_fits && (a_is_face || b_is_face)) {
        const bool by_b = b_is_face && (!a_is_face || choose_reference(&a, &b, memory));
        cut_all(by_b ? &b : &a, slack, by_b ? &a : &b);
        list_polygon(by_b ? &b : &a, by_b ? &a : &b, by_b, most, &list);
        memory->reference = 1 + (uint32_t)(by_b ? b.face : a.face) + ((uint32_t)by_b << 31);
    } else if (a.count == 2 && b.count == 2) {
        list_lines(&a, &b, most, &list);
    }
    merge_near(&list, MERGE * m->radius);
    reduce(&list, MISSED * m->radius);
    const kk_vec3 on_a = {kk_vec3_dot(f.u, m->on_a), kk_vec3_dot(f.v, m->on_a), kk_vec3_dot(f.n, m->on_a)};
    add_witness(m->distance, on_a, MISSED * m->radius, most, &list);
    const frame world = {kk_mat3_mul_vec(X_WA->R, f.u), kk_mat3_mul_vec(X_WA->R, f.v), kk_mat3_mul_vec(X_WA->R, f.n)};
    write_manifold(&world, ra, rb, &list, X_WA, manifold);
}

// ---- over a floor

static void list_over_floor(double x, double y, double z, uint64_t feature, double most, point_list *list) {
    if (z <= most) {
        list->point[list->count].x = x, list->point[list->count].y = y, list->point[list->count].z = 0;
        list->point[list->count].gap = z;
        list->point[list->count++].feature = feature;
    }
}

static void write_over_floor(const kki_floor_meeting *m, double outer, double most, point_list *list,
                             const kk_transform *X_WA, kki_manifold *manifold) {
    if (list->count > 1) { // few are
        merge_near(list, MERGE * outer);
        reduce(list, MISSED * outer);
    }
    add_witness(m->low.z, kk_vec3_make(m->low.x, m->low.y, 0), MISSED * outer, most, list);
    const frame world = {kk_mat3_column(X_WA->R, 0), kk_mat3_column(X_WA->R, 1), kk_mat3_column(X_WA->R, 2)};
    write_manifold(&world, m->margin, m->radius, list, X_WA, manifold);
}

void kki_patch_meets_floor(const kki_floor_meeting *m, const kki_core *core, const kk_transform *X_AB,
                           const kk_transform *X_WA, kki_pair_memory *memory, kki_manifold *manifold) {
    const double most = m->reach + m->margin + m->radius;
    const view from_b = view_over_floor(X_AB);
    outline b;
    point_list list;
    list.count = 0;
    outline_of(core, &from_b, true, &b);
    if (b.count == 2 || b.facing > STEEP) {
        const uint64_t faces = feature_of(false, KKI_FLOOR_FACE, b.face, 0);
        for (int i = 0; i < b.count; i++) {
            list_over_floor(b.spot[i].x, b.spot[i].y, b.spot[i].z, faces | b.spot[i].id, most, &list);
        }
        memory->reference = KKI_ON_FLOOR;
    }
    write_over_floor(m, kki_core_outer(core), most, &list, X_WA, manifold);
}

void kki_line_meets_floor(const kki_floor_meeting *m, const kk_vec3 end[2], double half, const kk_transform *X_WA,
                          kki_pair_memory *memory, kki_manifold *manifold) {
    const double most = m->reach + m->margin + m->radius;
    point_list list;
    list.count = 0;
    for (uint32_t i = 0; i < 2; i++) {
        list_over_floor(end[i].x, end[i].y, end[i].z, kki_floor_feature(i), most, &list);
    }
    memory->reference = KKI_ON_FLOOR;
    write_over_floor(m, m->radius + half, most, &list, X_WA, manifold);
}
