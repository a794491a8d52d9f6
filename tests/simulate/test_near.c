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

enum { ARMS = 4, JOINTS = 3 };

/// Arms of capsules, cylinders and boxes on a floating body, over a plane: links meet each other in every turn.
static void build_robot(stage *s) {
    static const kk_shape_type type[JOINTS] = {KK_SHAPE_CAPSULE, KK_SHAPE_CYLINDER, KK_SHAPE_BOX};
    *s = stage_begin(9.81);
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, 0);
    const int base = stage_box(s, 1, 0.2, 0.2, 0.1, 0);
    for (int arm = 0; arm < ARMS; arm++) {
        for (int k = 0, parent = base; k < JOINTS; k++) {
            char name[32];
            kk_body_def def = kk_body_def_default();
            snprintf(name, sizeof name, "arm%d_%d", arm, k);
            def.name = name;
            def.parent = parent;
            def.joint.type = KK_JOINT_HINGE;
            def.joint.axis = k % 2 ? kk_vec3_make(1, 0, 0) : kk_vec3_make(0, 1, 0);
            def.joint.placement.p = k ? kk_vec3_make(0, 0, 0.25) : kk_vec3_make(0.1 * arm - 0.15, 0, 0.1);
            def.inertia = kk_inertia_solid_sphere(1, 0.1);
            KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &def, &parent, &s->error), KK_OK);
            stage_shape(s, type[k], parent, 0.04, type[k] == KK_SHAPE_BOX ? 0.04 : 0.15, 0.15, 0);
        }
    }
}

/// The robot as a whole goes far, its joints a little; now and then anywhere.
static void move_robot(stage *s, kk_random *r, int turn) {
    double *q = kk_state_q(s->state), *v = kk_state_v(s->state);
    const int is_jump = turn % 60 == 0;
    for (int k = 4; k < 7; k++) {
        q[k] = is_jump ? any(r, 0.3) + 0.3 : q[k] + any(r, 0.01);
    }
    for (int k = 7; k < kk_model_nq(s->model); k++) {
        q[k] = is_jump ? any(r, 1) : q[k] + any(r, turn % 7 ? 2e-3 : 0.05);
    }
    for (int k = 0; k < kk_model_nv(s->model); k++) {
        v[k] = any(r, 1);
    }
}

static void meet(stage *s, kk_simulator *x) {
    x->h = 2e-3;
    x->looks_ahead = 0;
    KK_CHECK_EQ_INT(kk_kinematics_velocity(s->model, x->data, kk_state_q(s->state), kk_state_v(s->state)), KK_OK);
    KK_CHECK_EQ_INT(kki_detect(s->model, x, s->state, &s->error), KK_OK);
}

// links of a robot that were measured to be apart are not asked again before they have moved as far: nothing that touches is missed by it
KK_TEST(links_left_alone_do_not_touch) {
    stage s;
    build_robot(&s);
    if (stage_ready(&s, NULL) && KK_CHECK(s.model->has_pairs)) {
        kk_random r = {7, 0, 0};
        long touching = 0, asked = 0, asked_by_fresh = 0;
        for (int turn = 0; turn < (kk_test_is_quick() ? 240 : 1200); turn++) {
            kk_simulator *fresh = NULL;
            move_robot(&s, &r, turn);
            KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &fresh, &s.error), KK_OK);
            meet(&s, s.simulator);
            meet(&s, fresh);
            KK_CHECK_EQ_INT(s.simulator->ncontact, fresh->ncontact);
            for (int i = 0; i < fresh->ncontact && i < s.simulator->ncontact; i++) {
                const kki_contact *a = &s.simulator->contact[i], *b = &fresh->contact[i];
                KK_CHECK(a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1] && a->gap == b->gap);
            }
            touching += fresh->ncontact;
            int here = 0, there = 0;
            look(&s, s.simulator, &here);
            kk_simulator_free(fresh);
            KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &fresh, &s.error), KK_OK);
            look(&s, fresh, &there);
            asked += here;
            asked_by_fresh += there;
            kk_simulator_free(fresh);
        }
        KK_CHECK(touching > 100);
        KK_CHECK(asked < asked_by_fresh);
    }
    stage_end(&s);
}
