/// Messages of a WebSocket (RFC 6455, 5): text in, text and bytes out. Whatever breaks the rules ends the connection with its code.
#ifndef KARAKURI_CLI_SERVE_MESSAGE_H
#define KARAKURI_CLI_SERVE_MESSAGE_H

#include <stdint.h>

#include "../text.h"

enum { MESSAGE_MOST = 65536, MESSAGE_HEAD = 14 };

typedef enum message_kind {
    MESSAGE_TEXT = 1,
    MESSAGE_BYTES = 2,
    MESSAGE_CLOSE = 8,
    MESSAGE_PING = 9,
    MESSAGE_PONG = 10
} message_kind;

/// What was read.
typedef struct message {
    int kind;      ///< 0: nothing whole yet
    int error;     ///< code to close with, 1002 …; 0: none
    uint8_t *data; ///< of a control frame in the bytes given, of a text in the reader
    size_t size;
    size_t used; ///< bytes taken
} message;

/// Collects the fragments of a text.
typedef struct message_reader {
    cli_text text;
    bool is_open; ///< a fragment came, the last one has not
} message_reader;

/// Takes one frame off the front of the bytes; unmasks them in place. A text is whole when `kind` says so; empty the reader behind it.
message message_read(message_reader *r, uint8_t *bytes, size_t size);
/// Adds a frame of a server, which is not masked.
void message_add(cli_text *out, message_kind kind, const void *data, size_t size);
/// Adds a close frame with a code.
void message_add_close(cli_text *out, int code);

#endif
