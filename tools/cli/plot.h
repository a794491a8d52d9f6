/// Line plots as SVG: several panels in a figure, several series in a panel, linear and logarithmic axes, readable in light and dark.
///
/// Colors follow the reader's scheme by CSS (prefers-color-scheme), text and axes are drawn in currentColor, so that the picture sits well
/// in a page of either. Points that are not finite, or not positive on a logarithmic axis, interrupt their line. A long series is thinned to
/// the extremes of each pixel, which looks the same and keeps the file small.
#ifndef KARAKURI_CLI_PLOT_H
#define KARAKURI_CLI_PLOT_H

#include "text.h"

typedef enum plot_style { PLOT_LINE, PLOT_STEPS, PLOT_DASHES, PLOT_POINTS } plot_style;

typedef struct plot_series {
    const char *name;
    const double *x, *y; ///< [count]
    size_t count;
    plot_style style;
} plot_series;

typedef struct plot_axis {
    const char *label, *unit; ///< NULL or "": none
    bool is_log;
    bool is_fixed; ///< low … high are given; else they follow from the data
    double low, high;
} plot_axis;

typedef struct plot_panel {
    const char *title; ///< NULL or "": none
    plot_axis x, y;
    const plot_series *series;
    int series_count;
    bool is_equal; ///< both axes to one scale, as for a path on the ground; not where one is logarithmic
} plot_panel;

typedef struct plot_figure {
    const char *title;       ///< NULL or "": none
    const char *description; ///< for those who cannot see it; NULL: none
    const plot_panel *panels;
    int panel_count;
    int columns;       ///< panels side by side; 0: 1
    int width, height; ///< of a panel in pixels; 0: 640, 320
} plot_figure;

/// Appends a whole SVG document.
void plot_write(const plot_figure *figure, cli_text *svg);

/// Ticks of an axis.
typedef struct plot_ticks {
    double *at; ///< [count], rising; to be freed
    int count;
    double low, high; ///< the axis from end to end
} plot_ticks;

/// Multiples of 1, 2 or 5 times a power of ten, about `wanted` of them; the ends are the outermost ticks unless `is_fixed`.
plot_ticks plot_linear_ticks(double low, double high, int wanted, bool is_fixed);
/// Powers of ten; between them 2 and 5 where they are few.
plot_ticks plot_log_ticks(double low, double high, bool is_fixed);

/// Text with & < > " and ' escaped and control characters left out.
void plot_escape(cli_text *svg, const char *string);

#endif
