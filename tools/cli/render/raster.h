/// Which triangle is seen where: a grid of samples with depth and number of the nearest triangle.
///
/// Corners are rounded to 1/256 of a sample, so that edges are exact in doubles and neighbors leave no gap. Inside a pixel the samples
/// stand as rooks on a chess board, which gives as many steps to an upright edge as to a level one as there are samples.
#ifndef KARAKURI_CLI_RENDER_RASTER_H
#define KARAKURI_CLI_RENDER_RASTER_H

#include <stdint.h>

enum { RASTER_MOST = 4 };

/// A corner: place in samples, x to the right, y down; depth that is linear on the screen, larger nearer.
typedef struct raster_corner {
    double x, y;
    float depth;
} raster_corner;

typedef struct raster {
    int width, height; ///< samples
    int side;          ///< samples along a pixel's side, 1 … RASTER_MOST
    float *depth;      ///< [height × width] 0 where nothing is
    int32_t *id;       ///< [height × width] −1 where nothing is; NULL: depths alone
} raster;

raster raster_make(int width, int height, int side, int has_ids);
void raster_free(raster *r);
/// Empties rows `first` … `end` − 1 of samples.
void raster_clear(raster *r, float far, int first, int end);
/// Where a sample stands, in samples.
void raster_sample(const raster *r, int column, int row, double *x, double *y);
/// Draws into rows `first` … `end` − 1. @param mask  which samples of a pixel it covers, a bit each, row by row
void raster_triangle(raster *r, const raster_corner corner[3], int32_t id, uint32_t mask, int first, int end);

#endif
