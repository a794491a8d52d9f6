/// Support schedules from words of the command line: left_foot@0,right_foot@1.2,left_foot+right_foot@2,none@3.
#ifndef KARAKURI_CLI_SUPPORT_H
#define KARAKURI_CLI_SUPPORT_H

#include "cli.h"

/// Reads a schedule. 0, or the exit code after an error. @param list [*count] to be freed
int support_parse(cli *c, const kk_model *model, const char *text, kk_support **list, int *count);

#endif
