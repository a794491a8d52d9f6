// S4 5: torque and power of TITAN-VIII while it crawls by servo (3) alone, on feet that creep; with a trunk that bends; and which posture wastes least.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "s4_titan.h"

enum { MOTORS_OF_LEG = 3, POSTURES = 4 };
static const double STANCE = 2.4; ///< s from which the paper looks at the stance

/// One crawl of two periods, of which the second is looked at; the left fore leg's motors.
typedef struct crawl_figures {
    double power[MOTORS_OF_LEG], both; ///< mean |power| in 2.4-4.8 s, W, and |P2 + P3|
    double sum;                        ///< mean of P2 + P3 with its sign
    double negative[MOTORS_OF_LEG];    ///< mean of what flows back, over the period, W
    double torque[MOTORS_OF_LEG];      ///< largest |torque| of a servo in the period, N m
    double forward;                    ///< way of the body in the period, m
    double early, late;                ///< largest change of the thigh's torque in 0.4 s behind 1.2 and 3.6 s, N m
    double lowest, residual;
    int samples;
} crawl_figures;

/// How a crawl is done.
typedef struct crawl_def {
    char posture;
    double factor; ///< of k_d
    const char *file;
    const int *panel; ///< torque and power; NULL: not drawn
} crawl_def;

// ---- walking

static void add_powers(crawl_figures *x, const double *torque, const double *speed, double phase) {
    for (int k = 0; k < MOTORS_OF_LEG; k++) {
        const double power = torque[k] * speed[k];
        x->negative[k] += power < 0 ? -power : 0;
        x->power[k] += phase >= STANCE ? fabs(power) : 0;
    }
    x->both += phase >= STANCE ? fabs(torque[1] * speed[1] + torque[2] * speed[2]) : 0;
    x->sum += phase >= STANCE ? torque[1] * speed[1] + torque[2] * speed[2] : 0;
    x->samples += phase >= STANCE;
}

/// The thigh's torque in the 0.4 s behind a landing, against what it is right before it.
static void note_landing(crawl_figures *x, double torque, double phase, double before[2]) {
    before[0] = phase < 1.2 + 0.05 ? torque : before[0];
    before[1] = phase < 3.6 + 0.05 ? torque : before[1];
    if (phase > 1.25 && phase < 1.65) {
        x->early = exam_max(x->early, fabs(torque - before[0]));
    } else if (phase > 3.65 && phase < 4.05) {
        x->late = exam_max(x->late, fabs(torque - before[1]));
    }
}

static void watch_crawl(titan *t, const crawl_def *def, int step, double phase, double before[2], crawl_figures *x) {
    const double *given = kk_simulator_force(t->r.simulator, KK_FORCE_ACTUATOR);
    double torque[MOTORS_OF_LEG], speed[MOTORS_OF_LEG];
    titan_parallel(t, 0, kk_state_q(t->r.state), kk_state_v(t->r.state), given, torque, speed);
    add_powers(x, torque, speed, phase);
    note_landing(x, torque[1], phase, before);
    for (int k = 0; k < MOTORS_OF_LEG; k++) {
        x->torque[k] = exam_max(x->torque[k], fabs(given[t->dof[0][k]]));
        if (def->panel && step % 10 == 0) {
            char name[16];
            snprintf(name, sizeof name, "J%d", k + 1);
            exam_point(&t->r.s->exam, def->panel[0], name, phase, torque[k]);
            exam_point(&t->r.s->exam, def->panel[1], name, phase, torque[k] * speed[k]);
        }
    }
}

static void walk_crawl(titan *t, const crawl_def *def, const kk_crawl *c, const kk_sequence *gait, crawl_figures *x) {
    const int steps = (int)(2 * c->period * 1000 + 0.5), base = kk_model_joint(t->r.m.model, 1).q_index;
    const double *q = kk_state_q(t->r.state);
    double *target = cli_allocate((size_t)kk_model_nq(t->r.m.model), sizeof *target), start = 0, before[2] = {0};
    titan_stand_at_start(t, gait);
    for (int i = 0; i < steps && t->r.is_good; i++) {
        const double time = i * 1e-3;
        kk_sequence_state(gait, time, target, NULL, NULL);
        titan_servo(t, target, def->factor);
        runner_step(&t->r);
        start = i == steps / 2 ? q[base + 4] : start;
        x->lowest = q[base + 6] < x->lowest ? q[base + 6] : x->lowest;
        if (time >= c->period && t->r.is_good) {
            watch_crawl(t, def, i, time - c->period, before, x);
        }
    }
    x->forward = q[base + 4] - start;
    free(target);
}

static crawl_figures crawl(study *s, const crawl_def *def) {
    titan t;
    crawl_figures x = {.lowest = INFINITY};
    const kk_crawl c = kk_crawl_titan8(def->posture);
    const titan_def robot = {.file = def->file, .creeps = true};
    kk_sequence *gait = titan_begin(&t, s, &robot) ? titan_gait(&t, &c) : NULL;
    if (gait) {
        walk_crawl(&t, def, &c, gait, &x);
    }
    for (int k = 0; k < MOTORS_OF_LEG; k++) {
        x.power[k] /= x.samples;
        x.negative[k] /= c.period * 1000;
    }
    x.both /= x.samples;
    x.sum /= x.samples;
    x.residual = t.r.residual;
    kk_sequence_free(gait);
    runner_end(&t.r);
    return x;
}

/// Seconds of the processor to compute 10 s of crawling with steps of 1 ms, targets and servos included; the least of several.
static double time_crawl(study *s) {
    const kk_step_options options = {.timestep = 1e-3};
    const titan_def robot = {.file = "titan8/titan8.xml", .creeps = true, .options = &options};
    const kk_crawl c = kk_crawl_titan8('A');
    double least = INFINITY;
    titan t;
    kk_sequence *gait = titan_begin(&t, s, &robot) ? titan_gait(&t, &c) : NULL;
    double *target = gait ? cli_allocate((size_t)kk_model_nq(t.r.m.model), sizeof *target) : NULL;
    for (int round = 0; round < (s->quick ? 1 : 5) && gait && t.r.is_good; round++) {
        titan_stand_at_start(&t, gait);
        memset(kk_state_v(t.r.state), 0, (size_t)kk_model_nv(t.r.m.model) * sizeof(double));
        const clock_t start = clock();
        for (int i = 0; i < 10000 && t.r.is_good; i++) {
            kk_sequence_state(gait, i * 1e-3, target, NULL, NULL);
            titan_servo(&t, target, 1);
            runner_step(&t.r);
        }
        const double taken = (double)(clock() - start) / CLOCKS_PER_SEC;
        least = taken < least && t.r.is_good ? taken : least;
    }
    free(target);
    kk_sequence_free(gait);
    runner_end(&t.r);
    return least;
}

// ---- what is asked

/// Mean |P2|, |P3|, |P2 + P3| of ODE 0.16.2 with the paper's contacts, W: make crosscheck ARGS="titan crawl".
static const double by_ode[POSTURES][3] = {
    {0.0259, 0.0376, 0.0434}, {0.3770, 0.3990, 0.0277}, {0.3014, 0.3354, 0.0886}, {0.5092, 0.5762, 0.0699}};

static void row(study *s, const char *name, const crawl_figures *x) {
    study_row(s, "%s|%.3f|%.3f|%.3f|%.3f|%.3f|%.0f|%.0f|%.0f|%.2f|%.3f", name, x->power[0], x->power[1], x->power[2],
              x->sum, x->both, 100 * x->torque[0] / titan_limit[0], 100 * x->torque[1] / titan_limit[1],
              100 * x->torque[2] / titan_limit[2], x->negative[0] + x->negative[1] + x->negative[2], x->forward);
}

static void check_postures(study *s, const crawl_figures x[POSTURES]) {
    static const char *const motor[2] = {"thigh", "knee"};
    for (int k = 0; k < 2; k++) {
        char name[120];
        snprintf(name, sizeof name, "A, 2.4-4.8 s: mean |power| of the %s, as a share of B's", motor[k]);
        study_at_most(s, name, "almost zero", 100 * x[0].power[1 + k] / x[1].power[1 + k], "%", 10);
    }
    study_at_most(s, "B, 2.4-4.8 s: mean |P2 + P3| as a share of mean |P2|",
                  "the knee's negative power eats the thigh's", 100 * x[1].both / x[1].power[1], "%", 15);
    for (int p = 0; p < POSTURES; p++) {
        const double *ode = by_ode[p];
        char name[120];
        snprintf(name, sizeof name, "%c: mean |P2| and |P3| against ODE's run of the same crawl", 'A' + p);
        study_at_most(s, name, "", exam_max(fabs(x[p].power[1] - ode[0]), fabs(x[p].power[2] - ode[1])), "W", 0.05);
        snprintf(name, sizeof name, "%c: and mean |P2 + P3|", 'A' + p);
        study_at_most(s, name, "", fabs(x[p].both - ode[2]), "W", 0.02);
    }
}

static void run_crawl(study *s) {
    crawl_figures x[POSTURES];
    double walked = INFINITY, residual = 0;
    study_tabulate(s, "Left fore leg, second period. Powers: mean |P| in 2.4-4.8 s of the wire-parallel leg's motors; "
                      "torques: largest of a servo, as a share of its limit");
    study_row(s, "posture|P1 [W]|P2 [W]|P3 [W]|P2 + P3 signed [W]|P2 + P3 [W]|J1 [%%]|J2 [%%]|J3 [%%]|negative power "
                 "[W]|way [m]");
    for (int p = 0; p < POSTURES; p++) {
        char title[80], name[4] = {(char)('A' + p)};
        int panels[2];
        snprintf(title, sizeof title, "posture %c: torque of the left fore leg", 'A' + p);
        panels[0] = exam_plot(&s->exam, title, "time / s", "torque / N m", false);
        snprintf(title, sizeof title, "posture %c: power", 'A' + p);
        panels[1] = exam_plot(&s->exam, title, "time / s", "power / W", false);
        x[p] = crawl(s, &(crawl_def){(char)('A' + p), 1, "titan8/titan8.xml", panels});
        row(s, name, &x[p]);
        walked = x[p].forward < walked ? x[p].forward : walked;
        residual = exam_max(residual, x[p].residual);
    }
    const crawl_figures doubled = crawl(s, &(crawl_def){'B', 2, "titan8/titan8.xml", NULL});
    row(s, "B, k_d doubled", &doubled);
    check_postures(s, x);
    study_at_least(s, "way in a period of 4.8 s, slowest posture", "0.05 m/s: 0.24 m", walked, "m", 0.2);
    study_at_most(s, "worst residual of a step", "", residual, "m/s", 1e-9);
    study_at_most(s, "computing 10 s of walking, steps of 1 ms", "60 s (Core 2 Quad, 3 GHz, steps of 1 ms)",
                  time_crawl(s), "s", 1);
    study_note(
        s, "Servo (3) alone: target velocity −k_d (θ − θ_d), no torque known beforehand. Power and torque are those of "
           "the wire-parallel leg, by θ'p = Jp⁻¹ Js θ's and τp = Jpᵀ (Jsᵀ)⁻¹ τs (kk_map_velocity, kk_map_torque).");
    study_note(
        s,
        "Footnote 5: doubling k_d changes hardly anything: B with 2 k_d has %.2f W in the thigh instead of %.2f W. "
        "The limits follow from half the motor's stall torque, 0.1864 N m/2, and gears of 50 %% efficiency: "
        "reductions of %.0f, %.0f and %.0f for 32.3, 40.2 and 25.7 N m.",
        doubled.power[1], x[1].power[1], 32.3 / (0.0932 * 0.5), 40.2 / (0.0932 * 0.5), 25.7 / (0.0932 * 0.5));
    study_note(s,
               "Why equal and opposite: the leg gives the power −F·v to the floor, F being the floor's force and v = "
               "(−0.05, 0, 0) m/s the foot's velocity against the body. An upright F gives none, and has no moment "
               "about the upright hip, so P1 = 0 and P2 + P3 = 0; 1 N of side force makes 0.05 W. Each joint is behind "
               "its target by 1/k_d, and a foot whose joints are all behind leaves its straight line by about a "
               "millimeter a second, which the creep makes a newton of. In C and D that is %.0f %% and %.0f %% of the "
               "thigh's power, in ODE %.0f %% and %.0f %%; with 2 k_d it goes.",
               100 * x[2].both / x[2].power[1], 100 * x[3].both / x[3].power[1], 100 * by_ode[2][2] / by_ode[2][0],
               100 * by_ode[3][2] / by_ode[3][0]);
}

// ---- the trunk

static void run_trunk(study *s) {
    crawl_figures x[2];
    static const char *const file[2] = {"titan8/titan8.xml", "titan8/titan8_bush.xml"}, *const name[2] = {
                                                                                            "rigid trunk",
                                                                                            "trunk that twists"};
    const int panel = exam_plot(&s->exam, "posture A, rigid trunk: torque", "time / s", "torque / N m", false);
    const int bush = exam_plot(&s->exam, "trunk that twists: torque", "time / s", "torque / N m", false);
    const int powers[2] = {exam_plot(&s->exam, "rigid trunk: power", "time / s", "power / W", false),
                           exam_plot(&s->exam, "trunk that twists: power", "time / s", "power / W", false)};
    study_tabulate(s,
                   "Thigh of the left fore leg, posture A: largest change of its torque in the 0.4 s behind a landing");
    study_row(s, "trunk|behind 1.2 s [N m]|behind 3.6 s [N m]|way [m]");
    for (int i = 0; i < 2; i++) {
        const int panels[2] = {i ? bush : panel, powers[i]};
        x[i] = crawl(s, &(crawl_def){'A', 1, file[i], panels});
        study_row(s, "%s|%.2f|%.2f|%.3f", name[i], x[i].early, x[i].late, x[i].forward);
    }
    study_at_least(s, "peak of the thigh's torque at 1.4 s, twisting over rigid trunk",
                   "large on the robot, none in ODE", x[1].early / x[0].early, "", 1.2);
    study_at_least(s, "and at 3.8 s", "large on the robot, none in ODE", x[1].late / x[0].late, "", 1.2);
    study_note(
        s, "The trunk's halves are joined by one rubber bush (titan8_bush.xml): without the leg in the air its half "
           "sinks on that side, and the foot lands early and hard, as the paper supposes of the robot.");
}

// ---- gravitationally decoupled actuation

enum { SIDES = 13, CLOSER = 12 };

/// Mean power, W, that flows back into the left fore leg's motors while it bears, by the plan's upright forces.
static double power_back(titan *t, const kk_crawl *c) {
    const kk_model *m = t->r.m.model;
    const double upright[2] = {0, 0};
    kk_sequence *gait = titan_gait(t, c), *load = gait ? titan_load(t, c, gait, upright) : NULL;
    double *q = cli_allocate((size_t)kk_model_nq(m), sizeof *q), *v = cli_allocate((size_t)kk_model_nv(m), sizeof *v);
    double *tau = cli_allocate((size_t)kk_model_nv(m), sizeof *tau), sum = 0;
    int n = 0;
    for (double time = 1.25; time < 4.8 && load; time += 0.01, n++) {
        double torque[MOTORS_OF_LEG], speed[MOTORS_OF_LEG];
        kk_sequence_state(gait, c->period + time, q, v, NULL);
        kk_sequence_sample(load, c->period + time, tau, NULL, NULL);
        titan_parallel(t, 0, q, v, tau, torque, speed);
        for (int k = 0; k < MOTORS_OF_LEG; k++) {
            sum += torque[k] * speed[k] < 0 ? -torque[k] * speed[k] : 0;
        }
    }
    kk_sequence_free(gait);
    kk_sequence_free(load);
    free(q);
    free(v);
    free(tau);
    return n > 0 ? sum / n : INFINITY;
}

static kk_crawl crawl_with_feet_at(double side) {
    kk_crawl c = kk_crawl_titan8('A');
    for (int i = 0; i < LEGS; i++) {
        c.home[i].y = i % 2 ? -side : side;
    }
    return c;
}

static double power_with_feet_at(titan *t, double side) {
    const kk_crawl c = crawl_with_feet_at(side);
    return power_back(t, &c);
}

static const double WIDTH = 0.0125; ///< m between the postures of the first look

/// The least between the neighbors of what is least so far, by golden sections.
static double least_around(titan *t, double best) {
    const double share = 0.6180339887498949;
    double low = best - WIDTH, high = best + WIDTH;
    for (int i = 0; i < CLOSER; i++) {
        const double a = high - share * (high - low), b = low + share * (high - low);
        const bool is_left = power_with_feet_at(t, a) < power_with_feet_at(t, b);
        high = is_left ? b : high;
        low = is_left ? low : a;
    }
    return 0.5 * (low + high);
}

static void run_gda(study *s) {
    titan t;
    double best = 0, least = INFINITY, of_posture[2] = {0};
    const int panel = exam_plot(&s->exam, "power that flows back, by the plan", "feet beside the middle / m",
                                "mean negative power / W", false);
    const kk_crawl a = kk_crawl_titan8('A'), b = kk_crawl_titan8('B');
    if (titan_begin(&t, s, &(titan_def){.file = "titan8/titan8.xml"})) {
        for (int i = 0; i < SIDES; i++) {
            const double side = 0.26 + WIDTH * i, back = power_with_feet_at(&t, side);
            exam_point(&s->exam, panel, "all motors of the left fore leg", side, back);
            best = back < least ? side : best;
            least = back < least ? back : least;
        }
        best = least_around(&t, best);
        of_posture[0] = power_back(&t, &a);
        of_posture[1] = power_back(&t, &b);
        study_near(s, "posture with the least negative power: feet beside the middle", "A, chosen by GDA", best, "m",
                   a.home[0].y, 0.01);
        study_at_most(s, "negative power of A as a share of B's", "A has almost none",
                      100 * of_posture[0] / of_posture[1], "%", 10);
        study_note(
            s,
            "Gravitationally decoupled actuation (Hirose and Umetani): no motor brakes what another one drives. In A "
            "the thigh is level and the shin upright, so the weight is borne by the thigh's motor, which hardly "
            "turns, and the shin's, which bears nothing, moves the body.");
    }
    runner_end(&t.r);
}

const study_def studies_s4_crawl[] = {
    {.seed = "s4",
     .name = "s4_crawl",
     .title = "S4 5: torque and power of a crawl in four postures, by servo (3) alone",
     .paper = "Left fore leg over a period of 4.8 s: in posture A thigh and knee have almost no power in stance "
              "(2.4-4.8 s); in B, C and D the thigh's positive power is eaten by the knee's negative power. 10 s took "
              "60 s to compute.",
     .is_quick = true,
     .run = run_crawl},
    {.seed = "s4",
     .name = "s4_trunk",
     .title = "S4 5: a trunk that bends",
     .paper = "The robot's thigh torque has large peaks at 1.4 and 3.8 s, ODE's has none: the body bends, sinks on the "
              "side of the "
              "leg in the air, and treads hard when it lands.",
     .is_quick = true,
     .run = run_trunk},
    {.seed = "s4",
     .name = "s4_gda",
     .title = "S4 4.2: gravitationally decoupled actuation chooses the posture",
     .paper =
         "Negative power is made good by positive power of other motors; the standard posture is the one without it.",
     .is_quick = true,
     .run = run_gda},
    {.name = NULL},
};
