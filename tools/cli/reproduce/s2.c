// S2, Z-DYNAFORM: a humanoid of 34 links steps from one foot to the other; center of mass and zero-moment point by pinned inverse dynamics.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../walker.h"
#include "runner.h"

enum { FEET = 2 };
static const double RATE = 100; // frames a second

// ---- the motion

/// Two steps in place within about 2 s, from the walking pattern generator.
static kk_walk *make_walk(study *s, const cli_model *m) {
    kk_walk *walk = NULL;
    kk_error error = {0};
    const int key = kk_model_find_keyframe(m->model, "half_sitting");
    kk_walk_options o = {.posture = key < 0 ? NULL : kk_model_keyframe(m->model, key).q,
                         .timestep = 1 / RATE,
                         .step_time = 0.7,
                         .double_support = 0.15,
                         .start = 0.3,
                         .end = 0.3};
    o.sole[KK_LEFT] = kk_model_find_frame(m->model, "left_sole");
    o.sole[KK_RIGHT] = kk_model_find_frame(m->model, "right_sole");
    const kk_stride strides[2] = {{0.08, 0, 0}, {0.08, 0, 0}};
    kk_footstep steps[2];
    kk_kinematics(m->model, m->data, o.posture);
    const double width =
        kk_frame_pose(m->model, m->data, o.sole[KK_LEFT]).p.y - kk_frame_pose(m->model, m->data, o.sole[KK_RIGHT]).p.y;
    kk_footsteps_from_strides(strides, 2, KK_RIGHT, width, steps);
    study_ok(s, kk_walk_create(m->model, &o, steps, 2, NULL, &walk, &error), &error);
    return walk;
}

static kk_sequence *make_sequence(study *s, const cli_model *m, const kk_walk *walk) {
    const int n = kk_walk_frame_count(walk), nq = kk_model_nq(m->model);
    double *time = cli_allocate((size_t)n, sizeof *time), *value = cli_allocate((size_t)n * (size_t)nq, sizeof *value);
    kk_sequence *sequence = NULL;
    kk_error error = {0};
    for (int i = 0; i < n; i++) {
        const kk_walk_frame f = kk_walk_frame_at(walk, i);
        time[i] = i * kk_walk_timestep(walk);
        memcpy(value + (size_t)i * (size_t)nq, f.q, (size_t)nq * sizeof *value);
    }
    const kk_sequence_def def = {.model = m->model,
                                 .interpolation = KK_INTERPOLATE_QUINTIC,
                                 .count = n,
                                 .width = nq,
                                 .time = time,
                                 .value = value};
    study_ok(s, kk_sequence_create(&def, NULL, &sequence, &error), &error);
    free(time);
    free(value);
    return sequence;
}

/// Stands on the foot that bears more; it changes while both do, when neither moves.
static int make_schedule(const cli_model *m, const kk_walk *walk, kk_support *plan, int room) {
    const int foot[FEET] = {kk_model_frame_body(m->model, kk_model_find_frame(m->model, "left_sole")),
                            kk_model_frame_body(m->model, kk_model_find_frame(m->model, "right_sole"))};
    int count = 0, now = -1;
    for (int i = 0; i < kk_walk_frame_count(walk); i++) {
        const kk_walk_frame f = kk_walk_frame_at(walk, i);
        const int other = now < 0 ? KK_LEFT : 1 - now;
        if (now < 0 || f.load[now] < f.load[other] - 1e-9) {
            now = now < 0 ? f.load[KK_RIGHT] > f.load[KK_LEFT] : other;
            if (count < room) {
                plan[count++] = (kk_support){i * kk_walk_timestep(walk), foot[now], foot[1 - now]};
            }
        }
    }
    return count;
}

// ---- memory that is counted

static void *count_allocate(void *user, size_t size, size_t alignment) {
    *(int *)user += 1;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void count_release(void *user, void *block, size_t size) {
    (void)user;
    (void)size;
    free(block);
}

// ---- snapshots

static void draw_robot(cli_text *svg, const kk_model *m, const kk_data *data, double right) {
    // from the front and a little aside, 1.5 m in 300 pixels
    const kk_camera c =
        kk_camera_parallel(kk_vec3_make(0, 0, 0.75), kk_vec3_make(-0.4, -1, -0.1), kk_vec3_make(0, 0, 1), 1.5, 0, 300);
    for (int b = 1; b < kk_model_nbody(m); b++) {
        const int parent = kk_model_body_parent(m, b);
        kk_vec3 end[2];
        if (kk_project_line(&c, kk_body_pose(m, data, parent > 0 ? parent : b).p, kk_body_pose(m, data, b).p, end)) {
            text_format(svg, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                        strstr(kk_model_body_name(m, b), "left") ? "l" : "r", right + end[0].x, end[0].y,
                        right + end[1].x, end[1].y);
        }
    }
}

static void begin_snapshots(cli_text *svg) {
    text_add(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 330\" width=\"900\" height=\"330\" "
                  "role=\"img\"><style>"
                  "svg { background: #ffffff; color: #1f2328; } line { stroke: currentColor; stroke-width: 4; "
                  "stroke-linecap: round; } "
                  ".l { stroke: #0969da; } .f { stroke-width: 1; } circle { fill: #cf5a00; } "
                  "@media (prefers-color-scheme: dark) { svg { background: #0d1117; color: #e6edf3; } .l { stroke: "
                  "#58a6ff; } circle { fill: #ff9b57; } }"
                  "</style>\n<line class=\"f\" x1=\"0\" y1=\"300\" x2=\"900\" y2=\"300\"/>\n");
}

// ---- the study

typedef struct figures {
    double base_error, zmp_error, weight_error, least_margin, jump, seconds;
    int frames, changes, allocations;
} figures;

static double distance(kk_vec3 a, kk_vec3 b) {
    return kk_vec3_norm(kk_vec3_sub(a, b));
}

static void take_frame(study *s, const cli_model *m, const kk_walk *walk, const kk_analysis_frame *f, int i,
                       int panels[3], figures *x) {
    const kk_walk_frame w = kk_walk_frame_at(walk, i);
    const int base = kk_model_joint(m->model, 1).q_index;
    const kk_vec3 p = kk_vec3_make(f->q[base + 4], f->q[base + 5], f->q[base + 6]);
    x->base_error = exam_max(x->base_error, distance(p, kk_vec3_make(w.q[base + 4], w.q[base + 5], w.q[base + 6])));
    x->zmp_error = exam_max(x->zmp_error, fabs(f->zmp.x - w.zmp.x) + fabs(f->zmp.y - w.zmp.y));
    x->least_margin = f->margin < x->least_margin ? f->margin : x->least_margin;
    const double t = f->time;
    exam_point(&s->exam, panels[0], "center of mass", t, f->com.x);
    exam_point(&s->exam, panels[0], "zero-moment point", t, f->zmp.x);
    exam_point(&s->exam, panels[0], "reference, planned", t, w.zmp.x);
    exam_point(&s->exam, panels[1], "center of mass", t, f->com.y);
    exam_point(&s->exam, panels[1], "zero-moment point", t, f->zmp.y);
    exam_point(&s->exam, panels[1], "reference, planned", t, w.zmp.y);
    exam_point(&s->exam, panels[2], "floor", t, f->floor.linear.z);
}

static void analyze(study *s, const cli_model *m, const kk_walk *walk, const kk_sequence *sequence, figures *x) {
    enum { PLAN = 16, SHOTS = 6 };
    kk_support plan[PLAN];
    int allocations = 0, panels[3];
    kk_error error = {0};
    const kk_allocator counted = {count_allocate, count_release, &allocations};
    const int changes = make_schedule(m, walk, plan, PLAN);
    const kk_analysis_def def = {.support = plan, .support_count = changes};
    kk_analysis *analysis = NULL;
    if (!study_ok(s, kk_analysis_create(m->model, &def, &counted, &analysis, &error), &error)) {
        return;
    }
    panels[0] = exam_plot(&s->exam, "forwards", "time / s", "x / m", false);
    panels[1] = exam_plot(&s->exam, "sideways", "time / s", "y / m", false);
    panels[2] = exam_plot(&s->exam, "vertical force of the floor", "time / s", "force / N", false);
    cli_text *svg = study_draw(s, "s2_snapshots", "snapshots of the motion, one every third of a second");
    begin_snapshots(svg);
    *x = (figures){.least_margin = INFINITY, .changes = changes, .frames = kk_walk_frame_count(walk)};
    const int before = allocations;
    kk_analysis_frame f;
    bool is_good = true;
    for (int i = 0; i < x->frames && is_good; i++) {
        is_good = study_ok(s, kk_analysis_add_sequence(analysis, sequence, i / RATE, &f, &error), &error);
        if (is_good) {
            take_frame(s, m, walk, &f, i, panels, x);
            if (i % (x->frames / SHOTS) == 0) {
                draw_robot(svg, m->model, kk_analysis_data(analysis), 80 + 740.0 * i / x->frames);
            }
        }
    }
    text_add(svg, "</svg>\n");
    x->allocations = allocations - before;
    // again, for its time alone: the least of many
    x->seconds = INFINITY;
    for (int round = 0; round < 20 && is_good; round++) {
        kk_analysis_reset(analysis);
        const double start = cli_now();
        for (int i = 0; i < x->frames; i++) {
            kk_analysis_add_sequence(analysis, sequence, i / RATE, &f, &error);
        }
        const double taken = cli_now() - start;
        x->seconds = taken < x->seconds ? taken : x->seconds;
    }
    kk_analysis_free(analysis);
}

static void run_steps(study *s) {
    cli_model m;
    figures x = {0};
    if (!study_load(s, "h6/h6.xml", &m)) {
        return;
    }
    kk_walk *walk = make_walk(s, &m);
    kk_sequence *sequence = walk ? make_sequence(s, &m, walk) : NULL;
    if (sequence) {
        analyze(s, &m, walk, sequence, &x);
        const double us = x.seconds / x.frames * 1e6;
        study_at_least(s, "links", "34", kk_model_nbody(m.model) - 1, "", 34);
        study_at_least(s, "changes of the support foot", "one", x.changes - 1, "", 1);
        study_at_most(s, "base found from the pinned foot against the motion's own, through the changes", "no jump",
                      x.base_error, "m", 1e-6);
        study_at_most(s, "zero-moment point against the planned one", "", x.zmp_error, "m", 1e-3);
        study_at_least(s, "frames of 10 ms", "about 200", x.frames, "", 200);
        study_at_least(s, "least margin of the zero-moment point in the support polygon", "", x.least_margin, "m", 0);
        study_at_most(s, "time a frame", "900 µs (Celeron, 300 MHz)", us, "µs", 20);
        study_at_most(s, "allocations in all frames", "", x.allocations, "", 0);
        study_note(s,
                   "%d frames of 10 ms; a frame is sampling the sequence, inverse dynamics with the foot pinned, power "
                   "and work of every joint, and the support "
                   "polygon. Tables of torque and power come from karakuri analyze.",
                   x.frames);
    }
    kk_sequence_free(sequence);
    kk_walk_free(walk);
    unload_model(&m);
}

// ---- beside the robot: an observer in the loop

enum { NINETEEN = 19 };

typedef struct observed {
    exam *e;
    int panel, count;
} observed;

static void watch_observed(void *user, const walker_moment *m) {
    observed *o = user;
    if (o->count++ % 20 == 0) {
        exam_point(o->e, o->panel, "true", m->time, m->com.y);
        exam_point(o->e, o->panel, "reference, planned", m->time, m->plan.com.y);
    }
}

static void run_observer(study *s) {
    cli_model m;
    kk_error error = {0};
    kk_footstep steps[NINETEEN];
    walker_result *r = cli_allocate(1, sizeof *r);
    observed o = {.e = &s->exam};
    o.panel = exam_plot(&s->exam, "center of mass, sideways, of a walk by its own sensors", "time / s", "y / m", false);
    walker_options w = {.is_stabilized = true, .is_observed = true, .noise = WALKER_USUAL_NOISE};
    w.walk = (kk_walk_options){.width = 0.19, .timestep = 0.001, .start = 1.45, .end = s->quick ? 0.5 : 1.45};
    w.watch = watch_observed;
    w.user = &o;
    w.shows_progress = true;
    walker_nineteen(0.19, steps);
    if (study_load(s, "hrp2/hrp2_bush.xml", &m)) {
        if (study_ok(s, walker_run(s->c, m.model, &w, steps, s->quick ? 5 : NINETEEN, r, &error), &error)) {
            study_fact(s, "the walk on rubber bushes, its stabilizer listening to the observer alone", "",
                       r->fell ? "falls" : "completes", "completes", !r->fell);
            study_at_most(s, "center of mass against the true one, largest error", "", 1e3 * r->com_error, "mm", 5);
            study_at_most(s, "zero-moment point against the true one, root mean square", "", 1e3 * r->zmp_observed,
                          "mm", 5);
            study_at_most(s, "torques of all driven joints, root mean square of the error", "", r->torque_error, "N m",
                          15);
            study_at_most(s, "time of a call, 99.99 % of them", "0.9 ms a frame (Celeron, 300 MHz)",
                          1e6 * r->observer_time[1], "µs", 100);
            study_note(s,
                       "White noise: encoders 1e-4 rad, gyro 0.01 rad/s, accelerometer 0.05 m/s², force sensors 2 %% "
                       "of each component. The rubber has no encoders. A call takes %.1f µs in the median; it has no "
                       "iteration and allocates nothing. Of three observers with the same input the fastest is "
                       "counted, because interrupts of the machine are none of the call's.",
                       1e6 * r->observer_time[0]);
            study_note(s, "The library was meant to run on the robot's own computer as an observer (2, ii); the paper "
                          "shows no such run.");
        }
        unload_model(&m);
    }
    free(r);
}

const study_def studies_s2[] = {
    {.seed = "s2",
     .name = "s2_steps",
     .title = "S2: a humanoid steps from foot to foot",
     .paper = "H6, 34 links, about 2 s at 10 ms with a change of the support foot: center of mass and zero-moment "
              "point over time, snapshots. 0.18 s of computing "
              "for 200 frames on a 300 MHz Celeron, 0.9 ms a frame.",
     .is_quick = true,
     .run = run_steps},
    {.seed = "s2",
     .name = "s2_observer",
     .title = "S2 2: beside the robot, as an observer",
     .paper = "A light engine of which the real robot can make use as an observer while it is controlled.",
     .is_quick = true,
     .run = run_observer},
    {.name = NULL},
};
