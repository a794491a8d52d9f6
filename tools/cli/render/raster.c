// Triangles by their three edge functions, row by row; see raster.h.
#include "raster.h"

#include <stdlib.h>
#include <string.h>

#include "../text.h"

raster raster_make(int width, int height, int side, int has_ids) {
    const size_t n = (size_t)width * (size_t)height;
    return (raster){width, height, side, cli_allocate(n, sizeof(float)),
                    has_ids ? cli_allocate(n, sizeof(int32_t)) : NULL};
}

void raster_free(raster *r) {
    free(r->depth);
    free(r->id);
    *r = (raster){0};
}

void raster_clear(raster *r, float far, int first, int end) {
    const size_t from = (size_t)first * (size_t)r->width, to = (size_t)end * (size_t)r->width;
    for (size_t i = from; i < to; i++) {
        r->depth[i] = far;
    }
    if (r->id && to > from) {
        memset(r->id + from, 0xff, (to - from) * sizeof *r->id);
    }
}

/// Rooks: row j of a pixel is shifted by its share of a sample, so are columns.
static double shift(int i, int side) {
    return (i + 0.5) / side;
}

void raster_sample(const raster *r, int column, int row, double *x, double *y) {
    *x = column + shift(row % r->side, r->side);
    *y = row + shift(column % r->side, r->side);
}

/// a x + b y + c, not negative inside.
typedef struct edge {
    double a, b, c;
} edge;

static edge edge_of(const raster_corner *p, const raster_corner *q) {
    const double a = p->y - q->y, b = q->x - p->x;
    return (edge){a, b, -(a * p->x + b * p->y)};
}

typedef struct triangle {
    edge e[3];
    edge depth;
    double x0, x1, y0, y1; ///< bounds
} triangle;

/// The nearest of the grid; what is off the screen by far stays as it is.
static double snap_number(double x) {
    return x > -1e6 && x < 1e6 ? (double)(int64_t)(x * 256 + (x < 0 ? -0.5 : 0.5)) / 256 : x;
}

static raster_corner snap(raster_corner c) {
    return (raster_corner){snap_number(c.x), snap_number(c.y), c.depth};
}

static double min3(double a, double b, double c) {
    const double m = a < b ? a : b;
    return m < c ? m : c;
}

static double max3(double a, double b, double c) {
    return -min3(-a, -b, -c);
}

/// Makes the edges; 0 where the triangle has no area.
static int set_up(const raster_corner corner[3], triangle *t) {
    raster_corner p[3] = {snap(corner[0]), snap(corner[1]), snap(corner[2])};
    double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[1].y - p[0].y) * (p[2].x - p[0].x);
    if (area < 0) {
        const raster_corner swap = p[1];
        p[1] = p[2];
        p[2] = swap;
        area = -area;
    }
    if (!(area > 0)) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        t->e[i] = edge_of(&p[(i + 1) % 3], &p[(i + 2) % 3]);
    }
    const double w[3] = {(double)p[0].depth / area, (double)p[1].depth / area, (double)p[2].depth / area};
    t->depth = (edge){0, 0, 0};
    for (int i = 0; i < 3; i++) {
        t->depth.a += w[i] * t->e[i].a;
        t->depth.b += w[i] * t->e[i].b;
        t->depth.c += w[i] * t->e[i].c;
    }
    t->x0 = min3(p[0].x, p[1].x, p[2].x);
    t->x1 = max3(p[0].x, p[1].x, p[2].x);
    t->y0 = min3(p[0].y, p[1].y, p[2].y);
    t->y1 = max3(p[0].y, p[1].y, p[2].y);
    return 1;
}

/// Columns of a row that can be inside, a sample too many rather than one too few.
static void find_span(const triangle *t, int row, int width, int *first, int *end) {
    double low = t->x0 - 1, high = t->x1 + 1;
    for (int i = 0; i < 3; i++) {
        const edge *e = &t->e[i];
        // the row's samples lie between y = row and row + 1: the better of both
        const double rest = e->c + e->b * (e->b > 0 ? row + 1 : row);
        if (e->a > 0) {
            const double x = -rest / e->a;
            low = x - 1 > low ? x - 1 : low;
        } else if (e->a < 0) {
            const double x = -rest / e->a;
            high = x < high ? x : high;
        }
    }
    low = low < 0 ? 0 : low;
    high = high > width - 1 ? width - 1 : high;
    *first = (int)low;
    *end = high < low ? *first : (int)high + 1;
}

static void fill_row(raster *r, const triangle *t, int row, int32_t id, uint32_t mask) {
    const int side = r->side, j = row % side;
    int first, end;
    find_span(t, row, r->width, &first, &end);
    float *depth = r->depth + (size_t)row * (size_t)r->width;
    int32_t *ids = r->id ? r->id + (size_t)row * (size_t)r->width : NULL;
    for (int column = first, i = first % side; column < end; column++, i = i + 1 == side ? 0 : i + 1) {
        const double x = column + shift(j, side), y = row + shift(i, side);
        if (t->e[0].a * x + t->e[0].b * y + t->e[0].c < 0 || t->e[1].a * x + t->e[1].b * y + t->e[1].c < 0 ||
            t->e[2].a * x + t->e[2].b * y + t->e[2].c < 0) {
            continue;
        }
        const float z = (float)(t->depth.a * x + t->depth.b * y + t->depth.c);
        if (z > depth[column] && (mask >> (j * side + i) & 1)) {
            depth[column] = z;
            if (ids) {
                ids[column] = id;
            }
        }
    }
}

/// Between two neighboring samples of a grid without rooks: most triangles of a fine mesh seen from afar.
static int is_between(const raster *r, const raster_corner c[3]) {
    const double x0 = min3(c[0].x, c[1].x, c[2].x), x1 = max3(c[0].x, c[1].x, c[2].x);
    const double y0 = min3(c[0].y, c[1].y, c[2].y), y1 = max3(c[0].y, c[1].y, c[2].y);
    const double low = 0.5 - 1.0 / 256, high = 0.5 + 1.0 / 256; // samples stand in the middle; corners will be rounded
    return r->side == 1 && x0 > 0 && y0 > 0 && x1 < r->width && y1 < r->height &&
           ((int)(x0 + low) == (int)(x1 + high) || (int)(y0 + low) == (int)(y1 + high));
}

void raster_triangle(raster *r, const raster_corner corner[3], int32_t id, uint32_t mask, int first, int end) {
    triangle t;
    if (is_between(r, corner)) {
        return;
    }
    if (!set_up(corner, &t) || t.x1 < 0 || t.x0 > r->width || t.y1 < first || t.y0 > end) {
        return;
    }
    const int from = t.y0 - 1 < first ? first : (int)t.y0, to = t.y1 + 1 > end ? end : (int)t.y1 + 1;
    for (int row = from; row < to; row++) {
        fill_row(r, &t, row, id, mask);
    }
}
