/// Calls that cannot be answered say so, and nothing is read or written outside.
#include <karakuri/batch.h>
#include <karakuri/dynamics.h>

#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "robots.h"

static kk_model *chain(int links) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(robots_chain(spec, links, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, NULL), KK_OK);
    kk_spec_free(spec);
    return model;
}

// a typo in a name gives id −1, and that must not pass for a pose
KK_TEST(readers_give_nan_for_ids_that_do_not_exist) {
    kk_model *model = chain(3);
    kk_data *data = NULL;
    const double q[3] = {0.1, 0.2, 0.3};
    double J[18], tau[3];
    KK_CHECK_EQ_INT(kk_data_create(model, NULL, &data), KK_OK);
    kk_jacobians_rate(model, data, q, q);
    const int bad[] = {-1, 4, 99999, kk_model_find_body(model, "typo")};
    for (int i = 0; i < 4; i++) {
        KK_CHECK(isnan(kk_body_pose(model, data, bad[i]).p.x));
        KK_CHECK(isnan(kk_body_velocity(model, data, bad[i], KK_LOCAL).linear.z));
        KK_CHECK(isnan(kk_frame_pose(model, data, bad[i]).R.m[4]));
        kk_frame_jacobian(model, data, bad[i], KK_LOCAL, J);
        KK_CHECK(isnan(J[0]) && isnan(J[17]));
        kk_body_jacobian_rate(model, data, bad[i], KK_WORLD_ORIGIN, J);
        KK_CHECK(isnan(J[0]) && isnan(J[17]));
    }
    kk_inverse_dynamics(model, data, q, q, q, tau);
    KK_CHECK(isnan(kk_joint_wrench(model, data, -1).angular.x));
    KK_CHECK(isnan(kk_joint_wrench(model, data, 99999).linear.y));
    kk_data_free(data);
    kk_model_free(model);
}

KK_TEST(calls_that_need_matrices_say_when_there_are_none) {
    const size_t n = KK_MATRIX_LIMIT + 1;
    kk_model *model = chain((int)n);
    kk_data *data = NULL;
    kk_batch *batch = NULL;
    double *q = calloc(n, sizeof *q), none = 7;
    KK_CHECK_EQ_INT(kk_data_create(model, NULL, &data), KK_OK);
    KK_CHECK_EQ_INT(kk_batch_create(model, NULL, &batch), KK_OK);
    KK_CHECK(!kk_data_has_matrices(data));
    KK_CHECK_EQ_INT(kk_crba(model, data, q), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_inertia_matrix(model, data, q, &none), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_inertia_matrix_factor(model, data), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_inertia_matrix_inverse(model, data, q, &none), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_coriolis_matrix(model, data, q, q, &none), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_inverse_dynamics_derivatives(model, data, q, q, q, &none, &none), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_forward_dynamics_derivatives(model, data, q, q, q, &none, &none, &none, &none),
                    KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kk_batch_inertia_matrix(model, batch, KK_BY_STATE, 1, q, &none), KK_LIMIT_EXCEEDED);
    KK_CHECK(none == 7);
    kk_batch_free(batch);
    kk_data_free(data);
    kk_model_free(model);
    free(q);
}

// a data of two links must not be overrun by a model of five
KK_TEST(a_data_refuses_another_model) {
    kk_model *small = chain(2), *large = chain(5), *same = chain(2);
    kk_data *data = NULL;
    const double q[5] = {0.1, 0.2, 0.3, 0.4, 0.5};
    double x[60] = {0};
    const kk_force outside[6] = {{{0, 0, 0}, {0, 0, 0}}};
    KK_CHECK_EQ_INT(kk_data_create(small, NULL, &data), KK_OK);
    KK_CHECK_EQ_INT(kk_kinematics(large, data, q), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_kinematics_velocity(large, data, q, q), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_kinematics_acceleration(large, data, q, q, q), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inverse_dynamics(large, data, q, q, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inverse_dynamics_external(large, data, q, q, q, outside, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_bias_force(large, data, q, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_gravity_force(large, data, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_passive_force(large, data, q, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_forward_dynamics(large, data, q, q, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_forward_dynamics_external(large, data, q, q, q, outside, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_forward_dynamics_coupled(large, data, q, q, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inertia_matrix(large, data, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inertia_matrix_factor(large, data), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inertia_matrix_solve(large, data, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inertia_matrix_mul(large, data, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inertia_matrix_inverse(large, data, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_jacobians(large, data, q), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_jacobians_rate(large, data, q, q), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_centroidal(large, data, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_centroidal_rate(large, data, q, q, x, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_inverse_dynamics_derivatives(large, data, q, q, q, x, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_forward_dynamics_derivatives(large, data, q, q, q, x, x, x, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_torque_regressor(large, data, q, q, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_coriolis_matrix(large, data, q, q, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_delassus(large, data, q, NULL, 0, x), KK_INVALID_ARGUMENT);
    for (int i = 0; i < 60; i++) {
        KK_CHECK(x[i] == 0);
    }
    KK_CHECK(isnan(kk_body_pose(large, data, 1).p.x));
    KK_CHECK(isnan(kk_joint_wrench(large, data, 1).linear.x) && isnan(kk_floor_wrench(large, data).linear.x));
    KK_CHECK(isnan(kk_kinetic_energy(large, data, q, q)) && isnan(kk_potential_energy(large, data, q)));
    KK_CHECK(isnan(kk_center_of_mass(large, data, q).x) && isnan(kk_centroidal_momentum(large, data, q, q).linear.x));
    KK_CHECK_EQ_INT(kk_kinematics(same, data, q), KK_OK); // the same in every number
    kk_data_free(data);
    kk_model_free(small);
    kk_model_free(large);
    kk_model_free(same);
}

KK_TEST(a_batch_refuses_another_model) {
    kk_model *small = chain(2), *large = chain(5);
    kk_batch *batch = NULL;
    double x[25] = {0};
    KK_CHECK_EQ_INT(kk_batch_create(small, NULL, &batch), KK_OK);
    KK_CHECK_EQ_INT(kk_batch_inverse_dynamics(large, batch, KK_BY_STATE, 1, x, x, x, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_batch_forward_dynamics(large, batch, KK_BY_STATE, 1, x, x, x, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_batch_inertia_matrix(large, batch, KK_BY_STATE, 1, x, x), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_batch_kinematics(large, batch, KK_BY_STATE, 1, x, x), KK_INVALID_ARGUMENT);
    kk_batch_free(batch);
    kk_model_free(small);
    kk_model_free(large);
}

KK_TEST(a_pin_needs_a_pose) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_data *data = NULL;
    kk_error error = {0};
    double q[40], v[40] = {0}, a[40] = {0}, tau[40];
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(robots_humanoid36(spec, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_data_create(model, NULL, &data), KK_OK);
    kk_model_neutral(model, q);
    kk_pin pin = {kk_model_find_body(model, "left_foot"), kk_transform_identity()};
    KK_CHECK_EQ_INT(kk_pinned_inverse_dynamics(model, data, &pin, 0, q, v, a, tau, NULL, &error), KK_OK);
    pin.pose.p.x = NAN;
    KK_CHECK_EQ_INT(kk_pinned_inverse_dynamics(model, data, &pin, 0, q, v, a, tau, NULL, &error), KK_INVALID_ARGUMENT);
    pin.pose = kk_transform_make((kk_mat3){{-1, 0, 0, 0, 1, 0, 0, 0, 1}}, kk_vec3_make(0, 0, 0));
    KK_CHECK_EQ_INT(kk_pinned_inverse_dynamics(model, data, &pin, 0, q, v, a, tau, NULL, &error), KK_INVALID_ARGUMENT);
    pin.pose.R = (kk_mat3){{0}};
    KK_CHECK_EQ_INT(kk_pinned_inverse_dynamics(model, data, &pin, 0, q, v, a, tau, NULL, &error), KK_INVALID_ARGUMENT);
    kk_data_free(data);
    kk_model_free(model);
    kk_spec_free(spec);
}
