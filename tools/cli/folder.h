/// Folders: making one for results, and finding that of our models.
#ifndef KARAKURI_CLI_FOLDER_H
#define KARAKURI_CLI_FOLDER_H

#include "cli.h"

/// Makes a folder unless it is there. 0, or the exit code after an error.
int folder_make(cli *c, const char *path);
/// The given folder; else that of KARAKURI_MODELS; else models/ or share/karakuri/models/ above the program; else models/.
void folder_of_models(const char *given, cli_text *path);

#endif
