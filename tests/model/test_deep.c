// A chain of 100 000 links: time stays proportional, and nothing needs more than 64 kB of stack.
#include "fixture.h"
#include "karakuri/state.h"

#if !defined(__wasm__)
#include <pthread.h>
#endif

/// 1 if it all worked. Checks are made by the caller, which has a larger stack.
typedef struct deep_result {
    int links;
    kk_status status;
    int nv, found;
    double last;
} deep_result;

static kk_status build(int links, kk_spec *spec) {
    static const kk_joint_type types[] = {KK_JOINT_HINGE, KK_JOINT_FIXED, KK_JOINT_UNIVERSAL};
    kk_status status = KK_OK;
    for (int i = 0; i < links && status == KK_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "l%d", i);
        const kk_body_def body = fixture_box(name, i, types[i % 3]);
        status = kk_spec_add_body(spec, &body, NULL, NULL);
    }
    return status;
}

static void use(const kk_model *m, deep_result *result) {
    kk_state *state = NULL;
    result->status = kk_state_create(m, NULL, &state);
    if (result->status != KK_OK) {
        return;
    }
    for (int i = 0; i < kk_model_nv(m); i++) {
        kk_state_v(state)[i] = i;
    }
    kk_integrate(m, kk_state_q(state), kk_state_v(state), kk_state_q(state));
    result->last = kk_state_q(state)[kk_model_nq(m) - 1];
    result->nv = kk_model_nv(m);
    result->found = kk_model_find_body(m, "l77777");
    kk_state_free(state);
}

static void *run_deep(void *argument) {
    deep_result *result = argument;
    kk_spec *spec = NULL;
    kk_model *m = NULL;
    result->status = kk_spec_create(NULL, &spec);
    result->status = result->status ? result->status : build(result->links, spec);
    result->status = result->status ? result->status : kk_model_compile(spec, NULL, &m, NULL);
    kk_spec_free(spec);
    if (result->status == KK_OK) {
        use(m, result);
    }
    kk_model_free(m);
    return NULL;
}

/// Runs in a thread with a stack of 64 kB where there are threads.
static void run_with_small_stack(deep_result *result) {
#if defined(__wasm__)
    run_deep(result);
#else
    pthread_attr_t attributes;
    pthread_t thread;
    KK_CHECK_EQ_INT(pthread_attr_init(&attributes), 0);
    KK_CHECK_EQ_INT(pthread_attr_setstacksize(&attributes, 65536), 0);
    if (KK_CHECK_EQ_INT(pthread_create(&thread, &attributes, run_deep, result), 0)) {
        KK_CHECK_EQ_INT(pthread_join(thread, NULL), 0);
    }
    pthread_attr_destroy(&attributes);
#endif
}

KK_TEST(hundred_thousand_links_in_64_kb_of_stack) {
    deep_result result = {.links = 100000, .status = KK_INVALID_ARGUMENT};
    run_with_small_stack(&result);
    KK_CHECK_EQ_INT(result.status, KK_OK);
    KK_CHECK_EQ_INT(result.nv, 100000);
    KK_CHECK_EQ_INT(result.found, 77778);
    KK_CHECK_NEAR(result.last, 99999, 0);
}
