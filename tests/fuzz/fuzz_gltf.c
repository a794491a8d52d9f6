// Fuzz target: glTF binary. An input without the magic is taken as the JSON chunk of a file whose bytes are the input
// itself, which lets the fuzzer work on the JSON without guessing lengths.
#include <stdlib.h>
#include <string.h>

#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void put32(uint8_t *at, size_t value) {
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void fuzz_wrapped(const uint8_t *bytes, size_t size) {
    const size_t total = 28 + 2 * size;
    uint8_t *file = malloc(total);
    if (!file) {
        return;
    }
    memcpy(file, "glTF", 4);
    put32(file + 4, 2);
    put32(file + 8, total);
    put32(file + 12, size);
    memcpy(file + 16, "JSON", 4);
    memcpy(file + 20, bytes, size);
    put32(file + 20 + size, size);
    memcpy(file + 24 + size, "BIN", 4);
    memcpy(file + 28 + size, bytes, size);
    fuzz_mesh(file, total, "fuzz.glb");
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size >= 4 && memcmp(bytes, "glTF", 4) == 0) {
        fuzz_mesh(bytes, size, "fuzz.glb");
    } else if (size > 0) {
        fuzz_wrapped(bytes, size);
    }
    return 0;
}
