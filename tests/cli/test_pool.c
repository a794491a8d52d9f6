// The pool of threads: every piece once, by one worker at a time, round after round.
#include "cli/pool.h"
#include "harness.h"

enum { PIECES = 300, WORKERS = 4 };

typedef struct tally {
    atomic_int done[PIECES], at_work[WORKERS], clashes;
} tally;

static void count_piece(void *context, int index, int worker) {
    tally *t = context;
    if (atomic_fetch_add(&t->at_work[worker], 1) != 0) {
        atomic_fetch_add(&t->clashes, 1);
    }
    atomic_fetch_add(&t->done[index], 1);
    atomic_fetch_sub(&t->at_work[worker], 1);
}

KK_TEST(pool_does_every_piece_once) {
    static tally t;
    pool p;
    const kk_workers w = pool_open(&p, WORKERS);
    const int rounds = 200;
    for (int k = 0; k < rounds; k++) {
        w.run(w.user, count_piece, &t, k % 2 ? PIECES : 3);
    }
    pool_close(&p);
    for (int i = 0; i < PIECES; i++) {
        KK_CHECK_EQ_INT(atomic_load(&t.done[i]), i < 3 ? rounds : rounds / 2);
    }
    KK_CHECK_EQ_INT(atomic_load(&t.clashes), 0);
}
