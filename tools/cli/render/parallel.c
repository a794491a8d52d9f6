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

int parallel_processors(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (int)count;
}

void parallel_for(int count, parallel_work *work, void *context) {
    queue q = {.count = count, .work = work, .context = context};
    pthread_t thread[MOST_THREADS];
    const int processors = parallel_processors(), wanted = processors > count ? count : processors;
    int started = 0;
    // one that cannot be started leaves its share to the others
    for (int i = 1; i < wanted; i++) {
        started += pthread_create(&thread[started], NULL, take, &q) == 0;
    }
    take(&q);
    for (int i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
    }
}
