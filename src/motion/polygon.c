// The zero-moment point, convex polygons around it, and the points of a body that carry it.
#include <karakuri/analysis.h>
#include <karakuri/elementary.h>

enum { AROUND = 16, BOX_CORNERS = 8 };

kk_vec3 kk_zero_moment_point(kk_force floor, double height) {
    const kk_vec3 n = floor.angular, f = floor.linear;
    if (f.z == 0) {
        return kk_vec3_make(__builtin_nan(""), __builtin_nan(""), height);
    }
    return kk_vec3_make((height * f.x - n.y) / f.z, (height * f.y + n.x) / f.z, height);
}

// ---- polygons

/// Twice the area of the triangle: positive where c lies to the left of a → b.
static double left_of(kk_vec3 a, kk_vec3 b, kk_vec3 c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static int is_before(kk_vec3 a, kk_vec3 b) {
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

/// By x, then y. Few points, so by insertion.
static void sort(kk_vec3 *p, int n) {
    for (int i = 1; i < n; i++) {
        const kk_vec3 x = p[i];
        int k = i;
        for (; k > 0 && is_before(x, p[k - 1]); k--) {
            p[k] = p[k - 1];
        }
        p[k] = x;
    }
}

/// Gift wrapping on the sorted points, in place: the next corner is swapped to its turn. n h turns of a few operations, no further memory.
static int wrap(kk_vec3 *p, int n) {
    int corners = 1;
    for (;;) {
        int best = corners < n ? corners : 0;
        const kk_vec3 at = p[corners - 1];
        for (int i = 0; i < n; i++) {
            const int is_used = i > 0 && i < corners;
            const double side = is_used || i == corners - 1 ? 1 : left_of(at, p[best], p[i]);
            const kk_vec3 to = kk_vec3_sub(p[i], at), to_best = kk_vec3_sub(p[best], at);
            const double way = to.x * to.x + to.y * to.y, best_way = to_best.x * to_best.x + to_best.y * to_best.y;
            if (side < 0 || (side == 0 && way > best_way)) {
                best = i;
            }
        }
        if (best == 0 || corners == n) {
            return corners;
        }
        const kk_vec3 swap = p[corners];
        p[corners++] = p[best];
        p[best] = swap;
    }
}

int kk_polygon_hull(kk_vec3 *points, int count) {
    int n = 0;
    sort(points, count);
    for (int i = 0; i < count; i++) { // without repetitions
        if (n == 0 || points[i].x != points[n - 1].x || points[i].y != points[n - 1].y) {
            points[n++] = points[i];
        }
    }
    return n > 1 ? wrap(points, n) : n;
}

static double distance_to_edge(kk_vec3 a, kk_vec3 b, kk_vec3 p) {
    const double x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
    double part = length > 0 ? ((p.x - a.x) * x + (p.y - a.y) * y) / length : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return kk_hypot(p.x - a.x - part * x, p.y - a.y - part * y);
}

double kk_polygon_margin(const kk_vec3 *polygon, int count, kk_vec3 point) {
    double least = __builtin_inf();
    int is_inside = count > 2;
    for (int i = 0; i < count; i++) {
        const kk_vec3 a = polygon[i], b = polygon[(i + 1) % count];
        const double d = distance_to_edge(a, b, point);
        least = d < least || d != d ? d : least;
        is_inside = is_inside && left_of(a, b, point) >= 0;
    }
    return is_inside ? least : -least;
}

// ---- what a body stands on

typedef struct gathering {
    kk_vec3 *point;
    int count, capacity;
    double top; ///< points above do not carry
} gathering;

static void add(gathering *g, kk_vec3 p) {
    if (p.z <= g->top && g->count < g->capacity) {
        g->point[g->count++] = p;
    }
}

static void add_box(gathering *g, kk_transform X, const double *size) {
    for (int i = 0; i < BOX_CORNERS; i++) {
        const kk_vec3 corner = {(i & 1 ? 0.5 : -0.5) * size[0], (i & 2 ? 0.5 : -0.5) * size[1],
                                (i & 4 ? 0.5 : -0.5) * size[2]};
        add(g, kk_transform_point(X, corner));
    }
}

static void add_ring(gathering *g, kk_transform X, double radius, double z) {
    for (int i = 0; i < AROUND; i++) {
        double s, c;
        kk_sincos(KK_TWO_PI * i / AROUND, &s, &c);
        add(g, kk_transform_point(X, kk_vec3_make(radius * c, radius * s, z)));
    }
}

static void add_ball(gathering *g, kk_vec3 center, double radius) {
    add(g, kk_vec3_make(center.x, center.y, center.z - radius));
}

/// The lowest point: along the ellipsoid's support in −z.
static void add_ellipsoid(gathering *g, kk_transform X, const double *r) {
    const kk_vec3 down = kk_mat3_tmul_vec(X.R, kk_vec3_make(0, 0, -1));
    const kk_vec3 s = {r[0] * down.x, r[1] * down.y, r[2] * down.z};
    const double n = kk_vec3_norm(s);
    add(g, kk_transform_point(X, kk_vec3_make(r[0] * s.x / n, r[1] * s.y / n, r[2] * s.z / n)));
}

static void add_mesh(gathering *g, const kk_model *model, kk_transform X, int id) {
    const kk_mesh_def mesh = kk_model_mesh(model, id);
    for (int i = 0; i < mesh.vertex_count; i++) {
        add(g, kk_transform_point(X, mesh.vertex[i]));
    }
}

static void add_shape(gathering *g, const kk_model *model, kk_transform X, const kk_shape_def *s) {
    const double half = 0.5 * s->size[1];
    if (s->type == KK_SHAPE_BOX) {
        add_box(g, X, s->size);
    } else if (s->type == KK_SHAPE_SPHERE) {
        add_ball(g, X.p, s->size[0]);
    } else if (s->type == KK_SHAPE_CAPSULE) {
        add_ball(g, kk_transform_point(X, kk_vec3_make(0, 0, half)), s->size[0]);
        add_ball(g, kk_transform_point(X, kk_vec3_make(0, 0, -half)), s->size[0]);
    } else if (s->type == KK_SHAPE_CYLINDER || s->type == KK_SHAPE_CONE) {
        add_ring(g, X, s->size[0], -half);
        add_ring(g, X, s->type == KK_SHAPE_CONE ? 0 : s->size[0], half);
    } else if (s->type == KK_SHAPE_ELLIPSOID) {
        add_ellipsoid(g, X, s->size);
    } else if (s->type == KK_SHAPE_HULL || s->type == KK_SHAPE_MESH) {
        add_mesh(g, model, X, s->mesh);
    }
}

/// The body itself, or one fixed to it.
static int moves_with(const kk_model *model, int shape_body, int body) {
    while (shape_body != body && shape_body > 0 && kk_model_joint(model, shape_body).type == KK_JOINT_FIXED) {
        shape_body = kk_model_body_parent(model, shape_body);
    }
    return shape_body == body;
}

int kk_support_points(const kk_model *model, const kk_data *data, int body, double height, double reach,
                      kk_vec3 *points, int capacity) {
    gathering g = {points, 0, capacity, height + reach};
    for (int i = 0; i < kk_model_nshape(model); i++) {
        const kk_shape_def s = kk_model_shape(model, i);
        if ((s.purpose & KK_SHAPE_COLLIDES) && moves_with(model, s.body, body)) {
            add_shape(&g, model, kk_transform_mul(kk_body_pose(model, data, s.body), s.placement), &s);
        }
    }
    return g.count;
}
