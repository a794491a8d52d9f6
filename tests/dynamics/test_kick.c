// The kick of a step: scaled velocities give back velocities and energy, scaled forces give forward dynamics.
#include "dynamics/data.h"
#include "support/scene.h"

static int is_free_root(const kk_model *m, int node) {
    return m->node[node].type == KKI_NODE_FREE && m->node[node].parent == 0;
}

/// Armature of a free root is inertia against the body's axes, to which keeping a velocity in world axes means nothing.
static void drop_free_armature(scene *s) {
    for (int i = 1; i < s->nbody; i++) {
        kk_body_def *body = kk_spec_body(s->spec, i);
        for (int j = 0; j < KK_MAX_JOINT_DOFS && body->joint.type == KK_JOINT_FREE; j++) {
            body->joint.dof[j].armature = body->joint.dof[j].rotor_inertia = 0;
        }
    }
}

/// A random forest without it.
static scene forest(uint64_t seed) {
    scene s = scene_forest(seed);
    drop_free_armature(&s);
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_clone(s.spec, NULL, &spec, NULL), KK_OK);
    scene_free(&s);
    return scene_of(spec, seed);
}

static void kick(scene *s, double *E, double *y) {
    const kki_kernels *k = s->data->kernels;
    k->kick_prepare(s->model, &s->data->scratch, s->q, s->v, s->v);
    k->kick_factor(s->model, &s->data->scratch, s->model->dof_armature, s->tau, s->v, E, y);
}

/// Forward dynamics as the kick sees it: a free root's velocity stays as it is in world axes, a lone body's momentum.
static void expected_acceleration(scene *s, double *a) {
    const kk_model *m = s->model;
    double *at_rest = scene_take(s, (size_t)s->nv), *zero = scene_take(s, (size_t)s->nv);
    kk_forward_dynamics(m, s->data, s->q, s->v, s->tau, a);
    kk_forward_dynamics(m, s->data, s->q, zero, s->tau, at_rest);
    for (int i = 1; i < m->nnode; i++) {
        if (is_free_root(m, i)) {
            const int k = m->node[i].v_index;
            const double *v = s->v + k;
            const kk_vec3 turn = kk_vec3_cross(kk_vec3_make(v[0], v[1], v[2]), kk_vec3_make(v[3], v[4], v[5]));
            for (int j = 0; j < 6; j++) {
                a[k + j] = m->node[i].is_leaf ? at_rest[k + j] : a[k + j] + (j < 3 ? 0 : kk_vec3_get(turn, j - 3));
            }
        }
    }
}

static void check_kick(scene *s, worst *velocity, worst *energy, worst *acceleration) {
    const size_t nv = (size_t)s->nv;
    double *E = scene_take(s, nv), *y = scene_take(s, nv), *x = scene_take(s, nv), *a = scene_take(s, nv);
    const double T = kk_kinetic_energy(s->model, s->data, s->q, s->v);
    expected_acceleration(s, a);
    kick(s, E, y);
    const double half = dot(y, y, nv) / 2;
    worst_compare(energy, s, &half, &T, 1, 0);
    s->data->kernels->kick_apply(s->model, &s->data->scratch, y, x);
    worst_compare(velocity, s, x, s->v, nv, 0);
    s->data->kernels->kick_apply(s->model, &s->data->scratch, E, x);
    worst_compare(acceleration, s, x, a, nv, scene_acceleration_scale(s, a, 0));
}

KK_TEST(kick_gives_back_velocity_energy_and_acceleration) {
    worst velocity = {0}, energy = {0}, acceleration = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = forest((uint64_t)i);
        check_kick(&s, &velocity, &energy, &acceleration);
        scene_free(&s);
    }
    WORST_CHECK(velocity, 1e-9); // light links behind heavy ones
    WORST_CHECK(energy, 1e-11);
    WORST_CHECK(acceleration, 1e-11);
}

/// Velocity of one random point along a random direction, as a row of Y and from the kinematics.
static void check_row(scene *s, uint64_t stream, worst *w) {
    const size_t nv = (size_t)s->nv;
    double *E = scene_take(s, nv), *y = scene_take(s, nv), *Y = scene_take(s, 4 * nv + 8);
    double *r = scene_take_random(s, 6, 1, stream);
    kk_random random = {s->seed, stream, 0};
    const int body = (int)kk_random_next_below(&random, (uint64_t)s->nbody), node = s->model->body[body].node;
    kick(s, E, y);
    Y = (double *)(((uintptr_t)Y + 31) & ~(uintptr_t)31);
    _Alignas(32) double w1[6][4] = {{0}}, w0[6][4] = {{0}};
    for (int c = 0; c < 6; c++) {
        w1[c][0] = r[c];
    }
    s->data->kernels->delassus_climb(s->model, &s->data->scratch, node, w1, 0, w0, 0, Y, 4);
    double u = 0, scale = 0;
    for (size_t k = 0; k < nv; k++) {
        u += Y[4 * k] * y[k];
        scale += Y[4 * k] * Y[4 * k];
    }
    const kki_rates *V = kki_rates_of(s->data, node);
    const double expected =
        r[0] * V->w[0] + r[1] * V->w[1] + r[2] * V->w[2] + r[3] * V->u[0] + r[4] * V->u[1] + r[5] * V->u[2];
    worst_compare(w, s, &u, &expected, 1, kk_sqrt(scale * dot(y, y, nv)));
}

KK_TEST(rows_of_y_give_velocities) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        check_row(&s, 77, &w);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-12);
}

/// Velocity of a joint of one degree, by the row of a unit force along it: what its pivot keeps, and what that hands on to the parent.
static void check_joint(scene *s, int dof, worst *w) {
    const size_t nv = (size_t)s->nv;
    double *E = scene_take(s, nv), *y = scene_take(s, nv), *Y = scene_take(s, 4 * nv + 8);
    const kki_pivot *k = kki_pivot_of(s->data, dof);
    _Alignas(32) double w1[6][4] = {{0}}, w0[6][4] = {{0}};
    kick(s, E, y);
    Y = (double *)(((uintptr_t)Y + 31) & ~(uintptr_t)31);
    for (int c = 0; c < 3; c++) {
        w1[c][0] = -k->Ua[c];
        w1[c + 3][0] = -k->Ul[c];
    }
    s->data->kernels->delassus_climb(s->model, &s->data->scratch, s->model->node[s->model->dof_node[dof]].parent, w1, 0,
                                     w0, 0, Y, 4);
    double u = k->e * y[dof], scale = k->e * k->e;
    for (size_t i = 0; i < nv; i++) {
        u += Y[4 * i] * y[i];
        scale += Y[4 * i] * Y[4 * i];
    }
    worst_compare(w, s, &u, &s->v[dof], 1, kk_sqrt(scale * dot(y, y, nv)));
}

// a force along a joint acts on its link and the opposite on the parent, and all of that is in the joint's pivot
KK_TEST(pivots_are_the_rows_of_joints) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        for (int dof = 0; dof < s.nv; dof++) {
            if (s.model->node_nv[s.model->dof_node[dof]] == 1) {
                check_joint(&s, dof, &w);
            }
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-12);
}

enum { MOST_SET = 5 };

/// Up to so many different nodes of the tree of the last one.
static int nodes_of_a_tree(const kk_model *m, int32_t node[MOST_SET]) {
    int count = 0;
    for (int i = m->nnode - 1; i > 0 && count < MOST_SET; i--) {
        if (m->node_tree[i] == m->node_tree[m->nnode - 1]) {
            node[count++] = i;
        }
    }
    return count;
}

// wrenches on several nodes climb together as they do one by one, into four columns that begin anywhere
KK_TEST(sets_of_wrenches_climb_as_one) {
    worst worst_of_all = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *E = scene_take(&s, nv), *y = scene_take(&s, nv), *one = scene_take(&s, 8 * nv + 8),
               *set = scene_take(&s, 8 * nv + 8);
        const double none[6] = {0}, *r = scene_take_random(&s, 6 * 4 * MOST_SET, 1, 5);
        _Alignas(32) double w[MOST_SET][6][4], w0[6][4] = {{0}};
        int32_t node[MOST_SET];
        const int count = nodes_of_a_tree(s.model, node);
        kick(&s, E, y);
        for (int e = 0; e < count; e++) {
            const double *const row[4] = {r + 24 * e, none, none, r + 24 * e + 6}, *const more[4] = {none,
                                                                                                     r + 24 * e + 12,
                                                                                                     none, none};
            s.data->kernels->delassus_lay(row, 1, w[e]);
            s.data->kernels->delassus_lay(more, 0, w[e]);
            KK_CHECK(w[e][2][0] == r[24 * e + 2] && w[e][5][1] == r[24 * e + 17] && w[e][1][2] == 0);
            s.data->kernels->delassus_climb(s.model, &s.data->scratch, node[e], (const double(*)[4])w[e], 0, w0, 0,
                                            one + 3, 8);
        }
        if (count > 0) {
            s.data->kernels->delassus_climb_set(s.model, &s.data->scratch, count, node, w, 0, set + 3, 8);
        }
        worst_compare(&worst_of_all, &s, set, one, 8 * nv, 0);
        scene_free(&s);
    }
    WORST_CHECK(worst_of_all, 1e-9); // light links behind heavy ones
}

/// Bodies on their own that turn about their centers of mass, and not about their axes.
static scene central_bodies(uint64_t seed) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    for (int i = 0; i < 3; i++) {
        kk_body_def def = kk_body_def_default();
        char name[2] = {(char)('a' + i), 0};
        def.name = name;
        def.joint.type = KK_JOINT_FREE;
        def.inertia.mass = 2 + i;
        def.inertia.moment = (kk_sym3){1.0, 1.2, 1.4, 0.2, -0.15, 0.1 * i};
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &def, NULL, NULL), KK_OK);
    }
    return scene_of(spec, seed);
}

// the same in the body's own axes (kick_central)
KK_TEST(kick_of_bodies_about_their_centers) {
    worst velocity = {0}, energy = {0}, acceleration = {0}, row = {0};
    for (int i = 0; i < 50; i++) {
        scene s = central_bodies((uint64_t)i);
        KK_CHECK(s.model->node[1].h[0] == 0 && s.model->node[1].inertia[0][1] != 0);
        check_kick(&s, &velocity, &energy, &acceleration);
        check_row(&s, 77, &row);
        scene_free(&s);
    }
    WORST_CHECK(velocity, 1e-14);
    WORST_CHECK(energy, 1e-14);
    WORST_CHECK(acceleration, 1e-14);
    WORST_CHECK(row, 1e-14);
}
