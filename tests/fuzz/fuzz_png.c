// libFuzzer target of PNG pictures. Checksums would stop nearly every input, so they are made right first; and the
// unpacking is tried on the bytes alone, where no checksum stands in the way.
//
// scripts/fuzz.sh png builds and runs it; tests/io/test_png.c replays the corpus, cut and damaged.
#include <stdlib.h>
#include <string.h>

#include "io/inflate.h"
#include "io/png.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_png(int condition) {
    if (!condition) {
        abort();
    }
}

static uint32_t crc_of(const uint8_t *bytes, size_t size) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
        }
    }
    return ~crc;
}

static void sign_chunks(uint8_t *bytes, size_t size) {
    for (size_t at = 8; at + 12 <= size;) {
        const size_t n =
            (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 | (size_t)bytes[at + 3];
        if (n > size - at - 12) {
            return;
        }
        const uint32_t crc = crc_of(bytes + at + 4, n + 4);
        for (size_t i = 0; i < 4; i++) {
            bytes[at + 8 + n + i] = (uint8_t)(crc >> (24 - 8 * i));
        }
        at += 12 + n;
    }
}

static void try_picture(const uint8_t *bytes, size_t size) {
    kki_picture picture;
    kk_error error = {0};
    const kk_status status = kki_png_read(bytes, size, NULL, &picture, &error);
    require_png((status == KK_OK) == (picture.value != NULL));
    require_png(status == KK_OK || (error.status == status && strncmp(error.text, "byte ", 5) == 0));
    unsigned sum = 0;
    for (size_t i = 0; status == KK_OK && i < (size_t)picture.width * (size_t)picture.height; i++) {
        sum += picture.value[i];
    }
    volatile unsigned kept = sum;
    (void)kept;
    kki_picture_release(&picture);
}

static void try_unpacking(const uint8_t *bytes, size_t size) {
    enum { MOST = 1 << 16 };
    kki_inflated out;
    const kk_status status = kki_inflate_raw(bytes, size, MOST, NULL, &out);
    require_png(out.size <= MOST && out.size <= out.room);
    require_png((status == KK_OK) == (out.fault == NULL) && (!out.fault || out.place <= size));
    kki_inflated_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    if (!copy) {
        return 0;
    }
    memcpy(copy, data, size);
    try_unpacking(copy, size);
    sign_chunks(copy, size);
    try_picture(copy, size);
    free(copy);
    return 0;
}
