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

// the two readings of a file with many copies, and the one of a file that will not compile
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
