// Measures the largest error of every elementary function against MPFR and prints the table of
// docs/maths/elementary.md.
//
// Not part of the build: it needs libmpfr. From the top of the repository:
//   cc -std=gnu17 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -Iinclude tests/golden/measure_elementary.c
//      src/base/elementary/*.c -lmpfr -lgmp -lm -o /tmp/measure && /tmp/measure 1000000
// An error is |computed - exact| in units of the last place of the exact value, where the last place of a denormal is
// 2^-1074. Arguments come from xorshift64* with fixed seeds: half of them uniform over an interval of everyday size,
// half over all bit patterns.
#include <karakuri/elementary.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRECISION = 160 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_bits(void) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 2685821657736338717u;
}

static double any_double(void) {
    for (;;) {
        const uint64_t bits = next_bits();
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) {
            return x;
        }
    }
}

static double uniform(double low, double high) {
    return low + (high - low) * ((double)(next_bits() >> 11) * 0x1p-53);
}

typedef struct function {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    int (*exact_one)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    int (*exact_two)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
    double low, high; // everyday interval
    double cap;       // arguments of the second half are folded below this magnitude; 0 keeps all
} function;

static const function FUNCTIONS[] = {
    {"sin", kk_sin, NULL, mpfr_sin, NULL, -10, 10, 0},       {"cos", kk_cos, NULL, mpfr_cos, NULL, -10, 10, 0},
    {"tan", kk_tan, NULL, mpfr_tan, NULL, -10, 10, 0},       {"asin", kk_asin, NULL, mpfr_asin, NULL, -1, 1, 1},
    {"acos", kk_acos, NULL, mpfr_acos, NULL, -1, 1, 1},      {"atan", kk_atan, NULL, mpfr_atan, NULL, -10, 10, 0},
    {"atan2", NULL, kk_atan2, NULL, mpfr_atan2, -10, 10, 0}, {"exp", kk_exp, NULL, mpfr_exp, NULL, -20, 20, 750},
    {"log", kk_log, NULL, mpfr_log, NULL, 0, 10, 0},         {"pow", NULL, kk_pow, NULL, mpfr_pow, 0, 30, 0},
    {"hypot", NULL, kk_hypot, NULL, mpfr_hypot, -10, 10, 0},
};

// arguments of number i of n
static void draw(const function *f, int i, int n, double *x, double *y) {
    if (i < n / 2) {
        *x = uniform(f->low, f->high);
        *y = uniform(f->low, f->high);
        return;
    }
    *x = any_double();
    *y = any_double();
    if (strcmp(f->name, "pow") == 0) { // a power that neither overflows nor vanishes
        *x = fabs(*x);
        *y = uniform(-745, 709) / log(*x);
    } else if (f->two && (i & 1)) { // comparable sizes
        *y = *x * uniform(-4, 4);
    } else if (strcmp(f->name, "log") == 0) {
        *x = (i & 1) ? uniform(0.9, 1.1) : fabs(*x);
    } else if (f->cap != 0) {
        *x = (i & 1) ? f->cap * copysign(1 - exp(-uniform(0, 40)), *x) : f->cap * copysign(exp(-uniform(0, 40)), *x);
    }
}

static double ulp_of(double exact) {
    const double magnitude = fabs(exact) < 0x1p-1022 ? 0x1p-1022 : fabs(exact);
    int exponent;
    frexp(magnitude, &exponent);
    return ldexp(1.0, exponent - 53);
}

// error in ulps of one call, 0 where both are infinite
static double error_of(const function *f, double x, double y, mpfr_t a, mpfr_t b, mpfr_t exact) {
    const double computed = f->one ? f->one(x) : f->two(x, y);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    if (f->one) {
        f->exact_one(exact, a, MPFR_RNDN);
    } else {
        f->exact_two(exact, a, b, MPFR_RNDN);
    }
    const double rounded = mpfr_get_d(exact, MPFR_RNDN);
    if (!isfinite(computed) || !isfinite(rounded)) {
        return computed == rounded || (computed != computed && rounded != rounded) ? 0 : INFINITY;
    }
    const double ulp = ulp_of(mpfr_get_d(exact, MPFR_RNDZ));
    mpfr_sub_d(exact, exact, computed, MPFR_RNDN);
    mpfr_div_d(exact, exact, ulp, MPFR_RNDN);
    return fabs(mpfr_get_d(exact, MPFR_RNDN));
}

static double nanoseconds(const function *f) {
    enum { COUNT = 4096, REPEAT = 50 };
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = uniform(f->low, f->high);
        y[i] = uniform(f->low, f->high);
    }
    volatile double sink = 0;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int r = 0; r < REPEAT; r++) {
        for (int i = 0; i < COUNT; i++) {
            sink = f->one ? f->one(x[i]) : f->two(x[i], y[i]);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    (void)sink;
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (COUNT * REPEAT);
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 100000;
    mpfr_t a, b, exact;
    mpfr_inits2(PRECISION, a, b, exact, (mpfr_ptr)0);
    printf("| function | arguments | largest error, ulp | at | rounded correctly | ns a call "
           "|\n|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof *FUNCTIONS; k++) {
        const function *f = &FUNCTIONS[k];
        double worst = 0, worst_x = 0, worst_y = 0;
        int correct = 0;
        for (int i = 0; i < n; i++) {
            double x, y;
            draw(f, i, n, &x, &y);
            const double error = error_of(f, x, y, a, b, exact);
            correct += error <= 0.5;
            if (error > worst) {
                worst = error, worst_x = x, worst_y = y;
            }
        }
        printf("| %s | %d | %.4f | %a", f->name, n, worst, worst_x);
        if (f->two) {
            printf(", %a", worst_y);
        }
        printf(" | %.2f %% | %.0f |\n", 100.0 * correct / n, nanoseconds(f));
        fflush(stdout);
    }
    mpfr_clears(a, b, exact, (mpfr_ptr)0);
    return 0;
}
