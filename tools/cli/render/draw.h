/// Drawing a stage into a picture: the story is draw_stage.
#ifndef KARAKURI_CLI_RENDER_DRAW_H
#define KARAKURI_CLI_RENDER_DRAW_H

#include "camera.h"
#include "light.h"
#include "picture.h"
#include "stage.h"

typedef enum draw_background { DRAW_SKY, DRAW_WHITE, DRAW_DARK } draw_background;

typedef struct draw_options {
    v3 sun; ///< towards it
    int width, height;
    int detail;   ///< 1 … 3, see light_make
    float square; ///< side of the floor's squares, m
    draw_background background;
} draw_options;

/// Keeps what one picture after the other can share.
typedef struct drawing {
    draw_options o;
    light l;
    sheet sh;
    raster seen;
    uint8_t *tone; ///< linear to sRGB
} drawing;

/// A sun from the left over the camera's shoulder: shadows fall to the right, where they are seen. @param azimuth  of the camera, degrees
v3 draw_sun(double azimuth);
/// A side for the floor's squares: 1, 2 or 5 times a power of ten, about a sixth of the scene.
float draw_square(float size);

void drawing_make(drawing *d, draw_options options);
void drawing_free(drawing *d);
/// @param out  of the size of the options
void draw_stage(drawing *d, const stage *s, const camera *c, picture *out);

#endif
