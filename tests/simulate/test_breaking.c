// Loops that are switched and loops that break.
#include "stage.h"

/// A ball of 1 kg welded to the ceiling by a loop; gives the loop's number.
static int hang(stage *s, kk_loop_type type, double break_force, double break_moment, int is_active) {
    *s = stage_begin(9.81);
    const int ball = stage_body(s, kk_inertia_solid_sphere(1, 0.1));
    kk_loop_def def = kk_loop_def_default();
    def.type = type;
    def.body[1] = ball;
    def.break_force = break_force;
    def.break_moment = break_moment;
    def.is_active = is_active;
    int loop = -1;
    KK_CHECK_EQ_INT(kk_spec_add_loop(s->spec, &def, &loop, &s->error), KK_OK);
    stage_ready(s, NULL);
    return loop;
}

static kk_status pull(stage *s, double force, double moment) {
    kk_force wrench[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, moment, 0}, {0, 0, -force}}};
    const kk_input input = {.wrench = wrench};
    return kk_step(s->model, s->state, s->simulator, &input, &s->error);
}

// weight and pull together are what it bears
KK_TEST(loop_breaks_at_its_force) {
    stage s;
    const int loop = hang(&s, KK_LOOP_WELD, 20, __builtin_inf(), 1);
    KK_CHECK_EQ_INT(pull(&s, 10.18, 0), KK_OK);
    KK_CHECK_EQ_INT(kk_state_loop(s.model, s.state, loop), 1);
    KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->broken, 0);
    KK_CHECK_EQ_INT(pull(&s, 10.2, 0), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->broken, 1);
    KK_CHECK_EQ_INT(kk_state_loop(s.model, s.state, loop), 0);
    for (int i = 0; i < 100; i++) {
        KK_CHECK_EQ_INT(pull(&s, 0, 0), KK_OK);
    }
    KK_CHECK_NEAR(stage_v(&s, 1)[5], -0.981, 1e-12);
    // mended it holds again
    KK_CHECK_EQ_INT(kk_state_set_loop(s.model, s.state, loop, 1), KK_OK);
    for (int i = 0; i < 100; i++) {
        KK_CHECK_EQ_INT(pull(&s, 0, 0), KK_OK);
        if (kk_simulator_report(s.simulator)->broken) {
            KK_CHECK_EQ_INT(kk_state_set_loop(s.model, s.state, loop, 1), KK_OK); // the jerk of catching it
        }
    }
    KK_CHECK(kk_hypot(stage_v(&s, 1)[5], 0) < 1e-9);
    stage_end(&s);
}

KK_TEST(weld_breaks_at_its_moment) {
    stage s;
    const int loop = hang(&s, KK_LOOP_WELD, __builtin_inf(), 3, 1);
    KK_CHECK_EQ_INT(pull(&s, 0, 2.99), KK_OK);
    KK_CHECK_EQ_INT(kk_state_loop(s.model, s.state, loop), 1);
    KK_CHECK_EQ_INT(pull(&s, 0, 3.01), KK_OK);
    KK_CHECK_EQ_INT(kk_state_loop(s.model, s.state, loop), 0);
    stage_end(&s);
}

KK_TEST(loop_is_switched_by_the_state) {
    stage s;
    const int loop = hang(&s, KK_LOOP_POINT, __builtin_inf(), __builtin_inf(), 0);
    KK_CHECK_EQ_INT(kk_state_loop(s.model, s.state, loop), 0);
    KK_CHECK_EQ_INT(pull(&s, 0, 0), KK_OK);
    KK_CHECK_NEAR(stage_v(&s, 1)[5], -9.81e-3, 1e-15);
    KK_CHECK_EQ_INT(kk_state_set_loop(s.model, s.state, loop, 1), KK_OK);
    for (int i = 0; i < 50; i++) {
        KK_CHECK_EQ_INT(pull(&s, 0, 0), KK_OK);
    }
    KK_CHECK(kk_hypot(stage_v(&s, 1)[5], 0) < 1e-4);
    KK_CHECK_NEAR(kk_state_q(s.state)[6], 0, 1e-9);
    KK_CHECK_EQ_INT(kk_state_set_loop(s.model, s.state, loop, 0), KK_OK);
    KK_CHECK_EQ_INT(pull(&s, 0, 0), KK_OK);
    KK_CHECK(stage_v(&s, 1)[5] < -9e-3);
    KK_CHECK_EQ_INT(kk_state_set_loop(s.model, s.state, loop + 1, 1), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_state_loop(s.model, s.state, -1), -1);
    stage_end(&s);
}
