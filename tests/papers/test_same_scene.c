/// One robot, four solvers: what the papers' methods make of a scene that all of them can take comes near to what the exact solver makes of it.
#include "papers/common.h"
#include "robots.h"
#include "scenes.h"
#include "support/allocations.h"

/// The quadruped with boxes for feet, dropped from a hand's breadth on to the floor, its joints held by friction and dampers.
static int drop_quadruped(stage *s, const kk_step_options *o) {
    const int material = stage_material(s, 0.6, 0);
    KK_CHECK_EQ_INT(robots_quadruped(s->spec, &s->error), KK_OK);
    const int count = kk_spec_body_count(s->spec);
    for (int i = 1; i < count; i++) {
        kk_body_def *b = kk_spec_body(s->spec, i);
        b->joint.dof[0].damping = b->joint.type == KK_JOINT_HINGE ? 5 : 0;
        if (__builtin_strstr(b->name, "foot")) {
            stage_shape(s, KK_SHAPE_BOX, i, 0.06, 0.05, 0.04, material);
        }
    }
    stage_shape(s, KK_SHAPE_PLANE, KK_WORLD, 0, 0, 0, material);
    if (!stage_ready(s, o)) {
        return 0;
    }
    kk_data *d = NULL;
    KK_CHECK_EQ_INT(kk_data_create(s->model, NULL, &d), KK_OK);
    kk_kinematics(s->model, d, kk_state_q(s->state));
    double lowest = 0;
    for (int i = 1; i < count; i++) {
        const double z = kk_body_pose(s->model, d, i).p.z;
        lowest = z < lowest ? z : lowest;
    }
    kk_data_free(d);
    kk_state_q(s->state)[6] = 0.021 - lowest;
    return 1;
}

static double height_after(const kk_step_options *o, double time, kk_vec3 *force) {
    stage s = stage_begin(9.81);
    double z = 0;
    if (drop_quadruped(&s, o) && paper_run(&s, (int)(time / o->timestep + 0.5), NULL)) {
        z = kk_state_q(s.state)[6];
        *force = kk_vec3_make(0, 0, 0);
        for (int i = 0; i < kk_simulator_ncontact(s.simulator); i++) {
            const kk_contact c = kk_simulator_contacts(s.simulator)[i];
            *force = kk_vec3_add(*force, kk_vec3_scale(c.force, c.body[0] == KK_WORLD ? 1 : -1));
        }
    }
    stage_end(&s);
    return z;
}

// legs that give way under the trunk: rows by unit forces and rows by climbing lead to the same motion
KK_TEST(papers_agree_on_a_quadruped) {
    kk_vec3 force[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const kk_step_options exact = {.timestep = 5e-4};
    const kk_step_options openhrp = {.solver = KK_SOLVER_OPENHRP, .timestep = 5e-4};
    const kk_step_options springhead = {
        .solver = KK_SOLVER_SPRINGHEAD, .timestep = 5e-4, .effort = KK_EFFORT_SWEEPS, .iterations = 60};
    const double z = height_after(&exact, 0.25, &force[0]);
    KK_CHECK_NEAR(height_after(&openhrp, 0.25, &force[1]), z, 2e-3);
    KK_CHECK_NEAR(height_after(&springhead, 0.25, &force[2]), z, 2e-3);
    KK_CHECK(force[0].z > 100 && force[1].z > 100 && force[2].z > 100);
}

// nothing allocates in a step, and a step that fails leaves the state as it was
KK_TEST(papers_steps_are_transactions) {
    for (int solver = KK_SOLVER_OPENHRP; solver <= KK_SOLVER_KURODA; solver++) {
        stage s = stage_begin(9.8);
        const int box = paper_slope(&s, 0.1, 0.5, 9.8);
        const kk_step_options o = {.solver = (kk_solver)solver, .timestep = 5e-3};
        if (stage_ready(&s, &o)) {
            stage_place(&s, box, 0, 0, 0.5);
            paper_run(&s, 20, NULL);
            kk_force push[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}};
            const kk_input input = {.wrench = push};
            const uint64_t before = kk_state_hash(s.state);
            push[box].linear.x = __builtin_inf();
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_NOT_FINITE);
            push[box].linear.x = 0;
            push[box].angular.y = 1e308; // overflows
            KK_CHECK_EQ_INT(kk_step(s.model, s.state, s.simulator, &input, &s.error), KK_NOT_FINITE);
            KK_CHECK(kk_state_hash(s.state) == before);
            KK_CHECK(kki_paper_of((kk_solver)solver) != NULL);
            push[box].angular.y = 0;
            const long allocations = allocations_so_far();
            paper_run(&s, 5, &input);
            KK_CHECK(allocations < 0 || allocations_so_far() == allocations);
        }
        stage_end(&s);
    }
}

// every allocation of a simulator may fail: a clean status, and nothing is lost
KK_TEST(papers_survive_failing_allocations) {
    static const kk_vec3 vertex[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    stage s = stage_begin(9.8);
    paper_slope(&s, 0.1, 0.5, 9.8);
    const int arm = paper_hinge(&s, KK_WORLD, kk_vec3_make(0, 0, 5), kk_inertia_solid_box(1, 1, 0.5, 0.5), "arm");
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "wedge";
    mesh.vertex = vertex;
    mesh.face = face;
    mesh.vertex_count = mesh.face_count = 4;
    int id = 0;
    KK_CHECK_EQ_INT(kk_spec_add_mesh(s.spec, &mesh, &id, &s.error), KK_OK);
    for (int hull = 0; hull < 2; hull++) {
        kk_shape_def shape = kk_shape_def_default();
        shape.type = hull ? KK_SHAPE_HULL : KK_SHAPE_MESH;
        shape.body = arm;
        shape.mesh = id;
        KK_CHECK_EQ_INT(kk_spec_add_shape(s.spec, &shape, NULL, &s.error), KK_OK);
    }
    KK_CHECK_EQ_INT(kk_model_compile(s.spec, NULL, &s.model, &s.error), KK_OK);
    for (int solver = KK_SOLVER_OPENHRP; s.model && solver <= KK_SOLVER_KURODA; solver++) {
        const kk_step_options o = {.solver = (kk_solver)solver};
        kk_status status = KK_OUT_OF_MEMORY;
        for (int fail_at = 0; status != KK_OK && fail_at < 500; fail_at++) {
            faulty watch = {.fail_at = fail_at};
            const kk_allocator allocator = {.allocate = faulty_allocate, .release = faulty_release, .user = &watch};
            status = kk_simulator_create(s.model, &o, &allocator, &s.simulator, &s.error);
            KK_CHECK(status == KK_OK || (status == KK_OUT_OF_MEMORY && !s.simulator && s.error.text[0]));
            kk_simulator_free(s.simulator);
            s.simulator = NULL;
            KK_CHECK_EQ_INT(watch.blocks, 0);
        }
        KK_CHECK_EQ_INT(status, KK_OK);
    }
    stage_end(&s);
}
