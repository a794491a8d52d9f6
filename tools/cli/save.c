// Robot files out: URDF or MJCF by the ending of the name.
#define _XOPEN_SOURCE 700 // realpath
#include "save.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const save_formats[] = {"auto", "urdf", "mjcf", NULL};

static bool ends_with(const char *text, const char *end) {
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

save_format save_format_of(cli *c, const char *path, save_format wanted) {
    if (wanted != SAVE_BY_NAME) {
        return wanted;
    }
    if (ends_with(path, ".urdf")) {
        return SAVE_URDF;
    }
    if (ends_with(path, ".xml") || ends_with(path, ".mjcf")) {
        return SAVE_MJCF;
    }
    cli_fail(c, CLI_EXIT_USAGE, "'%s' ends neither in .urdf nor in .xml — say which with --to urdf or --to mjcf", path);
    return SAVE_BY_NAME;
}

int save_bytes(cli *c, const char *path, const char *bytes, size_t size) {
    if (strcmp(path, "-") == 0) {
        fwrite(bytes, 1, size, stdout); // cli_finish looks whether it went well
        return 0;
    }
    kk_error error = {0};
    return kk_file_write(path, bytes, size, &error) == KK_OK ? 0 : cli_fail_error(c, &error);
}

int save_check_other(cli *c, const char *in, const char *out) {
    struct stat a, b;
    const bool is_same = stat(in, &a) == 0 && stat(out, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    return is_same ? cli_fail(c, CLI_EXIT_USAGE, "%s would be written over itself — name another file", in) : 0;
}

/// The folder of a path, "." where it has none.
static void add_folder(const char *path, cli_text *out) {
    const char *slash = strrchr(path, '/');
    if (!slash) {
        text_add(out, ".");
    } else {
        text_add_bytes(out, path, slash == path ? 1 : (size_t)(slash - path));
    }
}

static kk_status write_spec(const kk_spec *spec, save_format format, const kk_save_options *options, char **text,
                            size_t *size, kk_error *error) {
    return format == SAVE_MJCF ? kk_spec_write_mjcf(spec, options, NULL, text, size, error)
                               : kk_spec_write_urdf(spec, options, NULL, text, size, error);
}

/// The folder from the root of the file system, where it exists.
static void make_absolute(cli_text *path) {
    char *whole = realpath(text_string(path), NULL);
    if (whole) {
        path->size = 0;
        text_add(path, whole);
        free(whole);
    }
}

/// Paths of meshes from the root, so that they can be told from anywhere; counts those outside of the folder.
static int settle_meshes(kk_spec *spec, const char *folder) {
    int outside = 0;
    for (int i = 0; i < kk_spec_mesh_count(spec); i++) {
        kk_mesh_def *mesh = kk_spec_mesh(spec, i);
        char *whole = mesh->file && mesh->file[0] ? realpath(mesh->file, NULL) : NULL;
        if (whole) {
            const size_t length = strlen(folder);
            outside += strncmp(whole, folder, length) != 0 || whole[length] != '/';
            kk_spec_keep_text(spec, whole, &mesh->file, NULL);
            free(whole);
        }
    }
    return outside;
}

/// The same of textures, which the file that names them has beside it.
static void settle_textures(kk_spec *spec) {
    for (int i = 0; i < kk_spec_visual_count(spec); i++) {
        kk_visual_def *look = kk_spec_visual(spec, i);
        cli_text path = {0};
        if (look->texture && look->texture[0] && look->texture[0] != '/' && look->origin.file) {
            add_folder(look->origin.file, &path);
            text_format(&path, "/%s", look->texture);
            char *whole = realpath(text_string(&path), NULL);
            if (whole) {
                kk_spec_keep_text(spec, whole, &look->texture, NULL);
            }
            free(whole);
        }
        text_free(&path);
    }
}

int save_spec(cli *c, kk_spec *spec, const char *path, save_format format) {
    cli_text folder = {0};
    char *text = NULL;
    size_t size = 0;
    kk_error error = {0};
    add_folder(path, &folder);
    make_absolute(&folder);
    const int outside = settle_meshes(spec, text_string(&folder));
    settle_textures(spec);
    const kk_save_options options = {.directory = text_string(&folder)};
    error.status = write_spec(spec, format, &options, &text, &size, &error);
    const int code = error.status ? cli_fail_error(c, &error) : save_bytes(c, path, text, size);
    if (!code && outside > 0) {
        cli_note(c, "%d mesh%s outside of the new file's folder; load it with --search DIR, the folder they are below",
                 outside, outside == 1 ? " is" : "es are");
    }
    kk_text_free(NULL, text, size);
    text_free(&folder);
    return code;
}
