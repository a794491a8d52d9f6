/// Signs: forces of contacts, center of mass, center of pressure and the polygon of support.
#ifndef KARAKURI_CLI_RENDER_SIGNS_H
#define KARAKURI_CLI_RENDER_SIGNS_H

#include "cast.h"

typedef struct signs_options {
    bool forces, balance;
    float size;    ///< of the scene, m
    float longest; ///< arrow, as a share of the size; 0: 0.45
    float thick;   ///< radius of arrows, likewise; 0: 0.004
} signs_options;

/// What they are read from.
typedef struct signs_source {
    const kk_model *model;
    kk_data *data;           ///< scratch
    const double *q;         ///< [nq]
    kk_simulator *simulator; ///< of the step that led here
} signs_source;

/// Adds the signs of the step that was taken last to the stage.
void signs_add(cast *c, const signs_source *p, const signs_options *o);

#endif
