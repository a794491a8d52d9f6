// The instant of touch: what bounces leaves along the normal, and with the levers, that it touches with.
#include "simulate/stage.h"

/// A rod that spins and flies strikes a ball, both without friction and loss. Gives the ball's velocity behind it.
static kk_vec3 strike(double dt, int *parts) {
    stage s = stage_begin(0);
    const int smooth = stage_material(&s, 0, 1);
    const int rod = stage_box(&s, 1, 0.02, 0.3, 0.02, smooth), ball = stage_ball(&s, 0.5, 0.05, smooth);
    kk_vec3 u = {0, 0, 0};
    *parts = 0;
    kk_spec_options(s.spec)->timestep = dt;
    if (stage_ready(&s, NULL)) {
        stage_place(&s, rod, 0, 0, 0);
        stage_place(&s, ball, 0.1013, 0.11, 0);
        stage_v(&s, rod)[2] = -8;
        stage_v(&s, rod)[3] = 1;
        double least = 1e9, most = 0;
        while (kk_state_time(s.state) < 0.048 - 0.5 * dt) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            const int here = kk_simulator_report(s.simulator)->substeps;
            const kk_report report = *kk_simulator_report(s.simulator);
            *parts = here > *parts ? here : *parts;
            least = report.kinetic_after < least ? report.kinetic_after : least;
            most = report.kinetic_after > most ? report.kinetic_after : most;
        }
        const double *v = stage_v(&s, ball);
        KK_CHECK_NEAR(most, least, 1e-6 * least);
        u = kk_vec3_make(v[3], v[4], v[5]);
    }
    stage_end(&s);
    return u;
}

KK_TEST(a_spinning_rod_strikes_at_any_step_as_at_a_fine_one) {
    int parts;
    const kk_vec3 fine = strike(5e-5, &parts);
    KK_CHECK(kk_vec3_norm(fine) > 0.5);
    for (double dt = 1e-3; dt < 0.013; dt *= 2) {
        const kk_vec3 coarse = strike(dt, &parts);
        KK_CHECK(parts > 1);
        KK_CHECK(kk_vec3_norm(kk_vec3_sub(coarse, fine)) < 1e-4 * kk_vec3_norm(fine));
    }
}

// a ball on a plane has the same normal and levers at any time, however it spins: no part is needed
KK_TEST(a_ball_on_a_plane_needs_no_parts) {
    stage s = stage_begin(9.81);
    const int rough = stage_material(&s, 0.5, 0.8);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, rough);
    const int ball = stage_ball(&s, 1, 0.1, rough);
    int events = 0;
    if (stage_ready(&s, NULL)) {
        stage_place(&s, ball, 0, 0, 0.3);
        stage_v(&s, ball)[1] = 20;
        for (int k = 0; k < 500; k++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, NULL, &s.error), KK_OK);
            KK_CHECK_EQ_INT(kk_simulator_report(s.simulator)->substeps, 1);
            events += kk_simulator_report(s.simulator)->events;
        }
        KK_CHECK(events > 0);
    }
    stage_end(&s);
}
