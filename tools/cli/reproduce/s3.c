// S3, Springhead: implicit servos, feed-forward by rewinding, a closed mechanism with large internal forces.
#include <math.h>

#include "reproduce.h"

// ---- Fig. 6: a pendulum on a servo, explicit and implicit

enum { GAINS = 3 };
static const double gains[GAINS][2] = {{2, 1}, {20, 10}, {200, 100}};

static void add_servo(study *s, scene *t, double stiffness, double damping) {
    kk_error error = {0};
    kk_actuator_def servo = kk_actuator_def_default();
    servo.type = KK_ACTUATOR_POSITION;
    servo.target = "body1_joint";
    servo.gain = stiffness;
    servo.bias[1] = -stiffness;
    servo.bias[2] = -damping;
    if (!t->is_broken) {
        study_ok(s, kk_spec_add_actuator(t->spec, &servo, NULL, &error), &error);
    }
}

/// 1 kg on a massless rod of 0.5 m, a servo towards the lowest point at its hinge, released at 90°.
static void begin_pendulum(study *s, scene *t, const double gain[2], double dt, bool is_explicit) {
    const kk_inertia point = {.mass = 1, .com = kk_vec3_make(0, 0, -0.5)};
    const kk_step_options options = {.timestep = dt, .explicit_servos = is_explicit};
    scene_begin(t, &s->exam, 9.81);
    scene_jointed(t, KK_WORLD, KK_JOINT_HINGE, kk_vec3_make(0, 1, 0), kk_vec3_make(0, 0, 0), point);
    add_servo(s, t, gain[0], gain[1]);
    scene_ready(t, &options);
    scene_q(t, 1)[0] = KK_HALF_PI;
}

/// Draws the angle over 10 s (within ±4 rad: what diverges leaves the picture) and gives the largest of the last second.
static double swing(study *s, int panel, const char *name, const double gain[2], double dt, bool is_explicit) {
    scene t;
    double last = 0;
    begin_pendulum(s, &t, gain, dt, is_explicit);
    exam_point(&s->exam, panel, name, 0, KK_HALF_PI);
    for (int i = 1; i * dt <= 10 + 0.5 * dt; i++) {
        if (!(fabs(scene_q(&t, 1)[0]) < 1e6) || !scene_step(&t)) {
            last = INFINITY;
            break;
        }
        const double angle = scene_q(&t, 1)[0];
        if (fabs(angle) < 4 && i % (int)(0.1 / dt + 0.5) == 0) {
            exam_point(&s->exam, panel, name, i * dt, angle);
        }
        last = i * dt > 9 ? exam_max(last, fabs(angle)) : last;
    }
    scene_end(&t);
    return last;
}

static void run_servo(study *s) {
    double implicit_last = 0, explicit_last[GAINS];
    for (int g = 0; g < GAINS; g++) {
        char title[80];
        snprintf(title, sizeof title, "K = %g N m/rad, D = %g N m s/rad, h = 0.1 s", gains[g][0], gains[g][1]);
        const int panel = exam_plot(&s->exam, title, "time / s", "angle / rad", false);
        const double ours = swing(s, panel, "implicit", gains[g], 0.1, false);
        implicit_last = exam_max(implicit_last, ours);
        explicit_last[g] = swing(s, panel, "explicit", gains[g], 0.1, true);
        swing(s, panel, "reference, h = 0.1 ms", gains[g], 1e-4, false);
    }
    study_at_most(s, "implicit servo: largest angle in the 10th second, worst of three gains", "settles in all three",
                  implicit_last, "rad", 0.01);
    study_at_most(s, "explicit servo, first gain: largest angle in the 10th second", "settles", explicit_last[0], "rad",
                  0.05);
    study_fact(s, "explicit servo, second gain", "keeps oscillating",
               explicit_last[1] > 0.1 ? "does not settle" : "settles", "does not settle", explicit_last[1] > 0.1);
    study_fact(s, "explicit servo, third gain", "diverges (not drawn)",
               explicit_last[2] > 1e3 ? "diverges" : "stays bounded", "diverges", explicit_last[2] > 1e3);
    study_note(s, "The mass sits on a rod without mass, so m l² = 0.25 kg m² and an explicit damper of the second gain "
                  "multiplies the velocity "
                  "by 1 − D h/(m l²) = −3 in a step: it cannot but diverge. The steady oscillation of the paper's "
                  "figure belongs to a bob with "
                  "an inertia of its own of about the same size.");
}

const study_def studies_s3[] = {
    {.seed = "s3",
     .name = "s3_servo",
     .title = "S3 Fig. 6: a stiff servo at a coarse step",
     .paper = "Pendulum of 0.5 m and 1 kg at h = 0.1 s from 90°: with (K, D) = (2, 1) both kinds of servo settle, with "
              "(20, 10) the explicit "
              "one oscillates, with (200, 100) only the implicit one can be drawn. Implicit servos are stable, not "
              "more precise.",
     .is_quick = true,
     .run = run_servo},
    {.name = NULL},
};
