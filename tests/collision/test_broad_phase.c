// The broad phase against all pairs one by one.
#include <stdlib.h>
#include <string.h>

#include "collision/broad_phase.h"
#include "harness.h"
#include <karakuri/random.h>

enum { BODIES = 300, ROOM = 20000 };

static double between(kk_random *r, double low, double high) {
    return kk_random_next_between(r, low, high);
}

static kki_aabb body_box(kk_random *r, double world) {
    const double x = between(r, -world, world), y = between(r, -world, world), z = between(r, -world, world);
    const double s = between(r, 0.1, 0.6);
    return (kki_aabb){{x, y, z}, {x + s, y + s, z + s}};
}

static int32_t not_next_to_each_other(void *user, int32_t a, int32_t b) {
    (void)user;
    return b != a + 1 ? 1000 * a + b : 0;
}

static kki_broad_phase *make(int pairs, kki_pair_filter *filter) {
    const kki_broad_phase_def def = {.capacity = BODIES, .pair_capacity = pairs, .filter = filter};
    kki_broad_phase *b = NULL;
    KK_CHECK_EQ_INT(kki_broad_phase_create(&def, NULL, &b, NULL), KK_OK);
    return b;
}

static kki_proxy proxy_of(int i, kki_aabb box) {
    const kki_proxy p = {box, 1u << (i % 3), i % 5 == 0 ? 3u : 7u, i % 4 == 0};
    return p;
}

static int32_t all_pairs(const kki_proxy *p, const uint8_t *is_in, kki_pair *pair) {
    int32_t n = 0;
    for (int32_t i = 0; i < BODIES; i++) {
        for (int32_t j = i + 1; j < BODIES; j++) {
            if (is_in[i] && is_in[j] && !(p[i].is_static && p[j].is_static) && (p[i].group & p[j].mask) &&
                (p[j].group & p[i].mask) && j != i + 1 && kki_aabb_touch(&p[i].box, &p[j].box)) {
                pair[n++] = (kki_pair){i, j, 1000 * i + j};
            }
        }
    }
    return n;
}

static kki_aabb moved(kki_aabb b, kk_random *r, double far) {
    const double x = between(r, -far, far), y = between(r, -far, far), z = between(r, -far, far);
    return (kki_aabb){{b.lower.x + x, b.lower.y + y, b.lower.z + z}, {b.upper.x + x, b.upper.y + y, b.upper.z + z}};
}

typedef struct world {
    kki_proxy proxy[BODIES];
    uint8_t is_in[BODIES];
    kki_pair expected[ROOM];
} world;

static void check_step(world *w, kki_broad_phase *b) {
    const kki_pair *pair;
    int32_t count;
    const int32_t expected = all_pairs(w->proxy, w->is_in, w->expected);
    KK_CHECK_EQ_INT(kki_broad_phase_update(b, &pair, &count), KK_OK);
    if (KK_CHECK_EQ_INT(count, expected)) {
        KK_CHECK_BYTES(pair, w->expected, (size_t)count * sizeof *pair);
    }
}

static void set_all(world *w, kki_broad_phase *b) {
    for (int i = 0; i < BODIES; i++) {
        if (w->is_in[i]) {
            kki_broad_phase_set(b, i, &w->proxy[i]);
        }
    }
}

// small and large motions, bodies that come and go, static ones that are moved: the same pairs in the same order as
// trying all; and a new object that knows nothing of the past gives the same
KK_TEST(broad_phase_equals_all_pairs) {
    world *w = calloc(1, sizeof *w);
    kki_broad_phase *b = make(ROOM, not_next_to_each_other);
    kk_random r = {1, 0, 0};
    for (int i = 0; i < BODIES; i++) {
        w->proxy[i] = proxy_of(i, body_box(&r, 1.5));
        w->is_in[i] = 1;
    }
    set_all(w, b);
    for (int step = 0; step < 60; step++) {
        for (int i = 0; i < BODIES; i++) {
            if (!w->proxy[i].is_static || step % 20 == 7) {
                w->proxy[i].box = moved(w->proxy[i].box, &r, step % 10 == 9 ? 0.5 : 0.01);
                kki_broad_phase_move(b, i, &w->proxy[i].box);
            }
        }
        const int k = (int)kk_random_next_below(&r, BODIES);
        w->is_in[k] ^= 1;
        if (w->is_in[k]) {
            kki_broad_phase_set(b, k, &w->proxy[k]);
        } else {
            kki_broad_phase_remove(b, k);
        }
        check_step(w, b);
    }
    kki_broad_phase *fresh = make(ROOM, not_next_to_each_other);
    set_all(w, fresh);
    check_step(w, fresh);
    kki_broad_phase_free(fresh);
    kki_broad_phase_free(b);
    free(w);
}

// too many pairs: an error, nothing written beyond, and fine again once they have parted
KK_TEST(broad_phase_limit_and_recovery) {
    kki_broad_phase *b = make(100, NULL);
    const kki_pair *pair;
    int32_t count;
    for (int i = 0; i < BODIES; i++) {
        const kki_proxy p = {{{0, 0, 0}, {1, 1, 1}}, 1, 1, false};
        kki_broad_phase_set(b, i, &p);
    }
    KK_CHECK_EQ_INT(kki_broad_phase_update(b, &pair, &count), KK_LIMIT_EXCEEDED);
    KK_CHECK(count > 100);
    for (int i = 0; i < BODIES; i++) {
        // gaps below the margin: fat boxes make pairs of all neighbors, exact ones only those of the first hundred
        const double x = i < 100 ? i * 1.0 : 1 + i * 1.01;
        const kki_aabb box = {{x, 0, 0}, {x + 1, 1, 1}};
        kki_broad_phase_move(b, i, &box);
    }
    KK_CHECK_EQ_INT(kki_broad_phase_update(b, &pair, &count), KK_OK);
    KK_CHECK_EQ_INT(count, 99);
    kki_broad_phase_free(b);
}

// a plane's box is infinite and touches everything below
KK_TEST(broad_phase_with_an_infinite_box) {
    kki_broad_phase *b = make(ROOM, NULL);
    const double inf = __builtin_inf();
    const kki_proxy floor = {{{-inf, -inf, -inf}, {inf, inf, 0}}, 1, 1, true};
    const kki_pair *pair;
    int32_t count;
    kki_broad_phase_set(b, 0, &floor);
    for (int i = 1; i < BODIES; i++) {
        const kki_proxy p = {{{3.0 * i, 0, i % 2 ? -1 : 1}, {3.0 * i + 1, 1, i % 2 ? 1 : 2}}, 1, 1, false};
        kki_broad_phase_set(b, i, &p);
    }
    KK_CHECK_EQ_INT(kki_broad_phase_update(b, &pair, &count), KK_OK);
    KK_CHECK_EQ_INT(count, BODIES / 2);
    int32_t id[BODIES];
    const kki_aabb query = {{0, 0, 0.5}, {30, 1, 0.6}};
    KK_CHECK_EQ_INT(kki_broad_phase_query(b, &query, id, BODIES), 5);
    for (int i = 0; i < 5; i++) {
        KK_CHECK_EQ_INT(id[i], 2 * i + 1);
    }
    kki_broad_phase_free(b);
}
