// Pairs that are left alone because they were apart: whatever a simulator has seen before, it finds what one finds that looks for the
// first time.
#include "simulate/simulator.h"
#include "stage.h"

enum { LINKS = 8 };

/// A chain of boxes, each with two shapes, and balls over a plane.
static void build_crowd(stage *s) {
    *s = stage_begin(9.81);
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, 0);
    for (int i = 0; i < LINKS; i++) {
        const int body = stage_box(s, 1, 0.2, 0.3, 0.1, 0);
        kk_shape_def def = kk_shape_def_default();
        def.type = KK_SHAPE_CAPSULE;
        def.body = body;
        def.size[0] = 0.05;
        def.size[1] = 0.2;
        def.placement.p = kk_vec3_make(0.2, 0, 0.1 * i);
        KK_CHECK_EQ_INT(kk_spec_add_shape(s->spec, &def, NULL, &s->error), KK_OK);
        stage_ball(s, 1, 0.02 + 0.02 * i, 0);
    }
}

static double any(kk_random *r, double most) {
    return kk_random_next_between(r, -most, most);
}

/// Small moves mostly, now and then one to anywhere.
static void move(stage *s, kk_random *r, int turn) {
    for (int body = 1; body <= 2 * LINKS; body++) {
        double *q = stage_q(s, body), *v = stage_v(s, body);
        const int is_jump = turn % 50 == 0 || kk_random_next_below(r, 40) == 0;
        const double step = is_jump ? 1.5 : turn % 3 ? 2e-3 : 0.05;
        kk_quat turned = kk_quat_mul(kk_quat_exp(kk_vec3_make(any(r, step), any(r, step), any(r, step))),
                                     (kk_quat){q[0], q[1], q[2], q[3]});
        turned = kk_quat_normalize(turned);
        q[0] = turned.w, q[1] = turned.x, q[2] = turned.y, q[3] = turned.z;
        for (int k = 0; k < 3; k++) {
            q[4 + k] = is_jump ? any(r, 1) : q[4 + k] + any(r, step);
            v[k] = any(r, 2), v[3 + k] = any(r, 2);
        }
    }
}

static void look(stage *s, kk_simulator *x, int *count) {
    x->h = 2e-3;
    KK_CHECK_EQ_INT(kk_kinematics_velocity(s->model, x->data, kk_state_q(s->state), kk_state_v(s->state)), KK_OK);
    KK_CHECK_EQ_INT(kki_near_find(s->model, x, count, &s->error), KK_OK);
}

KK_TEST(pairs_left_alone_are_apart) {
    stage s;
    build_crowd(&s);
    if (stage_ready(&s, NULL) && KK_CHECK(s.model->has_pairs)) {
        kk_random r = {5, 0, 0};
        long found = 0;
        for (int turn = 0; turn < (kk_test_is_quick() ? 120 : 600); turn++) {
            kk_simulator *fresh = NULL;
            int a = 0, b = 0;
            move(&s, &r, turn);
            KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &fresh, &s.error), KK_OK);
            look(&s, s.simulator, &a);
            look(&s, fresh, &b);
            KK_CHECK_EQ_INT(a, b);
            for (int i = 0; i < a && i < b; i++) {
                const kki_near_pair *p = &s.simulator->near.list[i], *q = &fresh->near.list[i];
                KK_CHECK(p->first == q->first && p->second == q->second && p->reach == q->reach);
            }
            found += a;
            kk_simulator_free(fresh);
        }
        KK_CHECK(found > (kk_test_is_quick() ? 120 : 600));
    }
    stage_end(&s);
}
