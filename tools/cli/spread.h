/// How long steps take: a histogram of so many bins an octave that a quantile is right to 1 %, in fixed memory however long a run is.
#ifndef KARAKURI_CLI_SPREAD_H
#define KARAKURI_CLI_SPREAD_H

#include <stdint.h>

enum { SPREAD_OCTAVES = 40, SPREAD_BINS_AN_OCTAVE = 64 };

typedef struct spread {
    int64_t count;
    double worst; ///< s
    int64_t bin[SPREAD_OCTAVES * SPREAD_BINS_AN_OCTAVE];
} spread;

void spread_add(spread *s, double seconds);
/// The time below which a share of all lie; 0 without any.
double spread_quantile(const spread *s, double share);

#endif
