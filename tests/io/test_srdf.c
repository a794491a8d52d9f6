// SRDF: pairs that are left out, where the file is found, and what is wrong with one.
#include "urdf_support.h"

#define LINK(name)                                                                                                \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>" \
    "</inertial><collision><geometry><sphere radius='1'/></geometry></collision></link>"
#define JOINT(name, parent, child) \
    "<joint name='" name "' type='continuous'><parent link='" parent "'/><child link='" child "'/></joint>"

static const char robot_text[] = "<robot name='r'>" LINK("a") LINK("b") LINK("c") LINK("d") JOINT("j1", "a", "b")
    JOINT("j2", "b", "c") JOINT("j3", "c", "d") "</robot>";

static robot load_with(const char *srdf, const char *name) {
    const kk_file files[] = {{"kit/urdf/r.urdf", robot_text, sizeof robot_text - 1},
                             {"kit/urdf/near.srdf", srdf, strlen(srdf)},
                             {"kit/package.xml", "<package><name>kit</name></package>", 35}};
    const kk_load_options o = {.file = files, .file_count = 3, .srdf = name};
    robot r = {.status = KK_OK};
    r.status = kk_load_file("kit/urdf/r.urdf", &o, NULL, &r.spec, &r.messages, &r.error);
    robot_compile(&r);
    return r;
}

KK_TEST(srdf_pairs_are_left_out) {
    static const char text[] = "<?xml version='1.0'?>\n<robot name='r'><group name='g'><link name='a'/></group>"
                               "<disable_collisions link1='a' link2='c' reason='Never'/>"
                               "<disable_collisions link1='a' link2='z'/><disable_collisions link1='b'/></robot>";
    static const char *const names[] = {"kit/urdf/near.srdf", "near.srdf", "package://kit/urdf/near.srdf"};
    for (int i = 0; i < 3; i++) {
        robot r = load_with(text, names[i]);
        if (robot_is_good(&r, names[i])) {
            KK_CHECK_EQ_INT(kk_spec_exclude_count(r.spec), 1);
            const kk_exclude_def *e = kk_spec_exclude_const(r.spec, 0);
            KK_CHECK(e && e->body[0] == robot_body(&r, "a") && e->body[1] == robot_body(&r, "c"));
            KK_CHECK_STR(e->origin.file, "kit/urdf/near.srdf");
            KK_CHECK(robot_says(&r, KK_SEVERITY_NOTE, "no link of this name"));
            KK_CHECK(robot_says(&r, KK_SEVERITY_WARNING, "lacks a name"));
        }
        robot_free(&r);
    }
    robot without = load_with(text, NULL);
    KK_CHECK_EQ_INT(kk_spec_exclude_count(without.spec), 0);
    robot_free(&without);
}

KK_TEST(srdf_defaults_and_xacro) {
    robot r = load_with("<robot><disable_default_collisions link='a'/><enable_collisions link1='d' link2='a'/></robot>",
                        "near.srdf");
    if (robot_is_good(&r, "defaults")) {
        KK_CHECK_EQ_INT(kk_spec_exclude_count(r.spec), 2); // b and c
    }
    robot_free(&r);
    r = load_with("<robot xmlns:xacro='x'><xacro:property name='p' value='d'/>"
                  "<disable_collisions link1='b' link2='${p}'/></robot>",
                  "near.srdf");
    if (robot_is_good(&r, "xacro")) {
        const kk_exclude_def *e = kk_spec_exclude_const(r.spec, 0);
        KK_CHECK(e && e->body[1] == robot_body(&r, "d"));
    }
    robot_free(&r);
}

KK_TEST(srdf_errors_have_places) {
    robot r = load_with("<robot/>", "none.srdf");
    KK_CHECK(r.status == KK_NOT_FOUND && strstr(r.error.text, "none.srdf"));
    robot_free(&r);
    r = load_with("<robot>\n<a></robot>", "near.srdf");
    KK_CHECK(r.status == KK_SYNTAX && r.error.line == 2 && strstr(r.error.file, "near.srdf"));
    robot_free(&r);
    r = load_with("<mujoco/>", "near.srdf");
    KK_CHECK(r.status == KK_UNSUPPORTED && strstr(r.error.text, "starts with <robot>"));
    robot_free(&r);
}
