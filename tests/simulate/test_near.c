// What a simulator remembers of pairs that are apart changes nothing: after any walk through states, with jumps and other lengths of the
// step, it finds what one that was just made finds.
#include <karakuri/random.h>

#include "stage.h"

enum { LINKS = 6, WALKS = 300 };

/// An arm of boxes and capsules with two shapes a link, over a plane, between a wall and loose bodies.
static void build(stage *s) {
    *s = stage_begin(9.81);
    const int material = stage_material(s, 0.5, 0);
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    stage_shape(s, KK_SHAPE_BOX, KK_WORLD, 0.4, 0.4, 0.4, material);
    int parent = KK_WORLD;
    for (int i = 0; i < LINKS; i++) {
        char name[16];
        kk_body_def link = kk_body_def_default();
        snprintf(name, sizeof name, "link%d", i);
        link.name = name;
        link.parent = parent;
        link.joint.axis = i % 2 ? kk_vec3_make(0, 1, 0) : kk_vec3_make(1, 0, 0);
        link.joint.placement.p = kk_vec3_make(i ? 0.2 : 0, 0, i ? 0 : 0.9);
        link.inertia = kk_inertia_solid_box(1, 0.2, 0.05, 0.05);
        KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &link, &parent, &s->error), KK_OK);
        stage_shape(s, KK_SHAPE_BOX, parent, 0.12, 0.05, 0.05, material);
        stage_shape(s, KK_SHAPE_CAPSULE, parent, 0.03, 0.08, 0, material);
    }
    stage_box(s, 1, 0.2, 0.1, 0.1, material);
    stage_ball(s, 1, 0.1, material);
}

static double drawn(kk_random *random) {
    return 2 * kk_random_next_uniform(random) - 1;
}

/// A small move, or a leap to anywhere; speeds of any size.
static void wander(const stage *s, uint64_t stream, kk_random *random) {
    double *q = kk_state_q(s->state), *v = kk_state_v(s->state);
    const double leap = stream % 17 == 0 ? 2 : 0.02, speed = stream % 5 == 0 ? 5 : 0.5;
    for (int i = 0; i < LINKS; i++) {
        q[i] += leap * drawn(random);
    }
    for (int b = 1 + LINKS; b <= 2 + LINKS; b++) {
        double *at = q + kk_model_joint(s->model, b).q_index;
        for (int k = 4; k < 7; k++) {
            at[k] += 0.3 * leap * drawn(random);
        }
        at[6] = at[6] < 0.3 ? 0.3 : at[6];
    }
    for (int k = 0; k < kk_model_nv(s->model); k++) {
        v[k] = speed * drawn(random);
    }
}

KK_TEST(what_is_known_to_be_apart_is_apart) {
    stage s;
    build(&s);
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3, .budget = 2})) {
        kk_state *twin = NULL;
        kk_random random = {.seed = 7};
        int contacts = 0;
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &twin), KK_OK);
        for (uint64_t i = 1; i <= WALKS; i++) {
            kk_simulator *fresh = NULL;
            wander(&s, i, &random);
            kk_state_copy(twin, s.state);
            KK_CHECK_EQ_INT(
                kk_simulator_create(s.model, &(kk_step_options){.timestep = 2e-3, .budget = 2}, NULL, &fresh, &s.error),
                KK_OK);
            const kk_status known = kk_step(s.model, s.state, s.simulator, NULL, &s.error);
            const kk_status anew = kk_step(s.model, twin, fresh, NULL, &s.error);
            contacts += kk_simulator_report(fresh).contacts;
            KK_CHECK_EQ_INT(known, anew);
            KK_CHECK(kk_state_hash(s.state) == kk_state_hash(twin));
            kk_simulator_free(fresh);
        }
        KK_CHECK(contacts > WALKS / 3);
        kk_state_free(twin);
    }
    stage_end(&s);
}
