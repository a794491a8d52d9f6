/// S0: Nakaoka, Hattori, Kanehiro, Kajita, Hirukawa, "Iterative contact force solver for simulating articulated rigid bodies". Equation
/// numbers are the paper's.
///
///     a = A f + a⁰                    (1)   forces f along constraint vectors, relative accelerations a
///     α_i = aⁱ − a⁰, f_j = δ_ij       (2, 3) columns of A by forward dynamics (articulated bodies) with unit forces: Kokkevis
///     v = Δt (A f + a⁰) + v⁰ = K f + b (4, 5)
///
/// Projected Gauss-Seidel from f = 0 (15): in every sweep all contact normals, then all links, then the friction pairs of all contacts, each
/// pair seen whole before either is written and scaled back to μ f_z of this sweep (19-21). At most 120 sweeps (4.). The motion itself
/// is integrated by Runge and Kutta over the articulated-body algorithm, with the forces held over the step.
///
/// Where the paper is silent: the relative error that ends the sweeps is 1e-6; limits and dry friction of joints are the MLCP (11-13), in turn
/// with normals and links; a contact is what overlaps, or may come to touch within 0.1 mm; nothing repairs overlap or an open link; springs and servos are forces of
/// each stage; forces keep their direction in the world and their arm from the body's origin while a step is integrated.
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "papers/common.h"

/// Rows of the largest island that there is room for: the method forms a full matrix.
enum { MOST_ROWS = 1200 };
static const double RELATIVE_ERROR = 1e-6;
/// m: what would touch in this step may come as far as the floor, and no further. A sole that the integration has lifted by a micrometer otherwise lets go of the
/// floor and falls back on it, again and again, with a spike of 8 % of the weight each time (Fig. 4 has none).
static const double NEAR = 1e-4;

typedef struct openhrp {
    size_t size;
    int32_t most_rows;
    double *A;          ///< [most_rows × stride]
    double *b, *f;      ///< [most_rows] (5)
    double *a0, *a;     ///< [nv] accelerations of joints without and with a unit force
    double *activation; ///< [nactivation]
    kk_force *held;     ///< [nnode] constraint forces on nodes, world axes about their origins
} openhrp;

static openhrp *own(const kk_simulator *s) {
    return s->paper_data;
}

// ---- room

static void place(kki_layout *layout, const kk_model *m, openhrp *o) {
    const size_t rows = (size_t)o->most_rows, stride = (rows + 3) & ~(size_t)3;
    KKI_LAYOUT_ARRAY(layout, o->A, rows * stride);
    KKI_LAYOUT_ARRAY(layout, o->b, stride);
    KKI_LAYOUT_ARRAY(layout, o->f, stride);
    KKI_LAYOUT_ARRAY(layout, o->a0, (size_t)m->nv + 4);
    KKI_LAYOUT_ARRAY(layout, o->a, (size_t)m->nv + 4);
    KKI_LAYOUT_ARRAY(layout, o->activation, (size_t)m->nactivation);
    KKI_LAYOUT_ARRAY(layout, o->held, (size_t)m->nnode);
}

static kk_status create(const kk_model *m, kk_simulator *s, kk_error *error) {
    const kk_status status = kki_paper_check_materials(m, KK_SOLVER_OPENHRP, error);
    if (status != KK_OK) {
        return status;
    }
    openhrp header = {.most_rows = s->solution.max_rows < MOST_ROWS ? s->solution.max_rows : MOST_ROWS};
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    place(&layout, m, &header);
    openhrp *o = kki_allocate_zeroed(&s->allocator, layout.size);
    if (!o) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the matrix of the solver \"openhrp\"");
    }
    header.size = layout.size;
    *o = header;
    layout = kki_layout_over(o);
    kki_layout_take(&layout, 1, sizeof *o);
    place(&layout, m, o);
    s->paper_data = o;
    return KK_OK;
}

static void destroy(kk_simulator *s) {
    if (s->paper_data) {
        kki_release(&s->allocator, s->paper_data, own(s)->size);
    }
}

// ---- motion of constraint points

static kk_vec3 vec(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static kk_force wrench(const double w[6], double scale) {
    return kk_force_make(kk_vec3_scale(vec(w), scale), kk_vec3_scale(vec(w + 3), scale));
}

/// A wrench's power on a node that moves with s->readout.view's velocities, or on its accelerations.
static double feel(const kk_simulator *s, int node, const double w[6], int is_acceleration) {
    if (node == 0) {
        return 0;
    }
    const kki_rates *x = kki_rates_of(s->readout.view, node);
    const kk_vec3 turn = kki_vec3(is_acceleration ? x->al : x->w), move = kki_vec3(is_acceleration ? x->a : x->u);
    return kk_vec3_dot(vec(w), turn) + kk_vec3_dot(vec(w + 3), move);
}

/// Relative velocity of row r of a constraint, or its acceleration without the part of turning points.
static double row_motion(const kk_simulator *s, const kki_constraint *c, int r, int is_acceleration) {
    double sum = 0;
    for (int i = 0; i < c->nparts; i++) {
        const kki_row_part *p = &s->constraints.part[c->first_part + i];
        if (p->row == r) {
            sum += feel(s, p->i, p->wi, is_acceleration) + feel(s, p->j, p->wj, is_acceleration);
        }
    }
    return sum;
}

/// Where a row's force acts on either side; false for moments and joints.
static int point_of(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int r, int side,
                    kk_vec3 *point) {
    if (c->kind == KKI_ON_CONTACT) {
        *point = s->contacts.list[c->item].point;
        return 1;
    }
    if (c->kind != KKI_ON_LOOP || r >= 3) {
        return 0;
    }
    const kki_model_loop *l = &m->loop[c->item];
    const int end = l->type == KK_LOOP_DISTANCE ? side : 1;
    *point = kk_transform_point(kki_node_transform(s->data, l->node[end]), (end ? l->X_NB : l->X_NA).p);
    return 1;
}

/// d · ω × (ω × r): a point of a body that turns is accelerated towards its axis.
static double towards_axis(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int r) {
    double sum = 0;
    for (int i = 0; i < c->nparts; i++) {
        const kki_row_part *p = &s->constraints.part[c->first_part + i];
        for (int side = 0; side < 2 && p->row == r; side++) {
            const int node = side ? p->i : p->j; // part i is the second body
            kk_vec3 point;
            if (node > 0 && point_of(m, s, c, r, side, &point)) {
                const kk_vec3 w = kki_vec3(kki_rates_of(s->readout.view, node)->w);
                const kk_vec3 arm = kk_vec3_sub(point, kki_vec3(kki_pose_of(s->data, node)->p));
                sum += kk_vec3_dot(vec(side ? p->wi + 3 : p->wj + 3), kk_vec3_cross(w, kk_vec3_cross(w, arm)));
            }
        }
    }
    return sum;
}

/// a⁰_i of (1), from the joints' accelerations and s->readout.view moving with them.
static double free_acceleration(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int r,
                                const double *a0) {
    if (c->kind == KKI_ON_LIMIT) {
        return c->side ? -a0[c->item] : a0[c->item];
    }
    if (c->kind == KKI_ON_JOINT_FRICTION) {
        return a0[c->item];
    }
    if (c->kind == KKI_ON_COUPLING) {
        const kki_coupling *k = &m->coupling[c->item];
        return a0[k->follower_v] - k->ratio * a0[k->leader_v];
    }
    return row_motion(s, c, r, 1) + towards_axis(m, s, c, r);
}

// ---- (5): K = Δt A and b = Δt a⁰ + v⁰

typedef void row_visitor(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *c, int r);

static void each_row(const kk_model *m, kk_simulator *s, const kki_island *I, row_visitor *visit) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        for (int r = 0; r < c->nrow; r++) {
            visit(m, s, I, c, r);
        }
    }
}

static void fill_b(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *c, int r) {
    const int row = c->row + r;
    const double a = free_acceleration(m, s, c, r, own(s)->a0);
    // a joint may still go as far as its limit, and a point as far as the other surface
    const int closes = c->kind == KKI_ON_LIMIT || (c->kind == KKI_ON_CONTACT && r == 0);
    s->solution.bias[row] = closes ? (c->gap[0] > 0 ? c->gap[0] / s->h : 0) : s->solution.bias[row];
    s->solution.u0[row] = row_motion(s, c, r, 0);
    s->solution.g[row] = s->solution.u0[row] + s->h * a + s->solution.bias[row];
    (void)I;
}

static void push_unit(kk_simulator *s, const kki_constraint *c, int r) {
    for (int i = 0; i < c->nparts; i++) {
        const kki_row_part *p = &s->constraints.part[c->first_part + i];
        if (p->row == r && p->i > 0) {
            s->data->kernels->aba_push(&s->data->scratch, p->i, wrench(p->wi, 1));
        }
        if (p->row == r && p->j > 0) {
            s->data->kernels->aba_push(&s->data->scratch, p->j, wrench(p->wj, 1));
        }
    }
}

/// Forward dynamics with nothing but the joints' own forces and, where there is a constraint, its unit force (3).
static void respond(const kk_model *m, kk_simulator *s, const kki_constraint *c, int r, double *a) {
    s->data->kernels->aba_prepare(m, &s->data->scratch, s->motion.q, s->motion.v);
    if (c) {
        push_unit(s, c, r);
    }
    s->data->kernels->aba_solve(m, &s->data->scratch, s->forces.tau, a);
}

/// Column i of A (2): what the unit force of one row makes of all others.
static void fill_column(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_constraint *c, int r) {
    openhrp *o = own(s);
    const int column = c->row + r - I->first_row;
    respond(m, s, c, r, o->a);
    for (int k = 0; k < m->nv; k++) {
        o->a[k] -= s->kick.E[k];
    }
    kk_kinematics_velocity(m, s->readout.view, s->motion.q, o->a);
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *other = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        for (int k = 0; k < other->nrow; k++) {
            const int row = other->row + k - I->first_row;
            o->A[(size_t)row * (size_t)I->stride + (size_t)column] = row_motion(s, other, k, 0);
        }
    }
    if (s->solution.compliance[c->row + r] > 0) {
        o->A[(size_t)column * (size_t)I->stride + (size_t)column] += s->solution.compliance[c->row + r];
    }
}

/// 2.1: a connection has as many vectors as it takes degrees of freedom. A loop in a plane has one across it that nothing moves.
static void drop_dead_rows(kk_simulator *s, const kki_island *I) {
    const double *A = own(s)->A;
    double most = 0;
    for (int r = 0; r < I->nrow; r++) {
        const double a = A[(size_t)r * (size_t)(I->stride + 1)];
        most = a > most ? a : most;
    }
    for (int k = 0; k < I->nblock; k++) {
        kki_block *b = &s->solution.block[I->first_block + k];
        if (b->law == KKI_LAW_EQUALITY && A[(size_t)b->row * (size_t)(I->stride + 1)] <= 1e-10 * most) {
            *b = (kki_block){.law = KKI_LAW_BOX, .row = b->row, .contact = b->contact};
        }
    }
}

static void build(const kk_model *m, kk_simulator *s, const kki_island *I) {
    memset(own(s)->A, 0, (size_t)I->nrow * (size_t)I->stride * sizeof(double));
    kk_kinematics_acceleration(m, s->readout.view, s->motion.q, s->motion.v, own(s)->a0);
    each_row(m, s, I, fill_b);
    respond(m, s, NULL, 0, s->kick.E);
    each_row(m, s, I, fill_column);
    drop_dead_rows(s, I);
}

// ---- 3.: the sweeps

/// (17): what would bring row i to rest, all others as they are now.
static double at_rest(const openhrp *o, const kki_island *I, double dt, int i) {
    const double *A = o->A + (size_t)i * (size_t)I->stride;
    double sum = o->b[i];
    for (int j = 0; j < I->nrow; j++) {
        sum += j == i ? 0 : dt * A[j] * o->f[j];
    }
    return A[i] > 0 ? -sum / (dt * A[i]) : 0;
}

/// (18)
static double projected(double f, double low, double high) {
    return f < low ? low : f > high ? high : f;
}

typedef struct sweep {
    double change, size; ///< largest of |f⁽ˡ⁺¹⁾ − f⁽ˡ⁾| and of |f|
} sweep;

static void write(openhrp *o, sweep *w, int i, double f) {
    const double change = __builtin_fabs(f - o->f[i]), size = __builtin_fabs(f);
    w->change = change > w->change ? change : w->change;
    w->size = size > w->size ? size : w->size;
    o->f[i] = f;
}

/// Contact normals and joint limits, (6-8).
static void sweep_normals(openhrp *o, const kk_simulator *s, const kki_island *I, sweep *w) {
    for (int k = 0; k < I->nblock; k++) {
        const kki_block *b = &s->solution.block[I->first_block + k];
        if (b->law == KKI_LAW_CONTACT || b->law == KKI_LAW_LIMIT) {
            write(o, w, b->row, projected(at_rest(o, I, s->h, b->row), 0, __builtin_inf()));
        }
    }
}

/// Links: v = 0 by any force; dry friction of joints: (11-13).
static void sweep_links(openhrp *o, const kk_simulator *s, const kki_island *I, sweep *w) {
    for (int k = 0; k < I->nblock; k++) {
        const kki_block *b = &s->solution.block[I->first_block + k];
        if (b->law == KKI_LAW_EQUALITY) {
            write(o, w, b->row, at_rest(o, I, s->h, b->row));
        } else if (b->law == KKI_LAW_BOX) {
            write(o, w, b->row, projected(at_rest(o, I, s->h, b->row), b->lower / s->h, b->upper / s->h));
        }
    }
}

/// (19-21): both components as they would rest, then the two back on to the circle of this sweep's f_z. By the letter of (17) f_y would be found with the
/// new f_x, which is not on the circle yet: where friction is at its bound the pair then settles beside the direction of sliding, and a box that should hold on
/// 26° with μ = 0.5 creeps by 29 mm in a second. Both are therefore found from what was before the sweep came to them.
static void sweep_friction(openhrp *o, const kk_simulator *s, const kki_island *I, sweep *w) {
    for (int k = 0; k < I->nblock; k++) {
        const kki_block *b = &s->solution.block[I->first_block + k];
        if (b->law != KKI_LAW_CONTACT) {
            continue;
        }
        const int x = b->row + 1, y = b->row + 2;
        const double fx = at_rest(o, I, s->h, x), fy = at_rest(o, I, s->h, y);
        const double length = __builtin_sqrt(fx * fx + fy * fy), most = b->friction * o->f[b->row];
        const double scale = length > most ? most / length : 1;
        write(o, w, x, scale * fx);
        write(o, w, y, scale * fy);
    }
}

static int iterate(openhrp *o, const kk_simulator *s, const kki_island *I) {
    const int most = s->effort.rounds > 0 ? s->effort.rounds : KKI_PAPER_SWEEPS_OPENHRP;
    memset(o->f, 0, (size_t)I->stride * sizeof *o->f); // (15)
    memcpy(o->b, s->solution.g + I->first_row, (size_t)I->nrow * sizeof *o->b);
    for (int l = 1; l <= most; l++) {
        sweep w = {0, 0};
        sweep_normals(o, s, I, &w);
        sweep_links(o, s, I, &w);
        sweep_friction(o, s, I, &w);
        if (w.change <= RELATIVE_ERROR * w.size) {
            return l;
        }
    }
    return most;
}

/// Constraint forces on nodes, for the integration.
static void hold(kk_simulator *s, const kki_constraint *c) {
    kk_force *held = own(s)->held;
    for (int i = 0; i < c->nparts; i++) {
        const kki_row_part *p = &s->constraints.part[c->first_part + i];
        const double f = s->solution.lambda[c->row + p->row] / s->h;
        held[p->i] = kk_force_add(held[p->i], wrench(p->wi, f));
        held[p->j] = kk_force_add(held[p->j], wrench(p->wj, f));
    }
}

static kk_status solve(const kk_model *m, kk_simulator *s, const kki_island *I, kk_error *error) {
    openhrp *o = own(s);
    if (I->nrow > o->most_rows) {
        return kki_error_set(error, KK_LIMIT_EXCEEDED,
                             "solve: %d rows hang together, \"openhrp\" has room for %d; use fewer contact points",
                             (int)I->nrow, (int)o->most_rows);
    }
    build(m, s, I);
    const int sweeps = iterate(o, s, I);
    for (int r = 0; r < I->nrow; r++) {
        s->solution.lambda[I->first_row + r] = s->h * o->f[r];
    }
    kki_problem problem = kki_island_problem(s, I, 0);
    problem.G = o->A;
    problem.Y = NULL;
    problem.compliance = NULL; // is in A
    kki_paper_judge(m, s, I, &problem, sweeps);
    for (int i = 0; i < I->nconstraint; i++) {
        hold(s, &s->constraints.list[s->constraints.order[I->first_constraint + i]]);
    }
    return KK_OK;
}

// ---- 4.: fourth-order Runge-Kutta over the articulated-body algorithm

/// Acceleration at s->motion.q, s->motion.v with the forces held.
static kk_status accelerate(const kk_model *m, kk_simulator *s, const kk_input *input, double lag_time, int is_held,
                            double *a, kk_error *error) {
    s->data->kernels->aba_prepare(m, &s->data->scratch, s->motion.q, s->motion.v);
    const kk_status status = kki_paper_forces(m, s, input, lag_time, error);
    for (int i = 1; i < m->nnode && is_held; i++) {
        s->data->kernels->aba_push(&s->data->scratch, i, own(s)->held[i]);
    }
    if (status == KK_OK) {
        s->data->kernels->aba_solve(m, &s->data->scratch, s->forces.tau, a);
    }
    return status;
}

static kk_status stage(const kk_model *m, kk_simulator *s, const kk_input *input, double share, double weight,
                       kk_error *error) {
    // a and slope hold the last stage's on entry, this one's on return
    double *slope = s->kick.y, *a = s->kick.E, *sigma = s->kick.y_free;
    for (int k = 0; k < m->nv; k++) {
        sigma[k] = share * s->h * slope[k];
        s->motion.v[k] = s->rk4.v_part[k] + share * s->h * a[k];
    }
    kk_integrate(m, s->rk4.q_part, sigma, s->motion.q);
    kki_rk4_slopes(m, sigma, s->motion.v, slope);
    memcpy(s->motion.activation, own(s)->activation, (size_t)m->nactivation * sizeof *s->motion.activation);
    const kk_status status = accelerate(m, s, input, 0, 1, a, error);
    for (int k = 0; k < m->nv; k++) {
        s->kick.y_end[k] += weight * a[k];
        s->kick.y_drift[k] += weight * slope[k];
    }
    return status;
}

static kk_status integrate(const kk_model *m, kk_simulator *s, const kk_input *input, kk_error *error) {
    static const double share[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double *const vectors[4] = {s->kick.y, s->kick.E, s->kick.y_end, s->kick.y_drift};
    for (int i = 0; i < 4; i++) {
        memset(vectors[i], 0, (size_t)m->nv * sizeof(double));
    }
    memcpy(s->rk4.q_part, s->motion.q, (size_t)m->nq * sizeof *s->motion.q);
    memcpy(s->rk4.v_part, s->motion.v, (size_t)m->nv * sizeof *s->motion.v);
    kk_status status = KK_OK;
    for (int i = 0; i < 4 && status == KK_OK; i++) {
        status = stage(m, s, input, share[i], weight[i], error);
    }
    for (int k = 0; k < m->nv; k++) {
        s->motion.acceleration[k] = s->kick.y_end[k];
        s->motion.v_before[k] = s->rk4.v_part[k];
        s->motion.v[k] = s->motion.v_after[k] = s->rk4.v_part[k] + s->h * s->kick.y_end[k];
        s->motion.v_drift[k] = s->h * s->kick.y_drift[k];
    }
    kk_integrate(m, s->rk4.q_part, s->motion.v_drift, s->motion.q);
    return status;
}

// ---- the step

static kk_status step(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_input *input,
                      kk_error *error) {
    openhrp *o = own(s);
    memset(o->held, 0, (size_t)m->nnode * sizeof *o->held);
    kk_status status = kki_paper_constrain(m, s, state, NEAR);
    status = status ? status : kki_paper_divide(m, s, state, error);
    status = status ? status : accelerate(m, s, input, s->h, 0, o->a0, error); // f = 0
    memcpy(o->activation, s->motion.activation, (size_t)m->nactivation * sizeof *s->motion.activation);
    for (int i = 0; i < s->islands.count && status == KK_OK; i++) {
        status = solve(m, s, &s->islands.list[i], error);
    }
    status = status ? status : integrate(m, s, input, error);
    if (status == KK_OK) {
        kki_paper_finish(m, s);
    }
    return status;
}

const kki_paper kki_paper_openhrp = {.create = create, .destroy = destroy, .step = step};
