// karakuri ik MODEL --frame F --pose …: joint angles that bring a frame to a pose; or how often that works.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "columns.h"
#include "load.h"
#include "shared_options.h"
#include "suggest.h"

typedef struct ik_options {
    const char *model, *frame, *pose, *out, *keyframe;
    int64_t tries, trials, seed;
    double tolerance;
    bool position_only, free_base;
} ik_options;

static const ik_options defaults = {.tries = 100, .tolerance = 1e-9};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(ik_options),
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "frame",
     .letter = 'f',
     .kind = CLI_TEXT,
     .is_required = true,
     .offset = offsetof(ik_options, frame),
     .value = "FRAME",
     .about = "frame or link to bring there"},
    {.name = "pose",
     .letter = 'p',
     .kind = CLI_TEXT,
     .offset = offsetof(ik_options, pose),
     .value = "X,Y,Z[,R,P,Y]",
     .about = "where to, in m and rad, in the world; without angles its direction is free"},
    OPTION_KEYFRAME(ik_options, "posture to start from; without it every joint at zero"),
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .offset = offsetof(ik_options, out),
     .value = "FILE.csv",
     .about = "CSV table to write: one row with all coordinates"},
    {.name = "free-base",
     .kind = CLI_FLAG,
     .offset = offsetof(ik_options, free_base),
     .about = "let a free base move, too; without it it stays"},
    {.name = "position-only",
     .kind = CLI_FLAG,
     .offset = offsetof(ik_options, position_only),
     .about = "with --trials: leave the direction free"},
    {.name = "tolerance",
     .kind = CLI_NUMBER,
     .offset = offsetof(ik_options, tolerance),
     .value = "E",
     .low = 1e-13,
     .high = 1,
     .about = "largest error in m and rad (default 1e-9)"},
    {.name = "tries",
     .kind = CLI_COUNT,
     .offset = offsetof(ik_options, tries),
     .value = "N",
     .low = 1,
     .high = 1e6,
     .about = "starts before it gives up: the first posture, then random ones (default 100)"},
    {.name = "trials",
     .kind = CLI_COUNT,
     .offset = offsetof(ik_options, trials),
     .value = "N",
     .low = 1,
     .high = 1e8,
     .about = "instead of one pose: so many poses of random postures, from random starts, and how many are reached"},
    OPTION_SEED(ik_options, "of those (default 0)"),
    {.name = NULL},
};

typedef struct job {
    cli *c;
    const ik_options *o;
    cli_model m;
    kk_ik *ik;
    kk_ik_task task;
    unsigned char *fixed;
    double *q, *goal;
} job;

// ---- making ready

static int find_frame(job *j) {
    const kk_model *m = j->m.model;
    j->task = kk_ik_task_default();
    j->task.frame = kk_model_find_frame(m, j->o->frame);
    j->task.body = j->task.frame < 0 ? kk_model_find_body(m, j->o->frame) : 0;
    if (j->task.frame >= 0 || j->task.body > 0) {
        return 0;
    }
    suggestion near = suggest_begin(j->o->frame);
    for (int i = 0; i < kk_model_nframe(m); i++) {
        suggest_word(&near, kk_model_frame_name(m, i));
    }
    for (int i = 1; i < kk_model_nbody(m); i++) {
        suggest_word(&near, kk_model_body_name(m, i));
    }
    return cli_fail(j->c, CLI_EXIT_INPUT,
                    near.best ? "there is no frame or link '%s' — did you mean '%s'?"
                              : "there is no frame or link '%s'",
                    j->o->frame, near.best);
}

static int read_pose(job *j) {
    double x[6] = {0};
    int count = 0;
    const char *at = j->o->pose;
    for (; count < 6; count++) {
        size_t used = 0;
        if (kk_number_parse(at, strlen(at), &x[count], &used) != KK_OK || used == 0) {
            break;
        }
        at += used;
        if (*at != ',') {
            count++;
            break;
        }
        at++;
    }
    if (*at || (count != 3 && count != 6)) {
        return cli_fail(j->c, CLI_EXIT_USAGE, "--pose %s is not x,y,z or x,y,z,roll,pitch,yaw", j->o->pose);
    }
    j->task.goal = kk_transform_make(kk_mat3_from_rpy(x[3], x[4], x[5]), kk_vec3_make(x[0], x[1], x[2]));
    if (count == 3) {
        j->task.weight[0] = j->task.weight[1] = j->task.weight[2] = 0;
    }
    return 0;
}

static int make_ready(job *j) {
    const kk_model *m = j->m.model;
    const size_t nq = (size_t)kk_model_nq(m), nv = (size_t)kk_model_nv(m);
    int code = find_frame(j);
    kk_error error = {0};
    error.status = code ? KK_OK : kk_ik_create(m, 1, NULL, &j->ik);
    j->q = cli_allocate(nq + 1, sizeof *j->q);
    j->goal = cli_allocate(nq + 1, sizeof *j->goal);
    j->fixed = cli_allocate(nv + 1, 1);
    for (int b = 1; b < kk_model_nbody(m) && !j->o->free_base; b++) {
        const kk_joint_info joint = kk_model_joint(m, b);
        if (joint.type == KK_JOINT_FREE) {
            memset(j->fixed + joint.v_index, 1, 6);
        }
    }
    kk_model_neutral(m, j->q);
    int key = -1;
    code = code ? code : load_keyframe(j->c, m, j->o->keyframe, &key);
    if (key >= 0) {
        memcpy(j->q, kk_model_keyframe(m, key).q, nq * sizeof *j->q);
    }
    return code ? code : error.status ? cli_fail_error(j->c, &error) : 0;
}

// ---- one pose

static int write_row(job *j) {
    kk_error error = {0};
    kk_table_writer *writer = NULL;
    column_list columns = {0};
    columns_of_joints(j->m.model, COLUMN_Q, "q", &columns);
    error.status = kk_table_writer_open(j->o->out, columns.item, columns.count, NULL, NULL, &writer, &error);
    if (!error.status) {
        error.status = kk_table_writer_add(writer, j->q, &error);
        const kk_status closed = kk_table_writer_close(writer, error.status ? NULL : &error);
        error.status = error.status ? error.status : closed;
    }
    columns_free(&columns);
    return error.status ? cli_fail_error(j->c, &error) : 0;
}

static int tell_pose(job *j, const kk_ik_report *r) {
    column_list columns = {0};
    columns_of_joints(j->m.model, COLUMN_Q, "q", &columns);
    if (j->c->common.json) {
        json_writer json = {0};
        cli_begin_verdict(j->c, &json, r->is_reached);
        json_bool(&json, "reached", r->is_reached);
        json_number(&json, "error", r->error[0]);
        json_integer(&json, "iterations", r->iterations);
        json_integer(&json, "tries", r->tries);
        json_begin_object(&json, "q");
        for (int i = 0; i < columns.count; i++) {
            json_number(&json, columns.item[i].name, j->q[i]);
        }
        json_end(&json);
        cli_end_document(j->c, &json);
        json_free(&json);
    } else {
        cli_text out = {0};
        for (int i = 0; i < columns.count; i++) {
            text_format(&out, "%-32s %12.6f %s\n", columns.item[i].name, j->q[i],
                        columns.item[i].unit ? columns.item[i].unit : "");
        }
        text_format(&out, "%s: error %.2g, %d iterations, %d start%s\n", r->is_reached ? "reached" : "not reached",
                    r->error[0], r->iterations, r->tries, r->tries == 1 ? "" : "s");
        cli_print(j->c, &out);
    }
    columns_free(&columns);
    return r->is_reached ? CLI_EXIT_OK : CLI_EXIT_FINDING;
}

static int solve_pose(job *j) {
    kk_ik_report r = {0};
    const kk_ik_options o = {
        .tolerance = j->o->tolerance, .max_tries = (int)j->o->tries, .seed = (uint64_t)j->o->seed, .fixed = j->fixed};
    int code = read_pose(j);
    if (code) {
        return code;
    }
    (void)kk_ik_solve(j->m.model, j->ik, &j->task, 1, &o, j->q, &r, NULL);
    code = j->o->out ? write_row(j) : 0;
    return code ? code : tell_pose(j, &r);
}

// ---- many poses

/// The pose of a random posture, and another random posture to start from; a base that stays is left alone.
static void draw(job *j, int64_t i, double *q) {
    const kk_model *m = j->m.model;
    const uint64_t stream = (uint64_t)i;
    kk_model_random_q(m, 2 * (uint64_t)j->o->seed, stream, j->goal);
    kk_model_random_q(m, 2 * (uint64_t)j->o->seed + 1, stream, q);
    for (int b = 1; b < kk_model_nbody(m); b++) {
        const kk_joint_info joint = kk_model_joint(m, b);
        if (joint.nv > 0 && j->fixed[joint.v_index]) {
            memcpy(j->goal + joint.q_index, j->q + joint.q_index, (size_t)joint.nq * sizeof *q);
            memcpy(q + joint.q_index, j->q + joint.q_index, (size_t)joint.nq * sizeof *q);
        }
    }
    // couplings kept and loops closed, so that it is a posture that the mechanism has
    const kk_ik_options o = {.max_tries = (int)j->o->tries, .seed = stream, .fixed = j->fixed};
    (void)kk_ik_solve(m, j->ik, NULL, 0, &o, j->goal, NULL, NULL);
    kk_kinematics(m, j->m.data, j->goal);
    j->task.goal =
        j->task.frame >= 0 ? kk_frame_pose(m, j->m.data, j->task.frame) : kk_body_pose(m, j->m.data, j->task.body);
}

static int measure(job *j) {
    double *q = cli_allocate((size_t)kk_model_nq(j->m.model) + 1, sizeof *q);
    int64_t reached = 0, at_once = 0, iterations = 0;
    cli_progress progress = {0};
    for (int k = 0; k < 3 && j->o->position_only; k++) {
        j->task.weight[k] = 0;
    }
    const double start = cli_now();
    for (int64_t i = 0; i < j->o->trials; i++) {
        kk_ik_report r = {0};
        draw(j, i, q);
        const kk_ik_options o = {
            .tolerance = j->o->tolerance, .max_tries = (int)j->o->tries, .seed = (uint64_t)i, .fixed = j->fixed};
        (void)kk_ik_solve(j->m.model, j->ik, &j->task, 1, &o, q, &r, NULL);
        reached += r.is_reached;
        at_once += r.is_reached && r.tries == 1;
        iterations += r.iterations;
        cli_progress_show(j->c, &progress, "solving", (size_t)i, (size_t)j->o->trials);
    }
    const double us = 1e6 * (cli_now() - start) / (double)j->o->trials, n = (double)j->o->trials;
    cli_progress_show(j->c, &progress, "solving", (size_t)j->o->trials, (size_t)j->o->trials);
    free(q);
    const bool is_good = (double)reached >= 0.999 * n;
    if (j->c->common.json) {
        json_writer json = {0};
        cli_begin_verdict(j->c, &json, is_good);
        json_integer(&json, "trials", j->o->trials);
        json_integer(&json, "reached", reached);
        json_integer(&json, "at_once", at_once);
        json_number(&json, "iterations", (double)iterations / n);
        json_number(&json, "microseconds", us);
        cli_end_document(j->c, &json);
        json_free(&json);
    } else {
        cli_text out = {0};
        text_format(
            &out,
            "%lld of %lld reached (%.3f %%), %.1f %% from the first start; %.1f iterations and %.0f µs in the mean\n",
            (long long)reached, (long long)j->o->trials, 100 * (double)reached / n, 100 * (double)at_once / n,
            (double)iterations / n, us);
        cli_print(j->c, &out);
    }
    return is_good ? CLI_EXIT_OK : CLI_EXIT_FINDING;
}

// ---- the verb

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options};
    if (!j.o->pose == !j.o->trials) {
        return cli_fail(c, CLI_EXIT_USAGE, "give either --pose X,Y,Z[,R,P,Y] or --trials N");
    }
    int code = load_model(c, j.o->model, &j.m);
    if (code) {
        return code;
    }
    code = make_ready(&j);
    code = code ? code : j.o->trials ? measure(&j) : solve_pose(&j);
    kk_ik_free(j.ik);
    free(j.q);
    free(j.goal);
    free(j.fixed);
    unload_model(&j.m);
    return code;
}

static const char *const details[] = {
    "Levenberg-Marquardt with Sugihara's damping, within the joint limits, with couplings kept and loops closed. A "
    "pose that is not reached from the first "
    "posture is tried from "
    "random ones. The exit code is 1 where it is not reached, and with --trials where less than 99.9 % are.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri ik robot:arm7 --frame flange --pose 0.4,0.1,0.5,3.14,0,0", "joint angles for a pose"},
    {"karakuri ik models/hrp2/hrp2.xml --frame left_sole --trials 10000",
     "how often random poses of a leg are reached"},
    {NULL, NULL},
};

const cli_verb cli_verb_ik = {
    .name = "ik",
    .about = "find joint angles that bring a frame to a pose",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(ik_options),
    .defaults = &defaults,
    .run = run,
};
