/// What the swarm starts from: bodies with the velocities that forces alone would give them, and points with arms, bias and the last impulses.
#include <string.h>

#include "simulate/free_bodies/parts.h"
#include "simulate/island.h"

/// Overlap that is left alone, as a share of what a step repairs at most, and share of the rest that a step undoes: sweeps that all at once would lift one
/// corner before the other, and shake what stands.
static const double SLOP = 0.01, REPAIR = 0.2;

// ---- bodies

static void put4(double *to, kk_vec3 a) {
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
    to[3] = 0;
}

/// J in world axes: R J Rᵀ.
static void turn_inverse(const kki_free_body *own, const kk_mat3 *R, double *to) {
    const double *k = own->inverse;
    if (kki_is_round(k)) {
        const double numbers[KKI_SWARM_BODY] = {k[0], k[1], k[1], k[1], 0, 0, 0, 1};
        memcpy(to, numbers, sizeof numbers);
        return;
    }
    const kk_sym3 J = kk_sym3_rotate(*R, (kk_sym3){k[1], k[2], k[3], k[4], k[5], k[6]});
    const double numbers[KKI_SWARM_BODY] = {k[0], J.xx, J.yy, J.zz, J.xy, J.xz, J.yz, 0};
    memcpy(to, numbers, sizeof numbers);
}

/// Velocities that forces add in the step: those of the caller, on the body and along its joint, and its weight. What the kick's factor would say of it.
/// @param k  what answers, world axes
static void free_change(const kki_free_pass *p, int node, int dof, const kk_mat3 *R, const double *k, kk_vec3 *linear,
                        kk_vec3 *angular) {
    const kk_simulator *s = p->s;
    if (s->forces.no_tau && s->forces.no_pushes) {
        *linear = kk_vec3_scale(kki_vec_at(p->m->gravity), s->h);
        *angular = kk_vec3_make(0, 0, 0);
        return;
    }
    const double *tau = s->forces.tau + dof;
    const kk_force none = {{0, 0, 0}, {0, 0, 0}}, push = s->forces.no_pushes ? none : s->readout.outside[node];
    const kk_vec3 F = kk_vec3_add(push.linear, kk_mat3_mul_vec(*R, kki_vec_at(tau + 3)));
    const kk_vec3 N = kk_vec3_add(push.angular, kk_mat3_mul_vec(*R, kki_vec_at(tau)));
    const kk_vec3 a = kk_vec3_add(kki_vec_at(p->m->gravity), kk_vec3_scale(F, k[0]));
    *linear = kk_vec3_scale(a, s->h);
    *angular = kk_vec3_scale(kk_sym3_mul_vec((kk_sym3){k[1], k[2], k[3], k[4], k[5], k[6]}, N), s->h);
}

void kki_free_bodies_begin_bodies(void *context, int first, int end) {
    const kki_free_pass *p = context;
    const kk_simulator *s = p->s;
    const kki_free_bodies *x = &s->free_bodies;
    for (int i = first; i < end; i++) {
        const int node = x->node[i], dof = x->dof[i];
        kki_fetch_body(s, node);
        const kki_pose *pose = kki_pose_of(s->data, node);
        const kki_rates *V = kki_rates_of(s->data, node);
        const kk_mat3 R = kki_mat3(pose->R);
        const size_t at = KKI_SWARM_BODY * (size_t)i;
        kk_vec3 linear, angular;
        x->place[i] = kki_vec3(pose->p);
        turn_inverse(&x->own[node], &R, x->swarm.inverse + at);
        free_change(p, node, dof, &R, x->swarm.inverse + at, &linear, &angular);
        put4(x->swarm.before + at, kki_vec3(V->u));
        put4(x->swarm.before + at + 4, kki_vec3(V->w));
        put4(x->swarm.free + at, kk_vec3_add(kki_vec3(V->u), linear));
        put4(x->swarm.free + at + 4, kk_vec3_add(kki_vec3(V->w), angular));
    }
}

// ---- points

static void put_lane(double to[3][KKI_SWARM_LANES], int lane, kk_vec3 a) {
    to[0][lane] = a.x;
    to[1][lane] = a.y;
    to[2][lane] = a.z;
}

/// @param at  where the body's numbers begin
static kk_vec3 arm_of(const kki_free_bodies *x, int at, kk_vec3 point) {
    const int body = at / KKI_SWARM_BODY;
    return body == x->swarm.nbody ? kk_vec3_make(0, 0, 0) : kk_vec3_sub(point, x->place[body]);
}

static kk_vec3 velocity_of(const kk_simulator *s, int node, kk_vec3 arm) {
    const kki_rates *V = kki_rates_of(s->data, node);
    return node == 0 ? kk_vec3_make(0, 0, 0) : kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(kki_vec3(V->w), arm));
}

/// Impulses that hold, not those of sliding.
static int is_stuck(double friction, const double *l) {
    const double most = friction * l[0] * (1 - 1e-6);
    return friction * l[0] > 0 && l[1] * l[1] + l[2] * l[2] < most * most;
}

/// Speed below which nothing bounces: in a step that sees no instants, what rests may come in with what gravity adds.
static double least_bounce(const kk_model *m, const kk_simulator *s) {
    const double *g = m->gravity;
    return s->options.restitution_speed + s->h * kk_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/// Newton's law: what comes in leaves with its share of that speed. Neither it nor what has left goes on with its old impulse.
static double bounce(const kki_free_pass *p, const kki_contact *k, kk_vec3 ra, kk_vec3 rb, double l[3]) {
    const double e = p->m->law[k->law].restitution;
    if (!(e > 0)) {
        return 0;
    }
    const kk_vec3 v = kk_vec3_sub(velocity_of(p->s, k->node[1], rb), velocity_of(p->s, k->node[0], ra));
    const double u = kk_vec3_dot(v, k->normal), least = least_bounce(p->m, p->s);
    if (__builtin_fabs(u) > least) {
        l[0] = l[1] = l[2] = 0;
    }
    return u < -least ? e * u : 0;
}

/// What turns about a contact with the world.
static void reflect(const kki_free_pass *p, kki_contact *k, kk_vec3 ra, kk_vec3 rb, const double l[3], double bias[3]) {
    if (kki_may_swing(p->m, k, l[0])) {
        const kk_vec3 v = kk_vec3_sub(velocity_of(p->s, k->node[1], rb), velocity_of(p->s, k->node[0], ra));
        const double u[3] = {kk_vec3_dot(v, k->normal), kk_vec3_dot(v, k->tangent[0]), kk_vec3_dot(v, k->tangent[1])};
        kki_reflect_contact(p->m, p->s, k, is_stuck(p->m->law[k->law].friction, l), u, bias);
    }
}

/// What a point starts from.
typedef struct start {
    kk_vec3 arm[2];
    double l[3], bias[3];
    double rate;
    int bounces;
} start;

static const start NOTHING = {.bounces = 0};

/// In line, so that its numbers go straight to where they are wanted. Of the contact the first line is read, and of the face's first, f, what they share: there are
/// thousands of them.
static inline __attribute__((always_inline)) void start_of(const kki_free_pass *p, const kki_swarm_bundle *b,
                                                           const kki_contact *f, kki_contact *k, int lane, start *x) {
    const kk_simulator *s = p->s;
    const kk_vec3 ra = arm_of(&s->free_bodies, b->at[0][lane], k->point),
                  rb = arm_of(&s->free_bodies, b->at[1][lane], k->point);
    const double share = 1.0 / s->effort.sweeps, gap = k->gap + SLOP * s->options.correction;
    double l[3] = {kk_vec3_dot(k->impulse, f->normal), kk_vec3_dot(k->impulse, f->tangent[0]),
                   kk_vec3_dot(k->impulse, f->tangent[1])};
    const double leaves = bounce(p, f, ra, rb, l);
    x->arm[0] = ra;
    x->arm[1] = rb;
    x->bounces = leaves < 0;
    double bias[3] = {k->open / (0.5 * s->h) + leaves, 0, 0};
    if (!s->traits.has_plain_contacts) {
        bias[1] = k->surface[0];
        bias[2] = k->surface[1];
    }
    x->rate = gap < 0 ? REPAIR * gap / (0.5 * s->h) : gap / (0.5 * s->h);
    if (f->node[0] == 0 || f->node[1] == 0) {
        k->swing = 0;
        reflect(p, k, ra, rb, l, bias);
    }
    for (int i = 0; i < 3; i++) {
        x->l[i] = share * l[i];
        x->bias[i] = bias[i];
    }
}

static inline __attribute__((always_inline)) void begin_point(const start *x, int lane, kki_swarm_point *to,
                                                              kki_swarm_end *end) {
    put_lane(to->arm[0], lane, x->arm[0]);
    put_lane(to->arm[1], lane, x->arm[1]);
    put_lane(to->lambda, lane, kki_vec_at(x->l));
    put_lane(to->total, lane, kk_vec3_make(0, 0, 0));
    put_lane(to->g, lane, kki_vec_at(x->bias));
    end->rate[lane] = x->rate;
}

static void begin_lane(const kki_free_pass *p, kki_swarm_bundle *b, int lane) {
    kki_free_bodies *x = &p->s->free_bodies;
    const int first = b->contact[lane];
    const bool is_none = first < 0;
    const kki_contact *k = &p->s->contacts.list[is_none ? 0 : first];
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    put_lane(b->axis[0], lane, is_none ? none : k->normal);
    put_lane(b->axis[1], lane, is_none ? none : k->tangent[0]);
    put_lane(b->axis[2], lane, is_none ? none : k->tangent[1]);
    b->friction[lane] = is_none ? 0 : p->m->law[k->law].friction;
    double *overlap = &x->swarm.proof[b - x->swarm.bundle].overlap;
    for (int i = 0; i < b->points; i++) {
        kki_swarm_point *to = &x->swarm.point[b->first + i];
        kki_swarm_end *end = &x->swarm.end[b->first + i];
        if (i >= b->count[lane]) {
            begin_point(&NOTHING, lane, to, end);
            continue;
        }
        kki_contact *c = &p->s->contacts.list[first + i];
        start from;
        start_of(p, b, k, c, lane, &from);
        begin_point(&from, lane, to, end);
        *overlap = -c->gap > *overlap ? -c->gap : *overlap;
        b->bounces |= from.bounces;
    }
}

/// Whether an arm lies along the normal, but for the rounding of places in the world.
static int is_central(kk_vec3 arm, double along, kk_vec3 n, kk_vec3 point) {
    const kk_vec3 off = kk_vec3_sub(arm, kk_vec3_scale(n, along));
    const double size = __builtin_fabs(point.x) + __builtin_fabs(point.y) + __builtin_fabs(point.z);
    const double most = 1e-14 * (size + __builtin_fabs(along));
    return kk_vec3_dot(off, off) <= most * most;
}

/// One lane of a bundle of balls; false where it is none.
static int begin_ball_lane(const kki_free_pass *p, kki_swarm_bundle *b, kki_swarm_ball *to, int lane) {
    kki_swarm *w = &p->s->free_bodies.swarm;
    const kk_vec3 none = kk_vec3_make(0, 0, 0);
    kki_contact *k = b->contact[lane] < 0 ? NULL : &p->s->contacts.list[b->contact[lane]];
    const kk_vec3 n = k ? k->normal : none;
    for (int side = 0; side < 2; side++) { // first, for most points of cubes are on no such line
        const kk_vec3 arm = k ? arm_of(&p->s->free_bodies, b->at[side][lane], k->point) : none;
        to->at[side][lane] = b->at[side][lane];
        to->arm[side][lane] = kk_vec3_dot(arm, n);
        if (k && !is_central(arm, to->arm[side][lane], n, k->point)) {
            return 0;
        }
    }
    start from = NOTHING;
    if (k) {
        start_of(p, b, k, k, lane, &from);
    }
    put_lane(to->normal, lane, n);
    to->friction[lane] = k ? p->m->law[k->law].friction : 0;
    to->g[lane] = from.bias[0];
    put_lane(to->lambda, lane,
             k ? kk_vec3_add(kk_vec3_scale(n, from.l[0]), kk_vec3_add(kk_vec3_scale(k->tangent[0], from.l[1]),
                                                                      kk_vec3_scale(k->tangent[1], from.l[2])))
               : none);
    put_lane(to->total, lane, none);
    w->end[b->first].rate[lane] = from.rate;
    double *overlap = &w->proof[b - w->bundle].overlap;
    *overlap = k && -k->gap > *overlap ? -k->gap : *overlap;
    b->bounces |= from.bounces;
    return from.bias[1] == 0 && from.bias[2] == 0;
}

/// Whether all bodies of a bundle of single points answer alike in all directions.
static int may_be_balls(const kki_swarm *w, const kki_swarm_bundle *b) {
    int all = b->points == 1;
    for (int lane = 0; lane < KKI_SWARM_LANES && all; lane++) {
        all = w->inverse[b->at[0][lane] + KKI_SWARM_BODY - 1] != 0 &&
              w->inverse[b->at[1][lane] + KKI_SWARM_BODY - 1] != 0;
    }
    return all;
}

static int begin_balls(const kki_free_pass *p, kki_swarm_bundle *b, kki_swarm_ball *to) {
    int all = may_be_balls(&p->s->free_bodies.swarm, b);
    for (int lane = 0; lane < KKI_SWARM_LANES && all; lane++) {
        all = begin_ball_lane(p, b, to, lane);
    }
    return all;
}

void kki_free_bodies_begin_bundle(void *context, int bundle) {
    const kki_free_pass *p = context;
    kki_swarm *w = &p->s->free_bodies.swarm;
    kki_swarm_bundle *b = &w->bundle[bundle];
    kki_fetch_contacts(p, bundle + KKI_FREE_BODIES_AHEAD, offsetof(kki_contact, velocity));
    kki_fetch(w->bundle[bundle + 2 * KKI_FREE_BODIES_AHEAD].at, KKI_LINE);
    b->bounces = 0;
    w->proof[bundle].overlap = 0;
    w->is_ball[bundle] = (uint8_t)begin_balls(p, b, &w->ball[bundle]);
    for (int lane = 0; lane < KKI_SWARM_LANES && !w->is_ball[bundle]; lane++) {
        begin_lane(p, b, lane);
    }
}
