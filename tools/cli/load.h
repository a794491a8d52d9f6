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
/// Compiles its spec again, which was changed; unloads it where that fails.
int load_again(cli *c, cli_model *m);
void unload_model(cli_model *m);

/// The keyframe of a name, −1 where the name is NULL. 0, or the exit code after an error that names those there are.
int load_keyframe(cli *c, const kk_model *model, const char *name, int *keyframe);
/// Their names with commas between; nothing where there are none.
void list_keyframes(const kk_model *model, cli_text *list);

/// Reads a file as the options say. 0 where it was tried: `error` then has the outcome, `messages` all findings; otherwise the exit code
/// after an error of the command line.
int load_spec(cli *c, const char *path, kk_spec **spec, kk_messages **messages, kk_error *error);
/// robot:NAME, and its spec.
bool is_robot_name(const char *name);
int load_robot_spec(cli *c, const char *name, kk_spec **spec);

/// Names for completion and help, "robot:humanoid36"; NULL behind the last.
cli_term load_robot(int index);

/// A word for a joint's type: "hinge".
const char *joint_type_name(kk_joint_type type);

#endif
