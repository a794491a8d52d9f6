/// Convex cores: every convex shape is a core thickened by a ball, and a core answers one question, which of its points
/// is farthest along d.
///
/// Sphere and capsule have a point and a segment as cores, so their round parts and all margins are exact: distances of
/// cores minus the radii. A core lives in its own frame C.
#ifndef KKI_COLLISION_SUPPORT_H
#define KKI_COLLISION_SUPPORT_H

#include "geometry/convex.h"
#include "geometry/height_field.h"
#include "geometry/surface.h"

typedef enum kki_core_type {
    KKI_CORE_POINT,
    KKI_CORE_SEGMENT,  ///< half length half[2] along z
    KKI_CORE_CYLINDER, ///< half[0] radius, half[2] half length
    KKI_CORE_CONE,     ///< the same
    KKI_CORE_ELLIPSOID,
    KKI_CORE_BOX,
    KKI_CORE_HULL,
    KKI_CORE_TRIANGLE, ///< corner[3]
    KKI_CORE_SURFACE,  ///< of a mesh, as far as it is convex: what climbing from a vertex comes to. Only in pairs
    KKI_CORE_FIELD,    ///< of a height field, likewise; only as A, beside a mesh
} kki_core_type;

typedef struct kki_core {
    kki_core_type type;
    double half[3];
    double radius; ///< of the ball around the core
    double extent; ///< largest distance of the core's points from the origin of its frame
    const kki_convex *convex;
    const kk_vec3 *corner; ///< [3] of a triangle
    const kki_surface *surface;
    const kki_height_field *field;
    int32_t seed;  ///< vertex to start a climb from
    double enough; ///< of a pair's A: a climb may end where the difference reaches so far
} kki_core;

/// Of one climb over a mesh: far sides of fine meshes are not gone to, they have no part in a small overlap.
enum { KKI_CLIMB_STEPS = 24 };

/// Corners of a small hull B in A's frame: turned once instead of at every question.
enum { KKI_SMALL_HULL = 16 };
typedef struct kki_small_hull {
    _Alignas(16) double x[KKI_SMALL_HULL], y[KKI_SMALL_HULL], z[KKI_SMALL_HULL];
} kki_small_hull;

/// Two cores and where they lie: everything in A's frame.
typedef struct kki_core_pair {
    kki_core a, b;
    kk_transform X_AB;
    const kki_small_hull *small; ///< of two small hulls, where the caller has room for B's corners; else NULL
    double size;                 ///< bound of |a − b| over both cores: what rounding errors are measured by
} kki_core_pair;

/// The core of a convex shape (not of planes, meshes, height fields).
void kki_core_set(kki_core *core, const kki_shape *shape);
static inline kki_core kki_core_of(const kki_shape *shape) {
    kki_core core;
    kki_core_set(&core, shape);
    return core;
}
/// A triangle with a ball around it; the corners are not copied.
kki_core kki_core_triangle(const kk_vec3 corner[3], double radius);
/// The part of a mesh around a vertex, taken for convex.
kki_core kki_core_surface(const kki_surface *surface, int32_t seed);
/// The same of a height field.
kki_core kki_core_field(const kki_height_field *field, int32_t seed);
/// Radius of the body with its ball, wherever its frame is: the measure of slack.
double kki_core_outer(const kki_core *core);
kki_core_pair kki_core_pair_make(const kki_core *a, const kki_core *b, const kk_transform *X_AB);
/// The cores of two convex shapes in the world.
void kki_core_pair_of(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                      kki_core_pair *pair);
/// Where the cores of a pair lie in the world.
void kki_core_pair_place(kki_core_pair *pair, const kk_transform *X_WA, const kk_transform *X_WB);
/// Fills `small` for a pair of small hulls.
void kki_core_pair_turn_corners(kki_core_pair *pair, kki_small_hull *small);
static inline int kki_core_is_polyhedral(const kki_core *core) {
    return core->type != KKI_CORE_CYLINDER && core->type != KKI_CORE_CONE && core->type != KKI_CORE_ELLIPSOID;
}
/// Corner `id` of a polyhedral core, as kki_core_support numbers them.
kk_vec3 kki_core_corner(const kki_core *core, int id);

kk_vec3 kki_core_support_curved(const kki_core *core, kk_vec3 d);

/// Farthest point along d, any length; *id is its number where the core is polyhedral and the place to start from when it
/// comes in, −1 for none.
static inline kk_vec3 kki_core_support(const kki_core *core, kk_vec3 d, int *id) {
    switch (core->type) {
    case KKI_CORE_POINT: *id = 0; return kk_vec3_make(0, 0, 0);
    case KKI_CORE_SEGMENT: *id = d.z < 0; return kk_vec3_make(0, 0, d.z < 0 ? -core->half[2] : core->half[2]);
    case KKI_CORE_BOX:
        *id = (d.x < 0) + 2 * (d.y < 0) + 4 * (d.z < 0);
        return kk_vec3_make(d.x < 0 ? -core->half[0] : core->half[0], d.y < 0 ? -core->half[1] : core->half[1],
                            d.z < 0 ? -core->half[2] : core->half[2]);
    case KKI_CORE_HULL: *id = kki_convex_support(core->convex, d, *id); return core->convex->vertex[*id];
    case KKI_CORE_TRIANGLE: {
        const double s0 = kk_vec3_dot(core->corner[0], d), s1 = kk_vec3_dot(core->corner[1], d);
        const double s2 = kk_vec3_dot(core->corner[2], d);
        *id = s0 >= s1 ? (s0 >= s2 ? 0 : 2) : (s1 >= s2 ? 1 : 2);
        return core->corner[*id];
    }
    default: return kki_core_support_curved(core, d);
    }
}

/// A point of the difference A − B: w = a − b, with both.
typedef struct kki_difference {
    kk_vec3 w, a, b; ///< in A
    int32_t id[2];   ///< corners, where polyhedral
} kki_difference;

/// Two surfaces.
void kki_core_pair_climb(const kki_core_pair *pair, kk_vec3 d, kk_vec3 d_B, kki_difference *out);

/// Of two small hulls; the direction by its parts, which registers hold.
void kki_core_pair_support_small(const kki_core_pair *pair, double dx, double dy, double dz, kki_difference *out);
void kki_core_pair_support_other(const kki_core_pair *pair, kk_vec3 d, kki_difference *out);

/// The farthest point of A − B along d. out->id comes in as the hint.
static inline void kki_core_pair_support(const kki_core_pair *pair, kk_vec3 d, kki_difference *out) {
    if (pair->small) {
        kki_core_pair_support_small(pair, d.x, d.y, d.z, out);
    } else {
        kki_core_pair_support_other(pair, d, out);
    }
}

#endif
