// Text inside JSON: what must be escaped is, what is no UTF-8 is replaced, and everything else stays.
#include <karakuri/json.h>
#include <string.h>

#include "harness.h"

static const char *escaped(const char *text, char *out) {
    char bytes[KK_JSON_CHARACTER_SIZE];
    size_t count, length = 0;
    for (size_t n; (n = kk_json_character(text, bytes, &count)) > 0; text += n) {
        memcpy(out + length, bytes, count);
        length += count;
    }
    out[length] = 0;
    return out;
}

KK_TEST(json_text_is_escaped) {
    char out[200];
    KK_CHECK(strcmp(escaped("", out), "") == 0);
    KK_CHECK(strcmp(escaped("knee 2", out), "knee 2") == 0);
    KK_CHECK(strcmp(escaped("a\"b\\c\nd\te\x1f", out), "a\\\"b\\\\c\\nd\\u0009e\\u001f") == 0);
    KK_CHECK(strcmp(escaped("</script>", out), "\\u003c/script>") == 0);
    KK_CHECK(strcmp(escaped("膝ñ😀", out), "膝ñ😀") == 0);
}

// cut characters, long forms, surrogates and numbers above U+10FFFF are no UTF-8 (RFC 3629)
KK_TEST(json_text_is_utf8) {
    static const char *const wrong[] = {"\xff", "\x80", "\xc0", "\xc1", "\xe2", "\xf5"};
    char out[200];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        KK_CHECK(strcmp(escaped(wrong[i], out), "\xef\xbf\xbd") == 0);
    }
    KK_CHECK(strcmp(escaped("\xe0\x80\x80", out), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") == 0); // long form of U+0000
    KK_CHECK(strcmp(escaped("\xed\xa0\x80", out), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") == 0); // U+D800
    KK_CHECK(strcmp(escaped("\xf4\x90\x80\x80", out), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") == 0);
    KK_CHECK(strcmp(escaped("\xe2\x82x", out), "\xef\xbf\xbd\xef\xbf\xbdx") == 0); // cut before x
    KK_CHECK(strcmp(escaped("\xed\x9f\xbf", out), "\xed\x9f\xbf") == 0);           // U+D7FF, the last before them
}
