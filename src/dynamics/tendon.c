/// Tendons: their paths, lengths, rates and moment arms.
///
/// A fixed tendon is a sum of coordinates, L = Σ c q. A spatial one runs from frame to frame, straight or round an obstacle (wrap.c), and behind a
/// pulley of divisor d all lengths count 1/d. The way between two frames is the shortest, so what touches an obstacle may be taken as fixed there:
/// L̇ = Σ e · (ṗ₂ − ṗ₁)/d over the straight pieces, e the unit vector from p₁ to p₂, and an arc adds nothing.
#include "dynamics/tendon.h"

#include "dynamics/wrap.h"

// ---- the path

/// A frame's place, and the node it rides on.
static kk_vec3 place_of(const kk_model *m, const kk_data *d, int frame, int *node) {
    const kki_frame *f = &m->frame[frame];
    const kki_body *b = &m->body[f->body];
    *node = b->node;
    return kk_transform_point(kki_node_transform(d, b->node), kk_transform_point(b->X_NB, f->X_BF.p));
}

static kki_tendon_piece piece_between(int node0, kk_vec3 at0, int node1, kk_vec3 at1) {
    const kk_vec3 way = kk_vec3_sub(at1, at0);
    const double length = kk_vec3_norm(way);
    const kk_vec3 e = length > 0 ? kk_vec3_scale(way, 1 / length) : kk_vec3_make(0, 0, 0);
    return (kki_tendon_piece){{node0, node1}, {at0, at1}, e, length};
}

static kki_obstacle obstacle_of(const kk_model *m, const kk_data *d, const kki_tendon_term *term) {
    const kki_model_shape *s = &m->shape[term->shape];
    int node = 0;
    kki_obstacle o = {.X_WS = kk_transform_mul(kki_node_transform(d, s->node), s->X_NS),
                      .radius = s->shape.half[0],
                      .is_cylinder = s->shape.type == KK_SHAPE_CYLINDER,
                      .has_side = term->frame >= 0};
    o.side = o.has_side ? place_of(m, d, term->frame, &node) : kk_vec3_make(0, 0, 0);
    return o;
}

/// Between two frames with an obstacle, or none.
static void fill_leg(const kk_model *m, const kk_data *d, const kki_tendon_term *from, const kki_tendon_term *round,
                     const kki_tendon_term *to, kki_tendon_leg *leg) {
    int node[2];
    kk_vec3 touch[2];
    const kk_vec3 a = place_of(m, d, from->frame, &node[0]), b = place_of(m, d, to->frame, &node[1]);
    leg->count = 1;
    leg->arc = 0;
    if (round) {
        const kki_obstacle o = obstacle_of(m, d, round);
        if (kki_wrap(&o, a, b, touch, &leg->arc)) {
            const int between = m->shape[round->shape].node;
            leg->count = 2;
            leg->piece[0] = piece_between(node[0], a, between, touch[0]);
            leg->piece[1] = piece_between(between, touch[1], node[1], b);
            return;
        }
    }
    leg->piece[0] = piece_between(node[0], a, node[1], b);
}

int kki_tendon_next(const kk_model *m, const kk_data *d, const kki_model_tendon *t, kki_tendon_walk *walk,
                    kki_tendon_leg *leg) {
    const kki_tendon_term *term = &m->tendon_term[t->first_term];
    for (; walk->term + 1 < t->term_count; walk->term++) {
        const kki_tendon_term *now = &term[walk->term], *next = now + 1;
        if (now->kind == KKI_TERM_PULLEY) {
            walk->share = 1 / now->coefficient;
        } else if (now->kind == KKI_TERM_FRAME && next->kind != KKI_TERM_PULLEY) {
            const int wraps = next->kind == KKI_TERM_WRAP;
            leg->share = walk->share;
            fill_leg(m, d, now, wraps ? next : NULL, wraps ? next + 1 : next, leg);
            walk->term += wraps ? 2 : 1;
            return 1;
        }
    }
    return 0;
}

int kki_has_spatial_tendons(const kk_model *model) {
    int any = 0;
    for (int i = 0; i < model->ntendon; i++) {
        any |= model->tendon[i].type == KK_TENDON_SPATIAL;
    }
    return any;
}

// ---- length and rate

static kk_vec3 velocity_of(const kk_data *d, int node, kk_vec3 at) {
    const kki_rates *V = kki_rates_of(d, node);
    const kk_vec3 arm = kk_vec3_sub(at, kki_vec3(kki_pose_of(d, node)->p));
    return kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(kki_vec3(V->w), arm));
}

static double rate_of(const kk_data *d, const kki_tendon_piece *p) {
    const kk_vec3 u = kk_vec3_sub(velocity_of(d, p->node[1], p->at[1]), velocity_of(d, p->node[0], p->at[0]));
    return p->node[0] == p->node[1] ? 0 : kk_vec3_dot(p->e, u);
}

static double length_of(const kki_tendon_leg *leg) {
    double length = leg->arc;
    for (int k = 0; k < leg->count; k++) {
        length += leg->piece[k].length;
    }
    return leg->share * length;
}

/// @param v  NULL: the length alone
static kki_tendon_motion measure_spatial(const kk_model *m, const kk_data *d, const kki_model_tendon *t,
                                         const double *v) {
    kki_tendon_motion motion = {0, 0};
    kki_tendon_walk walk = {.share = 1};
    for (kki_tendon_leg leg; kki_tendon_next(m, d, t, &walk, &leg);) {
        motion.length += length_of(&leg);
        for (int k = 0; k < leg.count && v; k++) {
            motion.rate += leg.share * rate_of(d, &leg.piece[k]);
        }
    }
    return motion;
}

kki_tendon_motion kki_tendon_measure(const kk_model *model, const kk_data *d, int tendon, const double *q,
                                     const double *v) {
    const kki_model_tendon *t = &model->tendon[tendon];
    kki_tendon_motion motion = {0, 0};
    if (t->type == KK_TENDON_SPATIAL) {
        return measure_spatial(model, d, t, v);
    }
    for (int i = 0; i < t->term_count; i++) {
        const kki_tendon_term *x = &model->tendon_term[t->first_term + i];
        motion.length += x->coefficient * q[x->q_index];
        motion.rate += v ? x->coefficient * v[x->v_index] : 0;
    }
    return motion;
}

// ---- moment arms

/// A force along a direction at a point of a node, on the degrees of freedom before it.
static void add_force(const kk_model *m, const kk_data *d, int node, kk_vec3 at, kk_vec3 force, double *moment) {
    for (int k = node > 0 ? m->node[node].v_index + m->node_nv[node] - 1 : -1; k >= 0; k = m->dof_parent[k]) {
        const kk_motion S = kki_axis_of(m, d, k);
        const kk_vec3 arm = kk_vec3_sub(at, kki_vec3(kki_pose_of(d, m->dof_node[k])->p));
        moment[k] += kk_vec3_dot(force, kk_vec3_add(S.linear, kk_vec3_cross(S.angular, arm)));
    }
}

void kki_tendon_add_moment(const kk_model *model, const kk_data *d, int tendon, double scale, double *moment) {
    const kki_model_tendon *t = &model->tendon[tendon];
    for (int i = 0; i < t->term_count && t->type == KK_TENDON_FIXED; i++) {
        const kki_tendon_term *x = &model->tendon_term[t->first_term + i];
        moment[x->v_index] += scale * x->coefficient;
    }
    kki_tendon_walk walk = {.share = 1};
    for (kki_tendon_leg leg; t->type == KK_TENDON_SPATIAL && kki_tendon_next(model, d, t, &walk, &leg);) {
        for (int k = 0; k < leg.count; k++) {
            const kki_tendon_piece *p = &leg.piece[k];
            if (p->node[0] != p->node[1]) {
                const kk_vec3 f = kk_vec3_scale(p->e, scale * leg.share);
                add_force(model, d, p->node[1], p->at[1], f, moment);
                add_force(model, d, p->node[0], p->at[0], kk_vec3_scale(f, -1), moment);
            }
        }
    }
}

double kk_tendon_length(const kk_model *model, const kk_data *data, int tendon, const double *q) {
    if (!kki_fits(model, data) || tendon < 0 || tendon >= model->ntendon) {
        return __builtin_nan("");
    }
    return kki_tendon_measure(model, data, tendon, q, NULL).length;
}

void kk_tendon_moment(const kk_model *model, const kk_data *data, int tendon, double *moment) {
    const int exists = kki_fits(model, data) && tendon >= 0 && tendon < model->ntendon;
    for (int k = 0; k < model->nv; k++) {
        moment[k] = exists ? 0 : __builtin_nan("");
    }
    if (exists) {
        kki_tendon_add_moment(model, data, tendon, 1, moment);
    }
}
