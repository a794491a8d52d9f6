/// Links that stand: feet about which legs turn, and whatever else of a robot bears on the world or on another link.
///
/// A leg that turns about its foot lifts it, or presses it down, in every drift to the middle of the step, by h²/8 κ with the velocity h/2 κ, κ = J̇v of its points. That
/// is no motion of the foot, and the second half of the step takes it back where it is let: u_end = −h/2 κ (reflect.c). So what stood is seen without it, its gaps
/// included: a foot that is held at rest at the end of the step instead rises through the dead band in a few steps, is let go, and comes down with several times its force.
///
/// All points of a link share one motion, so all of them are seen like that or none, and what is taken for turning is a motion that a rigid link can have: that of its
/// center of pressure, and the change of its spin. (A point's own κ has the centripetal part about that, too; asked for of two points of a sole it would strain the sole,
/// and friction would brace them against each other until one slips.)
#include "simulate/island.h"

#define ABS(x) __builtin_fabs(x)

/// Slower than this nothing turns, m/s: feet would be lifted by a nanometer a step, and what all but rests poses the same problem in every step.
static const double TURNING = 2e-6;
/// What turning explains up to this factor, it explains.
static const double NEARLY = 1.25;

typedef struct turning {
    kk_vec3 center;
    kk_vec3 velocity, spin; ///< that half a step adds, at the center, while all joints keep their speeds
} turning;

static int same_face(const kki_contact *a, const kki_contact *b) {
    return a->pair == b->pair && a->normal.x == b->normal.x && a->normal.y == b->normal.y && a->normal.z == b->normal.z;
}

/// Links, and the world they stand on.
static int may_stand(const kk_model *m, const kk_simulator *s, const kki_contact *k) {
    const kki_contact_law *law = &m->law[k->law];
    const kki_owner *a = &s->near.owner[k->shape[0]], *b = &s->near.owner[k->shape[1]];
    return (a->node == 0) + a->is_link + (b->node == 0) + b->is_link == 2 && law->restitution == 0 &&
           !(law->stiffness < __builtin_inf()) && !(law->slip > 0);
}

/// Where the link bore in the last step; false where it did not. `holds` says whether some point did inside its cone.
static int find_center(const kk_model *m, const kk_simulator *s, int from, int end, kk_vec3 *center, int *holds) {
    double sum = 0;
    *center = kk_vec3_make(0, 0, 0);
    *holds = 0;
    for (int i = from; i < end; i++) {
        const kki_contact *k = &s->contacts.list[i];
        const double n = kk_vec3_dot(k->kept, k->normal), rim = m->law[k->law].friction * n * (1 - 1e-6);
        if (n > 0) {
            *center = kk_vec3_add(*center, kk_vec3_scale(k->point, n));
            *holds |= kk_vec3_dot(k->kept, k->kept) - n * n < rim * rim;
            sum += n;
        }
    }
    *center = sum > 0 ? kk_vec3_scale(*center, 1 / sum) : *center;
    return sum > 0;
}

/// The spin's rate is the skew part of the matrix that accelerations of points go by.
static inline turning turning_of(const kk_model *m, const kk_simulator *s, int node, kk_vec3 center) {
    if (node == 0) {
        return (turning){center, {0, 0, 0}, {0, 0, 0}};
    }
    const kki_bias *b = kki_bias_of(s->data, node);
    const kk_mat3 A = kki_mat3(b->spin);
    const kk_vec3 arm = kk_vec3_sub(center, kki_vec3(kki_pose_of(s->data, node)->p));
    const kk_vec3 a = kk_vec3_add(kk_vec3_add(kki_vec3(b->a), kk_mat3_mul_vec(A, arm)), kki_vec3(m->gravity));
    const kk_vec3 twice = kk_vec3_make(A.m[7] - A.m[5], A.m[2] - A.m[6], A.m[3] - A.m[1]);
    return (turning){center, kk_vec3_scale(a, 0.5 * s->h), kk_vec3_scale(twice, 0.25 * s->h)};
}

/// Of what turning explains, the share that leaves no point overlapping at the end of the step.
static double share_of(const kk_simulator *s, int from, int end) {
    double share = 1;
    for (int i = from; i < end; i++) {
        const kki_contact *k = &s->contacts.list[i];
        const double most = 4 * k->gap / s->h;
        if (k->swing > 0 && share * k->swing > most) {
            share = most > 0 ? most / k->swing : 0;
        }
    }
    return share;
}

static double least_of(double a, double b) {
    return a < b ? a : b;
}

/// Of what turning explains, the share that the points show at the middle. What they do not show is not reflected: asked to part by more than they came, contacts would do
/// work, and where a link is wedged without any bound.
static double shown_share(const kk_simulator *s, int from, int end) {
    double along = 0, whole = 0;
    for (int i = from; i < end; i++) {
        const kki_contact *k = &s->contacts.list[i];
        along += k->swing * kki_parting_speed(s, k);
        whole += k->swing * k->swing;
    }
    const double share = NEARLY * along / whole;
    return share < 0 ? 0 : share < 1 ? share : 1;
}

/// Gaps, and the velocity that will be reflected, of a link's points.
static void see_turning(kk_simulator *s, int from, int end, const turning *t, int holds) {
    int first = from;
    double fastest = 0;
    for (int i = from; i < end; i++) {
        kki_contact *k = &s->contacts.list[i];
        const kk_vec3 u = kk_vec3_add(t->velocity, kk_vec3_cross(t->spin, kk_vec3_sub(k->point, t->center)));
        k->swing = kk_vec3_dot(u, k->normal);
        fastest = ABS(k->swing) > fastest ? ABS(k->swing) : fastest;
        k->velocity = kk_vec3_make(k->swing, holds ? kk_vec3_dot(u, k->tangent[0]) : 0,
                                   holds ? kk_vec3_dot(u, k->tangent[1]) : 0);
        if (i + 1 == end || !same_face(k, k + 1)) {
            kki_open_face(s, first, i + 1, 1);
            first = i + 1;
        }
    }
    double share = fastest > TURNING ? shown_share(s, from, end) : 0;
    share = share > 0 ? least_of(share, share_of(s, from, end)) : 0;
    for (int i = from; i < end; i++) {
        s->contacts.list[i].velocity = kk_vec3_scale(s->contacts.list[i].velocity, share);
        s->contacts.list[i].swing *= share;
    }
}

void kki_find_pivots(const kk_model *m, kk_simulator *s) {
    for (int from = 0, end = 0; from < s->contacts.count; from = end) {
        const kki_contact *k = &s->contacts.list[from];
        kk_vec3 center;
        int holds;
        for (end = from + 1; end < s->contacts.count && kki_same_nodes(k, &s->contacts.list[end]); end++) {
        }
        if (may_stand(m, s, k) && find_center(m, s, from, end, &center, &holds)) {
            turning t = turning_of(m, s, k->node[1], center);
            if (k->node[0]) { // the world does not turn
                const turning a = turning_of(m, s, k->node[0], center);
                t.velocity = kk_vec3_sub(t.velocity, a.velocity);
                t.spin = kk_vec3_sub(t.spin, a.spin);
            }
            see_turning(s, from, end, &t, holds);
        }
    }
}
