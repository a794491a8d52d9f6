/// A picture of eight-bit red, green, blue, and PNG files of it.
#ifndef KARAKURI_CLI_RENDER_PICTURE_H
#define KARAKURI_CLI_RENDER_PICTURE_H

#include <stdint.h>

#include "../text.h"

typedef struct picture {
    int width, height;
    uint8_t *rgb; ///< [height][width][3] from the upper left corner
} picture;

picture picture_make(int width, int height);
void picture_free(picture *p);
/// The bytes of a PNG file.
void picture_png(const picture *p, cli_text *out);

#endif
