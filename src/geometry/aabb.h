/// Axis-aligned boxes.
#ifndef KKI_GEOMETRY_AABB_H
#define KKI_GEOMETRY_AABB_H

#include <stdbool.h>

#include "geometry/shape.h"

/// Sine below which two faces of a mesh or height field are one plane.
#define KKI_FLAT_SINE 1e-6

static inline kki_aabb kki_aabb_empty(void) {
    const double inf = __builtin_inf();
    return (kki_aabb){{inf, inf, inf}, {-inf, -inf, -inf}};
}
static inline double kki_lesser(double a, double b) {
    return a < b ? a : b;
}
static inline double kki_greater(double a, double b) {
    return a > b ? a : b;
}
static inline kki_aabb kki_aabb_join(kki_aabb a, kki_aabb b) {
    return (kki_aabb){
        {kki_lesser(a.lower.x, b.lower.x), kki_lesser(a.lower.y, b.lower.y), kki_lesser(a.lower.z, b.lower.z)},
        {kki_greater(a.upper.x, b.upper.x), kki_greater(a.upper.y, b.upper.y), kki_greater(a.upper.z, b.upper.z)}};
}
static inline kki_aabb kki_aabb_of_point(kk_vec3 p) {
    return (kki_aabb){p, p};
}
static inline kki_aabb kki_aabb_grow(kki_aabb a, double r) {
    return (kki_aabb){{a.lower.x - r, a.lower.y - r, a.lower.z - r}, {a.upper.x + r, a.upper.y + r, a.upper.z + r}};
}
static inline bool kki_aabb_touch(const kki_aabb *a, const kki_aabb *b) {
    return (a->lower.x <= b->upper.x) & (a->upper.x >= b->lower.x) & (a->lower.y <= b->upper.y) &
           (a->upper.y >= b->lower.y) & (a->lower.z <= b->upper.z) & (a->upper.z >= b->lower.z);
}
static inline bool kki_aabb_contains(const kki_aabb *a, const kki_aabb *b) {
    return (a->lower.x <= b->lower.x) & (a->upper.x >= b->upper.x) & (a->lower.y <= b->lower.y) &
           (a->upper.y >= b->upper.y) & (a->lower.z <= b->lower.z) & (a->upper.z >= b->upper.z);
}
/// Box around a box that is turned and moved.
static inline kki_aabb kki_aabb_transform(kk_transform X, const kki_aabb *a) {
    const kk_vec3 c = kk_transform_point(X, kk_vec3_scale(kk_vec3_add(a->lower, a->upper), 0.5));
    const kk_vec3 h = kk_vec3_scale(kk_vec3_sub(a->upper, a->lower), 0.5);
    double e[3];
    for (int k = 0; k < 3; k++) {
        e[k] = __builtin_fabs(X.R.m[3 * k]) * h.x + __builtin_fabs(X.R.m[3 * k + 1]) * h.y +
               __builtin_fabs(X.R.m[3 * k + 2]) * h.z;
    }
    return (kki_aabb){{c.x - e[0], c.y - e[1], c.z - e[2]}, {c.x + e[0], c.y + e[1], c.z + e[2]}};
}

#endif
