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
#include "malformed_mjcf.inc"
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

/// Every allocation made to fail, those behind the first hundred every `stride`th: a clean status, nothing left behind.
static void check_failing_allocations(const kk_file *files, int count, kk_status otherwise, int stride) {
    const kk_load_options o = {.file = files, .file_count = count};
    faulty f = {.fail_at = -1};
    const kk_allocator allocator = faulty_allocator(&f);
    kk_spec *spec = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_load_file(files[0].path, &o, &allocator, &spec, NULL, &error), otherwise);
    kk_spec_free(spec);
    KK_CHECK_EQ_INT(f.blocks, 0);
    const int calls = f.calls;
    for (int k = 0; k < calls; k += k < 100 ? 1 : stride) {
        f = (faulty){.fail_at = k};
        spec = NULL;
        const kk_status status = kk_load_file(files[0].path, &o, &allocator, &spec, NULL, &error);
        // a finding whose text had no room is lost, which is no failure
        if (status != KK_OUT_OF_MEMORY && status != otherwise) {
            KK_FAIL("allocation %d of %d: %s %s", k, calls, kk_status_name(status), error.text);
        }
        kk_spec_free(spec);
        KK_CHECK_EQ_INT(f.blocks, 0);
    }
}

KK_TEST(mjcf_survives_failing_allocations) {
    const kk_file files[] = {{"main.xml", "<mujoco><include file='model.xml'/></mujoco>", 44},
                             {"model.xml", good, sizeof good - 1}};
    check_failing_allocations(files, 2, KK_OK, 1);
}

/// A model that is attached by another, which attaches a third.
static const char LEAF[] =
    "<mujoco><default><geom size='1'/></default><worldbody><body name='a' childclass='main'><joint "
    "name='j'/><geom/></body>"
    "<body name='b'><joint/><geom/></body></worldbody><actuator><motor joint='j' name='m'/></actuator>"
    "<contact><exclude body1='a' body2='b'/></contact><keyframe><key qpos='1 2' ctrl='3'/></keyframe></mujoco>";
static const char MIDDLE[] =
    "<mujoco><asset><model name='l' file='leaf.xml'/></asset><worldbody><body name='c'><joint/>"
    "<geom size='1'/><attach model='l' body='a' prefix='l_'/></body></worldbody></mujoco>";
static const char TOP[] =
    "<mujoco><asset><model name='m' file='middle.xml'/></asset><worldbody><attach model='m' prefix='m_'/>"
    "<replicate count='2'><attach model='m' body='c' prefix='n_'/></replicate><body><geom size='1'/>"
    "<attach body='m_l_a' prefix='again_'/></body></worldbody></mujoco>";

KK_TEST(mjcf_survives_failing_allocations_of_attached_models) {
    const kk_file files[] = {{"main.xml", TOP, sizeof TOP - 1},
                             {"middle.xml", MIDDLE, sizeof MIDDLE - 1},
                             {"leaf.xml", LEAF, sizeof LEAF - 1}};
    check_failing_allocations(files, 3, KK_OK, kk_test_is_quick() ? 7 : 1);
}

typedef struct refusal {
    const char *asset, *attach;
    kk_status status;
    int column;
    const char *word; ///< that the error has
} refusal;

// what cannot be attached is an error with its place, never a model without its bodies
KK_TEST(mjcf_refuses_what_cannot_be_attached) {
    static const char ITSELF[] = "<mujoco><asset><model name='x' file='itself.xml'/></asset><worldbody>"
                                 "<attach model='x' prefix='x'/></worldbody></mujoco>";
    static const refusal refusals[] = {
        {"name='l' file='leaf.xml'", "model='l' body='a'", KK_NOT_FOUND, 1, "prefix"},
        {"name='l' file='leaf.xml'", "model='k' prefix='p'", KK_NOT_FOUND, 16, "check its spelling: k"},
        {"name='l' file='leaf.xml'", "model='l' prefix='p' body='z'", KK_NOT_FOUND, 36, "z"},
        {"name='l' file='leaf.xml'", "model='l' prefix='p' frame='z'", KK_NOT_FOUND, 37, "z"},
        {"name='l' file='leaf.xml'", "model='l' prefix='p' body='a' frame='z'", KK_INVALID_ARGUMENT, 46, "one"},
        {"name='l' file='leaf.xml'", "prefix='p'", KK_NOT_FOUND, 1, "model"},
        {"name='l' file='leaf.xml'", "prefix='p' body='own'", KK_INVALID_ARGUMENT, 26, "inside itself"},
        {"name='l' file='leaf.xml'", "prefix='p' body='later'", KK_NOT_FOUND, 26, "before"},
        {"name='l' file='gone.xml'", "model='l' prefix='p'", KK_NOT_FOUND, 23, "gone.xml"},
        {"name='l'", "model='l' prefix='p'", KK_NOT_FOUND, 1, "names no file"},
        {"name='l' file='robot.urdf'", "model='l' prefix='p'", KK_UNSUPPORTED, 23, "robot"},
        {"name='l' file='itself.xml'", "model='l' prefix='p'", KK_INVALID_ARGUMENT, 37, "itself"},
        {"name='l' file='leaf.xml'", "model='l' prefix='p' body='b'/><attach model='l' prefix='p' body='b'",
         KK_DUPLICATE_NAME, 0, "second body"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *c = &refusals[i];
        char text[1000];
        const int size =
            snprintf(text, sizeof text,
                     "<mujoco><asset>\n<model %s/>\n</asset><worldbody><body name='own'><joint/><geom size='1'/>\n"
                     "<attach %s/></body><body name='later'/></worldbody></mujoco>",
                     c->asset, c->attach);
        const kk_file files[] = {{"main.xml", text, (size_t)size},
                                 {"leaf.xml", LEAF, sizeof LEAF - 1},
                                 {"itself.xml", ITSELF, sizeof ITSELF - 1},
                                 {"robot.urdf", "<robot name='r'><link name='l'/></robot>", 40}};
        const kk_load_options o = {.file = files, .file_count = 4};
        kk_spec *spec = NULL;
        kk_error error = {0};
        const kk_status status = kk_load_file("main.xml", &o, NULL, &spec, NULL, &error);
        if (status != c->status || !strstr(error.text, c->word) || error.line == 0 ||
            (c->column > 0 && error.column != c->column && error.line > 1)) {
            KK_FAIL("%s: %s %s:%d:%d %s", c->attach, kk_status_name(status), error.file, error.line, error.column,
                    error.text);
        }
        kk_spec_free(spec);
    }
}

// the two sensor data of a file with many copies, and the one of a file that will not compile
KK_TEST(mjcf_survives_failing_allocations_of_copies) {
#define COPIES(geom)                                                                                                   \
    "<mujoco><worldbody><replicate count='300'><body name='b'><joint name='j'/>" geom "<karakuri/></body></replicate>" \
    "</worldbody><actuator><motor name='a' joint='j'/></actuator><keyframe><key ctrl='1'/></keyframe></mujoco>"
    static const char TEXT[] = COPIES("<geom size='1'/>"), IDLE[] = "<mujoco><worldbody><replicate count='900'><body>"
                                                                    "<joint/></body></replicate></worldbody></mujoco>";
#undef COPIES
    const kk_file wrong = {"model.xml", TEXT, sizeof TEXT - 1}, idle = {"model.xml", IDLE, sizeof IDLE - 1};
    check_failing_allocations(&wrong, 1, KK_SIZE_MISMATCH, 1);
    check_failing_allocations(&idle, 1, KK_INVALID_MODEL, 1);
    builder right = {0};
    build(&right,
          "<mujoco><worldbody><replicate count='600'><geom name='g' size='1'/></replicate></worldbody></mujoco>");
    const kk_file good_one = {"model.xml", right.text, right.size};
    check_failing_allocations(&good_one, 1, KK_OK, kk_test_is_quick() ? 101 : 13);
    free(right.text);
}
