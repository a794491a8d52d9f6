/// Writing robot files: the one place that calls the library's writers.
#ifndef KARAKURI_CLI_SAVE_H
#define KARAKURI_CLI_SAVE_H

#include "cli.h"

typedef enum save_format { SAVE_BY_NAME, SAVE_URDF, SAVE_MJCF } save_format;
extern const char *const save_formats[]; ///< names of the formats, for options

/// The format of a file's name; SAVE_BY_NAME where it has none of the known endings, after an error.
save_format save_format_of(cli *c, const char *path, save_format wanted);
/// Writes a spec; meshes are named by their paths from the file's folder. 0, or the exit code after an error.
int save_spec(cli *c, kk_spec *spec, const char *path, save_format format);
/// An error where a robot would be written over the file it was read from: comments and what was not understood would be lost.
int save_check_other(cli *c, const char *in, const char *out);
/// Writes bytes to a file, "-" is the standard output.
int save_bytes(cli *c, const char *path, const char *bytes, size_t size);

#endif
