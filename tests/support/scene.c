// Scenes for tests of the dynamics.
#include "support/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/data.h"

typedef struct scene_block {
    struct scene_block *next;
    double value[];
} scene_block;

double *scene_take(scene *s, size_t n) {
    scene_block *block = calloc(1, sizeof *block + n * sizeof(double));
    if (!block) {
        abort();
    }
    block->next = s->blocks;
    s->blocks = block;
    return block->value;
}

kk_force *scene_take_forces(scene *s, size_t n) {
    return (kk_force *)(void *)scene_take(s, 6 * n);
}

static void draw(double *x, size_t n, double reach, uint64_t seed, uint64_t stream) {
    for (size_t i = 0; i < n; i++) {
        x[i] = reach * (2 * kk_random_uniform_at(seed, stream, i) - 1);
    }
}

double *scene_take_random(scene *s, size_t n, double reach, uint64_t stream) {
    double *x = scene_take(s, n);
    draw(x, n, reach, s->seed, stream);
    return x;
}

void scene_draw(scene *s, uint64_t stream) {
    const size_t nv = (size_t)s->nv;
    kk_model_random_q(s->model, s->seed, stream, s->q);
    draw(s->v, nv, 1, s->seed, 1000 + 4 * stream);
    draw(s->a, nv, 5, s->seed, 1001 + 4 * stream);
    draw(s->tau, nv, 10, s->seed, 1002 + 4 * stream);
    draw((double *)s->external, 6 * (size_t)s->nbody, 10, s->seed, 1003 + 4 * stream);
}

scene scene_of(kk_spec *spec, uint64_t seed) {
    scene s = {.seed = seed, .spec = spec};
    kk_error error = {0};
    if (kk_model_compile(spec, NULL, &s.model, &error) != KK_OK || kk_data_create(s.model, NULL, &s.data) != KK_OK) {
        KK_FAIL("scene %llu: %s", (unsigned long long)seed, error.text);
        abort(); // no test can go on without its scene
    }
    s.nq = kk_model_nq(s.model);
    s.nv = kk_model_nv(s.model);
    s.nbody = kk_model_nbody(s.model);
    s.q = scene_take(&s, (size_t)s.nq);
    s.v = scene_take(&s, (size_t)s.nv);
    s.a = scene_take(&s, (size_t)s.nv);
    s.tau = scene_take(&s, (size_t)s.nv);
    s.external = scene_take_forces(&s, (size_t)s.nbody);
    scene_draw(&s, 0);
    return s;
}

static kk_spec *new_spec(void) {
    kk_spec *spec = NULL;
    if (kk_spec_create(NULL, &spec) != KK_OK) {
        abort();
    }
    return spec;
}

scene scene_forest(uint64_t seed) {
    kk_spec *spec = new_spec();
    robots_forest_def def = robots_forest_def_default();
    def.bodies = 1 + (int)(seed * 7 % 20);
    def.roots = 1 + (int)(seed % 3) % def.bodies;
    if (seed % 3 == 0) { // one joint type alone, with fixed links between
        def.joint_types = 1u << KK_JOINT_FIXED | 1u << (1 + seed / 3 % KK_JOINT_FREE);
    }
    def.aligned_axes = seed % 4 == 1;
    def.turned = seed % 5 != 1;
    def.offsets = seed % 7 != 1;
    def.armature = seed % 2 == 1;
    kk_error error = {0};
    if (robots_random_forest(spec, seed, &def, &error) != KK_OK) {
        KK_FAIL("forest %llu: %s", (unsigned long long)seed, error.text);
    }
    double g[3];
    draw(g, 3, 9.81, seed, 77);
    kk_spec_set_gravity(spec, kk_vec3_make(g[0], g[1], g[2]));
    return scene_of(spec, seed);
}

scene scene_robot(const char *name, uint64_t seed) {
    kk_spec *spec = new_spec();
    KK_CHECK_EQ_INT(robots_find(name)->build(spec, NULL), KK_OK);
    return scene_of(spec, seed);
}

static int add_hinge(kk_spec *spec, int parent, int number, kk_vec3 axis, kk_vec3 arm, double armature) {
    kk_body_def body = kk_body_def_default();
    char name[8] = {'h', (char)('0' + number / 100), (char)('0' + number / 10 % 10), (char)('0' + number % 10), 0};
    int id = 0;
    body.name = name;
    body.parent = parent;
    body.joint.axis = axis;
    body.joint.placement.p = arm;
    body.joint.dof[0].armature = armature;
    body.inertia = kk_inertia_to(kk_transform_translation(0.02 * (number % 5), 0.03, -0.05),
                                 kk_inertia_solid_box(1 + 0.1 * number, 0.1, 0.2, 0.3));
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &id, NULL), KK_OK);
    return id;
}

scene scene_alignments(uint64_t seed) {
    static const kk_vec3 axis[] = {{0, 1, 0},  {0, 0, 1},     {0, -1, 0},    {1, 0, 0},        {-1, 0, 0},
                                   {0, 0, -1}, {0, 0.6, 0.8}, {0.6, 0, 0.8}, {0.48, 0.6, 0.64}};
    kk_spec *spec = new_spec();
    kk_body_def base = kk_body_def_default();
    int root = 0, number = 0;
    base.name = "base";
    base.joint.type = KK_JOINT_FREE;
    base.inertia = kk_inertia_solid_box(5, 0.3, 0.4, 0.5);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &base, &root, NULL), KK_OK);
    for (int variant = 0; variant < 8; variant++) {
        const double armature = variant & 1 ? 0.1 : 0;
        const kk_vec3 arm = variant & 2 ? kk_vec3_make(0.1, -0.2, 0.3) : kk_vec3_make(0, 0, 0);
        const int limb = add_hinge(spec, root, number++, kk_vec3_make(0, 0, 1), kk_vec3_make(0.1, 0.1, 0), armature);
        for (int first = 0; first < 9; first++) {
            const int k = variant & 4 ? 8 - first : first; // the last hinge added is the first to be aligned
            const int link = add_hinge(spec, limb, number++, axis[k], arm, armature);
            add_hinge(spec, link, number++, kk_vec3_make(0, 0, 1), arm, 0);
        }
    }
    return scene_of(spec, seed);
}

void scene_free(scene *s) {
    kk_data_free(s->data);
    kk_model_free(s->model);
    kk_spec_free(s->spec);
    while (s->blocks) {
        scene_block *block = s->blocks;
        s->blocks = block->next;
        free(block);
    }
}

static size_t size_of_scratch(const kk_model *m, const kki_kernels *kernels) {
    kki_scratch scratch = {.has_matrices = 1};
    kki_layout layout = kki_layout_over(NULL);
    kernels->place(&layout, m, &scratch);
    return layout.size;
}

// the data is made for the best variant, whose elements are the largest: the others find room in it
void scene_use_kernels(scene *s, const kki_kernels *kernels) {
    kk_data_free(s->data);
    s->data = NULL;
    KK_CHECK_EQ_INT(kk_data_create(s->model, NULL, &s->data), KK_OK);
    KK_CHECK_EQ_INT(kernels->lanes, 1);
    KK_CHECK(size_of_scratch(s->model, kernels) <= size_of_scratch(s->model, s->data->kernels));
    s->data->kernels = kernels;
    kernels->fill(s->model, &s->data->scratch); // constants lie differently in each shape
}

int scene_count(void) {
    return kk_test_is_quick() ? 100 : 1000;
}

// ---- mechanics by first principles

void scene_unit_velocities(scene *s, const double *q, int dof, kk_motion *V) {
    double *unit = scene_take(s, (size_t)s->nv);
    unit[dof] = 1;
    kk_kinematics_velocity(s->model, s->data, q, unit);
    for (int b = 0; b < s->nbody; b++) {
        V[b] = kk_body_velocity(s->model, s->data, b, KK_WORLD_ORIGIN);
    }
}

void scene_rate(scene *s, double step, scene_function f, size_t n, double *out) {
    static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double *q = scene_take(s, (size_t)s->nq), *v = scene_take(s, (size_t)s->nv), *side = scene_take(s, n);
    memset(out, 0, n * sizeof *out);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) {
            continue;
        }
        for (int i = 0; i < s->nv; i++) {
            v[i] = k * step * s->v[i];
        }
        kk_integrate(s->model, s->q, v, q);
        for (int i = 0; i < s->nv; i++) {
            v[i] = s->v[i] + k * step * s->a[i];
        }
        f(s, q, v, side);
        for (size_t i = 0; i < n; i++) {
            out[i] += (k < 0 ? -1 : 1) * weight[abs(k) - 1] * side[i] / step;
        }
    }
}

kk_force scene_body_momentum(const scene *s, int body) {
    const kk_motion V = kk_body_velocity(s->model, s->data, body, KK_LOCAL);
    return kk_force_to(kk_body_pose(s->model, s->data, body), kk_inertia_mul(kk_model_body_inertia(s->model, body), V));
}

kk_force scene_body_load(const scene *s, int body) {
    const kk_transform X = kk_body_pose(s->model, s->data, body);
    const kk_inertia I = kk_model_body_inertia(s->model, body);
    const kk_motion V = kk_body_velocity(s->model, s->data, body, KK_LOCAL);
    kk_motion A = kk_body_acceleration(s->model, s->data, body, KK_LOCAL);
    A.linear = kk_vec3_sub(A.linear, kk_mat3_tmul_vec(X.R, kk_model_gravity(s->model)));
    return kk_force_to(X, kk_force_add(kk_inertia_mul(I, A), kk_motion_cross_force(V, kk_inertia_mul(I, V))));
}

kk_force scene_body_external(const scene *s, int body) {
    return kk_force_to(kk_body_pose(s->model, s->data, body), s->external[body]);
}

// ---- magnitudes

static void cholesky(double *M, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double x = M[i * n + j] - dot(&M[i * n], &M[j * n], j);
            M[i * n + j] = i == j ? sqrt(x) : x / M[j * n + j];
        }
    }
}

static void cholesky_solve(const double *L, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) {
        x[i] = (x[i] - dot(&L[i * n], x, i)) / L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            x[i] -= L[k * n + i] * x[k];
        }
        x[i] /= L[i * n + i];
    }
}

void scene_inverse_inertia(scene *s, const double *q, double *Minv) {
    const size_t nv = (size_t)s->nv;
    double *L = scene_take(s, nv * nv);
    kk_inertia_matrix(s->model, s->data, q, L);
    cholesky(L, nv);
    for (size_t i = 0; i < nv; i++) { // M⁻¹ is symmetric: its rows are its columns
        memset(&Minv[i * nv], 0, nv * sizeof *Minv);
        Minv[i * nv + i] = 1;
        cholesky_solve(L, nv, &Minv[i * nv]);
    }
}

static double *torque_terms(scene *s, const double *a, int with_external) {
    const size_t nv = (size_t)s->nv;
    double *M = scene_take(s, nv * nv), *bias = scene_take(s, nv), *external = scene_take(s, nv),
           *zero = scene_take(s, nv);
    kk_inertia_matrix(s->model, s->data, s->q, M);
    kk_bias_force(s->model, s->data, s->q, s->v, bias);
    kk_inverse_dynamics_external(s->model, s->data, s->q, s->v, zero, s->external, external);
    for (size_t i = 0; i < nv; i++) {
        double term = fabs(bias[i]) + (with_external ? fabs(external[i] - bias[i]) : 0);
        for (size_t j = 0; j < nv; j++) {
            term += fabs(M[i * nv + j] * a[j]);
        }
        zero[i] = term;
    }
    return zero;
}

double scene_torque_scale(scene *s, const double *a, int with_external) {
    return largest(torque_terms(s, a, with_external), (size_t)s->nv);
}

double scene_acceleration_scale(scene *s, const double *a, int with_external) {
    const size_t nv = (size_t)s->nv;
    const double *terms = torque_terms(s, a, with_external);
    double *Minv = scene_take(s, nv * nv), most = 0;
    scene_inverse_inertia(s, s->q, Minv);
    for (size_t i = 0; i < nv; i++) {
        double sum = 0;
        for (size_t j = 0; j < nv; j++) {
            sum += fabs(Minv[i * nv + j]) * terms[j];
        }
        most = fmax(most, sum);
    }
    return most;
}

// ---- errors

int same_bits(double x, double y) {
    uint64_t a, b;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    return a == b;
}

double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    }
    return most;
}

double dot(const double *x, const double *y, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

double relative_error(const double *x, const double *y, size_t n, double scale) {
    double most = 0;
    scale = fmax(scale, fmax(largest(x, n), largest(y, n)));
    for (size_t i = 0; i < n; i++) {
        const double error = x[i] == y[i] ? 0 : fabs(x[i] - y[i]) / scale;
        if (isnan(error)) {
            return INFINITY;
        }
        most = fmax(most, error);
    }
    return most;
}

void worst_note(worst *w, const scene *s, double error) {
    if (!(error <= w->error)) {
        *w = (worst){isnan(error) ? INFINITY : error, s->seed};
    }
}

void worst_compare(worst *w, const scene *s, const double *x, const double *y, size_t n, double scale) {
    worst_note(w, s, relative_error(x, y, n, scale));
}

void worst_compare_motion(worst *w, const scene *s, kk_motion x, kk_motion y, double scale) {
    worst_compare(w, s, &x.angular.x, &y.angular.x, 3, scale);
    worst_compare(w, s, &x.linear.x, &y.linear.x, 3, scale);
}

void worst_compare_force(worst *w, const scene *s, kk_force x, kk_force y, double scale) {
    worst_compare(w, s, &x.angular.x, &y.angular.x, 3, scale);
    worst_compare(w, s, &x.linear.x, &y.linear.x, 3, scale);
}

void worst_check(const char *file, int line, const char *text, worst w, double bar) {
    if (getenv("KK_SHOW_WORST")) {
        printf("  %s:%d %s: %.2e of %.0e (seed %llu)\n", file, line, text, w.error, bar, (unsigned long long)w.seed);
    }
    if (!(w.error <= bar)) {
        kk_test_fail(file, line, "%s: %.3g is over %.0e, worst in the scene of seed %llu", text, w.error, bar,
                     (unsigned long long)w.seed);
    }
}
