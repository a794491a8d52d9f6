// Replays the corpus of the MJCF fuzz target: what once was a finding must stay none.
#define _DEFAULT_SOURCE // opendir, readdir
#include "support.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(fuzz_corpus_of_mjcf) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#define LLVMFuzzerTestOneInput fuzz_mjcf
#include "../fuzz/fuzz_mjcf.c" // NOLINT(bugprone-suspicious-include): the target itself
#include "../fuzz/replay.h"

KK_TEST(fuzz_corpus_of_mjcf) {
    KK_CHECK(fuzz_replay(KK_SOURCE_DIR "/tests/fuzz/corpus/mjcf", fuzz_mjcf) >= 60);
}
#endif
