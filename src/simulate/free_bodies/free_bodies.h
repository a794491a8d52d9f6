/// Loose bodies, which nothing but other loose bodies and the world touches: with a budget of sweeps they are a swarm (contact/swarm.h).
#ifndef KKI_SIMULATE_LOOSE_H
#define KKI_SIMULATE_LOOSE_H

#include <karakuri/math.h>

#include "contact/swarm.h"

/// What does not change about a loose body, in its own axes: the inverse of mass and moments, and y = B v by rows of the factor.
typedef struct kki_free_body {
    double inverse[7]; ///< 1/m; xx, yy, zz, xy, xz, yz of I⁻¹
    double turn[6];    ///< B: 00, 10, 11, 20, 21, 22 of its turning part
    double root;       ///< of the mass
} kki_free_body;

/// Points of one manifold.
typedef struct kki_free_face {
    int32_t first, count; ///< contacts
    int32_t tree[2];      ///< of A and B; −1: the world
    int32_t set;          ///< of trees that touch, by its first
    int32_t color;        ///< −1: not in the swarm
    int32_t chunk;        ///< −1: not in the swarm
    int32_t sort;         ///< points; 0: one, between bodies that answer alike in all directions, which may be balls
} kki_free_face;

typedef struct kki_free_bodies {
    kki_swarm swarm;
    int32_t room; ///< contacts; 0: the model has no loose bodies
    int32_t bundle_room, block_room;
    int32_t is_everything;    ///< all bodies are loose
    int32_t is_chosen;        ///< for the contacts there are, when they were found (detect.c)
    int8_t *is_loose;         ///< [nnode] 2: and answers alike in all directions
    kki_free_body *own;       ///< [nnode] of loose ones
    int32_t nface, npoint;    ///< of this step; npoint: contacts in the swarm
    kki_free_face *face;      ///< [room]
    int8_t *is_taken;         ///< [contacts] whether the swarm has it
    int32_t *parent;          ///< [ntree] of the sets of trees that touch
    int32_t *rows;            ///< [ntree] of each set, by its first tree
    int8_t *is_held;          ///< [ntree] the set has something else to it
    int32_t *batch;           ///< [ntree] of each set
    int32_t *chunk;           ///< [ntree] of each tree's body; −1: none
    int32_t *order;           ///< [room] faces by chunk
    uint64_t *taken;          ///< [ntree] colors of each tree's faces
    int32_t *body;            ///< [ntree] number in the swarm; −1: none
    int32_t *node, *dof;      ///< [ntree] of each body: its node, and its first degree of freedom
    double *work;             ///< [ntree] of the impulses on each body
    kk_vec3 *place;           ///< [ntree] each body's center of mass
    int32_t islands, largest; ///< sets, and rows of the largest
} kki_free_bodies;

#endif
