/// S3: Hasegawa, Mitake, Tazaki, "Springhead: a physics engine for motion and behavior". Equation numbers are the paper's.
///
///     v' = v + h (M⁻¹ (f + f_ext) + c)         (1)
///     w' = J v' = A λ + b,  A = h J M⁻¹ Jᵀ     (2-4)
///
/// | row (5)       | law                          | here                                                   |
/// |---------------|------------------------------|--------------------------------------------------------|
/// | free          | λ = 0                        | no row                                                 |
/// | basic         | w' = 0                       | loops, couplings                                       |
/// | complementary | w' ≥ 0, λ ≥ 0, w' λ = 0      | contact normals, joint limits                          |
/// | linear        | w' = α λ + β                 | springs, dampers and servos of joints, (8, 9)          |
/// | "like these"  | |λ| ≤ a bound, w' = 0 inside | friction of contacts, of joints                        |
///
/// Algorithm 1: Gauss-Seidel over the rows, K times, that updates velocities as it goes. Subsystems (3.1): a free body or a loop-free tree is
/// one, and answers an impulse by the articulated-body algorithm. In the scaled velocities y of the tree, v = X y with
/// Xᵀ M X = 1 (decision 0007), J and M⁻¹Jᵀ are the same columns Y, and X is that algorithm's factor.
///
/// Printed wrongly: Algorithm 1 adds (M⁻¹Jᵀ) δλ to v without the h that (4) has, so its λ is an impulse where that of (4) is a force (here
/// all λ are impulses); its line 17 runs over i, which the loop around it already uses; and the text behind it says that rows of 𝓘ᶜ ∪ 𝓘ᶠ
/// are corrected, where the algorithm has 𝓘ᵉ ∪ 𝓘ᶜ.
///
/// Where the paper is silent: K is 15; friction is bounded axis by axis by μ times the normal impulse of the moment ("conditions like the
/// complementary ones" are all that 2.3 says); a contact is what overlaps; a tenth of a position error is worked off in a step, w' = −e/(10 h);
/// a servo's force limits bound its row.
#include <string.h>

#include "papers/common.h"
#include "simulate/constraint.h"
#include "simulate/drift.h"

static const double CORRECTION = 0.1;

static kk_status create(const kk_model *m, kk_simulator *s, kk_error *error) {
    (void)s;
    return kki_paper_check_materials(m, KK_SOLVER_SPRINGHEAD, error);
}

static void destroy(kk_simulator *s) {
    (void)s;
}

// ---- 3.2: springs, dampers and PD servos as linear rows

/// λ = c − K θ' − D w' along a row, θ' = θ + h w'.
typedef struct pd {
    double K, D, c, theta;
} pd;

static int is_servo(const kki_model_actuator *a) {
    return a->transmission == KK_TRANSMISSION_JOINT &&
           (a->bias[1] < 0 || a->bias[2] < 0 || a->type == KK_ACTUATOR_DAMPER);
}

static double command_of(const kk_simulator *s, const kki_model_actuator *a, const kk_input *input) {
    if (a->activation != KK_ACTIVATION_NONE) {
        return s->motion.activation[a->activation_index]; // the forces of this step have moved it on
    }
    const double u = input && input->control ? input->control[a - s->model->actuator] : 0;
    return u < a->control_lower ? a->control_lower : u > a->control_upper ? a->control_upper : u;
}

static pd pd_of_servo(const kk_simulator *s, const kki_model_actuator *a, const kk_input *input) {
    const double u = command_of(s, a, input);
    const int damps = a->type == KK_ACTUATOR_DAMPER;
    return (pd){.K = -a->bias[1],
                .D = damps ? a->gain * u : -a->bias[2],
                .c = a->bias[0] + (damps ? 0 : a->gain * u),
                .theta = a->gear * s->motion.q[a->q_index]};
}

static pd pd_of_spring(const kk_simulator *s, int dof) {
    const kk_dof_def *d = &s->model->dof[dof];
    return (pd){.K = d->stiffness, .D = d->damping, .c = d->stiffness * d->rest, .theta = s->kick.dv[dof]};
}

/// Takes a force that a row will stand for out of the explicit ones.
static void take_out(kk_simulator *s, kk_force_source source, int dof, double force) {
    s->forces.tau[dof] -= force;
    s->forces.by_source[source][dof] -= force;
}

static void add_linear_rows(const kk_model *m, kk_simulator *s, const kk_input *input) {
    for (int k = 0; k < m->nv; k++) {
        if (m->dof[k].stiffness > 0 || m->dof[k].damping > 0) {
            kki_constraint_on_dof(m, s, KKI_ON_SPRING, k, k, 1);
            take_out(s, KK_FORCE_PASSIVE, k, s->forces.by_source[KK_FORCE_PASSIVE][k]);
        }
    }
    for (int i = 0; i < m->nactuator; i++) {
        const kki_model_actuator *a = &m->actuator[i];
        if (is_servo(a) && pd_of_servo(s, a, input).D + s->h * pd_of_servo(s, a, input).K > 0) {
            kki_constraint_on_dof(m, s, KKI_ON_SERVO, i, a->v_index, a->gear);
            take_out(s, KK_FORCE_ACTUATOR, a->v_index, a->gear * s->forces.drive[i]);
        }
    }
}

/// (9), with impulses: Ã_ii = A_ii + 1/(h (D + h K)), b̃_i = b_i − (K (θd − θ) + D wd + τ)/(D + h K).
static void fill_linear_row(kk_simulator *s, const kki_constraint *c, const kk_input *input) {
    const kki_model_actuator *a = c->kind == KKI_ON_SERVO ? &s->model->actuator[c->item] : NULL;
    const pd x = a ? pd_of_servo(s, a, input) : pd_of_spring(s, c->item);
    const double stiff = x.D + s->h * x.K;
    s->solution.compliance[c->row] = 1 / (s->h * stiff);
    s->solution.bias[c->row] = -(x.c - x.K * x.theta) / stiff;
    if (a && (a->force_lower > -__builtin_inf() || a->force_upper < __builtin_inf())) {
        kki_block *b = &s->solution.block[c->block];
        b->law = KKI_LAW_BOX;
        b->lower = s->h * a->force_lower;
        b->upper = s->h * a->force_upper;
    }
}

/// Position errors are worked off; limits and soft rows may use the whole step.
static void fill_bias(const kk_model *m, kk_simulator *s, const kki_constraint *c) {
    const int is_contact = c->kind == KKI_ON_CONTACT, is_held = c->kind == KKI_ON_LOOP || c->kind == KKI_ON_COUPLING;
    for (int r = 0; r < c->nrow; r++) {
        if (s->solution.compliance[c->row + r] == 0 && ((is_contact && r == 0) || is_held)) {
            s->solution.bias[c->row + r] = CORRECTION * c->gap[r] / s->h;
        } else if (c->kind == KKI_ON_LIMIT) {
            s->solution.bias[c->row] = c->gap[0] / s->h * (c->gap[0] > 0 ? 1 : CORRECTION);
        }
    }
    (void)m;
}

static void fill_rows(const kk_model *m, kk_simulator *s, const kk_input *input) {
    kk_difference(m, s->data->neutral, s->motion.q, s->kick.dv); // θ of the springs
    for (int i = 0; i < s->constraints.count; i++) {
        const kki_constraint *c = &s->constraints.list[i];
        if (c->kind == KKI_ON_SPRING || c->kind == KKI_ON_SERVO) {
            fill_linear_row(s, c, input);
        } else {
            fill_bias(m, s, c);
        }
    }
}

// ---- Algorithm 1

/// An island under way: its scaled velocities, and where each row finds its own.
typedef struct gauss_seidel {
    kk_simulator *s;
    const kki_island *I;
    double *y;            ///< velocities, v = X y
    double *lambda;       ///< [nrow]
    int first[2], end[2]; ///< degrees of freedom of the row's subsystems in y
} gauss_seidel;

/// The subsystems that a constraint touches.
static void find_subsystems(const kk_model *m, gauss_seidel *g, const kki_constraint *c) {
    int count = 0, last = -1;
    g->first[0] = g->end[0] = g->first[1] = g->end[1] = 0;
    for (int k = 0; k < 2; k++) {
        const int tree = c->dof[k] < 0 ? -1 : m->node_tree[m->dof_node[c->dof[k]]];
        if (tree >= 0 && tree != last) {
            g->first[count] = g->s->islands.tree_local[tree];
            g->end[count++] = g->s->islands.tree_local[tree] + m->tree_first_dof[tree + 1] - m->tree_first_dof[tree];
            last = tree;
        }
    }
}

static const double *column(const gauss_seidel *g, int row) {
    return g->I->scratch->Y + row;
}

/// Sum over the row's own degrees of freedom of Y_ki x_k; with x = Y_i it is A_ii.
static double along(const gauss_seidel *g, int row, const double *x, size_t x_stride) {
    const double *Y = column(g, row);
    double sum = 0;
    for (int t = 0; t < 2; t++) {
        for (int k = g->first[t]; k < g->end[t]; k++) {
            sum += Y[(size_t)k * (size_t)g->I->stride] * x[(size_t)k * x_stride];
        }
    }
    return sum;
}

/// Lines 8-12 and 13-19: λ_i, then the velocities of the subsystems.
static void update(gauss_seidel *g, int row, double low, double high) {
    const size_t stride = (size_t)g->I->stride;
    const double *Y = column(g, row), r = g->s->solution.compliance[g->I->first_row + row];
    const double A = along(g, row, Y, stride) + r;
    const double w = along(g, row, g->y, 1) + g->s->solution.bias[g->I->first_row + row] + r * g->lambda[row];
    if (!(A > 0)) {
        return;
    }
    double next = g->lambda[row] - w / A;
    next = next < low ? low : next > high ? high : next;
    const double change = next - g->lambda[row];
    g->lambda[row] = next;
    for (int t = 0; t < 2; t++) {
        for (int k = g->first[t]; k < g->end[t]; k++) {
            g->y[k] += Y[(size_t)k * stride] * change;
        }
    }
}

static void update_contact(gauss_seidel *g, const kki_block *b) {
    update(g, b->row, 0, __builtin_inf());
    const double most = b->friction * g->lambda[b->row];
    update(g, b->row + 1, -most, most);
    update(g, b->row + 2, -most, most);
}

static void update_block(gauss_seidel *g, const kki_block *b) {
    const double inf = __builtin_inf();
    switch (b->law) {
    case KKI_LAW_CONTACT: update_contact(g, b); break;
    case KKI_LAW_LIMIT: update(g, b->row, 0, inf); break;
    case KKI_LAW_BOX: update(g, b->row, b->lower, b->upper); break;
    default: update(g, b->row, -inf, inf); break;
    }
}

static void sweep(const kk_model *m, gauss_seidel *g) {
    for (int i = 0; i < g->I->nconstraint; i++) {
        const kki_constraint *c = &g->s->constraints.list[g->s->constraints.order[g->I->first_constraint + i]];
        find_subsystems(m, g, c);
        for (int b = 0; b < c->nblock; b++) {
            update_block(g, &g->s->solution.block[c->block + b]);
        }
    }
}

static void solve(const kk_model *m, kk_simulator *s, const kki_island *I) {
    const int K = s->effort.rounds > 0 ? s->effort.rounds : KKI_PAPER_SWEEPS_SPRINGHEAD;
    gauss_seidel g = {.s = s, .I = I, .y = I->scratch->y_end, .lambda = s->solution.lambda + I->first_row};
    kki_rows_build(m, s, I);
    kki_island_free_dead_rows(s, I);
    kki_island_gather(m, s, I, s->kick.y, g.y);
    kki_rows_velocity(s, I, g.y, s->solution.u0 + I->first_row);
    kki_island_gather(m, s, I, s->kick.y_free, g.y);
    kki_rows_velocity(s, I, g.y, s->solution.g + I->first_row);
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->solution.g[r] += s->solution.bias[r];
    }
    for (int k = 0; k < K; k++) {
        sweep(m, &g);
    }
    kki_island_scatter(m, s, I, g.y, s->kick.y_end);
    const kki_problem problem = kki_island_problem(s, I, 0);
    kki_paper_judge(m, s, I, &problem, K);
}

// ---- the step

/// (1) and the new place: velocities first, then positions with them.
static void move(const kk_model *m, kk_simulator *s) {
    for (int k = 0; k < m->nv; k++) {
        s->kick.dv[k] = s->kick.y_end[k] - s->kick.y[k];
    }
    s->data->kernels->kick_apply(m, &s->data->scratch, s->kick.dv, s->kick.dv);
    for (int k = 0; k < m->nv; k++) {
        s->motion.v_before[k] = s->motion.v[k];
        s->motion.acceleration[k] = s->kick.dv[k] / s->h;
        s->motion.v[k] = s->motion.v_after[k] = s->motion.v[k] + s->kick.dv[k];
    }
    kki_drift(m, s->h, s->motion.q, s->motion.v);
}

static kk_status step(const kk_model *m, kk_simulator *s, const kk_state *state, const kk_input *input,
                      kk_error *error) {
    // 2.1: contacts, constraints, forces, motion
    kk_status status = kki_paper_constrain(m, s, state, 0);
    status = status ? status : kki_paper_forces(m, s, input, s->h, error);
    if (status == KK_OK && !s->options.explicit_servos) {
        add_linear_rows(m, s, input);
    }
    status = status ? status : kki_paper_divide(m, s, state, error);
    if (status != KK_OK) {
        return status;
    }
    fill_rows(m, s, input);
    s->data->kernels->kick_factor(m, &s->data->scratch, s->forces.diagonal, s->forces.tau, s->motion.v, s->kick.E,
                                  s->kick.y);
    for (int k = 0; k < m->nv; k++) {
        s->kick.y_end[k] = s->kick.y_free[k] = s->kick.y[k] + s->h * s->kick.E[k];
    }
    for (int i = 0; i < s->islands.count; i++) {
        solve(m, s, &s->islands.list[i]);
    }
    move(m, s);
    kki_paper_finish(m, s);
    return KK_OK;
}

const kki_paper kki_paper_springhead = {.create = create, .destroy = destroy, .step = step};
