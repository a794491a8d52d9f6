// Broken URDF files end in an error at the place of the fault, with its reason and a remedy; none is a crash or a leak.
#include "urdf_support.h"

#define A "<link name='a'/>"
#define B "<link name='b'/>"
#define AB "<parent link='a'/><child link='b'/>"

static const struct {
    const char *text;
    kk_status status;
    int line, column;
    const char *words;
} cases[] = {
#include "malformed_urdf.inc"
};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

KK_TEST(malformed_urdf_is_refused_at_its_place) {
    for (int i = 0; i < CASE_COUNT; i++) {
        robot r = robot_from_text(cases[i].text, NULL);
        const kk_error *e = &r.error;
        if (r.status != cases[i].status || e->line != cases[i].line || e->column != cases[i].column ||
            !strstr(e->text, cases[i].words) || strcmp(e->file, "robot.urdf") != 0) {
            KK_FAIL("case %d %s: %s %s:%d:%d %s", i, cases[i].text, kk_status_name(r.status), e->file, e->line,
                    e->column, e->text);
        }
        KK_CHECK(r.spec == NULL);
        KK_CHECK_EQ_INT(kk_messages_count_of(r.messages, KK_SEVERITY_ERROR) > 0, 1);
        // every error says what to do, in the message or behind it
        const kk_message m = kk_messages_get(r.messages, kk_messages_count(r.messages) - 1);
        if (m.remedy[0] == 0 && !strchr(m.text, ';')) {
            KK_FAIL("case %d has no remedy: %s", i, m.text);
        }
        robot_free(&r);
    }
}

// one run tells all that is wrong
KK_TEST(malformed_urdf_tells_several_faults) {
    robot r =
        robot_from_text("<robot><link name='a'><inertial><mass value='x'/><inertia ixx='1' iyy='y' izz='1'/></inertial>"
                        "<visual><geometry><sphere radius='-1'/></geometry></visual></link></robot>",
                        NULL);
    KK_CHECK_EQ_INT(kk_messages_count_of(r.messages, KK_SEVERITY_ERROR), 3);
    robot_free(&r);
}

// every prefix of a good file, and every file with one byte changed, ends one way or the other
KK_TEST(malformed_urdf_by_cutting_and_changing) {
    static const char good[] =
        "<robot name='r'><material name='m'><color rgba='1 0 0 1'/></material><link name='a'><inertial><origin "
        "xyz='0 0 1'/><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial><visual><geometry><box size='1 2 "
        "3'/>"
        "</geometry><material name='m'/></visual></link><link name='b'><collision><geometry><cylinder radius='1' "
        "length='2'/></geometry><karakuri margin='1'/></collision></link><joint name='j' type='revolute'><parent "
        "link='a'/><child link='b'/><axis xyz='0 1 0'/><limit lower='0' upper='1'/><mimic joint='k'/></joint><link "
        "name='c'/><joint name='k' type='continuous'><parent link='a'/><child link='c'/><karakuri type='screw'><dof "
        "damping='1'/></karakuri></joint><transmission name='t'><joint name='k'/></transmission><karakuri><loop "
        "type='weld' link1='b' link2='c'/></karakuri></robot>";
    enum { LENGTH = sizeof good - 1 };
    char text[sizeof good];
    robot whole = robot_from_text(good, NULL);
    KK_CHECK(robot_is_good(&whole, "the whole"));
    robot_free(&whole);
    const int step = kk_test_is_quick() ? 7 : 1;
    for (int i = 0; i < LENGTH; i += step) {
        memcpy(text, good, (size_t)i);
        text[i] = 0;
        robot r = robot_from_text(text, NULL);
        KK_CHECK(r.status != KK_OK && r.error.line > 0);
        robot_free(&r);
        static const char other[] = "<>'/ x0-";
        memcpy(text, good, sizeof good);
        text[i] = other[i % (int)(sizeof other - 1)];
        r = robot_from_text(text, NULL);
        KK_CHECK(r.status == KK_OK || (r.error.line > 0 && r.error.column > 0 && r.error.text[0] != 0));
        robot_free(&r);
    }
}

static void load_counted(counter *c, const char *text, const kk_load_options *more) {
    const kk_allocator allocator = counter_allocator(c);
    const kk_file file = {"robot.urdf", text, strlen(text)};
    kk_load_options o = more ? *more : (kk_load_options){0};
    o.file = &file;
    o.file_count = 1;
    kk_spec *spec = NULL;
    kk_error error = {0};
    const kk_status status = kk_load_file("robot.urdf", &o, &allocator, &spec, NULL, &error);
    if (status != KK_OK && status != KK_OUT_OF_MEMORY) {
        KK_FAIL("%d:%d: %s", error.line, error.column, error.text);
    }
    KK_CHECK_EQ_INT(status == KK_OUT_OF_MEMORY, c->fail_at >= 0 && c->calls > c->fail_at);
    kk_spec_free(spec);
    KK_CHECK_EQ_INT(c->blocks, 0);
    KK_CHECK_EQ_INT(c->bytes, 0);
}

// every allocation of a load fails once
KK_TEST(urdf_survives_failing_allocations) {
    static const char text[] =
        "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
        "izz='1'/></inertial><visual><geometry><box size='1 2 3'/></geometry><material name='m'><color "
        "rgba='1 0 0'/></material></visual><collision name='s'><geometry><sphere radius='1'/></geometry></collision>"
        "</link><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial><collision "
        "name='t'><geometry><sphere radius='1'/></geometry></collision></link><joint "
        "name='j' type='continuous'><parent link='a'/><child link='b'/><karakuri><actuator type='position' "
        "name='p'/></karakuri></joint><gazebo reference='b'><mu1>1</mu1></gazebo><transmission name='t'><joint "
        "name='j'/></transmission><karakuri><material name='m' friction='1'/><height_field name='h' rows='2' "
        "columns='2'>1 2 3 4</height_field><frame name='f' link='b'/><tendon name='w' type='fixed'><item "
        "name='j'/></tendon><keyframe><q>1 0 0 0 0 0 0 1</q></keyframe><sensor type='clock'/><pair shape1='s' "
        "shape2='t'/></karakuri></robot>";
    const kk_load_options stand = {
        .add_floor = 1, .add_actuators = 1, .clean_collisions = 1, .place_on_floor = 1, .base = KK_BASE_FREE};
    counter all = {.fail_at = -1};
    load_counted(&all, text, &stand);
    KK_CHECK(all.calls > 20);
    for (int i = 0; i < all.calls; i++) {
        counter c = {.fail_at = i};
        load_counted(&c, text, &stand);
    }
}

// a chain and a star of many links, in time and memory in proportion
static void load_many(int count, int is_chain, int is_backwards) {
    builder b = {0};
    char text[256];
    build(&b, "<robot name='many'>");
    for (int k = 0; k < count; k++) {
        const int i = is_backwards ? count - 1 - k : k;
        snprintf(text, sizeof text,
                 "<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>", i);
        build(&b, text);
        if (i > 0) {
            snprintf(text, sizeof text,
                     "<joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/></joint>", i,
                     is_chain ? i - 1 : 0, i);
            build(&b, text);
        }
    }
    build(&b, "</robot>");
    counter c = {.fail_at = -1};
    const kk_allocator allocator = counter_allocator(&c);
    const kk_file file = {"robot.urdf", b.text, b.size};
    const kk_load_options o = {.file = &file, .file_count = 1};
    kk_spec *spec = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_load_file("robot.urdf", &o, &allocator, &spec, NULL, &error), KK_OK);
    KK_CHECK_EQ_INT(spec ? kk_spec_body_count(spec) : 0, count + 1);
    KK_CHECK(c.peak < 32 * b.size + 100000);
    kk_spec_free(spec);
    free(b.text);
}

KK_TEST(urdf_of_many_links) {
    const int count = kk_test_is_quick() ? 2000 : 20000;
    load_many(count, 1, 0);
    load_many(count, 1, 1);
    load_many(count, 0, 1);
}
