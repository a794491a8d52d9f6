// The doctor: each fault is told at its place, with its remedy; repairs give what physics allows, and a file that is good.

#include <karakuri/collision.h>
#include <karakuri/doctor.h>
#include <karakuri/save.h>

#include "harness.h"
#include "urdf_support.h"

#define INERTIA(mass, xx, yy, zz, xy)                                                                         \
    "<inertial><mass value='" mass "'/><inertia ixx='" xx "' iyy='" yy "' izz='" zz "' ixy='" xy "' ixz='0' " \
    "iyz='0'/></inertial>"
#define GOOD INERTIA("1", "0.01", "0.01", "0.01", "0")
#define BOX "<collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision>"
#define JOINT(name, parent, child, more) \
    "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child "'/>" more "</joint>"
#define LIMIT "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' velocity='1'/>"

static robot examine(const char *text, int repair) {
    const kk_load_options load = {.repair = 1};
    const kk_file file = {"robot.urdf", text, strlen(text)};
    kk_load_options o = load;
    robot r = {0};
    o.file = &file;
    o.file_count = 1;
    r.status = kk_load_file("robot.urdf", &o, NULL, &r.spec, &r.messages, &r.error);
    if (r.status == KK_OK) {
        const kk_doctor_options doctor = {.repair = repair};
        r.status = kk_doctor_examine(r.spec, &doctor, r.messages, &r.error);
    }
    return r;
}

/// A finding with these words, NULL where there is none.
static kk_message find(const robot *r, const char *words) {
    for (int i = 0; i < kk_messages_count(r->messages); i++) {
        const kk_message m = kk_messages_get(r->messages, i);
        if (strstr(m.text, words)) {
            return m;
        }
    }
    return (kk_message){.text = NULL};
}

typedef struct fault {
    const char *text, *words;
    kk_severity severity;
    int is_repaired;
} fault;

static const fault faults[] = {
    {"<robot name='r'>\n<link name='a'>" INERTIA("-2", "0.01", "0.01", "0.01", "0") "</link></robot>",
     "the mass is negative", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" INERTIA("1", "1", "1", "5", "0") "</link></robot>",
     "no body has these moments", KK_SEVERITY_WARNING, 1},
    {"<robot name='r'>\n<link name='a'>" INERTIA("0", "1", "1", "1", "0") "</link></robot>", "but no mass",
     KK_SEVERITY_WARNING, 1},
    {"<robot name='r'>\n<link name='a'>" INERTIA("1", "0", "0", "0", "0") "</link></robot>",
     "has no inertia about its joint", KK_SEVERITY_WARNING, 1},
    {"<robot name='r'>\n<link name='a'>" INERTIA("1", "6000", "6000", "6000", "0") BOX "</link></robot>",
     "they look like kg mm²", KK_SEVERITY_WARNING, 1},
    {"<robot name='r'>\n<link name='a'>" INERTIA("1", "66", "66", "66", "0") BOX "</link></robot>",
     "they look like kg cm²", KK_SEVERITY_WARNING, 1},
    // joints that hold nothing, which others name
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD
     "</link>" JOINT("j", "a", "b", LIMIT) JOINT("k", "a", "none", LIMIT "<mimic joint='j'/>")
         JOINT("l", "a", "b", LIMIT "<mimic joint='k'/>") "<transmission name='t'><joint name='k'/><actuator "
                                                          "name='m'/></transmission><karakuri><tendon name='w' "
                                                          "type='fixed'><item name='j'/></tendon></karakuri></robot>",
     "there is no link 'none'", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link><link name='c'>" GOOD
     "</link>" JOINT("j", "a", "b", LIMIT) JOINT("k", "a", "b", LIMIT)
         JOINT("l", "b", "c", LIMIT "<mimic joint='k'/>") "</robot>",
     "is the child of two joints", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" INERTIA("1", "630", "630", "630", "0") BOX "</link></robot>",
     "they look like kg mm²", KK_SEVERITY_WARNING, 1},
    {"<robot name='r'>\n<link name='a'>" INERTIA("1", "0.5", "0.5", "0.5", "0") BOX "</link></robot>",
     "and it reaches 0.173 m", KK_SEVERITY_WARNING, 0},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='a'>" GOOD "</link><link name='a_2'>" GOOD
     "</link><link name='a'>" GOOD "</link></robot>",
     "'a' is called 'a_3'", KK_SEVERITY_WARNING, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='a'>" GOOD "</link></robot>", "a second <link>",
     KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link></robot>", "is not connected",
     KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link>" JOINT(
         "j", "a", "b", "<axis xyz='0 0 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/>") "</robot>",
     "the axis is zero", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link>" JOINT(
         "j", "a", "b", "<axis xyz='0 0 1'/><limit lower='1' upper='-1' effort='1' velocity='1'/>") "</robot>",
     "above the upper one", KK_SEVERITY_WARNING, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link>" JOINT(
         "j", "a", "b", "<axis xyz='0 0 1'/><limit lower='0' upper='0' effort='1' velocity='1'/>") "</robot>",
     "both its limits are 0", KK_SEVERITY_WARNING, 0},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link>" JOINT(
         "j", "a", "b", "<axis xyz='0 0 1'/><limit lower='-90' upper='90' effort='1' velocity='1'/>") "</robot>",
     "they look like degrees", KK_SEVERITY_WARNING, 0},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD
     "</link>" JOINT("j", "a", "b", LIMIT) "</robot>",
     "no actuators", KK_SEVERITY_WARNING, 0},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD
     "</link>" JOINT("j", "a", "b", LIMIT "<mimic joint='j'/>") "</robot>",
     "mimics itself", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD
     "</link>" JOINT("j", "a", "b", LIMIT "<mimic joint='k'/>") "</robot>",
     "which does not exist", KK_SEVERITY_ERROR, 1},
    // what floats, with all its mass on a line
    {"<robot name='r'>\n<link name='b'>" INERTIA("1", "-5", "1", "1", "0") "</link></robot>",
     "nothing resists its motion", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link>" JOINT(
         "j", "a", "b",
         LIMIT) "<karakuri><material name='rubber' friction='0.5' stiffness='-1000' damping='1'/></karakuri></robot>",
     "its stiffness is negative, -1000", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD "</link>" JOINT(
         "j", "a", "b",
         LIMIT) "\n<karakuri><tendon name='w' type='fixed' damping='-2'><item name='j'/></tendon></karakuri></robot>",
     "its damping is negative, -2", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD "</link>\n<link name='b'>" GOOD
     "</link>" JOINT("j", "a", "b",
                     LIMIT) "\n<karakuri><tendon name='w' type='fixed'><item name='none'/></tendon></karakuri></robot>",
     "it is left out", KK_SEVERITY_ERROR, 1},
    {"<robot name='r'>\n<link name='a'>" GOOD
     "<visual><geometry><mesh filename='package://no/such.stl'/></geometry></visual></link>"
     "</robot>",
     "such.stl", KK_SEVERITY_ERROR, 1}, // what is written is without the shape
    {"<robot name='r'>\n<material name='red'><color rgba='1 0 0 1'/></material><link name='a'>" GOOD "</link></robot>",
     "material 'red' is used by no visual", KK_SEVERITY_NOTE, 0},
};

/// `count` bodies with a ball each, `step` apart along an axis; gives the seconds it takes to examine them.
static double examine_balls(int count, double step, int *warnings, int *notes) {
    kk_spec *spec = NULL;
    kk_messages *messages = NULL;
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(kk_messages_create(NULL, &messages), KK_OK);
    for (int i = 0; i < count; i++) {
        kk_body_def b = kk_body_def_default();
        kk_shape_def s = kk_shape_def_default();
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        b.name = name;
        b.inertia = (kk_inertia){.mass = 1, .moment = {1e-3, 1e-3, 1e-3, 0, 0, 0}};
        b.joint.type = KK_JOINT_FREE;
        b.joint.placement = kk_transform_translation(0, i * step, 0);
        s.type = KK_SHAPE_SPHERE;
        s.size[0] = 0.1;
        kk_spec_add_body(spec, &b, &s.body, NULL);
        kk_spec_add_shape(spec, &s, NULL, NULL);
    }
    const double start = kk_test_seconds();
    KK_CHECK_EQ_INT(kk_doctor_examine(spec, NULL, messages, NULL), KK_OK);
    const double seconds = kk_test_seconds() - start;
    *warnings = kk_messages_count_of(messages, KK_SEVERITY_WARNING);
    *notes = kk_messages_count_of(messages, KK_SEVERITY_NOTE);
    kk_messages_free(messages);
    kk_spec_free(spec);
    return seconds;
}

// all pairs would be 2e8 (a minute); apart, overlapping with the next ones, and all in one place
KK_TEST(doctor_of_many_bodies_is_quick) {
    const int count = kk_test_is_quick() ? 2000 : 20000;
    int warnings, notes;
    KK_CHECK(examine_balls(count, 0.3, &warnings, &notes) < 10);
    KK_CHECK(warnings == 0 && notes == 0);
    KK_CHECK(examine_balls(1000, 0.15, &warnings, &notes) < 10);
    KK_CHECK(warnings == 21 && notes == 0); // twenty, and that there are 979 more
    KK_CHECK(examine_balls(count, 0, &warnings, &notes) < 10);
    KK_CHECK(warnings == 21 && notes == 1);
}

KK_TEST(doctor_tells_each_fault_at_its_line) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        robot r = examine(faults[i].text, 1);
        const kk_message m = r.messages ? find(&r, faults[i].words) : (kk_message){0};
        if (!m.text) {
            KK_FAIL("'%s' is not told", faults[i].words);
        } else {
            KK_CHECK_EQ_INT(m.severity, faults[i].severity);
            KK_CHECK_EQ_INT(m.repaired, faults[i].is_repaired);
            KK_CHECK_STR(m.file, "robot.urdf");
            KK_CHECK(m.line >= 2 && m.column >= 1);
        }
        robot_free(&r);
    }
}

// what was repaired compiles, and a second look finds no error and nothing more to repair
// what a file is refused for is told in words that its author knows: no names of C, no numbers of ours
KK_TEST(doctor_speaks_the_language_of_files) {
    static const char *const texts[] = {
        "<mujoco><worldbody><body><joint/><geom size='.1'/><site name='s'/></body></worldbody>\n"
        "<actuator><position site='s' kp='10'/></actuator></mujoco>",
        "<mujoco><worldbody><body name='a'><freejoint/><geom size='.1'/></body></worldbody>\n"
        "<equality><connect body1='a' anchor='0 0 0' body2='a'/></equality></mujoco>",
        "<mujoco><worldbody><body><joint/><geom size='.1'/><site name='s'/></body></worldbody>\n"
        "<tendon><spatial><site site='s'/></spatial></tendon></mujoco>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const kk_file file = {"robot.xml", texts[i], strlen(texts[i])};
        const kk_load_options o = {.file = &file, .file_count = 1};
        robot r = {.status = KK_OK};
        r.status = kk_load_file("robot.xml", &o, NULL, &r.spec, &r.messages, &r.error);
        KK_CHECK_EQ_INT(kk_model_compile(r.spec, NULL, &r.model, &r.error) == KK_OK, 0);
        const kk_error *e = &r.error;
        if (e->line != 2 || strstr(e->text, "KK_") || strstr(e->text, "kk_") || strstr(e->text, " 0:") ||
            strstr(e->text, " 1:") || !strchr(e->text, ';')) {
            KK_FAIL("%d: %s", e->line, e->text);
        }
        robot_free(&r);
    }
}

KK_TEST(doctor_repairs_are_good) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        robot r = examine(faults[i].text, 1);
        robot_compile(&r);
        if (!robot_is_good(&r, faults[i].words)) {
            robot_free(&r);
            continue;
        }
        kk_messages *again = NULL;
        const kk_doctor_options repair = {.repair = 1};
        KK_CHECK_EQ_INT(kk_messages_create(NULL, &again), KK_OK);
        KK_CHECK_EQ_INT(kk_doctor_examine(r.spec, &repair, again, NULL), KK_OK);
        KK_CHECK_EQ_INT(kk_messages_count_of(again, KK_SEVERITY_ERROR), 0);
        for (int k = 0; k < kk_messages_count(again); k++) {
            if (kk_messages_get(again, k).repaired) {
                KK_FAIL("'%s': found again: %s", faults[i].words, kk_messages_get(again, k).text);
            }
        }
        kk_messages_free(again);
        robot_free(&r);
    }
}

KK_TEST(doctor_finds_nothing_in_a_good_robot) {
    // a base that is empty but for its inertia may be of any size
    robot r = examine(
        "<robot name='r'><link name='a'>" INERTIA(
            "1", "1000", "1000", "1000",
            "0") "</link><link name='b'>" GOOD BOX
                 "</link>" JOINT("j", "a", "b",
                                 LIMIT "<karakuri><actuator type='position' name='p' gain='1'/></karakuri>") "</robot>",
        1);
    for (int i = 0; r.messages && i < kk_messages_count(r.messages); i++) {
        KK_FAIL("%s", kk_messages_get(r.messages, i).text);
    }
    robot_free(&r);
}

// a negative second moment of mass goes to zero, the others stay: (1, 1, 5) has p = (2.5, 2.5, -1.5)
KK_TEST(doctor_repairs_to_the_nearest_inertia) {
    kk_inertia I = {.mass = -2, .moment = {1, 1, 5, 0, 0, 0}};
    KK_CHECK_EQ_INT(kk_inertia_repair(&I), 1);
    KK_CHECK_NEAR(I.mass, 2, 0);
    KK_CHECK_NEAR(I.moment.xx, 2.5, 1e-14);
    KK_CHECK_NEAR(I.moment.yy, 2.5, 1e-14);
    KK_CHECK_NEAR(I.moment.zz, 5, 1e-14);
    KK_CHECK_EQ_INT(kk_inertia_repair(&I), 0);
}

#define LEG(side, y, ixy, com)                                                                                   \
    "<link name='" side "_leg'><inertial><origin xyz='0.01 " com " -0.1'/><mass value='2'/><inertia ixx='0.02' " \
    "iyy='0.025' izz='0.01' ixy='" ixy "' ixz='0.001' iyz='0'/></inertial></link><joint name='" side             \
    "' type='continuous'><parent link='base'/><child link='" side "_leg'/><origin xyz='0 " y                     \
    " 0'/><axis xyz='0 1 0'/></joint>"

KK_TEST(doctor_compares_twins) {
    robot good = examine("<robot name='r'><link name='base'>" GOOD "</link>" LEG("left", "0.1", "0.002", "0.03")
                             LEG("right", "-0.1", "-0.002", "-0.03") "</robot>",
                         1);
    KK_CHECK(!find(&good, "are twins").text);
    robot bad = examine("<robot name='r'><link name='base'>" GOOD "</link>" LEG("left", "0.1", "0.002", "0.03")
                            LEG("right", "-0.1", "0.002", "0.03") "</robot>",
                        1);
    const kk_message m = find(&bad, "are twins");
    if (KK_CHECK(m.text)) {
        KK_CHECK(strstr(m.text, "but y of the center of mass, ixy of"));
        const kk_inertia I = kk_spec_body_const(bad.spec, 3)->inertia;
        KK_CHECK_NEAR(I.moment.xy, -0.002, 0);
        KK_CHECK_NEAR(I.com.y, -0.03, 0);
        KK_CHECK_NEAR(I.moment.xz, 0.001, 0);
    }
    // what differs by more than a sign is a real difference
    robot other = examine("<robot name='r'><link name='base'>" GOOD "</link>" LEG("left", "0.1", "0.002", "0.03")
                              LEG("right", "-0.1", "0.003", "0.02") "</robot>",
                          1);
    KK_CHECK(!find(&other, "are twins").text);
    robot_free(&good);
    robot_free(&bad);
    robot_free(&other);
}

KK_TEST(doctor_tells_overlaps_at_rest) {
    robot r = examine(
        "<robot name='r'><link name='a'>" GOOD BOX "</link><link name='b'>" GOOD "</link><link name='c'>" GOOD
        "<collision><origin xyz='0.15 0 0'/><geometry><box size='0.2 0.2 0.2'/></geometry></collision></link>" JOINT(
            "j", "a", "b", LIMIT) JOINT("k", "b", "c", LIMIT) "</robot>",
        0);
    const kk_message m = find(&r, "overlap");
    if (KK_CHECK(m.text)) {
        KK_CHECK_STR(m.text, "bodies 'a' and 'c' overlap by 50 mm with every joint at zero");
    }
    robot_free(&r);
}

// a repaired spec written as URDF is a good file
KK_TEST(doctor_repaired_files_are_good) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        robot r = examine(faults[i].text, 1);
        char *text = NULL;
        size_t size = 0;
        if (KK_CHECK(r.spec) &&
            KK_CHECK_EQ_INT(kk_spec_write_urdf(r.spec, NULL, NULL, &text, &size, &r.error), KK_OK)) {
            robot back = robot_from_text(text, NULL);
            robot_is_good(&back, faults[i].words);
            robot_free(&back);
        }
        kk_text_free(NULL, text, size);
        robot_free(&r);
    }
}

// memory that runs out anywhere ends in a status
// ---- meshes in millimeters

static const char tetrahedron[] = "v 0 0 0\nv 100 0 0\nv 0 200 0\nv 0 0 300\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static robot examine_with_mesh(const char *text, int repair) {
    const kk_file file[] = {{"robot.urdf", text, strlen(text)}, {"m.obj", tetrahedron, sizeof tetrahedron - 1}};
    const kk_load_options o = {.file = file, .file_count = 2, .repair = 1};
    const kk_doctor_options doctor = {.repair = repair};
    robot r = {0};
    r.status = kk_load_file("robot.urdf", &o, NULL, &r.spec, &r.messages, &r.error);
    r.status = r.status ? r.status : kk_doctor_examine(r.spec, &doctor, r.messages, &r.error);
    return r;
}

#define ARM_WITH(mesh)                                                                                              \
    "<robot name='r'>\n<link name='a'>" GOOD "<visual><geometry><mesh filename='m.obj'" mesh                        \
    "/></geometry></visual></link>\n<link name='b'>" GOOD "</link>"                                                 \
    "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><origin xyz='0 0 0.3'/><axis xyz='0 0 1'/>" \
    "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"

// an arm with joints 0.3 m apart and a mesh of 374 m; the repaired file is good
KK_TEST(doctor_knows_meshes_in_millimeters) {
    robot r = examine_with_mesh(ARM_WITH(""), 1);
    const kk_message m = r.messages ? find(&r, "it looks like mm") : (kk_message){0};
    char *text = NULL;
    size_t size = 0;
    if (KK_CHECK(r.status == KK_OK && m.text)) {
        KK_CHECK(m.repaired && strstr(m.text, "374 m large") && strstr(m.remedy, "0.001"));
        KK_CHECK_NEAR(kk_spec_mesh_const(r.spec, 0)->vertex[3].z, 0.3, 1e-12);
        KK_CHECK_EQ_INT(kk_spec_write_urdf(r.spec, NULL, NULL, &text, &size, NULL), KK_OK);
        robot again = examine_with_mesh(text, 1);
        KK_CHECK(again.status == KK_OK && !find(&again, "it looks like mm").text);
        KK_CHECK_NEAR(kk_spec_mesh_const(again.spec, 0)->vertex[3].z, 0.3, 1e-12);
        robot_free(&again);
    }
    kk_text_free(NULL, text, size);
    robot_free(&r);
}

// a mesh that has its scale, and a large ground below a small robot, are as they should be
KK_TEST(doctor_leaves_other_meshes_alone) {
    static const char *const good[] = {
        ARM_WITH(" scale='0.001 0.001 0.001'"), ARM_WITH(" scale='0.02 0.02 0.02'"),
        "<robot name='r'><link name='world'><collision><geometry><mesh filename='m.obj'/></geometry></collision></link>"
        "<link name='b'>" GOOD "</link><joint name='j' type='floating'><parent link='world'/><child link='b'/>"
        "<origin xyz='0 0 0.3'/></joint></robot>"};
    for (int i = 0; i < 3; i++) {
        robot r = examine_with_mesh(good[i], 1);
        KK_CHECK_EQ_INT(r.status, KK_OK);
        KK_CHECK(r.messages && !find(&r, "it looks like mm").text);
        robot_free(&r);
    }
}

// faults of more copies than there are treatments: all are treated, and none of what is good beside them
KK_TEST(doctor_treats_many_copies) {
    static const char idle[] =
        "<mujoco><worldbody><body><joint name='good'/><geom size='1'/></body><replicate count='400'>"
        "<body><joint name='j'/><geom size='1' mass='0'/></body></replicate></worldbody></mujoco>";
    static const char held[] =
        "<mujoco><worldbody><body name='moves'><joint/><geom size='1'/></body><replicate count='400'>"
        "<body name='b'><geom size='1'/></body></replicate></worldbody><equality><weld body1='b'/>"
        "<connect body1='moves' anchor='0 0 0'/></equality></mujoco>";
    robot r[2] = {examine(idle, 1), examine(held, 1)};
    for (int i = 0; i < 2; i++) {
        kk_model *model = NULL;
        if (KK_CHECK_EQ_INT(r[i].status, KK_OK)) {
            KK_CHECK_EQ_INT(kk_model_compile(r[i].spec, NULL, &model, NULL), KK_OK);
        }
        kk_model_free(model);
    }
    KK_CHECK_EQ_INT(kk_messages_count_of(r[0].messages, KK_SEVERITY_ERROR), 1);
    KK_CHECK_EQ_INT(find(&r[0], "nothing resists its motion").repeats, 399);
    KK_CHECK(r[0].spec && kk_spec_body(r[0].spec, 1)->joint.dof[0].armature == 0);
    KK_CHECK(r[0].spec && kk_spec_body(r[0].spec, 401)->joint.dof[0].armature > 0);
    KK_CHECK(find(&r[1], "it is left out, with 392 more of this place").text != NULL);
    KK_CHECK_EQ_INT(r[1].spec ? kk_spec_loop_count(r[1].spec) : 0, 1);
    robot_free(&r[0]);
    robot_free(&r[1]);
}

KK_TEST(doctor_survives_failing_allocations) {
    static const char text[] =
        "<robot name='r'><link name='a'>" GOOD BOX "</link><link name='left_b'>" GOOD
        "</link><link name='right_b'>" GOOD BOX "</link><link name='a'>" GOOD "</link>" JOINT("j", "a", "left_b", LIMIT)
            JOINT("k", "left_b", "right_b", LIMIT) "</robot>";
    for (int i = 0; i < 400; i++) {
        robot r = examine(text, 0);
        counter c = {.fail_at = i};
        const kk_allocator allocator = counter_allocator(&c);
        kk_messages *messages = NULL;
        const kk_doctor_options repair = {.repair = 1};
        kk_status status = kk_messages_create(&allocator, &messages);
        status = status ? status : kk_doctor_examine(r.spec, &repair, messages, NULL);
        KK_CHECK(status == KK_OK || status == KK_OUT_OF_MEMORY);
        kk_messages_free(messages);
        robot_free(&r);
        if (c.calls <= i) {
            break;
        }
    }
}
