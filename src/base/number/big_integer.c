// Schoolbook arithmetic on bounded whole numbers. Callers stay within the bound (parse.c says why); a carry beyond it
// is dropped.
#include "big_integer.h"

#include <string.h>

#include "../wide_integer.h"

static void append(kki_big *a, uint64_t word) {
    if (word != 0 && a->size < KKI_BIG_WORDS) {
        a->word[a->size++] = word;
    }
}

kki_big kki_big_from(uint64_t value) {
    kki_big a;
    a.size = 0;
    append(&a, value);
    return a;
}

void kki_big_multiply_add(kki_big *a, uint64_t factor, uint64_t summand) {
    uint64_t carry = summand;
    for (int i = 0; i < a->size; i++) {
        const kki_uint128 product = kki_multiply_wide(a->word[i], factor);
        a->word[i] = product.lo + carry;
        carry = product.hi + (a->word[i] < carry);
    }
    append(a, carry);
}

void kki_big_multiply_power_of_five(kki_big *a, int exponent) {
    const uint64_t five_to_27 = 7450580596923828125u; // the largest power in 64 bits
    for (; exponent >= 27; exponent -= 27) {
        kki_big_multiply_add(a, five_to_27, 0);
    }
    uint64_t factor = 1;
    for (; exponent > 0; exponent--) {
        factor *= 5;
    }
    kki_big_multiply_add(a, factor, 0);
}

void kki_big_shift_left(kki_big *a, int bits) {
    const int words = bits / 64;
    kki_big_multiply_add(a, (uint64_t)1 << (bits % 64), 0);
    if (a->size == 0 || a->size + words > KKI_BIG_WORDS) {
        return;
    }
    memmove(a->word + words, a->word, (size_t)a->size * sizeof *a->word);
    memset(a->word, 0, (size_t)words * sizeof *a->word);
    a->size += words;
}

int kki_big_compare(const kki_big *a, const kki_big *b) {
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    for (int i = a->size - 1; i >= 0; i--) {
        if (a->word[i] != b->word[i]) {
            return a->word[i] < b->word[i] ? -1 : 1;
        }
    }
    return 0;
}
