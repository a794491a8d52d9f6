// Ctrl-C; see cli.h.
#define _XOPEN_SOURCE 700 // sigaction
#include <signal.h>

#include "cli.h"

static volatile sig_atomic_t is_interrupted; // set by signals alone

static void note_interrupt(int number) {
    (void)number;
    is_interrupted = 1;
}

void cli_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_is_interrupted(void) {
    return is_interrupted;
}

int cli_end_interrupted(cli *c, int code, const char *what) {
    if (code || !is_interrupted) {
        return code;
    }
    cli_note(c, "interrupted; %s", what);
    return CLI_EXIT_INTERRUPTED;
}
