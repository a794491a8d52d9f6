// Replays the corpus of the URDF fuzz target: what once was a finding must stay none.
#define _DEFAULT_SOURCE // opendir, readdir
#include "support.h"

#include <stdio.h>

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(fuzz_corpus_of_urdf) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#include <dirent.h>

// the target itself under another name, so that it is what is replayed
#define LLVMFuzzerTestOneInput fuzz_urdf
#include "../fuzz/fuzz_urdf.c" // NOLINT(bugprone-suspicious-include)

KK_TEST(fuzz_corpus_of_urdf) {
    const char *folder = KK_SOURCE_DIR "/tests/fuzz/corpus/urdf";
    DIR *directory = opendir(folder);
    int count = 0;
    for (const struct dirent *e = directory ? readdir(directory) : NULL; e; e = readdir(directory)) {
        char path[1024];
        static char bytes[1 << 16];
        snprintf(path, sizeof path, "%s/%.200s", folder, e->d_name);
        FILE *file = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file) {
            fuzz_urdf((const uint8_t *)bytes, fread(bytes, 1, sizeof bytes, file));
            fclose(file);
            count++;
        }
    }
    if (directory) {
        closedir(directory);
    }
    KK_CHECK(count >= 60);
}
#endif
