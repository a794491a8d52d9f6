// Replays the corpus of the URDF fuzz target: what once was a finding must stay none.
#define _DEFAULT_SOURCE // opendir, readdir
#include "support.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(fuzz_corpus_of_urdf) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#define LLVMFuzzerTestOneInput fuzz_urdf
#include "../fuzz/fuzz_urdf.c" // NOLINT(bugprone-suspicious-include): the target itself
#include "../fuzz/replay.h"

KK_TEST(fuzz_corpus_of_urdf) {
    KK_CHECK(fuzz_replay(KK_SOURCE_DIR "/tests/fuzz/corpus/urdf", fuzz_urdf) >= 60);
}
#endif
