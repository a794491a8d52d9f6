/// The crawl of a quadruped: three feet always bear.
///
/// G. Endo, K. Arikawa, S. Hirose 2010, 4.2: in the body's frame a foot goes straight back by the stride while it bears and forward on a
/// cycloid while it does not; the left fore foot swings first. The postures differ in where the feet are: A has them below the
/// knees (thighs level, shins upright), B farther out, C farther in, D farther out and apart fore and aft. The paper shows B-D in a picture only.
#include <karakuri/walk.h>

#include "base/error.h"
#include "base/missing.h"
#include "motion/ik.h"

static double phase_of(const kk_crawl *c, int leg, double time) {
    static const double start[4] = {0, 0.5, 0.75, 0.25};
    const double x = time / c->period - start[leg];
    return x - kk_floor(x);
}

void kk_crawl_feet(const kk_crawl *crawl, double time, kk_vec3 *foot, int *is_bearing) {
    const double swing = 1 - crawl->duty;
    for (int i = 0; i < 4; i++) {
        const double phase = phase_of(crawl, i, time);
        const int bears = phase >= swing;
        const double turn = KK_TWO_PI * phase / swing;
        const double part = bears ? 1 - (phase - swing) / crawl->duty : (turn - kk_sin(turn)) / KK_TWO_PI;
        foot[i] = crawl->home[i];
        foot[i].x += crawl->stride * (part - 0.5);
        foot[i].z += bears ? 0 : crawl->lift * 0.5 * (1 - kk_cos(turn));
        if (is_bearing) {
            is_bearing[i] = bears;
        }
    }
}

double kk_crawl_speed(const kk_crawl *crawl) {
    return crawl->stride / (crawl->duty * crawl->period);
}

kk_crawl kk_crawl_titan8(char posture) {
    // toe frames: 0.213 m below the thighs' axes, the ball under them makes it 0.243 m
    static const double side[4] = {0.33, 0.44, 0.26, 0.42}, apart[4] = {0, 0, 0, 0.08};
    const int k = posture >= 'A' && posture <= 'D' ? posture - 'A' : 0;
    kk_crawl c = {.stride = 0.18, .lift = 0.05, .duty = 0.75, .period = 4.8};
    for (int i = 0; i < 4; i++) {
        c.home[i] = kk_vec3_make((i < 2 ? 1 : -1) * (0.2 + apart[k]), (i % 2 ? -1 : 1) * side[k], -0.213);
    }
    return c;
}

enum { MAX_DOFS = 512 };

/// The three joints before the last one of each leg may move, and nothing else: not the base, not what bends in the trunk.
static void free_legs(const kk_model *m, const int *toe, unsigned char *fixed) {
    for (int k = 0; k < kk_model_nv(m); k++) {
        fixed[k] = 1;
    }
    for (int i = 0; i < 4; i++) {
        int body = kk_model_frame_body(m, toe[i]);
        for (int k = 0; k < 3 && body > 0; k++) {
            body = kk_model_body_parent(m, body);
            const kk_joint_info joint = kk_model_joint(m, body);
            for (int d = 0; d < joint.nv && body > 1; d++) {
                fixed[joint.v_index + d] = 0;
            }
        }
    }
}

/// The joint on whose axis the toe sits, and the two before it in the leg's plane, turn by nothing together.
static void level(const kk_model *m, int toe, double *q) {
    const int foot = kk_model_frame_body(m, toe), shin = kk_model_body_parent(m, foot);
    const int thigh = kk_model_body_parent(m, shin);
    q[kk_model_joint(m, foot).q_index] = -q[kk_model_joint(m, shin).q_index] - q[kk_model_joint(m, thigh).q_index];
}

kk_status kk_crawl_pose(const kk_model *model, kk_ik *ik, const kk_crawl *crawl, const int *toe, double time, double *q,
                        kk_error *error) {
    if (kki_is_missing(model)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    unsigned char fixed[MAX_DOFS];
    const kk_joint_info base = kk_model_joint(model, 1);
    if (kk_model_nv(model) > MAX_DOFS || base.nv != 6) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "the first body has no free joint, or there are more than %d degrees of freedom",
                             MAX_DOFS);
    }
    kk_vec3 foot[4];
    kk_ik_task task[4];
    kk_kinematics(model, ik->data, q);
    const kk_transform X = kk_body_pose(model, ik->data, 1);
    kk_crawl_feet(crawl, time, foot, NULL);
    free_legs(model, toe, fixed);
    for (int i = 0; i < 4; i++) {
        task[i] = kk_ik_task_default();
        task[i].frame = toe[i];
        task[i].weight[0] = task[i].weight[1] = task[i].weight[2] = 0;
        task[i].goal.p = kk_transform_point(X, foot[i]);
    }
    const kk_ik_options o = {.max_iterations = 50, .fixed = fixed};
    const kk_status status = kk_ik_solve(model, ik, task, 4, &o, q, NULL, error);
    for (int i = 0; i < 4; i++) {
        level(model, toe[i], q);
    }
    return status;
}
