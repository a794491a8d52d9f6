/// Models by name or file: the one place that calls the library's loaders.
#ifndef KARAKURI_CLI_LOAD_H
#define KARAKURI_CLI_LOAD_H

#include "cli.h"

typedef struct cli_model {
    const char *name; ///< as given
    kk_spec *spec;
    kk_model *model;
    kk_data *data;
} cli_model;

/// robot:NAME or a file. 0, or the exit code after an error; nothing is to be unloaded then.
int load_model(cli *c, const char *name, cli_model *m);
void unload_model(cli_model *m);

/// Names for completion and help, "robot:humanoid36"; NULL behind the last.
cli_term load_robot(int index);

/// A word for a joint's type: "hinge".
const char *joint_type_name(kk_joint_type type);

#endif
