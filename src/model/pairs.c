/// Whether two shapes may touch: a few comparisons, and bisection where there are explicit pairs or excluded bodies.
///
/// Ruled out, in this order: shapes that do not collide; two on one node (fixed together, or both at rest in the world);
/// bodies that the user excludes. What the user has paired may touch then; of the rest, shapes whose groups and masks do
/// not meet may not, nor those on two sides of a joint, unless the options say so.
#include "model/model.h"

static bool is_excluded(const kk_model *m, const kki_model_shape *a, const kki_model_shape *b) {
    const uint64_t key = kki_pair_key(a->body, b->body);
    int32_t low = 0, high = m->nexclude;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (m->exclude[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < m->nexclude && m->exclude[low] == key;
}

static const kki_explicit_pair *find_explicit(const kk_model *m, int a, int b) {
    const uint64_t key = kki_pair_key(a, b);
    int32_t low = 0, high = m->nexplicit;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (m->explicit_pair[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < m->nexplicit && m->explicit_pair[low].key == key ? &m->explicit_pair[low] : NULL;
}

static bool are_neighbors(const kki_model_shape *a, const kki_model_shape *b) {
    return a->mount == b->rigid || b->mount == a->rigid;
}

static bool may_meet(const kk_model *m, const kki_model_shape *a, const kki_model_shape *b) {
    const uint32_t bits = (a->group & b->mask) | (b->group & a->mask);
    return bits != 0 && (m->options.adjacent_collide || !are_neighbors(a, b));
}

/// The law of a pair that may touch.
static int law_of(const kk_model *m, int a, int b, const kki_explicit_pair *pair) {
    if (pair && pair->law >= 0) {
        return pair->law;
    }
    const int32_t first = m->shape[a < b ? a : b].material, second = m->shape[a < b ? b : a].material;
    return m->material_class[first] * m->nmaterial_class + m->material_class[second];
}

bool kki_model_pair_may_touch(const kk_model *m, int a, int b, int *law) {
    const kki_model_shape *s = &m->shape[a], *t = &m->shape[b];
    if (s->collider < 0 || t->collider < 0 || s->node == t->node || is_excluded(m, s, t)) {
        return false;
    }
    const kki_explicit_pair *pair = find_explicit(m, a, b);
    if (!pair && !may_meet(m, s, t)) {
        return false;
    }
    if (law) {
        *law = law_of(m, a, b, pair);
    }
    return true;
}
