/// Impulses, island by island: rows climb the factor, the solver finds λ, and the scaled velocities take it over.
///
///     Y = Xᵀ Jᵀ,   G = Yᵀ Y,   g = Yᵀ (y + h E) + bias,   u = G λ + g,   y_end = y + h E + Y λ
///
/// The bias of a gap is gap/(h/2), the speed at which it would just close in the half step that is left; within the
/// dead band it is zero, so that what rests poses the same homogeneous problem in every step (contact.md, piles).
#include <string.h>

#include "base/error.h"
#include "contact/dense_kernels.h"
#include "model/warm.h"
#include "simulate/simulator.h"

typedef double quad __attribute__((vector_size(32)));

/// Gap up to which a contact counts as closed, m.
static const double DEAD_BAND = 1e-5;

// ---- products with Y

/// r = Yᵀ y, [stride].
static void multiply_transposed(const double *Y, int nv, int stride, const double *y, double *r) {
    for (int c = 0; c < stride; c += 4) {
        quad sum = {0, 0, 0, 0};
        for (int k = 0; k < nv; k++) {
            sum += *(const quad *)(Y + (size_t)k * (size_t)stride + c) * y[k];
        }
        *(quad *)(r + c) = sum;
    }
}

/// y += Y λ; λ's padding is zero.
static void add_product(const double *Y, int nv, int stride, const double *lambda, double *y) {
    for (int k = 0; k < nv; k++) {
        quad sum = {0, 0, 0, 0};
        for (int c = 0; c < stride; c += 4) {
            sum += *(const quad *)(Y + (size_t)k * (size_t)stride + c) * *(const quad *)(lambda + c);
        }
        y[k] += (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}

// ---- Y

/// Four columns of Y climb together where their rows lie between the same nodes.
typedef struct climb {
    _Alignas(32) double wi[6][4], wj[6][4];
    int i, j, quad, lanes;
} climb;

static void climb_side(const kk_model *m, kk_simulator *s, int node, double w[6][4], int column, int stride) {
    static const double none[6][4] = {{0}};
    const int tree = m->node_tree[node], base = m->tree_first_dof[tree] - s->tree_local[tree];
    s->data->kernels->delassus_climb(m, &s->data->scratch, node, (const double(*)[4])w, 0, none, base, s->Y + column,
                                     (size_t)stride);
}

static void flush(const kk_model *m, kk_simulator *s, climb *c, int stride) {
    if (c->lanes == 0) {
        return;
    }
    const int ti = m->node_tree[c->i], tj = m->node_tree[c->j];
    if (ti == tj) {
        const int base = m->tree_first_dof[ti] - s->tree_local[ti];
        s->data->kernels->delassus_climb(m, &s->data->scratch, c->i, (const double(*)[4])c->wi, c->j,
                                         (const double(*)[4])c->wj, base, s->Y + 4 * c->quad, (size_t)stride);
    } else {
        if (ti >= 0) {
            climb_side(m, s, c->i, c->wi, 4 * c->quad, stride);
        }
        if (tj >= 0) {
            climb_side(m, s, c->j, c->wj, 4 * c->quad, stride);
        }
    }
    c->lanes = 0;
}

static void add_lane(const kk_model *m, kk_simulator *s, climb *c, const kki_row_part *p, int row, int stride) {
    const int lane = row & 3;
    if (c->lanes == 0 || c->i != p->i || c->j != p->j || c->quad != row >> 2 || c->lanes & 1 << lane) {
        flush(m, s, c, stride);
        memset(c, 0, sizeof *c);
        c->i = p->i;
        c->j = p->j;
        c->quad = row >> 2;
    }
    for (int k = 0; k < 6; k++) {
        c->wi[k][lane] = p->wi[k];
        c->wj[k][lane] = p->wj[k];
    }
    c->lanes |= 1 << lane;
}

static void build_rows(const kk_model *m, kk_simulator *s, const kki_island *I) {
    climb c = {.lanes = 0};
    memset(s->Y, 0, (size_t)I->nv * (size_t)I->stride * sizeof *s->Y);
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *k = &s->constraint[s->order[I->first_constraint + i]];
        for (int p = 0; p < k->nparts; p++) {
            const kki_row_part *part = &s->part[k->first_part + p];
            add_lane(m, s, &c, part, k->row - I->first_row + part->row, I->stride);
        }
    }
    flush(m, s, &c, I->stride);
}

// ---- G

/// Degrees of freedom, numbered in the island, that feel a constraint.
static int support_of(const kk_model *m, kk_simulator *s, const kki_constraint *c) {
    const int count = kki_union_of_branches(m, c->dof[0], c->dof[1], s->support);
    for (int i = 0; i < count; i++) {
        const int tree = m->node_tree[m->dof_node[s->support[i]]];
        s->support[i] += s->tree_local[tree] - m->tree_first_dof[tree];
    }
    return count;
}

/// Upper triangle row by row, then mirrored: exactly symmetric.
static void build_matrix(const kk_model *m, kk_simulator *s, const kki_island *I) {
    const size_t stride = (size_t)I->stride;
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraint[s->order[I->first_constraint + i]];
        const int count = support_of(m, s, c);
        for (int r = c->row - I->first_row; r < c->row - I->first_row + c->nrow; r++) {
            const size_t skip = (size_t)(r & ~3);
            s->data->kernels->delassus_row(s->Y + r, s->Y + skip, stride, s->support, count, (stride - skip) / 4,
                                           s->G + (size_t)r * stride + skip);
        }
    }
    for (size_t r = 0; r < (size_t)I->nrow; r++) {
        for (size_t c = 0; c < r; c++) {
            s->G[r * stride + c] = s->G[c * stride + r];
        }
    }
}

// ---- laws, biases, warm starts

static void begin_contact(const kk_model *m, kk_simulator *s, const kki_constraint *c) {
    const kki_contact *k = &s->contact[c->item];
    const kki_contact_law *law = &m->law[k->law];
    kki_block *b = &s->block[c->block];
    double *bias = s->bias + c->row, *lambda = s->lambda + c->row, *soft = s->compliance + c->row;
    *b = (kki_block){.law = KKI_LAW_CONTACT, .friction = law->friction, .adhesion = law->adhesion * s->h};
    bias[0] = k->gap > DEAD_BAND ? k->gap / (0.5 * s->h) : 0;
    bias[1] = k->surface[0];
    bias[2] = k->surface[1] * law->ratio;
    if (law->stiffness < __builtin_inf()) {
        const double hk = s->h * law->stiffness;
        soft[0] = 1 / (s->h * (hk + law->damping));
        bias[0] = law->stiffness * k->gap / (hk + law->damping);
    }
    lambda[0] = kk_vec3_dot(k->impulse, k->normal);
    lambda[1] = kk_vec3_dot(k->impulse, k->tangent[0]);
    lambda[2] = kk_vec3_dot(k->impulse, k->tangent[1]) / law->ratio;
    int next = 1;
    if (law->torsion > 0) {
        b[next] = (kki_block){.law = KKI_LAW_TORSION, .row = 3, .contact = -next, .friction = law->torsion};
        next++;
    }
    if (law->rolling > 0) {
        const int row = law->torsion > 0 ? 4 : 3;
        b[next] = (kki_block){.law = KKI_LAW_ROLLING, .row = row, .contact = -next, .friction = law->rolling};
    }
}

static void begin_joint(const kk_model *m, kk_simulator *s, const kki_constraint *c, const kki_warm_layout *w,
                        const double *warm) {
    kki_block *b = &s->block[c->block];
    const int slot = w->first_dof + KKI_WARM_DOF_SIZE * c->item;
    if (c->kind == KKI_ON_LIMIT) {
        *b = (kki_block){.law = KKI_LAW_LIMIT};
        s->bias[c->row] = c->gap[0] > 0 ? c->gap[0] / (0.5 * s->h) : 0;
        s->lambda[c->row] = s->h * warm[slot + (c->side ? KKI_WARM_UPPER : KKI_WARM_LOWER)];
    } else {
        const double most = s->h * m->dof[c->item].friction;
        *b = (kki_block){.law = KKI_LAW_BOX, .lower = -most, .upper = most};
        s->lambda[c->row] = s->h * warm[slot + KKI_WARM_FRICTION];
    }
}

static void begin_equalities(const kk_model *m, kk_simulator *s, const kki_constraint *c, const double *warm) {
    for (int r = 0; r < c->nrow; r++) {
        s->block[c->block + r] = (kki_block){.law = KKI_LAW_EQUALITY, .row = r};
        s->lambda[c->row + r] = s->h * warm[r];
    }
    if (c->kind == KKI_ON_LOOP) {
        const kki_model_loop *l = &m->loop[c->item];
        for (int r = 0; r < c->nrow; r++) {
            const double k = r < 3 ? l->stiffness : l->angular_stiffness, d = r < 3 ? l->damping : l->angular_damping;
            if (k < __builtin_inf()) {
                s->compliance[c->row + r] = 1 / (s->h * (s->h * k + d));
                s->bias[c->row + r] = k * c->gap[r] / (s->h * k + d);
            }
        }
    }
}

static void begin_constraint(const kk_model *m, kk_simulator *s, const kki_constraint *c, const kki_warm_layout *w,
                             const double *warm) {
    for (int r = 0; r < c->nrow; r++) {
        s->bias[c->row + r] = s->lambda[c->row + r] = s->compliance[c->row + r] = 0;
    }
    if (c->kind == KKI_ON_CONTACT) {
        begin_contact(m, s, c);
    } else if (c->kind == KKI_ON_LIMIT || c->kind == KKI_ON_FRICTION) {
        begin_joint(m, s, c, w, warm);
    } else {
        const int slot = c->kind == KKI_ON_COUPLING ? w->first_coupling + c->item : w->first_loop + 6 * c->item;
        begin_equalities(m, s, c, warm + slot);
    }
}

/// Blocks of all constraints with rows and contacts numbered in their island; padding of the rows is zeroed.
static void begin_island(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_warm_layout *w,
                         const double *warm) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraint[s->order[I->first_constraint + i]];
        begin_constraint(m, s, c, w, warm);
        for (int b = 0; b < c->nblock; b++) {
            kki_block *block = &s->block[c->block + b];
            block->row += c->row - I->first_row;
            block->contact += c->block - I->first_block + (block->law == KKI_LAW_CONTACT ? 0 : b);
        }
    }
    for (int r = I->first_row + I->nrow; r < I->first_row + I->stride; r++) {
        s->bias[r] = s->lambda[r] = s->compliance[r] = s->g[r] = s->u[r] = 0;
    }
}

// ---- y of an island

static void gather(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *from, double *local) {
    for (int t = 0; t < I->ntree; t++) {
        const int tree = s->tree_order[I->first_tree + t], first = m->tree_first_dof[tree];
        memcpy(local + s->tree_local[tree], from + first,
               (size_t)(m->tree_first_dof[tree + 1] - first) * sizeof *local);
    }
}

static void scatter(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *local, double *to) {
    for (int t = 0; t < I->ntree; t++) {
        const int tree = s->tree_order[I->first_tree + t], first = m->tree_first_dof[tree];
        memcpy(to + first, local + s->tree_local[tree],
               (size_t)(m->tree_first_dof[tree + 1] - first) * sizeof *local);
    }
}

// ---- solving

static kki_problem problem_of(const kk_simulator *s, const kki_island *I, int has_matrix) {
    int soft = 0;
    for (int r = 0; r < I->nrow; r++) {
        soft |= s->compliance[I->first_row + r] != 0;
    }
    return (kki_problem){.nblock = I->nblock,
                         .nrow = I->nrow,
                         .stride = I->stride,
                         .block = s->block + I->first_block,
                         .G = has_matrix ? s->G : NULL,
                         .Y = s->Y,
                         .nv = I->nv,
                         .g = s->g + I->first_row,
                         .compliance = soft ? s->compliance + I->first_row : NULL};
}

static const char *kind_name(int kind) {
    static const char *const names[] = {"contact", "limit", "dry friction", "coupling", "loop", "tendon"};
    return names[kind];
}

/// Bodies at the two ends of a constraint.
static void bodies_of(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int body[2]) {
    if (c->kind == KKI_ON_CONTACT) {
        body[0] = m->shape[s->contact[c->item].shape[0]].body;
        body[1] = m->shape[s->contact[c->item].shape[1]].body;
    } else if (c->kind == KKI_ON_LOOP) {
        body[0] = m->loop[c->item].body[0];
        body[1] = m->loop[c->item].body[1];
    } else {
        body[0] = body[1] = m->node_body[m->dof_node[c->dof[0]]];
    }
}

static const kki_constraint *constraint_of_block(const kk_simulator *s, const kki_island *I, int block) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraint[s->order[I->first_constraint + i]];
        if (I->first_block + block >= c->block && I->first_block + block < c->block + c->nblock) {
            return c;
        }
    }
    return &s->constraint[s->order[I->first_constraint]];
}

static kk_status complain(const kk_model *m, const kk_simulator *s, const kki_island *I, int block, kk_status status,
                          double residual, kk_error *error) {
    int body[2];
    const kki_constraint *c = constraint_of_block(s, I, block < 0 ? 0 : block);
    bodies_of(m, s, c, body);
    char number[KK_NUMBER_TEXT_SIZE];
    kk_number_format(residual, number);
    if (status == KK_NOT_CONVERGED) {
        return kki_error_set(error, status,
                             "solve: the %s between \"%s\" and \"%s\" is left with a residual of %s m/s; a shorter time "
                             "step, a larger tolerance or a budget of sweeps lets the step pass",
                             kind_name(c->kind), kk_model_body_name(m, body[0]), kk_model_body_name(m, body[1]), number);
    }
    return kki_error_set(error, status, "solve: the %s between \"%s\" and \"%s\" has numbers out of range",
                         kind_name(c->kind), kk_model_body_name(m, body[0]), kk_model_body_name(m, body[1]));
}

static void note(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_certificate *proof,
                 const kki_solver_stats *stats) {
    kk_report *r = &s->report;
    if (proof->residual > r->residual) {
        r->residual = proof->residual;
        if (proof->worst >= 0) {
            bodies_of(m, s, constraint_of_block(s, I, proof->worst), r->worst_body);
        }
    }
    r->cone = proof->cone > r->cone ? proof->cone : r->cone;
    r->signorini = proof->signorini > r->signorini ? proof->signorini : r->signorini;
    r->dissipation = proof->dissipation > r->dissipation ? proof->dissipation : r->dissipation;
    r->sweeps += stats->sweeps;
    r->newton += stats->newton;
    r->factorisations += stats->factorisations;
}

static kki_solver_options solver_options(const kk_simulator *s) {
    kki_solver_options o = kki_solver_options_default();
    o.tolerance = s->options.tolerance;
    o.fixed_sweeps = s->options.budget;
    o.sweeps = s->options.max_sweeps > 0 ? s->options.max_sweeps : o.sweeps;
    o.newton = s->options.max_newton > 0 ? s->options.max_newton : o.newton;
    return o;
}

static kk_status solve(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_problem *problem,
                       kk_error *error) {
    kki_certificate proof;
    kki_solver_stats stats;
    const kki_solver_options options = solver_options(s);
    double *lambda = s->lambda + I->first_row, *u = s->u + I->first_row;
    const kk_status status = kki_contact_solve(problem, &options, &s->solver, lambda, u, &proof, &stats);
    if (status != KK_OK) {
        return complain(m, s, I, stats.block, status, 0, error);
    }
    note(m, s, I, &proof, &stats);
    if (!stats.solved && s->options.budget == 0) {
        return complain(m, s, I, proof.worst, KK_NOT_CONVERGED, proof.residual, error);
    }
    s->report.cut_short |= !stats.solved;
    return KK_OK;
}

/// The second half drift must not leave overlap or open loops: the same operator and laws, for a velocity that moves
/// positions alone and is then thrown away.
static kk_status correct(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_problem *problem,
                         double *y_drift) {
    const double half = 0.5 * s->h, most = s->options.correction / half;
    double *g = s->g + I->first_row, *lambda = s->lambda2 + I->first_row;
    int needed = 0;
    (void)m;
    multiply_transposed(s->Y, I->nv, I->stride, y_drift, g);
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraint[s->order[I->first_constraint + i]];
        const int both = c->kind == KKI_ON_COUPLING || c->kind == KKI_ON_LOOP;
        for (int r = 0; r < c->nrow; r++) {
            const int row = c->row - I->first_row + r;
            const double rate = c->is_position[r] && s->compliance[c->row + r] == 0 ? g[row] + c->gap[r] / half : 0;
            const double capped = rate < -most ? -most : both && rate > most ? most : rate;
            needed |= both ? __builtin_fabs(capped) * half > 1e-15 : capped * half < -1e-13;
            g[row] = capped;
        }
    }
    if (!needed) {
        return KK_OK;
    }
    kki_certificate proof;
    kki_solver_stats stats;
    const kki_solver_options options = solver_options(s);
    memset(lambda, 0, (size_t)I->stride * sizeof *lambda);
    const kk_status status = kki_contact_solve(problem, &options, &s->solver, lambda, s->u + I->first_row, &proof, &stats);
    if (status == KK_OK) {
        add_product(s->Y, I->nv, I->stride, lambda, y_drift);
    }
    return status;
}

static kk_status resolve_island(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_warm_layout *w,
                                const double *warm, kk_error *error) {
    double *y_end = s->local[0], *y_drift = s->local[1];
    const int has_matrix = I->nrow <= s->most_dense_rows && !(I->nrow > 60 && I->nrow > I->nv);
    begin_island(m, s, I, w, warm);
    build_rows(m, s, I);
    if (has_matrix) {
        build_matrix(m, s, I);
    }
    gather(m, s, I, s->y_free, y_end);
    multiply_transposed(s->Y, I->nv, I->stride, y_end, s->g + I->first_row);
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->g[r] += s->bias[r];
    }
    const kki_problem problem = problem_of(s, I, has_matrix);
    kk_status status = solve(m, s, I, &problem, error);
    if (status != KK_OK) {
        return status;
    }
    add_product(s->Y, I->nv, I->stride, s->lambda + I->first_row, y_end);
    memcpy(y_drift, y_end, (size_t)I->nv * sizeof *y_drift);
    status = correct(m, s, I, &problem, y_drift);
    scatter(m, s, I, y_end, s->y_end);
    scatter(m, s, I, y_drift, s->y_drift);
    return status;
}

kk_status kki_resolve_islands(const kk_model *model, kk_simulator *s, const kk_state *state, kk_error *error) {
    const kki_warm_layout w = kki_warm_layout_of(model);
    const double *warm = kki_state_warm_const(state);
    kk_status status = KK_OK;
    for (int i = 0; i < s->nisland && status == KK_OK; i++) {
        status = resolve_island(model, s, &s->island[i], &w, warm, error);
    }
    return status;
}
