/// MuJoCo's part of a row, through its C library.
#include "peer_mujoco.h"
#include "zoo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_nothing(const char *text) {
    (void)text;
}

static mjModel *load_text(const char *mjcf, char *error, int size) {
    mjSpec *spec = mj_parseXMLString(mjcf, NULL, error, size);
    mjModel *m = spec ? mj_compile(spec, NULL) : NULL;
    if (spec && !m) {
        snprintf(error, (size_t)size, "%s", mjs_getError(spec));
    }
    if (spec) {
        mj_deleteSpec(spec);
    }
    return m;
}

zoo_peer *zoo_peer_load(const char *path, const char *mjcf, char *why_not) {
    char error[ZOO_TEXT] = "";
    mju_user_warning = say_nothing;
    zoo_peer *peer = calloc(1, sizeof *peer);
    if (peer) {
        peer->m = mjcf ? load_text(mjcf, error, sizeof error) : mj_loadXML(path, NULL, error, sizeof error);
    }
    if (peer && !peer->m) { // otherwise the text is a warning
        snprintf(why_not, ZOO_TEXT, "%s", error);
        free(peer);
        peer = NULL;
    }
    return peer;
}

void zoo_peer_free(zoo_peer *peer) {
    if (peer) {
        mj_deleteModel(peer->m);
        free(peer);
    }
}

const char *zoo_peer_version(void) {
    return mj_versionString();
}

int zoo_peer_actuators(const zoo_peer *peer) {
    return (int)peer->m->nu;
}

double zoo_peer_timestep(const zoo_peer *peer) {
    return peer->m->opt.timestep;
}

int zoo_peer_nv(const zoo_peer *peer) {
    return (int)peer->m->nv;
}

const char *zoo_peer_base(const zoo_peer *peer) {
    return peer->m->nbody > 1 ? mj_id2name(peer->m, mjOBJ_BODY, 1) : NULL;
}

static void run_once(const mjModel *m, mjData *d, const zoo_course *course, const zoo_row *row, zoo_theirs *f,
                     zoo_times *times) {
    const bool is_first = times->runs == 0;
    const double cost = zoo_clock_cost(), start = zoo_thread_seconds();
    const int at_two_seconds = (int)lround(2 / course->timestep), steps = is_first ? course->steps : times->steps;
    const double *held = row->keyframe >= 0 ? m->key_ctrl + row->keyframe * m->nu : NULL;
    if (row->keyframe >= 0) {
        mj_resetDataKeyframe(m, d, row->keyframe);
    } else {
        mj_resetData(m, d);
    }
    for (int i = 0; i < steps; i++) {
        zoo_control(course, row, i, held, d->ctrl);
        const double before = zoo_thread_seconds();
        mj_step(m, d);
        const double after = zoo_thread_seconds();
        // what sleeps is not computed, as what changes nothing is not in ours
        const bool is_asleep = m->ntree > 0 && d->ntree_awake == 0;
        const float taken = is_asleep ? -1.0f : (float)fmax(after - before - cost, 1e-9);
        f->asleep += is_first && is_asleep;
        times->least[i] = is_first ? taken : fminf(times->least[i], taken);
        if (!is_first) {
            continue;
        }
        times->steps = f->steps = i + 1;
        if (i + 1 == at_two_seconds && m->nbody > 1) {
            mj_kinematics(m, d);
            f->height = d->xpos[5];
        }
        if (after - start > course->cap) {
            f->is_cut = true;
            break;
        }
    }
    times->runs++;
}

void zoo_peer_run(const zoo_peer *peer, const zoo_course *course, const zoo_row *row, zoo_theirs *f, zoo_times *times) {
    const double start = zoo_thread_seconds();
    f->height = NAN;
    for (int run = 0; run < ZOO_RUNS; run++) {
        if (run > 0 && zoo_thread_seconds() - start > course->room * run / ZOO_RUNS) {
            break;
        }
        mjData *d = mj_makeData(peer->m);
        if (!d) {
            return;
        }
        run_once(peer->m, d, course, row, f, times);
        f->resets =
            d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number + d->warning[mjWARN_BADQACC].number;
        f->contacts_full = d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_CNSTRFULL].number;
        mj_deleteData(d);
    }
    f->is_done = true;
}
