// The elementary functions: against correctly rounded golden values, in their special cases, by identities, and pinned
// to the bit.
#include "harness.h"

#include <karakuri/elementary.h>
#include <math.h>
#include <string.h>

#include "base/float_bits.h"

typedef struct golden_row {
    const char *name;
    uint64_t x, y, result;
} golden_row;

static const golden_row GOLDEN[] = {
#include "golden/elementary.inc"
};

typedef struct named_function {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    int misrounded_percent; // of the golden rows that may be one ulp off
} named_function;

static const named_function FUNCTIONS[] = {
    {"sin", kk_sin, NULL, 3},   {"cos", kk_cos, NULL, 3},   {"tan", kk_tan, NULL, 5},     {"asin", kk_asin, NULL, 0},
    {"acos", kk_acos, NULL, 0}, {"atan", kk_atan, NULL, 0}, {"atan2", NULL, kk_atan2, 0}, {"exp", kk_exp, NULL, 1},
    {"log", kk_log, NULL, 0},   {"pow", NULL, kk_pow, 1},   {"hypot", NULL, kk_hypot, 0},
};
enum { FUNCTION_COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };

static double call(const named_function *f, double x, double y) {
    return f->one ? f->one(x) : f->two(x, y);
}

// distance in representable numbers, 1000 where the signs or the kinds differ
static int64_t steps_between(double a, double b) {
    if (kki_is_nan(a) || kki_is_nan(b) || kki_is_negative(a) != kki_is_negative(b)) {
        return kki_is_nan(a) && kki_is_nan(b) ? 0 : 1000;
    }
    const int64_t difference = (int64_t)(kki_bits(a) - kki_bits(b));
    return difference < 0 ? -difference : difference;
}

static void check_golden(const named_function *f) {
    int rows = 0, misrounded = 0;
    for (size_t i = 0; i < sizeof GOLDEN / sizeof *GOLDEN; i++) {
        const golden_row *row = &GOLDEN[i];
        if (strcmp(row->name, f->name) != 0) {
            continue;
        }
        const double value = call(f, kki_double(row->x), kki_double(row->y));
        const int64_t steps = steps_between(value, kki_double(row->result));
        KK_CHECK(steps <= 1);
        misrounded += steps != 0;
        rows++;
    }
    KK_CHECK(rows >= 150);
    KK_CHECK(misrounded * 100 <= f->misrounded_percent * rows);
}

KK_TEST(elementary_matches_golden_values) {
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        check_golden(&FUNCTIONS[i]);
    }
}

static void check_same(double value, double expected) {
    const bool same = kki_is_nan(expected) ? kki_is_nan(value) : kki_bits(value) == kki_bits(expected);
    KK_CHECK(same);
}

#define INFINITE kki_infinity()
#define QUIET_NAN kki_nan()

KK_TEST(elementary_trigonometric_special_cases) {
    check_same(kk_sin(-0.0), -0.0);
    check_same(kk_sin(0.0), 0.0);
    check_same(kk_cos(-0.0), 1.0);
    check_same(kk_tan(-0.0), -0.0);
    check_same(kk_sin(-5e-324), -5e-324);
    check_same(kk_sin(INFINITE), QUIET_NAN);
    check_same(kk_cos(-INFINITE), QUIET_NAN);
    check_same(kk_tan(INFINITE), QUIET_NAN);
    check_same(kk_sin(QUIET_NAN), QUIET_NAN);
    double sine, cosine;
    kk_sincos(-0.0, &sine, &cosine);
    check_same(sine, -0.0);
    check_same(cosine, 1.0);
}

KK_TEST(elementary_inverse_special_cases) {
    check_same(kk_asin(1.0), KK_HALF_PI);
    check_same(kk_asin(-1.0), -KK_HALF_PI);
    check_same(kk_asin(-0.0), -0.0);
    check_same(kk_asin(1.0000000000000002), QUIET_NAN);
    check_same(kk_acos(1.0), 0.0);
    check_same(kk_acos(-1.0), KK_PI);
    check_same(kk_acos(0.0), KK_HALF_PI);
    check_same(kk_acos(-1.0000000000000002), QUIET_NAN);
    check_same(kk_acos(QUIET_NAN), QUIET_NAN);
    check_same(kk_atan(-0.0), -0.0);
    check_same(kk_atan(-INFINITE), -KK_HALF_PI);
    check_same(kk_atan(QUIET_NAN), QUIET_NAN);
}

KK_TEST(elementary_atan2_special_cases) {
    check_same(kk_atan2(0.0, 1.0), 0.0);
    check_same(kk_atan2(-0.0, 1.0), -0.0);
    check_same(kk_atan2(0.0, 0.0), 0.0);
    check_same(kk_atan2(-0.0, 0.0), -0.0);
    check_same(kk_atan2(0.0, -0.0), KK_PI);
    check_same(kk_atan2(-0.0, -0.0), -KK_PI);
    check_same(kk_atan2(-0.0, -1.0), -KK_PI);
    check_same(kk_atan2(5e-324, 0.0), KK_HALF_PI);
    check_same(kk_atan2(-1.0, -0.0), -KK_HALF_PI);
    check_same(kk_atan2(1.0, INFINITE), 0.0);
    check_same(kk_atan2(-1.0, INFINITE), -0.0);
    check_same(kk_atan2(1.0, -INFINITE), KK_PI);
    check_same(kk_atan2(-INFINITE, 1.0), -KK_HALF_PI);
    check_same(kk_atan2(INFINITE, INFINITE), 0.25 * KK_PI);
    check_same(kk_atan2(-INFINITE, -INFINITE), -2.356194490192344928847);
    check_same(kk_atan2(5e-324, 5e-324), 0.25 * KK_PI);
    check_same(kk_atan2(5e-324, 2.0), 0.0);
    check_same(kk_atan2(1e-320, 1e300), 0.0);
    check_same(kk_atan2(5e-324, -1.0), KK_PI);
    check_same(kk_atan2(QUIET_NAN, 1.0), QUIET_NAN);
    check_same(kk_atan2(1.0, QUIET_NAN), QUIET_NAN);
}

KK_TEST(elementary_exponential_special_cases) {
    check_same(kk_exp(0.0), 1.0);
    check_same(kk_exp(-0.0), 1.0);
    check_same(kk_exp(INFINITE), INFINITE);
    check_same(kk_exp(-INFINITE), 0.0);
    check_same(kk_exp(QUIET_NAN), QUIET_NAN);
    check_same(kk_exp(1e300), INFINITE);
    check_same(kk_exp(-1e300), 0.0);
    check_same(kk_exp(-745.13), 5e-324);
    check_same(kk_log(0.0), -INFINITE);
    check_same(kk_log(-0.0), -INFINITE);
    check_same(kk_log(-5e-324), QUIET_NAN);
    check_same(kk_log(1.0), 0.0);
    check_same(kk_log(INFINITE), INFINITE);
    check_same(kk_log(-INFINITE), QUIET_NAN);
}

KK_TEST(elementary_pow_special_cases) {
    check_same(kk_pow(QUIET_NAN, 0.0), 1.0);
    check_same(kk_pow(1.0, QUIET_NAN), 1.0);
    check_same(kk_pow(QUIET_NAN, 1.0), QUIET_NAN);
    check_same(kk_pow(2.0, QUIET_NAN), QUIET_NAN);
    check_same(kk_pow(-1.0, INFINITE), 1.0);
    check_same(kk_pow(-1.0, -INFINITE), 1.0);
    check_same(kk_pow(-1.0, 3.0), -1.0);
    check_same(kk_pow(-8.0, 1.0 / 3.0), QUIET_NAN);
    check_same(kk_pow(0.0, -3.0), INFINITE);
    check_same(kk_pow(-0.0, -3.0), -INFINITE);
    check_same(kk_pow(-0.0, -2.0), INFINITE);
    check_same(kk_pow(-0.0, 3.0), -0.0);
    check_same(kk_pow(-0.0, 2.5), 0.0);
    check_same(kk_pow(0.0, INFINITE), 0.0);
    check_same(kk_pow(0.0, -INFINITE), INFINITE);
    check_same(kk_pow(0.5, -INFINITE), INFINITE);
    check_same(kk_pow(0.5, INFINITE), 0.0);
    check_same(kk_pow(2.0, -INFINITE), 0.0);
    check_same(kk_pow(-2.0, INFINITE), INFINITE);
    check_same(kk_pow(INFINITE, -0.5), 0.0);
    check_same(kk_pow(-INFINITE, 3.0), -INFINITE);
    check_same(kk_pow(-INFINITE, -3.0), -0.0);
    check_same(kk_pow(-INFINITE, 0.5), INFINITE);
    check_same(kk_pow(-2.0, 0x1p60), INFINITE);
    check_same(kk_pow(-2.0, 0x1p53 - 1.0), -INFINITE);
    check_same(kk_pow(3.0, 1e-300), 1.0);
    check_same(kk_pow(2.0, 1024.0), INFINITE);
    check_same(kk_pow(-2.0, -1075.0), -0.0);
}

// powers of whole numbers that fit a double come out exactly
KK_TEST(elementary_pow_of_whole_numbers_is_exact) {
    for (int base = 2; base <= 20; base++) {
        double expected = 1.0;
        for (int n = 0; expected < 0x1p53 / base; n++) {
            check_same(kk_pow((double)base, (double)n), expected);
            expected *= base;
        }
    }
}

static uint64_t next_bits(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static double next_argument(uint64_t *state, bool everyday) {
    const uint64_t bits = next_bits(state);
    return everyday ? ((double)(int64_t)bits) * 0x1p-60 : kki_double(bits);
}

KK_TEST(elementary_rounding_helpers) {
    static const double X[] = {0.0, 0.3, 0.5,        0.49999999999999994, 0.9,          1.0,
                               1.5, 2.5, 1e15 + 0.5, 0x1p52 - 0.5,        0x1p52 + 1.0, 1e300};
    static const double FLOOR[] = {0, 0, 0, 0, 0, 1, 1, 2, 1e15, 0x1p52 - 1.0, 0x1p52 + 1.0, 1e300};
    static const double ROUND[] = {0, 0, 1, 0, 1, 1, 2, 3, 1e15 + 1, 0x1p52, 0x1p52 + 1.0, 1e300};
    for (size_t i = 0; i < sizeof X / sizeof *X; i++) {
        check_same(kk_floor(X[i]), FLOOR[i]);
        check_same(kk_trunc(X[i]), FLOOR[i]);
        check_same(kk_trunc(-X[i]), -FLOOR[i]);
        check_same(kk_ceil(-X[i]), -FLOOR[i]);
        check_same(kk_floor(-X[i]), X[i] == FLOOR[i] ? -X[i] : -FLOOR[i] - 1.0);
        check_same(kk_round(X[i]), ROUND[i]);
        check_same(kk_round(-X[i]), -ROUND[i]);
    }
    check_same(kk_floor(-INFINITE), -INFINITE);
    check_same(kk_round(INFINITE), INFINITE);
    check_same(kk_ceil(QUIET_NAN), QUIET_NAN);
}

KK_TEST(elementary_fmod_is_exact) {
    check_same(kk_fmod(5.5, 2.0), 1.5);
    check_same(kk_fmod(-5.5, 2.0), -1.5);
    check_same(kk_fmod(-6.0, 2.0), -0.0);
    check_same(kk_fmod(1.0, INFINITE), 1.0);
    check_same(kk_fmod(INFINITE, 1.0), QUIET_NAN);
    check_same(kk_fmod(1.0, 0.0), QUIET_NAN);
    check_same(kk_fmod(5e-324, 1.0), 5e-324);
    check_same(kk_fmod(0x1p1000, 7.0), 2.0); // 2^1000 mod 7 = 2^(1000 mod 3)
    check_same(kk_fmod(0x1p1000, 7.0 * 0x1p-1070), 0x1p-1070);
    // the C library's fmod is exact as well
    uint64_t state = 12345;
    for (int i = 0; i < 3000; i++) {
        const double x = next_argument(&state, i % 2 == 0), y = next_argument(&state, i % 4 < 2);
        check_same(kk_fmod(x, y), fmod(x, y));
        check_same(kk_fmod(x * 0x1p-1060, y * 0x1p-1065), fmod(x * 0x1p-1060, y * 0x1p-1065));
    }
}

KK_TEST(elementary_hypot_does_not_overflow) {
    check_same(kk_hypot(3e300, 4e300), 5e300);
    check_same(kk_hypot(-0x3p-1070, 0x4p-1070), 0x5p-1070);
    check_same(kk_hypot(INFINITE, QUIET_NAN), INFINITE);
    check_same(kk_hypot(QUIET_NAN, 1.0), QUIET_NAN);
    check_same(kk_hypot(0.0, -0.0), 0.0);
    check_same(kk_hypot(1.7e308, 1.7e308), INFINITE);
    check_same(kk_sqrt(-1.0), QUIET_NAN);
    check_same(kk_sqrt(-0.0), -0.0);
    check_same(kk_sqrt(2.0), 1.4142135623730951);
}

KK_TEST(elementary_identities) {
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        const double x = next_argument(&state, true);
        double sine, cosine;
        kk_sincos(x, &sine, &cosine);
        check_same(sine, kk_sin(x));
        check_same(cosine, kk_cos(x));
        check_same(kk_sin(-x), -sine);
        KK_CHECK_NEAR(sine * sine + cosine * cosine, 1.0, 4e-16);
        KK_CHECK_NEAR(kk_tan(x) * cosine, sine, 4e-16);
        KK_CHECK_NEAR(kk_asin(sine) + kk_acos(sine), KK_HALF_PI, 5e-16);
        KK_CHECK_NEAR(kk_log(kk_exp(x)), x, 2e-15);
        KK_CHECK_NEAR(kk_atan2(sine, cosine), kk_atan2(3.0 * sine, 3.0 * cosine), 6e-16);
    }
}

// A digest of results over everyday and arbitrary arguments. It is the promise of elementary.h made testable: every
// compiler, level and instruction set must reproduce these numbers; whoever changes an algorithm changes them
// knowingly.
static uint64_t digest(const named_function *f) {
    uint64_t state = 0x2545f4914f6cdd1du, hash = 0;
    for (int i = 0; i < 20000; i++) {
        const double x = next_argument(&state, i % 2 == 0), y = next_argument(&state, i % 4 < 2);
        const double value = call(f, x, y);
        hash = (hash ^ (kki_is_nan(value) ? 1 : kki_bits(value))) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

KK_TEST(elementary_bits_are_pinned) {
    static const uint64_t PINNED[FUNCTION_COUNT] = {
        0x35146bfdda302e98u, // sin
        0xa3c6e67e5dc48a3cu, // cos
        0x8b0b6fcf3de3e01au, // tan
        0x71ea6e6b07b9a57fu, // asin
        0x8cafc40dd8e10398u, // acos
        0x38fa1c9f66271493u, // atan
        0x7a5f1b530179eb36u, // atan2
        0x5210bfd6138d4622u, // exp
        0x43cb447bb482b213u, // log
        0xda39b88f03328175u, // pow
        0x58771ac913311b70u, // hypot
    };
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        KK_CHECK_EQ_INT(digest(&FUNCTIONS[i]), PINNED[i]);
    }
}
