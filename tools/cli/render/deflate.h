/// Deflate (RFC 1951) in a zlib stream (RFC 1950), for pictures: enough compression to put them into a repository, no dependency.
#ifndef KARAKURI_CLI_RENDER_DEFLATE_H
#define KARAKURI_CLI_RENDER_DEFLATE_H

#include <stdint.h>

#include "../text.h"

/// Adds a whole zlib stream of the bytes.
void deflate_zlib(cli_text *out, const uint8_t *bytes, size_t size);

#endif
