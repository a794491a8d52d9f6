/// What the papers' steps have in common: their place in the step, what they refuse, and how they are judged.
#include "papers/common.h"

#include <string.h>

#include "base/error.h"
#include "contact/dense_kernels.h"

const kki_paper *kki_paper_of(kk_solver solver) {
    switch (solver) {
    case KK_SOLVER_OPENHRP: return &kki_paper_openhrp;
    case KK_SOLVER_SPRINGHEAD: return &kki_paper_springhead;
    case KK_SOLVER_KURODA: return &kki_paper_kuroda;
    default: return NULL;
    }
}

// ---- what is refused

/// The first property of a law that is more than Coulomb's friction; NULL: none.
static const char *beyond_coulomb(const kki_contact_law *law, int one_friction) {
    return law->torsion > 0                                       ? "torsional friction"
           : law->rolling > 0                                     ? "rolling friction"
           : law->restitution > 0                                 ? "restitution"
           : law->adhesion > 0                                    ? "adhesion"
           : law->slip > 0                                        ? "creep"
           : law->ratio != 1                                      ? "friction that differs by direction"
           : one_friction && law->static_friction > law->friction ? "static friction above the sliding one"
                                                                  : NULL;
}

kk_status kki_paper_check_materials(const kk_model *m, kk_solver solver, kk_error *error) {
    for (int i = 0; i < m->nlaw; i++) {
        const char *what = beyond_coulomb(&m->law[i], solver != KK_SOLVER_KURODA);
        if (what) {
            return kki_error_set(error, KK_UNSUPPORTED,
                                 "the solver \"%s\" knows Coulomb's friction only: a pair of materials has %s; use the "
                                 "exact solver, or another material",
                                 kk_solver_name(solver), what);
        }
    }
    return KK_OK;
}

// ---- constraints

static void keep_near(kk_simulator *s, double near) {
    int kept = 0;
    for (int i = 0; i < s->contacts.count; i++) {
        if (s->contacts.list[i].gap <= near) {
            s->contacts.list[kept] = s->contacts.list[i];
            s->contacts.list[kept++].open = 0;
        }
    }
    s->contacts.count = kept;
}

kk_status kki_paper_constrain(const kk_model *m, kk_simulator *s, const kk_state *state, double near) {
    s->data->kernels->kick_prepare(m, &s->data->scratch, s->motion.q, s->motion.v, s->motion.v);
    const kk_status status = kki_detect(m, s, state);
    if (status != KK_OK) {
        return status;
    }
    keep_near(s, near);
    return kki_constrain(m, s);
}

kk_status kki_paper_divide(const kk_model *m, kk_simulator *s, const kk_state *state, kk_error *error) {
    const kki_warm_layout w = s->warm_start.layout;
    const kk_status status = kki_find_islands(m, s, error);
    for (int i = 0; i < s->islands.count && status == KK_OK; i++) {
        kki_island *I = &s->islands.list[i];
        kki_island_begin(m, s, I, &w, kki_state_warm_const(state));
        I->is_soft = 1; // papers make rows soft that are not
        memset(s->solution.lambda + I->first_row, 0, (size_t)I->stride * sizeof *s->solution.lambda);
    }
    return status;
}

// ---- forces

kk_status kki_paper_forces(const kk_model *m, kk_simulator *s, const kk_input *input, double lag_time,
                           kk_error *error) {
    const double h = s->h;
    const int given = s->options.explicit_servos;
    s->h = lag_time;
    s->options.explicit_servos = 1;
    const kk_status status = kki_apply_forces(m, s, input, error);
    s->options.explicit_servos = given;
    s->h = h;
    // springs and dampers, too, are forces of this moment
    for (int k = 0; k < m->nv && status == KK_OK; k++) {
        const double early = 0.5 * lag_time * m->dof[k].stiffness * s->motion.v[k];
        s->forces.by_source[KK_FORCE_PASSIVE][k] += early;
        s->forces.tau[k] += early;
        s->forces.diagonal[k] = m->dof_armature[k];
        s->forces.passive_slope[k] = 0;
    }
    return status;
}

// ---- judgment

void kki_paper_judge(const kk_model *m, kk_simulator *s, const kki_island *I, const kki_problem *problem, int sweeps) {
    kki_certificate proof;
    const kki_solver_stats stats = {.sweeps = sweeps};
    I->scratch->solver.kernels->certify(problem, s->solution.lambda + I->first_row, s->solution.u + I->first_row,
                                        &proof);
    kki_island_note(m, s, I, &proof, &stats);
    s->report.hit_iteration_limit |= !(proof.residual <= s->options.tolerance);
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        const double end = s->solution.u[r] - s->solution.bias[r] - s->solution.compliance[r] * s->solution.lambda[r];
        s->report.constraint_work += s->solution.lambda[r] * 0.5 * (s->solution.u0[r] + end);
        s->solution.kept[r] = s->solution.lambda[r];
    }
}

void kki_paper_finish(const kk_model *m, kk_simulator *s) {
    s->rk4.is_used = 1; // the kick's books are not kept
    kki_finish(m, s);
    kki_warm_store(s);
}
