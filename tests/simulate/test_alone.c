// A step asks the system for nothing: no memory, no lock, no clock, no file. Linux ends a process that makes another call than read, write and exit once it
// has said so, and a process that has said so makes thousands of steps.
#if defined(__linux__)
#define _GNU_SOURCE // syscall
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "stage.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

enum { ALL_WELL = 0, NO_STEP = 3, NO_PRISON = 4 };

static void build_boxes(stage *s) {
    *s = stage_begin(9.81);
    const int material = stage_material(s, 0.5, 0.2);
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    for (int i = 0; i < 4; i++) {
        stage_box(s, 1 + i, 0.2, 0.3, 0.1, material);
    }
}

static void lift(stage *s) {
    for (int i = 0; i < 4; i++) {
        stage_place(s, 1 + i, 0.02 * i, 0.01 * i, 0.2 + 0.2 * i);
        stage_v(s, 1 + i)[2] = i;
    }
}

/// Ends the process; `calls` makes one system call more than is allowed, to see that it would be noticed.
static _Noreturn void step_in_prison(stage *s, int steps, int calls) {
    int code = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0 ? ALL_WELL : NO_PRISON;
    for (int i = 0; i < steps && code == ALL_WELL; i++) {
        if (i % 1000 == 0) {
            lift(s); // so that they fall, bounce and come to rest again and again
        }
        code = kk_step(s->model, s->state, s->simulator, NULL, &s->error) == KK_OK ? ALL_WELL : NO_STEP;
    }
    if (calls) {
        syscall(SYS_getpid);
    }
    syscall(SYS_exit, code);
    abort();
}

static int result_of(stage *s, int steps, int calls) {
    const pid_t child = fork();
    if (child == 0) {
        step_in_prison(s, steps, calls);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

KK_TEST(steps_make_no_system_call) {
    stage s;
    build_boxes(&s);
    const char *text = getenv("KK_ALONE_STEPS"); // 1e7 in the long form
    if (stage_ready(&s, &(kk_step_options){.timestep = 2e-3}) &&
        KK_CHECK_EQ_INT(kk_simulator_reserve(s.simulator, (kk_room){.contacts = 64, .near_pairs = 64}, &s.error),
                        KK_OK) &&
        KK_CHECK_EQ_INT(kk_state_reserve(s.state, 64), KK_OK)) {
        const int result = result_of(&s, text ? atoi(text) : 4000, 0);
        if (result == NO_PRISON) {
            stage_end(&s);
            KK_SKIP("this system has no strict mode of seccomp");
        }
        KK_CHECK_EQ_INT(result, ALL_WELL);
        KK_CHECK_EQ_INT(result_of(&s, 1, 1), -1); // a call is noticed
    }
    stage_end(&s);
}

#endif
