/// Many simulations of one model: arrays of what is seen, a state behind each row, a simulator for each worker.
///
/// A step of simulation i copies row i into its state, steps that, and copies it back: some hundred bytes beside the
/// tens of kilobytes that a step touches, and the rows of all simulations lie side by side for whoever learns from
/// them. Which worker takes which simulation has no influence, because a simulator keeps nothing that a step's result
/// depends on.
#include <karakuri/simulations.h>
#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "base/float_bits.h"
#include "base/missing.h"
#include "base/workers.h"
#include "collision/scene.h"
#include "dynamics/data.h"
#include "model/warm.h"
#include "simulate/simulator.h"

enum { POSE_NUMBERS = 7, VELOCITY_NUMBERS = 6, WRENCH_NUMBERS = sizeof(kk_force) / sizeof(double) };

/// Simulations of a piece of work, at least: what a thread takes at once.
enum { GRAIN = 1 };

/// What a worker has for itself, and the first simulation that failed in its hands.
typedef struct hand {
    kk_simulator *simulator;
    kk_data *data;
    kk_scene *scene; ///< where there are rays
    int failed;      ///< −1: none
    kk_error error;
} hand;

struct kk_simulations {
    kk_allocator allocator;
    const kk_model *model;
    kk_simulations_def def;
    int count, nhand;
    hand *hand;                                        ///< [nhand]
    kk_state **state, *start;                          ///< [count]; what reset gives
    const kk_model **variation;                        ///< [count] NULL: the model itself
    double *time, *q, *v, *activation, *control, *tau; ///< rows
    double *wrench, *sensor_data, *poses, *velocities, *distances;
    int32_t *ncontact;            ///< [count]
    kk_contact *contact;          ///< [count × def.contacts]
    kk_body_ray *ray;             ///< [def.ray_count]
    unsigned char *is_robot;      ///< [nshape] not fixed to the world
    kk_simulation_result *result; ///< [count]
    unsigned char *is_named;      ///< [count] by the index of the call under way
};

// ---- making

typedef struct row {
    double **array;
    size_t width;
} row;

enum { ROWS = 11 };

/// All arrays of doubles with the numbers that each simulation has in them.
static void rows_of(kk_simulations *s, row rows[ROWS]) {
    const kk_model *m = s->model;
    const size_t nv = (size_t)m->nv, nbody = (size_t)m->nbody;
    const row all[ROWS] = {{&s->time, 1},
                           {&s->q, (size_t)m->nq},
                           {&s->v, nv},
                           {&s->activation, (size_t)m->nactivation},
                           {&s->control, (size_t)m->nactuator},
                           {&s->tau, nv},
                           {&s->wrench, nbody * WRENCH_NUMBERS},
                           {&s->sensor_data, (size_t)m->nsensordata},
                           {&s->poses, nbody * POSE_NUMBERS},
                           {&s->velocities, nbody * VELOCITY_NUMBERS},
                           {&s->distances, (size_t)s->def.ray_count}};
    memcpy(rows, all, sizeof all);
}

static size_t contact_bytes(const kk_simulations *s) {
    return (size_t)s->def.contacts * sizeof(kk_contact);
}

static kk_status make_rows(kk_simulations *s) {
    row rows[ROWS];
    rows_of(s, rows);
    int whole = 1;
    for (int i = 0; i < ROWS; i++) {
        *rows[i].array = kki_allocate_array_zeroed(&s->allocator, (size_t)s->count, rows[i].width * sizeof(double));
        whole &= *rows[i].array != NULL;
    }
    s->result = kki_allocate_array_zeroed(&s->allocator, (size_t)s->count, sizeof *s->result);
    s->is_named = kki_allocate_array_zeroed(&s->allocator, (size_t)s->count, sizeof *s->is_named);
    s->ncontact = kki_allocate_array_zeroed(&s->allocator, (size_t)s->count, sizeof *s->ncontact);
    s->contact = kki_allocate_array_zeroed(&s->allocator, (size_t)s->count, contact_bytes(s));
    return whole && s->result && s->is_named && s->ncontact && s->contact ? KK_OK : KK_OUT_OF_MEMORY;
}

static const kk_model *model_of(const kk_simulations *s, int i) {
    return s->variation[i] ? s->variation[i] : s->model;
}

static kk_status make_states(kk_simulations *s) {
    s->state = kki_allocate_array_zeroed(&s->allocator, (size_t)s->count, sizeof(kk_state *));
    s->variation = kki_allocate_array_zeroed(&s->allocator, (size_t)s->count, sizeof(const kk_model *));
    kk_status status =
        s->state && s->variation ? kk_state_create(s->model, &s->allocator, &s->start) : KK_OUT_OF_MEMORY;
    for (int i = 0; i < s->count && status == KK_OK; i++) {
        status = kk_state_create(s->model, &s->allocator, &s->state[i]);
        status = status || s->def.room.contacts <= 0 ? status : kk_state_reserve(s->state[i], s->def.room.contacts);
    }
    return status;
}

static int is_finite(kk_vec3 x) {
    return kki_is_finite(x.x) && kki_is_finite(x.y) && kki_is_finite(x.z);
}

static kk_status check_def(const kk_model *m, const kk_simulations_def *def, kk_error *error) {
    if (def->contacts < 0 || def->ray_count < 0 || (def->ray_count > 0 && !def->ray)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "contacts and ray_count count from 0, and rays must be given");
    }
    for (int i = 0; i < def->ray_count; i++) {
        const kk_body_ray *r = &def->ray[i];
        if (r->body < 0 || r->body >= m->nbody || (unsigned)r->axes > KK_RAY_WORLD || !is_finite(r->origin) ||
            !is_finite(r->direction) || !(r->limit > 0)) {
            return kki_error_set(error, KK_INVALID_ARGUMENT,
                                 "ray %d: its body, its axes, its numbers or its limit are none; a limit is above 0",
                                 i);
        }
    }
    return KK_OK;
}

/// Rays, and whom they see through.
static kk_status make_rays(kk_simulations *s) {
    const kk_model *m = s->model;
    s->ray = kki_allocate_array_zeroed(&s->allocator, (size_t)s->def.ray_count, sizeof *s->ray);
    s->is_robot = kki_allocate_array_zeroed(&s->allocator, (size_t)m->nshape, sizeof *s->is_robot);
    if (!s->ray || !s->is_robot) {
        return KK_OUT_OF_MEMORY;
    }
    for (int i = 0; i < s->def.ray_count; i++) {
        s->ray[i] = s->def.ray[i];
    }
    for (int i = 0; i < m->nshape; i++) {
        s->is_robot[i] = m->body[m->shape[i].body].node != 0;
    }
    return KK_OK;
}

/// A simulator and a data for each worker; a simulator by itself has one thread.
static kk_status make_hands(kk_simulations *s, kk_error *error) {
    kk_step_options options = s->def.step;
    options.workers = (kk_workers){0};
    s->hand = kki_allocate_array_zeroed(&s->allocator, (size_t)s->nhand, sizeof *s->hand);
    kk_status status = s->hand ? KK_OK : KK_OUT_OF_MEMORY;
    for (int i = 0; i < s->nhand && status == KK_OK; i++) {
        status = kk_simulator_create(s->model, &options, &s->allocator, &s->hand[i].simulator, error);
        const int reserves = s->def.room.contacts > 0 || s->def.room.near_pairs > 0;
        status = status || !reserves ? status : kk_simulator_reserve(s->hand[i].simulator, s->def.room, error);
        status = status ? status : kk_data_create(s->model, &s->allocator, &s->hand[i].data);
        if (status == KK_OK && s->def.ray_count > 0) {
            status = kk_scene_create(s->model, &s->allocator, &s->hand[i].scene, error);
        }
    }
    return status;
}

static void release_rows(kk_simulations *s) {
    row rows[ROWS];
    rows_of(s, rows);
    for (int i = 0; i < ROWS; i++) {
        kki_release_array(&s->allocator, *rows[i].array, (size_t)s->count, rows[i].width * sizeof(double));
    }
    kki_release_array(&s->allocator, s->result, (size_t)s->count, sizeof *s->result);
    kki_release_array(&s->allocator, s->is_named, (size_t)s->count, sizeof *s->is_named);
    kki_release_array(&s->allocator, s->ncontact, (size_t)s->count, sizeof *s->ncontact);
    kki_release_array(&s->allocator, s->contact, (size_t)s->count, contact_bytes(s));
}

void kk_simulations_free(kk_simulations *simulations) {
    kk_simulations *s = simulations;
    if (!s) {
        return;
    }
    for (int i = 0; s->hand && i < s->nhand; i++) {
        kk_simulator_free(s->hand[i].simulator);
        kk_data_free(s->hand[i].data);
        kk_scene_free(s->hand[i].scene);
    }
    kki_release_array(&s->allocator, s->ray, (size_t)s->def.ray_count, sizeof *s->ray);
    kki_release_array(&s->allocator, s->is_robot, (size_t)s->model->nshape, sizeof *s->is_robot);
    for (int i = 0; s->state && i < s->count; i++) {
        kk_state_free(s->state[i]);
    }
    kk_state_free(s->start);
    release_rows(s);
    kki_release_array(&s->allocator, s->hand, (size_t)s->nhand, sizeof *s->hand);
    kki_release_array(&s->allocator, s->state, (size_t)s->count, sizeof(kk_state *));
    kki_release_array(&s->allocator, s->variation, (size_t)s->count, sizeof(const kk_model *));
    const kk_allocator allocator = s->allocator;
    kki_release(&allocator, s, sizeof *s);
}

static int worker_count(const kk_workers *w) {
    return w->run && w->count > 1 ? w->count : 1;
}

kk_status kk_simulations_create(const kk_model *model, int count, const kk_simulations_def *def,
                                const kk_allocator *allocator, kk_simulations **simulations, kk_error *error) {
    if (!model || !simulations) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "the model or the place for the simulations is NULL");
    }
    *simulations = NULL;
    if (count < 1) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "%d simulations were asked for; the least is 1", count);
    }
    static const kk_simulations_def defaults = {0};
    const kk_status checked = check_def(model, def ? def : &defaults, error);
    if (checked != KK_OK) {
        return checked;
    }
    const kk_allocator chosen = kki_allocator_or_default(allocator);
    kk_simulations *s = kki_allocate_zeroed(&chosen, sizeof *s);
    if (!s) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for the simulations");
    }
    s->allocator = chosen;
    s->model = model;
    s->count = count;
    s->def = def ? *def : defaults;
    s->nhand = worker_count(&s->def.step.workers);
    kk_error why = {0};
    kk_status status = make_hands(s, &why); // which checks the options
    status = status ? status : make_rows(s);
    status = status ? status : make_states(s);
    status = status ? status : make_rays(s);
    s->def.ray = NULL; // the caller's
    status = status ? status : kk_simulations_reset(s, NULL, count, NULL, &why);
    if (status != KK_OK) {
        kk_simulations_free(s);
        return kki_error_set(error, status, "%s", why.text[0] ? why.text : "no memory for the simulations");
    }
    *simulations = s;
    return KK_OK;
}

// ---- reading

int kk_simulations_count(const kk_simulations *simulations) {
    return simulations->count;
}
int kk_simulations_nray(const kk_simulations *simulations) {
    return simulations->def.ray_count;
}
int kk_simulations_contact_room(const kk_simulations *simulations) {
    return simulations->def.contacts;
}
const kk_model *kk_simulations_model(const kk_simulations *simulations) {
    return simulations->model;
}
double *kk_simulations_time(kk_simulations *simulations) {
    return simulations->time;
}
double *kk_simulations_q(kk_simulations *simulations) {
    return simulations->q;
}
double *kk_simulations_v(kk_simulations *simulations) {
    return simulations->v;
}
double *kk_simulations_activation(kk_simulations *simulations) {
    return simulations->activation;
}
double *kk_simulations_control(kk_simulations *simulations) {
    return simulations->control;
}
double *kk_simulations_tau(kk_simulations *simulations) {
    return simulations->tau;
}
kk_force *kk_simulations_wrench(kk_simulations *simulations) {
    return (kk_force *)(void *)simulations->wrench;
}
const double *kk_simulations_sensor_data(const kk_simulations *simulations) {
    return simulations->sensor_data;
}
const double *kk_simulations_poses(const kk_simulations *simulations) {
    return simulations->poses;
}
const double *kk_simulations_velocities(const kk_simulations *simulations) {
    return simulations->velocities;
}
const double *kk_simulations_distances(const kk_simulations *simulations) {
    return simulations->distances;
}
const int32_t *kk_simulations_ncontact(const kk_simulations *simulations) {
    return simulations->ncontact;
}
const kk_contact *kk_simulations_contacts(const kk_simulations *simulations) {
    return simulations->contact;
}
const kk_simulation_result *kk_simulations_results(const kk_simulations *simulations) {
    return simulations->result;
}

// ---- rows and states

static void row_to_state(const kk_simulations *s, int i, kk_state *to) {
    const kk_model *m = s->model;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nactivation = (size_t)m->nactivation, at = (size_t)i;
    kk_state_set_time(to, s->time[i]);
    memcpy(kk_state_q(to), s->q + at * nq, nq * sizeof(double));
    memcpy(kk_state_v(to), s->v + at * nv, nv * sizeof(double));
    memcpy(kk_state_activation(to), s->activation + at * nactivation, nactivation * sizeof(double));
}

static void state_to_row(kk_simulations *s, int i, const kk_state *from) {
    const kk_model *m = s->model;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nactivation = (size_t)m->nactivation, at = (size_t)i;
    s->time[i] = kk_state_time(from);
    memcpy(s->q + at * nq, kk_state_q_const(from), nq * sizeof(double));
    memcpy(s->v + at * nv, kk_state_v_const(from), nv * sizeof(double));
    memcpy(s->activation + at * nactivation, kk_state_activation_const(from), nactivation * sizeof(double));
}

kk_status kk_simulations_get_state(const kk_simulations *simulations, int index, kk_state *state) {
    if (kki_is_missing(simulations, state)) {
        return KK_INVALID_ARGUMENT;
    }
    const kk_simulations *s = simulations;
    if (index < 0 || index >= s->count) {
        return KK_NOT_FOUND;
    }
    const kk_status status = kk_state_copy(state, s->state[index]);
    if (status == KK_OK) {
        row_to_state(s, index, state);
    }
    return status;
}

kk_status kk_simulations_set_state(kk_simulations *simulations, int index, const kk_state *state) {
    if (kki_is_missing(simulations, state)) {
        return KK_INVALID_ARGUMENT;
    }
    kk_simulations *s = simulations;
    if (index < 0 || index >= s->count) {
        return KK_NOT_FOUND;
    }
    const kk_status status = kk_state_copy(s->state[index], state);
    if (status == KK_OK) {
        state_to_row(s, index, state);
    }
    return status;
}

kk_status kk_simulations_vary(kk_simulations *simulations, int index, const kk_model *variation, kk_error *error) {
    if (kki_is_missing(simulations)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_simulations *s = simulations;
    if (index < 0 || index >= s->count) {
        return kki_error_set(error, KK_NOT_FOUND, "there is no simulation %d; simulations have numbers from 0 to %d",
                             index, s->count - 1);
    }
    if (variation && kk_model_base(variation) != s->model) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "that is no variation of the simulations' model");
    }
    s->variation[index] = variation == s->model ? NULL : variation;
    kki_state_begin(model_of(s, index), s->state[index]);
    return KK_OK;
}

// ---- which of them

/// Every number is one of a simulation and stands once. Two workers would step one that stood twice.
static kk_status check_index(kk_simulations *s, const int32_t *index, int count, kk_error *error) {
    if (count < 0 || count > s->count) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "%d simulations were named; there are %d", count, s->count);
    }
    kk_status status = KK_OK;
    int marked = 0;
    for (; index && marked < count && status == KK_OK; marked++) {
        const int i = index[marked];
        if (i < 0 || i >= s->count) {
            status = kki_error_set(error, KK_INVALID_ARGUMENT, "index[%d] is %d; simulations have numbers from 0 to %d",
                                   marked, i, s->count - 1);
            break;
        }
        if (s->is_named[i]) {
            status = kki_error_set(error, KK_INVALID_ARGUMENT, "index[%d] is %d, which stands there twice", marked, i);
            break;
        }
        s->is_named[i] = 1;
    }
    for (int k = 0; index && k < marked; k++) {
        s->is_named[index[k]] = 0;
    }
    return status;
}

typedef struct job {
    kk_simulations *s;
    const int32_t *index;
    int substeps;
    const kk_state *state;
    int steps; ///< of a rollout, and its arrays
    const double *control;
    double *q, *v, *sensor_data;
} job;

static int named(const job *j, int k) {
    return j->index ? j->index[k] : k;
}

// ---- a step

static kk_simulation_result blank_result(void) {
    return (kk_simulation_result){.flaw_body = {-1, -1}};
}

/// Counts a step that was taken. The report is not asked for: its energies would be computed.
static void note_step(const kk_report *report, kk_simulation_result *r) {
    r->substeps++;
    r->degraded += report->quality != KK_STEP_CERTIFIED;
    if (report->quality > r->quality) {
        r->quality = report->quality;
        r->flaw = report->flaw;
        r->flaw_body[0] = report->flaw_body[0];
        r->flaw_body[1] = report->flaw_body[1];
        r->flaw_amount = report->flaw_amount;
    }
}

static void note_failure(hand *h, int i, const kk_error *why) {
    if (h->failed < 0 || i < h->failed) {
        h->failed = i;
        h->error = *why;
    }
}

static void tell_poses(kk_simulations *s, hand *h, int i) {
    const kk_model *m = model_of(s, i);
    for (int b = 0; b < m->nbody; b++) {
        const size_t at = (size_t)i * (size_t)m->nbody + (size_t)b;
        const kk_transform X = kk_body_pose(m, h->data, b);
        const kk_quat turn = kk_quat_from_mat3(X.R);
        const kk_motion V = kk_body_velocity(m, h->data, b, KK_WORLD_ALIGNED);
        const double pose[POSE_NUMBERS] = {turn.w, turn.x, turn.y, turn.z, X.p.x, X.p.y, X.p.z};
        memcpy(s->poses + at * POSE_NUMBERS, pose, sizeof pose);
        memcpy(s->velocities + at * VELOCITY_NUMBERS, &V, sizeof V);
    }
}

/// A turn about z by which x points where the body's x axis does over the ground; none where that is upright.
static kk_mat3 yaw_of(kk_mat3 R) {
    const kk_vec3 x = kk_mat3_column(R, 0);
    const double length = kk_vec3_norm(kk_vec3_make(x.x, x.y, 0));
    const double c = length > 0 ? x.x / length : 1, s = length > 0 ? x.y / length : 0;
    return kk_mat3_from_columns(kk_vec3_make(c, s, 0), kk_vec3_make(-s, c, 0), kk_vec3_make(0, 0, 1));
}

static void cast_rays(kk_simulations *s, hand *h, int i) {
    double *const distance = s->distances + (size_t)i * (size_t)s->def.ray_count;
    kki_scene_place(h->scene, model_of(s, i), h->data);
    for (int k = 0; k < s->def.ray_count; k++) {
        const kk_body_ray *r = &s->ray[k];
        const kk_transform X = kk_body_pose(model_of(s, i), h->data, r->body);
        const kk_mat3 R = r->axes == KK_RAY_BODY ? X.R : r->axes == KK_RAY_YAW ? yaw_of(X.R) : kk_mat3_identity();
        const kk_ray ray = {kk_vec3_add(X.p, kk_mat3_mul_vec(R, r->origin)), kk_mat3_mul_vec(R, r->direction),
                            r->limit};
        kk_ray_hit hit;
        kki_scene_rays(h->scene, r->sees_all ? NULL : s->is_robot, &ray, 1, &hit);
        distance[k] = hit.shape < 0 ? r->limit : hit.distance;
    }
}

/// What is asked for of where the bodies are.
static void see_bodies(kk_simulations *s, hand *h, int i, int poses) {
    const kk_model *m = model_of(s, i);
    if (!poses && s->def.ray_count == 0) {
        return;
    }
    kki_data_turn_to(h->data, m);
    kk_kinematics_velocity(m, h->data, s->q + (size_t)i * (size_t)m->nq, s->v + (size_t)i * (size_t)m->nv);
    if (poses) {
        tell_poses(s, h, i);
    }
    if (s->def.ray_count > 0) {
        cast_rays(s, h, i);
    }
}

static void tell_contacts(kk_simulations *s, hand *h, int i) {
    kk_contact *const told_of = s->contact + (size_t)i * (size_t)s->def.contacts;
    const int most = s->def.contacts, n = kk_simulator_ncontact(h->simulator), told = n < most ? n : most;
    s->ncontact[i] = n;
    memset(told_of, 0, contact_bytes(s));
    if (told > 0) {
        memcpy(told_of, kk_simulator_contacts(h->simulator), (size_t)told * sizeof *told_of);
    }
}

static kk_status read_sensors(kk_simulations *s, hand *h, int i, kk_error *error) {
    double *const sensor_data = s->sensor_data + (size_t)i * (size_t)s->model->nsensordata;
    return kk_simulator_read_sensors(h->simulator, s->state[i], s->def.seed + (uint64_t)i, sensor_data, error);
}

static kk_status ask_controller(kk_simulations *s, int i, int substep, kk_error *why) {
    const kk_model *m = s->model;
    const size_t at = (size_t)i;
    const kk_moment moment = {.simulation = i,
                              .substep = substep,
                              .time = kk_state_time(s->state[i]),
                              .q = kk_state_q_const(s->state[i]),
                              .v = kk_state_v_const(s->state[i]),
                              .sensor_data = s->sensor_data + at * (size_t)m->nsensordata,
                              .control = s->control + at * (size_t)m->nactuator,
                              .tau = s->tau + at * (size_t)m->nv,
                              .wrench = kk_simulations_wrench(s) + at * (size_t)m->nbody};
    const kk_status status = s->def.controller(s->def.controller_user, &moment);
    return status ? kki_error_set(why, status, "its controller ended it before substep %d", substep) : KK_OK;
}

/// So many steps of a simulation whose state is loaded; its row follows.
static void take_substeps(const job *j, int i, hand *h, kk_error *why) {
    kk_simulations *s = j->s;
    const kk_model *m = model_of(s, i);
    const size_t at = (size_t)i;
    const kk_input input = {.control = s->control + at * (size_t)m->nactuator,
                            .tau = s->tau + at * (size_t)m->nv,
                            .wrench = kk_simulations_wrench(s) + at * (size_t)m->nbody};
    kk_simulation_result *r = &s->result[i];
    for (int k = 0; k < j->substeps && r->status == KK_OK; k++) {
        r->status = s->def.controller ? ask_controller(s, i, k, why) : KK_OK;
        r->status = r->status ? r->status : kk_step(m, s->state[i], h->simulator, &input, why);
        if (r->status == KK_OK) {
            note_step(&h->simulator->report, r);
        }
    }
    state_to_row(s, i, s->state[i]);
}

static void begin_one(kk_simulations *s, int i) {
    s->result[i] = blank_result();
    row_to_state(s, i, s->state[i]);
}

static void end_one(const job *j, int i, hand *h, int senses, kk_error *why) {
    kk_simulations *s = j->s;
    kk_simulation_result *r = &s->result[i];
    see_bodies(s, h, i, s->def.poses);
    if (r->substeps > 0) {
        tell_contacts(s, h, i);
    }
    if (senses && r->status == KK_OK && r->substeps > 0) {
        r->status = read_sensors(s, h, i, why);
    }
    if (r->status != KK_OK) {
        note_failure(h, i, why);
    }
}

static void step_one(const job *j, int i, hand *h) {
    kk_error why = {0};
    begin_one(j->s, i);
    take_substeps(j, i, h, &why);
    end_one(j, i, h, j->s->def.sensors, &why);
}

/// Most bytes of a block that are asked for ahead.
enum { MOST_AHEAD = 1 << 14, CACHE_LINE = 64 };

static void ask_for(const void *block, size_t size) {
    const char *at = block;
    for (size_t i = 0; i < size && i < MOST_AHEAD; i += CACHE_LINE) {
        __builtin_prefetch(at + i, 0, 2);
    }
}

/// What the step of a simulation begins with comes from far while the one before it is stepped.
static void ask_for_simulation(const kk_simulations *s, int i) {
    const kk_model *own = s->variation[i];
    kki_state_ask_for(s->state[i]);
    if (own) {
        ask_for(own, own->size);
        ask_for(own->constants, own->constants_size);
    }
}

static void step_share(void *context, int first, int end, int worker) {
    const job *j = context;
    for (int k = first; k < end; k++) {
        if (k + 1 < end) {
            ask_for_simulation(j->s, named(j, k + 1));
        }
        step_one(j, named(j, k), &j->s->hand[worker]);
    }
}

/// The first that failed, by number, whoever had it.
static kk_status first_failure(const kk_simulations *s, kk_error *error) {
    const hand *first = NULL;
    for (int i = 0; i < s->nhand; i++) {
        const hand *h = &s->hand[i];
        if (h->failed >= 0 && (!first || h->failed < first->failed)) {
            first = h;
        }
    }
    return first ? kki_error_set(error, s->result[first->failed].status, "simulation %d: %s", first->failed,
                                 first->error.text)
                 : KK_OK;
}

static void share(kk_simulations *s, int count, kki_share *task, job *j) {
    for (int i = 0; i < s->nhand; i++) {
        s->hand[i].failed = -1;
    }
    kki_workers_share(&s->def.step.workers, count, GRAIN, task, j);
}

kk_status kk_simulations_step(kk_simulations *simulations, const int32_t *index, int count, int substeps,
                              kk_error *error) {
    if (kki_is_missing(simulations)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_simulations *s = simulations;
    if (substeps < 0) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "%d substeps were asked for; the least is 0", substeps);
    }
    const kk_status status = check_index(s, index, count, error);
    if (status != KK_OK) {
        return status;
    }
    job j = {.s = s, .index = index, .substeps = substeps};
    share(s, count, step_share, &j);
    return first_failure(s, error);
}

// ---- a rollout

/// A row of the batch's array into row `at` of the caller's; nowhere for NULL.
static void record(const double *array, int width, size_t i, double *to, size_t at) {
    const size_t n = (size_t)width;
    if (to && n > 0) {
        memcpy(to + at * n, array + i * n, n * sizeof *to);
    }
}

/// @param k  which of the simulations named
static void roll_one(const job *j, int k, hand *h) {
    kk_simulations *s = j->s;
    const kk_model *m = s->model;
    const int i = named(j, k), nu = m->nactuator;
    kk_error why = {0};
    begin_one(s, i);
    for (int t = 0; t < j->steps; t++) {
        const size_t at = (size_t)k * (size_t)j->steps + (size_t)t;
        record(j->control, nu, at, s->control, (size_t)i);
        take_substeps(j, i, h, &why);
        if (j->sensor_data && s->result[i].status == KK_OK && s->result[i].substeps > 0) {
            s->result[i].status = read_sensors(s, h, i, &why);
        }
        record(s->q, m->nq, (size_t)i, j->q, at);
        record(s->v, m->nv, (size_t)i, j->v, at);
        record(s->sensor_data, m->nsensordata, (size_t)i, j->sensor_data, at);
    }
    end_one(j, i, h, s->def.sensors && !j->sensor_data, &why);
}

static void roll_share(void *context, int first, int end, int worker) {
    const job *j = context;
    for (int k = first; k < end; k++) {
        roll_one(j, k, &j->s->hand[worker]);
    }
}

kk_status kk_simulations_rollout(kk_simulations *simulations, const int32_t *index, int count, int steps, int substeps,
                                 const double *control, double *q, double *v, double *sensor_data, kk_error *error) {
    if (kki_is_missing(simulations)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_simulations *s = simulations;
    if (steps < 0 || substeps < 0 || (!control && s->model->nactuator > 0)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "a rollout takes 0 or more steps and substeps, and controls for each of its steps");
    }
    const kk_status status = check_index(s, index, count, error);
    if (status != KK_OK) {
        return status;
    }
    job j = {.s = s,
             .index = index,
             .substeps = substeps,
             .steps = steps,
             .control = control,
             .q = q,
             .v = v,
             .sensor_data = sensor_data};
    share(s, count, roll_share, &j);
    return first_failure(s, error);
}

// ---- without a step

static void clear_row(double *array, size_t width, int i) {
    memset(array + width * (size_t)i, 0, width * sizeof *array);
}

/// A variation starts where its own joints do, or where a state of the model stands that has no contacts yet.
static kk_status put_at(kk_simulations *s, int i, const kk_state *state) {
    if (!s->variation[i]) {
        return kk_state_copy(s->state[i], state ? state : s->start);
    }
    kki_state_begin(s->variation[i], s->state[i]);
    if (state) {
        kki_state_take_motion(s->state[i], state);
    }
    return KK_OK;
}

static void reset_one(kk_simulations *s, hand *h, int i, const kk_state *state) {
    const kk_model *m = s->model;
    s->result[i] = blank_result();
    s->result[i].status = put_at(s, i, state);
    if (s->result[i].status != KK_OK) {
        kk_error why = {0};
        kki_error_set(&why, s->result[i].status, "no memory for the contacts of the state");
        note_failure(h, i, &why);
        return;
    }
    state_to_row(s, i, s->state[i]);
    clear_row(s->control, (size_t)m->nactuator, i);
    clear_row(s->tau, (size_t)m->nv, i);
    clear_row(s->wrench, (size_t)m->nbody * WRENCH_NUMBERS, i);
    clear_row(s->sensor_data, (size_t)m->nsensordata, i);
    s->ncontact[i] = 0;
    memset(s->contact + (size_t)i * (size_t)s->def.contacts, 0, contact_bytes(s));
    see_bodies(s, h, i, s->def.poses);
}

static void reset_share(void *context, int first, int end, int worker) {
    const job *j = context;
    for (int k = first; k < end; k++) {
        reset_one(j->s, &j->s->hand[worker], named(j, k), j->state);
    }
}

kk_status kk_simulations_reset(kk_simulations *simulations, const int32_t *index, int count, const kk_state *state,
                               kk_error *error) {
    if (kki_is_missing(simulations)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_simulations *s = simulations;
    kk_status status = check_index(s, index, count, error);
    if (status == KK_OK && state) {
        status = kk_state_check(s->model, state, error);
    }
    if (status == KK_OK) {
        job j = {.s = s, .index = index, .state = state};
        share(s, count, reset_share, &j);
        status = first_failure(s, error);
    }
    return status;
}

static void forward_share(void *context, int first, int end, int worker) {
    const job *j = context;
    for (int k = first; k < end; k++) {
        see_bodies(j->s, &j->s->hand[worker], named(j, k), 1);
    }
}

/// Row by row in order, so that the first that is no configuration is the one named.
static kk_status check_rows(const kk_simulations *s, const job *j, int count, kk_error *error) {
    kk_status status = KK_OK;
    for (int k = 0; k < count && status == KK_OK; k++) {
        kk_error why = {0};
        const int i = named(j, k);
        status = kk_model_check_q(s->model, s->q + (size_t)i * (size_t)s->model->nq, &why);
        if (status != KK_OK) {
            kki_error_set(error, status, "simulation %d: %s", i, why.text);
        }
    }
    return status;
}

kk_status kk_simulations_forward(kk_simulations *simulations, const int32_t *index, int count, kk_error *error) {
    if (kki_is_missing(simulations)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    kk_simulations *s = simulations;
    job j = {.s = s, .index = index};
    kk_status status = check_index(s, index, count, error);
    status = status ? status : check_rows(s, &j, count, error);
    if (status == KK_OK) {
        share(s, count, forward_share, &j);
    }
    return status;
}
