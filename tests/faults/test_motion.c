// Motion: every allocation of inverse kinematics, walks and stabilizers made to fail in turn.
#include <karakuri/stabilizer.h>

#include "../motion/our_models.h"
#include "support/allocations.h"

/// All that walking allocates; the first status that is not KK_OK.
static kk_status create_all(const kk_model *m, const kk_allocator *allocator) {
    kk_ik *ik = NULL;
    kk_walk *walk = NULL;
    kk_stabilizer *stabilizer = NULL;
    kk_error error = {0};
    const kk_footstep step = {.foot = KK_LEFT, .y = 0.095};
    const kk_walk_options options = {
        .sole = {kk_model_find_frame(m, "left_sole"), kk_model_find_frame(m, "right_sole")},
        .posture = kk_model_keyframe(m, 0).q,
        .timestep = 0.1,
        .corrections = -1};
    kk_status status = kk_ik_create(m, 2, allocator, &ik);
    KK_CHECK((status == KK_OK) == (ik != NULL));
    status = status ? status : kk_walk_create(m, &options, &step, 1, allocator, &walk, &error);
    KK_CHECK((status == KK_OK) == (walk != NULL));
    status = status ? status : kk_stabilizer_create(m, walk, NULL, allocator, &stabilizer);
    KK_CHECK((status == KK_OK) == (stabilizer != NULL));
    kk_stabilizer_free(stabilizer);
    kk_walk_free(walk);
    kk_ik_free(ik);
    return status;
}

KK_TEST(every_failed_allocation_of_walking_is_a_clean_status) {
    if (!HAS_OUR_MODELS) {
        KK_SKIP("there are no files here");
    }
    kk_model *m = load_our_model(OUR_MODEL("hrp2/hrp2.xml"));
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    if (m && KK_CHECK_EQ_INT(create_all(m, &allocator), KK_OK)) {
        KK_CHECK_EQ_INT(f.blocks, 0);
        const int calls = f.calls;
        KK_CHECK(calls >= 9);
        for (int k = 0; k < calls; k++) {
            f = (faulty){.fail_at = k};
            KK_CHECK_EQ_INT(create_all(m, &allocator), KK_OUT_OF_MEMORY);
            KK_CHECK_EQ_INT(f.blocks, 0);
            KK_CHECK_EQ_INT(f.bytes, 0);
        }
    }
    kk_model_free(m);
}
