// Walking patterns: the ZMP that was planned is the one of the whole body, feet are where they should be; and the robot walks.
#include <karakuri/stabilizer.h>
#include <string.h>

#include "motion/preview.h"
#include "our_models.h"
#include "support/allocations.h"

// ---- preview control

enum { STEPS = 1600, AHEAD = 320 };

/// ZMP of a point mass by second differences.
static double cart_zmp(const double *c, int i, double ratio, double dt) {
    return c[i] - ratio * (c[i - 1] - 2 * c[i] + c[i + 1]) / (dt * dt);
}

// behind a step of the ZMP the cart arrives, moves off before it (preview), and its ZMP stays near
KK_TEST(preview_control_sees_a_step_coming) {
    static double gain[AHEAD], zmp[STEPS], c[STEPS];
    kki_preview p = {.dt = 0.005, .ratio = 0.8 / 9.81, .gain = gain, .count = AHEAD};
    kki_preview_design(&p);
    for (int i = 0; i < STEPS; i++) {
        zmp[i] = i < STEPS / 2 ? 0.2 : 0.5;
    }
    kki_preview_follow(&p, zmp, STEPS, c);
    KK_CHECK_NEAR(c[0], 0.2, 0);
    KK_CHECK(c[STEPS / 2 - 1] > 0.3 && c[STEPS / 2 - 1] < 0.4); // halfway when the step comes
    KK_CHECK_NEAR(c[STEPS - 1], 0.5, 1e-4);
    double worst = 0;
    for (int i = 1; i + 1 < STEPS; i++) {
        const int is_far = i < STEPS / 2 - 40 || i > STEPS / 2 + 40;
        const double e = cart_zmp(c, i, p.ratio, p.dt) - zmp[i];
        worst = is_far && e * e > worst * worst ? e : worst;
    }
    KK_CHECK_NEAR(worst, 0, 0.02);
    // gains of what is to come add up to that of where the cart is: a shifted world changes nothing
    double sum = 0;
    for (int j = 0; j < AHEAD; j++) {
        sum += gain[j];
    }
    KK_CHECK_REL(sum, p.gain_x[0], 1e-2);
}

// the inversion is exact: c − (z/g) c̈ is the ZMP asked for, at every sample
KK_TEST(zmp_inversion_is_exact) {
    static double zmp[STEPS], c[STEPS], scratch[STEPS];
    const double ratio = 0.8 / 9.81, dt = 0.005;
    for (int i = 0; i < STEPS; i++) {
        zmp[i] = c[i] = i > 0 && i < STEPS - 1 ? kk_sin(0.01 * i) + (i > 700) : 0;
    }
    kki_zmp_invert(ratio, dt, STEPS, c, scratch);
    for (int i = 1; i + 1 < STEPS; i++) {
        KK_CHECK_NEAR(cart_zmp(c, i, ratio, dt), zmp[i], 1e-9);
    }
}

// ---- patterns

enum { COUNT = 4 };

typedef struct fixture {
    kk_model *model;
    kk_data *data;
    kk_walk_options options;
    kk_footstep steps[COUNT];
    kk_walk *walk;
} fixture;

static int begin(fixture *f, const char *path, double dt) {
    // forward, with a turn, backward, together
    static const kk_stride strides[COUNT] = {{0.1, 0, 0}, {0.1, 0, 0.3}, {-0.1, 0.02, -0.1}, {0, 0, 0}};
    kk_error error = {0};
    *f = (fixture){.model = load_our_model(path)};
    if (!f->model) {
        return 0;
    }
    f->options = (kk_walk_options){
        .sole = {kk_model_find_frame(f->model, "left_sole"), kk_model_find_frame(f->model, "right_sole")},
        .posture = kk_model_keyframe(f->model, 0).q,
        .width = 0.19,
        .timestep = dt};
    kk_footsteps_from_strides(strides, COUNT, KK_LEFT, 0.19, f->steps);
    if (kk_walk_create(f->model, &f->options, f->steps, COUNT, NULL, &f->walk, &error) != KK_OK) {
        KK_FAIL("%s", error.text);
    }
    return f->walk && KK_CHECK_EQ_INT(kk_data_create(f->model, NULL, &f->data), KK_OK);
}

static void end(fixture *f) {
    kk_walk_free(f->walk);
    kk_data_free(f->data);
    kk_model_free(f->model);
}

static double pose_distance(kk_transform a, kk_transform b) {
    const kk_vec3 r = kk_quat_log(kk_quat_from_mat3(kk_mat3_mul(a.R, kk_mat3_transpose(b.R))));
    return kk_vec3_norm(kk_vec3_sub(a.p, b.p)) + kk_vec3_norm(r);
}

KK_TEST(walk_frames_keep_what_they_say) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    fixture f;
    if (begin(&f, OUR_MODEL("hrp2/hrp2.xml"), 0.01)) {
        KK_CHECK_EQ_INT(kk_walk_frame_count(f.walk), 561); // 1 + 4 · 0.9 + 1 s
        KK_CHECK(kk_walk_zmp_error(f.walk) < 1e-4);
        for (int i = 0; i < kk_walk_frame_count(f.walk); i++) {
            const kk_walk_frame k = kk_walk_frame_at(f.walk, i);
            kk_kinematics(f.model, f.data, k.q);
            for (int foot = 0; foot < 2; foot++) {
                KK_CHECK(pose_distance(kk_frame_pose(f.model, f.data, f.options.sole[foot]), k.sole[foot]) < 1e-8);
                // a foot in the air bears nothing, and the shares add up
                KK_CHECK(k.sole[foot].p.z < 1e-12 || k.load[foot] == 0);
            }
            KK_CHECK_NEAR(k.load[0] + k.load[1], 1, 1e-12);
            KK_CHECK_NEAR(kk_body_pose(f.model, f.data, 1).R.m[8], 1, 1e-12); // upright
        }
        // the last footsteps, seen from where it stood: midway between the feet, 0.0393 m before the hips
        const kk_walk_frame first = kk_walk_frame_at(f.walk, 0), last = kk_walk_frame_at(f.walk, 1000);
        const double x0 = 0.5 * (first.sole[0].p.x + first.sole[1].p.x);
        KK_CHECK_NEAR(last.sole[KK_LEFT].p.x - x0, f.steps[2].x, 1e-9);
        KK_CHECK_NEAR(last.sole[KK_LEFT].p.y, f.steps[2].y, 1e-9);
        KK_CHECK_NEAR(last.sole[KK_RIGHT].p.y, f.steps[3].y, 1e-9);
        KK_CHECK_NEAR(kk_atan2(last.sole[KK_RIGHT].R.m[3], last.sole[KK_RIGHT].R.m[0]), 0.2, 1e-9);
    }
    end(&f);
}

// on one foot the ZMP is where the options put it, and the other foot is as high as they say halfway
KK_TEST(walk_follows_its_options) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    fixture f;
    kk_walk *walk = NULL;
    if (begin(&f, OUR_MODEL("hrp2/hrp2.xml"), 0.01)) {
        f.options.zmp_inward = 0.02;
        f.options.zmp_forward = -0.01;
        f.options.lift = 0.04;
        f.options.corrections = -1;
        KK_CHECK_EQ_INT(kk_walk_create(f.model, &f.options, f.steps, COUNT, NULL, &walk, NULL), KK_OK);
        const kk_walk_frame k = kk_walk_frame_at(walk, 135); // left foot in the middle of its first step: 1 + 0.7/2 s
        KK_CHECK_NEAR(k.sole[KK_LEFT].p.z, 0.04, 1e-12);
        KK_CHECK_NEAR(k.zmp.x, k.sole[KK_RIGHT].p.x - 0.01, 1e-12);
        KK_CHECK_NEAR(k.zmp.y, -0.095 + 0.02, 1e-12);
        KK_CHECK_NEAR(k.load[KK_RIGHT], 1, 0);
    }
    kk_walk_free(walk);
    end(&f);
}

// the ZMP of inverse dynamics of a spline through the frames is the one planned, but for the moments of lift-off and landing,
// where the feet's acceleration jumps
KK_TEST(walk_zmp_by_inverse_dynamics) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    fixture f;
    kk_sequence *sequence = NULL;
    if (begin(&f, OUR_MODEL("hrp2/hrp2.xml"), 0.01)) {
        const int n = kk_walk_frame_count(f.walk), nq = kk_model_nq(f.model);
        static double time[1000], value[1000 * 64], q[64], v[64], a[64], tau[64];
        for (int i = 0; i < n; i++) {
            time[i] = kk_walk_frame_at(f.walk, i).time;
            memcpy(value + (size_t)i * (size_t)nq, kk_walk_frame_at(f.walk, i).q, (size_t)nq * sizeof *value);
        }
        const kk_sequence_def def = {.model = f.model,
                                     .interpolation = KK_INTERPOLATE_CUBIC,
                                     .count = n,
                                     .width = nq,
                                     .time = time,
                                     .value = value};
        KK_CHECK_EQ_INT(kk_sequence_create(&def, NULL, &sequence, NULL), KK_OK);
        for (int i = 10; i + 10 < n && sequence; i++) {
            const double since = kk_fmod(0.01 * i - 1 + 9, 0.9); // since the last lift-off
            if (since < 0.08 || since > 0.82 || (since > 0.62 && since < 0.78)) {
                continue;
            }
            KK_CHECK_EQ_INT(kk_sequence_state(sequence, 0.01 * i, q, v, a), KK_OK);
            kk_inverse_dynamics(f.model, f.data, q, v, a, tau);
            const kk_vec3 zmp = kk_zero_moment_point(kk_floor_wrench(f.model, f.data), 0),
                          plan = kk_walk_frame_at(f.walk, i).zmp;
            KK_CHECK_NEAR(zmp.x, plan.x, 2e-3);
            KK_CHECK_NEAR(zmp.y, plan.y, 2e-3);
        }
    }
    kk_sequence_free(sequence);
    end(&f);
}

// reading allocates nothing, and a sample on a frame is the frame
KK_TEST(walk_samples) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    fixture f;
    if (begin(&f, OUR_MODEL("hrp2/hrp2.xml"), 0.02)) {
        double q[64], v[64], d[64];
        const long before = allocations_so_far();
        kk_walk_sample(f.walk, 100 * 0.02, q, v);
        KK_CHECK_EQ_INT((int)(allocations_so_far() - before), 0);
        kk_difference(f.model, kk_walk_frame_at(f.walk, 100).q, q, d);
        for (int k = 0; k < kk_model_nv(f.model); k++) {
            KK_CHECK_NEAR(d[k], 0, 1e-12);
        }
        kk_walk_sample(f.walk, -1, q, v);
        KK_CHECK_NEAR(v[10], 0, 0);
    }
    end(&f);
}

KK_TEST(walk_refuses_nonsense) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    fixture f;
    kk_error error = {0};
    kk_walk *walk = NULL;
    if (begin(&f, OUR_MODEL("hrp2/hrp2.xml"), 0.02)) {
        f.steps[1].foot = f.steps[0].foot;
        KK_CHECK_EQ_INT(kk_walk_create(f.model, &f.options, f.steps, COUNT, NULL, &walk, &error), KK_INVALID_ARGUMENT);
        f.steps[1].foot = 7;
        KK_CHECK_EQ_INT(kk_walk_create(f.model, &f.options, f.steps, COUNT, NULL, &walk, &error), KK_INVALID_ARGUMENT);
        f.steps[1].foot = KK_RIGHT;
        f.steps[1].x = 2; // out of reach
        KK_CHECK_EQ_INT(kk_walk_create(f.model, &f.options, f.steps, COUNT, NULL, &walk, &error), KK_NOT_CONVERGED);
        KK_CHECK(strstr(error.text, "reach") != NULL && walk == NULL);
        f.options.sole[1] = 99;
        KK_CHECK_EQ_INT(kk_walk_create(f.model, &f.options, f.steps, COUNT, NULL, &walk, &error), KK_INVALID_ARGUMENT);
    }
    end(&f);
}

// ---- in simulation

/// Plays the pattern with servos; gives the height of the center of mass at the end against the plan.
static double play(fixture *f, int is_stabilized) {
    const kk_model *m = f->model;
    const double dt = 0.001, share = kk_test_is_quick() ? 0.3 : 1;
    const double end_time = share * kk_walk_timestep(f->walk) * (kk_walk_frame_count(f->walk) - 1);
    const int foot[2] = {kk_model_frame_body(m, f->options.sole[0]), kk_model_frame_body(m, f->options.sole[1])};
    double q[64], v[64], control[64];
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    kk_stabilizer *stabilizer = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(m, NULL, NULL, &simulator, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_stabilizer_create(m, f->walk, NULL, NULL, &stabilizer), KK_OK);
    memcpy(kk_state_q(state), kk_walk_frame_at(f->walk, 0).q, (size_t)kk_model_nq(m) * sizeof(double));
    for (int i = 0; (i + 1) * dt <= end_time; i++) {
        if (is_stabilized) {
            kk_stabilizer_input in = {.q = kk_state_q_const(state), .v = kk_state_v_const(state)};
            for (int k = 0; k < 2; k++) {
                in.floor[k] = i > 0 ? kk_simulator_contact_wrench(simulator, foot[k], -1)
                                    : kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_make(0, 0, 284));
            }
            const long before = allocations_so_far();
            KK_CHECK_EQ_INT(kk_stabilizer_step(stabilizer, (i + 1) * dt, &in, q, v, NULL), KK_OK);
            KK_CHECK_EQ_INT((int)(allocations_so_far() - before), 0);
        } else {
            kk_walk_sample(f->walk, (i + 1) * dt, q, v);
        }
        for (int k = 0; k < kk_model_nactuator(m); k++) {
            const kk_actuator_info a = kk_model_actuator(m, k);
            const kk_joint_info j = kk_model_joint(m, a.joint);
            control[k] = q[j.q_index] + a.bias[2] / a.bias[1] * v[j.v_index];
        }
        const kk_input input = {.control = control};
        if (!KK_CHECK_EQ_INT(kk_step(m, state, simulator, &input, NULL), KK_OK)) {
            break;
        }
    }
    const double height = kk_center_of_mass(m, f->data, kk_state_q_const(state)).z;
    const double planned = kk_walk_frame_at(f->walk, 1 << 20).com.z;
    kk_stabilizer_free(stabilizer);
    kk_simulator_free(simulator);
    kk_state_free(state);
    return height - planned;
}

KK_TEST(rigid_feet_walk_without_stabilizer) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    fixture f;
    if (begin(&f, OUR_MODEL("hrp2/hrp2.xml"), 0.005)) {
        KK_CHECK_NEAR(play(&f, 0), 0, 0.01);
    }
    end(&f);
}

KK_TEST(feet_on_bushes_walk_with_stabilizer) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    fixture f;
    if (begin(&f, OUR_MODEL("hrp2/hrp2_bush.xml"), 0.005)) {
        KK_CHECK_NEAR(play(&f, 1), 0, 0.02);
        KK_CHECK(kk_test_is_quick() || play(&f, 0) < -0.1); // and without it falls
    }
    end(&f);
}

// ---- crawl

KK_TEST(crawl_feet_follow_the_paper) {
    const kk_crawl c = kk_crawl_titan8('A');
    kk_vec3 foot[4];
    int bears[4];
    KK_CHECK_NEAR(kk_crawl_speed(&c), 0.05, 1e-15);
    for (int i = 0; i < 480; i++) {
        const double t = 0.01 * i + 1e-9;
        kk_crawl_feet(&c, t, foot, bears);
        KK_CHECK(bears[0] + bears[1] + bears[2] + bears[3] == 3); // duty 0.75
        KK_CHECK_EQ_INT(bears[0], t >= 1.2);                      // the left fore foot swings first
        for (int k = 0; k < 4; k++) {
            KK_CHECK(!bears[k] || foot[k].z == c.home[k].z);
            KK_CHECK(foot[k].z <= c.home[k].z + 0.05 + 1e-12);
        }
    }
    static const int order[4] = {0, 3, 1, 2}; // left fore, right hind, right fore, left hind
    for (int k = 0; k < 4; k++) {
        kk_crawl_feet(&c, 0.6 + 1.2 * k, foot, bears);
        KK_CHECK_EQ_INT(bears[order[k]], 0);
    }
    kk_crawl_feet(&c, 0.6, foot, NULL); // middle of the swing
    KK_CHECK_NEAR(foot[0].x, c.home[0].x, 1e-12);
    KK_CHECK_NEAR(foot[0].z, c.home[0].z + 0.05, 1e-12);
    kk_crawl_feet(&c, 1.2, foot, NULL);
    KK_CHECK_NEAR(foot[0].x, c.home[0].x + 0.09, 1e-12);
}

KK_TEST(crawl_poses_of_titan8) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    kk_model *m = load_our_model(OUR_MODEL("titan8/titan8.xml"));
    kk_ik *ik = NULL;
    kk_data *data = NULL;
    if (m && KK_CHECK_EQ_INT(kk_ik_create(m, 4, NULL, &ik), KK_OK) &&
        KK_CHECK_EQ_INT(kk_data_create(m, NULL, &data), KK_OK)) {
        const int toe[4] = {kk_model_find_frame(m, "left_fore_toe"), kk_model_find_frame(m, "right_fore_toe"),
                            kk_model_find_frame(m, "left_hind_toe"), kk_model_find_frame(m, "right_hind_toe")};
        for (int posture = 'A'; posture <= 'D'; posture++) {
            const kk_crawl c = kk_crawl_titan8((char)posture);
            double q[32];
            kk_vec3 foot[4];
            kk_model_neutral(m, q);
            for (int i = 0; i < 96; i++) {
                KK_CHECK_EQ_INT(kk_crawl_pose(m, ik, &c, toe, 0.05 * i, q, NULL), KK_OK);
                kk_crawl_feet(&c, 0.05 * i, foot, NULL);
                kk_kinematics(m, data, q);
                for (int k = 0; k < 4; k++) {
                    const kk_transform X = kk_frame_pose(m, data, toe[k]);
                    // in the body's frame, which stands 0.243 m high; soles level
                    KK_CHECK_NEAR(X.p.x, foot[k].x, 1e-9);
                    KK_CHECK_NEAR(X.p.z - 0.243, foot[k].z, 1e-9);
                    KK_CHECK_NEAR(X.R.m[8], 1, 1e-12);
                }
            }
        }
    }
    kk_data_free(data);
    kk_ik_free(ik);
    kk_model_free(m);
}
