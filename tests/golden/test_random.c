// A thousand random trees: forward dynamics as MuJoCo 4.0.1 has it (make_random.py). The models are texts drawn here, so what differs would be the reader's, the
// compiler's or the dynamics' fault; both engines read the same text.
//
// KK_RANDOM_MODELS=FOLDER writes the texts and the states there, for make_random.py, and checks nothing; KK_RANDOM_COUNT=100000 that many.
#include <karakuri/dynamics.h>
#include <karakuri/load.h>
#include <karakuri/random.h>
#include <karakuri/save.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#if !defined(__wasm__) && defined(KK_SOURCE_DIR)

enum { MODELS = 1000, MOST_BODIES = 7, TEXT = 1 << 14, MOST = 32 };

typedef struct text {
    char bytes[TEXT];
    size_t size;
} text;

#define PUT(t, ...) ((t)->size += (size_t)snprintf((t)->bytes + (t)->size, TEXT - (t)->size, __VA_ARGS__))

/// Three digits are exact enough to be the same number for every reader, and short.
static double draw(kk_random *r, double low, double high) {
    const double x = kk_random_next_between(r, low, high);
    return (double)(int64_t)(x * 1000) / 1000;
}

static void put_three(text *t, const char *name, kk_random *r, double low, double high) {
    const double x = draw(r, low, high), y = draw(r, low, high), z = draw(r, low, high);
    PUT(t, " %s='%.3f %.3f %.3f'", name, x, y, z);
}

/// An axis is never near zero: one of its components is large.
static void put_axis(text *t, kk_random *r) {
    const double x = draw(r, -1, 1), y = draw(r, -1, 1);
    PUT(t, " axis='%.3f %.3f %.3f'", x, y, draw(r, 0.5, 1));
}

static void put_joint(text *t, kk_random *r, const char *type, int has_axis) {
    PUT(t, "<joint type='%s'", type);
    if (has_axis) {
        put_axis(t, r);
    }
    put_three(t, "pos", r, -0.1, 0.1);
    PUT(t, " armature='%.3f'/>", draw(r, 0, 0.2));
}

static void put_joints(text *t, kk_random *r) {
    switch (kk_random_next_below(r, 5)) {
    case 0: put_joint(t, r, "ball", 0); break;
    case 1: put_joint(t, r, "slide", 1); break;
    case 2:
        put_joint(t, r, "slide", 1);
        put_joint(t, r, "hinge", 1);
        break;
    default: put_joint(t, r, "hinge", 1);
    }
}

/// Principal moments of a box, so that no triangle is broken.
static void put_inertia(text *t, kk_random *r) {
    const double x = draw(r, 0.05, 0.4), y = draw(r, 0.05, 0.4), z = draw(r, 0.05, 0.4), mass = draw(r, 0.1, 5);
    PUT(t, "<inertial mass='%.3f' diaginertia='%.6f %.6f %.6f'", mass, mass * (y * y + z * z), mass * (x * x + z * z),
        mass * (x * x + y * y));
    put_three(t, "pos", r, -0.2, 0.2);
    put_three(t, "euler", r, -3, 3);
    PUT(t, "/>");
}

static void put_body(text *t, kk_random *r, int *left) {
    PUT(t, "<body");
    put_three(t, "pos", r, -0.5, 0.5);
    put_three(t, "euler", r, -3, 3);
    PUT(t, ">");
    put_joints(t, r);
    put_inertia(t, r);
    for (int children = 0; *left > 0 && children < 2 && kk_random_next_below(r, 3); children++) {
        (*left)--;
        put_body(t, r, left);
    }
    PUT(t, "</body>\n");
}

static void write_model(int number, text *t) {
    kk_random r = {.seed = 22, .stream = (uint64_t)number};
    int left = (int)kk_random_next_below(&r, MOST_BODIES);
    t->size = 0;
    PUT(t, "<mujoco><compiler angle='radian'/><option");
    put_three(t, "gravity", &r, -10, 10);
    PUT(t, "><flag constraint='disable' contact='disable'/></option><worldbody>\n");
    do {
        put_body(t, &r, &left);
    } while (left-- > 0);
    PUT(t, "</worldbody></mujoco>\n");
}

static kk_model *compile(const text *t) {
    const kk_file file = {"random.xml", t->bytes, t->size};
    const kk_load_options options = {.file = &file, .file_count = 1};
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_error error = {0};
    if (kk_load_file("random.xml", &options, NULL, &spec, NULL, &error) != KK_OK ||
        kk_model_compile(spec, NULL, &model, &error) != KK_OK) {
        KK_FAIL("%s\n%s", error.text, t->bytes);
    }
    kk_spec_free(spec);
    return model;
}

/// [nq], [nv], [nv]: where it is, how it moves, what drives it.
static void draw_state(const kk_model *m, int number, double *q, double *v, double *tau) {
    kk_random r = {.seed = 23, .stream = (uint64_t)number};
    kk_model_random_q(m, 24, (uint64_t)number, q);
    for (int k = 0; k < kk_model_nv(m); k++) {
        v[k] = draw(&r, -3, 3);
        tau[k] = draw(&r, -5, 5);
    }
}

static void save_model(const char *folder, int number, const text *t, const kk_model *m) {
    char path[1024];
    text state = {.size = 0};
    double q[MOST], v[MOST], tau[MOST];
    draw_state(m, number, q, v, tau);
    for (int k = 0; k < kk_model_nq(m); k++) {
        PUT(&state, "%.17g ", q[k]);
    }
    for (int k = 0; k < kk_model_nv(m); k++) {
        PUT(&state, "%.17g %.17g ", v[k], tau[k]);
    }
    snprintf(path, sizeof path, "%s/%d.xml", folder, number);
    KK_CHECK_EQ_INT(kk_file_write(path, t->bytes, t->size, NULL), KK_OK);
    snprintf(path, sizeof path, "%s/%d.txt", folder, number);
    KK_CHECK_EQ_INT(kk_file_write(path, state.bytes, state.size, NULL), KK_OK);
}

/// Accelerations against those of the file, relative to the largest of them.
static int check_model(const kk_model *m, int number, FILE *golden) {
    double q[MOST], v[MOST], tau[MOST], a[MOST], other[MOST], most = 1;
    const int nv = kk_model_nv(m);
    kk_data *data = NULL;
    draw_state(m, number, q, v, tau);
    KK_CHECK_EQ_INT(kk_data_create(m, NULL, &data), KK_OK);
    KK_CHECK_EQ_INT(kk_forward_dynamics(m, data, q, v, tau, a), KK_OK);
    kk_data_free(data);
    if (!KK_CHECK_EQ_INT(fread(other, sizeof *other, (size_t)nv, golden), nv)) {
        return 0;
    }
    for (int k = 0; k < nv; k++) {
        const double size = other[k] < 0 ? -other[k] : other[k];
        most = size > most ? size : most;
    }
    int good = 1;
    for (int k = 0; k < nv; k++) {
        good &= KK_CHECK_NEAR(a[k] / most, other[k] / most, 1e-9);
    }
    if (!good) {
        KK_FAIL("model %d", number);
    }
    return good;
}

KK_TEST(random_models_move_as_those_of_mujoco) {
    const char *folder = getenv("KK_RANDOM_MODELS"), *count = getenv("KK_RANDOM_COUNT"),
               *path = getenv("KK_RANDOM_GOLDEN");
    FILE *golden = folder ? NULL : fopen(path ? path : KK_SOURCE_DIR "/tests/golden/random_models.bin", "rb");
    static text t;
    int checked = 0;
    KK_CHECK(folder || golden);
    for (int i = 0; i < (count ? atoi(count) : MODELS) && (folder || golden); i++) {
        write_model(i, &t);
        kk_model *m = compile(&t);
        if (!m || !KK_CHECK(kk_model_nq(m) <= MOST)) {
            break;
        }
        if (folder) {
            save_model(folder, i, &t, m);
        } else if (!check_model(m, i, golden)) {
            kk_model_free(m);
            break;
        }
        checked++;
        kk_model_free(m);
    }
    KK_CHECK_EQ_INT(checked, count ? atoi(count) : MODELS);
    if (golden) {
        fclose(golden);
    }
}

#endif
