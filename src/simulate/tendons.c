/// Tendons: their length and rate, the forces that springs, dampers and actuators pull them with, and their limits.
///
/// A fixed tendon is a sum of coordinates, L = Σ c q. A spatial one runs straight from frame to frame, L = Σ |p₂ − p₁|/d behind a pulley
/// of divisor d; a force f along it (that lengthens it) is f e/d at p₂ and its opposite at p₁, with e the unit vector from p₁ to p₂.
/// Springs and dampers act explicitly, with the length and the rate of the step's middle; limits are rows of the contact problem.
#include "simulate/tendons.h"

#include "base/error.h"

/// A straight piece of a spatial tendon.
typedef struct piece {
    int node[2];
    kk_vec3 at[2], e;
    double length, share; ///< 1/d
} piece;

static kk_vec3 place_of(const kk_model *m, const kk_data *d, int frame, int *node) {
    const kki_frame *f = &m->frame[frame];
    const kki_body *b = &m->body[f->body];
    *node = b->node;
    return kk_transform_point(kki_node_transform(d, b->node), kk_transform_point(b->X_NB, f->X_BF.p));
}

/// The next piece behind term *k, where there is one.
static int next_piece(const kk_model *m, const kk_data *d, const kki_model_tendon *t, int *k, piece *p) {
    const kki_tendon_term *term = &m->tendon_term[t->first_term];
    for (; *k + 1 < t->term_count; ++*k) {
        if (term[*k].frame < 0) {
            p->share = term[*k].coefficient != 0 ? 1 / term[*k].coefficient : 1;
        } else if (term[*k + 1].frame >= 0) {
            p->at[0] = place_of(m, d, term[*k].frame, &p->node[0]);
            p->at[1] = place_of(m, d, term[*k + 1].frame, &p->node[1]);
            const kk_vec3 way = kk_vec3_sub(p->at[1], p->at[0]);
            p->length = kk_vec3_norm(way);
            p->e = p->length > 0 ? kk_vec3_scale(way, 1 / p->length) : kk_vec3_make(0, 0, 0);
            ++*k;
            return 1;
        }
    }
    return 0;
}

static kk_vec3 velocity_of(const kk_data *d, int node, kk_vec3 at) {
    const kki_rates *V = kki_rates_of(d, node);
    const kk_vec3 arm = kk_vec3_sub(at, kki_vec3(kki_pose_of(d, node)->p));
    return kk_vec3_add(kki_vec3(V->u), kk_vec3_cross(kki_vec3(V->w), arm));
}

kki_tendon_motion kki_tendon_measure(const kk_model *model, const kk_data *data, int tendon, const double *q,
                                     const double *v) {
    const kki_model_tendon *t = &model->tendon[tendon];
    kki_tendon_motion motion = {0, 0};
    for (int i = 0; i < t->term_count && t->type == KK_TENDON_FIXED; i++) {
        const kki_tendon_term *x = &model->tendon_term[t->first_term + i];
        motion.length += x->coefficient * q[x->q_index];
        motion.rate += x->coefficient * v[x->v_index];
    }
    piece p = {.share = 1};
    for (int k = 0; t->type == KK_TENDON_SPATIAL && next_piece(model, data, t, &k, &p);) {
        const kk_vec3 u = kk_vec3_sub(velocity_of(data, p.node[1], p.at[1]), velocity_of(data, p.node[0], p.at[0]));
        motion.length += p.share * p.length;
        motion.rate += p.share * kk_vec3_dot(p.e, u);
    }
    return motion;
}

void kki_tendon_pull(const kk_model *model, kk_simulator *s, int tendon, double force, kk_force_source source) {
    const kki_model_tendon *t = &model->tendon[tendon];
    for (int i = 0; i < t->term_count && t->type == KK_TENDON_FIXED; i++) {
        const kki_tendon_term *x = &model->tendon_term[t->first_term + i];
        s->force[source][x->v_index] += x->coefficient * force;
        s->tau[x->v_index] += x->coefficient * force;
    }
    piece p = {.share = 1};
    for (int k = 0; t->type == KK_TENDON_SPATIAL && next_piece(model, s->data, t, &k, &p);) {
        const kk_vec3 f = kk_vec3_scale(p.e, p.share * force), none = kk_vec3_make(0, 0, 0);
        kki_push(s, p.node[1], p.at[1], kk_force_make(none, f));
        kki_push(s, p.node[0], p.at[0], kk_force_make(none, kk_vec3_scale(f, -1)));
    }
}

// ---- springs and dampers

static double spring_force(const kki_model_tendon *t, kki_tendon_motion x) {
    const double stretch = x.length > t->rest_upper   ? x.length - t->rest_upper
                           : x.length < t->rest_lower ? x.length - t->rest_lower
                                                      : 0;
    return -t->stiffness * stretch - t->damping * x.rate;
}

void kki_tendon_springs(const kk_model *model, kk_simulator *s) {
    for (int i = 0; i < model->ntendon; i++) {
        const kki_model_tendon *t = &model->tendon[i];
        if (t->stiffness != 0 || t->damping != 0) {
            const double f = spring_force(t, kki_tendon_measure(model, s->view, i, s->q, s->v));
            kki_tendon_pull(model, s, i, f, KK_FORCE_PASSIVE);
        }
    }
}

int kki_has_spatial_tendons(const kk_model *model) {
    int any = 0;
    for (int i = 0; i < model->ntendon; i++) {
        any |= model->tendon[i].type == KK_TENDON_SPATIAL;
    }
    return any;
}

// ---- limits

/// Degree of freedom that moves a node; −1: none does.
static int last_dof(const kk_model *m, int node) {
    return node == 0 ? -1 : m->node[node].v_index + m->node_nv[node] - 1;
}

/// Takes a branch among the two that a constraint can tell of. False where it belongs to a third tree.
static int take_branch(const kk_model *m, int dof, int32_t branch[2]) {
    if (dof < 0) {
        return 1;
    }
    const int tree = m->node_tree[m->dof_node[dof]];
    for (int k = 0; k < 2; k++) {
        if (branch[k] < 0 || m->node_tree[m->dof_node[branch[k]]] == tree) {
            branch[k] = branch[k] < 0 ? dof : branch[k];
            return 1;
        }
    }
    return 0;
}

/// Branches of all terms. False where they are of more than two trees.
static int find_branches(const kk_model *m, const kki_model_tendon *t, int32_t branch[2]) {
    int room = 1;
    branch[0] = branch[1] = -1;
    for (int i = 0; i < t->term_count; i++) {
        const kki_tendon_term *x = &m->tendon_term[t->first_term + i];
        const int is_frame = t->type == KK_TENDON_SPATIAL;
        const int dof = !is_frame ? x->v_index : x->frame < 0 ? -1 : last_dof(m, m->body[m->frame[x->frame].body].node);
        room &= take_branch(m, dof, branch);
    }
    return room;
}

static int has_limits(const kki_model_tendon *t) {
    return t->lower > -__builtin_inf() || t->upper < __builtin_inf();
}

static int has_rows(const kki_model_tendon *t) {
    return has_limits(t) || t->friction > 0;
}

kk_status kki_check_tendons(const kk_model *model, kk_error *error) {
    for (int i = 0; i < model->ntendon; i++) {
        int32_t branch[2];
        if (has_rows(&model->tendon[i]) && !find_branches(model, &model->tendon[i], branch)) {
            return kki_error_set(
                error, KK_INVALID_MODEL,
                "tendon \"%s\" has limits or dry friction and runs over more than two robots or bodies; split it",
                kki_model_name(model, model->tendon[i].name));
        }
    }
    return KK_OK;
}

int kki_tendon_part_count(const kk_model *model) {
    int count = 0;
    for (int i = 0; i < model->ntendon; i++) {
        count += has_rows(&model->tendon[i]) ? 3 * model->tendon[i].term_count : 0;
    }
    return count;
}

static void add_rows(const kk_model *m, kk_simulator *s, const kki_model_tendon *t, double sign) {
    for (int i = 0; i < t->term_count && t->type == KK_TENDON_FIXED; i++) {
        const kki_tendon_term *x = &m->tendon_term[t->first_term + i];
        kki_add_dof_part(m, s, x->v_index, sign * x->coefficient);
    }
    piece p = {.share = 1};
    for (int k = 0; t->type == KK_TENDON_SPATIAL && next_piece(m, s->data, t, &k, &p);) {
        if (p.node[0] != p.node[1]) {
            kki_add_line_part(s, p.node, p.at, kk_vec3_scale(p.e, sign * p.share));
        }
    }
}

static void constrain_limit(const kk_model *m, kk_simulator *s, int tendon, int side, double gap) {
    int32_t branch[2];
    if (!find_branches(m, &m->tendon[tendon], branch) || branch[0] < 0) {
        return;
    }
    kki_constraint *c = kki_begin_constraint(s, KKI_ON_TENDON, tendon);
    c->side = side;
    c->nrow = c->nblock = 1;
    c->gap[0] = gap;
    c->npositions = 1;
    c->dof[0] = branch[0];
    c->dof[1] = branch[1];
    add_rows(m, s, &m->tendon[tendon], side ? -1 : 1);
    kki_end_constraint(s, c);
}

static void constrain_rubbing(const kk_model *m, kk_simulator *s, int tendon) {
    int32_t branch[2];
    if (!find_branches(m, &m->tendon[tendon], branch) || branch[0] < 0) {
        return;
    }
    kki_constraint *c = kki_begin_constraint(s, KKI_ON_RUBBING, tendon);
    c->side = 2;
    c->nrow = c->nblock = 1;
    c->dof[0] = branch[0];
    c->dof[1] = branch[1];
    add_rows(m, s, &m->tendon[tendon], 1);
    kki_end_constraint(s, c);
}

void kki_constrain_tendons(const kk_model *model, kk_simulator *s) {
    for (int i = 0; i < model->ntendon; i++) {
        const kki_model_tendon *t = &model->tendon[i];
        if (has_limits(t)) {
            const kki_tendon_motion x = kki_tendon_measure(model, s->data, i, s->q, s->v);
            const double reach = 0.01 + 2 * s->h * __builtin_fabs(x.rate);
            if (x.length - t->lower < reach) {
                constrain_limit(model, s, i, 0, x.length - t->lower);
            }
            if (t->upper - x.length < reach) {
                constrain_limit(model, s, i, 1, t->upper - x.length);
            }
        }
        if (t->friction > 0) {
            constrain_rubbing(model, s, i);
        }
    }
}
