// TITAN-VIII under way in a study; see s4_titan.h.
#include <stdlib.h>
#include <string.h>

#include "s4_titan.h"

static const char *const leg_names[LEGS] = {"left_fore", "right_fore", "left_hind", "right_hind"};

const double titan_gain[LEG_JOINTS] = {4, 4, 4, 1}, titan_limit[LEG_JOINTS] = {32.3, 40.2, 25.7, 1};

/// The paper's contacts. In steps of h = 1 ms an ERP of 0.2 and a CFM of 1e-4 are a spring of ERP/(h CFM) and a damper of (1 − ERP)/CFM. The feet are the
/// only balls.
static void let_feet_creep(kk_spec *spec) {
    for (int i = 0; i < kk_spec_shape_count(spec); i++) {
        kk_shape_def *shape = kk_spec_shape(spec, i);
        if (shape->type == KK_SHAPE_SPHERE) {
            kk_material_def *material = kk_spec_material(spec, shape->material);
            material->slip = TITAN_SLIP;
            material->stiffness = 0.2 / (1e-3 * 1e-4);
            material->damping = (1 - 0.2) / 1e-4;
        }
    }
}

bool titan_begin(titan *t, study *s, const titan_def *def) {
    static const char *const parts[LEG_JOINTS] = {"hip", "thigh", "shin", "foot"};
    kk_spec *spec = NULL;
    t->r = (runner){.s = s};
    if (!study_load_spec(s, def->file, &spec)) {
        return false;
    }
    if (def->creeps) {
        let_feet_creep(spec);
    }
    if (!runner_take(&t->r, s, spec, NULL, def->options)) {
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

void titan_servo(titan *t, const double *target, double factor) {
    const double *q = kk_state_q(t->r.state);
    for (int leg = 0; leg < LEGS; leg++) {
        for (int k = 0; k < LEG_JOINTS; k++) {
            const int at = t->q[leg][k];
            t->r.control[t->motor[leg][k]] = -factor * titan_gain[k] * (q[at] - target[at]);
        }
    }
}

void titan_parallel(titan *t, int leg, const double *q, const double *v, const double *tau, double *torque,
                    double *speed) {
    const kk_model *m = t->r.m.model;
    const int nv = kk_model_nv(m);
    double *J = cli_allocate(6 * (size_t)nv, sizeof *J), Js[9], Jp[9], given[3], rate[3];
    kk_error error = {0};
    kk_jacobians(m, t->r.m.data, q);
    kk_frame_jacobian(m, t->r.m.data, t->toe[leg], KK_WORLD_ALIGNED, J);
    for (int k = 0; k < 3; k++) {
        given[k] = tau[t->dof[leg][k]] - (k > 0 ? tau[t->dof[leg][3]] : 0); // without the ankle's moment
        rate[k] = v[t->dof[leg][k]];
        for (int i = 0; i < 3; i++) {
            Js[3 * i + k] = J[(3 + i) * nv + t->dof[leg][k]];
        }
    }
    for (int i = 0; i < 3; i++) { // the thigh's motor leaves the shin's direction as it is
        Jp[3 * i] = Js[3 * i];
        Jp[3 * i + 1] = Js[3 * i + 1] - Js[3 * i + 2];
        Jp[3 * i + 2] = Js[3 * i + 2];
    }
    study_ok(t->r.s, kk_map_torque(3, Js, Jp, given, torque, &error), &error);
    study_ok(t->r.s, kk_map_velocity(3, Js, Jp, rate, speed, &error), &error);
    free(J);
}
