// Lamps and their maps; see light.h.
#include "light.h"

#include <stdlib.h>

#include "../text.h"
#include "parallel.h"

static const float FAR = -1e30f;

static lamp lamp_at(v3 toward, v3 color, int side) {
    const v3 aside = toward.z > 0.9f || toward.z < -0.9f ? v3_make(1, 0, 0) : v3_make(0, 0, 1);
    lamp a = {.toward = toward, .color = color, .map = raster_make(side, side, 1, 0)};
    a.across = v3_normalize(v3_cross(aside, toward));
    a.along = v3_cross(toward, a.across);
    return a;
}

/// Turns about z by the golden angle give an even spread on discs and spheres.
static v3 spread(int i, float out, float up) {
    double s, c;
    kk_sincos(2.39996322972865332 * i, &s, &c);
    return v3_make(out * (float)c, out * (float)s, up);
}

static void make_suns(light *l, v3 middle, int n, int side) {
    const lamp axes = lamp_at(middle, v3_make(0, 0, 0), 1);
    const float width = 0.045f; // rad: wider than the real one, for soft edges
    for (int i = 0; i < n; i++) {
        const v3 d = spread(i, width * f_sqrt(((float)i + 0.5f) / (float)n), 0);
        const v3 toward = v3_normalize(v3_along(v3_along(middle, d.x, axes.across), d.y, axes.along));
        l->lamp[i] = lamp_at(toward, v3_scale(v3_make(1.28f, 1.20f, 1.08f), 1 / (float)n), side);
    }
    raster swap = axes.map;
    raster_free(&swap);
}

/// Even over the half sphere; twice the mean of the cosine is 1 for a level face.
static void make_sky(light *l, int n, int side) {
    for (int i = 0; i < n; i++) {
        const float up = ((float)i + 0.5f) / (float)n;
        const v3 toward = spread(i, f_sqrt(1 - up * up), up);
        const v3 color = v3_mix(v3_make(0.86f, 0.91f, 1.0f), v3_make(0.70f, 0.82f, 1.0f), up);
        l->lamp[l->suns + i] = lamp_at(toward, v3_scale(color, 0.66f / (float)n * 2), side);
    }
}

void light_make(light *l, v3 sun, int detail) {
    static const int suns[] = {0, 4, 12, 24}, skies[] = {0, 20, 64, 128};
    *l = (light){.suns = suns[detail], .count = suns[detail] + skies[detail]};
    l->lamp = cli_allocate((size_t)l->count, sizeof *l->lamp);
    make_suns(l, v3_normalize(sun), l->suns, detail > 1 ? 1536 : 1024);
    make_sky(l, skies[detail], detail > 1 ? 512 : 384);
}

void light_free(light *l) {
    for (int i = 0; i < l->count; i++) {
        raster_free(&l->lamp[i].map);
    }
    free(l->lamp);
    *l = (light){0};
}

// ---- maps

typedef struct filling {
    light *l;
    const sheet *sh;
    const stage *s;
} filling;

static void fill_lamp(void *context, int index) {
    const filling *f = context;
    const light *l = f->l;
    lamp *a = &f->l->lamp[index];
    const double scale = a->map.width / (2.0 * (double)l->half);
    raster_clear(&a->map, FAR, 0, a->map.height);
    for (int i = 0; i < f->sh->face_count; i++) {
        const thing *t = &f->s->thing[f->sh->thing[i]];
        if (t->kind != THING_SOLID || t->alpha < 0.5f) {
            continue;
        }
        raster_corner corner[3];
        for (int k = 0; k < 3; k++) {
            const v3 p = v3_sub(f->sh->position[f->sh->face[i][k]], l->center);
            corner[k] = (raster_corner){((double)v3_dot(p, a->across) + (double)l->half) * scale,
                                        ((double)v3_dot(p, a->along) + (double)l->half) * scale, v3_dot(p, a->toward)};
        }
        raster_triangle(&a->map, corner, 0, 1, 0, a->map.height);
    }
}

void light_fill(light *l, const sheet *sh, const stage *s) {
    l->center = v3_scale(v3_add(sh->low, sh->high), 0.5f);
    l->half = 0.75f * f_max(sh->size, 0.01f);
    filling f = {l, sh, s};
    parallel_for(l->count, fill_lamp, &f);
}

/// 1 where nothing stands before the place of the map.
static float is_free(const raster *m, int x, int y, float depth) {
    return x < 0 || y < 0 || x >= m->width || y >= m->height || m->depth[y * m->width + x] <= depth ? 1.0f : 0.0f;
}

float lamp_reaches(const light *l, const lamp *a, v3 point, v3 normal) {
    const raster *m = &a->map;
    const float texel = 2 * l->half / (float)m->width;
    const v3 p = v3_sub(v3_along(point, 1.5f * texel, normal), l->center);
    const float x = (v3_dot(p, a->across) + l->half) / texel - 0.5f, y = (v3_dot(p, a->along) + l->half) / texel - 0.5f;
    if (!(x > -1 && y > -1 && x < (float)m->width && y < (float)m->height)) {
        return 1;
    }
    const float depth = v3_dot(p, a->toward) + 0.5f * texel;
    const int i = (int)(x + 1) - 1, k = (int)(y + 1) - 1;
    const float fx = x - (float)i, fy = y - (float)k;
    const float low = is_free(m, i, k, depth) * (1 - fx) + is_free(m, i + 1, k, depth) * fx;
    const float high = is_free(m, i, k + 1, depth) * (1 - fx) + is_free(m, i + 1, k + 1, depth) * fx;
    return low * (1 - fy) + high * fy;
}
