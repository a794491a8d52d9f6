/// What a simulated walk was like: curves while it runs, a summary on the screen, and an HTML page.
#ifndef KARAKURI_CLI_WALK_REPORT_H
#define KARAKURI_CLI_WALK_REPORT_H

#include "reproduce/reproduce.h"
#include "walker.h"

typedef struct walk_report {
    study s; ///< panels, checks, notes
    int zmp_x, zmp_y, force, path, tilt, count;
} walk_report;

walk_report *walk_report_create(cli *c);
void walk_report_free(walk_report *r);
/// For walker_options.watch, the report as its user.
void walk_report_watch(void *user, const walker_moment *m);

void walk_print(const cli *c, const walker_result *w, cli_text *out);
void walk_write_json(json_writer *json, const walker_result *w);
/// 0, or the exit code after an error.
int walk_write_page(cli *c, const char *path, const char *model, walk_report *r, const walker_result *w);

#endif
