// karakuri render MODEL|RECORDING --out still.png|frames/|film.mp4: pictures without a graphics card.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "render/cast.h"
#include "render/draw.h"
#include "render/film.h"
#include "render/player.h"
#include "render/signs.h"
#include "shared_options.h"

typedef struct render_options {
    const char *source, *model, *out, *keyframe, *control, *size, *view, *look, *follow;
    double at, from, to, time, dt, rate, speed, angle, zoom, distance;
    int64_t detail;
    int background;
    bool forces, balance, collision, no_floor, still_camera;
} render_options;

static const render_options defaults = {.at = -1, .from = -1, .to = -1, .rate = 30, .speed = 1, .angle = 28, .zoom = 1};

static const char *const backgrounds[] = {"sky", "white", "dark", NULL};

static const cli_option arguments[] = {
    {.name = "SOURCE",
     .kind = CLI_MODEL,
     .is_required = true,
     .offset = offsetof(render_options, source),
     .about = "a recording of 'karakuri run --out', a model file, or robot:NAME"},
    {.name = NULL},
};

static const cli_option options_table[] = {
    {.name = "out",
     .letter = 'o',
     .kind = CLI_FILE,
     .is_required = true,
     .offset = offsetof(render_options, out),
     .value = "PATH",
     .about = "still.png, a folder for numbered pictures (frames/), or film.mp4, .webm, .mkv, .mov, .gif by ffmpeg"},
    {.name = "at",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, at),
     .value = "T",
     .low = 0,
     .high = 1e9,
     .about = "moment of a still, in s; without it the last one"},
    {.name = "from",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, from),
     .value = "T",
     .low = 0,
     .high = 1e9,
     .about = "first moment of a film, in s"},
    {.name = "to",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, to),
     .value = "T",
     .low = 0,
     .high = 1e9,
     .about = "last moment of a film, in s"},
    {.name = "fps",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, rate),
     .value = "N",
     .low = 1,
     .high = 1000,
     .about = "pictures a second (default 30)"},
    {.name = "speed",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, speed),
     .value = "X",
     .low = 1e-4,
     .high = 1e4,
     .about = "of a film against time: 0.25 is slow motion (default 1)"},
    {.name = "size",
     .kind = CLI_TEXT,
     .offset = offsetof(render_options, size),
     .value = "WxH",
     .about = "of the picture, in pixels (default 1280x720)"},
    {.name = "view",
     .kind = CLI_TEXT,
     .offset = offsetof(render_options, view),
     .value = "AZ,EL",
     .about = "where the camera stands: degrees from x towards y, degrees above the floor (default -55,16)"},
    {.name = "zoom",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, zoom),
     .value = "X",
     .low = 0.01,
     .high = 100,
     .about = "nearer than what shows everything (default 1)"},
    {.name = "angle",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, angle),
     .value = "DEG",
     .low = 1,
     .high = 120,
     .about = "angle of view from bottom to top (default 28)"},
    {.name = "look",
     .kind = CLI_TEXT,
     .offset = offsetof(render_options, look),
     .value = "X,Y,Z",
     .about = "look at this point, with --distance"},
    {.name = "distance",
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, distance),
     .value = "D",
     .low = 1e-6,
     .high = 1e6,
     .about = "from the camera to what it looks at, in m; without it so that everything is seen"},
    {.name = "follow",
     .kind = CLI_TEXT,
     .offset = offsetof(render_options, follow),
     .value = "BODY",
     .about = "move the camera with this body; without it with what goes far"},
    {.name = "still-camera",
     .kind = CLI_FLAG,
     .offset = offsetof(render_options, still_camera),
     .about = "never move the camera"},
    {.name = "forces",
     .kind = CLI_FLAG,
     .offset = offsetof(render_options, forces),
     .about = "draw the forces of contacts as arrows (recordings are simulated again for it)"},
    {.name = "balance",
     .kind = CLI_FLAG,
     .offset = offsetof(render_options, balance),
     .about = "draw center of mass, center of pressure (ZMP) and the polygon of support"},
    {.name = "collision",
     .kind = CLI_FLAG,
     .offset = offsetof(render_options, collision),
     .about = "draw what collides instead of what is seen"},
    {.name = "no-floor",
     .kind = CLI_FLAG,
     .offset = offsetof(render_options, no_floor),
     .about = "draw no floor where the model has none"},
    {.name = "background",
     .kind = CLI_CHOICE,
     .offset = offsetof(render_options, background),
     .value = "KIND",
     .choices = backgrounds,
     .about = "sky, white or dark"},
    {.name = "detail",
     .kind = CLI_COUNT,
     .offset = offsetof(render_options, detail),
     .value = "N",
     .low = 1,
     .high = 3,
     .about = "of light and shadow: 1 quick, 3 finest (default 2 for stills, 1 for films)"},
    {.name = "time",
     .letter = 't',
     .kind = CLI_NUMBER,
     .offset = offsetof(render_options, time),
     .value = "T",
     .low = 0,
     .high = 1e6,
     .about = "simulate a model for so long, in s; without it it is drawn as it stands"},
    OPTION_DT(render_options, "time step for that, in s; without it the model's"),
    OPTION_KEYFRAME(render_options, "start from this keyframe of the model"),
    OPTION_CONTROL(render_options, "CSV table of controls, as for 'run'"),
    OPTION_RECORDED_MODEL(render_options, "the model of a recording, where it is no longer where it was recorded from"),
    {.name = NULL},
};

typedef struct job {
    cli *c;
    const render_options *o;
    player p;
    cast cast;
    drawing d;
    camera camera;
    picture picture;
    film film;
    int width, height;
    double azimuth, elevation;
    double first, last; ///< moments, s
    long frames;
    bool is_following;
    int follow_body; ///< −1: the middle of everything
    v3 *point;       ///< corners of what is framed at all moments looked at
    int point_count, point_room;
    v3 start;   ///< where the followed thing was first
    float size; ///< of the scene, m
} job;

// ---- the command line

/// Two numbers with a sign between.
static int two_numbers(job *j, const char *option, const char *text, char sign, double *a, double *b) {
    size_t used = 0, more = 0;
    if (!text) {
        return 0;
    }
    const size_t n = strlen(text);
    if (kk_number_parse(text, n, a, &used) != KK_OK || used == 0 || text[used] != sign ||
        kk_number_parse(text + used + 1, n - used - 1, b, &more) != KK_OK || more == 0 || text[used + 1 + more]) {
        return cli_fail(j->c, CLI_EXIT_USAGE, "--%s: '%s' is not two numbers with '%c' between", option, text, sign);
    }
    return 0;
}

static int read_size(job *j) {
    double width = 1280, height = 720;
    const int code = two_numbers(j, "size", j->o->size, 'x', &width, &height);
    j->width = (int)width;
    j->height = (int)height;
    const bool is_good = width >= 16 && height >= 16 && width <= 8192 && height <= 8192;
    return code || is_good ? code : cli_fail(j->c, CLI_EXIT_USAGE, "--size: from 16x16 to 8192x8192");
}

static int read_visual(job *j, v3 *target) {
    double x[3] = {0, 0, 0};
    const char *text = j->o->look;
    size_t used = 0;
    for (int i = 0; i < 3; i++, text += used + (i < 3 && text[used] == ',')) {
        if (kk_number_parse(text, strlen(text), &x[i], &used) != KK_OK || used == 0) {
            return cli_fail(j->c, CLI_EXIT_USAGE, "--look: '%s' is not three numbers with commas between", j->o->look);
        }
    }
    *target = v3_make((float)x[0], (float)x[1], (float)x[2]);
    return 0;
}

static int read_options(job *j) {
    j->azimuth = -55;
    j->elevation = 16;
    const int code = two_numbers(j, "view", j->o->view, ',', &j->azimuth, &j->elevation);
    return code ? code : read_size(j);
}

// ---- times

static int find_times(job *j) {
    const render_options *o = j->o;
    const bool is_still = j->film.kind == FILM_STILL;
    const double asked = is_still ? o->at : o->from;
    if (asked > j->p.end) {
        return cli_fail(j->c, CLI_EXIT_USAGE, "--%s: %g s is behind the end, at %g s", is_still ? "at" : "from", asked,
                        j->p.end);
    }
    if (!is_still && o->to >= 0 && o->from > o->to) {
        return cli_fail(j->c, CLI_EXIT_USAGE, "--from: %g s is behind --to, %g s", o->from, o->to);
    }
    j->last = is_still ? (o->at >= 0 ? o->at : j->p.end) : (o->to >= 0 ? o->to : j->p.end);
    j->last = j->last > j->p.end ? j->p.end : j->last < j->p.start ? j->p.start : j->last;
    j->first = is_still ? j->last : o->from >= 0 && o->from < j->last ? o->from : j->p.start;
    j->frames = is_still ? 1 : (long)((j->last - j->first) / o->speed * o->rate + 1e-6) + 1;
    return 0;
}

static double time_of(const job *j, long frame) {
    const double t = j->first + (double)frame * j->o->speed / j->o->rate;
    return t > j->last ? j->last : t;
}

// ---- what the camera looks at

static void add_point(job *j, v3 p) {
    if (j->point_count == j->point_room) {
        j->point_room = j->point_room ? 2 * j->point_room : 256;
        j->point = cli_reallocate(j->point, (size_t)j->point_room, sizeof *j->point);
    }
    j->point[j->point_count++] = p;
}

/// Corners of the things that move; of all solids where none does.
static void add_corners(job *j) {
    const stage *s = &j->cast.s;
    const int before = j->point_count;
    for (int pass = 0; pass < 2 && j->point_count == before; pass++) {
        for (int i = 0; i < j->cast.count; i++) {
            const thing *t = &s->thing[i];
            const form *f = t->form >= 0 ? &s->form[t->form] : NULL;
            for (int k = 0; k < 8 && f && (t->is_framed || pass); k++) {
                const v3 corner =
                    v3_make(k & 1 ? f->high.x : f->low.x, k & 2 ? f->high.y : f->low.y, k & 4 ? f->high.z : f->low.z);
                add_point(j, affine_point(&t->place, corner));
            }
        }
    }
    if (j->point_count == before) {
        add_point(j, v3_make(0, 0, 0));
    }
}

static v3 middle_of(const v3 *p, int count, float *size) {
    v3 low = p[0], high = p[0];
    for (int i = 1; i < count; i++) {
        low = v3_make(f_min(low.x, p[i].x), f_min(low.y, p[i].y), f_min(low.z, p[i].z));
        high = v3_make(f_max(high.x, p[i].x), f_max(high.y, p[i].y), f_max(high.z, p[i].z));
    }
    *size = v3_norm(v3_sub(high, low));
    return v3_scale(v3_add(low, high), 0.5f);
}

/// Where what is followed is now.
static v3 followed(const job *j) {
    float size;
    if (j->follow_body >= 0) {
        return v3_from(kk_body_pose(j->p.m.model, j->p.m.data, j->follow_body).p);
    }
    job now = *j;
    now.point = NULL;
    now.point_count = now.point_room = 0;
    add_corners(&now);
    const v3 middle = middle_of(now.point, now.point_count, &size);
    free(now.point);
    return middle;
}

/// Looks at up to two dozen moments: how large things are and how far they go.
static int survey(job *j) {
    enum { MOMENTS = 24 };
    const int moments = j->frames < 2 ? 1 : MOMENTS;
    v3 at[MOMENTS];
    int first[MOMENTS + 1];
    int code = 0;
    for (int i = 0; i < moments && !code; i++) {
        code = player_go(&j->p, moments == 1 ? j->last : j->first + (j->last - j->first) * i / (moments - 1));
        cast_place(&j->cast, j->p.m.model, j->p.m.data);
        first[i] = j->point_count;
        add_corners(j);
        at[i] = followed(j);
    }
    if (code) {
        return code;
    }
    first[moments] = j->point_count;
    j->start = at[0];
    middle_of(j->point, first[1], &j->size);
    float way = 0;
    for (int i = 1; i < moments; i++) {
        way = f_max(way, v3_norm(v3_sub(v3_make(at[i].x, at[i].y, 0), v3_make(at[0].x, at[0].y, 0))));
    }
    j->is_following = !j->o->still_camera && moments > 1 && (j->o->follow || way > 0.7f * j->size);
    for (int i = 0; i < moments && j->is_following; i++) {
        // as seen from the camera that goes along
        for (int k = first[i]; k < first[i + 1]; k++) {
            j->point[k].x += at[0].x - at[i].x;
            j->point[k].y += at[0].y - at[i].y;
        }
    }
    return j->frames > 1 ? player_rewind(&j->p) : 0;
}

static int place_camera(job *j) {
    float size;
    v3 target = middle_of(j->point, j->point_count, &size);
    j->camera = camera_turned(j->azimuth, j->elevation, j->o->angle, (double)j->width / j->height);
    int code = j->o->look ? read_visual(j, &target) : 0;
    if (j->o->distance > 0 || j->o->look) {
        const float usual = size / (1.6f * j->camera.slope_y);
        camera_aim(&j->camera, target, (j->o->distance > 0 ? (float)j->o->distance : usual) / (float)j->o->zoom);
    } else {
        camera_frame(&j->camera, j->point, j->point_count, 0.07f);
        // nearer along the view, to the middle of what is seen
        const float away = v3_dot(v3_sub(target, j->camera.eye), j->camera.forward);
        j->camera.eye = v3_along(j->camera.eye, away * (1 - 1 / (float)j->o->zoom), j->camera.forward);
    }
    return code;
}

static int prepare(job *j) {
    const kk_model *m = j->p.m.model;
    cast_make(&j->cast, m, j->o->collision ? CAST_COLLIDES : CAST_SEEN);
    j->follow_body = j->o->follow ? kk_model_find_body(m, j->o->follow) : -1;
    if (j->o->follow && j->follow_body < 0) {
        return cli_fail(j->c, CLI_EXIT_INPUT, "there is no body '%s' — 'karakuri info' lists them", j->o->follow);
    }
    int code = survey(j);
    code = code ? code : place_camera(j);
    if (!code && !cast_has_floor(&j->cast) && !j->o->no_floor) {
        const double lowest = cast_lowest(&j->cast);
        cast_add_floor(&j->cast, lowest < 0 ? lowest : 0);
        cast_place(&j->cast, m, j->p.m.data);
    }
    const int detail = j->o->detail ? (int)j->o->detail : j->frames > 1 ? 1 : 2;
    drawing_make(&j->d, (draw_options){.sun = draw_sun(j->azimuth),
                                       .width = j->width,
                                       .height = j->height,
                                       .detail = detail,
                                       .square = draw_square(j->size),
                                       .background = (draw_background)j->o->background});
    j->picture = picture_make(j->width, j->height);
    return code;
}

// ---- pictures

/// The camera goes along with what it follows, level and without haste.
static void move_camera(job *j, v3 *smooth, long frame) {
    const v3 now = followed(j);
    const float haste = (float)(1 - kk_exp(-5 / j->o->rate)); // a fifth of a second behind
    *smooth = frame ? v3_mix(*smooth, now, haste) : j->start;
    const v3 d = v3_sub(*smooth, j->start);
    j->camera.eye = v3_add(j->camera.eye, v3_make(d.x, d.y, 0));
}

static int draw_frames(job *j) {
    const signs_options signs = {.forces = j->o->forces, .balance = j->o->balance, .size = j->size};
    const camera home = j->camera;
    cli_progress progress = {0};
    v3 smooth = j->start;
    int code = 0;
    cli_catch_interrupts();
    for (long i = 0; i < j->frames && !code && !cli_is_interrupted(); i++) {
        code = player_go(&j->p, time_of(j, i));
        if (code) {
            break;
        }
        cast_place(&j->cast, j->p.m.model, j->p.m.data);
        if (signs.forces || signs.balance) {
            const signs_source source = {j->p.m.model, j->p.m.data, kk_state_q_const(j->p.state), j->p.simulator};
            signs_add(&j->cast, &source, &signs);
        }
        j->camera = home;
        if (j->is_following) {
            move_camera(j, &smooth, i);
        }
        draw_stage(&j->d, &j->cast.s, &j->camera, &j->picture);
        code = film_add(&j->film, &j->picture);
        cli_progress_show(j->c, &progress, "drawing", (size_t)i, (size_t)j->frames);
    }
    cli_progress_show(j->c, &progress, "drawing", (size_t)j->frames, (size_t)j->frames);
    if (cli_is_interrupted() && !code && j->film.count > 0) {
        j->frames = j->film.count;
        j->last = time_of(j, j->frames - 1);
    }
    return code;
}

static int tell(const job *j, double seconds) {
    if (j->c->common.json) {
        json_writer json = {0};
        cli_begin_document(j->c, &json);
        json_string(&json, "out", j->o->out);
        json_integer(&json, "pictures", j->frames);
        json_integer(&json, "width", j->width);
        json_integer(&json, "height", j->height);
        json_number(&json, "first_time", j->first);
        json_number(&json, "last_time", j->last);
        json_number(&json, "wall_seconds", seconds);
        return cli_end_document(j->c, &json);
    }
    cli_text out = {0};
    text_format(&out, "%s: %ld picture%s of %d x %d, %.4g s to %.4g s, drawn in %.3g s\n", j->o->out, j->frames,
                j->frames == 1 ? "" : "s", j->width, j->height, j->first, j->last, seconds);
    return cli_print(j->c, &out);
}

static void release(job *j) {
    free(j->point);
    cast_free(&j->cast);
    drawing_free(&j->d);
    picture_free(&j->picture);
    player_close(&j->p);
}

static int run(cli *c, const void *options) {
    job j = {.c = c, .o = options};
    const render_options *o = options;
    const double start = cli_now();
    int code = read_options(&j);
    film_kind kind;
    code = code ? code : film_kind_of(c, o->out, &kind);
    if (code) {
        return code;
    }
    const player_options playing = {
        o->source, o->model, o->keyframe, o->control, o->dt, o->time, o->forces || o->balance};
    code = player_open(c, &playing, &j.p);
    if (code) {
        return code;
    }
    j.film.kind = kind;
    code = find_times(&j);
    code = code ? code : prepare(&j);
    code = code ? code : film_open(c, o->out, j.width, j.height, o->rate, &j.film);
    if (!code) {
        code = draw_frames(&j);
        const int closed = film_close(&j.film);
        code = code ? code : closed;
    }
    const int end = cli_end_interrupted(c, code, "what was drawn until then is kept");
    code = code ? code : tell(&j, cli_now() - start);
    release(&j);
    return code ? code : end;
}

static const char *const details[] = {
    "Draws by its own rasterizer: no graphics card, no browser, no display. The same source gives the same picture on "
    "every machine. "
    "Films go through ffmpeg where there is one; folders of pictures need nothing.",
    "Models without shapes are drawn as boxes with the inertia of their bodies. --forces and --balance show contacts "
    "of the step before the "
    "picture; a recording is simulated again for them, with the same bits.",
    NULL,
};

static const cli_term examples[] = {
    {"karakuri render run.kkr -o film.mp4", "a film of a recording"},
    {"karakuri render run.kkr -o still.png --at 1.5 --forces --balance", "one moment, with contact forces and balance"},
    {"karakuri render robot.urdf --floor --servos --time 2 -o frames/", "simulate and draw at once"},
    {"karakuri render robot.xml -o robot.png --view 30,20 --size 800x800", "a model as it stands"},
    {NULL, NULL},
};

const cli_verb cli_verb_render = {
    .name = "render",
    .about = "draw a recording or a model: pictures and films without a display",
    .details = details,
    .arguments = arguments,
    .options = options_table,
    .examples = examples,
    .size = sizeof(render_options),
    .defaults = &defaults,
    .run = run,
};
