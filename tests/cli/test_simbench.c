// SimBenchmark's scenes: what they hold, and the errors of the quick ones.
#include <string.h>

#include "cli/simbench/simbench.h"
#include "harness.h"

static const simbench_case *find_case(const char *test, double dt) {
    const simbench_case *c = simbench_cases;
    while (c->test && (strcmp(c->test, test) != 0 || (dt > 0 && c->dt != dt))) {
        c++;
    }
    return c;
}

static int bodies_of(const char *test) {
    simbench_scene scene = simbench_scene_of(find_case(test, 0));
    const int count = scene.body_count;
    simbench_scene_free(&scene);
    return count;
}

KK_TEST(simbench_scenes_have_their_bodies) {
    KK_CHECK_EQ_INT(bodies_of("rolling-xy"), 26);
    KK_CHECK_EQ_INT(bodies_of("bouncing"), 49);
    KK_CHECK_EQ_INT(bodies_of("666"), 216);
    KK_CHECK_EQ_INT(bodies_of("kapla"), 102);
    KK_CHECK_NEAR(simbench_robot_mass(), 21.39 + 4 * (1.1064 + 1.51 + 0.318 + 0.1923), 1e-9);
}

static double error_of(const char *test, double dt) {
    const simbench_result r = simbench_measure(find_case(test, dt), &simbench_ours, 0);
    KK_CHECK_STR(r.trouble, "");
    return r.error;
}

// the bars are the best of all engines measured: ODE 6e-28, MuJoCo's RK4 6e-18
KK_TEST(simbench_conserves_what_is_conserved) {
    KK_CHECK(error_of("momentum", 0) < 6e-28);
    KK_CHECK(error_of("energy", 0) < 1e-20);
    KK_CHECK(error_of("bouncing", 0.01) < 1e-18);
    KK_CHECK(error_of("bouncing", 0.1) < 1e-18);
}

// balls that overlap the plate at the start roll on it from the first step on
KK_TEST(simbench_rolling_starts_exactly) {
    char trouble[SIMBENCH_TEXT] = "";
    simbench_scene scene = simbench_scene_of(find_case("rolling-y", 0));
    void *world = simbench_ours.open(&scene, trouble);
    const double force[3] = {0, 150, 0};
    simbench_ours.push(world, 0, force);
    for (int i = 1; i <= 100; i++) {
        double p[3], plate[3], ball[3];
        KK_CHECK(simbench_ours.step(world, trouble));
        simbench_ours.body(world, 0, p, plate);
        simbench_ours.body(world, 1, p, ball);
        KK_CHECK_NEAR(plate[1], 0.7385e-3 * i, 1e-14);
        KK_CHECK_NEAR(ball[1], 0.211e-3 * i, 1e-14);
    }
    simbench_ours.close(world);
    simbench_scene_free(&scene);
}
