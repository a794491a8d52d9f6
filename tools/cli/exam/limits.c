// Row 39: stops of joints and tendons, hit fast.
#include "motion.h"
#include "rows.h"

static const kk_vec3 origin = {0, 0, 0}, along_x = {1, 0, 0}, along_y = {0, 1, 0}, along_z = {0, 0, 1};
static const double STOP = 1, ROPE_LENGTH = 10;

typedef enum stopped { HINGE, SLIDE, FIXED_TENDON, ROPE, KINDS } stopped;
static const char *const kinds[] = {"hinge", "slide", "tendon over a slide", "rope to a free ball"};

static void add_tendon(scene *s, double restitution) {
    const kk_tendon_item item = {.name = "way", .coefficient = 1};
    kk_tendon_def tendon = kk_tendon_def_default();
    tendon.name = "tendon";
    tendon.item = &item;
    tendon.item_count = 1;
    tendon.upper = STOP;
    tendon.restitution = restitution;
    scene_tendon(s, &tendon);
}

static void add_rope(scene *s, int ball, double restitution) {
    static const kk_tendon_item ends[] = {{.name = "peg"}, {.name = "eye"}};
    kk_frame_def frame = kk_frame_def_default();
    kk_tendon_def tendon = kk_tendon_def_default();
    kk_error error = {0};
    tendon.name = "rope";
    tendon.type = KK_TENDON_SPATIAL;
    tendon.item = ends;
    tendon.item_count = 2;
    tendon.upper = ROPE_LENGTH;
    tendon.restitution = restitution;
    frame.name = "peg";
    frame.body = KK_WORLD;
    if (s->is_broken || kk_spec_add_frame(s->spec, &frame, NULL, &error) != KK_OK) {
        scene_break(s, error.text);
        return;
    }
    frame.name = "eye";
    frame.body = ball;
    if (kk_spec_add_frame(s->spec, &frame, NULL, &error) != KK_OK) {
        scene_break(s, error.text);
    }
    scene_tendon(s, &tendon);
}

static int build(scene *s, stopped what, double restitution) {
    if (what == ROPE) {
        const int ball = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, along_z, origin, kk_inertia_solid_sphere(1, 0.05));
        add_rope(s, ball, restitution);
        return ball;
    }
    kk_body_def def = kk_body_def_default();
    def.name = "link";
    def.joint.name = "way";
    def.joint.type = what == HINGE ? KK_JOINT_HINGE : KK_JOINT_SLIDE;
    def.joint.axis = what == HINGE ? along_y : along_x;
    def.inertia = kk_inertia_solid_box(1, 0.1, 0.1, 0.5);
    def.joint.dof[0].upper = what == FIXED_TENDON ? def.joint.dof[0].upper : STOP;
    def.joint.dof[0].restitution = restitution;
    const int body = scene_body(s, &def);
    if (what == FIXED_TENDON) {
        add_tendon(s, restitution);
    }
    return body;
}

typedef struct miss {
    double beyond, place, speed; ///< m or rad; of the closed form; what is left of the speed, of it
} miss;

/// Runs into the stop at `speed` from a place that no step divides; behind the stop it has `restitution` of its speed.
static void run_into(exam *e, stopped what, double restitution, double speed, double dt, int panel, miss *worst,
                     long *uncertified) {
    scene s;
    motion_begin(&s, e, 0);
    const int body = build(&s, what, restitution);
    scene_ready_dt(&s, dt);
    double *q = scene_q(&s, body) + (what == ROPE ? 4 : 0), *v = scene_v(&s, body) + (what == ROPE ? 3 : 0);
    const double stop = what == ROPE ? ROPE_LENGTH : STOP, start = stop - 2.37 * speed * dt;
    *q = start;
    *v = speed;
    for (int i = 0; i < 6 && scene_step(&s); i++) {
        const double free = start + speed * scene_time(&s),
                     exact = free < stop ? free : stop - restitution * (free - stop);
        worst->beyond = exam_max(worst->beyond, *q - stop);
        worst->place = exam_max(worst->place, exam_abs(*q - exact));
        worst->speed = i > 2 ? exam_max(worst->speed, exam_abs(*v + restitution * speed) / speed) : worst->speed;
        if (panel >= 0) {
            exam_point(e, panel, kinds[what], scene_time(&s), *q);
        }
    }
    motion_end(&s, uncertified);
}

/// An arm of two links whose elbow runs into its stop while all of it turns.
static double bend_arm(exam *e, double speed, double dt, long *uncertified) {
    scene s;
    motion_begin(&s, e, 9.81);
    const kk_vec3 along = {0, 0, -0.4};
    motion_bar(&s, KK_WORLD, KK_JOINT_HINGE, along_y, origin, along, 2, 0.05);
    const int elbow = motion_bar(&s, 1, KK_JOINT_HINGE, along_y, along, along, 1, 0.05);
    if (!s.is_broken) {
        kk_spec_body(s.spec, elbow)->joint.dof[0].upper = STOP;
        kk_spec_body(s.spec, elbow)->joint.dof[0].lower = -STOP;
    }
    scene_ready_dt(&s, dt);
    scene_v(&s, 1)[0] = 0.3 * speed;
    scene_v(&s, elbow)[0] = speed;
    double beyond = 0;
    const int steps = e->is_quick ? 300 : 3000;
    for (int i = 0; i < steps && scene_step(&s); i++) {
        beyond = exam_max(beyond, exam_abs(scene_q(&s, elbow)[0]) - STOP);
    }
    motion_end(&s, uncertified);
    return beyond;
}

static void run_limits(exam *e) {
    static const double speeds[] = {1, 3, 10, 30, 100, 300}, restitution[] = {0, 0.3, 0.8, 1}, dt[] = {1e-3, 1e-2};
    const int panel =
        exam_plot(e, "into a stop at 1 with 100 rad/s or m/s, 10 ms", "time [s]", "place [rad, m]", false);
    long uncertified = 0;
    for (int what = 0; what < KINDS; what++) {
        miss worst = {0, 0, 0};
        for (int i = 0; i < 24; i++) {
            for (int k = 0; k < 2; k++) {
                const int drawn = i == 4 && k == 1 ? panel : -1;
                run_into(e, (stopped)what, restitution[i / 6], speeds[i % 6], dt[k], drawn, &worst, &uncertified);
            }
        }
        motion_at_most(e, kinds[what], "overshoot, rad or m", worst.beyond, 1e-6);
        motion_at_most(e, kinds[what], "off the closed form (impact inside the step), rad or m", worst.place, 1e-6);
        motion_at_most(e, kinds[what], "u+ + e u-, e 0 to 1, of the speed before", worst.speed, 1e-9);
    }
    double beyond = 0;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 2; k++) {
            beyond = exam_max(beyond, bend_arm(e, speeds[i], dt[k], &uncertified));
        }
    }
    exam_at_most(e, "elbow of an arm that turns: overshoot, rad", beyond, 1e-6);
    motion_note_steps(e, uncertified);
}

const exam_row exam_rows_limits[] = {
    {39, "stops of hinges, slides, tendons at 1 ... 300 rad/s, 1 and 10 ms", "stops there and then", "soft", true,
     run_limits},
    {0, NULL, NULL, NULL, false, NULL},
};
