// libFuzzer target of recordings. Checksums would stop nearly every input, so they are made right first: what is read then
// may be nonsense, but stays within the file.
//
// scripts/fuzz.sh recording builds and runs it; tests/io/test_recording.c runs it on mutations of a good recording.
#include <karakuri/hash.h>
#include <karakuri/recording.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t number_at(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

static void sign(uint8_t *block, size_t size, uint64_t seed) {
    const uint64_t hash = kk_hash_bytes(block, size - 8, seed);
    for (int i = 0; i < 8; i++) {
        block[size - 8 + (size_t)i] = (uint8_t)(hash >> (8 * i));
    }
}

/// Header, first chunks and footer as their own sizes have them.
static void sign_all(uint8_t *bytes, size_t size) {
    const size_t header = size >= 104 ? (size_t)number_at(bytes + 12, 4) : 0;
    if (header < 104 || header > size) {
        return;
    }
    sign(bytes, header, 0);
    const uint64_t seed = number_at(bytes + header - 8, 8);
    const uint64_t frame =
        8 * (7 + number_at(bytes + 24, 4) + number_at(bytes + 28, 4) + number_at(bytes + 32, 4)) + 24;
    size_t at = header;
    for (int i = 0; i < 8 && size - at >= 24; i++) {
        const uint64_t chunk = 16 + number_at(bytes + 40, 4) + number_at(bytes + at + 4, 4) * frame + 8;
        if (chunk > size - at) {
            break;
        }
        sign(bytes + at, (size_t)chunk, seed);
        at += (size_t)chunk;
    }
    if (size - at >= 32) {
        sign(bytes + size - 32, 32, seed);
    }
}

static void read_all(kk_recording *r) {
    const kk_recording_info info = kk_recording_get_info(r);
    double sum = 0;
    for (int64_t i = 0; i < info.steps && i < 1000; i++) {
        kk_recording_frame f;
        if (kk_recording_get_frame(r, i, &f, NULL) == KK_OK) {
            for (int k = 0; k < info.nq; k++) {
                sum += f.q[k];
            }
            for (int k = 0; k < info.ncontrol; k++) {
                sum += f.control[k];
            }
        }
    }
    volatile double kept = sum + (double)strlen(info.note);
    (void)kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    kk_recording *r = NULL;
    if (!copy) {
        return 0;
    }
    memcpy(copy, data, size);
    sign_all(copy, size);
    if (kk_recording_read_bytes("fuzz", copy, size, NULL, &r, NULL) == KK_OK) {
        read_all(r);
    }
    kk_recording_free(r);
    free(copy);
    return 0;
}
