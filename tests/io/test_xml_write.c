// What the XML writer writes, the XML reader reads back.
#include "io/xml_write.h"

#include "io/attributes.h"
#include "support.h"

static char *finish(kki_xml_writer *w, kk_status expected) {
    char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kki_xml_write_end(w, &text, &size, &error), expected);
    KK_CHECK_EQ_INT(text ? strlen(text) : 0, size);
    KK_CHECK_EQ_INT(error.status, expected);
    return text;
}

KK_TEST(xml_write_indents_and_closes) {
    kki_xml_writer w;
    kki_xml_write_begin(&w, NULL);
    kki_xml_open(&w, "robot");
    kki_xml_put(&w, "name", "a<b>&\"c\"\n");
    kki_xml_comment(&w, "two -- dashes");
    kki_xml_open(&w, "link");
    kki_xml_put_number(&w, "mass", 0.1);
    kki_xml_put_int(&w, "n", -3);
    kki_xml_put_unless(&w, "zero", 0, 0);
    kki_xml_put_if(&w, "none", "");
    kki_xml_close(&w, "link");
    kki_xml_open(&w, "type");
    kki_xml_characters(&w, "x<y");
    kki_xml_close(&w, "type");
    kki_xml_close(&w, "robot");
    char *text = finish(&w, KK_OK);
    KK_CHECK_STR(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<robot name=\"a&lt;b&gt;&amp;&quot;c&quot;&#10;\">\n"
                       "  <!-- two - - dashes -->\n"
                       "  <link mass=\"0.1\" n=\"-3\"/>\n"
                       "  <type>x&lt;y</type>\n"
                       "</robot>\n");
    kki_xml *xml = parse_good(text);
    if (xml) {
        KK_CHECK_STR(kki_xml_value(xml, KKI_XML_ROOT, "name"), "a<b>&\"c\"\n");
        kki_xml_free(xml);
    }
    free(text);
}

KK_TEST(xml_write_refuses_what_xml_cannot_hold) {
    kki_xml_writer w;
    kki_xml_write_begin(&w, NULL);
    kki_xml_open(&w, "a");
    kki_xml_put(&w, "name", "bell\a");
    KK_CHECK(finish(&w, KK_INVALID_ARGUMENT) == NULL);
    kki_xml_write_begin(&w, NULL);
    kki_xml_open(&w, "a");
    kki_xml_put(&w, "name", "half\xc3");
    KK_CHECK(finish(&w, KK_INVALID_ARGUMENT) == NULL);
    kki_xml_write_begin(&w, NULL);
    kki_xml_open(&w, "a");
    kki_xml_put_number(&w, "x", __builtin_inf());
    KK_CHECK(finish(&w, KK_NOT_FINITE) == NULL);
}

KK_TEST(xml_write_survives_failing_allocations) {
    for (int fail_at = 0; fail_at < 4; fail_at++) {
        counter c = {.fail_at = fail_at};
        const kk_allocator allocator = counter_allocator(&c);
        kki_xml_writer w;
        kki_xml_write_begin(&w, &allocator);
        kki_xml_open(&w, "a");
        for (int i = 0; i < 500; i++) {
            kki_xml_open(&w, "b");
            kki_xml_put_vec3(&w, "v", kk_vec3_make(i, 0.5, -1));
            kki_xml_close(&w, "b");
        }
        kki_xml_close(&w, "a");
        char *text = NULL;
        size_t size = 0;
        kk_error error;
        const kk_status status = kki_xml_write_end(&w, &text, &size, &error);
        KK_CHECK_EQ_INT(status, c.calls > fail_at ? KK_OUT_OF_MEMORY : KK_OK);
        if (text) {
            counter_release(&c, text, size + 1);
        }
        KK_CHECK_EQ_INT(c.blocks, 0);
        KK_CHECK_EQ_INT(c.bytes, 0);
    }
}
