/// Rounding to single precision in pairs, which GCC 12 forgets where it makes vectors of them.
#include "base/float_bits.h"
#include "harness.h"

__attribute__((noinline)) static void round_all(double (*v)[3], int count) {
    for (int i = 0; i < count; i++) {
        const double x = kki_single(v[i][0]), y = kki_single(v[i][1]), z = kki_single(v[i][2]);
        v[i][0] = x;
        v[i][1] = y;
        v[i][2] = z;
    }
}

KK_TEST(single_precision_survives_vectors) {
    double v[7][3];
    for (int i = 0; i < 7; i++) {
        v[i][0] = 0.1;
        v[i][1] = 0.2;
        v[i][2] = 0.3;
    }
    round_all(v, 7);
    for (int i = 0; i < 7; i++) {
        KK_CHECK_BITS(v[i][0], 0.100000001490116119384765625);
        KK_CHECK_BITS(v[i][1], 0.20000000298023223876953125);
        KK_CHECK_BITS(v[i][2], 0.300000011920928955078125);
    }
}
