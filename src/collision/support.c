// Cores of shapes and the farthest points of the curved ones.
#include "collision/support.h"

#include <stdbool.h>

#include "geometry/lanes.h"

void kki_core_set(kki_core *core, const kki_shape *shape) {
    static const kki_core_type type[KK_SHAPE_TYPE_COUNT] = {
        [KK_SHAPE_SPHERE] = KKI_CORE_POINT,        [KK_SHAPE_CAPSULE] = KKI_CORE_SEGMENT,
        [KK_SHAPE_CYLINDER] = KKI_CORE_CYLINDER,   [KK_SHAPE_CONE] = KKI_CORE_CONE,
        [KK_SHAPE_ELLIPSOID] = KKI_CORE_ELLIPSOID, [KK_SHAPE_BOX] = KKI_CORE_BOX,
        [KK_SHAPE_HULL] = KKI_CORE_HULL,
    };
    core->type = type[shape->type];
    core->radius = shape->margin;
    core->extent = core->half[0] = core->half[1] = core->half[2] = 0;
    core->convex = shape->convex;
    core->corner = NULL;
    core->surface = NULL;
    core->seed = 0;
    switch (shape->type) {
    case KK_SHAPE_SPHERE: core->radius += shape->half[0]; break;
    case KK_SHAPE_HULL: core->extent = shape->convex->extent; break;
    case KK_SHAPE_CAPSULE:
        core->radius += shape->half[0];
        core->half[2] = core->extent = shape->half[1];
        break;
    case KK_SHAPE_CYLINDER:
    case KK_SHAPE_CONE:
        core->half[0] = core->half[1] = shape->half[0];
        core->half[2] = shape->half[1];
        core->extent = kk_sqrt(shape->half[0] * shape->half[0] + shape->half[1] * shape->half[1]);
        break;
    default:
        for (int i = 0; i < 3; i++) {
            core->half[i] = shape->half[i];
        }
        core->extent = kk_vec3_norm(kk_vec3_make(core->half[0], core->half[1], core->half[2]));
    }
}

kki_core kki_core_triangle(const kk_vec3 corner[3], double radius) {
    kki_core core = {.type = KKI_CORE_TRIANGLE, .radius = radius, .corner = corner};
    for (int i = 0; i < 3; i++) {
        const double r = kk_vec3_norm(corner[i]);
        core.extent = r > core.extent ? r : core.extent;
    }
    return core;
}

kki_core kki_core_surface(const kki_surface *surface, int32_t seed) {
    const kki_aabb *box = &surface->box;
    const kk_vec3 far = {kki_greater(box->upper.x, -box->lower.x), kki_greater(box->upper.y, -box->lower.y),
                         kki_greater(box->upper.z, -box->lower.z)};
    return (kki_core){.type = KKI_CORE_SURFACE, .extent = kk_vec3_norm(far), .surface = surface, .seed = seed};
}

kki_core kki_core_field(const kki_height_field *field, int32_t seed) {
    const double down = __builtin_fabs(field->base), up = __builtin_fabs(field->greatest);
    const kk_vec3 far = {0.5 * field->size[0], 0.5 * field->size[1], kki_greater(down, up)};
    return (kki_core){.type = KKI_CORE_FIELD, .extent = kk_vec3_norm(far), .field = field, .seed = seed};
}

double kki_core_outer(const kki_core *core) {
    if (core->type == KKI_CORE_TRIANGLE) {
        const double r1 = kk_vec3_norm(kk_vec3_sub(core->corner[1], core->corner[0]));
        const double r2 = kk_vec3_norm(kk_vec3_sub(core->corner[2], core->corner[0]));
        return core->radius + (r1 > r2 ? r1 : r2);
    }
    return core->radius + (core->type == KKI_CORE_HULL ? core->convex->outer : core->extent);
}

kki_core_pair kki_core_pair_make(const kki_core *a, const kki_core *b, const kk_transform *X_AB) {
    kki_core_pair pair = {*a, *b, *X_AB, NULL, 0};
    pair.size = a->extent + b->extent + kk_vec3_norm(X_AB->p);
    return pair;
}

void kki_core_pair_of(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                      kki_core_pair *pair) {
    kki_core_set(&pair->a, a);
    kki_core_set(&pair->b, b);
    kki_core_pair_place(pair, X_WA, X_WB);
}

void kki_core_pair_place(kki_core_pair *pair, const kk_transform *X_WA, const kk_transform *X_WB) {
    pair->small = NULL;
    pair->X_AB.R = kk_mat3_mul(kk_mat3_transpose(X_WA->R), X_WB->R);
    pair->X_AB.p = kk_mat3_tmul_vec(X_WA->R, kk_vec3_sub(X_WB->p, X_WA->p));
    pair->size = pair->a.extent + pair->b.extent + kk_vec3_norm(pair->X_AB.p);
}

static bool is_small(const kki_core *core) {
    return core->type == KKI_CORE_HULL && core->convex->padded_count <= KKI_SMALL_HULL;
}

// rounded as kk_transform_point does
void kki_core_pair_turn_corners(kki_core_pair *pair, kki_small_hull *small) {
    if (!is_small(&pair->a) || !is_small(&pair->b)) {
        return;
    }
    const kki_convex *c = pair->b.convex;
    const kk_mat3 m = pair->X_AB.R; // copies, which the corners written below cannot change
    const double *R = m.m;
    const kk_vec3 p = pair->X_AB.p;
    const kki_lanes *bx = (const kki_lanes *)(const void *)c->x, *by = (const kki_lanes *)(const void *)c->y;
    const kki_lanes *bz = (const kki_lanes *)(const void *)c->z;
    kki_lanes *x = (kki_lanes *)(void *)small->x, *y = (kki_lanes *)(void *)small->y;
    kki_lanes *z = (kki_lanes *)(void *)small->z;
    for (int i = 0; i < c->padded_count / 2; i++) {
        const kki_lanes u = bx[i], v = by[i], w = bz[i];
        x[i] = (R[0] * u + R[1] * v + R[2] * w) + p.x;
        y[i] = (R[3] * u + R[4] * v + R[5] * w) + p.y;
        z[i] = (R[6] * u + R[7] * v + R[8] * w) + p.z;
    }
    pair->small = small;
}

static inline void write_corners(const kki_core_pair *pair, int i, int j, kki_difference *out) {
    const kki_small_hull *s = pair->small;
    const kk_vec3 a = pair->a.convex->vertex[i], b = kk_vec3_make(s->x[j], s->y[j], s->z[j]);
    out->w = kk_vec3_sub(a, b);
    out->a = a;
    out->b = b;
    out->id[0] = i, out->id[1] = j;
}

// apart, so that the usual pair of eight corners does not save the registers that this one needs
__attribute__((noinline)) static void support_up_to_sixteen(const kki_core_pair *pair, kk_vec3 d, kki_difference *out) {
    const kki_convex *c = pair->a.convex;
    const kki_small_hull *s = pair->small;
    const int i = kki_lanes_farthest(c->x, c->y, c->z, c->padded_count, d);
    const int j = kki_lanes_farthest(s->x, s->y, s->z, pair->b.convex->padded_count, kk_vec3_neg(d));
    write_corners(pair, i, j, out);
}

void kki_core_pair_support_small(const kki_core_pair *pair, double dx, double dy, double dz, kki_difference *out) {
    const kk_vec3 d = {dx, dy, dz};
    const kki_convex *c = pair->a.convex;
    const kki_small_hull *s = pair->small;
    if (c->padded_count != 8 || pair->b.convex->padded_count != 8) {
        support_up_to_sixteen(pair, d, out);
        return;
    }
    const int i = kki_lanes_farthest_of_eight(c->x, c->y, c->z, d);
    const int j = kki_lanes_farthest_of_eight(s->x, s->y, s->z, kk_vec3_neg(d));
    write_corners(pair, i, j, out);
}

void kki_core_pair_support_other(const kki_core_pair *pair, kk_vec3 d, kki_difference *out) {
    const kk_vec3 d_B = kk_vec3_neg(kk_mat3_tmul_vec(pair->X_AB.R, d));
    if (pair->a.type == KKI_CORE_SURFACE || pair->a.type == KKI_CORE_FIELD) {
        kki_core_pair_climb(pair, d, d_B, out);
        return;
    }
    const kk_vec3 a = kki_core_support(&pair->a, d, &out->id[0]);
    const kk_vec3 b = kk_transform_point(pair->X_AB, kki_core_support(&pair->b, d_B, &out->id[1]));
    out->w = kk_vec3_sub(a, b);
    out->a = a;
    out->b = b;
}

void kki_core_pair_climb(const kki_core_pair *pair, kk_vec3 d, kk_vec3 d_B, kki_difference *out) {
    const kki_surface *a = pair->a.surface, *b = pair->b.surface;
    out->id[0] = out->id[0] < 0 ? pair->a.seed : out->id[0];
    out->id[1] = out->id[1] < 0 ? pair->b.seed : out->id[1];
    if (a) {
        const double enough = pair->a.enough * kk_vec3_norm(d) + kk_vec3_dot(d, pair->X_AB.p);
        kki_surface_climb(a, d, b, d_B, KKI_CLIMB_STEPS, enough, out->id);
        out->a = a->vertex[out->id[0]];
    } else {
        out->id[0] = kki_height_field_climb(pair->a.field, d, out->id[0], KKI_CLIMB_STEPS);
        out->id[1] = kki_surface_climb_one(b, d_B, out->id[1], KKI_CLIMB_STEPS);
        out->a = kki_height_field_corner(pair->a.field, out->id[0]);
    }
    out->b = kk_transform_point(pair->X_AB, b->vertex[out->id[1]]);
    out->w = kk_vec3_sub(out->a, out->b);
}

kk_vec3 kki_core_corner(const kki_core *core, int id) {
    switch (core->type) {
    case KKI_CORE_SEGMENT: return kk_vec3_make(0, 0, id & 1 ? -core->half[2] : core->half[2]);
    case KKI_CORE_BOX:
        return kk_vec3_make(id & 1 ? -core->half[0] : core->half[0], id & 2 ? -core->half[1] : core->half[1],
                            id & 4 ? -core->half[2] : core->half[2]);
    case KKI_CORE_HULL: return core->convex->vertex[id < core->convex->vertex_count ? id : 0];
    case KKI_CORE_TRIANGLE: return core->corner[id % 3];
    case KKI_CORE_SURFACE: return core->surface->vertex[id];
    case KKI_CORE_FIELD: return kki_height_field_corner(core->field, id);
    default: return kk_vec3_make(0, 0, 0);
    }
}

// The rim point of a disc of radius r at height z; its middle where d has no part across the axis.
static kk_vec3 rim(kk_vec3 d, double across, double r, double z) {
    return across > 0 ? kk_vec3_make(d.x * (r / across), d.y * (r / across), z) : kk_vec3_make(0, 0, z);
}

// Ellipsoid D·ball: the farthest point is D² d / |D d|.
static kk_vec3 support_ellipsoid(const double half[3], kk_vec3 d) {
    const kk_vec3 e = kk_vec3_make(half[0] * d.x, half[1] * d.y, half[2] * d.z);
    const double length = kk_vec3_norm(e);
    if (!(length > 0)) {
        return kk_vec3_make(0, 0, 0);
    }
    return kk_vec3_make(half[0] * (e.x / length), half[1] * (e.y / length), half[2] * (e.z / length));
}

kk_vec3 kki_core_support_curved(const kki_core *core, kk_vec3 d) {
    const double r = core->half[0], h = core->half[2];
    if (core->type == KKI_CORE_ELLIPSOID) {
        return support_ellipsoid(core->half, d);
    }
    const double across = kk_sqrt(d.x * d.x + d.y * d.y);
    if (core->type == KKI_CORE_CYLINDER) {
        return rim(d, across, r, d.z < 0 ? -h : h);
    }
    // a cone: its tip, or the rim of its base, whichever is farther
    return 2 * h * d.z > r * across ? kk_vec3_make(0, 0, h) : rim(d, across, r, -h);
}
