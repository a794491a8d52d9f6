// The JSON reader: RFC 8259, strictly.
#include "io/json.h"

#include <string.h>

#include "harness.h"

static kk_status parse(const char *text, kki_json *json, kk_error *error) {
    return kki_json_parse(text, strlen(text), "a.json", NULL, json, error);
}

KK_TEST(json_values) {
    kki_json json;
    const char *text =
        " {\"a\": [1, -2.5e3, true, false, null, \"x\\n\\u00e9\\\"\"], \"b\": {}, \"c\": [], \"d\": {\"e\": 7}}\n";
    KK_CHECK_EQ_INT(parse(text, &json, NULL), KK_OK);
    double x = 0;
    int64_t n = 0;
    const int32_t a = kki_json_member(&json, 0, "a");
    int32_t item = kki_json_first(&json, a);
    KK_CHECK_EQ_INT(kki_json_size(&json, a), 6);
    KK_CHECK(kki_json_index(&json, item, 10, &n) && n == 1);
    KK_CHECK(!kki_json_index(&json, item, 0, &n));
    item = kki_json_after(&json, a, item);
    KK_CHECK(kki_json_number(&json, item, &x) && x == -2500);
    KK_CHECK(!kki_json_index(&json, item, 10, &n));
    const kki_json_kind kinds[] = {KKI_JSON_TRUE, KKI_JSON_FALSE, KKI_JSON_NULL, KKI_JSON_STRING};
    for (int i = 0; i < 4; i++) {
        item = kki_json_after(&json, a, item);
        KK_CHECK(kki_json_is(&json, item, kinds[i]));
        KK_CHECK(!kki_json_number(&json, item, &x));
    }
    KK_CHECK_EQ_INT(kki_json_after(&json, a, item), KKI_JSON_NONE);
    KK_CHECK_EQ_INT(kki_json_first(&json, kki_json_member(&json, 0, "c")), KKI_JSON_NONE);
    KK_CHECK_EQ_INT(kki_json_size(&json, kki_json_member(&json, 0, "b")), 0);
    KK_CHECK(kki_json_number(&json, kki_json_member(&json, kki_json_member(&json, 0, "d"), "e"), &x) && x == 7);
    KK_CHECK_EQ_INT(kki_json_member(&json, 0, "f"), KKI_JSON_NONE);
    KK_CHECK_EQ_INT(kki_json_member(&json, a, "f"), KKI_JSON_NONE);
    KK_CHECK_EQ_INT(kki_json_member(&json, KKI_JSON_NONE, "f"), KKI_JSON_NONE);
    kki_json_free(&json);
}

KK_TEST(json_faults) {
    const struct {
        const char *text;
        int line, column;
    } rows[] = {
        {"", 1, 1},           {"  ", 1, 3},
        {"{", 1, 2},          {"[1,]", 1, 4},
        {"[1 2]", 1, 4},      {"[1}", 1, 3},
        {"{\"a\"}", 1, 5},    {"{\"a\":}", 1, 6},
        {"{\"a\":1,}", 1, 8}, {"{a:1}", 1, 2},
        {"{1:1}", 1, 2},      {"tru", 1, 1},
        {"[01]", 1, 2},       {"[+1]", 1, 2},
        {"[.5]", 1, 2},       {"[1.]", 1, 2},
        {"[1e]", 1, 2},       {"[-]", 1, 2},
        {"[NaN]", 1, 2},      {"\"abc", 1, 1},
        {"\"a\\x\"", 1, 3},   {"\"\\u12g4\"", 1, 2},
        {"\"a\tb\"", 1, 3},   {"1 2", 1, 3},
        {"[1]\n]", 2, 1},     {"\n\n [1,\n x]", 4, 2},
        {"\"\\", 1, 2},       {"{\"a\":1 \"b\":2}", 1, 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kki_json json;
        kk_error error = {0};
        KK_CHECK_EQ_INT(parse(rows[i].text, &json, &error), KK_SYNTAX);
        if (error.line != rows[i].line || error.column != rows[i].column) {
            KK_FAIL("'%s': %d:%d: %s", rows[i].text, error.line, error.column, error.text);
        }
    }
}

// depth is bounded: 64 brackets are fine, 65 are not, and a million do not touch the stack
KK_TEST(json_depth) {
    static char text[1000001];
    kki_json json;
    kk_error error = {0};
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    text[128] = 0;
    KK_CHECK_EQ_INT(parse(text, &json, &error), KK_OK);
    KK_CHECK_EQ_INT(json.count, 64);
    kki_json_free(&json);
    memset(text, '[', sizeof text - 1);
    KK_CHECK_EQ_INT(parse(text, &json, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK_EQ_INT(error.column, 65);
}
