/// What the tests of io share: an allocator that counts and fails, and reading of a text.
#ifndef KARAKURI_TESTS_IO_SUPPORT_H
#define KARAKURI_TESTS_IO_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "io/xml.h"

/// Counts what is out and the most that was, and fails the call number `fail_at` (never for a negative one).
typedef struct counter {
    int calls, fail_at, blocks;
    size_t bytes, peak;
} counter;

static inline void *counter_allocate(void *user, size_t size, size_t alignment) {
    counter *c = user;
    if (c->calls++ == c->fail_at) {
        return NULL;
    }
    c->blocks++;
    c->bytes += size;
    c->peak = c->bytes > c->peak ? c->bytes : c->peak;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static inline void counter_release(void *user, void *block, size_t size) {
    counter *c = user;
    c->blocks--;
    c->bytes -= size;
    free(block);
}

static inline kk_allocator counter_allocator(counter *c) {
    return (kk_allocator){counter_allocate, counter_release, c};
}

/// A tree from a text that must be good; NULL and a failure where it is not.
static inline kki_xml *parse_good(const char *text) {
    kki_xml *xml = NULL;
    kk_error error = {0};
    if (kki_xml_parse("test.xml", text, strlen(text), NULL, NULL, &xml, &error) != KK_OK) {
        KK_FAIL("%s: %d:%d %s", text, error.line, error.column, error.text);
    }
    return xml;
}

/// A text that is made of parts.
typedef struct builder {
    char *text;
    size_t size, capacity;
} builder;

static inline void build_bytes(builder *b, const char *bytes, size_t size) {
    if (!b->text || b->size + size + 1 > b->capacity) {
        b->capacity = 2 * (b->size + size + 1);
        b->text = realloc(b->text, b->capacity);
        if (!b->text) {
            abort();
        }
    }
    memcpy(b->text + b->size, bytes, size);
    b->size += size;
    b->text[b->size] = 0;
}

static inline void build(builder *b, const char *text) {
    build_bytes(b, text, strlen(text));
}

static inline void build_times(builder *b, const char *text, int times) {
    for (int i = 0; i < times; i++) {
        build(b, text);
    }
}

#endif
