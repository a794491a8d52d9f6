// TITAN-VIII under way in a study; see s4_titan.h.
#include <stdlib.h>
#include <string.h>

#include "s4_titan.h"

static const char *const leg_names[LEGS] = {"left_fore", "right_fore", "left_hind", "right_hind"};

/// Velocity servos of a drive that gives way: 4/s of 250 N m s/rad are 1000 N m/rad.
static void soften(kk_spec *spec) {
    for (int i = 0; i < kk_spec_actuator_count(spec); i++) {
        kk_actuator_def *a = kk_spec_actuator(spec, i);
        if (a->type == KK_ACTUATOR_VELOCITY) {
            a->gain = a->force_upper > 1 ? 250 : 50; // ankles bear 1 N m
            a->bias[2] = -a->gain;
        }
    }
}

bool titan_begin(titan *t, study *s, const char *file, bool is_soft, const kk_step_options *options) {
    static const char *const parts[LEG_JOINTS] = {"hip", "thigh", "shin", "foot"};
    kk_spec *spec = NULL;
    t->r = (runner){.s = s};
    if (!study_load_spec(s, file, &spec)) {
        return false;
    }
    if (is_soft) {
        soften(spec);
    }
    if (!runner_take(&t->r, s, spec, NULL, options)) {
        return false;
    }
    for (int leg = 0; leg < LEGS; leg++) {
        char name[64];
        for (int k = 0; k < LEG_JOINTS; k++) {
            snprintf(name, sizeof name, "%s_%s", leg_names[leg], parts[k]);
            t->body[leg][k] = runner_body(&t->r, name);
            const kk_joint_info j = kk_model_joint(t->r.m.model, t->body[leg][k]);
            t->dof[leg][k] = j.v_index;
            t->q[leg][k] = j.q_index;
            snprintf(name, sizeof name, "%s_j%d", leg_names[leg], k + 1);
            t->motor[leg][k] = runner_actuator(&t->r, name);
            t->kv[leg][k] = kk_model_actuator(t->r.m.model, t->motor[leg][k]).gain;
        }
        snprintf(name, sizeof name, "%s_toe", leg_names[leg]);
        t->toe[leg] = kk_model_find_frame(t->r.m.model, name);
    }
    return t->r.is_good;
}

// ---- crawling

kk_sequence *titan_gait(titan *t, const kk_crawl *crawl) {
    const kk_model *m = t->r.m.model;
    const int nq = kk_model_nq(m), rows = 3 * GAIT_ROWS + 1;
    double *time = cli_allocate((size_t)rows, sizeof *time),
           *value = cli_allocate((size_t)rows * (size_t)nq, sizeof *value);
    double *q = cli_allocate((size_t)nq, sizeof *q);
    kk_ik *ik = NULL;
    kk_sequence *gait = NULL;
    kk_error error = {0};
    kk_model_neutral(m, q);
    bool is_good = study_ok(t->r.s, kk_ik_create(m, LEGS, NULL, &ik), &error);
    for (int i = 0; i < rows && is_good; i++) {
        time[i] = i * crawl->period / GAIT_ROWS;
        is_good = study_ok(t->r.s, kk_crawl_pose(m, ik, crawl, t->toe, time[i], q, &error), &error);
        memcpy(value + (size_t)i * (size_t)nq, q, (size_t)nq * sizeof *q);
    }
    const kk_sequence_def def = {
        .model = m, .interpolation = KK_INTERPOLATE_CUBIC, .count = rows, .width = nq, .time = time, .value = value};
    if (is_good) {
        study_ok(t->r.s, kk_sequence_create(&def, NULL, &gait, &error), &error);
    }
    kk_ik_free(ik);
    free(time);
    free(value);
    free(q);
    return gait;
}

/// Vertical forces under the three feet that bear: their sum is the weight and their moments are those of the center of mass.
static void share_weight(const kk_vec3 *foot, const int *is_bearing, kk_vec3 com, double *force) {
    kk_vec3 from[3];
    int leg[3], n = 0;
    for (int i = 0; i < LEGS; i++) {
        force[i] = 0;
        if (is_bearing[i] && n < 3) {
            from[n] = kk_vec3_sub(foot[i], com);
            leg[n++] = i;
        }
    }
    double area[3], whole = 0;
    for (int k = 0; k < 3; k++) {
        const kk_vec3 a = from[(k + 1) % 3], b = from[(k + 2) % 3];
        area[k] = a.x * b.y - a.y * b.x; // of the triangle without k, twice
        whole += area[k];
    }
    for (int k = 0; k < 3; k++) {
        force[leg[k]] = exam_max(0, TITAN_WEIGHT * area[k] / whole);
    }
}

kk_sequence *titan_load(titan *t, const kk_crawl *crawl, const kk_sequence *gait, const double lean[2]) {
    const kk_model *m = t->r.m.model;
    const int nv = kk_model_nv(m), rows = 3 * GAIT_ROWS + 1;
    double *time = cli_allocate((size_t)rows, sizeof *time),
           *tau = cli_allocate((size_t)rows * (size_t)nv, sizeof *tau);
    double *q = cli_allocate((size_t)kk_model_nq(m), sizeof *q), *rest = cli_allocate((size_t)nv, sizeof *rest);
    kk_force *floor = cli_allocate((size_t)kk_model_nbody(m), sizeof *floor);
    kk_sequence *load = NULL;
    kk_error error = {0};
    for (int i = 0; i < rows; i++) {
        kk_vec3 foot[LEGS];
        int is_bearing[LEGS];
        double force[LEGS];
        time[i] = i * crawl->period / GAIT_ROWS;
        kk_crawl_feet(crawl, time[i], foot, is_bearing);
        kk_sequence_state(gait, time[i], q, NULL, NULL);
        kk_kinematics(m, t->r.m.data, q);
        for (int leg = 0; leg < LEGS; leg++) {
            foot[leg] = kk_frame_pose(m, t->r.m.data, t->toe[leg]).p;
        }
        share_weight(foot, is_bearing, kk_center_of_mass(m, t->r.m.data, q), force);
        for (int leg = 0; leg < LEGS; leg++) {
            floor[t->body[leg][3]].linear =
                kk_vec3_make(lean[0] * force[leg], lean[1] * force[leg], force[leg]); // feet are level
        }
        kk_inverse_dynamics_external(m, t->r.m.data, q, rest, rest, floor, tau + i * nv);
    }
    const kk_sequence_def def = {
        .interpolation = KK_INTERPOLATE_LINEAR, .count = rows, .width = nv, .time = time, .value = tau};
    study_ok(t->r.s, kk_sequence_create(&def, NULL, &load, &error), &error);
    free(time);
    free(tau);
    free(q);
    free(rest);
    free(floor);
    return load;
}

void titan_stand_at_start(titan *t, const kk_sequence *gait) {
    kk_sequence_state(gait, 0, kk_state_q(t->r.state), NULL, NULL);
}

void titan_parallel(const titan *t, int leg, double *torque, double *speed) {
    const double *tau = kk_simulator_force(t->r.simulator, KK_FORCE_ACTUATOR), *v = kk_state_v(t->r.state);
    double turned = 0;
    torque[0] = tau[t->dof[leg][0]];
    speed[0] = v[t->dof[leg][0]];
    for (int k = 1; k < 3; k++) {
        turned += v[t->dof[leg][k]];
        speed[k] = turned;
        torque[k] = tau[t->dof[leg][k]] - tau[t->dof[leg][k + 1]];
    }
}
