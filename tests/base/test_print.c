// Formats as the C library reads them.
#include "harness.h"

#include <stdio.h>

#include "base/print.h"

enum { SIZE = 64 };

#define CHECK_LIKE_SNPRINTF(size, ...)                               \
    do {                                                             \
        char expected[SIZE] = "unset", text[SIZE] = "unset";         \
        const int length = snprintf(expected, size, __VA_ARGS__);    \
        KK_CHECK_EQ_INT(kki_print(text, size, __VA_ARGS__), length); \
        KK_CHECK_STR(text, expected);                                \
    } while (0)

KK_TEST(print_writes_what_snprintf_writes) {
    CHECK_LIKE_SNPRINTF(SIZE, "plain");
    CHECK_LIKE_SNPRINTF(SIZE, "%s", "");
    CHECK_LIKE_SNPRINTF(SIZE, "<%s> in %s: 100 %%", "a", "b");
    CHECK_LIKE_SNPRINTF(SIZE, "%.3s|%.9s|%.*s", "abcdef", "abc", 2, "xyz");
    CHECK_LIKE_SNPRINTF(SIZE, "%d %d %d", 0, -2147483647 - 1, 2147483647);
    CHECK_LIKE_SNPRINTF(SIZE, "%u", 4294967295u);
    CHECK_LIKE_SNPRINTF(SIZE, "%lld %lld", -9223372036854775807LL - 1, 9223372036854775807LL);
    CHECK_LIKE_SNPRINTF(SIZE, "%03d %03d %03d %0*d", 7, -7, 12345, 5, 42);
}

// what does not fit is counted; a zero byte ends what does
KK_TEST(print_keeps_to_its_room) {
    char nothing[8] = "unset";
    // volatile, or the compiler sees that the text is cut
    for (volatile size_t size = 1; size < 24; size++) {
        CHECK_LIKE_SNPRINTF(size, "joint '%s' %d of %03d", "elbow", 12, 7);
    }
    KK_CHECK_EQ_INT(kki_print(nothing, 0, "%s", "longer than nothing"), 19);
    KK_CHECK_STR(nothing, "unset");
}
