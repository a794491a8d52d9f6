// Rays against shapes and scenes.
//
// A hit is the first crossing of the surface at 0 ≤ t ≤ limit, from either side, at origin + t · direction; the direction
// need not be of unit length. Its normal points out of a solid; that of a sheet (open mesh) points against the ray. Rays
// that start inside a solid therefore see its wall from within, and is_inside says so.
//
// Margins are exact, and ignored for polytopes known by planes alone.
#ifndef KKI_COLLISION_RAY_H
#define KKI_COLLISION_RAY_H

#include "geometry/height_field.h"
#include "geometry/surface.h"

typedef struct kki_ray {
    kk_vec3 origin, direction;
    double limit; ///< greatest t; may be infinite
} kki_ray;

typedef struct kki_ray_hit {
    double t;
    kk_vec3 normal;
    int32_t feature; ///< face of a mesh or height field (−1 for its walls); plane of a polytope; 0 for others
    bool is_inside;  ///< the ray was inside the solid before the hit
} kki_ray_hit;

/// The half space n · x ≤ d.
typedef struct kki_plane {
    kk_vec3 normal;
    double d;
} kki_plane;

/// A ray in the shape's frame against each kind of shape. False where it misses.
bool kki_ray_cast_plane(double margin, const kki_ray *ray, kki_ray_hit *hit);
bool kki_ray_cast_sphere(double radius, const kki_ray *ray, kki_ray_hit *hit);
bool kki_ray_cast_capsule(double radius, double half, const kki_ray *ray, kki_ray_hit *hit);
bool kki_ray_cast_cylinder(double radius, double half, const kki_ray *ray, kki_ray_hit *hit);
bool kki_ray_cast_cone(double radius, double half, const kki_ray *ray, kki_ray_hit *hit);
bool kki_ray_cast_ellipsoid(const double radius[3], const kki_ray *ray, kki_ray_hit *hit);
bool kki_ray_cast_box(const double half[3], double margin, const kki_ray *ray, kki_ray_hit *hit);
/// A polytope of half spaces, without margin.
bool kki_ray_cast_planes(const kki_plane *plane, int count, const kki_ray *ray, kki_ray_hit *hit);
/// A convex polyhedron, without margin.
bool kki_ray_cast_convex(const kki_convex *convex, const kki_ray *ray, kki_ray_hit *hit);
/// Any convex shape with its margin, by its distance: what the others have no equation for.
bool kki_ray_cast_round(const kki_shape *shape, const kki_ray *ray, kki_ray_hit *hit);
bool kki_ray_cast_surface(const kki_surface *surface, const kki_ray *ray, kki_ray_hit *hit);
/// A mesh with a margin: all places no farther than that from a triangle, and the inside of a solid.
bool kki_ray_cast_thick_surface(const kki_surface *surface, double margin, const kki_ray *ray, kki_ray_hit *hit);
/// The stretch of t in a triangle with a margin, and the normals at both ends; n is the unit normal, 0 for a triangle
/// without area.
bool kki_ray_through_triangle(const kk_vec3 corner[3], kk_vec3 n, double margin, const kki_ray *ray, double t[2],
                              kk_vec3 normal[2]);
bool kki_ray_cast_height_field(const kki_height_field *field, const kki_ray *ray, kki_ray_hit *hit);
/// A height field with a margin, walls and base included.
bool kki_ray_cast_thick_field(const kki_height_field *field, double margin, const kki_ray *ray, kki_ray_hit *hit);

/// A ray in the world against a placed shape.
typedef struct kki_placed_shape {
    const kki_shape *shape;
    kk_transform X_WS;
    const kki_plane *plane; ///< [plane_count] of a hull by planes alone, in its frame; NULL for others
    int plane_count;
    kki_aabb box; ///< in the world, filled by kki_ray_scene_create
} kki_placed_shape;

bool kki_ray_cast_placed(const kki_placed_shape *placed, const kki_ray *ray, kki_ray_hit *hit);

/// Placed shapes with a tree over their boxes, for many rays.
typedef struct kki_ray_scene kki_ray_scene;

/// @param box  [count] boxes of the shapes in the world; infinite for planes
kk_status kki_ray_scene_create(const kki_placed_shape *shape, const kki_aabb *box, int32_t count,
                               const kk_allocator *allocator, kki_ray_scene **scene, kk_error *error);
void kki_ray_scene_free(kki_ray_scene *scene);

/// Nearest hit of each ray; ties go to the lowest shape.
/// @param hit    [count]
/// @param shape  [count] index of the shape hit, −1 for none
void kki_ray_scene_cast(const kki_ray_scene *scene, const kki_ray *ray, int32_t count, kki_ray_hit *hit,
                        int32_t *shape);

#endif
