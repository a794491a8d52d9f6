// Rows 1-4, 6, 7: Coulomb's friction, where the answer is on paper.
#include "rows.h"
#include "scene.h"

static const double KURODA_G = 9.8, KURODA_MU = 0.5;

/// A block of 1 kg with friction 0.5 on the floor under 9.8 m/s² (S1 8.1).
static int kuroda_block(scene *s, exam *e, double dt) {
    scene_begin(s, e, KURODA_G);
    const int material = scene_material(s, KURODA_MU, 0);
    scene_floor(s, material);
    const int block = scene_box(s, 1, 0.2, 0.2, 0.1, material);
    scene_ready_dt(s, dt);
    scene_place(s, block, 0, 0, 0.05);
    return block;
}

// ---- 1

typedef struct slide {
    double way, time; ///< until it stands
} slide;

/// In the step it stops in, a block of speed v that decelerates evenly goes v t/2.
static slide slide_until_rest(exam *e, double speed, double angle, double dt, int panel) {
    scene s;
    const int block = kuroda_block(&s, e, dt);
    double *v = scene_v(&s, block), *q = scene_q(&s, block);
    v[3] = speed * kk_cos(angle);
    v[4] = speed * kk_sin(angle);
    slide result = {0, 0};
    double moving = speed, way = 0;
    while (moving > 0 && scene_time(&s) < 2 * speed / (KURODA_MU * KURODA_G) && scene_step(&s)) {
        const double gone = kk_hypot(q[4], q[5]), left = kk_hypot(v[3], v[4]);
        if (left < 1e-12) {
            result.time = scene_time(&s) - dt + 2 * (gone - way) / moving;
        }
        way = gone;
        moving = left < 1e-12 ? 0 : left;
        if (panel >= 0) {
            exam_point(e, panel, dt > 0.015 ? "dt 1/50" : dt > 0.0075 ? "dt 1/100" : "dt 1/200", scene_time(&s), gone);
        }
    }
    scene_run_until(&s, scene_time(&s) + 0.5);
    result.way = kk_hypot(q[4], q[5]);
    scene_end(&s);
    return result;
}

static void run_slide(exam *e) {
    static const double speeds[] = {9.8, 19.6, 29.4}, steps[] = {1.0 / 50, 1.0 / 100, 1.0 / 200, 1 / 70.3, 0.0123};
    const int panel = exam_plot(e, "sliding until it stops", "time [s]", "way [m]", false);
    for (int k = 0; k < 5; k++) {
        double way = 0, time = 0;
        for (int i = 0; i < 3; i++) {
            const slide r = slide_until_rest(e, speeds[i], 0, steps[k], k < 3 ? panel : -1);
            way = exam_max(way, exam_abs(r.way / (speeds[i] * speeds[i] / 9.8) - 1));
            time = exam_max(time, exam_abs(r.time / (speeds[i] / 4.9) - 1));
        }
        char name[EXAM_TEXT];
        snprintf(name, sizeof name, "way, dt 1/%.4g, relative", 1 / steps[k]);
        exam_at_most(e, name, way, 1e-9);
        snprintf(name, sizeof name, "time of the stop, dt 1/%.4g, relative", 1 / steps[k]);
        exam_at_most(e, name, time, 1e-9);
    }
}

// ---- 2

typedef struct pulled {
    double fastest, last; ///< speeds
} pulled;

/// A force held after a ramp of 2 s.
static pulled pull(exam *e, double force, double angle, double dt, double hold, int panel) {
    scene s;
    const int block = kuroda_block(&s, e, dt);
    double *v = scene_v(&s, block);
    pulled speed = {0, 0};
    while (scene_time(&s) < 2 + hold - 0.5 * dt) {
        const double ramp = scene_time(&s) + 0.5 * dt, f = force * (ramp < 2 ? ramp / 2 : 1);
        scene_push(&s, block, kk_vec3_make(f * kk_cos(angle), f * kk_sin(angle), 0));
        if (!scene_step(&s)) {
            break;
        }
        speed.last = kk_hypot(v[3], v[4]);
        speed.fastest = exam_max(speed.fastest, speed.last);
        if (panel >= 0) {
            exam_point(e, panel, force < 4.9 ? "4.899 N" : "4.903 N", scene_time(&s), speed.last);
        }
    }
    scene_end(&s);
    return speed;
}

static void run_threshold(exam *e) {
    static const double rates[] = {50, 100, 200, 400};
    const int panel = exam_plot(e, "held force behind a ramp of 2 s, dt 1/50", "time [s]", "speed [m/s]", false);
    double sticks = 0, slides = 1, creep = 0;
    for (int k = 0; k < 4; k++) {
        sticks = exam_max(sticks, pull(e, 4.899, 0, 1 / rates[k], 2, k == 0 ? panel : -1).fastest);
        const double speed = pull(e, 4.903, 0, 1 / rates[k], 2, k == 0 ? panel : -1).last;
        slides = speed < slides ? speed : slides;
        creep = exam_max(creep, pull(e, 4.899, 0, 1 / rates[k], 60, -1).fastest);
    }
    exam_at_most(e, "speed at 4.899 N, every dt, m/s", sticks, 1e-12);
    exam_at_least(e, "speed at 4.903 N after 2 s, every dt, m/s (0.006 on paper)", slides, 0.005);
    exam_at_most(e, "creep at 4.899 N in 60 s, m/s", creep, 1e-12);
}

// ---- 3

static void run_directions(exam *e) {
    double least = 1e9, most = 0, holds = 0, slips = 1e9;
    const int panel = exam_plot(e, "way of a block thrown at 9.8 m/s", "direction [deg]", "way/9.8 m - 1", false);
    for (int degree = 0; degree < 360 && !e->trouble[0]; degree++) {
        const double angle = degree * (3.14159265358979323846 / 180);
        const double way = slide_until_rest(e, 9.8, angle, 0.02, -1).way / 9.8;
        least = way < least ? way : least;
        most = exam_max(most, way);
        exam_point(e, panel, "way", degree, way - 1);
        holds = exam_max(holds, pull(e, 4.9 * (1 - 5e-10), angle, 0.02, 0.5, -1).fastest);
        const double speed = pull(e, 4.9 * (1 + 5e-10), angle, 0.02, 0.5, -1).last;
        slips = speed < slips ? speed : slips;
    }
    exam_at_most(e, "spread of the way, relative", most - least, 1e-9);
    exam_at_most(e, "speed at 4.9 N (1 - 5e-10), m/s", holds, 1e-12);
    exam_at_least(e, "speed at 4.9 N (1 + 5e-10) after 0.5 s, m/s (1.2e-9 on paper)", slips, 1e-10);
}

// ---- 4

/// Speed down the incline after a second.
static double incline(exam *e, double angle) {
    scene s;
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.5, 0);
    kk_shape_def plane = scene_shape_def(KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    plane.placement.R = kk_mat3_from_rpy(0, angle, 0);
    scene_shape(&s, &plane);
    const int box = scene_box(&s, 2, 0.3, 0.2, 0.1, material);
    scene_ready_dt(&s, 1e-3);
    scene_turn(&s, box, kk_vec3_make(0, angle, 0));
    const kk_vec3 n = kk_mat3_column(plane.placement.R, 2);
    scene_place(&s, box, 0.05 * n.x, 0.05 * n.y, 0.05 * n.z);
    scene_run_until(&s, 1);
    const double speed = kk_vec3_norm(scene_velocity(&s, box));
    scene_end(&s);
    return speed;
}

static void run_incline(exam *e) {
    const double limit = kk_atan(0.5);
    const double angles[] = {limit + 1e-6, limit + 1e-3, 0.7};
    exam_at_most(e, "speed at the limit - 1e-6 rad after 1 s, m/s", incline(e, limit - 1e-6), 1e-12);
    const int panel = exam_plot(e, "speed after a second", "angle - limit [rad]", "speed [m/s]", false);
    for (int i = 0; i < 3; i++) {
        const double a = 9.81 * (kk_sin(angles[i]) - 0.5 * kk_cos(angles[i])), speed = incline(e, angles[i]);
        char name[EXAM_TEXT];
        snprintf(name, sizeof name, "acceleration at the limit + %.1g rad, relative", angles[i] - limit);
        exam_at_most(e, name, exam_abs(speed / a - 1), i == 0 ? 1e-6 : 1e-9);
        exam_point(e, panel, "measured", angles[i] - limit, speed);
        exam_point(e, panel, "paper", angles[i] - limit, a);
    }
}

// ---- 6

/// Balls on a box that is pulled: the box slides on the ground, the balls roll on it (SimBenchmark, rolling test).
static void run_rolling(exam *e) {
    enum { BALLS = 25 };
    scene s;
    int ball[BALLS];
    scene_begin(&s, e, 9.81);
    const int low = scene_material(&s, 0.4, 0), high = scene_material(&s, 0.8, 0), floor = scene_material(&s, 1, 0);
    kk_material_pair_def pair = kk_material_pair_def_default();
    pair.material[0] = low;
    pair.together = kk_material_def_default();
    const double mu[] = {0.8, 0.4};
    const int other[] = {high, floor};
    for (int i = 0; i < 2 && !s.is_broken; i++) {
        pair.material[1] = other[i];
        pair.together.friction = mu[i];
        kk_error error = {0};
        if (kk_spec_add_material_pair(s.spec, &pair, NULL, &error) != KK_OK) {
            scene_break(&s, error.text);
        }
    }
    scene_floor(&s, floor);
    const int box = scene_box(&s, 10, 20, 20, 1, low);
    for (int i = 0; i < BALLS; i++) {
        ball[i] = scene_ball(&s, 1, 0.5, high);
    }
    scene_ready_dt(&s, 1e-3);
    scene_place(&s, box, 0, 0, 0.5);
    for (int i = 0; i < BALLS; i++) {
        const int row = i / 5;
        scene_place(&s, ball[i], 2.0 * (i % 5) - 4, 2.0 * row - 4, 1.5);
    }
    const double part = kk_sqrt(0.5), a_box = (150 - 0.4 * 35 * 9.81) / 60 * 3.5, a_ball = a_box / 3.5;
    scene_push(&s, box, kk_vec3_make(150 * part, 150 * part, 0));
    const int panel = exam_plot(e, "speeds", "time [s]", "speed [m/s]", false);
    double sum = 0;
    while (scene_time(&s) < 2 && scene_step(&s)) {
        const double t = scene_time(&s);
        const kk_vec3 v = scene_velocity(&s, box), exact = kk_vec3_make(a_box * part * t, a_box * part * t, 0);
        const kk_vec3 d = kk_vec3_sub(v, exact);
        double error = kk_vec3_dot(d, d);
        for (int i = 0; i < BALLS; i++) {
            const kk_vec3 w = kk_vec3_sub(scene_velocity(&s, ball[i]), kk_vec3_scale(exact, a_ball / a_box));
            error += kk_vec3_dot(w, w);
        }
        sum += error / (BALLS + 1);
        exam_point(e, panel, "box", t, kk_vec3_norm(v));
        exam_point(e, panel, "first ball", t, kk_vec3_norm(scene_velocity(&s, ball[0])));
    }
    exam_at_most(e, "mean square error of velocities, m2/s2", sum / (double)s.steps, 1e-20);
    exam_at_most(e, "acceleration of the box - 0.7385, m/s2",
                 exam_abs(kk_vec3_norm(scene_velocity(&s, box)) / scene_time(&s) - 0.7385), 1e-9);
    exam_at_most(e, "worst residual, m/s", s.residual, 1e-9);
    scene_end(&s);
}

// ---- 7

static void run_sphere(exam *e) {
    scene s;
    scene_begin(&s, e, 9.81);
    const int material = scene_material(&s, 0.3, 0);
    scene_floor(&s, material);
    const int ball = scene_ball(&s, 1, 0.1, material);
    scene_ready_dt(&s, 1e-3);
    scene_place(&s, ball, 0, 0, 0.1);
    scene_v(&s, ball)[3] = 5;
    const double rolls = 2 * 5 / (7 * 0.3 * 9.81), v_end = 25.0 / 7, x_rolls = 5 * rolls - 0.15 * 9.81 * rolls * rolls;
    const int panel = exam_plot(e, "from sliding to rolling", "time [s]", "speed [m/s]", false);
    double *q = scene_q(&s, ball);
    while (scene_time(&s) < 1 - 5e-4 && scene_step(&s)) {
        exam_point(e, panel, "speed", scene_time(&s), scene_velocity(&s, ball).x);
        exam_point(e, panel, "radius x spin", scene_time(&s), 0.1 * scene_v(&s, ball)[1]);
    }
    // it rolls on at v_end, so where it is now tells when and where the rolling began
    const double x = x_rolls + v_end * (scene_time(&s) - rolls);
    exam_at_most(e, "speed - 25/7, m/s", exam_abs(scene_velocity(&s, ball).x - v_end), 1e-9);
    exam_at_most(e, "place after 1 s (2.080343 where it begins to roll), m", exam_abs(q[4] - x), 1e-6);
    // 5 T - x(T) = (5 - v_end) (T - rolls/2)
    const double began = 2 * (scene_time(&s) - (5 * scene_time(&s) - q[4]) / (5 - v_end));
    exam_at_most(e, "time it begins to roll, from place and speed, s", exam_abs(began - rolls), 1e-6);
    scene_end(&s);
}

const exam_row exam_rows_friction[] = {
    {1, "sliding block of Kuroda, v0 9.8/19.6/29.4 m/s", "9.8, 39.2, 88.2 m; stops at 2, 4, 6 s",
     "symplectic Euler: short by v0 dt/2 (1 % at 1/50)", true, run_slide},
    {2, "threshold of static friction, ramp of 2 s, dt 1/50 ... 1/400", "4.9 N",
     "thesis 4.41 N; MuJoCo creeps at any load", true, run_threshold},
    {3, "friction in 360 directions", "isotropic", "pyramids: 1.41", true, run_directions},
    {4, "box on an incline, mu 0.5", "26.565051 deg", "+-2 deg in a peer's own tests", true, run_incline},
    {6, "10 kg box pulled with 150 N at 45 deg, 25 balls rolling on it", "box 0.7385, balls 0.211 m/s2",
     "3.9e-27 best, 4e-7 typical", true, run_rolling},
    {7, "sphere from sliding to rolling, v0 5 m/s, mu 0.3", "0.485413 s, 25/7 m/s, 2.080343 m", "", true, run_sphere},
    {0, NULL, NULL, NULL, false, NULL},
};
