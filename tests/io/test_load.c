/// kk_load_model: from a file to a model in one call, and what its errors tell.
#include <karakuri/load.h>

#include "harness.h"

// what an error happened in: the file that includes the bad one, and the load
KK_TEST(errors_tell_what_they_happened_in) {
    const char main_file[] = "<mujoco>\n  <include file=\"part.xml\"/>\n</mujoco>",
               part[] = "<mujoco>\n  <worldbody>\n</mujoco>";
    const kk_file file[] = {{"main.xml", main_file, sizeof main_file - 1}, {"part.xml", part, sizeof part - 1}};
    const kk_load_options options = {.file = file, .file_count = 2};
    kk_error error = {0};
    kk_model *model = NULL;
    KK_CHECK(kk_load_model("main.xml", &options, &model, &error) != KK_OK);
    KK_CHECK(model == NULL);
    KK_CHECK_STR(error.file, "part.xml");
    KK_CHECK_EQ_INT(error.line, 3);
    KK_CHECK_STR(error.trail, "included from main.xml:2:3\nwhile main.xml was loaded");
}
