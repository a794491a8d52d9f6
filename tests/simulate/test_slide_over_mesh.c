// Bodies that slide over a flat mesh do not feel its triangles: no step makes them jump.
#include <karakuri/simulate.h>
#include <karakuri/spec.h>

#include <math.h>
#include <stdlib.h>

#include "harness.h"

enum { CELLS = 40, LINE = CELLS + 1 };

static void add_field(kk_spec *spec, kk_shape_def *shape) {
    static double height[LINE * LINE];
    kk_height_field_def field = kk_height_field_def_default();
    field.name = "grid";
    field.rows = field.columns = LINE;
    field.half_x = 0.17 * CELLS / 2, field.half_y = 0.13 * CELLS / 2, field.base = 1;
    field.height = height;
    shape->type = KK_SHAPE_HEIGHT_FIELD;
    KK_CHECK_EQ_INT(kk_spec_add_height_field(spec, &field, &shape->height_field, NULL), KK_OK);
}

static void add_sheet(kk_spec *spec, kk_shape_def *shape) {
    static kk_vec3 vertex[LINE * LINE];
    static int32_t face[2 * CELLS * CELLS][3];
    for (int i = 0; i < LINE * LINE; i++) {
        const int column = i % LINE - CELLS / 2, row = i / LINE - CELLS / 2;
        vertex[i] = kk_vec3_make(0.17 * column, 0.13 * row, 0);
    }
    for (int i = 0; i < CELLS * CELLS; i++) {
        const int32_t a = i / CELLS * LINE + i % CELLS, b = a + 1, c = b + LINE, d = a + LINE;
        face[2 * i][0] = a, face[2 * i][1] = b, face[2 * i][2] = c;
        face[2 * i + 1][0] = a, face[2 * i + 1][1] = c, face[2 * i + 1][2] = d;
    }
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "sheet";
    mesh.vertex = vertex, mesh.vertex_count = LINE * LINE;
    mesh.face = (const int32_t(*)[3])face, mesh.face_count = 2 * CELLS * CELLS;
    shape->type = KK_SHAPE_MESH;
    KK_CHECK_EQ_INT(kk_spec_add_mesh(spec, &mesh, &shape->mesh, NULL), KK_OK);
}

static void add_body(kk_spec *spec, kk_shape_type type, int material) {
    kk_body_def body = kk_body_def_default();
    body.name = "body";
    body.joint.type = KK_JOINT_FREE;
    body.inertia = kk_inertia_solid_box(1, 0.4, 0.3, 0.2);
    kk_shape_def shape = kk_shape_def_default();
    shape.material = material;
    shape.type = type;
    shape.size[0] = type == KK_SHAPE_BOX ? 0.4 : 0.1;
    shape.size[1] = type == KK_SHAPE_BOX ? 0.3 : 0.4;
    shape.size[2] = 0.2;
    shape.placement.R = kk_mat3_from_rpy(type == KK_SHAPE_CAPSULE ? KK_HALF_PI : 0, 0, 0);
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, &shape.body, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &shape, NULL, NULL), KK_OK);
}

// one body that lies on the ground
static kk_model *make_model(kk_shape_type type, int with_field, double friction) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    kk_material_def material = kk_material_def_default();
    material.friction = friction;
    kk_shape_def ground = kk_shape_def_default();
    KK_CHECK_EQ_INT(kk_spec_add_material(spec, &material, &ground.material, NULL), KK_OK);
    (with_field ? add_field : add_sheet)(spec, &ground);
    KK_CHECK_EQ_INT(kk_spec_add_shape(spec, &ground, NULL, NULL), KK_OK);
    add_body(spec, type, ground.material);
    if (kk_model_compile(spec, NULL, &model, &error) != KK_OK) {
        KK_FAIL("model: %s", error.text);
    }
    kk_spec_free(spec);
    return model;
}

static double world_vz(const double *q, const double *v) {
    const kk_quat r = {q[0], q[1], q[2], q[3]};
    return kk_mat3_mul_vec(kk_quat_to_mat3(r), kk_vec3_make(v[3], v[4], v[5])).z;
}

static void launch(kk_state *state) {
    double *q = kk_state_q(state), *v = kk_state_v(state);
    const kk_quat yaw = kk_quat_exp(kk_vec3_make(0, 0, 0.3));
    q[0] = yaw.w, q[1] = yaw.x, q[2] = yaw.y, q[3] = yaw.z;
    q[4] = -2.5, q[5] = 0.021, q[6] = 0.1;
    const kk_vec3 u = kk_mat3_tmul_vec(kk_quat_to_mat3(yaw), kk_vec3_make(5, 0.3, 0));
    v[3] = u.x, v[4] = u.y, v[5] = u.z;
}

static void slide(kk_shape_type type, int with_field, double friction) {
    kk_model *model = make_model(type, with_field, friction);
    kk_state *state = NULL;
    kk_simulator *simulator = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_state_create(model, NULL, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_simulator_create(model, NULL, NULL, &simulator, &error), KK_OK);
    launch(state);
    const double *q = kk_state_q(state), *v = kk_state_v(state);
    double worst = 0, turned = 0;
    for (int i = 0; i < 900; i++) {
        if (kk_step(model, state, simulator, NULL, &error) != KK_OK) {
            KK_FAIL("step %d: %s", i, error.text);
            break;
        }
        worst = fmax(worst, fabs(world_vz(q, v)));
        turned = fmax(turned, fabs(v[0]) + fabs(v[1]));
        KK_CHECK(kk_simulator_ncontact(simulator) > 0);
    }
    KK_CHECK(friction > 0 || q[4] > 1.9);
    KK_CHECK_NEAR(worst, 0, 1e-9);
    KK_CHECK_NEAR(turned, 0, 1e-9);
    kk_simulator_free(simulator);
    kk_state_free(state);
    kk_model_free(model);
}

KK_TEST(bodies_slide_over_a_flat_mesh) {
    const kk_shape_type type[3] = {KK_SHAPE_BOX, KK_SHAPE_SPHERE, KK_SHAPE_CAPSULE};
    for (int i = 0; i < 3; i++) {
        for (int with_field = 0; with_field < 2; with_field++) {
            slide(type[i], with_field, 0);
        }
    }
}

// a box that is braked puts its weight on its front edge, and still does not jump
KK_TEST(box_brakes_on_a_flat_mesh) {
    slide(KK_SHAPE_BOX, 0, 0.3);
    slide(KK_SHAPE_BOX, 1, 0.3);
}
