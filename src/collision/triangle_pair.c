// Products of edges that part two triangles. Of triangles whose boxes and planes meet more than half are parted so, and
// need not be looked at closely. Floats are enough: lengths are measured from a corner, and a slack of 5e-6 of all of
// them is more than rounding can do to an axis of edges that cross by a tenth of a right angle or so.
#include "collision/triangle_pair.h"

#include "geometry/tree.h"

typedef struct corners {
    float x[3], y[3], z[3];
    double reach; // sum of all coordinates, absolute
} corners;

static inline corners seen_from(const kk_vec3 v[3], kk_vec3 o) {
    corners c = {.reach = 0};
    for (int k = 0; k < 3; k++) {
        const kk_vec3 r = kk_vec3_sub(v[k], o);
        c.x[k] = (float)r.x, c.y[k] = (float)r.y, c.z[k] = (float)r.z;
        c.reach += __builtin_fabs(r.x) + __builtin_fabs(r.y) + __builtin_fabs(r.z);
    }
    return c;
}

// The edges of a triangle, the last one twice.
static inline kki_float4 edges_of(const float p[3]) {
    return (kki_float4){p[1] - p[0], p[2] - p[1], p[0] - p[2], p[0] - p[2]};
}

typedef struct range {
    kki_float4 low, high;
} range;

// What a triangle spans along four directions.
static inline range range_along(const corners *v, const kki_float4 c[3]) {
    range r;
    r.low = r.high = c[0] * v->x[0] + c[1] * v->y[0] + c[2] * v->z[0];
    for (int k = 1; k < 3; k++) {
        const kki_float4 h = c[0] * v->x[k] + c[1] * v->y[k] + c[2] * v->z[k];
        r.low = kki_float4_min(h, r.low);
        r.high = kki_float4_max(h, r.high);
    }
    return r;
}

bool kki_edges_part(const kk_vec3 a[3], const kk_vec3 b[3], double limit) {
    const corners p = seen_from(a, a[0]), q = seen_from(b, a[0]);
    const kki_float4 u[3] = {edges_of(q.x), edges_of(q.y), edges_of(q.z)};
    const kki_float4 uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    const float far = (float)(limit + 5e-6 * (p.reach + q.reach));
    kki_mask4 part = {0, 0, 0, 0};
    for (int k = 0; k < 3; k++) {
        const int n = k < 2 ? k + 1 : 0;
        const float e[3] = {p.x[n] - p.x[k], p.y[n] - p.y[k], p.z[n] - p.z[k]};
        const kki_float4 c[3] = {u[1] * e[2] - u[2] * e[1], u[2] * e[0] - u[0] * e[2], u[0] * e[1] - u[1] * e[0]};
        const kki_float4 cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
        const range s = range_along(&p, c), t = range_along(&q, c);
        const kki_float4 apart = kki_float4_max(t.low - s.high, s.low - t.high);
        const float ee = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        part |= (apart > 0.0f) & (apart * apart > far * far * cc) & (cc > 0.01f * ee * uu);
    }
    return kki_mask4_bits(part) != 0;
}
