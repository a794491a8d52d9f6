// Projection: corners of the field by closed form, lines cut before the eye, rays that lead back.
#include <karakuri/project.h>
#include <math.h>

#include "harness.h"

static kk_vec3 v(double x, double y, double z) {
    return kk_vec3_make(x, y, z);
}

// 90° of field: at 3 m the picture is 6 m high
KK_TEST(project_by_closed_form) {
    const kk_camera c = kk_camera_look_at(v(3, 0, 1), v(0, 0, 1), v(0, 0, 1), KK_HALF_PI, 800, 600);
    kk_vec3 p = kk_project(&c, v(0, 0, 1));
    KK_CHECK_NEAR(p.x, 400, 1e-9);
    KK_CHECK_NEAR(p.y, 300, 1e-9);
    KK_CHECK_NEAR(p.z, 3, 1e-12);
    p = kk_project(&c, v(0, 4, 4)); // to the right, at the upper edge
    KK_CHECK_NEAR(p.x, 800, 1e-9);
    KK_CHECK_NEAR(p.y, 0, 1e-9);
    KK_CHECK(isnan(kk_project(&c, v(4, 0, 1)).x));
    const kk_camera map = kk_camera_parallel(v(1, 2, 0), v(0, 0, -1), v(0, 1, 0), 10, 500, 500);
    p = kk_project(&map, v(3, 1, 7));
    KK_CHECK_NEAR(p.x, 350, 1e-9);
    KK_CHECK_NEAR(p.y, 300, 1e-9);
}

KK_TEST(project_cuts_lines) {
    const kk_camera c = kk_camera_look_at(v(0, 0, 0), v(1, 0, 0), v(0, 0, 1), 1.2, 640, 480);
    kk_vec3 end[2];
    KK_CHECK_EQ_INT(kk_project_line(&c, v(2, 0, 0), v(-2, 1, 0), end), 1);
    KK_CHECK_NEAR(end[0].z, 2, 1e-12);
    KK_CHECK_NEAR(end[1].z, 0.01, 1e-12);
    KK_CHECK_EQ_INT(kk_project_line(&c, v(-1, 0, 0), v(-2, 1, 0), end), 0);
    KK_CHECK_EQ_INT(kk_project_line(&c, v(1, 0, 0), v(2, 1, 0), end), 1);
    KK_CHECK_NEAR(end[1].x, kk_project(&c, v(2, 1, 0)).x, 1e-9);
}

KK_TEST(pixels_look_back) {
    const kk_camera cameras[2] = {
        kk_camera_look_at(v(2, -3, 1.5), v(0.2, 0.1, 0.8), v(0, 0, 1), 0.9, 640, 480),
        kk_camera_parallel(v(0, 0, 1), v(1, 2, -0.5), v(0, 0, 1), 4, 640, 480),
    };
    for (int i = 0; i < 2; i++) {
        const kk_vec3 point = v(0.3, 0.4, 1.1), p = kk_project(&cameras[i], point);
        kk_vec3 origin;
        const kk_vec3 ray = kk_pixel_ray(&cameras[i], p.x, p.y, &origin);
        const kk_vec3 off = kk_vec3_cross(kk_vec3_sub(point, origin), ray);
        KK_CHECK(kk_vec3_norm(off) < 1e-12);
        KK_CHECK(kk_vec3_dot(kk_vec3_sub(point, origin), ray) > 0 || i == 1);
    }
}
