#include "harness.h"

#include <karakuri/karakuri.h>

#include <stdio.h>

// the text and the numbers of the version are written twice in the header; they must agree
KK_TEST(version_text_matches_its_numbers) {
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", KK_VERSION_MAJOR, KK_VERSION_MINOR, KK_VERSION_PATCH);
    KK_CHECK_STR(text, KK_VERSION);
}

KK_TEST(library_and_headers_are_of_one_version) {
    KK_CHECK_STR(kk_version(), KK_VERSION);
}
