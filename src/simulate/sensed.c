/// Sensors of what is near: zones, distances, and contacts in slots.
///
/// A zone is a volume about a frame. As in MuJoCo a contact belongs to it if its point is inside, or if the ray from it along its normal, away
/// from the body that feels it, meets the zone.
#include <karakuri/collision.h>
#include <string.h>

#include "collision/ray.h"
#include "geometry/shape.h"
#include "simulate/simulator.h"

// ---- zones

static kki_shape zone_shape(const kki_model_sensor *k) {
    return (kki_shape){.type = k->zone, .half = {k->zone_half[0], k->zone_half[1], k->zone_half[2]}};
}

/// The first crossing of the zone's surface along a ray of any length, from either side.
static int meets_zone(const kki_model_sensor *k, const kk_transform *X, kk_vec3 point, kk_vec3 direction,
                      kki_ray_hit *hit) {
    const kki_shape shape = zone_shape(k);
    const kki_placed_shape placed = {.shape = &shape, .X_WS = *X};
    const kki_ray ray = {point, direction, __builtin_inf()};
    return kki_ray_cast_placed(&placed, &ray, hit);
}

int kki_is_in_zone(const kki_model_sensor *k, const kk_transform *X, kk_vec3 point) {
    kki_ray_hit hit;
    return meets_zone(k, X, point, kk_vec3_make(0, 0, 1), &hit) && hit.is_inside;
}

int kki_zone_feels(const kki_model_sensor *k, const kk_transform *X, kk_vec3 point, kk_vec3 outward) {
    kki_ray_hit hit;
    return k->zone < 0 || meets_zone(k, X, point, outward, &hit);
}

// ---- sides

static int is_behind(const kk_model *m, int body, int root) {
    while (body > root) {
        body = m->body[body].parent;
    }
    return body == root;
}

static int is_on_side(const kk_model *m, int shape, int side, int id) {
    switch (side) {
    case KK_SIDE_SHAPE: return shape == id;
    case KK_SIDE_BODY: return m->shape[shape].body == id;
    case KK_SIDE_SUBTREE: return is_behind(m, m->shape[shape].body, id);
    default: return 1;
    }
}

// ---- distances

static kk_transform shape_pose(const kk_model *m, const kk_data *now, int shape) {
    return kk_transform_mul(kki_node_transform(now, m->shape[shape].node), m->shape[shape].X_NS);
}

static void try_pair(const kk_model *m, const kk_data *now, int a, int b, kk_separation *least) {
    kk_separation s;
    if (kk_shape_separation(m, a, shape_pose(m, now, a), b, shape_pose(m, now, b), &s) == KK_OK &&
        s.distance < least->distance) {
        *least = s;
    }
}

/// The smallest distance up to the cutoff between the two sides; the cutoff where there is none.
static kk_separation least_separation(const kk_model *m, const kk_data *now, const kki_model_sensor *k) {
    kk_separation least = {.distance = k->cutoff};
    for (int i = 0; i < m->ncollider; i++) {
        const int a = m->collider[i];
        for (int j = 0; j < m->ncollider && is_on_side(m, a, k->side[0], k->target); j++) {
            const int b = m->collider[j];
            if (a != b && is_on_side(m, b, k->side[1], k->reference)) {
                try_pair(m, now, a, b, &least);
            }
        }
    }
    return least;
}

static void put(double *out, kk_vec3 a) {
    out[0] = a.x;
    out[1] = a.y;
    out[2] = a.z;
}

void kki_read_separation(const kk_model *m, const kk_data *now, const kki_model_sensor *k, double *out) {
    const kk_separation s = least_separation(m, now, k);
    const int is_found = s.distance < k->cutoff;
    if (k->type == KK_SENSOR_DISTANCE) {
        out[0] = s.distance;
    } else if (k->type == KK_SENSOR_DIRECTION) { // from surface to surface, so in an overlap it is turned round
        put(out, kk_vec3_scale(s.normal, !is_found ? 0 : s.distance < 0 ? -1 : 1));
    } else {
        put(out, is_found ? s.on_a : kk_vec3_make(0, 0, 0));
        put(out + 3, is_found ? s.on_b : kk_vec3_make(0, 0, 0));
    }
}

// ---- contacts

/// A contact that matches, seen from the first side to the second.
typedef struct match {
    int index; ///< of the contact; −1: none
    kk_vec3 position, normal, force, moment;
    double gap, key; ///< of the choice: the least first
} match;

/// Which way round a contact matches: 1, −1 turned round, 0 not.
static int matches(const kk_model *m, const kki_model_sensor *k, const kki_contact *c) {
    const int32_t *s = c->shape;
    if (is_on_side(m, s[0], k->side[0], k->target) && is_on_side(m, s[1], k->side[1], k->reference)) {
        return 1;
    }
    return is_on_side(m, s[1], k->side[0], k->target) && is_on_side(m, s[0], k->side[1], k->reference) ? -1 : 0;
}

static double key_of(const kki_model_sensor *k, const kki_contact *c) {
    return k->choice == KK_CHOOSE_DEEPEST ? c->gap : k->choice == KK_CHOOSE_STRONGEST ? -kk_vec3_norm(c->impulse) : 0;
}

/// A contact without force and apart is only watched.
static int is_closed(const kki_contact *c) {
    return c->gap <= 0 || kk_vec3_dot(c->impulse, c->normal) > 0;
}

static int read_match(const kk_simulator *s, const kk_data *now, const kki_model_sensor *k, int index, match *out) {
    const kki_contact *c = &s->contacts.list[index];
    const int way = is_closed(c) ? matches(s->model, k, c) : 0;
    if (way == 0) {
        return 0;
    }
    if (k->zone_frame >= 0) {
        const kk_transform X = kk_frame_pose(s->model, now, k->zone_frame);
        if (k->zone >= 0 && !kki_is_in_zone(k, &X, c->position)) {
            return 0;
        }
    }
    *out = (match){.index = index,
                   .position = c->position,
                   .normal = kk_vec3_scale(c->normal, way),
                   .force = kk_vec3_scale(c->impulse, way / s->h),
                   .moment = kk_vec3_scale(c->moment, way / s->h),
                   .gap = c->gap,
                   .key = key_of(k, c)};
    return 1;
}

/// The next one after the last in the order of the choice; index −1 where there is none. @param count  of all that match
static match next_match(const kk_simulator *s, const kk_data *now, const kki_model_sensor *k, const match *last,
                        int *count) {
    match best = {.index = -1};
    *count = 0;
    for (int i = 0; i < s->contacts.count; i++) {
        match at;
        if (!read_match(s, now, k, i, &at)) {
            continue;
        }
        ++*count;
        const int is_after = last->index < 0 || at.key > last->key || (at.key == last->key && i > last->index);
        if (is_after && (best.index < 0 || at.key < best.key)) {
            best = at;
        }
    }
    return best;
}

/// One contact at the forces' center that does what all do; its frame is the world's.
static match sum_of_matches(const kk_simulator *s, const kk_data *now, const kki_model_sensor *k, int *count) {
    match sum = {.index = -1, .normal = {1, 0, 0}}, at;
    double weight = 0;
    *count = 0;
    for (int i = 0; i < s->contacts.count; i++) {
        if (read_match(s, now, k, i, &at)) {
            const double w = kk_vec3_norm(at.force);
            sum.index = 0;
            weight += w;
            sum.position = kk_vec3_add(sum.position, kk_vec3_scale(at.position, w));
            ++*count;
        }
    }
    sum.position = weight > 0 ? kk_vec3_scale(sum.position, 1 / weight) : sum.position;
    for (int i = 0; i<s->contacts.count && * count> 0; i++) {
        if (read_match(s, now, k, i, &at)) {
            const kk_vec3 arm = kk_vec3_sub(at.position, sum.position);
            sum.force = kk_vec3_add(sum.force, at.force);
            sum.moment = kk_vec3_add(sum.moment, kk_vec3_add(at.moment, kk_vec3_cross(arm, at.force)));
        }
    }
    return sum;
}

/// MuJoCo's tangent: what is left of y, or of z where that is near the normal.
static kk_vec3 tangent_of(kk_vec3 n) {
    const kk_vec3 along = n.y < 0.5 && n.y > -0.5 ? kk_vec3_make(0, 1, 0) : kk_vec3_make(0, 0, 1);
    const kk_vec3 t = kk_vec3_sub(along, kk_vec3_scale(n, kk_vec3_dot(n, along)));
    return kk_vec3_scale(t, 1 / kk_vec3_norm(t));
}

static void tell(const kki_model_sensor *k, const match *at, int count, double *out) {
    const kk_vec3 t = tangent_of(at->normal), b = kk_vec3_cross(at->normal, t);
    const kk_vec3 force = {kk_vec3_dot(at->normal, at->force), kk_vec3_dot(t, at->force), kk_vec3_dot(b, at->force)};
    const kk_vec3 torque = {kk_vec3_dot(at->normal, at->moment), kk_vec3_dot(t, at->moment),
                            kk_vec3_dot(b, at->moment)};
    const kk_vec3 vector[] = {force, torque, {at->gap, 0, 0}, at->position, at->normal, t};
    static const int bit[] = {KK_CONTACT_FORCE,    KK_CONTACT_TORQUE, KK_CONTACT_GAP,
                              KK_CONTACT_POSITION, KK_CONTACT_NORMAL, KK_CONTACT_TANGENT};
    if (k->tell & KK_CONTACT_FOUND) {
        *out++ = count;
    }
    for (int i = 0; i < 6; i++) {
        if (k->tell & bit[i]) {
            const double numbers[3] = {vector[i].x, vector[i].y, vector[i].z};
            const int n = bit[i] == KK_CONTACT_GAP ? 1 : 3;
            memcpy(out, numbers, (size_t)n * sizeof *out);
            out += n;
        }
    }
}

void kki_read_contacts(const kk_simulator *s, const kk_data *now, const kki_model_sensor *k, double *out) {
    const int size = k->count / k->slots;
    match last = {.index = -1};
    memset(out, 0, (size_t)k->count * sizeof *out);
    for (int i = 0; i < k->slots; i++) {
        int count;
        last = k->choice == KK_CHOOSE_SUM ? sum_of_matches(s, now, k, &count) : next_match(s, now, k, &last, &count);
        if (last.index < 0 || (k->choice == KK_CHOOSE_SUM && i > 0)) {
            break;
        }
        tell(k, &last, count, out + (size_t)i * (size_t)size);
    }
}
