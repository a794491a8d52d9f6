/// Distance and depth of two convex cores.
///
/// With C = A − B the set of differences a − b, the signed distance of A and B is the largest over unit n of
/// sep(n) = min over B of n·b − max over A of n·a = −(support of C along n): the distance of the origin from C outside,
/// minus that from its boundary inside. n points from A to B; moving B by −sep(n) n just separates them.
#ifndef KKI_COLLISION_GJK_H
#define KKI_COLLISION_GJK_H

#include "collision/manifold.h"
#include "collision/support.h"

enum { KKI_GJK_ITERATIONS = 128, KKI_EPA_ITERATIONS = 160 };

/// For `far`: no distance is too far.
#define KKI_ANY_DISTANCE 1e300

typedef struct kki_simplex {
    int count;
    kki_difference point[4];
    double weight[4]; ///< the closest point is Σ weight · point
} kki_simplex;

/// Of two cores, in A's frame.
typedef struct kki_core_distance {
    double distance; ///< signed
    double lower;    ///< sep(normal), where kki_gjk ended: the distance is proved to the difference
    kk_vec3 normal;  ///< unit, from A to B
    kk_vec3 on_a, on_b;
    int iterations;
} kki_core_distance;

typedef enum kki_gjk_end {
    KKI_GJK_APART,
    KKI_GJK_FAR,     ///< apart by more than asked for; the distance is a lower bound
    KKI_GJK_TOGETHER ///< overlap or touch: the simplex is where kki_epa starts
} kki_gjk_end;

/// Distance of the origin from A − B by the algorithm of Gilbert, Johnson and Keerthi (1988). The simplex comes in as the
/// start (count 0: `direction` is) and goes out as the end. Gives up where the distance is proved to exceed `far`.
kki_gjk_end kki_gjk(const kki_core_pair *pair, double far, kk_vec3 direction, kki_simplex *simplex,
                    kki_core_distance *result);

/// Depth of the origin in A − B by expanding a polytope from the simplex (van den Bergen 2001).
/// @return 0 where rounding ended it before the depth was proved; the answer still separates
int kki_epa(const kki_core_pair *pair, const kki_simplex *simplex, kki_core_distance *result);

/// Both, with the memory of the last call, which may be NULL; false where the distance exceeds `far`.
int kki_core_distance_find(const kki_core_pair *pair, double far, kki_pair_memory *memory, kki_core_distance *result);

/// Whether the distance is at most `most`; `memory` may be NULL.
int kki_core_within(const kki_core_pair *pair, double most, kki_pair_memory *memory);

/// Distance of two cores where there is a closed form: a point against all but hulls, two segments. 0: there is none.
int kki_core_closed_form(const kki_core *a, const kki_core *b, const kk_transform *X_AB, kki_core_distance *d);

/// sep(n) for a unit n in A.
double kki_core_separation(const kki_core_pair *pair, kk_vec3 n);

#endif
