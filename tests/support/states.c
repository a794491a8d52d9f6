// States for comparisons bit by bit.
#include "support/states.h"

static void fill(scene *s, double value) {
    for (int i = 0; i < s->nv; i++) {
        s->v[i] = s->a[i] = s->tau[i] = value;
    }
}

/// Quaternions stay as they are; angles and travels become multiples of a quarter turn.
static void quarter_turns(scene *s, uint64_t stream) {
    static const double quarter = 1.57079632679489661923;
    kk_model_neutral(s->model, s->q);
    for (int b = 1; b < s->nbody; b++) {
        const kk_joint_info joint = kk_model_joint(s->model, b);
        for (int i = 0; i < joint.nq && joint.type < KK_JOINT_BALL; i++) {
            const double turns =
                (double)(kk_random_block(s->seed, stream, (uint64_t)joint.q_index + (uint64_t)i).word[0] % 9) - 4;
            s->q[joint.q_index + i] = quarter * turns;
        }
    }
}

static void clear_every(scene *s, int period, double zero) {
    for (int i = 0; i < s->nv; i += period) {
        s->v[i] = s->a[i] = s->tau[i] = zero;
    }
}

void states_set(scene *s, int kind, uint64_t stream) {
    scene_draw(s, stream);
    if (kind < 2) {
        kk_model_neutral(s->model, s->q);
        fill(s, kind ? -0.0 : 0.0);
    } else if (kind < 4) {
        quarter_turns(s, stream);
        if (kind == 2) {
            fill(s, 0);
        } else {
            clear_every(s, 2, -0.0);
        }
    } else if (kind == 4) {
        fill(s, 0);
    } else if (kind == 5) {
        clear_every(s, 3, 0);
    }
}
