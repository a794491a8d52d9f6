// Rows 35, 36: stiffness that was typed is stiffness that is there, and takes nothing.
#include "motion.h"
#include "rows.h"

static const double PI = 3.14159265358979323846, MASS = 2;
static const kk_vec3 along_z = {0, 0, 1};

// ---- 35

typedef enum holder { JOINT_SPRING, SERVO, TENDON_SPRING, SOFT_GROUND, HOLDERS } holder;
static const char *const holders[] = {"joint spring", "servo with kp", "tendon spring", "soft ground"};

/// A mass that swings up and down: on a slide, but for soft ground, where it lies.
static int hang(scene *s, holder what, double stiffness) {
    if (what == SOFT_GROUND) {
        scene_floor(s, scene_soft_material(s, 0, stiffness));
        return scene_ball(s, MASS, 0.1, 0);
    }
    kk_body_def def = kk_body_def_default();
    def.name = "mass";
    def.joint.name = "way";
    def.joint.type = KK_JOINT_SLIDE;
    def.joint.axis = along_z;
    def.inertia = kk_inertia_solid_sphere(MASS, 0.1);
    def.joint.dof[0].stiffness = what == JOINT_SPRING ? stiffness : 0;
    const int body = scene_body(s, &def);
    if (what == SERVO) {
        kk_actuator_def servo = kk_actuator_def_default();
        servo.type = KK_ACTUATOR_POSITION;
        servo.target = "way";
        servo.gain = stiffness;
        servo.bias[1] = -stiffness;
        scene_actuator(s, &servo);
    } else if (what == TENDON_SPRING) {
        const kk_tendon_item item = {.name = "way", .coefficient = 1};
        kk_tendon_def tendon = kk_tendon_def_default();
        tendon.name = "tendon";
        tendon.item = &item;
        tendon.item_count = 1;
        tendon.stiffness = stiffness;
        scene_tendon(s, &tendon);
    }
    return body;
}

/// x₀ x₂ − x₁² of three places in a row about the middle of the swing. A linear rule multiplies it by the square of its damping in every step, so that
/// tells the amplitude without asking for the phase.
static double swing_of(const double x[3]) {
    return x[1] * x[1] - x[0] * x[2];
}

typedef struct decay {
    double step; ///< what a step multiplies the amplitude by
    double kept; ///< of the amplitude, after the steps
} decay;

static decay swing(exam *e, holder what, double turn, double dt, long steps, int panel, long *uncertified) {
    const double omega = turn / dt, stiffness = MASS * omega * omega, g = what == SOFT_GROUND ? 9.81 : 0;
    const double middle = what == SOFT_GROUND ? 0.1 - MASS * g / stiffness : 0, size = 0.5 * 9.81 / (omega * omega);
    scene s;
    motion_begin(&s, e, g);
    const int body = hang(&s, what, stiffness);
    scene_ready_dt(&s, dt);
    double *place = scene_q(&s, body) + (what == SOFT_GROUND ? 6 : 0);
    *place = middle + size;
    double x[3] = {0, 0, 0}, first = 0, last = 0;
    for (long i = 0; i <= steps && scene_step(&s); i++) {
        x[0] = x[1];
        x[1] = x[2];
        x[2] = (*place - middle) / size;
        first = i == 2 ? swing_of(x) : first;
        last = i >= 2 ? swing_of(x) : last;
        if (panel >= 0 && i % (steps / 400 + 1) == 0) {
            exam_point(e, panel, holders[what], scene_time(&s), x[2]);
        }
    }
    const bool is_whole = !s.is_broken && s.uncertified == 0;
    motion_end(&s, uncertified);
    const double ratio = first != 0 ? exam_max(0, last / first) : 0;
    const double kept = is_whole ? kk_sqrt(ratio) : 0;
    return (decay){kept > 0 ? kk_exp(kk_log(kept) / (double)(steps - 2)) : 0, kept};
}

/// Damping against ωh, of all four: one law, no jump, never more than 1.
static void sweep_stiffness(exam *e, int panel, long *uncertified) {
    const int count = e->is_quick ? 40 : 400;
    double apart = 0, jump = 0, most = 0, before = 0;
    for (int i = 0; i < count; i++) {
        const double turn =
            0.02 * kk_exp(kk_log(10 / 0.02) * i / (count - 1)); // where a spring of 10/h² is rigid to everybody
        double one = 0;
        for (int what = 0; what < HOLDERS; what++) {
            const decay d =
                swing(e, (holder)what, turn, 1e-3, 3, -1, uncertified); // what is damped fast is soon below rounding
            one = what == 0 ? d.step : one;
            apart = exam_max(apart, exam_abs(d.step - one));
            most = exam_max(most, d.step);
            exam_point(e, panel, holders[what], turn, 1 - d.step + 1e-12);
        }
        jump = i > 0 ? exam_max(jump, exam_abs(one - before)) : 0;
        before = one;
    }
    exam_at_most(e, "factor of a step's amplitude, w h .02 to 10: apart among the four", apart, 1e-6);
    exam_at_most(e, "its largest", most, 1 + 1e-9);
    exam_at_most(e, "its largest change from a w h to the next (continuous: of the order of their distance)", jump,
                 4 * kk_log(10 / 0.02) / count);
}

/// Stable for every stiffness: a mass let go 1 mm from where it belongs is never farther than that.
static double farthest(exam *e, holder what, double stiffness, long *uncertified) {
    scene s;
    motion_begin(&s, e, 0);
    const int body = hang(&s, what, stiffness);
    scene_ready_dt(&s, 1e-3);
    double *place = scene_q(&s, body), far = 0;
    *place = 1e-3;
    for (int i = 0; i < 200 && scene_step(&s); i++) {
        far = exam_max(far, exam_abs(*place));
    }
    motion_end(&s, uncertified);
    return far / 1e-3;
}

static void run_springs(exam *e) {
    static const double cases[][2] = {{6 * 3.14159265358979323846 * 1e-3, 1e-3}, // 3 Hz at 1 ms
                                      {6 * 3.14159265358979323846 * 1e-2, 1e-2}, // and at 10
                                      {0.1, 1e-3},
                                      {0.3, 1e-3}};
    static const char *const names[] = {"3 Hz, 1 ms", "3 Hz, 10 ms", "w h .1", "w h .3"};
    const int curve = exam_plot(e, "3 Hz at 10 ms", "time [s]", "place / amplitude", false);
    const int law = exam_plot(e, "damping of a step", "w h", "1 - factor of the amplitude", true);
    long uncertified = 0;
    for (int i = 0; i < 4; i++) {
        for (int what = 0; what < HOLDERS; what++) {
            const long steps = (long)(20 * 2 * PI / cases[i][0] + 0.5);
            char name[EXAM_TEXT];
            snprintf(name, sizeof name, "%s, %s: amplitude after 20 periods", holders[what], names[i]);
            const double kept =
                swing(e, (holder)what, cases[i][0], cases[i][1], steps, i == 1 ? curve : -1, &uncertified).kept;
            exam_at_least(e, name, kept, 0.999);
        }
    }
    sweep_stiffness(e, law, &uncertified);
    for (int what = 0; what < SOFT_GROUND; what++) {
        double far = 0;
        for (double stiffness = 1e2; stiffness < 1e13; stiffness *= 10) {
            far = exam_max(far, farthest(e, (holder)what, stiffness, &uncertified));
        }
        motion_at_most(e, holders[what], "farthest place of 1e2 ... 1e12 N/m, of the first", far, 1 + 1e-6);
    }
    motion_note_steps(e, uncertified);
}

// ---- 36

/// Energy that a ball has behind its first rebound, of that before it; NaN: it never comes off.
static double rebound(exam *e, double stiffness, double dt, int panel, const char *name, long *uncertified) {
    scene s;
    motion_begin(&s, e, 9.81);
    scene_floor(&s, scene_soft_material(&s, 0, stiffness));
    const int ball = scene_ball(&s, MASS, 0.1, 0);
    scene_ready_dt(&s, dt);
    scene_place(&s, ball, 0, 0, 0.6);
    double kept = 0;
    bool touched = false;
    while (scene_time(&s) < 1.5 && kept == 0 && scene_step(&s)) {
        const double z = scene_q(&s, ball)[6], u = scene_velocity(&s, ball).z;
        touched = touched || z < 0.1;
        if (touched && z > 0.1 && u > 0) {
            kept = (z - 0.1 + 0.5 * u * u / 9.81) / 0.5;
        }
        exam_point(e, panel, name, scene_time(&s), z);
    }
    motion_end(&s, uncertified);
    return kept;
}

static void run_soft_ball(exam *e) {
    static const double stiffness[] = {500, 2e4, 1e6}, dt[] = {5e-4, 2e-3, 1e-2};
    const int panel = exam_plot(e, "a ball of 2 kg from 0.5 m", "time [s]", "height of its center [m]", false);
    long uncertified = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            const double steps = PI * kk_sqrt(MASS / stiffness[i]) / dt[k];
            char name[EXAM_TEXT];
            snprintf(name, sizeof name, "%g N/m, %g ms", stiffness[i], 1e3 * dt[k]);
            const double kept = rebound(e, stiffness[i], dt[k], panel, name, &uncertified);
            if (steps >= 10) {
                snprintf(name, sizeof name, "%g N/m, %g ms: height of the rebound", stiffness[i], 1e3 * dt[k]);
                exam_at_least(e, name, kept, 0.99);
            }
            motion_at_most(e, name, steps >= 10 ? "and no more" : "height of the rebound, no more", kept, 1 + 1e-2);
        }
    }
    motion_note_steps(e, uncertified);
}

const exam_row exam_rows_springs[] = {
    {35, "joint spring, servo with kp, tendon spring, soft ground: 20 periods", "amplitude 1, one law for all four",
     "1.000 ... 1.005", true, run_springs},
    {36, "ball of 2 kg dropped 0.5 m on ground of 500, 2e4, 1e6 N/m at 0.5, 2, 10 ms", "rebound 1", "1.00", true,
     run_soft_ball},
    {0, NULL, NULL, NULL, false, NULL},
};
