/// Text tables for people: columns as wide as their widest cell.
#ifndef KARAKURI_CLI_GRID_H
#define KARAKURI_CLI_GRID_H

#include "cli.h"
#include "text.h"

typedef struct grid {
    int columns, rows;
    const char *const *heads; ///< [columns]; a head that starts with '>' stands at the right, like its numbers
    char **cells;             ///< [rows × columns], owned
} grid;

grid grid_make(const char *const *heads, int columns);
/// Begins a row of empty cells.
void grid_row(grid *g);
/// Sets a cell of the last row.
__attribute__((format(printf, 3, 4))) void grid_set(grid *g, int column, const char *format, ...);
/// With the heads in bold where the terminal has it; columns with no text are left out.
void grid_print(const grid *g, const cli *c, cli_text *out);
void grid_free(grid *g);

#endif
