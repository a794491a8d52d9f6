/// MJCF → spec → MJCF → spec keeps kinematics and inertia: the whole corpus, and robots of others.
#define _DEFAULT_SOURCE // opendir, readdir
#include <dirent.h>

#include <karakuri/save.h>

#include "mjcf_support.h"

enum { MOST = 200 };

static double distance(kk_transform a, kk_transform b) {
    double worst = kk_vec3_norm(kk_vec3_sub(a.p, b.p)) / (1 + kk_vec3_norm(a.p));
    for (int i = 0; i < 9; i++) {
        const double e = __builtin_fabs(a.R.m[i] - b.R.m[i]);
        worst = e > worst ? e : worst;
    }
    return worst;
}

static void compare_motion(const robot *a, const robot *b, const char *name) {
    static double q[MOST], Ma[MOST * MOST], Mb[MOST * MOST];
    const int nv = kk_model_nv(a->model);
    for (uint64_t k = 0; k < 3; k++) {
        double pose = 0, mass = 0, scale = 1e-300;
        kk_model_random_q(a->model, 7, k, q);
        kk_kinematics(a->model, a->data, q);
        kk_kinematics(b->model, b->data, q);
        for (int i = 0; i < kk_model_nbody(a->model); i++) {
            const char *body = kk_model_body_name(a->model, i);
            if (strchr(body, '/')) {
                continue; // links of chains carry nothing, and stand where the joints' references put them
            }
            const int j = kk_model_find_body(b->model, body);
            const double d = distance(kk_body_pose(a->model, a->data, i), kk_body_pose(b->model, b->data, j));
            pose = d > pose ? d : pose;
        }
        kk_inertia_matrix(a->model, a->data, q, Ma);
        kk_inertia_matrix(b->model, b->data, q, Mb);
        for (int i = 0; i < nv * nv; i++) {
            const double e = __builtin_fabs(Ma[i] - Mb[i]), s = __builtin_fabs(Ma[i]);
            mass = e > mass ? e : mass;
            scale = s > scale ? s : scale;
        }
        if (!(pose <= 1e-12) || !(mass <= 1e-12 * scale)) {
            KK_FAIL("%s: poses differ by %.1e, the inertia matrix by %.1e", name, pose, mass / scale);
        }
    }
}

static void compare_counts(const robot *a, const robot *b, const char *name) {
    const int x[] = {kk_model_nq(a->model),           kk_spec_shape_count(a->spec),    kk_spec_frame_count(a->spec),
                     kk_spec_loop_count(a->spec),     kk_spec_coupling_count(a->spec), kk_spec_tendon_count(a->spec),
                     kk_spec_actuator_count(a->spec), kk_spec_sensor_count(a->spec),   kk_spec_keyframe_count(a->spec),
                     kk_spec_pair_count(a->spec),     kk_spec_exclude_count(a->spec),  kk_spec_body_count(a->spec)};
    const int y[] = {kk_model_nq(b->model),           kk_spec_shape_count(b->spec),    kk_spec_frame_count(b->spec),
                     kk_spec_loop_count(b->spec),     kk_spec_coupling_count(b->spec), kk_spec_tendon_count(b->spec),
                     kk_spec_actuator_count(b->spec), kk_spec_sensor_count(b->spec),   kk_spec_keyframe_count(b->spec),
                     kk_spec_pair_count(b->spec),     kk_spec_exclude_count(b->spec),  kk_spec_body_count(b->spec)};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        if (x[i] != y[i]) {
            KK_FAIL("%s: count %d is %d, then %d", name, (int)i, x[i], y[i]);
        }
    }
    for (int i = 0; i < kk_spec_keyframe_count(a->spec) && i < kk_spec_keyframe_count(b->spec); i++) {
        const kk_keyframe_def *k = kk_spec_keyframe(a->spec, i), *l = kk_spec_keyframe(b->spec, i);
        for (int j = 0; j < k->q_count && j < l->q_count; j++) {
            KK_CHECK_NEAR(k->q[j], l->q[j], 1e-12);
        }
        for (int j = 0; j < k->v_count && j < l->v_count; j++) {
            KK_CHECK_NEAR(k->v[j], l->v[j], 1e-12);
        }
    }
}

/// Reads a written text, with the corpus's meshes in memory beside it.
static robot again(const char *text, size_t size) {
    static const char *const names[] = {"assets/wedge.obj", "assets/tetrahedron.stl"};
    static char bytes[2][4096];
    kk_file file[3] = {{"model.xml", text, size}};
    for (int i = 0; i < 2; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s", MJCF_FOLDER, names[i]);
        FILE *f = fopen(path, "rb");
        file[i + 1] = (kk_file){names[i], bytes[i], f ? fread(bytes[i], 1, sizeof bytes[i], f) : 0};
        if (f) {
            fclose(f);
        }
    }
    robot r = {0};
    const kk_load_options o = {.file = file, .file_count = 3};
    r.status = kk_load_file("model.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    return r;
}

static void round_trip(const char *path, const char *name) {
    robot a = robot_from_file(path, NULL), b = {0};
    char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    if (robot_is_good(&a, name) && kk_spec_write_mjcf(a.spec, NULL, NULL, &text, &size, &error) != KK_OK) {
        KK_FAIL("%s is not written: %s", name, error.text);
    }
    if (text) {
        b = again(text, size);
        if (robot_is_good(&b, name)) {
            compare_counts(&a, &b, name);
            compare_motion(&a, &b, name);
        } else {
            KK_FAIL("%s", text);
        }
        kk_text_free(NULL, text, size);
    }
    robot_free(&b);
    robot_free(&a);
}

KK_TEST(mjcf_round_trips_keep_the_model) {
    DIR *folder = opendir(MJCF_FOLDER);
    char names[300][80];
    int count = 0;
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && count < 300; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".xml")) {
            snprintf(names[count++], sizeof *names, "%.79s", entry->d_name);
        }
    }
    if (!folder) {
        KK_SKIP("no folder to read the corpus from");
    }
    closedir(folder);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%.79s", MJCF_FOLDER, names[i]);
        round_trip(path, names[i]);
    }
}
