/// Where pictures go: a PNG file, a folder of them, or a film by ffmpeg.
#ifndef KARAKURI_CLI_RENDER_FILM_H
#define KARAKURI_CLI_RENDER_FILM_H

#include <sys/types.h>

#include "../cli.h"
#include "picture.h"

typedef enum film_kind { FILM_STILL, FILM_FOLDER, FILM_MOVIE } film_kind;

typedef struct film {
    cli *c;
    film_kind kind;
    const char *path;
    FILE *pipe;
    pid_t process;
    long count;
} film;

/// By the path's ending: .png, a slash (or a folder that exists), .mp4, .webm, .mkv, .mov or .gif.
int film_kind_of(cli *c, const char *path, film_kind *kind);
int film_open(cli *c, const char *path, int width, int height, double rate, film *f);
int film_add(film *f, const picture *p);
/// 0, or the exit code after an error, which is ffmpeg's, too.
int film_close(film *f);

#endif
