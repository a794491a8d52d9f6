// Text inside JSON; see karakuri/json.h.
#include <karakuri/json.h>
#include <string.h>

/// Length of the UTF-8 character at the start of a string, 0 where the bytes are none (RFC 3629).
static size_t character_length(const unsigned char *s) {
    const size_t n = s[0] < 0x80                   ? 1
                     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                   : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const int is_long = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const int is_outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f); // surrogates, above U+10FFFF
    return is_long || is_outside ? 0 : n;
}

static size_t put(char *out, const char *bytes, size_t count) {
    memcpy(out, bytes, count);
    return count;
}

size_t kk_json_character(const char *text, char out[KK_JSON_CHARACTER_SIZE], size_t *written) {
    static const char digits[] = "0123456789abcdef";
    const unsigned char *s = (const unsigned char *)text;
    const size_t n = character_length(s);
    if (!*s) {
        *written = 0;
        return 0;
    }
    if (n == 0) {
        *written = put(out, "\xef\xbf\xbd", 3);
    } else if (*s == '"' || *s == '\\') {
        *written = put(out, (const char[]){'\\', (char)*s}, 2);
    } else if (*s == '\n') {
        *written = put(out, "\\n", 2);
    } else if (*s < ' ' || *s == '<') {
        *written = put(out, (const char[]){'\\', 'u', '0', '0', digits[*s >> 4], digits[*s & 15]}, 6);
    } else {
        *written = put(out, text, n);
    }
    return n ? n : 1;
}
