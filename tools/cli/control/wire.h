/// A controller beside the engine: another process in lock step over a stream socket, as OpenHRP had its controllers.
///
/// The engine greets: "KKCTRL1\n", a uint32 and so many bytes of JSON, {"karakuri", "model", "hash", "timestep", "signals": […], "controls": […]}.
/// Then, before every step, it sends the signals and waits for the controls, float64 each, in that order, little endian. The engine closes when the
/// run is over; the controller may close when it has enough. docs/guide/controller.md has clients of sixty lines in C and Python.
#ifndef KARAKURI_CLI_CONTROL_WIRE_H
#define KARAKURI_CLI_CONTROL_WIRE_H

#include <sys/types.h>

#include "../cli.h"

typedef struct wire {
    const kk_model *model;
    int socket;      ///< −1: none
    pid_t child;     ///< of a controller that was started here; 0: none
    double patience; ///< with one answer, s
    double *signals; ///< [signal_count] time, q, v, sensors
    double *controls;
    size_t signal_count, control_count;
    const char *name; ///< of the controller, for messages
    char lost[160];   ///< why it does not answer any more; "": it does
} wire;

/// Called again and again while an answer is waited for; false: give it up.
typedef bool wire_idle(void *user);

/// 0, or the exit code after an error: lock step needs an answer, and so a model that something drives.
int wire_check(cli *c, const kk_model *model);
/// Buffers for a model's signals.
void wire_open(const kk_model *model, double patience, wire *w);
/// Starts a controller by a shell, with KARAKURI_CONTROL=fd:N in its environment.
int wire_start(cli *c, wire *w, const char *command);
/// Takes over a socket that a controller has connected to.
void wire_take(wire *w, int socket, const char *name);
/// Tells the controller what signals and controls there are.
bool wire_greet(wire *w, double timestep);
/// One round trip. @param readings  [nreading]    @param control  [nactuator] result, untouched where there is no answer
/// @param idle  asked about ten times a second; NULL: nobody
bool wire_exchange(wire *w, const kk_state *state, const double *readings, double *control, wire_idle *idle,
                   void *user);
/// Says goodbye, and waits for a child to end.
void wire_hang_up(wire *w);
void wire_close(wire *w);

#endif
