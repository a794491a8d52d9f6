// Every allocation of surfaces, height fields, broad phases and scenes of rays made to fail: an error, and no leak.
#include "collision/broad_phase.h"
#include "collision/ray.h"
#include "faulty.h"
#include "harness.h"
#include <karakuri/collision.h>
#include <karakuri/spec.h>

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

static kk_status make_geometry(const kk_allocator *allocator, kk_error *error) {
    static const int32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "mesh";
    mesh.vertex = VERTEX, mesh.vertex_count = 4;
    mesh.face = face, mesh.face_count = 4;
    kk_shape_def shape = kk_shape_def_default();
    shape.type = KK_SHAPE_MESH;
    kk_geometry *geometry = NULL;
    const kk_status status = kk_geometry_create(&shape, &mesh, NULL, allocator, &geometry, error);
    KK_CHECK((status == KK_OK) == (geometry != NULL));
    kk_geometry_free(geometry);
    return status;
}

static kk_status make_public_scene(const kk_allocator *allocator, kk_error *error) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_scene *scene = NULL;
    kk_shape_def shape = kk_shape_def_default();
    shape.type = KK_SHAPE_SPHERE;
    shape.size[0] = 1;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, NULL, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, NULL), KK_OK);
    const kk_status status = kk_scene_create(model, allocator, &scene, error);
    kk_scene_free(scene);
    kk_model_free(model);
    kk_spec_free(spec);
    return status;
}

KK_TEST(collision_objects_survive_failing_allocations) {
    kk_status (*const make[6])(const kk_allocator *, kk_error *) = {make_surface, make_field,    make_broad_phase,
                                                                    make_scene,   make_geometry, make_public_scene};
    for (int k = 0; k < 6; k++) {
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
