// A humanoid of 36 degrees of freedom swings from two elastic ropes, its joints held by springs alone.
//
// Nothing takes energy out, so whatever the sum of kinetic, gravity, rope and spring energy drifts by is the integrator's
// error. Prints that drift, the largest joint torques and the time a call takes, and draws swing.svg: the figure at
// equal times, and the energies.
#define _POSIX_C_SOURCE 199309L // clock_gettime
#include <karakuri/karakuri.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../models/robots.h"

enum { MAX_DOF = 64, MAX_BODY = 64, STEPS = 12000, SHOTS = 7, STEPS_A_SHOT = 1000 };
static const double DT = 2.5e-4, ROPE = 6000, SPRING = 60;

typedef struct humanoid {
    kk_model *model;
    kk_data *data;
    int nq, nv, nbody;
    int hand[2];
    kk_vec3 bar[2];       ///< where the ropes are tied
    double rest[MAX_DOF]; ///< pose at which the joint springs are slack
} humanoid;

typedef struct energies {
    double kinetic, gravity, elastic;
} energies;

static double total(energies e) {
    return e.kinetic + e.gravity + e.elastic;
}

// ---- the robot and what pulls at it

static int build(humanoid *h) {
    kk_error error = {0};
    kk_spec *spec = NULL;
    const int failed = kk_spec_create(NULL, &spec) || robots_humanoid36(spec, &error) ||
                       kk_model_compile(spec, NULL, &h->model, &error) || kk_data_create(h->model, NULL, &h->data);
    kk_spec_free(spec);
    if (failed) {
        fprintf(stderr, "%s\n", error.text);
        return 0;
    }
    h->nq = kk_model_nq(h->model);
    h->nv = kk_model_nv(h->model);
    h->nbody = kk_model_nbody(h->model);
    h->hand[0] = kk_model_find_body(h->model, "left_hand");
    h->hand[1] = kk_model_find_body(h->model, "right_hand");
    return h->hand[0] > 0 && h->hand[1] > 0;
}

static kk_vec3 rope_of(const humanoid *h, int side) {
    return kk_vec3_sub(h->bar[side], kk_body_pose(h->model, h->data, h->hand[side]).p);
}

/// Joint springs (not on the free base) and rope forces, then the acceleration they cause.
static void accelerate(const humanoid *h, const double *q, const double *v, double *a) {
    double tau[MAX_DOF] = {0};
    kk_force pull[MAX_BODY] = {{{0, 0, 0}, {0, 0, 0}}};
    for (int i = 6; i < h->nv; i++) {
        tau[i] = -SPRING * (q[i + 1] - h->rest[i + 1]);
    }
    kk_kinematics(h->model, h->data, q);
    for (int side = 0; side < 2; side++) {
        const kk_transform X_WH = kk_body_pose(h->model, h->data, h->hand[side]);
        pull[h->hand[side]].linear = kk_mat3_tmul_vec(X_WH.R, kk_vec3_scale(rope_of(h, side), ROPE));
    }
    kk_forward_dynamics_external(h->model, h->data, q, v, tau, pull, a);
}

static energies measure(const humanoid *h, const double *q, const double *v) {
    energies e = {kk_kinetic_energy(h->model, h->data, q, v), kk_potential_energy(h->model, h->data, q), 0};
    kk_kinematics(h->model, h->data, q);
    for (int side = 0; side < 2; side++) {
        const kk_vec3 rope = rope_of(h, side);
        e.elastic += 0.5 * ROPE * kk_vec3_dot(rope, rope);
    }
    for (int i = 6; i < h->nv; i++) {
        const double bend = q[i + 1] - h->rest[i + 1];
        e.elastic += 0.5 * SPRING * bend * bend;
    }
    return e;
}

// ---- time: Runge and Kutta's fourth order on the configuration manifold

static void drift(const humanoid *h, const double *q, const double *v, double dt, double *out) {
    double step[MAX_DOF];
    for (int i = 0; i < h->nv; i++) {
        step[i] = dt * v[i];
    }
    kk_integrate(h->model, q, step, out);
}

static void step(const humanoid *h, double *q, double *v) {
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double qs[MAX_DOF], vs[MAX_DOF], a[MAX_DOF] = {0}, dv[MAX_DOF] = {0}, dq[MAX_DOF] = {0}, before[MAX_DOF];
    memcpy(vs, v, sizeof vs);
    for (int k = 0; k < 4; k++) {
        memcpy(before, vs, sizeof before);
        for (int i = 0; i < h->nv; i++) {
            vs[i] = v[i] + at[k] * DT * a[i];
        }
        drift(h, q, before, at[k] * DT, qs);
        accelerate(h, qs, vs, a);
        for (int i = 0; i < h->nv; i++) {
            dv[i] += weight[k] * a[i];
            dq[i] += weight[k] * vs[i];
        }
    }
    drift(h, q, dq, DT, q);
    for (int i = 0; i < h->nv; i++) {
        v[i] += DT * dv[i];
    }
}

// ---- the picture

static void draw_figure(FILE *svg, const humanoid *h, const double *q, int shot) {
    kk_kinematics(h->model, h->data, q);
    fprintf(svg, "<g stroke=\"hsl(%d,70%%,45%%)\" stroke-width=\"5\" stroke-linecap=\"round\" opacity=\"%.2f\">\n",
            200 + 22 * shot, 0.35 + 0.65 * (shot + 1) / SHOTS);
    for (int b = 2; b < h->nbody; b++) {
        const kk_vec3 from = kk_body_pose(h->model, h->data, kk_model_body_parent(h->model, b)).p;
        const kk_vec3 to = kk_body_pose(h->model, h->data, b).p;
        fprintf(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", 155 + 190 * from.x,
                60 - 190 * (from.z - 2), 155 + 190 * to.x, 60 - 190 * (to.z - 2));
    }
    fprintf(svg, "</g>\n");
}

static void draw_curve(FILE *svg, const energies *e, int which, const char *color, const char *label) {
    double low = 1e300, high = -1e300;
    for (int k = 0; k <= STEPS; k++) {
        const double all[3] = {e[k].kinetic, e[k].gravity + e[k].elastic, total(e[k])};
        for (int i = 0; i < 3; i++) {
            low = fmin(low, all[i]);
            high = fmax(high, all[i]);
        }
    }
    fprintf(svg, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color);
    double y = 0;
    for (int k = 0; k <= STEPS; k += 40) {
        const double all[3] = {e[k].kinetic, e[k].gravity + e[k].elastic, total(e[k])};
        y = 430 - 360 * (all[which] - low) / (high - low);
        fprintf(svg, "%.1f,%.1f ", 690 + 420.0 * k / STEPS, y);
    }
    fprintf(svg, "\"/><text x=\"1116\" y=\"%.1f\" fill=\"%s\" font-size=\"14\">%s</text>\n", y + 5, color, label);
}

static void draw_frame(FILE *svg) {
    fprintf(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1220 500\" font-family=\"sans-serif\">\n"
                 "<rect width=\"1220\" height=\"500\" fill=\"#f8f7f3\"/>\n"
                 "<text x=\"30\" y=\"36\" font-size=\"18\">36 degrees of freedom on two ropes, every 0.25 s</text>\n"
                 "<text x=\"690\" y=\"36\" font-size=\"18\">energy, J, over 3 s</text>\n"
                 "<path d=\"M690 60 V440 H1110\" stroke=\"#888\" fill=\"none\"/>\n");
}

// ---- what a roboticist asks

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_torques(const humanoid *h, const double *peak) {
    int shown[5] = {-1, -1, -1, -1, -1};
    printf("largest spring torques   ");
    for (int n = 0; n < 5; n++) {
        for (int i = 6; i < h->nv; i++) {
            int taken = 0;
            for (int k = 0; k < n; k++) {
                taken |= shown[k] == i;
            }
            if (!taken && (shown[n] < 0 || peak[i] > peak[shown[n]])) {
                shown[n] = i;
            }
        }
        for (int b = 1; b < h->nbody; b++) {
            const kk_joint_info joint = kk_model_joint(h->model, b);
            if (joint.nv == 1 && joint.v_index == shown[n]) {
                printf("%s %.0f N m%s", joint.name, peak[shown[n]], n < 4 ? ", " : "\n");
            }
        }
    }
}

#define PRINT_TIME(name, call)                                                \
    do {                                                                      \
        const double begin = seconds();                                       \
        for (int k = 0; k < 2000; k++) {                                      \
            call;                                                             \
        }                                                                     \
        printf("  %-34s %6.2f µs\n", name, (seconds() - begin) / 2000 * 1e6); \
    } while (0)

static void print_times(const humanoid *h, const double *q, const double *v) {
    static double x[MAX_DOF * MAX_DOF], y[MAX_DOF * MAX_DOF], z[MAX_DOF * MAX_DOF];
    double a[MAX_DOF] = {0}, out[MAX_DOF];
    printf("one call, one robot, one thread\n");
    PRINT_TIME("inverse dynamics", kk_inverse_dynamics(h->model, h->data, q, v, a, out));
    PRINT_TIME("forward dynamics", kk_forward_dynamics(h->model, h->data, q, v, a, out));
    PRINT_TIME("inertia matrix", kk_crba(h->model, h->data, q));
    PRINT_TIME("derivatives of forward dynamics",
               kk_forward_dynamics_derivatives(h->model, h->data, q, v, a, out, x, y, z));
}

int main(void) {
    humanoid h = {0};
    static energies e[STEPS + 1];
    double q[MAX_DOF], v[MAX_DOF] = {0}, peak[MAX_DOF] = {0}, worst = 0;
    FILE *svg = fopen("swing.svg", "w");
    if (!svg || !build(&h)) {
        return 1;
    }

    // hang by the hands, arms up, a little off the vertical and turned in the waist
    kk_model_neutral(h.model, q);
    memcpy(h.rest, q, sizeof h.rest);
    const char *raised[2] = {"left_shoulder_joint", "right_shoulder_joint"};
    for (int side = 0; side < 2; side++) {
        const kk_joint_info shoulder = kk_model_joint(h.model, kk_model_find_joint(h.model, raised[side]));
        q[shoulder.q_index] = h.rest[shoulder.q_index] = -2.6;
    }
    const kk_quat lean = kk_quat_exp(kk_vec3_make(0.1, 0.9, 0));
    memcpy(q, &lean, sizeof lean);
    q[6] = 1.2;
    kk_kinematics(h.model, h.data, q);
    for (int side = 0; side < 2; side++) {
        h.bar[side] = kk_vec3_add(kk_body_pose(h.model, h.data, h.hand[side]).p, kk_vec3_make(0, 0, 0.1));
    }

    draw_frame(svg);
    const double begin = seconds();
    double busy = 0;
    for (int k = 0; k <= STEPS; k++) {
        e[k] = measure(&h, q, v);
        worst = fmax(worst, fabs(total(e[k]) - total(e[0])));
        for (int i = 6; i < h.nv; i++) {
            peak[i] = fmax(peak[i], SPRING * fabs(q[i + 1] - h.rest[i + 1]));
        }
        if (k % STEPS_A_SHOT == 0 && k / STEPS_A_SHOT < SHOTS) {
            draw_figure(svg, &h, q, k / STEPS_A_SHOT);
        }
        const double start = seconds();
        step(&h, q, v);
        busy += seconds() - start;
    }
    draw_curve(svg, e, 0, "#1f77b4", "kinetic");
    draw_curve(svg, e, 1, "#d97706", "potential");
    draw_curve(svg, e, 2, "#16803c", "sum");
    fprintf(svg, "</svg>\n");
    fclose(svg);

    const double turned = e[0].gravity - e[STEPS].gravity;
    printf(
        "karakuri %s: a humanoid of %d degrees of freedom and %.1f kg swings for %.0f s at %.2f ms (Runge-Kutta 4)\n",
        kk_version(), h.nv, kk_model_mass(h.model), STEPS * DT, DT * 1e3);
    printf("energy                   %.6f J at the start, worst drift %.1e J; gravity gave %.0f J on the way\n",
           total(e[0]), worst, turned);
    print_torques(&h, peak);
    printf("speed                    %.0f × real time (%.1f µs a step of four stages); all in %.2f s\n",
           STEPS * DT / busy, busy / (STEPS + 1) * 1e6, seconds() - begin);
    print_times(&h, q, v);
    printf("check                    %s\n", worst < 1e-3 ? "energy kept" : "ENERGY DRIFTED");
    kk_data_free(h.data);
    kk_model_free(h.model);
    return worst < 1e-3 ? 0 : 1;
}
