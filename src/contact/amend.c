/// Modes that are nearly right, one block at a time; see modes.h.
///
/// λ of modes that are wrong tells which of them: mostly it is the one that breaks its law by most. Only λ of the right modes is to be believed further than that, so each attempt begins
/// from the λ that the first modes were read off, with the one block changed.
#include <string.h>

#include "contact/cones.h"
#include "contact/modes.h"

/// Attempts; and blocks that may break their laws at once: of one that does, in three of four cases the next attempt is right, of four in one of ten.
enum { MOST_CHANGES = 3, MOST_WRONG = 3 };
/// What counts as broken, m/s.
static const double LEAST = 1e-12;

typedef enum fault { NONE, PULLED_OUT, DRIVEN, DRAWN, ANOTHER } fault;

typedef struct finding {
    int wrong; ///< blocks that break their laws
    int block; ///< by most
    fault what;
    double size;
} finding;

/// By how much a contact breaks its law, as a velocity. @param scale  its own element of G
static double off_contact(const kki_block *block, kki_mode mode, double scale, const double *l, const double *u,
                          fault *what) {
    const double friction = block->friction;
    switch (mode) {
    case KKI_HOLDS: *what = l[0] > 0 ? PULLED_OUT : ANOTHER; return (kki_norm2(l[1], l[2]) - friction * l[0]) * scale;
    case KKI_SLIDES:
        *what = l[0] > 0 ? DRIVEN : ANOTHER; // or it has let go
        return l[0] > 0 ? (l[1] * u[1] + l[2] * u[2]) / (friction * l[0]) : -u[0];
    default: *what = ANOTHER; return -u[0];
    }
}

/// The same of any block. Boxes and equalities are left to others.
static double off_block(const kki_block *block, kki_mode mode, double scale, const double *l, const double *u,
                        fault *what) {
    switch (block->law) {
    case KKI_LAW_CONTACT: return off_contact(block, mode, scale, l, u, what);
    case KKI_LAW_LIMIT: *what = mode == KKI_HOLDS ? DRAWN : ANOTHER; return mode == KKI_HOLDS ? -l[0] * scale : -u[0];
    default: return 0;
    }
}

/// @param from  λ that shows the modes
static finding look(const kki_problem *p, const double *from, const double *lambda, const double *u) {
    finding f = {.size = LEAST};
    for (int b = 0; b < p->nblock; b++) {
        const kki_block *block = &p->block[b];
        const int row = block->row;
        fault what = NONE;
        const double off = off_block(block, kki_mode_of(p->block, block, from),
                                     p->G[(size_t)row * (size_t)(p->stride + 1)], lambda + row, u + row, &what);
        f.wrong += off > LEAST;
        if (off > f.size) {
            f = (finding){f.wrong, b, what, off};
        }
    }
    return f;
}

/// Another mode for one block: what is pulled out of its cone slides the way it was pulled; a limit that would draw lets go; what friction drives has its friction turned round, and where
/// that has been tried, it holds.
static void change(const kki_problem *p, const finding *f, uint64_t *turned, double *from) {
    const kki_block *block = &p->block[f->block];
    const uint64_t bit = UINT64_C(1) << f->block;
    double *l = from + block->row;
    if (f->what == DRAWN) {
        l[0] = 0;
        return;
    }
    const double t = kki_norm2(l[1], l[2]), out = t > 0 ? block->friction * l[0] / t : 0;
    const double share = f->what == PULLED_OUT ? out : *turned & bit ? 0.5 : -1;
    *turned |= f->what == DRIVEN ? bit : 0;
    l[1] *= share;
    l[2] *= share;
}

bool kki_modes_amend(const kki_problem *p, const kki_dense_kernels *kernels, double *A, kki_modes *x,
                     const kki_modes_goal *goal, const double *from, double *lambda, double *u, kki_certificate *proof,
                     kki_solver_stats *stats) {
    const size_t bytes = (size_t)p->stride * sizeof *lambda;
    _Alignas(32) double l[KKI_MODES_ROOM];
    uint64_t turned = 0;
    memcpy(l, from, bytes);
    for (int k = 0; k < MOST_CHANGES; k++) {
        kernels->multiply(p->nrow, p->stride, p->G, lambda, p->g, u); // where it ended early, u was not that of λ
        const finding f = look(p, l, lambda, u);
        if (f.wrong == 0 || f.wrong > MOST_WRONG || f.what == ANOTHER) {
            break;
        }
        change(p, &f, &turned, l);
        memcpy(lambda, l, bytes);
        kernels->multiply(p->nrow, p->stride, p->G, lambda, p->g, u);
        stats->factorizations++;
        if (!kki_modes_list(p, lambda, x) || !kki_modes_factor(p, kernels, A, x)) {
            break;
        }
        if (kki_modes_solve(p, kernels, A, x, kki_modes_off(x, u), goal, lambda, u, proof, stats)) {
            return true;
        }
    }
    return false;
}
