// The version of the library, and the compile-time checks on which bit-identical results rest (docs/decisions/0003).
#include <karakuri/version.h>

#include "base/strict_float.h"

const char *kk_version(void) {
    return KK_VERSION;
}
