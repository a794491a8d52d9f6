// Replays the fuzz target's corpus of CSV: what once was a finding must stay none.
#define _DEFAULT_SOURCE // opendir, readdir
#include "support.h"

#include <stdio.h>

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(fuzz_corpus_of_csv) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#include <dirent.h>

#define LLVMFuzzerTestOneInput fuzz_csv // a name of its own among the other targets
#include "../fuzz/fuzz_csv.c" // NOLINT(bugprone-suspicious-include): the target itself, so that it is what is replayed

static void replay(const char *folder, const char *name) {
    char path[1024];
    static char bytes[1 << 20];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (KK_CHECK(file != NULL)) {
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    }
}

KK_TEST(fuzz_corpus_of_csv) {
    const char *folder = KK_SOURCE_DIR "/tests/fuzz/corpus/csv";
    DIR *directory = opendir(folder);
    if (!KK_CHECK(directory != NULL)) {
        return;
    }
    int count = 0;
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (entry->d_name[0] != '.') {
            replay(folder, entry->d_name);
            count++;
        }
    }
    closedir(directory);
    KK_CHECK(count > 10);
}
#endif
