/// Limits of joints: a row that pushes away from each bound that the rest of the step could reach.
#include "model/warm.h"
#include "simulate/constraint/wrench.h"

static void add(const kk_model *m, kk_simulator *s, int dof, int side, double gap) {
    kki_constraint *c = kki_constraint_begin(s, KKI_ON_LIMIT, dof);
    c->side = side;
    c->nrow = c->nblock = 1;
    c->gap[0] = gap;
    c->npositions = 1;
    c->dof[0] = dof;
    kki_constraint_dof_part(m, s, 0, dof, side ? -1 : 1);
    kki_constraint_end(s, c);
}

/// How fast the joint is, or was at the end of the last attempt at this step.
static double speed_of(const kk_simulator *s, int dof) {
    const double v = __builtin_fabs(s->motion.v[dof]);
    return s->retry.attempts > 0 ? 2 * __builtin_fabs(s->motion.v_mean[dof]) + v : v;
}

/// Limits that the rest of the step could reach.
static void assemble(const kk_model *m, kk_simulator *s) {
    const double *q = s->motion.q, h = s->h;
    for (const kki_limited *d = s->constraints.limited, *last = d + s->constraints.nlimited; d < last; d++) {
        const double below = q[d->q] - d->lower, above = d->upper - q[d->q];
        const double reach = 0.01 + 2 * h * speed_of(s, d->dof);
        if (below < reach) {
            add(m, s, d->dof, 0, below);
        }
        if (above < reach) {
            add(m, s, d->dof, 1, above);
        }
    }
}

int kki_list_limited(const kk_model *model, kki_limited *list) {
    int count = 0;
    for (int i = 1; i < model->nnode; i++) {
        const kki_node *n = &model->node[i];
        const kk_dof_def *d = &model->dof[n->v_index];
        if (model->node_nv[i] == 1 && (d->lower > -__builtin_inf() || d->upper < __builtin_inf())) {
            list[count++] = (kki_limited){n->v_index, n->q_index, d->lower, d->upper};
        }
    }
    return count;
}

static int slot(const kki_warm_layout *w, const kki_constraint *c) {
    return w->first_dof + KKI_WARM_DOF_SIZE * c->item + (c->side ? KKI_WARM_UPPER : KKI_WARM_LOWER);
}

static void report(const kk_model *m, kk_simulator *s, const kki_constraint *c, double rate) {
    const double f = s->solution.lambda[c->row] / s->h;
    (void)m;
    (void)rate;
    s->forces.by_source[KK_FORCE_LIMIT][c->item] += c->side ? -f : f;
}

const kki_constraint_type kki_constraint_limit = {
    .name = "limit", .kind = KKI_CLASS_STOP, .assemble = assemble, .law = kki_stop_law, .slot = slot, .report = report};
