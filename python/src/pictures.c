/// Pictures of a model where q says it is: colors, depth and which body is seen, by the renderer of the command-line tool, into arrays of the caller.
#include <math.h>
#include <stdlib.h>

#include "render/cast.h"
#include "render/draw.h"
#include "runtime.h"

enum { CAMERA_NUMBERS = 10 }; ///< eye, target, angle of view, azimuth, elevation, distance

// ---- memory: what the tool's renderer asks for. It cannot be told of a failure, so its own blocks end the interpreter, with a word

static void *or_end(void *block) {
    if (!block) {
        Py_FatalError("karakuri: no memory for a picture");
    }
    return block;
}

void *cli_allocate(size_t count, size_t size) {
    return or_end(calloc(count ? count : 1, size));
}

void *cli_reallocate(void *block, size_t count, size_t size) {
    return or_end(realloc(block, (count ? count : 1) * size));
}

// ---- where it is seen from

/// The box around what is framed, seen from a side so that all of it is in the picture.
static void frame_all(camera *c, const stage *s) {
    sheet bounds = {0};
    sheet_fill(&bounds, s);
    v3 corner[8];
    for (int i = 0; i < 8; i++) {
        corner[i] = v3_make(i & 1 ? bounds.high.x : bounds.low.x, i & 2 ? bounds.high.y : bounds.low.y,
                            i & 4 ? bounds.high.z : bounds.low.z);
    }
    camera_frame(c, corner, 8, 0.05f);
    sheet_free(&bounds);
}

static v3 v3_of(const double *x) {
    return v3_make((float)x[0], (float)x[1], (float)x[2]);
}

/// @param x  [CAMERA_NUMBERS] eye and target, or an eye that is none: azimuth, elevation, distance of the target; without a distance everything is in view
static camera camera_of(const double *x, double aspect, const stage *s) {
    double azimuth = x[7], elevation = x[8];
    const int has_eye = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]), has_target = isfinite(x[3]);
    double distance = x[9];
    if (has_eye) {
        const double d[3] = {x[0] - x[3], x[1] - x[4], x[2] - x[5]}, flat = kk_hypot(d[0], d[1]);
        azimuth = kk_atan2(d[1], d[0]) * 180 / KK_PI;
        elevation = kk_atan2(d[2], flat) * 180 / KK_PI;
        distance = kk_hypot(flat, d[2]);
    }
    camera c = camera_turned(azimuth, elevation, x[6], aspect);
    if (has_target && distance > 0) {
        camera_aim(&c, v3_of(x + 3), (float)distance);
    } else {
        frame_all(&c, s);
    }
    return c;
}

// ---- what is seen beside colors

typedef struct request {
    const kk_model *model;
    const double *q, *camera;
    int width, height;
    uint8_t *rgb;
    double *depth;
    int *body;
} request;

/// In the middle sample of each pixel: meters along the line of sight's forward part, and the body that is seen there.
static void tell_samples(const request *r, const drawing *d, const cast *c) {
    const int side = d->seen.side;
    for (int y = 0; y < r->height; y++) {
        for (int x = 0; x < r->width; x++) {
            const int at = (y * side + side / 2) * d->seen.width + x * side + side / 2, to = y * r->width + x;
            const int face = d->seen.id[at], thing = face < 0 ? -1 : d->sh.thing[face];
            r->depth[to] = face < 0 ? HUGE_VAL : 1 / (double)d->seen.depth[at];
            r->body[to] = thing >= 0 && thing < c->count ? c->actor[thing].body : -1;
        }
    }
}

static kk_status draw(const request *r) {
    kk_data *data = NULL;
    kk_status status = kk_data_create(r->model, NULL, &data);
    status = status ? status : kk_kinematics(r->model, data, r->q);
    if (status == KK_OK) {
        cast c;
        drawing d;
        cast_make(&c, r->model, CAST_SEEN);
        cast_place(&c, r->model, data);
        if (!cast_has_floor(&c)) {
            const double lowest = cast_lowest(&c);
            cast_add_floor(&c, lowest < 0 ? lowest : 0);
            cast_place(&c, r->model, data);
        }
        sheet bounds = {0};
        sheet_fill(&bounds, &c.s);
        const camera view = camera_of(r->camera, (double)r->width / r->height, &c.s);
        drawing_make(&d, (draw_options){.sun = draw_sun(r->camera[7]),
                                        .width = r->width,
                                        .height = r->height,
                                        .detail = 1,
                                        .square = draw_square(bounds.size)});
        picture out = {.width = r->width, .height = r->height, .rgb = r->rgb};
        draw_stage(&d, &c.s, &view, &out);
        tell_samples(r, &d, &c);
        drawing_free(&d);
        sheet_free(&bounds);
        cast_free(&c);
    }
    kk_data_free(data);
    return status;
}

PyObject *kkp_draw(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    static const char *const names[] = {"model", "q", "camera", "width", "height", "rgb", "depth", "body"};
    kkp_call c;
    PyObject *result = NULL;
    if (!kkp_begin(&c, "draw", names, args, count, 8, 8, 1)) {
        return NULL;
    }
    request r = {.model = kkp_pointer(kkp_object_of(&c, 0, &kkp_type_kk_model, KKP_READ))};
    r.q = kkp_numbers(&c, 1, 'd', c.failed ? 0 : kkp_size(&c, KKP_NQ), NULL, 0, 0);
    r.camera = kkp_numbers(&c, 2, 'd', CAMERA_NUMBERS, NULL, 0, 0);
    r.width = (int)kkp_integer(&c, 3, 1, 4096);
    r.height = (int)kkp_integer(&c, 4, 1, 4096);
    const size_t pixels = c.failed ? 0 : (size_t)r.width * (size_t)r.height;
    r.rgb = kkp_numbers(&c, 5, 'B', 3 * pixels, NULL, 1, 0);
    r.depth = kkp_numbers(&c, 6, 'd', pixels, NULL, 1, 0);
    r.body = kkp_numbers(&c, 7, 'i', pixels, NULL, 1, 0);
    if (kkp_go(&c)) {
        kk_status status = kk_model_check_q(r.model, r.q, &c.error);
        status = status ? status : draw(&r);
        kkp_back(&c);
        if (kkp_good(&c, status)) {
            result = kkp_none();
        }
    }
    return kkp_end(&c, result);
}
