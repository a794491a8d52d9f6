// Studies: the list, running one, noting checks.
#include "reproduce.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LIST(group) studies_##group,
static const study_def *const groups[] = {STUDY_GROUPS(LIST) NULL};

const study_def *study_at(int index) {
    for (int g = 0; groups[g]; g++) {
        for (const study_def *def = groups[g]; def->name; def++) {
            if (index-- == 0) {
                return def;
            }
        }
    }
    return NULL;
}

void study_take(const study_def *def, cli *c, const char *models, bool quick, study *s) {
    memset(s, 0, sizeof *s);
    s->c = c;
    s->models = models;
    s->quick = quick;
    const double start = exam_clock();
    def->run(s);
    s->seconds = exam_clock() - start;
}

bool study_passes(const study *s) {
    bool passes = s->check_count > 0 && !s->exam.trouble[0] && !s->exam.missing[0];
    for (int i = 0; i < s->check_count; i++) {
        passes = passes && s->check[i].passes;
    }
    return passes;
}

void study_free(study *s) {
    exam_free(&s->exam);
    for (int i = 0; i < s->picture_count; i++) {
        text_free(&s->picture[i].svg);
    }
    memset(s, 0, sizeof *s);
}

// ---- checks

static study_check *add_check(study *s, const char *name, const char *paper, bool passes) {
    if (s->check_count == STUDY_CHECKS) {
        exam_trouble(&s->exam, "the study has too many checks");
        return &s->check[STUDY_CHECKS - 1];
    }
    study_check *k = &s->check[s->check_count++];
    *k = (study_check){.passes = passes};
    snprintf(k->name, sizeof k->name, "%s", name);
    snprintf(k->paper, sizeof k->paper, "%s", paper ? paper : "");
    return k;
}

static void add_bound(study *s, const char *name, const char *paper, double value, const char *unit, double bar,
                      bool is_floor) {
    study_check *k = add_check(s, name, paper, is_floor ? value >= bar : value <= bar);
    const char *gap = unit && unit[0] ? " " : "";
    snprintf(k->ours, sizeof k->ours, "%.4g%s%s", value, gap, unit ? unit : "");
    snprintf(k->bar, sizeof k->bar, "%s %.4g%s%s", is_floor ? "≥" : "≤", bar, gap, unit ? unit : "");
}

void study_at_most(study *s, const char *name, const char *paper, double value, const char *unit, double bar) {
    add_bound(s, name, paper, value, unit, bar, false);
}

void study_at_least(study *s, const char *name, const char *paper, double value, const char *unit, double bar) {
    add_bound(s, name, paper, value, unit, bar, true);
}

void study_near(study *s, const char *name, const char *paper, double value, const char *unit, double expected,
                double most) {
    study_check *k = add_check(s, name, paper, exam_abs(value - expected) <= most);
    snprintf(k->ours, sizeof k->ours, "%.7g %s", value, unit);
    snprintf(k->bar, sizeof k->bar, "%.7g ± %.2g %s", expected, most, unit);
}

void study_fact(study *s, const char *name, const char *paper, const char *ours, const char *bar, bool passes) {
    study_check *k = add_check(s, name, paper, passes);
    snprintf(k->ours, sizeof k->ours, "%s", ours);
    snprintf(k->bar, sizeof k->bar, "%s", bar);
}

void study_note(study *s, const char *format, ...) {
    if (s->note_count < STUDY_NOTES) {
        va_list list;
        va_start(list, format);
        const int size = vsnprintf(s->note[s->note_count], sizeof s->note[0], format, list);
        va_end(list);
        s->note_count++;
        if (size >= (int)sizeof s->note[0]) {
            exam_trouble(&s->exam, "a note is too long");
        }
    }
}

void study_tabulate(study *s, const char *caption) {
    snprintf(s->table.caption, sizeof s->table.caption, "%s", caption);
}

void study_row(study *s, const char *format, ...) {
    char line[TABLE_COLUMNS * TABLE_CELL];
    study_table *t = &s->table;
    va_list list;
    va_start(list, format);
    const int size = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (t->rows == TABLE_ROWS || size >= (int)sizeof line) {
        exam_trouble(&s->exam, "the study's table is too large");
        return;
    }
    int column = 0;
    for (const char *from = line; from && column < TABLE_COLUMNS; column++) {
        const char *bar = strchr(from, '|');
        const int length = bar ? (int)(bar - from) : (int)strlen(from);
        snprintf(t->cell[t->rows][column], TABLE_CELL, "%.*s", length, from);
        from = bar ? bar + 1 : NULL;
    }
    t->columns = column > t->columns ? column : t->columns;
    t->rows++;
}

cli_text *study_draw(study *s, const char *name, const char *caption) {
    study_picture *p = &s->picture[s->picture_count < STUDY_PICTURES ? s->picture_count++ : STUDY_PICTURES - 1];
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->caption, sizeof p->caption, "%s", caption);
    return &p->svg;
}

// ---- help for studies

bool study_ok(study *s, kk_status status, const kk_error *error) {
    if (status != KK_OK) {
        exam_trouble(&s->exam, error && error->text[0] ? error->text : kk_status_text(status));
    }
    return status == KK_OK;
}

bool study_load(study *s, const char *file, cli_model *m) {
    cli_text path = {0};
    text_format(&path, "%s/%s", s->models, file);
    *m = (cli_model){.name = file};
    kk_error error = {0};
    const kk_load_options options = {0};
    kk_status status = kk_load_file(text_string(&path), &options, NULL, &m->spec, NULL, &error);
    status = status ? status : kk_model_compile(m->spec, NULL, &m->model, &error);
    status = status ? status : kk_data_create(m->model, NULL, &m->data);
    text_free(&path);
    if (!study_ok(s, status, &error)) {
        unload_model(m);
    }
    return status == KK_OK;
}

double study_time(void (*call)(void *user), void *user, int calls, int repeats) {
    double least = 1e300;
    for (int r = 0; r < repeats; r++) {
        const double start = cli_now();
        for (int i = 0; i < calls; i++) {
            call(user);
        }
        const double taken = (cli_now() - start) / calls;
        least = taken < least ? taken : least;
    }
    return least;
}
