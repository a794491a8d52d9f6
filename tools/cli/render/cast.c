// From shapes to things: which are drawn, in which colors; see cast.h.
#include "cast.h"

#include <stdlib.h>

#include "../text.h"

// ---- colors, linear

static v3 from_srgb(double r, double g, double b) {
    return v3_make((float)kk_pow(r, 2.2), (float)kk_pow(g, 2.2), (float)kk_pow(b, 2.2));
}

/// Loose things, one color after the other.
static v3 prop_color(int index) {
    static const float table[][3] = {{0.86f, 0.36f, 0.28f}, {0.27f, 0.53f, 0.77f}, {0.94f, 0.71f, 0.26f},
                                     {0.36f, 0.64f, 0.49f}, {0.61f, 0.46f, 0.72f}, {0.90f, 0.55f, 0.33f},
                                     {0.42f, 0.69f, 0.75f}, {0.78f, 0.43f, 0.55f}};
    const float *t = table[index % 8];
    return from_srgb((double)t[0], (double)t[1], (double)t[2]);
}

static int depth_of(const kk_model *m, int body) {
    int depth = 0;
    for (int b = body; b > 0; b = kk_model_body_parent(m, b)) {
        depth++;
    }
    return depth;
}

static bool has_children(const kk_model *m, int body) {
    for (int i = 1; i < kk_model_nbody(m); i++) {
        if (kk_model_body_parent(m, i) == body) {
            return true;
        }
    }
    return false;
}

/// Links of a robot: porcelain and graphite in turn, tips in red.
static v3 link_color(const kk_model *m, int body) {
    if (!has_children(m, body)) {
        return from_srgb(0.80, 0.27, 0.20);
    }
    return depth_of(m, body) % 2 ? from_srgb(0.91, 0.90, 0.87) : from_srgb(0.33, 0.36, 0.41);
}

static v3 body_color(const kk_model *m, int body) {
    if (body == KK_WORLD) {
        return from_srgb(0.72, 0.73, 0.74);
    }
    const bool is_loose = kk_model_body_parent(m, body) == KK_WORLD && !has_children(m, body);
    return is_loose ? prop_color(body) : link_color(m, body);
}

static v3 floor_color(void) {
    return v3_make(0.53f, 0.555f, 0.59f);
}

// ---- things

static void add_actor(cast *c, thing t, int body, kk_transform placement) {
    c->actor = cli_reallocate(c->actor, (size_t)c->count + 1, sizeof *c->actor);
    c->actor[c->count++] = (actor){body, placement};
    stage_add(&c->s, t);
}

/// Bodies that can move, or hang on one that can.
static bool can_move(const kk_model *m, int body) {
    for (int b = body; b > 0; b = kk_model_body_parent(m, b)) {
        if (kk_model_joint(m, b).nv > 0) {
            return true;
        }
    }
    return false;
}

static void add_shape(cast *c, const kk_model *m, int index) {
    const kk_shape_def s = kk_model_shape(m, index);
    thing t = {.kind = s.type == KK_SHAPE_PLANE ? THING_FLOOR : THING_SOLID,
               .form = -1,
               .alpha = 1,
               .is_framed = can_move(m, s.body)};
    form f = {0};
    t.color = t.kind == THING_FLOOR ? floor_color() : body_color(m, s.body);
    if (s.visual >= 0 && t.kind == THING_SOLID) {
        const kk_visual_def visual = kk_model_visual(m, s.visual);
        t.color = from_srgb((double)visual.color[0], (double)visual.color[1], (double)visual.color[2]);
        t.alpha = visual.color[3];
    }
    if (t.kind == THING_SOLID) {
        if (!form_of_shape(&f, m, &s)) {
            form_free(&f);
            return;
        }
        t.form = stage_add_form(&c->s, &f);
    }
    add_actor(c, t, s.body, s.placement);
}

// ---- models without shapes

/// Axes of a symmetric matrix by Jacobi's rotations. @param values  [3] on the diagonal afterwards
static kk_mat3 principal_axes(kk_sym3 s, double values[3]) {
    double a[3][3] = {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 24; sweep++) {
        const int p = sweep % 3 == 2 ? 1 : 0, q = sweep % 3 == 0 ? 1 : 2;
        // what is rounding alone does not turn anything
        const double small = 1e-9 * (s.xx + s.yy + s.zz);
        if (a[p][q] < small && a[p][q] > -small) {
            continue;
        }
        const double angle = 0.5 * kk_atan2(2 * a[p][q], a[q][q] - a[p][p]);
        double sine, cosine;
        kk_sincos(angle, &sine, &cosine);
        for (int k = 0; k < 3; k++) {
            const double x = a[k][p], y = a[k][q], u = v[k][p], w = v[k][q];
            a[k][p] = cosine * x - sine * y;
            a[k][q] = sine * x + cosine * y;
            v[k][p] = cosine * u - sine * w;
            v[k][q] = sine * u + cosine * w;
        }
        for (int k = 0; k < 3; k++) {
            const double x = a[p][k], y = a[q][k];
            a[p][k] = cosine * x - sine * y;
            a[q][k] = sine * x + cosine * y;
        }
    }
    kk_mat3 R;
    for (int i = 0; i < 3; i++) {
        values[i] = a[i][i];
        for (int k = 0; k < 3; k++) {
            R.m[3 * i + k] = v[i][k];
        }
    }
    // a proper rotation
    const double volume = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                          v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                          v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    for (int i = 0; i < 3 && volume < 0; i++) {
        R.m[3 * i + 2] = -R.m[3 * i + 2];
    }
    return R;
}

/// The box of even density with the same inertia.
static void add_inertia(cast *c, const kk_model *m, int body) {
    const kk_inertia inertia = kk_model_body_inertia(m, body);
    double moment[3];
    if (!(inertia.mass > 0)) {
        return;
    }
    const kk_mat3 R = principal_axes(inertia.moment, moment);
    float side[3];
    for (int i = 0; i < 3; i++) {
        const double square = 6 / inertia.mass * (moment[(i + 1) % 3] + moment[(i + 2) % 3] - moment[i]);
        side[i] = (float)kk_sqrt(square > 1e-6 ? square : 1e-6);
    }
    form f = {0};
    form_box(&f, v3_make(side[0], side[1], side[2]));
    form_finish(&f);
    const thing t = {.kind = THING_SOLID,
                     .form = stage_add_form(&c->s, &f),
                     .alpha = 1,
                     .color = body_color(m, body),
                     .is_framed = can_move(m, body)};
    add_actor(c, t, body, kk_transform_make(R, inertia.com));
}

/// Boxes for the bodies that have no shape, where these are most of all: a robot that was given feet alone.
static void add_shapeless(cast *c, const kk_model *m) {
    const int n = kk_model_nbody(m);
    bool *has_shape = cli_allocate((size_t)n, sizeof *has_shape);
    int bare = 0, dressed = 0;
    for (int i = 0; i < c->count; i++) {
        has_shape[c->actor[i].body] = true;
    }
    for (int i = 1; i < n; i++) {
        const bool has_mass = kk_model_body_inertia(m, i).mass > 0;
        bare += has_mass && !has_shape[i];
        dressed += has_mass && has_shape[i];
    }
    for (int i = 1; i < n && bare > dressed; i++) {
        if (!has_shape[i]) {
            add_inertia(c, m, i);
        }
    }
    free(has_shape);
}

// ---- the cast

static bool is_drawn(const kk_model *m, int shape, int purpose) {
    return kk_model_shape(m, shape).purpose & purpose;
}

void cast_make(cast *c, const kk_model *model, cast_shapes which) {
    *c = (cast){0};
    const int n = kk_model_nshape(model);
    int purpose = which == CAST_SEEN ? KK_SHAPE_VISIBLE : KK_SHAPE_COLLIDES, solids = 0;
    for (int i = 0; i < n; i++) {
        solids += is_drawn(model, i, purpose) && kk_model_shape(model, i).type != KK_SHAPE_PLANE;
    }
    purpose = solids ? purpose : KK_SHAPE_VISIBLE | KK_SHAPE_COLLIDES;
    for (int i = 0; i < n; i++) {
        if (is_drawn(model, i, purpose)) {
            add_shape(c, model, i);
        }
    }
    add_shapeless(c, model);
    c->forms = c->s.form_count;
}

double cast_lowest(const cast *c) {
    double lowest = 0;
    bool is_begun = false;
    for (int i = 0; i < c->count; i++) {
        const thing *t = &c->s.thing[i];
        for (int k = 0; k < 8 && t->form >= 0; k++) {
            const form *f = &c->s.form[t->form];
            const v3 corner =
                v3_make(k & 1 ? f->high.x : f->low.x, k & 2 ? f->high.y : f->low.y, k & 4 ? f->high.z : f->low.z);
            const double z = (double)affine_point(&t->place, corner).z;
            lowest = is_begun && lowest < z ? lowest : z;
            is_begun = true;
        }
    }
    return lowest;
}

void cast_add_floor(cast *c, double z) {
    const thing t = {.kind = THING_FLOOR, .form = -1, .alpha = 1, .color = floor_color()};
    add_actor(c, t, KK_WORLD, kk_transform_translation(0, 0, z));
}

bool cast_has_floor(const cast *c) {
    for (int i = 0; i < c->count; i++) {
        if (c->s.thing[i].kind == THING_FLOOR) {
            return true;
        }
    }
    return false;
}

void cast_place(cast *c, const kk_model *model, const kk_data *data) {
    stage_cut(&c->s, c->forms, c->count);
    for (int i = 0; i < c->count; i++) {
        const kk_transform X_WB = kk_body_pose(model, data, c->actor[i].body);
        c->s.thing[i].place = affine_from(kk_transform_mul(X_WB, c->actor[i].placement));
    }
}

void cast_free(cast *c) {
    stage_free(&c->s);
    free(c->actor);
    *c = (cast){0};
}
