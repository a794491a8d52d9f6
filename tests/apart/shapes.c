// base, math, geometry and collision: distances between shapes, without any robot.
#include <karakuri/collision.h>

int main(void) {
    const kk_shape_def ball = {.type = KK_SHAPE_SPHERE, .size = {0.5}, .placement = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 0}}};
    kk_geometry *geometry = NULL;
    kk_separation separation;
    if (kk_geometry_create(&ball, NULL, NULL, NULL, &geometry, NULL) != KK_OK) {
        return 1;
    }
    const kk_placed a = {geometry, kk_transform_identity(), {{0, 0, 0}, {0, 0, 0}}};
    const kk_placed b = {geometry, kk_transform_translation(3, 0, 0), {{0, 0, 0}, {0, 0, 0}}};
    const int good = kk_placed_separation(&a, &b, &separation) == KK_OK && separation.distance > 1.999999 &&
                     separation.distance < 2.000001;
    kk_geometry_free(geometry);
    return !good;
}
