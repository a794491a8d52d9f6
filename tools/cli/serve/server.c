// See server.h. A connection is a link: reads a request, gets its answer and ends; or becomes a socket.
#define _DEFAULT_SOURCE // getrandom, accept4
#define _XOPEN_SOURCE 700
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "handshake.h"

static const double REQUEST_SECONDS = 3; // to say what it wants
static const double ANSWER_SECONDS = 20; // to take a page
static const double MESSAGES_A_SECOND = 400, BYTES_A_SECOND = 2e6;
static const double DRAIN_SECONDS = 1;
enum {
    TEXT_WAITING = 1 << 18, // bytes of texts that may wait for one socket
    DRAINED_MOST = 1 << 21, // bytes thrown away
    SENT_KEPT = 1 << 17,    // bytes that the system keeps for a link: who does not take them is noticed soon
};

typedef enum link_state {
    LINK_FREE,
    LINK_REQUEST, ///< has not yet said all that it wants
    LINK_ANSWER,  ///< takes its last bytes, an answer or a close
    LINK_SOCKET,
    LINK_DRAIN ///< has got them; what it still sends is thrown away for a moment, lest they be lost with it
} link_state;

struct server_link {
    int fd;
    link_state state;
    double deadline;  ///< of the request, or of what waits; 0: none
    cli_text in, out; ///< out: what waits, of which `sent` is gone
    const char *body; ///< of an answer, behind `out`
    size_t body_size, sent, drained;
    message_reader reader;
    double message_room, byte_room, last_fill; ///< buckets that fill with time
};

// ---- opening

static int fail_socket(cli *c, server *s, const char *what) {
    const int code = cli_fail(c, CLI_EXIT_INPUT, "%s: %s", what, strerror(errno));
    server_close(s);
    return code;
}

static bool make_token(char token[SERVER_TOKEN + 1]) {
    uint8_t bytes[SERVER_TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

static bool set_nonblocking(int fd) {
    const int flags = fcntl(fd, F_GETFL, 0);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static void name_hosts(server *s, bool is_loopback) {
    snprintf(s->host[0], sizeof s->host[0], "%s:%d", s->address, s->port);
    if (is_loopback) {
        snprintf(s->host[1], sizeof s->host[1], "localhost:%d", s->port);
        snprintf(s->host[2], sizeof s->host[2], "127.0.0.1:%d", s->port);
    }
}

int server_open(cli *c, server *s, const char *address, int port, double patience, server_hooks hooks) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof at;
    const int yes = 1;
    *s = (server){.listener = -1, .hooks = hooks, .patience = patience};
    s->link = cli_allocate(SERVER_LINKS, sizeof *s->link);
    snprintf(s->address, sizeof s->address, "%s", address);
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1 || at.sin_addr.s_addr == htonl(INADDR_ANY)) {
        server_close(s);
        return cli_fail(c, CLI_EXIT_USAGE, "--listen: '%s' is not the IPv4 address of one interface, as 127.0.0.1",
                        address);
    }
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (s->listener < 0 || !set_nonblocking(s->listener) || !make_token(s->token)) {
        return fail_socket(c, s, "no socket");
    }
    setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(s->listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(s->listener, 128) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&at, &size) != 0) {
        return fail_socket(c, s, "the port cannot be had — try another with --port");
    }
    s->port = ntohs(at.sin_port);
    name_hosts(s, (ntohl(at.sin_addr.s_addr) >> 24) == 127);
    return 0;
}

static void end_link(server_link *l) {
    if (l->state != LINK_FREE) {
        close(l->fd);
        text_free(&l->in);
        text_free(&l->out);
        text_free(&l->reader.text);
        *l = (server_link){.fd = -1};
    }
}

void server_close(server *s) {
    for (int i = 0; i < SERVER_LINKS && s->link; i++) {
        end_link(&s->link[i]);
    }
    if (s->listener >= 0) {
        close(s->listener);
    }
    free(s->link);
    s->link = NULL;
    s->listener = -1;
}

void server_url(const server *s, cli_text *out) {
    text_format(out, "http://%s:%d/%s/", s->address, s->port, s->token);
}

// ---- writing

static size_t waiting(const server_link *l) {
    return l->out.size + l->body_size - l->sent;
}

static void forget_sent(server_link *l) {
    l->out.size = l->sent = l->body_size = 0;
    l->body = NULL;
    l->deadline = 0;
}

/// Writes what the other side takes; false where the link is over.
static bool write_some(server_link *l) {
    while (waiting(l) > 0) {
        const bool is_head = l->sent < l->out.size;
        const char *from = is_head ? l->out.bytes + l->sent : l->body + (l->sent - l->out.size);
        const size_t size = is_head ? l->out.size - l->sent : l->out.size + l->body_size - l->sent;
        const ssize_t n = send(l->fd, from, size, MSG_NOSIGNAL);
        if (n < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        }
        l->sent += (size_t)n;
    }
    forget_sent(l);
    if (l->state == LINK_ANSWER) {
        l->state = LINK_DRAIN;
        l->deadline = cli_now() + DRAIN_SECONDS;
        return shutdown(l->fd, SHUT_WR) == 0;
    }
    return true;
}

/// Sends what is there; what stays has to be gone by the deadline.
static void push(server_link *l, double seconds) {
    if (l->deadline == 0) {
        l->deadline = cli_now() + seconds;
    }
    if (!write_some(l)) {
        end_link(l);
    }
}

// ---- answers

static const char *reason(int status) {
    switch (status) {
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Bad Request";
    }
}

static void add_head(server_link *l, int status, const char *type, size_t size) {
    text_format(&l->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n", status, reason(status), type,
                size);
    text_add(
        &l->out,
        "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n"
        "Cross-Origin-Opener-Policy: same-origin\r\n"
        "Content-Security-Policy: default-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\r\n");
}

static void refuse(server *s, server_link *l, int status) {
    cli_text body = {0};
    text_format(&body, "%d %s\n", status, reason(status));
    add_head(l, status, "text/plain; charset=utf-8", body.size);
    text_add_bytes(&l->out, body.bytes, body.size);
    text_free(&body);
    s->counts.refused++;
    l->state = LINK_ANSWER;
    l->deadline = 0;
    push(l, ANSWER_SECONDS);
}

static void answer(server *s, server_link *l, const request *r, const char *path) {
    const server_answer a = s->hooks.get(s->hooks.user, path);
    if (!a.bytes) {
        refuse(s, l, 404);
        return;
    }
    add_head(l, 200, a.type, a.size);
    if (a.is_copied && !r->is_head) {
        text_add_bytes(&l->out, a.bytes, a.size);
    } else {
        l->body = a.bytes;
        l->body_size = r->is_head ? 0 : a.size;
    }
    s->counts.answered++;
    l->state = LINK_ANSWER;
    l->deadline = 0;
    push(l, ANSWER_SECONDS);
}

int server_socket_count(const server *s) {
    int count = 0;
    for (int i = 0; i < SERVER_LINKS; i++) {
        count += s->link[i].state == LINK_SOCKET;
    }
    return count;
}

static void open_socket(server *s, server_link *l, const request *r) {
    const int index = (int)(l - s->link);
    if (server_socket_count(s) >= SERVER_SOCKETS) {
        refuse(s, l, 503);
        return;
    }
    text_add(&l->out,
             "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ");
    handshake_answer(r->key, &l->out);
    text_add(&l->out, "\r\n\r\n");
    l->state = LINK_SOCKET;
    l->message_room = MESSAGES_A_SECOND;
    l->byte_room = BYTES_A_SECOND;
    l->last_fill = cli_now();
    l->deadline = 0;
    push(l, s->patience);
    if (l->state == LINK_SOCKET) {
        s->hooks.open(s->hooks.user, index);
    }
}

// ---- who may

/// Compares without telling by its time where they differ.
static bool is_token(const server *s, const char *word) {
    unsigned difference = 0;
    for (size_t i = 0; i < SERVER_TOKEN; i++) {
        if (!word[i]) {
            return false;
        }
        difference |= (unsigned char)word[i] ^ (unsigned char)s->token[i];
    }
    return difference == 0;
}

static bool is_host(const server *s, const char *host) {
    for (int i = 0; i < 3 && host; i++) {
        if (s->host[i][0] && strcasecmp(host, s->host[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_origin(const server *s, const char *origin) {
    return origin && strncmp(origin, "http://", 7) == 0 && is_host(s, origin + 7);
}

/// What a request gets instead of an answer; 0: it may.
static int check_request(const server *s, const request *r) {
    if (r->status) {
        return r->status;
    }
    if (!r->host) {
        return 400;
    }
    // a page of somebody else's may neither ask nor command, even if it has guessed the port
    if (!is_host(s, r->host) || (r->origin && !is_origin(s, r->origin)) || (r->wants_socket && !r->origin)) {
        return 403;
    }
    if (!is_token(s, r->path + 1) || r->path[1 + SERVER_TOKEN] != '/') {
        return 404;
    }
    const bool is_socket_good =
        r->key && handshake_is_key(r->key) && r->version && strcmp(r->version, "13") == 0 && !r->is_head;
    return r->wants_socket && !is_socket_good ? 400 : 0;
}

static void take_request(server *s, server_link *l) {
    request r;
    const size_t size = request_length(l->in.bytes, l->in.size);
    if (size == 0) {
        if (l->in.size >= REQUEST_MOST) {
            refuse(s, l, 431);
        }
        return;
    }
    request_parse(l->in.bytes, size, &r);
    const int status = check_request(s, &r);
    const char *path = status ? "" : r.path + 2 + SERVER_TOKEN;
    const bool is_live = r.wants_socket && strcmp(path, "socket") == 0;
    if (status || (r.wants_socket && !is_live)) {
        refuse(s, l, status ? status : 404);
    } else if (is_live) {
        // nothing may come before the answer
        const bool is_early = l->in.size > size;
        l->in.size = 0;
        if (is_early) {
            refuse(s, l, 400);
        } else {
            open_socket(s, l, &r);
        }
    } else {
        answer(s, l, &r, path);
    }
}

// ---- sockets

static void end_socket(server *s, server_link *l, int code) {
    message_add_close(&l->out, code);
    l->state = LINK_ANSWER;
    s->counts.dropped++;
    push(l, 1);
}

/// Fills the buckets, takes a message out of them; false where there are too many.
static bool may_send(server_link *l, size_t size) {
    const double now = cli_now(), passed = now - l->last_fill;
    l->last_fill = now;
    l->message_room += passed * MESSAGES_A_SECOND;
    l->byte_room += passed * BYTES_A_SECOND;
    l->message_room = (l->message_room > MESSAGES_A_SECOND ? MESSAGES_A_SECOND : l->message_room) - 1;
    l->byte_room = (l->byte_room > BYTES_A_SECOND ? BYTES_A_SECOND : l->byte_room) - (double)size;
    return l->message_room >= 0 && l->byte_room >= 0;
}

static void take_message(server *s, server_link *l, const message *m) {
    if (!may_send(l, m->used)) {
        end_socket(s, l, 1008);
    } else if (m->kind == MESSAGE_TEXT) {
        s->counts.messages++;
        s->hooks.message(s->hooks.user, (int)(l - s->link), (const char *)m->data, m->size);
        l->reader.text.size = 0;
    } else if (m->kind == MESSAGE_PING) {
        message_add(&l->out, MESSAGE_PONG, m->data, m->size);
        push(l, s->patience);
    } else if (m->kind == MESSAGE_CLOSE) {
        end_socket(s, l, 1000);
    }
}

static void take_messages(server *s, server_link *l) {
    size_t used = 0;
    while (l->state == LINK_SOCKET) {
        const message m = message_read(&l->reader, (uint8_t *)l->in.bytes + used, l->in.size - used);
        if (m.error) {
            end_socket(s, l, m.error);
            return;
        }
        if (m.used == 0) {
            break;
        }
        used += m.used;
        take_message(s, l, &m);
    }
    if (l->state == LINK_SOCKET) {
        memmove(l->in.bytes, l->in.bytes + used, l->in.size - used);
        l->in.size -= used;
    }
}

// ---- links

static void read_some(server *s, server_link *l) {
    char bytes[16384];
    const size_t most = l->state == LINK_REQUEST ? REQUEST_MOST - l->in.size : sizeof bytes;
    const ssize_t n = recv(l->fd, bytes, most < sizeof bytes ? most : sizeof bytes, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        end_link(l);
        return;
    }
    if (n < 0 || l->state == LINK_DRAIN) {
        l->drained += n > 0 ? (size_t)n : 0;
        if (l->drained > DRAINED_MOST) {
            end_link(l);
        }
        return;
    }
    text_add_bytes(&l->in, bytes, (size_t)n);
    if (l->state == LINK_REQUEST) {
        take_request(s, l);
    } else {
        take_messages(s, l);
    }
}

static server_link *free_link(server *s) {
    for (int i = 0; i < SERVER_LINKS; i++) {
        if (s->link[i].state == LINK_FREE) {
            return &s->link[i];
        }
    }
    return NULL;
}

/// Where all places are taken, the oldest that has not yet said what it wants makes room.
static server_link *make_room(server *s) {
    server_link *oldest = NULL;
    for (int i = 0; i < SERVER_LINKS; i++) {
        server_link *l = &s->link[i];
        const bool is_idle = l->state == LINK_REQUEST || l->state == LINK_DRAIN;
        oldest = is_idle && (!oldest || l->deadline < oldest->deadline) ? l : oldest;
    }
    if (oldest) {
        s->counts.dropped++;
        end_link(oldest);
    }
    return oldest;
}

/// Only so many at a time, so that the simulation gets its turn.
static void accept_some(server *s) {
    for (int i = 0; i < 32; i++) {
        const int fd = accept(s->listener, NULL, NULL), yes = 1, kept = SENT_KEPT;
        if (fd < 0) {
            return;
        }
        server_link *l = free_link(s);
        l = l ? l : make_room(s);
        if (!l || !set_nonblocking(fd)) {
            close(fd);
            s->counts.refused++;
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
        *l = (server_link){.fd = fd, .state = LINK_REQUEST, .deadline = cli_now() + REQUEST_SECONDS};
        s->counts.accepted++;
    }
}

static void end_overdue(server *s) {
    const double now = cli_now();
    for (int i = 0; i < SERVER_LINKS; i++) {
        server_link *l = &s->link[i];
        if (l->state != LINK_FREE && l->deadline > 0 && now > l->deadline) {
            s->counts.dropped += l->state != LINK_DRAIN;
            end_link(l);
        }
    }
}

static void serve_link(server *s, server_link *l, short events) {
    if (events & (POLLERR | POLLHUP | POLLNVAL) && !(events & POLLIN)) {
        end_link(l);
        return;
    }
    if (events & POLLOUT && !write_some(l)) {
        end_link(l);
    }
    if (events & POLLIN && l->state != LINK_FREE) {
        read_some(s, l);
    }
}

void server_poll(server *s, double seconds) {
    struct pollfd watched[SERVER_LINKS + 1];
    server_link *who[SERVER_LINKS + 1];
    nfds_t n = 0;
    watched[n++] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    for (int i = 0; i < SERVER_LINKS; i++) {
        server_link *l = &s->link[i];
        if (l->state == LINK_FREE) {
            continue;
        }
        const short in = l->state == LINK_ANSWER ? 0 : POLLIN;
        who[n] = l;
        watched[n++] = (struct pollfd){.fd = l->fd, .events = (short)(in | (waiting(l) ? POLLOUT : 0))};
    }
    const int ready = poll(watched, n, seconds > 0 ? (int)(1000 * seconds + 0.999) : 0);
    for (nfds_t i = 1; i < n && ready > 0; i++) {
        // a link that another one's message has ended is free by now
        if (watched[i].revents && who[i]->state != LINK_FREE && who[i]->fd == watched[i].fd) {
            serve_link(s, who[i], watched[i].revents);
        }
    }
    if (ready > 0 && watched[0].revents) {
        accept_some(s);
    }
    end_overdue(s);
}

// ---- sending

bool server_is_idle(const server *s, int index) {
    return s->link[index].state == LINK_SOCKET && waiting(&s->link[index]) == 0;
}

static void send_text(server *s, server_link *l, const char *text, size_t size) {
    if (waiting(l) > 0 && waiting(l) + size > TEXT_WAITING) {
        s->counts.dropped++;
        end_link(l);
        return;
    }
    message_add(&l->out, MESSAGE_TEXT, text, size);
    push(l, s->patience);
}

void server_send_text(server *s, int socket_index, const char *text, size_t size) {
    for (int i = 0; i < SERVER_LINKS; i++) {
        if (s->link[i].state == LINK_SOCKET && (socket_index < 0 || socket_index == i)) {
            send_text(s, &s->link[i], text, size);
        }
    }
}

void server_send_frame(server *s, const void *bytes, size_t size) {
    for (int i = 0; i < SERVER_LINKS; i++) {
        server_link *l = &s->link[i];
        if (l->state != LINK_SOCKET) {
            continue;
        }
        if (waiting(l)) {
            s->counts.skipped++;
            continue;
        }
        message_add(&l->out, MESSAGE_BYTES, bytes, size);
        s->counts.frames++;
        push(l, s->patience);
    }
}
