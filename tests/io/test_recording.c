// Recordings: what goes in comes out, any step can be gone on from, cut files are read as far as they are whole, and no
// altered byte is believed.
#include <karakuri/hash.h>
#include <karakuri/random.h>
#include <karakuri/recording.h>

#include "harness.h"
#include "support.h"

#define read_all fuzz_read_all
#define LLVMFuzzerTestOneInput fuzz_recording
#include "../fuzz/fuzz_recording.c" // NOLINT(bugprone-suspicious-include): the target itself
#undef read_all
#undef LLVMFuzzerTestOneInput

typedef struct tape {
    unsigned char *bytes;
    size_t size, room;
} tape;

static int tape_write(void *user, const void *bytes, size_t size) {
    tape *t = user;
    if (t->size + size > t->room) {
        return 1;
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return 0;
}

/// A box that falls on a floor, with a motor on a hinged arm.
typedef struct show {
    kk_spec *spec;
    kk_model *model;
    kk_simulator *simulator;
    kk_state *state;
} show;

static show show_make(void) {
    show s = {0};
    kk_error error = {0};
    kk_spec_create(NULL, &s.spec);
    kk_body_def box = kk_body_def_default(), arm = kk_body_def_default();
    box.name = "box";
    box.joint.type = KK_JOINT_FREE;
    box.joint.placement.p = kk_vec3_make(0, 0, 0.15);
    box.inertia = kk_inertia_solid_box(1, 0.2, 0.2, 0.2);
    arm.name = "arm";
    arm.joint.axis = kk_vec3_make(0, 1, 0);
    arm.inertia = kk_inertia_solid_box(0.1, 0.1, 0.1, 0.3);
    kk_spec_add_body(s.spec, &box, &arm.parent, &error);
    kk_spec_add_body(s.spec, &arm, NULL, &error);
    kk_shape_def shape = kk_shape_def_default();
    shape.type = KK_SHAPE_PLANE;
    kk_spec_add_shape(s.spec, &shape, NULL, &error);
    shape.type = KK_SHAPE_BOX;
    shape.body = arm.parent;
    shape.size[0] = shape.size[1] = shape.size[2] = 0.2;
    kk_spec_add_shape(s.spec, &shape, NULL, &error);
    kk_actuator_def motor = kk_actuator_def_default();
    motor.name = "motor";
    motor.target = "arm_joint";
    kk_spec_add_actuator(s.spec, &motor, NULL, &error);
    if (kk_model_compile(s.spec, NULL, &s.model, &error) != KK_OK ||
        kk_simulator_create(s.model, NULL, NULL, &s.simulator, &error) != KK_OK) {
        KK_FAIL("%s", error.text);
    }
    kk_state_create(s.model, NULL, &s.state);
    return s;
}

static void show_free(show *s) {
    kk_state_free(s->state);
    kk_simulator_free(s->simulator);
    kk_model_free(s->model);
    kk_spec_free(s->spec);
}

static double control_of(int64_t step) {
    return 0.01 * (double)(step % 7) - 0.02;
}

static kk_status show_step(show *s, int64_t step) {
    const double u = control_of(step);
    const kk_input input = {.control = &u};
    return kk_step(s->model, s->state, s->simulator, &input, NULL);
}

enum { STEPS = 70, KEY = 16 };

static tape show_record(show *s, int steps) {
    tape t = {.room = 1 << 20};
    kk_recorder *recorder = NULL;
    kk_error error = {0};
    const kk_recorder_def def = {
        .key_every = KEY, .note = "a box", .options = {.timestep = 1e-3, .effort = KK_EFFORT_SWEEPS, .iterations = 0}};
    t.bytes = malloc(t.room);
    if (kk_recorder_create(s->model, s->state, &def, tape_write, &t, NULL, &recorder, &error) != KK_OK) {
        KK_FAIL("%s", error.text);
        return t;
    }
    for (int i = 0; i < steps; i++) {
        KK_CHECK_EQ_INT(show_step(s, i), KK_OK);
        const double u = control_of(i);
        const kk_report report = *kk_simulator_report(s->simulator);
        KK_CHECK_EQ_INT(kk_recorder_add(recorder, s->state, &u, &report, &error), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_recorder_close(recorder, &error), KK_OK);
    return t;
}

static kk_recording *open_tape(const tape *t, size_t size) {
    kk_recording *r = NULL;
    kk_recording_read_bytes("tape", t->bytes, size, NULL, &r, NULL);
    return r;
}

KK_TEST(recording_gives_back_what_was_recorded) {
    show s = show_make();
    tape t = show_record(&s, STEPS);
    kk_recording *r = open_tape(&t, t.size);
    if (!KK_CHECK(r)) {
        return;
    }
    const kk_recording_info info = kk_recording_get_info(r);
    KK_CHECK_EQ_INT(info.steps, STEPS);
    KK_CHECK_EQ_INT(info.is_complete, 1);
    KK_CHECK_EQ_INT(info.nq, 8);
    KK_CHECK_EQ_INT(info.ncontrol, 1);
    KK_CHECK(info.model_hash == kk_model_hash(s.model));
    KK_CHECK_STR(info.note, "a box");
    KK_CHECK_BITS(info.options.timestep, 1e-3);
    show again = show_make();
    for (int i = 0; i < STEPS; i++) {
        kk_recording_frame f;
        show_step(&again, i);
        KK_CHECK_EQ_INT(kk_recording_get_frame(r, i, &f, NULL), KK_OK);
        KK_CHECK_EQ_INT(f.step, i);
        KK_CHECK_BITS(f.time, kk_state_time(again.state));
        KK_CHECK_BYTES(f.q, kk_state_q_const(again.state), 8 * sizeof(double));
        KK_CHECK_BYTES(f.v, kk_state_v_const(again.state), 7 * sizeof(double));
        KK_CHECK_BITS(f.control[0], control_of(i));
        KK_CHECK(f.state_hash == kk_state_hash(again.state));
        KK_CHECK_EQ_INT(f.contacts, kk_simulator_report(again.simulator)->contacts);
        KK_CHECK_BITS(f.residual, kk_simulator_report(again.simulator)->residual);
    }
    kk_recording_frame none;
    KK_CHECK_EQ_INT(kk_recording_get_frame(r, STEPS, &none, NULL), KK_NOT_FOUND);
    KK_CHECK_EQ_INT(kk_recording_get_frame(r, -1, &none, NULL), KK_NOT_FOUND);
    kk_recording_free(r);
    show_free(&again);
    show_free(&s);
    free(t.bytes);
}

// from any step a simulation goes on with the same bits
KK_TEST(recording_goes_on_from_any_step) {
    show s = show_make();
    tape t = show_record(&s, STEPS);
    kk_recording *r = open_tape(&t, t.size);
    for (int64_t from = 0; r && from <= STEPS; from += 5) {
        int64_t key = -1;
        if (!KK_CHECK_EQ_INT(kk_recording_get_key(r, from, s.state, &key, NULL), KK_OK)) {
            break;
        }
        KK_CHECK(key <= from && from - key <= KEY && key % KEY == 0);
        for (int64_t i = key; i < STEPS; i++) {
            kk_recording_frame f;
            KK_CHECK_EQ_INT(show_step(&s, i), KK_OK);
            KK_CHECK_EQ_INT(kk_recording_get_frame(r, i, &f, NULL), KK_OK);
            KK_CHECK(f.state_hash == kk_state_hash(s.state));
        }
    }
    kk_recording_free(r);
    show_free(&s);
    free(t.bytes);
}

// every length that a file can be cut to
KK_TEST(recording_cut_is_read_to_its_last_whole_chunk) {
    show s = show_make();
    tape t = show_record(&s, 3 * KEY + 5);
    int64_t before = -1;
    for (size_t size = 0; size < t.size; size += size < 200 ? 1 : 13) {
        kk_recording *r = open_tape(&t, size);
        if (r) {
            const kk_recording_info info = kk_recording_get_info(r);
            KK_CHECK_EQ_INT(info.is_complete, 0);
            KK_CHECK(info.steps >= before && (info.steps % KEY == 0 || info.steps == 3 * KEY + 5));
            before = info.steps;
            kk_recording_frame f;
            KK_CHECK_EQ_INT(kk_recording_get_frame(r, info.steps - 1, &f, NULL), KK_OK);
        } else {
            KK_CHECK_EQ_INT(before, -1);
        }
        kk_recording_free(r);
    }
    KK_CHECK_EQ_INT(before, 3 * KEY + 5); // without the footer alone nothing is lost
    show_free(&s);
    free(t.bytes);
}

/// Everything there is to read; 1 where all of it was as it was recorded, 0 where a fault was told.
static int read_all(kk_recording *r, kk_state *state, const uint64_t *hashes, int steps) {
    const kk_recording_info info = kk_recording_get_info(r);
    int is_whole = info.is_complete && info.steps == steps;
    for (int64_t i = 0; i < info.steps; i++) {
        kk_recording_frame f;
        int64_t key = 0;
        const kk_status status = kk_recording_get_frame(r, i, &f, NULL);
        if (status == KK_OK) {
            KK_CHECK(i < steps && f.state_hash == hashes[i]); // what is given is what was recorded
        }
        is_whole = is_whole && status == KK_OK;
        if (i % KEY == 0) {
            is_whole = kk_recording_get_key(r, i, state, &key, NULL) == KK_OK && is_whole;
        }
    }
    return is_whole;
}

static size_t draw(uint64_t *drawn, size_t below) {
    const size_t x = (size_t)(kk_random_uniform_at(1, 0, (*drawn)++) * (double)below);
    return x < below ? x : below - 1;
}

KK_TEST(recording_tells_every_mutation) {
    show s = show_make();
    tape t = show_record(&s, STEPS);
    uint64_t hashes[STEPS] = {0}, drawn = 0;
    kk_recording *r = open_tape(&t, t.size);
    for (int i = 0; r && i < STEPS; i++) {
        kk_recording_frame f;
        kk_recording_get_frame(r, i, &f, NULL);
        hashes[i] = f.state_hash;
    }
    KK_CHECK_EQ_INT(read_all(r, s.state, hashes, STEPS), 1);
    kk_recording_free(r);
    unsigned char *kept = malloc(t.size);
    memcpy(kept, t.bytes, t.size);
    const int count = kk_test_is_quick() ? 1000 : 10000;
    for (int i = 0; i < count; i++) {
        const int edits = 1 + (int)draw(&drawn, 4);
        size_t size = t.size;
        for (int k = 0; k < edits; k++) {
            // half of them in the first bytes, where the sizes are
            const size_t at = draw(&drawn, draw(&drawn, 2) ? 120 : t.size);
            t.bytes[at] = (unsigned char)(t.bytes[at] ^ (1u << draw(&drawn, 8)));
        }
        size = draw(&drawn, 8) ? size : draw(&drawn, size);
        const int is_same = size == t.size && memcmp(kept, t.bytes, t.size) == 0;
        kk_recording *mutant = open_tape(&t, size);
        const int is_whole = mutant && read_all(mutant, s.state, hashes, STEPS);
        KK_CHECK(is_whole == is_same);
        kk_recording_free(mutant);
        memcpy(t.bytes, kept, t.size);
    }
    free(kept);
    show_free(&s);
    free(t.bytes);
}

static void seal(unsigned char *block, size_t size, uint64_t seed) {
    const uint64_t sum = kk_hash_bytes(block, size - 8, seed);
    for (int i = 0; i < 8; i++) {
        block[size - 8 + (size_t)i] = (unsigned char)(sum >> (8 * i));
    }
}

static uint64_t word_at(const unsigned char *at) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        word |= (uint64_t)at[i] << (8 * i);
    }
    return word;
}

// version 2 has states of one size, which the header tells, and chunks that do not tell it again
KK_TEST(recording_of_version_2_is_read) {
    enum { KEYS = 3, HEADER = 128 + 5 + 8 };
    show s = show_make();
    kk_state_q(s.state)[2] += 100; // nothing touches
    tape t = {.room = 1 << 20, .bytes = malloc(1 << 20)};
    kk_recorder *recorder = NULL;
    const kk_recorder_def def = {.key_every = KEY, .note = "a box"};
    KK_CHECK_EQ_INT(kk_recorder_create(s.model, s.state, &def, tape_write, &t, NULL, &recorder, NULL), KK_OK);
    for (int i = 0; i < KEYS * KEY; i++) {
        kk_recorder_add(recorder, s.state, NULL, NULL, NULL);
    }
    KK_CHECK_EQ_INT(kk_recorder_close(recorder, NULL), KK_OK);
    const size_t chunk = (t.size - HEADER - 32) / KEYS;
    KK_CHECK_EQ_INT(word_at(t.bytes + HEADER + 16), kk_state_saved_size(s.state));
    t.bytes[8] = 2;
    seal(t.bytes, HEADER, 0);
    const uint64_t seed = word_at(t.bytes + HEADER - 8);
    unsigned char *to = t.bytes + HEADER;
    for (int i = 0; i < KEYS; i++) {
        const unsigned char *from = t.bytes + HEADER + (size_t)i * chunk;
        memmove(to, from, 16);
        memmove(to + 16, from + 24, chunk - 24);
        seal(to, chunk - 8, seed);
        to += chunk - 8;
    }
    memmove(to, t.bytes + t.size - 32, 32);
    seal(to, 32, seed);
    t.size -= 8 * KEYS;
    kk_recording *r = open_tape(&t, t.size);
    if (KK_CHECK(r)) {
        int64_t key = 0;
        kk_recording_frame f;
        kk_state *state = NULL;
        KK_CHECK_EQ_INT(kk_state_create(s.model, NULL, &state), KK_OK);
        KK_CHECK_EQ_INT(kk_recording_get_info(r).is_complete, 1);
        KK_CHECK_EQ_INT(kk_recording_get_info(r).steps, KEYS * KEY);
        KK_CHECK_EQ_INT(kk_recording_get_frame(r, 2 * KEY + 1, &f, NULL), KK_OK);
        KK_CHECK(f.state_hash == kk_state_hash(s.state));
        KK_CHECK_EQ_INT(kk_recording_get_key(r, 2 * KEY + 1, state, &key, NULL), KK_OK);
        KK_CHECK(kk_state_equal(state, s.state));
        kk_state_free(state);
    }
    kk_recording_free(r);
    show_free(&s);
    free(t.bytes);
}

// whole chunks in each other's place, and one of another recording
KK_TEST(recording_tells_chunks_that_are_not_its_own) {
    show s = show_make();
    tape t = show_record(&s, 3 * KEY);
    const size_t header = 128 + 5 + 8, chunk = (t.size - header - 32) / 3; // the note has 5 bytes
    unsigned char *kept = malloc(chunk);
    kk_recording_frame f;
    memcpy(kept, t.bytes + header, chunk);
    memcpy(t.bytes + header, t.bytes + header + chunk, chunk);
    kk_recording *r = open_tape(&t, t.size);
    if (KK_CHECK(r)) {
        KK_CHECK_EQ_INT(kk_recording_get_frame(r, 0, &f, NULL), KK_CORRUPT);
        KK_CHECK_EQ_INT(kk_recording_get_frame(r, KEY, &f, NULL), KK_OK);
    }
    kk_recording_free(r);
    memcpy(t.bytes + header, kept, chunk);
    // a header that differs in anything gives other checksums
    tape v = {.room = 1 << 20, .bytes = malloc(1 << 20)};
    kk_recorder *recorder = NULL;
    const kk_recorder_def def = {.key_every = KEY, .note = "a bax", .options = {.timestep = 1e-3}};
    KK_CHECK_EQ_INT(kk_recorder_create(s.model, s.state, &def, tape_write, &v, NULL, &recorder, NULL), KK_OK);
    for (int i = 0; i < 3 * KEY; i++) {
        kk_recorder_add(recorder, s.state, NULL, NULL, NULL);
    }
    KK_CHECK_EQ_INT(kk_recorder_close(recorder, NULL), KK_OK);
    KK_CHECK_EQ_INT(v.size, t.size);
    memcpy(t.bytes + header + chunk, v.bytes + header + chunk, chunk);
    r = open_tape(&t, t.size);
    if (KK_CHECK(r)) {
        KK_CHECK_EQ_INT(kk_recording_get_frame(r, 0, &f, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_recording_get_frame(r, KEY, &f, NULL), KK_CORRUPT);
    }
    kk_recording_free(r);
    free(kept);
    free(t.bytes);
    free(v.bytes);
    show_free(&s);
}

// checksums made right again: nonsense stays within the file
KK_TEST(recording_survives_forgery) {
    show s = show_make();
    tape t = show_record(&s, STEPS);
    uint64_t drawn = 1 << 20;
    unsigned char *kept = malloc(t.size);
    memcpy(kept, t.bytes, t.size);
    for (int i = 0; i < 2000; i++) {
        for (size_t k = 0; k <= draw(&drawn, 3); k++) {
            const size_t at = draw(&drawn, draw(&drawn, 4) ? 130 : t.size);
            t.bytes[at] = (unsigned char)draw(&drawn, 256);
        }
        fuzz_recording(t.bytes, draw(&drawn, 4) ? t.size : draw(&drawn, t.size));
        memcpy(t.bytes, kept, t.size);
    }
    free(kept);
    show_free(&s);
    free(t.bytes);
}

static uint32_t header_size(const tape *t) {
    return t->bytes[12] | (uint32_t)t->bytes[13] << 8;
}

/// Reads a tape of which one word of the header was changed and the header's checksum made right.
static kk_status read_forged(const tape *t, size_t at, uint32_t word, kk_error *error) {
    unsigned char *bytes = malloc(t->size);
    kk_recording *r = NULL;
    memcpy(bytes, t->bytes, t->size);
    for (int i = 0; i < 4; i++) {
        bytes[at + (size_t)i] = (unsigned char)(word >> 8 * i);
    }
    const size_t end = header_size(t) - 8;
    const uint64_t sum = kk_hash_bytes(bytes, end, 0);
    for (int i = 0; i < 8; i++) {
        bytes[end + (size_t)i] = (unsigned char)(sum >> 8 * i);
    }
    const kk_status status = kk_recording_read_bytes("tape", bytes, t->size, NULL, &r, error);
    kk_recording_free(r);
    free(bytes);
    return status;
}

// sizes that contradict each other are refused though the checksum is right
KK_TEST(recording_whose_header_contradicts_itself_is_refused) {
    enum { VERSION = 8, NQ = 24, NV = 28, NCONTROL = 32, KEY_EVERY = 36, STATE = 40, NOTE = 44 };
    static const struct {
        size_t at;
        uint32_t word;
    } forged[] = {{KEY_EVERY, 0},
                  {KEY_EVERY, 0x7fffffff},
                  {NQ, 1000},
                  {NV, 1000},
                  {NCONTROL, 0x7fffffff},
                  {STATE, 0x7fffffff},
                  {STATE, 8},
                  {NOTE, 1},
                  {VERSION, 0},
                  {VERSION, 4}};
    show s = show_make();
    tape t = show_record(&s, STEPS);
    kk_error error = {0};
    KK_CHECK_EQ_INT(read_forged(&t, VERSION, 3, &error), KK_OK);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        error = (kk_error){0};
        KK_CHECK_EQ_INT(read_forged(&t, forged[i].at, forged[i].word, &error), KK_CORRUPT);
        KK_CHECK(strstr(error.text, "contradict") || strstr(error.text, "version"));
    }
    show_free(&s);
    free(t.bytes);
}

static void check_options_of_a_tape(const kk_step_options *o) {
    show s = show_make();
    tape t = {.room = 1 << 16, .bytes = malloc(1 << 16)};
    kk_recorder *recorder = NULL;
    const kk_recorder_def def = {.key_every = KEY, .options = *o};
    KK_CHECK_EQ_INT(kk_recorder_create(s.model, s.state, &def, tape_write, &t, NULL, &recorder, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_recorder_close(recorder, NULL), KK_OK);
    kk_recording *r = open_tape(&t, t.size);
    if (KK_CHECK(r)) {
        const kk_step_options p = kk_recording_get_info(r).options;
        KK_CHECK_BITS(p.timestep, o->timestep);
        KK_CHECK_BITS(p.tolerance, o->tolerance);
        KK_CHECK_BITS(p.restitution_speed, o->restitution_speed);
        KK_CHECK_BITS(p.correction, o->correction);
        KK_CHECK_EQ_INT(p.effort, o->effort);
        KK_CHECK_EQ_INT(p.iterations, o->iterations);
        KK_CHECK_EQ_INT(p.explicit_servos, o->explicit_servos);
        KK_CHECK_EQ_INT(p.solver, o->solver);
        KK_CHECK_EQ_INT(p.detection, o->detection);
        KK_CHECK_BITS(p.paper.spring_stiffness, o->paper.spring_stiffness);
        KK_CHECK_BITS(p.paper.spring_damping, o->paper.spring_damping);
        KK_CHECK_BITS(p.paper.spring_depth, o->paper.spring_depth);
    }
    kk_recording_free(r);
    free(t.bytes);
    show_free(&s);
}

// every option comes back, each as itself
KK_TEST(recording_keeps_all_options) {
    kk_step_options o = {.timestep = 1e-3,
                         .tolerance = 2e-9,
                         .restitution_speed = 0.03,
                         .correction = 0.004,
                         .effort = KK_EFFORT_SWEEPS,
                         .iterations = 7,
                         .explicit_servos = 1,
                         .detection = (kk_detection)2,
                         .paper = {.spring_stiffness = 8e3, .spring_damping = 9, .spring_depth = 0.01}};
    check_options_of_a_tape(&o);
    o.effort = KK_EFFORT_NEWTON;
    o.iterations = 6;
    check_options_of_a_tape(&o);
    o = (kk_step_options){.timestep = 2e-3, .solver = KK_SOLVER_KURODA, .detection = (kk_detection)1};
    check_options_of_a_tape(&o);
}

KK_TEST(recording_misuse) {
    show s = show_make();
    tape t = {.bytes = malloc(2000), .room = 2000};
    kk_recorder *recorder = NULL;
    kk_error error = {0};
    const kk_recorder_def wrong = {.key_every = -1};
    KK_CHECK_EQ_INT(kk_recorder_create(s.model, s.state, &wrong, tape_write, &t, NULL, &recorder, &error),
                    KK_INVALID_ARGUMENT);
    KK_CHECK_EQ_INT(kk_recorder_open("no/such/folder.kkr", s.model, s.state, NULL, NULL, &recorder, &error), KK_IO);
    KK_CHECK(!recorder);
    // a tape that is full is told
    const kk_recorder_def small = {.key_every = 2};
    KK_CHECK_EQ_INT(kk_recorder_create(s.model, s.state, &small, tape_write, &t, NULL, &recorder, &error), KK_OK);
    kk_status status = KK_OK;
    for (int i = 0; i < 100 && status == KK_OK; i++) {
        status = kk_recorder_add(recorder, s.state, NULL, NULL, &error);
    }
    KK_CHECK_EQ_INT(status, KK_IO);
    KK_CHECK_EQ_INT(kk_recorder_close(recorder, &error), KK_IO);
    kk_recording *r = NULL;
    KK_CHECK_EQ_INT(kk_recording_read_bytes("x", "nonsense", 8, NULL, &r, &error), KK_CORRUPT);
    KK_CHECK_EQ_INT(kk_recording_read_bytes("x", NULL, 0, NULL, &r, &error), KK_CORRUPT);
    KK_CHECK_EQ_INT(kk_recording_read_file("no/such.kkr", NULL, &r, &error), KK_NOT_FOUND);
    show_free(&s);
    free(t.bytes);
}

KK_TEST(recording_survives_failing_allocations) {
    show s = show_make();
    tape t = show_record(&s, 20);
    for (int i = 0;; i++) {
        counter c = {.fail_at = i};
        const kk_allocator allocator = counter_allocator(&c);
        kk_recording *r = NULL;
        kk_recorder *recorder = NULL;
        tape other = {.bytes = malloc(1 << 16), .room = 1 << 16};
        const kk_status read = kk_recording_read_bytes("t", t.bytes, t.size, &allocator, &r, NULL);
        const kk_status write =
            kk_recorder_create(s.model, s.state, NULL, tape_write, &other, &allocator, &recorder, NULL);
        KK_CHECK(read == KK_OK || read == KK_OUT_OF_MEMORY);
        KK_CHECK(write == KK_OK || write == KK_OUT_OF_MEMORY);
        kk_recorder_close(recorder, NULL);
        kk_recording_free(r);
        free(other.bytes);
        if (c.calls <= i) {
            KK_CHECK(read == KK_OK && write == KK_OK);
            break;
        }
    }
    show_free(&s);
    free(t.bytes);
}
