/// Loops shared among the caller's workers.
#include "base/workers.h"

/// Pieces for each worker: the last to finish is then not far behind the others.
enum { PIECES = 8 };

typedef struct loop {
    kki_share *share;
    void *context;
    int total, pieces;
} loop;

static int bound(const loop *l, int piece) {
    return (int)((long long)l->total * piece / l->pieces);
}

static void run_piece(void *context, int index, int worker) {
    const loop *l = context;
    l->share(l->context, bound(l, index), bound(l, index + 1), worker);
}

void kki_workers_share(const kk_workers *workers, int total, int grain, kki_share *share, void *context) {
    const int most = workers && workers->run && workers->count > 1 ? PIECES * workers->count : 1;
    loop l = {share, context, total, total / grain < most ? total / grain : most};
    if (l.pieces > 1) {
        workers->run(workers->user, run_piece, &l, l.pieces);
    } else if (total > 0) {
        share(context, 0, total, 0);
    }
}
