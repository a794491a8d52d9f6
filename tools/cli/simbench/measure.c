// Running a case: first for its error, then for its time.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "simbench.h"

/// A case under way in one engine.
typedef struct run {
    const simbench_case *c;
    const simbench_engine *engine;
    const simbench_scene *scene;
    void *world;
    double *place; ///< [3 bodies] of the last sample
    double time, first_energy;
    double sum; ///< of squared errors
    long samples;
} run;

static int is_test(const run *r, const char *name) {
    return strcmp(r->c->test, name) == 0;
}

static double square(double x) {
    return x * x;
}

static double now(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

// ---- what is compared

/// Exact accelerations of plate and balls; with the plate's friction at its bound μ (m_plate + 25 m_ball) g.
enum { PLATE, BALLS };
static const double rolling[2] = {0.7385, 0.211};

/// The direction of the push, of unit length to the digits of the definition.
static void push_direction(const run *r, double d[3]) {
    d[0] = is_test(r, "rolling-xy") ? 0.5 : 0;
    d[1] = is_test(r, "rolling-xy") ? 0.86602540378443864676 : 1;
    d[2] = 0;
}

static double rolling_error(const run *r) {
    const int body[2] = {0, 1};
    double d[3], p[3], v[3], error = 0;
    push_direction(r, d);
    for (int i = PLATE; i <= BALLS; i++) {
        r->engine->body(r->world, body[i], p, v);
        for (int k = 0; k < 3; k++) {
            error += square(v[k] - rolling[i] * r->time * d[k]);
        }
    }
    return error;
}

static double energy_of_balls(const run *r) {
    double sum = 0;
    for (int i = 0; i < r->scene->body_count; i++) {
        const simbench_body *b = &r->scene->body[i];
        double p[3], v[3];
        r->engine->body(r->world, i, p, v);
        sum += b->mass * (r->scene->gravity * p[2] + 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    return sum;
}

/// Sum of squared overlaps of equal balls with each other and with the floor.
static double overlaps(const run *r) {
    enum { MOST = 216 };
    double x[MOST][3], v[3], sum = 0;
    const double radius = r->scene->body[0].size[0], reach = 4 * radius * radius;
    const int n = r->scene->body_count < MOST ? r->scene->body_count : MOST;
    for (int i = 0; i < n; i++) {
        r->engine->body(r->world, i, x[i], v);
        sum += x[i][2] < radius ? square(radius - x[i][2]) : 0;
        for (int k = 0; k < i; k++) {
            const double d[3] = {x[i][0] - x[k][0], x[i][1] - x[k][1], x[i][2] - x[k][2]};
            const double apart = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            sum += apart < reach ? square(2 * radius - __builtin_sqrt(apart)) : 0;
        }
    }
    return sum;
}

static double momentum_error(const run *r) {
    double p[3], energy;
    r->engine->whole(r->world, p, &energy);
    const simbench_body *ball = &r->scene->body[0];
    return square(p[0]) + square(p[1] - ball->mass * ball->velocity[1]) + square(p[2]);
}

/// Of the free part, behind the first second; the last sample of the push is its start.
static double energy_error(run *r) {
    double p[3], energy;
    r->engine->whole(r->world, p, &energy);
    if (r->time < 1 + 0.5 * r->scene->dt) {
        r->first_energy = energy;
        r->samples = 0;
        return 0;
    }
    return square(energy - r->first_energy);
}

static double error_now(run *r) {
    if (strncmp(r->c->test, "rolling", 7) == 0) {
        return rolling_error(r);
    }
    if (is_test(r, "bouncing") || is_test(r, "elastic-666")) {
        const double energy = energy_of_balls(r);
        r->first_energy = r->samples == 0 ? energy : r->first_energy;
        return square(energy - r->first_energy);
    }
    return is_test(r, "666")        ? overlaps(r)
           : is_test(r, "momentum") ? momentum_error(r)
           : is_test(r, "energy")   ? energy_error(r)
                                    : 0;
}

// ---- what acts

static void hold_stance(const run *r) {
    for (int i = 0; i < r->scene->robots; i++) {
        double angle[SIMBENCH_JOINTS], speed[SIMBENCH_JOINTS], torque[SIMBENCH_JOINTS];
        r->engine->joints(r->world, i, angle, speed);
        for (int k = 0; k < SIMBENCH_JOINTS; k++) {
            torque[k] = 40 * (simbench_robot_link(k + 1).target - angle[k]) - speed[k];
        }
        r->engine->drive(r->world, i, torque);
    }
}

static void act_at_start(const run *r) {
    double force[3];
    if (strncmp(r->c->test, "rolling", 7) == 0) {
        push_direction(r, force);
        for (int k = 0; k < 3; k++) {
            force[k] *= 150;
        }
        r->engine->push(r->world, 0, force);
    } else if (is_test(r, "energy")) {
        force[0] = force[1] = 0;
        force[2] = 2 * simbench_robot_mass() * r->scene->gravity;
        r->engine->push(r->world, -1, force);
    }
}

static void act(const run *r, long step) {
    static const double none[3] = {0, 0, 0};
    if (is_test(r, "anymal")) {
        hold_stance(r);
    } else if (is_test(r, "energy") && step == (long)(1 / r->scene->dt + 0.5)) {
        r->engine->push(r->world, -1, none);
    }
}

/// Whether it is of use to go on: a tower that has fallen, or robots that lie on the floor, are at their end.
static bool has_fallen(const run *r) {
    double p[3], v[3];
    if (is_test(r, "kapla")) {
        r->engine->body(r->world, r->scene->body_count - 1, p, v);
        return !(p[2] >= 1);
    }
    return false;
}

// ---- a run

static bool is_fit(const run *r, char trouble[SIMBENCH_TEXT]) {
    for (int i = 0; i < r->scene->robots && is_test(r, "anymal"); i++) {
        const double height = r->engine->height(r->world, i);
        if (!(height > 0.4)) {
            snprintf(trouble, SIMBENCH_TEXT, "robot %d does not stand: its base is at %.3f m", i, height);
            return false;
        }
    }
    return true;
}

/// All steps of one run. @param samples  whether errors are taken    @return steps
static long go(run *r, bool samples, double limit, char trouble[SIMBENCH_TEXT], double *seconds) {
    const long steps = (long)(r->scene->seconds / r->scene->dt + 0.5);
    const double start = now();
    long i = 0;
    bool goes_on = true;
    act_at_start(r);
    for (; i < steps && goes_on; i++) {
        r->time = (double)i * r->scene->dt;
        if (samples) {
            r->sum += error_now(r);
            r->samples++;
        }
        act(r, i);
        goes_on = r->engine->step(r->world, trouble) && !has_fallen(r);
        if (limit > 0 && now() - start > limit && i + 1 < steps) {
            snprintf(trouble, SIMBENCH_TEXT, "broken off after %ld of %ld steps", i + 1, steps);
            goes_on = false;
        }
    }
    *seconds = now() - start;
    return i;
}

simbench_result simbench_measure(const simbench_case *c, const simbench_engine *engine, double limit) {
    simbench_result result = {.error = -1, .seconds = -1};
    simbench_scene scene = simbench_scene_of(c);
    // towers and robots have no error that is sampled: one run serves both
    const bool once = strcmp(c->test, "kapla") == 0 || strcmp(c->test, "anymal") == 0;
    // what took too long for its error may still tell its time a step
    for (int turn = once; turn < 2 && (!result.trouble[0] || limit > 0); turn++) {
        double seconds = 0;
        run r = {.c = c, .engine = engine, .scene = &scene};
        r.world = engine->open(&scene, result.trouble);
        if (!r.world) {
            break;
        }
        result.steps = go(&r, turn == 0, limit, result.trouble, &seconds);
        if (turn == 0) {
            result.error = r.samples > 0 ? r.sum / (double)r.samples : -1;
        } else {
            result.seconds = seconds;
            result.error = c->more_is_better ? (double)result.steps : result.error;
        }
        if (!result.trouble[0]) {
            is_fit(&r, result.trouble);
        }
        engine->close(r.world);
    }
    simbench_scene_free(&scene);
    return result;
}
