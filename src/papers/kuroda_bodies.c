/// S1 2.1 and 3.2: rigid bodies, their equations of motion, and the first-order symplectic method.
///
/// Bodies are free here, whatever joints the model has: hinges are springs. The state therefore keeps every body's own place and velocity
/// beside q and v, which are read off them. Where a caller has written another q or v, bodies are placed by it afresh.
#include <karakuri/elementary.h>
#include <string.h>

#include "base/error.h"
#include "papers/kuroda.h"

// ---- what is refused

static kk_status refuse(const kk_model *m, int node, const char *what, kk_error *error) {
    return kki_error_set(
        error, KK_UNSUPPORTED,
        "the solver \"kuroda\" knows rigid bodies that are free or on hinges: body \"%s\" %s; use another "
        "solver",
        kk_model_body_name(m, m->node_body[node]), what);
}

/// Moment about the center of mass, in the node's axes.
static kk_sym3 moment_of(const kki_node *n, kk_vec3 com) {
    const kk_sym3 shift = kk_sym3_point_mass(n->mass, com);
    return (kk_sym3){n->inertia[0][0] - shift.xx, n->inertia[1][1] - shift.yy, n->inertia[2][2] - shift.zz,
                     n->inertia[1][0] - shift.xy, n->inertia[2][0] - shift.xz, n->inertia[2][1] - shift.yz};
}

static kk_vec3 com_of(const kki_node *n) {
    const double im = 1 / n->mass;
    return kk_vec3_make(n->h[0] * im, n->h[1] * im, n->h[2] * im);
}

/// Whether a moment can be inverted: points and thin rods have none about some axis.
static int is_solid(kk_sym3 a) {
    const double trace = a.xx + a.yy + a.zz, xx = a.yy * a.zz - a.yz * a.yz;
    const double det = a.xx * xx + a.xy * (a.xz * a.yz - a.xy * a.zz) + a.xz * (a.xy * a.yz - a.xz * a.yy);
    return det > 1e-12 * trace * trace * trace;
}

static kk_status check_node(const kk_model *m, int i, kk_error *error) {
    const kki_node *n = &m->node[i];
    if (n->type != KKI_NODE_HINGE && !(n->type == KKI_NODE_FREE && n->parent == 0)) {
        return refuse(m, i, "has another joint", error);
    }
    if (!(n->mass > 0)) {
        return refuse(m, i, "has no mass", error);
    }
    if (!is_solid(moment_of(n, com_of(n)))) {
        return refuse(m, i, "has no moment of inertia about an axis through its center of mass", error);
    }
    for (int k = 0; k < m->node_nv[i]; k++) {
        if (m->dof[n->v_index + k].armature > 0) {
            return refuse(m, i, "has a rotor's inertia (armature)", error);
        }
    }
    return KK_OK;
}

kk_status kki_kuroda_check_bodies(const kk_model *m, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 1; i < m->nnode && status == KK_OK; i++) {
        status = check_node(m, i, error);
    }
    if (status == KK_OK && (m->ncoupling > 0 || m->nloop > 0 || m->ntendon > 0)) {
        status = kki_error_set(error, KK_UNSUPPORTED,
                               "the solver \"kuroda\" has no couplings, loops or tendons; use another solver");
    }
    return status;
}

// ---- constants

static kk_sym3 invert(kk_sym3 a) {
    const double xx = a.yy * a.zz - a.yz * a.yz, xy = a.xz * a.yz - a.xy * a.zz, xz = a.xy * a.yz - a.xz * a.yy;
    const double i = 1 / (a.xx * xx + a.xy * xy + a.xz * xz);
    return (kk_sym3){xx * i, (a.xx * a.zz - a.xz * a.xz) * i, (a.xx * a.yy - a.xy * a.xy) * i, xy * i,
                     xz * i, (a.xy * a.xz - a.xx * a.yz) * i};
}

static void fill_body(kuroda *K, int i) {
    const kki_node *n = &K->model->node[i];
    kuroda_body *b = &K->body[i];
    b->mass = n->mass;
    b->com = com_of(n);
    b->moment = moment_of(n, b->com);
    b->moment_inverse = invert(b->moment);
    // where it stands in its parent (or the world) at q = 0
    const kk_transform P = kki_node_transform(K->s->readout.view, n->parent),
                       N = kki_node_transform(K->s->readout.view, i);
    const kk_transform X = kk_transform_mul(kk_transform_inverse(P), N);
    b->neutral = kk_quat_from_mat3(X.R);
    b->neutral_place = X.p;
}

void kki_kuroda_fill_bodies(kuroda *K) {
    kk_kinematics(K->model, K->s->readout.view, K->s->data->neutral);
    K->body[0] = (kuroda_body){.R = {1, 0, 0, 0}, .turn = kk_mat3_identity(), .turn_next = kk_mat3_identity()};
    for (int i = 1; i < K->model->nnode; i++) {
        fill_body(K, i);
    }
}

// ---- from the state

static void refresh(kuroda_body *b) {
    b->turn = kk_quat_to_mat3(b->R);
    b->inverse = kk_sym3_rotate(b->turn, b->moment_inverse);
    b->force = b->torque = kk_vec3_make(0, 0, 0);
}

static void load_by_kinematics(kuroda *K, const kk_state *state) {
    const kk_model *m = K->model;
    kk_kinematics_velocity(m, K->s->readout.view, kk_state_q_const(state), kk_state_v_const(state));
    for (int i = 1; i < m->nnode; i++) {
        kuroda_body *b = &K->body[i];
        const kki_rates *rates = kki_rates_of(K->s->readout.view, i);
        const kk_transform X = kki_node_transform(K->s->readout.view, i);
        const kk_vec3 arm = kk_mat3_mul_vec(X.R, b->com);
        b->R = kk_quat_normalize(kk_quat_from_mat3(X.R));
        b->x = kk_vec3_add(X.p, arm);
        b->w = kki_vec3(rates->w);
        b->v = kk_vec3_add(kki_vec3(rates->u), kk_vec3_cross(b->w, arm));
        refresh(b);
    }
}

static kk_vec3 load3(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void store3(double *x, kk_vec3 a) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

static void load_records(kuroda *K, const double *record) {
    for (int i = 1; i < K->model->nnode; i++) {
        const double *r = record + (size_t)(i * KURODA_WARM_BODY);
        kuroda_body *b = &K->body[i];
        b->x = load3(r);
        b->R = (kk_quat){r[3], r[4], r[5], r[6]};
        b->v = load3(r + 7);
        b->w = load3(r + 10);
        refresh(b);
    }
    for (int i = 0; i < K->nhinge; i++) {
        const double *r = record + (size_t)(K->hinge[i].body[1] * KURODA_WARM_BODY + KURODA_WARM_HINGE);
        K->hinge[i].is_held = r[0] != 0;
        K->hinge[i].held = r[1];
        K->hinge[i].step = r[2];
    }
}

// ---- q and v as the bodies have them

/// @param near  of the two quaternions of an attitude the one nearer to this
static void write_free(const kuroda_body *b, const double *near, double *q, double *v) {
    kk_quat R = kk_quat_normalize(kk_quat_mul(kk_quat_conjugate(b->neutral), b->R));
    if (R.w * near[0] + R.x * near[1] + R.y * near[2] + R.z * near[3] < 0) {
        R = (kk_quat){-R.w, -R.x, -R.y, -R.z};
    }
    const kk_vec3 arm = kk_mat3_mul_vec(b->turn, b->com), origin = kk_vec3_sub(b->x, arm);
    const kk_vec3 place = kk_mat3_tmul_vec(kk_quat_to_mat3(b->neutral), kk_vec3_sub(origin, b->neutral_place));
    q[0] = R.w;
    q[1] = R.x;
    q[2] = R.y;
    q[3] = R.z;
    store3(q + 4, place);
    store3(v, kk_mat3_tmul_vec(b->turn, b->w));
    store3(v + 3, kk_mat3_tmul_vec(b->turn, kk_vec3_sub(b->v, kk_vec3_cross(b->w, arm))));
}

/// @param near [nq] angles are told from their other turns by being near to these
static void write(const kuroda *K, const double *near, double *q, double *v) {
    const kk_model *m = K->model;
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        if (n->type == KKI_NODE_FREE) {
            write_free(&K->body[i], near + n->q_index, q + n->q_index, v + n->v_index);
        }
    }
    for (int i = 0; i < K->nhinge; i++) {
        const kki_node *n = &m->node[K->hinge[i].body[1]];
        q[n->q_index] = kki_kuroda_angle_near(K, &K->hinge[i], near[n->q_index]);
        v[n->v_index] = kki_kuroda_rate(K, &K->hinge[i]);
    }
}

void kki_kuroda_load(kuroda *K, const kk_state *state) {
    const kk_model *m = K->model;
    const double *record = kki_state_warm_const(state) + K->s->warm_start.layout.first_body,
                 *q = kk_state_q_const(state);
    if (K->nhinge > 0 && record[0] == 1) {
        load_records(K, record);
        write(K, q, K->s->rk4.q_part, K->s->rk4.v_part);
        if (memcmp(K->s->rk4.q_part, q, (size_t)m->nq * sizeof *q) == 0 &&
            memcmp(K->s->rk4.v_part, kk_state_v_const(state), (size_t)m->nv * sizeof *q) == 0) {
            return;
        }
    }
    for (int i = 0; i < K->nhinge; i++) {
        K->hinge[i].is_held = 0;
        K->hinge[i].step = 0;
    }
    load_by_kinematics(K, state);
}

static void store_records(const kuroda *K, double *record) {
    memset(record, 0, (size_t)K->model->nnode * KURODA_WARM_BODY * sizeof *record);
    record[0] = 1; // the world's place: says that the rest is known
    for (int i = 1; i < K->model->nnode; i++) {
        double *r = record + (size_t)(i * KURODA_WARM_BODY);
        const kuroda_body *b = &K->body[i];
        store3(r, b->x);
        r[3] = b->R.w;
        r[4] = b->R.x;
        r[5] = b->R.y;
        r[6] = b->R.z;
        store3(r + 7, b->v);
        store3(r + 10, b->w);
    }
    for (int i = 0; i < K->nhinge; i++) {
        double *r = record + (size_t)(K->hinge[i].body[1] * KURODA_WARM_BODY + KURODA_WARM_HINGE);
        r[0] = K->hinge[i].is_held;
        r[1] = K->hinge[i].held;
        r[2] = K->hinge[i].step;
    }
}

void kki_kuroda_store(kuroda *K) {
    kk_simulator *s = K->s;
    memcpy(s->rk4.q_part, s->motion.q, (size_t)K->model->nq * sizeof *s->motion.q);
    write(K, s->rk4.q_part, s->motion.q, s->motion.v);
    if (K->nhinge > 0) {
        store_records(K, s->warm_start.value + s->warm_start.layout.first_body);
    }
}

// ---- motion

void kki_kuroda_add_force(kuroda_body *b, kk_vec3 point_from_center, kk_vec3 force) {
    b->force = kk_vec3_add(b->force, force);
    b->torque = kk_vec3_add(b->torque, kk_vec3_cross(point_from_center, force));
}

void kki_kuroda_accelerate(kuroda *K) {
    const double dt = K->s->h;
    for (int i = 1; i < K->model->nnode; i++) {
        kuroda_body *b = &K->body[i];
        const kk_vec3 L = kk_mat3_mul_vec(b->turn, kk_sym3_mul_vec(b->moment, kk_mat3_tmul_vec(b->turn, b->w)));
        const kk_vec3 torque = kk_vec3_sub(b->torque, kk_vec3_cross(b->w, L)); // (2.26)
        b->v_free = kk_vec3_add(b->v, kk_vec3_scale(b->force, dt / b->mass));
        b->w_free = kk_vec3_add(b->w, kk_vec3_scale(kk_sym3_mul_vec(b->inverse, torque), dt));
        b->v_next = b->v_free;
        b->w_next = b->w_free;
    }
}

static kk_quat turned(const kuroda_body *b, double dt) {
    return kk_quat_normalize(kk_quat_mul(kk_quat_exp(kk_vec3_scale(b->w_next, dt)), b->R));
}

void kki_kuroda_foresee(kuroda *K) {
    for (int i = 1; i < K->model->nnode; i++) {
        kuroda_body *b = &K->body[i];
        b->x_next = kk_vec3_add(b->x, kk_vec3_scale(b->v_next, K->s->h));
        b->turn_next = kk_quat_to_mat3(turned(b, K->s->h));
    }
}

void kki_kuroda_move(kuroda *K) {
    for (int i = 1; i < K->model->nnode; i++) {
        kuroda_body *b = &K->body[i];
        b->R = turned(b, K->s->h); // (2.28) by its exponential
        b->x = kk_vec3_add(b->x, kk_vec3_scale(b->v_next, K->s->h));
        b->v = b->v_next;
        b->w = b->w_next;
        b->turn = kk_quat_to_mat3(b->R);
    }
}
