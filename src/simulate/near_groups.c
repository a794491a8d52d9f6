/// Near pairs by groups: balls round links, then what was measured before, then balls and boxes of shapes.
///
/// A robot has many shapes on few links, so a ball round each link's shapes rules most pairs out at once; shapes of links
/// that are near nothing are not even placed. A pair that was found apart is not looked at again before both have moved as
/// far as that: their ways are summed up from pose to pose, so this too is a proof.
#include "collision/distance.h"
#include "simulate/near_shapes.h"

/// Taken off distances that are kept, m: far more than rounding.
static const double SLACK = 1e-7;

// ---- how far apart

static double balls_apart(const double *x, const double *y) {
    const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2];
    return __builtin_sqrt(dx * dx + dy * dy + dz * dz) - (x[3] + y[3]);
}

static int balls_meet(const double *x, const double *y, double reach) {
    const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2], r = x[3] + y[3] + reach;
    return dx * dx + dy * dy + dz * dz <= r * r;
}

/// How far axis k of a's box parts it from b's; less than `reach` where it does not.
static double apart_along(const kk_simulator *s, int a, int b, int k, kk_vec3 from_a_to_b, double reach) {
    const kk_vec3 axis = kk_mat3_column(s->X_WS[a].R, k);
    const double apart = __builtin_fabs(kk_vec3_dot(axis, from_a_to_b)) - s->near.outline[a].half[k];
    return apart > reach ? apart - kki_near_half_width(s, b, axis) : apart;
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

/// How far two shapes are apart at least; not above `reach` where they may meet. Balls, then boxes; or a plane and a box.
static double shapes_apart(const kk_simulator *s, int a, int b, double reach, int8_t *axis) {
    const kki_outline *A = &s->near.outline[a], *B = &s->near.outline[b];
    if (A->is_plane || B->is_plane) {
        return A->is_plane ? kki_near_over_plane(s, a, b, reach) : kki_near_over_plane(s, b, a, reach);
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
        const int is_a = kki_near_is_plane(n, p->a);
        const double *ball = is_a ? y : x;
        return kki_near_height(&s->X_WS[n->group[is_a ? p->a : p->b].shape], ball) - ball[3];
    }
    return balls_apart(x, y);
}

// ---- where groups are, and what is between them

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
    if (g->root != 0 && g->node != g->root) {
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
            kki_near_want(s, n->group[i].shape);
        }
    }
    if (!(all < 1e6)) { // sums are to stay small against a double's digits, and numbers
        kki_near_forget(n);
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
    kki_near_want(s, a);
    kki_near_want(s, b);
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
            kki_near_want(s, a);
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

int kki_near_by_groups(const kk_model *m, kk_simulator *s) {
    kki_near *n = &s->near;
    const double least = kki_near_always(m, s);
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
