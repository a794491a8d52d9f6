/// The choice among tables of kernels that a file has compiled for the baseline and for processors with more, as table_baseline, table_avx2 and
/// table_avx512.
#ifndef KKI_DYNAMICS_KERNELS_CHOOSE_H
#define KKI_DYNAMICS_KERNELS_CHOOSE_H

#include <stddef.h>

#include "dynamics/kernels/kernels.h"

#ifdef KKI_HAVE_AVX2
#define KKI_TARGET_AVX2 __attribute__((target("avx2")))
#define KKI_TABLE_AVX2 &table_avx2
#else
#define KKI_TABLE_AVX2 NULL
#endif

/// Vectors of four gain by it, too: there are twice as many registers, and a number in memory that is to be spread is an operand.
#ifdef KKI_HAVE_AVX512
#define KKI_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw")))
#define KKI_TABLE_AVX512 &table_avx512
#else
#define KKI_TABLE_AVX512 NULL
#endif

/// name_at(0): baseline, name_at(1): AVX2, name_at(2): `widest`, which is KKI_TABLE_AVX512 or NULL; NULL where build or processor has none. name_best: the
/// fastest of them. The dynamics' dispatch asks the processor, which takes long: not in a step.
#ifdef KKI_ONE_VARIANT
#define KKI_CHOOSE_KERNELS(name, widest)            \
    const name *name##_at(int index) {              \
        return index == 0 ? &table_baseline : NULL; \
    }                                               \
    const name *name##_best(void) {                 \
        return &table_baseline;                     \
    }
#else
#define KKI_CHOOSE_KERNELS(name, widest)                            \
    const name *name##_at(int index) {                              \
        if (index == 2 && kki_kernels_widest()->lanes == 8) {       \
            return widest;                                          \
        }                                                           \
        if (index == 1 && kki_kernels_one() != kki_kernels_at(0)) { \
            return KKI_TABLE_AVX2;                                  \
        }                                                           \
        return index == 0 ? &table_baseline : NULL;                 \
    }                                                               \
    const name *name##_best(void) {                                 \
        const name *const wider = name##_at(2);                     \
        const name *const wide = wider ? wider : name##_at(1);      \
        return wide ? wide : &table_baseline;                       \
    }

#endif

#endif
