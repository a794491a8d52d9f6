// Rows 8, 9, 10, 18, 20: impacts.
#include "../../../models/robots.h"
#include <karakuri/random.h>

#include "rows.h"
#include "scene.h"

// ---- 8

static void bounce_for_ever(exam *e) {
    enum { BALLS = 49 };
    scene s;
    int ball[BALLS];
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.5, 1);
    scene_floor(&s, material);
    for (int i = 0; i < BALLS; i++) {
        ball[i] = scene_ball(&s, 1, 0.5, material);
    }
    scene_ready_dt(&s, 0.01);
    for (int i = 0; i < BALLS; i++) {
        const int row = i / 7;
        scene_place(&s, ball[i], 2 * (i % 7), 2 * row, 5);
    }
    const double start = scene_energy(&s);
    const int panel = exam_plot(e, "energy of 49 balls", "time [s]", "E/E0 - 1", false);
    double sum = 0;
    while (scene_time(&s) < 20 - 5e-3 && scene_step(&s)) {
        const double error = scene_energy(&s) / start - 1;
        sum += error * error;
        exam_point(e, panel, "energy", scene_time(&s), error);
    }
    exam_at_most(e, "energy of 49 balls in 20 s, dt 0.01, rms, relative", kk_sqrt(sum / (double)s.steps), 1e-6);
    scene_end(&s);
}

static void bounce_to_rest(exam *e) {
    scene s;
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.5, 0.5);
    scene_floor(&s, material);
    const int ball = scene_ball(&s, 1, 0.1, material);
    const kk_step_options options = {.restitution_speed = 1e-4};
    scene_ready(&s, &options);
    scene_place(&s, ball, 0, 0, 1.1);
    const int panel = exam_plot(e, "e = 0.5 from 1 m", "time [s]", "height [m]", false);
    double rest = 0;
    while (scene_time(&s) < 2 && scene_step(&s)) {
        if (exam_abs(scene_velocity(&s, ball).z) > 1e-9) {
            rest = scene_time(&s);
        }
        exam_point(e, panel, "height", scene_time(&s), scene_q(&s, ball)[6] - 0.1);
    }
    exam_at_most(e, "time of rest - 1.35457 s", exam_abs(rest - 3 * kk_sqrt(2 / 9.81)), 1e-3);
    exam_at_most(e, "height at rest, m", exam_abs(scene_q(&s, ball)[6] - 0.1), 1e-7);
    scene_end(&s);
}

static void run_bounce(exam *e) {
    bounce_for_ever(e);
    bounce_to_rest(e);
}

// ---- 9

static void run_cradle(exam *e) {
    enum { BALLS = 5 };
    scene s;
    int ball[BALLS];
    char name[32];
    scene_begin(&s, e, 0);
    const int material = scene_material(&s, 0, 1);
    for (int i = 0; i < BALLS; i++) {
        ball[i] = scene_ball(&s, 1, 0.05, material);
    }
    scene_ready_dt(&s, 1e-3);
    for (int i = 0; i < BALLS; i++) {
        scene_place(&s, ball[i], i == 0 ? -0.153 : 0.1 * i, 0, 0);
    }
    scene_v(&s, ball[0])[3] = 1;
    const int panel = exam_plot(e, "the last leaves with the speed of the first", "time [s]", "place [m]", false);
    while (scene_time(&s) < 0.5 && scene_step(&s)) {
        for (int i = 0; i < BALLS; i++) {
            snprintf(name, sizeof name, "ball %d", i + 1);
            exam_point(e, panel, name, scene_time(&s), scene_q(&s, ball[i])[4]);
        }
    }
    double others = 0;
    for (int i = 0; i < BALLS - 1; i++) {
        others = exam_max(others, kk_vec3_norm(scene_velocity(&s, ball[i])));
    }
    exam_at_most(e, "speed of the last - v0, m/s", exam_abs(scene_velocity(&s, ball[BALLS - 1]).x - 1), 1e-9);
    exam_at_most(e, "speed of the others, m/s", others, 1e-9);
    scene_end(&s);
}

// ---- 10

/// Momentum about the world's origin, [angular; linear].
static kk_force momentum(scene *s) {
    if (s->is_broken) {
        return kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 0));
    }
    const double *q = kk_state_q(s->state), *v = kk_state_v(s->state);
    kk_force h = kk_centroidal_momentum(s->model, s->data, q, v);
    const kk_vec3 c = kk_center_of_mass(s->model, s->data, q);
    h.angular = kk_vec3_add(h.angular, kk_vec3_cross(c, h.linear));
    return h;
}

static void run_hit(exam *e) {
    scene s;
    kk_error error = {0};
    scene_begin(&s, e, 0);
    if (!s.is_broken && robots_quadruped(s.spec, &error) != KK_OK) {
        scene_break(&s, error.text);
    }
    const kk_shape_def trunk = scene_shape_def(KK_SHAPE_BOX, 1, 0.5, 0.3, 0.2, 0);
    scene_shape(&s, &trunk);
    const int ball = scene_ball(&s, 10, 0.2, 0);
    scene_ready_dt(&s, 1e-3);
    scene_place(&s, ball, -1.2, 0.05, 0.02);
    scene_v(&s, ball)[3] = 5;
    const kk_force start = momentum(&s);
    const double p0 = kk_vec3_norm(start.linear), L0 = exam_max(kk_vec3_norm(start.angular), 1e-300);
    const int panel = exam_plot(e, "drift of momentum", "time [s]", "relative", true);
    double linear = 0, angular = 0;
    while (scene_time(&s) < 2 && scene_step(&s)) {
        const kk_force h = momentum(&s);
        const double dp = kk_vec3_norm(kk_vec3_sub(h.linear, start.linear)) / p0;
        const double dL = kk_vec3_norm(kk_vec3_sub(h.angular, start.angular)) / L0;
        linear = exam_max(linear, dp);
        angular = exam_max(angular, dL);
        exam_point(e, panel, "linear", scene_time(&s), dp);
        exam_point(e, panel, "angular", scene_time(&s), dL);
    }
    exam_at_most(e, "linear momentum, relative", linear, 1e-10);
    exam_at_most(e, "angular momentum, relative", angular, 1e-10);
    exam_at_least(e, "ball's loss of speed, m/s (there was an impact)", 5 - scene_velocity(&s, ball).x, 0.5);
    scene_end(&s);
}

// ---- 18

/// A thin rod whose lower end slides on a floor of large friction: accelerations and forces alone have no solution there (Painlevé).
static void rod(exam *e, double mu, double lean, int panel) {
    scene s;
    char name[EXAM_TEXT];
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, mu, 0);
    scene_floor(&s, material);
    const int body = scene_box(&s, 1, 0.002, 0.05, 1, material);
    scene_ready_dt(&s, 1e-3);
    const double c = kk_cos(lean), t = kk_sin(lean);
    scene_turn(&s, body, kk_vec3_make(0, lean, 0));
    scene_place(&s, body, 0, 0, 0.5 * c + 0.001 * t);
    // all of it moves towards the side its foot stands on
    double *v = scene_v(&s, body), before = 0, growth = 0;
    v[3] = 3 * c;
    v[5] = 3 * t;
    before = scene_energy(&s);
    while (scene_time(&s) < 2 && scene_step(&s)) {
        const double now = scene_energy(&s);
        growth = exam_max(growth, now - before);
        before = now;
        exam_point(e, panel, mu < 1.8 ? "mu 1.5" : "mu 3", scene_time(&s), now);
    }
    snprintf(name, sizeof name, "mu %g: worst residual, m/s", mu);
    exam_at_most(e, name, s.residual, 1e-9);
    snprintf(name, sizeof name, "mu %g: largest growth of energy in a step, J", mu);
    exam_at_most(e, name, growth, 1e-9);
    scene_end(&s);
}

static void run_painleve(exam *e) {
    const int panel = exam_plot(e, "energy of the rod", "time [s]", "energy [J]", false);
    rod(e, 1.5, -0.6, panel);
    rod(e, 3, -0.6, panel);
}

// ---- 20

/// A wall of 4 × 4 m across x, fixed to the world.
static void add_plate(scene *s, double thickness) {
    const kk_shape_def plate = scene_shape_def(KK_SHAPE_BOX, KK_WORLD, thickness, 4, 4, 0);
    scene_shape(s, &plate);
}

static void shoot_straight(exam *e) {
    scene s;
    scene_begin(&s, e, 0);
    add_plate(&s, 1e-3);
    const int cube = scene_box(&s, 0.01, 0.01, 0.01, 0.01, 0);
    scene_ready_dt(&s, 1.0 / 60);
    scene_place(&s, cube, -40, 0, 0);
    scene_v(&s, cube)[3] = 1000;
    double lost = 0;
    const int panel = exam_plot(e, "a cube at 1000 m/s meets a plate at 0", "time [s]", "place [m]", false);
    while (scene_time(&s) < 0.2 && scene_step(&s)) {
        const double x = scene_q(&s, cube)[4];
        lost = x < -1 ? exam_max(lost, exam_abs(scene_velocity(&s, cube).x - 1000)) : lost;
        exam_point(e, panel, "cube", scene_time(&s), x);
    }
    exam_at_most(e, "cube: speed lost before the impact, m/s", lost, 1e-9);
    exam_at_most(e, "cube: place behind the plate, m", exam_max(0, scene_q(&s, cube)[4]), 0);
    exam_at_most(e, "cube: gap it stops with, m", exam_abs(scene_q(&s, cube)[4] + 0.0055), 1e-4);
    scene_end(&s);
}

/// A rod of 1 m that turns 160 times a second about its middle meets a post.
static void spin_rod(exam *e) {
    scene s;
    scene_begin(&s, e, 0);
    const int rod = scene_jointed(&s, KK_WORLD, KK_JOINT_HINGE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                  kk_inertia_solid_box(1, 1, 0.01, 0.01));
    const kk_shape_def bar = scene_shape_def(KK_SHAPE_BOX, rod, 1, 0.01, 0.01, 0);
    kk_shape_def post = scene_shape_def(KK_SHAPE_CYLINDER, KK_WORLD, 0.005, 0.2, 0, 0);
    post.placement = kk_transform_translation(0, 0.4, 0);
    scene_shape(&s, &bar);
    scene_shape(&s, &post);
    scene_ready_dt(&s, 1.0 / 60);
    scene_v(&s, rod)[0] = 1000;
    scene_run_until(&s, 0.2);
    exam_at_most(e, "rod at 1000 rad/s: angle beyond the post, rad", exam_max(0, scene_q(&s, rod)[0] - 1.5708), 0);
    exam_at_most(e, "rod: speed left, rad/s", exam_abs(scene_v(&s, rod)[0]), 1e-9);
    scene_end(&s);
}

static void meet_head_on(exam *e) {
    scene s;
    scene_begin(&s, e, 0);
    const int a = scene_box(&s, 0.01, 0.01, 0.01, 0.01, 0), b = scene_box(&s, 0.01, 0.01, 0.01, 0.01, 0);
    scene_ready_dt(&s, 1.0 / 60);
    scene_place(&s, a, -30, 0, 0);
    scene_place(&s, b, 31, 0, 0);
    scene_v(&s, a)[3] = 500;
    scene_v(&s, b)[3] = -500;
    double passed = 0;
    while (scene_time(&s) < 0.3 && scene_step(&s)) {
        passed = exam_max(passed, scene_q(&s, a)[4] - scene_q(&s, b)[4]);
    }
    exam_at_most(e, "two cubes at 500 m/s each: how far they passed, m", passed, 0);
    scene_end(&s);
}

/// Random cubes at 200 … 1000 m/s with up to 500 rad/s. A cube that tunnels is behind the plate within two steps.
static void shoot_at_random(exam *e) {
    enum { SHOTS = 100000 };
    scene s;
    scene_begin(&s, e, 0);
    add_plate(&s, 1e-3);
    const int cube = scene_box(&s, 0.01, 0.01, 0.01, 0.01, 0);
    scene_ready_dt(&s, 1.0 / 60);
    kk_random random = {20, 0, 0};
    int missed = 0;
    for (int i = 0; i < SHOTS && !s.is_broken; i++) {
        double *q = scene_q(&s, cube), *v = scene_v(&s, cube);
        const double speed = kk_random_next_between(&random, 200, 1000);
        scene_turn(&s, cube,
                   kk_vec3_make(kk_random_next_between(&random, -3, 3), kk_random_next_between(&random, -3, 3), 0));
        scene_place(&s, cube, -speed / 60 * kk_random_next_uniform(&random) - 0.02, 0, 0);
        const kk_quat turn = {q[0], -q[1], -q[2], -q[3]};
        const kk_vec3 u = kk_mat3_mul_vec(kk_quat_to_mat3(turn), kk_vec3_make(speed, 0, 0));
        for (int k = 0; k < 3; k++) {
            v[k] = kk_random_next_between(&random, -500, 500);
            v[3 + k] = kk_vec3_get(u, k);
        }
        scene_step(&s);
        scene_step(&s);
        missed += q[4] > 0;
    }
    exam_at_most(e, "random shots of 100 000 that went through", missed, 0);
    scene_end(&s);
}

static void run_fast(exam *e) {
    shoot_straight(e);
    spin_rod(e);
    meet_head_on(e);
    shoot_at_random(e);
}

const exam_row exam_rows_impacts[] = {
    {8, "49 bouncing balls H 5 m, e 1, 20 s; e 0.5 from 1 m comes to rest", "E constant; 1.35457 s", "5.7e-6 at 1e-3",
     true, run_bounce},
    {9, "Newton's cradle, 5 touching balls", "the last leaves with v0", "", true, run_cradle},
    {10, "quadruped hit by a 10 kg ball, no gravity", "p, L constant", "1e-27 (maximal), 4.7e-5 (reduced)", true,
     run_hit},
    {18, "Painleve's rod, mu > 4/3", "velocity-level solution", "", true, run_painleve},
    {20, "1 cm cube at 1000 m/s against a 1 mm plate; spinning rod; two fast bodies; 1e5 random shots", "no tunnelling",
     "linear casts miss rotation", false, run_fast},
    {0, NULL, NULL, NULL, false, NULL},
};
