/// Models of lone bodies and nothing else: what step.c does for all nodes, body by body. Each body's numbers are read once where they are wanted
/// several times, and workers share the bodies. The same operations as step.c's; bodies of the swarm (free_bodies/free_bodies.c) need fewer.
#include <string.h>

#include "base/fetch.h"
#include "simulate/drift.h"
#include "simulate/simulator.h"

enum { BODY_GRAIN = 64 };

/// And nothing else has a number among theirs: body by body, seven coordinates and six velocities.
int kki_has_only_free_bodies(const kk_model *m) {
    int lone = m->nnode > 2;
    for (int i = 1; i < m->nnode && lone; i++) {
        lone = kki_is_lone(m, i) && m->node[i].q_index == 7 * (i - 1) && m->node[i].v_index == 6 * (i - 1);
    }
    return lone;
}

void kki_only_free_fill(const kk_model *m, kk_simulator *s) {
    for (int i = 1; i < m->nnode && s->traits.has_only_free_bodies; i++) {
        s->only_free.is_ball[i] = (int8_t)kki_drift_is_ball(&m->node[i]);
    }
}

typedef struct crowding {
    const kk_model *m;
    kk_simulator *s;
} crowding;

static void share(const kk_model *m, kk_simulator *s, kki_share *some) {
    crowding x = {m, s};
    kki_workers_share(kki_workers_of(s), m->nnode - 1, BODY_GRAIN, some, &x);
}

/// Poses and velocities of nodes, with those a few further on fetched.
static void prepare_some(const crowding *x, int first, int end) {
    enum { AT_ONCE = 4, AHEAD = 8 };
    kk_simulator *s = x->s;
    for (int i = first, next = 0; i < end; i = next) {
        next = i + AT_ONCE < end ? i + AT_ONCE : end;
        for (int k = i + AHEAD; k < i + AHEAD + AT_ONCE; k++) {
            const kki_node *n = &x->m->node[k];
            kki_fetch(n->R, sizeof n->R);
            kki_fetch(n->p, 1);
            kki_fetch(n->h, 1);
            kki_fetch(&n->type, 1);
        }
        s->data->kernels->kick_prepare_some(x->m, &s->data->scratch, s->motion.q, s->motion.v, i, next,
                                            !s->forces.only_touches);
    }
}

/// From the state to the middle of the step, some at a time that fit the first cache.
static void go_some(void *context, int first, int end, int worker) {
    const crowding *x = context;
    kk_simulator *s = x->s;
    const double *q = kk_state_q_const(s->motion.start), *v = kk_state_v_const(s->motion.start);
    (void)worker;
    for (int next = first; first < end; first = next) {
        next = first + BODY_GRAIN < end ? first + BODY_GRAIN : end;
        const size_t count = (size_t)(next - first), at = 7 * (size_t)first;
        memcpy(s->motion.q + at, q + at, 7 * count * sizeof *q);
        kki_drift_crowd(x->m, s->only_free.is_ball, 0.5 * s->h, s->effort.sweeps > 0, v, v, s->motion.q, s->motion.v,
                        first + 1, next + 1);
        prepare_some(x, first + 1, next + 1);
        memcpy(s->motion.q_middle + at, s->motion.q + at, 7 * count * sizeof *q);
        for (int i = first + 1; i <= next; i++) {
            s->only_free.fall[i] = kki_fall_of(x->m, s, i);
        }
    }
}

void kki_only_free_go_to_middle(const kk_model *m, kk_simulator *s) {
    s->data->kernels->kick_begin(m, &s->data->scratch, NULL);
    share(m, s, go_some);
}

static int is_in_swarm(const crowding *x, int node) {
    return kki_free_bodies_have_tree(x->s, x->m->node_tree[node]);
}

static void free_run(const crowding *x, int first, int end) {
    kk_simulator *s = x->s;
    if (s->forces.no_pushes) {
        memset(s->readout.outside + first, 0, (size_t)(end - first) * sizeof *s->readout.outside);
        s->data->kernels->kick_load_some(x->m, &s->data->scratch, first, end);
    }
    s->data->kernels->kick_factor_some(x->m, &s->data->scratch, s->forces.diagonal, s->forces.tau, s->motion.v,
                                       s->kick.E, s->kick.y, first, end);
    for (int i = first; i < end; i++) {
        const int dof = 6 * (i - 1);
        for (int k = dof; k < dof + 6; k++) {
            s->kick.y_free[k] = s->kick.y_end[k] = s->kick.y_drift[k] = s->kick.y[k] + s->h * s->kick.E[k];
        }
    }
}

/// The swarm needs no factor of its bodies (free_bodies/free_bodies.c).
static void free_some(void *context, int first, int end, int worker) {
    const crowding *x = context;
    (void)worker;
    for (int i = first + 1, next = 0; i <= end; i = next) {
        const int is_loose = is_in_swarm(x, i);
        for (next = i + 1; next <= end && is_in_swarm(x, next) == is_loose;) {
            next++;
        }
        if (!is_loose) {
            free_run(x, i, next);
        }
    }
}

void kki_only_free_move_freely(const kk_model *m, kk_simulator *s) {
    share(m, s, free_some);
}

/// v + X (y − y₀) of one body; nothing where y is nothing.
static void velocity_of(const kk_model *m, kk_simulator *s, int node, const double *y, double *v) {
    const int dof = 6 * (node - 1);
    if (kki_is_zero(y + dof, 6)) {
        memset(v + dof, 0, 6 * sizeof *v);
        return;
    }
    for (int k = dof; k < dof + 6; k++) {
        s->kick.dv[k] = y[k] - s->kick.y[k];
    }
    s->data->kernels->kick_apply_some(m, &s->data->scratch, s->kick.dv, s->kick.dv, node, node + 1);
    for (int k = dof; k < dof + 6; k++) {
        v[k] = s->motion.v_before[k] + s->kick.dv[k];
    }
}

/// After the kick, and those that it moves with; and its energy.
static void velocities_of(const kk_model *m, kk_simulator *s, int node) {
    const int dof = 6 * (node - 1);
    s->only_free.kinetic[node] = (kki_kinetic){kki_half_square(s->kick.y + dof), kki_half_square(s->kick.y_end + dof)};
    velocity_of(m, s, node, s->kick.y_end, s->motion.v_after);
    if (memcmp(s->kick.y_drift + dof, s->kick.y_end + dof, 6 * sizeof *s->kick.y_end) == 0) {
        memcpy(s->motion.v_drift + dof, s->motion.v_after + dof, 6 * sizeof *s->motion.v_drift);
    } else {
        velocity_of(m, s, node, s->kick.y_drift, s->motion.v_drift);
    }
}

static void move_some(void *context, int first, int end, int worker) {
    const crowding *x = context;
    kk_simulator *s = x->s;
    (void)worker;
    for (int i = first + 1; i <= end; i++) {
        if (!is_in_swarm(x, i)) {
            velocities_of(x->m, s, i);
        }
    }
    kki_drift_crowd(x->m, s->only_free.is_ball, 0.5 * s->h, s->effort.sweeps > 0, s->motion.v_drift, s->motion.v_after,
                    s->motion.q, s->motion.v, first + 1, end + 1);
}

/// The velocities of the middle become those before the kick where they stand, and those after it are written over the ones of the last step.
void kki_only_free_move(const kk_model *m, kk_simulator *s) {
    double *before = s->motion.v;
    s->motion.v = s->motion.v_before;
    s->motion.v_before = before;
    share(m, s, move_some);
}

const double *kki_acceleration(const kk_simulator *s) {
    for (int k = 0; k < s->model->nv && s->traits.has_only_free_bodies && !s->rk4.is_used && s->h > 0; k++) {
        s->motion.acceleration[k] = (s->motion.v_after[k] - s->motion.v_before[k]) / s->h;
    }
    return s->motion.acceleration;
}
