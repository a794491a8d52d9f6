/// What standing.c and clean.c share: where everything is with every joint at zero.
#ifndef KARAKURI_IO_STANDING_H
#define KARAKURI_IO_STANDING_H

#include "io/loader.h"

/// Adds exclusions for the pairs of bodies that touch in every pose or in none.
kk_status kki_clean_collisions(kki_loader *loader);

/// The box around a shape in its own axes; false for planes, which have none.
bool kki_shape_box(const kk_spec *spec, const kk_shape_def *shape, kk_vec3 *center, kk_vec3 *half);

#endif
