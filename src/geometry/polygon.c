// Polygons of three and more corners into triangles.
//
// The plane is that of Newell's normal (Sutherland, Sproull, Schumacker 1974), which is twice the area vector of any
// closed polygon, plane or not. Convex ones become a fan; others lose one ear after another: a corner that turns left
// and whose triangle holds no other corner (Meisters 1975). A simple polygon always has two; where rounding or a crossing
// leaves none, the rest becomes a fan.
#include "geometry/mesh.h"

typedef struct polygon {
    const kk_vec3 *vertex;
    const int32_t *corner;
    kk_vec3 normal;
} polygon;

static kk_vec3 place(const polygon *p, int32_t position) {
    return p->vertex[p->corner[position]];
}

static kk_vec3 newell_normal(const polygon *p, int count) {
    const kk_vec3 origin = place(p, 0);
    kk_vec3 normal = {0, 0, 0};
    for (int i = 1; i + 1 < count; i++) {
        const kk_vec3 u = kk_vec3_sub(place(p, i), origin), v = kk_vec3_sub(place(p, i + 1), origin);
        normal = kk_vec3_add(normal, kk_vec3_cross(u, v));
    }
    return normal;
}

// area of a triangle seen along the normal: positive for a left turn
static double turn(const polygon *p, int32_t a, int32_t b, int32_t c) {
    const kk_vec3 u = kk_vec3_sub(place(p, b), place(p, a)), v = kk_vec3_sub(place(p, c), place(p, a));
    return kk_vec3_dot(kk_vec3_cross(u, v), p->normal);
}

// no corner turns right, and no fan triangle is turned over
static bool is_convex(const polygon *p, int count) {
    for (int i = 0; i < count; i++) {
        if (turn(p, i, (i + 1) % count, (i + 2) % count) < 0 || (i > 1 && turn(p, 0, i - 1, i) < 0)) {
            return false;
        }
    }
    return true;
}

static bool is_inside(const polygon *p, int32_t a, int32_t b, int32_t c, int32_t x) {
    return turn(p, a, b, x) >= 0 && turn(p, b, c, x) >= 0 && turn(p, c, a, x) >= 0;
}

static bool is_same_place(const polygon *p, int32_t a, int32_t b) {
    return p->corner[a] == p->corner[b];
}

static bool is_ear(const polygon *p, const int32_t *left, int count, int i) {
    const int32_t a = left[(i + count - 1) % count], b = left[i], c = left[(i + 1) % count];
    if (turn(p, a, b, c) <= 0) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        const int32_t x = left[k];
        const bool is_corner = is_same_place(p, x, a) || is_same_place(p, x, b) || is_same_place(p, x, c);
        if (!is_corner && is_inside(p, a, b, c, x)) {
            return false;
        }
    }
    return true;
}

// the first ear, -1 where there is none
static int find_ear(const polygon *p, const int32_t *left, int count) {
    for (int i = 0; i < count; i++) {
        if (is_ear(p, left, count, i)) {
            return i;
        }
    }
    return -1;
}

static void cut_ears(const polygon *p, int32_t *left, int count, kki_face *triangle) {
    int i = find_ear(p, left, count);
    for (; count > 3 && i >= 0; i = find_ear(p, left, count)) {
        *triangle++ = (kki_face){{left[(i + count - 1) % count], left[i], left[(i + 1) % count]}};
        for (int k = i; k + 1 < count; k++) {
            left[k] = left[k + 1];
        }
        count--;
    }
    for (int k = 2; k < count; k++) {
        *triangle++ = (kki_face){{left[0], left[k - 1], left[k]}};
    }
}

void kki_triangulate(const kk_vec3 *vertex, const int32_t *corner, int count, int32_t *left, kki_face *triangle) {
    polygon p = {vertex, corner, {0, 0, 0}};
    p.normal = newell_normal(&p, count);
    if (count <= 3 || is_convex(&p, count)) {
        for (int i = 2; i < count; i++) {
            triangle[i - 2] = (kki_face){{0, i - 1, i}};
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        left[i] = i;
    }
    cut_ears(&p, left, count, triangle);
}
