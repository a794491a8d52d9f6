// Folding bodies into nodes: closed forms, and random forests seen through nodes and through bodies.
#include "fixture.h"
#include "model/model.h"

static void check_transform(kk_transform a, kk_transform b, double tolerance) {
    for (int i = 0; i < 9; i++) {
        KK_CHECK_NEAR(a.R.m[i], b.R.m[i], tolerance);
    }
    KK_CHECK_NEAR(a.p.x, b.p.x, tolerance);
    KK_CHECK_NEAR(a.p.y, b.p.y, tolerance);
    KK_CHECK_NEAR(a.p.z, b.p.z, tolerance);
}

static kk_transform turn(kk_vec3 axis, double angle) {
    return kk_transform_make(kk_mat3_from_axis_angle(axis, angle), kk_vec3_make(0, 0, 0));
}

static kk_transform shift(kk_vec3 axis, double travel) {
    return kk_transform_make(kk_mat3_identity(), kk_vec3_scale(axis, travel));
}

static kk_vec3 unit(kk_vec3 a) {
    return kk_vec3_scale(a, 1 / kk_vec3_norm(a));
}

// ---- the joint's motion straight from the table in spec.h

static kk_transform planar_motion(kk_vec3 normal, kk_vec3 axis2, const double *q) {
    const kk_vec3 x = unit(kk_vec3_sub(axis2, kk_vec3_scale(normal, kk_vec3_dot(normal, axis2))));
    const kk_transform travel = kk_transform_mul(shift(x, q[0]), shift(kk_vec3_cross(normal, x), q[1]));
    return kk_transform_mul(travel, turn(normal, q[2]));
}

static kk_transform joint_motion(const kk_joint_def *joint, const double *q) {
    const kk_vec3 a = unit(joint->axis), b = unit(joint->axis2);
    switch (joint->type) {
    case KK_JOINT_HINGE: return turn(a, q[0]);
    case KK_JOINT_SLIDE: return shift(a, q[0]);
    case KK_JOINT_SCREW: return kk_transform_mul(turn(a, q[0]), shift(a, joint->pitch * q[0]));
    case KK_JOINT_CYLINDRICAL: return kk_transform_mul(turn(a, q[0]), shift(a, q[1]));
    case KK_JOINT_UNIVERSAL: return kk_transform_mul(turn(a, q[0]), turn(b, q[1]));
    case KK_JOINT_PLANAR: return planar_motion(a, b, q);
    case KK_JOINT_BALL:
        return kk_transform_make(kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}), kk_vec3_make(0, 0, 0));
    case KK_JOINT_FREE:
        return kk_transform_make(kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}), kk_vec3_make(q[4], q[5], q[6]));
    default: return kk_transform_identity();
    }
}

/// X_WB of every body, joint by joint.
static void place_bodies(kk_spec *spec, const kk_model *m, const double *q, kk_transform *X_WB) {
    X_WB[0] = kk_transform_identity();
    for (int i = 1; i < m->nbody; i++) {
        const kk_body_def *body = kk_spec_body(spec, i);
        const kk_transform X_WJ = kk_transform_mul(X_WB[body->parent], body->joint.placement);
        const kk_transform motion = joint_motion(&body->joint, q + m->body[i].q_index);
        X_WB[i] = kk_transform_mul(kk_transform_mul(X_WJ, motion), body->offset);
    }
}

// ---- the same through nodes

static kk_transform node_placement(const kki_node *n) {
    kk_transform X;
    for (int i = 0; i < 9; i++) {
        X.R.m[i] = n->R[i % 3][i / 3];
    }
    X.p = kk_vec3_make(n->p[0], n->p[1], n->p[2]);
    return X;
}

static kk_transform node_motion(const kki_node *n, const double *q) {
    static const kk_joint_type type[] = {
        [KKI_NODE_WORLD] = KK_JOINT_FIXED, [KKI_NODE_HINGE] = KK_JOINT_HINGE, [KKI_NODE_SLIDE] = KK_JOINT_SLIDE,
        [KKI_NODE_SCREW] = KK_JOINT_SCREW, [KKI_NODE_BALL] = KK_JOINT_BALL,   [KKI_NODE_FREE] = KK_JOINT_FREE};
    const kk_joint_def joint = {.type = type[n->type], .axis = {0, 0, 1}, .axis2 = {1, 0, 0}, .pitch = n->pitch};
    return joint_motion(&joint, q + n->q_index);
}

/// Where the node's angle starts (align.c).
static kk_transform node_turn(const kk_model *m, int node) {
    const double angle = m->turn_rest[node] + KK_HALF_PI * (double)m->turn_quarters[node];
    return kk_transform_make(kk_mat3_from_axis_angle(kk_vec3_make(0, 0, 1), angle), kk_vec3_make(0, 0, 0));
}

static void place_nodes(const kk_model *m, const double *q, kk_transform *X_WN) {
    X_WN[0] = kk_transform_identity();
    for (int i = 1; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        const kk_transform start = kk_transform_mul(node_placement(n), node_turn(m, i));
        X_WN[i] = kk_transform_mul(X_WN[n->parent], kk_transform_mul(start, node_motion(n, q)));
    }
}

/// Mass, first moment and moments about the world's origin.
typedef struct moments {
    double value[10];
} moments;

static void add_moments(moments *sum, kk_inertia I) {
    const kk_sym3 s = kk_sym3_add(I.moment, kk_sym3_point_mass(I.mass, I.com));
    const double value[10] = {
        I.mass, I.mass * I.com.x, I.mass * I.com.y, I.mass * I.com.z, s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
    for (int i = 0; i < 10; i++) {
        sum->value[i] += value[i];
    }
}

static kk_inertia node_inertia(const kki_node *n) {
    if (n->mass == 0) {
        return (kk_inertia){0};
    }
    const kk_vec3 c = kk_vec3_make(n->h[0] / n->mass, n->h[1] / n->mass, n->h[2] / n->mass);
    const double(*I)[4] = n->inertia;
    const kk_sym3 about_origin = {I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
    return (kk_inertia){n->mass, c, kk_sym3_add(about_origin, kk_sym3_point_mass(-n->mass, c))};
}

static void check_forest(uint64_t seed) {
    enum { BODIES = 25 };
    kk_spec *spec = fixture_random_spec(seed, BODIES);
    kk_model *m = NULL;
    if (!KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &m, NULL), KK_OK)) {
        return;
    }
    double q[7 * BODIES];
    kk_transform X_WB[BODIES + 1], X_WN[3 * BODIES + 1];
    kk_model_random_q(m, seed, 0, q);
    place_bodies(spec, m, q, X_WB);
    place_nodes(m, q, X_WN);
    moments by_body = {{0}}, by_node = {{0}};
    for (int i = 0; i < m->nbody; i++) {
        check_transform(kk_transform_mul(X_WN[m->body[i].node], m->body[i].X_NB), X_WB[i], 1e-12);
        add_moments(&by_body, kk_inertia_to(X_WB[i], kk_spec_body(spec, i)->inertia));
    }
    for (int i = 0; i < m->nnode; i++) {
        add_moments(&by_node, kk_inertia_to(X_WN[i], node_inertia(&m->node[i])));
    }
    for (int i = 0; i < 10; i++) {
        KK_CHECK_NEAR(by_node.value[i], by_body.value[i], 1e-9);
    }
    KK_CHECK_NEAR(kk_model_mass(m), by_body.value[0], 1e-12);
    kk_model_free(m);
    kk_spec_free(spec);
}

KK_TEST(nodes_carry_bodies_of_random_forests) {
    const int forests = kk_test_is_quick() ? 10 : 100;
    for (int i = 0; i < forests; i++) {
        check_forest((uint64_t)i);
    }
}

// ---- exactness

// coordinate axes enter no rounding: all entries of the node's rotation are 0 or ±1
KK_TEST(coordinate_axes_stay_exact) {
    for (int i = 0; i < 6; i++) {
        const double sign = i < 3 ? 0.3 : -7;
        kk_spec *spec = fixture_spec();
        kk_body_def body = fixture_box("a", KK_WORLD, KK_JOINT_HINGE);
        body.joint.axis = kk_vec3_make(i % 3 == 0 ? sign : 0, i % 3 == 1 ? sign : 0, i % 3 == 2 ? sign : 0);
        fixture_add(spec, body);
        kk_model *m = fixture_compile(spec);
        const kki_node *n = &m->node[1];
        for (int k = 0; k < 9; k++) {
            const double x = n->R[k / 3][k % 3];
            KK_CHECK(x == 0 || x == 1 || x == -1);
            KK_CHECK_BITS(x, n->Rt[k % 3][k / 3]);
            KK_CHECK(!(x == 0 && __builtin_signbit(x)));
        }
        KK_CHECK_BITS(n->R[2][i % 3], i < 3 ? 1.0 : -1.0);
        const kk_mat3 R = node_placement(n).R;
        const kk_vec3 z = kk_vec3_cross(kk_mat3_column(R, 0), kk_mat3_column(R, 1));
        KK_CHECK_NEAR(kk_vec3_dot(z, kk_mat3_column(R, 2)), 1, 0);
        kk_model_free(m);
    }
}

// a −0 in the input does not reach the nodes: equal models have equal bytes
KK_TEST(minus_zeros_are_dropped) {
    kk_spec *spec = fixture_spec();
    kk_body_def body = fixture_box("a", KK_WORLD, KK_JOINT_FREE);
    body.joint.placement.R = (kk_mat3){{-0.0, -0.0, 1, -0.6, 0.8, -0.0, -0.8, -0.6, -0.0}};
    body.joint.placement.p = kk_vec3_make(-0.0, -0.0, -0.0);
    fixture_add(spec, body);
    kk_model *m = fixture_compile(spec);
    for (int k = 0; k < 9; k++) {
        const double x = m->node[1].R[k / 3][k % 3];
        KK_CHECK(x != 0 || !__builtin_signbit(x));
    }
    kk_model_free(m);
}

// the slide of a cylindrical joint lies exactly on the hinge's axis
KK_TEST(cylindrical_nodes_share_their_axes) {
    kk_spec *spec = fixture_spec();
    kk_body_def body = fixture_box("a", KK_WORLD, KK_JOINT_CYLINDRICAL);
    body.joint.axis = kk_vec3_make(0.3, -0.4, 0.55);
    fixture_add(spec, body);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(m->node[1].type, KKI_NODE_HINGE);
    KK_CHECK_EQ_INT(m->node[2].type, KKI_NODE_SLIDE);
    for (int k = 0; k < 9; k++) {
        KK_CHECK_BITS(m->node[2].R[k / 3][k % 3], k % 4 == 0);
    }
    KK_CHECK_NEAR(m->node[1].mass, 0, 0);
    kk_model_free(m);
}

// ---- closed forms

// two welded half boxes make the node of one box
KK_TEST(welded_halves_are_one_box) {
    kk_spec *spec = fixture_spec();
    kk_body_def whole = fixture_box("whole", KK_WORLD, KK_JOINT_HINGE);
    whole.inertia = kk_inertia_solid_box(4, 0.8, 0.2, 0.3);
    fixture_add(spec, whole);
    kk_body_def half = fixture_box("half", KK_WORLD, KK_JOINT_HINGE);
    half.inertia = kk_inertia_solid_box(2, 0.4, 0.2, 0.3);
    half.inertia.com.x = -0.2;
    const int id = fixture_add(spec, half);
    kk_body_def other = fixture_box("other", id, KK_JOINT_FIXED);
    other.joint.placement = kk_transform_make(kk_mat3_from_rpy(KK_HALF_PI, 0, 0), kk_vec3_make(0.1, 0, 0));
    other.inertia = kk_inertia_solid_box(2, 0.4, 0.3, 0.2);
    other.inertia.com.x = 0.1;
    fixture_add(spec, other);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(m->nnode, 3);
    const kki_node *a = &m->node[1], *b = &m->node[2];
    KK_CHECK_NEAR(a->mass, b->mass, 0);
    for (int k = 0; k < 9; k++) {
        KK_CHECK_NEAR(a->inertia[k / 3][k % 3], b->inertia[k / 3][k % 3], 1e-15);
    }
    for (int k = 0; k < 4; k++) {
        KK_CHECK_NEAR(b->h[k], 0, 1e-16);
    }
    kk_model_free(m);
}

// a body welded to the world rides on node 0, and counts in the mass of the model
KK_TEST(bodies_welded_to_the_world_ride_on_node_0) {
    kk_spec *spec = fixture_spec();
    const int table = fixture_add_box(spec, "table", KK_WORLD, KK_JOINT_FIXED);
    fixture_add_box(spec, "lamp", table, KK_JOINT_HINGE);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(m->body[table].node, 0);
    KK_CHECK_EQ_INT(m->body[table].first_node, -1);
    KK_CHECK_NEAR(m->node[0].mass, 2, 0);
    KK_CHECK_NEAR(m->node[1].p[0], 1, 0);
    KK_CHECK_EQ_INT(m->node_mount[1], table);
    KK_CHECK_NEAR(kk_model_mass(m), 4, 0);
    kk_model_free(m);
}

KK_TEST(rotor_is_seen_through_the_gear) {
    kk_spec *spec = fixture_spec();
    kk_body_def body = fixture_box("a", KK_WORLD, KK_JOINT_HINGE);
    body.joint.dof[0].armature = 0.25;
    body.joint.dof[0].rotor_inertia = 0.001;
    body.joint.dof[0].gear_ratio = -50;
    fixture_add(spec, body);
    kk_model *m = fixture_compile(spec);
    KK_CHECK_NEAR(kk_model_dof(m, 0).armature, 2.75, 1e-15);
    KK_CHECK_NEAR(m->dof_armature[0], 2.75, 1e-15);
    KK_CHECK_NEAR(m->node[1].armature, 2.75, 1e-15);
    kk_model_free(m);
}

KK_TEST(padding_is_zero_and_alignment_holds) {
    kk_model *m = fixture_compile(fixture_random_spec(5, 12));
    KK_CHECK_EQ_INT((uintptr_t)m->node % 32, 0);
    for (int i = 0; i < m->nnode; i++) {
        const kki_node *n = &m->node[i];
        double sum = n->p[3] + n->h[3];
        for (int j = 0; j < 3; j++) {
            sum += n->R[j][3] + n->Rt[j][3] + n->inertia[j][3];
            for (int k = 0; k < 3; k++) {
                KK_CHECK_BITS(n->inertia[j][k], n->inertia[k][j]);
            }
        }
        KK_CHECK_BITS(sum, 0);
    }
    kk_model_free(m);
}

// π/2 cannot be written down; what is a quarter turn to rounding is one
KK_TEST(a_quarter_turn_of_a_file_is_exact) {
    kk_spec *spec = fixture_spec();
    kk_body_def body = fixture_box("a", KK_WORLD, KK_JOINT_HINGE);
    int parent = fixture_add(spec, body);
    for (int i = 0; i < 2; i++) {
        body = fixture_box(i ? "c" : "b", parent, KK_JOINT_HINGE);
        body.joint.placement.R = kk_mat3_from_rpy(i ? -1.5707963267948966 : 1.5707963267948966, 0, 0);
        parent = fixture_add(spec, body);
    }
    kk_model *m = fixture_compile(spec);
    KK_CHECK_EQ_INT(m->node[2].aligned, KKI_ALIGNED_X_FORTH);
    KK_CHECK_EQ_INT(m->node[3].aligned, KKI_ALIGNED_X_BACK);
    KK_CHECK_BITS(m->node[2].R[1][1], 0.0);
    KK_CHECK_BITS(m->node[3].R[1][2], -1.0);
    kk_model_free(m);
}

// most hinges of a robot with axes at right angles are placed by an exact turn about x, and their angles start at whole quarters
KK_TEST(hinges_are_aligned_without_rounding) {
    kk_spec *spec = NULL;
    kk_model *m = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    const kk_vec3 axis[] = {{0, 0, 1}, {0, 1, 0}, {0, -1, 0}, {1, 0, 0}, {0, 0, 1}};
    for (int i = 0; i < 5; i++) {
        kk_body_def body = kk_body_def_default();
        char name[2] = {(char)('a' + i), 0};
        body.name = name;
        body.parent = i;
        body.joint.axis = axis[i];
        body.joint.placement = kk_transform_translation(0.1, 0.2, 0.3);
        body.inertia = kk_inertia_solid_box(1, 0.1, 0.2, 0.3);
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, NULL), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &m, NULL), KK_OK);
    const int expected[] = {KKI_ALIGNED_NOT, KKI_ALIGNED_X_BACK, KKI_ALIGNED_X, KKI_ALIGNED_X_FORTH,
                            KKI_ALIGNED_X_BACK};
    for (int i = 1; i < m->nnode; i++) {
        KK_CHECK_EQ_INT(m->node[i].aligned, expected[i - 1]); // the third axis is the second one's opposite
        KK_CHECK_BITS(m->turn_rest[i], 0.0);
        for (int k = 0; k < 9; k++) {
            const double x = m->node[i].R[k / 3][k % 3];
            KK_CHECK(x == 0 || x == 1 || x == -1);
        }
    }
    kk_model_free(m);
    kk_spec_free(spec);
}
