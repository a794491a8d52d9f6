// Recordings with their models; see tape.h.
#define _XOPEN_SOURCE 700 // realpath
#include "tape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- the note

static void add_path(cli_text *note, const char *key, const char *path) {
    char *whole = realpath(path, NULL);
    text_format(note, "%s %s\n", key, whole ? whole : path);
    free(whole);
}

void tape_note(const cli *c, const char *model, cli_text *note) {
    const cli_loading *l = &c->loading;
    if (is_robot_name(model)) {
        text_format(note, "model %s\n", model);
    } else {
        add_path(note, "model", model);
    }
    for (int i = 0; i < l->search.count; i++) {
        add_path(note, "search", l->search.item[i]);
    }
    for (int i = 0; i < l->arguments.count; i++) {
        text_format(note, "arg %s\n", l->arguments.item[i]);
    }
    if (l->package_path) {
        text_format(note, "package-path %s\n", l->package_path);
    }
    if (l->srdf) {
        add_path(note, "srdf", l->srdf);
    }
    text_format(note, "flags %d %d %d %d %d %d %d\n", l->allow_absolute, l->floor, l->servos, l->exact_meshes, l->clean,
                l->base, l->meshes);
}

static void keep(tape *t, cli_list *list, const char *value) {
    t->kept = cli_reallocate(t->kept, (size_t)t->kept_count + 1, sizeof *t->kept);
    t->kept[t->kept_count] = (cli_text){0};
    text_add(&t->kept[t->kept_count], value);
    list->item = cli_reallocate(list->item, (size_t)list->count + 1, sizeof *list->item);
    list->item[list->count++] = text_string(&t->kept[t->kept_count++]);
}

static void take_flags(cli_loading *l, const char *value) {
    int f[7] = {0};
    const int count = sscanf(value, "%d %d %d %d %d %d %d", &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6]); // NOLINT
    if (count == 7 && f[5] >= 0 && f[5] <= KK_BASE_FREE && f[6] >= 0 && f[6] <= KK_MESH_LOAD_NONE) {
        l->allow_absolute = l->allow_absolute || f[0];
        l->floor = l->floor || f[1];
        l->servos = l->servos || f[2];
        l->exact_meshes = l->exact_meshes || f[3];
        l->clean = l->clean || f[4];
        l->base = l->base ? l->base : f[5];
        l->meshes = l->meshes ? l->meshes : f[6];
    }
}

static void take_line(cli *c, tape *t, const char *line) {
    const char *value = strchr(line, ' ');
    if (!value) {
        return;
    }
    const size_t length = (size_t)(value++ - line);
    if (length == 5 && strncmp(line, "model", 5) == 0) {
        text_add(&t->model, value);
    } else if (length == 6 && strncmp(line, "search", 6) == 0) {
        keep(t, &t->search, value);
    } else if (length == 3 && strncmp(line, "arg", 3) == 0) {
        keep(t, &t->arguments, value);
    } else if (length == 12 && strncmp(line, "package-path", 12) == 0 && !c->loading.package_path) {
        cli_list one = {0};
        keep(t, &one, value);
        c->loading.package_path = one.item[0];
        free(one.item);
    } else if (length == 4 && strncmp(line, "srdf", 4) == 0 && !c->loading.srdf) {
        cli_list one = {0};
        keep(t, &one, value);
        c->loading.srdf = one.item[0];
        free(one.item);
    } else if (length == 5 && strncmp(line, "flags", 5) == 0) {
        take_flags(&c->loading, value);
    }
}

static void take_note(cli *c, tape *t) {
    char *lines = cli_copy(t->info.note), *next = lines;
    while (next) {
        char *line = next, *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end) {
            *end = 0;
        }
        take_line(c, t, line);
    }
    free(lines);
    for (int i = 0; i < c->loading.search.count; i++) {
        keep(t, &t->search, c->loading.search.item[i]);
    }
    for (int i = 0; i < c->loading.arguments.count; i++) {
        keep(t, &t->arguments, c->loading.arguments.item[i]);
    }
}

// ---- reading

int tape_read(cli *c, const char *path, tape *t) {
    kk_error error = {0};
    *t = (tape){0};
    error.status = kk_recording_read_file(path, NULL, &t->recording, &error);
    if (error.status) {
        return cli_fail_error(c, &error);
    }
    t->info = kk_recording_get_info(t->recording);
    if (!t->info.is_complete) {
        cli_note(c, "%s was cut or altered behind step %lld; what comes before is good", path,
                 (long long)t->info.steps - 1);
    }
    take_note(c, t);
    return 0;
}

/// Whether a path that stands in a recording may be opened unasked: a robot of ours, or a plain file that is named like a model. A recording
/// may be anybody's, and must not make this program wait for a pipe or quote a file of passwords.
static bool is_plain_model(const char *name) {
    static const char *const ends[] = {".xml", ".mjcf", ".urdf", ".xacro", ".sdf"};
    struct stat about;
    if (is_robot_name(name)) {
        return true;
    }
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++) {
        if (strcmp(end, ends[i]) == 0) {
            return stat(name, &about) != 0 || S_ISREG(about.st_mode);
        }
    }
    return false;
}

bool tape_finds_model(const tape *t) {
    const char *name = text_string(&t->model);
    struct stat about;
    return is_robot_name(name) || (name[0] && is_plain_model(name) && stat(name, &about) == 0);
}

int tape_load_model(cli *c, tape *t, const char *instead, cli_model *m) {
    const char *name = instead ? instead : text_string(&t->model);
    if (!instead && name[0] && !is_plain_model(name)) {
        return cli_fail(c, CLI_EXIT_INPUT,
                        "the recording names '%s' as its model, which is no model file — name it with --model FILE",
                        name);
    }
    if (!name[0]) {
        return cli_fail(c, CLI_EXIT_USAGE,
                        "the recording does not say which model it is of — name it with --model FILE");
    }
    const cli_loading own = c->loading;
    c->loading.search = t->search;
    c->loading.arguments = t->arguments;
    int code = load_model(c, name, m);
    c->loading = own;
    if (!code && kk_model_hash(m->model) != t->info.model_hash) {
        code = cli_fail(
            c, CLI_EXIT_INPUT,
            "'%s' is not the model of the recording, or has changed since — name the right one with --model", name);
        unload_model(m);
    }
    return code;
}

void tape_free(tape *t) {
    for (int i = 0; i < t->kept_count; i++) {
        text_free(&t->kept[i]);
    }
    free(t->kept);
    free(t->search.item);
    free(t->arguments.item);
    text_free(&t->model);
    kk_recording_free(t->recording);
}

// ---- tables

void actuator_label(const kk_model *model, int actuator, cli_text *name) {
    const kk_actuator_info a = kk_model_actuator(model, actuator);
    name->size = 0;
    if (a.name && a.name[0]) {
        text_add(name, a.name);
    } else if (a.transmission == KK_TRANSMISSION_JOINT) {
        text_add(name, kk_model_joint(model, a.joint).name);
    } else if (a.transmission == KK_TRANSMISSION_TENDON) {
        text_add(name, kk_model_tendon_name(model, a.tendon));
    } else {
        text_format(name, "actuator%d", actuator);
    }
}

static void add_numbered(column_list *columns, const char *word, int count) {
    cli_text name = {0};
    for (int i = 0; i < count; i++) {
        name.size = 0;
        text_format(&name, "%s%d", word, i);
        columns_add(columns, text_string(&name), "");
    }
    text_free(&name);
}

static void add_controls(const kk_model *model, column_list *columns) {
    cli_text name = {0};
    for (int i = 0; i < kk_model_nactuator(model); i++) {
        actuator_label(model, i, &name);
        text_add(&name, ".u");
        columns_add(columns, text_string(&name), "");
    }
    text_free(&name);
}

void tape_columns(const kk_model *model, const kk_recording_info *info, column_list *columns) {
    columns_add(columns, "time", "s");
    if (model) {
        columns_of_joints(model, COLUMN_Q, column_word(COLUMN_Q), columns);
        columns_of_joints(model, COLUMN_V, column_word(COLUMN_V), columns);
        add_controls(model, columns);
    } else {
        add_numbered(columns, "q", info->nq);
        add_numbered(columns, "v", info->nv);
        add_numbered(columns, "u", info->ncontrol);
    }
    int count;
    const kk_table_column *figure = kk_log_figures(&count);
    for (int i = 0; i < count; i++) {
        columns_add(columns, figure[i].name, figure[i].unit);
    }
}

void tape_row(const kk_recording_info *info, const kk_recording_frame *f, double *row) {
    const size_t nq = (size_t)info->nq, nv = (size_t)info->nv, nu = (size_t)info->ncontrol;
    row[0] = f->time;
    memcpy(row + 1, f->q, nq * sizeof *row);
    memcpy(row + 1 + nq, f->v, nv * sizeof *row);
    memcpy(row + 1 + nq + nv, f->control, nu * sizeof *row);
    const double numbers[] = {f->residual,        f->cone,     f->signorini, f->penetration, f->kinetic,
                              f->constraint_work, f->contacts, f->sweeps,    f->newton};
    memcpy(row + 1 + nq + nv + nu, numbers, sizeof numbers);
}
