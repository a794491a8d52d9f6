// A step is a function of the state alone: saved and restored in the middle it goes on with the same bits. A failed one leaves no trace.
#include <stdlib.h>
#include <string.h>

#include "model/warm.h"

#include "stage.h"
#include "support/allocations.h"

/// Boxes, balls and a two-link arm with a limit, falling on each other.
static void build_heap(stage *s) {
    *s = stage_begin(9.81);
    const int material = stage_material(s, 0.4, 0.3);
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < 5; i++) {
        stage_box(s, 1 + i, 0.2, 0.3, 0.1, material);
        stage_ball(s, 1, 0.08, material);
    }
    int parent = KK_WORLD;
    for (int i = 0; i < 2; i++) {
        kk_body_def link = kk_body_def_default();
        link.name = i ? "upper" : "lower";
        link.parent = parent;
        link.joint.axis = kk_vec3_make(0, 1, 0);
        link.joint.placement.p = kk_vec3_make(i ? 0.3 : -0.5, 0, i ? 0 : 0.6);
        link.joint.dof[0].upper = 0.8;
        link.joint.dof[0].friction = 0.05;
        link.inertia = kk_inertia_solid_box(1, 0.3, 0.05, 0.05);
        link.inertia.com.x = 0.15;
        KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &link, &parent, &s->error), KK_OK);
        stage_shape(s, KK_SHAPE_SPHERE, parent, 0.05, 0, 0, material);
    }
}

static void place_heap(stage *s) {
    for (int i = 0; i < 10; i++) {
        stage_place(s, 1 + i, 0.02 * i, 0.01 * (i % 3), 0.2 + 0.2 * i);
        stage_v(s, 1 + i)[1] = 0.3 * i;
    }
}

KK_TEST(step_continues_after_restore) {
    stage s;
    build_heap(&s);
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3})) {
        place_heap(&s);
        stage_run(&s, 300, NULL);
        const size_t size = kk_state_saved_size(s.state);
        void *saved = malloc(size);
        kk_simulator *other = NULL;
        KK_CHECK(saved != NULL);
        KK_CHECK_EQ_INT(kk_state_save(s.state, saved, size), KK_OK);
        stage_run(&s, 200, NULL);
        const uint64_t hash = kk_state_hash(s.state);
        // with another simulator: nothing that matters is left in it
        KK_CHECK_EQ_INT(kk_state_restore(s.state, saved, size, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_simulator_create(s.model, &(kk_step_options){.timestep = 2e-3}, NULL, &other, &s.error),
                        KK_OK);
        for (int i = 0; i < 200; i++) {
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, other, NULL, &s.error), KK_OK);
        }
        KK_CHECK(kk_state_hash(s.state) == hash);
        kk_simulator_free(other);
        free(saved);
    }
    stage_end(&s);
}

static void put_word(unsigned char *at, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        at[i] = (unsigned char)(value >> 8 * i);
    }
}

static uint32_t get_word(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/// Restores bytes whose checksum is right again: only what they say can be refused.
static kk_status restore_forged(stage *s, unsigned char *bytes, size_t size) {
    const uint64_t sum = kk_hash_bytes(bytes, size - 8, 0);
    put_word(bytes + size - 8, (uint32_t)sum);
    put_word(bytes + size - 4, (uint32_t)(sum >> 32));
    return kk_state_restore(s->state, bytes, size, &s->error);
}

// numbers of a header that contradict each other are refused though the checksum is right: a contact fewer and its numbers among what belongs to no
// contact, and a word that must be zero
KK_TEST(state_whose_header_contradicts_itself_is_refused) {
    enum { CONTACTS = 40, OTHERS = 48, RESERVED = 52 };
    stage s;
    build_heap(&s);
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3})) {
        place_heap(&s);
        stage_run(&s, 300, NULL);
        const size_t size = kk_state_saved_size(s.state);
        unsigned char *bytes = malloc(size);
        const uint64_t before = kk_state_hash(s.state);
        KK_CHECK_EQ_INT(kk_state_save(s.state, bytes, size), KK_OK);
        const uint32_t contacts = get_word(bytes + CONTACTS);
        KK_CHECK(contacts > 1);
        put_word(bytes + CONTACTS, contacts - 1);
        put_word(bytes + OTHERS, (uint32_t)kki_state_list(s.state).contact_size);
        KK_CHECK_EQ_INT(restore_forged(&s, bytes, size), KK_CORRUPT);
        put_word(bytes + CONTACTS, contacts);
        put_word(bytes + OTHERS, 0);
        put_word(bytes + RESERVED, 1);
        KK_CHECK_EQ_INT(restore_forged(&s, bytes, size), KK_CORRUPT);
        KK_CHECK(kk_state_hash(s.state) == before);
        put_word(bytes + RESERVED, 0);
        KK_CHECK_EQ_INT(restore_forged(&s, bytes, size), KK_OK);
        free(bytes);
    }
    stage_end(&s);
}

static int number_of(const char *variable, int usual) {
    const char *text = getenv(variable);
    return text ? atoi(text) : usual;
}

typedef struct track {
    int steps, on; ///< saved behind each of `steps`, and taken on for `on` by another simulator
    void **saved;
    size_t *size;
    uint64_t *hash; ///< behind each of steps + on
} track;

static void follow(stage *s, track *t) {
    for (int i = 0; i < t->steps + t->on; i++) {
        if (i < t->steps) {
            t->size[i] = kk_state_saved_size(s->state);
            t->saved[i] = malloc(t->size[i]);
            KK_CHECK_EQ_INT(kk_state_save(s->state, t->saved[i], t->size[i]), KK_OK);
        }
        stage_run(s, 1, NULL);
        t->hash[i] = kk_state_hash(s->state);
    }
}

static int go_on_from(stage *s, const track *t, int from) {
    kk_simulator *other = NULL;
    KK_CHECK_EQ_INT(kk_state_restore(s->state, t->saved[from], t->size[from], &s->error), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(s->model, &(kk_step_options){.timestep = 2e-3}, NULL, &other, &s->error),
                    KK_OK);
    int same = 1;
    for (int i = 0; i < t->on; i++) {
        KK_CHECK_EQ_INT(kk_step(s->model, s->state, other, NULL, &s->error), KK_OK);
        same &= kk_state_hash(s->state) == t->hash[from + i];
    }
    kk_simulator_free(other);
    return same;
}

// from every step's saved bytes another simulator goes on with the same bits, step for step: KK_RESTORE_STEPS=10000 KK_RESTORE_ON=1000 for the long form
KK_TEST(every_step_can_be_gone_on_from) {
    stage s;
    track t = {.steps = number_of("KK_RESTORE_STEPS", kk_test_is_quick() ? 20 : 100),
               .on = number_of("KK_RESTORE_ON", 20)};
    t.saved = calloc((size_t)t.steps, sizeof *t.saved);
    t.size = calloc((size_t)t.steps, sizeof *t.size);
    t.hash = calloc((size_t)(t.steps + t.on), sizeof *t.hash);
    build_heap(&s);
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3})) {
        place_heap(&s);
        stage_run(&s, 100, NULL); // until they touch
        follow(&s, &t);
        for (int i = 0; i < t.steps; i++) {
            if (!KK_CHECK(go_on_from(&s, &t, i))) {
                break;
            }
        }
    }
    for (int i = 0; i < t.steps; i++) {
        free(t.saved[i]);
    }
    free(t.saved);
    free(t.size);
    free(t.hash);
    stage_end(&s);
}

// a step that is refused names what is wrong and leaves every byte of the state
KK_TEST(step_refused_leaves_state) {
    stage s;
    build_heap(&s);
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3})) {
        place_heap(&s);
        stage_run(&s, 150, NULL);
        kk_state *before = NULL;
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &before), KK_OK);
        KK_CHECK_EQ_INT(kk_state_copy(before, s.state), KK_OK);
        double tau[64] = {0};
        tau[kk_model_nv(s.model) - 1] = __builtin_nan("");
        const kk_input input = {.tau = tau};
        KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_NOT_FINITE);
        KK_CHECK(strstr(s.error.text, "upper") != NULL);
        KK_CHECK(kk_state_equal(before, s.state));
        kk_state_free(before);
    }
    stage_end(&s);
}

KK_TEST(step_without_allocating) {
    stage s;
    build_heap(&s);
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3})) {
        place_heap(&s);
        KK_CHECK_EQ_INT(kk_simulator_reserve(s.simulator, (kk_room){200, 200}, &s.error), KK_OK);
        KK_CHECK_EQ_INT(kk_state_reserve(s.state, 200), KK_OK);
        const long before = allocations_so_far();
        stage_run(&s, 300, NULL);
        KK_CHECK_EQ_INT(allocations_so_far(), before);
    }
    stage_end(&s);
}

// every allocation of a simulator made to fail in turn: a clean status, nothing left behind
KK_TEST(simulator_failed_allocations) {
    stage s;
    build_heap(&s);
    KK_CHECK_EQ_INT(kk_model_compile(s.spec, NULL, &s.model, &s.error), KK_OK);
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    kk_simulator *simulator = NULL;
    KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, &allocator, &simulator, &s.error), KK_OK);
    const int calls = f.calls;
    kk_simulator_free(simulator);
    KK_CHECK_EQ_INT(f.blocks, 0);
    KK_CHECK(calls > 1);
    for (int k = 0; k < calls; k++) {
        f = (faulty){.fail_at = k};
        simulator = NULL;
        s.error = (kk_error){0};
        KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, &allocator, &simulator, &s.error), KK_OUT_OF_MEMORY);
        KK_CHECK(simulator == NULL);
        KK_CHECK(s.error.text[0] != 0);
        KK_CHECK_EQ_INT(f.blocks, 0);
        KK_CHECK_EQ_INT(f.bytes, 0);
    }
    stage_end(&s);
}

// a robot with dozens of shapes, each of which may touch many: room for their contacts, and not for its square
KK_TEST(simulator_takes_little_memory) {
    stage s = stage_begin(9.81);
    const int material = stage_material(&s, 0.5, 0);
    stage_shape(&s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0, parent = KK_WORLD; i < 24; i++) {
        char name[16];
        kk_body_def link = kk_body_def_default();
        snprintf(name, sizeof name, "link%d", i);
        link.name = name;
        link.parent = parent;
        link.joint.axis = kk_vec3_make(0, 1, 0);
        link.joint.placement.p = kk_vec3_make(0, 0, 1);
        link.inertia = kk_inertia_solid_box(1, 0.1, 0.1, 0.1);
        KK_CHECK_EQ_INT(kk_spec_add_body(s.spec, &link, &parent, &s.error), KK_OK);
        stage_shape(&s, KK_SHAPE_BOX, parent, 0.1, 0.1, 0.1, material);
        stage_shape(&s, KK_SHAPE_CAPSULE, parent, 0.03, 0.1, 0, material);
    }
    KK_CHECK_EQ_INT(kk_model_compile(s.spec, NULL, &s.model, &s.error), KK_OK);
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    KK_CHECK_EQ_INT(kk_simulator_create(s.model, NULL, &allocator, &s.simulator, &s.error), KK_OK);
    KK_CHECK(f.bytes < (size_t)16 << 20);
    stage_end(&s);
}
