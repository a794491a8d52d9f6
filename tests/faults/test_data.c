// Data and batch: every allocation made to fail in turn, and none at all in the algorithms.
#include <karakuri/batch.h>

#include "support/allocations.h"
#include "support/everything.h"

/// All that the dynamics allocate; the first status that is not KK_OK.
static kk_status create_all(const kk_model *m, const kk_allocator *allocator) {
    kk_data *data = NULL, *large = NULL;
    kk_batch *batch = NULL;
    kk_status status = kk_data_create(m, allocator, &data);
    KK_CHECK((status == KK_OK) == (data != NULL));
    status = status ? status : kk_data_create_with_matrices(m, allocator, &large);
    status = status ? status : kk_batch_create(m, allocator, &batch);
    for (int i = 0; batch && kk_batch_variant_name(i); i++) {
        status = status ? status : kk_batch_choose(batch, kk_batch_variant_name(i));
    }
    kk_batch_free(batch);
    kk_data_free(large);
    kk_data_free(data);
    return status;
}

KK_TEST(every_failed_allocation_of_the_dynamics_is_a_clean_status) {
    scene s = scene_robot("quadruped", 1);
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    KK_CHECK_EQ_INT(create_all(s.model, &allocator), KK_OK);
    KK_CHECK_EQ_INT(f.blocks, 0);
    const int calls = f.calls;
    KK_CHECK(calls >= 6);
    for (int k = 0; k < calls; k++) {
        f = (faulty){.fail_at = k};
        KK_CHECK_EQ_INT(create_all(s.model, &allocator), KK_OUT_OF_MEMORY);
        KK_CHECK_EQ_INT(f.blocks, 0);
        KK_CHECK_EQ_INT(f.bytes, 0);
    }
    scene_free(&s);
}

// a batch that could not get memory for another variant goes on with the one it has
KK_TEST(failed_choice_leaves_the_batch_as_it_was) {
    scene s = scene_robot("arm7", 1);
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    kk_batch *batch = NULL;
    double *before = scene_take(&s, (size_t)s.nv), *after = scene_take(&s, (size_t)s.nv);
    KK_CHECK_EQ_INT(kk_batch_create(s.model, &allocator, &batch), KK_OK);
    kk_batch_inverse_dynamics(s.model, batch, KK_BY_STATE, 1, s.q, s.v, s.a, before);
    const char *variant = kk_batch_variant(batch);
    f.fail_at = f.calls;
    KK_CHECK_EQ_INT(kk_batch_choose(batch, "scalar"), KK_OUT_OF_MEMORY);
    KK_CHECK_STR(kk_batch_variant(batch), variant);
    kk_batch_inverse_dynamics(s.model, batch, KK_BY_STATE, 1, s.q, s.v, s.a, after);
    KK_CHECK_BYTES(after, before, (size_t)s.nv * sizeof *after);
    kk_batch_free(batch);
    KK_CHECK_EQ_INT(f.blocks, 0);
    scene_free(&s);
}

KK_TEST(data_without_a_model_is_refused) {
    scene s = scene_robot("arm7", 1);
    kk_data *data = NULL;
    KK_CHECK_EQ_INT(kk_data_create(NULL, NULL, &data), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_data_create(s.model, NULL, NULL), KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_data_create_with_matrices(NULL, NULL, &data), KK_INVALID_ARGUMENT);
    KK_CHECK(data == NULL);
    kk_data_free(NULL);
    KK_CHECK_EQ_INT(kk_data_has_matrices(s.data), 1);
    scene_free(&s);
}

static void run_batch(const scene *s, kk_batch *batch, double *out) {
    for (int l = KK_BY_COORDINATE; l <= KK_BY_STATE; l++) {
        const kk_batch_layout layout = (kk_batch_layout)l;
        kk_batch_inverse_dynamics(s->model, batch, layout, 1, s->q, s->v, s->a, out);
        kk_batch_forward_dynamics(s->model, batch, layout, 1, s->q, s->v, s->tau, out);
        kk_batch_inertia_matrix(s->model, batch, layout, 1, s->q, out);
        kk_batch_kinematics(s->model, batch, layout, 1, s->q, out);
    }
}

// none asks the object's allocator, and none the C library behind its back
KK_TEST(no_algorithm_allocates) {
    if (allocations_so_far() < 0) {
        KK_SKIP("allocations cannot be counted here");
    }
    for (int i = 0; i < 20; i++) {
        scene s = i == 0 ? scene_robot("humanoid36", 1) : scene_forest((uint64_t)i);
        faulty f = {.fail_at = -1};
        const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
        kk_data_free(s.data);
        kk_batch *batch = NULL;
        const long none = allocations_so_far();
        KK_CHECK_EQ_INT(kk_data_create(s.model, &allocator, &s.data), KK_OK);
        KK_CHECK_EQ_INT(kk_batch_create(s.model, &allocator, &batch), KK_OK);
        KK_CHECK(allocations_so_far() > none); // the count sees them
        const results room = everything(&s);
        double *out = scene_take(&s, 12 * (size_t)s.nbody + (size_t)s.nv * (size_t)s.nv);
        results r = {room.start, 0};
        const long before = allocations_so_far();
        f.fail_at = f.calls;
        const int calls = f.calls;
        everything_linear(&s, &r);
        everything_with_matrices(&s, &r);
        run_batch(&s, batch, out);
        KK_CHECK_EQ_INT(allocations_so_far() - before, 0);
        KK_CHECK_EQ_INT(f.calls, calls);
        kk_batch_free(batch);
        kk_data_free(s.data);
        s.data = NULL;
        KK_CHECK_EQ_INT(f.blocks, 0);
        scene_free(&s);
    }
}
