/// Deflate: blocks that are stored, or coded by fixed or own Huffman codes over literals, lengths and distances (RFC 1951).
///
/// Codes are canonical: those of one length are successive numbers, so a set of codes is how many there are of each length
/// and the symbols in order (section 3.2.2). A code is read bit by bit; after l bits its value less the first value of that
/// length counts into the symbols. Sets that promise more codes than there are, or fewer, are refused, as zlib does.
#include "io/inflate.h"

#include <string.h>

#include "base/allocator.h"

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 30, LENGTH_CODES = 19, END_OF_BLOCK = 256, LEAST_ROOM = 4096 };

typedef struct huffman {
    uint16_t count[MOST_BITS + 1]; ///< codes of each length
    uint16_t symbol[LITERALS];     ///< in the order of their codes
} huffman;

typedef struct stream {
    const unsigned char *bytes;
    size_t size, at;
    uint32_t held; ///< bits that were taken from bytes and not yet used
    int held_count;
    kki_inflated *out;
    kk_status status;
} stream;

static bool fail(stream *s, const char *fault) {
    if (s->status == KK_OK) {
        s->status = KK_SYNTAX;
        s->out->fault = fault;
        s->out->place = s->at;
    }
    return false;
}

// ---- bits in

/// Up to 16 bits, the lowest first; 0 after a fault.
static uint32_t take(stream *s, int count) {
    while (s->held_count < count) {
        if (s->at >= s->size) {
            fail(s, "the packed data end too early");
            return 0;
        }
        s->held |= (uint32_t)s->bytes[s->at++] << s->held_count;
        s->held_count += 8;
    }
    const uint32_t value = s->held & ((1u << count) - 1);
    s->held >>= count;
    s->held_count -= count;
    return value;
}

// ---- bytes out

static bool grow(stream *s) {
    kki_inflated *o = s->out;
    const size_t doubled = o->room < o->most / 2 ? 2 * o->room : o->most;
    const size_t least = LEAST_ROOM < o->most ? LEAST_ROOM : o->most, room = doubled > least ? doubled : least;
    unsigned char *bytes = o->room < o->most ? kki_allocate_array(&o->allocator, room, 1) : NULL;
    if (!bytes) {
        s->status = o->room < o->most ? KK_OUT_OF_MEMORY : s->status;
        return s->status ? false : fail(s, "the packed data hold more than they should");
    }
    if (o->size > 0) {
        memcpy(bytes, o->bytes, o->size);
    }
    kki_release_array(&o->allocator, o->bytes, o->room, 1);
    o->bytes = bytes;
    o->room = room;
    return true;
}

static bool put(stream *s, unsigned char byte) {
    kki_inflated *o = s->out;
    if (o->size == o->room && !grow(s)) {
        return false;
    }
    o->bytes[o->size++] = byte;
    return true;
}

/// Bytes again that came `distance` before; they may overlap what they make.
static bool repeat(stream *s, size_t distance, uint32_t length) {
    if (distance > s->out->size) {
        return fail(s, "the packed data repeat bytes from before their start");
    }
    for (uint32_t i = 0; i < length; i++) {
        if (!put(s, s->out->bytes[s->out->size - distance])) {
            return false;
        }
    }
    return true;
}

// ---- codes

/// How many codes are left of those the lengths could have had; negative: there are too many.
static int make_codes(huffman *h, const unsigned char *length, int count) {
    uint16_t next[MOST_BITS + 2] = {0};
    memset(h->count, 0, sizeof h->count);
    for (int i = 0; i < count; i++) {
        h->count[length[i]]++;
    }
    int left = 1;
    for (int bits = 1; bits <= MOST_BITS; bits++) {
        left = 2 * left - h->count[bits];
        if (left < 0) {
            return left;
        }
        next[bits + 1] = (uint16_t)(next[bits] + h->count[bits]);
    }
    for (int i = 0; i < count; i++) {
        if (length[i] > 0) {
            h->symbol[next[length[i]]++] = (uint16_t)i;
        }
    }
    return left;
}

static int read_symbol(stream *s, const huffman *h) {
    int code = 0, first = 0, index = 0;
    for (int bits = 1; bits <= MOST_BITS && s->status == KK_OK; bits++) {
        code |= (int)take(s, 1);
        const int count = h->count[bits];
        if (code - first < count) {
            return s->status == KK_OK ? h->symbol[index + code - first] : -1;
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    fail(s, "a code in the packed data stands for nothing");
    return -1;
}

static void make_fixed_codes(huffman *literal, huffman *distance) {
    unsigned char length[LITERALS];
    for (int i = 0; i < LITERALS; i++) {
        length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    make_codes(literal, length, LITERALS);
    memset(length, 5, sizeof length);
    make_codes(distance, length, DISTANCES);
}

/// Lengths of both sets of codes, as a run-length code of its own.
static bool read_lengths(stream *s, const huffman *h, unsigned char *length, int count) {
    for (int i = 0; i < count;) {
        const int symbol = read_symbol(s, h);
        if (symbol < 0) {
            return false;
        }
        if (symbol < 16) {
            length[i++] = (unsigned char)symbol;
            continue;
        }
        if (symbol == 16 && i == 0) {
            return fail(s, "the packed data repeat a code's length before the first one");
        }
        const unsigned char value = symbol == 16 ? length[i - 1] : 0;
        const int times = symbol == 16   ? 3 + (int)take(s, 2)
                          : symbol == 17 ? 3 + (int)take(s, 3)
                                         : 11 + (int)take(s, 7);
        if (times > count - i) {
            return fail(s, "the packed data have more code lengths than codes");
        }
        memset(length + i, value, (size_t)times);
        i += times;
    }
    return s->status == KK_OK;
}

/// A single code of one bit may stand alone (section 3.2.7); every other set is complete.
static bool is_usable(const huffman *h, int left, int count) {
    return left == 0 || (left > 0 && count - h->count[0] <= 1 && h->count[0] + h->count[1] == count);
}

static bool read_own_codes(stream *s, huffman *literal, huffman *distance) {
    static const unsigned char order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char length[LITERALS + DISTANCES + 2] = {0};
    const int literals = 257 + (int)take(s, 5), distances = 1 + (int)take(s, 5), lengths = 4 + (int)take(s, 4);
    if (literals > LITERALS - 2 || distances > DISTANCES) {
        return fail(s, "the packed data have more codes than there are");
    }
    for (int i = 0; i < lengths; i++) {
        length[order[i]] = (unsigned char)take(s, 3);
    }
    if (s->status != KK_OK || make_codes(literal, length, LENGTH_CODES) != 0) {
        return fail(s, "the packed data have an impossible set of codes for code lengths");
    }
    memset(length, 0, LENGTH_CODES);
    if (!read_lengths(s, literal, length, literals + distances)) {
        return false;
    }
    if (length[END_OF_BLOCK] == 0) {
        return fail(s, "the packed data have a block without an end");
    }
    const int left = make_codes(literal, length, literals);
    if (!is_usable(literal, left, literals)) {
        return fail(s, "the packed data have an impossible set of codes for literals");
    }
    const int left2 = make_codes(distance, length + literals, distances);
    return is_usable(distance, left2, distances) ||
           fail(s, "the packed data have an impossible set of codes for distances");
}

// ---- blocks

static bool read_stored(stream *s) {
    s->held = 0;
    s->held_count = 0;
    if (s->size - s->at < 4) {
        return fail(s, "the packed data end too early");
    }
    const unsigned char *b = s->bytes + s->at;
    const size_t length = (size_t)b[0] | (size_t)b[1] << 8, check = (size_t)b[2] | (size_t)b[3] << 8;
    if ((length ^ check) != 0xffff) {
        return fail(s, "the packed data have a stored block whose length and its check differ");
    }
    s->at += 4;
    if (length > s->size - s->at) {
        return fail(s, "the packed data end too early");
    }
    for (size_t i = 0; i < length; i++) {
        if (!put(s, s->bytes[s->at++])) {
            return false;
        }
    }
    return true;
}

/// Length and distance codes name a range each; extra bits choose in it (section 3.2.5).
static bool read_repeat(stream *s, int symbol, const huffman *distance) {
    static const uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                           31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const unsigned char length_extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    const int l = symbol - END_OF_BLOCK - 1;
    if (l >= (int)(sizeof length_base / sizeof *length_base)) {
        return fail(s, "a code in the packed data stands for nothing");
    }
    const uint32_t length = length_base[l] + take(s, length_extra[l]);
    const int d = read_symbol(s, distance);
    if (d < 0 || d >= DISTANCES) {
        return fail(s, "a code in the packed data stands for nothing");
    }
    const int extra = d < 4 ? 0 : d / 2 - 1;
    const size_t base = d < 4 ? (size_t)d + 1 : ((size_t)(2 + d % 2) << extra) + 1;
    const size_t far = base + take(s, extra);
    return s->status == KK_OK && repeat(s, far, length);
}

static bool read_coded(stream *s, const huffman *literal, const huffman *distance) {
    while (s->status == KK_OK) {
        const int symbol = read_symbol(s, literal);
        if (symbol == END_OF_BLOCK || symbol < 0) {
            return symbol >= 0;
        }
        if (symbol < END_OF_BLOCK ? !put(s, (unsigned char)symbol) : !read_repeat(s, symbol, distance)) {
            return false;
        }
    }
    return false;
}

static bool read_block(stream *s, bool *is_last) {
    huffman literal, distance;
    *is_last = take(s, 1) != 0;
    const uint32_t kind = take(s, 2);
    if (s->status != KK_OK || kind == 3) {
        return fail(s, "the packed data have a block of no known kind");
    }
    if (kind == 0) {
        return read_stored(s);
    }
    if (kind == 1) {
        make_fixed_codes(&literal, &distance);
    } else if (!read_own_codes(s, &literal, &distance)) {
        return false;
    }
    return read_coded(s, &literal, &distance);
}

static stream begin(const unsigned char *packed, size_t size, size_t most, const kk_allocator *allocator,
                    kki_inflated *out) {
    *out = (kki_inflated){.most = most, .allocator = kki_allocator_or_default(allocator)};
    return (stream){.bytes = packed, .size = size, .out = out};
}

static void read_blocks(stream *s) {
    for (bool is_last = false; !is_last && read_block(s, &is_last);) {
    }
}

kk_status kki_inflate_raw(const unsigned char *packed, size_t size, size_t most, const kk_allocator *allocator,
                          kki_inflated *out) {
    stream s = begin(packed, size, most, allocator, out);
    read_blocks(&s);
    return s.status;
}

static uint32_t adler32(const unsigned char *bytes, size_t size) {
    enum { PRIME = 65521, UNTIL_OVERFLOW = 5552 };
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size;) {
        const size_t end = size - i > UNTIL_OVERFLOW ? i + UNTIL_OVERFLOW : size;
        for (; i < end; i++) {
            a += bytes[i];
            b += a;
        }
        a %= PRIME;
        b %= PRIME;
    }
    return b << 16 | a;
}

static void check_sum(stream *s) {
    if (s->size - s->at < 4) {
        fail(s, "the packed data end before their checksum");
        return;
    }
    const unsigned char *b = s->bytes + s->at;
    const uint32_t sum = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
    if (sum != adler32(s->out->bytes, s->out->size)) {
        fail(s, "the checksum of the packed data is wrong");
    }
}

kk_status kki_inflate(const unsigned char *packed, size_t size, size_t most, const kk_allocator *allocator,
                      kki_inflated *out) {
    stream s = begin(packed, size, most, allocator, out);
    // deflate with a window of at most 32 KiB, a multiple of 31, no preset dictionary
    if (size < 2 || (packed[0] & 0x0f) != 8 || packed[0] >> 4 > 7 || (packed[0] * 256 + packed[1]) % 31 != 0 ||
        (packed[1] & 0x20) != 0) {
        fail(&s, "the packed data do not start as zlib's do");
        return s.status;
    }
    s.at = 2;
    read_blocks(&s);
    if (s.status == KK_OK) {
        check_sum(&s);
    }
    return s.status;
}

void kki_inflated_release(kki_inflated *out) {
    kki_release_array(&out->allocator, out->bytes, out->room, 1);
    out->bytes = NULL;
    out->size = out->room = 0;
}
