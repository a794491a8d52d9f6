// Holds every joint that a motor drives where it was at the start: a PD controller in a process of its own.
//
//     cc -O2 hold.c -o hold && karakuri run robot:humanoid36 -t 2 --controller ./hold
#define _GNU_SOURCE
#include "controller.h"

int main(int argc, char **argv) {
    enum { MOST = 256 };
    const double kp = argc > 1 ? atof(argv[1]) : 20, kd = argc > 2 ? atof(argv[2]) : 1;
    robot r;
    int q[MOST], v[MOST];
    double start[MOST];
    if (robot_open(&r) != 0 || r.control_count > MOST) {
        fprintf(stderr, "hold: no engine is there\n");
        return 1;
    }
    char *names = strchr(strstr(r.about, "\"controls\""), '[');
    for (int k = 0; k < r.control_count; k++) { // an actuator without a name has that of its joint
        char name[128], column[136];
        names = strchr(names, '"') + 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(names, "\""), names);
        names = strchr(names, '"') + 1;
        snprintf(column, sizeof column, "%s.q", name);
        q[k] = robot_find(&r, "\"signals\"", column);
        snprintf(column, sizeof column, "%s.v", name);
        v[k] = robot_find(&r, "\"signals\"", column);
    }
    for (long step = 0; robot_wait(&r); step++) {
        for (int k = 0; k < r.control_count; k++) {
            if (q[k] >= 0 && v[k] >= 0) {
                start[k] = step == 0 ? r.signal[q[k]] : start[k];
                r.control[k] = kp * (start[k] - r.signal[q[k]]) - kd * r.signal[v[k]];
            }
        }
        robot_answer(&r);
    }
    return 0;
}
