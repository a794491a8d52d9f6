// Text tables; see grid.h.
#include "grid.h"

#include <stdarg.h>
#include <stdlib.h>

grid grid_make(const char *const *heads, int columns) {
    return (grid){.columns = columns, .heads = heads};
}

void grid_row(grid *g) {
    const size_t old = (size_t)g->rows * (size_t)g->columns, size = old + (size_t)g->columns;
    g->cells = cli_reallocate(g->cells, size, sizeof *g->cells);
    for (size_t i = old; i < size; i++) {
        g->cells[i] = NULL;
    }
    g->rows++;
}

void grid_set(grid *g, int column, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    char **cell = &g->cells[(size_t)(g->rows - 1) * (size_t)g->columns + (size_t)column];
    free(*cell);
    *cell = cli_copy(text);
}

static const char *cell_of(const grid *g, int row, int column) {
    const char *cell = g->cells[(size_t)row * (size_t)g->columns + (size_t)column];
    return cell ? cell : "";
}

static bool is_right(const grid *g, int column) {
    return g->heads[column][0] == '>';
}

static const char *head_of(const grid *g, int column) {
    return g->heads[column] + is_right(g, column);
}

/// 0 where no row has anything in the column.
static int width_of(const grid *g, int column) {
    int width = 0;
    for (int i = 0; i < g->rows; i++) {
        const int w = text_width(cell_of(g, i, column));
        width = w > width ? w : width;
    }
    const int head = text_width(head_of(g, column));
    return width == 0 ? 0 : head > width ? head : width;
}

static void add_cell(const grid *g, cli_text *line, int column, int width, const char *cell) {
    const int blanks = width - text_width(cell);
    text_add(line, line->size ? "  " : "");
    text_repeat(line, " ", is_right(g, column) ? blanks : 0);
    text_add(line, cell);
    text_repeat(line, " ", is_right(g, column) ? 0 : blanks);
}

/// Without the blanks at its end.
static void add_line(cli_text *out, cli_text *line, const char *begin, const char *end) {
    while (line->size && line->bytes[line->size - 1] == ' ') {
        line->bytes[--line->size] = 0;
    }
    text_format(out, "%s%s%s\n", begin, text_string(line), end);
    text_free(line);
}

void grid_print(const grid *g, const cli *c, cli_text *out) {
    int *width = cli_allocate((size_t)g->columns, sizeof *width);
    for (int k = 0; k < g->columns; k++) {
        width[k] = width_of(g, k);
    }
    for (int i = -1; i < g->rows; i++) {
        cli_text line = {0};
        for (int k = 0; k < g->columns; k++) {
            if (width[k]) {
                add_cell(g, &line, k, width[k], i < 0 ? head_of(g, k) : cell_of(g, i, k));
            }
        }
        add_line(out, &line, i < 0 ? cli_style(c, CLI_BOLD) : "", i < 0 ? cli_style(c, CLI_PLAIN) : "");
    }
    free(width);
}

void grid_free(grid *g) {
    for (size_t i = 0; i < (size_t)g->rows * (size_t)g->columns; i++) {
        free(g->cells[i]);
    }
    free(g->cells);
    g->cells = NULL;
    g->rows = 0;
}
