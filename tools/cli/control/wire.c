// See wire.h.
#define _GNU_SOURCE // MSG_NOSIGNAL, strsignal, SOCK_CLOEXEC
#include "wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../columns.h"
#include "../tape.h"

static const double BLINK = 0.1; // s from one look at who waits to the next

// ---- opening

int wire_check(cli *c, const kk_model *model) {
    return kk_model_nactuator(model) > 0 ? 0
                                         : cli_fail(c, CLI_EXIT_USAGE,
                                                    "the model has no actuators, so there is nothing that a controller "
                                                    "could drive — --servos adds them to "
                                                    "a file that has none");
}

void wire_open(const kk_model *model, double patience, wire *w) {
    *w = (wire){.model = model, .socket = -1, .patience = patience, .name = "the controller"};
    w->signal_count = 1 + (size_t)(kk_model_nq(model) + kk_model_nv(model) + kk_model_nsensordata(model));
    w->control_count = (size_t)kk_model_nactuator(model);
    w->signals = cli_allocate(w->signal_count, sizeof *w->signals);
    w->controls = cli_allocate(w->control_count + 1, sizeof *w->controls);
}

void wire_take(wire *w, int socket, const char *name) {
    const struct timeval blink = {.tv_usec = (suseconds_t)(1e6 * BLINK)};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &blink, sizeof blink);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &blink, sizeof blink);
    w->socket = socket;
    w->name = name;
    w->lost[0] = 0;
}

static void run_child(int socket, const char *command) {
    char where[32];
    const int own = dup(socket); // this one is inherited, the other is closed by exec
    snprintf(where, sizeof where, "fd:%d", own);
    setenv("KARAKURI_CONTROL", where, 1);
    signal(SIGINT, SIG_IGN); // Ctrl-C is the run's, which then says goodbye
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

int wire_start(cli *c, wire *w, const char *command) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return cli_fail(c, CLI_EXIT_LIMIT, "no socket for the controller: %s", strerror(errno));
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        close(pair[0]);
        close(pair[1]);
        return cli_fail(c, CLI_EXIT_LIMIT, "the controller cannot be started: %s", strerror(errno));
    }
    if (child == 0) {
        run_child(pair[1], command);
    }
    close(pair[1]);
    w->child = child;
    wire_take(w, pair[0], command);
    return 0;
}

// ---- why it is gone

static void describe_end(int status, char *out, size_t size) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const int number = WIFSIGNALED(status) ? WTERMSIG(status)
                       : code > 128        ? code - 128
                                           : 0; // a shell says 128 + number
    if (number) {
        snprintf(out, size, "was ended by signal %d (%s)", number, strsignal(number));
    } else if (code == 127) {
        snprintf(out, size, "could not be started (code 127)");
    } else {
        snprintf(out, size, "ended with code %d", code);
    }
}

/// Waits so long for the child's end. @return whether it is there
static bool reap(wire *w, double seconds, int *status) {
    const struct timespec nap = {.tv_nsec = 1000000};
    for (double start = cli_now(); w->child;) {
        const pid_t ended = waitpid(w->child, status, WNOHANG);
        if (ended == w->child || (ended < 0 && errno == ECHILD)) {
            w->child = 0;
            return ended > 0;
        }
        if (cli_now() - start > seconds) {
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return false;
}

static bool lose(wire *w, const char *how) {
    int status = 0;
    if (w->child && reap(w, 2, &status)) {
        describe_end(status, w->lost, sizeof w->lost);
    } else {
        snprintf(w->lost, sizeof w->lost, "%s", how);
    }
    close(w->socket);
    w->socket = -1;
    return false;
}

// ---- bytes

typedef struct waiting {
    wire_idle *idle;
    void *user;
    double since;
} waiting;

/// Whether to wait on, after a call that moved nothing.
static bool wait_on(wire *w, const waiting *wait) {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        return lose(w, "is gone");
    }
    if (cli_is_interrupted()) {
        snprintf(w->lost, sizeof w->lost, "was not waited for");
        return false;
    }
    if (wait->idle && !wait->idle(wait->user)) {
        snprintf(w->lost, sizeof w->lost, "was not waited for");
        return false;
    }
    if (cli_now() - wait->since > w->patience) {
        char text[80];
        snprintf(text, sizeof text, "did not answer for %g s — --patience waits longer", w->patience);
        if (w->child) {
            kill(w->child, SIGKILL);
            reap(w, 2, &(int){0});
        }
        return lose(w, text);
    }
    return true;
}

static bool send_all(wire *w, const void *bytes, size_t size, waiting *wait) {
    const char *at = bytes;
    while (size > 0) {
        const ssize_t sent = send(w->socket, at, size, MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            size -= (size_t)sent;
        } else if (!wait_on(w, wait)) {
            return false;
        }
    }
    return true;
}

static bool receive_all(wire *w, void *bytes, size_t size, waiting *wait) {
    char *at = bytes;
    while (size > 0) {
        const ssize_t came = recv(w->socket, at, size, MSG_WAITALL);
        if (came > 0) {
            at += came;
            size -= (size_t)came;
        } else if (came == 0) {
            return lose(w, "has hung up");
        } else if (!wait_on(w, wait)) {
            return false;
        }
    }
    return true;
}

// ---- what is said

static void add_sensors(const kk_model *m, json_writer *json) {
    cli_text name = {0};
    for (int i = 0; i < kk_model_nsensor(m); i++) {
        const kk_sensor_info s = kk_model_sensor(m, i);
        for (int k = 0; k < s.count; k++) {
            name.size = 0;
            text_format(&name, s.name && s.name[0] ? "%s" : "%ssensor%d", s.name ? s.name : "", i);
            if (s.count > 1) {
                text_format(&name, ".%d", k);
            }
            json_string(json, NULL, text_string(&name));
        }
    }
    text_free(&name);
}

/// Names in the order of the numbers.
static void add_names(const wire *w, json_writer *json) {
    column_list list = {0};
    cli_text name = {0};
    columns_of_joints(w->model, COLUMN_Q, column_word(COLUMN_Q), &list);
    columns_of_joints(w->model, COLUMN_V, column_word(COLUMN_V), &list);
    json_begin_array(json, "signals");
    json_string(json, NULL, "time");
    for (int i = 0; i < list.count; i++) {
        json_string(json, NULL, list.item[i].name);
    }
    add_sensors(w->model, json);
    json_end(json);
    json_begin_array(json, "controls");
    for (int i = 0; i < kk_model_nactuator(w->model); i++) {
        actuator_label(w->model, i, &name);
        json_string(json, NULL, text_string(&name));
    }
    json_end(json);
    columns_free(&list);
    text_free(&name);
}

bool wire_greet(wire *w, double timestep) {
    json_writer json = {0};
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kk_model_hash(w->model));
    json_begin_object(&json, NULL);
    json_string(&json, "karakuri", KK_VERSION);
    json_string(&json, "model", kk_model_name(w->model));
    json_string(&json, "hash", hash);
    json_number(&json, "timestep", timestep);
    add_names(w, &json);
    json_end(&json);
    const size_t size = json.text.size;
    const unsigned char head[12] = {
        'K', 'K', 'C', 'T', 'R', 'L', '1', '\n', size & 255, size >> 8 & 255, size >> 16 & 255, size >> 24 & 255};
    waiting wait = {.since = cli_now()};
    const bool good = send_all(w, head, sizeof head, &wait) && send_all(w, json.text.bytes, size, &wait);
    json_free(&json);
    return good;
}

static void gather_signals(wire *w, const kk_state *state, const double *readings) {
    const size_t nq = (size_t)kk_model_nq(w->model), nv = (size_t)kk_model_nv(w->model);
    w->signals[0] = kk_state_time(state);
    memcpy(w->signals + 1, kk_state_q_const(state), nq * sizeof(double));
    memcpy(w->signals + 1 + nq, kk_state_v_const(state), nv * sizeof(double));
    if (w->signal_count > 1 + nq + nv) {
        memcpy(w->signals + 1 + nq + nv, readings, (w->signal_count - 1 - nq - nv) * sizeof(double));
    }
}

bool wire_exchange(wire *w, const kk_state *state, const double *readings, double *control, wire_idle *idle,
                   void *user) {
    if (w->socket < 0) {
        return false;
    }
    waiting wait = {idle, user, cli_now()};
    gather_signals(w, state, readings);
    if (!send_all(w, w->signals, w->signal_count * sizeof(double), &wait) ||
        !receive_all(w, w->controls, w->control_count * sizeof(double), &wait)) {
        return false;
    }
    memcpy(control, w->controls, w->control_count * sizeof(double));
    return true;
}

// ---- the end

/// A child that does not end by itself within its patience, or two seconds, is ended.
void wire_hang_up(wire *w) {
    int status = 0;
    if (w->socket >= 0) {
        close(w->socket);
        w->socket = -1;
    }
    if (w->child && !reap(w, w->patience < 2 ? w->patience : 2, &status) && w->child) {
        kill(w->child, SIGKILL);
        reap(w, 2, &status);
    }
}

void wire_close(wire *w) {
    if (!w->signals) {
        return;
    }
    wire_hang_up(w);
    free(w->signals);
    free(w->controls);
    *w = (wire){.socket = -1};
}
