// 10^q to 128 bits as 10^(27 i) to 192 bits times 5^r, q = 27 i + r, which is a whole number of 64 bits.
//
// A row of the table is less than one too small in its 192nd bit, and so the product is less than two: its 128 bits are
// right unless almost all of the next 64 are ones, which is so for none of the 667 powers (tests/base/test_number.c
// proves each by whole numbers). A table of them all would be eleven kilobytes that nothing compresses.
#include "powers.h"

#include "powers_table.h"

enum { STEP = 27, FIRST_ROW = -351, ROW_OF_ONE = 13 };

// a b + summand
static kki_uint128 multiply_add(uint64_t a, uint64_t b, uint64_t summand) {
    kki_uint128 sum = kki_multiply_wide(a, b);
    sum.lo += summand;
    sum.hi += sum.lo < summand;
    return sum;
}

kki_uint128 kki_power_of_ten(int q) {
    const int row = (q - FIRST_ROW) / STEP;
    const uint64_t *table = EVERY_27TH[row], five = FIVE[q - FIRST_ROW - STEP * row];
    if (row == ROW_OF_ONE) {
        return (kki_uint128){five, 0};
    }
    const kki_uint128 low = kki_multiply_wide(table[2], five);
    const kki_uint128 middle = multiply_add(table[1], five, low.hi);
    const kki_uint128 high = multiply_add(table[0], five, middle.hi);
    if (high.hi >> 63) {
        return high;
    }
    return (kki_uint128){high.hi << 1 | high.lo >> 63, high.lo << 1 | middle.lo >> 63};
}
