// The reader beside expat, on generated documents: the same are accepted, and the same events are seen.
//
// Known differences, all of them on purpose:
//   refused here, read by expat    DOCTYPE; other encodings than UTF-8, US-ASCII and Latin-1; versions other than 1.x; what is
//                                  over the limits
//   read here, refused by expat    names with characters that only the fifth edition of XML 1.0 allows; "utf8" and
//                                  "ASCII" as names of encodings; bytes above ASCII in a file declared US-ASCII
//   not compared                   texts of nothing but blanks, and whether a text comes in one piece or several
#include "generate_xml.h"

#include <stdio.h>

#if !defined(KK_HAVE_EXPAT)
KK_TEST(xml_agrees_with_expat) {
    KK_SKIP("no expat (Debian package libexpat1-dev)");
}
#else
#include <expat.h>

typedef struct events {
    builder b;
    size_t run; // start of the characters since the last tag
} events;

static void end_run(events *e) {
    bool is_blank = true;
    for (size_t i = e->run; i < e->b.size; i++) {
        is_blank = is_blank && strchr(" \t\r\n", e->b.text[i]) != NULL;
    }
    e->b.size = is_blank ? e->run : e->b.size;
    build(&e->b, "");
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes) {
    events *e = user;
    end_run(e);
    build(&e->b, "\x01");
    build(&e->b, name);
    for (int i = 0; attributes[i]; i++) {
        build(&e->b, i % 2 ? "\x03" : "\x02");
        build(&e->b, attributes[i]);
    }
    build(&e->b, "\x04");
    e->run = e->b.size;
}

static void XMLCALL on_end(void *user, const XML_Char *name) {
    events *e = user;
    (void)name;
    end_run(e);
    build(&e->b, "\x05");
    e->run = e->b.size;
}

static void XMLCALL on_text(void *user, const XML_Char *text, int length) {
    build_bytes(&((events *)user)->b, text, (size_t)length);
}

static enum XML_Error run_expat(const builder *document, events *e) {
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetUserData(parser, e);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_SetCharacterDataHandler(parser, on_text);
    e->b.size = e->run = 0;
    build(&e->b, "");
    XML_Parse(parser, document->text, (int)document->size, 1);
    const enum XML_Error error = XML_GetErrorCode(parser);
    XML_ParserFree(parser);
    return error;
}

static void write_start(const kki_xml *xml, int32_t n, builder *b) {
    build(b, "\x01");
    build(b, kki_xml_name(xml, n));
    for (int32_t i = 0; i < xml->node[n].attribute_count; i++) {
        const kki_xml_attribute *a = &xml->attribute[xml->node[n].first_attribute + i];
        build(b, "\x02");
        build(b, kki_xml_string(xml, a->name));
        build(b, "\x03");
        build(b, kki_xml_string(xml, a->value));
    }
    build(b, "\x04");
}

/// The tree as the same events.
static void write_events(const kki_xml *xml, builder *b) {
    int32_t n = KKI_XML_ROOT;
    b->size = 0;
    while (n != KKI_XML_NONE) {
        if (kki_xml_is_element(xml, n)) {
            write_start(xml, n, b);
        } else {
            build(b, kki_xml_text(xml, n));
        }
        if (xml->node[n].first_child != KKI_XML_NONE) {
            n = xml->node[n].first_child;
            continue;
        }
        build(b, kki_xml_is_element(xml, n) ? "\x05" : "");
        while (n != KKI_XML_NONE && xml->node[n].next == KKI_XML_NONE) {
            n = xml->node[n].parent;
            build(b, n == KKI_XML_NONE ? "" : "\x05");
        }
        n = n == KKI_XML_NONE ? n : xml->node[n].next;
    }
}

static bool has_bytes_above_ascii(const builder *b) {
    for (size_t i = 0; i < b->size; i++) {
        if ((unsigned char)b->text[i] >= 0x80) {
            return true;
        }
    }
    return false;
}

/// True where the two may differ.
static bool is_known_difference(const builder *document, kk_status ours, enum XML_Error theirs) {
    if (ours == KK_UNSUPPORTED || ours == KK_LIMIT_EXCEEDED) {
        return true;
    }
    return ours == KK_OK && ((theirs == XML_ERROR_INVALID_TOKEN && has_bytes_above_ascii(document)) ||
                             theirs == XML_ERROR_UNKNOWN_ENCODING);
}

typedef struct tally {
    int accepted, refused, known;
} tally;

static void show(const builder *document, const char *what, const char *ours, const char *theirs) {
    char text[300];
    size_t n = 0;
    for (size_t i = 0; i < document->size && n < sizeof text - 8; i++) {
        const unsigned char c = (unsigned char)document->text[i];
        n += (size_t)snprintf(text + n, sizeof text - n, c < 32 || c > 126 ? "\\%03o" : "%c", c);
    }
    KK_FAIL("%s: %s\n    here   %s\n    expat  %s", what, text, ours, theirs);
}

static void compare(const builder *document, events *expat_events, builder *our_events, tally *t) {
    kki_xml *xml;
    kk_error error = {0};
    const kk_status ours = kki_xml_parse("x", document->text, document->size, NULL, NULL, &xml, &error);
    const enum XML_Error theirs = run_expat(document, expat_events);
    if ((ours == KK_OK) != (theirs == XML_ERROR_NONE)) {
        if (is_known_difference(document, ours, theirs)) {
            t->known++;
        } else {
            show(document, "accepted by one", ours ? error.text : "accepted",
                 theirs ? XML_ErrorString(theirs) : "accepted");
        }
    } else if (ours != KK_OK) {
        t->refused++;
    } else {
        t->accepted++;
        write_events(xml, our_events);
        if (our_events->size != expat_events->b.size ||
            memcmp(our_events->text, expat_events->b.text, our_events->size) != 0) {
            show(document, "other events", our_events->text, expat_events->b.text);
        }
    }
    kki_xml_free(xml);
}

KK_TEST(xml_agrees_with_expat) {
    builder document = {0}, ours = {0};
    events theirs = {0};
    dice d = {2026};
    tally t = {0};
    const int rounds = kk_test_is_quick() ? 2000 : 30000;
    for (int i = 0; i < rounds; i++) {
        generate_document(&document, &d);
        const int accepted = t.accepted;
        compare(&document, &theirs, &ours, &t);
        if (t.accepted == accepted) {
            KK_FAIL("a generated document is not accepted: %s", document.text);
        }
        for (int k = 0; k < 4; k++) {
            generate_document(&document, &d);
            mutate(&document, &d);
            compare(&document, &theirs, &ours, &t);
        }
    }
    KK_CHECK(t.accepted > rounds && t.refused > rounds);
    KK_CHECK(t.known < rounds / 50);
    free(document.text);
    free(ours.text);
    free(theirs.b.text);
}

/// Latin-1 for the same bytes: a document without a mark, behind a declaration.
static void generate_latin1(builder *document, builder *scratch, dice *d) {
    static const char *const names[] = {"ISO-8859-1", "iso-8859-1"};
    do {
        generate_document(scratch, d);
    } while (scratch->text[0] == '\xef' || strncmp(scratch->text, "<?xml", 5) == 0);
    document->size = 0;
    build(document, "<?xml version='1.0' encoding='");
    BUILD_ONE_OF(document, d, names);
    build(document, "'?>");
    build_bytes(document, scratch->text, scratch->size);
}

KK_TEST(xml_agrees_with_expat_on_latin1) {
    builder document = {0}, scratch = {0}, ours = {0};
    events theirs = {0};
    dice d = {8859};
    tally t = {0};
    const int rounds = kk_test_is_quick() ? 1000 : 20000;
    for (int i = 0; i < rounds; i++) {
        generate_latin1(&document, &scratch, &d);
        if (i % 2) {
            mutate(&document, &d);
        }
        compare(&document, &theirs, &ours, &t);
    }
    KK_CHECK(t.accepted > rounds / 8 && t.refused > rounds / 4);
    KK_CHECK(t.known < rounds / 50);
    free(document.text);
    free(scratch.text);
    free(ours.text);
    free(theirs.b.text);
}

typedef struct malformed {
    const char *text;
    size_t length;
    kk_status status;
    int line, column;
    const char *reason;
} malformed;

// what is malformed by hand is so for expat as well, but for the known differences
KK_TEST(xml_refuses_what_expat_refuses) {
    static const malformed cases[] = {
// clang-format off
#include "malformed_xml.inc"
        // clang-format on
    };
    events theirs = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const builder document = {(char *)(uintptr_t)cases[i].text, cases[i].length, 0};
        if (run_expat(&document, &theirs) == XML_ERROR_NONE && cases[i].status != KK_UNSUPPORTED) {
            show(&document, "accepted by expat", cases[i].reason, "");
        }
    }
    free(theirs.b.text);
}
#endif
