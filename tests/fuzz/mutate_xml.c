// Mutations that keep XML well formed, for the targets that read robots out of XML: a change of bytes mostly ends in the
// XML reader, these reach what stands behind it.
//
// A third of the changes stays libFuzzer's own. The others take an attribute's value, an attribute or an element with all
// that is in it, and change, move, copy or remove it. Spans are found by '<', '>' and quotes alone.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed);

enum { MOST_TAGS = 1024, MOST_BYTES = 1 << 16 };

typedef struct span {
    size_t first, end;
} span;

/// The tags of a text, without comments and declarations.
typedef struct tags {
    span tag[MOST_TAGS];
    int count;
} tags;

static unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int pick(unsigned *state, int count) {
    return (int)(next_random(state) % (unsigned)count);
}

static size_t end_of_tag(const uint8_t *data, size_t size, size_t at) {
    uint8_t quote = 0;
    for (; at < size; at++) {
        if (quote) {
            quote = data[at] == quote ? 0 : quote;
        } else if (data[at] == '"' || data[at] == '\'') {
            quote = data[at];
        } else if (data[at] == '>') {
            return at + 1;
        }
    }
    return size;
}

static void find_tags(const uint8_t *data, size_t size, tags *t) {
    t->count = 0;
    for (size_t i = 0; i + 1 < size && t->count < MOST_TAGS; i++) {
        if (data[i] == '<' && data[i + 1] != '!' && data[i + 1] != '?') {
            const size_t end = end_of_tag(data, size, i);
            t->tag[t->count++] = (span){i, end};
            i = end - 1;
        }
    }
}

static int is_end_tag(const uint8_t *data, span s) {
    return s.end - s.first > 2 && data[s.first + 1] == '/';
}

static int is_empty_tag(const uint8_t *data, span s) {
    return s.end - s.first > 2 && data[s.end - 2] == '/';
}

/// From a tag that begins an element to the end of that element.
static span element_at(const uint8_t *data, const tags *t, int first) {
    int depth = 0;
    for (int i = first; i < t->count; i++) {
        depth += is_end_tag(data, t->tag[i]) ? -1 : !is_empty_tag(data, t->tag[i]);
        if (depth <= 0) {
            return (span){t->tag[first].first, t->tag[i].end};
        }
    }
    return t->tag[first];
}

static int is_blank(uint8_t c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// One attribute of a tag, from the blank before it to its closing quote; empty where there is none.
static span attribute_of(const uint8_t *data, span tag, int wanted, span *value) {
    int found = 0;
    for (size_t i = tag.first; i + 1 < tag.end; i++) {
        if (data[i] == '=' && (data[i + 1] == '"' || data[i + 1] == '\'')) {
            size_t first = i;
            while (first > tag.first + 1 && !is_blank(data[first - 1])) {
                first--;
            }
            size_t end = i + 2;
            while (end < tag.end && data[end] != data[i + 1]) {
                end++;
            }
            if (found++ == wanted && end < tag.end) {
                *value = (span){i + 2, end};
                return (span){first - 1, end + 1};
            }
            i = end;
        }
    }
    return (span){0, 0};
}

static span any_attribute(const uint8_t *data, const tags *t, unsigned *random, span *value) {
    for (int tries = 0; tries < 8; tries++) {
        const span tag = t->tag[pick(random, t->count)];
        const span s = attribute_of(data, tag, pick(random, 4), value);
        if (s.end > s.first) {
            return s;
        }
    }
    return (span){0, 0};
}

/// Puts `bytes` in a span's place; gives the new size, or the old where there is no room.
static size_t put(uint8_t *data, size_t size, size_t max_size, span where, const uint8_t *bytes, size_t count) {
    const size_t removed = where.end - where.first;
    if (size - removed + count > max_size) {
        return size;
    }
    memmove(data + where.first + count, data + where.end, size - where.end);
    memcpy(data + where.first, bytes, count);
    return size - removed + count;
}

static const char *const odd_value[] = {"0",
                                        "-1",
                                        "1e308",
                                        "-1e-320",
                                        "nan",
                                        "inf",
                                        "1e400",
                                        "",
                                        "1 2",
                                        "1 2 3",
                                        "0 0 0",
                                        "1 0 0 0",
                                        "a",
                                        "world",
                                        "0x10",
                                        "1e-30",
                                        "true",
                                        "false",
                                        "free",
                                        "2147483648",
                                        "-0",
                                        "../m.obj",
                                        "/m.obj",
                                        "m.obj",
                                        "package://a/m.obj",
                                        "0.5 0.5 0.5 0.5 0.5 0.5",
                                        "1 0 0 0 1 0",
                                        "  3  ",
                                        "&#48;",
                                        "99999999999999999999",
                                        "auto",
                                        "main",
                                        "${1+1}",
                                        "$(find a)",
                                        "1,2,3"};

/// The value itself as libFuzzer would change it, without what would end it.
static size_t change_value(uint8_t *data, size_t size, size_t max_size, span value) {
    uint8_t text[256];
    const size_t length = value.end - value.first;
    if (length > sizeof text / 2) {
        return size;
    }
    memcpy(text, data + value.first, length);
    const size_t now = LLVMFuzzerMutate(text, length, sizeof text);
    for (size_t i = 0; i < now; i++) {
        if (text[i] == '<' || text[i] == '&' || text[i] == '"' || text[i] == '\'' || text[i] < 32 || text[i] > 126) {
            text[i] = (uint8_t)(" 0.-e1"[text[i] % 6]);
        }
    }
    return put(data, size, max_size, value, text, now);
}

static size_t change_attribute(uint8_t *data, size_t size, size_t max_size, const tags *t, unsigned *random) {
    static uint8_t copy[MOST_BYTES];
    span value = {0, 0}, other = {0, 0};
    const span whole = any_attribute(data, t, random, &value);
    const span second = any_attribute(data, t, random, &other);
    if (whole.end == 0 || second.end == 0) {
        return size;
    }
    const char *odd = odd_value[pick(random, (int)(sizeof odd_value / sizeof *odd_value))];
    switch (pick(random, 5)) {
    case 0: return put(data, size, max_size, value, (const uint8_t *)odd, strlen(odd));
    case 1: return change_value(data, size, max_size, value);
    case 2: return put(data, size, max_size, whole, copy, 0);
    case 3:
        memcpy(copy, data + other.first, other.end - other.first);
        return put(data, size, max_size, value, copy, other.end - other.first);
    default: // an attribute of another element as well
        memcpy(copy, data + second.first, second.end - second.first);
        return put(data, size, max_size, (span){whole.first, whole.first}, copy, second.end - second.first);
    }
}

static size_t change_element(uint8_t *data, size_t size, size_t max_size, const tags *t, unsigned *random) {
    static uint8_t copy[MOST_BYTES];
    const int from = pick(random, t->count);
    const size_t place = t->tag[pick(random, t->count)].first;
    if (is_end_tag(data, t->tag[from])) {
        return size;
    }
    const span e = element_at(data, t, from);
    const size_t length = e.end - e.first;
    memcpy(copy, data + e.first, length);
    switch (pick(random, 3)) {
    case 0: return put(data, size, max_size, e, copy, 0);
    case 1: return put(data, size, max_size, (span){place, place}, copy, length);
    default: { // moved
        const size_t to = place >= e.end ? place - length : place > e.first ? e.first : place;
        const size_t without = put(data, size, max_size, e, copy, 0);
        return put(data, without, max_size, (span){to, to}, copy, length);
    }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static tags t;
    unsigned random = seed;
    const int kind = pick(&random, 6);
    if (size < MOST_BYTES) {
        find_tags(data, size, &t);
    }
    if (kind < 2 || size >= MOST_BYTES || t.count < 2) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    size_t now = size;
    for (int i = pick(&random, 3); i >= 0; i--) { // one to three changes
        find_tags(data, now, &t);
        if (t.count == 0 || now >= MOST_BYTES) {
            break;
        }
        now = kind < 5 ? change_attribute(data, now, max_size, &t, &random)
                       : change_element(data, now, max_size, &t, &random);
    }
    return now > 0 ? now : LLVMFuzzerMutate(data, size, max_size);
}

/// An element of the second text comes into the first.
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t max_size, unsigned seed) {
    static tags ta, tb;
    unsigned random = seed;
    find_tags(a, a_size, &ta);
    find_tags(b, b_size, &tb);
    if (ta.count < 2 || tb.count < 2 || a_size > max_size) {
        return 0;
    }
    memcpy(out, a, a_size);
    const int from = 1 + pick(&random, tb.count - 1);
    const size_t place = ta.tag[1 + pick(&random, ta.count - 1)].first;
    if (is_end_tag(b, tb.tag[from])) {
        return 0;
    }
    const span e = element_at(b, &tb, from);
    return put(out, a_size, max_size, (span){place, place}, b + e.first, e.end - e.first);
}
