// Couplings: refused where they contradict themselves, applied leaders first.
#include "fixture.h"
#include "model/model.h"

/// Five hinges a … e in a row, a universal joint u and a ball b on the world.
static kk_spec *hand(void) {
    kk_spec *spec = fixture_spec();
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (int i = 0; i < 5; i++) {
        fixture_add_box(spec, names[i], i, KK_JOINT_HINGE);
    }
    fixture_add_box(spec, "u", KK_WORLD, KK_JOINT_UNIVERSAL);
    fixture_add_box(spec, "ball", KK_WORLD, KK_JOINT_BALL);
    fixture_add_box(spec, "weld", KK_WORLD, KK_JOINT_FIXED);
    return spec;
}

static void expect_refused(const char *follower, const char *leader, kk_status status, const char *words) {
    kk_spec *spec = hand();
    char item[64];
    fixture_couple(spec, follower, leader, 1, 0);
    snprintf(item, sizeof item, "coupling of \"%s\":", follower);
    fixture_refused(spec, status, item, words);
}

KK_TEST(broken_couplings_are_refused) {
    expect_refused("nobody", "a_joint", KK_NOT_FOUND, "no joint \"nobody\"");
    expect_refused("a_joint", "nobody", KK_NOT_FOUND, "no joint \"nobody\"");
    expect_refused("a_joint", "a_joint", KK_INVALID_MODEL, "follows itself");
    expect_refused("a_joint", "ball_joint", KK_INVALID_MODEL, "joint \"ball_joint\" is ball; only joints with");
    expect_refused("weld_joint", "a_joint", KK_INVALID_MODEL, "joint \"weld_joint\" is fixed; only joints with");
}

KK_TEST(broken_coupling_numbers_are_refused) {
    kk_spec *spec = hand();
    fixture_couple(spec, "a_joint", "b_joint", __builtin_nan(""), 0);
    fixture_refused(spec, KK_NOT_FINITE, "coupling of \"a_joint\":", "ratio is nan");
    spec = hand();
    fixture_couple(spec, "a_joint", "b_joint", 1, __builtin_inf());
    fixture_refused(spec, KK_NOT_FINITE, "coupling of \"a_joint\":", "offset is inf");
    spec = hand();
    fixture_couple(spec, "a_joint", "u_joint", 1, 0);
    kk_spec_coupling(spec, 0)->leader_dof = 2;
    kk_spec_coupling(spec, 0)->name = "gear";
    fixture_refused(spec, KK_INVALID_MODEL,
                    "coupling \"gear\":", "joint \"u_joint\" has no degree of freedom 2; it has 2");
    spec = hand();
    fixture_couple(spec, NULL, "u_joint", 1, 0);
    fixture_refused(spec, KK_INVALID_MODEL, "coupling of \"\":", "name the two joints");
}

KK_TEST(two_leaders_and_cycles_are_refused) {
    kk_spec *spec = hand();
    fixture_couple(spec, "a_joint", "b_joint", 1, 0);
    fixture_couple(spec, "a_joint", "c_joint", 1, 0);
    fixture_refused(spec, KK_INVALID_MODEL, "coupling of \"a_joint\":", "already follows another");
    spec = hand();
    fixture_couple(spec, "e_joint", "a_joint", 1, 0);
    fixture_couple(spec, "a_joint", "b_joint", 1, 0);
    fixture_couple(spec, "b_joint", "c_joint", 1, 0);
    fixture_couple(spec, "c_joint", "a_joint", 1, 0);
    fixture_refused(spec, KK_INVALID_MODEL, "coupling of \"a_joint\":", "take one coupling out of the cycle");
}

/// d follows c follows b follows a, added in an order that is neither; the second angle of u follows the first.
static kk_model *geared_hand(void) {
    kk_spec *spec = hand();
    fixture_couple(spec, "c_joint", "b_joint", -0.5, 0.25);
    fixture_couple(spec, "d_joint", "c_joint", 3, 0);
    fixture_couple(spec, "u_joint", "u_joint", 4, 0);
    kk_spec_coupling(spec, 2)->follower_dof = 1;
    fixture_couple(spec, "b_joint", "a_joint", 2, 1);
    return fixture_compile(spec);
}

KK_TEST(followers_are_set_after_their_leaders) {
    kk_model *m = geared_hand();
    double q[16] = {0}, v[16] = {0};
    q[0] = 0.5;
    v[0] = 1;
    q[5] = 0.1;
    v[5] = 0.2;
    kk_couplings_apply(m, q, v);
    KK_CHECK_NEAR(q[1], 2, 0);
    KK_CHECK_NEAR(q[2], -0.75, 0);
    KK_CHECK_NEAR(q[3], -2.25, 0);
    KK_CHECK_NEAR(q[6], 0.4, 0);
    KK_CHECK_NEAR(v[1], 2, 0);
    KK_CHECK_NEAR(v[2], -1, 0);
    KK_CHECK_NEAR(v[3], -3, 0);
    KK_CHECK_NEAR(v[6], 0.8, 0);
    kk_couplings_apply(m, NULL, v);
    kk_couplings_apply(m, q, NULL);
    kk_model_free(m);
}

// G maps independent velocities to all; its columns are what apply() makes of unit velocities
KK_TEST(matrix_agrees_with_apply) {
    kk_model *m = geared_hand();
    const int nv = kk_model_nv(m), n = kk_couplings_independent(m);
    KK_CHECK_EQ_INT(n, nv - 4);
    KK_CHECK_EQ_INT(kk_model_ncoupling(m), 4);
    double G[16 * 16], v[16];
    kk_couplings_matrix(m, G);
    int column = 0;
    for (int i = 0; i < nv; i++) {
        if (m->follower_of[i] >= 0) {
            KK_CHECK_EQ_INT(m->coupling[m->follower_of[i]].follower_v, i);
            continue;
        }
        memset(v, 0, sizeof v);
        v[i] = 1;
        kk_couplings_apply(m, NULL, v);
        for (int k = 0; k < nv; k++) {
            KK_CHECK_NEAR(G[k * n + column], v[k], 0);
        }
        column++;
    }
    KK_CHECK_EQ_INT(column, n);
    kk_model_free(m);
}

// a chain of couplings as long as the robot, in the worst order, is sorted without recursion
KK_TEST(long_chain_of_couplings) {
    enum { LINKS = 3000 };
    kk_spec *spec = fixture_spec();
    for (int i = 0; i < LINKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "l%d", i);
        fixture_add_box(spec, name, i, KK_JOINT_HINGE);
    }
    for (int i = LINKS - 1; i > 0; i--) {
        char follower[24], leader[24];
        snprintf(follower, sizeof follower, "l%d_joint", i);
        snprintf(leader, sizeof leader, "l%d_joint", i - 1);
        fixture_couple(spec, follower, leader, 1, 1);
    }
    kk_model *m = fixture_compile(spec);
    static double q[LINKS];
    kk_couplings_apply(m, q, NULL);
    KK_CHECK_NEAR(q[LINKS - 1], LINKS - 1, 0);
    kk_model_free(m);
}
