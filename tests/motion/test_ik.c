// Inverse kinematics: goals that are known to be reachable are reached, from anywhere, within limits; priorities hold exactly.
#include <karakuri/ik.h>
#include <string.h>

#include "../../models/robots.h"
#include "harness.h"
#include "motion/ik.h"
#include "our_models.h"
#include "support/allocations.h"

typedef struct fixture {
    kk_model *model;
    kk_data *data;
    kk_ik *ik;
    double q[64], goal_q[64];
} fixture;

static void begin(fixture *f, const char *robot) {
    kk_spec *spec = NULL;
    kk_error error = {0};
    *f = (fixture){0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(robots_find(robot)->build(spec, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &f->model, &error), KK_OK);
    kk_spec_free(spec);
    KK_CHECK_EQ_INT(kk_data_create(f->model, NULL, &f->data), KK_OK);
    KK_CHECK_EQ_INT(kk_ik_create(f->model, 6, NULL, &f->ik), KK_OK);
    kk_model_neutral(f->model, f->q);
}

static void end(fixture *f) {
    kk_ik_free(f->ik);
    kk_data_free(f->data);
    kk_model_free(f->model);
}

static kk_transform pose_of(fixture *f, int frame, const double *q) {
    kk_kinematics(f->model, f->data, q);
    return kk_frame_pose(f->model, f->data, frame);
}

static double distance(kk_transform a, kk_transform b) {
    const kk_vec3 r = kk_quat_log(kk_quat_from_mat3(kk_mat3_mul(a.R, kk_mat3_transpose(b.R))));
    return kk_vec3_norm(kk_vec3_sub(a.p, b.p)) + kk_vec3_norm(r);
}

static int is_within_limits(const fixture *f, const double *q) {
    int good = 1;
    for (int b = 1; b < kk_model_nbody(f->model); b++) {
        const kk_joint_info j = kk_model_joint(f->model, b);
        if (j.nq == 1) {
            const kk_dof_def d = kk_model_dof(f->model, j.v_index);
            good = good && q[j.q_index] >= d.lower - 1e-14 && q[j.q_index] <= d.upper + 1e-14;
        }
    }
    return good;
}

/// Random goals, which are poses of random postures, from random starts. Gives how many were missed.
static int missed(fixture *f, const char *frame, int goals) {
    const int id = kk_model_find_frame(f->model, frame);
    int lost = 0;
    KK_CHECK(id >= 0);
    for (int i = 0; i < goals; i++) {
        kk_ik_task task = kk_ik_task_default();
        kk_ik_report report;
        unsigned char fixed[64] = {0};
        memset(fixed, kk_model_nq(f->model) > kk_model_nv(f->model), 6); // a free base stays
        kk_model_random_q(f->model, 11, (uint64_t)i, f->goal_q);
        kk_model_random_q(f->model, 12, (uint64_t)i, f->q);
        if (fixed[0]) {
            kk_model_neutral(f->model, f->q);
            memcpy(f->goal_q, f->q, 7 * sizeof(double));
        }
        task.frame = id;
        task.goal = pose_of(f, id, f->goal_q);
        const kk_ik_options o = {.max_tries = 200, .seed = (uint64_t)i, .fixed = fixed};
        const kk_status status = kk_ik_solve(f->model, f->ik, &task, 1, &o, f->q, &report, NULL);
        lost += status != KK_OK;
        // what is said to be reached is reached, and within limits
        KK_CHECK(status != KK_OK || distance(task.goal, pose_of(f, id, f->q)) < 1e-9);
        KK_CHECK(is_within_limits(f, f->q));
    }
    return lost;
}

KK_TEST(ik_reaches_random_goals_of_an_arm) {
    fixture f;
    begin(&f, "arm7");
    KK_CHECK_EQ_INT(missed(&f, "flange", kk_test_is_quick() ? 100 : 1000), 0);
    end(&f);
}

KK_TEST(ik_reaches_random_goals_of_legs_and_arms) {
    fixture f;
    begin(&f, "humanoid36");
    KK_CHECK_EQ_INT(missed(&f, "left_sole", kk_test_is_quick() ? 50 : 200), 0);
    KK_CHECK_EQ_INT(missed(&f, "right_palm", kk_test_is_quick() ? 50 : 200), 0);
    end(&f);
}

static int is_above(const kk_model *m, int body, int above) {
    for (; body > 0; body = kk_model_body_parent(m, body)) {
        if (body == above) {
            return 1;
        }
    }
    return 0;
}

// random starts are for the limb that is asked for: what does not carry its frame stays where it was, to the last bit
KK_TEST(ik_leaves_other_limbs_alone) {
    fixture f;
    begin(&f, "humanoid36");
    kk_ik_task task = kk_ik_task_default();
    kk_ik_report report;
    task.frame = kk_model_find_frame(f.model, "left_sole");
    task.goal.p = kk_vec3_make(9, 0, 0); // out of reach, so that every try is taken
    unsigned char fixed[64] = {1, 1, 1, 1, 1, 1};
    kk_model_neutral(f.model, f.q);
    for (int k = 7; k < kk_model_nq(f.model); k++) {
        f.q[k] = 0.01 * k; // within the limits of all joints, or brought there
    }
    const kk_ik_options once = {.max_iterations = 1, .fixed = fixed}, o = {.max_tries = 20, .fixed = fixed};
    kk_ik_solve(f.model, f.ik, &task, 1, &once, f.q, &report, NULL);
    memcpy(f.goal_q, f.q, (size_t)kk_model_nq(f.model) * sizeof *f.q);
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, &task, 1, &o, f.q, &report, NULL), KK_NOT_CONVERGED);
    KK_CHECK_EQ_INT(report.tries, 20);
    int moved = 0;
    for (int b = 2; b < kk_model_nbody(f.model); b++) {
        const kk_joint_info joint = kk_model_joint(f.model, b);
        const int is_same = joint.nv == 0 || f.q[joint.q_index] == f.goal_q[joint.q_index];
        const int carries = is_above(f.model, kk_model_frame_body(f.model, task.frame), b);
        KK_CHECK(is_same || carries);
        moved += !is_same;
    }
    KK_CHECK(moved >= 6);
    end(&f);
}

// a goal out of reach: the first priority fails, the answer is the nearest point, on the line to the goal
KK_TEST(ik_of_a_goal_out_of_reach_points_there) {
    fixture f;
    begin(&f, "arm7");
    kk_ik_task task = kk_ik_task_default();
    kk_ik_report report;
    task.frame = kk_model_find_frame(f.model, "flange");
    task.weight[0] = task.weight[1] = task.weight[2] = 0;
    task.goal.p = kk_vec3_make(3, 0, 0.333);
    const kk_ik_options o = {.max_tries = 5, .max_iterations = 300};
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, &task, 1, &o, f.q, &report, NULL), KK_NOT_CONVERGED);
    KK_CHECK_EQ_INT(report.is_reached, 0);
    const kk_transform X = pose_of(&f, task.frame, f.q);
    KK_CHECK(X.p.x > 0.8 && X.p.y * X.p.y + (X.p.z - 0.333) * (X.p.z - 0.333) < 0.01);
    end(&f);
}

// feet first, then the center of mass, then the hands: what is above is exact whatever is asked below
KK_TEST(ik_priorities_hold) {
    fixture f;
    begin(&f, "humanoid36");
    static const char *const names[] = {"left_thigh_joint",  "left_shin_joint",  "left_ankle_pitch_joint",
                                        "right_thigh_joint", "right_shin_joint", "right_ankle_pitch_joint"};
    static const double bend[] = {-0.45, 0.9, -0.45, -0.45, 0.9, -0.45};
    for (int i = 0; i < 6; i++) {
        f.q[kk_model_joint(f.model, kk_model_find_joint(f.model, names[i])).q_index] = bend[i];
    }
    kk_ik_task task[4] = {kk_ik_task_default(), kk_ik_task_default(), kk_ik_task_default(), kk_ik_task_default()};
    for (int i = 0; i < 2; i++) {
        task[i].frame = kk_model_find_frame(f.model, i ? "right_sole" : "left_sole");
        task[i].goal = pose_of(&f, task[i].frame, f.q);
    }
    task[2].type = KK_IK_COM;
    task[2].priority = 1;
    task[2].goal.p = kk_vec3_add(kk_center_of_mass(f.model, f.data, f.q), kk_vec3_make(0.02, 0.05, -0.03));
    kk_ik_report report;
    double near[64];
    memcpy(near, f.q, sizeof near);
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, task, 3, NULL, near, &report, NULL), KK_OK);
    KK_CHECK(report.is_reached && report.iterations <= 6);     // both levels at once: as Newton's method
    task[3].frame = kk_model_find_frame(f.model, "left_palm"); // far out of reach
    task[3].priority = 2;
    task[3].goal.p = kk_vec3_make(3, 1, 1);
    const kk_ik_options o = {.max_iterations = 200};
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, task, 4, &o, f.q, &report, NULL), KK_OK);
    KK_CHECK_EQ_INT(report.is_reached, 0);
    KK_CHECK(report.error[0] < 1e-8);
    KK_CHECK(report.error[1] < 1e-6);
    KK_CHECK(report.error[2] > 0.1);
    for (int i = 0; i < 2; i++) {
        KK_CHECK(distance(task[i].goal, pose_of(&f, task[i].frame, f.q)) < 1e-8);
    }
    // and the hand stretched towards its goal
    KK_CHECK(pose_of(&f, task[3].frame, f.q).p.x > 0.5);
    end(&f);
}

// a momentum task: the posture moves so that its mean momentum is the one wanted
KK_TEST(ik_momentum_of_a_floating_robot) {
    fixture f;
    begin(&f, "humanoid36");
    double A[6 * 36], d[36], start[64];
    memcpy(start, f.q, sizeof start);
    kk_ik_task task[2] = {kk_ik_task_default(), kk_ik_task_default()};
    task[0].type = KK_IK_MOMENTUM; // none: it only bends
    task[1].frame = kk_model_find_frame(f.model, "left_palm");
    task[1].priority = 1;
    task[1].goal = pose_of(&f, task[1].frame, f.q);
    task[1].goal.p.x += 0.1;
    memset(task[1].weight, 0, 3 * sizeof(double));
    kk_ik_report report;
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, task, 2, NULL, f.q, &report, NULL), KK_OK);
    KK_CHECK(report.is_reached);
    kk_centroidal(f.model, f.data, start, A);
    kk_difference(f.model, start, f.q, d);
    for (int k = 0; k < 6; k++) {
        double h = 0;
        for (int i = 0; i < 36; i++) {
            h += A[36 * k + i] * d[i];
        }
        KK_CHECK_NEAR(h, 0, 58 * 1e-10); // the tolerance, times the mass
    }
    KK_CHECK_NEAR(pose_of(&f, task[1].frame, f.q).p.x, task[1].goal.p.x, 1e-9);
    end(&f);
}

KK_TEST(ik_allocates_nothing_and_refuses_nonsense) {
    fixture f;
    begin(&f, "arm7");
    kk_ik_task task = kk_ik_task_default();
    kk_error error = {0};
    task.frame = kk_model_find_frame(f.model, "flange");
    kk_model_random_q(f.model, 3, 3, f.goal_q);
    task.goal = pose_of(&f, task.frame, f.goal_q);
    const kk_ik_options o = {.max_tries = 50};
    const long before = allocations_so_far();
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, &task, 1, &o, f.q, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT((int)(allocations_so_far() - before), 0);
    task.frame = 99;
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, &task, 1, &o, f.q, NULL, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "99") != NULL);
    task = kk_ik_task_default();
    task.priority = KK_IK_MAX_LEVELS;
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, &task, 1, &o, f.q, NULL, &error), KK_INVALID_ARGUMENT);
    end(&f);
}

// ---- couplings and loops

static int add_hinge(kk_spec *spec, int parent, kk_vec3 at, kk_vec3 axis, const char *name) {
    kk_body_def body = kk_body_def_default();
    int id = -1;
    body.name = name;
    body.parent = parent;
    body.joint.type = KK_JOINT_HINGE;
    body.joint.axis = axis;
    body.joint.placement.p = at;
    body.inertia = (kk_inertia){.mass = 1, .com = kk_vec3_make(0.1, 0, 0), .moment = {0.01, 0.01, 0.01, 0, 0, 0}};
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &id, NULL), KK_OK);
    return id;
}

static void finish(fixture *f, kk_spec *spec) {
    kk_error error = {0};
    *f = (fixture){0};
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &f->model, &error), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create(f->model, NULL, &f->data), KK_OK);
    KK_CHECK_EQ_INT(kk_ik_create(f->model, 2, NULL, &f->ik), KK_OK);
    kk_model_neutral(f->model, f->q);
}

// a finger whose last joint mimics the one before: half of its angle and a bit. Two angles, two numbers of the tip: a circle's worth of goals
KK_TEST(ik_keeps_couplings) {
    fixture f;
    kk_spec *spec = NULL;
    const kk_vec3 y = {0, 1, 0}, link = {0.2, 0, 0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    const int a = add_hinge(spec, KK_WORLD, kk_vec3_make(0, 0, 0), y, "a");
    const int b = add_hinge(spec, a, link, y, "b"), c = add_hinge(spec, b, link, y, "c");
    kk_coupling_def mimic = kk_coupling_def_default();
    mimic.leader = "b_joint";
    mimic.follower = "c_joint";
    mimic.ratio = 0.5;
    mimic.offset = 0.1;
    KK_CHECK_EQ_INT(kk_spec_add_coupling(spec, &mimic, NULL, NULL), KK_OK);
    finish(&f, spec);
    for (int i = 0; i < 200; i++) {
        kk_ik_task task = kk_ik_task_default();
        task.body = c;
        memset(task.weight, 0, 3 * sizeof(double));
        kk_model_random_q(f.model, 1, (uint64_t)i, f.goal_q);
        kk_model_random_q(f.model, 2, (uint64_t)i, f.q); // with the coupling broken
        kk_couplings_apply(f.model, f.goal_q, NULL);
        kk_kinematics(f.model, f.data, f.goal_q);
        task.goal = kk_body_pose(f.model, f.data, c);
        const kk_ik_options o = {.max_tries = 50, .seed = (uint64_t)i};
        KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, &task, 1, &o, f.q, NULL, NULL), KK_OK);
        kk_kinematics(f.model, f.data, f.q);
        KK_CHECK(kk_vec3_norm(kk_vec3_sub(kk_body_pose(f.model, f.data, c).p, task.goal.p)) < 1e-9);
        KK_CHECK_NEAR(f.q[2], 0.5 * f.q[1] + 0.1, 1e-9);
    }
    // the tip's whole pose asks for three numbers of two: out of reach, and the coupling holds all the same
    kk_ik_task far = kk_ik_task_default();
    kk_ik_report report;
    far.body = c;
    far.goal.p = kk_vec3_make(0.3, 0, 0.1);
    KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, &far, 1, NULL, f.q, &report, NULL), KK_NOT_CONVERGED);
    KK_CHECK_NEAR(f.q[2], 0.5 * f.q[1] + 0.1, 1e-3);
    kk_spec_free(spec);
    end(&f);
}

// two arms of four hinges from the world, held together by each kind of loop; it is closed at zero, because B was put where A is
static void two_arms(fixture *f, kk_loop_type type, kk_transform AB) {
    static const double axes[8][3] = {{0, 0, 1}, {0, 1, 0},     {1, 0, 0},     {0, 1, 0},
                                      {0, 0, 1}, {0.6, 0.8, 0}, {0, 0.6, 0.8}, {1, 0, 0}};
    kk_spec *spec = NULL;
    int arm[2] = {KK_WORLD, KK_WORLD};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    for (int k = 0; k < 8; k++) {
        const kk_vec3 axis = {axes[k][0], axes[k][1], axes[k][2]};
        char name[8] = {'a', (char)('0' + k), 0};
        const int side = k / 4;
        arm[side] = add_hinge(spec, arm[side], kk_vec3_make(0.1 * (k % 3), 0.2, 0.1 * side), axis, name);
    }
    finish(f, spec);
    kk_loop_def loop = kk_loop_def_default();
    loop.type = type;
    loop.body[0] = arm[0];
    loop.body[1] = arm[1];
    loop.placement[0].p = kk_vec3_make(0.1, -0.2, 0.3);
    kk_kinematics(f->model, f->data, f->q);
    const kk_transform A = kk_transform_mul(kk_body_pose(f->model, f->data, arm[0]), loop.placement[0]);
    loop.placement[1] =
        kk_transform_mul(kk_transform_inverse(kk_body_pose(f->model, f->data, arm[1])), kk_transform_mul(A, AB));
    loop.distance = kk_vec3_norm(AB.p);
    KK_CHECK_EQ_INT(kk_spec_add_loop(spec, &loop, NULL, NULL), KK_OK);
    end(f);
    finish(f, spec);
    kk_spec_free(spec);
}

// rows of loops: their Jacobians are the differences of their errors, and a broken loop closes again
KK_TEST(ik_closes_every_kind_of_loop) {
    static const int rows[] = {[KK_LOOP_POINT] = 3, [KK_LOOP_AXIS] = 5, [KK_LOOP_WELD] = 6, [KK_LOOP_DISTANCE] = 1};
    for (int type = KK_LOOP_POINT; type <= KK_LOOP_DISTANCE; type++) {
        fixture f;
        kk_transform AB = kk_transform_identity();
        AB.p.x = type == KK_LOOP_DISTANCE ? 0.3 : 0;
        two_arms(&f, (kk_loop_type)type, AB);
        const int nv = kk_model_nv(f.model);
        double before[6], after[6], J[6 * 8];
        KK_CHECK_EQ_INT(kki_ik_mechanism_rows(f.model), rows[type]);
        f.ik->levels = 1;
        double at[8] = {0}; // turns are those of small ones: they have their derivatives where the loop is closed
        for (int k = 0; k < nv && (type == KK_LOOP_POINT || type == KK_LOOP_DISTANCE); k++) {
            at[k] = 0.2 * k - 0.5;
        }
        memcpy(f.q, at, sizeof at);
        kki_ik_evaluate(f.model, f.ik, NULL, 0, f.q);
        KK_CHECK_EQ_INT(f.ik->rows, rows[type]);
        memcpy(J, f.ik->J, (size_t)(rows[type] * nv) * sizeof *J);
        for (int k = 0; k < nv; k++) {
            const double step = 1e-6;
            for (int side = 0; side < 2; side++) {
                f.q[k] = at[k] + (side ? step : -step);
                kki_ik_evaluate(f.model, f.ik, NULL, 0, f.q);
                memcpy(side ? after : before, f.ik->e, (size_t)rows[type] * sizeof *before);
            }
            f.q[k] = at[k];
            for (int r = 0; r < rows[type]; r++) {
                KK_CHECK_NEAR(-(after[r] - before[r]) / (2 * step), J[r * nv + k], 1e-8);
            }
        }
        for (int i = 0; i < 50; i++) {
            kk_ik_report report;
            for (int k = 0; k < nv; k++) {
                f.q[k] = 0.6 * (kk_random_uniform_at(7, (uint64_t)i, (uint64_t)k) - 0.5);
            }
            const kk_ik_options o = {.max_tries = 20};
            KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, NULL, 0, &o, f.q, &report, NULL), KK_OK);
            KK_CHECK(report.is_reached && report.error[0] <= 1e-10);
        }
        end(&f);
    }
}

// the closed link of figure 3 in the OpenHRP paper: two shoulders move one point, so every place of it that a closed posture has is a goal
KK_TEST(ik_of_a_closed_link) {
    if (!HAS_OUR_MODELS) {
        return;
    }
    fixture f = {.model = load_our_model(OUR_MODEL("closed_link/closed_link.xml"))};
    KK_CHECK_EQ_INT(kk_data_create(f.model, NULL, &f.data), KK_OK);
    KK_CHECK_EQ_INT(kk_ik_create(f.model, 1, NULL, &f.ik), KK_OK);
    const int red = kk_model_find_frame(f.model, "red_tip"), blue = kk_model_find_frame(f.model, "blue_tip");
    int lost = 0;
    const int goals = kk_test_is_quick() ? 50 : 1000;
    for (int i = 0; i < goals; i++) {
        const kk_ik_options o = {.max_tries = 200, .seed = (uint64_t)i};
        kk_ik_task task = kk_ik_task_default();
        kk_model_random_q(f.model, 21, (uint64_t)i, f.goal_q);
        kk_model_random_q(f.model, 22, (uint64_t)i, f.q);
        KK_CHECK_EQ_INT(kk_ik_solve(f.model, f.ik, NULL, 0, &o, f.goal_q, NULL, NULL), KK_OK);
        task.frame = red;
        task.goal = pose_of(&f, red, f.goal_q);
        memset(task.weight, 0, 3 * sizeof(double));
        lost += kk_ik_solve(f.model, f.ik, &task, 1, &o, f.q, NULL, NULL) != KK_OK;
        const kk_vec3 tip = pose_of(&f, red, f.q).p;
        KK_CHECK(kk_vec3_norm(kk_vec3_sub(tip, kk_frame_pose(f.model, f.data, blue).p)) < 1e-9);
        KK_CHECK(kk_vec3_norm(kk_vec3_sub(tip, task.goal.p)) < 1e-9);
    }
    KK_CHECK_EQ_INT(lost, 0);
    end(&f);
}
