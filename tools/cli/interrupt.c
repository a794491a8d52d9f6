// Ctrl-C; see cli.h.
#define _XOPEN_SOURCE 700 // sigaction
#include <signal.h>
#include <unistd.h>

#include "cli.h"

enum { GRACE = 10 }; // s from a signal to the next look at it; then whatever is stuck is given up

static volatile sig_atomic_t caught; // number of the signal, set by signals alone

static void note_interrupt(int number) {
    caught = number;
    alarm(GRACE);
}

static void give_up(int number) {
    (void)number;
    _exit(128 + caught);
}

void cli_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction last = {.sa_handler = give_up};
    sigemptyset(&action.sa_mask);
    sigemptyset(&last.sa_mask);
    sigaction(SIGALRM, &last, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_is_interrupted(void) {
    if (caught) {
        alarm(0);
    }
    return caught;
}

int cli_end_interrupted(cli *c, int code, const char *what) {
    if (code || !caught) {
        return code;
    }
    cli_note(c, "interrupted; %s", what);
    return caught == SIGTERM ? CLI_EXIT_TERMINATED : CLI_EXIT_INTERRUPTED;
}
