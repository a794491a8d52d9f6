// Rows 25-27: what the papers found with their own methods, by those methods as they were published (docs/guide/paper-modes.md). These
// rows run by the papers' solvers whatever --solver says; the bars are the papers' findings, not ours.
#include "rows.h"
#include "scene.h"

/// A scene that is not run by the solver of the row.
static void begin_by_paper(scene *s, exam *e, double gravity) {
    scene_begin(s, e, gravity);
    s->is_own_solver = true;
}

// ---- 25: S1

static const double BLOCK_WEIGHT = 9.8;

static kk_step_options kuroda(double dt, double stiffness, double damping, double depth) {
    return (kk_step_options){.solver = KK_SOLVER_KURODA,
                             .timestep = dt,
                             .paper.spring_stiffness = stiffness,
                             .paper.spring_damping = damping,
                             .paper.spring_depth = depth};
}

/// 8.1: a block of 1 kg, friction 0.5. Its size and the springs are not in the thesis.
static int thesis_block(scene *s, exam *e, double dt) {
    begin_by_paper(s, e, BLOCK_WEIGHT);
    const int material = scene_material(s, 0.5, 0);
    scene_floor(s, material);
    const int block = scene_box(s, 1, 1, 1, 0.3, material);
    const kk_step_options o = kuroda(dt, 100, 5, 0.1);
    scene_ready(s, &o);
    scene_place(s, block, 0, 0, 0.15);
    return block;
}

/// Error of the way of a block that has come to rest and is given a speed.
static double way_error(exam *e, double speed, double dt) {
    scene s;
    const int block = thesis_block(&s, e, dt);
    scene_run_until(&s, 4);
    const double start = scene_q(&s, block)[4];
    scene_v(&s, block)[3] = speed;
    scene_run_until(&s, 7 + speed / 4.9);
    const double error = scene_q(&s, block)[4] - start - speed * speed / 9.8;
    scene_end(&s);
    return error;
}

/// Way in 15 s under a force that grows to its value in 2 s.
static double pulled_way(exam *e, double force, double dt) {
    scene s;
    const int block = thesis_block(&s, e, dt);
    double way = 0;
    while (way < 0.1 && scene_time(&s) < 15 - 0.5 * dt) {
        scene_push(&s, block, kk_vec3_make(force * (scene_time(&s) < 2 ? scene_time(&s) / 2 : 1), 0, 0));
        if (!scene_step(&s)) {
            break;
        }
        way = scene_q(&s, block)[4];
    }
    scene_end(&s);
    return way;
}

enum { SAMPLES = 500 };

/// 8.2: angles of the double pendulum every 0.02 s for 10 s.
static void pendulum(exam *e, const kk_step_options *o, double angle[SAMPLES][2]) {
    scene s;
    begin_by_paper(&s, e, 9.8);
    int body = KK_WORLD;
    for (int i = 0; i < 2; i++) {
        kk_body_def def = kk_body_def_default();
        def.parent = body;
        def.joint.type = KK_JOINT_HINGE;
        def.joint.axis = kk_vec3_make(1, 0, 0);
        def.joint.placement.p = kk_vec3_make(0, 0, i ? -4 : 0);
        def.joint.dof[0].friction = 0.3;
        def.inertia = kk_inertia_solid_box(5, 2, 2, 6);
        def.inertia.com = kk_vec3_make(0, 0, -2);
        body = scene_body(&s, &def);
    }
    scene_ready(&s, o);
    scene_q(&s, 1)[0] = 0.7853981633974483;
    for (int i = 0; i < SAMPLES; i++) {
        scene_run_until(&s, 0.02 * (i + 1));
        angle[i][0] = scene_q(&s, 1)[0];
        angle[i][1] = scene_q(&s, 2)[0];
    }
    scene_end(&s);
}

static double pendulum_error(exam *e, double reference[SAMPLES][2], double w, double dt, int panel, const char *name) {
    static double angle[SAMPLES][2];
    const kk_step_options o = kuroda(dt, 4000, 20, w);
    double most = 0;
    pendulum(e, &o, angle);
    for (int i = 0; i < SAMPLES; i++) {
        for (int k = 0; k < 2; k++) {
            most = exam_max(most, exam_abs(angle[i][k] - reference[i][k]));
        }
        exam_point(e, panel, name, 0.02 * (i + 1), angle[i][0]);
    }
    return most;
}

static void run_kuroda(exam *e) {
    static double reference[SAMPLES][2];
    static const double rates[4] = {50, 100, 200, 400};
    double holds = 0, slips = 1;
    for (int i = 0; i < 4; i++) {
        holds = exam_max(holds, pulled_way(e, 3.92, 1 / rates[i]));
        const double way = pulled_way(e, 4.41, 1 / rates[i]);
        slips = way < slips ? way : slips;
    }
    exam_at_most(e, "way at 3.92 N in 15 s, every dt, m (table 8.1: static)", holds, 0.1);
    exam_at_least(e, "way at 4.41 N, every dt, m (table 8.1: dynamic, though 4.9 N would be right)", slips, 0.1);
    const double coarse = way_error(e, 19.6, 0.02), fine = way_error(e, 19.6, 0.005);
    exam_at_least(e, "error of the way at 19.6 m/s, dt 1/50, m (8.1.1: \"some error is seen\")", exam_abs(coarse), 0.1);
    exam_at_most(e, "the same at 1/200 over that at 1/50", exam_abs(fine / coarse), 0.3);
    const int panel = exam_plot(e, "first angle of the double pendulum (8.2)", "time [s]", "angle [rad]", false);
    const kk_step_options exact = {.timestep = 1e-3};
    pendulum(e, &exact, reference);
    for (int i = 0; i < SAMPLES; i++) {
        exam_point(e, panel, "exact", 0.02 * (i + 1), reference[i][0]);
    }
    const double wide = pendulum_error(e, reference, 0.4, 0.02, panel, "w 0.4, dt 0.02");
    const double narrow = pendulum_error(e, reference, 0.05, 0.02, panel, "w 0.05, dt 0.02");
    exam_at_least(e, "pendulum, w 0.4, dt 0.02: worst angle, rad (8.2: trembles)", wide, narrow);
    exam_at_least(e, "pendulum, w 0.05, dt 0.02: worst angle, rad (8.2: still far off)", narrow, 0.1);
    exam_at_most(e, "pendulum, w 0.05, dt 0.005: worst angle, rad (8.2: comes near)",
                 pendulum_error(e, reference, 0.05, 0.005, panel, "w 0.05, dt 0.005"), 0.02);
}

// ---- 26: S3

/// Fig. 6: largest angle between 4 and 5 s.
static double figure_6(exam *e, double K, double D, int is_explicit, int panel) {
    scene s;
    begin_by_paper(&s, e, 0);
    kk_body_def def = kk_body_def_default();
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = kk_vec3_make(0, 1, 0);
    def.joint.dof[0].stiffness = K;
    def.joint.dof[0].damping = D;
    def.inertia = (kk_inertia){.mass = 1, .com = {0, 0, -0.5}};
    const int body = scene_body(&s, &def);
    const kk_step_options o = {.solver = KK_SOLVER_SPRINGHEAD, .timestep = 0.1, .explicit_servos = is_explicit};
    char name[64];
    double largest = 0;
    snprintf(name, sizeof name, "K %g, D %g, %s", K, D, is_explicit ? "explicit" : "implicit");
    scene_ready(&s, &o);
    scene_q(&s, body)[0] = 1.5707963267948966;
    // explicit motion runs away: as far as it stays within reason
    for (int i = 0; i < 50 && largest < 1e6 && scene_step(&s); i++) {
        const double angle = scene_q(&s, body)[0];
        largest = scene_time(&s) > 4 || exam_abs(angle) > 1e3 ? exam_max(largest, exam_abs(angle)) : largest;
        if (exam_abs(angle) < 4) {
            exam_point(e, panel, name, scene_time(&s), angle);
        }
    }
    scene_end(&s);
    return largest;
}

/// Residual of five boxes on each other, heavier upwards, after a second.
static double tower_residual(exam *e, int sweeps) {
    scene s;
    begin_by_paper(&s, e, 9.81);
    const int material = scene_material(&s, 0, 0);
    int box[5];
    scene_floor(&s, material);
    for (int i = 0; i < 5; i++) {
        box[i] = scene_box(&s, 1 + 3 * i, 1, 1, 0.5, material);
    }
    const kk_step_options o = {
        .solver = KK_SOLVER_SPRINGHEAD, .timestep = 0.01, .effort = KK_EFFORT_SWEEPS, .iterations = sweeps};
    scene_ready(&s, &o);
    for (int i = 0; i < 5; i++) {
        scene_place(&s, box[i], 0, 0, 0.25 + 0.5 * i);
    }
    scene_run_until(&s, 1);
    const double residual = s.is_broken ? 0 : kk_simulator_report(s.simulator)->residual;
    scene_end(&s);
    return residual;
}

static void run_springhead(exam *e) {
    static const double gains[3] = {1, 10, 100};
    const int panel = exam_plot(e, "Fig. 6: pendulum with a spring and a damper", "time [s]", "angle [rad]", false);
    double implicit = 0;
    for (int i = 0; i < 3; i++) {
        implicit = exam_max(implicit, figure_6(e, 2 * gains[i], gains[i], 0, panel));
    }
    exam_at_most(e, "implicit, K 2, 20, 200: angle after 4 s, rad", implicit, 0.05);
    exam_at_most(e, "explicit, K 2: angle after 4 s, rad", figure_6(e, 2, 1, 1, panel), 0.05);
    exam_at_least(e, "explicit, K 20: largest angle, rad (the limit of the explicit rule)",
                  figure_6(e, 20, 10, 1, panel), 1.5);
    exam_at_least(e, "explicit, K 200: largest angle, rad", figure_6(e, 200, 100, 1, panel), 1e6);
    const double few = tower_residual(e, 2);
    exam_at_least(e, "tower of five, 2 sweeps: residual, m/s (2.4: few iterations leave one)", few, 1e-2);
    exam_at_most(e, "15 sweeps: residual over that of 2", tower_residual(e, 15) / few, 0.5);
    exam_at_most(e, "1500 sweeps: residual, m/s", tower_residual(e, 1500), 1e-9);
}

// ---- 27: S0

static void run_boxes_on_slope(exam *e) {
    scene s;
    begin_by_paper(&s, e, 9.81);
    const int material = scene_material(&s, 0.6, 0);
    kk_shape_def plane = scene_shape_def(KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    plane.placement.R = kk_mat3_from_rpy(0, 0.35, 0); // 20 degrees, μ holds 31
    scene_shape(&s, &plane);
    enum { BOXES = 8 };
    int box[BOXES];
    for (int i = 0; i < BOXES; i++) {
        box[i] = scene_box(&s, 1 + 0.5 * i, 0.3, 0.25, 0.2, material);
    }
    const kk_step_options o = {.solver = KK_SOLVER_OPENHRP, .timestep = 1e-3};
    scene_ready(&s, &o);
    for (int i = 0; i < BOXES; i++) {
        scene_place(&s, box[i], 0.4 * (i % 2), 0.05 * i, 0.3 + 0.3 * i);
        scene_turn(&s, box[i], kk_vec3_make(0, 0.35, 0.2 * i));
    }
    scene_run_until(&s, 6);
    double before[BOXES], fastest = 0, crept = 0;
    for (int i = 0; i < BOXES; i++) {
        before[i] = scene_q(&s, box[i])[4];
    }
    scene_run_until(&s, 8);
    for (int i = 0; i < BOXES; i++) {
        crept = exam_max(crept, exam_abs(scene_q(&s, box[i])[4] - before[i]));
        fastest = exam_max(fastest, kk_vec3_norm(scene_velocity(&s, box[i])));
    }
    exam_at_most(e, "Fig. 2: eight boxes on a slope of 20 deg after 8 s: fastest, m/s", fastest, 0.01);
    exam_at_most(e, "creep in the last 2 s, m", crept, 0.01);
    scene_end(&s);
}

/// Fig. 3: largest gap of a four-bar that swings for 2 s.
static double four_bar_gap(exam *e, double dt) {
    scene s;
    begin_by_paper(&s, e, 9.81);
    kk_inertia rod = kk_inertia_solid_box(1, 1, 0.05, 0.05);
    rod.com = kk_vec3_make(0.5, 0, 0);
    int body[4] = {KK_WORLD, 0, 0, 0};
    for (int i = 1; i < 4; i++) {
        body[i] = scene_jointed(&s, body[i - 1], KK_JOINT_HINGE, kk_vec3_make(0, 1, 0), kk_vec3_make(i > 1, 0, 0), rod);
    }
    scene_loop(&s, KK_LOOP_POINT, KK_WORLD, kk_vec3_make(1.5, 0, 0), body[3], kk_vec3_make(1, 0, 0));
    const kk_step_options o = {.solver = KK_SOLVER_OPENHRP, .timestep = dt};
    scene_ready(&s, &o);
    const double x = kk_cos(0.9), z = -kk_sin(0.9), dx = 1.5 - x, dz = -z, far = kk_sqrt(dx * dx + dz * dz);
    const double out = kk_sqrt(1 - 0.25 * far * far) / far, x3 = x + 0.5 * dx + out * dz, z3 = z + 0.5 * dz - out * dx;
    scene_q(&s, body[1])[0] = 0.9;
    scene_q(&s, body[2])[0] = kk_atan2(z - z3, x3 - x) - 0.9;
    scene_q(&s, body[3])[0] = kk_atan2(z3, 1.5 - x3) - kk_atan2(z - z3, x3 - x);
    double gap = 0;
    while (scene_time(&s) < 2 && scene_step(&s)) {
        kk_kinematics(s.model, s.data, kk_state_q_const(s.state));
        const kk_vec3 end = kk_transform_point(kk_body_pose(s.model, s.data, body[3]), kk_vec3_make(1, 0, 0));
        gap = exam_max(gap, kk_vec3_norm(kk_vec3_sub(end, kk_vec3_make(1.5, 0, 0))));
    }
    scene_end(&s);
    return gap;
}

static void run_openhrp(exam *e) {
    run_boxes_on_slope(e);
    const double gap = four_bar_gap(e, 1e-3);
    exam_at_most(e, "Fig. 3: gap of a closed link that swings for 2 s, dt 1 ms, m", gap, 1e-5);
    exam_at_most(e, "the same at half the step over it (second order)", four_bar_gap(e, 5e-4) / gap, 0.3);
}

const exam_row exam_rows_papers[] = {
    {25, "Kuroda's friction and pendulum by Kuroda's method", "thesis 8.1, 8.2", "", true, run_kuroda},
    {26, "Springhead's Fig. 6 and few sweeps by Springhead's method", "S3 2.4, 3.2", "", true, run_springhead},
    {27, "OpenHRP's boxes and closed link by OpenHRP's method", "S0 Fig. 2, Fig. 3", "", false, run_openhrp},
    {0, NULL, NULL, NULL, false, NULL},
};
