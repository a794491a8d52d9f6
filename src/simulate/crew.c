/// Workers of a step. The first is the simulator itself; each of the others is a copy of it, made anew before work is given out, that shares all its
/// lists and has the scratch of one island for itself. So code that solves an island need not know whose it is.
#include "base/allocator.h"
#include "simulate/simulator.h"

static kk_status make_mate(const kk_model *m, const kk_simulator *s, kk_simulator **mate) {
    kk_simulator header = *s;
    kki_layout layout = kki_layout_over(NULL);
    kki_layout_take(&layout, 1, sizeof header);
    kki_simulator_place_scratch(&layout, m, &header);
    kk_simulator *own = kki_allocate_zeroed(&s->allocator, layout.size);
    if (!own) {
        return KK_OUT_OF_MEMORY;
    }
    *mate = own;
    header.size = layout.size;
    header.solver = (kki_solver_work){0};
    header.wide.solver = (kki_sparse_work){.memory = NULL};
    *own = header;
    layout = kki_layout_over(own);
    kki_layout_take(&layout, 1, sizeof header);
    kki_simulator_place_scratch(&layout, m, own);
    return kki_simulator_make_solvers(m, own);
}

kk_status kki_crew_create(const kk_model *m, kk_simulator *s) {
    kk_status status = KK_OK;
    for (int i = 0; i + 1 < s->nworker && status == KK_OK; i++) {
        status = make_mate(m, s, &s->mate[i]);
    }
    return status;
}

void kki_crew_free(kk_simulator *s) {
    for (int i = 0; i + 1 < s->nworker && s->mate[i]; i++) {
        kki_solver_work_destroy(&s->mate[i]->solver);
        kki_sparse_work_destroy(&s->mate[i]->wide.solver);
        kki_release(&s->allocator, s->mate[i], s->mate[i]->size);
    }
}

/// The simulator as it is, but for the scratch of one island.
static void follow(kk_simulator *mate, const kk_simulator *s) {
    const kk_simulator own = *mate;
    *mate = *s;
    mate->size = own.size;
    mate->solver = own.solver;
    mate->narrow = own.narrow;
    mate->verdict = own.verdict;
    mate->held = own.held;
    mate->waiting = own.waiting;
    mate->stopping = own.stopping;
    mate->A = own.A;
    mate->Y = own.Y;
    mate->rows = own.rows;
    mate->G = own.G;
    mate->support = own.support;
    mate->span = own.span;
    mate->touch = own.touch;
    for (size_t i = 0; i < sizeof own.local / sizeof *own.local; i++) {
        mate->local[i] = own.local[i];
    }
    mate->wide = own.wide;
    mate->helpers = NULL;
}

void kki_crew_gather(kk_simulator *s) {
    for (int i = 0; i + 1 < s->nworker; i++) {
        follow(s->mate[i], s);
    }
}

kk_simulator *kki_crew_member(kk_simulator *s, int worker) {
    return worker > 0 ? s->mate[worker - 1] : s;
}

const kk_workers *kki_crew_workers(const kk_simulator *s) {
    return s->nworker > 1 && s->options.workers.count > 1 ? &s->options.workers : NULL;
}
