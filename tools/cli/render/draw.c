// Drawing: light, who is seen at every sample, then one shading for every triangle in a pixel, weighed by its samples.
#include "draw.h"

#include <stdlib.h>

#include "../text.h"
#include "parallel.h"

enum { SIDE = 3, SAMPLES = SIDE * SIDE, BAND = 64, TONES = 4096 };

static const float NEAR_PART = 1e-3f; // of the stage's size

// ---- tone

/// Bright parts are rolled off, so that white stays white without burning out; then the curve of sRGB.
static uint8_t tone_of(double x) {
    const double knee = 0.75, y = x < knee ? x : knee + (1 - knee) * (1 - kk_exp(-(x - knee) / (1 - knee)));
    const double srgb = y <= 0.0031308 ? 12.92 * y : 1.055 * kk_pow(y, 1 / 2.4) - 0.055;
    return (uint8_t)(255 * srgb + 0.5);
}

static uint8_t tone(const drawing *d, float x) {
    return d->tone[(int)(f_clamp(f_sqrt(f_max(x, 0)) * 0.5f, 0, 1) * (TONES - 1) + 0.5f)];
}

v3 draw_sun(double azimuth) {
    double sine, cosine;
    kk_sincos((azimuth - 62) * KK_PI / 180, &sine, &cosine);
    return v3_make((float)cosine, (float)sine, 1.05f);
}

float draw_square(float size) {
    static const float next[] = {2, 2.5f, 2};
    float side = 1e-4f;
    for (int i = 0; side * next[i % 3] < size / 5 && i < 40; i++) {
        side *= next[i % 3];
    }
    return side;
}

void drawing_make(drawing *d, draw_options options) {
    *d = (drawing){.o = options};
    light_make(&d->l, options.sun, options.detail);
    d->seen = raster_make(options.width * SIDE, options.height * SIDE, SIDE, 1);
    d->tone = cli_allocate(TONES, 1);
    for (int i = 0; i < TONES; i++) {
        const double root = 2.0 * i / (TONES - 1);
        d->tone[i] = tone_of(root * root);
    }
}

void drawing_free(drawing *d) {
    light_free(&d->l);
    sheet_free(&d->sh);
    raster_free(&d->seen);
    free(d->tone);
    *d = (drawing){0};
}

// ---- who is seen

typedef struct pass {
    drawing *d;
    const stage *s;
    const camera *c;
    picture *out;
    float near;
} pass;

/// A point in the camera's axes, z the way forward.
static v3 seen_from(const camera *c, v3 p) {
    const v3 d = v3_sub(p, c->eye);
    return v3_make(v3_dot(d, c->right) / c->slope_x, v3_dot(d, c->up) / c->slope_y, v3_dot(d, c->forward));
}

static raster_corner project(const raster *r, v3 p) {
    const double w = 1 / (double)p.z;
    return (raster_corner){((double)p.x * w + 1) * 0.5 * r->width, (1 - (double)p.y * w) * 0.5 * r->height, (float)w};
}

/// Cuts what lies behind the near plane; gives the corners of what is left, 0, 3 or 4.
static int clip_near(const v3 p[3], float near, v3 out[4]) {
    int n = 0;
    for (int i = 0; i < 3; i++) {
        const v3 a = p[i], b = p[(i + 1) % 3];
        if (a.z >= near) {
            out[n++] = a;
        }
        if ((a.z >= near) != (b.z >= near)) {
            out[n++] = v3_mix(a, b, (near - a.z) / (b.z - a.z));
        }
    }
    return n;
}

/// A share `alpha` of a pixel's samples, others for every thing.
static uint32_t mask_of(float alpha, int thing_index) {
    const int count = (int)(f_clamp(alpha, 0, 1) * SAMPLES + 0.5f);
    uint32_t mask = 0;
    for (int i = 0; i < count; i++) {
        mask |= 1u << ((i * 4 + thing_index * 2) % SAMPLES);
    }
    return mask;
}

static void see_band(void *context, int band) {
    const pass *p = context;
    const sheet *sh = &p->d->sh;
    raster *r = &p->d->seen;
    const int first = band * BAND * SIDE, end = first + BAND * SIDE > r->height ? r->height : first + BAND * SIDE;
    raster_clear(r, 0, first, end);
    for (int i = 0; i < sh->face_count; i++) {
        v3 corner[3], cut[4];
        for (int k = 0; k < 3; k++) {
            corner[k] = seen_from(p->c, sh->position[sh->face[i][k]]);
        }
        const int n = clip_near(corner, p->near, cut);
        const thing *owner = &p->s->thing[sh->thing[i]];
        const uint32_t mask = mask_of(owner->alpha, sh->thing[i]);
        const float lift = owner->is_on_top ? 16 : 1; // of depth alone: before everything, in order among themselves
        for (int k = 1; k + 1 < n; k++) {
            raster_corner t[3] = {project(r, cut[0]), project(r, cut[k]), project(r, cut[k + 1])};
            for (int e = 0; e < 3; e++) {
                t[e].depth *= lift;
            }
            raster_triangle(r, t, i, mask, first, end);
        }
    }
}

// ---- what it looks like

typedef struct spot {
    v3 point, normal, view; ///< view: from the eye, of unit length
    v3 color;
    float shine;
} spot;

static v3 background(const drawing *d, v3 view) {
    if (d->o.background == DRAW_WHITE) {
        return v3_make(1.6f, 1.6f, 1.6f);
    }
    const float up = view.z / v3_norm(view);
    if (d->o.background == DRAW_DARK) {
        return v3_mix(v3_make(0.035f, 0.04f, 0.05f), v3_make(0.012f, 0.014f, 0.02f), f_smooth(-0.1f, 0.7f, up));
    }
    return v3_mix(v3_make(0.86f, 0.90f, 0.94f), v3_make(0.42f, 0.60f, 0.84f), f_smooth(-0.05f, 0.8f, up));
}

static v3 lit(const drawing *d, const spot *s) {
    const light *l = &d->l;
    v3 sum = v3_make(0.03f, 0.03f, 0.035f), gloss = v3_make(0, 0, 0);
    for (int i = 0; i < l->count; i++) {
        const lamp *a = &l->lamp[i];
        const float cosine = v3_dot(s->normal, a->toward);
        if (cosine <= 0) {
            continue;
        }
        const float reach = lamp_reaches(l, a, s->point, s->normal);
        sum = v3_along(sum, cosine * reach, a->color);
        if (i < l->suns && s->shine > 0 && reach > 0) {
            const float h = v3_dot(s->normal, v3_normalize(v3_sub(a->toward, s->view)));
            const float h2 = h * h, h4 = h2 * h2, h8 = h4 * h4, h16 = h8 * h8;
            gloss = v3_along(gloss, reach * h16 * h16 * h8 * s->shine, a->color);
        }
    }
    // light that comes back from the ground
    sum = v3_along(sum, 0.22f * (0.5f - 0.5f * s->normal.z), v3_make(1, 0.97f, 0.92f));
    // the sky in a glossy surface seen at a flat angle
    const float facing = 1 + v3_dot(s->normal, s->view), rim = facing * facing * facing;
    gloss = v3_along(gloss, 0.25f * s->shine * f_max(rim, 0) * (0.5f + 0.5f * s->normal.z), v3_make(0.9f, 0.95f, 1));
    return v3_add(v3_mul(sum, s->color), gloss);
}

/// The mean over a window of a wave that is 1 on even squares and −1 on odd ones.
static float square_wave(float x, float width) {
    const float w = f_max(width, 1e-4f), a = x - w / 2, b = x + w / 2;
    // its integral is a triangle of period 2
    const float fa = a - 2 * (float)kk_floor((double)a / 2), fb = b - 2 * (float)kk_floor((double)b / 2);
    const float ta = fa < 1 ? fa : 2 - fa, tb = fb < 1 ? fb : 2 - fb;
    return f_clamp((tb - ta) / w, -1, 1);
}

static v3 floor_color(const drawing *d, const thing *t, v3 point, float width) {
    const v3 p = v3_sub(point, t->place.o);
    const float side = d->o.square, x = v3_dot(p, t->place.x) / side, y = v3_dot(p, t->place.y) / side,
                w = width / side;
    const float even = square_wave(x, w) * square_wave(y, w);
    return v3_scale(t->color, 1 + 0.11f * even);
}

/// Where the ray through a place of the screen meets a triangle, as weights of its corners; the plane beyond them, too.
static v3 meet(const sheet *sh, int face, v3 eye, v3 ray, float weight[3]) {
    const v3 a = sh->position[sh->face[face][0]], u = v3_sub(sh->position[sh->face[face][1]], a),
             w = v3_sub(sh->position[sh->face[face][2]], a), s = v3_sub(eye, a);
    const v3 p = v3_cross(ray, w), q = v3_cross(s, u);
    const float determinant = v3_dot(u, p), inverse = determinant != 0 ? 1 / determinant : 0;
    weight[1] = f_clamp(v3_dot(s, p) * inverse, -0.5f, 1.5f);
    weight[2] = f_clamp(v3_dot(ray, q) * inverse, -0.5f, 1.5f);
    weight[0] = 1 - weight[1] - weight[2];
    return v3_along(eye, v3_dot(w, q) * inverse, ray);
}

static v3 smooth_normal(const sheet *sh, int face, const float weight[3], v3 view) {
    const int32_t *f = sh->face[face];
    v3 n = v3_make(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        n = v3_along(n, weight[k], sh->normal[f[k]]);
    }
    n = v3_normalize(n);
    // towards us, by the flat face and not by the bent normal: outlines stay clean
    const v3 flat =
        v3_cross(v3_sub(sh->position[f[1]], sh->position[f[0]]), v3_sub(sh->position[f[2]], sh->position[f[0]]));
    const float side = v3_dot(flat, view);
    return (side > 0) == (v3_dot(flat, n) > 0) ? v3_scale(n, -1) : n;
}

static v3 shade_floor(const pass *p, const thing *t, v3 ray) {
    const drawing *d = p->d;
    const v3 eye = p->c->eye, n = t->place.z;
    const float down = v3_dot(n, ray), height = v3_dot(v3_sub(eye, t->place.o), n);
    const float far = down < 0 && height > 0 ? height / -down : 1e6f;
    const v3 point = v3_along(eye, far, ray), view = v3_normalize(ray);
    // a pixel on the floor: as wide as its angle, longer by the flat view; between both
    const float pixel = far * 2 * p->c->slope_y / (float)p->out->height,
                stretch = f_sqrt(v3_norm(ray) / f_max(-down, 1e-4f));
    const spot s = {point, n, view, floor_color(d, t, point, pixel * stretch), 0.05f};
    const v3 middle = d->l.center;
    const float away = v3_norm(v3_sub(point, middle)) / d->sh.size;
    const v3 haze = background(d, v3_make(ray.x, ray.y, 0));
    return v3_mix(lit(d, &s), haze, f_smooth(1.5f, 14.0f, away));
}

static v3 shade_face(const pass *p, int face, v3 ray) {
    const sheet *sh = &p->d->sh;
    const thing *t = &p->s->thing[sh->thing[face]];
    if (t->kind == THING_FLOOR) {
        return shade_floor(p, t, ray);
    }
    float weight[3];
    spot s = {.view = v3_normalize(ray), .shine = 0.22f};
    s.point = meet(sh, face, p->c->eye, ray, weight);
    s.normal = smooth_normal(sh, face, weight, ray);
    const form *f = &p->s->form[t->form];
    s.color = f->color ? f->color[sh->own[face]] : t->color;
    if (t->kind == THING_SIGN) {
        // bright from all sides, a little darker where it turns away
        return v3_scale(s.color, 0.55f - 0.5f * v3_dot(s.normal, s.view));
    }
    return lit(p->d, &s);
}

/// The places of a pixel's samples that show one triangle, and how many they are.
typedef struct share {
    int face, count;
    double x, y;
} share;

static int gather(const raster *r, int column, int row, share list[SAMPLES]) {
    int n = 0;
    for (int i = 0; i < SAMPLES; i++) {
        const int sx = column * SIDE + i % SIDE, sy = row * SIDE + i / SIDE;
        const int face = r->id[(size_t)sy * (size_t)r->width + (size_t)sx];
        int k = 0;
        while (k < n && list[k].face != face) {
            k++;
        }
        if (k == n) {
            list[n++] = (share){.face = face};
        }
        double x, y;
        raster_sample(r, sx, sy, &x, &y);
        list[k].count++;
        list[k].x += x;
        list[k].y += y;
    }
    return n;
}

static v3 pixel_color(const pass *p, int column, int row) {
    const raster *r = &p->d->seen;
    share list[SAMPLES];
    const int n = gather(r, column, row, list);
    v3 sum = v3_make(0, 0, 0);
    for (int k = 0; k < n; k++) {
        const share *s = &list[k];
        const float x = (float)(2 * s->x / (s->count * (double)r->width) - 1),
                    y = (float)(1 - 2 * s->y / (s->count * (double)r->height));
        const v3 ray = camera_ray(p->c, x, y);
        v3 c = s->face < 0 ? background(p->d, ray) : shade_face(p, s->face, ray);
        // a sample is a sensor that can be full: bright edges stay smooth
        c = v3_make(f_min(c.x, 1.6f), f_min(c.y, 1.6f), f_min(c.z, 1.6f));
        sum = v3_along(sum, (float)s->count / SAMPLES, c);
    }
    return sum;
}

static void shade_row(void *context, int row) {
    const pass *p = context;
    uint8_t *out = p->out->rgb + (size_t)row * (size_t)p->out->width * 3;
    for (int column = 0; column < p->out->width; column++, out += 3) {
        const v3 c = pixel_color(p, column, row);
        out[0] = tone(p->d, c.x);
        out[1] = tone(p->d, c.y);
        out[2] = tone(p->d, c.z);
    }
}

void draw_stage(drawing *d, const stage *s, const camera *c, picture *out) {
    sheet_fill(&d->sh, s);
    light_fill(&d->l, &d->sh, s);
    pass p = {d, s, c, out, NEAR_PART * d->sh.size};
    parallel_for((out->height + BAND - 1) / BAND, see_band, &p);
    parallel_for(out->height, shade_row, &p);
}
