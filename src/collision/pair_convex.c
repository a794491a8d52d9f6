// Any two convex shapes: signed distance of the cores, then the common part of the patches that face each other.
//
// Where a flat face's normal separates the bodies as well as the normal found, to a hair, the face's is taken: a body that
// lies on a face gets exactly its normal, and the last reference face keeps its part longer than a new one gets it.
#include <stdbool.h>

#include "collision/gjk.h"
#include "collision/pairs.h"
#include "collision/patch.h"

static const double KEEP = 2e-4, TAKE = 1e-5;

static void take_normal(kki_meeting *m, kk_vec3 n, const kki_difference *w, double distance, bool on_b_is_sure) {
    m->normal = n;
    m->distance = distance;
    m->on_a = on_b_is_sure ? kk_vec3_sub(w->b, kk_vec3_scale(n, distance)) : w->a;
}

// Tries a face's normal, given in its core's frame.
static bool try_face(kki_meeting *m, kk_vec3 normal, bool is_b, double best, double slack) {
    const kk_vec3 n = is_b ? kk_vec3_neg(kk_mat3_mul_vec(m->pair->X_AB.R, normal)) : normal;
    kki_difference w = {.id = {-1, -1}};
    kki_core_pair_support(m->pair, n, &w);
    const double distance = -kk_vec3_dot(n, w.w);
    // no direction separates more than the bodies are apart: one that does better than what was found is right whatever it is
    const bool is_like = kk_vec3_dot(n, m->normal) >= 0.9;
    if (distance < best - slack || (!is_like && distance <= best)) {
        return false;
    }
    take_normal(m, n, &w, distance, !is_b);
    return true;
}

static bool keep_reference(kki_meeting *m, const kki_pair_memory *memory) {
    const bool is_b = memory->reference >> 31;
    kk_vec3 normal;
    return memory->reference != 0 &&
           kki_core_face_normal(is_b ? &m->pair->b : &m->pair->a, (int32_t)(memory->reference & 0x7fffffff) - 1,
                                &normal) &&
           try_face(m, normal, is_b, m->distance, KEEP * m->radius);
}

static void settle_normal(kki_meeting *m, const kki_pair_memory *memory) {
    if (keep_reference(m, memory)) {
        return;
    }
    kki_patch patch;
    kki_core_patch(&m->pair->a, m->normal, &patch);
    if (patch.count >= 3 && try_face(m, patch.normal, false, m->distance, TAKE * m->radius)) {
        return;
    }
    kki_core_patch(&m->pair->b, kk_vec3_neg(kk_mat3_tmul_vec(m->pair->X_AB.R, m->normal)), &patch);
    if (patch.count >= 3) {
        (void)try_face(m, patch.normal, true, m->distance, TAKE * m->radius);
    }
}

int kki_collide_convex(const kki_shape *a, const kk_transform *X_WA, const kki_shape *b, const kk_transform *X_WB,
                       double reach, kki_pair_memory *memory, kki_manifold *manifold, int room) {
    (void)room;
    kki_core_pair pair;
    kki_small_hull small;
    kki_core_pair_of(a, X_WA, b, X_WB, &pair);
    kki_core_pair_turn_corners(&pair, &small);
    const double most = reach + pair.a.radius + pair.b.radius;
    kki_core_distance d;
    if (kki_core_closed_form(&pair.a, &pair.b, &pair.X_AB, &d)) {
        if (d.distance > most) {
            return 0;
        }
    } else if (!kki_core_distance_find(&pair, most, memory, &d) || d.distance > most) {
        return 0;
    }
    kki_meeting m = {.pair = &pair, .normal = d.normal, .distance = d.distance, .on_a = d.on_a, .reach = reach};
    const double ea = kki_core_outer(&pair.a), eb = kki_core_outer(&pair.b);
    m.radius = ea < eb ? ea : eb;
    settle_normal(&m, memory);
    kki_patches_meet(&m, X_WA, memory, manifold);
    return manifold->count > 0;
}
