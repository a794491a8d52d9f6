// Random problems: every one certified, cold and warm; small ones against a slow reference in more digits.
#include "robot_problems.h"

typedef struct tally {
    int count, missed, above_floor;
    double worst;
    uint64_t seed;
} tally;

static void note(tally *t, const contact_case *c, bool solved, uint64_t seed) {
    t->count++;
    t->above_floor += c->stats.cut_short;
    t->missed += !solved;
    if (!(c->certificate.residual <= t->worst)) {
        t->worst = c->certificate.residual;
        t->seed = seed;
    }
}

static void check_tally(const tally *t) {
    if (t->missed > 0 || t->above_floor > t->count / 100) {
        KK_FAIL("%d of %d missed the tolerance, %d the floor; worst %g at seed %llu", t->missed, t->count,
                t->above_floor, t->worst, (unsigned long long)t->seed);
    }
}

// all laws, mass ratios to 100, ranks deficient
KK_TEST(random_problems_are_certified) {
    contact_case *c = case_create();
    tally t = {0};
    const uint64_t count = kk_test_is_quick() ? 500 : 6000;
    for (uint64_t seed = 0; seed < count; seed++) {
        case_random(c, seed, 12);
        note(&t, c, case_solve(c), seed);
    }
    check_tally(&t);
    case_free(c);
}

// the next step of a simulation: velocities a little different, the last impulses as the start
KK_TEST(random_problems_are_certified_warm) {
    contact_case *c = case_create();
    tally t = {0};
    static double last[CASE_ROWS];
    const uint64_t count = kk_test_is_quick() ? 200 : 2000;
    for (uint64_t seed = 0; seed < count; seed++) {
        case_random(c, seed, 10);
        case_solve(c);
        for (int k = 0; k < 3; k++) {
            memcpy(last, c->lambda, sizeof last);
            case_random(c, seed, 10);
            for (int i = 0; i < c->p.nrow; i++) {
                c->g[i] *= 1 + 0.01 * k; // all alike: stays a velocity of the bodies
            }
            memcpy(c->lambda, last, sizeof last);
            note(&t, c, case_solve(c), seed);
        }
    }
    check_tally(&t);
    case_free(c);
}

// random forests and robots on random contacts, G by the library's own kk_delassus; then the same a little later, warm
KK_TEST(random_robots_are_certified) {
    contact_case *c = case_create();
    tally t = {0};
    static robot_contact contact[64];
    static double last[CASE_ROWS];
    const int count = kk_test_is_quick() ? 50 : 500;
    for (int f = 0; f < count; f++) {
        scene s = f % 10 ? scene_forest((uint64_t)f) : scene_robot(f % 20 ? "quadruped" : "humanoid36", (uint64_t)f);
        for (int draw = 0; draw < 4; draw++) {
            kk_random r = {(uint64_t)f, (uint64_t)(50 + draw), 0};
            const int n = robot_draw_contacts(&s, &r, draw < 3 ? 8 : 16, contact);
            robot_case(c, &s, contact, n, s.v);
            note(&t, c, case_solve(c), (uint64_t)f);
            memcpy(last, c->lambda, sizeof last);
            for (int i = 0; i < s.nv; i++) {
                s.v[i] *= 1 + 0.05 * kk_random_next_normal(&r);
            }
            robot_case(c, &s, contact, n, s.v);
            memcpy(c->lambda, last, sizeof last);
            note(&t, c, case_solve(c), (uint64_t)f);
        }
        scene_free(&s);
    }
    check_tally(&t);
    case_free(c);
}

// ---- a reference that shares nothing with the solver: projected fixed point, one step size, long double

static long double norm2(long double x, long double y) {
    return sqrtl(x * x + y * y);
}

static void reference_project(long double mu, long double *x) {
    const long double t = norm2(x[1], x[2]);
    if (t <= mu * x[0]) {
        return;
    }
    const long double n = mu * t <= -x[0] ? 0 : (x[0] + mu * t) / (1 + mu * mu);
    x[1] *= t > 0 ? mu * n / t : 0;
    x[2] *= t > 0 ? mu * n / t : 0;
    x[0] = n;
}

/// λ ← P(λ − ũ / trace) until it stands still. False if it does not within reason.
static bool reference_solve(const contact_case *c, long double *lambda) {
    const int n = c->p.nrow;
    long double trace = 0, u[CASE_ROWS] = {0};
    for (int i = 0; i < n; i++) {
        trace += c->G[i * c->p.stride + i];
        lambda[i] = 0;
    }
    for (int it = 0; it < 40000; it++) {
        long double moved = 0;
        for (int i = 0; i < n; i++) {
            u[i] = c->g[i];
            for (int j = 0; j < n; j++) {
                u[i] += c->G[i * c->p.stride + j] * lambda[j];
            }
        }
        for (int b = 0; b < n; b += 3) {
            const long double mu = c->block[b / 3].friction;
            long double x[3] = {lambda[b] - (u[b] + mu * norm2(u[b + 1], u[b + 2])) / trace,
                                lambda[b + 1] - u[b + 1] / trace, lambda[b + 2] - u[b + 2] / trace};
            reference_project(mu, x);
            for (int k = 0; k < 3; k++) {
                moved += fabsl(x[k] - lambda[b + k]);
                lambda[b + k] = x[k];
            }
        }
        if (moved < 1e-17L) {
            return true;
        }
    }
    return false;
}

// one to three contacts on as many bodies, so that G is regular; little friction, so that the solution is one
KK_TEST(random_problems_match_the_reference) {
    contact_case *c = case_create();
    long double expected[CASE_ROWS];
    int compared = 0;
    const int count = kk_test_is_quick() ? 30 : 200;
    for (int k = 0; k < count; k++) {
        kk_random r = {(uint64_t)k, 9, 0};
        case_clear(c);
        const int n = 1 + k % 3;
        for (int b = 0; b < n; b++) {
            const double p[3] = {0, 0, b}, m = kk_random_next_between(&r, 0.5, 2);
            case_body(c, m, 0.3 * m, 0.4 * m, 0.5 * m, p);
            for (int i = 0; i < 6; i++) {
                c->v[6 * b + i] = kk_random_next_normal(&r);
            }
        }
        for (int b = 0; b < n; b++) {
            double at[3], normal[3];
            case_random_direction(&r, normal);
            for (int i = 0; i < 3; i++) {
                at[i] = (i == 2 ? b - 0.5 : 0) + kk_random_next_between(&r, -0.3, 0.3);
            }
            case_contact(c, b, b - 1, at, normal, kk_random_next_between(&r, 0, 0.4));
        }
        case_finish(c, false);
        KK_CHECK(case_solve(c));
        if (reference_solve(c, expected)) {
            compared++;
            for (int i = 0; i < c->p.nrow; i++) {
                KK_CHECK_NEAR(c->lambda[i], expected[i], 1e-11);
            }
        }
    }
    KK_CHECK(compared > 3 * count / 4);
    case_free(c);
}

// bodies jammed between many walls are the hard case: nearly all are solved, the others say so
KK_TEST(jammed_problems_are_honest) {
    contact_case *c = case_create();
    int solved = 0;
    const int count = kk_test_is_quick() ? 20 : 150;
    for (int k = 0; k < count; k++) {
        double u[CASE_ROWS];
        kki_certificate again;
        case_random(c, 50000 + (uint64_t)k, 40);
        solved += case_solve(c);
        kki_certify_baseline(&c->p, c->lambda, u, &again);
        KK_CHECK_BITS(again.residual, c->certificate.residual);
        KK_CHECK(c->stats.solved == (again.residual <= 1e-9));
        KK_CHECK(again.residual < 1);
    }
    KK_CHECK(solved >= count - 2);
    case_free(c);
}
