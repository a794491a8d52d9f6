/// What is handed to the solver and what comes back: input checked, methods by the table of strategy.c, the result judged by certificate.c.
#include <string.h>

#include "contact/cones.h"
#include "contact/strategy.h"

kki_solver_options kki_solver_options_default(void) {
    return (kki_solver_options){
        .tolerance = 1e-9, .floor = 1e-13, .methods = KKI_METHODS_ALL, .sweeps = 4, .newton = 10};
}

// ---- input

static bool finite(double x) {
    return x - x == 0;
}

static bool rides(const kki_block *block) {
    return block->law == KKI_LAW_TORSION || block->law == KKI_LAW_ROLLING;
}

static bool block_is_sound(const kki_problem *p, int b, int row) {
    const kki_block *block = &p->block[b];
    if (block->law < KKI_LAW_CONTACT || block->law > KKI_LAW_ROLLING || block->row != row) {
        return false;
    }
    if (block->law == KKI_LAW_BOX) {
        return block->lower <= block->upper && block->lower < 1e300 && block->upper > -1e300;
    }
    if (rides(block)) {
        // right behind its contact, or behind another one that rides on the same
        const bool behind =
            b > 0 && (block->contact == b - 1 || (rides(block - 1) && block[-1].contact == block->contact));
        return behind && p->block[block->contact].law == KKI_LAW_CONTACT && block->friction >= 0 &&
               finite(block->friction);
    }
    return block->law != KKI_LAW_CONTACT ||
           (block->friction >= 0 && finite(block->friction) && block->adhesion >= 0 && finite(block->adhesion));
}

/// KK_OK, or what is wrong, with the block at fault.
static kk_status check_blocks(const kki_problem *p, int32_t *fault) {
    int row = 0;
    for (int b = 0; b < p->nblock; b++) {
        if (!block_is_sound(p, b, row)) {
            *fault = b;
            return KK_INVALID_ARGUMENT;
        }
        row += kki_law_rows(p->block[b].law);
        for (int k = p->block[b].row; p->compliance && k < row; k++) {
            if (!(p->compliance[k] >= 0) || !finite(p->compliance[k])) {
                *fault = b;
                return KK_INVALID_ARGUMENT;
            }
        }
    }
    return row == p->nrow ? KK_OK : KK_INVALID_ARGUMENT;
}

static kk_status check(const kki_problem *p, const kki_solver_work *work, int32_t *fault) {
    if (p->nrow < 0 || p->nblock < 0 || p->stride < p->nrow || p->stride % 4 ||
        (p->nrow > 0 && (!p->g || (!p->G && !p->Y)))) {
        return KK_INVALID_ARGUMENT;
    }
    const int rows = kki_low_rank_wanted(p) ? work->size.rows : work->size.dense;
    const bool fits = p->nrow <= rows && p->nblock <= work->size.blocks &&
                      p->stride <= kki_round4(work->size.rows) + 4 && (!p->Y || p->nv <= work->size.nv);
    return fits ? check_blocks(p, fault) : KK_LIMIT_EXCEEDED;
}

/// Whatever is not finite in G, g or λ is so in u = G λ + g, because 0 × ∞ is none either; but the map of an open contact hides it.
static bool all_finite(int n, const double *u) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += u[i] - u[i];
    }
    return sum == 0;
}

/// The first block with a number that is not finite in its own rows.
static int find_not_finite(const kki_problem *p, const double *lambda) {
    for (int b = 0; b < p->nblock; b++) {
        for (int k = 0; k < kki_law_rows(p->block[b].law); k++) {
            const int i = p->block[b].row + k;
            bool good = finite(p->g[i]) && finite(lambda[i]);
            for (int j = 0; good && p->G && j < p->nrow; j++) {
                good = finite(p->G[i * p->stride + j]);
            }
            for (int t = 0; good && p->Y && t < p->nv; t++) {
                good = finite(p->Y[t * p->stride + i]);
            }
            if (!good) {
                return b;
            }
        }
    }
    return 0; // all finite, but their products are not
}

// ---- rows

static kk_status refuse(kk_status status, int block, const kki_problem *p, double *lambda, double *u,
                        kki_certificate *certificate, kki_solver_stats *stats) {
    for (int i = 0; i < p->nrow; i++) {
        lambda[i] = u[i] = 0;
    }
    *certificate = (kki_certificate){.residual = __builtin_inf(), .worst = block};
    stats->block = block;
    return status;
}

kk_status kki_contact_solve(const kki_problem *p, const kki_solver_options *options, kki_solver_work *work,
                            double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    kki_solver_scratch *w = work->scratch;
    kki_system *s = &w->system;
    *stats = (kki_solver_stats){.block = -1};
    const kk_status status = check(p, work, &stats->block);
    if (status != KK_OK) {
        return refuse(status, stats->block, p, lambda, u, certificate, stats);
    }
    kki_system_make(s, p, w, work->kernels, options->floor);
    kki_search x = {.options = options, .stats = stats, .rows = s, .w = w};
    x.best = &w->iterate[KKI_IT_BEST];
    x.trial = &w->iterate[KKI_IT_TRY];
    x.most_formed = work->size.dense;
    kki_system_load(s, lambda, x.best);
    if (!finite(x.best->residual) || !all_finite(s->nrow, x.best->u)) {
        return refuse(KK_NOT_FINITE, find_not_finite(p, lambda), p, lambda, u, certificate, stats);
    }
    kki_search_run(&x);
    kki_system_store(s, x.best, lambda);
    work->kernels->certify(p, lambda, u, certificate);
    stats->block = certificate->worst;
    stats->solved = certificate->residual <= options->tolerance;
    return KK_OK;
}

// ---- ties

static int find_fast_row(const kki_problem *p, const double *u) {
    for (int i = 0; i < p->nblock; i++) {
        if (u[p->block[i].row] - u[p->block[i].row] != 0) {
            return i;
        }
    }
    return 0;
}

static void shift(const kki_problem *p, const double *from, double sign, double *to) {
    memcpy(to, from, sizeof *to * (size_t)p->nrow);
    for (int b = 0; b < p->nblock; b++) {
        to[p->block[b].row] += p->block[b].law == KKI_LAW_CONTACT ? sign * p->block[b].adhesion : 0;
    }
}

static kk_status check_ties(const kki_sparse_problem *p, const kki_sparse_size *size) {
    const bool fits = p->nbody <= size->bodies && p->ntie <= size->ties && p->rows.nrow <= size->rows &&
                      p->rows.nblock <= size->blocks && p->first[p->nbody] <= size->width;
    return fits ? KK_OK : KK_LIMIT_EXCEEDED;
}

static kk_status refuse_ties(const kki_problem *p, double *lambda, double *u, kki_solver_stats *stats) {
    stats->block = find_fast_row(p, u);
    memset(lambda, 0, sizeof *lambda * (size_t)p->nrow);
    memset(u, 0, sizeof *u * (size_t)p->nrow);
    return KK_NOT_FINITE;
}

static void judge_result(const kki_sparse_problem *problem, const kki_solver_options *options, kki_sparse_scratch *w,
                         const double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    w->system.kernels->certify(problem, lambda, w->dz, u, certificate);
    stats->block = certificate->worst;
    stats->solved = certificate->residual <= options->tolerance;
    stats->cut_short = certificate->residual > w->system.floor;
}

/// Real-time mode: so many sweeps from the warm start, and nothing else.
static kk_status sweep_only(const kki_sparse_problem *problem, const kki_solver_options *options, kki_sparse_work *work,
                            double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    kki_sparse_scratch *w = work->scratch;
    kki_sparse_iterate *it = &w->iterate[KKI_IT_TIES_BEST];
    kki_sparse_system_begin(problem, work->kernels, options->floor, w);
    kki_bundles_make(problem, w->system.soft, &w->bundles);
    for (int i = 0; i < w->bundles.nrest; i++) {
        kki_sparse_system_own(&w->system, &problem->tie[w->bundles.rest[i]]);
    }
    shift(&problem->rows, lambda, 1, it->lambda);
    memset(it->z, 0, sizeof *it->z * (size_t)w->system.width);
    work->kernels->motion(problem, it->lambda, it->z);
    if (!all_finite(problem->rows.nrow, w->system.g) || !all_finite(w->system.width, it->z)) {
        work->kernels->certify(problem, lambda, w->dz, u, certificate);
        return refuse_ties(&problem->rows, lambda, u, stats);
    }
    kki_bundles_sweep(&w->system, &w->bundles, options->fixed_sweeps, it->lambda, it->z);
    stats->sweeps = options->fixed_sweeps;
    stats->method = KKI_METHOD_SWEEPS;
    shift(&problem->rows, it->lambda, -1, lambda);
    if (!options->unproven) {
        judge_result(problem, options, w, lambda, u, certificate, stats);
    }
    return KK_OK;
}

kk_status kki_sparse_solve(const kki_sparse_problem *problem, const kki_solver_options *options, kki_sparse_work *work,
                           double *lambda, double *u, kki_certificate *certificate, kki_solver_stats *stats) {
    kki_sparse_scratch *w = work->scratch;
    *stats = (kki_solver_stats){.block = -1};
    *certificate = (kki_certificate){.worst = -1};
    kk_status status = check_ties(problem, &work->size);
    if (status != KK_OK) {
        return status;
    }
    if (options->fixed_sweeps > 0) {
        return sweep_only(problem, options, work, lambda, u, certificate, stats);
    }
    kki_sparse_system_make(problem, work->kernels, options->floor, w);
    kki_search x = {.options = options, .stats = stats, .ties = w, .work = work};
    kki_sparse_iterate *best = &w->iterate[KKI_IT_TIES_BEST];
    memset(w->mode, -1, (size_t)problem->rows.nblock);
    shift(&problem->rows, lambda, 1, best->lambda);
    kki_sparse_judge(&w->system, best);
    if (!all_finite(problem->rows.nrow, best->u)) {
        memcpy(u, best->u, sizeof *u * (size_t)problem->rows.nrow);
        return refuse_ties(&problem->rows, lambda, u, stats);
    }
    kki_search_run(&x);
    shift(&problem->rows, best->lambda, -1, lambda);
    judge_result(problem, options, w, lambda, u, certificate, stats);
    return KK_OK;
}
