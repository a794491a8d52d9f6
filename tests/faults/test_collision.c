// Every allocation of surfaces, height fields, broad phases and scenes of rays made to fail: an error, and no leak.
#include "collision/broad_phase.h"
#include "collision/ray.h"
#include "faulty.h"
#include "harness.h"

static const kk_vec3 VERTEX[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const kki_face FACE[4] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};

static kk_status make_surface(const kk_allocator *allocator, kk_error *error) {
    kki_mesh *mesh = NULL;
    kki_surface *surface = NULL;
    KK_CHECK_EQ_INT(kki_mesh_create(VERTEX, 4, FACE, 4, NULL, &mesh, NULL), KK_OK);
    const kk_status status = kki_surface_create(mesh, allocator, &surface, error);
    KK_CHECK((status == KK_OK) == (surface != NULL));
    kki_surface_free(surface);
    kki_mesh_free(mesh);
    return status;
}

static kk_status make_field(const kk_allocator *allocator, kk_error *error) {
    const double height[4] = {0, 1, 2, 3};
    kki_height_field *field = NULL;
    const kk_status status = kki_height_field_create(2, 2, 1, 1, height, -1, allocator, &field, error);
    kki_height_field_free(field);
    return status;
}

static kk_status make_broad_phase(const kk_allocator *allocator, kk_error *error) {
    const kki_broad_phase_def def = {.capacity = 10, .pair_capacity = 10};
    kki_broad_phase *b = NULL;
    const kk_status status = kki_broad_phase_create(&def, allocator, &b, error);
    kki_broad_phase_free(b);
    return status;
}

static kk_status make_scene(const kk_allocator *allocator, kk_error *error) {
    const kki_shape ball = {.type = KK_SHAPE_SPHERE, .half = {1}};
    const kki_placed_shape placed = {.shape = &ball, .X_WS = kk_transform_identity()};
    const kki_aabb box = {{-1, -1, -1}, {1, 1, 1}};
    kki_ray_scene *scene = NULL;
    const kk_status status = kki_ray_scene_create(&placed, &box, 1, allocator, &scene, error);
    kki_ray_scene_free(scene);
    return status;
}

KK_TEST(collision_objects_survive_failing_allocations) {
    kk_status (*const make[4])(const kk_allocator *, kk_error *) = {make_surface, make_field, make_broad_phase,
                                                                    make_scene};
    for (int k = 0; k < 4; k++) {
        faulty count = {.fail_at = -1};
        const kk_allocator all = faulty_allocator(&count);
        KK_CHECK_EQ_INT(make[k](&all, NULL), KK_OK);
        KK_CHECK(count.calls > 0 && count.blocks == 0 && count.bytes == 0);
        for (int i = 0; i < count.calls; i++) {
            faulty f = {.fail_at = i};
            const kk_allocator allocator = faulty_allocator(&f);
            kk_error error = {0};
            KK_CHECK_EQ_INT(make[k](&allocator, &error), KK_OUT_OF_MEMORY);
            KK_CHECK(error.text[0] != 0 && f.blocks == 0 && f.bytes == 0);
        }
    }
}
