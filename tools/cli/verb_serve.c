// karakuri serve MODEL: a simulation that waits for controllers, one after the other, each in lock step with it; and a page that shows the run.
#define _GNU_SOURCE // accept4, SOCK_CLOEXEC
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli.h"
#include "control/wire.h"
#include "load.h"
#include "serve/live.h"
#include "shared_options.h"

typedef struct serve_options {
    const char *model, *listen, *page, *keyframe;
    int64_t port, runs;
    double time, pace, rate, patience;
    bool no_page;
} serve_options;

static const serve_options defaults = {.listen = "unix:karakuri.sock", .rate = 60, .patience = 10};

static const cli_option arguments[] = {
    ARGUMENT_MODEL(serve_options),
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "listen",
     .kind = CLI_TEXT,
     .offset = offsetof(serve_options, listen),
     .value = "WHERE",
     .about =
         "for controllers: unix:PATH (default unix:karakuri.sock) or tcp:IPv4:PORT. Whoever reaches that may drive the "
         "robot, and it goes unencrypted"},
    {.name = "time",
     .letter = 't',
     .kind = CLI_NUMBER,
     .offset = offsetof(serve_options, time),
     .value = "T",
     .low = 1e-9,
     .high = 1e9,
     .about = "simulated time of a run, in s; without it a run lasts until its controller hangs up"},
    {.name = "runs",
     .kind = CLI_COUNT,
     .offset = offsetof(serve_options, runs),
     .value = "N",
     .low = 1,
     .high = 1e9,
     .about = "controllers to serve, each from the start; without it until Ctrl-C"},
    {.name = "pace",
     .kind = CLI_NUMBER,
     .offset = offsetof(serve_options, pace),
     .value = "FACTOR",
     .low = 1e-6,
     .high = 1e6,
     .about = "no faster than so many times real time; without it as fast as the controller answers"},
    {.name = "patience",
     .kind = CLI_NUMBER,
     .offset = offsetof(serve_options, patience),
     .value = "S",
     .low = 1e-3,
     .high = 1e9,
     .about = "how long to wait for an answer of a controller, in s (default 10)"},
    OPTION_KEYFRAME(serve_options, "start from this keyframe of the model; without it the first"),
    {.name = "port",
     .letter = 'p',
     .kind = CLI_COUNT,
     .offset = offsetof(serve_options, port),
     .value = "N",
     .low = 0,
     .high = 65535,
     .about = "of the page, on this machine alone (default any that is free)"},
    {.name = "rate",
     .kind = CLI_NUMBER,
     .offset = offsetof(serve_options, rate),
     .value = "N",
     .low = 1,
     .high = 240,
     .about = "frames of the page a second (default 60)"},
    {.name = "page",
     .kind = CLI_FOLDER,
     .offset = offsetof(serve_options, page),
     .value = "DIR",
     .about = "folder of another page, with index.html"},
    {.name = "no-page", .kind = CLI_FLAG, .offset = offsetof(serve_options, no_page), .about = "show nothing"},
    {.name = NULL},
};

typedef struct job {
    cli *c;
    const serve_options *o;
    kk_session *session;
    live live;
    bool has_page;
    int listener, kind; ///< kind: AF_UNIX or AF_INET
    const char *path;   ///< of the socket; NULL: none
    wire wire;
    double next_frame;
} job;

// ---- the door for controllers

static int fail_listen(const job *j, const char *why) {
    return cli_fail(j->c, CLI_EXIT_USAGE, "--listen %s: %s", j->o->listen, why);
}

/// A socket of a server that is no more is taken away; one that is alive, and any other file, is not.
static void clear_path(const struct sockaddr_un *at) {
    struct stat found;
    const bool is_socket = lstat(at->sun_path, &found) == 0 && S_ISSOCK(found.st_mode);
    const int probe = is_socket ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (probe >= 0) {
        if (connect(probe, (const struct sockaddr *)at, sizeof *at) != 0 && errno == ECONNREFUSED) {
            unlink(at->sun_path);
        }
        close(probe);
    }
}

static int listen_unix(job *j, const char *path) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!path[0] || strlen(path) >= sizeof at.sun_path) {
        return fail_listen(j, "the path is empty or too long");
    }
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    clear_path(&at);
    j->kind = AF_UNIX;
    j->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (j->listener < 0 || bind(j->listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(j->listener, 4) != 0) {
        return fail_listen(j, strerror(errno));
    }
    j->path = path;
    return 0;
}

static int listen_tcp(job *j, const char *where) {
    char address[64];
    struct sockaddr_in at = {.sin_family = AF_INET};
    const char *colon = strrchr(where, ':');
    char *end = NULL;
    const long port = colon ? strtol(colon + 1, &end, 10) : -1;
    const size_t length = colon ? (size_t)(colon - where) : 0;
    if (!colon || !colon[1] || *end || port < 1 || port > 65535 || length >= sizeof address) {
        return fail_listen(j, "write tcp:127.0.0.1:PORT");
    }
    memcpy(address, where, length);
    address[length] = 0;
    at.sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1) {
        return fail_listen(j, "that is no IPv4 address, as 127.0.0.1");
    }
    const int yes = 1;
    j->kind = AF_INET;
    j->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(j->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (j->listener < 0 || bind(j->listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(j->listener, 4) != 0) {
        return fail_listen(j, strerror(errno));
    }
    return 0;
}

static int open_door(job *j) {
    const char *where = j->o->listen;
    return strncmp(where, "unix:", 5) == 0  ? listen_unix(j, where + 5)
           : strncmp(where, "tcp:", 4) == 0 ? listen_tcp(j, where + 4)
                                            : fail_listen(j, "write unix:PATH or tcp:127.0.0.1:PORT");
}

// ---- what is shown

static void look(job *j, double wait) {
    if (j->has_page) {
        live_look(&j->live, wait);
    } else if (wait > 0) {
        poll(NULL, 0, (int)(1000 * wait) + 1);
    }
    j->next_frame = cli_now() + 1 / j->o->rate;
}

/// While an answer is waited for, the page goes on being served.
static bool idle(void *user) {
    job *j = user;
    look(j, 0);
    return true;
}

/// The next controller's socket; −1 after Ctrl-C.
static int wait_for_controller(job *j) {
    while (!cli_is_interrupted()) {
        const int socket = accept4(j->listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket >= 0) {
            const int yes = 1;
            if (j->kind == AF_INET) {
                setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            }
            return socket;
        }
        look(j, 0.02);
    }
    return -1;
}

// ---- a run

typedef struct outcome {
    long steps;
    double wall;
    char end[240];
} outcome;

/// Waits until the simulated time is due, and while the page has the session paused.
static void keep_pace(job *j, double start, double began) {
    while (!cli_is_interrupted()) {
        const double now = cli_now(), time = kk_state_time(kk_session_state(j->session)) - began;
        const double early = j->o->pace > 0 ? start + time / j->o->pace - now : 0;
        const bool is_paused = kk_session_is_paused(j->session);
        if (!is_paused && early <= 0) {
            break;
        }
        look(j, is_paused || early > 0.02 ? 0.02 : early);
    }
    if (cli_now() >= j->next_frame) {
        look(j, 0);
    }
}

static bool step(job *j, outcome *o) {
    kk_session *s = j->session;
    kk_error error = {0};
    if (!wire_exchange(&j->wire, kk_session_state(s), kk_session_sensor_data(s), kk_session_control(s), idle, j)) {
        snprintf(o->end, sizeof o->end, "the controller %s",
                 cli_is_interrupted() ? "was let go"
                 : j->wire.lost[0]    ? j->wire.lost
                                      : "is gone");
        return false;
    }
    if (kk_session_step(s, 1, &error) != KK_OK) {
        snprintf(o->end, sizeof o->end, "a step failed: %.200s",
                 error.text[0] ? error.text : kk_status_text(error.status));
        return false;
    }
    o->steps++;
    return true;
}

static void run_controller(job *j, int socket, outcome *o) {
    static const char reset[] = "[{\"do\": \"reset\"}, {\"do\": \"play\"}]";
    kk_session *s = j->session;
    kk_error error = {0};
    *o = (outcome){0};
    const double start = cli_now();
    if (kk_session_command(s, reset, strlen(reset), &error) != KK_OK) {
        snprintf(o->end, sizeof o->end, "the start cannot be had: %.200s", error.text);
        close(socket);
        return;
    }
    const double began = kk_state_time(kk_session_state(s)), dt = kk_model_options(kk_session_model(s)).timestep;
    wire_open(kk_session_model(s), j->o->patience, &j->wire);
    wire_take(&j->wire, socket, "the controller");
    bool goes_on = wire_greet(&j->wire, dt);
    while (goes_on && !(j->o->time > 0 && kk_state_time(kk_session_state(s)) - began > j->o->time - 0.5 * dt)) {
        keep_pace(j, start, began);
        goes_on = step(j, o);
    }
    o->wall = cli_now() - start;
    wire_close(&j->wire);
    look(j, 0);
}

/// A document on one line: whoever reads us reads lines.
static void print_line(const cli_text *text) {
    for (const char *at = text_string(text); *at; at++) {
        if (*at == '\n') {
            at += strspn(at + 1, " ");
        }
        putchar(*at == '\n' ? ' ' : *at);
    }
    putchar('\n');
}

static void tell_run(const job *j, const outcome *o) {
    const kk_state *state = kk_session_state(j->session);
    const double rate = o->wall > 0 ? (double)o->steps / o->wall : 0;
    if (j->c->common.json) {
        json_writer json = {0};
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kk_state_hash(state));
        json_begin_object(&json, NULL);
        json_integer(&json, "steps", o->steps);
        json_number(&json, "time", kk_state_time(state));
        json_number(&json, "round_trips_a_second", rate);
        json_string(&json, "state_hash", hash);
        json_string(&json, "end", o->end);
        json_end(&json);
        print_line(&json.text);
        json_free(&json);
    } else {
        printf("%ld steps to %.6g s, %.4g a second, state %016llx%s%s\n", o->steps, kk_state_time(state), rate,
               (unsigned long long)kk_state_hash(state), o->end[0] ? ": " : "", o->end);
    }
    fflush(stdout);
}

// ---- all of it

static int open_session(job *j) {
    cli_model m;
    kk_error error = {0};
    int code = load_model(j->c, j->o->model, &m);
    if (code) {
        return code;
    }
    int keyframe = -1;
    code = load_keyframe(j->c, m.model, j->o->keyframe, &keyframe);
    code = code ? code : wire_check(j->c, m.model);
    if (!code) {
        const kk_session_def def = {.keyframe = keyframe + 1};
        error.status = kk_session_create(m.spec, &def, NULL, &j->session, &error);
        m.spec = error.status ? m.spec : NULL; // the session's now
        code = error.status ? cli_fail_error(j->c, &error) : 0;
    }
    unload_model(&m);
    return code;
}

static int open_page(job *j, const assets *page) {
    const live_options options = {"127.0.0.1", (int)j->o->port, j->o->rate, 15};
    if (j->o->no_page) {
        return 0;
    }
    const int code = live_open(j->c, &j->live, j->session, page, "", &options);
    j->has_page = true;
    return code;
}

static void announce(const job *j) {
    cli_text url = {0};
    if (j->has_page) {
        server_url(&j->live.server, &url);
    }
    if (j->c->common.json) {
        printf("{\"listen\": \"%s\", \"url\": \"%s\"}\n", j->o->listen, text_string(&url));
    } else {
        printf("controllers: KARAKURI_CONTROL=%s\n%s%s%s", j->o->listen, url.size ? "page:        " : "",
               text_string(&url), url.size ? "\n" : "");
    }
    fflush(stdout);
    text_free(&url);
}

static void serve(job *j) {
    cli_catch_interrupts();
    for (int64_t i = 0; i < j->o->runs || j->o->runs == 0; i++) {
        const int socket = wait_for_controller(j);
        if (socket < 0) {
            return;
        }
        outcome o;
        run_controller(j, socket, &o);
        tell_run(j, &o);
    }
}

static void release(job *j) {
    if (j->has_page) {
        live_close(&j->live);
    }
    if (j->listener >= 0) {
        close(j->listener);
    }
    if (j->path) {
        unlink(j->path);
    }
    kk_session_free(j->session);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options, .listener = -1};
    assets page = {0};
    int code = j.o->no_page ? 0 : assets_read(c, j.o->page, &page);
    code = code ? code : open_session(&j);
    code = code ? code : open_page(&j, &page);
    code = code ? code : open_door(&j);
    if (!code) {
        announce(&j);
        serve(&j);
    }
    release(&j);
    if (!j.o->no_page) {
        assets_free(&page);
    }
    return code ? code : cli_end_interrupted(c, 0, "every run that was told is whole");
}

static const char *const details[] = {
    "Controllers connect to a socket, learn the names of signals and controls, and are asked for the controls before "
    "every step: the simulation waits for them, so the result does not depend on how fast they are. The page shows the "
    "same run, and may pause it, push and drag.",
    "docs/guide/controller.md has the protocol, and clients of sixty lines in C and Python: python -m karakuri.control "
    "SCRIPT.py. To start a controller with the run, see 'karakuri run --controller'.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri serve robot.xml --pace 1", "in real time, until Ctrl-C"},
    {"karakuri serve robot.xml --listen tcp:127.0.0.1:7007 --runs 1 -t 10", "one run of ten seconds"},
    {NULL, NULL},
};

const cli_verb cli_verb_serve = {
    .name = "serve",
    .about = "simulate for controllers in other processes, in lock step, with a page that watches",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(serve_options),
    .defaults = &defaults,
    .run = run,
};
