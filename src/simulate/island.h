/// One island at a time: rows, laws, impulses.
#ifndef KKI_SIMULATE_ISLAND_H
#define KKI_SIMULATE_ISLAND_H

#include "contact/dense_kernels.h"
#include "model/warm.h"
#include "simulate/simulator.h"

/// laws.c: blocks of all constraints with rows and contacts numbered in the island; bias, compliance, warm start.
void kki_island_begin(const kk_model *m, kk_simulator *s, kki_island *I, const kki_warm_layout *w, const double *warm);

/// Whether a face within the dead band may close the rest of it in this step.
int kki_island_may_close_gaps(const kk_simulator *s, const kki_island *I);
/// Faces within the dead band close nothing in this step; g follows.
void kki_island_keep_gaps(const kk_model *m, kk_simulator *s, const kki_island *I);
/// Whether some contact or loop is held in the mean of the step, because what it holds turns; and holds all of them at its end alone, g follows.
int kki_island_is_reflected(const kk_model *m, const kk_simulator *s, const kki_island *I);
void kki_island_drop_reflection(const kk_model *m, kk_simulator *s, const kki_island *I);
/// laws.c: rows of loops along which nothing can move take no part; after the rows have been built.
void kki_island_free_dead_rows(kk_simulator *s, const kki_island *I);
/// laws.c: nor do those that say again what others say, but for what an open gap turns them by.
void kki_island_free_dependent_rows(kk_simulator *s, kki_island *I);

/// rows.c: Y of the island, and G = Yᵀ Y, exactly symmetric.
void kki_rows_build(const kk_model *m, kk_simulator *s, const kki_island *I);
/// The same behind those of the islands before, as far as there is room; and as they were then, or built anew where they are lost.
void kki_rows_build_kept(const kk_model *m, kk_simulator *s, kki_island *I);
void kki_rows_recall(const kk_model *m, kk_simulator *s, const kki_island *I);
void kki_rows_matrix(const kk_model *m, kk_simulator *s, kki_island *I);
/// To be called before I->scratch->span is read: of short rows a step that goes on as the last one never asks.
void kki_rows_spans(const kki_island *I);
/// r = Yᵀ y, [stride].
void kki_rows_velocity(const kk_simulator *s, const kki_island *I, const double *y, double *r);
/// y += Y λ; λ's padding is zero.
void kki_rows_add(const kk_simulator *s, const kki_island *I, const double *lambda, double *y);
/// Packed upper triangle of one row of G or of three, numbered in the island.
void kki_rows_own(const kk_simulator *s, const kki_island *I, int row, int rows, double *own);
/// y += Y λ and Yᵀ y of the three rows of one contact alone. @param i  constraint    @param row  its first, both numbered in the island
void kki_rows_add_contact(const kki_island *I, int i, int row, const double l[3], double *y);
void kki_rows_velocity_contact(const kki_island *I, int i, int row, const double *y, double u[3]);
/// rows_sparse.c: the same for wide islands.
void kki_sparse_rows_build(const kk_model *m, kk_simulator *s, const kki_island *I);
void kki_sparse_rows_velocity(const kk_simulator *s, const kki_island *I, const double *y, double *r);
void kki_sparse_rows_add(const kk_simulator *s, const kki_island *I, const double *lambda, double *y);
void kki_sparse_rows_add_contact(const kki_island *I, int i, const double l[3], double *y);
void kki_sparse_rows_velocity_contact(const kki_island *I, int i, const double *y, double u[3]);
void kki_sparse_rows_own(const kk_simulator *s, const kki_island *I, int row, int rows, double *own);
kki_sparse_problem kki_sparse_rows_problem(const kk_simulator *s, const kki_island *I);
/// Between all degrees of freedom and the island's coordinates. `to` holds what it was before, of which a narrow island changes its part.
void kki_island_gather(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *from,
                       double *local);
void kki_island_scatter(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *local, double *to);
/// The island's degrees of freedom, from all to all.
void kki_island_copy(const kk_model *m, const kk_simulator *s, const kki_island *I, const double *from, double *to);

/// rows.c: four columns of Y, from the pair's column on, climb between two nodes.
void kki_rows_climb(const kk_model *m, kk_simulator *s, const kki_island *I, const int32_t node[2], double w[2][6][4],
                    int column, int stride);

/// rows_wrench.c: whether the island is one; its rows; z = Qᵀ y and y += Q z, y [full] in the island's numbers, padded with zeros.
void kki_wrench_basis_choose(kk_simulator *s, kki_island *I);
void kki_wrench_basis_build(const kk_model *m, kk_simulator *s, const kki_island *I);
void kki_wrench_basis_project(const kki_island *I, const double *y, double *z);
void kki_wrench_basis_spread(const kki_island *I, const double *z, double *y);

/// events.c: whether all of the island's constraints are contacts that wait for their impacts: its contact problem is of no use then.
int kki_island_awaits_impacts(const kk_model *m, kk_simulator *s, kki_island *I);
/// events.c: sliding that stops, and impacts, inside the step. Changes λ, y_end and y_drift where there are some.
kk_status kki_island_events(const kk_model *m, kk_simulator *s, kki_island *I, kki_problem *problem, const double *y,
                            const double *y_free, double *y_end, double *y_drift);
/// reflect.c: biases of loops and of what turns about its contacts. @param u_start  the rows' velocities at the middle, before the kick
void kki_island_reflect(const kk_model *m, kk_simulator *s, kki_island *I, const double *u_start);
/// Whether friction did work on what turns; biases are then changed so that it does not, or not that much. @param is_last  all of it goes
int kki_stop_pumping(const kk_model *m, kk_simulator *s, const kki_island *I, int is_last);
/// Whether a body may turn about a contact; and the bias of its three rows where it does, from their velocities at the middle. k->swing
/// becomes what of the normal one comes from turning.
int kki_may_swing(const kk_model *m, const kki_contact *k, double lambda);
void kki_reflect_contact(const kk_model *m, const kk_simulator *s, kki_contact *k, int sticks, const double *u,
                         double *bias);
/// overlap.c: lists nodes that overlap deeply; whether a contact is between such; the compliance of its row, where Y is known; and the speed at which a
/// contact's bodies part at the middle.
void kki_list_deep_pairs(const kk_model *model, kk_simulator *simulator);
int kki_is_overlap(const kk_model *model, const kk_simulator *simulator, const kki_contact *contact);
void kki_island_ease(const kk_model *model, kk_simulator *simulator, const kki_island *island,
                     const kki_constraint *constraint);
/// Whether a contact is between links of one robot.
static inline int kki_is_within_tree(const kk_model *m, const kki_contact *k) {
    return k->node[0] > 0 && k->node[1] > 0 && m->node_tree[k->node[0]] == m->node_tree[k->node[1]];
}
double kki_parting_speed(const kk_simulator *simulator, const kki_contact *contact);
/// Whether two contacts are between the same links.
static inline int kki_same_nodes(const kki_contact *a, const kki_contact *b) {
    return a->node[0] == b->node[0] && a->node[1] == b->node[1];
}
/// few.c: A = L D Lᵀ of a small matrix, [n × stride], by its lower triangle and in place, 1/D on the diagonal. Gives the product of what is left of the
/// diagonal's elements, as shares of them; it ends with 0 where one is left with less than a share `least`.
double kki_factor_few(int n, int stride, double *A, double least);
/// few.c: whether the island has so few rows that its λ could be found directly; then s->solution.lambda and s->solution.u are that, and noted.
int kki_few_rows_solved(const kk_model *m, kk_simulator *s, const kki_island *I);
enum { KKI_FEW_ROWS = 16 };
/// few.c: λ of equalities alone that takes s->solution.g out of them, in an island without contacts. False where it has too many rows.
int kki_few_rows_drawn(const kk_simulator *s, const kki_island *I, double *lambda);
/// planted.c: the same for many points between few bodies that go on holding as they did. @param y_end  [nv] result: y_free + Y λ
int kki_planted_solved(const kk_model *m, kk_simulator *s, const kki_island *I, const double *y_free, double *y_end);
/// kept.c: the same for what goes on holding as it did, and staying open or at its bounds.
typedef enum kki_kept {
    KKI_KEPT_UNASKED, ///< not an island for this
    KKI_KEPT_NOT, ///< something changes; s->solution.u is that of s->solution.lambda, as far from a solution as it may be
    KKI_KEPT_SOLVED,
} kki_kept;
kki_kept kki_kept_solve(const kk_model *m, kk_simulator *s, kki_island *I);
/// kept.c: impulses of the position pass, by which what overlaps, in s->solution.g as m/s, comes out while all that bears stays where it is. False where that is not to `floor`.
int kki_kept_repair(kk_simulator *s, kki_island *I, double floor, double *lambda);
/// rest.c: whether all that is left of the island's motion is rounding; y_end is zero then. λ may be changed to that end; u and the report
/// follow. @param is_near  the warm start all but held    @param y  at the step's start
int kki_island_rests(const kk_model *m, kk_simulator *s, const kki_island *I, int is_near, const double *y,
                     const double *y_free, double *y_end);
/// resolve.c: a certificate and what it cost, or the cost alone, into the report; and the error of a constraint. @param block  of the island; −1: any
void kki_island_note(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_certificate *proof,
                     const kki_solver_stats *stats);
void kki_note_work(const kki_island *I, const kki_solver_stats *stats);
kk_status kki_island_error(const kk_model *m, const kk_simulator *s, const kki_island *I, int block, kk_status status,
                           double residual, kk_error *error);
/// Whether a step has to be proved: nothing bounds its work.
static inline int kki_is_exact(const kk_simulator *s) {
    return s->effort.sweeps == 0 && s->effort.newton == 0 && !s->retry.degrades;
}
/// relaxation.c: λ and u of the island, by the search. @param problem  as it is posed; knows of contacts that give way from then on
kk_status kki_island_settle(const kk_model *m, kk_simulator *s, kki_island *I, kki_problem *problem, kk_error *error);
/// position.c: what moves positions out of each other, onto y_drift; and whether a contact overlaps by so much that it will.
kk_status kki_island_repair(const kk_model *m, kk_simulator *s, kki_island *I, const kki_problem *problem,
                            const double *y_end, double *y_drift);
int kki_island_overlaps(const kk_simulator *s, const kki_island *I);
/// resolve.c: the island's problem over Y, G and g; the solver with the options of the step.
kki_problem kki_island_problem(const kk_simulator *s, const kki_island *I, int has_matrix);
/// The solver for the island's kind.
kk_status kki_island_solve(kk_simulator *s, const kki_island *I, const kki_problem *problem,
                           const kki_solver_options *options, double *lambda, double *u, kki_certificate *proof,
                           kki_solver_stats *stats);
/// Its tolerance is that of the step, relative to what moves faster than 1 m/s.
double kki_island_tolerance(const kk_simulator *s, const kki_island *I);
kki_solver_options kki_island_solver_options(const kk_simulator *s, const kki_island *I);

#endif
