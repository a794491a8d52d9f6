// The generator: published vectors, purity, and the moments of the deviates.
#include "harness.h"

#include <karakuri/random.h>
#include <string.h>

static void check_block(uint64_t seed, uint64_t stream, uint64_t counter, const uint32_t expected[4]) {
    const kk_random_words words = kk_random_block(seed, stream, counter);
    KK_CHECK(memcmp(words.word, expected, sizeof words.word) == 0);
}

// tests/kat_vectors of Random123, lines "philox4x32 10"
KK_TEST(random_matches_published_vectors) {
    check_block(0, 0, 0, (const uint32_t[4]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    check_block(UINT64_MAX, UINT64_MAX, UINT64_MAX,
                (const uint32_t[4]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    check_block(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3243f6a88u,
                (const uint32_t[4]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

KK_TEST(random_cursor_is_the_pure_function) {
    kk_random random = {1, 2, 3};
    const double first = kk_random_next_uniform(&random), second = kk_random_next_normal(&random);
    KK_CHECK(first == kk_random_uniform_at(1, 2, 3));
    KK_CHECK(second == kk_random_normal_at(1, 2, 4));
    KK_CHECK_EQ_INT(random.counter, 5);
    KK_CHECK(kk_random_uniform_at(1, 2, 3) != kk_random_uniform_at(1, 3, 3));
    KK_CHECK(kk_random_uniform_at(1, 2, 3) != kk_random_uniform_at(2, 2, 3));
}

// mean 1/2, variance 1/12; with 1e5 draws the errors below are five standard deviations
KK_TEST(random_uniform_has_its_moments) {
    enum { COUNT = 100000 };
    double sum = 0, squares = 0, lag = 0, previous = 0.5;
    for (int i = 0; i < COUNT; i++) {
        const double u = kk_random_uniform_at(7, 0, (uint64_t)i);
        KK_CHECK(u >= 0.0 && u < 1.0);
        sum += u;
        squares += (u - 0.5) * (u - 0.5);
        lag += (u - 0.5) * (previous - 0.5);
        previous = u;
    }
    KK_CHECK_NEAR(sum / COUNT, 0.5, 5 * 0.289 / 316);
    KK_CHECK_NEAR(squares / COUNT, 1.0 / 12, 5 * 0.0745 / 316);
    KK_CHECK_NEAR(lag / COUNT, 0.0, 5 * 0.0833 / 316);
}

KK_TEST(random_normal_has_its_moments) {
    enum { COUNT = 100000 };
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < COUNT; i++) {
        const double x = kk_random_normal_at(7, 1, (uint64_t)i);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    KK_CHECK_NEAR(sum / COUNT, 0.0, 5 * 1.0 / 316);
    KK_CHECK_NEAR(squares / COUNT, 1.0, 5 * 1.42 / 316);
    KK_CHECK_NEAR(fourth / COUNT, 3.0, 5 * 9.8 / 316);
}

KK_TEST(random_between_stays_inside) {
    kk_random random = {11, 0, 0};
    for (int i = 0; i < 1000; i++) {
        const double wide = kk_random_next_between(&random, -1.7e308, 1.7e308);
        KK_CHECK(wide > -1.7e308 && wide < 1.7e308);
        const double narrow = kk_random_next_between(&random, 1.0, 1.0 + 0x1p-51);
        KK_CHECK(narrow == 1.0 + 0x1p-52);
        KK_CHECK(kk_random_next_between(&random, 2.0, 2.0) == 2.0);
    }
}

KK_TEST(random_below_is_fair) {
    kk_random random = {5, 0, 0};
    int count[6] = {0};
    for (int i = 0; i < 60000; i++) {
        const uint64_t n = kk_random_next_below(&random, 6);
        KK_CHECK(n < 6);
        count[n % 6]++;
    }
    for (int k = 0; k < 6; k++) {
        KK_CHECK_NEAR(count[k], 10000, 5 * 92);
    }
    // without rejection a bound of 3/4 of the range would give multiples of three twice as often
    int multiples = 0;
    const uint64_t bound = (uint64_t)3 << 62;
    for (int i = 0; i < 30000; i++) {
        multiples += kk_random_next_below(&random, bound) % 3 == 0;
    }
    KK_CHECK_NEAR(multiples, 10000, 5 * 82);
    KK_CHECK_EQ_INT(kk_random_next_below(&random, 0), 0);
    KK_CHECK_EQ_INT(kk_random_next_below(&random, 1), 0);
}

// the deviates are part of the promise of equal bits
KK_TEST(random_deviates_are_pinned) {
    KK_CHECK(kk_random_uniform_at(42, 1, 2) == 0x1.f70ab0736794p-4);
    KK_CHECK(kk_random_normal_at(42, 1, 2) == -0x1.1797c3722ad57p+0);
}
