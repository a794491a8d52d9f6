/// What the files of loose bodies have in common: free_bodies/free_bodies.c tells the story, free_bodies/begin.c and free_bodies/end.c are its ends.
#ifndef KKI_SIMULATE_LOOSE_PARTS_H
#define KKI_SIMULATE_LOOSE_PARTS_H

#include "base/fetch.h"
#include "simulate/simulator.h"

typedef struct kki_free_pass {
    const kk_model *m;
    kk_simulator *s;
} kki_free_pass;

// ---- the stages: of some bodies, or of a bundle, as kki_swarm_run visits them; context is a kki_free_pass

void kki_free_bodies_begin_bodies(void *context, int first, int end);
void kki_free_bodies_begin_bundle(void *context, int bundle);
/// And the position pass is posed.
void kki_free_bodies_finish_bundle(void *context, int bundle);
void kki_free_bodies_finish_bodies(void *context, int first, int end);
/// Behind the position pass.
void kki_free_bodies_drift_bodies(void *context, int first, int end);
/// The proof of all, into the report; an error where numbers are none.
kk_status kki_free_bodies_report(const kk_model *m, kk_simulator *s, kk_error *error);

// ---- small things of both ends

/// Whether a body answers alike in all directions. @param k  1/m; xx, yy, zz, xy, xz, yz of I⁻¹
static inline int kki_is_round(const double *k) {
    return k[1] == k[2] && k[1] == k[3] && k[4] == 0 && k[5] == 0 && k[6] == 0;
}

/// y of a body's velocities in its own axes: B v.
static inline void kki_scale_velocity(const kki_free_body *own, kk_vec3 angular, kk_vec3 linear, double y[6]) {
    const double *B = own->turn;
    y[0] = B[0] * angular.x;
    y[1] = B[1] * angular.x + B[2] * angular.y;
    y[2] = (B[3] * angular.x + B[4] * angular.y) + B[5] * angular.z;
    y[3] = own->root * linear.x;
    y[4] = own->root * linear.y;
    y[5] = own->root * linear.z;
}

static inline kk_vec3 kki_vec_at(const double *x) {
    return kk_vec3_make(x[0], x[1], x[2]);
}

/// What is asked of a body a few further on: most often it is the next in the list of nodes, too. In line, as kki_fetch.
static inline __attribute__((always_inline)) void kki_fetch_body(const kk_simulator *s, int node) {
    enum { AHEAD = 4 };
    kki_fetch(kki_pose_of(s->data, node + AHEAD), sizeof(kki_pose));
    kki_fetch(kki_rates_of(s->data, node + AHEAD), KKI_LINE);
    kki_fetch(&s->free_bodies.own[node + AHEAD], sizeof(kki_free_body));
}

/// Bundles ahead of which contacts are fetched.
enum { KKI_FREE_BODIES_AHEAD = 3 };

/// Contacts of a bundle are all over their list: of each face's first, from its first byte to byte `to`. In line, as kki_fetch.
static inline __attribute__((always_inline)) void kki_fetch_contacts(const kki_free_pass *p, int bundle, size_t to) {
    const kki_free_bodies *x = &p->s->free_bodies;
    for (int lane = 0; lane < KKI_SWARM_LANES && bundle < x->swarm.count; lane++) {
        const int first = x->swarm.bundle[bundle].contact[lane];
        const char *at = (const char *)&p->s->contacts.list[first < 0 ? 0 : first];
        kki_fetch(at, to);
    }
}

#endif
