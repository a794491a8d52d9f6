// A spec may be half-finished while it is edited: writers and the doctor then meet items without a name.
#include <karakuri/karakuri.h>

#include "harness.h"

KK_TEST(half_finished_specs_are_written_and_examined) {
    kk_spec *spec = NULL;
    kk_messages *messages = NULL;
    kk_error error = {0};
    KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
    KK_CHECK_EQ_INT(kk_messages_create(NULL, &messages), KK_OK);
    kk_body_def body = kk_body_def_default();
    body.name = "link";
    body.inertia.mass = -1;
    KK_CHECK_EQ_INT(kk_spec_add_body(spec, &body, NULL, &error), KK_OK);
    kk_spec_body(spec, 1)->name = NULL;
    char *text = NULL;
    size_t size = 0;
    const kk_status status = kk_spec_write_mjcf(spec, NULL, NULL, &text, &size, &error); // it may refuse, with a reason
    KK_CHECK(status == KK_OK ? text != NULL : error.text[0] != 0);
    if (text) {
        kk_text_free(NULL, text, size);
    }
    KK_CHECK_EQ_INT(kk_doctor_examine(spec, NULL, messages, &error), KK_OK);
    KK_CHECK(kk_messages_count(messages) > 0);
    kk_messages_free(messages);
    kk_spec_free(spec);
}

KK_TEST(severities_that_are_none_have_no_name) {
    KK_CHECK_STR(kk_severity_name(KK_SEVERITY_ERROR), "error");
    KK_CHECK_STR(kk_severity_name((kk_severity)7), "");
    KK_CHECK_STR(kk_severity_name((kk_severity)-1), "");
}
