/// Small vectors of floats for drawing.
#ifndef KARAKURI_CLI_RENDER_VECTOR_H
#define KARAKURI_CLI_RENDER_VECTOR_H

#include <karakuri/math.h>

typedef struct v3 {
    float x, y, z;
} v3;

static inline v3 v3_make(float x, float y, float z) {
    return (v3){x, y, z};
}
static inline v3 v3_from(kk_vec3 a) {
    return (v3){(float)a.x, (float)a.y, (float)a.z};
}
static inline kk_vec3 v3_to(v3 a) {
    return kk_vec3_make((double)a.x, (double)a.y, (double)a.z);
}
static inline v3 v3_add(v3 a, v3 b) {
    return (v3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline v3 v3_sub(v3 a, v3 b) {
    return (v3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline v3 v3_scale(v3 a, float s) {
    return (v3){a.x * s, a.y * s, a.z * s};
}
/// a + s b
static inline v3 v3_along(v3 a, float s, v3 b) {
    return (v3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline v3 v3_mul(v3 a, v3 b) {
    return (v3){a.x * b.x, a.y * b.y, a.z * b.z};
}
static inline float v3_dot(v3 a, v3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline v3 v3_cross(v3 a, v3 b) {
    return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// One instruction on every machine we draw on; exactly rounded, so pictures are the same everywhere.
static inline float f_sqrt(float x) {
    return __builtin_sqrtf(x);
}
static inline float v3_norm(v3 a) {
    return f_sqrt(v3_dot(a, a));
}
static inline v3 v3_normalize(v3 a) {
    const float n = v3_norm(a);
    return n > 0 ? v3_scale(a, 1 / n) : v3_make(0, 0, 1);
}
static inline v3 v3_mix(v3 a, v3 b, float t) {
    return v3_along(a, t, v3_sub(b, a));
}
static inline float f_clamp(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}
static inline float f_min(float a, float b) {
    return a < b ? a : b;
}
static inline float f_max(float a, float b) {
    return a > b ? a : b;
}
/// Smooth step from 0 at `low` to 1 at `high`.
static inline float f_smooth(float low, float high, float x) {
    const float t = f_clamp((x - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

/// Columns of a matrix and its translation: p ↦ x p.x + y p.y + z p.z + o.
typedef struct affine {
    v3 x, y, z, o;
} affine;

static inline v3 affine_point(const affine *a, v3 p) {
    return v3_along(v3_along(v3_along(a->o, p.x, a->x), p.y, a->y), p.z, a->z);
}
static inline v3 affine_vector(const affine *a, v3 p) {
    return v3_along(v3_along(v3_scale(a->x, p.x), p.y, a->y), p.z, a->z);
}
static inline affine affine_from(kk_transform X) {
    const double *m = X.R.m;
    return (affine){v3_make((float)m[0], (float)m[3], (float)m[6]), v3_make((float)m[1], (float)m[4], (float)m[7]),
                    v3_make((float)m[2], (float)m[5], (float)m[8]), v3_from(X.p)};
}
/// The same, its columns made longer.
static inline affine affine_scaled(affine a, v3 s) {
    return (affine){v3_scale(a.x, s.x), v3_scale(a.y, s.y), v3_scale(a.z, s.z), a.o};
}

#endif
