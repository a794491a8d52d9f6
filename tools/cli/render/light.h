/// Light: a sun with a width and a bright sky, both as many far lamps, each with a map of what it reaches first. Soft shadows and the
/// darkening in corners come from adding them up.
#ifndef KARAKURI_CLI_RENDER_LIGHT_H
#define KARAKURI_CLI_RENDER_LIGHT_H

#include "raster.h"
#include "stage.h"

typedef struct lamp {
    v3 toward, across, along; ///< to the lamp, and the axes of its map
    v3 color;
    raster map;
} lamp;

typedef struct light {
    lamp *lamp; ///< suns first
    int suns, count;
    v3 center;  ///< of the maps
    float half; ///< what they reach from there, m
} light;

/// @param sun  towards it    @param detail  1: for films, 2 and 3: for stills
void light_make(light *l, v3 sun, int detail);
/// Draws the maps of a sheet.
void light_fill(light *l, const sheet *sh, const stage *s);
void light_free(light *l);

/// How much of a lamp reaches a point, 0 … 1; `normal` lifts the point off its own surface.
float lamp_reaches(const light *l, const lamp *a, v3 point, v3 normal);

#endif
