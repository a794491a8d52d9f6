/// The answer to a WebSocket's key (RFC 6455, 4.2.2), and base64 for it and for saved pages.
#ifndef KARAKURI_CLI_SERVE_HANDSHAKE_H
#define KARAKURI_CLI_SERVE_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "../text.h"

/// Adds base64 of the bytes.
void base64_add(cli_text *out, const uint8_t *bytes, size_t size);
/// SHA-1 (FIPS 180-4); broken as a signature, and all that the protocol asks for.
void sha1(const uint8_t *bytes, size_t size, uint8_t digest[20]);
/// Whether a key is base64 of sixteen bytes, as every WebSocket's is.
bool handshake_is_key(const char *key);
/// base64(SHA-1(key + GUID)).
void handshake_answer(const char *key, cli_text *out);

#endif
