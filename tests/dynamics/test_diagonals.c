// The diagonals by their own sweeps are those of the matrices.
#include "support/scene.h"

#include <math.h>

#include "dynamics/data.h"
#include "dynamics/diagonals.h"

// scale of the inverse: as in test_factor.c, rounding of M is multiplied by |M⁻¹| |M| on the way
KK_TEST(diagonals_are_those_of_the_matrices) {
    for (int i = 0; i < scene_count(); i++) {
        scene s = scene_forest((uint64_t)i);
        const size_t nv = (size_t)s.nv;
        double *M = scene_take(&s, nv * nv), *Minv = scene_take(&s, nv * nv);
        double *inertia = scene_take(&s, nv), *compliance = scene_take(&s, nv);
        kk_data *small = NULL;
        KK_CHECK_EQ_INT(kki_data_create_for_poses(s.model, NULL, &small), KK_OK);
        kk_inertia_matrix(s.model, s.data, s.q, M);
        kk_inertia_matrix_inverse(s.model, s.data, s.q, Minv);
        KK_CHECK_EQ_INT(kki_inertia_diagonals(s.model, small, s.q, NULL, inertia, compliance), KK_OK);
        for (size_t k = 0; k < nv; k++) {
            double size = 0;
            for (size_t j = 0; j < nv; j++) {
                size += fabs(Minv[k * nv + j]) * sqrt(M[j * nv + j] / M[k * nv + k]);
            }
            KK_CHECK_NEAR(inertia[k], M[k * nv + k], 1e-12 * M[k * nv + k]);
            KK_CHECK_NEAR(compliance[k], Minv[k * nv + k], 1e-9 * size);
        }
        kk_data_free(small);
        scene_free(&s);
    }
}
