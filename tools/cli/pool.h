/// A few threads that take pieces of work, for kk_workers. One file, for the tool, tests and benchmarks alike.
#ifndef KARAKURI_CLI_POOL_H
#define KARAKURI_CLI_POOL_H

#include <karakuri/workers.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

/// A step hands out work some hundred times, for some microseconds each: whoever slept in between would be woken for longer than it works. So threads
/// stay awake for a few tenths of a millisecond, longer than what a step does alone. And nobody waits for a thread that has taken nothing: where
/// the machine has no processor for it, the others do its share. A thread that loses its processor with a piece in its hands is waited for, for
/// milliseconds; where that happens the caller works alone for a while, and longer every time it happens again.
///
/// Each has a share of the pieces in a row that it takes first, round after round the same: what comes next most often has to do with what it did before, and
/// is near its processor. Then it takes what others have left of theirs.
enum { POOL_MOST = 64, POOL_SPINS = 20000, POOL_LEAST_ALONE = 256, POOL_MOST_ALONE = 1 << 18 };

typedef struct pool pool;

/// What threads write at the same time stands on lines of its own.
typedef struct pool_share {
    /// The next piece to take and where they end in one number, so that whoever takes a piece has one of a round that cannot end before it has done it.
    _Alignas(64) atomic_ullong ticket;
} pool_share;

typedef struct pool_thread {
    pool *of;
    int worker;
    pthread_t thread;
} pool_thread;

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t wakes;
    atomic_int asleep, ends; ///< threads that are; the pool is closing
    _Alignas(64) atomic_ullong round;
    _Alignas(64) atomic_int left; ///< pieces that are not done
    _Alignas(64) kk_task *task;
    void *context;
    int alone;   ///< rounds that the caller still does by itself
    int penalty; ///< rounds it does so when it has to wait again
    int good;    ///< rounds in a row without a wait
    int threads; ///< beside the caller's
    pool_thread thread[POOL_MOST];
    pool_share share[POOL_MOST + 1]; ///< of each worker
};

enum { POOL_BITS = 32 }; ///< of the next piece

static inline void pool_take_from(pool *p, pool_share *share, int worker) {
    for (;;) {
        const unsigned long long t = atomic_fetch_add(&share->ticket, 1);
        const unsigned next = (unsigned)(t & 0xffffffffu), end = (unsigned)(t >> POOL_BITS);
        if (next >= end) {
            return;
        }
        p->task(p->context, (int)next, worker);
        atomic_fetch_sub(&p->left, 1);
    }
}

/// Its own share, and then what others have left.
static inline void pool_take(pool *p, int worker) {
    for (int i = 0; i <= p->threads; i++) {
        pool_take_from(p, &p->share[(worker + i) % (p->threads + 1)], worker);
    }
}

static inline void pool_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/// Waits for a round other than `seen`: awake for a moment, then asleep.
static inline unsigned long long pool_await(pool *p, unsigned long long seen) {
    unsigned long long round = atomic_load(&p->round);
    for (int i = 0; i < POOL_SPINS && round == seen; i++) {
        pool_pause();
        round = atomic_load(&p->round);
    }
    if (round != seen) {
        return round;
    }
    pthread_mutex_lock(&p->mutex);
    atomic_fetch_add(&p->asleep, 1);
    while ((round = atomic_load(&p->round)) == seen) {
        pthread_cond_wait(&p->wakes, &p->mutex);
    }
    atomic_fetch_sub(&p->asleep, 1);
    pthread_mutex_unlock(&p->mutex);
    return round;
}

static inline void *pool_work(void *user) {
    const pool_thread *t = user;
    pool *p = t->of;
    for (unsigned long long seen = 0;;) {
        seen = pool_await(p, seen);
        if (atomic_load(&p->ends)) {
            return NULL;
        }
        pool_take(p, t->worker);
    }
}

/// A new round; the lock is for those who sleep. Either they see the round before they do, or they are seen here.
static inline void pool_call(pool *p, int count) {
    const unsigned long long workers = (unsigned long long)p->threads + 1, all = (unsigned long long)count;
    for (unsigned long long i = 0; i < workers; i++) {
        atomic_store(&p->share[i].ticket, (all * (i + 1) / workers) << POOL_BITS | all * i / workers);
    }
    atomic_fetch_add(&p->round, 1);
    if (atomic_load(&p->asleep) > 0) {
        pthread_mutex_lock(&p->mutex);
        pthread_cond_broadcast(&p->wakes);
        pthread_mutex_unlock(&p->mutex);
    }
}

static inline double pool_now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC); // standard C; a clock that is put right costs a few rounds
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// Waits for the last piece. True where that took longer than all the round so far: its thread has lost its processor.
static inline int pool_finish(pool *p, double from) {
    for (int i = 0; i < POOL_SPINS && atomic_load(&p->left) > 0; i++) {
        pool_pause();
    }
    if (atomic_load(&p->left) == 0) {
        return 0;
    }
    const double begin = pool_now();
    while (atomic_load(&p->left) > 0) {
        (void)sched_yield();
    }
    return pool_now() - begin > begin - from;
}

static inline void pool_learn(pool *p, int waited) {
    if (waited) {
        p->penalty = p->penalty == 0                    ? POOL_LEAST_ALONE
                     : 2 * p->penalty < POOL_MOST_ALONE ? 2 * p->penalty
                                                        : POOL_MOST_ALONE;
        p->alone = p->penalty;
        p->good = 0;
    } else if (++p->good > 4 * p->penalty) {
        p->penalty /= 2;
        p->good = 0;
    }
}

/// As kk_workers.run wants it.
static inline void pool_run(void *user, kk_task *task, void *context, int count) {
    pool *p = user;
    const int is_alone = p->alone > 0;
    for (int i = 0; i < count && is_alone; i++) {
        task(context, i, 0);
    }
    if (is_alone) {
        p->alone--;
        return;
    }
    const double from = pool_now();
    p->task = task;
    p->context = context;
    atomic_store(&p->left, count);
    pool_call(p, count);
    pool_take(p, 0);
    pool_learn(p, pool_finish(p, from));
}

/// With fewer threads than asked for where the machine has no more.
static inline kk_workers pool_open(pool *p, int workers) {
    *p = (pool){.threads = 0};
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
    pool_call(p, 0);
    for (int i = 0; i < p->threads; i++) {
        pthread_join(p->thread[i].thread, NULL);
    }
    pthread_cond_destroy(&p->wakes);
    pthread_mutex_destroy(&p->mutex);
}

#endif
