// karakuri version
#include "cli.h"

static int run(cli *c, const void *options) {
    (void)options;
    if (!c->common.json) {
        printf("karakuri %s\n", kk_version());
        return CLI_EXIT_OK;
    }
    json_writer json = {0};
    cli_begin_document(c, &json);
    json_string(&json, "version", kk_version());
    json_begin_line(&json, "variants");
    for (int i = 0; kk_batch_variant_name(i); i++) {
        json_string(&json, NULL, kk_batch_variant_name(i));
    }
    json_end(&json);
    return cli_end_document(c, &json);
}

const cli_verb cli_verb_version = {.name = "version", .about = "print the version", .run = run};
