// What the server reads from strangers: requests and messages, by the letter of their rules.
#include <stdio.h>
#include <string.h>

#include "cli/serve/handshake.h"
#include "cli/serve/message.h"
#include "cli/serve/request.h"
#include "harness.h"

// FIPS 180-4's examples, and the key of RFC 6455, 1.3
KK_TEST(serve_sha1_and_handshake) {
    static const struct {
        const char *text, *digest;
    } known[] = {
        {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"}};
    for (int i = 0; i < 3; i++) {
        uint8_t digest[20];
        char text[41];
        sha1((const uint8_t *)known[i].text, strlen(known[i].text), digest);
        for (int k = 0; k < 20; k++) {
            snprintf(text + 2 * k, 3, "%02x", digest[k]);
        }
        KK_CHECK(strcmp(text, known[i].digest) == 0);
    }
    cli_text answer = {0};
    handshake_answer("dGhlIHNhbXBsZSBub25jZQ==", &answer);
    KK_CHECK(strcmp(text_string(&answer), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") == 0);
    text_free(&answer);
}

// RFC 4648, 10
KK_TEST(serve_base64) {
    static const char *const known[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (int i = 0; i < 7; i++) {
        cli_text out = {0};
        base64_add(&out, (const uint8_t *)known[i][0], strlen(known[i][0]));
        KK_CHECK(strcmp(text_string(&out), known[i][1]) == 0);
        text_free(&out);
    }
}

static request parse(const char *text, char buffer[512]) {
    request r;
    const size_t size = strlen(text);
    memcpy(buffer, text, size);
    KK_CHECK_EQ_INT((int)request_length(buffer, size), (int)size);
    request_parse(buffer, size, &r);
    return r;
}

KK_TEST(serve_request_parts) {
    char b[512];
    request r = parse(
        "GET /a/b?c=d HTTP/1.1\r\nhOST:\t x:1 \r\nConnection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n\r\n", b);
    KK_CHECK_EQ_INT(r.status, 0);
    KK_CHECK(strcmp(r.path, "/a/b") == 0 && strcmp(r.host, "x:1") == 0 && r.wants_socket && !r.origin);
    KK_CHECK_EQ_INT(parse("POST / HTTP/1.1\r\nHost: x\r\n\r\n", b).status, 405);
    KK_CHECK_EQ_INT(parse("GET x HTTP/1.1\r\nHost: x\r\n\r\n", b).status, 400);
    KK_CHECK_EQ_INT(parse("GET / HTTP/1.0\r\nHost: x\r\n\r\n", b).status, 400);
    KK_CHECK_EQ_INT(parse("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", b).status, 400);
    KK_CHECK_EQ_INT(parse("GET / HTTP/1.1\r\nHost : x\r\n\r\n", b).status, 400);
    KK_CHECK_EQ_INT(parse("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n", b).status, 413);
    KK_CHECK_EQ_INT(parse("GET / HTTP/1.1\r\nHost: x\nY: z\r\n\r\n", b).status, 400);
    KK_CHECK_EQ_INT((int)request_length("GET / HTTP/1.1\r\n", 16), 0);
}

static size_t masked(uint8_t *out, int first, const char *text, size_t size) {
    const uint8_t mask[4] = {1, 2, 3, 250};
    out[0] = (uint8_t)first;
    out[1] = (uint8_t)(128 | size);
    memcpy(out + 2, mask, 4);
    for (size_t i = 0; i < size; i++) {
        out[6 + i] = (uint8_t)text[i] ^ mask[i % 4];
    }
    return 6 + size;
}

// a text in two parts with a ping between them, cut at every byte
KK_TEST(serve_message_in_parts) {
    uint8_t bytes[64];
    size_t n = masked(bytes, 1, "hel", 3);
    const size_t ping = n;
    n += masked(bytes + n, 128 | 9, "p", 1);
    n += masked(bytes + n, 128, "lo", 2);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t copy[64];
        message_reader r = {0};
        size_t used = 0;
        int texts = 0, pings = 0;
        memcpy(copy, bytes, n);
        for (int half = 0; half < 2; half++) {
            const size_t there = half ? n : cut;
            for (message m = message_read(&r, copy + used, there - used); m.used;
                 m = message_read(&r, copy + used, there - used)) {
                KK_CHECK_EQ_INT(m.error, 0);
                used += m.used;
                pings += m.kind == MESSAGE_PING && m.size == 1 && m.data[0] == 'p' && used > ping;
                texts += m.kind == MESSAGE_TEXT && m.size == 5 && memcmp(m.data, "hello", 5) == 0;
            }
        }
        KK_CHECK(used == n && texts == 1 && pings == 1);
        text_free(&r.text);
    }
}

// lengths of one, three and nine bytes, as RFC 6455 5.2 has them
KK_TEST(serve_message_heads) {
    static char data[70000];
    static const struct {
        size_t size, head;
        uint8_t second;
    } known[] = {{0, 2, 0}, {125, 2, 125}, {126, 4, 126}, {65535, 4, 126}, {65536, 10, 127}};
    for (int i = 0; i < 5; i++) {
        cli_text out = {0};
        message_add(&out, MESSAGE_BYTES, data, known[i].size);
        KK_CHECK(out.size == known[i].size + known[i].head && (uint8_t)out.bytes[0] == 130 &&
                 (uint8_t)out.bytes[1] == known[i].second);
        text_free(&out);
    }
}
