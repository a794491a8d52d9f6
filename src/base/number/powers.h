// Powers of ten to 128 bits, for reading and writing numbers.
#ifndef KARAKURI_BASE_NUMBER_POWERS_H
#define KARAKURI_BASE_NUMBER_POWERS_H

#include "../wide_integer.h"

enum {
    KKI_POWER_OF_TEN_FIRST = -342,
    KKI_POWER_OF_TEN_LAST = 324,
    KKI_POWER_OF_TEN_LAST_EXACT = 55 // 5^55 < 2^128: from 10^0 to here the bits are the whole power
};

/// t with t <= 10^q 2^(127 - floor(log2 10^q)) < t + 1, for q from the first to the last.
kki_uint128 kki_power_of_ten(int q);

/// floor(log2 10^q) for |q| <= 1233; 1741647 / 2^19 is log2 10 to 1e-7.
static inline int kki_log2_of_power_of_ten(int q) {
    return (q * 1741647) >> 19;
}

#endif
