// See message.h.
#include "message.h"

#include <string.h>

/// Reads the length; how many bytes the head has, 0: not all there.
static size_t head_size(const uint8_t *b, size_t size, uint64_t *length) {
    const int code = size > 1 ? b[1] & 127 : 0;
    const size_t more = code == 126 ? 2 : code == 127 ? 8 : 0, head = 2 + more + 4;
    if (size < head) {
        return 0;
    }
    *length = more ? 0 : (uint64_t)code;
    for (size_t i = 0; i < more; i++) {
        *length = *length << 8 | b[2 + i];
    }
    return head;
}

/// Whether a length that is known is written in as few bytes as it takes (RFC 6455, 5.2).
static bool is_shortest(const uint8_t *b, size_t head, uint64_t length) {
    const int code = b[1] & 127;
    return head == 0 || code < 126 || (code == 126 ? length > 125 : length > 65535 && length >> 63 == 0);
}

/// What is wrong with a frame's first bytes; 0: nothing. @param length  0 while it is not known
static int check_head(const message_reader *r, const uint8_t *b, uint64_t length) {
    const int kind = b[0] & 15;
    const bool is_last = b[0] & 128, is_control = kind >= 8;
    if ((b[0] & 0x70) || !(b[1] & 128)) { // reserved bits, not masked
        return 1002;
    }
    if (is_control) {
        return kind > 10 || !is_last || (b[1] & 127) > 125 ? 1002 : 0;
    }
    if (kind > 2 || (kind == 0) != r->is_open) {
        return 1002;
    }
    return kind == 2 ? 1003 : length > MESSAGE_MOST - r->text.size ? 1009 : 0;
}

static bool is_continued(const uint8_t *b, size_t n) {
    for (size_t i = 1; i < n; i++) {
        if ((b[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

/// Well-formed UTF-8: shortest forms, no surrogates, nothing above U+10FFFF.
static bool is_utf8(const uint8_t *b, size_t size) {
    for (size_t i = 0; i < size;) {
        const uint8_t c = b[i];
        const size_t n = c < 0x80                ? 1
                         : c >= 0xc2 && c < 0xe0 ? 2
                         : (c & 0xf0) == 0xe0    ? 3
                         : c >= 0xf0 && c < 0xf5 ? 4
                                                 : 0;
        if (n == 0 || i + n > size || !is_continued(b + i, n) || (c == 0xe0 && b[i + 1] < 0xa0) ||
            (c == 0xed && b[i + 1] >= 0xa0) || (c == 0xf0 && b[i + 1] < 0x90) || (c == 0xf4 && b[i + 1] >= 0x90)) {
            return false;
        }
        i += n;
    }
    return true;
}

static message failed(int code) {
    return (message){.error = code};
}

static message add_fragment(message_reader *r, uint8_t *data, size_t size, bool is_last, size_t used) {
    text_add_bytes(&r->text, (const char *)data, size);
    r->is_open = !is_last;
    if (!is_last) {
        return (message){.used = used};
    }
    if (!is_utf8((const uint8_t *)r->text.bytes, r->text.size)) {
        return failed(1007);
    }
    return (message){.kind = MESSAGE_TEXT, .data = (uint8_t *)r->text.bytes, .size = r->text.size, .used = used};
}

/// What is wrong with a close frame's code and reason (RFC 6455, 7.4); 0: nothing.
static int check_close(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    const int code = size > 1 ? data[0] << 8 | data[1] : 0;
    const bool is_known =
        (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
    return !is_known ? 1002 : is_utf8(data + 2, size - 2) ? 0 : 1007;
}

message message_read(message_reader *r, uint8_t *b, size_t size) {
    uint64_t length = 0;
    if (size < 2) {
        return (message){0};
    }
    const size_t head = head_size(b, size, &length);
    const int error = check_head(r, b, length);
    if (error || !is_shortest(b, head, length)) {
        return failed(error ? error : 1002);
    }
    if (head == 0 || size - head < length) {
        return (message){0};
    }
    const uint8_t mask[4] = {b[head - 4], b[head - 3], b[head - 2], b[head - 1]};
    for (uint64_t i = 0; i < length; i++) {
        b[head + i] ^= mask[i % 4];
    }
    const int kind = b[0] & 15;
    const size_t used = head + (size_t)length;
    if (kind < 8) {
        return add_fragment(r, b + head, (size_t)length, b[0] & 128, used);
    }
    const int farewell = kind == MESSAGE_CLOSE ? check_close(b + head, (size_t)length) : 0;
    return farewell ? failed(farewell)
                    : (message){.kind = kind, .data = b + head, .size = (size_t)length, .used = used};
}

void message_add(cli_text *out, message_kind kind, const void *data, size_t size) {
    uint8_t head[10] = {(uint8_t)(128 | kind)};
    size_t n = 2;
    if (size < 126) {
        head[1] = (uint8_t)size;
    } else if (size < 65536) {
        head[1] = 126;
        n = 4;
    } else {
        head[1] = 127;
        n = 10;
    }
    for (size_t i = 2; i < n; i++) {
        head[i] = (uint8_t)((uint64_t)size >> (8 * (n - 1 - i)));
    }
    text_add_bytes(out, (const char *)head, n);
    text_add_bytes(out, data, size);
}

void message_add_close(cli_text *out, int code) {
    const uint8_t data[2] = {(uint8_t)(code >> 8), (uint8_t)(code & 255)};
    message_add(out, MESSAGE_CLOSE, data, 2);
}
