/// Which pairs of shapes are near enough to be looked at: balls round groups first, then balls round shapes.
///
/// A robot has many shapes on few links, so a ball round each link's shapes rules most pairs out at once; shapes of links
/// that are near nothing are not even placed. A pair that was found apart is not looked at again before both have moved as
/// far as that: their ways are summed up from pose to pose, so this too is a proof. Scenes with too many pairs to list go
/// through the broad phase. Either way the result depends on the present poses alone.
#include "simulate/near.h"

#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/sort.h"
#include "collision/distance.h"
#include "simulate/simulator.h"

/// Gap below which a pair always counts, m: contacts at rest must not come and go with rounding.
static const double KEPT_GAP = 1e-4;
/// Taken off distances that are kept, m: far more than rounding.
static const double SLACK = 1e-7;

// ---- groups, made once

static int group_key(const kk_model *m, int shape) {
    return m->shape[shape].node ? m->shape[shape].node : m->nnode + shape;
}

static int root_of(const kk_model *m, int node) {
    while (node != 0 && m->node[node].parent != 0) {
        node = m->node[node].parent;
    }
    return node;
}

/// group_of[key] for keys in use; −1 elsewhere.
static int number_groups(const kk_model *m, int32_t *group_of, kki_group *group) {
    int count = 0;
    for (int i = 0; i < m->nnode + m->nshape; i++) {
        group_of[i] = -1;
    }
    for (int i = 0; i < m->ncollider; i++) {
        const int shape = m->collider[i], key = group_key(m, shape);
        if (group_of[key] < 0) {
            const int node = m->shape[shape].node;
            group[count] = (kki_group){.node = node, .shape = node ? -1 : shape, .root = root_of(m, node)};
            group_of[key] = count++;
        }
    }
    return count;
}

static void outline_shapes(const kk_model *m, kki_near *n) {
    for (int i = 0; i < m->nshape; i++) {
        const kki_aabb *box = &m->shape[i].box;
        const kk_vec3 size = kk_vec3_sub(box->upper, box->lower);
        n->outline[i] = (kki_outline){.centre = kk_vec3_scale(kk_vec3_add(box->lower, box->upper), 0.5),
                                      .radius = 0.5 * kk_vec3_norm(size),
                                      .half = {0.5 * size.x, 0.5 * size.y, 0.5 * size.z},
                                      .is_plane = m->shape[i].shape.type == KK_SHAPE_PLANE,
                                      .is_ball = m->shape[i].shape.type == KK_SHAPE_SPHERE};
        n->owner[i] = (kki_owner){m->shape[i].node, m->shape[i].collider};
        n->X_NS[i] = m->shape[i].X_NS;
    }
}

/// A ball round two balls.
static void enclose(kki_group *g, kk_vec3 centre, double radius, int is_first) {
    if (is_first) {
        g->centre = centre;
        g->radius = radius;
        return;
    }
    const kk_vec3 d = kk_vec3_sub(centre, g->centre);
    const double distance = kk_vec3_norm(d);
    if (distance + radius <= g->radius) {
        return;
    }
    if (distance + g->radius <= radius) {
        g->centre = centre;
        g->radius = radius;
        return;
    }
    const double size = 0.5 * (distance + g->radius + radius);
    g->centre = kk_vec3_add(g->centre, kk_vec3_scale(d, (size - g->radius) / distance));
    g->radius = size * (1 + 1e-12);
}

static void enclose_shapes(const kk_model *m, const int32_t *group_of, kki_near *n) {
    for (int i = 0; i < m->ncollider; i++) {
        const int shape = m->collider[i];
        kki_group *g = &n->group[group_of[group_key(m, shape)]];
        const kk_vec3 centre = kk_transform_point(m->shape[shape].X_NS, n->outline[shape].centre);
        enclose(g, centre, n->outline[shape].radius, g->radius == 0);
    }
}

/// Whether a group is a plane of the world.
static int is_plane(const kki_near *n, int group) {
    return n->group[group].shape >= 0 && n->outline[n->group[group].shape].is_plane;
}

/// Sorts the model's pairs by groups and lists the pairs of groups.
static void pair_groups(const kk_model *m, const int32_t *group_of, kki_near *n, kki_sort_item *item) {
    for (int i = 0; i < m->npair; i++) {
        const uint64_t a = (uint64_t)group_of[group_key(m, m->pair[i].first)];
        const uint64_t b = (uint64_t)group_of[group_key(m, m->pair[i].second)];
        item[i] = (kki_sort_item){a << 32 | b, (uint64_t)i};
    }
    kki_sort(item, (size_t)m->npair, item + m->npair);
    for (int i = 0; i < m->npair; i++) {
        n->order[i] = (int32_t)item[i].payload;
        if (i == 0 || item[i].key != item[i - 1].key) {
            const int32_t a = (int32_t)(item[i].key >> 32), b = (int32_t)(item[i].key & 0xffffffffu);
            const int is_inner = n->group[a].root != 0 && n->group[a].root == n->group[b].root;
            n->pair[n->npair++] = (kki_group_pair){a, b, i, 0, is_plane(n, a) || is_plane(n, b), is_inner};
        }
        n->between[n->order[i]] = n->npair - 1;
        n->pair[n->npair - 1].count++;
    }
    for (int i = m->npair - 1; i >= 0; i--) {
        const int goes_on = i + 1 < m->npair && item[i].key == item[i + 1].key &&
                            m->pair[n->order[i]].first == m->pair[n->order[i + 1]].first;
        n->run_end[i] = goes_on ? n->run_end[i + 1] : i + 1;
    }
}

static void place(kki_layout *layout, const kk_model *m, kki_near *n) {
    const size_t pairs = (size_t)m->npair, colliders = (size_t)m->ncollider;
    KKI_LAYOUT_ARRAY(layout, n->group, colliders);
    KKI_LAYOUT_ARRAY(layout, n->pair, pairs);
    KKI_LAYOUT_ARRAY(layout, n->order, pairs);
    KKI_LAYOUT_ARRAY(layout, n->run_end, pairs);
    KKI_LAYOUT_ARRAY(layout, n->outline, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, n->owner, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, n->X_NS, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, n->found, pairs);
    KKI_LAYOUT_ARRAY(layout, n->axis, pairs);
    KKI_LAYOUT_ARRAY(layout, n->ball, 4 * colliders);
    KKI_LAYOUT_ARRAY(layout, n->reach, colliders);
    KKI_LAYOUT_ARRAY(layout, n->track, colliders);
    KKI_LAYOUT_ARRAY(layout, n->group_key, pairs);
    KKI_LAYOUT_ARRAY(layout, n->key, pairs);
    KKI_LAYOUT_ARRAY(layout, n->limit, pairs);
    KKI_LAYOUT_ARRAY(layout, n->group_limit, pairs);
    KKI_LAYOUT_ARRAY(layout, n->close, pairs);
    KKI_LAYOUT_ARRAY(layout, n->used, 2 * colliders);
    KKI_LAYOUT_ARRAY(layout, n->between, pairs);
    KKI_LAYOUT_ARRAY(layout, n->list, (size_t)n->most + 1);
    const size_t boxes = m->has_pairs ? 0 : colliders;
    KKI_LAYOUT_ARRAY(layout, n->has_left, boxes);
    const size_t fat = boxes && n->has_workers ? kki_broad_phase_fat_room(n->most) : 0;
    KKI_LAYOUT_ARRAY(layout, n->candidate, fat + 1);
    KKI_LAYOUT_ARRAY(layout, n->found_by, fat / KKI_NEAR_PART + 1);
    KKI_LAYOUT_ARRAY(layout, n->plane, colliders);
    KKI_LAYOUT_ARRAY(layout, n->mover, colliders);
    KKI_LAYOUT_ARRAY(layout, n->over, colliders);
}

/// All pairs are to be looked at.
static void forget_keys(kki_near *n) {
    for (int i = 0; i < n->npair; i++) {
        n->group_key[i] = -__builtin_inf();
        n->close[i].count = 0;
    }
    for (int i = 0; i < n->model->npair; i++) {
        n->key[i] = -__builtin_inf();
    }
    for (int i = 0; i < n->ngroup; i++) {
        n->track[i].seen[0].moved = n->track[i].seen[1].moved = 0;
    }
}

static kk_status make_groups(const kk_model *m, kki_near *n) {
    const size_t keys = (size_t)(m->nnode + m->nshape), pairs = 2 * (size_t)m->npair;
    int32_t *group_of = kki_allocate_array(&n->allocator, keys, sizeof *group_of);
    kki_sort_item *item = kki_allocate_array(&n->allocator, pairs, sizeof *item);
    const kk_status status = group_of && item ? KK_OK : KK_OUT_OF_MEMORY;
    if (status == KK_OK) {
        n->ngroup = number_groups(m, group_of, n->group);
        enclose_shapes(m, group_of, n);
        pair_groups(m, group_of, n, item);
        forget_keys(n);
    }
    kki_release_array(&n->allocator, group_of, keys, sizeof *group_of);
    kki_release_array(&n->allocator, item, pairs, sizeof *item);
    return status;
}

// ---- the broad phase, for many

/// Radius of the ball round a shape; of a ball the shape itself.
static double outer_radius(const kki_outline *o) {
    return o->is_ball ? o->half[0] : o->radius;
}

/// The pair's law and 1.
static int32_t may_touch(void *user, int32_t a, int32_t b) {
    const kk_model *m = user;
    int law;
    return kki_model_pair_may_touch(m, m->collider[a], m->collider[b], &law) ? law + 1 : 0;
}

/// The box of a plane is the world: its pairs with all that moves would fill the broad phase's list. They are looked at one by one instead, which
/// costs less than a pair of the list does.
static void list_planes(const kk_model *m, kki_near *n) {
    for (int i = 0; i < m->ncollider; i++) {
        const int shape = m->collider[i];
        if (m->shape[shape].node) {
            n->mover[n->nmover++] = i;
        } else if (n->outline[shape].is_plane && n->nmover == 0) {
            n->plane[n->nplane++] = i;
        }
    }
}

static kk_status make_broad_phase(const kk_model *m, kki_near *n) {
    const kki_broad_phase_def def = {
        .capacity = m->ncollider, .pair_capacity = n->most, .filter = may_touch, .user = (void *)(uintptr_t)m};
    const kk_status status = kki_broad_phase_create(&def, &n->allocator, &n->broad, NULL);
    list_planes(m, n);
    for (int i = 0, plane = 0; i < m->ncollider && status == KK_OK; i++) {
        const kki_proxy proxy = {.box = m->shape[m->collider[i]].box,
                                 .group = 1,
                                 .mask = 1,
                                 .is_static = m->shape[m->collider[i]].node == 0};
        if (plane < n->nplane && n->plane[plane] == i) {
            plane++;
        } else {
            kki_broad_phase_set(n->broad, i, &proxy);
        }
    }
    return status;
}

kk_status kki_near_create(kki_near *near, const kk_model *model, int most, bool has_workers,
                          const kk_allocator *allocator) {
    *near = (kki_near){.allocator = *allocator,
                       .most = model->has_pairs ? model->npair : most,
                       .has_workers = has_workers,
                       .model = model};
    kki_layout layout = kki_layout_over(NULL);
    place(&layout, model, near);
    near->size = layout.size;
    near->block = kki_allocate_zeroed(allocator, layout.size);
    if (!near->block) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(near->block);
    place(&layout, model, near);
    outline_shapes(model, near);
    return model->has_pairs ? make_groups(model, near) : make_broad_phase(model, near);
}

void kki_near_destroy(kki_near *near) {
    kki_broad_phase_free(near->broad);
    kki_release(&near->allocator, near->block, near->size);
    *near = (kki_near){.block = NULL};
}

// ---- where shapes are, and how far they get

static double speed_bound(const kk_simulator *s, int node, kk_vec3 centre, double radius) {
    const kki_rates *V = kki_rates_of(s->data, node);
    const kk_vec3 w = kki_vec3(V->w), arm = kk_vec3_sub(centre, kki_vec3(kki_pose_of(s->data, node)->p));
    const kk_vec3 u = kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(w, arm));
    return __builtin_sqrt(kk_vec3_dot(u, u)) + __builtin_sqrt(kk_vec3_dot(w, w)) * radius;
}

static void place_shape(kk_simulator *s, int i) {
    const int node = s->near.owner[i].node;
    s->X_WS[i] = kk_transform_mul(kki_node_transform(s->data, node), s->near.X_NS[i]);
    const kk_vec3 c = kk_transform_point(s->X_WS[i], s->near.outline[i].centre);
    const double radius = s->near.outline[i].radius;
    double *ball = s->ball + 4 * (size_t)i;
    ball[0] = c.x;
    ball[1] = c.y;
    ball[2] = c.z;
    ball[3] = radius;
    s->reach[i] = node && !kki_is_overlapping_only(s) ? 0.5 * s->h * speed_bound(s, node, c, radius) : 0;
    s->placed[i] = s->stamp;
}

/// Shapes of the world stay where they are.
static void want_shape(kk_simulator *s, int i) {
    if (s->placed[i] != s->stamp && (s->near.owner[i].node || s->placed[i] == 0)) {
        place_shape(s, i);
    }
}

static double always(const kk_model *m, const kk_simulator *s) {
    const double *g = m->gravity;
    return kki_is_overlapping_only(s) ? KEPT_GAP
                                      : KEPT_GAP + s->h * s->h * kk_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

static double balls_apart(const double *x, const double *y) {
    const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2];
    return __builtin_sqrt(dx * dx + dy * dy + dz * dz) - (x[3] + y[3]);
}

static int balls_meet(const double *x, const double *y, double reach) {
    const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2], r = x[3] + y[3] + reach;
    return dx * dx + dy * dy + dz * dz <= r * r;
}

static double height_over(const kk_transform *plane, const double *ball) {
    const kk_vec3 n = kk_mat3_column(plane->R, 2), c = kk_vec3_make(ball[0], ball[1], ball[2]);
    return kk_vec3_dot(n, kk_vec3_sub(c, plane->p));
}

/// Half the width of a shape's box along a direction of the world.
static double half_width(const kk_simulator *s, int shape, kk_vec3 d) {
    const kk_vec3 t = kk_mat3_tmul_vec(s->X_WS[shape].R, d);
    const double *h = s->near.outline[shape].half;
    return __builtin_fabs(t.x) * h[0] + __builtin_fabs(t.y) * h[1] + __builtin_fabs(t.z) * h[2];
}

/// How far axis k of a's box parts it from b's; less than `reach` where it does not.
static double apart_along(const kk_simulator *s, int a, int b, int k, kk_vec3 from_a_to_b, double reach) {
    const kk_vec3 axis = kk_mat3_column(s->X_WS[a].R, k);
    const double apart = __builtin_fabs(kk_vec3_dot(axis, from_a_to_b)) - s->near.outline[a].half[k];
    return apart > reach ? apart - half_width(s, b, axis) : apart;
}

/// The same of axis 1 … 3 of a's box, 4 … 6 of b's. Of a ball's no more than the ball itself.
static double apart_by(const kk_simulator *s, int a, int b, int axis, kk_vec3 d, double reach) {
    return axis <= 3 ? apart_along(s, a, b, axis - 1, d, reach) : apart_along(s, b, a, axis - 4, d, reach);
}

/// How far boxes are apart along an axis of one of them that parts them; not above `reach` where none does. Far cheaper than asking
/// the shapes themselves; and the axis that did in the last step does most often in this.
static double boxes_apart(const kk_simulator *s, int a, int b, kk_vec3 d, double reach, int8_t *last) {
    const double again = *last > 0 ? apart_by(s, a, b, *last, d, reach) : reach;
    if (again > reach) {
        return again;
    }
    for (int axis = 1; axis <= 6; axis++) {
        const double apart = s->near.outline[axis <= 3 ? a : b].is_ball ? reach : apart_by(s, a, b, axis, d, reach);
        if (apart > reach) {
            *last = (int8_t)axis;
            return apart;
        }
    }
    *last = 0;
    return reach;
}

static double apart_from_plane(const kk_simulator *s, int plane, int shape, double reach) {
    const double *ball = s->ball + 4 * (size_t)shape;
    const double height = height_over(&s->X_WS[plane], ball);
    if (height > ball[3] + reach || s->near.outline[shape].is_ball || height <= reach) {
        return height - ball[3];
    }
    return height - half_width(s, shape, kk_mat3_column(s->X_WS[plane].R, 2));
}

/// How far two shapes are apart at least; not above `reach` where they may meet. Balls, then boxes; or a plane and a box.
static double shapes_apart(const kk_simulator *s, int a, int b, double reach, int8_t *axis) {
    const kki_outline *A = &s->near.outline[a], *B = &s->near.outline[b];
    if (A->is_plane || B->is_plane) {
        return A->is_plane ? apart_from_plane(s, a, b, reach) : apart_from_plane(s, b, a, reach);
    }
    const double *x = s->ball + 4 * (size_t)a, *y = s->ball + 4 * (size_t)b;
    if (!balls_meet(x, y, reach)) {
        return balls_apart(x, y);
    }
    return boxes_apart(s, a, b, kk_vec3_make(y[0] - x[0], y[1] - x[1], y[2] - x[2]), reach, axis);
}

static double groups_apart(const kk_simulator *s, const kki_group_pair *p) {
    const kki_near *n = &s->near;
    const double *x = n->ball + 4 * (size_t)p->a, *y = n->ball + 4 * (size_t)p->b;
    if (p->has_plane) {
        const int is_a = is_plane(n, p->a);
        const double *ball = is_a ? y : x;
        return height_over(&s->X_WS[n->group[is_a ? p->a : p->b].shape], ball) - ball[3];
    }
    return balls_apart(x, y);
}

// ---- by groups

/// Not less than the length, without its root.
static double at_most(kk_vec3 v) {
    return __builtin_fabs(v.x) + __builtin_fabs(v.y) + __builtin_fabs(v.z);
}

/// Adds how far points of the group may have got since it was last looked at: its ball's centre by Δc, and those round it by |ΔR| r, where of two rotations
/// |ΔR| = 2 sin(θ/2) is the root of half the sum of squares.
static void track_group(kki_track *t, const kk_mat3 *R, kk_vec3 c, double radius) {
    double turned = 0;
    for (int k = 0; k < 9; k++) {
        const double d = R->m[k] - t->R.m[k];
        turned += d * d;
    }
    const kk_vec3 way = kk_vec3_sub(c, t->c);
    t->moved += (__builtin_sqrt(kk_vec3_dot(way, way)) + __builtin_sqrt(0.5 * turned) * radius) * (1 + 1e-12);
    t->R = *R;
    t->c = c;
}

/// The same as seen from the root of its tree, which itself does not move then.
static void track_inside(const kk_simulator *s, const kki_group *g, const kk_transform *X, kk_vec3 c, kki_track *t) {
    if (g->node != g->root) {
        const kk_transform root = kki_node_transform(s->data, g->root);
        const kk_mat3 R = kk_mat3_mul(kk_mat3_transpose(root.R), X->R);
        track_group(t, &R, kk_mat3_tmul_vec(root.R, kk_vec3_sub(c, root.p)), g->radius);
    }
}

static void place_group(kk_simulator *s, int i) {
    kki_near *n = &s->near;
    const kki_group *g = &n->group[i];
    double *ball = n->ball + 4 * (size_t)i;
    const kk_transform X = kki_node_transform(s->data, g->node);
    const kk_vec3 c = kk_transform_point(X, g->centre);
    kki_track *seen = n->track[i].seen;
    ball[0] = c.x;
    ball[1] = c.y;
    ball[2] = c.z;
    ball[3] = g->radius;
    n->reach[i] = 0;
    if (g->node == 0) {
        return;
    }
    if (!kki_is_overlapping_only(s)) {
        const kki_rates *V = kki_rates_of(s->data, g->node);
        const kk_vec3 w = kki_vec3(V->w), u = kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(w, kk_vec3_sub(c, X.p)));
        n->reach[i] = 0.5 * s->h * (at_most(u) + at_most(w) * g->radius);
    }
    track_group(&seen[0], &X.R, c, g->radius);
    track_inside(s, g, &X, c, &seen[1]);
    n->used[2 * i] = seen[0].moved + n->reach[i];
    n->used[2 * i + 1] = seen[1].moved + n->reach[i];
}

static void place_groups(kk_simulator *s) {
    kki_near *n = &s->near;
    double all = 0;
    for (int i = 0; i < n->ngroup; i++) {
        place_group(s, i);
        all += n->used[2 * i] + n->used[2 * i + 1];
        if (n->group[i].node == 0) {
            want_shape(s, n->group[i].shape);
        }
    }
    if (!(all < 1e6)) { // sums are to stay small against a double's digits, and numbers
        forget_keys(n);
        for (int i = 0; i < n->ngroup; i++) {
            n->used[2 * i] = n->used[2 * i + 1] = n->reach[i];
        }
    }
}

/// Between two groups that are near each other.
typedef struct between {
    const kki_group_pair *p;
    double least; // gap that always counts
    double moved; // of both groups
    double used;
    double reach;
    double limit; // the least of the keys that were believed
} between;

/// A pair of shapes: how far they are apart at least.
static double look_at(const kk_model *m, kk_simulator *s, between *x, int place, int *count) {
    kki_near *n = &s->near;
    if (n->key[place] > x->used + x->least && x->reach <= n->limit[place]) {
        x->limit = n->limit[place] < x->limit ? n->limit[place] : x->limit;
        return n->key[place] - x->moved;
    }
    const int a = m->pair[place].first, b = m->pair[place].second;
    want_shape(s, a);
    want_shape(s, b);
    const double reach = x->least + s->reach[a] + s->reach[b], apart = shapes_apart(s, a, b, reach, &n->axis[place]);
    if (!(apart > reach)) {
        n->found[(*count)++] = place;
        n->key[place] = -__builtin_inf();
        return -__builtin_inf();
    }
    n->key[place] = apart - SLACK + x->moved;
    n->limit[place] = __builtin_inf();
    return apart - SLACK;
}

/// Puts a pair among the nearest few, the nearest first; what it pushes out counts with the others.
static void note_close(kki_close *c, double *apart, int place, double distance) {
    double other = distance;
    if (c->count < KKI_CLOSE_PAIRS || distance < apart[KKI_CLOSE_PAIRS - 1]) {
        other = c->count < KKI_CLOSE_PAIRS ? __builtin_inf() : apart[KKI_CLOSE_PAIRS - 1];
        int k = c->count < KKI_CLOSE_PAIRS ? c->count++ : KKI_CLOSE_PAIRS - 1;
        for (; k > 0 && distance < apart[k - 1]; k--) {
            apart[k] = apart[k - 1];
            c->place[k] = c->place[k - 1];
        }
        apart[k] = distance;
        c->place[k] = place;
    }
    c->key = other < c->key ? other : c->key;
}

/// Pairs of shapes between two groups that are near each other: shapes of the first group that are near the second, each
/// with all of the second's. Returns how far the groups' shapes are apart at least.
static double look_into(const kk_model *m, kk_simulator *s, between *x, kki_close *c, int *count) {
    const kki_near *n = &s->near;
    const kki_group_pair *p = x->p;
    double nearest[KKI_CLOSE_PAIRS];
    nearest[0] = c->key = __builtin_inf();
    c->count = 0;
    for (int i = p->first, end = 0; i < p->first + p->count; i = end) {
        const int a = m->pair[n->order[i]].first;
        end = n->run_end[i];
        if (end > i + 4 && !p->has_plane && !n->outline[a].is_plane) {
            want_shape(s, a);
            const double apart = balls_apart(s->ball + 4 * (size_t)a, n->ball + 4 * (size_t)p->b);
            if (apart > x->least + s->reach[a] + n->reach[p->b]) {
                c->key = apart - SLACK < c->key ? apart - SLACK : c->key;
                continue;
            }
        }
        for (; i < end; i++) {
            note_close(c, nearest, n->order[i], look_at(m, s, x, n->order[i], count));
        }
    }
    const double least = nearest[0] < c->key ? nearest[0] : c->key;
    c->key += x->moved;
    c->limit = x->limit;
    return least;
}

/// The few pairs that were nearest when all were last looked at. Returns how far the groups' shapes are apart at least.
static double look_again(const kk_model *m, kk_simulator *s, between *x, const kki_close *c, int *count) {
    double least = c->key - x->moved;
    x->limit = c->limit;
    for (int k = 0; k < c->count; k++) {
        const double apart = look_at(m, s, x, c->place[k], count);
        least = apart < least ? apart : least;
    }
    return least;
}

/// All pairs between two groups, or the few that may be near.
static double look_inside(const kk_model *m, kk_simulator *s, between *x, kki_close *c, int *count) {
    const int is_known = c->count > 0 && c->key > x->used + x->least && x->reach <= c->limit;
    return is_known ? look_again(m, s, x, c, count) : look_into(m, s, x, c, count);
}

/// Two groups that have come near since they were last looked at.
static void look_between(const kk_model *m, kk_simulator *s, int i, double least, int *count) {
    kki_near *n = &s->near;
    const kki_group_pair *p = &n->pair[i];
    const kki_track *a = &n->track[p->a].seen[p->is_inner], *b = &n->track[p->b].seen[p->is_inner];
    const double apart = groups_apart(s, p);
    between x = {.p = p,
                 .least = least,
                 .moved = a->moved + b->moved,
                 .used = n->used[2 * p->a + p->is_inner] + n->used[2 * p->b + p->is_inner],
                 .reach = n->reach[p->a] + n->reach[p->b],
                 .limit = __builtin_inf()};
    n->group_key[i] = x.moved + (apart > least + x.reach ? apart - SLACK : look_inside(m, s, &x, &n->close[i], count));
    n->group_limit[i] = x.limit;
}

/// Whether two groups cannot have come near since they were last looked at.
static int is_known_apart(const kki_near *n, int i, double least) {
    const kki_group_pair *p = &n->pair[i];
    return n->group_key[i] > n->used[2 * p->a + p->is_inner] + n->used[2 * p->b + p->is_inner] + least &&
           n->reach[p->a] + n->reach[p->b] <= n->group_limit[i];
}

/// Whether a distance is found at once.
static int is_convex(const kk_model *m, int shape) {
    return m->shape[shape].shape.type < KK_SHAPE_MESH;
}

/// Insertion sort: the list is nearly sorted already, and short.
static void sort_found(int32_t *found, int count) {
    for (int i = 1; i < count; i++) {
        const int32_t x = found[i];
        int j = i;
        for (; j > 0 && found[j - 1] > x; j--) {
            found[j] = found[j - 1];
        }
        found[j] = x;
    }
}

static int near_by_groups(const kk_model *m, kk_simulator *s) {
    kki_near *n = &s->near;
    const double least = always(m, s);
    int count = 0;
    place_groups(s);
    for (int i = 0; i < n->npair; i++) {
        if (!is_known_apart(n, i, least)) {
            look_between(m, s, i, least, &count);
        }
    }
    sort_found(n->found, count);
    for (int i = 0; i < count; i++) {
        const kki_shape_pair *p = &m->pair[n->found[i]];
        n->list[i] = (kki_near_pair){p->first, p->second, p->law, least + s->reach[p->first] + s->reach[p->second]};
    }
    return count;
}

/// What is fast is followed along its path (fast.c), whatever the distance: the key is good for slow ones only, so that this does not depend on what
/// was measured before.
void kki_near_parted(const kk_model *model, kk_simulator *s, int i) {
    kki_near *n = &s->near;
    const int a = n->list[i].first, b = n->list[i].second;
    kki_separation apart;
    if (n->broad || !is_convex(model, a) || !is_convex(model, b) ||
        !kki_distance(&model->shape[a].shape, &s->X_WS[a], &model->shape[b].shape, &s->X_WS[b], NULL, &apart)) {
        return;
    }
    const kki_group_pair *p = &n->pair[n->between[n->found[i]]];
    n->key[n->found[i]] =
        apart.distance - SLACK + (n->track[p->a].seen[p->is_inner].moved + n->track[p->b].seen[p->is_inner].moved);
    n->limit[n->found[i]] = 0.25 * kki_thickness(model, a, b);
}

// ---- by the broad phase

/// Of a shape that is placed: its box is about the centre of its ball.
static kki_aabb box_in_world(const kk_simulator *s, int shape, double grow) {
    const double *R = s->X_WS[shape].R.m, *h = s->near.outline[shape].half, *ball = s->ball + 4 * (size_t)shape;
    const kk_vec3 c = kk_vec3_make(ball[0], ball[1], ball[2]);
    double e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = __builtin_fabs(R[3 * i]) * h[0] + __builtin_fabs(R[3 * i + 1]) * h[1] +
               __builtin_fabs(R[3 * i + 2]) * h[2] + grow;
    }
    const kk_vec3 half = kk_vec3_make(e[0], e[1], e[2]);
    return (kki_aabb){kk_vec3_sub(c, half), kk_vec3_add(c, half)};
}

/// Balls; planes that are in the broad phase all the same are left to the narrow phase.
static int balls_of_shapes_meet(const kk_simulator *s, int a, int b, double reach) {
    const kki_outline *A = &s->near.outline[a], *B = &s->near.outline[b];
    const double *x = s->ball + 4 * (size_t)a, *y = s->ball + 4 * (size_t)b;
    const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2], r = outer_radius(A) + outer_radius(B) + reach;
    return (A->is_plane | B->is_plane | (dx * dx + dy * dy + dz * dz <= r * r)) != 0;
}

/// A plane of the world: its normal, how high it is along that, and what always counts.
typedef struct level {
    kk_vec3 up;
    double height, least;
} level;

static level level_of(const kk_simulator *s, int shape, double least) {
    const kk_vec3 up = kk_mat3_column(s->X_WS[shape].R, 2);
    return (level){up, kk_vec3_dot(up, s->X_WS[shape].p), least + s->reach[shape]};
}

/// Whether the ball round a shape reaches it.
static int is_over(const kk_simulator *s, const level *l, int shape) {
    const double *ball = s->ball + 4 * (size_t)shape;
    const double height = (l->up.x * ball[0] + l->up.y * ball[1]) + l->up.z * ball[2] - l->height;
    return height <= outer_radius(&s->near.outline[shape]) + (l->least + s->reach[shape]);
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
    const double reach = x->least + s->reach[a] + s->reach[b];
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
        const double reach = own.least + s->reach[b];
        int law = 0;
        if (!(apart_from_plane(s, a, b, reach) > reach) && kki_model_pair_may_touch(x->m, a, b, &law)) {
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
        want_shape(x->s, shape);
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
        const int is_new = s->placed[shape] == 0;
        want_shape(s, shape);
        s->near.has_left[i] = 0;
        s->near.over[i] = s->near.owner[shape].node ? planes_under(x, shape) : 0;
        if (s->near.owner[shape].node || is_new) {
            const kki_aabb box = box_in_world(s, shape, 0.5 * x->least + s->reach[shape]);
            s->near.has_left[i] = kki_broad_phase_put(s->near.broad, i, &box);
        }
    }
}

static void place_boxes(listing *x) {
    enum { GRAIN = 64 };
    kki_near *n = &x->s->near;
    place_planes(x);
    kki_workers_share(kki_crew_workers(x->s), x->m->ncollider, GRAIN, place_some, x);
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
    if (!kki_crew_workers(x->s) || from > 0 || parts < 2) {
        list_alone(x, from, x->fat.count);
        return;
    }
    kki_workers_share(kki_crew_workers(x->s), parts, 1, look_at_parts, x);
    for (int i = 0; i < parts; i++) {
        const int room = n->most - x->count, count = n->found_by[i];
        if (count <= room) {
            memcpy(n->list + x->count, n->candidate + (size_t)i * KKI_NEAR_PART, (size_t)count * sizeof *n->list);
        }
        x->count += count;
    }
}

static kk_status near_by_boxes(const kk_model *m, kk_simulator *s, int *count, kk_error *error) {
    kki_near *n = &s->near;
    listing x;
    x.m = m;
    x.s = s;
    x.least = always(m, s);
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
        status = x.count > n->most ? KK_LIMIT_EXCEEDED : KK_OK;
    }
    if (status != KK_OK) {
        return kki_error_set(error, status,
                             "detect: %d pairs of shapes are near each other, %d is the most; set max_contacts",
                             (int)found, (int)n->most);
    }
    *count = x.count;
    return KK_OK;
}

kk_status kki_near_find(const kk_model *model, kk_simulator *s, int *count, kk_error *error) {
    s->stamp++;
    if (!model->has_pairs) {
        return near_by_boxes(model, s, count, error);
    }
    *count = near_by_groups(model, s);
    return KK_OK;
}
