// Numbering: nodes by depth, degrees of freedom depth first, and what kernels rely on.
#include "fixture.h"
#include "model/model.h"

/// Torso with two arms; the second arm's parts were added before the first arm's last.
static kk_spec *two_arms(void) {
    kk_spec *spec = fixture_spec();
    const int torso = fixture_add_box(spec, "torso", KK_WORLD, KK_JOINT_FREE);
    const int left = fixture_add_box(spec, "left", torso, KK_JOINT_UNIVERSAL);
    const int right = fixture_add_box(spec, "right", torso, KK_JOINT_HINGE);
    fixture_add_box(spec, "left_hand", left, KK_JOINT_BALL);
    const int plate = fixture_add_box(spec, "plate", right, KK_JOINT_FIXED);
    fixture_add_box(spec, "right_hand", plate, KK_JOINT_SLIDE);
    return spec;
}

KK_TEST(coordinates_are_numbered_depth_first) {
    kk_model *m = fixture_compile(two_arms());
    static const struct {
        const char *joint;
        int q, nq, v, nv;
    } expected[] = {{"torso_joint", 0, 7, 0, 6},   {"left_joint", 7, 2, 6, 2},    {"left_hand_joint", 9, 4, 8, 3},
                    {"right_joint", 13, 1, 11, 1}, {"plate_joint", 14, 0, 12, 0}, {"right_hand_joint", 14, 1, 12, 1}};
    for (int i = 0; i < 6; i++) {
        const kk_joint_info joint = kk_model_joint(m, kk_model_find_joint(m, expected[i].joint));
        KK_CHECK_STR(joint.name, expected[i].joint);
        KK_CHECK_EQ_INT(joint.q_index, expected[i].q);
        KK_CHECK_EQ_INT(joint.nq, expected[i].nq);
        KK_CHECK_EQ_INT(joint.v_index, expected[i].v);
        KK_CHECK_EQ_INT(joint.nv, expected[i].nv);
    }
    KK_CHECK_EQ_INT(kk_model_nq(m), 15);
    KK_CHECK_EQ_INT(kk_model_nv(m), 13);
    kk_model_free(m);
}

KK_TEST(nodes_are_numbered_by_depth) {
    kk_model *m = fixture_compile(two_arms());
    // torso | left (first), right | left (second), right hand | left hand
    static const int32_t body[] = {0, 1, 2, 3, 2, 6, 4}, parent[] = {-1, 0, 1, 1, 2, 3, 4},
                         v[] = {0, 0, 6, 11, 7, 12, 8};
    KK_CHECK_EQ_INT(m->nnode, 7);
    for (int i = 0; i < 7; i++) {
        KK_CHECK_EQ_INT(m->node_body[i], body[i]);
        KK_CHECK_EQ_INT(m->node[i].parent, parent[i]);
        KK_CHECK_EQ_INT(m->node[i].v_index, v[i]);
    }
    KK_CHECK_EQ_INT(m->body[2].first_node, 2);
    KK_CHECK_EQ_INT(m->body[2].node, 4);
    KK_CHECK_EQ_INT(m->body[5].node, 3);
    KK_CHECK_EQ_INT(m->node_mount[5], 5);
    kk_model_free(m);
}

KK_TEST(branches_of_the_inertia_matrix) {
    kk_model *m = fixture_compile(two_arms());
    static const int32_t parent[] = {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 5, 11};
    static const int32_t end[] = {13, 13, 13, 13, 13, 13, 11, 11, 11, 11, 11, 13, 13};
    for (int i = 0; i < 13; i++) {
        KK_CHECK_EQ_INT(m->dof_parent[i], parent[i]);
        KK_CHECK_EQ_INT(m->dof_subtree[i], end[i]);
    }
    kk_model_free(m);
}

static int depth_of(const kk_model *m, int node) {
    int depth = 0;
    for (; node > 0; node = m->node[node].parent) {
        depth++;
    }
    return depth;
}

/// 1 if dof a is b or on the way from b to the root.
static int is_ancestor(const kk_model *m, int a, int b) {
    while (b > a) {
        b = m->dof_parent[b];
    }
    return a == b;
}

static void check_order(const kk_model *m) {
    for (int i = 2; i < m->nnode; i++) {
        const int before = depth_of(m, i - 1), depth = depth_of(m, i);
        KK_CHECK(before < depth || (before == depth && m->node_body[i - 1] < m->node_body[i]));
    }
    for (int a = 0; a < m->nv; a++) {
        KK_CHECK(m->node[m->dof_node[a]].v_index <= a &&
                 a < m->node[m->dof_node[a]].v_index + m->node_nv[m->dof_node[a]]);
        for (int b = a; b < m->nv; b++) {
            KK_CHECK_EQ_INT(is_ancestor(m, a, b), b < m->dof_subtree[a]);
        }
    }
}

// nodes by depth then body; a subtree is one range of v
KK_TEST(order_of_random_forests) {
    for (uint64_t seed = 0; seed < 30; seed++) {
        kk_model *m = fixture_compile(fixture_random_spec(seed, 30));
        check_order(m);
        kk_model_free(m);
    }
}

KK_TEST(empty_model_has_only_the_world) {
    kk_model *m = fixture_compile(fixture_spec());
    KK_CHECK_EQ_INT(kk_model_nq(m), 0);
    KK_CHECK_EQ_INT(kk_model_nv(m), 0);
    KK_CHECK_EQ_INT(kk_model_nbody(m), 1);
    KK_CHECK_STR(kk_model_body_name(m, 0), "world");
    KK_CHECK_EQ_INT(kk_model_find_body(m, "world"), 0);
    KK_CHECK_EQ_INT(kk_model_find_joint(m, ""), -1);
    KK_CHECK_EQ_INT(kk_model_find_frame(m, "x"), -1);
    kk_model_free(m);
}
