// No collision call needs more than 64 kB of stack: small threads may ask. Measured by painting a thread's stack and looking
// how far down the paint is gone.
#define _GNU_SOURCE // pthread_attr_setstack
#include <stdio.h>
#include <string.h>

#include "bodies.h"
#include "collision/distance.h"
#include "collision/impact.h"
#include "meshes.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__wasm__) || !defined(__OPTIMIZE__)
#define IS_MEASURED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define IS_MEASURED 0
#endif
#endif
#ifndef IS_MEASURED
#define IS_MEASURED 1
#endif

#if IS_MEASURED
#include <pthread.h>

enum { SIZE = 1 << 17, PAINT = 0xa5, ROOM = 64 };

typedef struct question {
    kki_shape shape[2];
    kk_transform X[2];
    bool has_impact;
    int count;
    kki_manifold manifold[ROOM];
} question;

static void *ask_nothing(void *user) {
    return user;
}

static void *ask(void *user) {
    question *q = user;
    kki_pair_memory memory = {0};
    kki_separation r;
    kki_impact impact;
    const kki_moving a = {&q->shape[0], q->X[0], {{1, 0, 2}, {0, 1, 0}}},
                     b = {&q->shape[1], q->X[1], {{0, 0, 0}, {0, 0, 0}}};
    q->count = kki_collide(&q->shape[0], &q->X[0], &q->shape[1], &q->X[1], 0.01, &memory, q->manifold, ROOM);
    (void)kki_distance(&q->shape[0], &q->X[0], &q->shape[1], &q->X[1], NULL, &r);
    (void)kki_overlap(&q->shape[0], &q->X[0], &q->shape[1], &q->X[1], 0, NULL);
    if (q->has_impact) {
        (void)kki_impact_find(&a, &b, 0.01, 0, &impact);
    }
    return user;
}

static size_t bytes_of(void *(*run)(void *), void *user) {
    static _Alignas(4096) unsigned char stack[SIZE];
    pthread_attr_t attributes;
    pthread_t thread;
    memset(stack, PAINT, SIZE);
    if (!KK_CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, SIZE) == 0 &&
                  pthread_create(&thread, &attributes, run, user) == 0 && pthread_join(thread, NULL) == 0)) {
        return SIZE;
    }
    pthread_attr_destroy(&attributes);
    size_t untouched = 0;
    while (untouched < SIZE && stack[untouched] == PAINT) {
        untouched++;
    }
    return SIZE - untouched;
}

KK_TEST(no_collision_call_needs_more_than_64_kb_of_stack) {
    kki_surface *surface[3] = {meshes_surface(meshes_ball(24, 16, 1)), meshes_surface(meshes_ball(20, 14, 0.8)),
                               meshes_surface(meshes_sheet(20, 2, meshes_hills))};
    kki_height_field *field = meshes_field(15, 2, -0.8, meshes_hills);
    kk_random r = {31, 0, 0};
    kki_convex *hull[2] = {bodies_hull(&r, 12), bodies_hull(&r, 200)};
    const size_t least = bytes_of(ask_nothing, NULL);
    size_t most = 0;
    static question q;
    for (int i = 0; i < (kk_test_is_quick() ? 40 : 120); i++) {
        for (int k = 0; k < 2; k++) {
            const int type = k == 0 ? KK_SHAPE_MESH : i % KK_SHAPE_TYPE_COUNT;
            q.shape[k] = bodies_shape(&r, type, hull[i / 10 % 2]);
            q.shape[k].surface = type == KK_SHAPE_MESH ? surface[(i / 10 + k) % 3] : NULL;
            q.shape[k].field = type == KK_SHAPE_HEIGHT_FIELD ? field : NULL;
            q.X[k] = bodies_pose(&r, k ? 1.5 : 0);
        }
        if (i % 7 == 0 && q.shape[1].type != KK_SHAPE_MESH) {
            q.shape[0] = bodies_shape(&r, 1 + (int)kk_random_next_below(&r, KK_SHAPE_HULL), hull[1]);
        }
        q.has_impact = i % 4 == 0;
        const size_t used = bytes_of(ask, &q) - least;
        if (used > 65536) {
            printf("  %zu bytes of stack: types %d and %d\n", used, q.shape[0].type, q.shape[1].type);
        }
        most = used > most ? used : most;
    }
    printf("  at most %zu bytes of stack\n", most);
    KK_CHECK(most > 10000 && most <= 65536);
    for (int i = 0; i < 3; i++) {
        kki_surface_free(surface[i]);
    }
    kki_convex_free(hull[0]);
    kki_convex_free(hull[1]);
    kki_height_field_free(field);
}
#endif
