/// Inverse dynamics of a robot that stands on any of its links (Z-DYNAFORM, Sugihara, Nishiwaki, Inaba and Inoue 2000).
///
/// Link n is fixed to the world. Seen from the base link 0 (the paper's total frame) its motion follows from the joints
/// between the two, equations (1)-(4); turned round, it gives the motion of the base in the world, equations (5)-(9):
///     wT0 = wTn (0Tn)⁻¹                                                       (5)
///     ω0 = −R 0ωn                                                             (6)
///     ω̇0 = −R 0ω̇n − ω0 × R 0ωn                                               (7)
///     ṗ0 = −R 0ṗn − ω0 × R 0pn                                                (8)
///     p̈0 = −R 0p̈n − 2 ω0 × R 0ṗn − ω̇0 × R 0pn − ω0 × (ω0 × R 0pn)             (9)
/// with R = wR0; the g of (9) enters with inverse dynamics. A free joint's v and a are in the base's own axes, where R
/// disappears. Inverse dynamics then leaves on the base the wrench that holds the robot up; the world gives it through
/// link n instead, so it is taken out of every joint on the way from n to the base: tau − J_nᵀ F, zero on the base.
#include <string.h>

#include "base/error.h"
#include "base/missing.h"
#include "dynamics/data.h"

/// Motion of link n seen from the base, in the base's axes.
typedef struct seen {
    kk_transform X;
    kk_vec3 w, al; ///< angular velocity and acceleration
    kk_vec3 u, a;  ///< velocity and classical acceleration of n's origin
} seen;

static kk_vec3 load_vec(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static void store_vec(double *out, kk_vec3 a) {
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

static kk_transform transform_at_zero(const kki_node *b) {
    return kk_transform_make(kki_mat3(b->R), kki_vec3(b->p));
}

// ---- the base

static int root_of(const kk_model *m, int node) {
    while (m->node[node].parent > 0) {
        node = m->node[node].parent;
    }
    return node;
}

/// Finite, and R orthonormal and right-handed to 1e-6.
static int is_pose(kk_transform X) {
    const kk_vec3 x = kk_mat3_column(X.R, 0), y = kk_mat3_column(X.R, 1), z = kk_mat3_column(X.R, 2);
    const kk_vec3 off = kk_vec3_sub(kk_vec3_cross(x, y), z);
    const double error = kk_vec3_dot(off, off) + kk_vec3_dot(x, y) * kk_vec3_dot(x, y) +
                         (kk_vec3_dot(x, x) - 1) * (kk_vec3_dot(x, x) - 1) +
                         (kk_vec3_dot(y, y) - 1) * (kk_vec3_dot(y, y) - 1);
    return error < 1e-12 && kk_vec3_dot(X.p, X.p) < 1e300;
}

static kk_status check_pin(const kk_model *m, const kk_pin *pin, kk_error *error) {
    if (pin->body < 0 || pin->body >= m->nbody) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "pin: there is no body %d; the model has %d", pin->body,
                             (int)m->nbody);
    }
    if (!is_pose(pin->pose)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "pin: the pose of body \"%s\" is not a rotation and a finite position; take one that "
                             "kk_body_pose gave",
                             kki_model_name(m, m->body[pin->body].name));
    }
    const int root = root_of(m, m->body[pin->body].node);
    if (m->node[root].type != KKI_NODE_FREE) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "pin: body \"%s\" does not belong to a robot whose root has a free joint on the world; "
                             "nothing could move to keep it in place",
                             kki_model_name(m, m->body[pin->body].name));
    }
    return KK_OK;
}

/// The joint's own motion in the axes of its node.
static void joint_motion(const kki_node *b, const double *v, kk_motion *V) {
    *V = (kk_motion){{0, 0, 0}, {0, 0, 0}};
    v += b->v_index;
    if (b->type == KKI_NODE_SLIDE) {
        V->linear.z = v[0];
    } else if (b->type == KKI_NODE_HINGE || b->type == KKI_NODE_SCREW) {
        V->angular.z = v[0];
        V->linear.z = b->pitch * v[0];
    } else {
        V->angular = load_vec(v);
        V->linear = b->type == KKI_NODE_FREE ? load_vec(v + 3) : V->linear;
    }
}

/// Pose of a node in its parent's frame, after the sines and cosines.
static kk_transform pose_in_parent(const kk_model *m, const kk_data *d, int node, const double *q) {
    const kki_node *b = &m->node[node];
    const kk_vec3 x = kki_vec3(b->R[0]), y = kki_vec3(b->R[1]), z = kki_vec3(b->R[2]);
    q += b->q_index;
    if (b->type == KKI_NODE_HINGE || b->type == KKI_NODE_SCREW) {
        const double s = d->scratch.sine[node], c = d->scratch.cosine[node];
        const kk_vec3 turned_x = kk_vec3_add(kk_vec3_scale(x, c), kk_vec3_scale(y, s));
        const kk_vec3 turned_y = kk_vec3_sub(kk_vec3_scale(y, c), kk_vec3_scale(x, s));
        return kk_transform_make(kk_mat3_from_columns(turned_x, turned_y, z),
                                 kk_vec3_add(kki_vec3(b->p), kk_vec3_scale(z, b->pitch * q[0])));
    }
    kk_transform X = kk_transform_identity();
    if (b->type == KKI_NODE_SLIDE) {
        X.p.z = q[0];
    } else {
        X.R = kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]});
        X.p = b->type == KKI_NODE_FREE ? load_vec(q + 4) : X.p;
    }
    return kk_transform_mul(transform_at_zero(b), X);
}

/// One joint further towards the base: n, seen from a node and in its axes, becomes n seen from the node's parent and in that one's.
static void see_from_parent(const kk_model *m, const kk_data *d, int node, const double *q, const double *v,
                            const double *a, seen *s) {
    const kki_node *b = &m->node[node];
    const kk_transform X = pose_in_parent(m, d, node, q);
    const kk_vec3 p = s->X.p;
    kk_motion V, A;
    joint_motion(b, v, &V);
    joint_motion(b, a, &A);
    const kk_vec3 w = V.angular, lever = kk_vec3_cross(w, p);
    const kk_vec3 own = kk_vec3_add(A.linear, kk_vec3_cross(w, V.linear));
    const kk_vec3 coriolis = kk_vec3_scale(kk_vec3_cross(w, s->u), 2);
    const kk_vec3 carried = kk_vec3_add(kk_vec3_cross(A.angular, p), kk_vec3_cross(w, lever));
    const kk_vec3 acceleration = kk_vec3_add(kk_vec3_add(own, s->a), kk_vec3_add(coriolis, carried)); // (4)
    const kk_vec3 velocity = kk_vec3_add(kk_vec3_add(V.linear, s->u), lever);                         // (3)
    s->al = kk_mat3_mul_vec(X.R, kk_vec3_add(kk_vec3_add(A.angular, s->al), kk_vec3_cross(w, s->w))); // (2)
    s->w = kk_mat3_mul_vec(X.R, kk_vec3_add(w, s->w));                                                // (1)
    s->a = kk_mat3_mul_vec(X.R, acceleration);
    s->u = kk_mat3_mul_vec(X.R, velocity);
    s->X = kk_transform_mul(X, s->X);
}

/// Motion of the pinned body seen from the base and in its axes: only the joints between the two count.
static seen see_from_base(const kk_model *m, kk_data *d, int body, int base, const double *q, const double *v,
                          const double *a) {
    seen s = {.X = m->body[body].X_NB};
    d->kernels->angles(m, &d->scratch, q);
    for (int i = m->body[body].node; i != base; i = m->node[i].parent) {
        see_from_parent(m, d, i, q, v, a, &s);
    }
    return s;
}

/// Coordinates of the base that keep the pinned body where it is.
static void place_base(const kki_node *b, const seen *n, kk_transform X_Wn, double *q, double *v, double *a) {
    const kk_transform X_W0 = kk_transform_mul(X_Wn, kk_transform_inverse(n->X)); // (5)
    const kk_transform X_P0 = kk_transform_mul(kk_transform_inverse(transform_at_zero(b)), X_W0);
    const kk_quat turn = kk_quat_normalize(kk_quat_from_mat3(X_P0.R));
    const kk_vec3 p = n->X.p;
    const kk_vec3 w = kk_vec3_neg(n->w);   // (6)
    const kk_vec3 al = kk_vec3_neg(n->al); // (7): ω0 is parallel to 0ωn
    const kk_vec3 lever = kk_vec3_cross(w, p), u = kk_vec3_neg(kk_vec3_add(n->u, lever)); // (8)
    const kk_vec3 coriolis = kk_vec3_scale(kk_vec3_cross(w, n->u), 2);
    const kk_vec3 carried = kk_vec3_add(kk_vec3_cross(al, p), kk_vec3_cross(w, lever));
    const kk_vec3 classical = kk_vec3_neg(kk_vec3_add(n->a, kk_vec3_add(coriolis, carried))); // (9)
    q[b->q_index] = turn.w;
    store_vec(q + b->q_index + 1, kk_vec3_make(turn.x, turn.y, turn.z));
    store_vec(q + b->q_index + 4, X_P0.p);
    store_vec(v + b->v_index, w);
    store_vec(v + b->v_index + 3, u);
    store_vec(a + b->v_index, al);
    // the rate of u in the base's own axes
    store_vec(a + b->v_index + 3, kk_vec3_sub(classical, kk_vec3_cross(w, u)));
}

// ---- forces

/// Puts a wrench F, given at a node, through its joint no longer: out of the node's load and out of tau.
static void relieve(const kki_node *b, kk_force F, kki_local *s, double *tau) {
    store_vec(s->n, kk_vec3_sub(kki_vec3(s->n), F.angular));
    store_vec(s->f, kk_vec3_sub(kki_vec3(s->f), F.linear));
    tau += b->v_index;
    if (b->type == KKI_NODE_SLIDE) {
        tau[0] -= F.linear.z;
    } else if (b->type == KKI_NODE_HINGE || b->type == KKI_NODE_SCREW) {
        tau[0] -= F.angular.z + b->pitch * F.linear.z;
    } else {
        store_vec(tau, kk_vec3_sub(load_vec(tau), F.angular));
        if (b->type == KKI_NODE_FREE) {
            store_vec(tau + 3, kk_vec3_sub(load_vec(tau + 3), F.linear));
        }
    }
}

/// The floor holds the pinned body with a wrench, given in the base's frame: it leaves the joints between the two.
static void hold(const kk_model *m, kk_data *d, const kk_pin *pin, int base, kk_force F_0, double *tau) {
    const kki_body *body = &m->body[pin->body];
    const kk_transform X_0W = kk_transform_inverse(kki_node_transform(d, base));
    const kk_transform X_0N = kk_transform_mul(X_0W, kki_node_transform(d, body->node));
    kk_force F = kk_force_from(X_0N, F_0);
    memset(d->external, 0, (size_t)m->nbody * sizeof *d->external);
    d->external[pin->body] = kk_force_from(body->X_NB, F);
    d->has_external = 1;
    for (int i = body->node; i != base; i = m->node[i].parent) {
        relieve(&m->node[i], F, kki_local_of(d, i), tau);
        F = kk_force_to(kki_node_in_parent(m, d, i), F);
    }
    relieve(&m->node[base], F_0, kki_local_of(d, base), tau);
    for (int k = 0; k < 6; k++) {
        tau[m->node[base].v_index + k] = 0;
    }
}

/// Center of mass of the tree behind a base.
static kk_vec3 center_of_tree(const kk_model *m, const kk_data *d, int base) {
    const int first = m->node[base].v_index, end = m->dof_subtree[first];
    double moment[4] = {0}, mass = 0;
    for (int i = base; i < m->nnode; i++) {
        const kki_node *b = &m->node[i];
        if (b->v_index >= first && b->v_index < end) {
            const kki_pose *x = kki_pose_of(d, i);
            for (int k = 0; k < 4; k++) {
                const double h = x->R[0][k] * b->h[0] + x->R[1][k] * b->h[1] + x->R[2][k] * b->h[2];
                moment[k] += x->p[k] * b->mass + h;
            }
            mass += b->mass;
        }
    }
    return kk_vec3_scale(kki_vec3(moment), 1 / mass);
}

/// Where on the plane z = height the wrench has no horizontal moment.
static kk_vec3 zero_moment_point(kk_force floor, double height) {
    const kk_vec3 n = floor.angular, f = floor.linear;
    if (f.z == 0) {
        return kk_vec3_make(__builtin_nan(""), __builtin_nan(""), height);
    }
    return kk_vec3_make((height * f.x - n.y) / f.z, (height * f.y + n.x) / f.z, height);
}

kk_status kk_pinned_inverse_dynamics(const kk_model *model, kk_data *data, const kk_pin *pin, double height, double *q,
                                     double *v, double *a, double *tau, kk_pinned_result *result, kk_error *error) {
    if (kki_is_missing(model, data, pin)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT, "an argument that must be given is NULL");
    }
    if (!kki_fits(model, data)) {
        return kki_error_set(error, KK_INVALID_ARGUMENT,
                             "the data was made for another model; kk_data_create makes one");
    }
    const kk_status status = check_pin(model, pin, error);
    if (status != KK_OK) {
        return status;
    }
    const int base = root_of(model, model->body[pin->body].node);
    const kki_node *b = &model->node[base];
    const seen n = see_from_base(model, data, pin->body, base, q, v, a);
    place_base(b, &n, pin->pose, q, v, a);
    data->kernels->kinematics(model, &data->scratch, q, 1);
    data->kernels->rnea(model, &data->scratch, q, v, a, tau, 1);
    // what the base would need is what the floor gives
    const kk_force F_0 = kk_force_make(load_vec(tau + b->v_index), load_vec(tau + b->v_index + 3));
    hold(model, data, pin, base, F_0, tau);
    if (result) {
        result->floor = kk_force_to(kki_node_transform(data, base), F_0);
        result->zmp = zero_moment_point(result->floor, height);
        result->com = center_of_tree(model, data, base);
    }
    return KK_OK;
}
