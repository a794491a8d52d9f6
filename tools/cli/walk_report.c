// Summary and page of a simulated walk; see walk_report.h.
#include "walk_report.h"

#include <stdlib.h>
#include <string.h>

#include "save.h"

walk_report *walk_report_create(cli *c) {
    walk_report *r = cli_allocate(1, sizeof *r);
    r->s.c = c;
    r->path = exam_plot(&r->s.exam, "way of the center of mass", "x / m", "y / m", false);
    r->zmp_x = exam_plot(&r->s.exam, "zero-moment point, forward", "time / s", "x / m", false);
    r->zmp_y = exam_plot(&r->s.exam, "zero-moment point, sideways", "time / s", "y / m", false);
    r->force = exam_plot(&r->s.exam, "floor reaction", "time / s", "vertical force / N", false);
    r->tilt = exam_plot(&r->s.exam, "inclination of the body", "time / s", "angle / °", false);
    return r;
}

void walk_report_free(walk_report *r) {
    study_free(&r->s);
    free(r);
}

void walk_report_watch(void *user, const walker_moment *m) {
    walk_report *r = user;
    exam *e = &r->s.exam;
    if (r->count++ % 10) {
        return;
    }
    if (m->zmp.x == m->zmp.x) {
        exam_point(e, r->zmp_x, "measured", m->time, m->zmp.x);
        exam_point(e, r->zmp_x, "plan (reference)", m->time, m->plan.zmp.x);
        exam_point(e, r->zmp_y, "measured", m->time, m->zmp.y);
        exam_point(e, r->zmp_y, "plan (reference)", m->time, m->plan.zmp.y);
    }
    exam_point(e, r->force, "left foot", m->time, m->force[KK_LEFT]);
    exam_point(e, r->force, "right foot", m->time, m->force[KK_RIGHT]);
    exam_point(e, r->path, "center of mass", m->com.x, m->com.y);
    exam_point(e, r->path, "plan (reference)", m->plan.com.x, m->plan.com.y);
    exam_point(e, r->tilt, "body", m->time, 180 / KK_PI * m->tilt);
}

// ---- on the screen

static void print_efforts(const cli *c, const walker_result *w, cli_text *out) {
    const int half = (w->efforts + 1) / 2;
    text_format(out, "\n%s  %-24s%9s %9s      %-24s%9s %9s%s\n", cli_style(c, CLI_BOLD), "peaks by joint", "N m", "W",
                "", "N m", "W", cli_style(c, CLI_PLAIN));
    for (int i = 0; i < half; i++) {
        const walker_effort *a = &w->effort[i];
        text_format(out, "  %-24s%9.1f %9.1f", a->joint, a->torque, a->power);
        if (i + half < w->efforts) {
            const walker_effort *b = &w->effort[i + half];
            text_format(out, "      %-24s%9.1f %9.1f", b->joint, b->torque, b->power);
        }
        text_add(out, "\n");
    }
}

void walk_print(const cli *c, const walker_result *w, cli_text *out) {
    if (w->fell) {
        text_format(out, "  outcome       %sfell after %.2f s%s\n", cli_style(c, CLI_RED), w->fall_time,
                    cli_style(c, CLI_PLAIN));
    } else {
        text_format(out, "  outcome       %swalked to the end%s, %.1f mm from where it should be\n",
                    cli_style(c, CLI_GREEN), cli_style(c, CLI_PLAIN), 1e3 * w->place_error);
    }
    text_format(out, "  speed         %.3g s simulated in %.3g s: %.0f times real time\n", w->duration, w->wall,
                w->wall > 0 ? w->duration / w->wall : 0);
    text_format(out, "  residual      at most %.2g m/s, ", w->residual);
    if (w->uncertified > 0) {
        text_format(out, "%ld steps not certified", w->uncertified);
    } else {
        text_add(out, "every step certified");
    }
    text_format(out, "; at most %d contacts\n", w->contacts);
    if (w->observer_time[1] > 0) {
        text_format(out,
                    "  observer      center of mass within %.2f mm, ZMP %.1f mm and torques %.2g N m in the root mean "
                    "square; %.1f µs a call, 99.99 %% below %.1f µs\n",
                    1e3 * w->com_error, 1e3 * w->zmp_observed, w->torque_error, 1e6 * w->observer_time[0],
                    1e6 * w->observer_time[1]);
    }
    text_format(
        out, "  ZMP           %.1f mm from the plan in the mean; contact forces and inverse dynamics agree to %.1g m\n",
        1e3 * w->zmp_error, w->zmp_gap);
    text_format(out, "  ZMP margin    %.1f mm in the mean, at least 5 mm inside the soles %.1f %% of the time\n",
                1e3 * w->margin_mean, 100 * w->share_within);
    text_format(out, "  inclination   at most %.2f°\n", 180 / KK_PI * w->tilt);
    print_efforts(c, w, out);
}

void walk_write_json(json_writer *json, const walker_result *w) {
    json_begin_object(json, "simulation");
    json_bool(json, "fell", w->fell);
    json_number(json, "duration", w->duration);
    json_number(json, "real_time_factor", w->wall > 0 ? w->duration / w->wall : 0);
    json_number(json, "residual", w->residual);
    json_number(json, "zmp_gap", w->zmp_gap);
    json_number(json, "zmp_error", w->zmp_error);
    json_number(json, "zmp_margin", w->margin_mean);
    json_number(json, "place_error", w->place_error);
    if (w->observer_time[1] > 0) {
        json_begin_object(json, "observer");
        json_number(json, "com_error", w->com_error);
        json_number(json, "zmp_error", w->zmp_observed);
        json_number(json, "torque_error", w->torque_error);
        json_number(json, "median_time", w->observer_time[0]);
        json_number(json, "worst_time", w->observer_time[1]);
        json_end(json);
    }
    json_begin_array(json, "joints");
    for (int i = 0; i < w->efforts; i++) {
        json_begin_object(json, NULL);
        json_string(json, "name", w->effort[i].joint);
        json_number(json, "peak_torque", w->effort[i].torque);
        json_number(json, "peak_power", w->effort[i].power);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

// ---- the page

static void add_efforts(cli_text *html, const walker_result *w) {
    text_add(html, "<h2>Peaks by joint</h2><table><tr><th>joint</th><th>torque / N m</th><th>power / W</th></tr>\n");
    for (int i = 0; i < w->efforts; i++) {
        text_add(html, "<tr><td>");
        plot_escape(html, w->effort[i].joint);
        text_format(html, "</td><td>%.1f</td><td>%.1f</td></tr>\n", w->effort[i].torque, w->effort[i].power);
    }
    text_add(html, "</table>\n");
}

static void begin_page(cli_text *html, const char *model) {
    text_add(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Karakuri: a walk</title>\n"
        "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,Arial,sans-serif;max-width:60rem;"
        "margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;font-size:.9rem}th,td{text-align:left;"
        "padding:.3rem .8rem;border-bottom:1px solid #8886}img{max-width:100%}.good{color:#2da44e}.bad{color:#e5534b}"
        ".soft,blockquote{opacity:.75}blockquote{margin:.5rem 0;padding-left:1rem;border-left:3px solid #8886}"
        "</style></head><body>\n<h1>");
    plot_escape(html, model);
    text_add(html, " walks</h1>\n");
}

int walk_write_page(cli *c, const char *path, const char *model, walk_report *r, const walker_result *w) {
    static const study_def def = {
        .seed = "walk",
        .name = "walk",
        .title = "The walk in simulation",
        .paper =
            "A pattern by preview control of the ZMP, followed by position servos; every step of the simulation is "
            "certified."};
    cli_text html = {0};
    char words[80];
    snprintf(words, sizeof words, w->fell ? "fell after %.2f s" : "walked to the end in %.2f s",
             w->fell ? w->fall_time : w->duration);
    study_fact(&r->s, "outcome", "", words, "to the end", !w->fell);
    study_at_most(&r->s, "worst residual of a step", "", w->residual, "m/s", 1e-9);
    study_at_most(&r->s, "ZMP of contact forces against ZMP of inverse dynamics", "", w->zmp_gap, "m", 1e-6);
    study_note(
        &r->s,
        "%.0f times real time. The ZMP is %.1f mm from the plan and %.1f mm inside the soles in the mean, and at "
        "least 5 mm inside them %.1f %% of the time.",
        w->wall > 0 ? w->duration / w->wall : 0, 1e3 * w->zmp_error, 1e3 * w->margin_mean, 100 * w->share_within);
    r->s.seconds = w->wall;
    begin_page(&html, model);
    study_write_html(&html, &def, &r->s);
    add_efforts(&html, w);
    study_end_html(&html);
    const int code = save_bytes(c, path, html.bytes, html.size);
    text_free(&html);
    return code;
}
