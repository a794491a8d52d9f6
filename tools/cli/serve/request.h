/// Requests of browsers, read strictly: what is not plainly a GET of ours is refused with a reason.
#ifndef KARAKURI_CLI_SERVE_REQUEST_H
#define KARAKURI_CLI_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_MOST = 8192 }; ///< bytes of a request's head

typedef struct request {
    char *path;                          ///< without what follows '?'
    char *host, *origin, *key, *version; ///< NULL: not given
    bool is_head, wants_socket;
    int status; ///< 0: good; else the answer that it gets, 400, 405, …
} request;

/// The length of the head with its empty line; 0: not all of it is there.
size_t request_length(const char *bytes, size_t size);
/// Cuts a head into its parts, in place. @param bytes  [size], size as request_length says
void request_parse(char *bytes, size_t size, request *r);

#endif
