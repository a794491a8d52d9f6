// What a degraded step does, apart from any step: impulses that would give energy are made smaller by the largest share that gives none, and the gravest
// flaw is the one that is told.
#include "simulate/degrade.h"

#include <math.h>

#include "stage.h"

enum { COORDINATES = 4 };

static double square(const double *x) {
    double sum = 0;
    for (int k = 0; k < COORDINATES; k++) {
        sum += x[k] * x[k];
    }
    return sum;
}

/// An island of coordinates alone: |y|²/2 is its kinetic energy at the start, y_free what it has without impulses, y_end with them.
static void check_share(stage *s, const double *y, const double *y_free, double *y_end) {
    kk_report report = {.worst_body = {-1, -1}};
    kki_island I = {.nv = COORDINATES, .report = &report, .scratch = s->simulator->workers.scratch};
    double y_drift[COORDINATES], wanted[COORDINATES];
    const double most = fmax(square(y), square(y_free));
    for (int k = 0; k < COORDINATES; k++) {
        y_drift[k] = wanted[k] = y_end[k];
    }
    kki_island_degrade(s->model, s->simulator, &I, KK_OK, y, y_free, y_end, y_drift);
    if (square(wanted) <= most) {
        KK_CHECK_BYTES(y_end, wanted, sizeof wanted);
        KK_CHECK_EQ_INT(report.quality, KK_STEP_CERTIFIED);
        return;
    }
    // all of the energy there may be and no more, on the straight way to what was wanted
    KK_CHECK_REL(square(y_end), most, 1e-12);
    double share = 0;
    for (int k = 0; k < COORDINATES; k++) {
        share = fabs(wanted[k] - y_free[k]) > 0.1 ? (y_end[k] - y_free[k]) / (wanted[k] - y_free[k]) : share;
    }
    KK_CHECK(share >= 0 && share < 1);
    for (int k = 0; k < COORDINATES; k++) {
        KK_CHECK_NEAR(y_end[k], y_free[k] + share * (wanted[k] - y_free[k]), 1e-9);
    }
    KK_CHECK_EQ_INT(report.flaw, KK_FLAW_ENERGY);
    KK_CHECK_REL(report.flaw_amount, 0.5 * (square(wanted) - most), 1e-12);
}

KK_TEST(degraded_impulses_take_the_largest_share_that_gives_nothing) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    stage_box(&s, 1, 0.2, 0.2, 0.2, material);
    if (stage_ready(&s, NULL)) {
        double there_and_back[] = {-3, 0.5, 0, 0}, onward[] = {3, 1, 0, 2}, across[] = {1, 4, -2, 0},
               less[] = {0.5, 0.1, 0, 0};
        static const double rest[COORDINATES] = {0}, y[] = {2, 0, 1, 0}, y_free[] = {1.5, -0.5, 1, 0.25};
        double from_rest[] = {1, 2, 3, 4};
        check_share(&s, y, y_free, there_and_back); // through zero, and out on the other side
        check_share(&s, y, y_free, onward);
        check_share(&s, y, y_free, across);
        check_share(&s, y, y_free, less); // which takes energy
        check_share(&s, y, rest, from_rest);
    }
    stage_end(&s);
}

// of one flaw the largest amount stays, of several the gravest quality
KK_TEST(degraded_gravest_flaw_is_told) {
    kk_report r = {.flaw_body = {-1, -1}};
    const int first[2] = {1, 2}, second[2] = {3, 4}, third[2] = {5, -1};
    kki_note_flaw(&r, KK_STEP_DEGRADED, KK_FLAW_RESIDUAL, KK_STAGE_SOLVE, first, 2);
    kki_note_flaw(&r, KK_STEP_DEGRADED, KK_FLAW_RESIDUAL, KK_STAGE_SOLVE, second, 1);
    KK_CHECK(r.flaw_amount == 2 && r.flaw_body[0] == 1 && r.flaw_body[1] == 2);
    kki_note_flaw(&r, KK_STEP_DEGRADED, KK_FLAW_RESIDUAL, KK_STAGE_SOLVE, second, 3);
    KK_CHECK(r.flaw_amount == 3 && r.flaw_body[0] == 3);
    kki_note_flaw(&r, KK_STEP_DEGRADED, KK_FLAW_ENERGY, KK_STAGE_PROVE, third, 100); // the first of one gravity stays
    KK_CHECK(r.flaw == KK_FLAW_RESIDUAL && r.flaw_amount == 3);
    kki_note_flaw(&r, KK_STEP_HELD, KK_FLAW_RANGE, KK_STAGE_SOLVE, third, 0);
    KK_CHECK(r.quality == KK_STEP_HELD && r.flaw == KK_FLAW_RANGE && r.flaw_body[0] == 5 && r.flaw_body[1] == -1);
    kki_note_flaw(&r, KK_STEP_DEGRADED, KK_FLAW_RESIDUAL, KK_STAGE_SOLVE, first, 1e9);
    KK_CHECK_EQ_INT(r.quality, KK_STEP_HELD);
}
