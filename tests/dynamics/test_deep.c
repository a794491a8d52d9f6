// A chain of 10 000 links: every O(nv) algorithm runs with 64 kB of stack, and stays exact.
#include "support/everything.h"

#include <math.h>

#if !defined(__wasm__)
#include <pthread.h>
#endif

enum { LINKS = 10000 };

static void *run_everything(void *argument) {
    void **arguments = argument;
    everything_linear(arguments[0], arguments[1]);
    return NULL;
}

static void run_with_small_stack(scene *s, results *r) {
    void *arguments[2] = {s, r};
#if defined(__wasm__)
    run_everything(arguments);
#else
    pthread_attr_t attributes;
    pthread_t thread;
    KK_CHECK_EQ_INT(pthread_attr_init(&attributes), 0);
    KK_CHECK_EQ_INT(pthread_attr_setstacksize(&attributes, 65536), 0);
    if (KK_CHECK_EQ_INT(pthread_create(&thread, &attributes, run_everything, arguments), 0)) {
        KK_CHECK_EQ_INT(pthread_join(thread, NULL), 0);
    }
    pthread_attr_destroy(&attributes);
#endif
}

static scene chain(int links, double armature) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(robots_chain(spec, links, NULL), KK_OK);
    for (int b = 1; b <= links; b++) {
        kk_spec_body(spec, b)->joint.dof[0].armature = armature;
    }
    return scene_of(spec, 1);
}

KK_TEST(ten_thousand_links_in_64_kb_of_stack) {
    scene s = chain(LINKS, 0);
    KK_CHECK_EQ_INT(s.nv, LINKS);
    KK_CHECK_EQ_INT(kk_data_has_matrices(s.data), 0);
    results r = {scene_take(&s, 100 * (size_t)LINKS), 0};
    run_with_small_stack(&s, &r);
    KK_CHECK(r.count > 40 * (size_t)LINKS);
    int finite = 1;
    for (size_t i = 0; i < r.count; i++) {
        finite &= isfinite(r.start[i]) != 0;
    }
    KK_CHECK(finite);
    scene_free(&s);
}

// hanging straight down at rest nothing is to be held; held out it is the weight at its arm, at every joint about y
KK_TEST(weight_of_ten_thousand_links) {
    scene s = chain(LINKS, 0);
    double *q = scene_take(&s, LINKS), *tau = scene_take(&s, LINKS);
    kk_gravity_force(s.model, s.data, q, tau);
    KK_CHECK_NEAR(largest(tau, LINKS), 0, 1e-12 * 0.2 * 9.81 * LINKS);
    q[1] = -1.57079632679489661923; // the second axis is y: all behind it lies along x
    kk_gravity_force(s.model, s.data, q, tau);
    const double weight = 0.2 * 9.81, n = LINKS - 1;
    KK_CHECK_REL(fabs(tau[1]), weight * 0.1 * n * n / 2, 1e-12);
    KK_CHECK_REL(fabs(tau[4]), weight * 0.1 * (n - 3) * (n - 3) / 2, 1e-12);
    scene_free(&s);
}

// Scale: the bias, which reaches 10⁷ N m in a chain of two tons that whirls; armature keeps it from being a whip of light links, for
// which no method could give torques of 10 N m back.
KK_TEST(inverse_of_forward_of_ten_thousand_links) {
    scene s = chain(LINKS, 1);
    double *a = scene_take(&s, LINKS), *tau = scene_take(&s, LINKS), *bias = scene_take(&s, LINKS);
    kk_bias_force(s.model, s.data, s.q, s.v, bias);
    kk_forward_dynamics(s.model, s.data, s.q, s.v, s.tau, a);
    kk_inverse_dynamics(s.model, s.data, s.q, s.v, a, tau);
    KK_CHECK(relative_error(tau, s.tau, LINKS, largest(bias, LINKS)) < 1e-12);
    scene_free(&s);
}
