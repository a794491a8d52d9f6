// A quadruped lands on its feet beside a thousand kilograms that stand on one kilogram, is pushed, and stands again.
//
// Prints what a roboticist would ask: does it creep, do the forces equal the weight, how good is the proof of every step, how fast is
// it. Draws stand.svg: the scene from the side at five moments.
#define _POSIX_C_SOURCE 199309L // clock_gettime
#include <karakuri/karakuri.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../models/robots.h"

enum { STEPS = 6000, SHOTS = 5, STACK = 4, MAX_BODY = 40 };
static const double HEIGHT = 0.53, SIZE = 0.2, STACK_X = 1.1, MASS[STACK] = {1, 10, 100, 1000};

typedef struct world {
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;
    kk_error error;
} world;

// ---- the scene

static kk_status add_shape(kk_spec *spec, int body, kk_shape_type type, double x, double y, double z, kk_error *error) {
    kk_shape_def shape = kk_shape_def_default();
    shape.body = body;
    shape.type = type;
    shape.size[0] = x;
    shape.size[1] = y;
    shape.size[2] = z;
    return kk_spec_add_shape(spec, &shape, NULL, error);
}

/// A servo on every hinge, a ball under every foot.
static kk_status equip(kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 1; i < kk_spec_body_count(spec) && status == KK_OK; i++) {
        const kk_body_def *body = kk_spec_body(spec, i);
        if (strstr(body->name, "foot")) {
            status = add_shape(spec, i, KK_SHAPE_SPHERE, 0.03, 0, 0, error);
        }
        if (body->joint.type == KK_JOINT_HINGE) {
            char joint[64];
            snprintf(joint, sizeof joint, "%s_joint", body->name);
            kk_actuator_def servo = kk_actuator_def_default();
            servo.type = KK_ACTUATOR_POSITION;
            servo.target = joint;
            servo.gain = 300;
            servo.bias[1] = -300;
            servo.bias[2] = -6;
            servo.force_lower = -80;
            servo.force_upper = 80;
            status = kk_spec_add_actuator(spec, &servo, NULL, error);
        }
    }
    return status;
}

static kk_status add_stack(kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < STACK && status == KK_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "box%d", i);
        kk_body_def box = kk_body_def_default();
        box.name = name;
        box.joint.type = KK_JOINT_FREE;
        box.joint.placement = kk_transform_translation(STACK_X, 0, SIZE * (i + 0.5));
        box.inertia = kk_inertia_solid_box(MASS[i], SIZE, SIZE, SIZE);
        int id = 0;
        status = kk_spec_add_body(spec, &box, &id, error);
        status = status ? status : add_shape(spec, id, KK_SHAPE_BOX, SIZE, SIZE, SIZE, error);
    }
    return status;
}

static kk_status build(world *w) {
    kk_spec *spec = NULL;
    kk_status status = kk_spec_create(NULL, &spec);
    status = status ? status : robots_quadruped(spec, &w->error);
    status = status ? status : equip(spec, &w->error);
    status = status ? status : add_stack(spec, &w->error);
    status = status ? status : add_shape(spec, KK_WORLD, KK_SHAPE_PLANE, 0, 0, 0, &w->error);
    status = status ? status : kk_model_compile(spec, NULL, &w->model, &w->error);
    kk_spec_free(spec);
    status = status ? status : kk_state_create(w->model, NULL, &w->state);
    status = status ? status : kk_data_create(w->model, NULL, &w->data);
    return status ? status : kk_simulator_create(w->model, NULL, NULL, &w->simulator, &w->error);
}

/// Knees bent, in the servos' targets and in the pose.
static void crouch(const world *w, double *control) {
    for (int i = 0; i < kk_model_nactuator(w->model); i++) {
        const kk_actuator_info servo = kk_model_actuator(w->model, i);
        const kk_joint_info joint = kk_model_joint(w->model, servo.joint);
        const double fore = strstr(joint.name, "F_") ? 1 : -1;
        control[i] = strstr(joint.name, "thigh") ? 0.7 * fore : strstr(joint.name, "shank") ? -1.4 * fore : 0;
        kk_state_q(w->state)[joint.q_index] = control[i];
    }
}

// ---- the picture

static void draw_scene(FILE *svg, const world *w, int shot) {
    const double x0 = 130 + 250 * shot, y0 = 240, scale = 130;
    kk_kinematics(w->model, w->data, kk_state_q_const(w->state));
    for (int i = 1; i < kk_model_nbody(w->model); i++) {
        const kk_transform X = kk_body_pose(w->model, w->data, i);
        const int parent = kk_model_body_parent(w->model, i);
        const double x = x0 + scale * X.p.x, y = y0 - scale * X.p.z;
        const char *name = kk_model_body_name(w->model, i);
        if (strncmp(name, "box", 3) == 0) {
            fprintf(svg, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' class='box'/>\n", x - scale * SIZE / 2,
                    y - scale * SIZE / 2, scale * SIZE, scale * SIZE);
            fprintf(svg, "<text x='%.1f' y='%.1f' class='mass'>%.0f</text>\n", x, y + 3, MASS[name[3] - '0']);
        } else if (parent > 0) {
            const kk_vec3 p = kk_body_pose(w->model, w->data, parent).p;
            fprintf(svg, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>\n", x0 + scale * p.x, y0 - scale * p.z, x, y);
        }
    }
    fprintf(svg, "<text x='%.0f' y='270'>%.1f s</text>\n", x0, kk_state_time(w->state));
}

static FILE *begin_picture(void) {
    FILE *svg = fopen("stand.svg", "w");
    if (svg) {
        fprintf(
            svg,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 90 1320 200'>\n<style>"
            "svg{color:#333;background:#fff}@media(prefers-color-scheme:dark){svg{color:#ddd;background:#111}}"
            "line{stroke:currentColor;stroke-width:4;stroke-linecap:round}.box{fill:none;stroke:#c33;stroke-width:2}"
            "text{fill:currentColor;font:14px sans-serif;text-anchor:middle}.mass{font-size:9px}</style>\n"
            "<line x1='0' y1='240' x2='1320' y2='240' style='stroke-width:1'/>\n");
    }
    return svg;
}

// ---- the run

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct figures {
    double residual, penetration, elapsed;
} figures;

static kk_status run(world *w, const double *control, figures *f) {
    kk_force push[MAX_BODY];
    memset(push, 0, sizeof push);
    const int base = kk_model_find_body(w->model, "base");
    FILE *svg = begin_picture();
    kk_status status = KK_OK;
    for (int i = 0; i < STEPS && status == KK_OK; i++) {
        if (svg && i % (STEPS / SHOTS) == 0) {
            draw_scene(svg, w, i / (STEPS / SHOTS));
        }
        // 300 N against its side for 50 ms
        push[base].linear.y = i >= 2400 && i < 2450 ? 300 : 0;
        const double start = seconds();
        const kk_input input = {.control = control, .wrench = push};
        status = kk_step(w->model, w->state, w->simulator, &input, &w->error);
        f->elapsed += seconds() - start;
        const kk_report report = *kk_simulator_report(w->simulator);
        f->residual = fmax(f->residual, report.residual);
        f->penetration = fmax(f->penetration, report.penetration);
    }
    if (svg) {
        fprintf(svg, "</svg>\n");
        fclose(svg);
    }
    return status;
}

static int report(const world *w, const figures *f) {
    const kk_force floor = kk_simulator_contact_wrench(w->simulator, KK_WORLD, -1);
    const double weight = kk_model_mass(w->model) * 9.81, force = -floor.linear.z;
    double creep = 0, sink = 0;
    for (int i = 0; i < kk_model_nv(w->model); i++) {
        creep = fmax(creep, fabs(kk_state_v_const(w->state)[i]));
    }
    for (int i = 0; i < STACK; i++) {
        char name[16];
        snprintf(name, sizeof name, "box%d", i);
        const kk_joint_info joint = kk_model_joint(w->model, kk_model_find_body(w->model, name));
        sink = fmax(sink, fabs(kk_state_q_const(w->state)[joint.q_index + 6]));
    }
    const double time = kk_state_time(w->state);
    printf("weight of everything     %.6f N\n", weight);
    printf("force on the floor       %.6f N\n", force);
    printf("fastest joint at the end %.1e m/s or rad/s\n", creep);
    printf("1000 kg on 100 on 10 on 1 kg sank by %.1e m\n", sink);
    printf("worst residual           %.1e m/s in %d steps, every one certified\n", f->residual, STEPS);
    printf("deepest overlap          %.1e m\n", f->penetration);
    printf("time a step              %.1f us, %.0f times real time\n", 1e6 * f->elapsed / STEPS, time / f->elapsed);
    return fabs(force - weight) < 1e-3 * weight && sink < 1e-6 && f->residual <= 1e-9;
}

int main(void) {
    world w = {0};
    figures f = {0};
    double control[MAX_BODY] = {0};
    kk_status status = build(&w);
    if (status == KK_OK) {
        crouch(&w, control);
        kk_state_q(w.state)[kk_model_joint(w.model, kk_model_find_body(w.model, "base")).q_index + 6] = HEIGHT;
        status = run(&w, control, &f);
    }
    const int good = status == KK_OK && report(&w, &f);
    if (status != KK_OK) {
        fprintf(stderr, "%s: %s\n", kk_status_name(status), w.error.text);
    }
    kk_simulator_free(w.simulator);
    kk_data_free(w.data);
    kk_state_free(w.state);
    kk_model_free(w.model);
    return good ? 0 : 1;
}
