// The Delassus matrix against J M⁻¹ Jᵀ with Jacobians and a dense inverse.
#include "support/scene.h"

#include <math.h>
#include <string.h>

static void draw_rows(const scene *s, kk_constraint_row *rows, int n) {
    kk_random random = {s->seed, 900, 0};
    for (int i = 0; i < n; i++) {
        rows[i].body = (int)kk_random_next_below(&random, (uint64_t)s->nbody);
        rows[i].other = i % 3 ? (int)kk_random_next_below(&random, (uint64_t)s->nbody) : KK_WORLD;
        if (i % 5 == 4) { // neighbors on one pair of bodies, as contacts have them
            rows[i].body = rows[i - 1].body;
            rows[i].other = rows[i - 1].other;
        }
        double *x = &rows[i].direction.angular.x;
        for (int k = 0; k < 6; k++) {
            x[k] = i % 4 == 3 && k < 3 ? 0 : kk_random_next_between(&random, -1, 1);
        }
    }
}

/// Row of J: the direction's power at unit speeds.
static void jacobian_row(scene *s, const kk_constraint_row *row, double *J) {
    const size_t nv = (size_t)s->nv;
    double *body = scene_take(s, 6 * nv), *other = scene_take(s, 6 * nv);
    kk_body_jacobian(s->model, s->data, row->body, KK_WORLD_ORIGIN, body);
    kk_body_jacobian(s->model, s->data, row->other, KK_WORLD_ORIGIN, other);
    for (size_t k = 0; k < 6 * nv; k++) {
        J[k % nv] += (body[k] - other[k]) * scene_component(row->direction, (int)(k / nv));
    }
}

/// J M⁻¹ Jᵀ with a dense inverse.
static void by_jacobians(scene *s, const kk_constraint_row *rows, size_t n, double *G) {
    const size_t nv = (size_t)s->nv;
    double *J = scene_take(s, n * nv), *Minv = scene_take(s, nv * nv), *MJ = scene_take(s, nv);
    kk_jacobians(s->model, s->data, s->q);
    for (size_t k = 0; k < n; k++) {
        jacobian_row(s, &rows[k], J + k * nv);
    }
    scene_inverse_inertia(s, s->q, Minv);
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < nv; j++) {
            MJ[j] = dot(Minv + j * nv, J + k * nv, nv);
        }
        for (size_t j = 0; j < n; j++) {
            G[j * n + k] = dot(J + j * nv, MJ, nv);
        }
    }
}

static void compare(scene *s, int rows, worst *w) {
    const size_t n = (size_t)rows;
    kk_constraint_row *row = (kk_constraint_row *)(void *)scene_take(s, n * sizeof *row / sizeof(double));
    double *G = scene_take(s, n * n), *expected = scene_take(s, n * n);
    draw_rows(s, row, rows);
    by_jacobians(s, row, n, expected);
    KK_CHECK_EQ_INT(kk_delassus(s->model, s->data, s->q, row, rows, G), KK_OK);
    worst_compare(w, s, G, expected, n * n, 0);
    int symmetric = 1;
    for (size_t k = 0; k < n * n; k++) {
        symmetric &= same_bits(G[k], G[k % n * n + k / n]);
    }
    KK_CHECK(symmetric);
}

// scale: the largest entry, which is on the diagonal
KK_TEST(delassus_is_the_inverse_inertia_seen_by_the_rows) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        compare(&s, 1 + i % 17, &w);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

// more rows than the data has room for at once
KK_TEST(many_rows_go_in_portions) {
    worst w = {0};
    static const int counts[] = {255, 256, 257, 300, 517};
    for (int i = 0; i < (kk_test_is_quick() ? 3 : 5); i++) {
        scene s = scene_robot(i % 2 ? "quadruped" : "arm7", (uint64_t)i);
        compare(&s, counts[i], &w);
        scene_free(&s);
    }
    robots_forest_def def = robots_forest_def_default();
    def.bodies = 70;
    for (int i = 0; i < 2; i++) {
        kk_spec *spec = NULL;
        KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
        KK_CHECK_EQ_INT(robots_random_forest(spec, 11, &def, NULL), KK_OK);
        scene s = scene_of(spec, 11);
        KK_CHECK(s.nv > 128); // where only 64 fit
        compare(&s, i ? 150 : 65, &w);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

KK_TEST(rows_on_no_body_are_refused) {
    scene s = scene_robot("arm7", 1);
    kk_constraint_row row = {s.nbody, KK_WORLD, {{0, 0, 0}, {0, 0, 1}}};
    double G = 5;
    KK_CHECK_EQ_INT(kk_delassus(s.model, s.data, s.q, &row, 1, &G), KK_INVALID_ARGUMENT);
    row = (kk_constraint_row){1, -1, {{0, 0, 0}, {0, 0, 1}}};
    KK_CHECK_EQ_INT(kk_delassus(s.model, s.data, s.q, &row, 1, &G), KK_INVALID_ARGUMENT);
    scene_free(&s);
}

// a row between a body and itself, or on the world, moves nothing
KK_TEST(rows_that_move_nothing_are_zero) {
    scene s = scene_robot("quadruped", 1);
    const kk_force up = {{0, 0, 0}, {0, 0, 1}};
    const kk_constraint_row rows[3] = {{KK_WORLD, KK_WORLD, up}, {3, 3, up}, {3, KK_WORLD, up}};
    double G[9];
    KK_CHECK_EQ_INT(kk_delassus(s.model, s.data, s.q, rows, 3, G), KK_OK);
    for (int i = 0; i < 8; i++) {
        KK_CHECK_NEAR(G[i], 0, 0);
    }
    KK_CHECK(G[8] > 0);
    KK_CHECK_EQ_INT(kk_delassus(s.model, s.data, s.q, rows, 0, G), KK_OK);
    scene_free(&s);
}

// a point on a single free body: G = 1/m for a force through the center of mass
KK_TEST(free_body_has_the_inverse_of_its_mass) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_body_def body = kk_body_def_default();
    body.name = "ball";
    body.joint.type = KK_JOINT_FREE;
    body.inertia = kk_inertia_solid_sphere(4, 0.3);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, NULL), KK_OK);
    scene ball = scene_of(spec, 1);
    const double q[7] = {1, 0, 0, 0, 2, 3, 4};
    const kk_vec3 p = {2, 3, 4}, x = {1, 0, 0};
    const kk_constraint_row rows[2] = {{1, KK_WORLD, {kk_vec3_cross(p, x), x}}, {1, KK_WORLD, {x, {0, 0, 0}}}};
    double G[4];
    KK_CHECK_EQ_INT(kk_delassus(ball.model, ball.data, q, rows, 2, G), KK_OK);
    KK_CHECK_REL(G[0], 0.25, 1e-14);
    KK_CHECK_NEAR(G[1], 0, 1e-14);
    KK_CHECK_REL(G[3], 1 / (0.4 * 4 * 0.09), 1e-14);
    scene_free(&ball);
}
