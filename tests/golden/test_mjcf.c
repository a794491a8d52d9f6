/// What MJCF files give, against stored results of MuJoCo (tests/golden/mjcf, made by make_mjcf.py): counts, masses, names in their order,
/// and where everything stands at the start and at every keyframe.
#include <karakuri/dynamics.h>
#include <karakuri/load.h>

#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct golden_model {
    const char *name;
    struct {
        const char *path, *text;
    } file[3];
    const char *expected;
} golden_model;

#include "mjcf/models.inc"

enum { MOST_Q = 400 };

typedef struct reading {
    const golden_model *golden;
    kk_model *model;
    kk_data *data;
    int actuator, sensor, tendon, key; ///< lines of each seen so far; key counts poses, the first is the start
    int lines;
} reading;

static void check_counts(const reading *r, const char *rest) {
    const kk_model *m = r->model;
    char ours[200];
    snprintf(ours, sizeof ours, "%d %d %d %d %d %d", kk_model_nq(m), kk_model_nv(m), kk_model_nactuator(m),
             kk_model_nsensor(m), kk_model_ntendon(m), kk_model_nkeyframe(m));
    if (strcmp(ours, rest) != 0) {
        KK_FAIL("%s: nq nv nu nsensor ntendon nkey %s, not %s", r->golden->name, ours, rest);
    }
}

/// Mass, center of mass, and the sum of the principal moments.
static void check_body(const reading *r, const char *name, const char *rest) {
    const int id = kk_model_find_body(r->model, name);
    const kk_inertia I = id < 0 ? (kk_inertia){.mass = -1} : kk_model_body_inertia(r->model, id);
    const double ours[5] = {I.mass, I.com.x, I.com.y, I.com.z, I.moment.xx + I.moment.yy + I.moment.zz};
    char *end = (char *)rest;
    for (int i = 0; i < 5; i++) {
        const double wanted = strtod(end, &end);
        if (!(fabs(ours[i] - wanted) <= 1e-7 * (fabs(wanted) + (i > 0 ? 1e-3 : 0)))) { // meshes are in single precision
            KK_FAIL("%s: number %d of body %s is %.12g, not %.12g", r->golden->name, i, name, ours[i], wanted);
        }
    }
}

static void check_name(const reading *r, const char *kind, int number, const char *ours, const char *name) {
    const char *wanted = strcmp(name, "-") == 0 ? "" : name;
    if (strcmp(ours ? ours : "", wanted) != 0 && !(strcmp(kind, "tendon") == 0 && !wanted[0])) {
        KK_FAIL("%s: %s %d is '%s', not '%s'", r->golden->name, kind, number, ours ? ours : "", wanted);
    }
}

static void begin_pose(reading *r, const char *name) {
    static double start[MOST_Q];
    const double *q = start;
    if (r->key == 0) {
        kk_model_start(r->model, start);
    } else if (r->key <= kk_model_nkeyframe(r->model)) {
        const kk_keyframe_def key = kk_model_keyframe(r->model, r->key - 1);
        check_name(r, "keyframe", r->key, key.name, name);
        q = key.q;
    }
    r->key++;
    KK_CHECK_EQ_INT(kk_kinematics(r->model, r->data, q), KK_OK);
}

static void check_pose(const reading *r, const char *name, const char *rest) {
    const int id = kk_model_find_body(r->model, name);
    const kk_transform X = id < 0 ? kk_transform_identity() : kk_body_pose(r->model, r->data, id);
    const double ours[6] = {X.p.x, X.p.y, X.p.z, X.R.m[0], X.R.m[3], X.R.m[6]};
    char *end = (char *)rest;
    for (int i = 0; i < 6; i++) {
        const double wanted = strtod(end, &end);
        if (id < 0 || !(fabs(ours[i] - wanted) <= 1e-9)) {
            KK_FAIL("%s: body %s at pose %d: number %d is %.12g, not %.12g", r->golden->name, name, r->key - 1, i,
                    ours[i], wanted);
            return;
        }
    }
}

static void check_control(const reading *r, const char *rest) {
    char *end = (char *)rest;
    const kk_keyframe_def key = kk_model_keyframe(r->model, r->key - 2);
    for (int i = 0; i < kk_model_nactuator(r->model) && KK_CHECK(key.control != NULL); i++) {
        const double wanted = strtod(end, &end);
        if (!(fabs(key.control[i] - wanted) <= 1e-12)) {
            KK_FAIL("%s: control %d of keyframe %s is %g, not %g", r->golden->name, i, key.name, key.control[i],
                    wanted);
        }
    }
}

static void check_line(reading *r, char *line) {
    char *rest = strchr(line, ' ');
    char *last = rest ? strchr(rest + 1, ' ') : NULL;
    const kk_model *m = r->model;
    *rest++ = 0;
    r->lines++;
    if (strcmp(line, "counts") == 0) {
        check_counts(r, rest);
    } else if (strcmp(line, "control") == 0) {
        check_control(r, rest);
    } else if (strcmp(line, "actuator") == 0) {
        check_name(r, line, r->actuator, kk_model_actuator(m, r->actuator).name, rest);
        r->actuator++;
    } else if (strcmp(line, "sensor") == 0) {
        check_name(r, line, r->sensor, kk_model_sensor(m, r->sensor).name, rest);
        r->sensor++;
    } else if (strcmp(line, "tendon") == 0) {
        check_name(r, line, r->tendon, kk_model_tendon_name(m, r->tendon), rest);
        r->tendon++;
    } else if (strcmp(line, "pose") == 0) {
        begin_pose(r, rest);
    } else if (last) {
        *last++ = 0;
        (strcmp(line, "body") == 0 ? check_body : check_pose)(r, rest, last);
    }
}

static void check_lines(reading *r) {
    static char text[1 << 16];
    snprintf(text, sizeof text, "%s", r->golden->expected);
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        check_line(r, line);
    }
    KK_CHECK(r->lines > 5);
}

static void check_golden(const golden_model *golden) {
    kk_file file[3];
    kk_error error = {0};
    kk_spec *spec = NULL;
    reading r = {.golden = golden};
    int count = 0;
    for (; count < 3 && golden->file[count].path; count++) {
        file[count] = (kk_file){golden->file[count].path, golden->file[count].text, strlen(golden->file[count].text)};
    }
    const kk_load_options o = {.file = file, .file_count = count};
    kk_status status = kk_load_file(file[0].path, &o, NULL, &spec, NULL, &error);
    status = status ? status : kk_model_compile(spec, NULL, &r.model, &error);
    if (status == KK_OK && kk_data_create(r.model, NULL, &r.data) == KK_OK && kk_model_nq(r.model) <= MOST_Q) {
        check_lines(&r);
    } else {
        KK_FAIL("%s: %s:%d:%d %s", golden->name, error.file, error.line, error.column, error.text);
    }
    kk_data_free(r.data);
    kk_model_free(r.model);
    kk_spec_free(spec);
}

// a model in a model: whole, a body, a frame, itself, copied, nested; what refers to it comes along under its prefix, with its own angles,
// classes and keyframes; and copies of <replicate> stand in MuJoCo's order
KK_TEST(mjcf_models_are_those_of_mujoco) {
    for (size_t i = 0; i < sizeof golden_models / sizeof *golden_models; i++) {
        check_golden(&golden_models[i]);
    }
}
