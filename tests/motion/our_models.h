// Our own models by path, for tests that load files; NULL where there is no file system.
#ifndef KK_TESTS_MOTION_OUR_MODELS_H
#define KK_TESTS_MOTION_OUR_MODELS_H

#include <karakuri/karakuri.h>

#include "harness.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
#define HAS_OUR_MODELS 0
#define OUR_MODEL(path) NULL
#else
#define HAS_OUR_MODELS 1
#define OUR_MODEL(path) KK_SOURCE_DIR "/models/" path
#endif

/// 0 where it could not be loaded, after a failed check.
static inline kk_model *load_our_model(const char *path) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_error error = {0};
    const kk_status status = kk_load_file(path, NULL, NULL, &spec, NULL, &error);
    if (status != KK_OK || kk_model_compile(spec, NULL, &model, &error) != KK_OK) {
        KK_FAIL("%s: %s", path, error.text);
    }
    kk_spec_free(spec);
    return model;
}

#endif
