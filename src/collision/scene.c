// Public queries against the shapes of a model. A tree over the boxes of bounded shapes is made anew for each placing; planes
// stand beside it.
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/missing.h"
#include "collision/query.h"
#include "collision/scene.h"
#include "geometry/tree.h"
#include "model/model.h"

struct kk_scene {
    kk_allocator allocator;
    size_t block_size;
    const kk_model *model;
    int32_t bounded, planes;
    int32_t *shape;          // [bounded + planes] ids in the model, rising in both parts
    kki_placed_shape *place; // the same
    kki_aabb *box;           // [bounded] in the world
    kki_tree tree;
};

// ---- making

static bool is_plane(const kk_model *m, int32_t shape) {
    return m->shape[shape].shape.type == KK_SHAPE_PLANE;
}

static void count_shapes(const kk_model *m, kk_scene *s) {
    for (int32_t i = 0; i < m->ncollider; i++) {
        s->planes += is_plane(m, m->collider[i]);
    }
    s->bounded = m->ncollider - s->planes;
}

static void place_arrays(kki_layout *layout, kk_scene *s) {
    const size_t count = (size_t)s->bounded + (size_t)s->planes;
    KKI_LAYOUT_ARRAY(layout, s->shape, count);
    KKI_LAYOUT_ARRAY(layout, s->place, count);
    KKI_LAYOUT_ARRAY(layout, s->box, (size_t)s->bounded);
    KKI_LAYOUT_ARRAY(layout, s->tree.node, (size_t)kki_tree_most_nodes(s->bounded));
    KKI_LAYOUT_ARRAY(layout, s->tree.item, (size_t)s->bounded);
}

static void list_shapes(const kk_model *m, kk_scene *s) {
    int32_t bounded = 0, plane = s->bounded;
    for (int32_t i = 0; i < m->ncollider; i++) {
        const int32_t id = m->collider[i], k = is_plane(m, id) ? plane++ : bounded++;
        s->shape[k] = id;
        s->place[k] = (kki_placed_shape){.shape = &m->shape[id].shape, .X_WS = kk_transform_identity()};
    }
}

static void build_tree(kk_scene *s, const kk_model *m) {
    for (int32_t i = 0; i < s->bounded; i++) {
        s->box[i] = kki_aabb_transform(s->place[i].X_WS, &m->shape[s->shape[i]].box);
    }
    kki_tree_build(&s->tree, s->box, s->bounded, 1);
}

kk_status kk_scene_create(const kk_model *model, const kk_allocator *allocator, kk_scene **scene, kk_error *error) {
    if (kki_is_missing(model, scene)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_scene s = {.allocator = kki_allocator_or_default(allocator), .model = model};
    *scene = NULL;
    count_shapes(model, &s);
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof s);
    place_arrays(&layout, &s);
    s.block_size = layout.size;
    void *block = kki_allocate(&s.allocator, layout.size);
    if (!block) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "scene: out of memory for %d shapes", (int)model->ncollider);
    }
    layout = kki_layout_over(block);
    kki_layout_take(&layout, 1, sizeof s);
    place_arrays(&layout, &s);
    list_shapes(model, &s);
    build_tree(&s, model);
    *scene = memcpy(block, &s, sizeof s);
    return KK_OK;
}

void kk_scene_free(kk_scene *scene) {
    if (scene) {
        const kk_allocator allocator = scene->allocator;
        kki_release(&allocator, scene, scene->block_size);
    }
}

void kki_scene_place(kk_scene *scene, const kk_model *model, const kk_data *data) {
    for (int32_t i = 0; i < scene->bounded + scene->planes; i++) {
        const kki_model_shape *shape = &model->shape[scene->shape[i]];
        scene->place[i].shape = &shape->shape;
        scene->place[i].X_WS = kk_transform_mul(kk_body_pose(model, data, shape->body), shape->X_BS);
    }
    build_tree(scene, model);
}

void kk_scene_place(kk_scene *scene, const kk_data *data) {
    kki_scene_place(scene, scene->model, data);
}

// ---- rays

static void try_ray(const kk_scene *s, const unsigned char *is_skipped, int32_t i, kki_ray *left, kk_ray_hit *best) {
    kki_ray_hit h;
    if ((is_skipped && is_skipped[s->shape[i]]) || !kki_ray_cast_placed(&s->place[i], left, &h)) {
        return;
    }
    if (best->shape < 0 || h.t < best->distance || s->shape[i] < best->shape) {
        left->limit = h.t;
        *best = kki_public_hit(left->origin, left->direction, &h, s->shape[i], s->model->shape[s->shape[i]].body);
    }
}

void kki_scene_rays(const kk_scene *scene, const unsigned char *is_skipped, const kk_ray *ray, int count,
                    kk_ray_hit *hit) {
    for (int i = 0; i < count; i++) {
        kki_ray left = {ray[i].origin, ray[i].direction, ray[i].limit};
        hit[i] = (kk_ray_hit){.shape = -1, .body = -1};
        for (int32_t k = scene->bounded; k < scene->bounded + scene->planes; k++) {
            try_ray(scene, is_skipped, k, &left, &hit[i]);
        }
        kki_ray_walk walk;
        int32_t first, items;
        kki_ray_walk_begin(&walk, &scene->tree, left.origin, left.direction, left.limit);
        while (kki_ray_walk_next(&walk, left.limit, &first, &items)) {
            try_ray(scene, is_skipped, scene->tree.item[first], &left, &hit[i]);
        }
    }
}

void kk_scene_rays(const kk_scene *scene, const kk_ray *ray, int count, kk_ray_hit *hit) {
    kki_scene_rays(scene, NULL, ray, count, hit);
}

// ---- a loose shape

static bool is_within(const kk_scene *s, int32_t i, const kk_placed *p, double reach) {
    const kki_placed_shape *q = &s->place[i];
    return kki_overlap(q->shape, &q->X_WS, p->geometry->shape, &p->pose, reach, NULL);
}

// keeps the list rising while it fits
static int add_id(int *shape, int count, int room, int id) {
    int i = count < room ? count : room;
    for (; i > 0 && shape[i - 1] > id; i--) {
        if (i < room) {
            shape[i] = shape[i - 1];
        }
    }
    if (i < room) {
        shape[i] = id;
    }
    return count + 1;
}

int kk_scene_overlap(const kk_scene *scene, const kk_placed *placed, double reach, int *shape, int room) {
    int found = 0;
    if (!kki_pose_is_sane(&placed->pose)) {
        return 0;
    }
    const bool is_endless = placed->geometry->shape->type == KK_SHAPE_PLANE;
    const kki_aabb box = kki_aabb_grow(kki_aabb_transform(placed->pose, &placed->geometry->box), reach);
    for (int32_t i = 0; i < scene->bounded + scene->planes; i++) {
        const bool is_near = is_endless || i >= scene->bounded || kki_aabb_touch(&scene->box[i], &box);
        if (is_near && is_within(scene, i, placed, reach)) {
            found = add_id(shape, found, room, scene->shape[i]);
        }
    }
    return found;
}

// Lower bound of the distance of two boxes.
static double box_distance(const kki_aabb *a, const kki_aabb *b) {
    const double x = kki_greater(0, kki_greater(a->lower.x - b->upper.x, b->lower.x - a->upper.x));
    const double y = kki_greater(0, kki_greater(a->lower.y - b->upper.y, b->lower.y - a->upper.y));
    const double z = kki_greater(0, kki_greater(a->lower.z - b->upper.z, b->lower.z - a->upper.z));
    return kk_sqrt(x * x + y * y + z * z);
}

int kk_scene_nearest(const kk_scene *scene, const kk_placed *placed, kk_separation *separation) {
    const bool is_endless = placed->geometry->shape->type == KK_SHAPE_PLANE;
    const kki_aabb box = kki_aabb_transform(placed->pose, &placed->geometry->box);
    kki_separation best = {.distance = __builtin_inf()};
    int nearest = -1;
    if (!kki_pose_is_sane(&placed->pose)) {
        *separation = kki_public_separation(&best);
        return -1;
    }
    for (int32_t i = 0; i < scene->bounded + scene->planes; i++) {
        const kki_placed_shape *q = &scene->place[i];
        // boxes that overlap say nothing: the depth may be any
        const double bound = is_endless || i >= scene->bounded ? 0 : box_distance(&scene->box[i], &box) * (1 - 1e-12);
        kki_separation r;
        if ((bound == 0 || bound <= best.distance) &&
            kki_distance(q->shape, &q->X_WS, placed->geometry->shape, &placed->pose, NULL, &r) &&
            (r.distance < best.distance || (r.distance == best.distance && scene->shape[i] < nearest))) {
            best = r;
            nearest = scene->shape[i];
        }
    }
    *separation = kki_public_separation(&best);
    return nearest;
}

// The box of all places a moving shape passes.
static kki_aabb swept_box(const kk_placed *p, double duration) {
    const kki_aabb *b = &p->geometry->box;
    const double x = kki_greater(-b->lower.x, b->upper.x), y = kki_greater(-b->lower.y, b->upper.y);
    const double z = kki_greater(-b->lower.z, b->upper.z);
    const kk_vec3 to = kk_vec3_add(p->pose.p, kk_vec3_scale(p->velocity.linear, duration));
    return kki_aabb_grow(kki_aabb_join(kki_aabb_of_point(p->pose.p), kki_aabb_of_point(to)),
                         kk_sqrt(x * x + y * y + z * z) * (1 + 1e-12));
}

int kk_scene_cast(const kk_scene *scene, const kk_placed *placed, double duration, kk_impact *impact) {
    const kki_moving mover = kki_moving_of(placed);
    const bool is_endless = placed->geometry->shape->type == KK_SHAPE_PLANE;
    const kki_aabb box = swept_box(placed, duration);
    int first = -1;
    if (!kki_moves_sanely(&mover, duration)) {
        *impact = (kk_impact){.kind = KK_IMPACT_UNSURE};
        return -1;
    }
    *impact = (kk_impact){.kind = KK_IMPACT_NONE, .time = duration};
    for (int32_t i = 0; i < scene->bounded + scene->planes; i++) {
        const kki_moving still = {scene->place[i].shape, scene->place[i].X_WS, {{0, 0, 0}, {0, 0, 0}}};
        const bool is_near = is_endless || i >= scene->bounded || kki_aabb_touch(&scene->box[i], &box);
        kki_impact r;
        if (is_near && kki_impact_find(&still, &mover, impact->time, 0, &r) && r.kind != KKI_IMPACT_NONE &&
            (first < 0 || r.time < impact->time || scene->shape[i] < first)) {
            *impact = kki_public_impact(&r);
            first = scene->shape[i];
        }
    }
    return first;
}
