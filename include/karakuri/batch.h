/// Many states of one model at a time, a robot a SIMD lane. Every variant gives the same bits as the one-robot call.
#ifndef KARAKURI_BATCH_H
#define KARAKURI_BATCH_H

#include <karakuri/dynamics.h>

KK_BEGIN_DECLS

typedef struct kk_batch kk_batch;

/// How arrays of many states lie in memory.
typedef enum kk_batch_layout {
    KK_BY_COORDINATE, ///< x[coordinate][state]: one coordinate of all states side by side; fastest
    KK_BY_STATE,      ///< x[state][coordinate]: one state after the other
} kk_batch_layout;

/// Scratch for one thread; picks the widest lanes this CPU has.
KK_API kk_status kk_batch_create(const kk_model *model, const kk_allocator *allocator, kk_batch **batch);
KK_API void kk_batch_free(kk_batch *batch);
/// The variants this build and CPU have ("scalar", "lanes4", "lanes8", "scalar_avx2", "lanes4_avx2", …), NULL behind the last.
KK_API const char *kk_batch_variant_name(int index);
/// Chooses one by name; KK_NOT_FOUND if this build or CPU lacks it.
KK_API kk_status kk_batch_choose(kk_batch *batch, const char *variant);
KK_API const char *kk_batch_variant(const kk_batch *batch);
KK_API int kk_batch_lanes(const kk_batch *batch);

/// The calls below return KK_INVALID_ARGUMENT for a model other than the batch's and for a layout that is none; kk_batch_inertia_matrix returns KK_LIMIT_EXCEEDED above
/// KK_MATRIX_LIMIT degrees of freedom.
/// @param count states    @param q [nq × count], v, a, tau [nv × count], in `layout`
KK_API kk_status kk_batch_inverse_dynamics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                                           const double *q, const double *v, const double *a, double *tau);
KK_API kk_status kk_batch_forward_dynamics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                                           const double *q, const double *v, const double *tau, double *a);
/// @param M [nv nv × count] whole symmetric matrices, row-major within a state
KK_API kk_status kk_batch_inertia_matrix(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                                         const double *q, double *M);
/// @param poses [12 nbody × count] X_WB of every body: 9 of R row-major, then p
KK_API kk_status kk_batch_kinematics(const kk_model *model, kk_batch *batch, kk_batch_layout layout, size_t count,
                                     const double *q, double *poses);

KK_END_DECLS
#endif
