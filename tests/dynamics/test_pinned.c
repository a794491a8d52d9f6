// Pinned inverse dynamics: the pinned link stands still, and the floor wrench found holds the free robot up as if it were free.
#include "support/scene.h"

#include <math.h>
#include <string.h>

/// A robot on one free base: the seed picks one of ours, or a random tree.
static scene free_robot(uint64_t seed) {
    if (seed % 10 == 0) {
        return scene_robot(seed % 20 ? "quadruped" : "humanoid36", seed);
    }
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_body_def base = kk_body_def_default();
    base.name = "base";
    base.joint.type = KK_JOINT_FREE;
    base.joint.placement = kk_transform_make(kk_mat3_from_rpy(0.1, 0.2, 0.3), kk_vec3_make(0.4, 0.5, 0.6));
    base.offset = kk_transform_make(kk_mat3_from_rpy(-0.3, 0.5, 0.9), kk_vec3_make(0.1, -0.2, 0.3));
    base.inertia = kk_inertia_solid_box(3, 0.3, 0.2, 0.4);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &base, NULL, NULL), KK_OK);
    robots_forest_def def = robots_forest_def_default();
    def.bodies = 1 + (int)(seed * 7 % 16);
    def.roots = 1;
    def.armature = seed % 2 == 0;
    KK_CHECK_EQ_INT(robots_random_forest(spec, seed, &def, NULL), KK_OK);
    for (int b = 2; b < kk_spec_body_count(spec); b++) { // the forest's root hangs on the base instead of the world
        kk_body_def *body = kk_spec_body(spec, b);
        body->parent = body->parent == KK_WORLD ? 1 : body->parent;
    }
    return scene_of(spec, seed);
}

typedef struct pinned {
    kk_pin pin;
    kk_pinned_result result;
    double *tau;
    double scale; // the largest force or torque
} pinned;

static kk_transform any_pose(uint64_t seed) {
    double x[6];
    for (int i = 0; i < 6; i++) {
        x[i] = kk_random_uniform_at(seed, 333, (uint64_t)i) - 0.5;
    }
    return kk_transform_make(kk_mat3_from_rpy(3 * x[0], 3 * x[1], 3 * x[2]), kk_vec3_make(x[3], x[4], x[5]));
}

static pinned pin(scene *s, int body, double height) {
    pinned p = {.pin = {body, any_pose(s->seed)}, .tau = scene_take(s, (size_t)s->nv)};
    kk_error error = {0};
    KK_CHECK_EQ_INT(
        kk_pinned_inverse_dynamics(s->model, s->data, &p.pin, height, s->q, s->v, s->a, p.tau, &p.result, &error),
        KK_OK);
    p.scale = fmax(largest(p.tau, (size_t)s->nv), largest(&p.result.floor.angular.x, 6));
    return p;
}

static double pose_error(kk_transform A, kk_transform B) {
    return fmax(relative_error(A.R.m, B.R.m, 9, 1), relative_error(&A.p.x, &B.p.x, 3, 1));
}

KK_TEST(the_pinned_link_stands_still) {
    worst pose = {0}, velocity = {0}, acceleration = {0};
    const kk_motion zero = {{0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < scene_count() / 2; i++) {
        scene s = free_robot((uint64_t)i);
        const pinned p = pin(&s, 1 + i % (s.nbody - 1), 0);
        kk_kinematics_acceleration(s.model, s.data, s.q, s.v, s.a);
        worst_note(&pose, &s, pose_error(kk_body_pose(s.model, s.data, p.pin.body), p.pin.pose));
        // scale: what the joints between base and pin do by themselves
        worst_compare_motion(&velocity, &s, kk_body_velocity(s.model, s.data, p.pin.body, KK_WORLD_ALIGNED), zero,
                             1 + largest(s.v, (size_t)s.nv));
        worst_compare_motion(&acceleration, &s, kk_body_acceleration(s.model, s.data, p.pin.body, KK_WORLD_ALIGNED),
                             zero, 1 + largest(s.a, (size_t)s.nv));
        scene_free(&s);
    }
    WORST_CHECK(pose, 1e-12);
    WORST_CHECK(velocity, 1e-12);
    WORST_CHECK(acceleration, 1e-11);
}

// the floor wrench as an external force on the pinned link of the *free* robot: same torques, none on the base
KK_TEST(pinned_is_free_with_the_found_floor_wrench) {
    worst w = {0}, base = {0}, com = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = free_robot((uint64_t)i);
        const pinned p = pin(&s, 1 + i * 3 % (s.nbody - 1), 0);
        const size_t nv = (size_t)s.nv;
        double *tau = scene_take(&s, nv), zero[6] = {0};
        memset(s.external, 0, (size_t)s.nbody * sizeof *s.external);
        kk_kinematics(s.model, s.data, s.q);
        s.external[p.pin.body] = kk_force_from(kk_body_pose(s.model, s.data, p.pin.body), p.result.floor);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, tau);
        worst_compare(&w, &s, tau, p.tau, nv, p.scale);
        KK_CHECK_BYTES(p.tau, zero, sizeof zero);
        worst_compare(&base, &s, tau, zero, 6, p.scale);
        const kk_vec3 c = kk_center_of_mass(s.model, s.data, s.q);
        worst_compare(&com, &s, &p.result.com.x, &c.x, 3, 1);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
    WORST_CHECK(base, 1e-11);
    WORST_CHECK(com, 1e-12);
}

// about the ZMP the floor has no horizontal moment, and it lies on the floor
KK_TEST(zmp_has_no_horizontal_moment) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 2; i++) {
        scene s = free_robot((uint64_t)i);
        const double height = 0.1 * (i % 5);
        const pinned p = pin(&s, 1 + i % (s.nbody - 1), height);
        const kk_vec3 lever = kk_vec3_cross(p.result.zmp, p.result.floor.linear);
        const kk_vec3 n = kk_vec3_sub(p.result.floor.angular, lever);
        const double horizontal[2] = {n.x, n.y}, none[2] = {0, 0};
        KK_CHECK_NEAR(p.result.zmp.z, height, 0);
        worst_compare(&w, &s, horizontal, none, 2, fmax(largest(&lever.x, 3), p.scale));
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-12);
}

// at rest the ZMP is under the center of mass and the floor carries the weight
KK_TEST(standing_still_the_floor_carries_the_weight) {
    scene s = scene_robot("humanoid36", 2);
    memset(s.v, 0, (size_t)s.nv * sizeof *s.v);
    memset(s.a, 0, (size_t)s.nv * sizeof *s.a);
    const pinned p =
        pin(&s, kk_model_find_body(s.model, "left_foot") > 0 ? kk_model_find_body(s.model, "left_foot") : 5, 0);
    KK_CHECK_REL(p.result.floor.linear.z, 9.81 * kk_model_mass(s.model), 1e-13);
    KK_CHECK_NEAR(p.result.floor.linear.x, 0, 1e-10);
    KK_CHECK_NEAR(p.result.floor.linear.y, 0, 1e-10);
    KK_CHECK_NEAR(p.result.zmp.x, p.result.com.x, 1e-12);
    KK_CHECK_NEAR(p.result.zmp.y, p.result.com.y, 1e-12);
    scene_free(&s);
}

// pinned elsewhere at the pose of the moment: the robot does not jump; at rest neither does the weight
KK_TEST(hand_over_does_not_jump) {
    worst q_error = {0}, floor_error = {0};
    for (int i = 0; i < scene_count() / 10; i++) {
        scene s = free_robot((uint64_t)i);
        memset(s.v, 0, (size_t)s.nv * sizeof *s.v);
        memset(s.a, 0, (size_t)s.nv * sizeof *s.a);
        const pinned first = pin(&s, 1, 0);
        double *before = scene_take(&s, (size_t)s.nq), *jump = scene_take(&s, (size_t)s.nv),
               *zero = scene_take(&s, (size_t)s.nv);
        memcpy(before, s.q, (size_t)s.nq * sizeof *before);
        kk_kinematics(s.model, s.data, s.q);
        const kk_pin next = {s.nbody - 1, kk_body_pose(s.model, s.data, s.nbody - 1)};
        kk_pinned_result result;
        KK_CHECK_EQ_INT(kk_pinned_inverse_dynamics(s.model, s.data, &next, 0, s.q, s.v, s.a, first.tau, &result, NULL),
                        KK_OK);
        kk_difference(s.model, before, s.q, jump);
        worst_compare(&q_error, &s, jump, zero, (size_t)s.nv, 1);
        worst_compare_force(&floor_error, &s, result.floor, first.result.floor, first.scale);
        scene_free(&s);
    }
    WORST_CHECK(q_error, 1e-12);
    WORST_CHECK(floor_error, 1e-11);
}

// afterwards forces in the joints can be read: action is reaction with the pin's wrench as a force from outside
KK_TEST(joint_wrenches_of_a_pinned_robot_balance) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = free_robot((uint64_t)i);
        const pinned p = pin(&s, 1 + i % (s.nbody - 1), 0);
        kk_force joint[40], left[40] = {{{0, 0, 0}, {0, 0, 0}}};
        for (int b = 1; b < s.nbody; b++) {
            joint[b] = kk_joint_wrench(s.model, s.data, b);
        }
        worst_compare_force(&w, &s, kk_floor_wrench(s.model, s.data), p.result.floor, p.scale);
        kk_kinematics_acceleration(s.model, s.data, s.q, s.v, s.a);
        left[p.pin.body] = p.result.floor;
        for (int b = 1; b < s.nbody; b++) {
            const kk_force F = kk_force_to(kk_body_pose(s.model, s.data, b), joint[b]);
            left[b] = kk_force_add(left[b], F);
            left[kk_model_body_parent(s.model, b)] = kk_force_sub(left[kk_model_body_parent(s.model, b)], F);
        }
        for (int b = 1; b < s.nbody; b++) {
            worst_compare_force(&w, &s, left[b], scene_body_load(&s, b), 10 * p.scale);
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

// a second robot in the world goes on as it was told; the floor wrench is the pinned one's alone
KK_TEST(other_trees_keep_their_motion) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(robots_arm7(spec, NULL), KK_OK);
    KK_CHECK_EQ_INT(robots_quadruped(spec, NULL), KK_OK);
    scene s = scene_of(spec, 4), alone = scene_robot("quadruped", 4), arm = scene_robot("arm7", 4);
    const kk_joint_info base = kk_model_joint(s.model, arm.nbody);
    KK_CHECK_EQ_INT(base.type, KK_JOINT_FREE);
    memcpy(alone.q, s.q + base.q_index, (size_t)alone.nq * sizeof(double));
    memcpy(alone.v, s.v + base.v_index, (size_t)alone.nv * sizeof(double));
    memcpy(alone.a, s.a + base.v_index, (size_t)alone.nv * sizeof(double));
    double *q = scene_take(&s, (size_t)s.nq), *tau = scene_take(&arm, (size_t)arm.nv);
    memcpy(q, s.q, (size_t)s.nq * sizeof *q);
    kk_inverse_dynamics(arm.model, arm.data, s.q, s.v, s.a, tau);
    const pinned both = pin(&s, arm.nbody + 4, 0), one = pin(&alone, 5, 0);
    KK_CHECK(relative_error(both.tau, tau, (size_t)arm.nv, 0) < 1e-14);
    KK_CHECK_BYTES(s.q, q, (size_t)base.q_index * sizeof *q);
    KK_CHECK(relative_error(both.tau + base.v_index, one.tau, (size_t)alone.nv, 0) < 1e-13);
    KK_CHECK(relative_error(&both.result.floor.angular.x, &one.result.floor.angular.x, 6, 0) < 1e-13);
    KK_CHECK(relative_error(&both.result.com.x, &one.result.com.x, 3, 1) < 1e-14);
    scene_free(&s);
    scene_free(&alone);
    scene_free(&arm);
}

// in free fall no floor force is vertical and there is no ZMP
KK_TEST(without_weight_there_is_no_zmp) {
    scene s = scene_robot("quadruped", 1);
    kk_spec_set_gravity(s.spec, kk_vec3_make(0, 0, 0));
    kk_spec *spec = s.spec;
    s.spec = NULL;
    scene_free(&s);
    s = scene_of(spec, 1);
    memset(s.v, 0, (size_t)s.nv * sizeof *s.v);
    memset(s.a, 0, (size_t)s.nv * sizeof *s.a);
    const pinned p = pin(&s, 1, 0.5);
    KK_CHECK(isnan(p.result.zmp.x) && isnan(p.result.zmp.y));
    scene_free(&s);
}

static void refuse(const char *robot, int body, const char *why) {
    scene s = scene_robot(robot, 1);
    const kk_pin p = {body < 0 ? body + 1 + s.nbody : body, kk_transform_identity()};
    kk_pinned_result result;
    kk_error error = {0};
    const kk_status status = kk_pinned_inverse_dynamics(s.model, s.data, &p, 0, s.q, s.v, s.a,
                                                        scene_take(&s, (size_t)s.nv), &result, &error);
    if (status == KK_OK || error.text[0] == 0) {
        KK_FAIL("%s is not refused, or without a word", why);
    }
    scene_free(&s);
}

KK_TEST(what_cannot_be_pinned_is_refused) {
    refuse("arm7", 3, "a robot without a free base");
    refuse("quadruped", KK_WORLD, "the world");
    refuse("quadruped", -1, "a body that does not exist");
}
