// Many states at a time: every variant, layout and count gives the bytes of the one-robot calls.
#include <karakuri/batch.h>

#include "support/states.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 13 }; // states: more than a laneful of every variant, and no multiple

/// One array of a call over `count` states, both layouts of it, with a guard behind that nobody may touch.
typedef struct table {
    size_t rows, count;
    double *by_state, *by_coordinate;
} table;

static const double GUARD = 12345.678;

static table table_of(scene *s, size_t rows, size_t count) {
    table t = {rows, count, scene_take(s, rows * count + 8), scene_take(s, rows * count + 8)};
    for (size_t i = 0; i < 8; i++) {
        t.by_state[rows * count + i] = t.by_coordinate[rows * count + i] = GUARD;
    }
    return t;
}

static void put(table *t, size_t state, const double *x) {
    for (size_t i = 0; i < t->rows; i++) {
        t->by_state[state * t->rows + i] = t->by_coordinate[i * t->count + state] = x[i];
    }
}

static double *array_of(const table *t, kk_batch_layout layout) {
    return layout == KK_BY_STATE ? t->by_state : t->by_coordinate;
}

static int same(const table *x, const table *y) {
    const size_t size = (x->rows * x->count + 8) * sizeof(double);
    return memcmp(x->by_state, y->by_state, size) == 0 && memcmp(x->by_coordinate, y->by_coordinate, size) == 0;
}

typedef struct case_of_batch {
    table q, v, a, tau;                   // inputs
    table torque, acceleration, M, poses; // expected by the one-robot calls
} case_of_batch;

static void put_poses(scene *s, table *t, size_t state) {
    double *x = scene_take(s, t->rows);
    for (int b = 0; b < s->nbody; b++) {
        const kk_transform X = kk_body_pose(s->model, s->data, b);
        memcpy(x + 12 * b, X.R.m, sizeof X.R.m);
        memcpy(x + 12 * b + 9, &X.p, sizeof X.p);
    }
    put(t, state, x);
}

static case_of_batch make_case(scene *s, size_t count) {
    const size_t nq = (size_t)s->nq, nv = (size_t)s->nv, poses = 12 * (size_t)s->nbody;
    case_of_batch c = {table_of(s, nq, count),      table_of(s, nv, count),   table_of(s, nv, count),
                       table_of(s, nv, count),      table_of(s, nv, count),   table_of(s, nv, count),
                       table_of(s, nv * nv, count), table_of(s, poses, count)};
    double *x = scene_take(s, nv * nv);
    for (size_t i = 0; i < count; i++) {
        states_set(s, (int)(i + s->seed) % STATE_KINDS, i);
        put(&c.q, i, s->q);
        put(&c.v, i, s->v);
        put(&c.a, i, s->a);
        put(&c.tau, i, s->tau);
        kk_inverse_dynamics(s->model, s->data, s->q, s->v, s->a, x);
        put(&c.torque, i, x);
        kk_forward_dynamics(s->model, s->data, s->q, s->v, s->tau, x);
        put(&c.acceleration, i, x);
        kk_inertia_matrix(s->model, s->data, s->q, x);
        put(&c.M, i, x);
        kk_kinematics(s->model, s->data, s->q);
        put_poses(s, &c.poses, i);
    }
    return c;
}

/// Both layouts through the batch; 1 if all bytes are as expected.
static int runs_as_one_by_one(scene *s, kk_batch *batch, const case_of_batch *c, size_t count) {
    table torque = table_of(s, c->torque.rows, count), a = table_of(s, c->acceleration.rows, count);
    table M = table_of(s, c->M.rows, count), poses = table_of(s, c->poses.rows, count);
    for (int l = KK_BY_COORDINATE; l <= KK_BY_STATE; l++) {
        const kk_batch_layout layout = (kk_batch_layout)l;
        const double *q = array_of(&c->q, layout), *v = array_of(&c->v, layout);
        kk_batch_inverse_dynamics(s->model, batch, layout, count, q, v, array_of(&c->a, layout),
                                  array_of(&torque, layout));
        kk_batch_forward_dynamics(s->model, batch, layout, count, q, v, array_of(&c->tau, layout),
                                  array_of(&a, layout));
        kk_batch_inertia_matrix(s->model, batch, layout, count, q, array_of(&M, layout));
        kk_batch_kinematics(s->model, batch, layout, count, q, array_of(&poses, layout));
    }
    return same(&torque, &c->torque) + 2 * same(&a, &c->acceleration) + 4 * same(&M, &c->M) +
           8 * same(&poses, &c->poses);
}

static void compare_with_one_by_one(scene *s, size_t count) {
    kk_batch *batch = NULL;
    if (!KK_CHECK_EQ_INT(kk_batch_create(s->model, NULL, &batch), KK_OK)) {
        return;
    }
    const case_of_batch c = make_case(s, count);
    for (int i = 0; kk_batch_variant_name(i); i++) {
        KK_CHECK_EQ_INT(kk_batch_choose(batch, kk_batch_variant_name(i)), KK_OK);
        const int as_one = runs_as_one_by_one(s, batch, &c, count);
        if (as_one != 15) {
            KK_FAIL("variant %s, seed %d, %d states: only %d of 15 (1 torque, 2 acceleration, 4 inertia, 8 poses)",
                    kk_batch_variant(batch), (int)s->seed, (int)count, as_one);
        }
    }
    kk_batch_free(batch);
}

KK_TEST(every_variant_gives_the_bytes_of_one_robot) {
    for (const robots_entry *robot = robots_table; robot->name; robot++) {
        scene s = scene_robot(robot->name, 1);
        for (size_t count = 0; count <= MOST; count++) {
            compare_with_one_by_one(&s, count);
        }
        scene_free(&s);
    }
    scene turned = scene_alignments(1);
    compare_with_one_by_one(&turned, 5);
    scene_free(&turned);
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = scene_forest((uint64_t)i);
        compare_with_one_by_one(&s, 1 + (size_t)i % MOST);
        scene_free(&s);
    }
}

KK_TEST(the_widest_variant_is_chosen_first) {
    scene s = scene_robot("arm7", 1);
    kk_batch *batch = NULL;
    KK_CHECK_EQ_INT(kk_batch_create(s.model, NULL, &batch), KK_OK);
    const int widest = kk_batch_lanes(batch);
    KK_CHECK(widest >= 4);
    for (int i = 0; kk_batch_variant_name(i); i++) {
        KK_CHECK_EQ_INT(kk_batch_choose(batch, kk_batch_variant_name(i)), KK_OK);
        KK_CHECK_STR(kk_batch_variant(batch), kk_batch_variant_name(i));
        // lanes8 without AVX-512 is there to be tested, not to be fast
        KK_CHECK(kk_batch_lanes(batch) <= widest || strcmp(kk_batch_variant(batch), "lanes8") == 0);
    }
    const char *before = kk_batch_variant(batch);
    KK_CHECK_EQ_INT(kk_batch_choose(batch, "lanes3"), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_batch_choose(batch, NULL), KK_INVALID_ARGUMENT);
    double x[8] = {0}, result[8] = {7};
    KK_CHECK_EQ_INT(kk_batch_forward_dynamics(s.model, batch, (kk_batch_layout)2, 1, x, x, x, result),
                    KK_INVALID_ARGUMENT);
    KK_CHECK_BITS(result[0], 7.0);
    KK_CHECK_STR(kk_batch_variant(batch), before);
    KK_CHECK(kk_batch_variant_name(-1) == NULL);
    kk_batch_free(batch);
    kk_batch_free(NULL);
    KK_CHECK_EQ_INT(kk_batch_create(NULL, NULL, &batch), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_batch_create(s.model, NULL, NULL), KK_INVALID_ARGUMENT);
    scene_free(&s);
}

// results may lie on the last input, as in the one-robot calls
KK_TEST(results_may_lie_on_the_last_input) {
    scene s = scene_robot("quadruped", 1);
    kk_batch *batch = NULL;
    KK_CHECK_EQ_INT(kk_batch_create(s.model, NULL, &batch), KK_OK);
    const case_of_batch c = make_case(&s, MOST);
    const size_t size = c.a.rows * MOST * sizeof(double);
    for (int i = 0; kk_batch_variant_name(i); i++) {
        KK_CHECK_EQ_INT(kk_batch_choose(batch, kk_batch_variant_name(i)), KK_OK);
        for (int l = KK_BY_COORDINATE; l <= KK_BY_STATE; l++) {
            const kk_batch_layout layout = (kk_batch_layout)l;
            const double *q = array_of(&c.q, layout), *v = array_of(&c.v, layout);
            double *both = scene_take(&s, c.a.rows * MOST);
            memcpy(both, array_of(&c.a, layout), size);
            kk_batch_inverse_dynamics(s.model, batch, layout, MOST, q, v, both, both);
            KK_CHECK_BYTES(both, array_of(&c.torque, layout), size);
            memcpy(both, array_of(&c.tau, layout), size);
            kk_batch_forward_dynamics(s.model, batch, layout, MOST, q, v, both, both);
            KK_CHECK_BYTES(both, array_of(&c.acceleration, layout), size);
        }
    }
    kk_batch_free(batch);
    scene_free(&s);
}

// a robot whose numbers are rubbish is rubbish alone: its neighbors in the lanes get the bytes they would have had
KK_TEST(a_nan_stays_in_its_lane) {
    static const double rubbish[] = {__builtin_nan(""), __builtin_inf(), 1e300};
    scene s = scene_robot("quadruped", 1);
    kk_batch *batch = NULL;
    KK_CHECK_EQ_INT(kk_batch_create(s.model, NULL, &batch), KK_OK);
    const case_of_batch c = make_case(&s, MOST);
    const size_t nq = c.q.rows, nv = c.a.rows, ill = 5;
    double *q = scene_take(&s, nq * MOST), *a = scene_take(&s, nv * MOST);
    for (int i = 0; kk_batch_variant_name(i); i++) {
        KK_CHECK_EQ_INT(kk_batch_choose(batch, kk_batch_variant_name(i)), KK_OK);
        for (size_t k = 0; k < 3; k++) {
            memcpy(q, c.q.by_coordinate, nq * MOST * sizeof *q);
            q[(nq - 1) * MOST + ill] = rubbish[k];
            kk_batch_forward_dynamics(s.model, batch, KK_BY_COORDINATE, MOST, q, c.v.by_coordinate, c.tau.by_coordinate,
                                      a);
            for (size_t j = 0; j < nv * MOST; j++) {
                KK_CHECK(j % MOST == ill || memcmp(&a[j], &c.acceleration.by_coordinate[j], sizeof *a) == 0);
            }
            KK_CHECK(k > 0 || a[ill] != a[ill]);
        }
    }
    kk_batch_free(batch);
    scene_free(&s);
}
