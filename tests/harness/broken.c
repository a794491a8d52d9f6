// Tests that must fail, and one that must not: tests/run.py builds them to see that the harness itself can be trusted.
#include "harness.h"

#include <math.h>

KK_TEST(good_checks_pass) {
    KK_CHECK(1);
    KK_CHECK_EQ_INT(-3, -3);
    KK_CHECK_NEAR(1.0, 1.0 + 1e-9, 1e-8);
    KK_CHECK_NEAR(INFINITY, INFINITY, 0.0);
    KK_CHECK_REL(1e20, 1e20 * (1.0 + 1e-9), 1e-8);
    KK_CHECK_REL(0.0, -0.0, 0.0);
    KK_CHECK_BITS(NAN, NAN);
    KK_CHECK_STR("a", "a");
    KK_CHECK_STR(NULL, NULL);
    KK_CHECK_BYTES("ab", "ab", 3);
}

KK_TEST(fails_condition) {
    KK_CHECK(0);
}

KK_TEST(fails_integer) {
    KK_CHECK_EQ_INT(1, 2);
}

KK_TEST(fails_near) {
    KK_CHECK_NEAR(1.0, 1.1, 0.05);
}

KK_TEST(fails_near_by_nan) {
    KK_CHECK_NEAR(NAN, NAN, 1.0);
}

KK_TEST(fails_near_by_infinite_tolerance_of_nan) {
    KK_CHECK_NEAR(NAN, 0.0, INFINITY);
}

KK_TEST(fails_relative) {
    KK_CHECK_REL(1e20, 1.1e20, 0.05);
}

KK_TEST(fails_relative_by_infinity) {
    KK_CHECK_REL(INFINITY, 1.0, 0.5);
}

KK_TEST(fails_bits) {
    KK_CHECK_BITS(0.0, -0.0);
}

KK_TEST(fails_string) {
    KK_CHECK_STR("a", NULL);
}

KK_TEST(fails_bytes) {
    KK_CHECK_BYTES("ab", "ac", 2);
}

KK_TEST(fails_with_message_and_goes_on) {
    for (int i = 0; i < 25; i++) {
        KK_FAIL("number %d", i);
    }
}

KK_TEST(is_skipped) {
    KK_SKIP("on purpose");
}

KK_TEST(fails_though_skipped) {
    KK_CHECK(0);
    KK_SKIP("a failure before the skip still counts");
}
