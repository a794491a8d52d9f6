// A foot on points below a mast that sways: while all points hold, each step is one small system; when some slip or lift, they do.
#include <math.h>
#include <string.h>

#include "contact/dense_kernels.h"
#include "simulate/island.h"
#include "stage.h"

enum { LINKS = 4, SIDE = 3 };
static const double STEP = 0.001, FRICTION = 0.6;

static int add_link(stage *s, int parent, int number) {
    char name[32];
    kk_body_def def = kk_body_def_default();
    int id = 0;
    snprintf(name, sizeof name, "link%d", number);
    def.name = name;
    def.parent = parent;
    def.joint.type = KK_JOINT_HINGE;
    def.joint.axis = number & 1 ? kk_vec3_make(1, 0, 0) : kk_vec3_make(0, 1, 0);
    def.joint.placement.p = kk_vec3_make(0, 0, 0.1);
    def.joint.dof[0].stiffness = 100;
    def.inertia = kk_inertia_solid_box(0.5, 0.05, 0.05, 0.1);
    KK_CHECK_EQ_INT(kk_spec_add_body(s->spec, &def, &id, &s->error), KK_OK);
    return id;
}

/// So many rows of balls below a sole of 0.2 m × 0.2 m, and a mast of hinges with springs on it. Gives the foot's number.
static int build_on(stage *s, int side) {
    *s = stage_begin(9.81);
    const int material = stage_material(s, FRICTION, 0);
    stage_shape(s, KK_SHAPE_PLANE, 0, 0, 0, 0, material);
    const int foot = stage_body(s, kk_inertia_solid_box(3, 0.2, 0.2, 0.04));
    for (int i = 0; i < side * side; i++) {
        kk_shape_def def = kk_shape_def_default();
        def.type = KK_SHAPE_SPHERE;
        def.body = foot;
        def.size[0] = 0.005;
        def.material = material;
        const int row = i / side;
        def.placement.p = kk_vec3_make(0.2 * (i % side) / (side - 1) - 0.1, 0.2 * row / (side - 1) - 0.1, 0);
        KK_CHECK_EQ_INT(kk_spec_add_shape(s->spec, &def, NULL, &s->error), KK_OK);
    }
    for (int i = 0, parent = foot; i < LINKS; i++) {
        parent = add_link(s, parent, i);
    }
    const kk_step_options options = {.timestep = STEP};
    KK_CHECK(stage_ready(s, &options));
    stage_place(s, foot, 0, 0, 0.005);
    for (int i = 0; i < LINKS; i++) {
        stage_v(s, foot + 1 + i)[0] = 0.2;
    }
    return foot;
}

static int build(stage *s) {
    return build_on(s, SIDE);
}

static kk_vec3 whole_force(const stage *s) {
    kk_vec3 sum = kk_vec3_make(0, 0, 0);
    for (int i = 0; i < kk_simulator_ncontact(s->simulator); i++) {
        const kk_vec3 f = kk_simulator_contacts(s->simulator)[i].force;
        KK_CHECK(f.z >= -1e-9);
        KK_CHECK(hypot(f.x, f.y) <= FRICTION * f.z + 1e-9);
        sum = kk_vec3_add(sum, f);
    }
    return sum;
}

KK_TEST(many_points_that_hold_are_certified) {
    stage s;
    const int foot = build(&s), first = 50, steps = 300;
    double least = INFINITY, most = 0, lift = 0;
    KK_CHECK(stage_run(&s, first, NULL));
    for (int i = 0; i < steps; i++) {
        KK_CHECK(stage_run(&s, 1, NULL));
        const kk_report r = *kk_simulator_report(s.simulator);
        const double sway = whole_force(&s).x;
        KK_CHECK(r.residual <= 1e-12 && r.cone <= 1e-12);
        least = fmin(least, sway);
        most = fmax(most, sway);
        lift += STEP * whole_force(&s).z;
    }
    KK_CHECK_EQ_INT(kk_simulator_ncontact(s.simulator), SIDE * SIDE);
    KK_CHECK(least < -0.1 && most > 0.1); // the mast sways, and the points bear it
    KK_CHECK_REL(lift, steps * STEP * 9.81 * kk_model_mass(s.model), 1e-2);
    KK_CHECK(hypot(stage_q(&s, foot)[4], stage_q(&s, foot)[5]) < 1e-6);
    stage_end(&s);
}

/// A wrench on the foot of what stands.
static void push(stage *s, int foot, kk_force wrench, int steps) {
    kk_force on[LINKS + 2] = {{{0, 0, 0}, {0, 0, 0}}};
    on[foot] = wrench;
    KK_CHECK(stage_run(s, 100, NULL));
    KK_CHECK(stage_run(s, steps, &(kk_input){.wrench = on}));
}

KK_TEST(many_points_slip_when_pushed) {
    stage s;
    const int foot = build(&s);
    push(&s, foot, kk_force_make(kk_vec3_make(0, 0, 0), kk_vec3_make(60, 0, 0)), 50);
    const kk_vec3 f = whole_force(&s);
    KK_CHECK(stage_q(&s, foot)[4] > 1e-3);
    KK_CHECK_REL(-f.x, FRICTION * f.z, 1e-2);
    stage_end(&s);
}

KK_TEST(many_points_lift_when_tipped) {
    stage s;
    const int foot = build(&s);
    push(&s, foot, kk_force_make(kk_vec3_make(0, 8, 0), kk_vec3_make(0, 0, 0)), 50);
    whole_force(&s);
    KK_CHECK(stage_q(&s, foot)[2] > 1e-3); // about y
    KK_CHECK(kk_simulator_ncontact(s.simulator) < SIDE * SIDE);
    stage_end(&s);
}

// ---- four points, whose matrix is singular

/// The island of the last step, with g as if the impulses found then were the answer. Gives what all normals bear.
static double pose_anew(kk_simulator *x, kki_island *I) {
    static const _Alignas(32) double none[64] = {0};
    double sum = 0;
    KK_CHECK(I->has_matrix);
    x->workers.scratch->solver.kernels->multiply(I->nrow, I->stride, x->workers.scratch->G,
                                                 x->solution.lambda + I->first_row, none, x->solution.g + I->first_row);
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        x->solution.g[r] = -x->solution.g[r];
        sum += (r - I->first_row) % 3 == 0 ? x->solution.lambda[r] : 0;
    }
    return sum;
}

static void spoil(kk_simulator *x, const kki_island *I, double by) {
    for (int r = I->first_row; r < I->first_row + I->nrow; r++) {
        x->solution.lambda[r] *= 1 + by * ((r & 3) + 1);
    }
}

KK_TEST(few_points_that_hold_are_found_by_their_modes) {
    stage s;
    build_on(&s, 2);
    KK_CHECK(stage_run(&s, 50, NULL));
    kk_simulator *x = s.simulator;
    kki_island *I = &x->islands.list[0];
    double *lambda = x->solution.lambda + I->first_row, right[12], bears = 0;
    KK_CHECK_EQ_INT(I->nrow, 12);
    memcpy(right, lambda, sizeof right);
    const double weight = pose_anew(x, I);
    spoil(x, I, 0.01);
    KK_CHECK_EQ_INT(kki_kept_solve(s.model, x, I), KKI_KEPT_SOLVED);
    for (int r = 0; r < I->nrow; r++) { // to the floor of what moves, a hundredth of the tolerance
        KK_CHECK(fabs(x->solution.u[I->first_row + r]) <= 1e-11);
        bears += r % 3 == 0 ? lambda[r] : 0;
    }
    KK_CHECK_REL(bears, weight, 1e-9);

    memcpy(lambda, right, sizeof right);
    memset(lambda, 0, 6 * sizeof *lambda); // open: the foot would tip over those that are left, and sweeps see it
    KK_CHECK_EQ_INT(kki_kept_solve(s.model, x, I), KKI_KEPT_SOLVED);
    bears = 0;
    for (int r = 0; r < I->nrow; r += 3) {
        KK_CHECK(lambda[r] > 0 && fabs(x->solution.u[I->first_row + r]) <= 1e-11);
        bears += lambda[r];
    }
    KK_CHECK_REL(bears, weight, 1e-9);
    stage_end(&s);
}

/// A foot that slides and spins, its points all in directions of their own, while the mast sways.
static void slide_along(stage *s, int side) {
    const int foot = build_on(s, side), steps = 100;
    stage_v(s, foot)[2] = 3;
    stage_v(s, foot)[3] = 1.5;
    KK_CHECK(stage_run(s, 5, NULL));
    for (int i = 0; i < steps; i++) {
        KK_CHECK(stage_run(s, 1, NULL));
        const kk_report r = *kk_simulator_report(s->simulator);
        KK_CHECK(r.residual <= 1e-10);
        KK_CHECK(r.dissipation <= 1e-6 && r.cone <= 1e-10);
    }
}

KK_TEST(points_that_slide_on_keep_their_law) {
    stage s;
    slide_along(&s, 2);
    KK_CHECK(kk_simulator_ncontact(s.simulator) >= 2);
    for (int i = 0; i < kk_simulator_ncontact(s.simulator); i++) {
        const kk_contact c = kk_simulator_contacts(s.simulator)[i];
        const double force = hypot(c.force.x, c.force.y), speed = hypot(c.velocity.x, c.velocity.y);
        KK_CHECK(speed > 0.1);
        KK_CHECK_REL(force, FRICTION * c.force.z, 1e-9);
        KK_CHECK_REL(-(c.force.x * c.velocity.x + c.force.y * c.velocity.y), force * speed, 1e-5);
    }
    stage_end(&s);
}

KK_TEST(what_would_slide_back_is_no_solution) {
    stage s;
    slide_along(&s, 2);
    kk_simulator *x = s.simulator;
    kki_island *I = &x->islands.list[0];
    KK_CHECK(pose_anew(x, I) > 0);
    for (int r = 0; r < I->nrow; r++) { // half of their friction would do to stop them
        x->solution.g[I->first_row + r] *= r % 3 == 0 ? 1 : 0.5;
    }
    KK_CHECK_EQ_INT(kki_kept_solve(s.model, x, I), KKI_KEPT_NOT);
    stage_end(&s);
}

/// As if its Coriolis forces had been predicted for 1000 rad/s: the foot is said to be on its way down, through the floor.
static void mistake_bias(kk_simulator *x, kk_stage done, void *user) {
    (void)user;
    if (done == KK_STAGE_KINEMATICS) {
        kki_bias *b = (kki_bias *)(uintptr_t)kki_bias_of(x->data, 1);
        b->a[2] -= 1e5;
    }
}

// a contact is asked to part by no more than its bodies came, whatever turning is said to have done: it would do work that comes from nowhere
KK_TEST(turning_that_does_not_show_is_not_reflected) {
    stage s;
    build(&s);
    KK_CHECK(stage_run(&s, 50, NULL));
    s.simulator->hooks.probe = mistake_bias;
    const double before = kk_simulator_report(s.simulator)->constraint_work;
    KK_CHECK(stage_run(&s, 1, NULL));
    KK_CHECK(s.simulator->contacts.count >= 4);
    for (int i = 0; i < s.simulator->contacts.count; i++) {
        KK_CHECK(fabs(s.simulator->contacts.list[i].swing) < 1e-2);
    }
    KK_CHECK(fabs(kk_simulator_report(s.simulator)->constraint_work - before) < 1e-2);
    stage_end(&s);
}
