// Rays against placed shapes, and many rays against a scene.
#include "collision/ray.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"

struct kki_ray_scene {
    kk_allocator allocator;
    size_t block_size;
    int32_t count;
    kki_placed_shape *shape; // [count]
    kki_tree tree;
};

// with a margin, and without an equation for that
static bool is_rounded(const kki_placed_shape *placed) {
    const kki_shape *s = placed->shape;
    return s->margin > 0 && (s->type == KK_SHAPE_CYLINDER || s->type == KK_SHAPE_CONE ||
                             s->type == KK_SHAPE_ELLIPSOID || (s->type == KK_SHAPE_HULL && s->convex));
}

static bool cast_local(const kki_placed_shape *placed, const kki_ray *ray, kki_ray_hit *hit) {
    const kki_shape *s = placed->shape;
    if (is_rounded(placed)) {
        return kki_ray_cast_round(s, ray, hit);
    }
    switch ((kk_shape_type)s->type) {
    case KK_SHAPE_PLANE: return kki_ray_cast_plane(s->margin, ray, hit);
    case KK_SHAPE_SPHERE: return kki_ray_cast_sphere(s->half[0] + s->margin, ray, hit);
    case KK_SHAPE_CAPSULE: return kki_ray_cast_capsule(s->half[0] + s->margin, s->half[1], ray, hit);
    case KK_SHAPE_CYLINDER: return kki_ray_cast_cylinder(s->half[0], s->half[1], ray, hit);
    case KK_SHAPE_CONE: return kki_ray_cast_cone(s->half[0], s->half[1], ray, hit);
    case KK_SHAPE_ELLIPSOID: return kki_ray_cast_ellipsoid(s->half, ray, hit);
    case KK_SHAPE_BOX: return kki_ray_cast_box(s->half, s->margin, ray, hit);
    case KK_SHAPE_HULL:
        return placed->plane ? kki_ray_cast_planes(placed->plane, placed->plane_count, ray, hit)
                             : s->convex && kki_ray_cast_convex(s->convex, ray, hit);
    case KK_SHAPE_MESH:
        return s->margin > 0 ? kki_ray_cast_thick_surface(s->surface, s->margin, ray, hit)
                             : kki_ray_cast_surface(s->surface, ray, hit);
    case KK_SHAPE_HEIGHT_FIELD:
        return s->margin > 0 ? kki_ray_cast_thick_field(s->field, s->margin, ray, hit)
                             : kki_ray_cast_height_field(s->field, ray, hit);
    }
    return false;
}

bool kki_ray_cast_placed(const kki_placed_shape *placed, const kki_ray *ray, kki_ray_hit *hit) {
    const kk_transform *X = &placed->X_WS;
    const kki_ray local = {kk_mat3_tmul_vec(X->R, kk_vec3_sub(ray->origin, X->p)),
                           kk_mat3_tmul_vec(X->R, ray->direction), ray->limit};
    if (!cast_local(placed, &local, hit)) {
        return false;
    }
    hit->normal = kk_mat3_mul_vec(X->R, hit->normal);
    return true;
}

static void place_arrays(kki_layout *layout, kki_ray_scene *s) {
    KKI_LAYOUT_ARRAY(layout, s->shape, (size_t)s->count);
    KKI_LAYOUT_ARRAY(layout, s->tree.node, (size_t)kki_tree_most_nodes(s->count));
    KKI_LAYOUT_ARRAY(layout, s->tree.item, (size_t)s->count);
}

kk_status kki_ray_scene_create(const kki_placed_shape *shape, const kki_aabb *box, int32_t count,
                               const kk_allocator *allocator, kki_ray_scene **scene, kk_error *error) {
    kki_ray_scene s = {.allocator = kki_allocator_or_default(allocator), .count = count};
    kki_layout layout = kki_layout_over(NULL);
    *scene = NULL;
    kki_layout_take(&layout, 1, sizeof s);
    place_arrays(&layout, &s);
    s.block_size = layout.size;
    void *block = kki_allocate(&s.allocator, layout.size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "scene of rays: out of memory for %d shapes", (int)count);
    }
    layout = kki_layout_over(block);
    kki_layout_take(&layout, 1, sizeof s);
    place_arrays(&layout, &s);
    for (int32_t i = 0; i < count; i++) {
        s.shape[i] = shape[i];
        s.shape[i].box = box[i];
    }
    kki_tree_build(&s.tree, box, count, 1);
    *scene = memcpy(block, &s, sizeof s);
    return KK_OK;
}

void kki_ray_scene_free(kki_ray_scene *scene) {
    if (scene) {
        const kk_allocator allocator = scene->allocator;
        kki_release(&allocator, scene, scene->block_size);
    }
}

static int32_t cast_one(const kki_ray_scene *s, const kki_ray *ray, kki_ray_hit *hit) {
    kki_ray_walk walk;
    int32_t first, count, best = -1;
    kki_ray left = *ray;
    kki_ray_walk_begin(&walk, &s->tree, ray->origin, ray->direction, ray->limit);
    while (kki_ray_walk_next(&walk, left.limit, &first, &count)) {
        const int32_t i = s->tree.item[first];
        kki_ray_hit h;
        if (kki_ray_cast_placed(&s->shape[i], &left, &h) && (h.t < left.limit || best < 0 || i < best)) {
            left.limit = h.t;
            *hit = h;
            best = i;
        }
    }
    return best;
}

void kki_ray_scene_cast(const kki_ray_scene *scene, const kki_ray *ray, int32_t count, kki_ray_hit *hit,
                        int32_t *shape) {
    for (int32_t i = 0; i < count; i++) {
        hit[i] = (kki_ray_hit){.t = ray[i].limit};
        shape[i] = cast_one(scene, &ray[i], &hit[i]);
    }
}
