/// The public questions about shapes of a model: thin over the narrow phase.
#include "collision/query.h"
#include "base/missing.h"
#include "dynamics/data.h"
#include "model/model.h"

enum { MOST_MANIFOLDS = 64 };

static const kki_model_shape *collider(const kk_model *m, int shape) {
    const bool is_there = shape >= 0 && shape < m->nshape && (m->shape[shape].purpose & KK_SHAPE_COLLIDES);
    return is_there ? &m->shape[shape] : NULL;
}

// ---- one pair

kk_transform kk_shape_pose(const kk_model *model, const kk_data *data, int shape) {
    if (shape < 0 || shape >= model->nshape) {
        return kk_transform_identity();
    }
    const kki_model_shape *s = &model->shape[shape];
    return kk_transform_mul(kki_node_transform(data, s->node), s->X_NS);
}

static kk_status separate(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                          kk_separation *separation) {
    kki_separation found;
    if (!kki_pose_is_sane(X_WA) || !kki_pose_is_sane(X_WB)) {
        return KK_INVALID_ARGUMENT;
    }
    if (!kki_distance(a, X_WA, b, X_WB, NULL, &found)) {
        return KK_UNSUPPORTED;
    }
    *separation = kki_public_separation(&found);
    return KK_OK;
}

kk_status kk_shape_separation(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b, kk_transform X_WB,
                              kk_separation *separation) {
    if (kki_is_missing(model)) {
        return KK_INVALID_ARGUMENT;
    }
    const kki_model_shape *a = collider(model, shape_a), *b = collider(model, shape_b);
    return a && b ? separate(&a->shape, &X_WA, &b->shape, &X_WB, separation) : KK_NOT_FOUND;
}

void kki_public_manifold(const kki_manifold *from, kk_manifold *to) {
    *to = (kk_manifold){.normal = from->normal, .count = from->count};
    for (int k = 0; k < from->count; k++) {
        to->point[k].position = from->point[k].position;
        to->point[k].gap = from->point[k].gap;
    }
}

int kk_shape_manifolds(const kk_model *model, int shape_a, kk_transform X_WA, int shape_b, kk_transform X_WB,
                       double reach, kk_manifold *manifold, int room) {
    const kki_model_shape *a = collider(model, shape_a), *b = collider(model, shape_b);
    kki_manifold own[MOST_MANIFOLDS];
    kki_pair_memory memory = {0};
    if (!a || !b || room <= 0 || !kki_pose_is_sane(&X_WA) || !kki_pose_is_sane(&X_WB)) {
        return 0;
    }
    const int asked = room < MOST_MANIFOLDS ? room : MOST_MANIFOLDS;
    const int found = kki_collide(&a->shape, &X_WA, &b->shape, &X_WB, reach, &memory, own, asked);
    for (int i = 0; i < (found < 0 ? asked : found); i++) {
        kki_public_manifold(&own[i], &manifold[i]);
    }
    return found;
}

kk_status kk_shape_impact(const kk_model *model, int shape_a, kk_transform X_WA, kk_motion velocity_a, int shape_b,
                          kk_transform X_WB, kk_motion velocity_b, double duration, double target, kk_impact *impact) {
    if (kki_is_missing(model)) {
        return KK_INVALID_ARGUMENT;
    }
    const kki_model_shape *a = collider(model, shape_a), *b = collider(model, shape_b);
    if (!a || !b) {
        return KK_NOT_FOUND;
    }
    const kki_moving moving_a = {&a->shape, X_WA, velocity_a}, moving_b = {&b->shape, X_WB, velocity_b};
    kki_impact found;
    if (!kki_impact_find(&moving_a, &moving_b, duration, target, &found)) {
        return KK_UNSUPPORTED;
    }
    *impact = kki_public_impact(&found);
    return KK_OK;
}

// ---- the whole model

static kki_ball ball_of(const kki_model_shape *s, const kk_transform *X) {
    const kk_vec3 center = kk_vec3_scale(kk_vec3_add(s->box.lower, s->box.upper), 0.5);
    return (kki_ball){kk_transform_point(*X, center), 0.5 * kk_vec3_norm(kk_vec3_sub(s->box.upper, s->box.lower))};
}

kki_ball kki_shape_ball(const kk_model *model, const kk_data *data, int shape) {
    const kk_transform X = kk_shape_pose(model, data, shape);
    return ball_of(&model->shape[shape], &X);
}

static bool is_near(kki_ball a, kki_ball b, double reach) {
    return kk_vec3_norm(kk_vec3_sub(a.center, b.center)) <= a.radius + b.radius + (reach > 0 ? reach : 0);
}

bool kki_shapes_overlap(const kk_model *m, const kk_data *data, int i, int j, double reach, kk_overlap *overlap) {
    const kki_model_shape *a = &m->shape[i], *b = &m->shape[j];
    const kk_transform X_WA = kk_shape_pose(m, data, i), X_WB = kk_shape_pose(m, data, j);
    if (!is_near(ball_of(a, &X_WA), ball_of(b, &X_WB), reach)) {
        return false;
    }
    *overlap = (kk_overlap){.shape = {i, j}, .body = {a->body, b->body}};
    return separate(&a->shape, &X_WA, &b->shape, &X_WB, &overlap->at) == KK_OK && overlap->at.distance <= reach;
}

int kk_model_overlaps(const kk_model *model, const kk_data *data, double reach, kk_overlap *overlap, int room) {
    int count = 0;
    for (int i = 0; i < model->ncollider; i++) {
        for (int j = i + 1; j < model->ncollider; j++) {
            kk_overlap one;
            if (kki_model_pair_may_touch(model, model->collider[i], model->collider[j], NULL) &&
                kki_shapes_overlap(model, data, model->collider[i], model->collider[j], reach, &one)) {
                if (count < room) {
                    overlap[count] = one;
                }
                count++;
            }
        }
    }
    return count;
}

kk_ray_hit kk_model_ray(const kk_model *model, const kk_data *data, kk_vec3 origin, kk_vec3 direction, double limit) {
    kk_ray_hit best = {.shape = -1, .body = -1};
    kki_ray ray = {origin, direction, limit};
    for (int i = 0; i < model->ncollider; i++) {
        const int shape = model->collider[i];
        const kki_placed_shape placed = {.shape = &model->shape[shape].shape,
                                         .X_WS = kk_shape_pose(model, data, shape)};
        kki_ray_hit hit;
        if (kki_ray_cast_placed(&placed, &ray, &hit) && (best.shape < 0 || hit.t < ray.limit)) {
            ray.limit = hit.t;
            best = kki_public_hit(origin, direction, &hit, shape, model->shape[shape].body);
        }
    }
    return best;
}
