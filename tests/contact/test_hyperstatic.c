// What is hard for the active set: more rows held than anything can move, from a cold start, and what a robot's feet need.
#include "contact/scratch.h"
#include "problems.h"

static const double UP[3] = {0, 0, 1};

/// A foot on `count` points with a body on top of it held by three rods; kind: bit 0 slides and spins, bit 1 rocks.
static void many_points(contact_case *c, int count, int kind) {
    kk_random r = {(uint64_t)count, 7, 0};
    const double foot[3] = {0, 0, 0.5}, load[3] = {0, 0, 1.2};
    case_clear(c);
    case_body(c, 50, 2, 3, 4, foot);
    case_body(c, 20, 1, 1, 1, load);
    c->v[2] = c->v[8] = -0.01;
    c->v[0] = kind & 1 ? 0.02 : 0;
    c->v[5] = kind & 1 ? 0.03 : 0;
    c->v[3] = kind & 2 ? 0.05 : 0;
    c->v[4] = kind & 2 ? 0.02 : 0;
    for (int i = 0; i < count; i++) {
        const double x = kk_random_next_between(&r, -0.1, 0.1), y = kk_random_next_between(&r, -0.05, 0.05);
        const double at[3] = {x, y, 0};
        case_contact(c, 0, -1, at, UP, 0.6);
    }
    for (int i = 0; i < 3; i++) {
        const double at[3] = {i == 0 ? 0.1 : 0, i == 1 ? 0.1 : 0, 1};
        case_point_row(c, case_block(c, KKI_LAW_EQUALITY)->row, 1, 0, at, UP);
    }
    case_finish(c, true);
}

// a foot of up to 100 points, cold, and a little later, warm
KK_TEST(cold_start_on_many_points) {
    contact_case *c = case_create();
    const int count[5] = {4, 8, 16, 32, 100};
    for (int k = 0; k < 20; k++) {
        many_points(c, count[k / 4], k % 4);
        KK_CHECK(case_solve(c));
        KK_CHECK_NEAR(c->certificate.residual, 0, 1e-12);
        for (int i = 0; i < c->p.nrow; i++) {
            c->g[i] *= 1.01;
        }
        KK_CHECK(case_solve(c));
        KK_CHECK_NEAR(c->certificate.residual, 0, 1e-12);
    }
    case_free(c);
}

/// Both forms of the operator at once, as a simulation has them.
static void random_both(contact_case *c, uint64_t seed) {
    case_random(c, seed, 12);
    c->p.G = c->G;
    c->p.Y = c->Y;
}

// all laws
KK_TEST(random_problems_of_both_forms) {
    contact_case *c = case_create();
    const uint64_t count = kk_test_is_quick() ? 300 : 3000;
    int missed = 0;
    for (uint64_t seed = 0; seed < count; seed++) {
        random_both(c, seed);
        missed += !case_solve(c);
    }
    KK_CHECK_EQ_INT(missed, 0);
    case_free(c);
}

/// Vectors of four that are not zero in each row of Y.
static void find_spans(const contact_case *c, int32_t *span) {
    for (int t = 0; t < c->p.nv; t++) {
        span[2 * t] = span[2 * t + 1] = 0;
        for (int i = 0; i < c->p.stride; i++) {
            if (c->Y[t * c->p.stride + i] != 0) {
                span[2 * t] = span[2 * t + 1] == 0 ? i / 4 : span[2 * t];
                span[2 * t + 1] = i / 4 + 1;
            }
        }
    }
}

// saying where Y is zero changes no velocity
KK_TEST(spans_change_nothing) {
    contact_case *c = case_create();
    static int32_t span[12 * CASE_BODIES];
    static double u[CASE_ROWS];
    for (int k = 0; k < 4; k++) {
        case_stack(c, 8, k < 2 ? 1 : 30, k % 2 ? 0.6 : 0.1, 0.5, true);
        KK_CHECK(case_solve(c));
        memcpy(u, c->u, sizeof u);
        case_stack(c, 8, k < 2 ? 1 : 30, k % 2 ? 0.6 : 0.1, 0.5, true);
        find_spans(c, span);
        KK_CHECK(span[1] < c->p.stride / 4); // there is something to skip
        c->p.span = span;
        KK_CHECK(case_solve(c));
        for (int i = 0; i < c->p.nrow; i++) {
            KK_CHECK_NEAR(c->u[i], u[i], 1e-11);
        }
        c->p.span = NULL;
    }
    case_free(c);
}
