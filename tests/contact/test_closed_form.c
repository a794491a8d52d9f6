// Contact problems whose solution is known on paper. Velocities are right to the floor at which the solver stops, 1e-13 m/s.
#include "problems.h"

static const double UP[3] = {0, 0, 1};

static void check_solved(contact_case *c) {
    KK_CHECK(case_solve(c));
    KK_CHECK_NEAR(c->certificate.residual, 0, 1e-12);
    KK_CHECK_NEAR(c->certificate.cone, 0, 1e-12);
}

// a box on four corners holds up to atan(μ) and slides above with g (sin − μ cos): right on either side of the threshold
KK_TEST(incline_threshold) {
    contact_case *c = case_create();
    for (int k = 0; k < 2; k++) {
        const double mu = 0.5, tilt = atan(mu) + (k ? 1e-9 : -1e-9);
        case_stack(c, 1, 1, tilt, mu, false);
        check_solved(c);
        const double expected = k ? 1e-3 * 9.81 * (sin(tilt) - mu * cos(tilt)) : 0;
        KK_CHECK_NEAR(case_velocity(c, 0), expected, 1e-13);
        KK_CHECK_NEAR(case_velocity(c, 2), 0, 1e-13);
        KK_CHECK_NEAR(case_velocity(c, 4), 0, 1e-13);
    }
    case_free(c);
}

// what friction takes is μ g dt in every direction, and straight backwards
KK_TEST(friction_is_isotropic) {
    contact_case *c = case_create();
    const double half[3] = {1, 1, 0.05}, mu = 0.3, dv = 9.81e-3;
    for (int k = 0; k < 360; k++) {
        const double a = k * 3.14159265358979323846 / 180, speed = k % 2 ? 1 : 2 * mu * dv;
        case_clear(c);
        case_slab(c, 7, half, 0, -1, mu);
        c->v[0] = speed * cos(a);
        c->v[1] = speed * sin(a);
        c->v[2] = -dv;
        case_finish(c, false);
        check_solved(c);
        KK_CHECK_NEAR(case_velocity(c, 0), (speed - mu * dv) * cos(a), 1e-13);
        KK_CHECK_NEAR(case_velocity(c, 1), (speed - mu * dv) * sin(a), 1e-13);
        KK_CHECK_NEAR(case_velocity(c, 5), 0, 1e-13);
    }
    case_free(c);
}

// a solid sphere lands with a sideways velocity: slides with impulse μ, or rolls with 5/7 of its speed
KK_TEST(sphere_lands) {
    contact_case *c = case_create();
    for (int k = 0; k < 2; k++) {
        const double m = 3, r = 0.2, inertia = 0.4 * m * r * r, p[3] = {0, 0, r}, at[3] = {0, 0, 0}, mu = k ? 1 : 0.1;
        case_clear(c);
        case_body(c, m, inertia, inertia, inertia, p);
        c->v[0] = 1.4;
        c->v[2] = -2;
        case_contact(c, 0, -1, at, UP, mu);
        case_finish(c, false);
        check_solved(c);
        KK_CHECK_NEAR(case_velocity(c, 0), k ? 1 : 1.4 - 0.2, 1e-14);
        KK_CHECK_NEAR(case_velocity(c, 4), k ? 1 / r : 0.2 * 2.5 / r, 1e-13);
        KK_CHECK_NEAR(c->lambda[0], 2 * m, 1e-14);
    }
    case_free(c);
}

// ten slabs, the top one heavier and heavier: at rest below the friction angle, above it all slide together
KK_TEST(stacks_of_any_mass_ratio) {
    contact_case *c = case_create();
    const double ratio[4] = {1, 10, 100, 1000};
    for (int k = 0; k < 16; k++) {
        const double mu = 0.5, tilt = k & 1 ? 0.6 : 0.17, m = ratio[k / 2 % 4];
        case_stack(c, 10, m, tilt, mu, k >= 8);
        KK_CHECK(case_solve(c));
        KK_CHECK_NEAR(c->certificate.residual, 0, 1e-12);
        double bottom = 0;
        for (int i = 0; i < 4; i++) {
            bottom += c->lambda[3 * i];
        }
        KK_CHECK_REL(bottom, (9 + m) * 9.81e-3 * cos(tilt), 1e-9);
        for (int b = 0; b < 10; b++) {
            KK_CHECK_NEAR(case_velocity(c, 6 * b), k & 1 ? 9.81e-3 * (sin(tilt) - mu * cos(tilt)) : 0, 1e-11);
            KK_CHECK_NEAR(case_velocity(c, 6 * b + 2), 0, 1e-11);
        }
    }
    case_free(c);
}

static double energy(const contact_case *c, bool after) {
    double sum = 0;
    for (int k = 0; k < 6 * c->nbody; k++) {
        const double v = after ? case_velocity(c, k) : c->v[k];
        sum += 0.5 * v * v / c->inverse_mass[k];
    }
    return sum;
}

// a rod pushed along with its tip on rough ground (Painlevé): above μ = 4/3 no acceleration solves it, but an impulse does
KK_TEST(painleve_rod) {
    contact_case *c = case_create();
    int stopped = 0;
    for (int k = 0; k < 400; k++) {
        const double angle = 0.1 + 0.0035 * k, mu = 0.5 + 0.007 * k;
        const double center[3] = {cos(angle), 0, sin(angle)}, tip[3] = {0, 0, 0};
        case_clear(c);
        case_body(c, 1, 1 / 3.0, 1 / 3.0, 1 / 3.0, center);
        c->v[0] = -1; // the tip leads: the dangerous direction
        c->v[2] = -1e-2;
        case_contact(c, 0, -1, tip, UP, mu);
        case_finish(c, false);
        check_solved(c);
        KK_CHECK(energy(c, true) <= energy(c, false) * (1 + 1e-15));
        stopped += fabs(c->u[1]) + fabs(c->u[2]) < 1e-12;
    }
    KK_CHECK(stopped > 20 && stopped < 380); // it jams in some and slides in others
    case_free(c);
}

// dry friction takes what its bound allows, and stops where that is more than there is
KK_TEST(box_rows) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0}, x[3] = {1, 0, 0};
    for (int k = 0; k < 3; k++) {
        const double bound = k == 0 ? 1 : k == 1 ? 6.5 : INFINITY;
        case_clear(c);
        case_body(c, 2, 1, 1, 1, p);
        c->v[0] = 3;
        kki_block *b = case_block(c, KKI_LAW_BOX);
        b->lower = -bound;
        b->upper = bound;
        case_point_row(c, b->row, 0, -1, p, x);
        case_finish(c, false);
        check_solved(c);
        KK_CHECK_NEAR(case_velocity(c, 0), k ? 0 : 2.5, 1e-15);
    }
    case_free(c);
}

// a body between two limits; and a motor that pushes into a limit with all it may
KK_TEST(limits_and_a_motor) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0}, x[3] = {1, 0, 0}, back[3] = {-1, 0, 0};
    case_clear(c);
    case_body(c, 2, 1, 1, 1, p);
    c->v[0] = -3;
    kki_block *low = case_block(c, KKI_LAW_LIMIT), *high = case_block(c, KKI_LAW_LIMIT);
    kki_block *motor = case_block(c, KKI_LAW_BOX);
    motor->lower = -5;
    motor->upper = 5;
    case_point_row(c, low->row, 0, -1, p, x);
    case_point_row(c, high->row, 0, -1, p, back);
    case_point_row(c, motor->row, 0, -1, p, x);
    c->g[motor->row] = 10; // wants −10 m/s
    case_finish(c, false);
    check_solved(c);
    KK_CHECK_NEAR(c->lambda[motor->row], -5, 1e-14);
    KK_CHECK_NEAR(c->lambda[low->row], 11, 1e-13);
    KK_CHECK_NEAR(c->lambda[high->row], 0, 0);
    case_free(c);
}

// spin about the normal and rolling, with the contact at the center so that rows do not mix: the bound or the stop
KK_TEST(torsion_and_rolling) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    for (int k = 0; k < 4; k++) {
        case_clear(c);
        case_body(c, 2, 0.5, 0.5, 0.5, p);
        c->v[2] = -3;
        c->v[3] = 1.2;
        c->v[4] = -1.6;
        c->v[5] = 2;
        case_contact(c, 0, -1, p, UP, 0.5);
        kki_block *t = case_block(c, KKI_LAW_TORSION), *roll = case_block(c, KKI_LAW_ROLLING);
        roll->contact = t->contact;
        t->friction = k & 1 ? 0.1 : 0.2;  // load 6: bound 0.6 or 1.2, needed 1
        roll->friction = k & 2 ? 0.1 : 1; // bound 0.6 or 6, needed 1
        case_spin_row(c, t->row, 0, -1, UP);
        case_spin_row(c, roll->row, 0, -1, x);
        case_spin_row(c, roll->row + 1, 0, -1, y);
        case_finish(c, k == 3);
        check_solved(c);
        KK_CHECK_NEAR(case_velocity(c, 5), k & 1 ? 2 - 1.2 : 0, 1e-13);
        KK_CHECK_NEAR(case_velocity(c, 3), k & 2 ? 1.2 - 0.6 * 0.6 / 0.5 : 0, 1e-13);
        KK_CHECK_NEAR(case_velocity(c, 4), k & 2 ? -1.6 + 0.8 * 0.6 / 0.5 : 0, 1e-13);
    }
    case_free(c);
}

// a suction cup holds what is less than its adhesion, and takes that much from what is more
KK_TEST(adhesion_holds) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0};
    for (int k = 0; k < 2; k++) {
        case_clear(c);
        case_body(c, 2, 1, 1, 1, p);
        c->v[0] = 0.4; // 0.8 N s against 0.5 × what is left of the grip
        c->v[2] = k ? 2 : 1;
        case_contact(c, 0, -1, p, UP, 0.5)->adhesion = 3;
        case_finish(c, false);
        check_solved(c);
        KK_CHECK_NEAR(c->lambda[0], k ? -3 : -2, 1e-14);
        KK_CHECK_NEAR(case_velocity(c, 2), k ? 0.5 : 0, 1e-13);
        KK_CHECK_NEAR(case_velocity(c, 0), k ? 0.4 : 0.4 - 0.25, 1e-14);
    }
    case_free(c);
}

// a soft row carries the load of a spring in series
KK_TEST(compliance_softens) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0};
    case_clear(c);
    case_body(c, 2, 1, 1, 1, p);
    c->v[2] = -3;
    kki_block *b = case_block(c, KKI_LAW_LIMIT);
    case_point_row(c, b->row, 0, -1, p, UP);
    c->compliance[0] = 0.25;
    case_finish(c, false);
    c->p.compliance = c->compliance;
    check_solved(c);
    KK_CHECK_NEAR(c->lambda[0], 4, 1e-14);
    KK_CHECK_NEAR(case_velocity(c, 2), -1, 1e-14);
    case_free(c);
}

// the three at once: the soft suction cup gives way by its compliance, and its spin is held by what presses, adhesion included
KK_TEST(adhesion_compliance_and_torsion) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0};
    case_clear(c);
    case_body(c, 2, 0.5, 0.5, 0.5, p);
    c->v[2] = 1;
    c->v[5] = 2;
    case_contact(c, 0, -1, p, UP, 0.5)->adhesion = 3;
    kki_block *t = case_block(c, KKI_LAW_TORSION);
    t->friction = 0.1;
    case_spin_row(c, t->row, 0, -1, UP);
    case_finish(c, false);
    c->compliance[0] = 0.25;
    c->p.compliance = c->compliance;
    check_solved(c);
    KK_CHECK_NEAR(c->lambda[0], -4 / 3.0, 1e-13);
    KK_CHECK_NEAR(case_velocity(c, 2), 1 / 3.0, 1e-13);
    KK_CHECK_NEAR(case_velocity(c, 5), 2 - 0.1 * (3 - 4 / 3.0) / 0.5, 1e-13);
    case_free(c);
}

/// A weld of body 0 to the world at a point, three rows.
static void weld(contact_case *c, const double *point) {
    for (int k = 0; k < 3; k++) {
        const double e[3] = {k == 0, k == 1, k == 2};
        kki_block *b = case_block(c, KKI_LAW_EQUALITY);
        case_point_row(c, b->row, 0, -1, point, e);
    }
}

// three point welds are nine rows on six degrees of freedom; and each is there three times
KK_TEST(redundant_equalities) {
    contact_case *c = case_create();
    const double p[3] = {0.1, 0.2, 0.3}, at[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    case_clear(c);
    case_body(c, 2, 0.3, 0.4, 0.5, p);
    for (int k = 0; k < 6; k++) {
        c->v[k] = 1 + 0.3 * k;
    }
    for (int k = 0; k < 9; k++) {
        weld(c, at[k % 3]);
    }
    case_finish(c, false);
    check_solved(c);
    for (int k = 0; k < 6; k++) {
        KK_CHECK_NEAR(case_velocity(c, k), 0, 1e-13);
    }
    case_free(c);
}

// two welds that ask for different velocities: no solution, and the certificate says so, in bounded time and without a NaN
KK_TEST(contradictory_equalities) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0};
    case_clear(c);
    case_body(c, 2, 1, 1, 1, p);
    weld(c, p);
    weld(c, p);
    c->g[0] = 0.5;
    case_finish(c, false);
    KK_CHECK_EQ_INT(kki_contact_solve(&c->p, &c->options, &c->work, c->lambda, c->u, &c->certificate, &c->stats),
                    KK_OK);
    KK_CHECK(!c->stats.solved && c->stats.cut_short);
    KK_CHECK(c->certificate.residual >= 0.25 - 1e-12 && c->certificate.residual < 10);
    KK_CHECK(c->certificate.worst == 0 || c->certificate.worst == 3);
    case_free(c);
}
