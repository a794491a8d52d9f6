/// Contacts of lone bodies, four at a time: sweeps of a fixed budget.
///
/// Contacts get colors so that no two of a color share a moving body; four of a color are a bundle, a contact a lane. Within a color the
/// order does not matter, so lanes and workers take what comes, and the result depends on the list of ties alone.
#ifndef KKI_CONTACT_BUNDLES_H
#define KKI_CONTACT_BUNDLES_H

#include "contact/sparse.h"

struct kki_sparse_system;

enum { KKI_LANES = 4, KKI_COLORS = 64 };

typedef struct kki_bundle {
    _Alignas(64) double Y[2][3][6][KKI_LANES];  ///< rows by body, contact row and coordinate
    double inverse_n[KKI_LANES];                ///< 1 / Gnn
    double across[2][KKI_LANES];                ///< Gn1, Gn2
    double inverse_t[3][KKI_LANES];             ///< of the tangential 2 × 2: 11, 12, 22
    double step[KKI_LANES];                     ///< 1 / its larger eigenvalue
    double friction[KKI_LANES];                 ///< μ, of the call at hand
    double g[3][KKI_LANES], soft[3][KKI_LANES]; ///< as kki_sparse_system
    double lambda[3][KKI_LANES];
    int32_t at[2][KKI_LANES]; ///< where in z each body begins; the zeros behind z: none
    int32_t tie[KKI_LANES];   ///< −1: the lane is empty
} kki_bundle;

struct kki_bundle_kernels;

typedef struct kki_bundles {
    const struct kki_bundle_kernels *kernels; ///< what this CPU runs
    uint64_t stamp;                           ///< of the problem they were made for
    int32_t count, colors;
    int32_t start[KKI_COLORS + 1]; ///< [colors + 1] first bundle of each
    kki_bundle *bundle;            ///< [room]
    uint64_t *taken;               ///< [bodies] colors of each body's contacts
    int8_t *color;                 ///< [ties] −1: not for a bundle
    int32_t *rest;                 ///< [ties] those
    int32_t nrest;
} kki_bundles;

typedef struct kki_bundle_kernels {
    /// Rows and what depends on them, for the bundle's ties. @param soft [nrow]
    void (*pack)(const kki_sparse_problem *p, const double *soft, kki_bundle *b);
    /// One pass over bundles of one color. @param none  where the zeros behind z begin
    void (*sweep)(kki_bundle *bundle, int count, int32_t none, double *z);
} kki_bundle_kernels;

/// index 0: baseline; 1: AVX2, NULL where build or CPU has none.
const kki_bundle_kernels *kki_bundle_kernels_at(int index);
const kki_bundle_kernels *kki_bundle_kernels_best(void);

/// Room for bundles, at most: every color may end with one that is not full.
static inline int32_t kki_bundles_room(int32_t ties) {
    return ties / KKI_LANES + KKI_COLORS;
}

/// Colors and rows of the problem, unless they are there already.
void kki_bundles_make(const kki_sparse_problem *p, const double *soft, kki_bundles *bundles);
/// `sweeps` passes over all ties: color by color, then what is in no bundle. λ and z = Y λ follow; behind z there are eight zeros.
void kki_bundles_sweep(const struct kki_sparse_system *s, kki_bundles *bundles, int sweeps, double *lambda, double *z);

#endif
