/// PNG (W3C recommendation, third edition): a signature, chunks with checksums, and pixels in rows that are filtered
/// (section 9), packed (section 10) and, where they are interlaced, in seven passes (section 8).
///
/// Strict in what carries pixels; other chunks are checked and skipped. Memory grows with the pixels that really come out
/// of the packed data, never with the size that the header promises.
#include "io/png.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "io/inflate.h"

enum { SIGNATURE = 8, CHUNK_FRAME = 12, HEADER_SIZE = 13, PASSES = 7, MOST_COLORS = 256 };
/// What may come out of any file, and how many times its size beyond that.
enum { FREE_SIZE = 16 << 20, MOST_RATIO = 32 };
enum { GREY = 0, COLORS = 2, PALETTE = 3, GREY_ALPHA = 4, COLORS_ALPHA = 6 };

typedef struct pass {
    int x, y, step_x, step_y;
} pass;

typedef struct png {
    const unsigned char *bytes;
    size_t size;
    kk_allocator allocator;
    kk_error *error;
    int width, height, depth, kind, passes; ///< one pass, or seven
    unsigned char red[MOST_COLORS];
    int colors;
    unsigned char *packed; ///< [packed_room], all chunks of pixels behind each other
    size_t packed_size, packed_room, first_pixels;
} png;

typedef struct chunk {
    char name[5];
    size_t at; ///< of its first byte
    const unsigned char *data;
    size_t size;
} chunk;

static kk_status fail(const png *p, size_t at, const char *what) {
    return kki_error_set(p->error, KK_SYNTAX, "byte %lld: %s; export the picture again", (long long)at, what);
}

static uint32_t big32(const unsigned char *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

bool kki_png_is(const void *bytes, size_t size) {
    return size >= SIGNATURE && memcmp(bytes, "\x89PNG\r\n\x1a\n", SIGNATURE) == 0;
}

// ---- chunks

/// Four bits at a time: a table of 16 is enough (annex D).
static uint32_t crc32(const unsigned char *bytes, size_t size) {
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static bool is_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static kk_status read_chunk(const png *p, size_t at, chunk *c) {
    const size_t left = p->size - at;
    if (left < CHUNK_FRAME) {
        return fail(p, at, "the PNG file is cut off");
    }
    const unsigned char *b = p->bytes + at;
    const size_t size = big32(b);
    if (!is_letter(b[4]) || !is_letter(b[5]) || !is_letter(b[6]) || !is_letter(b[7])) {
        return fail(p, at + 4, "a part of the PNG file has a name that is none");
    }
    if (size > left - CHUNK_FRAME) {
        return fail(p, at, "a part of the PNG file is longer than the file; it is cut off");
    }
    if (crc32(b + 4, size + 4) != big32(b + 8 + size)) {
        return fail(p, at + 8 + size, "the checksum of a part of the PNG file is wrong");
    }
    *c = (chunk){.at = at, .data = b + 8, .size = size};
    memcpy(c->name, b + 4, 4);
    return KK_OK;
}

static bool is_depth_of_kind(int kind, int depth) {
    switch (kind) {
    case GREY: return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case PALETTE: return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case COLORS:
    case GREY_ALPHA:
    case COLORS_ALPHA: return depth == 8 || depth == 16;
    default: return false;
    }
}

static kk_status read_header(png *p, const chunk *c) {
    if (strcmp(c->name, "IHDR") != 0 || c->size != HEADER_SIZE) {
        return fail(p, c->at, "a PNG file starts with a header of 13 bytes");
    }
    const uint32_t width = big32(c->data), height = big32(c->data + 4);
    if (width == 0 || height == 0 || width > KKI_PNG_MOST_SIDE || height > KKI_PNG_MOST_SIDE ||
        (uint64_t)width * height > KKI_PNG_MOST_PIXELS) {
        return kki_error_set(p->error, KK_LIMIT_EXCEEDED,
                             "byte 16: the picture has %lld by %lld pixels, and at most %d a side and %d in all are "
                             "read; make it smaller",
                             (long long)width, (long long)height, KKI_PNG_MOST_SIDE, KKI_PNG_MOST_PIXELS);
    }
    p->width = (int)width;
    p->height = (int)height;
    p->depth = c->data[8];
    p->kind = c->data[9];
    p->passes = c->data[12] ? PASSES : 1;
    if (!is_depth_of_kind(p->kind, p->depth)) {
        return fail(p, c->at + 16, "no PNG file has this kind of colors with so many bits");
    }
    return c->data[10] || c->data[11] || c->data[12] > 1 ? fail(p, c->at + 18, "the PNG file is packed in no known way")
                                                         : KK_OK;
}

static kk_status read_palette(png *p, const chunk *c) {
    if (c->size % 3 || c->size == 0 || c->size > (size_t)3 * MOST_COLORS || p->colors > 0) {
        return fail(p, c->at, "the palette of the PNG file has no whole number of colors, or stands twice");
    }
    p->colors = (int)(c->size / 3);
    for (int i = 0; i < p->colors; i++) {
        p->red[i] = c->data[3 * i];
    }
    return KK_OK;
}

/// There is room: all chunks together are no longer than the file.
static kk_status add_pixels(png *p, const chunk *c, bool is_next) {
    if (p->packed_size > 0 && !is_next) {
        return fail(p, c->at, "something stands between the pixels of the PNG file");
    }
    p->first_pixels = p->packed_size ? p->first_pixels : c->at + 8;
    if (c->size > 0) {
        memcpy(p->packed + p->packed_size, c->data, c->size);
        p->packed_size += c->size;
    }
    return KK_OK;
}

static kk_status read_part(png *p, const chunk *c, bool is_after_pixels) {
    if (strcmp(c->name, "PLTE") == 0) {
        return read_palette(p, c);
    }
    if (strcmp(c->name, "IDAT") == 0) {
        return add_pixels(p, c, is_after_pixels);
    }
    // a capital says that it cannot be done without
    return c->name[0] <= 'Z' ? fail(p, c->at + 4, "a part of the PNG file is needed and not known") : KK_OK;
}

static kk_status read_chunks(png *p) {
    chunk c = {.size = 0};
    kk_status status = read_chunk(p, SIGNATURE, &c);
    status = status ? status : read_header(p, &c);
    bool is_after_pixels = false;
    while (status == KK_OK) {
        status = read_chunk(p, c.at + CHUNK_FRAME + c.size, &c);
        if (status == KK_OK && strcmp(c.name, "IEND") == 0) {
            break;
        }
        status = status ? status : read_part(p, &c, is_after_pixels);
        is_after_pixels = status == KK_OK && strcmp(c.name, "IDAT") == 0;
    }
    if (status == KK_OK && p->packed_size == 0) {
        return fail(p, c.at, "the PNG file has no pixels");
    }
    return status == KK_OK && p->kind == PALETTE && p->colors == 0 ? fail(p, c.at, "the PNG file has no palette")
                                                                   : status;
}

// ---- rows

static int channels_of(int kind) {
    return kind == COLORS ? 3 : kind == GREY_ALPHA ? 2 : kind == COLORS_ALPHA ? 4 : 1;
}

static pass pass_of(const png *p, int i) {
    static const pass adam7[PASSES] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                       {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    return p->passes == 1 ? (pass){0, 0, 1, 1} : adam7[i];
}

static int pixels_across(const png *p, const pass *s) {
    return p->width > s->x ? (p->width - s->x + s->step_x - 1) / s->step_x : 0;
}

static int rows_down(const png *p, const pass *s) {
    return p->height > s->y ? (p->height - s->y + s->step_y - 1) / s->step_y : 0;
}

/// Bytes of a row without its filter byte.
static size_t row_size(const png *p, int across) {
    return ((size_t)across * (size_t)channels_of(p->kind) * (size_t)p->depth + 7) / 8;
}

static size_t unpacked_size(const png *p) {
    size_t size = 0;
    for (int i = 0; i < p->passes; i++) {
        const pass s = pass_of(p, i);
        const int across = pixels_across(p, &s);
        size += across ? (size_t)rows_down(p, &s) * (1 + row_size(p, across)) : 0;
    }
    return size;
}

/// Of left, above and above left the one nearest to left + above − above left (section 9.4).
static unsigned paeth(unsigned a, unsigned b, unsigned c) {
    const int to_a = (int)b - (int)c, to_b = (int)a - (int)c, to_c = to_a + to_b;
    const int da = to_a < 0 ? -to_a : to_a, db = to_b < 0 ? -to_b : to_b, dc = to_c < 0 ? -to_c : to_c;
    return da <= db && da <= dc ? a : db <= dc ? b : c;
}

/// In place; `above` is NULL in the first row, `behind` the bytes of a pixel.
static bool unfilter(unsigned char *row, const unsigned char *above, size_t size, size_t behind, int filter) {
    if (filter > 4) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        const unsigned a = i >= behind ? row[i - behind] : 0, b = above ? above[i] : 0;
        const unsigned c = i >= behind && above ? above[i - behind] : 0;
        const unsigned guess = filter == 1   ? a
                               : filter == 2 ? b
                               : filter == 3 ? (a + b) / 2
                               : filter == 4 ? paeth(a, b, c)
                                             : 0;
        row[i] = (unsigned char)(row[i] + guess);
    }
    return true;
}

/// The first channel of a pixel.
static unsigned sample(const png *p, const unsigned char *row, int pixel) {
    const size_t i = (size_t)pixel * (size_t)channels_of(p->kind);
    if (p->depth == 16) {
        return (unsigned)row[2 * i] << 8 | row[2 * i + 1];
    }
    const size_t bit = i * (size_t)p->depth;
    return row[bit / 8] >> (8 - (size_t)p->depth - bit % 8) & ((1u << p->depth) - 1);
}

static kk_status place_row(const png *p, const pass *s, const unsigned char *row, int y, kki_picture *picture) {
    uint16_t *to = picture->value + (size_t)(s->y + y * s->step_y) * (size_t)p->width;
    const int across = pixels_across(p, s);
    for (int x = 0; x < across; x++) {
        unsigned v = sample(p, row, x);
        if (p->kind == PALETTE) {
            if (v >= (unsigned)p->colors) {
                return fail(p, p->first_pixels, "a pixel of the PNG file has a color that is not in the palette");
            }
            v = p->red[v];
        }
        to[s->x + x * s->step_x] = (uint16_t)v;
    }
    return KK_OK;
}

static kk_status place_pass(const png *p, const pass *s, unsigned char **at, kki_picture *picture) {
    const int across = pixels_across(p, s), down = across ? rows_down(p, s) : 0;
    const size_t size = row_size(p, across), bits = (size_t)channels_of(p->kind) * (size_t)p->depth;
    const unsigned char *above = NULL;
    for (int y = 0; y < down; y++) {
        unsigned char *row = *at + 1;
        if (!unfilter(row, above, size, bits < 8 ? 1 : bits / 8, **at)) {
            return fail(p, p->first_pixels, "a row of the PNG file is filtered in no known way");
        }
        const kk_status status = place_row(p, s, row, y, picture);
        if (status != KK_OK) {
            return status;
        }
        above = row;
        *at = row + size;
    }
    return KK_OK;
}

static kk_status place_all(const png *p, unsigned char *bytes, kki_picture *picture) {
    *picture = (kki_picture){.width = p->width, .height = p->height, .allocator = p->allocator};
    picture->value = kki_allocate_array(&p->allocator, (size_t)p->width * (size_t)p->height, sizeof *picture->value);
    if (!picture->value) {
        return kki_error_set(p->error, KK_OUT_OF_MEMORY, "no memory for %d by %d pixels", p->width, p->height);
    }
    kk_status status = KK_OK;
    for (int i = 0; i < p->passes && status == KK_OK; i++) {
        const pass s = pass_of(p, i);
        status = place_pass(p, &s, &bytes, picture);
    }
    if (status != KK_OK) {
        kki_picture_release(picture);
    }
    return status;
}

static kk_status unpack(const png *p, kki_picture *picture) {
    kki_inflated raw;
    const size_t size = unpacked_size(p);
    if (size > FREE_SIZE && size / MOST_RATIO > p->packed_size) {
        return kki_error_set(p->error, KK_LIMIT_EXCEEDED,
                             "byte %lld: %d by %d pixels in %lld bytes: no picture of a ground packs so well; make it "
                             "smaller",
                             (long long)p->first_pixels, p->width, p->height, (long long)p->packed_size);
    }
    kk_status status = kki_inflate(p->packed, p->packed_size, size, &p->allocator, &raw);
    if (status == KK_OUT_OF_MEMORY) {
        kki_error_set(p->error, status, "no memory for %d by %d pixels", p->width, p->height);
    } else if (status != KK_OK) {
        status = fail(p, p->first_pixels + raw.place, raw.fault);
    } else if (raw.size != size) {
        status = fail(p, p->first_pixels, "the PNG file has fewer pixels than its header says");
    } else {
        status = place_all(p, raw.bytes, picture);
    }
    kki_inflated_release(&raw);
    return status;
}

kk_status kki_png_read(const void *bytes, size_t size, const kk_allocator *allocator, kki_picture *picture,
                       kk_error *error) {
    png p = {.bytes = bytes, .size = size, .allocator = kki_allocator_or_default(allocator), .error = error};
    *picture = (kki_picture){0};
    if (!kki_png_is(bytes, size)) {
        return fail(&p, 0, "a PNG file starts with the bytes 89 50 4e 47 0d 0a 1a 0a");
    }
    p.packed_room = size;
    p.packed = kki_allocate_array(&p.allocator, size, 1);
    if (!p.packed) {
        return kki_error_set(error, KK_OUT_OF_MEMORY, "no memory for a picture");
    }
    kk_status status = read_chunks(&p);
    status = status ? status : unpack(&p, picture);
    kki_release_array(&p.allocator, p.packed, p.packed_room, 1);
    return status;
}

void kki_picture_release(kki_picture *picture) {
    kki_release_array(&picture->allocator, picture->value, (size_t)picture->width * (size_t)picture->height,
                      sizeof *picture->value);
    *picture = (kki_picture){0};
}
