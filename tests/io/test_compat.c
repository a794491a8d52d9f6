// Every file format that was ever written is read: recordings and the states inside of them, made by the versions that wrote them (tests/compat).
#include <karakuri/load.h>
#include <karakuri/recording.h>
#include <karakuri/simulate.h>
#include <karakuri/table.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

#ifndef __wasm__ // which has no file system here

static const char FIRST[] = "recording_1_state_1";
enum { STEPS = 30, KEY_EVERY = 8, PATH_SIZE = 1024 };

static kk_model *load(const char *name) {
    char path[PATH_SIZE];
    kk_error error = {0};
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    snprintf(path, sizeof path, "%s/tests/compat/%s", KK_SOURCE_DIR, name);
    KK_CHECK_EQ_INT(kk_load_file(path, NULL, NULL, &spec, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, &error), KK_OK);
    kk_spec_free(spec);
    return model;
}

/// Times, coordinates and velocities of every step are those of the log that the same program wrote.
static void check_frames(kk_recording *recording, const kk_table *log) {
    const kk_recording_info info = kk_recording_get_info(recording);
    KK_CHECK_EQ_INT(info.steps, STEPS);
    KK_CHECK_EQ_INT(kk_table_row_count(log), STEPS);
    KK_CHECK(info.is_complete);
    for (int64_t i = 0; i < info.steps; i++) {
        kk_recording_frame frame;
        kk_error error = {0};
        KK_CHECK_EQ_INT(kk_recording_get_frame(recording, i, &frame, &error), KK_OK);
        const double *row = kk_table_row(log, (size_t)i);
        KK_CHECK_BITS(frame.time, row[0]);
        for (int k = 0; k < info.nq; k++) {
            KK_CHECK_BITS(frame.q[k], row[1 + k]);
        }
        for (int k = 0; k < info.nv; k++) {
            KK_CHECK_BITS(frame.v[k], row[1 + info.nq + k]);
        }
    }
}

/// The whole state before each chunk is where the frame before it ended, and a step can be taken from it.
static void check_keys(const char *name, kk_recording *recording, const kk_model *model) {
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_state_create(model, NULL, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(model, NULL, NULL, &simulator, &error), KK_OK);
    for (int64_t step = KEY_EVERY; step < STEPS; step += KEY_EVERY) {
        kk_recording_frame frame;
        int64_t key = -1;
        KK_CHECK_EQ_INT(kk_recording_get_frame(recording, step - 1, &frame, &error), KK_OK);
        const double time = frame.time, first = frame.q[0], last = frame.q[kk_model_nq(model) - 1];
        if (!KK_CHECK_EQ_INT(kk_recording_get_key(recording, step, state, &key, &error), KK_OK)) {
            KK_FAIL("%s: step %lld: %s", name, (long long)step, error.text);
            break;
        }
        KK_CHECK_EQ_INT(key, step);
        KK_CHECK_BITS(kk_state_time(state), time);
        KK_CHECK_BITS(kk_state_q(state)[0], first);
        KK_CHECK_BITS(kk_state_q(state)[kk_model_nq(model) - 1], last);
        for (int i = 0; i < KEY_EVERY; i++) {
            KK_CHECK_EQ_INT(kk_step(model, state, simulator, NULL, &error), KK_OK);
            KK_CHECK_EQ_INT(kk_simulator_report(simulator)->quality, KK_STEP_CERTIFIED);
        }
    }
    kk_simulator_free(simulator);
    kk_state_free(state);
}

/// States of version 1 had one more layout before the project's second day, without a number of its own: it is told, and the state stays as it was.
static void check_keys_of_the_first_day(kk_recording *recording, const kk_model *model) {
    kk_state *state = NULL, *before = NULL;
    kk_error error = {0};
    int64_t key = -1;
    KK_CHECK_EQ_INT(kk_state_create(model, NULL, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(model, NULL, &before), KK_OK);
    KK_CHECK_EQ_INT(kk_recording_get_key(recording, 0, state, &key, &error), KK_CORRUPT);
    KK_CHECK(error.text[0] != 0);
    KK_CHECK(kk_state_equal(state, before));
    kk_state_free(before);
    kk_state_free(state);
}

static void check_recording(const char *version, const char *name, const kk_model *model) {
    char path[PATH_SIZE];
    kk_error error = {0};
    kk_recording *recording = NULL;
    kk_table *log = NULL;
    snprintf(path, sizeof path, "%s/tests/compat/%s_%s.kkr", KK_SOURCE_DIR, version, name);
    KK_CHECK_EQ_INT(kk_recording_read_file(path, NULL, &recording, &error), KK_OK);
    snprintf(path, sizeof path, "%s/tests/compat/%s_%s.csv", KK_SOURCE_DIR, version, name);
    KK_CHECK_EQ_INT(kk_table_read_file(path, NULL, NULL, &log, &error), KK_OK);
    if (recording && log) {
        check_frames(recording, log);
        KK_CHECK(kk_recording_get_info(recording).model_hash == kk_model_hash(model)); // models are hashed as they were
        if (strcmp(version, FIRST) == 0) {
            check_keys_of_the_first_day(recording, model);
        } else {
            check_keys(path, recording, model);
        }
    }
    kk_table_free(log);
    kk_recording_free(recording);
}

KK_TEST(files_of_every_version_are_read) {
    static const char *const versions[] = {FIRST, "recording_2_state_1", "recording_2_state_2", "recording_3_state_3"};
    kk_model *swing = load("swing.urdf"), *fall = load("fall.xml");
    for (int i = 0; i < 4 && swing && fall; i++) {
        check_recording(versions[i], "swing", swing);
        check_recording(versions[i], "fall", fall);
    }
    kk_model_free(swing);
    kk_model_free(fall);
}

#endif
