// Public queries of two loose shapes.
#include "collision/query.h"

#include "base/allocator.h"
#include "base/error.h"
#include "base/missing.h"
#include "collision/region.h"
#include "model/model.h"
#include <karakuri/spec.h>

enum { ROOM = 64 };

// ---- geometry

static kk_status fill_spec(kk_spec *spec, const kk_shape_def *shape, const kk_mesh_def *mesh,
                           const kk_height_field_def *field, kk_error *error) {
    const bool needs_mesh = shape->type == KK_SHAPE_HULL || shape->type == KK_SHAPE_MESH;
    const bool needs_field = shape->type == KK_SHAPE_HEIGHT_FIELD;
    if ((needs_mesh && !mesh) || (needs_field && !field)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "geometry: a %s must be given with the shape",
                             needs_mesh ? "mesh" : "height field");
    }
    kk_shape_def own = kk_shape_def_default();
    own.type = shape->type;
    own.margin = shape->margin;
    for (int k = 0; k < 3; k++) {
        own.size[k] = shape->size[k];
    }
    kk_status status = needs_mesh ? kk_spec_add_mesh(spec, mesh, &own.mesh, error) : KK_OK;
    if (status == KK_OK && needs_field) {
        status = kk_spec_add_height_field(spec, field, &own.height_field, error);
    }
    return status ? status : kk_spec_add_shape(spec, &own, NULL, error);
}

static kk_status make_model(const kk_shape_def *shape, const kk_mesh_def *mesh, const kk_height_field_def *field,
                            const kk_allocator *allocator, kk_model **model, kk_error *error) {
    kk_spec *spec = NULL;
    kk_status status = kk_spec_create(allocator, &spec);
    if (status) {
        (void)kki_error_set(error, status, "geometry: out of memory");
        return status;
    }
    status = fill_spec(spec, shape, mesh, field, error);
    status = status ? status : kk_model_compile(spec, allocator, model, error);
    kk_spec_free(spec);
    return status;
}

kk_status kk_geometry_create(const kk_shape_def *shape, const kk_mesh_def *mesh,
                             const kk_height_field_def *height_field, const kk_allocator *allocator,
                             kk_geometry **geometry, kk_error *error) {
    if (kki_is_missing(shape, geometry)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    const kk_allocator own = kki_allocator_or_default(allocator);
    *geometry = NULL;
    kk_geometry *g = kki_allocate(&own, sizeof *g);
    if (!g) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "geometry: out of memory");
    }
    kk_model *model = NULL;
    const kk_status status = make_model(shape, mesh, height_field, &own, &model, error);
    if (status) {
        kki_release(&own, g, sizeof *g);
        return status;
    }
    *g = (kk_geometry){own, model, &model->shape[0].shape, model->shape[0].box};
    *geometry = g;
    return KK_OK;
}

void kk_geometry_free(kk_geometry *geometry) {
    if (geometry) {
        const kk_allocator own = geometry->allocator;
        kk_model_free(geometry->model);
        kki_release(&own, geometry, sizeof *geometry);
    }
}

// ---- pairs

kk_separation kki_public_separation(const kki_separation *s) {
    return (kk_separation){s->distance, s->normal, s->on_a, s->on_b};
}

kk_impact kki_public_impact(const kki_impact *i) {
    static const kk_impact_kind KIND[3] = {
        [KKI_IMPACT_NONE] = KK_IMPACT_NONE, [KKI_IMPACT_HIT] = KK_IMPACT_HIT, [KKI_IMPACT_UNSURE] = KK_IMPACT_UNSURE};
    return (kk_impact){KIND[i->kind], i->time, kki_public_separation(&i->at)};
}

static bool are_sane(const kk_placed *a, const kk_placed *b) {
    return kki_pose_is_sane(&a->pose) && kki_pose_is_sane(&b->pose);
}

kk_status kk_placed_separation(const kk_placed *a, const kk_placed *b, kk_separation *separation) {
    if (kki_is_missing(a, b, separation)) {
        return KK_INVALID_ARGUMENT;
    }
    kki_separation r;
    if (!are_sane(a, b)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_distance(a->geometry->shape, &a->pose, b->geometry->shape, &b->pose, NULL, &r)) {
        return KK_UNSUPPORTED;
    }
    *separation = kki_public_separation(&r);
    return KK_OK;
}

int kk_placed_overlap(const kk_placed *a, const kk_placed *b, double reach) {
    return are_sane(a, b) && kki_overlap(a->geometry->shape, &a->pose, b->geometry->shape, &b->pose, reach, NULL);
}

int kk_placed_manifolds(const kk_placed *a, const kk_placed *b, double reach, kk_manifold *manifold, int room) {
    kki_manifold own[ROOM];
    kki_pair_memory memory = {0};
    const int asked = room < ROOM ? room : ROOM;
    if (room <= 0 || !are_sane(a, b)) {
        return 0;
    }
    const int found =
        kki_collide(a->geometry->shape, &a->pose, b->geometry->shape, &b->pose, reach, &memory, own, asked);
    for (int i = 0; i < (found < 0 ? asked : found); i++) {
        kki_public_manifold(&own[i], &manifold[i]);
    }
    return found;
}

kk_status kk_placed_overlap_region(const kk_placed *a, const kk_placed *b, kk_overlap_region *region) {
    if (kki_is_missing(a, b, region)) {
        return KK_INVALID_ARGUMENT;
    }
    kki_separation r;
    kki_region common;
    if (!are_sane(a, b)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_distance(a->geometry->shape, &a->pose, b->geometry->shape, &b->pose, NULL, &r) ||
        !kki_region_find(a->geometry->shape, &a->pose, b->geometry->shape, &b->pose, r.normal, &common)) {
        return KK_UNSUPPORTED;
    }
    *region = (kk_overlap_region){common.volume, common.area, common.centroid};
    return KK_OK;
}

kk_status kk_placed_impact(const kk_placed *a, const kk_placed *b, double duration, kk_impact *impact) {
    if (kki_is_missing(a, b, impact)) {
        return KK_INVALID_ARGUMENT;
    }
    const kki_moving ma = kki_moving_of(a), mb = kki_moving_of(b);
    kki_impact r;
    if (!kki_impact_find(&ma, &mb, duration, 0, &r)) {
        return KK_UNSUPPORTED;
    }
    *impact = kki_public_impact(&r);
    return KK_OK;
}

kk_ray_hit kk_placed_ray(const kk_placed *a, const kk_ray *ray) {
    const kki_placed_shape placed = {.shape = a->geometry->shape, .X_WS = a->pose};
    const kki_ray own = {ray->origin, ray->direction, ray->limit};
    kki_ray_hit h;
    if (!kki_ray_cast_placed(&placed, &own, &h)) {
        return (kk_ray_hit){.shape = -1, .body = -1};
    }
    return kki_public_hit(ray->origin, ray->direction, &h, 0, -1);
}

// A mesh knows its nearest point and its inside.
static kk_status from_surface(const kk_placed *a, kk_vec3 point, kk_separation *r) {
    const kki_surface *s = a->geometry->shape->surface;
    const kk_vec3 p = kk_transform_point(kk_transform_inverse(a->pose), point);
    const kki_surface_point q = kki_surface_closest(s, p, 4 * KKI_SURFACE_FAR);
    if (q.face < 0) {
        return KK_UNSUPPORTED;
    }
    const double sign = q.is_inside ? -1 : 1;
    kk_vec3 n = kk_vec3_scale(kk_vec3_sub(p, q.p), sign);
    n = q.distance > 0 ? n : kki_surface_pseudo_normal(s, q.face, q.feature);
    n = kk_mat3_mul_vec(a->pose.R, kk_vec3_scale(n, 1 / kk_vec3_norm(n)));
    const double margin = a->geometry->shape->margin;
    r->distance = sign * q.distance - margin;
    r->normal = n;
    r->on_a = kk_vec3_add(kk_transform_point(a->pose, q.p), kk_vec3_scale(n, margin));
    r->on_b = point;
    return KK_OK;
}

kk_status kk_placed_point(const kk_placed *a, kk_vec3 point, kk_separation *separation) {
    if (kki_is_missing(a, separation)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_pose_is_sane(&a->pose) || !kki_vector_is_sane(point)) {
        return KK_INVALID_ARGUMENT;
    }
    if (a->geometry->shape->type == KK_SHAPE_MESH) {
        return from_surface(a, point, separation);
    }
    const kki_shape dot = {.type = KK_SHAPE_SPHERE};
    const kk_transform X = kk_transform_make(kk_mat3_identity(), point);
    kki_separation r;
    if (!kki_distance(a->geometry->shape, &a->pose, &dot, &X, NULL, &r)) {
        return KK_UNSUPPORTED;
    }
    *separation = kki_public_separation(&r);
    return KK_OK;
}
