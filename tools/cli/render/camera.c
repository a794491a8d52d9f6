// The eye; see camera.h.
#include "camera.h"

camera camera_turned(double azimuth, double elevation, double view, double aspect) {
    double sa, ca, se, ce;
    kk_sincos(azimuth * KK_PI / 180, &sa, &ca);
    kk_sincos(elevation * KK_PI / 180, &se, &ce);
    camera c = {0};
    c.forward = v3_make((float)(-ca * ce), (float)(-sa * ce), (float)-se);
    c.right = v3_make((float)-sa, (float)ca, 0);
    c.up = v3_cross(c.right, c.forward);
    c.slope_y = (float)kk_tan(view * KK_PI / 360);
    c.slope_x = c.slope_y * (float)aspect;
    return c;
}

// In the camera's axes a point (x, y, z), z towards the eye, is seen from (cx, cy, D) where |x − cx| ≤ (D − z) s: so
// cx + D s ≥ max(x + z s) and cx − D s ≤ min(x − z s), and likewise for y. Equality in the tighter pair gives D.
static void bound(const camera *c, const v3 *point, int count, v3 axis, float slope, float *center, float *distance) {
    float most = 0, least = 0;
    for (int i = 0; i < count; i++) {
        const float x = v3_dot(point[i], axis), z = -v3_dot(point[i], c->forward);
        most = i && x + z * slope < most ? most : x + z * slope;
        least = i && x - z * slope > least ? least : x - z * slope;
    }
    *center = (most + least) / 2;
    *distance = (most - least) / (2 * slope);
}

void camera_frame(camera *c, const v3 *point, int count, float margin) {
    float x, y, across, upright;
    bound(c, point, count, c->right, c->slope_x * (1 - 2 * margin), &x, &across);
    bound(c, point, count, c->up, c->slope_y * (1 - 2 * margin), &y, &upright);
    const float distance = f_max(f_max(across, upright), 1e-3f);
    c->eye = v3_along(v3_along(v3_scale(c->right, x), y, c->up), -distance, c->forward);
}

void camera_aim(camera *c, v3 target, float distance) {
    c->eye = v3_along(target, -distance, c->forward);
}
