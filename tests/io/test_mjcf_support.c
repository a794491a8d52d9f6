/// docs/guide/mjcf-support.md is what the reader's own tables say.
#include "io/mjcf_tables.h"
#include "mjcf_support.h"

static const char *const levels[] = {"yes", "mapped", "ignored", "no"};

static void build_cell(builder *b, const char *text) {
    for (; *text; text++) {
        if (*text == '|') {
            build(b, "\\");
        }
        build_bytes(b, text, 1);
    }
}

static void build_row(builder *b, const char *name, kki_mjcf_level level, const char *note) {
    build(b, "| ");
    build(b, name);
    build(b, " | ");
    build(b, levels[level]);
    build(b, " | ");
    build_cell(b, note);
    build(b, " |\n");
}

static void build_matrix(builder *b) {
    build(b,
          "# What is read of MJCF\n\n"
          "Printed from the tables in `src/io/mjcf_tables.c`, by which the reader reports: `KK_UPDATE_DOCS=1 "
          "karakuri_tests "
          "mjcf_support`.\n\n"
          "**yes**: has its effect. **mapped**: has it by something else, which the note tells. **ignored**: has none "
          "and "
          "needs none\nfor the physics; a note says so once. **no**: not supported; a warning says so once, with its "
          "line.\n\nAttributes in `<default>` are those of the elements. See [mjcf.md](mjcf.md) for the rules.\n\n"
          "| element, attribute | | |\n|---|---|---|\n");
    for (int i = 0; i < kki_mjcf_element_count(); i++) {
        const kki_mjcf_element *e = kki_mjcf_element_at(i);
        char name[200];
        snprintf(name, sizeof name, "**%s**", e->path);
        build_row(b, name, e->level, e->note);
        for (const kki_mjcf_row *r = e->attribute; r && r->name; r++) {
            snprintf(name, sizeof name, "`%s`", r->name);
            build_row(b, name, r->level, r->note);
        }
    }
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

KK_TEST(mjcf_support_is_documented) {
#ifdef KK_SOURCE_DIR
    const char *path = KK_SOURCE_DIR "/docs/guide/mjcf-support.md";
#else
    const char *path = "docs/guide/mjcf-support.md";
#endif
    builder b = {0};
    build_matrix(&b);
    if (getenv("KK_UPDATE_DOCS")) {
        FILE *file = fopen(path, "wb");
        if (KK_CHECK(file != NULL)) {
            fwrite(b.text, 1, b.size, file);
            fclose(file);
        }
    }
    char *text = read_whole(path);
    if (!text) {
        free(b.text);
        KK_SKIP("the documentation is not here");
    }
    if (strcmp(text, b.text) != 0) {
        KK_FAIL("%s is not up to date; run KK_UPDATE_DOCS=1 karakuri_tests mjcf_support", path);
    }
    free(text);
    free(b.text);
}

// no element and no attribute stands twice
KK_TEST(mjcf_support_tables_are_sound) {
    for (int i = 0; i < kki_mjcf_element_count(); i++) {
        const kki_mjcf_element *e = kki_mjcf_element_at(i);
        KK_CHECK(kki_mjcf_element_of(e->path) == e);
        for (const kki_mjcf_row *r = e->attribute; r && r->name; r++) {
            KK_CHECK(kki_mjcf_row_find(e, r->name) == r);
            KK_CHECK(r->level == KKI_MJCF_READ || r->note[0]);
        }
    }
}
