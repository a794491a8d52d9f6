// Fuzz target: STL, ASCII and binary.
#include "fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_mesh(bytes, size, "fuzz.stl");
    return 0;
}
