// Center of mass and momentum against sums over bodies; their rates against the forces that act.
#include "support/scene.h"

static kk_vec3 center_by_sum(const scene *s) {
    kk_vec3 sum = {0, 0, 0};
    double mass = 0;
    for (int b = 1; b < s->nbody; b++) {
        const kk_inertia I = kk_model_body_inertia(s->model, b);
        sum = kk_vec3_add(sum, kk_vec3_scale(kk_transform_point(kk_body_pose(s->model, s->data, b), I.com), I.mass));
        mass += I.mass;
    }
    return kk_vec3_scale(sum, 1 / mass);
}

/// Of forces or momenta about the world's origin: about the point.
static kk_force about(kk_vec3 point, kk_force F) {
    return kk_force_make(kk_vec3_sub(F.angular, kk_vec3_cross(point, F.linear)), F.linear);
}

static kk_force times(const double *A, const double *v, size_t nv) {
    return kk_force_make(kk_vec3_make(dot(A, v, nv), dot(A + nv, v, nv), dot(A + 2 * nv, v, nv)),
                         kk_vec3_make(dot(A + 3 * nv, v, nv), dot(A + 4 * nv, v, nv), dot(A + 5 * nv, v, nv)));
}

KK_TEST(center_of_mass_is_the_weighted_mean) {
    worst place = {0}, speed = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *J = scene_take(&s, 3 * nv);
        kk_kinematics_velocity(s.model, s.data, s.q, s.v);
        const kk_vec3 expected = center_by_sum(&s);
        kk_force P = {{0, 0, 0}, {0, 0, 0}};
        for (int b = 1; b < s.nbody; b++) {
            P = kk_force_add(P, scene_body_momentum(&s, b));
        }
        const kk_vec3 rate = kk_vec3_scale(P.linear, 1 / kk_model_mass(s.model));
        const kk_vec3 c = kk_center_of_mass(s.model, s.data, s.q),
                      c2 = kk_center_of_mass_jacobian(s.model, s.data, s.q, J);
        const kk_vec3 Jv = kk_vec3_make(dot(J, s.v, nv), dot(J + nv, s.v, nv), dot(J + 2 * nv, s.v, nv));
        KK_CHECK_BYTES(&c, &c2, sizeof c);
        worst_compare(&place, &s, &c.x, &expected.x, 3, 1);
        worst_compare(&speed, &s, &Jv.x, &rate.x, 3, 1);
        scene_free(&s);
    }
    WORST_CHECK(place, 1e-13);
    WORST_CHECK(speed, 1e-13);
}

// scale: the size of the bodies' own momenta about the world's origin, which may cancel
KK_TEST(momentum_is_the_sum_over_bodies) {
    worst matrix = {0}, direct = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *A = scene_take(&s, 6 * nv), scale = 0;
        kk_kinematics_velocity(s.model, s.data, s.q, s.v);
        kk_force P = {{0, 0, 0}, {0, 0, 0}};
        for (int b = 1; b < s.nbody; b++) {
            const kk_force p = scene_body_momentum(&s, b);
            scale += kk_vec3_norm(p.angular) + kk_vec3_norm(p.linear);
            P = kk_force_add(P, p);
        }
        P = about(center_by_sum(&s), P);
        kk_centroidal(s.model, s.data, s.q, A);
        worst_compare_force(&matrix, &s, times(A, s.v, nv), P, scale);
        worst_compare_force(&direct, &s, kk_centroidal_momentum(s.model, s.data, s.q, s.v), P, scale);
        scene_free(&s);
    }
    WORST_CHECK(matrix, 1e-13);
    WORST_CHECK(direct, 1e-13);
}

// ḣ = A a + dA v is the sum of all bodies' inertia forces; gravity has no moment about the center of mass
KK_TEST(rate_of_momentum_is_the_sum_of_inertia_forces) {
    worst w = {0}, same = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *A = scene_take(&s, 6 * nv), *A2 = scene_take(&s, 6 * nv), *dA = scene_take(&s, 6 * nv), scale = 1;
        kk_kinematics_acceleration(s.model, s.data, s.q, s.v, s.a);
        kk_force F = {{0, 0, 0}, {0, 0, 0}};
        for (int b = 1; b < s.nbody; b++) {
            const kk_force f = scene_body_load(&s, b);
            scale += kk_vec3_norm(f.angular) + kk_vec3_norm(f.linear);
            F = kk_force_add(F, f);
        }
        F = about(center_by_sum(&s), F);
        F.linear = kk_vec3_add(F.linear, kk_vec3_scale(kk_model_gravity(s.model), kk_model_mass(s.model)));
        kk_centroidal(s.model, s.data, s.q, A2);
        kk_centroidal_rate(s.model, s.data, s.q, s.v, A, dA);
        worst_compare(&same, &s, A, A2, 6 * nv, 1);
        worst_compare_force(&w, &s, kk_force_add(times(A, s.a, nv), times(dA, s.v, nv)), F, scale);
        scene_free(&s);
    }
    WORST_CHECK(same, 1e-14);
    WORST_CHECK(w, 1e-11);
}

static void momentum_matrix(const scene *s, const double *q, const double *v, double *out) {
    (void)v;
    kk_centroidal(s->model, s->data, q, out);
}

KK_TEST(every_entry_of_the_rate_is_a_rate) {
    worst w = {0};
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t n = 6 * (size_t)s.nv;
        double *expected = scene_take(&s, n), *A = scene_take(&s, n), *dA = scene_take(&s, n);
        scene_rate(&s, 0x1p-7, momentum_matrix, n, expected);
        kk_centroidal_rate(s.model, s.data, s.q, s.v, A, dA);
        worst_compare(&w, &s, dA, expected, n, largest(A, n));
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}
