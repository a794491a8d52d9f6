// The part of a core's surface that faces a direction.
#include "collision/patch.h"

static const double TILT = KKI_PATCH_TILT;

static void take_point(const kki_core *core, kk_vec3 d, kki_patch *p) {
    p->count = 1;
    p->face = -1;
    p->id[0] = -1;
    p->point[0] = kki_core_support(core, d, &p->id[0]);
}

static void take_line(kk_vec3 low, kk_vec3 high, int32_t face, kki_patch *p) {
    p->count = 2;
    p->face = face;
    p->point[0] = low, p->point[1] = high;
    p->id[0] = 0, p->id[1] = 1;
}

// Corners on the rim at fixed places of the body, so that they stay where they are from step to step.
static void take_octagon(double r, double z, double side, int32_t face, kki_patch *p) {
    static const double c[KKI_PATCH_OCTAGON] = {1,  0.70710678118654752440,  0, -0.70710678118654752440,
                                                -1, -0.70710678118654752440, 0, 0.70710678118654752440};
    p->count = KKI_PATCH_OCTAGON;
    p->face = face;
    p->normal = kk_vec3_make(0, 0, side);
    for (int i = 0; i < KKI_PATCH_OCTAGON; i++) {
        const int k = side > 0 ? i : KKI_PATCH_OCTAGON - 1 - i;
        p->point[i] = kk_vec3_make(r * c[k], r * c[(k + 6) % KKI_PATCH_OCTAGON], z);
        p->id[i] = k;
    }
}

static void patch_of_box(const kki_core *core, kk_vec3 d, kki_patch *p) {
    // corners by the bits of their ids, x first, set where negative
    static const int8_t CORNER[6][4] = {{0, 2, 6, 4}, {5, 7, 3, 1}, {0, 4, 5, 1},
                                        {3, 7, 6, 2}, {0, 1, 3, 2}, {6, 7, 5, 4}};
    const double x = d.x < 0 ? -d.x : d.x, y = d.y < 0 ? -d.y : d.y, z = d.z < 0 ? -d.z : d.z;
    const double hx[2] = {core->half[0], -core->half[0]}, hy[2] = {core->half[1], -core->half[1]};
    const double hz[2] = {core->half[2], -core->half[2]};
    const int axis = x >= y ? (x >= z ? 0 : 2) : (y >= z ? 1 : 2);
    p->count = 4;
    p->face = 2 * axis + ((axis == 0 ? d.x : (axis == 1 ? d.y : d.z)) < 0);
    (void)kki_core_face_normal(core, p->face, &p->normal);
    for (int i = 0; i < 4; i++) {
        const int k = CORNER[p->face][i];
        p->point[i] = kk_vec3_make(hx[k & 1], hy[k >> 1 & 1], hz[k >> 2]);
        p->id[i] = k;
    }
}

static void patch_of_hull(const kki_convex *c, kk_vec3 d, kki_patch *p) {
    const int corner = kki_convex_support(c, d, -1);
    int32_t best = c->around[c->around_from[corner]];
    for (int32_t i = c->around_from[corner] + 1; i < c->around_from[corner + 1]; i++) {
        if (kk_vec3_dot(c->face[c->around[i]].normal, d) > kk_vec3_dot(c->face[best].normal, d)) {
            best = c->around[i];
        }
    }
    const kki_convex_face *f = &c->face[best];
    p->face = best;
    p->normal = f->normal;
    p->count = f->count < KKI_PATCH_POINTS ? f->count : KKI_PATCH_POINTS;
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t k = f->count <= KKI_PATCH_POINTS ? i : (int32_t)((int64_t)i * f->count / KKI_PATCH_POINTS);
        p->id[i] = c->loop[f->first + k];
        p->point[i] = c->vertex[p->id[i]];
    }
}

static void patch_of_cylinder(const kki_core *core, kk_vec3 d, kki_patch *p) {
    const double r = core->half[0], h = core->half[2], across = kk_sqrt(d.x * d.x + d.y * d.y);
    if (across < TILT) {
        take_octagon(r, d.z < 0 ? -h : h, d.z < 0 ? -1 : 1, d.z < 0, p);
        return;
    }
    const double x = r * (d.x / across), y = r * (d.y / across);
    take_line(kk_vec3_make(x, y, -h), kk_vec3_make(x, y, h), 2, p);
}

static void patch_of_cone(const kki_core *core, kk_vec3 d, kki_patch *p) {
    const double r = core->half[0], h = core->half[2], across = kk_sqrt(d.x * d.x + d.y * d.y);
    const double length = kk_hypot(r, 2 * h), slant = length > 0 ? (2 * h * across + r * d.z) / length : 0;
    if (-d.z >= slant && -d.z > TILT) {
        take_octagon(r, -h, -1, 0, p);
    } else if (slant > TILT && across > 0) {
        take_line(kk_vec3_make(r * (d.x / across), r * (d.y / across), -h), kk_vec3_make(0, 0, h), 1, p);
    } else {
        take_point(core, d, p);
    }
}

static void patch_of_triangle(const kki_core *core, kk_vec3 d, kki_patch *p) {
    const kk_vec3 *c = core->corner;
    const kk_vec3 n = kk_vec3_cross(kk_vec3_sub(c[1], c[0]), kk_vec3_sub(c[2], c[0]));
    const double norm = kk_vec3_norm(n);
    if (!(norm > 0)) {
        take_point(core, d, p);
        return;
    }
    const int below = kk_vec3_dot(n, d) < 0;
    p->count = 3;
    p->face = below;
    p->normal = kk_vec3_scale(n, (below ? -1 : 1) / norm);
    for (int i = 0; i < 3; i++) {
        p->id[i] = below ? 2 - i : i;
        p->point[i] = c[p->id[i]];
    }
}

void kki_core_patch(const kki_core *core, kk_vec3 d, kki_patch *patch) {
    switch (core->type) {
    case KKI_CORE_BOX: patch_of_box(core, d, patch); break;
    case KKI_CORE_HULL: patch_of_hull(core->convex, d, patch); break;
    case KKI_CORE_CYLINDER: patch_of_cylinder(core, d, patch); break;
    case KKI_CORE_CONE: patch_of_cone(core, d, patch); break;
    case KKI_CORE_TRIANGLE: patch_of_triangle(core, d, patch); break;
    case KKI_CORE_SEGMENT:
        if (d.z > -TILT && d.z < TILT) {
            take_line(kk_vec3_make(0, 0, -core->half[2]), kk_vec3_make(0, 0, core->half[2]), 0, patch);
            break;
        }
        take_point(core, d, patch);
        break;
    default: take_point(core, d, patch);
    }
}

int kki_core_face_normal(const kki_core *core, int32_t face, kk_vec3 *normal) {
    if (core->type == KKI_CORE_BOX && face >= 0 && face < 6) {
        const double s = face & 1 ? -1 : 1;
        *normal = kk_vec3_make(face / 2 == 0 ? s : 0, face / 2 == 1 ? s : 0, face / 2 == 2 ? s : 0);
        return 1;
    }
    if (core->type == KKI_CORE_HULL && face >= 0 && face < core->convex->face_count) {
        *normal = core->convex->face[face].normal;
        return 1;
    }
    if ((core->type == KKI_CORE_CYLINDER && (face == 0 || face == 1)) || (core->type == KKI_CORE_CONE && face == 0)) {
        *normal = kk_vec3_make(0, 0, face == 1 || core->type == KKI_CORE_CONE ? -1 : 1);
        return 1;
    }
    return 0;
}
