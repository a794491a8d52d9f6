// The order in which branches are described does not matter: shuffled bodies give the same physics.
#include "support/scene.h"

#include <stdio.h>
#include <string.h>

/// The same forest with its bodies in another order in which parents still come first. @param place [nbody] old id → new id
static scene shuffled(const scene *s, int *place) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_random random = {s->seed, 5, 0};
    kk_spec_set_gravity(spec, kk_model_gravity(s->model));
    for (int b = 0; b < s->nbody; b++) {
        place[b] = b == 0 ? 0 : -1;
    }
    for (int made = 1; made < s->nbody;) {
        const int b = 1 + (int)kk_random_next_below(&random, (uint64_t)(s->nbody - 1));
        kk_body_def body = *kk_spec_body(s->spec, b);
        if (place[b] < 0 && place[body.parent] >= 0) {
            body.parent = place[body.parent];
            KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &place[b], NULL), KK_OK);
            made++;
        }
    }
    return scene_of(spec, s->seed);
}

/// Copies what belongs to each joint from its place in one model to its place in the other.
static void carry(const scene *from, const scene *to, const int *place, int velocities, const double *x, double *y) {
    for (int b = 1; b < from->nbody; b++) {
        const kk_joint_info i = kk_model_joint(from->model, b), j = kk_model_joint(to->model, place[b]);
        if (velocities) {
            memcpy(y + j.v_index, x + i.v_index, (size_t)i.nv * sizeof *y);
        } else {
            memcpy(y + j.q_index, x + i.q_index, (size_t)i.nq * sizeof *y);
        }
    }
}

KK_TEST(shuffled_bodies_give_the_same_physics) {
    worst torque = {0}, acceleration = {0}, poses = {0};
    for (int i = 0; i < scene_count() / 2; i++) {
        scene s = scene_forest((uint64_t)i);
        int place[32] = {0};
        scene t = shuffled(&s, place);
        const size_t nv = (size_t)s.nv;
        double *x = scene_take(&s, nv), *y = scene_take(&s, nv), *z = scene_take(&s, nv);
        carry(&s, &t, place, 0, s.q, t.q);
        carry(&s, &t, place, 1, s.v, t.v);
        carry(&s, &t, place, 1, s.a, t.a);
        carry(&s, &t, place, 1, s.tau, t.tau);
        for (int b = 0; b < s.nbody; b++) {
            t.external[place[b]] = s.external[b];
        }
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, x);
        kk_inverse_dynamics_external(t.model, t.data, t.q, t.v, t.a, t.external, y);
        carry(&s, &t, place, 1, x, z);
        worst_compare(&torque, &s, y, z, nv, 0);
        kk_forward_dynamics_external(s.model, s.data, s.q, s.v, s.tau, s.external, x);
        kk_forward_dynamics_external(t.model, t.data, t.q, t.v, t.tau, t.external, y);
        carry(&s, &t, place, 1, x, z);
        worst_compare(&acceleration, &s, y, z, nv, scene_acceleration_scale(&s, x, 1));
        kk_kinematics(s.model, s.data, s.q);
        kk_kinematics(t.model, t.data, t.q);
        for (int b = 0; b < s.nbody; b++) {
            const kk_transform X = kk_body_pose(s.model, s.data, b), Y = kk_body_pose(t.model, t.data, place[b]);
            worst_compare(&poses, &s, X.R.m, Y.R.m, 9, 1);
            worst_compare(&poses, &s, &X.p.x, &Y.p.x, 3, 1);
        }
        scene_free(&s);
        scene_free(&t);
    }
    WORST_CHECK(torque, 1e-13);
    WORST_CHECK(acceleration, 1e-13);
    WORST_CHECK(poses, 1e-14);
}
