/// Turns the frames of nodes about their own axes until as many placements as possible are a turn about x alone.
///
/// Denavit and Hartenberg (1955): with x of a frame along the common normal of its own axis z and its child's, the child's axis lies in
/// the plane x = 0, and R_NC(0) = Rx(α) Rz(θ). The turn θ about the child's own axis is added to its angle, so what is left is Rx(α):
/// two constants instead of nine, and a kernel turns a vector in 4 multiplications instead of 9. One child of every node can always have
/// this; others do where their axis happens to lie in the plane x = 0 or y = 0 of their parent, as right-angled ones do, or keep a full matrix. θ is kept as whole quarters and a rest, so that robots with axes at right angles, which most
/// are, get no rounding at all from it.
#include <karakuri/elementary.h>

#include "model/compile.h"

/// A rotation about an axis known from the context.
typedef struct planar {
    double c, s;
} planar;

/// What is a whole number of quarters to rounding (no file can write π/2) is one.
static planar planar_unit(double c, double s) {
    const double n = __builtin_sqrt(c * c + s * s), x = c / n, y = s / n;
    if (__builtin_fabs(x) < 1e-16) {
        return (planar){0, y > 0 ? 1 : -1};
    }
    if (__builtin_fabs(y) < 1e-16) {
        return (planar){x > 0 ? 1 : -1, 0};
    }
    return (planar){x, y};
}

static planar planar_mul(planar a, planar b) {
    return (planar){a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s};
}

/// Rz(−φ) x.
static kk_vec3 unturn(planar t, kk_vec3 x) {
    return kk_vec3_make(t.c * x.x + t.s * x.y, t.c * x.y - t.s * x.x, x.z);
}

static kk_mat3 unturn_matrix(planar t, kk_mat3 R) {
    return kk_mat3_from_columns(unturn(t, kk_mat3_column(R, 0)), unturn(t, kk_mat3_column(R, 1)),
                                unturn(t, kk_mat3_column(R, 2)));
}

static kk_vec3 load(const double a[4]) {
    return kk_vec3_make(a[0], a[1], a[2]);
}
static kk_mat3 load_matrix(const double a[3][4]) {
    return kk_mat3_from_columns(load(a[0]), load(a[1]), load(a[2]));
}

// adding 0 turns −0 into 0, so that equal models have equal bytes
static void store(double out[4], kk_vec3 a) {
    out[0] = a.x + 0.0;
    out[1] = a.y + 0.0;
    out[2] = a.z + 0.0;
}
static void store_matrix(double out[3][4], kk_mat3 A) {
    for (int j = 0; j < 3; j++) {
        store(out[j], kk_mat3_column(A, j));
    }
}
static void store_rotation(kki_node *n, kk_mat3 R) {
    store_matrix(n->R, R);
    store_matrix(n->Rt, kk_mat3_transpose(R));
}

/// How far to turn a node so that the axis z of its child, seen from the node, gets x = 0. Parallel axes need nothing.
static planar turn_towards(kk_vec3 z) {
    if (z.x * z.x + z.y * z.y < 1e-20) {
        return (planar){1, 0};
    }
    // the new x axis is ẑ × z; of its two senses the one nearer to the old
    const planar t = planar_unit(-z.y, z.x);
    return t.c < 0 ? (planar){-t.c, -t.s} : t;
}

/// Everything that is constant in the node's frame, after the frame has turned by t.
static void turn_contents(kk_model *m, int node, planar t) {
    kki_node *n = &m->node[node];
    const kk_mat3 J = unturn_matrix(t, kk_mat3_transpose(unturn_matrix(t, load_matrix(n->inertia)))); // Rᵀ J R
    store(n->h, unturn(t, load(n->h)));
    store_matrix(n->inertia, J);
    n->inertia[1][0] = n->inertia[0][1]; // exactly symmetric, as the kernels want it
    n->inertia[2][0] = n->inertia[0][2];
    n->inertia[2][1] = n->inertia[1][2];
}

static void turn_riders(kk_model *m, const planar *turn) {
    for (int b = 1; b < m->nbody; b++) {
        kki_body *body = &m->body[b];
        const planar t = turn[body->node];
        if (t.s != 0 || t.c != 1) {
            body->X_NB.R = unturn_matrix(t, body->X_NB.R);
            body->X_NB.p = unturn(t, body->X_NB.p);
        }
    }
}

/// KKI_ALIGNED_… of a turn about x or y.
static int kind_of_turn(planar a, int any, int forth, int back) {
    if (a.s == 0 && a.c > 0) {
        return KKI_ALIGNED_SAME;
    }
    return a.c != 0 ? any : a.s > 0 ? forth : back;
}

/// Splits R into a turn α about x or y and θ about z where it has that form, to rounding; says which.
static int split(kk_mat3 R, planar *alpha, planar *theta) {
    const kk_vec3 z = kk_mat3_column(R, 2);
    if (z.x * z.x <= 4e-32) {
        *alpha = planar_unit(z.z, -z.y);
        *theta = planar_unit(R.m[0], alpha->c * R.m[3] + alpha->s * R.m[6]);
        return kind_of_turn(*alpha, KKI_ALIGNED_X, KKI_ALIGNED_X_FORTH, KKI_ALIGNED_X_BACK);
    }
    if (z.y * z.y <= 4e-32) {
        *alpha = planar_unit(z.z, z.x);
        *theta = planar_unit(alpha->c * R.m[0] - alpha->s * R.m[6], R.m[3]);
        return kind_of_turn(*alpha, KKI_ALIGNED_Y, KKI_ALIGNED_Y_FORTH, KKI_ALIGNED_Y_BACK);
    }
    return KKI_ALIGNED_NOT;
}

static kk_mat3 about_x(planar a) {
    const kk_mat3 R = {{1, 0, 0, 0, a.c, -a.s, 0, a.s, a.c}};
    return R;
}

static kk_mat3 about_y(planar a) {
    const kk_mat3 R = {{a.c, 0, a.s, 0, 1, 0, -a.s, 0, a.c}};
    return R;
}

static kk_mat3 about_z(planar a) {
    const kk_mat3 R = {{a.c, -a.s, 0, a.s, a.c, 0, 0, 0, 1}};
    return R;
}

static int is_about_y(int aligned) {
    return aligned == KKI_ALIGNED_Y || aligned == KKI_ALIGNED_Y_FORTH || aligned == KKI_ALIGNED_Y_BACK;
}

/// The turn that a node's angle starts with, as quarters and a rest.
static void store_turn(kk_model *m, int node, planar t) {
    int64_t *quarters = &m->turn_quarters[node];
    if (t.s == 0) {
        *quarters = t.c > 0 ? 0 : 2;
    } else if (t.c == 0) {
        *quarters = t.s > 0 ? 1 : 3;
    } else {
        m->turn_rest[node] = kk_atan2(t.s, t.c);
    }
}

/// Placement of a node in its parent, whose frame has turned by t; gives the turn that goes into the node's own angle.
static planar place(kki_node *n, planar parent) {
    planar alpha = {1, 0}, theta = {1, 0};
    const kk_mat3 R = unturn_matrix(parent, load_matrix(n->R));
    store(n->p, unturn(parent, load(n->p)));
    if (n->type == KKI_NODE_HINGE && n->parent > 0) {
        n->aligned = split(R, &alpha, &theta);
    }
    if (n->aligned) {
        store_rotation(n, is_about_y(n->aligned) ? about_y(alpha) : about_x(alpha));
        return theta;
    }
    store_rotation(n, R);
    return (planar){1, 0};
}

static int may_turn(const kki_node *n) {
    return n->type == KKI_NODE_HINGE || n->type == KKI_NODE_SLIDE || n->type == KKI_NODE_SCREW;
}

/// One node: its place in the turned parent, its own turn for its first hinged child, and what follows from it.
static void align_node(kk_model *m, int node, const int32_t *child, double *scratch) {
    planar *turn = (planar *)scratch;
    kki_node *n = &m->node[node];
    const planar angle = place(n, turn[n->parent]);
    turn[node] = (planar){1, 0};
    if (may_turn(n) && child[node] > 0) {
        turn[node] = turn_towards(load(m->node[child[node]].R[2]));
        turn_contents(m, node, turn[node]);
    }
    if (n->type == KKI_NODE_SLIDE) {
        store_rotation(n, kk_mat3_mul(load_matrix(n->R), about_z(turn[node])));
    } else if (may_turn(n)) {
        store_turn(m, node, planar_mul(angle, turn[node]));
    }
}

/// What kernels may leave out at a node. @param seen  [nnode] scratch
static void mark_shortcuts(kk_model *m, int32_t *seen) {
    for (int i = 0; i < m->nnode; i++) {
        seen[i] = 0;
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        kki_node *n = &m->node[i];
        const int turns_only = n->type == KKI_NODE_HINGE || n->type == KKI_NODE_BALL;
        n->has_arm = !turns_only || n->p[0] != 0 || n->p[1] != 0 || n->p[2] != 0;
        n->is_bare = n->armature == 0;
        n->is_leaf = !seen[i];
        n->is_last = !seen[n->parent];
        n->is_central =
            n->type == KKI_NODE_FREE && n->parent == 0 && n->is_leaf && n->h[0] == 0 && n->h[1] == 0 && n->h[2] == 0;
        seen[n->parent] = 1;
    }
    for (int k = 0; k < m->nv; k++) {
        const kki_node *n = &m->node[m->dof_node[k]];
        const int slides = n->type == KKI_NODE_SLIDE || (n->type == KKI_NODE_FREE && k >= n->v_index + 3);
        const int levers = n->type == KKI_NODE_SCREW || n->parent > 0; // a turn away from the root's origin moves it
        m->has_armature |= m->dof_armature[k] != 0;
        m->dof_halves[k] = slides ? KKI_HALF_LINEAR : levers ? KKI_HALF_BOTH : KKI_HALF_ANGULAR;
    }
}

void kki_align(kk_model *m, int32_t *child, double *scratch) {
    for (int i = m->nnode - 1; i >= 0; i--) {
        child[i] = 0;
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        if (m->node[i].type == KKI_NODE_HINGE) {
            child[m->node[i].parent] = i;
        }
    }
    scratch[0] = 1; // the world does not turn
    scratch[1] = 0;
    for (int i = 1; i < m->nnode; i++) {
        align_node(m, i, child, scratch);
    }
    turn_riders(m, (const planar *)scratch);
    mark_shortcuts(m, child);
}
