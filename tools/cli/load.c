// Loading: our own robots by name, and files.
#include "load.h"

#include <string.h>

#include "../../models/robots.h"
#include "suggest.h"

#define PREFIX "robot:"

cli_term load_robot(int index) {
    return robots_table[index].name ? (cli_term){robots_table[index].name, robots_table[index].about}
                                    : (cli_term){NULL, NULL};
}

const char *joint_type_name(kk_joint_type type) {
    static const char *const names[] = {"fixed",     "hinge",  "slide", "screw", "cylindrical",
                                        "universal", "planar", "ball",  "free"};
    return names[type];
}

static int fail_robot(cli *c, const char *name) {
    suggestion near = suggest_begin(name);
    cli_text list = {0};
    for (int i = 0; load_robot(i).name; i++) {
        suggest_word(&near, load_robot(i).name);
        text_format(&list, "%s%s", i ? ", " : "", load_robot(i).name);
    }
    const int code =
        near.best ? cli_fail(c, CLI_EXIT_INPUT, "there is no robot '%s' — did you mean 'robot:%s'?", name, near.best)
                  : cli_fail(c, CLI_EXIT_INPUT, "there is no robot '%s' — there are %s", name, text_string(&list));
    text_free(&list);
    return code;
}

static int build_robot(cli *c, const char *name, cli_model *m) {
    const robots_entry *robot = robots_find(name);
    kk_error error = {0};
    if (!robot) {
        return fail_robot(c, name);
    }
    error.status = kk_spec_create(NULL, &m->spec);
    error.status = error.status ? error.status : robot->build(m->spec, &error);
    return error.status ? cli_fail_error(c, &error) : 0;
}

static int load_file(cli *c, const char *path, cli_model *m) {
    (void)m;
    return cli_fail(c, CLI_EXIT_INPUT, "'%s': this build reads no model files — try 'robot:%s', one of our own", path,
                    robots_table[0].name);
}

static int compile(cli *c, cli_model *m) {
    kk_error error = {0};
    error.status = kk_model_compile(m->spec, NULL, &m->model, &error);
    if (error.status == KK_OK) {
        error.status = kk_data_create(m->model, NULL, &m->data);
    }
    return error.status ? cli_fail_error(c, &error) : 0;
}

int load_model(cli *c, const char *name, cli_model *m) {
    *m = (cli_model){.name = name};
    const size_t prefix = strlen(PREFIX);
    int code = strncmp(name, PREFIX, prefix) == 0 ? build_robot(c, name + prefix, m) : load_file(c, name, m);
    code = code ? code : compile(c, m);
    if (code) {
        unload_model(m);
    }
    return code;
}

void unload_model(cli_model *m) {
    kk_data_free(m->data);
    kk_model_free(m->model);
    kk_spec_free(m->spec);
    *m = (cli_model){.name = m->name};
}
