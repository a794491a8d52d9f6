// What the solver promises beside the solution: no NaN, named faults, the same bits, no memory, an honest budget.
#include "contact/dense_kernels.h"
#include "problems.h"
#include "support/allocations.h"

static kk_status solve(contact_case *c) {
    return kki_contact_solve(&c->p, &c->options, &c->work, c->lambda, c->u, &c->certificate, &c->stats);
}

static void check_refused(contact_case *c, kk_status expected, int block) {
    KK_CHECK_EQ_INT(solve(c), expected);
    KK_CHECK_EQ_INT(c->stats.block, block);
    KK_CHECK(!c->stats.solved);
    for (int i = 0; i < c->p.nrow; i++) {
        KK_CHECK_BITS(c->lambda[i], 0.0);
        KK_CHECK_BITS(c->u[i], 0.0);
    }
}

// a number that is none, wherever it stands, is refused with the block's index
KK_TEST(solver_refuses_what_is_not_finite) {
    contact_case *c = case_create();
    const double bad[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        case_stack(c, 3, 1, 0.1, 0.5, false);
        c->g[16] = bad[k];
        check_refused(c, KK_NOT_FINITE, 5);
        case_stack(c, 3, 1, 0.1, 0.5, false);
        c->lambda[20] = bad[k];
        check_refused(c, KK_NOT_FINITE, 6);
        case_stack(c, 3, 1, 0.1, 0.5, false);
        c->G[9 * c->p.stride + 2] = c->G[2 * c->p.stride + 9] = bad[k];
        check_refused(c, KK_NOT_FINITE, 0);
        case_stack(c, 3, 1, 0.1, 0.5, true);
        c->Y[2 * c->p.stride + 8] = bad[k];
        check_refused(c, KK_NOT_FINITE, 2);
    }
    case_free(c);
}

// finite numbers whose products are not: refused or solved, but no NaN comes out
KK_TEST(solver_survives_huge_numbers) {
    contact_case *c = case_create();
    const double size[4] = {1e150, 1e300, 1e-150, 1e-300};
    for (int k = 0; k < 4; k++) {
        case_stack(c, 2, 1, 0.3, 0.5, false);
        for (int i = 0; i < c->p.nrow; i++) {
            c->g[i] *= size[k];
            c->lambda[i] = size[k];
        }
        solve(c);
        for (int i = 0; i < c->p.nrow; i++) {
            KK_CHECK(c->lambda[i] - c->lambda[i] == 0 && c->u[i] - c->u[i] == 0);
        }
        KK_CHECK(c->certificate.residual == c->certificate.residual);
    }
    case_free(c);
}

KK_TEST(solver_refuses_bad_blocks) {
    contact_case *c = case_create();
    case_stack(c, 1, 1, 0.1, 0.5, false);
    c->block[2].friction = -0.1;
    check_refused(c, KK_INVALID_ARGUMENT, 2);
    c->block[2].friction = NAN;
    check_refused(c, KK_INVALID_ARGUMENT, 2);
    c->block[2].friction = 0.5;
    c->block[1].adhesion = -1;
    check_refused(c, KK_INVALID_ARGUMENT, 1);
    c->block[1].adhesion = 0;
    c->block[3].row++;
    check_refused(c, KK_INVALID_ARGUMENT, 3);
    c->block[3].row--;
    c->block[3].law = 9;
    check_refused(c, KK_INVALID_ARGUMENT, 3);
    c->block[3].law = KKI_LAW_CONTACT;
    c->compliance[4] = -1;
    c->p.compliance = c->compliance;
    check_refused(c, KK_INVALID_ARGUMENT, 1);
    c->p.compliance = NULL;
    c->p.stride--;
    check_refused(c, KK_INVALID_ARGUMENT, -1);
    c->p.stride++;
    KK_CHECK_EQ_INT(solve(c), KK_OK);
    kki_solver_work_destroy(&c->work);
    KK_CHECK_EQ_INT(kki_solver_work_create(&c->work, NULL, (kki_solver_size){11, 4, 6, 0}), KK_OK);
    check_refused(c, KK_LIMIT_EXCEEDED, -1);
    case_free(c);
}

// torsion must stand right behind its contact; bounds must be in order
KK_TEST(solver_refuses_bad_riders_and_bounds) {
    contact_case *c = case_create();
    case_stack(c, 1, 1, 0.1, 0.5, false);
    kki_block *t = case_block(c, KKI_LAW_TORSION);
    case_finish(c, false);
    t->contact = 1;
    check_refused(c, KK_INVALID_ARGUMENT, 4);
    t->contact = 3;
    KK_CHECK_EQ_INT(solve(c), KK_OK);
    t->law = KKI_LAW_BOX;
    t->lower = 1;
    t->upper = -1;
    check_refused(c, KK_INVALID_ARGUMENT, 4);
    case_free(c);
}

// rows that nothing can move: no division by their zero
KK_TEST(solver_meets_immovable_rows) {
    contact_case *c = case_create();
    const double p[3] = {0, 0, 0}, n[3] = {0, 0, 1};
    case_clear(c);
    case_body(c, 1, 1, 1, 1, p);
    case_contact(c, 0, -1, p, n, 0.5);
    case_block(c, KKI_LAW_CONTACT)->friction = 0.5;
    case_block(c, KKI_LAW_LIMIT);
    case_block(c, KKI_LAW_EQUALITY);
    case_block(c, KKI_LAW_BOX)->upper = 1;
    c->v[2] = -1;
    case_finish(c, false);
    KK_CHECK(case_solve(c)); // g = 0 there: at rest
    c->g[3] = -0.5;          // and now a contact that nothing can part
    KK_CHECK_EQ_INT(solve(c), KK_OK);
    KK_CHECK(!c->stats.solved);
    KK_CHECK_EQ_INT(c->certificate.worst, 1);
    KK_CHECK_NEAR(c->certificate.residual, 0.5, 1e-9);
    KK_CHECK_NEAR(c->lambda[0], 1, 1e-12);
    case_free(c);
}

// no rows, no work
KK_TEST(solver_of_nothing) {
    contact_case *c = case_create();
    case_clear(c);
    case_finish(c, false);
    KK_CHECK(case_solve(c));
    KK_CHECK_EQ_INT(c->certificate.worst, -1);
    case_free(c);
}

// a solution handed back is recognized: no iteration, the same bits
KK_TEST(solver_keeps_a_warm_solution) {
    contact_case *c = case_create();
    double before[CASE_ROWS];
    for (uint64_t seed = 0; seed < 50; seed++) {
        case_random(c, seed, 10);
        KK_CHECK(case_solve(c));
        memcpy(before, c->lambda, sizeof before);
        KK_CHECK(case_solve(c));
        KK_CHECK_EQ_INT(c->stats.newton + c->stats.sweeps + c->stats.method, 0);
        KK_CHECK_BYTES(before, c->lambda, sizeof(double) * (size_t)c->p.nrow);
    }
    case_free(c);
}

// baseline and AVX2 kernels, and scratch with other contents, give the same bits
KK_TEST(solver_gives_the_same_bits) {
    contact_case *c = case_create();
    double first[CASE_ROWS];
    const kki_dense_kernels *wide = kki_dense_kernels_at(1);
    for (uint64_t seed = 0; seed < (kk_test_is_quick() ? 13 : 60); seed++) {
        case_random(c, seed, seed % 12 ? 12 : 40);
        c->work.kernels = kki_dense_kernels_at(0);
        solve(c);
        memcpy(first, c->lambda, sizeof first);
        case_stack(c, 10, 10, 0.6, 0.5, seed % 2);
        solve(c);
        case_random(c, seed, seed % 12 ? 12 : 40);
        c->work.kernels = wide ? wide : kki_dense_kernels_at(0);
        solve(c);
        KK_CHECK_BYTES(first, c->lambda, sizeof(double) * (size_t)c->p.nrow);
    }
    case_free(c);
}

// so many sweeps and nothing else, with the best λ of them and an honest word about it
KK_TEST(solver_fixed_budget) {
    contact_case *c = case_create();
    double last = INFINITY;
    for (int sweeps = 1; sweeps <= 100; sweeps *= 10) {
        case_stack(c, 5, 1, 0.17, 0.5, sweeps == 10);
        c->options.fixed_sweeps = sweeps;
        KK_CHECK_EQ_INT(solve(c), KK_OK);
        KK_CHECK_EQ_INT(c->stats.sweeps, sweeps);
        KK_CHECK_EQ_INT(c->stats.newton, 0);
        KK_CHECK(c->stats.cut_short && !c->stats.solved);
        KK_CHECK(c->certificate.residual <= last);
        KK_CHECK_NEAR(c->certificate.cone, 0, 1e-15); // a cut solution is still inside its cones
        last = c->certificate.residual;
    }
    case_free(c);
}

// with G or with Y alone, formed or not: the same velocities
KK_TEST(solver_low_rank_agrees) {
    contact_case *c = case_create();
    double u[CASE_ROWS];
    for (int k = 0; k < 8; k++) {
        const double tilt = k % 2 ? 0.6 : 0.1, ratio = k % 4 < 2 ? 1 : 30;
        const int n = k < 4 ? 3 : 8; // 36 rows: G is formed; 96 on 48: it is not
        case_stack(c, n, ratio, tilt, 0.5, false);
        KK_CHECK(case_solve(c));
        memcpy(u, c->u, sizeof u);
        case_stack(c, n, ratio, tilt, 0.5, true);
        KK_CHECK(case_solve(c));
        for (int i = 0; i < c->p.nrow; i++) {
            KK_CHECK_NEAR(c->u[i], u[i], 1e-11);
        }
    }
    case_free(c);
}

KK_TEST(solver_does_not_allocate) {
    contact_case *c = case_create();
    const long before = allocations_so_far();
    for (uint64_t seed = 0; seed < 20; seed++) {
        case_random(c, seed, 20);
        solve(c);
    }
    KK_CHECK_EQ_INT(allocations_so_far() - before, 0);
    case_free(c);
}

// every allocation may fail, and sizes may be absurd
KK_TEST(solver_work_creation_fails_cleanly) {
    faulty f = {.fail_at = 0};
    const kk_allocator allocator = {.allocate = faulty_allocate, .release = faulty_release, .user = &f};
    kki_solver_work work;
    KK_CHECK_EQ_INT(kki_solver_work_create(&work, &allocator, (kki_solver_size){12, 4, 18, 0}), KK_OUT_OF_MEMORY);
    kki_solver_work_destroy(&work);
    f.fail_at = -1;
    KK_CHECK_EQ_INT(kki_solver_work_create(&work, &allocator, (kki_solver_size){12, 4, 18, 0}), KK_OK);
    kki_solver_work_destroy(&work);
    KK_CHECK_EQ_INT(f.blocks, 0);
    KK_CHECK_EQ_INT(kki_solver_work_create(&work, &allocator, (kki_solver_size){-1, 4, 18, 0}), KK_INVALID_ARGUMENT);
    kki_solver_work_destroy(&work);
}
