// Malformed files of every kind, generated and made by hand: each ends in an error with file, place, reason and remedy, in
// bounded time and memory, and no number that is not finite gets into a spec, a mesh or a table. How many there are is
// counted here, at the end.
#include "malformed.h"

#include <dirent.h>

#ifdef KK_SOURCE_DIR
#define TESTS KK_SOURCE_DIR "/tests/"
#else
#define TESTS "tests/"
#endif

// ---- the good files that are damaged

enum { MOST_FILES = 300 };

typedef struct good_file {
    char name[100];
    builder text;
} good_file;

typedef struct good_files {
    good_file file[MOST_FILES];
    int count;
} good_files;

static int by_name(const void *a, const void *b) {
    return strcmp(((const good_file *)a)->name, ((const good_file *)b)->name);
}

static void read_whole(const char *path, builder *b) {
    FILE *file = fopen(path, "rb");
    char part[4096];
    for (size_t n = file ? fread(part, 1, sizeof part, file) : 0; n > 0; n = fread(part, 1, sizeof part, file)) {
        build_bytes(b, part, n);
    }
    if (file) {
        fclose(file);
    }
}

/// The files of a folder below tests/ with this ending, sorted by name; the list is used again.
static void read_folder(const char *folder, const char *ending, good_files *files) {
    char path[1500];
    snprintf(path, sizeof path, TESTS "%s", folder);
    files->count = 0;
    DIR *d = opendir(path);
    for (struct dirent *entry = d ? readdir(d) : NULL; entry && files->count < MOST_FILES; entry = readdir(d)) {
        const size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (length > tail && length < 100 && strcmp(entry->d_name + length - tail, ending) == 0) {
            good_file *f = &files->file[files->count++];
            *f = (good_file){0};
            memcpy(f->name, entry->d_name, length + 1);
            snprintf(path, sizeof path, TESTS "%s/%s", folder, f->name);
            read_whole(path, &f->text);
        }
    }
    if (d) {
        closedir(d);
    }
    qsort(files->file, (size_t)files->count, sizeof files->file[0], by_name);
}

static void free_files(good_files *files) {
    for (int i = 0; i < files->count; i++) {
        free(files->file[i].text.text);
    }
    files->count = 0;
}

// ---- robots: every number of every feature, cuts, bad UTF-8

static const char *const NOT_NUMBERS[] = {"nan", "-inf", "1e999", "x", "1,5"};
enum { NOT_NUMBER_COUNT = sizeof NOT_NUMBERS / sizeof NOT_NUMBERS[0] };

/// @param stride  damages one in so many
static void damage_numbers(const good_file *f, const char *path, int usual, int stride, tally *t) {
    builder b = {0};
    size_t at = 0;
    int k = 0;
    for (size_t n = next_number(f->text.text, f->text.size, " \t\n'\"", &at); n > 0;
         n = next_number(f->text.text, f->text.size, " \t\n'\"", &at)) {
        for (int i = 0; i < NOT_NUMBER_COUNT; i++) {
            if (k++ % stride == 0) {
                splice(&b, f->text.text, f->text.size, at, n, NOT_NUMBERS[i]);
                check_robot(path, b.text, b.size, usual, t);
            }
        }
        at += n + 1;
    }
    free(b.text);
}

/// Cut before the end of the root, and with bytes that are no UTF-8; never harmless.
static void cut_robot(const good_file *f, const char *path, tally *t) {
    builder b = {0};
    size_t end = f->text.size;
    while (end > 0 && f->text.text[end - 1] != '<') {
        end--;
    }
    for (size_t i = 1; i <= 5; i++) {
        KK_CHECK(check_robot(path, f->text.text, end * i / 6, 0, t));
        splice(&b, f->text.text, f->text.size, end * i / 6, 0, i % 2 ? "\xff" : "\xc3\x28");
        const int is_refused = check_robot(path, b.text, b.size, 0, t);
        KK_CHECK(is_refused || strstr(f->text.text, "ISO-8859-1")); // in Latin-1 they are letters
    }
    free(b.text);
}

static void damage_robots(const char *folder, const char *ending, const char *path, tally *t) {
    static good_files files;
    read_folder(folder, ending, &files);
    for (int i = 0; i < files.count; i++) {
        const good_file *f = &files.file[i];
        const kk_file whole = {path, f->text.text, f->text.size};
        int usual = 0;
        // those with parts elsewhere are refused as they are, and left out
        if (try_robot(&whole, 1, &usual).status == KK_OK) {
            damage_numbers(f, path, usual, kk_test_is_quick() ? 10 : 1, t);
            cut_robot(f, path, t);
        }
    }
    free_files(&files);
}

// ---- robots by hand

typedef struct hand_made {
    const char *text;
    kk_status status;
    int line, column;
    const char *words;
} hand_made;

#define A "<link name='a'/>"
#define B "<link name='b'/>"
#define AB "<parent link='a'/><child link='b'/>"
static const hand_made urdf_by_hand[] = {
#include "malformed_urdf.inc"
};
#undef A
#undef B
#undef AB

#define W(inside) "<mujoco><worldbody>" inside "</worldbody></mujoco>"
#define G "<geom size='0.1'/>"
static const hand_made mjcf_by_hand[] = {
#include "malformed_mjcf.inc"
};
#undef W
#undef G

static const struct {
    const char *text;
    size_t length;
    kk_status status;
    int line, column;
    const char *reason;
} xml_by_hand[] = {
// clang-format off
#include "malformed_xml.inc"
    // clang-format on
};

#define COUNT_OF(array) (int)(sizeof(array) / sizeof *(array))

static void check_by_hand(const hand_made *cases, int count, const char *path, tally *t) {
    for (int i = 0; i < count; i++) {
        KK_CHECK(check_robot(path, cases[i].text, strlen(cases[i].text), 0, t));
    }
}

// ---- bombs, cycles, depth, huge counts

static void nest(const char *before, const char *open, const char *close, const char *after, const char *path,
                 tally *t) {
    builder b = {0};
    build(&b, before);
    build_times(&b, open, 100000);
    build_times(&b, close, close ? 100000 : 0);
    build(&b, after);
    KK_CHECK(check_robot(path, b.text, b.size, 0, t));
    free(b.text);
}

static void check_depth(tally *urdf, tally *mjcf, tally *xml) {
    builder b = {0};
    nest("<robot name='r'>", "<link name='a'>", "</link>", "</robot>", "bad.urdf", urdf);
    nest("<robot name='r'>", "<gazebo>", "</gazebo>", "</robot>", "bad.urdf", urdf);
    nest("<robot name='r'>", "<karakuri>", "", "", "bad.urdf", urdf);
    nest("<mujoco><worldbody>", "<body>", "</body>", "</worldbody></mujoco>", "bad.xml", mjcf);
    nest("<mujoco><default>", "<default class='c'>", "</default>", "</default></mujoco>", "bad.xml", mjcf);
    nest("<mujoco><worldbody>", "<frame>", "</frame>", "</worldbody></mujoco>", "bad.xml", mjcf);
    nest("<mujoco><worldbody>", "<replicate count='2'>", "</replicate>", "</worldbody></mujoco>", "bad.xml", mjcf);
    build_times(&b, "<a>", 100000);
    KK_CHECK(check_xml(b.text, b.size, xml));
    build_times(&b, "</a>", 100000);
    KK_CHECK(check_xml(b.text, b.size, xml));
    b.size = 0;
    build(&b, "<a ");
    for (int i = 0; i < 10000; i++) {
        char name[40];
        snprintf(name, sizeof name, "a%d='' ", i);
        build(&b, name);
    }
    build(&b, "/>");
    KK_CHECK(check_xml(b.text, b.size, xml));
    b.size = 0;
    build(&b, "<");
    build_times(&b, "a", 100000);
    build(&b, "/>");
    KK_CHECK(check_xml(b.text, b.size, xml));
    free(b.text);
}

/// A ring of `count` joints, of mimics on them, or of files that include each other.
static void check_cycles(tally *urdf, tally *mjcf) {
    static const int COUNTS[] = {2, 3, 10, 100, 1000};
    for (int k = 0; k < COUNT_OF(COUNTS); k++) {
        const int n = COUNTS[k];
        builder ring = {0}, mimic = {0};
        char line[300];
        build(&ring, "<robot name='r'><link name='root'/>");
        build(&mimic, "<robot name='r'><link name='l'/>");
        for (int i = 0; i < n; i++) {
            snprintf(
                line, sizeof line,
                "<link name='l%d'/><joint name='j%d' type='fixed'><parent link='l%d'/><child link='l%d'/></joint>\n", i,
                i, i, (i + 1) % n);
            build(&ring, line);
            snprintf(
                line, sizeof line,
                "<link name='l%d'/><joint name='j%d' type='continuous'><parent link='l'/><child link='l%d'/><mimic "
                "joint='j%d'/></joint>\n",
                i, i, i, (i + 1) % n);
            build(&mimic, line);
        }
        build(&ring, "</robot>");
        build(&mimic, "</robot>");
        KK_CHECK(check_robot("bad.urdf", ring.text, ring.size, 0, urdf));
        KK_CHECK(check_robot("bad.urdf", mimic.text, mimic.size, 0, urdf));
        free(ring.text);
        free(mimic.text);
    }
    static const char TO_B[] = "<mujoco><include file='b.xml'/></mujoco>";
    static const char TO_A[] = "<mujoco>\n<include file='bad.xml'/></mujoco>";
    const kk_file files[] = {{"bad.xml", TO_B, sizeof TO_B - 1}, {"b.xml", TO_A, sizeof TO_A - 1}};
    int not_finite;
    attempt a = try_robot(files, 2, &not_finite);
    a.file = a.error.file; // the file in which it was noticed
    judge_refusal(&a, mjcf);
    judge_costs(&a, mjcf);
}

static void check_xacro(const char *body, tally *t) {
    builder b = {0};
    build(&b, "<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'><link name='a'/>\n");
    build(&b, body);
    build(&b, "</robot>");
    KK_CHECK(check_robot("bad.urdf", b.text, b.size, 0, t));
    free(b.text);
}

/// What grows by four each line: values, macros, macros of nothing.
static void check_macro_bombs(tally *t) {
    builder texts = {0}, calls = {0}, empty = {0};
    build(&texts, "<xacro:property name='p0' value='lol lol lol lol'/>");
    build(&calls, "<xacro:macro name='m0'><a b='1'/></xacro:macro>");
    build(&empty, "<xacro:macro name='m0'></xacro:macro>");
    for (int i = 1; i < 40; i++) {
        char line[300];
        const int p = i - 1;
        snprintf(line, sizeof line, "<xacro:property name='p%d' value='${p%d}${p%d}${p%d}${p%d}'/>", i, p, p, p, p);
        build(&texts, line);
        snprintf(line, sizeof line, "<xacro:macro name='m%d'><xacro:m%d/><xacro:m%d/><xacro:m%d/></xacro:macro>", i, p,
                 p, p);
        build(&calls, line);
        build(&empty, line);
    }
    build(&texts, "<a b='${p39}'/>");
    build(&calls, "<xacro:m39/>");
    build(&empty, "<xacro:m39/>");
    check_xacro(texts.text, t);
    check_xacro(calls.text, t);
    check_xacro(empty.text, t);
    free(texts.text);
    free(calls.text);
    free(empty.text);
}

static void check_xacros(tally *t) {
    static const char *const BODIES[] = {
        "<xacro:include filename='bad.urdf'/>",
        "<xacro:include filename='none.xacro'/>",
        "<xacro:include filename='../../../etc/passwd'/>",
        "<xacro:include filename='/etc/passwd'/>",
        "<xacro:include filename='$(find none)/x.xacro'/>",
        "<xacro:include/>",
        "<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>",
        "<xacro:macro name='m' params='x'><a b='${x}'/><xacro:m x='${x+x}'/></xacro:macro><xacro:m x='abc'/>",
        "<xacro:macro name='m' params='x'/><xacro:m/>",
        "<xacro:macro name='m'/><xacro:m x='1'/>",
        "<xacro:macro/>",
        "<xacro:none/>",
        "<xacro:property name='p' value='${p}'/><a b='${p}'/>",
        "<xacro:property name='p' value='${q}'/><xacro:property name='q' value='${p}'/><a b='${p}'/>",
        "<xacro:property name='b'><x/><xacro:insert_block name='b'/></xacro:property><xacro:insert_block name='b'/>",
        "<xacro:insert_block name='none'/>",
        "<a b='${1/0}'/>",
        "<a b='${1e308*10}'/>",
        "<a b='${float(\"nan\")}'/>",
        "<a b='${sqrt(-1)}'/>",
        "<a b='${log(0)}'/>",
        "<a b='${10**1000000}'/>",
        "<a b='${2**2**2**2**2**2}'/>",
        "<a b='${1 +}'/>",
        "<a b='${(1}'/>",
        "<a b='${1'/>",
        "<a b='${\"a}'/>",
        "<a b='${unknown}'/>",
        "<a b='${unknown(1)}'/>",
        "<a b='${__import__(\"os\").system(\"true\")}'/>",
        "<a b='${open(\"/etc/passwd\").read()}'/>",
        "<a b='${\"a\" * 1000000000}'/>",
        "<a b='${[0] * 1000000000}'/>",
        "<a b='${[x for x in range(1000000000)]}'/>",
        "<a b='$(arg none)'/>",
        "<a b='$(env HOME)'/>",
        "<a b='$(eval 1'/>",
        "<a b='$(nothing at all)'/>",
        "<xacro:if value='maybe'><a/></xacro:if>",
        "<xacro:if><a/></xacro:if>",
        "<xacro:unless value='${'><a/></xacro:unless>",
    };
    for (int i = 0; i < COUNT_OF(BODIES); i++) {
        check_xacro(BODIES[i], t);
    }
    static const char *const REPEATED[] = {"(", "-", "not ", "[", "1+(", "1**", "a.", "\\", "abs("};
    for (int i = 0; i < COUNT_OF(REPEATED); i++) {
        builder b = {0};
        build(&b, "<a b='${");
        build_times(&b, REPEATED[i], 20000);
        build(&b, "1}'/>");
        check_xacro(b.text, t);
        free(b.text);
    }
    check_macro_bombs(t);
}

/// A URDF whose mesh cannot be had loads without it, and says so at the place; such files are not counted.
static void check_left_out(const char *text) {
    const kk_file file = {"bad.urdf", text, strlen(text)};
    const kk_load_options options = {.file = &file, .file_count = 1};
    kk_spec *spec = NULL;
    kk_messages *messages = NULL;
    kk_error error = {0};
    int told = 0;
    KK_CHECK_EQ_INT(kk_load_file("bad.urdf", &options, NULL, &spec, &messages, &error), KK_OK);
    for (int i = 0; i < kk_messages_count(messages); i++) {
        const kk_message m = kk_messages_get(messages, i);
        told += m.severity == KK_SEVERITY_WARNING && m.line == 2 && m.column > 0 &&
                (m.remedy[0] || text_has_remedy(m.text));
    }
    if (told == 0 || kk_spec_mesh_count(spec) != 0) {
        KK_FAIL("%d warnings, %d meshes: %s", told, kk_spec_mesh_count(spec), text);
    }
    kk_spec_free(spec);
    kk_messages_free(messages);
}

/// References that lead out of the package, in all the ways they can be written.
static void check_traversal(tally *mjcf) {
    static const char *const PATHS[] = {"../../../../etc/passwd",
                                        "/etc/passwd",
                                        "file:///etc/passwd",
                                        "file://../../etc/passwd",
                                        "package://../../../etc/passwd",
                                        "package://a/../../../../etc/passwd",
                                        "model://../../../etc/passwd",
                                        "meshes/../../../../../etc/passwd",
                                        "./../x.stl",
                                        "..",
                                        "/dev/zero",
                                        "/proc/self/mem",
                                        "http://example.org/x.stl",
                                        "..\\..\\windows\\x.stl",
                                        "C:\\x.stl",
                                        "~/x.stl",
                                        "//host/x.stl",
                                        "package://",
                                        "file://",
                                        "x\ty.stl"};
    for (int i = 0; i < COUNT_OF(PATHS); i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "<robot name='r'><link name='a'><collision><geometry>\n<mesh "
                 "filename='%s'/></geometry></collision></link></robot>",
                 PATHS[i]);
        check_left_out(text);
        int n = snprintf(text, sizeof text, "<mujoco>\n<asset><mesh name='m' file='%s'/></asset></mujoco>", PATHS[i]);
        KK_CHECK(check_robot("bad.xml", text, (size_t)n, 0, mjcf));
        n = snprintf(text, sizeof text, "<mujoco>\n<include file='%s'/></mujoco>", PATHS[i]);
        KK_CHECK(check_robot("bad.xml", text, (size_t)n, 0, mjcf));
    }
}

static void check_bombs(tally *xml, tally *mjcf) {
    static const char *const TEXTS[] = {
        "<!DOCTYPE a [<!ENTITY x 'lol'><!ENTITY y '&x;&x;&x;&x;'><!ENTITY z '&y;&y;&y;&y;'>]><a>&z;</a>",
        "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://example.org/x'> %p;]><a/>",
        "<a>&x;</a>",
        "<a b='&x;'/>",
        "<a>&#0;</a>",
        "<a>&#x110000;</a>",
        "<a>&#xD800;</a>",
        "<a>&#99999999999999999999;</a>",
    };
    for (int i = 0; i < COUNT_OF(TEXTS); i++) {
        KK_CHECK(check_xml(TEXTS[i], strlen(TEXTS[i]), xml));
        KK_CHECK(check_robot("bad.xml", TEXTS[i], strlen(TEXTS[i]), 0, mjcf));
    }
    static const char *const HUGE[] = {
        "<mujoco><worldbody><replicate count='2000000000'><body/></replicate></worldbody></mujoco>",
        "<mujoco><worldbody><replicate count='99999999999999999999'><body/></replicate></worldbody></mujoco>",
        "<mujoco><worldbody><replicate count='-1'><body/></replicate></worldbody></mujoco>",
        ("<mujoco><worldbody><replicate count='1000'><replicate count='1000'><replicate count='1000'><body/>"
         "</replicate></replicate></replicate></worldbody></mujoco>"),
        // what is wrong once is not copied
        ("<mujoco><worldbody><replicate count='9'><replicate count='99'><replicate count='99'><body pos='x'/>"
         "</replicate></replicate></replicate></worldbody></mujoco>"),
        ("<mujoco><worldbody><replicate count='9'><replicate count='99'><replicate count='99'><body><geom "
         "size='x'/></body>"
         "</replicate></replicate></replicate></worldbody></mujoco>"),
        ("<mujoco><worldbody><replicate count='80000'><body><joint range='2 "
         "1'/></body></replicate></worldbody></mujoco>"),
        ("<mujoco><worldbody><replicate count='80000'><geom "
         "size='1'/></replicate></worldbody><actuator><motor/></actuator>"
         "</mujoco>"),
        ("<mujoco><worldbody><replicate count='50000'><body><joint name='j'/><geom "
         "size='1'/></body></replicate></worldbody>"
         "<actuator><motor joint='k'/></actuator></mujoco>"),
        ("<mujoco><worldbody><replicate count='99999'><geom size='1'/></replicate><replicate count='99999'><geom "
         "size='1'/>"
         "</replicate></worldbody></mujoco>"),
        "<mujoco><asset><hfield name='h' size='1 1 1 1' nrow='1000000' ncol='1000000'/></asset></mujoco>",
        "<mujoco><asset><hfield name='h' size='1 1 1 1' nrow='2147483647' ncol='2147483647'/></asset></mujoco>",
        "<mujoco><asset><hfield name='h' size='1 1 1 1' nrow='-5' ncol='2'/></asset></mujoco>",
        "<mujoco><worldbody><geom size='1' condim='2147483648'/></worldbody></mujoco>",
        "<mujoco><worldbody><geom size='1' group='99999999999'/></worldbody></mujoco>",
    };
    for (int i = 0; i < COUNT_OF(HUGE); i++) {
        KK_CHECK(check_robot("bad.xml", HUGE[i], strlen(HUGE[i]), 0, mjcf));
    }
}

/// Errors beside and inside many copies: they cost no more than the file.
static void check_copied_errors(tally *mjcf) {
    static const char *const INSIDE[] = {
        "<geom size='-1'/>",
        "<geom size='1' pos='1 2'/>",
        "<geom type='mesh' mesh='m'/>",
        "<geom size='1' class='no'/>",
        "<site pos='a'/>",
        "<body><inertial mass='1'/></body>",
        "<body><inertial mass='-1' pos='0 0 0'/></body>",
        "<body><joint axis='0 0 0'/><geom size='1'/></body>",
        "<body><joint type='ball' range='1 2'/><geom size='1'/></body>",
        "<body><joint/></body>",
        "<body><joint/><geom size='1' mass='0'/></body>",
        "<body><freejoint/><joint/><geom size='1'/></body>",
        "<frame euler='nan 0 0'><geom size='1'/></frame>",
        "<replicate><geom size='1'/></replicate>",
        "<replicate count='3' offset='1'><geom size='1'/></replicate>",
        "<body><geom size='1'/><karakuri><joint_limit nothing='1'/><bush/></karakuri></body>",
        "<body name='taken'/>",
    };
    static const char *const OUTSIDE[] = {
        "<actuator><motor joint='j50000'/></actuator>",
        "<actuator><motor joint='j0000'/></actuator>",
        "<actuator><motor joint='j-00000'/></actuator>",
        "<actuator><motor joint='b00000'/></actuator>",
        "<actuator><position joint='j' inheritrange='1'/></actuator>",
        "<sensor><jointpos joint='j00000x'/></sensor>",
        "<sensor><framepos objtype='no' objname='b'/></sensor>",
        "<tendon><fixed><joint joint='j99999'/></fixed></tendon>",
        "<tendon><spatial/></tendon>",
        "<equality><joint joint1='j00007' joint2='k'/></equality>",
        "<equality><connect body1='b' anchor='x'/></equality>",
        "<contact><pair geom1='g' geom2='h'/></contact>",
        "<contact><exclude body1='b00001' body2='b50001'/></contact>",
        "<keyframe><key qpos='1 2 3'/></keyframe>",
        "<keyframe><key qvel='1 x'/></keyframe>",
        "<actuator><motor joint='j'/></actuator><keyframe><key ctrl='1'/></keyframe>",
        "<worldbody><body name='b49999'/></worldbody>",
        "<worldbody><geom name='g00001' size='1'/></worldbody>",
        "<karakuri><material name='m' friction='-1'/></karakuri>",
    };
    static const struct {
        const char *head, *many, *tail;
        int count;
    } LONG[] = {
        {"<mujoco><worldbody><replicate count='9' sep='", "s", "'><geom size='1'/></replicate></worldbody></mujoco>",
         256},
        {"<mujoco><worldbody>", "<replicate count='1' sep='sss'>", "<geom size='1'/>", 3000},
        {"<mujoco><worldbody><replicate count='80000'><geom size='1' name='", "n",
         "'/></replicate></worldbody></mujoco>", 50000},
        {("<mujoco><worldbody><replicate count='50000'><body><joint name='j'/><geom size='1'/></body></replicate>"
          "</worldbody><sensor><jointpos joint='j' name='"),
         "n", "'/></sensor></mujoco>", 50000},
    };
    for (int i = 0; i < COUNT_OF(LONG); i++) {
        builder b = {0};
        build(&b, LONG[i].head);
        build_times(&b, LONG[i].many, LONG[i].count);
        build(&b, LONG[i].tail);
        if (i == 1) {
            build_times(&b, "</replicate>", LONG[i].count);
            build(&b, "</worldbody></mujoco>");
        }
        KK_CHECK(check_robot("bad.xml", b.text, b.size, 0, mjcf));
        free(b.text);
    }
    for (int i = 0; i < COUNT_OF(INSIDE) + COUNT_OF(OUTSIDE); i++) {
        const int is_inside = i < COUNT_OF(INSIDE);
        builder b = {0};
        build(&b, "<mujoco><worldbody><body name='taken00003'/><replicate count='50000'>");
        build(&b, is_inside ? INSIDE[i] : "<body name='b'><joint name='j'/><geom name='g' size='1'/></body>");
        build(&b, "</replicate></worldbody>");
        build(&b, is_inside ? "" : OUTSIDE[i - COUNT_OF(INSIDE)]);
        build(&b, "</mujoco>");
        if (!check_robot("bad.xml", b.text, b.size, 0, mjcf)) {
            KK_FAIL("it loads: %s", b.text);
        }
        free(b.text);
    }
}

/// Files that are one byte over and over, or another kind of file.
static void check_noise(tally *xml) {
    builder b = {0};
    for (int c = 1; c < 256; c += 6) {
        const char byte[2] = {(char)c, 0};
        b.size = 0;
        build_times(&b, byte, 1000);
        KK_CHECK(check_xml(b.text, b.size, xml));
    }
    free(b.text);
}

// ---- meshes

/// A text: every number made none, and cut at many places.
static void damage_mesh_text(const good_file *f, tally *t) {
    builder b = {0};
    size_t at = 0;
    for (size_t n = next_number(f->text.text, f->text.size, " \t\r\n'\"></", &at); n > 0;
         n = next_number(f->text.text, f->text.size, " \t\r\n'\"></", &at)) {
        static const char *const BY[] = {"nan", "inf", "1e999", "x", "-99999999999999999999", "4294967295"};
        for (int i = 0; i < COUNT_OF(BY); i++) {
            splice(&b, f->text.text, f->text.size, at, n, BY[i]);
            check_mesh(f->name, b.text, b.size, t);
        }
        at += n + 1;
    }
    free(b.text);
}

/// Every word of four bytes made huge, negative, infinite and not a number; those of counts and offsets are among them.
static void damage_mesh_words(const good_file *f, tally *t) {
    static const uint32_t WORDS[] = {0xffffffff, 0x7fffffff, 0x7fc00000, 0x7f800000, 0xff800000, 0};
    unsigned char *copy = malloc(f->text.size);
    for (size_t at = 0; at + 4 <= f->text.size; at += 2) {
        for (int i = 0; i < COUNT_OF(WORDS); i++) {
            memcpy(copy, f->text.text, f->text.size);
            for (int k = 0; k < 4; k++) {
                copy[at + (size_t)k] = (unsigned char)(WORDS[i] >> (8 * k));
            }
            check_mesh(f->name, copy, f->text.size, t);
        }
    }
    free(copy);
}

static void cut_mesh(const good_file *f, tally *t) {
    for (int i = 0; i < 40; i++) {
        const size_t size = f->text.size * (size_t)i / 40;
        unsigned char *exact = malloc(size + 1); // so that sanitizers see the end
        memcpy(exact, f->text.text, size);
        check_mesh(f->name, exact, size, t);
        free(exact);
    }
}

static int is_binary(const good_file *f) {
    for (size_t i = 0; i < f->text.size; i++) {
        if ((unsigned char)f->text.text[i] < 9) {
            return 1;
        }
    }
    return 0;
}

static void damage_meshes(const char *folder, const char *ending, tally *t) {
    static good_files files;
    read_folder(folder, ending, &files);
    for (int i = 0; i < files.count; i++) {
        if (is_binary(&files.file[i])) {
            damage_mesh_words(&files.file[i], t);
        } else {
            damage_mesh_text(&files.file[i], t);
        }
        cut_mesh(&files.file[i], t);
    }
    free_files(&files);
}

// ---- tables

static void damage_tables(tally *t) {
    static good_files files;
    builder b = {0};
    read_folder("fuzz/corpus/csv", ".csv", &files);
    for (int i = 0; i < files.count; i++) {
        const good_file *f = &files.file[i];
        size_t at = 0;
        for (size_t n = next_number(f->text.text, f->text.size, " \t\r\n,;\"", &at); n > 0;
             n = next_number(f->text.text, f->text.size, " \t\r\n,;\"", &at)) {
            static const char *const BY[] = {"nan", "inf", "1e999", "x", "\xff", "", "\"", "1 2"};
            for (int k = 0; k < COUNT_OF(BY); k++) {
                splice(&b, f->text.text, f->text.size, at, n, BY[k]);
                check_table(b.text, b.size, t);
            }
            at += n + 1;
        }
        for (size_t cut = 0; cut < f->text.size; cut++) {
            check_table(f->text.text, cut, t);
        }
    }
    free_files(&files);
    free(b.text);
}

// ---- the count

enum { URDF, MJCF, XACRO, XML, STL, OBJ, PLY, MSH, GLB, DAE, CSV, KINDS };

KK_TEST(five_hundred_malformed_files_are_refused) {
    static const char *const NAMES[KINDS] = {"URDF", "MJCF", "xacro", "XML", "STL", "OBJ",
                                             "PLY",  "MSH",  "GLB",   "DAE", "CSV"};
    tally t[KINDS];
    for (int i = 0; i < KINDS; i++) {
        t[i] = (tally){.kind = NAMES[i], .memory_base = i == XACRO ? MEMORY_OF_EXPANSION : MEMORY_BASE};
    }
    check_by_hand(urdf_by_hand, COUNT_OF(urdf_by_hand), "robot.urdf", &t[URDF]);
    check_by_hand(mjcf_by_hand, COUNT_OF(mjcf_by_hand), "model.xml", &t[MJCF]);
    for (int i = 0; i < COUNT_OF(xml_by_hand); i++) {
        KK_CHECK(check_xml(xml_by_hand[i].text, xml_by_hand[i].length, &t[XML]));
    }
    check_xacros(&t[XACRO]);
    check_depth(&t[URDF], &t[MJCF], &t[XML]);
    check_cycles(&t[URDF], &t[MJCF]);
    check_traversal(&t[MJCF]);
    check_bombs(&t[XML], &t[MJCF]);
    check_copied_errors(&t[MJCF]);
    check_noise(&t[XML]);
    damage_robots("io/urdf", ".urdf", "bad.urdf", &t[URDF]);
    damage_robots("io/mjcf", ".xml", "bad.xml", &t[MJCF]);
    static const char *const MESHES[][2] = {{"fuzz/corpus/stl", ".stl"},  {"fuzz/corpus/obj", ".obj"},
                                            {"fuzz/corpus/ply", ".ply"},  {"fuzz/corpus/msh", ".msh"},
                                            {"fuzz/corpus/gltf", ".glb"}, {"fuzz/corpus/dae", ".dae"}};
    for (int i = 0; i < COUNT_OF(MESHES); i++) {
        damage_meshes(MESHES[i][0], MESHES[i][1], &t[STL + i]);
    }
    damage_tables(&t[CSV]);
    int total = 0;
    for (int i = 0; i < KINDS; i++) {
        total += t[i].refused;
        if (getenv("KK_TALLY")) { // for a look at the figures
            printf("%-6s refused %5d harmless %5d, %8zu bytes beyond 32 times, %.3f s\n", t[i].kind, t[i].refused,
                   t[i].harmless, t[i].most_memory, t[i].most_seconds);
        }
    }
    // without the folders (a WebAssembly run) the hand-made and the built ones are left, too few of some kinds
    KK_CHECK(total >= 500);
#ifndef __wasm__
    KK_CHECK(total >= (kk_test_is_quick() ? 4000 : 30000));
    KK_CHECK(t[URDF].refused >= 90 && t[MJCF].refused >= 90 && t[XACRO].refused >= 50 && t[XML].refused >= 200);
#endif
}
