/// What is held in the mean of a step's start and end, and not at its end alone: loops, bodies and legs that turn about their contacts. Their
/// points come to the middle of the step already on their way; held at rest there for the end, constraints would do work on them in
/// every step, or lift them (docs/maths/step.md). The velocity at the middle is reflected, as a bias of the rows.
#include "simulate/drift.h"
#include "simulate/implicit.h"
#include "simulate/island.h"

/// Slower than this a contact does not turn, m/s: what rests poses the same problem in every step.
static const double TURNING = 1e-9;
/// What turning explains up to this factor, it explains.
static const double NEARLY = 1.25;
/// Work of friction that is rounding, J.
static const double PUMPED = 1e-14;

// ---- contacts

/// Velocity of a point of a lone body, given in its axes.
static kk_vec3 velocity_of(const double *q, const double *v, kk_vec3 point) {
    const kk_vec3 w = kk_vec3_make(v[0], v[1], v[2]), u = kk_vec3_make(v[3], v[4], v[5]);
    const kk_mat3 R = kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]});
    return kk_mat3_mul_vec(R, kk_vec3_add(u, kk_vec3_cross(w, point)));
}

/// What the drift to the middle of the step has added to the velocity of a lone body's point, as it turns.
static kk_vec3 turning_of(const kk_model *m, const kk_simulator *s, int node, kk_vec3 point) {
    const kki_node *n = &m->node[node];
    if (!kki_is_lone(m, node)) {
        return kk_vec3_make(0, 0, 0);
    }
    const kki_pose *x = kki_pose_of(s->data, node);
    const kk_vec3 at = kk_mat3_tmul_vec(kki_mat3(x->R), kk_vec3_sub(point, kki_vec3(x->p)));
    const double *q0 = kk_state_q_const(s->motion.start) + n->q_index,
                 *v0 = kk_state_v_const(s->motion.start) + n->v_index;
    const kk_vec3 now = velocity_of(s->motion.q + n->q_index, s->motion.v + n->v_index, at),
                  then = velocity_of(q0, v0, at);
    return kk_mat3_mul_vec(kki_mat3(n->R), kk_vec3_sub(now, then));
}

/// @param u  slip at the middle    @param t  of it what comes from turning    @param bias  of the two rows
static void reflect_friction(int sticks, const double *u, const double *t, double *bias) {
    const double along = u[0] * t[0] + u[1] * t[1], whole = t[0] * t[0] + t[1] * t[1];
    const double d[2] = {u[0] - t[0], u[1] - t[1]}, off = d[0] * d[0] + d[1] * d[1];
    const int all = off <= (NEARLY - 1) * (NEARLY - 1) * whole;
    if (along > 0 && (sticks || all)) {
        const double share = along < whole ? along / whole : 1;
        bias[0] += all ? u[0] : share * t[0];
        bias[1] += all ? u[1] : share * t[1];
    }
}

/// A body that turns about its contact comes to the middle of the step with the point already on its way up and aside. Held at rest there
/// for the end, the contact would do work on it in every step; it is held in the mean of start and end instead, as loops are. Of the
/// velocity at the middle, u, only about as much as turning explains: what rolls on a round side, or was just pushed, shows none of that.
void kki_reflect_contact(const kk_model *m, const kk_simulator *s, kki_contact *k, int sticks, const double *u,
                         double *bias) {
    const kk_vec3 a = kk_vec3_sub(turning_of(m, s, k->node[1], k->point), turning_of(m, s, k->node[0], k->point));
    const double up = kk_vec3_dot(a, k->normal), most = 4 * k->gap / s->h;
    const double t[2] = {kk_vec3_dot(a, k->tangent[0]), kk_vec3_dot(a, k->tangent[1])};
    const double swing = u[0] < NEARLY * up ? u[0] : up;
    k->swing = swing < most ? swing : most;
    if (!(k->swing > TURNING)) {
        k->swing = 0;
        return;
    }
    bias[0] += k->swing;
    if (m->law[k->law].ratio == 1) {
        reflect_friction(sticks, u + 1, t, bias + 1);
    }
}

/// Whether it may turn about a contact: between hands that move, a body is held and does not pivot.
int kki_may_swing(const kk_model *m, const kki_contact *k, double lambda) {
    return (k->node[0] == 0 || k->node[1] == 0) && m->law[k->law].restitution == 0 && !(k->open > 0) && lambda > 0;
}

/// What stands is held in the mean of start and end (pivots.c).
static void reflect_standing(kk_simulator *s, const kki_constraint *c, const kki_contact *k) {
    double *bias = s->solution.bias + c->row;
    bias[0] += k->velocity.x;
    bias[1] += k->velocity.y;
    bias[2] += k->velocity.z;
}

/// True where a lone body turns about it. @param may_be_lone  false: there is none in its island
static int reflect_contact(const kk_model *m, kk_simulator *s, const kki_constraint *c, int may_be_lone,
                           const double *u) {
    kki_contact *k = &s->contacts.list[c->item];
    if (!may_be_lone || (!kki_is_lone(m, k->node[0]) && !kki_is_lone(m, k->node[1]))) {
        if (k->swing != 0) {
            reflect_standing(s, c, k);
        }
        return 0;
    }
    k->swing = 0; // that of a kick before this one
    if ((k->node[0] != 0 && k->node[1] != 0) || s->solution.compliance[c->row] != 0 ||
        s->solution.compliance[c->row + 1] != 0) {
        return 0; // between hands a body is held and does not pivot; what creeps has no pivot
    }
    if (kki_may_swing(m, k, s->solution.lambda[c->row])) {
        kki_reflect_contact(m, s, k, c->sticks, u, s->solution.bias + c->row);
    }
    return k->swing > 0;
}

/// Friction on what turns about its contact does the work λt · (u_middle + u_end)/2, and Coulomb's law sees to it that λt · (u_end + bias) is
/// not positive. Where a slide just stopped, or turning explains a part of u_middle only, the bias takes over as much of the rest as lies
/// along λt, or all of it. True where it has changed.
int kki_stop_pumping(const kk_model *m, kk_simulator *s, const kki_island *I, int is_last) {
    int any = 0;
    for (int i = 0; i < I->nconstraint && I->has_pivots; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        const kki_contact *k = &s->contacts.list[c->kind == KKI_ON_CONTACT ? c->item : 0];
        if (c->kind != KKI_ON_CONTACT || !(k->swing > 0) || m->law[k->law].ratio != 1) {
            continue;
        }
        const double *l = s->solution.lambda + c->row + 1, *u = s->solution.u0 + c->row + 1;
        double *bias = s->solution.bias + c->row + 1, *g = s->solution.g + c->row + 1;
        const double left[2] = {u[0] + k->surface[0] - bias[0], u[1] + k->surface[1] - bias[1]};
        const double work = l[0] * left[0] + l[1] * left[1], size = l[0] * l[0] + l[1] * l[1];
        if (work > PUMPED) {
            for (int t = 0; t < 2; t++) {
                const double more = is_last ? left[t] : l[t] * (work / size);
                bias[t] += more;
                g[t] += more;
            }
            any = 1;
        }
    }
    return any;
}

// ---- soft rows

/// A spring with stiffness k and damper d across a gap (implicit.h): λ = −h (k (gap + (θ − ½) h u₀) + d u₀ + σ (u − u₀)), σ = θ (h/2 k + d), is
/// u + r λ + b = 0 with
///     r = 1/(h σ),   b = (k (gap + (θ − ½) h u₀) + d u₀)/σ − u₀.
/// @param start  u₀, the row's velocity before the kick
static void soften(kk_simulator *s, const kki_island *I, int row, double k, double d, double gap, double start) {
    const double h = s->h, steep = 0.5 * h * k + d;
    double own;
    kki_rows_own(s, I, row - I->first_row, 1, &own);
    const double theta = kki_theta(h * steep * own), slope = theta * steep;
    s->solution.compliance[row] = 1 / (h * slope);
    s->solution.bias[row] = (k * (gap + (theta - 0.5) * h * start) + d * start) / slope - start;
}

static void soften_contact(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *c,
                           const double *u_start) {
    const kki_contact *k = &s->contacts.list[c->item];
    const kki_contact_law *law = &m->law[k->law];
    if (s->solution.compliance[c->row] != 0) {
        soften(s, I, c->row, law->stiffness, law->damping, k->gap, u_start[c->row - I->first_row]);
    }
}

static void soften_loop(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *c,
                        const double *u_start) {
    const kki_model_loop *l = &m->loop[c->item];
    for (int r = 0; r < c->nrow; r++) {
        if (s->solution.compliance[c->row + r] != 0) {
            soften(s, I, c->row + r, r < 3 ? l->stiffness : l->angular_stiffness,
                   r < 3 ? l->damping : l->angular_damping, c->gap[r], u_start[c->row + r - I->first_row]);
        }
    }
}

// ---- all of an island

/// The bias of a row as it is without the reflection. @param r  row of the constraint
static double plain_bias(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int r) {
    const double bias = s->solution.bias[c->row + r];
    if (s->solution.compliance[c->row + r] != 0) {
        return bias;
    }
    if (c->kind == KKI_ON_LOOP) {
        return 0;
    }
    const kki_contact *k = &s->contacts.list[c->kind == KKI_ON_CONTACT ? c->item : 0];
    if (c->kind != KKI_ON_CONTACT || k->swing == 0 || r > 2) {
        return bias;
    }
    return r == 0 ? bias - k->swing : r == 1 ? k->surface[0] : k->surface[1] * m->law[k->law].ratio;
}

int kki_island_is_reflected(const kk_model *m, const kk_simulator *s, const kki_island *I) {
    int any = 0;
    for (int i = 0; i < I->nconstraint && !any; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        for (int r = 0; r < c->nrow && !any; r++) {
            any = plain_bias(m, s, c, r) != s->solution.bias[c->row + r];
        }
    }
    return any;
}

void kki_island_drop_reflection(const kk_model *m, kk_simulator *s, const kki_island *I) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        for (int r = 0; r < c->nrow; r++) {
            const double plain = plain_bias(m, s, c, r);
            s->solution.g[c->row + r] += plain - s->solution.bias[c->row + r];
            s->solution.bias[c->row + r] = plain;
        }
        if (c->kind == KKI_ON_CONTACT && s->solution.compliance[c->row] == 0) {
            s->contacts.list[c->item].swing = 0;
        }
    }
}

/// Whether the constraint did anything in the last step: one that has just been switched on catches what moves.
static int has_force(const kk_simulator *s, const kki_constraint *c) {
    int any = 0;
    for (int r = 0; r < c->nrow; r++) {
        any |= s->solution.lambda[c->row + r] != 0;
    }
    return any;
}

/// Rigid loops hold in the mean of the step's start and end: the curvature of their path then costs no energy, as it does where only the
/// end is held. (The path of a coupling is straight.)
void kki_island_reflect(const kk_model *m, kk_simulator *s, kki_island *I, const double *u_start) {
    const int may_be_lone = I->ntree > 1 || !I->has_robot;
    int swings = 0;
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (c->kind == KKI_ON_CONTACT) {
            swings |= reflect_contact(m, s, c, may_be_lone, u_start + (c->row - I->first_row));
            soften_contact(m, s, I, c, u_start);
        } else if (c->kind == KKI_ON_OVERLAP) {
            kki_island_ease(m, s, I, c);
        } else if (c->kind == KKI_ON_LOOP && I->is_soft) {
            soften_loop(m, s, I, c, u_start);
        }
        const int holds = c->kind == KKI_ON_LOOP && has_force(s, c);
        for (int r = 0; r < c->nrow && holds; r++) {
            if (s->solution.compliance[c->row + r] == 0) {
                s->solution.bias[c->row + r] = u_start[c->row - I->first_row + r];
            }
        }
    }
    I->has_pivots = (int8_t)swings;
}
