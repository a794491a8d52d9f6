// The data can be thrown away: no result depends on what it was used for before.
#include "support/everything.h"

#include <string.h>

/// One algorithm at the scene's state, on the data as it is.
static results run(scene *s, int part) {
    results r = {scene_take(s, everything_room(s)), 0};
    everything_part(part, s, &r);
    return r;
}

static int part_count(scene *s) {
    int parts = 0;
    for (results r = {scene_take(s, everything_room(s)), 0}; everything_part(parts, s, &r); parts++) {
    }
    return parts;
}

static void renew(scene *s) {
    kk_data_free(s->data);
    s->data = NULL;
    KK_CHECK_EQ_INT(kk_data_create(s->model, NULL, &s->data), KK_OK);
}

// every algorithm on a new data, and on one through which everything went with another state: the same bytes
KK_TEST(data_carries_nothing_over) {
    for (int i = 0; i < (kk_test_is_quick() ? 20 : 100); i++) {
        scene s = i < 2 ? scene_robot(i ? "arm7" : "quadruped", 1) : scene_forest((uint64_t)i);
        const int parts = part_count(&s);
        KK_CHECK(parts > 25);
        for (int part = 0; part < parts; part++) {
            scene_draw(&s, 1);
            renew(&s);
            const results fresh = run(&s, part);
            renew(&s);
            scene_draw(&s, 2);
            (void)everything(&s);
            scene_draw(&s, 1);
            const results used = run(&s, part);
            if (memcmp(fresh.start, used.start, fresh.count * sizeof(double)) != 0 || fresh.count != used.count) {
                KK_FAIL("part %d of everything.c differs on a used data, seed %d", part, (int)s.seed);
            }
        }
        scene_free(&s);
    }
}
