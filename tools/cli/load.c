// Loading: our own robots by name, and files.
#include "load.h"

#include <stdlib.h>
#include <string.h>

#include "../../models/robots.h"
#include "suggest.h"

#define PREFIX "robot:"

static const char *const bases[] = {"file", "fixed", "free", NULL};
static const char *const mesh_loads[] = {"all", "collision", "none", NULL};

static const cli_option loading_options[] = {
    {.name = "search",
     .kind = CLI_FOLDER,
     .is_list = true,
     .offset = offsetof(cli_loading, search),
     .value = "DIR",
     .about = "look for packages and meshes here, too; may be given several times"},
    {.name = "package-path",
     .kind = CLI_TEXT,
     .offset = offsetof(cli_loading, package_path),
     .value = "DIRS",
     .about = "directories of ROS packages with ':' between, before those of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH"},
    {.name = "allow-absolute",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_loading, allow_absolute),
     .about = "let absolute paths in the file lead anywhere"},
    {.name = "arg",
     .kind = CLI_TEXT,
     .is_list = true,
     .offset = offsetof(cli_loading, arguments),
     .value = "NAME:=VALUE",
     .about = "an argument of a xacro file; may be given several times"},
    {.name = "srdf",
     .kind = CLI_FILE,
     .offset = offsetof(cli_loading, srdf),
     .value = "FILE",
     .about = "leave out the pairs of links whose collisions this SRDF file disables; it is looked for here and beside "
              "the robot file"},
    {.name = "base",
     .kind = CLI_CHOICE,
     .offset = offsetof(cli_loading, base),
     .value = "KIND",
     .choices = bases,
     .about = "hold the robot's base fixed or let it go free, whatever the file says"},
    {.name = "floor",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_loading, floor),
     .about = "add a floor at z = 0 where the file has none, stand a free base on it, and clean collisions"},
    {.name = "servos",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_loading, servos),
     .about = "add position servos to joints that have no actuator, and clean collisions"},
    {.name = "clean-collisions",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_loading, clean),
     .about = "leave out pairs of links that always or never touch"},
    {.name = "meshes",
     .kind = CLI_CHOICE,
     .offset = offsetof(cli_loading, meshes),
     .value = "WHICH",
     .choices = mesh_loads,
     .about = "read all meshes, those for collision, or none"},
    {.name = "exact-meshes",
     .kind = CLI_FLAG,
     .offset = offsetof(cli_loading, exact_meshes),
     .about = "let meshes collide as they are, not as their convex hulls"},
    {.name = NULL},
};

const cli_option *cli_loading_options(const cli_verb *verb) {
    const cli_option *const tables[] = {verb->arguments, verb->options};
    for (int i = 0; i < 2; i++) {
        for (const cli_option *o = tables[i]; o && o->name; o++) {
            if (o->kind == CLI_MODEL) {
                return loading_options;
            }
        }
    }
    return NULL;
}

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

// ---- files

/// --package-path, and what ROS keeps in the environment, with ':' between.
static void add_package_paths(const cli *c, cli_text *out) {
    const char *const paths[] = {c->loading.package_path, getenv("ROS_PACKAGE_PATH"), getenv("AMENT_PREFIX_PATH")};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (paths[i] && paths[i][0]) {
            text_format(out, "%s%s", out->size ? ":" : "", paths[i]);
        }
    }
}

/// Splits the words name:=value. The texts are the list's, to be freed with it.
static int split_arguments(cli *c, kk_load_argument *argument) {
    for (int i = 0; i < c->loading.arguments.count; i++) {
        const char *word = c->loading.arguments.item[i], *sign = strstr(word, ":=");
        if (!sign || sign == word) {
            return cli_fail(c, CLI_EXIT_USAGE, "--arg: '%s' is not of the form NAME:=VALUE", word);
        }
        char *name = cli_copy(word);
        name[sign - word] = 0;
        argument[i] = (kk_load_argument){name, sign + 2};
    }
    return 0;
}

static void free_arguments(kk_load_argument *argument, int count) {
    for (int i = 0; i < count; i++) {
        free((char *)argument[i].name); // NOLINT: made by cli_copy
    }
    free(argument);
}

static kk_load_options load_options(const cli *c, const kk_load_argument *argument, const char *package_path) {
    const cli_loading *l = &c->loading;
    return (kk_load_options){.search = l->search.item,
                             .search_count = l->search.count,
                             .package_path = package_path[0] ? package_path : NULL,
                             .allow_absolute = l->allow_absolute,
                             .argument = argument,
                             .argument_count = l->arguments.count,
                             .meshes = (kk_mesh_load)l->meshes,
                             .mesh_use = l->exact_meshes ? KK_MESH_EXACT : KK_MESH_AUTO,
                             .base = (kk_base)l->base,
                             .add_floor = l->floor,
                             .place_on_floor = l->floor,
                             .add_actuators = l->servos,
                             .srdf = l->srdf,
                             .clean_collisions = l->clean || l->floor || l->servos,
                             .repair = l->repair};
}

int load_spec(cli *c, const char *path, kk_spec **spec, kk_messages **messages, kk_error *error) {
    kk_load_argument *argument = cli_allocate((size_t)c->loading.arguments.count + 1, sizeof *argument);
    cli_text paths = {0};
    int code = split_arguments(c, argument);
    if (!code) {
        add_package_paths(c, &paths);
        const kk_load_options options = load_options(c, argument, text_string(&paths));
        error->status = kk_load_file(path, &options, NULL, spec, messages, error);
    }
    text_free(&paths);
    free_arguments(argument, c->loading.arguments.count);
    return code;
}

static int load_file(cli *c, const char *path, cli_model *m) {
    kk_messages *messages = NULL;
    kk_error error = {0};
    int code = load_spec(c, path, &m->spec, &messages, &error);
    for (int i = 0; messages && i < kk_messages_count(messages); i++) {
        const kk_message message = kk_messages_get(messages, i);
        if (message.severity < KK_SEVERITY_ERROR) {
            cli_message(c, &message);
        }
    }
    const int errors = messages ? kk_messages_count_of(messages, KK_SEVERITY_ERROR) : 0;
    kk_messages_free(messages);
    if (!code && error.status && errors > 1) {
        cli_note(c, "'karakuri check %s' shows all %d errors", path, errors);
    }
    return code ? code : error.status ? cli_fail_error(c, &error) : 0;
}

static int compile(cli *c, cli_model *m) {
    kk_error error = {0};
    error.status = kk_model_compile(m->spec, NULL, &m->model, &error);
    if (error.status == KK_OK) {
        error.status = kk_data_create(m->model, NULL, &m->data);
    }
    return error.status ? cli_fail_error(c, &error) : 0;
}

bool is_robot_name(const char *name) {
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

int load_robot_spec(cli *c, const char *name, kk_spec **spec) {
    cli_model m = {.name = name};
    const int code = build_robot(c, name + strlen(PREFIX), &m);
    *spec = m.spec;
    return code;
}

int load_model(cli *c, const char *name, cli_model *m) {
    *m = (cli_model){.name = name};
    int code = is_robot_name(name) ? build_robot(c, name + strlen(PREFIX), m) : load_file(c, name, m);
    code = code ? code : compile(c, m);
    if (code) {
        unload_model(m);
    }
    return code;
}

int load_again(cli *c, cli_model *m) {
    kk_data_free(m->data);
    kk_model_free(m->model);
    m->data = NULL;
    m->model = NULL;
    const int code = compile(c, m);
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

// ---- keyframes

void list_keyframes(const kk_model *model, cli_text *list) {
    for (int i = 0; i < kk_model_nkeyframe(model); i++) {
        const char *known = kk_model_keyframe(model, i).name;
        text_format(list, "%s%s", i ? ", " : "", known ? known : "(no name)");
    }
}

static int fail_keyframe(cli *c, const kk_model *model, const char *name) {
    suggestion near = suggest_begin(name);
    cli_text list = {0};
    for (int i = 0; i < kk_model_nkeyframe(model); i++) {
        const char *known = kk_model_keyframe(model, i).name;
        suggest_word(&near, known ? known : "");
    }
    list_keyframes(model, &list);
    const int code =
        near.best ? cli_fail(c, CLI_EXIT_INPUT, "there is no keyframe '%s' — did you mean '%s'?", name, near.best)
                  : cli_fail(c, CLI_EXIT_INPUT, "there is no keyframe '%s' — the model has %s", name,
                             list.size ? text_string(&list) : "none");
    text_free(&list);
    return code;
}

int load_keyframe(cli *c, const kk_model *model, const char *name, int *keyframe) {
    *keyframe = name ? kk_model_find_keyframe(model, name) : -1;
    return name && *keyframe < 0 ? fail_keyframe(c, model, name) : 0;
}
