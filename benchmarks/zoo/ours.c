/// Our engine's part of a row.
#include "zoo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_urdf(const char *path) {
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".urdf") == 0;
}

static void write_mjcf(kk_spec *spec, zoo_model *model) {
    for (int i = 0; i < kk_spec_mesh_count(spec); i++) {
        kk_mesh_def *mesh = kk_spec_mesh(spec, i);
        mesh->file = mesh->reference = NULL; // what has no file is written out
    }
    kk_spec_write_mjcf(spec, NULL, NULL, &model->mjcf, &model->mjcf_size, NULL);
}

/// The folder above the model's, where its collection keeps what several models are made of.
static void name_collection(const char *path, char *folder, size_t size) {
    const char *last = strrchr(path, '/');
    snprintf(folder, size, "%.*s/..", last ? (int)(last - path) : 1, last ? path : ".");
}

kk_status zoo_load(const char *path, zoo_model *model, kk_error *error) {
    kk_spec *spec = NULL;
    char collection[4096];
    name_collection(path, collection, sizeof collection);
    const kk_load_options options = {.search = (const char *const[]){collection}, .search_count = 1};
    kk_status status = kk_load_file(path, &options, NULL, &spec, NULL, error);
    if (status == KK_OK) {
        status = kk_model_compile(spec, NULL, &model->model, error);
        if (is_urdf(path)) {
            write_mjcf(spec, model);
        }
        kk_spec_free(spec);
    }
    model->base = -1;
    return status;
}

void zoo_free(zoo_model *model) {
    kk_model_free(model->model);
    kk_text_free(NULL, model->mjcf, model->mjcf_size);
}

void zoo_held(const zoo_model *model, int keyframe, double *held) {
    const int n = kk_model_nactuator(model->model);
    const kk_keyframe_def def = kk_model_keyframe(model->model, keyframe);
    for (int i = 0; i < n; i++) {
        held[i] = keyframe >= 0 && def.control && i < def.control_count ? def.control[i] : 0;
    }
}

// ---- what a report says

static double gravity_of(kk_flaw flaw) {
    static const double gravity[KK_FLAW_COUNT] = {[KK_FLAW_RESIDUAL] = 2,  [KK_FLAW_ENERGY] = 3, [KK_FLAW_IMPULSE] = 4,
                                                  [KK_FLAW_FAST_PAIR] = 1, [KK_FLAW_RANGE] = 6,  [KK_FLAW_ROOM] = 5};
    return gravity[flaw];
}

static void name_body(const kk_model *m, int body, char *name) {
    snprintf(name, ZOO_NAME, "%s", body < 0 ? "" : kk_model_body_name(m, body));
}

static void note_flaw(const kk_model *m, zoo_ours *f, const kk_report *r, int step) {
    f->flaws[r->flaw]++;
    f->degraded += r->quality == KK_STEP_DEGRADED;
    f->held += r->quality == KK_STEP_HELD;
    const double mine = gravity_of(r->flaw), worst = gravity_of(f->worst.flaw);
    if (mine > worst || (mine == worst && r->flaw_amount > f->worst.amount)) {
        f->worst = (zoo_flaw){.flaw = r->flaw, .stage = r->flaw_stage, .amount = r->flaw_amount, .step = step};
        name_body(m, r->flaw_body[0], f->worst.body[0]);
        name_body(m, r->flaw_body[1], f->worst.body[1]);
    }
}

static void note_energy(zoo_ours *f, const kk_audit *a, bool is_certified) {
    const double relative = a->scale > 0 ? a->error / a->scale : 0;
    double *gain = is_certified ? &f->gain : &f->gain_degraded;
    *gain = fmax(*gain, relative);
    f->gaining += is_certified && relative > 1e-3;
    f->audited += a->scale > 0;
    f->accurate += a->scale > 0 && fabs(relative) <= 1e-5;
    f->error += a->error;
    f->work += fabs(a->actuators) + fabs(a->applied);
    f->kinetic = fmax(f->kinetic, fmax(a->kinetic[0], a->kinetic[1]));
}

static void note_step(const kk_model *m, zoo_ours *f, const kk_report *r, int step) {
    f->repeated += r->is_cached;
    f->cut_short += r->hit_iteration_limit;
    f->residual = fmax(f->residual, fmax(r->residual, r->contact_yield));
    f->overlap = fmax(f->overlap, r->penetration);
    f->overlap_at_end = r->penetration;
    if (r->quality != KK_STEP_CERTIFIED) {
        note_flaw(m, f, r, step);
    }
    note_energy(f, &r->audit, r->quality == KK_STEP_CERTIFIED);
}

// ---- runs

/// What a run steps with.
typedef struct stepper {
    const kk_model *m;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
    double *control, *held;
} stepper;

static bool open_stepper(stepper *s, const zoo_model *model, const zoo_course *course) {
    *s = (stepper){.m = model->model};
    s->control = calloc((size_t)course->actuators + 1, sizeof *s->control);
    s->held = calloc((size_t)course->actuators + 1, sizeof *s->held);
    return s->control && s->held && kk_state_create(s->m, NULL, &s->state) == KK_OK &&
           kk_data_create(s->m, NULL, &s->data) == KK_OK &&
           kk_simulator_create(s->m, NULL, NULL, &s->simulator, NULL) == KK_OK;
}

static void close_stepper(stepper *s) {
    kk_simulator_free(s->simulator);
    kk_data_free(s->data);
    kk_state_free(s->state);
    free(s->control);
    free(s->held);
}

static double height_of(const stepper *s, int body) {
    return body >= 0 && kk_kinematics(s->m, s->data, kk_state_q_const(s->state)) == KK_OK
               ? kk_body_pose(s->m, s->data, body).p.z
               : NAN;
}

static double largest_speed(const stepper *s) {
    const double *v = kk_state_v_const(s->state);
    double speed = 0;
    for (int i = 0; i < kk_model_nv(s->m); i++) {
        speed = fmax(speed, fabs(v[i]));
    }
    return speed;
}

/// A run from the start; the first of a row finds figures, all of them times.
static void run_once(stepper *s, const zoo_model *model, const zoo_course *course, const zoo_row *row, zoo_ours *f,
                     zoo_times *times) {
    const bool is_first = times->runs == 0;
    const double cost = zoo_clock_cost(), start = zoo_thread_seconds();
    const int at_two_seconds = (int)lround(2 / course->timestep), steps = is_first ? course->steps : times->steps;
    int in_a_row = 0;
    for (int i = 0; i < steps; i++) {
        kk_error error = {0};
        zoo_control(course, row, i, s->held, s->control);
        const kk_input input = {.control = s->control};
        const double before = zoo_thread_seconds();
        const kk_status status = kk_step(s->m, s->state, s->simulator, &input, &error);
        const double after = zoo_thread_seconds();
        const kk_report r = *kk_simulator_report(s->simulator);
        const float taken = r.is_cached && status == KK_OK ? -1.0f : (float)fmax(after - before - cost, 1e-9);
        times->least[i] = is_first ? taken : fminf(times->least[i], taken);
        if (!is_first) {
            continue;
        }
        times->steps = f->steps = i + 1;
        in_a_row = status == KK_OK ? 0 : in_a_row + 1;
        if (status == KK_OK) {
            note_step(s->m, f, &r, i);
        } else if (f->failed++ == 0) {
            snprintf(f->failure, ZOO_TEXT, "step %d: %.200s", i, error.text);
        }
        f->speed = fmax(f->speed, largest_speed(s));
        f->height = i + 1 == at_two_seconds ? height_of(s, model->base) : f->height;
        // a failed step leaves the state as it was and would fail for ever
        if (after - start > course->cap || in_a_row >= 100) {
            f->is_cut = true;
            break;
        }
    }
    times->runs++;
}

void zoo_run(const zoo_model *model, const zoo_course *course, const zoo_row *row, zoo_ours *f, zoo_times *times) {
    const double start = zoo_thread_seconds();
    f->height = NAN;
    for (int run = 0; run < ZOO_RUNS; run++) {
        if (run > 0 && zoo_thread_seconds() - start > course->room * run / ZOO_RUNS) {
            break;
        }
        stepper s;
        if (open_stepper(&s, model, course)) {
            zoo_held(model, row->keyframe, s.held);
            if (row->keyframe < 0 || kk_state_set_keyframe(s.m, s.state, row->keyframe) == KK_OK) {
                run_once(&s, model, course, row, f, times);
            }
        }
        close_stepper(&s);
    }
    f->is_done = true;
}
