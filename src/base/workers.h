/// Loops shared among the caller's workers; see karakuri/workers.h.
#ifndef KKI_BASE_WORKERS_H
#define KKI_BASE_WORKERS_H

#include <karakuri/workers.h>

/// Items from `first` to `end` − 1 of a loop.
typedef void kki_share(void *context, int first, int end, int worker);

/// Gives out 0 … total − 1 in pieces of at least `grain` items, a few for each worker. @param workers  NULL: the calling thread alone
void kki_workers_share(const kk_workers *workers, int total, int grain, kki_share *share, void *context);

#endif
