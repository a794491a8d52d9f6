// Sessions: what is seen again is what was, edits act and can be undone, strangers' commands break nothing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <karakuri/random.h>
#include <karakuri/save.h>
#include <karakuri/view.h>

#include "faults/faulty.h"
#include "harness.h"
#include "io/json.h"

static const double G = 9.81;

/// A box of 2 kg on the floor, and a servo-driven rod of 1 kg and 1 m on a hinge 3 m up, with an angle sensor.
static kk_spec *make_spec(void) {
    kk_spec *spec = NULL;
    kk_spec_create(NULL, &spec);
    kk_shape_def shape = kk_shape_def_default();
    shape.type = KK_SHAPE_PLANE;
    kk_spec_add_shape(spec, &shape, NULL, NULL);

    kk_body_def box = kk_body_def_default();
    box.name = "box \"1\"";
    box.joint.type = KK_JOINT_FREE;
    box.inertia = kk_inertia_solid_box(2, 0.2, 0.2, 0.2);
    int id;
    kk_spec_add_body(spec, &box, &id, NULL);
    shape = kk_shape_def_default();
    shape.body = id;
    shape.type = KK_SHAPE_BOX;
    shape.size[0] = shape.size[1] = shape.size[2] = 0.2;
    kk_spec_add_shape(spec, &shape, NULL, NULL);

    kk_body_def rod = kk_body_def_default();
    rod.name = "rod";
    rod.joint.name = "shoulder";
    rod.joint.placement = kk_transform_translation(2, 0, 3);
    rod.joint.axis = kk_vec3_make(0, 1, 0);
    rod.inertia = kk_inertia_solid_box(1, 0.02, 0.02, 1);
    rod.inertia.com = kk_vec3_make(0, 0, -0.5);
    kk_spec_add_body(spec, &rod, NULL, NULL);
    kk_actuator_def servo = kk_actuator_def_default();
    servo.name = "servo";
    servo.type = KK_ACTUATOR_POSITION;
    servo.target = "shoulder";
    servo.gain = 50;
    servo.bias[1] = -50;
    servo.bias[2] = -5;
    kk_spec_add_actuator(spec, &servo, NULL, NULL);
    kk_sensor_def sensor = kk_sensor_def_default();
    sensor.target = "shoulder";
    kk_spec_add_sensor(spec, &sensor, NULL, NULL);
    const double q[] = {1, 0, 0, 0, 0, 0, 0.1, 0};
    kk_keyframe_def key = kk_keyframe_def_default();
    key.q = q;
    key.q_count = 8;
    kk_spec_add_keyframe(spec, &key, NULL, NULL);
    return spec;
}

static kk_session *make_session(size_t history_bytes) {
    kk_session *session = NULL;
    kk_error error = {0};
    const kk_session_def def = {.history_bytes = history_bytes};
    kk_spec *spec = make_spec();
    KK_CHECK_EQ_INT(kk_session_create(spec, &def, NULL, &session, &error), KK_OK);
    if (!session) {
        KK_FAIL("%s", error.text);
        kk_spec_free(spec);
    }
    return session;
}

static kk_status tell(kk_session *s, const char *text) {
    kk_error error = {0};
    const kk_status status = kk_session_command(s, text, strlen(text), &error);
    KK_CHECK((status == KK_OK) == (error.text[0] == 0));
    return status;
}

static uint64_t hash(const kk_session *s) {
    return kk_state_hash(kk_session_state(s));
}

static double angle(const kk_session *s) {
    const int q = kk_model_joint(kk_session_model(s), 2).q_index;
    return kk_state_q_const(kk_session_state(s))[q];
}

static double number_at(const unsigned char *bytes, size_t at) {
    float f;
    memcpy(&f, bytes + at, sizeof f);
    return (double)f;
}

static uint32_t word_at(const unsigned char *bytes, size_t at) {
    uint32_t w;
    memcpy(&w, bytes + at, sizeof w);
    return w;
}

// going back and playing again gives the same bits, over controls, a drag, a push and edits in between
KK_TEST(session_rewind_replays_bit_by_bit) {
    kk_session *s = make_session(0);
    enum { COUNT = 400 };
    static uint64_t seen[COUNT + 1];
    for (int i = 0; i < COUNT; i++) {
        seen[i] = hash(s);
        i == 50 ? tell(s, "{\"do\":\"control\",\"actuator\":0,\"value\":0.5}") : KK_OK;
        i == 90 ? tell(s, "{\"do\":\"drag\",\"body\":1,\"point\":[0.1,0,0.1],\"target\":[1,0,1]}") : KK_OK;
        i == 150 ? tell(s, "{\"do\":\"edit\",\"item\":\"material\",\"id\":0,\"field\":\"friction\",\"value\":0.1}")
                 : KK_OK;
        i == 200 ? tell(s, "{\"do\":\"release\"}") : KK_OK;
        i == 210 ? tell(s, "{\"do\":\"edit\",\"item\":\"body\",\"id\":2,\"field\":\"mass\",\"value\":3}") : KK_OK;
        i == 300 ? tell(s, "{\"do\":\"push\",\"body\":1,\"force\":[5,0,0],\"steps\":40}") : KK_OK;
        KK_CHECK_EQ_INT(kk_session_step(s, 1, NULL), KK_OK);
    }
    seen[COUNT] = hash(s);
    const int back[] = {399, 0, 77, 160, 16, 17, 15, 320, 400, 205};
    for (size_t k = 0; k < sizeof back / sizeof back[0]; k++) {
        char text[64];
        snprintf(text, sizeof text, "{\"do\":\"rewind\",\"step\":%d}", back[k]);
        KK_CHECK_EQ_INT(tell(s, text), KK_OK);
        KK_CHECK(hash(s) == seen[back[k]]);
        for (int i = back[k]; i < COUNT; i++) {
            KK_CHECK_EQ_INT(kk_session_step(s, 1, NULL), KK_OK);
            KK_CHECK(hash(s) == seen[i + 1]);
        }
    }
    kk_session_free(s);
}

// a fork forgets the future, and with the other input another one comes
KK_TEST(session_fork_takes_another_way) {
    kk_session *s = make_session(0);
    const void *bytes;
    size_t size;
    kk_session_step(s, 100, NULL);
    const uint64_t end = hash(s);
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"rewind\",\"step\":40}"), KK_OK);
    KK_CHECK_EQ_INT(kk_session_frame(s, &bytes, &size, NULL), KK_OK);
    KK_CHECK_EQ_INT(word_at(bytes, 32) & KK_VIEW_REPLAYS, KK_VIEW_REPLAYS);
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"control\",\"actuator\":0,\"value\":1}"), KK_OK);
    kk_session_frame(s, &bytes, &size, NULL);
    KK_CHECK_EQ_INT(word_at(bytes, 32) & KK_VIEW_REPLAYS, 0);
    kk_session_step(s, 60, NULL);
    KK_CHECK(hash(s) != end);
    KK_CHECK(angle(s) > 0.05);
    // and the other way is the one that is gone back to
    const uint64_t other = hash(s);
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"rewind\",\"step\":70}"), KK_OK);
    kk_session_step(s, 30, NULL);
    KK_CHECK(hash(s) == other);
    kk_session_frame(s, &bytes, &size, NULL);
    KK_CHECK_EQ_INT(word_at(bytes, 32) & KK_VIEW_DIFFERS, 0);
    kk_session_free(s);
}

// a small memory forgets the oldest first
KK_TEST(session_history_is_bounded) {
    kk_session *s = make_session(200000);
    for (int i = 0; i < 40; i++) {
        kk_session_step(s, 100, NULL);
    }
    const uint64_t end = hash(s);
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"rewind\",\"step\":0}"), KK_OK);
    const void *bytes;
    size_t size;
    double now, oldest;
    kk_session_frame(s, &bytes, &size, NULL);
    memcpy(&now, (const char *)bytes + 16, 8);
    memcpy(&oldest, (const char *)bytes + 64, 8);
    KK_CHECK(now > 1000 && now == oldest);
    kk_session_step(s, 4000 - (int)now, NULL);
    KK_CHECK(hash(s) == end);
    kk_session_free(s);
}

// the servo's deflection under the rod's weight: kp (u − q) = m g l/2 sin q, for whatever mass and kp an edit gives
KK_TEST(session_edits_act) {
    kk_session *s = make_session(0);
    const uint32_t generation = kk_session_generation(s);
    tell(s, "[{\"do\":\"control\",\"actuator\":0,\"value\":1},"
            "{\"do\":\"edit\",\"item\":\"actuator\",\"id\":0,\"field\":\"kp\",\"value\":80},"
            "{\"do\":\"edit\",\"item\":\"actuator\",\"id\":0,\"field\":\"kd\",\"value\":20},"
            "{\"do\":\"edit\",\"item\":\"body\",\"id\":2,\"field\":\"mass\",\"value\":2.5}]");
    KK_CHECK(kk_session_generation(s) != generation);
    kk_session_step(s, 6000, NULL);
    KK_CHECK_NEAR(80 * (1 - angle(s)), 2.5 * G * 0.5 * sin(angle(s)), 1e-6);
    KK_CHECK_NEAR(kk_session_sensor_data(s)[0], angle(s), 1e-15);
    // gravity sideways turns the box's weight into sliding
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"edit\",\"item\":\"option\",\"field\":\"gravity\",\"value\":[0,0,0]}"), KK_OK);
    kk_session_step(s, 6000, NULL);
    KK_CHECK_NEAR(angle(s), 1, 1e-6);
    kk_session_free(s);
}

// an edit carries over everything: the same as a new model of the edited spec that goes on from the same state
KK_TEST(session_edit_is_a_new_model) {
    kk_session *s = make_session(0);
    kk_session_step(s, 200, NULL);
    const uint64_t before = hash(s);
    tell(s, "{\"do\":\"edit\",\"item\":\"material\",\"id\":0,\"field\":\"friction\",\"value\":0.3}");
    KK_CHECK(hash(s) == before);
    kk_model *model = NULL;
    kk_simulator *simulator = NULL;
    kk_state *state = NULL;
    KK_CHECK_EQ_INT(kk_model_compile(kk_session_spec(s), NULL, &model, NULL), KK_OK);
    KK_CHECK(kk_model_hash(model) == kk_model_hash(kk_session_model(s)));
    KK_CHECK_EQ_INT(kk_simulator_create(model, NULL, NULL, &simulator, NULL), KK_OK);
    KK_CHECK_EQ_INT(kk_state_create(model, NULL, &state), KK_OK);
    KK_CHECK_EQ_INT(kk_state_copy(state, kk_session_state(s)), KK_OK);
    const kk_input input = {.control = kk_session_control(s)};
    for (int i = 0; i < 200; i++) {
        KK_CHECK_EQ_INT(kk_step(model, state, simulator, &input, NULL), KK_OK);
    }
    kk_session_step(s, 200, NULL);
    KK_CHECK(kk_state_hash(state) == hash(s));
    kk_state_free(state);
    kk_simulator_free(simulator);
    kk_model_free(model);
    kk_session_free(s);
}

// another method at a touch, and back: what came before is not disturbed
KK_TEST(session_changes_the_solver) {
    kk_session *s = make_session(0);
    kk_session_step(s, 50, NULL);
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"edit\",\"item\":\"step\",\"field\":\"solver\",\"value\":\"springhead\"}"),
                    KK_OK);
    KK_CHECK_EQ_INT(kk_session_step(s, 50, NULL), KK_OK);
    const uint64_t there = hash(s);
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"edit\",\"item\":\"step\",\"field\":\"solver\",\"value\":\"exact\"}"), KK_OK);
    KK_CHECK_EQ_INT(kk_session_step(s, 50, NULL), KK_OK);
    KK_CHECK_EQ_INT(tell(s, "{\"do\":\"rewind\",\"step\":100}"), KK_OK);
    KK_CHECK(hash(s) == there);
    KK_CHECK(tell(s, "{\"do\":\"edit\",\"item\":\"step\",\"field\":\"solver\",\"value\":\"magic\"}") != KK_OK);
    kk_session_free(s);
}

// of edits that belong together one that is wrong undoes all
KK_TEST(session_edits_together_or_not_at_all) {
    kk_session *s = make_session(0);
    const uint64_t before = kk_model_hash(kk_session_model(s));
    const char *const wrong = "[{\"do\":\"edit\",\"item\":\"body\",\"id\":2,\"field\":\"mass\",\"value\":7},"
                              "{\"do\":\"edit\",\"item\":\"dof\",\"id\":[2,0],\"field\":\"damping\",\"value\":-1}]";
    KK_CHECK(tell(s, wrong) != KK_OK);
    KK_CHECK(kk_model_hash(kk_session_model(s)) == before);
    KK_CHECK_NEAR(kk_spec_body_const(kk_session_spec(s), 2)->inertia.mass, 1, 0);
    const uint32_t generation = kk_session_generation(s);
    tell(s, "[{\"do\":\"edit\",\"item\":\"body\",\"id\":2,\"field\":\"mass\",\"value\":7},"
            "{\"do\":\"edit\",\"item\":\"dof\",\"id\":[2,0],\"field\":\"damping\",\"value\":1}]");
    KK_CHECK_EQ_INT(kk_session_generation(s), generation + 1);
    KK_CHECK_NEAR(kk_model_body_inertia(kk_session_model(s), 2).mass, 7, 0);
    kk_session_free(s);
}

// dragging: the spring holds the box where its force is the weight
KK_TEST(session_drag_holds_the_weight) {
    kk_session *s = make_session(0);
    tell(s, "{\"do\":\"drag\",\"body\":1,\"point\":[0,0,0.1],\"target\":[0,0,1],\"stiffness\":200,\"damping\":40}");
    kk_session_step(s, 5000, NULL);
    const double z = kk_state_q_const(kk_session_state(s))[kk_model_joint(kk_session_model(s), 1).q_index + 6];
    KK_CHECK_NEAR(200 * (1 - (z + 0.1)), 2 * G, 1e-6);
    tell(s, "{\"do\":\"release\"}");
    kk_session_step(s, 1000, NULL);
    KK_CHECK_NEAR(kk_state_q_const(kk_session_state(s))[kk_model_joint(kk_session_model(s), 1).q_index + 6], 0.1, 1e-4);
    kk_session_free(s);
}

// wrong edits leave everything as it was
KK_TEST(session_refuses_what_makes_no_sense) {
    kk_session *s = make_session(0);
    kk_session_step(s, 10, NULL);
    const uint64_t model = kk_model_hash(kk_session_model(s)), state = hash(s);
    const char *const wrong[] = {
        "",
        "{}",
        "[",
        "null",
        "3",
        "\"do\"",
        "{\"do\":1}",
        "{\"do\":\"fly\"}",
        "{\"do\":\"play\",\"now\":1}",
        "[[]]",
        "{\"do\":\"control\",\"actuator\":1,\"value\":0}",
        "{\"do\":\"control\",\"actuator\":0,\"value\":1e300}",
        "{\"do\":\"control\",\"actuator\":-1,\"value\":0}",
        "{\"do\":\"control\",\"actuator\":0.5,\"value\":0}",
        "{\"do\":\"controls\",\"values\":[1,2]}",
        "{\"do\":\"controls\"}",
        "{\"do\":\"edit\",\"item\":\"body\",\"id\":2,\"field\":\"mass\",\"value\":-1}",
        "{\"do\":\"edit\",\"item\":\"body\",\"id\":0,\"field\":\"mass\",\"value\":1}",
        "{\"do\":\"edit\",\"item\":\"body\",\"id\":99,\"field\":\"mass\",\"value\":1}",
        "{\"do\":\"edit\",\"item\":\"dof\",\"id\":2,\"field\":\"damping\",\"value\":1}",
        "{\"do\":\"edit\",\"item\":\"dof\",\"id\":[],\"field\":\"damping\",\"value\":1}",
        "{\"do\":\"edit\",\"item\":\"dof\",\"id\":[2,6],\"field\":\"damping\",\"value\":1}",
        "{\"do\":\"edit\",\"item\":\"dof\",\"id\":[2,0],\"field\":\"damping\",\"value\":-1}",
        "{\"do\":\"edit\",\"item\":\"dof\",\"id\":[2,0],\"field\":\"index\",\"value\":1}",
        "{\"do\":\"edit\",\"item\":\"actuator\",\"id\":0,\"field\":\"target\",\"value\":\"x\"}",
        "{\"do\":\"edit\",\"item\":\"material\",\"id\":0,\"field\":\"friction\",\"value\":-0.5}",
        "{\"do\":\"edit\",\"item\":\"option\",\"field\":\"timestep\",\"value\":0}",
        "{\"do\":\"edit\",\"item\":\"option\",\"field\":\"max_contacts\",\"value\":1000000}",
        "{\"do\":\"edit\",\"item\":\"option\",\"field\":\"gravity\",\"value\":[]}",
        "{\"do\":\"edit\",\"item\":\"option\",\"field\":\"gravity\",\"value\":[0,0]}",
        "{\"do\":\"drag\",\"body\":0,\"point\":[0,0,0],\"target\":[0,0,0]}",
        "{\"do\":\"drag\",\"body\":1,\"point\":[0,0],\"target\":[0,0,0]}",
        "{\"do\":\"step\",\"count\":1000000}",
        "{\"do\":\"reset\",\"keyframe\":1}",
        "{\"do\":\"restore\",\"slot\":0}",
        "{\"do\":\"save\",\"slot\":8}",
        "{\"do\":\"pose\",\"q\":[0,0,0,0,0,0,0,0]}",
        "{\"do\":\"speed\",\"value\":0}",
        "{\"do\":\"rewind\",\"step\":-1}",
        "{\"do\":\"rewind\",\"step\":1e400}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (!KK_CHECK(tell(s, wrong[i]) != KK_OK)) {
            printf("    %s\n", wrong[i]);
        }
        KK_CHECK(kk_model_hash(kk_session_model(s)) == model && hash(s) == state);
    }
    kk_session_free(s);
}

// bytes changed at random in good commands never break a session
KK_TEST(session_survives_altered_commands) {
    kk_session *s = make_session(100000);
    kk_random random = {7, 1, 0};
    const char *const good[] = {"{\"do\":\"edit\",\"item\":\"dof\",\"id\":[2,0],\"field\":\"damping\",\"value\":0.25}",
                                "[{\"do\":\"drag\",\"body\":1,\"point\":[0,0,0.1],\"target\":[0,0,1]},{\"do\":\"step\","
                                "\"count\":3},{\"do\":\"release\"}]",
                                "{\"do\":\"pose\",\"q\":[1,0,0,0,0,0,0.3,0.2],\"v\":[0,0,0,0,0,0,0]}",
                                "[{\"do\":\"save\",\"slot\":3},{\"do\":\"step\",\"count\":20},{\"do\":\"rewind\","
                                "\"step\":3},{\"do\":\"restore\",\"slot\":3}]"};
    for (int i = 0; i < 4; i++) {
        KK_CHECK_EQ_INT(tell(s, good[i]), KK_OK);
    }
    for (int i = 0; i < (kk_test_is_quick() ? 300 : 3000); i++) {
        char text[256];
        const char *from = good[kk_random_next_below(&random, 4)];
        const size_t length = strlen(from);
        memcpy(text, from, length);
        for (uint64_t k = 0; k < 1 + kk_random_next_below(&random, 3); k++) {
            text[kk_random_next_below(&random, length)] = "0123456789-e.,:[]{}\"ab"[kk_random_next_below(&random, 22)];
        }
        kk_session_command(s, text, length, NULL);
        const void *bytes;
        size_t size;
        KK_CHECK_EQ_INT(kk_session_frame(s, &bytes, &size, NULL), KK_OK);
    }
    kk_session_free(s);
}

// the description is JSON that names everything, and a frame holds what the state says
KK_TEST(view_describes_and_shows) {
    kk_session *s = make_session(0);
    const char *text;
    size_t length;
    kk_error error;
    KK_CHECK_EQ_INT(kk_session_describe(s, &text, &length, &error), KK_OK);
    kki_json json;
    KK_CHECK_EQ_INT(kki_json_parse(text, length, NULL, NULL, &json, &error), KK_OK);
    KK_CHECK_EQ_INT(kki_json_size(&json, kki_json_member(&json, 0, "bodies")), 3);
    KK_CHECK_EQ_INT(kki_json_size(&json, kki_json_member(&json, 0, "shapes")), 2);
    KK_CHECK_EQ_INT(kki_json_size(&json, kki_json_member(&json, 0, "actuators")), 1);
    double h = 0;
    KK_CHECK(kki_json_number(&json, kki_json_member(&json, kki_json_member(&json, 0, "options"), "timestep"), &h));
    KK_CHECK_NEAR(h, 0.001, 0);
    KK_CHECK(strstr(text, "\"box \\\"1\\\"\"") != NULL);
    kki_json_free(&json);

    kk_session_step(s, 500, NULL);
    const void *frame;
    size_t size;
    KK_CHECK_EQ_INT(kk_session_frame(s, &frame, &size, &error), KK_OK);
    const unsigned char *bytes = frame;
    KK_CHECK_EQ_INT(word_at(bytes, 0), 0x31464b4b);
    KK_CHECK_EQ_INT(word_at(bytes, 4), size);
    KK_CHECK_EQ_INT(word_at(bytes, 36), 3);
    const uint32_t ncontact = word_at(bytes, 40);
    KK_CHECK_EQ_INT(size, kk_view_frame_size(kk_session_model(s), (int)ncontact));
    KK_CHECK_EQ_INT(ncontact, 4);
    double force = 0;
    for (uint32_t i = 0; i < ncontact; i++) {
        force += number_at(bytes, 160 + 4 * (21 + 16 * i + 8));
    }
    KK_CHECK_NEAR(fabs(force), 2 * G, 1e-5);
    // the ZMP under the resting box; the box's pose
    KK_CHECK_NEAR(number_at(bytes, 132), 0, 1e-6);
    KK_CHECK_NEAR(number_at(bytes, 136), 0, 1e-6);
    KK_CHECK_NEAR(number_at(bytes, 160 + 4 * (7 + 6)), 0.1, 1e-5);
    kk_session_free(s);
}

/// Everything that takes memory; the first status that is not KK_OK. A session that is there can go on whatever failed.
static kk_status do_everything(const kk_allocator *allocator) {
    kk_spec *spec = make_spec();
    kk_session *s = NULL;
    const kk_session_def def = {.history_bytes = 20000};
    kk_status status = kk_session_create(spec, &def, allocator, &s, NULL);
    if (status != KK_OK) {
        KK_CHECK(s == NULL);
        kk_spec_free(spec);
        return status;
    }
    const char *const commands[] = {"{\"do\":\"edit\",\"item\":\"body\",\"id\":2,\"field\":\"mass\",\"value\":7}",
                                    "[{\"do\":\"step\",\"count\":40},{\"do\":\"save\",\"slot\":0}]",
                                    "{\"do\":\"edit\",\"item\":\"option\",\"field\":\"gravity\",\"value\":[0,0,-5]}",
                                    "[{\"do\":\"step\",\"count\":20},{\"do\":\"rewind\",\"step\":10}]",
                                    "{\"do\":\"controls\",\"values\":[0.2]}",
                                    "{\"do\":\"reset\"}"};
    const void *bytes;
    const char *text;
    size_t size;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const kk_status one = kk_session_command(s, commands[i], strlen(commands[i]), NULL);
        status = status ? status : one;
        const kk_status stepped = kk_session_step(s, 2, NULL); // room for contacts may be what there is no memory for
        status = status ? status : stepped;
        KK_CHECK(stepped == KK_OK || (stepped == KK_OUT_OF_MEMORY && kk_session_step(s, 2, NULL) == KK_OK));
    }
    const kk_status described = kk_session_describe(s, &text, &size, NULL);
    status = status ? status : described;
    const kk_status shown = kk_session_frame(s, &bytes, &size, NULL);
    kk_session_free(s);
    return status ? status : shown;
}

KK_TEST(session_every_failed_allocation_is_a_clean_status) {
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = faulty_allocator(&f);
    KK_CHECK_EQ_INT(do_everything(&allocator), KK_OK);
    KK_CHECK_EQ_INT(f.blocks, 0);
    const int calls = f.calls;
    KK_CHECK(calls > 30);
    for (int k = 0; k < calls; k++) {
        f = (faulty){.fail_at = k};
        KK_CHECK_EQ_INT(do_everything(&allocator), KK_OUT_OF_MEMORY);
        KK_CHECK_EQ_INT(f.blocks, 0);
        KK_CHECK_EQ_INT(f.bytes, 0);
    }
}
