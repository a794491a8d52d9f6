// Prints one line `scene variant hash` for every scene and every kernel variant that this machine can run.
//
// tests/determinism/run.py builds this program with every compiler, optimization level and target it finds and compares the lines:
// a scene has one hash, whoever computed it. To add a scene, write a function and put it into a table, or a model and print_dynamics it.
#include <karakuri/karakuri.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collision/impact.h"
#include "dynamics/kernels/kernels.h"
#include "geometry/convex.h"
#include "geometry/hull.h"
#include "support/everything.h"
#include "support/states.h"

// FNV-1a over the bits of doubles, low byte first. The result does not depend on the machine's byte order.
typedef struct hasher {
    uint64_t value;
} hasher;

static hasher hasher_new(void) {
    return (hasher){0xcbf29ce484222325u};
}

static void hash_double(hasher *h, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x == 0.0) {
        bits = 0; // -0 and 0 are one value
    } else if (x != x) {
        bits = 0x7ff8000000000000u; // the payload of a NaN is the machine's own
    }
    for (int i = 0; i < 8; i++) {
        h->value = (h->value ^ ((bits >> (8 * i)) & 0xff)) * 0x100000001b3u;
    }
}

// ---- scenes ----------------------------------------------------------------------------------------------------------

// The compiler alone: Lorenz' system doubles an error in less than a second, so one contracted or reassociated operation, one extra
// bit of precision or one flushed denormal shows in the hash.
static uint64_t scene_arithmetic(void) {
    hasher h = hasher_new();
    double x = 1.0, y = 1.0, z = 1.0, tiny = 1.0;
    const double dt = 1.0 / 512.0;
    for (int i = 0; i < 20000; i++) {
        const double dx = 10.0 * (y - x);
        const double dy = x * (28.0 - z) - y;
        const double dz = x * y - 8.0 / 3.0 * z;
        x += dt * dx;
        y += dt * dy;
        z += dt * dz;
        tiny = tiny > 0.0 ? tiny * 0.7 : 1.0 / (1.0 + x * x);
        hash_double(&h, x);
        hash_double(&h, y / z);
        hash_double(&h, __builtin_sqrt(x * x + y * y + z * z));
        hash_double(&h, tiny);
    }
    return h.value;
}

// Arguments of all sizes and signs, the special ones included: 64 random bits are a double, whatever they are.
static double any_double(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const uint64_t bits = *state ^ (*state >> 29);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t hash_of_function(double (*function)(double), double scale) {
    hasher h = hasher_new();
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        const double x = any_double(&state);
        hash_double(&h, function(x));
        hash_double(&h, function(scale * (i - 10000) / 10000.0));
    }
    return h.value;
}

static uint64_t hash_of_function2(double (*function)(double, double)) {
    hasher h = hasher_new();
    uint64_t state = 2;
    for (int i = 0; i < 20000; i++) {
        const double x = any_double(&state), y = any_double(&state);
        hash_double(&h, function(x, y));
        hash_double(&h, function(x, (i - 10000) / 1000.0));
        hash_double(&h, function(i / 1000.0, (i - 10000) / 77.0));
    }
    return h.value;
}

static uint64_t scene_sin(void) {
    return hash_of_function(kk_sin, 100.0);
}

static uint64_t scene_cos(void) {
    return hash_of_function(kk_cos, 100.0);
}

static uint64_t scene_tan(void) {
    return hash_of_function(kk_tan, 100.0);
}

static uint64_t scene_asin(void) {
    return hash_of_function(kk_asin, 1.0);
}

static uint64_t scene_acos(void) {
    return hash_of_function(kk_acos, 1.0);
}

static uint64_t scene_atan(void) {
    return hash_of_function(kk_atan, 10.0);
}

static uint64_t scene_exp(void) {
    return hash_of_function(kk_exp, 750.0);
}

static uint64_t scene_log(void) {
    return hash_of_function(kk_log, 10.0);
}

static uint64_t scene_atan2(void) {
    return hash_of_function2(kk_atan2);
}

static uint64_t scene_pow(void) {
    return hash_of_function2(kk_pow);
}

static uint64_t scene_hypot(void) {
    return hash_of_function2(kk_hypot);
}

static uint64_t scene_fmod(void) {
    return hash_of_function2(kk_fmod);
}

static uint64_t scene_rounding(void) {
    return hash_of_function(kk_floor, 10.0) ^ 3 * hash_of_function(kk_ceil, 10.0) ^
           5 * hash_of_function(kk_trunc, 10.0) ^ 7 * hash_of_function(kk_round, 10.0);
}

static kk_vec3 random_point(kk_random *random) {
    const double x = kk_random_next_between(random, -1, 1), y = kk_random_next_between(random, -1, 1);
    return kk_vec3_make(x, y, kk_random_next_between(random, -1, 1));
}

static void hash_vector(hasher *h, kk_vec3 v) {
    hash_double(h, v.x);
    hash_double(h, v.y);
    hash_double(h, v.z);
}

static void hash_pair(hasher *h, const kki_shape *a, const kki_shape *b, kk_random *random) {
    kki_pair_memory memory = {0};
    kki_moving m = {.shape = a, .X_WS = kk_transform_identity()}, n = {.shape = b, .X_WS = kk_transform_identity()};
    // one after the other: the order within a list of initial values is the compiler's choice
    m.velocity.angular = random_point(random);
    m.velocity.linear = random_point(random);
    n.velocity.angular = random_point(random);
    n.velocity.linear = random_point(random);
    n.X_WS.p = kk_vec3_scale(random_point(random), 2);
    for (int step = 0; step < 10; step++) { // with memory from step to step
        const kk_transform X_WA = kki_moving_pose(&m, 0.02 * step), X_WB = kki_moving_pose(&n, 0.02 * step);
        kki_manifold found = {.count = 0};
        (void)kki_collide(a, &X_WA, b, &X_WB, 0.1, &memory, &found, 1);
        for (int i = 0; i < found.count; i++) {
            hash_vector(h, found.normal);
            hash_vector(h, found.point[i].position);
            hash_double(h, found.point[i].gap);
            hash_double(h, (double)(found.point[i].feature >> 11));
        }
    }
    kki_impact impact = {.time = 0};
    (void)kki_impact_find(&m, &n, 1, 0, &impact);
    hash_double(h, impact.time);
    hash_double(h, impact.at.distance);
}

// Contacts, distances and impacts of all convex pairs.
static uint64_t scene_convex(void) {
    hasher h = hasher_new();
    kk_random random = {9, 1, 0};
    kk_vec3 point[60];
    kki_mesh *mesh = NULL;
    kki_convex *hull = NULL;
    for (int i = 0; i < 60; i++) {
        point[i] = random_point(&random);
    }
    if (kki_hull_of_points(point, 60, NULL, NULL, &mesh, NULL) == KK_OK &&
        kki_convex_create(mesh, NULL, &hull, NULL) == KK_OK) {
        for (int round = 0; round < 400; round++) {
            const int ta = round % 8, tb = 1 + round / 8 % 7;
            const kki_shape a = {.type = ta, .half = {0.5, 0.7, 0.9}, .convex = hull};
            const kki_shape b = {.type = tb, .half = {0.8, 0.6, 0.4}, .convex = hull, .margin = round % 3 ? 0 : 0.1};
            hash_pair(&h, &a, &b, &random);
        }
    }
    kki_convex_free(hull);
    kki_mesh_free(mesh);
    return h.value;
}

// ---- steps with contacts

static int add_thing(kk_spec *spec, kk_shape_type type, double mass, double x, double y, double z, int material) {
    char name[32];
    kk_body_def body = kk_body_def_default();
    kk_shape_def shape = kk_shape_def_default();
    snprintf(name, sizeof name, "body%d", kk_spec_body_count(spec));
    body.name = name;
    body.joint.type = KK_JOINT_FREE;
    body.inertia = type == KK_SHAPE_BOX ? kk_inertia_solid_box(mass, x, y, z) : kk_inertia_solid_sphere(mass, x);
    kk_spec_add_body(spec, &body, &shape.body, NULL);
    shape.type = type;
    shape.size[0] = x;
    shape.size[1] = y;
    shape.size[2] = z;
    shape.material = material;
    kk_spec_add_shape(spec, &shape, NULL, NULL);
    return shape.body;
}

// Steps the spec, which is freed, and hashes the state behind every tenth step; 1 where a step fails.
static uint64_t hash_steps_by(kk_solver solver, kk_spec *spec, double dt, int steps,
                              void (*place)(const kk_model *, double *, double *)) {
    hasher h = hasher_new();
    kk_model *model = NULL;
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    const kk_step_options options = {.solver = solver, .timestep = dt};
    int good = kk_model_compile(spec, NULL, &model, NULL) == KK_OK && kk_state_create(model, NULL, &state) == KK_OK &&
               kk_simulator_create(model, &options, NULL, &simulator, NULL) == KK_OK;
    if (good) {
        place(model, kk_state_q(state), kk_state_v(state));
    }
    for (int i = 0; i < steps && good; i++) {
        good = kk_step(model, state, simulator, NULL, NULL) == KK_OK;
        for (int k = 0; good && i % 10 == 0 && k < kk_model_nq(model); k++) {
            hash_double(&h, kk_state_q(state)[k]);
        }
    }
    for (int k = 0; good && k < kk_model_nv(model); k++) {
        hash_double(&h, kk_state_v(state)[k]);
    }
    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(model);
    kk_spec_free(spec);
    return good ? h.value : 1;
}

static uint64_t hash_steps(kk_spec *spec, double dt, int steps, void (*place)(const kk_model *, double *, double *)) {
    return hash_steps_by(KK_SOLVER_EXACT, spec, dt, steps, place);
}

static kk_spec *spec_with_floor(double friction, double restitution, int *material) {
    kk_spec *spec = NULL;
    kk_material_def def = kk_material_def_default();
    kk_shape_def floor = kk_shape_def_default();
    kk_spec_create(NULL, &spec);
    def.friction = friction;
    def.restitution = restitution;
    kk_spec_add_material(spec, &def, material, NULL);
    floor.type = KK_SHAPE_PLANE;
    floor.material = *material;
    kk_spec_add_shape(spec, &floor, NULL, NULL);
    return spec;
}

static void place_heap(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nbody(model) - 1; i++) {
        q[7 * i + 4] = 0.03 * (i % 4);
        q[7 * i + 5] = 0.02 * (i % 3);
        q[7 * i + 6] = 0.2 + 0.18 * i;
        v[6 * i + i % 3] = 0.5 * i;
    }
}

static kk_spec *spec_of_heap(void) {
    int material = 0;
    kk_spec *spec = spec_with_floor(0.5, 0, &material);
    for (int i = 0; i < 6; i++) {
        add_thing(spec, KK_SHAPE_BOX, 1 + i, 0.2, 0.3, 0.1, material);
    }
    return spec;
}

// boxes fall on each other, slide, topple and come to rest
static uint64_t scene_heap(void) {
    return hash_steps(spec_of_heap(), 2e-3, 1000, place_heap);
}

// the same by the papers' methods
static uint64_t scene_openhrp(void) {
    return hash_steps_by(KK_SOLVER_OPENHRP, spec_of_heap(), 2e-3, 300, place_heap);
}

static uint64_t scene_springhead(void) {
    return hash_steps_by(KK_SOLVER_SPRINGHEAD, spec_of_heap(), 2e-3, 300, place_heap);
}

static uint64_t scene_kuroda(void) {
    return hash_steps_by(KK_SOLVER_KURODA, spec_of_heap(), 2e-3, 300, place_heap);
}

static void place_tower(const kk_model *model, double *q, double *v) {
    for (int i = 0; i < kk_model_nbody(model) - 1; i++) {
        const int layer = i / 3;
        const double across = 0.09 * (i % 3 - 1) + 0.003 * layer;
        q[7 * i + 4] = layer % 2 ? across : 0;
        q[7 * i + 5] = layer % 2 ? 0 : across;
        q[7 * i + 6] = 0.02 + 0.04 * layer;
        v[6 * i + 3] = i == 17 ? 0.02 : 0;
    }
}

// six layers of three planks: an island for the sparse solver
static uint64_t scene_tower(void) {
    int material = 0;
    kk_spec *spec = spec_with_floor(0.6, 0, &material);
    for (int i = 0; i < 18; i++) {
        const double x = i / 3 % 2 ? 0.06 : 0.24;
        add_thing(spec, KK_SHAPE_BOX, 0.2, x, 0.3 - x, 0.04, material);
    }
    return hash_steps(spec, 5e-3, 60, place_tower);
}

// balls bounce on the floor and on each other
static uint64_t scene_bounce(void) {
    int material = 0;
    kk_spec *spec = spec_with_floor(0.3, 0.7, &material);
    for (int i = 0; i < 6; i++) {
        add_thing(spec, KK_SHAPE_SPHERE, 1, 0.06 + 0.01 * i, 0, 0, material);
    }
    return hash_steps(spec, 2e-3, 1000, place_heap);
}

// ---- tendons round obstacles, a muscle, armature, a held length, a delay

static int add_link(kk_spec *spec, const char *name, int parent, double x) {
    kk_body_def body = kk_body_def_default();
    int id = 0;
    body.name = name;
    body.parent = parent;
    body.joint.axis = kk_vec3_make(0, 1, 0.1);
    body.joint.placement.p = kk_vec3_make(x, 0, 0);
    body.inertia = kk_inertia_solid_box(1, 0.3, 0.04, 0.04);
    body.inertia.com = kk_vec3_make(0.15, 0, 0);
    kk_spec_add_body(spec, &body, &id, NULL);
    return id;
}

static void add_place(kk_spec *spec, const char *name, int body, double x, double y, double z) {
    kk_frame_def def = kk_frame_def_default();
    def.name = name;
    def.body = body;
    def.placement.p = kk_vec3_make(x, y, z);
    kk_spec_add_frame(spec, &def, NULL, NULL);
}

static void add_obstacle(kk_spec *spec, const char *name, kk_shape_type type, double z) {
    kk_shape_def def = kk_shape_def_default();
    def.name = name;
    def.type = type;
    def.size[0] = 0.06;
    def.size[1] = 0.2;
    def.purpose = KK_SHAPE_VISIBLE;
    def.placement.R = kk_mat3_from_axis_angle(kk_vec3_make(1, 0, 0), 1.5);
    def.placement.p = kk_vec3_make(0.12, 0, z);
    kk_spec_add_shape(spec, &def, NULL, NULL);
}

static void add_cord(kk_spec *spec, const char *name, const char *round, const char *side, double armature) {
    const kk_tendon_item item[3] = {{.name = "hook"}, {.wrap = round, .side = side}, {.name = "end"}};
    kk_tendon_def def = kk_tendon_def_default();
    def.name = name;
    def.type = KK_TENDON_SPATIAL;
    def.item = item;
    def.item_count = 3;
    def.stiffness = 20;
    def.rest_lower = 0.3;
    def.rest_upper = 0.4;
    def.armature = armature;
    kk_spec_add_tendon(spec, &def, NULL, NULL);
}

static void add_drives(kk_spec *spec) {
    kk_actuator_def muscle = kk_actuator_def_default(), late = kk_actuator_def_default();
    muscle.type = KK_ACTUATOR_MUSCLE;
    muscle.activation = KK_ACTIVATION_MUSCLE;
    muscle.transmission = KK_TRANSMISSION_TENDON;
    muscle.target = "over";
    muscle.muscle.force = 40;
    muscle.muscle.length_lower = 0.2;
    muscle.muscle.length_upper = 0.8;
    muscle.muscle.smoothing = 0.2;
    late.target = "fore_joint";
    late.delay = 0.02;
    late.delay_samples = 10;
    late.delay_interpolation = KK_DELAY_CUBIC;
    kk_spec_add_actuator(spec, &muscle, NULL, NULL);
    kk_spec_add_actuator(spec, &late, NULL, NULL);
}

static uint64_t scene_muscle(void) {
    hasher h = hasher_new();
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    const kk_step_options options = {.timestep = 2e-3};
    kk_spec_create(NULL, &spec);
    const int upper = add_link(spec, "upper", KK_WORLD, 0), fore = add_link(spec, "fore", upper, 0.3);
    add_place(spec, "hook", KK_WORLD, -0.2, 0.02, 0.1);
    add_place(spec, "top", KK_WORLD, 0.12, 0, 0.6);
    add_place(spec, "inside", KK_WORLD, 0.12, 0.01, -0.19);
    add_place(spec, "end", fore, 0.2, 0, 0.03);
    add_obstacle(spec, "drum", KK_SHAPE_CYLINDER, 0.05);
    add_obstacle(spec, "ring", KK_SHAPE_SPHERE, -0.2);
    add_cord(spec, "over", "drum", "top", 0.5);
    add_cord(spec, "through", "ring", "inside", 0);
    add_drives(spec);
    int good = kk_model_compile(spec, NULL, &model, NULL) == KK_OK && kk_state_create(model, NULL, &state) == KK_OK &&
               kk_simulator_create(model, &options, NULL, &simulator, NULL) == KK_OK;
    for (int i = 0; i < 500 && good; i++) {
        const double control[2] = {i % 100 < 50 ? 0.8 : 0.1, 0.3 * (i % 7)};
        const kk_input input = {.control = control};
        good = kk_step(model, state, simulator, &input, NULL) == KK_OK;
        for (int k = 0; good && i % 10 == 0 && k < kk_model_nq(model); k++) {
            hash_double(&h, kk_state_q(state)[k]);
        }
    }
    for (int k = 0; good && k < kk_model_nactivation(model); k++) {
        hash_double(&h, kk_state_activation(state)[k]);
    }
    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(model);
    kk_spec_free(spec);
    return good ? h.value : 1;
}

typedef struct plain_scene {
    const char *name;
    uint64_t (*run)(void);
} plain_scene;

static const plain_scene plain_scenes[] = {
    {"arithmetic", scene_arithmetic},
    {"sin", scene_sin},
    {"cos", scene_cos},
    {"tan", scene_tan},
    {"asin", scene_asin},
    {"acos", scene_acos},
    {"atan", scene_atan},
    {"atan2", scene_atan2},
    {"exp", scene_exp},
    {"log", scene_log},
    {"pow", scene_pow},
    {"hypot", scene_hypot},
    {"fmod", scene_fmod},
    {"rounding", scene_rounding},
    {"convex", scene_convex},
    {"heap", scene_heap},
    {"bounce", scene_bounce},
    {"openhrp", scene_openhrp},
    {"springhead", scene_springhead},
    {"kuroda", scene_kuroda},
    {"tower", scene_tower},
    {"muscle", scene_muscle},
};

// ---- dynamics: every scene on every kernel variant

static void print(const char *scene, const char *part, const char *variant, uint64_t hash) {
    printf("%s%s %s %016llx\n", scene, part, variant, (unsigned long long)hash);
}

static void hash_doubles(hasher *h, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        hash_double(h, x[i]);
    }
}

/// All algorithms for one robot, many states, one after the other.
static uint64_t hash_of_algorithms(scene *s, const kki_kernels *kernels) {
    hasher h = hasher_new();
    scene_use_kernels(s, kernels);
    for (int i = 0; i < 2 * STATE_KINDS; i++) {
        states_set(s, i % STATE_KINDS, (uint64_t)i);
        const results r = everything(s);
        hash_doubles(&h, r.start, r.count);
    }
    return h.value;
}

/// Accelerations thrown back into the state, so that one bit of difference grows.
static uint64_t hash_of_motion(scene *s, kk_batch *batch, kk_batch_layout layout) {
    enum { COUNT = 11, STEPS = 20 };
    hasher h = hasher_new();
    const size_t nq = (size_t)s->nq, nv = (size_t)s->nv, poses = 12 * (size_t)s->nbody;
    double *q = scene_take(s, COUNT * nq), *v = scene_take(s, COUNT * nv), *a = scene_take(s, COUNT * nv);
    double *tau = scene_take(s, COUNT * nv), *M = scene_take(s, COUNT * nv * nv), *X = scene_take(s, COUNT * poses);
    double *one_q = scene_take(s, nq), *one_v = scene_take(s, nv);
    const int by_state = layout == KK_BY_STATE;
    for (size_t k = 0; k < COUNT; k++) {
        states_set(s, (int)(k % STATE_KINDS), k);
        for (size_t i = 0; i < nq; i++) {
            q[by_state ? k * nq + i : i * COUNT + k] = s->q[i];
        }
        for (size_t i = 0; i < nv; i++) {
            v[by_state ? k * nv + i : i * COUNT + k] = s->v[i];
            tau[by_state ? k * nv + i : i * COUNT + k] = s->tau[i];
        }
    }
    for (int step = 0; step < STEPS; step++) {
        kk_batch_forward_dynamics(s->model, batch, layout, COUNT, q, v, tau, a);
        kk_batch_inverse_dynamics(s->model, batch, layout, COUNT, q, v, a, tau);
        kk_batch_inertia_matrix(s->model, batch, layout, COUNT, q, M);
        kk_batch_kinematics(s->model, batch, layout, COUNT, q, X);
        for (size_t k = 0; k < COUNT; k++) { // hashed state by state, so that both layouts hash alike
            for (size_t i = 0; i < nv; i++) {
                const size_t at = by_state ? k * nv + i : i * COUNT + k;
                v[at] += a[at] / 1024;
                one_v[i] = v[at] / 1024;
                hash_double(&h, a[at]);
                hash_double(&h, tau[at]);
            }
            for (size_t i = 0; i < nv * nv; i++) {
                hash_double(&h, M[by_state ? k * nv * nv + i : i * COUNT + k]);
            }
            for (size_t i = 0; i < poses; i++) {
                hash_double(&h, X[by_state ? k * poses + i : i * COUNT + k]);
            }
            for (size_t i = 0; i < nq; i++) {
                one_q[i] = q[by_state ? k * nq + i : i * COUNT + k];
            }
            kk_integrate(s->model, one_q, one_v, one_q);
            for (size_t i = 0; i < nq; i++) {
                q[by_state ? k * nq + i : i * COUNT + k] = one_q[i];
            }
        }
    }
    return h.value;
}

static void print_dynamics(const char *name, scene *s) {
    kk_batch *batch = NULL;
    if (kk_batch_create(s->model, NULL, &batch) != KK_OK) {
        return;
    }
    for (int i = 0; kki_kernels_at(i); i++) {
        const kki_kernels *kernels = kki_kernels_at(i);
        if (kernels->lanes == 1) {
            print(name, "", kernels->name, hash_of_algorithms(s, kernels));
        }
        if (kk_batch_choose(batch, kernels->name) == KK_OK) {
            // two lines would be one scene with two answers if the layouts differed
            const uint64_t by_state = hash_of_motion(s, batch, KK_BY_STATE);
            const uint64_t by_coordinate = hash_of_motion(s, batch, KK_BY_COORDINATE);
            print(name, "_moving", kernels->name, by_state == by_coordinate ? by_state : 0);
        }
    }
    kk_batch_free(batch);
}

int main(void) {
    static const char *const robots[] = {"arm7", "quadruped", "humanoid36"};
    for (size_t i = 0; i < sizeof plain_scenes / sizeof plain_scenes[0]; i++) {
        print(plain_scenes[i].name, "", "scalar", plain_scenes[i].run());
    }
    for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
        scene s = scene_robot(robots[i], 1);
        print_dynamics(robots[i], &s);
        scene_free(&s);
    }
    static const uint64_t forests[] = {2, 4, 5, 8}; // every joint type
    for (size_t i = 0; i < sizeof forests / sizeof forests[0]; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "forest%d", (int)forests[i]);
        scene s = scene_forest(forests[i]);
        print_dynamics(name, &s);
        scene_free(&s);
    }
    return 0;
}
