// Scenes of the exam: building by calls, stepping, keeping the worst.
#include "scene.h"

#include "../render/snapshot.h"

#include <stdlib.h>
#include <string.h>

static double nowhere[8];

void scene_break(scene *s, const char *text) {
    s->is_broken = true;
    exam_trouble(s->e, text);
}

static void check(scene *s, kk_status status, const kk_error *error) {
    if (status != KK_OK && !s->is_broken) {
        scene_break(s, error->text[0] ? error->text : kk_status_name(status));
    }
}

void scene_begin(scene *s, exam *e, double gravity) {
    *s = (scene){.e = e, .is_broken = e->is_drawn};
    kk_error error = {0};
    if (s->is_broken) {
        return;
    }
    check(s, kk_spec_create(NULL, &s->spec), &error);
    if (!s->is_broken) {
        kk_spec_set_gravity(s->spec, kk_vec3_make(0, 0, -gravity));
    }
}

/// A picture of the row's first scene.
static void draw_end(scene *s) {
    const char *path = s->e->picture;
    if (!path || s->is_broken || !s->state) {
        return;
    }
    const signs_source source = {s->model, s->data, kk_state_q_const(s->state), s->steps ? s->simulator : NULL};
    picture drawn;
    cli_text bytes = {0};
    s->e->picture = NULL;
    s->e->is_drawn = s->e->draws_only;
    snapshot_draw(&source, 960, 540, &drawn);
    picture_png(&drawn, &bytes);
    if (kk_file_write(path, bytes.bytes, bytes.size, NULL) != KK_OK) {
        exam_trouble(s->e, "the picture cannot be written");
    }
    text_free(&bytes);
    picture_free(&drawn);
}

void scene_end(scene *s) {
    draw_end(s);
    kk_simulator_free(s->simulator);
    kk_data_free(s->data);
    kk_state_free(s->state);
    kk_model_free(s->model);
    kk_spec_free(s->spec);
    free(s->control);
    free(s->tau);
    free(s->wrench);
    *s = (scene){.e = s->e, .is_broken = true};
}

// ---- building

static int add_material(scene *s, const kk_material_def *def) {
    int id = 0;
    kk_error error = {0};
    if (!s->is_broken) {
        check(s, kk_spec_add_material(s->spec, def, &id, &error), &error);
    }
    return id;
}

int scene_material(scene *s, double friction, double restitution) {
    kk_material_def def = kk_material_def_default();
    def.friction = friction;
    def.restitution = restitution;
    return add_material(s, &def);
}

int scene_soft_material(scene *s, double friction, double stiffness) {
    kk_material_def def = kk_material_def_default();
    def.friction = friction;
    def.stiffness = stiffness;
    return add_material(s, &def);
}

int scene_body(scene *s, const kk_body_def *def) {
    int id = 0;
    kk_error error = {0};
    char name[32];
    kk_body_def named = *def;
    if (s->is_broken) {
        return 0;
    }
    snprintf(name, sizeof name, "body%d", kk_spec_body_count(s->spec));
    named.name = named.name ? named.name : name;
    check(s, kk_spec_add_body(s->spec, &named, &id, &error), &error);
    return id;
}

int scene_jointed(scene *s, int parent, kk_joint_type type, kk_vec3 axis, kk_vec3 at, kk_inertia inertia) {
    kk_body_def def = kk_body_def_default();
    def.parent = parent;
    def.joint.type = type;
    def.joint.axis = axis;
    def.joint.placement.p = at;
    def.inertia = inertia;
    return scene_body(s, &def);
}

int scene_shape(scene *s, const kk_shape_def *def) {
    int id = 0;
    kk_error error = {0};
    if (!s->is_broken) {
        check(s, kk_spec_add_shape(s->spec, def, &id, &error), &error);
    }
    return id;
}

kk_shape_def scene_shape_def(kk_shape_type type, int body, double x, double y, double z, int material) {
    kk_shape_def def = kk_shape_def_default();
    def.type = type;
    def.body = body;
    def.size[0] = x;
    def.size[1] = y;
    def.size[2] = z;
    def.material = material;
    return def;
}

void scene_floor(scene *s, int material) {
    const kk_shape_def def = scene_shape_def(KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    scene_shape(s, &def);
}

int scene_box(scene *s, double mass, double x, double y, double z, int material) {
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                   kk_inertia_solid_box(mass, x, y, z));
    const kk_shape_def def = scene_shape_def(KK_SHAPE_BOX, body, x, y, z, material);
    scene_shape(s, &def);
    return body;
}

int scene_ball(scene *s, double mass, double radius, int material) {
    const int body = scene_jointed(s, KK_WORLD, KK_JOINT_FREE, kk_vec3_make(0, 0, 1), kk_vec3_make(0, 0, 0),
                                   kk_inertia_solid_sphere(mass, radius));
    const kk_shape_def def = scene_shape_def(KK_SHAPE_SPHERE, body, radius, 0, 0, material);
    scene_shape(s, &def);
    return body;
}

void scene_loop(scene *s, kk_loop_type type, int a, kk_vec3 on_a, int b, kk_vec3 on_b) {
    kk_error error = {0};
    kk_loop_def def = kk_loop_def_default();
    def.type = type;
    def.body[0] = a;
    def.body[1] = b;
    def.placement[0].p = on_a;
    def.placement[1].p = on_b;
    // hinges of the exam's loops turn about y, as the joints do
    def.placement[0].R = def.placement[1].R =
        kk_mat3_from_axis_angle(kk_vec3_make(1, 0, 0), -0.5 * 3.14159265358979323846);
    if (!s->is_broken) {
        check(s, kk_spec_add_loop(s->spec, &def, NULL, &error), &error);
    }
}

void scene_tendon(scene *s, const kk_tendon_def *def) {
    kk_error error = {0};
    if (!s->is_broken) {
        check(s, kk_spec_add_tendon(s->spec, def, NULL, &error), &error);
    }
}

void scene_actuator(scene *s, const kk_actuator_def *def) {
    kk_error error = {0};
    if (!s->is_broken) {
        check(s, kk_spec_add_actuator(s->spec, def, NULL, &error), &error);
    }
}

static kk_step_options solver_options(const scene *s, const kk_step_options *given) {
    kk_step_options o = *given;
    if (s->is_own_solver) {
        return o;
    }
    o.strict = !s->is_default_mode; // the first exam judges certified steps alone
    if (s->e->solver == EXAM_SWEEPS) {
        o.effort = KK_EFFORT_SWEEPS;
        o.iterations = 50;
    }
    o.solver = s->e->solver >= EXAM_OPENHRP ? (kk_solver)(KK_SOLVER_OPENHRP + (s->e->solver - EXAM_OPENHRP)) : o.solver;
    return o;
}

void scene_ready(scene *s, const kk_step_options *options) {
    kk_error error = {0};
    if (s->is_broken) {
        return;
    }
    const kk_step_options o = solver_options(s, options);
    check(s, kk_model_compile(s->spec, NULL, &s->model, &error), &error);
    if (!s->is_broken) {
        check(s, kk_state_create(s->model, NULL, &s->state), &error);
    }
    if (!s->is_broken) {
        check(s, kk_data_create(s->model, NULL, &s->data), &error);
    }
    if (!s->is_broken) {
        check(s, kk_simulator_create(s->model, &o, NULL, &s->simulator, &error), &error);
        s->control = cli_allocate((size_t)kk_spec_actuator_count(s->spec) + 1, sizeof *s->control);
        s->tau = cli_allocate((size_t)kk_model_nv(s->model) + 1, sizeof *s->tau);
        s->wrench = cli_allocate((size_t)kk_model_nbody(s->model), sizeof *s->wrench);
    }
}

void scene_ready_dt(scene *s, double dt) {
    const kk_step_options o = {.timestep = dt};
    scene_ready(s, &o);
}

// ---- running

double *scene_q(scene *s, int body) {
    return s->is_broken ? nowhere : kk_state_q(s->state) + kk_model_joint(s->model, body).q_index;
}

double *scene_v(scene *s, int body) {
    return s->is_broken ? nowhere : kk_state_v(s->state) + kk_model_joint(s->model, body).v_index;
}

void scene_place(scene *s, int body, double x, double y, double z) {
    double *q = scene_q(s, body);
    q[4] = x;
    q[5] = y;
    q[6] = z;
}

void scene_turn(scene *s, int body, kk_vec3 rotation) {
    double *q = scene_q(s, body);
    const kk_quat turned = kk_quat_exp(rotation);
    q[0] = turned.w;
    q[1] = turned.x;
    q[2] = turned.y;
    q[3] = turned.z;
}

kk_vec3 scene_velocity(scene *s, int body) {
    const double *q = scene_q(s, body), *v = scene_v(s, body);
    return kk_mat3_mul_vec(kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}), kk_vec3_make(v[3], v[4], v[5]));
}

void scene_push(scene *s, int body, kk_vec3 force) {
    if (!s->is_broken) {
        s->wrench[body].linear = force;
        s->is_pushed = true;
    }
}

double scene_time(const scene *s) {
    return s->is_broken ? 0 : kk_state_time(s->state);
}

bool scene_step(scene *s) {
    if (s->is_broken) {
        return false;
    }
    if (cli_is_interrupted()) {
        scene_break(s, "interrupted");
        return false;
    }
    kk_error error = {0};
    const kk_input input = {
        .control = s->control, .tau = s->is_pushed ? s->tau : NULL, .wrench = s->is_pushed ? s->wrench : NULL};
    const kk_status status = kk_step(s->model, s->state, s->simulator, &input, &error);
    if (status != KK_OK && s->is_default_mode) {
        s->uncertified++;
        s->is_broken = true;
        return false;
    }
    if (status != KK_OK) {
        char text[640];
        snprintf(text, sizeof text, "at %g s: %s", kk_state_time(s->state), error.text);
        scene_break(s, text);
        return false;
    }
    const kk_report r = *kk_simulator_report(s->simulator);
    s->residual = exam_max(s->residual, r.residual);
    s->penetration = exam_max(s->penetration, r.penetration);
    s->uncertified += r.quality != KK_STEP_CERTIFIED;
    s->newton += r.newton;
    s->factorizations += r.factorizations;
    s->steps++;
    return true;
}

bool scene_run_until(scene *s, double time) {
    bool goes_on = !s->is_broken;
    double before = scene_time(s), dt = 0;
    while (goes_on && scene_time(s) + 0.5 * dt < time) {
        goes_on = scene_step(s);
        dt = scene_time(s) - before;
        before = scene_time(s);
    }
    return goes_on;
}

double scene_energy(scene *s) {
    if (s->is_broken) {
        return 0;
    }
    const double *q = kk_state_q(s->state), *v = kk_state_v(s->state);
    return kk_kinetic_energy(s->model, s->data, q, v) + kk_potential_energy(s->model, s->data, q);
}

double scene_fastest(const scene *s) {
    double most = 0;
    for (int k = 0; !s->is_broken && k < kk_model_nv(s->model); k++) {
        most = exam_max(most, exam_abs(kk_state_v_const(s->state)[k]));
    }
    return most;
}
