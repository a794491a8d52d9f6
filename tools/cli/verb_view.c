// karakuri view MODEL|RECORDING: a page on this machine that shows a simulation under way and steers it; or one file that shows a recording.
#define _XOPEN_SOURCE 700 // fork
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "render/player.h"
#include "save.h"
#include "serve/live.h"
#include "serve/saved.h"
#include "shared_options.h"

typedef struct view_options {
    const char *source, *model, *save, *listen, *page, *keyframe, *control;
    int64_t port;
    double rate, time, seconds, dt, patience;
    bool no_browser, paused;
} view_options;

static const view_options defaults = {.listen = "127.0.0.1", .rate = 60, .time = 5, .patience = 15};

static const cli_option arguments[] = {
    {.name = "SOURCE",
     .kind = CLI_MODEL,
     .is_required = true,
     .offset = offsetof(view_options, source),
     .about = "a model file, robot:NAME, or a recording of 'karakuri run --out'"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "save",
     .letter = 's',
     .kind = CLI_FILE,
     .offset = offsetof(view_options, save),
     .value = "FILE.html",
     .about = "write one file that shows the recording, or --time seconds of the model, in any browser; serve nothing"},
    {.name = "port",
     .letter = 'p',
     .kind = CLI_COUNT,
     .offset = offsetof(view_options, port),
     .value = "N",
     .low = 0,
     .high = 65535,
     .about = "port to listen at (default any that is free)"},
    {.name = "listen",
     .kind = CLI_TEXT,
     .offset = offsetof(view_options, listen),
     .value = "ADDRESS",
     .about = "IPv4 address to listen at (default 127.0.0.1: this machine alone). With another, whoever learns the "
              "address of the page can look and steer, "
              "and it goes unencrypted"},
    {.name = "no-browser",
     .kind = CLI_FLAG,
     .offset = offsetof(view_options, no_browser),
     .about = "only print the page's address"},
    {.name = "page",
     .kind = CLI_FOLDER,
     .offset = offsetof(view_options, page),
     .value = "DIR",
     .about = "folder of another page, with index.html"},
    {.name = "rate",
     .kind = CLI_NUMBER,
     .offset = offsetof(view_options, rate),
     .value = "N",
     .low = 1,
     .high = 240,
     .about = "frames a second (default 60)"},
    {.name = "time",
     .letter = 't',
     .kind = CLI_NUMBER,
     .offset = offsetof(view_options, time),
     .value = "T",
     .low = 0,
     .high = 3600,
     .about = "with --save: how long to simulate a model, in s (default 5)"},
    {.name = "seconds",
     .kind = CLI_NUMBER,
     .offset = offsetof(view_options, seconds),
     .value = "T",
     .low = 0.01,
     .high = 1e9,
     .about = "end after so long; without it at Ctrl-C"},
    {.name = "patience",
     .kind = CLI_NUMBER,
     .offset = offsetof(view_options, patience),
     .value = "T",
     .low = 0.1,
     .high = 1e6,
     .about = "let go of a browser that takes no frames for so long, in s (default 15)"},
    {.name = "paused", .kind = CLI_FLAG, .offset = offsetof(view_options, paused), .about = "start paused"},
    OPTION_KEYFRAME(view_options, "start from this keyframe of the model"),
    OPTION_CONTROL(view_options, "with --save: CSV table of controls, as for 'run'"),
    OPTION_DT(view_options, "with --save: time step, in s; without it the model's"),
    OPTION_RECORDED_MODEL(view_options, "the model of a recording, where it is no longer where it was recorded from"),
    {.name = NULL},
};

// ---- saving

static int saved_text(cli *c, const view_options *o, cli_text *element) {
    const player_options playing = {.source = o->source,
                                    .model = o->model,
                                    .keyframe = o->keyframe,
                                    .control = o->control,
                                    .dt = o->dt,
                                    .time = o->time,
                                    .contacts = true};
    player p;
    int code = player_open(c, &playing, &p);
    if (!code) {
        code = saved_element(&p, o->rate, element);
        player_close(&p);
    }
    return code;
}

static int tell_saved(cli *c, const view_options *o, size_t size) {
    if (c->common.json) {
        json_writer json = {0};
        cli_begin_document(c, &json);
        json_string(&json, "saved", o->save);
        json_integer(&json, "bytes", (int64_t)size);
        return cli_end_document(c, &json);
    }
    cli_text out = {0};
    text_format(&out, "%s: %.3g MB, opens in any browser without a server\n", o->save, 1e-6 * (double)size);
    return cli_print(c, &out);
}

static int save_page(cli *c, const view_options *o, const assets *page) {
    cli_text element = {0}, html = {0};
    int code = saved_text(c, o, &element);
    if (!code) {
        assets_film(page, text_string(&element), &html);
        code = save_bytes(c, o->save, html.bytes, html.size);
        code = code || strcmp(o->save, "-") == 0 ? code : tell_saved(c, o, html.size);
    }
    text_free(&element);
    text_free(&html);
    return code;
}

// ---- serving

static int make_session(cli *c, const view_options *o, kk_session **session) {
    cli_model m;
    kk_error error = {0};
    int code = load_model(c, o->source, &m);
    if (code) {
        return code;
    }
    int keyframe;
    code = load_keyframe(c, m.model, o->keyframe, &keyframe);
    if (!code) {
        const kk_session_def def = {.keyframe = keyframe + 1, .paused = o->paused};
        error.status = kk_session_create(m.spec, &def, NULL, session, &error);
        m.spec = error.status ? m.spec : NULL; // the session's now
        code = error.status ? cli_fail_error(c, &error) : 0;
    }
    unload_model(&m);
    return code;
}

static bool has_display(void) {
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && x[0]) || (wayland && wayland[0]);
}

/// Starts the user's browser, twice removed, so that nobody has to wait for it.
static void open_browser(const char *url) {
    const pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
}

static void announce(cli *c, const view_options *o, const live *l) {
    cli_text url = {0};
    server_url(&l->server, &url);
    if (c->common.json) {
        // one line at once, for whoever started us; the document comes at the end
        printf("{\"url\": \"%s\"}\n", text_string(&url));
    } else {
        printf("%s\n", text_string(&url));
    }
    fflush(stdout);
    if (!o->no_browser && has_display()) {
        open_browser(text_string(&url));
    } else if (!c->common.json && !c->common.quiet) {
        fprintf(stderr, "open this address in a browser on this machine; Ctrl-C ends\n");
    }
    text_free(&url);
}

static int tell_counts(cli *c, const live *l) {
    const server_counts *n = &l->server.counts;
    if (!c->common.json) {
        return 0;
    }
    json_writer json = {0};
    cli_begin_document(c, &json);
    json_number(&json, "wall_seconds", l->wall);
    json_integer(&json, "steps", l->steps);
    json_number(&json, "simulated_seconds", l->session ? kk_state_time(kk_session_state(l->session)) : 0);
    json_number(&json, "simulate_cpu_seconds", l->simulate_cpu);
    json_number(&json, "stream_cpu_seconds", l->stream_cpu);
    json_integer(&json, "accepted", n->accepted);
    json_integer(&json, "answered", n->answered);
    json_integer(&json, "refused", n->refused);
    json_integer(&json, "dropped", n->dropped);
    json_integer(&json, "messages", n->messages);
    json_integer(&json, "frames", n->frames);
    json_integer(&json, "frames_skipped", n->skipped);
    return cli_end_document(c, &json);
}

static int serve(cli *c, const view_options *o, const assets *page) {
    const live_options options = {o->listen, (int)o->port, o->rate, o->patience};
    const bool is_tape = player_is_recording(o->source);
    kk_session *session = NULL;
    cli_text saved = {0};
    live l;
    int code = is_tape ? saved_text(c, o, &saved) : make_session(c, o, &session);
    if (!code) {
        code = live_open(c, &l, session, page, text_string(&saved), &options);
        if (!code) {
            announce(c, o, &l);
            live_run(&l, o->seconds);
            code = tell_counts(c, &l);
        }
        live_close(&l);
    }
    kk_session_free(session);
    text_free(&saved);
    return code;
}

static int run(cli *c, const void *options) {
    const view_options *o = options;
    assets page;
    // the live view runs on, at the model's step, steered from the page
    if (!o->save && (o->control || o->dt > 0)) {
        return cli_fail(c, CLI_EXIT_USAGE, "--%s needs --save", o->control ? "control" : "dt");
    }
    int code = assets_read(c, o->page, &page);
    if (!code) {
        code = o->save ? save_page(c, o, &page) : serve(c, o, &page);
    }
    assets_free(&page);
    return code;
}

static const char *const details[] = {
    "A model runs here and is shown in the browser: pause, step, reset, pull at bodies, move targets, change gains and "
    "masses. A recording is "
    "shown as it is. With --save everything goes into one file instead, which needs neither this program nor a "
    "network.",
    "The page's address holds a random token, and only this machine can reach it. Requests by other names, from other "
    "pages or without the token "
    "are refused; connections that are too many, too large or too slow are closed, and the simulation goes on.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri view robot.urdf --floor --servos", "stands up in the browser"},
    {"karakuri view run.kkr", "look at a recording"},
    {"karakuri view run.kkr --save report.html", "a file for somebody else"},
    {NULL, NULL},
};

const cli_verb cli_verb_view = {
    .name = "view",
    .about = "show a model or a recording in the browser, live, or as one file",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(view_options),
    .defaults = &defaults,
    .run = run,
};
