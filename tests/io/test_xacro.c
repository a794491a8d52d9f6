// xacro: what each element does, where errors are placed, and that expansions are bounded.
#include "support.h"

#include <stdio.h>

#include "io/xacro.h"

/// Writes a tree as text, without blanks.
static void write_tree(const kki_xml *xml, builder *b) {
    int32_t n = KKI_XML_ROOT;
    while (n != KKI_XML_NONE) {
        if (kki_xml_is_element(xml, n)) {
            build(b, "<");
            build(b, kki_xml_name(xml, n));
            for (int32_t i = 0; i < xml->node[n].attribute_count; i++) {
                const kki_xml_attribute *a = &xml->attribute[xml->node[n].first_attribute + i];
                build(b, " ");
                build(b, kki_xml_string(xml, a->name));
                build(b, "=");
                build(b, kki_xml_string(xml, a->value));
            }
            build(b, ">");
        } else {
            build(b, kki_xml_text(xml, n));
        }
        if (xml->node[n].first_child != KKI_XML_NONE) {
            n = xml->node[n].first_child;
            continue;
        }
        while (n != KKI_XML_NONE && xml->node[n].next == KKI_XML_NONE) {
            n = xml->node[n].parent;
            build(b, n == KKI_XML_NONE ? "" : "/");
        }
        n = n == KKI_XML_NONE ? n : xml->node[n].next;
    }
}

#define FILE_OF(path, text) \
    { path, text, sizeof(text) - 1 }

static const kki_memory_file files[] = {
    FILE_OF("robot/package.xml", "<package><name>my_robot</name></package>"),
    FILE_OF("robot/urdf/main.xacro", ""),
    FILE_OF("robot/urdf/inc.xacro", "<r><xacro:property name='inc' value='5'/>\n<from_inc v='${inc}'/></r>"),
    FILE_OF("robot/urdf/macros.xacro", "<r><xacro:macro name='m' params='x'><made x='${x}'/></xacro:macro></r>"),
    FILE_OF("robot/urdf/self.xacro", "<r><xacro:include filename='self.xacro'/></r>"),
    FILE_OF("robot/urdf/ping.xacro", "<r><xacro:include filename='pong.xacro'/></r>"),
    FILE_OF("robot/urdf/pong.xacro", "<r><xacro:include filename='ping.xacro'/></r>"),
    FILE_OF("robot/urdf/broken.xacro", "<r>\n<b></r>"),
    FILE_OF("robot/urdf/fault.xacro", "<r>\n <a b='x${nowhere}'/></r>"),
    FILE_OF("secret.xacro", "<r/>"),
    FILE_OF("secret.yaml", "a: 1"),
    FILE_OF("robot/config/limits.yaml", "# limits\n"
                                        "joint_limits:\n"
                                        "  elbow:\n"
                                        "    max: !degrees 180.0\n"
                                        "    min: !radians -pi/2\n"
                                        "    mesh: {package: my_robot, path: 'meshes/a b.stl', size: [1, 2.5, x]}\n"
                                        "    free: yes\n"
                                        "    note: \"a # b\" # comment\n"
                                        "  wrist: &w\n"
                                        "    max: !degrees 90\n"
                                        "    origin:\n"
                                        "      xyz: 0 0 1\n"
                                        "      rpy: 0 0 -0.5\n"
                                        "  hand:\n"
                                        "    <<: *w\n"
                                        "    max: 3\n"
                                        "names:\n"
                                        "- left\n"
                                        "- right\n"
                                        "legs:\n"
                                        "  - name: fl\n"
                                        "    x: 1e-3\n"
                                        "  - name: fr\n"
                                        "    x: -1.5\n"
                                        "empty:\n"
                                        "lines: |\n"
                                        "  one\n"
                                        "  two\n"),
    FILE_OF("robot/config/bad.yaml", "a: 1\nb: [1, 2\n"),
    FILE_OF("robot/urdf/ns.xacro", "<r xmlns:xacro='u'><xacro:property name='size' value='${2 * unit}'/>"
                                   "<xacro:property name='unit' value='3'/><xacro:macro name='part' params='n'>"
                                   "<part n='${n}' size='${size}'/><xacro:inner/></xacro:macro>"
                                   "<xacro:macro name='inner'><inner unit='${unit}'/></xacro:macro></r>"),
};

/// Expands a text as the file robot/urdf/main.xacro.
static kk_status expand(const char *text, const kki_xacro_options *options, const kk_allocator *allocator,
                        kki_xml **result, kk_error *error) {
    kki_memory_files memory = {files, sizeof files / sizeof *files};
    const kki_file_source source = kki_file_source_memory(&memory);
    kki_resolver resolver;
    kki_xml *xml = NULL;
    *result = NULL;
    kk_status status = kki_resolver_create(&resolver, &source, "robot/urdf/main.xacro", NULL, allocator, error);
    if (status != KK_OK) {
        return status;
    }
    status = kki_xml_parse("main.xacro", text, strlen(text), NULL, allocator, &xml, error);
    status =
        status ? status : kki_xacro_expand(xml, "robot/urdf/main.xacro", &resolver, options, allocator, result, error);
    kki_xml_free(xml);
    kki_resolver_destroy(&resolver);
    return status;
}

static const kki_xacro_argument arguments[] = {{"given", "7"}, {"side", "left"}};
static const kki_xacro_options normal_options = {.argument = arguments, .argument_count = 2};

static void check_expansion(const char *body, const char *expected) {
    builder b = {0}, written = {0};
    kki_xml *result;
    kk_error error = {0};
    build(&b, "<r xmlns:xacro='u'>");
    build(&b, body);
    build(&b, "</r>");
    if (expand(b.text, &normal_options, NULL, &result, &error) != KK_OK) {
        KK_FAIL("%s: %s:%d:%d %s", body, error.file, error.line, error.column, error.text);
    } else {
        build(&written, "");
        write_tree(result, &written);
        const size_t length = strlen(expected);
        if (strncmp(written.text, "<r>", 3) != 0 || strncmp(written.text + 3, expected, length) != 0 ||
            (written.text[3 + length] != 0 && strcmp(written.text + 3 + length, "/") != 0)) {
            KK_FAIL("%s\n    gives  %s\n    not    <r>%s", body, written.text, expected);
        }
    }
    kki_xml_free(result);
    free(b.text);
    free(written.text);
}

KK_TEST(xacro_properties) {
    check_expansion("<a b='x'/>", "<a b=x>");
    check_expansion("<xacro:property name='w' value='0.5'/><a b='${w}'/>", "<a b=0.5>");
    check_expansion("<xacro:property name='w' value='3'/><a b='${w*2}' c='l_${w}_${w+1}' d='${w/2}'/>",
                    "<a b=6 c=l_3_4 d=1.5>");
    check_expansion("<xacro:property name='w' value='${v*2}'/><xacro:property name='v' value='4'/><a b='${w}'/>",
                    "<a b=8>");
    check_expansion("<xacro:property name='n' value='arm'/><a b='${n}_link' c='${n == &quot;arm&quot;}'/>",
                    "<a b=arm_link c=True>");
    check_expansion("<xacro:property name='q' value=\"'12'\"/><a b='${q + &quot;x&quot;}'/>", "<a b=12x>");
    check_expansion("<xacro:property name='x' value='1'/><xacro:property name='x' value='2'/><a b='${x}'/>", "<a b=2>");
    check_expansion("<xacro:property name='x' default='1'/><xacro:property name='x' default='2'/><a b='${x}'/>",
                    "<a b=1>");
    check_expansion("<xacro:property name='t' value='true'/><a b='${1 if t else 2}'/>", "<a b=1>");
    check_expansion("<a>${1+1} and ${2*2}</a>", "<a>2 and 4/");
    check_expansion("<a b='$${x} $$(y) $$$${z} $5 $'/>", "<a b=${x} $(y) $$${z} $5 $>");
    check_expansion(
        "<xacro:property name='o'><p/><q x='${1+1}'/></xacro:property><a><xacro:insert_block name='o'/></a>",
        "<a><p><q x=2>/");
    check_expansion("<xacro:property name='x' value='1'/><xacro:property name='y' value='${x}' lazy_eval='false'/>"
                    "<xacro:property name='x' value='2'/><a b='${y}'/>",
                    "<a b=1>");
    check_expansion("<a b='${pi}' c='${radians(90)}'/>", "<a b=3.141592653589793 c=1.5707963267948966>");
    check_expansion("<xacro:property name='pi' value='3'/><a b='${pi}'/>", "<a b=3>");
}

KK_TEST(xacro_arguments) {
    check_expansion("<a b='$(arg given)' c='${1}$(arg side)_x'/>", "<a b=7 c=1left_x>");
    check_expansion("<xacro:arg name='n' default='4'/><xacro:property name='p' value='$(arg n)'/><a b='${p+1}'/>",
                    "<a b=5>");
    check_expansion("<xacro:arg name='given' default='4'/><a b='$(arg given)'/>", "<a b=7>");
    check_expansion("<xacro:property name='w' value='side'/><a b='$(arg ${w})'/>", "<a b=left>");
    check_expansion("<a b='$(find my_robot)/m.stl' c='file://$(find x)/y'/>",
                    "<a b=package://my_robot/m.stl c=file://package://x/y>");
    check_expansion("<a b='$(dirname)/x'/>", "<a b=robot/urdf/x>");
}

// as in UR's own file: the root's name is an argument whose default stands inside
KK_TEST(xacro_names_the_root) {
    kki_xml *result;
    kk_error error = {0};
    const char *text = "<r xmlns:xacro='u' name='$(arg who)'><xacro:arg name='who' default='ur'/></r>";
    KK_CHECK_EQ_INT(expand(text, NULL, NULL, &result, &error), KK_OK);
    KK_CHECK(result && strcmp(kki_xml_value(result, KKI_XML_ROOT, "name"), "ur") == 0);
    kki_xml_free(result);
    const kki_xacro_argument given = {"who", "me"};
    KK_CHECK_EQ_INT(expand(text, &(kki_xacro_options){.argument = &given, .argument_count = 1}, NULL, &result, &error),
                    KK_OK);
    KK_CHECK(result && strcmp(kki_xml_value(result, KKI_XML_ROOT, "name"), "me") == 0);
    kki_xml_free(result);
}

KK_TEST(xacro_conditions) {
    check_expansion("<xacro:if value='true'><a/></xacro:if><xacro:unless value='1'><b/></xacro:unless>", "<a>");
    check_expansion("<xacro:if value='${1 == 2}'><a/></xacro:if><xacro:unless value='False'><b/></xacro:unless>",
                    "<b>");
    check_expansion("<xacro:if value='0'><xacro:nowhere/></xacro:if><c/>", "<c>");
    check_expansion("<xacro:if value='$(arg given)'>text</xacro:if>", "text");
    check_expansion("<xacro:if value='${0.0}'><a/></xacro:if><b/>", "<b>");
}

KK_TEST(xacro_macros) {
    check_expansion("<xacro:macro name='m' params='x y:=2'><a x='${x}' y='${y}'/></xacro:macro><xacro:m "
                    "x='1'/><xacro:m x='3' y='4'/>",
                    "<a x=1 y=2><a x=3 y=4>");
    check_expansion("<xacro:macro name='m'><a/></xacro:macro><xacro:m/><b><xacro:m/></b>", "<a><b><a>/");
}

KK_TEST(xacro_blocks_and_scopes) {
    check_expansion("<xacro:property name='z' value='9'/><xacro:macro name='m' params='x *o **c'><l n='${x}'>"
                    "<xacro:insert_block name='o'/><xacro:insert_block name='c'/></l></xacro:macro>"
                    "<xacro:m x='1'><origin z='${z}'/><list><p/><q/></list></xacro:m>",
                    "<l n=1><origin z=9><p><q>/");
    // a block is handed on by a macro to another of the same name
    check_expansion(
        "<xacro:macro name='in' params='*o'><i><xacro:insert_block name='o'/></i></xacro:macro>"
        "<xacro:macro name='out' params='*o'><xacro:in><xacro:insert_block name='o'/></xacro:in></xacro:macro>"
        "<xacro:out><x/></xacro:out>",
        "<i><x>/");
    // what is handed on counts by its content, and what a condition leaves out does not count
    check_expansion(
        "<xacro:macro name='in' params='**o'><i><xacro:insert_block name='o'/></i></xacro:macro>"
        "<xacro:macro name='out' params='**o'><xacro:in><xacro:insert_block name='o'/></xacro:in></xacro:macro>"
        "<xacro:out><list><x><y/><z/></x></list></xacro:out>",
        "<i><y><z>/");
    check_expansion("<xacro:macro name='m' params='*a *b'><A><xacro:insert_block name='a'/></A><B><xacro:insert_block "
                    "name='b'/></B></xacro:macro><xacro:m><xacro:if value='0'><no/></xacro:if><xacro:unless value='0'>"
                    "<p/><q/></xacro:unless></xacro:m>",
                    "<A><p>/<B><q>/");
    check_expansion(
        "<xacro:macro name='m' params='x'><xacro:property name='y' value='${x}'/><a y='${y}'/></xacro:macro>"
        "<xacro:property name='y' value='0'/><xacro:m x='5'/><b y='${y}'/>",
        "<a y=5><b y=0>");
    check_expansion("<xacro:macro name='m' params=''><xacro:property name='y' value='5' scope='global'/>"
                    "<xacro:property name='w' value='6' scope='parent'/></xacro:macro><xacro:m/><b y='${y}${w}'/>",
                    "<b y=56>");
    check_expansion(
        "<xacro:property name='x' value='3'/><xacro:macro name='m' params='x:=^ y:=^|4'><a b='${x}${y}'/></xacro:macro>"
        "<xacro:m/><xacro:m x='1' y='2'/>",
        "<a b=34><a b=12>");
    check_expansion(
        "<xacro:macro name='m' params=\"a:='x y' b:=${1 + 2} c=7\"><a b='${a}|${b}|${c}'/></xacro:macro><xacro:m/>",
        "<a b=x y|3|7>");
    check_expansion("<xacro:macro name='count' params='n'><c n='${n}'/><xacro:if value='${n > 0}'><xacro:count "
                    "n='${n-1}'/></xacro:if>"
                    "</xacro:macro><xacro:count n='3'/>",
                    "<c n=3><c n=2><c n=1><c n=0>");
    check_expansion("<xacro:macro name='m' params='x'><n><xacro:k/></n></xacro:macro>"
                    "<xacro:macro name='k' params=''><v x='${x}'/></xacro:macro><xacro:m x='8'/>",
                    "<n><v x=8>/");
}

// what robots of UR, Franka and others do with their parameters
KK_TEST(xacro_loads_yaml) {
    static const char load[] = "<xacro:property name='f' value='$(find my_robot)/config/limits.yaml'/>"
                               "<xacro:property name='y' value='${xacro.load_yaml(f)}'/>"
                               "<xacro:property name='j' value=\"${y['joint_limits']}\"/>";
    static const char *const cases[][2] = {
        {"<a b=\"${y['joint_limits']['elbow']['max']}\"/>", "<a b=3.141592653589793>"},
        {"<a b='${j.elbow.min}' c='${2*j.wrist.max}'/>", "<a b=-1.5707963267948966 c=3.141592653589793>"},
        {"<a b='${j.hand.max}' c='${j.hand.origin.xyz}'/>", "<a b=3 c=0 0 1>"},
        {"<a b='package://${j.elbow.mesh.package}/${j.elbow.mesh.path}'/>", "<a b=package://my_robot/meshes/a b.stl>"},
        {"<a b='${j.elbow.mesh.size[1]}' c='${j.elbow.mesh.size}'/>", "<a b=2.5 c=[1, 2.5, 'x']>"},
        {"<xacro:if value='${j.elbow.free}'><a b='${j.elbow.note}'/></xacro:if>", "<a b=a # b>"},
        {"<a b=\"${'wrist' in j}\" c=\"${'knee' in j}\" d='${len(j)}'/>", "<a b=True c=False d=3>"},
        {"<a b='${y.names[1]}' c='${y.legs[1].name}' d='${y.legs[0].x * 2}'/>", "<a b=right c=fr d=0.002>"},
        {"<a b='${y.empty}' c='${y.empty is None}'/>", "<a b=None c=True>"},
        {"<a b='${y.lines}'/>", "<a b=one\ntwo\n>"},
        {"<xacro:macro name='m' params='n d:=^'><l n='${n}' u='${d[n].max}'/></xacro:macro>"
         "<xacro:property name='d' value='${j}'/><xacro:m n='hand'/>",
         "<l n=hand u=3>"},
        {"<xacro:macro name='get' params='n'><xacro:property name='m' value='${j[n].mesh.package}' scope='parent'/>"
         "</xacro:macro><xacro:get n='elbow'/><a b='$(find ${m})/x' c=\"${load_yaml('$(find my_robot)/config/"
         "limits.yaml').names[0]}\"/>",
         "<a b=package://my_robot/x c=left>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        builder b = {0};
        build(&b, load);
        build(&b, cases[i][0]);
        check_expansion(b.text, cases[i][1]);
        free(b.text);
    }
}

KK_TEST(xacro_commands) {
    check_expansion("<a b='$(eval given * 2)' c='$(eval arg(&quot;given&quot;) + (1 + 2))'/>", "<a b=14 c=10>");
    check_expansion("<a b=\"$(eval side == 'left' and not given == 8)\"/>", "<a b=True>");
    // the environment is not looked at: what is written there, or the argument of that name
    check_expansion("<a b='$(optenv HOME 0.1 0 -2 )' c='$(optenv side x)' d='$(env given)' e='$(optenv X )'/>",
                    "<a b=0.1 0 -2 c=left d=7 e=>");
    check_expansion("<a b=\"${xacro.arg('given') + 1}\">${xacro.warning('text')}</a>", "<a b=8>/");
    check_expansion("<xacro:property name='p' value='a b c'/><a b=\"${float(p.split(' ')[0] + '1' if 0 else '2')}\"/>",
                    "<a b=2.0>");
    check_expansion("<xacro:if value=\"${'false' not in ['false', False, 'x']}\"><b/></xacro:if><a/>", "<a>");
}

KK_TEST(xacro_namespaces) {
    check_expansion("<xacro:include filename='ns.xacro' ns='k'/><a b='${k.size + k.unit}'/><xacro:k.part n='1'/>",
                    "<a b=9><part n=1 size=6><inner unit=3>");
    check_expansion("<xacro:property name='unit' value='100'/><xacro:include filename='ns.xacro' ns='k'/>"
                    "<a b='${unit} ${k.size}'/><xacro:call macro='k.part' n='2'/>",
                    "<a b=100 6><part n=2 size=6><inner unit=3>");
    check_expansion(
        "<xacro:macro name='m' params='x'><xacro:property name='w' value='${x}' scope='parent'/></xacro:macro>"
        "<xacro:macro name='outer'><xacro:m x='4'/><o w='${w}'/></xacro:macro>"
        "<xacro:property name='w' value='1'/><xacro:outer/><a b='${w}'/>",
        "<o w=4><a b=1>");
    check_expansion("<xacro:property name='which' value='m'/><xacro:macro name='m' params='x *b'><c x='${x}'/>"
                    "<xacro:insert_block name='b'/></xacro:macro><xacro:call macro='${which}' x='3'><d/></xacro:call>",
                    "<c x=3><d>");
}

KK_TEST(xacro_elements_and_attributes) {
    check_expansion("<xacro:element xacro:name='li${1 + 1}' x='${3}'><b/></xacro:element>", "<li2 x=3><b>/");
    check_expansion("<l a='1'><b c='2'/><xacro:attribute name='d' value='${4}'/><e f='5'/>"
                    "<xacro:attribute name='a' value='6'/><xacro:attribute name='g${1}' value='7'/></l>",
                    "<l a=6 d=4 g1=7><b c=2><e f=5>/");
    check_expansion("<l><xacro:if value='1'><xacro:attribute name='d' value='4'/></xacro:if></l>", "<l d=4>");
}

KK_TEST(xacro_includes) {
    check_expansion("<xacro:include filename='inc.xacro'/><a b='${inc}'/>", "<from_inc v=5><a b=5>");
    check_expansion("<xacro:include filename='$(find my_robot)/urdf/macros.xacro'/><xacro:m x='1'/>", "<made x=1>");
    check_expansion("<xacro:include filename='package://my_robot/urdf/macros.xacro'/><xacro:m x='2'/>", "<made x=2>");
    check_expansion("<xacro:include filename='inc.xacro'/><xacro:include filename='inc.xacro'/>",
                    "<from_inc v=5><from_inc v=5>");
    check_expansion("<xacro:include filename='nowhere.xacro' optional='true'/><a/>", "<a>");
}

typedef struct bad {
    const char *text;
    kk_status status;
    int line, column;
    const char *says;
} bad;

KK_TEST(xacro_errors_have_places) {
    static const bad cases[] = {
        {"<r>\n <a b='x${nowhere}'/></r>", KK_NOT_FOUND, 2, 11, "name 'nowhere' is not known"},
        {"<r><a b='${1 +}'/></r>", KK_SYNTAX, 1, 12, "ends too early"},
        {"<r><a b='&lt;${1 ? 2}'/></r>", KK_UNSUPPORTED, 1, 18, "operator '?'"},
        {"<r><a b='${1'/></r>", KK_SYNTAX, 1, 10, "without '}'"},
        {"<r><a b='$(arg x'/></r>", KK_SYNTAX, 1, 10, "without ')'"},
        {"<r><a b='$(arg nowhere)'/></r>", KK_NOT_FOUND, 1, 10, "argument 'nowhere' is not set"},
        {"<r><a b='$(env HOME)'/></r>", KK_NOT_FOUND, 1, 10, "environment"},
        {"<r><a b='$(eval 1 +)'/></r>", KK_SYNTAX, 1, 10, "too early"},
        {"<r><a b='$(anon x)'/></r>", KK_UNSUPPORTED, 1, 10, "not supported"},
        {"<r><xacro:element/></r>", KK_NOT_FOUND, 1, 4, "no attribute 'xacro:name'"},
        {"<r><xacro:element xacro:name='a b'/></r>", KK_INVALID_ARGUMENT, 1, 4, "no name of XML"},
        {"<r><xacro:attribute name='a'/></r>", KK_NOT_FOUND, 1, 4, "no attribute 'value'"},
        {"<r><xacro:call macro='x'/></r>", KK_NOT_FOUND, 1, 4, "macro 'x' is not known"},
        {"<r><xacro:ns.part/></r>", KK_NOT_FOUND, 1, 4, "macro 'ns.part' is not known"},
        {"<r><xacro:include filename='ns.xacro' ns='k'/><a b='${size}'/></r>", KK_NOT_FOUND, 1, 55, "'size'"},
        {"<r><xacro:property name='x' value='1'/><xacro:property name='x' remove='true'/><a b='${x}'/></r>",
         KK_NOT_FOUND, 1, 88, "'x'"},
        {"<r><a b=\"${load_yaml('../config/nowhere.yaml')}\"/></r>", KK_NOT_FOUND, 1, 12, "not found"},
        {"<r><a b=\"${load_yaml('../../secret.yaml')}\"/></r>", KK_INVALID_ARGUMENT, 1, 12, "leads out"},
        {"<r><a b=\"${load_yaml('../config/bad.yaml')}\"/></r>", KK_SYNTAX, 1, 12, "bad.yaml:3: a '['"},
        {"<r><a b=\"${load_yaml('../config/limits.yaml')['x']}\"/></r>", KK_NOT_FOUND, 1, 12, "no part 'x'"},
        {"<r><xacro:if value='x'>${xacro.fatal('no')}</xacro:if></r>", KK_SYNTAX, 1, 4, "neither"},
        {"<r>${xacro.fatal('no')}</r>", KK_INVALID_ARGUMENT, 1, 6, "refuses to be expanded: 'no'"},
        {"<r>\n<xacro:foo/></r>", KK_NOT_FOUND, 2, 1, "macro 'foo' is not known"},
        {"<r><xacro:property value='1'/></r>", KK_NOT_FOUND, 1, 4, "no attribute 'name'"},
        {"<r><xacro:property name='' value='1'/></r>", KK_INVALID_ARGUMENT, 1, 4, "empty"},
        {"<r><xacro:property name='x' value='1' scope='y'/></r>", KK_SYNTAX, 1, 4, "scope 'y'"},
        {"<r><xacro:property name='x' value='${x}'/><a b='${x}'/></r>", KK_INVALID_ARGUMENT, 1, 4, "defined by itself"},
        {"<r><xacro:property name='x' value='${y}'/><xacro:property name='y' value='${x}'/><a b='${y}'/></r>",
         KK_INVALID_ARGUMENT, 1, 43, "'y' is defined by itself"},
        {"<r><xacro:property name='x' value='${1/0}'/>\n<a b='${x}'/></r>", KK_INVALID_ARGUMENT, 1, 38,
         "division by zero"},
        {"<r><xacro:if><a/></xacro:if></r>", KK_NOT_FOUND, 1, 4, "no attribute 'value'"},
        {"<r><xacro:if value='maybe'/></r>", KK_SYNTAX, 1, 4, "neither true nor false"},
        {"<r><xacro:insert_block name='b'/></r>", KK_NOT_FOUND, 1, 4, "block 'b' is not known"},
        {"<r><xacro:macro name='m' params='x'/><xacro:m/></r>", KK_NOT_FOUND, 1, 38, "needs the parameter 'x'"},
        {"<r><xacro:macro name='m' params='x'/><xacro:m x='1' y='2'/></r>", KK_INVALID_ARGUMENT, 1, 53,
         "no parameter 'y'"},
        {"<r><xacro:macro name='m' params='*b'/><xacro:m/></r>", KK_NOT_FOUND, 1, 39,
         "needs an element for the block 'b'"},
        {"<r><xacro:macro name='m' params=''/><xacro:m><a/></xacro:m></r>", KK_INVALID_ARGUMENT, 1, 46,
         "no further block"},
        {"<r><xacro:macro name='m' params=':=1'/></r>", KK_SYNTAX, 1, 4, "malformed"},
        {"<r><xacro:macro name='m' params='***x'/></r>", KK_SYNTAX, 1, 4, "malformed"},
        {"<r><xacro:macro name='m' params='x'>\n<a b='${x + nowhere}'/></xacro:macro>\n\n<xacro:m x='1'/></r>",
         KK_NOT_FOUND, 2, 9, "(in macro 'm' called at main.xacro:4)"},
        {"<r><xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/></r>", KK_LIMIT_EXCEEDED, 1, 26, "deep"},
        {"<r><xacro:include filename='nowhere.xacro'/></r>", KK_NOT_FOUND, 1, 29, "not found"},
        {"<r><xacro:include filename='/etc/passwd'/></r>", KK_INVALID_ARGUMENT, 1, 29, "leads out"},
        {"<r><xacro:include filename='../../secret.xacro'/></r>", KK_INVALID_ARGUMENT, 1, 29, "leads out"},
        {"<r><xacro:include filename='self.xacro'/></r>", KK_INVALID_ARGUMENT, 1, 4, "includes itself"},
        {"<r><xacro:include filename='ping.xacro'/></r>", KK_INVALID_ARGUMENT, 1, 4, "includes itself"},
        {"<r><xacro:include filename='broken.xacro'/></r>", KK_SYNTAX, 2, 4, "does not match"},
        {"<r><xacro:include filename='fault.xacro'/></r>", KK_NOT_FOUND, 2, 11, "nowhere"},
        {"<r><xacro:include filename='*.xacro'/></r>", KK_UNSUPPORTED, 1, 4, "pattern"},
        {"<r><xacro:include filename='http://x/y'/></r>", KK_UNSUPPORTED, 1, 29, "download"},
        {"<xacro:if value='1'><a/><b/></xacro:if>", KK_SYNTAX, 1, 1, "the root is an element of xacro"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kki_xml *result;
        kk_error error = {0};
        const kk_status status = expand(cases[i].text, &normal_options, NULL, &result, &error);
        if (status != cases[i].status || error.line != cases[i].line || error.column != cases[i].column ||
            !strstr(error.text, cases[i].says) || !strchr(error.text, ';') || !error.file[0]) {
            KK_FAIL("%s\n    %s %s:%d:%d %s", cases[i].text, kk_status_name(status), error.file, error.line,
                    error.column, error.text);
        }
        KK_CHECK(result == NULL);
    }
}

// nodes of the result point to where they were written, in whatever file
KK_TEST(xacro_keeps_places) {
    kki_xml *result;
    kk_error error = {0};
    KK_CHECK_EQ_INT(
        expand("<r>\n<xacro:include filename='inc.xacro'/>\n <a b='1 ${2} x'/></r>", NULL, NULL, &result, &error),
        KK_OK);
    if (!result) {
        return;
    }
    const int32_t inc = kki_xml_first(result, 0, "from_inc"), a = kki_xml_first(result, 0, "a");
    const kki_xml_position p = kki_xml_locate(result, result->node[inc].place),
                           q = kki_xml_locate(result, result->node[a].place);
    KK_CHECK_STR(p.file, "robot/urdf/inc.xacro");
    KK_CHECK(p.line == 2 && p.column == 1);
    KK_CHECK_STR(q.file, "main.xacro");
    KK_CHECK(q.line == 3 && q.column == 2);
    const int32_t b = kki_xml_find(result, a, "b");
    KK_CHECK_EQ_INT(kki_xml_locate(result, kki_xml_place_in_value(result, b, 0)).column, 8);
    KK_CHECK_EQ_INT(kki_xml_locate(result, kki_xml_place_in_value(result, b, 1)).column, 9);
    KK_CHECK_EQ_INT(kki_xml_locate(result, kki_xml_place_in_value(result, b, 4)).column, 8); // no more the file's text
    kki_xml_free(result);
}

// ---- bombs

static void check_bomb(const char *text, const char *says) {
    kki_xml *result;
    kk_error error = {0};
    counter c = {.fail_at = -1};
    const kk_allocator allocator = counter_allocator(&c);
    const double start = kk_test_seconds();
    KK_CHECK_EQ_INT(expand(text, NULL, &allocator, &result, &error), KK_LIMIT_EXCEEDED);
    KK_CHECK(kk_test_seconds() - start < (kk_test_is_quick() ? 60 : 5));
    KK_CHECK(c.peak < (size_t)1 << 30);
    KK_CHECK_EQ_INT(c.blocks, 0);
    KK_CHECK_EQ_INT(c.bytes, 0);
    if (!strstr(error.text, says)) {
        KK_FAIL("%s", error.text);
    }
}

KK_TEST(xacro_bombs_end) {
    builder texts = {0}, calls = {0}, empty = {0};
    build(&texts, "<r><xacro:property name='p0' value='lol lol lol lol'/>");
    build(&calls, "<r><xacro:macro name='m0'><a b='1'/></xacro:macro>");
    build(&empty, "<r><xacro:macro name='m0'></xacro:macro>");
    for (int i = 1; i < 40; i++) {
        char line[300];
        snprintf(line, sizeof line, "<xacro:property name='p%d' value='${p%d}${p%d}${p%d}${p%d}'/>", i, i - 1, i - 1,
                 i - 1, i - 1);
        build(&texts, line);
        snprintf(line, sizeof line, "<xacro:macro name='m%d'><xacro:m%d/><xacro:m%d/><xacro:m%d/></xacro:macro>", i,
                 i - 1, i - 1, i - 1);
        build(&calls, line);
        build(&empty, line);
    }
    build(&texts, "<a b='${p39}'/></r>");
    build(&calls, "<xacro:m39/></r>");
    build(&empty, "<xacro:m39/></r>");
    check_bomb(texts.text, "too much text");
    check_bomb(calls.text, "too large");
    check_bomb(empty.text, "steps");
    check_bomb("<r><xacro:property name='b'><x/><xacro:insert_block name='b'/></xacro:property><xacro:insert_block "
               "name='b'/></r>",
               "deep");
    check_bomb(
        "<r><xacro:macro name='m' params='x'><a b='${x}'/><xacro:m x='${x+x}'/></xacro:macro><xacro:m x='abc'/></r>",
        "");
    free(texts.text);
    free(calls.text);
    free(empty.text);
}

KK_TEST(xacro_survives_failing_allocations) {
    static const char text[] = "<r><xacro:include filename='macros.xacro'/><xacro:arg name='n' default='4'/>"
                               "<xacro:property name='w' value='${v*2}'/><xacro:property name='v' value='$(arg n)'/>"
                               "<xacro:m x='${w}_${v}'/><b c='${load_yaml(\"../config/limits.yaml\").legs}'/>"
                               "<xacro:include filename='ns.xacro' ns='k'/><xacro:k.part n='${[1, k.unit][1]}'/>"
                               "<xacro:property name='o'><p>text ${w}</p></xacro:property>"
                               "<a b='$(find x)'><xacro:insert_block name='o'/></a></r>";
    counter c = {.fail_at = -1};
    const kk_allocator allocator = counter_allocator(&c);
    kki_xml *result;
    kk_error error = {0};
    KK_CHECK_EQ_INT(expand(text, &normal_options, &allocator, &result, &error), KK_OK);
    kki_xml_free(result);
    KK_CHECK_EQ_INT(c.blocks, 0);
    const int calls = c.calls;
    KK_CHECK(calls > 20);
    for (int k = 0; k < calls; k++) {
        c = (counter){.fail_at = k};
        error = (kk_error){0};
        const kk_status status = expand(text, &normal_options, &allocator, &result, &error);
        KK_CHECK_EQ_INT(status, KK_OUT_OF_MEMORY);
        KK_CHECK(error.status == KK_OUT_OF_MEMORY && error.text[0]);
        kki_xml_free(result);
        KK_CHECK_EQ_INT(c.blocks, 0);
        KK_CHECK_EQ_INT(c.bytes, 0);
    }
}
