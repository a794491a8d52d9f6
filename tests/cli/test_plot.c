// Plots: the document is well-formed, has the structure that was asked for, and every point stands where its numbers say.
#include "cli/plot.h"

#include <karakuri/number.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "io/xml.h"

/// The plot read back by our own reader; NULL and a failure where it is not well-formed.
static kki_xml *read_plot(const plot_figure *figure) {
    cli_text svg = {0};
    kki_xml *xml = NULL;
    kk_error error = {0};
    plot_write(figure, &svg);
    if (kki_xml_parse("plot.svg", svg.bytes, svg.size, NULL, NULL, &xml, &error) != KK_OK) {
        KK_FAIL("%d:%d %s", error.line, error.column, error.text);
    }
    KK_CHECK(!strstr(svg.bytes, "nan") && !strstr(svg.bytes, "inf"));
    text_free(&svg);
    return xml;
}

static const char *attribute(const kki_xml *xml, int32_t node, const char *name) {
    const kki_xml_node *n = &xml->node[node];
    for (int32_t i = n->first_attribute; i < n->first_attribute + n->attribute_count; i++) {
        if (strcmp(kki_xml_string(xml, xml->attribute[i].name), name) == 0) {
            return kki_xml_string(xml, xml->attribute[i].value);
        }
    }
    return "";
}

/// Elements of a name whose class holds a word; the last of them in *found.
static int count_elements(const kki_xml *xml, const char *name, const char *word, int32_t *found) {
    int count = 0;
    for (int32_t i = 0; i < xml->node_count; i++) {
        if (kki_xml_is_element(xml, i) && strcmp(kki_xml_string(xml, xml->node[i].text), name) == 0 &&
            strstr(attribute(xml, i, "class"), word)) {
            *found = i;
            count++;
        }
    }
    return count;
}

static int count_text(const kki_xml *xml, const char *text) {
    int count = 0;
    for (int32_t i = 0; i < xml->node_count; i++) {
        count += !kki_xml_is_element(xml, i) && strcmp(kki_xml_string(xml, xml->node[i].text), text) == 0;
    }
    return count;
}

static int count_letter(const char *text, char letter) {
    int count = 0;
    for (; *text; text++) {
        count += *text == letter;
    }
    return count;
}

/// The numbers of a path.
static int path_numbers(const char *d, double *numbers, int most) {
    int count = 0;
    while (*d && count < most) {
        size_t used = 0;
        if (kk_number_parse(d, strlen(d), &numbers[count], &used) == KK_OK) {
            count++;
        }
        d += used ? used : 1;
    }
    return count;
}

KK_TEST(plot_structure) {
    const double x[] = {0, 1, 2, 3}, y[] = {0, 10, 5, 20}, z[] = {1, 2, 3, 4};
    const plot_series both[] = {{"tau <1> & \"2\"", x, y, 4, PLOT_LINE}, {"b", x, z, 4, PLOT_DASHES}};
    const plot_panel panels[] = {
        {.title = "first",
         .x = {"time", "s", 0, 0, 0, 0},
         .y = {"torque", "N m", 0, 0, 0, 0},
         .series = both,
         .series_count = 2},
        {.x = {"time", "s", 0, 0, 0, 0}, .y = {"b", NULL, 0, 0, 0, 0}, .series = both + 1, .series_count = 1},
        {.series = NULL, .series_count = 0},
    };
    const plot_figure figure = {
        .title = "a & b", .description = "two <lines>", .panels = panels, .panel_count = 3, .columns = 2};
    kki_xml *xml = read_plot(&figure);
    if (!xml) {
        return;
    }
    int32_t node = 0;
    KK_CHECK_STR(kki_xml_string(xml, xml->node[KKI_XML_ROOT].text), "svg");
    KK_CHECK_STR(attribute(xml, KKI_XML_ROOT, "viewBox"), "0 0 1280 674");
    KK_CHECK_EQ_INT(count_elements(xml, "g", "panel", &node), 3);
    KK_CHECK_EQ_INT(count_elements(xml, "path", "line", &node), 3 + 2); // and the legend of the first panel
    KK_CHECK_EQ_INT(count_elements(xml, "path", "dashes", &node), 3);
    KK_CHECK_EQ_INT(count_elements(xml, "path", "axis", &node), 6);
    KK_CHECK_EQ_INT(count_text(xml, "time [s]"), 2);
    KK_CHECK_EQ_INT(count_text(xml, "torque [N m]"), 1);
    KK_CHECK_EQ_INT(count_text(xml, "tau <1> & \"2\""), 2); // legend and tooltip
    KK_CHECK_EQ_INT(count_text(xml, "a & b"), 2);
    KK_CHECK_EQ_INT(count_text(xml, "two <lines>"), 1);
    kki_xml_free(xml);
}

static kki_xml *plot_one(const plot_series *series, plot_axis x, plot_axis y) {
    const plot_panel panel = {.x = x, .y = y, .series = series, .series_count = 1};
    const plot_figure figure = {.panels = &panel, .panel_count = 1};
    return read_plot(&figure);
}

/// Path of the only series.
static const char *path_of(const kki_xml *xml, int32_t *node) {
    *node = -1;
    return count_elements(xml, "path", "line", node) ? attribute(xml, *node, "d") : "";
}

// equal steps of the numbers are equal steps of the picture, up is up, and the ends are the frame's
KK_TEST(plot_places_points) {
    const double x[] = {0, 1, 2, 4}, y[] = {0, 1, 2, 4};
    const plot_series s = {"", x, y, 4, PLOT_LINE};
    kki_xml *xml = plot_one(&s, (plot_axis){0}, (plot_axis){0});
    int32_t node;
    double n[16] = {0};
    KK_CHECK_EQ_INT(path_numbers(path_of(xml, &node), n, 16), 8);
    KK_CHECK_NEAR(n[2] - n[0], (n[6] - n[0]) / 4, 0.011);
    KK_CHECK_NEAR(n[4] - n[2], (n[6] - n[0]) / 4, 0.011);
    KK_CHECK_NEAR(n[1] - n[3], (n[1] - n[7]) / 4, 0.011);
    KK_CHECK(n[6] > n[0] + 500 && n[7] < n[1] - 200);
    kki_xml_free(xml);

    const double lx[] = {1, 10, 100, 1000}, ly[] = {1e-3, 1e-2, 1e-1, 1};
    const plot_series l = {"", lx, ly, 4, PLOT_LINE};
    xml = plot_one(&l, (plot_axis){.is_log = true}, (plot_axis){.is_log = true});
    KK_CHECK_EQ_INT(path_numbers(path_of(xml, &node), n, 16), 8);
    for (int i = 0; i < 3; i++) {
        KK_CHECK_NEAR(n[2 * i + 2] - n[2 * i], (n[6] - n[0]) / 3, 0.011);
        KK_CHECK_NEAR(n[2 * i + 1] - n[2 * i + 3], (n[1] - n[7]) / 3, 0.011);
    }
    kki_xml_free(xml);
}

// what cannot be shown interrupts the line; steps have corners; points have no lines
KK_TEST(plot_gaps_and_styles) {
    const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, 0.0 / 0.0, 4, -1};
    plot_series s = {"", x, y, 5, PLOT_LINE};
    int32_t node;
    kki_xml *xml = plot_one(&s, (plot_axis){0}, (plot_axis){0});
    KK_CHECK_EQ_INT(count_letter(path_of(xml, &node), 'M'), 2);
    KK_CHECK_EQ_INT(count_letter(path_of(xml, &node), 'L'), 2);
    kki_xml_free(xml);
    xml = plot_one(&s, (plot_axis){0}, (plot_axis){.is_log = true});
    KK_CHECK_EQ_INT(count_letter(path_of(xml, &node), 'M'), 2);
    KK_CHECK_EQ_INT(count_letter(path_of(xml, &node), 'L'), 1);
    kki_xml_free(xml);
    s.style = PLOT_STEPS;
    xml = plot_one(&s, (plot_axis){0}, (plot_axis){0});
    KK_CHECK_EQ_INT(count_letter(path_of(xml, &node), 'L'), 4);
    kki_xml_free(xml);
    s.style = PLOT_POINTS;
    xml = plot_one(&s, (plot_axis){0}, (plot_axis){0});
    KK_CHECK_EQ_INT(count_letter(path_of(xml, &node), 'M'), 4);
    KK_CHECK_EQ_INT(count_letter(path_of(xml, &node), 'L'), 0);
    kki_xml_free(xml);
}

// a long series keeps its one spike, and the file stays small
KK_TEST(plot_thins_long_series) {
    enum { N = 200000 };
    double *x = malloc(2 * N * sizeof *x), *y = x + N;
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = i == 123456 ? 100 : i % 2;
    }
    const plot_series s = {"", x, y, N, PLOT_LINE};
    kki_xml *xml = plot_one(&s, (plot_axis){0}, (plot_axis){0});
    int32_t node;
    const char *d = path_of(xml, &node);
    static double n[20000];
    const int count = path_numbers(d, n, 20000);
    double top = 1e9, bottom = 0;
    for (int i = 1; i < count; i += 2) {
        top = n[i] < top ? n[i] : top;
        bottom = n[i] > bottom ? n[i] : bottom;
    }
    KK_CHECK(count < 12000 && count > 2000);
    KK_CHECK(bottom - top > 200);
    kki_xml_free(xml);
    free(x);
}

// nothing at all, one point, equal values, values at the ends of double: a picture in any case
KK_TEST(plot_odd_data) {
    const double nan = 0.0 / 0.0, inf = 1.0 / 0.0;
    const double sets[][2] = {{0, 0},      {5, 5},   {nan, nan},       {inf, -inf},    {1e308, -1e308},
                              {5e-324, 0}, {-1, -2}, {1e15, 1e15 + 1}, {1e-300, 1e300}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (int log = 0; log < 4; log++) {
            for (size_t count = 0; count <= 2; count++) {
                const plot_series s = {"s", sets[i], sets[i], count, PLOT_LINE};
                kki_xml *xml = plot_one(&s, (plot_axis){.is_log = log & 1}, (plot_axis){.is_log = log & 2});
                int32_t node;
                if (!xml || count_elements(xml, "path", "grid", &node) < 3) {
                    KK_FAIL("set %d, log %d, count %d", (int)i, log, (int)count);
                }
                kki_xml_free(xml);
            }
        }
    }
}

KK_TEST(plot_ticks_are_nice) {
    static const struct {
        double low, high;
        int wanted;
        const char *texts;
    } c[] = {
        {0, 1, 5, "0 0.2 0.4 0.6 0.8 1 "},
        {-0.35, 0.31, 6, "-0.4 -0.3 -0.2 -0.1 0 0.1 0.2 0.3 0.4 "},
        {1e-7, 3e-7, 4, "1e-07 1.5e-07 2e-07 2.5e-07 3e-07 "},
        {3, 3, 2, "2.5 3 3.5 "},
        {0, 1e6, 2, "0 500000 1000000 "},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        plot_ticks t = plot_linear_ticks(c[i].low, c[i].high, c[i].wanted, false);
        cli_text text = {0};
        for (int k = 0; k < t.count; k++) {
            text_add_number(&text, t.at[k]);
            text_add(&text, " ");
        }
        KK_CHECK_STR(text_string(&text), c[i].texts);
        KK_CHECK(t.low <= c[i].low && t.high >= c[i].high);
        text_free(&text);
        free(t.at);
    }
    plot_ticks t = plot_log_ticks(2e-5, 30, false);
    KK_CHECK_EQ_INT(t.count, 8);
    KK_CHECK(t.at[0] == 1e-5 && t.at[7] == 100 && t.low == 1e-5 && t.high == 100);
    free(t.at);
    t = plot_log_ticks(3, 60, false);
    KK_CHECK_EQ_INT(t.count, 7); // 1 2 5 10 20 50 100
    free(t.at);
    t = plot_linear_ticks(0.05, 0.95, 5, true);
    KK_CHECK(t.low == 0.05 && t.high == 0.95 && t.at[0] == 0.2 && t.count == 4);
    free(t.at);
}

// names of more than eight curves stand beside them, and leave them the height
KK_TEST(plot_many_names_stand_beside) {
    enum { MANY = 30 };
    const double x[] = {0, 1}, y[] = {0, 1};
    plot_series s[MANY];
    for (int i = 0; i < MANY; i++) {
        s[i] = (plot_series){"right_shoulder_pitch.actuator", x, y, 2, PLOT_LINE};
    }
    const plot_panel panel = {.series = s, .series_count = MANY};
    const plot_figure figure = {.panels = &panel, .panel_count = 1};
    kki_xml *xml = read_plot(&figure);
    const int32_t clip = kki_xml_first(xml, kki_xml_first(xml, KKI_XML_ROOT, "g"), "clipPath");
    const char *height = attribute(xml, kki_xml_first(xml, clip, "rect"), "height");
    KK_CHECK(height && atof(height) > 250);
    int32_t node;
    KK_CHECK(count_elements(xml, "path", "line", &node) >= MANY + 20);
    kki_xml_free(xml);
}

// a path on the ground is as long as it is wide
KK_TEST(plot_equal_scales) {
    const double x[] = {0, 4, 4}, y[] = {0, 0, 1};
    const plot_series s = {"", x, y, 3, PLOT_LINE};
    const plot_panel panel = {.series = &s, .series_count = 1, .is_equal = true};
    const plot_figure figure = {.panels = &panel, .panel_count = 1};
    kki_xml *xml = read_plot(&figure);
    int32_t node;
    double n[8] = {0};
    KK_CHECK_EQ_INT(path_numbers(path_of(xml, &node), n, 8), 6);
    KK_CHECK_NEAR((n[2] - n[0]) / 4, n[3] - n[5], 0.02);
    kki_xml_free(xml);
}
