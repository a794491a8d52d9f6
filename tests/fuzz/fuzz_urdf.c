// libFuzzer target of URDF: loads the bytes with everything that standing adds; what compiles is written and must load
// again with as many bodies and degrees of freedom.
//
//     scripts/fuzz.sh urdf
// The corpus in tests/fuzz/corpus/urdf is replayed by tests/io/test_urdf_fuzz.c.
#include <karakuri/load.h>
#include <karakuri/model.h>
#include <karakuri/save.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_urdf(int condition) {
    if (!condition) {
        abort();
    }
}

static const char mesh_of_fuzz[] = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static kk_status load_bytes(const void *bytes, size_t size, int stands, kk_spec **spec, kk_error *error) {
    const kk_file file[] = {{"fuzz.urdf", bytes, size}, {"m.obj", mesh_of_fuzz, sizeof mesh_of_fuzz - 1}};
    const kk_load_options options = {
        .file = file, .file_count = 2, .add_floor = stands, .add_actuators = stands, .place_on_floor = stands};
    return kk_load_file("fuzz.urdf", &options, NULL, spec, NULL, error);
}

static void check_again(const kk_spec *spec, const kk_model *model) {
    char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    kk_spec *again = NULL;
    kk_model *model2 = NULL;
    require_urdf(kk_spec_write_urdf(spec, NULL, NULL, &text, &size, &error) == KK_OK);
    require_urdf(load_bytes(text, size, 0, &again, &error) == KK_OK);
    if (kk_model_compile(again, NULL, &model2, &error) == KK_OK) {
        require_urdf(kk_model_nv(model) == kk_model_nv(model2) && kk_model_nbody(model) == kk_model_nbody(model2));
    }
    kk_model_free(model2);
    kk_spec_free(again);
    kk_text_free(NULL, text, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kk_spec *spec = NULL;
    kk_model *model = NULL;
    kk_error error = {0};
    const kk_status status = load_bytes(data, size, 1, &spec, &error);
    // what reads is tried with every input, what compiles and writes with one of four
    if (status != KK_OK) {
        require_urdf(error.text[0] != 0 && spec == NULL);
    } else if ((size & 6) == 0 && kk_model_compile(spec, NULL, &model, &error) == KK_OK) {
        check_again(spec, model);
    }
    kk_model_free(model);
    kk_spec_free(spec);
    return 0;
}
