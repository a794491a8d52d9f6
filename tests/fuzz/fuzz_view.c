// libFuzzer target of a session's commands: lines of JSON as a page or a socket sends them. Whatever they say, the session
// goes on: it can be stepped, told and shown.
//
// scripts/fuzz.sh view builds and runs it; tests/view/test_session.c replays the corpus.
#include <karakuri/view.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_view(int condition) {
    if (!condition) {
        abort();
    }
}

/// A hinge with a servo, and a ball on a plane.
static kk_spec *spec_for_view(void) {
    kk_spec *spec = NULL;
    require_view(kk_spec_create(NULL, &spec) == KK_OK);
    kk_shape_def shape = kk_shape_def_default();
    shape.type = KK_SHAPE_PLANE;
    kk_spec_add_shape(spec, &shape, NULL, NULL);
    kk_body_def rod = kk_body_def_default();
    rod.name = "rod";
    rod.joint.name = "j";
    rod.joint.axis = kk_vec3_make(0, 1, 0);
    rod.joint.placement = kk_transform_translation(0, 0, 2);
    rod.inertia = kk_inertia_solid_box(1, 0.1, 0.1, 1);
    kk_spec_add_body(spec, &rod, NULL, NULL);
    kk_body_def ball = kk_body_def_default();
    int id;
    ball.name = "ball";
    ball.joint.type = KK_JOINT_FREE;
    ball.inertia = kk_inertia_solid_sphere(1, 0.1);
    kk_spec_add_body(spec, &ball, &id, NULL);
    shape = kk_shape_def_default();
    shape.type = KK_SHAPE_SPHERE;
    shape.body = id;
    shape.size[0] = 0.1;
    kk_spec_add_shape(spec, &shape, NULL, NULL);
    kk_actuator_def servo = kk_actuator_def_default();
    servo.name = "servo";
    servo.type = KK_ACTUATOR_POSITION;
    servo.target = "j";
    servo.gain = 10;
    servo.bias[1] = -10;
    kk_spec_add_actuator(spec, &servo, NULL, NULL);
    return spec;
}

static void tell_line(kk_session *session, const char *line, size_t length) {
    char *copy = malloc(length + 1); // without a zero behind it
    kk_error error = {0};
    if (!copy) {
        return;
    }
    memcpy(copy, line, length);
    const kk_status status = kk_session_command(session, copy, length, &error);
    require_view((status == KK_OK) == (error.text[0] == 0));
    free(copy);
}

static void show(kk_session *session) {
    const void *bytes;
    size_t size;
    require_view(kk_session_frame(session, &bytes, &size, NULL) == KK_OK && size > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const kk_session_def def = {.history_bytes = 1 << 16, .paused = 1};
    kk_session *session = NULL;
    kk_spec *spec = spec_for_view();
    require_view(kk_session_create(spec, &def, NULL, &session, NULL) == KK_OK);
    const char *text = (const char *)data, *end = text + size;
    for (int lines = 0; text < end && lines < 16; lines++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        tell_line(session, text, (size_t)(stop - text));
        kk_session_advance(session, 0.002, 2);
        text = stop < end ? stop + 1 : end;
    }
    show(session);
    kk_session_free(session);
    return 0;
}
