/// Where we look from.
#ifndef KARAKURI_CLI_RENDER_CAMERA_H
#define KARAKURI_CLI_RENDER_CAMERA_H

#include "vector.h"

typedef struct camera {
    v3 eye, right, up, forward;
    float slope_x, slope_y; ///< tangents of half the angles of view
} camera;

/// @param azimuth, elevation  of the eye as seen from what it looks at, degrees; azimuth from x towards y
/// @param view                angle from the lower edge to the upper one, degrees
camera camera_turned(double azimuth, double elevation, double view, double aspect);
/// Moves the eye so that all points are seen, with a margin: 0.1 leaves a tenth free on each side.
/// @param point  [count]
void camera_frame(camera *c, const v3 *point, int count, float margin);
/// Moves the eye to look at a point from a distance.
void camera_aim(camera *c, v3 target, float distance);
/// The direction through a place on the screen, −1 … 1, x to the right, y up; not of unit length: 1 along forward.
static inline v3 camera_ray(const camera *c, float x, float y) {
    return v3_along(v3_along(c->forward, x * c->slope_x, c->right), y * c->slope_y, c->up);
}

#endif
