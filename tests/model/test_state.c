// The state: saved and restored exactly, and nothing altered gets in.
#include <karakuri/hash.h>
#include <karakuri/state.h>
#include <stdlib.h>

#include "fixture.h"

static kk_model *small_model(double mass) {
    kk_spec *spec = fixture_spec();
    fixture_add_box(spec, "ball", KK_WORLD, KK_JOINT_BALL);
    fixture_add_box(spec, "slide", 1, KK_JOINT_SLIDE);
    kk_spec_body(spec, 2)->inertia.mass = mass;
    return fixture_compile(spec);
}

static kk_state *moving_state(const kk_model *m) {
    kk_state *state = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &state), KK_OK);
    kk_model_random_q(m, 4, 5, kk_state_q(state));
    for (int i = 0; i < kk_model_nv(m); i++) {
        kk_state_v(state)[i] = 0.1 * i - 0.2;
    }
    kk_state_set_time(state, 1.25);
    return state;
}

KK_TEST(new_state_is_at_rest_in_the_neutral_place) {
    kk_model *m = small_model(1);
    kk_state *state = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &state), KK_OK);
    double q[5];
    kk_model_neutral(m, q);
    KK_CHECK_BYTES(kk_state_q_const(state), q, sizeof q);
    for (int i = 0; i < 4; i++) {
        KK_CHECK_BITS(kk_state_v_const(state)[i], 0);
    }
    KK_CHECK_BITS(kk_state_time(state), 0);
    KK_CHECK_EQ_INT(kk_state_check(m, state, NULL), KK_OK);
    kk_state_free(state);
    kk_state_free(NULL);
    kk_model_free(m);
}

KK_TEST(saved_state_comes_back_bit_by_bit) {
    kk_model *m = small_model(1);
    kk_state *state = moving_state(m), *other = NULL;
    kk_state_q(state)[4] = -0.0;
    kk_state_v(state)[1] = 5e-324;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &other), KK_OK);
    unsigned char bytes[272];
    const size_t size = kk_state_saved_size(state);
    KK_CHECK_EQ_INT(size, 56 + 8 * (10 + 3 * 4 + 2) + 8); // of two nodes: the last accelerations, and a hash
    KK_CHECK_EQ_INT(kk_state_save(state, bytes, size), KK_OK);
    KK_CHECK_EQ_INT(kk_state_equal(state, other), 0);
    KK_CHECK_EQ_INT(kk_state_restore(other, bytes, size, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_equal(state, other), 1);
    KK_CHECK(kk_state_hash(state) == kk_state_hash(other));
    KK_CHECK_EQ_INT(kk_state_save(state, bytes, size - 1), KK_SIZE_MISMATCH);
    KK_CHECK_EQ_INT(kk_state_save(state, bytes, size + 1), KK_SIZE_MISMATCH);
    kk_state_free(state);
    kk_state_free(other);
    kk_model_free(m);
}

// the format is a promise: these bytes are what version 3 writes on every machine
KK_TEST(saved_bytes_are_little_endian) {
    kk_model *m = small_model(1);
    kk_state *state = moving_state(m);
    unsigned char bytes[272];
    KK_CHECK_EQ_INT(kk_state_save(state, bytes, kk_state_saved_size(state)), KK_OK);
    KK_CHECK_BYTES(bytes, "KKSTATE\n\3\0\0\0\0\1\0\0", 16);
    const uint64_t hash = kk_model_hash(m);
    for (int i = 0; i < 8; i++) {
        KK_CHECK_EQ_INT(bytes[16 + i], (hash >> (8 * i)) & 255);
    }
    KK_CHECK_BYTES(bytes + 24, "\5\0\0\0\4\0\0\0\x0e\0\0\0\0\0\0\0", 16);
    KK_CHECK_BYTES(bytes + 40, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16); // nothing touches
    KK_CHECK_BYTES(bytes + 56, "\0\0\0\0\0\0\xf4\x3f", 8);              // 1.25
    kk_state_free(state);
    kk_model_free(m);
}

static void put_checksum(unsigned char *bytes, size_t size) {
    const uint64_t sum = kk_hash_bytes(bytes, size - 8, 0);
    for (int i = 0; i < 8; i++) {
        bytes[size - 8 + (size_t)i] = (unsigned char)(sum >> (8 * i));
    }
}

/// A saved state of a model without contacts as an earlier version wrote it: no counts of contacts behind the sizes, and so many numbers.
static size_t as_version(int version, size_t numbers, unsigned char *bytes) {
    const size_t size = 40 + 8 * numbers + 8;
    memmove(bytes + 40, bytes + 56, 8 * numbers);
    bytes[8] = (unsigned char)version;
    bytes[12] = (unsigned char)size;
    bytes[13] = (unsigned char)(size >> 8);
    put_checksum(bytes, size);
    return size;
}

// what versions 1 and 2 wrote still comes back; 1 without an acceleration to go on with
KK_TEST(saved_states_of_earlier_versions_are_read) {
    kk_model *m = small_model(1);
    for (int version = 1; version <= 2; version++) {
        kk_state *state = moving_state(m), *other = NULL;
        KK_CHECK_EQ_INT(kk_state_create(m, NULL, &other), KK_OK);
        unsigned char bytes[272];
        KK_CHECK_EQ_INT(kk_state_save(state, bytes, kk_state_saved_size(state)), KK_OK);
        bytes[32] = version == 1 ? 0 : 4 + 2; // the acceleration of one step, and a hash
        const size_t size = as_version(version, version == 1 ? 10 : 16, bytes);
        KK_CHECK_EQ_INT(kk_state_restore(other, bytes, size, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_state_equal(state, other), 1);
        for (size_t length = 0; length < size; length++) {
            KK_CHECK_EQ_INT(kk_state_restore(other, bytes, length, NULL), KK_CORRUPT);
        }
        for (int none = 0; none <= 4; none += 4) { // of the future, and one that never was
            kk_error error = {0};
            bytes[8] = (unsigned char)none;
            put_checksum(bytes, size);
            KK_CHECK_EQ_INT(kk_state_restore(other, bytes, size, &error), KK_CORRUPT);
            KK_CHECK(strstr(error.text, "version") != NULL);
        }
        kk_state_free(state);
        kk_state_free(other);
    }
    kk_model_free(m);
}

KK_TEST(every_flipped_bit_is_found) {
    kk_model *m = small_model(1);
    kk_state *state = moving_state(m), *target = NULL, *before = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &target), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &before), KK_OK);
    unsigned char bytes[272];
    const size_t size = kk_state_saved_size(state);
    KK_CHECK_EQ_INT(kk_state_save(state, bytes, size), KK_OK);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        kk_error error = {0};
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        KK_CHECK_EQ_INT(kk_state_restore(target, bytes, size, &error), KK_CORRUPT);
        KK_CHECK(error.text[0] != 0);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    KK_CHECK_EQ_INT(kk_state_equal(target, before), 1);
    KK_CHECK_EQ_INT(kk_state_restore(target, bytes, size, NULL), KK_OK);
    kk_state_free(state);
    kk_state_free(target);
    kk_state_free(before);
    kk_model_free(m);
}

// a cut block on the heap, so that a sanitizer sees every byte read beyond its end
KK_TEST(every_truncation_is_found) {
    kk_model *m = small_model(1);
    kk_state *state = moving_state(m);
    unsigned char bytes[272] = {0};
    const size_t size = kk_state_saved_size(state);
    KK_CHECK_EQ_INT(kk_state_save(state, bytes, size), KK_OK);
    for (size_t length = 0; length < size + 8; length++) {
        unsigned char *cut = malloc(length + 1);
        memcpy(cut, bytes, length);
        if (length != size) {
            KK_CHECK_EQ_INT(kk_state_restore(state, cut, length, NULL), KK_CORRUPT);
        }
        free(cut);
    }
    KK_CHECK_EQ_INT(kk_state_restore(state, NULL, 0, NULL), KK_CORRUPT);
    kk_state_free(state);
    kk_model_free(m);
}

KK_TEST(state_of_another_model_is_refused) {
    kk_model *m = small_model(1), *heavier = small_model(1.5);
    kk_state *state = moving_state(m), *other = moving_state(heavier);
    unsigned char bytes[272];
    const size_t size = kk_state_saved_size(state);
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_state_save(state, bytes, size), KK_OK);
    KK_CHECK_EQ_INT(kk_state_restore(other, bytes, size, &error), KK_SIZE_MISMATCH);
    KK_CHECK(strstr(error.text, "another model") != NULL);
    KK_CHECK_EQ_INT(kk_state_copy(other, state), KK_SIZE_MISMATCH);
    KK_CHECK_EQ_INT(kk_state_equal(other, state), 0);
    KK_CHECK_EQ_INT(kk_state_check(heavier, state, NULL), KK_SIZE_MISMATCH);
    kk_state_free(state);
    kk_state_free(other);
    kk_model_free(m);
    kk_model_free(heavier);
}

KK_TEST(copy_equal_and_hash) {
    kk_model *m = small_model(1);
    kk_state *a = moving_state(m), *b = NULL;
    KK_CHECK_EQ_INT(kk_state_create(m, NULL, &b), KK_OK);
    KK_CHECK_EQ_INT(kk_state_copy(b, a), KK_OK);
    KK_CHECK_EQ_INT(kk_state_equal(a, b), 1);
    kk_state_v(a)[0] = 0.0;
    kk_state_v(b)[0] = -0.0;
    KK_CHECK_EQ_INT(kk_state_equal(a, b), 0);
    KK_CHECK(kk_state_hash(a) == kk_state_hash(b));
    kk_state_v(b)[0] = 5e-324;
    KK_CHECK(kk_state_hash(a) != kk_state_hash(b));
    kk_state_v(b)[0] = 0;
    kk_state_set_time(b, 1.5);
    KK_CHECK(kk_state_hash(a) != kk_state_hash(b));
    kk_state_free(a);
    kk_state_free(b);
    kk_model_free(m);
}

KK_TEST(check_names_what_is_not_finite) {
    kk_model *m = small_model(1);
    kk_state *state = moving_state(m);
    kk_error error = {0};
    kk_state_v(state)[3] = __builtin_nan("");
    KK_CHECK_EQ_INT(kk_state_check(m, state, &error), KK_NOT_FINITE);
    KK_CHECK_STR(error.text, "joint \"slide_joint\": velocity 0 (v[3]) is nan; it must be finite");
    kk_state_v(state)[3] = 0;
    kk_state_q(state)[1] += 1;
    KK_CHECK_EQ_INT(kk_state_check(m, state, &error), KK_INVALID_ARGUMENT);
    KK_CHECK(strstr(error.text, "joint \"ball_joint\"") != NULL);
    kk_state_set_time(state, __builtin_inf());
    KK_CHECK_EQ_INT(kk_state_check(m, state, &error), KK_NOT_FINITE);
    kk_state_free(state);
    kk_model_free(m);
}
