// See snapshot.h.
#include "snapshot.h"

#include "camera.h"
#include "draw.h"

static const double AZIMUTH = -60, ELEVATION = 14;

static void frame_corners(camera *c, const sheet *sh) {
    v3 corner[8];
    for (int i = 0; i < 8; i++) {
        corner[i] =
            v3_make(i & 1 ? sh->high.x : sh->low.x, i & 2 ? sh->high.y : sh->low.y, i & 4 ? sh->high.z : sh->low.z);
    }
    camera_frame(c, corner, 8, 0.05f);
}

void snapshot_draw(const signs_source *source, int width, int height, picture *out) {
    cast c;
    sheet bounds = {0};
    drawing d;
    kk_kinematics(source->model, source->data, source->q);
    cast_make(&c, source->model, CAST_SEEN);
    cast_place(&c, source->model, source->data);
    sheet_fill(&bounds, &c.s);
    if (!cast_has_floor(&c)) {
        const double lowest = cast_lowest(&c);
        cast_add_floor(&c, lowest < 0 ? lowest : 0);
        cast_place(&c, source->model, source->data);
    }
    const signs_options signs = {
        .forces = source->simulator != NULL, .size = bounds.size, .longest = 0.1f, .thick = 0.0024f};
    signs_add(&c, source, &signs);
    camera view = camera_turned(AZIMUTH, ELEVATION, 28, (double)width / height);
    frame_corners(&view, &bounds);
    *out = picture_make(width, height);
    drawing_make(&d, (draw_options){.sun = draw_sun(AZIMUTH),
                                    .width = width,
                                    .height = height,
                                    .detail = 2,
                                    .square = draw_square(bounds.size)});
    draw_stage(&d, &c.s, &view, out);
    drawing_free(&d);
    sheet_free(&bounds);
    cast_free(&c);
}
