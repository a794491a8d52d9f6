// Matches by hash chains, one step of lazy evaluation, dynamic Huffman codes block by block (RFC 1951).
#include "deflate.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 32768,
    HASH_BITS = 15,
    HASH_SIZE = 1 << HASH_BITS,
    SHORTEST = 3,
    LONGEST = 258,
    CHAIN = 48,      // places looked at for a match
    BLOCK = 1 << 15, // symbols of a block
    LITERALS = 288,  // 0 … 255 bytes, 256 end, 257 … lengths
    DISTANCES = 30,
    CODE_LENGTHS = 19,
    END = 256,
};

typedef struct writer {
    cli_text *out;
    uint64_t bits;
    int count;
} writer;

static void put(writer *w, uint32_t value, int count) {
    w->bits |= (uint64_t)value << w->count;
    w->count += count;
    while (w->count >= 8) {
        const char byte = (char)(w->bits & 255);
        text_add_bytes(w->out, &byte, 1);
        w->bits >>= 8;
        w->count -= 8;
    }
}

static void flush(writer *w) {
    if (w->count > 0) {
        put(w, 0, 8 - w->count);
    }
}

// ---- Huffman codes

typedef struct code {
    uint8_t length[LITERALS];
    uint16_t bits[LITERALS];
} code;

/// Lengths of a Huffman code by joining the two rarest until one is left; a weight of 0 gets none. The longest.
static int huffman_lengths(const uint32_t *weight, int n, uint8_t *length) {
    uint64_t w[2 * LITERALS];
    int parent[2 * LITERALS], open[2 * LITERALS], opens = 0, nodes = n, longest = 0;
    for (int i = 0; i < n; i++) {
        w[i] = weight[i];
        if (weight[i]) {
            open[opens++] = i;
        }
    }
    while (opens > 1) {
        // the two rarest go to the end of the list
        for (int k = 0; k < 2; k++) {
            int best = 0;
            for (int i = 1; i < opens - k; i++) {
                best = w[open[i]] < w[open[best]] ? i : best;
            }
            const int last = opens - 1 - k, swap = open[last];
            open[last] = open[best];
            open[best] = swap;
        }
        const int a = open[opens - 1], b = open[opens - 2];
        w[nodes] = w[a] + w[b];
        parent[a] = parent[b] = nodes;
        open[opens - 2] = nodes++;
        opens--;
    }
    const int root = nodes - 1;
    for (int i = 0; i < n; i++) {
        int depth = 0;
        for (int k = i; weight[i] && k != root && k < nodes && nodes > n; k = parent[k]) {
            depth++;
        }
        length[i] = (uint8_t)(weight[i] && depth == 0 ? 1 : depth);
        longest = length[i] > longest ? length[i] : longest;
    }
    return longest;
}

static uint16_t reversed(uint32_t bits, int count) {
    uint32_t r = 0;
    for (int i = 0; i < count; i++) {
        r = (r << 1) | ((bits >> i) & 1);
    }
    return (uint16_t)r;
}

/// Codes of no more than `limit` bits: where they come out longer, weights are evened until they fit.
static void make_code(const uint32_t *weight, int n, int limit, code *c) {
    uint32_t even[LITERALS];
    memcpy(even, weight, (size_t)n * sizeof *even);
    while (huffman_lengths(even, n, c->length) > limit) {
        for (int i = 0; i < n; i++) {
            even[i] = even[i] ? (even[i] >> 1) | 1 : 0;
        }
    }
    uint32_t next = 0;
    for (int bits = 1; bits <= limit; bits++) {
        for (int i = 0; i < n; i++) {
            if (c->length[i] == bits) {
                c->bits[i] = reversed(next++, bits);
            }
        }
        next <<= 1;
    }
}

// ---- symbols

static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                         2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

static int length_symbol(int length) {
    int s = 28;
    while (length_base[s] > length) {
        s--;
    }
    return s;
}

static int distance_extra(int symbol) {
    return symbol < 4 ? 0 : symbol / 2 - 1;
}

static int distance_base(int symbol) {
    return symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) << (symbol / 2 - 1)) + 1;
}

static int distance_symbol(int distance) {
    int s = DISTANCES - 1;
    while (distance_base(s) > distance) {
        s--;
    }
    return s;
}

/// A byte where the distance is 0, else a match.
typedef struct symbol {
    uint16_t value, distance;
} symbol;

typedef struct packer {
    writer w;
    symbol *list;
    int count;
} packer;

/// The lengths of both codes, themselves coded; runs of zeros shortened (RFC 1951, 3.2.7).
static void put_lengths(writer *w, const code *literal, const code *distance) {
    static const uint8_t order[CODE_LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t all[LITERALS + DISTANCES], run_symbol[LITERALS + DISTANCES], run_extra[LITERALS + DISTANCES];
    const int n = 286 + DISTANCES;
    memcpy(all, literal->length, 286);
    memcpy(all + 286, distance->length, DISTANCES);
    uint32_t weight[CODE_LENGTHS] = {0};
    int runs = 0;
    for (int i = 0; i < n;) {
        int run = 1;
        while (i + run < n && all[i + run] == 0 && all[i] == 0 && run < 138) {
            run++;
        }
        const bool is_run = all[i] == 0 && run >= 3;
        run_symbol[runs] = (uint8_t)(is_run ? (run >= 11 ? 18 : 17) : all[i]);
        run_extra[runs] = (uint8_t)(is_run ? run - (run >= 11 ? 11 : 3) : 0);
        weight[run_symbol[runs++]]++;
        i += is_run ? run : 1;
    }
    code lengths;
    make_code(weight, CODE_LENGTHS, 7, &lengths);
    put(w, 286 - 257, 5);
    put(w, DISTANCES - 1, 5);
    put(w, CODE_LENGTHS - 4, 4);
    for (int i = 0; i < CODE_LENGTHS; i++) {
        put(w, lengths.length[order[i]], 3);
    }
    for (int i = 0; i < runs; i++) {
        const int s = run_symbol[i];
        put(w, lengths.bits[s], lengths.length[s]);
        put(w, run_extra[i], s == 18 ? 7 : s == 17 ? 3 : 0);
    }
}

static void put_symbol(writer *w, const code *literal, const code *distance, symbol s) {
    if (s.distance == 0) {
        put(w, literal->bits[s.value], literal->length[s.value]);
        return;
    }
    const int l = length_symbol(s.value), d = distance_symbol(s.distance);
    put(w, literal->bits[257 + l], literal->length[257 + l]);
    put(w, (uint32_t)(s.value - length_base[l]), length_extra[l]);
    put(w, distance->bits[d], distance->length[d]);
    put(w, (uint32_t)(s.distance - distance_base(d)), distance_extra(d));
}

static void put_block(packer *p, bool is_last) {
    uint32_t literals[LITERALS] = {0}, distances[DISTANCES] = {0};
    for (int i = 0; i < p->count; i++) {
        const symbol s = p->list[i];
        literals[s.distance ? 257 + length_symbol(s.value) : s.value]++;
        if (s.distance) {
            distances[distance_symbol(s.distance)]++;
        }
    }
    literals[END] = 1;
    distances[0] += distances[0] == 0; // never an empty code
    code literal, distance;
    make_code(literals, 286, 15, &literal);
    make_code(distances, DISTANCES, 15, &distance);
    put(&p->w, is_last, 1);
    put(&p->w, 2, 2);
    put_lengths(&p->w, &literal, &distance);
    for (int i = 0; i < p->count; i++) {
        put_symbol(&p->w, &literal, &distance, p->list[i]);
    }
    put(&p->w, literal.bits[END], literal.length[END]);
    p->count = 0;
}

static void add(packer *p, int value, int distance) {
    if (p->count == BLOCK) {
        put_block(p, false);
    }
    p->list[p->count++] = (symbol){(uint16_t)value, (uint16_t)distance};
}

// ---- matches

typedef struct chains {
    const uint8_t *bytes;
    size_t size;
    int64_t *head, *previous; // [HASH_SIZE], [WINDOW]: places + 1, 0 none
} chains;

static uint32_t hash(const uint8_t *b) {
    return ((b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16) * 2654435761u) >> (32 - HASH_BITS);
}

static void insert(chains *c, size_t at) {
    if (at + SHORTEST <= c->size) {
        const uint32_t h = hash(c->bytes + at);
        c->previous[at % WINDOW] = c->head[h];
        c->head[h] = (int64_t)at + 1;
    }
}

static int match_length(const chains *c, size_t a, size_t b) {
    const size_t most = c->size - b < LONGEST ? c->size - b : LONGEST;
    size_t n = 0;
    while (n < most && c->bytes[a + n] == c->bytes[b + n]) {
        n++;
    }
    return (int)n;
}

/// The longest match for what stands at `at`; 0: none.
static int find_match(const chains *c, size_t at, int *distance) {
    int best = 0;
    if (at + SHORTEST > c->size) {
        return 0;
    }
    int64_t place = c->head[hash(c->bytes + at)];
    for (int i = 0; i < CHAIN && place > 0 && (int64_t)at - (place - 1) < WINDOW; i++) {
        const int length = match_length(c, (size_t)(place - 1), at);
        if (length > best) {
            best = length;
            *distance = (int)((int64_t)at - (place - 1));
        }
        place = c->previous[(size_t)(place - 1) % WINDOW];
    }
    return best >= SHORTEST ? best : 0;
}

static void pack(packer *p, chains *c) {
    size_t at = 0;
    while (at < c->size) {
        int distance = 0, later = 0;
        const int length = find_match(c, at, &distance);
        insert(c, at);
        // a byte now, where the next place has a longer match
        if (length == 0 || (length < 32 && find_match(c, at + 1, &later) > length)) {
            add(p, c->bytes[at++], 0);
            continue;
        }
        add(p, length, distance);
        for (int i = 1; i < length; i++) {
            insert(c, at + (size_t)i);
        }
        at += (size_t)length;
    }
}

static uint32_t adler32(const uint8_t *bytes, size_t size) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void deflate_zlib(cli_text *out, const uint8_t *bytes, size_t size) {
    packer p = {.w = {.out = out}, .list = cli_allocate(BLOCK, sizeof *p.list)};
    chains c = {.bytes = bytes,
                .size = size,
                .head = cli_allocate(HASH_SIZE, sizeof *c.head),
                .previous = cli_allocate(WINDOW, sizeof *c.previous)};
    text_add_bytes(out, "\x78\x9c", 2);
    pack(&p, &c);
    put_block(&p, true);
    flush(&p.w);
    const uint32_t sum = adler32(bytes, size);
    for (int shift = 24; shift >= 0; shift -= 8) {
        const char byte = (char)(sum >> shift & 255);
        text_add_bytes(out, &byte, 1);
    }
    free(p.list);
    free(c.head);
    free(c.previous);
}
