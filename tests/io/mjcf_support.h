/// What the tests of MJCF share: a model from a text or from the corpus.
#ifndef KARAKURI_TESTS_IO_MJCF_SUPPORT_H
#define KARAKURI_TESTS_IO_MJCF_SUPPORT_H

#include "urdf_support.h"

#ifdef KK_SOURCE_DIR
#define MJCF_FOLDER KK_SOURCE_DIR "/tests/io/mjcf"
#else
#define MJCF_FOLDER "tests/io/mjcf"
#endif

/// Loads a text, which cannot include other files.
static inline robot mjcf_from_text(const char *text) {
    robot r = {0};
    const kk_file file = {"model.xml", text, strlen(text)};
    const kk_load_options o = {.file = &file, .file_count = 1};
    r.status = kk_load_file("model.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    return r;
}

static inline robot mjcf_from_corpus(const char *name) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.xml", MJCF_FOLDER, name);
    return robot_from_file(path, NULL);
}

#endif
