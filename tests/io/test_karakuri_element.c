// The documentation of <karakuri> has the tables of the code. `KK_UPDATE_DOCS=1 karakuri_tests karakuri_element` rewrites them.
#include <stdio.h>
#include <stdlib.h>

#include <karakuri/load.h>
#include <karakuri/save.h>

#include "io/karakuri_fields.h"
#include "support.h"

#if defined(__wasm__) || !defined(KK_SOURCE_DIR)
KK_TEST(karakuri_element_is_documented) {
    KK_SKIP("no folder to read the documentation from");
}
#else

static const char BEGIN[] = "<!-- tables: begin -->\n", END[] = "<!-- tables: end -->\n";

static const char *kind_name(const kki_field *f) {
    switch (f->kind) {
    case KKI_FIELD_NUMBER: return "number";
    case KKI_FIELD_TEXT: return "text";
    case KKI_FIELD_WORD: return "word";
    case KKI_FIELD_FLAG: return "true, false";
    case KKI_FIELD_COUNT:
    case KKI_FIELD_MASK: return "whole number";
    case KKI_FIELD_VEC3:
    case KKI_FIELD_XYZ:
    case KKI_FIELD_RPY: return "3 numbers";
    case KKI_FIELD_NUMBERS3: return "1 to 3 numbers";
    case KKI_FIELD_SIX: return "6 numbers";
    case KKI_FIELD_BODY: return "link";
    case KKI_FIELD_MATERIAL: return "contact material";
    case KKI_FIELD_SHAPE: return "shape";
    case KKI_FIELD_HEIGHT_FIELD: return "height field";
    case KKI_FIELD_SENSOR: return "sensor type";
    }
    return "";
}

static void build_cell(builder *b, const char *text) {
    for (const char *c = text; *c; c++) {
        build(b, *c == '|' ? "\\" : "");
        build_bytes(b, c, 1);
    }
}

static void build_field(builder *b, const kki_field *f) {
    build(b, "| `");
    build(b, f->name);
    build(b, f->is_required ? "` (required) | " : "` | ");
    if (f->words) {
        for (int i = 0; f->words[i].word; i++) {
            build(b, i ? ", `" : "`");
            build(b, f->words[i].word);
            build(b, "`");
        }
    } else {
        build(b, kind_name(f));
    }
    build(b, " | ");
    build_cell(b, f->meaning);
    build(b, " |\n");
}

static void build_tables(builder *b) {
    for (int e = 0; e < KKI_ELEMENT_COUNT; e++) {
        const kki_fields *fields = kki_fields_of((kki_karakuri_element)e);
        build(b, "### `<");
        build(b, fields->element);
        build(b, ">` in ");
        build(b, fields->where);
        build(b, "\n\n");
        if (fields->meaning[0]) {
            build(b, fields->meaning);
            build(b, "\n\n");
        }
        build(b, "| attribute | value | meaning |\n|---|---|---|\n");
        for (const kki_field *f = fields->field; f->name; f++) {
            build_field(b, f);
        }
        build(b, "\n");
    }
    build(b, "### Sensor types\n\n");
    static const int count = KK_SENSOR_CLOCK + 1;
    for (int i = 0; i < count; i++) {
        char word[64];
        build(b, i ? ", `" : "`");
        build(b, kki_sensor_word((kk_sensor_type)i, word, sizeof word));
        build(b, "`");
    }
    build(b, "\n");
}

static char *read_whole(const char *path) {
    FILE *file = fopen(path, "rb");
    builder b = {0};
    char block[4096];
    size_t size;
    while (file && (size = fread(block, 1, sizeof block, file)) > 0) {
        build_bytes(&b, block, size);
    }
    if (file) {
        fclose(file);
    }
    return b.text;
}

static void rewrite(const char *path, const char *text, const char *begin, const char *tables, const char *end) {
    FILE *file = fopen(path, "wb");
    if (KK_CHECK(file != NULL)) {
        fwrite(text, 1, (size_t)(begin - text), file);
        fputs(tables, file);
        fputs(end, file);
        fclose(file);
    }
}

KK_TEST(karakuri_element_is_documented) {
    const char *path = KK_SOURCE_DIR "/docs/guide/karakuri-element.md";
    char *text = read_whole(path);
    const char *begin = text ? strstr(text, BEGIN) : NULL, *end = begin ? strstr(begin, END) : NULL;
    if (!KK_CHECK(end != NULL)) {
        free(text);
        return;
    }
    begin += sizeof BEGIN - 1;
    builder b = {0};
    build_tables(&b);
    if (getenv("KK_UPDATE_DOCS")) {
        rewrite(path, text, begin, b.text, end);
    } else if ((size_t)(end - begin) != b.size || memcmp(begin, b.text, b.size) != 0) {
        KK_FAIL("%s is not up to date; run KK_UPDATE_DOCS=1 karakuri_tests karakuri_element", path);
    }
    free(b.text);
    free(text);
}

// no table is larger than the room the reader has for it, and no attribute stands in one twice
KK_TEST(karakuri_element_tables_are_sound) {
    for (int e = 0; e < KKI_ELEMENT_COUNT; e++) {
        const kki_field *field = kki_fields_of((kki_karakuri_element)e)->field;
        int count = 0;
        for (const kki_field *f = field; f->name; f++, count++) {
            for (const kki_field *g = field; g != f; g++) {
                KK_CHECK(strcmp(f->name, g->name) != 0);
            }
            KK_CHECK_EQ_INT(f->kind == KKI_FIELD_WORD, f->words != NULL);
        }
        KK_CHECK(count <= KKI_MOST_FIELDS);
    }
}

// a scene's scripts and their numbers outlive a file of either format
KK_TEST(karakuri_element_scripts_are_kept) {
    const char *text = "if (1 < 2 && robot.time > 0) {\n  robot.control[\"a\"] = 1;\n}\n";
    for (int format = 0; format < 2; format++) {
        kk_spec *spec = NULL, *again = NULL;
        char *file = NULL;
        size_t size = 0;
        KK_CHECK_EQ_INT(kk_spec_create(NULL, &spec), KK_OK);
        KK_CHECK_EQ_INT(kk_spec_add_script(spec, &(kk_script_def){.text = text}, NULL, NULL), KK_OK);
        const kk_parameter_def gain = {.name = "gain", .value = 2, .upper = 5};
        KK_CHECK_EQ_INT(kk_spec_add_parameter(spec, &gain, NULL, NULL), KK_OK);
        KK_CHECK_EQ_INT(format ? kk_spec_write_mjcf(spec, NULL, NULL, &file, &size, NULL)
                               : kk_spec_write_urdf(spec, NULL, NULL, &file, &size, NULL),
                        KK_OK);
        const kk_file in = {.path = "scene", .bytes = file, .size = size};
        KK_CHECK_EQ_INT(
            kk_load_file("scene", &(kk_load_options){.file = &in, .file_count = 1}, NULL, &again, NULL, NULL), KK_OK);
        if (KK_CHECK_EQ_INT(kk_spec_script_count(again), 1) && KK_CHECK_EQ_INT(kk_spec_parameter_count(again), 1)) {
            KK_CHECK_STR(kk_spec_script_const(again, 0)->text, text);
            KK_CHECK(kk_spec_parameter_const(again, 0)->value == 2 && kk_spec_parameter_const(again, 0)->upper == 5);
        }
        kk_text_free(NULL, file, size);
        kk_spec_free(again);
        kk_spec_free(spec);
    }
}

KK_TEST(karakuri_element_sensor_words) {
    KK_CHECK_EQ_INT(kki_sensor_of_word("gyro"), KK_SENSOR_GYRO);
    KK_CHECK_EQ_INT(kki_sensor_of_word("center_of_mass_velocity"), KK_SENSOR_CENTER_OF_MASS_VELOCITY);
    KK_CHECK_EQ_INT(kki_sensor_of_word("nose"), -1);
}
#endif
