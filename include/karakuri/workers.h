/// Threads lent by the caller. The library makes none.
#ifndef KARAKURI_WORKERS_H
#define KARAKURI_WORKERS_H

#include <karakuri/api.h>

KK_BEGIN_DECLS

/// A piece of work. @param worker  0 … count of workers − 1, never the same for two calls at once
typedef void kk_task(void *context, int index, int worker);

/// What is given out at once is independent of each other and writes to places of its own, so results are the same bits for any number of
/// workers and any order. Zero-initialized means: the calling thread alone.
typedef struct kk_workers {
    int count; ///< how many may work at once, the calling thread among them; scratch is made for each
    /// Calls task(context, index, worker) once for each index from 0 to count − 1, in any order and on any thread, and returns behind the last.
    void (*run)(void *user, kk_task *task, void *context, int count);
    void *user;
} kk_workers;

KK_END_DECLS
#endif
