// Every allocation of spec, model and state is made to fail in turn: a clean status, no leak, and the next try works.
#include <karakuri/state.h>

#include "../model/fixture.h"
#include "support/allocations.h"

/// A body with a name long enough that the spec's strings need several blocks.
static kk_status add_link(kk_spec *spec, int i, kk_error *error) {
    char name[300], joint[16];
    memset(name, 'n', sizeof name);
    snprintf(name + 250, sizeof name - 250, "%d", i);
    snprintf(joint, sizeof joint, "joint%d", i);
    kk_body_def body = fixture_box(name, i / 2, i % 3 ? KK_JOINT_HINGE : KK_JOINT_PLANAR);
    body.joint.name = joint;
    return kk_spec_add_body(spec, &body, NULL, error);
}

static kk_status add_mesh_and_field(kk_spec *spec, kk_error *error) {
    static const kk_vec3 vertex[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const double height[4] = {1, 2, 3, 4};
    kk_mesh_def mesh = kk_mesh_def_default();
    mesh.name = "mesh";
    mesh.vertex = vertex;
    mesh.face = face;
    mesh.vertex_count = mesh.face_count = 4;
    const kk_status status = kk_spec_add_mesh(spec, &mesh, NULL, error);
    kk_height_field_def field = kk_height_field_def_default();
    field.name = "field";
    field.rows = field.columns = 2;
    field.height = height;
    return status ? status : kk_spec_add_height_field(spec, &field, NULL, error);
}

/// A hull, a mesh, a grid and a ball, an actuator with a lag, a keyframe.
static kk_status add_scene(kk_spec *spec, kk_error *error) {
    static const kk_shape_type types[] = {KK_SHAPE_HULL, KK_SHAPE_MESH, KK_SHAPE_HEIGHT_FIELD, KK_SHAPE_SPHERE};
    kk_status status = add_mesh_and_field(spec, error);
    for (int i = 0; i < 4 && status == KK_OK; i++) {
        kk_shape_def shape = kk_shape_def_default();
        shape.type = types[i];
        shape.body = i == 2 ? KK_WORLD : 2 * i + 1;
        shape.size[0] = 1;
        shape.mesh = shape.height_field = 0;
        status = kk_spec_add_shape(spec, &shape, NULL, error);
    }
    kk_actuator_def actuator = kk_actuator_def_default();
    actuator.target = "joint1";
    actuator.activation = KK_ACTIVATION_INTEGRATE;
    status = status ? status : kk_spec_add_actuator(spec, &actuator, NULL, error);
    kk_keyframe_def keyframe = kk_keyframe_def_default();
    return status ? status : kk_spec_add_keyframe(spec, &keyframe, NULL, error);
}

static kk_status add_parts(kk_spec *spec, kk_error *error) {
    kk_status status = KK_OK;
    for (int i = 0; i < 40 && status == KK_OK; i++) {
        status = add_link(spec, i, error);
    }
    kk_frame_def frame = kk_frame_def_default();
    frame.name = "frame";
    status = status ? status : kk_spec_add_frame(spec, &frame, NULL, error);
    kk_coupling_def coupling = kk_coupling_def_default();
    coupling.follower = "joint1";
    coupling.leader = "joint2";
    status = status ? status : kk_spec_add_coupling(spec, &coupling, NULL, error);
    return status ? status : add_scene(spec, error);
}

static kk_status use_state(const kk_model *m, const kk_allocator *allocator) {
    kk_state *state = NULL;
    const kk_status status = kk_state_create(m, allocator, &state);
    KK_CHECK((status == KK_OK) == (state != NULL));
    kk_state_free(state);
    return status;
}

/// All of it once; the first status that is not KK_OK.
static kk_status build_all(const kk_allocator *allocator, kk_error *error) {
    kk_spec *spec = NULL;
    kk_model *m = NULL;
    kk_status status = kk_spec_create(allocator, &spec);
    KK_CHECK((status == KK_OK) == (spec != NULL));
    status = status ? status : add_parts(spec, error);
    status = status ? status : kk_model_compile(spec, allocator, &m, error);
    KK_CHECK((status == KK_OK) == (m != NULL));
    status = status ? status : use_state(m, allocator);
    kk_model_free(m);
    kk_spec_free(spec);
    return status;
}

KK_TEST(every_failed_allocation_is_a_clean_status) {
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
    kk_error error = {0};
    KK_CHECK_EQ_INT(build_all(&allocator, &error), KK_OK);
    const int calls = f.calls;
    KK_CHECK(calls > 8);
    for (int k = 0; k < calls; k++) {
        f = (faulty){.fail_at = k};
        error = (kk_error){0};
        KK_CHECK_EQ_INT(build_all(&allocator, &error), KK_OUT_OF_MEMORY);
        KK_CHECK_EQ_INT(f.blocks, 0);
        KK_CHECK_EQ_INT(f.bytes, 0);
        KK_CHECK(error.status == KK_OK || (error.status == KK_OUT_OF_MEMORY && error.text[0] != 0));
    }
    f = (faulty){.fail_at = -1};
    KK_CHECK_EQ_INT(build_all(&allocator, NULL), KK_OK);
    KK_CHECK_EQ_INT(f.blocks, 0);
}

// after a failed call the same objects go on working
KK_TEST(failed_calls_leave_the_spec_usable) {
    for (int k = 0; k < 8; k++) {
        faulty f = {.fail_at = -1};
        const kk_allocator allocator = {faulty_allocate, faulty_release, &f};
        kk_spec *spec = NULL;
        KK_CHECK_EQ_INT(kk_spec_create(&allocator, &spec), KK_OK);
        f.fail_at = f.calls + k;
        int added = 0;
        while (added < 200) {
            char name[100];
            memset(name, 'x', sizeof name);
            snprintf(name + 80, 20, "%d", added);
            const kk_body_def body = fixture_box(name, added, KK_JOINT_HINGE);
            added += kk_spec_add_body(spec, &body, NULL, NULL) == KK_OK;
        }
        KK_CHECK_EQ_INT(kk_spec_body_count(spec), 201);
        kk_model *m = NULL;
        f.fail_at = f.calls + k % 2;
        KK_CHECK_EQ_INT(kk_model_compile(spec, &allocator, &m, NULL), KK_OUT_OF_MEMORY);
        KK_CHECK_EQ_INT(kk_model_compile(spec, &allocator, &m, NULL), KK_OK);
        kk_model_free(m);
        kk_spec_free(spec);
        KK_CHECK_EQ_INT(f.blocks, 0);
        KK_CHECK_EQ_INT(f.bytes, 0);
    }
}
