// Texts that are no XML: each is refused at the exact place, with a reason and a remedy.
#include "support.h"

typedef struct malformed {
    const char *text;
    size_t length;
    kk_status status;
    int line, column;
    const char *reason;
} malformed;

static const malformed cases[] = {
// clang-format off
#include "malformed_xml.inc"
    // clang-format on
};

enum { CASES = sizeof cases / sizeof *cases };

KK_TEST(malformed_xml_is_refused_at_its_place) {
    KK_CHECK(CASES >= 200);
    for (int i = 0; i < CASES; i++) {
        const malformed *m = &cases[i];
        kki_xml *xml = (kki_xml *)&xml;
        kk_error error = {0};
        const kk_status status = kki_xml_parse("bad.xml", m->text, m->length, NULL, NULL, &xml, &error);
        if (status != m->status || error.line != m->line || error.column != m->column ||
            strncmp(error.text, m->reason, strlen(m->reason)) != 0) {
            KK_FAIL("case %d %s: %s %d:%d %s", i, m->text, kk_status_name(status), error.line, error.column,
                    error.text);
        }
        KK_CHECK(xml == NULL);
        KK_CHECK_EQ_INT(error.status, m->status);
        KK_CHECK_STR(error.file, "bad.xml");
        KK_CHECK(strchr(error.text, ';') != NULL); // a remedy follows
    }
}

// a cut at any byte of a good file is noticed, unless only what follows the root is lost
KK_TEST(every_cut_of_a_file_is_noticed) {
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- x -->\n<robot name='r&amp;d'>\n <link a=\"1\" "
        "b='&#x6a5f;'/><![CDATA[<]]>\xe6\xa9\x9f <?pi x?> text\r\n</robot>";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        kki_xml *xml;
        kk_error error = {0};
        KK_CHECK(kki_xml_parse(NULL, text, n, NULL, NULL, &xml, &error) != KK_OK);
        KK_CHECK(error.line > 0 && error.column > 0 && error.text[0]);
    }
    kki_xml_free(parse_good(text));
}

KK_TEST(an_error_object_is_not_needed) {
    for (int i = 0; i < CASES; i++) {
        kki_xml *xml;
        KK_CHECK_EQ_INT(kki_xml_parse(NULL, cases[i].text, cases[i].length, NULL, NULL, &xml, NULL), cases[i].status);
    }
}
