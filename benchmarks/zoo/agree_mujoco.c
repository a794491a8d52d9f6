/// Mass, M(q), bias forces, and the pairs of bodies that may touch, ours beside MuJoCo's.
///
/// MuJoCo's velocity of a free joint is [linear, world axes; angular, body axes], ours [angular; linear] in the body's axes: v = S v', τ' = Sᵀ τ with S of
/// joints' blocks. Pairs are of bodies, by name: shapes that are only seen are no shapes of ours.
#include "peer_mujoco.h"
#include "zoo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Both models, and which of our bodies is which of theirs.
typedef struct twin {
    const kk_model *k;
    const mjModel *m;
    mjData *d;
    kk_data *data;
    int *joint; ///< [njnt] our body whose joint it is
    int *body;  ///< [our bodies] theirs; −1: none, as the inner ones of several joints
} twin;

// ---- who is who

static int their_body(const mjModel *m, const char *name) {
    const int named = mj_name2id(m, mjOBJ_BODY, name);
    int number = -1, length = 0;
    if (named >= 0 || sscanf(name, "body%d%n", &number, &length) != 1 || name[length] != 0) {
        return named;
    }
    // our name of a body that has none in the file
    const char *theirs = number >= 0 && number < m->nbody ? mj_id2name(m, mjOBJ_BODY, number) : "?";
    return theirs && *theirs ? -1 : number;
}

static bool find_bodies(twin *t, zoo_agreement *a) {
    int joints = 0, found = 0;
    for (int i = 0; i < kk_model_nbody(t->k); i++) {
        t->body[i] = i == 0 ? 0 : their_body(t->m, kk_model_body_name(t->k, i));
        found += t->body[i] >= 0;
        if (kk_model_joint(t->k, i).type != KK_JOINT_FIXED && i > 0) {
            if (joints < t->m->njnt) {
                t->joint[joints] = i;
            }
            joints++;
        }
    }
    if (found != t->m->nbody) {
        snprintf(a->problem, ZOO_TEXT, "%d of %d bodies found by name", found, (int)t->m->nbody);
    }
    return joints == t->m->njnt;
}

// ---- M and bias

static double *numbers(int count) {
    return calloc((size_t)(count > 0 ? count : 1), sizeof(double));
}

/// MuJoCo's q as ours.
static void our_q(const twin *t, double *q) {
    kk_model_neutral(t->k, q);
    kk_kinematics(t->k, t->data, q);
    for (int j = 0; j < t->m->njnt; j++) {
        const kk_joint_info info = kk_model_joint(t->k, t->joint[j]);
        const mjtNum *from = t->d->qpos + t->m->jnt_qposadr[j];
        double *to = q + info.q_index;
        if (info.type != KK_JOINT_FREE) {
            memcpy(to, from, (size_t)info.nq * sizeof *to);
            continue;
        }
        const kk_transform rest = kk_body_pose(t->k, t->data, t->joint[j]);
        const kk_mat3 R = kk_quat_to_mat3(kk_quat_normalize((kk_quat){from[3], from[4], from[5], from[6]}));
        const kk_transform X =
            kk_transform_mul(kk_transform_inverse(rest), kk_transform_make(R, kk_vec3_make(from[0], from[1], from[2])));
        const kk_quat r = kk_quat_from_mat3(X.R);
        const double made[7] = {r.w, r.x, r.y, r.z, X.p.x, X.p.y, X.p.z};
        memcpy(to, made, sizeof made);
    }
}

/// y = S x, or Sᵀ x.
static void map_velocity(const twin *t, const double *x, double *y, bool is_transposed) {
    for (int j = 0; j < t->m->njnt; j++) {
        const kk_joint_info info = kk_model_joint(t->k, t->joint[j]);
        const int ours = info.v_index, theirs = t->m->jnt_dofadr[j];
        if (info.type != KK_JOINT_FREE) {
            memcpy(y + (is_transposed ? theirs : ours), x + (is_transposed ? ours : theirs),
                   (size_t)info.nv * sizeof *y);
            continue;
        }
        const mjtNum *R = t->d->xmat + 9 * t->m->jnt_bodyid[j];
        for (int i = 0; i < 3; i++) {
            if (is_transposed) {
                y[theirs + 3 + i] = x[ours + i];
                y[theirs + i] = R[3 * i] * x[ours + 3] + R[3 * i + 1] * x[ours + 4] + R[3 * i + 2] * x[ours + 5];
            } else {
                y[ours + i] = x[theirs + 3 + i];
                y[ours + 3 + i] = R[i] * x[theirs] + R[3 + i] * x[theirs + 1] + R[6 + i] * x[theirs + 2];
            }
        }
    }
}

/// Accelerations that MuJoCo calls zero: the linear one of a free joint is in axes that turn, d/dt (Rᵀ v) = Rᵀ a − ω × Rᵀ v.
static void still(const twin *t, const double *v, double *a) {
    memset(a, 0, sizeof *a * (size_t)t->m->nv);
    for (int j = 0; j < t->m->njnt; j++) {
        const kk_joint_info info = kk_model_joint(t->k, t->joint[j]);
        if (info.type == KK_JOINT_FREE) {
            const double *w = v + info.v_index;
            const kk_vec3 x = kk_vec3_cross(kk_vec3_make(w[0], w[1], w[2]), kk_vec3_make(w[3], w[4], w[5]));
            double *to = a + info.v_index + 3;
            to[0] = -x.x;
            to[1] = -x.y;
            to[2] = -x.z;
        }
    }
}

static double largest(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static double difference(const double *x, const double *y, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

/// Columns of M one by one, at the configuration of t->d. @param work [5 nv]
static double compare_inertia(const twin *t, const double *q, double *work, double *size) {
    const int n = (int)t->m->nv;
    double *unit = work, *ours = work + n, *force = work + 2 * n, *mapped = work + 3 * n, *column = work + 4 * n;
    double worst = 0;
    *size = 0;
    kk_crba(t->k, t->data, q);
    for (int i = 0; i < n; i++) {
        memset(unit, 0, sizeof *unit * (size_t)n);
        unit[i] = 1;
        mj_mulM(t->m, t->d, column, unit);
        map_velocity(t, unit, ours, false);
        kk_inertia_matrix_mul(t->k, t->data, ours, force);
        map_velocity(t, force, mapped, true);
        worst = fmax(worst, difference(mapped, column, n));
        *size = fmax(*size, largest(column, n));
    }
    return *size > 0 ? worst / *size : 0;
}

/// At a random configuration near the start, at random velocities.
static void compare_dynamics(const twin *t, zoo_agreement *a) {
    const int n = (int)t->m->nv;
    double *q = numbers(kk_model_nq(t->k)), *v = numbers(n), *b = numbers(n), *tau = numbers(n), *mapped = numbers(n),
           *work = numbers(5 * n);
    if (q && v && b && tau && mapped && work) {
        for (int i = 0; i < n; i++) {
            t->d->qvel[i] = 2 * kk_random_uniform_at(7, 0, (uint64_t)i) - 1;
        }
        mj_integratePos(t->m, t->d->qpos, t->d->qvel, 0.5);
        mj_forward(t->m, t->d);
        our_q(t, q);
        double size = 0;
        a->inertia = compare_inertia(t, q, work, &size);
        map_velocity(t, t->d->qvel, v, false);
        still(t, v, b);
        kk_inverse_dynamics(t->k, t->data, q, v, b, tau);
        map_velocity(t, tau, mapped, true);
        const double scale = fmax(size, largest(t->d->qfrc_bias, n));
        a->bias = scale > 0 ? difference(mapped, t->d->qfrc_bias, n) / scale : 0;
    }
    free(q);
    free(v);
    free(b);
    free(tau);
    free(mapped);
    free(work);
}

// ---- where they start

static void name_theirs(const mjModel *m, int body, char *name) {
    const char *theirs = mj_id2name(m, mjOBJ_BODY, body);
    if (theirs && *theirs) {
        snprintf(name, ZOO_NAME, "%.50s", theirs);
    } else {
        snprintf(name, ZOO_NAME, "body%d", body);
    }
}

/// Both stand in their start of that number.
static void compare_places(const twin *t, int keyframe, zoo_agreement *a) {
    for (int i = 1; i < kk_model_nbody(t->k); i++) {
        if (t->body[i] > 0) {
            const kk_vec3 p = kk_body_pose(t->k, t->data, i).p;
            const mjtNum *theirs = t->d->xpos + 3 * t->body[i];
            const double off = kk_vec3_norm(kk_vec3_sub(p, kk_vec3_make(theirs[0], theirs[1], theirs[2])));
            if (off > a->start) {
                a->start = off;
                a->start_keyframe = keyframe;
                name_theirs(t->m, t->body[i], a->start_body);
            }
        }
    }
}

static void compare_starts(const twin *t, zoo_agreement *a) {
    const int keyframes = kk_model_nkeyframe(t->k) < t->m->nkey ? kk_model_nkeyframe(t->k) : (int)t->m->nkey;
    kk_state *state = NULL;
    for (int key = -1; key < keyframes; key++) {
        if (kk_state_create(t->k, NULL, &state) != KK_OK ||
            (key >= 0 && kk_state_set_keyframe(t->k, state, key) != KK_OK)) {
            snprintf(a->problem, ZOO_TEXT, "keyframe %d is refused", key);
        } else if (key < 0) {
            mj_resetData(t->m, t->d);
        } else {
            mj_resetDataKeyframe(t->m, t->d, key);
        }
        mj_kinematics(t->m, t->d);
        if (state && kk_kinematics(t->k, t->data, kk_state_q_const(state)) == KK_OK) {
            compare_places(t, key, a);
        }
        kk_state_free(state);
        state = NULL;
    }
}

// ---- pairs

static bool is_among(const int *signature, int count, int a, int b) {
    const int key = ((a < b ? a : b) << 16) + (a < b ? b : a);
    for (int i = 0; i < count; i++) {
        if (signature[i] == key) {
            return true;
        }
    }
    return false;
}

/// MuJoCo's rules for two bodies: not one rigid group, not one joint apart unless at the world, not excluded. Of two that no joint moves (MuJoCo lets bodies
/// moved by the user touch what stands still) nothing comes.
static bool may_bodies_touch(const mjModel *m, int a, int b) {
    if (m->body_treeid[a] < 0 && m->body_treeid[b] < 0) {
        return false;
    }
    const int rigid_a = m->body_weldid[a], rigid_b = m->body_weldid[b];
    const int mount_a = m->body_weldid[m->body_parentid[rigid_a]], mount_b = m->body_weldid[m->body_parentid[rigid_b]];
    const bool is_filtering = (m->opt.disableflags & mjDSBL_FILTERPARENT) == 0;
    return rigid_a != rigid_b && !(is_filtering && rigid_a && rigid_b && (rigid_a == mount_b || rigid_b == mount_a)) &&
           !is_among(m->exclude_signature, (int)m->nexclude, a, b);
}

static bool may_geoms_touch(const mjModel *m, int a, int b) {
    const int A = m->geom_type[a], B = m->geom_type[b];
    const bool is_flat_a = A == mjGEOM_PLANE || A == mjGEOM_HFIELD, is_flat_b = B == mjGEOM_PLANE || B == mjGEOM_HFIELD;
    return !(is_flat_a && is_flat_b) &&
           ((m->geom_contype[a] & m->geom_conaffinity[b]) || (m->geom_contype[b] & m->geom_conaffinity[a]));
}

static void mark(unsigned char *set, int n, int a, int b, unsigned char bit) {
    set[(size_t)(a < b ? a : b) * (size_t)n + (size_t)(a < b ? b : a)] |= bit;
}

enum { OURS = 1, THEIRS = 2 };

static void mark_theirs(const mjModel *m, unsigned char *set) {
    const int n = (int)m->nbody;
    for (int a = 0; a < n && !(m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)); a++) {
        for (int b = a + 1; b < n; b++) {
            bool touches = false;
            for (int i = 0; i < m->body_geomnum[a] && !touches && may_bodies_touch(m, a, b); i++) {
                for (int k = 0; k < m->body_geomnum[b] && !touches; k++) {
                    touches = may_geoms_touch(m, m->body_geomadr[a] + i, m->body_geomadr[b] + k);
                }
            }
            if (touches) {
                mark(set, n, a, b, THEIRS);
            }
        }
    }
    for (int i = 0; i < m->npair; i++) {
        mark(set, n, m->geom_bodyid[m->pair_geom1[i]], m->geom_bodyid[m->pair_geom2[i]], THEIRS);
    }
}

static void mark_ours(const twin *t, unsigned char *set) {
    const int shapes = kk_model_nshape(t->k);
    for (int a = 0; a < shapes; a++) {
        const int body = t->body[kk_model_shape(t->k, a).body];
        for (int b = a + 1; b < shapes && body >= 0; b++) {
            if (kk_model_may_touch(t->k, a, b, NULL)) {
                const int other = t->body[kk_model_shape(t->k, b).body];
                if (other >= 0) {
                    mark(set, (int)t->m->nbody, body, other, OURS);
                }
            }
        }
    }
}

static void compare_pairs(const twin *t, zoo_agreement *a) {
    const int n = (int)t->m->nbody;
    unsigned char *set = calloc((size_t)n * (size_t)n, 1);
    if (!set) {
        return;
    }
    mark_ours(t, set);
    mark_theirs(t->m, set);
    for (int i = 0; i < n * n; i++) {
        a->pairs_ours += (set[i] & OURS) != 0;
        a->pairs_theirs += (set[i] & THEIRS) != 0;
        if (set[i] == OURS || set[i] == THEIRS) {
            const bool is_ours = set[i] == OURS;
            *(is_ours ? &a->only_ours : &a->only_theirs) += 1;
            if (a->listed < ZOO_LISTED_PAIRS) {
                zoo_pair *pair = &a->pair[a->listed++];
                pair->is_ours = is_ours;
                name_theirs(t->m, i / n, pair->body[0]);
                name_theirs(t->m, i % n, pair->body[1]);
            }
        }
    }
    free(set);
}

// ---- actuators

/// The same names in the same order, and the same ranges, so that one row of numbers is the same control to both.
static void compare_actuators(const twin *t, zoo_agreement *a) {
    const int n = kk_model_nactuator(t->k);
    if (n != t->m->nu) {
        snprintf(a->problem, ZOO_TEXT, "%d actuators, MuJoCo's %d", n, (int)t->m->nu);
    }
    for (int i = 0; i < n && n == t->m->nu; i++) {
        const kk_actuator_info ours = kk_model_actuator(t->k, i);
        const char *name = mj_id2name(t->m, mjOBJ_ACTUATOR, i);
        const mjtNum *range = t->m->actuator_ctrlrange + 2 * i;
        const bool is_limited = t->m->actuator_ctrllimited[i] != 0;
        if (name && *name && strcmp(name, ours.name) != 0) {
            snprintf(a->problem, ZOO_TEXT, "actuator %d is %.60s, MuJoCo's %.60s", i, ours.name, name);
        } else if (is_limited != (bool)isfinite(ours.control_lower) ||
                   (is_limited &&
                    fmax(fabs(ours.control_lower - range[0]), fabs(ours.control_upper - range[1])) > 1e-12)) {
            snprintf(a->problem, ZOO_TEXT, "actuator %.60s has another control range", ours.name);
        }
    }
}

void zoo_agree(const zoo_model *model, const zoo_peer *peer, zoo_agreement *a) {
    *a = (zoo_agreement){.inertia = -1, .bias = -1};
    twin t = {.k = model->model, .m = peer->m, .d = mj_makeData(peer->m)};
    t.joint = calloc((size_t)t.m->njnt + 1, sizeof *t.joint);
    t.body = calloc((size_t)kk_model_nbody(t.k) + 1, sizeof *t.body);
    const double mass = mj_getTotalmass(t.m);
    a->mass = mass > 0 ? fabs(kk_model_mass(t.k) - mass) / mass : kk_model_mass(t.k);
    if (t.d && t.joint && t.body && kk_data_create_with_matrices(t.k, NULL, &t.data) == KK_OK) {
        const bool same_joints = find_bodies(&t, a);
        if (same_joints && kk_model_nv(t.k) == t.m->nv) {
            compare_dynamics(&t, a);
        } else {
            snprintf(a->problem, ZOO_TEXT, "other joints");
        }
        compare_actuators(&t, a);
        compare_starts(&t, a);
        compare_pairs(&t, a);
    }
    kk_data_free(t.data);
    mj_deleteData(t.d);
    free(t.joint);
    free(t.body);
}
