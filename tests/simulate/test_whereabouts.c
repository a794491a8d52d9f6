/// Where a state is, read from the simulator that steps it: the same bits as a data of one's own gives, before a step, after it, and in a state that was edited.
#include "harness.h"
#include "stage.h"

#include <stdio.h>
#include <string.h>

typedef struct pair {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
} pair;

static const char HRP2[] = KK_SOURCE_DIR "/models/hrp2/hrp2.xml";

/// WebAssembly without a folder has none.
static int has_file(void) {
    FILE *f = fopen(HRP2, "r");
    if (f) {
        fclose(f);
    }
    return f != NULL;
}

static pair begin_pair(void) {
    pair p = {0};
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_load_model(HRP2, NULL, &p.model, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulation_begin(p.model, NULL, NULL, &p.state, &p.simulator, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create_with_matrices(p.model, NULL, &p.data), KK_OK);
    return p;
}

static void end_pair(pair *p) {
    kk_data_free(p->data);
    kk_simulator_free(p->simulator);
    kk_state_free(p->state);
    kk_model_free(p->model);
}

static void check_same_place(pair *p) {
    const kk_model *m = p->model;
    const int nv = kk_model_nv(m);
    double ours[6 * 64], theirs[6 * 64];
    KK_CHECK(nv <= 64);
    kk_kinematics_velocity(m, p->data, kk_state_q(p->state), kk_state_v(p->state));
    for (int b = 0; b < kk_model_nbody(m); b++) {
        const kk_transform a = kk_simulator_body_pose(p->simulator, p->state, b), c = kk_body_pose(m, p->data, b);
        const kk_motion v = kk_simulator_body_velocity(p->simulator, p->state, b, KK_WORLD_ALIGNED),
                        w = kk_body_velocity(m, p->data, b, KK_WORLD_ALIGNED);
        KK_CHECK(memcmp(&a, &c, sizeof a) == 0 && memcmp(&v, &w, sizeof v) == 0);
    }
    kk_jacobians(m, p->data, kk_state_q(p->state));
    for (int b = 1; b < kk_model_nbody(m); b += 3) {
        KK_CHECK_EQ_INT(kk_simulator_body_jacobian(p->simulator, p->state, b, KK_WORLD_ALIGNED, ours), KK_OK);
        kk_body_jacobian(m, p->data, b, KK_WORLD_ALIGNED, theirs);
        KK_CHECK(memcmp(ours, theirs, 6 * (size_t)nv * sizeof *ours) == 0);
    }
}

KK_TEST(simulator_knows_where_a_state_is) {
    if (!has_file()) {
        KK_SKIP("no models here");
        return;
    }
    pair p = begin_pair();
    kk_error error = {0};
    check_same_place(&p);
    for (int i = 0; i < 40; i++) {
        KK_CHECK_EQ_INT(kk_step(p.model, p.state, p.simulator, NULL, &error), KK_OK);
        if (i % 8 == 0) {
            check_same_place(&p);
        }
    }
    kk_state_q(p.state)[2] += 0.25; // edited behind the simulator's back
    check_same_place(&p);
    end_pair(&p);
}

// who looks at every step gets the same simulation as who does not
KK_TEST(looking_changes_nothing) {
    if (!has_file()) {
        KK_SKIP("no models here");
        return;
    }
    pair seen = begin_pair(), unseen = begin_pair();
    kk_error error = {0};
    for (int i = 0; i < 300; i++) {
        KK_CHECK_EQ_INT(kk_step(seen.model, seen.state, seen.simulator, NULL, &error), KK_OK);
        KK_CHECK_EQ_INT(kk_step(unseen.model, unseen.state, unseen.simulator, NULL, &error), KK_OK);
        check_same_place(&seen);
        kk_simulator_contacts(seen.simulator);
    }
    KK_CHECK(kk_simulator_ncontact(seen.simulator) > 0);
    KK_CHECK(kk_state_hash(seen.state) == kk_state_hash(unseen.state));
    const kk_report a = *kk_simulator_report(seen.simulator), b = *kk_simulator_report(unseen.simulator);
    KK_CHECK(a.kinetic_after == b.kinetic_after && a.potential_after == b.potential_after && a.residual == b.residual);
    const int n = kk_simulator_ncontact(seen.simulator);
    KK_CHECK(memcmp(kk_simulator_contacts(seen.simulator), kk_simulator_contacts(unseen.simulator),
                    (size_t)n * sizeof(kk_contact)) == 0);
    end_pair(&seen);
    end_pair(&unseen);
}

KK_TEST(states_of_other_models_have_no_place) {
    if (!has_file()) {
        KK_SKIP("no models here");
        return;
    }
    pair p = begin_pair();
    stage other = stage_begin(9.81);
    stage_box(&other, 1, 0.1, 0.1, 0.1, 0);
    stage_ready(&other, NULL);
    double J[6 * 64];
    KK_CHECK(kk_simulator_body_pose(p.simulator, other.state, 1).p.x !=
             kk_simulator_body_pose(p.simulator, other.state, 1).p.x);
    KK_CHECK_EQ_INT(kk_simulator_body_jacobian(p.simulator, other.state, 1, KK_LOCAL, J), KK_SIZE_MISMATCH);
    stage_end(&other);
    end_pair(&p);
}
