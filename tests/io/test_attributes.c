// Typed attributes: what is read, and where and how the rest is refused.
#include "support.h"

#include <stdio.h>

#include "io/attributes.h"

typedef struct fixture {
    kki_xml *xml;
    kki_diagnostics diagnostics;
    kki_reader r;
} fixture;

static fixture *fixture_open(fixture *f, const char *text) {
    f->xml = parse_good(text);
    KK_CHECK_EQ_INT(kki_diagnostics_create(&f->diagnostics, NULL, 0), KK_OK);
    f->r = (kki_reader){f->xml, &f->diagnostics};
    return f;
}

static void fixture_close(fixture *f) {
    kki_diagnostics_destroy(&f->diagnostics);
    kki_xml_free(f->xml);
}

/// The last finding.
static void check_last(const fixture *f, kk_status status, int line, int column, const char *text) {
    if (!KK_CHECK(f->diagnostics.count > 0)) {
        return;
    }
    const kki_diagnostic *d = &f->diagnostics.item[f->diagnostics.count - 1];
    KK_CHECK_EQ_INT(d->status, status);
    KK_CHECK_EQ_INT(d->line, line);
    KK_CHECK_EQ_INT(d->column, column);
    if (!strstr(d->text, text)) {
        KK_FAIL("'%s' does not say '%s'", d->text, text);
    }
    KK_CHECK(d->status == KK_OK || d->remedy[0] != 0);
}

KK_TEST(attributes_read_numbers) {
    fixture f;
    fixture_open(&f, "<a x=' 1.5 ' v='1 -2e3\n+.5' i='-7' b='true' c='0' k=' two ' s='hello'/>");
    double x = 0, v[3] = {0};
    int64_t i = 0;
    bool b = false, c = true;
    int k = 0, count = 0;
    const char *s = NULL;
    static const kki_keyword words[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
    KK_CHECK_EQ_INT(kki_read_double(&f.r, 0, "x", KKI_REQUIRED, &x), KK_OK);
    KK_CHECK_EQ_INT(kki_read_vector(&f.r, 0, "v", KKI_REQUIRED, 3, v), KK_OK);
    KK_CHECK_EQ_INT(kki_read_int(&f.r, 0, "i", KKI_REQUIRED, -7, 0, &i), KK_OK);
    KK_CHECK_EQ_INT(kki_read_bool(&f.r, 0, "b", KKI_REQUIRED, &b), KK_OK);
    KK_CHECK_EQ_INT(kki_read_bool(&f.r, 0, "c", KKI_REQUIRED, &c), KK_OK);
    KK_CHECK_EQ_INT(kki_read_keyword(&f.r, 0, "k", KKI_REQUIRED, words, &k), KK_OK);
    KK_CHECK_EQ_INT(kki_read_string(&f.r, 0, "s", KKI_REQUIRED, &s), KK_OK);
    KK_CHECK(x == 1.5 && v[0] == 1 && v[1] == -2000 && v[2] == 0.5 && i == -7 && b && !c && k == 2);
    KK_CHECK_STR(s, "hello");
    KK_CHECK_EQ_INT(kki_read_numbers(&f.r, 0, "v", KKI_REQUIRED, 1, 8, v, &count), KK_OK);
    KK_CHECK_EQ_INT(count, 3);
    KK_CHECK_EQ_INT(f.diagnostics.count, 0);
    fixture_close(&f);
}

KK_TEST(attributes_absent_keep_the_default) {
    fixture f;
    fixture_open(&f, "<r>\n <a/></r>");
    double x = 7, v[2] = {1, 2};
    int64_t i = 3;
    bool b = true;
    int count = 5;
    KK_CHECK_EQ_INT(kki_read_double(&f.r, 1, "x", KKI_OPTIONAL, &x), KK_OK);
    KK_CHECK_EQ_INT(kki_read_vector(&f.r, 1, "v", KKI_OPTIONAL, 2, v), KK_OK);
    KK_CHECK_EQ_INT(kki_read_int(&f.r, 1, "i", KKI_OPTIONAL, 0, 9, &i), KK_OK);
    KK_CHECK_EQ_INT(kki_read_bool(&f.r, 1, "b", KKI_OPTIONAL, &b), KK_OK);
    KK_CHECK_EQ_INT(kki_read_numbers(&f.r, 1, "n", KKI_OPTIONAL, 1, 2, v, &count), KK_OK);
    KK_CHECK(x == 7 && v[0] == 1 && v[1] == 2 && i == 3 && b && count == 0);
    KK_CHECK_EQ_INT(f.diagnostics.count, 0);
    KK_CHECK_EQ_INT(kki_read_double(&f.r, 1, "x", KKI_REQUIRED, &x), KK_NOT_FOUND);
    check_last(&f, KK_NOT_FOUND, 2, 2, "<a> has no attribute 'x'");
    KK_CHECK(x == 7);
    fixture_close(&f);
}

static void check_bad_vector(const char *value, int count, kk_status status, int column, const char *text) {
    fixture f;
    char xml[200];
    double v[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    snprintf(xml, sizeof xml, "<a v='%s'/>", value);
    fixture_open(&f, xml);
    KK_CHECK_EQ_INT(kki_read_vector(&f.r, 0, "v", KKI_REQUIRED, count, v), status);
    check_last(&f, status, 1, column, text);
    KK_CHECK(v[0] == 9 && v[1] == 9);
    fixture_close(&f);
}

KK_TEST(attributes_refuse_bad_numbers_at_their_column) {
    check_bad_vector("1 2", 3, KK_SIZE_MISMATCH, 7, "2 numbers where 3 must be");
    check_bad_vector("", 1, KK_SIZE_MISMATCH, 7, "0 numbers where 1 must be");
    check_bad_vector(" ", 1, KK_SIZE_MISMATCH, 7, "0 numbers");
    check_bad_vector("1 2 3 4", 3, KK_SIZE_MISMATCH, 13, "more than 3");
    check_bad_vector("1 x 3", 3, KK_SYNTAX, 9, "'x' is not a number");
    check_bad_vector("1 2x 3", 3, KK_SYNTAX, 9, "'2x' is not a number");
    check_bad_vector("1, 2, 3", 3, KK_SYNTAX, 8, "comma");
    check_bad_vector("1 nan 3", 3, KK_NOT_FINITE, 9, "'nan' is not a finite number");
    check_bad_vector("1 2 inf", 3, KK_NOT_FINITE, 11, "'inf'");
    check_bad_vector("1 2 -Infinity", 3, KK_NOT_FINITE, 11, "'-Infinity'");
    check_bad_vector("1e999", 1, KK_NOT_FINITE, 7, "'1e999'");
    check_bad_vector("-1e999", 1, KK_NOT_FINITE, 7, "'-1e999'");
    check_bad_vector("nano", 1, KK_SYNTAX, 7, "'nano' is not a number");
    check_bad_vector("0x10", 1, KK_SYNTAX, 7, "'0x10' is not a number");
    check_bad_vector("1.2.3", 1, KK_SYNTAX, 7, "'1.2.3' is not a number");
    check_bad_vector("1e", 1, KK_SYNTAX, 7, "'1e' is not a number");
    check_bad_vector("&#49; &#120;", 2, KK_SYNTAX, 13, "'x' is not a number");
    check_bad_vector("1;2", 2, KK_SYNTAX, 7, "'1;2' is not a number");
    check_bad_vector("--1", 1, KK_SYNTAX, 7, "'--1'");
}

KK_TEST(attributes_refuse_bad_words) {
    fixture f;
    fixture_open(&f, "<a i='1.5' j='12' k='99999999999999999999' b='yes' w='three' e='' t='1 2'/>");
    int64_t i = 5;
    bool b = true;
    int k = 9;
    static const kki_keyword words[] = {{"one", 1}, {"two", 2}, {NULL, 0}};
    KK_CHECK_EQ_INT(kki_read_int(&f.r, 0, "i", KKI_REQUIRED, 0, 9, &i), KK_SYNTAX);
    check_last(&f, KK_SYNTAX, 1, 7, "'1.5' is not a whole number");
    KK_CHECK_EQ_INT(kki_read_int(&f.r, 0, "j", KKI_REQUIRED, 0, 9, &i), KK_LIMIT_EXCEEDED);
    check_last(&f, KK_LIMIT_EXCEEDED, 1, 15, "12 is not between 0 and 9");
    KK_CHECK_EQ_INT(kki_read_int(&f.r, 0, "k", KKI_REQUIRED, 0, 9, &i), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(kki_read_int(&f.r, 0, "e", KKI_REQUIRED, 0, 9, &i), KK_SYNTAX);
    KK_CHECK_EQ_INT(kki_read_int(&f.r, 0, "t", KKI_REQUIRED, 0, 9, &i), KK_SYNTAX);
    KK_CHECK_EQ_INT(kki_read_bool(&f.r, 0, "b", KKI_REQUIRED, &b), KK_SYNTAX);
    check_last(&f, KK_SYNTAX, 1, 47, "'yes' is not known");
    KK_CHECK_EQ_INT(kki_read_keyword(&f.r, 0, "w", KKI_REQUIRED, words, &k), KK_SYNTAX);
    KK_CHECK_STR(f.diagnostics.item[f.diagnostics.count - 1].remedy, "write one of one, two");
    KK_CHECK(i == 5 && b && k == 9);
    kk_error error;
    KK_CHECK_EQ_INT(kki_diagnostics_outcome(&f.diagnostics, &error), KK_SYNTAX);
    KK_CHECK_STR(error.text, "attribute 'i' of <a>: '1.5' is not a whole number; write digits only");
    KK_CHECK_STR(error.file, "test.xml");
    fixture_close(&f);
}

KK_TEST(attributes_read_numbers_of_texts) {
    fixture f;
    fixture_open(&f, "<a>1 2\n 3<!-- x --> 4<b/>5\n <c>1\n x</c></a>");
    double v[8];
    size_t count;
    KK_CHECK_EQ_INT(kki_read_text_numbers(&f.r, 0, 8, v, &count), KK_OK);
    KK_CHECK(count == 5 && v[0] == 1 && v[2] == 3 && v[3] == 4 && v[4] == 5);
    KK_CHECK_EQ_INT(kki_read_text_numbers(&f.r, 0, 3, v, &count), KK_SIZE_MISMATCH);
    check_last(&f, KK_SIZE_MISMATCH, 2, 14, "text of <a>: too many numbers");
    KK_CHECK_EQ_INT(kki_read_text_numbers(&f.r, kki_xml_first(f.xml, 0, "c"), 8, v, &count), KK_SYNTAX);
    check_last(&f, KK_SYNTAX, 4, 2, "'x' is not a number");
    fixture_close(&f);
}

KK_TEST(unknown_names_are_reported_once) {
    fixture f;
    fixture_open(&f, "<r>\n<a x='1' q='2' p:z='3' xmlns='u'/>\n<a q='1'/><b q='1'/><c/>\n<c/></r>");
    static const char *const attributes[] = {"x", "y", NULL}, *const elements[] = {"a", "b", NULL};
    for (int32_t n = kki_xml_first(f.xml, 0, NULL); n != KKI_XML_NONE; n = kki_xml_next(f.xml, n, NULL)) {
        kki_report_unknown_attributes(&f.r, n, attributes);
    }
    kki_report_unknown_elements(&f.r, 0, elements);
    KK_CHECK_EQ_INT(f.diagnostics.count, 3);
    const kki_diagnostic *d = f.diagnostics.item;
    KK_CHECK_STR(d[0].text, "unknown attribute 'q' in <a> is ignored");
    KK_CHECK(d[0].line == 2 && d[0].column == 10 && d[0].repeats == 1);
    KK_CHECK_STR(d[1].text, "unknown attribute 'q' in <b> is ignored");
    KK_CHECK_STR(d[2].text, "unknown element 'c' in <r> is ignored");
    KK_CHECK(d[2].line == 3 && d[2].column == 21 && d[2].repeats == 1);
    KK_CHECK_EQ_INT(kki_diagnostics_outcome(&f.diagnostics, NULL), KK_OK);
    KK_CHECK_EQ_INT(f.diagnostics.counts[KKI_WARNING], 3);
    KK_CHECK_STR(kki_severity_name(d[0].severity), "warning");
    fixture_close(&f);
}

KK_TEST(diagnostics_are_bounded) {
    counter c = {.fail_at = -1};
    const kk_allocator allocator = counter_allocator(&c);
    kki_diagnostics list;
    KK_CHECK_EQ_INT(kki_diagnostics_create(&list, &allocator, 10), KK_OK);
    for (int i = 0; i < 25; i++) {
        const kki_finding finding = {KKI_ERROR, KK_SYNTAX, "f", i + 1, 1, "text", "remedy", (uint64_t)i + 1};
        KK_CHECK_EQ_INT(kki_diagnostics_add(&list, &finding), KK_SYNTAX);
    }
    KK_CHECK_EQ_INT(list.count, 10);
    KK_CHECK_EQ_INT(list.dropped, 15);
    KK_CHECK_EQ_INT(list.counts[KKI_ERROR], 25);
    kk_error error = {0};
    KK_CHECK_EQ_INT(kki_diagnostics_outcome(&list, &error), KK_SYNTAX);
    KK_CHECK_EQ_INT(error.line, 1);
    KK_CHECK_STR(error.text, "text; remedy");
    KK_CHECK_EQ_INT(kki_diagnostics_add_error(&list, &error), KK_SYNTAX);
    kki_diagnostics_destroy(&list);
    KK_CHECK_EQ_INT(c.blocks, 0);
    KK_CHECK_EQ_INT(c.bytes, 0);
}

KK_TEST(diagnostics_survive_failing_allocations) {
    for (int k = 0; k < 4; k++) {
        counter c = {.fail_at = k};
        const kk_allocator allocator = counter_allocator(&c);
        kki_diagnostics list;
        const kk_status status = kki_diagnostics_create(&list, &allocator, 0);
        KK_CHECK_EQ_INT(status, k < 2 ? KK_OUT_OF_MEMORY : KK_OK);
        for (int i = 0; i < 3 && status == KK_OK; i++) {
            const kki_finding finding = {KKI_ERROR, KK_IO, "f", i + 1, 1, "text", NULL, 0};
            kki_diagnostics_add(&list, &finding);
        }
        KK_CHECK_EQ_INT(list.count, status ? 0 : 2);
        KK_CHECK(status || list.first.line == 1);
        kki_diagnostics_destroy(&list);
        KK_CHECK_EQ_INT(c.blocks, 0);
    }
}
