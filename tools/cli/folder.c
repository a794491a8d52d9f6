// Folders; see folder.h.
#define _XOPEN_SOURCE 700 // readlink, stat
#include "folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

int folder_make(cli *c, const char *path) {
    if (is_folder(path) || mkdir(path, 0777) == 0) {
        return 0;
    }
    return cli_fail(c, CLI_EXIT_INPUT, "the folder %s cannot be made: %s", path, strerror(errno));
}

/// One folder up; false at the root.
static bool go_up(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) {
        *slash = 0;
    }
    return slash != NULL;
}

static bool is_below(const char *above, const char *below, cli_text *path) {
    path->size = 0;
    text_format(path, "%s/%s", above, below);
    return is_folder(text_string(path));
}

/// Looks above the program itself, where the system tells where it is.
static bool find_beside_program(cli_text *path) {
    enum { LEVELS = 4 };
    char here[4096];
    const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    here[length > 0 ? length : 0] = 0;
    for (int i = 0; i < LEVELS && go_up(here); i++) {
        if (is_below(here, "share/karakuri/models", path) || is_below(here, "models", path)) {
            return true;
        }
    }
    return false;
}

void folder_of_models(const char *given, cli_text *path) {
    const char *known = given ? given : getenv("KARAKURI_MODELS");
    if (known && known[0]) {
        text_add(path, known);
    } else if (!find_beside_program(path)) {
        path->size = 0;
        text_add(path, "models");
    }
}
