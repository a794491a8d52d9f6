/// PNG pictures as numbers, for height fields.
#ifndef KARAKURI_IO_PNG_H
#define KARAKURI_IO_PNG_H

#include <stdbool.h>
#include <stdint.h>

#include <karakuri/allocator.h>
#include <karakuri/status.h>

/// At most so many pixels a side and in all: a small file can hold a very large picture.
enum { KKI_PNG_MOST_SIDE = 20000, KKI_PNG_MOST_PIXELS = 16 << 20 };

/// One number a pixel, rows from the top: the grey value, or the red one of a colored picture (which is MuJoCo's rule), in
/// the depth of the file.
typedef struct kki_picture {
    int width, height;
    uint16_t *value; ///< [height * width] of `allocator`, for kki_picture_release
    kk_allocator allocator;
} kki_picture;

bool kki_png_is(const void *bytes, size_t size);

/// Reads every kind of PNG: grey, colors and palettes of 1 to 16 bits, interlaced or not. Checksums are checked.
/// @return KK_OK, KK_SYNTAX with the byte of the fault in the text, KK_OUT_OF_MEMORY
kk_status kki_png_read(const void *bytes, size_t size, const kk_allocator *allocator, kki_picture *picture,
                       kk_error *error);

void kki_picture_release(kki_picture *picture);

#endif
