// Internals behind the factor and the Delassus matrix: every width of a block of columns, and rows worked on in portions.
#include <stdlib.h>

#include "dynamics/data.h"
#include "model/fixture.h"

enum { COLUMNS = 57, STRIDE = 60, ROWS = 37 };

static kk_data *data_of(const kk_model *model) {
    kk_data *data = NULL;
    KK_CHECK_EQ_INT(kk_data_create(model, NULL, &data), KK_OK);
    return data;
}

// whole rows give what one right-hand side at a time gives, whatever the number of columns
KK_TEST(solve_rows_matches_solve) {
    kk_model *model = fixture_compile(fixture_random_spec(5, 14));
    kk_data *data = data_of(model);
    const size_t nv = (size_t)kk_model_nv(model);
    double q[128], *X = aligned_alloc(64, nv * 64 * sizeof *X), *x = malloc(nv * sizeof *x);
    kk_model_random_q(model, 1, 2, q);
    kk_crba(model, data, q);
    KK_CHECK_EQ_INT(kk_inertia_matrix_factor(model, data), KK_OK);
    for (size_t columns = 1; columns <= COLUMNS; columns++) {
        for (size_t i = 0; i < nv * STRIDE; i++) {
            X[i] = kk_sin((double)i);
        }
        kki_inertia_solve_rows(model, data, X, columns, STRIDE);
        for (size_t c = 0; c < columns; c++) {
            for (size_t i = 0; i < nv; i++) {
                x[i] = kk_sin((double)(i * STRIDE + c));
            }
            kk_inertia_matrix_solve(model, data, x);
            for (size_t i = 0; i < nv; i++) {
                KK_CHECK_NEAR(X[i * STRIDE + c], x[i], 1e-11 * (1 + __builtin_fabs(x[i])));
            }
        }
    }
    free(X);
    free(x);
    kk_data_free(data);
    kk_model_free(model);
}

// a data with room for eight rows gives the same bits in portions as one with room for all
KK_TEST(delassus_in_portions_is_the_same) {
    kk_model *model = fixture_compile(fixture_random_spec(6, 14));
    kk_data *data = data_of(model);
    kk_random random = {3, 4, 0};
    kk_constraint_row row[ROWS];
    double q[128], whole[ROWS * ROWS], portions[ROWS * ROWS];
    kk_model_random_q(model, 1, 2, q);
    for (int r = 0; r < ROWS; r++) {
        row[r].body = (int)kk_random_next_below(&random, (uint64_t)kk_model_nbody(model));
        row[r].other = (int)kk_random_next_below(&random, (uint64_t)kk_model_nbody(model));
        row[r].direction.angular = fixture_vec(&random);
        row[r].direction.linear = fixture_vec(&random);
    }
    KK_CHECK_EQ_INT(kk_delassus(model, data, q, row, ROWS, whole), KK_OK);
    data->rows.capacity = 8;
    KK_CHECK_EQ_INT(kk_delassus(model, data, q, row, ROWS, portions), KK_OK);
    KK_CHECK_BYTES(whole, portions, sizeof whole);
    row[3].body = kk_model_nbody(model);
    KK_CHECK_EQ_INT(kk_delassus(model, data, q, row, ROWS, whole), KK_INVALID_ARGUMENT);
    kk_data_free(data);
    kk_model_free(model);
}

// a robot with a fixed base cannot be pinned, and the message names the body
KK_TEST(pin_needs_a_free_base) {
    kk_spec *spec = fixture_spec();
    fixture_add_box(spec, "crane", KK_WORLD, KK_JOINT_HINGE);
    kk_model *model = fixture_compile(spec);
    kk_data *data = data_of(model);
    kk_error error = {0};
    double q = 0, v = 0, a = 0, tau;
    kk_pinned_result result;
    kk_pin pin = {1, kk_transform_identity()};
    KK_CHECK_EQ_INT(kk_pinned_inverse_dynamics(model, data, &pin, 0, &q, &v, &a, &tau, &result, &error),
                    KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "crane") != NULL);
    pin.body = 2;
    KK_CHECK_EQ_INT(kk_pinned_inverse_dynamics(model, data, &pin, 0, &q, &v, &a, &tau, &result, &error),
                    KK_INVALID_ARGUMENT);
    kk_data_free(data);
    kk_model_free(model);
}
