// The test harness: a list of tests sorted by file and line, a runner that prints one line a file, and an optional JUnit report.
#include "harness.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__has_feature)
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif

// the sanitizers bring a better report of a crash, and WASI has no signals
#if !defined(__wasi__) && !defined(__SANITIZE_ADDRESS__) && !HAS_FEATURE(address_sanitizer)
#define WATCH_FOR_CRASHES 1
#include <signal.h>
#include <unistd.h>
#else
#define WATCH_FOR_CRASHES 0
#endif

enum { MAX_PRINTED_FAILURES = 10 };

typedef struct options {
    int list;
    int help;
    int quick;
    int shard, shards; // of the selected tests those whose number leaves `shard` when divided by `shards`
    const char *junit_path;
    const char *program;
    char **filters;
    int filter_count;
} options;

typedef struct totals {
    int passed;
    int failed;
    int skipped;
    int seen; // selected, also those of other shards
    double seconds;
} totals;

static kk_test *first_test;
static int is_quick;
static const kk_test *current_test;
static int current_failures;
static const char *current_skip;
static char current_message[512]; // the first failure, for the report

// ---- the list --------------------------------------------------------------------------------------------------------

static int comes_before(const kk_test *a, const kk_test *b) {
    const int order = strcmp(a->file, b->file);
    return order != 0 ? order < 0 : a->line < b->line;
}

void kk_test_register(kk_test *test) {
    kk_test **place = &first_test;
    while (*place != NULL && comes_before(*place, test)) {
        place = &(*place)->next;
    }
    test->next = *place;
    *place = test;
}

// ".../tests/math/test_quat.c" is the suite "math/quat"
static void suite_name(const char *file, char *name, size_t size) {
    const char *start = file;
    for (const char *p = file; (p = strstr(p, "tests/")) != NULL; p += 6) {
        start = p + 6;
    }
    size_t n = 0;
    for (const char *p = start; *p != '\0' && strcmp(p, ".c") != 0 && n + 1 < size;) {
        if (strncmp(p, "test_", 5) == 0 && (p == start || p[-1] == '/')) {
            p += 5;
        } else {
            name[n++] = *p++;
        }
    }
    name[n] = '\0';
}

static int is_selected(const kk_test *test, const options *opt) {
    if (opt->filter_count == 0) {
        return 1;
    }
    char suite[256], full[512];
    suite_name(test->file, suite, sizeof suite);
    (void)snprintf(full, sizeof full, "%s/%s", suite, test->name);
    for (int i = 0; i < opt->filter_count; i++) {
        if (strstr(full, opt->filters[i]) != NULL || strstr(test->file, opt->filters[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}

// ---- checks ----------------------------------------------------------------------------------------------------------

void kk_test_fail(const char *file, int line, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (current_failures == 0) {
        (void)snprintf(current_message, sizeof current_message, "%.300s:%d: %.180s", file, line, message);
        printf("FAILED %s\n", current_test != NULL ? current_test->name : "(outside a test)");
    }
    current_failures++;
    if (current_failures <= MAX_PRINTED_FAILURES) {
        printf("  %s:%d: %s\n", file, line, message);
    } else if (current_failures == MAX_PRINTED_FAILURES + 1) {
        printf("  (further failures of this test are counted, not printed)\n");
    }
}

int kk_test_check_int(const char *file, int line, const char *text_a, const char *text_b, long long a, long long b) {
    if (a != b) {
        kk_test_fail(file, line, "%s is %lld, %s is %lld", text_a, a, text_b, b);
    }
    return a == b;
}

int kk_test_check_near(const char *file, int line, const char *text_a, const char *text_b, double a, double b,
                       double tolerance) {
    const int holds = a == b || fabs(a - b) <= tolerance;
    if (!holds) {
        kk_test_fail(file, line, "%s is %.17g, %s is %.17g, differ by %.3g, allowed %.3g", text_a, a, text_b, b,
                     fabs(a - b), tolerance);
    }
    return holds;
}

int kk_test_check_rel(const char *file, int line, const char *text_a, const char *text_b, double a, double b,
                      double tolerance) {
    const double size = fmax(fabs(a), fabs(b));
    const int holds = a == b || (isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * size);
    if (!holds) {
        kk_test_fail(file, line, "%s is %.17g, %s is %.17g, differ by %.3g relative, allowed %.3g", text_a, a, text_b,
                     b, fabs(a - b) / size, tolerance);
    }
    return holds;
}

int kk_test_check_bits(const char *file, int line, const char *text_a, const char *text_b, double a, double b) {
    uint64_t bits_a, bits_b;
    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    if (bits_a != bits_b) {
        kk_test_fail(file, line, "%s is %.17g (%016llx), %s is %.17g (%016llx)", text_a, a, (unsigned long long)bits_a,
                     text_b, b, (unsigned long long)bits_b);
    }
    return bits_a == bits_b;
}

int kk_test_check_str(const char *file, int line, const char *text_a, const char *text_b, const char *a,
                      const char *b) {
    const int holds = a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
    if (!holds) {
        kk_test_fail(file, line, "%s is \"%s\", %s is \"%s\"", text_a, a != NULL ? a : "(null)", text_b,
                     b != NULL ? b : "(null)");
    }
    return holds;
}

int kk_test_check_bytes(const char *file, int line, const char *text_a, const char *text_b, const void *a,
                        const void *b, size_t size) {
    const unsigned char *bytes_a = a, *bytes_b = b;
    for (size_t i = 0; i < size; i++) {
        if (bytes_a[i] != bytes_b[i]) {
            kk_test_fail(file, line, "%s and %s differ first at byte %zu of %zu: %02x, %02x", text_a, text_b, i, size,
                         bytes_a[i], bytes_b[i]);
            return 0;
        }
    }
    return 1;
}

void kk_test_skip(const char *reason) {
    current_skip = reason;
}

double kk_test_seconds(void) {
#ifdef __wasm__
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#else
    return (double)clock() / CLOCKS_PER_SEC;
#endif
}

int kk_test_is_quick(void) {
    return is_quick;
}

// ---- the JUnit report ------------------------------------------------------------------------------------------------

static void write_escaped(FILE *out, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case '<': (void)fputs("&lt;", out); break;
        case '>': (void)fputs("&gt;", out); break;
        case '&': (void)fputs("&amp;", out); break;
        case '"': (void)fputs("&quot;", out); break;
        default: (void)fputc((unsigned char)*p < 0x20 ? ' ' : *p, out);
        }
    }
}

static void report_test(FILE *out, const char *suite, const kk_test *test, double seconds) {
    if (out == NULL) {
        return;
    }
    (void)fprintf(out, "  <testcase classname=\"%s\" name=\"%s\" time=\"%.6f\">", suite, test->name, seconds);
    if (current_failures > 0) {
        (void)fputs("<failure message=\"", out);
        write_escaped(out, current_message);
        (void)fputs("\"/>", out);
    } else if (current_skip != NULL) {
        (void)fputs("<skipped message=\"", out);
        write_escaped(out, current_skip);
        (void)fputs("\"/>", out);
    }
    (void)fputs("</testcase>\n", out);
}

// ---- the runner ------------------------------------------------------------------------------------------------------

static double now_seconds(void) {
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if WATCH_FOR_CRASHES
// a crash names the test it came from and then takes its usual course
static void write_text(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) {
        return; // nothing left to try
    }
}

static void name_the_crash(int number) {
    write_text("\ncrashed in test ");
    write_text(current_test != NULL ? current_test->name : "(outside a test)");
    write_text("\n");
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}
#endif

static void watch_for_crashes(void) {
#if WATCH_FOR_CRASHES
    const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)signal(signals[i], name_the_crash);
    }
#endif
}

static void run_test(const kk_test *test, const char *suite, totals *suite_totals, FILE *junit) {
    current_test = test;
    current_failures = 0;
    current_skip = NULL;
    current_message[0] = '\0';
    const double start = now_seconds();
    test->run();
    const double seconds = now_seconds() - start;
    current_test = NULL;

    suite_totals->seconds += seconds;
    if (current_failures > 0) {
        suite_totals->failed++;
        printf("  %d failed checks in %s/%s\n", current_failures, suite, test->name);
    } else if (current_skip != NULL) {
        suite_totals->skipped++;
        printf("skipped %s/%s: %s\n", suite, test->name, current_skip);
    } else {
        suite_totals->passed++;
    }
    report_test(junit, suite, test, seconds);
    (void)fflush(stdout);
}

static void print_suite(const char *suite, const totals *t) {
    printf("%-32s %4d passed", suite, t->passed);
    if (t->failed > 0) {
        printf(", %d FAILED", t->failed);
    }
    if (t->skipped > 0) {
        printf(", %d skipped", t->skipped);
    }
    printf("  %8.3f s\n", t->seconds);
    (void)fflush(stdout);
}

// runs the selected tests of one file, and gives the first test of the next file
static const kk_test *run_suite(const kk_test *test, const options *opt, totals *all, FILE *junit) {
    const char *file = test->file;
    char suite[256];
    totals own = {0};
    suite_name(file, suite, sizeof suite);
    for (; test != NULL && strcmp(test->file, file) == 0; test = test->next) {
        if (!is_selected(test, opt) || all->seen++ % opt->shards != opt->shard) {
            continue;
        }
        if (opt->list) {
            printf("%s/%s\n", suite, test->name);
        } else {
            run_test(test, suite, &own, junit);
        }
    }
    if (own.passed + own.failed + own.skipped > 0) {
        print_suite(suite, &own);
    }
    all->passed += own.passed;
    all->failed += own.failed;
    all->skipped += own.skipped;
    return test;
}

static void print_help(const char *program) {
    printf("usage: %s [--list] [--quick] [--shard I/N] [--junit FILE] [FILTER ...]\n"
           "  runs the tests whose suite/name or file contains one of the filters; all without a filter\n"
           "  --list        print the names instead of running\n"
           "  --quick       long tests do a tenth of their work\n"
           "  --shard I/N   of N parts only the I-th, from 0; every test is in one of them\n"
           "  --junit FILE  write a JUnit report as well\n",
           program);
}

static int parse_shard(const char *text, options *opt) {
    char *end = NULL;
    const long shard = strtol(text, &end, 10), shards = end > text && *end == '/' ? strtol(end + 1, NULL, 10) : 0;
    if (shard < 0 || shard >= shards || shards > INT_MAX) {
        return 0;
    }
    opt->shard = (int)shard;
    opt->shards = (int)shards;
    return 1;
}

static int parse_options(int argc, char **argv, options *opt) {
    opt->shards = 1;
    opt->program = argc > 0 ? argv[0] : "karakuri_tests";
    opt->filters = argv + (argc > 0 ? 1 : 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            opt->list = 1;
        } else if (strcmp(argv[i], "--help") == 0) {
            opt->help = 1;
        } else if (strcmp(argv[i], "--quick") == 0) {
            opt->quick = 1;
        } else if (strcmp(argv[i], "--shard") == 0 && i + 1 < argc && parse_shard(argv[i + 1], opt)) {
            i++;
        } else if (strcmp(argv[i], "--junit") == 0 && i + 1 < argc) {
            opt->junit_path = argv[++i];
        } else if (argv[i][0] == '-') {
            (void)fprintf(stderr, "%s: unknown option %s (try --help)\n", opt->program, argv[i]);
            return 0;
        } else {
            opt->filters[opt->filter_count++] = argv[i]; // never overtakes i
        }
    }
    return 1;
}

int kk_test_main(int argc, char **argv) {
    options opt = {0};
    if (!parse_options(argc, argv, &opt)) {
        return 2;
    }
    if (opt.help) {
        print_help(opt.program);
        return 0;
    }
    FILE *junit = NULL;
    if (opt.junit_path != NULL) {
        junit = fopen(opt.junit_path, "w");
        if (junit == NULL) {
            (void)fprintf(stderr, "%s: cannot write %s\n", opt.program, opt.junit_path);
            return 2;
        }
        (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"karakuri\">\n", junit);
    }

    is_quick = opt.quick;
    watch_for_crashes();
    totals all = {0};
    for (const kk_test *test = first_test; test != NULL;) {
        test = run_suite(test, &opt, &all, junit);
    }

    if (junit != NULL) {
        (void)fputs("</testsuite>\n", junit);
        (void)fclose(junit);
    }
    if (opt.list) {
        return 0;
    }
    if (all.passed + all.failed + all.skipped == 0) {
        (void)fprintf(stderr, "no test matches\n");
        return 2;
    }
    printf("%d passed, %d failed", all.passed, all.failed);
    if (all.skipped > 0) {
        printf(", %d skipped", all.skipped);
    }
    printf("\n");
    return all.failed > 0 ? 1 : 0;
}
