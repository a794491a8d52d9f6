/// The page: files of a folder, read once; or the small page that is part of the program.
#ifndef KARAKURI_CLI_SERVE_ASSETS_H
#define KARAKURI_CLI_SERVE_ASSETS_H

#include "../cli.h"

typedef struct asset {
    char *name; ///< path from the folder, "assets/main.js"
    cli_text bytes;
    const char *type;
} asset;

typedef struct assets {
    asset *item;
    int count;
    size_t size; ///< of all
} assets;

/// Reads the page's folder: the given one, that of the installation or of the source tree; else the small page.
/// @param folder  NULL: the first that there is
int assets_read(cli *c, const char *folder, assets *a);
void assets_free(assets *a);
/// By exact name, "index.html"; NULL: none.
const asset *assets_find(const assets *a, const char *name);
/// A page in one file with an element inside it: film.html of the folder, or the small page.
void assets_film(const assets *a, const char *element, cli_text *out);

#endif
