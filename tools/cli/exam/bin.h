/// Part of row 24: many spheres in a bin.
#ifndef KARAKURI_CLI_EXAM_BIN_H
#define KARAKURI_CLI_EXAM_BIN_H

#include "exam.h"

void exam_spheres_in_bin(exam *e, int panel);

#endif
