/// A pool of threads for kk_workers: the caller works too, indices are taken one by one, and whoever finds the pool
/// at work does its own alone.
///
/// A forked child has none of the threads; there the caller does all of the work.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime.h"

enum { SPINS = 2000 }; ///< looks before a thread sleeps: some microseconds

struct kkp_pool {
    int workers;
    pid_t process;
    pthread_t *thread;
    pthread_mutex_t lock, turn; ///< of the fields below; of the pool as a whole
    pthread_cond_t begun, done;
    kk_task *task;
    void *context;
    int count, running, ends;
    atomic_int next;
    atomic_uint round;
};

typedef struct seat {
    kkp_pool *pool;
    int worker;
} seat;

static void work(kkp_pool *p, kk_task *task, void *context, int count, int worker) {
    for (int i = atomic_fetch_add(&p->next, 1); i < count; i = atomic_fetch_add(&p->next, 1)) {
        task(context, i, worker);
    }
}

static void *thread_main(void *argument) {
    const seat mine = *(seat *)argument;
    free(argument);
    kkp_pool *p = mine.pool;
    unsigned seen = 0;
    for (;;) {
        for (int i = 0; i < SPINS && atomic_load(&p->round) == seen; i++) {
        }
        pthread_mutex_lock(&p->lock);
        while (atomic_load(&p->round) == seen && !p->ends) {
            pthread_cond_wait(&p->begun, &p->lock);
        }
        const int ends = p->ends;
        seen = atomic_load(&p->round);
        kk_task *task = p->task;
        void *context = p->context;
        const int count = p->count;
        pthread_mutex_unlock(&p->lock);
        if (ends) {
            return NULL;
        }
        work(p, task, context, count, mine.worker);
        pthread_mutex_lock(&p->lock);
        if (--p->running == 0) {
            pthread_cond_signal(&p->done);
        }
        pthread_mutex_unlock(&p->lock);
    }
}

void kkp_pool_run(void *user, kk_task *task, void *context, int count) {
    kkp_pool *p = user;
    if (p->process != getpid() || pthread_mutex_trylock(&p->turn) != 0) {
        for (int i = 0; i < count; i++) {
            task(context, i, 0);
        }
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->context = context;
    p->count = count;
    p->running = p->workers - 1;
    atomic_store(&p->next, 0);
    atomic_fetch_add(&p->round, 1);
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    work(p, task, context, count, 0);
    pthread_mutex_lock(&p->lock);
    while (p->running > 0) {
        pthread_cond_wait(&p->done, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->turn);
}

static int start_thread(kkp_pool *p, int worker) {
    seat *s = malloc(sizeof *s);
    if (!s) {
        return 0;
    }
    *s = (seat){p, worker};
    if (pthread_create(&p->thread[worker - 1], NULL, thread_main, s) != 0) {
        free(s);
        return 0;
    }
    return 1;
}

kkp_pool *kkp_pool_create(int workers) {
    kkp_pool *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->thread = calloc((size_t)workers, sizeof *p->thread);
    p->process = getpid();
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->turn, NULL);
    pthread_cond_init(&p->begun, NULL);
    pthread_cond_init(&p->done, NULL);
    p->workers = 1;
    while (p->thread && p->workers < workers && start_thread(p, p->workers)) {
        p->workers++;
    }
    if (p->workers < workers) {
        kkp_pool_free(p);
        return NULL;
    }
    return p;
}

void kkp_pool_free(kkp_pool *p) {
    if (!p) {
        return;
    }
    if (p->process == getpid()) {
        pthread_mutex_lock(&p->lock);
        p->ends = 1;
        pthread_cond_broadcast(&p->begun);
        pthread_mutex_unlock(&p->lock);
        for (int i = 0; p->thread && i < p->workers - 1; i++) {
            pthread_join(p->thread[i], NULL);
        }
        pthread_cond_destroy(&p->begun);
        pthread_cond_destroy(&p->done);
        pthread_mutex_destroy(&p->lock);
        pthread_mutex_destroy(&p->turn);
    }
    free(p->thread);
    free(p);
}
