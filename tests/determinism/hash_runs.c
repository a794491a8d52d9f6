// Prints one line `run-scene how hash` for thirteen simulations of STEPS steps each, by every set of kernels this machine can run and on
// 1, 2 and 8 threads at once. Beside every simulation runs another one, of its own simulator that begins without room, that is saved and restored from
// the first at a hundred random steps: where it goes on with other bits, the hash is 1; where a step fails, 2.
//     hash_runs [STEPS]
#include <karakuri/karakuri.h>
#include <karakuri/random.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef __wasm__
#include "cli/pool.h"
#endif

#include "contact/dense_kernels.h"
#include "contact/sparse_scratch.h"
#include "dynamics/kernels/kernels.h"
#include "robots.h"
#include "simulate/simulator.h"
#include "support/rooms.h"

enum { RESTORES = 100 };

// ---- building

static int add_material(kk_spec *spec, double friction, double restitution) {
    kk_material_def def = kk_material_def_default();
    int id = 0;
    def.friction = friction;
    def.restitution = restitution;
    kk_spec_add_material(spec, &def, &id, NULL);
    return id;
}

static int add_shape(kk_spec *spec, kk_shape_type type, int body, kk_vec3 size, int material) {
    kk_shape_def def = kk_shape_def_default();
    int id = 0;
    def.type = type;
    def.body = body;
    def.size[0] = size.x;
    def.size[1] = size.y;
    def.size[2] = size.z;
    def.material = material;
    kk_spec_add_shape(spec, &def, &id, NULL);
    return id;
}

static int add_body(kk_spec *spec, int parent, kk_joint_type joint, kk_vec3 axis, kk_vec3 at, kk_inertia inertia) {
    char name[32], joint_name[32];
    kk_body_def def = kk_body_def_default();
    int id = 0;
    snprintf(name, sizeof name, "body%d", kk_spec_body_count(spec));
    snprintf(joint_name, sizeof joint_name, "joint%d", kk_spec_body_count(spec));
    def.name = name;
    def.parent = parent;
    def.joint.name = joint_name;
    def.joint.type = joint;
    def.joint.axis = axis;
    def.joint.placement.p = at;
    def.inertia = inertia;
    kk_spec_add_body(spec, &def, &id, NULL);
    return id;
}

static void add_free(kk_spec *spec, kk_shape_type type, double mass, kk_vec3 size, int material) {
    const kk_inertia inertia = type == KK_SHAPE_BOX ? kk_inertia_solid_box(mass, size.x, size.y, size.z)
                                                    : kk_inertia_solid_sphere(mass, size.x);
    const kk_vec3 none = {0, 0, 0}, up = {0, 0, 1};
    add_shape(spec, type, add_body(spec, KK_WORLD, KK_JOINT_FREE, up, none, inertia), size, material);
}

static int add_floor(kk_spec *spec, double friction, double restitution) {
    const int material = add_material(spec, friction, restitution);
    add_shape(spec, KK_SHAPE_PLANE, KK_WORLD, kk_vec3_make(0, 0, 0), material);
    return material;
}

static int add_rod(kk_spec *spec, int parent, kk_vec3 at, double length) {
    kk_inertia inertia = kk_inertia_solid_box(length, length, 0.02, 0.02);
    inertia.com = kk_vec3_make(0.5 * length, 0, 0);
    return add_body(spec, parent, KK_JOINT_HINGE, kk_vec3_make(0, -1, 0), at, inertia);
}

static void add_loop(kk_spec *spec, kk_loop_type type, int a, kk_vec3 on_a, int b, kk_vec3 on_b) {
    kk_loop_def def = kk_loop_def_default();
    def.type = type;
    def.body[0] = a;
    def.body[1] = b;
    def.placement[0].p = on_a;
    def.placement[1].p = on_b;
    def.placement[0].R = def.placement[1].R = kk_mat3_from_axis_angle(kk_vec3_make(1, 0, 0), -1.5707963267948966);
    kk_spec_add_loop(spec, &def, NULL, NULL);
}

// ---- the thirteen

static void build_heap(kk_spec *spec) {
    const int material = add_floor(spec, 0.5, 0);
    for (int i = 0; i < 6; i++) {
        add_free(spec, KK_SHAPE_BOX, 1 + i, kk_vec3_make(0.2, 0.3, 0.1), material);
    }
}

static void place_heap(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nbody(model) - 1; i++) {
        q[7 * i + 4] = 0.03 * (i % 4);
        q[7 * i + 5] = 0.02 * (i % 3);
        q[7 * i + 6] = 0.2 + 0.18 * i;
        v[6 * i + i % 3] = 0.5 * i;
    }
}

static void build_bounce(kk_spec *spec) {
    const int material = add_floor(spec, 0.3, 0.8);
    for (int i = 0; i < 6; i++) {
        add_free(spec, KK_SHAPE_SPHERE, 1, kk_vec3_make(0.06 + 0.01 * i, 0, 0), material);
    }
}

/// Torsion and rolling.
static void build_marbles(kk_spec *spec) {
    kk_material_def def = kk_material_def_default();
    int material = 0;
    def.friction = 0.6;
    def.torsion = 0.01;
    def.rolling = 0.001;
    kk_spec_add_material(spec, &def, &material, NULL);
    add_shape(spec, KK_SHAPE_PLANE, KK_WORLD, kk_vec3_make(0, 0, 0), material);
    for (int i = 0; i < 8; i++) {
        add_free(spec, KK_SHAPE_SPHERE, 0.1, kk_vec3_make(0.05, 0, 0), material);
    }
}

static void place_marbles(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nbody(model) - 1; i++) {
        const int row = i / 4;
        q[7 * i + 4] = 0.09 * (i % 4);
        q[7 * i + 5] = 0.08 * row;
        q[7 * i + 6] = 0.06 + 0.1 * (i % 2);
        v[6 * i + 2] = 3.0 * i;
        v[6 * i + 3] = 0.4 * (i % 3) - 0.3;
    }
}

/// An island for the sparse solver.
static void build_tower(kk_spec *spec) {
    const int material = add_floor(spec, 0.6, 0);
    for (int i = 0; i < 15; i++) {
        const double x = i / 3 % 2 ? 0.06 : 0.24;
        add_free(spec, KK_SHAPE_BOX, 0.2, kk_vec3_make(x, 0.3 - x, 0.04), material);
    }
}

static void place_tower(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nbody(model) - 1; i++) {
        const int layer = i / 3;
        const double across = 0.09 * (i % 3 - 1) + 0.003 * layer;
        q[7 * i + 4] = layer % 2 ? across : 0;
        q[7 * i + 5] = layer % 2 ? 0 : across;
        q[7 * i + 6] = 0.02 + 0.04 * layer;
        v[6 * i + 3] = i == 14 ? 0.02 : 0;
    }
}

/// Slabs, the heaviest on top.
static void build_slabs(kk_spec *spec) {
    const int material = add_floor(spec, 0.5, 0);
    double mass = 1;
    for (int i = 0; i < 4; i++) {
        add_free(spec, KK_SHAPE_BOX, mass, kk_vec3_make(1, 1, 0.1), material);
        mass *= 10;
    }
}

static void place_slabs(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nbody(model) - 1; i++) {
        q[7 * i + 6] = 0.05 + 0.101 * i;
        v[6 * i + 3] = 0.5 * i;
    }
}

/// A box lands on a height field of triangles: fast, so that it is followed along its motion.
static void build_shots(kk_spec *spec) {
    const int material = add_floor(spec, 0.4, 0.5);
    add_shape(spec, KK_SHAPE_BOX, KK_WORLD, kk_vec3_make(4, 4, 1e-3), material);
    for (int i = 0; i < 4; i++) {
        add_free(spec, KK_SHAPE_BOX, 0.1, kk_vec3_make(0.02, 0.02, 0.02), material);
    }
}

static void place_shots(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nbody(model) - 1; i++) {
        q[7 * i + 4] = 0.1 * i;
        q[7 * i + 6] = 1 + 0.3 * i;
        v[6 * i + 1] = 20.0 * i;
        v[6 * i + 5] = -100.0 - 50 * i;
    }
}

static void add_feet(kk_spec *spec, double radius) {
    const int material = add_floor(spec, 0.7, 0);
    for (int i = 1; i < kk_spec_body_count(spec); i++) {
        if (strstr(kk_spec_body(spec, i)->name, "foot")) {
            add_shape(spec, KK_SHAPE_SPHERE, i, kk_vec3_make(radius, 0, 0), material);
        }
    }
}

static void build_quadruped(kk_spec *spec) {
    robots_quadruped(spec, NULL);
    for (int i = 1; i < kk_spec_body_count(spec); i++) {
        const kk_body_def *def = kk_spec_body(spec, i);
        kk_actuator_def servo = kk_actuator_def_default();
        servo.type = KK_ACTUATOR_POSITION;
        servo.target = def->joint.name;
        servo.gain = 80;
        servo.bias[1] = -80;
        servo.bias[2] = -2;
        servo.force_lower = -30;
        servo.force_upper = 30;
        servo.activation = i % 2 ? KK_ACTIVATION_FILTER : KK_ACTIVATION_NONE;
        servo.time_constant = 0.02;
        if (def->joint.type == KK_JOINT_HINGE && def->joint.name) {
            kk_spec_add_actuator(spec, &servo, NULL, NULL);
        }
    }
    add_feet(spec, 0.03);
}

static void place_robot(const kk_model *model, double *q, double *v) {
    (void)model;
    q[6] = 0.64;
    v[1] = 0.3;
    v[3] = 0.4;
}

static void build_humanoid(kk_spec *spec) {
    robots_humanoid36(spec, NULL);
    add_feet(spec, 0.08);
}

static void place_humanoid(const kk_model *model, double *q, double *v) {
    place_robot(model, q, v);
    q[6] = 1.2;
}

/// A sole on nine balls below a mast that sways: many points on few coordinates, which hold.
static void build_foot(kk_spec *spec) {
    const int material = add_floor(spec, 0.6, 0);
    const kk_vec3 x = {1, 0, 0}, y = {0, 1, 0}, none = {0, 0, 0}, up = {0, 0, 0.1};
    const int foot = add_body(spec, KK_WORLD, KK_JOINT_FREE, x, none, kk_inertia_solid_box(3, 0.2, 0.2, 0.04));
    for (int i = 0; i < 9; i++) {
        const int ball = add_shape(spec, KK_SHAPE_SPHERE, foot, kk_vec3_make(0.005, 0, 0), material), row = i / 3;
        kk_spec_shape(spec, ball)->placement.p = kk_vec3_make(0.1 * (i % 3 - 1), 0.1 * (row - 1), 0);
    }
    for (int i = 0, parent = foot; i < 4; i++) {
        parent = add_body(spec, parent, KK_JOINT_HINGE, i & 1 ? x : y, up, kk_inertia_solid_box(0.5, 0.05, 0.05, 0.1));
        kk_spec_body(spec, parent)->joint.dof[0].stiffness = 100;
    }
}

static void place_foot(const kk_model *model, double *q, double *v) {
    q[6] = 0.005;
    for (int i = 6; i < kk_model_nv(model); i++) {
        v[i] = 0.2;
    }
}

static void build_linkage(kk_spec *spec) {
    const int crank = add_rod(spec, KK_WORLD, kk_vec3_make(0, 0, 0), 0.3);
    const int coupler = add_rod(spec, crank, kk_vec3_make(0.3, 0, 0), 0.9);
    const int follower = add_rod(spec, KK_WORLD, kk_vec3_make(1, 0, 0), 0.7);
    add_loop(spec, KK_LOOP_POINT, coupler, kk_vec3_make(0.9, 0, 0), follower, kk_vec3_make(0.7, 0, 0));
}

static void place_linkage(const kk_model *model, double *q, double *v) {
    (void)model;
    q[0] = 0.7; // the first step closes what is open
    q[2] = 1.9;
    q[1] = 0.2;
    v[0] = 3;
}

/// Rows that say the same thing twice.
static void build_cranks(kk_spec *spec) {
    const kk_vec3 end = {0.4, 0, 0}, aside = {0.5, 0, 0.3};
    const int first = add_rod(spec, KK_WORLD, kk_vec3_make(0, 0, 0), 0.4), rod = add_rod(spec, first, end, 1);
    const int second = add_rod(spec, KK_WORLD, kk_vec3_make(1, 0, 0), 0.4), third = add_rod(spec, KK_WORLD, aside, 0.4);
    add_loop(spec, KK_LOOP_AXIS, rod, kk_vec3_make(1, 0, 0), second, end);
    add_loop(spec, KK_LOOP_AXIS, rod, aside, third, end);
}

static void place_cranks(const kk_model *model, double *q, double *v) {
    (void)model;
    for (int i = 0; i < 4; i++) {
        q[i] = i == 1 ? -0.7 : 0.7;
        v[i] = i == 1 ? -6 : 6;
    }
}

static void build_chain(kk_spec *spec) {
    robots_chain(spec, 6, NULL);
    kk_spec_options(spec)->integrator = KK_INTEGRATOR_RK4;
}

static void place_chain(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nv(model); i++) {
        q[i] = 0.3 + 0.1 * i;
        v[i] = 0.5;
    }
}

/// Painlevé's.
static void build_rod(kk_spec *spec) {
    const int material = add_floor(spec, 1.5, 0);
    add_free(spec, KK_SHAPE_BOX, 1, kk_vec3_make(0.002, 0.05, 1), material);
}

static void place_rod(const kk_model *model, double *q, double *v) {
    (void)model;
    const double lean = -0.6, c = kk_cos(lean), t = kk_sin(lean);
    const kk_quat turned = kk_quat_exp(kk_vec3_make(0, lean, 0));
    memcpy(q, &turned, sizeof turned);
    q[6] = 0.5 * c + 0.001 * t;
    v[3] = 3 * c;
    v[5] = 3 * t;
}

typedef struct run {
    const char *name;
    double dt;
    void (*build)(kk_spec *spec);
    void (*place)(const kk_model *model, double *q, double *v);
} run;

static const run runs[] = {
    {"heap", 2e-3, build_heap, place_heap},
    {"bounce", 2e-3, build_bounce, place_heap},
    {"marbles", 1e-3, build_marbles, place_marbles},
    {"tower", 5e-3, build_tower, place_tower},
    {"slabs", 2e-3, build_slabs, place_slabs},
    {"shots", 5e-3, build_shots, place_shots},
    {"quadruped", 1e-3, build_quadruped, place_robot},
    {"humanoid", 1e-3, build_humanoid, place_humanoid},
    {"foot", 1e-3, build_foot, place_foot},
    {"linkage", 1e-3, build_linkage, place_linkage},
    {"cranks", 1e-3, build_cranks, place_cranks},
    {"chain", 1e-3, build_chain, place_chain},
    {"rod", 1e-3, build_rod, place_rod},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

// ---- running

/// Kernels of one kind for everything; −1: what the library picks.
static void use_kernels(kk_simulator *s, int wide) {
    if (wide < 0) {
        return;
    }
    for (int i = 0; kki_kernels_at(i); i++) { // the first one-robot set is plain, the last is the widest
        const kki_kernels *k = kki_kernels_at(i);
        if (k->lanes == 1) {
            s->data->kernels = k;
            if (!wide) {
                break;
            }
        }
    }
    const kki_dense_kernels *dense = kki_dense_kernels_at(wide);
    const struct kki_sparse_kernels *sparse = kki_sparse_kernels_at(wide);
    s->workers.scratch->solver.kernels = dense ? dense : s->workers.scratch->solver.kernels;
    s->workers.scratch->sparse.solver.kernels = sparse ? sparse : s->workers.scratch->sparse.solver.kernels;
}

typedef struct motion {
    kk_state *state;
    kk_simulator *simulator;
} motion;

/// @param room  0: next to none, so that steps have to make it
static int begin(const run *r, const kk_model *model, int wide, const kk_workers *workers, int room, motion *x) {
    kk_step_options options = {.timestep = r->dt};
    if (workers) {
        options.workers = *workers;
    }
    const int good = kk_state_create(model, NULL, &x->state) == KK_OK &&
                     kk_simulator_create(model, &options, NULL, &x->simulator, NULL) == KK_OK &&
                     (room || rooms_take_away(x->simulator) == KK_OK);
    if (good) {
        use_kernels(x->simulator, wide);
        r->place(model, kk_state_q(x->state), kk_state_v(x->state));
    }
    return good;
}

static void end(motion *x) {
    kk_simulator_free(x->simulator);
    kk_state_free(x->state);
}

/// The state by way of its saved bytes.
static int hand_over(const kk_state *from, kk_state *to) {
    const size_t size = kk_state_saved_size(from);
    void *bytes = malloc(size);
    const int good =
        bytes && kk_state_save(from, bytes, size) == KK_OK && kk_state_restore(to, bytes, size, NULL) == KK_OK;
    free(bytes);
    return good;
}

static uint64_t step_both(const run *r, const kk_model *model, int steps, motion *one, motion *other) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < steps; i++) {
        if (kk_random_uniform_at(7, (uint64_t)(r - runs), (uint64_t)i) * steps < RESTORES &&
            !hand_over(one->state, other->state)) {
            return 1;
        }
        kk_error error = {.status = KK_OK};
        if (kk_step(model, one->state, one->simulator, NULL, &error) != KK_OK) {
            fprintf(stderr, "%s, step %d: %s\n", r->name, i, error.text);
            return 2;
        }
        if (kk_step(model, other->state, other->simulator, NULL, &error) != KK_OK ||
            !kk_state_equal(one->state, other->state)) {
            return 1;
        }
        hash = (hash ^ kk_state_hash(one->state)) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t hash_of(const run *r, int steps, int wide, const kk_workers *workers) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    motion one = {0}, other = {0};
    uint64_t hash = 2;
    kk_error error = {.status = KK_OK};
    if (kk_spec_create(NULL, &spec) == KK_OK) {
        r->build(spec);
        if (kk_model_compile(spec, NULL, &model, &error) != KK_OK) {
            fprintf(stderr, "%s: %s\n", r->name, error.text);
        } else if (begin(r, model, wide, workers, 1, &one) && begin(r, model, wide, NULL, 0, &other)) {
            hash = step_both(r, model, steps, &one, &other);
        }
    }
    end(&one);
    end(&other);
    kk_model_free(model);
    kk_spec_free(spec);
    return hash;
}

/// False where the run failed.
static int print(const run *r, const char *how, uint64_t hash) {
    printf("run-%s %s %016llx\n", r->name, how, (unsigned long long)hash);
    fflush(stdout);
    return hash > 2;
}

// ---- threads

#ifndef __wasm__
static int run_on_threads(int steps, int count) {
    pool *threads = calloc(1, sizeof *threads);
    char name[16];
    int good = threads != NULL;
    if (good) {
        const kk_workers workers = pool_open(threads, count);
        snprintf(name, sizeof name, "threads%d", count);
        for (int i = 0; i < RUNS; i++) {
            good &= print(&runs[i], name, hash_of(&runs[i], steps, -1, &workers));
        }
        pool_close(threads);
    }
    free(threads);
    return good;
}
#endif

int main(int argc, char **argv) {
    const int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 40;
    int good = 1;
    for (int i = 0; i < RUNS; i++) {
        good &= print(&runs[i], "plain", hash_of(&runs[i], steps, 0, NULL));
        if (kki_dense_kernels_at(1)) {
            good &= print(&runs[i], "wide", hash_of(&runs[i], steps, 1, NULL));
        }
    }
#ifndef __wasm__
    for (int count = 1; count <= 8; count *= count == 2 ? 4 : 2) {
        good &= run_on_threads(steps, count);
    }
#endif
    return good ? 0 : 1;
}
