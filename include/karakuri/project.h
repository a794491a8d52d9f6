/// Projection of points and lines of the world into a picture: what a small viewer needs beside any library that draws lines (the module `view` of Z-DYNAFORM, S2).
///
/// Pixels count from the upper left corner, x to the right, y down. A camera's frame has x to the right, y up and looks along −z.
#ifndef KARAKURI_PROJECT_H
#define KARAKURI_PROJECT_H

#include <karakuri/math.h>

KK_BEGIN_DECLS

typedef struct kk_camera {
    kk_transform pose;    ///< X_WC
    double field;         ///< rad, from the lower to the upper edge; 0: parallel projection
    double extent;        ///< parallel projection: m from the lower to the upper edge
    double width, height; ///< of the picture, pixels
    double near;          ///< m; what is nearer is not seen; > 0 with a field
} kk_camera;

/// A camera at `eye` that looks at `target`, `up` upwards in the picture, 0.01 m near.
/// @param field  rad, from the lower to the upper edge
KK_API kk_camera kk_camera_look_at(kk_vec3 eye, kk_vec3 target, kk_vec3 up, double field, double width, double height);
/// A camera of parallel projection that looks along `direction`, `center` in the middle of the picture, `extent` meters high.
KK_API kk_camera kk_camera_parallel(kk_vec3 center, kk_vec3 direction, kk_vec3 up, double extent, double width,
                                    double height);
/// x, y in pixels and z the distance along the line of sight. NaN for what is behind the camera, or nearer than `near`.
KK_API kk_vec3 kk_project(const kk_camera *camera, kk_vec3 point);
/// A straight line's ends likewise, cut off where it comes nearer than `near`. @return 1; 0 where nothing of it is seen before the camera
/// @param end [2] result
KK_API int kk_project_line(const kk_camera *camera, kk_vec3 a, kk_vec3 b, kk_vec3 *end);
/// The unit direction in the world in which a pixel looks, and where its line of sight begins: for picking with kk_scene_rays. @param origin  result
KK_API kk_vec3 kk_pixel_ray(const kk_camera *camera, double x, double y, kk_vec3 *origin);

KK_END_DECLS
#endif
