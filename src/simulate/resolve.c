/// Impulses, island by island: rows climb the factor, the solver finds λ, and the scaled velocities take it over.
///
///     Y = Xᵀ Jᵀ,   G = Yᵀ Y,   g = Yᵀ (y + h E) + bias,   u = G λ + g,   y_end = y + h E + Y λ
#include <karakuri/number.h>
#include <string.h>

#include "base/error.h"
#include "base/workers.h"
#include "contact/cones.h"
#include "contact/dense_kernels.h"
#include "contact/sparse_scratch.h"
#include "simulate/constraint.h"
#include "simulate/degrade.h"
#include "simulate/drift.h"
#include "simulate/island.h"

/// Slower than this a contact with static friction sticks, m/s.
static const double SLIPPING = 1e-8;
/// Share of its bound from which friction of what slips is at it.
static const double ALMOST = 0.99;
/// Rounds in which one contact that breaks loose may tear others with it.
enum { MOST_LOOSE = 8 };
/// Rounds in which friction is kept from doing work on what turns, and where few digits are asked for: one round in which all of it is taken over
/// leaves as little energy behind as four that close in on it.
enum { MOST_PUMPING = 4, FEW_PUMPING = 1 };
/// Residual of a warm start, in tolerances, that what has many rows is left with: a hundred planks, or a robot on its feet, stir more digits
/// than one box.
static const double REST_OF_MANY = 5e-3;
enum { MANY_ROWS = 18 };

// ---- solving

/// In place and member by member: a copy of the whole would wait for each of them to be stored.
static void pose_problem(const kk_simulator *s, const kki_island *I, int has_matrix, kki_problem *p) {
    p->nblock = I->nblock;
    p->nrow = I->nrow;
    p->stride = I->stride;
    p->block = s->solution.block + I->first_block;
    p->G = has_matrix ? I->scratch->G : NULL;
    p->Y = I->scratch->Y;
    p->nv = I->nv;
    p->span = I->scratch->span;
    p->g = s->solution.g + I->first_row;
    p->compliance = I->is_soft ? s->solution.compliance + I->first_row : NULL;
    p->before = p->start = NULL;
}

kki_problem kki_island_problem(const kk_simulator *s, const kki_island *I, int has_matrix) {
    kki_problem p;
    if (!has_matrix) {
        kki_rows_spans(I); // products go by Y
    }
    pose_problem(s, I, has_matrix, &p);
    return p;
}

kk_status kki_island_solve(kk_simulator *s, const kki_island *I, const kki_problem *problem,
                           const kki_solver_options *options, double *lambda, double *u, kki_certificate *proof,
                           kki_solver_stats *stats) {
    if (s->hooks.capture) {
        s->hooks.capture(s, I, problem, options, lambda, s->hooks.capture_user);
    }
    if (!I->is_sparse) {
        kki_rows_spans(I);
        return kki_contact_solve(problem, options, &I->scratch->solver, lambda, u, proof, stats);
    }
    const kki_sparse_problem wide = kki_sparse_rows_problem(s, I);
    return kki_sparse_solve(&wide, options, &I->scratch->sparse.solver, lambda, u, proof, stats);
}

/// Bodies at the two ends of a constraint.
static void bodies_of(const kk_model *m, const kk_simulator *s, const kki_constraint *c, int body[2]) {
    const kki_constraint_type *t = kki_type_of(c);
    if (t->bodies) {
        t->bodies(m, s, c, body);
    } else {
        body[0] = body[1] = m->node_body[m->dof_node[c->dof[0]]];
    }
}

static const kki_constraint *constraint_of_block(const kk_simulator *s, const kki_island *I, int block) {
    for (int i = 0; i < I->nconstraint; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (I->first_block + block >= c->block && I->first_block + block < c->block + c->nblock) {
            return c;
        }
    }
    return &s->constraints.list[s->constraints.order[I->first_constraint]];
}

kk_status kki_island_error(const kk_model *m, const kk_simulator *s, const kki_island *I, int block, kk_status status,
                           double residual, kk_error *error) {
    int body[2];
    const kki_constraint *c = constraint_of_block(s, I, block < 0 ? 0 : block);
    bodies_of(m, s, c, body);
    char number[KK_NUMBER_TEXT_SIZE];
    kk_number_format(residual, number);
    if (status == KK_NOT_CONVERGED) {
        return kki_error_set(
            error, status,
            "solve: the %s between \"%s\" and \"%s\" is left with a residual of %s m/s; a shorter time "
            "step, a larger tolerance or an effort of sweeps lets the step pass",
            kki_type_of(c)->name, kk_model_body_name(m, body[0]), kk_model_body_name(m, body[1]), number);
    }
    return kki_error_set(error, status, "solve: the %s between \"%s\" and \"%s\" has numbers out of range",
                         kki_type_of(c)->name, kk_model_body_name(m, body[0]), kk_model_body_name(m, body[1]));
}

void kki_note_work(const kki_island *I, const kki_solver_stats *stats) {
    I->report->sweeps += stats->sweeps;
    I->report->newton += stats->newton;
    I->report->factorizations += stats->factorizations;
}

static void note(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_certificate *proof,
                 const kki_solver_stats *stats) {
    kk_report *r = I->report;
    if (proof->residual > r->residual) {
        r->residual = proof->residual;
        if (proof->worst >= 0) {
            bodies_of(m, s, constraint_of_block(s, I, proof->worst), r->worst_body);
        }
    }
    r->cone = proof->cone > r->cone ? proof->cone : r->cone;
    r->signorini = proof->signorini > r->signorini ? proof->signorini : r->signorini;
    r->dissipation = proof->dissipation > r->dissipation ? proof->dissipation : r->dissipation;
    kki_note_work(I, stats);
}

void kki_island_note(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_certificate *proof,
                     const kki_solver_stats *stats) {
    note(m, s, I, proof, stats);
}

/// Of a robot that moves, the share of the tolerance at which iterating stops: more digits would serve nothing.
static const double DIGITS_OF_MOVING = 1e-2;

/// Of rows without impulses. A contact or limit that parts, or is still far away, does not say how fast things are here; of wide islands nobody asks each.
static double fastest_row(const kk_simulator *s, const kki_island *I) {
    const double *g = s->solution.g + I->first_row;
    double fastest = I->is_sparse ? kki_largest(I->nrow, g) : 0;
    for (int b = I->first_block; b < I->first_block + I->nblock && !I->is_sparse; b++) {
        const kki_block *block = &s->solution.block[b];
        const int parts = (block->law == KKI_LAW_CONTACT || block->law == KKI_LAW_LIMIT) && g[block->row] > 0;
        const double own = parts ? 0 : kki_largest(kki_law_rows(block->law), g + block->row);
        fastest = own > fastest ? own : fastest;
    }
    return fastest;
}

double kki_island_tolerance(const kk_simulator *s, const kki_island *I) {
    const double all = kki_largest(I->nrow, s->solution.g + I->first_row), fastest = all > 1 ? fastest_row(s, I) : all;
    return s->options.tolerance * (fastest > 1 ? fastest : 1); // of what moves faster than 1 m/s, relative
}

/// How many factors an island of so many rows may make: those of small ones cost next to nothing.
static int factors_of(int rows) {
    const double share = (double)KKI_ROBOT_ROWS / (rows > 1 ? rows : 1);
    const double factors = KKI_ROBOT_FACTORS * share * share;
    return factors < KKI_LEAST_FACTORS  ? KKI_LEAST_FACTORS
           : factors < KKI_MOST_FACTORS ? (int)factors
                                        : KKI_MOST_FACTORS;
}

kki_solver_options kki_island_solver_options(const kk_simulator *s, const kki_island *I) {
    kki_solver_options o = kki_solver_options_default();
    o.tolerance = kki_island_tolerance(s, I);
    o.moves = I->speed > KKI_MOVES && I->has_robot && !I->has_loops; // loops that say the same twice need every digit
    o.floor = o.moves ? DIGITS_OF_MOVING * s->options.tolerance : o.floor; // it will not creep
    o.fixed_sweeps = s->retry.degrades ? KKI_DEGRADED_SWEEPS : s->effort.sweeps;
    o.sweeps = s->effort.rounds > 0 ? s->effort.rounds : o.sweeps;
    if (s->effort.newton > 0) { // of all that an island asks for in a step
        const int left = s->effort.newton - I->report->factorizations;
        o.factors = left > 0 ? left : -1;
        o.newton = left < o.newton ? (left > 1 ? left : 1) : o.newton;
    } else if (kki_is_exact(s) && !s->options.strict && !I->is_sparse) {
        const int is_small = I->nrow <= KKI_ROBOT_ROWS;
        const int left = factors_of(I->nrow) - I->report->factorizations;
        o.factors = left > 0 ? left : -1;
        o.methods &= is_small ? KKI_METHODS_ALL : ~KKI_METHOD_ACCELERATED;
    }
    return o;
}

/// What rests with a trace of a wrong force gains speed by it in every step until it is solved. Of the change that this asks for, the part that stops
/// the speed is for once; the rest answers the trace and lasts. u and u0 are the rows' velocities at the step's end and start.
static double lasting_share(const kk_simulator *s, const kki_island *I) {
    double all = 0, once = 0;
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        all += s->solution.u[r] * s->solution.u[r];
        once += s->solution.u[r] * s->solution.u0[r];
    }
    const double share = all > 0 ? 1 - once / all : 1;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/// Where the proof of a wide island leaves Y λ, and what is planted its y_end.
enum { PROVED = 5, PLANTED = 1 };

/// The contact that holds well inside its cone and moves most; −1: none does, or not by as much as `least`, squared.
static int fastest_held(const kk_simulator *s, const kki_island *I, const double *lambda, const double *u,
                        double least) {
    int fastest = -1;
    for (int b = 0; b < I->nblock; b++) {
        const kki_block *block = &s->solution.block[I->first_block + b];
        const double *l = lambda + block->row, *v = u + block->row, rim = 0.9 * block->friction * l[0];
        if (block->law != KKI_LAW_CONTACT || !(l[0] > 0) || l[1] * l[1] + l[2] * l[2] > rim * rim) {
            continue;
        }
        const double speed = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        fastest = speed > least ? b : fastest;
        least = speed > least ? speed : least;
    }
    return fastest;
}

/// Whether one contact alone shows that the warm start is off by more than `most`: then the whole proof need not be made.
static int is_far_off(kk_simulator *s, const kki_island *I, const kki_problem *p, double most) {
    double *lambda = s->solution.lambda + I->first_row, *u = s->solution.u + I->first_row, own[6];
    I->scratch->solver.kernels->multiply_low_rank(I->nv, I->stride, I->scratch->span, I->scratch->Y, lambda, p->g, u);
    const int b = fastest_held(s, I, lambda, u, most * most);
    if (b < 0 || I->is_soft) {
        return 0;
    }
    const kki_block *block = &s->solution.block[I->first_block + b];
    kki_rows_own(s, I, block->row, 3, own);
    const double across = own[3] > own[5] ? own[3] : own[5], scale = own[0] > across ? own[0] : across;
    return kki_map_squared(block, scale, 0, lambda + block->row, u + block->row) > most * most;
}

/// What is known of the impulses that a step starts from.
typedef struct warm_start {
    double share; ///< of a change of λ that the next step should start from
    int is_near;  ///< they all but hold
} warm_start;

/// L0 before anything is formed: what rests, rests as it did. Judged from Y by the certificate itself; G is not needed.
static int warm_start_holds(const kk_model *m, kk_simulator *s, const kki_island *I, warm_start *start) {
    if (s->effort.sweeps > 0 && I->is_sparse) {
        return 0; // the sweeps are cheaper than the question
    }
    const kki_problem problem = kki_island_problem(s, I, 0);
    const kki_solver_options options = kki_island_solver_options(s, I);
    const kki_solver_stats none = {.solved = true};
    const double few = 5 * options.floor * (options.tolerance / s->options.tolerance);
    const int many = I->is_sparse || I->nrow > MANY_ROWS;
    const double part = I->is_sparse ? kki_sparse_share(REST_OF_MANY, s->options.tolerance) : REST_OF_MANY;
    const double most = part * options.tolerance, floor = many && most > few ? most : few;
    kki_certificate proof;
    if (I->is_sparse) {
        const kki_sparse_problem wide = kki_sparse_rows_problem(s, I);
        I->scratch->sparse.solver.kernels->certify(&wide, s->solution.lambda + I->first_row, I->scratch->product,
                                                   s->solution.u + I->first_row, &proof);
    } else if (is_far_off(s, I, &problem, 20 * floor)) {
        return 0;
    } else {
        I->scratch->solver.kernels->certify(&problem, s->solution.lambda + I->first_row, s->solution.u + I->first_row,
                                            &proof);
    }
    start->is_near = proof.residual <= 20 * floor;
    start->share = !start->is_near ? 1 : many ? lasting_share(s, I) : 0.1;
    const int creeps = !many && proof.creep > KKI_TELLING_CREEP * proof.residual;
    if (!(proof.residual <= floor) || creeps) {
        return 0;
    }
    note(m, s, I, &proof, &none);
    return 1;
}

/// Which friction a contact that sticks by more than it slides begins with: static where it does not slip, or where its last force was
/// not that of sliding. What turns out to slide after all is solved again with the other (break_loose).
static void choose_friction(const kk_model *m, kk_simulator *s, const kki_constraint *c, const double *u) {
    const kki_contact_law *law = &m->law[s->contacts.list[c->item].law];
    const double *l = s->solution.lambda + c->row, *bias = s->solution.bias + c->row;
    if (law->static_friction > law->friction) {
        const double x = u[1] + bias[1], y = u[2] + bias[2], slides = law->friction * l[0];
        const double force = kk_sqrt(l[1] * l[1] + l[2] * l[2]);
        const int stuck = l[0] > 0 && __builtin_fabs(force - slides) > 1e-6 * slides;
        s->solution.block[c->block].friction =
            stuck || x * x + y * y < SLIPPING * SLIPPING ? law->static_friction : law->friction;
    }
}

static void choose_frictions(const kk_model *m, kk_simulator *s, const kki_island *I) {
    for (int i = 0; i < I->nconstraint && I->has_static_friction; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (c->kind == KKI_ON_CONTACT) {
            choose_friction(m, s, c, s->solution.u0 + c->row);
        }
    }
}

/// Contacts that began with static friction and slide now go on with the other one. True where there are some.
static int break_loose(const kk_model *m, kk_simulator *s, const kki_island *I) {
    int any = 0;
    for (int i = 0; i < I->nconstraint && I->has_static_friction; i++) {
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        if (c->kind == KKI_ON_CONTACT) {
            const double sliding = m->law[s->contacts.list[c->item].law].friction, *u = s->solution.u + c->row;
            kki_block *b = &s->solution.block[c->block];
            const int slides = u[1] * u[1] + u[2] * u[2] > SLIPPING * SLIPPING && s->solution.lambda[c->row] > 0;
            any |= slides && b->friction > sliding;
            b->friction = slides ? sliding : b->friction;
        }
    }
    return any;
}

/// The rows' velocities at the end, from those of λ over the whole step: u = Yᵀ y_end + bias + r λ.
static void find_ends(kk_simulator *s, const kki_island *I) {
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->solution.u_end[r] =
            s->solution.u[r] - s->solution.bias[r] - s->solution.compliance[r] * s->solution.lambda[r];
    }
}

/// Work of the island's impulses: λ times the mean of the rows' velocities before and after.
/// @param solved  whether s->solution.u_end is that of the step's end
static void book_work(kk_simulator *s, const kki_island *I, const double *y_end, int solved) {
    double *u = s->solution.u_end + I->first_row, sum = 0;
    if (!solved) {
        kki_rows_velocity(s, I, y_end, u);
    }
    for (int r = 0; r < I->nrow; r++) {
        sum += s->solution.lambda[I->first_row + r] * 0.5 * (s->solution.u0[I->first_row + r] + u[r]);
    }
    for (int i = 0; i < I->nconstraint && I->has_drive; i++) { // servos are no constraints
        const kki_constraint *c = &s->constraints.list[s->constraints.order[I->first_constraint + i]];
        const int r = c->row - I->first_row;
        sum -= kki_is_drive(c) ? s->solution.lambda[c->row] * 0.5 * (s->solution.u0[c->row] + u[r]) : 0;
    }
    I->report->constraint_work += sum;
}

/// Whether some constraint carries load that carried none in the last step; s->solution.kept still holds the warm start.
static int has_new_load(const kk_simulator *s, const kki_island *I) {
    int any = 0;
    for (int i = 0; i < I->nconstraint && !any; i++) {
        const int row = s->constraints.list[s->constraints.order[I->first_constraint + i]].row;
        any = s->solution.kept[row] == 0 && s->solution.lambda[row] != 0;
    }
    return any;
}

/// What the next step starts from: the impulses of this one. Where they only took a trace of velocity out of what rests, most of
/// the change was for once: kept whole it would put the same trace back in the next step, and every second one would be solved.
static void keep(kk_simulator *s, const kki_island *I, double share) {
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->solution.kept[r] = share == 1 ? s->solution.lambda[r]
                                         : s->solution.kept[r] + share * (s->solution.lambda[r] - s->solution.kept[r]);
    }
}

/// The rows' velocities as the last step left them; u2 is free until work is booked.
static const double *velocities_before(kk_simulator *s, const kki_island *I) {
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->solution.u2[r] = s->solution.u0[r] + s->solution.bias[r];
    }
    return s->solution.u2 + I->first_row;
}

/// Whether G is worth forming.
static int is_dense(const kki_island *I) {
    const int most = I->has_robot ? KKI_ROBOT_ROWS : KKI_DENSE_ROWS;
    return !I->is_sparse && !I->has_wrench_basis && I->nrow <= KKI_MOST_MATRIX_ROWS &&
           !(I->nrow > most && I->nrow > I->nv);
}

/// What slips bears friction at its bound. A normal that turns with its bodies takes the force that is kept off the rim, by a trace, and it
/// would be taken to hold: it is put back. @param u  velocities at the step's start
static void put_on_rim(const kki_block *block, const double *u, const double *bias, double *l) {
    const double rim = block->friction * (l[0] + block->adhesion), x = u[1] + bias[1], y = u[2] + bias[2];
    if (!(x * x + y * y > 0.5 * SLIPPING * SLIPPING)) { // mostly
        return;
    }
    const double force = kk_sqrt(l[1] * l[1] + l[2] * l[2]), speed = kk_sqrt(x * x + y * y);
    if (force > ALMOST * rim && speed > SLIPPING && -(l[1] * x + l[2] * y) > 0.5 * force * speed) {
        l[1] *= rim / force;
        l[2] *= rim / force;
    }
}

static void put_on_rims(kk_simulator *s, const kki_island *I) {
    for (int b = I->first_block; b < I->first_block + I->nblock; b++) {
        const kki_block *block = &s->solution.block[b];
        const int row = I->first_row + block->row;
        if (block->law == KKI_LAW_CONTACT && s->solution.lambda[row] > 0) {
            put_on_rim(block, s->solution.u0 + row, s->solution.bias + row, s->solution.lambda + row);
        }
    }
}

/// Whether the island's coordinates are those of one tree, as they stand among all: nothing is gathered.
static int is_one_tree(const kki_island *I) {
    return I->ntree == 1 && !I->is_sparse && !I->has_wrench_basis;
}

/// Where an island has a vector of all degrees of freedom: in place, or in room of its own.
static double *place_of(const kk_model *m, const kk_simulator *s, const kki_island *I, double *all, double *own) {
    return is_one_tree(I) ? all + m->tree_first_dof[s->islands.tree_order[I->first_tree]] : own;
}

/// Rows, laws and velocities without impulses: u0 and g; y_end begins as y_free.
static void pose_island(const kk_model *m, kk_simulator *s, kki_island *I, const kki_warm_layout *w, const double *warm,
                        double *y, double *y_free, double *y_end) {
    kki_island_begin(m, s, I, w, warm);
    kki_rows_build_kept(m, s, I);
    if (I->has_loops && is_dense(I)) {
        kki_rows_matrix(m, s, I); // it shows what is dead and what is said twice
    }
    kki_island_free_dead_rows(s, I);
    kki_island_free_dependent_rows(s, I);
    if (!is_one_tree(I)) {
        kki_island_gather(m, s, I, s->kick.y, y);
        kki_island_gather(m, s, I, s->kick.y_free, y_free);
        memcpy(y_end, y_free, (size_t)I->nv * sizeof *y_end);
    }
    if (kki_is_zero(y, I->nv)) {
        memset(s->solution.u0 + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.u0);
    } else {
        kki_rows_velocity(s, I, y, s->solution.u0 + I->first_row);
    }
    choose_frictions(m, s, I);
    put_on_rims(s, I);
    kki_island_reflect(m, s, I, s->solution.u0 + I->first_row);
    kki_rows_velocity(s, I, y_free, s->solution.g + I->first_row);
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        s->solution.g[r] += s->solution.bias[r];
    }
    memcpy(s->solution.kept + I->first_row, s->solution.lambda + I->first_row,
           (size_t)I->stride * sizeof *s->solution.kept);
}

/// Shows the problem to whoever collects problems, before anything has been tried on it.
static void show_problem(kk_simulator *s, const kki_island *I) {
    if (s->hooks.capture) {
        kki_problem problem = kki_island_problem(s, I, 0);
        problem.before = velocities_before(s, I);
        s->hooks.capture(s, I, &problem, NULL, s->solution.lambda + I->first_row, s->hooks.capture_user);
    }
}

/// Whether the island's factors have run out before it was solved.
static int has_run_out(const kk_simulator *s, const kki_island *I) {
    return s->effort.newton > 0 && I->report->hit_iteration_limit;
}

/// Whether λ could be found without the search. What moves is asked for its modes first, what rests whether it rests.
static int is_solved(const kk_model *m, kk_simulator *s, kki_island *I, warm_start *start) {
    if (kki_few_rows_solved(m, s, I)) {
        return 1;
    }
    const kki_kept kept = is_dense(I) && I->speed > KKI_MOVES ? kki_kept_solve(m, s, I) : KKI_KEPT_UNASKED;
    if (kept != KKI_KEPT_UNASKED) {
        return kept == KKI_KEPT_SOLVED;
    }
    return warm_start_holds(m, s, I, start) || (is_dense(I) && kki_kept_solve(m, s, I) == KKI_KEPT_SOLVED);
}

/// λ of the whole step, and y_end += Y λ. @param problem  what was solved
static kk_status find_impulses(const kk_model *m, kk_simulator *s, kki_island *I, kki_problem *problem,
                               warm_start *start, double *y_end, kk_error *error) {
    const int waits = kki_island_awaits_impacts(m, s, I);
    if (waits) {
        memset(s->solution.lambda + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.lambda);
    }
    const int known = waits || is_solved(m, s, I, start);
    const int planted = !known && kki_planted_solved(m, s, I, y_end, I->scratch->y_drift);
    const int holds = (known || planted) && !break_loose(m, s, I);
    const int wants_matrix = !holds && is_dense(I);
    int proved = holds && !waits && (I->is_sparse || planted); // then Y λ is known
    if (wants_matrix) {
        kki_rows_matrix(m, s, I);
    }
    pose_problem(s, I, I->has_matrix, problem); // pieces and repairs ask for it again
    problem->before = holds || I->is_swept ? NULL : velocities_before(s, I);
    problem->start =
        holds || waits || I->is_sparse ? NULL : s->solution.u + I->first_row; // the warm start was judged by it
    kk_status status = holds ? KK_OK : kki_island_settle(m, s, I, problem, error);
    problem->start = NULL;
    I->is_swept = 0;
    for (int round = 0; round < MOST_LOOSE && status == KK_OK && !holds && break_loose(m, s, I); round++) {
        status = kki_island_settle(m, s, I, problem, error);
    }
    problem->before = NULL;
    // what factors have run out for stays as it is
    const int rounds = s->options.tolerance >= KKI_SPARSE_COARSE_TOLERANCE ? FEW_PUMPING : MOST_PUMPING;
    for (int round = 1;
         round <= rounds && status == KK_OK && !has_run_out(s, I) && kki_stop_pumping(m, s, I, round == rounds);
         round++) {
        proved = 0;
        status = kki_island_settle(m, s, I, problem, error);
    }
    for (int k = 0; k < I->nv && proved; k++) {
        y_end[k] = planted ? I->scratch->y_drift[k] : y_end[k] + I->scratch->product[k];
    }
    if (status == KK_OK && !waits && !proved) {
        kki_rows_add(s, I, s->solution.lambda + I->first_row, y_end);
    }
    return status;
}

static void put_back(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *y_end,
                     const double *y_drift) {
    kki_island_scatter(m, s, I, y_end, s->kick.y_end);
    if (memcmp(y_drift, y_end, (size_t)I->nv * sizeof *y_end) == 0) { // as it mostly is
        kki_island_copy(m, s, I, s->kick.y_end, s->kick.y_drift);
    } else {
        kki_island_scatter(m, s, I, y_drift, s->kick.y_drift);
    }
}

/// Impulses of an island that is posed, with the events inside the step and its position correction.
static kk_status settle_island(const kk_model *m, kk_simulator *s, kki_island *I, const double *y, const double *y_free,
                               double *y_end, double *y_drift, kk_error *error) {
    warm_start start = {.share = 1};
    const int events = I->report->events;
    kki_problem problem;
    kk_status status = find_impulses(m, s, I, &problem, &start, y_end, error);
    if (status != KK_OK) {
        return status;
    }
    kki_island_rests(m, s, I, start.is_near, y, y_free, y_end);
    memcpy(y_drift, y_end, (size_t)I->nv * sizeof *y_drift);
    find_ends(s, I);
    status = kki_island_events(m, s, I, &problem, y, y_free, y_end, y_drift);
    if (status != KK_OK) {
        return kki_island_error(m, s, I, -1, status, I->report->residual, error);
    }
    I->has_impacts = (int8_t)(I->report->events != events || has_new_load(s, I));
    I->is_unchanged =
        memcmp(s->solution.kept + I->first_row, s->solution.lambda + I->first_row, (size_t)I->nrow * sizeof *y) == 0;
    keep(s, I, I->report->events == events ? start.share : 1);
    book_work(s, I, y_end, !I->has_restitution && I->report->events == events);
    status = kki_island_repair(m, s, I, &problem, y_end, y_drift);
    return status == KK_OK ? KK_OK : kki_island_error(m, s, I, -1, status, I->report->residual, error);
}

static kk_status resolve_island(const kk_model *m, kk_simulator *s, kki_island *I, const kki_warm_layout *w,
                                const double *warm, kk_error *error) {
    double *y_end = place_of(m, s, I, s->kick.y_end, I->scratch->y_end),
           *y_drift = place_of(m, s, I, s->kick.y_drift, I->scratch->y_drift);
    double *y_free = place_of(m, s, I, s->kick.y_free, I->scratch->y_free),
           *y = place_of(m, s, I, s->kick.y, I->scratch->y_start);
    pose_island(m, s, I, w, warm, y, y_free, y_end);
    show_problem(s, I);
    kk_status status = settle_island(m, s, I, y, y_free, y_end, y_drift, error);
    if (s->retry.degrades) {
        kki_island_degrade(m, s, I, status, y, y_free, y_end, y_drift);
        status = KK_OK;
    }
    if (status == KK_OK && !is_one_tree(I)) {
        put_back(m, s, I, y_end, y_drift);
    }
    return status;
}

// ---- all of them

/// An island's share of the report.
static void add_report(const kk_report *from, kk_report *to) {
    if (from->residual > to->residual) {
        to->residual = from->residual;
        to->worst_body[0] = from->worst_body[0];
        to->worst_body[1] = from->worst_body[1];
    }
    to->cone = from->cone > to->cone ? from->cone : to->cone;
    to->signorini = from->signorini > to->signorini ? from->signorini : to->signorini;
    to->dissipation = from->dissipation > to->dissipation ? from->dissipation : to->dissipation;
    to->constraint_work += from->constraint_work;
    to->sweeps += from->sweeps;
    to->newton += from->newton;
    to->factorizations += from->factorizations;
    to->events += from->events;
    to->hit_iteration_limit |= from->hit_iteration_limit;
    to->contact_yield = from->contact_yield > to->contact_yield ? from->contact_yield : to->contact_yield;
    kki_note_flaw(to, from->quality, from->flaw, from->flaw_stage, from->flaw_body, from->flaw_amount);
}

typedef struct resolving {
    const kk_model *m;
    kk_simulator *s;
    const double *warm;
} resolving;

/// What islands have a share in; the rest is as it was. (Whole, a report is cleared and copied by slow string instructions.)
static void clear_report(kk_report *r) {
    r->residual = r->cone = r->signorini = r->dissipation = r->constraint_work = r->contact_yield = 0;
    r->worst_body[0] = r->worst_body[1] = -1;
    r->sweeps = r->newton = r->factorizations = r->events = r->hit_iteration_limit = 0;
    r->quality = KK_STEP_CERTIFIED;
    r->flaw = KK_FLAW_NONE;
    r->flaw_amount = 0;
}

/// With the worker's scratch.
static void resolve_one(const resolving *x, int island, int worker) {
    kk_simulator *s = x->s;
    kk_error error; // long, and filled where there is one
    kki_outcome *outcome = &s->islands.outcome[island];
    kki_island *I = &s->islands.list[island];
    I->scratch = &s->workers.scratch[worker];
    I->report = &outcome->report;
    kki_scratch_poison(s, I->scratch);
    clear_report(I->report);
    I->touch = -1;
    outcome->status = resolve_island(x->m, s, I, &s->warm_start.layout, x->warm, &error);
    outcome->is_done = 1;
    if (outcome->status != KK_OK && (s->workers.fault_island[worker] < 0 || island < s->workers.fault_island[worker])) {
        s->workers.fault_island[worker] = island;
        s->workers.fault[worker] = error;
    }
}

static void resolve_some(void *context, int first, int end, int worker) {
    const resolving *x = context;
    for (int i = first; i < end; i++) {
        if (!x->s->islands.outcome[i].is_done) {
            resolve_one(x, i, worker);
        }
    }
}

/// Islands so large that one worker would still be at it when all others are done: one behind the other, each by all of them.
static void resolve_large(const resolving *x, const kk_workers *workers) {
    kk_simulator *s = x->s;
    int rows = 0;
    for (int i = 0; i < s->islands.count; i++) {
        rows += s->islands.list[i].nrow;
    }
    s->workers.scratch->helpers = workers;
    for (int i = 0; i < s->islands.count; i++) {
        if (s->islands.list[i].is_sparse && s->islands.list[i].nrow > rows / (2 * workers->count)) {
            resolve_one(x, i, 0);
        }
    }
    s->workers.scratch->helpers = NULL;
}

/// The first fault in the order of islands, whoever met it.
static kk_status first_fault(const kk_simulator *s, kk_error *error) {
    int first = -1;
    for (int w = 0; w < s->workers.count; w++) {
        const int island = s->workers.fault_island[w];
        if (island >= 0 && (first < 0 || island < s->workers.fault_island[first])) {
            first = w;
        }
    }
    if (first < 0) {
        return KK_OK;
    }
    if (error) {
        *error = s->workers.fault[first];
    }
    return s->islands.outcome[s->workers.fault_island[first]].status;
}

kk_status kki_resolve_islands(const kk_model *model, kk_simulator *s, const kk_state *state, kk_error *error) {
    const resolving x = {model, s, kki_state_warm_const(state)};
    const kk_workers *workers = kki_workers_of(s);
    kk_status status = kki_free_bodies_resolve(model, s, error);
    if (status != KK_OK) {
        return status;
    }
    kk_report report; // what islands have a share in
    clear_report(&report);
    add_report(&s->report, &report);
    s->workers.scratch->rows.used = 0;
    s->workers.scratch->rows.is_lost = workers != NULL; // each worker has its own
    for (int i = 0; i < s->islands.count; i++) {
        s->islands.outcome[i].is_done = 0;
    }
    for (int w = 0; w < s->workers.count; w++) {
        s->workers.fault_island[w] = -1;
    }
    if (workers) {
        resolve_large(&x, workers);
    }
    kki_workers_share(workers, s->islands.count, 1, resolve_some, (void *)(uintptr_t)&x);
    for (int i = 0; i < s->islands.count; i++) { // in the order of islands: sums depend on it
        add_report(&s->islands.outcome[i].report, &report);
    }
    clear_report(&s->report);
    add_report(&report, &s->report);
    return first_fault(s, error);
}
