// Status names and the error object: contents, context, truncation.
#include "harness.h"

#include <string.h>

#include "base/error.h"

KK_TEST(status_names_come_from_the_list) {
    KK_CHECK_STR(kk_status_name(KK_OK), "KK_OK");
    KK_CHECK_STR(kk_status_name(KK_SINGULAR), "KK_SINGULAR");
    KK_CHECK_STR(kk_status_text(KK_SYNTAX), "a text does not follow its grammar");
    KK_CHECK_STR(kk_status_name((kk_status)-999), "KK_UNKNOWN");
    KK_CHECK_STR(kk_status_text((kk_status)7), "a status that is not in the list");
}

KK_TEST(error_says_what_and_where) {
    kk_error error;
    const kk_status status = kki_error_at(&error, KK_SYNTAX, "robot.urdf", 12, 34, "joint '%s' has %d axes", "knee", 2);
    KK_CHECK_EQ_INT(status, KK_SYNTAX);
    KK_CHECK_EQ_INT(error.status, KK_SYNTAX);
    KK_CHECK_EQ_INT(error.line, 12);
    KK_CHECK_EQ_INT(error.column, 34);
    KK_CHECK_STR(error.file, "robot.urdf");
    KK_CHECK_STR(error.text, "joint 'knee' has 2 axes");
    kki_error_set(&error, KK_INVALID_MODEL, "model '%s': %s", "biped", error.text);
    KK_CHECK_STR(error.text, "model 'biped': joint 'knee' has 2 axes");
    KK_CHECK_STR(error.file, "");
    KK_CHECK_EQ_INT(error.line, 0);
    KK_CHECK_EQ_INT(error.column, 0);
}

KK_TEST(error_may_be_absent) {
    KK_CHECK_EQ_INT(kki_error_set(NULL, KK_IO, "%s", "x"), KK_IO);
    KK_CHECK_EQ_INT(kki_error_at(NULL, KK_IO, "f", 1, 1, "%s", "x"), KK_IO);
}

// a long text of characters of `width` bytes after `lead` ASCII bytes is cut between characters and uses the room there
// is
static void check_truncation(const char *character, size_t lead) {
    char text[2 * KK_ERROR_TEXT_SIZE + 8] = {0};
    const size_t width = strlen(character);
    memset(text, 'a', lead);
    for (size_t n = lead; n < 2 * KK_ERROR_TEXT_SIZE; n += width) {
        memcpy(text + n, character, width);
    }
    kk_error error;
    memset(&error, 0x7f, sizeof error);
    kki_error_at(&error, KK_IO, text, 1, 1, "%s", text);
    const size_t length = strlen(error.text);
    KK_CHECK(length < KK_ERROR_TEXT_SIZE && length + width >= KK_ERROR_TEXT_SIZE);
    KK_CHECK_EQ_INT((length - lead) % width, 0);
    KK_CHECK(memcmp(error.text, text, length) == 0);
    const size_t file_length = strlen(error.file);
    KK_CHECK(file_length < KK_ERROR_FILE_SIZE && file_length + width >= KK_ERROR_FILE_SIZE);
    KK_CHECK_EQ_INT((file_length - lead) % width, 0);
}

KK_TEST(error_is_cut_at_a_whole_character) {
    for (size_t lead = 0; lead < 5; lead++) {
        check_truncation("x", lead);
        check_truncation("\xc3\xa9", lead);
        check_truncation("\xe6\xa9\x9f", lead);
        check_truncation("\xf0\x9f\xa4\x96", lead);
    }
}

// bytes that are no UTF-8 are cut at the size and do no harm
KK_TEST(error_survives_text_that_is_no_utf8) {
    char text[KK_ERROR_TEXT_SIZE + 50];
    memset(text, 0x80, sizeof text);
    text[sizeof text - 1] = '\0';
    kk_error error;
    kki_error_set(&error, KK_IO, "%s", text);
    KK_CHECK_EQ_INT(strlen(error.text), KK_ERROR_TEXT_SIZE - 1);
}
