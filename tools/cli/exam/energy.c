// Rows 32, 33, 34: energy and momentum of what moves without being driven.
#include "../../../models/robots.h"
#include "motion.h"
#include "rows.h"

static const kk_vec3 origin = {0, 0, 0}, along_y = {0, 1, 0}, along_z = {0, 0, 1};

// ---- 33

typedef struct subject {
    const char *name;
    void (*build)(scene *s);
    void (*start)(scene *s, double speed);
    double speed, gravity;
    double bar; ///< of |dE| over the largest kinetic energy at 1 ms
} subject;

static void build_top(scene *s) {
    kk_inertia disk = kk_inertia_solid_cylinder(1, 0.1, 0.02);
    disk.com = kk_vec3_make(0, 0, 0.15);
    scene_jointed(s, KK_WORLD, KK_JOINT_BALL, along_z, origin, disk);
}

static void start_top(scene *s, double speed) {
    scene_turn(s, 1, kk_vec3_make(0.5, 0, 0));
    scene_v(s, 1)[2] = speed;
}

static void build_arm(scene *s) {
    kk_error error = {0};
    if (!s->is_broken && robots_arm7(s->spec, &error) != KK_OK) {
        scene_break(s, error.text);
    }
    motion_strip(s);
}

static void start_random(scene *s, double speed) {
    kk_random random = {33, 0, 0};
    motion_fling(s, &random, speed);
}

static void build_chain(scene *s) {
    int last = KK_WORLD;
    for (int i = 0; i < 12; i++) {
        last = motion_bar(s, last, KK_JOINT_BALL, along_z, kk_vec3_make(0, 0, i ? -0.1 : 0), kk_vec3_make(0, 0, -0.1),
                          0.1, 0.02);
    }
}

static void start_chain(scene *s, double speed) {
    start_random(s, speed);
    scene_turn(s, 1, kk_vec3_make(0, 1.5, 0));
}

static void build_double_pendulum(scene *s) {
    const kk_vec3 down = {0, 0, -1};
    const int first = motion_bar(s, KK_WORLD, KK_JOINT_HINGE, along_y, origin, down, 1, 0.05);
    motion_bar(s, first, KK_JOINT_HINGE, along_y, down, down, 1, 0.05);
}

static void start_double_pendulum(scene *s, double speed) {
    scene_q(s, 1)[0] = 2;
    scene_v(s, 2)[0] = speed;
}

static void build_free_arm(scene *s) {
    int last = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, along_z, origin, kk_inertia_solid_box(10, 0.3, 0.4, 0.5));
    for (int i = 0; i < 6; i++) {
        last = motion_bar(s, last, KK_JOINT_HINGE, i % 2 ? along_y : along_z, kk_vec3_make(0.3, 0, 0),
                          kk_vec3_make(0.3, 0, 0), 2, 0.06);
    }
}

static const subject subjects[] = {
    {"top, 30 rad/s", build_top, start_top, 30, 9.81, 1e-3},
    {"top, 60 rad/s", build_top, start_top, 60, 9.81, 1e-3},
    {"top, 150 rad/s", build_top, start_top, 150, 9.81, 1e-3},
    {"arm of seven hinges", build_arm, start_random, 3, 9.81, 1e-3},
    {"chain of twelve ball joints", build_chain, start_chain, 1, 9.81, 1e-2},
    {"double pendulum", build_double_pendulum, start_double_pendulum, 0, 9.81, 1e-3},
    {"arm that floats", build_free_arm, start_random, 3, 0, 1e-3},
};

/// Largest |E − E₀| over the largest kinetic energy. What runs away does not make its own scale.
static double swing(exam *e, const subject *x, double dt, double time, int panel, long *uncertified) {
    scene s;
    motion_begin(&s, e, x->gravity);
    x->build(&s);
    scene_ready_dt(&s, dt);
    x->start(&s, x->speed);
    const double E0 = scene_energy(&s);
    double most = motion_kinetic(&s), off = 0;
    const long every = (long)(time / (300 * dt)) + 1;
    while (scene_time(&s) < time - 0.5 * dt && scene_step(&s)) {
        const double E = scene_energy(&s), kinetic = motion_kinetic(&s);
        off = exam_max(off, exam_abs(E - E0));
        most = off < 0.1 * exam_max(most, kinetic) ? exam_max(most, kinetic) : most;
        if (s.steps % every == 0) {
            exam_point(e, panel, x->name, scene_time(&s), exam_abs(E - E0) / most + 1e-16);
        }
    }
    motion_end(&s, uncertified);
    return off / most;
}

static void run_energy(exam *e) {
    const double time = 60;
    const int fine = exam_plot(e, "dt 1 ms", "time [s]", "|dE| / largest kinetic energy", true);
    const int coarse = exam_plot(e, "dt 10 ms", "time [s]", "|dE| / largest kinetic energy", true);
    long uncertified = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        const subject *x = &subjects[i];
        motion_at_most(e, x->name, "|dE| / Kmax, 1 ms", swing(e, x, 1e-3, time, fine, &uncertified), x->bar);
        // second order from there: bounded, whatever the speed
        motion_at_most(e, x->name, "|dE| / Kmax, 10 ms", swing(e, x, 1e-2, time, coarse, &uncertified), 0.1);
    }
    motion_note_steps(e, uncertified);
}

// ---- 32

typedef struct solid {
    const char *name;
    double size[3], turned; ///< rad; its axes are not those of its frame
} solid;

static const solid solids[] = {
    {"cube", {1, 1, 1}, 0},
    {"box 1 : 2 : 3", {1, 2, 3}, 0},
    {"slab 1 : 1.1 : 0.3", {1, 1.1, 0.3}, 0},
    {"plate 1 : 1 : 0.01", {1, 1, 0.01}, 0},
    {"rod 1 : 1000", {1000, 1, 1}, 0},
    {"rod 1 : 1000, turned in its frame", {1000, 1, 1}, 0.7},
    {"blade 1 : 30 : 1000", {1000, 30, 1}, 0},
    {"blade 1 : 30 : 1000, turned in its frame", {1000, 30, 1}, 0.7},
};

typedef struct deviation {
    double momentum, energy; ///< relative; of the energy's band
} deviation;

static kk_vec3 momentum_of(scene *s, kk_sym3 moment) {
    const double *q = scene_q(s, 1), *v = scene_v(s, 1);
    const kk_mat3 R = kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]});
    return kk_mat3_mul_vec(R, kk_sym3_mul_vec(moment, kk_vec3_make(v[0], v[1], v[2])));
}

static double spin_energy(scene *s, kk_sym3 moment) {
    const double *v = scene_v(s, 1);
    const kk_vec3 w = kk_vec3_make(v[0], v[1], v[2]);
    return 0.5 * kk_vec3_dot(w, kk_sym3_mul_vec(moment, w));
}

/// The band of the midpoint rule, θ²/24 and rounding; no branch of its roots but the first lies within a tenth of E.
static double band_of(double theta) {
    return 1e-11 + (theta > 1.5 ? 0.1 : theta * theta / 24);
}

/// @param axis  of the spin, in the body; @param wobble  speed across it, of the spin    @param theta  rad a step
static void spin_freely(scene *s, kk_sym3 moment, kk_vec3 w, double theta, int steps, deviation *worst) {
    double *v = scene_v(s, 1);
    scene_turn(s, 1, kk_vec3_make(0.3, -0.2, 0.5));
    for (int k = 0; k < 6; k++) {
        v[k] = k < 3 ? kk_vec3_get(w, k) * (theta / (1e-3 * kk_vec3_norm(w))) : 0;
    }
    const kk_vec3 L0 = momentum_of(s, moment);
    const double E0 = spin_energy(s, moment);
    for (int i = 0; i < steps && scene_step(s); i++) {
        const kk_vec3 off = kk_vec3_sub(momentum_of(s, moment), L0);
        worst->momentum = exam_max(worst->momentum, kk_vec3_norm(off) / kk_vec3_norm(L0));
        worst->energy = exam_max(worst->energy, exam_abs(spin_energy(s, moment) / E0 - 1) / band_of(theta));
    }
}

static deviation spin_solid(exam *e, const solid *x, int panel, long *uncertified) {
    static const double angle[] = {0.01, 0.1, 0.3, 1, 2, 3};
    const int steps = e->is_quick ? 100 : 1000;
    kk_inertia inertia = kk_inertia_solid_box(1, 1e-2 * x->size[0], 1e-2 * x->size[1], 1e-2 * x->size[2]);
    inertia.moment = kk_sym3_rotate(kk_mat3_from_rpy(x->turned, 2 * x->turned, -x->turned), inertia.moment);
    deviation all = {0, 0};
    scene s;
    motion_begin(&s, e, 0);
    scene_jointed(&s, KK_WORLD, KK_JOINT_FREE, along_z, origin, inertia);
    scene_ready_dt(&s, 1e-3);
    kk_random random = {32, 0, 0};
    for (int i = 0; i < 6; i++) {
        deviation worst = {0, 0};
        for (int k = 0; k < 9; k++) { // about each axis, with a little wobble, and anyhow
            double w[3];
            for (int j = 0; j < 3; j++) {
                const double aside = k < 3 ? 0 : k < 6 ? 1e-3 : 1;
                w[j] = k < 6 && j == k % 3 ? 1 : aside * kk_random_next_between(&random, -1, 1);
            }
            spin_freely(&s, inertia.moment, kk_vec3_make(w[0], w[1], w[2]), angle[i], steps, &worst);
        }
        exam_point(e, panel, x->name, angle[i], exam_max(worst.energy * band_of(angle[i]), 1e-16));
        all.momentum = exam_max(all.momentum, worst.momentum);
        all.energy = exam_max(all.energy, worst.energy);
    }
    motion_end(&s, uncertified);
    return all;
}

static void run_spins(exam *e) {
    const int panel = exam_plot(e, "free bodies", "turn in a step [rad]", "largest |E/E0 - 1|", true);
    long uncertified = 0;
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
        const deviation worst = spin_solid(e, &solids[i], panel, &uncertified);
        if (solids[i].turned ==
            0) { // else the numbers of its velocity tell no more than their digits times the ratio of its moments
            motion_at_most(e, solids[i].name, "angular momentum, relative", worst.momentum, 1e-12);
        }
        motion_at_most(e, solids[i].name, "energy over its band, turn^2/24, from 1.5 rad on 0.1", worst.energy, 1);
    }
    motion_note_steps(e, uncertified);
}

// ---- 34

typedef struct ledger {
    double gain, gains;  ///< of a step, in its scale; sum of a throw over its largest kinetic energy and work
    double books, taken; ///< what the audit's terms do not add up to; energy that losses gave, both in the step's scale
} ledger;

static void keep_books(scene *s, double before, double after, ledger *worst, double *sum, double *scale) {
    const kk_audit a = kk_simulator_report(s->simulator)->audit;
    const double terms = a.actuators + a.applied + a.moved + a.correction - a.dissipated + a.error;
    worst->gain = exam_max(worst->gain, a.error / a.scale);
    worst->books = exam_max(worst->books, exam_abs(after - before - terms) / a.scale);
    worst->taken = exam_max(worst->taken, -a.dissipated / a.scale);
    *sum += a.error; // what goes to and fro is no gain
    worst->gains = exam_max(worst->gains, *sum / exam_max(*scale, a.scale));
    *scale = exam_max(*scale, a.kinetic[1]);
}

static void throw_robot(exam *e, const char *name, int panel, ledger *worst, long *uncertified) {
    const int throws = 20, steps = 3000;
    kk_random random = {34, 0, 0};
    kk_error error = {0};
    scene s;
    motion_begin(&s, e, 9.81);
    if (!s.is_broken && robots_find(name)->build(s.spec, &error) != KK_OK) {
        scene_break(&s, error.text);
    }
    scene_ready_dt(&s, 1e-3);
    for (int i = 0; i < throws && !s.is_broken; i++) {
        double sum = 0, scale = 0;
        kk_model_start(s.model, kk_state_q(s.state));
        motion_fling(&s, &random, 10);
        double before = scene_energy(&s);
        for (int k = 0; k < steps && scene_step(&s); k++) {
            const double after = scene_energy(&s);
            keep_books(&s, before, after, worst, &sum, &scale);
            if (i == 0 && k % 10 == 0) {
                exam_point(e, panel, name, 1e-3 * k, after);
            }
            before = after;
        }
    }
    motion_end(&s, uncertified);
}

static void run_throws(exam *e) {
    static const char *const names[] = {"humanoid36", "humanoid38"};
    const int panel = exam_plot(e, "limp humanoids in the air", "time [s]", "energy [J]", false);
    long uncertified = 0;
    for (int i = 0; i < 2; i++) {
        ledger worst = {0, 0, 0, 0};
        throw_robot(e, names[i], panel, &worst, &uncertified);
        motion_at_most(e, names[i], "energy from nowhere in a step, of its scale", worst.gain, 1e-3);
        motion_at_most(e, names[i], "and in all of a throw, of Kmax and work", worst.gains, 1e-3);
        motion_at_most(e, names[i], "what the audit's terms do not add up to, of the scale", worst.books, 1e-9);
        motion_at_most(e, names[i], "energy that dampers, friction and limits gave, of the scale", worst.taken,
                       1e-8); // certified rows are off by 1e-9 m/s
    }
    motion_note_steps(e, uncertified);
}

const exam_row exam_rows_energy[] = {
    {32, "free bodies from a cube to a rod of 1 : 1000, up to 3 rad a step, with and without wobble", "E, L", "1.003",
     true, run_spins},
    {33, "tops, arm, chain, double pendulum, floating arm, 60 s", "E constant", "RK4 1e-4 ... 7e-3", true, run_energy},
    {34, "limp humanoids thrown through the air into their limits", "E never grows without work", "", true, run_throws},
    {0, NULL, NULL, NULL, false, NULL},
};
