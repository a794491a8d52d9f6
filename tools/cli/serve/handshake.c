// See handshake.h.
#include "handshake.h"

#include <string.h>

void base64_add(cli_text *out, const uint8_t *b, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t v = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0);
        const char four[4] = {digits[v >> 18], digits[v >> 12 & 63], left > 1 ? digits[v >> 6 & 63] : '=',
                              left > 2 ? digits[v & 63] : '='};
        text_add_bytes(out, four, 4);
    }
}

// ---- SHA-1

static uint32_t turned(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

static void mix_block(uint32_t h[5], const uint8_t *p) {
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    }
    for (int i = 16; i < 80; i++) {
        w[i] = turned(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; i++) {
        const uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                           : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                           : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                    : (b ^ c ^ d) + 0xca62c1d6u;
        const uint32_t next = turned(a, 5) + f + e + w[i];
        e = d;
        d = c;
        c = turned(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1(const uint8_t *bytes, size_t size, uint8_t digest[20]) {
    uint32_t h[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    uint8_t tail[128] = {0};
    size_t done = 0;
    for (; done + 64 <= size; done += 64) {
        mix_block(h, bytes + done);
    }
    const size_t rest = size - done, end = rest + 9 <= 64 ? 64 : 128;
    memcpy(tail, bytes + done, rest);
    tail[rest] = 0x80;
    for (size_t i = 0; i < 8; i++) {
        tail[end - 1 - i] = (uint8_t)((uint64_t)size * 8 >> (8 * i));
    }
    for (size_t i = 0; i < end; i += 64) {
        mix_block(h, tail + i);
    }
    for (int i = 0; i < 20; i++) {
        digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

bool handshake_is_key(const char *key) {
    const size_t digits = strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    // sixteen bytes: 21 digits, one of which two bits alone count, and what fills up
    return digits == 22 && strchr("AQgw", key[21]) && strcmp(key + 22, "==") == 0;
}

void handshake_answer(const char *key, cli_text *out) {
    cli_text both = {0};
    uint8_t digest[20];
    text_format(&both, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    sha1((const uint8_t *)both.bytes, both.size, digest);
    base64_add(out, digest, sizeof digest);
    text_free(&both);
}
