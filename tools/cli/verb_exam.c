// karakuri exam: scenes whose answer is known, with the figure, the bar and the best peer's figure side by side.
#include <stdlib.h>

#include "cli.h"
#include "exam/exam.h"
#include "folder.h"
#include "save.h"

typedef struct exam_options {
    int64_t row;
    int solver;
    bool quick, second, pictures, draw_only;
    const char *out;
} exam_options;

static const cli_option options_table[] = {
    {.name = "row",
     .letter = 'n',
     .kind = CLI_COUNT,
     .offset = offsetof(exam_options, row),
     .value = "N",
     .about = "only this row",
     .low = 1,
     .high = EXAM_ROWS},
    {.name = "quick",
     .kind = CLI_FLAG,
     .offset = offsetof(exam_options, quick),
     .about = "only rows of a second or two, and rows of the second exam in a short form"},
    {.name = "second",
     .kind = CLI_FLAG,
     .offset = offsetof(exam_options, second),
     .about = "only the second exam, rows 31 to 44: motion"},
    {.name = "solver",
     .kind = CLI_CHOICE,
     .offset = offsetof(exam_options, solver),
     .value = "NAME",
     .about = "ladder: certified in every step, the default; sweeps: fifty Gauss-Seidel sweeps and no certificate; "
              "openhrp, springhead, kuroda: methods of the papers, for comparison",
     .choices = exam_solvers},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FOLDER,
     .offset = offsetof(exam_options, out),
     .value = "FOLDER",
     .about = "write a plot of every row there, exam01.svg …; made if it is not there"},
    {.name = "pictures",
     .kind = CLI_FLAG,
     .offset = offsetof(exam_options, pictures),
     .about = "with --out: and a picture of every row's first scene at its end, exam01.png …"},
    {.name = "draw-only",
     .kind = CLI_FLAG,
     .offset = offsetof(exam_options, draw_only),
     .about = "with --pictures: draw, and ask for no figures"},
    {.name = NULL},
};

static const char *verdict_of(const exam *e) {
    return exam_passes(e) ? "pass" : e->missing[0] && e->figure_count == 0 ? "not yet" : "FAIL";
}

// ---- the table

static void print_figure(const cli *c, const exam_figure *f) {
    const char *color = cli_style(c, f->passes ? CLI_GREEN : CLI_RED);
    printf("      %s%-4s%s  %-72s %11.3g  %s %.3g\n", color, f->passes ? "ok" : "FAIL", cli_style(c, CLI_PLAIN),
           f->name, f->value, f->is_floor ? ">=" : "<=", f->bar);
}

static void print_row(const cli *c, const exam_row *row, const exam *e) {
    printf("%s%3d  %-7s  %s%s  (%.2f s)\n", cli_style(c, exam_passes(e) ? CLI_BOLD : CLI_RED), row->number,
           verdict_of(e), row->scene, cli_style(c, CLI_PLAIN), e->seconds);
    printf("      reference: %s%s%s\n", row->reference, row->peer[0] ? "; best peer: " : "", row->peer);
    for (int i = 0; i < e->figure_count; i++) {
        print_figure(c, &e->figure[i]);
    }
    if (e->missing[0]) {
        printf("      not yet: %s\n", e->missing);
    }
    if (e->trouble[0]) {
        printf("      stopped: %s\n", e->trouble);
    }
    fflush(stdout);
}

static void write_row(json_writer *json, const exam_row *row, const exam *e) {
    json_begin_object(json, NULL);
    json_integer(json, "row", row->number);
    json_string(json, "scene", row->scene);
    json_string(json, "reference", row->reference);
    json_string(json, "peer", row->peer);
    json_bool(json, "pass", exam_passes(e));
    json_number(json, "seconds", e->seconds);
    json_begin_array(json, "figures");
    for (int i = 0; i < e->figure_count; i++) {
        const exam_figure *f = &e->figure[i];
        json_begin_object(json, NULL);
        json_string(json, "name", f->name);
        json_number(json, "value", f->value);
        json_number(json, f->is_floor ? "at_least" : "at_most", f->bar);
        json_bool(json, "pass", f->passes);
        json_end(json);
    }
    json_end(json);
    json_string(json, "not_yet", e->missing[0] ? e->missing : NULL);
    json_string(json, "stopped", e->trouble[0] ? e->trouble : NULL);
    json_end(json);
}

// ---- plots

static int write_plot(cli *c, const char *folder, const exam_row *row, const exam *e) {
    if (!folder || e->panel_count == 0) {
        return 0;
    }
    cli_text name = {0}, svg = {0};
    text_format(&name, "%s/exam%02d.svg", folder, row->number);
    exam_draw(row, e, &svg);
    const int code = save_bytes(c, text_string(&name), svg.bytes, svg.size);
    text_free(&name);
    text_free(&svg);
    return code;
}

// ---- the verb

static bool is_asked(const exam_options *o, const exam_row *row) {
    return row && (o->row == 0 || o->row == row->number) && (!o->quick || row->is_quick) &&
           (!o->second || row->number >= EXAM_SECOND);
}

static int run(cli *c, const void *options) {
    const exam_options *o = options;
    json_writer json = {0};
    int passed = 0, failed = 0, code = 0;
    double seconds = 0;
    if ((o->pictures && !o->out) || (o->draw_only && !o->pictures)) {
        return cli_fail(c, CLI_EXIT_USAGE,
                        o->draw_only && !o->pictures ? "--draw-only needs --pictures" : "--pictures needs --out");
    }
    code = o->out ? folder_make(c, o->out) : 0;
    if (code) {
        return code;
    }
    if (c->common.json) {
        cli_begin_document(c, &json);
        json_begin_array(&json, "rows");
    }
    exam *e = cli_allocate(1, sizeof *e);
    cli_catch_interrupts();
    for (int n = 1; n <= EXAM_ROWS && !code && !cli_is_interrupted(); n++) {
        const exam_row *row = exam_find(n);
        if (!is_asked(o, row)) {
            continue;
        }
        cli_text picture = {0};
        text_format(&picture, "%s/exam%02d.png", o->out ? o->out : ".", row->number);
        const exam_request request = {.solver = (exam_solver)o->solver,
                                      .picture = o->out && o->pictures ? text_string(&picture) : NULL,
                                      .draws_only = o->draw_only,
                                      .is_quick = o->quick};
        exam_take(row, &request, e);
        text_free(&picture);
        if (e->is_drawn) {
            exam_free(e);
            continue;
        }
        *(exam_passes(e) ? &passed : &failed) += 1;
        seconds += e->seconds;
        if (c->common.json) {
            write_row(&json, row, e);
        } else {
            print_row(c, row, e);
        }
        code = write_plot(c, o->out, row, e);
        exam_free(e);
    }
    free(e);
    if (!code && c->common.json) {
        json_end(&json);
        json_integer(&json, "passed", passed);
        json_integer(&json, "failed", failed);
        code = cli_end_document(c, &json);
    } else if (!code) {
        printf("%d passed, %d failed, %.1f s\n", passed, failed, seconds);
    }
    json_free(&json);
    code = cli_end_interrupted(c, code, "the rows so far are told; the last of them was not finished");
    return code ? code : failed ? CLI_EXIT_FINDING : CLI_EXIT_OK;
}

static const char *const details[] = {
    "Every row is a scene with a known answer, a measured figure, a bar that the figure must keep, and what the best "
    "other engine reaches. "
    "The exit code is 1 where a row fails; a row that cannot be asked yet counts as failed.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri exam", "all rows"},
    {"karakuri exam --row 16 --out plots", "the arch, and its plot"},
    {"karakuri exam --second", "the second exam: order, energy, springs, linkages, spins, limits, step times"},
    {NULL, NULL},
};

const cli_verb cli_verb_exam = {
    .name = "exam",
    .about = "run scenes with known answers and compare",
    .details = details,
    .options = options_table,
    .examples = examples,
    .size = sizeof(exam_options),
    .run = run,
};
