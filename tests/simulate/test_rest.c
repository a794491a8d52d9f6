// What rests stands still to the last bit, and a step that changes nothing is not computed again; what moves is left alone.
#include "simulate/simulator.h"
#include "stage.h"

#include <math.h>
#include <string.h>

enum { MOST_BOXES = 16, MANY = 14, TEN = 10, FEW = 5 };

/// A column of boxes, turned about the vertical so that no axis is one of the world's, each let go `drop` above the one below.
static stage column(int boxes, double drop) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.6, 0);
    int box[MOST_BOXES];
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < boxes; i++) {
        box[i] = stage_box(&s, 1 + 0.1 * i, 0.2, 0.3, 0.1, material);
    }
    kk_spec_options(s.spec)->timestep = 0.002;
    if (stage_ready(&s, NULL)) {
        for (int i = 0; i < boxes; i++) {
            stage_place(&s, box[i], 0.003 * i, 0, 0.05 + 0.1 * i + drop * (i + 1));
            stage_q(&s, box[i])[0] = cos(0.15);
            stage_q(&s, box[i])[3] = sin(0.15);
        }
    }
    return s;
}

static int is_repeated(const stage *s) {
    return kk_simulator_report(s->simulator)->is_cached;
}

static int all_zero(int n, const double *x) {
    int zero = 1;
    for (int i = 0; i < n; i++) {
        zero &= x[i] == 0;
    }
    return zero;
}

/// Comes to rest, and then nothing changes but the time. `boxes` decides who solves it.
static void comes_to_rest(int boxes, double drop) {
    stage s = column(boxes, drop);
    double q[7 * MOST_BOXES];
    const size_t bytes = (size_t)kk_model_nq(s.model) * sizeof *q;
    KK_CHECK(stage_run(&s, 300, NULL));
    memcpy(q, kk_state_q(s.state), bytes);
    KK_CHECK(is_repeated(&s));
    KK_CHECK(stage_run(&s, 100, NULL));
    KK_CHECK_BYTES(kk_state_q(s.state), q, bytes);
    KK_CHECK(all_zero(6 * boxes, kk_state_v(s.state)));
    KK_CHECK(kk_simulator_report(s.simulator)->residual <= 1e-13);
    KK_CHECK_EQ_INT(kk_simulator_ncontact(s.simulator), 4 * boxes);
    KK_CHECK_NEAR(kk_state_time(s.state), 0.8, 1e-12);
    stage_end(&s);
}

KK_TEST(few_boxes_come_to_rest) {
    comes_to_rest(FEW, 1e-3);
}

KK_TEST(many_boxes_come_to_rest) {
    comes_to_rest(MANY, 0);
}

// a new set of options makes the simulator forget what it knows, so that one computes every step
KK_TEST(a_repeated_step_is_the_computed_one) {
    stage known = column(FEW, 1e-3), computed = column(FEW, 1e-3);
    int repeated = 0;
    for (int i = 0; i < 300; i++) {
        KK_CHECK_EQ_INT(kk_simulator_set_options(computed.simulator, NULL, NULL), KK_OK);
        if (!stage_run(&known, 1, NULL) || !stage_run(&computed, 1, NULL)) {
            break;
        }
        KK_CHECK(kk_state_equal(known.state, computed.state));
        KK_CHECK(!is_repeated(&computed));
        repeated += is_repeated(&known);
        kk_report a = *kk_simulator_report(known.simulator), b = *kk_simulator_report(computed.simulator);
        a.is_cached = 0;
        KK_CHECK_BYTES(&a, &b, sizeof a);
        const int contacts = kk_simulator_ncontact(known.simulator);
        KK_CHECK_EQ_INT(contacts, kk_simulator_ncontact(computed.simulator));
        for (int c = 0; c < contacts; c++) {
            const kk_contact x = kk_simulator_contacts(known.simulator)[c],
                             y = kk_simulator_contacts(computed.simulator)[c];
            KK_CHECK_BYTES(&x.force, &y.force, sizeof x.force);
            KK_CHECK_BYTES(&x.velocity, &y.velocity, sizeof x.velocity);
        }
        KK_CHECK_BYTES(kk_simulator_force(known.simulator, KK_FORCE_CONTACT),
                       kk_simulator_force(computed.simulator, KK_FORCE_CONTACT), 6 * FEW * sizeof(double));
    }
    KK_CHECK(repeated > 100);
    stage_end(&known);
    stage_end(&computed);
}

// what stands still is cheaper among the islands of many bodies; what slides may have to stop inside a step, which only the dense solver looks for
KK_TEST(ten_boxes_are_wide_only_while_they_rest) {
    stage s = column(TEN, 0), dense = column(TEN, 0);
    dense.simulator->islands.padded_width = 0;
    KK_CHECK(stage_run(&s, 20, NULL) && stage_run(&dense, 20, NULL));
    KK_CHECK(s.simulator->islands.count == 1 && s.simulator->islands.list[0].is_sparse);
    KK_CHECK(all_zero(6 * TEN, kk_state_v(s.state)));
    kk_state_v(s.state)[6 * TEN - 3] = kk_state_v(dense.state)[6 * TEN - 3] = 0.0123; // the uppermost slides
    KK_CHECK(stage_run(&s, 1, NULL) && stage_run(&dense, 1, NULL));
    KK_CHECK(s.simulator->islands.count == 1 && !s.simulator->islands.list[0].is_sparse);
    KK_CHECK(stage_run(&s, 20, NULL) && stage_run(&dense, 20, NULL));
    KK_CHECK(s.simulator->islands.list[0].is_sparse && !dense.simulator->islands.list[0].is_sparse);
    for (int i = 0; i < kk_model_nq(s.model); i++) {
        KK_CHECK_NEAR(kk_state_q(s.state)[i], kk_state_q(dense.state)[i], 1e-12);
    }
    stage_end(&s);
    stage_end(&dense);
}

/// One step of a column at rest after a change, against a simulator that knows nothing.
static void wakes(stage *s, const kk_input *input) {
    kk_state *copy = NULL;
    kk_simulator *fresh = NULL;
    KK_CHECK_EQ_INT(kk_state_create(s->model, NULL, &copy), KK_OK);
    KK_CHECK_EQ_INT(kk_state_copy(copy, s->state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(s->model, NULL, NULL, &fresh, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_step(s->model, s->state, s->simulator, input, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_step(s->model, copy, fresh, input, NULL), KK_OK);
    KK_CHECK(!is_repeated(s));
    KK_CHECK(kk_state_equal(s->state, copy));
    kk_simulator_free(fresh);
    kk_state_free(copy);
}

KK_TEST(whatever_changes_wakes) {
    stage s = column(FEW, 0);
    double tau[6 * FEW] = {0};
    kk_force wrench[FEW + 1] = {{{0, 0, 0}, {0, 0, 0}}};
    KK_CHECK(stage_run(&s, 10, NULL));
    KK_CHECK(is_repeated(&s));
    kk_state_v(s.state)[6 * FEW - 3] = 1e-3; // a push
    wakes(&s, NULL);
    KK_CHECK(stage_run(&s, 100, NULL));
    KK_CHECK(is_repeated(&s));
    kk_state_q(s.state)[7 * FEW - 1] += 1e-4; // lifted
    wakes(&s, NULL);
    KK_CHECK(stage_run(&s, 200, NULL));
    KK_CHECK(is_repeated(&s));
    kk_state_v(s.state)[0] = -0.0; // not even a bit
    wakes(&s, NULL);
    tau[3] = 1;
    wakes(&s, &(kk_input){.tau = tau});
    wakes(&s, NULL);
    wrench[1].linear.z = 1;
    wakes(&s, &(kk_input){.wrench = wrench});
    KK_CHECK(stage_run(&s, 10, &(kk_input){.wrench = wrench}));
    KK_CHECK(is_repeated(&s));
    wrench[1].linear.z = 2;
    wakes(&s, &(kk_input){.wrench = wrench});
    stage_end(&s);
}

// the same places and speeds, but nothing of what the last step has left in the state
KK_TEST(a_state_without_memory_wakes) {
    stage s = column(FEW, 0);
    kk_state *cold = NULL;
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &cold), KK_OK);
    KK_CHECK(stage_run(&s, 10, NULL));
    KK_CHECK(is_repeated(&s));
    memcpy(kk_state_q(cold), kk_state_q(s.state), 7 * FEW * sizeof(double));
    kk_state_copy(s.state, cold);
    wakes(&s, NULL);
    kk_state_free(cold);
    stage_end(&s);
}

// what one simulator does for two states in turn
KK_TEST(another_state_is_another_step) {
    stage s = column(FEW, 0);
    kk_state *other = NULL, *alone = NULL;
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &other), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &alone), KK_OK);
    kk_state_copy(other, s.state);
    kk_state_q(other)[6] += 0.01;
    kk_state_copy(alone, other);
    for (int i = 0; i < 20; i++) {
        KK_CHECK(stage_run(&s, 1, NULL));
        KK_CHECK(!is_repeated(&s));
        KK_CHECK_EQ_INT(kk_step(s.model, other, s.simulator, NULL, NULL), KK_OK);
    }
    for (int i = 0; i < 20; i++) {
        KK_CHECK_EQ_INT(kk_step(s.model, alone, s.simulator, NULL, NULL), KK_OK);
    }
    KK_CHECK(kk_state_equal(other, alone));
    kk_state_free(other);
    kk_state_free(alone);
    stage_end(&s);
}

// a step in parts uses the memory in which a state at rest is kept
KK_TEST(a_fast_state_in_between_wakes) {
    stage s = column(FEW, 0);
    kk_state *fast = NULL;
    KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &fast), KK_OK);
    kk_state_copy(fast, s.state);
    kk_state_q(fast)[7 * FEW - 1] += 0.3;
    kk_state_v(fast)[6 * FEW - 1] = -300;
    KK_CHECK(stage_run(&s, 10, NULL));
    KK_CHECK(is_repeated(&s));
    KK_CHECK_EQ_INT(kk_step(s.model, fast, s.simulator, NULL, &s.error), KK_OK);
    KK_CHECK(kk_simulator_report(s.simulator)->substeps > 1);
    KK_CHECK_EQ_INT(kk_step(s.model, fast, s.simulator, NULL, &s.error), KK_OK);
    KK_CHECK(!is_repeated(&s));
    wakes(&s, NULL);
    kk_state_free(fast);
    stage_end(&s);
}

// 1e-15 m/s on ice is slow, and no rounding
KK_TEST(a_slow_drift_goes_on) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0, 0), box = (stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material),
                                                          stage_box(&s, 2, 0.2, 0.2, 0.1, material));
    if (stage_ready(&s, NULL)) {
        stage_place(&s, box, 0, 0, 0.05);
        stage_v(&s, box)[3] = 1e-15;
        KK_CHECK(stage_run(&s, 200, NULL));
        KK_CHECK_REL(stage_v(&s, box)[3], 1e-15, 1e-3);
        KK_CHECK_REL(stage_q(&s, box)[4], 1e-15 * kk_state_time(s.state), 1e-3);
    }
    stage_end(&s);
}

// Newton: a = F/m − μ g, however little is left of it
KK_TEST(a_pull_just_above_friction_is_felt) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0),
              box = (stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material),
                     stage_box(&s, 2, 0.2, 0.2, 0.1, material));
    const double surplus = 1e-9;
    kk_force wrench[2] = {{{0, 0, 0}, {0, 0, 0}},
                          {{0, 0.05 * 0.5 * 2 * 9.81, 0}, {0.5 * 2 * 9.81 * (1 + surplus), 0, 0}}};
    wrench[1].angular.y *= -(1 + surplus); // pulled at its sole
    if (stage_ready(&s, NULL)) {
        stage_place(&s, box, 0, 0, 0.05);
        KK_CHECK(stage_run(&s, 100, &(kk_input){.wrench = wrench}));
        KK_CHECK_REL(stage_v(&s, box)[3], surplus * 0.5 * 9.81 * kk_state_time(s.state), 1e-2);
        KK_CHECK(!is_repeated(&s));
    }
    stage_end(&s);
}
