// Contact problems as they were posed in a step, in files of their own, to judge solvers by.
//
// A problem is what physics makes it: blocks with their laws, rows that belong together (ties) and the one or two bodies they act on, their rows of
// Y = Xᵀ Jᵀ in each body's scaled velocities (M = X⁻ᵀ X⁻¹, so that G = J M⁻¹ Jᵀ = Yᵀ Y), scaled velocities y without impulses, g = Yᵀ y + bias,
// compliance, the impulses to start from, the rows' velocities before the step, and what was asked for. From it the dense problem and the sparse one are made.
//
// A file is records one behind the other, each checked by itself, little-endian:
//     bytes 0 … 7    "KKCORPUS"
//     8 … 11         version
//     12 … 15        size of the packed payload
//     16 … 23        size of the payload
//     24 … 31        kk_hash_bytes of the payload
//     32 …           the payload as a zlib stream: counts of whole numbers and of doubles, four bytes each; the whole numbers; then the
//                    first bytes of all doubles, the second ones, … which packs them better
#ifndef KK_TESTS_SUPPORT_CORPUS_H
#define KK_TESTS_SUPPORT_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contact/solver.h"
#include "contact/sparse.h"

enum { CORPUS_NAME = 64, CORPUS_HEADER = 32 };

/// Rows that belong together: a contact with what rides on it, a loop, one limit.
typedef struct corpus_tie {
    int32_t row, nrow, block, nblock;
    int32_t body[2]; ///< the second −1: the world, or within one body
    int32_t kind;    ///< of constraint, see corpus_kind_name
    int32_t first;   ///< in Y: [nrow × nv] of the first body, then of the second
} corpus_tie;

enum {
    CORPUS_WIDE = 1,   ///< solved by the sparse ladder
    CORPUS_MATRIX = 2, ///< G was formed for it
    CORPUS_MOVES = 4,  ///< nothing in it is at rest
    CORPUS_BEFORE = 8, ///< `before` is known
    CORPUS_HANDED = 16 ///< as the ladder got it, behind what was tried first
};

typedef struct corpus_problem {
    char name[CORPUS_NAME], family[CORPUS_NAME], source[CORPUS_NAME]; ///< family: standing, falling, …
    int32_t nbody, ntie, nblock, nrow, width, count; ///< width: of all bodies together; count: doubles in Y
    int32_t flags;
    int32_t factors;                          ///< factorizations that were left to the step, 0: any number
    double timestep, tolerance, floor;        ///< s, m/s; floor as in kki_solver_options
    int32_t *nv;                              ///< [nbody] scaled velocities of each body
    corpus_tie *tie;                          ///< [ntie]
    kki_block *block;                         ///< [nblock]
    double *g, *compliance, *lambda, *before; ///< [nrow]
    double *free;                             ///< [width] y
    double *Y;                                ///< [count]
    void *memory;
} corpus_problem;

/// "contact", "limit", …
const char *corpus_kind_name(int kind);

/// Arrays for the counts that are set, zeroed. False without memory.
bool corpus_allocate(corpus_problem *p);
void corpus_free(corpus_problem *p);

/// Reads the record at `*at` and moves behind it. NULL, or what is wrong.
const char *corpus_read(const unsigned char *bytes, size_t size, size_t *at, corpus_problem *p);
/// Payload of a record, malloc'ed: what corpus_read unpacks.
unsigned char *corpus_payload(const corpus_problem *p, size_t *size);
/// The whole file, malloc'ed; NULL where it cannot be read.
unsigned char *corpus_load_file(const char *path, size_t *size);

/// g − (Yᵀ y + bias) cannot be known without the bias; this is bias = g − Yᵀ y, [nrow].
void corpus_bias(const corpus_problem *p, double *bias);

/// The problem as the solvers of today take it; one allocation.
typedef struct corpus_dense {
    kki_problem problem; ///< with Y, without G
    double *G;           ///< [nrow × stride] room
    void *memory;
} corpus_dense;
bool corpus_make_dense(const corpus_problem *p, corpus_dense *dense);
void corpus_free_dense(corpus_dense *dense);

typedef struct corpus_sparse {
    kki_sparse_problem problem;
    int32_t widest;
    void *memory;
} corpus_sparse;
bool corpus_make_sparse(const corpus_problem *p, corpus_sparse *sparse);
void corpus_free_sparse(corpus_sparse *sparse);

#endif
