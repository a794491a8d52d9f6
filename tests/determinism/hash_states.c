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

typedef struct scene {
    const char *name;
    const char *variant; // the kernel variant it runs on
    uint64_t (*run)(void);
} scene;

static const scene scenes[] = {
    {"arithmetic", "scalar", scene_arithmetic},
};

int main(void) {
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        printf("%s %s %016llx\n", scenes[i].name, scenes[i].variant, (unsigned long long)scenes[i].run());
    }
    return 0;
}
