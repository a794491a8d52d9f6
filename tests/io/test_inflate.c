// Unpacking: streams written bit by bit, right at and just beyond what they may ask for.
#include <string.h>

#include "harness.h"
#include "io/inflate.h"

typedef struct bits {
    unsigned char byte[32];
    size_t count;
} bits;

/// The lowest bit first, as numbers are written.
static void put_number(bits *b, unsigned value, int count) {
    for (int i = 0; i < count; i++, b->count++) {
        b->byte[b->count / 8] |= (unsigned char)((value >> i & 1) << b->count % 8);
    }
}

/// The highest bit first, as codes are.
static void put_code(bits *b, unsigned code, int count) {
    for (int i = count - 1; i >= 0; i--) {
        put_number(b, code >> i & 1, 1);
    }
}

/// A last block of the fixed codes (RFC 1951, 3.2.6): so many letters a, a copy of three bytes from `distance` (1 to 4) before, the end.
static bits letters_and_a_copy(int letters, unsigned distance) {
    bits b = {{0}, 0};
    put_number(&b, 1, 1);
    put_number(&b, 1, 2);
    for (int i = 0; i < letters; i++) {
        put_code(&b, 0x30 + 'a' + (unsigned)i, 8);
    }
    put_code(&b, 1, 7);
    put_code(&b, distance - 1, 5);
    put_code(&b, 0, 7);
    return b;
}

static kk_status unpack(const bits *b, size_t most, kki_inflated *out) {
    return kki_inflate_raw(b->byte, (b->count + 7) / 8, most, NULL, out);
}

// copies may begin with the first byte that came out, and not a byte before it
KK_TEST(inflate_copies_from_what_there_is) {
    for (int letters = 1; letters <= 4; letters++) {
        for (unsigned distance = 1; distance <= 4; distance++) {
            const bits b = letters_and_a_copy(letters, distance);
            kki_inflated out = {0};
            if ((int)distance <= letters) {
                KK_CHECK_EQ_INT(unpack(&b, 100, &out), KK_OK);
                KK_CHECK_EQ_INT(out.size, letters + 3);
                for (size_t i = (size_t)letters; i < out.size; i++) {
                    KK_CHECK_EQ_INT(out.bytes[i], out.bytes[i - distance]);
                }
            } else {
                KK_CHECK_EQ_INT(unpack(&b, 100, &out), KK_SYNTAX);
                KK_CHECK(out.fault && strstr(out.fault, "before their start"));
            }
            kki_inflated_release(&out);
        }
    }
}

// as many bytes as may come out do, one more does not
KK_TEST(inflate_ends_at_its_bound) {
    const bits b = letters_and_a_copy(3, 3);
    for (size_t most = 1; most <= 8; most++) {
        kki_inflated out = {0};
        KK_CHECK_EQ_INT(unpack(&b, most, &out), most >= 6 ? KK_OK : KK_SYNTAX);
        KK_CHECK(out.size <= most);
        kki_inflated_release(&out);
    }
}
