/// Projections and the natural map; see cones.h.
///
/// References: De Saxcé & Feng, The bipotential method (1998), for ũ; Acary, Brémond, Huber, On solving contact problems with Coulomb
/// friction (2018), for the natural map as a measure of error.
#include "contact/cones.h"

void kki_project_disc(double radius, double x[2]) {
    const double t = kki_norm2(x[0], x[1]);
    if (t > radius) {
        x[0] *= radius / t;
        x[1] *= radius / t;
    }
}

void kki_project_block(const kki_block *block, double scale, double normal, double *x) {
    const double bound = block->friction * (normal > 0 ? normal : 0) * scale;
    switch (block->law) {
    case KKI_LAW_CONTACT: kki_project_cone(block->friction, x); break;
    case KKI_LAW_LIMIT: x[0] = x[0] > 0 ? x[0] : 0; break;
    case KKI_LAW_BOX: x[0] = kki_clamp(x[0], block->lower * scale, block->upper * scale); break;
    case KKI_LAW_TORSION: x[0] = kki_clamp(x[0], -bound, bound); break;
    case KKI_LAW_ROLLING: kki_project_disc(bound, x); break;
    default: break; // equality: everything is allowed
    }
}

void kki_project_all(const kki_problem *problem, double *lambda) {
    for (int b = 0; b < problem->nblock; b++) {
        const kki_block *block = &problem->block[b];
        const bool rides = block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
        const double normal = rides ? lambda[problem->block[block->contact].row] : 0;
        kki_project_block(block, 1, normal, lambda + block->row);
    }
}
