/// A small server for one page on this machine: files from memory by exact name, and WebSockets. One thread, no blocking call, bounded
/// memory: every connection has its deadline, its caps, and its own end when it breaks a rule.
///
/// Every path begins with a random token, which is the right to look and to command. Host must be ours, so that no name of somebody else's
/// leads here, and so must Origin, so that no other page talks to us.
#ifndef KARAKURI_CLI_SERVE_SERVER_H
#define KARAKURI_CLI_SERVE_SERVER_H

#include "../cli.h"
#include "message.h"
#include "request.h"

enum {
    SERVER_LINKS = 64,  ///< connections at a time; others are closed at once
    SERVER_SOCKETS = 8, ///< of them WebSockets
    SERVER_TOKEN = 32,  ///< hexadecimal digits
};

/// What a GET gets. Bytes stay as they are as long as the server lives, or are copied.
typedef struct server_answer {
    const void *bytes; ///< NULL: not found
    size_t size;
    const char *type;
    bool is_copied; ///< they may change behind this call
} server_answer;

/// Who answers.
typedef struct server_hooks {
    void *user;
    /// @param path  behind the token, without a leading slash: "" is the page
    server_answer (*get)(void *user, const char *path);
    /// A socket was opened; it may be sent to.
    void (*open)(void *user, int socket);
    void (*message)(void *user, int socket, const char *text, size_t size);
} server_hooks;

typedef struct server_link server_link;

/// What happened so far.
typedef struct server_counts {
    long accepted, refused, answered, messages, dropped, frames, skipped;
} server_counts;

typedef struct server {
    int listener, port;
    char address[64], token[SERVER_TOKEN + 1], host[3][80]; ///< host: what Host may say
    server_link *link;                                      ///< [SERVER_LINKS]
    server_hooks hooks;
    double patience; ///< s
    server_counts counts;
} server;

/// @param address  IPv4, to listen at    @param port  0: any that is free    @param patience  with a socket that takes nothing, s
int server_open(cli *c, server *s, const char *address, int port, double patience, server_hooks hooks);
void server_close(server *s);
/// Adds http://ADDRESS:PORT/TOKEN/ to a text.
void server_url(const server *s, cli_text *out);
/// Serves what there is to serve, for at most so long, in s.
void server_poll(server *s, double seconds);
/// Open sockets.
int server_socket_count(const server *s);
/// Whether a socket is open and has nothing waiting. @param socket  0 … SERVER_LINKS − 1
bool server_is_idle(const server *s, int socket);
/// Sends a text to a socket, or to all with −1; one that has too much waiting is dropped.
void server_send_text(server *s, int socket, const char *text, size_t size);
/// Sends a frame to every socket that has nothing waiting; the others miss it.
void server_send_frame(server *s, const void *bytes, size_t size);

#endif
