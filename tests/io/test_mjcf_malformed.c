/// Broken MJCF ends in an error at the place of the fault, with its reason; none is a crash or a leak.
#include "../faults/faulty.h"
#include "mjcf_support.h"

#define W(inside) "<mujoco><worldbody>" inside "</worldbody></mujoco>"
#define G "<geom size='0.1'/>"

static const struct {
    const char *text;
    kk_status status;
    int line, column;
    const char *words;
} cases[] = {
    {W("<geom size='x'/>"), KK_SYNTAX, 1, 32, "'x' is not a number"},
    {W("<geom size='nan'/>"), KK_NOT_FINITE, 1, 32, "not a finite"},
    {W("<geom size='1e999'/>"), KK_NOT_FINITE, 1, 32, "not a finite"},
    {W("<geom type='box' size='1 2'/>"), KK_INVALID_ARGUMENT, 1, 43, "size 3"},
    {W("<geom type='cube' size='1'/>"), KK_SYNTAX, 1, 32, "'cube' is not known"},
    {W("<geom size='1 2 3 4'/>"), KK_SIZE_MISMATCH, 1, 38, "more than 3"},
    {W("<geom size='0'/>"), KK_INVALID_ARGUMENT, 1, 32, "not positive"},
    {W("<geom/>"), KK_INVALID_ARGUMENT, 1, 20, "not positive"},
    {W("<geom type='mesh'/>"), KK_NOT_FOUND, 1, 20, "names no mesh"},
    {W("<geom type='mesh' mesh='m'/>"), KK_NOT_FOUND, 1, 44, "mesh 'm'"},
    {W("<geom type='hfield' hfield='m'/>"), KK_NOT_FOUND, 1, 48, "hfield 'm'"},
    {W("<geom size='1' material='m'/>"), KK_NOT_FOUND, 1, 45, "material 'm'"},
    {W("<geom size='1' class='c'/>"), KK_NOT_FOUND, 1, 42, "class 'c'"},
    {W("<geom size='1' friction='-1'/>"), KK_INVALID_ARGUMENT, 1, 45, "negative"},
    {W("<geom size='1' condim='7'/>"), KK_LIMIT_EXCEEDED, 1, 43, "between 1 and 6"},
    {W("<geom size='1' quat='0 0 0 0'/>"), KK_INVALID_ARGUMENT, 1, 41, "no direction"},
    {W("<geom size='1' type='capsule' fromto='1 1 1 1 1 1'/>"), KK_INVALID_ARGUMENT, 1, 58, "same point"},
    {W("<body><geom size='1' mass='-1'/></body>"), KK_INVALID_MODEL, 1, 47, "negative"},
    {W("<joint/>"), KK_INVALID_MODEL, 1, 20, "world has a joint"},
    {W("<body><joint type='screw'/>" G "</body>"), KK_SYNTAX, 1, 39, "'screw'"},
    {W("<body><joint axis='0 0 0'/>" G "</body>"), KK_INVALID_ARGUMENT, 1, 39, "no length"},
    {W("<body><joint range='2 1'/>" G "</body>"), KK_INVALID_ARGUMENT, 1, 40, "upside down"},
    {W("<body><joint damping='-2'/>" G "</body>"), KK_INVALID_ARGUMENT, 1, 42, "negative"},
    {W("<body><body><freejoint/>" G "</body></body>"), KK_INVALID_MODEL, 1, 32, "free joint"},
    {W("<body><freejoint/><joint/>" G "</body>"), KK_INVALID_MODEL, 1, 26, "free joint"},
    {W("<body name='a'/>\n<body name='a'/>"), KK_DUPLICATE_NAME, 2, 13, "name 'a'"},
    {W("<body><inertial mass='1'/></body>"), KK_NOT_FOUND, 1, 26, "mass and pos"},
    {W("<body><inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/></body>"), KK_INVALID_MODEL, 1, 54, "negative"},
    {W("<replicate>" G "</replicate>"), KK_NOT_FOUND, 1, 20, "count"},
    {W("<replicate count='1000000000'>" G "</replicate>"), KK_LIMIT_EXCEEDED, 1, 38, "copies"},
    {W("<replicate count='999'><replicate count='999'><replicate count='999'>" G
       "</replicate></replicate></replicate>"),
     KK_LIMIT_EXCEEDED, 1, 61, "copies"},
    {"<mujoco><compiler angle='grad'/></mujoco>", KK_SYNTAX, 1, 26, "'grad'"},
    {"<mujoco><compiler eulerseq='xyw'/></mujoco>", KK_SYNTAX, 1, 29, "eulerseq"},
    {"<mujoco><compiler coordinate='global'/></mujoco>", KK_SYNTAX, 1, 31, "'global'"},
    {"<mujoco><option timestep='0'/></mujoco>", KK_INVALID_ARGUMENT, 1, 27, "timestep"},
    {"<mujoco><asset><mesh name='m'/></asset></mujoco>", KK_NOT_FOUND, 1, 16, "neither a file nor vertices"},
    {"<mujoco><asset><mesh file='none.stl'/></asset></mujoco>", KK_NOT_FOUND, 1, 28, "none.stl"},
    {"<mujoco><asset><mesh name='m' vertex='0 0 0 1'/></asset></mujoco>", KK_SIZE_MISMATCH, 1, 39, "triples"},
    {"<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0' face='0 1 9'/></asset></mujoco>", KK_INVALID_ARGUMENT, 1,
     39, "mesh 'm'"},
    {"<mujoco><asset><hfield name='h' size='1 1 1 1' nrow='2' ncol='2' elevation='1'/></asset></mujoco>",
     KK_SIZE_MISMATCH, 1, 77, "nrow times ncol"},
    {"<mujoco><asset><material name='m' texture='t'/></asset></mujoco>", KK_NOT_FOUND, 1, 44, "texture 't'"},
    {"<mujoco><actuator><motor joint='j'/></actuator></mujoco>", KK_NOT_FOUND, 1, 33, "joint 'j'"},
    {"<mujoco><actuator><motor/></actuator></mujoco>", KK_NOT_FOUND, 1, 19, "drives nothing"},
    {"<mujoco><sensor><gyro site='s'/></sensor></mujoco>", KK_NOT_FOUND, 1, 29, "site 's'"},
    {"<mujoco><sensor><gyro/></sensor></mujoco>", KK_NOT_FOUND, 1, 17, "no attribute 'site'"},
    {"<mujoco><equality><weld body1='a'/></equality></mujoco>", KK_NOT_FOUND, 1, 32, "body 'a'"},
    {"<mujoco><contact><exclude body1='a' body2='b'/></contact></mujoco>", KK_NOT_FOUND, 1, 34, "body 'a'"},
    {"<mujoco><tendon><fixed name='t'/></tendon></mujoco>", KK_INVALID_MODEL, 1, 17, "goes nowhere"},
    {"<mujoco><include/></mujoco>", KK_NOT_FOUND, 1, 9, "names no file"},
    {"<mujoco><include file='none.xml'/></mujoco>", KK_NOT_FOUND, 1, 24, "none.xml"},
    {"<mujoco>\n<include file='model.xml'/></mujoco>", KK_INVALID_ARGUMENT, 2, 16, "includes itself"},
    {"<mujoco><worldbody><body><freejoint/>" G "</body></worldbody><keyframe><key qpos='1'/></keyframe></mujoco>",
     KK_SIZE_MISMATCH, 1, 96, "1 numbers where the model has 7"},
    {"<mujoco><default><default/></default></mujoco>", KK_NOT_FOUND, 1, 18, "no class"},
    {"<mujoco><worldbody><body></worldbody></mujoco>", KK_SYNTAX, 1, 26, "body"},
};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

KK_TEST(malformed_mjcf_is_refused_at_its_place) {
    for (int i = 0; i < CASE_COUNT; i++) {
        robot r = mjcf_from_text(cases[i].text);
        const kk_error *e = &r.error;
        if (r.status != cases[i].status || e->line != cases[i].line || e->column != cases[i].column ||
            !strstr(e->text, cases[i].words) || strcmp(e->file, "model.xml") != 0) {
            KK_FAIL("case %d %s: %s %s:%d:%d %s", i, cases[i].text, kk_status_name(r.status), e->file, e->line,
                    e->column, e->text);
        }
        KK_CHECK(r.spec == NULL);
        robot_free(&r);
    }
}

static const char good[] =
    "<mujoco model='m'><compiler angle='radian'/><option timestep='0.01'><flag "
    "contact='enable'/></option><default><geom "
    "size='0.1'/><default class='c'><joint axis='0 1 0'/></default></default><asset><material name='r' rgba='1 0 0 1'/>"
    "<mesh name='t' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody><geom type='plane'/><body name='a' "
    "childclass='c' "
    "pos='0 0 1'><joint name='j' range='-1 1'/><joint axis='1 0 0'/><geom name='g' material='r'/><site name='s'/>"
    "<replicate count='2' offset='1 0 0'><body name='k'><joint name='n' type='ball'/><geom type='mesh' "
    "mesh='t'/></body>"
    "</replicate></body></worldbody><equality><connect body1='a' anchor='0 0 0'/></equality><tendon><fixed "
    "name='f'><joint "
    "joint='j' coef='1'/></fixed></tendon><actuator><position joint='j' kp='2' dampratio='1'/><motor tendon='f'/>"
    "</actuator><sensor><gyro site='s'/><ballquat joint='n'/></sensor><keyframe><key "
    "qpos='0 0 1 0 0 0 1 0 0 0'/></keyframe></mujoco>";

// every prefix of a good file, and every file with one byte changed, ends one way or the other
KK_TEST(malformed_mjcf_by_cutting_and_changing) {
    enum { LENGTH = sizeof good - 1 };
    char text[LENGTH + 1];
    const int step = kk_test_is_quick() ? 7 : 1;
    for (int i = 0; i < LENGTH; i += step) {
        memcpy(text, good, sizeof good);
        text[i] = 0;
        robot cut = mjcf_from_text(text);
        KK_CHECK(cut.status != KK_OK);
        robot_free(&cut);
        memcpy(text, good, sizeof good);
        text[i] = text[i] == '9' ? 'x' : '9';
        robot changed = mjcf_from_text(text);
        KK_CHECK((changed.status == KK_OK) == (changed.spec != NULL));
        robot_free(&changed);
    }
}

// every allocation made to fail: a clean status, nothing left behind
KK_TEST(mjcf_survives_failing_allocations) {
    const kk_file files[] = {{"model.xml", good, sizeof good - 1},
                             {"main.xml", "<mujoco><include file='model.xml'/></mujoco>", 44}};
    const kk_load_options o = {.file = files, .file_count = 2};
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = faulty_allocator(&f);
    kk_spec *spec = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_load_file("main.xml", &o, &allocator, &spec, NULL, &error), KK_OK);
    kk_spec_free(spec);
    KK_CHECK_EQ_INT(f.blocks, 0);
    const int calls = f.calls;
    for (int k = 0; k < calls; k++) {
        f = (faulty){.fail_at = k};
        spec = NULL;
        const kk_status status = kk_load_file("main.xml", &o, &allocator, &spec, NULL, &error);
        // a finding whose text had no room is lost, which is no failure
        if (status != KK_OUT_OF_MEMORY && status != KK_OK) {
            KK_FAIL("allocation %d of %d: %s %s", k, calls, kk_status_name(status), error.text);
        }
        kk_spec_free(spec);
        KK_CHECK_EQ_INT(f.blocks, 0);
    }
}
