// PNG pictures: every kind of them (made by tests/fuzz/make_png.py with zlib, and read the same by MuJoCo), no damaged one,
// and height fields from them.
#include <stdio.h>

#include "mjcf_support.h"
#include "support.h"

#define LLVMFuzzerTestOneInput fuzz_png
#include "../fuzz/fuzz_png.c" // NOLINT(bugprone-suspicious-include): the target itself, so that it is what is replayed

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(png_files) {
    KK_SKIP("no folder to read pictures from");
}
#else

typedef struct picture_file {
    const char *name, *kind;
    int bits, width, height;
    size_t size;
    unsigned char bytes[8192];
} picture_file;

#define BOTH(kind, bits)                                      \
    {#kind "_" #bits "_plain", #kind, bits, 13, 9, 0, {0}}, { \
#kind "_" #bits "_adam7", #kind, bits, 13, 9, 0, {    \
            0                                                 \
        }                                                     \
    }
static picture_file files[] = {
    BOTH(grey, 1),    BOTH(grey, 2),    BOTH(grey, 4),    BOTH(grey, 8),
    BOTH(grey, 16),   BOTH(rgb, 8),     BOTH(rgb, 16),    BOTH(palette, 1),
    BOTH(palette, 2), BOTH(palette, 4), BOTH(palette, 8), BOTH(greya, 8),
    BOTH(greya, 16),  BOTH(rgba, 8),    BOTH(rgba, 16),   {"grey_8_large", "grey", 8, 61, 47, 0, {0}}};
enum { FILES = sizeof files / sizeof *files };

static int read_file(picture_file *f) {
    char path[1024];
    snprintf(path, sizeof path, KK_SOURCE_DIR "/tests/fuzz/corpus/png/%s.png", f->name);
    FILE *file = fopen(path, "rb");
    if (!KK_CHECK(file != NULL)) {
        return 0;
    }
    f->size = fread(f->bytes, 1, sizeof f->bytes, file);
    fclose(file);
    return KK_CHECK(f->size > 0 && f->size < sizeof f->bytes);
}

static int expected(const picture_file *f, int x, int y) {
    const int v = (37 * x + 101 * y + 7 * x * y) & ((1 << f->bits) - 1);
    return strcmp(f->kind, "palette") == 0 ? 255 - v : v;
}

KK_TEST(png_of_every_kind_is_read) {
    for (int i = 0; i < FILES; i++) {
        kki_picture p;
        kk_error error = {0};
        if (!read_file(&files[i])) {
            continue;
        }
        if (kki_png_read(files[i].bytes, files[i].size, NULL, &p, &error) != KK_OK) {
            KK_FAIL("%s: %s", files[i].name, error.text);
            continue;
        }
        KK_CHECK_EQ_INT(p.width, files[i].width);
        KK_CHECK_EQ_INT(p.height, files[i].height);
        int wrong = 0;
        for (int k = 0; k < p.width * p.height; k++) {
            wrong += p.value[k] != expected(&files[i], k % p.width, k / p.width);
        }
        if (wrong) {
            KK_FAIL("%s: %d pixels are wrong", files[i].name, wrong);
        }
        kki_picture_release(&p);
    }
}

static int is_refused(const unsigned char *bytes, size_t size) {
    kki_picture p;
    kk_error error = {0};
    const kk_status status = kki_png_read(bytes, size, NULL, &p, &error);
    kki_picture_release(&p);
    return status == KK_OK ? 0 : strncmp(error.text, "byte ", 5) == 0 && strstr(error.text, "; ");
}

// every byte stands under a checksum, so no cut and no change goes unseen
KK_TEST(png_damage_is_always_told) {
    static unsigned char copy[8192];
    for (int i = 0; i < FILES; i++) {
        picture_file *f = &files[i];
        if (!read_file(f)) {
            continue;
        }
        int accepted = 0;
        for (size_t k = 0; k < f->size; k++) {
            memcpy(copy, f->bytes, f->size);
            accepted += !is_refused(copy, k);
            copy[k] ^= (unsigned char)(1 + k % 255);
            accepted += !is_refused(copy, f->size);
        }
        if (accepted) {
            KK_FAIL("%s: %d damaged files were read, or refused without a place and a remedy", f->name, accepted);
        }
    }
}

// the same with checksums made right: what is read stays within its memory
KK_TEST(png_damage_behind_the_checksums) {
    static unsigned char copy[8192];
    for (int i = 0; i < FILES; i++) {
        picture_file *f = &files[i];
        if (!read_file(f)) {
            continue;
        }
        fuzz_png(f->bytes, f->size);
        for (size_t k = 8; k < f->size; k++) {
            memcpy(copy, f->bytes, f->size);
            copy[k] ^= (unsigned char)(1 + 31 * k % 255);
            fuzz_png(copy, f->size);
        }
    }
}

KK_TEST(png_survives_failing_allocations) {
    picture_file *f = &files[FILES - 1];
    kki_picture p;
    if (!read_file(f)) {
        return;
    }
    kk_status status = KK_OUT_OF_MEMORY;
    for (int at = 0; at < 100 && status != KK_OK; at++) {
        counter c = {.fail_at = at};
        const kk_allocator allocator = counter_allocator(&c);
        status = kki_png_read(f->bytes, f->size, &allocator, &p, NULL);
        KK_CHECK(status == KK_OK || status == KK_OUT_OF_MEMORY);
        kki_picture_release(&p);
        KK_CHECK_EQ_INT(c.blocks, 0);
    }
    KK_CHECK_EQ_INT(status, KK_OK);
}

static const char ground[] = "<mujoco><asset><hfield name='h' file='g.png' size='1 2 3 0.5'/></asset>"
                             "<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>";

static robot load_ground(const void *bytes, size_t size) {
    const kk_file file[] = {{"model.xml", ground, sizeof ground - 1}, {"g.png", bytes, size}};
    const kk_load_options o = {.file = file, .file_count = 2};
    robot r = {0};
    r.status = kk_load_file("model.xml", &o, NULL, &r.spec, &r.messages, &r.error);
    return r;
}

// the top row of a picture is the far edge; the darkest pixel is at 0 and the brightest at the height of the field
KK_TEST(png_becomes_a_height_field) {
    picture_file *f = &files[9];
    robot r = read_file(f) ? load_ground(f->bytes, f->size) : (robot){0};
    if (KK_CHECK(r.spec != NULL)) {
        const kk_height_field_def *h = kk_spec_height_field_const(r.spec, 0);
        int low = 65535, high = 0;
        for (int i = 0; i < 13 * 9; i++) {
            const int v = expected(f, i % 13, i / 13);
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        KK_CHECK_EQ_INT(h->rows, 9);
        KK_CHECK_EQ_INT(h->columns, 13);
        for (int i = 0; i < 13 * 9; i++) {
            KK_CHECK_NEAR(h->height[i], 3.0 * (expected(f, i % 13, 8 - i / 13) - low) / (high - low), 1e-15 * 4);
        }
    }
    robot_free(&r);
}

KK_TEST(png_that_is_damaged_is_told_at_the_height_field) {
    picture_file *f = &files[9];
    robot r = read_file(f) ? load_ground(f->bytes, f->size - 20) : (robot){0};
    KK_CHECK_EQ_INT(r.status, KK_SYNTAX);
    KK_CHECK_EQ_INT(r.error.line, 1);
    KK_CHECK(strstr(r.error.text, "g.png: byte ") && strstr(r.error.text, "cut off"));
    robot_free(&r);
}

// 4096 by 4096 pixels of 64 bits in 200 bytes
KK_TEST(png_bombs_are_refused) {
    picture_file *f = &files[FILES - 2];
    if (!read_file(f)) {
        return;
    }
    f->bytes[18] = f->bytes[22] = 0x10; // width and height
    f->bytes[19] = f->bytes[23] = 0;
    sign_chunks(f->bytes, f->size);
    kki_picture p;
    kk_error error = {0};
    counter c = {.fail_at = -1};
    const kk_allocator allocator = counter_allocator(&c);
    KK_CHECK_EQ_INT(kki_png_read(f->bytes, f->size, &allocator, &p, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK(c.peak <= 2 * f->size);
}
#endif
