// The scenes of SimBenchmark as plain data, from their published definitions.
#include <karakuri/random.h>
#include <stdlib.h>
#include <string.h>

#include "simbench.h"

static simbench_body *add_body(simbench_scene *s, bool is_ball, double mass, double x, double y, double z) {
    s->body = realloc(s->body, ((size_t)s->body_count + 1) * sizeof *s->body);
    if (!s->body) {
        abort(); // a few kilobytes
    }
    simbench_body *b = &s->body[s->body_count++];
    *b = (simbench_body){.is_ball = is_ball, .mass = mass, .position = {x, y, z}};
    return b;
}

static void add_ball(simbench_scene *s, double radius, double mass, double x, double y, double z) {
    add_body(s, true, mass, x, y, z)->size[0] = radius;
}

static void add_box(simbench_scene *s, double dx, double dy, double dz, double mass, double x, double y, double z) {
    simbench_body *b = add_body(s, false, mass, x, y, z);
    b->size[0] = dx;
    b->size[1] = dy;
    b->size[2] = dz;
}

static void set_friction(simbench_scene *s, int a, int b, double mu) {
    s->friction[a][b] = s->friction[b][a] = mu;
}

static void set_all_friction(simbench_scene *s, double mu) {
    for (int a = 0; a < SIMBENCH_MATERIALS; a++) {
        for (int b = 0; b < SIMBENCH_MATERIALS; b++) {
            s->friction[a][b] = mu;
        }
    }
}

/// A plate on the floor, 25 balls on it; all overlap a little at the start. The plate is body 0, balls follow.
static void build_rolling(simbench_scene *s) {
    const double p0 = 2e-5;
    s->seconds = 4;
    set_friction(s, SIMBENCH_BALL, SIMBENCH_BOX, 0.8);
    set_friction(s, SIMBENCH_BOX, SIMBENCH_FLOOR, 0.4);
    set_friction(s, SIMBENCH_BALL, SIMBENCH_FLOOR, 0.5);
    add_box(s, 20, 20, 1, 10, 0, 0, 0.5 - p0);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            add_ball(s, 0.5, 1, 2 * i - 4, 2 * j - 4, 1.5 - 3 * p0);
        }
    }
}

static void build_bouncing(simbench_scene *s) {
    s->seconds = 20;
    s->restitution = 1;
    for (int i = 0; i < 49; i++) {
        const int row = i / 7;
        add_ball(s, 0.1, 10, 2 * (i % 7), 2 * row, 5);
    }
}

/// 6 × 6 × 6 balls, each a little out of place.
static void build_666(simbench_scene *s, double lift, double restitution) {
    kk_random random = {666, 0, 0};
    s->seconds = 10;
    s->restitution = restitution;
    for (int i = 0; i < 216; i++) {
        const int index[3] = {i / 36, i / 6 % 6, i % 6};
        double at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = 0.21 * index[k] + 0.001 * kk_random_next_uniform(&random) + (k == 2 ? lift : 0);
        }
        add_ball(s, 0.1, 10, at[0], at[1], at[2]);
    }
}

/// Six floors, each of eight blocks across and nine along.
static void build_kapla(simbench_scene *s) {
    s->seconds = 600;
    set_all_friction(s, 0.8);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 8; j++) {
            add_box(s, 0.05, 0.25, 0.1, 10, 0.2 * j, 0, 0.2 * i + 0.05);
        }
        const double z = 0.2 * i + 0.15;
        for (int j = 0; j < 4; j++) {
            add_box(s, 0.2, 0.05, 0.1, 10, 0.4 * j + 0.1, -0.1, z);
        }
        for (int j = 0; j < 3; j++) {
            add_box(s, 0.2, 0.05, 0.1, 10, 0.4 * j + 0.3, 0.1, z);
        }
        add_box(s, 0.2, 0.05, 0.1, 10, 0.1, 0.1, z);
        add_box(s, 0.2, 0.05, 0.1, 10, 1.3, 0.1, z);
    }
}

static void build_robots(simbench_scene *s, int robots) {
    s->seconds = 250;
    s->robots = robots;
    s->robot_height = 0.54;
    s->self_collides = true;
    set_all_friction(s, 0.8);
}

static void build_momentum(simbench_scene *s) {
    s->seconds = 10;
    s->gravity = 0;
    s->has_floor = false;
    s->robots = 1;
    s->robot_height = 2;
    s->self_collides = true;
    set_all_friction(s, 0.8);
    add_ball(s, 0.2, 10, 0, -5, 2);
    s->body[0].velocity[1] = 5;
}

static void build_energy(simbench_scene *s) {
    s->seconds = 3;
    s->has_floor = false;
    s->is_smooth = true;
    s->robots = 1;
    s->robot_height = 2;
}

simbench_scene simbench_scene_of(const simbench_case *c) {
    simbench_scene s = {.gravity = 9.81, .dt = c->dt, .has_floor = true};
    if (strncmp(c->test, "rolling", 7) == 0) {
        build_rolling(&s);
    } else if (strcmp(c->test, "bouncing") == 0) {
        build_bouncing(&s);
    } else if (strcmp(c->test, "666") == 0) {
        build_666(&s, 0.101, 0);
    } else if (strcmp(c->test, "elastic-666") == 0) {
        build_666(&s, 1.101, 1);
    } else if (strcmp(c->test, "kapla") == 0) {
        build_kapla(&s);
    } else if (strcmp(c->test, "anymal") == 0) {
        build_robots(&s, c->robots);
    } else if (strcmp(c->test, "momentum") == 0) {
        build_momentum(&s);
    } else {
        build_energy(&s);
    }
    return s;
}

void simbench_scene_free(simbench_scene *scene) {
    free(scene->body);
    *scene = (simbench_scene){0};
}

// ---- the quadruped, ANYmal's sizes and masses

static void set3(double *x, double a, double b, double c) {
    x[0] = a;
    x[1] = b;
    x[2] = c;
}

static simbench_link base_link(void) {
    const double m = 21.39, x = 0.531, y = 0.232, z = 0.26;
    simbench_link l = {.parent = -1, .mass = m, .has_box = true};
    set3(l.center, 0, 0, 0.08);
    set3(l.moments, m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12);
    set3(l.shape_at, 0, 0, 0.08);
    set3(l.shape_size, x, y, z);
    return l;
}

/// @param fore, left  ±1    @param base  index of the leg's hip
static simbench_link leg_link(int part, double fore, double left, int base) {
    simbench_link l = {.parent = part == 0 ? 0 : base + part - 1};
    if (part == 0) {
        set3(l.at, 0.2629 * fore, 0.115 * left, 0);
        set3(l.axis, 1, 0, 0);
        l.mass = 1.1064;
        set3(l.center, 0.03 * fore, 0.015 * left, 0);
        set3(l.moments, 0.0012, 0.0015, 0.0015);
        l.target = 0.03 * left;
    } else if (part == 1) {
        set3(l.at, 0.0585 * fore, 0.0315 * left, 0);
        set3(l.axis, 0, 1, 0);
        l.mass = 1.51;
        set3(l.center, 0, 0.09 * left, -0.1);
        set3(l.moments, 0.0116, 0.0116, 0.0016);
        l.target = 0.4 * fore;
    } else {
        // the shank, 0.318 kg, with the foot, 0.1923 kg, at its end
        set3(l.at, 0, 0.111 * left, -0.25);
        set3(l.axis, 0, 1, 0);
        l.mass = 0.5103;
        set3(l.center, 0, -0.009 * left, -0.1916);
        set3(l.moments, 0.0061, 0.0061, 0.0003);
        l.target = -0.8 * fore;
        l.has_ball = true;
        set3(l.shape_at, 0, -0.016 * left, -0.31);
        l.shape_size[0] = 0.03;
    }
    return l;
}

simbench_link simbench_robot_link(int i) {
    const int leg = (i - 1) / 3;
    return i == 0 ? base_link() : leg_link((i - 1) % 3, leg < 2 ? 1 : -1, leg % 2 == 0 ? 1 : -1, 1 + 3 * leg);
}

double simbench_robot_mass(void) {
    double sum = 0;
    for (int i = 0; i < SIMBENCH_LINKS; i++) {
        sum += simbench_robot_link(i).mass;
    }
    return sum;
}

void simbench_robot_place(const simbench_scene *scene, int i, double position[3]) {
    int side = 1;
    while (side * side < scene->robots) {
        side++;
    }
    const int row = i / side;
    set3(position, 2 * row, 2 * (i % side), scene->robot_height);
}
