// Signed distance of two convex shapes by a search over all directions: slow, independent of the library's collision
// code, and with its own proof.
//
// The signed distance is the largest over unit n of sep(n) = min over B of n·b − max over A of n·a. The sphere of
// directions is cut into triangles. With w any point of A − B, sep(n) ≤ −w·n for every n, and a linear function on a
// spherical triangle is at most its largest corner value, divided by the distance of the triangle's plane from the origin
// where that is positive. Of the points between two of the farthest points along the corners and the middle, that with
// the least such bound is taken: so a crease of sep, where the farthest point jumps, costs no more than its smooth parts.
// A guess of the best direction makes the search short; a wrong one cannot make it wrong.
#ifndef KK_TESTS_SUPPORT_DIRECTIONS_H
#define KK_TESTS_SUPPORT_DIRECTIONS_H

#include "geometry/shape.h"

typedef struct directions_answer {
    double lower, upper; // of the signed distance
    kk_vec3 normal;      // where `lower` is reached
} directions_answer;

/// sep(n) of two shapes, n in the world.
double directions_separation(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                             kk_vec3 n);

/// Smallest n · x over a shape.
double directions_lowest(const kki_shape *shape, const kk_transform *X, kk_vec3 n);

/// Until upper − lower ≤ tolerance; upper is infinite where that takes too many triangles.
directions_answer directions_search(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b,
                                    const kk_transform *X_WB, kk_vec3 guess, double tolerance);
/// The same of a triangle in the world and a shape.
directions_answer directions_search_triangle(const kk_vec3 corner[3], const kki_shape *b, const kk_transform *X_WB,
                                             kk_vec3 guess, double tolerance);

#endif
