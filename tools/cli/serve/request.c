// HTTP/1.1 (RFC 9112), the part that browsers need for GET; see request.h.
#include "request.h"

#include <string.h>
#include <strings.h>

size_t request_length(const char *bytes, size_t size) {
    for (size_t i = 3; i < size; i++) {
        if (memcmp(bytes + i - 3, "\r\n\r\n", 4) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/// The next line, without its end; NULL where there is none.
static char *next_line(char **at, const char *end) {
    char *line = *at;
    for (char *p = line; p + 1 < end; p++) {
        if (p[0] == '\r' && p[1] == '\n') {
            *p = 0;
            *at = p + 2;
            return line;
        }
        // neither bare line feeds nor zeros nor other control characters
        if ((unsigned char)*p < 32 && *p != '\t') {
            return NULL;
        }
    }
    return NULL;
}

static void parse_first(char *line, request *r) {
    char *path = strchr(line, ' '), *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || strcmp(version + 1, "HTTP/1.1") != 0 || path[1] != '/') {
        r->status = 400;
        return;
    }
    *path++ = 0;
    *version = 0;
    r->is_head = strcmp(line, "HEAD") == 0;
    r->status = r->is_head || strcmp(line, "GET") == 0 ? 0 : 405;
    path[strcspn(path, "?#")] = 0;
    r->path = path;
    for (const char *p = path; *p; p++) {
        r->status = (unsigned char)*p <= 32 || (unsigned char)*p >= 127 ? 400 : r->status;
    }
}

/// A word of a list with commas between, in any case of letters.
static bool has_word(const char *list, const char *word) {
    const size_t n = strlen(word);
    while (*list) {
        list += strspn(list, " \t,");
        const size_t length = strcspn(list, " \t,");
        if (length == n && strncasecmp(list, word, n) == 0) {
            return true;
        }
        list += length;
    }
    return false;
}

/// Keeps a value that may be given only once.
static void keep(request *r, char **place, char *value) {
    r->status = *place ? 400 : r->status;
    *place = value;
}

static void parse_field(char *line, request *r, bool *upgrade, bool *connection) {
    char *colon = strchr(line, ':');
    if (!colon || colon == line || strcspn(line, " \t") < (size_t)(colon - line)) {
        r->status = 400;
        return;
    }
    *colon = 0;
    char *value = colon + 1 + strspn(colon + 1, " \t");
    for (size_t n = strlen(value); n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t'); n--) {
        value[n - 1] = 0;
    }
    if (strcasecmp(line, "Host") == 0) {
        keep(r, &r->host, value);
    } else if (strcasecmp(line, "Origin") == 0) {
        keep(r, &r->origin, value);
    } else if (strcasecmp(line, "Sec-WebSocket-Key") == 0) {
        keep(r, &r->key, value);
    } else if (strcasecmp(line, "Sec-WebSocket-Version") == 0) {
        keep(r, &r->version, value);
    } else if (strcasecmp(line, "Upgrade") == 0) {
        *upgrade = has_word(value, "websocket");
    } else if (strcasecmp(line, "Connection") == 0) {
        *connection = has_word(value, "Upgrade");
    } else if (strcasecmp(line, "Transfer-Encoding") == 0 ||
               (strcasecmp(line, "Content-Length") == 0 && strcmp(value, "0") != 0)) {
        r->status = 413; // nothing is to be sent here
    }
}

void request_parse(char *bytes, size_t size, request *r) {
    char *at = bytes, *line;
    const char *end = bytes + size;
    bool upgrade = false, connection = false;
    *r = (request){0};
    line = next_line(&at, end);
    if (!line) {
        r->status = 400;
        return;
    }
    parse_first(line, r);
    while (r->status == 0 && (line = next_line(&at, end)) && line[0]) {
        parse_field(line, r, &upgrade, &connection);
    }
    r->status = r->status ? r->status : line ? 0 : 400;
    r->wants_socket = upgrade && connection;
}
