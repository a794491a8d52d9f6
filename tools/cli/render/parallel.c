// Threads that take the next index until none is left.
#define _XOPEN_SOURCE 700 // sysconf
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

typedef struct queue {
    atomic_int next;
    int count;
    parallel_work *work;
    void *context;
} queue;

static void *take(void *user) {
    queue *q = user;
    for (int i = atomic_fetch_add(&q->next, 1); i < q->count; i = atomic_fetch_add(&q->next, 1)) {
        q->work(q->context, i);
    }
    return NULL;
}

void parallel_for(int count, parallel_work *work, void *context) {
    queue q = {.count = count, .work = work, .context = context};
    pthread_t thread[MOST_THREADS];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = processors > MOST_THREADS ? MOST_THREADS : (int)processors, started = 0;
    wanted = wanted > count ? count : wanted;
    // one that cannot be started leaves its share to the others
    for (int i = 1; i < wanted; i++) {
        started += pthread_create(&thread[started], NULL, take, &q) == 0;
    }
    take(&q);
    for (int i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
    }
}
