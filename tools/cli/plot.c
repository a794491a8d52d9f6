// SVG line plots; see plot.h. Ticks are in plot_ticks.c.
#include "plot.h"

#include <karakuri/elementary.h>
#include <karakuri/number.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 640,
    HEIGHT = 320,
    COLORS = 8,
    LEFT = 66,
    RIGHT = 26,
    TOP = 12,
    BOTTOM = 46,
    TITLE = 26,
    LEGEND_ROW = 18,
    LETTER = 7,
    MINUS = 10,
    NAME = 18,       ///< width of an axis name that is turned
    ROWS_ABOVE = 8,  ///< series whose names stand over the lines; more stand beside them
    LEAST_ROW = 11,  ///< of names beside
    LONGEST_SIDE = 3 ///< of a panel's width at most one part of so many is for them
};

/// A panel's place: the frame around its lines, in pixels.
typedef struct frame {
    double left, top, width, height;
    double edge; ///< of the panel, left of the axis and its numbers
    plot_ticks x, y;
    bool x_is_log, y_is_log;
} frame;

static bool has_text(const char *text) {
    return text && text[0];
}

void plot_escape(cli_text *svg, const char *string) {
    for (; *string; string++) {
        switch (*string) {
        case '&': text_add(svg, "&amp;"); break;
        case '<': text_add(svg, "&lt;"); break;
        case '>': text_add(svg, "&gt;"); break;
        case '"': text_add(svg, "&quot;"); break;
        case '\'': text_add(svg, "&#39;"); break;
        default:
            if ((unsigned char)*string >= ' ') {
                text_add_bytes(svg, string, 1);
            }
        }
    }
}

/// A coordinate: a hundredth of a pixel is enough.
static void add_coordinate(cli_text *svg, double x) {
    const double rounded = kk_round(x * 100) / 100;
    text_add_number(svg, rounded == 0 ? 0 : rounded); // no "-0"
}

// ---- from numbers to pixels

static double along(double value, double low, double high, bool is_log) {
    return is_log ? (kk_log(value) - kk_log(low)) / (kk_log(high) - kk_log(low)) : (value - low) / (high - low);
}

static double to_x(const frame *f, double x) {
    return f->left + f->width * along(x, f->x.low, f->x.high, f->x_is_log);
}

static double to_y(const frame *f, double y) {
    return f->top + f->height * (1 - along(y, f->y.low, f->y.high, f->y_is_log));
}

static bool can_show(double value, bool is_log) {
    return value - value == 0 && (!is_log || value > 0);
}

static bool is_shown(const frame *f, const plot_series *s, size_t i) {
    return can_show(s->x[i], f->x_is_log) && can_show(s->y[i], f->y_is_log);
}

/// Smallest and largest of what can be shown; 0 … 1 (1 … 10) where there is nothing.
static void find_range(const plot_panel *p, bool is_x, double *low, double *high) {
    const plot_axis *axis = is_x ? &p->x : &p->y;
    *low = 1e308;
    *high = -1e308;
    for (int k = 0; k < p->series_count; k++) {
        const double *values = is_x ? p->series[k].x : p->series[k].y;
        for (size_t i = 0; i < p->series[k].count; i++) {
            if (can_show(values[i], axis->is_log)) {
                *low = values[i] < *low ? values[i] : *low;
                *high = values[i] > *high ? values[i] : *high;
            }
        }
    }
    if (*low > *high) {
        *low = axis->is_log ? 1 : 0;
        *high = axis->is_log ? 10 : 1;
    }
}

static plot_ticks make_ticks(const plot_panel *p, bool is_x, double pixels) {
    const plot_axis *axis = is_x ? &p->x : &p->y;
    double low = axis->low, high = axis->high;
    if (!axis->is_fixed) {
        find_range(p, is_x, &low, &high);
    }
    if (axis->is_log) {
        return plot_log_ticks(low, high, axis->is_fixed);
    }
    const int wanted = (int)(pixels / (is_x ? 80 : 45));
    // time runs from edge to edge; values get room up to the next tick
    return plot_linear_ticks(low, high, wanted < 2 ? 2 : wanted, axis->is_fixed || (is_x && high > low));
}

// ---- axes

static void add_line(cli_text *svg, const char *class_name, double x1, double y1, double x2, double y2) {
    text_format(svg, "<path class=\"%s\" d=\"M", class_name);
    add_coordinate(svg, x1);
    text_add(svg, " ");
    add_coordinate(svg, y1);
    text_add(svg, "L");
    add_coordinate(svg, x2);
    text_add(svg, " ");
    add_coordinate(svg, y2);
    text_add(svg, "\"/>\n");
}

static void add_label(cli_text *svg, const char *class_name, double x, double y, const char *more, const char *string) {
    text_format(svg, "<text class=\"%s\" x=\"", class_name);
    add_coordinate(svg, x);
    text_add(svg, "\" y=\"");
    add_coordinate(svg, y);
    text_format(svg, "\"%s>", more);
    plot_escape(svg, string);
    text_add(svg, "</text>\n");
}

/// A minus that is as wide as a plus.
static void format_number(double value, cli_text *text) {
    char number[KK_NUMBER_TEXT_SIZE];
    kk_number_format(value == 0 ? 0 : value, number);
    for (const char *s = number; *s; s++) {
        text_add(text, *s == '-' ? "−" : (char[]){*s, 0});
    }
}

/// 10⁻⁵
static void format_power(int exponent, cli_text *text) {
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char number[16];
    snprintf(number, sizeof number, "%d", exponent);
    text_add(text, "10");
    for (const char *s = number; *s; s++) {
        text_add(text, *s == '-' ? "⁻" : digit[*s - '0']);
    }
}

/// Powers of ten as such where an axis has some that are long to write.
static void format_tick(const plot_ticks *t, bool is_log, double value, cli_text *text) {
    const bool is_wide = t->low < 1e-3 || t->high > 1e4;
    const int exponent = is_log ? (int)kk_round(kk_log(value) / kk_log(10)) : 0;
    if (is_log && is_wide && kk_round(value / kk_pow(10, exponent) * 1e6) == 1e6) {
        format_power(exponent, text);
    } else {
        format_number(value, text);
    }
}

static void add_tick_x(cli_text *svg, const frame *f, double value) {
    const double x = to_x(f, value);
    cli_text label = {0};
    format_tick(&f->x, f->x_is_log, value, &label);
    add_line(svg, "grid", x, f->top, x, f->top + f->height);
    add_label(svg, "tick middle", x, f->top + f->height + 16, "", text_string(&label));
    text_free(&label);
}

static void add_tick_y(cli_text *svg, const frame *f, double value) {
    const double y = to_y(f, value);
    cli_text label = {0};
    format_tick(&f->y, f->y_is_log, value, &label);
    add_line(svg, "grid", f->left, y, f->left + f->width, y);
    add_label(svg, "tick end", f->left - 6, y + 4, "", text_string(&label));
    text_free(&label);
}

/// Pixels that a tick's text may need: letters of the widest usual font, where a minus is wider than a digit.
static double width_of(const char *label) {
    double wide = LETTER * (double)text_width(label);
    for (const char *at = label; (at = strstr(at, "−")); at++) {
        wide += MINUS - LETTER;
    }
    return wide;
}

/// Long numbers at the y axis push the frame to the right, so that they keep clear of the axis' name.
static void make_room(frame *f) {
    double widest = 0;
    for (int i = 0; i < f->y.count; i++) {
        cli_text label = {0};
        format_tick(&f->y, f->y_is_log, f->y.at[i], &label);
        const double wide = width_of(text_string(&label));
        widest = wide > widest ? wide : widest;
        text_free(&label);
    }
    const double missing = f->edge + NAME + widest + 6 - f->left;
    if (missing > 0) {
        f->left += missing;
        f->width -= missing;
    }
}

static void axis_text(const plot_axis *axis, cli_text *text) {
    text_add(text, has_text(axis->label) ? axis->label : "");
    if (has_text(axis->unit)) {
        text_format(text, "%s[%s]", text->size ? " " : "", axis->unit);
    }
}

static void add_axis_names(cli_text *svg, const frame *f, const plot_panel *p) {
    cli_text x = {0}, y = {0}, turn = {0};
    axis_text(&p->x, &x);
    axis_text(&p->y, &y);
    if (x.size) {
        add_label(svg, "name middle", f->left + f->width / 2, f->top + f->height + 36, "", text_string(&x));
    }
    if (y.size) {
        const double at_x = f->edge + 14, at_y = f->top + f->height / 2;
        text_add(&turn, " transform=\"rotate(-90 ");
        add_coordinate(&turn, at_x);
        text_add(&turn, " ");
        add_coordinate(&turn, at_y);
        text_add(&turn, ")\"");
        add_label(svg, "name middle", at_x, at_y, text_string(&turn), text_string(&y));
    }
    text_free(&x);
    text_free(&y);
    text_free(&turn);
}

static void add_axes(cli_text *svg, const frame *f, const plot_panel *p) {
    for (int i = 0; i < f->x.count; i++) {
        add_tick_x(svg, f, f->x.at[i]);
    }
    for (int i = 0; i < f->y.count; i++) {
        add_tick_y(svg, f, f->y.at[i]);
    }
    add_line(svg, "axis", f->left, f->top + f->height, f->left + f->width, f->top + f->height);
    add_line(svg, "axis", f->left, f->top, f->left, f->top + f->height);
    add_axis_names(svg, f, p);
}

// ---- lines

/// A line while it is written: M after a gap, L between, and steps.
typedef struct pen {
    cli_text *svg;
    const frame *f;
    plot_style style;
    bool is_down;
    double last_y;
} pen;

static void draw_to(pen *p, double x, double y) {
    if (p->is_down && p->style == PLOT_STEPS) {
        text_add(p->svg, "L");
        add_coordinate(p->svg, x);
        text_add(p->svg, " ");
        add_coordinate(p->svg, p->last_y);
    }
    text_add(p->svg, p->is_down ? "L" : "M");
    add_coordinate(p->svg, x);
    text_add(p->svg, " ");
    add_coordinate(p->svg, y);
    text_add(p->svg, p->style == PLOT_POINTS ? "h0" : ""); // round caps make a dot of it
    p->is_down = p->style != PLOT_POINTS;
    p->last_y = y;
}

static bool is_rising(const plot_series *s) {
    for (size_t i = 1; i < s->count; i++) {
        if (!(s->x[i] >= s->x[i - 1])) {
            return false;
        }
    }
    return true;
}

/// The points from `first` on that lie in one column of half a pixel; gives the end.
static size_t end_of_column(const frame *f, const plot_series *s, size_t first) {
    const double column = kk_floor(2 * to_x(f, s->x[first]));
    size_t i = first + 1;
    while (i < s->count && is_shown(f, s, i) && kk_floor(2 * to_x(f, s->x[i])) == column) {
        i++;
    }
    return i;
}

/// First, least, most and last point of a column, in their order.
static void draw_column(pen *p, const plot_series *s, size_t first, size_t end) {
    size_t low = first, high = first;
    for (size_t i = first; i < end; i++) {
        low = s->y[i] < s->y[low] ? i : low;
        high = s->y[i] > s->y[high] ? i : high;
    }
    const size_t order[4] = {first, low < high ? low : high, low < high ? high : low, end - 1};
    for (int k = 0; k < 4; k++) {
        if (k == 0 || order[k] != order[k - 1]) {
            draw_to(p, to_x(p->f, s->x[order[k]]), to_y(p->f, s->y[order[k]]));
        }
    }
}

static void draw_series(cli_text *svg, const frame *f, const plot_series *s) {
    pen p = {.svg = svg, .f = f, .style = s->style};
    const bool thin = (double)s->count > 8 * f->width && is_rising(s);
    for (size_t i = 0; i < s->count;) {
        if (!is_shown(f, s, i)) {
            p.is_down = false;
            i++;
        } else if (thin) {
            const size_t end = end_of_column(f, s, i);
            draw_column(&p, s, i, end);
            i = end;
        } else {
            draw_to(&p, to_x(f, s->x[i]), to_y(f, s->y[i]));
            i++;
        }
    }
}

static bool has_points(const frame *f, const plot_series *s) {
    for (size_t i = 0; i < s->count; i++) {
        if (is_shown(f, s, i)) {
            return true;
        }
    }
    return false;
}

static const char *style_class(plot_style style) {
    return style == PLOT_DASHES ? " dashes" : style == PLOT_POINTS ? " points" : "";
}

/// The second round of colours is dashed.
static const char *class_of(const plot_panel *p, int i) {
    const plot_style style = p->series[i].style;
    return style_class(style != PLOT_POINTS && (i / COLORS) % 2 ? PLOT_DASHES : style);
}

static void add_series(cli_text *svg, const frame *f, const plot_panel *p, int panel) {
    text_format(svg, "<g clip-path=\"url(#frame%d)\">\n", panel);
    for (int i = 0; i < p->series_count; i++) {
        const plot_series *s = &p->series[i];
        if (has_points(f, s)) {
            text_format(svg, "<path class=\"line c%d%s\" d=\"", i % COLORS, class_of(p, i));
            draw_series(svg, f, s);
            text_add(svg, "\"><title>");
            plot_escape(svg, has_text(s->name) ? s->name : "");
            text_add(svg, "</title></path>\n");
        }
    }
    text_add(svg, "</g>\n");
}

// ---- legend

static double entry_width(const plot_series *s) {
    return 34 + LETTER * (double)text_width(s->name);
}

static bool is_beside(const plot_panel *p) {
    return p->series_count > ROWS_ABOVE;
}

/// What names beside the lines take of a panel's width.
static double side_width(const plot_panel *p, double width) {
    double widest = 0;
    for (int i = 0; is_beside(p) && i < p->series_count; i++) {
        const double own = has_text(p->series[i].name) ? entry_width(&p->series[i]) : 0;
        widest = own > widest ? own : widest;
    }
    return widest < width / LONGEST_SIDE ? widest : width / LONGEST_SIDE;
}

static void add_entry(cli_text *svg, const plot_panel *p, int i, double x, double y) {
    char class_name[32];
    snprintf(class_name, sizeof class_name, "line c%d%s", i % COLORS, class_of(p, i));
    add_line(svg, class_name, x, y, x + 20, y);
    add_label(svg, "tick", x + 25, y + 4, "", p->series[i].name);
}

/// One under the other, closer where they are many; those for which the frame is too low are left to the lines' titles.
static void place_beside(cli_text *svg, const plot_panel *p, const frame *f, double left) {
    const double even = f->height / p->series_count, row = even > LEGEND_ROW  ? LEGEND_ROW
                                                           : even < LEAST_ROW ? LEAST_ROW
                                                                              : even;
    for (int i = 0; i < p->series_count && (i + 1) * row <= f->height + 1; i++) {
        if (has_text(p->series[i].name)) {
            add_entry(svg, p, i, left, f->top + (i + 0.5) * row);
        }
    }
}

/// Walks over the entries in rows of `width`; with `svg` it draws them. Gives the rows.
static int place_legend(cli_text *svg, const plot_panel *p, double left, double top, double width) {
    double x = 0;
    int rows = 0;
    for (int i = 0; i < p->series_count; i++) {
        const plot_series *s = &p->series[i];
        if (!has_text(s->name)) {
            continue;
        }
        rows += rows == 0;
        if (x > 0 && x + entry_width(s) > width) {
            x = 0;
            rows++;
        }
        if (svg) {
            add_entry(svg, p, i, left + x, top + (rows - 1) * LEGEND_ROW + 9);
        }
        x += entry_width(s);
    }
    return rows;
}

/// One series needs no legend where a title or the axis tells what it is.
static bool has_legend(const plot_panel *p) {
    return p->series_count > 1;
}

// ---- the figure

static const char *const style_sheet =
    "<style>\n"
    "svg { color: #1f2328; background: #ffffff; font-family: system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', "
    "sans-serif; }\n"
    "text { fill: currentColor; } .title { font-size: 15px; font-weight: 600; } .head { font-size: 13px; font-weight: "
    "600; }\n"
    ".name { font-size: 12px; } .tick { font-size: 11px; } .middle { text-anchor: middle; } .end { text-anchor: end; "
    "}\n"
    ".axis { stroke: currentColor; stroke-width: 1; fill: none; } .grid { stroke: currentColor; stroke-opacity: 0.13; "
    "fill: none; }\n"
    ".line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }\n"
    ".dashes { stroke-dasharray: 6 4; } .points { stroke-width: 4; }\n"
    ".c0 { stroke: #0969da; } .c1 { stroke: #cf5a00; } .c2 { stroke: #1a7f37; } .c3 { stroke: #a0278f; }\n"
    ".c4 { stroke: #b58900; } .c5 { stroke: #d1242f; } .c6 { stroke: #0b8585; } .c7 { stroke: #6e7781; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { color: #e6edf3; background: #0d1117; }\n"
    ".c0 { stroke: #58a6ff; } .c1 { stroke: #ff9b57; } .c2 { stroke: #56d364; } .c3 { stroke: #e07ad0; }\n"
    ".c4 { stroke: #e3c04b; } .c5 { stroke: #ff7b72; } .c6 { stroke: #4fd1c5; } .c7 { stroke: #9aa4ae; }\n"
    "}\n"
    "</style>\n";

static double legend_height(const plot_panel *p, double width) {
    return has_legend(p) && !is_beside(p) ? LEGEND_ROW * place_legend(NULL, p, 0, 0, width - LEFT - RIGHT) + 8 : 0;
}

/// Round a middle, as long as the pixels are at the other axis' scale.
static void widen(plot_ticks *t, double pixels, double unit, int wanted) {
    const double middle = (t->low + t->high) / 2, half = pixels * unit / 2;
    free(t->at);
    *t = plot_linear_ticks(middle - half, middle + half, wanted < 2 ? 2 : wanted, true);
}

/// The axis that has more room than it needs gets longer, until a metre is as wide as it is high.
static void make_equal(frame *f, const plot_panel *p) {
    if (!p->is_equal || p->x.is_log || p->y.is_log) {
        return;
    }
    const double x = (f->x.high - f->x.low) / f->width, y = (f->y.high - f->y.low) / f->height;
    if (x < y) {
        widen(&f->x, f->width, y, (int)(f->width / 80));
    } else {
        widen(&f->y, f->height, x, (int)(f->height / 45));
    }
}

static void add_panel(cli_text *svg, const plot_panel *p, int index, double left, double top, double width,
                      double height) {
    const double head = has_text(p->title) ? TITLE : TOP;
    const double legend = legend_height(p, width), side = side_width(p, width);
    frame f = {.left = left + LEFT,
               .top = top + head + legend,
               .width = width - LEFT - RIGHT - side,
               .height = height - head - legend - BOTTOM,
               .x_is_log = p->x.is_log,
               .edge = left,
               .y_is_log = p->y.is_log};
    f.y = make_ticks(p, false, f.height);
    make_room(&f);
    f.x = make_ticks(p, true, f.width);
    make_equal(&f, p);
    text_format(svg, "<g class=\"panel\">\n<clipPath id=\"frame%d\"><rect x=\"", index);
    add_coordinate(svg, f.left);
    text_add(svg, "\" y=\"");
    add_coordinate(svg, f.top - 1);
    text_add(svg, "\" width=\"");
    add_coordinate(svg, f.width);
    text_add(svg, "\" height=\"");
    add_coordinate(svg, f.height + 2);
    text_add(svg, "\"/></clipPath>\n");
    if (has_text(p->title)) {
        add_label(svg, "head", f.left, top + 18, "", p->title);
    }
    if (is_beside(p)) {
        place_beside(svg, p, &f, f.left + f.width + 10);
    } else if (has_legend(p)) {
        place_legend(svg, p, f.left, top + head, f.width);
    }
    add_axes(svg, &f, p);
    add_series(svg, &f, p, index);
    text_add(svg, "</g>\n");
    free(f.x.at);
    free(f.y.at);
}

static void add_head(cli_text *svg, const plot_figure *figure, int width, int height) {
    text_format(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
        width, height, width, height);
    text_add(svg, "<title>");
    plot_escape(svg, has_text(figure->title) ? figure->title : "plot");
    text_add(svg, "</title>\n");
    if (has_text(figure->description)) {
        text_add(svg, "<desc>");
        plot_escape(svg, figure->description);
        text_add(svg, "</desc>\n");
    }
    text_add(svg, style_sheet);
}

void plot_write(const plot_figure *figure, cli_text *svg) {
    const int width = figure->width > 0 ? figure->width : WIDTH, height = figure->height > 0 ? figure->height : HEIGHT;
    const int columns = figure->columns > 0 ? figure->columns : 1;
    const int rows = (figure->panel_count + columns - 1) / columns,
              shown = figure->panel_count < columns ? figure->panel_count : columns;
    const int head = has_text(figure->title) ? 34 : 0;
    add_head(svg, figure, width * (shown > 0 ? shown : 1), head + rows * height);
    if (head) {
        add_label(svg, "title", LEFT, 24, "", figure->title);
    }
    for (int i = 0; i < figure->panel_count; i++) {
        const int row = i / columns, column = i % columns;
        add_panel(svg, &figure->panels[i], i, column * width, head + row * height, width, height);
    }
    text_add(svg, "</svg>\n");
}
