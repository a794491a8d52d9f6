// Forward dynamics with couplings held: followers obey, and the coupling forces do no work on any motion the couplings allow.
#include "model/fixture.h"
#include "support/scene.h"

#include <math.h>
#include <string.h>

/// A random tree with a coupling on up to `couplings` of its one-degree joints and angles, chains of couplings included.
static scene coupled_forest(uint64_t seed, int couplings) {
    kk_spec *spec = fixture_random_spec(seed, 3 + (int)(seed % 12));
    kk_random random = {seed, 71, 0};
    char leader[24] = "";
    int leader_dof = 0;
    for (int b = 1; b < kk_spec_body_count(spec) && couplings > 0; b++) {
        const kk_joint_type type = kk_spec_body(spec, b)->joint.type;
        if (type < KK_JOINT_HINGE || type > KK_JOINT_PLANAR) {
            continue;
        }
        char name[24];
        snprintf(name, sizeof name, "b%d_joint", b);
        for (int k = 0; k < KK_MAX_JOINT_DOFS; k++) {
            kk_spec_body(spec, b)->joint.dof[k].armature = 0.1;
        }
        if (leader[0]) {
            kk_coupling_def coupling = kk_coupling_def_default();
            coupling.follower = name;
            coupling.leader = leader;
            coupling.leader_dof = leader_dof;
            coupling.ratio = kk_random_next_between(&random, -2, 2);
            coupling.offset = kk_random_next_between(&random, -1, 1);
            KK_CHECK_EQ_INT(kk_spec_add_coupling(spec, &coupling, NULL, NULL), KK_OK);
            couplings--;
        }
        if (!leader[0] || kk_random_next_below(&random, 2)) {
            memcpy(leader, name, sizeof leader);
            leader_dof = type >= KK_JOINT_CYLINDRICAL ? 1 : 0;
        }
    }
    scene s = scene_of(spec, seed);
    kk_couplings_apply(s.model, s.q, s.v);
    return s;
}

// scale: what the torques are made of. Gᵀ (M a + bias − tau) = 0: what is left over is in the couplings and does no work.
KK_TEST(followers_obey_and_couplings_do_no_work) {
    worst obey = {0}, work = {0};
    int coupled = 0;
    for (int i = 0; i < scene_count(); i++) {
        scene s = coupled_forest((uint64_t)i, 1 + i % 6);
        const size_t nv = (size_t)s.nv, n = (size_t)kk_couplings_independent(s.model);
        double *a = scene_take(&s, nv), *follow = scene_take(&s, nv), *rest = scene_take(&s, nv),
               *G = scene_take(&s, nv * nv);
        KK_CHECK_EQ_INT(kk_forward_dynamics_coupled(s.model, s.data, s.q, s.v, s.tau, a), KK_OK);
        memcpy(follow, a, nv * sizeof *a);
        kk_couplings_apply(s.model, NULL, follow);
        worst_compare(&obey, &s, a, follow, nv, 0);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, a, rest);
        kk_couplings_matrix(s.model, G);
        double *left = scene_take(&s, n + 1), *zero = scene_take(&s, n + 1);
        for (size_t k = 0; k < nv * n; k++) {
            left[k % n] += G[k] * (rest[k / n] - s.tau[k / n]);
        }
        worst_compare(&work, &s, left, zero, n, scene_torque_scale(&s, a, 0) + largest(s.tau, nv));
        coupled += kk_model_ncoupling(s.model) > 0;
        scene_free(&s);
    }
    KK_CHECK(coupled > scene_count() / 2);
    WORST_CHECK(obey, 1e-11);
    WORST_CHECK(work, 1e-11);
}

KK_TEST(without_couplings_it_is_forward_dynamics) {
    worst w = {0};
    for (int i = 0; i < 100; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *a = scene_take(&s, nv), *b = scene_take(&s, nv);
        kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, a);
        KK_CHECK_EQ_INT(kk_forward_dynamics_coupled(s.model, s.data, s.q, s.v, s.tau, b), KK_OK);
        worst_compare(&w, &s, a, b, nv, 0);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-13);
}

// two flywheels geared 1 : r turn as one of inertia I1 + r² I2
KK_TEST(two_gears_turn_as_one) {
    const double I1 = 0.3, I2 = 0.05, r = -4;
    kk_spec *spec = fixture_spec();
    for (int i = 0; i < 2; i++) {
        kk_body_def wheel = kk_body_def_default();
        wheel.name = i ? "second" : "first";
        wheel.inertia = (kk_inertia){1, {0, 0, 0}, {i ? I2 : I1, i ? I2 : I1, i ? I2 : I1, 0, 0, 0}};
        fixture_add(spec, wheel);
    }
    fixture_couple(spec, "second_joint", "first_joint", r, 0.2);
    scene s = scene_of(spec, 1);
    const double tau[2] = {2, 0.7};
    double a[2];
    kk_couplings_apply(s.model, s.q, s.v);
    KK_CHECK_EQ_INT(kk_forward_dynamics_coupled(s.model, s.data, s.q, s.v, tau, a), KK_OK);
    KK_CHECK_REL(a[0], (tau[0] + r * tau[1]) / (I1 + r * r * I2), 1e-14);
    KK_CHECK_REL(a[1], r * a[0], 1e-14);
    scene_free(&s);
}
