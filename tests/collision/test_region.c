// The common body of two overlapping polyhedra: closed forms of boxes, and a body cut in two whose parts make it up.
#include "collision/region.h"

#include <math.h>

#include "bodies.h"

static kki_shape box(double x, double y, double z) {
    return (kki_shape){.type = KK_SHAPE_BOX, .half = {x, y, z}};
}

KK_TEST(common_part_of_boxes) {
    const kki_shape a = box(1, 1, 1), b = box(0.5, 2, 1);
    const kk_transform I = kk_transform_identity(), X = kk_transform_translation(1.25, 0.5, 1.5);
    kki_region r;
    KK_CHECK(kki_region_find(&a, &I, &b, &X, kk_vec3_make(0, 0, 1), &r));
    KK_CHECK_NEAR(r.volume, 0.25 * 2 * 0.5, 1e-15);
    KK_CHECK_NEAR(r.area, 0.25 * 2, 1e-15);
    KK_CHECK_NEAR(r.surface, 2 * (0.25 * 2 + 0.25 * 0.5 + 2 * 0.5), 1e-14);
    KK_CHECK_NEAR(r.centroid.x, 0.875, 1e-15);
    KK_CHECK_NEAR(r.centroid.y, 0, 1e-15);
    KK_CHECK_NEAR(r.centroid.z, 0.75, 1e-15);
    // the same box twice: every face lies on its twin
    KK_CHECK(kki_region_find(&a, &X, &a, &X, kk_vec3_make(1, 0, 0), &r));
    KK_CHECK_NEAR(r.volume, 8, 1e-13);
    KK_CHECK_NEAR(r.area, 4, 1e-13);
    const kk_transform far = kk_transform_translation(5, 0, 0);
    KK_CHECK(kki_region_find(&a, &I, &b, &far, kk_vec3_make(1, 0, 0), &r));
    KK_CHECK(r.volume == 0 && r.area == 0 && r.surface == 0);
}

// a hull wholly inside a box is the hull; cut by a plane, its parts add up
KK_TEST(parts_of_a_hull_make_it_up) {
    kk_random random = {51, 0, 0};
    const kki_shape large = box(10, 10, 10);
    for (int i = 0; i < 100; i++) {
        kki_convex *convex = bodies_hull(&random, 8 + i);
        const kki_shape hull = {.type = KK_SHAPE_HULL, .convex = convex};
        const kk_transform X = bodies_pose(&random, 3), I = kk_transform_identity();
        const kk_vec3 n = bodies_unit(&random);
        kki_region whole, part[2];
        KK_CHECK(kki_region_find(&hull, &X, &large, &I, n, &whole));
        KK_CHECK_NEAR(kk_vec3_norm(kk_vec3_sub(whole.centroid, kk_transform_point(X, convex->centroid))), 0, 1e-12);
        // two large boxes that meet in a plane through the hull
        const kk_mat3 R = bodies_rotation(&random);
        const kk_vec3 z = kk_mat3_column(R, 2), through = kk_transform_point(X, convex->centroid);
        for (int k = 0; k < 2; k++) {
            const kk_transform half = {R, kk_vec3_add(through, kk_vec3_scale(z, k ? 10 : -10))};
            KK_CHECK(k ? kki_region_find(&hull, &X, &large, &half, n, &part[k])
                       : kki_region_find(&large, &half, &hull, &X, n, &part[k]));
        }
        KK_CHECK_NEAR(part[0].volume + part[1].volume, whole.volume, 1e-12);
        const kk_vec3 sum = kk_vec3_add(kk_vec3_scale(part[0].centroid, part[0].volume),
                                        kk_vec3_scale(part[1].centroid, part[1].volume));
        KK_CHECK_NEAR(kk_vec3_norm(kk_vec3_sub(sum, kk_vec3_scale(whole.centroid, whole.volume))), 0, 1e-11);
        // both have the cut as a face
        kki_region along;
        const kk_transform half = {R, kk_vec3_add(through, kk_vec3_scale(z, -10))};
        KK_CHECK(kki_region_find(&hull, &X, &large, &half, z, &along));
        KK_CHECK(part[0].surface + part[1].surface > whole.surface && along.area <= 0.5 * along.surface);
        kki_convex_free(convex);
    }
}
