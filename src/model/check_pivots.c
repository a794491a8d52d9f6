/// Every degree of freedom meets some inertia, whatever stands between it and the mass: a numerical check at one arbitrary pose.
///
/// Massless links in the middle of a chain are fine (the cross of a universal joint) as long as what hangs on them resists every motion.
/// Two hinges about one line with nothing between them are not, nor is a massless ball before a hinge through its center. Such a model has a
/// singular inertia matrix in every pose, so one pose with nothing special about it tells: the articulated-body elimination of Featherstone
/// (1983), from the tips to the roots, leaves a pivot that is zero but for rounding.
#include <karakuri/elementary.h>
#include <karakuri/random.h>

#include "model/compile.h"

/// A pivot this small beside the articulated inertia it comes from is rounding, or might as well be.
static const double SINGULAR = 1e-11;

typedef struct matrix6 {
    double m[6][6]; ///< [angular; linear]
} matrix6;

// ---- an arbitrary pose

static double dice(int node, uint64_t which) {
    return kk_random_uniform_at(1, (uint64_t)node, which);
}

static kk_mat3 arbitrary_turn(const kki_node *n, int node) {
    if (n->type == KKI_NODE_BALL || n->type == KKI_NODE_FREE) {
        const kk_quat q = {dice(node, 0) + 0.1, dice(node, 1), dice(node, 2), dice(node, 3)};
        return kk_quat_to_mat3(kk_quat_normalize(q));
    }
    const double angle = n->type == KKI_NODE_SLIDE ? 0 : 6 * dice(node, 0);
    return kk_mat3_from_axis_angle(kk_vec3_make(0, 0, 1), angle);
}

/// X_PN, some way along whatever slides: a mass that a slide carries off a hinge's axis is only on it by chance.
static kk_transform arbitrary_pose(const kki_node *n, int node) {
    const double(*c)[4] = n->R;
    const kk_mat3 R0 = {{c[0][0], c[1][0], c[2][0], c[0][1], c[1][1], c[2][1], c[0][2], c[1][2], c[2][2]}};
    kk_vec3 way = kk_vec3_make(0, 0, 0);
    if (n->type == KKI_NODE_SLIDE || n->type == KKI_NODE_SCREW) {
        way.z = 0.3 + dice(node, 4);
    } else if (n->type == KKI_NODE_FREE) {
        way = kk_vec3_make(0.3 + dice(node, 4), dice(node, 5), dice(node, 6));
    }
    const kk_vec3 p = kk_vec3_add(kk_vec3_make(n->p[0], n->p[1], n->p[2]), kk_mat3_mul_vec(R0, way));
    return kk_transform_make(kk_mat3_mul(R0, arbitrary_turn(n, node)), p);
}

// ---- articulated inertias

/// [J, [h]; −[h], m 1].
static matrix6 rigid_inertia(const kki_node *n) {
    matrix6 I = {{{0}}};
    const double *h = n->h;
    const double skew[3][3] = {{0, -h[2], h[1]}, {h[2], 0, -h[0]}, {-h[1], h[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            I.m[i][j] = n->inertia[j][i];
            I.m[i][3 + j] = skew[i][j];
            I.m[3 + j][i] = skew[i][j];
        }
        I.m[3 + i][3 + i] = n->mass;
    }
    return I;
}

/// T with F_P = T F_N: [R, [p] R; 0, R].
static matrix6 force_transform(kk_transform X) {
    matrix6 T = {{{0}}};
    for (int j = 0; j < 3; j++) {
        const kk_vec3 c = kk_mat3_column(X.R, j), lever = kk_vec3_cross(X.p, c);
        const double column[3] = {c.x, c.y, c.z}, arm[3] = {lever.x, lever.y, lever.z};
        for (int i = 0; i < 3; i++) {
            T.m[i][j] = T.m[3 + i][3 + j] = column[i];
            T.m[i][3 + j] = arm[i];
        }
    }
    return T;
}

/// P ← P + T I Tᵀ.
static void hand_over(const matrix6 *I, const matrix6 *T, matrix6 *P) {
    for (int i = 0; i < 6; i++) {
        double row[6] = {0};
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < 6; j++) {
                row[j] += T->m[i][k] * I->m[k][j];
            }
        }
        for (int j = 0; j < 6; j++) {
            for (int k = 0; k < 6; k++) {
                P->m[i][j] += row[k] * T->m[j][k];
            }
        }
    }
}

/// Takes the axis S out of I; false if nothing resists it.
static int eliminate(matrix6 *I, const double S[6], double armature) {
    double U[6], D = armature, scale = armature;
    for (int i = 0; i < 6; i++) {
        U[i] = 0;
        for (int j = 0; j < 6; j++) {
            U[i] += I->m[i][j] * S[j];
        }
        D += S[i] * U[i];
        // the largest inertia of the same kind, not the axis's own, which is what may have canceled
        const double own = I->m[i][i] * (S[i / 3 * 3] * S[i / 3 * 3] + S[i / 3 * 3 + 1] * S[i / 3 * 3 + 1] +
                                         S[i / 3 * 3 + 2] * S[i / 3 * 3 + 2]);
        scale = own > scale ? own : scale;
    }
    if (!(D > SINGULAR * scale)) {
        return 0;
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            I->m[i][j] -= U[i] * U[j] / D;
        }
    }
    return 1;
}

/// Axis k of a node, in its own frame.
static void node_axis(const kki_node *n, int k, double S[6]) {
    for (int i = 0; i < 6; i++) {
        S[i] = 0;
    }
    if (n->type == KKI_NODE_BALL || n->type == KKI_NODE_FREE) {
        S[k] = 1;
    } else {
        S[2] = n->type != KKI_NODE_SLIDE;
        S[5] = n->type == KKI_NODE_SLIDE ? 1 : n->pitch;
    }
}

static int resists(const kk_model *m, int node, matrix6 *I) {
    const kki_node *n = &m->node[node];
    for (int k = 0; k < m->node_nv[node]; k++) {
        double S[6];
        node_axis(n, k, S);
        if (!eliminate(I, S, m->dof_armature[n->v_index + k])) {
            return 0;
        }
    }
    return 1;
}

size_t kki_pivots_scratch(const kk_model *m) {
    return (size_t)m->nnode * sizeof(matrix6) / sizeof(double);
}

kk_status kki_check_pivots(const kk_spec *spec, const kk_model *m, double *scratch, kk_error *error) {
    matrix6 *I = (matrix6 *)scratch;
    for (int i = 0; i < m->nnode; i++) {
        I[i] = rigid_inertia(&m->node[i]);
    }
    for (int i = m->nnode - 1; i > 0; i--) {
        const kki_node *n = &m->node[i];
        if (!resists(m, i, &I[i])) {
            const kki_item joint = kki_item_joint(&spec->body[m->node_body[i]]);
            return kki_item_error(
                error, KK_INVALID_MODEL, joint,
                "in no pose does anything resist its motion, although there is mass behind it; give the "
                "bodies between it and that mass some inertia, or the joint some armature");
        }
        if (n->parent > 0) {
            const matrix6 T = force_transform(arbitrary_pose(n, i));
            hand_over(&I[i], &T, &I[n->parent]);
        }
    }
    return KK_OK;
}
