// Jacobians: J v is the velocity, dJ v + J a the acceleration, dJ the rate of J; in every reference, for bodies and frames.
#include "support/scene.h"

#include <math.h>

enum { REFERENCES = 3 };

static kk_motion times(const double *J, const double *v, size_t nv) {
    return kk_motion_make(kk_vec3_make(dot(J, v, nv), dot(J + nv, v, nv), dot(J + 2 * nv, v, nv)),
                          kk_vec3_make(dot(J + 3 * nv, v, nv), dot(J + 4 * nv, v, nv), dot(J + 5 * nv, v, nv)));
}

/// A body, or a frame numbered behind the bodies.
static void jacobian(const scene *s, int place, kk_reference reference, double *J) {
    if (place < s->nbody) {
        kk_body_jacobian(s->model, s->data, place, reference, J);
    } else {
        kk_frame_jacobian(s->model, s->data, place - s->nbody, reference, J);
    }
}
static void jacobian_rate(const scene *s, int place, kk_reference reference, double *dJ) {
    if (place < s->nbody) {
        kk_body_jacobian_rate(s->model, s->data, place, reference, dJ);
    } else {
        kk_frame_jacobian_rate(s->model, s->data, place - s->nbody, reference, dJ);
    }
}
static kk_motion velocity(const scene *s, int place, kk_reference reference) {
    return place < s->nbody ? kk_body_velocity(s->model, s->data, place, reference)
                            : kk_frame_velocity(s->model, s->data, place - s->nbody, reference);
}
/// The plain rate of the velocity's components: spatial, but classical where axes and origin do not move together.
static kk_motion acceleration(const scene *s, int place, kk_reference reference) {
    if (reference == KK_WORLD_ALIGNED) {
        return place < s->nbody ? kk_body_classical_acceleration(s->model, s->data, place, reference)
                                : kk_frame_classical_acceleration(s->model, s->data, place - s->nbody, reference);
    }
    return place < s->nbody ? kk_body_acceleration(s->model, s->data, place, reference)
                            : kk_frame_acceleration(s->model, s->data, place - s->nbody, reference);
}

// scale: 1 m/s, 1 rad/s, or what the motion has. The kinematics are called first: the Jacobians' readers must not need them after.
KK_TEST(jacobian_times_velocity_is_velocity) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const int places = s.nbody + kk_model_nframe(s.model);
        double *J = scene_take(&s, 6 * (size_t)s.nv);
        kk_motion V[48][REFERENCES];
        kk_kinematics_velocity(s.model, s.data, s.q, s.v);
        for (int k = 0; k < places * REFERENCES; k++) {
            V[k / REFERENCES][k % REFERENCES] = velocity(&s, k / REFERENCES, (kk_reference)(k % REFERENCES));
        }
        kk_jacobians(s.model, s.data, s.q);
        for (int k = 0; k < places * REFERENCES; k++) {
            jacobian(&s, k / REFERENCES, (kk_reference)(k % REFERENCES), J);
            worst_compare_motion(&w, &s, times(J, s.v, (size_t)s.nv), V[k / REFERENCES][k % REFERENCES], 1);
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-13);
}

KK_TEST(rates_make_the_acceleration) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        const int places = s.nbody + kk_model_nframe(s.model);
        double *J = scene_take(&s, 6 * nv), *dJ = scene_take(&s, 6 * nv);
        kk_motion A[48][REFERENCES];
        kk_kinematics_acceleration(s.model, s.data, s.q, s.v, s.a);
        for (int k = 0; k < places * REFERENCES; k++) {
            A[k / REFERENCES][k % REFERENCES] = acceleration(&s, k / REFERENCES, (kk_reference)(k % REFERENCES));
        }
        kk_jacobians_rate(s.model, s.data, s.q, s.v);
        for (int k = 0; k < places * REFERENCES; k++) {
            jacobian(&s, k / REFERENCES, (kk_reference)(k % REFERENCES), J);
            jacobian_rate(&s, k / REFERENCES, (kk_reference)(k % REFERENCES), dJ);
            const kk_motion sum = kk_motion_add(times(dJ, s.v, nv), times(J, s.a, nv));
            worst_compare_motion(&w, &s, sum, A[k / REFERENCES][k % REFERENCES], 1);
        }
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-12);
}

static void all_jacobians(const scene *s, const double *q, const double *v, double *out) {
    (void)v;
    kk_jacobians(s->model, s->data, q);
    for (int k = 0; k < (s->nbody + kk_model_nframe(s->model)) * REFERENCES; k++, out += 6 * s->nv) {
        jacobian(s, k / REFERENCES, (kk_reference)(k % REFERENCES), out);
    }
}

// dJ v alone leaves columns unseen that v does not excite separately: every entry against differences of J
KK_TEST(every_entry_of_the_rate_is_a_rate) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 10; i++) {
        scene s = scene_forest((uint64_t)i);
        const int places = s.nbody + kk_model_nframe(s.model);
        const size_t n = 6 * (size_t)s.nv, all = n * (size_t)places * REFERENCES;
        double *expected = scene_take(&s, all), *found = scene_take(&s, all);
        scene_rate(&s, 0x1p-7, all_jacobians, all, expected);
        kk_jacobians_rate(s.model, s.data, s.q, s.v);
        for (int k = 0; k < places * REFERENCES; k++) {
            jacobian_rate(&s, k / REFERENCES, (kk_reference)(k % REFERENCES), found + (size_t)k * n);
        }
        worst_compare(&w, &s, found, expected, all, 1);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

// the torque that holds a wrench is Jᵀ F: inverse dynamics knows it without Jacobians
KK_TEST(transpose_takes_forces_to_torques) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *J = scene_take(&s, 6 * nv), *sum = scene_take(&s, nv), *with = scene_take(&s, nv),
               *without = scene_take(&s, nv);
        kk_inverse_dynamics(s.model, s.data, s.q, s.v, s.a, without);
        kk_inverse_dynamics_external(s.model, s.data, s.q, s.v, s.a, s.external, with);
        kk_jacobians(s.model, s.data, s.q);
        for (int b = 0; b < s.nbody; b++) {
            kk_body_jacobian(s.model, s.data, b, KK_LOCAL, J);
            for (size_t k = 0; k < 6 * nv; k++) {
                sum[k % nv] += J[k] * scene_component(s.external[b], (int)(k / nv));
            }
        }
        for (size_t k = 0; k < nv; k++) {
            without[k] -= sum[k];
        }
        worst_compare(&w, &s, with, without, nv, largest(sum, nv));
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-12);
}
