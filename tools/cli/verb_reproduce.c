// karakuri reproduce: the experiments of the papers, run again, and a page that shows the paper's finding and ours side by side.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "folder.h"
#include "reproduce/reproduce.h"
#include "save.h"
#include "suggest.h"

typedef struct reproduce_options {
    cli_list which;
    const char *out, *models;
    bool quick, list;
} reproduce_options;

static const reproduce_options defaults = {.out = "reproduction"};

static const cli_option arguments[] = {
    {.name = "WHICH",
     .kind = CLI_TEXT,
     .is_list = true,
     .offset = offsetof(reproduce_options, which),
     .about = "s0 … s4 for all experiments of a paper, the name of an experiment, or all; without it all"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FOLDER,
     .offset = offsetof(reproduce_options, out),
     .value = "FOLDER",
     .about = "where to write index.html, and data and plots of every experiment; made if it is not there (default "
              "reproduction)"},
    {.name = "models",
     .kind = CLI_FOLDER,
     .offset = offsetof(reproduce_options, models),
     .value = "FOLDER",
     .about = "where our models are; without it KARAKURI_MODELS, or beside the program"},
    {.name = "quick",
     .kind = CLI_FLAG,
     .offset = offsetof(reproduce_options, quick),
     .about = "only experiments of a second or two, shortened where they can be"},
    {.name = "list", .kind = CLI_FLAG, .offset = offsetof(reproduce_options, list), .about = "only tell their names"},
    {.name = NULL},
};

// ---- which

static bool is_word_for(const char *word, const study_def *def) {
    return strcmp(word, "all") == 0 || strcmp(word, def->seed) == 0 || strcmp(word, def->name) == 0;
}

static bool is_asked(const reproduce_options *o, const study_def *def) {
    bool is_named = o->which.count == 0;
    for (int i = 0; i < o->which.count; i++) {
        is_named = is_named || is_word_for(o->which.item[i], def);
    }
    return is_named && (!o->quick || def->is_quick);
}

static int check_words(cli *c, const reproduce_options *o) {
    for (int i = 0; i < o->which.count; i++) {
        const char *word = o->which.item[i];
        suggestion near = suggest_begin(word);
        bool is_known = false;
        for (int n = 0; study_at(n); n++) {
            is_known = is_known || is_word_for(word, study_at(n));
            suggest_word(&near, study_at(n)->name);
        }
        if (!is_known) {
            return cli_fail(c, CLI_EXIT_USAGE,
                            near.best ? "there is no experiment '%s' — did you mean '%s'?"
                                      : "there is no experiment '%s' — see karakuri reproduce --list",
                            word, near.best);
        }
    }
    return 0;
}

static int show_list(const cli *c, const reproduce_options *o) {
    cli_text out = {0};
    for (int n = 0; study_at(n); n++) {
        const study_def *def = study_at(n);
        if (is_asked(o, def)) {
            text_format(&out, "%-3s %-18s %s%s\n", def->seed, def->name, def->title, def->is_quick ? " (quick)" : "");
        }
    }
    return cli_print(c, &out);
}

// ---- telling

static void print_study(const cli *c, const study_def *def, const study *s) {
    const bool passes = study_passes(s);
    printf("%s%s  %s%s  (%.2f s)\n", cli_style(c, passes ? CLI_BOLD : CLI_RED), passes ? "pass" : "FAIL", def->title,
           cli_style(c, CLI_PLAIN), s->seconds);
    for (int i = 0; i < s->check_count; i++) {
        const study_check *k = &s->check[i];
        printf("      %s%-4s%s  %s: %s, asked %s%s%s%s\n", cli_style(c, k->passes ? CLI_GREEN : CLI_RED),
               k->passes ? "ok" : "FAIL", cli_style(c, CLI_PLAIN), k->name, k->ours, k->bar,
               k->paper[0] ? "; paper " : "", k->paper, "");
    }
    if (s->exam.missing[0]) {
        printf("      not yet: %s\n", s->exam.missing);
    }
    if (s->exam.trouble[0]) {
        printf("      stopped: %s\n", s->exam.trouble);
    }
    fflush(stdout);
}

static void write_study(json_writer *json, const study_def *def, const study *s) {
    json_begin_object(json, NULL);
    json_string(json, "seed", def->seed);
    json_string(json, "name", def->name);
    json_string(json, "title", def->title);
    json_string(json, "paper", def->paper);
    json_bool(json, "pass", study_passes(s));
    json_number(json, "seconds", s->seconds);
    json_begin_array(json, "checks");
    for (int i = 0; i < s->check_count; i++) {
        const study_check *k = &s->check[i];
        json_begin_object(json, NULL);
        json_string(json, "name", k->name);
        json_string(json, "paper", k->paper);
        json_string(json, "ours", k->ours);
        json_string(json, "asked", k->bar);
        json_bool(json, "pass", k->passes);
        json_end(json);
    }
    json_end(json);
    json_string(json, "not_yet", s->exam.missing[0] ? s->exam.missing : NULL);
    json_string(json, "stopped", s->exam.trouble[0] ? s->exam.trouble : NULL);
    json_end(json);
}

// ---- the verb

typedef struct reproduction {
    cli *c;
    const reproduce_options *o;
    const char *models;
    json_writer json;
    cli_text parts, list; ///< of the page, and its contents
    int passed, failed;
    double seconds;
} reproduction;

static int run_study(reproduction *r, const study_def *def, study *s) {
    study_take(def, r->c, r->models, r->o->quick, s);
    *(study_passes(s) ? &r->passed : &r->failed) += 1;
    r->seconds += s->seconds;
    if (r->c->common.json) {
        write_study(&r->json, def, s);
    } else {
        print_study(r->c, def, s);
    }
    study_write_html(&r->parts, def, s);
    study_write_entry(&r->list, def, s);
    const int code = study_write_files(r->c, r->o->out, def, s);
    study_free(s);
    return code;
}

static int write_page(const reproduction *r) {
    cli_text html = {0}, path = {0};
    study_begin_html(&html, r->passed, r->failed, r->seconds, r->list.size ? text_string(&r->list) : "");
    text_add_bytes(&html, r->parts.bytes, r->parts.size);
    study_end_html(&html);
    text_format(&path, "%s/index.html", r->o->out);
    const int code = save_bytes(r->c, text_string(&path), html.bytes, html.size);
    text_free(&html);
    text_free(&path);
    return code;
}

static int run_all(reproduction *r) {
    study *s = cli_allocate(1, sizeof *s);
    int code = 0;
    if (r->c->common.json) {
        cli_begin_document(r->c, &r->json);
        json_begin_array(&r->json, "experiments");
    }
    cli_catch_interrupts();
    for (int n = 0; study_at(n) && !code && !cli_is_interrupted(); n++) {
        code = is_asked(r->o, study_at(n)) ? run_study(r, study_at(n), s) : 0;
    }
    free(s);
    code = code ? code : write_page(r);
    if (!code && r->c->common.json) {
        json_end(&r->json);
        json_integer(&r->json, "passed", r->passed);
        json_integer(&r->json, "failed", r->failed);
        code = cli_end_document(r->c, &r->json);
    } else if (!code) {
        printf("%d passed, %d failed, %.1f s; the report is %s/index.html\n", r->passed, r->failed, r->seconds,
               r->o->out);
    }
    code = cli_end_interrupted(r->c, code, "the experiments so far are told; the last of them was not finished");
    return code ? code : r->failed ? CLI_EXIT_FINDING : CLI_EXIT_OK;
}

static int run(cli *c, const void *options) {
    const reproduce_options *o = options;
    reproduction r = {.c = c, .o = o};
    cli_text models = {0};
    int code = check_words(c, o);
    if (!code && o->list) {
        return show_list(c, o);
    }
    code = code ? code : folder_make(c, o->out);
    if (!code) {
        folder_of_models(o->models, &models);
        r.models = text_string(&models);
        code = run_all(&r);
    }
    json_free(&r.json);
    text_free(&r.parts);
    text_free(&r.list);
    text_free(&models);
    return code;
}

static const char *const details[] = {
    "Karakuri grew from five papers: the OpenHRP contact solver (s0), a thesis on a real-time crane game (s1), the "
    "library Z-DYNAFORM (s2), "
    "Springhead (s3), and a study of ODE on the quadruped TITAN-VIII (s4). Each of their experiments is run again, "
    "and its result stands beside the paper's. The exit code is 1 where an experiment fails its check.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri reproduce all --out reproduction", "everything, and a page to read"},
    {"karakuri reproduce s3 s4_stand", "one paper, and one experiment of another"},
    {NULL, NULL},
};

const cli_verb cli_verb_reproduce = {
    .name = "reproduce",
    .about = "run the experiments of the papers again and compare",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(reproduce_options),
    .defaults = &defaults,
    .run = run,
};
