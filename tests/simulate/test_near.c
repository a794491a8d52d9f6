// Pairs that are left alone because they were apart: whatever a simulator has seen before, it finds what one finds that looks for the
// first time.
#include <string.h>

#include "collision/distance.h"
#include "simulate/near_kernels.h"
#include "simulate/near_shapes.h"
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
            v[k] = any(r, turn % 16 ? 2 : 150),
            v[3 + k] = any(r, turn % 4 ? 2 : 20); // some are followed, some turn too fast for that
        }
    }
}

static void look(stage *s, kk_simulator *x, int *count) {
    x->h = 2e-3;
    KK_CHECK_EQ_INT(kk_kinematics_velocity(s->model, x->data, kk_state_q(s->state), kk_state_v(s->state)), KK_OK);
    KK_CHECK_EQ_INT(kki_near_find(s->model, x, count), KK_OK);
}

/// What both list is the same; what only the one lists that has seen nothing before is farther apart than it reaches.
static void compare_lists(const kk_simulator *x, int count, const kk_simulator *fresh, int most) {
    int i = 0;
    for (int j = 0; j < most; j++) {
        const kki_near_pair *p = &x->near.list[i], *q = &fresh->near.list[j];
        const int a = q->first, b = q->second;
        if (i < count && p->first == a && p->second == b) {
            KK_CHECK(p->reach == q->reach);
            i++;
            continue;
        }
        const kki_model_shape *shape = x->near.model->shape;
        kki_separation apart;
        KK_CHECK(kki_distance(&shape[a].shape, &fresh->shapes.X_WS[a], &shape[b].shape, &fresh->shapes.X_WS[b], NULL,
                              &apart));
        KK_CHECK(apart.distance > q->reach);
    }
    KK_CHECK_EQ_INT(i, count);
}

/// Both take the step in the same parts.
static void compare_meetings(const stage *s, kk_simulator *x, int count, kk_simulator *fresh, int most, int *meetings) {
    kki_first_meeting(s->model, x, count);
    kki_first_meeting(s->model, fresh, most);
    KK_CHECK(x->fast.meeting == fresh->fast.meeting);
    *meetings += x->fast.meeting >= 0;
}

KK_TEST(pairs_left_alone_are_apart) {
    stage s;
    build_crowd(&s);
    if (stage_ready(&s, NULL) && KK_CHECK(s.model->has_pairs)) {
        kk_random r = {5, 0, 0};
        long found = 0;
        int meetings = 0;
        for (int turn = 0; turn < (kk_test_is_quick() ? 120 : 600); turn++) {
            kk_simulator *fresh = NULL;
            int a = 0, b = 0;
            move(&s, &r, turn);
            KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &fresh, &s.error), KK_OK);
            look(&s, s.simulator, &a);
            look(&s, fresh, &b);
            compare_lists(s.simulator, a, fresh, b);
            compare_meetings(&s, s.simulator, a, fresh, b, &meetings);
            found += a;
            kk_simulator_free(fresh);
        }
        KK_CHECK(found > (kk_test_is_quick() ? 120 : 600));
        KK_CHECK(meetings > (kk_test_is_quick() ? 2 : 10));
    }
    stage_end(&s);
}

/// When a pair of the model meets, as if it were the only one that is near.
static double meeting_of(const stage *s, kk_simulator *x, const kki_shape_pair *p, double reach) {
    x->near.list[0] = (kki_near_pair){p->first, p->second, p->law, reach};
    x->near.found[0] = (int32_t)(p - s->model->pair);
    kki_first_meeting(s->model, x, 1);
    return x->fast.meeting;
}

/// A fast pair that is left alone is one that would be followed in vain. Counts those, and those that meet.
static void follow(const stage *s, kk_simulator *x, const kki_shape_pair *p, int *vain, int *met) {
    const kki_model_shape *a = &s->model->shape[p->first], *b = &s->model->shape[p->second];
    const double reach = kki_near_always(s->model, x) + x->shapes.reach[p->first] + x->shapes.reach[p->second];
    kki_separation apart;
    KK_CHECK(kki_distance(&a->shape, &x->shapes.X_WS[p->first], &b->shape, &x->shapes.X_WS[p->second], NULL, &apart));
    const double meeting = meeting_of(s, x, p, reach);
    if (apart.distance > reach && kki_passes_by(s->model, x, p->first, p->second, apart.distance)) {
        KK_CHECK(meeting < 0);
        *vain += 2 * (x->shapes.reach[p->first] + x->shapes.reach[p->second]) >
                 0.5 * kki_thickness(s->model, p->first, p->second);
    }
    *met += meeting >= 0;
}

/// A shape sent off, and how far it gets.
static void send(kk_simulator *x, int shape, kk_vec3 velocity) {
    kki_rates *V = (kki_rates *)x->data->scratch.rates + x->near.owner[shape].node;
    V->w[0] = V->w[1] = V->w[2] = 0;
    V->u[0] = velocity.x, V->u[1] = velocity.y, V->u[2] = velocity.z;
    kki_near_place(x, &(int32_t){shape}, 1);
}

/// Two that are sent at each other so that just before the end of the step they are as near as fast pairs have met; gives whether they are fast.
static int aim(const stage *s, kk_simulator *x, const kki_shape_pair *p) {
    const kki_model_shape *a = &s->model->shape[p->first], *b = &s->model->shape[p->second];
    const double thick = kki_thickness(s->model, p->first, p->second);
    kki_separation apart;
    KK_CHECK(kki_distance(&a->shape, &x->shapes.X_WS[p->first], &b->shape, &x->shapes.X_WS[p->second], NULL, &apart));
    if (!(a->node && b->node && apart.distance > 1.2 * thick)) { // what moves less is seen in the middle
        return 0;
    }
    const double speed = (apart.distance - 0.1 * thick) / x->h;
    send(x, p->first, kk_vec3_scale(apart.normal, speed));
    send(x, p->second, kk_vec3_scale(apart.normal, -speed));
    KK_CHECK(meeting_of(s, x, p, apart.distance) >= 0);
    KK_CHECK(!kki_passes_by(s->model, x, p->first, p->second, apart.distance));
    return 1;
}

KK_TEST(what_passes_by_is_followed_in_vain) {
    stage s;
    build_crowd(&s);
    if (stage_ready(&s, NULL)) {
        kk_random r = {19, 0, 0};
        int vain = 0, met = 0, aimed = 0;
        for (int turn = 0; turn < 1600; turn += 4) { // the fast ones
            int count = 0;
            move(&s, &r, turn);
            look(&s, s.simulator, &count);
            for (int i = 0; i < s.model->nshape; i++) {
                kki_near_want(s.simulator, i);
            }
            for (int i = 0; i < s.model->npair; i++) {
                follow(&s, s.simulator, &s.model->pair[i], &vain, &met);
            }
            for (int i = turn % 13; i < s.model->npair; i += 13) {
                aimed += aim(&s, s.simulator, &s.model->pair[i]);
            }
        }
        KK_CHECK(vain > 100 && met > 100 && aimed > 100);
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
    x->fast.policy = KKI_FAST_AT_MIDDLE;
    KK_CHECK_EQ_INT(kk_kinematics_velocity(s->model, x->data, kk_state_q(s->state), kk_state_v(s->state)), KK_OK);
    KK_CHECK_EQ_INT(kki_detect(s->model, x, s->state), KK_OK);
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
            KK_CHECK_EQ_INT(s.simulator->contacts.count, fresh->contacts.count);
            for (int i = 0; i < fresh->contacts.count && i < s.simulator->contacts.count; i++) {
                const kki_contact *a = &s.simulator->contacts.list[i], *b = &fresh->contacts.list[i];
                KK_CHECK(a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1] && a->gap == b->gap);
            }
            touching += fresh->contacts.count;
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

static void check_same(const double *a, const double *b, size_t count) {
    KK_CHECK(memcmp(a, b, count * sizeof *a) == 0);
}

// places of shapes are numbers of the step: the same bits from every instruction set, and those of plain arithmetic
KK_TEST(shapes_are_placed_alike) {
    stage s;
    build_robot(&s);
    if (stage_ready(&s, NULL)) {
        kk_random r = {11, 0, 0};
        const kki_near *n = &s.simulator->near;
        const kki_shape_place to = {s.simulator->shapes.X_WS, s.simulator->shapes.sphere, s.simulator->shapes.reach};
        for (int turn = 0; turn < 20; turn++) {
            int count = 0;
            move_robot(&s, &r, turn * 60);
            look(&s, s.simulator, &count);
            for (int32_t i = 1; i < s.model->nshape; i++) {
                const kk_transform X =
                    kk_transform_mul(kki_node_transform(s.simulator->data, n->owner[i].node), s.model->shape[i].X_NS);
                const kk_vec3 c = kk_transform_point(X, n->outline[i].center);
                for (int k = 0; kki_near_kernels_at(k); k++) {
                    kki_near_kernels_at(0)->place(n, s.simulator->data, &i, 1, 1e-3, &to);
                    const double expected = to.reach[i];
                    kki_near_kernels_at(k)->place(n, s.simulator->data, &i, 1, 1e-3, &to);
                    const kk_transform at = to.X_WS[i];
                    const double *ball = to.ball + 4 * i, reach = to.reach[i];
                    check_same(at.R.m, X.R.m, 9);
                    check_same((const double[]){at.p.x, at.p.y, at.p.z, ball[0], ball[1], ball[2]},
                               (const double[]){X.p.x, X.p.y, X.p.z, c.x, c.y, c.z}, 6);
                    KK_CHECK(reach == expected && reach > 0);
                }
            }
        }
    }
    stage_end(&s);
}

enum { ROUNDS = 6 };

/// Balls, capsules and cylinders on bodies that float, off their origins and turned: thin and thick ones, long and short, one with a margin.
static void build_rounds(stage *s) {
    static const kk_shape_type type[3] = {KK_SHAPE_SPHERE, KK_SHAPE_CAPSULE, KK_SHAPE_CYLINDER};
    *s = stage_begin(9.81);
    for (int i = 0; i < ROUNDS; i++) {
        const int body = stage_ball(s, 1, 0.05, 0);
        kk_shape_def def = kk_shape_def_default();
        def.type = type[i % 3];
        def.body = body;
        def.size[0] = i % 2 ? 0.03 : 0.15;
        def.size[1] = i < 3 ? 0.02 : 0.3;
        def.margin = i == 5 ? 0.04 : 0;
        def.placement.p = kk_vec3_make(0.2, 0.1 * i, 0);
        def.placement.R = kk_quat_to_mat3(kk_quat_exp(kk_vec3_make(i, 0.3 * i, 1)));
        KK_CHECK_EQ_INT(kk_spec_add_shape(s->spec, &def, NULL, &s->error), KK_OK);
    }
}

// rods of round shapes are never farther apart than the shapes are, and hardly less: not at all where nothing is flat
KK_TEST(rods_tell_how_far_round_shapes_are_apart) {
    stage s;
    build_rounds(&s);
    if (stage_ready(&s, NULL) && KK_CHECK(s.model->has_pairs)) {
        kk_random r = {23, 0, 0};
        kk_simulator *x = s.simulator;
        double told = 0, all = 0;
        for (int turn = 0; turn < 400; turn++) {
            int count = 0;
            for (int body = 1; body <= ROUNDS; body++) {
                double *q = stage_q(&s, body);
                const kk_quat turned = kk_quat_exp(kk_vec3_make(any(&r, 3), any(&r, 3), any(&r, 3)));
                q[0] = turned.w, q[1] = turned.x, q[2] = turned.y, q[3] = turned.z;
                q[4] = any(&r, 0.5), q[5] = any(&r, 0.5), q[6] = any(&r, 0.5);
            }
            look(&s, x, &count);
            for (int32_t i = 0; i < s.model->npair; i++) {
                const int a = s.model->pair[i].first, b = s.model->pair[i].second;
                const kki_shape *A = &s.model->shape[a].shape, *B = &s.model->shape[b].shape;
                const int is_flat = A->type == KK_SHAPE_CYLINDER || B->type == KK_SHAPE_CYLINDER;
                double rods = 0, same = 0;
                kki_separation apart;
                x->near.kernels->part(&x->near, x->data, &i, 1, &rods);
                kki_near_kernels_at(0)->part(&x->near, x->data, &i, 1, &same);
                check_same(&rods, &same, 1);
                kki_near_want(x, a), kki_near_want(x, b);
                KK_CHECK(kki_distance(A, &x->shapes.X_WS[a], B, &x->shapes.X_WS[b], NULL, &apart));
                KK_CHECK(rods < apart.distance + 1e-9);
                if (apart.distance > 1e-3) {
                    KK_CHECK(is_flat || rods > apart.distance - 1e-9);
                    told += rods, all += apart.distance;
                }
            }
        }
        KK_CHECK(told > 0.98 * all);
    }
    stage_end(&s);
}

// ways of links, too: a processor without vectors looks at the same pairs in the same steps
KK_TEST(ways_are_the_same_for_all_instruction_sets) {
    stage s;
    build_robot(&s);
    if (stage_ready(&s, NULL) && kki_near_kernels_at(1)) {
        kk_random r = {13, 0, 0};
        kk_simulator *other = NULL;
        KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, NULL, &other, &s.error), KK_OK);
        kki_near *a = &s.simulator->near, *b = &other->near;
        a->kernels = kki_near_kernels_at(0);
        b->kernels = kki_near_kernels_at(1);
        for (int turn = 0; turn < 200; turn++) {
            int here = 0, there = 0;
            move_robot(&s, &r, turn);
            look(&s, s.simulator, &here);
            look(&s, other, &there);
            KK_CHECK_EQ_INT(here, there);
            for (int k = 0; k < 2; k++) {
                check_same(a->moved + k * a->stride, b->moved + k * b->stride, (size_t)a->ngroup);
            }
            check_same(a->reach, b->reach, (size_t)a->ngroup);
            KK_CHECK(memcmp(a->seen, b->seen, (size_t)((a->ngroup - a->nfixed + 3) / 4) * sizeof *a->seen) == 0);
            check_same(a->key, b->key, 4 * (size_t)a->nfour);
        }
        kk_simulator_free(other);
    }
    stage_end(&s);
}

// a floor with a margin is that much higher, for what is near it as well
KK_TEST(what_is_over_a_thick_plane_rests_on_its_margin) {
    stage s = stage_begin(9.81);
    kk_shape_def floor = kk_shape_def_default();
    floor.type = KK_SHAPE_PLANE;
    floor.body = KK_WORLD;
    floor.margin = 0.05;
    KK_CHECK_EQ_INT(kk_spec_add_shape(s.spec, &floor, NULL, &s.error), KK_OK);
    const int ball = stage_ball(&s, 1, 0.1, 0), box = stage_box(&s, 1, 0.2, 0.2, 0.2, 0);
    if (stage_ready(&s, NULL)) {
        stage_place(&s, ball, 0, 0, 0.15);
        stage_place(&s, box, 1, 0, 0.15);
        stage_run(&s, 200, NULL);
        KK_CHECK_NEAR(stage_q(&s, ball)[6], 0.15, 1e-5);
        KK_CHECK_NEAR(stage_q(&s, box)[6], 0.15, 1e-5);
    }
    stage_end(&s);
}
