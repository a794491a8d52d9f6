// Signs; see signs.h. An arrow as long as the scene would be the whole weight; none gets so long.
#include "signs.h"

#include <stdlib.h>

#include "../text.h"

static thing *add_sign(cast *c, form *f, affine place, v3 color, float alpha) {
    form_finish(f);
    const int index = stage_add_form(&c->s, f);
    return stage_add(&c->s, (thing){.kind = THING_SIGN, .form = index, .place = place, .color = color, .alpha = alpha});
}

/// Axes with z along a direction.
static affine along(v3 direction, v3 origin) {
    const v3 aside = direction.z > 0.9f || direction.z < -0.9f ? v3_make(1, 0, 0) : v3_make(0, 0, 1);
    const v3 x = v3_normalize(v3_cross(aside, direction));
    return (affine){x, v3_cross(direction, x), direction, origin};
}

static void add_arrow(cast *c, v3 from, v3 way, float thick, v3 color) {
    const float length = v3_norm(way), head = f_min(5 * thick, 0.6f * length);
    const v3 unit = v3_normalize(way);
    form shaft = {0}, tip = {0};
    form_cone(&shaft, thick, thick, length - head);
    form_cone(&tip, 2.4f * thick, 0, head);
    add_sign(c, &shaft, along(unit, v3_along(from, (length - head) / 2, unit)), color, 1)->is_on_top = true;
    add_sign(c, &tip, along(unit, v3_along(from, length - head / 2, unit)), color, 1)->is_on_top = true;
}

static bool is_fixed(const kk_model *m, int body) {
    for (int b = body; b > 0; b = kk_model_body_parent(m, b)) {
        if (kk_model_joint(m, b).nv > 0) {
            return false;
        }
    }
    return true;
}

/// The force on what moves; on the second where both do.
static kk_vec3 force_on_mover(const signs_source *p, const kk_contact *k) {
    return is_fixed(p->model, k->body[1]) ? kk_vec3_scale(k->force, -1) : k->force;
}

/// Straight at first, then ever slower, so that an impact does not leave the picture.
static double arrow_length(double share, double longest) {
    return longest * (1 - kk_exp(-share / longest));
}

static void add_forces(cast *c, const signs_source *p, const signs_options *o) {
    const kk_model *m = p->model;
    const double weight = kk_model_mass(m) * kk_vec3_norm(kk_model_gravity(m));
    const float thick = o->size * (o->thick > 0 ? o->thick : 0.004f);
    const double longest = o->longest > 0 ? (double)o->longest : 0.45;
    for (int i = 0; i < kk_simulator_ncontact(p->simulator); i++) {
        const kk_contact k = kk_simulator_contacts(p->simulator)[i];
        const kk_vec3 force = force_on_mover(p, &k);
        const double size = kk_vec3_norm(force),
                     length = (double)o->size * arrow_length(size / (weight > 0 ? weight : 1), longest);
        if (length > 0.01 * (double)o->size) {
            add_arrow(c, v3_from(k.position), v3_from(kk_vec3_scale(force, length / size)), thick,
                      v3_make(0.85f, 0.13f, 0.03f));
        }
    }
}

// ---- balance

typedef struct footing {
    v3 *point; ///< of contacts with what is fixed
    int count;
    v3 pressure; ///< their center, weighed by the normal forces
    bool has_pressure;
} footing;

static footing find_footing(const signs_source *p) {
    const kk_model *m = p->model;
    const int n = kk_simulator_ncontact(p->simulator);
    footing f = {.point = cli_allocate((size_t)n + 1, sizeof *f.point)};
    double sum = 0;
    kk_vec3 moment = kk_vec3_make(0, 0, 0);
    for (int i = 0; i < n; i++) {
        const kk_contact k = kk_simulator_contacts(p->simulator)[i];
        const double up = force_on_mover(p, &k).z;
        if ((is_fixed(m, k.body[0]) || is_fixed(m, k.body[1])) && up > 0) {
            f.point[f.count++] = v3_from(k.position);
            moment = kk_vec3_add(moment, kk_vec3_scale(k.position, up));
            sum += up;
        }
    }
    f.has_pressure = sum > 0;
    f.pressure = v3_from(kk_vec3_scale(moment, sum > 0 ? 1 / sum : 0));
    return f;
}

static float turn(v3 a, v3 b, v3 c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static int by_x(const void *a, const void *b) {
    const v3 *p = a, *q = b;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->y > q->y) - (p->y < q->y);
}

/// Andrew's chain: the lower half to the right, then the upper one back.
static int hull(v3 *point, int count, v3 *out) {
    int n = 0;
    qsort(point, (size_t)count, sizeof *point, by_x);
    for (int half = 0; half < 2; half++) {
        const int start = n;
        for (int i = 0; i < count; i++) {
            const v3 p = point[half ? count - 1 - i : i];
            while (n >= start + 2 && turn(out[n - 2], out[n - 1], p) <= 0) {
                n--;
            }
            out[n++] = p;
        }
        n--;
    }
    return n;
}

static void add_support(cast *c, footing *f, float lift) {
    v3 *out = cli_allocate(2 * (size_t)f->count + 2, sizeof *out);
    const int n = f->count > 2 ? hull(f->point, f->count, out) : 0;
    for (int i = 0; i < n; i++) {
        out[i].z = f->pressure.z + lift;
    }
    if (n > 2) {
        form polygon = {0};
        form_polygon(&polygon, out, n);
        add_sign(c, &polygon, affine_from(kk_transform_identity()), v3_make(0.10f, 0.55f, 0.25f), 0.45f);
    }
    free(out);
}

static void add_balance(cast *c, const signs_source *p, float size) {
    const v3 com = v3_from(kk_center_of_mass(p->model, p->data, p->q));
    form ball = {0}, line = {0}, ring = {0}, dot = {0};
    form_balance(&ball, 0.022f * size);
    add_sign(c, &ball, affine_from(kk_transform_translation((double)com.x, (double)com.y, (double)com.z)),
             v3_make(1, 1, 1), 1)
        ->is_on_top = true;
    footing f = find_footing(p);
    if (f.has_pressure) {
        const float lift = 0.002f * size;
        add_support(c, &f, lift);
        const v3 foot = v3_make(com.x, com.y, f.pressure.z + lift);
        form_cone(&line, 0.0018f * size, 0.0018f * size, f_max(com.z - foot.z, 1e-4f));
        affine place =
            affine_from(kk_transform_translation((double)com.x, (double)com.y, 0.5 * (double)(com.z + foot.z)));
        add_sign(c, &line, place, v3_make(0.9f, 0.62f, 0.03f), 1)->is_on_top = true;
        form_ring(&ring, 0.012f * size, 0.02f * size);
        place.o = v3_add(f.pressure, v3_make(0, 0, 2 * lift));
        add_sign(c, &ring, place, v3_make(0.75f, 0.05f, 0.5f), 1)->is_on_top = true;
        form_ring(&dot, 0, 0.008f * size);
        place.o = v3_add(foot, v3_make(0, 0, 1.5f * lift));
        add_sign(c, &dot, place, v3_make(0.9f, 0.62f, 0.03f), 1)->is_on_top = true;
    }
    free(f.point);
}

void signs_add(cast *c, const signs_source *p, const signs_options *o) {
    if (o->forces) {
        add_forces(c, p, o);
    }
    if (o->balance) {
        add_balance(c, p, o->size);
    }
}
