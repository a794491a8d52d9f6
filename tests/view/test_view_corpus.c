// Replays the corpus of the fuzz target of commands: what once was a finding must stay none.
#define _DEFAULT_SOURCE // opendir, readdir
#include "harness.h"

#include <stdio.h>

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(fuzz_corpus_of_view) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#include <dirent.h>

#define LLVMFuzzerTestOneInput fuzz_view
#include "../fuzz/fuzz_view.c" // NOLINT(bugprone-suspicious-include): the target itself, so that it is what is replayed

KK_TEST(fuzz_corpus_of_view) {
    const char *folder = KK_SOURCE_DIR "/tests/fuzz/corpus/view";
    DIR *directory = opendir(folder);
    if (!KK_CHECK(directory != NULL)) {
        return;
    }
    int count = 0;
    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[1024];
        static uint8_t bytes[1 << 16];
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file) {
            fuzz_view(bytes, fread(bytes, 1, sizeof bytes, file));
            fclose(file);
            count++;
        }
    }
    closedir(directory);
    KK_CHECK(count >= 5);
}
#endif
