// karakuri convert IN OUT: a robot file in another format.
#include "cli.h"
#include "load.h"
#include "save.h"

typedef struct convert_options {
    const char *in, *out;
    int to;
} convert_options;

static const cli_option arguments[] = {
    {.name = "IN",
     .kind = CLI_MODEL,
     .is_required = true,
     .offset = offsetof(convert_options, in),
     .about = "a model file, or robot:NAME for one of our own"},
    {.name = "OUT",
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(convert_options, out),
     .about = "the file to write, - for the standard output"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "to",
     .kind = CLI_CHOICE,
     .offset = offsetof(convert_options, to),
     .value = "FORMAT",
     .choices = save_formats,
     .about = "urdf or mjcf (default: by the ending of OUT, .urdf or .xml)"},
    {.name = NULL},
};

static int tell(const cli *c, const convert_options *o, const cli_model *m, save_format format) {
    if (!c->common.json) {
        return CLI_EXIT_OK;
    }
    json_writer json = {0};
    cli_begin_document(c, &json);
    json_string(&json, "out", o->out);
    json_string(&json, "format", save_formats[format]);
    json_integer(&json, "bodies", kk_model_nbody(m->model) - 1);
    json_integer(&json, "nv", kk_model_nv(m->model));
    json_number(&json, "mass", kk_model_mass(m->model));
    return cli_end_document(c, &json);
}

static int run(cli *c, const void *options) {
    const convert_options *o = options;
    const save_format format = save_format_of(c, o->out, (save_format)o->to);
    cli_model m;
    if (format == SAVE_BY_NAME) {
        return CLI_EXIT_USAGE;
    }
    if (c->common.json && o->out[0] == '-' && !o->out[1]) {
        return cli_fail(c, CLI_EXIT_USAGE, "--json and the robot cannot both go to the standard output — name a file");
    }
    int code = save_check_other(c, o->in, o->out);
    code = code ? code : load_model(c, o->in, &m);
    if (!code) {
        code = save_spec(c, m.spec, o->out, format);
        code = code ? code : tell(c, o, &m, format);
        unload_model(&m);
    }
    return code;
}

static const char *const details[] = {
    "Kinematics and inertia stay the same to rounding. Meshes are not copied: the new file names them by their paths "
    "from its folder. What URDF has no words for stands in <karakuri> elements that other programs skip.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri convert robot.xml robot.urdf", "MJCF to URDF"},
    {"karakuri convert robot.urdf robot.xml", "URDF to MJCF"},
    {"karakuri convert robot.xacro - --to urdf --arg arm:=left", "expand a xacro file"},
    {NULL, NULL},
};

const cli_verb cli_verb_convert = {
    .name = "convert",
    .about = "write a robot file in another format: URDF or MJCF",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(convert_options),
    .run = run,
};
