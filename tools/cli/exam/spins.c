// Row 38: spin with slide. A tippe top against its own equations; what slides, rolls or rattles never gains energy; billiard balls with spin.
#include "motion.h"
#include "rows.h"
#include "truth.h"

static const double PI = 3.14159265358979323846;
static const kk_vec3 origin = {0, 0, 0}, along_z = {0, 0, 1};

static double rise(double *least, double E) {
    *least = E < *least ? E : *least;
    return E - *least;
}

/// A free body that lies on a floor, at dt 1 ms. Gives the largest gain of energy over the kinetic energy at the start.
static double gain_of(scene *s, double time) {
    const double scale = motion_kinetic(s);
    double least = scene_energy(s), most = 0;
    while (scene_time(s) < time && scene_step(s)) {
        most = exam_max(most, rise(&least, scene_energy(s)));
    }
    return most / scale;
}

// ---- tippe top

static int add_top(scene *s, const truth_top *x) {
    scene_floor(s, scene_material(s, x->friction, 0));
    const kk_inertia inertia = {x->mass, {0, 0, -x->below}, {x->across, x->across, x->along, 0, 0, 0}};
    const int top = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, along_z, origin, inertia);
    const kk_shape_def ball = scene_shape_def(KK_SHAPE_SPHERE, top, x->radius, 0, 0, 0);
    scene_shape(s, &ball);
    return top;
}

static void turn_over(exam *e, long *uncertified) {
    const double m = 0.015, R = 0.02, lean = 0.1, spin = 155, mR2 = m * R * R;
    const truth_top x = {m, R, 0.003, 131.0 / 350 * mR2, 0.4 * mR2, 0.1, 9.81};
    const int panel = exam_plot(e, "tippe top, 1 ms", "time [s]", "cosine of its lean", false);
    scene s;
    motion_begin(&s, e, x.gravity);
    const int top = add_top(&s, &x);
    scene_ready_dt(&s, 1e-3);
    scene_turn(&s, top, kk_vec3_make(lean, 0, 0));
    scene_place(&s, top, 0, 0, R);
    scene_v(&s, top)[2] = spin;
    const kk_vec3 axis = kk_vec3_make(0, -kk_sin(lean), kk_cos(lean)), w = kk_vec3_scale(axis, spin);
    // the center rests, and the center of mass with it: the spin is about the axis that both lie on
    double y[10] = {0, -x.below * axis.y, 0, 0, axis.x, axis.y, axis.z, w.x, w.y, w.z};
    double off = 0, least = scene_energy(&s), gained = 0;
    const double scale = motion_kinetic(&s);
    while (scene_time(&s) < 3 - 5e-4 && scene_step(&s)) {
        for (int i = 0; i < 20; i++) {
            truth_step(truth_top_rate, &x, 10, 5e-5, y);
        }
        const double *q = scene_q(&s, top);
        const double upright = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
        off = exam_max(off, exam_abs(upright - y[6]));
        gained = exam_max(gained, rise(&least, scene_energy(&s)));
        if (s.steps % 20 == 0) {
            exam_point(e, panel, "engine", scene_time(&s), upright);
            exam_point(e, panel, "fine solution", scene_time(&s), y[6]);
        }
    }
    motion_end(&s, uncertified);
    exam_at_most(e, "tippe top: cosine of its lean in 3 s, off", off, 0.01);
    exam_at_most(e, "tippe top: energy gained, of the first", gained / scale, 1e-3);
}

// ---- tripod, Euler's disk, rattleback

static double slide_tripod(exam *e, long *uncertified) {
    scene s;
    motion_begin(&s, e, 9.81);
    scene_floor(&s, scene_material(&s, 0.3, 0));
    const int body =
        scene_jointed(&s, KK_WORLD, KK_JOINT_FREE, along_z, origin, kk_inertia_solid_cylinder(1, 0.2, 0.1));
    for (int i = 0; i < 3; i++) {
        kk_shape_def foot = scene_shape_def(KK_SHAPE_SPHERE, body, 0.01, 0, 0, 0);
        foot.placement = kk_transform_translation(0.2 * kk_cos(2 * PI * i / 3), 0.2 * kk_sin(2 * PI * i / 3), -0.05);
        scene_shape(&s, &foot);
    }
    scene_ready_dt(&s, 1e-3);
    scene_place(&s, body, 0, 0, 0.06);
    scene_v(&s, body)[2] = 20;
    scene_v(&s, body)[3] = 2;
    const double gained = gain_of(&s, 2);
    motion_end(&s, uncertified);
    return gained;
}

/// Rolls on its rim, round and round: Ω² sin α = 4 g / r holds its center where it is.
static double roll_disk(exam *e, long *uncertified) {
    const double r = 0.0375, high = 0.004, lean = 0.3;
    scene s;
    motion_begin(&s, e, 9.81);
    scene_floor(&s, scene_material(&s, 1, 0));
    const int disk =
        scene_jointed(&s, KK_WORLD, KK_JOINT_FREE, along_z, origin, kk_inertia_solid_cylinder(0.1, r, high));
    const kk_shape_def shape = scene_shape_def(KK_SHAPE_CYLINDER, disk, r, high, 0, 0);
    scene_shape(&s, &shape);
    scene_ready_dt(&s, 1e-3);
    scene_turn(&s, disk, kk_vec3_make(lean, 0, 0));
    scene_place(&s, disk, 0, 0, r * kk_sin(lean) + 0.5 * high * kk_cos(lean));
    // turns about the diameter through the contact
    scene_v(&s, disk)[1] = -kk_sqrt(4 * 9.81 / (r * kk_sin(lean))) * kk_sin(lean);
    const double gained = gain_of(&s, 2);
    motion_end(&s, uncertified);
    return gained;
}

static double rattle(exam *e, long *uncertified) {
    scene s;
    motion_begin(&s, e, 9.81);
    scene_floor(&s, scene_material(&s, 0.8, 0));
    const kk_mat3 R = kk_mat3_from_axis_angle(along_z, 0.1); // the axes of its inertia are not those of its shape
    const kk_inertia stone = {0.5, {0, 0, -0.005}, kk_sym3_rotate(R, (kk_sym3){8e-5, 9e-4, 9.5e-4, 0, 0, 0})};
    const int body = scene_jointed(&s, KK_WORLD, KK_JOINT_FREE, along_z, origin, stone);
    const kk_shape_def shape = scene_shape_def(KK_SHAPE_ELLIPSOID, body, 0.1, 0.02, 0.02, 0);
    scene_shape(&s, &shape);
    scene_ready_dt(&s, 1e-3);
    scene_place(&s, body, 0, 0, 0.02);
    scene_turn(&s, body, kk_vec3_make(0, 0.01, 0));
    scene_v(&s, body)[2] = 5;
    const double gained = gain_of(&s, 5);
    motion_end(&s, uncertified);
    return gained;
}

// ---- billiards

/// Off the line of centers, degrees. @param topspin  of rolling
static double shoot_ball(exam *e, double speed, double topspin, double aside, long *uncertified) {
    const double r = 0.028575, m = 0.17, dt = 1.0 / 240, lean = kk_asin(aside), touch = 2 * r * kk_cos(lean);
    scene s;
    kk_error error = {0};
    motion_begin(&s, e, 9.81);
    const int cloth = scene_material(&s, 0.2, 0), ivory = scene_material(&s, 0.2, 0.95);
    kk_material_pair_def pair = kk_material_pair_def_default();
    pair.material[0] = pair.material[1] = ivory;
    pair.together.friction = 0;
    pair.together.restitution = 0.95;
    if (!s.is_broken && kk_spec_add_material_pair(s.spec, &pair, NULL, &error) != KK_OK) {
        scene_break(&s, error.text);
    }
    scene_floor(&s, cloth);
    const int cue = scene_ball(&s, m, r, ivory), object = scene_ball(&s, m, r, ivory);
    scene_ready_dt(&s, dt);
    scene_place(&s, object, 0, 0, r);
    scene_place(&s, cue, -touch - 2.37 * dt * speed, 2 * r * aside, r);
    scene_v(&s, cue)[3] = speed;
    scene_v(&s, cue)[1] = topspin * speed / r;
    for (int i = 0; i < 6 && scene_step(&s); i++) {
    }
    const kk_vec3 u = scene_velocity(&s, object);
    motion_end(&s, uncertified);
    return 180 / PI * exam_abs(kk_atan2(-u.y, u.x) - lean);
}

static void play(exam *e, long *uncertified) {
    static const double speeds[] = {0.5, 2, 5, 10};
    const int panel =
        exam_plot(e, "object ball, 1/240 s", "cut [diameters]", "off the line of centers [degrees]", false);
    double worst = 0;
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "%g m/s", speeds[i]);
        for (double aside = 0; aside < 0.85; aside += 0.1) {
            double here = 0;
            for (int spin = -1; spin <= 1; spin++) {
                here = exam_max(here, shoot_ball(e, speeds[i], spin, aside, uncertified));
            }
            exam_point(e, panel, name, aside, here);
            worst = exam_max(worst, here);
        }
    }
    exam_at_most(e, "billiards: object ball off the line of centers, degrees", worst, 0.05);
}

static void run_spin(exam *e) {
    long uncertified = 0;
    turn_over(e, &uncertified);
    exam_at_most(e, "tripod: energy gained, of the first", slide_tripod(e, &uncertified), 1e-3);
    exam_at_most(e, "Euler's disk: energy gained, of the first", roll_disk(e, &uncertified), 1e-3);
    exam_at_most(e, "rattleback: energy gained, of the first", rattle(e, &uncertified), 1e-3);
    play(e, &uncertified);
    motion_note_steps(e, uncertified);
}

const exam_row exam_rows_spins[] = {
    {38, "tippe top, tripod, Euler's disk, rattleback, billiard balls with spin", "fine solution", "upright", true,
     run_spin},
    {0, NULL, NULL, NULL, false, NULL},
};
