// Whole numbers of at most 3072 bits on the stack: just what an exact comparison of a decimal with a double needs.
#ifndef KARAKURI_BASE_NUMBER_BIG_INTEGER_H
#define KARAKURI_BASE_NUMBER_BIG_INTEGER_H

#include <stdint.h>

enum { KKI_BIG_WORDS = 48 };

/// Little-endian words without leading zeros; 0 has size 0.
typedef struct kki_big {
    int size;
    uint64_t word[KKI_BIG_WORDS];
} kki_big;

kki_big kki_big_from(uint64_t value);
/// a = a * factor + summand.
void kki_big_multiply_add(kki_big *a, uint64_t factor, uint64_t summand);
/// a = a * 5^exponent.
void kki_big_multiply_power_of_five(kki_big *a, int exponent);
/// a = a * 2^bits.
void kki_big_shift_left(kki_big *a, int bits);
/// Sign of a - b.
int kki_big_compare(const kki_big *a, const kki_big *b);

#endif
