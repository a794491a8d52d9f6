// The walk inside the bounds by itself: it needs no start, and ends on Coulomb's law, not on its associated relative.
#include "contact/interior.h"
#include "problems.h"

/// Steps taken, and then Newton's where there may be some; c->lambda and its certificate follow.
static int walk(contact_case *c, double share, int newton) {
    kki_solver_scratch *w = c->work.scratch;
    kki_solver_stats stats = {0};
    kki_interior x;
    kki_iterate *it = &w->iterate[KKI_IT_PATH];
    kki_system_make(&w->system, &c->p, w, c->work.kernels, 1e-13);
    kki_interior_begin(&x, &w->system, w, it);
    kki_interior_walk(&x, 40, share, &stats);
    if (newton > 0) {
        const kki_newton_options o = {.target = 1e-13, .limit = newton, .slack = 30, .careful = true};
        kki_rung_newton(&w->system, w, it, &o, &stats);
    }
    for (int b = 0; b < c->p.nblock; b++) {
        const double tip = c->block[b].law == KKI_LAW_CONTACT ? c->block[b].adhesion : 0;
        for (int k = 0; k < kki_law_rows(c->block[b].law); k++) {
            c->lambda[c->block[b].row + k] = it->lambda[c->block[b].row + k] - (k == 0 ? tip : 0);
        }
    }
    kki_certify_baseline(&c->p, c->lambda, c->u, &c->certificate);
    return x.steps;
}

// a box that slides: un = 0, where the associated law would lift it by μ |ut|
KK_TEST(interior_of_a_sliding_box) {
    contact_case *c = case_create();
    case_stack(c, 1, 1, 0.6, 0.3, false); // steeper than it can hold
    KK_CHECK(walk(c, 1e-8, 0) < 20);
    KK_CHECK(c->certificate.residual < 1e-9);
    double slip = 0;
    for (int b = 0; b < c->p.nblock; b++) {
        const double *u = c->u + c->block[b].row;
        KK_CHECK(u[0] < 1e-9);
        slip = fmax(slip, hypot(u[1], u[2]));
    }
    KK_CHECK(slip > 1e-3);
    case_free(c);
}

// every law there is, from no start at all: the modes are clear where the walk ends
KK_TEST(interior_random_problems) {
    contact_case *c = case_create();
    int arrived = 0, tried = 0, steps = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        case_random(c, seed, 10);
        if (!c->p.G || c->p.nrow > KKI_INTERIOR_ROWS || !case_solve(c)) {
            continue; // has no solution, or none is known
        }
        tried++;
        steps += walk(c, 1e-6, 6);
        arrived += c->certificate.residual <= 1e-10;
    }
    KK_CHECK(tried > 200);
    KK_CHECK(arrived >= 0.95 * tried);
    KK_CHECK(steps < 20 * tried);
    case_free(c);
}

// held more often than it can move; what bears is shared evenly, for the walk ends in the middle of all answers
KK_TEST(interior_of_a_resting_slab) {
    contact_case *c = case_create();
    case_stack(c, 1, 1, 0, 0.5, false);
    walk(c, 1e-7, 0);
    KK_CHECK(c->certificate.residual < 1e-8);
    for (int b = 1; b < c->p.nblock; b++) {
        KK_CHECK_NEAR(c->lambda[c->block[b].row], c->lambda[c->block[0].row], 1e-6 * c->lambda[c->block[0].row]);
    }
    case_free(c);
}
