/// Projection into a picture: with the focal length f = height / (2 tan(field/2)) a point (x, y, −d) of the camera's frame stands at
///     (width/2 + f x/d, height/2 − f y/d);
/// in parallel projection f/d is height/extent.
#include <karakuri/elementary.h>
#include <karakuri/project.h>

static kk_vec3 unit(kk_vec3 a) {
    return kk_vec3_scale(a, 1 / kk_vec3_norm(a));
}

/// x to the right, y up, z towards the eye.
static kk_mat3 axes_of(kk_vec3 sight, kk_vec3 up) {
    const kk_vec3 z = kk_vec3_neg(unit(sight)), x = unit(kk_vec3_cross(up, z));
    return kk_mat3_from_columns(x, kk_vec3_cross(z, x), z);
}

kk_camera kk_camera_look_at(kk_vec3 eye, kk_vec3 target, kk_vec3 up, double field, double width, double height) {
    return (kk_camera){.pose = kk_transform_make(axes_of(kk_vec3_sub(target, eye), up), eye),
                       .field = field,
                       .width = width,
                       .height = height,
                       .near = 0.01};
}

kk_camera kk_camera_parallel(kk_vec3 center, kk_vec3 direction, kk_vec3 up, double extent, double width,
                             double height) {
    return (kk_camera){.pose = kk_transform_make(axes_of(direction, up), center),
                       .extent = extent,
                       .width = width,
                       .height = height};
}

static kk_vec3 seen_from(const kk_camera *c, kk_vec3 point) {
    return kk_mat3_tmul_vec(c->pose.R, kk_vec3_sub(point, c->pose.p));
}

/// Pixels a unit of tangent, or a meter.
static double focal_length(const kk_camera *c) {
    return c->field > 0 ? c->height / (2 * kk_tan(0.5 * c->field)) : c->height / c->extent;
}

static kk_vec3 on_picture(const kk_camera *c, kk_vec3 p) {
    const double scale = c->field > 0 ? focal_length(c) / -p.z : focal_length(c);
    return kk_vec3_make(0.5 * c->width + scale * p.x, 0.5 * c->height - scale * p.y, -p.z);
}

static int is_before(const kk_camera *c, kk_vec3 p) {
    return !(c->field > 0) || -p.z >= c->near;
}

kk_vec3 kk_project(const kk_camera *camera, kk_vec3 point) {
    const kk_vec3 p = seen_from(camera, point);
    const double nan = __builtin_nan("");
    return is_before(camera, p) ? on_picture(camera, p) : kk_vec3_make(nan, nan, nan);
}

int kk_project_line(const kk_camera *camera, kk_vec3 a, kk_vec3 b, kk_vec3 *end) {
    kk_vec3 p[2] = {seen_from(camera, a), seen_from(camera, b)};
    const int first = is_before(camera, p[0]), second = is_before(camera, p[1]);
    if (!first && !second) {
        return 0;
    }
    if (first != second) { // cut at the plane z = −near
        const double part = (-camera->near - p[0].z) / (p[1].z - p[0].z);
        const kk_vec3 cut = kk_vec3_add(p[0], kk_vec3_scale(kk_vec3_sub(p[1], p[0]), part));
        p[first ? 1 : 0] = cut;
    }
    end[0] = on_picture(camera, p[0]);
    end[1] = on_picture(camera, p[1]);
    return 1;
}

kk_vec3 kk_pixel_ray(const kk_camera *camera, double x, double y, kk_vec3 *origin) {
    const double scale = 1 / focal_length(camera);
    const kk_vec3 at = kk_vec3_make((x - 0.5 * camera->width) * scale, (0.5 * camera->height - y) * scale, 0);
    const int is_parallel = !(camera->field > 0);
    *origin = kk_transform_point(camera->pose, is_parallel ? at : kk_vec3_make(0, 0, 0));
    const kk_vec3 sight = kk_vec3_make(is_parallel ? 0 : at.x, is_parallel ? 0 : at.y, -1);
    return kk_mat3_mul_vec(camera->pose.R, unit(sight));
}
