// karakuri check FILE…: everything that is wrong or doubtful in robot files, and repairs.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "load.h"
#include "save.h"

typedef struct check_options {
    cli_list files;
    const char *repair;
    int to;
    bool notes;
} check_options;

static const cli_option arguments[] = {
    {.name = "FILE",
     .kind = CLI_MODEL,
     .is_required = true,
     .is_list = true,
     .offset = offsetof(check_options, files),
     .about = "model files (URDF, xacro, MJCF), or robot:NAME for our own"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "repair",
     .letter = 'r',
     .kind = CLI_FILE,
     .offset = offsetof(check_options, repair),
     .value = "OUT",
     .about = "write a corrected file with the physically nearest repairs, and list what was changed"},
    {.name = "to",
     .kind = CLI_CHOICE,
     .offset = offsetof(check_options, to),
     .value = "FORMAT",
     .choices = save_formats,
     .about = "format of the corrected file: urdf or mjcf (default: by the ending of its name)"},
    {.name = "notes",
     .letter = 'n',
     .kind = CLI_FLAG,
     .offset = offsetof(check_options, notes),
     .about = "show notes as well: what is ignored, unusual or of no use"},
    {.name = NULL},
};

/// One file's outcome.
typedef struct patient {
    const char *name;
    kk_spec *spec; ///< repaired as far as that is possible; NULL: it could not be read at all
    kk_messages *messages;
    kk_message *sorted;
    int count;
} patient;

typedef struct totals {
    int count[3]; ///< by severity
    int repaired;
} totals;

// ---- looking

static int compare_places(const kk_message *a, const kk_message *b) {
    const int files = strcmp(a->file, b->file);
    return files ? files : a->line != b->line ? a->line - b->line : a->column - b->column;
}

/// By place; what was found first stays first. Lists are short.
static void sort_messages(patient *p) {
    p->count = kk_messages_count(p->messages);
    p->sorted = cli_allocate((size_t)p->count + 1, sizeof *p->sorted);
    for (int i = 0; i < p->count; i++) {
        const kk_message message = kk_messages_get(p->messages, i);
        int at = i;
        for (; at > 0 && compare_places(&message, &p->sorted[at - 1]) < 0; at--) {
            p->sorted[at] = p->sorted[at - 1];
        }
        p->sorted[at] = message;
    }
}

static int fail_out_of_memory(cli *c, patient *p, const kk_error *error) {
    kk_messages_free(p->messages);
    p->messages = NULL;
    return cli_fail_error(c, error);
}

/// Findings of the loader and the doctor. Files that cannot be read are findings, too.
static int examine(cli *c, const char *name, patient *p) {
    kk_error error = {0};
    *p = (patient){.name = name};
    int code = 0;
    if (is_robot_name(name)) {
        code = load_robot_spec(c, name, &p->spec);
        error.status = code ? KK_OK : kk_messages_create(NULL, &p->messages);
    } else {
        code = load_spec(c, name, &p->spec, &p->messages, &error);
    }
    if (code || !p->messages) {
        return code ? code : cli_fail_error(c, &error);
    }
    if (p->spec) {
        const kk_doctor_options repair = {.repair = 1};
        error.status = kk_doctor_examine(p->spec, &repair, p->messages, &error);
        if (error.status) {
            return fail_out_of_memory(c, p, &error);
        }
    }
    sort_messages(p);
    return 0;
}

static void release(patient *p) {
    free(p->sorted);
    kk_spec_free(p->spec);
    kk_messages_free(p->messages);
}

static void count_up(const patient *p, totals *t) {
    for (int k = 0; k < 3; k++) {
        t->count[k] += kk_messages_count_of(p->messages, (kk_severity)k);
    }
    for (int i = 0; i < p->count; i++) {
        t->repaired += p->sorted[i].repaired;
    }
}

// ---- telling

static void print_patient(const cli *c, const check_options *o, const patient *p, cli_text *out) {
    for (int i = 0; i < p->count; i++) {
        const kk_message *m = &p->sorted[i];
        if (m->severity == KK_SEVERITY_NOTE && !o->notes) {
            continue;
        }
        text_add(out, cli_style(c, m->severity == KK_SEVERITY_ERROR     ? CLI_RED
                                   : m->severity == KK_SEVERITY_WARNING ? CLI_YELLOW
                                                                        : CLI_DIM));
        cli_message_text(m, out);
        text_format(out, "%s\n", cli_style(c, CLI_PLAIN));
    }
}

static void print_changes(const cli *c, const check_options *o, const patient *p, cli_text *out) {
    text_format(out, "\n%schanged in %s:%s\n", cli_style(c, CLI_BOLD), o->repair, cli_style(c, CLI_PLAIN));
    int changes = 0;
    for (int i = 0; i < p->count; i++) {
        if (p->sorted[i].repaired) {
            text_format(out, "  line %d: %s\n", p->sorted[i].line, p->sorted[i].text);
            changes++;
        }
    }
    text_add(out, changes ? "" : "  nothing had to be\n");
    int left = 0;
    for (int i = 0; i < p->count; i++) {
        left += p->sorted[i].severity == KK_SEVERITY_WARNING && !p->sorted[i].repaired;
    }
    if (left > 0) {
        text_format(out, "  left as %s: %d warning%s for you to decide\n", left == 1 ? "it is" : "they are", left,
                    left == 1 ? "" : "s");
    }
    for (int i = 0; i < p->count; i++) {
        if (p->sorted[i].severity == KK_SEVERITY_ERROR && !p->sorted[i].repaired) {
            text_format(out, "  %sstill wrong:%s line %d: %s\n", cli_style(c, CLI_RED), cli_style(c, CLI_PLAIN),
                        p->sorted[i].line, p->sorted[i].text);
        }
    }
}

static void print_totals(const totals *t, int files, cli_text *out) {
    text_format(out, "%d file%s: %d error%s, %d warning%s, %d note%s\n", files, files == 1 ? "" : "s", t->count[2],
                t->count[2] == 1 ? "" : "s", t->count[1], t->count[1] == 1 ? "" : "s", t->count[0],
                t->count[0] == 1 ? "" : "s");
}

static void write_patient(json_writer *json, const patient *p) {
    json_begin_object(json, NULL);
    json_string(json, "file", p->name);
    json_bool(json, "readable", p->spec != NULL);
    json_begin_array(json, "findings");
    for (int i = 0; i < p->count; i++) {
        const kk_message *m = &p->sorted[i];
        json_begin_object(json, NULL);
        json_string(json, "severity", kk_severity_name(m->severity));
        json_string(json, "file", m->file);
        json_integer(json, "line", m->line);
        json_integer(json, "column", m->column);
        json_string(json, "text", m->text);
        json_string(json, "remedy", m->remedy);
        json_integer(json, "repeats", m->repeats);
        json_bool(json, "repairable", m->repaired);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static int tell(const cli *c, const check_options *o, const patient *all, const totals *t) {
    const bool is_good = t->count[KK_SEVERITY_ERROR] == 0;
    if (c->common.json) {
        json_writer json = {0};
        cli_begin_verdict(c, &json, is_good);
        json_integer(&json, "errors", t->count[KK_SEVERITY_ERROR]);
        json_integer(&json, "warnings", t->count[KK_SEVERITY_WARNING]);
        json_string(&json, "repaired", o->repair);
        json_integer(&json, "changes", o->repair ? t->repaired : 0);
        json_begin_array(&json, "files");
        for (int i = 0; i < o->files.count; i++) {
            write_patient(&json, &all[i]);
        }
        json_end(&json);
        cli_end_document(c, &json);
    } else {
        cli_text out = {0};
        for (int i = 0; i < o->files.count; i++) {
            print_patient(c, o, &all[i], &out);
        }
        print_totals(t, o->files.count, &out);
        if (o->repair) {
            print_changes(c, o, &all[0], &out);
        }
        cli_print(c, &out);
    }
    return is_good ? CLI_EXIT_OK : CLI_EXIT_FINDING;
}

// ---- the whole

static int write_repaired(cli *c, const check_options *o, const patient *p) {
    const save_format format = save_format_of(c, o->repair, (save_format)o->to);
    if (format == SAVE_BY_NAME) {
        return CLI_EXIT_USAGE;
    }
    if (!p->spec) {
        const kk_message *m = NULL;
        for (int i = 0; i < p->count && !m; i++) {
            m = p->sorted[i].severity == KK_SEVERITY_ERROR && !p->sorted[i].repaired ? &p->sorted[i] : NULL;
        }
        kk_error error = {.status = KK_INVALID_MODEL, .line = m ? m->line : 0, .column = m ? m->column : 0};
        snprintf(error.file, sizeof error.file, "%s", m ? m->file : p->name);
        snprintf(error.text, sizeof error.text, "this cannot be repaired: %s%s%s",
                 m ? m->text : "the file cannot be read", m && m->remedy[0] ? " — " : "", m ? m->remedy : "");
        return cli_fail_error(c, &error);
    }
    return save_spec(c, p->spec, o->repair, format);
}

static int run(cli *c, const void *options) {
    const check_options *o = options;
    if (o->repair && o->files.count != 1) {
        return cli_fail(c, CLI_EXIT_USAGE, "--repair takes one file, not %d", o->files.count);
    }
    int code = o->repair ? save_check_other(c, o->files.item[0], o->repair) : 0;
    if (code) {
        return code;
    }
    c->loading.repair = true;
    patient *all = cli_allocate((size_t)o->files.count, sizeof *all);
    totals t = {0};
    for (int i = 0; i < o->files.count && !code; i++) {
        code = examine(c, o->files.item[i], &all[i]);
        if (!code) {
            count_up(&all[i], &t);
        }
    }
    if (!code && o->repair) {
        code = write_repaired(c, o, &all[0]);
        if (code && !c->common.json) { // what is wrong is told all the same
            cli_text out = {0};
            print_patient(c, o, &all[0], &out);
            cli_print(c, &out);
        }
    }
    code = code ? code : tell(c, o, all, &t);
    for (int i = 0; i < o->files.count; i++) {
        release(&all[i]);
    }
    free(all);
    return code;
}

static const char *const details[] = {
    "Reads robot files and tells everything that is wrong or doubtful in them, each with its place and a remedy: what "
    "keeps a file from loading, missing meshes and meshes in millimeters, masses and inertias that no body has, "
    "inertias in kg mm², left and "
    "right twins that differ by a sign, limits upside down or in degrees, names that stand twice or are not used, "
    "links that are not connected, joints without actuators, bodies that overlap with every joint at zero.",
    "The exit code is 1 where there is an error, which a missing mesh is here, and 0 where there are only warnings and "
    "notes.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri check robot.urdf", "what is wrong with it"},
    {"karakuri check robot.urdf --repair good.urdf", "and a file that is right"},
    {"karakuri check models/*.xml --json", "for a program"},
    {NULL, NULL},
};

const cli_verb cli_verb_check = {
    .name = "check",
    .about = "find what is wrong with robot files, and repair them",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(check_options),
    .run = run,
};
