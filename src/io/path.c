/// Joining, splitting and resolving paths, by text; links are read through a function of the caller.
#include "path.h"

#include <string.h>

enum { MOST_LINKS = 40 };

bool kki_path_is_absolute(const char *path) {
    return path[0] == '/';
}

bool kki_path_join(const char *first, const char *second, char result[KKI_PATH_SIZE]) {
    const bool is_alone = first[0] == 0 || kki_path_is_absolute(second);
    const size_t start = is_alone ? 0 : strlen(first);
    const size_t slash = !is_alone && first[start - 1] != '/' && second[0] != 0 ? 1 : 0;
    const size_t length = strlen(second);
    if (start + slash + length >= KKI_PATH_SIZE) {
        return false;
    }
    memmove(result + start + slash, second, length + 1);
    memmove(result, first, start);
    if (slash) {
        result[start] = '/';
    }
    return true;
}

bool kki_path_parent(const char *path, char result[KKI_PATH_SIZE]) {
    const size_t length = strlen(path);
    if (length == 0 || length >= KKI_PATH_SIZE || strcmp(path, "/") == 0) {
        return false;
    }
    const char *slash = strrchr(path, '/');
    const size_t n = !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
    memmove(result, path, n);
    result[n] = 0;
    return true;
}

const char *kki_path_last(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool kki_path_is_below(const char *path, const char *directory) {
    const size_t length = strlen(directory);
    if (length == 0) {
        return !kki_path_is_absolute(path); // relative paths: the directory they start from
    }
    if (strncmp(path, directory, length) != 0) {
        return false;
    }
    return directory[length - 1] == '/' || path[length] == '/' || path[length] == 0;
}

// ---- canonical paths

/// A path on its way: what is done stands in `done`, what is to come in `rest`.
typedef struct walk {
    char *done;
    size_t used;
    char rest[KKI_PATH_SIZE];
    int links;
} walk;

/// Takes one part off a path: its start and length; false at the end.
static bool next_part(const char **rest, const char **part, size_t *length) {
    *rest += strspn(*rest, "/");
    *part = *rest;
    *length = strcspn(*rest, "/");
    *rest += *length;
    return *length > 0;
}

static kk_status go_up(walk *w) {
    if (w->used == 0) {
        return KK_INVALID_ARGUMENT;
    }
    while (w->used > 0 && w->done[w->used - 1] != '/') {
        w->used--;
    }
    w->used -= w->used > 1 ? 1 : 0; // the slash before it, unless it is the root's
    w->done[w->used] = 0;
    return KK_OK;
}

static kk_status go_down(walk *w, const char *part, size_t length) {
    const size_t slash = w->used > 0 && w->done[w->used - 1] != '/' ? 1 : 0;
    if (w->used + slash + length >= KKI_PATH_SIZE) {
        return KK_LIMIT_EXCEEDED;
    }
    memcpy(w->done + w->used, "/", slash);
    memcpy(w->done + w->used + slash, part, length);
    w->used += slash + length;
    w->done[w->used] = 0;
    return KK_OK;
}

static void start_over(walk *w, const char *path) {
    w->used = kki_path_is_absolute(path) ? 1 : 0;
    w->done[0] = '/';
    w->done[w->used] = 0;
}

/// The path so far is a link: go on from where it leads. `rest` is what is to come after it.
static kk_status follow(walk *w, char target[KKI_PATH_SIZE], const char *rest) {
    char old_rest[KKI_PATH_SIZE];
    memcpy(old_rest, rest, strlen(rest) + 1);
    if (++w->links > MOST_LINKS || !kki_path_join(target, old_rest + strspn(old_rest, "/"), w->rest)) {
        return KK_LIMIT_EXCEEDED;
    }
    if (kki_path_is_absolute(target)) {
        start_over(w, target);
        return KK_OK;
    }
    return go_up(w);
}

kk_status kki_path_canonical(const char *path, kki_path_read_link *read_link, void *user, char result[KKI_PATH_SIZE]) {
    walk w = {.done = result};
    if (strlen(path) >= KKI_PATH_SIZE) {
        return KK_LIMIT_EXCEEDED;
    }
    memcpy(w.rest, path, strlen(path) + 1);
    start_over(&w, path);
    const char *rest = w.rest, *part;
    size_t length;
    kk_status status = KK_OK;
    while (status == KK_OK && next_part(&rest, &part, &length)) {
        if (length == 1 && part[0] == '.') {
            continue;
        }
        if (length == 2 && memcmp(part, "..", 2) == 0) {
            status = go_up(&w);
            continue;
        }
        char target[KKI_PATH_SIZE];
        status = go_down(&w, part, length);
        const int link = status == KK_OK && read_link ? read_link(user, result, target) : 0;
        if (link > 0) {
            status = follow(&w, target, rest);
            rest = w.rest;
        }
        status = link < 0 ? KK_LIMIT_EXCEEDED : status;
    }
    return status;
}

bool kki_path_from(const char *directory, const char *file, char result[KKI_PATH_SIZE]) {
    size_t same = 0, i = 0;
    for (; directory[i] && directory[i] == file[i]; i++) {
        same = directory[i] == '/' ? i + 1 : same;
    }
    if (!directory[i] && file[i] == '/') {
        same = i + 1;
    }
    result[0] = 0;
    const char *rest = same > i ? "" : directory + same;
    for (const char *part = rest; *part;) {
        const size_t length = strcspn(part, "/");
        if (length > 0 && (!kki_path_join(result, "..", result))) {
            return false;
        }
        part += length + (part[length] == '/');
    }
    return kki_path_join(result, file + same, result);
}
