/// Near pairs by groups: balls round links, then what was measured before, then balls and boxes of shapes.
///
/// A robot has many shapes on few links, so a ball round each link's shapes rules most pairs out at once; shapes of links
/// that are near nothing are not even placed. A pair that was found apart is not looked at again before both have moved as
/// far as that: their ways are summed up from pose to pose, so this too is a proof. What is over planes of the world is asked anew in every step, for less.
#include "collision/distance.h"
#include "simulate/near_kernels.h"
#include "simulate/near_shapes.h"

/// Taken off distances that are kept, m: far more than rounding.
static const double SLACK = 1e-7;
/// Of its reach that a pair which turned out to be apart is measured to.
static const double ENOUGH = 2;

static double lesser(double a, double b) {
    return a < b ? a : b;
}

static double greater(double a, double b) {
    return a > b ? a : b;
}

// ---- how far apart

static double balls_apart(const double *x, const double *y) {
    const double dx = x[0] - y[0], dy = x[1] - y[1], dz = x[2] - y[2];
    return __builtin_sqrt(dx * dx + dy * dy + dz * dz) - (x[3] + y[3]);
}

/// How far boxes are apart along the axis that parts them most, or `least`. Of a ball's axes none says more than the ball itself.
static double boxes_apart(const kk_simulator *s, int a, int b, kk_vec3 d, double least) {
    const kki_outline *A = &s->near.outline[a], *B = &s->near.outline[b];
    const kk_mat3 Ra = s->shapes.X_WS[a].R, Rb = s->shapes.X_WS[b].R, C = kk_mat3_mul(kk_mat3_transpose(Ra), Rb);
    const kk_vec3 u = kk_mat3_tmul_vec(Ra, d), v = kk_mat3_tmul_vec(Rb, d);
    const double da[3] = {u.x, u.y, u.z}, db[3] = {v.x, v.y, v.z};
    double by_a = -__builtin_inf(), by_b = by_a;
    for (int k = 0; k < 3; k++) {
        double wa = 0, wb = 0; // half widths of the one along the other's axis
        for (int l = 0; l < 3; l++) {
            wb += __builtin_fabs(C.m[3 * k + l]) * B->half[l];
            wa += __builtin_fabs(C.m[3 * l + k]) * A->half[l];
        }
        by_a = greater(__builtin_fabs(da[k]) - A->half[k] - wb, by_a);
        by_b = greater(__builtin_fabs(db[k]) - B->half[k] - wa, by_b);
    }
    least = A->is_ball ? least : greater(by_a, least);
    return B->is_ball ? least : greater(by_b, least);
}

/// How far two shapes are apart at least: by balls and boxes, whichever tells more. Planes that move may meet anything.
static double shapes_apart(const kk_simulator *s, int a, int b) {
    const double *x = s->shapes.sphere + 4 * (size_t)a, *y = s->shapes.sphere + 4 * (size_t)b;
    if (s->near.outline[a].is_plane | s->near.outline[b].is_plane) {
        return -__builtin_inf();
    }
    return boxes_apart(s, a, b, kk_vec3_make(y[0] - x[0], y[1] - x[1], y[2] - x[2]), balls_apart(x, y));
}

/// The ball round a group.
static void ball_of(const kki_near *n, int i, double ball[4]) {
    const kki_group *g = &n->group[i];
    const int at = i - n->nfixed;
    const kki_seen *x = &n->seen[at / 4];
    const double c[3] = {g->center.x, g->center.y, g->center.z};
    for (int k = 0; k < 3; k++) {
        ball[k] = at < 0 ? c[k] : x->at[0][k][at % 4];
    }
    ball[3] = g->radius;
}

static double groups_apart(const kki_near *n, const kki_group_pair *p) {
    double x[4], y[4];
    ball_of(n, p->a, x);
    ball_of(n, p->b, y);
    return balls_apart(x, y);
}

// ---- where groups are, and what is between them

static void place_groups(kk_simulator *s) {
    kki_near *n = &s->near;
    n->kernels->track(n, s->data, kki_near_half(s));
    for (int i = 0; i < n->nfixed; i++) {
        kki_near_want(s, n->group[i].shape);
    }
    if (!(n->sum < 1e6)) { // sums are to stay small against a double's digits, and numbers
        kki_near_forget(n);
    }
}

/// What both groups of a pair have moved.
static double moved_between(const kki_near *n, const kki_group_pair *p) {
    const double *moved = n->moved + p->way;
    return moved[p->a] + moved[p->b];
}

/// Between two groups that are near each other.
typedef struct between {
    const kki_group_pair *p;
    double least; // gap that always counts
    double moved; // of both groups
    double reach; // of both groups, in half a step
    double apart; // as which they need not be looked at
    double limit; // the least of the keys that were believed
} between;

/// Whether a pair of shapes need not be measured again.
static int is_far(const kki_near *n, const between *x, int place) {
    return (n->known[place].key > x->moved + x->apart) & (x->reach <= n->known[place].limit);
}

/// Whether a distance is found at once.
static int is_convex(const kk_model *m, int shape) {
    return m->shape[shape].shape.type < KK_SHAPE_MESH;
}

/// Whether a distance that was good for slow ones alone still tells that a pair need not be looked at. It counts how fast the two shapes are, where their
/// groups may be faster.
static int is_parted(const kk_model *m, const kk_simulator *s, double moved, double reach, int place) {
    const kki_known *k = &s->near.known[place];
    const double apart = k->key - moved;
    return k->limit < __builtin_inf() && apart > reach && kki_passes_by(m, s, k->first, k->second, apart);
}

/// Notes how far two shapes are apart themselves. What is fast is followed along its path (fast.c), whatever the distance: the key is good for slow ones only, so
/// that this does not depend on what was measured before; or for those that are followed in vain. @param reach  of both groups
static void note_apart(kki_known *k, double apart, double moved, double reach) {
    const int is_calm = reach <= k->calm;
    k->key = apart - (is_calm ? SLACK : SLACK + k->passing) + moved;
    k->limit = is_calm ? k->calm : k->straight;
}

/// Measures two shapes themselves. What both can move in a few steps is far enough.
static void measure_shapes(const kk_model *m, const kk_simulator *s, double moved, double reach, int place) {
    const kki_near *n = &s->near;
    const int a = s->near.known[place].first, b = s->near.known[place].second;
    const double apart = kki_distance_at_least(&m->shape[a].shape, &s->shapes.X_WS[a], &m->shape[b].shape,
                                               &s->shapes.X_WS[b], ENOUGH * reach, &n->parted[place]);
    note_apart(&n->known[place], apart, moved, 0);
}

/// Whether that is worth while before it is known that they do not touch: where they have just come near, and where they are fast.
static int is_worth_measuring(const kk_model *m, const kk_simulator *s, int place) {
    const int a = s->near.known[place].first, b = s->near.known[place].second;
    const kki_outline *o = s->near.outline;
    return is_convex(m, a) && is_convex(m, b) && !o[a].is_plane && !o[b].is_plane &&
           (s->near.known[place].key > -__builtin_inf() ||
            s->shapes.reach[a] + s->shapes.reach[b] > s->near.known[place].calm);
}

/// Measures a pair of shapes that are placed; gives the new key. @param rods  how far theirs are apart
static double measure(const kk_model *m, kk_simulator *s, double moved, double least, int place, double rods,
                      int *count) {
    kki_near *n = &s->near;
    const int a = s->near.known[place].first, b = s->near.known[place].second;
    const double reach = least + kki_near_reach(s, a, b);
    if (is_parted(m, s, moved, reach, place)) {
        return n->known[place].key;
    }
    if (rods > reach && kki_passes_by(m, s, a, b, rods)) {
        note_apart(&n->known[place], rods, moved, 0);
        return n->known[place].key;
    }
    const int is_told = rods > -__builtin_inf() && s->shapes.reach[a] + s->shapes.reach[b] <= n->known[place].calm;
    const double apart = is_told ? -__builtin_inf() : shapes_apart(s, a, b); // of slow ones boxes tell no more
    if (apart > reach) {
        n->known[place].limit = __builtin_inf();
        return n->known[place].key = apart - SLACK + moved;
    }
    if (!is_told && is_worth_measuring(m, s, place)) {
        measure_shapes(m, s, moved, reach, place);
        if (is_parted(m, s, moved, reach, place)) {
            return n->known[place].key;
        }
    }
    n->found[(*count)++] = place;
    n->known[place].limit = __builtin_inf();
    return n->known[place].key = -__builtin_inf();
}

/// Whether rods tell that a pair is far, as for the next steps then, before the shapes are placed.
static int note_rods(const between *x, kki_known *k, double apart) {
    const int is_calm = x->reach <= k->calm;
    const int is_far = (apart > x->apart + (is_calm ? 0 : k->passing)) & (is_calm | (x->reach <= k->straight));
    if (is_far) {
        note_apart(k, apart, x->moved, x->reach);
    }
    return is_far;
}

static int are_rods_far(const kk_simulator *s, const between *x, int place, double *apart) {
    *apart = -__builtin_inf();
    s->near.kernels->part(&s->near, s->data, &place, 1, apart);
    return note_rods(x, &s->near.known[place], *apart);
}

/// A pair of shapes: how far they are apart at least.
static double look_at(const kk_model *m, kk_simulator *s, between *x, int place, int *count) {
    const kki_near *n = &s->near;
    double rods;
    if (!is_far(n, x, place) && !are_rods_far(s, x, place, &rods)) {
        kki_near_want(s, n->known[place].first);
        kki_near_want(s, n->known[place].second);
        (void)measure(m, s, x->moved, x->least, place, rods, count);
    }
    x->limit = lesser(n->known[place].limit, x->limit);
    return n->known[place].key - x->moved;
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
    double nearest[KKI_CLOSE_PAIRS], ball[4];
    ball_of(n, p->b, ball);
    nearest[0] = c->key = __builtin_inf();
    c->count = 0;
    for (int i = p->first, end = 0; i < p->first + p->count; i = end) {
        const int a = m->pair[n->order[i]].first;
        end = n->run_end[i];
        if (end > i + 4 && !n->outline[a].is_plane) {
            kki_near_want(s, a);
            const double apart = balls_apart(s->shapes.sphere + 4 * (size_t)a, ball);
            if (apart > x->least + p->halves * (s->shapes.reach[a] + n->reach[p->b])) {
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

/// Of the few pairs that were nearest when all were last looked at, lists those that are to be measured; what the others and all the rest are apart stands
/// as the groups' key until then.
static int list_close(kki_near *n, const between *x, int i, const kki_close *c, int listed) {
    double key = c->key, limit = c->limit;
    for (int k = 0; k < c->count; k++) {
        const int place = c->place[k], far = is_far(n, x, place);
        const double own = far ? n->known[place].key : __builtin_inf(),
                     bound = far ? n->known[place].limit : __builtin_inf();
        key = lesser(own, key);
        limit = lesser(bound, limit);
        n->measured[listed] = place;
        listed += !far;
    }
    n->key[i] = key;
    n->limit[i] = limit;
    return listed;
}

static between between_of(const kki_near *n, int i, double least) {
    const kki_group_pair *p = &n->pair[i];
    const double reach = n->reach[p->a] + n->reach[p->b];
    return (between){.p = p,
                     .least = least,
                     .moved = moved_between(n, p),
                     .reach = reach,
                     .apart = least + p->halves * reach,
                     .limit = __builtin_inf()};
}

/// Two groups that have come near since they were last looked at: all their pairs, or a list of the few that may be near.
static int look_between(const kk_model *m, kk_simulator *s, int i, double least, int listed, int *count) {
    kki_near *n = &s->near;
    kki_close *c = &n->pair[i].close;
    between x = between_of(n, i, least);
    if (c->count > 0 && c->key > x.moved + x.apart && x.reach <= c->limit) {
        return list_close(n, &x, i, c, listed);
    }
    const double apart = groups_apart(n, x.p);
    n->key[i] = x.moved + (apart > x.apart ? apart - SLACK : look_into(m, s, &x, c, count));
    n->limit[i] = x.limit;
    return listed;
}

static void lower_key(kki_near *n, const kki_known *k) {
    n->key[k->between] = lesser(k->key, n->key[k->between]);
    n->limit[k->between] = lesser(k->limit, n->limit[k->between]);
}

/// Takes those off the list that are far as their rods tell; gives how many are left.
static int part_listed(kk_simulator *s, double least, int listed) {
    kki_near *n = &s->near;
    int left = 0;
    n->kernels->part(n, s->data, n->measured, listed, n->apart);
    for (int i = 0; i < listed; i++) {
        const int place = n->measured[i];
        kki_known *k = &n->known[place];
        const between x = between_of(n, k->between, least);
        if (note_rods(&x, k, n->apart[i])) {
            lower_key(n, k);
            continue;
        }
        n->measured[left] = place;
        n->apart[left++] = n->apart[i];
    }
    return left;
}

/// First all places, then all distances: nothing has to wait for one of them before it goes on.
static void measure_listed(const kk_model *m, kk_simulator *s, double least, int listed, int *count) {
    kki_near *n = &s->near;
    int wanted = 0;
    for (int i = 0; i < listed; i++) {
        wanted = kki_near_add(s, n->known[n->measured[i]].first, n->asked, wanted);
        wanted = kki_near_add(s, n->known[n->measured[i]].second, n->asked, wanted);
    }
    kki_near_place(s, n->asked, wanted);
    for (int i = 0; i < listed; i++) {
        const int place = n->measured[i];
        const kki_known *k = &n->known[place];
        const double rods = n->apart[i];
        (void)measure(m, s, moved_between(n, &n->pair[k->between]), least, place, rods, count);
        lower_key(n, k);
    }
}

// ---- over planes of the world

/// Lists shapes of a group that is near a plane, and their pairs with it, behind `count` others; gives how many there are then. Each is written in any case, so that
/// nobody has to guess whether it counts.
static int look_over(const kk_simulator *s, const kki_above_group *g, double least, int count) {
    const kki_near *n = &s->near;
    const kk_transform *P = &n->X_NS[n->group[g->plane].shape];
    const kki_pose *X = kki_pose_of(s->data, g->node);
    const kk_vec3 z_W = kk_mat3_column(P->R, 2);
    const kk_vec3 up = kk_vec3_make(kk_vec3_dot(kki_vec3(X->R[0]), z_W), kk_vec3_dot(kki_vec3(X->R[1]), z_W),
                                    kk_vec3_dot(kki_vec3(X->R[2]), z_W)); // in the node
    const double most = least + 2 * n->reach[g->group] - kk_vec3_dot(z_W, kk_vec3_sub(kki_vec3(X->p), P->p));
    for (const kki_above *o = n->above + g->first, *end = n->above + g->end; o < end; o++) {
        n->asked[count] = o->shape;
        n->found[count] = o->place;
        count += !(kk_vec3_dot(o->center, up) - (__builtin_fabs(kk_vec3_dot(o->along, up)) + o->radius) > most);
    }
    return count;
}

static int look_over_planes(kk_simulator *s, double least) {
    const kki_near *n = &s->near;
    const double *by = n->over_by, most = least + SLACK;
    int count = 0, wanted = 0;
    for (const kki_above_group *g = n->above_group, *end = g + n->nabove; g < end; g++) {
        if (!(by[g->at] > most + g->margin)) {
            count = look_over(s, g, most + g->margin, count);
        }
    }
    for (int i = 0; i < count; i++) {
        wanted = kki_near_add(s, n->asked[i], n->asked, wanted);
    }
    kki_near_place(s, n->asked, wanted);
    return count;
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
    place_groups(s);
    int count = look_over_planes(s, least), listed = 0;
    const int near = n->kernels->ask(n, least);
    for (int i = 0; i < near; i++) {
        listed = look_between(m, s, n->asked[i], least, listed, &count);
    }
    measure_listed(m, s, least, part_listed(s, least, listed), &count);
    sort_found(n->found, count);
    for (int i = 0; i < count; i++) {
        const kki_shape_pair *p = &m->pair[n->found[i]];
        n->list[i] = (kki_near_pair){p->first, p->second, p->law, least + kki_near_reach(s, p->first, p->second)};
    }
    return count;
}

/// What is fast has been measured before; over planes nothing is.
void kki_near_parted(const kk_model *model, kk_simulator *s, int i) {
    const kki_near *n = &s->near;
    const kki_near_pair *near = &n->list[i];
    if (!n->broad && n->known[n->found[i]].calm < __builtin_inf() && is_convex(model, near->first) &&
        is_convex(model, near->second) &&
        !(s->shapes.reach[near->first] + s->shapes.reach[near->second] > n->known[n->found[i]].calm)) {
        const kki_group_pair *p = &n->pair[n->known[n->found[i]].between];
        measure_shapes(model, s, moved_between(n, p), near->reach, n->found[i]);
    }
}
