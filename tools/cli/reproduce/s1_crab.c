// S1 8.3 by the thesis's own method: the crab on forces and hinges lifts a box, lets it go, hooks a heart, and loses the box when it is jerked.
#include <math.h>
#include <time.h>

#include "runner.h"

static const double STEP = 0.02, SIZE = 10, START = 0.5 * SIZE; ///< height at which the model has the crab

/// Where the crab is told to be, and with how much of their torque the claws close (1) or open (−1).
typedef struct crab_way {
    double time, at[3], grip;
} crab_way;

typedef struct crab {
    runner r;
    int body, claw[2], motor[2];
    double mass, seconds; ///< of all that hangs on its force, kg; of computing
} crab;

/// The thesis gives no constants; 0 means those of docs/guide/paper-modes.md.
typedef struct constants {
    double stiffness, damping, depth; ///< N/m, N s/m, m
} constants;
static const constants USUAL = {0, 0, 0.04};

static bool begin_crab(study *s, const constants *k, crab *c) {
    const kk_step_options options = {
        .solver = KK_SOLVER_KURODA, .timestep = STEP, .paper = {k->stiffness, k->damping, k->depth}};
    *c = (crab){.mass = 0};
    if (!runner_load(&c->r, s, "crane/crane_free.urdf", NULL, &options)) {
        return false;
    }
    c->body = runner_body(&c->r, "crab");
    c->claw[0] = runner_body(&c->r, "left_claw");
    c->claw[1] = runner_body(&c->r, "right_claw");
    c->motor[0] = runner_actuator(&c->r, "left_claw");
    c->motor[1] = runner_actuator(&c->r, "right_claw");
    c->mass = kk_model_body_inertia(c->r.m.model, c->body).mass;
    for (int i = 0; i < 2; i++) {
        c->mass += kk_model_body_inertia(c->r.m.model, c->claw[i]).mass;
    }
    return c->r.is_good;
}

static double height_of(crab *c, const char *body) {
    return runner_point(&c->r, runner_body(&c->r, body), kk_vec3_make(0, 0, 0)).z;
}

/// Straight from waypoint to waypoint.
static crab_way way_at(const crab_way *way, int count, double time) {
    int i = 1;
    while (i < count - 1 && time > way[i].time) {
        i++;
    }
    const double length = way[i].time - way[i - 1].time;
    const double share = exam_max(0, 1 - exam_max(0, (way[i].time - time) / length));
    crab_way w = {.time = time, .grip = way[i - 1].grip + share * (way[i].grip - way[i - 1].grip)};
    for (int k = 0; k < 3; k++) {
        w.at[k] = way[i - 1].at[k] + share * (way[i].at[k] - way[i - 1].at[k]);
    }
    return w;
}

/// What keeps the crab where it is told to be and upright: springs and dampers of 15 rad/s for its own mass and inertia, and its weight.
static void drive(crab *c, const crab_way *w, const double *rate) {
    static const double fast = 12, inertia = 0.012 * SIZE * SIZE * SIZE, torque = 12 * SIZE,
                        damping = 0.005 * SIZE * SIZE * SIZE;
    const kk_model *m = c->r.m.model;
    const kk_joint_info j = kk_model_joint(m, c->body);
    const double *q = kk_state_q(c->r.state) + j.q_index, *v = kk_state_v(c->r.state) + j.v_index;
    const kk_quat turn = {q[0], q[1], q[2], q[3]};
    const kk_mat3 R = kk_quat_to_mat3(turn);
    const kk_vec3 speed = kk_mat3_mul_vec(R, kk_vec3_make(v[3], v[4], v[5]));
    const kk_vec3 off = kk_vec3_make(SIZE * w->at[0] - q[4], SIZE * w->at[1] - q[5], SIZE * w->at[2] - START - q[6]);
    const kk_vec3 slow = kk_vec3_sub(kk_vec3_make(rate[0], rate[1], rate[2]), speed);
    kk_vec3 force = kk_vec3_scale(kk_vec3_add(kk_vec3_scale(off, fast), kk_vec3_scale(slow, 2)), c->mass * fast);
    force.z += 9.81 * c->mass;
    const kk_vec3 lean = kk_quat_log(turn), spin = kk_vec3_make(v[0], v[1], v[2]);
    const kk_vec3 moment =
        kk_vec3_scale(kk_vec3_add(kk_vec3_scale(lean, fast), kk_vec3_scale(spin, 2)), -inertia * fast);
    c->r.wrench[c->body] = kk_force_make(moment, kk_mat3_tmul_vec(R, force));
    for (int i = 0; i < 2; i++) {
        const double turning = kk_state_v(c->r.state)[kk_model_joint(m, c->claw[i]).v_index];
        c->r.control[c->motor[i]] = torque * w->grip - damping * turning;
    }
}

static bool play(crab *c, const crab_way *way, int count, const char *prize, int panel) {
    const clock_t start = clock();
    while (c->r.is_good && kk_state_time(c->r.state) < way[count - 1].time - 0.5 * STEP) {
        const double time = kk_state_time(c->r.state) + STEP;
        const crab_way w = way_at(way, count, time), before = way_at(way, count, time - STEP);
        const double rate[3] = {SIZE * (w.at[0] - before.at[0]) / STEP, SIZE * (w.at[1] - before.at[1]) / STEP,
                                SIZE * (w.at[2] - before.at[2]) / STEP};
        drive(c, &w, rate);
        runner_step(&c->r);
        if (panel >= 0) {
            exam_point(&c->r.s->exam, panel, prize, time, height_of(c, prize) / SIZE);
            exam_point(&c->r.s->exam, panel, "crab", time, height_of(c, "crab") / SIZE);
        }
    }
    c->seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
    return c->r.is_good;
}

// ---- what the player does

enum { TAKING = 8, DOWN = 6, JERK = 4, HEART = 7 };
/// Above, down, shut, up, aside.
static const crab_way taking[TAKING] = {
    {0, {0, 0, 0.5}, -0.3},     {1, {-0.35, 0, 0.5}, -0.3}, {2, {-0.35, 0, 0.21}, -0.3}, {2.6, {-0.35, 0, 0.21}, 1},
    {3.4, {-0.35, 0, 0.21}, 1}, {5, {-0.35, 0, 0.5}, 1},    {6.5, {-0.2, 0.2, 0.5}, 1},  {7, {-0.2, 0.2, 0.5}, 1}};
/// Down, open, up.
static const crab_way down[DOWN] = {{7, {-0.2, 0.2, 0.5}, 1},       {8.5, {-0.2, 0.2, 0.24}, 1},
                                    {9, {-0.2, 0.2, 0.215}, 1},     {9.6, {-0.2, 0.2, 0.215}, -0.3},
                                    {10, {-0.2, 0.2, 0.215}, -0.3}, {11.5, {-0.2, 0.2, 0.5}, -0.3}};
/// 0.35 m in a tenth of a second, and back.
static const crab_way jerk[JERK] = {
    {7, {-0.2, 0.2, 0.5}, 1}, {7.1, {-0.2, -0.15, 0.5}, 1}, {7.2, {-0.2, 0.2, 0.5}, 1}, {9, {-0.2, 0.2, 0.5}, 1}};
/// One claw into the hollow, the other at the point.
static const crab_way heart[HEART] = {{0, {0, 0, 0.5}, -0.3},         {1, {0.018, 0, 0.205}, -0.3},
                                      {1.6, {0.018, 0, 0.205}, 0.05}, {2.4, {0.018, 0, 0.205}, 0.7},
                                      {3, {0.018, 0, 0.205}, 0.7},    {5, {0.018, 0, 0.5}, 0.7},
                                      {6, {0.018, 0, 0.5}, 0.7}};

/// Heights in sizes of the scene, m, and frames that could be computed in a second.
typedef struct plays {
    double lifted, put, jerked, hooked, frames;
} plays;

static void count_frames(const crab *c, plays *x) {
    const double frames = c->r.steps / c->seconds;
    x->frames = frames < x->frames ? frames : x->frames;
}

/// @param panel  NULL: not drawn
static plays play_all(study *s, const constants *k, const int *panel) {
    plays x = {.frames = INFINITY};
    crab c;
    if (begin_crab(s, k, &c) && play(&c, taking, TAKING, "box", panel ? panel[0] : -1)) {
        x.lifted = height_of(&c, "box") / SIZE;
        play(&c, down, DOWN, "box", panel ? panel[0] : -1);
        x.put = height_of(&c, "box") / SIZE;
        count_frames(&c, &x);
    }
    runner_end(&c.r);
    if (begin_crab(s, k, &c) && play(&c, taking, TAKING, "box", panel ? panel[1] : -1)) {
        play(&c, jerk, JERK, "box", panel ? panel[1] : -1);
        x.jerked = height_of(&c, "box") / SIZE;
    }
    runner_end(&c.r);
    if (begin_crab(s, k, &c) && play(&c, heart, HEART, "heart", panel ? panel[2] : -1)) {
        x.hooked = height_of(&c, "heart") / SIZE;
        count_frames(&c, &x);
    }
    runner_end(&c.r);
    return x;
}

// ---- the study

static void tabulate(study *s, const char *stiffness, const constants *k, const plays *x) {
    static const char *const words[2] = {"no", "yes"};
    study_row(s, "%g|%s|%g|%s|%s|%s|%s|%.0f", k->depth / SIZE, stiffness, k->damping, words[x->lifted > 0.25],
              words[x->put < 0.06 && x->lifted > 0.25], words[x->jerked < 0.12 && x->lifted > 0.25],
              words[x->hooked > 0.25], x->frames);
}

/// Which of the four actions succeed with other constants.
static void tabulate_range(study *s) {
    enum { OTHERS = 6 };
    static const constants others[OTHERS] = {{0, 0, 0.03}, {0, 0, 0.05},   {0, 2, 0.04},
                                             {0, 0, 0.06}, {800, 0, 0.04}, {800, 0, 0.05}};
    for (int i = 0; i < OTHERS; i++) {
        char stiffness[16] = "usual";
        const plays x = play_all(s, &others[i], NULL);
        if (others[i].stiffness > 0) {
            snprintf(stiffness, sizeof stiffness, "%g", others[i].stiffness);
        }
        tabulate(s, stiffness, &others[i], &x);
    }
}

static void run_crab(study *s) {
    const int panels[3] = {
        exam_plot(&s->exam, "the box: lifted, carried and put down", "time / s", "height / 10 m", false),
        exam_plot(&s->exam, "the box: lifted, and lost when jerked at 7 s", "time / s", "height / 10 m", false),
        exam_plot(&s->exam, "the heart: hooked in its hollow", "time / s", "height / 10 m", false)};
    const plays x = play_all(s, &USUAL, panels);
    study_tabulate(s, "What succeeds with which constants of the springs, of which the thesis tells none");
    study_row(s, "allowed depth w / size|stiffness [N/m]|damping [N s/m], 0: usual|lifts the box|puts it down|loses it "
                 "when jerked|"
                 "hooks the heart|frames/s");
    tabulate(s, "usual", &USUAL, &x);
    if (!s->quick) {
        tabulate_range(s);
    }
    study_at_least(s, "height of the box between the claws, in sizes of the scene",
                   "lifted by friction alone (Fig. 8.14)", x.lifted, "m", 0.25);
    study_at_most(s, "and when it has been put down and let go", "released", x.put, "m", 0.06);
    study_at_most(s, "height of the box after the jerk", "slips and falls (Fig. 8.16)", x.jerked, "m", 0.12);
    study_at_least(s, "height of the heart, a concave body", "lifted by its hollow (Fig. 8.15)", x.hooked, "m", 0.25);
    study_at_least(s, "frames of 1/50 s that could be computed in a second, slowest play",
                   "15, with its drawing (Pentium III, 500 MHz)", x.frames, "1/s", 60);
    study_note(s,
               "The crab is a free body on a spring and damper of 12 rad/s to where the player wants it, its claws are "
               "hinges under torque: what the thesis's method knows. The scene is ten times the size of the other "
               "crane's (a box of 0.9 m): steps of 1/50 s are finer for what is larger, and a contact spring that "
               "bears its body with half of w, 40 of them under the heart of 40 corners, is stable only with few; "
               "this heart has 12.");
}

const study_def studies_s1_crab[] = {
    {.seed = "s1",
     .name = "s1_crab",
     .title = "S1 8.3: the crane game by the thesis's own method",
     .paper = "A floating crab lifts a box between two claws by friction, lets it go, lifts a heart by its hollow, and "
              "loses the box "
              "when it is moved roughly (Fig. 8.14-8.16). Δt = 1/50 s, 15 frames a second.",
     .is_quick = true,
     .run = run_crab},
    {.name = NULL},
};
