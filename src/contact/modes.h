/// λ of modes that are known.
///
/// Rows that hold are eliminated,
///     (G + ε) Δλ = −u    over them,
/// and leave to the few contacts that slide a small problem, u = S λ + …, S the Schur complement: u·n = 0 and u ∥ −d, with λ = λn (n + μ d), by Newton's method in λn and the
/// turn of d (slides.h). ε makes rows that say together what others say (four corners of a sole) regular; rounds take it out again. The certificate says whether the
/// result is a solution: modes that were guessed wrong cost two or three thousand ticks of a robot's thirty rows.
#ifndef KKI_CONTACT_MODES_H
#define KKI_CONTACT_MODES_H

#include "contact/dense_kernels.h"
#include "contact/slides.h"
#include "contact/solver.h"

enum { KKI_MODES_ROWS = 64, KKI_MODES_ROOM = KKI_MODES_ROWS + 4 };

/// What a block does, by what it bears: inside its cone or between its bounds; open or at a bound; at its cone's rim; pressed without friction.
typedef enum kki_mode { KKI_HOLDS, KKI_STAYS, KKI_SLIDES, KKI_GLIDES, KKI_DOES_NOT_TELL } kki_mode;

typedef struct kki_modes {
    int n;
    /// Rows that hold, whole vectors of them, and those of what slides behind them; they are written by threes.
    int32_t row[KKI_MODES_ROOM + 2];
    int nheld, first, stride;
    double shift;                       ///< ε, as a share of the diagonal
    int32_t slide_row[KKI_MOST_SLIDES]; ///< their normals
    kki_slides slides;
    _Alignas(32) double b[KKI_MODES_ROOM], x[KKI_MODES_ROOM], y[KKI_MODES_ROOM], inverse[KKI_MODES_ROOM];
} kki_modes;

/// @param all  blocks of the problem    @param lambda  of all of them
kki_mode kki_mode_of(const kki_block *all, const kki_block *block, const double *lambda);
/// Blocks of which λ does not show that they hold.
void kki_modes_ask(const kki_problem *p, const double *lambda, int8_t *is_open);
/// Modes by λ, rows that hold, contacts that slide. False where there are none, more than can be, or a block does not tell. The problem has no more than KKI_MODES_ROWS.
bool kki_modes_list(const kki_problem *p, const double *lambda, kki_modes *x);
/// The factor of what holds, in A [KKI_MODES_ROOM, squared], and S. Needs G, and x->shift.
bool kki_modes_factor(const kki_problem *p, const kki_dense_kernels *kernels, double *A, kki_modes *x);
/// What u is off by the modes; it is where kki_modes_solve begins.
double kki_modes_off(kki_modes *x, const double *u);

typedef struct kki_modes_goal {
    double floor; ///< where rounds end
    double good;  ///< residual of a solution
    double least; ///< of one where rows that hold contradict each other
} kki_modes_goal;
/// Rounds to the floor; whether the certificate is good then. @param size  what is off    @param lambda  in: where it begins, out: as far as it got, with its u
bool kki_modes_solve(const kki_problem *p, const kki_dense_kernels *kernels, const double *A, kki_modes *x, double size,
                     const kki_modes_goal *goal, double *lambda, double *u, kki_certificate *proof,
                     kki_solver_stats *stats);

/// Modes that led to no solution, changed block by block where λ tells which is wrong. @param from [stride] λ that showed them    @param lambda  in: as far as it got with them, out: a solution where
/// it is true, with its u    @param A, x  as above, x with its shift
bool kki_modes_amend(const kki_problem *p, const kki_dense_kernels *kernels, double *A, kki_modes *x,
                     const kki_modes_goal *goal, const double *from, double *lambda, double *u, kki_certificate *proof,
                     kki_solver_stats *stats);

/// As kki_contact_hold, of a problem with a matrix, without compliance, and of no more than KKI_MODES_ROWS. @param u [stride] scratch    @param A  as above
bool kki_modes_hold(const kki_problem *p, const kki_dense_kernels *kernels, double *A, double floor, int n,
                    const kki_held *held, double *lambda, double *u);

/// Rows in question, at most: where there are more, all are swept as they are.
enum { KKI_QUESTION_ROWS = 36 };
/// Modes that are not known, by sweeps: λ, and u = G λ + g, [stride] each, follow so many sweeps at most over the blocks in question, while the others hold. Sweeps over all of a
/// robot's contacts forget, contact by contact, that the others would answer: where seven points of a trunk hold while a foot lands it takes hundreds. So what surely holds is
/// eliminated, and the few see each other through the Schur complement, with all that the others do about it. Of the others, those that cannot hold are in question then, too, and it goes on
/// from there. Laws as in glance.h. @param is_open [nblock] in question    @param A  as above    @param x  scratch, with its shift
void kki_modes_sweep(const kki_problem *p, const kki_dense_kernels *kernels, int sweeps, int8_t *is_open, double *A,
                     kki_modes *x, double *lambda, double *u);

#endif
