/// Which pairs of shapes are near enough to be looked at: by groups (near_groups.c), or through the broad phase where a scene has too many pairs to
/// list. Either way the result depends on the present poses alone.
#include "simulate/near.h"

#include <string.h>

#include "simulate/near_kernels.h"
#include "simulate/near_shapes.h"

void kki_near_place(kk_simulator *s, const int32_t *shape, int count) {
    const kki_shape_place to = {s->shapes.X_WS, s->shapes.sphere, s->shapes.reach};
    s->near.kernels->place(&s->near, s->data, shape, count, kki_near_half(s), &to);
}

// ---- by the broad phase

/// Of a shape that is placed: its box is about the center of its ball.
static kki_aabb box_in_world(const kk_simulator *s, int shape, double grow) {
    const double *R = s->shapes.X_WS[shape].R.m, *h = s->near.outline[shape].half,
                 *ball = s->shapes.sphere + 4 * (size_t)shape;
    const kk_vec3 c = kk_vec3_make(ball[0], ball[1], ball[2]);
    double e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = __builtin_fabs(R[3 * i]) * h[0] + __builtin_fabs(R[3 * i + 1]) * h[1] +
               __builtin_fabs(R[3 * i + 2]) * h[2] + grow;
    }
    const kk_vec3 half = kk_vec3_make(e[0], e[1], e[2]);
    return (kki_aabb){kk_vec3_sub(c, half), kk_vec3_add(c, half)};
}

/// Radius of the ball round a shape; of a ball the shape itself.
static double outer_radius(const kki_outline *o) {
    return o->is_ball ? o->half[0] : o->radius;
}

/// Balls; planes that are in the broad phase all the same are left to the narrow phase.
static int balls_of_shapes_meet(const kk_simulator *s, int a, int b, double reach) {
    const kki_outline *A = &s->near.outline[a], *B = &s->near.outline[b];
    const double *x = s->shapes.sphere + 4 * (size_t)a, *y = s->shapes.sphere + 4 * (size_t)b;
    const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2], r = outer_radius(A) + outer_radius(B) + reach;
    return (A->is_plane | B->is_plane | (dx * dx + dy * dy + dz * dz <= r * r)) != 0;
}

/// Of a ball's center over a plane.
static double height_over(const kk_simulator *s, int plane, const double *ball) {
    const kk_transform *X = &s->shapes.X_WS[plane];
    const kk_vec3 n = kk_mat3_column(X->R, 2), c = kk_vec3_make(ball[0], ball[1], ball[2]);
    return kk_vec3_dot(n, kk_vec3_sub(c, X->p)) - s->near.model->shape[plane].shape.margin;
}

/// Half the width of a shape's box along a direction of the world.
static double half_width(const kk_simulator *s, int shape, kk_vec3 d) {
    const kk_vec3 t = kk_mat3_tmul_vec(s->shapes.X_WS[shape].R, d);
    const double *h = s->near.outline[shape].half;
    return __builtin_fabs(t.x) * h[0] + __builtin_fabs(t.y) * h[1] + __builtin_fabs(t.z) * h[2];
}

/// How far a shape is over a plane at least; not above `reach` where they may meet.
static double over_plane(const kk_simulator *s, int plane, int shape, double reach) {
    const double *ball = s->shapes.sphere + 4 * (size_t)shape;
    const double height = height_over(s, plane, ball);
    if (height > ball[3] + reach || s->near.outline[shape].is_ball || height <= reach) {
        return height - ball[3];
    }
    return height - half_width(s, shape, kk_mat3_column(s->shapes.X_WS[plane].R, 2));
}

/// A plane of the world: its normal, how high it is along that, and what always counts.
typedef struct level {
    kk_vec3 up;
    double height, least;
} level;

static level level_of(const kk_simulator *s, int shape, double least) {
    const kk_vec3 up = kk_mat3_column(s->shapes.X_WS[shape].R, 2);
    const double margin = s->near.model->shape[shape].shape.margin;
    return (level){up, kk_vec3_dot(up, s->shapes.X_WS[shape].p), least + s->shapes.reach[shape] + margin};
}

/// Of a shape that moves, towards the world.
static double own_reach(const kk_simulator *s, int shape) {
    return s->near.owner[shape].is_link ? 2 * s->shapes.reach[shape] : s->shapes.reach[shape];
}

/// Whether the ball round a shape reaches it.
static int is_over(const kk_simulator *s, const level *l, int shape) {
    const double *ball = s->shapes.sphere + 4 * (size_t)shape;
    const double height = (l->up.x * ball[0] + l->up.y * ball[1]) + l->up.z * ball[2] - l->height;
    return height <= outer_radius(&s->near.outline[shape]) + (l->least + own_reach(s, shape));
}

/// A list with its bound.
typedef struct listing {
    const kk_model *m;
    kk_simulator *s;
    double least;
    int count; ///< may be more than there is room for
    kki_fat_pairs fat;
    level level[KKI_NEAR_PLANES]; ///< of the planes
} listing;

static kki_near_pair *next_of(listing *x) {
    const kki_near *n = &x->s->near;
    return &n->list[x->count < n->most ? x->count : n->most];
}

/// Of fat pairs from number `from` to `end` − 1 those whose boxes touch. Each is written in any case, so that nobody has to guess whether it counts: half do.
static int boxes_that_touch(const kki_fat_pairs *fat, int from, int end, int32_t touching[KKI_NEAR_PART + 1]) {
    int count = 0;
    for (int i = from; i < end; i++) {
        const kki_pair p = kki_fat_pair(fat, i);
        touching[count] = i;
        count += kki_aabb_touch(&fat->box[p.a], &fat->box[p.b]);
    }
    return count;
}

/// A pair whose boxes touch, likewise: gives 1 where its balls do.
static int list_fat_pair(const listing *x, int i, kki_near_pair *to) {
    const kk_simulator *s = x->s;
    const kki_pair p = kki_fat_pair(&x->fat, i);
    const int a = x->m->collider[p.a], b = x->m->collider[p.b];
    const double reach = x->least + kki_near_reach(s, a, b);
    *to = (kki_near_pair){a, b, p.mark - 1, reach};
    return balls_of_shapes_meet(s, a, b, reach);
}

/// All that moves and is near a plane.
static void list_plane(listing *x, int number) {
    const kk_simulator *s = x->s;
    const kki_near *n = &s->near;
    const int a = x->m->collider[n->plane[number]];
    const level own = level_of(s, a, x->least);
    for (int i = 0; i < n->nmover; i++) {
        const int mover = n->mover[i], b = x->m->collider[mover];
        if (number < KKI_NEAR_PLANES ? !(n->over[mover] >> number & 1) : !is_over(s, &own, b)) {
            continue;
        }
        const double reach = x->least + kki_near_reach(s, a, b);
        int law = 0;
        if (!(over_plane(s, a, b, reach) > reach) && kki_model_pair_may_touch(x->m, a, b, &law)) {
            *next_of(x) = (kki_near_pair){a, b, law, reach};
            x->count++;
        }
    }
}

static uint32_t planes_under(const listing *x, int shape) {
    const int planes = x->s->near.nplane < KKI_NEAR_PLANES ? x->s->near.nplane : KKI_NEAR_PLANES;
    uint32_t over = 0;
    for (int k = 0; k < planes; k++) {
        over |= (uint32_t)is_over(x->s, &x->level[k], shape) << k;
    }
    return over;
}

/// Planes before all that may be over them. Where they are new the broad phase does not know them.
static void place_planes(listing *x) {
    const kki_near *n = &x->s->near;
    for (int k = 0; k < n->nplane && k < KKI_NEAR_PLANES; k++) {
        const int shape = x->m->collider[n->plane[k]];
        kki_near_want(x->s, shape);
        x->level[k] = level_of(x->s, shape, x->least);
    }
}

/// Shapes that move, and new ones of the world; those that have left their boxes wait for one thread to note it.
static void place_some(void *context, int first, int end, int worker) {
    const listing *x = context;
    kk_simulator *s = x->s;
    (void)worker;
    for (int i = first; i < end; i++) {
        const int shape = x->m->collider[i];
        const int is_new = s->shapes.placed[shape] == 0;
        kki_near_want(s, shape);
        s->near.has_left[i] = 0;
        s->near.over[i] = s->near.owner[shape].node ? planes_under(x, shape) : 0;
        if (s->near.owner[shape].node || is_new) {
            const kki_aabb box = box_in_world(s, shape, 0.5 * x->least + own_reach(s, shape));
            s->near.has_left[i] = kki_broad_phase_put(s->near.broad, i, &box);
        }
    }
}

static void place_boxes(listing *x) {
    enum { GRAIN = 64 };
    kki_near *n = &x->s->near;
    place_planes(x);
    kki_workers_share(kki_workers_of(x->s), x->m->ncollider, GRAIN, place_some, x);
    for (int i = 0; i < x->m->ncollider; i++) {
        if (n->has_left[i]) {
            kki_broad_phase_note(n->broad, i);
        }
    }
}

/// Parts of the list of fat pairs: what is near, each from where its part begins.
static void look_at_parts(void *context, int first, int end, int worker) {
    const listing *x = context;
    kki_near *n = &x->s->near;
    (void)worker;
    for (int part = first; part < end; part++) {
        const int from = part * KKI_NEAR_PART, left = x->fat.count - from;
        int32_t touching[KKI_NEAR_PART + 1];
        const int boxes =
            boxes_that_touch(&x->fat, from, from + (left < KKI_NEAR_PART ? left : KKI_NEAR_PART), touching);
        int count = 0;
        for (int i = 0; i < boxes; i++) {
            count += list_fat_pair(x, touching[i], &n->candidate[from + count]);
        }
        n->found_by[part] = count;
    }
}

/// Fat pairs from number `from` to `end` − 1 behind what is listed.
static void list_alone(listing *x, int from, int end) {
    int32_t touching[KKI_NEAR_PART + 1];
    for (; from < end; from += KKI_NEAR_PART) {
        const int next = from + KKI_NEAR_PART < end ? from + KKI_NEAR_PART : end;
        const int boxes = boxes_that_touch(&x->fat, from, next, touching);
        for (int i = 0; i < boxes; i++) {
            // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): so many were written
            x->count += list_fat_pair(x, touching[i], next_of(x));
        }
    }
}

/// Where fat pairs whose first is before a collider end.
static int fat_pairs_before(const listing *x, int from, int collider) {
    while (from < x->fat.count && kki_fat_pair(&x->fat, from).a < collider) {
        from++;
    }
    return from;
}

/// The same to the end by all workers.
static void list_together(listing *x, int from) {
    kki_near *n = &x->s->near;
    const int parts = (x->fat.count + KKI_NEAR_PART - 1) / KKI_NEAR_PART;
    if (!kki_workers_of(x->s) || from > 0 || parts < 2) {
        list_alone(x, from, x->fat.count);
        return;
    }
    kki_workers_share(kki_workers_of(x->s), parts, 1, look_at_parts, x);
    for (int i = 0; i < parts; i++) {
        const int room = n->most - x->count, count = n->found_by[i];
        if (count <= room) {
            memcpy(n->list + x->count, n->candidate + (size_t)i * KKI_NEAR_PART, (size_t)count * sizeof *n->list);
        }
        x->count += count;
    }
}

static kk_status near_by_boxes(const kk_model *m, kk_simulator *s, int *count) {
    kki_near *n = &s->near;
    listing x;
    x.m = m;
    x.s = s;
    x.least = kki_near_always(m, s);
    x.count = 0;
    int32_t found = 0, at = 0;
    place_boxes(&x);
    kk_status status = kki_broad_phase_refresh(n->broad, &x.fat, &found);
    if (status == KK_OK) {
        for (int k = 0; k < n->nplane; k++) { // sorted by the first of a pair
            const int next = fat_pairs_before(&x, at, n->plane[k]);
            list_alone(&x, at, next);
            list_plane(&x, k);
            at = next;
        }
        list_together(&x, at);
        found = x.count;
    }
    kki_room_ask(status ? found / 2 : found, n->most, &s->lacking.room.near); // fat pairs have twice the room
    if (status == KK_OK) {
        status = kki_room_status(s);
    }
    if (status != KK_OK) {
        return status;
    }
    *count = x.count;
    return KK_OK;
}

kk_status kki_near_find(const kk_model *model, kk_simulator *s, int *count) {
    s->shapes.stamp++;
    if (!model->has_pairs) {
        return near_by_boxes(model, s, count);
    }
    *count = kki_near_by_groups(model, s);
    return KK_OK;
}
