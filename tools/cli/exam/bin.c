// Part of row 24: 10 000 spheres in a bin, an island of some 50 000 rows.
//
// Spheres of all sizes between 49.5 and 50 mm fall a millimeter, those above into the pockets of those below, a little apart; they lose their spin in 0.05 s.
// Contacts have the stiffness of hard rubber. Every step is certified.
#include "bin.h"

#include <stdlib.h>

#include "scene.h"

enum { SPHERES = 10000, SIDE = 72 };

static const double RADIUS = 0.05, SPREAD = 0.01, PITCH = 0.101;
static const double END = 0.3;

static void add_bin(scene *s, int material) {
    const double half = 0.5 * PITCH * SIDE;
    scene_floor(s, material);
    for (int k = 0; k < 4; k++) {
        kk_shape_def wall = scene_shape_def(KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
        const kk_vec3 n = kk_vec3_make(k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0, 0);
        wall.placement.p = kk_vec3_scale(n, -half);
        wall.placement.R = kk_mat3_from_columns(kk_vec3_make(0, 0, 1), kk_vec3_cross(n, kk_vec3_make(0, 0, 1)), n);
        scene_shape(s, &wall);
    }
}

/// Layers of SIDE² and (SIDE − 1)² in turn, with a little disorder.
static kk_vec3 place_of(int i, kk_random *random) {
    const int pair = SIDE * SIDE + (SIDE - 1) * (SIDE - 1), is_odd = i % pair >= SIDE * SIDE, side = SIDE - is_odd;
    const int layer = 2 * (i / pair) + is_odd, at = i % pair - (is_odd ? SIDE * SIDE : 0), row = at / side;
    const double gap = PITCH - 2 * RADIUS, height = kk_sqrt(4 * RADIUS * RADIUS - 0.5 * PITCH * PITCH);
    const double x = at % side + 0.5 * (is_odd - SIDE + 1), y = row + 0.5 * (is_odd - SIDE + 1);
    const double dx = kk_random_next_between(random, -0.5, 0.5), dy = kk_random_next_between(random, -0.5, 0.5);
    return kk_vec3_make(PITCH * x + gap * dx, PITCH * y + gap * dy, RADIUS + 1e-3 + layer * height);
}

static void add_sphere(scene *s, int i, int material, kk_random *random) {
    const double radius = RADIUS * (1 - SPREAD * kk_random_next_between(random, 0, 1));
    kk_body_def def = kk_body_def_default();
    def.joint.type = KK_JOINT_FREE;
    def.joint.placement.p = place_of(i, random);
    def.inertia = kk_inertia_solid_sphere(1000 * 4 * KK_PI / 3 * radius * radius * radius, radius);
    for (int k = 0; k < 3; k++) {
        def.joint.dof[k].damping = 0.01;
    }
    const kk_shape_def shape = scene_shape_def(KK_SHAPE_SPHERE, scene_body(s, &def), radius, radius, radius, material);
    scene_shape(s, &shape);
}

/// Share of the spheres whose centers are slower than a centimeter a second.
static double resting(const scene *s) {
    int count = 0;
    for (int i = 0; !s->is_broken && i < SPHERES; i++) {
        const double *v = kk_state_v_const(s->state) + 6 * i + 3;
        count += kk_hypot(v[0], kk_hypot(v[1], v[2])) < 0.01;
    }
    return (double)count / SPHERES;
}

void exam_spheres_in_bin(exam *e, int panel) {
    scene s;
    kk_random random = {.seed = 7};
    scene_begin(&s, e, 9.81);
    const int material = scene_soft_material(&s, 0.8, 1e6);
    if (!s.is_broken) {
        kk_spec_options(s.spec)->max_contacts = 16 * SPHERES;
    }
    add_bin(&s, material);
    for (int i = 0; i < SPHERES; i++) {
        add_sphere(&s, i, material, &random);
    }
    const kk_step_options options = {.timestep = 1e-3, .detection = KK_DETECTION_DISCRETE};
    scene_ready(&s, &options);
    while (scene_time(&s) < END && scene_step(&s)) {
        exam_point(e, panel, "10 000 spheres", scene_time(&s), scene_fastest(&s));
    }
    exam_at_most(e, "10 000 spheres: worst residual, m/s", s.is_broken ? 1 : s.residual, 1e-9);
    exam_at_least(e, "10 000 spheres: share slower than 1 cm/s after 0.3 s", resting(&s), 0.99);
    scene_end(&s);
}
