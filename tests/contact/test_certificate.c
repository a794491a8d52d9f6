// The certificate by hand: points on each law have no residual, points off it have the one that the definition gives.
#include "problems.h"

/// One block with G = 1 and g chosen so that λ gives u.
static double residual_at(const kki_block *block, const double *lambda, const double *u, kki_certificate *certificate) {
    static const _Alignas(32) double G[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    _Alignas(32) double g[4] = {0}, out[4];
    const int n = kki_law_rows(block->law);
    for (int k = 0; k < n; k++) {
        g[k] = u[k] - lambda[k];
    }
    const kki_problem p = {.nblock = 1, .nrow = n, .stride = 4, .block = block, .G = G, .g = g};
    kki_certify_baseline(&p, lambda, out, certificate);
    for (int k = 0; k < n; k++) {
        KK_CHECK_NEAR(out[k], u[k], 1e-15);
    }
    return certificate->residual;
}

static double residual(int law, double friction, double l0, double l1, double l2, double u0, double u1, double u2) {
    const kki_block block = {.law = law, .friction = friction, .lower = -1, .upper = 2};
    const double lambda[3] = {l0, l1, l2}, u[3] = {u0, u1, u2};
    kki_certificate c;
    return residual_at(&block, lambda, u, &c);
}

KK_TEST(certificate_of_a_contact) {
    const int C = KKI_LAW_CONTACT;
    KK_CHECK_NEAR(residual(C, 0.5, 0, 0, 0, 1, 3, -2), 0, 0);          // open, moving anyhow
    KK_CHECK_NEAR(residual(C, 0.5, 2, 0.6, -0.8, 0, 0, 0), 0, 1e-15);  // sticks on the rim
    KK_CHECK_NEAR(residual(C, 0.5, 2, 0.6, 0.8, 0, -3, -4), 0, 1e-15); // slides, friction opposes
    KK_CHECK_NEAR(residual(C, 0.5, 0, 0, 0, -1, 0, 0), 1, 1e-15);      // approaches unhindered
    KK_CHECK_NEAR(residual(C, 0.5, 2, 0, 0, 0.25, 0, 0), 0.25, 1e-15); // parts under load
    KK_CHECK_NEAR(residual(C, 0.5, 2, 0, 0, 0, 0.1, 0), sqrt(0.05 * 0.05 + 0.1 * 0.1), 1e-15); // slips inside the cone
    KK_CHECK(residual(C, 0.5, 2, 0.6, 0.8, 0, 3, 4) > 1);                                      // friction drives
    KK_CHECK(residual(C, 0.5, 2, 0.8, 0.6, 0, -3, -4) > 0.1);                                  // friction askew
    KK_CHECK(residual(C, 0.5, 2, 1.2, 0, 0, 0, 0) > 0.1);                                      // outside the cone
}

KK_TEST(certificate_of_the_scalar_laws) {
    KK_CHECK_NEAR(residual(KKI_LAW_EQUALITY, 0, -7, 0, 0, 0.25, 0, 0), 0.25, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_LIMIT, 0, 0, 0, 0, 5, 0, 0), 0, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_LIMIT, 0, 5, 0, 0, 0, 0, 0), 0, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_LIMIT, 0, 0, 0, 0, -5, 0, 0), 5, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_LIMIT, 0, 0.5, 0, 0, 3, 0, 0), 0.5, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_BOX, 0, 1.5, 0, 0, 0, 0, 0), 0, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_BOX, 0, -1, 0, 0, 4, 0, 0), 0, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_BOX, 0, 2, 0, 0, -4, 0, 0), 0, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_BOX, 0, 2, 0, 0, 0.5, 0, 0), 0.5, 0);
    KK_CHECK_NEAR(residual(KKI_LAW_BOX, 0, 2.25, 0, 0, -1, 0, 0), 0.25, 0);
}

// how far an impulse is from its set: the nearest point of a cone, of its tip where that is nearer, and of an interval
KK_TEST(certificate_tells_distances_to_sets) {
    static const struct {
        double lambda[3], distance;
    } contacts[] = {{{1, 2, 0}, 1.3416407864998738},      // (μ = 1/2) 3/2 off the rim, by its slope: 3/2 / √(5/4)
                    {{1, 0, -1}, 0.44721359549995793},    // 1/2 / √(5/4)
                    {{2, 0.6, 0.8}, 0},                   // on the rim
                    {{-2, 0, 0}, 2},                      // straight below the tip
                    {{-4, 1.2, 1.6}, 4.4721359549995796}, // where the tip is nearest: √(16 + 4)
                    {{-1, 0, 4}, 4.0249223594996213}};    // and where the cone is: 9/2 / √(5/4)
    const kki_block contact = {.law = KKI_LAW_CONTACT, .friction = 0.5};
    const double still[3] = {0, 0, 0};
    kki_certificate c;
    for (size_t i = 0; i < sizeof contacts / sizeof *contacts; i++) {
        residual_at(&contact, contacts[i].lambda, still, &c);
        KK_CHECK_NEAR(c.cone, contacts[i].distance, 1e-15 * (1 + contacts[i].distance));
    }
    const kki_block box = {.law = KKI_LAW_BOX, .lower = -1, .upper = 2}, limit = {.law = KKI_LAW_LIMIT};
    residual_at(&box, (const double[3]){-1.5, 0, 0}, still, &c);
    KK_CHECK_NEAR(c.cone, 0.5, 1e-15);
    residual_at(&box, (const double[3]){2.25, 0, 0}, still, &c);
    KK_CHECK_NEAR(c.cone, 0.25, 1e-15);
    residual_at(&limit, (const double[3]){-0.75, 0, 0}, still, &c);
    KK_CHECK_NEAR(c.cone, 0.75, 1e-15);
}

// adhesion moves the cone's tip: a contact in tension below it is at rest
KK_TEST(certificate_knows_adhesion) {
    const kki_block block = {.law = KKI_LAW_CONTACT, .friction = 0.5, .adhesion = 3};
    const double held[3] = {-2, 0.5, 0}, too_much[3] = {-3.5, 0, 0}, still[3] = {0, 0, 0}, away[3] = {1, 0, 0};
    const double tip[3] = {-3, 0, 0};
    kki_certificate c;
    KK_CHECK_NEAR(residual_at(&block, held, still, &c), 0, 1e-15);
    KK_CHECK_NEAR(residual_at(&block, tip, away, &c), 0, 1e-15);
    KK_CHECK_NEAR(residual_at(&block, too_much, still, &c), 0.5, 1e-15);
    KK_CHECK_NEAR(c.cone, 0.5, 1e-15);
}

// torsion and rolling are bounded by the load of the contact before them
KK_TEST(certificate_of_torsion_and_rolling) {
    static const _Alignas(32) double G[6 * 8] = {[0] = 1, [9] = 1, [18] = 1, [27] = 1, [36] = 1, [45] = 1};
    const kki_block block[3] = {{.law = KKI_LAW_CONTACT, .friction = 0.5},
                                {.law = KKI_LAW_TORSION, .row = 3, .friction = 0.1},
                                {.law = KKI_LAW_ROLLING, .row = 4, .friction = 0.2}};
    const double lambda[6] = {10, 0, 0, 1, 1.2, -1.6}, u[6] = {0, 0, 0, -2, -3, 4};
    _Alignas(32) double g[8] = {0}, out[8];
    for (int k = 0; k < 6; k++) {
        g[k] = u[k] - lambda[k];
    }
    kki_problem p = {.nblock = 3, .nrow = 6, .stride = 8, .block = block, .G = G, .g = g};
    kki_certificate c;
    kki_certify_baseline(&p, lambda, out, &c);
    KK_CHECK_NEAR(c.residual, 0, 1e-15);
    g[3] += 2.5; // now it turns with the torsion
    kki_certify_baseline(&p, lambda, out, &c);
    KK_CHECK_NEAR(c.residual, 0.5, 1e-15);
    KK_CHECK_EQ_INT(c.worst, 1);
    g[5] -= 8; // and rolls askew
    kki_certify_baseline(&p, lambda, out, &c);
    KK_CHECK(c.residual > 1);
    KK_CHECK_EQ_INT(c.worst, 2);
}

// a product and an angle that the residual does not show by itself
KK_TEST(certificate_signorini_and_dissipation) {
    const kki_block block = {.law = KKI_LAW_CONTACT, .friction = 0.5};
    const double lambda[3] = {2, 0.6, 0.8}, u[3] = {0.25, -4, -3};
    kki_certificate c;
    residual_at(&block, lambda, u, &c);
    KK_CHECK_NEAR(c.signorini, 0.5, 1e-15);
    KK_CHECK_NEAR(c.dissipation, atan2(4, 3) - atan2(3, 4), 1e-12);
    KK_CHECK_NEAR(c.cone, 0, 1e-15);
}

// nearest points: the definition of a projection, by random points of the cone
KK_TEST(projection_is_the_nearest_point) {
    kk_random r = {5, 6, 7};
    for (int k = 0; k < 2000; k++) {
        const double mu = kk_random_next_between(&r, 0, 2);
        double x[3], y[3], z[3];
        for (int i = 0; i < 3; i++) {
            x[i] = y[i] = kk_random_next_normal(&r);
            z[i] = kk_random_next_normal(&r);
        }
        kki_project_cone(mu, y);
        z[0] = (sqrt(z[1] * z[1] + z[2] * z[2]) / (mu + 1e-9)) + fabs(z[0]);
        // (x − y) · (z − y) ≤ 0 for every z of the cone
        const double dot =
            (x[0] - y[0]) * (z[0] - y[0]) + (x[1] - y[1]) * (z[1] - y[1]) + (x[2] - y[2]) * (z[2] - y[2]);
        KK_CHECK(mu < 1e-3 || dot <= 1e-12 * (1 + z[0]));
        KK_CHECK(sqrt(y[1] * y[1] + y[2] * y[2]) <= mu * y[0] + 1e-14);
    }
}
