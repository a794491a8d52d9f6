// See live.h. One thread: serve what asks, step what is due, send a frame; then wait for the next.
#define _XOPEN_SOURCE 700 // sigaction, clock_gettime
#include "live.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- what is asked for

static bool describe(live *l) {
    const char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    if (kk_session_describe(l->session, &text, &size, &error) != KK_OK) {
        return false;
    }
    l->description.size = 0;
    text_add_bytes(&l->description, text, size);
    return true;
}

/// "mesh/12" → 12; −1: none such.
static int number_behind(const char *path, const char *prefix) {
    const size_t n = strlen(prefix);
    int value = 0;
    if (strncmp(path, prefix, n) != 0 || !path[n] || strlen(path + n) > 6) {
        return -1;
    }
    for (const char *p = path + n; *p; p++) {
        if (*p < '0' || *p > '9') {
            return -1;
        }
        value = 10 * value + (*p - '0');
    }
    return value;
}

/// Meshes and height fields by number.
static server_answer get_part(live *l, const char *path) {
    const kk_model *m = kk_session_model(l->session);
    const int mesh = number_behind(path, "mesh/"), field = number_behind(path, "heights/");
    const size_t size = mesh >= 0 ? kk_view_mesh_size(m, mesh) : field >= 0 ? kk_view_height_field_size(m, field) : 0;
    if (size == 0) {
        return (server_answer){0};
    }
    l->part = cli_reallocate(l->part, size, 1);
    if (mesh >= 0) {
        kk_view_mesh(m, mesh, l->part, size);
    } else {
        kk_view_height_field(m, field, l->part, size);
    }
    return (server_answer){l->part, size, "application/octet-stream", true};
}

static server_answer get(void *user, const char *path) {
    live *l = user;
    if (!path[0] || strcmp(path, "index.html") == 0) {
        return (server_answer){l->index.bytes, l->index.size, "text/html; charset=utf-8", false};
    }
    if (l->session && strcmp(path, "description.json") == 0) {
        return (server_answer){l->description.bytes, l->description.size, "application/json", true};
    }
    if (l->session && (strncmp(path, "mesh/", 5) == 0 || strncmp(path, "heights/", 8) == 0)) {
        return get_part(l, path);
    }
    const asset *a = assets_find(l->page, path);
    return a ? (server_answer){text_string(&a->bytes), a->bytes.size, a->type, false} : (server_answer){0};
}

// ---- what is said

/// {"KEY": "TEXT"}
static void tell(live *l, int to, const char *key, const char *text) {
    json_writer json = {0};
    json_begin_object(&json, NULL);
    json_string(&json, key, text);
    json_end(&json);
    server_send_text(&l->server, to, json.text.bytes, json.text.size);
    json_free(&json);
}

static void greet(void *user, int to) {
    live *l = user;
    tell(l, to, "karakuri", KK_VERSION);
    l->described[to] = l->generation - 1; // it has none
    l->has_changed = true;
}

static void take_command(void *user, int from, const char *text, size_t size) {
    live *l = user;
    kk_error error = {0};
    if (!l->session) {
        tell(l, from, "error", "a recording takes no commands");
        return;
    }
    if (kk_session_command(l->session, text, size, &error) != KK_OK) {
        tell(l, from, "error", error.text[0] ? error.text : kk_status_text(error.status));
    }
    l->has_changed = true;
}

// ---- opening

int live_open(cli *c, live *l, kk_session *session, const assets *page, const char *saved, const live_options *o) {
    *l = (live){.c = c, .session = session, .page = page, .rate = o->rate, .step_cost = 1e-4};
    l->server.listener = -1;
    const server_hooks hooks = {l, get, greet, take_command};
    if (session) {
        const asset *index = assets_find(page, "index.html");
        text_add_bytes(&l->index, text_string(&index->bytes), index->bytes.size);
    } else {
        assets_film(page, saved, &l->index);
    }
    if (session && !describe(l)) {
        return cli_fail(c, CLI_EXIT_LIMIT, "the model cannot be described");
    }
    l->generation = session ? kk_session_generation(session) : 0;
    return server_open(c, &l->server, o->listen, o->port, o->patience, hooks);
}

void live_close(live *l) {
    server_close(&l->server);
    text_free(&l->index);
    text_free(&l->description);
    free(l->part);
}

// ---- running

/// Steps for the time that has passed, but no longer than a frame and a half lasts: what cannot keep up gets slower, not deaf.
static int advance(live *l, double seconds) {
    const double start = cpu_time(), most = 1.5 / l->rate / l->step_cost;
    const int taken = kk_session_advance(l->session, seconds, most < 1 ? 1 : most > 100000 ? 100000 : (int)most);
    const double took = cpu_time() - start;
    l->simulate_cpu += took;
    l->steps += taken;
    if (taken > 0) {
        l->step_cost += 0.2 * (took / taken - l->step_cost);
        l->step_cost = l->step_cost < 1e-7 ? 1e-7 : l->step_cost;
    }
    return taken;
}

/// The description to every socket that has an older one, as soon as it takes it: a slider that is moved makes many.
static void send_descriptions(live *l) {
    cli_text text = {0};
    for (int i = 0; i < SERVER_LINKS; i++) {
        if (l->described[i] != l->generation && server_is_idle(&l->server, i)) {
            text.size = 0;
            text_format(&text, "{\"description\":%s}", text_string(&l->description));
            l->described[i] = l->generation;
            server_send_text(&l->server, i, text.bytes, text.size);
        }
    }
    text_free(&text);
}

static void send_news(live *l, const void *frame) {
    uint32_t notice;
    memcpy(&notice, (const char *)frame + 28, sizeof notice); // see kk_view_frame
    if (kk_session_generation(l->session) != l->generation && describe(l)) {
        l->generation = kk_session_generation(l->session);
    }
    send_descriptions(l);
    if (notice != l->notice) {
        l->notice = notice;
        tell(l, -1, "notice", kk_session_notice(l->session));
    }
}

static void show(live *l) {
    const void *bytes = NULL;
    size_t size = 0;
    kk_error error = {0};
    if (server_socket_count(&l->server) > 0 && kk_session_frame(l->session, &bytes, &size, &error) == KK_OK) {
        send_news(l, bytes);
        server_send_frame(&l->server, bytes, size);
    }
    l->has_changed = false;
}

void live_look(live *l, double wait) {
    server_poll(&l->server, wait);
    show(l);
}

void live_run(live *l, double seconds) {
    const double start = cli_now();
    double last = start, next = start;
    cli_catch_interrupts();
    while (!cli_is_interrupted() && (seconds <= 0 || cli_now() < start + seconds)) {
        double before = cpu_time();
        server_poll(&l->server, next - cli_now());
        l->stream_cpu += cpu_time() - before;
        const double now = cli_now();
        if (now < next) {
            continue;
        }
        // late by more than a frame: no hurry afterwards
        next = next + 1 / l->rate < now ? now + 1 / l->rate : next + 1 / l->rate;
        if (l->session) {
            const int taken = advance(l, now - last < 0.25 ? now - last : 0.25);
            before = cpu_time();
            if (taken > 0 || l->has_changed) {
                show(l);
            }
            l->stream_cpu += cpu_time() - before;
        }
        last = now;
    }
    l->wall = cli_now() - start;
}
