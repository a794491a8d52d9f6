/// A search for impulses: methods by one table (strategy.c), the cheap ones first, over rows with G or Y, or over ties.
#ifndef KKI_CONTACT_STRATEGY_H
#define KKI_CONTACT_STRATEGY_H

#include "contact/scratch.h"

typedef struct kki_search {
    const kki_solver_options *options;
    kki_solver_stats *stats;
    bool is_cold;     ///< λ was zero
    bool settled;     ///< nothing more is to be gained
    bool contradicts; ///< statuses stood still at more than the last digits
    bool was_hard;    ///< cheap methods have not sufficed
    double enough;    ///< ties: residual at which the search ends
    double epsilon;   ///< ties: shift of the next Newton step
    // over rows
    const kki_system *rows; ///< NULL: over ties
    kki_solver_scratch *w;
    kki_iterate *best, *trial;
    int most_formed; ///< rows for which there is room for G
    // over ties
    kki_sparse_scratch *ties;
    kki_sparse_work *work;
    bool has_order; ///< there is room for a factor, whose pattern is known
} kki_search;

/// From the best iterate, which follows, until it is good enough or all that applies has been tried.
void kki_search_run(kki_search *x);

#endif
