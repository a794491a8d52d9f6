// The hash: published and third-party digests, portions, canonical numbers.
#include "harness.h"

#include <karakuri/hash.h>

#include "base/float_bits.h"

typedef struct digest_row {
    size_t size;
    uint64_t seed, digest;
} digest_row;

// XXH64 of the bytes (7 i + 3) mod 256, i < size, by python-xxhash 3 (libxxhash 0.8). The first row is in the
// specification.
static const digest_row DIGESTS[] = {
    {0, 0, 0xef46db3751d8e999u},   {0, 0x9e3779b1u, 0xac75fda2929b17efu},
    {1, 0, 0x1f25c8d0bc1f4bb6u},   {1, 0x9e3779b1u, 0x79cf94f5ace37fe1u},
    {3, 0, 0x31d2363f52e564c9u},   {4, 0x9e3779b1u, 0x4a862fbb4b73776eu},
    {7, 0, 0x9a7b149959ce60d8u},   {8, 0x9e3779b1u, 0xc6e75e2cbd8e07eeu},
    {12, 0, 0xd52e407833af5133u},  {31, 0x9e3779b1u, 0x381822f33376d6b6u},
    {32, 0, 0x23c3c17ef790fd97u},  {33, 0x9e3779b1u, 0x72cdd3262f467933u},
    {63, 0, 0x5e3e54b431c7493cu},  {64, 0x9e3779b1u, 0xbcb3847d70525180u},
    {100, 0, 0xa61f8d4c170fe531u}, {200, 0x9e3779b1u, 0xfb1dd7eaa8eb8a3cu},
};

static void fill(unsigned char bytes[200]) {
    for (int i = 0; i < 200; i++) {
        bytes[i] = (unsigned char)(7 * i + 3);
    }
}

KK_TEST(hash_matches_other_implementations) {
    unsigned char bytes[200];
    fill(bytes);
    for (size_t i = 0; i < sizeof DIGESTS / sizeof *DIGESTS; i++) {
        KK_CHECK(kk_hash_bytes(bytes, DIGESTS[i].size, DIGESTS[i].seed) == DIGESTS[i].digest);
    }
    KK_CHECK(kk_hash_bytes(NULL, 0, 0) == 0xef46db3751d8e999u);
}

KK_TEST(hash_does_not_depend_on_portions) {
    unsigned char bytes[200];
    fill(bytes);
    const uint64_t whole = kk_hash_bytes(bytes, 200, 5);
    for (size_t portion = 1; portion < 70; portion++) {
        kk_hash hash = kk_hash_begin(5);
        for (size_t at = 0; at < 200; at += portion) {
            kk_hash_update(&hash, bytes + at, portion < 200 - at ? portion : 200 - at);
            kk_hash_finish(&hash); // looking does not disturb
        }
        KK_CHECK(kk_hash_finish(&hash) == whole);
    }
}

KK_TEST(hash_of_doubles_is_by_value) {
    const double a[3] = {0.0, 1.5, kki_nan()}, b[3] = {-0.0, 1.5, -kki_nan()}, c[3] = {5e-324, 1.5, kki_nan()};
    KK_CHECK(kk_hash_doubles(a, 3, 0) == kk_hash_doubles(b, 3, 0));
    KK_CHECK(kk_hash_doubles(a, 3, 0) != kk_hash_doubles(c, 3, 0));
    KK_CHECK(kk_hash_doubles(a, 3, 0) != kk_hash_doubles(a, 3, 1));
    // 1.5 is 3ff8000000000000, little end first
    const unsigned char bytes[8] = {0, 0, 0, 0, 0, 0, 0xf8, 0x3f};
    KK_CHECK(kk_hash_doubles(&a[1], 1, 9) == kk_hash_bytes(bytes, 8, 9));
    kk_hash hash = kk_hash_begin(9);
    kk_hash_update_uint64(&hash, 0x3ff8000000000000u);
    KK_CHECK(kk_hash_finish(&hash) == kk_hash_bytes(bytes, 8, 9));
}

// numbers in one call, one by one and as bytes: the same
KK_TEST(hash_of_many_doubles_does_not_depend_on_portions) {
    double values[100];
    kk_hash one_by_one = kk_hash_begin(3);
    for (int i = 0; i < 100; i++) {
        values[i] = 0.1 * i;
        kk_hash_update_doubles(&one_by_one, &values[i], 1);
    }
    KK_CHECK(kk_hash_doubles(values, 100, 3) == kk_hash_finish(&one_by_one));
    KK_CHECK(kk_hash_doubles(values, 100, 3) != kk_hash_doubles(values, 99, 3));
}
