// PNG (ISO/IEC 15948): every row gets the filter that leaves the smallest sum of absolute values.
#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "deflate.h"

enum { FILTERS = 5, PIXEL = 3 };

picture picture_make(int width, int height) {
    return (picture){width, height, cli_allocate((size_t)width * (size_t)height, PIXEL)};
}

void picture_free(picture *p) {
    free(p->rgb);
    *p = (picture){0};
}

// ---- filters

static int paeth(int a, int b, int c) {
    const int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static int predict(int filter, int left, int up, int corner) {
    switch (filter) {
    case 1: return left;
    case 2: return up;
    case 3: return (left + up) / 2;
    case 4: return paeth(left, up, corner);
    default: return 0;
    }
}

/// @param above  the row before; NULL: none    @param out  [1 + size]    Gives the sum of absolute values.
static long filter_row(int filter, const uint8_t *row, const uint8_t *above, int size, uint8_t *out) {
    long sum = 0;
    out[0] = (uint8_t)filter;
    for (int i = 0; i < size; i++) {
        const int left = i >= PIXEL ? row[i - PIXEL] : 0, up = above ? above[i] : 0;
        const int corner = above && i >= PIXEL ? above[i - PIXEL] : 0;
        out[1 + i] = (uint8_t)(row[i] - predict(filter, left, up, corner));
        sum += abs((int8_t)out[1 + i]);
    }
    return sum;
}

static void filter_picture(const picture *p, uint8_t *out) {
    const int size = p->width * PIXEL;
    uint8_t *trial = cli_allocate((size_t)size + 1, 1);
    for (int y = 0; y < p->height; y++) {
        const uint8_t *row = p->rgb + (size_t)y * (size_t)size, *above = y ? row - size : NULL;
        long best = 0;
        for (int f = 0; f < FILTERS; f++) {
            const long sum = filter_row(f, row, above, size, trial);
            if (f == 0 || sum < best) {
                best = sum;
                memcpy(out, trial, (size_t)size + 1);
            }
        }
        out += size + 1;
    }
    free(trial);
}

// ---- chunks

static uint32_t crc32_of(const char *bytes, size_t size) {
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint8_t)bytes[i];
        for (int k = 0; k < 8; k++) {
            crc = crc & 1 ? 0xedb88320u ^ (crc >> 1) : crc >> 1;
        }
    }
    return ~crc;
}

static void add_u32(cli_text *out, uint32_t v) {
    const char bytes[4] = {(char)(v >> 24), (char)(v >> 16 & 255), (char)(v >> 8 & 255), (char)(v & 255)};
    text_add_bytes(out, bytes, 4);
}

static void add_chunk(cli_text *out, const char *name, const cli_text *data) {
    add_u32(out, (uint32_t)data->size);
    const size_t start = out->size;
    text_add(out, name);
    text_add_bytes(out, text_string(data), data->size);
    add_u32(out, crc32_of(out->bytes + start, out->size - start));
}

void picture_png(const picture *p, cli_text *out) {
    const size_t size = ((size_t)p->width * PIXEL + 1) * (size_t)p->height;
    uint8_t *rows = cli_allocate(size, 1);
    cli_text head = {0}, body = {0}, end = {0};
    filter_picture(p, rows);
    add_u32(&head, (uint32_t)p->width);
    add_u32(&head, (uint32_t)p->height);
    text_add_bytes(&head, "\x08\x02\0\0\0", 5); // eight bits, red green blue
    deflate_zlib(&body, rows, size);
    text_add_bytes(out, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(out, "IHDR", &head);
    add_chunk(out, "IDAT", &body);
    add_chunk(out, "IEND", &end);
    text_free(&head);
    text_free(&body);
    free(rows);
}
