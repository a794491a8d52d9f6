// Volume, center and moments of inertia of shapes of uniform density.
#ifndef KARAKURI_GEOMETRY_MASS_H
#define KARAKURI_GEOMETRY_MASS_H

#include "geometry/mesh.h"

/// Of density 1. For shells the "volume" is the area, and the density one of area.
typedef struct kki_mass {
    double volume;
    kk_vec3 center;
    kk_sym3 moment; ///< about the center, along the shape's axes
} kki_mass;

kk_inertia kki_mass_with_density(kki_mass mass, double density);
kk_inertia kki_mass_with_mass(kki_mass mass, double kilograms);

/// Primitives, centered at the origin but for the cone; z is the axis of cylinder, capsule and cone.
kki_mass kki_mass_box(double size_x, double size_y, double size_z);
kki_mass kki_mass_sphere(double radius);
kki_mass kki_mass_ellipsoid(double radius_x, double radius_y, double radius_z);
kki_mass kki_mass_cylinder(double radius, double length);
/// `length` is that of the cylinder between the half spheres.
kki_mass kki_mass_capsule(double radius, double length);
/// Base at z = -length / 2, tip at +length / 2; the center is a quarter of the length above the base.
kki_mass kki_mass_cone(double radius, double length);

typedef enum kki_mass_mode {
    KKI_MASS_SOLID, ///< the inside of a closed surface; exact
    KKI_MASS_SHELL, ///< the surface itself; any mesh with an area
    KKI_MASS_HULL,  ///< the inside of the convex hull; any points that are not flat
    KKI_MASS_CONES, ///< the sum of the pyramids to each face, all taken positive, from their center as those from the
                    ///< area's center have it: an estimate for open meshes, and what MuJoCo calls legacy
} kki_mass_mode;

/// Mass properties of a mesh.
/// @param inside_out  true where the faces of a closed mesh look inwards (the result is positive all the same); may be
///                    NULL
/// @return KK_INVALID_MODEL with the counts where a solid is asked for and the mesh is open or turned in itself;
///         KK_SINGULAR for a flat or empty one; KK_NOT_FINITE where a result leaves the doubles
kk_status kki_mass_of_mesh(const kki_mesh *mesh, kki_mass_mode mode, const kk_allocator *allocator, kki_mass *mass,
                           bool *inside_out, kk_error *error);

#endif
