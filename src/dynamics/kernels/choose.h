/// The choice among tables of kernels that a file has compiled for the baseline and for AVX2, as table_baseline and table_avx2.
#ifndef KKI_DYNAMICS_KERNELS_CHOOSE_H
#define KKI_DYNAMICS_KERNELS_CHOOSE_H

#include <stddef.h>

#include "dynamics/kernels/kernels.h"

#ifdef KKI_HAVE_AVX2
#define KKI_TABLE_AVX2 &table_avx2
#else
#define KKI_TABLE_AVX2 NULL
#endif

/// name_at(0): baseline, name_at(1): AVX2, NULL where build or processor has none; name_best: the fastest of them. The dynamics' dispatch asks the
/// processor, which takes long: not in a step.
#define KKI_CHOOSE_KERNELS(name)                                    \
    const name *name##_at(int index) {                              \
        if (index == 1 && kki_kernels_one() != kki_kernels_at(0)) { \
            return KKI_TABLE_AVX2;                                  \
        }                                                           \
        return index == 0 ? &table_baseline : NULL;                 \
    }                                                               \
    const name *name##_best(void) {                                 \
        const name *wide = name##_at(1);                            \
        return wide ? wide : &table_baseline;                       \
    }

#endif
