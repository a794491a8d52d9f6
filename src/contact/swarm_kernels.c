/// The swarm's kernels by four lanes, for any processor, and the choice among all.
#define KKI_SWARM_WIDTH 4
#include "contact/swarm_kernels.h"

#include "dynamics/kernels/kernels.h"

KKI_SWARM_DEFINE(baseline, static, , false)
#ifdef KKI_HAVE_AVX2
KKI_SWARM_DEFINE(avx2, static, __attribute__((target("avx2"))), true)
#endif

const kki_swarm_kernels *kki_swarm_kernels_at(int index) {
    const kki_swarm_kernels *found[3] = {&kki_swarm_kernels_baseline};
    int n = 1;
#ifdef KKI_HAVE_AVX2
    if (kki_kernels_one() != kki_kernels_at(0)) {
        found[n++] = &kki_swarm_kernels_avx2;
    }
#endif
#ifdef KKI_HAVE_AVX512
    if (kki_kernels_widest()->lanes == 8) {
        found[n++] = &kki_swarm_kernels_avx512;
    }
#endif
    return index >= 0 && index < n ? found[index] : NULL;
}

const kki_swarm_kernels *kki_swarm_kernels_best(void) {
    const kki_swarm_kernels *best = NULL;
    for (int i = 0; kki_swarm_kernels_at(i); i++) {
        best = kki_swarm_kernels_at(i);
    }
    return best;
}
