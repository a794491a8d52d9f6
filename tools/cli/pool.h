/// A few threads that take pieces of work, for kk_workers. One file, for the tool, tests and benchmarks alike.
#ifndef KARAKURI_CLI_POOL_H
#define KARAKURI_CLI_POOL_H

#include <karakuri/workers.h>
#include <pthread.h>
#include <stdatomic.h>

enum { POOL_MOST = 64, POOL_SPINS = 2000 };

typedef struct pool pool;

typedef struct pool_thread {
    pool *of;
    int worker;
    pthread_t thread;
} pool_thread;

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t wakes;
    atomic_uint round;           ///< of work given out
    atomic_int next, busy, ends; ///< piece to take; threads that are still at it; the pool is closing
    kk_task *task;
    void *context;
    int count;   ///< pieces
    int threads; ///< beside the caller's
    pool_thread thread[POOL_MOST];
};

static inline void pool_take(pool *p, int worker) {
    for (int i = atomic_fetch_add(&p->next, 1); i < p->count; i = atomic_fetch_add(&p->next, 1)) {
        p->task(p->context, i, worker);
    }
}

/// Waits for a round other than `seen`: awake for a moment, then asleep.
static inline void pool_await(pool *p, unsigned seen) {
    for (int i = 0; i < POOL_SPINS && atomic_load(&p->round) == seen; i++) {
    }
    pthread_mutex_lock(&p->mutex);
    while (atomic_load(&p->round) == seen) {
        pthread_cond_wait(&p->wakes, &p->mutex);
    }
    pthread_mutex_unlock(&p->mutex);
}

static inline void *pool_work(void *user) {
    const pool_thread *t = user;
    pool *p = t->of;
    for (unsigned seen = 0;; seen++) {
        pool_await(p, seen);
        if (atomic_load(&p->ends)) {
            return NULL;
        }
        pool_take(p, t->worker);
        atomic_fetch_sub(&p->busy, 1);
    }
}

static inline void pool_call(pool *p) {
    pthread_mutex_lock(&p->mutex);
    atomic_fetch_add(&p->round, 1);
    pthread_cond_broadcast(&p->wakes);
    pthread_mutex_unlock(&p->mutex);
}

/// As kk_workers.run wants it.
static inline void pool_run(void *user, kk_task *task, void *context, int count) {
    pool *p = user;
    p->task = task;
    p->context = context;
    p->count = count;
    atomic_store(&p->next, 0);
    atomic_store(&p->busy, p->threads);
    pool_call(p);
    pool_take(p, 0);
    while (atomic_load(&p->busy) > 0) {
    }
}

/// With fewer threads than asked for where the machine has no more.
static inline kk_workers pool_open(pool *p, int workers) {
    *p = (pool){.count = 0};
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->wakes, NULL);
    for (int i = 1; i < workers && i <= POOL_MOST; i++) {
        p->thread[p->threads] = (pool_thread){.of = p, .worker = i};
        if (pthread_create(&p->thread[p->threads].thread, NULL, pool_work, &p->thread[p->threads]) != 0) {
            break;
        }
        p->threads++;
    }
    return (kk_workers){.count = p->threads + 1, .run = pool_run, .user = p};
}

static inline void pool_close(pool *p) {
    atomic_store(&p->ends, 1);
    pool_call(p);
    for (int i = 0; i < p->threads; i++) {
        pthread_join(p->thread[i].thread, NULL);
    }
    pthread_cond_destroy(&p->wakes);
    pthread_mutex_destroy(&p->mutex);
}

#endif
