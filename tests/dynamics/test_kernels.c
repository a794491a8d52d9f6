// Every one-robot variant of the kernels gives the same bytes, signs of zeros included.
#include "support/states.h"

#include <stdlib.h>
#include <string.h>

#include "dynamics/data.h"

/// One variant with a scratch of its own.
typedef struct bench {
    const kki_kernels *kernels;
    kki_scratch scratch;
    void *block;
} bench;

static bench bench_of(const kki_kernels *kernels, const kk_model *m) {
    bench b = {.kernels = kernels, .scratch = {.has_matrices = 1}};
    kki_layout layout = kki_layout_over(NULL);
    kernels->place(&layout, m, &b.scratch);
    b.block = aligned_alloc(64, layout.size + 64);
    memset(b.block, 0, layout.size + 64);
    layout = kki_layout_over(b.block);
    kernels->place(&layout, m, &b.scratch);
    return b;
}

/// Results of all kernels, side by side.
typedef struct results {
    double *start, *end;
} results;

static double *take(results *r, size_t n) {
    double *x = r->end;
    r->end += n;
    return x;
}

static size_t room(const scene *s) {
    const size_t nv = (size_t)s->nv, nbody = (size_t)s->nbody, nnode = (size_t)s->model->nnode;
    return 3 * nv * nv + 40 * nv + 12 * nbody + 12 * nnode + 3;
}

static void put_vec(results *r, const double x[4]) {
    memcpy(take(r, 3), x, 3 * sizeof *x);
}

static void run_lane_kernels(const scene *s, bench *b, results *r) {
    const kk_model *m = s->model;
    const size_t nv = (size_t)s->nv;
    const kki_kernels *k = b->kernels;
    kki_scratch *S = &b->scratch;
    k->kinematics(m, S, s->q, 1);
    k->read_poses(m, S, take(r, 12 * (size_t)s->nbody), 1);
    k->rnea(m, S, s->q, s->v, s->a, take(r, nv), 1);
    k->aba(m, S, s->q, s->v, s->tau, take(r, nv), 1);
    k->crba(m, S, s->q, 1);
    k->read_inertia(m, S, take(r, nv * nv), 1);
}

static void run_halves(const scene *s, bench *b, results *r) {
    const kk_model *m = s->model;
    const kki_kernels *k = b->kernels;
    kki_scratch *S = &b->scratch;
    k->kinematics(m, S, s->q, 1);
    k->rates(m, S, s->v, s->a);
    for (int i = 0; i < m->nnode; i++) {
        const kki_rates *x = (const kki_rates *)S->rates + i;
        put_vec(r, x->w);
        put_vec(r, x->u);
        put_vec(r, x->al);
        put_vec(r, x->a);
    }
    k->rnea_outward(m, S, s->q, s->v, s->a);
    k->rnea_inward(m, S, s->a, take(r, (size_t)s->nv));
    k->aba_prepare(m, S, s->q, s->v);
    for (int i = 1; i < m->nnode; i++) {
        k->aba_push(S, i, s->external[i % s->nbody]);
    }
    k->aba_solve(m, S, s->tau, take(r, (size_t)s->nv));
}

static void run_matrices(const scene *s, bench *b, results *r) {
    const kk_model *m = s->model;
    const kki_kernels *k = b->kernels;
    const size_t nv = (size_t)s->nv;
    kki_scratch *S = &b->scratch;
    double *zero = calloc(nv + 4, sizeof *zero);
    const kk_vec3 c = k->center_of_mass(m, S, s->q, take(r, 3 * nv));
    memcpy(take(r, 3), &c, sizeof c);
    k->centroidal(m, S, s->q, take(r, 6 * nv));
    double *A = take(r, 6 * nv), *dA = take(r, 6 * nv), *dq = take(r, nv * nv), *dv = take(r, nv * nv);
    k->centroidal_rate(m, S, s->q, s->v, zero, A, dA);
    k->rnea_derivatives(m, S, s->q, s->v, s->a, dq, dv, nv);
    free(zero);
}

static results run_all(scene *s, bench *b) {
    double *start = scene_take(s, room(s));
    results r = {start, start};
    run_lane_kernels(s, b, &r);
    run_halves(s, b, &r);
    run_matrices(s, b, &r);
    KK_CHECK((size_t)(r.end - r.start) <= room(s));
    return r;
}

static void compare_variants(scene *s) {
    bench first = bench_of(kki_kernels_at(0), s->model);
    for (int i = 1; kki_kernels_at(i); i++) {
        if (kki_kernels_at(i)->lanes > 1) {
            continue;
        }
        bench other = bench_of(kki_kernels_at(i), s->model);
        for (int kind = 0; kind < STATE_KINDS; kind++) {
            states_set(s, kind, (uint64_t)kind);
            const results x = run_all(s, &first), y = run_all(s, &other);
            if (!KK_CHECK_BYTES(y.start, x.start, (size_t)((char *)x.end - (char *)x.start))) {
                KK_FAIL("variant %s, seed %d, state %d", kki_kernels_at(i)->name, (int)s->seed, kind);
            }
        }
        free(other.block);
    }
    free(first.block);
}

KK_TEST(one_robot_variants_give_the_same_bytes) {
    for (const robots_entry *robot = robots_table; robot->name; robot++) {
        scene s = scene_robot(robot->name, 1);
        compare_variants(&s);
        scene_free(&s);
    }
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = scene_forest((uint64_t)i);
        compare_variants(&s);
        scene_free(&s);
    }
}

KK_TEST(variants_are_listed_and_chosen) {
    KK_CHECK_STR(kki_kernels_at(0)->name, "scalar");
    KK_CHECK(kki_kernels_at(-1) == NULL);
    KK_CHECK_EQ_INT(kki_kernels_one()->lanes, 1);
    KK_CHECK(kki_kernels_widest()->lanes > 1);
    int count = 0, found_one = 0, found_widest = 0, most = 0;
    for (; kki_kernels_at(count); count++) {
        found_one |= kki_kernels_at(count) == kki_kernels_one();
        found_widest |= kki_kernels_at(count) == kki_kernels_widest();
        most = kki_kernels_at(count)->lanes > most ? kki_kernels_at(count)->lanes : most;
        for (int k = 0; k < count; k++) {
            KK_CHECK(strcmp(kki_kernels_at(k)->name, kki_kernels_at(count)->name) != 0);
        }
    }
    KK_CHECK(found_one && found_widest);
    KK_CHECK_EQ_INT(kki_kernels_widest()->lanes, most);
}
