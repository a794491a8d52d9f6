/// A simulation that is watched: a session in real time behind a server.
#ifndef KARAKURI_CLI_SERVE_LIVE_H
#define KARAKURI_CLI_SERVE_LIVE_H

#include <karakuri/view.h>

#include "assets.h"
#include "server.h"

typedef struct live {
    cli *c;
    server server;
    kk_session *session; ///< NULL: a page with a recording inside is shown, and nothing runs
    const assets *page;
    cli_text index, description;
    void *part;                       ///< a mesh or height field that was asked for last
    double rate;                      ///< frames a second
    uint32_t generation;              ///< of the description
    uint32_t described[SERVER_LINKS]; ///< that each socket has
    uint32_t notice;
    bool has_changed; ///< a command was taken: show it, even while paused
    double step_cost; ///< s; of late
    // what it took, s of this process's time
    double simulate_cpu, stream_cpu, wall;
    long steps;
} live;

typedef struct live_options {
    const char *listen;
    int port;
    double rate, patience; ///< patience: with a browser that takes nothing, s
} live_options;

/// Opens the server; then `live_run` serves until SIGINT or SIGTERM. @param saved  an element to put into the page; ""
int live_open(cli *c, live *l, kk_session *session, const assets *page, const char *saved, const live_options *o);
void live_run(live *l, double seconds);
/// For whoever steps the session himself: serves for at most so long, and shows where the session is now.
void live_look(live *l, double wait);
void live_close(live *l);

#endif
