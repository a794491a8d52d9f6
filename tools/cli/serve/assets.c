// See assets.h. Names are compared whole with what was found in the folder at the start, so no request leads out of it.
#define _XOPEN_SOURCE 700 // readlink
#include "assets.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page.h"

enum { MOST_FILES = 512, MOST_DEPTH = 4 };
static const size_t MOST_BYTES = 64u << 20;

// ---- types

static const char *type_of(const char *name) {
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".mjs", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".json", "application/json"},
                                           {".wasm", "application/wasm"},
                                           {".svg", "image/svg+xml"},
                                           {".png", "image/png"},
                                           {".ico", "image/x-icon"},
                                           {".woff2", "font/woff2"}};
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const size_t k = strlen(types[i][0]);
        if (n > k && strcmp(name + n - k, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return "application/octet-stream";
}

// ---- reading

static bool read_file(const char *path, cli_text *out) {
    char bytes[65536];
    FILE *file = fopen(path, "rb");
    size_t n = 0;
    while (file && (n = fread(bytes, 1, sizeof bytes, file)) > 0 && out->size < MOST_BYTES) {
        text_add_bytes(out, bytes, n);
    }
    const bool is_good = file && !ferror(file) && n == 0;
    if (file) {
        fclose(file);
    }
    return is_good;
}

static void add(assets *a, const char *name, cli_text *bytes) {
    a->item = cli_reallocate(a->item, (size_t)a->count + 1, sizeof *a->item);
    a->item[a->count++] = (asset){cli_copy(name), *bytes, type_of(name)};
    a->size += bytes->size;
    *bytes = (cli_text){0};
}

/// Ordinary files alone, no links, nothing hidden.
static void read_folder(assets *a, const char *folder, const char *prefix, int depth) {
    DIR *directory = depth < MOST_DEPTH ? opendir(folder) : NULL;
    for (struct dirent *e; directory && (e = readdir(directory)) && a->count < MOST_FILES && a->size < MOST_BYTES;) {
        cli_text path = {0}, name = {0}, bytes = {0};
        struct stat info;
        text_format(&path, "%s/%s", folder, e->d_name);
        text_format(&name, "%s%s", prefix, e->d_name);
        if (e->d_name[0] != '.' && lstat(text_string(&path), &info) == 0) {
            if (S_ISDIR(info.st_mode)) {
                text_add(&name, "/");
                read_folder(a, text_string(&path), text_string(&name), depth + 1);
            } else if (S_ISREG(info.st_mode) && read_file(text_string(&path), &bytes)) {
                add(a, text_string(&name), &bytes);
            }
        }
        text_free(&path);
        text_free(&name);
        text_free(&bytes);
    }
    if (directory) {
        closedir(directory);
    }
}

const asset *assets_find(const assets *a, const char *name) {
    for (int i = 0; i < a->count; i++) {
        if (strcmp(a->item[i].name, name) == 0) {
            return &a->item[i];
        }
    }
    return NULL;
}

/// A folder as seen from where the program stands.
static void folder_beside(const char *relative, cli_text *out) {
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    char *slash = strrchr(path, '/');
    if (slash) {
        text_format(out, "%.*s/%s", (int)(slash - path), path, relative);
    }
}

int assets_read(cli *c, const char *folder, assets *a) {
    // of an installation, of a build inside the source tree
    static const char *const beside[] = {"../share/karakuri/viewer", "../../web/viewer/dist"};
    *a = (assets){0};
    if (folder) {
        read_folder(a, folder, "", 0);
    }
    for (size_t i = 0; i < 2 && !folder && !assets_find(a, "index.html"); i++) {
        cli_text path = {0};
        assets_free(a);
        folder_beside(beside[i], &path);
        read_folder(a, text_string(&path), "", 0);
        text_free(&path);
    }
    if (assets_find(a, "index.html")) {
        return 0;
    }
    assets_free(a);
    if (folder) {
        return cli_fail(c, CLI_EXIT_INPUT, "--page: there is no index.html in '%s'", folder);
    }
    cli_text page = {0};
    text_add_bytes(&page, page_html, page_html_size);
    add(a, "index.html", &page);
    return 0;
}

void assets_free(assets *a) {
    for (int i = 0; i < a->count; i++) {
        free(a->item[i].name);
        text_free(&a->item[i].bytes);
    }
    free(a->item);
    *a = (assets){0};
}

// ---- pages

/// The last place where a word stands; the end where it does not.
static const char *last_place(const char *text, const char *word) {
    const char *found = text + strlen(text);
    for (const char *p = strstr(text, word); p; p = strstr(p + 1, word)) {
        found = p;
    }
    return found;
}

void assets_film(const assets *a, const char *element, cli_text *out) {
    const asset *film = assets_find(a, "film.html");
    const char *html = film ? text_string(&film->bytes) : page_html;
    // the small page reads the element at once, the large one when the page is whole
    const char *cut = film ? last_place(html, "</body>") : strstr(html, "<script>");
    text_add_bytes(out, html, (size_t)(cut - html));
    text_add(out, element);
    text_add(out, cut);
}
