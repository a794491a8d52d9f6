/// Plays a model or a recording: time goes on, and at every time there are coordinates and, where asked for, contacts.
#ifndef KARAKURI_CLI_RENDER_PLAYER_H
#define KARAKURI_CLI_RENDER_PLAYER_H

#include "../load.h"
#include "../motion.h"
#include "../tape.h"

typedef struct player_options {
    const char *source, *model;     ///< a model or a recording; the model of a recording, where it is elsewhere now
    const char *keyframe, *control; ///< of a model
    double dt;                      ///< of a model, 0: its own
    double time;                    ///< of a model: how long it is played, s
    bool contacts;                  ///< recordings are simulated again, so that there are contacts
} player_options;

typedef struct player {
    cli *c;
    player_options o;
    cli_model m;
    tape t;
    bool is_tape, is_stepped; ///< a recording; it is simulated
    kk_state *state;
    kk_simulator *simulator;
    kk_step_options step_options;
    motion motion;
    double *control;
    int keyframe;
    int64_t step;          ///< the next one
    double dt, start, end; ///< s
} player;

/// Whether a file begins as a recording does.
bool player_is_recording(const char *path);
int player_open(cli *c, const player_options *options, player *p);
void player_close(player *p);
/// Back to the start.
int player_rewind(player *p);
/// Goes on to the step nearest to a time not before the one now; kk_kinematics is done in m.data then.
int player_go(player *p, double time);
/// One step of a model or of a recording that is simulated. A failed step is an error of the run.
int player_step(player *p);

#endif
