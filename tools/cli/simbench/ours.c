// Our engine behind the table of SimBenchmark, through the public headers.
#include <karakuri/karakuri.h>
#include <karakuri/simulate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simbench.h"

typedef struct world {
    simbench_scene scene;
    kk_model *model;
    kk_state *state;
    kk_simulator *simulator;
    kk_data *data;          ///< for readers
    double *tau;            ///< [nv]
    kk_force *wrench;       ///< [nbody]
    kk_vec3 *push;          ///< [nbody] world axes, on the center of mass
    int pushed;             ///< the one body that is; 0: none
    int *q_index, *v_index; ///< [nbody]
    int material[SIMBENCH_MATERIALS];
    bool uses_rk4;
    int sweeps; ///< 0: as many as the certificate asks for
    kk_detection detection;
} world;

/// Groups of shapes. All touch the first; of the second there is only a robot that does not touch itself.
enum { OTHERS = 1, ITSELF = 2 };

static kk_vec3 vec(const double x[3]) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

static bool holds(kk_status status, const kk_error *error, char trouble[SIMBENCH_TEXT]) {
    if (status != KK_OK) {
        snprintf(trouble, SIMBENCH_TEXT, "%s", error->text[0] ? error->text : kk_status_name(status));
    }
    return status == KK_OK;
}

// ---- building

static kk_status add_materials(world *w, kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int a = 0; a < SIMBENCH_MATERIALS && status == KK_OK; a++) {
        kk_material_def def = kk_material_def_default();
        status = kk_spec_add_material(spec, &def, &w->material[a], error);
    }
    for (int a = 0; a < SIMBENCH_MATERIALS; a++) {
        for (int b = 0; b <= a && status == KK_OK; b++) {
            kk_material_pair_def pair = kk_material_pair_def_default();
            pair.material[0] = w->material[a];
            pair.material[1] = w->material[b];
            pair.together.friction = w->scene.friction[a][b];
            pair.together.restitution = w->scene.restitution;
            status = kk_spec_add_material_pair(spec, &pair, NULL, error);
        }
    }
    return status;
}

static kk_status add_shape(kk_spec *spec, kk_shape_type type, int body, const double size[3], const double at[3],
                           int material, uint32_t group, kk_error *error) {
    kk_shape_def def = kk_shape_def_default();
    def.type = type;
    def.body = body;
    memcpy(def.size, size, 3 * sizeof *size);
    def.placement.p = vec(at);
    def.material = material;
    def.group = group;
    return kk_spec_add_shape(spec, &def, NULL, error);
}

static kk_status add_body(world *w, kk_spec *spec, int index, kk_error *error) {
    const simbench_body *b = &w->scene.body[index];
    static const double center[3] = {0, 0, 0};
    kk_body_def def = kk_body_def_default();
    char name[32];
    int id = 0;
    snprintf(name, sizeof name, "body%d", index);
    def.name = name;
    def.joint.type = KK_JOINT_FREE;
    def.inertia = b->is_ball ? kk_inertia_solid_sphere(b->mass, b->size[0])
                             : kk_inertia_solid_box(b->mass, b->size[0], b->size[1], b->size[2]);
    const kk_status status = kk_spec_add_body(spec, &def, &id, error);
    return status == KK_OK ? add_shape(spec, b->is_ball ? KK_SHAPE_SPHERE : KK_SHAPE_BOX, id, b->size, center,
                                       w->material[b->is_ball ? SIMBENCH_BALL : SIMBENCH_BOX], OTHERS, error)
                           : status;
}

static kk_inertia inertia_of(const simbench_link *l) {
    kk_inertia x = {.mass = l->mass, .com = vec(l->center)};
    x.moment = (kk_sym3){l->moments[0], l->moments[1], l->moments[2], 0, 0, 0};
    return x;
}

static kk_status add_link(world *w, kk_spec *spec, int robot, int index, int first, kk_error *error) {
    const simbench_link l = simbench_robot_link(index);
    kk_body_def def = kk_body_def_default();
    char name[40];
    int id = 0;
    snprintf(name, sizeof name, "robot%d_link%d", robot, index);
    def.name = name;
    def.parent = index == 0 ? KK_WORLD : first + l.parent;
    def.joint.type = index == 0 ? KK_JOINT_FREE : KK_JOINT_HINGE;
    def.joint.axis = index == 0 ? kk_vec3_make(0, 0, 1) : vec(l.axis);
    def.joint.placement.p = vec(l.at);
    def.inertia = inertia_of(&l);
    kk_status status = kk_spec_add_body(spec, &def, &id, error);
    if (status == KK_OK && (l.has_box || l.has_ball)) {
        status = add_shape(spec, l.has_box ? KK_SHAPE_BOX : KK_SHAPE_SPHERE, id, l.shape_size, l.shape_at,
                           w->material[l.has_box ? SIMBENCH_BOX : SIMBENCH_BALL],
                           w->scene.self_collides ? OTHERS : ITSELF, error);
    }
    return status;
}

static int base_of(const world *w, int robot) {
    return 1 + w->scene.body_count + robot * SIMBENCH_LINKS;
}

static kk_status describe(world *w, kk_spec *spec, kk_error *error) {
    static const double none[3] = {0, 0, 0};
    kk_spec_set_gravity(spec, kk_vec3_make(0, 0, -w->scene.gravity));
    kk_spec_options(spec)->timestep = w->scene.dt;
    kk_spec_options(spec)->integrator = w->scene.is_smooth && w->uses_rk4 ? KK_INTEGRATOR_RK4 : KK_INTEGRATOR_MIDPOINT;
    kk_status status = add_materials(w, spec, error);
    if (status == KK_OK && w->scene.has_floor) {
        status = add_shape(spec, KK_SHAPE_PLANE, KK_WORLD, none, none, w->material[SIMBENCH_FLOOR], OTHERS, error);
    }
    for (int i = 0; i < w->scene.body_count && status == KK_OK; i++) {
        status = add_body(w, spec, i, error);
    }
    for (int i = 0; i < w->scene.robots * SIMBENCH_LINKS && status == KK_OK; i++) {
        const int robot = i / SIMBENCH_LINKS;
        status = add_link(w, spec, robot, i % SIMBENCH_LINKS, base_of(w, robot), error);
    }
    return status;
}

static kk_status build(world *w, kk_error *error) {
    kk_spec *spec = NULL;
    const kk_step_options options = {.effort = KK_EFFORT_SWEEPS, .iterations = w->sweeps, .detection = w->detection};
    kk_status status = kk_spec_create(NULL, &spec);
    status = status == KK_OK ? describe(w, spec, error) : status;
    status = status == KK_OK ? kk_model_compile(spec, NULL, &w->model, error) : status;
    kk_spec_free(spec);
    status = status == KK_OK ? kk_state_create(w->model, NULL, &w->state) : status;
    status = status == KK_OK ? kk_data_create(w->model, NULL, &w->data) : status;
    status = status == KK_OK ? kk_simulator_create(w->model, &options, NULL, &w->simulator, error) : status;
    if (status == KK_OK) {
        w->tau = calloc((size_t)kk_model_nv(w->model) + 1, sizeof *w->tau);
        w->wrench = calloc((size_t)kk_model_nbody(w->model), sizeof *w->wrench);
        w->push = calloc((size_t)kk_model_nbody(w->model), sizeof *w->push);
        w->q_index = calloc((size_t)kk_model_nbody(w->model), sizeof *w->q_index);
        w->v_index = calloc((size_t)kk_model_nbody(w->model), sizeof *w->v_index);
        status = w->tau && w->wrench && w->push && w->q_index && w->v_index ? KK_OK : KK_OUT_OF_MEMORY;
    }
    for (int i = 1; status == KK_OK && i < kk_model_nbody(w->model); i++) {
        w->q_index[i] = kk_model_joint(w->model, i).q_index;
        w->v_index[i] = kk_model_joint(w->model, i).v_index;
    }
    return status;
}

static double *q_of(const world *w, int body) {
    return kk_state_q(w->state) + w->q_index[body];
}

static double *v_of(const world *w, int body) {
    return kk_state_v(w->state) + w->v_index[body];
}

static void place(world *w) {
    for (int i = 0; i < w->scene.body_count; i++) {
        memcpy(q_of(w, i + 1) + 4, w->scene.body[i].position, 3 * sizeof(double));
        memcpy(v_of(w, i + 1) + 3, w->scene.body[i].velocity, 3 * sizeof(double));
    }
    for (int i = 0; i < w->scene.robots; i++) {
        simbench_robot_place(&w->scene, i, q_of(w, base_of(w, i)) + 4);
        for (int k = 1; k < SIMBENCH_LINKS; k++) {
            *q_of(w, base_of(w, i) + k) = simbench_robot_link(k).target;
        }
    }
}

static void close_world(void *self) {
    world *w = self;
    kk_simulator_free(w->simulator);
    kk_data_free(w->data);
    kk_state_free(w->state);
    kk_model_free(w->model);
    free(w->tau);
    free(w->wrench);
    free(w->push);
    free(w->q_index);
    free(w->v_index);
    free(w);
}

static void *open_with(const simbench_scene *scene, bool uses_rk4, int sweeps, kk_detection detection,
                       char trouble[SIMBENCH_TEXT]) {
    world *w = calloc(1, sizeof *w);
    kk_error error = {0};
    if (!w) {
        snprintf(trouble, SIMBENCH_TEXT, "out of memory");
        return NULL;
    }
    w->scene = *scene;
    w->uses_rk4 = uses_rk4;
    w->sweeps = sweeps;
    w->detection = detection;
    if (!holds(build(w, &error), &error, trouble)) {
        close_world(w);
        return NULL;
    }
    place(w);
    return w;
}

static void *open_certified(const simbench_scene *scene, char trouble[SIMBENCH_TEXT]) {
    return open_with(scene, true, 0, 0, trouble);
}

static void *open_midpoint(const simbench_scene *scene, char trouble[SIMBENCH_TEXT]) {
    return open_with(scene, false, 0, 0, trouble);
}

static void *open_sweeps(const simbench_scene *scene, char trouble[SIMBENCH_TEXT]) {
    return open_with(scene, false, 10, 0, trouble);
}

static void *open_coarse(const simbench_scene *scene, char trouble[SIMBENCH_TEXT]) {
    return open_with(scene, false, 10, 2, trouble);
}

// ---- running

/// Wrenches are in bodies' axes about their origins.
static void turn_push(world *w) {
    const int body = w->pushed;
    const double *q = q_of(w, body);
    const kk_mat3 R = kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]});
    const kk_vec3 f = kk_mat3_tmul_vec(R, w->push[body]);
    const int is_base = body > w->scene.body_count;
    const kk_vec3 c = is_base ? vec(simbench_robot_link(0).center) : kk_vec3_make(0, 0, 0);
    w->wrench[body] = kk_force_make(kk_vec3_cross(c, f), f);
}

static bool step(void *self, char trouble[SIMBENCH_TEXT]) {
    world *w = self;
    kk_error error = {0};
    if (w->pushed) {
        turn_push(w);
    }
    const kk_input input = {.tau = w->scene.robots ? w->tau : NULL, .wrench = w->pushed ? w->wrench : NULL};
    return holds(kk_step(w->model, w->state, w->simulator, &input, &error), &error, trouble);
}

static void read_body(void *self, int index, double position[3], double velocity[3]) {
    const world *w = self;
    const double *q = q_of(w, index + 1), *v = v_of(w, index + 1);
    const kk_vec3 u =
        kk_mat3_mul_vec(kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}), kk_vec3_make(v[3], v[4], v[5]));
    memcpy(position, q + 4, 3 * sizeof *q);
    velocity[0] = u.x;
    velocity[1] = u.y;
    velocity[2] = u.z;
}

static void push(void *self, int body, const double force[3]) {
    world *w = self;
    w->pushed = body < 0 ? base_of(w, -1 - body) : body + 1;
    w->push[w->pushed] = vec(force);
}

static void joints(void *self, int robot, double angle[SIMBENCH_JOINTS], double speed[SIMBENCH_JOINTS]) {
    const world *w = self;
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        angle[k] = *q_of(w, base_of(w, robot) + 1 + k);
        speed[k] = *v_of(w, base_of(w, robot) + 1 + k);
    }
}

static void drive(void *self, int robot, const double torque[SIMBENCH_JOINTS]) {
    world *w = self;
    for (int k = 0; k < SIMBENCH_JOINTS; k++) {
        w->tau[w->v_index[base_of(w, robot) + 1 + k]] = torque[k];
    }
}

static void whole(void *self, double momentum[3], double *energy) {
    world *w = self;
    const double *q = kk_state_q_const(w->state), *v = kk_state_v_const(w->state);
    const kk_vec3 p = kk_centroidal_momentum(w->model, w->data, q, v).linear;
    *energy = kk_kinetic_energy(w->model, w->data, q, v) + kk_potential_energy(w->model, w->data, q);
    momentum[0] = p.x;
    momentum[1] = p.y;
    momentum[2] = p.z;
}

static double height(void *self, int robot) {
    const world *w = self;
    return q_of(w, base_of(w, robot))[6];
}

// clang-format off
const simbench_engine simbench_ours = {
    "Karakuri", open_certified, close_world, step, read_body, push, joints, drive, whole, height,
};
const simbench_engine simbench_ours_midpoint = {
    "Karakuri midpoint", open_midpoint, close_world, step, read_body, push, joints, drive, whole, height,
};
const simbench_engine simbench_ours_sweeps = {
    "Karakuri 10 sweeps", open_sweeps, close_world, step, read_body, push, joints, drive, whole, height,
};
const simbench_engine simbench_ours_coarse = {
    "Karakuri coarse", open_coarse, close_world, step, read_body, push, joints, drive, whole, height,
};
// clang-format on
