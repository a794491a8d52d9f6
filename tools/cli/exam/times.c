// Row 44: the longest step beside the usual one. Each step is the least of three identical runs, in CPU time of the thread, so that what else
// the machine does is not counted; steps whose results stood from the step before are not computed, and do not make the median small.
#include <stdlib.h>
#include <string.h>

#include "../../../models/robots.h"
#include "motion.h"
#include "rows.h"
#include "solids.h"

static const kk_vec3 along_z = {0, 0, 1};
enum { RUNS = 3, BODIES = 60 };

typedef struct show {
    const char *name;
    void (*build)(scene *s);
    void (*start)(scene *s);
    void (*drive)(scene *s); ///< NULL: nothing acts
    bool is_heap;            ///< judged by the ninth tenth instead of the median
} show;

// ---- robots

static void add_robot(scene *s, const char *name) {
    kk_error error = {0};
    scene_floor(s, 0);
    if (!s->is_broken && robots_find(name)->build(s->spec, &error) != KK_OK) {
        scene_break(s, error.text);
    }
}

static void build_limp(scene *s) {
    add_robot(s, "humanoid36");
}

static void start_limp(scene *s) {
    kk_random random = {44, 0, 0};
    motion_fling(s, &random, 1);
    scene_place(s, 1, 0, 0, 1.2);
}

static void build_standing(scene *s) {
    add_robot(s, "quadruped");
    for (int i = 1; !s->is_broken && i < kk_spec_body_count(s->spec); i++) {
        const kk_body_def *body = kk_spec_body_const(s->spec, i);
        char joint[96];
        snprintf(joint, sizeof joint, "%s_joint", body->name);
        kk_actuator_def servo = kk_actuator_def_default();
        servo.type = KK_ACTUATOR_POSITION;
        servo.target = joint;
        servo.gain = 400;
        servo.bias[1] = -400;
        servo.bias[2] = -10;
        if (body->joint.type == KK_JOINT_HINGE) {
            scene_actuator(s, &servo);
        }
    }
}

static void start_standing(scene *s) {
    scene_place(s, 1, 0, 0, 0.7);
}

static void sway(scene *s) {
    for (int i = 0; !s->is_broken && i < kk_model_nactuator(s->model); i++) {
        s->control[i] = 0.1 * kk_sin(3 * scene_time(s) + i);
    }
}

// ---- a hand that lifts and shakes a box

static void add_finger(scene *s, int hand, double side) {
    kk_body_def def = kk_body_def_default();
    const char *const name = side < 0 ? "left" : "right";
    def.name = name;
    def.parent = hand;
    def.joint.name = name;
    def.joint.type = KK_JOINT_SLIDE;
    def.joint.axis = kk_vec3_make(-side, 0, 0);
    def.joint.placement.p = kk_vec3_make(0.06 * side, 0, -0.1);
    def.inertia = kk_inertia_solid_box(0.05, 0.01, 0.04, 0.08);
    const int finger = scene_body(s, &def);
    const kk_shape_def pad = scene_shape_def(KK_SHAPE_BOX, finger, 0.01, 0.04, 0.08, 0);
    scene_shape(s, &pad);
    kk_actuator_def motor = kk_actuator_def_default();
    motor.target = name;
    scene_actuator(s, &motor);
}

static void build_hand(scene *s) {
    kk_body_def def = kk_body_def_default();
    def.name = def.joint.name = "hand";
    def.joint.type = KK_JOINT_SLIDE;
    def.joint.axis = along_z;
    def.joint.placement.p = kk_vec3_make(0, 0, 0.15);
    def.inertia = kk_inertia_solid_box(1, 0.1, 0.1, 0.05);
    const int hand = scene_body(s, &def);
    kk_actuator_def lift = kk_actuator_def_default();
    lift.type = KK_ACTUATOR_POSITION;
    lift.target = "hand";
    lift.gain = 2000;
    lift.bias[1] = -2000;
    lift.bias[2] = -80;
    scene_actuator(s, &lift);
    add_finger(s, hand, -1);
    add_finger(s, hand, 1);
    scene_floor(s, 0);
    scene_box(s, 0.3, 0.05, 0.05, 0.1, 0);
}

static void start_hand(scene *s) {
    scene_place(s, 4, 0, 0, 0.05);
}

static void shake(scene *s) {
    const double t = scene_time(s);
    if (!s->is_broken) {
        s->control[0] = t < 0.5 ? 0 : 0.1 + 0.05 * kk_sin(6 * t);
        s->control[1] = s->control[2] = 20;
    }
}

// ---- heaps

static void build_dominoes(scene *s) {
    scene_floor(s, 0);
    for (int i = 0; i < 50; i++) {
        scene_box(s, 0.1, 0.02, 0.1, 0.2, 0);
    }
}

static void start_dominoes(scene *s) {
    for (int i = 0; i < 50; i++) {
        scene_place(s, 1 + i, 0.08 * i, 0, 0.1);
    }
    scene_v(s, 1)[1] = 3;
}

static void start_heap(scene *s) {
    kk_random random = {44, 1, 0};
    for (int i = 0; i < BODIES; i++) {
        scene_turn(s, 1 + i,
                   kk_vec3_make(kk_random_next_between(&random, -2, 2), kk_random_next_between(&random, -2, 2), 0));
        scene_place(s, 1 + i, 0.11 * (i % 3 - 1), 0.11 * (i / 3 % 3 - 1), 0.15 + 0.13 * (i / 9));
    }
}

static void build_stones(scene *s) {
    kk_random random = {44, 2, 0};
    scene_floor(s, 0);
    for (int i = 0; i < BODIES; i++) {
        exam_add_mesh_body(s, exam_stone(s, 0.05, &random), KK_SHAPE_HULL, 0.5, 0.1);
    }
}

static void build_rings(scene *s) {
    scene_floor(s, 0);
    const int ring = exam_ring(s, 0.04, 0.012, 12, 6);
    for (int i = 0; i < BODIES; i++) {
        exam_add_mesh_body(s, ring, KK_SHAPE_MESH, 0.3, 0.1);
    }
}

static const show shows[] = {
    {"limp humanoid", build_limp, start_limp, NULL, false},
    {"standing quadruped", build_standing, start_standing, sway, false},
    {"hand with a box", build_hand, start_hand, shake, false},
    {"50 dominoes", build_dominoes, start_dominoes, NULL, true},
    {"60 hulls", build_stones, start_heap, NULL, true},
    {"60 rings", build_rings, start_heap, NULL, true},
};

// ---- times

/// Least times of the steps so far. Steps that stood from before count as none, in every run: bits are the same.
static long time_run(exam *e, const show *x, long steps, double *least, bool is_first, long *uncertified) {
    scene s;
    motion_begin(&s, e, 9.81);
    x->build(&s);
    scene_ready_dt(&s, 1e-3);
    x->start(&s);
    long done = 0;
    for (; done < steps; done++) {
        if (x->drive) {
            x->drive(&s);
        }
        const double start = exam_thread_cpu();
        if (!scene_step(&s)) {
            break;
        }
        double took = exam_thread_cpu() - start;
        took = kk_simulator_report(s.simulator)->is_cached ? 0 : took;
        least[done] = is_first || took < least[done] ? took : least[done];
    }
    motion_end(&s, uncertified);
    return done;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void judge_times(exam *e, const show *x, int panel, double *time, long count) {
    qsort(time, (size_t)count, sizeof *time, by_size);
    long first = 0;
    while (first < count && time[first] == 0) {
        first++;
    }
    const long computed = count - first;
    const double usual = computed > 0 ? time[first + (x->is_heap ? 9 * computed / 10 : computed / 2)] : 0;
    for (long i = 0; i < computed; i += computed / 200 + 1) {
        exam_point(e, panel, x->name, (double)i / (double)computed, 1e6 * time[first + i]);
    }
    motion_at_most(e, x->name, x->is_heap ? "longest step over the ninth tenth" : "longest step over the median",
                   computed > 0 ? time[count - 1] / usual : 0, x->is_heap ? 20 : 30);
}

static void run_times(exam *e) {
    const long steps = 10000;
    double *least = cli_allocate((size_t)steps, sizeof *least);
    const int panel = exam_plot(e, "steps by their CPU time", "share of the steps", "time [us]", true);
    long uncertified = 0;
    for (size_t i = 0; i < sizeof shows / sizeof *shows && !e->is_drawn; i++) {
        long count = steps, again = 0;
        for (int run = 0; run < RUNS; run++) {
            count = time_run(e, &shows[i], count, least, run == 0, run ? &again : &uncertified);
        }
        judge_times(e, &shows[i], panel, least, count);
    }
    motion_note_steps(e, uncertified);
    free(least);
}

const exam_row exam_rows_times[] = {
    {44, "step times of robots and heaps, 1e4 steps, least of three runs", "no step stands out", "", false, run_times},
    {0, NULL, NULL, NULL, false, NULL},
};
