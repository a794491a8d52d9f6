/// A small unit-test harness: tests register themselves, checks record and go on.
///
///     KK_TEST(sum_of_two) {
///         KK_CHECK_EQ_INT(1 + 1, 2);
///     }
///
/// A failed check prints file, line and values and the test goes on to its end; at most ten failures of a test are printed. Checks
/// evaluate each argument once and give 1 where they hold, so `if (!KK_CHECK(p)) return;` guards what follows.
#ifndef KARAKURI_TESTS_HARNESS_H
#define KARAKURI_TESTS_HARNESS_H

#include <stddef.h>

typedef struct kk_test {
    const char *file;
    int line;
    const char *name;
    void (*run)(void);
    struct kk_test *next;
} kk_test;

/// Defines a test and registers it before main() runs.
#define KK_TEST(test_name)                                                                     \
    static void kk_test_run_##test_name(void);                                                 \
    __attribute__((constructor)) static void kk_test_add_##test_name(void) {                   \
        static kk_test self = {__FILE__, __LINE__, #test_name, kk_test_run_##test_name, NULL}; \
        kk_test_register(&self);                                                               \
    }                                                                                          \
    static void kk_test_run_##test_name(void)

/// The condition is true.
#define KK_CHECK(condition) kk_test_check(__FILE__, __LINE__, #condition, (condition) ? 1 : 0)
/// Two integers are equal.
#define KK_CHECK_EQ_INT(a, b) kk_test_check_int(__FILE__, __LINE__, #a, #b, (long long)(a), (long long)(b))
/// |a - b| <= tolerance. NaN fails; equal infinities hold.
#define KK_CHECK_NEAR(a, b, tolerance) \
    kk_test_check_near(__FILE__, __LINE__, #a, #b, (double)(a), (double)(b), (double)(tolerance))
/// |a - b| <= tolerance * max(|a|, |b|). NaN fails; equal infinities and two zeros hold.
#define KK_CHECK_REL(a, b, tolerance) \
    kk_test_check_rel(__FILE__, __LINE__, #a, #b, (double)(a), (double)(b), (double)(tolerance))
/// Two doubles have the same bits: -0 differs from 0, and a NaN equals itself.
#define KK_CHECK_BITS(a, b) kk_test_check_bits(__FILE__, __LINE__, #a, #b, (double)(a), (double)(b))
/// Two strings are equal. NULL equals only NULL.
#define KK_CHECK_STR(a, b) kk_test_check_str(__FILE__, __LINE__, #a, #b, (a), (b))
/// Two blocks of memory are equal.
#define KK_CHECK_BYTES(a, b, size) kk_test_check_bytes(__FILE__, __LINE__, #a, #b, (a), (b), (size))
/// Records a failure with a printf-style message.
#define KK_FAIL(...) kk_test_fail(__FILE__, __LINE__, __VA_ARGS__)
/// Ends the test as skipped, with the reason. To be called from the test itself, not from a function it calls.
#define KK_SKIP(reason)       \
    do {                      \
        kk_test_skip(reason); \
        return;               \
    } while (0)

void kk_test_register(kk_test *test);
int kk_test_check_int(const char *file, int line, const char *text_a, const char *text_b, long long a, long long b);
int kk_test_check_near(const char *file, int line, const char *text_a, const char *text_b, double a, double b,
                       double tolerance);
int kk_test_check_rel(const char *file, int line, const char *text_a, const char *text_b, double a, double b,
                      double tolerance);
int kk_test_check_bits(const char *file, int line, const char *text_a, const char *text_b, double a, double b);
int kk_test_check_str(const char *file, int line, const char *text_a, const char *text_b, const char *a, const char *b);
int kk_test_check_bytes(const char *file, int line, const char *text_a, const char *text_b, const void *a,
                        const void *b, size_t size);
__attribute__((format(printf, 3, 4))) void kk_test_fail(const char *file, int line, const char *format, ...);
/// In line, so that the analyzer sees what a check guards.
static inline int kk_test_check(const char *file, int line, const char *text, int holds) {
    if (!holds) {
        kk_test_fail(file, line, "%s does not hold", text);
    }
    return holds;
}
void kk_test_skip(const char *reason);

/// 1 where the runner got --quick (sanitizers, WebAssembly): a long test may do a tenth of its work.
int kk_test_is_quick(void);

/// Time of the processor, for the machine has other things to do; of the clock where a system does not tell.
double kk_test_seconds(void);

/// Runs the registered tests as the command line asks; gives the exit code.
int kk_test_main(int argc, char **argv);

#endif
