// Models and recordings over time; see player.h.
#define _XOPEN_SOURCE 700 // stat
#include "player.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool player_is_recording(const char *path) {
    char head[8] = {0};
    struct stat about; // a pipe would be waited for
    const bool is_plain = !is_robot_name(path) && stat(path, &about) == 0 && S_ISREG(about.st_mode);
    FILE *file = is_plain ? fopen(path, "rb") : NULL;
    const bool is_read = file && fread(head, 1, sizeof head, file) == sizeof head;
    if (file) {
        fclose(file);
    }
    return is_read && memcmp(head, "KKREC\r\n\x1a", 8) == 0;
}

// ---- opening

static int make_state(player *p) {
    kk_error error = {0};
    error.status = kk_state_create(p->m.model, NULL, &p->state);
    if (!error.status) {
        error.status = kk_simulator_create(p->m.model, &p->step_options, NULL, &p->simulator, &error);
    }
    p->control = cli_allocate((size_t)kk_model_nactuator(p->m.model) + 1, sizeof *p->control);
    p->dt = p->step_options.timestep > 0 ? p->step_options.timestep : kk_model_options(p->m.model).timestep;
    return error.status ? cli_fail_error(p->c, &error) : 0;
}

static int open_model(player *p) {
    int code = load_model(p->c, p->o.source, &p->m);
    p->step_options.timestep = p->o.dt;
    p->is_stepped = true;
    code = code ? code : load_keyframe(p->c, p->m.model, p->o.keyframe, &p->keyframe);
    code = code ? code : make_state(p);
    code = code ? code : player_rewind(p);
    if (!code) {
        const motion_options columns = {true, true};
        p->end = p->start + p->o.time;
        code = motion_open(p->c, p->m.model, p->state, p->keyframe, p->o.control, columns, &p->motion);
    }
    return code;
}

static int open_tape(player *p) {
    kk_error error = {0};
    kk_recording_frame last;
    int code = tape_read(p->c, p->o.source, &p->t);
    code = code ? code : tape_load_model(p->c, &p->t, p->o.model, &p->m);
    if (code) {
        return code;
    }
    p->step_options = p->t.info.options;
    p->is_stepped = p->o.contacts;
    code = make_state(p);
    code = code ? code : player_rewind(p);
    if (!code && p->t.info.steps > 0) {
        error.status = kk_recording_get_frame(p->t.recording, p->t.info.steps - 1, &last, &error);
        p->end = error.status ? p->start : last.time;
    }
    return code ? code : error.status ? cli_fail_error(p->c, &error) : 0;
}

int player_open(cli *c, const player_options *options, player *p) {
    *p = (player){.c = c, .o = *options, .keyframe = -1};
    p->is_tape = player_is_recording(options->source);
    const int code = p->is_tape ? open_tape(p) : open_model(p);
    if (code) {
        player_close(p);
    }
    return code;
}

void player_close(player *p) {
    if (p->is_tape) {
        tape_free(&p->t);
    }
    motion_free(&p->motion);
    free(p->control);
    kk_simulator_free(p->simulator);
    kk_state_free(p->state);
    unload_model(&p->m);
    p->control = NULL;
    p->simulator = NULL;
    p->state = NULL;
}

// ---- playing

int player_rewind(player *p) {
    kk_error error = {0};
    int64_t key = 0;
    p->step = 0;
    if (p->is_tape) {
        error.status = kk_recording_get_key(p->t.recording, 0, p->state, &key, &error);
    } else if (p->keyframe >= 0) {
        error.status = kk_state_set_keyframe(p->m.model, p->state, p->keyframe);
    } else {
        kk_state *fresh = NULL;
        error.status = kk_state_create(p->m.model, NULL, &fresh);
        error.status = error.status ? error.status : kk_state_copy(p->state, fresh);
        kk_state_free(fresh);
        kk_couplings_apply(p->m.model, kk_state_q(p->state), kk_state_v(p->state));
    }
    p->start = p->end = kk_state_time(p->state);
    if (!p->is_tape) {
        p->end += p->o.time;
    }
    kk_kinematics(p->m.model, p->m.data, kk_state_q_const(p->state));
    return error.status ? cli_fail_error(p->c, &error) : 0;
}

int player_step(player *p) {
    kk_error error = {0};
    kk_recording_frame f;
    const double *control = p->control;
    if (p->is_tape) {
        error.status = kk_recording_get_frame(p->t.recording, p->step, &f, &error);
        control = f.control;
    } else {
        motion_at(&p->motion, kk_state_time(p->state), p->control);
    }
    if (!error.status) {
        const kk_input input = {.control = control};
        error.status = kk_step(p->m.model, p->state, p->simulator, &input, &error);
    }
    p->step++;
    return error.status ? cli_fail_error(p->c, &error) : 0;
}

/// The state of a recorded step.
static int show_frame(player *p, double time) {
    kk_error error = {0};
    kk_recording_frame f;
    int64_t step = (int64_t)((time - p->start) / p->dt + 0.5) - 1;
    step = step >= p->t.info.steps ? p->t.info.steps - 1 : step;
    if (step < 0) {
        return 0;
    }
    error.status = kk_recording_get_frame(p->t.recording, step, &f, &error);
    if (error.status) {
        return cli_fail_error(p->c, &error);
    }
    memcpy(kk_state_q(p->state), f.q, (size_t)p->t.info.nq * sizeof *f.q);
    memcpy(kk_state_v(p->state), f.v, (size_t)p->t.info.nv * sizeof *f.v);
    kk_state_set_time(p->state, f.time);
    return 0;
}

int player_go(player *p, double time) {
    int code = 0;
    if (p->is_tape && !p->is_stepped) {
        code = show_frame(p, time);
    }
    while (!code && p->is_stepped && kk_state_time(p->state) < time - 0.5 * p->dt &&
           (!p->is_tape || p->step < p->t.info.steps)) {
        code = player_step(p);
    }
    kk_kinematics(p->m.model, p->m.data, kk_state_q_const(p->state));
    return code;
}
