// Every one-robot variant of the kernels gives the same bytes, signs of zeros included.
#include "support/everything.h"
#include "support/states.h"

#include <string.h>

#include "dynamics/kernels/kernels.h"

/// Results of every algorithm in every kind of state, on one variant.
static results run_variant(scene *s, const kki_kernels *kernels) {
    results all = {NULL, 0};
    scene_use_kernels(s, kernels);
    for (int kind = 0; kind < STATE_KINDS; kind++) {
        states_set(s, kind, (uint64_t)kind);
        const results r = everything(s);
        all.start = all.start ? all.start : scene_take(s, STATE_KINDS * r.count);
        memcpy(all.start + all.count, r.start, r.count * sizeof *r.start);
        all.count += r.count;
    }
    return all;
}

static void compare_variants(scene *s) {
    const results expected = run_variant(s, kki_kernels_at(0));
    for (int i = 1; kki_kernels_at(i); i++) {
        if (kki_kernels_at(i)->lanes > 1) {
            continue; // tests/batch
        }
        const results found = run_variant(s, kki_kernels_at(i));
        KK_CHECK_EQ_INT(found.count, expected.count);
        for (size_t k = 0; k < expected.count; k++) {
            if (!same_bits(found.start[k], expected.start[k])) {
                const size_t each = expected.count / STATE_KINDS + (expected.count < STATE_KINDS);
                KK_FAIL("variant %s, seed %d, state %d, number %d: %.17g is not %.17g", kki_kernels_at(i)->name,
                        (int)s->seed, (int)(k / each), (int)(k % each), found.start[k], expected.start[k]);
                break;
            }
        }
    }
}

KK_TEST(one_robot_variants_give_the_same_bytes) {
    for (const robots_entry *robot = robots_table; robot->name; robot++) {
        scene s = scene_robot(robot->name, 1);
        compare_variants(&s);
        scene_free(&s);
    }
    scene turned = scene_alignments(1);
    compare_variants(&turned);
    scene_free(&turned);
    for (int i = 0; i < scene_count() / 4; i++) {
        scene s = scene_forest((uint64_t)i);
        compare_variants(&s);
        scene_free(&s);
    }
}

KK_TEST(variants_are_listed_and_chosen) {
    KK_CHECK_STR(kki_kernels_at(0)->name, "scalar");
    KK_CHECK(kki_kernels_at(-1) == NULL);
    KK_CHECK_EQ_INT(kki_kernels_one()->lanes, 1);
    KK_CHECK(kki_kernels_widest()->lanes > 1);
    int count = 0, found_one = 0, found_widest = 0, most = 0;
    for (; kki_kernels_at(count); count++) {
        found_one |= kki_kernels_at(count) == kki_kernels_one();
        found_widest |= kki_kernels_at(count) == kki_kernels_widest();
        // lanes8 without AVX-512 is there to be tested, not to be fast
        const int lanes = strcmp(kki_kernels_at(count)->name, "lanes8") == 0 ? 1 : kki_kernels_at(count)->lanes;
        most = lanes > most ? lanes : most;
        for (int k = 0; k < count; k++) {
            KK_CHECK(strcmp(kki_kernels_at(k)->name, kki_kernels_at(count)->name) != 0);
        }
    }
    KK_CHECK(found_one && found_widest);
    KK_CHECK_EQ_INT(kki_kernels_widest()->lanes, most);
}

// the world alone: nothing to compute, and nothing goes wrong
KK_TEST(an_empty_world_is_no_trouble) {
    kk_spec *spec = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    scene s = scene_of(spec, 1);
    KK_CHECK_EQ_INT(s.nv, 0);
    compare_variants(&s);
    scene_free(&s);
}
