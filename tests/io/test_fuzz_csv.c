// Replays the fuzz target's corpus of CSV: what once was a finding must stay none.
#define _DEFAULT_SOURCE // opendir, readdir
#include "support.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(fuzz_corpus_of_csv) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#define LLVMFuzzerTestOneInput fuzz_csv
#include "../fuzz/fuzz_csv.c" // NOLINT(bugprone-suspicious-include): the target itself
#include "../fuzz/replay.h"

KK_TEST(fuzz_corpus_of_csv) {
    KK_CHECK(fuzz_replay(KK_SOURCE_DIR "/tests/fuzz/corpus/csv", fuzz_csv) > 10);
}
#endif
