/// The whole body on the way: joints by inverse kinematics, and the ZMP that they make.
///
/// With the center of mass c, the angular momentum L about it and the force F = m (c̈ + g) of the floor, the ZMP on the plane z = 0 is where
///     p_x = c_x − (c_z F_x + L̇_y)/F_z,    p_y = c_y − (c_z F_y − L̇_x)/F_z.
/// Rates are second differences of the frames, L that of the motion between two of them, so that p belongs to the frames as they are.
#include <string.h>

#include "base/error.h"
#include "motion/walk.h"

// ---- joints

static void set_tasks(const kk_walk *w, int frame, kk_ik_task *task) {
    const double time = frame * w->options.timestep;
    double load;
    for (int i = 0; i < 4; i++) {
        task[i] = kk_ik_task_default();
    }
    for (int foot = 0; foot < 2; foot++) {
        task[foot].frame = w->options.sole[foot];
        task[foot].goal = kki_walk_sole(w, foot, time, &load);
    }
    task[2].type = KK_IK_COM;
    task[2].goal.p = kk_vec3_make(w->com[0][frame], w->com[1][frame], w->height);
    // the root stays upright and looks midway between the feet
    task[3].body = 1;
    task[3].goal.R = kk_mat3_from_rpy(0, 0, kki_walk_yaw(w, time));
    task[3].weight[3] = task[3].weight[4] = task[3].weight[5] = 0;
}

kk_status kki_walk_solve(kk_walk *w, kk_error *error) {
    const kk_ik_options o = {.tolerance = 1e-11, .max_iterations = 30, .fixed = w->fixed};
    for (int i = 0; i < w->count; i++) {
        double *q = w->q + (size_t)i * (size_t)w->nq;
        kk_ik_task task[4];
        kk_ik_report report;
        if (i > 0) {
            // go on as before: an almost exact guess
            memcpy(q, q - w->nq, (size_t)w->nq * sizeof *q);
            if (i > 1) {
                kk_difference(w->model, q - 2 * w->nq, q - w->nq, w->difference);
                kk_integrate(w->model, q, w->difference, q);
            }
        }
        set_tasks(w, i, task);
        if (kk_ik_solve(w->model, w->ik, task, 4, &o, q, &report, NULL) != KK_OK && report.error[0] > 1e-7) {
            const int ms = (int)(1000 * i * w->options.timestep);
            return kki_error_set(
                error, KK_NOT_CONVERGED,
                "the legs cannot reach the footsteps at %d.%03d s; take shorter steps, or start from a "
                "posture with bent knees (a lower center of mass)",
                ms / 1000, ms % 1000);
        }
        w->center[i] = kk_center_of_mass(w->model, w->data, q);
    }
    return KK_OK;
}

// ---- the ZMP of it

/// Angular momentum about the center of mass on the way from a frame to the next.
static kk_vec3 spin(kk_walk *w, int frame) {
    const double *q = w->q + (size_t)frame * (size_t)w->nq, dt = w->options.timestep;
    kk_difference(w->model, q, q + w->nq, w->difference);
    for (int k = 0; k < w->nv; k++) {
        w->difference[k] *= 0.5;
    }
    kk_integrate(w->model, q, w->difference, w->q_middle);
    for (int k = 0; k < w->nv; k++) {
        w->difference[k] *= 2 / dt;
    }
    return kk_centroidal_momentum(w->model, w->data, w->q_middle, w->difference).angular;
}

void kki_walk_measure(kk_walk *w) {
    const double dt = w->options.timestep, mass = kk_model_mass(w->model), g = -kk_model_gravity(w->model).z;
    kk_vec3 L = spin(w, 0);
    w->zmp_error = 0;
    for (int i = 1; i + 1 < w->count; i++) {
        const kk_vec3 next = spin(w, i), rate = kk_vec3_scale(kk_vec3_sub(next, L), 1 / dt), c = w->center[i];
        const kk_vec3 bend = kk_vec3_add(kk_vec3_sub(w->center[i + 1], c), kk_vec3_sub(w->center[i - 1], c));
        const kk_vec3 F = kk_vec3_scale(kk_vec3_add(kk_vec3_scale(bend, 1 / (dt * dt)), kk_vec3_make(0, 0, g)), mass);
        w->whole[0][i] = c.x - (c.z * F.x + rate.y) / F.z;
        w->whole[1][i] = c.y - (c.z * F.y - rate.x) / F.z;
        for (int k = 0; k < 2; k++) {
            const double e = w->whole[k][i] - w->zmp[k][i];
            w->zmp_error = e > w->zmp_error ? e : -e > w->zmp_error ? -e : w->zmp_error;
        }
        L = next;
    }
    for (int k = 0; k < 2; k++) {
        w->whole[k][0] = w->zmp[k][0];
        w->whole[k][w->count - 1] = w->zmp[k][w->count - 1];
    }
}
