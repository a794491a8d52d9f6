// Replays the fuzz targets' corpora: what once was a finding must stay none.
#define _DEFAULT_SOURCE // opendir, readdir
#include "support.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(fuzz_corpus_of_xml) {
    KK_SKIP("no folder to read the corpus from");
}
#else
#define LLVMFuzzerTestOneInput fuzz_xml
#include "../fuzz/fuzz_xml.c" // NOLINT(bugprone-suspicious-include): the target itself
#include "../fuzz/replay.h"

KK_TEST(fuzz_corpus_of_xml) {
    KK_CHECK(fuzz_replay(KK_SOURCE_DIR "/tests/fuzz/corpus/xml", fuzz_xml) > 10);
}
#endif
