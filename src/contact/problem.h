/// The contact problem: find impulses λ with
///     u = G λ + g,    every block's (λ, u) on its law,
/// where G = J M⁻¹ Jᵀ is symmetric and positive semidefinite (rank deficient where contacts are hyperstatic), and g is what
/// u would be with λ = 0, biases included. Laws:
///
/// | block    | rows          | law                                                                                          |
/// |----------|---------------|----------------------------------------------------------------------------------------------|
/// | contact  | 3: n, t1, t2  | Coulomb: 0 ≤ λn ⊥ un ≥ 0; |λt| ≤ μ λn, and where ut ≠ 0, λt = −μ λn ut/|ut|. λn ≥ −adhesion  |
/// | equality | 1             | u = 0                                                                                        |
/// | limit    | 1             | 0 ≤ λ ⊥ u ≥ 0                                                                                |
/// | box      | 1             | lower ≤ λ ≤ upper, u = 0 inside, u ≥ 0 at lower, u ≤ 0 at upper: dry friction, motors        |
/// | torsion  | 1             | |λ| ≤ radius · λn of the contact block before it, as box                                     |
/// | rolling  | 2             | |λ| ≤ radius · λn of the contact block before it, opposing u                                 |
///
/// A row may be compliant: u there is G λ + g + r λ, r ≥ 0. Elliptic friction is scaled away by the rows' maker.
#ifndef KKI_CONTACT_PROBLEM_H
#define KKI_CONTACT_PROBLEM_H

#include <stdbool.h>

#include <karakuri/status.h>

typedef enum kki_law {
    KKI_LAW_CONTACT,
    KKI_LAW_EQUALITY,
    KKI_LAW_LIMIT,
    KKI_LAW_BOX,
    KKI_LAW_TORSION,
    KKI_LAW_ROLLING,
} kki_law;

typedef struct kki_block {
    int32_t law;         ///< kki_law
    int32_t row;         ///< first row
    int32_t contact;     ///< torsion, rolling: block of the contact they belong to
    double friction;     ///< contact: μ; torsion, rolling: radius, m
    double adhesion;     ///< contact: impulse it can bear in tension, ≥ 0: the cone's tip lies at λn = −adhesion
    double lower, upper; ///< box, impulses; ±inf allowed
} kki_block;

typedef struct kki_problem {
    int32_t nblock, nrow;
    int32_t stride;           ///< of G's and Y's rows; a multiple of 4 not below nrow; padding is zero
    const kki_block *block;   ///< [nblock] rows rising without a gap
    const double *G;          ///< [nrow × stride], 32-byte aligned; NULL where only Y is given
    const double *Y;          ///< [nv × stride] with G = Yᵀ Y, 32-byte aligned; NULL where only G is given
    int32_t nv;               ///< rows of Y
    const int32_t *span;      ///< [2 nv] vectors of four that are not zero in each row of Y: first, end; NULL: all
    const double *g;          ///< [stride]
    const double *compliance; ///< [stride] r; NULL: none
    const double *before;     ///< [nrow] u of the problem that the first λ answered; NULL: not known
    const double *start;      ///< [nrow] u of the first λ in this one; NULL: not known
} kki_problem;

/// The proof that comes with every solution; velocities in m/s (or rad/s), worst over all blocks.
typedef struct kki_certificate {
    double residual;    ///< natural map: max g_i |λ_i − P_K(λ_i − ũ_i / g_i)|
    double cone;        ///< how far λ leaves its cone, as a velocity
    double signorini;   ///< max |λn un|, as energy, J
    double dissipation; ///< worst angle between −ut and λt where a contact slides, rad
    double creep;       ///< fastest slip below 1e-8 m/s that friction at its bound does not point against
    int32_t worst;      ///< block of the residual, −1 if there is none
} kki_certificate;

#endif
