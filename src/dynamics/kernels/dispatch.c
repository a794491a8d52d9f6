/// Which kernels this build has and this CPU can run.
#include "dynamics/kernels/kernels.h"

extern const kki_kernels kki_kernels_scalar, kki_kernels_lanes4;
#ifdef KKI_HAVE_AVX2
extern const kki_kernels kki_kernels_scalar_avx2, kki_kernels_lanes4_avx2;
#endif
#ifdef KKI_HAVE_AVX512
extern const kki_kernels kki_kernels_lanes8_avx512;
#endif

static int has_avx2(void) {
#ifdef KKI_HAVE_AVX2
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}

static int has_avx512(void) {
#ifdef KKI_HAVE_AVX512
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw");
#else
    return 0;
#endif
}

// the i-th that runs here, worst first
const kki_kernels *kki_kernels_at(int index) {
    const kki_kernels *found[6] = {&kki_kernels_scalar, &kki_kernels_lanes4, NULL, NULL, NULL, NULL};
    int n = 2;
#ifdef KKI_HAVE_AVX2
    if (has_avx2()) {
        found[n++] = &kki_kernels_scalar_avx2;
        found[n++] = &kki_kernels_lanes4_avx2;
    }
#endif
#ifdef KKI_HAVE_AVX512
    if (has_avx512()) {
        found[n++] = &kki_kernels_lanes8_avx512;
    }
#endif
    return index >= 0 && index < n ? found[index] : NULL;
}

const kki_kernels *kki_kernels_one(void) { return kki_kernels_at(has_avx2() ? 2 : 0); }

const kki_kernels *kki_kernels_widest(void) { return kki_kernels_at(has_avx512() ? 4 : has_avx2() ? 3 : 1); }
