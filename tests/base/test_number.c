// Numbers to text and back: the C library as oracle, hard cases, grammar, round trips.
#include "harness.h"

#include <karakuri/number.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float_bits.h"
#include "base/number/big_integer.h"
#include "base/number/powers.h"

static uint64_t next_bits(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

static double next_finite(uint64_t *state) {
    double value;
    do {
        value = kki_double(next_bits(state));
    } while (!kki_is_finite(value));
    return value;
}

// reads all of a text that must be a number and gives its bits
static uint64_t parse_all(const char *text, size_t length) {
    double value = 0.0;
    size_t used = 0;
    const kk_status status = kk_number_parse(text, length, &value, &used);
    KK_CHECK_EQ_INT(status, KK_OK);
    KK_CHECK_EQ_INT(used, length);
    return kki_bits(value);
}

static void check_like_strtod(const char *text) {
    const double expected = strtod(text, NULL);
    double value = 123.0;
    size_t used = 0;
    const kk_status status = kk_number_parse(text, strlen(text), &value, &used);
    KK_CHECK_EQ_INT(used, strlen(text));
    KK_CHECK_EQ_INT(status, kki_is_finite(expected) ? KK_OK : KK_NOT_FINITE);
    KK_CHECK(kki_bits(value) == kki_bits(kki_is_finite(expected) ? expected : 123.0));
}

KK_TEST(number_parses_hard_cases_like_strtod) {
    static const char *const TEXTS[] = {
        "0",
        "-0",
        "0.0e99999999999999999999",
        "1",
        "-1.5",
        "+.5",
        "5.",
        "0.1",
        "1e22",
        "1e23",
        "123456789012345678901234567890",
        // halfway between doubles, and one digit more or less
        "9007199254740993",
        "9007199254740992.9999999999999999",
        "9007199254740993.0000000000000000000000001",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "8.98846567431157953864652595394512366808988489471153e307",
        // hard cases of the literature and of bug reports (Paxson 1991; PHP 53632; Java 4396272; glibc 14049)
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "6.631236846766476e-316",
        "3.237883913302901e-319",
        "7.2057594037927933e+16",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47e-324",
        "1e-400",
        "9.5367431640625e-7",
        "104110013277974872254e-225",
        "9214843084008499e-9",
        "5e125",
        "69e267",
        "179769313486231580793e289",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.797693134862315807e308",
        "1.797693134862315808e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e310",
        "1e999999999999999999999999",
        "1e-999999999999999999999999",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000001e400",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000e-400",
        "6.8985865317742005e240",
        "5.0216e-311",
        "2.0153e-322",
        "1.448997445238699",
        "3.518437208883201171875e13",
        "62.5364939768271845828",
        "8.10109172351e-10",
        "1.50000000000000011102230246251565",
        "9007199254740991.4999999999999999999999999999999995",
        "18446744073709551615e0",
        "18446744073709551616e-1",
        "9223372036854775807",
        "9999999999999999999e-342",
        "1e-342",
        "1e-343",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        check_like_strtod(TEXTS[i]);
    }
}

#if defined(__x86_64__) // the expansion comes from a long double of 64 bits
// the exact decimal expansion of a point halfway between doubles: it goes to the even one, a digit far beyond it
// decides otherwise
static void check_exact_halfway(uint64_t bits) {
    const double low = kki_double(bits), high = kki_double(bits + 1);
    const long double half = ((long double)low + (long double)high) / 2;
    char text[2000];
    const int length = snprintf(text, sizeof text - 400, "%.1100Le", half);
    char *mark = strchr(text, 'e');
    char exponent[16];
    snprintf(exponent, sizeof exponent, "%s", mark);
    KK_CHECK(parse_all(text, (size_t)length) == bits + (bits & 1));
    snprintf(mark, 32, "1%s", exponent);
    KK_CHECK(parse_all(text, strlen(text)) == bits + 1);
    // the last digit that is not zero lowered by one, then nines
    while (mark[-1] == '0') {
        mark--;
    }
    mark[-1]--;
    snprintf(mark, 32, "9999999%s", exponent);
    KK_CHECK(parse_all(text, strlen(text)) == bits);
}

KK_TEST(number_parses_exact_halfway_points) {
    check_exact_halfway(0); // half the smallest denormal, 751 digits
    check_exact_halfway(1);
    check_exact_halfway(0x000fffffffffffffu); // below the smallest normal number, 767 digits
    check_exact_halfway(0x0010000000000000u);
    check_exact_halfway(0x001fffffffffffffu);
    check_exact_halfway(0x3ff0000000000000u);
    check_exact_halfway(0x7feffffffffffffeu);
    uint64_t state = 99;
    for (int i = 0; i < 1000; i++) {
        check_exact_halfway(kki_magnitude_bits(next_finite(&state)) % 0x7feffffffffffffeu);
    }
}
#endif

KK_TEST(number_parses_long_texts) {
    enum { SIZE = 200000 };
    char *text = malloc(SIZE + 16);
    // 0.000...0001e200000
    memset(text, '0', SIZE);
    text[1] = '.';
    memcpy(text + SIZE - 1, "1e199998", 9);
    KK_CHECK(parse_all(text, strlen(text)) == kki_bits(1.0));
    // 25000...000e-199998, then with a last digit that lifts a halfway point
    memset(text, '0', SIZE);
    text[0] = '2', text[1] = '5';
    memcpy(text + SIZE, "e-199998", 9);
    KK_CHECK(parse_all(text, strlen(text)) == kki_bits(25.0));
    memcpy(text, "9007199254740993", 16);
    memcpy(text + SIZE, "e-199984", 9);
    KK_CHECK(parse_all(text, strlen(text)) == kki_bits(9007199254740992.0));
    text[SIZE - 1] = '1';
    KK_CHECK(parse_all(text, strlen(text)) == kki_bits(9007199254740994.0));
    free(text);
}

// decimals of random length and exponent, as files have them
KK_TEST(number_parses_random_decimals_like_strtod) {
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        char text[80];
        int n = 0;
        const uint64_t bits = next_bits(&state);
        const int digits = 1 + (int)(bits % 40);
        for (int k = 0; k < digits; k++) {
            text[n++] = (char)('0' + next_bits(&state) % 10);
            if (k == (int)(bits >> 8) % 7) {
                text[n++] = '.';
            }
        }
        snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)((bits >> 20) % 700) - 365);
        check_like_strtod(text);
    }
}

KK_TEST(number_grammar) {
    static const struct {
        const char *text;
        kk_status status;
        size_t used;
    } ROWS[] = {
        {"", KK_SYNTAX, 0},
        {"-", KK_SYNTAX, 0},
        {".", KK_SYNTAX, 0},
        {"+.e5", KK_SYNTAX, 0},
        {"e5", KK_SYNTAX, 0},
        {" 1", KK_SYNTAX, 0},
        {"--1", KK_SYNTAX, 0},
        {"x", KK_SYNTAX, 0},
        {"na", KK_SYNTAX, 0},
        {"in", KK_SYNTAX, 0},
        {"nan", KK_NOT_FINITE, 3},
        {"-NaN(7)", KK_NOT_FINITE, 4},
        {"Inf", KK_NOT_FINITE, 3},
        {"+iNFinity", KK_NOT_FINITE, 9},
        {"infinit", KK_NOT_FINITE, 3},
        {"1e999x", KK_NOT_FINITE, 5},
        {"1 2", KK_OK, 1},
        {"1e", KK_OK, 1},
        {"1e+", KK_OK, 1},
        {"1e+x", KK_OK, 1},
        {"1.5.5", KK_OK, 3},
        {"1,5", KK_OK, 1},
        {"0x10", KK_OK, 1},
        {"1E+05kg", KK_OK, 5},
        {"5.", KK_OK, 2},
        {".5", KK_OK, 2},
        {"1_000", KK_OK, 1},
        {"007", KK_OK, 3},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        double value = -77.0;
        size_t used = 99;
        KK_CHECK_EQ_INT(kk_number_parse(ROWS[i].text, strlen(ROWS[i].text), &value, &used), ROWS[i].status);
        KK_CHECK_EQ_INT(used, ROWS[i].used);
        KK_CHECK((value == -77.0) == (ROWS[i].status != KK_OK));
    }
    // the length ends the text, not a zero; `used` may be absent
    double value;
    KK_CHECK_EQ_INT(kk_number_parse("12345", 3, &value, NULL), KK_OK);
    KK_CHECK(value == 123.0);
    KK_CHECK_EQ_INT(kk_number_parse("1e5", 2, &value, NULL), KK_OK);
    KK_CHECK(value == 1.0);
}

KK_TEST(number_parses_whole_numbers) {
    static const struct {
        const char *text;
        kk_status status;
        size_t used;
        int64_t value;
    } ROWS[] = {
        {"0", KK_OK, 1, 0},
        {"-0", KK_OK, 2, 0},
        {"+42abc", KK_OK, 3, 42},
        {"-7.5", KK_OK, 2, -7},
        {"9223372036854775807", KK_OK, 19, INT64_MAX},
        {"-9223372036854775808", KK_OK, 20, INT64_MIN},
        {"9223372036854775808", KK_LIMIT_EXCEEDED, 19, 5},
        {"-9223372036854775809", KK_LIMIT_EXCEEDED, 20, 5},
        {"99999999999999999999999", KK_LIMIT_EXCEEDED, 23, 5},
        {"00000000000000000000000000012", KK_OK, 29, 12},
        {"", KK_SYNTAX, 0, 5},
        {"-", KK_SYNTAX, 0, 5},
        {"x1", KK_SYNTAX, 0, 5},
        {".1", KK_SYNTAX, 0, 5},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        int64_t value = 5;
        size_t used = 99;
        KK_CHECK_EQ_INT(kk_number_parse_int(ROWS[i].text, strlen(ROWS[i].text), &value, &used), ROWS[i].status);
        KK_CHECK_EQ_INT(used, ROWS[i].used);
        KK_CHECK_EQ_INT(value, ROWS[i].value);
    }
}

static void check_format(double value, const char *expected) {
    char text[KK_NUMBER_TEXT_SIZE];
    KK_CHECK_EQ_INT(kk_number_format(value, text), strlen(expected));
    KK_CHECK_STR(text, expected);
}

KK_TEST(number_formats_known_values) {
    check_format(0.0, "0");
    check_format(-0.0, "-0");
    check_format(1.0, "1");
    check_format(-25.0, "-25");
    check_format(0.1, "0.1");
    check_format(0.3, "0.3");
    check_format(0.1 + 0.2, "0.30000000000000004");
    check_format(1.0 / 3.0, "0.3333333333333333");
    check_format(0.0001, "0.0001");
    check_format(0.00001, "1e-05");
    check_format(1e-7, "1e-07");
    check_format(123456.789, "123456.789");
    check_format(1e15, "1000000000000000");
    check_format(9007199254740991.0, "9007199254740991");
    check_format(1e16, "1e+16");
    check_format(12345678901234567.0, "1.2345678901234568e+16");
    check_format(1e22, "1e+22");
    check_format(1e23, "1e+23");
    check_format(1.5e300, "1.5e+300");
    check_format(5e-324, "5e-324");
    check_format(-2.2250738585072014e-308, "-2.2250738585072014e-308");
    check_format(1.7976931348623157e308, "1.7976931348623157e+308");
    check_format(9007199254740992.0, "9007199254740992");
    check_format(0x1p-44, "5.684341886080802e-14");
    check_format(9.5367431640625e-07, "9.5367431640625e-07");
    check_format(2e-44, "2e-44");
    check_format(kki_infinity(), "inf");
    check_format(-kki_infinity(), "-inf");
    check_format(kki_nan(), "nan");
    check_format(-kki_nan(), "nan");
}

KK_TEST(number_formats_whole_numbers) {
    char text[KK_NUMBER_TEXT_SIZE];
    KK_CHECK_EQ_INT(kk_number_format_int(0, text), 1);
    KK_CHECK_STR(text, "0");
    KK_CHECK_EQ_INT(kk_number_format_int(INT64_MIN, text), 20);
    KK_CHECK_STR(text, "-9223372036854775808");
    kk_number_format_int(INT64_MAX, text);
    KK_CHECK_STR(text, "9223372036854775807");
}

static int significant_digits(const char *text) {
    int count = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && (count > 0 || *text != '0')) {
            count++;
            zeros = *text == '0' ? zeros + 1 : 0;
        }
    }
    return count - zeros;
}

// no text with fewer digits reads back, and of those with as many this is the nearest: so printf with that many digits
// gives the same number. At powers of two the interval is uneven and printf's digits may fail to read back where others
// do.
static void check_shortest(double value) {
    char text[KK_NUMBER_TEXT_SIZE], shorter[64];
    kk_number_format(value, text);
    KK_CHECK(kki_bits(strtod(text, NULL)) == kki_bits(value));
    const int digits = significant_digits(text);
    if (digits > 1) {
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        KK_CHECK(strtod(shorter, NULL) != value);
    }
    snprintf(shorter, sizeof shorter, "%.*e", digits - 1, value);
    const bool printf_reads_back = strtod(shorter, NULL) == value;
    KK_CHECK(printf_reads_back || (kki_bits(value) & KKI_FRACTION_BITS) == 0);
    if (printf_reads_back) {
        char plain[64];
        snprintf(plain, sizeof plain, "%.*e", digits - 1, strtod(text, NULL));
        KK_CHECK_STR(plain, shorter);
        // the digits themselves agree, not only the doubles they round to
        char canonical[64];
        int n = 0;
        for (const char *p = text; *p != '\0' && *p != 'e' && n < digits; p++) {
            if (*p >= '0' && *p <= '9' && (n > 0 || *p != '0')) {
                canonical[n++] = *p;
            }
        }
        int m = 0;
        for (const char *p = shorter; *p != 'e'; p++) {
            if (*p >= '0' && *p <= '9') {
                KK_CHECK(m < n && canonical[m] == *p);
                m++;
            }
        }
    }
}

KK_TEST(number_format_is_shortest_and_nearest) {
    uint64_t state = 7;
    for (int i = 0; i < 50000; i++) {
        check_shortest(next_finite(&state));
        check_shortest((double)(int64_t)(next_bits(&state) >> (i % 60)) / 1000.0 + 1e-9);
    }
    for (int e = -1074; e < 1024; e++) {
        const double power = e < -1022 ? kki_double((uint64_t)1 << (e + 1074)) : kki_power_of_two(e);
        check_shortest(power);
        check_shortest(kki_double(kki_bits(power) + 1));
        if (e > -1074) {
            check_shortest(kki_double(kki_bits(power) - 1));
        }
    }
}

static void check_round_trip(uint64_t bits) {
    char text[KK_NUMBER_TEXT_SIZE];
    const size_t length = kk_number_format(kki_double(bits), text);
    double value = 0.0;
    size_t used;
    const kk_status status = kk_number_parse(text, length, &value, &used);
    if (status != KK_OK || used != length || kki_bits(value) != bits) {
        KK_CHECK_STR(text, "a text that reads back");
    }
}

KK_TEST(number_round_trips_random_bits) {
    uint64_t state = 3;
    const int count = kk_test_is_quick() ? 100000 : 1000000;
    for (int i = 0; i < count; i++) {
        check_round_trip(kki_bits(next_finite(&state)));
    }
    for (int i = 0; i < 20000; i++) { // denormals
        check_round_trip(next_bits(&state) >> (12 + i % 50));
    }
}

// 17 digits always suffice to name a double: reading printf's must give it back
KK_TEST(number_reads_what_printf_writes) {
    uint64_t state = 5;
    for (int i = 0; i < 50000; i++) {
        const double value = next_finite(&state);
        char text[64];
        const int length = snprintf(text, sizeof text, "%.*g", 17 + i % 12, value);
        KK_CHECK(parse_all(text, (size_t)length) == kki_bits(value));
    }
}

// t 2^64 + u as a whole number
static kki_big big_of_words(kki_uint128 t) {
    kki_big whole = kki_big_from(t.hi);
    kki_big_shift_left(&whole, 64);
    kki_big_multiply_add(&whole, 1, t.lo);
    return whole;
}

// sign of t - 10^q 2^s, for a power with its highest bit at 127
static int compare_with_power_of_ten(kki_big t, int q) {
    const int shift = 127 - kki_log2_of_power_of_ten(q) + q;
    kki_big power = kki_big_from(1);
    kki_big_multiply_power_of_five(q < 0 ? &t : &power, q < 0 ? -q : q);
    kki_big_shift_left(shift < 0 ? &t : &power, shift < 0 ? -shift : shift);
    return kki_big_compare(&t, &power);
}

// every power of ten that is ever asked for, rounded down: t <= 10^q 2^s < t + 1
KK_TEST(number_powers_of_ten_have_128_right_bits) {
    for (int q = KKI_POWER_OF_TEN_FIRST; q <= KKI_POWER_OF_TEN_LAST; q++) {
        kki_big t = big_of_words(kki_power_of_ten(q));
        const int below = compare_with_power_of_ten(t, q);
        kki_big_multiply_add(&t, 1, 1);
        KK_CHECK(q >= 0 && q <= KKI_POWER_OF_TEN_LAST_EXACT ? below == 0 : below < 0);
        KK_CHECK(compare_with_power_of_ten(t, q) > 0);
    }
}
