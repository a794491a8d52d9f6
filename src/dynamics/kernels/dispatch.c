/// Which kernels this build has and this CPU can run.
#include "dynamics/kernels/kernels.h"

extern const kki_kernels kki_kernels_scalar;
#ifdef KKI_ONE_VARIANT // small builds for one robot at a time
#define BASELINE &kki_kernels_scalar
#define WIDEST kki_kernels_scalar
enum { BASELINE_COUNT = 1 };
#else
extern const kki_kernels kki_kernels_lanes4, kki_kernels_lanes8;
#define BASELINE &kki_kernels_scalar, &kki_kernels_lanes4, &kki_kernels_lanes8
#define WIDEST kki_kernels_lanes4
enum { BASELINE_COUNT = 3 };
#endif
#ifdef KKI_HAVE_AVX2
extern const kki_kernels kki_kernels_scalar_avx2, kki_kernels_lanes4_avx2;
#endif
#ifdef KKI_HAVE_AVX512
extern const kki_kernels kki_kernels_scalar_avx512, kki_kernels_lanes8_avx512;
#endif

#if defined(KKI_HAVE_AVX2) || defined(KKI_HAVE_AVX512)

// Asked of the processor itself, because the compiler's __builtin_cpu_supports keeps its answer in a writable global.
// Intel SDM 14.3 and 15.2: the feature bit, and the operating system's word (XCR0) that it saves those registers.
#include <cpuid.h>

enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe6 };
enum { AVX2 = 1 << 5, AVX512F = 1 << 16, AVX512DQ = 1 << 17, AVX512BW = 1 << 30 };
static const unsigned AVX512VL = 1u << 31, OSXSAVE = 1u << 27;

static unsigned saved_registers(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE)) {
        return 0;
    }
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}

static int has(unsigned features, unsigned registers) {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & features) == features &&
           (saved_registers() & registers) == registers;
}

static int has_avx2(void) {
    return has(AVX2, XCR0_AVX);
}
static int has_avx512(void) {
    return has((unsigned)(AVX512F | AVX512DQ | AVX512BW) | AVX512VL, XCR0_AVX512);
}

#endif

const kki_kernels *kki_kernels_at(int index) {
    const kki_kernels *found[7] = {BASELINE};
    int n = BASELINE_COUNT;
#ifdef KKI_HAVE_AVX2
    if (has_avx2()) {
        found[n++] = &kki_kernels_scalar_avx2;
        found[n++] = &kki_kernels_lanes4_avx2;
    }
#endif
#ifdef KKI_HAVE_AVX512
    if (has_avx512()) {
        found[n++] = &kki_kernels_scalar_avx512;
        found[n++] = &kki_kernels_lanes8_avx512;
    }
#endif
    return index >= 0 && index < n ? found[index] : NULL;
}

const kki_kernels *kki_kernels_one(void) {
#ifdef KKI_HAVE_AVX512
    if (has_avx512()) {
        return &kki_kernels_scalar_avx512;
    }
#endif
#ifdef KKI_HAVE_AVX2
    if (has_avx2()) {
        return &kki_kernels_scalar_avx2;
    }
#endif
    return &kki_kernels_scalar;
}

const kki_kernels *kki_kernels_widest(void) {
#ifdef KKI_HAVE_AVX512
    if (has_avx512()) {
        return &kki_kernels_lanes8_avx512;
    }
#endif
#ifdef KKI_HAVE_AVX2
    if (has_avx2()) {
        return &kki_kernels_lanes4_avx2;
    }
#endif
    return &WIDEST;
}
