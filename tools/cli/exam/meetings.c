// Rows 40 to 43: what meets: free bodies, non-convex meshes, cradles, shots.
#include <stdlib.h>
#include <string.h>

#include "motion.h"
#include "rows.h"
#include "solids.h"

static const double PI = 3.14159265358979323846;
static const kk_vec3 origin = {0, 0, 0}, along_y = {0, 1, 0};

// ---- 40

/// How far the struck ball's way is from the line of centers at the touch, degrees. @param aside  of the centers' lines of motion, in diameters
static double miss_of(exam *e, double speed, double aside, double ratio, double dt, long *uncertified) {
    const double r = 0.05, lean = kk_asin(aside), touch = 2 * r * kk_cos(lean);
    scene s;
    motion_begin(&s, e, 0);
    const int smooth = scene_material(&s, 0, 1);
    const int cue = scene_ball(&s, 1, r, smooth), object = scene_ball(&s, ratio, r, smooth);
    scene_ready_dt(&s, dt);
    // both move, and touch behind 2.37 steps
    scene_place(&s, cue, -touch - 2.37 * dt * speed, 2 * r * aside, 0.3);
    scene_v(&s, cue)[3] = 0.7 * speed;
    scene_v(&s, object)[3] = -0.3 * speed;
    scene_place(&s, object, 0, 0, 0.3);
    for (int i = 0; i < 5 && scene_step(&s); i++) {
    }
    const kk_vec3 u = kk_vec3_sub(scene_velocity(&s, object), kk_vec3_make(-0.3 * speed, 0, 0));
    motion_end(&s, uncertified);
    return 180 / PI * exam_abs(kk_atan2(-u.y, u.x) - lean);
}

static void run_free_impacts(exam *e) {
    static const double speeds[] = {0.3, 1, 3, 10, 30, 100, 300, 1000}, dt[] = {1e-3, 1.0 / 240};
    static const char *const names[] = {"dt 1 ms", "dt 1/240 s"};
    const int panel =
        exam_plot(e, "two free balls, hit off their centers", "relative speed [m/s]", "off [degrees]", true);
    long uncertified = 0;
    for (int k = 0; k < 2; k++) {
        double worst = 0;
        for (int i = 0; i < 8; i++) {
            double here = 0;
            for (double aside = 0; aside < 0.95; aside += 0.1) {
                here = exam_max(here, miss_of(e, speeds[i], aside, 1, dt[k], &uncertified));
                here = exam_max(here, miss_of(e, speeds[i], aside, 7, dt[k], &uncertified));
            }
            exam_point(e, panel, names[k], speeds[i], here + 1e-16);
            worst = exam_max(worst, here);
        }
        motion_at_most(e, names[k], "way of the struck ball off the line of centers, degrees", worst, 0.05);
    }
    motion_note_steps(e, uncertified);
}

// ---- 41

/// Rings dropped on each other: true when the step was refused.
static bool drop_rings(exam *e, int number, int panel, long *uncertified) {
    const int rings = 10, steps = e->is_quick ? 150 : 1000;
    scene s;
    motion_begin(&s, e, 9.81);
    scene_floor(&s, 0);
    const int mesh = exam_ring(&s, 0.1, 0.03, 16, 8);
    int body[10];
    for (int i = 0; i < rings; i++) {
        body[i] = exam_add_mesh_body(&s, mesh, KK_SHAPE_MESH, 0.5, 0.26);
    }
    scene_ready_dt(&s, 1e-3);
    kk_random random = {41, (uint64_t)number, 0};
    for (int i = 0; i < rings; i++) {
        const double x = kk_random_next_between(&random, -0.05, 0.05), y = kk_random_next_between(&random, -0.05, 0.05);
        scene_turn(&s, body[i],
                   kk_vec3_make(kk_random_next_between(&random, -2, 2), kk_random_next_between(&random, -2, 2), 0));
        scene_place(&s, body[i], x, y, 0.14 + 0.1 * i);
    }
    long done = 0;
    while (done < steps && scene_step(&s)) {
        done++;
        if (number == 0 && done % 10 == 0) {
            exam_point(e, panel, "contacts", scene_time(&s), kk_simulator_ncontact(s.simulator));
        }
    }
    motion_end(&s, uncertified);
    return done < steps;
}

static void run_rings(exam *e) {
    const int heaps = e->is_quick ? 3 : 20;
    const int panel = exam_plot(e, "ten rings in a heap", "time [s]", "contacts", false);
    long uncertified = 0;
    int refused = 0;
    for (int i = 0; i < heaps && !e->is_drawn; i++) {
        refused += drop_rings(e, i, panel, &uncertified);
    }
    exam_at_most(e, "heaps of ten non-convex rings with a step that was refused", refused, 0);
    motion_note_steps(e, uncertified);
}

// ---- 42

static double swing_cradle(exam *e, double apart, int panel, const char *name, long *uncertified) {
    static const double mass[] = {1, 2.7, 0.6, 1.9, 3.3};
    enum { BALLS = 5 };
    const double r = 0.05, length = 0.5;
    scene s;
    int ball[BALLS];
    motion_begin(&s, e, 9.81);
    const int hard = scene_material(&s, 0, 1);
    for (int i = 0; i < BALLS; i++) {
        kk_inertia bob = kk_inertia_solid_sphere(mass[i], r);
        bob.com = kk_vec3_make(0, 0, -length);
        ball[i] = scene_jointed(&s, KK_WORLD, KK_JOINT_HINGE, along_y, kk_vec3_make((2 * r + apart) * i, 0, 1), bob);
        kk_shape_def shape = scene_shape_def(KK_SHAPE_SPHERE, ball[i], r, 0, 0, hard);
        shape.placement = kk_transform_translation(0, 0, -length);
        scene_shape(&s, &shape);
    }
    const kk_step_options options = {.timestep = 5e-3, .restitution_speed = 1e-6}; // slower ones would not bounce
    scene_ready(&s, &options);
    scene_q(&s, ball[0])[0] = 0.6;
    const double E0 = scene_energy(&s), scale = mass[0] * 9.81 * length * (1 - kk_cos(0.6));
    double off = 0;
    while (scene_time(&s) < 10 && scene_step(&s)) {
        off = exam_max(off, exam_abs(scene_energy(&s) - E0) / scale);
        exam_point(e, panel, name, scene_time(&s), exam_abs(scene_energy(&s) - E0) / scale + 1e-16);
    }
    motion_end(&s, uncertified);
    return off;
}

static void run_cradles(exam *e) {
    const int panel = exam_plot(e, "cradles of unequal balls, e 1, 5 ms", "time [s]", "|dE| / E", true);
    long uncertified = 0;
    exam_at_most(e, "balls that touch: energy, relative", swing_cradle(e, 0, panel, "touching", &uncertified), 1e-6);
    exam_at_most(e, "balls 5 mm apart: energy, relative", swing_cradle(e, 5e-3, panel, "apart", &uncertified), 1e-6);
    motion_note_steps(e, uncertified);
}

// ---- 43

typedef struct shots {
    int through, refused;
    double longest; ///< s of CPU
} shots;

static void add_ground(scene *s, bool is_field) {
    static const double heights[16] = {0};
    kk_shape_def def = scene_shape_def(is_field ? KK_SHAPE_HEIGHT_FIELD : KK_SHAPE_MESH, KK_WORLD, 0, 0, 0, 0);
    kk_error error = {0};
    if (is_field) {
        kk_height_field_def field = kk_height_field_def_default();
        field.name = "field";
        field.rows = field.columns = 4;
        field.half_x = field.half_y = 2;
        field.base = 0.5;
        field.height = heights;
        if (s->is_broken || kk_spec_add_height_field(s->spec, &field, &def.height_field, &error) != KK_OK) {
            scene_break(s, error.text);
            return;
        }
    } else {
        def.mesh = exam_sheet(s, 2, 20);
    }
    scene_shape(s, &def);
}

static int add_bullet(scene *s, bool is_mesh) {
    if (is_mesh) {
        return exam_add_mesh_body(s, exam_ring(s, 0.02, 0.008, 8, 6), KK_SHAPE_MESH, 0.05, 0.05);
    }
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), origin,
                                   kk_inertia_solid_cylinder(0.05, 0.01, 0.06));
    const kk_shape_def def = scene_shape_def(KK_SHAPE_CAPSULE, body, 0.01, 0.04, 0, 0);
    scene_shape(s, &def);
    return body;
}

/// A shot down at the ground with a spin; what is below it behind five steps went through.
static void shoot(scene *s, int bullet, kk_random *random, shots *all) {
    const double speed = 300 * kk_exp(kk_random_next_uniform(random) * kk_log(5000.0 / 300));
    kk_vec3 aim = kk_vec3_make(kk_random_next_between(random, -1, 1), kk_random_next_between(random, -1, 1), -1.5);
    aim = kk_vec3_scale(aim, speed / kk_vec3_norm(aim));
    scene_turn(s, bullet,
               kk_vec3_make(kk_random_next_between(random, -3, 3), kk_random_next_between(random, -3, 3), 0));
    double *q = scene_q(s, bullet), *v = scene_v(s, bullet);
    const kk_mat3 R = kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]});
    const double ahead = 1e-3 * kk_random_next_between(random, 0.1, 0.9);
    scene_place(s, bullet, -aim.x * ahead, -aim.y * ahead, 0.06 - aim.z * ahead);
    const kk_vec3 own = kk_mat3_tmul_vec(R, aim);
    for (int k = 0; k < 3; k++) {
        v[k] = kk_random_next_between(random, -50, 50);
        v[3 + k] = kk_vec3_get(own, k);
    }
    bool went = true;
    for (int i = 0; i < 5 && went; i++) {
        const double start = exam_thread_cpu();
        went = scene_step(s);
        all->longest = exam_max(all->longest, exam_thread_cpu() - start);
    }
    all->refused += !went;
    all->through += went && exam_abs(q[4]) < 1.9 && exam_abs(q[5]) < 1.9 && q[6] < -1e-3;
}

static shots shoot_many(exam *e, bool is_mesh, bool is_field, int count, long *uncertified) {
    shots all = {0, 0, 0};
    kk_random random = {43, 0, 0};
    for (int i = 0; i < count && !e->is_drawn; i++) {
        scene s;
        motion_begin(&s, e, 9.81);
        add_ground(&s, is_field);
        const int bullet = add_bullet(&s, is_mesh);
        scene_ready_dt(&s, 1e-3);
        shoot(&s, bullet, &random, &all);
        motion_end(&s, uncertified);
    }
    return all;
}

static void run_shots(exam *e) {
    static const char *const names[] = {"capsules on a flat mesh", "capsules on a height field", "rings on a flat mesh",
                                        "rings on a height field"};
    const int count = e->is_quick ? 20 : 100;
    const int panel = exam_plot(e, "shots at 300 ... 5000 m/s", "scene", "through, refused", false);
    long uncertified = 0;
    for (int i = 0; i < 4; i++) {
        shots found = shoot_many(e, i / 2, i % 2, count, &uncertified);
        motion_at_most(e, names[i], "through", found.through, 0);
        motion_at_most(e, names[i], "refused", found.refused, 0);
        for (int again = 0; again < 2 && !e->is_quick; again++) { // the least of three
            long same = 0;
            const double longest = shoot_many(e, i / 2, i % 2, count, &same).longest;
            found.longest = longest < found.longest ? longest : found.longest;
        }
        if (!e->is_quick) {
            motion_at_most(e, names[i], "longest step, ms of CPU", 1e3 * found.longest, 5);
        }
        exam_point(e, panel, "through", i + 1, found.through);
        exam_point(e, panel, "refused", i + 1, found.refused);
    }
    motion_note_steps(e, uncertified);
}

const exam_row exam_rows_meetings[] = {
    {40, "free against free balls at 0.3 ... 1000 m/s", "the line of centers at the touch", "", true, run_free_impacts},
    {41, "heaps of non-convex rings", "goes on", "", true, run_rings},
    {42, "hanging cradles of unequal balls, e 1, 10 s at 5 ms", "E constant", "", true, run_cradles},
    {43, "capsules and rings at 300 ... 5000 m/s on flat meshes and height fields", "hit", "", true, run_shots},
    {0, NULL, NULL, NULL, false, NULL},
};
