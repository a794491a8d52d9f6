/// Things that collide, from words of the command line: box:0.1,0.2,0.3, sphere:0.5, a mesh file, or a whole model.
#ifndef KARAKURI_CLI_SOLID_H
#define KARAKURI_CLI_SOLID_H

#include "load.h"

/// Names of the notations, for help; NULL behind the last.
cli_term solid_term(int index);

/// Adds the colliding shapes of a word to the world of a spec.
/// @param pose   where to put it    @param first, count  [out] its shapes
int solid_add(cli *c, kk_spec *spec, const char *word, kk_transform pose, int *first, int *count);

/// Reads "x,y,z" or six numbers into an array; the others stay as they are.
int solid_numbers(cli *c, const char *option, const char *text, double numbers[6]);

#endif
