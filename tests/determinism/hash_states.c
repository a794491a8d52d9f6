// Prints one line `scene variant hash` for every scene and every kernel variant that this machine can run.
//
// tests/determinism/run.py builds this program with every compiler, optimisation level and target it finds and compares the lines:
// a scene has one hash, whoever computed it. To add a scene, write a function and put it into the table.
#include <karakuri/karakuri.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// FNV-1a over the bits of doubles, low byte first. The result does not depend on the machine's byte order.
typedef struct hasher {
    uint64_t value;
} hasher;

static hasher hasher_new(void) {
    return (hasher){0xcbf29ce484222325u};
}

static void hash_double(hasher *h, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x == 0.0) {
        bits = 0; // -0 and 0 are one value
    } else if (x != x) {
        bits = 0x7ff8000000000000u; // the payload of a NaN is the machine's own
    }
    for (int i = 0; i < 8; i++) {
        h->value = (h->value ^ ((bits >> (8 * i)) & 0xff)) * 0x100000001b3u;
    }
}

// ---- scenes ----------------------------------------------------------------------------------------------------------

// The compiler alone: Lorenz' system doubles an error in less than a second, so one contracted or reassociated operation, one extra
// bit of precision or one flushed denormal shows in the hash.
static uint64_t scene_arithmetic(void) {
    hasher h = hasher_new();
    double x = 1.0, y = 1.0, z = 1.0, tiny = 1.0;
    const double dt = 1.0 / 512.0;
    for (int i = 0; i < 20000; i++) {
        const double dx = 10.0 * (y - x);
        const double dy = x * (28.0 - z) - y;
        const double dz = x * y - 8.0 / 3.0 * z;
        x += dt * dx;
        y += dt * dy;
        z += dt * dz;
        tiny = tiny > 0.0 ? tiny * 0.7 : 1.0 / (1.0 + x * x);
        hash_double(&h, x);
        hash_double(&h, y / z);
        hash_double(&h, __builtin_sqrt(x * x + y * y + z * z));
        hash_double(&h, tiny);
    }
    return h.value;
}

// Arguments of all sizes and signs, the special ones included: 64 random bits are a double, whatever they are.
static double any_double(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t bits = *state ^ (*state >> 29);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t hash_of_function(double (*function)(double), double scale) {
    hasher h = hasher_new();
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        const double x = any_double(&state);
        hash_double(&h, function(x));
        hash_double(&h, function(scale * (i - 10000) / 10000.0));
    }
    return h.value;
}

static uint64_t hash_of_function2(double (*function)(double, double)) {
    hasher h = hasher_new();
    uint64_t state = 2;
    for (int i = 0; i < 20000; i++) {
        const double x = any_double(&state), y = any_double(&state);
        hash_double(&h, function(x, y));
        hash_double(&h, function(x, (i - 10000) / 1000.0));
        hash_double(&h, function(i / 1000.0, (i - 10000) / 77.0));
    }
    return h.value;
}

static uint64_t scene_sin(void) {
    return hash_of_function(kk_sin, 100.0);
}

static uint64_t scene_cos(void) {
    return hash_of_function(kk_cos, 100.0);
}

static uint64_t scene_tan(void) {
    return hash_of_function(kk_tan, 100.0);
}

static uint64_t scene_asin(void) {
    return hash_of_function(kk_asin, 1.0);
}

static uint64_t scene_acos(void) {
    return hash_of_function(kk_acos, 1.0);
}

static uint64_t scene_atan(void) {
    return hash_of_function(kk_atan, 10.0);
}

static uint64_t scene_exp(void) {
    return hash_of_function(kk_exp, 750.0);
}

static uint64_t scene_log(void) {
    return hash_of_function(kk_log, 10.0);
}

static uint64_t scene_atan2(void) {
    return hash_of_function2(kk_atan2);
}

static uint64_t scene_pow(void) {
    return hash_of_function2(kk_pow);
}

static uint64_t scene_hypot(void) {
    return hash_of_function2(kk_hypot);
}

static uint64_t scene_fmod(void) {
    return hash_of_function2(kk_fmod);
}

static uint64_t scene_rounding(void) {
    return hash_of_function(kk_floor, 10.0) ^ 3 * hash_of_function(kk_ceil, 10.0) ^
           5 * hash_of_function(kk_trunc, 10.0) ^ 7 * hash_of_function(kk_round, 10.0);
}

typedef struct scene {
    const char *name;
    const char *variant; // the kernel variant it runs on
    uint64_t (*run)(void);
} scene;

static const scene scenes[] = {
    {"arithmetic", "scalar", scene_arithmetic},
    {"sin", "scalar", scene_sin},
    {"cos", "scalar", scene_cos},
    {"tan", "scalar", scene_tan},
    {"asin", "scalar", scene_asin},
    {"acos", "scalar", scene_acos},
    {"atan", "scalar", scene_atan},
    {"atan2", "scalar", scene_atan2},
    {"exp", "scalar", scene_exp},
    {"log", "scalar", scene_log},
    {"pow", "scalar", scene_pow},
    {"hypot", "scalar", scene_hypot},
    {"fmod", "scalar", scene_fmod},
    {"rounding", "scalar", scene_rounding},
};

int main(void) {
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        printf("%s %s %016llx\n", scenes[i].name, scenes[i].variant, (unsigned long long)scenes[i].run());
    }
    return 0;
}
