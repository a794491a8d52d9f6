/// The kernels of one variant. The build compiles this file once for each line of cmake/variants.txt with KKI_LANES and KKI_VARIANT set.
#include "kernels.h"

#include "aba.h"
#include "crba.h"
#if KKI_LANES == 1
#include "factor.h"
#include "kick.h"
#endif
#include "aba_links.h"
#include "rnea.h"
#if KKI_LANES == 1
#include "centroidal.h"
#include "centroidal_rate.h"
#include "derivatives.h"
#include "energy.h"
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

#if KKI_LANES == 1
_Static_assert(sizeof(pivot) == 20 * sizeof(double), "as kki_pivot of dynamics/data.h");
#endif

static void place(kki_layout *layout, const kk_model *m, kki_scratch *S) {
    const size_t lanes = KKI_LANES, nnode = (size_t)m->nnode, nv = (size_t)m->nv, padded = kki_padded(m->nv);
    S->sine = kki_layout_take(layout, kki_padded(m->nnode) * lanes, sizeof(double));
    S->cosine = kki_layout_take(layout, kki_padded(m->nnode) * lanes, sizeof(double));
    S->pose = kki_layout_take(layout, nnode, sizeof(world_node));
    const size_t in_world = S->lacks & KKI_LACKS_WORLD ? 0 : nnode, in_links = S->lacks & KKI_LACKS_LINKS ? 0 : nnode;
    const size_t other_nodes = S->lacks & KKI_LACKS_OTHER ? 0 : nnode, other = other_nodes ? padded : 0;
    S->work_pose = kki_layout_take(layout, other_nodes, sizeof(world_node));
    S->motion = kki_layout_take(layout, in_world, sizeof(world_motion));
    S->local = kki_layout_take(layout, in_links, sizeof(local_node));
    S->local_pose = kki_layout_take(layout, in_links, sizeof(local_pose));
    S->rigid = kki_layout_take(layout, in_links, sizeof(link_inertia));
    S->link = kki_layout_take(layout, in_links, sizeof(link_inertia));
    S->deviation = kki_layout_take(layout, in_links, sizeof(link_motion));
    S->articulated = kki_layout_take(layout, in_world, sizeof(articulated));
    S->pivot = kki_layout_take(layout, in_world ? nv : 0, sizeof(pivot));
    S->composite = kki_layout_take(layout, other_nodes, sizeof(composite));
    S->axis = kki_layout_take(layout, other, sizeof(spatial));
    S->load = kki_layout_take(layout, other, sizeof(spatial));
    // what one loop reads and writes lies together, so that addresses 4 kB apart are not taken for each other
    S->load_rows = kki_layout_take(layout, KKI_LANES == 1 && (in_world || other) ? 6 * padded + 4 : 0, sizeof(double));
    // a matrix is only as large as someone will want: the O(nv) algorithms must not pay for it on a chain of 10 000
    S->inertia = S->has_matrices ? kki_layout_take(layout, nv * padded * lanes + 4, sizeof(double)) : NULL;
#if KKI_LANES > 1
    S->nodes = kki_layout_take(layout, nnode, sizeof(knode));
#else
    S->chunk = kki_layout_take(layout, S->has_matrices ? count_chunks(m) : 0, sizeof(kki_chunk));
    S->rates = kki_layout_take(layout, nnode, sizeof(world_rates));
    S->swing = kki_layout_take(layout, in_links, sizeof(swing));
    S->axis_rate = kki_layout_take(layout, other, sizeof(spatial));
    S->bundle = kki_layout_take(layout, other_nodes, sizeof(bundle));
    S->derivative = kki_layout_take(layout, other, sizeof(derivative_terms));
    S->derivative_rows = kki_layout_take(layout, DERIVATIVE_ROWS * other + 4, sizeof(double));
#endif
}

static void fill(const kk_model *m, kki_scratch *S) {
#if KKI_LANES > 1
    for (int i = 0; i < m->nnode; i++) {
        spread_node((knode *)S->nodes + i, &m->node[i]);
    }
#else
    if (S->has_matrices) {
        list_chunks(m, S);
    }
#endif
    for (int i = 0; i < m->nnode && !(S->lacks & KKI_LACKS_LINKS); i++) {
        ((link_inertia *)S->rigid)[i] = rigid_inertia(node_of(m, S, i));
    }
}

// Stages of longer algorithms are functions of their own: inlined into one, they crowd each other out of the registers.
#define STAGE static __attribute__((noinline)) void

STAGE kinematics(const kk_model *m, kki_scratch *S, const double *q, size_t stride) {
    poses_of_nodes(m, S, S->pose, POSE_OFFSET | POSE_POSITION, q, stride, NULL);
}

static void rnea(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *a, double *tau,
                 size_t stride) {
    rnea_outward(m, S, q, v, a, stride);
    rnea_inward(m, S, a, tau, stride);
}

STAGE aba_outward_links(const kk_model *m, kki_scratch *S, const double *q, const double *v, size_t stride) {
    links_outward(m, S, q, v, stride);
}
STAGE aba_inward_links(const kk_model *m, kki_scratch *S, const double *tau, size_t stride) {
    links_inward(m, S, tau, stride);
}
STAGE aba_accelerate_links(const kk_model *m, kki_scratch *S, double *a, size_t stride) {
    links_accelerate(m, S, a, stride);
}

static void aba(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *tau, double *a,
                size_t stride) {
    aba_outward_links(m, S, q, v, stride);
    aba_inward_links(m, S, tau, stride);
    aba_accelerate_links(m, S, a, stride);
}

static void crba(const kk_model *m, kki_scratch *S, const double *q, size_t stride) {
    poses_of_nodes(m, S, S->work_pose, POSE_OFFSET, q, stride, NULL);
    crba_gather(m, S, S->work_pose);
    crba_rows(m, S);
}

/// The whole symmetric M, row-major, from the upper triangle; zeros off the branches are in it.
static void read_inertia(const kk_model *m, const kki_scratch *S, double *M, size_t stride) {
    const size_t nv = (size_t)m->nv, padded = kki_padded(m->nv);
    const real *upper = (const real *)S->inertia;
    for (size_t j = 0; j < nv; j++) {
        const size_t end = (size_t)m->dof_subtree[j];
        for (size_t i = j; i < nv; i++) {
            const real x = i < end ? upper[j * padded + i] : r_const(0.0);
            r_store(M, j * nv + i, stride, x);
            r_store(M, i * nv + j, stride, x);
        }
    }
}

/// X_WB of every body: R row-major, then p.
static void read_poses(const kk_model *m, const kki_scratch *S, double *poses, size_t stride) {
    for (int b = 0; b < m->nbody; b++) {
        const kki_body *body = &m->body[b];
        const world_node *x = (const world_node *)S->pose + body->node;
        const double *R = body->X_NB.R.m;
        const _Alignas(32) double p[4] = {body->X_NB.p.x, body->X_NB.p.y, body->X_NB.p.z, 0};
        const size_t at = 12 * (size_t)b;
        for (size_t j = 0; j < 3; j++) {
            const _Alignas(32) double column[4] = {R[j], R[3 + j], R[6 + j], 0};
            const vec3 c = m_mul(&x->R, v_of_doubles(column));
            r_store(poses, at + j, stride, v_x(c));
            r_store(poses, at + 3 + j, stride, v_y(c));
            r_store(poses, at + 6 + j, stride, v_z(c));
        }
        store3(poses, at + 9, stride, v_add(x->p, m_mul(&x->R, v_of_doubles(p))));
    }
}

#if KKI_LANES == 1

STAGE rates(const kk_model *m, kki_scratch *S, const double *v, const double *a) {
    rates_of_nodes(m, S, v, a, 1);
}

STAGE kinematics_from(const kk_model *m, kki_scratch *S, const double *q, const int32_t *from) {
    poses_of_nodes(m, S, S->pose, POSE_OFFSET | POSE_POSITION, q, 1, from);
}

static void axes(const kk_model *m, kki_scratch *S, const double *q) {
    kinematics(m, S, q, 1);
    jacobian_axes(m, S);
}
static kk_vec3 center(const kk_model *m, kki_scratch *S, const double *q, double *J) {
    kinematics(m, S, q, 1);
    gather_moments(m, S);
    if (J) {
        center_of_mass_jacobian(m, S, J);
    }
    const vec3 c = center_of_mass(S);
    return kk_vec3_make(v_x(c), v_y(c), v_z(c));
}
static void centroidal(const kk_model *m, kki_scratch *S, const double *q, double *A) {
    kinematics(m, S, q, 1);
    crba_gather(m, S, S->pose);
    carry_to_com(m, S, S->load_rows, kki_padded(m->nv), center_of_roots(m, S), A);
}
static void axes_rates(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *zero) {
    kinematics(m, S, q, 1);
    rates(m, S, v, zero);
    jacobian_axes(m, S);
    jacobian_rates(m, S);
}
static void centroidal_rate(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *zero,
                            double *A, double *dA) {
    kinematics(m, S, q, 1);
    rates(m, S, v, zero);
    centroidal_rate_gather(m, S);
    centroidal_with_rate(m, S, A, dA);
}
static double energies(const kk_model *m, kki_scratch *S, const kki_koenig *koenig, const double *q, const double *v,
                       kki_energy *energy) {
    return energies_of_trees(m, S, koenig, q, v, energy);
}
STAGE gather_derivatives(const kk_model *m, kki_scratch *S) {
    derivative_gather(m, S);
}

static void rnea_derivatives(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *a,
                             double *dq, double *dv, size_t stride) {
    kinematics(m, S, q, 1);
    rates(m, S, v, a);
    gather_derivatives(m, S);
    derivative_rows(m, S, dq, dv, stride);
}
static void solve_rows_one(const kk_model *m, const kki_factor *F, double *X, size_t columns, size_t stride) {
    solve_rows(m, F, X, columns, stride);
}
static void angles(const kk_model *m, kki_scratch *S, const double *q) {
    trig_of_nodes(m, q, 1, S);
}
static void delassus_prepare(const kk_model *m, kki_scratch *S, const double *q, const double *zero) {
    aba_prepare(m, S, S->pose, POSE_OFFSET | POSE_POSITION, q, zero, 1);
    delassus_pivots(m, S, zero);
}
static void rnea_outward_one(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *a) {
    rnea_outward(m, S, q, v, a, 1);
}
static void rnea_inward_one(const kk_model *m, kki_scratch *S, const double *a, double *tau) {
    rnea_inward(m, S, a, tau, 1);
}
static void aba_prepare_one(const kk_model *m, kki_scratch *S, const double *q, const double *v) {
    aba_prepare(m, S, S->pose, POSE_OFFSET | POSE_POSITION, q, v, 1);
}
static void aba_push(kki_scratch *S, int node, kk_force force) {
    articulated *A = (articulated *)S->articulated + node;
    A->n = v_sub(A->n, v_make(force.angular.x, force.angular.y, force.angular.z));
    A->f = v_sub(A->f, v_make(force.linear.x, force.linear.y, force.linear.z));
}
static void aba_solve_one(const kk_model *m, kki_scratch *S, const double *tau, double *a) {
    aba_inward(m, S, S->pose, tau, 1);
    aba_outward(m, S, S->pose, a, 1);
}
static int factor(const kk_model *m, kki_factor *F, const double *inertia) {
    return factor_all(m, F, inertia);
}
static void inverse(const kk_model *m, const kki_factor *F, double *out) {
    inverse_all(m, F, out);
}
static void delassus_climb(const kk_model *m, const kki_scratch *S, int i, const double wi[6][4], int j,
                           const double wj[6][4], int base, double *Y, size_t stride) {
    climb_pair(m, S, i, wi, j, wj, (size_t)base, Y, stride);
}
static void delassus_lay(const double *const row[4], int is_new, double to[6][4]) {
    wrenches_lay(row, is_new, to);
}
static void delassus_climb_set(const kk_model *m, const kki_scratch *S, int count, int32_t *node, double (*w)[6][4],
                               int base, double *Y, size_t stride) {
    climb_set(m, S, count, node, w, (size_t)base, Y, stride);
}
static void delassus_row(const double *Yr, const double *Z, size_t stride, const int32_t *list, int count, size_t quads,
                         double *G) {
    gram_row(Yr, Z, stride, list, count, quads, G);
}
static void kick_begin(const kk_model *m, kki_scratch *S, const double *q) {
    articulated *body = S->articulated;
    kick_world(m, S, q);
    body[0].al = body[0].a = v_zero();
}
static void kick_prepare_some(const kk_model *m, kki_scratch *S, const double *q, const double *v, int first, int end,
                              int loads) {
    kick_outward(m, S, q, v, v, first, end, loads);
}
static void kick_load_some(const kk_model *m, kki_scratch *S, int first, int end) {
    for (int i = first; i < end; i++) {
        const knode *b = node_of(m, S, i);
        if (b->is_central) {
            kick_load(b, S->motion, (articulated *)S->articulated + i);
        }
    }
}
static void kick_factor_some(const kk_model *m, kki_scratch *S, const double *diagonal, const double *tau,
                             const double *v, double *E, double *y, int first, int end) {
    kick_inward(m, S, diagonal, tau, v, E, y, first, end);
}
static void kick_apply_some(const kk_model *m, kki_scratch *S, const double *dy, double *dv, int first, int end) {
    kick_apply_to(m, S, dy, dv, NULL, first, end);
}
static void kick_prepare(const kk_model *m, kki_scratch *S, const double *q, const double *v, const double *v_bias) {
    kick_begin(m, S, q);
    kick_outward(m, S, q, v, v_bias, 1, m->nnode, 1);
}
static void kick_factor(const kk_model *m, kki_scratch *S, const double *diagonal, const double *tau, const double *v,
                        double *E, double *y) {
    kick_factor_some(m, S, diagonal, tau, v, E, y, 1, m->nnode);
}
static void kick_apply(const kk_model *m, kki_scratch *S, const double *dy, double *dv) {
    kick_apply_some(m, S, dy, dv, 1, m->nnode);
}
static void kick_apply_both(const kk_model *m, kki_scratch *S, double *one, double *other) {
    kick_apply_to(m, S, one, one, other, 1, m->nnode);
}

#endif

extern const kki_kernels JOIN(kki_kernels_, KKI_VARIANT);
const kki_kernels JOIN(kki_kernels_, KKI_VARIANT) = {
    .name = TEXT(KKI_VARIANT),
    .lanes = KKI_LANES,
    .place = place,
    .fill = fill,
    .kinematics = kinematics,
    .rnea = rnea,
    .aba = aba,
    .crba = crba,
    .read_inertia = read_inertia,
    .read_poses = read_poses,
#if KKI_LANES == 1
    .kinematics_from = kinematics_from,
    .axes = axes,
    .center_of_mass = center,
    .angles = angles,
    .centroidal = centroidal,
    .axes_rates = axes_rates,
    .centroidal_rate = centroidal_rate,
    .rnea_derivatives = rnea_derivatives,
    .solve_rows = solve_rows_one,
    .delassus_prepare = delassus_prepare,
    .rates = rates,
    .energies = energies,
    .rnea_outward = rnea_outward_one,
    .rnea_inward = rnea_inward_one,
    .aba_prepare = aba_prepare_one,
    .aba_push = aba_push,
    .aba_solve = aba_solve_one,
    .factor = factor,
    .inverse = inverse,
    .delassus_climb = delassus_climb,
    .delassus_lay = delassus_lay,
    .delassus_climb_set = delassus_climb_set,
    .delassus_row = delassus_row,
    .kick_prepare = kick_prepare,
    .kick_factor = kick_factor,
    .kick_apply = kick_apply,
    .kick_apply_both = kick_apply_both,
    .kick_begin = kick_begin,
    .kick_prepare_some = kick_prepare_some,
    .kick_load_some = kick_load_some,
    .kick_factor_some = kick_factor_some,
    .kick_apply_some = kick_apply_some,
#endif
};
