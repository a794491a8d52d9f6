/// What is made once for a model to find near pairs by: groups of shapes that move as one and all pairs between them; for too many pairs to list, a
/// broad phase.
#include <string.h>

#include "base/allocator.h"
#include "base/arena.h"
#include "base/sort.h"
#include "simulate/near_kernels.h"
#include "simulate/near_shapes.h"

// ---- groups, made once

static int group_key(const kk_model *m, int shape) {
    return m->shape[shape].node ? m->shape[shape].node : m->nnode + shape;
}

/// The root of a tree that floats; 0 for others, whose root does not get far.
static int root_of(const kk_model *m, int node) {
    while (node != 0 && m->node[node].parent != 0) {
        node = m->node[node].parent;
    }
    return m->node[node].type == KKI_NODE_FREE ? node : 0;
}

/// Which of the views is from a node; one more where none is.
static int view_from(kki_near *n, int node) {
    int i = 0;
    while (i < n->nview && n->view[i].node != node) {
        i++;
    }
    n->nview += i == n->nview;
    n->view[i].node = node;
    return i;
}

/// What comes first among groups: planes of the world, what else stands in it, and what moves.
static int kind_of(const kk_model *m, int shape) {
    return m->shape[shape].node ? 2 : m->shape[shape].shape.type != KK_SHAPE_PLANE;
}

/// Numbers groups of a kind on from `count`.
static int number_some(const kk_model *m, int kind, int count, int32_t *group_of, kki_near *n) {
    for (int i = 0; i < m->ncollider; i++) {
        const int shape = m->collider[i], key = group_key(m, shape), node = m->shape[shape].node;
        if (kind_of(m, shape) == kind && group_of[key] < 0) {
            const int root = root_of(m, node);
            n->group[count] = (kki_group){
                .node = node, .shape = node ? -1 : shape, .root = root, .view = node ? view_from(n, root) : 0};
            group_of[key] = count++;
        }
    }
    return count;
}

/// group_of[key] for keys in use; −1 elsewhere.
static void number_groups(const kk_model *m, int32_t *group_of, kki_near *n) {
    for (int i = 0; i < m->nnode + m->nshape; i++) {
        group_of[i] = -1;
    }
    n->nlevel = number_some(m, 0, 0, group_of, n);
    n->nfixed = number_some(m, 1, n->nlevel, group_of, n);
    n->ngroup = number_some(m, 2, n->nfixed, group_of, n);
}

static int is_link(const kk_model *m, int node) {
    return node != 0 && kki_may_land(m, node);
}

static int is_round(const kki_shape *s) {
    return s->type == KK_SHAPE_SPHERE || s->type == KK_SHAPE_CAPSULE || s->type == KK_SHAPE_CYLINDER;
}

/// How far the shape reaches beyond its rod: balls and capsules have only an axis there.
static double rod_margin(const kki_shape *s) {
    return s->margin + (s->type == KK_SHAPE_CYLINDER ? 0 : s->half[0]);
}

static void set_rod(const kki_shape *s, const kk_transform *X, kki_rod *rod) {
    for (int k = 0; k < 3; k++) {
        rod->center[k] = kk_vec3_get(X->p, k);
        rod->axis[k] = X->R.m[3 * k + 2];
    }
    rod->half = s->type == KK_SHAPE_SPHERE ? 0 : s->half[1];
    rod->radius = s->type == KK_SHAPE_CYLINDER ? s->half[0] : 0;
}

static void outline_shapes(const kk_model *m, kki_near *n) {
    for (int i = 0; i < m->nshape; i++) {
        const kki_aabb *box = &m->shape[i].box;
        const kk_vec3 size = kk_vec3_sub(box->upper, box->lower);
        n->outline[i] = (kki_outline){.center = kk_vec3_scale(kk_vec3_add(box->lower, box->upper), 0.5),
                                      .radius = 0.5 * kk_vec3_norm(size),
                                      .half = {0.5 * size.x, 0.5 * size.y, 0.5 * size.z},
                                      .is_plane = m->shape[i].shape.type == KK_SHAPE_PLANE,
                                      .is_ball = m->shape[i].shape.type == KK_SHAPE_SPHERE};
        n->owner[i] = (kki_owner){m->shape[i].node, m->shape[i].collider, is_link(m, m->shape[i].node)};
        n->X_NS[i] = m->shape[i].X_NS;
        if (m->has_pairs) {
            set_rod(&m->shape[i].shape, &n->X_NS[i], &n->rod[i]);
        }
    }
}

/// A ball round two balls.
static void enclose(kki_group *g, kk_vec3 center, double radius, int is_first) {
    if (is_first) {
        g->center = center;
        g->radius = radius;
        return;
    }
    const kk_vec3 d = kk_vec3_sub(center, g->center);
    const double distance = kk_vec3_norm(d);
    if (distance + radius <= g->radius) {
        return;
    }
    if (distance + g->radius <= radius) {
        g->center = center;
        g->radius = radius;
        return;
    }
    const double size = 0.5 * (distance + g->radius + radius);
    g->center = kk_vec3_add(g->center, kk_vec3_scale(d, (size - g->radius) / distance));
    g->radius = size * (1 + 1e-12);
}

static void enclose_shapes(const kk_model *m, const int32_t *group_of, kki_near *n) {
    for (int i = 0; i < m->ncollider; i++) {
        const int shape = m->collider[i];
        kki_group *g = &n->group[group_of[group_key(m, shape)]];
        const kk_vec3 center = kk_transform_point(m->shape[shape].X_NS, n->outline[shape].center);
        enclose(g, center, n->outline[shape].radius, g->radius == 0);
    }
}

/// Groups that move by fours.
static void seat_groups(kki_near *n) {
    for (int i = n->nfixed; i < n->ngroup; i += 4) {
        kki_seen *x = &n->seen[(i - n->nfixed) / 4];
        for (int l = 0; l < 4; l++) {
            const kki_group *g = &n->group[i + l < n->ngroup ? i + l : i];
            x->node[l] = g->node;
            x->view[l] = g->view;
            n->radius[i + l] = g->radius;
            for (int k = 0; k < 3; k++) {
                x->center[k][l] = kk_vec3_get(g->center, k);
            }
        }
        x->goes_on = i > n->nfixed && memcmp(x->view, x[-1].view, sizeof x->view) == 0;
    }
}

static int is_inner(const kki_near *n, int a, int b) {
    return n->group[a].root != 0 && n->group[a].root == n->group[b].root;
}

/// Where a pair of groups stands that comes behind all others: in the last four, or in one of its own.
static int number_pair(const kk_model *m, kki_near *n, int a, int b) {
    const int i = n->group[a].node, j = n->group[b].node, way = is_inner(n, a, b) * n->stride;
    const double halves = kki_near_halves(i, is_link(m, i), j, is_link(m, j));
    kki_group_four *last = &n->four[n->nfour - 1];
    if (n->nfour == 0 || last->a != a || last->b + 3 < b || last->way[0] != way + a || last->halves != halves) {
        n->four[n->nfour++] = (kki_group_four){a, b, {way + a, way + b}, halves};
    }
    return 4 * (n->nfour - 1) + b - n->four[n->nfour - 1].b;
}

/// A ball that goes along a line and has a shape within it: along z what is round, and anything else along the longest side of its box.
static void sweep(const kk_model *m, const kki_near *n, int shape, kki_above *o) {
    const kki_outline *x = &n->outline[shape];
    const kk_transform *X = &n->X_NS[shape];
    const double *h = x->half;
    const int type = m->shape[shape].shape.type, is_round = type <= KK_SHAPE_CYLINDER, longer = h[1] > h[0];
    const int k = is_round || h[2] >= h[longer] ? 2 : longer;
    const double a = h[(k + 1) % 3], b = is_round ? 0 : h[(k + 2) % 3];
    o->radius = __builtin_sqrt(a * a + b * b);
    o->center = kk_transform_point(*X, x->center);
    o->along = kk_vec3_scale(kk_mat3_column(X->R, k), h[k] - (type <= KK_SHAPE_CAPSULE ? o->radius : 0));
    o->shape = shape;
}

/// A pair of a shape that moves and a plane of the world, behind all others.
static void add_above(const kk_model *m, kki_near *n, int plane, int group, int place) {
    const int at = plane * n->stride + group, fixed = n->group[plane].shape;
    const kki_shape_pair *p = &m->pair[place];
    kki_above_group *g = n->nabove > 0 ? &n->above_group[n->nabove - 1] : NULL;
    const int end = g ? g->end : 0;
    if (!g || g->at != at) {
        g = &n->above_group[n->nabove++];
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): laid out with all the rest
        *g = (kki_above_group){at, end, end, plane, group, n->group[group].node, m->shape[fixed].shape.margin};
    }
    sweep(m, n, p->first == fixed ? p->second : p->first, &n->above[end]);
    n->above[end].place = place;
    g->end++;
}

/// By which pairs of shapes are sorted: groups, inner ones behind others, and last those of a plane, which comes first in them, and what moves.
static uint64_t pair_key(const kki_near *n, int a, int b) {
    const int is_turned = b < n->nlevel, first = is_turned ? b : a, second = is_turned ? a : b;
    return (uint64_t)(first < n->nlevel) << 63 | (uint64_t)is_inner(n, a, b) << 62 | (uint64_t)first << 31 |
           (uint64_t)second;
}

/// Sorts the model's pairs and lists the pairs of groups, and what is over planes.
static void pair_groups(const kk_model *m, const int32_t *group_of, kki_near *n, kki_sort_item *item) {
    const uint64_t low = 0x7fffffffu;
    for (int i = 0; i < m->npair; i++) {
        const int a = group_of[group_key(m, m->pair[i].first)], b = group_of[group_key(m, m->pair[i].second)];
        item[i] = (kki_sort_item){pair_key(n, a, b), (uint64_t)i};
    }
    kki_sort(item, (size_t)m->npair, item + m->npair);
    for (int i = 0, pair = 0; i < m->npair; i++) {
        const int a = (int)(item[i].key >> 31 & low), b = (int)(item[i].key & low);
        n->order[i] = (int32_t)item[i].payload;
        if (item[i].key >> 63) {
            add_above(m, n, a, b, n->order[i]);
            continue;
        }
        if (i == 0 || item[i].key != item[i - 1].key) {
            pair = number_pair(m, n, a, b);
            const kki_group_four *x = &n->four[pair / 4];
            n->pair[pair] =
                (kki_group_pair){.a = a, .b = b, .first = i, .way = x->way[0] - a, .halves = (float)x->halves};
            n->has_ways[is_inner(n, a, b)] = 1;
        }
        n->known[n->order[i]].between = pair;
        n->pair[pair].count++;
    }
    for (int i = m->npair - 1; i >= 0; i--) {
        const int goes_on = i + 1 < m->npair && item[i].key == item[i + 1].key &&
                            m->pair[n->order[i]].first == m->pair[n->order[i + 1]].first;
        n->run_end[i] = goes_on ? n->run_end[i + 1] : i + 1;
    }
}

static void place(kki_layout *layout, const kk_model *m, kki_near *n) {
    const size_t pairs = (size_t)m->npair, colliders = (size_t)m->ncollider;
    const size_t groups = m->has_pairs ? colliders : 0, stride = m->has_pairs ? (size_t)n->stride : 0;
    size_t planes = 0;
    for (int i = 0; i < m->nshape; i++) {
        planes += kind_of(m, i) == 0;
    }
    KKI_LAYOUT_ARRAY(layout, n->group, groups);
    KKI_LAYOUT_ARRAY(layout, n->group_of, m->has_pairs ? (size_t)m->nnode + (size_t)m->nshape : 0);
    KKI_LAYOUT_ARRAY(layout, n->pair, 4 * pairs);
    KKI_LAYOUT_ARRAY(layout, n->four, pairs);
    KKI_LAYOUT_ARRAY(layout, n->order, pairs);
    KKI_LAYOUT_ARRAY(layout, n->run_end, pairs);
    KKI_LAYOUT_ARRAY(layout, n->outline, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, n->owner, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, n->X_NS, (size_t)m->nshape);
    KKI_LAYOUT_ARRAY(layout, n->rod, m->has_pairs ? (size_t)m->nshape : 0);
    KKI_LAYOUT_ARRAY(layout, n->measured, pairs + 1);
    KKI_LAYOUT_ARRAY(layout, n->apart, pairs);
    KKI_LAYOUT_ARRAY(layout, n->found, pairs);
    KKI_LAYOUT_ARRAY(layout, n->known, pairs);
    KKI_LAYOUT_ARRAY(layout, n->parted, pairs);
    KKI_LAYOUT_ARRAY(layout, n->radius, stride);
    KKI_LAYOUT_ARRAY(layout, n->reach, stride);
    KKI_LAYOUT_ARRAY(layout, n->moved, 2 * stride);
    KKI_LAYOUT_ARRAY(layout, n->key, 4 * pairs);
    KKI_LAYOUT_ARRAY(layout, n->limit, 4 * pairs);
    KKI_LAYOUT_ARRAY(layout, n->asked, 4 * pairs);
    KKI_LAYOUT_ARRAY(layout, n->seen, groups / 4 + 1);
    KKI_LAYOUT_ARRAY(layout, n->above, pairs);
    KKI_LAYOUT_ARRAY(layout, n->above_group, pairs);
    KKI_LAYOUT_ARRAY(layout, n->over_by, planes * stride);
    KKI_LAYOUT_ARRAY(layout, n->view, groups);
    const size_t boxes = m->has_pairs ? 0 : colliders;
    KKI_LAYOUT_ARRAY(layout, n->has_left, boxes);
    KKI_LAYOUT_ARRAY(layout, n->plane, boxes);
    KKI_LAYOUT_ARRAY(layout, n->mover, boxes);
    KKI_LAYOUT_ARRAY(layout, n->over, boxes);
}

/// What there is room for `most` pairs in.
static void place_list(kki_layout *layout, kki_near *n) {
    const size_t fat = !n->model->has_pairs && n->has_workers ? kki_broad_phase_fat_room(n->most) : 0;
    KKI_LAYOUT_ARRAY(layout, n->list, (size_t)n->most + 1);
    KKI_LAYOUT_ARRAY(layout, n->candidate, fat + 1);
    KKI_LAYOUT_ARRAY(layout, n->found_by, fat / KKI_NEAR_PART + 1);
}

void kki_near_forget(kki_near *n) {
    for (int i = 0; i < 4 * n->nfour; i++) {
        n->key[i] = n->pair[i].count ? -__builtin_inf() : __builtin_inf();
        n->limit[i] = __builtin_inf();
        n->pair[i].close.count = 0;
    }
    for (int i = 0; i < n->model->npair; i++) {
        n->known[i].key = -__builtin_inf();
    }
    for (int i = 0; i < 2 * n->stride; i++) {
        n->moved[i] = 0;
    }
    n->sum = 0;
}

/// What is asked of a pair's rods.
static void pair_rods(const kk_model *m, const kki_near *n, const int32_t *group_of, kki_known *k) {
    const kki_shape *a = &m->shape[k->first].shape, *b = &m->shape[k->second].shape;
    const double radius[2] = {n->group[group_of[group_key(m, k->first)]].radius,
                              n->group[group_of[group_key(m, k->second)]].radius};
    k->round = is_round(a) && is_round(b) ? rod_margin(a) + rod_margin(b) : __builtin_inf();
    k->node[0] = m->shape[k->first].node;
    k->node[1] = m->shape[k->second].node;
    k->passing = (float)kki_passing_gap(m, k->first, k->second, radius, &k->straight);
}

static void measure_pairs(const kk_model *m, kki_near *n) {
    for (int i = 0; i < m->npair; i++) {
        kki_known *k = &n->known[i];
        k->first = m->pair[i].first;
        k->second = m->pair[i].second;
        k->calm = 0.25 * kki_thickness(m, k->first, k->second);
        pair_rods(m, n, n->group_of, k);
    }
    kki_near_forget(n);
}

static kk_status make_groups(const kk_model *m, kki_near *n) {
    const size_t pairs = 2 * (size_t)m->npair;
    kki_sort_item *item = kki_allocate_array(&n->allocator, pairs, sizeof *item);
    if (!item) {
        return KK_OUT_OF_MEMORY;
    }
    number_groups(m, n->group_of, n);
    enclose_shapes(m, n->group_of, n);
    seat_groups(n);
    pair_groups(m, n->group_of, n, item);
    measure_pairs(m, n);
    kki_release_array(&n->allocator, item, pairs, sizeof *item);
    return KK_OK;
}

void kki_near_resize(kki_near *n, const kk_model *m) {
    outline_shapes(m, n);
    if (!m->has_pairs) { // the broad phase is told of boxes when they are placed
        return;
    }
    for (int i = 0; i < n->ngroup; i++) {
        n->group[i].radius = 0;
    }
    enclose_shapes(m, n->group_of, n);
    seat_groups(n);
    for (int k = 0; k < n->nabove; k++) {
        kki_above_group *g = &n->above_group[k];
        g->margin = m->shape[n->group[g->plane].shape].shape.margin;
        for (int i = g->first; i < g->end; i++) {
            sweep(m, n, n->above[i].shape, &n->above[i]);
        }
    }
    measure_pairs(m, n);
}

// ---- the broad phase, for many

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
        .capacity = m->ncollider, .pair_capacity = n->most, .filter = may_touch, .user = (void *)m};
    const kk_status status = kki_broad_phase_create(&def, &n->allocator, &n->broad, NULL);
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

kk_status kki_near_make_room(kki_near *n, int most) {
    n->most = most;
    n->broad = NULL;
    kki_layout layout = kki_layout_over(NULL);
    place_list(&layout, n);
    n->list_size = layout.size;
    n->list_block = kki_allocate_zeroed(&n->allocator, layout.size);
    if (!n->list_block) {
        return KK_OUT_OF_MEMORY;
    }
    layout = kki_layout_over(n->list_block);
    place_list(&layout, n);
    return n->model->has_pairs ? KK_OK : make_broad_phase(n->model, n);
}

void kki_near_release_room(kki_near *n) {
    kki_broad_phase_free(n->broad);
    kki_release(&n->allocator, n->list_block, n->list_size);
    n->broad = NULL;
    n->list_block = NULL;
}

kk_status kki_near_create(kki_near *near, const kk_model *model, int most, bool has_workers,
                          const kk_allocator *allocator) {
    *near = (kki_near){.allocator = *allocator,
                       .has_workers = has_workers,
                       .stride = model->ncollider + 3,
                       .kernels = kki_near_kernels_best(),
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
    if (model->has_pairs) {
        const kk_status status = make_groups(model, near);
        return status ? status : kki_near_make_room(near, model->npair);
    }
    list_planes(model, near);
    return kki_near_make_room(near, most);
}

void kki_near_destroy(kki_near *near) {
    kki_near_release_room(near);
    kki_release(&near->allocator, near->block, near->size);
    *near = (kki_near){.block = NULL};
}
