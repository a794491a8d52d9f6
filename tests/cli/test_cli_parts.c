// Parts of the command-line tool: JSON, suggestions, wrapping, the names of columns.
#include <math.h>
#include <string.h>

#include "cli/columns.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "cli/suggest.h"
#include "harness.h"
#include "io/json.h"

KK_TEST(cli_json_is_json) {
    json_writer j = {0};
    json_begin_object(&j, NULL);
    json_string(&j, "odd \"key\"", "quote \" back \\ line \n tab \t bell \x07 \xff 脚");
    json_string(&j, "none", NULL);
    json_number(&j, "nan", NAN);
    json_number(&j, "tenth", 0.1);
    json_bool(&j, "yes", true);
    json_begin_array(&j, "empty");
    json_end(&j);
    json_begin_array(&j, "rows");
    json_numbers(&j, NULL, (double[]){1, -2.5, INFINITY}, 3);
    json_begin_object(&j, NULL);
    json_integer(&j, "big", INT64_MIN);
    json_end(&j);
    json_end(&j);
    json_end(&j);
    kki_json read;
    kk_error error = {0};
    if (!KK_CHECK_EQ_INT(kki_json_parse(j.text.bytes, j.text.size, NULL, NULL, &read, &error), KK_OK)) {
        return;
    }
    double value = 0;
    KK_CHECK(kki_json_number(&read, kki_json_member(&read, 0, "tenth"), &value) && value == 0.1);
    KK_CHECK(kki_json_is(&read, kki_json_member(&read, 0, "nan"), KKI_JSON_NULL));
    KK_CHECK(kki_json_is(&read, kki_json_member(&read, 0, "none"), KKI_JSON_NULL));
    KK_CHECK_EQ_INT(kki_json_size(&read, kki_json_member(&read, 0, "empty")), 0);
    KK_CHECK_EQ_INT(kki_json_size(&read, kki_json_member(&read, 0, "rows")), 2);
    KK_CHECK(strstr(j.text.bytes, "\\\" back \\\\ line \\n tab \\u0009 bell \\u0007 \xef\xbf\xbd 脚\"") != NULL);
    kki_json_free(&read);
    json_free(&j);
}

// sequences that only look like UTF-8: too long, surrogates, above the last character, cut off
KK_TEST(cli_json_repairs_utf8) {
    const char *const bad[] = {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                               "\xe8\x84", "\x80",         "\xf8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_writer j = {0};
        json_begin_line(&j, NULL);
        json_string(&j, NULL, bad[i]);
        json_end(&j);
        KK_CHECK(strncmp(j.text.bytes, "[\"\xef\xbf\xbd", 5) == 0);
        for (const char *s = j.text.bytes; *s; s++) {
            KK_CHECK((unsigned char)*s < 0x80 || strchr("\xef\xbf\xbd", *s));
        }
        json_free(&j);
    }
}

KK_TEST(cli_suggest_distance) {
    KK_CHECK_EQ_INT(suggest_distance("", "", 3), 0);
    KK_CHECK_EQ_INT(suggest_distance("abc", "abc", 3), 0);
    KK_CHECK_EQ_INT(suggest_distance("abc", "ABC", 3), 0);
    KK_CHECK_EQ_INT(suggest_distance("inof", "info", 3), 1);
    KK_CHECK_EQ_INT(suggest_distance("abc", "abcd", 3), 1);
    KK_CHECK_EQ_INT(suggest_distance("kitten", "sitting", 5), 3);
    KK_CHECK_EQ_INT(suggest_distance("kitten", "sitting", 2), 3);
    KK_CHECK_EQ_INT(suggest_distance("a", "abcdefgh", 2), 3);
}

static const char *nearest(const char *wanted) {
    const char *const words[] = {"info", "compute", "completion", "convert", "help"};
    suggestion s = suggest_begin(wanted);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        suggest_word(&s, words[i]);
    }
    return s.best;
}

KK_TEST(cli_suggest_nearest) {
    KK_CHECK_STR(nearest("ifno"), "info");
    KK_CHECK_STR(nearest("compue"), "compute");
    KK_CHECK_STR(nearest("complet"), "completion");
    KK_CHECK_STR(nearest("hlep"), "help");
    KK_CHECK_STR(nearest("zzzz"), NULL);
    KK_CHECK_STR(nearest("x"), NULL);
}

KK_TEST(cli_text_wraps) {
    cli_text t = {0};
    text_wrap(&t, "one two three four\nfive", 4, 2, 14);
    KK_CHECK_STR(text_string(&t), "one two\n  three four\n  five");
    text_free(&t);
    text_wrap(&t, "脚脚脚 脚脚 verylongwordindeed x", 0, 0, 6);
    KK_CHECK_STR(text_string(&t), "脚脚脚 脚脚\nverylongwordindeed\nx");
    text_free(&t);
}

KK_TEST(cli_grid_aligns) {
    const char *const heads[] = {"name", ">mass", "none"};
    const cli c = {0};
    grid g = grid_make(heads, 3);
    grid_row(&g);
    grid_set(&g, 0, "脚");
    grid_set(&g, 1, "%d", 12);
    grid_row(&g);
    grid_set(&g, 0, "longer");
    grid_set(&g, 1, "%d", 3456);
    cli_text out = {0};
    grid_print(&g, &c, &out);
    KK_CHECK_STR(text_string(&out), "name    mass\n脚         12\nlonger  3456\n");
    text_free(&out);
    grid_free(&g);
}

// every joint type has as many names as coordinates, all different
KK_TEST(cli_columns_of_every_joint) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    for (int type = KK_JOINT_FIXED; type <= KK_JOINT_FREE; type++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", type);
        kk_body_def body = kk_body_def_default();
        body.name = name;
        body.joint.type = (kk_joint_type)type;
        body.joint.axis2 = kk_vec3_make(1, 0, 0);
        body.joint.pitch = 0.1;
        body.inertia = kk_inertia_solid_box(1, 0.1, 0.2, 0.3);
        KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, &error), KK_OK);
    }
    if (!KK_CHECK_EQ_INT(kk_model_compile(spec, NULL, &model, &error), KK_OK)) {
        return;
    }
    column_list list = {0};
    columns_of_joints(model, COLUMN_Q, "q", &list);
    KK_CHECK_EQ_INT(list.count, kk_model_nq(model));
    columns_of_joints(model, COLUMN_V, "v", &list);
    KK_CHECK_EQ_INT(list.count, kk_model_nq(model) + kk_model_nv(model));
    for (int i = 0; i < list.count; i++) {
        for (int k = 0; k < i; k++) {
            KK_CHECK(strcmp(list.item[i].name, list.item[k].name) != 0);
        }
    }
    // a name stands at the place of its coordinate
    const kk_joint_info base = kk_model_joint(model, kk_model_find_body(model, "b8"));
    KK_CHECK_STR(list.item[base.q_index].name, "b8_joint.q.qw");
    KK_CHECK_STR(list.item[base.q_index + 4].name, "b8_joint.q.x");
    KK_CHECK_STR(list.item[base.q_index + 4].unit, "m");
    KK_CHECK_STR(list.item[kk_model_nq(model) + base.v_index + 3].name, "b8_joint.v.vx");
    KK_CHECK_STR(list.item[kk_model_nq(model) + base.v_index + 3].unit, "m/s");
    columns_free(&list);
    kk_model_free(model);
    kk_spec_free(spec);
}
