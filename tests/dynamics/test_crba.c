// The joint-space inertia: columns by inverse dynamics, entries by kinetic energy, symmetric and positive definite.
#include "support/scene.h"

#include "model/model.h"
#include <math.h>
#include <string.h>

// scale: the largest entry of M. Column i is what inverse dynamics asks for to give degree i a unit acceleration at rest, gravity off.
KK_TEST(columns_are_inverse_dynamics_of_unit_accelerations) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *M = scene_take(&s, nv * nv), *column = scene_take(&s, nv * nv), *unit = scene_take(&s, nv);
        double *zero = scene_take(&s, nv), *gravity = scene_take(&s, nv);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        kk_inverse_dynamics(s.model, s.data, s.q, zero, zero, gravity);
        for (size_t j = 0; j < nv; j++) {
            unit[j] = 1;
            kk_inverse_dynamics(s.model, s.data, s.q, zero, unit, zero);
            for (size_t k = 0; k < nv; k++) {
                column[k * nv + j] = zero[k] - gravity[k];
                zero[k] = 0;
            }
            unit[j] = 0;
        }
        // the difference of two inverse dynamics is as good as the larger of the two
        worst_compare(&w, &s, M, column, nv * nv, largest(gravity, nv));
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

// M_ij = Σ V_b(e_i) · I_b V_b(e_j), body by body about its own origin, and the armature
KK_TEST(entries_are_kinetic_energies) {
    worst w = {0};
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv, nbody = (size_t)s.nbody;
        double *M = scene_take(&s, nv * nv), *expected = scene_take(&s, nv * nv), *unit = scene_take(&s, nv);
        kk_motion *V = (kk_motion *)(void *)scene_take(&s, 6 * nbody * nv);
        for (size_t j = 0; j < nv; j++) {
            unit[j] = 1;
            kk_kinematics_velocity(s.model, s.data, s.q, unit);
            unit[j] = 0;
            for (size_t b = 0; b < nbody; b++) {
                V[j * nbody + b] = kk_body_velocity(s.model, s.data, (int)b, KK_LOCAL);
            }
        }
        for (size_t j = 0; j < nv; j++) {
            for (size_t k = 0; k < nv; k++) {
                double *x = &expected[j * nv + k];
                for (size_t b = 1; b < nbody; b++) {
                    const kk_force P = kk_inertia_mul(kk_model_body_inertia(s.model, (int)b), V[k * nbody + b]);
                    *x += kk_motion_dot(V[j * nbody + b], P);
                }
                *x += j == k ? kk_model_dof(s.model, (int)j).armature : 0;
            }
        }
        kk_inertia_matrix(s.model, s.data, s.q, M);
        worst_compare(&w, &s, M, expected, nv * nv, 0);
        scene_free(&s);
    }
    WORST_CHECK(w, 1e-11);
}

/// Smallest pivot of Cholesky's factorization relative to its diagonal entry; negative if M is not positive definite.
static double smallest_pivot(double *M, size_t n) {
    double least = 1;
    for (size_t i = 0; i < n; i++) {
        const double diagonal = M[i * n + i];
        for (size_t k = 0; k < i; k++) {
            M[i * n + i] -= M[i * n + k] * M[i * n + k];
        }
        least = fmin(least, M[i * n + i] / diagonal);
        if (!(least > 0)) {
            return -1;
        }
        M[i * n + i] = sqrt(M[i * n + i]);
        for (size_t j = i + 1; j < n; j++) {
            for (size_t k = 0; k < i; k++) {
                M[j * n + i] -= M[j * n + k] * M[i * n + k];
            }
            M[j * n + i] /= M[i * n + i];
        }
    }
    return least;
}

KK_TEST(symmetric_to_the_bit_and_positive_definite) {
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *M = scene_take(&s, nv * nv);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        int symmetric = 1;
        for (size_t j = 0; j < nv; j++) {
            for (size_t k = 0; k < nv; k++) {
                symmetric = symmetric && same_bits(M[j * nv + k], M[k * nv + j]);
            }
        }
        KK_CHECK(symmetric);
        KK_CHECK(smallest_pivot(M, nv) > 1e-9);
        scene_free(&s);
    }
}

// what kk_crba leaves is the upper triangle of M within the branches; M is zero off them
KK_TEST(rows_of_the_result_end_with_their_subtrees) {
    for (int i = 0; i < 100; i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv, stride = kk_crba_stride(s.model);
        double *M = scene_take(&s, nv * nv);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        kk_crba(s.model, s.data, s.q);
        const double *rows = kk_crba_result(s.data);
        KK_CHECK(stride >= nv);
        for (size_t j = 0; j < nv; j++) {
            for (size_t k = j; k < nv; k++) {
                const double x = k < (size_t)s.model->dof_subtree[j] ? rows[j * stride + k] : 0;
                KK_CHECK(same_bits(x, M[j * nv + k]));
            }
        }
        scene_free(&s);
    }
}
