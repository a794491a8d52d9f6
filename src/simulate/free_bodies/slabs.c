/// Large batches of the swarm cut into slabs of space, so that sweeps can go through them in waves (contact/swarm.c).
///
/// A slab is no thinner than the distance of any two bodies that touch, along the axis that the batch is longest on: so whoever touches a body of a slab is in that slab or
/// in one beside it. Where one body is as long as all others together, a plate that carries them, there is one slab.
#include "simulate/free_bodies/slabs.h"

#include "base/fetch.h"

static int batch_of(const kki_free_bodies *x, int tree) {
    const int set = x->parent[tree];
    return x->is_held[set] ? -1 : x->batch[set];
}

static double coordinate(const kki_free_bodies *x, int tree, int axis) {
    return (&x->place[tree].x)[axis];
}

/// Where a batch begins and how long it is along an axis, and the way from each of its bodies to the next.
typedef struct slabs {
    int axis, count;
    double low, high, way;
    double scale; ///< slabs a meter
} slabs;

/// Where bodies are stands in x->place by tree until the swarm begins.
static void measure(const kk_model *m, const kk_simulator *s, int batch, slabs along[3]) {
    enum { AHEAD = 8 };
    const kki_free_bodies *x = &s->free_bodies;
    for (int t = 0, last = -1; t < m->ntree; t++) {
        if (batch_of(x, t) != batch) {
            continue;
        }
        kki_fetch(kki_pose_of(s->data, t + AHEAD)->p, 1); // most often the next tree's node is the next
        last = last < 0 ? t : last;
        x->place[t] = kki_vec3(kki_pose_of(s->data, m->dof_node[m->tree_first_dof[t]])->p);
        for (int k = 0; k < 3; k++) {
            const double p = coordinate(x, t, k);
            along[k].low = p < along[k].low ? p : along[k].low;
            along[k].high = p > along[k].high ? p : along[k].high;
            along[k].way += __builtin_fabs(p - coordinate(x, last, k));
        }
        last = t;
    }
}

/// The axis that the batch is longest on; or one half as long where its bodies come in a better order, so that those of a slab are near each other in the lists of bodies and contacts.
static slabs choose(const slabs along[3]) {
    slabs best = {.count = 1};
    double most = 0, least = __builtin_inf();
    for (int k = 0; k < 3; k++) {
        const double length = along[k].high - along[k].low;
        most = length > most ? length : most;
    }
    for (int k = 0; k < 3; k++) {
        const double length = along[k].high - along[k].low;
        if (length >= 0.5 * most && along[k].way < least * length) {
            best = along[k];
            least = along[k].way / length;
        }
    }
    return best;
}

/// The largest distance along the axis of two bodies of the batch that touch.
static double reach_of(const kki_free_bodies *x, int batch, int axis) {
    const double *p = &x->place[0].x + axis;
    double reach = 0;
    for (int i = 0; i < x->nface; i++) {
        const kki_free_face *f = &x->face[i];
        if (f->tree[0] >= 0 && f->tree[1] >= 0 && x->batch[f->set] == batch && !x->is_held[f->set]) {
            const double d = __builtin_fabs(p[3 * (size_t)f->tree[1]] - p[3 * (size_t)f->tree[0]]);
            reach = d > reach ? d : reach;
        }
    }
    return reach;
}

/// As many as have KKI_SWARM_CHUNK points each, or as there is room for.
static int count_of(const slabs *a, double reach, int points) {
    const int most = points / KKI_SWARM_CHUNK;
    const double room =
        (a->high - a->low) / (reach * (1 + 1e-6)); // rounding must not put two that touch three slabs apart
    return !(room >= 2) ? 1 : room < most ? (int)room : most;
}

static int slab_of(const slabs *a, double place) {
    const double at = (place - a->low) * a->scale;
    return !(at >= 1) ? 0 : at < a->count ? (int)at : a->count - 1;
}

int kki_free_bodies_cut(const kk_model *m, kk_simulator *s, int batch, int first) {
    kki_free_bodies *x = &s->free_bodies;
    const int points = x->swarm.batch[batch].points;
    slabs along[3], a = {.count = 1};
    if (points >= KKI_SWARM_LARGE) {
        for (int k = 0; k < 3; k++) {
            along[k] = (slabs){k, 1, __builtin_inf(), -__builtin_inf(), 0, 0};
        }
        measure(m, s, batch, along);
        a = choose(along);
        a.count = count_of(&a, reach_of(x, batch, a.axis), points);
        a.scale = a.count / (a.high - a.low);
    }
    for (int t = 0; t < m->ntree && a.count > 1; t++) {
        if (batch_of(x, t) == batch) {
            x->chunk[t] = first + slab_of(&a, coordinate(x, t, a.axis));
        }
    }
    return a.count;
}
