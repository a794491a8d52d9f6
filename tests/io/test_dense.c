// Files of very many small elements with the error at their very end: what stands before it is read, but costs no more than
// any other malformed file may. A model has up to 1 kB for an element of 7 bytes, so it must not be built for that.
#include "malformed.h"

/// Just beyond a size at which arrays grow.
enum { ELEMENTS = 13000 };

#define COUNT_OF(array) (int)(sizeof(array) / sizeof *(array))

/// A number in as few characters as its base allows.
static void build_number(builder *b, int number, int base) {
    static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char text[16];
    size_t at = sizeof text;
    for (int rest = number; rest > 0 || at == sizeof text; rest /= base) {
        text[--at] = DIGITS[rest % base];
    }
    build_bytes(b, text + at, sizeof text - at);
}

/// A text so many times. '#' in it becomes a short name, '@' a number.
static void build_dense(builder *b, const char *each) {
    for (int i = 0; i < ELEMENTS; i++) {
        for (const char *c = each; *c; c++) {
            if (*c == '#' || *c == '@') {
                build_number(b, i, *c == '#' ? 62 : 10);
            } else {
                build_bytes(b, c, 1);
            }
        }
    }
}

typedef struct dense {
    const char *head, *each, *bad, *foot;
} dense;

static builder dense_text(const dense *d) {
    builder b = {0};
    build(&b, d->head);
    build_dense(&b, d->each);
    build(&b, d->bad);
    build(&b, d->foot);
    return b;
}

/// The file is one line, so that the column tells whether it was the error at the end that was found.
static void check_dense_robot(const char *path, const dense *d, tally *t) {
    builder b = dense_text(d);
    const kk_file file = {path, b.text, b.size};
    int not_finite = 0;
    attempt a = try_robot(&file, 1, &not_finite);
    judge_costs(&a, t);
    if (a.status == KK_OK || (size_t)a.error.column + 300 < b.size) {
        KK_FAIL("%s %s … %s: %d:%d %s", d->head, d->each, d->bad, a.error.line, a.error.column, a.error.text);
    } else {
        judge_refusal(&a, t);
    }
    free(b.text);
}

static tally tally_of(const char *kind, size_t base) {
    return (tally){.kind = kind, .memory_base = base};
}

static void tell(const tally *t) {
    if (getenv("KK_TALLY")) {
        printf("%-6s refused %5d, %8zu bytes beyond 32 times, %.3f s\n", t->kind, t->refused, t->most_memory,
               t->most_seconds);
    }
}

// ---- MJCF

#define G "<geom size='1'/>"

static const char *const IN_WORLD[] = {
    "<body/>",
    "<body name='#'/>",
    "<body x=''/>",
    "<body><joint/></body>",
    "<body><joint name='#'/></body>",
    ("<body><joint name='#'/>" G "</body>"),
    "<body><freejoint/></body>",
    "<body><inertial mass='1' pos='0 0 0'/></body>",
    "<body><body/></body>",
    "<frame/>",
    "<frame><body/></frame>",
    "<site/>",
    "<site name='#'/>",
    G,
    "<geom size='1' name='#'/>",
    "<geom size='1' rgba='.@ 0 0 1'/>",
    "<geom size='1' friction='.@'/>",
    "<replicate count='0'/>",
    "<replicate count='1'><body/></replicate>",
    "<replicate count='3'><site/></replicate>",
    "<light/>",
    "<a/>",
};

KK_TEST(dense_bodies_of_mjcf_are_refused) {
    static const char *const ENDS[][2] = {
        {"<body pos='x'/>", ""},
        {"<geom size='-1'/>", ""},
        {"<body name='dup'/><body name='dup'/>", ""},
        {"<body><joint axis='0 0 0'/></body>", ""},
        {"<body><freejoint/><joint/></body>", ""},
        {"<body><inertial mass='-1' pos='0 0 0'/></body>", ""},
        {"<site class='none'/>", ""},
        {"<body>", ""},
        {"", "<actuator><motor joint='none'/></actuator>"},
        {"<body><joint name='k!'/></body>", "<actuator><motor joint='k!' inheritrange='1'/></actuator>"},
        {"<body><joint name='k!' type='ball'/></body>", "<tendon><fixed><joint joint='k!' coef='1'/></fixed></tendon>"},
        {"", "<sensor><framepos objtype='site' objname='!'/></sensor>"},
        {"", "<keyframe><key time='x'/></keyframe>"},
        {"<body><joint/></body>", "<keyframe><key qvel='1 2'/></keyframe>"},
        {"", "<karakuri><option timestep='x'/></karakuri>"},
    };
    tally t = tally_of("bodies", MEMORY_BASE);
    for (int i = 0; i < COUNT_OF(IN_WORLD); i++) {
        // all of them with the first kind, a fifth of them with each other
        for (int k = i % 5; k < COUNT_OF(ENDS); k += i == 0 ? 1 : kk_test_is_quick() ? 15 : 5) {
            char foot[200];
            snprintf(foot, sizeof foot, "</worldbody>%s</mujoco>", ENDS[k][1]);
            check_dense_robot("bad.xml", &(dense){"<mujoco><worldbody>", IN_WORLD[i], ENDS[k][0], foot}, &t);
        }
    }
    static const char *const ITEMS[] = {"<joint/>", "<joint name='#'/>", "<site/>", "<geom size='1'/>"};
    for (int i = 0; i < COUNT_OF(ITEMS); i++) {
        check_dense_robot(
            "bad.xml",
            &(dense){"<mujoco><worldbody><body>", ITEMS[i], "<geom size='x'/>", "</body></worldbody></mujoco>"}, &t);
    }
    tell(&t);
}

#define SOME                                                                                              \
    "<mujoco><worldbody><body name='b'><joint name='j'/><geom name='g' size='1'/><site name='s'/></body>" \
    "<body name='c'><joint name='k'/><geom name='h' size='1'/><site name='t'/></body></worldbody>"

KK_TEST(dense_sections_of_mjcf_are_refused) {
    static const dense CASES[] = {
        {SOME "<actuator>", "<motor joint='j'/>", "<motor joint='n'/>", "</actuator></mujoco>"},
        {SOME "<actuator>", "<motor name='#' joint='j'/>", "<motor name='0' joint='j'/>", "</actuator></mujoco>"},
        {SOME "<actuator>", "<position joint='j' dampratio='1'/>", "<position joint='j' dampratio='1' kp='-1'/>",
         "</actuator></mujoco>"},
        {SOME "<actuator>", "<motor site='s'/>", "<motor site='s' ctrlrange='2 1'/>", "</actuator></mujoco>"},
        {SOME "<sensor>", "<clock/>", "<clock noise='x'/>", "</sensor></mujoco>"},
        {SOME "<sensor>", "<clock name='#'/>", "<clock name='0'/>", "</sensor></mujoco>"},
        {SOME "<sensor>", "<gyro site='s'/>", "<gyro site='n'/>", "</sensor></mujoco>"},
        {SOME "<tendon>", "<fixed><joint joint='j' coef='1'/></fixed>", "<fixed/>", "</tendon></mujoco>"},
        {SOME "<tendon><fixed>", "<joint joint='j' coef='1'/>", "<joint joint='n' coef='1'/>",
         "</fixed></tendon></mujoco>"},
        {SOME "<tendon>", "<spatial><site site='s'/><site site='t'/></spatial>", "<spatial><site site='n'/></spatial>",
         "</tendon></mujoco>"},
        {SOME "<equality>", "<joint joint1='j'/>", "<joint joint1='n'/>", "</equality></mujoco>"},
        {SOME "<equality>", "<weld body1='b'/>", "<weld body1='b' relpose='1'/>", "</equality></mujoco>"},
        {SOME "<equality>", "<connect body1='b' anchor='0 0 0'/>", "<connect body1='n'/>", "</equality></mujoco>"},
        {SOME "<contact>", "<exclude body1='b' body2='c'/>", "<exclude body1='b' body2='n'/>", "</contact></mujoco>"},
        {SOME "<contact>", "<pair geom1='g' geom2='h'/>", "<pair geom1='g' geom2='h' friction='-1'/>",
         "</contact></mujoco>"},
        {SOME "<keyframe>", "<key/>", "<key time='x'/>", "</keyframe></mujoco>"},
        {SOME "<keyframe>", "<key name='#'/>", "<key name='0'/>", "</keyframe></mujoco>"},
        {SOME "<keyframe>", "<key qpos='0 0'/>", "<key qpos='0'/>", "</keyframe></mujoco>"},
        {"<mujoco><default>", "<default class='#'/>", "<default/>", "</default></mujoco>"},
        {"<mujoco><default>", "<default class='#'><geom size='1'/></default>", "<default/>", "</default></mujoco>"},
        {"<mujoco><default>", "<geom size='1'/>", "<default/>", "</default></mujoco>"},
        {"<mujoco><asset>", "<material name='#'/>", "<material name='0'/>", "</asset></mujoco>"},
        {"<mujoco><asset>", "<texture name='#' type='2d'/>", "<texture name='0'/>", "</asset></mujoco>"},
        {"<mujoco><asset>", "<mesh name='#' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>", "<mesh/>", "</asset></mujoco>"},
        {"<mujoco>", "<worldbody/>", "<worldbody><body pos='x'/></worldbody>", "</mujoco>"},
        {SOME "<karakuri>", "<material name='#'/>", "<material name='0'/>", "</karakuri></mujoco>"},
    };
    tally t = tally_of("others", MEMORY_BASE);
    for (int i = 0; i < COUNT_OF(CASES); i++) {
        check_dense_robot("bad.xml", &CASES[i], &t);
    }
    tell(&t);
}

// what is checked before it is built loads all the same
KK_TEST(dense_mjcf_loads) {
    static const char REST[] =
        "<body name='b!'><inertial mass='1' pos='0 0 0'/><joint name='j!' range='1 2'/><geom name='g!' size='1'/>"
        "<site name='s!'/></body><body name='c!'><joint name='k!'/><joint name='i!'/><geom name='h!' size='1'/>"
        "<site name='t!'/></body><body mocap='true'/></worldbody>"
        "<contact><exclude body1='b!' body2='c!'/><pair geom1='g!' geom2='h!' friction='.5'/></contact>"
        "<equality><weld body1='b!' body2='c!'/><connect site1='s!' site2='t!'/><joint joint1='k!' joint2='j!'/>"
        "</equality><tendon><fixed name='f!' range='0 1'><joint joint='j!' coef='1'/></fixed><spatial><site "
        "site='s!'/><site site='t!'/>"
        "<pulley divisor='2'/><site site='s!'/><site site='t!'/></spatial></tendon>"
        "<actuator><position joint='j!' inheritrange='1' dampratio='1'/><position tendon='f!' inheritrange='1'/>"
        "<motor name='m!' site='s!' refsite='t!'/></actuator><sensor><actuatorfrc actuator='m!'/><tendonpos "
        "tendon='f!'/>"
        "<framepos objtype='body' objname='b!'/><framepos objtype='geom' objname='g!' reftype='site' refname='s!'/>"
        "<jointpos joint='k!'/></sensor><karakuri><sensor type='position' target='t!'/></karakuri></mujoco>";
    for (int i = 0; i < COUNT_OF(IN_WORLD); i += kk_test_is_quick() ? 3 : 1) {
        builder b = dense_text(&(dense){"<mujoco><worldbody>", IN_WORLD[i], "", REST});
        const kk_file file = {"good.xml", b.text, b.size};
        const kk_load_options options = {.file = &file, .file_count = 1};
        kk_spec *spec = NULL;
        kk_error error = {0};
        if (kk_load_file("good.xml", &options, NULL, &spec, NULL, &error) != KK_OK) {
            KK_FAIL("%s: %s", IN_WORLD[i], error.text);
        } else {
            const int bodies = strstr(IN_WORLD[i], "<body><body") ? 2 : strstr(IN_WORLD[i], "<body") ? 1 : 0;
            KK_CHECK_EQ_INT(kk_spec_body_count(spec), 5 + bodies * ELEMENTS);
            KK_CHECK(kk_spec_loop_count(spec) == 2 && kk_spec_pair_count(spec) == 1 && kk_spec_sensor_count(spec) == 6);
        }
        kk_spec_free(spec);
        free(b.text);
    }
}

// ---- URDF and xacro

#define LM                                                                                                       \
    "<link name='!l'/><link name='!m'/><joint name='!j' type='continuous'><parent link='!l'/><child link='!m'/>" \
    "</joint>"
#define ON(type) "<link name='#'/><joint name='#' type='" type "'><parent link='!l'/><child link='#'/>"
#define BALL "<geometry><sphere radius='1'/></geometry>"

KK_TEST(dense_urdf_is_refused) {
    static const char *const EACH[] = {
        "<link name='#'/>",
        ON("fixed") "</joint>",
        ON("continuous") "</joint>",
        ON("continuous") "<mimic joint='!j'/></joint>",
        "<material name='#'/>",
        "<gazebo/>",
        "<gazebo reference='!l'/>",
        "<gazebo reference='!l'><mu1>1</mu1></gazebo>",
        "<transmission name='#'><joint name='!j'/><actuator name='a'/></transmission>",
        "<karakuri/>",
        "<karakuri><material name='#'/></karakuri>",
        "<a/>",
    };
    static const char *const BAD[] = {
        "<link name='!m'/>",
        ("<link name='!'><inertial><mass value='x'/></inertial></link>"
         "<joint name='!' type='fixed'><parent link='!l'/><child link='!'/></joint>"),
        "<joint name='!' type='fixed'><parent link='!l'/><child link='none'/></joint>",
        "<link name='!'>",
    };
    tally t = tally_of("URDF", MEMORY_BASE);
    for (int i = 0; i < COUNT_OF(EACH); i++) {
        for (int k = 0; k < COUNT_OF(BAD); k++) {
            // links without joints are an error of their own before numbers are read
            if (i > 0 || k != 1) {
                check_dense_robot("bad.urdf", &(dense){"<robot name='r'>" LM, EACH[i], BAD[k], "</robot>"}, &t);
            }
        }
    }
    static const char *const INSIDE[] = {"<visual>" BALL "</visual>", "<collision>" BALL "</collision>",
                                         "<visual>" BALL
                                         "<material name='#'><color rgba='1 1 1 1'/></material></visual>"};
    for (int i = 0; i < COUNT_OF(INSIDE); i++) {
        check_dense_robot("bad.urdf",
                          &(dense){"<robot name='r'><link name='l'>", INSIDE[i],
                                   "<visual><geometry><sphere radius='x'/></geometry></visual>", "</link></robot>"},
                          &t);
    }
    tell(&t);
}

KK_TEST(dense_xacro_is_refused) {
    static const char *const EACH[] = {
        "<xacro:property name='p#' value='1'/>",
        "<xacro:macro name='m#'/>",
        "<xacro:macro name='m#' params='a b'><link name='${a}'/></xacro:macro>",
        "<xacro:property name='p#'><a/></xacro:property>",
        "<xacro:arg name='a#' default='1'/>",
        "<xacro:if value='1'><a/></xacro:if>",
        "<a b='${1}'/>",
        "<xacro:m/>",
        "<a/>",
    };
    static const char *const BAD[] = {"<xacro:none/>", "<a b='${none}'/>", "<link name='l'/>"};
    tally t = tally_of("xacro", MEMORY_BASE);
    for (int i = 0; i < COUNT_OF(EACH); i++) {
        for (int k = 0; k < COUNT_OF(BAD); k++) {
            check_dense_robot("bad.urdf",
                              &(dense){"<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'><link name='l'/>"
                                       "<xacro:macro name='m'><a/></xacro:macro>",
                                       EACH[i], BAD[k], "</robot>"},
                              &t);
        }
    }
    tell(&t);
}

// ---- XML and meshes

KK_TEST(dense_xml_is_refused) {
    static const char *const EACH[] = {"<a/>",        "<a b=''/>", "<a></a>", "<a>x</a>", "x<a/>",
                                       "<a><a/></a>", "<!---->",   "<?a?>",   "&lt;",     "<![CDATA[]]>"};
    tally t = tally_of("XML", MEMORY_BASE);
    for (int i = 0; i < COUNT_OF(EACH); i++) {
        builder b = dense_text(&(dense){"<r>", EACH[i], "<b>", "</r>"});
        KK_CHECK(check_xml(b.text, b.size, &t));
        free(b.text);
    }
    tell(&t);
}

#define VERTICES "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
#define PLY(vertices, faces)                                                                                     \
    "ply\nformat ascii 1.0\nelement vertex " vertices "\nproperty float x\nproperty float y\nproperty float z\n" \
    "element face " faces "\nproperty list uchar int vertex_indices\nend_header\n"
#define GLB_LIST "{\"asset\":{\"version\":\"2.0\"},\"x\":["
#define DAE_MESH(before, positions)                                                                      \
    "<COLLADA><library_geometries>" before                                                               \
    "<geometry id='g'><mesh><source id='s'><float_array id='a' count='9'>" positions                     \
    "</float_array><technique_common><accessor source='#a' count='3' stride='3'/></technique_common>"    \
    "</source><vertices id='v'><input semantic='POSITION' source='#s'/></vertices><triangles count='1'>" \
    "<input semantic='VERTEX' source='#v' offset='0'/><p>"
#define DAE_END "</p></triangles></mesh></geometry></library_geometries></COLLADA>"

KK_TEST(dense_meshes_are_refused) {
    static const struct {
        const char *file;
        dense d;
    } CASES[] = {
        {"v.obj", {VERTICES, "v 0 0 0\n", "f 1 2 x\n", ""}},
        {"f.obj", {VERTICES, "f 1 2 3\n", "f 1 2 x\n", ""}},
        {"e.obj", {VERTICES, "f 1 1 1\n", "f 1 2 999999999\n", ""}},
        {"q.obj", {VERTICES, "f 1 2 3 1 2 3 1 2\n", "f 1 2 x\n", ""}},
        {"p.obj", {VERTICES "f", " 1", "\nf 1 2 x\n", ""}},
        {"n.obj", {VERTICES, "vn 0 0 1\n", "f 1 2 x\n", ""}},
        {"t.obj", {VERTICES, "vt 0 0\n", "f 1 2 x\n", ""}},
        {"o.obj", {VERTICES, "o\n", "f 1 2 x\n", ""}},
        {"g.obj", {VERTICES, "g #\nf 1 2 3\n", "f 1 2 x\n", ""}},
        {"u.obj", {VERTICES, "usemtl #\nf 1 2 3\n", "f 1 2 x\n", ""}},
        {"b.obj", {VERTICES, "\n", "f 1 2 x\n", ""}},
        {"a.stl",
         {"solid a\n", "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n",
          "facet normal x\n", ""}},
        {"v.ply", {PLY("13000", "1"), "0 0 0\n", "3 0 1 x\n", ""}},
        {"f.ply", {PLY("3", "13001") "0 0 0\n1 0 0\n0 1 0\n", "3 0 1 2\n", "3 0 1 x\n", ""}},
        {"0.ply", {PLY("3", "13001") "0 0 0\n1 0 0\n0 1 0\n", "0\n", "3 0 1 x\n", ""}},
        {"p.ply", {PLY("3", "13001") "0 0 0\n1 0 0\n0 1 0\n", "9 0 1 2 0 1 2 0 1 2\n", "3 0 1 9\n", ""}},
        {"f.dae", {DAE_MESH("", "0 0 0 1 0 0 0 1 0"), "0 1 2 ", "0 1 x", DAE_END}},
        {"g.dae", {DAE_MESH("", ""), "0 ", "x", DAE_END}},
        {"n.dae", {"<COLLADA><library_geometries>", "<geometry/>", "<geometry>", "</library_geometries></COLLADA>"}},
        {"0.gltf", {GLB_LIST, "0,", "y]}", ""}},
        {"l.gltf", {GLB_LIST, "[],", "y]}", ""}},
        {"o.gltf", {GLB_LIST, "{},", "y]}", ""}},
        {"s.gltf", {GLB_LIST, "\"\",", "y]}", ""}},
        {"k.gltf", {"{\"asset\":{\"version\":\"2.0\"},", "\"#\":0,", "y}", ""}},
    };
    tally t = tally_of("meshes", MEMORY_BASE);
    for (int i = 0; i < COUNT_OF(CASES); i++) {
        builder b = dense_text(&CASES[i].d);
        if (!check_mesh(CASES[i].file, b.text, b.size, &t)) {
            KK_FAIL("%s loads", CASES[i].file);
        }
        free(b.text);
    }
    tell(&t);
}
