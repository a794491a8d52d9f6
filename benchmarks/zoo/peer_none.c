/// In MuJoCo's place where the program was built without it.
#include "zoo.h"

#include <stdio.h>

zoo_peer *zoo_peer_load(const char *path, const char *mjcf, char *why_not) {
    (void)path;
    (void)mjcf;
    snprintf(why_not, ZOO_TEXT, "built without MuJoCo");
    return NULL;
}

void zoo_peer_free(zoo_peer *peer) {
    (void)peer;
}

const char *zoo_peer_version(void) {
    return "";
}

int zoo_peer_actuators(const zoo_peer *peer) {
    (void)peer;
    return 0;
}

double zoo_peer_timestep(const zoo_peer *peer) {
    (void)peer;
    return 0;
}

int zoo_peer_nv(const zoo_peer *peer) {
    (void)peer;
    return 0;
}

const char *zoo_peer_base(const zoo_peer *peer) {
    (void)peer;
    return NULL;
}

void zoo_peer_run(const zoo_peer *peer, const zoo_course *course, const zoo_row *row, zoo_theirs *figures,
                  zoo_times *times) {
    (void)peer;
    (void)course;
    (void)row;
    (void)figures;
    (void)times;
}

void zoo_agree(const zoo_model *model, const zoo_peer *peer, zoo_agreement *agreement) {
    (void)model;
    (void)peer;
    (void)agreement;
}
