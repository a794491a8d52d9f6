// The unit-test program: every tests/<layer>/test_*.c is linked into it. `karakuri_tests --help` lists its options.
#include "harness.h"

int main(int argc, char **argv) {
    return kk_test_main(argc, argv);
}
