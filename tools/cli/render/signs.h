/// Signs: forces of contacts, centre of mass, centre of pressure and the polygon of support.
#ifndef KARAKURI_CLI_RENDER_SIGNS_H
#define KARAKURI_CLI_RENDER_SIGNS_H

#include "cast.h"
#include "player.h"

typedef struct signs_options {
    bool forces, balance;
    float size; ///< of the scene, m
} signs_options;

/// Adds the signs of the step that was taken last to the stage.
void signs_add(cast *c, const player *p, const signs_options *o);

#endif
