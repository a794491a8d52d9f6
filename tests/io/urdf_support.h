/// What the tests of URDF share: a robot from a text or a file, with its messages and its model.
#ifndef KARAKURI_TESTS_IO_URDF_SUPPORT_H
#define KARAKURI_TESTS_IO_URDF_SUPPORT_H

#include <karakuri/dynamics.h>
#include <karakuri/load.h>
#include <stdio.h>

#include "support.h"

typedef struct robot {
    kk_status status;
    kk_spec *spec;
    kk_messages *messages;
    kk_model *model; ///< NULL where the spec does not compile
    kk_data *data;
    kk_error error;
} robot;

static inline void robot_compile(robot *r) {
    if (r->spec && kk_model_compile(r->spec, NULL, &r->model, &r->error) == KK_OK) {
        kk_data_create(r->model, NULL, &r->data);
    }
}

static inline robot robot_from_text(const char *text, const kk_load_options *options) {
    robot r = {0};
    const kk_file file = {"robot.urdf", text, strlen(text)};
    kk_load_options o = options ? *options : (kk_load_options){0};
    if (!o.file) {
        o.file = &file;
        o.file_count = 1;
    }
    r.status = kk_load_file("robot.urdf", &o, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    return r;
}

static inline robot robot_from_file(const char *path, const kk_load_options *options) {
    robot r = {0};
    r.status = kk_load_file(path, options, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    return r;
}

static inline void robot_free(robot *r) {
    kk_data_free(r->data);
    kk_model_free(r->model);
    kk_spec_free(r->spec);
    kk_messages_free(r->messages);
}

/// The spec is there and compiles; prints why not.
static inline int robot_is_good(const robot *r, const char *name) {
    if (r->status != KK_OK || !r->data) {
        KK_FAIL("%s: %s:%d:%d %s", name, r->error.file, r->error.line, r->error.column, r->error.text);
        return 0;
    }
    return 1;
}

/// A message of that severity has the words in it.
static inline int robot_says(const robot *r, kk_severity severity, const char *words) {
    for (int i = 0; i < kk_messages_count(r->messages); i++) {
        const kk_message m = kk_messages_get(r->messages, i);
        if (m.severity == severity && strstr(m.text, words)) {
            return 1;
        }
    }
    return 0;
}

static inline int robot_body(const robot *r, const char *name) {
    return kk_model_find_body(r->model, name);
}

#endif
