/// Shortening text for messages.
#include "text.h"

#include <stdbool.h>
#include <string.h>

static bool is_continuation(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

int kki_whole_length(const char *text, int most) {
    int n = 0;
    while (n < most && text[n]) {
        n++;
    }
    while (n > 0 && text[n] && is_continuation(text[n])) {
        n--;
    }
    return n;
}

kki_short_text kki_shorten(const char *text, size_t length) {
    enum { ROOM = KKI_SHORT_TEXT_SIZE - 4 };
    kki_short_text result = {{0}};
    size_t n = length;
    if (length > ROOM) {
        n = ROOM;
        while (n > 0 && is_continuation(text[n])) {
            n--;
        }
    }
    memcpy(result.text, text, n);
    for (size_t i = 0; i < n; i++) {
        result.text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    }
    if (n < length) {
        memcpy(result.text + n, "...", 4);
    }
    return result;
}

kki_short_text kki_shorten_string(const char *text) {
    return text ? kki_shorten(text, strlen(text)) : kki_shorten("", 0); // a spec under way may have items without names
}
