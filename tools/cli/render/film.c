// Pictures to files; see film.h. ffmpeg is started by its arguments, never by a shell, so that names are names.
#define _XOPEN_SOURCE 700 // fork, fdopen
#include "film.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../save.h"

static bool ends_with(const char *path, const char *end) {
    const size_t n = strlen(path), k = strlen(end);
    return n >= k && strcmp(path + n - k, end) == 0;
}

static bool is_folder(const char *path) {
    struct stat info;
    return ends_with(path, "/") || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

int film_kind_of(cli *c, const char *path, film_kind *kind) {
    static const char *const movies[] = {".mp4", ".webm", ".mkv", ".mov", ".gif"};
    *kind = FILM_STILL;
    for (size_t i = 0; i < sizeof movies / sizeof *movies; i++) {
        *kind = ends_with(path, movies[i]) ? FILM_MOVIE : *kind;
    }
    *kind = is_folder(path) ? FILM_FOLDER : *kind;
    return *kind == FILM_STILL && !ends_with(path, ".png")
               ? cli_fail(
                     c, CLI_EXIT_USAGE,
                     "--out: '%s' is neither a picture (.png), nor a folder (frames/), nor a film (.mp4, .webm, .gif)",
                     path)
               : 0;
}

/// Becomes ffmpeg, reading raw pictures from a descriptor.
static void run_ffmpeg(const char *path, int width, int height, double rate, int input) {
    char size[32], rates[32], target[4100];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rates, sizeof rates, "%.6g", rate);
    // a name that begins with '-' or holds ':' stays a name
    snprintf(target, sizeof target, "file:%s", path);
    dup2(input, STDIN_FILENO);
    setpgid(0, 0); // Ctrl-C is for us: it gets all pictures and then the end of its input
    const int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    const char *const movie[] = {"ffmpeg", "-loglevel", "error",   "-y",   "-f",  "rawvideo", "-pix_fmt",
                                 "rgb24",  "-s",        size,      "-r",   rates, "-i",       "-",
                                 "-an",    "-pix_fmt",  "yuv420p", "-crf", "20",  target,     NULL};
    const char *const gif[] = {"ffmpeg", "-loglevel", "error",    "-y",
                               "-f",     "rawvideo",  "-pix_fmt", "rgb24",
                               "-s",     size,        "-r",       rates,
                               "-i",     "-",         "-vf",      "split[a][b];[a]palettegen[p];[b][p]paletteuse",
                               target,   NULL};
    execvp("ffmpeg", (char *const *)(ends_with(path, ".gif") ? gif : movie)); // NOLINT: POSIX takes it so
    _exit(127);
}

static int open_movie(film *f, int width, int height, double rate) {
    int ends[2];
    if (strlen(f->path) > 4000 || pipe(ends) != 0) {
        return cli_fail(f->c, CLI_EXIT_LIMIT, "no pipe for ffmpeg: %s", strerror(errno));
    }
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    f->process = fork();
    if (f->process == 0) {
        run_ffmpeg(f->path, width, height, rate, ends[0]);
    }
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN); // an ffmpeg that is not there is told at the end
    f->pipe = f->process > 0 ? fdopen(ends[1], "wb") : NULL;
    return f->pipe ? 0 : cli_fail(f->c, CLI_EXIT_LIMIT, "ffmpeg cannot be started: %s", strerror(errno));
}

int film_open(cli *c, const char *path, int width, int height, double rate, film *f) {
    *f = (film){.c = c, .path = path};
    int code = film_kind_of(c, path, &f->kind);
    if (!code && f->kind == FILM_FOLDER && mkdir(path, 0777) != 0 && errno != EEXIST) {
        code = cli_fail(c, CLI_EXIT_INPUT, "%s cannot be made: %s", path, strerror(errno));
    }
    if (!code && f->kind == FILM_MOVIE && (width % 2 || height % 2)) {
        code = cli_fail(c, CLI_EXIT_USAGE, "--size: films need even numbers");
    }
    return !code && f->kind == FILM_MOVIE ? open_movie(f, width, height, rate) : code;
}

static int add_file(film *f, const picture *p) {
    cli_text name = {0}, bytes = {0};
    if (f->kind == FILM_FOLDER) {
        text_format(&name, "%s%s%05ld.png", f->path, ends_with(f->path, "/") ? "" : "/", f->count);
    } else {
        text_add(&name, f->path);
    }
    picture_png(p, &bytes);
    const int code = save_bytes(f->c, text_string(&name), bytes.bytes, bytes.size);
    text_free(&name);
    text_free(&bytes);
    return code;
}

int film_add(film *f, const picture *p) {
    const size_t size = (size_t)p->width * (size_t)p->height * 3;
    int code = 0;
    if (f->kind != FILM_MOVIE) {
        code = add_file(f, p);
    } else if (fwrite(p->rgb, 1, size, f->pipe) != size) {
        code = film_close(f);
        code = code ? code : cli_fail(f->c, CLI_EXIT_INPUT, "ffmpeg took no more pictures");
    }
    f->count++;
    return code;
}

int film_close(film *f) {
    int status = 0;
    if (!f->pipe) {
        return 0;
    }
    fclose(f->pipe);
    f->pipe = NULL;
    while (waitpid(f->process, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 127
               ? cli_fail(
                     f->c, CLI_EXIT_INPUT,
                     "there is no ffmpeg — install it (sudo apt-get install ffmpeg), or write pictures: --out frames/")
               : cli_fail(f->c, CLI_EXIT_INPUT, "ffmpeg could not write %s", f->path);
}
