// Kinematics: poses by multiplying transforms along the tree, velocities and accelerations by differences of what comes before them.
#include "support/scene.h"

#include <karakuri/elementary.h>
#include <math.h>

static kk_transform turn(kk_vec3 axis, double angle) {
    const double s = sin(angle), c = cos(angle);
    kk_mat3 R;
    for (int j = 0; j < 3; j++) { // Rodrigues, column by column
        const kk_vec3 e = kk_vec3_make(j == 0, j == 1, j == 2);
        const kk_vec3 x = kk_vec3_add(kk_vec3_add(kk_vec3_scale(e, c), kk_vec3_scale(kk_vec3_cross(axis, e), s)),
                                      kk_vec3_scale(axis, (1 - c) * kk_vec3_dot(axis, e)));
        R.m[j] = x.x;
        R.m[3 + j] = x.y;
        R.m[6 + j] = x.z;
    }
    return kk_transform_make(R, kk_vec3_make(0, 0, 0));
}

static kk_transform slide(kk_vec3 axis, double x) {
    return kk_transform_make(kk_mat3_identity(), kk_vec3_scale(axis, x));
}

/// The joint's own transform, from its description in spec.h.
static kk_transform joint_transform(const kk_joint_def *joint, const double *q) {
    const kk_vec3 z = kk_vec3_scale(joint->axis, 1 / kk_vec3_norm(joint->axis)), x = joint->axis2;
    const kk_mat3 Q =
        joint->type >= KK_JOINT_BALL ? kk_quat_to_mat3((kk_quat){q[0], q[1], q[2], q[3]}) : (kk_mat3){{0}};
    switch (joint->type) {
    case KK_JOINT_FIXED: return kk_transform_identity();
    case KK_JOINT_HINGE: return turn(z, q[0]);
    case KK_JOINT_SLIDE: return slide(z, q[0]);
    case KK_JOINT_SCREW: return kk_transform_mul(slide(z, joint->pitch * q[0]), turn(z, q[0]));
    case KK_JOINT_CYLINDRICAL: return kk_transform_mul(slide(z, q[1]), turn(z, q[0]));
    case KK_JOINT_UNIVERSAL: return kk_transform_mul(turn(z, q[0]), turn(x, q[1]));
    case KK_JOINT_PLANAR:
        return kk_transform_mul(kk_transform_mul(slide(x, q[0]), slide(kk_vec3_cross(z, x), q[1])), turn(z, q[2]));
    case KK_JOINT_BALL: return kk_transform_make(Q, kk_vec3_make(0, 0, 0));
    case KK_JOINT_FREE: return kk_transform_make(Q, kk_vec3_make(q[4], q[5], q[6]));
    }
    return kk_transform_identity();
}

static double pose_error(kk_transform X, kk_transform Y) {
    return fmax(relative_error(X.R.m, Y.R.m, 9, 1), relative_error(&X.p.x, &Y.p.x, 3, 1));
}

KK_TEST(poses_are_products_along_the_tree) {
    worst bodies = {0}, frames = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        kk_transform X[32] = {kk_transform_identity()};
        kk_kinematics(s.model, s.data, s.q);
        for (int b = 1; b < s.nbody; b++) {
            const kk_body_def *def = kk_spec_body(s.spec, b);
            const kk_transform X_PJ = kk_transform_mul(
                def->joint.placement, joint_transform(&def->joint, s.q + kk_model_joint(s.model, b).q_index));
            X[b] = kk_transform_mul(X[def->parent], kk_transform_mul(X_PJ, def->offset));
            worst_note(&bodies, &s, pose_error(kk_body_pose(s.model, s.data, b), X[b]));
        }
        for (int f = 0; f < kk_model_nframe(s.model); f++) {
            const kk_frame_def *def = kk_spec_frame(s.spec, f);
            const kk_transform X_WF = kk_transform_mul(X[def->body], def->placement);
            worst_note(&frames, &s, pose_error(kk_frame_pose(s.model, s.data, f), X_WF));
        }
        scene_free(&s);
    }
    WORST_CHECK(bodies, 1e-13);
    WORST_CHECK(frames, 1e-13);
}

// ---- rates

static void poses(const scene *s, const double *q, const double *v, double *out) {
    (void)v;
    kk_kinematics(s->model, s->data, q);
    for (int b = 0; b < s->nbody; b++, out += 12) {
        const kk_transform X = kk_body_pose(s->model, s->data, b);
        for (int i = 0; i < 9; i++) {
            out[i] = X.R.m[i];
        }
        out[9] = X.p.x;
        out[10] = X.p.y;
        out[11] = X.p.z;
    }
}

static void velocities(const scene *s, const double *q, const double *v, double *out) {
    kk_kinematics_velocity(s->model, s->data, q, v);
    kk_motion *V = (kk_motion *)(void *)out;
    for (int b = 0; b < s->nbody; b++) {
        for (int reference = KK_LOCAL; reference <= KK_WORLD_ALIGNED; reference++) {
            *V++ = kk_body_velocity(s->model, s->data, b, (kk_reference)reference);
        }
    }
}

/// ω of dR/dt Rᵀ.
static kk_vec3 spin_of(const double *dR, kk_mat3 R) {
    kk_mat3 D;
    for (int i = 0; i < 9; i++) {
        D.m[i] = dR[i];
    }
    const kk_mat3 W = kk_mat3_mul(D, kk_mat3_transpose(R));
    return kk_vec3_make(0.5 * (W.m[7] - W.m[5]), 0.5 * (W.m[2] - W.m[6]), 0.5 * (W.m[3] - W.m[1]));
}

// scale: angular and linear speed of the fastest body; the differences keep 11 digits of it with a step of 1/128 s
KK_TEST(velocity_is_the_rate_of_the_pose) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = scene_forest((uint64_t)i);
        double *rate = scene_take(&s, 12 * (size_t)s.nbody);
        scene_rate(&s, 0x1p-7, poses, 12 * (size_t)s.nbody, rate);
        const double scale = 1 + largest(rate, 12 * (size_t)s.nbody);
        kk_kinematics_velocity(s.model, s.data, s.q, s.v);
        for (int b = 0; b < s.nbody; b++) {
            const kk_transform X = kk_body_pose(s.model, s.data, b);
            const kk_motion V = {spin_of(rate + 12 * b, X.R),
                                 kk_vec3_make(rate[12 * b + 9], rate[12 * b + 10], rate[12 * b + 11])};
            worst_compare_motion(&w, &s, kk_body_velocity(s.model, s.data, b, KK_WORLD_ALIGNED), V, scale);
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

// In axes and about a point that move with the body, and in the world about its origin, the spatial acceleration is the plain rate of
// the velocity's components; about the body's origin with axes of the world the plain rate is the classical acceleration.
KK_TEST(acceleration_is_the_rate_of_the_velocity) {
    worst local = {0}, origin = {0}, classical = {0};
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t n = 18 * (size_t)s.nbody;
        double *rate = scene_take(&s, n);
        scene_rate(&s, 0x1p-7, velocities, n, rate);
        const kk_motion *A = (const kk_motion *)(void *)rate;
        const double scale = 1 + largest(rate, n);
        kk_kinematics_acceleration(s.model, s.data, s.q, s.v, s.a);
        for (int b = 0; b < s.nbody; b++) {
            const kk_motion c = kk_body_classical_acceleration(s.model, s.data, b, KK_WORLD_ALIGNED);
            worst_compare_motion(&local, &s, kk_body_acceleration(s.model, s.data, b, KK_LOCAL), A[3 * b], scale);
            worst_compare_motion(&origin, &s, kk_body_acceleration(s.model, s.data, b, KK_WORLD_ORIGIN), A[3 * b + 1],
                                 scale);
            worst_compare_motion(&classical, &s, c, A[3 * b + 2], scale);
        }
        scene_free(&s);
    }
    WORST_CHECK(local, 1e-11);
    WORST_CHECK(origin, 1e-11);
    WORST_CHECK(classical, 1e-11);
}

/// Only the axes of the world about the frame's own origin.
static kk_transform aligned_with_world(kk_transform X_WF) {
    return kk_transform_make(kk_mat3_identity(), X_WF.p);
}

static kk_motion classical_of(kk_motion A, kk_motion V) {
    return kk_motion_make(A.angular, kk_vec3_add(A.linear, kk_vec3_cross(V.angular, V.linear)));
}

// one motion, three references: each follows from the local one by the transforms of math.h
KK_TEST(references_of_frames_agree) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        kk_kinematics_acceleration(s.model, s.data, s.q, s.v, s.a);
        for (int f = 0; f < kk_model_nframe(s.model); f++) {
            const int b = kk_model_frame_body(s.model, f);
            const kk_transform X_BF = kk_model_frame_placement(s.model, f), X_WF = kk_frame_pose(s.model, s.data, f);
            const kk_motion V = kk_motion_from(X_BF, kk_body_velocity(s.model, s.data, b, KK_LOCAL));
            const kk_motion A = kk_motion_from(X_BF, kk_body_acceleration(s.model, s.data, b, KK_LOCAL));
            const kk_motion C = classical_of(A, V);
            const kk_transform X_AF = kk_transform_make(X_WF.R, kk_vec3_make(0, 0, 0)); // local to aligned
            worst_compare_motion(&w, &s, kk_frame_velocity(s.model, s.data, f, KK_LOCAL), V, 1);
            worst_compare_motion(&w, &s, kk_frame_velocity(s.model, s.data, f, KK_WORLD_ALIGNED), kk_motion_to(X_AF, V),
                                 1);
            worst_compare_motion(&w, &s, kk_frame_velocity(s.model, s.data, f, KK_WORLD_ORIGIN), kk_motion_to(X_WF, V),
                                 1);
            worst_compare_motion(&w, &s, kk_frame_acceleration(s.model, s.data, f, KK_LOCAL), A, 1);
            worst_compare_motion(&w, &s, kk_frame_acceleration(s.model, s.data, f, KK_WORLD_ALIGNED),
                                 kk_motion_to(X_AF, A), 1);
            worst_compare_motion(&w, &s, kk_frame_acceleration(s.model, s.data, f, KK_WORLD_ORIGIN),
                                 kk_motion_to(X_WF, A), 1);
            worst_compare_motion(&w, &s, kk_frame_classical_acceleration(s.model, s.data, f, KK_LOCAL), C, 1);
            worst_compare_motion(&w, &s, kk_frame_classical_acceleration(s.model, s.data, f, KK_WORLD_ALIGNED),
                                 kk_motion_to(X_AF, C), 1);
            worst_compare_motion(&w, &s, kk_body_velocity(s.model, s.data, b, KK_WORLD_ALIGNED),
                                 kk_motion_from(aligned_with_world(kk_body_pose(s.model, s.data, b)),
                                                kk_body_velocity(s.model, s.data, b, KK_WORLD_ORIGIN)),
                                 1);
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-12);
}

KK_TEST(the_world_stands_still) {
    scene s = scene_robot("humanoid36", 1);
    kk_kinematics_acceleration(s.model, s.data, s.q, s.v, s.a);
    const kk_motion V = kk_body_velocity(s.model, s.data, KK_WORLD, KK_LOCAL),
                    A = kk_body_acceleration(s.model, s.data, KK_WORLD, KK_LOCAL), zero = {{0, 0, 0}, {0, 0, 0}};
    KK_CHECK_BYTES(&V, &zero, sizeof zero);
    KK_CHECK_BYTES(&A, &zero, sizeof zero);
    KK_CHECK_NEAR(pose_error(kk_body_pose(s.model, s.data, KK_WORLD), kk_transform_identity()), 0, 0);
    scene_free(&s);
}

// sine and cosine of the kernels, seen through a hinge about z: within 2 ulp of the library's own (each is within 1), many turns away
KK_TEST(angles_of_many_turns) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_body_def body = kk_body_def_default();
    body.name = "wheel";
    body.inertia = kk_inertia_solid_sphere(1, 1);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, NULL), KK_OK);
    scene s = scene_of(spec, 1);
    const int count = kk_test_is_quick() ? 20000 : 200000;
    worst sine = {0}, cosine = {0};
    for (int i = 0; i < count; i++) {
        static const double reach[] = {1e-300, 1e-8, 1, 10, 1e3, 1.5e6};
        const double q = reach[i % 6] * (2 * kk_random_uniform_at(1, 2, (uint64_t)i) - 1);
        kk_kinematics(s.model, s.data, &q);
        const kk_mat3 R = kk_body_pose(s.model, s.data, 1).R;
        const double expected[2] = {kk_sin(q), kk_cos(q)};
        // relative to the value itself: a small sine keeps its digits
        worst_compare(&sine, &s, &R.m[3], &expected[0], 1, 0);
        worst_compare(&cosine, &s, &R.m[0], &expected[1], 1, 0);
    }
    WORST_CHECK(sine, 4.5e-16);
    WORST_CHECK(cosine, 4.5e-16);
    scene_free(&s);
}
