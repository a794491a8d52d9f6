// A client of `karakuri run --controller` and `karakuri serve`: C99 and sockets, nothing of Karakuri. The protocol is in docs/guide/controller.md.
// clang-format off
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct robot {
    int socket, signal_count, control_count;
    double *signal, *control; // in the order of their names
    char *about;              // JSON: {"timestep": …, "signals": ["time", "knee.q", …], "controls": ["motor", …]}
} robot;

// Where a name stands in a list of the greeting, and with NULL how many there are; -1: there is none.
static inline int robot_find(const robot *r, const char *list, const char *name) {
    const char *at = strchr(strstr(strstr(r->about, "\"timestep\""), list), '[') + 1;
    for (int k = 0;; k++) {
        at += strspn(at, " \n,");
        if (*at != '"') return name ? -1 : k;
        const size_t length = strcspn(++at, "\"");
        if (name && strlen(name) == length && strncmp(at, name, length) == 0) return k;
        at += length + 1;
    }
}

// fd:N, unix:PATH or tcp:ADDRESS:PORT → a socket, or -1
static inline int robot_connect(const char *where) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in net = {.sin_family = AF_INET};
    char address[64] = "";
    int port = 0, fd = -1;
    if (sscanf(where, "fd:%d", &fd) == 1) return fd;
    const int is_tcp = sscanf(where, "tcp:%63[^:]:%d", address, &port) == 2;
    snprintf(path.sun_path, sizeof path.sun_path, "%s", is_tcp ? "" : strchr(where, ':') + 1);
    net.sin_port = htons((uint16_t)port);
    net.sin_addr.s_addr = inet_addr(address);
    fd = socket(is_tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    return connect(fd, is_tcp ? (void *)&net : (void *)&path, is_tcp ? sizeof net : sizeof path) == 0 ? fd : -1;
}

// 0 where the engine greets; it is where KARAKURI_CONTROL says.
static inline int robot_open(robot *r) {
    struct { char magic[8]; uint32_t size; } head; // little endian, as the numbers are
    r->socket = getenv("KARAKURI_CONTROL") ? robot_connect(getenv("KARAKURI_CONTROL")) : -1;
    if (recv(r->socket, &head, sizeof head, MSG_WAITALL) != 12 || memcmp(head.magic, "KKCTRL1\n", 8) != 0) return -1;
    r->about = calloc(head.size + 1, 1);
    if (recv(r->socket, r->about, head.size, MSG_WAITALL) != (ssize_t)head.size) return -1;
    r->signal = calloc((size_t)(r->signal_count = robot_find(r, "\"signals\"", NULL)), sizeof(double));
    r->control = calloc((size_t)(r->control_count = robot_find(r, "\"controls\"", NULL)), sizeof(double));
    return 0;
}

// Waits for the next question; 0 when the engine has hung up. Write `control`, then answer.
static inline int robot_wait(robot *r) {
    return recv(r->socket, r->signal, (size_t)r->signal_count * 8, MSG_WAITALL) == r->signal_count * 8;
}
static inline void robot_answer(robot *r) { send(r->socket, r->control, (size_t)r->control_count * 8, MSG_NOSIGNAL); }
