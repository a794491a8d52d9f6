/// Random documents that are well-formed, and random damage to them.
#ifndef KARAKURI_TESTS_IO_GENERATE_XML_H
#define KARAKURI_TESTS_IO_GENERATE_XML_H

#include "support.h"

/// A small generator of numbers, the same everywhere.
typedef struct dice {
    uint64_t state;
} dice;

static inline uint32_t roll(dice *d, uint32_t below) {
    d->state += 0x9e3779b97f4a7c15u; // splitmix64
    uint64_t z = d->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % below);
}

static inline void build_one_of(builder *b, dice *d, const char *const *texts, uint32_t count) {
    build(b, texts[roll(d, count)]);
}

#define BUILD_ONE_OF(b, d, texts) build_one_of(b, d, texts, sizeof(texts) / sizeof *(texts))

static inline void build_blank(builder *b, dice *d) {
    static const char *const blanks[] = {"", " ", "\n", "\t", "\r\n", "\r", "  \n "};
    BUILD_ONE_OF(b, d, blanks);
}

/// Characters of a text or, between quotes, of a value.
static inline void build_characters(builder *b, dice *d, bool is_value) {
    static const char *const pieces[] = {
        "a",  "1.5 -2e3", "&lt;", "&amp;",  "&quot;", "&#65;", "&#x6a5f;", "\xc3\xa9",         "\r\n",
        "\n", "\r",       "\t",   "&apos;", "&gt;",   "&#10;", "&#13;",    "\xf0\x9f\xa4\x96", "\xe6\xa9\x9f",
        "]]", "]",        "--",   "?",      "/",      "="};
    for (uint32_t n = roll(d, 6); n > 0; n--) {
        BUILD_ONE_OF(b, d, pieces);
    }
    if (!is_value && roll(d, 4) == 0) {
        build(b, "\"' >");
    }
}

static inline void build_misc(builder *b, dice *d, bool is_inside) {
    static const char *const misc[] = {"<!-- a - b -->", "<!---->", "<?pi?>", "<?pi x ? y?>", "<!-- <a b='&'> -->"};
    static const char *const inside[] = {"<![CDATA[]]>", "<![CDATA[<a>&amp;]]]]>", "<![CDATA[ x\r\ny ]]>"};
    if (is_inside && roll(d, 3) == 0) {
        BUILD_ONE_OF(b, d, inside);
    } else {
        BUILD_ONE_OF(b, d, misc);
    }
}

static const char *const generated_names[] = {
    "a", "link", "xacro:if", "_x", "joint-1.2", "\xc3\xa9t\xc3\xa9", "\xe6\xa9\x9f", "b:c"};

static inline void build_attributes(builder *b, dice *d) {
    static const char *const names[] = {"name", "xyz", "x:y", "\xc3\xa9", "xmlns", "_"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (roll(d, 3) == 0) {
            const char *quote = roll(d, 2) ? "\"" : "'";
            build(b, " ");
            build_blank(b, d);
            build(b, names[i]);
            build_blank(b, d);
            build(b, "=");
            build_blank(b, d);
            build(b, quote);
            build_characters(b, d, true);
            build(b, quote);
        }
    }
    build_blank(b, d);
}

/// A well-formed document of some elements; `text` is used again.
static inline void generate_document(builder *b, dice *d) {
    const char *open[16];
    int depth = 0, elements = 1 + (int)roll(d, 12);
    b->size = 0;
    build(b, roll(d, 6) ? "" : "\xef\xbb\xbf");
    build(b, roll(d, 3) ? "" : "<?xml version=\"1.0\" encoding='UTF-8' standalone=\"yes\"?>");
    build_blank(b, d);
    do {
        if (elements > 0 && depth < 16 && (depth == 0 || roll(d, 2))) {
            const char *name = generated_names[roll(d, 8)];
            build(b, "<");
            build(b, name);
            build_attributes(b, d);
            const bool is_empty = roll(d, 3) == 0 && !(depth == 0 && elements > 1);
            build(b, is_empty ? "/>" : ">");
            open[depth] = name;
            depth += !is_empty;
            elements--;
        } else if (depth > 0) {
            build(b, "</");
            build(b, open[--depth]);
            build_blank(b, d);
            build(b, ">");
            elements = depth == 0 ? 0 : elements;
        }
        if (depth > 0) {
            build_characters(b, d, false);
            build_blank(b, d);
        }
        if (roll(d, 5) == 0) {
            build_misc(b, d, depth > 0);
        }
    } while (depth > 0);
    build_blank(b, d);
}

/// Damages the text at one to three places.
static inline void mutate(builder *b, dice *d) {
    static const char bytes[] = "<>&;'\"=/!?-[]# \n\rax1\x00\x80\xc3\xff";
    for (uint32_t n = 1 + roll(d, 3); n > 0 && b->size > 1; n--) {
        const uint32_t at = roll(d, (uint32_t)b->size), length = 1 + roll(d, 8);
        switch (roll(d, 5)) {
        case 0: b->text[at] = bytes[roll(d, sizeof bytes - 1)]; break;
        case 1: b->text[at] = (char)(b->text[at] ^ (1 << roll(d, 8))); break;
        case 2: b->size = roll(d, 8) ? b->size : at; break;
        case 3:
            if (at + length < b->size) { // cut some out
                memmove(b->text + at, b->text + at + length, b->size - at - length);
                b->size -= length;
            }
            break;
        default:
            if (at + length < b->size) { // copy some to elsewhere
                memmove(b->text + roll(d, (uint32_t)(b->size - length)), b->text + at, length);
            }
        }
    }
    b->text[b->size] = 0;
}

#endif
