/// One picture of a model at a state, everything in view.
#ifndef KARAKURI_CLI_RENDER_SNAPSHOT_H
#define KARAKURI_CLI_RENDER_SNAPSHOT_H

#include "picture.h"
#include "signs.h"

/// @param source   the simulator may be NULL: no forces
/// @param out      [out] for picture_free
void snapshot_draw(const signs_source *source, int width, int height, picture *out);

#endif
