// libFuzzer target of MJCF: loads the bytes, and repairs where they are an odd number; what compiles is written and must load again with as many degrees of freedom.
//
//     scripts/fuzz.sh mjcf
// The corpus in tests/fuzz/corpus/mjcf is replayed by tests/io/test_mjcf_fuzz.c.
#include <karakuri/load.h>
#include <karakuri/model.h>
#include <karakuri/save.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_mjcf(int condition) {
    if (!condition) {
        abort();
    }
}

static const char mesh_for_mjcf[] = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
static const char part_for_mjcf[] =
    "<mujoco><worldbody><body name='p'><joint/><geom size='1'/></body></worldbody></mujoco>";

static const unsigned char field_for_mjcf[24] = {2, 0, 0, 0, 2, 0, 0, 0};

static kk_status load_mjcf(const void *bytes, size_t size, int repair, kk_spec **spec, kk_error *error) {
    const kk_file file[] = {{"fuzz.xml", bytes, size},
                            {"m.obj", mesh_for_mjcf, sizeof mesh_for_mjcf - 1},
                            {"part.xml", part_for_mjcf, sizeof part_for_mjcf - 1},
                            {"g.hf", field_for_mjcf, sizeof field_for_mjcf}};
    const kk_load_options options = {.file = file, .file_count = 4, .repair = repair};
    return kk_load_file("fuzz.xml", &options, NULL, spec, NULL, error);
}

static void check_mjcf_again(const kk_spec *spec, const kk_model *model) {
    char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    kk_spec *again = NULL;
    kk_model *model2 = NULL;
    if (kk_spec_write_mjcf(spec, NULL, NULL, &text, &size, &error) != KK_OK) {
        require_mjcf(text == NULL && error.text[0]);
        return;
    }
    if (load_mjcf(text, size, 0, &again, &error) == KK_OK && kk_model_compile(again, NULL, &model2, &error) == KK_OK) {
        require_mjcf(kk_model_nv(model) == kk_model_nv(model2));
    }
    kk_model_free(model2);
    kk_spec_free(again);
    kk_text_free(NULL, text, size);
}

/// Many copies are slow, not wrong; bombs have tests of their own.
static int is_many(const uint8_t *data, size_t size) {
    int digits = 0;
    for (size_t i = 0; i + 7 < size; i++) {
        if (memcmp(data + i, "count=", 6) == 0) {
            digits = 0;
            for (size_t k = i + 7; k < size && data[k] >= '0' && data[k] <= '9'; k++) {
                digits += digits > 0 || data[k] != '0';
            }
            if (digits > 2) {
                return 1;
            }
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (is_many(data, size)) {
        return 0;
    }
    kk_spec *spec = NULL;
    kk_error error = {0};
    const kk_status status = load_mjcf(data, size, (int)(size & 1), &spec, &error);
    require_mjcf((status == KK_OK) == (spec != NULL));
    require_mjcf(status == KK_OK || (error.text[0] && error.file[0]));
    kk_model *model = NULL;
    // what reads is tried with every input, what compiles and writes with one of four
    if (spec && (size & 6) == 0 && kk_spec_body_count(spec) < 1000 &&
        kk_model_compile(spec, NULL, &model, &error) == KK_OK) {
        check_mjcf_again(spec, model);
    }
    kk_model_free(model);
    kk_spec_free(spec);
    return 0;
}
